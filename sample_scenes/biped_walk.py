"""A small robot walks over uneven ground, its legs pulled by foot and knee Empties."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import cos, exp, pi, radians, sin, sqrt

import bpy
from mathutils import Matrix, Vector

from .landscape import Block, make_ground
from .motion import MonotoneSpline, hermite, key_values, key_vectors, smoothstep
from .rigging import (
    BoneSpec,
    key_bone_offset,
    key_bone_turn,
    make_armature,
    make_chain,
    make_empty,
    mirrored,
    turn_by,
)
from .shapes import MeshParts
from .staging import add_camera, add_floor, add_three_suns, dolly, new_collection, new_material, start_scene

LAST_FRAME = 120
BACKGROUND = (0.19, 0.33, 0.37)
CYCLE = 24.0  # frames of a stride: two steps
STEP = 0.43  # metres
START_Y = 2.15  # the robot walks towards -Y, past the origin
SPEED = 2.0 * STEP / CYCLE  # metres a frame

# The left half of the rest pose.
HIP = (0.095, 0.0, 0.78)
KNEE = (0.095, -0.03, 0.43)
ANKLE = (0.095, 0.01, 0.09)
BALL = (0.095, -0.105, 0.03)
TOE_TIP = (0.095, -0.19, 0.03)
SHOULDER = (0.19, 0.0, 1.19)
ELBOW = (0.25, 0.015, 0.96)
WRIST = (0.28, -0.02, 0.74)
FINGERS = (0.285, -0.035, 0.62)

LEG_LENGTH = (Vector(HIP) - Vector(KNEE)).length + (Vector(KNEE) - Vector(ANKLE)).length
LARGEST_REACH = 0.97 * LEG_LENGTH  # a straighter leg would snap in the knee
HIPS_HEIGHT = 0.80
LANE = 0.085  # sideways distance of the footfalls from the line of travel
POLE_AHEAD = 0.9
SMALLEST_LIFT, CLEARANCE = 0.12, 0.01
TOE_OUT = radians(5.0)

# From the ankle to the points that the foot rolls over.
HEEL_FROM_ANKLE = Vector((0.0, 0.065, -ANKLE[2]))
BALL_FROM_ANKLE = Vector(BALL) - Vector(ANKLE)

# One stride of a foot, as shares of the cycle from one heel strike to the next.
MID_STANCE, TOE_OFF, TOES_STRAIGHT = 0.28, 0.60, 0.74
STANDING_PITCHES = ((0.0, 17.0), (0.10, 0.0), (0.36, 0.0), (0.50, -18.0), (0.60, -42.0))
SWINGING_PITCHES = ((0.69, -52.0), (0.84, -6.0), (0.94, 15.0), (1.0, 17.0))
# Degrees, toes up; zero while the sole lies on the ground.
PITCH = MonotoneSpline([*STANDING_PITCHES, *SWINGING_PITCHES])

# The ground's steps, each between two footfalls: (steps walked, rise in metres).
GROUND_STEPS = ((2, 0.08), (4, 0.09), (7, -0.07), (9, -0.08))
STEP_EDGE = 0.035  # half the width of a rounded edge


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
    """The foot at a frame: its ankle, the turn from the rest pose, and the bend of its toes."""

    ankle: Vector
    turn: Matrix
    toe_bend: float


@cache
def footfall(steps: int) -> Footfall:
    """Fit the sole of a footfall to the ground at its heel, its ball and across."""
    side = 1.0 if steps % 2 == 0 else -1.0
    yaw = Matrix.Rotation(TOE_OUT * side, 3, "Z")
    centre = Vector((LANE * side, START_Y - _footfall_walked(steps), 0.0))
    along_sole = (Vector((0.0, point.y, 0.0)) for point in (HEEL_FROM_ANKLE, BALL_FROM_ANKLE))
    heel, ball = (_on_ground(centre + yaw @ offset) for offset in along_sole)
    left, right = (_on_ground(centre + yaw @ Vector((x, 0.0, 0.0))) for x in (0.04, -0.04))
    back = (heel - ball).normalized()
    up = (left - right).cross(back).normalized()
    frame = Matrix((back.cross(up), back, up)).transposed()
    return Footfall(frame, heel - back * HEEL_FROM_ANKLE.y)


def _on_ground(point: Vector) -> Vector:
    return Vector((point.x, point.y, ground_height(point.x, point.y)))


def _toes_up(pitch: float) -> Matrix:
    return Matrix.Rotation(-pitch, 3, "X")


class FootPath:
    """The walk of one foot."""

    def __init__(self, side: str) -> None:
        self._first_step = 0 if side == "L" else 1
        self._lifts: dict[int, float] = {}

    def pose(self, frame: float) -> FootPose:
        """Return the foot's pose at a frame."""
        steps, phase = self._step_and_phase(frame)
        pitch = radians(PITCH(phase))
        here = footfall(steps)
        # In contact the toes stay on the ground; in the air they straighten.
        toes_on_ground = 1.0 - smoothstep((phase - TOE_OFF) / (TOES_STRAIGHT - TOE_OFF))
        toe_bend = max(-pitch, 0.0) * toes_on_ground
        if phase <= TOE_OFF:
            return FootPose(here.ankle_at(pitch), here.frame @ _toes_up(pitch), toe_bend)
        if steps not in self._lifts:
            self._lifts[steps] = self._lift_that_clears_ground(steps)
        share = (phase - TOE_OFF) / (1.0 - TOE_OFF)
        return FootPose(
            self._swinging_ankle(steps, share, self._lifts[steps]),
            self._swinging_turn(steps, share),
            toe_bend,
        )

    def _step_and_phase(self, frame: float) -> tuple[int, float]:
        strike = 1.0 + (self._first_step - 1.5) * CYCLE / 2.0
        cycles, phase = divmod((frame - strike) / CYCLE, 1.0)
        return self._first_step + 2 * int(cycles), phase

    @staticmethod
    def _swinging_ankle(steps: int, share: float, lift: float) -> Vector:
        here, there = footfall(steps), footfall(steps + 2)
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

    @staticmethod
    def _swinging_turn(steps: int, share: float) -> Matrix:
        here, there = footfall(steps), footfall(steps + 2)
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
        return point.z - ground_height(point.x, point.y)


