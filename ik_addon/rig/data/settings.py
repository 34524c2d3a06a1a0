"""A chain's settings, kept on its tip: the last bone of the chain; and the switch, where it is animated."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from math import inf, isfinite, pi
from operator import attrgetter
from typing import Any, cast

import bpy

from ... import messages
from ...solvers import SOLVERS, ChainError
from ..blender.animation import bones_with_animated, current_fcurve_collections, fcurve_collections, is_animated
from ..blender.armatures import tag_pose
from . import relation

PREFIX = "analytic_ik_"
CONTACT = PREFIX + "contact"
"""The setting that no chain reads: it tells planting alone."""
NAME_RECORD = PREFIX + "record_name"
"""The record of a bone's own name, by which it is found again (ties.py)."""
NATIVE_RECORD = PREFIX + "record_native"
"""What a tip keeps of its chain while Blender's own constraints stand for it (native/records.py)."""

SOLVER_ITEMS = (
    ("AUTO", "Automatic", "Vector for two bones, Triangulation for other numbers"),
    *((name, solver.label, solver.description) for name, solver in SOLVERS.items()),
)
"""Of the solver of a chain, and of a chain to add."""

Update = Callable[[bpy.types.PoseBone, bpy.types.Context], None]
"""What Blender calls when a user or a script sets a property."""


def _tag(pose_bone: bpy.types.PoseBone, _context: bpy.types.Context) -> None:
    """Setting an add-on's property tags nothing by itself: the armature asks to be evaluated and so solved."""
    tag_pose(pose_bone.id_data)


def _switched(pose_bone: bpy.types.PoseBone, context: bpy.types.Context) -> None:
    if not pose_bone.analytic_ik_enabled:
        relation.untie(pose_bone)
    _tag(pose_bone, context)


@dataclass(frozen=True, slots=True)
class Setting:
    """A property of pose bones: one row of the table, of which everything comes that is known of it elsewhere.

    kind: of bpy.props; update, options: given to it. heading: where the reference describes it. sampled: chains are
    solved with its value at each frame; all others are part of a chain's model. goal: that value is the field of the
    same name of a `Goal`. native: a native chain has it as a custom property, if it matters there.
    """

    kind: Callable
    update: Update | None
    options: dict[str, object]
    heading: str = ""
    sampled: bool = False
    goal: bool = False
    native: bool = False

    @property
    def is_number(self) -> bool:
        return self.kind is bpy.props.FloatProperty

    @property
    def range(self) -> tuple[float, float]:
        return self.options.get("min", -inf), self.options.get("max", inf)  # pyright: ignore[reportReturnType]

    def made(self, update: Update | None = None) -> object:
        """The property, as Blender registers it. update: instead of its own."""
        return self.kind(override={"LIBRARY_OVERRIDABLE"}, update=update or self.update, **self.options)


def _row(
    kind: Callable,
    label: str,
    description: str,
    default: object = None,
    limits: tuple[float, float] | None = None,
    soft: tuple[float, float] | None = None,
    update: Update | None = _tag,
    heading: str = "",
    sampled: bool = False,
    goal: bool = False,
    native: bool = False,
    **options: object,
) -> Any:
    """A setting that users see: also the default of the field that has its value. heading: other than its label."""
    heading = heading or label.lower().replace(" ", "-")
    options |= {"name": label, "description": description} | ({} if default is None else {"default": default})
    options |= dict(zip(("min", "max"), limits or (), strict=False))
    options |= dict(zip(("soft_min", "soft_max"), soft or (), strict=False))
    return Setting(kind, update, options, heading, sampled or goal, goal, native)


def _record(kind: Callable, **options: object) -> Setting:
    """Data that the add-on keeps on a bone; no user edits it, and setting it must tag nothing."""
    return Setting(kind, None, {"options": {"HIDDEN"}, **options})


