"""Two links: the law of cosines, at the root and at the knee."""

from dataclasses import dataclass
from math import atan2

from ..solvers.vectors import cosine_wave
from .aiming import AimHelpers
from .mechanism import Mechanism, Variable
from .properties import variable
from .shape import Shape, placed, unscaled
from .uses import HingeBend, Uses

_SQUARE = 1e-5
"""Cosine of the angle of a hinge to its links below which it is square to them."""
_BENT = 0.05
"""Sine of the bend in the FK pose from which the second link may track the target: folded or straight it then turns by
less than half a turn, and so about one axis."""


@dataclass(frozen=True, slots=True)
class PairHelpers:
    """Names of the helpers. sources: those that the chain's bones copy; "": that bone tracks the target itself. hip:
    turns in the plane of the bend. angle: "", or what holds the angle of a knee with an axis of its own."""

    sources: list[str]
    hip: str
    angle: str


def lay_pair(mechanism: Mechanism, shape: Shape, uses: Uses, aim: AimHelpers) -> PairHelpers:
    """Ask for the bones."""
    first, second = unscaled(shape.poses[0]), shape.poses[1]
    hip = root = mechanism.bone("ik", first, aim.base, 1.5, shape.links[0])
    angle, bend = "", shape.directions[0].cross(shape.directions[1]).length
    if uses.hinge:
        angle = mechanism.bone("hinge", first, aim.aim, 0.5, shape.links[1])
        root = mechanism.bone("roll", first, hip, 1.2, shape.links[0])
        second = placed(second.translation, uses.hinge.turn @ second.to_quaternion())
    elif uses.direct and shape.is_along(1) and "flip" not in uses.settings and bend > _BENT:
        return PairHelpers([root, ""], hip, "")
    # A child of the chain's own bone, so that influence blends the knee in its own space, as the live chain does.
    knee = mechanism.bone("ik", unscaled(shape.hung(1) @ second), shape.carriers[1], 1.5, shape.links[1])
    return PairHelpers([root, knee], hip, angle)


def wire_pair(mechanism: Mechanism, shape: Shape, uses: Uses, aim: AimHelpers, pair: PairHelpers) -> None:
    """Drive the angles of both links."""
    tip = mechanism.pose(shape.tip)
    (first, second), (_, knee) = shape.lengths, pair.sources
    sign, read = "", {"d": aim.held}
    if "flip" in uses.settings:
        sign, read = "(1-2*f)*", read | {"f": variable(tip, "flip")}
    thigh, shin = shape.directions
    at_root = atan2(thigh.dot(shape.side), thigh.dot(shape.along))
    at_end = atan2(-shin.dot(shape.side), shin.dot(shape.along))
    cosine = f"(d*d+{first * first - second * second:.9g})/({2.0 * first:.9g}*max(d,1e-9))"
    expression = f"{at_root:.9g}-{sign}acos(max(-1,min(1,{cosine})))"
    mechanism.turn_about(pair.hip, shape.normal, expression, **read)
    bend = f"(d*d-{first * first + second * second:.9g})/{2.0 * first * second:.9g}"
    if uses.hinge:
        _wire_hinge(mechanism, shape, uses.hinge, read["d"], bend, pair)
        return
    if knee:
        expression = f"{sign}acos(max(-1,min(1,{bend})))-{at_root + at_end:.9g}"
        mechanism.turn_about(knee, shape.normal, expression, shape.hung(1), **read)


def _wire_hinge(
    mechanism: Mechanism, shape: Shape, hinge: HingeBend, held: Variable, bend: str, pair: PairHelpers
) -> None:
    """A knee that turns about its own axis: the angle at which the cosine of the bend is as wished, and the roll of the
    first link with which the limb then lies in its plane."""
    root, knee = pair.sources
    cosine = f"({bend}-{hinge.level:.9g})/{max(hinge.amplitude, 1e-6):.9g}"
    sign = "+" if hinge.sign > 0.0 else "-"
    expression = f"{hinge.middle:.9g}{sign}acos(max(-1,min(1,{cosine})))"
    # On a channel of a helper, for two drivers read it.
    mechanism.drive(mechanism.pose(pair.angle), "location", expression, 0, d=held)
    theta = Variable("LOC_X", pair.angle)
    mechanism.turn_about(knee, hinge.axis, "t", shape.hung(1), t=theta)
    along = shape.directions[0]
    down = -(shape.side - along * shape.side.dot(along)).normalized()
    if max(abs(hinge.axis.dot(along)), abs(hinge.axis.dot(hinge.zero))) < _SQUARE:
        # The limb lies in one plane at every angle; straight, only this tells in which.
        side = hinge.axis.cross(along) * hinge.sign
        turn = atan2(side.dot(along.cross(down)), side.dot(down))
        mechanism.turn_about(root, along, f"{-turn:.9g}")
        return
    waves = [cosine_wave(hinge.zero, hinge.axis, axis) for axis in (along.cross(down), down)]
    parts = [f"{level:.9g}+{amplitude:.9g}*cos(t-({middle:.9g}))" for level, amplitude, middle in waves]
    expression = f"-atan2({parts[0]},{parts[1]})"
    mechanism.turn_about(root, along, expression, t=theta)
