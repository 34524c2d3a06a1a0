"""What is seen and pressed in Blender's window."""
