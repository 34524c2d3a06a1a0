"""A chain's settings, kept on its tip: the last bone of the chain; and the switch, where it is animated."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from math import inf, isfinite, pi
from operator import attrgetter

import bpy

from ... import messages
from ...solvers import SOLVERS, ChainError
from ..blender.animation import FOLLOWING, bones_with_animated, current_fcurve_collections, fcurve_collections
from ..blender.armatures import tag_pose
from . import control_links, relation

PREFIX = "analytic_ik_"
_OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}
_SOFTEST = 0.5
_SOFTEST_BODY = 0.2
RANGES = {"influence": (0.0, 1.0), "softness": (0.0, _SOFTEST), "stretch_max": (1.0, inf), "toe_angle": (0.0, pi)}
"""Of settings that are numbers, where not all are allowed."""
BODY_RANGES = {"body_influence": (0.0, 1.0), "body_softness": (0.0, _SOFTEST_BODY)}
"""Likewise of a bone that follows its limbs."""
UNREAD = {"enabled", "contact"}
"""Settings that change nothing of how a chain is solved: while it is off it is not."""
_OF_ANY_BONE = (
    *("rigid", "use_cone", "cone", "use_min_bend", "min_bend"),
    *("body_influence", "body_direction", "body_softness"),
    *("record_helps", "record_removed"),
)
"""Settings of a bone's joint, or of what it carries: no part of the chain whose tip the bone may be."""
NAME_RECORD = PREFIX + "record_name"
"""The record of a bone's own name, by which it is found again (renamed.py)."""

NATIVE_RECORD = PREFIX + "record_native"
"""What a tip keeps of its chain while Blender's own constraints stand for it (native/records.py)."""


SOLVER_ITEMS = (
    ("AUTO", "Automatic", "Vector for two bones, Triangulation for other numbers"),
    *((name, solver.label, solver.description) for name, solver in SOLVERS.items()),
)

