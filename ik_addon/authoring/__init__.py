"""What a rigger does once: set chains up and take them off."""
