"""The walk of the biped: its uneven ground, the path of its feet, and what the body does above them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import cos, exp, pi, radians, sin, sqrt

import bpy  # noqa: F401 - the module that makes mathutils importable
from mathutils import Matrix, Vector

from .motion import MonotoneSpline, hermite, smoothstep
from .rigging import mirrored, turn_by

LAST_FRAME = 120
CYCLE = 24.0  # frames of a stride: two steps
STEP = 0.43  # metres
START_Y = 2.15  # the robot walks towards -Y, past the origin
SPEED = 2.0 * STEP / CYCLE  # metres a frame

# The left leg of the rest pose.
HIP = (0.095, 0.0, 0.78)
KNEE = (0.095, -0.03, 0.43)
ANKLE = (0.095, 0.01, 0.09)
BALL = (0.095, -0.105, 0.03)
TOE_TIP = (0.095, -0.19, 0.03)

LEG_LENGTH = (Vector(HIP) - Vector(KNEE)).length + (Vector(KNEE) - Vector(ANKLE)).length
LARGEST_REACH = 0.97 * LEG_LENGTH  # a straighter leg would snap in the knee
HIPS_HEIGHT = 0.80
LANE = 0.085  # sideways distance of the footfalls from the line of travel
SMALLEST_LIFT, CLEARANCE = 0.12, 0.01
TOE_OUT = radians(5.0)
LONG_STEP, TOO_FAR = 10, 0.22  # the step that is too long for the leg, and by how many metres it is longer

# From the ankle to the points that the foot rolls over.
HEEL_FROM_ANKLE = Vector((0.0, 0.065, -ANKLE[2]))
BALL_FROM_ANKLE = Vector(BALL) - Vector(ANKLE)

# One stride of a foot, as shares of the cycle from one heel strike to the next. What it stands on changes at
# whole frames, where the keys are, so that it does not slide between them either.
MID_STANCE, TOE_OFF, TOES_STRAIGHT = 6.7 / CYCLE, 15.0 / CYCLE, 18.0 / CYCLE
# Frames after the heel strike, and degrees that the toes are up; 0 while the sole lies on the ground.
STANDING_PITCHES = ((0.0, 17.0), (3.0, 0.0), (9.0, 0.0), (12.0, -17.0), (15.0, -43.0))
SWINGING_PITCHES = ((17.0, -52.0), (20.4, -6.0), (22.5, 15.0), (24.0, 17.0))
PITCH = MonotoneSpline([(frame / CYCLE, pitch) for frame, pitch in (*STANDING_PITCHES, *SWINGING_PITCHES)])

# The ground's steps, each between two footfalls: (steps walked, rise in metres).
GROUND_STEPS = ((2, 0.08), (4, 0.09), (7, -0.07), (9, -0.08))
STEP_EDGE = 0.035  # half the width of a rounded edge


Height = Callable[[float, float], float]
"""The height of a ground over its x and y."""


def ground_height(x: float, y: float) -> float:
    """Return the height of the ground, for the mesh and for the feet alike."""
    walked = START_Y - y
    height = 0.028 * sin(3.1 * walked + 0.6 * x) + 0.016 * sin(1.7 * walked - 1.9 * x + 1.0)
    for steps, rise in GROUND_STEPS:
        edge = _edge_after(steps, rise)
        height += rise * smoothstep((walked - edge + STEP_EDGE) / (2.0 * STEP_EDGE))
    return height


def _edge_after(steps: int, rise: float) -> float:
    """Return where, along the walk, a step's edge is: in the gap between two footfalls.

    Upwards it is at the next footfall's heel, downwards at the last one's toes, so that the foot which
    passes over it does so in the middle of its swing.
    """
    if rise > 0.0:
        return _footfall_walked(steps + 1) - HEEL_FROM_ANKLE.y - 0.02 - STEP_EDGE
    return _footfall_walked(steps) + ANKLE[1] - TOE_TIP[1] + 0.01 + STEP_EDGE


def _footfall_walked(steps: int) -> float:
    """Return how far along the walk the ankle of a footfall is; even ones are left."""
    strike_frame = 1.0 + (steps - 1.5) * CYCLE / 2.0
    return SPEED * (strike_frame - 1.0 + MID_STANCE * CYCLE)


@dataclass(frozen=True)
class Footfall:
    """Where a foot stands: the ground's frame under it and the point below the ankle."""

    frame: Matrix
    point: Vector

    def ankle_at(self, pitch: float) -> Vector:
        """Return the ankle of the foot that rolls over its heel (pitch above 0) or its ball."""
        pivot_from_ankle = HEEL_FROM_ANKLE if pitch > 0.0 else BALL_FROM_ANKLE
        standing_ankle = self.point + self.frame @ Vector((0.0, 0.0, ANKLE[2]))
        pivot = standing_ankle + self.frame @ pivot_from_ankle
        return pivot - self.frame @ _toes_up(pitch) @ pivot_from_ankle


