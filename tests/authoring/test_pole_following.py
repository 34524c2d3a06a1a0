"""Pole targets between foot and body: Blender places them, and all that places controls knows how."""

from collections.abc import Iterator
from math import acos, pi
from random import Random

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_addon.authoring.knees import is_following, pole_and_carriers
from ik_addon.authoring.placing import Control, Placer
from ik_addon.rig.blender.sampling import Sampler, not_simple
from ik_addon.rig.pose.reading import SceneReader
from ik_addon.solvers import ChainError

from ..helpers.controlled import human_with_ground, rigged_with_bones, tips_of
from ..rig.rigs import evaluated_copy, update
from ..scenes import apart, enter, go_to, played, pose_of

pytestmark = pytest.mark.versions

FRAMES = range(1, 80)
LEG = 0.9


def walker(**options: object) -> bpy.types.Object:
    """A body with a root bone, hips and two legs of 0.9, its knees between foot and hips."""
    ob = rigged_with_bones(human_with_ground(), **options)
    for bone in ob.pose.bones:
        bone.rotation_mode = "XYZ"
    return ob


def walk(ob: bpy.types.Object, seed: int = 0) -> None:
    """Key hips and feet alone: some lengths of a leg there, half a circle on the spot, and back."""
    random, feet = Random(seed), [tip.analytic_ik_subtarget for tip in tips_of(ob)]
    heading, place = 0.0, Vector((0.0, 0.0, 0.0))
    for step, frame in enumerate(FRAMES[::6]):
        if 8 <= step < 12:
            heading += pi / 4.0
        else:
            place = place + Matrix.Rotation(heading, 3, "Z") @ Vector((0.0, -0.6, 0.0))
        for k, name in enumerate(("hips", *feet)):
            lag = Matrix.Rotation(heading, 3, "Z") @ Vector((0.0, random.uniform(-0.15, 0.15), 0.0))
            turn = heading + random.uniform(-0.3, 0.3)
            there = place + (lag if k else Vector((0.0, 0.0, -0.05)))
            moved = Matrix.Translation(there) @ Matrix.Rotation(turn, 4, "Z")
            _pose(ob, name, moved)
            for channel in ("location", "rotation_euler"):
                ob.pose.bones[name].keyframe_insert(channel, frame=frame)
    for curve in _curves(ob):
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"


def _curves(ob: bpy.types.Object) -> Iterator[bpy.types.FCurve]:
    action = ob.animation_data.action
    if hasattr(action, "layers"):
        yield from (curve for bag in action.layers[0].strips[0].channelbags for curve in bag.fcurves)
    else:
        yield from action.fcurves


def _pose(ob: bpy.types.Object, name: str, moved: Matrix) -> None:
    """Move a bone, whose parents rest, from its rest pose by this in armature space."""
    bone = ob.pose.bones[name]
    rest = bone.bone.matrix_local
    local = rest.inverted() @ moved @ rest
    bone.location, bone.rotation_euler = local.translation, local.to_euler("XYZ", bone.rotation_euler)


def knees(ob: bpy.types.Object) -> Iterator[tuple[Vector, Vector]]:
    """Where each knee points, and where foot and hips together do, from above."""
    bones = evaluated_copy(ob).pose.bones
    for tip in tips_of(ob):
        thigh, shin = bones[tip.parent.name], bones[tip.name]
        chord = (shin.tail - thigh.head).normalized()
        bend = shin.head - thigh.head
        bend -= chord * bend.dot(chord)
        ways = []
        for name in (tip.analytic_ik_subtarget, "hips"):
            turn = bones[name].matrix.to_3x3() @ bones[name].bone.matrix_local.to_3x3().inverted()
            ways.append(turn @ Vector((0.0, -1.0, 0.0)))
        yield bend.normalized(), (ways[0] + ways[1]).normalized()


def behind(ob: bpy.types.Object) -> int:
    """How many knees bend backward in all frames."""
    found = 0
    for frame in FRAMES:
        go_to(frame)
        found += sum(bend.dot(ahead) <= 0.0 for bend, ahead in knees(ob))
    return found


def without_poles(pose: dict[str, Matrix]) -> dict[str, Matrix]:
    """A pose without pole targets, whose place alone counts."""
    return {name: each for name, each in pose.items() if "pole" not in name}


def limbs_of(ob: bpy.types.Object) -> dict[str, Matrix]:
    return without_poles(pose_of(ob))


@pytest.mark.parametrize("seed", range(5))
def test_knees_stay_ahead_of_hips_and_feet_wherever_these_walk_and_turn(seed):
    ob = walker()
    walk(ob, seed)
    assert all(map(is_following, tips_of(ob)))
    assert behind(ob) == 0
    for frame in FRAMES:
        go_to(frame)
        # No knee turns more than what is between foot and hips.
        assert all(acos(min(1.0, bend.xy.normalized().dot(ahead.xy.normalized()))) < 0.3 for bend, ahead in knees(ob))


