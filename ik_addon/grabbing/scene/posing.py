"""A body is posed: its FK channels and the controls of its chains are written, taken back, keyed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import bpy
from mathutils import Quaternion, Vector

from ... import messages
from ...authoring.keys import key_if_asked
from ...planting.scene.correcting import apply_correction
from ...planting.scene.sources import is_planted
from ...rig.blender.animation import drivers_of
from ...rig.blender.armatures import is_changeable
from ...rig.blender.rotations import LOCATION, Raw, channel_of, channel_path, raw_of, raw_values
from ...rig.data.settings import pin_of, set_pin
from ...solvers import ChainError
from ..solving.body import ON_GROUND
from ..solving.drag import Drag, GrabbedPose, GrabOptions, Pin, grabbed
from ..solving.geometry import NO_MOVE, Point
from ..solving.skeleton import Channels, point
from .controls import LimbControl, control_of, moved_channels, place_controls, put_back, rides_on
from .reading import GrabBody, up_of

_PINS = {
    "LOCATION": Pin(rotation=False),
    "ROTATION": Pin(place=False),
    "BOTH": Pin(),
}


KEEPS = {"AUTO": None, "KEEP": True, "FOLLOW": False}
"""Whether the dragged end keeps its rotation, by the option's name."""


@dataclass(frozen=True)
class GrabJoint:
    """A joint to drag: the head of a bone, or its tail. limb: the number of the limb that ends there, else -1.
    leg: that limb's length in armature space, 0 of what is no leg. soles: bones of a foot, and how high each is at
    rest. is_rigged: a live chain holds it."""

    bone: str
    limb: int = -1
    is_tail: bool = False
    leg: float = 0.0
    soles: tuple[tuple[str, float], ...] = ()
    is_rigged: bool = False

    def place(self, evaluated: bpy.types.Object) -> Vector:
        """Where it is now, in the world."""
        bone = evaluated.pose.bones[self.bone]
        return evaluated.matrix_world @ (bone.tail if self.is_tail else bone.head)

    def lift(self, evaluated: bpy.types.Object) -> float:
        """How much higher than at rest a foot is, in armature space."""
        up = up_of(evaluated)
        return min(evaluated.pose.bones[bone].head.dot(up) - height for bone, height in self.soles)

    def is_held(self, bone: bpy.types.PoseBone, height: float) -> bool:
        """Whether a pin of its bone holds it, or how high it is above the lowest foot, in armature space."""
        pin = pin_of(bone)
        if self.limb < 0 or pin != "AUTO":
            return self.limb >= 0 and pin != "FREE"
        return self.is_rigged or (self.leg > 0.0 and height <= ON_GROUND * self.leg)


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
        is_tip = drag.kind in ("ROW", "GAZE") or (drag.kind == "LIMB" and body.limbs[drag.limb].found.end < 0)
        if is_tip:
            return location_world
        head = body.bones.heads[self.posed.names.index(bone)]
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
        pins = {number: self.pin(number, feet) for number in range(len(body.limbs))}
        return {k: pin for k, pin in pins.items() if pin and (k != drag.limb or drag.kind == "JOINT")}

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

    def joints(self) -> list[GrabJoint]:
        """What can be dragged."""
        body, names = self.posed.body, self.posed.names
        rows = [
            bone for bone in range(len(names)) if bone not in body.bones.parents and len(self.posed.row_to(bone)) > 1
        ]
        middle = {body.hips, body.chest, *(body.neck.links[-1:] if body.neck else ())} if body.limbs else set()
        knees = [limb.links[1] for k, limb in enumerate(body.limbs) if k not in self.posed.chains]
        found = {bone: GrabJoint(names[bone]) for bone in (*middle, *knees)}
        found |= {bone: GrabJoint(names[bone], is_tail=True) for bone in rows}
        ends = {}
        for k, limb in enumerate(body.limbs):
            leg = limb.reach if limb.found.kind == "LEG" else 0.0
            bone = self.joint_bone(k)
            soles = tuple((names[sole], body.rest_heights[sole]) for sole in limb.soles)
            ends[names.index(bone)] = GrabJoint(bone, k, limb.found.end < 0, leg, soles, k in self.posed.chains)
        return [*(found | ends).values()]

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
        if drag.kind == "HIPS" and body.hips in body.bones.still[1]:
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
        posed.check(fresh)
        self._checked |= fresh
        self._check_channels(result.channels)
        self._write(result.channels)
        if moved:
            limbs = [body.limbs[k].found for k in moved]
            ends = [limb.end if limb.end >= 0 else limb.bones[-1] for limb in limbs]
            moves = {k: result.moves.get(end, NO_MOVE) for k, end in zip(moved, ends, strict=True)}
            place_controls(context, posed.world, {k: self._controls[k] for k in moved}, moves)
        return result

    def _mirrored(self, drag: Drag, goal: Point) -> dict[int, Point]:
        """With X Mirror, where the limb of the other side goes."""
        if drag.limb < 0 or not self.ob.pose.use_mirror_x:
            return {}
        other = bpy.utils.flip_name(self.joint_bone(drag.limb))
        limbs = [k for k in range(len(self.posed.body.limbs)) if self.joint_bone(k) == other and k != drag.limb]
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
        wanted: dict[tuple[str, str], Quaternion | Point] = {}
        body, bones = self.posed.body.bones, self.ob.pose.bones
        for k, turn in channels.turns.items():
            wanted[body.names[k], bones[body.names[k]].rotation_mode] = Quaternion(turn)
        for k, location in channels.locations.items():
            wanted[body.names[k], LOCATION] = location
        for channel in [channel for channel in self._before if channel not in wanted]:
            self._put(channel, self._before.pop(channel))
        for (name, mode), value in wanted.items():
            if (name, mode) not in self._before:
                self._before[name, mode] = raw_values(bones[name], mode)
            near = self._before[name, mode]
            self._put((name, mode), value if mode == LOCATION else raw_of(value, mode, near))

    def _put(self, channel: tuple[str, str], raw: Raw) -> None:
        name, mode = channel
        setattr(self.ob.pose.bones[name], channel_of(mode)[0], raw)

    def restore(self) -> None:
        """The pose before, number by number."""
        self._write(Channels({}, {}))
        for control in self._controls.values():
            put_back(control)

    def key(self, context: bpy.types.Context) -> None:
        """Key what changed, as Auto Keying asks. In a clip that was planted it becomes a correction, which fades."""
        if context.scene.tool_settings.use_keyframe_insert_auto and self._before and is_planted(self.ob):
            try:
                apply_correction(context, self.ob)
                return
            except ChainError:
                # Beside the clip's frames, say: what Auto Keying does elsewhere.
                self._depsgraph.update()
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
    location_world: Vector | None,
    feet: bool = True,
    options: GrabOptions | None = None,
    look: bool = False,
) -> Grabbed:
    """Bring the head of a bone to a place in the world, as near as what is held allows, and key as Auto Keying asks.
    look: the head looks there. Raises ChainError, with nothing changed."""
    session = GrabSession(context, ob)
    if bone not in ob.pose.bones:
        raise ChainError(messages.GRAB_NO_BONE(armature=ob.name, bone=bone))
    drag = session.posed.drag_of(bone, look)
    held = session.pins(bone, drag, feet)
    goal = session.start(drag) if location_world is None else session.goal(bone, drag, location_world)
    result = session.pose(context, drag, goal, held, options or GrabOptions())
    session.key(context)
    kinds = {pin: kind for kind, pin in _PINS.items()}
    return Grabbed(
        result.missed * session.posed.world.median_scale,
        {session.joint_bone(k): kinds[pin] for k, pin in held.items()},
        session.turned,
    )
