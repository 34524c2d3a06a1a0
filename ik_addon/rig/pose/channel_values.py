"""From solved chains to the numbers of their bones' channels, over frames."""

from collections.abc import Sequence

import numpy as np

from ..blender.channels import channel_of
from ..blender.rotations import numbers_of
from .tracks import PoseTrack, Reading


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
