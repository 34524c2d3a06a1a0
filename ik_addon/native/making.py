"""Chains become native, measured before that is done; and live again. How far a native chain is from what the live one
would show, and what keeps it there.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from random import Random
from typing import NamedTuple

import bpy
from mathutils import Quaternion, Vector

from .. import messages
from ..authoring.adopt import keyed_frames
from ..authoring.control_bones import delete_bones
from ..bake.stepping import stepping_apart
from ..rig.blender.animation import remove_drivers
from ..rig.blender.armatures import is_evaluated_in
from ..rig.blender.rotations import quaternion_of
from ..rig.data.relation import forget_trigger
from ..rig.data.settings import NATIVE_RECORD, Settings, native_tips, settings_of
from ..rig.live import handlers as live
from ..rig.model.foot import end_bone, rolls, toe_of
from ..rig.pose.reading import ArmatureReader, SceneReader, gone_pole
from ..rig.pose.solving import solve_limb
from ..solvers import ChainError
from . import records
from .mechanism import make_bones, native_settings, to_live, to_native, value_of
from .parts import Wiring, lay, wire
from .records import NativeRecord, put_back, remove_still_ik
from .shape import Shape, check_armature, check_bones, check_chain, check_limb, shape_of, uses_of

ALLOWED = 1e-4
"""Of a chain's length for positions, of an axis's length for orientations."""
_FRAMES = 5
_TARGETS = 6
_SEED = 8
_NEAR, _FAR = 0.1, 1.1
"""Between which parts of a chain's length from its root random targets lie."""


def measure(context: bpy.types.Context, wirings: Sequence[Wiring]) -> dict[str, float]:
    """By tip the largest difference between native chains and live ones: as they are, at frames of the scene with keys,
    and at random places of their controls. The chains are switched off."""
    figures = {wiring.shape.tip: 0.0 for wiring in wirings}
    as_they_are = ((wiring, context.evaluated_depsgraph_get(), None) for wiring in wirings)
    for wiring, depsgraph, settings in chain(as_they_are, _at_frames(context, wirings), _at_random(context, wirings)):
        reader, tip = SceneReader(depsgraph).armature(wiring.shape.ob), wiring.shape.tip
        off = difference(reader, tip, settings or native_values(reader.tip(tip)))
        figures[wiring.shape.tip] = max(figures[wiring.shape.tip], off)
    return figures


def difference(reader: ArmatureReader, tip: str, settings: Settings) -> float:
    """How far the bones of a native chain, as evaluated, are from where the live chain puts them.

    Of two links joints, in chain lengths, and axes; of more the joints alone. settings: those of the live chain.
    """
    evaluated = reader.evaluated.pose.bones
    posed = solve_limb(reader.limb(tip, settings))
    shown = [evaluated[link.name].matrix for link in posed.limb.bones]
    pairs = list(zip(shown, posed.poses_armature, strict=True))
    ways = [(a.translation - b.translation).length for a, b in pairs]
    ways.append((posed.limb.end_of(shown) - posed.limb.end_of(posed.poses_armature)).length)
    ways = [way / posed.limb.chain.length for way in ways]
    if len(posed.limb.bones) == 2:
        above = posed.limb.bones[-1].last_pose(posed.poses_armature[-1])
        # A foot under the last link, its toe under the foot.
        for end, raw in zip(posed.limb.ends, posed.rotations[2:], strict=True):
            above = end.posed(quaternion_of(raw, end.mode), above)
            pairs.append((evaluated[end.name].matrix, above))
        bases = ((a.to_3x3().normalized().col, b.to_3x3().normalized().col) for a, b in pairs)
        ways += [(x - y).length for a, b in bases for x, y in zip(a, b, strict=True)]
    return max(ways)


def native_values(tip: bpy.types.PoseBone) -> Settings:
    """The settings of a native chain, as its custom properties have them. tip: evaluated."""
    settings = replace(settings_of(tip), **{name: value_of(tip, name) for name in native_settings(tip)})
    # Off, its bones have their FK pose.
    return replace(settings, influence=0.0) if "enabled" in native_settings(tip) and not settings.enabled else settings


