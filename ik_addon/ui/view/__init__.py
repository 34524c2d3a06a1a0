"""What is drawn, and dragged, in the 3D view."""

from . import footprints, grab, overlay, swivel

FILES = (swivel, overlay, footprints, grab)
"""Those that Blender is to know, in this order."""
