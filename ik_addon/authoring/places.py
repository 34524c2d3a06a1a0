"""Where a target and a pole target leave a limb in the pose that it has."""

from collections.abc import Sequence

from mathutils import Vector

from ..solvers import Chain
from ..solvers.bending import is_straight, start_frame

BEYOND = 4e-6
"""How far beyond a straight limb its new target lies, in chain lengths: nearer, rounding would bend it."""


def pole_place(joints_armature: Sequence[Vector], chain: Chain) -> Vector:
    """Where a pole target leaves a limb in the pose that it has: before its knee, in armature space.

    joints_armature: of the limb in that pose, root first; chain: the limb's chain in it.
    """
    root, frame = joints_armature[0], start_frame(chain)
    knee = joints_armature[1] if len(joints_armature) > 2 else root
    # The knees of a longer chain lie beside the plane in which it bends as a whole.
    return knee - frame.normal * (knee - root).dot(frame.normal) + frame.side * chain.length


def target_place(joints_armature: Sequence[Vector], chain: Chain) -> Vector:
    """Where a target leaves a limb in the pose that it has, in armature space.

    joints_armature: of the limb in that pose, root first; chain: the limb's chain in it.
    """
    # A folded limb, or an S, has no bulge either; but it is not stretched out.
    extended = (joints_armature[-1] - joints_armature[0]).length > chain.length * (1.0 - BEYOND)
    if is_straight(chain) and extended and len(joints_armature) > 2:
        return joints_armature[0] + start_frame(chain).along * (chain.length * (1.0 + BEYOND))
    return joints_armature[-1]
