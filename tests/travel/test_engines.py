"""Clips for game engines: goals of feet and hands are where these are, and what an engine does not take is said."""

import json

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_addon import command_line
from ik_addon.authoring.for_export import back_to_live
from ik_addon.bake import last_report
from ik_addon.bake.certificate import faults_words, read_certificates
from ik_addon.bake.formats import write_file
from ik_addon.bake.stepping import finish
from ik_addon.rig.blender.clips import clip_name, clips_of
from ik_addon.travel.engines import clips_baked_for_engine, engine_ready, goals_of, grown_clips

from ..clips.characters import FRAMES, new_character, rigged_character, show
from ..rig.rigs import BoneSpec, evaluated_copy, new_armature, update
from ..scenes import enter, go_to, select

pytestmark = pytest.mark.versions

NAMES = {"foot.L": "foot_l", "foot.R": "foot_r", "hand.L": "hand_l", "hand.R": "hand_r"}
GOALS = {
    "ik_foot_l": "foot_l",
    "ik_foot_r": "foot_r",
    "ik_hand_gun": "hand_r",
    "ik_hand_l": "hand_l",
    "ik_hand_r": "hand_r",
}
"""By the name of a goal the bone that it follows."""
APART = 1e-5


def add_goals(ob: bpy.types.Object, goals: dict[str, str] = GOALS) -> None:
    """Bones as Unreal's mannequin has them, a little turned, below their own roots."""
    select(ob)
    enter("EDIT", ob)
    bones = ob.data.edit_bones
    for name in ("ik_foot_root", "ik_hand_root"):
        bones.new(name).head, bones[name].tail = (0.0, 0.0, 0.0), (0.0, 0.3, 0.0)
    for goal, followed in goals.items():
        bone = bones.new(goal)
        bone.head, bone.tail = bones[followed].head, bones[followed].head + Vector((0.0, 0.1, 0.2))
        on_gun = goal.startswith("ik_hand_") and goal != "ik_hand_gun"
        bone.parent = bones["ik_hand_gun" if on_gun else "ik_hand_root" if "hand" in goal else "ik_foot_root"]
        bone.use_deform = False
    for name in ("ik_foot_root", "ik_hand_root"):
        bones[name].use_deform = False
    enter("OBJECT", ob)


def mannequin(**given) -> bpy.types.Object:
    ob = rigged_character(as_bones=False, **given)
    for old, new in NAMES.items():
        ob.data.bones[old].name = new
    add_goals(ob)
    update()
    return ob


def from_followed(ob: bpy.types.Object, goals: dict[str, str], frames=FRAMES) -> np.ndarray:
    """(frames, goals, 4, 4), each goal as seen from the bone that it follows, as Blender shows them."""
    found = []
    for frame in frames:
        go_to(frame)
        pose = evaluated_copy(ob).pose.bones
        found.append([np.array(pose[b].matrix.normalized().inverted() @ pose[a].matrix) for a, b in goals.items()])
    return np.array(found)


def at_rest(ob: bpy.types.Object, goals: dict[str, str]) -> np.ndarray:
    bones = ob.data.bones
    return np.array([np.array(bones[b].matrix_local.inverted() @ bones[a].matrix_local) for a, b in goals.items()])


def baked_for(ob: bpy.types.Object, engine: str) -> list[dict]:
    report = finish(clips_baked_for_engine(bpy.context, ob, engine))
    assert report == last_report()
    assert all(entry["clip"] == file["clip"] for file in report["files"] for entry in file["engine"])
    return [entry for file in report["files"] for entry in file["engine"]]


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
def test_goals_are_where_feet_and_hands_are_in_every_clip(mode):
    ob = mannequin()
    for goal in GOALS:
        ob.pose.bones[goal].rotation_mode = mode
    entries = baked_for(ob, "UNREAL")
    assert {entry["clip"] for entry in entries} == {clip_name(clip, clips_of(ob)) for clip in clips_of(ob)}
    for entry in entries:
        assert set(entry["filled"]) == set(GOALS)
        show(ob, entry["clip"])
        assert np.abs(from_followed(ob, GOALS) - at_rest(ob, GOALS)).max() < APART
    feet = from_followed(ob, {"ik_foot_l": "ik_foot_root"})
    assert np.ptp(feet[:, 0, :3, 3], axis=0).max() > 0.05, "they must have moved"


