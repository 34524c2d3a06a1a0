"""Characters that walk: built here, with feet that stand exactly, and what Blender shows of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import acos, cos, pi, sin

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector

from ik_addon.authoring.rigging import rig_legs
from ik_addon.bake.stepping import finish
from ik_addon.planting.feet.clip import LegMotion
from ik_addon.planting.feet.options import Options
from ik_addon.planting.feet.treadmill import stands_on
from ik_addon.planting.scene.reading import legs_of
from ik_addon.planting.scene.reading import shown as legs_shown
from ik_addon.rig.blender.rotations import pose_matrix, raw_of

from ..rig.rigs import BoneSpec, evaluated_copy, new_armature, update
from ..scenes import go_to, select

THIGH, SHIN, HIGH = 0.46, 0.46, 0.08
"""Lengths of a leg's links, and the height of its ankle."""
LEG = THIGH + SHIN
HIPS = LEG + HIGH
STRIDE, CYCLE, STANCE = 1.0, 24, 0.6
"""Leg walks: world units a cycle, frames a cycle, and the share of it in which a foot stands."""


@dataclass(frozen=True)
class Walk:
    """How a character walks. root: its name, "" for none; root_place: where its bone is, with its turn about Z.

    in_place: as on a treadmill. last: its last frame. turn: radians by which all has turned at the end, feet too.
    drift: what the last pose is off the first one, in radians and leg lengths. stands: on both feet, without a step.
    looks: radians by which the head is turned aside. lifted: leg lengths by which the right foot is off the ground.
    """

    root: str = "root"
    root_place: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    mode: str = "QUATERNION"
    in_place: bool = False
    last: int = 49
    turn: float = 0.0
    drift: float = 0.0
    stands: bool = False
    looks: float = 0.0
    lifted: float = 0.0
    fps: int = 24
    world: Matrix | None = None

    @property
    def frames(self) -> range:
        return range(1, self.last + 1)


def walker(walk: Walk) -> bpy.types.Object:
    """The character, with a key at every frame."""
    bpy.context.scene.render.fps = walk.fps
    ob = new_armature("walker", list(_bones(walk)))
    for bone in ob.pose.bones:
        bone.rotation_mode = walk.mode
    ob.matrix_world = walk.world or Matrix()
    action = bpy.data.actions.new("walk")
    ob.animation_data_create().action = action
    for frame in walk.frames:
        _pose(ob, walk, frame)
        for bone in ob.pose.bones:
            if bone.name != walk.root:
                bone.keyframe_insert(_channel(walk.mode), frame=frame)
        ob.pose.bones["hips"].keyframe_insert("location", frame=frame)
    select(ob)
    update()
    return ob


def _bones(walk: Walk):
    if walk.root:
        x, y, z, turn = walk.root_place
        yield BoneSpec(walk.root, (x, y, z), (x - 0.3 * sin(turn), y + 0.3 * cos(turn), z))
    yield BoneSpec("hips", (0, 0, HIPS), (0, 0, HIPS + 0.15), walk.root)
    yield BoneSpec("spine", (0, 0, HIPS + 0.15), (0, 0, HIPS + 0.5), "hips", connect=True)
    yield BoneSpec("head", (0, 0, HIPS + 0.5), (0, 0, HIPS + 0.7), "spine")
    if walk.root:
        yield BoneSpec("prop", (0.5, 0, 0), (0.5, 0, 0.3), walk.root)
    for side, x in (("L", 0.1), ("R", -0.1)):
        yield BoneSpec(f"thigh.{side}", (x, 0, LEG + HIGH), (x, -0.02, SHIN + HIGH), "hips")
        yield BoneSpec(f"shin.{side}", (x, -0.02, SHIN + HIGH), (x, 0, HIGH), f"thigh.{side}", connect=True)
        yield BoneSpec(f"foot.{side}", (x, 0, HIGH), (x, -0.15, 0.02), f"shin.{side}", connect=True)


def travelled(walk: Walk, frame: int) -> float:
    return 0.0 if walk.stands else STRIDE * (frame - walk.frames.start) / CYCLE


