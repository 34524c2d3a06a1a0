"""A body is posed by its FK channels: written, taken back, keyed."""

from collections.abc import Mapping

import bpy
from mathutils import Quaternion, Vector

from ... import messages
from ...authoring.keys import key_if_asked
from ...rig.blender.armatures import is_changeable
from ...rig.blender.rotations import LOCATION, Raw, channel_of, raw_of, raw_values
from ...solvers import ChainError
from ..solving.drag import Drag, GrabbedPose, GrabOptions, Pin, grabbed
from ..solving.skeleton import Channels, point
from .reading import GrabBody


class GrabSession:
    """From the pose before on, poses of one body. Each is written over the pose before, not over the last one."""

    def __init__(self, context: bpy.types.Context, ob: bpy.types.Object) -> None:
        if not is_changeable(ob):
            raise ChainError(messages.ARMATURE_LINKED(armature=ob.name))
        self.ob = ob
        self.posed = GrabBody(ob, context.evaluated_depsgraph_get())
        self._before: dict[tuple[str, str], Raw] = {}

    @property
    def turned(self) -> list[str]:
        """Names of the bones whose channels differ from the pose before."""
        return list(dict.fromkeys(bone for bone, _ in self._before))

    def pose(self, drag: Drag, goal_world: Vector, held: Mapping[int, Pin], options: GrabOptions) -> GrabbedPose:
        """Bring what is dragged to a place in the world, as near as what is held allows. Raises ChainError, with
        nothing changed, if something besides their channels poses the bones for it."""
        goal = point(self.posed.world.inverted_safe() @ goal_world)
        result = grabbed(self.posed.body, drag, goal, held, options)
        self.posed.check(result.moves)
        self._write(result.channels)
        return result

    def _write(self, channels: Channels) -> None:
        wanted: dict[tuple[str, str], Raw] = {}
        body = self.posed.body.bones
        for k, turn in channels.turns.items():
            bone = self.ob.pose.bones[body.names[k]]
            near = self._before.get((bone.name, bone.rotation_mode)) or raw_values(bone, bone.rotation_mode)
            wanted[bone.name, bone.rotation_mode] = raw_of(Quaternion(turn), bone.rotation_mode, near)
        for k, location in channels.locations.items():
            wanted[body.names[k], LOCATION] = location
        for channel in [channel for channel in self._before if channel not in wanted]:
            self._put(channel, self._before.pop(channel))
        for (name, mode), raw in wanted.items():
            self._before.setdefault((name, mode), raw_values(self.ob.pose.bones[name], mode))
            self._put((name, mode), raw)

    def _put(self, channel: tuple[str, str], raw: Raw) -> None:
        name, mode = channel
        setattr(self.ob.pose.bones[name], channel_of(mode)[0], raw)

    def restore(self) -> None:
        """The pose before, number by number."""
        self._write(Channels({}, {}))

    def key(self, context: bpy.types.Context) -> None:
        """Key what turned, as Auto Keying asks."""
        for name, mode in self._before:
            key_if_asked(context, self.ob.pose.bones[name], channel_of(mode)[0])
