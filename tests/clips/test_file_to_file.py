"""File in, file out: a character with several clips goes through the command; all come out under their own names."""

import json
import re
from collections.abc import Iterable
from math import pi, sin
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Euler

from ik_addon.authoring.rigging import rig_legs
from ik_addon.bake import formats
from ik_addon.command_line import run
from ik_addon.planting import plant_clips
from ik_addon.planting.scene.sources import kept_settings
from ik_addon.rig.blender.clips import clips_of, playing_alone

from ..authoring.skeletons import FAMILIES, armature_of
from ..rig.rigs import evaluated_copy, update
from ..scenes import curve_bags, go_to, select
from .characters import (
    AMOUNTS,
    CHARACTERS,
    FRAMES,
    LIMBS,
    all_shown,
    films,
    heads,
    opened,
    ranges_of,
    rigged_character,
    short,
    shown_in,
)

pytestmark = pytest.mark.versions

LEG = 0.9
NEAR = 1e-4
"""Of a leg: what single precision and matrices in files leave."""
SUFFIXES = [".glb", pytest.param(".fbx", marks=pytest.mark.slow), pytest.param(".gltf", marks=pytest.mark.slow)]
SLOW = pytest.mark.slow

Clips = dict[str, dict[str, np.ndarray]]
"""By the name of a clip and of a bone, its matrices (frames, 4, 4) below its parent."""


def locals_of(path: Path, frames: Iterable[int]) -> Clips:
    """How bones are turned against their parents."""
    ob, found = opened(path), {}
    for clip in clips_of(ob):
        own = found.setdefault(short(clip.name), {})
        with playing_alone([(ob, clip)]):
            for frame in frames:
                go_to(frame)
                bones = evaluated_copy(ob).pose.bones
                for bone in bones:
                    if bone.parent:
                        own.setdefault(bone.name, []).append(np.array(bone.parent.matrix.inverted() @ bone.matrix))
    return found


def farthest(a: dict, b: dict) -> float:
    assert a.keys() == b.keys()
    return max(float(np.abs(np.array(a[name]) - np.array(b[name])).max()) for name in a)


