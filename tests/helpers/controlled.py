"""Characters whose controls are bones of their own."""

import bpy

from ..rig.rigs import BoneSpec, new_armature, update
from ..scenes import select, select_bones


def rigged_with_bones(ob: bpy.types.Object, **options: object) -> bpy.types.Object:
    """The armature object, its legs rigged."""
    assert bpy.ops.analytic_ik.rig_legs(controls="BONES", **options) == {"FINISHED"}
    update()
    return ob


def tips_of(ob: bpy.types.Object) -> list[bpy.types.PoseBone]:
    return [bone for bone in ob.pose.bones if bone.analytic_ik_enabled]


def human_with_ground() -> bpy.types.Object:
    """A body with a root bone on the ground, skin on its feet, and names with .L and .R."""
    bones = [
        BoneSpec("root", (0.0, 0.0, 0.0), (0.0, 0.3, 0.0)),
        BoneSpec("hips", (0.0, 0.0, 1.0), (0.0, 0.0, 1.2), "root"),
    ]
    for side, x in (("L", 0.1), ("R", -0.1)):
        bones += [
            BoneSpec(f"thigh.{side}", (x, 0.0, 1.0), (x, -0.05, 0.55), "hips"),
            BoneSpec(f"shin.{side}", (x, -0.05, 0.55), (x, 0.0, 0.1), f"thigh.{side}", True),
            BoneSpec(f"foot.{side}", (x, 0.0, 0.1), (x, -0.12, 0.03), f"shin.{side}", True),
            BoneSpec(f"toe.{side}", (x, -0.12, 0.03), (x, -0.18, 0.03), f"foot.{side}", True),
        ]
    ob = new_armature("human", bones)
    mesh = bpy.data.meshes.new("skin")
    corners = [(x, y, z) for x in (0.05, 0.16) for y in (-0.21, 0.05) for z in (0.0, 0.08)]
    mesh.from_pydata([(side * x, y, z) for side in (1.0, -1.0) for x, y, z in corners] + [(0.0, 0.0, 1.6)], [], [])
    skin = bpy.data.objects.new("skin", mesh)
    bpy.context.scene.collection.objects.link(skin)
    skin.modifiers.new("Armature", "ARMATURE").object = ob
    select(ob)
    select_bones(ob)
    update()
    return ob
