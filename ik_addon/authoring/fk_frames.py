"""Chains in their FK pose at each frame, and where their controls have to be for it; over all frames at once where
F-Curves tell all of it.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix, Vector

from .. import messages
from ..bake.collecting import sampled_over
from ..bake.keys import BoneKeys, check_keyable, key_times, write_keys
from ..bake.stepping import stepping_lightly
from ..rig.blender.animation import animated_paths
from ..rig.blender.armatures import armature_named, armature_objects, posed_armatures
from ..rig.blender.dependencies import followed_nodes, shares_of
from ..rig.blender.rotations import (
    LOCATION,
    SCALE,
    Raw,
    array_of,
    continuous,
    continuous_numbers,
    matrices_of,
    pose_matrix,
    quaternions_of,
    raw_values,
    rotation_in,
    turns_in,
)
from ..rig.blender.sampling import Sampler
from ..rig.data.settings import path_of, settings_of, target_and_pole
from ..rig.model.limb import Limb, chain_bones, fk_joints, hinge_armature
from ..rig.model.limb_model import hinges_of, joints_of, posed
from ..rig.model.order import ChainName, KnownOrders, live_tips, objects_of
from ..rig.pose.following import follow_limbs
from ..rig.pose.reading import SceneReader, check_targets
from ..rig.pose.solving import solve_limb, tell
from ..rig.pose.track_reading import are_even
from ..rig.pose.track_solving import Reading, solve_tracks
from ..solvers import ChainError
from ..solvers.arrays import components_last, conjugate, multiply
from ..solvers.bending import is_straight
from ..solvers.chain import uneased
from ..solvers.rows import start_rows
from ..solvers.vectors import STRAIGHT
from .placing import BEYOND, Control, Placer, check_control

BEND_SETTINGS = {"swivel": 0.0, "flip": False, "foot_roll": 0.0}
"""What a snap sets back, since target and pole alone shall carry the limb."""


def checked_controls(
    tips: Sequence[bpy.types.PoseBone], frames: range | None
) -> dict[bpy.types.PoseBone, list[Control]]:
    """Target and pole of each tip; ChainError where one of them cannot be put anywhere."""
    controls, owners = {}, {}
    for ob in {tip.id_data for tip in tips}:
        for other in map(ob.pose.bones.get, live_tips(ob)):
            if other not in tips:
                owners |= dict.fromkeys(target_and_pole(other), other)
    for tip in tips:
        settings = settings_of(tip)
        try:
            check_targets(tip.id_data, chain_bones(tip), settings)
            found = [Control(settings.target, settings.subtarget, settings.use_rotation)]
            if settings.pole_target is not None:
                found.append(Control(settings.pole_target, settings.pole_subtarget, False))
            for control in found:
                check_control(control, frames is not None)
                other = owners.setdefault((control.ob, control.bone), tip)
                if other is not tip:
                    raise ChainError(messages.CONTROL_SHARED(tip=other.name, control=control.shown))
                if frames is not None:
                    check_keyable(control.ob)
            animated = set(animated_paths(tip.id_data))
            for name in BEND_SETTINGS:
                if path_of(tip, name) in animated:
                    raise ChainError(messages.SETTING_ANIMATED(setting=name.replace("_", " ")))
        except ChainError as error:
            raise error.of(messages.BONE(bone=tip.name)) from error
        controls[tip] = found
    return controls


def stepped(
    context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone], frames: Sequence[float] | None
) -> Generator[tuple[tuple[int, int], SceneReader], None, None]:
    """The scene at each frame, before chains are solved there, with the step that this is; without frames, as it
    stands.

    Without meshes and all else that chains do not depend on, where that shows the same.
    """
    if frames is None:
        yield (1, 1), SceneReader(context.evaluated_depsgraph_get())
        return
    # All live chains may move these.
    live = (ob.pose.bones[name] for ob in armature_objects() for name in live_tips(ob))
    with stepping_lightly(context, [each for tip in (*tips, *live) for each in objects_of(tip)]) as go_to:
        for done, frame in enumerate(frames, 1):
            yield (done, len(frames)), SceneReader(go_to(frame), frame_changed=True)


def limbs_in_fk(
    scene: SceneReader,
    chosen: set[ChainName],
    orders: KnownOrders,
    solved: bool = False,
    at_full_influence: bool = True,
    bodies: dict[ChainName, dict[str, Raw]] | None = None,
) -> Iterator[tuple[ChainName, Limb]]:
    """Read the chosen chains, each after those that move it, as all others leave it.

    Those that are chosen are in their FK pose afterwards, or solved; in their FK pose no bone follows them. orders: of
    the chains, as they were at other frames. bodies: is told the channels of bones that follow them alone. Raises
    ChainError where one of the chains cannot be read.
    """
    order = orders.of(ob.evaluated_get(scene.depsgraph) for ob in posed_armatures(scene.depsgraph))
    switched_off = [chain for chain in sorted(chosen) if chain not in order.bones and chain not in order.errors]
    for chain in [*order.steps, *switched_off]:
        reader = scene.armature(armature_named(chain.armature))
        try:
            if chain in order.limbs:
                limbs = [limb for limb in order.limbs[chain] if solved or limb not in chosen]
                posed = follow_limbs(reader, chain.tip, [limb.tip for limb in limbs])
                if bodies is not None and chosen.issuperset(limbs):
                    bodies[chain] = posed.channels
                continue
            limb = reader.limb(chain.tip)
            if chain in chosen:
                if at_full_influence:
                    limb = replace(limb, settings=replace(limb.settings, influence=1.0))
                yield chain, limb
            if chain not in chosen or solved:
                tell(reader, solve_limb(limb))
                continue
        except ChainError:
            if chain in chosen:
                raise
            continue
        for reading in limb.turned:
            reader.pose(reading.name, reading.pose_armature)
    for chain in chosen & order.errors.keys():
        raise order.errors[chain]


POLE_DISTANCES = 0.5, 3.0
"""How near to the knee a pole may be, and how far, in chain lengths."""


class _FkPlane(NamedTuple):
    """What gives a chain its FK pose, over n frames.

    targets: (n, 3), of its end. knees, sides: (n, 3), a point of the plane in which it bends as a whole, and the unit
    vector from there to a pole. lengths: (n,), of the chain. roots, alongs: (n, 3), where it begins, and the unit
    vector from there to its end. bulges: (n,), how far its inner joints that tell lie to that side, all together.
    """

    targets: np.ndarray
    knees: np.ndarray
    sides: np.ndarray
    lengths: np.ndarray
    roots: np.ndarray
    alongs: np.ndarray
    bulges: np.ndarray

    def pole_reach(self, present: float, row: int = 0) -> float:
        """How far from the knee a pole is put that is so far from it at a row."""
        nearest, farthest = (share * float(self.lengths[_row(row, self.lengths)]) for share in POLE_DISTANCES)
        return min(max(present, nearest), farthest)

    def off_midway(self, poles: np.ndarray) -> np.ndarray:
        """How far from the middle of its way a pole has to be halfway from each row to the next, (n, 3); NaN where it
        may go straight. poles: (n, 3).

        The side of a leg that passes through straight turns within a frame, and by how much at its half the bulges
        tell: what bulges changes evenly.
        """
        away = poles - self.roots
        ahead = (away * self.alongs).sum(axis=-1, keepdims=True) * self.alongs
        aside = np.linalg.norm(away - ahead, axis=-1, keepdims=True)
        along = _unit(_midway(self.alongs))
        bulge = _midway(self.sides * np.maximum(self.bulges, STRAIGHT**2 * self.lengths)[:, None])
        side = _unit(bulge - along * (bulge * along).sum(axis=-1, keepdims=True))
        wanted = _midway(self.roots + ahead) + side * _midway(aside)
        turning = (self.sides[1:] * self.sides[:-1]).sum(axis=-1) < _TURNING
        found = np.full(poles.shape, np.nan)
        found[:-1][turning] = (wanted - _midway(poles))[turning]
        return found


_TURNING = 0.9
"""Cosine of the angle by which a chain's side turns from one frame to the next below which a pole is led around it."""


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Unit vectors (n, 3); of two opposite directions none is in the middle, and what comes out is not looked at."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), np.finfo(float).tiny)


