"""Triangulation twice: the listing as it is printed, and the rule of its text with the listing's faults mended."""

from collections.abc import Sequence
from math import acos, cos, hypot, pi, sin

import numpy as np
from mathutils import Quaternion, Vector

from .setup import ROOT, START, PaperChain, Pose

SLACK = 1e-4
"""Part of the chain's length by which a triangle may fail to close: far below the experiment's tolerance."""


def printed(
    lengths: Sequence[float], targets: Sequence[Vector], tolerant: bool = False, perpendicular: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Algorithm 1 to the letter, in double precision, from a straight chain, for all targets at once.

    Gives the distances left to the targets and the costs in degrees. A link starts where the link before it points,
    for the chain was straight and the paper stores angles between links. Parallel is what is so within 1e-12.
    tolerant, perpendicular: mend one fault each, the comparisons without slack and the Y axis.
    """
    goals = np.array(targets, dtype=float)
    position, current = np.zeros_like(goals), np.tile(np.array(START, dtype=float), (len(goals), 1))
    slack = 1e-9 if tolerant else 0.0
    costs = np.zeros(len(goals))
    for k, a in enumerate(lengths):
        b = sum(lengths[k + 1 :])
        to_target = goals - position
        c = np.linalg.norm(to_target, axis=1)
        toward = to_target / c[:, None]
        theta = np.arccos(_cosine(current, toward)) - np.arccos(np.clip(-(b * b - a * a - c * c) / (2 * a * c), -1, 1))
        axis = np.cross(current, toward)
        size = np.linalg.norm(axis, axis=1)
        parallel = size < 1e-12
        axis[~parallel] /= size[~parallel, None]
        axis[parallel] = _perpendicular(current[parallel]) if perpendicular else (0.0, 1.0, 0.0)
        far, near = (c >= a + b - slack)[:, None], (c < abs(a - b) - slack)[:, None]
        turned = np.where(far, toward, np.where(near, -toward, _rotated(current, axis, theta)))
        costs += np.degrees(np.arccos(_cosine(current, turned)))
        position, current = position + a * turned, turned
    return np.linalg.norm(goals - position, axis=1), costs


def mended(chain: PaperChain, pose: Pose, target: Vector) -> Pose:
    """The rule of sections 3.1 and 3.2, joint limits included, with comparisons that allow for rounding.

    The axis of an undefined turn is perpendicular to the link. `b` is the straight length of the remaining chain; only
    where the triangle would bend the next joint beyond its limit, b is the distance that the remaining chain spans
    with all its joints at their limits. A link that would leave its own cone stops at its edge.
    """
    slack = SLACK * chain.length
    position = ROOT
    directions, turns = list(pose.directions), list(pose.turns)
    for k, a in enumerate(chain.lengths):
        to_target = target - position
        c = to_target.length
        b = sum(chain.lengths[k + 1 :])
        if k + 1 < len(chain.lengths) and pi - _opposite(c, a, b) > (chain.limits[k + 1] or pi):
            b = collapsed(chain, k + 1)
        current = directions[k]
        after = current
        if c > slack:
            after = _triangle(to_target / c, current, a, b, c, slack)
        limit = chain.limits[k]
        if limit is not None and directions[k - 1].angle(after) > limit:
            after = Quaternion(directions[k - 1].cross(after), limit) @ directions[k - 1]
        turn = _swing(current, after)
        directions[k:] = [after, *((turn @ along).normalized() for along in directions[k + 1 :])]
        turns[k:] = [(turn @ before).normalized() for before in turns[k:]]
        position = position + after * a
    return Pose(tuple(directions), tuple(turns))


def collapsed(chain: PaperChain, first: int) -> float:
    """The distance that the links from `first` on span with the joints between them at their limits."""
    x = y = angle = 0.0
    for length, limit in zip(chain.lengths[first:], (0.0, *chain.limits[first + 1 :]), strict=True):
        angle += pi if limit is None else limit
        x, y = x + length * cos(angle), y + length * sin(angle)
    return hypot(x, y)


def _triangle(toward: Vector, current: Vector, a: float, b: float, c: float, slack: float) -> Vector:
    """Direction of the link a in the triangle a, b, c; at the target or away from it where there is none."""
    if c >= a + b - slack:
        return toward
    if c <= abs(a - b) + slack:
        return -toward if b > a else toward
    aside = current - toward * current.dot(toward)
    if aside.length < SLACK:
        aside = toward.orthogonal()
    return Quaternion(toward.cross(aside), _opposite(b, a, c)) @ toward


def _swing(before: Vector, after: Vector) -> Quaternion:
    """Shortest rotation between two unit vectors, also where they are nearly opposite and mathutils' is coarse."""
    if before.dot(after) > 0.0:
        return before.rotation_difference(after)
    axis = before.cross(after)
    half_turn = Quaternion(axis if axis.length > SLACK else before.orthogonal(), pi)
    return (half_turn @ before).rotation_difference(after) @ half_turn


def _opposite(b: float, a: float, c: float) -> float:
    """The angle between the sides a and c of a triangle: equation 5."""
    product = 2.0 * a * c
    return acos(min(1.0, max(-1.0, (a * a + c * c - b * b) / product))) if product else 0.0


def _perpendicular(vectors: np.ndarray) -> np.ndarray:
    least = np.eye(3)[np.argmin(np.abs(vectors), axis=1)]
    across = np.cross(vectors, least)
    return across / np.linalg.norm(across, axis=1)[:, None]


def _cosine(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.clip(np.einsum("ij,ij->i", a, b), -1.0, 1.0)


def _rotated(vectors: np.ndarray, axes: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Rodrigues' formula, with unit axes."""
    along = axes * np.einsum("ij,ij->i", axes, vectors)[:, None]
    sines, cosines = np.sin(angles)[:, None], np.cos(angles)[:, None]
    return along + (vectors - along) * cosines + np.cross(axes, vectors) * sines
