"""A character with several clips, rigged, and what it shows in each."""

from collections.abc import Iterable, Sequence
from math import pi, sin
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Euler

from ik_addon.authoring.rigging import rig_legs
from ik_addon.bake import formats
from ik_addon.rig.blender.clips import Clip, clips_of, playing_alone

from ..authoring.skeletons import FAMILIES, armature_of
from ..helpers.once import once
from ..rig.rigs import evaluated_copy, update
from ..scenes import curve_bags, go_to, select

SLOTTED = hasattr(bpy.types, "ActionSlot")
AMOUNTS = {"walk": 0.5, "run": 0.8, "idle": 0.1}
FRAMES = range(1, 13)
LIMBS = ("thigh.L", "shin.L", "foot.L", "thigh.R", "shin.R", "foot.R")
ROOT = "spine"
BIPED = (("thigh.L", "shin.L", 1.0), ("thigh.R", "shin.R", -1.0))
QUADRUPED = (*BIPED, ("front_thigh.L", "front_shin.L", -1.0), ("front_thigh.R", "front_shin.R", 1.0))
"""The bones of legs that swing, and when."""
LIFTED = 0.05
"""How far controls are moved after rigging, so that limbs show them and not their FK pose."""

Shown = dict[str, np.ndarray]


def new_character(names: Iterable[str] = AMOUNTS, strips: bool = False, beast: bool = False) -> bpy.types.Object:
    """A human, or a beast, with a clip for each of these names, the last one assigned.

    strips: each is in a muted NLA track too.
    """
    names = list(names)
    family = next(each for each in FAMILIES if each.name == "Rigify wolf") if beast else FAMILIES[0]
    ob = armature_of(family.bones())
    for name in names:
        new_clip(ob, name, legs=QUADRUPED if beast else BIPED)
    if strips:
        for name in names:
            track = ob.animation_data.nla_tracks.new()
            track.name, track.mute = name, True
            track.strips.new(name, FRAMES.start, bpy.data.actions[name])
    select(ob)
    update()
    return ob


def new_clip(
    ob: bpy.types.Object, name: str, frames: range = FRAMES, legs: Sequence[tuple[str, str, float]] = BIPED
) -> bpy.types.Action:
    """Legs that swing, and a body that sways, in an action of this name; it is assigned. With the number behind its
    name a clip differs from others of its kind."""
    action = bpy.data.actions.new(name)
    action.use_fake_user = True
    ob.animation_data_create().action = action
    kind, _, number = name.partition(".")
    amount = AMOUNTS[kind] * (1.0 + 0.03 * int(number) if number.isdigit() else 1.0)
    for frame in frames:
        phase = 2.0 * pi * (frame - frames.start) / len(frames)
        for upper, lower, sign in legs:
            for bone, angle in ((upper, amount * sin(phase) * sign), (lower, -amount * (1.0 + sin(phase) * sign))):
                pose_bone = ob.pose.bones[bone]
                pose_bone.rotation_mode = "QUATERNION"
                pose_bone.rotation_quaternion = Euler((angle, 0.0, 0.0)).to_quaternion()
                pose_bone.keyframe_insert("rotation_quaternion", frame=frame)
        ob.pose.bones[ROOT].location = (0.1 * amount * sin(phase), 0.0, 0.0)
        ob.pose.bones[ROOT].keyframe_insert("location", frame=frame)
    return action


def numbered(count: int) -> list[str]:
    """So many names of clips, no two of which move alike."""
    kinds = list(AMOUNTS)
    return [f"{kinds[k % len(kinds)]}.{k:03}" for k in range(count)]


@once
def rigged_character(as_bones: bool, **given: object) -> bpy.types.Object:
    """The same, rigged, and its feet lifted a little in every clip."""
    ob = new_character(**given)
    rig_legs(bpy.context, ob, as_bones=as_bones)
    lift_feet()
    return ob


def lift_feet() -> None:
    for action in bpy.data.actions:
        for curve in [curve for bag in curve_bags(action).values() for curve in bag.fcurves]:
            on_empty = curve.data_path == "location"
            on_bone = "_ik" in curve.data_path and curve.data_path.endswith("location")
            if (on_empty or on_bone) and curve.array_index == 2:
                for point in curve.keyframe_points:
                    point.co.y += LIFTED
                curve.update()


