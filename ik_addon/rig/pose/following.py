"""A foot begins to follow its target: from then on it keeps the orientation that it has to it."""

import bpy
from mathutils import Quaternion

from ..blender.animation import animated_paths
from ..blender.armatures import tag_pose
from ..data import settings
from .reading import SceneReader


def keep_rotation(pose_bone: bpy.types.PoseBone, context: bpy.types.Context) -> None:
    """Keep how the bone on a chain's end stands against its target, when a user or a script switches that on.

    Where there is no target yet, or no end bone, nothing is kept.
    """
    kept = pose_bone.analytic_ik_record_rotation
    if not pose_bone.analytic_ik_use_rotation:
        # Keys that switch it on at other frames hold on to what is kept.
        path = f"{pose_bone.path_from_id()}.analytic_ik_use_rotation"
        if path not in animated_paths(pose_bone.id_data):
            pose_bone.analytic_ik_record_rotation = (0.0, 0.0, 0.0, 0.0)
    elif not any(kept):
        depsgraph = context.evaluated_depsgraph_get()
        reader = SceneReader(depsgraph).armature(pose_bone.id_data)
        present = reader.present_rotation(reader.tip(pose_bone.name))
        if present is not None:
            pose_bone.analytic_ik_record_rotation = Quaternion(present)
    tag_pose(pose_bone.id_data)


def register() -> None:
    """Give pose bones their settings."""
    settings.register(rotation_switched=keep_rotation)


def unregister() -> None:
    """Take them away."""
    settings.unregister()
