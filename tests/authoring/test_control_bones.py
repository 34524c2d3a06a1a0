"""Controls as bones of the character: made where no bone moves, and posed, keyed and mirrored by Blender itself."""

import re
from random import Random

import bpy
import pytest
from mathutils import Matrix, Vector

from ik_addon.authoring.control_bones import control_names, edit_bones
from ik_addon.authoring.finding.limbs import FoundLimb, find_limbs
from ik_addon.authoring.placing import CONTROL_BONES
from ik_addon.authoring.rigging import rig_limbs
from ik_addon.rig.status.problems import problems_of
from ik_addon.ui.operators.rigs import ANALYTIC_IK_OT_rig_legs

from ..helpers.controlled import human_with_ground, rigged_with_bones, tips_of
from ..rig.rigs import BoneSpec, evaluated_copy, leg, new_armature, new_empty, update
from ..scenes import (
    EXACT,
    angle_between,
    apart,
    enter,
    link_from_library,
    pose_of,
    select,
    select_bones,
    selected_bone_names,
    where_one_stands,
    whole_state,
)
from ..ui.layouts import press
from .skeletons import FAMILIES, Family, armature_of

pytestmark = pytest.mark.versions

FAMILY = pytest.mark.parametrize("family", FAMILIES, ids=str)
HUMAN = FAMILIES[0]
PLACES = {
    "still": Matrix(),
    "scaled and turned": Matrix.Translation((3.0, -2.0, 1.0)) @ Matrix.Rotation(0.7, 4, "Z") @ Matrix.Scale(2.5, 4),
}


def body(family: Family = HUMAN, place: str = "still", seed: int | None = None) -> bpy.types.Object:
    """An armature, its bones turned at random by a seed."""
    ob = armature_of(family.bones())
    ob.matrix_world = PLACES[place]
    if seed is not None:
        random = Random(seed)
        for bone in ob.pose.bones:
            bone.rotation_mode = "XYZ"
            bone.rotation_euler = [random.uniform(-0.25, 0.25) for _ in range(3)]
            if bone.parent is None:
                bone.location = [random.uniform(-0.3, 0.3) for _ in range(3)]
    select(ob)
    select_bones(ob)
    update()
    return ob


def rigged(ob: bpy.types.Object | None = None, **options) -> bpy.types.Object:
    return rigged_with_bones(ob or body(), **options)


def shape_points(ob: bpy.types.Object, name: str) -> list[Vector]:
    """Where Blender draws the custom shape of a bone, in armature space."""
    bone = evaluated_copy(ob).pose.bones[name]
    scale = Matrix.Diagonal((*bone.custom_shape_scale_xyz, 1.0))
    drawn = bone.matrix @ Matrix.Translation(bone.custom_shape_translation) @ scale
    return [drawn @ vertex.co for vertex in ob.pose.bones[name].custom_shape.data.vertices]


# No bone moves


@pytest.mark.some(12)
@FAMILY
@pytest.mark.parametrize("place", ["still", pytest.param("scaled and turned", marks=pytest.mark.slow)])
def test_no_bone_of_the_character_moves(family, place):
    ob = body(family, place, seed=3)
    before = pose_of(ob)
    rigged(ob, arms=True)
    after = pose_of(ob)
    length = max(bone.length for bone in ob.data.bones)
    for name, pose in before.items():
        assert (after[name].translation - pose.translation).length <= 1e-4 * length
        assert angle_between(after[name], pose) <= 2e-3
    assert all(tip.analytic_ik_target == ob and tip.analytic_ik_subtarget for tip in tips_of(ob))


