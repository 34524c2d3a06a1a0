"""The numbers that docs/mathematics.md states and no formula there gives: `python -m benchmarks.mathematics`.

Also what `benchmarks.figures` draws beside the solvers: the sources' formulas, and measures of solutions. All random
chains and targets are the same on every run. It takes a few minutes.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import acos, atan2, cos, degrees, hypot, radians, sin, sqrt, tau
from random import Random

import bpy  # noqa: F401  (brings mathutils)
import numpy as np
from mathutils import Vector

from ik_addon.solvers import Chain, Goal, Hinge, Outcome, Solution, Swing, solve
from ik_addon.solvers.shapes import Shapes, end_of, look_ahead

ORIGIN = Vector((0.0, 0.0, 0.0))
SOFTNESSES = (0.05, 0.1, 0.2)
FOLDED = (9.0, 9.0, 9.0, 9.0, 4.0)
"""Links of the chain that several measures share: the paper's."""

Point = tuple[float, float]
Pair = tuple[np.float32, np.float32]


def straight(lengths: Sequence[float], along: Sequence[float] = (1.0, 0.0, 0.0), **limits: object) -> Chain:
    """A chain in line, from the origin; in the plane of the pictures it bends to the left."""
    return Chain(_in_line(lengths, Vector(along)), bend_normal=(0.0, 0.0, -1.0), **limits)


def _in_line(lengths: Iterable[float], along: Vector) -> list[Vector]:
    points = [ORIGIN]
    for length in lengths:
        points.append(points[-1] + along * length)
    return points


def bend_of(solution: Solution) -> float:
    """The angle between two links, in radians; sound near 0, where an arc cosine is not."""
    first, second = ([b - a for a, b in zip(*ends, strict=True)] for ends in pairwise(solution.joints))
    cross = hypot(*(first[i - 2] * second[i - 1] - first[i - 1] * second[i - 2] for i in range(3)))
    return atan2(cross, sum(a * b for a, b in zip(first, second, strict=True)))


def held_bends(places: Sequence[float], softness: float) -> list[float]:
    """Bends of two links of length 1/2 for targets at these distances."""
    chain = straight((0.5, 0.5))
    return [bend_of(solve(chain, Goal((place, 0.0, 0.0), softness=softness))) for place in places]


def largest_speed(softness: float, steps: int) -> float:
    """Largest change of the bend, in radians per length of the chain, as the target passes it in steps of 1/steps."""
    places = [k / steps for k in range(round(0.75 * steps), round(1.3 * steps) + 1)]
    return max(abs(b - a) * steps for a, b in pairwise(held_bends(places, softness)))


def printed(lengths: Sequence[float], target: Vector, along: Vector) -> tuple[list[np.ndarray], bool]:
    """Algorithm 1 of the Triangulation paper to the letter, in double precision: its joints, and whether it ended."""
    goal, current, points = np.array(target, float), np.array(along, float), [np.zeros(3)]
    for k, a in enumerate(lengths):
        b, to_target = sum(lengths[k + 1 :]), goal - points[-1]
        c = np.linalg.norm(to_target)
        if c == 0.0:
            return points, False
        toward = to_target / c
        if c >= a + b:
            turned = toward
        elif c < abs(a - b):
            turned = -toward
        else:
            theta = acos(np.clip(current @ toward, -1, 1)) - acos(-(b * b - a * a - c * c) / (2 * a * c))
            axis = np.cross(current, toward)
            size = np.linalg.norm(axis)
            axis = axis / size if size > 1e-12 else np.array((0.0, 1.0, 0.0))
            turned = current * cos(theta) + np.cross(axis, current) * sin(theta)
            turned += axis * (axis @ current) * (1.0 - cos(theta))
        points.append(points[-1] + a * turned)
        current = turned
    return points, True


def shapes_of(chain: Chain) -> Shapes:
    """The shapes of a chain with limits, bending to the left in the plane of the pictures."""
    assert chain.limits is not None
    return Shapes(chain.limits, chain.lengths, Vector((0.0, 0.0, -1.0)))


