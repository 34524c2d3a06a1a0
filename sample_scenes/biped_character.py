"""The small robot of the biped scenes: its bones, its shells, and the ground that it stands on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import bpy
from mathutils import Vector

from .biped_gait import ANKLE, BALL, HEEL_FROM_ANKLE, HIP, HIPS_HEIGHT, KNEE, TOE_TIP
from .landscape import Block, make_ground
from .rigging import BoneSpec, make_armature, mirrored
from .shapes import MeshParts
from .staging import add_floor, add_three_suns, new_material

BACKGROUND = (0.19, 0.33, 0.37)

# The left arm of the rest pose.
SHOULDER = (0.19, 0.0, 1.19)
ELBOW = (0.25, 0.015, 0.96)
WRIST = (0.28, -0.02, 0.74)
FINGERS = (0.285, -0.035, 0.62)


def _bones() -> list[BoneSpec]:
    forward, back = (0.0, -1.0, 0.0), (0.0, 1.0, 0.0)
    bones = [
        BoneSpec("root", (0.0, 0.0, 0.0), (0.0, 0.25, 0.0), deform=False),
        BoneSpec("hips", (0.0, 0.0, HIPS_HEIGHT), (0.0, 0.0, 0.92), "root", forward),
        BoneSpec("spine", (0.0, 0.0, 0.92), (0.0, 0.0, 1.03), "hips", forward, connected=True),
        BoneSpec("chest", (0.0, 0.0, 1.03), (0.0, 0.0, 1.25), "spine", forward, connected=True),
        BoneSpec("neck", (0.0, 0.0, 1.25), (0.0, 0.0, 1.33), "chest", forward, connected=True),
        BoneSpec("head", (0.0, 0.0, 1.33), (0.0, 0.0, 1.62), "neck", forward, connected=True),
    ]
    limbs = [
        ("thigh", HIP, KNEE, "hips", back),
        ("shin", KNEE, ANKLE, "thigh", back),
        ("foot", ANKLE, BALL, "shin", (0.0, 0.0, 1.0)),
        ("toe", BALL, TOE_TIP, "foot", (0.0, 0.0, 1.0)),
        ("upper_arm", SHOULDER, ELBOW, "chest", back),
        ("forearm", ELBOW, WRIST, "upper_arm", back),
        ("hand", WRIST, FINGERS, "forearm", back),
    ]
    for side in ("L", "R"):
        for name, head, tail, parent, up in limbs:
            on_trunk = parent in ("hips", "chest")
            parent_name = parent if on_trunk else f"{parent}.{side}"
            ends = mirrored(head, side), mirrored(tail, side)
            bones.append(BoneSpec(f"{name}.{side}", *ends, parent_name, up, connected=not on_trunk))
        # Foot Roll rolls the foot back over the middle of this bone.
        heel, half_width = Vector(ANKLE) + HEEL_FROM_ANKLE, Vector((0.03, 0.0, 0.0))
        ends = mirrored(heel - half_width, side), mirrored(heel + half_width, side)
        bones.append(BoneSpec(f"heel.{side}", *ends, f"foot.{side}", deform=False))
    return bones


@dataclass(frozen=True)
class Paint:
    """The robot's materials."""

    shell: bpy.types.Material
    accent: bpy.types.Material
    joint: bpy.types.Material
    glass: bpy.types.Material
    glow: bpy.types.Material


def make_character(collection: bpy.types.Collection) -> bpy.types.Object:
    """Build the armature and the robot that it moves; return the armature object."""
    rig = make_armature("Robot rig", _bones(), collection, display="WIRE")
    _model(rig, collection)
    return rig


def _model(rig: bpy.types.Object, collection: bpy.types.Collection) -> None:
    """Build the robot: shells of enamel on dark ball joints."""
    paint = Paint(
        shell=new_material("Cream enamel", (0.86, 0.78, 0.64), roughness=0.35),
        accent=new_material("Coral enamel", (0.86, 0.20, 0.10), roughness=0.35),
        joint=new_material("Dark rubber", (0.035, 0.042, 0.055), roughness=0.6),
        glass=new_material("Black glass", (0.012, 0.015, 0.022), roughness=0.08),
        glow=new_material("Mint light", (0.25, 0.95, 0.72), glow=2.5),
    )
    parts = MeshParts()
    _model_trunk(parts, paint)
    _model_head(parts, paint)
    for side in ("L", "R"):
        _model_leg(parts, paint, side)
        _model_arm(parts, paint, side)
    parts.make_object("Robot", collection, rig)


def _model_trunk(parts: MeshParts, paint: Paint) -> None:
    shell, accent, joint = paint.shell, paint.accent, paint.joint
    parts.rounded_box((0, 0.005, 0.825), (0.135, 0.105, 0.085), shell, "hips", roundness=2.7, taper=0.12)
    parts.ball((0, 0, 0.945), 0.085, joint, "spine")
    parts.torus((0, 0, 0.945), (0, 0, 1), (0.083, 0.012), joint, "spine")
    chest = (0, 0, 1.125), (0.155, 0.118, 0.15)
    parts.rounded_box(*chest, shell, "chest", roundness=2.6, taper=0.16, detail=20)
    parts.rounded_box((0, -0.116, 1.155), (0.036, 0.014, 0.036), accent, "chest", detail=16)
    parts.rounded_box((0, -0.127, 1.155), (0.018, 0.008, 0.018), paint.glow, "chest", detail=12)
    parts.rounded_box((0, 0.125, 1.14), (0.095, 0.045, 0.1), accent, "chest", roundness=4.0)
    parts.limb((0, 0, 1.24), (0, 0, 1.37), (0.05, 0.05), joint, "neck")
    parts.torus((0, 0, 1.285), (0, 0, 1), (0.052, 0.012), accent, "neck")