def exported(path: Path) -> Path:
    """What is open, in a file of another program's format."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path.with_suffix(".source.blend")))
    formats.write_file(path, False, FRAMES)
    return path


def report_of(path: Path) -> list[dict]:
    return json.loads(path.read_text())["files"]


# bake


@pytest.mark.some(2)
@pytest.mark.parametrize("as_bones", [False, pytest.param(True, marks=SLOW)], ids=["Empties", "bones"])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_all_live_clips_are_baked_into_a_file_for_others(suffix, as_bones, tmp_path):
    """As they were shown, under their names, without a trace of chains and controls."""
    bones = {bone.name for bone in FAMILIES[0].bones()}
    ob = rigged_character(as_bones, strips=True)
    shown = all_shown(ob)
    source, output = tmp_path / "rigged.blend", tmp_path / f"out{suffix}"
    bpy.ops.wm.save_as_mainfile(filepath=str(source))
    assert run(["bake", str(source), "--output", str(output), "--report", f"{tmp_path}/r.json"]) == 0
    assert sorted(entry["clip"] for entry in report_of(tmp_path / "r.json")) == sorted(AMOUNTS)
    found = films(output, FRAMES, LIMBS)
    assert farthest(found, shown) < NEAR * LEG
    back = opened(output)
    assert {bone.name for bone in back.data.bones} == bones
    # The importer of glTF adds a mesh, as the shape of bones.
    assert not [each.name for each in bpy.context.scene.objects if each.type == "EMPTY"]
    assert ranges_of(output) == {name: (1.0, 12.0) for name in AMOUNTS}


def test_a_bake_for_others_keeps_what_a_constraint_needs(tmp_path):
    ob = rigged_character(False)
    prop = bpy.data.objects.new("prop", None)
    bpy.context.scene.collection.objects.link(prop)
    prop.constraints.new("COPY_LOCATION").target = bpy.data.objects["Foot.L"]
    update()
    source, output = tmp_path / "rigged.blend", tmp_path / "out.glb"
    bpy.ops.wm.save_as_mainfile(filepath=str(source))
    assert run(["bake", str(source), "--output", str(output)]) == 0
    formats.open_file(output)
    empties = {ob.name for ob in bpy.context.scene.objects if ob.type == "EMPTY"}
    assert empties == {"prop", "Foot.L"}
    assert ob is not None


# plant


def walker() -> bpy.types.Object:
    """A walk whose feet slide, one that goes less far, and one in which nobody stands; 40 frames each."""
    scene = Path(__file__).parents[2] / "sample_scenes" / "biped_capture.blend"
    bpy.ops.wm.open_mainfile(filepath=str(scene), load_ui=True)
    ob = bpy.data.objects["Robot rig"]
    for action in [action for action in bpy.data.actions if action != ob.animation_data.action]:
        bpy.data.actions.remove(action)
    walk = ob.animation_data.action
    for curve in curves_in(walk):
        for point in [point for point in curve.keyframe_points if point.co.x > FEET[-1]][::-1]:
            curve.keyframe_points.remove(point)
        curve.update()
    walk.name, walk.use_fake_user = "walk", True
    for name, factor in (("slow", 0.93), ("flying", 30.0)):
        copy = walk.copy()
        copy.name, copy.use_fake_user = name, True
        for curve in [curve for curve in curves_in(copy) if curve.data_path.endswith("location")]:
            for point in curve.keyframe_points:
                point.co.y *= factor
            curve.update()
    select(ob)
    update()
    return ob


FEET = range(1, 41)
CARRIER = "hips"
FEET_BONES = ("thigh.L", "shin.L", "foot.L", "toe.L", "thigh.R", "shin.R", "foot.R", "toe.R")


def curves_in(action: bpy.types.Action) -> list[bpy.types.FCurve]:
    return [curve for bag in curve_bags(action).values() for curve in bag.fcurves]


@pytest.mark.some(1)
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.slow
def test_all_clips_of_a_file_are_planted_as_they_came(suffix, tmp_path, capfd):
    walker()
    for ob in [ob for ob in bpy.data.objects if ob.name != "Robot rig"]:
        bpy.data.objects.remove(ob)
    source, out, report = exported(tmp_path / f"walker{suffix}"), tmp_path / "out", tmp_path / "r.json"
    output = out / source.name
    assert run(["plant", str(source), "--output-dir", str(out), "--report", str(report)]) == 0
    entries = {short(entry["clip"]): entry for entry in report_of(report)}
    assert entries.keys() == {"walk", "slow", "flying"}
    assert "no foot stands" in entries["flying"]["left_out"]
    said = capfd.readouterr().out
    assert "flying" in said and "left as it is: " in said
    assert entries["flying"]["chains"] == []
    for name in ("walk", "slow"):
        assert entries[name]["frames"] == [1, 40, 1]
        for foot in entries[name]["feet"]:
            assert foot["after"]["slide"] < 1e-4 < foot["before"]["slide"]
    assert ranges_of(output) == ranges_of(source)
    # As it was before it was exported: then the feet stood, as the report says.
    ob = opened(source)
    plant_clips(bpy.context, ob, "ALL", keep_controls=False)
    here = {short(clip.name): shown_in(ob, clip, FEET, FEET_BONES) for clip in clips_of(ob)}
    there = films(output, FEET, FEET_BONES)
    assert farthest({"walk": there["walk"], "slow": there["slow"]}, {"walk": here["walk"], "slow": here["slow"]}) < NEAR
    before, after = (locals_of(path, FEET[::5]) for path in (source, output))
    assert before.keys() == after.keys()
    for name, own in before.items():
        moved = {bone for bone in own if np.abs(np.array(own[bone]) - after[name][bone]).max() > NEAR}
        assert moved == (set() if name == "flying" else {*LIMBS, CARRIER})
    untouched = films(source, FEET[::5])["flying"] - films(output, FEET[::5])["flying"]
    assert np.abs(untouched).max() < 30 * NEAR


@pytest.mark.slow
def test_a_blend_file_keeps_the_captures_and_the_rig(tmp_path):
    walker()
    source, output = tmp_path / "walker.blend", tmp_path / "planted.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(source))
    assert run(["plant", str(source), "--output", str(output)]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(output))
    ob = bpy.data.objects["Robot rig"]
    assert {"walk", "slow", "flying", "walk planted", "slow planted"} <= set(bpy.data.actions.keys())
    assert "flying planted" not in bpy.data.actions
    baked = {}
    for name in ("walk planted", "slow planted", "flying"):
        ob.animation_data.action = bpy.data.actions[name]
        update()
        baked[name] = heads(ob, FEET[::5])
    # Live again, they show the same, and the clip that was left out shows its capture.
    for bone in ob.pose.bones:
        bone.analytic_ik_enabled = bone.analytic_ik_target is not None
    for name, seen in baked.items():
        ob.animation_data.action = bpy.data.actions[name]
        update()
        assert np.abs(heads(ob, FEET[::5]) - seen).max() < (30 if name == "flying" else 1) * NEAR


def test_one_clip_goes_over_its_own_frames_whatever_the_scene_plays(tmp_path):
    ob = armature_of(FAMILIES[0].bones())
    swaying_clip(ob, "sway", 0.004)
    select(ob)
    rig_legs(bpy.context, ob)
    bpy.context.scene.frame_end = 250
    source, output = tmp_path / "in.blend", tmp_path / "out.glb"
    bpy.ops.wm.save_as_mainfile(filepath=str(source))
    assert run(["bake", str(source), "--output", str(output)]) == 0
    assert [len(range(int(a), int(b))) + 1 for a, b in ranges_of(output).values()] == [len(SWAYING)]


@pytest.mark.some(2)
@pytest.mark.parametrize("suffix", [".glb", ".fbx"])
@pytest.mark.parametrize(
    ("family", "count"),
    [
        pytest.param("Rigify metarig", 3, marks=SLOW),
        pytest.param("Rigify horse", 3, marks=SLOW),
        pytest.param("Rigify metarig", 20, marks=pytest.mark.deep),
        pytest.param("Rigify horse", 13, marks=pytest.mark.deep),
    ],
)
def test_many_clips_come_out_under_their_names(family, count, suffix, tmp_path):
    """Rigged once, planted, baked, exported and imported again."""
    ob = armature_of(next(each for each in FAMILIES if each.name == family).bones())
    for number in range(count):
        swaying_clip(ob, f"clip {number:02}", 0.004 + 0.001 * number)
    select(ob)
    update()
    source, output, report = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}", tmp_path / "r.json"
    exported(source)
    assert run(["plant", str(source), "--output", str(output), "--report", str(report)]) == 0
    assert ranges_of(output) == ranges_of(source)
    assert len(ranges_of(output)) == count
    entries = report_of(report)
    assert len(entries) == count
    assert all(foot["after"]["slide"] < 1e-4 for entry in entries for foot in entry["feet"])
    # All but legs, and the bone that carries them, stays as it came.
    before, after = (locals_of(path, SWAYING[::5]) for path in (source, output))
    for name, own in before.items():
        turned = {bone for bone in own if np.abs(np.array(own[bone]) - after[name][bone]).max() > NEAR}
        assert turned <= {each for each in own if each.startswith(OF_LEGS)}
    # What was shown live: planted into a .blend file, its chains can be asked.
    blend = tmp_path / "planted.blend"
    assert run(["plant", str(source), "--output", str(blend)]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    rigged = next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")
    names, live = [bone.name for bone in rigged.data.bones], {}
    for action in [action for action in bpy.data.actions if action.name.endswith(" planted")]:
        if any("thigh" in curve.data_path for curve in curves_in(action)):
            rigged.animation_data.action = action
            for tip in kept_settings(rigged)["tips"]:
                # Three links go on from their FK pose, which is what was baked: these play it.
                rigged.pose.bones[tip].analytic_ik_enabled = family == "Rigify metarig"
            update()
            live[short(action.name.removesuffix(" planted"))] = heads(rigged, SWAYING[::5], names)
    assert farthest(films(output, SWAYING[::5], names), live) < NEAR * LEG


OF_LEGS = ("thigh", "shin", "foot", "toe", "lower_leg", "hind_foot", "r_toe")
OF_LEGS += ("upper_arm", "forearm", "forefoot", "f_toe")
SWAYING = range(1, 17)


def swaying_clip(ob: bpy.types.Object, name: str, amount: float) -> None:
    """A body that sways, and its bent legs slide with it."""
    action = bpy.data.actions.new(name)
    action.use_fake_user = True
    ob.animation_data_create().action = action
    root = ob.pose.bones[0]
    for bone in ob.pose.bones:
        bone.rotation_mode = "QUATERNION"
    for frame in SWAYING:
        root.location = (
            amount * sin(2.0 * pi * frame / len(SWAYING)),
            0.5 * amount * sin(4.0 * pi * frame / len(SWAYING)),
            0.0,
        )
        root.keyframe_insert("location", frame=frame)
    for bone in ob.pose.bones:
        if bone.name.startswith("spine.0") or "chest" in bone.name:
            bone.rotation_quaternion = Euler((0.0, 0.0, 5.0 * amount)).to_quaternion()
            bone.keyframe_insert("rotation_quaternion", frame=1)


@pytest.mark.slow
def test_what_is_not_planted_stays_as_it_came(tmp_path):
    """The front legs of the fox have the names of arms, and are planted as its hind legs are; its tail is not."""
    source, output = CHARACTERS / "Fox.glb", tmp_path / "out.glb"
    if not source.exists():
        pytest.skip(f"{source} is not there")
    assert run(["plant", str(source), "--output", str(output)]) == 0
    before, after = (locals_of(path, range(0, 18, 4)) for path in (source, output))
    assert before.keys() == after.keys()
    for name, own in before.items():
        turned = {bone for bone in own if np.abs(np.array(own[bone]) - after[name][bone]).max() > 50.0 * NEAR}
        # One clip stands as it came, and in one no foot stands.
        assert turned or name in ("Survey", "Walk")
        assert not [bone for bone in turned if "Head" in bone or "Neck" in bone or "Tail" in bone]
    ways = [
        np.abs(np.array(own[bone]) - after[name][bone]).max()
        for name, own in before.items()
        for bone in own
        if "Arm" in bone
    ]
    assert max(ways) > 50.0 * NEAR


# check, rig


def test_every_clip_of_an_imported_file_is_checked(tmp_path, capsys):
    """Without chains, and one that is too short to tell is not."""
    ob = armature_of(FAMILIES[0].bones())
    swaying_clip(ob, "sway", 0.01)
    swaying_clip(ob, "more", 0.02)
    ob.animation_data.action = bpy.data.actions.new("pose")
    ob.animation_data.action.use_fake_user = True
    for frame in (1, 2):
        ob.pose.bones[0].keyframe_insert("location", frame=frame)
    source, report = exported(tmp_path / "in.glb"), tmp_path / "r.json"
    given = ["check", str(source), "--feet", "--report", str(report), "--quiet"]
    assert run(given) == 0
    entries = {short(entry["clip"]): entry for entry in report_of(report)}
    assert entries.keys() == {"sway", "more", "pose"}
    assert len(entries["sway"]["feet"]) == len(entries["more"]["feet"]) == 2
    assert "fewer than 3 frames" in entries["pose"]["left_out"] and "feet" not in entries["pose"]
    assert "Files: 1 done, 0 failed. Clips left as they are: 1\n" in capsys.readouterr().out
    assert run([*given, "--limit", "slide=0.00001"]) == 1
    over = capsys.readouterr().err.splitlines()
    assert over and all(re.search(r"in\.glb: .*: .+: slide \S+ is over the limit of 1e-05$", line) for line in over)
    # What is given frames is the current clip.
    assert run([*given, "--frames", "1-8"]) == 0
    [entry] = report_of(report)
    assert "clip" not in entry and entry["frames"] == [1, 8, 1]
    assert run([*given, "--ground", "object", "--ground-object", "Moon"]) == 1
    assert "its scene has no object 'Moon'" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", [".glb", pytest.param(".fbx", marks=SLOW), pytest.param(".bvh", marks=SLOW)])
def test_an_imported_character_is_rigged_with_all_clips(suffix, tmp_path, capsys):
    ob = armature_of(FAMILIES[0].bones())
    for name in ("sway", "more"):
        swaying_clip(ob, name, 0.01 if name == "sway" else 0.03)
    select(ob)
    update()
    source, report = exported(tmp_path / f"in{suffix}"), tmp_path / "r.json"
    before = films(source, SWAYING[::4], LIMBS)
    assert run(["rig", str(source), "--output-dir", str(tmp_path / "out"), "--report", str(report)]) == 0
    [entry] = report_of(report)
    [rigged] = entry["rigged"]
    assert [limb["bones"] for limb in rigged["limbs"]] == [["thigh.L", "shin.L"], ["thigh.R", "shin.R"]]
    several = suffix != ".bvh"
    assert sorted(map(short, rigged["clips"])) == (["more", "sway"] if several else [])
    assert ("the controls follow 2 clips: " in capsys.readouterr().out) == several
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "out" / "in.blend"))
    ob = next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")
    assert sum(bone.analytic_ik_enabled for bone in ob.pose.bones) == 2
    for clip in clips_of(ob):
        ob.animation_data.action = clip.action
        update()
        assert np.abs(heads(ob, SWAYING[::4], LIMBS) - before[short(clip.name)]).max() < 1e-4


# How fast a file is


@pytest.mark.parametrize("rate", [25, 60])
def test_gltf_plays_at_its_own_rate(rate, tmp_path):
    """Its keys lie on whole frames, and come out at the same times."""
    ob = armature_of(FAMILIES[0].bones())
    for name in ("sway", "more"):
        swaying_clip(ob, name, 0.02)
    bpy.context.scene.render.fps = rate
    source = exported(tmp_path / "in.glb")
    back = opened(source)
    assert bpy.context.scene.render.fps == rate
    for clip in clips_of(back):
        times = np.array([key.co.x for curves in clip.curves for curve in curves for key in curve.keyframe_points])
        assert np.abs(times - times.round()).max() < 1e-2
        assert clip.action.frame_range[:] == pytest.approx((SWAYING[0], SWAYING[-1]), abs=1e-3)


# Usage


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("bake a.blend --output a.glb --after keep", "--action and --after are for .blend files"),
        ("bake a.blend --output a.glb --action copy", "'a.glb' holds no chains and no second action"),
        ("bake a.blend --output a.abc", "'a.abc' is in none of the formats"),
        ("plant a.glb --output a.bvh --clips all", "'a.bvh' holds one clip. Use --clips current, or another format."),
        ("plant a.glb --output b.glb --clips all --frames 1-9", "--frames and --step are of the current clip."),
        ("check a.blend --clips all --step 2", "--frames and --step are of the current clip. Leave them out, or use"),
        ("rig a.glb --output b.glb", "'b.glb' cannot hold chains and controls. Name a .blend file."),
    ],
)
def test_what_makes_no_sense_is_told(arguments, sentence, capsys):
    assert run(arguments.split()) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())


def test_of_several_clips_a_bvh_file_gets_the_current_one(tmp_path, capsys):
    ob = armature_of(FAMILIES[0].bones())
    for name in ("sway", "more"):
        swaying_clip(ob, name, 0.02)
    select(ob)
    update()
    source, output = tmp_path / "in.blend", tmp_path / "out.bvh"
    bpy.ops.wm.save_as_mainfile(filepath=str(source))
    assert run(["plant", str(source), "--output", str(output)]) == 0
    said = "skeleton: a .bvh file holds one clip, so only the current one is planted"
    assert f"{source}: {said}\n" in capsys.readouterr().out
    assert output.exists()