def foot_of(walk: Walk, frame: int, side: str) -> tuple[float, float, float]:
    """How far ahead an ankle is, how high, and how far its foot is turned about Z."""
    if walk.stands:
        return 0.0, HIGH + (walk.lifted * LEG if side == "R" else 0.0), 0.0
    phase = (frame - walk.frames.start) / CYCLE + (0.5 if side == "R" else 0.0) + 0.05
    cycle, share = divmod(phase, 1.0)
    offset = 0.5 if side == "R" else 0.0
    stride = STRIDE + (0.2 if side == "L" else 0.1) * walk.drift
    here = (0.25 - offset) * STRIDE + cycle * stride
    t = max(0.0, (share - STANCE) / (1.0 - STANCE))
    step = t * t * (3.0 - 2.0 * t)
    return here + stride * step, HIGH + 0.12 * sin(pi * t) ** 2, 0.7 * walk.drift * (cycle + step)


def _pose(ob: bpy.types.Object, walk: Walk, frame: int) -> None:
    """Pose all bones at a frame: the body forward and swaying, each leg as its ankle asks."""
    phase = 2.0 * pi * (frame - walk.frames.start) / CYCLE
    share = (frame - walk.frames.start) / (len(walk.frames) - 1)
    turn = Matrix.Rotation(walk.turn * share, 4, "Z")
    # As much as it goes ahead, the ground passes below it.
    back = Vector((0.0, travelled(walk, frame), 0.0)) if walk.in_place else Vector()
    lean = Euler((0.05 * sin(2.0 * phase), 0.04 * sin(phase), 0.1 * sin(phase) + walk.drift * share))
    place = Vector((0.03 * sin(phase), -travelled(walk, frame), HIPS - 0.1 + 0.015 * cos(2.0 * phase)))
    place += walk.drift * share * Vector((0.1, 0.0, -0.2))
    bones = {bone.name: bone for bone in ob.data.bones}
    hips = turn @ Matrix.Translation(place + back) @ lean.to_matrix().to_4x4()
    poses = {"hips": hips @ bones["hips"].matrix_local.to_3x3().to_4x4()}
    for side in "LR":
        hip = bones[f"thigh.{side}"].head_local
        ahead, height, aside = foot_of(walk, frame, side)
        ankle = turn @ (Vector((hip.x, -ahead, height)) + back)
        poses |= _leg(bones, side, hips @ (hip - bones["hips"].head_local), ankle, turn.to_3x3())
        foot = poses[f"foot.{side}"]
        poses[f"foot.{side}"] = Matrix.Translation(ankle) @ (Matrix.Rotation(aside, 3, "Z") @ foot.to_3x3()).to_4x4()
    for bone in ob.pose.bones:
        name, above = bone.name, bone.parent
        parent = poses[above.name] if above else None
        if name not in poses:
            poses[name] = pose_matrix(bone.bone, Matrix(), parent)
        if name == "head":
            poses[name] = poses[name] @ Matrix.Rotation(0.1 * sin(phase) + walk.drift * share + walk.looks, 4, "Y")
        basis = pose_matrix(bone.bone, poses[name], parent, invert=True)
        bone.location = basis.translation
        channel = _channel(walk.mode)
        setattr(bone, channel, raw_of(basis.to_quaternion(), walk.mode, getattr(bone, channel)))


def _channel(mode: str) -> str:
    return "rotation_quaternion" if mode == "QUATERNION" else "rotation_euler"


def _leg(bones: dict[str, bpy.types.Bone], side: str, hip: Vector, ankle: Vector, turn: Matrix) -> dict[str, Matrix]:
    """The pose matrices of a leg's bones. Its knee is ahead of the line from hip to ankle, its foot level."""
    thigh, shin, foot = (bones[f"{name}.{side}"] for name in ("thigh", "shin", "foot"))
    line, ahead = ankle - hip, turn @ Vector((0.0, -1.0, 0.0))
    away, along = line.length, line.normalized()
    aside = (ahead - along * ahead.dot(along)).normalized()
    angle = acos((thigh.length**2 + away**2 - shin.length**2) / (2.0 * thigh.length * away))
    knee = hip + thigh.length * (cos(angle) * along + sin(angle) * aside)
    found = {}
    for bone, start, end in ((thigh, hip, knee), (shin, knee, ankle)):
        rest, way = bone.matrix_local.to_3x3(), turn.inverted() @ (end - start).normalized()
        swing = rest.col[1].rotation_difference(way).to_matrix()
        found[bone.name] = Matrix.Translation(start) @ (turn @ swing @ rest).to_4x4()
    found[foot.name] = Matrix.Translation(ankle) @ (turn @ foot.matrix_local.to_3x3()).to_4x4()
    return found


