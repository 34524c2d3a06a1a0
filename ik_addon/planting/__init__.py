"""Feet that stand: contacts in a capture, locks with pivots over heel and ball, and a body that follows."""

from .ground import Ground
from .options import Options
from .plant import plant
from .report import last_report

__all__ = ["Ground", "Options", "last_report", "plant"]
