"""The shapes of a limited chain: its inner joints' turns, with the root at zero; how far each holds the end.

Chains of cones in one plane are bent in one pass, by Triangulation that looks one joint ahead."""

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from math import acos, asin, atan2, cos, hypot, inf, pi, sin, sqrt, tau
from typing import NamedTuple

from mathutils import Quaternion, Vector

from .bending import BendFrame
from .chain import reach_limits
from .limits import AT_LIMIT, Joint
from .vectors import cosine_wave, unit_across, wrapped

Turns = list[Quaternion]

EXACT = 2.0**-23
ROUNDED = 8.0
"""Roundings of a span that are no reason to leave the shape to start from: the way back to it may be long."""
_DIGITS = 6
_SWEEPS = 300
_NEGLIGIBLE = 1e-6
_SCATTERED = 12
SPREAD = 0.7548776662466927
"""A number whose multiples fall evenly between whole ones (the plastic number's inverse)."""


class Bend(NamedTuple):
    """A joint that bends about one axis: a hinge, or a ball in the bend plane. zero, axis: in the zero pose."""

    length: float
    zero: tuple[float, float, float]
    axis: tuple[float, float, float]
    lowest: float
    highest: float


def links(joints: Sequence[Joint], turns: Sequence[Quaternion]) -> list[Vector]:
    """Directions of a chain's links for the turns of its joints."""
    carried, directions = Quaternion(), []
    for joint, turn in zip(joints, turns, strict=True):
        carried = carried @ turn
        directions.append(carried @ joint.zero)
    return directions


def end_of(joints: Sequence[Joint], lengths: Sequence[float], turns: Sequence[Quaternion]) -> Vector:
    """Where a chain ends, from its root."""
    end = Vector((0.0, 0.0, 0.0))
    for along, length in zip(links(joints, turns), lengths, strict=True):
        end += along * length
    return end