def bend_errors(bend: float, random: Random, count: int) -> Iterator[tuple[float, float, float]]:
    """Relative errors of the bend: held by the rounded points, solved, and by an arc cosine in single precision."""
    for _ in range(count):
        along, aside = any_direction(random), any_direction(random)
        root = any_direction(random) * random.uniform(0.1, 1.0)
        chain = Chain([root, root + along, root + along + aside])
        a, b = chain.lengths
        # Doubles from here on: mathutils would round them.
        distance = sqrt(a * a + b * b + 2.0 * a * b * cos(bend))
        unit = np.array(any_direction(random), float)
        unit /= np.linalg.norm(unit)
        target = Vector(np.array(root, float) + unit * distance)
        stored = float(np.linalg.norm(np.array(target, float) - np.array(root, float)))
        over, under = (a + b) - stored, stored - abs(a - b)
        held = 2.0 * atan2(sqrt(max(0.0, over * (a + b + stored))), sqrt(under * (stored + abs(a - b))))
        solution = solve(chain, Goal(target, root + Vector((0.3, 0.5, 0.9))))
        single = [np.float32(value) for value in (a, b, (target - root).length)]
        cosine = (single[2] ** 2 - single[0] ** 2 - single[1] ** 2) / (np.float32(2.0) * single[0] * single[1])
        by_cosine = float(np.arccos(np.clip(cosine, np.float32(-1.0), np.float32(1.0))))
        yield tuple(abs(value - bend) / bend for value in (held, bend_of(solution), by_cosine))


def any_direction(random: Random) -> Vector:
    """A unit vector; all directions are as likely."""
    while True:
        vector = Vector([random.uniform(-1.0, 1.0) for _ in range(3)])
        if 0.1 < vector.length < 1.0:
            return vector.normalized()


def ccd_residuals(lengths: Sequence[float], share: float, sweeps: Iterable[int]) -> list[float]:
    """Distance left by CCD after so many sweeps, as a part of the length; the target is in line with the chain."""
    module = sys.modules["ik_addon.solvers.any_chain"]
    usual, size = module.MAX_SWEEPS, sum(lengths)
    left = []
    for count in sweeps:
        module.MAX_SWEEPS = count
        left.append(solve(straight(lengths), Goal((share * size, 0.0, 0.0)), "CCD").residual / size)
    module.MAX_SWEEPS = usual
    return left


def link_angle(solution: Solution, joint: int) -> float:
    """A link's angle to the link before it, the root's to the line to the target, in degrees."""
    before = Vector((1.0, 0.0, 0.0)) if not joint else solution.directions[joint - 1]
    along = solution.directions[joint]
    return degrees(atan2(before.cross(along).length, before.dot(along)))


def numbers() -> Iterator[tuple[str, object]]:
    """A name and a value each."""
    yield from _formula_numbers()
    yield from _triangulation_numbers()
    yield from _limit_numbers()
    for share in (0.5, 0.8, 0.9, 0.99, 0.999):
        left = ccd_residuals((1.0, 1.0), share, range(1, 501))
        met = next((count for count, rest in enumerate(left, 1) if rest <= 1e-5), None)
        yield f"CCD, [1, 1] in line, target at {share}: sweeps to 1e-5", met
    random = Random(7)
    chain = straight(FOLDED)
    targets = [any_direction(random) * 40.0 * random.random() ** (1 / 3) for _ in range(1000)]
    missed = sum(solve(chain, Goal(target), "CCD").residual > 1e-5 * chain.length for target in targets)
    yield "CCD, 9 9 9 9 4, of 1000 targets in reach missed by over 1e-5 after 500 sweeps", missed
    for soft in (0.0, *SOFTNESSES):
        speeds = [round(largest_speed(soft, steps), 2) for steps in (24, 100, 1000)]
        bound = 2.0 / sqrt(soft * (2.0 - soft)) if soft else sqrt(8.0 * 24)
        yield (
            f"softness {soft}: largest speed, 24, 100, 1000 frames a length; bound (hard: at 24)",
            (*speeds, round(bound, 2)),
        )
    flat = straight((9.0, 9.0, 9.0, 9.0, 4.0))
    for step in (1e-2, 1e-3, 1e-4):
        ends = [solve(flat, Goal((22.0 - x, 0, 0), (0, 400, 0)), "TRIANGULATION") for x in (0.0, step)]
        turned = abs(link_angle(ends[0], 1) - link_angle(ends[1], 1))
        other = [solve(flat, Goal((22.0 + x, 0, 0), (0, 400, 0)), "TRIANGULATION") for x in (0.0, step)]
        yield (
            f"9 9 9 9 4: root turns within {step} beyond 22, degrees",
            abs(link_angle(other[0], 0) - link_angle(other[1], 0)),
        )
        yield f"9 9 9 9 4: joint 1 turns within {step} below 22, degrees", turned
    cones = straight(FOLDED, cones=(None, *[radians(60.0)] * 4))
    before, after = (solve(cones, Goal((place, 0, 0), (0, 400, 0))).joints for place in (26.96, 26.97))
    moved = max((a - b).length for a, b in zip(before, after, strict=True))
    yield "9 9 9 9 4, cones of 60°: largest move of a joint from distance 26.96 to 26.97", moved
    for bend in (0.1, 0.01, 1e-3, 3e-4):
        rows = np.median(np.array(list(bend_errors(bend, Random(1), 1000))), axis=0)
        yield f"median error of a bend of {bend}: points alone, solved, single precision", rows.tolist()


