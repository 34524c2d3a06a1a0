"""Grab as an operator: in Pose Mode, by bone and place; only FK channels, controls of chains, and keys change."""

from itertools import product

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_addon import api, messages
from ik_addon.authoring.keys import auto_keying

from ..rig.rigs import editing, evaluated_copy, update
from ..scenes import apart, curves_of, enter, pose_of, whole_state
from .bodies import person

LEG = 0.87
HELD = 1e-6 * LEG


def grab(**options):
    result = bpy.ops.analytic_ik.grab(**options)
    update()
    return result


def head_of(ob, bone):
    return ob.matrix_world @ evaluated_copy(ob).pose.bones[bone].head


@pytest.fixture
def ob():
    ob = person()
    enter("POSE", ob, "hips")
    update()
    return ob


@pytest.mark.versions
def test_the_active_bone_goes_to_its_place_and_feet_stay(ob):
    feet = {bone: evaluated_copy(ob).pose.bones[bone].matrix.copy() for bone in ("foot.L", "foot.R")}
    place = head_of(ob, "hips") + Vector((0.05, 0.1, -0.3))
    assert grab(location=place) == {"FINISHED"}
    assert (head_of(ob, "hips") - place).length < HELD
    for bone, before in feet.items():
        after = evaluated_copy(ob).pose.bones[bone].matrix
        assert np.abs(np.array(after) - np.array(before)).max() < 2e-6


@pytest.mark.versions
@pytest.mark.parametrize("bone", ["hand.L", "foot.R"])
def test_hands_and_feet_go_to_their_places(ob, bone):
    place = head_of(ob, bone) + Vector((0.1, -0.3, 0.2))
    report = api.grab(ob, bone, place)
    update()
    assert (head_of(ob, bone) - place).length < HELD and report["missed"] < HELD
    assert set(report["held"]) == {"foot.L", "foot.R"} - {bone} and report["turned"]


def test_a_place_out_of_reach_is_missed_by_what_is_told(ob):
    place = head_of(ob, "hand.L") + Vector((0.0, -3.0, 0.0))
    feet = [head_of(ob, bone) for bone in ("toe.L", "toe.R")]
    report = api.grab(ob, "hand.L", place)
    update()
    assert abs((head_of(ob, "hand.L") - place).length - report["missed"]) < HELD and report["missed"] > 1.0
    for bone, before in zip(("toe.L", "toe.R"), feet, strict=True):
        assert (head_of(ob, bone) - before).length < 1e-5 * LEG
    assert grab(bone="hand.L", location=place) == {"FINISHED"}


def test_only_fk_channels_change_and_keys_only_as_auto_keying_asks(ob):
    before = whole_state()
    names = {bone.name for bone in ob.pose.bones}
    grab(location=head_of(ob, "hips") - Vector((0.0, 0.0, 0.3)))
    assert ob.animation_data is None
    assert not any(bone.is_property_set("analytic_ik_pin") for bone in ob.pose.bones)
    turned = {bone.name for bone in ob.pose.bones if bone.matrix_basis != Matrix()}
    assert turned and turned <= names
    for bone in ob.pose.bones:
        bone.location, bone.rotation_quaternion = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
    update()
    assert whole_state() == before


def test_auto_keying_keys_what_changed(ob):
    edit = bpy.context.preferences.edit
    available, edit.use_keyframe_insert_available = edit.use_keyframe_insert_available, False
    try:
        with auto_keying(bpy.context):
            report = api.grab(ob, "hips", head_of(ob, "hips") - Vector((0.0, 0.0, 0.3)))
    finally:
        edit.use_keyframe_insert_available = available
    keyed = {path.partition('"')[2].partition('"')[0] for path, _ in curves_of(ob)}
    assert keyed == set(report["turned"])
    assert ('pose.bones["hips"].location', 0) in curves_of(ob)


