"""From the FK pose of legs over frames to plain numbers in the world."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix

from .. import messages
from ..authoring.fk_frames import fk_goal, limbs_in_fk, stepped
from ..authoring.placing import Control, Placer
from ..bake.stepping import Steps
from ..rig.blender.bones import rotation_in
from ..rig.model.foot import end_bone, toe_of
from ..rig.model.limb import Limb, fk_joints
from ..rig.model.order import ChainName
from ..solvers import ChainError
from .carrier_bone import way_of
from .clip import Clip


@dataclass(frozen=True, slots=True)
class Capture:
    """What the FK pose of some legs does over frames, and what carries it.

    clip: the legs. targets, poles: (legs, frames, 4, 4), where their controls would carry that motion, in the world.
    reaches: how far each pole is from its knee, in the world. locations: (frames, 3), of the carrying bone; ways:
    (frames, 3, 3), how it moves with them.
    """

    clip: Clip
    targets: np.ndarray
    poles: np.ndarray
    reaches: np.ndarray
    locations: np.ndarray
    ways: np.ndarray


def captured(
    context: bpy.types.Context,
    tips: Sequence[bpy.types.PoseBone],
    controls: dict[bpy.types.PoseBone, list[Control]],
    carrier: bpy.types.PoseBone,
    frames: range,
) -> Steps[Capture]:
    """In steps: read the legs of these chains of one armature in their FK pose. controls: target and pole of each.

    Raises ChainError that names the bone where a chain cannot be read.
    """
    ob = carrier.id_data
    places = {ChainName(ob.name_full, tip.name): k for k, tip in enumerate(tips)}
    count, legs = len(frames), len(tips)
    joints, balls = np.empty((legs, count, 3, 3)), np.empty((legs, count, 3))
    feet, lengths = np.empty((legs, count, 3, 3)), np.empty((legs, 2))
    targets, poles = np.empty((2, legs, count, 4, 4))
    locations, ways = np.empty((count, 3)), np.empty((count, 3, 3))
    to_ball = [_ball_of(tip) for tip in tips]
    reaches: dict[Control, float] = {}
    with closing(stepped(context, tips, frames)) as scenes:
        for (done, total), scene in scenes:
            t, placer, reader = done - 1, Placer(scene), scene.armature(ob)
            own = reader.tip(carrier.name)
            locations[t], ways[t] = own.location, way_of(reader, own)
            for chain, limb in limbs_in_fk(scene, set(places)):
                k = places[chain]
                target, pole = controls[tips[k]]
                goal = fk_goal(limb, target, pole, placer, reaches)[1]
                targets[k, t], poles[k, t] = goal[target], goal[pole]
                joints[k, t], lengths[k] = _joints(limb)
                feet[k, t], balls[k, t] = _foot(limb, to_ball[k], joints[k, t, 2])
            yield done, 2 * total
    render = context.scene.render
    clip = Clip(
        fps=render.fps / render.fps_base * render.frame_map_old / render.frame_map_new / frames.step,
        lengths=lengths,
        hips=joints[:, :, 0],
        knees=joints[:, :, 1],
        ankles=joints[:, :, 2],
        balls=balls,
        feet=feet,
    )
    if not all(np.isfinite(each).all() for each in (joints, balls, lengths)):
        raise ChainError(messages.NO_FINITE_MOTION(armature=ob.name))
    scale = ob.matrix_world.median_scale
    return Capture(clip, targets, poles, np.array([reaches[controls[tip][1]] * scale for tip in tips]), locations, ways)


def _joints(limb: Limb) -> tuple[np.ndarray, tuple[float, float]]:
    """Hip, knee and ankle of a limb in its FK pose, in the world, and the lengths between them.

    A leg of more links is one of two: its second part is what is below its knee, as long as its links are together.
    """
    points = fk_joints(limb.bones)
    world = np.array(limb.world, float)
    ends = np.array([points[0], points[1], points[-1]], float) @ world[:3, :3].T + world[:3, 3]
    own = np.array(points, float) @ world[:3, :3].T
    links = np.linalg.norm(np.diff(own, axis=0), axis=1)
    return ends, (float(links[0]), float(links[1:].sum()))


def _ball_of(tip: bpy.types.PoseBone) -> np.ndarray | None:
    """Where the ball of a foot is in its own space; None: the leg ends in a point."""
    foot = end_bone(tip)
    if foot is None:
        return None
    toe = toe_of(foot)
    at_rest = toe.bone.head_local if toe is not None else foot.bone.tail_local
    return np.array(foot.bone.matrix_local.inverted_safe() @ at_rest, float)


def _foot(limb: Limb, to_ball: np.ndarray | None, ankle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How a limb's foot is turned in its FK pose, and where its ball is, in the world."""
    if to_ball is None or not limb.ends:
        return np.eye(3), ankle
    pose = limb.world @ limb.ends[0].reading.pose_armature
    own = np.array(pose, float)
    return np.array(rotation_in(Matrix(pose)).to_matrix(), float), own[:3, :3] @ to_ball + own[:3, 3]