class BodyMotion:
    """The walk of everything above the legs, fitted to what the feet allow."""

    def __init__(self, feet: dict[str, FootPath]) -> None:
        self._feet = feet
        highest = {frame: self._highest_hips(frame) for frame in range(-12, LAST_FRAME + 14)}
        # Lowering the hips a little before a foot needs it, and long after, keeps the bob soft.
        eroded = {f: min(highest[f + d] for d in range(-3, 4)) for f in range(-9, LAST_FRAME + 11)}
        self._hips_height = {f: _gaussian_mean(eroded, f, 2.0, 7) for f in range(-2, LAST_FRAME + 4)}

    @staticmethod
    def root(frame: float) -> Vector:
        """Return the point on the (smoothed) ground that the robot stands over."""
        y = START_Y - SPEED * (frame - 1.0)
        around = [ground_height(0.0, y + 0.1 * step) for step in range(-8, 9)]
        return Vector((0.0, y, sum(around) / len(around)))

    def hips(self, frame: int) -> Vector:
        """Return the place of the hips."""
        place = self._hips_ahead(frame)
        place.z = self._hips_height[frame]
        return place

    @staticmethod
    def _hips_ahead(frame: float) -> Vector:
        root = BodyMotion.root(frame)
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


def _bones() -> list[BoneSpec]:
    forward, back = (0.0, -1.0, 0.0), (0.0, 1.0, 0.0)
    bones = [
        BoneSpec("root", (0.0, 0.0, 0.0), (0.0, 0.25, 0.0), deform=False),
        BoneSpec("hips", (0.0, 0.0, HIPS_HEIGHT), (0.0, 0.0, 0.92), "root", forward),
        BoneSpec("spine", (0.0, 0.0, 0.92), (0.0, 0.0, 1.03), "hips", forward, connected=True),
        BoneSpec("chest", (0.0, 0.0, 1.03), (0.0, 0.0, 1.25), "spine", forward, connected=True),
        BoneSpec("neck", (0.0, 0.0, 1.25), (0.0, 0.0, 1.33), "chest", forward, connected=True),
        BoneSpec("head", (0.0, 0.0, 1.33), (0.0, 0.0, 1.62), "neck", forward, connected=True),
    ]
    limbs = [
        ("thigh", HIP, KNEE, "hips", back),
        ("shin", KNEE, ANKLE, "thigh", back),
        ("foot", ANKLE, BALL, "shin", (0.0, 0.0, 1.0)),
        ("toe", BALL, TOE_TIP, "foot", (0.0, 0.0, 1.0)),
        ("upper_arm", SHOULDER, ELBOW, "chest", back),
        ("forearm", ELBOW, WRIST, "upper_arm", back),
        ("hand", WRIST, FINGERS, "forearm", back),
    ]
    for side in ("L", "R"):
        for name, head, tail, parent, up in limbs:
            on_trunk = parent in ("hips", "chest")
            parent_name = parent if on_trunk else f"{parent}.{side}"
            ends = mirrored(head, side), mirrored(tail, side)
            bones.append(BoneSpec(f"{name}.{side}", *ends, parent_name, up, connected=not on_trunk))
    return bones


