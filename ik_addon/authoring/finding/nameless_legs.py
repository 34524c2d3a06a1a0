"""The one pair of legs of a body whose bones' names have no meaning."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import radians

import bpy
from mathutils import Vector

from ... import messages
from .body import Body
from .limb_shape import LimbCandidate, Reasons, foot_and_toes

_SYMMETRIC = 0.05
"""Of a limb's length: how well two limbs must mirror each other."""
_HANGS = 0.8
"""Of a leg's length: how far down it leads."""
_FOOT_TURNS = radians(30.0)
"""Least angle between a foot and its shin; a hand is in line with its forearm."""
_NO_PAIR = "no pair"

_Line = list[bpy.types.Bone]


def legs_by_shape(body: Body) -> tuple[list[LimbCandidate], Reasons]:
    """The one pair of legs that shape alone shows, and why other pairs that look like it are none."""
    joints = [point for bone in body.bones for point in _points([bone], body)]
    pairs, reasons = [], {}
    for pelvis in body.bones:
        lines = [_line(child, body) for child in body.children(pelvis) if body.name(child).is_meaningless]
        for pair in combinations([line for line in lines if len(line) >= 3], 2):
            reason = _why_no_legs(pelvis, *pair, joints, body)
            if not reason:
                pairs.append(pair)
            elif reason != _NO_PAIR:
                reasons |= {line[0].name: reason for line in pair}
    if len(pairs) > 1:
        return [], reasons | {line[0].name: messages.MANY_PAIRS() for pair in pairs for line in pair}
    return [leg for one, other in pairs for leg in _pair_of_legs(one, other, body)], reasons


def _line(bone: bpy.types.Bone, body: Body) -> _Line:
    """A bone and those below it, as far as each has one child alone."""
    line = [bone]
    while len(children := [child for child in body.children(line[-1]) if body.name(child).is_meaningless]) == 1:
        line += children
    return line


def _points(line: _Line, body: Body) -> list[Vector]:
    """All joints of a line. A bone's tail is one only where no other bone is below it."""
    heads = [bone.head_local for bone in line]
    return heads if body.children(line[-1]) or len(line) > 3 else [*heads, line[-1].tail_local]


def _why_no_legs(pelvis: bpy.types.Bone, first: _Line, second: _Line, joints: Sequence[Vector], body: Body) -> str:
    """Why two lines of bones are no legs; _NO_PAIR where they do not even look like it, "" where they are."""
    spans = [line[2].head_local - line[0].head_local for line in (first, second)]
    down = sum(spans, Vector()).normalized()
    length = max(span.length for span in spans)
    feet = [down.dot(point) for line in (first, second) for point in _points(line, body)]
    depths = [down.dot(joint) for joint in joints]
    if (
        not _mirror_each_other(first, second, _SYMMETRIC * length)
        or max(depths) - max(feet) > _SYMMETRIC * length
        or min(down.dot(span) for span in spans) < _HANGS * length
    ):
        return _NO_PAIR
    if down.dot(pelvis.head_local) - min(depths) < 0.5 * length:
        return messages.NO_BODY_ABOVE()
    if len(first) > 4:
        return messages.MANY_BONES(count=len(first))
    if not all(_has_foot(line) for line in (first, second)):
        return messages.NO_FOOT_STANDS_OUT()
    return ""


def _mirror_each_other(first: _Line, second: _Line, near: float) -> bool:
    if len(first) != len(second):
        return False
    one, other = ([bone.head_local for bone in line] for line in (first, second))
    across = one[-1] - other[-1]
    middle = (one[-1] + other[-1]) / 2.0
    normal = across.normalized()
    mirrored = [point - 2.0 * normal.dot(point - middle) * normal for point in one]
    apart = max((a - b).length for a, b in zip(mirrored, other, strict=True))
    return across.length > near and apart < near


def _foot(line: _Line) -> Vector:
    """Where a foot points: to its toe, whose head is a joint; without one to its tail."""
    return (line[3].head_local if len(line) > 3 else line[2].tail_local) - line[2].head_local


def _has_foot(line: _Line) -> bool:
    """True if a line turns after its shin, as it does at an ankle or a hock."""
    thigh, shin, foot, *_ = line
    down = foot.head_local - shin.head_local
    return (shin.head_local - thigh.head_local).length > 0.0 and down.angle(_foot(line), 0.0) > _FOOT_TURNS


def _pair_of_legs(first: _Line, second: _Line, body: Body) -> Iterable[LimbCandidate]:
    """Two lines as legs. If names show no side, left is where a body has it that looks where its feet point."""
    pair = (first, second)
    down = sum((line[2].head_local - line[0].head_local for line in pair), Vector())
    left = sum((_foot(line) for line in pair), Vector()).cross(down)
    for line, other in (pair, pair[::-1]):
        side = "L" if left.dot(line[0].head_local - other[0].head_local) > 0.0 else "R"
        yield LimbCandidate("LEG", body.name(line[0]).side or side, "", tuple(line[:2]), **foot_and_toes(line[2], body))
