"""Blender's own IK constraints become chains without moving a bone, and go back as they were."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple

import bpy
from mathutils import Matrix, Quaternion, Vector

from .. import messages
from ..messages import Message
from ..rig import settings
from ..rig.animation import animated_paths, is_driven
from ..rig.armatures import bones_below
from ..rig.channels import Raw, raw_values
from ..rig.foot import end_bone
from ..rig.limb import Limb
from ..rig.order import live_tips
from ..rig.posing import PoseWriter
from ..rig.problems import check_changeable
from ..rig.reading import ArmatureReader, SceneReader
from ..rig.settings import Settings
from ..rig.solving import solve_limb
from ..rig.switch import check_switchable
from ..rig.undoing import all_or_nothing
from ..solvers import ChainError
from .controls import new_empty, remove_chain
from .fitting import at_full_influence, fitted, swivel_to
from .homes import home_of
from .influence import copy_animation, curves_at, driver_at, remove_animation

_APART = 1e-3
"""How far from a chain's end a bone on it may begin, in lengths of the bone before."""
_UNCAPPED = 100.0
"""Blender's own stretch has no end: this many times the chain's length."""


class Held(NamedTuple):
    """A bone and one of its IK constraints."""

    tip: bpy.types.PoseBone
    constraint: bpy.types.Constraint

    @property
    def chain_tip(self) -> bpy.types.PoseBone:
        """The tip of the chain that it becomes: a bone that follows its target's rotation is on the end of that."""
        parent = self.tip.parent
        return parent if self.constraint.use_rotation and parent is not None else self.tip

    def error(self, message: Message, **fields: object) -> ChainError:
        """What keeps the constraint from being adopted, with its cure. fields: of the message, besides these two."""
        return ChainError(message(bone=self.tip.name, constraint=self.constraint.name, **fields))


@dataclass(frozen=True, slots=True)
class Adopted:
    """A constraint that became a chain.

    moved: the longest way of a bone's head or tail, in chain lengths; turned: the largest turn of an axis of a bone, in
    radians.
    because: why bones moved, as the end of a sentence.
    """

    tip: str
    constraint: str
    moved: float
    turned: float
    because: str


@dataclass(frozen=True, slots=True)
class _Plan:
    """How a constraint becomes a chain. limb: with the settings and the FK pose that the chain gets.

    before: the FK pose so far, as numbers of the bones' rotation modes. missed: how much farther from its target than
    need be the tip is in Blender's own solution, in chain lengths.
    """

    held: Held
    limb: Limb
    before: tuple[Raw, ...]
    missed: float


def adoptable(bones: Sequence[bpy.types.PoseBone]) -> list[Held]:
    """The IK constraints of these bones that are not muted."""
    return [
        Held(bone, constraint)
        for bone in bones
        for constraint in bone.constraints
        if constraint.type == "IK" and not constraint.mute
    ]


def is_adopted(tip: bpy.types.PoseBone) -> bool:
    """Whether the chain of a bone was a constraint."""
    return bool(tip.analytic_ik_record_adopted)


def adopted_tips(bones: Sequence[bpy.types.PoseBone]) -> list[bpy.types.PoseBone]:
    """The tips of those chains that were constraints of one of these bones, or whose tip is one of them."""
    names = {bone.name for bone in bones}
    tips = [tip for ob in {bone.id_data for bone in bones} for tip in ob.pose.bones if is_adopted(tip)]
    return [tip for tip in tips if tip.name in names or _record(tip)["bone"] in names]


def _record(tip: bpy.types.PoseBone) -> dict:
    """What was kept of the constraint that a chain was. Raises ChainError where that was changed by hand."""
    try:
        record = json.loads(tip.analytic_ik_record_adopted)
        bone, constraint, helper = record["bone"], record["constraint"], record["helper"] or ""
        if not all(isinstance(name, str) for name in (bone, constraint, helper)):
            raise TypeError(record)
        fk = {
            name: (mode, tuple(map(float, before)), tuple(map(float, written)))
            for name, (mode, before, written) in record["fk"].items()
            if len(before) == len(written)
        }
        return {"bone": bone, "constraint": constraint, "helper": helper, "animated": record["animated"], "fk": fk}
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise ChainError(messages.IK_RECORD_UNREADABLE(bone=tip.name)) from error


