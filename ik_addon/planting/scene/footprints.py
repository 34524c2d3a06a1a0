"""Each stance as an Empty that can be moved, turned and raised: planting again puts the foot there."""

from collections.abc import Iterator, Sequence

import bpy
import numpy as np
from mathutils import Matrix

from ...authoring.finding.names import read_names
from ...authoring.placing import controls_home
from ...rig.data.records import Footprint, footprint_of, new_footprint
from ...rig.model.foot import end_bone
from ..feet.anchors import Anchors, Stance, anchors_in, moved, stances_of
from ..feet.clip import LegMotion, directions
from ..feet.contacts import BALL, HEEL, HeelAndBall

_NAMES = {"L": "Footprint Left", "R": "Footprint Right", "": "Footprint"}
_COLORS = {"L": (0.13, 0.42, 0.95), "R": (0.93, 0.22, 0.18), "": (0.95, 0.75, 0.15)}
_OPACITY = 0.85
_WIDTH, _HEIGHT = 72, 160
"""Pixels."""
_PARTS = ((0.0, -0.68, 0.48, 0.29), (0.08, 0.33, 0.76, 0.64))
"""Heel and ball of a left sole as ellipses: center and radii, of half the width and half the height."""
_SHARPNESS = 8.0
"""By how much the edge of a sole fades."""


def footprint_image(side: str) -> bpy.types.Image:
    """The image of a footprint of a side, L, R or "": the file's own if it has one of that name."""
    name = _NAMES[side]
    image = bpy.data.images.get(name)
    if image is None:
        image = bpy.data.images.new(name, _WIDTH, _HEIGHT, alpha=True)
        image.pixels.foreach_set(_pixels(side).ravel())
        # Else it would be lost with the file.
        image.pack()
    return image


def _pixels(side: str) -> np.ndarray:
    """(height, width, 4), from below."""
    y, x = (np.arange(2 * count)[1::2, None] / count - 1.0 for count in (_HEIGHT, _WIDTH))
    x = -x.T if side == "R" else x.T
    outside = np.min([((x - cx) / rx) ** 2 + ((y - cy) / ry) ** 2 for cx, cy, rx, ry in _PARTS], axis=0)
    opacity = _OPACITY * np.clip((1.0 - outside) * _SHARPNESS, 0.0, 1.0)
    pixels = np.empty((_HEIGHT, _WIDTH, 4), np.float32)
    pixels[..., :3], pixels[..., 3] = _COLORS[side], opacity
    return pixels


_LENGTH = 1.8
"""Of a footprint, times from heel to ball."""
_AHEAD = 0.08
"""Part of its length by which a footprint's middle is ahead of that of heel and ball: toes are ahead of the ball."""
_POINT = 0.2
"""Of the footprint of a foot that is a point, in leg lengths."""


def base_of(stance: Stance, sole: HeelAndBall, feet: np.ndarray) -> Matrix:
    """Where a stance is in the world: in the middle of its locks, its Y axis from heel to ball, along the slope.

    feet: (T, 3, 3), how its foot is turned in the capture: where it points if only one of both stands.
    """
    heels, balls = ([lock.place for lock in stance.locks if lock.point == point] for point in (HEEL, BALL))
    base = np.eye(4)
    base[:3, 3] = stance.place
    if heels and balls:
        ahead = np.mean(balls, axis=0) - np.mean(heels, axis=0)
    else:
        along = sole.points[stance.leg, BALL] - sole.points[stance.leg, HEEL]
        ahead = (feet[stance.first : stance.last + 1] @ along).mean(axis=0) * (1.0, 1.0, 0.0)
    ahead = directions(ahead)
    aside = directions(np.array((ahead[1], -ahead[0], 0.0)))
    if aside.any():
        base[:3, :3] = np.column_stack((aside, ahead, np.cross(aside, ahead)))
    return Matrix(base)


def edited(
    anchors: Anchors, tips: Sequence[bpy.types.PoseBone], frames: range, clip: LegMotion, sole: HeelAndBall
) -> Anchors:
    """Anchors moved as the user has moved their footprints. clip, sole: that is planted."""
    stances = []
    for stance in stances_of(anchors):
        move = _move(tips[stance.leg], stance, frames, sole, clip.feet[stance.leg])
        if move is not None:
            turn, place = move[:3, :3], stance.place
            stance = moved(stance, turn, turn @ place + move[:3, 3] - place)
        stances.append(stance)
    return anchors_in(stances)


def _move(
    tip: bpy.types.PoseBone, stance: Stance, frames: range, sole: HeelAndBall, feet: np.ndarray
) -> np.ndarray | None:
    """How the user has moved a stance, in the world; None: it has no footprint, or one that was not moved.

    feet: see `base_of`. On a path that was changed what the footprint was moved by goes along.
    """
    ob = footprint_over(tip, frames[stance.first], frames[stance.last])
    if ob is None:
        return None
    now, base = place_of(ob), Matrix(new_footprint(ob).base)
    if np.allclose(now @ base.inverted_safe(), np.eye(4), atol=_UNMOVED):
        return None
    here = base_of(stance, sole, feet)
    return np.array(here @ base.inverted_safe() @ now @ here.inverted_safe(), float)


_UNMOVED = 1e-6
"""By which elements of matrices in single precision may differ."""


