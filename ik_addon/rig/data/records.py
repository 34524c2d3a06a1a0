"""Texts that armature objects and actions keep: reports, their markers, how an action was planted or put in
place, and the keys that it had before there were fewer of them, or others.

The files that write and read them know what is in them. They are registered here, so that Blender's start reads none
of those.
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


def register() -> None:
    """Make Blender know them."""
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
