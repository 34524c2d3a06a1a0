"""What takes away a problem of a chain (rig/status/problems.py), and nothing else."""

from collections.abc import Callable
from math import radians
from operator import attrgetter

import bpy

from .. import messages
from ..rig.blender import animation
from ..rig.blender.armatures import is_changeable
from ..rig.blender.clips import motion_frames
from ..rig.blender.file_memory import file_memory
from ..rig.data.relation import in_any_collection
from ..rig.data.settings import mute_setting
from ..rig.data.undoing import all_or_nothing
from ..rig.model.limb import chain_bones, known_bones
from ..rig.model.order import live_tips
from ..rig.status.problems import Cure, bones_left_behind, check_changeable, rotation_curves
from ..solvers import ChainError
from .control_bones import new_bones_taken_back
from .controls import new_control, remove_chain, words_of
from .placing import home_of
from .snap import snap_targets

_FAR_ENOUGH = radians(45.0)
"""By how much a body may turn that is told to."""


def cure(context: bpy.types.Context, ob: bpy.types.Object, wanted: Cure, as_bones: bool = False) -> str:
    """Do what cures a problem of an armature object; returns what was done. Raises ChainError where it cannot be.

    as_bones: new controls are control bones, not Empties.
    """
    bone = ob.pose.bones.get(wanted.bone)
    if bone is None:
        raise ChainError(messages.NO_SUCH_BONE(armature=ob.name, bone=wanted.bone))
    check_changeable(ob)
    with new_bones_taken_back(*[ob] * as_bones), all_or_nothing([ob]):
        make = MAKES_CONTROLS.get(wanted.kind)
        done = make(context, bone, as_bones) if make else CURES[wanted.kind](context, bone, wanted.name)
        # Nobody tells of a driver that went, or of a key that is silent now.
        file_memory.forget_animation()
        ob.update_tag()
        context.view_layer.update()
        return messages.CURED(bone=bone.name, done=done)


def new_target(context: bpy.types.Context, tip: bpy.types.PoseBone, as_bone: bool) -> str:
    """Give a chain a new target, placed so that the limb stays in its FK pose. A pole goes to where that pose puts it.

    as_bone: the target is a control bone, not an Empty.
    """
    target = new_control(context, tip, "target", as_bone)
    for name in ("swivel", "flip", "foot_roll"):
        tip.property_unset(f"analytic_ik_{name}")
    tip.analytic_ik_target, tip.analytic_ik_subtarget = target.ob, target.bone
    context.view_layer.update()
    if tip.analytic_ik_use_rotation:
        # The foot keeps how it stands against the new one.
        tip.analytic_ik_record_rotation = (0.0, 0.0, 0.0, 0.0)
        tip.analytic_ik_use_rotation = True
    made = words_of(target)
    pole = tip.analytic_ik_pole_target
    if pole is not None and in_any_collection(pole):
        try:
            snap_targets(context, [tip])
        except ChainError:
            return messages.NEW_TARGET_WITHOUT_POLE(target=made)
    return messages.NEW_TARGET(target=made)


def _bring_back(role: str, control_of: Callable[[bpy.types.PoseBone], bpy.types.Object | None]) -> Callable[..., str]:
    def bring_back(context: bpy.types.Context, tip: bpy.types.PoseBone, _name: str) -> str:
        """Put an object that was deleted, and lives on because the chain points to it, where the armature is."""
        control = control_of(tip)
        if control is None:
            raise ChainError(messages.CONTROL_GONE(bone=tip.name, role=role))
        if not in_any_collection(control):
            home_of(tip.id_data, context.scene).objects.link(control)
        return messages.BROUGHT_BACK(control=control.name)

    return bring_back


def _fewer_bones(_context: bpy.types.Context, tip: bpy.types.PoseBone, _name: str) -> str:
    """As many bones as there are up to the root, or up to those of another chain."""
    ob, taken = tip.id_data, set()
    for other in live_tips(ob):
        if other != tip.name:
            # A chain that has too few bones itself takes none but its tip.
            taken.update((other, *(bone.name for bone in known_bones(ob.pose.bones[other]))))
    count = 0
    for bone in (tip, *tip.parent_recursive):
        if bone.name in taken:
            break
        count += 1
    if not count:
        raise ChainError(messages.TIP_TAKEN(bone=tip.name))
    tip.analytic_ik_chain_count = count
    return messages.HAS_BONES(count=count)


def _pose_position(_context: bpy.types.Context, tip: bpy.types.PoseBone, _name: str) -> str:
    armature = tip.id_data.data
    if not armature.is_editable:
        raise ChainError(messages.ARMATURE_DATA_LINKED(data=armature.name))
    armature.pose_position = "POSE"
    return messages.SHOWS_POSE()


def _remove_drivers(_context: bpy.types.Context, bone: bpy.types.PoseBone, channel: str) -> str:
    animation.remove_drivers(bone.id_data, f"{bone.path_from_id()}.{channel}")
    return messages.DRIVERS_REMOVED(channel=channel)


def _mute_constraint(_context: bpy.types.Context, bone: bpy.types.PoseBone, name: str) -> str:
    constraint = bone.constraints.get(name)
    if constraint is None:
        raise ChainError(messages.NO_CONSTRAINT(bone=bone.name, constraint=name))
    constraint.mute = True
    return messages.CONSTRAINT_OFF(constraint=name)


def _flip_bend(_context: bpy.types.Context, tip: bpy.types.PoseBone, _name: str) -> str:
    tip.analytic_ik_flip = not tip.analytic_ik_flip
    return messages.BENDS_OTHER_WAY()


