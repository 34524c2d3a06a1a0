"""Which chain is shown and which bones an operator acts on: those of the active bone, or of the active control."""

from collections.abc import Iterable, Iterator
from itertools import compress
from typing import NamedTuple

import bpy
import numpy as np

from ..rig.blender.armatures import armature_named, armature_objects, bones_at
from ..rig.blender.file_memory import file_memory
from ..rig.data.records import footprint_of
from ..rig.data.settings import is_native
from ..rig.model.foot import end_bone
from ..rig.model.order import live_tips
from .placing import handle_of

_SHOWN = "analytic_ik_shown_chain"


class Focus(NamedTuple):
    """What the window is about.

    armature: the armature object whose chains are shown, None if there is none.
    tip: the tip bone of the chain that is shown, None if the active bone or object belongs to no chain.
    driven: the tip bones of all chains that follow the active control; empty if a bone of the chain itself is active.
    """

    armature: bpy.types.Object | None
    tip: bpy.types.PoseBone | None
    driven: tuple[bpy.types.PoseBone, ...] = ()


def active_object(context: bpy.types.Context) -> bpy.types.Object | None:
    """The active object, also where Blender leaves it out of the context, such as while a file is saved."""
    layer = context.view_layer
    return layer.objects.active if layer is not None else None


def focus(context: bpy.types.Context) -> Focus:
    """Find the chain of the active bone: its own, or the one on whose end it is; else the chain of the active control,
    which may be a chain of another armature object."""
    ob = active_object(context)
    if ob is None or ob.mode == "EDIT":
        return Focus(None, None)
    kept = footprint_of(ob)
    if kept is not None and kept.armature is not None:
        return Focus(kept.armature, kept.armature.pose.bones.get(kept.tip))
    if ob.type != "ARMATURE":
        return _focus_of(context, None, driven_by(context, ob))
    bone = active_bone(ob)
    if bone is None:
        return Focus(ob, None)
    tip = tip_of_chain(bone)
    if tip is not None:
        return Focus(ob, tip)
    driven = driven_by(context, ob, bone.name)
    # In Object Mode nobody sees which bone of a control rig is active.
    return _focus_of(context, ob, [tip for tip in driven if tip.id_data == ob or ob.mode == "POSE"])


def character_of(context: bpy.types.Context, ob: bpy.types.Object) -> bpy.types.Object | None:
    """The armature object of the character that an object is part of: the one that deforms it, or the only one that
    hangs below it, as importers leave characters; None if there is none to be selected."""
    deforming = {modifier.object for modifier in ob.modifiers if modifier.type == "ARMATURE"}
    found = deforming or {armature for armature in armature_objects() if ob in _carriers_of(armature)}
    shown = [each for each in found if each is not None and each.visible_get(view_layer=context.view_layer)]
    return shown[0] if len(shown) == 1 else None


def _carriers_of(ob: bpy.types.Object) -> Iterator[bpy.types.Object]:
    carrier = ob.parent
    while carrier is not None:
        yield carrier
        carrier = carrier.parent


def select_object(context: bpy.types.Context, ob: bpy.types.Object) -> None:
    """Select an object alone, and make it the active one."""
    for other in context.selected_objects:
        other.select_set(False)
    ob.select_set(True)
    context.view_layer.objects.active = ob


def _focus_of(context: bpy.types.Context, ob: bpy.types.Object | None, driven: list[bpy.types.PoseBone]) -> Focus:
    if not driven:
        return Focus(ob, None)
    chosen = getattr(context.window_manager, _SHOWN)
    tip = next((tip for tip in driven if _key(tip) == chosen), driven[0])
    return Focus(tip.id_data, tip, tuple(driven))


def show_chain(context: bpy.types.Context, tip: bpy.types.PoseBone) -> None:
    """Show this chain wherever a control is active that several chains follow."""
    setattr(context.window_manager, _SHOWN, _key(tip))


def _key(tip: bpy.types.PoseBone) -> str:
    return f"{tip.id_data.name_full}\n{tip.name}"


