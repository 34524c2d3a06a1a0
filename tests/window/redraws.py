"""What judges redraws of the 3D views, and moves what is judged: the walk's legs and their keys."""

import sys
from collections import Counter
from math import sin
from types import ModuleType

import bpy
import driver as d

RIG = "Robot rig"
LEGS = [f"{bone}.{side}" for side in "LR" for bone in ("thigh", "shin", "foot", "toe")]
IN_QUATERNIONS = ("thigh.R", "shin.R")
KEYED = range(1, 62, 5)
"""The frames with keys."""

redraws: Counter[str] = Counter()
wrong: Counter[str] = Counter()
now = {"step": "start"}


def module(name: str) -> ModuleType:
    """A module of the add-on, wherever that is installed."""
    (found,) = (key for key in sys.modules if key.endswith(f"ik_addon.{name}"))
    return sys.modules[found]


def not_met(ob: bpy.types.Object, tips: list[str], depsgraph: bpy.types.Depsgraph) -> str:
    """The chains of an original armature object that are not where they should be; "": all are."""
    states = module("rig.status.states").states_of(ob, tips, depsgraph)
    kinds = {tip: state.kind for tip, state in states.items() if state.kind not in ("MET", "TOO_FAR", "SOFT")}
    return ", ".join(f"{tip} {kind}" for tip, kind in kinds.items())


def step(name: str) -> None:
    now["step"] = name


def scene() -> bpy.types.Scene:
    """That of the first window. Looked up anew each time, for an undo replaces it."""
    return d.window().scene


def rig() -> bpy.types.Object:
    return bpy.data.objects[RIG]


def drag_by(keys: str, pixels: int = 60, confirm: bool = True, area_kind: str = "VIEW_3D") -> d.Steps:
    """Press keys that start a transform, move the mouse, and confirm or cancel."""
    start = d.middle("WINDOW", area_kind)
    yield from d.move(start)
    for key in keys.split():
        yield from d.press(key)
    for k in range(1, 9):
        d.point((start[0] + pixels * k / 8, start[1] + pixels * k / 16))
        yield 0.06
    d.xdotool("click", 1 if confirm else 3)
    yield 0.4


def select_object(name: str) -> None:
    if bpy.context.object and bpy.context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for ob in bpy.context.view_layer.objects:
        ob.select_set(ob.name == name)
    bpy.context.view_layer.objects.active = bpy.data.objects[name]


def select_bone(name: str) -> None:
    select_object(RIG)
    bpy.ops.object.mode_set(mode="POSE")
    for bone in rig().pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name == name
    rig().data.bones.active = rig().data.bones[name]


def channel(bone: bpy.types.PoseBone) -> str:
    return "rotation_quaternion" if bone.rotation_mode == "QUATERNION" else "rotation_euler"


def key_legs() -> None:
    """Keys of its own for each bone of the legs: some motion that no chain would make."""
    for k, name in enumerate(LEGS):
        bone = rig().pose.bones[name]
        if name in IN_QUATERNIONS:
            bone.rotation_mode = "QUATERNION"
        for frame in KEYED:
            turn = [0.25 * sin(0.21 * frame + k + axis) for axis in range(3)]
            setattr(bone, channel(bone), (1.0, *turn) if name in IN_QUATERNIONS else turn)
            bone.keyframe_insert(channel(bone), frame=frame)
