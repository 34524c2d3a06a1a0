"""From the FK pose of legs over frames to plain numbers in the world."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...authoring.fk_frames import limbs_in_fk, stepped
from ...authoring.soles import skin_below
from ...bake.stepping import Steps
from ...rig.blender.bones import rotation_in
from ...rig.blender.channels import quaternion_of
from ...rig.model.foot import end_bone, toe_of
from ...rig.model.limb import Limb, chain_bones, end_in_tip
from ...rig.model.order import ChainName
from ...rig.pose.solving import solve_limb
from ...solvers import Chain
from ...solvers.bending import start_frame
from ..feet.clip import LegMotion
from .carrier_bone import way_of


@dataclass(frozen=True, slots=True)
class Capture:
    """What the FK pose of some legs does over frames, and what carries it.

    clip: the legs. held: (legs, 3, 3), how each foot stands against its target. locations: (frames, 3), of the carrying
    bone; ways: (frames, 3, 3), how it moves with them; both are of no meaning if none was asked for.
    """

    clip: LegMotion
    held: np.ndarray
    locations: np.ndarray
    ways: np.ndarray


def captured(
    context: bpy.types.Context,
    tips: Sequence[bpy.types.PoseBone],
    carrier: bpy.types.PoseBone | None,
    frames: range,
    solved: bool = False,
) -> Steps[Capture]:
    """In steps: read the legs of these chains of one armature in their FK pose, or as they are solved.

    carrier: the bone that carries them, if that is to be moved. Raises ChainError that names the bone where a chain
    cannot be read.
    """
    ob = tips[0].id_data
    places = {ChainName(ob.name_full, tip.name): k for k, tip in enumerate(tips)}
    count, legs = len(frames), len(tips)
    joints, balls = np.empty((legs, count, 3, 3)), np.empty((legs, count, 3))
    feet, lengths = np.empty((legs, count, 3, 3)), np.empty((legs, count, 2))
    held = np.tile(np.eye(3), (legs, 1, 1))
    locations, ways = np.zeros((count, 3)), np.zeros((count, 3, 3))
    to_ball, soles = zip(*map(ball_of_chain, tips), strict=True)
    with closing(stepped(context, tips, frames)) as scenes:
        for (done, total), scene in scenes:
            t = done - 1
            if carrier is not None:
                reader = scene.armature(ob)
                own = reader.tip(carrier.name)
                locations[t], ways[t] = own.location, way_of(reader, own)
            for chain, limb in limbs_in_fk(scene, set(places), solved):
                k = places[chain]
                poses, foot = _solved(limb) if solved else _in_fk(limb)
                joints[k, t], lengths[k, t] = _joints(limb, poses)
                feet[k, t], balls[k, t] = _foot(limb, foot, to_ball[k], joints[k, t, 2])
                if limb.held is not None:
                    held[k] = limb.held.to_matrix()
            yield done, total
    clip = LegMotion(
        fps=clip_rate(context.scene, frames),
        # Single precision lengthens limbs by a millionth at a frame.
        lengths=lengths.mean(axis=1),
        hips=joints[:, :, 0],
        knees=joints[:, :, 1],
        ankles=joints[:, :, 2],
        balls=balls,
        feet=feet,
        soles=np.array(soles) * ob.matrix_world.median_scale,
    )
    return Capture(clip, held, locations, ways)


def _in_fk(limb: Limb) -> tuple[Sequence[Matrix], Matrix | None]:
    """The pose matrices of a limb's links and of its foot in the FK pose, in armature space."""
    foot = limb.ends[0].reading.pose_armature if limb.ends else None
    return [reading.pose_armature for reading in limb.bones], foot


def _solved(limb: Limb) -> tuple[Sequence[Matrix], Matrix | None]:
    """The same as the limb is solved."""
    posed = solve_limb(limb)
    poses, foot = posed.poses_armature, None
    if limb.ends:
        end, numbers = limb.ends[0].reading, posed.rotations[len(limb.bones)]
        foot = end.posed(quaternion_of(numbers, end.mode), limb.bones[-1].last_pose(poses[-1]))
    return poses, foot


def _joints(limb: Limb, poses: Sequence[Matrix]) -> tuple[np.ndarray, tuple[float, float]]:
    """Hip, knee and ankle of a limb for the pose matrices of its links, in the world, and the lengths between them."""
    world = np.array(limb.world, float)
    return in_two_links(np.array(limb.joints(poses), float) @ world[:3, :3].T + world[:3, 3])


def in_two_links(points: np.ndarray) -> tuple[np.ndarray, tuple[float, float]]:
    """Hip, knee and ankle (3, 3) of a limb with these joints (n, 3), and the lengths between them.

    A limb of more links counts as one of two that are as long as they are together. Its knee is put where it bends as a
    whole, far enough from its line to tell: to that side its pole is, also where its own knees are on both sides.
    """
    links = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if len(links) == 2:
        return points, (float(links[0]), float(links[1]))
    half = 0.5 * float(links.sum())
    # Single precision is finest near zero.
    side = start_frame(Chain([Vector(point) for point in (points - points[0]).tolist()])).side
    middle = 0.5 * (points[0] + points[-1]) + 0.5 * half * np.array(side, float)
    return np.array((points[0], middle, points[-1])), (half, half)


_LONGEST_FOOT = 0.6
"""Of a foot, part of its leg: importers put the tails of bones without a child anywhere."""


def ball_of_chain(tip: bpy.types.PoseBone) -> tuple[np.ndarray | None, float]:
    """The same of a chain's tip: see `ball_of`."""
    end = tip.bone.matrix_local @ end_in_tip(tip)
    return ball_of(tip.id_data, chain_bones(tip)[0].bone, tip.bone, end_bone(tip), end)


def ball_of(
    ob: bpy.types.Object, hip: bpy.types.Bone, tip: bpy.types.Bone, foot: bpy.types.PoseBone | None, end: Vector
) -> tuple[np.ndarray | None, float]:
    """Where the ball of a foot is in its own space, None if the leg ends in a point; and how far the skin reaches below
    it, in armature units.

    end: of the leg at rest, in armature space. A foot whose ball is farther from the ankle than a foot is long touches
    the ground below its ankle.
    """
    if foot is None:
        return None, skin_below(ob, hip, tip, end)
    toe, ankle = toe_of(foot), foot.bone.head_local
    ball = toe.bone.head_local if toe is not None else foot.bone.tail_local
    if (ball - ankle).length > _LONGEST_FOOT * (hip.head_local - ankle).length:
        ball = ankle
    return np.array(foot.bone.matrix_local.inverted_safe() @ ball, float), skin_below(ob, hip, foot.bone, ball)


def clip_rate(scene: bpy.types.Scene, frames: range) -> float:
    """How many of these frames a second of a scene has."""
    render = scene.render
    return render.fps / render.fps_base * render.frame_map_old / render.frame_map_new / frames.step


def _foot(
    limb: Limb, pose: Matrix | None, to_ball: np.ndarray | None, ankle: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """How a limb's foot is turned for its pose matrix, and where its ball is, in the world."""
    if to_ball is None or pose is None:
        return np.eye(3), ankle
    turned = rotation_in(limb.world) @ limb.ends[0].reading.orientation(pose)
    own = np.array(limb.world @ pose, float)
    return np.array(turned.to_matrix(), float), own[:3, :3] @ to_ball + own[:3, 3]
