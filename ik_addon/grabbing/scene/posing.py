"""A body is posed: its FK channels and the controls of its chains are written, taken back, keyed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import bpy
from mathutils import Quaternion, Vector

from ... import messages
from ...authoring.keys import key_if_asked
from ...rig.blender.animation import drivers_of
from ...rig.blender.armatures import is_changeable
from ...rig.blender.rotations import LOCATION, Raw, channel_of, channel_path, raw_of, raw_values
from ...rig.data.settings import pin_of, set_pin
from ...solvers import ChainError
from ..solving.drag import Drag, GrabbedPose, GrabOptions, Pin, grabbed
from ..solving.geometry import NO_MOVE
from ..solving.skeleton import Channels, point
from .controls import LimbControl, control_of, moved_channels, place_controls, put_back, rides_on
from .reading import GrabBody

_PINS = {
    "LOCATION": Pin(rotation=False),
    "ROTATION": Pin(place=False),
    "BOTH": Pin(),
}


KEEPS = {"AUTO": None, "KEEP": True, "FOLLOW": False}
"""Whether the dragged end keeps its rotation, by the option's name."""


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

    # What is grabbed, and what held

    def start(self, drag: Drag) -> Vector:
        """Where what is dragged is in the pose before, in the world."""
        return self.posed.world @ Vector(drag.start(self.posed.body))

    def goal(self, bone: str, drag: Drag, location_world: Vector) -> Vector:
        """Where what is dragged goes if the head of a bone shall go to a place, both in the world."""
        head = self.posed.body.bones.heads[self.posed.names.index(bone)]
        return self.start(drag) + location_world - self.posed.world @ Vector(head)

    def joint_bone(self, k: int) -> str:
        """The bone at the end of a limb, which has its pin."""
        found = self.posed.body.limbs[k].found
        return self.posed.names[found.end if found.end >= 0 else found.bones[-1]]

    def pins(self, bone: str, drag: Drag, feet: bool) -> dict[int, Pin]:
        """What is held, by the numbers of limbs. bone: what is dragged; above the hips it takes everything along.
        feet: those on the ground, where nothing else is said."""
        body = self.posed.body
        k = self.posed.names.index(bone)
        if k != body.hips and k in body.bones.above(body.hips):
            return {}
        held = {}
        for number in range(len(body.limbs)):
            pin = self.pin(number, feet)
            if pin and (number != drag.limb or drag.kind == "JOINT"):
                held[number] = pin
        return held

    def pin(self, k: int, feet: bool) -> Pin | None:
        """What of a limb's end is held, None for nothing."""
        kind = pin_of(self.ob.pose.bones[self.joint_bone(k)])
        if kind != "AUTO":
            return _PINS.get(kind)
        body = self.posed.body
        if k in self.posed.chains:
            # Its control stands where it is, unless the body carries it.
            carried = [self.posed.names[bone] for bone in (*body.line, *(body.neck.links if body.neck else ()))]
            return None if rides_on(self.ob, self.posed.chains[k], carried) else Pin()
        return Pin() if feet and body.is_standing(body.limbs[k]) else None

    def toggle_pin(self, k: int) -> None:
        """Hold the end of a limb that is free, or free it; back to automatic where that says the same."""
        bone = self.ob.pose.bones[self.joint_bone(k)]
        is_held, before = self.pin(k, True) is not None, pin_of(bone)
        set_pin(bone, "AUTO")
        if (self.pin(k, True) is not None) == is_held and before == "AUTO":
            set_pin(bone, "FREE" if is_held else "BOTH")

    def joints(self) -> dict[str, int]:
        """The bones whose heads are joints to drag, each with the number of the limb that it ends, else -1."""
        body, names = self.posed.body, self.posed.names
        found = {names[body.hips]: -1, names[body.chest]: -1}
        if body.neck:
            found[names[body.neck.links[-1]]] = -1
        for k, limb in enumerate(body.limbs):
            if k not in self.posed.chains:
                found[names[limb.links[1]]] = -1
            found[self.joint_bone(k)] = k
        return found

    def place_of(self, bone: str) -> Vector:
        """Where such a joint is now, in the world; a limb without a bone at its end ends at the tail."""
        evaluated = self.ob.evaluated_get(self._depsgraph)
        pose_bone = evaluated.pose.bones[bone]
        k = self.joints().get(bone, -1)
        is_tail = k >= 0 and self.posed.body.limbs[k].found.end < 0
        return evaluated.matrix_world @ (pose_bone.tail if is_tail else pose_bone.head)

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
        posed = self.posed
        if drag.kind == "JOINT" and drag.limb in posed.chains:
            raise ChainError(messages.GRAB_KNEE_OF_CHAIN(bone=posed.chains[drag.limb]))
        moved = [k for k in posed.chains if k in held or k == drag.limb]
        for k in moved:
            if k not in self._controls:
                self._controls[k] = control_of(self.ob, posed.chains[k], self._depsgraph)
        result = grabbed(posed.body, drag, point(posed.world.inverted_safe() @ goal_world), held, options)
        # What poses a bone does not change within a drag.
        fresh = result.moves.keys() - self._checked
        posed.check(fresh)
        self._checked |= fresh
        self._check_channels(result.channels)
        self._write(result.channels)
        if moved:
            limbs = [posed.body.limbs[k].found for k in moved]
            ends = [limb.end if limb.end >= 0 else limb.bones[-1] for limb in limbs]
            moves = {k: result.moves.get(end, NO_MOVE) for k, end in zip(moved, ends, strict=True)}
            place_controls(context, posed.world, {k: self._controls[k] for k in moved}, moves)
        return result

    def _check_channels(self, channels: Channels) -> None:
        names, bones = self.posed.names, self.ob.pose.bones
        written = [(names[k], bones[names[k]].rotation_mode) for k in channels.turns]
        written += [(names[k], LOCATION) for k in channels.locations]
        driven = {driver.data_path for driver in drivers_of(self.ob)}
        for bone, mode in written:
            if channel_path(bone, mode) in driven:
                raise ChainError(messages.GRAB_DRIVEN(bone=bone))

    def _write(self, channels: Channels) -> None:
        wanted: dict[tuple[str, str], Raw] = {}
        body = self.posed.body.bones
        for k, turn in channels.turns.items():
            bone = self.ob.pose.bones[body.names[k]]
            near = self._before.get((bone.name, bone.rotation_mode)) or raw_values(bone, bone.rotation_mode)
            wanted[bone.name, bone.rotation_mode] = raw_of(Quaternion(turn), bone.rotation_mode, near)
        for k, location in channels.locations.items():
            wanted[body.names[k], LOCATION] = location
        for channel in [channel for channel in self._before if channel not in wanted]:
            self._put(channel, self._before.pop(channel))
        for (name, mode), raw in wanted.items():
            self._before.setdefault((name, mode), raw_values(self.ob.pose.bones[name], mode))
            self._put((name, mode), raw)

    def _put(self, channel: tuple[str, str], raw: Raw) -> None:
        name, mode = channel
        setattr(self.ob.pose.bones[name], channel_of(mode)[0], raw)

    def restore(self) -> None:
        """The pose before, number by number."""
        self._write(Channels({}, {}))
        for control in self._controls.values():
            put_back(control)

    def key(self, context: bpy.types.Context) -> None:
        """Key what changed, as Auto Keying asks."""
        owners: Iterable = [(self.ob.pose.bones[name], mode) for name, mode in self._before]
        owners = [*owners, *((each.control.owner, m) for each in self._controls.values() for m in moved_channels(each))]
        for owner, mode in owners:
            key_if_asked(context, owner, channel_of(mode)[0])


@dataclass(frozen=True)
class Grabbed:
    """What was done. missed_world: from where the dragged one is to where it should be. held: LOCATION, ROTATION or
    BOTH, by the names of bones. turned: bones whose channels changed."""

    missed_world: float
    held: dict[str, str]
    turned: list[str]


def grab_bone(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    bone: str,
    location_world: Vector,
    feet: bool = True,
    options: GrabOptions | None = None,
) -> Grabbed:
    """Bring the head of a bone to a place in the world, as near as what is held allows, and key as Auto Keying asks.
    Raises ChainError, with nothing changed."""
    session = GrabSession(context, ob)
    if bone not in ob.pose.bones:
        raise ChainError(messages.GRAB_NO_BONE(armature=ob.name, bone=bone))
    drag = session.posed.drag_of(bone)
    held = session.pins(bone, drag, feet)
    goal = session.goal(bone, drag, location_world)
    result = session.pose(context, drag, goal, held, options or GrabOptions())
    session.key(context)
    kinds = {pin: kind for kind, pin in _PINS.items()}
    return Grabbed(
        result.missed * session.posed.world.median_scale,
        {session.joint_bone(k): kinds[pin] for k, pin in held.items()},
        session.turned,
    )
