"""Any number of links: Triangulation without its branches.

While one link bends, all before it point away from the target and all after it are straight. So the cosine of each
link's angle, computed as if it were that one, says by its own value which of the three it is.
"""

from dataclasses import dataclass

import bpy
from mathutils import Matrix

from .aiming import AimHelpers
from .mechanism import Mechanism
from .shape import Shape, placed, unscaled
from .uses import Uses

_IN_LINE = 1e-3
"""Sine of the angle between a link and the one before it below which these do not tell about which axis it bends."""
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class LinkHelpers:
    """Names of the helpers of each link; "": it needs none. Where influence blends, or the chain stretches, links bend
    in a shape of their own, and the chain's bones turn as they do; else each hangs on the chain's own bone above it.

    straight: which link is the first that can never bend, as none after it: they lie in line with the target. bent:
    bent as the solver bends the links. turned: of each the same turn below the chain's own bone. sources: those that
    the chain's bones copy; "": that bone tracks the target itself.
    """

    straight: int
    bent: list[str]
    turned: list[str]
    sources: list[str]


def lay_links(mechanism: Mechanism, shape: Shape, uses: Uses, aim: AimHelpers) -> LinkHelpers:
    """Ask for the bones; the Y axis of each lies along its link, which that of the chain's own bone need not."""
    links = LinkHelpers(_first_straight(shape), [], [], [])
    for k, link in enumerate(shape.links):
        pose, along, hung = unscaled(shape.poses[k]), shape.directions[k], shape.hung(k)
        swung = pose.col[1].xyz.rotation_difference(along).to_matrix().to_4x4()
        is_along = shape.is_along(k)
        own = pose if is_along else placed(pose.translation, (swung @ pose).to_quaternion())
        bent = turned = source = ""
        if k == 0 or (k <= links.straight and not uses.direct):
            bent = mechanism.bone("bend", own, links.bent[-1] if k else aim.base, 1.5, link)
        if k and (k < links.straight or not (uses.direct and is_along)):
            turned = mechanism.bone("turn", unscaled(hung @ own), shape.carriers[k], 1.2, link)
        if turned or bent:
            source = turned or bent
            # A bent link is not sized: it carries the next.
            if not is_along or (not uses.direct and not turned):
                source = mechanism.bone("ik", unscaled(hung @ pose), source, 1.0, link)
        links.bent.append(bent)
        links.turned.append(turned)
        links.sources.append(source)
    return links


def _first_straight(shape: Shape) -> int:
    """The first link from which on the chain is no longer than before it; at the latest the last."""
    lengths = shape.lengths
    longer = (sum(lengths[:k]) >= sum(lengths[k:]) - _ROUNDING * shape.length for k in range(len(lengths) - 1))
    return next((k for k, is_longer in enumerate(longer) if is_longer), len(lengths) - 1)


def wire_links(mechanism: Mechanism, shape: Shape, uses: Uses, aim: AimHelpers, links: LinkHelpers) -> None:
    """Bend the links, and let the sources turn as they do."""
    for k, (bent, turned) in enumerate(zip(links.bent, links.turned, strict=True)):
        if bent and turned:
            # What turns a link in the shape of the FK pose turns it below its own bone.
            mechanism.copy(turned, bent, "COPY_TRANSFORMS", "LOCAL", mix_mode="BEFORE_SPLIT")
        if k > links.straight and not uses.direct:
            _straighten(mechanism, shape, k, turned)
        elif bent or turned:
            track = mechanism.copy(bent or turned, aim.end, "DAMPED_TRACK", track_axis="TRACK_Y")
            if k < links.straight:
                _bend(mechanism, shape, aim, k, bent or turned, Matrix() if bent else shape.hung(k), track)


def _bend(
    mechanism: Mechanism, shape: Shape, aim: AimHelpers, k: int, bone: str, hung: Matrix, track: bpy.types.Constraint
) -> None:
    """Let a link bend, or point away, by how far the target is. Where a link before it bends it tracks the target."""
    lengths, directions = shape.lengths, shape.directions
    before, length, rest = sum(lengths[:k]), lengths[k], sum(lengths[k + 1 :])
    # From where the target is seen while this link is the one that bends.
    seen = -directions[k - 1] if k else shape.along
    axis = seen.cross(directions[k])
    axis = axis.normalized() if axis.length > _IN_LINE else -shape.normal
    away = f"(d+{before:.9g})"
    cosine = f"({away}*{away}+{length * length - rest * rest:.9g})/({2.0 * length:.9g}*max({away},1e-9))"
    expression = f"acos(max({cosine},-1))-{seen.angle(directions[k]):.9g} if {cosine}<1 else 0"
    mechanism.turn_about(bone, axis, expression, hung, d=aim.held)
    mechanism.drive(track, "influence", f"{cosine}>=1", d=aim.held)


def _straighten(mechanism: Mechanism, shape: Shape, k: int, bone: str) -> None:
    """Let a link lie in line with the one before it, for good."""
    before, along = shape.directions[k - 1], shape.directions[k]
    axis = along.cross(before)
    axis = axis.normalized() if axis.length > _ROUNDING else shape.normal
    mechanism.turn_about(bone, axis, f"{before.angle(along):.9g}", shape.hung(k))