@pytest.mark.some(10)
@FAMILY
def test_a_moved_control_bone_takes_its_limb_along(family):
    ob = rigged(body(family))
    for tip in tips_of(ob):
        before = evaluated_copy(ob).pose.bones[tip.analytic_ik_subtarget].head.copy()
        control = ob.pose.bones[tip.analytic_ik_subtarget]
        if control.parent and control.bone.hide_select:
            # It is parented to a foot that hangs elsewhere, which is what one moves.
            control = control.parent
        control.location = control.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, -0.03, 0.06))
        moved = evaluated_copy(ob).pose.bones[tip.analytic_ik_subtarget].head - before
        assert moved.length > 0.05
        assert problems_of(ob, [tip.name], bpy.context.evaluated_depsgraph_get()) == {}
        end = evaluated_copy(ob).pose.bones[tip.name].matrix @ (
            tip.bone.matrix_local.inverted() @ ob.data.bones[tip.analytic_ik_end_bone].head_local
            if tip.analytic_ik_end_bone
            else Vector((0.0, tip.bone.length, 0.0))
        )
        assert (end - before - moved).length < 1e-4


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_chain_of_any_bones_gets_control_bones(count):
    ob = new_armature(
        "tail",
        [
            BoneSpec(
                f"tail.{k}", (0.0, 0.1 * k * k, 0.5 * k), (0.0, 0.1 * (k + 1) ** 2, 0.5 * k + 0.5), f"tail.{k - 1}"
            )
            if k
            else BoneSpec("tail.0", (0.0, 0.0, 0.0), (0.0, 0.1, 0.5))
            for k in range(5)
        ],
    )
    enter("POSE", ob, "tail.3")
    before = pose_of(ob)
    bpy.ops.analytic_ik.add(chain_count=count, controls="BONES")
    update()
    assert apart({name: pose_of(ob)[name] for name in before}, before, 2.0) < EXACT
    tip = ob.pose.bones["tail.3"]
    assert (tip.analytic_ik_subtarget, tip.analytic_ik_pole_subtarget) == ("tail.3_ik", "tail.3_pole")
    # The topmost bone lies on the ground; but if it is part of the chain, it cannot carry what moves it.
    parents = {bone.parent and bone.parent.name for bone in ob.data.bones if bone.name not in before}
    assert parents == {None if count == 4 else "tail.0"}


# What is made


def test_control_bones_are_what_riggers_expect():
    ob = rigged(human_with_ground())
    collection = ob.data.collections[CONTROL_BONES]
    assert {bone.name for bone in collection.bones} == {"foot_ik.L", "foot_ik.R", "knee_pole.L", "knee_pole.R"}
    for bone in collection.bones:
        assert not bone.use_deform and not bone.use_connect
        # Pole targets keep between foot and hips instead.
        assert (bone.parent.name if bone.parent else "") == ("" if "pole" in bone.name else "root")
        assert [each.name for each in bone.collections] == [CONTROL_BONES]
        red, _, blue = bone.color.custom.normal
        assert bone.color.palette == "CUSTOM"
        assert blue > 2.0 * red if bone.name.endswith("L") else red > 2.0 * blue
        pose_bone = ob.pose.bones[bone.name]
        assert not any((*pose_bone.lock_location, *pose_bone.lock_rotation))
        assert tuple(pose_bone.location) == (0.0, 0.0, 0.0)
    widgets = {ob.pose.bones[bone.name].custom_shape for bone in collection.bones}
    assert len(widgets) == 2
    [home] = {each for shape in widgets for each in shape.users_collection}
    assert home.hide_viewport and home.hide_render
    assert not any(shape.visible_get() for shape in widgets)
    assert not [each for each in bpy.data.objects if each.type == "EMPTY" and each.users_collection]


def test_the_outline_of_a_foot_lies_on_the_ground_about_its_skin():
    ob = rigged(human_with_ground())
    skin = [vertex.co for vertex in bpy.data.objects["skin"].data.vertices if vertex.co.z < 0.5]
    for side, sign in (("L", 1.0), ("R", -1.0)):
        points = shape_points(ob, f"foot_ik.{side}")
        assert all(abs(point.z) < 1e-5 for point in points)
        foot = [point for point in skin if point.x * sign > 0.0]
        for k in range(2):
            assert min(point[k] for point in points) < min(point[k] for point in foot)
            assert max(point[k] for point in points) > max(point[k] for point in foot)
        # It does not reach over to the other foot.
        assert all(point.x * sign > 0.0 for point in points)


@pytest.mark.parametrize(
    ("kind", "side", "place", "tip", "end", "names"),
    [
        ("LEG", "L", "", "shin.L", "foot.L", ("foot_ik.L", "knee_pole.L")),
        ("LEG", "R", "", "calf_r", "foot_r", ("foot_ik_r", "knee_pole_r")),
        ("LEG", "R", "", "Shin_R", "Foot_R", ("Foot_ik_R", "Knee_pole_R")),
        ("LEG", "L", "", "L_shin", "L_foot", ("L_foot_ik", "L_knee_pole")),
        ("ARM", "L", "", "LeftForeArm", "LeftHand", ("LeftHand_ik", "LeftElbow_pole")),
        ("LEG", "L", "", "mixamorig:LeftLeg", "mixamorig:LeftFoot", ("foot_ik.L", "knee_pole.L")),
        ("LEG", "L", "HIND", "hind_shin.L", "hind_foot.L", ("hind_foot_ik.L", "hind_knee_pole.L")),
        ("LEG", "", "", "leg2", "foot", ("foot_ik", "knee_pole")),
        ("", "", "", "tail.003", "", ("tail.003_ik", "tail.003_pole")),
        ("", "", "", "wing.L", "feather.L", ("wing_ik.L", "wing_pole.L")),
    ],
)
def test_names_follow_the_character(kind, side, place, tip, end, names):
    found = control_names(FoundLimb(kind, side, place, ("above", tip), end, "", ""))
    assert found == names
    if side:
        for name in found:
            assert bpy.utils.flip_name(name) != name
            assert bpy.utils.flip_name(bpy.utils.flip_name(name)) == name


