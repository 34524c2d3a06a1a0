"""All faults, group by group, in the order of the table."""

from . import deleting, duplicating, renaming, undo  # noqa: F401  (each enters its faults into the list)
from .faults import FAULTS

__all__ = ["FAULTS"]