def show(ob: bpy.types.Object, name: str) -> None:
    """Assign an action, as one does in the Action Editor."""
    ob.animation_data.action = bpy.data.actions[name]
    update()


def shown(ob: bpy.types.Object, name: str, frames: range = FRAMES) -> np.ndarray:
    """Where the limbs are at each frame of a clip, in the world: (frames, bones, 3)."""
    show(ob, name)
    return film(ob, frames)


def film(ob: bpy.types.Object, frames: range) -> np.ndarray:
    """The same of what plays."""
    found = []
    for frame in frames:
        go_to(frame)
        copy = evaluated_copy(ob)
        found.append([copy.matrix_world @ copy.pose.bones[bone].head for bone in LIMBS])
    return np.array(found, float)


def all_shown(ob: bpy.types.Object, suffix: str = "", names: Iterable[str] = AMOUNTS) -> Shown:
    return {name: shown(ob, name + suffix) for name in names}


def farthest(a: Shown, b: Shown) -> float:
    return max(float(np.abs(a[name] - b[name]).max()) for name in a)


CHARACTERS = Path(__file__).parents[3] / "shared" / "data" / "characters"


def short(name: str) -> str:
    """The name of a clip, as the importers of Blender 4.2 put the armature's before or after it."""
    return name.rpartition("|")[2].removesuffix("_skeleton").removesuffix("_Robot rig").removesuffix("_root")


def opened(path: Path) -> bpy.types.Object:
    """The armature object of a file."""
    formats.open_file(path)
    return next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")


def ranges_of(path: Path) -> dict[str, tuple[float, float]]:
    """By the names of a file's actions their frames."""
    opened(path)
    return {short(action.name): tuple(round(end, 3) for end in action.frame_range) for action in bpy.data.actions}


def films(path: Path, frames: Iterable[int], names: Iterable[str] = ()) -> dict[str, np.ndarray]:
    """By the name of a clip where bones are over the frames, in the world: (frames, bones, 3)."""
    ob = opened(path)
    return {short(clip.name): shown_in(ob, clip, frames, names) for clip in clips_of(ob)}


def shown_in(ob: bpy.types.Object, clip: Clip, frames: Iterable[int], names: Iterable[str] = ()) -> np.ndarray:
    with playing_alone([(ob, clip)]):
        return heads(ob, frames, names)


def heads(ob: bpy.types.Object, frames: Iterable[int], names: Iterable[str] = ()) -> np.ndarray:
    rows = []
    for frame in frames:
        go_to(frame)
        copy = evaluated_copy(ob)
        rows.append([copy.matrix_world @ copy.pose.bones[name].head for name in names or copy.pose.bones.keys()])
    return np.array(rows, float)


as_bones = pytest.mark.parametrize(
    "as_bones", [pytest.param(False, id="Empties"), pytest.param(True, marks=pytest.mark.slow, id="bones")]
)


def walking_clips() -> bpy.types.Object:
    """The sliding walk, a second clip that goes less far, and one in which nobody stands."""
    scene = Path(__file__).parents[2] / "sample_scenes" / "biped_capture.blend"
    bpy.ops.wm.open_mainfile(filepath=str(scene), load_ui=True)
    ob = bpy.data.objects["Robot rig"]
    walk = ob.animation_data.action
    walk.name, walk.use_fake_user = "walk", True
    slow = walk.copy()
    slow.name, slow.use_fake_user = "slow", True
    flying = walk.copy()
    flying.name, flying.use_fake_user = "flying", True
    for action, change in ((slow, lambda co: 0.93 * co), (flying, lambda co: 30.0 * co)):
        for curve in _root_curves(action):
            for point in curve.keyframe_points:
                point.co.y = change(point.co.y)
            curve.update()
    select(ob)
    update()
    return ob


def walker(as_bones: bool) -> bpy.types.Object:
    """The same, rigged."""
    ob = walking_clips()
    rig_legs(bpy.context, ob, as_bones=as_bones)
    return ob


def _root_curves(action):
    curves = [curve for bag in curve_bags(action).values() for curve in bag.fcurves]
    return [curve for curve in curves if curve.data_path.endswith("location")]
