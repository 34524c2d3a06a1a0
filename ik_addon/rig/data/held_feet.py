"""What Empties keep of feet and hands: footprints, and the grips of limbs that are locked to objects."""

import bpy

_FOOTPRINT = "analytic_ik_footprint"


class Footprint(bpy.types.PropertyGroup):
    """What an Empty keeps of the stance that it shows.

    armature, tip: of the leg. first, last: frames of the scene. base: where the stance was planned, in the world.
    shown: where the Empty was when the foot's keys were last brought there; zeros: nothing tells. planned: where it
    would be without the correction of its stance; zeros: there is none.
    """

    armature: bpy.props.PointerProperty(type=bpy.types.Object)
    tip: bpy.props.StringProperty()
    first: bpy.props.IntProperty()
    last: bpy.props.IntProperty()
    base: bpy.props.FloatVectorProperty(size=16, subtype="MATRIX")
    shown: bpy.props.FloatVectorProperty(size=16, subtype="MATRIX")
    planned: bpy.props.FloatVectorProperty(size=16, subtype="MATRIX")


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


BLEND = 0.25
"""Seconds over which a lock eases in and out, where nothing else is said."""


def register() -> None:
    """Let Empties keep what stance they show."""
    bpy.utils.register_class(Footprint)
    setattr(bpy.types.Object, _FOOTPRINT, bpy.props.PointerProperty(name="Footprint", type=Footprint))


def unregister() -> None:
    """Take that away."""
    delattr(bpy.types.Object, _FOOTPRINT)
    bpy.utils.unregister_class(Footprint)
