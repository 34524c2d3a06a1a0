"""Fit a chain to a pose that was not made by it: its swivel, and an FK pose of which the pose is the solution."""

from collections.abc import Sequence
from dataclasses import replace
from math import atan2, inf

from mathutils import Quaternion, Vector

from ..rig.blender.channels import quaternion_of, raw_of
from ..rig.model.chains import fk_chain
from ..rig.model.limb import Limb
from ..rig.pose.solving import pose_limb, solve_limb
from ..solvers import Goal
from ..solvers.bending import aim_at, start_frame

_SAME = 1e-5
"""Radians between two rotations of a bone that are the same pose."""
_CORRECTIONS = {True: (10, 1.0), False: (200, 0.5)}
"""How often an FK pose is corrected by what its solution misses, and by which part of it; at full influence, and below,
where what is blended depends on the correction too."""


def at_full_influence(limb: Limb) -> Limb:
    """The limb as if its influence were 1."""
    return replace(limb, settings=replace(limb.settings, influence=1.0))


def swivel_to(limb: Limb, visual: Sequence[Quaternion]) -> float:
    """The angle that turns the plane in which the chain would bend into the one in which the visual limb bends.

    Blender leaves no limb quite straight that bends in its FK pose, so that its plane is told also out of reach.
    """
    if limb.pole_armature is None and len(limb.bones) > 2:
        # Least motion starts from the FK pose, which becomes the visual one.
        return 0.0
    normal = start_frame(with_fk(limb, visual).chain).normal
    root = limb.root_armature
    pole = limb.pole_armature - root if limb.pole_armature else None
    aim = aim_at(limb.chain, Goal(limb.target_armature - root, pole), limb.chain.length)
    return atan2(aim.along.dot(aim.normal.cross(normal)), aim.normal.dot(normal))


def fitted(limb: Limb, wanted: Sequence[Quaternion]) -> Limb:
    """The limb with an FK pose of which `wanted`, local rotations, is the solution, or nearest to it.

    The FK pose that it has serves, with other rolls, unless there is a clearly better one: the visual pose, or that
    brought to the target from which Blender left it.
    """
    error, own = _corrected(limb, wanted)
    if error <= _SAME:
        return own
    shown = with_fk(limb, wanted)
    at_target = solve_limb(replace(at_full_influence(shown), solver="CCD"))
    reached = [quaternion_of(raw, reading.mode) for raw, reading in zip(at_target.rotations, limb.bones, strict=True)]
    others = [_corrected(shown, wanted), _corrected(with_fk(limb, reached), wanted)]
    best_error, best = min(others, key=lambda other: other[0])
    return best if 2.0 * best_error < error else own


def _corrected(limb: Limb, wanted: Sequence[Quaternion]) -> tuple[float, Limb]:
    """The limb with its FK pose corrected by what its solution misses, and what it misses still, in radians."""
    best_error, best = inf, limb
    passes, part = _CORRECTIONS[limb.settings.influence == 1.0]
    for _ in range(passes):
        missing = [
            quaternion_of(raw, reading.mode).rotation_difference(rotation)
            for raw, reading, rotation in zip(solve_limb(limb).rotations, limb.bones, wanted, strict=True)
        ]
        error = max(2.0 * Vector((turn.x, turn.y, turn.z)).length for turn in missing)
        if error < best_error:
            best_error, best = error, limb
        if error <= _SAME:
            break
        turns = zip(limb.bones, missing, strict=True)
        limb = with_fk(limb, [reading.fk_rotation @ Quaternion().slerp(turn, part) for reading, turn in turns])
    return best_error, best


def with_fk(limb: Limb, rotations: Sequence[Quaternion]) -> Limb:
    """The limb with another FK pose, given as local rotations."""
    poses = pose_limb(limb, rotations)
    bones = [
        replace(reading, fk=raw_of(rotation, reading.mode, reading.fk), fk_rotation=rotation, pose_armature=pose)
        for reading, rotation, pose in zip(limb.bones, rotations, poses, strict=True)
    ]
    return replace(limb, bones=tuple(bones), chain=fk_chain(bones, limb.parent_pose))