CONTACT_ITEMS = (
    ("NONE", "None", "In the air", 0),
    ("HEEL", "Heel", "The heel stands", 1),
    ("BALL", "Ball", "The ball stands", 2),
    ("FLAT", "Flat", "Heel and ball stand", 3),
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


@dataclass(frozen=True, slots=True)
class BodySettings:
    """How a bone moves so that the chains which it carries reach: its properties without their prefix."""

    influence: float
    direction: str
    softness: float


_READ = attrgetter(*(PREFIX + each.name for each in fields(Settings)))


def settings_of(pose_bone: bpy.types.PoseBone) -> Settings:
    """The settings of the chain that ends in `pose_bone`; of an evaluated bone: as animated and driven.

    They are within their ranges and of the choices that there are, whatever a file holds. What is no number stays so.
    """
    settings = Settings(*_READ(pose_bone))
    # Blender sees to it where a user sets it or a key does, and not where a script has.
    wrong: dict[str, object] = {
        name: min(max(getattr(settings, name), lowest), highest)
        for name, (lowest, highest) in RANGES.items()
        if not lowest <= getattr(settings, name) <= highest
    }
    if not (settings.solver and settings.reach):
        wrong |= {"solver": settings.solver or "AUTO", "reach": settings.reach or "CLAMP"}
    return replace(settings, **wrong) if wrong else settings


def body_settings_of(pose_bone: bpy.types.PoseBone) -> BodySettings:
    """How `pose_bone` follows the chains that it carries; of an evaluated bone: as animated and driven.

    Within their ranges, whatever a file holds; what is no number is 0.
    """
    influence, softness = (
        min(max(value, lowest), highest) if isfinite(value := getattr(pose_bone, PREFIX + name)) else 0.0
        for name, (lowest, highest) in BODY_RANGES.items()
    )
    return BodySettings(influence, pose_bone.analytic_ik_body_direction or "DOWN", softness)


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


def _setting(kind, name: str, description: str, update: Update = _tag, **options):
    return kind(name=name, description=description, override=_OVERRIDABLE, update=update, **options)


_flag, _choice, _number = (
    partial(_setting, kind) for kind in (bpy.props.BoolProperty, bpy.props.EnumProperty, bpy.props.FloatProperty)
)
_factor, _angle = (partial(_number, subtype=subtype) for subtype in ("FACTOR", "ANGLE"))
_control = partial(_setting, bpy.props.PointerProperty, type=bpy.types.Object, update=control_links.controls_set)
_bone = partial(_setting, bpy.props.StringProperty, update=control_links.controls_set)


def _record(kind, **options):
    """Data that the add-on keeps on a bone; no user edits it, and setting it must tag nothing."""
    return kind(override=_OVERRIDABLE, options={"HIDDEN"}, **options)


def _properties(rotation_switched: Update = _tag) -> dict[str, object]:
    """The properties of a pose bone by their names, without the prefix."""
    return {
        "enabled": _flag("Analytic IK", "Enable this IK chain", _switched),
        "target": _control("Target", "Object that the chain reaches for"),
        "subtarget": _bone("Target Bone", "Bone of the target armature to reach for"),
        "pole_target": _control(
            "Pole Target", "Object that the chain bends toward. Without one it bends as in its FK pose"
        ),
        "pole_subtarget": _bone("Pole Bone", "Bone of the pole target's armature to bend toward"),
        "chain_count": _setting(
            bpy.props.IntProperty,
            "Chain Length",
            "Number of bones in the chain, counted from the tip bone. 0 uses all parents",
            default=2,
            min=0,
        ),
        "end_bone": _bone(
            "End Bone", "Foot or hand where the chain ends. If empty, the chain ends at the tip bone's tail"
        ),
        "solver": _choice("Solver", "Method that solves the chain", default="AUTO", items=SOLVER_ITEMS),
        "influence": _factor("Influence", "Blend between the FK pose (0) and IK (1)", default=1.0, min=0.0, max=1.0),
        "swivel": _angle("Swivel", "Rotate the bend around the line from root to target", soft_min=-pi, soft_max=pi),
        "flip": _flag("Flip Bend", "Bend to the other side"),
        "straight_axis": _choice(
            "Bend Axis",
            "Axis to bend around if the limb is straight",
            default="AUTO",
            items=[
                ("AUTO", "Automatic", "The only unlocked IK axis, the rest pose's bend, or X"),
                ("X", "X", "Around the X axis"),
                ("NEGATIVE_X", "-X", "Around the X axis, to the other side"),
                ("Z", "Z", "Around the Z axis"),
                ("NEGATIVE_Z", "-Z", "Around the Z axis, to the other side"),
            ],
        ),
        "softness": _factor("Softness", "Ease into full extension, as a fraction of the reach", min=0.0, max=_SOFTEST),
        "reach": _choice(
            "Out of Reach",
            "What to do if the target is out of reach",
            default="CLAMP",
            # With the numbers under which files keep them, which the order here does not tell.
            items=[
                ("CLAMP", "Clamp", "Take the closest pose", 0),
                ("STRETCH", "Stretch", "Lengthen the bones", 2),
                ("HOLD", "Use FK", "Keep the FK pose", 1),
            ],
        ),
        "stretch_max": _number(
            "Max Stretch",
            "Largest length, as a multiple of the chain's own. Foot and hand keep their size",
            default=1.5,
            min=1.0,
            soft_max=3.0,
        ),
        "least_motion": _flag("Preserve FK Shape", "Keep the shape of the FK pose. Off: few joints do all the bending"),
        "use_rotation": _flag(
            "Follow Rotation", "Foot or hand keeps its current orientation relative to the target", rotation_switched
        ),
        "foot_roll": _angle(
            "Foot Roll",
            "Roll the foot over ball and toe. Below 0 it rolls over the heel",
            soft_min=-pi / 2.0,
            soft_max=pi / 2.0,
        ),
        "toe_angle": _angle(
            "Roll Break Angle", "Foot Roll at which the toe leaves the ground", default=pi / 4.0, min=0.0, max=pi
        ),
        # Of any bone of a chain, beside Blender's own IK locks and limits.
        "rigid": _flag("Rigid", "Make one link with the parent bone, for twist bones"),
        "use_cone": _flag("Max Bend", "Limit the angle between this bone and its parent"),
        "cone": _angle("Max Bend", "Largest angle between this bone and its parent", default=pi, min=0.0, max=pi),
        "use_min_bend": _flag("Min Bend", "Keep this hinge from straightening or bending backward"),
        "min_bend": _angle("Min Bend", "Smallest angle between this bone and its parent", min=0.0, max=pi),
        # What of a foot stands, or whether a hand holds something: keyed and read by what plants and locks them.
        "contact": _choice("Contact", "Part of the foot or hand in contact. Plant Feet keys it", items=CONTACT_ITEMS),
        # Of a bone that carries the roots of several chains.
        "body_influence": _factor(
            "Body Follows",
            "Move this bone so that the limbs it carries reach. At 0 it stays where it is posed",
            min=0.0,
            max=1.0,
        ),
        "body_direction": _choice(
            "Direction",
            "Where the body moves",
            default="DOWN",
            items=[
                ("DOWN", "Down", "Straight down or up, and sideways as the limbs lean", 0),
                ("NEAREST", "Nearest", "The shortest way", 1),
            ],
        ),
        "body_softness": _factor(
            "Softness",
            "Begin before a limb is straight, as a fraction of its length",
            default=0.02,
            min=0.0,
            max=_SOFTEST_BODY,
        ),
        # The end bone's orientation against the target's, where it follows it (foot.py); zero: none was control_links.
        "record_rotation": _record(bpy.props.FloatVectorProperty, size=4),
        # The Blender IK constraint that a chain was made of, and the FK pose before that, as JSON (adopt.py).
        "record_adopted": _record(bpy.props.StringProperty),
        # What a native chain keeps on its tip, of which chain a bone is a helper, and constraints taken off meanwhile,
        # as JSON (native/records.py).
        "record_native": _record(bpy.props.StringProperty),
        "record_helps": _record(bpy.props.StringProperty),
        "record_removed": _record(bpy.props.StringProperty),
        # Under which name a tip or a control bone was last seen, and in which armature object (renamed.py).
        "record_name": _record(bpy.props.StringProperty),
    }


def is_native(tip: bpy.types.PoseBone) -> bool:
    """Whether Blender's own constraints stand for the chain of a bone; its settings are kept, and it is off."""
    return bool(tip.analytic_ik_record_native)


def native_tips(ob: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """The tips of an armature object's native chains."""
    return [bone for bone in ob.pose.bones if is_native(bone)]


def named_bones(tip: bpy.types.PoseBone) -> list[tuple[bpy.types.Object, str]]:
    """The bones that a chain's settings name, with the armature objects that have them, or should."""
    named = (
        (tip.analytic_ik_target, tip.analytic_ik_subtarget),
        (tip.analytic_ik_pole_target, tip.analytic_ik_pole_subtarget),
        (tip.id_data, tip.analytic_ik_end_bone),
    )
    return [(ob, bone) for ob, bone in named if bone and ob is not None and ob.pose]


def clear_settings(pose_bone: bpy.types.PoseBone) -> None:
    """Take a chain off its tip: all its settings go back to their defaults; the pose is left alone."""
    for ob, bone in named_bones(pose_bone):
        # Other chains that follow it keep its name anew.
        if bone in ob.pose.bones:
            ob.pose.bones[bone].property_unset(NAME_RECORD)
    for name in _properties():
        if name not in _OF_ANY_BONE:
            pose_bone.property_unset(PREFIX + name)
    control_links.forget_controls(pose_bone.id_data, pose_bone.name)
    relation.untie(pose_bone)
    relation.forget_trigger(pose_bone.id_data)
    tag_pose(pose_bone.id_data)


def register(rotation_switched: Update = _tag) -> None:
    """Give pose bones their settings. rotation_switched: called when a user or a script sets `use_rotation`."""
    control_links.register()
    relation.register()
    for name, definition in _properties(rotation_switched).items():
        setattr(bpy.types.PoseBone, PREFIX + name, definition)


def unregister() -> None:
    """Take them away; what files hold of them stays in the files."""
    for name in _properties():
        delattr(bpy.types.PoseBone, PREFIX + name)
    relation.unregister()
    control_links.unregister()


_SWITCH = "analytic_ik_enabled"


def switched_tips(ob: bpy.types.Object) -> list[str]:
    """Names of the bones of an armature object whose chains animation switches on and off."""
    return bones_with_animated(ob, _SWITCH)


def check_switchable(ob: bpy.types.Object, pose_bone: bpy.types.PoseBone) -> None:
    """Raise ChainError where something would switch the chain of a tip on again that cannot be muted here.

    The driver of an adopted chain was made for it, and is muted.
    """
    data, path = ob.animation_data, _switch_path(pose_bone)
    if data is None:
        return
    driver = data.drivers.find(path)
    if driver is not None and not driver.mute and not pose_bone.analytic_ik_record_adopted:
        raise ChainError(messages.SWITCH_DRIVEN(bone=pose_bone.name))
    strips = (strip for track in data.nla_tracks for strip in track.strips)
    for strip in strips:
        for collection in fcurve_collections(strip.action, getattr(strip, "action_slot", None)):
            if collection.find(path) is not None:
                raise ChainError(messages.SWITCH_IN_STRIP(bone=pose_bone.name, strip=strip.name))


def mute_switch(ob: bpy.types.Object, pose_bone: bpy.types.PoseBone) -> None:
    """Stop the current action, and a driver, from switching the chain of a tip."""
    _mute(ob, _switch_path(pose_bone))


def mute_following(ob: bpy.types.Object, pose_bone: bpy.types.PoseBone) -> None:
    """Stop the current action, and a driver, from saying how far a bone follows its limbs."""
    _mute(ob, f"{pose_bone.path_from_id()}.{FOLLOWING}")


def _mute(ob: bpy.types.Object, path: str) -> None:
    data = ob.animation_data
    for collection in [*current_fcurve_collections(data), data.drivers] if data else []:
        curve = collection.find(path)
        if curve is not None:
            curve.mute = True


def _switch_path(pose_bone: bpy.types.PoseBone) -> str:
    """The RNA path of the switch of a chain, from its armature object."""
    return f"{pose_bone.path_from_id()}.{_SWITCH}"
