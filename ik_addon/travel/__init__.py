"""Where a clip travels: on its hips or on a root, in place or over the ground, and around as a loop."""


def __getattr__(name: str) -> object:
    """What the room offers, imported when it is first asked for: Blender's start needs none of it."""
    from .joining import join_clips
    from .loop import make_loop
    from .root_motion import put_in_place, to_hips, to_root, travel

    offered = {
        "join_clips": join_clips,
        "make_loop": make_loop,
        "put_in_place": put_in_place,
        "to_hips": to_hips,
        "to_root": to_root,
        "travel": travel,
    }
    if name not in offered:
        raise AttributeError(name)
    return offered[name]
