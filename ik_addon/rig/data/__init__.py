"""What the add-on keeps in the file: settings, the relation to controls, records of names."""
