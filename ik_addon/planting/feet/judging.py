"""Whether a plan is better than what was captured: what it did is measured beside what was there before."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from .clip import LegMotion
from .contacts import HeelAndBall
from .loops import period_of
from .measures import distances, measured
from .paths import captured_sides, knees_and_poles
from .planning import FootPlan

BODY, BODY_OF_SLIDE, FARTHEST_SLIDE = 0.1, 0.05, 0.25
"""Part of a leg by which the body may move; where feet slid farther than that, as far as they did and so much more; but
what slid farther than the last was none to be nailed down."""
MORE_SLIDE, MORE_SUNKEN, MORE_OPEN = 0.01, 0.03, 0.01
"""Parts of a leg by which feet may slide and sink more than before, and the ends of a loop be farther apart."""
FASTER_KNEES, KNEE_NOISE = 1.6, 3.0
"""Times as fast as before that knees may bend; slower than that many radians a second more nobody sees it."""


@dataclass(frozen=True)
class Worse:
    """A figure that planting would make worse than it may be: its name as in `FIGURES`, `body` or `loop`."""

    figure: str
    before: float
    after: float


def with_plan(clip: LegMotion, plan: FootPlan) -> LegMotion:
    """A clip with its legs as a plan has them."""
    feet = plan.feet @ clip.feet.swapaxes(-1, -2)
    balls = plan.ankles + (feet @ (clip.balls - clip.ankles)[..., None])[..., 0]
    hips = clip.hips + plan.shifts
    skins = clip.skins_at(plan.ankles, plan.feet)
    return replace(clip, hips=hips, knees=plan.knees, ankles=plan.ankles, balls=balls, feet=plan.feet, skins=skins)


def worse_by(
    clip: LegMotion, plan: FootPlan, sole: HeelAndBall, as_captured: bool, limits: Mapping[str, float] | None = None
) -> list[Worse]:
    """What a plan for a clip makes worse than it may be, both as seen from the ground.

    as_captured: the ground is as high as captured: on another the feet are to go elsewhere. limits: of figures that
    are judged by these alone.
    """
    # Of a leg with more than two links the knee is only where those of a plan are.
    knees, _ = knees_and_poles(clip, captured_sides(clip, sole), clip.hips, clip.ankles)
    found = _figures(replace(clip, knees=knees), with_plan(clip, plan), plan.contacts, sole)
    if not as_captured:
        found = (each for each in found if each[0].figure in _ON_ANY_GROUND)
    limits = limits or {}
    return [each for each, most in found if each.after > limits.get(each.figure, most)]


def stands_already(clip: LegMotion, plan: FootPlan, sole: HeelAndBall) -> bool:
    """Whether feet hardly slide in a clip, and a plan would hardly change it."""
    changes = distances(with_plan(clip, plan), clip)
    slide = max(leg["slide"] for leg in measured(clip, sole, plan.contacts))
    return max(slide, *(max(each.values()) for each in changes)) <= HARDLY


HARDLY = 1e-3
"""Part of a leg by which nobody sees that a foot or the body is elsewhere."""

JUDGED = ("slide", "knee_speed", "loop", "sunken", "body")
_ON_ANY_GROUND = ("slide", "knee_speed", "loop")
"""Figures that are judged, and those of them whatever the ground is."""


def _figures(
    before: LegMotion, after: LegMotion, contacts: np.ndarray, sole: HeelAndBall
) -> Iterator[tuple[Worse, float]]:
    """The figures of two clips, each with the most that it may be."""
    both = [measured(clip, sole, contacts) for clip in (before, after)]

    def largest(name: str) -> tuple[float, float]:
        one, other = (max(leg[name] for leg in legs) for legs in both)
        return one, other

    slid, slides = largest("slide")
    yield Worse("slide", slid, slides), slid + MORE_SLIDE
    knees = [(old["knee_speed"], new["knee_speed"]) for old, new in zip(*both, strict=True)]
    slow, fast = max(knees, key=lambda pair: pair[1] - FASTER_KNEES * pair[0])
    yield Worse("knee_speed", slow, fast), max(FASTER_KNEES * slow, slow + KNEE_NOISE)
    closed, opened = (_seam(clip, before) for clip in (before, after))
    yield Worse("loop", closed, opened), closed + MORE_OPEN
    sank, sinks = largest("sunken")
    yield Worse("sunken", sank, sinks), sank + MORE_SUNKEN
    moved = max(leg["body"] for leg in distances(after, before))
    yield Worse("body", 0.0, moved), max(BODY, min(slid, FARTHEST_SLIDE) + BODY_OF_SLIDE)


def _seam(clip: LegMotion, captured: LegMotion) -> float:
    """How far the ends of a loop are apart, leg lengths, but for the way that the body goes; 0 of what is none."""
    if period_of(captured) != captured.frame_count - 1:
        return 0.0
    way = captured.hips.mean(axis=0)
    way = (way[-1] - way[0]) * (1.0, 1.0, 0.0)
    return float(np.linalg.norm(clip.ankles[:, -1] - clip.ankles[:, 0] - way, axis=-1).max() / clip.size)
