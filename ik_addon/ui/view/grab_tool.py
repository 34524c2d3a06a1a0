"""The tool of Grab in Pose Mode: a ring at each joint, filled where it is pinned; dragged, the body follows."""

from contextlib import suppress

import bpy
from mathutils import Matrix

from ... import messages
from ...authoring.selection import active_armature
from ...rig.blender.armatures import is_changeable
from ...rig.live.state import memory
from ...solvers import ChainError
from ..base import registration_of
from .dragging import handle_for

_JOINT, _PIN = (0.45, 0.9, 0.55), (1.0, 0.6, 0.15)
_SIZE = 0.09
_GRAB = "ANALYTIC_IK_OT_grab"


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
            (is_chosen or any(each.bl_idname == _GRAB for each in context.window.modal_operators))
            and ob is not None
            and ob.mode == "POSE"
            and is_changeable(ob)
            and ob.data.pose_position == "POSE"
        )

    def setup(self, context: bpy.types.Context) -> None:
        self.shown = self.posed = None
        self.refresh(context)

    def refresh(self, context: bpy.types.Context) -> None:
        """Look for the joints of the active armature; again once it is another, or has other bones."""
        from ...grabbing.scene.reading import GrabBody

        ob = active_armature(context)
        shown = (ob.name_full, *ob.pose.bones.keys()) if ob else None
        if shown == self.shown:
            return
        self.shown, self.posed = shown, None
        self.gizmos.clear()
        # Where there is none, it says why once it is dragged.
        with suppress(ChainError):
            self.posed = GrabBody(ob, context.evaluated_depsgraph_get()) if ob else None
        self.joints = self.posed.joints() if self.posed else {}
        for bone in self.joints:
            gizmo, given = handle_for(self, "GIZMO_GT_move_3d", "analytic_ik.grab", 2.0, 0.9)
            gizmo.scale_basis, given.bone = _SIZE, bone

    def draw_prepare(self, context: bpy.types.Context) -> None:
        try:
            self.place(context)
        except Exception:
            self.shown = self.posed = None
            memory.tell(messages.GIZMO_FAILED)

    def place(self, context: bpy.types.Context) -> None:
        """Put the rings where the joints are now."""
        ob = active_armature(context)
        if ob is None or self.posed is None or ob.name_full != self.shown[0]:
            return
        evaluated = ob.evaluated_get(context.evaluated_depsgraph_get())
        bones = evaluated.pose.bones
        standing = self.posed.standing(ob, [bone.head for bone in bones], [bone.tail for bone in bones])
        is_sheared = self.posed.is_sheared(evaluated)
        for gizmo, (bone, drag) in zip(self.gizmos, self.joints.items(), strict=False):
            gizmo.hide = is_sheared
            is_held = drag.kind == "LIMB" and self.posed.pin(ob, drag.limb, standing) is not None
            gizmo.matrix_basis = Matrix.Translation(self.posed.place(evaluated, bone, drag))
            gizmo.color = _PIN if is_held else _JOINT
            gizmo.draw_options = {"ALIGN_VIEW", "FILL"} if is_held else {"ALIGN_VIEW"}


class GrabTool(bpy.types.WorkSpaceTool):
    """Drag any joint of a body; pinned feet and hands stay."""

    bl_space_type = "VIEW_3D"
    bl_context_mode = "POSE"
    bl_idname = "analytic_ik.grab_tool"
    bl_label = "Grab Body"
    bl_description = "Drag any joint of a body.\nPinned feet and hands stay"
    bl_icon = "brush.uv_sculpt.grab"
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
        for name in ("pin_feet", "hips", "rotation", "spine", "balance", "lift_heels", "look"):
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
