"""Save a file as an earlier version of the add-on, or Blender, saves it: what users have on their disks.

    git worktree add ../earlier COMMIT
    cd ../earlier; PYTHONPATH=. python HERE/build_files.py HERE/NAME.blend

with the oldest supported Blender. The files that are here: first_version.blend (ceae070), before_one_record.blend
(b420407). They hold what tests/faults/stage.py sets up, at frame 4, with a bone posed
under the chain, settings that are not their defaults, and from b420407 on a second leg that stretches.
"""

import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("BLENDER_USER_RESOURCES", tempfile.mkdtemp())

import bpy

import ik_addon


def armature(name: str, side: float) -> bpy.types.Object:
    """The leg of tests/rig/rigs.py."""
    ob = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    joints = {
        "hips": ((side, 0.5, 2.0), (side, 0.0, 2.0), None),
        "thigh": ((side, 0.0, 2.0), (side, -0.2, 1.0), "hips"),
        "shin": ((side, -0.2, 1.0), (side, 0.0, 0.0), "thigh"),
        "foot": ((side, 0.0, 0.0), (side, -0.4, 0.0), "shin"),
    }
    for bone_name, (head, tail, parent) in joints.items():
        bone = ob.data.edit_bones.new(bone_name)
        bone.head, bone.tail = head, tail
        if parent:
            bone.parent = ob.data.edit_bones[parent]
            bone.use_connect = parent != "hips"
    bpy.ops.object.mode_set(mode="OBJECT")
    return ob


def empty(name: str, *keyed) -> bpy.types.Object:
    """An Empty with keys at the frames 1 and 12."""
    ob = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(ob)
    for frame, location in zip((1, 12), keyed, strict=True):
        ob.location = location
        ob.keyframe_insert("location", frame=frame)
    return ob


def chain(ob: bpy.types.Object, target: bpy.types.Object, **settings: object) -> None:
    """A live chain on thigh and shin."""
    tip = ob.pose.bones["shin"]
    tip.analytic_ik_target = target
    for name, value in settings.items():
        setattr(tip, f"analytic_ik_{name}", value)
    tip.analytic_ik_enabled = True


def build(path: Path) -> None:
    """Save the file."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    ik_addon.register()
    leg = armature("leg", 0.0)
    hips, thigh, foot = (leg.pose.bones[name] for name in ("hips", "thigh", "foot"))
    hips["note"] = "keep me"
    foot.rotation_mode, foot.rotation_euler = "XYZ", (0.3, 0.0, 0.1)
    ball = empty("ball", (2.0, 0.0, 0.0), (3.0, 0.0, 0.0))
    ball["note"] = [1, 2, 3]
    chain(
        leg,
        empty("leg target", (0.0, -0.6, 0.5), (0.2, 0.5, 0.3)),
        solver="CIRCLE",
        reach="HOLD",
        softness=0.125,
        least_motion=True,
    )
    if hasattr(bpy.types.PoseBone, "analytic_ik_stretch_max"):
        far = empty("long target", (1.0, 0.0, -0.5), (1.2, 0.3, -0.4))
        chain(armature("long", 1.0), far, solver="CIRCLE", reach="STRETCH", stretch_max=2.0)
    bpy.context.scene.frame_set(1)
    thigh.rotation_quaternion = (0.95, 0.2, 0.2, 0.1)
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(4)
    # Without windows and brushes, which would be most of the file.
    bpy.data.libraries.write(str(path), {bpy.context.scene}, compress=True)


if __name__ == "__main__":
    build(Path(sys.argv[1]).resolve())
    sys.stdout.flush()
    os._exit(0)
