"""One limb as far as no frame changes it, and the order in which chains are solved."""
