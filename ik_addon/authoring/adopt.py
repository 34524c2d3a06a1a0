"""Blender's own IK constraints become chains without moving a bone, and back again."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import atan2, inf
from typing import NamedTuple

import bpy
from mathutils import Matrix, Quaternion, Vector

from .. import messages
from ..bake.stepping import stepping_apart
from ..rig.blender.animation import animated_channels, current_fcurve_collections, driver_at
from ..rig.blender.armatures import bones_below
from ..rig.blender.dependencies import movers_of
from ..rig.blender.rotations import Raw, quaternion_of, raw_of, raw_values
from ..rig.data import settings
from ..rig.data.settings import Settings, check_switchable, is_native, path_of
from ..rig.data.undoing import actions_of, all_or_nothing
from ..rig.model.limb import Limb, fk_chain
from ..rig.pose.posing import write_fk
from ..rig.pose.reading import SceneReader
from ..rig.pose.solving import pose_limb, solve_limb
from ..rig.status.problems import check_changeable
from ..solvers import ChainError, Goal
from ..solvers.bending import aim_at, start_frame
from .blender_ik import (
    Held,
    Record,
    animated_by_adopting,
    chain_names,
    check,
    influence_path,
    is_adopted,
    keep,
    mute_path,
    record_of,
)
from .controls import new_empty, take_off
from .keys import copy_animation, remove_animation
from .placing import home_of

_MOST_FRAMES = 60
"""More keyed frames than this are thinned out evenly: each is evaluated."""

Places = dict[str, tuple[Vector, ...]]
"""By bone its head and tail, and its axes, in armature space."""


class Difference(NamedTuple):
    """How far a head or tail is from where it was, in armature space; an axis, in radians; and at which frame."""

    distance: float
    turned: float
    frame: int


def place(pose: Matrix, length: float) -> tuple[Vector, ...]:
    """Head, tail and axes of a bone with this pose matrix and this rest length."""
    return pose.to_translation(), pose @ Vector((0.0, length, 0.0)), *pose.to_3x3().normalized().col


def difference(before: Places, after: Places, frame: int) -> Difference:
    """The longest way and the largest turn of any bone of `before`."""
    ways = [[(b - a).length for a, b in zip(before[name], after[name], strict=True)] for name in before]
    return Difference(max(max(way[:2]) for way in ways), max(max(way[2:]) for way in ways), frame)


def keyed_frames(scene: bpy.types.Scene, objects: Iterable[bpy.types.Object], most: int = _MOST_FRAMES) -> list[int]:
    """The frames of a scene's range at which objects, or those that they are parented to, have keys; `most` of them.

    Strips of the NLA count with their ends.
    """
    frames, waiting = set(), list(objects)
    for ob in waiting:
        if ob.parent is not None and ob.parent not in waiting:
            waiting.append(ob.parent)
        data = ob.animation_data
        for curves in current_fcurve_collections(data) if data else ():
            for curve in curves:
                frames.update(round(key.co.x) for key in curve.keyframe_points)
        for track in data.nla_tracks if data else ():
            frames.update(round(end) for strip in track.strips for end in (strip.frame_start, strip.frame_end))
    found = sorted(frame for frame in frames if scene.frame_start <= frame <= scene.frame_end)
    if len(found) <= most:
        return found
    return [found[k * (len(found) - 1) // (most - 1)] for k in range(most)]


_SAME = 1e-5
"""Radians between two rotations of a bone that are the same pose."""
_CORRECTIONS = {True: (10, 1.0), False: (200, 0.5)}
"""How often an FK pose is corrected by what its solution misses, and by which part of it; at full influence, and below,
where what is blended depends on the correction too."""


def at_full_influence(limb: Limb) -> Limb:
    """The limb as if its influence were 1."""
    return replace(limb, settings=replace(limb.settings, influence=1.0))


def swivel_to(limb: Limb, visual: Sequence[Quaternion]) -> float:
    """The angle that turns the plane in which the chain would bend into the one in which the visual limb bends.

    Blender leaves no limb quite straight that bends in its FK pose, so that its plane is told also out of reach.
    """
    if limb.pole_armature is None and len(limb.bones) > 2:
        # Least motion starts from the FK pose, which becomes the visual one.
        return 0.0
    normal = start_frame(with_fk(limb, visual).chain).normal
    root = limb.root_armature
    pole = limb.pole_armature - root if limb.pole_armature else None
    aim = aim_at(limb.chain, Goal(limb.target_armature - root, pole), limb.chain.length)
    return atan2(aim.along.dot(aim.normal.cross(normal)), aim.normal.dot(normal))


def fitted(limb: Limb, wanted: Sequence[Quaternion]) -> Limb:
    """The limb with an FK pose of which `wanted`, local rotations, is the solution, or nearest to it.

    The FK pose that it has serves, with other rolls, unless there is a clearly better one: the visual pose, or that
    brought to the target from which Blender left it.
    """
    error, own = _corrected(limb, wanted)
    if error <= _SAME:
        return own
    shown = with_fk(limb, wanted)
    at_target = solve_limb(replace(at_full_influence(shown), solver="CCD"))
    reached = [quaternion_of(raw, reading.mode) for raw, reading in zip(at_target.rotations, limb.bones, strict=True)]
    others = [_corrected(shown, wanted), _corrected(with_fk(limb, reached), wanted)]
    best_error, best = min(others, key=lambda other: other[0])
    return best if 2.0 * best_error < error else own


def _corrected(limb: Limb, wanted: Sequence[Quaternion]) -> tuple[float, Limb]:
    """The limb with its FK pose corrected by what its solution misses, and what it misses still, in radians."""
    best_error, best = inf, limb
    passes, part = _CORRECTIONS[limb.settings.influence == 1.0]
    for _ in range(passes):
        missing = [
            quaternion_of(raw, reading.mode).rotation_difference(rotation)
            for raw, reading, rotation in zip(solve_limb(limb).rotations, limb.bones, wanted, strict=True)
        ]
        error = max(2.0 * Vector((turn.x, turn.y, turn.z)).length for turn in missing)
        if error < best_error:
            best_error, best = error, limb
        if error <= _SAME:
            break
        turns = zip(limb.bones, missing, strict=True)
        limb = with_fk(limb, [reading.fk_rotation @ Quaternion().slerp(turn, part) for reading, turn in turns])
    return best_error, best


def with_fk(limb: Limb, rotations: Sequence[Quaternion]) -> Limb:
    """The limb with another FK pose, given as local rotations."""
    poses = pose_limb(limb, rotations)
    bones = [
        replace(reading, fk=raw_of(rotation, reading.mode, reading.fk), fk_rotation=rotation, pose_armature=pose)
        for reading, rotation, pose in zip(limb.bones, rotations, poses, strict=True)
    ]
    return replace(limb, bones=tuple(bones), chain=fk_chain(bones, limb.parent_pose))


_UNCAPPED = 100.0
"""Blender's own stretch has no end: this many times the chain's length."""


@dataclass(frozen=True, slots=True)
class Adopted:
    """A constraint that became a chain.

    moved, distance: the longest way of a bone's head or tail, in chain lengths and in world units. turned: the largest
    turn of an axis of a bone, in radians. frame: at which a bone moved so far. because: why, as the end of a sentence.
    """

    tip: str
    constraint: str
    moved: float
    distance: float
    turned: float
    frame: int
    because: str


@dataclass(frozen=True, slots=True)
class Adoption:
    """What became of constraints.

    left: for those that no chain can stand for, the sentences that say why.
    stretching: tips of the chains that Blender stretched within reach too.
    """

    adopted: tuple[Adopted, ...]
    left: tuple[str, ...]
    stretching: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Plan:
    """How a constraint becomes a chain.

    limb: with the settings and the FK pose that the chain gets.
    before: the FK pose so far, as numbers of the bones' rotation modes.
    """

    held: Held
    limb: Limb
    before: tuple[Raw, ...]


def adopt(context: bpy.types.Context, constraints: Sequence[Held]) -> Adoption:
    """Make chains of IK constraints, in the current pose, and switch these off.

    Where a chain would turn the bones otherwise than the constraint does, the bones get another FK pose, of which the
    current one is the solution. (Where they are keyed, their keys bring back the old one at another frame.) Constraints
    that no chain can stand for are left as they are. Raises ChainError, with nothing changed, if all of them are.
    """
    plans, left = [], []
    for held in constraints:
        try:
            check(held)
            plans.append(_planned(context, held))
        except ChainError as error:
            left.append(error)
    if left and not plans:
        raise left[0]
    obs, adopted = [plan.held.tip.id_data for plan in plans], []
    with all_or_nothing(obs, actions=actions_of(*obs)):
        before = [_places(context, plan) for plan in plans]
        elsewhere = _at_keyed_frames(context, plans)
        for plan in plans:
            _carry_out(plan)
        context.view_layer.update()
        for plan, was, then in zip(plans, before, elsewhere, strict=True):
            found = [difference(was, _places(context, plan), context.scene.frame_current), *then]
            limb, most, turned = plan.limb, max(found), max(each.turned for each in found)
            moved, distance = most.distance / limb.chain.length, most.distance * limb.world.median_scale
            name = plan.held.constraint.name
            adopted.append(Adopted(limb.tip, name, moved, distance, turned, most.frame, _because(plan)))
        stretching = tuple(plan.limb.tip for plan in plans if plan.limb.settings.reach == "STRETCH")
        return Adoption(tuple(adopted), tuple(map(str, left)), stretching)


# The chain of a constraint


def _planned(context: bpy.types.Context, held: Held) -> _Plan:
    """Find the settings and the FK pose with which a chain gives the current pose; nothing is changed."""
    try:
        limb = _limb(context.evaluated_depsgraph_get(), held, _settings(held))
        with _full_influence(context, held):
            full = _visual(context, held, limb)
        limb = replace(limb, settings=replace(limb.settings, swivel=swivel_to(limb, full)))
        before = tuple(reading.fk for reading in limb.bones)
        return _Plan(held, fitted(limb, _visual(context, held, limb)), before)
    except ChainError as error:
        refusal = str(error).removeprefix(messages.BONE(bone=held.chain_tip.name) + ": ")
        raise held.error(messages.IK_NO_CHAIN, refusal=refusal) from error


def _settings(held: Held) -> Settings:
    """What of a chain's settings a constraint states; the others at their defaults."""
    constraint = held.constraint
    names, known = Settings.__dataclass_fields__, held.tip.bl_rna.properties
    # A pointer has no default.
    defaults = {name: getattr(known[settings.PREFIX + name], "default", None) for name in names}
    bones = [held.tip.id_data.pose.bones[name] for name in chain_names(held)]
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


