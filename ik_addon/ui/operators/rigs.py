"""The operators that rig what is there: legs, Blender's own IK, and the way between FK and IK."""

from collections.abc import Sequence
from math import degrees

import bpy
from bpy.props import BoolProperty

from ... import messages
from ...authoring.adopt import Adopted, adopt
from ...authoring.adoptable import Held, adoptable, resting
from ...authoring.adopted import adopted_tips
from ...authoring.restoring import restore
from ...authoring.rigging import RiggedLimb, rig_legs
from ...authoring.selection import active_bone, chosen_tips, selected_bones
from ...authoring.snap import pose_snapped, targets_snapped
from ...bake.stepping import Steps
from ...solvers import ChainError
from .chains import ChainOperator
from .polls import no_tip
from .ranges import RangeOperator

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
            bones = "; ".join(messages.LEFT_OUT_BONE(bone=out.bone, why=out.reason) for out in rigged.left_out[:_NAMED])
            more = len(rigged.left_out) - _NAMED
            said = messages.LEFT_OUT_MORE(bones=bones, count=more) if more > 0 else messages.LEFT_OUT(bones=bones)
            self.report({"INFO"}, said)
        return messages.RIGGED(limbs=", ".join(_words(limb) for limb in rigged.limbs))


class ANALYTIC_IK_OT_adopt(ChainOperator):
    """Turn IK constraints of the selected bones into chains with the same pose"""

    bl_idname = "analytic_ik.adopt"
    bl_label = "Adopt Blender IK"

    all: BoolProperty(name="All", description="Of all bones of the armature, not only of the selected ones")

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        held = adoptable(_bones(ob, self.all))
        if not held:
            missing = messages.NOTHING_TO_ADOPT if self.all else messages.NONE_SELECTED_TO_ADOPT
            raise ChainError(missing(armature=ob.name))
        resting_too = resting(_bones(ob, self.all))
        done = adopt(context, held)
        for one in done.adopted:
            if one.moved > _MOVED:
                self.report({"WARNING"}, _moved(one))
        if done.stretching:
            self.report({"WARNING"}, messages.STRETCHED_IN_REACH(bones=messages.quoted(done.stretching)))
        for why in done.left:
            self.report({"WARNING"}, why)
        if resting_too:
            self.report({"INFO"}, messages.LEFT_AT_REST(constraints=_named(resting_too)))
        named = (messages.ADOPTED_ONE(constraint=one.constraint, bone=one.tip) for one in done.adopted)
        return messages.ADOPTED(constraints=", ".join(named))


class ANALYTIC_IK_OT_restore(ChainOperator):
    """Give back the IK constraints that were adopted, with all their settings, and take their chains off"""

    bl_idname = "analytic_ik.restore"
    bl_label = "Restore Blender IK"

    all: BoolProperty(name="All", description="Of all bones of the armature, not only of the selected ones")

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        tips = adopted_tips(_bones(ob, self.all))
        if not tips:
            missing = messages.NOTHING_ADOPTED if self.all else messages.NONE_SELECTED_ADOPTED
            raise ChainError(missing(armature=ob.name))
        return messages.RESTORED(constraints=messages.quoted(restore(context, tips)))


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
                self.report({"WARNING"}, messages.SNAP_MISSED(bone=name, part=missed))
        made = "".join(messages.MADE_POLE(pole=name) for name in snapped.poles)
        return messages.SNAPPED_CONTROLS(tips=", ".join(snapped.missed), poles=made)


class ANALYTIC_IK_OT_snap_pose(SnapOperator):
    """IK to FK: the solved pose of the selected chains becomes their FK pose"""

    bl_idname = "analytic_ik.snap_pose"
    bl_label = "Snap Pose to Targets"
    label = "Snapping"

    def steps(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps[str]:
        tips = self.tips(ob)
        frames = self.frames(context) if self.use_range else None
        yield from pose_snapped(context, tips, frames)
        return messages.SNAPPED_POSE(tips=", ".join(tip.name for tip in tips))


def _bones(ob: bpy.types.Object, everything: bool) -> list[bpy.types.PoseBone]:
    """All bones of an armature; or the selected ones, the active one where none is selected."""
    if everything:
        return list(ob.pose.bones)
    active = active_bone(ob)
    return selected_bones(ob) or ([active] if active else [])


def _moved(one: Adopted) -> str:
    return messages.JOINTS_MOVED(
        bone=one.tip, distance=one.distance, angle=degrees(one.turned), frame=one.frame, why=one.because
    )


def _named(constraints: Sequence[Held]) -> str:
    names = (messages.ADOPTED_ONE(constraint=held.constraint.name, bone=held.tip.name) for held in constraints)
    return ", ".join(names)


def _words(rigged: RiggedLimb) -> str:
    bones = rigged.limb.bones
    return messages.RIGGED_LIMB(first=bones[0], last=bones[-1], target=rigged.target.name, pole=rigged.pole.name)


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
