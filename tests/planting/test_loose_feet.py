"""Legs whose feet hang on the root: what is seen stands, heel and ball, and what stands already is left alone."""

from dataclasses import replace
from itertools import product

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_addon.authoring.placing import Control, keyed_control
from ik_addon.authoring.rigging import rig_legs
from ik_addon.bake.formats import open_file
from ik_addon.planting import Options, plant
from ik_addon.planting.scene.checking import check_feet
from ik_addon.planting.scene.limbs import foot_of
from ik_addon.planting.scene.reading import ball_of, leg_tips
from ik_addon.rig.blender.clips import clip_name, clips_of, motion_frames, play
from ik_addon.solvers import ChainError

from ..clips.characters import CHARACTERS
from ..rig.rigs import BoneSpec, evaluated_copy, new_armature, update
from ..scenes import go_to

pytestmark = [pytest.mark.versions, pytest.mark.slow]


def playing(file: str, clip: str, rig: bool = True, as_bones: bool = False) -> bpy.types.Object:
    path = CHARACTERS / file
    if not path.exists():
        pytest.skip(f"{path} is not there")
    open_file(path)
    ob = next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")
    bpy.context.view_layer.objects.active = ob
    if rig:
        rig_legs(bpy.context, ob, as_bones=as_bones)
    clips = clips_of(ob)
    play(ob, next(each for each in clips if clip_name(each, clips).rpartition("|")[2].startswith(clip)))
    update()
    return ob


@pytest.mark.parametrize("as_bones", [False, True])
@pytest.mark.parametrize("clip", ["Walk", "Run_Back"])
def test_a_foot_that_is_seen_stands(clip, as_bones):
    ob = playing("quat_cyberpunk_22_clips.glb", clip, as_bones=as_bones)
    tips = leg_tips(ob)
    assert [foot_of(tip).name for tip in tips] == ["Foot.L", "Foot.R"]
    before = [foot["after"]["slide"] for foot in check_feet(bpy.context, ob, motion_frames(ob))]
    plant(bpy.context, tips, motion_frames(ob), Options())
    after = [foot["after"]["slide"] for foot in check_feet(bpy.context, ob, motion_frames(ob))]
    assert max(before) > 0.05 and max(after) < 1e-4


@pytest.mark.parametrize("as_bones", [False, True])
def test_no_leg_is_torn_off_its_foot(as_bones):
    """By Blender's own evaluation, whatever is taken for the foot."""
    ob = playing("quat_Wolf.glb", "Walk", as_bones=as_bones)
    frames, pairs = motion_frames(ob), [("FrontLowerLeg.L", "IKFrontLeg.L"), ("BackLowerLeg.R", "IKBackLeg.R")]

    def gaps() -> np.ndarray:
        found = []
        for frame in frames:
            go_to(frame)
            bones = evaluated_copy(ob).pose.bones
            found.append([(bones[shin].tail - bones[foot].head).length for shin, foot in pairs])
        return np.array(found)

    before = gaps()
    plant(bpy.context, leg_tips(ob), frames, Options())
    assert np.abs(gaps() - before).max() < 0.02 * before.max()


def test_a_foot_is_measured_where_it_is_seen_with_and_without_a_chain():
    found = []
    for rig in (False, True):
        ob = playing("quat_cyberpunk_22_clips.glb", "Walk", rig)
        found.append([foot["after"]["slide"] for foot in check_feet(bpy.context, ob, motion_frames(ob))])
    assert found[0] == pytest.approx(found[1], abs=1e-4)


def test_feet_that_stand_though_their_legs_do_not_are_left_alone():
    ob = playing("quat_cyberpunk_22_clips.glb", "Wave")
    with pytest.raises(ChainError, match="its feet stand already"):
        plant(bpy.context, leg_tips(ob), motion_frames(ob), Options())