def test_pins_say_what_is_held(ob):
    low = head_of(ob, "hips") - Vector((0.0, 0.0, 0.3))
    ob.pose.bones["foot.L"].analytic_ik_pin = "FREE"
    ob.pose.bones["hand.L"].analytic_ik_pin = "LOCATION"
    assert api.grab(ob, "hips", low)["held"] == {"foot.R": "BOTH", "hand.L": "LOCATION"}
    update()
    # A free foot is below the other one by now, and that stands all the same.
    assert head_of(ob, "foot.L").z < head_of(ob, "foot.R").z - 0.1
    assert api.grab(ob, "hips", low)["held"] == {"foot.R": "BOTH", "hand.L": "LOCATION"}


def test_a_foot_stands_by_its_place_at_rest():
    """Ankles may be at different heights, as those in front and behind of a horse."""
    ob = person()
    with editing(ob) as bones:
        bones["shin.L"].tail.z += 0.15
        bones["foot.L"].head.z = bones["shin.L"].tail.z
    enter("POSE", ob, "hips")
    update()
    low = head_of(ob, "hips") - Vector((0.0, 0.0, 0.1))
    assert set(api.grab(ob, "hips", low)["held"]) == {"foot.L", "foot.R"}
    api.grab(ob, "foot.L", head_of(ob, "foot.L") + Vector((0.0, 0.0, 0.1)))
    update()
    assert set(api.grab(ob, "hips", low)["held"]) == {"foot.R"}


@pytest.mark.parametrize(("down", "stands"), [(0.85, True), (0.0, False), (-0.85, False), (1.3, True)])
def test_a_foot_that_stands_on_its_toes_stands(down, stands):
    """Its heel and ball are up; its toes are on the ground, or in it as in many clips."""
    ob = person()
    enter("POSE", ob, "hips")
    api.grab(ob, "foot.R", head_of(ob, "foot.R") + Vector((0.0, 0.0, 0.06)))
    toe = ob.pose.bones["toe.R"]
    toe.rotation_mode = "XYZ"
    for sign in (1.0, -1.0):
        toe.rotation_euler.x = sign * down
        update()
        if (toe.tail.z - toe.head.z) * down <= 0.0:
            break
    low = head_of(ob, "hips") - Vector((0.0, 0.0, 0.1))
    assert ("foot.R" in api.grab(ob, "hips", low)["held"]) == stands
    update()
    # What stood, stays so while the pose is edited.
    assert not stands or "foot.R" in api.grab(ob, "hips", low)["held"]


@pytest.mark.versions
def test_the_pin_operator_goes_back_to_automatic(ob):
    foot, hand = ob.pose.bones["foot.L"], ob.pose.bones["hand.L"]
    for bone, first in ((foot, "FREE"), (hand, "BOTH")):
        assert bpy.ops.analytic_ik.pin(bone=bone.name) == {"FINISHED"}
        assert bone.analytic_ik_pin == first
        bpy.ops.analytic_ik.pin(bone=bone.name)
        assert not bone.is_property_set("analytic_ik_pin")
    with pytest.raises(RuntimeError, match=messages.GRAB_NO_LIMB(bone="chest")[:20]):
        bpy.ops.analytic_ik.pin(bone="chest")


def rigged(**options):
    """A person whose legs and arms have chains."""
    ob = person()
    api.rig(ob, **options)
    enter("POSE", ob, "hips")
    update()
    return ob


@pytest.mark.versions
@pytest.mark.parametrize("controls", ["EMPTIES", "BONES"])
def test_legs_with_chains_are_held_by_their_controls(controls):
    ob = rigged(controls=controls)
    before, feet = pose_of(ob), [head_of(ob, bone) for bone in ("foot.L", "foot.R")]
    fk = {bone: ob.pose.bones[bone].matrix_basis.copy() for bone in ("thigh.L", "shin.L", "foot.L")}
    report = api.grab(ob, "hips", head_of(ob, "hips") + Vector((0.0, 0.05, -0.3)))
    update()
    for bone, place in zip(("foot.L", "foot.R"), feet, strict=True):
        assert (head_of(ob, bone) - place).length < 1e-5 * LEG
    assert {bone: ob.pose.bones[bone].matrix_basis for bone in fk} == fk
    assert set(report["held"]) == {"foot.L", "foot.R"} and report["turned"] == ["hips"]
    assert apart(before, pose_of(ob), 1.0) > 0.1


