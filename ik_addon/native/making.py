"""Chains become native, measured before that is done; and live again."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import bpy

from .. import messages
from ..authoring.control_bones import delete_bones
from ..rig.blender.animation import remove_drivers
from ..rig.data.relation import forget_trigger
from ..rig.data.settings import NATIVE_RECORD, native_tips
from ..rig.model.foot import end_bone, rolls, toe_of
from ..rig.pose.reading import ArmatureReader, SceneReader
from ..solvers import ChainError
from . import records
from .measuring import ALLOWED, measure
from .mechanism import make_bones, native_settings, to_live, to_native
from .parts import Wiring, lay, wire
from .records import NativeRecord, put_back, remove_still_ik
from .shape import Shape, check_armature, check_bones, check_chain, check_limb, shape_of, uses_of


class Native(NamedTuple):
    """What became of chains.

    tips: of those that are native now. figure: the largest difference from the live ones, as a part of the length.
    helpers, constraints, drivers: how many were made. left: for those that stay live the sentences that say why.
    """

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
    left += [
        _of(name, ChainError(messages.NATIVE_OFF(percent=100.0 * figures[name], allowed=100.0 * ALLOWED)))
        for name in off
    ]
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
        tip_pose = limb.bones[-1].last_pose(limb.bones[-1].pose_armature)
        foot, toe = [*reader.riding(riding, tip_pose), None][:2]
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
    for bone, constraint in list(records.constraints_on(ob, helpers)):
        _remove_constraint(bone, constraint)


def _remove_constraint(bone: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> None:
    stack = bone.constraints
    active = stack.active if stack.active != constraint else None
    remove_drivers(bone.id_data, constraint.path_from_id())
    stack.remove(constraint)
    if active is not None:
        stack.active = active


def _of(tip: str, error: ChainError) -> ChainError:
    prefix = messages.BONE(bone=tip)
    return error if str(error).startswith(prefix) else error.of(prefix)
