"""What chains read and do over frames, as arrays: the first axis is the frame, of one row where nothing changes.

Those of few links without limits are solved all together in arrays, others frame by frame; and the bone that follows
them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from mathutils import Quaternion, Vector

from ... import messages
from ...solvers import SOLVERS, ChainError, Goal, link_rotations, solve
from ...solvers.limited import legal_reach
from ...solvers.rows import GoalRows, solve_rows, start_rows
from ..blender.rotations import channel_of, numbers_of
from ..data.settings import goal_values
from ..model.body import BodyModel
from ..model.limb import Wishes
from ..model.limb_model import (
    FkTrack,
    LimbModel,
    chain_at,
    foot_places,
    hinges_of,
    joints_of,
    local_rotations,
)
from .following import body_shifts


@dataclass(frozen=True, slots=True)
class GoalTrack:
    """Where a chain shall go, in the space of its root's parent, and how.

    targets, poles: (n, 3); orientations: of the target, (n, 4); None where it has none. to_world: (n, 4, 4), from
    there to the world. settings: those of `SAMPLED_SETTINGS`, (n).
    """

    targets: np.ndarray
    poles: np.ndarray | None
    orientations: np.ndarray | None
    to_world: np.ndarray
    settings: dict[str, np.ndarray]

    def at(self, k: int) -> Wishes:
        target, pole, orientation = (
            rows if rows is None else rows[_row(k, rows)] for rows in (self.targets, self.poles, self.orientations)
        )
        return Wishes(
            Vector(target),
            None if pole is None else Vector(pole),
            None if orientation is None else Quaternion(orientation),
        )


@dataclass(frozen=True, slots=True)
class BodyTrack:
    """Where a bone goes that follows its limbs. fk, locations: the numbers of its channel, in its FK pose and as shown,
    (n, 3)."""

    fk: np.ndarray
    locations: np.ndarray


@dataclass(frozen=True, slots=True)
class Reading:
    """All that solving a chain over n frames needs. body: of the bone that is written with it, if there is one."""

    model: LimbModel
    fk: FkTrack
    goal: GoalTrack
    count: int
    body: BodyTrack | None = None

    @property
    def sound(self) -> np.ndarray:
        """Where all that it was read from is numbers, (n)."""
        fk, goal, sound = self.fk, self.goal, np.ones(self.count, bool)
        tracks = fk.heads, fk.end, goal.targets, goal.poles, goal.orientations, goal.to_world, *goal.settings.values()
        for rows in (each for each in tracks if each is not None):
            sound &= np.isfinite(rows.reshape(len(rows), -1)).all(axis=1)
        return sound


@dataclass(frozen=True, slots=True)
class PoseTrack:
    """A chain solved over n frames.

    rotations: (n, turned, 4), local unit quaternions. stretches: (n), how many times its FK length it is long.
    outcomes: (n), of `Outcome`. at_fk: (n), True where the bones have their FK pose itself, and not what its
    quaternions round to. ends: (n, 3), where its end was to go, foot roll included.
    """

    rotations: np.ndarray
    stretches: np.ndarray
    outcomes: np.ndarray
    at_fk: np.ndarray
    ends: np.ndarray


def channel_values(readings: Sequence[Reading], poses: Sequence[PoseTrack]) -> tuple[np.ndarray, np.ndarray]:
    """The FK numbers (n, channels, 4), zeros behind, of the channels that chains set, and those that show their poses:
    each rotation next to its FK rotation."""
    count = readings[0].count
    bodies = [[each.body.fk] if each.body else [] for each in readings]
    numbers = [
        (*(each.fk.numbers[k] for k in each.model.turned), *each.fk.lengthening, *body)
        for each, body in zip(readings, bodies, strict=True)
    ]
    fk = np.stack([_padded(each, count) for own in numbers for each in own], axis=1)
    values, by_mode, at = fk.astype(np.float32), {}, 0
    for reading, pose in zip(readings, poses, strict=True):
        ahead = ~pose.at_fk
        for k, mode in enumerate(reading.model.turned_modes):
            by_mode.setdefault(mode, []).append((at + k, pose.rotations[:, k], ahead))
        at += len(reading.model.turned)
        for k, (_, exponent) in enumerate(reading.model.scaled):
            values[:, at + k] *= (pose.stretches**exponent)[:, None]
        at += len(reading.model.scaled)
        if reading.body:
            values[:, at, :3] = reading.body.locations
            at += 1
    for mode, each in by_mode.items():
        rows, width = [row for row, *_ in each], channel_of(mode)[1]
        turns = np.stack([turned for _, turned, _ in each], axis=1)
        numbers = numbers_of(turns.reshape(-1, 4), mode, fk[:, rows, :width].reshape(-1, width))
        ahead = np.stack([own for *_, own in each], axis=1)[..., None]
        values[:, rows, :width] = np.where(ahead, numbers.reshape(count, -1, width), values[:, rows, :width])
    return fk.astype(np.float32), values


def _padded(numbers: np.ndarray, count: int) -> np.ndarray:
    padded = np.zeros((count, 4))
    padded[:, : numbers.shape[1]] = numbers
    return padded


_Turned = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Turns of links (n, links, 4), outcomes (n), stretches (n)."""


