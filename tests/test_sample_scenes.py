"""The sample scenes open in every supported Blender, hold what they promise, and their limbs meet their targets."""

from itertools import pairwise
from math import radians
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_addon.bake import bake, chains_of, check
from ik_addon.rig.blender.clips import has_keys, motion_frames

from .rig.rigs import evaluated_copy
from .scenes import curves_of, go_to, without_handlers

pytestmark = pytest.mark.versions

FOLDER = Path(__file__).parents[1] / "sample_scenes"
SCENES = ("biped_walk", "biped_control_bones", "spider", "tentacle", "paper_arm")
WITHOUT_CHAINS = ("biped_unrigged", "biped_capture")
NATIVE = "biped_native"
LARGEST_FILE = 500_000
MET = 1e-5


def opened(name: str) -> bpy.types.Object:
    """Open a sample scene; its armature object."""
    bpy.ops.wm.open_mainfile(filepath=str(FOLDER / f"{name}.blend"), load_ui=True)
    (ob,) = (ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")
    return ob


def bones_of(tip: bpy.types.PoseBone) -> list[bpy.types.PoseBone]:
    bones = [tip, *tip.parent_recursive]
    return bones[: tip.analytic_ik_chain_count or None]


def target_world(tip: bpy.types.PoseBone) -> Matrix:
    """Where the target of a chain is: an object, or a bone of its own armature."""
    at = tip.analytic_ik_target.matrix_world
    return at @ tip.id_data.pose.bones[tip.analytic_ik_subtarget].matrix if tip.analytic_ik_subtarget else at


def rolled_target(posed: bpy.types.Object, tip: bpy.types.PoseBone) -> Vector:
    """Where the ankle of a foot belongs that rolls over its ball or the middle of its heel bone; in world space."""
    target = target_world(tip)
    roll, name = tip.analytic_ik_foot_roll, tip.analytic_ik_end_bone
    if not roll:
        return target.translation
    bones = posed.data.bones
    foot, toe, heel = (bones[name.replace("foot", part)] for part in ("foot", "toe", "heel"))
    pivot = (heel.head_local + heel.tail_local) / 2.0 if roll < 0.0 else toe.head_local
    # The controls of the walk are turned as the feet are at rest, and these feet roll about the character's X.
    stand = target @ foot.matrix_local.to_3x3().inverted().to_4x4()
    pivot_from_ankle = pivot - foot.head_local
    return stand @ (pivot_from_ankle - Matrix.Rotation(roll, 3, "X") @ pivot_from_ankle)


def missed_by_more_than_it_must(ob: bpy.types.Object) -> float:
    """How much farther than the chain's reach demands a tip is from its target: the worst, in chain lengths."""
    posed = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    worst = 0.0
    for _, tip in chains_of([ob]):
        bone = posed.pose.bones[tip]
        chain = bones_of(bone)
        length = sum(link.length for link in chain)
        target = posed.matrix_world.inverted() @ rolled_target(posed, bone)
        too_far = max(0.0, (target - chain[-1].head).length - length)
        worst = max(worst, abs((bone.tail - target).length - too_far) / length)
    return worst


@pytest.mark.parametrize("name", SCENES)
def test_every_limb_meets_its_target_on_every_frame(name):
    ob = opened(name)
    scene = bpy.context.scene
    assert scene.frame_end - scene.frame_start + 1 >= 48
    for frame in range(scene.frame_start, scene.frame_end + 1, 5):
        scene.frame_set(frame)
        assert missed_by_more_than_it_must(ob) < MET, f"frame {frame}"


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_plays_the_same_baked(name):
    ob = opened(name)
    scene = bpy.context.scene
    frames = range(scene.frame_start, scene.frame_end + 1, 10)
    reports = bake(bpy.context, chains_of([ob]), frames)["files"][0]["chains"]
    assert not chains_of([ob])
    for frame in frames:
        scene.frame_set(frame)
        posed = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        for report in reports:
            bone = posed.pose.bones[report["bone"]]
            target = rolled_target(posed, bone)
            assert (posed.matrix_world @ bone.tail - target).length <= report["max_error"] + 1e-5


@pytest.mark.parametrize("name", [*SCENES, *WITHOUT_CHAINS, NATIVE])
def test_a_scene_opens_small_with_its_text_the_tab_and_a_chain(name, tmp_path):
    ob = opened(name)
    assert (FOLDER / f"{name}.blend").stat().st_size < LARGEST_FILE
    assert bpy.context.object == ob
    assert ob.mode == "POSE"

    lines = bpy.data.texts["Read me"].as_string().split("\n\n")
    assert [line[:2] for line in lines if line.strip()] == ["1.", "2.", "3.", "4.", "5."]
    areas = bpy.context.window.screen.areas
    assert [area.spaces.active.text.name for area in areas if area.type == "TEXT_EDITOR"] == ["Read me"]
    assert not ob.analytic_ik_report
    assert all(area.spaces.active.show_region_ui for area in areas if area.type == "VIEW_3D")
    # Only a sidebar that was drawn tells its tab. In the file it is a name by itself; a workspace's has "WS" before it.
    copy = tmp_path / "copy.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(copy), compress=False, copy=True)
    assert b"\0Analytic IK\0" in copy.read_bytes()

    active = bpy.context.active_pose_bone
    if name in WITHOUT_CHAINS:
        assert active is None
        assert not bpy.context.selected_pose_bones
    elif name == NATIVE:
        assert active.name == "foot_ik.L"
    else:
        controls = {bone.analytic_ik_subtarget for bone in ob.pose.bones if bone.analytic_ik_enabled}
        assert active.analytic_ik_enabled or active.name in controls
        # Blender 5 takes the active bone out of an older file, and not which bones were selected.
        assert bpy.context.selected_pose_bones == ([active] if bpy.app.version < (5, 0) else [])


def test_the_biped_walks_on_two_legs_with_poles_and_feet_that_roll():
    ob = opened("biped_walk")
    tips = [ob.pose.bones[tip] for _, tip in chains_of([ob])]
    assert {tip.name for tip in tips} == {"shin.L", "shin.R"}
    assert all(tip.analytic_ik_pole_target and tip.analytic_ik_chain_count == 2 for tip in tips)
    assert all(tip.analytic_ik_use_rotation for tip in tips)
    assert not any(ob.pose.bones[f"foot.{side}"].constraints for side in "LR")
    rolls = []
    for frame in range(1, 49):
        bpy.context.scene.frame_set(frame)
        rolls += [tip.analytic_ik_foot_roll for tip in tips]
    assert min(rolls) < radians(-10.0)
    assert max(rolls) > radians(30.0)


def test_one_step_of_the_biped_is_too_long():
    chains = chains_of([opened("biped_walk")])
    reports = check(bpy.context, chains, range(1, bpy.context.scene.frame_end + 1))["files"][0]["chains"]
    left, right = (next(each for each in reports if each["bone"] == f"shin.{side}") for side in "LR")
    ((first, last),) = left["unreached_frames"]
    assert 1 <= last - first <= 10
    assert 0.03 < left["max_error"] < 0.1
    assert not right["unreached_frames"]


def test_the_biped_with_control_bones_is_all_in_one_action():
    ob = opened("biped_control_bones")
    tips = [ob.pose.bones[tip] for _, tip in chains_of([ob])]
    assert {tip.name for tip in tips} == {"shin.L", "shin.R", "forearm.L", "forearm.R"}
    assert all(tip.analytic_ik_target == tip.analytic_ik_pole_target == ob for tip in tips)
    assert not [other for other in bpy.context.scene.objects if other.type == "EMPTY"]
    assert [action.name for action in bpy.data.actions] == ["Robot rig motion"]
    # It stands on its feet while it waves: the right one stays, the left one taps.
    feet = {side: set() for side in "LR"}
    for frame in range(1, bpy.context.scene.frame_end + 1, 8):
        bpy.context.scene.frame_set(frame)
        for side in feet:
            posed = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
            feet[side].add(tuple(round(number, 4) for number in posed.pose.bones[f"foot.{side}"].head))
    assert len(feet["R"]) == 1
    assert len(feet["L"]) > 1


def test_the_native_biped_waves_as_the_live_one_without_the_add_on():
    ob = opened("biped_control_bones")
    frames = range(1, bpy.context.scene.frame_end + 1, 5)
    names = [name for name, bone in ob.pose.bones.items() if not bone.bone.hide_select]

    def shown() -> np.ndarray:
        found = []
        for frame in frames:
            go_to(frame)
            copy = evaluated_copy(bpy.context.object)
            found.append([[list(row) for row in copy.pose.bones[name].matrix] for name in names])
        return np.array(found, float)

    live = shown()
    ob = opened(NATIVE)
    assert not chains_of([ob])
    with without_handlers():
        assert np.abs(shown() - live).max() < 1e-4
    # Blender shows its settings by itself.
    assert ob.pose.bones["shin.L"]["ik_influence"] == 1.0


def test_the_native_biped_becomes_live_again():
    ob = opened(NATIVE)
    assert bpy.ops.analytic_ik.make_live() == {"FINISHED"}
    assert len(chains_of([ob])) == 4
    assert missed_by_more_than_it_must(ob) < MET


def test_the_capture_has_keys_on_every_frame_and_nothing_else():
    ob = opened("biped_capture")
    assert not chains_of([ob])
    assert not any(bone.constraints for bone in ob.pose.bones)
    assert not [other for other in bpy.context.scene.objects if other.type == "EMPTY"]
    frames = range(1, bpy.context.scene.frame_end + 1)
    assert motion_frames(ob) == frames
    assert has_keys(ob, [bone.name for bone in ob.pose.bones if bone.name.startswith(("thigh", "shin", "foot"))])


def test_the_feet_of_the_capture_slide_and_stay_where_rig_legs_makes_them_stay():
    ob = opened("biped_capture")
    bpy.context.scene.frame_set(1)
    frames = range(1, bpy.context.scene.frame_end + 1, 10)
    before = motion_of_joints(ob, frames)
    assert slide(ob) > 0.01
    assert bpy.ops.analytic_ik.rig_legs() == {"FINISHED"}
    after = motion_of_joints(ob, frames)
    assert all((after[key] - place).length < 1e-4 for key, place in before.items())
    control = ob.pose.bones["shin.L"].analytic_ik_target
    for curve in curves_of(control).values():
        for point in curve.keyframe_points:
            if point.co.x in STANDS:
                point.co.y = curve.evaluate(STANDS[0])
        curve.update()
    assert slide(ob) < 1e-4


STANDS = range(10, 16)
"""Frames at which the left foot of the walk stands on its whole sole."""


def slide(ob: bpy.types.Object, frames: range = STANDS) -> float:
    """How far the left ankle moves while it stands."""
    ways = motion_of_joints(ob, frames)
    ankles = [ways[frame, "shin.L"] for frame in frames]
    return max((ankle - ankles[0]).length for ankle in ankles)


def motion_of_joints(ob: bpy.types.Object, frames: range) -> dict[tuple[int, str], Vector]:
    """Where every bone's tail is at some frames."""
    joints = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        joints |= {(frame, name): joint for name, joint in joints_world(ob).items()}
    return joints


def test_the_spider_has_eight_legs_of_two_bones():
    ob = opened("spider")
    assert len(chains_of([ob])) == 8
    assert all(len(bones_of(ob.pose.bones[tip])) == 2 for _, tip in chains_of([ob]))


def test_the_tentacle_has_twenty_bones_and_curls():
    ob = opened("tentacle")
    ((_, tip),) = chains_of([ob])
    chain = bones_of(ob.pose.bones[tip])
    assert len(chain) == 20
    for frame in range(1, bpy.context.scene.frame_end + 1, 12):
        bpy.context.scene.frame_set(frame)
        posed = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        bends = [posed[a.name].vector.angle(posed[b.name].vector) for a, b in pairwise(chain)]
        # A desk lamp bends at a joint or two; here none does all of it, and most do some.
        assert max(bends) < radians(20.0)
        assert sum(bend > radians(3.0) for bend in bends) >= 15


def test_the_paper_arm_has_the_lengths_of_the_paper_and_targets_out_of_its_reach():
    ob = opened("paper_arm")
    ((_, tip),) = chains_of([ob])
    lengths = [bone.length for bone in reversed(bones_of(ob.pose.bones[tip]))]
    assert lengths == pytest.approx([0.9, 0.9, 0.9, 0.9, 0.4], rel=1e-5)
    report = bake(bpy.context, chains_of([ob]), range(1, bpy.context.scene.frame_end + 1, 8))
    assert report["files"][0]["chains"][0]["unreached_frames"]


def joints_world(ob: bpy.types.Object) -> dict[str, Vector]:
    """Where every bone's tail is as posed."""
    posed = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return {bone.name: posed.matrix_world @ bone.tail for bone in posed.pose.bones}


def test_the_unrigged_biped_is_the_walking_one_without_anything_done_to_it():
    walking = opened("biped_walk")
    rest = {bone.name: (bone.parent and bone.parent.name, bone.matrix_local.copy()) for bone in walking.data.bones}
    robot = len(bpy.data.objects["Robot"].data.vertices)
    ob = opened("biped_unrigged")
    assert {bone.name: (bone.parent and bone.parent.name, bone.matrix_local.copy()) for bone in ob.data.bones} == rest
    assert len(bpy.data.objects["Robot"].data.vertices) == robot
    assert not chains_of([ob])
    assert not any(bone.constraints for bone in ob.pose.bones)
    assert not [other for other in bpy.context.scene.objects if other.type == "EMPTY"]
    assert not bpy.data.actions
    assert bpy.context.object == ob
    assert ob.mode == "POSE"


@pytest.mark.parametrize(
    ("arms", "tips"),
    [(False, {"shin.L", "shin.R"}), (True, {"shin.L", "shin.R", "forearm.L", "forearm.R"})],
)
def test_rig_legs_finds_the_limbs_of_the_unrigged_biped_and_moves_none(arms, tips):
    ob = opened("biped_unrigged")
    before = joints_world(ob)
    assert bpy.ops.analytic_ik.rig_legs(arms=arms) == {"FINISHED"}
    assert {tip for _, tip in chains_of([ob])} == tips
    for name, joint in joints_world(ob).items():
        assert (joint - before[name]).length < MET, name
    for tip in tips:
        bone = ob.pose.bones[tip]
        assert bone.analytic_ik_use_rotation and bone.analytic_ik_pole_target
        bone.analytic_ik_target.location.z += 0.1
    assert missed_by_more_than_it_must(ob) < MET
