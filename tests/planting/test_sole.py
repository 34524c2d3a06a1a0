"""Soles that are found in walks whose soles are known."""

from dataclasses import replace

import numpy as np
import pytest

from ik_addon.planting.feet.clip import turns_by
from ik_addon.planting.feet.contacts import sole_of

from . import clips


@pytest.mark.parametrize("spoil", [lambda clip: clip, lambda clip: clips.degraded(clip, 0.9)], ids=["clean", "spoiled"])
def test_heel_ball_and_normal_are_found(spoil):
    sole = sole_of(spoil(clips.walk(60.0, size=3.0, turn=1.0)[0]))
    assert sole.points == pytest.approx(np.tile(3.0 * np.array((clips.HEEL, clips.BALL)), (2, 1, 1)), abs=0.03)
    assert sole.normals == pytest.approx(np.tile((0.0, 0.0, 1.0), (2, 1)), abs=0.05)
    assert not sole.is_point(0)


def test_they_are_in_the_foots_own_space():
    clip, _ = clips.walk(60.0)
    bone = turns_by(np.array((0.4, -1.0, 2.0)))
    turned = sole_of(replace(clip, feet=clip.feet @ bone))
    assert turned.points == pytest.approx(sole_of(clip).points @ bone)
    assert turned.normals == pytest.approx(sole_of(clip).normals @ bone)


def test_a_hoof_touches_below_the_ankle():
    clip, _ = clips.walk(60.0)
    sole = sole_of(replace(clip, balls=clip.ankles + clip.feet @ (0.0, 0.0, -0.08)))
    assert sole.is_point(0) and sole.is_point(1)
    assert sole.points[0, 0] == pytest.approx((0.0, 0.0, -0.08))


def test_points_that_are_known_are_kept():
    clip, _ = clips.walk(60.0)
    known = np.tile(((-0.07, 0.0, -0.08), (0.2, 0.01, -0.08)), (2, 1, 1))
    assert (sole_of(clip, known).points == known).all()


def test_the_level_and_the_floors_are_where_feet_stand():
    clip, _ = clips.walk(60.0, terrain=lambda x: 0.05 * x)
    sole = sole_of(clips.placed(clip, np.array((0.0, 0.0, 5.0))))
    heights = 5.0 + 0.05 * clip.hips[0, :, 0]
    assert np.abs(sole.floors - heights).max() <= 0.08
    flat = sole_of(clips.placed(clips.walk(60.0)[0], np.array((0.0, 0.0, 5.0))))
    assert flat.level == pytest.approx(5.0, abs=1e-6)


def test_feet_of_a_body_that_lies_down_show_no_sole():
    """They are as still and low as any, and turned as no foot stands."""
    clip = clips.walk(30.0)[0]
    count = 60
    stays = {
        name: np.repeat(getattr(clip, name)[:, :1], count, axis=1) for name in ("hips", "knees", "ankles", "balls")
    }
    down = turns_by(np.array((0.0, -1.4, 0.0)))
    lying = replace(
        clip,
        feet=np.repeat((clip.feet[:, :1] @ down), count, axis=1),
        **{name: own * (1.0, 1.0, 0.0) + (0.0, 0.0, 0.04) for name, own in stays.items()},
    )
    names = ("hips", "knees", "ankles", "balls", "feet")
    both = replace(clip, **{name: np.concatenate([getattr(each, name) for each in (clip, lying)], 1) for name in names})
    found, wanted = sole_of(both), sole_of(clip)
    assert found.points == pytest.approx(wanted.points, abs=0.02)
    assert found.normals == pytest.approx(wanted.normals, abs=0.05)