def _midway(rows: np.ndarray) -> np.ndarray:
    return 0.5 * (rows[1:] + rows[:-1])


def _fk_plane(joints: np.ndarray, hinges: np.ndarray, softness: np.ndarray) -> _FkPlane:
    """joints: (n, links + 1, 3), in the FK pose. hinges: (n, 3), see `hinges_of`. softness: (n,), that is in effect."""
    root, end = joints[:, 0], joints[:, -1]
    starts = start_rows((joints - root[:, None])[None], hinges[None])
    along, side = (components_last(rows)[0] for rows in (starts.along, starts.side))
    length, distance = starts.lengths.sum(axis=0)[0], np.linalg.norm(end - root, axis=-1)
    wanted, extended = distance.copy(), distance > length * (1.0 - BEYOND)
    for k, row in enumerate(distance.tolist()):
        is_beyond = extended[k] and is_straight(starts.chain_at(0, k))
        wanted[k] = length[k] * (1.0 + BEYOND) if is_beyond else uneased(row, length[k], softness[k])
    target = np.where((wanted != distance)[:, None], root + along * wanted[:, None], end)
    # The knees of a longer chain lie beside the plane in which it bends as a whole.
    knee, normal = joints[:, 1] if joints.shape[1] > 2 else root, np.cross(side, along)
    knee = knee - normal * ((knee - root) * normal).sum(axis=-1, keepdims=True)
    # Of three links the first joint tells the side.
    bent = joints[:, :3] if joints.shape[1] == 4 else joints
    bulge, line = (bent[:, 1:-1] - root[:, None]).sum(axis=1), _unit(bent[:, -1] - root)
    bulge = ((bulge - line * (bulge * line).sum(axis=-1, keepdims=True)) * side).sum(axis=-1)
    return _FkPlane(target, knee, side, length, root, along, bulge)


