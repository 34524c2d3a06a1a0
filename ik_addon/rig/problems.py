"""What keeps a chain from working, as sentences; asked for when shown, never stored."""

import bpy

from ..solvers import ChainError
from .animation import is_driven
from .armatures import is_evaluated_in, posed_armatures
from .lengthening import scaled_bones
from .limb import Limb, chain_bones
from .order import ChainName, chain_order
from .reading import SceneReader

_UNEVEN = 1e-4


def read_chains(chains: list[ChainName], depsgraph: bpy.types.Depsgraph) -> dict[ChainName, Limb | ChainError]:
    """Read chains as they stand now, without solving them: each limb, or what keeps it from being solved."""
    order = chain_order(ob.evaluated_get(depsgraph) for ob in posed_armatures(depsgraph))
    scene = SceneReader(depsgraph)
    found: dict[ChainName, Limb | ChainError] = {}
    for chain in chains:
        ob = bpy.data.objects[chain.armature]
        try:
            if not is_evaluated_in(ob, depsgraph):
                raise ChainError(f"Armature '{ob.name}' is not in this scene; link it there")
            if ob.data.pose_position == "REST":
                raise ChainError(f"Armature '{ob.name}' shows its rest position; switch it to Pose Position")
            if chain in order.errors:
                raise order.errors[chain]
            found[chain] = scene.armature(ob).limb(chain.tip)
        except ChainError as error:
            found[chain] = error
    return found


def problems_of(ob: bpy.types.Object, tips: list[str], depsgraph: bpy.types.Depsgraph) -> dict[str, str]:
    """For those of an armature's tips whose chains are not solved, the sentence that says why."""
    found = read_chains([ChainName(ob.name, tip) for tip in tips], depsgraph)
    return {chain.tip: str(result) for chain, result in found.items() if isinstance(result, ChainError)}


def warnings_of(ob: bpy.types.Object, tip: str) -> list[str]:
    """What makes a chain that is solved end elsewhere than it was solved to."""
    pose_bone = ob.pose.bones[tip]
    try:
        bones = chain_bones(pose_bone, pose_bone.analytic_ik_chain_count)
    except ChainError:
        return []
    warnings = [
        f"Bone '{bone.name}': a driver sets its rotation and wins over the chain; remove that driver"
        for bone in bones
        if is_driven(ob, bone, "rotation")
    ]
    warnings += [
        f"Bone '{name}': a driver sets its scale and wins over the stretch; remove that driver"
        for name in scaled_bones(pose_bone)
        if is_driven(ob, ob.pose.bones[name], "scale")
    ]
    warnings += [
        f"Bone '{bone.name}': constraint '{constraint.name}' moves it after the chain; switch it off"
        for bone in bones
        for constraint in bone.constraints
        if constraint.enabled and constraint.influence > 0.0
    ]
    warnings += [
        f"Bone '{bone.name}': its uneven scale shears the bones below it, and the chain may miss its target; scale it "
        "evenly, or set Inherit Scale of the bone below to None"
        for bone in [*bones[:-1], *bones[0].parent_recursive]
        if max(bone.scale) - min(bone.scale) > _UNEVEN * max(map(abs, bone.scale))
    ]
    return warnings
