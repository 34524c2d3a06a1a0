"""Knees and elbows: joints that bend about one axis, never backwards and never quite straight; and pole targets that
keep between foot and body.

By Blender's own Armature constraint, half with the foot's control and half with the bone that carries the leg: so where
a pole target is depends on where these two are alone, at any frame and in any order, and without the add-on too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import acos, degrees, pi

import bpy
from mathutils import Vector

from .. import messages
from ..rig.blender.armatures import tag_pose
from ..rig.blender.dependencies import shares_of
from ..rig.data.settings import target_and_pole
from ..rig.data.undoing import all_or_nothing
from ..rig.model.limb import AXES, BoneReading, chain_bones, fk_chain, known_bones
from ..rig.pose.reading import SceneReader
from ..rig.status.problems import check_changeable
from ..solvers import ChainError
from ..solvers.bending import start_frame
from ..solvers.vectors import STRAIGHT, cosine_wave

_ASKEW = 15.0
"""Degrees between a bone's axis and that of its limb's bend from which on it is worth a word."""


@dataclass(frozen=True, slots=True)
class Knee:
    """A joint that was limited. bone: its name; axis: "X" or "Z"; askew: degrees between that axis and the bend's."""

    bone: str
    axis: str
    askew: float

    @property
    def warning(self) -> str | None:
        """What to do where the bone's axis does not fit the way in which the limb bends."""
        if self.askew < _ASKEW:
            return None
        return messages.KNEE_ASKEW(bone=self.bone, axis=self.axis, angle=self.askew)


def limit_knees(
    context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone], least_bend: float, largest_bend: float
) -> list[Knee]:
    """Make hinges of all joints of chains but their roots', by Blender's own IK locks and limits.

    least_bend, largest_bend: smallest and largest angle in radians between each bone and the one before it. Each bends
    about that of its X and Z axis which lies nearest to the axis of its present bend (of the limb's, where it is
    straight), and to that side. Raises ChainError that names the bone, with nothing changed, where a chain is none.
    """
    joints = [joint for tip in tips for joint in _joints(context, tip, least_bend, largest_bend)]
    knees = []
    armatures = dict.fromkeys(tip.id_data for tip in tips)
    with all_or_nothing(armatures):
        for reading, normal in joints:
            axis, cosine = nearest_axis(reading, normal)
            _limit(reading.pose_bone, axis, cosine > 0.0, least_bend, largest_bend)
            askew = degrees(acos(min(1.0, abs(cosine))))
            knees.append(Knee(reading.name, axis.upper(), askew))
        for ob in armatures:
            tag_pose(ob)
        return knees


def nearest_axis(reading: BoneReading, normal: Vector) -> tuple[str, float]:
    """That of a bone's X and Z axis which lies nearest to a normal in armature space, and the cosine between them."""
    orientation = reading.orientation(reading.pose_armature)
    cosines = {axis: normal.dot(orientation @ local) for axis, local in AXES.items()}
    return max(cosines.items(), key=lambda item: abs(item[1]))


def _joints(
    context: bpy.types.Context, tip: bpy.types.PoseBone, least_bend: float, largest_bend: float
) -> Iterator[tuple[BoneReading, Vector]]:
    """The bones of a chain but its root, each with the normal of the plane of its bend against the bone before."""
    if not 0.0 <= least_bend < largest_bend:
        raise ChainError(messages.BENDS_BACKWARDS(bone=tip.name))
    ob = tip.id_data
    check_changeable(ob)
    try:
        reader = SceneReader(context.evaluated_depsgraph_get()).armature(ob)
        evaluated = chain_bones(reader.tip(tip.name), tip.analytic_ik_chain_count)
        if len(evaluated) < 2:
            raise ChainError(messages.NO_KNEE())
        # The limits that they have so far may be none: they are about to change.
        readings = [replace(reading, limits=None) for reading in reader.links(evaluated)]
        chain = fk_chain(readings, None)
    except ChainError as error:
        raise error.of(messages.BONE(bone=tip.name)) from error
    limb_normal = start_frame(chain).normal
    for reading, (before, along) in zip(readings[1:], pairwise(chain.directions), strict=True):
        # The hock of a hind leg bends the other way than its knee.
        normal = before.cross(along)
        yield reading, normal.normalized() if normal.length > STRAIGHT else limb_normal


def _limit(pose_bone: bpy.types.PoseBone, axis: str, positive: bool, least_bend: float, largest_bend: float) -> None:
    """Lock a bone's other axes, and let it turn about `axis` from straight on to its largest bend."""
    bone = pose_bone.bone
    rest = bone.matrix_local.to_3x3()
    before = bone.head_local - bone.parent.head_local
    straight = cosine_wave(rest.col[1], rest @ AXES[axis], before.normalized())[2]
    bent = straight + largest_bend if positive else straight - largest_bend
    for other in "xyz":
        setattr(pose_bone, f"lock_ik_{other}", other != axis)
    setattr(pose_bone, f"use_ik_limit_{axis}", True)
    # Blender takes the rest pose, angle 0, for legal; the least bend takes care of one that is bent backwards.
    setattr(pose_bone, f"ik_min_{axis}", max(-pi, min(0.0, straight, bent)))
    setattr(pose_bone, f"ik_max_{axis}", min(pi, max(0.0, straight, bent)))
    pose_bone.analytic_ik_min_bend = least_bend
    pose_bone.analytic_ik_use_min_bend = True


_NAME = "Analytic IK Follow"


def pole_and_carriers(tip: bpy.types.PoseBone) -> tuple[str, ...]:
    """Names of the pole target of a chain and of the bones between which it can keep: the target, and what carries the
    root. Empty if they are not all bones of its own armature."""
    ob, bones, controls = tip.id_data, known_bones(tip), target_and_pole(tip)
    root = bones[0].parent if bones else None
    if root is None or len(controls) < 2 or any(holder != ob for holder, _ in controls):
        return ()
    (_, target), (_, pole) = controls
    return (pole, target, root.name) if pole in ob.pose.bones and target in ob.pose.bones else ()


def is_following(tip: bpy.types.PoseBone) -> bool:
    """Whether the pole target of a chain keeps between the bones that `pole_and_carriers` names."""
    names = pole_and_carriers(tip)
    shares = shares_of(tip.id_data.pose.bones[names[0]]) if names else None
    return bool(shares) and shares.keys() == {*names[1:]}


def let_follow(pole: bpy.types.PoseBone, carriers: Sequence[str]) -> None:
    """Let a pole target, which has no parent, keep between bones of its armature. It moves by what these have moved."""
    constraint = pole.constraints.new("ARMATURE")
    constraint.name, constraint.show_expanded = _NAME, False
    for name in carriers:
        carrier = constraint.targets.new()
        carrier.target, carrier.subtarget, carrier.weight = pole.id_data, name, 1.0 / len(carriers)


def stop_following(pole: bpy.types.PoseBone) -> None:
    """Take that off."""
    for constraint in filter(lets_follow, [*pole.constraints]):
        pole.constraints.remove(constraint)


def lets_follow(constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint was made here."""
    return constraint.type == "ARMATURE" and constraint.name.startswith(_NAME)
