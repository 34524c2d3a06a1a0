"""An armature as other programs take it: without controls, and without what these played."""

from collections.abc import Iterable

import bpy

from ..rig.blender.animation import bone_of_path
from ..rig.blender.clips import clips_of, playing_clip
from ..rig.data.control_clips import remove_partner
from .controls import controls_of, delete_controls, unused
from .placing import Control


def controls_of_chains(ob: bpy.types.Object) -> list[Control]:
    """The targets and pole targets of all chains of an armature object."""
    return list(dict.fromkeys(control for bone in ob.pose.bones for control in controls_of(bone)))


def remove_controls(
    ob: bpy.types.Object, controls: Iterable[Control], actions: Iterable[bpy.types.Action] = ()
) -> None:
    """Delete controls of an armature object that no chain follows any more, and their keys in all of its clips.

    What else uses one, such as a constraint, keeps it. actions: what they played besides; it goes if nothing uses it.
    """
    going = [control for control in unused(controls) if control.bone or not _is_used(control.ob)]
    empties = [control.ob for control in going if not control.bone]
    bones = {control.bone for control in going if control.bone and control.ob == ob}
    clips = clips_of(ob)
    for clip in clips:
        for control in empties:
            remove_partner(control, clip)
        for curves in clip.curves:
            for curve in [each for each in curves if bone_of_path(each.data_path)[0] in bones]:
                curves.remove(curve)
    actions = {*actions, *(clip.action for clip in map(playing_clip, empties) if clip)}
    actions -= {clip.action for clip in clips}
    delete_controls(ob, going)
    for action in actions & {*bpy.data.actions}:
        # An exporter of all actions would take it for a clip.
        if action.users <= action.use_fake_user:
            bpy.data.actions.remove(action)


def _is_used(empty: bpy.types.Object) -> bool:
    """Whether anything but the scenes and collections that it is in uses an Empty."""
    [users] = bpy.data.user_map(subset=[empty]).values()  # pyright: ignore[reportCallIssue]
    return any(not isinstance(user, bpy.types.Scene | bpy.types.Collection) for user in users)
