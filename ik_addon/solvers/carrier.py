"""One body that carries several limbs: the smallest move of it with which each of them reaches where it shall.

A limb whose root is carried along reaches its place if the body's move lies in a ball about the limb's offset, of the
limb's longest reach; not in the ball of its shortest one if it cannot fold to nothing. So the moves with which all
limbs reach are what these shells have in common, and the smallest of them is decided by at most three spheres: proof
in docs/mathematics.md. Offsets lead from a limb's root to where its end shall be, with the body unmoved. Exact in
double precision; the order of the limbs does not matter; all lengths in one unit, z is up.

Then the least turn with which a shift lets each limb reach, for limbs that no shift alone serves. Turn and shift are
six numbers, and each sphere is a condition: a smooth program, solved by sequential quadratic programming in its elastic
form, in which a miss has a cost (Jorge Nocedal, Stephen J. Wright, "Numerical Optimization", chapters 16 and 18). Each
quadratic program is one of least distance, solved by nonnegative least squares (Charles L. Lawson, Richard J. Hanson,
"Solving Least Squares Problems", chapter 23). It begins with no turn, so it depends on what is given alone.
"""

from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

SLACK = 1e-13
"""What counts as nothing beside the largest length: a shell that is missed by less is met."""

FLAT = 1e-12
"""Centers span a plane, or a line, if their extent across it is less, beside the one along it."""

_UPRIGHT = 0.5, 0.9
"""Cosines of how far limbs of full length would lean on the line straight down: up to the second, 26 degrees, a body
moves along it alone, from the first on, 60 degrees, the shortest way. The more they may lean, the farther a body would
fall before it moves aside, and come back up."""
_ROOM = 0.5
"""Of the shortest limb's reach: where the line on which all limbs reach is shorter, it is left too."""

TOUCHING = 1e-14
"""Spheres touch, instead of crossing in a circle, if the square of its radius is less, beside their own squares."""


def nearest_shift(
    offsets: np.ndarray, longest: np.ndarray, shortest: np.ndarray | None = None
) -> tuple[np.ndarray, float]:
    """The smallest move of a body, (3,), with which each limb reaches, and by how much the worst one misses.

    offsets (n, 3), longest (n,), shortest (n,) or None for zeros: finite, shortest at most longest. The move s has
    shortest <= |offset - s| <= longest for all limbs, then the second value is 0. If no move has, it is the one that
    leaves the worst limbs equally far from their reach, and the second value, greater than 0, says how far. Where
    several moves are as small (a place on the limb's root), the lowest of them.
    """
    offsets, longest = np.asarray(offsets, float), np.asarray(longest, float)
    shortest = np.zeros_like(longest) if shortest is None else np.asarray(shortest, float)
    shift = np.zeros(3)
    if not len(offsets):
        return shift, 0.0
    order = np.lexsort((*offsets.T, longest, shortest))
    offsets, longest, shortest = offsets[order], longest[order], shortest[order]
    slack = SLACK * max(longest.max(), np.abs(offsets).max())
    level, counted, possible = 0.0, [], True
    while True:
        # The best move for some of the limbs is at least as good as the best one for all: if it serves all, it is that.
        missing = _missing(shift, offsets, longest, shortest)
        worst = int(missing.argmax())
        if missing[worst] <= level + slack or worst in counted:
            return shift, 0.0 if missing[worst] <= slack else float(missing[worst])
        counted.append(worst)
        away = np.sqrt((offsets[worst] ** 2).sum())
        if counted == [worst] and away > longest[worst]:
            # Mostly one limb is too far, and what serves it serves all.
            shift = offsets[worst] * (1.0 - longest[worst] / away)
            continue
        limbs = offsets[counted], longest[counted], shortest[counted]
        if possible:
            candidates = _nearest_points(*_spheres(*limbs)[:2])
            served = candidates[_missing(candidates[:, None], *limbs).max(axis=1) <= slack]
            possible = len(served) > 0
            if possible:
                shift = served[(served * served).sum(axis=1).argmin()]
        if not possible:
            candidates = _fairest_points(*_spheres(*limbs))
            missing = _missing(candidates[:, None], *limbs).max(axis=1)
            shift, level = candidates[missing.argmin()], float(missing.min())


