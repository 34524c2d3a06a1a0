"""The knee's circle as something to take hold of in the 3D view: a dial and a handle at the knee."""

import traceback

import bpy
from mathutils import Matrix

from ... import messages
from ...authoring.selection import active_armature, active_bone, live_tip_of
from ...rig.status.problems import problems_of
from .shapes import KNEE_COLOUR
from .swivel import ANALYTIC_IK_OT_swivel, circle_of

_BRIGHT = (1.0, 0.88, 0.40)
_reported: set[str] = set()


class ANALYTIC_IK_GGT_swivel(bpy.types.GizmoGroup):
    """Drag the knee of the active bone's chain round its circle."""

    bl_idname = "ANALYTIC_IK_GGT_swivel"
    bl_label = "Swivel Knee"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        space = context.space_data
        if context.scene.analytic_ik_overlay == "OFF" or not (space.show_gizmo and space.overlay.show_overlays):
            return False
        ob = active_armature(context)
        if ob is None or ob.mode != "POSE" or ob.data.pose_position == "REST":
            return False
        bone = active_bone(ob)
        return bone is not None and live_tip_of(bone) is not None and ob.visible_in_viewport_get(space)

    def setup(self, context: bpy.types.Context) -> None:
        self.solved = True
        self.dial = self._gizmo("GIZMO_GT_dial_3d", 2.0, 0.55)
        self.dial.use_draw_scale = False
        self.handle = self._gizmo("GIZMO_GT_move_3d", 2.5, 0.9)
        self.handle.draw_style = "RING_2D"
        self.handle.draw_options = {"ALIGN_VIEW"}
        self.handle.scale_basis = 0.11

    def _gizmo(self, kind: str, width: float, alpha: float) -> bpy.types.Gizmo:
        gizmo = self.gizmos.new(kind)
        gizmo.color, gizmo.alpha = KNEE_COLOUR, alpha
        gizmo.color_highlight, gizmo.alpha_highlight = _BRIGHT, 1.0
        gizmo.line_width = width
        gizmo.use_draw_modal = True
        gizmo.hide = True
        gizmo.target_set_operator(ANALYTIC_IK_OT_swivel.bl_idname).release_confirm = True
        return gizmo

    def refresh(self, context: bpy.types.Context) -> None:
        """Something changed: see whether the chain is solved."""
        try:
            tip = _active_tip(context)
            self.solved = tip is not None and not problems_of(tip.id_data, [tip.name], context.view_layer.depsgraph)
        except Exception:
            self._give_up()

    def draw_prepare(self, context: bpy.types.Context) -> None:
        """Put dial and handle where the knee's circle is now."""
        try:
            tip, circle = _active_tip(context), None
            if tip is not None and self.solved:
                circle = circle_of(tip.id_data, tip.name, context.view_layer.depsgraph)
            self.dial.hide = self.handle.hide = circle is None
            if circle is not None:
                self.dial.matrix_basis = circle.matrix_world()
                self.handle.matrix_basis = Matrix.Translation(circle.knee_world)
        except Exception:
            self._give_up()

    def _give_up(self) -> None:
        """Hide, and say why once, in the console."""
        self.solved = False
        self.dial.hide = self.handle.hide = True
        text = traceback.format_exc()
        if text not in _reported:
            _reported.add(text)
            print(messages.GIZMO_FAILED(trace=text))


def _active_tip(context: bpy.types.Context) -> bpy.types.PoseBone | None:
    ob = active_armature(context)
    bone = active_bone(ob) if ob is not None else None
    return live_tip_of(bone) if bone is not None else None


# The stubs say that it returns nothing.
register, unregister = bpy.utils.register_classes_factory(  # pyright: ignore[reportGeneralTypeIssues]
    (ANALYTIC_IK_GGT_swivel,)
)