Seen = tuple[Wiring, bpy.types.Depsgraph, Settings | None]


def _at_frames(context: bpy.types.Context, wirings: Sequence[Wiring]) -> Iterator[Seen]:
    """The chains at a few frames of the scene; nothing where a scene of its own would play otherwise."""
    objects = [wirings[0].shape.ob]
    for wiring in wirings:
        settings = wiring.shape.limb.settings
        objects += [each for each in (settings.target, settings.pole_target) if each is not None]
    frames = keyed_frames(context.scene, objects, _FRAMES)
    if not frames:
        return
    with stepping_apart(context, objects) as go_to:
        if go_to is None:
            return
        for frame in frames:
            depsgraph = go_to(frame)
            for wiring in wirings:
                yield wiring, depsgraph, None


def _at_random(context: bpy.types.Context, wirings: Sequence[Wiring]) -> Iterator[Seen]:
    """The chains with stand-ins for their controls at random places."""
    random = Random(_SEED)
    with live.paused(), _stand_ins(context, wirings) as stand_ins:
        for _ in range(_TARGETS):
            for wiring in wirings:
                _place(context, wiring, stand_ins[wiring.shape.tip], random)
            context.view_layer.update()
            depsgraph = context.evaluated_depsgraph_get()
            for wiring in wirings:
                target, pole = stand_ins[wiring.shape.tip]
                tip = wiring.shape.ob.evaluated_get(depsgraph).pose.bones[wiring.shape.tip]
                settings = replace(native_values(tip), target=target, subtarget="")
                if settings.pole_target is not None:
                    settings = replace(settings, pole_target=pole, pole_subtarget="")
                yield wiring, depsgraph, settings


StandIns = dict[str, tuple[bpy.types.Object, bpy.types.Object]]


@contextmanager
def _stand_ins(context: bpy.types.Context, wirings: Sequence[Wiring]) -> Iterator[StandIns]:
    """Inside, native chains follow Empties of their own, and not their controls: target and pole, by tip."""
    made: StandIns = {}
    before = []
    try:
        for wiring in wirings:
            pair = (bpy.data.objects.new("Analytic IK", None), bpy.data.objects.new("Analytic IK", None))
            made[wiring.shape.tip] = pair
            for each in pair:
                each.rotation_mode = "QUATERNION"
                context.scene.collection.objects.link(each)
            for constraint, role in wiring.mechanism.followers:
                before.append((constraint, constraint.target, getattr(constraint, "subtarget", "")))
                constraint.target = pair[role == "pole_target"]
        yield made
    finally:
        for constraint, target, subtarget in before:
            constraint.target = target
            if target.type == "ARMATURE":
                constraint.subtarget = subtarget
        for each in (each for pair in made.values() for each in pair):
            bpy.data.objects.remove(each)


def _place(context: bpy.types.Context, wiring: Wiring, stand_ins: Iterable[bpy.types.Object], random: Random) -> None:
    """Put the controls of a chain somewhere about its root."""
    shape, depsgraph = wiring.shape, context.evaluated_depsgraph_get()
    evaluated = shape.ob.evaluated_get(depsgraph)
    parent = evaluated.pose.bones.get(shape.root_parent)
    root_armature = evaluated.pose.bones[shape.links[0]].head
    size = parent.matrix.median_scale if parent else 1.0
    for each in stand_ins:
        away = random.uniform(_NEAR, _FAR) * shape.length * size
        each.location = evaluated.matrix_world @ (root_armature + _unit(random) * away)
        each.rotation_quaternion = Quaternion(_unit(random), random.uniform(-3.0, 3.0))


def _unit(random: Random) -> Vector:
    return Vector([random.gauss(0.0, 1.0) for _ in range(3)]).normalized()


_CHANGED = 1e-3
"""Part of its length by which a native chain is off when it was changed. Nearly straight, it rounds more than usual."""


