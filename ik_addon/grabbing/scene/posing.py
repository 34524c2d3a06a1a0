"""A body is posed: its FK channels and the controls of its chains are written, taken back, keyed."""

from collections.abc import Mapping
from typing import NamedTuple

import bpy
from mathutils import Quaternion, Vector

from ... import messages
from ...authoring.keys import key_if_asked
from ...planting.scene.correcting import apply_correction
from ...planting.scene.sources import is_planted
from ...rig.blender.animation import animated_paths, drivers_of
from ...rig.blender.armatures import is_changeable
from ...rig.blender.rotations import LOCATION, Raw, channel_of, channel_path, raw_of, raw_values
from ...rig.data.settings import pin_of, set_pin
from ...solvers import ChainError
from ..solving.drag import Drag, GrabbedPose, GrabOptions, Pin, grabbed
from ..solving.geometry import NO_MOVE, Point
from ..solving.skeleton import Channels, point
from .controls import LimbControl, control_of, place_controls
from .reading import PINS, GrabBody


class GrabSession:
    """From the pose before on, poses of one body. Each is written over the pose before, not over the last one."""

    def __init__(self, context: bpy.types.Context, ob: bpy.types.Object) -> None:
        if not is_changeable(ob):
            raise ChainError(messages.ARMATURE_LINKED(armature=ob.name))
        self.ob = ob
        self._depsgraph = context.evaluated_depsgraph_get()
        self.posed = GrabBody(ob, self._depsgraph)
        self._before: dict[tuple[str, str], Raw] = {}
        self._controls: dict[int, LimbControl] = {}
        self._checked: set[int] = set()

    @property
    def evaluated(self) -> bpy.types.Object:
        """The armature object as it is evaluated now."""
        return self.ob.evaluated_get(self._depsgraph)

    # What is grabbed, and what held

    def start(self, drag: Drag) -> Vector:
        """Where what is dragged is in the pose before, in the world."""
        return self.posed.world @ Vector(drag.start(self.posed.body))

    def goal(self, bone: str, drag: Drag, location_world: Vector) -> Vector:
        """Where what is dragged goes if the head of a bone shall go to a place, both in the world: the tip of a limb
        without hand or foot, and of a tail; or if the head shall look there."""
        body = self.posed.body
        if drag.kind in ("ROW", "GAZE") or (drag.kind == "LIMB" and body.limbs[drag.limb].found.end < 0):
            return location_world
        head = body.bones.heads[self.posed.names.index(bone)]
        return self.start(drag) + location_world - self.posed.world @ Vector(head)

    def pins(self, bone: str, drag: Drag, feet: bool) -> dict[int, Pin]:
        """What is held, by the numbers of limbs. bone: what is dragged; above the hips it takes everything along.
        feet: those on the ground, where nothing else is said."""
        body = self.posed.body
        k = self.posed.names.index(bone)
        if k != body.hips and k in body.bones.above(body.hips):
            return {}
        pins = {number: self._pin(number, feet) for number in range(len(body.limbs))}
        return {k: pin for k, pin in pins.items() if pin and (k != drag.limb or drag.kind == "JOINT")}

    def _pin(self, k: int, feet: bool) -> Pin | None:
        body = self.posed.body
        return self.posed.pin(self.ob, k, body.standing(body.bones.heads) if feet else ())

    def toggle_pin(self, k: int) -> None:
        """Hold the end of a limb that is free, or free it; back to automatic where that says the same."""
        bone = self.ob.pose.bones[self.posed.joint_bone(k)]
        is_held, before = self._pin(k, True) is not None, pin_of(bone)
        set_pin(bone, "AUTO")
        if (self._pin(k, True) is not None) == is_held and before == "AUTO":
            set_pin(bone, "FREE" if is_held else "BOTH")

    # Posing

    @property
    def turned(self) -> list[str]:
        """Names of the bones whose channels differ from the pose before."""
        return list(dict.fromkeys(bone for bone, _ in self._before))

    def pose(
        self,
        context: bpy.types.Context,
        drag: Drag,
        goal_world: Vector,
        held: Mapping[int, Pin],
        options: GrabOptions,
    ) -> GrabbedPose:
        """Bring what is dragged to a place in the world, as near as what is held allows. Raises ChainError, with
        nothing changed, if something besides their channels poses the bones for it."""
        posed, body = self.posed, self.posed.body
        if drag.kind == "JOINT" and drag.limb in posed.chains:
            raise ChainError(messages.GRAB_KNEE_OF_CHAIN(bone=posed.chains[drag.limb]))
        if drag.kind == "HIPS" and body.hips in body.bones.fixed:
            raise ChainError(messages.GRAB_LOCKED(bone=posed.names[body.hips]))
        goal = point(posed.world.inverted_safe() @ goal_world)
        mirrored = self._mirrored(drag, goal)
        moved = [k for k in posed.chains if k in held or k in mirrored or k == drag.limb]
        for k in moved:
            if k not in self._controls:
                self._controls[k] = control_of(self.ob, posed.chains[k], self._depsgraph)
        result = grabbed(body, drag, goal, held, options, mirrored)
        # What poses a bone does not change within a drag.
        fresh = result.moves.keys() - self._checked
        posed.check(self.ob, fresh)
        self._checked |= fresh
        self._check_channels(result.channels)
        self._write(result.channels)
        if moved:
            moves = [(self._controls[k], result.moves.get(body.limbs[k].joint, NO_MOVE)) for k in moved]
            place_controls(context, posed.world, moves)
        return result

    def _mirrored(self, drag: Drag, goal: Point) -> dict[int, Point]:
        """With X Mirror, where the limb of the other side goes."""
        if drag.limb < 0 or not self.ob.pose.use_mirror_x:
            return {}
        other = bpy.utils.flip_name(self.posed.joint_bone(drag.limb))
        limbs = [k for k in range(len(self.posed.body.limbs)) if self.posed.joint_bone(k) == other and k != drag.limb]
        return {k: (-goal[0], *goal[1:]) for k in limbs}

    def _check_channels(self, channels: Channels) -> None:
        bones, names = self.ob.pose.bones, self.posed.names
        written = [(bones[names[k]], bones[names[k]].rotation_mode) for k in channels.turns]
        written += [(bones[names[k]], LOCATION) for k in channels.locations]
        fresh = [(bone, mode) for bone, mode in written if (bone.name, mode) not in self._before]
        driven = {driver.data_path for driver in drivers_of(self.ob)} if fresh else ()
        for bone, mode in fresh:
            if channel_path(bone.name, mode) in driven:
                raise ChainError(messages.GRAB_DRIVEN(bone=bone.name))
            if all(bone.lock_location if mode == LOCATION else bone.lock_rotation):
                raise ChainError(messages.GRAB_LOCKED(bone=bone.name))

    def _write(self, channels: Channels) -> None:
        names, bones = self.posed.names, self.ob.pose.bones
        turns = {(names[k], bones[names[k]].rotation_mode): turn for k, turn in channels.turns.items()}
        places = {(names[k], LOCATION): place for k, place in channels.locations.items()}
        for channel in [channel for channel in self._before if channel not in turns and channel not in places]:
            self._put(channel, self._before.pop(channel))
        for name, mode in (*turns, *places):
            self._before.setdefault((name, mode), raw_values(bones[name], mode))
        for channel, turn in turns.items():
            self._put(channel, raw_of(Quaternion(turn), channel[1], self._before[channel]))
        for channel, place in places.items():
            self._put(channel, place)

    def _put(self, channel: tuple[str, str], raw: Raw) -> None:
        name, mode = channel
        setattr(self.ob.pose.bones[name], channel_of(mode)[0], raw)

    def restore(self) -> None:
        """The pose before, number by number."""
        self._write(Channels(self.posed.body.bones))
        for control in self._controls.values():
            control.put_back()

    def key(self, context: bpy.types.Context) -> list[str]:
        """Key what changed, as Auto Keying asks. In a clip that was planted it becomes a correction, which fades, but
        of bones whose channels have no keys there: returns their names."""
        unkeyed = []
        if context.scene.tool_settings.use_keyframe_insert_auto and is_planted(self.ob):
            keyed = {*animated_paths(self.ob)}
            unkeyed = [name for name, mode in self._before if channel_path(name, mode) not in keyed]
            try:
                apply_correction(context, self.ob)
                return unkeyed
            except ChainError:
                # Beside the clip's frames, say: what Auto Keying does elsewhere.
                self._depsgraph.update()
        for name, mode in self._before:
            key_if_asked(context, self.ob.pose.bones[name], channel_of(mode)[0])
        for each in self._controls.values():
            for mode in each.moved_channels():
                key_if_asked(context, each.control.owner, channel_of(mode)[0])
        return unkeyed