@pytest.mark.versions
@pytest.mark.parametrize("controls", ["EMPTIES", "BONES"])
def test_a_foot_with_a_chain_is_dragged_by_its_control(controls):
    ob = rigged(controls=controls)
    place = head_of(ob, "foot.L") + Vector((0.0, -0.2, 0.25))
    fk = {bone: ob.pose.bones[bone].matrix_basis.copy() for bone in ("thigh.L", "shin.L", "foot.L")}
    report = api.grab(ob, "foot.L", place)
    update()
    assert (head_of(ob, "foot.L") - place).length < 1e-5 * LEG and report["missed"] < 1e-5
    assert {bone: ob.pose.bones[bone].matrix_basis for bone in fk} == fk


def said_by(ob, bone="hips"):
    with pytest.raises(api.ChainError) as error:
        api.grab(ob, bone, head_of(ob, bone) - Vector((0.0, 0.0, 0.2)))
    return str(error.value)


def test_chains_that_cannot_be_held_are_refused():
    ob = rigged()
    tip = ob.pose.bones["shin.L"]
    tip.analytic_ik_influence = 0.5
    assert said_by(ob) == messages.GRAB_BLENDED(bone="shin.L")
    tip.analytic_ik_influence = 1.0
    assert said_by(ob, "shin.L") == messages.GRAB_KNEE_OF_CHAIN(bone="shin.L")
    tip.analytic_ik_target = None
    assert said_by(ob) == messages.GRAB_NO_TARGET(bone="shin.L")
    tip.analytic_ik_enabled = False
    assert api.grab(ob, "hips", head_of(ob, "hips"))["held"]


def test_what_is_driven_or_not_there_is_refused(ob):
    assert said_of_no_bone(ob) == messages.NO_SUCH_BONE(armature=ob.name, bone="nothing")
    ob.pose.bones["thigh.L"].driver_add("rotation_quaternion", 1)
    assert said_by(ob) == messages.GRAB_DRIVEN(bone="thigh.L")


def said_of_no_bone(ob):
    with pytest.raises(RuntimeError) as error:
        bpy.ops.analytic_ik.grab(bone="nothing", location=(0, 0, 0))
    return str(error.value).removeprefix("Error: ").strip()


def test_it_needs_pose_mode(ob):
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not bpy.ops.analytic_ik.grab.poll() and not bpy.ops.analytic_ik.pin.poll()


def wear(ob, bone, corners):
    """A block on a bone: its corners from the tail of that."""
    mesh = bpy.data.meshes.new("worn")
    mesh.from_pydata(corners, [], [])
    worn = bpy.data.objects.new("worn", mesh)
    bpy.context.scene.collection.objects.link(worn)
    worn.parent, worn.parent_type, worn.parent_bone = ob, "BONE", bone
    update()
    return worn


def test_skin_of_the_head_stays_above_the_ground_that_feet_stand_on(ob):
    helmet = wear(ob, "head", [Vector(corner) * 0.3 for corner in product((-1.0, 1.0), repeat=3)])
    start = head_of(ob, "chest")
    api.grab(ob, "chest", start + Vector((0.0, -0.9, -2.0)))
    update()
    shown = helmet.evaluated_get(bpy.context.evaluated_depsgraph_get())
    heights = [(shown.matrix_world @ vertex.co).z for vertex in shown.data.vertices]
    ground = min(head_of(ob, f"{name}.{side}").z for name in ("foot", "toe") for side in "LR")
    assert min(heights) > ground - 1e-5
    assert min(heights) < start.z / 2.0


def test_a_cape_does_not_hold_the_hips(ob):
    chest = ob.data.bones["chest"]
    down = chest.matrix_local.to_3x3().inverted() @ Vector((0.0, 0.0, -chest.tail_local.z))
    wear(ob, "chest", [Vector(), down])
    assert api.grab(ob, "hips", head_of(ob, "hips") + Vector((0.0, 0.0, -0.3 * LEG)))["missed"] < 1e-5