def _limb(depsgraph: bpy.types.Depsgraph, held: Held, chosen: Settings) -> Limb:
    """The limb of the chain that a constraint would be, in its FK pose. chosen: the settings of the chain."""
    reader = SceneReader(depsgraph).armature(held.tip.id_data)
    limb = reader.limb(held.chain_tip.name, chosen)
    if not held.constraint.use_rotation:
        return limb
    bone = reader.tip(held.tip.name)
    # From head to tail of the constrained bone, in its own space and its size in the pose.
    way = Vector((0.0, (bone.tail - bone.head).length, 0.0))
    return replace(limb, target_armature=limb.target_armature - reader.target_rotation(chosen) @ way)


def _visual(context: bpy.types.Context, held: Held, limb: Limb) -> list[Quaternion]:
    """The local rotations of a limb's bones as Blender poses them now."""
    rotations, parent_pose = [], limb.parent_pose
    for reading, pose in zip(limb.bones, _poses(context.evaluated_depsgraph_get(), held, limb), strict=True):
        rotations.append(reading.local_rotation(pose, parent_pose))
        parent_pose = reading.last_pose(pose)
    return rotations


def _poses(depsgraph: bpy.types.Depsgraph, held: Held, limb: Limb) -> list[Matrix]:
    bones = held.tip.id_data.evaluated_get(depsgraph).pose.bones
    return [bones[reading.name].matrix.copy() for reading in limb.bones]