class Grabbed(NamedTuple):
    """What was done. missed: from where the dragged one is to where it should be, in the world. held: LOCATION,
    ROTATION or BOTH, by the names of bones. turned: bones whose channels changed. unkeyed: those of them that a clip
    had no keys of, so that they moved on all of its frames."""

    missed: float
    held: dict[str, str]
    turned: list[str]
    unkeyed: list[str]


def grab_bone(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    bone: str,
    location_world: Vector | None,
    feet: bool = True,
    options: GrabOptions | None = None,
    look: bool = False,
) -> Grabbed:
    """Bring the head of a bone to a place in the world, as near as what is held allows, and key as Auto Keying asks.
    look: the head looks there. Raises ChainError, with nothing changed."""
    session = GrabSession(context, ob)
    posed = session.posed
    if bone not in ob.pose.bones:
        raise ChainError(messages.GRAB_NO_BONE(armature=ob.name, bone=bone))
    drag = posed.drag_of(bone, look)
    held = session.pins(bone, drag, feet)
    goal = session.start(drag) if location_world is None else session.goal(bone, drag, location_world)
    result = session.pose(context, drag, goal, held, options or GrabOptions())
    unkeyed = session.key(context)
    kinds = {pin: kind for kind, pin in PINS.items()}
    names = {posed.joint_bone(k): kinds[pin] for k, pin in held.items()}
    return Grabbed(result.missed * posed.world.median_scale, names, session.turned, unkeyed)
