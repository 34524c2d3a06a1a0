"""Drag the knee round its circle: the operator that turns a chain's swivel, and its handle in the 3D view."""

from math import atan2, degrees, pi, radians, tau

import bpy
import numpy as np
from bpy.props import FloatProperty
from bpy_extras.view3d_utils import location_3d_to_region_2d, region_2d_to_origin_3d, region_2d_to_vector_3d
from mathutils import Matrix, Vector

from ... import messages
from ...authoring.keys import key_if_asked
from ...authoring.selection import chain_armature, live_tip
from ...rig.blender.animation import driver_at
from ...rig.blender.armatures import tag_pose
from ...rig.data.settings import path_of
from ...rig.live.state import memory
from ...rig.model.limb import known_bones, posed_joints
from ...rig.status.problems import problems_of
from ...solvers import ChainError
from ..base import registration_of
from .dragging import BRIGHT, DragsInView, in_pose_mode

SWIVEL = "analytic_ik_swivel"
_EDGE_ON = 0.17
"""Cosine between the view and the circle's axis below which the circle is seen from its edge."""
_STRAIGHT = 1e-4
"""Part of the distance from root to tip by which a limb must bulge to have a circle."""


class Circle:
    """All places of a chain's knee for its root and its tip, in the space of the armature.

    centre; towards, across: vectors of its radius, to the knee and on by the right-hand rule about the line from root
    to tip. world: of the armature object.
    """

    def __init__(self, centre: Vector, towards: Vector, across: Vector, world: Matrix) -> None:
        self.centre, self.towards, self.across, self.world = centre, towards, across, world

    @property
    def axis(self) -> Vector:
        """From root to tip."""
        return self.towards.cross(self.across).normalized()

    @property
    def knee_world(self) -> Vector:
        """Where the knee is."""
        return self.world @ (self.centre + self.towards)

    def matrix_world(self) -> Matrix:
        """From the unit circle across the z axis to this one."""
        frame = Matrix((self.towards, self.across, self.axis * self.towards.length)).transposed().to_4x4()
        return self.world @ Matrix.Translation(self.centre) @ frame

    def angle_of(self, origin_world: Vector, ray_world: Vector) -> float | None:
        """Where a ray meets the circle's plane, as an angle from the knee; None where it runs along the plane."""
        inverse = self.world.inverted_safe()
        origin, ray = inverse @ origin_world, (inverse.to_3x3() @ ray_world).normalized()
        slope = ray.dot(self.axis)
        if abs(slope) < _EDGE_ON:
            return None
        point = origin + ray * ((self.centre - origin).dot(self.axis) / slope) - self.centre
        return atan2(point.dot(self.across), point.dot(self.towards))


def circle_of(ob: bpy.types.Object, tip_name: str, depsgraph: bpy.types.Depsgraph) -> Circle | None:
    """The circle of the knee of a chain as it is evaluated; None where the limb is straight or of one bone."""
    from .shapes import knee_circles

    evaluated = ob.evaluated_get(depsgraph)
    tip = evaluated.pose.bones[tip_name]
    bones = known_bones(tip)
    if len(bones) < 2:
        return None
    joints = np.array([posed_joints(bones)])
    _, centre, towards, across = (part[0] for part in knee_circles(joints))
    radius, length = Vector(towards).length, np.abs(np.diff(joints[0], axis=0)).sum()
    if not radius > _STRAIGHT * length:
        return None
    return Circle(Vector(centre), Vector(towards), Vector(across), evaluated.matrix_world.copy())