def place_of(footprint: bpy.types.Object) -> Matrix:
    """Where a footprint is in the world, without its size."""
    return Matrix.LocRotScale(*footprint.matrix_world.decompose()[:2], None)


def show_corrected(tip: bpy.types.PoseBone, first: int, last: int, move: Matrix) -> None:
    """Let the footprint of a stance, if it has one, stand where a correction brings it."""
    empty = footprint_over(tip, first, last)
    if empty is not None:
        kept = new_footprint(empty)
        kept.planned = numbers_of(empty.matrix_world)
        empty.matrix_world = move @ empty.matrix_world
        kept.shown = numbers_of(place_of(empty))


def show_planned(tip: bpy.types.PoseBone) -> None:
    """Let the footprints of a leg stand where they would without corrections."""
    for empty in footprints_of(tip):
        kept = new_footprint(empty)
        if is_corrected(kept):
            empty.matrix_world = Matrix(kept.planned)
            kept.shown = numbers_of(place_of(empty))
            kept.property_unset("planned")


def is_corrected(kept: Footprint) -> bool:
    """Whether a footprint stands where a correction brought it."""
    return abs(Matrix(kept.planned).determinant()) > 0.0


def footprint_over(tip: bpy.types.PoseBone, first: int, last: int) -> bpy.types.Object | None:
    """The footprint of a stance: of the leg's footprints the one that shares most of its frames."""
    shared = {ob: shared_by(new_footprint(ob), first, last) for ob in footprints_of(tip)}
    best = max(shared, key=lambda ob: shared[ob], default=None)
    return best if best is not None and shared[best] > 0 else None


def shared_by(kept: Footprint, first: int, last: int) -> int:
    """How many frames a footprint shares with a stance, if any."""
    return min(last, kept.last) - max(first, kept.first) + 1


def footprints_of(tip: bpy.types.PoseBone) -> Iterator[bpy.types.Object]:
    """The footprints of a leg in the current action of its armature."""
    for ob in bpy.data.objects:
        kept = footprint_of(ob)
        if kept is not None and kept.armature == tip.id_data and kept.tip == tip.name and is_current(kept):
            yield ob


def is_current(kept: Footprint) -> bool:
    """Whether a footprint is of the current action of its armature."""
    data = kept.armature.animation_data
    return kept.action is None or (data is not None and kept.action == data.action)


def make_footprints(
    scene: bpy.types.Scene,
    tips: Sequence[bpy.types.PoseBone],
    anchors: Anchors,
    frames: range,
    clip: LegMotion,
    sole: HeelAndBall,
) -> None:
    """Give each stance a footprint, if it has none; those of stances that are no more go, those of other actions hide.

    anchors: as planned, before any edit. clip, sole: that was planted.
    """
    used = set()
    home = controls_home(tips[0].id_data, scene)
    for stance in stances_of(anchors):
        tip, first, last = tips[stance.leg], frames[stance.first], frames[stance.last]
        empty = footprint_over(tip, first, last)
        if empty is None or empty in used:
            empty = _new(tip, base_of(stance, sole, clip.feet[stance.leg]), first)
            home.objects.link(empty)
            along = float(np.linalg.norm(np.subtract(*sole.points[stance.leg])))
            empty.empty_display_size = _LENGTH * along or _POINT * float(clip.reaches[stance.leg])
        kept = new_footprint(empty)
        here, there = Matrix(kept.base), base_of(stance, sole, clip.feet[stance.leg])
        if not np.allclose(here, there, atol=_UNMOVED):
            empty.matrix_world = there @ here.inverted_safe() @ empty.matrix_world
            kept.base = numbers_of(there)
        if empty.name == _name(tip, kept.first):
            empty.name = _name(tip, first)
        kept.first, kept.last, kept.action = first, last, tip.id_data.animation_data.action
        empty.hide_viewport = False
        kept.shown = numbers_of(place_of(empty))
        used.add(empty)
    for tip in tips:
        for empty in [each for each in footprints_of(tip) if each not in used]:
            bpy.data.objects.remove(empty)
    for other in bpy.data.objects:
        kept = footprint_of(other)
        if kept is not None and kept.armature == tips[0].id_data and not is_current(kept):
            other.hide_viewport = True


def _new(tip: bpy.types.PoseBone, base: Matrix, first: int) -> bpy.types.Object:
    """An Empty that looks like a footprint of a leg."""
    empty = bpy.data.objects.new(_name(tip, first), None)
    empty.empty_display_type = "IMAGE"
    names = read_names(bone.name for bone in tip.id_data.pose.bones)
    empty.data = footprint_image(names[tip.name].side)
    empty.empty_image_offset = -0.5, _AHEAD - 0.5
    empty.matrix_world = base
    kept = new_footprint(empty)
    kept.armature, kept.tip, kept.first = tip.id_data, tip.name, first
    kept.base = numbers_of(base)
    return empty


def numbers_of(matrix: Matrix) -> list[float]:
    """A matrix by its columns, as a file keeps it."""
    return [number for column in matrix.col for number in column]


def _name(tip: bpy.types.PoseBone, first: int) -> str:
    """What a footprint is called: in the order of the steps, whichever foot it is."""
    return f"Footprint {first:04} {(end_bone(tip) or tip).name}"
