"""Bodies of armatures: read, posed by their FK channels and the controls of their chains."""
