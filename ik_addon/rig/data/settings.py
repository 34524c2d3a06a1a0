"""A chain's settings, kept on its tip: the last bone of the chain.

`settings_of` is the only door to them. They are flat properties of the pose bone, so that each can be keyed,
driven and overridden, and follows a bone that is renamed or duplicated.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, pi

import bpy

from ..blender.armatures import tag_pose
from . import kept, relation

PREFIX = "analytic_ik_"
_OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}
_SOFTEST = 0.5
RANGES = {"influence": (0.0, 1.0), "softness": (0.0, _SOFTEST), "stretch_max": (1.0, inf), "toe_angle": (0.0, pi)}
"""Of settings that are numbers, where not all are allowed."""
_OF_ANY_BONE = ("rigid", "use_cone", "cone", "use_min_bend", "min_bend")
"""Settings of a bone's joint: no part of the chain whose tip the bone may be."""
NAME_RECORD = PREFIX + "record_name"
"""The record of a bone's own name, by which it is found again (renamed.py)."""


SOLVER_ITEMS = (
    ("AUTO", "Automatic", "Vector for two bones, Triangulation for other numbers"),
    ("VECTOR", "Vector", "Two bones: the knee as a sum of vectors"),
    ("LAW_OF_COSINES", "Law of Cosines", "Two bones: the angle at the root"),
    ("CIRCLE", "Circle", "Two bones: where two circles cross in the bend plane"),
    ("SPHERE", "Sphere", "Two bones: the circle where two spheres meet"),
    ("TRIANGULATION", "Triangulation", "Any number of bones, exact in one pass"),
    ("CCD", "CCD", "Any number of bones, iterative, as a reference"),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What `settings_of` reads: the properties below without their prefix; angles in radians."""

    enabled: bool
    target: bpy.types.Object | None
    subtarget: str
    pole_target: bpy.types.Object | None
    pole_subtarget: str
    end_bone: str
    chain_count: int
    solver: str
    influence: float
    swivel: float
    flip: bool
    softness: float
    reach: str
    stretch_max: float
    least_motion: bool
    use_rotation: bool
    foot_roll: float
    toe_angle: float


def settings_of(pose_bone: bpy.types.PoseBone) -> Settings:
    """The settings of the chain that ends in `pose_bone`; of an evaluated bone: as animated and driven.

    They are within their ranges and of the choices that there are, whatever a file holds. What is no number stays so.
    """
    return Settings(
        pose_bone.analytic_ik_enabled,
        pose_bone.analytic_ik_target,
        pose_bone.analytic_ik_subtarget,
        pose_bone.analytic_ik_pole_target,
        pose_bone.analytic_ik_pole_subtarget,
        pose_bone.analytic_ik_end_bone,
        pose_bone.analytic_ik_chain_count,
        pose_bone.analytic_ik_solver or "AUTO",
        _within(pose_bone.analytic_ik_influence, "influence"),
        pose_bone.analytic_ik_swivel,
        pose_bone.analytic_ik_flip,
        _within(pose_bone.analytic_ik_softness, "softness"),
        pose_bone.analytic_ik_reach or "CLAMP",
        _within(pose_bone.analytic_ik_stretch_max, "stretch_max"),
        pose_bone.analytic_ik_least_motion,
        pose_bone.analytic_ik_use_rotation,
        pose_bone.analytic_ik_foot_roll,
        _within(pose_bone.analytic_ik_toe_angle, "toe_angle"),
    )


def _within(value: float, name: str) -> float:
    """A number in its range. Blender sees to it where a user sets it or a key does, and not where a script has."""
    lowest, highest = RANGES[name]
    return min(max(value, lowest), highest)


Update = Callable[[bpy.types.PoseBone, bpy.types.Context], None]
"""What Blender calls when a user or a script sets a property."""


def _tag(pose_bone: bpy.types.PoseBone, _context: bpy.types.Context) -> None:
    """Setting an add-on's property tags nothing by itself: the armature asks to be evaluated and so solved."""
    tag_pose(pose_bone.id_data)


def _switched(pose_bone: bpy.types.PoseBone, context: bpy.types.Context) -> None:
    """A user or a script has switched a chain on or off."""
    if not pose_bone.analytic_ik_enabled:
        relation.untie(pose_bone)
    _tag(pose_bone, context)


def _setting(kind, update: Update = _tag, **options):
    return kind(override=_OVERRIDABLE, update=update, **options)


def _record(kind, **options):
    """Data that the add-on keeps on a bone; no user edits it, and setting it must tag nothing."""
    return kind(override=_OVERRIDABLE, options={"HIDDEN"}, **options)


def _properties(rotation_switched: Update = _tag) -> dict[str, object]:
    props = bpy.props
    return {
        "enabled": _setting(
            props.BoolProperty,
            _switched,
            name="Analytic IK",
            description="Enable this IK chain",
        ),
        "target": _setting(
            props.PointerProperty,
            kept.controls_set,
            type=bpy.types.Object,
            name="Target",
            description="Object that the chain reaches for",
        ),
        "subtarget": _setting(
            props.StringProperty,
            kept.controls_set,
            name="Target Bone",
            description="Bone of the target armature to reach for",
        ),
        "pole_target": _setting(
            props.PointerProperty,
            kept.controls_set,
            type=bpy.types.Object,
            name="Pole Target",
            description="Object that the chain bends toward. Without one it bends as in its FK pose",
        ),
        "pole_subtarget": _setting(
            props.StringProperty,
            kept.controls_set,
            name="Pole Bone",
            description="Bone of the pole target's armature to bend toward",
        ),
        "chain_count": _setting(
            props.IntProperty,
            name="Chain Length",
            description="Number of bones in the chain, counted from the tip bone. 0 uses all parents",
            default=2,
            min=0,
        ),
        "end_bone": _setting(
            props.StringProperty,
            kept.controls_set,
            name="End Bone",
            description="Foot or hand where the chain ends. If empty, the chain ends at the tip bone's tail",
        ),
        "solver": _setting(
            props.EnumProperty,
            name="Solver",
            description="Method that solves the chain",
            default="AUTO",
            items=SOLVER_ITEMS,
        ),
        "influence": _setting(
            props.FloatProperty,
            name="Influence",
            description="Blend between the FK pose (0) and IK (1)",
            default=1.0,
            min=0.0,
            max=1.0,
            subtype="FACTOR",
        ),
        "swivel": _setting(
            props.FloatProperty,
            name="Swivel",
            description="Rotate the bend around the line from root to target",
            default=0.0,
            soft_min=-pi,
            soft_max=pi,
            subtype="ANGLE",
        ),
        "flip": _setting(
            props.BoolProperty,
            name="Flip Bend",
            description="Bend to the other side",
        ),
        "straight_axis": _setting(
            props.EnumProperty,
            name="Bend Axis",
            description="Axis to bend around if the limb is straight",
            default="AUTO",
            items=[
                ("AUTO", "Automatic", "The only unlocked IK axis, the rest pose's bend, or X", 0),
                ("X", "X", "Around the X axis", 1),
                ("NEGATIVE_X", "-X", "Around the X axis, to the other side", 2),
                ("Z", "Z", "Around the Z axis", 3),
                ("NEGATIVE_Z", "-Z", "Around the Z axis, to the other side", 4),
            ],
        ),
        "softness": _setting(
            props.FloatProperty,
            name="Softness",
            description="Ease into full extension, as a fraction of the reach",
            default=0.0,
            min=0.0,
            max=_SOFTEST,
            subtype="FACTOR",
        ),
        "reach": _setting(
            props.EnumProperty,
            name="Out of Reach",
            description="What to do if the target is out of reach",
            default="CLAMP",
            # With the numbers under which files keep them, which the order here does not tell.
            items=[
                ("CLAMP", "Clamp", "Take the closest pose", 0),
                ("STRETCH", "Stretch", "Lengthen the bones", 2),
                ("HOLD", "Use FK", "Keep the FK pose", 1),
            ],
        ),
        "stretch_max": _setting(
            props.FloatProperty,
            name="Max Stretch",
            description="Largest length, as a multiple of the chain's own. Foot and hand keep their size",
            default=1.5,
            min=1.0,
            soft_max=3.0,
        ),
        "least_motion": _setting(
            props.BoolProperty,
            name="Preserve FK Shape",
            description="Keep the shape of the FK pose. Off: few joints do all the bending",
        ),
        "use_rotation": _setting(
            props.BoolProperty,
            rotation_switched,
            name="Follow Rotation",
            description="Foot or hand keeps its current orientation relative to the target",
        ),
        "foot_roll": _setting(
            props.FloatProperty,
            name="Foot Roll",
            description="Roll the foot over ball and toe. Below 0 it rolls over the heel",
            default=0.0,
            soft_min=-pi / 2.0,
            soft_max=pi / 2.0,
            subtype="ANGLE",
        ),
        "toe_angle": _setting(
            props.FloatProperty,
            name="Roll Break Angle",
            description="Foot Roll at which the toe leaves the ground",
            default=pi / 4.0,
            min=0.0,
            max=pi,
            subtype="ANGLE",
        ),
        # Of any bone of a chain, beside Blender's own IK locks and limits.
        "rigid": _setting(
            props.BoolProperty,
            name="Rigid",
            description="Make one link with the parent bone, for twist bones",
        ),
        "use_cone": _setting(
            props.BoolProperty,
            name="Max Bend",
            description="Limit the angle between this bone and its parent",
        ),
        "cone": _setting(
            props.FloatProperty,
            name="Max Bend",
            description="Largest angle between this bone and its parent",
            default=pi,
            min=0.0,
            max=pi,
            subtype="ANGLE",
        ),
        "use_min_bend": _setting(
            props.BoolProperty,
            name="Min Bend",
            description="Keep this hinge from straightening or bending backward",
        ),
        "min_bend": _setting(
            props.FloatProperty,
            name="Min Bend",
            description="Smallest angle between this bone and its parent",
            default=0.0,
            min=0.0,
            max=pi,
            subtype="ANGLE",
        ),
        # The end bone's orientation against the target's, where it follows it (foot.py); zero: none was kept.
        "record_rotation": _record(props.FloatVectorProperty, size=4),
        # The Blender IK constraint that a chain was made of, and the FK pose before that, as JSON (adopt.py).
        "record_adopted": _record(props.StringProperty),
        # Under which name a tip or a control bone was last seen, and in which armature object (renamed.py).
        "record_name": _record(props.StringProperty),
    }


def clear_settings(pose_bone: bpy.types.PoseBone) -> None:
    """Take a chain off its tip: all its settings go back to their defaults; the pose is left alone."""
    for control, bone in (
        (pose_bone.analytic_ik_target, pose_bone.analytic_ik_subtarget),
        (pose_bone.analytic_ik_pole_target, pose_bone.analytic_ik_pole_subtarget),
        (pose_bone.id_data, pose_bone.analytic_ik_end_bone),
    ):
        # Other chains that follow it keep its name anew.
        if control is not None and control.pose and bone in control.pose.bones:
            control.pose.bones[bone].property_unset(NAME_RECORD)
    for name in _properties():
        if name not in _OF_ANY_BONE:
            pose_bone.property_unset(PREFIX + name)
    kept.forget_controls(pose_bone.id_data, pose_bone.name)
    relation.untie(pose_bone)
    relation.forget_trigger(pose_bone.id_data)
    tag_pose(pose_bone.id_data)


def register(rotation_switched: Update = _tag) -> None:
    """Give pose bones their settings. rotation_switched: called when a user or a script sets `use_rotation`."""
    kept.register()
    relation.register()
    for name, definition in _properties(rotation_switched).items():
        setattr(bpy.types.PoseBone, PREFIX + name, definition)


def unregister() -> None:
    """Take them away; what files hold of them stays in the files."""
    for name in _properties():
        delattr(bpy.types.PoseBone, PREFIX + name)
    relation.unregister()
    kept.unregister()