def driven_by(context: bpy.types.Context, control: bpy.types.Object, bone: str = "") -> list[bpy.types.PoseBone]:
    """The tip bones of the chains in the scene that have an object as target or pole target; bone: that bone of it.

    A target that cannot be selected counts for the bone that carries it: that is what one grabs.
    """
    driven, key = file_memory.driven, (control.session_uid, bone)
    if key not in driven:
        # What armature objects keep of their chains' controls is short; their bones may be many.
        names = [
            (ob.name_full, own.name)
            for ob in armature_objects()
            for own in ob.analytic_ik_record_controls
            if (own.target == control and own.subtarget == bone)
            or (bone and own.target and handle_of(own.target, own.subtarget) == (control, bone))
            or (own.pole_target == control and own.pole_subtarget == bone)
        ]
        if not names:
            return []
        driven[key] = names
    tips = (_tip_driven(context, name, tip) for name, tip in driven[key])
    return [tip for tip in tips if tip is not None]


def _tip_driven(context: bpy.types.Context, armature: str, name: str) -> bpy.types.PoseBone | None:
    try:
        ob = armature_named(armature)
    except KeyError:
        return None
    if ob.pose is None or ob.mode == "EDIT" or ob.name not in context.view_layer.objects:
        return None
    tip = ob.pose.bones.get(name)
    return tip if tip is not None and is_tip(tip) else None


def active_armature(context: bpy.types.Context) -> bpy.types.Object | None:
    """The active object where it is an armature that is not being edited."""
    ob = context.active_object
    return ob if ob is not None and ob.type == "ARMATURE" and ob.mode != "EDIT" else None


def chain_armature(context: bpy.types.Context) -> bpy.types.Object | None:
    """The armature object whose chains operators work on: see `focus`."""
    return focus(context).armature


def live_tip(context: bpy.types.Context) -> bpy.types.PoseBone | None:
    """The tip bone of the chain that is shown, if it is live."""
    tip = focus(context).tip
    return tip if tip is not None and tip.analytic_ik_enabled else None


def active_bone(ob: bpy.types.Object) -> bpy.types.PoseBone | None:
    """The active pose bone of an armature object."""
    bone = ob.data.bones.active
    return ob.pose.bones.get(bone.name) if bone else None