def adopt(context: bpy.types.Context, constraints: Sequence[Held]) -> list[Adopted]:
    """Make chains of IK constraints, in the present pose, and mute them.

    Where a chain would turn the bones otherwise than the constraint does, the bones get another FK pose, of which the
    present one is the solution. (Where they are keyed, their keys bring back the old one at another frame.) Raises
    ChainError, with nothing changed, for what no chain can do.
    """
    for held in constraints:
        _check(held)
    with all_or_nothing([held.tip.id_data for held in constraints], keys=True):
        return _adopted(context, constraints)


def _adopted(context: bpy.types.Context, constraints: Sequence[Held]) -> list[Adopted]:
    """`adopt` of constraints that were checked."""
    plans = [_planned(context, held) for held in constraints]
    before = [_places(context, plan) for plan in plans]
    for plan in plans:
        _carry_out(plan)
    context.view_layer.update()
    adopted = []
    for plan, was in zip(plans, before, strict=True):
        tip, constraint = plan.held.chain_tip.name, plan.held.constraint.name
        adopted.append(Adopted(tip, constraint, *_way(plan, was, _places(context, plan)), _because(plan)))
    return adopted


def restore(context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone]) -> list[str]:
    """Give back the constraints of adopted chains, and the FK pose of before, but for bones whose own was edited since.

    Returns the names of the constraints. Raises ChainError, with nothing changed, where one of them is gone.
    """
    constraints = [_adopted_constraint(tip) for tip in tips]
    with all_or_nothing([tip.id_data for tip in tips], keys=True):
        records = [_restore(held) for held in constraints]
        context.view_layer.update()
        names = [held.constraint.name for held in constraints]
        # Last, for what is deleted cannot be brought back.
        _delete_copies(constraints, records)
    return names


# What can be adopted


def _check(held: Held) -> None:
    """Raise ChainError for what no chain can do."""
    tip, constraint = held
    ob = tip.id_data
    check_changeable(ob)
    if ob.data.pose_position == "REST":
        raise ChainError(messages.REST_POSITION(armature=ob.name))
    if ob.pose.ik_solver != "LEGACY":
        raise held.error(messages.IK_ITASC)
    for message, refused in _REFUSALS.items():
        if refused(constraint):
            raise held.error(message)
    if constraint.use_rotation:
        _check_end(held)
    _check_unshared(held)
    _check_animation(held)


def _leaves_axes_free(ik: bpy.types.Constraint) -> bool:
    locks = (f"lock_{what}_{axis}" for what in ("location", "rotation") for axis in "xyz")
    return ik.reference_axis != "BONE" or not all(getattr(ik, lock) for lock in locks)


_REFUSALS: dict[Message, Callable[[bpy.types.Constraint], bool]] = {
    messages.IK_WITHOUT_TARGET: lambda ik: ik.target is None,
    messages.IK_DISTANCE: lambda ik: ik.ik_type != "COPY_POSE",
    messages.IK_WITHOUT_TAIL: lambda ik: not ik.use_tail,
    messages.IK_WITHOUT_POSITION: lambda ik: not ik.use_location,
    messages.IK_WEIGHT: lambda ik: (ik.weight, ik.orient_weight) != (1, 1),
    messages.IK_AXES: _leaves_axes_free,
    messages.IK_SPACE: lambda ik: ik.target_space != "WORLD",
}
"""What no chain can do."""


def _check_end(held: Held) -> None:
    """Raise ChainError where a bone that follows its target's rotation is not on the end of a chain."""
    tip, parent = held.tip, held.tip.parent
    if parent is None or held.constraint.chain_count == 1:
        raise held.error(messages.IK_TURNS_ONE_BONE)
    if end_bone(parent) != tip or (tip.bone.head_local - parent.bone.tail_local).length > _APART * parent.bone.length:
        raise held.error(messages.IK_NOT_ON_END, parent=parent.name)


