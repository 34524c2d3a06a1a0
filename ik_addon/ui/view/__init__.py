"""What is drawn, and dragged, in the 3D view."""

from . import auto_corrections, grab, overlay, swivel

FILES = (swivel, overlay, auto_corrections, grab)
"""Those that Blender is to know, in this order."""
