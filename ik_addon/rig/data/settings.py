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
    ("AUTO", "Automatic", "Vector for two bones, Triangulation for any other number"),
    ("VECTOR", "Vector", "Two bones: the knee as a sum of vectors"),
    ("LAW_OF_COSINES", "Law of Cosines", "Two bones: the angle at the root"),
    ("CIRCLE", "Circle", "Two bones: where two circles cross in the bend plane"),
    ("SPHERE", "Sphere", "Two bones: the circle in which two spheres meet"),
    ("TRIANGULATION", "Triangulation", "Any number of bones, exact in one pass"),
    ("CCD", "CCD", "Any number of bones, iterative: the reference to compare with"),
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
            description="This bone is the tip of a live chain",
        ),
        "target": _setting(
            props.PointerProperty,
            kept.controls_set,
            type=bpy.types.Object,
            name="Target",
            description="Object that the end of the chain reaches for",
        ),
        "subtarget": _setting(
            props.StringProperty,
            kept.controls_set,
            name="Target Bone",
            description="Bone of the target armature whose head is reached for",
        ),
        "pole_target": _setting(
            props.PointerProperty,
            kept.controls_set,
            type=bpy.types.Object,
            name="Pole",
            description="Object towards which the chain bends. Without one it bends as it does in its FK pose",
        ),
        "pole_subtarget": _setting(
            props.StringProperty,
            kept.controls_set,
            name="Pole Bone",
            description="Bone of the pole armature towards whose head the chain bends",
        ),
        "chain_count": _setting(
            props.IntProperty,
            name="Bones",
            description="Bones in the chain, counted from this one towards the root; 0: up to the root",
            default=2,
            min=0,
        ),
        "end_bone": _setting(
            props.StringProperty,
            kept.controls_set,
            name="End Bone",
            description="Bone at whose head the chain ends, such as a foot or a hand. Empty: the tail of this bone",
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
            description="0: the FK pose, 1: the solution, between: the shortest blend of rotations",
            default=1.0,
            min=0.0,
            max=1.0,
            subtype="FACTOR",
        ),
        "swivel": _setting(
            props.FloatProperty,
            name="Swivel",
            description="Turns the bend about the line from the root to the target, after the pole",
            default=0.0,
            soft_min=-pi,
            soft_max=pi,
            subtype="ANGLE",
        ),
        "flip": _setting(
            props.BoolProperty,
            name="Flip",
            description="Bend to the other side",
        ),
        "straight_axis": _setting(
            props.EnumProperty,
            name="Straight Bend",
            description="About which axis of its first inner joint's bone, a leg's knee, the chain bends where its FK "
            "pose is straight and does not tell",
            default="AUTO",
            items=[
                ("AUTO", "Automatic", "The one unlocked IK axis, else the bend of the rest pose, else the X axis", 0),
                ("X", "X", "About the X axis", 1),
                ("NEGATIVE_X", "-X", "About the X axis, to the other side", 2),
                ("Z", "Z", "About the Z axis", 3),
                ("NEGATIVE_Z", "-Z", "About the Z axis, to the other side", 4),
            ],
        ),
        "softness": _setting(
            props.FloatProperty,
            name="Softness",
            description="Part of the chain's length over which it eases into full extension",
            default=0.0,
            min=0.0,
            max=_SOFTEST,
            subtype="FACTOR",
        ),
        "reach": _setting(
            props.EnumProperty,
            name="Out of Reach",
            description="What the chain does when it cannot reach its target",
            default="CLAMP",
            # With the numbers under which files keep them, which the order here does not tell.
            items=[
                ("CLAMP", "Clamp", "Take the pose that comes nearest", 0),
                ("STRETCH", "Stretch", "Lengthen the bones", 2),
                ("HOLD", "Hold", "Keep the FK pose", 1),
            ],
        ),
        "stretch_max": _setting(
            props.FloatProperty,
            name="Stretch Max",
            description="How long the chain may become, as a multiple of its own length. The bones on its end, such as "
            "a foot or a hand, keep their size",
            default=1.5,
            min=1.0,
            soft_max=3.0,
        ),
        "least_motion": _setting(
            props.BoolProperty,
            name="Least Motion",
            description="Chains over two bones move as little as possible from their FK pose, "
            "instead of staying straight",
        ),
        "use_rotation": _setting(
            props.BoolProperty,
            rotation_switched,
            name="Foot Follows Target",
            description="The bone on the end of the chain, such as a foot, keeps the orientation that it has to the "
            "target when this is switched on",
        ),
        "foot_roll": _setting(
            props.FloatProperty,
            name="Foot Roll",
            description="Rolls a foot that follows its target: above 0 the heel is lifted, first over the ball, then "
            "over the tip of the toe; below 0 the foot tips back over the heel",
            default=0.0,
            soft_min=-pi / 2.0,
            soft_max=pi / 2.0,
            subtype="ANGLE",
        ),
        "toe_angle": _setting(
            props.FloatProperty,
            name="Toe Angle",
            description="Foot roll up to which the foot rolls over its ball; beyond, it rolls over the tip of the toe",
            default=pi / 4.0,
            min=0.0,
            max=pi,
            subtype="ANGLE",
        ),
        # Of any bone of a chain, beside Blender's own IK locks and limits.
        "rigid": _setting(
            props.BoolProperty,
            name="Rigid",
            description="Keep the FK rotation of this bone in a chain, as one link with the bone before it. For bones "
            "that are split for twist",
        ),
        "use_cone": _setting(
            props.BoolProperty,
            name="Limit Bend",
            description="Keep this bone within a cone about its parent's direction when a chain is solved",
        ),
        "cone": _setting(
            props.FloatProperty,
            name="Largest Bend",
            description="The largest angle between this bone's direction and its parent's; 0: straight on",
            default=pi,
            min=0.0,
            max=pi,
            subtype="ANGLE",
        ),
        "use_min_bend": _setting(
            props.BoolProperty,
            name="Keep Bent",
            description="Never straighten this hinge beyond its least bend, nor bend it to the other side",
        ),
        "min_bend": _setting(
            props.FloatProperty,
            name="Least Bend",
            description="The smallest angle between this bone's direction and its parent's; 0: it may become straight",
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