def test_poles_that_stay_are_left_behind():
    ob = walker(knees_follow=False)
    walk(ob)
    assert not any(map(is_following, tips_of(ob)))
    assert behind(ob) > len(FRAMES) // 4


def test_what_is_read_ahead_is_where_blender_has_it():
    ob = walker()
    walk(ob)
    poles = [tip.analytic_ik_pole_subtarget for tip in tips_of(ob)]
    assert not any(not_simple(ob, name) for name in poles)
    sampler = Sampler(FRAMES)
    sampled = {name: sampler.poses(ob, name) for name in poles}
    for k, frame in enumerate(FRAMES):
        go_to(frame)
        for name in poles:
            assert np.abs(sampled[name][k] - np.array(evaluated_copy(ob).pose.bones[name].matrix)).max() < 1e-5


@pytest.mark.parametrize("seed", range(6))
def test_placing_brings_a_pole_where_it_is_wanted(seed):
    ob, random = walker(), Random(seed)
    for name in ("hips", *(tip.analytic_ik_subtarget for tip in tips_of(ob))):
        ob.pose.bones[name].location = [random.uniform(-1.0, 1.0) for _ in range(3)]
        ob.pose.bones[name].rotation_euler = [random.uniform(-1.0, 1.0) for _ in range(3)]
    update()
    pole = Control(ob, tips_of(ob)[0].analytic_ik_pole_subtarget)
    wanted = Matrix.Translation([random.uniform(-2.0, 2.0) for _ in range(3)])
    Placer(SceneReader(bpy.context.evaluated_depsgraph_get())).place(pole, wanted)
    update()
    assert (evaluated_copy(ob).pose.bones[pole.bone].head - wanted.translation).length < 1e-5


def test_bones_that_are_turned_against_each_other_take_a_pole_nowhere():
    ob = walker()
    tip = tips_of(ob)[0]
    _pose(ob, "hips", Matrix.Rotation(pi, 4, "Z"))
    update()
    pole = Control(ob, tip.analytic_ik_pole_subtarget)
    before = ob.pose.bones[pole.bone].matrix_basis.copy()
    with pytest.raises(ChainError, match="turned half around"):
        Placer(SceneReader(bpy.context.evaluated_depsgraph_get())).place(pole, Matrix())
    assert ob.pose.bones[pole.bone].matrix_basis == before


def test_snapping_over_frames_gives_the_fk_pose():
    ob = walker()
    walk(ob)
    enter("POSE", ob, *(tip.name for tip in tips_of(ob)))
    shown = played(ob, FRAMES)
    assert bpy.ops.analytic_ik.snap_pose(use_range=True, frame_start=1, frame_end=FRAMES[-1]) == {"FINISHED"}
    assert bpy.ops.analytic_ik.snap_targets(use_range=True, frame_start=1, frame_end=FRAMES[-1]) == {"FINISHED"}
    for frame, pose in played(ob, FRAMES).items():
        own = without_poles(pose)
        assert apart({name: shown[frame][name] for name in own}, own, LEG) < 1e-4


def test_a_switch_moves_nothing_at_its_frame_and_back_is_as_before():
    ob = walker()
    walk(ob)
    go_to(20)
    enter("POSE", ob, *(tip.name for tip in tips_of(ob)))
    before, parents = limbs_of(ob), {bone.name: bone.parent and bone.parent.name for bone in ob.data.bones}
    assert bpy.ops.analytic_ik.pole_follows() == {"FINISHED"}
    update()
    assert not any(map(is_following, tips_of(ob)))
    assert all(ob.data.bones[tip.analytic_ik_pole_subtarget].parent.name == "root" for tip in tips_of(ob))
    assert apart(before, limbs_of(ob), LEG) < 1e-5
    assert behind(ob) > 0
    go_to(20)
    assert bpy.ops.analytic_ik.pole_follows() == {"FINISHED"}
    update()
    assert all(map(is_following, tips_of(ob)))
    assert apart(before, limbs_of(ob), LEG) < 1e-5
    assert {bone.name: bone.parent and bone.parent.name for bone in ob.data.bones} == parents


def test_a_pole_with_keys_stays_where_they_are():
    ob = walker()
    tip = tips_of(ob)[0]
    ob.pose.bones[tip.analytic_ik_pole_subtarget].keyframe_insert("location", frame=1)
    enter("POSE", ob, tip.name)
    with pytest.raises(RuntimeError, match="has keys, which place it"):
        bpy.ops.analytic_ik.pole_follows()
    assert is_following(tip)


