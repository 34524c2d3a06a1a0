"""What is drawn, and dragged, in the 3D view."""

from . import footprints, overlay, swivel

FILES = (swivel, overlay, footprints)
"""Those that Blender is to know, in this order."""