def _show_target(context: bpy.types.Context, tip: bpy.types.PoseBone, _name: str) -> str:
    control = tip.analytic_ik_target
    if control is None:
        raise ChainError(messages.NO_TARGET()).of(messages.BONE(bone=tip.name))
    if not is_changeable(control):
        raise ChainError(messages.TARGET_LINKED(bone=tip.name, control=control.name))
    if control.name not in context.scene.objects:
        context.scene.collection.objects.link(control)
    control.hide_viewport = False
    context.view_layer.update()
    for layer in _way_to(context.view_layer.layer_collection, control):
        layer.exclude = layer.hide_viewport = layer.collection.hide_viewport = False
    if control.name in context.view_layer.objects:
        control.hide_set(False)
    return messages.TARGET_SHOWN(control=control.name)


def _way_to(layer: bpy.types.LayerCollection, ob: bpy.types.Object) -> list[bpy.types.LayerCollection]:
    """The collections of a view layer, outermost first, through which an object is in it; empty: it is not."""
    if ob.name in layer.collection.objects:
        return [layer]
    for child in layer.children:
        below = _way_to(child, ob)
        if below:
            return [layer, *below]
    return []


def _follow_motion(context: bpy.types.Context, tip: bpy.types.PoseBone, as_bones: bool) -> str:
    frames = motion_frames(tip.id_data)
    if frames is None:
        raise ChainError(messages.NO_MOTION()).of(messages.BONE(bone=tip.name))
    ob = tip.id_data
    # The other legs of a character have the same problem.
    others = (name for name in live_tips(ob) if name != tip.name and bones_left_behind(ob, name))
    snap_targets(context, [tip, *(ob.pose.bones[name] for name in others)], frames, as_bones)
    return messages.CONTROLS_FOLLOW(first=frames[0], last=frames[-1])


def _mute_keys(_context: bpy.types.Context, tip: bpy.types.PoseBone, _name: str) -> str:
    _check_action(tip)
    bones = chain_bones(tip)
    for curve in [curve for bone in bones for curve in rotation_curves(tip.id_data, bone)]:
        curve.mute = True
    return messages.KEYS_MUTED()


def _mute_switch(_context: bpy.types.Context, tip: bpy.types.PoseBone, _name: str) -> str:
    _check_action(tip)
    mute_setting(tip, "enabled")
    return messages.SWITCHED_BY_HAND()


def _check_action(tip: bpy.types.PoseBone) -> None:
    data = tip.id_data.animation_data
    if data is not None and data.action is not None and not data.action.is_editable:
        raise ChainError(messages.OWN_ACTION_LINKED(bone=tip.name, action=data.action.name))


def _set(done: messages.Message, **values: object) -> Callable[..., str]:
    """Give a bone's properties other values."""

    def set_them(_context: bpy.types.Context, bone: bpy.types.PoseBone, _name: str) -> str:
        for name, value in values.items():
            setattr(bone, name, value)
        return done()

    return set_them


def _remove_chain(_context: bpy.types.Context, tip: bpy.types.PoseBone, _name: str) -> str:
    remove_chain(tip, keep_pose=False)
    return messages.CHAIN_REMOVED()


def _follow_body(_context: bpy.types.Context, tip: bpy.types.PoseBone, name: str) -> str:
    """Let the bone of this name follow the limbs that it carries, this one among them."""
    tip.id_data.pose.bones[name].analytic_ik_body_influence = 1.0
    return messages.BODY_FOLLOWS(body=name)


def _turn_body(_context: bpy.types.Context, tip: bpy.types.PoseBone, name: str) -> str:
    """Let the bone of this name turn too for the limbs that it follows."""
    tip.id_data.pose.bones[name].analytic_ik_body_turn = _FAR_ENOUGH
    return messages.BODY_TURNS(body=name)


MAKES_CONTROLS: dict[str, Callable[[bpy.types.Context, bpy.types.PoseBone, bool], str]] = {
    "NEW_TARGET": new_target,
    "FOLLOW_MOTION": _follow_motion,
}
"""Cures that may make a control. Each takes the bone and whether new controls are bones."""
CURES: dict[str, Callable[[bpy.types.Context, bpy.types.PoseBone, str], str]] = {
    "BRING_BACK_TARGET": _bring_back("target", attrgetter("analytic_ik_target")),
    "BRING_BACK_POLE": _bring_back("pole target", attrgetter("analytic_ik_pole_target")),
    "CLEAR_POLE": _set(messages.BENDS_WITHOUT_POLE, analytic_ik_pole_target=None, analytic_ik_pole_subtarget=""),
    "FEWER_BONES": _fewer_bones,
    "AUTO_SOLVER": _set(messages.SOLVER_SUITS, analytic_ik_solver="AUTO"),
    "CLEAR_END_BONE": _set(messages.ENDS_AT_TAIL, analytic_ik_end_bone=""),
    "POSE_POSITION": _pose_position,
    "REMOVE_DRIVERS": _remove_drivers,
    "MUTE_CONSTRAINT": _mute_constraint,
    "FOLLOW_BODY": _follow_body,
    "TURN_BODY": _turn_body,
    "STRETCH": _set(messages.STRETCHES, analytic_ik_reach="STRETCH"),
    "FLIP_BEND": _flip_bend,
    "REMOVE_CHAIN": _remove_chain,
    "RESET_SCALE": _set(messages.HAS_OWN_SIZE, scale=(1.0, 1.0, 1.0)),
    "SHOW_TARGET": _show_target,
    "MUTE_KEYS": _mute_keys,
    "MUTE_SWITCH": _mute_switch,
}
"""By its kind what else cures a problem. Each takes the bone and the name that the Cure says."""
