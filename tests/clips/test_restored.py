"""What work over clips leaves behind: nothing in bones that the clip which plays does not key."""

import bpy
import pytest

from ik_addon.bake import chains_of
from ik_addon.bake.clips import bake_clips
from ik_addon.rig.blender.file_memory import of_action

from ..rig.rigs import update
from ..scenes import select
from .characters import AMOUNTS, rigged_character

pytestmark = pytest.mark.versions


def test_bones_that_another_clip_keys_are_as_they_were():
    ob = rigged_character(True)
    head = ob.pose.bones["spine.006"]
    head.rotation_mode = "QUATERNION"
    ob.animation_data.action = bpy.data.actions["run"]
    head.rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    head.keyframe_insert("rotation_quaternion", frame=1)
    ob.animation_data.action = bpy.data.actions["walk"]
    head.rotation_quaternion = (0.6, 0.0, 0.8, 0.0)
    update()
    select(ob)
    bake_clips(bpy.context, chains_of([ob]), after="KEEP")
    assert ob.animation_data.action.name == "walk baked"
    assert tuple(head.rotation_quaternion) == pytest.approx((0.6, 0.0, 0.8, 0.0))
    bpy.ops.analytic_ik.check(clips="ALL")
    assert tuple(head.rotation_quaternion) == pytest.approx((0.6, 0.0, 0.8, 0.0))


def test_each_planted_clip_has_its_figures():
    ob = rigged_character(True, names=["walk", "idle"])
    bpy.ops.analytic_ik.plant_feet(clips="ALL")
    assert {*AMOUNTS} > {"walk", "idle"}
    seen = set()
    for name in ("walk planted", "idle planted"):
        if name in bpy.data.actions:
            ob.animation_data.action = bpy.data.actions[name]
            assert of_action("plant", ob)["action"] == name
            seen.add(name)
    assert seen
    ob.animation_data.action = None
    assert of_action("plant", ob) is None
