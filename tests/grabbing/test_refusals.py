"""What cannot be grabbed is refused in a sentence, and nothing changes."""

import bpy
import pytest
from mathutils import Matrix, Vector

from ik_addon import api, messages
from ik_addon.grabbing.scene.posing import GrabSession
from ik_addon.grabbing.scene.reading import GrabBody
from ik_addon.grabbing.solving.drag import Drag, GrabOptions
from ik_addon.solvers import ChainError

from ..rig.rigs import BoneSpec, editing, new_armature, update
from ..scenes import apart, pose_of
from .bodies import person


def lower(ob, drag):
    session = GrabSession(bpy.context, ob)
    place = ob.matrix_world @ ob.pose.bones["hips"].head - Vector((0.0, 0.1, 0.3))
    session.pose(bpy.context, drag, place, {}, GrabOptions())


def refused(ob, drag=None):
    """What is said when the hips, or what else is dragged, are lowered."""
    before = pose_of(ob)
    with pytest.raises(ChainError) as error:
        lower(ob, drag or Drag("HIPS"))
    update()
    assert apart(before, pose_of(ob), 1.0) == 0.0
    return str(error.value)


def test_an_armature_without_limbs():
    ob = new_armature("box", [BoneSpec("hips", (0, 0, 0), (0, 0, 1))])
    with pytest.raises(ChainError) as error:
        api.grab(ob, "hips", Vector())
    assert str(error.value) == messages.NO_LIMB_TO_GRAB(armature=ob.name)


def test_bones_that_have_become_points():
    ob = person()
    ob.data.transform(Matrix.Scale(0.0, 4))
    update()
    with pytest.raises(ChainError, match=r"Armature 'person': bone '.+' has no length. Lengthen it in Edit Mode"):
        api.grab(ob, "hips", Vector())


def test_a_place_that_is_no_number():
    ob = person()
    for place in ((float("nan"), 0.0, 0.0), (0.0, float("inf"), 0.0)):
        with pytest.raises(ChainError, match=r"Bone 'hand\.L': the location has a value that is not a finite number"):
            api.grab(ob, "hand.L", place)


def test_a_leg_of_many_bones_below_others():
    """Deeper than Python calls itself."""
    ob = person()
    with editing(ob) as bones:
        below = bones["hips"]
        for number in range(1200):
            bone = bones.new(f"above {number}")
            bone.head, bone.tail = below.head, below.head + Vector((0.0, 0.0, 0.1))
            below.parent, below = bone, bone
    GrabSession(bpy.context, ob).pose(bpy.context, Drag("HIPS"), Vector((0.0, 0.1, 0.8)), {}, GrabOptions())


def test_limbs_that_nothing_carries():
    ob = person()
    with editing(ob) as bones:
        bones["thigh.L"].parent = bones["thigh.R"].parent = None
    assert refused(ob) == messages.NO_HIPS_TO_GRAB(armature=ob.name)


def test_a_bone_that_a_constraint_moves():
    ob = person()
    constraint = ob.pose.bones["hips"].constraints.new("LIMIT_ROTATION")
    update()
    assert refused(ob) == messages.GRAB_CONSTRAINED(bone="hips", constraint=constraint.name)
    constraint.mute = True
    update()
    GrabSession(bpy.context, ob).pose(bpy.context, Drag("HIPS"), Vector((0.0, 0.1, 0.8)), {}, GrabOptions())


def test_a_bone_that_does_not_turn_with_its_parent():
    ob = person()
    ob.pose.bones["hips"].rotation_quaternion = (0.9, 0.4, 0.0, 0.0)
    ob.data.bones["spine"].use_inherit_rotation = False
    update()
    assert refused(ob, Drag("CHEST")) == messages.GRAB_NOT_BY_CHANNELS(bone="spine")


def test_a_bone_whose_parent_is_scaled_unevenly():
    ob = person()
    ob.pose.bones["hips"].scale = (1.0, 1.3, 1.0)
    update()
    assert refused(ob, Drag("CHEST")) == messages.GRAB_UNEVEN(bone="hips")


@pytest.mark.parametrize(
    ("bone", "size", "sheared"), [("thigh.L", 1.06, True), ("foot.L", 1.06, False), ("hips", 1.04, False)]
)
def test_where_a_leg_is_sheared_nothing_is_offered(bone, size, sheared):
    ob = person()
    ob.pose.bones[bone].scale = (1.0, size, 1.0)
    update()
    body = GrabBody(ob, bpy.context.evaluated_depsgraph_get())
    assert body.is_sheared(ob) == sheared
    if sheared:
        assert refused(ob, Drag("LIMB", 0)) == messages.GRAB_UNEVEN(bone=bone)


@pytest.mark.parametrize("bone", ["hips", "thigh.L"])
def test_limbs_that_a_clip_stretches_are_where_they_belong(bone):
    """Clips come with legs that are scaled unevenly by three percent, so that shins are sheared by how knees bend."""
    ob = person()
    ob.pose.bones[bone].scale = (1.0, 1.03, 1.0)
    update()
    before = pose_of(ob)
    session = GrabSession(bpy.context, ob)
    goal = ob.pose.bones["hips"].head - Vector((0.0, 0.1, 0.3))
    options = GrabOptions(lift_heels=False)
    session.pose(bpy.context, Drag("HIPS"), goal, dict.fromkeys(range(len(session.body.limbs)), "BOTH"), options)
    update()
    after = pose_of(ob)
    assert (after["hips"].translation - goal).length < 1e-5
    for name in ("foot.L", "foot.R", "hand.L", "hand.R"):
        assert (after[name].translation - before[name].translation).length < 1e-5