def test_back_to_live_takes_the_goals_back():
    ob = mannequin()
    before = {goal: np.array(ob.pose.bones[goal].matrix_basis) for goal in GOALS}
    curves = sum(len(curves) for clip in clips_of(ob) for curves in clip.curves)
    baked_for(ob, "UNREAL")
    go_to(7)
    back_to_live(ob)
    update()
    assert all(np.allclose(ob.pose.bones[goal].matrix_basis, own) for goal, own in before.items())
    assert sum(len(curves) for clip in clips_of(ob) for curves in clip.curves) == curves


def test_nothing_is_changed_if_a_goal_cannot_be_keyed():
    ob = mannequin()
    ob.pose.bones["ik_foot_l"].driver_add("location", 0)
    names = {action.name for action in bpy.data.actions}
    with pytest.raises(Exception, match="ik_foot_l"):
        baked_for(ob, "UNREAL")
    assert {action.name for action in bpy.data.actions} == names
    assert any(bone.analytic_ik_enabled for bone in ob.pose.bones)


def test_what_something_else_moves_is_no_goal():
    ob = mannequin()
    assert goals_of(ob) == GOALS
    ob.pose.bones["ik_foot_l"].constraints.new("COPY_LOCATION")
    ob.data.bones["hand_l"].name = "palm"
    assert goals_of(ob) == {goal: bone for goal, bone in GOALS.items() if goal != "ik_foot_l"} | {"ik_hand_l": None}


@pytest.mark.parametrize(
    ("goal", "followed"),
    [("LeftFootIK", "mixamorig:LeftFoot"), ("RightHand_IK", "RightHand"), ("IK_FOOT_R", "Foot_R"), ("foot_ik.L", None)],
)
def test_goals_are_known_by_their_whole_names(goal, followed):
    places = [("root", (0, 0, 0), ""), (goal, (0, 0, 1), "root"), (followed or "foot.L", (0, 0, 2), "root")]
    ob = new_armature("one", [BoneSpec(name, head, (0, 1, 1), parent) for name, head, parent in places])
    assert goals_of(ob) == ({goal: followed} if followed else {})


# What is said


def warnings(ob: bpy.types.Object, engine: str) -> set[str]:
    clips = [clip for clip in clips_of(ob) if clip == clips_of(ob)[0]]
    [entry] = finish(engine_ready(bpy.context, ob, engine, clips))
    return set(entry["warnings"])


def curves_of(ob: bpy.types.Object):
    return next(iter(clips_of(ob)[0].curves))


def scaled(ob):
    ob.pose.bones["shin.L"].scale = (1.0, 1.2, 1.0)
    ob.pose.bones["shin.L"].keyframe_insert("scale", frame=3)


def between_frames(ob):
    for curve in curves_of(ob):
        curve.keyframe_points[-1].co.x += 0.4
        curve.update()


def whole_rate(ob):
    bpy.context.scene.render.fps_base = 1.001


def setting(ob):
    ob.pose.bones["shin.L"].keyframe_insert("analytic_ik_influence", frame=3)


def travelling(ob, path: str = 'pose.bones["spine"].location'):
    for index in range(3):
        for frame in (FRAMES[0], FRAMES[-1]):
            owner = ob if path == "location" else ob.pose.bones["spine"]
            owner.location[index] = 4.0 * (frame == FRAMES[-1])
            owner.keyframe_insert("location", index=index, frame=frame)


def object_travelling(ob):
    travelling(ob, "location")


def under_a_root(ob):
    select(ob)
    enter("EDIT", ob)
    bones = ob.data.edit_bones
    bones.new("root").head, bones["root"].tail = (0.0, 0.0, 0.0), (0.0, 0.5, 0.0)
    bones["spine"].parent = bones["root"]
    enter("OBJECT", ob)
    travelling(ob)


def two_roots(ob):
    select(ob)
    enter("EDIT", ob)
    ob.data.edit_bones.new("other").tail = (0.0, 0.0, 1.0)
    enter("OBJECT", ob)