def _model(rig: bpy.types.Object, collection: bpy.types.Collection) -> None:
    """Build the robot: shells of enamel on dark ball joints."""
    shell = new_material("Cream enamel", (0.86, 0.78, 0.64), roughness=0.35)
    accent = new_material("Coral enamel", (0.86, 0.20, 0.10), roughness=0.35)
    joint = new_material("Dark rubber", (0.035, 0.042, 0.055), roughness=0.6)
    glass = new_material("Black glass", (0.012, 0.015, 0.022), roughness=0.08)
    glow = new_material("Mint light", (0.25, 0.95, 0.72), glow=2.5)
    parts = MeshParts()

    parts.rounded_box((0, 0.005, 0.825), (0.135, 0.105, 0.085), shell, "hips", roundness=2.7, taper=0.12)
    parts.ball((0, 0, 0.945), 0.085, joint, "spine")
    parts.torus((0, 0, 0.945), (0, 0, 1), (0.083, 0.012), joint, "spine")
    parts.rounded_box(
        (0, 0, 1.125), (0.155, 0.118, 0.15), shell, "chest", roundness=2.6, taper=0.16, detail=20
    )
    parts.rounded_box((0, -0.116, 1.155), (0.036, 0.014, 0.036), accent, "chest", detail=16)
    parts.rounded_box((0, -0.127, 1.155), (0.018, 0.008, 0.018), glow, "chest", detail=12)
    parts.rounded_box((0, 0.125, 1.14), (0.095, 0.045, 0.1), accent, "chest", roundness=4.0)
    parts.limb((0, 0, 1.24), (0, 0, 1.37), (0.05, 0.05), joint, "neck")
    parts.torus((0, 0, 1.285), (0, 0, 1), (0.052, 0.012), accent, "neck")

    parts.rounded_box((0, -0.005, 1.475), (0.17, 0.148, 0.138), shell, "head", roundness=3.0, detail=26)
    parts.rounded_box((0, -0.085, 1.475), (0.135, 0.078, 0.09), glass, "head", roundness=3.4, detail=22)
    for x in (-0.052, 0.052):
        parts.rounded_box((x, -0.158, 1.483), (0.021, 0.010, 0.034), glow, "head", detail=14)
        ear = 1.0 if x > 0.0 else -1.0
        parts.limb((0.15 * ear, 0, 1.475), (0.198 * ear, 0, 1.475), (0.055, 0.048), accent, "head")
    parts.limb((0, 0.03, 1.59), (0, 0.035, 1.7), (0.012, 0.008), joint, "head", detail=10)
    parts.ball((0, 0.035, 1.712), 0.024, accent, "head", detail=14)

    for side in ("L", "R"):
        thigh, shin, foot, toe = (f"{name}.{side}" for name in ("thigh", "shin", "foot", "toe"))
        hip, knee, ankle, ball = (mirrored(point, side) for point in (HIP, KNEE, ANKLE, BALL))
        parts.ball(hip, 0.07, joint, thigh)
        parts.limb(hip.lerp(knee, 0.1), knee.lerp(hip, 0.08), (0.078, 0.056), shell, thigh)
        parts.ball(knee, 0.05, joint, shin)
        parts.rounded_box(knee + Vector((0, -0.03, 0)), (0.034, 0.03, 0.038), accent, shin, detail=16)
        parts.limb(knee.lerp(ankle, 0.1), ankle.lerp(knee, 0.07), (0.05, 0.062), shell, shin)
        parts.ball(ankle, 0.046, joint, foot)
        boot, cap = (mirrored(point, side) for point in ((0.095, -0.018, 0.046), (0.095, -0.14, 0.034)))
        parts.rounded_box(boot, (0.056, 0.098, 0.046), accent, foot, roundness=3.4, detail=20)
        half_width = Vector((0.05, 0.0, 0.0))
        parts.limb(ball - half_width, ball + half_width, (0.03, 0.03), joint, toe, roundness=8.0)
        parts.rounded_box(cap, (0.054, 0.062, 0.034), accent, toe, roundness=3.0)

        upper_arm, forearm, hand = (f"{name}.{side}" for name in ("upper_arm", "forearm", "hand"))
        shoulder, elbow, wrist, fingers = (mirrored(p, side) for p in (SHOULDER, ELBOW, WRIST, FINGERS))
        parts.ball(shoulder, 0.058, joint, upper_arm)
        parts.limb(shoulder.lerp(elbow, 0.05), elbow.lerp(shoulder, 0.1), (0.057, 0.04), shell, upper_arm)
        parts.ball(elbow, 0.038, joint, forearm)
        parts.limb(elbow.lerp(wrist, 0.1), wrist.lerp(elbow, 0.08), (0.038, 0.05), shell, forearm)
        parts.torus(wrist.lerp(elbow, 0.12), wrist - elbow, (0.044, 0.009), accent, forearm)
        parts.ball(wrist, 0.034, joint, hand, detail=12)
        palm = wrist.lerp(fingers, 0.55)
        parts.rounded_box(palm, (0.032, 0.044, 0.062), accent, hand, roundness=2.4)
        thumb = palm + Vector((0.0, -0.02, 0.025)), palm + Vector((0.0, -0.055, -0.03))
        parts.limb(*thumb, (0.017, 0.014), accent, hand)
    parts.make_object("Robot", collection, rig)