def solve_tracks(readings: Sequence[Reading]) -> list[PoseTrack]:
    """Solve each chain over its frames, all of as many. Raises ChainError as `PlannedChain.solve`."""
    places = [places_of(reading) for reading in readings]
    turned: dict[int, _Turned] = {}
    batches: dict[tuple[int, bool], list[int]] = {}
    for k, reading in enumerate(readings):
        model, links = reading.model, len(reading.model.links)
        keeps_shape = links > 2 and model.least_motion
        if SOLVERS[model.solver].closed and not model.is_limited and not keeps_shape:
            batches.setdefault((links, reading.fk.is_still), []).append(k)
        else:
            turned[k] = _one_by_one(reading, places[k][0])
    for same in batches.values():
        own = [readings[k] for k in same]
        turned |= zip(same, _together(own, [places[k][0] for k in same]), strict=True)
    found = []
    for k, reading in enumerate(readings):
        model, count, influences = reading.model, reading.count, reading.goal.settings["influence"]
        (ends, orientations), (turns, outcomes, stretches) = places[k], turned[k]
        if model.reach == "HOLD":
            influences = np.where(outcomes, 0.0, influences)
        rotations = local_rotations(model, reading.fk, turns, orientations, influences)
        pose = PoseTrack(
            rotations=np.broadcast_to(rotations, (count, *rotations.shape[1:])),
            stretches=np.broadcast_to(1.0 + influences * (stretches - 1.0), count),
            outcomes=np.broadcast_to(outcomes, count),
            at_fk=np.broadcast_to(influences == 0.0, count),
            ends=np.broadcast_to(ends, (count, 3)),
        )
        found.append(pose)
    return found


def solve_each(readings: Sequence[Reading]) -> list[PoseTrack | ChainError]:
    """As `solve_tracks`, with its error for each chain that cannot be solved."""
    try:
        return [*solve_tracks(readings)]
    except ChainError as error:
        return [solve_each([reading])[0] for reading in readings] if len(readings) > 1 else [error]


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
        solution = solve(
            chain,
            Goal(
                target=ends[_row(k, ends)] - root,
                pole=None if poles is None else poles[_row(k, poles)] - root,
                least_motion=model.least_motion,
                **own,
            ),
            model.solver,
        )
        if solution.searched:
            raise ChainError(messages.LIMITS_SEARCHED())
        found.append([tuple(turn) for turn in link_rotations(chain, solution)])
        outcomes.append(solution.outcome)
        stretches.append(solution.stretch)
    return np.array(found), np.array(outcomes), np.array(stretches)


def _row(k: int, rows: np.ndarray) -> int:
    return k if len(rows) > 1 else 0


def places_of(reading: Reading) -> tuple[np.ndarray, list[np.ndarray]]:
    """See `foot_places`."""
    goal = reading.goal
    return foot_places(reading.model, reading.fk, goal.targets, goal.orientations, goal.settings)


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
        offsets.append((parent[:, :3, :3] @ (places_of(limb)[0] - limb.fk.heads[:, 0])[..., None])[..., 0])
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
