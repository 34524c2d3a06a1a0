"""One native chain: its helpers, which aim, bend by the law of cosines or by Triangulation, and roll the foot; and how
its own bones follow them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2

import bpy
from mathutils import Matrix, Vector

from ..rig.model.limb import growth
from ..solvers.vectors import cosine_wave
from .mechanism import Mechanism, Variable, variable
from .shape import HingeBend, Shape, Uses, aimed, placed, unscaled


@dataclass(frozen=True, slots=True)
class AimHelpers:
    """Names of these helpers; "": it is not needed.

    aim: at the root, its Y towards the target. target: a child of it, on the target. reach: likewise, where the chain's
    end is to be, if not on the target. swivel: a child of `aim` that turns about its Y. stretch: a child whose scale is
    how much the chain is lengthened.
    """

    aim: str
    target: str
    reach: str
    swivel: str
    stretch: str

    @property
    def base(self) -> str:
        """What the chain's links hang on."""
        return self.swivel or self.aim

    @property
    def end(self) -> str:
        """Where the chain's end is to be."""
        return self.reach or self.target

    @property
    def held(self) -> Variable:
        """The distance from the root at which the chain's end is to be: of that helper from its rest along its own Y,
        in the size of its parent, with its constraints."""
        return Variable("LOC_Y", self.end)

    @property
    def given(self) -> Variable:
        """The same of the target."""
        return Variable("LOC_Y", self.target)


def lay_aim(mechanism: Mechanism, shape: Shape, uses: Uses) -> AimHelpers:
    """Ask for the bones."""
    rest = aimed(shape.joints[0], shape.along, shape.side)
    aim = mechanism.bone("aim", rest, shape.root_parent, 2.0)
    staged = not {"softness", "stretch_max"}.isdisjoint(uses.settings) or uses.hinge is not None
    return AimHelpers(
        aim=aim,
        target=mechanism.bone("target", rest, aim),
        reach=mechanism.bone("reach", rest, aim, 0.8) if staged else "",
        swivel=mechanism.bone("swivel", rest, aim, 1.8) if "swivel" in uses.settings else "",
        stretch=mechanism.bone("stretch", rest, aim, 0.6) if "stretch_max" in uses.settings else "",
    )


def wire_aim(mechanism: Mechanism, shape: Shape, uses: Uses, aim: AimHelpers, followed: str) -> None:
    """Constraints and drivers. followed: the helper that the chain's end goes to, "": the target itself."""
    settings, tip = shape.limb.settings, shape.ob.pose.bones[shape.tip]
    # There it stays if somebody deletes the target: the chain has its FK pose.
    mechanism.pose(aim.target).location.y = (shape.joints[-1] - shape.joints[0]).length
    for bone, kind, values in ((aim.target, "COPY_LOCATION", {}), (aim.aim, "DAMPED_TRACK", {"track_axis": "TRACK_Y"})):
        if followed:
            mechanism.copy(bone, followed, kind, **values)
        else:
            mechanism.follow(bone, kind, "target", settings.target, settings.subtarget, **values)
    if uses.pole:
        pole, subtarget = settings.pole_target, settings.pole_subtarget
        to_pole = {"track_axis": "TRACK_Z", "lock_axis": "LOCK_Y"}
        mechanism.follow(aim.aim, "LOCKED_TRACK", "pole_target", pole, subtarget, **to_pole)
    if aim.swivel:
        mechanism.pose(aim.swivel).rotation_mode = "XYZ"
        mechanism.drive(mechanism.pose(aim.swivel), "rotation_euler", "s", 1, s=variable(tip, "swivel"))
    if aim.reach:
        _drive_reach(mechanism, shape, uses, aim, tip)
    if aim.stretch:
        _drive_stretch(mechanism, shape, uses, aim, tip)


def _drive_reach(mechanism: Mechanism, shape: Shape, uses: Uses, aim: AimHelpers, tip: bpy.types.PoseBone) -> None:
    nearest, farthest = uses.hinge.reach(*shape.lengths) if uses.hinge else (0.0, shape.length)
    expression, read = "d", {"d": aim.given}
    if "softness" in uses.settings:
        # Without softness the exponential is 0.
        span = f"max(s*{farthest:.9g},1e-9)"
        expression = f"(d if d<{farthest:.9g}-{span} else {farthest:.9g}-{span}*exp(({farthest:.9g}-d)/{span}-1))"
        read["s"] = variable(tip, "softness")
    if uses.hinge:
        expression = f"max({expression},{nearest:.9g})"
        # Straight, the law of cosines clamps by itself: a rounding below it would be a bend of its square root.
        if farthest < shape.length * (1.0 - 1e-6):
            expression = f"min({expression},{farthest:.9g})"
    mechanism.drive(mechanism.pose(aim.reach), "location", f"max({expression},0)", 1, **read)


