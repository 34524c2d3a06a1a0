"""Between two frames pole targets lead a leg as its own motion does, also where its side turns within one frame."""

from itertools import pairwise
from math import cos, sin

import bpy
import numpy as np
import pytest

from ik_addon.authoring.fk_frames import _fk_plane
from ik_addon.authoring.rigging import rig_legs
from ik_addon.rig.blender.clips import clips_of, playing_alone

from ..clips.characters import CHARACTERS, heads, opened

STRAYS, SAME = 0.02, 4e-6
"""Of a leg's length, on half frames and on whole ones; with poles that go straight from key to key 0.15 and as much:
Blender 5.2 gives 7e-7 on whole frames, 4.2 2.9e-6."""


def through_straight(time: float, turn: float, offset: float) -> tuple:
    """A leg that bends one way, is straight at a time, then bends the other way, its knee a little (`turn`) aside."""
    return (0.0, 0.0, 0.0), (0.1 * (time - offset), turn, -1.5), (0.0, 0.0, -3.0)


def through_balance(time: float, turn: float, offset: float) -> tuple:
    """A hind leg, an S whose two knees are as far to either side at a time, and lie a little aside."""
    bulge = 0.1 * (time - offset)
    return (0.0, 0.0, 0.0), (0.4 + bulge, turn, -1.0), (bulge - 0.4, turn, -2.0), (0.0, 0.0, -3.0)


def plane(leg, times: np.ndarray, turn: float, offset: float):
    """Of a leg that swings."""
    rows = []
    for time in times:
        along, across = cos(0.1 * time), sin(0.1 * time)
        swing = np.array(((along, 0.0, -across), (0.0, 1.0, 0.0), (across, 0.0, along)))
        rows.append(np.array(leg(time, turn, offset)) @ swing.T)
    return _fk_plane(np.array(rows), np.tile((0.0, 1.0, 0.0), (len(rows), 1)), np.zeros(len(rows)))


@pytest.mark.parametrize("offset", [3.2, 3.3, 3.5, 3.8])
@pytest.mark.parametrize("turn", [0.005, -0.02])
def test_halfway_a_pole_is_where_the_side_of_the_leg_is(turn, offset):
    whole, half = (plane(through_straight, times, turn, offset) for times in (np.arange(8.0), np.arange(7.0) + 0.5))
    poles = whole.knees + 2.0 * whole.sides
    off, middle = whole.off_midway(poles)[:-1], 0.5 * (poles[1:] + poles[:-1])
    turning = ~np.isnan(off[:, 0])

    def degrees_off(places: np.ndarray) -> float:
        away = places - half.roots
        away -= half.alongs * (away * half.alongs).sum(axis=-1, keepdims=True)
        cosines = (away * half.sides).sum(axis=-1) / np.linalg.norm(away, axis=-1)
        return float(np.degrees(np.arccos(np.clip(cosines, -1.0, 1.0)))[turning].max())

    assert turning.any() and not turning.all()
    assert degrees_off(middle + off) < 2.0
    assert offset == 3.5 or degrees_off(middle) > 10.0


@pytest.mark.parametrize("offset", [3.2, 3.5, 3.8])
@pytest.mark.parametrize("turn", [0.0, 0.005, -0.02])
def test_the_side_of_a_hind_leg_stays_as_its_knees_balance(turn, offset):
    found = plane(through_balance, np.arange(0.0, 8.0, 0.25), turn, offset)
    turned = np.degrees(np.arccos(np.clip((found.sides[1:] * found.sides[:-1]).sum(axis=-1), -1.0, 1.0)))
    # It swings by 1.4 degrees.
    assert turned.max() < 3.0 and (found.bulges > 0.0).all()
    assert np.isnan(found.off_midway(found.knees + found.sides)).all()


@pytest.mark.skipif(not CHARACTERS.is_dir(), reason="needs the shared characters")
def test_the_hind_legs_of_a_wolf_are_where_its_clip_has_them_on_half_frames():
    ob = opened(CHARACTERS / "quat_Wolf.glb")
    half, whole = np.arange(8.5, 18.0), np.arange(8.0, 18.0)
    names = [f"{bone}.{side}" for bone in ("BackUpperLeg", "BackLowerLeg") for side in "LR"]

    def shown(frames: np.ndarray) -> np.ndarray:
        # The importer of Blender 4.2 puts the armature's name behind the clip's.
        clip = next(clip for clip in clips_of(ob) if "Gallop" in clip.action.name and "Jump" not in clip.action.name)
        with playing_alone([(ob, clip)]):
            return heads(ob, frames, names)

    before = shown(half), shown(whole)
    rigged = rig_legs(bpy.context, ob)
    leg = next(one.limb for one in rigged.limbs if one.limb.bones[-1] in names)
    joints = [ob.data.bones[name].head_local for name in (*leg.bones, leg.end) if name]
    length = sum((b - a).length for a, b in pairwise(joints)) * ob.matrix_world.median_scale
    after = shown(half), shown(whole)
    off = [np.linalg.norm(a - b, axis=-1).max() / length for a, b in zip(before, after, strict=True)]
    assert off[0] <= STRAYS and off[1] <= SAME, (off, leg.bones, leg.end)