def _check_unshared(held: Held) -> None:
    """Raise ChainError where a bone is part of another chain, of either kind."""
    ob, own = held.tip.id_data, _bone_names(held)
    for other in adoptable(ob.pose.bones):
        shared = sorted(own & _bone_names(other)) if other != held else []
        if shared:
            names = {"shared": shared[0], "other": other.constraint.name, "owner": other.tip.name}
            raise held.error(messages.IK_TREE, **names)
    for other in live_tips(ob):
        tip = ob.pose.bones[other]
        shared = sorted(own & _names_up(tip, tip.analytic_ik_chain_count))
        if shared:
            raise held.error(messages.IK_SHARES_BONE, shared=shared[0], tip=other)


def _check_animation(held: Held) -> None:
    """Raise ChainError where animation or drivers would not let the chain be what it becomes."""
    tip, constraint = held
    ob = tip.id_data
    paths = set(animated_paths(ob))
    if not paths.isdisjoint(f"{constraint.path_from_id()}.{name}" for name in ("mute", "enabled")):
        raise held.error(messages.IK_MUTE_ANIMATED)
    own = {f"{held.chain_tip.path_from_id()}.{settings.PREFIX}{name}" for name in Settings.__dataclass_fields__}
    if paths & own or curves_at(ob, _copy_path(held.chain_tip)):
        raise held.error(messages.IK_CHAIN_ANIMATED)
    for curve in curves_at(ob, _influence_path(held)):
        if not curve.id_data.is_editable:
            raise held.error(messages.IK_ACTION_LINKED, action=curve.id_data.name)
    for name in sorted(_bone_names(held)):
        if is_driven(ob, ob.pose.bones[name], "rotation"):
            raise held.error(messages.IK_DRIVEN, driven=name)


def _bone_names(held: Held) -> set[str]:
    """The bones that a constraint turns."""
    tip, constraint = held
    return _names_up(tip if constraint.use_tail else tip.parent, constraint.chain_count)


def _chain_names(held: Held) -> set[str]:
    """Those of them that are bones of its chain."""
    names = _bone_names(held)
    return names - {held.tip.name} if held.constraint.use_rotation else names


def _names_up(tip: bpy.types.PoseBone | None, count: int) -> set[str]:
    """A bone and those above it, `count` in all, or as many as there are; 0: up to the root."""
    return {bone.name for bone in [tip, *tip.parent_recursive][: count or None]} if tip else set()


# The chain of a constraint


def _planned(context: bpy.types.Context, held: Held) -> _Plan:
    """Find the settings and the FK pose with which a chain gives the present pose; nothing is changed."""
    try:
        limb = _limb(context, held)
        with _full_influence(context, held):
            full, distance = _visual(context, held, limb)
        limb = replace(limb, settings=replace(limb.settings, swivel=swivel_to(limb, full)))
        wanted, _ = _visual(context, held, limb)
        nearest = _distance(limb, solve_limb(at_full_influence(limb)).poses_armature[-1])
        before = tuple(reading.fk for reading in limb.bones)
        return _Plan(held, fitted(limb, wanted), before, max(0.0, distance - nearest))
    except ChainError as error:
        refusal = str(error).removeprefix(messages.BONE(bone=held.chain_tip.name) + ": ")
        raise held.error(messages.IK_NO_CHAIN, refusal=refusal) from error


def _settings(held: Held) -> Settings:
    """What of a chain's settings a constraint states; the others at their defaults."""
    constraint = held.constraint
    names, known = Settings.__dataclass_fields__, held.tip.bl_rna.properties
    # A pointer has no default.
    defaults = {name: getattr(known[settings.PREFIX + name], "default", None) for name in names}
    bones = [held.tip.id_data.pose.bones[name] for name in _chain_names(held)]
    stated = {
        "enabled": True,
        "target": constraint.target,
        "subtarget": constraint.subtarget,
        "pole_target": constraint.pole_target,
        "pole_subtarget": constraint.pole_subtarget if constraint.pole_target else "",
        # Blender's own IK takes as many bones as there are.
        "chain_count": len(bones) if constraint.chain_count else 0,
        "influence": constraint.influence,
        "least_motion": len(bones) > 2,
    }
    if constraint.use_stretch and any(bone.ik_stretch > 0.0 for bone in bones):
        stated |= {"reach": "STRETCH", "stretch_max": _UNCAPPED}
    return Settings(**(defaults | stated))