def _drive_stretch(mechanism: Mechanism, shape: Shape, uses: Uses, aim: AimHelpers, tip: bpy.types.PoseBone) -> None:
    weight, settings = uses.weight
    expression = f"1+{weight}*(max(1,min(d/max(min(h,{shape.length:.9g}),1e-9),m))-1)"
    read = {"d": aim.given, "h": aim.held, "m": variable(tip, "stretch_max")}
    read |= {name[0]: variable(tip, name) for name in settings}
    for axis in range(3):
        mechanism.drive(mechanism.pose(aim.stretch), "scale", expression, axis, **read)


@dataclass(frozen=True, slots=True)
class FootHelpers:
    """Names of its helpers; "": it is not needed.

    control: goes where the target is. heel, tip, ball: each below the one before, at these points of the foot, with the
    roll axis as X. foot, toe: how foot and toe stand. local_toe: where influence blends, the toe below `foot`, as it is
    below the foot at rest: it is blended in its own space.
    """

    control: str
    heel: str
    tip: str
    ball: str
    foot: str
    toe: str
    local_toe: str

    @property
    def followed(self) -> str:
        """The helper that the chain's end goes to."""
        return self.foot if self.heel else self.control


def lay_foot(mechanism: Mechanism, shape: Shape, uses: Uses) -> FootHelpers:
    """Ask for the bones; at rest the target lies on the chain's end, turned as the armature."""
    ankle, held, own = shape.joints[-1], shape.limb.held, shape.foot
    assert held is not None and own is not None
    stands = placed(ankle, held)
    control = mechanism.bone("control", placed(ankle), shape.root_parent)
    if "foot_roll" not in uses.settings:
        return FootHelpers(control, "", "", "", mechanism.bone("foot", stands, control, 0.8, own.foot), "", "")
    # As the foot is sized, which a helper is not.
    sized = Matrix.LocRotScale(ankle, held, own.size)
    rolling = Vector((1.0, 0.0, 0.0)).rotation_difference(held @ own.axis)
    heel = mechanism.bone("heel", placed(sized @ own.heel, rolling), control, 0.5)
    tip = mechanism.bone("tip", placed(sized @ own.tip, rolling), heel, 0.5)
    ball = mechanism.bone("ball", placed(sized @ own.ball, rolling), tip, 0.5)
    foot = mechanism.bone("foot", stands, ball, 0.8, own.foot)
    toe = mechanism.bone("toe", unscaled(sized @ own.toe_pose), tip, 0.5, own.toe) if own.toe else ""
    blended = own.toe and not uses.direct
    local_toe = mechanism.bone("toe", stands @ own.toe_rest, foot, 0.4, own.toe) if blended else ""
    return FootHelpers(control, heel, tip, ball, foot, toe, local_toe)


def wire_foot(mechanism: Mechanism, shape: Shape, foot: FootHelpers) -> None:
    """Constraints and drivers of the helpers."""
    settings, tip = shape.limb.settings, mechanism.pose(shape.tip)
    for kind in ("COPY_LOCATION", "COPY_ROTATION"):
        mechanism.follow(foot.control, kind, "target", settings.target, settings.subtarget)
    if not foot.heel:
        return
    if foot.local_toe:
        mechanism.copy(foot.local_toe, foot.toe, "COPY_TRANSFORMS")
    roll, toe_angle = variable(tip, "foot_roll"), variable(tip, "toe_angle")
    for bone, expression, read in (
        (foot.heel, "min(r,0)", {"r": roll}),
        (foot.tip, "max(r-t,0)", {"r": roll, "t": toe_angle}),
        (foot.ball, "min(max(r,0),t)", {"r": roll, "t": toe_angle}),
    ):
        mechanism.pose(bone).rotation_mode = "XYZ"
        mechanism.drive(mechanism.pose(bone), "rotation_euler", expression, 0, **read)


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
    before = [sum(shape.lengths[:k]) for k in range(len(shape.links))]
    # From this link on the chain is no longer than before it.
    longer = (k for k, way in enumerate(before[:-1]) if way >= shape.length - way - _ROUNDING * shape.length)
    links = LinkHelpers(next(longer, len(shape.links) - 1), [], [], [])
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


