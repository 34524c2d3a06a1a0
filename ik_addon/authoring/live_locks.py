"""Which controls follow what by a live lock; panels ask for it, so it pulls in nothing of planting."""

from dataclasses import dataclass

import bpy

from ..rig.data.held_feet import is_live_lock
from .placing import Control, keyed_control
from .selection import all_tips


@dataclass(frozen=True, slots=True)
class LiveLock:
    """tip: name of the tip bone. control: what follows the holder, by the constraint."""

    tip: str
    control: Control
    constraint: bpy.types.Constraint

    @property
    def holder(self) -> bpy.types.Object:
        """The Empty that shows the grip: moved, it moves the hand in it."""
        return self.constraint.target

    @property
    def held(self) -> Control | None:
        """What the limb is locked to; None if that is gone."""
        parent = self.holder.parent
        return Control(parent, self.holder.parent_bone if self.holder.parent_type == "BONE" else "") if parent else None

    @property
    def influence_path(self) -> str:
        """The data path of its influence."""
        return f"{self.constraint.path_from_id()}.influence"


def live_locks_of(ob: bpy.types.Object) -> list[LiveLock]:
    """The live locks of an armature object's limbs."""
    found = []
    for tip in all_tips(ob):
        if tip.analytic_ik_target is not None:
            control = keyed_control(tip, Control(tip.analytic_ik_target, tip.analytic_ik_subtarget))
            # A control bone may have been deleted.
            gone = control.bone and (control.ob.pose is None or control.bone not in control.ob.pose.bones)
            own = () if gone else control.owner.constraints
            found += [LiveLock(tip.name, control, each) for each in own if is_live_lock(each)]
    return found
