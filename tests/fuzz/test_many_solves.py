"""Many solves at random: nothing is raised, nothing is no number, no target in reach is missed.

On rigs in Blender, measured on what it evaluates, and on chains without a scene, measured in double precision. The
suite does some thousand. As many as one likes:

    ANALYTIC_IK_SOLVES=200000 ANALYTIC_IK_SOLVES_IN_BLENDER=50000 pytest -s tests/fuzz/test_many_solves.py

Half of them are of chains of two bones, by all solvers for these, half of Triangulation with three to eight bones.
ANALYTIC_IK_SOLVES_SEED gives other rigs and chains.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import dist, isfinite, sqrt
from random import Random
from time import perf_counter

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

from ik_addon.rig.status.problems import problems_of
from ik_addon.solvers import Chain, Goal, link_rotations, solve

from ..rig.rigs import (
    TWO_BONE_SOLVERS,
    Rig,
    evaluated_copy,
    pole_point,
    random_rig,
    random_rotation,
    random_unit,
    update,
)
from ..scenes import EXACT
from .console import heard

SOLVES = int(os.environ.get("ANALYTIC_IK_SOLVES", "4000"))
SOLVES_IN_BLENDER = int(os.environ.get("ANALYTIC_IK_SOLVES_IN_BLENDER", "1000"))
SEED = int(os.environ.get("ANALYTIC_IK_SOLVES_SEED", "0"))
TARGETS_EACH = 100
"""How many targets a rig, or a chain, gets."""
UNIT = 2.0**-24
"""Half of what lies between two numbers of single precision, relative to them: to what Blender rounds."""
PLACES = ("inside", "far edge", "near edge", "too far", "too near", "at the root", "towards the pole", "at the tip")


@dataclass
class Count:
    """What came of it. worst: the largest way by which a target was missed that need not be missed, in chain lengths;
    beyond: how often it was more than is promised, EXACT, and inexact: likewise after what Blender's own numbers make
    of it, which is measured on each rig: see `Measured.missed`.
    """

    solves: Counter[str] = field(default_factory=Counter)
    worst: dict[str, tuple[float, int]] = field(default_factory=dict)
    beyond: Counter[str] = field(default_factory=Counter)
    inexact: list[str] = field(default_factory=list)
    not_finite: list[str] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    printed: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        worst = {place: f"{missed:.1e} (seed {seed})" for place, (missed, seed) in self.worst.items()}
        return (
            f"{self.solves.total()} solves: {dict(self.solves)}\nworst, in chain lengths: {worst}\nbeyond {EXACT}: "
            f"{dict(self.beyond)}; of these not by Blender's own numbers: {len(self.inexact)} {self.inexact[:5]}\n"
            f"not finite: {len(self.not_finite)}; refused: {dict(self.refused)}; exceptions: {len(self.printed)}"
        )


class Measured:
    """A live rig whose target is moved again and again; points are measured in double precision, in armature space."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        world = np.array(evaluated_copy(rig.ob).matrix_world, float)
        self.to_armature, self.to_world = np.linalg.inv(world), world
        # What carries the target may stand far away for the size of the chain.
        above = [rig.target.ob, *filter(None, [rig.target.ob.parent])]
        self.largest = np.abs(world[:3, 3]).max() + sum(max(map(abs, ob.matrix_world.translation)) for ob in above)
        self.size = np.linalg.norm(world[:3, :3], axis=0).min()
        self.askew = max(map(askew, rig.ob.data.bones))
        joints = self.joints()
        self.lengths = np.linalg.norm(np.diff(joints, axis=0), axis=1)
        self.length, self.root = self.lengths.sum(), joints[0]
        self.near = max(0.0, 2.0 * self.lengths.max() - self.length)

    def joints(self) -> np.ndarray:
        evaluated = evaluated_copy(self.rig.ob)
        bones = [evaluated.pose.bones[name] for name in self.rig.bones]
        return np.array([*(bone.head for bone in bones), bones[-1].tail], float)

    def target(self) -> np.ndarray:
        control = self.rig.target
        evaluated = evaluated_copy(control.ob)
        point = np.array(evaluated.pose.bones[control.bone].head if control.bone else (0.0, 0.0, 0.0), float)
        if control.bone and control.ob == self.rig.ob:
            return point
        world = np.array(evaluated.matrix_world, float)
        point_world = world[:3, :3] @ point + world[:3, 3]
        return self.to_armature[:3, :3] @ point_world + self.to_armature[:3, 3]

    def missed(self) -> tuple[float, float]:
        """How far the tip is from where it could be, in chain lengths, and what of it Blender's own numbers explain:
        those of world coordinates, whose places may be coarse for a tiny chain, and rest matrices, which turn bones
        that point backwards into others of another length and direction (by up to 5e-5) as they turn."""
        joints, target = self.joints(), self.target()
        distance = np.linalg.norm(target - self.root)
        unreachable = max(0.0, distance - self.length, self.near - distance)
        missed = np.linalg.norm(joints[-1] - target) - unreachable
        # World coordinates are read in armature space, whose numbers are rounded where the bones are.
        in_world = self.largest + np.abs(self.to_world[:3, :3] @ target + self.to_world[:3, 3]).max()
        rounded = UNIT * (np.abs(joints).max() + np.abs(target).max() + in_world / self.size)
        return float(missed / self.length), float(8.0 * rounded / self.length) + self.askew


