"""What files keep beside chains: footprints, and texts of armature objects and actions, such as reports, how an action
was planted or put in place, and the keys that it had before there were fewer of them, or others.

The files that write and read the texts know what is in them. They are registered here, so that Blender's start reads
none of those.
"""

import bpy
from bpy.props import StringProperty

_OF_OBJECT = {"analytic_ik_report": "Analytic IK Report", "analytic_ik_marks": "Analytic IK Markers"}
_OF_ACTION = (
    "analytic_ik_planted_with",
    "analytic_ik_travel_taken",
    "analytic_ik_few_keys",
    "analytic_ik_all_keys",
    "analytic_ik_corrections",
    "analytic_ik_uncorrected",
)


_FOOTPRINT = "analytic_ik_footprint"


class Footprint(bpy.types.PropertyGroup):
    """What an Empty keeps of the stance that it shows.

    armature, tip: of the leg. action: in which it was planted; None in files from before. first, last: frames of the
    scene. base: where the stance was planned, in the world.
    shown: where the Empty was when the foot's keys were last brought there; zeros: nothing tells. planned: where it
    would be without the correction of its stance; zeros: there is none.
    """

    armature: bpy.props.PointerProperty(type=bpy.types.Object)
    action: bpy.props.PointerProperty(type=bpy.types.Action)
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


def register() -> None:
    """Make Blender know them."""
    bpy.utils.register_class(Footprint)
    setattr(bpy.types.Object, _FOOTPRINT, bpy.props.PointerProperty(name="Footprint", type=Footprint))
    for name, label in _OF_OBJECT.items():
        definition = StringProperty(name=label, options={"HIDDEN"}, override={"LIBRARY_OVERRIDABLE"})
        setattr(bpy.types.Object, name, definition)
    for name in _OF_ACTION:
        setattr(bpy.types.Action, name, StringProperty())


def unregister() -> None:
    """Take them away; what files hold of them stays in the files."""
    for name in _OF_OBJECT:
        delattr(bpy.types.Object, name)
    for name in _OF_ACTION:
        delattr(bpy.types.Action, name)
    delattr(bpy.types.Object, _FOOTPRINT)
    bpy.utils.unregister_class(Footprint)
