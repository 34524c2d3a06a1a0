"""Many chains over many rows, such as frames, solved at once in arrays: what `solve` and `link_rotations` give.

A row has a target, a pole, wishes and a starting pose of its own; what is the same at every row is given once. The
steps are those of `aim_at`, of `two_links` with `vector` (after Inigo Quilez, see two_bone.py) and of `triangulation`,
in double precision. An entry that is not regular is handed to `solve` alone, so that there is one truth: a target on
the root, a pole close to the line to it, without a pole a target behind the chain, a link that is next
to nothing, and whatever has to be refused.

Arrays have their components first, then chains, then rows; see arrays.py.
"""

from dataclasses import dataclass, replace
from math import inf

import numpy as np

from .. import messages
from . import solve
from .arrays import (
    components_first,
    cross,
    dot,
    length,
    normalized,
    product,
    raw_quaternions,
)
from .bending import OFF_LINE, TOO_FAR, link_rotations, start_of
from .chain import MET, Chain, Goal, Outcome
from .vectors import LARGEST, ROUNDING, SMALL, STRAIGHT, ChainError

BEHIND = -0.98
"""Cosine down to which the shortest turn to the target carries the bend normal precisely."""

OPPOSITE = -0.99875
"""Cosine down to which the shortest swing has an axis that is precise in single precision too (a sine of 0.05)."""

SLIVER = 2.0**-40
"""Part of the length of two links from which on each has a sign in what is left of the other one's digits."""

SHORT = 1e-3
"""Part of a chain's length from which on a link counts beside the rounding of the others."""

OFF_HINGE = 0.1
"""Sine of an angle to a line from which on the part across it is precise in single precision too."""

# What 1, i, j and k times a quaternion w, x, y, z are: which of its components, with which sign.
PLACES = np.array(((0, 1, 2, 3), (1, 0, 3, 2), (2, 3, 0, 1), (3, 2, 1, 0)))
SIGNS = np.array(((1.0, 1.0, 1.0, 1.0), (-1.0, 1.0, -1.0, 1.0), (-1.0, 1.0, 1.0, -1.0), (-1.0, -1.0, 1.0, 1.0)))
SIGNS = SIGNS[..., None, None, None]


@dataclass(frozen=True, slots=True)
class StartRows:
    """Starting poses of m chains of k links over n rows; n is 1 where the pose is the same at every row.

    joints: array (m, n, k + 1, 3) of points, root first, in each chain's space. hinges: array (m, n or 1, 3), the
    stated bend normals (`Chain.bend_normal`); NaN for a fixed rule. chains: those that had to be made, by chain and
    row. roots: the first joints, (3, m, n).
    along, side: the bend frame, unit vectors (3, m, n): from root to end, and across it to where the chain bulges.
    noise: distances (m, n) from the root below which float32 has no direction; endless where no row is regular.
    lengths, near, far: of the links, and the nearest and farthest that the links i, i + 1, … reach, (k, m, n).
    links: of two links the rotations from each with its bend normal to the coordinate axes, (2, 4, m, n); of any other
    number the unit vectors along them, (k, 3, m, n).
    """

    joints: np.ndarray
    hinges: np.ndarray
    chains: dict[tuple[int, int], Chain]
    roots: np.ndarray
    along: np.ndarray
    side: np.ndarray
    noise: np.ndarray
    lengths: np.ndarray
    near: np.ndarray
    far: np.ndarray
    links: np.ndarray

    @property
    def count(self) -> int:
        """How many links each chain has."""
        return len(self.lengths)

    def chain_at(self, chain: int, row: int) -> Chain:
        place = chain, _at(row, self.joints.shape[1])
        if place not in self.chains:
            hinge = self.hinges[chain, _at(row, self.hinges.shape[1])]
            normal = None if np.isnan(hinge).any() else hinge.tolist()
            self.chains[place] = Chain(self.joints[place].tolist(), bend_normal=normal)
        return self.chains[place]


