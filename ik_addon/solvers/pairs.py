"""Many chains of two links, each for many goals, solved at once in arrays: what `solve` and `link_rotations` give.

The steps are those of `aim_at`, `two_links` and `vector`, after Inigo Quilez' two-bone solution with vectors (see
two_bone.py), in double precision. An entry that is not regular is handed to these one by one, so that there is one
truth: a target on the root, a pole close to the line to it, without a pole a target behind the chain, a link that is
next to nothing, and whatever has to be refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from .. import messages
from .bending import OFF_LINE, TOO_FAR, aim_at, start_of
from .chain import MET, Chain, Goal
from .rotations import link_rotations
from .two_bone import two_links, vector
from .vectors import LARGEST, ChainError

BEHIND = -0.98
"""Cosine down to which the shortest turn to the target carries the bend normal precisely."""

SLIVER = 2.0**-40
"""Part of a chain's length from which on a link has a sign in what is left of the other one's digits."""

# What 1, i, j and k times a quaternion w, x, y, z are: which of its components, with which sign.
PLACES = np.array(((0, 1, 2, 3), (1, 0, 3, 2), (2, 3, 0, 1), (3, 2, 1, 0)))
SIGNS = np.array(((1.0, 1.0, 1.0, 1.0), (-1.0, 1.0, -1.0, 1.0), (-1.0, 1.0, 1.0, -1.0), (-1.0, -1.0, 1.0, 1.0)))
SIGNS = SIGNS[..., None, None, None]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Solved pairs of links: m chains, each for n goals.

    turns: array (m, n, 2, 4), how each link turned from the chain's starting pose, root first, in the chain's space:
    unit quaternions w, x, y, z of either sign. outcomes: array (m, n) of small integers, 0 where the target was in
    reach, 1 where it was too far, -1 where it was too near.
    """

    turns: np.ndarray
    outcomes: np.ndarray


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The products of quaternions w, x, y, z: arrays (..., 4) that broadcast. As rotations, b comes first."""
    aw, ax, ay, az = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    bw, bx, by, bz = b[..., 0], b[..., 1], b[..., 2], b[..., 3]
    # Each component lies together in memory: so the next product reads it quickest.
    product = np.array(
        (
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        )
    )
    return product.transpose(*range(1, product.ndim), 0)


def conjugate(a: np.ndarray) -> np.ndarray:
    """The conjugates of quaternions w, x, y, z, an array (..., 4): of unit ones, the inverse rotations."""
    return a * (1.0, -1.0, -1.0, -1.0)


def rotated(a: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Vectors, an array (..., 3), turned by unit quaternions w, x, y, z, an array (..., 4) that broadcasts with it."""
    w, x, y, z = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    vx, vy, vz = vectors[..., 0], vectors[..., 1], vectors[..., 2]
    tx, ty, tz = 2.0 * (y * vz - z * vy), 2.0 * (z * vx - x * vz), 2.0 * (x * vy - y * vx)
    turned = np.array((vx + w * tx + y * tz - z * ty, vy + w * ty + z * tx - x * tz, vz + w * tz + x * ty - y * tx))
    return turned.transpose(*range(1, turned.ndim), 0)


def solve_pairs(chains: Sequence[Chain], goals: Sequence[Goal], targets: np.ndarray, poles: np.ndarray) -> Pairs:
    """Solve m chains of two links without limits, each for n targets and poles.

    goals: one for each chain, with its wishes; its target is not looked at, and its pole only tells whether there is
    one. targets, poles: arrays (m, n, 3) of points, each in its own chain's space and unit; the poles of a chain
    without one are not looked at.

    Raises ChainError for another number of links, limits or stretch, and for what `solve` refuses.
    """
    numbers, free = _numbers(chains, goals)
    root, (noise, near, far, difference, swivel, bulge, softness) = numbers[:3], numbers[3:10]
    # For each link and component of a quaternion: that part of its product with `unrolled`.
    unrolled = numbers[10:].reshape(2, 4, -1, 1).swapaxes(0, 1)[PLACES] * SIGNS
    size = targets.shape[:2]
    # What is not regular may divide by zero; it is replaced in the end.
    with np.errstate(all="ignore"):
        # Vectors repeat their first two components, so that a cross product takes slices.
        frame, to_pole = np.empty((3, 5, *size)), np.empty((5, *size))
        along, normal, side = frame
        np.subtract(targets.transpose(2, 0, 1), root, out=along[:3])
        distance = np.sqrt(_dot(along, along))
        along[:3] /= distance
        along[3:] = along[:2]
        np.subtract(poles.transpose(2, 0, 1), root, out=to_pole[:3])
        if free:
            to_pole[:3, free] = _own_sides([chains[k] for k in free], along[:, free])
        to_pole[3:] = to_pole[:2]
        _cross(to_pole, along, normal)
        off_line, in_line = _dot(normal, normal), _dot(to_pole, along)
        # With NaN no comparison is true.
        regular = (in_line * in_line < OFF_LINE * off_line) & (OFF_LINE * off_line < TOO_FAR)
        regular &= (noise < distance) & (distance <= LARGEST)
        normal[:3] /= np.sqrt(off_line)
        normal[3:] = normal[:2]
        _cross(along, normal, side)
        if swivel.any():
            c, s = np.cos(swivel), np.sin(swivel)
            normal[:3], side[:3] = c * normal[:3] + s * side[:3], c * side[:3] - s * normal[:3]
        held = distance
        if softness.any():
            span = softness * far
            beyond = distance - (far - span)
            held = np.where((span > 0.0) & (beyond > 0.0), far - span * np.exp(-beyond / span), distance)
        # Clamped, the parts along become the links themselves with their signs, and nothing is left aside.
        base = np.minimum(np.maximum(held, near), far)
        twice, half = 2.0 * base, 0.5 * base
        shift = difference / twice
        aside = bulge * np.sqrt((far - base) * (base - near) * (far + base) * (base + near)) / twice
        # The links bend about the frame's normal, which is its second axis; a quaternion has half the angle.
        bends = 0.5 * np.arctan2((-aside, aside), (half + shift, half - shift))
        c, s = np.cos(bends), np.sin(bends)
        aimed = _quaternions(frame[:, :3].reshape(3, 3, -1)).reshape(4, 1, *size)
        bent: np.ndarray = c * aimed
        bent[:2] -= s * aimed[2:]
        bent[2:] += s * aimed[:2]
        turns = bent[0] * unrolled[0]
        for k in (1, 2, 3):
            turns += bent[k] * unrolled[k]
        # Here at last all that was not quite of unit length: the frame's quaternion, and the chains' own float32.
        turns /= np.sqrt(np.add.reduce(turns * turns))
        slack = MET * far
        outcomes = (distance > far + slack).view(np.int8) - (distance < near - slack)
    turns = turns.transpose(2, 3, 1, 0)
    if not regular.all():
        for k, j in np.argwhere(~regular).tolist():
            turns[k, j] = _one(chains[k], goals[k], targets[k, j].tolist(), poles[k, j].tolist())
    return Pairs(turns, outcomes)


