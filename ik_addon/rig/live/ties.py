"""What must be done before chains are read: names and clips are followed, and chains tied to their controls."""

from collections.abc import Iterable, Iterator, Sequence

import bpy

from ..blender.armatures import armature_named, armature_objects, is_changeable, is_evaluated_in
from ..blender.clips import shown_clip
from ..blender.file_memory import file_memory
from ..data.control_clips import controls_follow
from ..data.control_links import has_controls
from ..data.relation import is_tied, tie, trigger_of, untie
from ..model.order import ChainName, ChainOrder, chain_order, tips_of
from ..model.renamed import follow_bones


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
