"""Legs that are placed and checked from F-Curves, all frames at once, are as stepping through the frames has them."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import bpy
import numpy as np
import pytest

from ik_addon.planting import Options, check_feet, plant
from ik_addon.planting.scene import reading, writing
from ik_addon.planting.scene.reading import leg_tips

from ..scenes import curves_of, sliding_walk

pytestmark = pytest.mark.versions

FRAMES = range(1, 61)
LONG = range(1, 131)
SAME = 2e-5


@contextmanager
def stepped_through() -> Iterator[None]:
    """Inside a handler of somebody else's acts on frames: what F-Curves say is no longer all."""

    def theirs(*_: object) -> None:
        """Does nothing, which nobody can know."""

    bpy.app.handlers.frame_change_post.append(theirs)
    try:
        yield
    finally:
        bpy.app.handlers.frame_change_post.remove(theirs)


def planted_keys(turning: bool, stepped: bool) -> dict[tuple[str, str, int], np.ndarray]:
    """By object, path and index what the F-Curves of a walk come to that was just planted, also between frames."""
    ob, times = sliding_walk(), np.arange(3 * len(FRAMES) - 2) / 3.0 + FRAMES[0]
    if turning:
        # What carries the controls turns as it goes: between two frames no straight line leads along.
        carrier = bpy.data.objects.new("carrier", None)
        bpy.context.scene.collection.objects.link(carrier)
        for frame, angle in ((1, 0.0), (60, 2.0)):
            carrier.rotation_euler.z = angle
            carrier.keyframe_insert("rotation_euler", frame=frame)
        ob.parent = carrier
        for tip in leg_tips(ob):
            tip.analytic_ik_target.parent = carrier
    with stepped_through() if stepped else nullcontext():
        plant(bpy.context, leg_tips(ob), FRAMES, Options(anyway=True))
    tips = leg_tips(ob)
    owners = [ob, *(each for tip in tips for each in (tip.analytic_ik_target, tip.analytic_ik_pole_target))]
    return {
        (owner.name, *channel): np.array([curve.evaluate(time) for time in times])
        for owner in owners
        for channel, curve in curves_of(owner).items()
    }


@pytest.mark.parametrize("turning", [False, True])
def test_planted_keys_are_the_same(turning, monkeypatch):
    with monkeypatch.context() as inside:
        inside.setattr(writing, "stepped", lambda *_: pytest.fail("steps through frames"))
        found = planted_keys(turning, stepped=False)
    expected = planted_keys(turning, stepped=True)
    assert found.keys() == expected.keys()
    for key, numbers in expected.items():
        assert np.abs(found[key] - numbers).max() < SAME * max(1.0, np.abs(numbers).max()), key


def test_the_check_of_feet_says_the_same(monkeypatch):
    ob, looked_at = sliding_walk(), []
    plant(bpy.context, leg_tips(ob), FRAMES)
    recorded = reading.recorded
    monkeypatch.setattr(reading, "recorded", lambda *given: looked_at.append(len(given[1])) or recorded(*given))
    found = check_feet(bpy.context, ob, LONG)
    few = looked_at[0]
    with stepped_through():
        expected = check_feet(bpy.context, ob, LONG)
    assert few == 3 < looked_at[-1] == len(LONG)
    for foot, other in zip(found, expected, strict=True):
        for when in ("before", "after"):
            assert foot[when] == pytest.approx(other[when], abs=SAME, rel=1e-3)
        assert [foot[name] for name in ("bone", "contacts", "pop_frames")] == [
            other[name] for name in ("bone", "contacts", "pop_frames")
        ]


def test_a_foot_that_turns_between_those_three_frames_is_stepped_through():
    """Keyed foot roll bends toes against what F-Curves of bones say."""
    ob = sliding_walk()
    tip = leg_tips(ob)[0]
    plant(bpy.context, leg_tips(ob), FRAMES)
    for frame, roll in ((20, 0.0), (30, 0.4), (40, 0.0)):
        tip.analytic_ik_foot_roll = roll
        tip.keyframe_insert("analytic_ik_foot_roll", frame=frame)
    found = check_feet(bpy.context, ob, LONG)
    with stepped_through():
        expected = check_feet(bpy.context, ob, LONG)
    for foot, other in zip(found, expected, strict=True):
        assert foot["after"] == pytest.approx(other["after"], abs=SAME, rel=1e-3)
