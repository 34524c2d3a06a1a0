"""Plant Feet over several clips: feet stand in every one, and each is its own copy."""

import re

import bpy
import numpy as np
import pytest

from ik_addon.authoring.controls import add_chain
from ik_addon.authoring.snap import snap_targets
from ik_addon.planting import last_report, plant
from ik_addon.planting.scene.reading import leg_tips
from ik_addon.rig.blender.clips import clip_name, clips_of

from ..rig.rigs import BoneSpec, evaluated_copy, new_armature, update
from ..scenes import go_to, select, without_handlers
from .characters import as_bones, walker

pytestmark = pytest.mark.versions

FRAMES = range(1, 41)


def ankles(ob: bpy.types.Object, frames=FRAMES) -> np.ndarray:
    found = []
    for frame in frames:
        go_to(frame)
        copy = evaluated_copy(ob)
        found.append([copy.matrix_world @ copy.pose.bones[tip.name].tail for tip in leg_tips(ob)])
    return np.array(found, float)


@as_bones
@pytest.mark.slow
def test_every_clip_is_planted_and_those_without_a_stand_are_named(as_bones, capfd):
    ob = walker(as_bones)
    sources = {clip_name(clip, clips_of(ob)) for clip in clips_of(ob)}
    assert sources == {"walk", "slow", "flying"}
    assert bpy.ops.analytic_ik.plant_feet(clips="ALL") == {"FINISHED"}
    said = capfd.readouterr().out
    assert "in 2 clips" in said
    assert "Left out: 'flying'. Armature" in said and said.count("Left out") == 1
    assert ob.animation_data.action.name == "walk planted"
    assert {"walk planted", "slow planted"} <= set(bpy.data.actions.keys())
    assert "flying planted" not in bpy.data.actions
    for name in ("walk planted", "slow planted"):
        ob.animation_data.action = bpy.data.actions[name]
        update()
        live = ankles(ob)
        assert np.isfinite(live).all()
        with without_handlers():
            assert np.abs(ankles(ob) - live).max() > 1e-4


@pytest.mark.slow
def test_one_clip_planted_is_the_same_alone_and_among_others():
    ob = walker(True)
    bpy.ops.analytic_ik.plant_feet(clips="ALL")
    ob.animation_data.action = bpy.data.actions["slow planted"]
    update()
    together = ankles(ob)
    ob = walker(True)
    ob.animation_data.action = bpy.data.actions["slow"]
    update()
    bpy.ops.analytic_ik.plant_feet()
    assert last_report()["action"] == "slow planted"
    assert np.abs(ankles(ob) - together).max() < 1e-5


@pytest.mark.slow
def test_every_clip_walks_along_the_path():
    ob = walker(True)
    data = bpy.data.curves.new("Way", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(1)
    spline.points[1].co = (0.0, 50.0, 0.0, 1.0)
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Way", data))
    bpy.ops.analytic_ik.plant_feet(clips="ALL", path="Way")
    for name in ("walk", "slow"):
        ways = []
        for action in (name, f"{name} planted"):
            ob.animation_data.action = bpy.data.actions[action]
            update()
            seen = ankles(ob).mean(axis=1)
            ways.append(seen[-1] - seen[0])
        assert ways[1][:2] == pytest.approx((0.0, np.linalg.norm(ways[0][:2])), abs=0.02)


@pytest.mark.parametrize("front", [0.15, 0.25], ids=["bent to one side", "knees on both sides"])
def test_a_leg_of_three_links_keeps_its_bend(front):
    ob = new_armature(
        "hind",
        [
            BoneSpec("body", (0.0, 0.5, 1.0), (0.0, 0.0, 1.0)),
            BoneSpec("thigh", (0.0, 0.0, 1.0), (0.0, -0.25, 0.65), "body"),
            BoneSpec("shin", (0.0, -0.25, 0.65), (0.0, front, 0.35), "thigh"),
            BoneSpec("cannon", (0.0, front, 0.35), (0.0, 0.0, 0.05), "shin"),
            BoneSpec("foot", (0.0, 0.0, 0.05), (0.0, -0.15, 0.0), "cannon"),
        ],
    )
    swing = {"thigh": 0.02, "shin": 0.06, "cannon": -0.06}
    for frame in range(1, 31):
        ob.pose.bones["body"].location = (0.0, 0.01 * np.sin(0.3 * frame), 0.0)
        ob.pose.bones["body"].keyframe_insert("location", frame=frame)
        for name, angle in swing.items():
            ob.pose.bones[name].rotation_mode = "XYZ"
            ob.pose.bones[name].rotation_euler = (angle * np.sin(0.3 * frame), 0.0, 0.0)
            ob.pose.bones[name].keyframe_insert("rotation_euler", frame=frame)
    select(ob)
    update()
    add_chain(bpy.context, ob.pose.bones["cannon"], 3, "AUTO", True)
    snap_targets(bpy.context, [ob.pose.bones["cannon"]], range(1, 31))

    def seen() -> np.ndarray:
        found = []
        for frame in range(1, 31):
            go_to(frame)
            found.append([evaluated_copy(ob).pose.bones[name].tail.copy() for name in swing])
        return np.array(found, float)

    before = seen()
    plant(bpy.context, leg_tips(ob), range(1, 31))
    after = seen()
    # It stands still, as nearly as it did: its knees go no other way, and none jumps.
    assert np.abs(after - before).max() < 0.1
    assert np.abs(np.diff(after, axis=0)).max() < 2.0 * np.abs(np.diff(before, axis=0)).max()


@pytest.mark.slow
def test_feet_that_no_body_can_reach_at_once_are_said_with_their_clip(capfd):
    walker(False)
    # Left of the character a plain, right of it an abyss.
    mesh = bpy.data.meshes.new("plain")
    corners = [(x, y, z) for x, z in ((-9, -1.2), (-1e-3, -1.2), (1e-3, 0), (9, 0)) for y in (-99, 99)]
    mesh.from_pydata(corners, [], [(k, k + 1, k + 3, k + 2) for k in (0, 2, 4)])
    ground = bpy.data.objects.new("plain", mesh)
    bpy.context.scene.collection.objects.link(ground)
    update()
    given = {"ground": "OBJECT", "ground_object": ground.name, "find_footing": False}
    assert bpy.ops.analytic_ik.plant_feet(clips="ALL", **given) == {"FINISHED"}
    said = capfd.readouterr()
    assert re.search(r"Clip '(walk|slow)': \d+ frames out of reach", said.out + said.err)
    assert last_report()["unreached_frames"]


@pytest.mark.slow
def test_a_planted_clip_that_goes_in_place_stays_when_that_is_planted_too():
    """Before slots a control has an action of its own beside each clip, also beside the one in place."""
    ob = walker(False)
    bpy.ops.analytic_ik.plant_feet()
    bpy.ops.analytic_ik.in_place()
    action, before = ob.animation_data.action, ankles(ob)
    bpy.ops.analytic_ik.plant_feet(slide=0.3, softness=0.9)
    assert ob.animation_data.action != action
    assert np.abs(ankles(ob) - before).max() > 1e-3
    ob.animation_data.action = action
    update()
    assert np.abs(ankles(ob) - before).max() < 1e-6
