"""The operators that lock hands and feet to objects."""

import bpy
from bpy.props import EnumProperty, FloatProperty, StringProperty

from ... import messages
from ...authoring.placing import Control
from ...authoring.selection import (
    active_object,
    chain_armature,
    chosen_controls,
    chosen_tips,
    driven_by,
    selected_bones,
    tip_of_chain,
)
from ...bake.certificate import contacts_words
from ...bake.report import frames_words
from ...bake.stepping import Steps
from ...planting.scene.held import moves
from ...planting.scene.lock import BLEND, locked, locked_again
from ...rig.blender.motion import motion_frames
from ...solvers import ChainError
from ..classes import registration_of
from .ranges import RangeOperator, SteppedOperator

_CONTACTS = [
    ("RANGE", "Whole Range", "Locked from Start to End"),
    ("FOUND", "Found", "Locked where the hand is near the object and moves with it"),
    ("KEYED", "Contact Keys", "Locked where keys of Contact say so"),
]
_GRIPS = [
    ("CURRENT", "Current Frame", "As hand and object are now"),
    ("MEAN", "Average", "As close as possible to the hand's own motion in the range"),
]


class ANALYTIC_IK_OT_lock_to_object(RangeOperator):
    """Keep a hand or foot on an object or bone that moves. \
Select the object first, then the hand or its control"""

    bl_idname = "analytic_ik.lock_to_object"
    bl_label = "Lock to Object"
    label = "Locking"

    object: StringProperty(name="Object", description="Object that the hand or foot is locked to")
    bone: StringProperty(name="Bone", description="Bone of that object. If empty, the object itself")
    contacts: EnumProperty(name="Contacts", description="When the hand or foot is locked", items=_CONTACTS)
    grip: EnumProperty(name="Grip", description="How the hand or foot keeps the object", items=_GRIPS)
    blend: FloatProperty(
        name="Blend",
        description="Time to ease in and out of a lock",
        default=BLEND,
        min=0.0,
        soft_max=2.0,
        subtype="TIME_ABSOLUTE",
    )

    def default_range(self, context: bpy.types.Context) -> range:
        """The frames over which keys move the armature."""
        return motion_frames(chain_armature(context)) or super().default_range(context)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self._take_selected(context, chain_armature(context))
        return super().invoke(context, event)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split, layout.use_property_decorate = True, False
        layout.prop_search(self, "object", context.scene, "objects")
        ob = context.scene.objects.get(self.object)
        if ob is not None and ob.pose is not None:
            layout.prop_search(self, "bone", ob.pose, "bones")
        for name in ("frame_start", "frame_end", "contacts"):
            layout.prop(self, name)
        if self.contacts == "RANGE":
            layout.prop(self, "grip")
        layout.prop(self, "blend")

    def steps(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps[str]:
        self._take_selected(context, ob)
        if not self.object:
            raise ChainError(messages.NOTHING_HELD(armature=ob.name))
        held = Control(context.scene.objects.get(self.object), self.bone)
        chosen = [tip for tip in chosen_tips(context, ob) if tip.analytic_ik_enabled]
        # What is held may be a bone of another limb: selected, it is not meant.
        tips = [tip for tip in chosen if held.ob is None or not moves(tip, held)] or chosen
        if not tips:
            raise ChainError(messages.NO_LIVE_CHAIN_SELECTED(armature=ob.name))
        frames = self.frames(context)
        report = yield from locked(context, tips, held, frames, self.contacts, self.grip, self.blend)
        return _summary(self, report)

    def _take_selected(self, context: bpy.types.Context, ob: bpy.types.Object) -> None:
        """Take what is selected beside the limb as what it is held to, if nothing is given."""
        held = None if self.properties.is_property_set("object") else _selected(context, ob)
        if held is not None:
            self.object, self.bone = held.ob.name, held.bone


class ANALYTIC_IK_OT_lock_again(SteppedOperator):
    """Lock hands and feet again, with contacts as they are now"""

    bl_idname = "analytic_ik.lock_again"
    bl_label = "Update Locks"
    label = "Locking"

    asks = False

    def steps(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps[str]:
        report = yield from locked_again(context, ob)
        return _summary(self, report)


def _selected(context: bpy.types.Context, ob: bpy.types.Object) -> Control | None:
    """What is selected beside a limb: an object, else a bone of another limb or of none."""
    active = active_object(context)
    for other in chosen_controls(context, ob):
        if other != active and not driven_by(context, other):
            return Control(other)
    if active != ob or ob.mode != "POSE":
        return None
    bone = ob.data.bones.active
    own = tip_of_chain(ob.pose.bones[bone.name]) if bone is not None else None
    for other in selected_bones(ob):
        if (
            other.name != bone.name
            and (own is None or tip_of_chain(other) != own)
            and not driven_by(context, ob, other.name)
        ):
            return Control(ob, other.name)
    return None


def _summary(operator: SteppedOperator, report: dict) -> str:
    holds, unreached = report["holds"], report["unreached_frames"]
    operator.level = "WARNING" if unreached else "INFO"
    result = ""
    if unreached:
        result = messages.LOCK_UNREACHED(frames=frames_words(len(unreached)), frame=unreached[0])
    return messages.LOCKED(
        tips=messages.quoted(dict.fromkeys(hold["tip"] for hold in holds)),
        contacts=contacts_words(len(holds)),
        first=min((hold["first"] for hold in holds), default=report["frames"][0]),
        last=max((hold["last"] for hold in holds), default=report["frames"][1]),
        result=result,
    )


register, unregister = registration_of(__name__)
