"""Which bone follows a limb, or could, and how it stands; asked for when shown, never stored."""

from dataclasses import dataclass

import bpy

from ...solvers import ChainError
from ..blender.armatures import is_evaluated_in
from ..model.body import bodies_of, possible_bodies
from ..model.order import ChainName, chain_order, live_tips
from ..pose.carrying import PosedBody, follow
from ..pose.reading import SceneReader


def body_of(bone: bpy.types.PoseBone | None, tip: bpy.types.PoseBone | None) -> bpy.types.PoseBone | None:
    """The bone to be shown: the active one, if it follows its limbs; the one that follows the chain of a tip, or could;
    without a tip the active one, if it could."""
    known = tip or bone
    if known is None or known.id_data.mode == "EDIT":
        return None
    ob = known.id_data
    following = bodies_of(ob)
    own = [*((bone,) if bone is not None and bone.id_data == ob else ()), *(tip.parent_recursive if tip else ())]
    found = next((each for each in own if each.name in following), None)
    if found is not None:
        return found
    possible = (name for name, tips in _possible(ob).items() if (tip.name in tips if tip else name == known.name))
    name = next(possible, None)
    return ob.pose.bones[name] if name else None


def _possible(ob: bpy.types.Object) -> dict[str, list[str]]:
    tips = live_tips(ob)
    return possible_bodies(ob, {tip: ob.pose.bones[tip] for tip in tips}) if len(tips) > 1 else {}


@dataclass(frozen=True, slots=True)
class BodyState:
    """How a bone stands that follows its limbs. limbs: the tips of these; problem: what keeps it from that."""

    limbs: tuple[str, ...]
    posed: PosedBody | None = None
    problem: str = ""


def state_of_body(bone: bpy.types.PoseBone, depsgraph: bpy.types.Depsgraph) -> BodyState | None:
    """How an original bone stands that follows its limbs, as a depsgraph evaluated them; None: it has none to follow,
    or is not evaluated there."""
    ob = bone.id_data
    if not is_evaluated_in(ob, depsgraph) or ob.data.pose_position != "POSE":
        return None
    order = chain_order([ob.evaluated_get(depsgraph)])
    name = ChainName(ob.name_full, bone.name)
    if name in order.unfit:
        return BodyState((), problem=str(order.unfit[name]))
    limbs = tuple(limb.tip for limb in order.limbs.get(name, ()))
    if not limbs:
        return None
    try:
        return BodyState(limbs, follow(SceneReader(depsgraph).armature(ob), bone.name, limbs))
    except ChainError as error:
        return BodyState(limbs, problem=str(error))
