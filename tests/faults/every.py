"""All faults, group by group, in the order of the table."""

from . import (
    addon,  # noqa: F401  (each enters its faults into the list)
    deleting,  # noqa: F401
    duplicating,  # noqa: F401
    files,  # noqa: F401
    hiding,  # noqa: F401
    libraries,  # noqa: F401
    modes,  # noqa: F401
    overrides,  # noqa: F401
    parenting,  # noqa: F401
    posing,  # noqa: F401
    renaming,  # noqa: F401
    scaling,  # noqa: F401
    undo,  # noqa: F401
)
from .faults import FAULTS

__all__ = ["FAULTS"]
