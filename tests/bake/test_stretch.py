"""A stretching chain is baked with the scales of its bones and of those on its end, and of no others."""

from math import cos, sin

import bpy
import pytest
from mathutils import Vector

from ik_addon.bake import bake, chains_of
from ik_addon.solvers import ChainError

from ..helpers.empty import empty_scene
from ..helpers.stretching import SCALE_KEYS, scale_animated_rig, two_in_line
from ..rig.rigs import Rig, leg, matrix_difference, update
from ..scenes import (
    EXACT,
    Poses,
    curves_of,
    go_to,
    keyed_frames,
    played,
    played_without_the_add_on,
    refuses,
    slide,
    walking_leg,
)

AFTER = ("KEEP", "MUTE", "REMOVE")


def apart(a: Poses, b: Poses, length: float) -> float:
    """Largest difference between two motions: of positions by `length`, of orientations and sizes by elements."""
    assert a.keys() == b.keys()
    return max(
        max(
            (a[frame][name].to_translation() - b[frame][name].to_translation()).length / length,
            matrix_difference(a[frame][name].to_3x3(), b[frame][name].to_3x3()),
        )
        for frame in a
        for name in a[frame]
    )


def scale_curves(ob: bpy.types.Object, bone: str) -> list[bpy.types.FCurve]:
    path = f"{ob.pose.bones[bone].path_from_id()}.scale"
    return [curve for (other, _), curve in curves_of(ob).items() if other == path]


def reaching_leg(distance: float = 3.0, **settings: object) -> Rig:
    """A live leg whose target goes from within its reach, at frame 1, to beyond it, at frame 12."""
    rig = leg()
    slide(rig.target.ob, (0.0, -0.6, 0.5), (0.3, 0.2, 2.0 - distance))
    rig.enable(**{"reach": "STRETCH", "stretch_max": 2.0} | settings)
    go_to(1)
    return rig


def again(after: str) -> float:
    """How near a bake comes to the motion with the add-on at work.

    A chain that is kept is stretched out in its keys, and its target as far as it is long: what rounding leaves for its
    knee to bend by is the root of it.
    """
    return 3e-3 if after == "KEEP" else EXACT