class Shapes:
    """The shapes of one chain. normal: of the plane in which its ball joints bend, in the zero pose.

    one_way: whether a shape's mirror image, every bend the opposite, need not be legal.
    """

    def __init__(self, joints: Sequence[Joint], lengths: Sequence[float], normal: Vector) -> None:
        self.joints, self.lengths, self.normal = joints, lengths, normal
        self._bends = [joint.bend(normal) for joint in joints]
        self.one_way = any(joint.bends_one_way for joint in joints[1:])

    @cached_property
    def _key(self) -> tuple[Bend, ...]:
        """The chain as seen from its own first link and normal: it looks the same in every pose, so what is searched
        for it is kept."""
        zero = self.joints[0].zero
        seen_from = BendFrame(zero, zero.cross(unit_across(self.normal, zero))).rotation().inverted()
        scale = sum(self.lengths) or 1.0
        return tuple(
            Bend(
                round(length / scale, _DIGITS),
                _rounded(seen_from @ joint.zero),
                _rounded(seen_from @ axis),
                round(lowest, _DIGITS),
                round(highest, _DIGITS),
            )
            for joint, length, (axis, lowest, highest) in zip(self.joints, self.lengths, self._bends, strict=True)
        )

    def bent(self, angles: Sequence[float]) -> Turns:
        """The shape for the angles of the inner joints, within their ranges."""
        turns = [Quaternion()]
        for (axis, lowest, highest), angle in zip(self._bends[1:], angles, strict=True):
            turns.append(Quaternion(axis, min(max(angle, lowest), highest)))
        return turns

    @property
    def longest(self) -> Turns:
        """The shape that holds the end farthest from the root."""
        if len(self.lengths) == 2:
            return self.bent([self._opened(sum(self.lengths))])
        return self.bent(_longest(self._key))

    @property
    def shortest(self) -> Turns:
        """The shape that holds the end nearest to the root; of two mirror images, the one on the normal's side."""
        shape = self.bent(shortest_angles(self._key))
        # What it encloses with the line back to its root is positive where it bends about the normal.
        area, end = Vector((0.0, 0.0, 0.0)), Vector((0.0, 0.0, 0.0))
        for along, length in zip(links(self.joints, shape), self.lengths, strict=True):
            area += end.cross(along) * length
            end += along * length
        return _mirrored(shape) if not self.one_way and area.dot(self.normal) < 0.0 else shape

    def span(self, turns: Turns) -> float:
        """How far a shape holds the end from the root."""
        return end_of(self.joints, self.lengths, turns).length

    def folded(self, distance: float, start: Turns | None) -> Turns:
        """The shape that holds the end at `distance`; out of reach, the longest or the shortest.

        It lies on the straight way, in the numbers of the joints, from `start` to the longest or the shortest
        shape; without a start, from the longest to the shortest.
        """
        if len(self.lengths) == 2 and start is None:
            return self.bent([self._opened(distance)])
        origin, start = start, self.longest if start is None else start
        span = self.span(start)
        slack = EXACT * sum(self.lengths)
        if abs(span - distance) <= ROUNDED * slack:
            return start
        extreme = self.longest if span < distance else self.shortest
        if span >= distance and origin is not None and not self.one_way:
            # The way to its mirror image, which cones alone allow as they allow the shape, may lead through straight.
            extreme = max(
                (extreme, _mirrored(extreme)),
                key=lambda turns: sum(abs(a.dot(b)) for a, b in zip(origin, turns, strict=True)),
            )
        miss_start, miss_extreme = span - distance, self.span(extreme) - distance
        if miss_start * miss_extreme >= 0.0:
            return extreme

        def miss(part: float) -> float:
            return self.span(self.between(start, extreme, part)) - distance

        return self.between(start, extreme, part_at(miss, miss_start, miss_extreme, slack))

    def between(self, start: Turns, end: Turns, part: float) -> Turns:
        """The shape at `part` of the way from one to another."""
        triples = zip(self.joints, start, end, strict=True)
        return [start[0], *(joint.between(a, b, part) for joint, a, b in list(triples)[1:])]

    def _opened(self, distance: float) -> float:
        """The one inner angle of two links that holds their end at `distance`, by the law of cosines for half of it.

        The link turns on a cone about the axis; where both sides are legal, by the right-hand rule about the normal.
        """
        first, second = self.lengths
        axis, lowest, highest = self._bends[1]
        base, zero = self.joints[0].zero, self.joints[1].zero
        level, amplitude, straight = cosine_wave(zero, axis, base)
        size = first * second * amplitude
        if not size:
            return min(max(0.0, lowest), highest)
        far = sqrt(max(0.0, (first - second) ** 2 + 2.0 * first * second * (1.0 + level + amplitude)))
        near = sqrt(max(0.0, (first - second) ** 2 + 2.0 * first * second * (1.0 + level - amplitude)))
        rise = sqrt(max(0.0, (far - distance) * (far + distance)))
        run = sqrt(max(0.0, (distance - near) * (distance + near)))
        bend = 2.0 * atan2(rise, run)
        side = bend if axis.dot(self.normal) >= 0.0 else -bend
        angles = [straight + turn + half for half in (side, -side) for turn in (0.0, tau, -tau)]
        for angle in angles:
            if lowest <= angle <= highest:
                return angle
        # Neither is legal: the end of the range that holds the end nearer to the distance; of two alike, on this side.
        ends = (highest, lowest) if side >= 0.0 else (lowest, highest)
        missed = [abs(sqrt(max(0.0, far * far - 2.0 * size * (1.0 - cos(end - straight)))) - distance) for end in ends]
        return ends[0] if missed[0] <= missed[1] + 1e-6 * far else ends[1]


def _mirrored(shape: Turns) -> Turns:
    return [turn.inverted() for turn in shape]


def part_at(miss: Callable[[float], float], miss_low: float, miss_high: float, slack: float) -> float:
    """The part of a way, 0 to 1, at which what is missed changes its sign; its ends miss by `miss_low`, `miss_high`.

    Regula falsi that halves the value of an end that stays (Illinois).
    """
    low, high, part = 0.0, 1.0, 0.0
    for _ in range(60):
        part = (low * miss_high - high * miss_low) / (miss_high - miss_low)
        missed = miss(part)
        if abs(missed) <= slack or high - low < 1e-7:
            break
        if (missed > 0.0) == (miss_high > 0.0):
            high, miss_high, miss_low = part, missed, miss_low / 2.0
        else:
            low, miss_low, miss_high = part, missed, miss_high / 2.0
    return part


