"""The knee's circle as something to take hold of in the 3D view: a dial and a handle at the knee."""

import traceback

import bpy
from mathutils import Matrix

from ... import messages
from ...rig.status.problems import problems_of
from ..classes import registration_of
from .shapes import KNEE_COLOUR
from .swivel import ANALYTIC_IK_OT_swivel, circle_of, swivelling_tip

_BRIGHT = (1.0, 0.88, 0.40)
_reported: set[str] = set()


class ANALYTIC_IK_GGT_swivel(bpy.types.GizmoGroup):
    """Swing the knee around its circle by dragging."""

    bl_idname = "ANALYTIC_IK_GGT_swivel"
    bl_label = "Swivel Knee"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        space = context.space_data
        if not (space.show_gizmo and space.show_gizmo_context):
            return False
        tip = swivelling_tip(context)
        return (
            tip is not None and tip.id_data.data.pose_position == "POSE" and tip.id_data.visible_in_viewport_get(space)
        )

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
            tip = swivelling_tip(context)
            self.solved = tip is not None and not problems_of(tip.id_data, [tip.name], context.view_layer.depsgraph)
        except Exception:
            self._give_up()

    def draw_prepare(self, context: bpy.types.Context) -> None:
        """Put dial and handle where the knee's circle is now."""
        try:
            tip, circle = swivelling_tip(context), None
            # In FK a drag would move nothing.
            if tip is not None and self.solved and tip.analytic_ik_influence:
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


register, unregister = registration_of(__name__)
