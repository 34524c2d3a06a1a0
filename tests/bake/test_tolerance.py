"""Fewer keys, as long as the tip stays within the tolerance."""

import bpy
import pytest
from mathutils import Vector

from ik_addon.bake import bake, chains_of

from ..rig.keys import FK_KEYS, animated_rig, key
from ..rig.rigs import random_rig
from ..scenes import (
    EXACT,
    curves_of,
    farthest_apart,
    keyed_frames,
    played,
    played_without_the_add_on,
    rotation_curves,
    walking_leg,
)


def tips(rig, poses: dict) -> list:
    """Where the tip's tail is at each frame, in armature space."""
    bone = rig.ob.data.bones[rig.bones[-1]]
    return [pose[bone.name] @ Vector((0.0, bone.length, 0.0)) for pose in poses.values()]


def tip_strays(rig, expected: dict) -> float:
    now = tips(rig, played_without_the_add_on(rig.ob, expected))
    return max((a - b).length for a, b in zip(now, tips(rig, expected), strict=True))


def key_count(rig) -> int:
    counts = {len(curve.keyframe_points) for name in rig.bones for curve in rotation_curves(rig.ob, name)}
    assert len(counts) == 1, "the bones of a chain have their keys together"
    return counts.pop()


@pytest.mark.some(6)
@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("tolerance", [0.001, 0.03])
@pytest.mark.parametrize("seed", range(300, 312))
def test_the_tip_stays_within_the_tolerance_at_every_sampled_frame(seed, tolerance, step):
    rig = animated_rig(seed, FK_KEYS[seed % 2])
    tolerance *= sum(rig.lengths())
    frames = range(1, 14, step)
    expected = played(rig.ob, frames)
    bake(bpy.context, chains_of([rig.ob]), frames, "COPY", "MUTE", tolerance)
    assert tip_strays(rig, expected) < tolerance + EXACT


def test_a_chain_that_stands_still_needs_two_keys():
    rig = random_rig(330, with_pole=False)
    rig.place_target(rig.joints()[-1] * 0.9)
    rig.enable()
    bake(bpy.context, chains_of([rig.ob]), range(1, 20), "NEW", "MUTE", 1e-4)
    assert keyed_frames(rotation_curves(rig.ob, rig.bones[0])[0]) == [1.0, 19.0]


@pytest.mark.parametrize("frames", [range(5, 6), range(5, 7)])
def test_a_range_of_one_or_two_frames_keeps_all_its_keys(frames):
    rig = walking_leg()
    expected = played(rig.ob, frames)
    bake(bpy.context, chains_of([rig.ob]), frames, "COPY", "MUTE", 1.0)
    assert key_count(rig) == len(frames)
    assert farthest_apart(played_without_the_add_on(rig.ob, frames), expected, 2.0) < EXACT


def a_jumping_leg():
    """A leg that is off and on again, from one frame to the next, and moves meanwhile."""
    rig = walking_leg()
    key(rig.tip, "analytic_ik_influence", [0.0, 1.0, 0.0, 1.0])
    for (path, _), curve in curves_of(rig.ob).items():
        for point in curve.keyframe_points if path.endswith("influence") else ():
            point.interpolation = "CONSTANT"
    return rig


def baked_at(make, frames, times, tolerance):
    """A rig, and where its tip is at some times once it was baked."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    rig = make()
    bake(bpy.context, chains_of([rig.ob]), frames, "COPY", "MUTE", tolerance)
    return rig, tips(rig, played_without_the_add_on(rig.ob, times))


@pytest.mark.versions
@pytest.mark.parametrize("make", [walking_leg, a_jumping_leg])
def test_between_frames_the_tip_is_where_keys_on_all_of_them_lead_it(make):
    """Where the motion jumps, nothing overshoots."""
    frames, times = range(1, 14), [frame + part for frame in range(1, 13) for part in (0.25, 0.5, 0.75)]
    known = baked_at(make, frames, times, 0.0)[1]
    rig, now = baked_at(make, frames, times, 0.02)
    assert key_count(rig) < len(frames)
    # Straight pieces cut the corners of a bend.
    assert max((a - b).length for a, b in zip(now, known, strict=True)) < 0.02 + 0.005


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=pytest.mark.slow) for seed in (300, 307, 308, 326)] + [309])
def test_in_whatever_way_bones_inherit_what_stands_still_needs_no_keys(seed):
    """Scaled, mirrored, or without the rotation of the bone above."""
    rig = animated_rig(seed, FK_KEYS[seed % 2])
    frames, tolerance = range(1, 27), 0.01 * sum(rig.lengths())
    expected = played(rig.ob, frames)
    bake(bpy.context, chains_of([rig.ob]), frames, "COPY", "MUTE", tolerance)
    # Its last key before is in frame 13.
    assert key_count(rig) <= 14
    assert tip_strays(rig, expected) < tolerance + EXACT