def assert_plays_as_live(rig: Rig, frames: range, action: str, after: str) -> None:
    length = sum(rig.lengths())
    expected = played(rig.ob, frames)
    go_to(frames[len(frames) // 2])
    bake(bpy.context, chains_of([rig.ob]), frames, action, after)
    assert apart(played_without_the_add_on(rig.ob, reversed(frames)), expected, length) < EXACT
    assert apart(played(rig.ob, frames), expected, length) < again(after)


@pytest.mark.some(12)
@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("scale_keys", [kind for kind in SCALE_KEYS if "driven" not in kind])
@pytest.mark.parametrize("seed", range(600, 606))
def test_a_bake_plays_without_the_add_on_as_the_chain_did_live(seed, step, scale_keys):
    rig = scale_animated_rig(seed, scale_keys)
    action = "COPY" if rig.ob.animation_data and seed % 2 else "CURRENT"
    after = ("MUTE", "REMOVE")[seed // 2 % 2]
    assert_plays_as_live(rig, range(1, 14, step), action, after)


@pytest.mark.some(4)
@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("seed", range(8))
def test_two_chains_in_line_are_baked_as_they_were_live(seed, after):
    upper, lower = two_in_line(seed)
    slide(upper.target.ob, (0.3, 0.2, 1.5), (0.5, 0.6, 4.0))
    slide(lower.target.ob, (0.5, 1.0, 5.0), (0.2, 1.5, 7.5))
    assert_plays_as_live(upper, range(1, 13, 2), "COPY", after)


@pytest.mark.some(5)
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("tolerance", [0.0, 1e-4])
@pytest.mark.parametrize("seed", range(3))
def test_one_of_two_in_line_is_baked_while_the_other_stays_live(seed, which, after, tolerance):
    """What the other makes of the bone that they share is in no key, or it would be made twice."""
    chains = two_in_line(seed)
    slide(chains[0].target.ob, (0.3, 0.2, 1.5), (0.5, 0.6, 4.0))
    slide(chains[1].target.ob, (0.5, 1.0, 5.0), (0.2, 1.5, 7.5))
    ob, frames = chains[0].ob, range(1, 13)
    expected = played(ob, frames)
    own = [name for name in chains_of([ob]) if name.tip == chains[which].bones[-1]]
    bake(bpy.context, own, frames, "COPY", after, tolerance)
    strays = apart(played(ob, reversed(frames)), expected, 2.0)
    assert strays < 5 * again(after) + 100 * tolerance


def test_only_bones_that_need_it_get_keys_of_their_scale():
    rig = reaching_leg()
    bake(bpy.context, chains_of([rig.ob]), range(1, 13))
    keyed = {bone.name for bone in rig.ob.pose.bones if scale_curves(rig.ob, bone.name)}
    assert keyed == {"thigh", "foot"}
    for name in keyed:
        for curve in scale_curves(rig.ob, name):
            assert keyed_frames(curve) == list(range(1, 13))


def test_a_bone_that_does_not_inherit_scale_gets_keys_of_its_own():
    rig = reaching_leg()
    rig.ob.data.bones["shin"].inherit_scale = "NONE"
    rig.ob.data.bones["foot"].inherit_scale = "NONE_LEGACY"
    assert_plays_as_live(rig, range(1, 13), "COPY", "MUTE")
    assert {bone.name for bone in rig.ob.pose.bones if scale_curves(rig.ob, bone.name)} == {"thigh", "shin"}


@pytest.mark.parametrize("settings", [{"stretch_max": 1.0}, {"reach": "CLAMP"}, {"influence": 0.0}])
def test_where_nothing_stretches_no_scale_is_keyed(settings):
    rig = reaching_leg(**settings)
    bake(bpy.context, chains_of([rig.ob]), range(1, 13))
    assert not any(scale_curves(rig.ob, bone.name) for bone in rig.ob.pose.bones)


# Tolerance


def tails(rig: Rig, poses: Poses) -> list[Vector]:
    tip = rig.ob.data.bones[rig.bones[-1]]
    return [pose[tip.name] @ Vector((0.0, tip.length, 0.0)) for pose in poses.values()]


def tip_strays(rig: Rig, now: Poses, expected: Poses) -> float:
    return max((a - b).length for a, b in zip(tails(rig, now), tails(rig, expected), strict=True))


def sizes(poses: Poses) -> list[float]:
    return [pose["foot"].to_scale().y for pose in poses.values()]


def circling_leg() -> Rig:
    """A leg whose target circles in and out of its reach."""
    rig = leg()
    for frame in range(1, 65):
        turn = 0.1 * frame
        rig.target.ob.location = (0.0, 0.9 * sin(turn), -0.1 + 0.9 * cos(turn))
        rig.target.ob.keyframe_insert("location", frame=frame)
    rig.enable(reach="STRETCH", stretch_max=2.0)
    return rig


def test_the_tip_and_the_size_of_the_end_bones_stay_within_the_tolerance():
    counts = []
    for tolerance in (0.005, 0.02, 0.1):
        empty_scene()
        rig, frames = circling_leg(), range(1, 65)
        expected = played(rig.ob, frames)
        bake(bpy.context, chains_of([rig.ob]), frames, "COPY", "MUTE", tolerance)
        now = played_without_the_add_on(rig.ob, frames)
        assert tip_strays(rig, now, expected) < tolerance + EXACT
        grown = [
            abs(a - b) * rig.ob.data.bones["foot"].length for a, b in zip(sizes(now), sizes(expected), strict=True)
        ]
        assert max(grown) < tolerance + EXACT
        counts.append({len(curve.keyframe_points) for curve in curves_of(rig.ob).values()})
    assert all(len(count) == 1 for count in counts), "a chain has all its keys together"
    assert counts[0].pop() > counts[1].pop() > counts[2].pop()


@pytest.mark.parametrize("which", [(1,), (0, 1)])
@pytest.mark.parametrize("seed", range(4))
def test_a_chain_on_the_end_of_a_stretching_one_stays_within_the_tolerance(seed, which):
    """Also where the one above stays live, and so is in no key."""
    chains = two_in_line(seed)
    for frame in range(1, 25):
        turn = 0.25 * frame
        chains[0].target.ob.location = (0.4 * sin(turn), 0.5, 3.0 + cos(2.0 * turn))
        chains[1].target.ob.location = (0.4 * cos(turn), 1.0, 6.5 + 0.5 * sin(turn))
        for rig in chains:
            rig.target.ob.keyframe_insert("location", frame=frame)
    ob, lower, frames = chains[0].ob, chains[1], range(1, 25)
    expected = played(ob, frames)
    names = [name for name in chains_of([ob]) if name.tip in [chains[k].tip.name for k in which]]
    bake(bpy.context, names, frames, "COPY", "MUTE", 0.02)
    assert tip_strays(lower, played(ob, frames), expected) < 0.02 + EXACT


def test_the_size_of_a_foot_alone_asks_for_keys():
    """The tip runs straight down a line, for which two keys are enough; its foot would swell between them."""
    rig, frames = leg(knee=0.0), range(1, 13)
    # A straight leg, straight down: nothing turns.
    slide(rig.target.ob, (0.0, 0.0, -0.1), (0.0, 0.0, -2.0))
    for point in (p for curve in curves_of(rig.target.ob).values() for p in curve.keyframe_points):
        point.interpolation = "LINEAR"
    rig.enable(reach="STRETCH", stretch_max=3.0)
    expected = played(rig.ob, frames)
    bake(bpy.context, chains_of([rig.ob]), frames, "COPY", "MUTE", 0.005)
    now = played_without_the_add_on(rig.ob, frames)
    assert max(abs(a - b) for a, b in zip(sizes(now), sizes(expected), strict=True)) * 0.4 < 0.005 + EXACT


# Refusals


def drive_scale(rig: Rig, bone: str) -> None:
    rig.ob.pose.bones[bone].driver_add("scale", 2).driver.expression = "1.0"


@pytest.mark.parametrize("bone", ["thigh", "foot"])
def test_a_driven_scale_is_refused_by_name(bone):
    rig = walking_leg(reach="STRETCH")
    drive_scale(rig, bone)
    update()
    with refuses(ChainError, rf"Bone '{bone}': a driver sets its scale .*. Remove that driver"):
        bake(bpy.context, chains_of([rig.ob]), range(1, 4))


@pytest.mark.parametrize(("bone", "reach"), [("shin", "STRETCH"), ("hips", "STRETCH"), ("thigh", "CLAMP")])
def test_a_driven_scale_that_no_chain_sets_is_none_of_its_concern(bone, reach):
    rig = walking_leg(reach=reach)
    drive_scale(rig, bone)
    update()
    bake(bpy.context, chains_of([rig.ob]), range(1, 4))
