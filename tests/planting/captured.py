"""A character to which a captured clip is given."""

from dataclasses import replace

import addon_utils
import bpy
import numpy as np
import pytest

from ik_addon.authoring.finding.limbs import find_limbs

from . import clips


def character(name, action):
    """The legs of a character in one of its actions."""
    path = clips.capture(name)
    if path.suffix == ".bvh":
        addon_utils.enable("io_anim_bvh")
        bpy.ops.import_anim.bvh(filepath=str(path), use_fps_scale=False, update_scene_fps=True)
    else:
        bpy.ops.import_scene.gltf(filepath=str(path))
    ob = next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")
    if action:
        found = sorted((a for a in bpy.data.actions if action.lower() in a.name.lower()), key=lambda a: len(a.name))
        assert found, [a.name for a in bpy.data.actions]
        for track in ob.animation_data.nla_tracks:
            track.mute = True
        ob.animation_data.action = found[0]
        if hasattr(ob.animation_data, "action_slot") and found[0].slots:
            ob.animation_data.action_slot = found[0].slots[0]
    legs = [limb for limb in find_limbs(ob.data.bones).limbs if len(limb.bones) >= 2]
    if not legs:
        pytest.skip(f"{name}: no legs were found")
    first, last = (round(frame) for frame in ob.animation_data.action.frame_range)
    joints = {key: [] for key in ("hips", "knees", "ankles", "balls", "feet")}
    for frame in range(first, last + 1):
        bpy.context.scene.frame_set(frame)
        pose = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        rows = {key: [] for key in joints}
        for leg in legs:
            thigh, shin = pose[leg.bones[0]], pose[leg.bones[-1]]
            foot = pose[leg.end] if leg.end else None
            rows["hips"].append(ob.matrix_world @ thigh.head)
            rows["knees"].append(ob.matrix_world @ shin.head)
            rows["ankles"].append(ob.matrix_world @ (foot.head if foot else shin.tail))
            rows["balls"].append(ob.matrix_world @ (foot.tail if foot else shin.tail))
            rows["feet"].append((ob.matrix_world @ (foot or shin).matrix).to_3x3().normalized())
        for key, row in rows.items():
            joints[key].append(np.array(row, float))
    arrays = {key: np.array(rows).swapaxes(0, 1) for key, rows in joints.items()}
    left, _, right = np.linalg.svd(arrays["feet"])
    arrays["feet"] = left @ right  # float32 matrices are not quite orthogonal
    clip = clips.of_joints(float(bpy.context.scene.render.fps), **arrays)
    reach = np.linalg.norm(clip.ankles - clip.hips, axis=2).max(axis=1) / clip.reaches
    # Chains of more than two bones are longer than their joints here are apart.
    return replace(clip, lengths=clip.lengths * np.maximum(1.0, reach)[:, None])
