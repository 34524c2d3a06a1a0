"""What actions and Empties keep of feet and hands: footprints, and limbs that are locked to objects."""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
from mathutils import Matrix

_FOOTPRINT = "analytic_ik_footprint"


class Footprint(bpy.types.PropertyGroup):
    """What an Empty keeps of the stance that it shows.

    armature, tip: of the leg. action: in which it was planted; None in files from before. first, last: frames of the
    scene. base: where the stance was planned, in the world.
    shown: where the Empty was when the foot's keys were last brought there; zeros: nothing tells.
    """

    armature: bpy.props.PointerProperty(type=bpy.types.Object)
    action: bpy.props.PointerProperty(type=bpy.types.Action)
    tip: bpy.props.StringProperty()
    first: bpy.props.IntProperty()
    last: bpy.props.IntProperty()
    base: bpy.props.FloatVectorProperty(size=16, subtype="MATRIX")
    shown: bpy.props.FloatVectorProperty(size=16, subtype="MATRIX")


def footprint_of(ob: bpy.types.Object) -> Footprint | None:
    """What an object keeps of a stance; None if it shows none."""
    # Where nothing is kept, asking for it would add it.
    return getattr(ob, _FOOTPRINT) if ob.type == "EMPTY" and ob.is_property_set(_FOOTPRINT) else None


def new_footprint(ob: bpy.types.Object) -> Footprint:
    """Let an Empty keep a stance."""
    return getattr(ob, _FOOTPRINT)


HOLDER = "analytic_ik_holder"
"""A custom property of the Empties that show grips: a name is anybody's."""


def is_live_lock(constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint lets a control follow the Empty that shows a grip."""
    return constraint.type == "COPY_TRANSFORMS" and constraint.target is not None and HOLDER in constraint.target


_KEPT = "analytic_ik_holds"
BLEND = 0.25
"""Seconds over which a lock eases in and out, where nothing else is said."""


@dataclass(frozen=True, slots=True)
class HoldRecord:
    """How one limb is held over some frames of its action.

    tip: name of its tip bone. ob, bone: what it is held to, an object (None: it is gone) or with a name that bone of
    it. first, last: frames of the scene. grip: pose of hand or foot in that space. blend: seconds to ease in and out.
    """

    tip: str
    ob: bpy.types.Object | None
    bone: str
    first: int
    last: int
    grip: Matrix
    blend: float


class KeptHold(bpy.types.PropertyGroup):
    """The same as a file keeps it."""

    tip: bpy.props.StringProperty()
    ob: bpy.props.PointerProperty(type=bpy.types.Object)
    bone: bpy.props.StringProperty()
    first: bpy.props.IntProperty()
    last: bpy.props.IntProperty()
    grip: bpy.props.FloatVectorProperty(size=16, subtype="MATRIX")
    blend: bpy.props.FloatProperty()


def holds_of(ob: bpy.types.Object) -> list[HoldRecord]:
    """The holds that the current action of an armature object keeps, by tip and frame."""
    action = ob.animation_data.action if ob.animation_data else None
    if action is None or not action.is_property_set(_KEPT):
        return []
    kept = getattr(action, _KEPT)
    found = [
        HoldRecord(each.tip, each.ob, each.bone, each.first, each.last, Matrix(each.grip), each.blend) for each in kept
    ]
    return sorted(found, key=lambda hold: (hold.tip, hold.first))


def keep_holds(ob: bpy.types.Object, holds: Sequence[HoldRecord]) -> None:
    """Let the current action of an armature object keep these holds, and no others."""
    kept = getattr(ob.animation_data.action, _KEPT)
    kept.clear()
    for hold in holds:
        each = kept.add()
        each.tip, each.ob, each.bone = hold.tip, hold.ob, hold.bone
        each.first, each.last, each.blend = hold.first, hold.last, hold.blend
        each.grip = [number for column in hold.grip.col for number in column]


def register() -> None:
    """Let Empties keep what stance they show, and actions their holds."""
    bpy.utils.register_class(Footprint)
    setattr(bpy.types.Object, _FOOTPRINT, bpy.props.PointerProperty(name="Footprint", type=Footprint))
    bpy.utils.register_class(KeptHold)
    setattr(bpy.types.Action, _KEPT, bpy.props.CollectionProperty(type=KeptHold))


def unregister() -> None:
    """Take that away."""
    delattr(bpy.types.Action, _KEPT)
    bpy.utils.unregister_class(KeptHold)
    delattr(bpy.types.Object, _FOOTPRINT)
    bpy.utils.unregister_class(Footprint)