def _formula_numbers() -> Iterator[tuple[str, object]]:
    """The formulas of the two-bone sources, where they go wrong."""
    for d in (3.9, 4.1):
        share = 0.5 + 0.5 * (9.0 - 25.0) / (d * d)
        q = share * d
        yield f"vector, first listing, 3 and 5, target at {d}: knee", (q, q * sqrt(9.0 / (q * q) - 1.0))
        yield "here", tuple(solve(straight((3, 5)), Goal((d, 0, 0))).joints[1])
    radius = sqrt(4 * 9 * 9 - (9 - 25 + 9) ** 2) / 6
    centre = sqrt(9 - radius * radius)
    yield "sphere, 3 and 5, target at 3: centre, radius, length of link 2", (centre, radius, hypot(3 - centre, radius))
    yield "cosine, two links of 0.007, target at 0.0099: counts as reached", not _off(0.0099, 0.014)
    tiny = solve(straight((0.007, 0.007)), Goal((0.0099, 0, 0)), "LAW_OF_COSINES")
    yield "here: residual", tiny.residual
    random = Random(2)
    for name, make in {
        "generic": lambda: (random.uniform(0.5, 1), random.uniform(0.5, 1), random.uniform(0.1, 0.9)),
        "1e-6 from full extension": lambda: (random.uniform(0.5, 1), random.uniform(0.5, 1), 1.0 - 1e-6),
        "equal links, target near the root": lambda: (1.0, 1.0, 10 ** random.uniform(-6, -3)),
        "a few roundings from full extension": lambda: (
            random.uniform(0.5, 1),
            random.uniform(0.5, 1),
            1.0 - random.uniform(0, 4e-7),
        ),
    }.items():
        yield f"error of the knee / first link in single precision, worst (no number: NaN), {name}", _form_errors(make)


def _off(distance: float, total: float) -> bool:
    return not total * total - 1e-4 <= distance * distance <= total * total + 1e-4


def _form_errors(make: Callable[[], tuple[float, float, float]]) -> dict[str, str]:
    """Worst error of the knee over 1000 triangles computed in single precision, and how many gave NaN."""
    worst, lost = dict.fromkeys(FORMS, 0.0), dict.fromkeys(FORMS, 0)
    for _ in range(1000):
        a, b, part = make()
        sides = [np.float32(side) for side in (a, b, abs(a - b) + (a + b - abs(a - b)) * part)]
        first, second, distance = (Fraction(float(side)) for side in sides)
        if not abs(first - second) <= distance <= first + second:
            continue
        x = (distance**2 + first**2 - second**2) / (2 * distance)
        y = sqrt(float(first**2 - x**2))
        for name, form in FORMS.items():
            with np.errstate(invalid="ignore"):
                found = form(*sides)
            if np.isnan(found).any():
                lost[name] += 1
            else:
                worst[name] = max(worst[name], hypot(float(found[0]) - float(x), float(found[1]) - y) / a)
    return {name: f"{worst[name]:.0e}" + (f" ({lost[name]} NaN)" if lost[name] else "") for name in FORMS}


def _second_listing(a: np.float32, b: np.float32, d: np.float32) -> Pair:
    h = d * d
    w = h + a * a - b * b
    half = np.float32(0.5)
    return w * d * half / h, d * np.sqrt(max(4 * a * a * h - w * w, np.float32(0.0))) * half / h


def _circle(a: np.float32, b: np.float32, d: np.float32) -> Pair:
    x = (a * a - b * b + d * d) / (2 * d)
    return x, np.sqrt(a * a - x * x)


def _arc_cosine(a: np.float32, b: np.float32, d: np.float32) -> Pair:
    one = np.float32(1.0)
    bend = np.arccos(np.clip((d * d - a * a - b * b) / (2 * a * b), -one, one))
    turn = np.arctan2(b * np.sin(bend), a + b * np.cos(bend))
    return a * np.cos(turn), a * np.sin(turn)


def _factors(a: np.float32, b: np.float32, d: np.float32) -> Pair:
    near, far = abs(a - b), a + b
    area = np.sqrt(max((far - d) * (d - near), np.float32(0.0)) * ((far + d) * (d + near)))
    return d / 2 + (a - b) * far / (2 * d), area / (2 * d)


