"""Whether a plan is better than what was captured: what it did is measured beside what was there before."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from .clip import LegMotion
from .contacts import HeelAndBall
from .loops import period_of
from .measures import distances, measured
from .paths import captured_sides, knees_and_poles
from .planning import FootPlan

BODY, BODY_OF_SLIDE = 0.1, 0.05
"""Part of a leg by which the body may move; where feet slid farther than that, as far as they did and so much more."""
MORE_SLIDE, MORE_SUNKEN, MORE_OPEN = 0.01, 0.01, 0.01
"""Parts of a leg by which feet may slide and sink more than before, and the ends of a loop be farther apart."""
FASTER_KNEES, KNEE_NOISE = 1.6, 1.5
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
    return replace(clip, hips=hips, knees=plan.knees, ankles=plan.ankles, balls=balls, feet=plan.feet)


def worse_by(clip: LegMotion, plan: FootPlan, sole: HeelAndBall, is_level: bool) -> list[Worse]:
    """What a plan for a clip makes worse, both as seen from the ground. is_level: it is as high as captured."""
    # Of a leg with more than two links the knee is only where those of a plan are.
    knees, _ = knees_and_poles(clip, captured_sides(clip, sole), clip.hips, clip.ankles)
    return [*_judged(replace(clip, knees=knees), with_plan(clip, plan), plan.contacts, sole, is_level)]


def _judged(
    before: LegMotion, after: LegMotion, contacts: np.ndarray, sole: HeelAndBall, is_level: bool
) -> Iterator[Worse]:
    figures = [measured(clip, sole, contacts) for clip in (before, after)]

    def largest(name: str) -> tuple[float, float]:
        one, other = (max(leg[name] for leg in legs) for legs in figures)
        return one, other

    slid, slides = largest("slide")
    if slides > slid + MORE_SLIDE:
        yield Worse("slide", slid, slides)
    knees = [(old["knee_speed"], new["knee_speed"]) for old, new in zip(*figures, strict=True)]
    slow, fast = max(knees, key=lambda pair: pair[1] - FASTER_KNEES * pair[0])
    if fast > max(FASTER_KNEES * slow, slow + KNEE_NOISE):
        yield Worse("knee_speed", slow, fast)
    closed, opened = (_seam(clip, before) for clip in (before, after))
    if opened > closed + MORE_OPEN:
        yield Worse("loop", closed, opened)
    if not is_level:
        return
    sank, sinks = largest("sunken")
    if sinks > sank + MORE_SUNKEN:
        yield Worse("sunken", sank, sinks)
    moved = max(leg["body"] for leg in distances(after, before))
    if moved > max(BODY, slid + BODY_OF_SLIDE):
        yield Worse("body", 0.0, moved)


def _seam(clip: LegMotion, captured: LegMotion) -> float:
    """How far the ends of a loop are apart, leg lengths, but for the way that the body goes; 0 of what is none."""
    if period_of(captured) != captured.frame_count - 1:
        return 0.0
    way = captured.hips.mean(axis=0)
    way = (way[-1] - way[0]) * (1.0, 1.0, 0.0)
    return float(np.linalg.norm(clip.ankles[:, -1] - clip.ankles[:, 0] - way, axis=-1).max() / clip.size)
