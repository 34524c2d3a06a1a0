"""The drag of Grab: where the mouse, axes and numbers bring a joint, and what is said meanwhile."""

from math import degrees

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d, region_2d_to_location_3d
from mathutils import Vector

from ... import messages
from ...authoring.selection import active_armature, active_bone
from ...grabbing.scene.posing import GrabJoint, GrabSession
from ...rig.data.settings import pin_of, set_pin
from ...solvers import ChainError
from ..base import length_words
from .dragging import PRECISE, number_of, typed

_NEAR = 40.0
"""Pixels, at a resolution scale of 1: the joint under the mouse is no farther."""
_STEP, _FINE_STEP = 0.1, 0.01
"""World units to which Ctrl snaps, and Ctrl with Shift."""
_MODIFIERS = {"LEFT_CTRL", "RIGHT_CTRL", "LEFT_SHIFT", "RIGHT_SHIFT", "LEFT_ALT", "RIGHT_ALT"}


def joint_at(session: GrabSession, context: bpy.types.Context, event: bpy.types.Event) -> GrabJoint | None:
    """The joint nearest to the mouse; None if none is near."""
    mouse = Vector((event.mouse_region_x, event.mouse_region_y))
    near, found = _NEAR * context.preferences.system.ui_scale, None
    for joint in session.joints():
        place = location_3d_to_region_2d(context.region, context.region_data, joint.place(session.evaluated))
        if place is not None and (place - mouse).length < near:
            near, found = (place - mouse).length, joint
    return found


class GrabDrag:
    """One drag. bone: whose head is dragged, "" if the mouse is on no joint. head_world: where its head is wanted."""

    def __init__(self, operator: bpy.types.Operator, context: bpy.types.Context, event: bpy.types.Event) -> None:
        ob = active_armature(context)
        self._operator = operator
        self.session = GrabSession(context, ob)
        self.bone = operator.bone or getattr(active_bone(ob), "name", "")
        if operator.at_mouse:
            joint = joint_at(self.session, context, event)
            self.bone = joint.bone if joint else ""
            if not joint:
                return
        if self.bone not in ob.pose.bones:
            raise ChainError(messages.NO_ACTIVE_BONE(armature=ob.name))
        self._begin()
        self._pins = {joint.bone: pin_of(ob.pose.bones[joint.bone]) for joint in self.session.joints()}
        self._moved, self._last = Vector((0.0, 0.0, 0.0)), self._under(context, event)
        self._axis, self._typed, self._hips = "", "", operator.hips
        self._place(context)

    def _begin(self) -> None:
        self._drag = self.session.posed.drag_of(self.bone, self._operator.look)
        self._start = self.session.start(self._drag)
        # By so much what the operator is told is beside what is dragged.
        self._beside = self.session.goal(self.bone, self._drag, Vector()) * -1.0

    @property
    def head_world(self) -> Vector:
        """Where the dragged bone's head is wanted."""
        return self._start + self._beside + self._offset

    def heard(self, context: bpy.types.Context, event: bpy.types.Event) -> bool:
        """Do what an event says; False: it says nothing here."""
        if event.type == "MOUSEMOVE":
            under = self._under(context, event)
            self._moved += (under - self._last) * (PRECISE if event.shift else 1.0)
            self._last = under
        elif event.type in _MODIFIERS:
            self._operator.hips = "STAY" if event.alt else self._hips
        elif event.value != "PRESS" or not self._pressed(context, event):
            return False
        self._place(context, event.ctrl, event.shift)
        return True

    def _pressed(self, context: bpy.types.Context, event: bpy.types.Event) -> bool:
        """Whether a key means something here."""
        operator = self._operator
        if event.type in "XYZ" and len(event.type) == 1:
            self._axis = "" if self._axis == event.type else event.type
        elif event.type == "P":
            self._toggle_pin(context, event)
        elif event.type == "R":
            operator.rotation = "FOLLOW" if operator.rotation == "KEEP" else "KEEP"
        elif event.type == "B":
            operator.balance = 0.0 if operator.balance else 0.6
        elif event.type == "H":
            operator.lift_heels = not operator.lift_heels
        elif event.type == "L":
            operator.look = not operator.look
            self._begin()
        elif (text := typed(self._typed, event)) is not None:
            self._typed = text
        else:
            return False
        return True

    def _toggle_pin(self, context: bpy.types.Context, event: bpy.types.Event) -> None:
        joint = joint_at(self.session, context, event)
        if joint and joint.limb >= 0 and joint.limb != self._drag.limb:
            self.session.toggle_pin(joint.limb)

    # Where to

    def _under(self, context: bpy.types.Context, event: bpy.types.Event) -> Vector:
        """The point under the mouse, in the plane of the view through the joint, in the world."""
        mouse = (event.mouse_region_x, event.mouse_region_y)
        return region_2d_to_location_3d(context.region, context.region_data, mouse, self._start)

    def _wanted(self, snap: bool, fine: bool) -> Vector:
        """The way that the joint is to go."""
        axes = [axis in (self._axis or "XYZ") for axis in "XYZ"]
        moved = Vector([number if on else 0.0 for number, on in zip(self._moved, axes, strict=True)])
        number = number_of(self._typed)
        if number is not None:
            axis = "XYZ".index(self._axis or "X")
            return Vector([number if k == axis else 0.0 for k in range(3)])
        if snap:
            step = _FINE_STEP if fine else _STEP
            moved = Vector([round(number / step) * step for number in moved])
        return moved

    def _place(self, context: bpy.types.Context, snap: bool = False, fine: bool = False) -> None:
        operator, session = self._operator, self.session
        self._offset = self._wanted(snap, fine)
        held = session.pins(self.bone, self._drag, operator.pin_feet)
        result = session.pose(context, self._drag, self._start + self._offset, held, operator.given_options())
        scene, world = context.scene, session.posed.world
        names = messages.quoted([session.joint_bone(k) for k in held]) or "nothing"
        size = session.posed.body.size
        parts = [f"Grab: {self.bone}  {length_words(scene, self._offset.length)}  {self._axis}", f"held: {names}"]
        parts += [f"[{self._typed}|]"] if self._typed else []
        turn, shift = (Vector(vector).length for vector in (result.turn, result.shift))
        parts += [f"spine {degrees(turn):.0f}°"] if turn > 1e-3 else []
        parts += [f"hips {length_words(scene, shift * world.median_scale)}"] if shift > 1e-3 * size else []
        if result.missed > 1e-4 * size:
            parts += [messages.GRAB_SHORT(length=length_words(scene, result.missed * world.median_scale))]
        operator.show(context, "    ".join(parts))
        context.area.tag_redraw()

    def restore(self) -> None:
        """The pose and the pins before."""
        self.session.restore()
        for bone, kind in self._pins.items():
            set_pin(self.session.ob.pose.bones[bone], kind)
