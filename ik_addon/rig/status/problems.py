"""What keeps a chain from working, as sentences with their cures; asked for when shown, never stored."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import bpy

from ... import messages
from ...solvers import ChainError, Kind
from ..blender.animation import animated_channels, animated_paths, current_fcurve_collections, is_driven
from ..blender.armatures import armature_named, bones_below, is_changeable, is_evaluated_in, posed_armatures
from ..blender.clips import has_own_motion
from ..blender.dependencies import Known, followed_bones, movers_of, reader_of, why_placed
from ..data.control_clips import plays_another_clip
from ..data.relation import in_any_collection, is_tie
from ..data.settings import may_change, settings_of, target_and_pole
from ..model.limb import Limb, known_bones, scaled_bones
from ..model.order import ChainName, chain_order, read_by
from ..pose.reading import SceneReader, gone_pole

_UNEVEN = 1e-3
"""Part by which the axes of a bone's scale differ where that can be seen. Clips come with noise of 1e-4."""
_PATHS_WITHOUT_HANDLERS = hasattr(bpy.app.handlers, "exit_pre")
"""Whether Blender calls no add-on while it works out motion paths: 5.0 does, 5.2 does not, and has this handler."""
_CURES = {
    Kind.TARGET: ("NEW_TARGET",),
    Kind.TARGET_DELETED: ("BRING_BACK_TARGET", "NEW_TARGET"),
    Kind.POLE: ("CLEAR_POLE",),
    Kind.POLE_DELETED: ("BRING_BACK_POLE", "CLEAR_POLE"),
    Kind.BONES: ("FEWER_BONES",),
    Kind.SOLVER: ("AUTO_SOLVER",),
    Kind.END_BONE: ("CLEAR_END_BONE",),
    Kind.REST_POSITION: ("POSE_POSITION",),
}
"""For the kinds of errors what cures them, the best first."""


class Cure(NamedTuple):
    """What takes a problem away. kind: see authoring/fixes.py; bone: on which bone; name: of what it is done to."""

    kind: str
    bone: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """A sentence about a chain that names bone and cure, and what cures it at the press of a button, the best first."""

    sentence: str
    cures: tuple[Cure, ...] = ()


def read_chains(chains: list[ChainName], depsgraph: bpy.types.Depsgraph) -> dict[ChainName, Limb | ChainError]:
    """Read chains as they stand now, without solving them: each limb, or what keeps it from being solved."""
    order = chain_order(ob.evaluated_get(depsgraph) for ob in posed_armatures(depsgraph))
    scene = SceneReader(depsgraph)
    return {chain: read_chain(scene, chain, order.errors.get(chain)) for chain in chains}


def check_changeable(ob: bpy.types.Object) -> None:
    """Raise ChainError where nothing of an armature object can be changed for good in this file."""
    if not is_changeable(ob):
        raise ChainError(not_changeable(ob))


def not_changeable(ob: bpy.types.Object) -> str:
    """Why nothing of an armature object can be changed for good, as a sentence."""
    message = messages.ARMATURE_LINKED if ob.override_library is None else messages.ARMATURE_NOT_EDITABLE
    return message(armature=ob.name)


def read_chain(scene: SceneReader, chain: ChainName, error: ChainError | None) -> Limb | ChainError:
    """Read one chain: its limb, or what keeps it from being solved. error: what gives it no place in the order."""
    ob = armature_named(chain.armature)
    try:
        if not is_evaluated_in(ob, scene.depsgraph):
            raise ChainError(messages.ARMATURE_NOT_HERE(armature=ob.name))
        if ob.data.pose_position == "REST":
            raise ChainError(messages.REST_POSITION(armature=ob.name), Kind.REST_POSITION)
        if error is not None:
            raise error
        return scene.armature(ob).limb(chain.tip)
    except ChainError as found:
        return found