def _model_head(parts: MeshParts, paint: Paint) -> None:
    skull, visor = ((0, -0.005, 1.475), (0.17, 0.148, 0.138)), ((0, -0.085, 1.475), (0.135, 0.078, 0.09))
    parts.rounded_box(*skull, paint.shell, "head", roundness=3.0, detail=26)
    parts.rounded_box(*visor, paint.glass, "head", roundness=3.4, detail=22)
    for sign in (-1.0, 1.0):
        parts.rounded_box((0.052 * sign, -0.158, 1.483), (0.021, 0.010, 0.034), paint.glow, "head")
        ear = (0.15 * sign, 0, 1.475), (0.198 * sign, 0, 1.475)
        parts.limb(*ear, (0.055, 0.048), paint.accent, "head")
    parts.limb((0, 0.03, 1.59), (0, 0.035, 1.7), (0.012, 0.008), paint.joint, "head", detail=10)
    parts.ball((0, 0.035, 1.712), 0.024, paint.accent, "head", detail=14)


def _model_leg(parts: MeshParts, paint: Paint, side: str) -> None:
    shell, accent, joint = paint.shell, paint.accent, paint.joint
    thigh, shin, foot, toe = (f"{name}.{side}" for name in ("thigh", "shin", "foot", "toe"))
    hip, knee, ankle, ball = (mirrored(point, side) for point in (HIP, KNEE, ANKLE, BALL))
    parts.ball(hip, 0.07, joint, thigh)
    parts.limb(hip.lerp(knee, 0.1), knee.lerp(hip, 0.08), (0.078, 0.056), shell, thigh)
    parts.ball(knee, 0.05, joint, shin)
    parts.rounded_box(knee + Vector((0, -0.03, 0)), (0.034, 0.03, 0.038), accent, shin)
    parts.limb(knee.lerp(ankle, 0.1), ankle.lerp(knee, 0.07), (0.05, 0.062), shell, shin)
    parts.ball(ankle, 0.046, joint, foot)
    boot, cap = (mirrored(point, side) for point in ((0.095, -0.018, 0.046), (0.095, -0.14, 0.034)))
    parts.rounded_box(boot, (0.056, 0.098, 0.046), accent, foot, roundness=3.4, detail=20)
    # The sole rolls over this bar, whose axis is the joint of the toes.
    half_width = Vector((0.05, 0.0, 0.0))
    parts.limb(ball - half_width, ball + half_width, (BALL[2], BALL[2]), joint, toe, roundness=8.0)
    parts.rounded_box(cap, (0.054, 0.062, 0.034), accent, toe, roundness=3.0)


def _model_arm(parts: MeshParts, paint: Paint, side: str) -> None:
    shell, accent, joint = paint.shell, paint.accent, paint.joint
    upper_arm, forearm, hand = (f"{name}.{side}" for name in ("upper_arm", "forearm", "hand"))
    shoulder, elbow, wrist, fingers = (mirrored(p, side) for p in (SHOULDER, ELBOW, WRIST, FINGERS))
    parts.ball(shoulder, 0.058, joint, upper_arm)
    parts.limb(shoulder.lerp(elbow, 0.05), elbow.lerp(shoulder, 0.1), (0.057, 0.04), shell, upper_arm)
    parts.ball(elbow, 0.038, joint, forearm)
    parts.limb(elbow.lerp(wrist, 0.1), wrist.lerp(elbow, 0.08), (0.038, 0.05), shell, forearm)
    parts.torus(wrist.lerp(elbow, 0.12), wrist - elbow, (0.044, 0.009), accent, forearm)
    parts.ball(wrist, 0.034, joint, hand)
    palm = wrist.lerp(fingers, 0.55)
    parts.rounded_box(palm, (0.032, 0.044, 0.062), accent, hand, roundness=2.4)
    thumb = palm + Vector((0.0, -0.02, 0.025)), palm + Vector((0.0, -0.055, -0.03))
    parts.limb(*thumb, (0.017, 0.014), accent, hand)


def make_set(
    y: tuple[float, float], rows: int, height: Callable[[float, float], float], collection: bpy.types.Collection
) -> None:
    """Build a strip of ground of the given heights from one Y to another, lay the floor around it, and light both."""
    tops = (
        new_material("Sand", (0.42, 0.29, 0.15), roughness=0.9),
        new_material("Pale sand", (0.54, 0.39, 0.21), roughness=0.9),
    )
    soil = new_material("Soil", (0.20, 0.085, 0.045), roughness=0.9)
    block = Block(x=(-0.8, 0.8), y=y, bottom=-0.35, columns=12, rows=rows, tile=0.4)
    make_ground(block, height, tops, soil, collection)
    add_floor(collection, block.bottom, BACKGROUND)
    add_three_suns(collection, key_from=(3.0, -3.5, 5.0))
