"""Legs over frames as Blender shows them: of chains that are live or muted, or of no chain at all."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise

import bpy
import numpy as np
from mathutils import Vector

from ...authoring.finding.legs import find_limbs
from ...authoring.selection import all_tips
from ...bake.baking import chains_of
from ...bake.stepping import GoTo, Steps, frame_kept, stepping, stepping_apart
from ...rig.blender.bones import rotation_in
from ...rig.live.handler_lists import others_handle_frames
from ...rig.model.foot import end_bone
from ...rig.model.limb import end_in_tip, known_bones, link_bones
from ..feet.clip import LegMotion
from .legs import legs_among
from .reading import ball_of, clip_rate
from .sources import source_playing


@dataclass(frozen=True, slots=True)
class Leg:
    """A leg of an armature, by the names of its bones.

    links: the bones that begin its links, hip first. tip: the last bone of its chain. ankle: in the tip's rest space.
    foot: the bone on the ankle, "" if the leg ends in a point. ball: in the foot's own space. lengths: of thigh and
    shin, world units. sole: how far the skin reaches below the ball, world units.
    """

    links: tuple[str, ...]
    tip: str
    ankle: Vector
    foot: str
    ball: np.ndarray | None
    lengths: tuple[float, float]
    sole: float


def legs_of(ob: bpy.types.Object) -> list[Leg]:
    """The legs of an armature object that have chains, live or muted; if none has, those that its bones show."""
    tips = legs_among(ob, (tip for tip in all_tips(ob) if len(known_bones(tip)) > 1))
    if tips:
        return [_leg(known_bones(tip), link_bones(known_bones(tip)), end_bone(tip), end_in_tip(tip)) for tip in tips]
    found, pose = [], ob.pose.bones
    for limb in find_limbs(ob.data.bones).limbs:
        bones = [pose[name] for name in limb.bones]
        foot = pose[limb.end] if limb.end and limb.rides else None
        end = pose[limb.end].bone.head_local if limb.end else bones[-1].bone.tail_local
        ankle = bones[-1].bone.matrix_local.inverted_safe() @ end
        found.append(_leg(bones, [bone for bone in bones if bone.name not in limb.segments], foot, ankle))
    # In the order that chains have.
    return sorted(found, key=lambda leg: pose.find(leg.tip))


def _leg(
    bones: Sequence[bpy.types.PoseBone],
    links: Sequence[bpy.types.PoseBone],
    foot: bpy.types.PoseBone | None,
    ankle: Vector,
) -> Leg:
    ob, tip = bones[0].id_data, bones[-1]
    at_rest = tip.bone.matrix_local @ ankle
    joints = [*(bone.bone.head_local for bone in links), at_rest]
    lengths = [(b - a).length for a, b in pairwise(joints)]
    thigh = lengths[0] if len(lengths) == 2 else 0.5 * sum(lengths)
    scale = ob.matrix_world.median_scale
    ball, sole = ball_of(ob, bones[0].bone, tip.bone, foot, at_rest)
    return Leg(
        links=tuple(bone.name for bone in links),
        tip=tip.name,
        ankle=ankle,
        foot=foot.name if foot else "",
        ball=ball,
        lengths=(scale * thigh, scale * (sum(lengths) - thigh)),
        sole=scale * sole,
    )


def shown(context: bpy.types.Context, ob: bpy.types.Object, legs: Sequence[Leg], frames: range) -> Steps[LegMotion]:
    """In steps: these legs as Blender shows them at each frame, live chains solved."""
    with stepping_shown(context, ob) as go_to:
        return (yield from _seen(context, ob, legs, frames, go_to))


def source_shown(
    context: bpy.types.Context, ob: bpy.types.Object, legs: Sequence[Leg], frames: range
) -> Steps[LegMotion]:
    """In steps: these legs in the action from which the current one was planted, without chains."""
    with source_playing(ob), _stepping_without_chains(context, ob) as go_to:
        return (yield from _seen(context, ob, legs, frames, go_to))


@contextmanager
def stepping_shown(context: bpy.types.Context, ob: bpy.types.Object) -> Iterator[GoTo]:
    """Goes to frames as Blender shows an armature object there, live chains solved."""
    if not chains_of(context.scene.objects):
        with _stepping_without_chains(context, ob) as without_chains:
            yield without_chains
        return
    with frame_kept(context.scene):

        def go_to(frame: int) -> bpy.types.Depsgraph:
            context.scene.frame_set(frame)
            return context.evaluated_depsgraph_get()

        yield go_to


@contextmanager
def _stepping_without_chains(context: bpy.types.Context, ob: bpy.types.Object) -> Iterator[GoTo]:
    with ExitStack() as stack:
        go_to = None if others_handle_frames() else stack.enter_context(stepping_apart(context, [ob]))
        yield go_to or stack.enter_context(stepping(context))


def _seen(
    context: bpy.types.Context, ob: bpy.types.Object, legs: Sequence[Leg], frames: range, go_to: GoTo
) -> Steps[LegMotion]:
    joints, feet = np.empty((4, len(legs), len(frames), 3)), np.empty((len(legs), len(frames), 3, 3))
    for t, frame in enumerate(frames):
        evaluated = ob.evaluated_get(go_to(frame))
        for k, leg in enumerate(legs):
            joints[:, k, t], feet[k, t] = _posed(evaluated, leg)
        yield t + 1, len(frames)
    hips, knees, ankles, balls = joints
    lengths, soles = np.array([leg.lengths for leg in legs]), np.array([leg.sole for leg in legs])
    return LegMotion(clip_rate(context.scene, frames), lengths, hips, knees, ankles, balls, feet, soles)


def _posed(ob: bpy.types.Object, leg: Leg) -> tuple[np.ndarray, np.ndarray]:
    """Hip, knee, ankle and ball (4, 3) of a leg of an evaluated armature object, and its foot's orientation (3, 3)."""
    bones, world = ob.pose.bones, np.array(ob.matrix_world, float)

    def in_world(matrix: np.ndarray, point: Sequence[float]) -> np.ndarray:
        return (world @ matrix @ (*point, 1.0))[:3]

    hip, knee = (in_world(np.eye(4), bones[name].head) for name in leg.links[:2])
    ankle = in_world(np.array(bones[leg.tip].matrix, float), leg.ankle)
    if leg.ball is None:
        return np.array((hip, knee, ankle, ankle)), np.eye(3)
    pose = bones[leg.foot].matrix
    turn = rotation_in(ob.matrix_world) @ rotation_in(pose)
    pose = np.array(pose, float)
    return np.array((hip, knee, in_world(pose, (0.0, 0.0, 0.0)), in_world(pose, leg.ball))), np.array(turn.to_matrix())
