"""All faults, group by group, in the order of the table."""

from . import deleting, duplicating, hiding, modes, parenting, posing, renaming, scaling, undo  # noqa: F401  (each enters its faults)
from .faults import FAULTS

__all__ = ["FAULTS"]
