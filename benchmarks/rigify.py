"""Rigify's human with keyed controls: its own IK beside the chains that *Adopt Blender IK* makes of that.

Both move the same 706 bones or so, with all of Rigify's constraints and drivers; arms and legs stretch, as Rigify has
it. (Out of reach only with ours, and by Blender's IK within reach too.)
"""

import os
import tempfile
from math import cos, sin
from pathlib import Path

import addon_utils
import bpy

from ik_addon.rig.live import handlers as live

from . import keys

FRAMES = range(1, 51)
CONTROLS = ("foot_ik.L", "foot_ik.R", "hand_ik.L", "hand_ik.R", "torso")
LIMBS = {
    f"MCH-{last}_ik.{side}": f"MCH-{first}_ik_target.{side}"
    for first, last in (("thigh", "shin"), ("upper_arm", "forearm"))
    for side in "LR"
}
"""The bones with Rigify's IK constraints, and the bones at which their tails are to be."""


def build(contender: str, frames: range = FRAMES) -> bpy.types.Object:
    """A fresh scene with the generated rig; returns its armature object.

    contender: BARE (the IK constraints are gone), BLENDER, OURS; our handlers are on for ours alone.
    """
    live.unregister()
    path = _generated()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = frames[0], frames[-1]
    with bpy.data.libraries.load(str(path)) as (_, wanted):
        wanted.objects = ["rig"]
    ob = bpy.data.objects["rig"]
    scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    some = range(frames[0], frames[-1] + 7, 7)
    ways = {
        f'pose.bones["{name}"].location': [_way(number, frame) for frame in some]
        for number, name in enumerate(CONTROLS)
    }
    keys.write(ob, some, ways)
    scene.frame_set(frames[0])
    if contender == "OURS":
        bpy.ops.analytic_ik.adopt(all=True)
        live.register()
    elif contender == "BARE":
        _take_off(ob)
    scene.frame_set(frames[0])
    return ob


def worst_error(ob: bpy.types.Object, frames: range) -> float:
    """The largest `error` at some of the frames."""
    worst = 0.0
    for frame in frames[::5]:
        bpy.context.scene.frame_set(frame)
        worst = max(worst, error(ob))
    return worst


def error(ob: bpy.types.Object) -> float:
    """The largest distance of a limb's end from its target as the scene is, in lengths of the limb."""
    bones = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    return max(
        (bones[tip].tail - bones[target].head).length / (bones[tip].bone.length + bones[tip].parent.bone.length)
        for tip, target in LIMBS.items()
    )


def _way(number: int, frame: int) -> tuple[float, float, float]:
    return 0.03 * sin(0.2 * frame + number), 0.05 * cos(0.15 * frame + number), 0.05 * sin(0.1 * frame + number)


def _take_off(ob: bpy.types.Object) -> None:
    """Remove the IK constraints of the limbs, and their drivers: those would ask for them on every frame."""
    for bone in map(ob.pose.bones.get, LIMBS):
        for constraint in [each for each in bone.constraints if each.type == "IK"]:
            own = f"{constraint.path_from_id()}."
            for driver in [each for each in ob.animation_data.drivers if each.data_path.startswith(own)]:
                ob.animation_data.drivers.remove(driver)
            bone.constraints.remove(constraint)


def _generated() -> Path:
    """A file with the rig alone. Rigify needs seconds for it: it is made once for each Blender on a machine."""
    path = Path(tempfile.gettempdir()) / f"analytic_ik_rigify_{bpy.app.version_string.replace(' ', '_')}.blend"
    if path.is_file():
        return path
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    addon_utils.enable("rigify", default_set=True)
    try:
        bpy.ops.object.armature_human_metarig_add()
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.pose.rigify_generate()
        made = path.with_suffix(f".{os.getpid()}")
        bpy.data.libraries.write(str(made), {bpy.data.objects["rig"]})
        made.replace(path)
    finally:
        addon_utils.disable("rigify", default_set=True)
    return path
