"""Scenes of many legs, the same for every contender."""

from math import pi

import bpy
from mathutils import Vector

FRAMES = range(1, 251)
LEG_LENGTH = 2.0


def build(legs: int, contender: str, animated_root: bool = False) -> bpy.types.Object:
    """A fresh scene with one armature of two-bone legs that follow animated Empties; returns the armature object.

    contender: BARE (nothing follows), BLENDER (the IK constraint, poles with their computed angle), OURS.
    """
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    ob = _armature(scene, legs)
    if animated_root:
        root = ob.pose.bones["root"]
        for frame in FRAMES[::10]:
            root.location = (0.05 * (frame % 3), 0.0, 0.02 * (frame % 7))
            root.keyframe_insert("location", frame=frame)
    for leg in range(legs):
        foot, knee = _controls(scene, leg)
        shin = ob.pose.bones[f"shin.{leg}"]
        if contender == "BLENDER":
            constraint = shin.constraints.new("IK")
            constraint.target, constraint.pole_target = foot, knee
            constraint.chain_count, constraint.pole_angle = 2, -pi / 2.0
        elif contender == "OURS":
            shin.analytic_ik_target, shin.analytic_ik_pole_target = foot, knee
            shin.analytic_ik_enabled = True
    scene.frame_set(FRAMES[0])
    return ob


def worst_error(ob: bpy.types.Object, frames: range) -> float:
    """The largest distance of a shin's tail from its foot control over `frames`, in leg lengths."""
    worst = 0.0
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        posed = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        for bone in posed.pose.bones:
            if bone.name.startswith("shin"):
                target = bpy.data.objects[f"foot.{bone.name.partition('.')[2]}"]
                tail = posed.matrix_world @ bone.tail
                worst = max(worst, (tail - target.matrix_world.translation).length / LEG_LENGTH)
    return worst


def _armature(scene: bpy.types.Scene, legs: int) -> bpy.types.Object:
    armature = bpy.data.armatures.new("Legs")
    ob = bpy.data.objects.new("Legs", armature)
    scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    root = armature.edit_bones.new("root")
    root.head, root.tail = (0.0, 0.0, 2.0), (0.0, 0.0, 2.5)
    for leg in range(legs):
        hip = Vector((0.5 * leg, 0.0, 2.0))
        thigh = armature.edit_bones.new(f"thigh.{leg}")
        thigh.head, thigh.tail = hip, hip + Vector((0.0, -0.2, -0.98))
        thigh.parent = root
        shin = armature.edit_bones.new(f"shin.{leg}")
        shin.head, shin.tail = thigh.tail, hip + Vector((0.0, 0.0, -1.96))
        shin.parent, shin.use_connect = thigh, True
    bpy.ops.object.mode_set(mode="OBJECT")
    return ob


def _controls(scene: bpy.types.Scene, leg: int) -> tuple[bpy.types.Object, bpy.types.Object]:
    foot, knee = (bpy.data.objects.new(f"{name}.{leg}", None) for name in ("foot", "knee"))
    for control in (foot, knee):
        scene.collection.objects.link(control)
    knee.location = (0.5 * leg, -3.0, 1.0)
    for frame in FRAMES[::7]:
        phase = 0.2 * frame + leg
        foot.location = (
            0.5 * leg + 0.1 * ((frame + leg) % 5 - 2) / 2.0,
            0.4 * ((phase % 4.0) - 2.0) / 2.0,
            0.3 + 0.25 * (phase % 3.0) / 3.0,
        )
        foot.keyframe_insert("location", frame=frame)
    return foot, knee
