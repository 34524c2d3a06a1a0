"""The least turn of a body with which a shift lets each of its limbs reach: for limbs that no shift alone serves.

Turn and shift are six numbers, and each sphere of `carrier.py` is a condition: a smooth program, solved by sequential
quadratic programming in its elastic form, in which a miss has a cost (Jorge Nocedal, Stephen J. Wright, "Numerical
Optimization", chapters 16 and 18). Each quadratic program is one of least distance, solved by nonnegative least squares
(Charles L. Lawson, Richard J. Hanson, "Solving Least Squares Problems", chapter 23). It begins with no turn, so it
depends on what is given alone. Double precision; all lengths in one unit.
"""

from dataclasses import dataclass

import numpy as np

from .carrier import nearest_shift

_COST = 100.0
"""What a miss by the longest reach costs beside the half square of a turn in radians: a turn that gains less than a
hundredth of itself is no use."""
_PASSES = 30
_PARTS = 0.5 ** np.arange(20)
"""Of a step what is tried, until it costs less."""
_STILL = 1e-9
"""What counts as nothing of a step, in radians and longest reaches, and of a cost."""
_CURVED = 1e-4
"""Least curvature that a pass supposes in any direction: the shift by itself costs nothing."""


def least_turn(
    arms: np.ndarray, ends: np.ndarray, longest: np.ndarray, shortest: np.ndarray, most: float
) -> np.ndarray:
    """The rotation vector (3,) of the least turn after which some shift lets all limbs reach; 0 where one does without.

    arms, ends: (n, 3), from the point about which the body turns to each limb's root and to where its end shall go.
    longest, shortest: (n,), its reach. most: largest angle, in radians, below pi. If no such turn serves all, it is one
    with which the worst limb misses least.
    """
    shift, excess = nearest_shift(ends - arms, longest, shortest)
    if not excess or most <= 0.0:
        return np.zeros(3)
    size, hollow = longest.max(), shortest > 0.0
    arms, ends = (np.concatenate((each, each[hollow])) / size for each in (arms, ends))
    radii = np.concatenate((longest, shortest[hollow])) / size
    spheres = _Spheres(arms, ends, radii, np.repeat((1.0, -1.0), (len(longest), hollow.sum())), most)
    turn, shift, weights = np.zeros(3), shift / size, np.zeros(len(spheres.radii))
    for _ in range(_PASSES):
        step, weights = spheres.step(turn, shift, weights)
        if np.abs(step[:6]).max() < _STILL:
            break
        price = min(2.0 * weights.sum(), _COST)
        cost = spheres.cost(turn, shift, price) + _STILL
        places = (spheres.along(turn, shift, part * step) for part in _PARTS)
        ahead = next((place for place in places if spheres.cost(*place, price) <= cost), None)
        if ahead is None:
            break
        turn, shift = ahead
    return turn