def lowering(
    offsets: np.ndarray, longest: np.ndarray, shortest: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """How far a body must go straight down on each of T frames so that each limb reaches, and where that can be.

    offsets (n, T, 3), longest and shortest (n, T). First (T,): the smallest move along z, positive down, of two as
    small the one down; 0 where no move along z serves all. Second (T,) bool: where one does.
    """
    offsets, longest = np.asarray(offsets, float), np.asarray(longest, float)
    shortest = np.zeros_like(longest) if shortest is None else np.asarray(shortest, float)
    rows = offsets.shape[1]
    if not len(offsets):
        return np.zeros(rows), np.ones(rows, bool)
    aside = (offsets[..., :2] ** 2).sum(axis=2)
    up = offsets[..., 2]
    ends = [np.zeros((1, rows))]
    for radius in (longest, shortest):
        half = np.sqrt(np.maximum(radius**2 - aside, 0.0))
        ends += [half - up, -half - up]
    falls = np.concatenate(ends)  # with none of these, each limb's ends: one of them is the answer
    slack = SLACK * np.maximum(longest.max(axis=0), np.abs(offsets).max(axis=(0, 2)))
    served = np.ones(falls.shape, bool)
    for square, height, most, least in zip(aside, up, longest, shortest, strict=True):
        distance = np.sqrt(square + (height + falls) ** 2)
        served &= (distance <= most + slack) & (distance >= least - slack)
    cost = np.where(served, np.abs(falls), np.inf)
    cost = np.where(falls < 0.0, np.nextafter(cost, np.inf), cost)  # of two alike, the one down
    best = cost.argmin(axis=0)[None]
    possible = served.any(axis=0)
    return np.where(possible, np.take_along_axis(falls, best, axis=0)[0], 0.0), possible


def eased_shifts(
    offsets: np.ndarray, longest: np.ndarray, shortest: np.ndarray, eases: np.ndarray, straight_down: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Moves of a body on T frames, (T, 3), as `nearest_shift` gives, that begin gently, and by how much the worst limb
    misses, (T,). Each depends on nothing but what is given for its frame.

    A move is 0 where all limbs reach with twice their ease to spare, and meanwhile has no kinks but where other limbs
    begin to decide. offsets (T, n, 3), longest and shortest (T, n), eases (T,). straight_down: along z, and the more
    the limbs lean, the more the shortest way. Each limb reaches if `nearest_shift` has them reach.
    """
    shifts, excesses = np.zeros((len(offsets), 3)), np.zeros(len(offsets))
    distance = np.sqrt((offsets * offsets).sum(axis=2))
    calm = (distance <= longest - 2.0 * eases[:, None]) & (distance >= shortest)
    rows = np.flatnonzero(~calm.all(axis=1))
    if not len(rows):
        return shifts, excesses
    offsets, longest, shortest, eases = (each[rows] for each in (offsets, longest, shortest, eases))
    moves, part = np.zeros((len(rows), 3)), np.zeros(len(rows))
    if straight_down:
        falls, room = _eased_falls(offsets, longest, eases)
        lean = (offsets[..., :2] ** 2).sum(axis=2) / longest**2
        upright = np.sqrt(np.maximum(1.0 - lean, 0.0)).min(axis=1)
        part = _ramp(upright, *_UPRIGHT) * _ramp(room / longest.min(axis=1), 0.0, _ROOM)
        moves[:, 2] = -falls
    for k in np.flatnonzero(part < 1.0):
        # What all limbs have in common is convex: between two of its points lies another.
        moves[k] = part[k] * moves[k] + (1.0 - part[k]) * _eased_nearest(offsets[k], longest[k], float(eases[k]))
    # Only a limb that cannot fold so far is missed by now, or one of those that no move serves.
    left = offsets - moves[:, None]
    slack = SLACK * np.maximum(longest.max(axis=1), np.abs(left).max(axis=(1, 2)))
    for k in np.flatnonzero(~(_missing(np.zeros(3), left, longest, shortest).max(axis=1) <= slack)):
        rest, excesses[rows[k]] = nearest_shift(left[k], longest[k], shortest[k])
        moves[k] += rest
    shifts[rows] = moves
    return shifts, excesses


def _eased_nearest(offsets: np.ndarray, longest: np.ndarray, ease: float) -> np.ndarray:
    """The nearest move into all balls, blended with that into balls which are smaller by `ease`; of one limb it is
    `_eased` of how far that misses."""
    near = nearest_shift(offsets, longest)[0]
    if not ease:
        return near
    early = nearest_shift(offsets, longest - ease)[0]
    size = np.sqrt((early * early).sum())
    part = size / (4.0 * ease) if size < ease else max(2.0 * ease - size, 0.0) ** 2 / (4.0 * ease**2)
    return near + part * (early - near)


def _eased_falls(offsets: np.ndarray, longest: np.ndarray, eases: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far down into all balls, and how long the part of the line through the body is that they share; 0: none."""
    square = longest**2 - (offsets[..., :2] ** 2).sum(axis=2)
    half = np.sqrt(np.maximum(square, 0.0))
    lows, highs = -offsets[..., 2] - half, -offsets[..., 2] + half
    room = np.where((square > 0.0).all(axis=1), np.maximum(highs.min(axis=1) - lows.max(axis=1), 0.0), 0.0)
    # Where the line is short, so is what is eased: else its two ends were in each other's way.
    eases = np.minimum(eases, room / 4.0)
    falls = _eased(_soft_maximum(lows, eases), eases) - _eased(_soft_maximum(-highs, eases), eases)
    return np.where(room > 0.0, falls, 0.0), room


def _ramp(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """From 0 below `low` to 1 above `high`, without a corner."""
    part = np.clip((values - low) / (high - low), 0.0, 1.0)
    return part * part * (3.0 - 2.0 * part)


def _soft_maximum(values: np.ndarray, eases: np.ndarray) -> np.ndarray:
    """At least the largest of each row's values, at most `eases` more, without a corner where two of them are alike."""
    # Not associative: always in the same order, whichever limb is which.
    values = np.sort(values, axis=1)[:, ::-1]
    largest = values[:, 0]
    for value in values[:, 1:].T:
        near = np.maximum(eases - np.abs(largest - value), 0.0)
        largest = np.maximum(largest, value) + near * near / (4.0 * _some(eases))
    return largest


def _eased(needs: np.ndarray, eases: np.ndarray) -> np.ndarray:
    """0 below -eases, `needs` above eases, at least both between, without a corner."""
    between = np.abs(needs) < eases
    return np.where(between, (needs + eases) ** 2 / (4.0 * _some(eases)), np.maximum(needs, 0.0))


def _some(lengths: np.ndarray) -> np.ndarray:
    """Lengths to divide by: 1 where there is none."""
    return np.where(lengths > 0.0, lengths, 1.0)


def _missing(shifts: np.ndarray, offsets: np.ndarray, longest: np.ndarray, shortest: np.ndarray) -> np.ndarray:
    """How far each limb is from its reach, negative within: (..., n) for moves (..., 1, 3) or (3,)."""
    away = offsets - shifts
    distance = np.sqrt((away * away).sum(axis=-1))
    return np.maximum(distance - longest, np.where(shortest > 0.0, shortest - distance, -np.inf))


def _spheres(offsets: np.ndarray, longest: np.ndarray, shortest: np.ndarray) -> tuple[np.ndarray, ...]:
    """Centers, radii, and sides (1: to be inside, -1: to be outside) of all spheres of these limbs."""
    hollow = shortest > 0.0
    centers = np.concatenate((offsets, offsets[hollow]))
    radii = np.concatenate((longest, shortest[hollow]))
    return centers, radii, np.repeat((1.0, -1.0), (len(offsets), hollow.sum()))


def _nearest_points(centers: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """The points (m, 3) nearest to 0 and farthest from it on each sphere and each circle of two; where three meet."""
    first, radius, apart, sums, _ = _differences(centers, radii, np.ones_like(radii), 3)
    # vh has directions in the plane of the centers, or on their line, then those across it.
    u, s, vh = np.linalg.svd(apart)
    flat = s > FLAT * s[:, :1]
    within = np.where(flat, np.einsum("mji,mj->mi", u, sums) / np.where(flat, s, 1.0), 0.0)
    middle = first + np.einsum("mi,mij->mj", within, vh[:, : within.shape[1]])
    square = radius**2 - (within**2).sum(axis=1)
    large = radius**2 + (s**2).sum(axis=1)
    meeting = square >= -TOUCHING * large
    square = np.where(square <= TOUCHING * large, 0.0, square)
    free = np.ones((len(first), 3))
    free[:, : flat.shape[1]] -= flat
    aim = np.einsum("mij,mj->mi", vh, -middle) * free
    nowhere = (aim**2).sum(axis=1) <= FLAT**2 * large  # all are equally near: the lowest
    aim[nowhere] = vh[nowhere, :, 2] * -free[nowhere]
    nowhere = (aim**2).sum(axis=1) <= FLAT**2 * np.where(nowhere, 1.0, large)
    aim[nowhere] = (0.0, 0.0, 1.0)
    aim *= (np.sqrt(square) / np.sqrt((aim**2).sum(axis=1)))[:, None]
    aside = np.einsum("mi,mij->mj", aim, vh)[meeting]
    return np.concatenate((middle[meeting] + aside, middle[meeting] - aside))


def _fairest_points(centers: np.ndarray, radii: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """The points (m, 3) from which two, three or four spheres are missed by the same length, as near as can be."""
    first, radius, apart, sums, slopes = _differences(centers, radii, sides, 4)
    side = sides[_choices(len(centers), 4)[:, 0]]
    inverse = np.linalg.pinv(apart, rcond=FLAT)
    start, step = np.einsum("kmij,kmj->kmi", np.stack((inverse, inverse)), np.stack((sums, slopes)))
    # Missed by e, a sphere has the radius r + side e: the square of the distance to the first one is quadratic in e.
    a = (step * step).sum(axis=1) - 1.0
    b = (start * step).sum(axis=1) - side * radius
    c = (start * start).sum(axis=1) - radius**2
    root = np.sqrt(np.maximum(b * b - a * c, 0.0))
    sum_of_both = -(b + np.copysign(root, b))
    with np.errstate(divide="ignore", invalid="ignore"):
        miss = np.concatenate((sum_of_both / a, c / sum_of_both))
    found = np.tile(first + start, (2, 1)) + np.tile(step, (2, 1)) * miss[:, None]
    # About one center they are missed alike on a sphere between them, there the nearest to 0.
    lengths = np.maximum(np.sqrt((centers * centers).sum(axis=1)), np.finfo(float).tiny)
    between = (radii[:, None] + radii) / 2.0 / lengths[:, None]
    found = np.concatenate((found, (centers[:, None] * (1.0 - between[..., None])).reshape(-1, 3), centers))
    return found[np.isfinite(found).all(axis=1)]


def _differences(centers: np.ndarray, radii: np.ndarray, sides: np.ndarray, most: int) -> tuple[np.ndarray, ...]:
    """Spheres by one, two, ... up to `most`: first center and radius, the others' centers seen from there, `apart`.

    A point x, from the first center, on all of them has apart · x = sums; where all are missed by e, sums + slopes e.
    """
    chosen = _choices(len(centers), most)
    c, r, side = centers[chosen], radii[chosen], sides[chosen]
    apart = c[:, 1:] - c[:, :1]
    sums = ((apart * apart).sum(axis=2) + (r[:, :1] - r[:, 1:]) * (r[:, :1] + r[:, 1:])) / 2.0
    return c[:, 0], r[:, 0], apart, sums, (side * r)[:, :1] - (side * r)[:, 1:]


@cache
def _choices(count: int, most: int) -> np.ndarray:
    """Each choice of 1 to `most` of so many spheres as a row of `most` numbers: its first one fills what is left."""
    sizes = range(1, min(most, count) + 1)
    rows = [(*row, *row[:1] * (most - size)) for size in sizes for row in combinations(range(count), size)]
    return np.array(rows)


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
    size, arms = longest.max(), np.concatenate((arms, arms[shortest > 0.0]))
    ends, radii, sides = _spheres(ends, longest, shortest)
    spheres = _Spheres(arms / size, ends / size, radii / size, sides, most)
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
    """Arms, ends, radii and sides of all spheres (`_spheres`), in longest reaches; and the largest turn."""

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
