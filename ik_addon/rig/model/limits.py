"""What the joints of a limb may do: Blender's own IK locks and limits of each bone, and the cone beside them."""

from dataclasses import dataclass
from math import atan2, pi, tau

import bpy
from mathutils import Quaternion, Vector

from ...solvers import Hinge, Swing

Range = tuple[float, float]

_FREE: Range = (-pi, pi)
_X, _Y = Vector((1.0, 0.0, 0.0)), Vector((0.0, 1.0, 0.0))
_AXES = {"x": _X, "z": Vector((0.0, 0.0, 1.0))}


@dataclass(frozen=True, slots=True)
class BoneLimits:
    """The limits of one bone, as angles in radians from its rest orientation, in its rest frame.

    x, y, z: ranges about its axes; y is its twist. cone: largest angle to the bone before it; None: free. least_bend:
    the smallest such angle of a hinge; None: none.
    """

    x: Range
    y: Range
    z: Range
    cone: float | None
    least_bend: float | None

    @property
    def hinge(self) -> str | None:
        """The one axis about which the bone turns, if the other one across it is locked."""
        if self.x[0] == self.x[1]:
            return "z"
        return "x" if self.z[0] == self.z[1] else None


def limits_of(pose_bone: bpy.types.PoseBone) -> BoneLimits | None:
    """The limits of a bone, as Blender's own IK reads them; None: it is free. Of an evaluated bone: as animated."""
    ranges = [_range(pose_bone, axis) for axis in "xyz"]
    cone = pose_bone.analytic_ik_cone if pose_bone.analytic_ik_use_cone else None
    least_bend = pose_bone.analytic_ik_min_bend if pose_bone.analytic_ik_use_min_bend else None
    if cone is None and ranges == [_FREE, _FREE, _FREE]:
        return None
    x, y, z = ranges
    return BoneLimits(x, y, z, cone, least_bend)


def _range(pose_bone: bpy.types.PoseBone, axis: str) -> Range:
    if getattr(pose_bone, f"lock_ik_{axis}"):
        return 0.0, 0.0
    if not getattr(pose_bone, f"use_ik_limit_{axis}"):
        return _FREE
    lowest, highest = getattr(pose_bone, f"ik_min_{axis}"), getattr(pose_bone, f"ik_max_{axis}")
    return (lowest, highest) if highest - lowest < tau else _FREE


def joint_of(limits: BoneLimits, orientation: Quaternion, rotation: Quaternion) -> tuple[Hinge | None, Swing | None]:
    """A bone's hinge or swing, in the space of its orientation; rotation: what of the orientation is its own."""
    zero = orientation @ rotation.inverted()
    # What the bone twists about itself is no matter of where it points: it keeps its twist, as far as that is legal.
    twist = 2.0 * atan2(rotation.y, rotation.w)
    twist = (twist + pi) % tau - pi
    kept = min(max(twist, limits.y[0]), limits.y[1])
    rest = zero @ Quaternion(_Y, kept) @ orientation.inverted()
    axis = limits.hinge
    if axis is not None:
        lowest, highest = getattr(limits, axis)
        return Hinge(zero @ _AXES[axis], lowest, highest, rest, limits.least_bend), None
    if limits.x == limits.y == limits.z == _FREE:
        return None, None
    free_twist = limits.y == _FREE
    twists = _FREE if free_twist else (limits.y[0] - kept, limits.y[1] - kept)
    return None, Swing(zero @ _X, limits.x, limits.z, twists, rest, zero @ _Y)