def _set(collection: bpy.types.Collection) -> None:
    """Build the ground under the walk, lay the floor around it, and light both."""
    tops = (
        new_material("Sand", (0.42, 0.29, 0.15), roughness=0.9),
        new_material("Pale sand", (0.54, 0.39, 0.21), roughness=0.9),
    )
    soil = new_material("Soil", (0.20, 0.085, 0.045), roughness=0.9)
    ends = START_Y - SPEED * LAST_FRAME - 1.8, START_Y + 1.8
    block = Block(x=(-0.8, 0.8), y=ends, bottom=-0.35, columns=12, rows=250, tile=0.4)
    make_ground(block, ground_height, tops, soil, collection)
    add_floor(collection, block.bottom, BACKGROUND)
    add_three_suns(collection, key_from=(3.0, -3.5, 5.0))
    eye, look_at = (5.4, START_Y - 3.5, 1.7), (0.0, START_Y - 0.1, 0.76)
    camera = add_camera(collection, eye, look_at, lens=56.0)
    dolly(camera, (0.0, -SPEED * (LAST_FRAME - 1), 0.0))


def _key_body(rig: bpy.types.Object, body: BodyMotion) -> None:
    """Key the root, the hips, the trunk and the arms; every third frame is enough for them."""
    frames = [*range(1, LAST_FRAME + 1, 3), LAST_FRAME]
    hips_rest = Vector((0.0, 0.0, HIPS_HEIGHT))
    key_bone_offset(rig, "root", [(f, body.root(f)) for f in frames])
    key_bone_offset(rig, "hips", [(f, body.hips(f) - body.root(f) - hips_rest) for f in frames])
    for bone in body.turns(1):
        key_bone_turn(rig, bone, [(frame, body.turns(frame)[bone]) for frame in frames])


def _make_leg(rig: bpy.types.Object, side: str, path: FootPath, controls: bpy.types.Collection) -> None:
    """Give a leg its foot and knee Empties, their keys, and the chain that follows them."""
    frames = range(1, LAST_FRAME + 1)
    poses = [path.pose(frame) for frame in frames]
    foot_rest = rig.data.bones[f"foot.{side}"].matrix_local.to_3x3()
    foot = make_empty(f"Foot.{side}", mirrored(ANKLE, side), controls, display="CUBE", size=0.07)
    key_vectors(foot, "location", [(f, pose.ankle) for f, pose in zip(frames, poses, strict=True)])
    turns = []
    euler = foot_rest.to_euler()
    for pose in poses:
        euler = (pose.turn @ foot_rest).to_euler("XYZ", euler)
        turns.append(euler)
    key_vectors(foot, "rotation_euler", zip(frames, turns, strict=True))
    toe_bends = [(f, pose.toe_bend) for f, pose in zip(frames, poses, strict=True)]
    toe = rig.pose.bones[f"toe.{side}"]
    key_values(rig, toe.path_from_id("rotation_euler"), 0, toe_bends, group=toe.name)

    ahead = mirrored(KNEE, side) + Vector((0.0, -POLE_AHEAD, 0.0))
    knee = make_empty(f"Knee.{side}", ahead, controls, size=0.06)
    key_vectors(knee, "location", [(f, BodyMotion.root(f) + ahead) for f in [*frames[::6], LAST_FRAME]])

    make_chain(rig, f"shin.{side}", 2, foot, knee)
    level = rig.pose.bones[f"foot.{side}"].constraints.new("COPY_ROTATION")
    level.target = foot


def build() -> bpy.types.Object:
    """Build the scene and return its armature."""
    start_scene("biped_walk", LAST_FRAME, BACKGROUND)
    character, controls, stage = (new_collection(name) for name in ("Character", "Controls", "Set"))
    rig = make_armature("Robot rig", _bones(), character)
    _model(rig, character)
    _set(stage)
    feet = {side: FootPath(side) for side in ("L", "R")}
    _key_body(rig, BodyMotion(feet))
    for side, path in feet.items():
        _make_leg(rig, side, path, controls)
    return rig