_SIZE = 0.5
"""Of helpers, in lengths of the chain: Blender keeps head and tail of a bone, and a short one rounds its direction."""
_HELD = 1e-6
"""By what part of its length a chain that keeps its FK pose out of reach still counts as reaching."""


@dataclass(slots=True)
class Wiring:
    """One chain on its way. aim, foot, links: its helpers."""

    mechanism: Mechanism
    shape: Shape
    uses: Uses
    aim: AimHelpers
    foot: FootHelpers | None
    links: PairHelpers | LinkHelpers


def lay(shape: Shape, uses: Uses, key: str, others: Sequence[Mechanism] = ()) -> Wiring:
    """Ask for all bones of a chain. others: of the same armature, that are made with it."""
    mechanism = Mechanism(shape.ob, key, shape.tip, shape.root_parent, _SIZE * shape.length, others)
    standing = lay_foot(mechanism, shape, uses) if shape.foot else None
    aim = lay_aim(mechanism, shape, uses)
    links = (lay_pair if len(shape.links) == 2 else lay_links)(mechanism, shape, uses, aim)
    return Wiring(mechanism, shape, uses, aim, standing, links)


def wire(wiring: Wiring) -> None:
    """Once the bones and the custom properties are there: constraints and drivers."""
    mechanism, shape, uses = wiring.mechanism, wiring.shape, wiring.uses
    tip = mechanism.pose(shape.tip)
    if wiring.foot:
        wire_foot(mechanism, shape, wiring.foot)
    wire_aim(mechanism, shape, uses, wiring.aim, wiring.foot.followed if wiring.foot else "")
    if isinstance(wiring.links, PairHelpers):
        wire_pair(mechanism, shape, uses, wiring.aim, wiring.links)
    else:
        wire_links(mechanism, shape, uses, wiring.aim, wiring.links)
    for link, source, scale in zip(shape.links, wiring.links.sources, shape.scales, strict=True):
        if source:
            # Sized as the bone itself, below the same bone: so their whole matrices are the same.
            mechanism.pose(source).bone.inherit_scale = mechanism.pose(link).bone.inherit_scale
            mechanism.pose(source).scale = scale
    _follow(wiring, tip)
    if wiring.aim.stretch:
        _stretch(wiring)


def _follow(wiring: Wiring, tip: bpy.types.PoseBone) -> None:
    """Let the chain's own bones follow the helpers, before whatever constraints they have."""
    mechanism, shape = wiring.mechanism, wiring.shape
    pairs = [
        (link, source, "COPY_TRANSFORMS", "POSE") if source else (link, wiring.aim.end, "DAMPED_TRACK", "POSE")
        for link, source in zip(shape.links, wiring.links.sources, strict=True)
    ]
    if wiring.foot and shape.foot:
        pairs.append((shape.foot.foot, wiring.foot.foot, "COPY_ROTATION", "POSE"))
        if wiring.foot.toe:
            toe, local = wiring.foot.toe, wiring.foot.local_toe
            pairs.append((shape.foot.toe, local or toe, "COPY_ROTATION", "LOCAL" if local else "POSE"))
    expression, settings = wiring.uses.weight
    read = {name[0]: variable(tip, name) for name in settings}
    if wiring.uses.hold:
        far, near = shape.length * (1.0 + _HELD), shape.nearest * (1.0 - _HELD)
        expression, read = f"{expression}*(d<={far:.9g})*(d>={near:.9g})", read | {"d": wiring.aim.given}
    for bone, source, kind, space in pairs:
        values = {"track_axis": "TRACK_Y"} if kind == "DAMPED_TRACK" else {}
        constraint = mechanism.copy(bone, source, kind, space, first=True, **values)
        if wiring.uses.blends:
            mechanism.drive(constraint, "influence", expression, **read)


def _stretch(wiring: Wiring) -> None:
    """Let the chain's bones grow, and those on its end keep their size."""
    mechanism, shape = wiring.mechanism, wiring.shape
    own = [mechanism.pose(name).bone for name in shape.own]
    helpers = set(mechanism.names)
    for name, power in growth(own).items():
        if power and name not in helpers:
            mechanism.copy(
                name, wiring.aim.stretch, "COPY_SCALE", "LOCAL", "stretch", use_offset=True, power=float(power)
            )
