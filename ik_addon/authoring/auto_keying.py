"""Keys that are inserted if Auto Keying is on, as Blender's own tools insert them."""

import bpy

from ..rig.blender.animation import current_fcurve_collections


def key_if_asked(
    context: bpy.types.Context, owner: bpy.types.PoseBone | bpy.types.Object, path: str, interpolation: str = ""
) -> bool:
    """Key a property of a pose bone or an object at the current frame if Auto Keying asks for it; True if it did.

    interpolation: of the new key; "": as the preferences say.
    """
    tools, frame = context.scene.tool_settings, context.scene.frame_current_final
    if not tools.use_keyframe_insert_auto:
        return False
    curves = _curves(owner, path)
    if tools.auto_keying_mode == "REPLACE_KEYS":
        # Replace means: keys that are there.
        if not any(abs(key.co.x - frame) < 0.01 for curve in curves for key in curve.keyframe_points):
            return False
    elif not curves and getattr(context.preferences.edit, "use_keyframe_insert_available", False):
        return False
    group = owner.name if isinstance(owner, bpy.types.PoseBone) else "Object Transforms"
    if not owner.keyframe_insert(path, frame=frame, group=group):
        return False
    if interpolation:
        for key in (key for curve in _curves(owner, path) for key in curve.keyframe_points):
            if abs(key.co.x - frame) < 0.01:
                key.interpolation = interpolation
    return True


def _curves(owner: bpy.types.PoseBone | bpy.types.Object, path: str) -> list[bpy.types.FCurve]:
    """The F-Curves of a property in the current action."""
    data = owner.id_data.animation_data
    whole = f"{owner.path_from_id()}.{path}" if isinstance(owner, bpy.types.PoseBone) else path
    homes = current_fcurve_collections(data) if data else []
    return [curve for home in homes for curve in home if curve.data_path == whole]