@dataclass(frozen=True, slots=True)
class _Spheres:
    """Arms, ends, radii and sides of all spheres, see `carrier.py`, in longest reaches; and the largest turn."""

    arms: np.ndarray
    ends: np.ndarray
    radii: np.ndarray
    sides: np.ndarray
    most: float

    def cost(self, turn: np.ndarray, shift: np.ndarray, price: float) -> float:
        """What a step has to make less, of a turn and of a miss."""
        return float(0.5 * (turn @ turn) + price * max(self._missing(turn, shift)[-1].max(), 0.0))

    def along(self, turn: np.ndarray, shift: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Turn and shift after a step: a further turn, and a further shift."""
        turn = _vector_of(matrix_of(step[:3]) @ matrix_of(turn))
        angle = np.sqrt(turn @ turn)
        return turn * (self.most / angle) if angle > self.most else turn, shift + step[3:6]

    def _missing(self, turn: np.ndarray, shift: np.ndarray) -> tuple[np.ndarray, ...]:
        """Turned arms, what leads from the limbs' roots to their ends, its length, and how far each misses."""
        arms = self.arms @ matrix_of(turn).T
        limbs = self.ends - arms - shift
        distances = np.sqrt((limbs * limbs).sum(axis=1))
        return arms, limbs, distances, self.sides * (distances - self.radii)

    def step(self, turn: np.ndarray, shift: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A further turn, a further shift and the miss that is left (7,), and the weights of the spheres in that.

        weights: those of the pass before.
        """
        arms, limbs, distances, missing = self._missing(turn, shift)
        apart = np.maximum(distances, _STILL)
        ways = limbs / apart[:, None]
        # A turn w and a shift s take a limb by the cross product of its arm and w, less s.
        moves = np.concatenate((_crosses(arms), np.broadcast_to(-np.eye(3), (len(arms), 3, 3))), axis=2)
        rises = np.einsum("ni,nij->nj", ways, moves)
        across = np.einsum("nij,nik->njk", moves, moves) - rises[:, :, None] * rises[:, None]
        across /= apart[:, None, None]
        along, mixed = (ways * arms).sum(axis=1), ways[:, :, None] * arms[:, None]
        across[:, :3, :3] += along[:, None, None] * np.eye(3) - (mixed + mixed.swapaxes(1, 2)) / 2.0
        bent = np.einsum("n,nij->ij", weights * self.sides, across)
        bent[:3, :3] += np.eye(3)
        sizes, axes = np.linalg.eigh(bent)
        curves = np.eye(7)
        curves[:6, :6] = (axes * np.maximum(sizes, _CURVED)) @ axes.T
        slope = np.array((*turn, 0.0, 0.0, 0.0, _COST))
        rows = np.zeros((len(arms) + 2, 7))
        rows[:-2, :6], rows[:-1, 6] = self.sides[:, None] * rises, -1.0
        angle = np.sqrt(turn @ turn)
        rows[-1, :3] = turn / angle if angle else 0.0
        step, weights = _quadratic(curves, slope, rows, np.array((*-missing, 0.0, self.most - angle)), weights)
        return step, weights[: len(arms)]


def _quadratic(
    curves: np.ndarray, slope: np.ndarray, rows: np.ndarray, bounds: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The x with the least x·curves·x/2 + slope·x of those with rows·x <= bounds, and the multipliers of these.

    weights: of the first rows those that are greater than 0 are tried first.
    """
    root = np.linalg.cholesky(curves)
    start, planes = np.linalg.solve(root, slope), np.linalg.solve(root, rows.T)
    sums = np.concatenate((-planes, -(bounds + start @ planes)[None]))
    wanted = np.zeros(len(sums))
    wanted[-1] = 1.0
    touched = _nonnegative(sums, wanted, np.flatnonzero(weights > 0.0)) > 0.0
    # Which rows are touched is known; with these as equations all digits are.
    own = rows[touched]
    system = np.block([[curves, own.T], [own, np.zeros((len(own), len(own)))]])
    found = np.linalg.lstsq(system, np.concatenate((-slope, bounds[touched])), rcond=None)[0]
    multipliers = np.zeros(len(rows))
    multipliers[touched] = found[7:]
    return found[:7], multipliers


def _nonnegative(sums: np.ndarray, wanted: np.ndarray, first: np.ndarray) -> np.ndarray:
    """The nonnegative parts x with the least |sums·x - wanted|. first: numbers of those that are tried first."""
    parts, used = np.zeros(sums.shape[1]), np.zeros(sums.shape[1], bool)
    used[first] = True
    slack = 1e-13 * np.abs(sums).max()
    for _ in range(4 * len(parts)):
        while used.any():
            found = np.zeros(len(parts))
            found[used] = np.linalg.lstsq(sums[:, used], wanted, rcond=None)[0]
            below = used & (found <= 0.0)
            if not below.any():
                parts = found
                break
            part = (parts[below] / (parts[below] - found[below])).min()
            parts += part * (found - parts)
            used &= parts > 0.0
            used[below & (parts <= slack)] = False
            parts[~used] = 0.0
        gains = np.where(used, -np.inf, sums.T @ (wanted - sums @ parts))
        best = int(gains.argmax())
        if gains[best] <= slack:
            break
        used[best] = True
    return parts


def matrix_of(turn: np.ndarray) -> np.ndarray:
    """The rotation matrix (3, 3) of a rotation vector, whose length is the angle in radians."""
    angle, across = np.sqrt(turn @ turn), _crosses(turn[None])[0]
    return np.eye(3) + np.sinc(angle / np.pi) * across + np.sinc(angle / (2.0 * np.pi)) ** 2 / 2.0 * across @ across


def _vector_of(matrix: np.ndarray) -> np.ndarray:
    """The rotation vector of a rotation matrix, of an angle below pi."""
    twice = (matrix - matrix.T)[[2, 0, 1], [1, 2, 0]]
    sine = np.sqrt(twice @ twice)
    return twice * (np.arctan2(sine, np.trace(matrix) - 1.0) / sine) if sine > 0.0 else np.zeros(3)


def _crosses(vectors: np.ndarray) -> np.ndarray:
    """Of vectors (n, 3) the matrices (n, 3, 3) that give the cross products of these with another."""
    x, y, z = vectors.T
    zero = np.zeros(len(vectors))
    return np.array(((zero, -z, y), (z, zero, -x), (-y, x, zero))).transpose(2, 0, 1)
