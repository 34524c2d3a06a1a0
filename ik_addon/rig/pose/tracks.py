"""What chains read and do over frames, as arrays: the first axis is the frame, of one row where nothing changes."""

from dataclasses import dataclass, fields

import numpy as np
from mathutils import Quaternion, Vector

from ..model.limb_model import LimbModel
from .kinematics import FkTrack
from .steady import SteadyChain, Wishes


@dataclass(frozen=True, slots=True)
class PlannedChain:
    """A chain that is not read whole each time.

    model: what no frame changes. fk: its FK pose as the channels were when it was planned; length: of the chain in it.
    steady: to solve one frame without arrays; None where that takes more.
    """

    model: LimbModel
    fk: FkTrack
    length: float
    steady: SteadyChain | None


@dataclass(frozen=True, slots=True)
class GoalTrack:
    """Where a chain shall go, in the space of its root's parent, and how.

    targets, poles: (n, 3); orientations: of the target, (n, 4); None where it has none. to_world: (n, 3, 3), how
    distances there are in the world. settings: those of `SAMPLED_SETTINGS`, (n).
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