class ANALYTIC_IK_OT_swivel(DragsInView):
    """Swing the knee around. Hip and foot stay in place"""

    bl_idname = "analytic_ik.swivel"
    bl_label = "Swivel Knee"
    steps = radians(5.0), radians(1.0)
    needs = (in_pose_mode, lambda context, ob: "" if live_tip(context) else messages.NO_CHAIN_ACTIVE(armature=ob.name))

    angle: FloatProperty(
        name="Angle",
        description="Rotation of the knee around the line from root to target",
        subtype="ANGLE",
        soft_min=-pi,
        soft_max=pi,
        options={"SKIP_SAVE"},
    )

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        tip = _checked_tip(context)
        setattr(tip, SWIVEL, getattr(tip, SWIVEL) + self.angle)
        key_if_asked(context, tip, SWIVEL)
        return ""

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        try:
            tip = _checked_tip(context)
            ob = tip.id_data
            circle = circle_of(ob, tip.name, context.view_layer.depsgraph)
            if circle is None:
                raise ChainError(messages.KNEE_STRAIGHT(bone=tip.name))
        except ChainError as error:
            return self.refuse(error)
        if context.region_data is None:
            # There is no view to drag in.
            return self.execute(context)
        self._ob, self._tip, self._circle = ob.name, tip.name, circle
        self._start, self._was_set = getattr(tip, SWIVEL), tip.is_property_set(SWIVEL)
        self._last = self._seen(context, event)
        self.angle = 0.0
        return self.begin(context, event, 0.0)

    def goes_on(self, context: bpy.types.Context) -> bool:
        ob = chain_armature(context)
        return ob is not None and ob.name == self._ob and self._tip in ob.pose.bones

    def follow(self, context: bpy.types.Context, event: bpy.types.Event) -> None:
        angle = radians(self.typed.value or 0.0) if self.typed.text else self.snapped(self.dragged, event)
        if angle != self.angle:
            self.angle = angle
            setattr(self._dragged_tip(context), SWIVEL, self._start + angle)
        typed = f" [{self.typed.text}|]" if self.typed.text else ""
        self.show(context, f"Swivel: {degrees(self._start + self.angle):.1f}°{typed}", [("0-9: Type Angle", ())])

    def confirmed(self, context: bpy.types.Context) -> None:
        key_if_asked(context, self._dragged_tip(context), SWIVEL)

    def _dragged_tip(self, context: bpy.types.Context) -> bpy.types.PoseBone:
        return chain_armature(context).pose.bones[self._tip]

    def _seen(self, context: bpy.types.Context, event: bpy.types.Event) -> tuple[float, bool]:
        """Where the mouse points on the circle, as an angle; and whether the circle is seen from its edge."""
        region, view = context.region, context.region_data
        mouse = Vector((event.mouse_region_x, event.mouse_region_y))
        origin = region_2d_to_origin_3d(region, view, mouse)
        ray = region_2d_to_vector_3d(region, view, mouse)
        angle = self._circle.angle_of(origin, ray)
        return (self._along_edge(region, view, mouse), True) if angle is None else (angle, False)

    def _along_edge(self, region: bpy.types.Region, view: bpy.types.RegionView3D, mouse: Vector) -> float:
        """How far the mouse is along a circle that looks like a line: its radius is one radian."""
        circle = self._circle
        centre = location_3d_to_region_2d(region, view, circle.world @ circle.centre)
        ends = [
            location_3d_to_region_2d(region, view, circle.world @ (circle.centre + vector))
            for vector in (circle.towards, circle.across)
        ]
        spans = [end - centre for end in ends if end is not None and centre is not None]
        if len(spans) < 2:
            return 0.0
        # Nearer to the eye is the half that seems to be dragged.
        to_eye = view.view_rotation @ Vector((0.0, 0.0, 1.0))
        turn = circle.world.to_3x3()
        towards_eye, across_eye = (to_eye.dot(turn @ vector) for vector in (circle.towards, circle.across))
        line = spans[1] * towards_eye - spans[0] * across_eye
        if not line.length:
            return 0.0
        widest = max(span.length for span in spans)
        return (mouse - centre).dot(line.normalized()) / max(widest, 1.0)

    def moved(self, context: bpy.types.Context, event: bpy.types.Event) -> float:
        (before, was_edge_on), self._last = self._last, self._seen(context, event)
        angle, is_edge_on = self._last
        if is_edge_on != was_edge_on:
            return 0.0
        return angle - before if is_edge_on else (angle - before + pi) % tau - pi

    def restore(self, context: bpy.types.Context) -> None:
        tip = self._dragged_tip(context)
        if self._was_set:
            setattr(tip, SWIVEL, self._start)
        else:
            tip.property_unset(SWIVEL)
            tag_pose(tip.id_data)


def swivelling_tip(context: bpy.types.Context) -> bpy.types.PoseBone | None:
    """The tip bone of the live chain whose knee can be dragged: of the active bone in Pose Mode, or of the active
    control."""
    tip = live_tip(context)
    if tip is None or (tip.id_data == context.active_object and tip.id_data.mode != "POSE"):
        return None
    return tip


def _checked_tip(context: bpy.types.Context) -> bpy.types.PoseBone:
    """The tip bone of the chain that is shown. Raises ChainError if its swivel turns nothing or is driven."""
    tip = swivelling_tip(context)
    if tip is None:
        raise ChainError(messages.NO_POSE_MODE())
    ob = tip.id_data
    for sentence in problems_of(ob, [tip.name], context.view_layer.depsgraph).values():
        raise ChainError(sentence)
    if tip.analytic_ik_chain_count == 1 or tip.parent is None:
        raise ChainError(messages.NO_KNEE()).of(messages.BONE(bone=tip.name))
    if driver_at(ob, path_of(tip, "swivel")) is not None:
        raise ChainError(messages.SETTING_DRIVEN(bone=tip.name, setting="swivel"))
    return tip


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
        self.handle.scale_basis, self.handle.draw_style, self.handle.draw_options = 0.11, "RING_2D", {"ALIGN_VIEW"}

    def _gizmo(self, kind: str, width: float, alpha: float) -> bpy.types.Gizmo:
        from .shapes import KNEE_COLOUR

        gizmo = self.gizmos.new(kind)
        gizmo.line_width, gizmo.alpha = width, alpha
        gizmo.color, gizmo.color_highlight, gizmo.alpha_highlight = KNEE_COLOUR, BRIGHT, 1.0
        gizmo.use_draw_modal, gizmo.hide = True, True
        gizmo.target_set_operator("analytic_ik.swivel").release_confirm = True
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
        memory.tell(messages.GIZMO_FAILED)


register, unregister = registration_of(__name__)
