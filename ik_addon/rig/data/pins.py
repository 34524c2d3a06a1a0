"""What of a bone *Grab* holds, where the user says so. Automatic stores nothing: files stay as they are."""

import bpy

PIN = "analytic_ik_pin"


def pin_of(bone: bpy.types.PoseBone) -> str:
    """AUTO, FREE, LOCATION, ROTATION or BOTH."""
    return getattr(bone, PIN)


def set_pin(bone: bpy.types.PoseBone, kind: str) -> None:
    """Say what is held; AUTO leaves nothing behind."""
    if kind == "AUTO":
        bone.property_unset(PIN)
    else:
        setattr(bone, PIN, kind)


def register() -> None:
    """Give pose bones a place for it."""
    bpy.types.PoseBone.analytic_ik_pin = bpy.props.EnumProperty(
        name="Pin",
        description="What Grab holds of this bone",
        items=[
            ("AUTO", "Automatic", "Hold a foot on the ground, and nothing else", 0),
            ("FREE", "Free", "Hold nothing", 1),
            ("LOCATION", "Location", "Hold the place of its head", 2),
            ("ROTATION", "Rotation", "Hold its rotation", 3),
            ("BOTH", "Both", "Hold place and rotation", 4),
        ],
        default="AUTO",
        options=set(),
        override={"LIBRARY_OVERRIDABLE"},
    )


def unregister() -> None:
    """Take it away."""
    del bpy.types.PoseBone.analytic_ik_pin