def _numbers(chains: Sequence[Chain], goals: Sequence[Goal]) -> tuple[np.ndarray, list[int]]:
    """What of chains and wishes is computed with, as an array (18, m, 1), and which chains have no pole.

    Root (3), noise, near, far, difference, swivel, sign of the bend, softness, unrolled (2 of 4).
    """
    numbers, free = [], []
    for k, (chain, goal) in enumerate(zip(chains, goals, strict=True)):
        start, swivel, softness = chain.start or start_of(chain), goal.swivel, goal.softness
        if not start.pair:
            raise ChainError(messages.NO_PAIRS())
        if goal.stretch_max != 1.0:
            raise ChainError(messages.PAIRS_STRETCH(stretch=goal.stretch_max))
        if goal.pole is None:
            free.append(k)
        _, near, far, difference = start.pair
        first, second = start.unrolled
        # Where noise is endless no target is regular: the one solver solves them all, or finds the words to refuse.
        fine = 0.0 <= softness <= 0.5 and -inf < swivel < inf and far - near > SLIVER * far
        noise, sign = start.noise if fine else inf, -1.0 if goal.flip else 1.0
        # Sliced, because Blender's vectors and quaternions give their numbers quickest so.
        numbers += chain.joints[0][:]
        numbers += (noise, near, far, difference, swivel, sign, softness)
        numbers += first[:]
        numbers += second[:]
    return np.fromiter(numbers, float, len(numbers)).reshape(-1, 18).T.copy()[..., None], free


def _own_sides(chains: Sequence[Chain], along: np.ndarray) -> np.ndarray:
    """Where chains without a pole bulge, brought to their targets by the shortest way; NaN for a target behind them.

    along: unit vectors to the targets. That way takes v, square to start, to v - (start + along) * (v . along) /
    (1 + start . along). Here it is of another length and lacks the part along; neither changes the plane.
    """
    frames = [start_of(chain).frame for chain in chains]
    start, side = np.array([(frame.along[:], frame.side[:]) for frame in frames]).transpose(1, 2, 0)[..., None]
    # As float32 it is not quite of unit length, which counts where the cosine is near -1.
    start = start / np.sqrt(_dot(start, start))
    cosine = _dot(start, along)
    moved = side * (1.0 + cosine) - start * _dot(side, along)
    moved[:, cosine <= BEHIND] = np.nan
    return moved


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.add.reduce(a[:3] * b[:3])


def _cross(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    np.subtract(a[1:4] * b[2:5], a[2:5] * b[1:4], out=out[:3])


def _quaternions(axes: np.ndarray) -> np.ndarray:
    """The rotations (4, m), of any length, from the coordinate axes to three perpendicular unit vectors (3, 3, m).

    Each row is the quaternion times four of one of its components. The choice of the row (Mike Day, "Converting a
    Rotation Matrix to a Quaternion") takes a component of a half or more, so that nothing cancels.
    """
    x, y, z = axes[0, 0], axes[1, 1], axes[2, 2]
    rows = np.empty((4, 4, x.size))
    flipped = axes.swapaxes(0, 1)
    np.add(axes, flipped, out=rows[1:, 1:])
    turn = axes - flipped
    sum_of_xy = x + y
    trace = sum_of_xy + z
    np.add(trace, 1.0, out=rows[0, 0])
    rest = 1.0 - trace
    for k, (i, j) in enumerate(((1, 2), (2, 0), (0, 1)), 1):
        rows[0, k] = rows[k, 0] = turn[i, j]
        rows[k, k] += rest
    return np.where(z < 0.0, np.where(x > y, rows[1], rows[2]), np.where(sum_of_xy < 0.0, rows[3], rows[0]))


def _one(chain: Chain, goal: Goal, target: list[float], pole: list[float]) -> list:
    """The rotations of the two links for one target."""
    goal = replace(goal, target=target, pole=None if goal.pole is None else pole)
    return link_rotations(chain, two_links(vector, chain, aim_at(chain, goal, chain.length)))