def problem_of(tip: bpy.types.PoseBone, depsgraph: bpy.types.Depsgraph) -> str:
    """What is wrong with the native chain of an original tip as a depsgraph evaluated it; "": nothing."""
    ob, prefix = tip.id_data, messages.BONE(bone=tip.name)
    if ob.mode == "EDIT" or not is_evaluated_in(ob, depsgraph):
        return ""
    if ob.data.pose_position == "REST":
        return messages.REST_POSITION(armature=ob.name)
    try:
        own = records.followed_by(tip)
        # Of two chains that follow the same helper bones one is a copy of the other.
        copy = next((each.name for each in records.alike(tip)[1:] if own & records.followed_by(each)), "")
        reader = SceneReader(depsgraph).armature(ob)
        settings = native_values(reader.tip(tip.name))
        if error := gone_pole(settings):
            raise error
        off = difference(reader, tip.name, settings)
    except ChainError as error:
        return messages.OF(whose=prefix, said=messages.NATIVE_UNSOUND(said=str(error).removeprefix(f"{prefix}: ")))
    if copy:
        return messages.OF(whose=prefix, said=messages.NATIVE_COPIED(other=copy))
    # Written so that a figure that is not a number counts as well.
    return "" if off <= _CHANGED else messages.OF(whose=prefix, said=messages.NATIVE_CHANGED())


class Native(NamedTuple):
    """What became of chains. tips: of those that are native now. figure: the largest difference from the live ones, as
    a part of the length. left: for those that stay live the sentences that say why. The rest: how many were made."""

    tips: tuple[str, ...]
    figure: float
    helpers: int
    constraints: int
    drivers: int
    left: tuple[str, ...]


def make_native(context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone], switch: bool = True) -> Native:
    """Turn live chains of one armature object into helper bones, constraints and drivers.

    switch: whether Influence becomes a setting where it is not in use as well, to switch between FK and IK. Chains that
    cannot be native stay live. Raises ChainError, with nothing changed, if none can be.
    """
    ob = tips[0].id_data
    check_armature(ob)
    shapes: list[Shape] = []
    left: list[ChainError] = []
    reader = SceneReader(context.evaluated_depsgraph_get()).armature(ob)
    for tip in tips:
        try:
            shapes.append(_checked(reader, tip))
        except ChainError as error:
            left.append(_of(tip.name, error))
    if not shapes:
        raise left[0]
    try:
        wirings = _made(context, ob, shapes, switch)
        figures = measure(context, wirings)
    except BaseException:
        _take_back(context, ob, [tip.name for tip in native_tips(ob) if tip.name in {s.tip for s in shapes}])
        raise
    # Written so that a figure that is not a number counts as well.
    off = [name for name, figure in figures.items() if not figure <= ALLOWED]
    _take_back(context, ob, off)
    for name in off:
        said = messages.NATIVE_OFF(percent=100.0 * figures[name], allowed=100.0 * ALLOWED)
        left.append(_of(name, ChainError(said)))
    done = [wiring for wiring in wirings if wiring.shape.tip not in off]
    if not done:
        raise left[0]
    for wiring in done:
        tip = ob.pose.bones[wiring.shape.tip]
        records.keep(tip, replace(records.record_of(tip), figure=figures[tip.name]))
    return Native(
        tips=tuple(wiring.shape.tip for wiring in done),
        figure=max(figures[wiring.shape.tip] for wiring in done),
        helpers=sum(len(wiring.mechanism.names) for wiring in done),
        constraints=sum(wiring.mechanism.constraints for wiring in done),
        drivers=sum(wiring.mechanism.drivers for wiring in done),
        left=tuple(map(str, left)),
    )


def make_live(context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone]) -> list[str]:
    """Turn native chains of one armature object back into live ones: settings, keys, drivers and constraints as before.

    Copies of a chain have its helpers and become live with it. Helpers that no native chain uses go too. Returns the
    names of the tips. Raises ChainError, with nothing changed, where what was kept cannot be read.
    """
    ob = tips[0].id_data
    check_armature(ob)
    names = list(dict.fromkeys(each.name for tip in tips for each in records.alike(tip)))
    _take_back(context, ob, names, unused=True)
    return names


