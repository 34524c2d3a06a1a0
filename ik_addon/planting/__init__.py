"""Feet that stand: contacts in a capture, locks with pivots over heel and ball, and a body that follows; and hands and
feet that keep their grip on what moves."""

from .feet.options import Options
from .scene.checking import check_feet
from .scene.lock import lock, lock_again
from .scene.plant import Ground, plant
from .scene.report import last_lock_report, last_report
from .scene.whole_clip import plant_clips

__all__ = [
    "Ground",
    "Options",
    "check_feet",
    "last_lock_report",
    "last_report",
    "lock",
    "lock_again",
    "plant",
    "plant_clips",
]
