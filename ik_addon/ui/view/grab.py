"""Grab: the operator that drags a joint of any body, and the one that pins."""

from collections.abc import Iterable
from math import degrees, hypot, inf
from typing import TYPE_CHECKING, NamedTuple

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, StringProperty
from bpy_extras.view3d_utils import location_3d_to_region_2d, region_2d_to_location_3d
from mathutils import Vector

from ... import messages
from ...authoring.selection import active_armature, active_bone
from ...rig.data.settings import pin_of, set_pin
from ...solvers import ChainError
from ..base import ChainOperator, length_words, not_editable, registration_of
from .dragging import DragsInView, in_pose_mode

if TYPE_CHECKING:
    from ...grabbing.scene.posing import GrabSession
    from ...grabbing.scene.reading import GrabBody
    from ...grabbing.solving.drag import Drag, GrabOptions

_NEAR, _ALIKE = 40.0, 4.0
"""Pixels, at a resolution scale of 1: the joint under the mouse is no farther, and those that are farther than the
nearest one by no more than the second are as near."""
_MIDDLE = ("JOINT", "HIPS", "CHEST")
"""Kinds of what is dragged that are no end of anything."""
_NOTICED = 1e-4
"""Of the armature's size: a miss that is worth a word."""
_SWITCHES = {
    "R": ("Keep Rotation", "rotation", "KEEP", "FOLLOW"),
    "B": ("Balance", "balance", 0.0, 0.6),
    "H": ("Heels", "lift_heels", False, True),
    "L": ("Look", "look", True, False),
}
"""What a key is called, the option that it switches, and between what."""
_KEYS = (
    ("Axis", ("EVENT_X", "EVENT_Y", "EVENT_Z")),
    ("Pin", ("EVENT_P",)),
    *((name, (f"EVENT_{key}",)) for key, (name, *_) in _SWITCHES.items()),
    ("Hips Stay", ("EVENT_ALT",)),
)


class _OnJoint(ChainOperator):
    """What works on the joint of a bone, or on the one under the mouse."""

    needs = (not_editable, in_pose_mode)
    on_active_object = True

    bone: StringProperty(
        name="Bone", description="Bone whose joint it is; empty for the active bone", options={"SKIP_SAVE"}
    )
    at_mouse: BoolProperty(name="At Mouse", description="The joint under the mouse", options={"HIDDEN", "SKIP_SAVE"})

    def named(self, ob: bpy.types.Object) -> str:
        """The name of the bone. Raises ChainError if there is none."""
        name = self.bone or getattr(active_bone(ob), "name", "")
        if not name:
            raise ChainError(messages.NO_ACTIVE_BONE(armature=ob.name))
        return name


class SeenJoint(NamedTuple):
    """A joint in a view. Of those that lie one over the other the first one is meant: an end, then the nearer one.

    depth: the larger, the farther from the eye. pixel: in the region.
    """

    is_middle: bool
    depth: float
    bone: str
    drag: "Drag"
    pixel: Vector


def seen_joints(context: bpy.types.Context, body: "GrabBody", evaluated: bpy.types.Object) -> list[SeenJoint]:
    """The joints of a body that a view shows, in order."""
    view, seen = context.region_data, []
    for bone, drag in body.joints().items():
        place = body.place(evaluated, bone, drag)
        pixel, depth = location_3d_to_region_2d(context.region, view, place), -(view.view_matrix @ place).z
        if pixel is not None:
            seen.append(SeenJoint(drag.kind in _MIDDLE, depth, bone, drag, pixel))
    return sorted(seen)


def joint_under(mouse: Vector, seen: Iterable[SeenJoint], scale: float) -> str:
    """The bone of the joint that a press takes there: the nearest one; "" if none is near. scale: of the interface."""
    away = [((joint.pixel - mouse).length, joint) for joint in seen]
    nearest = min((far for far, _ in away), default=inf)
    alike = [joint for far, joint in away if far <= min(nearest + _ALIKE * scale, _NEAR * scale)]
    return min(alike).bone if alike else ""


def _mouse(context: bpy.types.Context, event: bpy.types.Event) -> Vector:
    """In the region; of a drag where the button was pressed."""
    if event.value == "CLICK_DRAG":
        region = context.region
        return Vector((event.mouse_prev_press_x - region.x, event.mouse_prev_press_y - region.y))
    return Vector((event.mouse_region_x, event.mouse_region_y))


def _joint_at(session: "GrabSession", context: bpy.types.Context, event: bpy.types.Event) -> str:
    seen, scale = seen_joints(context, session, session.evaluated), context.preferences.system.ui_scale
    return joint_under(_mouse(context, event), seen, scale)


