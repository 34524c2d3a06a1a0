"""Names and ties of chains in line with what the user did to bones, controls and clips.

Blender keeps the names in its own constraints right when bones are renamed, copied, mirrored, joined or separated, but
not those in an add-on's properties. So every tip, control bone and end bone keeps under which name it was last seen,
and in which armature object. A bone that carries another bone's name is that bone renamed, or a copy of it; what chains
say of it then follows it, as Blender's own IK does.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import bpy

from ..blender.armatures import armature_named, armature_objects, is_changeable, is_evaluated_in
from ..blender.clips import shown_clip
from ..blender.file_memory import file_memory
from ..data.control_clips import controls_follow
from ..data.relation import (
    has_controls,
    in_any_collection,
    is_tied,
    keep_all,
    keep_controls,
    lost_controls,
    restore_controls,
    tie,
    trigger_of,
    untie,
)
from ..data.settings import NAME_RECORD, named_bones
from ..model.order import ChainName, ChainOrder, chain_order, tips_of

_MIRRORED_AXES = {"Z": "NEGATIVE_Z", "NEGATIVE_Z": "Z"}
"""A mirrored bone bends about X as the bone does, and about Z to the other side."""


class Seen(NamedTuple):
    """In which armature object, and under which name, a bone was last seen; both "" for one that never was."""

    armature: str
    bone: str


def follow_bones(objects: Iterable[bpy.types.Object]) -> bool:
    """Let the chains of armature objects follow their control bones to new names, and copies the copied ones.

    Whether that changed any chain's settings: they are evaluated at the next update.
    """
    posed = [ob for ob in objects if ob.is_editable and ob.mode != "EDIT"]
    restored = set()
    for tip in (tip for ob in posed for tip in lost_controls(ob)):
        others = (other for other in tip.id_data.pose.bones if other != tip)
        # It may have the name of another one, that has a new name too.
        if _seen(tip).bone == tip.name or all(_seen(other).bone != tip.name for other in others):
            restored.add((tip.id_data, tip.name))
    for ob, tip in restored:
        restore_controls(ob.pose.bones[tip])
    followed = bool(restored)
    tips = [ob.pose.bones[tip] for ob in posed for tip in tips_of(ob)]
    for tip in tips:
        source = _copied_from(tip)
        mirrored = source is not None and tip.name == bpy.utils.flip_name(source)
        if (tip.id_data, tip.name) not in restored:
            for what in ("", "pole_"):
                followed |= _follow(tip, what, source is not None, mirrored)
            followed |= _follow_end(tip, source is not None, mirrored)
        if mirrored:
            _mirror(tip)
            followed = True
    holders = {tip.id_data for tip in tips}
    for tip in tips:
        _keep(tip)
        keep_controls(tip)
        for control, name in named_bones(tip):
            # While bones are edited, a copy must still be told from its original.
            if control.is_editable and control.mode != "EDIT":
                holders.add(control)
                if name in control.pose.bones:
                    _keep(control.pose.bones[name])
    for ob in posed:
        keep_all(ob)
    for ob in holders:
        for bone in ob.pose.bones:
            # From now on a copy is a bone of its own.
            if bone.analytic_ik_record_name:
                _keep(bone)
    return followed


def _follow(tip: bpy.types.PoseBone, what: str, copied: bool, mirrored: bool) -> bool:
    """Let a chain's target, or its pole ("pole_"), be the bone or object that it now should be. Whether it was not."""
    control = getattr(tip, f"analytic_ik_{what}target")
    name = getattr(tip, f"analytic_ik_{what}subtarget")
    if control is None:
        return False
    if not name:
        other = bpy.data.objects.get(bpy.utils.flip_name(control.name)) if mirrored else None
        if other is None or not in_any_collection(other):
            return False
        setattr(tip, f"analytic_ik_{what}target", other)
        return True
    holder = _holder(tip, control, name)
    if holder.pose is None:
        return False
    found = _bone_now(tip, holder, control.name if holder is not control else "", name, copied, mirrored)
    if found is None or (holder, found) == (control, name):
        return False
    setattr(tip, f"analytic_ik_{what}target", holder)
    setattr(tip, f"analytic_ik_{what}subtarget", found)
    return True


def _follow_end(tip: bpy.types.PoseBone, copied: bool, mirrored: bool) -> bool:
    """Let a chain's end bone be the bone that it should be now. Returns whether it was another one."""
    name, ob = tip.analytic_ik_end_bone, tip.id_data
    if not name:
        return False
    before = _seen(tip).armature
    found = _bone_now(tip, ob, before if before != ob.name else "", name, copied, mirrored)
    if found in (None, name):
        return False
    tip.analytic_ik_end_bone = found
    return True


def _holder(tip: bpy.types.PoseBone, control: bpy.types.Object, name: str) -> bpy.types.Object:
    """The armature object in which a chain's control bone now is."""
    own = tip.id_data
    if not in_any_collection(control):
        # Gone: its bones may have been joined with the chain's own.
        return own
    if control == own and name not in own.pose.bones:
        # The chain may have been separated from it: Blender then takes the new object for the old one.
        left = bpy.data.objects.get(_seen(tip).armature)
        there = left.pose.bones.get(name) if left is not None and left.pose else None
        if left is not None and there is not None and _seen(there) == (left.name, name):
            return left
    return control


