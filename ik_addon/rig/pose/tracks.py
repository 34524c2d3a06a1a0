"""What chains read and do over frames, as arrays: the first axis is the frame, of one row where nothing changes."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from mathutils import Quaternion, Vector

from ..blender.rotations import channel_of, numbers_of
from ..model.limb import Wishes
from ..model.limb_model import FkTrack, LimbModel
from .ready import ReadyChain


@dataclass(frozen=True, slots=True)
class PlannedChain:
    """A chain that is not read whole each time.

    model: what no frame changes. fk: its FK pose as the channels were when it was planned; length: of the chain in it.
    ready: to be solved for one frame; None where frames change its FK pose or settings.
    """

    model: LimbModel
    fk: FkTrack
    length: float
    ready: ReadyChain | None


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
        """Target, pole and orientation at one of the frames."""
        target, pole, orientation = (
            rows if rows is None else rows[k if len(rows) > 1 else 0]
            for rows in (self.targets, self.poles, self.orientations)
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

    def at(self, k: int) -> "Reading":
        """The same at one of the frames."""
        return Reading(self.model, _row(self.fk, k), _row(self.goal, k), 1, self.body and _row(self.body, k))


def _row(track, k: int):
    """A track at one of its frames."""

    def of(rows):
        if isinstance(rows, np.ndarray):
            return rows[k : k + 1] if len(rows) > 1 else rows
        if isinstance(rows, dict):
            return {name: of(own) for name, own in rows.items()}
        return rows if rows is None else tuple(map(of, rows))

    return type(track)(*(of(getattr(track, each.name)) for each in fields(track)))


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
