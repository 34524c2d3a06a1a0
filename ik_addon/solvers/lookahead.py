"""Triangulation for chains whose joints are cones: one pass that looks one joint ahead."""

from collections.abc import Sequence
from itertools import pairwise
from math import acos, atan2, cos, hypot, pi, sin

from .chain import reach_limits

_STEPS = 24
_HALVINGS = 30
_SLACK = 1e-9


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
    return [_wrapped(b - a) for a, b in pairwise(directions)]


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
            if k and abs(_wrapped(direction - before)) > self.cones[k] + _SLACK:
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
        given = abs(_wrapped(before - toward))
        nearest, farthest = (abs(_wrapped(self._two(k, x, y, rest)[1] - toward)) for rest in (lowest, highest))
        return max(nearest - given, given - farthest) <= self.cones[k] + _SLACK


def _wrapped(angle: float) -> float:
    return (angle + pi) % (2.0 * pi) - pi
