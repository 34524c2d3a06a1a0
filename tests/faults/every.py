"""All faults, group by group, in the order of the table."""

from .cases import (
    addon,
    constraints,
    control_bones,
    deleting,
    drivers,
    duplicating,
    exports,
    files,
    hiding,
    instances,
    keys,
    libraries,
    modes,
    native,
    nla,
    other_add_ons,
    overrides,
    parenting,
    posing,
    renaming,
    scaling,
    several_scenes,
    shared_data,
    timing,
    undo,
)
from .faults import ENTERED, Fault

_IN_ORDER = (
    *(undo, files, addon, libraries, overrides),
    *(duplicating, renaming, deleting, control_bones, hiding, modes, posing, parenting, scaling),
    *(constraints, drivers, keys, nla, timing),
    *(several_scenes, shared_data, instances, other_add_ons, exports),
    native,
)
_PLACES = [case.__name__ for case in _IN_ORDER]

FAULTS: list[Fault] = sorted(ENTERED, key=lambda fault: _PLACES.index(fault.do.__module__))