def _bone_now(
    tip: bpy.types.PoseBone, holder: bpy.types.Object, gone: str, name: str, copied: bool, mirrored: bool
) -> str | None:
    """What a control bone of a chain is called by now; None: it is not known by another name.

    gone: the armature object that held it and is gone, "": none.
    """
    bones = holder.pose.bones
    own, opposite = bones.get(name), bpy.utils.flip_name(name)
    if gone and holder == tip.id_data:
        joined = [bone.name for bone in bones if _seen(bone) == (gone, name)]
        return joined[0] if joined else None
    if mirrored and opposite != name and opposite in bones:
        return opposite
    if own is not None and _seen(own).bone == name and not copied:
        return name
    others = [bone.name for bone in bones if bone.name != name and _seen(bone).bone == name]
    # Copies that were made together have the same number.
    together = [other for other in others if other.rpartition(".")[2] == tip.name.rpartition(".")[2]]
    if together or len(others) == 1:
        return (together or others)[0]
    return name if own is not None else None


def _copied_from(tip: bpy.types.PoseBone) -> str | None:
    """The name of the bone of which a tip is a copy that was not seen yet; None: it is none."""
    name = _seen(tip).bone
    source = tip.id_data.pose.bones.get(name) if name and name != tip.name else None
    return name if source is not None and _seen(source).bone == name else None


def _mirror(tip: bpy.types.PoseBone) -> None:
    tip.analytic_ik_swivel = -tip.analytic_ik_swivel
    axis = tip.analytic_ik_straight_axis
    tip.analytic_ik_straight_axis = _MIRRORED_AXES.get(axis, axis)
    w, x, y, z = tip.analytic_ik_record_rotation
    tip.analytic_ik_record_rotation = (w, x, -y, -z)


def _seen(bone: bpy.types.PoseBone) -> Seen:
    armature, _, name = bone.analytic_ik_record_name.partition("\n")
    return Seen(armature, name)


def _keep(bone: bpy.types.PoseBone) -> None:
    now = f"{bone.id_data.name}\n{bone.name}"
    if bone.analytic_ik_record_name != now:
        setattr(bone, NAME_RECORD, now)


def followed_by_controls(obs: Iterable[bpy.types.Object]) -> bool:
    """Let the controls of armature objects play what belongs to their clips. Whether any plays something else now."""
    changed = False
    for ob in obs:
        clip = shown_clip(ob) if ob.animation_data is not None else None
        if clip is None:
            continue
        playing = clip.action.session_uid, clip.slot
        # A copy in no scene, as exporters make of an armature, has the same controls.
        if file_memory.played.get(ob.session_uid) != playing and ob.users_scene:
            file_memory.played[ob.session_uid] = playing
            changed |= has_controls(ob) and controls_follow(ob)
    return changed


Armatures = Sequence[bpy.types.Object] | None
"""The armature objects to look at, with those whose chains move theirs or are moved by theirs; None: all."""


def bring_chains_up_to_date(among: Armatures = None) -> bool:
    """Let chains follow bones that have other names now. Whether a chain follows another bone than before: that is
    evaluated at the next update."""
    return follow_bones([ob for ob in (armature_objects() if among is None else among) if ob.pose])


def prepare(scene: bpy.types.Scene, among: Armatures = None, at_load: bool = False) -> None:
    """Before something is evaluated: bring the chains and what their controls play up to date, and tie them."""
    bring_chains_up_to_date(among)
    followed_by_controls(armature_objects() if among is None else among)
    layer = bpy.context.view_layer
    depsgraph = layer.depsgraph if layer is not None and layer.id_data == scene else None
    # In a scene that a window switches to, what depends on what must not change before it is evaluated: 4.2 ends there.
    if at_load or (depsgraph is not None and depsgraph.view_layer_eval is not None):
        _tie_chains(among)


def tieable_tips(order: ChainOrder, armatures: Iterable[bpy.types.Object]) -> Iterator[tuple[bpy.types.PoseBone, bool]]:
    """The original tips of armature objects that are to be tied to their controls: those of live chains, and of chains
    that animation may switch on; each with whether that is loosely: to Blender it would be a circle, and it is refused.

    So are bones that follow their limbs, loosely. Not where a chain is moved by what follows it: that has to be
    evaluated again with the whole armature. Nothing is written to what is linked.
    """
    for ob in filter(is_changeable, armatures):
        for tip in dict.fromkeys(tips_of(ob)):
            chain = ChainName(ob.name_full, tip)
            if chain not in order.circular:
                yield ob.pose.bones[tip], chain in order.errors or chain in order.carried
        for body in order.limbs:
            if body.armature == ob.name_full:
                # To have it evaluated: of the chains below only their own bones are.
                yield ob.pose.bones[body.tip], True


def _tie_chains(among: Armatures) -> None:
    armatures = [*_shown_armatures(among)]
    order = chain_order(armatures)
    for tip, loosely in tieable_tips(order, armatures):
        if not is_tied(tip, loosely):
            tie(tip, loosely)
    for chain in order.circular:
        ob = armature_named(chain.armature)
        if is_changeable(ob):
            untie(ob.pose.bones[chain.tip])
    for ob in armatures:
        if trigger_of(ob) is not None and is_changeable(ob):
            # Animation that had switched a chain off may have gone.
            tips = {*tips_of(ob), *(body.tip for body in order.limbs if body.armature == ob.name_full)}
            for bone in [each for each in ob.pose.bones if len(each.constraints) and each.name not in tips]:
                untie(bone)


def _shown_armatures(among: Armatures) -> Iterator[bpy.types.Object]:
    """The armature objects that the shown view layer has or evaluates in a pose."""
    layer = bpy.context.view_layer
    if layer is None:
        return
    for ob in armature_objects() if among is None else among:
        shown = ob.visible_get(view_layer=layer) or (layer.depsgraph and is_evaluated_in(ob, layer.depsgraph))
        # A copy that was never evaluated has pose bones that do not know their bones yet.
        if shown and ob.pose and ob.mode != "EDIT" and all(bone.bone for bone in ob.pose.bones[:1]):
            yield ob
