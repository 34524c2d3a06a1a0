"""What keeps a chain from working, as sentences; asked for when shown, never stored."""

import bpy

from ..solvers import ChainError
from .animation import driven_rotation
from .order import chain_order
from .reading import ArmatureReader, Limb, chain_bones


def readable_limb(ob: bpy.types.Object, tip: str, depsgraph: bpy.types.Depsgraph) -> Limb:
    """Read the chain that ends in bone `tip`. Raises ChainError for all that keeps it from being solved."""
    if not ob.evaluated_get(depsgraph).is_evaluated:
        raise ChainError(f"Armature '{ob.name}' is not in this scene; link it there")
    if ob.data.pose_position == "REST":
        raise ChainError(f"Armature '{ob.name}' shows its rest position; switch it to Pose Position")
    reader = ArmatureReader(ob, depsgraph)
    refused = chain_order(reader.evaluated).errors.get(tip)
    if refused is not None:
        raise refused
    return reader.limb(tip)


def problem_of(ob: bpy.types.Object, tip: str, depsgraph: bpy.types.Depsgraph) -> str | None:
    """The sentence that says why a chain is not solved, if it is not."""
    try:
        readable_limb(ob, tip, depsgraph)
    except ChainError as error:
        return str(error)
    return None


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
        if driven_rotation(ob, bone)
    ]
    warnings += [
        f"Bone '{bone.name}': constraint '{constraint.name}' moves it after the chain; switch it off"
        for bone in bones
        for constraint in bone.constraints
        if constraint.enabled and constraint.influence > 0.0
    ]
    return warnings