@dataclass(frozen=True)
class FootPose:
    """The foot at a frame: its ankle, the turn of its flat sole from the rest pose, and how far it rolls.

    roll: radians over its ball, below 0 over its heel.
    """

    ankle: Vector
    flat_turn: Matrix
    roll: float

    @property
    def flat_ankle(self) -> Vector:
        """Return where the ankle is before the foot rolls: there the control stays while the foot stands."""
        pivot_from_ankle = HEEL_FROM_ANKLE if self.roll < 0.0 else BALL_FROM_ANKLE
        pivot = self.ankle + self.flat_turn @ _toes_up(-self.roll) @ pivot_from_ankle
        return pivot - self.flat_turn @ pivot_from_ankle


@cache
def footfall(steps: int, farther: float, height: Height) -> Footfall:
    """Fit the sole of a footfall to the ground at its heel, its ball and across."""
    side = 1.0 if steps % 2 == 0 else -1.0
    yaw = Matrix.Rotation(TOE_OUT * side, 3, "Z")
    centre = Vector((LANE * side, START_Y - _footfall_walked(steps) - farther, 0.0))
    along_sole = (Vector((0.0, point.y, 0.0)) for point in (HEEL_FROM_ANKLE, BALL_FROM_ANKLE))
    heel, ball = (on_ground(centre + yaw @ offset, height) for offset in along_sole)
    left, right = (on_ground(centre + yaw @ Vector((x, 0.0, 0.0)), height) for x in (0.04, -0.04))
    back = (heel - ball).normalized()
    up = (left - right).cross(back).normalized()
    frame = Matrix((back.cross(up), back, up)).transposed()
    return Footfall(frame, heel - back * HEEL_FROM_ANKLE.y)


def on_ground(point: Vector, height: Height) -> Vector:
    """Return the place on the ground above or below a point."""
    return Vector((point.x, point.y, height(point.x, point.y)))


def root_at(frame: float, height: Height) -> Vector:
    """Return the point on the (smoothed) ground that the robot stands over."""
    y = START_Y - SPEED * (frame - 1.0)
    around = [height(0.0, y + 0.1 * step) for step in range(-8, 9)]
    return Vector((0.0, y, sum(around) / len(around)))


def _toes_up(pitch: float) -> Matrix:
    return Matrix.Rotation(-pitch, 3, "X")


class FootPath:
    """The walk of one foot; *long_step* is the number of one that is too long for the leg."""

    def __init__(self, side: str, long_step: int | None = None, height: Height = ground_height) -> None:
        self.height = height
        self._first_step = 0 if side == "L" else 1
        self._long_step = long_step
        self._lifts: dict[int, float] = {}

    def pose(self, frame: float) -> FootPose:
        """Return the foot's pose at a frame."""
        steps, phase = self._step_and_phase(frame)
        pitch = radians(PITCH(phase))
        here = self._footfall(steps)
        # In contact the toes stay on the ground; in the air they straighten.
        toes_on_ground = 1.0 - smoothstep((phase - TOE_OFF) / (TOES_STRAIGHT - TOE_OFF))
        roll = -pitch * (toes_on_ground if pitch < 0.0 else 1.0)
        if phase <= TOE_OFF:
            return FootPose(here.ankle_at(pitch), here.frame, roll)
        if steps not in self._lifts:
            self._lifts[steps] = self._lift_that_clears_ground(steps)
        share = (phase - TOE_OFF) / (1.0 - TOE_OFF)
        return FootPose(
            self._swinging_ankle(steps, share, self._lifts[steps]),
            self._swinging_turn(steps, share) @ _toes_up(roll),
            roll,
        )

    def _footfall(self, steps: int) -> Footfall:
        return footfall(steps, TOO_FAR if steps == self._long_step else 0.0, self.height)

    def _step_and_phase(self, frame: float) -> tuple[int, float]:
        strike = 1.0 + (self._first_step - 1.5) * CYCLE / 2.0
        cycles, phase = divmod((frame - strike) / CYCLE, 1.0)
        return self._first_step + 2 * int(cycles), phase

    def _swinging_ankle(self, steps: int, share: float, lift: float) -> Vector:
        here, there = self._footfall(steps), self._footfall(steps + 2)
        start, end = here.ankle_at(radians(PITCH(TOE_OFF))), there.ankle_at(radians(PITCH(0.0)))
        # The swing takes over the speed of the rolling foot at both ends.
        small = 0.01
        scale = (1.0 - TOE_OFF) / small
        start_speed = (start - here.ankle_at(radians(PITCH(TOE_OFF - small)))) * scale
        end_speed = (there.ankle_at(radians(PITCH(small))) - end) * scale
        axes = zip(start, end, start_speed, end_speed, strict=True)
        ankle = Vector(hermite(*values, share) for values in axes)
        ankle.z += lift * 16.0 * share**2 * (1.0 - share) ** 2
        return ankle

    def _swinging_turn(self, steps: int, share: float) -> Matrix:
        here, there = self._footfall(steps), self._footfall(steps + 2)
        frame = here.frame.to_quaternion().slerp(there.frame.to_quaternion(), smoothstep(share)).to_matrix()
        return frame @ _toes_up(radians(PITCH(TOE_OFF + share * (1.0 - TOE_OFF))))

    def _lift_that_clears_ground(self, steps: int) -> float:
        """Return the smallest lift, by the centimetre, with which heel and toes pass over the ground."""
        heel = HEEL_FROM_ANKLE + Vector((0.0, 0.02, 0.0))
        toes = Vector(TOE_TIP) - Vector(ANKLE) - Vector((0.0, 0.01, 0.03))
        lift = SMALLEST_LIFT
        mid_swing = [share / 20.0 for share in range(5, 18)]
        while any(
            self._height_over_ground(steps, share, lift, point) < CLEARANCE
            for share in mid_swing
            for point in (heel, toes)
        ):
            lift += 0.01
        return lift

    def _height_over_ground(self, steps: int, share: float, lift: float, from_ankle: Vector) -> float:
        point = self._swinging_ankle(steps, share, lift) + self._swinging_turn(steps, share) @ from_ankle
        return point.z - self.height(point.x, point.y)


