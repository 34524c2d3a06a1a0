"""All faults, group by group, in the order of the table."""

from . import addon, files, libraries, overrides, undo  # noqa: F401  (each enters its faults into the list)
from .faults import FAULTS

__all__ = ["FAULTS"]