@pytest.mark.parametrize("pair", [("Lefthand", "RightHand"), ("hand_L", "hand_r")])
def test_controls_of_a_pair_that_is_spelled_in_two_ways_mirror_each_other(pair):
    left, right = (
        control_names(FoundLimb("ARM", side, "", ("above", "below"), end, "", ""), pair)
        for side, end in zip("LR", pair, strict=True)
    )
    assert [bpy.utils.flip_name(name) for name in left] == [*right]


@pytest.mark.parametrize("as_bones", [True, False])
def test_a_third_arm_takes_no_name_of_the_pair(as_bones):
    arms = {"robot_{}.L": 0.5, "{}.L": 0.2, "{}.R": -0.2}
    specs = [
        spec
        for name, x in arms.items()
        for spec in (
            BoneSpec(name.format("upper_arm"), (x, 0.0, 2.0), (2.0 * x, 0.02, 2.0)),
            BoneSpec(name.format("forearm"), (2.0 * x, 0.02, 2.0), (3.0 * x, 0.0, 2.0), name.format("upper_arm")),
            BoneSpec(name.format("hand"), (3.0 * x, 0.0, 2.0), (3.3 * x, 0.0, 2.0), name.format("forearm")),
        )
    ]
    ob = new_armature("three arms", specs)
    found = [
        FoundLimb("ARM", name[-1], "", (name.format("upper_arm"), name.format("forearm")), name.format("hand"), "", "")
        for name in arms
    ]
    made = {one.limb.end: one for one in rig_limbs(bpy.context, ob, found, as_bones=as_bones).limbs}
    names = [one.target.bone or one.target.ob.name for one in (made["hand.L"], made["hand.R"])]
    assert bpy.utils.flip_name(names[0]) == names[1] and not names[0].endswith(".001")


def test_limbs_are_found_as_before_with_control_bones_beside_them():
    ob = body()
    before = find_limbs(ob.data.bones, arms=True)
    rigged(ob, arms=True)
    assert find_limbs(ob.data.bones, arms=True) == before


def test_bones_of_that_name_are_left_alone():
    ob = human_with_ground()
    with edit_bones(ob) as bones:
        own = bones.new("foot_ik.L")
        own.head, own.tail = (5.0, 0.0, 0.0), (5.0, 1.0, 0.0)
    rigged(ob)
    assert tuple(ob.data.bones["foot_ik.L"].head_local) == (5.0, 0.0, 0.0)
    assert ob.pose.bones["shin.L"].analytic_ik_subtarget == "foot_ik.L.001"


# Edit Mode for a moment


@pytest.mark.parametrize("mode", ["OBJECT", "POSE"])
def test_mode_selection_and_mirror_settings_stay(mode):
    other = leg("other").ob
    ob = human_with_ground()
    ob.data.use_mirror_x = ob.pose.use_mirror_x = True
    select(ob, other, active=ob)
    bpy.ops.object.mode_set(mode=mode)
    select_bones(ob, "hips", "thigh.R")
    before, selected, modes = where_one_stands(), selected_bone_names(ob), (ob.mode, other.mode)
    bpy.ops.analytic_ik.rig_legs(controls="BONES", only_selected=False)
    assert where_one_stands() == before
    assert (selected_bone_names(ob), (ob.mode, other.mode)) == (selected, modes)
    assert ob.data.bones.active.name == "thigh.R"
    assert ob.data.use_mirror_x and ob.pose.use_mirror_x
    assert len(bpy.data.scenes) == 1
    # With mirroring on, Blender would have brought each right bone to where the left one is.
    assert ob.data.bones["foot_ik.L"].head_local.x == -ob.data.bones["foot_ik.R"].head_local.x


