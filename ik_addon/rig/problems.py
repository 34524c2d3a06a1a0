"""What keeps a chain from working, as sentences with their cures; asked for when shown, never stored."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import bpy

from ..solvers import ChainError
from .animation import animated_channels, animated_paths, current_fcurve_collections, is_driven
from .armatures import armature_named, is_evaluated_in, posed_armatures
from .lengthening import scaled_bones
from .limb import Limb, chain_bones
from .order import ChainName, chain_order
from .reading import SceneReader, in_any_collection

_UNEVEN = 1e-4
_CURES = {
    "TARGET": ("NEW_TARGET",),
    "TARGET_DELETED": ("BRING_BACK_TARGET", "NEW_TARGET"),
    "POLE": ("CLEAR_POLE",),
    "POLE_DELETED": ("BRING_BACK_POLE", "CLEAR_POLE"),
    "BONES": ("FEWER_BONES",),
    "SOLVER": ("AUTO_SOLVER",),
    "REST_POSITION": ("POSE_POSITION",),
}
"""For the kinds of errors what cures them, the best first."""


class Cure(NamedTuple):
    """What takes a problem away. kind: see authoring/cures.py; bone: on which bone; name: of what it is done to."""

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


def check_posable(ob: bpy.types.Object) -> None:
    """Raise ChainError where nobody can pose an armature object in this file."""
    if not ob.is_editable:
        raise ChainError(f"Armature '{ob.name}' is linked; make a library override of it first")


def read_chain(scene: SceneReader, chain: ChainName, error: ChainError | None) -> Limb | ChainError:
    """Read one chain: its limb, or what keeps it from being solved. error: what gives it no place in the order."""
    ob = armature_named(chain.armature)
    try:
        check_posable(ob)
        if not is_evaluated_in(ob, scene.depsgraph):
            raise ChainError(f"Armature '{ob.name}' is not in this scene; link it there")
        if ob.data.pose_position == "REST":
            sentence = f"Armature '{ob.name}' shows its rest position; switch it to Pose Position"
            raise ChainError(sentence, "REST_POSITION")
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
    return Problem(str(error), tuple(Cure(kind, tip) for kind in _CURES.get(error.kind, ())))


def warnings_of(ob: bpy.types.Object, tip: str) -> list[Problem]:
    """What makes a chain that is solved end elsewhere than it was solved to."""
    try:
        bones = _bones_of(ob, tip)
    except ChainError:
        return []
    return [*_driven(ob, tip, bones), *_constrained(bones), *_uneven(ob, bones)]


def notes_of(ob: bpy.types.Object, tip: str) -> list[Problem]:
    """What is no fault of a chain that is solved, and may still surprise."""
    try:
        bones = _bones_of(ob, tip)
    except ChainError:
        return []
    pose_bone = ob.pose.bones[tip]
    notes, target = [], pose_bone.analytic_ik_target
    layer = bpy.context.view_layer
    if layer and target and in_any_collection(target) and not target.visible_get(view_layer=layer):
        notes.append(
            Problem(
                f"Bone '{tip}': its target '{target.name}' is hidden; it is followed all the same",
                (Cure("SHOW_TARGET", tip),),
            )
        )
    animated = set(animated_paths(ob)) if ob.animation_data else set()
    path = pose_bone.path_from_id()
    keyed = [bone.name for bone in bones if any(True for _ in rotation_curves(ob, bone))]
    if keyed and pose_bone.analytic_ik_influence == 1.0 and f"{path}.analytic_ik_influence" not in animated:
        named = "', '".join(keyed)
        several = len(keyed) > 1
        notes.append(
            Problem(
                f"Bone{'s' if several else ''} '{named}' {'have' if several else 'has'} keys: they are the FK pose "
                "under the chain; mute them, or bake the chain",
                (Cure("MUTE_KEYS", tip),),
            )
        )
    switch = f"{path}.analytic_ik_enabled"
    if any(home.find(switch) is not None for home in _own_curves(ob)) and switch in animated:
        notes.append(
            Problem(
                f"Bone '{tip}': keys switch its chain on and off; mute them to set it by hand",
                (Cure("MUTE_SWITCH", tip),),
            )
        )
    return notes


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


def _bones_of(ob: bpy.types.Object, tip: str) -> list[bpy.types.PoseBone]:
    pose_bone = ob.pose.bones[tip]
    return chain_bones(pose_bone, pose_bone.analytic_ik_chain_count)


def _driven(ob: bpy.types.Object, tip: str, bones: list[bpy.types.PoseBone]) -> Iterator[Problem]:
    scaled = [ob.pose.bones[name] for name in scaled_bones(ob.pose.bones[tip])]
    for own, channel, what in ((bones, "rotation", "chain"), (scaled, "scale", "stretch")):
        for bone in own:
            if is_driven(ob, bone, channel):
                yield Problem(
                    f"Bone '{bone.name}': a driver sets its {channel} and wins over the {what}; remove that driver",
                    (Cure("REMOVE_DRIVERS", bone.name, channel),),
                )


def _constrained(bones: list[bpy.types.PoseBone]) -> Iterator[Problem]:
    for bone in bones:
        for constraint in bone.constraints:
            if constraint.enabled and constraint.influence > 0.0:
                yield Problem(
                    f"Bone '{bone.name}': constraint '{constraint.name}' moves it after the chain; switch it off",
                    (Cure("MUTE_CONSTRAINT", bone.name, constraint.name),),
                )
    names = {bone.name for bone in bones}
    for below in _all_below(bones[0]):
        for constraint in () if below.name in names else below.constraints:
            taken = names & _taken_by(constraint, below)
            if taken and constraint.enabled and constraint.influence > 0.0:
                yield Problem(
                    f"Bone '{below.name}': constraint '{constraint.name}' moves '{min(taken)}' after the chain; switch "
                    "it off",
                    (Cure("MUTE_CONSTRAINT", below.name, constraint.name),),
                )


def _all_below(bone: bpy.types.PoseBone) -> Iterator[bpy.types.PoseBone]:
    bones, waiting = bone.id_data.pose.bones, list(bone.bone.children)
    while waiting:
        below = waiting.pop()
        waiting += below.children
        if below.name in bones:
            # In edit mode bones have names that the pose does not know yet.
            yield bones[below.name]


def _taken_by(constraint: bpy.types.Constraint, bone: bpy.types.PoseBone) -> set[str]:
    """Names of the bones that Blender's own IK on a bone poses, of those above it and of itself."""
    if constraint.type not in ("IK", "SPLINE_IK") or constraint.target is None:
        return set()
    taken = [bone, *bone.parent_recursive]
    if not getattr(constraint, "use_tail", True):
        taken = taken[1:]
    return {each.name for each in (taken[: constraint.chain_count] if constraint.chain_count else taken)}


def _uneven(ob: bpy.types.Object, bones: list[bpy.types.PoseBone]) -> Iterator[Problem]:
    for bone in [*bones[:-1], *bones[0].parent_recursive]:
        if max(bone.scale) - min(bone.scale) > _UNEVEN * max(map(abs, bone.scale)):
            # Keys would bring it back at the next frame.
            keyed = f"{bone.path_from_id()}.scale" in animated_paths(ob)
            yield Problem(
                f"Bone '{bone.name}': its uneven scale shears the bones below it, and the chain may miss its target; "
                "scale it evenly, or set Inherit Scale of the bone below to None",
                () if keyed else (Cure("RESET_SCALE", bone.name),),
            )
