"""Which parts a native chain needs, and whether a chain can be native at all."""

from dataclasses import dataclass
from math import atan2, cos, pi, tau

import bpy
from mathutils import Quaternion, Vector

from ..rig.blender.animation import is_animated
from ..solvers.vectors import cosine_wave
from .properties import live_path
from .shape import Shape


@dataclass(frozen=True, slots=True)
class HingeBend:
    """A knee with an axis of its own, in the FK pose of the bone above it.

    axis: of the hinge. zero: of the second link at angle 0. turn: from the FK orientation of the second bone to its
    orientation at angle 0. lowest, highest: angles. middle: at which the limb is straightest. level, amplitude: the
    cosine of the bend is level + amplitude * cos(angle - middle). sign: the side of the middle on which the knee bends.
    """

    axis: Vector
    zero: Vector
    turn: Quaternion
    lowest: float
    highest: float
    middle: float
    level: float
    amplitude: float
    sign: float

    def reach(self, first: float, second: float) -> tuple[float, float]:
        """The nearest and the farthest that links of these lengths reach within the limits."""
        ways = (self.sign * (angle - self.middle) for angle in (self.lowest, self.highest))
        cosines = [self.level + self.amplitude * cos(min(max(way, 0.0), pi)) for way in ways]
        squares = [max(0.0, first * first + second * second + 2.0 * first * second * cosine) for cosine in cosines]
        return min(squares) ** 0.5, max(squares) ** 0.5


@dataclass(frozen=True, slots=True)
class Uses:
    """What of a chain's settings matters.

    settings: names of those that become custom properties. hinge: of the knee.
    """

    settings: tuple[str, ...]
    pole: bool
    hold: bool
    hinge: HingeBend | None

    @property
    def weight(self) -> tuple[str, tuple[str, ...]]:
        """How much of the pose is the chain's: an expression, and the settings that it reads by their first letters."""
        names = tuple(name for name in ("influence", "enabled") if name in self.settings)
        return "*".join(name[0] for name in names) or "1", names

    @property
    def blends(self) -> bool:
        return self.hold or bool(self.weight[1])

    @property
    def direct(self) -> bool:
        """Whether the chain's own bones are always where the solution has them: helpers can then hang on these."""
        return not self.blends and not self.stretches

    @property
    def swivels(self) -> bool:
        return "swivel" in self.settings

    @property
    def softens(self) -> bool:
        return "softness" in self.settings

    @property
    def stretches(self) -> bool:
        return "stretch_max" in self.settings

    @property
    def rolls(self) -> bool:
        return "foot_roll" in self.settings


def rolls(tip: bpy.types.PoseBone) -> bool:
    """Whether a chain's foot rolls, now or at another frame. Where it never does, its toe is the animator's."""
    return tip.analytic_ik_foot_roll != 0.0 or is_animated(tip.id_data, live_path(tip, "foot_roll"))


def uses_of(tip: bpy.types.PoseBone, shape: Shape, switch: bool) -> Uses:
    """What of the settings of a chain matters. tip: the original one. switch: whether Influence does in any case."""
    settings, names = shape.limb.settings, []

    def is_used(name: str, rest: float) -> bool:
        return getattr(settings, name) != rest or is_animated(tip.id_data, live_path(tip, name))

    if is_animated(tip.id_data, live_path(tip, "enabled")):
        names.append("enabled")
    if switch or is_used("influence", 1.0):
        names.append("influence")
    if is_used("swivel", 0.0):
        names.append("swivel")
    hinge = hinge_bend(shape) if len(shape.links) == 2 else None
    if is_used("flip", False):
        names.append("flip")
    if is_used("softness", 0.0):
        names.append("softness")
    if settings.reach == "STRETCH":
        names.append("stretch_max")
    if shape.foot and rolls(tip):
        names += ["foot_roll", "toe_angle"]
    return Uses(tuple(names), shape.limb.pole_armature is not None, settings.reach == "HOLD", hinge)


def hinge_bend(shape: Shape) -> HingeBend | None:
    """The hinge of a limb of two links in the space of its shape; None where its knee is free."""
    limb = shape.limb
    if limb.chain.limits is None:
        return None
    to_rest = shape.poses[0].to_quaternion() @ limb.bones[0].orientation(limb.bones[0].pose_armature).inverted()
    carried, joint = to_rest @ limb.chain.limits[0].start, limb.chain.limits[1]
    axis, zero = carried @ joint.axis, carried @ joint.zero
    level, amplitude, middle = cosine_wave(zero, axis, shape.directions[0])
    center = (joint.lowest + joint.highest) / 2.0
    # Within half a turn of the range.
    middle += tau * round((center - middle) / tau)
    turn = carried @ joint.start.inverted() @ carried.inverted()
    at = center - middle
    if joint.lowest < middle < joint.highest:
        # Both sides are legal: it bends as in the FK pose.
        across = zero - axis * zero.dot(axis)
        shown = shape.directions[1]
        at = atan2(shown.dot(axis.cross(across)), shown.dot(across)) - middle
        at -= tau * round(at / tau)
    return HingeBend(
        axis, zero, turn, joint.lowest, joint.highest, middle, level, amplitude, 1.0 if at >= 0.0 else -1.0
    )