def askew(bone: bpy.types.Bone) -> float:
    """How far the axes of a bone's rest matrix are from being perpendicular and of length one."""
    axes = np.array(bone.matrix_local, float)[:3, :3]
    return float(np.abs(axes.T @ axes - np.eye(3)).max())


def rig_of(seed: int, two_bones: bool) -> Rig:
    """A live rig of any kind and of any size."""
    random = Random(seed)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    count = 2 if two_bones else random.randint(3, 8)
    rig = random_rig(seed, count, straight=random.choice(("", "", "", "rest", "FK")))
    size = random.choice((1.0, 1.0, 10.0 ** random.uniform(-3.0, 3.0)))
    moved = rig.ob.parent or rig.ob
    moved.location, moved.scale = moved.location * size, moved.scale * size
    update()
    if rig.pole:
        rig.place_pole(pole_point(rig, rig.joints()[-1]))
    solver = random.choice(("AUTO", *TWO_BONE_SOLVERS)) if two_bones else "TRIANGULATION"
    swivel = random.choice((0.0, random.uniform(-3.0, 3.0)))
    rig.enable(solver=solver, swivel=swivel, flip=random.random() < 0.2, least_motion=random.random() < 0.3)
    return rig


def targets(
    random: Random, root: np.ndarray, tip: np.ndarray, pole: np.ndarray | None, near: float, far: float
) -> Iterator[tuple[str, np.ndarray]]:
    """Places for a target, and what is special about them. near, far: between them the chain reaches it."""
    for k in range(TARGETS_EACH):
        place = PLACES[k // 2 % len(PLACES)] if k % 2 else "inside"
        along = np.array(random_unit(random), float)
        distance = near + (far - near) * random.random()
        if place == "towards the pole" and pole is not None:
            along = (pole - root) / np.linalg.norm(pole - root) * random.choice((-1.0, 1.0))
        elif place == "far edge":
            distance = far * (1.0 + random.choice((0.0, 1.0, -1.0)) * 10.0 ** random.uniform(-9.0, -3.0))
        elif place == "near edge":
            distance = near * (1.0 + random.choice((0.0, 1.0, -1.0)) * 10.0 ** random.uniform(-9.0, -3.0))
        elif place == "too far":
            distance = far * 10.0 ** random.uniform(0.0, 3.0)
        elif place == "too near":
            distance = near * random.random()
        elif place == "at the root":
            distance = random.choice((0.0, 10.0 ** random.uniform(-12.0, -3.0))) * far
        yield place, tip if place == "at the tip" else root + along * distance


def solve_in_blender(solves: int, seed: int) -> Count:
    """So many solves, on rigs that come of the seed."""
    count, number = Count(), seed * 10_000_000
    while count.solves.total() < solves:
        number += 1
        with heard() as said:
            _solve_on(rig_of(number, bool(number % 2)), number, count)
        if said.complaint:
            count.printed.append(f"seed {number}: {said.complaint}")
    return count


def _solve_on(rig: Rig, number: int, count: Count) -> None:
    measured, random = Measured(rig), Random(number)
    control = rig.target
    moved = control.ob.pose.bones[control.bone] if control.bone else control.ob
    to_own = np.eye(4)
    if control.bone:
        # Control bones are made with an identity rest matrix and without a parent.
        to_own = np.linalg.inv(np.array(control.ob.matrix_world, float))
    elif control.ob.parent:
        to_own = np.linalg.inv(np.array(control.ob.parent.matrix_world @ control.ob.matrix_parent_inverse, float))
    to_own = to_own @ measured.to_world
    layer = bpy.context.view_layer
    pole = np.array(rig.to_armature(rig.pole), float) if rig.pole else None
    tip = measured.joints()[-1]
    for place, target in targets(random, measured.root, tip, pole, measured.near, measured.length):
        moved.location = to_own[:3, :3] @ target + to_own[:3, 3]
        layer.update()
        count.solves[f"{'two bones' if len(rig.bones) == 2 else 'Triangulation'}, {place}"] += 1
        missed, explained = measured.missed()
        what = f"seed {number}, {place}"
        if not isfinite(missed):
            count.not_finite.append(what)
            continue
        if missed > count.worst.get(place, (-1.0, 0))[0]:
            count.worst[place] = missed, number
        if missed > EXACT:
            problem = problems_of(rig.ob, [rig.bones[-1]], bpy.context.evaluated_depsgraph_get())
            if problem:
                count.refused[next(iter(problem.values()))] += 1
                continue
            count.beyond[place] += 1
            if missed > EXACT + explained:
                count.inexact.append(f"{what}: {missed:.2e}")


def solve_plainly(solves: int, seed: int) -> Count:
    """So many solves of chains without a scene, whose rotations are carried out in double precision."""
    count, number = Count(), seed * 10_000_000
    while count.solves.total() < solves:
        number += 1
        random = Random(number)
        joints, solver = chain_of(random, bool(number % 2))
        chain = Chain(joints)
        # As it stands in single precision.
        points = np.array([tuple(Vector(joint)) for joint in joints], float)
        links = np.diff(points, axis=0)
        lengths = np.linalg.norm(links, axis=1)
        near, far = max(0.0, 2.0 * lengths.max() - lengths.sum()), lengths.sum()
        root, at_rest = points[0].tolist(), links.tolist()
        pole = points[0] + far * np.array(random_unit(random)) if random.random() < 0.5 else None
        wishes = {"swivel": random.choice((0.0, random.uniform(-3.0, 3.0))), "flip": random.random() < 0.2}
        wishes["least_motion"] = random.random() < 0.3
        for place, point in targets(random, points[0], points[-1], pole, near, far):
            target = Vector(point)
            what = f"seed {number}, {place}, {solver}"
            count.solves[f"{'two bones' if len(links) == 2 else 'Triangulation'}, {place}"] += 1
            try:
                solution = solve(chain, Goal(target, None if pole is None else Vector(pole), **wishes), solver)
                turned = [*map(carried, link_rotations(chain, solution), at_rest)]
            except Exception as error:
                count.printed.append(f"{what}: {error!r}")
                continue
            distance = dist(target, root)
            unreachable = max(0.0, distance - far, near - distance)
            end = [start + sum(parts) for start, *parts in zip(root, *turned, strict=True)]
            missed = (dist(end, target) - unreachable) / far
            if not isfinite(missed) or not all(isfinite(value) for joint in solution.joints for value in joint):
                count.not_finite.append(what)
                continue
            if missed > count.worst.get(place, (-1.0, 0))[0]:
                count.worst[place] = float(missed), number
            # A target far away has itself no finer place than this.
            if missed > EXACT + UNIT * distance / far:
                count.beyond[place] += 1
                count.inexact.append(f"{what}: {missed:.2e}")
    return count


def chain_of(random: Random, two_bones: bool) -> tuple[list[Vector], str]:
    """The joints of a chain of any shape and size, root first, and a solver for it."""
    size = random.choice((1.0, 10.0 ** random.uniform(-4.0, 4.0)))
    bent = random.choice((1.5, 1.5, 0.01, 0.0))
    along, joints = random_unit(random), [Vector()]
    for _ in range(2 if two_bones else random.randint(3, 8)):
        joints.append(joints[-1] + along * size * random.uniform(0.1, 1.5))
        along = random_rotation(random, bent) @ along
    return joints, random.choice(("AUTO", *TWO_BONE_SOLVERS)) if two_bones else "TRIANGULATION"


def carried(turn: Quaternion, link: Sequence[float]) -> tuple[float, ...]:
    """A link turned by a rotation, in double precision: Python's own numbers are the quickest for three of them."""
    w, x, y, z = turn
    size = sqrt(w * w + x * x + y * y + z * z)
    w, axis = w / size, (x / size, y / size, z / size)
    crossed = cross(axis, link)
    twice = cross(axis, crossed)
    return tuple(a + 2.0 * (w * b + c) for a, b, c in zip(link, crossed, twice, strict=True))


def cross(a: Sequence[float], b: Sequence[float]) -> tuple[float, float, float]:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@pytest.mark.parametrize(("solved", "solves"), [(solve_in_blender, SOLVES_IN_BLENDER), (solve_plainly, SOLVES)])
@pytest.mark.slow
def test_many_solves_raise_nothing_and_miss_nothing(solved, solves):
    started = perf_counter()
    count = solved(solves, SEED)
    print(
        f"\nBlender {bpy.app.version_string}, seed {SEED}, {solved.__name__}: {perf_counter() - started:.0f} s\n{count}"
    )
    assert not count.printed, count.printed[0]
    assert not count.not_finite, count.not_finite
    assert not count.inexact, count.inexact
    assert not count.refused, count.refused
