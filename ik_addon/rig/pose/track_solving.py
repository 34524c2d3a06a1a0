"""Chains solved over frames: those of few links without limits all together in arrays, others frame by frame; and the
bone that follows them."""

from collections.abc import Sequence

import numpy as np
from mathutils import Quaternion, Vector

from ...solvers import SOLVERS, Chain, ChainError, Goal, link_rotations
from ...solvers.arrays import multiply, rotated
from ...solvers.limited import legal_reach
from ...solvers.rows import GoalRows, solve_rows, start_rows
from ..data.settings import goal_values
from ..model.body import BodyModel
from ..model.foot import rolled
from ..model.limb import limited_chain
from ..model.limb_model import FkTrack, LimbModel, joints_of, local_rotations
from .following import body_shifts
from .ready import solve_surely
from .tracks import PoseTrack, Reading

_Turned = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Turns of links (n, links, 4), outcomes (n), stretches (n)."""


def solve_tracks(readings: Sequence[Reading]) -> list[PoseTrack]:
    """Solve each chain over its frames, all of as many. Raises ChainError as `solve_surely` does."""
    places = [placed(reading) for reading in readings]
    turned: dict[int, _Turned] = {}
    batches: dict[tuple[int, bool], list[int]] = {}
    for k, reading in enumerate(readings):
        if _goes_in_arrays(reading.model):
            batches.setdefault((len(reading.model.links), reading.fk.is_still), []).append(k)
        else:
            turned[k] = _one_by_one(reading, places[k][0])
    for same in batches.values():
        own = [readings[k] for k in same]
        turned |= zip(same, _together(own, [places[k][0] for k in same]), strict=True)
    return [_completed(reading, *places[k], *turned[k]) for k, reading in enumerate(readings)]


def solve_each(readings: Sequence[Reading]) -> list[PoseTrack | ChainError]:
    """As `solve_tracks`, with its error for each chain that cannot be solved."""
    try:
        return [*solve_tracks(readings)]
    except ChainError as error:
        return [solve_each([reading])[0] for reading in readings] if len(readings) > 1 else [error]


def _goes_in_arrays(model: LimbModel) -> bool:
    keeps_shape = len(model.links) > 2 and model.least_motion
    return not model.is_limited and not keeps_shape and SOLVERS[model.solver_name].closed


def _together(readings: Sequence[Reading], ends: Sequence[np.ndarray]) -> list[_Turned]:
    """Chains of one number of links, either all with one FK pose or all with one for each frame."""
    count = readings[0].count
    rows = 1 if readings[0].fk.is_still else count
    roots = [reading.fk.heads[:, :1] for reading in readings]
    joints, hinges = (
        np.empty((len(readings), rows, len(readings[0].model.links) + 1, 3)),
        np.empty((len(readings), rows, 3)),
    )
    targets, poles = np.empty((2, len(readings), count, 3))
    for k, reading in enumerate(readings):
        joints[k] = joints_of(reading.model, reading.fk) - roots[k]
        hinges[k] = hinges_of(reading.model, reading.fk.turns)
        targets[k] = ends[k] - roots[k][:, 0]
        own = reading.goal.poles
        poles[k] = np.nan if own is None else own - roots[k][:, 0]
    wishes = [goal_values(reading.goal.settings, reading.model.reach) for reading in readings]
    settings = {name: np.stack(np.broadcast_arrays(*(own[name] for own in wishes))) for name in wishes[0]}
    has_pole = np.array([reading.model.has_pole for reading in readings])
    solved = solve_rows(start_rows(joints, hinges), GoalRows(targets, poles, has_pole, **settings))
    return [*zip(solved.turns, solved.outcomes, solved.stretches, strict=True)]


def hinges_of(model: LimbModel, turns: np.ndarray) -> np.ndarray:
    """About which axis a chain bends where its FK pose is straight, (..., 3), for its bones' orientations."""
    return rotated(turns[..., model.links[min(1, len(model.links) - 1)], :], model.bend_axis)


def _one_by_one(reading: Reading, ends: np.ndarray) -> _Turned:
    """A chain with limits, or of a solver that goes frame by frame."""
    model, fk, goal = reading.model, reading.fk, reading.goal
    settings = goal_values(goal.settings, model.reach)
    poles, roots, chain = goal.poles, fk.heads[:, 0], None
    found, outcomes, stretches = [], [], []
    for k in range(reading.count):
        if chain is None or not fk.is_still:
            chain = chain_at(model, fk, _row(k, fk.rotations))
        root = roots[_row(k, roots)]
        own = {name: rows[_row(k, rows)].item() for name, rows in settings.items()}
        solution = solve_surely(
            chain,
            Goal(
                target=ends[_row(k, ends)] - root,
                pole=None if poles is None else poles[_row(k, poles)] - root,
                least_motion=model.least_motion,
                **own,
            ),
            model.solver,
        )
        found.append([tuple(turn) for turn in link_rotations(chain, solution)])
        outcomes.append(solution.outcome)
        stretches.append(solution.stretch)
    return np.array(found), np.array(outcomes), np.array(stretches)


def _row(k: int, rows: np.ndarray) -> int:
    return k if len(rows) > 1 else 0