FORMS = {
    "vector, second listing": _second_listing,
    "circle": _circle,
    "arc cosine": _arc_cosine,
    "Heron's factors": _factors,
}


def _triangulation_numbers() -> Iterator[tuple[str, object]]:
    """How often Algorithm 1 fails on a grid, and how near this project's ends to where it should."""
    grid = [
        Vector((i / 10, j / 10, 0.0)) for i in range(-19, 20) for j in range(1, 20) if 0.1 < hypot(i, j) / 10 < 1.99
    ]
    along = Vector((1.0, 0.0, 0.0))
    exact = [(round(place.x, 1), round(place.y, 1), 0.0) for place in grid]
    ends = [printed((1.0, 1.0), place, along)[0][-1] for place in exact]
    missed = [float(np.linalg.norm(end - np.array(place))) for end, place in zip(ends, exact, strict=True)]
    yield "[1, 1], grid targets: missed as printed, of", (sum(rest > 1e-9 for rest in missed), len(grid))
    yield "least and largest such miss", (min(rest for rest in missed if rest > 1e-9), max(missed))
    random = Random(1)
    for name, make in {
        "equal, 2 to 20": lambda: [1.0] * random.randint(2, 20),
        "from 0.1 to 1, 2 to 20": lambda: [random.uniform(0.1, 1.0) for _ in range(random.randint(2, 20))],
        "over six decades, 2 to 20": lambda: [10 ** random.uniform(-3, 3) for _ in range(random.randint(2, 20))],
        "[1, 5, 1], [10, 1, 1], [1, 1, 10]": lambda: random.choice(([1, 5, 1], [10, 1, 1], [1, 1, 10])),
    }.items():
        yield f"worst beyond the least distance / size, 2000 chains: {name}", _worst_excess(random, make)


def _worst_excess(random: Random, make: Callable[[], Sequence[float]]) -> float:
    worst = 0.0
    for number in range(2000):
        points = [ORIGIN]
        for length in make():
            points.append(points[-1] + any_direction(random) * length)
        chain = Chain(points)
        near, far = max(0.0, 2.0 * max(chain.lengths) - chain.length), chain.length
        places = random.uniform(near, far), random.uniform(0.0, near), far * random.uniform(1.0, 1.5), near, far
        target = any_direction(random) * places[number % 5]
        solution = solve(chain, Goal(target, least_motion=bool(number % 2)), "TRIANGULATION")
        least = max(0.0, near - target.length, target.length - far)
        worst = max(worst, (solution.residual - least) / max(far, target.length))
    return worst


def _limit_numbers() -> Iterator[tuple[str, object]]:
    """Shortest shapes, the look-ahead pass, and how many targets from legal poses are met."""
    arm = shapes_of(straight((18, 18, 4), cones=(None, radians(126), radians(90))))
    yield "18 18 4: shortest", arm.span(arm.shortest)
    three = shapes_of(straight((1, 1, 1), cones=(None, radians(30), radians(90))))
    bends = look_ahead((1, 1, 1), (radians(30), radians(90)), 2.5)
    yield (
        "[1, 1, 1], 30° and 90°: shortest; bends at 2.5",
        (three.span(three.shortest), [degrees(bend) for bend in bends]),
    )
    for lengths, cones, distance in (((1, 1, 1, 1), (30, 30, 30), 3.5), ((1, 1, 1), (90, 30), 2.0)):
        limits = [radians(cone) for cone in cones]
        shapes = shapes_of(straight(lengths, cones=(None, *limits)))
        found = look_ahead(lengths, limits, distance)
        folded = [round(degrees(turn.angle), 2) for turn in shapes.folded(distance, None)[1:]]
        yield (
            f"{lengths}, {cones} at {distance}: look-ahead; shortest; folded",
            (found, shapes.span(shapes.shortest), folded),
        )
    random = Random(4)
    for count in (3, 4, 6, 8):
        found = met = 0
        for _ in range(500):
            lengths = [random.uniform(0.2, 1.0) for _ in range(count)]
            cones = [radians(random.uniform(10.0, 170.0)) for _ in lengths[1:]]
            chain = straight(lengths, cones=(None, *cones))
            shapes = shapes_of(chain)
            target = any_direction(random) * random.uniform(shapes.span(shapes.shortest), sum(lengths))
            found += look_ahead(lengths, cones, target.length) is not None
            met += solve(chain, Goal(target)).residual <= 1e-5 * chain.length
        yield f"cones, {count} links, of 500: by look-ahead alone; solved", (found, met)
    yield from _shortest_numbers(random)
    for name, make in LIMITED.items():
        found = [_met(random, make, count) for count in (2, 3, 4, 6)]
        yield f"{name}: of 300 targets of legal poses met, 2, 3, 4, 6 links", found


