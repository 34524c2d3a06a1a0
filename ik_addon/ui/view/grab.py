"""Grab: the operator that drags a joint of any body, the one that pins, and the tool in Pose Mode with a ring at each
joint, filled where it is pinned.
"""

from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, StringProperty
from mathutils import Matrix, Vector

from ... import messages
from ...authoring.selection import active_armature, active_bone
from ...rig.blender.armatures import is_changeable
from ...rig.live.state import memory
from ...solvers import ChainError
from ..base import ChainOperator, length_words, not_editable, registration_of
from .dragging import DragOperator, in_pose_mode

if TYPE_CHECKING:
    from ...grabbing.solving.drag import GrabOptions


class ANALYTIC_IK_OT_grab(DragOperator):
    """Drag a hand, foot, hips, chest or head. Pinned feet and hands stay"""

    bl_idname = "analytic_ik.grab"
    bl_label = "Grab"
    needs = (in_pose_mode, not_editable)
    on_active_object = True
    keys = (
        ("Confirm", ("MOUSE_LMB", "EVENT_RETURN")),
        ("Cancel", ("MOUSE_RMB", "EVENT_ESC")),
        ("Axis", ("EVENT_X", "EVENT_Y", "EVENT_Z")),
        ("Pin", ("EVENT_P",)),
        ("Keep Rotation", ("EVENT_R",)),
        ("Balance", ("EVENT_B",)),
        ("Heels", ("EVENT_H",)),
        ("Look", ("EVENT_L",)),
        ("Hips Stay", ("EVENT_ALT",)),
        ("Snap", ("EVENT_CTRL",)),
        ("Precise", ("EVENT_SHIFT",)),
    )

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

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        from ...grabbing.scene.posing import grab_bone

        name = self.bone or getattr(active_bone(ob), "name", "")
        if not name:
            raise ChainError(messages.NO_ACTIVE_BONE(armature=ob.name))
        place = Vector(self.location) if self.properties.is_property_set("location") else None
        done = grab_bone(context, ob, name, place, self.pin_feet, self.given_options(), self.look)
        held = messages.GRAB_HOLDS(names=messages.quoted(done.held)) if done.held else ""
        if done.missed_world <= _NOTICED * (max(ob.dimensions) or 1.0):
            return messages.GRABBED(bone=name, held=held)
        self.level = "WARNING"
        short = messages.GRAB_SHORT(length=length_words(context.scene, done.missed_world))
        return messages.GRABBED_SHORT(bone=name, held=held, short=short)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        # There is no view to drag in, or the place is given.
        at_once = context.region_data is None or self.properties.is_property_set("location")
        return self.execute(context) if at_once else super().invoke(context, event)

    def begin(self, context: bpy.types.Context, event: bpy.types.Event) -> bool:
        from .grab_drag import GrabDrag

        self._dragging = GrabDrag(self, context, event)
        if self._dragging.bone:
            # Its rings are seen in each drag, whatever tool is chosen.
            context.window_manager.gizmo_group_type_ensure("ANALYTIC_IK_GGT_grab")
        return bool(self._dragging.bone)

    def goes_on(self, context: bpy.types.Context) -> bool:
        return active_armature(context) == self._dragging.session.ob

    def heard(self, context: bpy.types.Context, event: bpy.types.Event) -> bool:
        return self._dragging.heard(context, event)

    def restore(self, context: bpy.types.Context) -> None:
        self._dragging.restore()

    def confirm(self, context: bpy.types.Context) -> None:
        self.bone, self.location = self._dragging.bone, self._dragging.head_world
        self._dragging.session.key(context)

    def given_options(self) -> "GrabOptions":
        """How the body gives, as the options say."""
        from ...grabbing.scene.posing import KEEPS
        from ...grabbing.solving.drag import GrabOptions

        return GrabOptions(self.hips == "MOVE", self.spine, self.balance, self.lift_heels, KEEPS[self.rotation])


_NOTICED = 1e-4
"""Of the armature's size: a miss that is worth a word."""


