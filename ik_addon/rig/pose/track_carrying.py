"""A bone that follows its limbs, over rows: what `carrying.follow` is for one frame."""

from collections.abc import Sequence

import numpy as np

from ...solvers.limited import legal_reach
from ..model.body_model import BodyModel
from .carrying import body_shifts
from .kinematics import joints_of
from .track_solving import chain_at, placed
from .tracks import Reading


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