def selected_bones(ob: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """The selected pose bones of an armature object."""
    bones = ob.pose.bones
    if "select" not in bpy.types.PoseBone.bl_rna.properties:
        return [bone for bone in bones if bone.bone.select]
    # In bulk: a redraw asks for many buttons, and bones may be many.
    selected = np.zeros(len(bones), bool)
    bones.foreach_get("select", selected)
    return [*bones_at(ob, np.flatnonzero(selected).tolist())]


def select_bone(ob: bpy.types.Object, name: str, extend: bool = False) -> None:
    """Make a bone of an armature object the active one and select it. extend: beside those that are selected."""
    for bone in ob.pose.bones:
        flags = bone if hasattr(bone, "select") else bone.bone
        if bone.name == name or not extend:
            flags.select = bone.name == name
    ob.data.bones.active = ob.data.bones[name]


def chosen_controls(context: bpy.types.Context, ob: bpy.types.Object) -> list[bpy.types.Object]:
    """The selected objects that may be meant as controls of an armature object's chain.

    An importer leaves all that it made selected: what the armature deforms, and what it is parented to, is not meant.
    """
    own = {ob, *_carriers_of(ob)}
    return [
        other
        for other in context.selected_objects
        if other not in own
        and not any(each.type == "ARMATURE" and each.object == ob for each in other.modifiers)
        and not (other.parent == ob and other.parent_type == "ARMATURE")
    ]


def chosen_tips(context: bpy.types.Context, ob: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """The selected bones of an armature object that are tips of chains; the active bone if none is selected.

    If none of them is a tip: the tips of the chains that they belong to or control. If `ob` is shown because the active
    object controls a chain of it: the tips of the chains that the selected controls drive.
    """
    active = active_object(context)
    if active != ob:
        return _driven_tips(context, ob, _selected_controls(context))
    selected = selected_bones(ob)
    bone = active_bone(ob)
    candidates = selected or ([bone] if bone else [])
    tips = [bone for bone in candidates if is_tip(bone)]
    if tips or not candidates:
        return tips
    live = _tips_by_bone(ob)
    tips = list(dict.fromkeys(tip for bone in candidates if (tip := _tip_of(bone, live)) is not None))
    return tips or _driven_tips(context, ob, [(ob, bone.name) for bone in candidates])


def _selected_controls(context: bpy.types.Context) -> list[tuple[bpy.types.Object, str]]:
    """What may be controls among the active object and what is selected: objects, or bones of the active armature."""
    active = active_object(context)
    if active is None:
        return []
    if active.type == "ARMATURE":
        bone = active_bone(active)
        names = {bone.name for bone in selected_bones(active)} | ({bone.name} if bone else set())
        return [(active, name) for name in sorted(names)]
    return [(ob, "") for ob in dict.fromkeys((active, *context.selected_objects))]


def _driven_tips(
    context: bpy.types.Context, ob: bpy.types.Object, controls: Iterable[tuple[bpy.types.Object, str]]
) -> list[bpy.types.PoseBone]:
    """The tips of the chains of an armature object that controls drive; of those of the active control only the one
    that is shown."""
    shown = focus(context)
    found = dict.fromkeys(tip for control, bone in controls for tip in driven_by(context, control, bone))
    return [tip for tip in found if tip.id_data == ob and (tip not in shown.driven or tip == shown.tip)]


def is_tip(bone: bpy.types.PoseBone) -> bool:
    """True if a bone is the tip of a chain, live, native or switched off."""
    # Up to 4.5 a pointer that is read is kept in the file from then on.
    has_target = bone.is_property_set("analytic_ik_target") and bone.analytic_ik_target is not None
    return bone.analytic_ik_enabled or has_target or is_native(bone)


def all_tips(ob: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """The tips of an armature's chains, live, native or switched off."""
    return [*compress(ob.pose.bones, are_tips(ob.pose.bones))]


def are_tips(bones: bpy.types.bpy_prop_collection) -> list[bool]:
    """`is_tip` of all bones of an armature object."""
    enabled = np.zeros(len(bones), bool)
    bones.foreach_get("analytic_ik_enabled", enabled)
    return [is_on or is_tip(bone) for bone, is_on in zip(bones, enabled.tolist(), strict=True)]


def tip_of_chain(bone: bpy.types.PoseBone) -> bpy.types.PoseBone | None:
    """The tip of the chain to which a bone belongs: the bone itself, else the tip of the live chain of which it is an
    own bone, or on whose end it rides, as a foot or a toe.
    """
    return bone if is_tip(bone) else _tip_of(bone, _tips_by_bone(bone.id_data))


def _tips_by_bone(ob: bpy.types.Object) -> dict[str, bpy.types.PoseBone]:
    """The tips of the live chains of which bones are own bones, by the names of these."""
    found: dict[str, bpy.types.PoseBone] = {}
    for name in live_tips(ob):
        tip = bone = ob.pose.bones[name]
        left = tip.analytic_ik_chain_count - 1
        while left and (bone := bone.parent) is not None:
            found.setdefault(bone.name, tip)
            left -= 1
    return found


def _tip_of(bone: bpy.types.PoseBone, live: dict[str, bpy.types.PoseBone]) -> bpy.types.PoseBone | None:
    """The tip of the chain to which a bone belongs that is no tip itself."""
    tip = live.get(bone.name)
    if tip is not None:
        return tip
    # A toe is as good a handle of a leg as its foot.
    for end in (bone, bone.parent):
        parent = end.parent if end is not None else None
        if parent is not None and parent.analytic_ik_enabled and end_bone(parent) == end:
            return parent
    return None


def register() -> None:
    """Give the window a place for which of a control's chains it shows."""
    setattr(bpy.types.WindowManager, _SHOWN, bpy.props.StringProperty(options={"HIDDEN", "SKIP_SAVE"}))


def unregister() -> None:
    """Take it away."""
    delattr(bpy.types.WindowManager, _SHOWN)
