"""Live motion into keys that play without the add-on, with a report that proves it."""


def __getattr__(name: str) -> object:
    """What the room offers, imported when it is first asked for: Blender's start needs none of it."""
    from .baking import bake, chains_of, check
    from .report import last_report

    offered = {"bake": bake, "chains_of": chains_of, "check": check, "last_report": last_report}
    if name not in offered:
        raise AttributeError(name)
    return offered[name]
