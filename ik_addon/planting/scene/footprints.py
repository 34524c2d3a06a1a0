"""Each stance as an Empty that can be moved, turned and raised: planting again puts the foot there."""

from collections.abc import Iterator, Sequence

import bpy
import numpy as np
from mathutils import Matrix

from ...authoring.homes import controls_home
from ...rig.data.footprint import footprint_of, new_footprint
from ..feet.anchors import Anchors
from ..feet.sole import BALL, HEEL
from ..feet.stances import Stance, anchors_in, moved, stances_of
from ..feet.turns import UP, directions

_SIZE = 0.12
"""Of a footprint, in leg lengths."""


def base_of(stance: Stance) -> Matrix:
    """Where a stance is in the world: in the middle of its locks, its Y axis from heel to ball."""
    heels, balls = ([lock.place for lock in stance.locks if lock.point == point] for point in (HEEL, BALL))
    base = np.eye(4)
    base[:3, 3] = stance.place
    if heels and balls:
        ahead = directions((np.mean(balls, axis=0) - np.mean(heels, axis=0)) * (1.0, 1.0, 0.0))
        if ahead.any():
            base[:3, :3] = np.column_stack((np.cross(ahead, UP), ahead, UP))
    return Matrix(base)


def edited(anchors: Anchors, tips: Sequence[bpy.types.PoseBone], frames: range) -> Anchors:
    """Anchors moved as the user has moved their footprints."""
    stances = []
    for stance in stances_of(anchors):
        move = _move(tips[stance.leg], stance, frames)
        if move is not None:
            turn, place = move[:3, :3], stance.place
            stance = moved(stance, turn, turn @ place + move[:3, 3] - place)
        stances.append(stance)
    return anchors_in(stances)


def _move(tip: bpy.types.PoseBone, stance: Stance, frames: range) -> np.ndarray | None:
    """How the user has moved a stance, in the world; None: it has no footprint, or one that was not moved."""
    ob = _footprint(tip, frames[stance.first], frames[stance.last])
    if ob is None:
        return None
    now = Matrix.LocRotScale(*ob.matrix_world.decompose()[:2], None)
    base = Matrix(new_footprint(ob).base)
    move = np.array(now @ base.inverted_safe(), float)
    return None if np.allclose(move, np.eye(4), atol=1e-6) else move


def _footprint(tip: bpy.types.PoseBone, first: int, last: int) -> bpy.types.Object | None:
    """The footprint of a stance: of the leg's footprints the one that shares most of its frames."""

    def shared(ob: bpy.types.Object) -> int:
        kept = new_footprint(ob)
        return min(last, kept.last) - max(first, kept.first) + 1

    best = max(footprints_of(tip), key=shared, default=None)
    return best if best is not None and shared(best) > 0 else None


def footprints_of(tip: bpy.types.PoseBone) -> Iterator[bpy.types.Object]:
    """The footprints of a leg."""
    for ob in bpy.data.objects:
        kept = footprint_of(ob)
        if kept is not None and kept.armature == tip.id_data and kept.tip == tip.name:
            yield ob


def make_footprints(
    scene: bpy.types.Scene, tips: Sequence[bpy.types.PoseBone], anchors: Anchors, frames: range, lengths: np.ndarray
) -> None:
    """Give each stance a footprint, if it has none; those of stances that are no more go.

    anchors: as planned, before any edit. lengths: (legs), of the legs, in the world.
    """
    ob, used = tips[0].id_data, set()
    home = controls_home(ob, scene)
    for stance in stances_of(anchors):
        tip, first, last = tips[stance.leg], frames[stance.first], frames[stance.last]
        empty = _footprint(tip, first, last)
        if empty is None or empty in used:
            empty = bpy.data.objects.new(f"Footprint {tip.name} {first:04}", None)
            home.objects.link(empty)
            empty.empty_display_type, empty.empty_display_size = "ARROWS", _SIZE * float(lengths[stance.leg])
            empty.matrix_world = base = base_of(stance)
            kept = new_footprint(empty)
            kept.armature, kept.tip = ob, tip.name
            kept.base = [number for column in base.col for number in column]
        kept = new_footprint(empty)
        kept.first, kept.last = first, last
        used.add(empty)
    for tip in tips:
        for empty in [each for each in footprints_of(tip) if each not in used]:
            bpy.data.objects.remove(empty)