Shown = dict[str, np.ndarray]


def shown(ob: bpy.types.Object, frames: range) -> Shown:
    """Where all bones of an armature are at each frame, in the world, as Blender evaluates them: (T, 4, 4)."""
    found: dict[str, list] = {bone.name: [] for bone in ob.pose.bones}
    for frame in frames:
        go_to(frame)
        copy = evaluated_copy(ob)
        for bone in copy.pose.bones:
            found[bone.name].append(np.array(copy.matrix_world @ bone.matrix))
    return {name: np.array(rows) for name, rows in found.items()}


def shown_objects(objects, frames: range) -> Shown:
    found: dict[str, list] = {ob.name: [] for ob in objects}
    for frame in frames:
        go_to(frame)
        for ob in objects:
            found[ob.name].append(np.array(evaluated_copy(ob).matrix_world))
    return {name: np.array(rows) for name, rows in found.items()}


def apart(a: Shown, b: Shown, length: float = LEG, but: tuple[str, ...] = ()) -> float:
    """The largest difference between two motions: of places by a length, of axes as they are."""
    worst = 0.0
    for name in a:
        if name not in but:
            worst = max(worst, float(np.abs(a[name] - b[name])[:, :3, 3].max()) / length)
            axes = [rows[name][:, :3, :3] for rows in (a, b)]
            size = np.linalg.norm(axes[0], axis=1).max()
            worst = max(worst, float(np.abs(axes[0] - axes[1]).max()) / size)
    return worst


def some_slow(names: Iterable[str], quick: int = 2) -> list:
    """Cases of a test, of which those after the first ones are slow."""
    return [name if k < quick else pytest.param(name, marks=pytest.mark.slow) for k, name in enumerate(names)]


PLACED = Matrix.Translation((0.4, 0.3, 0.2)) @ Matrix.Rotation(0.8, 4, "Z") @ Matrix.Rotation(0.3, 4, "X")

CHAINS = ["no chains", "Empties", "control bones"]


def character(walk: Walk, chains: str) -> tuple[bpy.types.Object, float]:
    ob = walker(walk)
    if chains != "no chains":
        rig_legs(bpy.context, ob, as_bones=chains == "control bones")
        update()
    return ob, LEG * ob.matrix_world.median_scale


def seen_on_ground(ob: bpy.types.Object, frames: range) -> LegMotion:
    """The legs, seen from the ground that they walk on."""
    clip = finish(legs_shown(bpy.context, ob, legs_of(ob), frames))
    return stands_on(clip, Options()).ground.seen_from(clip)


def check_speeds(feet: list[dict[str, float]], leg: float, joined: Shown, *clips: Shown) -> None:
    """No foot goes farther in a frame than 1.3 times as far as in these clips, and no bone turns more than 1.5 times as
    far as any in these. feet: by leg the bones of its foot, with their lengths."""

    def steps(shown: Shown, foot: dict[str, float]) -> float:
        ends = [shown[name] @ (0.0, end, 0.0, 1.0) for name, length in foot.items() for end in (0.0, length)]
        return max(np.linalg.norm(np.diff(way[:, :3], axis=0), axis=1).max() for way in ends)

    for foot in feet:
        assert steps(joined, foot) < 1.3 * max(steps(each, foot) for each in clips) + 1e-3 * leg
    own, *usual = (
        max(farthest_turn(each[name]) for name in each if name not in ("root", "prop")) for each in (joined, *clips)
    )
    assert own < 1.5 * max(usual) + 1e-4


def farthest_turn(poses: np.ndarray) -> float:
    """How far these poses turn in a frame at most, radians."""
    turns = [Matrix(pose).to_quaternion() for pose in poses]
    return max(one.rotation_difference(other).angle for one, other in pairwise(turns))
