"""The sample scenes open in every supported Blender, hold what they promise, and their limbs meet their targets."""

from pathlib import Path

import bpy
import pytest
from mathutils import Vector

from ik_addon.bake import bake, chains_of

pytestmark = pytest.mark.versions

FOLDER = Path(__file__).parents[1] / "sample_scenes"
SCENES = ("biped_walk", "spider", "tentacle", "paper_arm")
MET = 1e-5


def opened(name: str) -> bpy.types.Object:
    """Open a sample scene; its armature object."""
    bpy.ops.wm.open_mainfile(filepath=str(FOLDER / f"{name}.blend"))
    (ob,) = (ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")
    return ob


def bones_of(tip: bpy.types.PoseBone) -> list[bpy.types.PoseBone]:
    bones = [tip, *tip.parent_recursive]
    return bones[: tip.analytic_ik_chain_count or None]


def missed_by_more_than_it_must(ob: bpy.types.Object) -> float:
    """How much farther than the chain's reach demands a tip is from its target: the worst, in chain lengths."""
    posed = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    worst = 0.0
    for _, tip in chains_of([ob]):
        bone = posed.pose.bones[tip]
        chain = bones_of(bone)
        length = sum(link.length for link in chain)
        target = posed.matrix_world.inverted() @ bone.analytic_ik_target.matrix_world.translation
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
            target = bone.analytic_ik_target.matrix_world.translation
            assert (posed.matrix_world @ bone.tail - target).length <= report["max_error"] + 1e-5


def test_the_biped_walks_on_two_legs_with_poles():
    chains = chains_of([opened("biped_walk")])
    bones = bpy.data.objects[chains[0].armature].pose.bones
    assert {tip for _, tip in chains} == {"shin.L", "shin.R"}
    assert all(bones[tip].analytic_ik_pole_target and bones[tip].analytic_ik_chain_count == 2 for _, tip in chains)


def test_the_spider_has_eight_legs_of_two_bones():
    ob = opened("spider")
    assert len(chains_of([ob])) == 8
    assert all(len(bones_of(ob.pose.bones[tip])) == 2 for _, tip in chains_of([ob]))


def test_the_tentacle_has_twenty_joints():
    ob = opened("tentacle")
    ((_, tip),) = chains_of([ob])
    assert len(bones_of(ob.pose.bones[tip])) == 20


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
