"""A body is posed: its FK channels and the controls of its chains are written, taken back, keyed."""

from collections.abc import Mapping, Sequence
from typing import Any

import bpy
from mathutils import Matrix, Quaternion, Vector

from ... import messages
from ...authoring.keys import key_if_asked
from ...authoring.placing import Control, Placer, check_control, keyed_control
from ...planting.scene.correcting import apply_correction
from ...planting.scene.sources import is_planted
from ...rig.blender.animation import animated_paths, drivers_of
from ...rig.blender.armatures import is_changeable
from ...rig.blender.rotations import LOCATION, Raw, channel_of, channel_path, raw_of, raw_values
from ...rig.data.settings import pin_of, set_pin
from ...rig.pose.reading import SceneReader
from ...solvers import ChainError
from ...solvers.vectors import finite_point
from ..solving.drag import Drag, GrabbedPose, GrabOptions, grabbed
from ..solving.geometry import NO_MOVE, Move, Point
from ..solving.skeleton import Channels, point
from .reading import GrabBody

_STAYS = 1e-6
"""Of a matrix element: a control that is so near to its place is not touched."""


class GrabSession(GrabBody):
    """From the pose before on, poses of one body. Each is written over the pose before, not over the last one."""

    def __init__(self, context: bpy.types.Context, ob: bpy.types.Object) -> None:
        if not is_changeable(ob):
            raise ChainError(messages.ARMATURE_LINKED(armature=ob.name))
        self.ob, self._depsgraph = ob, context.evaluated_depsgraph_get()
        super().__init__(ob, self._depsgraph)
        self.body.skins = self.skins(ob)
        self._standing = self.standing(ob, self.body.bones.heads, self.body.bones.tails)
        # What stood in channels that were written, those of bones, and of the controls of chains.
        self._before: dict[tuple[Control, str], Raw] = {}
        # What moves the ends of limbs with chains, and where that is in the world in the pose before.
        self._controls: dict[int, tuple[Control, Matrix]] = {}
        self._checked: set[int] = set()

    @property
    def evaluated(self) -> bpy.types.Object:
        """The armature object as it is evaluated now."""
        return self.ob.evaluated_get(self._depsgraph)

    # What is grabbed, and what held

    def pins(self, bone: str, drag: Drag, feet: bool) -> dict[int, str]:
        """What is held, by the numbers of limbs. bone: what is dragged; above the hips it takes everything along.
        feet: those on the ground, where nothing else is said."""
        body, own = self.body, self.names.index(bone)
        if own != body.hips and own in body.bones.above(body.hips):
            return {}
        limbs = [k for k in range(len(body.limbs)) if k != drag.limb or drag.kind == "JOINT"]
        return {k: pin for k in limbs if (pin := self.pin(self.ob, k, self._standing if feet else ()))}

    def toggle_pin(self, k: int) -> None:
        """Hold the end of a limb that is free, or free it; back to automatic where that says the same."""
        bone = self.ob.pose.bones[self.joint_bone(k)]
        is_held, before = self.pin(self.ob, k, self._standing) is not None, pin_of(bone)
        set_pin(bone, "AUTO")
        if (self.pin(self.ob, k, self._standing) is not None) == is_held and before == "AUTO":
            set_pin(bone, "FREE" if is_held else "BOTH")

    # Posing

    def pose(
        self,
        context: bpy.types.Context,
        drag: Drag,
        goal_world: Vector,
        held: Mapping[int, str],
        options: GrabOptions,
    ) -> GrabbedPose:
        """Bring what is dragged to a place in the world, as near as what is held allows. Raises ChainError, with
        nothing changed, if something besides their channels poses the bones for it."""
        body, chains = self.body, self.chains
        if drag.kind == "JOINT" and drag.limb in chains:
            raise ChainError(messages.GRAB_KNEE_OF_CHAIN(bone=chains[drag.limb]))
        if drag.kind == "HIPS" and body.hips in body.bones.fixed:
            raise ChainError(messages.GRAB_LOCKED(bone=self.names[body.hips]))
        goal = point(self.world.inverted_safe() @ goal_world)
        mirrored = self._mirrored(drag, goal)
        moved = [k for k in chains if k in held or k in mirrored or k == drag.limb]
        for k in moved:
            if k not in self._controls:
                self._take_control(k)
        result = grabbed(body, drag, goal, held, options, mirrored)
        # What poses a bone does not change within a drag.
        fresh = result.moves.keys() - self._checked
        self.check(self.ob, fresh)
        self._checked |= fresh
        self._write(result.channels)
        if moved:
            self._place_controls(context, {k: result.moves.get(body.limbs[k].joint, NO_MOVE) for k in moved})
        return result

    def _take_control(self, k: int) -> None:
        """Note the control of a limb with a live chain, which is moved, or held, in place of its bones. Raises
        ChainError if it would not stay where it is put, or the chain only blends."""
        tip = self.ob.pose.bones[self.chains[k]]
        if tip.analytic_ik_influence < 1.0:
            raise ChainError(messages.GRAB_BLENDED(bone=tip.name))
        if tip.analytic_ik_target is None:
            raise ChainError(messages.GRAB_NO_TARGET(bone=tip.name))
        target = Control(tip.analytic_ik_target, tip.analytic_ik_subtarget, tip.analytic_ik_use_rotation)
        control = keyed_control(tip, target)
        try:
            check_control(control)
        except ChainError as error:
            raise error.of(messages.BONE(bone=tip.name)) from None
        self._controls[k] = control, Placer(SceneReader(self._depsgraph)).world_of(control)
        self._before |= {(control, mode): raw for mode, raw in control.channels.items()}

    def _place_controls(self, context: bpy.types.Context, moves: Mapping[int, Move]) -> None:
        """Let controls make the moves of their limbs' ends, wherever what carries them has gone."""
        context.view_layer.update()
        placer = Placer(SceneReader(context.evaluated_depsgraph_get()))
        for k, (turn, shift) in moves.items():
            control, before = self._controls[k]
            move = Matrix.LocRotScale(shift, Quaternion(turn), None)
            wanted = self.world @ move @ self.world.inverted_safe() @ before
            off = wanted - placer.world_of(control)
            if max(abs(number) for row in off for number in row) > _STAYS:
                placer.place(control, wanted)

    def _mirrored(self, drag: Drag, goal: Point) -> dict[int, Point]:
        """With X Mirror, where the limb of the other side goes."""
        if drag.limb < 0 or not self.ob.pose.use_mirror_x:
            return {}
        other = bpy.utils.flip_name(self.joint_bone(drag.limb))
        limbs = [k for k in range(len(self.body.limbs)) if self.joint_bone(k) == other and k != drag.limb]
        return {k: (-goal[0], *goal[1:]) for k in limbs}

    def _write(self, channels: Channels) -> None:
        owners = {k: Control(self.ob, self.names[k]) for k in channels.changed}
        written: dict[tuple[Control, str], Sequence[float]] = {
            (owners[k], owners[k].owner.rotation_mode): turn for k, turn in channels.turns.items()
        }
        written |= {(owners[k], LOCATION): place for k, place in channels.locations.items()}
        self._check_channels([channel for channel in written if channel not in self._before])
        self._before |= {(own, mode): raw_values(own.owner, mode) for own, mode in written.keys() - self._before}
        self.restore()
        for (own, mode), numbers in written.items():
            before = self._before[own, mode]
            _put(own, mode, numbers if mode == LOCATION else raw_of(Quaternion(numbers), mode, before))

    def _check_channels(self, channels: list[tuple[Control, str]]) -> None:
        driven = {driver.data_path for driver in drivers_of(self.ob)} if channels else ()
        for own, mode in channels:
            if channel_path(own.bone, mode) in driven:
                raise ChainError(messages.GRAB_DRIVEN(bone=own.bone))
            if all(own.owner.lock_location if mode == LOCATION else own.owner.lock_rotation):
                raise ChainError(messages.GRAB_LOCKED(bone=own.bone))

    def restore(self) -> None:
        """The pose before, number by number."""
        for (own, mode), raw in self._before.items():
            _put(own, mode, raw)

    def key(self, context: bpy.types.Context) -> list[str]:
        """Key what changed, as Auto Keying asks. In a clip that was planted it becomes a correction, which fades, but
        of bones whose channels have no keys there: returns their names."""
        changed = [(own, mode) for (own, mode), raw in self._before.items() if raw_values(own.owner, mode) != raw]
        unkeyed = []
        if context.scene.tool_settings.use_keyframe_insert_auto and is_planted(self.ob):
            keyed = {*animated_paths(self.ob)}
            of_bones = [(own.bone, mode) for own, mode in changed if own.bone and own.ob == self.ob]
            unkeyed = [bone for bone, mode in of_bones if channel_path(bone, mode) not in keyed]
            try:
                apply_correction(context, self.ob)
                return unkeyed
            except ChainError:
                # Beside the clip's frames, say: what Auto Keying does elsewhere.
                self._depsgraph.update()
        for own, mode in changed:
            key_if_asked(context, own.owner, channel_of(mode)[0])
        return unkeyed


def _put(own: Control, mode: str, raw: Sequence[float]) -> None:
    setattr(own.owner, channel_of(mode)[0], raw)


def grab_bone(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    bone: str,
    location_world: Vector | None,
    options: GrabOptions | None = None,
) -> dict[str, Any]:
    """Bring the head of a bone to a place in the world, as near as what is held allows, and key as Auto Keying asks.
    Returns the report of `api.grab`. Raises ChainError, with nothing changed."""
    if location_world is not None:
        finite_point(location_world, f"{messages.BONE(bone=bone)}: the location")
    session, options = GrabSession(context, ob), options or GrabOptions()
    drag = session.drag_of(bone, options.look)
    held = session.pins(bone, drag, options.pin_feet)
    goal = session.start(drag) if location_world is None else session.goal(bone, drag, location_world)
    result = session.pose(context, drag, goal, held, options)
    unkeyed = session.key(context)
    names = {session.joint_bone(k): pin for k, pin in held.items()}
    missed = result.missed * session.world.median_scale
    turned = [session.names[k] for k in result.channels.changed]
    return {"missed": missed, "held": names, "turned": turned, "unkeyed": unkeyed}
