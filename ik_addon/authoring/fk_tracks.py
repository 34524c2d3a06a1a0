"""Where controls have to be for the FK pose of their chains, over all frames at once, where F-Curves tell all of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import bpy
import numpy as np
from mathutils import Matrix

from ..bake.collecting import sampled_over
from ..rig.blender.blended_bones import shares_of
from ..rig.blender.dependencies import followed_nodes
from ..rig.blender.rotations import LOCATION, Raw, array_of, continuous, matrices_of, pose_matrix, raw_values, turns_in
from ..rig.blender.sampling import Sampler
from ..rig.model.order import ChainName
from ..rig.pose.kinematics import joints_of, posed
from ..rig.pose.track_reading import are_even
from ..rig.pose.track_solving import hinges_of, solve_tracks
from ..rig.pose.tracks import Reading
from ..solvers.arrays import components_last, conjugate, multiply
from ..solvers.bending import is_straight
from ..solvers.chain import uneased
from ..solvers.rows import start_rows
from .control_collections import BEYOND
from .fk_frames import BEND_SETTINGS
from .placing import Control

Samples = dict[Control, list[tuple[Raw, ...]]]
"""What the channels of controls hold at each frame."""

POLE_DISTANCES = 0.5, 3.0
"""How near to the knee a pole may be, and how far, in chain lengths."""


def controls_over(
    context: bpy.types.Context, chosen: Mapping[bpy.types.PoseBone, Sequence[Control]], frames: range
) -> tuple[Samples, dict[str, float], dict[str, float]] | None:
    """What the channels of targets and poles hold at each frame so that chains show their FK pose; for each tip how far
    a joint is off at most, in chain lengths, and how long the chain is in the world. None where that is to be found
    frame by frame.

    chosen: target and pole of each tip.
    """
    placed = {control for own in chosen.values() for control in own}
    if any(_is_carried(control, placed) for control in placed):
        return None
    sampler = Sampler(frames)
    readings = sampled_over(context, [*chosen], frames, sampler)
    if readings is None:
        return None
    samples, goals, sizes = {}, [], []
    for tip, (target, pole) in chosen.items():
        reading = readings[ChainName(tip.id_data.name_full, tip.name)]
        if target.turns != (reading.model.foot is not None):
            return None
        world, armature = reading.goal.to_world, sampler.worlds(tip.id_data)
        # Of what carries the chain, in its armature.
        scales = np.cbrt(np.abs(np.linalg.det(world[:, :3, :3]) / np.linalg.det(armature[:, :3, :3])))
        goal, length = _fk_goal(reading, scales)
        turns = multiply(turns_in(world), goal.goal.orientations) if target.turns else None
        rows = [
            _channels(target, _in_world(world, goal.goal.targets), turns, sampler),
            _channels(pole, _in_world(world, goal.goal.poles), None, sampler),
        ]
        if None in rows:
            return None
        samples |= zip((target, pole), rows, strict=True)
        goals.append(goal)
        sizes.append((length, float((length * scales)[-1] * Matrix(armature[-1]).median_scale)))
    missed, lengths = {}, {}
    for tip, goal, shown, (length, lengths[tip.name]) in zip(chosen, goals, solve_tracks(goals), sizes, strict=True):
        reached = joints_of(goal.model, posed(goal.model, goal.fk, shown.rotations, shown.stretches))
        off = np.linalg.norm(reached - joints_of(goal.model, goal.fk), axis=-1).max(axis=1)
        missed[tip.name] = float((off / length).max())
    return samples, missed, lengths


def _is_carried(control: Control, placed: set[Control]) -> bool:
    """Whether controls that are placed move this one, or its channels and its parent alone do not say how it is
    turned."""
    others = {(each.ob, each.bone) for each in placed} - {(control.ob, control.bone)}
    mirrored, beside = min(control.owner.scale) < 0.0, not control.bone and _has_deltas(control.ob)
    along = bool(control.bone and shares_of(control.owner))
    return mirrored or beside or along or bool(others & followed_nodes(control.ob, control.bone))


def _has_deltas(ob: bpy.types.Object) -> bool:
    turned = any(ob.delta_rotation_euler) or tuple(ob.delta_rotation_quaternion) != (1.0, 0.0, 0.0, 0.0)
    return any(ob.delta_location) or turned or tuple(ob.delta_scale) != (1.0, 1.0, 1.0)


def _fk_goal(reading: Reading, sizes: np.ndarray) -> tuple[Reading, np.ndarray]:
    """The chain with the goal that gives its FK pose, and how long it is (n), in the space of its root's parent.

    sizes: (n), how much that is scaled: a pole keeps its distance in the armature's space.
    """
    model, fk, count = reading.model, reading.fk, reading.count
    joints = joints_of(model, fk)
    root, end = joints[:, 0], joints[:, -1]
    starts = start_rows((joints - root[:, None])[None], hinges_of(model, fk.turns)[None])
    along, side = (components_last(rows)[0] for rows in (starts.along, starts.side))
    length, distance = starts.lengths.sum(axis=0)[0], np.linalg.norm(end - root, axis=-1)
    wanted = distance.copy()
    extended = distance > length * (1.0 - BEYOND)
    softness = np.broadcast_to(reading.goal.settings["softness"], len(distance))
    for k, row in enumerate(distance.tolist()):
        if extended[k] and is_straight(starts.chain_at(0, k)):
            wanted[k] = length[k] * (1.0 + BEYOND)
        elif model.reach != "STRETCH" and not model.is_limited:
            wanted[k] = uneased(row, length[k], softness[k])
    target = np.where((wanted != distance)[:, None], root + along * wanted[:, None], end)
    knee = joints[:, 1] if len(model.links) > 1 else root
    normal = np.cross(side, along)
    knee = knee - normal * ((knee - root) * normal).sum(axis=-1, keepdims=True)
    poles = reading.goal.poles
    present = 0.0 if poles is None else np.linalg.norm(poles[0] - knee[0])
    reach = np.clip(present, *(share * length[0] for share in POLE_DISTANCES))
    orientations = None
    if model.foot is not None:
        orientations = multiply(fk.turns[:, model.own], conjugate(np.array([model.foot.held])))
    settings = reading.goal.settings | {name: np.array([value]) for name, value in BEND_SETTINGS.items()}
    goal = replace(
        reading.goal,
        targets=np.broadcast_to(target, (count, 3)),
        poles=np.broadcast_to(knee + side * (reach * sizes[0] / sizes)[:, None], (count, 3)),
        orientations=orientations,
        settings=settings | {"influence": np.ones(1)},
    )
    return replace(reading, goal=goal), length


def _in_world(worlds: np.ndarray, points: np.ndarray) -> np.ndarray:
    return (worlds[:, :3, :3] @ points[..., None])[..., 0] + worlds[:, :3, 3]


def _channels(
    control: Control, places: np.ndarray, turns: np.ndarray | None, sampler: Sampler
) -> list[tuple[Raw, ...]] | None:
    """See `channel_rows`; as a file keeps them."""
    near = np.array(raw_values(control.owner, control.modes[-1]))
    numbers = channel_rows(control, places, turns, sampler, near)
    if numbers is None:
        return None
    return [*zip(*(map(tuple, each.astype(np.float32).tolist()) for each in numbers), strict=True)]


def channel_rows(
    control: Control, places: np.ndarray, turns: np.ndarray | None, sampler: Sampler, near: np.ndarray
) -> list[np.ndarray] | None:
    """What a control's channels of `modes` hold, (n, 3 or 4) each, for places (n, 3) and orientations (n, 4) in the
    world; None where these cannot be told so, for what carries it is scaled unevenly. near: numbers of its rotation to
    which the first ones are nearest."""
    worlds = np.tile(np.eye(4), (len(places), 1, 1))
    worlds[:, :3, 3] = places
    if turns is not None:
        worlds[:, :3, :3] = matrices_of(turns)
    ob, bone = control.ob, control.bone and control.owner.bone
    if bone:
        above = sampler.poses(ob, bone.parent.name) if bone.parent else np.eye(4)[None]
        carried = sampler.worlds(ob)
        if not (are_even(above) and are_even(carried)):
            return None
        rows = zip(np.linalg.inv(carried) @ worlds, np.broadcast_to(above, worlds.shape), strict=True)
        parent = bool(bone.parent)
        own = [pose_matrix(bone, Matrix(row), Matrix(pose) if parent else None, invert=True) for row, pose in rows]
        basis = np.array([array_of(each) for each in own])
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
            numbers.append(continuous(turns_in(basis), mode, near))
    return numbers
