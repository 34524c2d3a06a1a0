"""Legs whose feet follow and roll: the scene of `legs`, with the usual bones of a foot that rolls for Blender's IK.

Those are bones at heel, toe tip and ball, one below the other under the control, turned by simple expressions of one
keyed property; the leg's IK ends at the ankle below them, and Copy Rotation turns foot and toe.
"""

from math import ceil, pi

import bpy
from mathutils import Matrix, Vector

from ik_addon.native.making import make_native
from ik_addon.rig.live import handlers as live

from . import legs

FOOT, TOE = Vector((0.0, -0.25, -0.12)), Vector((0.0, -0.15, 0.0))
"""From ankle to ball, and on to the tip of the toe."""
TOE_ANGLE = pi / 4.0
ROLLS = (0.1, 0.5, 0.3)
"""Of keys one after the other: over the ball, which stays where the control has it."""
PIVOTS = {"heel": (FOOT.xyz * Vector((1.0, 0.0, 1.0)), "min(r,0)")}
PIVOTS |= {"tip": (FOOT + TOE, f"max(r-{TOE_ANGLE},0)"), "ball": (FOOT, f"min(max(r,0),{TOE_ANGLE})")}
"""From the ankle to where a foot rolls, each below the one before, and by how much there."""


def build(
    count: int, contender: str, native: bool, switch: bool = False, frames: range = legs.FRAMES
) -> bpy.types.Object:
    """A fresh scene with one armature of so many legs with feet; see `legs.build`."""
    ob = legs.build(count, "BARE", animated_root=True, frames=frames)
    _add_bones(ob, count, contender == "BLENDER")
    for leg in range(count):
        foot, knee = bpy.data.objects[f"foot.{leg}"], bpy.data.objects[f"knee.{leg}"]
        shin = ob.pose.bones[f"shin.{leg}"]
        if contender == "BLENDER":
            _lead(ob, leg, foot, knee)
        elif contender == "OURS":
            shin.analytic_ik_target, shin.analytic_ik_pole_target = foot, knee
            shin.analytic_ik_enabled = shin.analytic_ik_use_rotation = True
            shin.analytic_ik_toe_angle = TOE_ANGLE
        if contender != "BARE":
            _key_roll(shin, "analytic_ik_foot_roll" if contender == "OURS" else '["roll"]', frames)
    if contender == "OURS":
        live.register()
    bpy.context.scene.frame_set(frames[0])
    if native and contender == "OURS":
        make_native(bpy.context, [ob.pose.bones[f"shin.{leg}"] for leg in range(count)], switch)
        live.unregister()
        bpy.context.scene.frame_set(frames[0])
    return ob


def error(ob: bpy.types.Object) -> float:
    """The largest distance of a ball from where its control has it as the scene is, in leg lengths."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    posed = ob.evaluated_get(depsgraph)
    balls = {name.split(".")[1]: bone.head for name, bone in posed.pose.bones.items() if name.startswith("toe.")}
    feet = {leg: bpy.data.objects[f"foot.{leg}"].evaluated_get(depsgraph).matrix_world.translation for leg in balls}
    return max((ball - feet[leg] - FOOT).length for leg, ball in balls.items()) / legs.LEG_LENGTH


def worst_error(ob: bpy.types.Object, frames: range, count: int = 25) -> float:
    """The largest `error` at some `count` of the frames."""
    found = []
    for frame in frames[:: ceil(len(frames) / count)]:
        bpy.context.scene.frame_set(frame)
        found.append(error(ob))
    return max(found)


def _add_bones(ob: bpy.types.Object, count: int, pivots: bool) -> None:
    """Feet and toes; pivots: with the bones by which Blender's contender rolls them."""
    bpy.ops.object.mode_set(mode="EDIT")
    bones = ob.data.edit_bones

    def add(name: str, head: Vector, tail: Vector, parent: str, aligned: bool = False) -> None:
        bone = bones.new(name)
        bone.head, bone.tail, bone.parent = head, tail, bones.get(parent)
        if aligned:
            bone.matrix = Matrix.Translation(head)

    for leg in range(count):
        ankle = bones[f"shin.{leg}"].tail.copy()
        ball, tip = ankle + FOOT, ankle + FOOT + TOE
        add(f"foot.{leg}", ankle, ball, f"shin.{leg}")
        add(f"toe.{leg}", ball, tip, f"foot.{leg}")
        if pivots:
            up = Vector((0.0, 0.1, 0.0))
            add(f"control.{leg}", ankle, ankle + up, "", True)
            above = f"control.{leg}"
            for name, (place, _) in PIVOTS.items():
                add(f"{name}.{leg}", ankle + place, ankle + place + up, above, True)
                above = f"{name}.{leg}"
            add(f"ankle.{leg}", ankle, ball, f"ball.{leg}")
            add(f"ground.{leg}", ball, tip, f"tip.{leg}")
    bpy.ops.object.mode_set(mode="OBJECT")


def _lead(ob: bpy.types.Object, leg: int, foot: bpy.types.Object, knee: bpy.types.Object) -> None:
    """Blender's IK to the ankle of a foot that rolls."""
    bones = ob.pose.bones
    bones[f"control.{leg}"].constraints.new("COPY_TRANSFORMS").target = foot
    for name, (_, expression) in PIVOTS.items():
        bones[f"{name}.{leg}"].rotation_mode = "XYZ"
        driver = bones[f"{name}.{leg}"].driver_add("rotation_euler", 0).driver
        variable = driver.variables.new()
        variable.name, variable.targets[0].id = "r", ob
        variable.targets[0].data_path = f'pose.bones["shin.{leg}"]["roll"]'
        driver.expression = expression
    constraint = bones[f"shin.{leg}"].constraints.new("IK")
    constraint.target, constraint.subtarget, constraint.pole_target = ob, f"ankle.{leg}", knee
    constraint.chain_count, constraint.pole_angle = 2, -pi / 2.0
    for name, source in (("foot", "ankle"), ("toe", "ground")):
        copied = bones[f"{name}.{leg}"].constraints.new("COPY_ROTATION")
        copied.target, copied.subtarget = ob, f"{source}.{leg}"


def _key_roll(shin: bpy.types.PoseBone, path: str, frames: range) -> None:
    if path.startswith("["):
        shin["roll"] = 0.0
    for k, frame in enumerate(frames[::7]):
        value = ROLLS[k % len(ROLLS)]
        if path.startswith("["):
            shin["roll"] = value
        else:
            shin.analytic_ik_foot_roll = value
        shin.keyframe_insert(path, frame=frame)
