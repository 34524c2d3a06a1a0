"""Limbs of any armature over frames as Blender shows them, and where the armature is put up."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Vector

from ..authoring.finding.legs import FoundLimb
from ..bake.stepping import Steps
from ..planting.feet.clip import LegMotion
from ..planting.scene.reading import clip_rate, in_two_links
from ..planting.scene.shown import stepping_shown
from ..rig.blender.bones import rotation_in
from ..rig.model.limb import chain_bones, end_in_tip, link_bones
from .wanted import Place


@dataclass(frozen=True, slots=True)
class Joints:
    """The joints of a limb. links: bones that begin at one, root first. tip: its last bone; end: in its space."""

    links: tuple[str, ...]
    tip: str
    end: Vector

    def shown(self, ob: bpy.types.Object) -> np.ndarray:
        """(n, 3), where they are in the world.

        ob: evaluated.
        """
        bones, world = ob.pose.bones, np.array(ob.matrix_world, float)
        end = np.array(bones[self.tip].matrix, float) @ (*self.end, 1.0)
        points = np.array([*((*bones[name].head, 1.0) for name in self.links), end])
        return (points @ world.T)[:, :3]


def joints_of_chain(tip: bpy.types.PoseBone) -> Joints:
    """The joints of a chain."""
    return Joints(tuple(bone.name for bone in link_bones(chain_bones(tip))), tip.name, Vector(end_in_tip(tip)))


def joints_of_limb(ob: bpy.types.Object, limb: FoundLimb) -> Joints:
    """The joints of a limb that was found in an armature object."""
    bones = ob.data.bones
    last = bones[limb.bones[-1]]
    end = bones[limb.end].head_local if limb.end else last.tail_local
    links = tuple(name for name in limb.bones if name not in limb.segments)
    return Joints(links, last.name, last.matrix_local.inverted_safe() @ end)


def limbs_shown(
    context: bpy.types.Context, ob: bpy.types.Object, limbs: Sequence[Joints], frames: range
) -> Steps[LegMotion]:
    """In steps: limbs of an armature object as shown at each frame, live chains solved; without feet."""
    count = len(frames)
    joints, lengths = np.empty((len(limbs), count, 3, 3)), np.empty((len(limbs), count, 2))
    with stepping_shown(context, ob) as go_to:
        for t, frame in enumerate(frames):
            evaluated = ob.evaluated_get(go_to(frame))
            for k, limb in enumerate(limbs):
                joints[k, t], lengths[k, t] = in_two_links(limb.shown(evaluated))
            yield t + 1, count
    hips, knees, ankles = np.moveaxis(joints, 2, 0)
    feet = np.tile(np.eye(3), (len(limbs), count, 1, 1))
    return LegMotion(clip_rate(context.scene, frames), lengths.mean(axis=1), hips, knees, ankles, ankles, feet)


def place_of(context: bpy.types.Context, ob: bpy.types.Object, limbs: Iterable[FoundLimb], frame: int) -> Place:
    """Where an armature object is put up at a frame; its limbs at rest show what is left of it."""
    with stepping_shown(context, ob) as go_to:
        world = ob.evaluated_get(go_to(frame)).matrix_world.copy()
    left = Vector()
    for limb in limbs:
        root = ob.data.bones[limb.bones[0]].head_local
        left += {"L": root, "R": -root}.get(limb.side, Vector())
    axis = Vector()
    if left.length > 0.0:
        # Bodies are built along an axis; what their limbs are off it does not turn a walk.
        largest = max(range(3), key=lambda k: abs(left[k]))
        axis[largest] = 1.0 if left[largest] > 0.0 else -1.0
    return Place(np.array(world.translation, float), np.array(rotation_in(world) @ axis, float))
