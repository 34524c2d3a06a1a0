"""What an Empty keeps that shows a step of a planted foot."""

import bpy

_KEPT = "analytic_ik_footprint"


class Footprint(bpy.types.PropertyGroup):
    """What an Empty keeps of the stance that it shows.

    armature, tip: of the leg. first, last: frames of the scene. base: where the stance was planned, in the world.
    """

    armature: bpy.props.PointerProperty(type=bpy.types.Object)
    tip: bpy.props.StringProperty()
    first: bpy.props.IntProperty()
    last: bpy.props.IntProperty()
    base: bpy.props.FloatVectorProperty(size=16, subtype="MATRIX")


def footprint_of(ob: bpy.types.Object) -> Footprint | None:
    """What an object keeps of a stance; None if it shows none."""
    # Where nothing is kept, asking for it would add it.
    return getattr(ob, _KEPT) if ob.type == "EMPTY" and ob.is_property_set(_KEPT) else None


def new_footprint(ob: bpy.types.Object) -> Footprint:
    """Let an Empty keep a stance."""
    return getattr(ob, _KEPT)


def register() -> None:
    """Let Empties keep what stance they show."""
    bpy.utils.register_class(Footprint)
    setattr(bpy.types.Object, _KEPT, bpy.props.PointerProperty(name="Footprint", type=Footprint))


def unregister() -> None:
    """Take that away."""
    delattr(bpy.types.Object, _KEPT)
    bpy.utils.unregister_class(Footprint)
