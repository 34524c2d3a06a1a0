"""What an armature object and its controls show over frames, with all chains in their FK pose."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import bpy
import numpy as np

from ...authoring.placing import Control
from ...bake.stepping import Steps, stepping, stepping_apart
from ...rig.blender.channels import LOCATION, SCALE, Raw, raw_values
from ...rig.blender.rotations import array_of
from ...rig.live.handler_lists import others_handle_frames

Channels = dict[str, Raw]
"""What the channels of a bone or object hold, by their modes: location, rotation and scale."""


def turn_of(channels: Channels) -> str:
    """The rotation mode of channels."""
    return next(mode for mode in channels if mode not in (LOCATION, SCALE))


@dataclass(frozen=True)
class Film:
    """What is seen over T frames.

    worlds: (T, 4, 4), of each object. poses: (T, 4, 4), of the bones of the armature object, in its space.
    channels: of each control, T of them.
    """

    ob: bpy.types.Object
    frames: range
    worlds: dict[bpy.types.Object, np.ndarray]
    poses: dict[str, np.ndarray]
    channels: dict[Control, list[Channels]]

    def world(self, control: Control) -> np.ndarray:
        """The world matrices (T, 4, 4) of an object that was seen, or of a bone of the armature object."""
        own = self.worlds[control.ob]
        return own @ self.poses[control.bone] if control.bone else own

    def size_of(self, control: Control) -> float:
        """The largest number that places a control, or the other bones, in the space of its location."""
        own = self.poses.values() if control.bone else (self.worlds[control.ob],)
        return max(float(np.abs(each[:, :3, 3]).max()) for each in own)


def filmed(context: bpy.types.Context, ob: bpy.types.Object, controls: Sequence[Control], frames: range) -> Steps[Film]:
    """In steps: see an armature object over frames, and the channels of controls: bones of it, or objects."""
    objects = list(dict.fromkeys([ob, *(control.ob for control in controls)]))
    names = [bone.name for bone in ob.pose.bones]
    worlds = {each: np.empty((len(frames), 4, 4)) for each in objects}
    poses, channels = np.empty((len(frames), len(names), 4, 4), np.float32), {control: [] for control in controls}
    with ExitStack() as stack:
        go_to = None if others_handle_frames() else stack.enter_context(stepping_apart(context, objects))
        go_to = go_to or stack.enter_context(stepping(context))
        for t, frame in enumerate(frames):
            depsgraph = go_to(frame)
            for each, rows in worlds.items():
                rows[t] = array_of(each.evaluated_get(depsgraph).matrix_world)
            row = np.empty(16 * len(names), np.float32)
            ob.evaluated_get(depsgraph).pose.bones.foreach_get("matrix", row)
            # Blender keeps matrices by their columns.
            poses[t] = row.reshape(-1, 4, 4).swapaxes(1, 2)
            for control, rows in channels.items():
                own = control.ob.evaluated_get(depsgraph)
                owner = own.pose.bones[control.bone] if control.bone else own
                rows.append({mode: raw_values(owner, mode) for mode in (LOCATION, owner.rotation_mode, SCALE)})
            yield t + 1, len(frames)
    by_name = {name: poses[:, k].astype(float) for k, name in enumerate(names)}
    return Film(ob, frames, worlds, by_name, channels)
