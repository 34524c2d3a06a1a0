"""Grab: the operator that drags a joint of any body, and the one that pins."""

from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, StringProperty
from mathutils import Vector

from ... import messages
from ...authoring.selection import active_armature, active_bone
from ...rig.blender.armatures import is_changeable
from ...solvers import ChainError
from ..base import length_words, registration_of

if TYPE_CHECKING:
    from ...grabbing.solving.drag import GrabOptions


class GrabsInPoseMode:
    """What the operators share: they need an armature in Pose Mode."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        ob = active_armature(context)
        missing = messages.NO_POSE_MODE() if ob is None or ob.mode != "POSE" else ""
        if ob is not None and not is_changeable(ob):
            missing = messages.ARMATURE_LINKED(armature=ob.name)
        if missing:
            cls.poll_message_set(missing)
        return not missing


class ANALYTIC_IK_OT_grab(GrabsInPoseMode, bpy.types.Operator):
    """Drag a hand, foot, hips, chest or head. Pinned feet and hands stay"""

    bl_idname = "analytic_ik.grab"
    bl_label = "Grab"
    bl_options = {"REGISTER", "UNDO", "BLOCKING"}

    bone: StringProperty(
        name="Bone", description="Bone whose head is dragged; empty for the active bone", options={"SKIP_SAVE"}
    )
    location: FloatVectorProperty(
        name="Location", description="Where its head goes, in the world", subtype="XYZ", options={"SKIP_SAVE"}
    )
    pin_feet: BoolProperty(name="Pin Feet on Ground", description="Hold feet that are on the ground", default=True)
    hips: EnumProperty(
        name="Hips",
        description="Whether the hips follow what is dragged",
        items=[
            ("MOVE", "Move", "Move the hips where the limbs ask for it"),
            ("STAY", "Stay", "Leave the hips where they are"),
        ],
        default="MOVE",
    )
    spine: FloatProperty(name="Spine", description="How far the spine turns", min=0.0, max=1.0, default=1.0)
    balance: FloatProperty(
        name="Balance", description="How much the hips balance the body over its feet", min=0.0, max=1.0, default=0.6
    )
    lift_heels: BoolProperty(
        name="Lift Heels", description="Turn pinned feet on their balls where legs are too short", default=True
    )
    rotation: EnumProperty(
        name="Rotation",
        description="What the dragged hand or foot does with its rotation",
        items=[
            ("AUTO", "Automatic", "Feet keep it, hands turn with the arm"),
            ("KEEP", "Keep", "Keep it"),
            ("FOLLOW", "Follow", "Turn with the limb"),
        ],
        default="AUTO",
    )

    look: BoolProperty(name="Look", description="A dragged head looks there and stays in its place", default=False)

    at_mouse: BoolProperty(
        name="At Mouse", description="Drag the joint under the mouse", options={"HIDDEN", "SKIP_SAVE"}
    )
    release_confirm: BoolProperty(
        name="Confirm on Release",
        description="Confirm when the mouse button is released",
        options={"HIDDEN", "SKIP_SAVE"},
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        from ...grabbing.scene.posing import grab_bone

        ob = active_armature(context)
        name = self.bone or getattr(active_bone(ob), "name", "")
        try:
            if not name:
                raise ChainError(messages.NO_ACTIVE_BONE(armature=ob.name))
            place = Vector(self.location) if self.properties.is_property_set("location") else None
            done = grab_bone(context, ob, name, place, self.pin_feet, self.given_options(), self.look)
        except ChainError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        held = messages.GRAB_HOLDS(names=messages.quoted(done.held)) if done.held else ""
        self.tell(context, ob, name, held, done.missed_world)
        return {"FINISHED"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        from .grab_drag import GrabDrag

        if context.region_data is None or self.properties.is_property_set("location"):
            # There is no view to drag in, or the place is given.
            return self.execute(context)
        try:
            self._dragging = GrabDrag(self, context, event)
        except ChainError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if self._dragging.bone == "":
            self._dragging.end(context)
            return {"PASS_THROUGH", "CANCELLED"}
        # Its rings are seen in each drag, whatever tool is chosen.
        context.window_manager.gizmo_group_type_ensure("ANALYTIC_IK_GGT_grab")
        context.window.cursor_modal_set("SCROLL_XY")
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        dragging = self._dragging
        if active_armature(context) != dragging.session.ob or context.region_data is None:
            dragging.end(context)
            return {"CANCELLED"}
        released = self.release_confirm and event.type == "LEFTMOUSE" and event.value == "RELEASE"
        if event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS":
            dragging.restore()
            dragging.end(context)
            return {"CANCELLED"}
        if released or (event.type in {"LEFTMOUSE", "RET", "NUMPAD_ENTER"} and event.value == "PRESS"):
            dragging.end(context)
            self.bone, self.location = dragging.bone, dragging.head_world
            dragging.session.key(context)
            return {"FINISHED"}
        try:
            return dragging.heard(context, event)
        except ChainError as error:
            dragging.restore()
            dragging.end(context)
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender ends it: a window closes, or another file is opened."""
        self._dragging.end(context)

    def given_options(self) -> "GrabOptions":
        """How the body gives, as the options say."""
        from ...grabbing.scene.posing import KEEPS
        from ...grabbing.solving.drag import GrabOptions

        return GrabOptions(self.hips == "MOVE", self.spine, self.balance, self.lift_heels, KEEPS[self.rotation])

    def tell(self, context: bpy.types.Context, ob: bpy.types.Object, bone: str, held: str, missed_world: float) -> None:
        """What was done, as a warning if the place was not reached."""
        size = max(ob.dimensions) or 1.0
        if missed_world > _NOTICED * size:
            short = messages.GRAB_SHORT(length=length_words(context.scene, missed_world))
            self.report({"WARNING"}, messages.GRABBED_SHORT(bone=bone, held=held, short=short))
        else:
            self.report({"INFO"}, messages.GRABBED(bone=bone, held=held))


_NOTICED = 1e-4
"""Of the armature's size: a miss that is worth a word."""


class ANALYTIC_IK_OT_pin(GrabsInPoseMode, bpy.types.Operator):
    """Pin or free a foot or hand for Grab"""

    bl_idname = "analytic_ik.pin"
    bl_label = "Pin"
    bl_options = {"REGISTER", "UNDO"}

    bone: StringProperty(name="Bone", description="Bone of the limb; empty for the active one", options={"SKIP_SAVE"})
    at_mouse: BoolProperty(name="At Mouse", description="The joint under the mouse", options={"HIDDEN", "SKIP_SAVE"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if self.at_mouse and context.region_data is not None:
            from ...grabbing.scene.posing import GrabSession
            from .grab_drag import joint_at

            try:
                joint = joint_at(GrabSession(context, active_armature(context)), context, event)
                self.bone = joint.bone if joint else ""
            except ChainError as error:
                self.report({"ERROR"}, str(error))
                return {"CANCELLED"}
        return self.execute(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        from ...grabbing.scene.posing import GrabSession

        ob = active_armature(context)
        name = self.bone or getattr(active_bone(ob), "name", "")
        try:
            if name not in ob.pose.bones:
                raise ChainError(messages.NO_ACTIVE_BONE(armature=ob.name))
            session = GrabSession(context, ob)
            drag = session.posed.drag_of(name)
            if drag.limb < 0:
                raise ChainError(messages.GRAB_NO_LIMB(bone=name))
            session.toggle_pin(drag.limb)
        except ChainError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


register, unregister = registration_of(__name__)
