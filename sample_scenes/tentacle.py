"""A tentacle of twenty joints rises from a pool and plays with a golden ball."""

from __future__ import annotations

from math import cos, pi, radians, sin

import bpy
from mathutils import Matrix, Vector

from .motion import key_vectors, smoothstep
from .rigging import BoneSpec, key_bone_turn, make_armature, make_chain, make_empty, turn_by
from .shapes import MeshParts, Weights
from .staging import Opening, add_camera, add_floor, add_three_suns, new_collection, new_material, start_scene

LAST_FRAME = 144
BACKGROUND = (0.05, 0.11, 0.20)
BONE_COUNT = 20
FIRST_LENGTH, LAST_LENGTH = 0.16, 0.09
BASE_RADIUS, TIP_RADIUS = 0.20, 0.028
RINGS_PER_BONE = 2
TUBE_DETAIL = 18
SUCKERS = 24
LARGEST_BEND = radians(15.0)

READ_ME = """\
1. Press Space: twenty bones share the bend, and the tip is at the ball on every frame.
2. In Object Mode, move Grab, the sphere at the ball.
3. In Pose Mode, rotate a bone in the middle (R): the tip stays at the ball.
4. Click any bone and open Joint Limits: no bone bends more than Max Bend, so nothing kinks.
5. Press Bake: the bones get plain keys that play without the add-on.
"""


def _lean(share: float) -> float:
    """Return how far from the vertical, towards +X, the rest pose leans at a share of its length."""
    return radians(-10.0 + 150.0 * share**1.3)


def _rest_joints() -> list[Vector]:
    joints = [Vector((0.0, 0.0, -0.12))]
    for bone in range(BONE_COUNT):
        share = bone / (BONE_COUNT - 1)
        length = FIRST_LENGTH + (LAST_LENGTH - FIRST_LENGTH) * share
        joints.append(joints[-1] + length * Vector((sin(_lean(share)), 0.0, cos(_lean(share)))))
    return joints


JOINTS = _rest_joints()


def _bone_name(bone: int) -> str:
    return f"tentacle.{bone + 1:02}"


def _rest_place(along: float) -> tuple[Vector, Vector]:
    """Return the point of the rest pose *along* so many bones, and its direction there."""
    bone = min(int(along), BONE_COUNT - 1)
    low, high = JOINTS[bone], JOINTS[bone + 1]
    point = low.lerp(high, along - bone)
    # The neighbouring bones have their part in the direction, or the skin would have an edge at each joint.
    before, after = JOINTS[max(bone - 1, 0)], JOINTS[min(bone + 2, BONE_COUNT)]
    neighbours = (low - before).lerp(after - high, along - bone)
    return point, (high - low + neighbours).normalized()


def _sway(bone: int, frame: float) -> Matrix:
    """Return a bone's turn in the keyed pose, which the chain starts from: a wave that runs to the tip."""
    share = bone / (BONE_COUNT - 1)
    wave = 2.0 * pi * (frame - 1.0) / LAST_FRAME
    strength = smoothstep(3.0 * share)
    curl = (3.6 + 3.0 * share) * sin(2.0 * wave - 3.6 * share)
    return turn_by(pitch=strength * 4.2 * sin(wave - 2.2 * share), roll=strength * curl)


def _keyed_tip(frame: float) -> Vector:
    """Return where the tip of the keyed pose is, seen from the root."""
    tip, turn = Vector(), Matrix.Identity(3)
    for bone in range(BONE_COUNT):
        turn = turn @ _sway(bone, frame)
        tip += turn @ (JOINTS[bone + 1] - JOINTS[bone])
    return tip


def _grab_place(frame: float) -> Vector:
    """Return the target's place on its closed path, a figure of eight.

    It swings out to both sides of the keyed tip, and is a little farther from the root: the chain follows
    it by turning as a whole and straightening its last few bones, and keeps its keyed curl otherwise.
    """
    wave = 2.0 * pi * (frame - 1.0) / LAST_FRAME
    sideways = Matrix.Rotation(radians(26.0) * sin(wave), 3, "Z")
    swing = sideways @ Matrix.Rotation(radians(7.0) * cos(wave), 3, "X")
    return JOINTS[0] + swing @ _keyed_tip(frame) * 1.006


def _bones() -> list[BoneSpec]:
    bones = []
    for bone in range(BONE_COUNT):
        parent = _bone_name(bone - 1) if bone else ""
        ends = JOINTS[bone], JOINTS[bone + 1]
        bones.append(BoneSpec(_bone_name(bone), *ends, parent, (0.0, 1.0, 0.0), connected=bone > 0))
    return bones


def _weights_along(along: float) -> Weights:
    """Return the skin weights at so many bones from the base, blended between the nearest two."""
    bone = min(max(along - 0.5, 0.0), BONE_COUNT - 1.0)
    low = min(int(bone), BONE_COUNT - 2)
    share = bone - low
    return {_bone_name(low): 1.0 - share, _bone_name(low + 1): share}


def _radius(along: float) -> float:
    share = along / BONE_COUNT
    flare = 0.08 * max(0.0, 1.0 - share / 0.10) ** 2
    return TIP_RADIUS + (BASE_RADIUS - TIP_RADIUS) * (1.0 - share) ** 1.15 + flare


