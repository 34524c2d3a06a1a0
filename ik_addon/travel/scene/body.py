"""Which bone is the body of an armature, which one its root, and what hangs on them."""

from collections.abc import Iterable, Iterator
from itertools import pairwise

import bpy

from ... import messages
from ...authoring.controls import controls_of
from ...authoring.placing import Control
from ...authoring.selection import all_tips
from ...planting.scene.carrier_bone import whole_body
from ...planting.scene.shown import legs_of
from ...planting.scene.writing import keyed_control
from ...solvers import ChainError


def bone_named(ob: bpy.types.Object, name: str) -> bpy.types.PoseBone:
    """A bone of an armature object; ChainError if there is none of this name."""
    if name not in ob.pose.bones:
        raise ChainError(messages.NO_SUCH_BONE(armature=ob.name, bone=name))
    return ob.pose.bones[name]


def body_of(ob: bpy.types.Object, name: str = "") -> bpy.types.PoseBone:
    """The bone of this name, else the one that carries all legs and most of the body. ChainError if there is none."""
    if name:
        return bone_named(ob, name)
    lines = [[bone.name for bone in ob.pose.bones[leg.links[0]].parent_recursive] for leg in legs_of(ob)]
    shared = [ob.pose.bones[name] for name in lines[0] if all(name in line for line in lines[1:])] if lines else []
    if not shared:
        raise ChainError(messages.NO_HIPS(armature=ob.name))
    # What carries controls of legs as well is above the body.
    below = {carrier.bone for control in chain_controls(ob) for carrier in carriers_of(control) if carrier.ob == ob}
    return whole_body([bone for bone in shared if bone.name not in below] or shared)


def root_of(body: bpy.types.PoseBone) -> Control:
    """The topmost bone above a body; if there is none, the armature object."""
    above = body.parent_recursive
    return Control(body.id_data, above[-1].name if above else "", turns=True)


def line_of(body: bpy.types.PoseBone) -> list[Control]:
    """The armature object, and the bones from the topmost one down to a body."""
    ob, bones = body.id_data, [body, *body.parent_recursive]
    return [Control(ob, "", turns=True), *(Control(ob, bone.name, turns=True) for bone in reversed(bones))]


def chain_controls(ob: bpy.types.Object) -> list[Control]:
    """What is keyed to move the targets and pole targets of the chains of an armature object, live or switched off: its
    own bones, and objects."""
    found = [keyed_control(tip, control) for tip in all_tips(ob) for control in controls_of(tip)]
    own = [control for control in found if not control.bone or control.ob == ob]
    return [*dict.fromkeys(Control(control.ob, control.bone, turns=True) for control in own)]


def carriers_of(control: Control) -> Iterator[Control]:
    """What carries a control, nearest first: bones, and objects."""
    above = _above(control)
    while above is not None:
        yield above
        above = _above(above)


def _above(control: Control) -> Control | None:
    ob = control.ob
    if control.bone:
        parent = control.owner.parent
        return Control(ob, parent.name if parent else "", turns=True)
    if ob.parent is None:
        return None
    on_bone = ob.parent_type == "BONE" and ob.parent.pose is not None and ob.parent_bone in ob.parent.pose.bones
    return Control(ob.parent, ob.parent_bone if on_bone else "", turns=True)


def hanging_on(carrier: Control, controls: Iterable[Control]) -> list[Control]:
    """What moves directly with the armature object or a bone of it: its bones, and of objects those that these
    controls of chains are or hang on."""
    bones = carrier.owner.children if carrier.bone else [bone for bone in carrier.ob.pose.bones if bone.parent is None]
    found = [Control(carrier.ob, bone.name, turns=True) for bone in bones]
    for control in controls:
        line = [control, *carriers_of(control)]
        found += [low for low, high in pairwise(line) if high == carrier and not low.bone]
    return [*dict.fromkeys(found)]