def problems_of(ob: bpy.types.Object, tips: list[str], depsgraph: bpy.types.Depsgraph) -> dict[str, str]:
    """For those of an armature's tips whose chains are not solved, the sentence that says why."""
    return {tip: fault.sentence for tip, fault in faults_of(ob, tips, depsgraph).items()}


def faults_of(ob: bpy.types.Object, tips: list[str], depsgraph: bpy.types.Depsgraph) -> dict[str, Problem]:
    """For those of an armature's tips whose chains are not solved, what keeps them from it."""
    found = read_chains([ChainName(ob.name_full, tip) for tip in tips], depsgraph)
    return {chain.tip: fault_of(chain.tip, why) for chain, why in found.items() if isinstance(why, ChainError)}


def fault_of(tip: str, error: ChainError) -> Problem:
    """What keeps the chain of a tip from being solved, with its cures."""
    return Problem(str(error), tuple(Cure(kind, tip) for kind in (_CURES[error.kind] if error.kind else ())))


def warnings_of(ob: bpy.types.Object, tip: str) -> list[Problem]:
    """What makes a chain that is solved end elsewhere than it was solved to, or bend to another side."""
    bones = known_bones(ob.pose.bones[tip])
    if not bones:
        return []
    found = (_driven(ob, tip, bones), _constrained(tip, bones), _uneven(ob, bones), _circular(ob, tip, bones))
    gone = gone_pole(settings_of(ob.pose.bones[tip]))
    without_pole = [] if gone is None else [fault_of(tip, gone.of(messages.BONE(bone=tip)))]
    return [*without_pole, *(problem for problems in found for problem in problems)]


def notes_of(ob: bpy.types.Object, tip: str) -> list[Problem]:
    """What is no fault of a chain that is solved, and may still surprise."""
    pose_bone = ob.pose.bones[tip]
    bones = known_bones(pose_bone)
    if not bones:
        return []
    notes, target = [], pose_bone.analytic_ik_target
    layer = bpy.context.view_layer
    if layer and target and in_any_collection(target) and not target.visible_get(view_layer=layer):
        notes.append(Problem(messages.TARGET_HIDDEN(bone=tip, control=target.name), (Cure("SHOW_TARGET", tip),)))
    animated = set(animated_paths(ob)) if ob.animation_data else set()
    path = pose_bone.path_from_id()
    notes += left_behind(ob, tip)
    drawn = [bone.name for bone in (*bones, *bones_below(pose_bone)) if bone.motion_path]
    if drawn and _PATHS_WITHOUT_HANDLERS:
        notes.append(Problem(messages.MOTION_PATHS(bones=messages.few(drawn))))
    read = reader_of(ob, [bone.name for bone in bones])
    if read is not None:
        notes.append(Problem(messages.CHANNELS_READ(owner=read[0], bone=read[1])))
    switch = f"{path}.analytic_ik_enabled"
    if any(home.find(switch) is not None for home in _own_curves(ob)) and switch in animated:
        notes.append(Problem(messages.SWITCH_KEYED(bone=tip), (Cure("MUTE_SWITCH", tip),)))
    return notes


def left_behind(ob: bpy.types.Object, tip: str) -> list[Problem]:
    """That the keys of the bones of a chain do not show, if so."""
    keyed = bones_left_behind(ob, tip)
    if not keyed:
        return []
    sentence = messages.BONES_KEYED(bones=messages.few(keyed)) if keyed[1:] else messages.BONE_KEYED(bone=keyed[0])
    return [Problem(sentence, (Cure("FOLLOW_MOTION", tip), Cure("MUTE_KEYS", tip)))]


def bones_left_behind(ob: bpy.types.Object, tip: str) -> list[str]:
    """Names of the bones of a chain whose keys do not show: nothing moves its controls, or they play another clip.

    Empty if the chain shows part of its FK pose, on purpose, or was Blender's IK, which went over these keys too.
    """
    pose_bone = ob.pose.bones[tip]
    if settings_of(pose_bone).influence < 1.0 or may_change(pose_bone, "influence"):
        return []
    if pose_bone.analytic_ik_record_adopted:
        return []
    keyed = dict.fromkeys(
        bone.name
        for bone in known_bones(pose_bone)
        for curve in rotation_curves(ob, bone)
        # More than a pose that is keyed once.
        if curve.range()[1] > curve.range()[0] or not all(each.mute for each in curve.modifiers)
    )
    moved = any(
        has_own_motion(control, bone) and not plays_another_clip(ob, control)
        for control, bone in target_and_pole(pose_bone)
    )
    return [] if moved else [*keyed]