def _rounded(vector: Vector) -> tuple[float, float, float]:
    x, y, z = vector
    return round(x, _DIGITS), round(y, _DIGITS), round(z, _DIGITS)


@lru_cache(maxsize=512)
def _longest(bends: tuple[Bend, ...]) -> tuple[float, ...]:
    """Angles of the inner joints that hold the end farthest from the root."""
    zeros = [min(max(0.0, bend.lowest), bend.highest) for bend in bends[1:]]
    return _extreme(bends, zeros, 1.0)


@lru_cache(maxsize=512)
def shortest_angles(bends: tuple[Bend, ...]) -> tuple[float, ...]:
    """Angles of the inner joints that hold the end nearest to the root: the best of a few searches."""
    best = _best_of(bends, _starts(bends), (inf, ()))
    while best[0] > _NEGLIGIBLE:
        # From the best one on: with one joint straight, or bent the other way.
        near_by = [
            [*best[1][:k], angle, *best[1][k + 1 :]] for k in range(len(best[1])) for angle in (0.0, -best[1][k])
        ]
        better = _best_of(bends, near_by, best)
        if better is best:
            break
        best = better
    return best[1]


def _best_of(
    bends: tuple[Bend, ...], starts: Sequence[Sequence[float]], best: tuple[float, tuple[float, ...]]
) -> tuple[float, tuple[float, ...]]:
    """The shortest span found from several starts, with its angles; `best` where none is shorter."""
    for start in starts:
        if best[0] <= _NEGLIGIBLE:
            break
        found = _extreme(bends, start, -1.0)
        span = _placed(bends, found)[0][-1].length
        if span < best[0] - _NEGLIGIBLE:
            best = (span, found)
    return best