def fk_goal(
    limb: Limb, target: Control, pole: Control, placer: Placer, reaches: dict[Control, float]
) -> tuple[Limb, dict[Control, Matrix]]:
    """The limb with the goal that gives its FK pose, and where target and pole have to be for it, in the world."""
    softness = limb.settings.softness if limb.settings.reach != "STRETCH" and limb.chain.limits is None else 0.0
    joints, hinges = np.array([fk_joints(limb.bones)]), np.array([hinge_armature(limb.bones)])
    plane = _fk_plane(joints, hinges, np.array([softness]))
    target_armature, knee = Vector(plane.targets[0]), Vector(plane.knees[0])
    if pole not in reaches:
        present = (limb.pole_armature - knee).length if limb.pole_armature else 0.0
        reaches[pole] = plane.pole_reach(present)
    pole_armature = knee + Vector(plane.sides[0]) * reaches[pole]
    ends = [replace(end, standing=end.orientation(end.pose_armature)) for end in limb.ends]
    target_world, pole_world = placer.world_of(target), placer.world_of(pole)
    if ends:
        turn = ends[0].standing @ limb.ends[0].standing.inverted()
        world = rotation_in(limb.world)
        target_world = (world @ turn @ world.inverted()).to_matrix().to_4x4() @ target_world
    target_world.translation, pole_world.translation = limb.world @ target_armature, limb.world @ pole_armature
    goal = replace(limb, target_armature=target_armature, pole_armature=pole_armature, ends=tuple(ends))
    return goal, {target: target_world, pole: pole_world}


Samples = dict[Control, list[tuple[Raw, ...]]]
"""What the channels of controls hold at each frame."""
Slopes = dict[Control, np.ndarray]
"""How fast the locations (T, 2, 3) of controls arrive at each frame and leave it, from frame to frame of those keyed;
NaN where they go straight."""


def key_controls(samples: Samples, frames: range, slopes: Slopes) -> None:
    """Key controls in their current actions."""
    by_object: dict[bpy.types.Object, list[BoneKeys]] = {}
    for control in samples:
        by_object.setdefault(control.ob, []).extend(control_keys(control, samples, slopes, frames, range(len(frames))))
    for ob, keys in by_object.items():
        write_keys(ob, keys, "CURRENT")


