"""The tool of Grab in Pose Mode: a ring at each joint, filled where it is pinned; dragged, the body follows."""

from contextlib import suppress
from math import tau
from typing import ClassVar

import bpy
import gpu
import numpy as np
from mathutils import Vector

from ... import messages
from ...authoring.selection import active_armature
from ...rig.blender.armatures import is_changeable
from ...rig.live.state import memory
from ...solvers import ChainError
from ..base import registration_of
from .dragging import BRIGHT
from .grab import SeenJoint, joint_under, seen_joints
from .overlay import batch_of, draw_lines

_JOINT, _PIN = (0.45, 0.9, 0.55), (1.0, 0.6, 0.15)
_RADIUS, _WIDTH, _ALPHA = 7.0, 2.0, 0.9
"""Of a ring, in pixels at a resolution scale of 1."""
_CIRCLE = np.array([(np.cos(angle), np.sin(angle), 0.0) for angle in np.linspace(0.0, tau, 33)])
_RING = np.stack((_CIRCLE[:-1], _CIRCLE[1:]), axis=1).reshape(-1, 3)
_DISC = np.stack((_CIRCLE[:-1], _CIRCLE[1:], 0.0 * _CIRCLE[1:]), axis=1).reshape(-1, 3)
_GRAB = "ANALYTIC_IK_OT_grab"


class ANALYTIC_IK_GT_joints(bpy.types.Gizmo):
    """The rings of a view. They are not pressed themselves: the tool's keys take the one that is lit."""

    bl_idname = "ANALYTIC_IK_GT_joints"
    under: ClassVar[str] = ""
    """The bone whose joint is under the mouse."""

    def setup(self) -> None:
        self.use_draw_modal = True
        self.bones: tuple[str, ...] = ()
        self.seen: list[SeenJoint] = []

    def draw(self, context: bpy.types.Context) -> None:
        try:
            self.show(context)
        except Exception:
            self.bones, self.seen = (), []
            memory.tell(messages.GIZMO_FAILED)

    def show(self, context: bpy.types.Context) -> None:
        """Draw the rings where the joints are now; look for these again once it is another armature, or its bones are
        others."""
        from ...grabbing.scene.reading import GrabBody

        ob, depsgraph, self.seen = active_armature(context), context.evaluated_depsgraph_get(), []
        if ob is None:
            return
        if (bones := (ob.name_full, *ob.pose.bones.keys())) != self.bones:
            self.bones, self.body = bones, None
            # Where there is none, it says why once it is dragged.
            with suppress(ChainError):
                self.body = GrabBody(ob, depsgraph)
        evaluated, body = ob.evaluated_get(depsgraph), self.body
        if body is None or body.is_sheared(evaluated):
            return
        # What is taken first is seen on top.
        self.seen = seen_joints(context, body, evaluated)[::-1]
        posed = evaluated.pose.bones
        standing = body.standing(ob, [bone.head for bone in posed], [bone.tail for bone in posed])
        held = [each.drag.kind == "LIMB" and bool(body.pin(ob, each.drag.limb, standing)) for each in self.seen]
        dragged = (each.properties.bone for each in context.window.modal_operators if each.bl_idname == _GRAB)
        lit, radius = next(dragged, self.under), _RADIUS * context.preferences.system.ui_scale
        colours = np.array(
            [
                (*(BRIGHT if each.bone == lit else _PIN if is_held else _JOINT), _ALPHA)
                for each, is_held in zip(self.seen, held, strict=True)
            ]
        ).reshape(-1, 4)
        pixels = np.array([(*each.pixel, 0.0) for each in self.seen]).reshape(-1, 1, 3)

        def batch(kind: str, form: np.ndarray, which: np.ndarray) -> gpu.types.GPUBatch | None:
            points = (pixels[which] + form * radius).reshape(-1, 3)
            return batch_of(kind, points, np.repeat(colours[which], len(form), axis=0))

        if self.seen:
            rings = batch("LINES", _RING, np.arange(len(held)))
            draw_lines(context, [(rings, _WIDTH)], batch("TRIS", _DISC, np.flatnonzero(held)))

    def test_select(self, context: bpy.types.Context, location: tuple[int, int]) -> int:
        """Light what a press would take."""
        under = joint_under(Vector(location), self.seen, context.preferences.system.ui_scale)
        if under != self.under:
            ANALYTIC_IK_GT_joints.under = under
            context.area.tag_redraw()
        return -1


class ANALYTIC_IK_GGT_grab(bpy.types.GizmoGroup):
    """Drag the joints of a body."""

    bl_idname = "ANALYTIC_IK_GGT_grab"
    bl_label = "Grab"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"SHOW_MODAL_ALL"}

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

    def setup(self, _context: bpy.types.Context) -> None:
        self.gizmos.new(ANALYTIC_IK_GT_joints.bl_idname)


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
        layout.label(text=ANALYTIC_IK_GT_joints.under)


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
