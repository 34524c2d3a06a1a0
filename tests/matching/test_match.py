"""Match Source: ankles, wrists, knees and elbows against what the source's evaluated bones say, scaled by hand."""

from math import pi, radians

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_addon.authoring.rigging import rig_legs
from ik_addon.matching import last_match_report, match_source

from ..rig.rigs import update
from ..scenes import go_to
from .bodies import FRAMES, SIDES, Build, moving_body, world_points

pytestmark = pytest.mark.versions

LEG, ARM = ("thigh", "shin", "foot"), ("upper_arm", "forearm", "hand")
LIMBS = [(bones, side) for bones in (LEG, ARM) for side in SIDES]
SOURCE = Build("mixamo", size=0.01, axes=(pi / 2.0, 0.0, 0.0), roll=0.4)


def rigged(source: Build, own: Build, travel: float = 1.0):
    """A source that walks, and a character to which its walk was retargeted naively, rigged."""
    bodies = moving_body(source, "source"), moving_body(own, "character", travel)
    rig_legs(bpy.context, bodies[1], arms=True)
    update()
    return bodies


def joints_over(ob, build, frames=FRAMES) -> dict:
    """The joints of all limbs, (frames, 3, 3) each, as Blender evaluates them."""
    found = {limb: [] for limb in LIMBS}
    for frame in frames:
        go_to(frame)
        for bones, side in LIMBS:
            found[bones, side].append(world_points(ob, build, bones, side))
    return {limb: np.array(rows) for limb, rows in found.items()}


def length_of(joints: np.ndarray) -> float:
    return float(np.linalg.norm(np.diff(joints[0], axis=0), axis=1).sum())


def carried(points: np.ndarray, source: Build, own: Build, scale: float) -> np.ndarray:
    """Points of the source's world where the character has them: from its origin, scaled and turned."""
    turn = np.array(Matrix.Rotation(own.heading - source.heading, 3, "Z"))
    return np.array(own.place) + scale * (points - np.array(source.place)) @ turn.T


def misses(theirs: dict, ours: dict, source: Build, own: Build, arms: str = "SHOULDER") -> dict:
    """How far each limb's end is from where the scaled source has it at each frame, in its own lengths."""
    found = {}
    for (bones, side), joints in ours.items():
        seen = theirs[bones, side]
        like = LEG if bones == LEG or arms == "GROUND" else ARM
        scale = length_of(ours[like, side]) / length_of(theirs[like, side])
        wanted = carried(seen[:, 2], source, own, scale)
        if bones == ARM and arms != "GROUND":
            roots = [each[bones, side][:, 0] for each in (theirs, ours)]
            if arms == "CHEST":
                roots = [(each[bones, "L"][:, 0] + each[bones, "R"][:, 0]) / 2.0 for each in (theirs, ours)]
            level = [carried(each, source, own, scale) for each in (seen[:, 2], roots[0])]
            wanted = roots[1] + level[0] - level[1]
        found[bones, side] = np.linalg.norm(joints[:, 2] - wanted, axis=1) / length_of(joints)
    return found


def swivels(theirs: dict, ours: dict, source: Build, own: Build) -> dict:
    """How far each knee and elbow is turned about its limb from where the source's is, radians, by mathutils."""
    heading = Quaternion((0.0, 0.0, 1.0), own.heading - source.heading)
    found = {}
    for limb, joints in ours.items():
        angles = []
        for seen, posed in zip(theirs[limb], joints, strict=True):
            lines, sides = [], []
            for root, middle, end in (seen, posed):
                line = (Vector(end) - Vector(root)).normalized()
                side = Vector(middle) - Vector(root)
                lines.append(line)
                sides.append(side - side.dot(line) * line)
            line, side = heading @ lines[0], heading @ sides[0]
            angles.append((line.rotation_difference(lines[1]) @ side).angle(sides[1]))
        found[limb] = np.array(angles)
    return found


CASES = {
    "alike": (SOURCE, Build()),
    "short": (SOURCE, Build("rigify", legs=0.6, arms=0.7, droop=radians(45.0), roll=1.0)),
    "tall": (Build("cmu", droop=radians(30.0)), Build("mixamo", legs=1.6, arms=1.3, size=0.01, axes=(pi / 2, 0, 0))),
    "turned": (
        Build("rigify", place=(1.0, 2.0, 0.5), heading=0.7, roll=-0.8),
        Build("cmu", legs=1.3, arms=0.6, place=(-3.0, 1.0, 1.2), heading=-1.9, knee=0.56, size=2.0),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_ankles_and_wrists_are_where_the_scaled_source_has_them(case):
    source, own = CASES[case]
    origin, ob = rigged(source, own, travel=1.1 * own.legs)
    before = misses(joints_over(origin, source), joints_over(ob, own), source, own)
    report = match_source(bpy.context, ob, origin)
    theirs, ours = joints_over(origin, source), joints_over(ob, own)
    after = misses(theirs, ours, source, own)
    print(case, {k: (v.max(), after[k].max()) for k, v in before.items()}, swivels(theirs, ours, source, own))
    print(report)
    assert 0