def control_keys(
    control: Control,
    samples: Samples,
    slopes: Slopes,
    frames: range,
    rows: Sequence[int] | np.ndarray,
) -> list[BoneKeys]:
    """Keys of a control in some rows of frames."""
    times, step = [frames[row] for row in rows], float(np.ptp(key_times((0, frames.step))))
    channels = zip(control.modes, zip(*(samples[control][row] for row in rows), strict=True), strict=True)
    keys = [keys_of(control.bone, mode, raws, times) for mode, raws in channels]
    if control in slopes:
        keys[0] = replace(keys[0], slopes=slopes[control][rows] / step)
    return keys


def keys_of(bone: str, mode: str, raws: Sequence[Raw], frames: Sequence[int]) -> BoneKeys:
    """Keys of a bone's channel, or of the object's where `bone` is "", at frames of the scene. mode: of the channel."""
    numbers = raws if mode in (LOCATION, SCALE) else continuous_numbers(raws, mode)
    times = key_times(frames)
    return BoneKeys(bone, mode, times, np.array(numbers, np.float32), (float(times[0]), float(times[-1])))


Chosen = Mapping[bpy.types.PoseBone, Sequence[Control]]
"""Target and pole of each tip."""


class ControlTracks(NamedTuple):
    """What the channels of targets and poles hold at each frame so that chains show their FK pose.

    missed, lengths: by tip, how far a joint is off at most, chain lengths, and how long the chain is, world units.
    slopes: of poles that do not go straight from each key to the next.
    """

    samples: Samples
    missed: dict[str, float]
    lengths: dict[str, float]
    slopes: Slopes


def controls_over(context: bpy.types.Context, chosen: Chosen, frames: range) -> ControlTracks | None:
    """Where controls have to be over frames; None where that is to be found frame by frame."""
    if are_carried(chosen):
        return None
    sampler = Sampler(frames)
    readings = sampled_over(context, [*chosen], frames, sampler)
    found = controls_in(chosen, readings, sampler, [len(frames)]) if readings is not None else None
    return found[0] if found is not None else None


def are_carried(chosen: Chosen) -> bool:
    """See `is_carried`, of all controls."""
    placed = {control for own in chosen.values() for control in own}
    return any(is_carried(control, placed) for control in placed)


def controls_in(
    chosen: Chosen, readings: Mapping[ChainName, Reading], sampler: Sampler, counts: Sequence[int]
) -> list[ControlTracks] | None:
    """Where controls have to be in clips that were read one after the other, counts: each of so many frames; None where
    that cannot be told of one of them."""
    parts = [slice(end - count, end) for end, count in zip(np.cumsum(counts).tolist(), counts, strict=True)]
    found = [ControlTracks({}, {}, {}, {}) for _ in parts]
    goals = []
    for tip, (target, pole) in chosen.items():
        reading = readings[ChainName(tip.id_data.name_full, tip.name)]
        if target.turns != (reading.model.foot is not None):
            return None
        world, armature = reading.goal.to_world, sampler.worlds(tip.id_data)
        # Of what carries the chain, in its armature.
        scales = np.cbrt(np.abs(np.linalg.det(world[:, :3, :3]) / np.linalg.det(armature[:, :3, :3])))
        goal, length, off = _fk_goal(reading, scales, parts)
        turns = multiply(turns_in(world), goal.goal.orientations) if target.turns else None
        for control, places, own in ((target, goal.goal.targets, turns), (pole, goal.goal.poles, None)):
            near = raw_values(control.owner, control.modes[-1])
            rows = channels_over(control, _in_world(world, places), own, sampler, near, parts)
            if rows is None:
                return None
            for part, tracks in zip(parts, found, strict=True):
                tracks.samples[control] = rows[part]
        slopes = _slopes(pole, _in_world(world, goal.goal.poles), _in_world(world, goal.goal.poles + off), sampler)
        for part, tracks in zip(parts, found, strict=True):
            own = slopes[part].copy()
            # What comes after a clip is another clip.
            own[0, 0] = own[-1, 1] = np.nan
            if not np.isnan(own).all():
                tracks.slopes[pole] = own
        size = length * scales
        for part, tracks in zip(parts, found, strict=True):
            last, carried = part.stop - 1, Matrix(armature[_row(part.stop - 1, armature)])
            tracks.lengths[tip.name] = float(size[_row(last, size)] * carried.median_scale)
        goals.append((tip, goal, length))
    for (tip, goal, length), shown in zip(goals, solve_tracks([goal for _, goal, _ in goals]), strict=True):
        reached = joints_of(goal.model, posed(goal.model, goal.fk, shown.rotations, shown.stretches))
        off = np.linalg.norm(reached - joints_of(goal.model, goal.fk), axis=-1).max(axis=1) / length
        for part, tracks in zip(parts, found, strict=True):
            tracks.missed[tip.name] = float((off[part] if len(off) > 1 else off).max())
    return found