class ANALYTIC_IK_OT_grab(_OnJoint, DragsInView):
    """Drag a hand, foot, hips, chest or head. Pinned feet and hands stay"""

    bl_idname = "analytic_ik.grab"
    bl_label = "Grab"
    # World units.
    steps = 0.1, 0.01

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

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        from ...grabbing.scene.posing import grab_bone

        name = self.named(ob)
        place = Vector(self.location) if self.properties.is_property_set("location") else None
        done = grab_bone(context, ob, name, place, self._options())
        held = messages.GRAB_HOLDS(names=messages.quoted(done["held"])) if done["held"] else ""
        self._tell_unkeyed(done["unkeyed"])
        if done["missed"] <= _NOTICED * (max(ob.dimensions) or 1.0):
            return messages.GRABBED(bone=name, held=held)
        self.level = "WARNING"
        short = messages.GRAB_SHORT(length=length_words(context.scene, done["missed"]))
        return messages.GRABBED_SHORT(bone=name, held=held, short=short)

    def _tell_unkeyed(self, bones: list[str]) -> None:
        if bones:
            self.report({"WARNING"}, messages.GRAB_UNKEYED(names=messages.quoted(bones)))

    def _options(self) -> "GrabOptions":
        from ...grabbing.solving.drag import GrabOptions

        return GrabOptions(*(getattr(self, name) for name in GrabOptions._fields))

    # Dragging

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        from ...grabbing.scene.posing import GrabSession

        if context.region_data is None or self.properties.is_property_set("location"):
            # There is no view to drag in, or the place is given.
            return self.execute(context)
        ob = active_armature(context)
        try:
            self._session = GrabSession(context, ob)
            if self.at_mouse:
                self.bone = _joint_at(self._session, context, event)
                if not self.bone:
                    return {"PASS_THROUGH", "CANCELLED"}
            self.bone = self.named(ob)
            self._take_hold()
            self._pins = {bone: pin_of(ob.pose.bones[bone]) for bone in self._session.joints()}
            self._last, self._axis, self._hips = self._under(context, event), "", self.hips
            # Its rings are seen in each drag, whatever tool is chosen.
            context.window_manager.gizmo_group_type_ensure("ANALYTIC_IK_GGT_grab")
            return self.begin(context, event, Vector((0.0, 0.0, 0.0)))
        except ChainError as error:
            return self.refuse(error)

    def _take_hold(self) -> None:
        """Of what is dragged, and by how much that is beside the head that the operator is told of."""
        self._drag = self._session.drag_of(self.bone, self.look)
        self._start = self._session.start(self._drag)
        self._beside = self._session.goal(self.bone, self._drag, Vector()) * -1.0

    def goes_on(self, context: bpy.types.Context) -> bool:
        return active_armature(context) == self._session.ob

    def moved(self, context: bpy.types.Context, event: bpy.types.Event) -> Vector:
        before, self._last = self._last, self._under(context, event)
        return self._last - before

    def confirmed(self, context: bpy.types.Context) -> None:
        self.location = self._start + self._beside + self._offset
        self._tell_unkeyed(self._session.key(context))

    def restore(self, _context: bpy.types.Context) -> None:
        self._session.restore()
        for bone, kind in self._pins.items():
            set_pin(self._session.ob.pose.bones[bone], kind)

    def pressed(self, context: bpy.types.Context, event: bpy.types.Event) -> bool:
        if event.type in ("X", "Y", "Z"):
            self._axis = "" if self._axis == event.type else event.type
        elif event.type == "P":
            bone = _joint_at(self._session, context, event)
            drag = self._session.joints().get(bone, self._drag)
            if drag.kind == "LIMB" and drag.limb != self._drag.limb:
                self._session.toggle_pin(drag.limb)
        elif event.type in _SWITCHES:
            _, name, first, other = _SWITCHES[event.type]
            setattr(self, name, other if getattr(self, name) == first else first)
            self._take_hold()
        else:
            return False
        return True

    def _under(self, context: bpy.types.Context, event: bpy.types.Event) -> Vector:
        """The point under the mouse, in the plane of the view through the joint, in the world."""
        return region_2d_to_location_3d(context.region, context.region_data, _mouse(context, event), self._start)

    def _wanted(self, event: bpy.types.Event) -> Vector:
        """The way that the joint is to go."""
        typed = self.typed.value
        if typed is not None:
            return Vector([typed if axis == (self._axis or "X") else 0.0 for axis in "XYZ"])
        moved = zip(self.dragged, "XYZ", strict=True)
        return Vector([self.snapped(way, event) if axis in (self._axis or "XYZ") else 0.0 for way, axis in moved])

    def follow(self, context: bpy.types.Context, event: bpy.types.Event) -> None:
        session, scene = self._session, context.scene
        self.hips = "STAY" if event.alt else self._hips
        self._offset = self._wanted(event)
        held = session.pins(self.bone, self._drag, self.pin_feet)
        result = session.pose(context, self._drag, self._start + self._offset, held, self._options())
        size, scale = session.body.size, session.world.median_scale
        names = messages.quoted([session.joint_bone(k) for k in held]) or "nothing"
        parts = [f"Grab: {self.bone}  {length_words(scene, self._offset.length)}  {self._axis}", f"held: {names}"]
        parts += [f"[{self.typed.text}|]"] if self.typed.text else []
        turn, shift = hypot(*result.turn), hypot(*result.shift)
        parts += [f"spine {degrees(turn):.0f}°"] if turn > 1e-3 else []
        parts += [f"hips {length_words(scene, shift * scale)}"] if shift > 1e-3 * size else []
        if result.missed > _NOTICED * size:
            parts += [messages.GRAB_SHORT(length=length_words(scene, result.missed * scale))]
        self.show(context, "    ".join(parts), _KEYS)
        context.area.tag_redraw()


class ANALYTIC_IK_OT_pin(_OnJoint):
    """Pin or free a foot or hand for Grab"""

    bl_idname = "analytic_ik.pin"
    bl_label = "Pin"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if self.at_mouse and context.region_data is not None:
            from ...grabbing.scene.posing import GrabSession

            try:
                self.bone = _joint_at(GrabSession(context, active_armature(context)), context, event)
            except ChainError as error:
                return self.refuse(error)
        return self.execute(context)

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        from ...grabbing.scene.posing import GrabSession

        session, name = GrabSession(context, ob), self.named(ob)
        drag = session.drag_of(name)
        if drag.limb < 0:
            raise ChainError(messages.GRAB_NO_LIMB(bone=name))
        session.toggle_pin(drag.limb)
        return ""


register, unregister = registration_of(__name__)