def chain_at(model: LimbModel, fk: FkTrack, k: int) -> Chain:
    """The chain in the FK pose of one row, from its root, with its limits."""
    points, turns = joints_of(model, fk)[k], fk.turns[k]
    joints = [Vector(point) for point in points - points[0]]
    hinge = Vector(hinges_of(model, turns))
    if not model.is_limited:
        return Chain(joints, bend_normal=hinge)
    return limited_chain(
        [model.bones[place] for place in model.links],
        model.limits,
        joints,
        [Quaternion(turns[place]) for place in model.links],
        [Quaternion(fk.rotations[k, place]) for place in model.links],
        Vector((0.0, 1.0, 0.0)) if model.parent else None,
        hinge,
    )


def _completed(
    reading: Reading,
    ends: np.ndarray,
    orientations: list[np.ndarray],
    turns: np.ndarray,
    outcomes: np.ndarray,
    stretches: np.ndarray,
) -> PoseTrack:
    """With the bones on the chain's end, and with its influence."""
    model, influences = reading.model, reading.goal.settings["influence"]
    if model.reach == "HOLD":
        influences = np.where(outcomes, 0.0, influences)
    rotations = local_rotations(model, reading.fk, turns, orientations, influences)
    return PoseTrack(
        rotations=np.broadcast_to(rotations, (reading.count, *rotations.shape[1:])),
        stretches=np.broadcast_to(1.0 + influences * (stretches - 1.0), reading.count),
        outcomes=np.broadcast_to(outcomes, reading.count),
        at_fk=np.broadcast_to(influences == 0.0, reading.count),
        ends=np.broadcast_to(ends, (reading.count, 3)),
    )


def placed(reading: Reading) -> tuple[np.ndarray, list[np.ndarray]]:
    """Where a chain's end goes (n, 3), and how the bones on it are turned (n, 4), for the foot as it rolls."""
    model, goal, foot = reading.model, reading.goal, reading.model.foot
    if foot is None:
        return goal.targets, []
    assert goal.orientations is not None
    standing = multiply(goal.orientations, np.array(foot.held))
    if not model.rolls:
        return goal.targets, [standing]
    fk, at = reading.fk, model.own
    size = fk.sizes[:, at, None]
    # All in the foot's own space, in the size that it has here.
    ball = tip = np.array((0.0, foot.length, 0.0)) * size
    tip_turn = None
    if len(model.bones) > at + 1:
        ball = size * (model.rest_offsets[at + 1] + rotated(model.rest_turns[at + 1], fk.locations[:, at + 1]))
        tip_turn = multiply(model.rest_turns[at + 1], fk.rotations[:, at + 1])
        tip = ball + fk.sizes[:, at + 1, None] * rotated(tip_turn, np.array((0.0, foot.length, 0.0)))
    (ends, orientation), at_toe = rolled(
        (goal.targets, standing),
        rotated(standing, foot.axis),
        (foot.heel * size, tip, ball),
        goal.settings["foot_roll"],
        goal.settings["toe_angle"],
    )
    return ends, [orientation, *([] if tip_turn is None else [multiply(at_toe, tip_turn)])]


def errors_world(reading: Reading, ends: np.ndarray, pose: PoseTrack) -> np.ndarray:
    """Distances (n) in world units from where a chain ends to where its end was to go, at each frame."""
    missed = (reading.goal.to_world[:, :3, :3] @ (ends - pose.ends)[..., None])[..., 0]
    return np.linalg.norm(missed, axis=-1)


def shifts_over(
    body: BodyModel,
    limbs: Sequence[Reading],
    parents: Sequence[np.ndarray],
    worlds: np.ndarray,
    settings: dict[str, np.ndarray],
) -> np.ndarray:
    """How far a bone goes from its FK pose, (n, 3), in armature space; of one row where nothing changes.

    limbs: as they are below the bone in its FK pose. parents: the pose matrices (n, 4, 4) of what carries each.
    worlds: (n, 4, 4), of the armature. settings: the bone's own, those of `BODY_RANGES`, (n).
    """
    offsets, reaches = [], []
    for limb, parent in zip(limbs, parents, strict=True):
        offsets.append((parent[:, :3, :3] @ (placed(limb)[0] - limb.fk.heads[:, 0])[..., None])[..., 0])
        size = np.linalg.norm(parent[:, :3, 0], axis=1)
        reaches.append(_reaches(limb) * size[:, None])
    own = [[limb.goal.settings[name] for limb in limbs] for name in ("softness", "influence")]
    softness, influence = settings["body_softness"], settings["body_influence"]
    count = max(len(rows) for rows in (*offsets, *reaches, *own[0], *own[1], worlds, softness, influence))
    shifts, _ = body_shifts(
        _stacked(offsets, count),
        _stacked(reaches, count),
        _stacked(own[0], count),
        _stacked(own[1], count),
        worlds,
        body.down,
        np.broadcast_to(softness, count),
    )
    return shifts * influence[:, None]


def _stacked(arrays: Sequence[np.ndarray], count: int) -> np.ndarray:
    """Of n limbs as one array, (count, n, ...)."""
    return np.stack([np.broadcast_to(each, (count, *each.shape[1:])) for each in arrays], axis=1)


def _reaches(limb: Reading) -> np.ndarray:
    """The shortest and the longest reach (n, 2) of a chain within its limits, in the space of its root's parent."""
    model, fk = limb.model, limb.fk
    if model.is_limited:
        count = 1 if fk.is_still else limb.count
        return np.array([legal_reach(chain_at(model, fk, k)) for k in range(count)])
    lengths = np.linalg.norm(np.diff(joints_of(model, fk), axis=1), axis=-1)
    longest = lengths.sum(axis=1)
    return np.stack((np.maximum(2.0 * lengths.max(axis=1) - longest, 0.0), longest), axis=1)