def _slopes(control: Control, places: np.ndarray, midway: np.ndarray, sampler: Sampler) -> np.ndarray:
    """The slopes (n, 2, 3) with which a control that is at places (n, 3) of the world comes by as far from the middle
    of its way to each next one as `midway` (n, 3) is from them; NaN where that is."""
    slopes, turning = np.full((len(places), 2, 3), np.nan), ~np.isnan(midway).any(axis=1)
    if turning.any():
        rows = (
            channels_over(control, each, None, sampler, ())
            for each in (places, np.where(turning[:, None], midway, places))
        )
        at, off = (np.array([own[0] for own in each or ()], float) for each in rows)
        starts = np.flatnonzero(turning)
        way, aside = at[starts + 1] - at[starts], 4.0 * (off - at)[starts]
        # A cubic curve is in its middle an eighth of the difference of its slopes beside that of its ends.
        slopes[starts, 1], slopes[starts + 1, 0] = way + aside, way - aside
    return slopes


def _row(k: int, rows: np.ndarray) -> int:
    return k if len(rows) > 1 else 0


def is_carried(control: Control, placed: set[Control]) -> bool:
    """Whether controls that are placed move this one, or its channels and its parent alone do not say how it is
    turned."""
    others = {(each.ob, each.bone) for each in placed} - {(control.ob, control.bone)}
    ob, mirrored = control.ob, min(control.owner.scale) < 0.0
    turned = any(ob.delta_rotation_euler) or tuple(ob.delta_rotation_quaternion) != (1.0, 0.0, 0.0, 0.0)
    has_deltas = any(ob.delta_location) or turned or tuple(ob.delta_scale) != (1.0, 1.0, 1.0)
    along = bool(control.bone and shares_of(control.owner))
    beside = has_deltas and not control.bone
    return mirrored or beside or along or bool(others & followed_nodes(ob, control.bone))


def _fk_goal(reading: Reading, sizes: np.ndarray, parts: Sequence[slice]) -> tuple[Reading, np.ndarray, np.ndarray]:
    """The chain with the goal that gives its FK pose; how long it is (n), in the space of its root's parent; and there
    how far its pole has to be off the middle of its way, see `_FkPlane.off_midway`.

    sizes: (n), how much that is scaled: in each part a pole keeps its first distance in the armature's space.
    """
    model, fk, count = reading.model, reading.fk, reading.count
    softness = reading.goal.settings["softness"] if model.reach != "STRETCH" and not model.is_limited else np.zeros(1)
    joints = joints_of(model, fk)
    plane = _fk_plane(joints, hinges_of(model, fk.turns), np.broadcast_to(softness, len(joints)))
    knee, poles = plane.knees, reading.goal.poles
    reaches = np.empty(count)
    for part in parts:
        pole = None if poles is None else poles[_row(part.start, poles)]
        away = 0.0 if pole is None else float(np.linalg.norm(pole - knee[_row(part.start, knee)]))
        reaches[part] = plane.pole_reach(away, part.start) * sizes[_row(part.start, sizes)]
    orientations = None
    if model.foot is not None:
        orientations = multiply(fk.turns[:, model.own], conjugate(np.array([model.foot.held])))
    settings = reading.goal.settings | {name: np.array([value]) for name, value in BEND_SETTINGS.items()}
    poles = knee + plane.sides * (reaches / sizes)[:, None]
    goal = replace(
        reading.goal,
        targets=np.broadcast_to(plane.targets, (count, 3)),
        poles=poles,
        orientations=orientations,
        settings=settings | {"influence": np.ones(1)},
    )
    off = plane.off_midway(poles) if len(knee) == count else np.full((count, 3), np.nan)
    return replace(reading, goal=goal), plane.lengths, off