class BodyMotion:
    """The walk of everything above the legs, fitted to what the feet allow."""

    def __init__(self, feet: dict[str, FootPath]) -> None:
        self._feet = feet
        self._height = next(iter(feet.values())).height
        highest = {frame: self._highest_hips(frame) for frame in range(-12, LAST_FRAME + 14)}
        # Going down a little before a leg needs it, and staying down a little longer, makes the bob soft.
        eroded = {f: min(highest[f + d] for d in range(-3, 4)) for f in range(-9, LAST_FRAME + 11)}
        self._hips_height = {f: _gaussian_mean(eroded, f, 2.0, 7) for f in range(-2, LAST_FRAME + 4)}

    def root(self, frame: float) -> Vector:
        """Return the place of the root."""
        return root_at(frame, self._height)

    def hips(self, frame: int) -> Vector:
        """Return the place of the hips."""
        place = self._hips_ahead(frame)
        place.z = self._hips_height[frame]
        return place

    def _hips_ahead(self, frame: float) -> Vector:
        root = self.root(frame)
        # The weight lies over the standing foot: to the left half way through the left stance.
        sway = 0.026 * cos(2.0 * pi * (_left_phase(frame) - MID_STANCE))
        return Vector((sway, root.y, root.z))

    @staticmethod
    def turns(frame: float) -> dict[str, Matrix]:
        """Return how each bone of the trunk and the arms turns against its parent, in world axes."""
        wave = 2.0 * pi * _left_phase(frame)
        stance = wave - 2.0 * pi * MID_STANCE
        hips = turn_by(pitch=2.0, roll=-3.5 * cos(stance), yaw=-7.0 * cos(wave))
        spine = turn_by(pitch=1.5, roll=2.0 * cos(stance - 0.2), yaw=3.5 * cos(wave - 0.2))
        breath = 1.0 + 0.8 * cos(2.0 * wave)
        chest = turn_by(pitch=breath, roll=3.0 * cos(stance - 0.4), yaw=10.0 * cos(wave - 0.3))
        neck = turn_by(yaw=-3.5 * cos(wave - 0.3))
        # The head undoes what the trunk does, but for a small nod.
        trunk = hips @ spine @ chest @ neck
        head = trunk.inverted() @ turn_by(pitch=1.5 * cos(2.0 * wave + 0.8), roll=1.2 * cos(stance))
        turns = {"hips": hips, "spine": spine, "chest": chest, "neck": neck, "head": head}
        for side, sign in (("L", 1.0), ("R", -1.0)):
            # An arm is forward when the other side's leg is; forearm and hand come after it.
            swing, later, last = (sign * cos(wave - delay) for delay in (0.25, 0.85, 1.4))
            turns[f"upper_arm.{side}"] = turn_by(pitch=4.0 + 27.0 * swing, roll=-3.0 * sign)
            turns[f"forearm.{side}"] = turn_by(pitch=-24.0 + 15.0 * later)
            turns[f"hand.{side}"] = turn_by(pitch=-6.0 + 9.0 * last)
        return turns

    def _highest_hips(self, frame: int) -> float:
        """Return the height of the hips at which a leg is as straight as it may be."""
        hips_turn = self.turns(frame)["hips"]
        place = self._hips_ahead(frame)
        highest = []
        for side, foot in self._feet.items():
            hip_from_hips = hips_turn @ (mirrored(HIP, side) - Vector((0.0, 0.0, HIPS_HEIGHT)))
            ankle = foot.pose(frame).ankle
            level = (place + hip_from_hips - ankle).xy.length
            highest.append(ankle.z + sqrt(LARGEST_REACH**2 - level**2) - hip_from_hips.z)
        return min(highest)


def _left_phase(frame: float) -> float:
    return (frame - 1.0) / CYCLE + 0.75


def _gaussian_mean(values: dict[int, float], centre: int, deviation: float, reach: int) -> float:
    weights = {d: exp(-0.5 * (d / deviation) ** 2) for d in range(-reach, reach + 1)}
    return sum(values[centre + d] * weight for d, weight in weights.items()) / sum(weights.values())