def _shortest_numbers(random: Random) -> Iterator[tuple[str, object]]:
    """The shortest shape that is found, against a search from many more starts."""
    shorter, worst, count = 0, 0.0, 400
    for number in range(count):
        lengths = [random.uniform(0.1, 1.0) for _ in range(3 + number % 4)]
        cones = [radians(random.uniform(10.0, 170.0)) for _ in lengths[1:]]
        shapes = shapes_of(straight(lengths, cones=(None, *cones)))
        corners = [
            [sign * cone for sign, cone in zip(signs, cones, strict=True)]
            for signs in product((1, -1), repeat=len(cones))
        ]
        inside = [[random.uniform(-cone, cone) for cone in cones] for _ in range(16)]
        least = min(_descended(lengths, cones, bends) for bends in [*corners, *inside])
        excess = (shapes.span(shapes.shortest) - least) / sum(lengths)
        shorter += excess > 1e-5
        worst = max(worst, excess)
    yield (
        f"of {count} chains with cones, 3 to 6 links: a longer search finds shorter; worst by / length",
        (shorter, worst),
    )


def _descended(lengths: Sequence[float], cones: Sequence[float], bends: Sequence[float]) -> float:
    """Coordinate descent of the distance in the plane; each joint takes its best legal angle in turn."""
    bends, before = list(bends), 0.0
    for _ in range(40):
        for k, cone in enumerate(cones):
            angles = np.cumsum([0.0, *bends])
            spans = np.array(lengths) * np.exp(1j * angles)
            head, tail = complex(spans[: k + 1].sum()), complex(spans[k + 1 :].sum())
            if abs(head) * abs(tail) < 1e-12:
                continue
            best = bends[k] + float(np.angle(-head / tail))
            turns = [best + turn for turn in (0.0, tau, -tau) if -cone <= best + turn <= cone] or [-cone, cone]
            bends[k] = min(turns, key=lambda bend: abs(head + tail * np.exp(1j * (bend - bends[k]))))
        span = abs(complex((np.array(lengths) * np.exp(1j * np.cumsum([0.0, *bends]))).sum()))
        if abs(span - before) < 1e-9:
            break
        before = span
    return span


def _random_cones(random: Random, lengths: Sequence[float]) -> Chain:
    cones = [radians(random.uniform(10, 90)), *(radians(random.uniform(10, 120)) for _ in lengths[1:])]
    return straight(lengths, cones=cones, parent_direction=(1, 0, 0))


def _random_swings(random: Random, lengths: Sequence[float]) -> Chain:
    def limits() -> tuple[Point, Point]:
        low, high = (random.uniform(0.1, 1.5) for _ in range(2))
        low_second, high_second = (random.uniform(0.1, 1.5) for _ in range(2))
        return (-low, high), (-low_second, high_second)

    return straight(lengths, swings=[Swing((0, 0, 1), *limits(), (-0.5, 0.5)) for _ in lengths])


def _random_hinges(random: Random, lengths: Sequence[float], free: bool = False) -> Chain:
    def hinge() -> Hinge:
        return Hinge(random.choice(((0, 0, 1), (0, 1, 0))), random.uniform(-2, 0), random.uniform(0, 2.5))

    return straight(lengths, hinges=[None if free else hinge(), *(hinge() for _ in lengths[1:])])


LIMITED: dict[str, Callable[[Random, Sequence[float]], Chain]] = {
    "hinges behind a free root": lambda random, lengths: _random_hinges(random, lengths, free=True),
    "cones, root too": _random_cones,
    "swings, root too": _random_swings,
    "hinges alone": _random_hinges,
}


def _met(random: Random, make: Callable[[Random, Sequence[float]], Chain], count: int) -> int:
    met = 0
    for _ in range(300):
        chain = make(random, [random.uniform(0.2, 1.0) for _ in range(count)])
        turns = [joint.at(random.random(), random.random()) for joint in chain.limits]
        solution = solve(chain, Goal(end_of(chain.limits, chain.lengths, turns)))
        met += solution.residual <= 1e-5 * chain.length
        assert solution.outcome is not Outcome.TOO_FAR
    return met


def main() -> None:
    """Print the numbers."""
    for name, value in numbers():
        print(f"{name}: {value}", flush=True)
    # Older Blenders crash or hang at Python's ordinary exit.
    os._exit(0)


if __name__ == "__main__":
    main()
