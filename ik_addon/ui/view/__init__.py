"""What is drawn, and dragged, in the 3D view."""

from . import auto_corrections, grab, grab_tool, overlay, swivel

FILES = (swivel, overlay, auto_corrections, grab, grab_tool)
"""Those that Blender is to know, in this order."""