_flag, _choice, _number, _integer, _text, _object = (
    partial(_row, getattr(bpy.props, f"{kind}Property"))
    for kind in ("Bool", "Enum", "Float", "Int", "String", "Pointer")
)
_factor, _angle = (partial(_number, subtype=subtype) for subtype in ("FACTOR", "ANGLE"))
_bone, _control = (
    partial(kind, update=relation.controls_set) for kind in (_text, partial(_object, type=bpy.types.Object))
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What `settings_of` reads of a tip: the properties without their prefix; angles in radians."""

    enabled: bool = _flag(
        "Analytic IK", "Enable this IK chain", update=_switched, heading="the-chains-switch", native=True
    )
    target: bpy.types.Object | None = _control(
        "Target", "Object that the chain reaches for", heading="target-and-pole-target"
    )
    subtarget: str = _bone("Target Bone", "Bone of the target armature to reach for", heading="target-and-pole-target")
    pole_target: bpy.types.Object | None = _control(
        "Pole Target",
        "Object that the chain bends toward. Without one it bends as in its FK pose",
        heading="target-and-pole-target",
    )
    pole_subtarget: str = _bone(
        "Pole Bone", "Bone of the pole target's armature to bend toward", heading="target-and-pole-target"
    )
    end_bone: str = _bone(
        "End Bone", "Foot or hand where the chain ends. If empty, the chain ends at the tip bone's tail"
    )
    chain_count: int = _integer(
        "Chain Length", "Number of bones in the chain, counted from the tip bone. 0 uses all parents", 2, min=0
    )
    solver: str = _choice("Solver", "Method that solves the chain", "AUTO", items=SOLVER_ITEMS)
    influence: float = _factor(
        "Influence", "Blend between the FK pose (0) and IK (1)", 1.0, (0.0, 1.0), sampled=True, native=True
    )
    swivel: float = _angle(
        "Swivel", "Rotate the bend around the line from root to target", soft=(-pi, pi), goal=True, native=True
    )
    flip: bool = _flag("Flip Bend", "Bend to the other side", goal=True, native=True)
    softness: float = _factor(
        "Softness", "Ease into full extension, as a fraction of the reach", 0.0, (0.0, 0.5), goal=True, native=True
    )
    reach: str = _choice(
        "Out of Reach",
        "What to do if the target is out of reach",
        default="CLAMP",
        # With the numbers under which files keep them, which the order here does not tell.
        items=[
            ("CLAMP", "Clamp", "Take the closest pose", 0),
            ("STRETCH", "Stretch", "Lengthen the bones", 2),
            ("HOLD", "Use FK", "Keep the FK pose", 1),
        ],
    )
    stretch_max: float = _number(
        "Max Stretch",
        "Largest length, as a multiple of the chain's own. Foot and hand keep their size",
        1.5,
        heading="out-of-reach",
        min=1.0,
        soft_max=3.0,
        goal=True,
        native=True,
    )
    least_motion: bool = _flag("Preserve FK Shape", "Keep the shape of the FK pose. Off: few joints do all the bending")
    use_rotation: bool = _flag("Follow Rotation", "Foot or hand keeps its current orientation relative to the target")
    foot_roll: float = _angle(
        "Foot Roll",
        "Roll the foot over ball and toe. Below 0 it rolls over the heel",
        soft=(-pi / 2.0, pi / 2.0),
        sampled=True,
        native=True,
    )
    toe_angle: float = _angle(
        "Roll Break Angle",
        "Foot Roll at which the toe leaves the ground",
        pi / 4.0,
        (0.0, pi),
        sampled=True,
        native=True,
    )


@dataclass(frozen=True, slots=True)
class BodySettings:
    """How a bone moves so that the chains which it carries reach: its properties without "body_" as well."""

    influence: float = _factor(
        "Body Follows",
        "Move this bone so that the limbs it carries reach. At 0 it stays where it is posed",
        0.0,
        (0.0, 1.0),
    )
    direction: str = _choice(
        "Direction",
        "Where the body moves",
        heading="body-follows",
        default="DOWN",
        items=[
            ("DOWN", "Down", "Straight down or up, and sideways as the limbs lean", 0),
            ("NEAREST", "Nearest", "The shortest way", 1),
        ],
    )
    softness: float = _factor(
        "Softness",
        "Begin before a limb is straight, as a fraction of its length",
        0.02,
        (0.0, 0.2),
        heading="body-follows",
    )
    turn: float = _angle(
        "Max Rotation",
        "Largest turn of the body where moving it is not enough",
        0.0,
        (0.0, pi / 2.0),
        heading="body-follows",
        options=set(),
    )


JOINT_SETTINGS: dict[str, Setting] = {
    "rigid": _flag("Rigid", "Make one link with the parent bone, for twist bones"),
    "use_cone": _flag("Max Bend", "Limit the angle between this bone and its parent"),
    "cone": _angle("Max Bend", "Largest angle between this bone and its parent", pi, (0.0, pi)),
    "use_min_bend": _flag("Min Bend", "Keep this hinge from straightening or bending backward"),
    "min_bend": _angle("Min Bend", "Smallest angle between this bone and its parent", 0.0, (0.0, pi)),
}
"""Of any bone of a chain, beside Blender's own IK locks and limits."""

_CHAIN, _BODY = (
    {prefix + each.name: cast(Setting, each.default) for each in fields(group)}
    for prefix, group in (("", Settings), ("body_", BodySettings))
)

_OF_TIP: dict[str, Setting] = {
    **_CHAIN,
    "straight_axis": _choice(
        "Bend Axis",
        "Axis to bend around if the limb is straight",
        "AUTO",
        items=[
            ("AUTO", "Automatic", "The only unlocked IK axis, the rest pose's bend, or X"),
            ("X", "X", "Around the X axis"),
            ("NEGATIVE_X", "-X", "Around the X axis, to the other side"),
            ("Z", "Z", "Around the Z axis"),
            ("NEGATIVE_Z", "-Z", "Around the Z axis, to the other side"),
        ],
    ),
    # What of a foot stands, or whether a hand holds something: keyed and read by what plants and locks them.
    "contact": _choice(
        "Contact",
        "Part of the foot or hand in contact. Plant Feet keys it",
        heading="motion_capture/#contacts",
        items=[
            ("NONE", "None", "In the air", 0),
            ("HEEL", "Heel", "The heel stands", 1),
            ("BALL", "Ball", "The ball stands", 2),
            ("FLAT", "Flat", "Heel and ball stand", 3),
        ],
    ),
    # The end bone's orientation against the target's, where it follows it (foot.py); zero: none was kept.
    "record_rotation": _record(bpy.props.FloatVectorProperty, size=4),
    # The Blender IK constraint that a chain was made of, and the FK pose before that, as JSON (adopt.py).
    "record_adopted": _record(bpy.props.StringProperty),
    # What a native chain keeps on its tip, as JSON (native/records.py).
    "record_native": _record(bpy.props.StringProperty),
    # Under which name a tip or a control bone was last seen, and in which armature object (ties.py).
    "record_name": _record(bpy.props.StringProperty),
}
"""They go when a chain is taken off its tip; what belongs to a bone itself stays."""

SETTINGS: dict[str, Setting] = {
    **_OF_TIP,
    **JOINT_SETTINGS,
    **_BODY,
    # What of a bone Grab holds, where the user says so.
    "pin": _choice(
        "Pin",
        "What Grab holds of this bone",
        "AUTO",
        update=None,
        heading="grab/#pins",
        options=set(),
        items=[
            ("AUTO", "Automatic", "Hold a foot on the ground, and nothing else", 0),
            ("FREE", "Free", "Hold nothing", 1),
            ("LOCATION", "Location", "Hold the place of its head", 2),
            ("ROTATION", "Rotation", "Hold its rotation", 3),
            ("BOTH", "Both", "Hold place and rotation", 4),
        ],
    ),
    # Of which native chain a bone is a helper, and constraints taken off meanwhile, as JSON (native/records.py).
    "record_helps": _record(bpy.props.StringProperty),
    "record_removed": _record(bpy.props.StringProperty),
}
"""The table: all properties of pose bones by their names without the prefix."""

SAMPLED_SETTINGS, _GOAL_SETTINGS, NATIVE_SETTINGS, NUMBERS = (
    tuple(name for name, row in _CHAIN.items() if which(row))
    for which in map(attrgetter, ("sampled", "goal", "native", "is_number"))
)
"""Of a chain's settings those that may change from frame to frame and be sampled; those that are fields of its goal;
those that a native chain can have, in the order in which they are shown; and those that are numbers."""
RANGES = {name: _CHAIN[name].range for name in NUMBERS if {"min", "max"} & _CHAIN[name].options.keys()}
"""Of numbers, where not all are allowed."""
BODY_RANGES = {name: row.range for name, row in _BODY.items() if row.is_number}
"""Likewise of a bone that follows its limbs."""


_READ = attrgetter(*(PREFIX + name for name in _CHAIN))


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
    influence, softness, turn = (
        min(max(value, lowest), highest) if isfinite(value := getattr(pose_bone, PREFIX + name)) else 0.0
        for name, (lowest, highest) in BODY_RANGES.items()
    )
    return BodySettings(influence, pose_bone.analytic_ik_body_direction or "DOWN", softness, turn)


def pin_of(bone: bpy.types.PoseBone) -> str:
    """What of a bone is held: AUTO, FREE, LOCATION, ROTATION or BOTH."""
    return bone.analytic_ik_pin


def set_pin(bone: bpy.types.PoseBone, kind: str) -> None:
    """Say what is held; AUTO stores nothing: files stay as they are."""
    if kind == "AUTO":
        bone.property_unset("analytic_ik_pin")
    else:
        bone.analytic_ik_pin = kind


def set_to(bone: bpy.types.PoseBone, values: Mapping[str, Any]) -> None:
    """Give settings of a bone these values. What has its value is not touched, so that nothing is evaluated for it."""
    for name, value in values.items():
        if getattr(bone, PREFIX + name) != value:
            setattr(bone, PREFIX + name, value)


def path_of(bone: bpy.types.PoseBone, name: str) -> str:
    """The RNA path of a setting, from its armature object."""
    return f"{bone.path_from_id()}.{PREFIX}{name}"


def may_change(bone: bpy.types.PoseBone, name: str) -> bool:
    """Whether animation sets a setting of an original bone."""
    return is_animated(bone.id_data, path_of(bone, name))


def sampled_settings(settings: Settings) -> dict[str, Any]:
    """Those of `SAMPLED_SETTINGS`."""
    return {name: getattr(settings, name) for name in SAMPLED_SETTINGS}


def goal_values(settings: Settings | Mapping[str, Any], reach: str) -> dict[str, Any]:
    """The fields of a `Goal`, or of `GoalRows`, that sampled settings give: single values, or arrays of them.

    settings: also those of `SAMPLED_SETTINGS` alone. reach: out of reach; only a chain that stretches gets longer.
    """
    value = partial(getattr, settings) if isinstance(settings, Settings) else settings.__getitem__
    found = {name: value(name) for name in _GOAL_SETTINGS}
    if reach != "STRETCH":
        # One, or as many.
        found["stretch_max"] = found["stretch_max"] ** 0
    return found


def is_native(tip: bpy.types.PoseBone) -> bool:
    """Whether Blender's own constraints stand for the chain of a bone; its settings are kept, and it is off."""
    return bool(tip.analytic_ik_record_native)


def native_tips(ob: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """The tips of an armature object's native chains."""
    return [bone for bone in ob.pose.bones if is_native(bone)]


def target_and_pole(tip: bpy.types.PoseBone) -> list[tuple[bpy.types.Object, str]]:
    """The target and the pole target of a chain, as far as it has them, each with the name of a bone of it, or ""."""
    found = (
        (tip.analytic_ik_target, tip.analytic_ik_subtarget),
        (tip.analytic_ik_pole_target, tip.analytic_ik_pole_subtarget),
    )
    return [(ob, bone) for ob, bone in found if ob is not None]


def named_bones(tip: bpy.types.PoseBone) -> list[tuple[bpy.types.Object, str]]:
    """The bones that a chain's settings name, with the armature objects that have them, or should."""
    named = (*target_and_pole(tip), (tip.id_data, tip.analytic_ik_end_bone))
    return [(ob, bone) for ob, bone in named if bone and ob.pose]


def clear_settings(pose_bone: bpy.types.PoseBone) -> None:
    """Take a chain off its tip: all its settings go back to their defaults; the pose is left alone."""
    for ob, bone in named_bones(pose_bone):
        # Other chains that follow it keep its name anew.
        if bone in ob.pose.bones:
            ob.pose.bones[bone].property_unset(NAME_RECORD)
    for name in _OF_TIP:
        pose_bone.property_unset(PREFIX + name)
    relation.forget_controls(pose_bone.id_data, pose_bone.name)
    relation.untie(pose_bone)
    relation.forget_trigger(pose_bone.id_data)
    tag_pose(pose_bone.id_data)


def register(rotation_switched: Update = _tag) -> None:
    """Give pose bones their settings. rotation_switched: called when a user or a script sets `use_rotation`."""
    relation.register()
    own = {"use_rotation": rotation_switched}
    for name, made in [(name, setting.made(own.get(name))) for name, setting in SETTINGS.items()]:
        setattr(bpy.types.PoseBone, PREFIX + name, made)


def unregister() -> None:
    """Take them away; what files hold of them stays in the files."""
    for name in SETTINGS:
        delattr(bpy.types.PoseBone, PREFIX + name)
    relation.unregister()


def switched_tips(ob: bpy.types.Object) -> list[str]:
    """Names of the bones of an armature object whose chains animation switches on and off."""
    return bones_with_animated(ob, PREFIX + "enabled")


def check_switchable(ob: bpy.types.Object, pose_bone: bpy.types.PoseBone) -> None:
    """Raise ChainError where something would switch the chain of a tip on again that cannot be muted here.

    The driver of an adopted chain was made for it, and is muted.
    """
    data, path = ob.animation_data, path_of(pose_bone, "enabled")
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


def mute_setting(pose_bone: bpy.types.PoseBone, name: str) -> None:
    """Stop the current action, and a driver, from setting a setting."""
    data = pose_bone.id_data.animation_data
    for collection in [*current_fcurve_collections(data), data.drivers] if data else []:
        curve = collection.find(path_of(pose_bone, name))
        if curve is not None:
            curve.mute = True