def slashed(ob):
    ob.animation_data.action.name = "walk/fast"


def opened(ob):
    bone = ob.pose.bones["thigh.L"]
    for frame in (FRAMES[0], FRAMES[-1]):
        bone.rotation_quaternion = (1.0, 0.03 * (frame == FRAMES[-1]), 0.0, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    for path in [curve.data_path for curve in curves_of(ob)]:
        for curve in [each for each in curves_of(ob) if each.data_path == path and "thigh.L" not in path]:
            curves_of(ob).remove(curve)


@pytest.mark.parametrize(
    ("change", "engine", "said"),
    [
        (scaled, "GODOT", "lose that in retargeting: 'shin.L'"),
        (between_frames, "UNREAL", "this one has keys from 1 to 12.4"),
        (whole_rate, "UNREAL", "the scene has 23.976"),
        (setting, "UNITY", "keys that no engine reads: 'analytic_ik_influence'"),
        (under_a_root, "UNREAL", "without the root bone 'root'"),
        (object_travelling, "GODOT", "moves as an object"),
        (two_roots, "UNREAL", "takes one bone without a parent, and these have none: 'spine', 'other'"),
        (slashed, "GODOT", "does not keep all characters of these names: 'walk/fast'"),
        (opened, "UNITY", "If it is a loop, close it with Make Loop"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_an_engine_does_not_take_is_said(change, engine, said):
    ob = new_character(["walk"])
    before = warnings(ob, engine)
    change(ob)
    update()
    now = warnings(ob, engine)
    assert any(said in sentence for sentence in now), now
    assert not any(said in sentence for sentence in before), before


def test_a_clip_that_grows_to_whole_frames_says_so():
    ob = new_character(["walk"])
    assert grown_clips(ob) == {}
    between_frames(ob)
    (said,) = grown_clips(ob).values()
    assert said == "The clip has keys from 1 to 12.4 and is baked to frames 1-13. Snap its keys to frames first."


def test_so_does_the_button_without_an_engine(capfd):
    ob = rigged_character(as_bones=False)
    between_frames(ob)
    select(ob)
    assert bpy.ops.analytic_ik.bake_for_export() == {"FINISHED"}
    assert "idle: The clip has keys from 1 to 12.4 and is baked to frames 1-13" in capfd.readouterr().out


def test_a_goal_without_its_bone_is_said():
    ob = mannequin()
    ob.data.bones["hand_l"].name = "palm"
    assert "Bone 'ik_hand_l' stays as it is: the bone that it follows is missing. Name that after it." in warnings(
        ob, "UNREAL"
    )


# The operator and the command


def test_the_button_says_what_the_engine_does_not_take():
    ob = mannequin()
    select(ob)
    whole_rate(ob)
    assert bpy.ops.analytic_ik.bake_for_export(engine="UNREAL") == {"FINISHED"}
    assert np.abs(from_followed(ob, GOALS) - at_rest(ob, GOALS)).max() < APART
    certificates = read_certificates(ob.analytic_ik_report)
    assert all(any("takes a whole number of frames" in sentence for sentence in each.engine) for each in certificates)
    assert not any(each.is_sound for each in certificates)
    assert all("engine" in faults_words(each) for each in certificates)


def test_the_command_fills_goals_in_what_it_writes(tmp_path, capsys):
    ob = new_character(["walk"])
    for old, new in NAMES.items():
        ob.data.bones[old].name = new
    add_goals(ob)
    select(ob)
    source, output, report = (tmp_path / name for name in ("in.glb", "out.glb", "r.json"))
    write_file(source, False, FRAMES)
    given = ["plant", str(source), "--output", str(output), "--anyway", "--engine", "unreal", "--report", str(report)]
    assert command_line.run(given) == 0, capsys.readouterr().err
    entries = json.loads(report.read_text())["files"][0]["engine"]
    assert [set(entry["filled"]) for entry in entries] == [set(GOALS)]
    ob = next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")
    assert np.abs(from_followed(ob, GOALS) - at_rest(ob, GOALS)).max() < 1e-4
    assert command_line.run([*given[:3], f"{tmp_path}/out.blend", "--engine", "unreal"]) == 2
    assert "out.blend is no file for an engine" in capsys.readouterr().err
