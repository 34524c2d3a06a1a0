"""Limbs with live chains: their controls are moved, or held, in place of their bones."""

from collections.abc import Iterable, Sequence

import bpy
from mathutils import Matrix, Quaternion

from ... import messages
from ...authoring.placing import Control, Placer, check_control, keyed_control
from ...rig.blender.dependencies import carriers
from ...rig.pose.reading import SceneReader
from ...solvers import ChainError
from ..solving.geometry import Move

_STAYS = 1e-6
"""Of a matrix element: a control that is so near to its place is not touched."""


LimbControl = tuple[Control, Matrix]
"""What moves the end of a limb: its control, and where that is in the world in the pose before."""


def control_of(ob: bpy.types.Object, tip_name: str, depsgraph: bpy.types.Depsgraph) -> LimbControl:
    """The control of a chain. Raises ChainError if it would not stay where it is put, or the chain only blends."""
    tip = ob.pose.bones[tip_name]
    if 0.0 < tip.analytic_ik_influence < 1.0:
        raise ChainError(messages.GRAB_BLENDED(bone=tip_name))
    if tip.analytic_ik_target is None:
        raise ChainError(messages.GRAB_NO_TARGET(bone=tip_name))
    target = Control(tip.analytic_ik_target, tip.analytic_ik_subtarget, tip.analytic_ik_use_rotation)
    control = keyed_control(tip, target)
    try:
        check_control(control)
    except ChainError as error:
        raise error.of(messages.BONE(bone=tip_name)) from None
    return control, Placer(SceneReader(depsgraph)).world_of(control)


def rides_on(ob: bpy.types.Object, tip_name: str, bones: Iterable[str]) -> bool:
    """True if one of these bones carries the target of a chain."""
    tip, names = ob.pose.bones[tip_name], {*bones}
    carried = carriers(tip.analytic_ik_target, tip.analytic_ik_subtarget) if tip.analytic_ik_target else ()
    return any(owner == ob and bone.name in names for owner, bone in carried)


def place_controls(context: bpy.types.Context, world: Matrix, moves: Sequence[tuple[LimbControl, Move]]) -> None:
    """Let controls make the moves of their limbs' ends (armature space), wherever what carries them has gone."""
    context.view_layer.update()
    placer = Placer(SceneReader(context.evaluated_depsgraph_get()))
    for (control, before), (turn, shift) in moves:
        move = Matrix.LocRotScale(shift, Quaternion(turn), None)
        wanted = world @ move @ world.inverted_safe() @ before
        off = wanted - placer.world_of(control)
        if max(abs(number) for row in off for number in row) > _STAYS:
            placer.place(control, wanted)
