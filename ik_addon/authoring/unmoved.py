"""Sees to it that no bone moves when a chain is added, but for what Blender's own numbers leave open."""

from collections.abc import Iterator
from contextlib import contextmanager
from math import hypot, sqrt
from typing import NamedTuple

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
VISIBLE = 1e-3
"""How far a bone has to move to be seen, in chain lengths."""
_ROUNDING = 2.0**-21
"""Of a location in single precision, with what matrices make of it, as a part of it: three times the most that was
seen of 4000 limbs."""


class Moved(NamedTuple):
    """A bone that moved as a chain was added. distance: in world units."""

    bone: str
    distance: float


@contextmanager
def bones_stay(context: bpy.types.Context, tip: bpy.types.PoseBone) -> Iterator[list[Moved]]:
    """Compares the evaluated pose of an armature after the block, which adds a chain to a tip, with the one before.

    Gives a list that holds, after the block, the bone that moved farthest if that can be seen. Raises ChainError that
    names it, if any joint or the end of any bone's axis is elsewhere by more than `ALLOWED` and what single precision
    makes of the limb. Control bones are left out.
    """
    ob = tip.id_data
    # An earlier control bone may be taken again.
    controls = control_bones(ob.data)
    names = [bone.name for bone in ob.pose.bones if bone.name not in controls]
    before, seen = _poses(context, ob, names), []
    yield seen
    context.view_layer.update()
    moved = np.linalg.norm(_poses(context, ob, names) - before, axis=2)
    try:
        reader = SceneReader(context.evaluated_depsgraph_get()).armature(ob)
        limb = reader.limb(tip.name)
        # An import may make a bone of any length: its axes tell no more than what they do to a limb.
        lengths = np.minimum([ob.data.bones[name].length for name in names], limb.chain.length)
        ways = np.maximum(moved[:, 3], moved[:, :3].max(axis=1) * lengths)
        farthest = Moved(names[int(ways.argmax())], float(ways.max()) * reader.world.median_scale)
        # Written so that a way that is not a number counts as well.
        if not ways.max() <= _allowed(limb):
            raise ChainError(messages.WOULD_MOVE(moved=farthest.bone, distance=farthest.distance))
        if ways.max() > VISIBLE * limb.chain.length:
            seen.append(farthest)
    except ChainError as error:
        raise error.of(messages.BONE(bone=tip.name)) from error


def _allowed(limb: Limb) -> float:
    """How far a bone may move when a chain is added to a limb, in armature space.

    The straighter a limb is, the more its bend depends on how the location of its target is rounded: where the target
    is a little closer, the bulge grows by its square.
    """
    chain = limb.chain
    along = start_frame(chain).along
    bulge = max(((point - along * point.dot(along)).length for point in chain.joints[1:-1]), default=chain.length)
    rounding = _ROUNDING * (limb.world.translation.length / limb.world.median_scale + limb.target_armature.length)
    bent = hypot(bulge, sqrt(rounding * chain.length)) - bulge
    # A straight limb may become quite straight, or bend to where its hinge bends.
    return ALLOWED * chain.length + rounding + bent + (3.0 * bulge if is_straight(chain) else 0.0)


def _poses(context: bpy.types.Context, ob: bpy.types.Object, names: list[str]) -> np.ndarray:
    """The three axes and the heads of some bones as evaluated, in armature space: (bones, 4, 3)."""
    bones = ob.evaluated_get(context.evaluated_depsgraph_get()).pose.bones
    # Column by column, as Blender keeps them.
    matrices = np.empty((len(bones), 4, 4), np.float32)
    bones.foreach_get("matrix", matrices.reshape(-1))
    return matrices[indices_of(bones, names), :, :3].astype(float)
