"""What is drawn, and dragged, in the 3D view."""

from . import gizmo, overlay, swivel

FILES = (swivel, overlay, gizmo)
"""Those that Blender is to know, in this order."""