@contextmanager
def _full_influence(context: bpy.types.Context, held: Held) -> Iterator[None]:
    """Inside, the constraint has its full effect: below that, its pose does not tell where it bends."""
    constraint, driver = held.constraint, driver_at(held.tip.id_data, influence_path(held))
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
    ob = tip.id_data
    helper = _end_target(plan) if constraint.use_rotation else None
    write_fk(ob, {(reading.name, reading.mode): reading.fk for reading in plan.limb.bones})
    for name in Settings.__dataclass_fields__:
        setattr(tip, settings.PREFIX + name, getattr(plan.limb.settings, name))
    if helper is not None:
        tip.analytic_ik_target, tip.analytic_ik_subtarget = helper, ""
        # Blender's own IK turns the bone as its target is turned: nothing lies between the two.
        tip.analytic_ik_record_rotation = (1.0, 0.0, 0.0, 0.0)
        tip.analytic_ik_use_rotation = True
    mute, animated = mute_path(plan.held), []
    if mute:
        copy_animation(ob, mute, path_of(tip, "enabled"), inverted=mute.endswith(".mute"))
        animated.append("enabled")
    if copy_animation(ob, influence_path(plan.held), path_of(tip, "influence")):
        animated.append("influence")
    # Written as it reads back: channels hold single precision.
    fk = {
        reading.name: (reading.mode, before, raw_values(ob.pose.bones[reading.name], reading.mode))
        for reading, before in zip(plan.limb.bones, plan.before, strict=True)
    }
    made, influence = helper.name if helper else "", constraint.influence if mute else None
    keep(tip, Record(plan.held.tip.name, constraint.name, made, influence, tuple(animated), fk))
    if mute:
        # What animates it would switch it on again.
        constraint.influence = 0.0
    else:
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