def _in_world(worlds: np.ndarray, points: np.ndarray) -> np.ndarray:
    return (worlds[:, :3, :3] @ points[..., None])[..., 0] + worlds[:, :3, 3]


def channels_over(
    control: Control,
    places: np.ndarray,
    turns: np.ndarray | None,
    sampler: Sampler,
    near: Sequence[float],
    parts: Sequence[slice] = (slice(None),),
) -> list[tuple[Raw, ...]] | None:
    """What a control's channels of `modes` hold, as a file keeps them, for places (n, 3) and orientations (n, 4) in the
    world; None where these cannot be told so, for what carries it is scaled unevenly. near: numbers of its rotation to
    which the first ones of each part are nearest."""
    worlds = np.tile(np.eye(4), (len(places), 1, 1))
    worlds[:, :3, 3] = places
    if turns is not None:
        worlds[:, :3, :3] = matrices_of(turns)
    ob = control.ob
    if control.bone:
        above, carried = _above(control, sampler), sampler.worlds(ob)
        if not (are_even(above) and are_even(carried)):
            return None
        basis = _by_bone(control, np.linalg.inv(carried) @ worlds, above, invert=True)
    elif ob.parent is not None:
        carried = sampler.carried(ob)
        if not are_even(carried):
            return None
        basis = np.linalg.inv(carried) @ worlds
    else:
        basis = worlds
    numbers = [basis[:, :3, 3]]
    for mode in control.modes:
        if mode != LOCATION:
            own, first = turns_in(basis), np.array(near)
            numbers.append(np.concatenate([continuous(own[part], mode, first) for part in parts]))
    return [*zip(*(map(tuple, each.astype(np.float32).tolist()) for each in numbers), strict=True)]


def sampled_world(control: Control, sampler: Sampler) -> np.ndarray:
    """Where a control is in the world, (n or 1, 4, 4)."""
    world = sampler.worlds(control.ob)
    return world @ sampler.poses(control.ob, control.bone) if control.bone else world


def turns_with(control: Control, numbers: np.ndarray, sampler: Sampler) -> np.ndarray:
    """The orientations (n, 4) of a control in the world with these numbers (n, 3 or 4) of its rotation."""
    turns = quaternions_of(numbers, control.owner.rotation_mode)
    if not control.bone:
        return turns if control.ob.parent is None else multiply(turns_in(sampler.carried(control.ob)), turns)
    local = np.tile(np.eye(4), (len(turns), 1, 1))
    local[:, :3, :3] = matrices_of(turns)
    return turns_in(sampler.worlds(control.ob) @ _by_bone(control, local, _above(control, sampler)))


def _above(control: Control, sampler: Sampler) -> np.ndarray:
    """The pose matrices (n, 4, 4) of the bone above a control bone; the unit matrix if there is none."""
    parent = control.owner.bone.parent
    return sampler.poses(control.ob, parent.name) if parent else np.eye(4)[None]


def _by_bone(control: Control, matrices: np.ndarray, above: np.ndarray, invert: bool = False) -> np.ndarray:
    """See `pose_matrix`; of rows (n, 4, 4)."""
    bone, rows = control.owner.bone, zip(matrices, np.broadcast_to(above, matrices.shape), strict=True)
    found = (pose_matrix(bone, Matrix(own), Matrix(pose) if bone.parent else None, invert) for own, pose in rows)
    return np.array([*map(array_of, found)])