def _limb(context: bpy.types.Context, held: Held) -> Limb:
    """The limb of the chain that a constraint would be, in its FK pose."""
    reader = SceneReader(context.evaluated_depsgraph_get()).armature(held.tip.id_data)
    chosen = _settings(held)
    limb = reader.limb(held.chain_tip.name, chosen)
    if not held.constraint.use_rotation:
        return limb
    return replace(limb, target_armature=limb.target_armature - reader.target_rotation(chosen) @ _own_way(reader, held))


def _own_way(reader: ArmatureReader, held: Held) -> Vector:
    """From head to tail of the constrained bone, in its own space and its size in the pose."""
    bone = reader.tip(held.tip.name)
    return Vector((0.0, (bone.tail - bone.head).length, 0.0))


def _visual(context: bpy.types.Context, held: Held, limb: Limb) -> tuple[list[Quaternion], float]:
    """The local rotations of a limb's bones as Blender poses them now, and how far its tip is from its target."""
    ob = held.tip.id_data.evaluated_get(context.evaluated_depsgraph_get())
    rotations, parent_pose = [], limb.parent_pose
    for reading in limb.bones:
        pose = ob.pose.bones[reading.name].matrix.copy()
        rotations.append(reading.local_rotation(pose, parent_pose))
        parent_pose = reading.last_pose(pose)
    return rotations, _distance(limb, pose)


def _distance(limb: Limb, tip_pose: Matrix) -> float:
    """From the tip to the target for a pose matrix of the tip, in chain lengths."""
    return (limb.bones[-1].end_of(tip_pose) - limb.target_armature).length / limb.chain.length


@contextmanager
def _full_influence(context: bpy.types.Context, held: Held) -> Iterator[None]:
    """Inside, the constraint has its full effect: below that, its pose does not tell where it bends."""
    constraint, driver = held.constraint, driver_at(held.tip.id_data, _influence_path(held))
    present, muted = constraint.influence, driver is not None and driver.mute
    if present == 1.0:
        yield
        return
    try:
        if driver is not None:
            driver.mute = True
        constraint.influence = 1.0
        context.view_layer.update()
        yield
    finally:
        constraint.influence = present
        if driver is not None:
            driver.mute = muted
        context.view_layer.update()


def _carry_out(plan: _Plan) -> None:
    """Write the FK pose and the settings, keep what restoring needs, and mute the constraint."""
    tip, constraint = plan.held.chain_tip, plan.held.constraint
    ob, writer = tip.id_data, PoseWriter(tip.id_data)
    helper = _end_target(plan) if constraint.use_rotation else None
    for reading in plan.limb.bones:
        writer.restore_fk(reading.name, reading.mode, reading.fk)
    writer.commit()
    for name in Settings.__dataclass_fields__:
        setattr(tip, settings.PREFIX + name, getattr(plan.limb.settings, name))
    if helper is not None:
        tip.analytic_ik_target, tip.analytic_ik_subtarget = helper, ""
        # Blender's own IK turns the bone as its target is turned: nothing lies between the two.
        tip.analytic_ik_record_rotation = (1.0, 0.0, 0.0, 0.0)
        tip.analytic_ik_use_rotation = True
    tip.analytic_ik_record_adopted = json.dumps(
        {
            "bone": plan.held.tip.name,
            "constraint": constraint.name,
            "helper": helper and helper.name,
            "animated": copy_animation(ob, _influence_path(plan.held), _copy_path(tip)),
            # Written as it reads back: channels hold single precision.
            "fk": {
                reading.name: (reading.mode, before, raw_values(ob.pose.bones[reading.name], reading.mode))
                for reading, before in zip(plan.limb.bones, plan.before, strict=True)
            },
        }
    )
    constraint.mute = True
    ob.update_tag()


def _end_target(plan: _Plan) -> bpy.types.Object:
    """The target of a chain whose end bone follows the constraint's target: carried by that, where the bone begins."""
    tip, constraint = plan.held
    carrier, bone = constraint.target, constraint.subtarget
    target_world = carrier.matrix_world @ carrier.pose.bones[bone].matrix if bone else carrier.matrix_world.copy()
    target_world.translation = plan.limb.world @ plan.limb.target_armature
    size = 0.05 * plan.limb.chain.length * plan.limb.world.median_scale
    home = home_of(tip.id_data, bpy.context.scene)
    helper = new_empty(home, f"{tip.name} target", target_world.translation, "SPHERE", size)
    helper.parent = carrier
    if bone:
        helper.parent_type, helper.parent_bone = "BONE", bone
    helper.matrix_world = target_world
    return helper