def test_linked_and_overridden_armatures_are_refused_and_get_empties(tmp_path):
    ob = human_with_ground()
    bpy.data.objects["skin"].modifiers.clear()
    linked = link_from_library(ob, tmp_path)
    override = linked.override_create(remap_local_usages=True)
    override.override_library.is_system_override = False
    select(override)
    update()
    before = whole_state()
    sentence = "Armature 'human' has a library override and gets no new bones. Choose Empties as its controls"
    with pytest.raises(RuntimeError, match=re.escape(sentence)):
        bpy.ops.analytic_ik.rig_legs(controls="BONES")
    assert whole_state() == before
    press(ANALYTIC_IK_OT_rig_legs)
    assert all(tip.analytic_ik_target.type == "EMPTY" for tip in tips_of(override))
    assert len(tips_of(override)) == 2


def test_an_object_with_linked_data_is_refused(tmp_path):
    ob = human_with_ground()
    data = link_from_library(ob, tmp_path).data
    own = bpy.data.objects.new("own", data)
    bpy.context.scene.collection.objects.link(own)
    select(own)
    update()
    with pytest.raises(RuntimeError, match=r"Armature 'own' is linked and gets no new bones\. Choose Empties"):
        bpy.ops.analytic_ik.rig_legs(controls="BONES")


def test_objects_that_share_their_data_share_its_control_bones():
    ob = human_with_ground()
    twin = bpy.data.objects.new("twin", ob.data)
    bpy.context.scene.collection.objects.link(twin)
    twin.location = (2.0, 0.0, 0.0)
    update()
    twin.pose.bones["thigh.L"].rotation_quaternion = (0.97, 0.2, 0.0, 0.0)
    update()
    rigged(ob)
    names = set(ob.data.bones.keys())
    before = pose_of(twin)
    select(twin)
    rigged(twin)
    assert set(ob.data.bones.keys()) == names
    after = pose_of(twin)
    assert all((after[name].translation - before[name].translation).length < 1e-4 for name in before if "_" not in name)
    twin.pose.bones["foot_ik.L"].location.z += 0.1
    update()
    assert (pose_of(twin)["foot.L"].translation - pose_of(ob)["foot.L"].translation).length > 0.05
    # One of them gives its chains up: the other one still needs the bones.
    select_bones(twin, "shin.L", "shin.R")
    bpy.ops.analytic_ik.remove(delete_controls=True)
    assert set(ob.data.bones.keys()) == names
    select(ob)
    select_bones(ob, "shin.L", "shin.R")
    bpy.ops.analytic_ik.remove(delete_controls=True)
    assert not {"foot_ik.L", "knee_pole.R"} & set(ob.data.bones.keys())


# Removed


def test_removing_deletes_control_bones_that_nothing_else_uses():
    ob = rigged(human_with_ground())
    follower = new_empty("follower")
    constraint = follower.constraints.new("COPY_LOCATION")
    constraint.target, constraint.subtarget = ob, "knee_pole.R"
    select(ob)
    select_bones(ob, "shin.L", "shin.R")
    bpy.ops.analytic_ik.remove(delete_controls=True)
    assert {bone.name for bone in ob.data.bones if "_" in bone.name} == {"knee_pole.R"}
    constraint.subtarget = ""
    rigged(ob)
    assert ob.pose.bones["shin.R"].analytic_ik_pole_subtarget == "knee_pole.R"
    select_bones(ob, "shin.L", "shin.R")
    bpy.ops.analytic_ik.remove(delete_controls=True)
    assert CONTROL_BONES not in ob.data.collections
    assert not [each for each in bpy.data.collections if each.name.startswith("Analytic IK")]
    assert not [mesh for mesh in bpy.data.meshes if mesh.name.startswith("Analytic IK")]


def test_bones_that_the_user_made_are_never_deleted():
    ob = human_with_ground()
    with edit_bones(ob) as bones:
        own = bones.new("my control")
        own.head, own.tail = (0.1, 0.0, 0.1), (0.1, 0.3, 0.1)
    shin = ob.pose.bones["shin.L"]
    shin.analytic_ik_target, shin.analytic_ik_subtarget, shin.analytic_ik_enabled = ob, "my control", True
    select_bones(ob, "shin.L")
    bpy.ops.analytic_ik.remove(delete_controls=True)
    assert "my control" in ob.data.bones


def test_controls_that_are_kept_are_named_and_taken_again(capfd):
    ob = rigged(human_with_ground())
    select_bones(ob, "shin.L", "shin.R")
    bpy.ops.analytic_ik.remove()
    assert "Kept the controls 'foot_ik.L', 'knee_pole.L', 'foot_ik.R', 'knee_pole.R'" in capfd.readouterr().out
    names = set(ob.data.bones.keys())
    select_bones(ob)
    rigged(ob)
    assert set(ob.data.bones.keys()) == names
