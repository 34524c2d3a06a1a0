"""Clips in files: bones that a clip does not key stay, and cameras do not stretch the clip of a character."""

import json

import bpy
import numpy as np
import pytest

from ik_addon.bake.formats import bystanders_apart, hold_unkeyed, keys_onto_frames, open_file, write_file
from ik_addon.rig.blender.clips import clips_of, motion_frames

from ..rig.rigs import Rig, leg
from ..scenes import curves_of

pytestmark = pytest.mark.versions

AWAY = 0.7


def clip_of(ob: bpy.types.Object, name: str, last: int) -> bpy.types.Action:
    """A clip that turns the last bone alone."""
    ob.animation_data_create().action = None
    bone = ob.pose.bones[-1]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (last, 0.6)):
        bone.rotation_euler.x = angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    ob.animation_data.action.name = name
    return ob.animation_data.action


def in_track(ob: bpy.types.Object, action: bpy.types.Action) -> None:
    track = ob.animation_data.nla_tracks.new()
    track.name = action.name
    track.strips.new(action.name, 1, action).name = action.name
    track.mute = True


def animations(path) -> dict[str, dict[str, np.ndarray]]:
    """By clip the times, and by bone the locations, of a .glb file."""
    data = path.read_bytes()
    length = int.from_bytes(data[12:16], "little")
    found, binary = json.loads(data[20 : 20 + length]), data[28 + length :]

    def numbers(index: int, width: int) -> np.ndarray:
        accessor = found["accessors"][index]
        view = found["bufferViews"][accessor["bufferView"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        return np.frombuffer(binary, np.float32, accessor["count"] * width, start).reshape(-1, width)

    clips: dict[str, dict[str, np.ndarray]] = {}
    for each in found["animations"]:
        own = clips.setdefault(each["name"], {})
        for channel in each["channels"]:
            sampler = each["samplers"][channel["sampler"]]
            times = numbers(sampler["input"], 1)
            own["times"] = np.union1d(own.get("times", times), times)
            if channel["target"]["path"] == "translation":
                name = found["nodes"][channel["target"]["node"]]["name"]
                own[name] = numbers(sampler["output"], 3)
    return clips


@pytest.fixture
def rig() -> Rig:
    return leg()


def test_a_root_that_no_clip_keys_stays_where_the_file_has_it(rig, tmp_path):
    ob, root = rig.ob, rig.ob.pose.bones[0]
    for name in ("one", "two"):
        in_track(ob, clip_of(ob, name, 20))
    ob.animation_data.action = None
    root.location = (0.0, AWAY, 0.0)
    hold_unkeyed()
    write_file(tmp_path / "out.glb", False, range(1, 21))
    found = animations(tmp_path / "out.glb")
    assert {"one", "two"} <= set(found)
    at_rest = root.bone.head_local
    for name in ("one", "two"):
        assert (
            np.abs(
                np.linalg.norm(found[name][root.name] - np.array((at_rest.x, at_rest.z, -at_rest.y)), axis=1) - AWAY
            ).max()
            < 1e-5
        )


def test_what_is_keyed_or_at_rest_gets_no_key(rig):
    ob = rig.ob
    clip_of(ob, "one", 20)
    before = {name: len(curve.keyframe_points) for name, curve in curves_of(ob).items()}
    hold_unkeyed()
    assert {name: len(curve.keyframe_points) for name, curve in curves_of(ob).items()} == before


@pytest.mark.skipif(not hasattr(bpy.types, "ActionSlot"), reason="One action is of one object there")
def test_a_camera_does_not_stretch_the_clip_of_a_character(rig, tmp_path):
    ob = rig.ob
    action = clip_of(ob, "jog", 20)
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    bpy.context.scene.collection.objects.link(camera)
    camera.animation_data_create().action = action
    camera.animation_data.action_slot = action.slots.new("OBJECT", "camera")
    for frame in (1, 100):
        camera.location.x = frame
        camera.keyframe_insert("location", frame=frame)
    bystanders_apart()
    assert camera.animation_data.action != action and ob.animation_data.action == action
    assert len(action.slots) == 1
    write_file(tmp_path / "out.glb", False, range(1, 21))
    found, fps = animations(tmp_path / "out.glb"), bpy.context.scene.render.fps
    assert found["jog"]["times"].max() == pytest.approx(20 / fps, abs=1.0 / fps)
    bpy.context.scene.frame_set(100)
    assert camera.location.x == pytest.approx(100.0)


def test_a_character_gets_no_clip_of_a_camera(rig, tmp_path):
    """Blender's FBX exporter makes a clip of each action for every object that it fits, and location fits all."""
    ob = rig.ob
    clip_of(ob, "jog", 20)
    camera = bpy.data.objects.new("target of a camera", None)
    bpy.context.scene.collection.objects.link(camera)
    for frame in (1, 100):
        camera.location.x = frame
        camera.keyframe_insert("location", frame=frame)
    camera.animation_data.action.name = "pan"
    write_file(tmp_path / "out.fbx", False, range(1, 21))
    open_file(tmp_path / "out.fbx")
    names = sorted(action.name for action in bpy.data.actions)
    assert len(names) == 2, names
    assert motion_frames(bpy.data.objects["target of a camera"]) == range(1, 101)
    [character] = [each for each in bpy.data.objects if each.type == "ARMATURE"]
    assert motion_frames(character) == range(1, 21)
    assert [clip.name.rpartition("|")[2] for clip in clips_of(character)] == ["jog"]


def moved_times(path, seconds: float) -> None:
    """Let all keys of a .glb file be so much later."""
    data = bytearray(path.read_bytes())
    length = int.from_bytes(data[12:16], "little")
    found = json.loads(data[20 : 20 + length])
    inputs = {sampler["input"] for each in found["animations"] for sampler in each["samplers"]}
    for accessor in (found["accessors"][index] for index in inputs):
        view = found["bufferViews"][accessor["bufferView"]]
        start = 28 + length + view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        times = np.frombuffer(data, np.float32, accessor["count"], start) + np.float32(seconds)
        data[start : start + times.nbytes] = times.tobytes()
    path.write_bytes(data)


@pytest.mark.parametrize("seconds", [0.0, 1.0 / 30.0, 0.5 / 24.0])
def test_a_clip_that_begins_between_frames_keeps_its_length(rig, tmp_path, seconds):
    """Two programs agree on seconds and not on frames: 1/30 s is 0.8 of a frame at 24 a second."""
    path, ob = tmp_path / "out.glb", rig.ob
    bpy.context.scene.render.fps = 24
    clip_of(ob, "run", 15)
    write_file(path, False, range(1, 16))
    open_file(path)
    [ob] = [each for each in bpy.data.objects if each.type == "ARMATURE"]
    before = {name: [tuple(point.co) for point in curve.keyframe_points] for name, curve in curves_of(ob).items()}
    moved_times(path, seconds)
    open_file(path)
    [ob] = [each for each in bpy.data.objects if each.type == "ARMATURE"]
    assert len(motion_frames(ob)) == 15
    for name, curve in curves_of(ob).items():
        own = np.array([tuple(point.co) for point in curve.keyframe_points])
        assert own == pytest.approx(np.array(before[name]), abs=1e-4)
    (strip,) = (strip for track in ob.animation_data.nla_tracks for strip in track.strips)
    assert strip.frame_end - strip.frame_start == pytest.approx(14.0, abs=1e-3)


def test_keys_of_another_rate_stay_where_they_are(rig):
    ob = rig.ob
    clip_of(ob, "run", 15)
    for curve in curves_of(ob).values():
        curve.keyframe_points.insert(4.3, 0.2)
    before = {name: [point.co.x for point in curve.keyframe_points] for name, curve in curves_of(ob).items()}
    keys_onto_frames()
    assert {name: [point.co.x for point in curve.keyframe_points] for name, curve in curves_of(ob).items()} == before
