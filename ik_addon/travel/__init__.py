"""Where a clip travels: on its hips or on a root, in place or over the ground, and around as a loop."""

from .loop import make_loop
from .root_motion import put_in_place, to_hips, to_root, travel

__all__ = ["make_loop", "put_in_place", "to_hips", "to_root", "travel"]