def _starts(bends: Sequence[Bend]) -> list[list[float]]:
    """Curls to begin the search for the shortest shape with, those to the normal's side first."""
    inner = bends[1:]
    count = len(inner)

    def toward(bend: Bend, angle: float) -> float:
        return min(max(angle if bend.axis[1] >= 0.0 else -angle, bend.lowest), bend.highest)

    curls = [tau / (count + 1), pi, pi / 2.0, pi / 4.0]
    starts = [[toward(bend, curl) for bend in inner] for curl in curls]
    for width in (1, 2, 3):
        starts.append([toward(bend, 2.0 if (k // width) % 2 == 0 else -2.0) for k, bend in enumerate(inner)])
    starts += [[toward(bend, pi if k == one else 0.3) for k, bend in enumerate(inner)] for one in range(count)]
    starts.append([toward(bend, -tau / (count + 1)) for bend in inner])
    for number in range(1, _SCATTERED + 1):
        parts = [(number * SPREAD * (k + 1)) % 1.0 for k in range(count)]
        starts.append([toward(bend, (2.0 * part - 1.0) * pi) for bend, part in zip(inner, parts, strict=True)])
    return starts


def _extreme(bends: Sequence[Bend], angles: Sequence[float], sign: float) -> tuple[float, ...]:
    """Coordinate ascent (sign 1) or descent (-1) of the end's distance, with the exact best angle at each joint."""
    found = [min(max(angle, bend.lowest), bend.highest) for angle, bend in zip(angles, bends[1:], strict=True)]
    before = -1.0
    for _ in range(_SWEEPS):
        points, axes = _placed(bends, found)
        end = points[-1]
        for k in range(len(found) - 1, -1, -1):
            bend, joint, axis = bends[k + 1], points[k + 1], axes[k + 1]
            lever = end - joint
            across_lever = lever - axis * axis.dot(lever)
            c, s = joint.dot(across_lever) * sign, axis.cross(lever).dot(joint) * sign
            if hypot(c, s) <= 1e-9:
                continue
            # The legal angle nearest on the circle to the peak of a sinusoid.
            middle = (bend.lowest + bend.highest) / 2.0
            peak = middle + wrapped(found[k] + atan2(s, c) - middle)
            new = min(max(peak, bend.lowest), bend.highest)
            end = joint + Quaternion(axis, new - found[k]) @ lever
            found[k] = new
        span = end.length
        if abs(span - before) <= 1e-8:
            break
        before = span
    return tuple(found)


def _placed(bends: Sequence[Bend], angles: Sequence[float]) -> tuple[list[Vector], list[Vector]]:
    """Joints of a bent chain, and the axes of its joints as carried by the links before them."""
    carried = Quaternion()
    points, axes = [Vector((0.0, 0.0, 0.0))], []
    for bend, angle in zip(bends, (0.0, *angles), strict=True):
        axis = carried @ Vector(bend.axis)
        carried = carried @ Quaternion(bend.axis, angle)
        axes.append(axis)
        points.append(points[-1] + carried @ Vector(bend.zero) * bend.length)
    return points, axes


_STEPS = 24
_HALVINGS = 30
_SLACK = 1e-9
"""Radians by which a bend may pass its cone before it is brought back to it: what rounding costs."""


def look_ahead(lengths: Sequence[float], cones: Sequence[float], distance: float) -> list[float] | None:
    """Bends in radians of a chain's inner joints that hold its end at `distance` from its root; None: it found none.

    cones: the largest bend of each inner joint. The chain lies in one plane: whatever links limited by cones reach in
    space, they reach in a plane as well.

    Source: R. Mueller-Cajar and R. Mukundan, "Triangulation: a new algorithm for inverse kinematics", sections 3.1.3
    and 3.2. There the links after a joint count as straight, or as folded up where straight would break the next
    joint's limit, and the angle that is tested lies to their chord, not to the next link. So it misses targets that
    need them partly folded, and ones whose chord is not along the link. Here a joint leaves them any distance that
    they can span, the largest first as in the paper, and only one at which the next joint has a legal angle left; the
    last two joints, which have no choice, are tested to the end.

    Not complete from three links on, as one joint ahead can be too short a sight and the distances are sampled:
    [1, 1, 1] with cones of 90 and 30 degrees and the target at 2.0 is missed. Three links have a closed form, which
    misses nothing (`cones`); what is missed of more links is folded as in `Shapes`.
    """
    size = max(lengths, default=0.0)
    if not size or not all(lengths):
        return None
    pass_ = _Pass([length / size for length in lengths], [pi, *cones], distance / size)
    directions = pass_.directions()
    if directions is None:
        return None
    return [wrapped(b - a) for a, b in pairwise(directions)]


class _Pass:
    """One pass in the plane: the root at the origin, the target on the positive x axis. Angles from that axis."""

    def __init__(self, lengths: list[float], cones: list[float], distance: float) -> None:
        self.lengths, self.cones, self.distance = lengths, cones, distance
        self.reach = reach_limits(lengths)

    def directions(self) -> list[float] | None:
        x = y = 0.0
        before, found = 0.0, []
        for k, length in enumerate(self.lengths):
            chosen = self._choose(k, x, y, before)
            if chosen is None:
                return None
            found.append(chosen)
            x, y, before = x + length * cos(chosen), y + length * sin(chosen), chosen
        return found if hypot(x - self.distance, y) <= 1e-7 * self.reach[0][1] else None

    def _choose(self, k: int, x: float, y: float, before: float) -> float | None:
        """The direction of link k that leaves the longest rest and is legal, also for the next joint."""
        lowest, highest = self._remaining(k, x, y)
        if lowest > highest + _SLACK:
            return None
        tried = None
        for step in range(_STEPS + 1):
            remaining = highest + (lowest - highest) * step / _STEPS
            found = self._legal(k, x, y, before, remaining)
            if found is None:
                tried = remaining
                continue
            if tried is None:
                return found
            # The longest legal rest lies between the last one tried in vain and this one.
            good = remaining
            for _ in range(_HALVINGS):
                middle = (tried + good) / 2.0
                direction = self._legal(k, x, y, before, middle)
                if direction is None:
                    tried = middle
                else:
                    good, found = middle, direction
            return found
        return None

    def _remaining(self, k: int, x: float, y: float) -> tuple[float, float]:
        """The distances to the target that link k may leave."""
        near, far = self.reach[k + 1]
        distance, length = hypot(self.distance - x, y), self.lengths[k]
        return max(near, abs(distance - length)), min(far, distance + length)

    def _legal(self, k: int, x: float, y: float, before: float, remaining: float) -> float | None:
        """The direction of link k that leaves `remaining`, of two the first that is legal; None: neither."""
        for direction in self._two(k, x, y, remaining):
            if k and abs(wrapped(direction - before)) > self.cones[k] + _SLACK:
                continue
            length = self.lengths[k]
            if self._next_is_legal(k + 1, x + length * cos(direction), y + length * sin(direction), direction):
                return direction
        return None

    def _two(self, k: int, x: float, y: float, remaining: float) -> tuple[float, float]:
        """The two directions of link k that leave `remaining`; bulging to the side of positive bends first."""
        distance, length = hypot(self.distance - x, y), self.lengths[k]
        toward = atan2(-y, self.distance - x)
        if not distance:
            return toward, toward
        cosine = (length * length + distance * distance - remaining * remaining) / (2.0 * length * distance)
        angle = acos(max(-1.0, min(1.0, cosine)))
        return toward - angle, toward + angle

    def _next_is_legal(self, k: int, x: float, y: float, before: float) -> bool:
        """Whether joint k has a legal angle that leaves the links after it what they can span."""
        count = len(self.lengths)
        if k >= count:
            return True
        lowest, highest = self._remaining(k, x, y)
        if lowest > highest + _SLACK:
            return False
        if k >= count - 2:
            # No choice is left: follow it to the end.
            return self._legal(k, x, y, before, max(lowest, min(highest, self.reach[k + 1][1]))) is not None
        toward = atan2(-y, self.distance - x)
        given = abs(wrapped(before - toward))
        nearest, farthest = (abs(wrapped(self._two(k, x, y, rest)[1] - toward)) for rest in (lowest, highest))
        return max(nearest - given, given - farthest) <= self.cones[k] + _SLACK


_NEAR = 0.03
"""Radians off its cone at which a bend is certainly not at its limit: there sines differ by more than `AT_LIMIT`."""

_ZERO, _AXIS = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
"""Of every joint of a chain that is straight in its zero pose, seen from its first link and its normal."""


def bends_at(lengths: Sequence[float], cones: Sequence[float], distance: float) -> list[float]:
    """Bends in radians of the inner joints that hold the end at `distance` from the root, or as near as cones let it.

    cones: the largest bend of each inner joint. The first joints bend first and the rest stays straight as long as it
    may. What the pass over the joints misses is folded: see `Shapes`, of which this is the plane case.
    """
    count = len(lengths)
    if count == 2:
        return [min(_opened(lengths[0], lengths[1], distance), cones[0])]
    if count < 2 or distance >= sum(lengths):
        return [0.0] * (count - 1)
    if all(lengths):
        found = _three(lengths, cones, distance) if count == 3 else look_ahead(lengths, cones, distance)
        if found is not None:
            return found
    return _folded(lengths, cones, distance)


def placed(lengths: Sequence[float], bends: Sequence[float]) -> tuple[list[float], float, float]:
    """The angles of the links of a bent chain to its first link, and where it ends, the first link along x."""
    angle, x, y = 0.0, lengths[0], 0.0
    angles = [angle]
    for k, bend in enumerate(bends, 1):
        angle += bend
        angles.append(angle)
        x += lengths[k] * cos(angle)
        y += lengths[k] * sin(angle)
    return angles, x, y


def at_limits(bends: Sequence[float], cones: Sequence[float]) -> tuple[bool, ...]:
    """Which joints stand at their limit, root first; a cone of half a turn is none. As `BallJoint.at_limit`."""
    return (False, *[cones[k] - abs(bend) < _NEAR and _at_limit(bend, cones[k]) for k, bend in enumerate(bends)])


def _at_limit(bend: float, cone: float) -> bool:
    return cone < pi and sin(abs(bend) / 2.0) >= sin(cone / 2.0) - AT_LIMIT


def _opened(first: float, second: float, distance: float) -> float:
    """The bend between two links that hold their end at `distance`, or as near to it as they can."""
    if not first or not second:
        return 0.0
    rise = (first + second - distance) * (first + second + distance)
    run = (distance - first + second) * (distance + first - second)
    return 2.0 * atan2(sqrt(max(0.0, rise)), sqrt(max(0.0, run)))


def _three(lengths: Sequence[float], cones: Sequence[float], distance: float) -> list[float] | None:
    """Bends of three links that leave the longest legal rest; None where the cones allow no such distance.

    Source: R. Mueller-Cajar and R. Mukundan, "Triangulation: a new algorithm for inverse kinematics", section 3.1.3,
    with its look ahead made exact. The rest after the first link may be as long as it is straight, or as the first link
    pointing away from the target leaves it. Where this bends the first joint too far, the longest legal rest has that
    joint at its limit: with a shorter one the second joint would bend more, and nothing else stops a longer one. The
    first two links are then one rigid link, which forms a last triangle with the third.
    """
    first, second, third = lengths
    cone, next_cone = cones
    rest = second + third
    if first + distance < rest:
        rest = first + distance
        after = _opened(second, third, rest)
        bend = pi - _between(second, rest, third)
    else:
        after = 0.0
        bend = _opened(first, rest, distance)
        if distance < first - rest:
            return None
    if bend > cone + _SLACK:
        chord_x, chord_y = first + second * cos(cone), second * sin(cone)
        chord = hypot(chord_x, chord_y)
        if not abs(chord - third) <= distance <= chord + third:
            return None
        # The chord is off the second link by the rest of its bend.
        bend, after = cone, _opened(chord, third, distance) - (cone - atan2(chord_y, chord_x))
    return [min(bend, cone), after] if abs(after) <= next_cone + _SLACK else None


def _between(first: float, second: float, opposite: float) -> float:
    """The angle of a triangle between two of its sides."""
    rise = (opposite - first + second) * (opposite + first - second)
    run = (first + second - opposite) * (first + second + opposite)
    return 2.0 * atan2(sqrt(max(0.0, rise)), sqrt(max(0.0, run)))


def _folded(lengths: Sequence[float], cones: Sequence[float], distance: float) -> list[float]:
    """Bends on the straight way from the straight shape to the shortest one, in the numbers that joints interpolate."""
    far = sum(lengths)
    sines, near = _shortest(tuple(lengths), tuple(cones))

    def between(part: float) -> list[float]:
        return [2.0 * asin(part * sine) for sine in sines]

    def miss(part: float) -> float:
        return hypot(*placed(lengths, between(part))[1:]) - distance

    if far - distance <= ROUNDED * EXACT * far:
        return between(0.0)
    return between(1.0 if distance <= near else part_at(miss, far - distance, near - distance, EXACT * far))


@lru_cache(maxsize=512)
def _shortest(lengths: tuple[float, ...], cones: tuple[float, ...]) -> tuple[tuple[float, ...], float]:
    """Of the shortest shape: sin(bend / 2) of each inner joint, and how far it holds the end from the root."""
    scale = sum(lengths) or 1.0
    bends = tuple(
        Bend(round(length / scale, _DIGITS), _ZERO, _AXIS, -round(cone, _DIGITS), round(cone, _DIGITS))
        for length, cone in zip(lengths, (pi, *cones), strict=True)
    )
    found = [max(-cone, min(cone, bend)) for bend, cone in zip(shortest_angles(bends), cones, strict=True)]
    area = x = y = 0.0
    for length, angle in zip(lengths, placed(lengths, found)[0], strict=True):
        step_x, step_y = length * cos(angle), length * sin(angle)
        area += x * step_y - y * step_x
        x, y = x + step_x, y + step_y
    # Of two mirror images the one that bends about the normal.
    sign = -1.0 if area < 0.0 else 1.0
    return tuple(sin(sign * bend / 2.0) for bend in found), hypot(x, y)