def _places(context: bpy.types.Context, plan: _Plan) -> Places:
    """The bones from a chain's root on, as evaluated."""
    ob = plan.held.tip.id_data.evaluated_get(context.evaluated_depsgraph_get())
    root = ob.pose.bones[plan.limb.bones[0].name]
    return {bone.name: place(bone.matrix, bone.bone.length) for bone in (root, *bones_below(root))}


def _at_keyed_frames(context: bpy.types.Context, plans: Sequence[_Plan]) -> list[list[Difference]]:
    """For each plan how far its chain would be from where Blender poses it, at the frames that have keys.

    They are looked at in a scene of their own, for going there in the user's would lose what is not keyed. Where that
    plays otherwise, none are.
    """
    found: list[list[Difference]] = [[] for _ in plans]
    controls = [(plan.limb.settings.target, plan.limb.settings.pole_target) for plan in plans]
    objects = [plan.held.tip.id_data for plan in plans] + [each for pair in controls for each in pair if each]
    frames = keyed_frames(context.scene, objects)
    if not frames:
        return found
    with stepping_apart(context, objects) as go_to:
        if go_to is None:
            return found
        for frame in frames:
            depsgraph = go_to(frame)
            for plan, differences in zip(plans, found, strict=True):
                try:
                    differences += _at_frame(depsgraph, plan, frame)
                except ChainError:
                    # There the chain is not solved, and says so itself.
                    continue
    return found


def _at_frame(depsgraph: bpy.types.Depsgraph, plan: _Plan, frame: int) -> Iterator[Difference]:
    """How far a chain would be from where Blender poses it; nothing where the constraint is off."""
    held, ob = plan.held, plan.held.tip.id_data
    evaluated = ob.evaluated_get(depsgraph).pose.bones[held.tip.name].constraints[held.constraint.name]
    if evaluated.mute:
        return
    limb = _limb(depsgraph, held, replace(plan.limb.settings, influence=evaluated.influence))
    keyed = {
        name for name, channels in animated_channels(ob).items() if any("rotation" in each for each, _ in channels)
    }
    own = [
        reading.fk_rotation if reading.name in keyed else quaternion_of(planned.fk, planned.mode)
        for reading, planned in zip(limb.bones, plan.limb.bones, strict=True)
    ]
    solved = solve_limb(with_fk(limb, own)).poses_armature
    shown = _poses(depsgraph, held, limb)
    yield difference(_places_of(limb, shown), _places_of(limb, solved), frame)


