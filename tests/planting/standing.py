"""A planted character as Blender shows it: where its feet are, and how far they slide."""

import bpy
import numpy as np

from ik_addon.planting.scene.reading import leg_tips

from ..rig.rigs import evaluated_copy
from ..scenes import curves_of

FRAMES = range(1, 61)
LEG = 0.85


def foot_of(tip: str) -> str:
    return tip.replace("shin", "foot")


def world_of(ob: bpy.types.Object, bone: str) -> np.ndarray:
    shown = evaluated_copy(ob)
    return np.array(shown.matrix_world, float) @ np.array(shown.pose.bones[bone].matrix, float)


def ball_of(ob: bpy.types.Object, tip: str) -> np.ndarray:
    return world_of(ob, tip.replace("shin", "toe"))[:3, 3]


def feet_over(ob: bpy.types.Object, frames) -> dict[str, np.ndarray]:
    """By tip the world matrices of the feet."""
    seen: dict[str, list[np.ndarray]] = {}
    for frame in frames:
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
        for tip in leg_tips(ob):
            seen.setdefault(tip.name, []).append(world_of(ob, foot_of(tip.name)))
    return {tip: np.array(worlds) for tip, worlds in seen.items()}


def points_own(ob: bpy.types.Object, tip: str) -> dict[str, np.ndarray]:
    """Where the ball is in the foot's own space. (Heels are the clip's own: their figures are the report's.)"""
    bones = ob.data.bones
    foot, toe = bones[foot_of(tip)], bones[tip.replace("shin", "toe")]
    return {"BALL": np.array(foot.matrix_local.inverted() @ toe.head_local)}


def slides(ob: bpy.types.Object, report: dict, frames) -> float:
    """The farthest that a ball is from itself in one of its locks, in leg lengths."""
    worlds, worst = feet_over(ob, frames), 0.0
    at = {frame: k for k, frame in enumerate(frames)}
    for chain in report["chains"]:
        own = points_own(ob, chain["tip"])["BALL"]
        for lock in chain["contacts"]:
            if lock["point"] == "BALL":
                rows = [k for frame, k in at.items() if lock["first"] <= frame <= lock["last"]]
                places = worlds[chain["tip"]][rows] @ [*own, 1.0]
                worst = max(worst, float(np.linalg.norm(places[:, None] - places[None], axis=-1).max()))
    return worst / LEG


def keys_of(ob: bpy.types.Object) -> dict:
    return {
        name: [(*point.co, point.interpolation) for point in curve.keyframe_points]
        for name, curve in curves_of(ob).items()
    }
