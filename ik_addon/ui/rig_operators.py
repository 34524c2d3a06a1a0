"""The operators that rig what is there: legs, Blender's own IK, and the way between FK and IK."""

import bpy
from bpy.props import BoolProperty

from ..authoring.adopt import adopt, adoptable, adopted_tips, restore
from ..authoring.rigging import RiggedLimb, rig_legs
from ..authoring.selection import active_bone, chosen_tips, selected_bones
from ..authoring.snap import pose_snapped, targets_snapped
from ..bake.stepping import Steps
from ..solvers import ChainError
from .operators import ChainOperator
from .polls import no_tip
from .range_operators import RangeOperator

_NAMED = 3
"""Bones that were left out that are named, of however many."""
_MOVED = 1e-4
"""Part of a chain's length by which a joint may move before it is worth a word."""


class ANALYTIC_IK_OT_rig_legs(ChainOperator):
    """Find the legs of the armature and give each a chain, a foot control and a knee pole. Looks at the selected \
bones, or at all where none is selected; no bone moves"""

    bl_idname = "analytic_ik.rig_legs"
    bl_label = "Rig Legs"

    arms: BoolProperty(name="Arms Too", description="Rig arms as well, where the names of the bones say that they are")

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        rigged = rig_legs(context, ob, selected_bones(ob), self.arms)
        if rigged.left_out:
            named = "; ".join(f"'{out.bone}': {out.reason}" for out in rigged.left_out[:_NAMED])
            more = f"; and {len(rigged.left_out) - _NAMED} more" if len(rigged.left_out) > _NAMED else ""
            self.report({"INFO"}, f"Left out {named}{more}")
        return "Rigged " + ", ".join(_words(limb) for limb in rigged.limbs)


class ANALYTIC_IK_OT_adopt(ChainOperator):
    """Turn the IK constraints of the selected bones into chains, in the present pose, and mute them"""

    bl_idname = "analytic_ik.adopt"
    bl_label = "Adopt Blender IK"

    all: BoolProperty(name="All", description="Of all bones of the armature, not only of the selected ones")

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        held = adoptable(_bones(ob, self.all))
        if not held:
            raise ChainError(
                f"Armature '{ob.name}': no {'' if self.all else 'selected '}bone of it has an IK constraint; "
                "select the bone that has it"
            )
        adopted = adopt(context, held)
        for one in adopted:
            if one.moved > _MOVED:
                self.report(
                    {"WARNING"},
                    f"Bone '{one.tip}': joints moved by {one.moved:.2%} of the chain's length, because {one.because}",
                )
        return "Adopted " + ", ".join(f"'{one.constraint}' of '{one.tip}'" for one in adopted)


class ANALYTIC_IK_OT_restore(ChainOperator):
    """Give back the IK constraints that were adopted, with all their settings, and take their chains off"""

    bl_idname = "analytic_ik.restore"
    bl_label = "Restore Blender IK"

    all: BoolProperty(name="All", description="Of all bones of the armature, not only of the selected ones")

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        tips = adopted_tips(_bones(ob, self.all))
        if not tips:
            raise ChainError(
                f"Armature '{ob.name}': no {'' if self.all else 'selected '}bone of it has a chain that was adopted; "
                "select its tip bone"
            )
        return "Restored " + ", ".join(f"'{name}'" for name in restore(context, tips))


class SnapOperator(RangeOperator):
    """Operators that go from FK to IK or back, at the present frame or over a range."""

    use_range: BoolProperty(name="Range", description="At all frames of a range, with keys; else at the present frame")

    def tips(self, ob: bpy.types.Object) -> list[bpy.types.PoseBone]:
        """The tips to snap; ChainError where there is none."""
        tips = chosen_tips(ob)
        if not tips:
            raise ChainError(no_tip(ob))
        return tips


class ANALYTIC_IK_OT_snap_targets(SnapOperator):
    """FK to IK: target and pole of the selected chains go to where the FK pose puts them"""

    bl_idname = "analytic_ik.snap_targets"
    bl_label = "Snap Targets to Pose"
    label = "Snapping"

    def steps(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps[str]:
        frames = self.frames(context) if self.use_range else None
        snapped = yield from targets_snapped(context, self.tips(ob), frames)
        for name, missed in snapped.missed.items():
            if missed > _MOVED:
                self.report(
                    {"WARNING"}, f"Bone '{name}': its chain is off its FK pose by up to {missed:.2%} of its length"
                )
        made = "".join(f"; made the pole '{name}'" for name in snapped.poles)
        return f"Snapped the controls of {', '.join(snapped.missed)}{made}"


class ANALYTIC_IK_OT_snap_pose(SnapOperator):
    """IK to FK: the solved pose of the selected chains becomes their FK pose"""

    bl_idname = "analytic_ik.snap_pose"
    bl_label = "Snap Pose to Targets"
    label = "Snapping"

    def steps(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps[str]:
        tips = self.tips(ob)
        frames = self.frames(context) if self.use_range else None
        yield from pose_snapped(context, tips, frames)
        return f"Snapped the pose of {', '.join(tip.name for tip in tips)}"


def _bones(ob: bpy.types.Object, everything: bool) -> list[bpy.types.PoseBone]:
    """All bones of an armature; or the selected ones, the active one where none is selected."""
    if everything:
        return list(ob.pose.bones)
    active = active_bone(ob)
    return selected_bones(ob) or ([active] if active else [])


def _words(rigged: RiggedLimb) -> str:
    return f"'{rigged.limb.bones[0]}' to '{rigged.limb.bones[-1]}' ({rigged.target.name}, {rigged.pole.name})"


# The stubs say that it returns nothing.
register, unregister = bpy.utils.register_classes_factory(  # pyright: ignore[reportGeneralTypeIssues]
    (
        ANALYTIC_IK_OT_rig_legs,
        ANALYTIC_IK_OT_adopt,
        ANALYTIC_IK_OT_restore,
        ANALYTIC_IK_OT_snap_targets,
        ANALYTIC_IK_OT_snap_pose,
    )
)
