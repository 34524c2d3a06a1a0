"""All faults, group by group, in the order of the table."""

from . import (
    addon,  # noqa: F401  (each enters its faults into the list)
    constraints,  # noqa: F401
    deleting,  # noqa: F401
    drivers,  # noqa: F401
    duplicating,  # noqa: F401
    exports,  # noqa: F401
    files,  # noqa: F401
    handlers,  # noqa: F401
    hiding,  # noqa: F401
    instances,  # noqa: F401
    keys,  # noqa: F401
    libraries,  # noqa: F401
    modes,  # noqa: F401
    nla,  # noqa: F401
    overrides,  # noqa: F401
    parenting,  # noqa: F401
    posing,  # noqa: F401
    renaming,  # noqa: F401
    scaling,  # noqa: F401
    several_scenes,  # noqa: F401
    shared_data,  # noqa: F401
    timing,  # noqa: F401
    undo,  # noqa: F401
)
from .faults import FAULTS

__all__ = ["FAULTS"]