@dataclass(frozen=True, slots=True)
class GoalRows:
    """Where m chains shall end over n rows, and how they shall bend. See `Goal` for the wishes.

    targets: array (m, n, 3) of points, each in its own chain's space and unit. poles: likewise; not looked at for
    chains without a pole. has_pole: array (m,). swivel, softness, stretch_max, flip: arrays (m, n or 1).
    least_motion: True if a chain asks for it; then only two links, which it does not change, can be solved.
    """

    targets: np.ndarray
    poles: np.ndarray
    has_pole: np.ndarray
    swivel: np.ndarray
    softness: np.ndarray
    stretch_max: np.ndarray
    flip: np.ndarray
    least_motion: bool = False

    def goal_at(self, chain: int, row: int) -> Goal:
        wishes = {name: getattr(self, name) for name in ("swivel", "flip", "softness", "stretch_max")}
        own = {name: wish[chain, _at(row, wish.shape[1])].item() for name, wish in wishes.items()}
        pole = self.poles[chain, row].tolist() if self.has_pole[chain] else None
        return Goal(self.targets[chain, row].tolist(), pole, **own)


@dataclass(frozen=True, slots=True)
class SolvedRows:
    """Solved rows of m chains of k links.

    turns: array (m, n, k, 4), how each link turned from its starting pose, root first, in the chain's space: unit
    quaternions w, x, y, z of either sign. outcomes: array (m, n), of `Outcome`. stretches: array (m, n), the ratios by
    which the chains are longer than they start.
    """

    turns: np.ndarray
    outcomes: np.ndarray
    stretches: np.ndarray


@dataclass(slots=True)
class _Aims:
    """What `Aim` is for one entry.

    frame: (3, 5, m, n), the unit vectors along, normal and side of the bend frame at the target; along is wide.
    held: (m, n), the distance from the root at which the end is held before the chain lengthens.
    outcomes, stretches: see `SolvedRows`.
    regular: (m, n), False if the entry has to be solved alone.
    """

    frame: np.ndarray
    held: np.ndarray
    outcomes: np.ndarray
    stretches: np.ndarray
    regular: np.ndarray


# Starting poses


def start_rows(joints: np.ndarray, hinges: np.ndarray) -> StartRows:
    """The starting poses of m chains of k links over n rows; for both arrays see `StartRows`.

    Raises ChainError for joints that are not finite points.
    """
    joints, hinges = np.asarray(joints, float), np.asarray(hinges, float)
    at = np.ascontiguousarray(joints.transpose(2, 3, 0, 1))
    # What is not regular may divide by zero; it is replaced in the end.
    with np.errstate(all="ignore"):
        links = at[1:] - at[:-1]
        lengths = np.sqrt(np.add.reduce(links * links, axis=1))
        directions = links / lengths[:, None]
        near, far = _reach(lengths)
        along, side, regular = _frames(at, lengths, components_first(hinges), directions)
        starts = StartRows(
            joints, hinges, {}, at[0], along, side, np.maximum(ROUNDING * far[0], SMALL), lengths, near, far, directions
        )
        for place in np.argwhere(~regular).tolist():
            _look_at(starts, *place)
        return replace(starts, links=_unrolled(directions, cross(side, along))) if starts.count == 2 else starts