def rotation_curves(ob: bpy.types.Object, bone: bpy.types.PoseBone) -> Iterator[bpy.types.FCurve]:
    """The F-Curves of an armature object's current action that set the rotation of a bone, and play."""
    for path, index in animated_channels(ob).get(bone.name, ()):
        if path.startswith("rotation"):
            for home in _own_curves(ob):
                curve = home.find(f"{bone.path_from_id()}.{path}", index=index)
                if curve is not None and not curve.mute:
                    yield curve


def _own_curves(ob: bpy.types.Object) -> list:
    return current_fcurve_collections(ob.animation_data) if ob.animation_data else []


def _driven(ob: bpy.types.Object, tip: str, bones: list[bpy.types.PoseBone]) -> Iterator[Problem]:
    scaled = [ob.pose.bones[name] for name in scaled_bones(ob.pose.bones[tip])]
    for own, channel, message in (
        (bones, "rotation", messages.ROTATION_DRIVEN),
        (scaled, "scale", messages.SCALE_DRIVEN),
    ):
        for bone in own:
            if is_driven(ob, bone, channel):
                yield Problem(message(bone=bone.name), (Cure("REMOVE_DRIVERS", bone.name, channel),))


def _constrained(tip: str, bones: list[bpy.types.PoseBone]) -> Iterator[Problem]:
    for mover in movers_of(bones):
        bone, constraint = mover.owner.name, mover.constraint.name
        if mover.is_placing and mover.source:
            # Without it the bone would be torn from the rig that moves it.
            sentence = messages.OF(whose=messages.BONE(bone=tip), said=why_placed(mover))
            yield Problem(sentence, (Cure("REMOVE_CHAIN", tip),))
            continue
        if is_tie(mover.constraint):
            sentence = messages.TIE_ON(bone=bone, constraint=constraint)
        elif mover.bone == bone:
            sentence = messages.BONE_CONSTRAINED(bone=bone, constraint=constraint)
        else:
            sentence = messages.CONSTRAINED_FROM_BELOW(bone=bone, constraint=constraint, moved=mover.bone)
        yield Problem(sentence, (Cure("MUTE_CONSTRAINT", bone, constraint),))


def _uneven(ob: bpy.types.Object, bones: list[bpy.types.PoseBone]) -> Iterator[Problem]:
    for bone in [*bones[:-1], *bones[0].parent_recursive]:
        if max(bone.scale) - min(bone.scale) > _UNEVEN * max(map(abs, bone.scale)):
            # Keys would bring it back at the next frame.
            keyed = f"{bone.path_from_id()}.scale" in animated_paths(ob)
            if keyed and bpy.context.screen and bpy.context.screen.is_animation_playing:
                # It would come and go with the frames, and move what is below it.
                continue
            cures = () if keyed else (Cure("RESET_SCALE", bone.name),)
            yield Problem(messages.SCALE_UNEVEN(bone=bone.name), cures)


def _circular(ob: bpy.types.Object, tip: str, bones: list[bpy.types.PoseBone]) -> Iterator[Problem]:
    names, known = {bone.name for bone in bones}, Known()
    for read, bone_name, turned in read_by(ob.pose.bones[tip], bones[0].name):
        found = followed_bones(read, bone_name, turned, known)
        own = next((bone.name for owner, bone in found if owner == ob and bone.name in names), None)
        if own is not None:
            yield Problem(messages.FOLLOWS_OWN_BONE(bone=tip, control=bone_name or read.name, own=own))
