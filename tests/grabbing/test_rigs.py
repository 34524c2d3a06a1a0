"""Grab on rigs and in motion: a body that follows its limbs, library overrides, keys on one frame of an action."""

import bpy
import pytest
from mathutils import Vector

from ik_addon import api, messages
from ik_addon.authoring.keys import auto_keying

from ..rig.rigs import evaluated_copy, update
from ..scenes import curves_of, enter, go_to, keyed_frames, link_from_library, pose_of, reopened
from .bodies import person

FEET = ("foot.L", "foot.R")


def places(ob, *bones):
    pose = evaluated_copy(ob).pose
    return [ob.matrix_world @ pose.bones[bone].head for bone in bones]


def apart_from(before, ob, *bones):
    return max((a - b).length for a, b in zip(before, places(ob, *bones), strict=True))


@pytest.mark.versions
@pytest.mark.parametrize("drop", [0.1, 0.4])
def test_a_body_that_follows_its_limbs_is_grabbed_too(drop):
    ob = person()
    api.rig(ob)
    ob.pose.bones["hips"].analytic_ik_body_influence = 1.0
    enter("POSE", ob, "hips")
    update()
    before, hips = places(ob, *FEET), places(ob, "hips")[0]
    api.grab(ob, "hips", hips - Vector((0.0, 0.05, drop)))
    update()
    assert apart_from(before, ob, *FEET) < 1e-5
    # Its softness eases the hips near the ends of legs.
    assert (places(ob, "hips")[0] - hips + Vector((0.0, 0.05, drop))).length < 0.03
    # A foot out of reach of hips that stay: they follow, by what the body adds.
    foot = places(ob, "foot.L")[0] + Vector((0.0, -0.6, 0.1))
    api.grab(ob, "foot.L", foot)
    update()
    assert (places(ob, "foot.L")[0] - foot).length < 1e-5 and apart_from(before[1:], ob, "foot.R") < 1e-5


@pytest.mark.versions
def test_a_library_override_is_grabbed_and_what_is_only_linked_is_refused(tmp_path):
    ob = link_from_library(person(), tmp_path)
    bpy.context.view_layer.objects.active = ob
    with pytest.raises(api.ChainError) as error:
        api.grab(ob, "hips", Vector((0.0, 0.0, 0.8)))
    assert str(error.value) == messages.ARMATURE_LINKED(armature=ob.name)
    override = ob.override_create(remap_local_usages=True)
    enter("POSE", override, "hips")
    update()
    before, hips = places(override, *FEET), places(override, "hips")[0]
    report = api.grab(override, "hips", hips - Vector((0.0, 0.0, 0.3)))
    update()
    assert apart_from(before, override, *FEET) < 1e-6 and report["missed"] < 1e-6
    reopened(tmp_path / "shot.blend")
    kept = next(each for each in bpy.context.scene.objects if each.type == "ARMATURE")
    assert apart_from(before, kept, *FEET) < 1e-6
    assert (places(kept, "hips")[0] - hips + Vector((0.0, 0.0, 0.3))).length < 1e-6


@pytest.mark.versions
def test_in_motion_one_frame_is_posed_and_its_neighbors_keep_their_keys():
    ob = person()
    for frame, lean in ((1, 0.1), (21, -0.2)):
        for bone in ob.pose.bones:
            bone.rotation_quaternion = (1.0, lean if bone.name == "spine" else 0.0, 0.0, 0.0)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
            bone.keyframe_insert("location", frame=frame)
    enter("POSE", ob, "hand.L")
    go_to(1)
    first = pose_of(ob)
    go_to(11)
    before = places(ob, *FEET)
    place = places(ob, "hand.L")[0] + Vector((0.0, -0.8, -0.4))
    edit = bpy.context.preferences.edit
    available, edit.use_keyframe_insert_available = edit.use_keyframe_insert_available, False
    try:
        with auto_keying(bpy.context):
            report = api.grab(ob, "hand.L", place)
    finally:
        edit.use_keyframe_insert_available = available
    go_to(5)
    go_to(11)
    assert (places(ob, "hand.L")[0] - place).length < 1e-5 and apart_from(before, ob, *FEET) < 1e-5
    keyed = {path.split('"')[1] for (path, _), curve in curves_of(ob).items() if 11.0 in keyed_frames(curve)}
    assert keyed == set(report["turned"])
    go_to(1)
    assert pose_of(ob) == first