def test_what_is_no_bone_of_the_armature_cannot_follow():
    ob = rigged_with_bones(human_with_ground())
    tip = tips_of(ob)[0]
    tip.analytic_ik_subtarget = ""
    enter("POSE", ob, tip.name)
    assert pole_and_carriers(tip) == ()
    with pytest.raises(RuntimeError, match="its pole target cannot follow"):
        bpy.ops.analytic_ik.pole_follows()


def test_captures_keep_their_poles_where_they_are():
    ob = human_with_ground()
    bone = ob.pose.bones["thigh.L"]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.1), (10, 0.6)):
        bone.rotation_euler.x = angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    rigged_with_bones(ob)
    assert not any(map(is_following, tips_of(ob)))


def test_a_pose_that_is_keyed_once_is_no_capture():
    ob = human_with_ground()
    ob.pose.bones["thigh.L"].keyframe_insert("rotation_quaternion", frame=1)
    rigged_with_bones(ob)
    assert all(map(is_following, tips_of(ob)))


def test_a_body_that_follows_its_limbs_takes_poles_along_halfway():
    ob = walker()
    ob.pose.bones["hips"].analytic_ik_body_influence = 1.0
    feet = [tip.analytic_ik_subtarget for tip in tips_of(ob)]
    for k, name in enumerate(feet):
        foot = ob.pose.bones[name]
        for frame in (1, 10, 20):
            foot.location = (0.3 * k * frame / 20.0, 0.2 * frame / 20.0, -0.4 * frame / 20.0)
            foot.keyframe_insert("location", frame=frame)
    for frame in (20, 5, 14):
        go_to(frame)
        shown = pose_of(ob)
        # Where nothing was known before, and read whole.
        update()
        go_to(frame + 1)
        go_to(frame)
        assert apart(shown, pose_of(ob), LEG) < 1e-5
        for tip in tips_of(ob):
            bones, pole = evaluated_copy(ob).pose.bones, tip.analytic_ik_pole_subtarget
            root, knee, end = bones[tip.parent.name].head, bones[tip.name].head, bones[tip.name].tail
            chord, to_pole = (end - root).normalized(), bones[pole].head - root
            side = to_pole - chord * to_pole.dot(chord)
            bend = knee - root
            bend -= chord * bend.dot(chord)
            if bend.length > 1e-3 * LEG:
                assert bend.normalized().dot(side.normalized()) > 1.0 - 1e-5


def test_native_chains_have_their_poles_between_foot_and_body():
    ob = walker()
    walk(ob)
    enter("POSE", ob, *(tip.name for tip in tips_of(ob)))
    shown = played(ob, FRAMES[::10])
    assert bpy.ops.analytic_ik.make_native() == {"FINISHED"}
    for frame, pose in played(ob, FRAMES[::10]).items():
        assert apart(shown[frame], {name: pose[name] for name in shown[frame]}, LEG) < 1e-4


@pytest.mark.parametrize("root", ["AUTO", "OBJECT"])
def test_root_motion_leaves_knees_where_they_are(root):
    ob = walker()
    walk(ob)
    enter("POSE", ob, *(tip.name for tip in tips_of(ob)))
    own = {tip.analytic_ik_pole_subtarget for tip in tips_of(ob)}
    before = {}
    for frame in FRAMES[::7]:
        go_to(frame)
        before[frame] = {name: ob.matrix_world @ pose for name, pose in pose_of(ob).items() if name not in own}
    assert bpy.ops.analytic_ik.root_motion(root=root) == {"FINISHED"}
    for frame, shown in before.items():
        go_to(frame)
        after = {name: ob.matrix_world @ pose_of(ob)[name] for name in shown if name != "root"}
        assert apart({name: shown[name] for name in after}, after, LEG) < 1e-4
    moved = ob.matrix_world if root == "OBJECT" else ob.pose.bones["root"].matrix
    assert moved.translation.length > 0.5


def test_feet_are_planted_with_their_knees_where_they_were():
    ob = walker()
    feet = [tip.analytic_ik_subtarget for tip in tips_of(ob)]
    for frame in range(1, 50):
        for k, name in enumerate(("hips", *feet)):
            bone, phase = ob.pose.bones[name], (frame / 24.0 + 0.5 * k) % 1.0
            forward = 0.02 * frame if not k else 0.02 * (frame - (phase - 0.5) * 24.0) if phase < 0.6 else 0.02 * frame
            height = 0.0 if not k or phase < 0.6 else 0.12
            moved = Matrix.Translation((0.0, -forward, height if k else -0.06))
            _pose(ob, name, moved)
            bone.keyframe_insert("location", frame=frame)
    enter("POSE", ob, *(tip.name for tip in tips_of(ob)))
    assert bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=49, anyway=True) == {"FINISHED"}
    assert all(map(is_following, tips_of(ob)))
    for frame in range(1, 50, 3):
        go_to(frame)
        assert all(bend.dot(ahead) > 0.9 for bend, ahead in knees(ob))
