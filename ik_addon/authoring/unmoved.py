"""Sees to it that no bone moves when a chain is added."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np

from .. import messages
from ..rig.blender.armatures import indices_of
from ..rig.model.limb import Limb
from ..rig.pose.reading import SceneReader
from ..solvers import ChainError
from ..solvers.bending import is_straight, start_frame
from .homes import control_bones

ALLOWED = 1e-4
"""How far a bone may move, in chain lengths."""
_ROUNDING = 2.0**-23
"""Of a location in single precision, as a part of it."""


@contextmanager
def bones_stay(context: bpy.types.Context, tip: bpy.types.PoseBone) -> Iterator[None]:
    """Compares the evaluated pose of an armature after the block, which adds a chain to a tip, with the one before.

    Raises ChainError that names the bone that moved farthest, if any joint or the end of any bone's axis is elsewhere
    by more than `ALLOWED` and what single precision makes of the limb's bend. Control bones are left out.
    """
    ob = tip.id_data
    # An earlier control bone may be taken again.
    controls = control_bones(ob.data)
    names = [bone.name for bone in ob.pose.bones if bone.name not in controls]
    before = _poses(context, ob, names)
    yield
    context.view_layer.update()
    moved = np.linalg.norm(_poses(context, ob, names) - before, axis=2)
    try:
        reader = SceneReader(context.evaluated_depsgraph_get()).armature(ob)
        limb = reader.limb(tip.name)
        # An import may make a bone of any length: its axes tell no more than what they do to a limb.
        lengths = np.minimum([ob.data.bones[name].length for name in names], limb.chain.length)
        ways = np.maximum(moved[:, 3], moved[:, :3].max(axis=1) * lengths)
        # Written so that a way that is not a number counts as well.
        if not ways.max() <= _allowed(limb):
            name, distance = names[int(ways.argmax())], float(ways.max()) * reader.world.median_scale
            raise ChainError(messages.WOULD_MOVE(moved=name, distance=distance))
    except ChainError as error:
        raise error.of(messages.BONE(bone=tip.name)) from error


def _allowed(limb: Limb) -> float:
    """How far a bone may move when a chain is added to a limb, in armature space.

    The straighter a limb is, the more its bend depends on how the location of its target is rounded.
    """
    chain = limb.chain
    along = start_frame(chain).along
    bulge = max(((point - along * point.dot(along)).length for point in chain.joints[1:-1]), default=chain.length)
    if is_straight(chain):
        # It may become quite straight, or bend to where its hinge bends.
        return ALLOWED * chain.length + 3.0 * bulge
    rounding = _ROUNDING * (limb.world.translation.length / limb.world.median_scale + limb.target_armature.length)
    return chain.length * (ALLOWED + 2.0 * rounding / bulge)


def _poses(context: bpy.types.Context, ob: bpy.types.Object, names: list[str]) -> np.ndarray:
    """The three axes and the heads of some bones as evaluated, in armature space: (bones, 4, 3)."""
    bones = ob.evaluated_get(context.evaluated_depsgraph_get()).pose.bones
    # Column by column, as Blender keeps them.
    matrices = np.empty((len(bones), 4, 4), np.float32)
    bones.foreach_get("matrix", matrices.reshape(-1))
    return matrices[indices_of(bones, names), :, :3].astype(float)
