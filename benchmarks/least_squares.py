"""A full-body solver as others are: damped least squares over all joints, to put beside Grab's formulas.

Variables are the shift of the hips and a rotation vector for each joint that Grab may turn. What is dragged, what is
held in place and in orientation, and every turn weigh as residuals; the sum of their squares is made small by
Levenberg's and Marquardt's method (K. Levenberg, "A method for the solution of certain non-linear problems in least
squares", 1944), with a Jacobian by differences. numpy, double precision.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ik_addon.grabbing.solving.body import Body
from ik_addon.grabbing.solving.drag import Drag
from ik_addon.grabbing.solving.geometry import Move, Point

HOLD, AIM, TURN = 100.0, 30.0, 0.03
"""Weights of what is held, of what is dragged, both by the body's size, and of a radian that a joint turns."""
STEP, ENOUGH, MOST = 1e-6, 1e-10, 100
"""Of differences; by which part a step makes the sum smaller that is the last one; steps."""


@dataclass
class Squares:
    """The problem of one drag. joints: the bones that turn, parents first, by their numbers."""

    body: Body
    drag: Drag
    goal: Point
    held: Mapping[int, str]

    def __post_init__(self) -> None:
        body = self.body
        bones = {body.hips, *body.line, *(body.neck.links if body.neck else ())}
        for limb in body.limbs:
            bones |= {*limb.links, limb.girdle, limb.found.end} - {-1}
        self.joints = sorted(bones, key=lambda bone: len([*body.bones.above(bone)]))
        number = {bone: k for k, bone in enumerate(self.joints)}
        self.heads = np.array([body.bones.heads[bone] for bone in self.joints])
        self.carriers = [
            next((number[each] for each in [*body.bones.above(bone)][1:] if each in number), -1) for bone in self.joints
        ]
        limbs = body.limbs
        self.ends = [(number[limbs[k].links[-1]], np.array(limbs[k].end)) for k in self.held]
        self.turned = [number[limbs[k].found.end] for k in self.held if limbs[k].found.end >= 0]
        self.dragged = number[self.drag.grip(body)[0]], np.array(self.drag.grip(body)[1])

    def posed(self, numbers: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Turns (m, 3, 3) and shifts (m, 3) of the joints, for m rows of numbers: a shift, then rotation vectors."""
        own = rotations(numbers[:, 3:].reshape(len(numbers), -1, 3))
        turns, shifts = [], []
        for k, carrier in enumerate(self.carriers):
            first = np.eye(3)[None] if carrier < 0 else turns[carrier]
            turn = first @ own[:, k]
            at = numbers[:, :3] + self.heads[k] if carrier < 0 else turns[carrier] @ self.heads[k] + shifts[carrier]
            turns.append(turn)
            shifts.append(at - turn @ self.heads[k])
        return turns, shifts

    def residuals(self, numbers: np.ndarray) -> np.ndarray:
        """(m, residuals)."""
        turns, shifts = self.posed(numbers)
        size, rows = self.body.size, [TURN * numbers[:, 3:]]
        for k, end in self.ends:
            rows.append(HOLD * (turns[k] @ end + shifts[k] - end) / size)
        for k in self.turned:
            rows.append(HOLD * 0.1 * (turns[k] - np.eye(3)).reshape(len(numbers), -1))
        k, start = self.dragged
        rows.append(AIM * (turns[k] @ start + shifts[k] - np.array(self.goal)) / size)
        return np.concatenate(rows, axis=1)

    def solved(self) -> dict[int, Move]:
        """The moves of the joints."""
        numbers, damping = np.zeros(3 + 3 * len(self.joints)), 1e-3
        now = self.residuals(numbers[None])[0]
        for _ in range(MOST):
            sizes = np.full(len(numbers), STEP)
            sizes[:3] *= self.body.size
            slopes = (self.residuals(numbers + np.diag(sizes)) - now).T / sizes
            normal, down = slopes.T @ slopes, -slopes.T @ now
            better, before = None, now @ now
            while damping < 1e8 and better is None:
                way = np.linalg.solve(normal + damping * np.diag(np.diag(normal) + 1e-12), down)
                then = self.residuals((numbers + way)[None])[0]
                better = then if then @ then < before else None
                damping *= 0.3 if better is not None else 4.0
            if better is None:
                break
            numbers, now = numbers + way, better
            if before - now @ now < ENOUGH * before:
                break
        turns, shifts = self.posed(numbers[None])
        moves = {
            bone: (quaternion(turns[k][0]), tuple(np.broadcast_to(shifts[k], (1, 3))[0].tolist()))
            for k, bone in enumerate(self.joints)
        }
        return moves


def rotations(vectors: np.ndarray) -> np.ndarray:
    """Matrices (..., 3, 3) of rotation vectors (..., 3), by Rodrigues."""
    angles = np.linalg.norm(vectors, axis=-1)[..., None, None]
    x, y, z = np.moveaxis(vectors, -1, 0)
    zero = np.zeros_like(x)
    skew = np.moveaxis(np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]]), (0, 1), (-2, -1))
    return np.eye(3) + np.sinc(angles / np.pi) * skew + 0.5 * np.sinc(angles / (2.0 * np.pi)) ** 2 * (skew @ skew)


def quaternion(matrix: np.ndarray) -> tuple[float, float, float, float]:
    """The unit quaternion (w, x, y, z) of a rotation matrix: the eigenvector of its largest eigenvalue."""
    (a, b, c), (d, e, f), (g, h, i) = matrix
    rows = [
        [a + e + i, h - f, c - g, d - b],
        [h - f, a - e - i, b + d, c + g],
        [c - g, b + d, e - a - i, f + h],
        [d - b, c + g, f + h, i - a - e],
    ]
    return tuple(np.linalg.eigh(np.array(rows))[1][:, -1].tolist())
