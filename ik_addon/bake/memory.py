"""The reports of what was done in this Blender: the last of each kind, and that of the action which plays now.

Not kept on actions: copies of these, in which something else was done, would have them too, and so would files. After
an undo nothing is said of an action, for it may be that of before.
"""

from copy import deepcopy
from typing import Literal

import bpy

from ..rig.blender.file_memory import file_memory

Kind = Literal["bake", "keys", "match", "plant"]

_kept: dict[str, dict] = {}
"""By kind."""


def remember(kind: Kind, report: dict) -> dict:
    """Keep a report, apart from the one that a script gets and may change; returns it."""
    _kept[kind] = own = deepcopy(report)
    if "action" in report:
        file_memory.reports[kind, report["armature"], report["action"]] = own
    return report


def last(kind: Kind) -> dict:
    """The last report of a kind; empty before the first."""
    return deepcopy(_kept.get(kind, {}))


def of_action(kind: Kind, ob: bpy.types.Object) -> dict | None:
    """The last report of a kind on the action that an armature object plays now."""
    action = ob.animation_data.action if ob.animation_data else None
    return file_memory.reports.get((kind, ob.name, action.name)) if action is not None else None
