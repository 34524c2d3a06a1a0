"""One more control for a chain that is there: a target or a pole target, where the chain's FK pose puts it."""

import bpy
from mathutils import Vector

from .. import messages
from ..rig.model.chains import fk_chain
from ..rig.model.limb import chain_bones, fk_joints
from ..rig.pose.reading import SceneReader
from ..solvers import ChainError
from .control_bones import make_control_bones
from .controls import new_empty
from .editing import check_editable_bones
from .ends import limb_with_tip
from .finding.legs import FoundLimb
from .homes import home_of
from .places import pole_place, target_place
from .placing import Control


def new_target_control(context: bpy.types.Context, tip: bpy.types.PoseBone, as_bone: bool) -> Control:
    """Make a target for a chain, which does not follow it yet. Raises ChainError, with nothing changed."""
    return _new_control(context, tip, "target", as_bone)


def new_pole_control(context: bpy.types.Context, tip: bpy.types.PoseBone, as_bone: bool) -> Control:
    """Make a pole target for a chain, which does not follow it yet. Raises ChainError, with nothing changed."""
    return _new_control(context, tip, "pole", as_bone)


def words_of(control: Control) -> str:
    """A control that was made, in a sentence."""
    return messages.NEW_BONE(bone=control.bone) if control.bone else messages.NEW_EMPTY(empty=control.name)


def _new_control(context: bpy.types.Context, tip: bpy.types.PoseBone, word: str, as_bone: bool) -> Control:
    ob = tip.id_data
    if as_bone:
        check_editable_bones(ob)
    home = home_of(ob, context.scene)
    reader = SceneReader(context.evaluated_depsgraph_get()).armature(ob)
    try:
        evaluated = chain_bones(reader.tip(tip.name), tip.analytic_ik_chain_count)
        links = reader.links(evaluated)
        chain = fk_chain(links, reader.parent_pose(evaluated[0]))
    except ChainError as error:
        raise error.of(messages.BONE(bone=tip.name)) from error
    joints = fk_joints(links)
    is_target = word == "target"
    at_armature: Vector = (target_place if is_target else pole_place)(joints, chain)
    if as_bone:
        limb = _limb_of(tip, tuple(bone.name for bone in evaluated))
        places = (at_armature, None) if is_target else (None, at_armature)
        return next(filter(None, make_control_bones(context, reader, links, limb, chain, *places)))
    size = 0.1 * chain.length * reader.world.median_scale
    display = "SPHERE" if is_target else "PLAIN_AXES"
    return Control(new_empty(home, f"{tip.name} {word}", reader.world @ at_armature, display, size))


def _limb_of(tip: bpy.types.PoseBone, bones: tuple[str, ...]) -> FoundLimb:
    """The leg or arm of a chain, if the chain ends where that does; else a limb without a name."""
    limb = limb_with_tip(tip)
    if limb is not None and limb.end == tip.analytic_ik_end_bone:
        return limb
    return FoundLimb("", "", "", bones, tip.analytic_ik_end_bone, "", "")