def _checked(reader: ArmatureReader, tip: bpy.types.PoseBone) -> Shape:
    """The shape of a chain. Raises ChainError where it cannot be native."""
    check_chain(tip)
    limb = reader.limb(tip.name)
    controls = {name: getattr(limb.settings, name) for name in ("target", "pole_target")}
    originals = {name: control.original for name, control in controls.items() if control is not None}
    limb = replace(limb, settings=replace(limb.settings, **originals))
    check_limb(limb)
    foot = toe = None
    if limb.held is not None:
        evaluated = end_bone(reader.tip(tip.name))
        riding = [bone for bone in (evaluated, toe_of(evaluated) if rolls(tip) else None) if bone is not None]
        foot, toe = [*reader.riding(riding, limb.bones), None][:2]
    shape = shape_of(limb, foot, toe)
    check_bones(limb, shape)
    return shape


def _made(context: bpy.types.Context, ob: bpy.types.Object, shapes: Sequence[Shape], switch: bool) -> list[Wiring]:
    """Make the helpers of chains, and let the bones follow them."""
    had_animation = ob.animation_data is not None
    wirings = []
    for shape in shapes:
        tip = ob.pose.bones[shape.tip]
        record = NativeRecord(records.new_key(ob, tip), had_animation)
        wirings.append(lay(shape, uses_of(tip, shape, switch), record.key, [each.mechanism for each in wirings]))
        records.keep(tip, record)
    make_bones([wiring.mechanism for wiring in wirings])
    for wiring in wirings:
        shape, tip = wiring.shape, ob.pose.bones[wiring.shape.tip]
        to_native(tip, wiring.uses.settings)
        tip.analytic_ik_enabled = False
        moved = [*shape.own, *((shape.foot.foot, shape.foot.toe) if shape.foot else ())]
        remove_still_ik(tip, moved, wiring.mechanism.key)
        wire(wiring)
    forget_trigger(ob)
    context.view_layer.update()
    depsgraph = context.evaluated_depsgraph_get()
    for wiring in wirings:
        wiring.mechanism.choose_orders(depsgraph)
    context.view_layer.update()
    return wirings


def _take_back(context: bpy.types.Context, ob: bpy.types.Object, names: Sequence[str], unused: bool = False) -> None:
    """Remove all that was made for the chains of some tips, and switch these on. unused: helpers that are of no native
    chain then go too."""
    helpers, had_animation = set(), True
    for name in names:
        records.follow_controls(ob.pose.bones[name])
    for name in names:
        tip = ob.pose.bones[name]
        record = records.record_of(tip)
        own = set(records.helpers_of(ob, record.key))
        helpers |= own
        had_animation = had_animation and record.had_animation
        _release(ob, own)
        put_back(tip, record.key)
        tip.property_unset(NATIVE_RECORD)
        # What animates the switch sets it itself.
        tip.analytic_ik_enabled = "enabled" not in native_settings(tip)
        to_live(tip)
    if not names:
        return
    if unused:
        left = records.unused_helpers(ob) - helpers
        _release(ob, left)
        helpers |= left
    remove_drivers(ob, tuple(ob.pose.bones[name].path_from_id() for name in helpers))
    delete_bones(ob, helpers, records.MECHANISM)
    data = ob.animation_data
    if not had_animation and data and not (data.action or data.drivers or data.nla_tracks):
        ob.animation_data_clear()
    context.view_layer.update()


def _release(ob: bpy.types.Object, helpers: set[str]) -> None:
    """Let no bone follow these helpers."""
    for stack in [bone.constraints for bone in ob.pose.bones if bone.name not in helpers]:
        for constraint in list(stack):
            if getattr(constraint, "target", None) == ob and getattr(constraint, "subtarget", "") in helpers:
                active = stack.active if stack.active != constraint else None
                remove_drivers(ob, constraint.path_from_id())
                stack.remove(constraint)
                if active is not None:
                    stack.active = active


def _of(tip: str, error: ChainError) -> ChainError:
    prefix = messages.BONE(bone=tip)
    return error if str(error).startswith(prefix) else error.of(prefix)
