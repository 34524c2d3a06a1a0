"""What is drawn, and dragged, in the 3D view."""

from . import grab, overlay, swivel

FILES = (swivel, overlay, grab)
"""Those that Blender is to know, in this order."""
