"""Bodies of any proportions, names, rest poses, rolls and object transforms, that all do the same motion.

What a naive retargeter leaves: each bone of a body is turned in the world as the bone of the same name in all others,
from its own rest pose. So hands and feet end up where proportions and rest poses bring them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, pi, sin

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion, Vector

from ..rig.rigs import BoneSpec, editing, new_armature, update
from ..scenes import go_to

FRAMES = range(1, 25)
SIDES = {"L": 1.0, "R": -1.0}

_LEFT = ("thigh", "shin", "foot", "toe", "shoulder", "upper_arm", "forearm", "hand")
_MIDDLE = ("pelvis", "chest", "head")
_PARENTS = {
    "pelvis": "",
    "chest": "pelvis",
    "head": "chest",
    "thigh": "pelvis",
    "shin": "thigh",
    "foot": "shin",
    "toe": "foot",
    "shoulder": "chest",
    "upper_arm": "shoulder",
    "forearm": "upper_arm",
    "hand": "forearm",
}
NAMES = {
    "rigify": {name: f"{name}.{{s}}" for name in _LEFT}
    | {"pelvis": "spine", "chest": "spine.001", "head": "spine.004"},
    "mixamo": {
        "pelvis": "mixamorig:Hips",
        "chest": "mixamorig:Spine",
        "head": "mixamorig:Head",
        "thigh": "mixamorig:{side}UpLeg",
        "shin": "mixamorig:{side}Leg",
        "foot": "mixamorig:{side}Foot",
        "toe": "mixamorig:{side}ToeBase",
        "shoulder": "mixamorig:{side}Shoulder",
        "upper_arm": "mixamorig:{side}Arm",
        "forearm": "mixamorig:{side}ForeArm",
        "hand": "mixamorig:{side}Hand",
    },
    "cmu": {
        "pelvis": "hip",
        "chest": "abdomen",
        "head": "head",
        "thigh": "{l}Thigh",
        "shin": "{l}Shin",
        "foot": "{l}Foot",
        "toe": "{l}Toe",
        "shoulder": "{l}Collar",
        "upper_arm": "{l}Shldr",
        "forearm": "{l}ForeArm",
        "hand": "{l}Hand",
    },
}


@dataclass(frozen=True)
class Build:
    """How a body is built.

    names: of its bones, a key of NAMES. legs, arms: their lengths beside a person's. droop: of arms at rest, radians; 0
    is a T-pose. roll: of all bones. axes: of its armature in its object; size: of an armature unit, as importers have
    it. place, heading: where it is put up, and turned. knee: of the leg's length that is its thigh's.
    """

    names: str = "rigify"
    legs: float = 1.0
    arms: float = 1.0
    droop: float = 0.0
    roll: float = 0.0
    axes: tuple[float, float, float] = (0.0, 0.0, 0.0)
    size: float = 1.0
    place: tuple[float, float, float] = (0.0, 0.0, 0.0)
    heading: float = 0.0
    knee: float = 0.5

    def bone(self, name: str, side: str = "") -> str:
        words = {"s": side, "side": {"L": "Left", "R": "Right"}.get(side, ""), "l": side.lower()}
        return NAMES[self.names][name].format(**words)


def points_of(build: Build) -> dict[str, tuple[Vector, Vector]]:
    """Head and tail of the left side's bones and of those in the middle, in world units; looks to -Y."""
    leg, arm = 0.86 * build.legs, 0.54 * build.arms
    hip = Vector((0.1, 0.0, 0.09 + leg))
    knee, ankle = hip + Vector((0.0, -0.03, -build.knee * leg)), hip + Vector((0.0, 0.03, -leg))
    ball, waist = ankle + Vector((0.01, -0.13, -0.07)), Vector((0.0, 0.0, hip.z + 0.05))
    neck = waist + Vector((0.0, 0.0, 0.4))
    shoulder = neck + Vector((0.17, 0.02, 0.0))
    out = Matrix.Rotation(build.droop, 3, "Y")
    elbow = shoulder + out @ Vector((0.52 * arm, 0.02, 0.0))
    wrist = elbow + out @ Vector((0.48 * arm, -0.02, 0.0))
    fingers = wrist + out @ Vector((0.1, 0.0, 0.0))
    return {
        "pelvis": (waist, waist + Vector((0.0, 0.0, 0.15))),
        "chest": (waist + Vector((0.0, 0.0, 0.15)), neck),
        "head": (neck, neck + Vector((0.0, 0.0, 0.25))),
        "thigh": (hip, knee),
        "shin": (knee, ankle),
        "foot": (ankle, ball),
        "toe": (ball, ball + Vector((0.0, -0.07, -0.01))),
        "shoulder": (neck + Vector((0.02, 0.0, 0.0)), shoulder),
        "upper_arm": (shoulder, elbow),
        "forearm": (elbow, wrist),
        "hand": (wrist, fingers),
    }


