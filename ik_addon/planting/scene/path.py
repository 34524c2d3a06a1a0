"""The curve that a character walks along: read, and made from a clip."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ... import messages
from ...rig.blender.dependencies import carriers
from ...rig.model.limb import known_bones
from ...solvers import ChainError
from ..feet.along_path import AlongPath, along_path, brought
from ..feet.clip import applied
from ..feet.options import Options
from ..feet.path import GroundPath, path_of
from ..feet.spine import Move
from ..feet.treadmill import Stage, Standing
from ..feet.walk import Walk
from .riders import Riders

_POINTS = 64
"""Of each segment of a curve, of which the path is made."""
_SPACING = 0.02
"""Of the samples of a path, leg lengths."""
_BASE = "analytic_ik_path_of_clip"
"""Where a curve object keeps the points of the path that it was made as, where the clip's way began and ended, and in
a last row how far behind its beginning it went."""
_SHORTEST = 0.1
"""Leg lengths; a shorter path was drawn by mistake, or is in other units."""
_SAME = 0.5
"""Leg lengths by which these may be elsewhere: contacts may have been edited."""
_NEAR = 0.05
"""Leg lengths that a curve may be from the way of which it is made."""
_MOST = 4
"""Points of such a curve for each stride, at most."""


@dataclass(frozen=True, slots=True)
class WalkAlong:
    """A clip on a curve.

    stage: the clip there. body: how the body is brought there from where it was captured. spines: the same of each bone
    of each spine. figures: what the report says of it.
    """

    stage: Stage
    body: Move
    spines: list[list[Move]]
    figures: dict


def walk_along(
    stage: Stage, curve: bpy.types.Object, options: Options, riders: Riders, rows: Sequence[np.ndarray]
) -> WalkAlong:
    """A clip on a curve; one that was made in place goes there as fast as its ground passes.

    riders, rows: what goes along, and what was read of it.
    """
    seen, sole = stage.seen, stage.sole
    walk = walk_of(stage)
    along = _along(walk, curve, options)
    away = np.arange(seen.frame_count)[:, None] / seen.fps * stage.ground.velocity
    there = brought(walk, along, options, riders.spines_read(rows, away), stage.ground.heights)
    body, *spines = (
        [(turns, shifts - applied(turns, away)) for turns, shifts in own] for own in ([there.body], *there.spines)
    )
    walked = along.stride * walk.way.length
    figures = {
        "object": curve.name,
        "length": along.path.length,
        "closed": along.path.is_closed,
        "start": along.offset,
        "end": along.offset + walked,
        "stride": along.stride,
        "from_clip": along.base is not None,
    }
    ground = Standing(np.zeros(3), stage.ground.heights)
    return WalkAlong(Stage(there.clip, sole, ground, stage.contacts), body[0], spines, figures)


def walk_of(stage: Stage) -> Walk:
    """A clip seen as a walk."""
    return Walk(stage.seen, stage.sole, stage.contacts)


def _along(walk: Walk, curve: bpy.types.Object, options: Options) -> AlongPath:
    """Where on a curve a walk goes."""
    spacing = _SPACING * walk.clip.size
    rounding = options.path_rounding * walk.stride * (1.0 if options.path_fit else options.path_stride)

    def path(points: np.ndarray, is_closed: bool) -> GroundPath:
        return path_of(points[:, :2], is_closed, spacing, rounding)

    made, back = None, 0.0
    if _BASE in curve:
        *base, start, end, (back, *_) = np.array(curve[_BASE], float).reshape(-1, 3)
        made = path(np.array(base), False)
        made = replace(made, ahead=made.ahead + back)
        # Made of another clip it is a curve like any other. Of this one the walk may end earlier.
        own, at = _ends(walk), made.at(np.array(walk.way.length))[0]
        away = [np.linalg.norm((one - other)[:2]) for one, other in ((own[0], start), (own[1], end))]
        away[1] = min(away[1], np.linalg.norm(own[1, :2] - at))
        made, back = (made, back) if max(away) < _SAME * walk.clip.size else (None, 0.0)
    return along_path(walk, path(*points_of(curve)), made, options, back)


def _ends(walk: Walk) -> np.ndarray:
    """(2, 3), where the way of a clip begins and ends."""
    return walk.way.at(np.array((0.0, walk.clip.frame_count - 1.0)))[0]


def path_named(scene: bpy.types.Scene, name: str) -> bpy.types.Object | None:
    """The object of that name to walk along; None without a name."""
    if name and name not in scene.objects:
        raise ChainError(messages.PATH_GONE(object=name))
    return scene.objects.get(name)


def check_path(curve: bpy.types.Object, tips: Sequence[bpy.types.PoseBone]) -> None:
    """Raise ChainError where an armature object with these legs cannot walk along an object."""
    if curve.type != "CURVE":
        raise ChainError(messages.PATH_NO_CURVE(object=curve.name))
    ob, length = tips[0].id_data, np.linalg.norm(np.diff(points_of(curve)[0][:, :2], axis=0), axis=1).sum()
    leg = ob.matrix_world.median_scale * max(sum(bone.bone.length for bone in known_bones(tip)) for tip in tips)
    if length < _SHORTEST * leg:
        raise ChainError(messages.PATH_TOO_SHORT(object=curve.name, length=length, leg=leg))
    if any(owner == ob for owner, _ in carriers(curve, "")):
        raise ChainError(messages.PATH_ON_BODY(object=curve.name, armature=ob.name))


def points_of(curve: bpy.types.Object) -> tuple[np.ndarray, bool]:
    """Points (n, 3) of the first spline of a curve object, in the world, and whether it is closed.

    As Blender draws it, without any thickness.
    """
    if not curve.data.splines:
        return np.zeros((0, 3)), False
    data = curve.data.copy()
    try:
        data.bevel_depth = data.extrude = data.offset = 0.0
        data.bevel_object = data.taper_object = None
        data.resolution_u, data.render_resolution_u = _POINTS, 0
        for spline in data.splines[1:]:
            data.splines.remove(spline)
        ob = bpy.data.objects.new(curve.name, data)
        try:
            points = [curve.matrix_world @ vertex.co for vertex in ob.to_mesh().vertices]
            ob.to_mesh_clear()
        finally:
            bpy.data.objects.remove(ob)
    finally:
        bpy.data.curves.remove(data)
    return np.array(points, float).reshape(-1, 3), curve.data.splines[0].use_cyclic_u


def curve_of(walk: Walk, name: str, scene: bpy.types.Scene) -> tuple[bpy.types.Object, float]:
    """A curve along which a walk goes as it does, with a point for each stride, more where it bends. And the farthest
    that the walk is from it, leg lengths."""
    places, _, ways, _ = walk.way.at(np.arange(walk.clip.frame_count))
    strides = max(1, round(np.ptp(ways) / walk.stride))
    near = 0.5 * np.abs(np.diff(ways)).max() + 1e-9
    # Where it goes there and back it is where it was last.
    wanted = np.linspace(ways.min(), ways.max(), 4 * _MOST * strides + 1)
    line = places[[np.flatnonzero(np.abs(ways - way) <= near)[-1] for way in wanted]]
    data = bpy.data.curves.new(name, "CURVE")
    data.dimensions = "3D"
    curve = bpy.data.objects.new(name, data)
    scene.collection.objects.link(curve)
    for count in range(strides, _MOST * strides + 1):
        _draw(data, line[np.linspace(0, len(line) - 1, count + 1).round().astype(int)])
        if _farthest(line, curve) < _NEAR * walk.clip.size:
            break
    back = (max(0.0, -float(ways.min())), 0.0, 0.0)
    curve[_BASE] = np.vstack((points_of(curve)[0], _ends(walk), back)).ravel().tolist()
    return curve, _farthest(places[:: max(1, walk.step // 4)], curve) / walk.clip.size


def _draw(data: bpy.types.Curve, places: np.ndarray) -> None:
    """Let a curve go smoothly through places (n, 3)."""
    data.splines.clear()
    spline = data.splines.new("BEZIER")
    spline.bezier_points.add(len(places) - 1)
    for knot, place in zip(spline.bezier_points, places, strict=True):
        knot.co = place
        knot.handle_left_type = knot.handle_right_type = "AUTO"


def _farthest(places: np.ndarray, curve: bpy.types.Object) -> float:
    """How far the farthest of places (n, 3) is from a curve, over the ground."""
    flat = places[:, None, :2] - points_of(curve)[0][:, :2]
    return float(np.linalg.norm(flat, axis=2).min(axis=1).max())
