"""Moves of a part of a body alone: a knee or an elbow, a tail, a head that looks somewhere."""

from collections.abc import Sequence
from math import atan2, radians

from . import geometry as g
from .arc import Arc
from .body import Body
from .limb import GrabLimb

_GAZE = radians(100.0)
"""By which a head turns at most."""
_CURL = radians(70.0)
"""By which each joint of a tail bends more at most."""


def knee_moves(limb: GrabLimb, goal: g.Point, is_held: bool, keeps: bool) -> dict[int, g.Move]:
    """A knee or an elbow goes round its circle if the end is held, else the whole limb aims it there. keeps: the end
    keeps its orientation."""
    if is_held:
        was, now = (g.unit(g.across(g.sub(at, limb.root), limb.along), limb.side) for at in (limb.points[1], goal))
        side = g.rotate(g.swing(was, now, limb.along), limb.side)
        return limb.closed(g.NO_MOVE, limb.end, g.NO_TURN if keeps else None, side)
    arm = g.unit(g.sub(limb.points[1], limb.root))
    move = g.about(limb.root, g.swing(arm, g.unit(g.sub(goal, limb.root), arm), limb.axis))
    moves = dict.fromkeys(limb.links, move)
    if limb.found.end >= 0 and not limb.found.rides:
        moves[limb.found.end] = g.bringing(g.NO_TURN, limb.end, g.moved(move, limb.end))
    return moves


def row_moves(body: Body, row: Sequence[int], goal: g.Point) -> dict[int, g.Move]:
    """A tail curls and swings, so that the tip of its last bone is at the goal."""
    down = g.mul(g.add(body.bones.up, body.forward), -1.0)
    return Arc(body.bones, row, body.bones.tails[row[-1]], down, _CURL).moves(g.NO_MOVE, goal)


def gaze_moves(body: Body, goal: g.Point) -> dict[int, g.Move]:
    """The neck turns half of the way, and the head the rest: it faces the goal, or as far that way as it can."""
    links = [*body.neck.links] if body.neck else []
    heads, moves, move = body.bones.heads, {}, g.NO_MOVE
    for k, bone in enumerate(links):
        way = g.unit(g.sub(goal, g.moved(move, heads[links[-1]])), body.facing)
        axis = g.cross(body.facing, way)
        angle = min(atan2(g.norm(axis), g.dot(body.facing, way)), _GAZE)
        part = 1.0 if bone == links[-1] else 0.5 * (k + 1) / (len(links) - 1)
        turn = g.turn_by(g.mul(g.unit(axis, body.bones.up), angle * part))
        moves[bone] = move = g.bringing(turn, heads[bone], g.moved(move, heads[bone]))
    return moves