# What moved


def _places(context: bpy.types.Context, plan: _Plan) -> dict[str, tuple[Vector, ...]]:
    """Head and tail, and the axes, of the bones from a chain's root on, as evaluated, in armature space."""
    ob = plan.held.tip.id_data.evaluated_get(context.evaluated_depsgraph_get())
    root = ob.pose.bones[plan.limb.bones[0].name]
    return {
        bone.name: (bone.head.copy(), bone.tail.copy(), *bone.matrix.to_3x3().normalized().col)
        for bone in (root, *bones_below(root))
    }


def _way(
    plan: _Plan, before: dict[str, tuple[Vector, ...]], after: dict[str, tuple[Vector, ...]]
) -> tuple[float, float]:
    """How far bones moved, and turned: see `Adopted`."""
    ways = [[(b - a).length for a, b in zip(before[name], after[name], strict=True)] for name in before]
    return max(max(way[:2]) for way in ways) / plan.limb.chain.length, max(max(way[2:]) for way in ways)


def _because(plan: _Plan) -> str:
    """Why bones may have moved: what of Blender's own solution no chain repeats, or what comes after it."""
    limb = plan.limb
    others = [
        constraint.name
        for reading in limb.bones
        for constraint in reading.pose_bone.constraints
        if constraint != plan.held.constraint and constraint.enabled and constraint.influence > 0.0
    ]
    if others:
        return messages.AFTER_THE_CHAIN(constraint=others[0])
    if limb.pole_armature is not None and limb.bones[0].limits is not None:
        return messages.POLE_IGNORES_LIMITS()
    if 0.0 < limb.settings.influence < 1.0:
        return messages.BLENDS_OTHERWISE()
    if limb.settings.reach == "STRETCH":
        return messages.STRETCHES_WITHIN()
    return messages.BLENDER_LEFT(part=plan.missed)


def _influence_path(held: Held) -> str:
    return f"{held.constraint.path_from_id()}.influence"


def _copy_path(chain_tip: bpy.types.PoseBone) -> str:
    return f"{chain_tip.path_from_id()}.analytic_ik_influence"


# Back again


def _adopted_constraint(tip: bpy.types.PoseBone) -> Held:
    """The constraint that the chain of a tip was. Raises ChainError where it is gone, or must not be given back."""
    if not is_adopted(tip):
        raise ChainError(messages.NOT_ADOPTED(bone=tip.name))
    check_changeable(tip.id_data)
    name, owner = _record(tip)["constraint"], tip.id_data.pose.bones.get(_record(tip)["bone"])
    constraint = owner.constraints.get(name) if owner else None
    if constraint is None or constraint.type != "IK":
        raise ChainError(messages.IK_GONE(bone=tip.name, constraint=name))
    check_switchable(tip.id_data, tip)
    return Held(owner, constraint)


def _restore(held: Held) -> dict:
    """Remove the chain of a constraint, and switch that on again; returns what was kept of it."""
    tip, constraint = held.chain_tip, held.constraint
    ob, record = tip.id_data, _record(tip)
    remove_chain(tip, keep_pose=False)
    writer = PoseWriter(ob)
    for name, (mode, before, written) in record["fk"].items():
        bone = ob.pose.bones.get(name)
        if bone is not None and bone.rotation_mode == mode and raw_values(bone, mode) == written:
            writer.restore_fk(name, mode, before)
    writer.commit()
    constraint.mute = False
    ob.update_tag()
    return record


def _delete_copies(constraints: Sequence[Held], records: Sequence[dict]) -> None:
    """Delete what adopting constraints made for their chains: targets, and copies of their animation."""
    for held, record in zip(constraints, records, strict=True):
        if record["animated"]:
            remove_animation(held.tip.id_data, _copy_path(held.chain_tip))
    for record in records:
        helper = bpy.data.objects.get(record["helper"])
        if helper is not None:
            bpy.data.objects.remove(helper)
