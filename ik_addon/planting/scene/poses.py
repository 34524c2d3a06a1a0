"""What Blender shows of the ends of limbs, and of what they are held to: now, or over frames of the user's scene."""

from collections.abc import Callable, Sequence

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ...authoring.placing import Control
from ...bake.stepping import Steps, frame_kept
from ...rig.blender.bones import rotation_in
from ...rig.model.foot import end_bone
from ...rig.model.limb import end_in_tip
from ..feet.space import Space

Shown = Callable[[bpy.types.Depsgraph], Matrix]
"""Place and orientation in the world of something, as it was evaluated."""


def pose_of_held(held: Control) -> Shown:
    """The pose of what a limb is held to: an object, or a bone of one. Its size does not count."""

    def shown(depsgraph: bpy.types.Depsgraph) -> Matrix:
        ob = held.ob.evaluated_get(depsgraph)
        world = ob.matrix_world @ ob.pose.bones[held.bone].matrix if held.bone else ob.matrix_world
        return _pose(world.translation, rotation_in(world))

    return shown


def pose_of_end(tip: bpy.types.PoseBone) -> Shown:
    """The pose of a limb's hand or foot, at the wrist or ankle; of a limb without one the place alone."""
    ob, name, foot, end = tip.id_data, tip.name, end_bone(tip), Vector(end_in_tip(tip))
    end_name = foot.name if foot is not None else None

    def shown(depsgraph: bpy.types.Depsgraph) -> Matrix:
        evaluated = ob.evaluated_get(depsgraph)
        world, bones = evaluated.matrix_world, evaluated.pose.bones
        turn = Quaternion()
        if end_name is not None:
            turn = rotation_in(world) @ rotation_in(bones[end_name].matrix, bones[end_name].scale)
        return _pose(world @ bones[name].matrix @ end, turn)

    return shown


def shown_over(context: bpy.types.Context, things: Sequence[Shown], frames: range) -> Steps[list[Space]]:
    """In steps: where things are over frames, with all chains live; the scene goes back to its frame."""
    places, turns = np.empty((len(things), len(frames), 3)), np.empty((len(things), len(frames), 3, 3))
    scene = context.scene
    with frame_kept(scene):
        for k, frame in enumerate(frames):
            scene.frame_set(frame)
            depsgraph = context.evaluated_depsgraph_get()
            for thing, place, turn in zip(things, places, turns, strict=True):
                pose = np.array(thing(depsgraph), float)
                place[k], turn[k] = pose[:3, 3], pose[:3, :3]
            yield k + 1, len(frames)
    return [Space(place, turn) for place, turn in zip(places, turns, strict=True)]


def _pose(place: Vector, turn: Quaternion) -> Matrix:
    return Matrix.Translation(place) @ turn.to_matrix().to_4x4()