class ANALYTIC_IK_OT_pin(ChainOperator):
    """Pin or free a foot or hand for Grab"""

    bl_idname = "analytic_ik.pin"
    bl_label = "Pin"
    needs = (in_pose_mode, not_editable)
    on_active_object = True

    bone: StringProperty(name="Bone", description="Bone of the limb; empty for the active one", options={"SKIP_SAVE"})
    at_mouse: BoolProperty(name="At Mouse", description="The joint under the mouse", options={"HIDDEN", "SKIP_SAVE"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if self.at_mouse and context.region_data is not None:
            from ...grabbing.scene.posing import GrabSession
            from .grab_drag import joint_at

            try:
                joint = joint_at(GrabSession(context, active_armature(context)), context, event)
            except ChainError as error:
                return self.refuse(error)
            self.bone = joint.bone if joint else ""
        return self.execute(context)

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        from ...grabbing.scene.posing import GrabSession

        name = self.bone or getattr(active_bone(ob), "name", "")
        if name not in ob.pose.bones:
            raise ChainError(messages.NO_ACTIVE_BONE(armature=ob.name))
        session = GrabSession(context, ob)
        drag = session.posed.drag_of(name)
        if drag.limb < 0:
            raise ChainError(messages.GRAB_NO_LIMB(bone=name))
        session.toggle_pin(drag.limb)
        return ""


_JOINT, _PIN, _BRIGHT = (0.45, 0.9, 0.55), (1.0, 0.6, 0.15), (1.0, 0.88, 0.40)
_SIZE = 0.09


class ANALYTIC_IK_GGT_grab(bpy.types.GizmoGroup):
    """Drag the joints of a body."""

    bl_idname = "ANALYTIC_IK_GGT_grab"
    bl_label = "Grab"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        # After a file was opened Blender shows the rings of a tool that was in use before, whichever is now.
        tool = context.workspace.tools.from_space_view3d_mode("POSE")
        is_chosen = tool is not None and tool.idname == GrabTool.bl_idname
        ob = active_armature(context)
        return (
            (
                is_chosen
                or any(each.bl_idname == ANALYTIC_IK_OT_grab.__name__ for each in context.window.modal_operators)
            )
            and ob is not None
            and ob.mode == "POSE"
            and is_changeable(ob)
            and ob.data.pose_position == "POSE"
        )

    def setup(self, context: bpy.types.Context) -> None:
        self.shown, self.joints = None, []
        self.find(context)

    def refresh(self, context: bpy.types.Context) -> None:
        self.find(context)

    def find(self, context: bpy.types.Context) -> None:
        """The joints of the active armature; looked for again once it is another, or has other bones."""
        from ...grabbing.scene.posing import GrabSession

        ob = active_armature(context)
        shown = (ob.name_full, *ob.pose.bones.keys()) if ob else None
        if shown == self.shown:
            return
        self.shown = shown
        self.gizmos.clear()
        try:
            session = GrabSession(context, ob) if ob else None
        except ChainError:
            # Dragged, it says why.
            session = None
        # Plain data: a session would die with the next undo.
        self.joints = session.joints() if session else []
        for joint in self.joints:
            gizmo = self.gizmos.new("GIZMO_GT_move_3d")
            gizmo.draw_style, gizmo.draw_options = "RING_2D", {"ALIGN_VIEW"}
            gizmo.scale_basis, gizmo.line_width, gizmo.alpha = _SIZE, 2.0, 0.9
            gizmo.color_highlight, gizmo.alpha_highlight = _BRIGHT, 1.0
            given = gizmo.target_set_operator("analytic_ik.grab")
            given.bone, given.release_confirm = joint.bone, True

    def draw_prepare(self, context: bpy.types.Context) -> None:
        try:
            self.place(context)
        except Exception:
            self.shown, self.joints = None, []
            memory.tell(messages.GIZMO_FAILED)

    def place(self, context: bpy.types.Context) -> None:
        """Put the rings where the joints are now."""
        ob = active_armature(context)
        if ob is None or self.shown is None or ob.name_full != self.shown[0]:
            return
        evaluated = ob.evaluated_get(context.evaluated_depsgraph_get())
        ground = min((joint.lift(evaluated) for joint in self.joints if joint.leg), default=0.0)
        for gizmo, joint in zip(self.gizmos, self.joints, strict=False):
            height = joint.lift(evaluated) - ground if joint.leg else 0.0
            is_held = joint.is_held(ob.pose.bones[joint.bone], height)
            gizmo.matrix_basis = Matrix.Translation(joint.place(evaluated))
            gizmo.color = _PIN if is_held else _JOINT
            gizmo.draw_options = {"ALIGN_VIEW", "FILL"} if is_held else {"ALIGN_VIEW"}


class GrabTool(bpy.types.WorkSpaceTool):
    """Drag any joint of a body; pinned feet and hands stay."""

    bl_space_type = "VIEW_3D"
    bl_context_mode = "POSE"
    bl_idname = "analytic_ik.grab_tool"
    bl_label = "Grab Body"
    bl_description = "Drag any joint of a body.\nPinned feet and hands stay"
    bl_icon = "ops.pose.push"
    bl_widget = "ANALYTIC_IK_GGT_grab"
    bl_keymap = (
        (
            "analytic_ik.grab",
            {"type": "LEFTMOUSE", "value": "CLICK_DRAG"},
            {"properties": [("at_mouse", True), ("release_confirm", True)]},
        ),
        ("view3d.select", {"type": "LEFTMOUSE", "value": "CLICK"}, {"properties": [("deselect_all", True)]}),
        ("view3d.select", {"type": "LEFTMOUSE", "value": "CLICK", "shift": True}, {"properties": [("toggle", True)]}),
        ("analytic_ik.pin", {"type": "P", "value": "PRESS"}, {"properties": [("at_mouse", True)]}),
    )

    @staticmethod
    def draw_settings(_context: bpy.types.Context, layout: bpy.types.UILayout, tool: bpy.types.WorkSpaceTool) -> None:
        """The options in the header."""
        given = tool.operator_properties("analytic_ik.grab")
        for name in ("pin_feet", "hips", "spine", "balance", "lift_heels", "look"):
            layout.prop(given, name)


_register, _unregister = registration_of(__name__)


def register() -> None:
    """The rings, and the tool, where there is a window that has tools."""
    _register()
    if not bpy.app.background:
        bpy.utils.register_tool(GrabTool, after={"builtin.transform"}, separator=True)


def unregister() -> None:
    """Take both away."""
    if hasattr(GrabTool, "_bl_tool"):
        bpy.utils.unregister_tool(GrabTool)
    _unregister()