def _model(rig: bpy.types.Object, collection: bpy.types.Collection) -> None:
    """Build the tentacle: a tapered tube with two rows of suckers on its inner side."""
    skin = new_material("Coral skin", (0.62, 0.10, 0.14), roughness=0.28)
    pale = new_material("Pale sucker", (0.92, 0.58, 0.42), roughness=0.4)
    parts = MeshParts()
    sideways = Vector((0.0, 1.0, 0.0))

    rings, weights = [], []
    count = BONE_COUNT * RINGS_PER_BONE
    for ring in range(count + 1):
        along = ring / RINGS_PER_BONE
        point, forwards = _rest_place(along)
        inwards = sideways.cross(forwards)
        angles = [2.0 * pi * step / TUBE_DETAIL for step in range(TUBE_DETAIL)]
        # A little flat on the inside, where the suckers sit.
        outline = [(cos(a) * (0.9 if cos(a) > 0.0 else 1.0), sin(a)) for a in angles]
        rings.append([point + _radius(along) * (inwards * x + sideways * y) for x, y in outline])
        weights.append(_weights_along(along))
    tip, forwards = _rest_place(BONE_COUNT)
    rings.append([tip + forwards * TIP_RADIUS * 0.7])
    weights.append(_weights_along(BONE_COUNT))
    parts.loft(rings, skin, weights)

    for sucker in range(SUCKERS):
        along = 1.6 + (BONE_COUNT - 2.2) * (sucker / (SUCKERS - 1)) ** 0.9
        point, forwards = _rest_place(along)
        inwards = sideways.cross(forwards)
        radius = _radius(along)
        for side in (-1.0, 1.0):
            outwards = (inwards + side * 0.48 * sideways).normalized()
            size = radius * 0.26
            centre = point + outwards * radius * 0.93
            parts.torus(centre, outwards, (size, size * 0.42), pale, _weights_along(along), detail=11)
    parts.make_object("Tentacle", collection, rig)


def _set(collection: bpy.types.Collection) -> None:
    """Lay the pool, its rim of stones, the ripples, and the light."""
    water = new_material("Water", (0.02, 0.13, 0.16), roughness=0.1)
    foam = new_material("Ripple", (0.10, 0.34, 0.38), roughness=0.15)
    stone = new_material("Stone", (0.16, 0.19, 0.24), roughness=0.8)
    pool = MeshParts()
    pool.rounded_box((0, 0, 0.0), (1.55, 1.55, 0.035), water, roundness=2.0, detail=48)
    for radius, thickness in ((0.40, 0.016), (0.62, 0.012), (0.9, 0.008)):
        pool.torus((0, 0, 0.03), (0, 0, 1), (radius, thickness), foam, detail=48)
    count = 21
    for index in range(count):
        angle = 2.0 * pi * index / count
        size = 0.2 + 0.07 * sin(2.3 * index) + 0.05 * sin(5.1 * index + 1.0)
        centre = Vector((cos(angle), sin(angle), 0.0)) * (1.62 + 0.05 * sin(3.7 * index))
        tilt = 9.0 * sin(4.0 * index), 12.0 * sin(7.0 * index)
        turned = turn_by(*tilt, yaw=360.0 * index / count)
        pool.rounded_box(centre, Vector((0.9, 1.35, 0.75)) * size, stone, roundness=2.7, rotation=turned)
    pool.make_object("Pool", collection)
    add_floor(collection, -0.03, BACKGROUND)
    add_three_suns(collection, key_from=(3.4, -2.6, 4.2))
    add_camera(collection, eye=(2.5, -7.4, 3.6), look_at=(0.2, 0.0, 0.84), lens=60.0)


def build() -> Opening:
    """Build the scene."""
    start_scene("tentacle", LAST_FRAME, BACKGROUND)
    character, controls, stage = (new_collection(name) for name in ("Character", "Controls", "Set"))
    rig = make_armature("Tentacle rig", _bones(), character)
    _model(rig, character)
    _set(stage)
    for bone in range(BONE_COUNT):
        key_bone_turn(rig, _bone_name(bone), [(f, _sway(bone, f)) for f in range(1, LAST_FRAME + 2, 6)])

    grab = make_empty("Grab", _grab_place(1), controls, size=0.16)
    key_vectors(grab, "location", [(frame, _grab_place(frame)) for frame in range(1, LAST_FRAME + 2, 2)])
    gold = new_material("Gold", (1.0, 0.58, 0.07), roughness=0.25, metallic=0.4, glow=0.12)
    ball = MeshParts()
    ball.ball((0, 0, 0), 0.1, gold, detail=24)
    ball.make_object("Ball", controls).parent = grab

    tip = make_chain(rig, _bone_name(BONE_COUNT - 1), BONE_COUNT, grab)
    tip.analytic_ik_least_motion = True
    # Without this, the few joints that reach farther than the keyed pose kink.
    for bone in range(1, BONE_COUNT):
        joint = rig.pose.bones[_bone_name(bone)]
        joint.analytic_ik_use_cone, joint.analytic_ik_cone = True, LARGEST_BEND
    return Opening(rig, READ_ME, "tentacle.20")
