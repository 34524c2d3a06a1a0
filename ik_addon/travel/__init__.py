"""Where a clip travels: on its hips or on a root, in place or over the ground, and around as a loop."""

from ..later import offered

__getattr__ = offered(
    __name__,
    {
        "make_loop": "loop",
        "put_in_place": "root_motion",
        "to_hips": "root_motion",
        "to_root": "root_motion",
        "travel": "root_motion",
    },
)