def _frames(
    at: np.ndarray, lengths: np.ndarray, hinges: np.ndarray, directions: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The bend frames (3, m, n), along and side, and where they are regular, (m, n).

    at: the joints, (k + 1, 3, m, n). lengths, directions: of the links, (k, m, n) and (k, 3, m, n). hinges: (3, m, n or
    1).
    """
    total = np.add.reduce(lengths)
    to_end = at[-1] - at[0]
    away = length(to_end)
    along = to_end / away
    bulge = np.add.reduce(at[1:-1] - at[0])
    before = np.cumsum(lengths[:-1], axis=0)
    one_radian = np.add.reduce(before * (total - before)) / total
    side = bulge - along * dot(bulge, along)
    off_line, limit = length(side), np.maximum(STRAIGHT * one_radian, ROUNDING * length(bulge))
    side /= off_line
    # Next to the limit, where rounding decides, the scalar code does.
    bent, straight = off_line > 2.0 * limit, off_line <= 0.5 * limit
    if straight.any():
        normal = hinges - along * dot(hinges, along)
        off_hinge, size = length(normal), length(hinges)
        straight &= (off_hinge > OFF_HINGE * size) & (size <= LARGEST)
        np.copyto(side, cross(along, normal / off_hinge), where=straight)
    unsure = False
    if len(lengths) == 3:
        # See `bending._shape`.
        normal = cross(directions[0], directions[1])
        normal -= along * dot(normal, along)
        size = length(normal)
        first, unsure = size > 2.0 * STRAIGHT, (size > 0.5 * STRAIGHT) & (size <= 2.0 * STRAIGHT)
        np.copyto(side, cross(along, normal / size), where=first)
        bent |= first
    # With NaN no comparison is true.
    regular = (bent | straight) & (away > 2.0 * ROUNDING * total) & (total > SMALL)
    regular &= (np.minimum.reduce(lengths) > 2.0 * SHORT * total) & np.logical_not(unsure)
    regular &= np.abs(at).max(axis=(0, 1)) <= LARGEST
    return along, side, regular


def _look_at(starts: StartRows, chain: int, row: int) -> None:
    """Let `start_of` find the frame of a pose that is not regular, and whether its rows may be."""
    start, place = start_of(starts.chain_at(chain, row)), (slice(None), chain, row)
    starts.along[place], starts.side[place] = start.frame.along, start.frame.side
    lengths, (near, far) = starts.lengths[place], start.reach[0]
    fine = far - near > SLIVER * far if len(lengths) == 2 else min(lengths) > SHORT * far
    starts.noise[chain, row] = start.noise if fine else inf


def _reach(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What `reach_limits` gives, from the lengths."""
    near, far = lengths.copy(), lengths.copy()
    for k in range(len(lengths) - 2, -1, -1):
        far[k] += far[k + 1]
        np.maximum(near[k + 1] - lengths[k], lengths[k] - far[k + 1], out=near[k])
        np.maximum(near[k], 0.0, out=near[k])
    return near, far


def _unrolled(directions: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """The inverses of `rolled`, (2, 4, m, n), of two links (2, 3, m, n) and a bend normal (3, m, n)."""
    along = directions.swapaxes(0, 1)
    across = normalized(normal[:, None] - along * dot(along, normal[:, None]))
    axes = np.array((along, across, cross(along, across)))
    unrolled = normalized(raw_quaternions(axes))
    np.negative(unrolled[1:], out=unrolled[1:])
    return unrolled.swapaxes(0, 1)


# Solving


def solve_rows(starts: StartRows, goals: GoalRows) -> SolvedRows:
    """Solve m chains of k links over n rows: two links in closed form, any other number by Triangulation.

    Raises ChainError for what `solve` refuses, and for least motion of more links.
    """
    if goals.least_motion and starts.count != 2:
        raise ChainError(messages.NO_ROWS())
    # What is not regular may divide by zero; it is replaced in the end.
    with np.errstate(all="ignore"):
        aims = _aims(starts, goals)
        turns = _bent(starts, goals, aims) if starts.count == 2 else _triangulated(starts, goals, aims)
    solved = SolvedRows(turns.transpose(2, 3, 1, 0), aims.outcomes, aims.stretches)
    if not aims.regular.all():
        for k, j in np.argwhere(~aims.regular).tolist():
            chain = starts.chain_at(k, j)
            solution = solve(chain, goals.goal_at(k, j))
            solved.turns[k, j] = link_rotations(chain, solution)
            solved.outcomes[k, j] = solution.outcome
            solved.stretches[k, j] = solution.stretch
    return solved


def _aims(starts: StartRows, goals: GoalRows) -> _Aims:
    """Where the chains shall point and bend, and how far their ends shall reach."""
    size = goals.targets.shape[:2]
    frame, to_pole = np.empty((3, 5, *size)), np.empty((5, *size))
    along, normal, side = frame
    np.subtract(goals.targets.transpose(2, 0, 1), starts.roots, out=along[:3])
    distance = np.sqrt(_dot(along, along))
    along[:3] /= distance
    along[3:] = along[:2]
    np.subtract(goals.poles.transpose(2, 0, 1), starts.roots, out=to_pole[:3])
    if not goals.has_pole.all():
        free = np.flatnonzero(~goals.has_pole)
        to_pole[:3, free] = _own_sides(starts.along[:, free], starts.side[:, free], along[:3, free])
    to_pole[3:] = to_pole[:2]
    _cross(to_pole, along, normal)
    off_line, in_line = _dot(normal, normal), _dot(to_pole, along)
    # With NaN no comparison is true.
    regular = (in_line * in_line < OFF_LINE * off_line) & (OFF_LINE * off_line < TOO_FAR)
    regular &= (starts.noise < distance) & (distance <= LARGEST)
    normal[:3] /= np.sqrt(off_line)
    normal[3:] = normal[:2]
    _cross(along, normal, side)
    if goals.swivel.any():
        regular &= np.isfinite(goals.swivel)
        c, s = np.cos(goals.swivel), np.sin(goals.swivel)
        normal[:3], side[:3] = c * normal[:3] + s * side[:3], c * side[:3] - s * normal[:3]
    near, far = starts.near[0], starts.far[0]
    held, stretches = _held(distance, far, goals, regular)
    reach = far * stretches
    slack = MET * reach
    outcomes = np.where(distance > reach + slack, Outcome.TOO_FAR, Outcome.REACHED)
    outcomes[distance < near - slack] = Outcome.TOO_NEAR
    return _Aims(frame, held, outcomes, stretches, regular)


def _held(distance: np.ndarray, far: np.ndarray, goals: GoalRows, regular: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At which distances the ends are held before the chains lengthen, and by how much these lengthen (see chain.py).

    Entries whose wishes are out of range are taken out of `regular`.
    """
    held, softness, stretch_max = distance, goals.softness, goals.stretch_max
    if softness.any():
        regular &= (softness >= 0.0) & (softness <= 0.5)
        span = softness * far
        beyond = distance - (far - span)
        held = np.where((span > 0.0) & (beyond > 0.0), far - span * np.exp(-beyond / span), distance)
    if (stretch_max == 1.0).all():
        return held, np.ones(distance.shape)
    regular &= (stretch_max >= 1.0) & (stretch_max < inf)
    longest = np.minimum(held, far)
    return held, np.where(distance > longest, np.minimum(distance / longest, stretch_max), 1.0)


def _own_sides(start: np.ndarray, side: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Where chains without a pole bulge, brought to their targets by the shortest way; NaN for a target behind them.

    start, side: of the starting pose; along: unit vectors to the targets; all (3, m, n). That way takes v, square to
    start, to v - (start + along) * (v . along) / (1 + start . along). Here it is of another length and lacks the part
    along; neither changes the plane.
    """
    # As float32 it is not quite of unit length, which counts where the cosine is near -1.
    start = normalized(start)
    cosine = dot(start, along)
    moved = side * (1.0 + cosine) - start * dot(side, along)
    moved[:, cosine <= BEHIND] = np.nan
    return moved


# Two links


def _bent(starts: StartRows, goals: GoalRows, aims: _Aims) -> np.ndarray:
    """How two links turn, (4, 2, m, n): their triangle, as `two_links` and `link_rotations` have it."""
    (first, second), near, far = starts.lengths, starts.near[0], starts.far[0]
    # For each link and component of a quaternion: that part of its product with `links`.
    unrolled = starts.links.swapaxes(0, 1)[PLACES] * SIGNS
    # Clamped, the parts along become the links themselves with their signs, and nothing is left aside.
    base = np.minimum(np.maximum(aims.held, near), far)
    twice, half = 2.0 * base, 0.5 * base
    shift = (first - second) * far / twice
    aside = np.sqrt((far - base) * (base - near) * (far + base) * (base + near)) / twice
    if goals.flip.any():
        aside = np.where(goals.flip, -aside, aside)
    # The links bend about the frame's normal, which is its second axis; a quaternion has half the angle.
    bends = 0.5 * np.arctan2((-aside, aside), (half + shift, half - shift))
    c, s = np.cos(bends), np.sin(bends)
    aimed = raw_quaternions(aims.frame[:, :3])[:, None]
    bent: np.ndarray = c * aimed
    bent[:2] -= s * aimed[2:]
    bent[2:] += s * aimed[:2]
    turns = bent[0] * unrolled[0]
    for k in (1, 2, 3):
        turns += bent[k] * unrolled[k]
    # Here at last all that was not quite of unit length: the frame's quaternion, and the chains' own float32.
    turns /= length(turns)
    return turns


# Any other number of links


def _triangulated(starts: StartRows, goals: GoalRows, aims: _Aims) -> np.ndarray:
    """How the links turn, (4, k, m, n), as `triangulation` and `link_rotations` have it.

    Takes entries out of `aims.regular` where a link does not show which way it turns.
    """
    own = np.array((starts.along, cross(starts.side, starts.along), starts.side))
    unturned = raw_quaternions(own)
    np.negative(unturned[1:], out=unturned[1:])
    turn = normalized(product(raw_quaternions(aims.frame[:, :3]), unturned))
    directions = np.concatenate((starts.links, starts.links[:, :2]), axis=1)
    if not goals.flip.any():
        return _opened(starts, aims, _wide_quaternions(turn), directions, aims.frame[2, :3])[1]
    # Mirrored to the other side of the bend is the opposite, turned half round the side.
    side, sign = aims.frame[2, :3], np.where(goals.flip, -1.0, 1.0)
    half_turn = np.concatenate((np.zeros((1, *side.shape[1:])), side))
    mirrored = _wide_quaternions(np.where(goals.flip, product(half_turn, turn), turn))
    links, turns = _opened(starts, aims, mirrored, directions * sign, side * sign)
    carried = _wide_quaternions(turn)
    for k, link in enumerate(links):
        carried = _swung(carried, _turned(carried, directions[k]), link, starts, aims)
        turns[:, k] = carried[:4]
    return turns


def _opened(
    starts: StartRows, aims: _Aims, carried: np.ndarray, directions: np.ndarray, bulge: np.ndarray
) -> tuple[list[np.ndarray], np.ndarray]:
    """One triangle a link: the solved links, k wide vectors (5, m, n), and the rotations carried there, (4, k, m, n).

    carried: (6, m, n), wide quaternions that turn the starting pose to the goal. directions: (k, 5, m, n), of its
    links. bulge: (3, m, n), unit vectors towards which the joints bend.
    """
    count, regular, frame = starts.count, aims.regular, aims.frame
    # Each link leaves at least what the shortest one spans, so that there is always a direction to the target.
    to_target = frame[0] * aims.held
    rounding = 4.0 * ROUNDING * starts.far[0]
    links, turns = [], np.empty((4, count, *aims.held.shape))
    straight = np.zeros(aims.held.shape, bool)
    for k, span in enumerate(starts.lengths):
        current = _turned(carried, directions[k])
        distance = np.sqrt(_dot(to_target, to_target))
        toward = to_target / distance
        if k < count - 1:
            far = starts.far[k + 1]
            # There rounding decides whether a link points straight away from its target, or bends aside at random.
            regular &= np.abs(far - span - distance) > rounding
            remaining = _remaining(distance, span, starts.near[k + 1], far)
            opened = _triangles(span, distance, remaining, straight)
            link = _beside(*opened, toward, current, bulge, regular)
            to_target = to_target - link * span
            # "Full triangle has been formed" (section 3.1.2): the rest is straight.
            straight |= remaining == far
        else:
            link = toward
        links.append(link)
        carried = _swung(carried, current, link, starts, aims)
        turns[:, k] = carried[:4]
    return links, turns


def _remaining(distance: np.ndarray, link: np.ndarray, near: np.ndarray, far: np.ndarray) -> np.ndarray:
    """Which distance to the target a link leaves: the largest possible from near to far, as in `triangulation`."""
    folded, straight = np.abs(distance - link), distance + link
    highest = np.minimum(far, straight)
    apart = np.maximum(near, folded) > highest
    if apart.any():
        return np.where(apart, np.where(far < folded, folded, straight), highest)
    return highest


def _triangles(
    link: np.ndarray, distance: np.ndarray, remaining: np.ndarray, straight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Cosines and sines of the angles between links and their targets, (m, n); see `_open_triangle`.

    straight: where the rest of the chain points to its target.
    """
    shorter, longer = distance - link, distance + link
    rise = np.maximum((remaining - shorter) * (remaining + shorter), 0.0)
    run = np.maximum((longer - remaining) * (longer + remaining), 0.0)
    both = run + rise
    cosine, sine = (run - rise) / both, 2.0 * np.sqrt(rise * run) / both
    if straight.any():
        cosine[straight], sine[straight] = 1.0, 0.0
    return cosine, sine


def _beside(
    cosine: np.ndarray,
    sine: np.ndarray,
    toward: np.ndarray,
    current: np.ndarray,
    bulge: np.ndarray,
    regular: np.ndarray,
) -> np.ndarray:
    """Wide unit vectors at an angle to `toward`, on the side of `current`; in line with it on the side of `bulge`.

    Takes entries out of `regular` where rounding decides between the two.
    """
    aside = current - toward * _dot(current, toward)
    size = np.sqrt(_dot(aside, aside))
    in_line = (size <= 2.0 * STRAIGHT) & (sine > 0.0)
    if in_line.any():
        by_goal = bulge - toward[:3] * _dot(bulge, toward)
        off_goal = length(by_goal)
        clearly = in_line & (size <= 0.5 * STRAIGHT) & (off_goal > OFF_HINGE)
        regular &= clearly | ~in_line
        aside = np.where(clearly, np.concatenate((by_goal, by_goal[:2])), aside)
        size = np.where(clearly, off_goal, size)
    return toward * cosine + aside * (sine / np.maximum(size, SMALL))


# Wide arrays repeat the first two components of vectors, so that a cross product takes slices. A wide quaternion has
# its first component in front of a wide vector.


def _wide_quaternions(a: np.ndarray) -> np.ndarray:
    return np.concatenate((a, a[1:3]))


def _turned(a: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Wide vectors (5, m, n) turned by wide unit quaternions (6, m, n)."""
    twice, moved = np.empty(a[1:].shape), np.empty(a[1:].shape)
    _cross(a[1:], vectors, twice)
    twice[:3] += twice[:3]
    twice[3:] = twice[:2]
    _cross(a[1:], twice, moved)
    moved[:3] += a[0] * twice[:3]
    moved[:3] += vectors[:3]
    moved[3:] = moved[:2]
    return moved


def _swung(carried: np.ndarray, start: np.ndarray, end: np.ndarray, starts: StartRows, aims: _Aims) -> np.ndarray:
    """Rotations followed by the shortest swings from start to end; see `swing`. All wide, vectors of unit length."""
    swings, swung = np.empty(carried.shape), np.empty(carried.shape)
    cosine = _dot(start, end)
    np.add(cosine, 1.0, out=swings[0])
    _cross(start, end, swings[1:])
    opposite = cosine <= OPPOSITE
    if opposite.any():
        _swing_half_round(swings, start, opposite, starts, aims)
    swings[4:] = swings[1:3]
    np.subtract(swings[0] * carried[0], _dot(swings[1:], carried[1:]), out=swung[0])
    _cross(swings[1:], carried[1:], swung[1:])
    swung[1:4] += swings[0] * carried[1:4]
    swung[1:4] += carried[0] * swings[1:4]
    swung[:4] /= length(swung[:4])
    swung[4:] = swung[1:3]
    return swung


def _swing_half_round(
    swings: np.ndarray, start: np.ndarray, opposite: np.ndarray, starts: StartRows, aims: _Aims
) -> None:
    """Where start and end are opposite, turn half round the normal of the bend, then by the little that is left.

    Takes entries out of `aims.regular` where rounding decides whether they are opposite: close to it, and at the limits
    of the chain's reach, where links bend by the square root of a rounding.
    """
    near, far = starts.near[0], starts.far[0]
    inside = np.minimum(np.abs(aims.held - near), np.abs(aims.held - far)) > 8.0 * ROUNDING * far
    square = aims.frame[1, :3] - start[:3] * _dot(aims.frame[1], start)
    off_line = length(square)
    clearly = opposite & inside & (length(swings[1:4]) <= 0.5 * STRAIGHT) & (off_line > OFF_HINGE)
    aims.regular &= clearly | ~opposite
    half_turn = np.concatenate((np.zeros((1, *off_line.shape)), square / off_line))
    rest = np.concatenate(((2.0 - swings[0])[None], -swings[1:4]))
    np.copyto(swings[:4], product(rest, half_turn), where=clearly)


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.add.reduce(a[:3] * b[:3])


def _cross(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    np.subtract(a[1:4] * b[2:5], a[2:5] * b[1:4], out=out[:3])


def _at(row: int, count: int) -> int:
    """Where a row is in an array of all rows, or of one for all."""
    return row if count > 1 else 0
