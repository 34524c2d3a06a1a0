"""Clips that leave bones out: a rigged character shows each clip as the file has it, whatever was shown before."""

import random

import bpy
import numpy as np
import pytest

from ik_addon.authoring.rigging import rig_legs
from ik_addon.rig.blender.clips import Clip, clips_of, play

from ..rig.rigs import evaluated_copy, update
from ..scenes import curve_bags, go_to, select
from .characters import CHARACTERS, FRAMES, LIMBS, as_bones, new_character, opened

pytestmark = pytest.mark.versions

NEAR = 1e-4
FILES = ["RobotExpressive.glb", "quat_Spider.glb", "godot_player.glb"]


def leave_out(action: bpy.types.Action, *bones: str) -> None:
    """Take the keys of some bones out of an action."""
    for bag in curve_bags(action).values():
        for curve in [each for each in bag.fcurves if any(f'["{bone}"]' in each.data_path for bone in bones)]:
            bag.fcurves.remove(curve)


def poses(ob: bpy.types.Object, clip: Clip, frames: list[int], bones: list[str]) -> np.ndarray:
    """Bones as evaluated in a clip, in armature space: (frames, bones, 4, 4)."""
    play(ob, clip)
    update()
    found = []
    for frame in frames:
        go_to(frame)
        found.append([np.array(evaluated_copy(ob).pose.bones[name].matrix) for name in bones])
    return np.array(found)


def as_in_the_file(ob: bpy.types.Object, frames: list[int], bones: list[str]) -> dict[str, np.ndarray]:
    """By the name of a clip the bones while it plays, and all else is at rest."""
    found = {}
    for clip in clips_of(ob):
        for bone in ob.pose.bones:
            bone.matrix_basis.identity()
        found[clip.name] = poses(ob, clip, frames, bones)
    return found


def judge(ob: bpy.types.Object, expected: dict[str, np.ndarray], frames: list[int], bones: list[str]) -> None:
    clips, size = clips_of(ob), max(bone.head_local.length for bone in ob.data.bones)
    assert {clip.name for clip in clips} == set(expected)
    order = [*clips, *clips]
    random.Random(7).shuffle(order)
    for clip in order:
        off = np.abs(poses(ob, clip, frames, bones) - expected[clip.name])
        off[..., :3, 3] /= size
        assert off.max() < NEAR, (clip.name, bones[int(off.max(axis=(0, 2, 3)).argmax())], float(off.max()))


@pytest.mark.some(3)
@as_bones
@pytest.mark.parametrize("lacking", [("thigh.L", "shin.L"), ("spine",), (*LIMBS, "spine")], ids=["leg", "body", "all"])
def test_clips_that_leave_bones_out_are_shown_as_they_are(lacking, as_bones):
    ob = new_character()
    if len(lacking) > 2:
        # Something is left in it, or it would be no clip: a hand that one key holds.
        play(ob, next(clip for clip in clips_of(ob) if clip.name == "idle"))
        ob.pose.bones["hand.L"].keyframe_insert("rotation_quaternion", frame=FRAMES.start)
    leave_out(bpy.data.actions["idle"], *lacking)
    frames, bones = [FRAMES.start, FRAMES.start + 5], [*LIMBS, "spine"]
    expected = as_in_the_file(ob, frames, bones)
    rig_legs(bpy.context, ob, as_bones=as_bones)
    judge(ob, expected, frames, bones)


@pytest.mark.some(1)
@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_characters_show_their_clips_in_any_order(name):
    path = CHARACTERS / name
    if not path.exists():
        pytest.skip("the character is not there")
    ob = opened(path)
    select(ob)
    for track in ob.animation_data.nla_tracks:
        track.mute = True
    frames = [1, 8, 15]
    names = [bone.name for bone in ob.pose.bones]
    expected = as_in_the_file(ob, frames, names)
    rigged = rig_legs(bpy.context, ob)
    limbs = {name for one in rigged.limbs for name in (*one.limb.bones, one.limb.end) if name}
    bones = [*limbs | {above.name for each in limbs for above in ob.pose.bones[each].parent_recursive}]
    judge(ob, {clip: rows[:, [names.index(bone) for bone in bones]] for clip, rows in expected.items()}, frames, bones)