def _places_of(limb: Limb, poses: Sequence[Matrix]) -> Places:
    return {reading.name: place(pose, reading.bone.length) for reading, pose in zip(limb.bones, poses, strict=True)}


def _because(plan: _Plan) -> str:
    """Why bones may have moved: what of Blender's own solution no chain repeats, or what comes after it."""
    limb = plan.limb
    movers = movers_of([reading.pose_bone for reading in limb.bones])
    other = next((mover.constraint for mover in movers if mover.constraint != plan.held.constraint), None)
    if other is not None:
        return messages.AFTER_THE_CHAIN(constraint=other.name)
    if limb.pole_armature is not None and limb.bones[0].limits is not None:
        return messages.POLE_IGNORES_LIMITS()
    if 0.0 < limb.settings.influence < 1.0:
        return messages.BLENDS_OTHERWISE()
    if limb.settings.reach == "STRETCH":
        return messages.STRETCHES_WITHIN()
    return messages.BLENDER_LEFT()


def restore(context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone]) -> list[str]:
    """Give back the constraints of adopted chains, and the FK pose of before, but for bones whose own was edited since.

    Returns the names of the constraints. Raises ChainError, with nothing changed, where one of them is gone.
    """
    constraints = [_constraint_of(tip) for tip in tips]
    helpers = [bpy.data.objects.get(record_of(tip).helper) for tip in tips]
    animated = [(tip.id_data, path) for tip in tips for path in animated_by_adopting(tip)]
    obs = [tip.id_data for tip in tips]
    with all_or_nothing(obs, actions=actions_of(*obs)):
        for tip, constraint in zip(tips, constraints, strict=True):
            _restore(tip, constraint)
        names = [constraint.name for constraint in constraints]
        # Last, for what is deleted cannot be brought back.
        _delete_copies(animated, helpers)
    context.view_layer.update()
    return names


def _delete_copies(
    animated: Iterable[tuple[bpy.types.Object, str]], helpers: Iterable[bpy.types.Object | None]
) -> None:
    """Delete what adopting made for chains: copies of animation, by object and RNA path, and targets."""
    for ob, path in animated:
        remove_animation(ob, path)
    for helper in filter(None, helpers):
        bpy.data.objects.remove(helper)


def _constraint_of(tip: bpy.types.PoseBone) -> bpy.types.Constraint:
    """The constraint that the chain of a tip was. Raises ChainError where it is gone, or must not be given back."""
    if not is_adopted(tip):
        raise ChainError(messages.NOT_ADOPTED(bone=tip.name))
    check_changeable(tip.id_data)
    if is_native(tip):
        raise ChainError(messages.NATIVE_FIRST(bone=tip.name))
    record = record_of(tip)
    owner = tip.id_data.pose.bones.get(record.bone)
    constraint = owner.constraints.get(record.constraint) if owner else None
    if constraint is None or constraint.type != "IK":
        raise ChainError(messages.IK_GONE(bone=tip.name, constraint=record.constraint))
    if "enabled" not in record.animated:
        check_switchable(tip.id_data, tip)
    return constraint


def _restore(tip: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> None:
    ob, record = tip.id_data, record_of(tip)
    take_off(tip, keep_pose=False)
    before = {}
    for name, (mode, fk, written) in record.fk.items():
        bone = ob.pose.bones.get(name)
        if bone is not None and bone.rotation_mode == mode and raw_values(bone, mode) == written:
            before[name, mode] = fk
    write_fk(ob, before)
    if record.influence is None:
        constraint.mute = False
    else:
        constraint.influence = record.influence
    ob.update_tag()
