"""Where a clip travels: on its hips or on a root, in place or over the ground, and around as a loop."""

from .scene.in_place import put_in_place, travel
from .scene.loop import make_loop
from .scene.root_motion import to_hips, to_root

__all__ = ["make_loop", "put_in_place", "to_hips", "to_root", "travel"]
