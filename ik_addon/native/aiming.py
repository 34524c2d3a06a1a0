"""The helpers that every native chain has: they aim at the target, roll to the pole, and say how far it is."""

from dataclasses import dataclass

import bpy

from .mechanism import Mechanism, Variable, distance
from .properties import variable
from .shape import Shape, aimed
from .uses import Uses


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
        """The distance from the root at which the chain's end is to be."""
        return distance(self.end)

    @property
    def given(self) -> Variable:
        """The distance of the target from the root."""
        return distance(self.target)


def lay_aim(mechanism: Mechanism, shape: Shape, uses: Uses) -> AimHelpers:
    """Ask for the bones."""
    rest = aimed(shape.joints[0], shape.along, shape.side)
    aim = mechanism.bone("aim", rest, shape.root_parent, 2.0)
    staged = uses.softens or uses.stretches or uses.hinge is not None
    return AimHelpers(
        aim=aim,
        target=mechanism.bone("target", rest, aim),
        reach=mechanism.bone("reach", rest, aim, 0.8) if staged else "",
        swivel=mechanism.bone("swivel", rest, aim, 1.8) if uses.swivels else "",
        stretch=mechanism.bone("stretch", rest, aim, 0.6) if uses.stretches else "",
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
    if uses.softens:
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
