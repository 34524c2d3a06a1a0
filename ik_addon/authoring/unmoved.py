"""Sees to it that no bone moves when a chain is added."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np

from .. import messages
from ..rig.reading import SceneReader
from ..solvers import ChainError

ALLOWED = 1e-4
"""How far a bone may move, in chain lengths."""


@contextmanager
def bones_stay(context: bpy.types.Context, tip: bpy.types.PoseBone) -> Iterator[None]:
    """Compares the evaluated pose of an armature after the block, which adds a chain to a tip, with the one before.

    Raises ChainError that names the bone that moved farthest, if any joint or the end of any bone's axis is elsewhere
    by more than `ALLOWED`.
    """
    ob = tip.id_data
    before = _places(context, ob)
    yield
    context.view_layer.update()
    ways = np.linalg.norm(_places(context, ob) - before, axis=2).max(axis=1)
    try:
        reader = SceneReader(context.evaluated_depsgraph_get()).armature(ob)
        # Written so that a way that is not a number counts as well.
        if not ways.max() <= ALLOWED * reader.limb(tip.name).chain.length:
            moved, distance = ob.pose.bones[int(ways.argmax())].name, float(ways.max()) * reader.world.median_scale
            raise ChainError(messages.WOULD_MOVE(moved=moved, distance=distance))
    except ChainError as error:
        raise error.of(messages.BONE(bone=tip.name)) from error


def _places(context: bpy.types.Context, ob: bpy.types.Object) -> np.ndarray:
    """The head of each bone and the ends of its three axes as evaluated, in armature space: (bones, 4, 3)."""
    evaluated = ob.evaluated_get(context.evaluated_depsgraph_get())
    bones = evaluated.pose.bones
    # Column by column, as Blender keeps them.
    matrices = np.empty((len(bones), 4, 4), np.float32)
    bones.foreach_get("matrix", matrices.reshape(-1))
    lengths = np.array([bone.bone.length for bone in bones])
    heads = matrices[:, 3:, :3].astype(float)
    return np.concatenate([heads, heads + matrices[:, :3, :3] * lengths[:, None, None]], axis=1)
