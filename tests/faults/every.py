"""All faults, group by group, in the order of the table."""

from . import constraints, drivers, exports, handlers, instances, keys, nla, several_scenes, shared_data, timing, undo  # noqa: F401  (each enters its faults into the list)
from .faults import FAULTS

__all__ = ["FAULTS"]
