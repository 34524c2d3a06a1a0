"""A foot that follows the target, and rolls."""

from dataclasses import dataclass

from mathutils import Matrix, Quaternion, Vector

from .mechanism import Mechanism
from .properties import variable
from .shape import Shape, placed, unscaled
from .uses import Uses


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
    if not uses.rolls:
        return FootHelpers(control, "", "", "", mechanism.bone("foot", stands, control, 0.8, own.foot), "", "")
    # As the foot is sized, which a helper is not.
    sized = Matrix.LocRotScale(ankle, held, own.size)
    rolling = _with_x(held @ own.axis)
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


def _with_x(axis: Vector) -> Quaternion:
    """A rotation whose X axis this is."""
    return Vector((1.0, 0.0, 0.0)).rotation_difference(axis)
