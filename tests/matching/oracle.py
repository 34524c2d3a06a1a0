"""What a source asks of a character, computed from the evaluated bones of both."""

from itertools import pairwise

import bpy
import numpy as np
from mathutils import Matrix

from ..scenes import go_to
from .bodies import FRAMES, SIDES, Build, world_points

LEG, ARM = ("thigh", "shin", "foot"), ("upper_arm", "forearm", "hand")
LIMBS = [(bones, side) for bones in (LEG, ARM) for side in SIDES]


def joints_over(ob: bpy.types.Object, build: Build, frames: range = FRAMES) -> dict:
    """The joints of all limbs, (frames, 3, 3) each, as Blender evaluates them."""
    found = {limb: [] for limb in LIMBS}
    for frame in frames:
        go_to(frame)
        for bones, side in LIMBS:
            found[bones, side].append(world_points(ob, build, bones, side))
    return {limb: np.array(rows) for limb, rows in found.items()}


def lengths_of(ob: bpy.types.Object, build: Build) -> dict:
    """How long limbs are at rest, in the world: single precision lengthens them by some millionths in a pose."""
    found = {}
    for bones, side in LIMBS:
        heads = [ob.data.bones[build.bone(bone, side)].head_local for bone in bones]
        found[bones, side] = sum((b - a).length for a, b in pairwise(heads)) * ob.matrix_world.median_scale
    return found


class Seen:
    """Both as Blender shows them now, and what the source asks of the character: the oracle."""

    def __init__(
        self,
        origin,
        source: Build,
        ob,
        own: Build,
        arms: str = "SHOULDER",
        in_world: bool = False,
        frames: range = FRAMES,
    ) -> None:
        self.theirs, self.ours = joints_over(origin, source, frames), joints_over(ob, own, frames)
        self.their_lengths, self.lengths = lengths_of(origin, source), lengths_of(ob, own)
        self.arms = arms
        self.turn = np.eye(3)
        self.places = np.array(source.place), np.array(source.place)
        if not in_world:
            self.turn = np.array(Matrix.Rotation(own.heading - source.heading, 3, "Z"))
            self.places = np.array(source.place), np.array(own.place)

    def scale(self, limb) -> float:
        bones = LEG if self.arms == "GROUND" else limb[0]
        ours, theirs = (sum(each[bones, side] for side in SIDES) for each in (self.lengths, self.their_lengths))
        return ours / theirs

    def wanted(self, limb) -> np.ndarray:
        """(frames, 3), where the end of a limb should be."""
        bones, _ = limb
        ends, scale = self.theirs[limb][:, 2], self.scale(limb)
        if bones == LEG or self.arms == "GROUND":
            return self.places[1] + scale * (ends - self.places[0]) @ self.turn.T
        roots = [each[limb][:, 0] for each in (self.theirs, self.ours)]
        if self.arms == "CHEST":
            roots = [sum(each[bones, side][:, 0] for side in SIDES) / 2.0 for each in (self.theirs, self.ours)]
        return roots[1] + scale * (ends - roots[0]) @ self.turn.T

    def misses(self, limb) -> np.ndarray:
        """(frames,), in lengths of the limb."""
        return np.linalg.norm(self.ours[limb][:, 2] - self.wanted(limb), axis=1) / self.lengths[limb]

    def is_in_reach(self, limb) -> np.ndarray:
        """(frames,) bool: whether the character's hip or shoulder is close enough to where the end should be."""
        away = np.linalg.norm(self.wanted(limb) - self.ours[limb][:, 0], axis=1)
        return away < self.lengths[limb] * (1.0 + 1e-6)

    def swivel(self, limb) -> np.ndarray:
        """(frames,), radians by which knee or elbow is turned about the limb from where the source's is."""
        return np.array([self._swivel(*rows) for rows in zip(self.theirs[limb], self.ours[limb], strict=True)])

    def _swivel(self, theirs: np.ndarray, ours: np.ndarray) -> float:
        (line, side), (own_line, own_side) = (line_and_side(each) for each in (theirs @ self.turn.T, ours))
        # Half a turn about the bisector of both lines, and one about the own line: the smallest turn between them.
        middle = (line + own_line) / np.linalg.norm(line + own_line)
        for axis in (middle, own_line):
            side = 2.0 * axis * (axis @ side) - side
        return float(np.arctan2(np.linalg.norm(np.cross(side, own_side)), side @ own_side))


def line_and_side(joints: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    line = (joints[2] - joints[0]) / np.linalg.norm(joints[2] - joints[0])
    side = joints[1] - joints[0]
    return line, side - line * (line @ side)