@pytest.mark.parametrize("head", [0.0, 1.0])
def test_a_control_bone_that_cannot_be_selected_is_moved_by_the_foot_where_it_begins(head):
    """Elsewhere somebody locked it, and what it is parented to is no foot."""
    ob = new_armature(
        "leg",
        [
            BoneSpec("carrier", (0.0, head, 0.0), (0.0, head - 0.3, 0.0)),
            BoneSpec("control", (0.0, 0.0, 0.0), (0.0, -0.3, 0.0), "carrier"),
            BoneSpec("thigh", (0.0, 0.0, 2.0), (0.0, -0.2, 1.0)),
            BoneSpec("shin", (0.0, -0.2, 1.0), (0.0, 0.0, 0.0), "thigh", connect=True),
        ],
    )
    target = Control(ob, "control")
    assert keyed_control(ob.pose.bones["shin"], target) == target
    ob.data.bones["control"].hide_select = True
    assert keyed_control(ob.pose.bones["shin"], target) == (target if head else Control(ob, "carrier"))


def ball_on_leg(
    size: float, knee: float, foot: BoneSpec, skin: list[tuple[float, float, float]]
) -> tuple[Vector, float]:
    """Where the ball of a foot with this skin is in armature space, and how far the skin is below it."""
    ob = new_armature(
        "leg",
        [
            BoneSpec("thigh", size * Vector((0.0, 0.0, 2.0)), size * Vector((0.0, -knee, 1.0))),
            BoneSpec("shin", size * Vector((0.0, -knee, 1.0)), size * Vector((0.0, 0.0, 0.1)), "thigh", connect=True),
            replace(foot, head=size * Vector(foot.head), tail=size * Vector(foot.tail)),
        ],
    )
    mesh = bpy.data.meshes.new("shoe")
    mesh.from_pydata([size * Vector(point) for point in skin], [], [])
    shoe = bpy.data.objects.new("shoe", mesh)
    bpy.context.scene.collection.objects.link(shoe)
    shoe.vertex_groups.new(name="foot").add(range(len(skin)), 1.0, "REPLACE")
    shoe.parent = ob
    shoe.modifiers.new("skin", "ARMATURE").object = ob
    update()
    end, *bones = (ob.pose.bones[name] for name in ("foot", "thigh", "shin"))
    joints = [bones[0].bone.head_local, bones[1].bone.head_local, bones[1].bone.tail_local]
    ball, below = ball_of(ob, joints, bones, end)
    return end.bone.matrix_local @ Vector(ball), below


def box(y: tuple[float, float], z: tuple[float, float]) -> list[tuple[float, float, float]]:
    return [*product((-0.1, 0.1), y, z)]


@pytest.mark.parametrize("size", [0.01, 1.0])
@pytest.mark.parametrize(("length", "knee", "is_a_foot"), [(0.5, 0.2, True), (0.5, -0.2, False), (0.3, 0.2, False)])
def test_the_ball_of_a_foot_that_hangs_on_the_root_is_on_the_skin_of_its_sole(size, length, knee, is_a_foot):
    """Its bone is a control without a length. A hoof has none, nor has what the knee does not bend over."""
    ends = (0.2 * length, -0.8 * length)
    foot = BoneSpec("foot", (0.0, 0.0, 0.1), (0.0, 0.0, 0.09))
    ball, below = ball_on_leg(size, knee, foot, box(ends, (0.0, 0.2)))
    wanted = Vector((0.0, ends[0] + 0.7 * (ends[1] - ends[0]), 0.0)) if is_a_foot else Vector((0.0, 0.0, 0.09))
    assert tuple(ball) == pytest.approx(tuple(size * wanted), abs=1e-5 * size)
    assert below == pytest.approx(0.0 if is_a_foot else 0.09 * size, abs=1e-5 * size)


@pytest.mark.parametrize("tail", [(0.0, 0.0, 0.5), (0.0, 0.2, 0.4), (0.0, -0.3, 0.02)])
def test_the_ball_of_a_paw_whose_bone_goes_up_is_below_it(tail):
    """Importers put the tails of bones without a child anywhere."""
    ball, below = ball_on_leg(1.0, 0.2, BoneSpec("foot", (0.0, 0.0, 0.1), tail, "shin"), box((0.05, -0.2), (0.0, 0.2)))
    goes_up = tail[2] > 0.1
    assert tuple(ball) == pytest.approx((0.0, -0.075, 0.0) if goes_up else tail, abs=1e-5)
    assert below == pytest.approx(0.0 if goes_up else tail[2], abs=1e-5)
