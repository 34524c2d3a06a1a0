"""Feet that stand: contacts in a capture, locks with pivots over heel and ball, and a body that follows; and hands and
feet that keep their grip on what moves."""


def __getattr__(name: str) -> object:
    """What the room offers, imported when it is first asked for: Blender's start needs none of it."""
    from .feet.options import Options
    from .scene.checking import check_feet
    from .scene.lock import lock, release
    from .scene.plant import Ground, plant
    from .scene.report import last_report
    from .scene.whole_clip import plant_clips

    offered = {
        "Options": Options,
        "check_feet": check_feet,
        "lock": lock,
        "release": release,
        "Ground": Ground,
        "plant": plant,
        "last_report": last_report,
        "plant_clips": plant_clips,
    }
    if name not in offered:
        raise AttributeError(name)
    return offered[name]