def new_body(build: Build, name: str = "body") -> bpy.types.Object:
    """A body in its rest pose, without motion."""
    axes = Matrix.LocRotScale(None, Euler(build.axes), Vector.Fill(3, build.size))
    to_own, specs = axes.inverted(), []
    for bone, places in points_of(build).items():
        for side in ("",) if bone in _MIDDLE else SIDES:
            mirror = Vector((SIDES.get(side, 1.0), 1.0, 1.0))
            head, tail = (to_own @ (mirror * point) for point in places)
            above = _PARENTS[bone]
            parent = build.bone(above, "" if above in _MIDDLE else side) if above else ""
            specs.append(BoneSpec(build.bone(bone, side), head, tail, parent))
    ob = new_armature(name, specs)
    with editing(ob) as bones:
        for k, bone in enumerate(bones):
            bone.roll += build.roll * (1.0 + 0.3 * k)
    ob.matrix_world = Matrix.LocRotScale(Vector(build.place), Euler((0.0, 0.0, build.heading)), None) @ axes
    update()
    return ob


Motion = tuple[dict[tuple[str, str], Quaternion], Vector]


def walk(frame: int) -> Motion:
    """How bones are turned in the world from rest at a frame of a walk with busy hands, and where the pelvis goes."""
    phase = 2.0 * pi * (frame - FRAMES.start) / 16.0
    turns = {("pelvis", ""): _turn(0.05 * sin(phase), 0.0, 0.1 * sin(phase))}
    turns["chest", ""] = _turn(0.08, 0.03 * sin(phase), -0.12 * sin(phase))
    turns["head", ""] = turns["chest", ""]
    for side, sign in SIDES.items():
        swing = sin(phase) * sign
        turns["thigh", side] = _turn(-0.25 + 0.5 * swing, 0.05 * sign, 0.1 * sign)
        turns["shin", side] = _turn(0.35 + 0.3 * swing, 0.04 * sign, 0.1 * sign)
        turns["foot", side] = turns["toe", side] = _turn(0.1 * swing, 0.0, 0.1 * sign)
        turns["shoulder", side] = turns["chest", ""] @ _turn(0.0, 0.1 * swing, 0.0)
        turns["upper_arm", side] = _turn(0.4 * swing, 0.8 * sign, 0.3 * sign)
        bend = 0.7 + 0.4 * cos(phase)
        turns["forearm", side] = turns["upper_arm", side] @ _turn(0.2, 0.1, -bend * sign)
        turns["hand", side] = turns["forearm", side] @ _turn(0.3 * swing, 0.0, 0.0)
    return turns, Vector((0.03 * sin(phase), -0.05 * (frame - FRAMES.start), -0.09 + 0.02 * cos(2.0 * phase)))


def _turn(x: float, y: float, z: float) -> Quaternion:
    return Euler((x, y, z)).to_quaternion()


def animate(
    ob: bpy.types.Object,
    build: Build,
    travel: float = 1.0,
    motion: Callable[[int], Motion] = walk,
    frames: range = FRAMES,
    in_world: bool = False,
) -> None:
    """Key a motion. travel: how far the body goes of it. It is turned with the body's heading, or is as `in_world`."""
    ob.animation_data_create().action = bpy.data.actions.new(f"{ob.name} walk")
    axes, facing = Euler(build.axes).to_quaternion(), Quaternion()
    if in_world:
        heading = Quaternion((0.0, 0.0, 1.0), build.heading)
        axes, facing = heading @ axes, heading.inverted()
    places = [(bone, side) for bone in _PARENTS for side in (("",) if bone in _MIDDLE else SIDES)]
    for frame in frames:
        turns, way = motion(frame)
        for bone, side in places:
            pose_bone = ob.pose.bones[build.bone(bone, side)]
            rest, above = pose_bone.bone.matrix_local.to_quaternion(), _PARENTS[bone]
            parent = turns[above, "" if above in _MIDDLE else side] if above else None
            whole = (parent @ facing).inverted() if above else Quaternion()
            turn = axes.inverted() @ whole @ turns[bone, side] @ facing @ axes
            pose_bone.rotation_mode = "QUATERNION"
            pose_bone.rotation_quaternion = rest.inverted() @ turn @ rest
            pose_bone.keyframe_insert("rotation_quaternion", frame=frame)
            if not above:
                own = axes.inverted() @ (travel * way) / build.size
                pose_bone.location = rest.inverted() @ own
                pose_bone.keyframe_insert("location", frame=frame)
    go_to(frames.start)


def moving_body(build: Build, name: str, **given: object) -> bpy.types.Object:
    """A body that walks. given: as in `animate`."""
    ob = new_body(build, name)
    animate(ob, build, **given)
    return ob


def world_points(ob: bpy.types.Object, build: Build, bones: tuple[str, ...], side: str) -> np.ndarray:
    """(bones, 3), the heads of evaluated bones in the world at the current frame."""
    shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([shown.matrix_world @ shown.pose.bones[build.bone(bone, side)].head for bone in bones], float)
