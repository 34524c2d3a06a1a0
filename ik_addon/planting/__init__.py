"""Feet that stand: contacts in a capture, locks with pivots over heel and ball, and a body that follows."""

from .feet.options import Options
from .scene.checking import check_feet
from .scene.ground import Ground
from .scene.plant import plant
from .scene.report import last_report
from .scene.whole_clip import plant_clip

__all__ = ["Ground", "Options", "check_feet", "last_report", "plant", "plant_clip"]
