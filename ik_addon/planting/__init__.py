"""Feet that stand: contacts in a capture, locks with pivots over heel and ball, and a body that follows; and hands and
feet that keep their grip on what moves."""

from ..later import offered

__getattr__ = offered(
    __name__,
    {
        "Ground": "scene.plant",
        "Options": "feet.options",
        "check_feet": "scene.checking",
        "last_lock_report": "scene.report",
        "last_report": "scene.report",
        "lock": "scene.lock",
        "lock_again": "scene.lock",
        "plant": "scene.plant",
        "plant_clips": "scene.whole_clip",
    },
)
