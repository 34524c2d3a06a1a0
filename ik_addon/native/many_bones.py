"""Any number of links: Triangulation without its branches.

While one link bends, all before it point away from the target and all after it are straight. So the cosine of each
link's angle, computed as if it were that one, says by its own value which of the three it is.
"""

from dataclasses import dataclass

from mathutils import Vector

from .aiming import Aim
from .mechanism import POSE, Mechanism
from .shape import Shape, placed, unscaled

_IN_LINE = 1e-3
"""Sine of the angle between a link and the one before it below which these do not tell about which axis it bends."""
_ROUNDING = 1e-6
_ALONG = 1e-6
"""How far from a link a bone's Y axis may be and still count as along it."""


@dataclass(frozen=True, slots=True)
class Links:
    """Names of the helpers. bent: one below the other, bent as the solver bends the links. turned: of each, the same
    turn below the chain's own bone ("": that bone turns so itself). sources: those that the chain's bones copy."""

    bent: list[str]
    turned: list[str]
    sources: list[str]


def lay(mechanism: Mechanism, shape: Shape, aim: Aim) -> Links:
    """Ask for the bones; the Y axis of each lies along its link, which that of the chain's own bone need not."""
    links = Links([], [], [])
    above = aim.base
    for k, link in enumerate(shape.links):
        pose, along = unscaled(shape.poses[k]), shape.directions[k]
        swung = pose.col[1].xyz.rotation_difference(along).to_matrix().to_4x4()
        is_along = (pose.col[1].xyz - along).length < _ALONG
        own = pose if is_along else placed(pose.translation, (swung @ pose).to_quaternion())
        above = mechanism.bone("bend", own, above, 1.5, link)
        links.bent.append(above)
        if k == 0:
            # It carries the first link itself.
            links.turned.append(above)
            links.sources.append(mechanism.bone("ik", pose, above, 1.2, link))
            continue
        if is_along and _is_at_rest(mechanism, shape, k):
            links.turned.append("")
            links.sources.append(above)
            continue
        # Below the chain's own bone, so that influence blends each in its own space.
        to_own = mechanism.ob.data.bones[shape.carriers[k]].matrix_local @ shape.carrier_poses[k].inverted()
        links.turned.append(mechanism.bone("turn", unscaled(to_own @ own), shape.carriers[k], 1.2, link))
        at = links.turned[k]
        links.sources.append(at if is_along else mechanism.bone("ik", unscaled(to_own @ pose), at, 1.0, link))
    return links


def _is_at_rest(mechanism: Mechanism, shape: Shape, k: int) -> bool:
    """Whether a link's FK rotation is none: then what turns the link turns its bone."""
    bones = mechanism.ob.data.bones
    rest = bones[shape.carriers[k]].matrix_local.inverted() @ bones[shape.links[k]].matrix_local
    off = shape.relative(k).to_3x3().normalized() - rest.to_3x3()
    return max(abs(value) for row in off for value in row) < _ALONG


def wire(mechanism: Mechanism, shape: Shape, aim: Aim, links: Links) -> None:
    """Bend the links, and let the sources turn as they do."""
    lengths, directions = shape.lengths, shape.directions
    before, straight = 0.0, False
    for k, bone in enumerate(links.bent):
        length, rest = lengths[k], sum(lengths[k + 1 :])
        if k and links.turned[k]:
            # What turns a link in the shape of the FK pose turns it below its own bone.
            mechanism.copy(links.turned[k], bone, "COPY_TRANSFORMS", "LOCAL", mix_mode="BEFORE_SPLIT")
        if straight:
            _straighten(mechanism, bone, directions[k - 1], directions[k], shape.normal)
            continue
        # From a link on that can never bend all lie in line.
        straight = before >= length + rest - _ROUNDING * shape.length
        track = mechanism.constrain(
            bone, "DAMPED_TRACK", target=mechanism.ob, subtarget=aim.reach, track_axis="TRACK_Y", **POSE
        )
        if not straight and k < len(links.bent) - 1:
            # From where the target is seen while this link is the one that bends.
            seen = -directions[k - 1] if k else shape.along
            axis = seen.cross(directions[k])
            axis = axis.normalized() if axis.length > _IN_LINE else -shape.normal
            away = f"(d+{before:.9g})"
            cosine = f"({away}*{away}+{length * length - rest * rest:.9g})/({2.0 * length:.9g}*max({away},1e-9))"
            expression = f"acos(max({cosine},-1))-{seen.angle(directions[k]):.9g} if {cosine}<1 else 0"
            own = mechanism.rest(bone).to_quaternion().inverted() @ axis
            mechanism.turn_about(bone, own, expression, d=aim.held)
            mechanism.drive(track, "influence", f"{cosine}>=1", d=aim.held)
        before += length


def _straighten(mechanism: Mechanism, bone: str, before: Vector, along: Vector, normal: Vector) -> None:
    """Let a link lie in line with the one before it, for good."""
    axis = along.cross(before)
    axis = axis.normalized() if axis.length > _ROUNDING else normal
    own = mechanism.rest(bone).to_quaternion().inverted() @ axis
    mechanism.turn_about(bone, own, f"{before.angle(along):.9g}")
