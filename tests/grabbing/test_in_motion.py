"""Grab on a frame of a captured, planted clip: what is posed there is a correction that fades, feet stand meanwhile."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_addon import api
from ik_addon.authoring.keys import auto_keying
from ik_addon.planting.scene.correcting import corrections_of
from ik_addon.rig.blender.animation import current_fcurve_collections

from ..planting.planted_walks import FRAMES, LEG, all_bytes, farthest, planted, seen
from ..rig.rigs import evaluated_copy, update
from ..scenes import enter, go_to

pytestmark = pytest.mark.versions

FRAME = 30
FADED = 11
"""Frames after which a fade of 0.4 seconds at 24 frames a second is over."""


def place_of(ob, bone, frame):
    go_to(frame)
    shown = evaluated_copy(ob)
    return shown.matrix_world @ shown.pose.bones[bone].head


def walk(bone):
    ob, _ = planted()
    enter("POSE", ob, bone)
    go_to(FRAME)
    return ob


def poses_of(ob, frames):
    found = {}
    for frame in frames:
        go_to(frame)
        found[frame] = {bone.name: np.array(bone.matrix) for bone in evaluated_copy(ob).pose.bones}
    return found


def most_apart(one, other, frame):
    return max(np.abs(matrix - other[frame][bone]).max() for bone, matrix in one[frame].items())


@pytest.mark.parametrize("at_once", [True, False], ids=["auto keying", "apply correction"])
def test_a_chest_that_is_grabbed_fades_and_feet_stand(at_once):
    ob = walk("hips")
    before, keys = poses_of(ob, FRAMES), all_bytes(ob)
    feet = seen(ob)
    place = place_of(ob, "chest", FRAME) + Vector((0.06, 0.03, -0.08)) * LEG
    api.grab(ob, "chest", place)
    update()
    grabbed = {FRAME: {bone.name: np.array(bone.matrix) for bone in evaluated_copy(ob).pose.bones}}
    if at_once:
        go_to(FRAME)
        with auto_keying(bpy.context):
            api.grab(ob, "chest", place)
    else:
        assert bpy.ops.analytic_ik.apply_correction() == {"FINISHED"}
    assert corrections_of(ob) and {own["frame"] for own in corrections_of(ob)} == {FRAME}
    after = poses_of(ob, FRAMES)
    assert most_apart(grabbed, after, FRAME) < 1e-3
    assert most_apart(before, after, FRAME) > 0.02 > 0.002 < most_apart(before, after, FRAME + 3)
    for frame in (*range(FRAMES[0], FRAME - FADED), *range(FRAME + FADED, FRAMES[-1] + 1)):
        assert most_apart(before, after, frame) < 2e-5, frame
    # The feet are where they were, in contacts and between them.
    assert farthest(feet, seen(ob), ("foot", "toe")) < 2e-3
    while corrections_of(ob):
        bpy.ops.analytic_ik.remove_correction(index=0)
    assert all_bytes(ob) == keys


def test_a_foot_that_is_grabbed_in_the_air_fades_over_its_step():
    ob = walk("foot.L")
    before = seen(ob)
    heights = before["foot.L"][:, 2]
    frame = FRAMES[0] + int(np.argmax(heights[8:-8])) + 8
    place = place_of(ob, "foot.L", frame) + Vector((0.0, 0.0, 0.05)) * LEG
    with auto_keying(bpy.context):
        report = api.grab(ob, "foot.L", place)
    assert report["missed"] < 1e-4 and (place_of(ob, "foot.L", frame) - place).length < 1e-3 * LEG
    after = seen(ob)
    moved = np.linalg.norm(after["foot.L"] - before["foot.L"], axis=1)
    assert moved.max() < 0.0505 * LEG and moved[0] < 1e-5 and moved[-1] < 1e-5
    # In each contact of the other foot, and of this one, nothing moved.
    assert farthest({"foot.R": before["foot.R"]}, {"foot.R": after["foot.R"]}, ("foot",)) < 2e-3


def test_update_feet_lays_on_again_what_was_grabbed():
    ob = walk("hips")
    place = place_of(ob, "hips", FRAME) + Vector((0.05, 0.0, -0.06)) * LEG
    with auto_keying(bpy.context):
        api.grab(ob, "hips", place)
    count, before = len(corrections_of(ob)), poses_of(ob, FRAMES)
    assert bpy.ops.analytic_ik.plant_again() == {"FINISHED"}
    after = poses_of(ob, FRAMES)
    assert len(corrections_of(ob)) == count
    assert max(most_apart(before, after, frame) for frame in FRAMES) < 2e-3


def test_beside_the_clip_it_is_keyed_as_elsewhere():
    ob = walk("hips")
    go_to(FRAMES[-1] + 20)
    place = place_of(ob, "hips", FRAMES[-1] + 20) + Vector((0.0, 0.0, -0.06)) * LEG
    with auto_keying(bpy.context):
        api.grab(ob, "hips", place)
    assert not corrections_of(ob)
    assert (place_of(ob, "hips", FRAMES[-1] + 20) - place).length < 1e-3 * LEG


def test_a_bone_without_keys_is_named_for_it_moves_on_all_frames():
    ob = walk("hips")
    bags = current_fcurve_collections(ob.animation_data)
    for curves in bags:
        for curve in [each for each in curves.values() if '"chest"' in each.data_path]:
            curves.remove(curve)
    go_to(FRAME)
    place = place_of(ob, "chest", FRAME) + Vector((0.06, 0.03, -0.08)) * LEG
    with auto_keying(bpy.context):
        report = api.grab(ob, "chest", place)
        bpy.ops.analytic_ik.grab(bone="chest", location=place + Vector((0.02, 0.0, 0.0)))
    assert report["unkeyed"] == ["chest"] and len(report["turned"]) > 1
