"""What is drawn, and dragged, in the 3D view."""

from . import overlay, swivel

FILES = (swivel, overlay)
"""Those that Blender is to know, in this order."""
