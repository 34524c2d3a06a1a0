"""A spider walks over moss on eight two-bone legs, four of them always on the ground."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, radians, sin, sqrt

import bpy
from mathutils import Matrix, Vector

from .landscape import Block, make_ground
from .motion import key_vectors, smoothstep
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
from .staging import Opening, add_camera, add_floor, add_three_suns, new_collection, new_material, start_scene

LAST_FRAME = 96
BACKGROUND = (0.50, 0.30, 0.15)
CYCLE = 24.0  # frames from one footfall of a leg to its next
STANCE = 0.62  # share of the cycle that a foot stands
SPEED = 0.0215  # metres a frame
START_Y = 1.0  # the spider walks towards -Y, past the origin
LIFT = 0.17

FEMUR, TIBIA = 0.62, 0.80
BODY = (0.0, 0.08, 0.46)

READ_ME = """\
1. Press Space: eight legs of two bones walk on uneven ground.
2. Click any bone of a leg: the Analytic IK tab shows its chain.
3. In Object Mode, move the sphere at a foot: the leg follows exactly.
4. In the header of the Chains panel, set Overlay to All: what each leg can reach.
5. Press Check: the certificate lists every leg and its largest error.
"""


@dataclass(frozen=True)
class Leg:
    """A leg of the rest pose: its place in the row, its side, and where it starts and stands."""

    number: int
    side: str
    hip: Vector
    foot: Vector

    @property
    def suffix(self) -> str:
        """Return the end of the names of its bones and Empties."""
        return f"{self.side}{self.number}"

    @property
    def knee(self) -> Vector:
        """Return the knee, straight above the line from hip to foot."""
        to_foot = self.foot - self.hip
        along = (FEMUR**2 - TIBIA**2 + to_foot.length_squared) / (2.0 * to_foot.length)
        upwards = to_foot.cross(Vector((0.0, 0.0, 1.0))).cross(to_foot).normalized()
        return self.hip + to_foot.normalized() * along + upwards * sqrt(FEMUR**2 - along**2)

    @property
    def pole(self) -> Vector:
        """Return the place of its pole, well above the knee."""
        outwards = (self.foot - self.hip).normalized()
        return self.knee + outwards * 0.15 + Vector((0.0, 0.0, 0.75))

    @property
    def phase(self) -> float:
        """Return when it steps: neighbours and opposite legs take turns (alternating tetrapod)."""
        first_group = (self.number % 2 == 1) == (self.side == "L")
        return 0.0 if first_group else 0.5


def _legs() -> list[Leg]:
    # Number, place of the hip along the body, degrees of the leg forwards of sideways, distance of the foot.
    rows = ((1, -0.30, 58.0, 0.98), (2, -0.17, 22.0, 0.86), (3, -0.04, -16.0, 0.86), (4, 0.09, -52.0, 1.02))
    legs = []
    for number, along, direction, distance in rows:
        hip = Vector((0.2, along, 0.43))
        angle = radians(direction)
        foot = Vector((hip.x + distance * cos(angle), along - distance * sin(angle), 0.0))
        legs += [Leg(number, side, mirrored(hip, side), mirrored(foot, side)) for side in ("L", "R")]
    return legs


LEGS = _legs()

# Place and half width and length of the marks on the abdomen; half the height of each is under the shell.
MARKS = (((0.38, 0.824), (0.10, 0.06)), ((0.56, 0.87), (0.13, 0.055)), ((0.74, 0.842), (0.09, 0.05)))
# Place and radius of the eyes of the left side.
EYES = (((0.088, -0.405, 0.52), 0.085), ((0.185, -0.325, 0.555), 0.048), ((0.15, -0.2, 0.635), 0.034))
# Place and size of the pebbles, beside the spider's way.
PEBBLES = (
    (1.62, -1.9, 0.17),
    (1.78, -1.62, 0.09),
    (-1.66, -0.7, 0.14),
    (-1.7, 1.6, 0.2),
    (1.66, 1.3, 0.12),
    (-1.55, -2.5, 0.1),
)


def ground_height(x: float, y: float) -> float:
    """Return the height of the ground, for the mesh and for the feet alike."""
    hills = 0.07 * sin(1.9 * x + 0.7) * cos(1.6 * y) + 0.045 * sin(2.7 * y - 1.3 * x)
    return hills + 0.02 * sin(5.1 * x + 4.3 * y)


def _on_ground(point: Vector) -> Vector:
    return Vector((point.x, point.y, ground_height(point.x, point.y)))


def _travelled(frame: float) -> Vector:
    """Return the place on level ground that the spider stands over."""
    return Vector((0.0, START_Y - SPEED * (frame - 1.0), 0.0))


def foot_place(leg: Leg, frame: float) -> Vector:
    """Return where the tip of a leg is: standing on the ground, or stepping to its next place there."""
    cycles, phase = divmod((frame - 1.0) / CYCLE + leg.phase, 1.0)
    lands = 1.0 + (cycles - leg.phase) * CYCLE
    # Half way through its stance a foot is where the rest pose has it.
    half_stance = STANCE * CYCLE / 2.0
    mid_stances = lands + half_stance, lands + CYCLE + half_stance
    here, there = (_on_ground(leg.foot + _travelled(mid_stance)) for mid_stance in mid_stances)
    if phase <= STANCE:
        return here
    share = (phase - STANCE) / (1.0 - STANCE)
    place = here.lerp(there, smoothstep(share))
    place.z += LIFT * sin(pi * share) ** 1.5
    return place


def _body_place(frame: float) -> Vector:
    """Return where the body is: over the mean height under the feet, with a bob and a sway."""
    place = _travelled(frame)
    heights = [_on_ground(leg.foot + place).z for leg in LEGS]
    wave = 2.0 * pi * (frame - 1.0) / CYCLE
    return place + Vector((0.022 * sin(wave), 0.0, sum(heights) / len(heights) + 0.014 * cos(2.0 * wave)))


def _body_turn(frame: float) -> Matrix:
    wave = 2.0 * pi * (frame - 1.0) / CYCLE
    return turn_by(pitch=1.5 * sin(2.0 * wave), roll=2.2 * sin(wave + 0.6), yaw=2.0 * cos(wave))


def _abdomen_turn(frame: float) -> Matrix:
    wave = 2.0 * pi * (frame - 1.0) / CYCLE
    return turn_by(pitch=3.5 * sin(2.0 * wave - 0.9), yaw=-3.5 * cos(wave - 0.5))


def _bones() -> list[BoneSpec]:
    up = (0.0, 0.0, 1.0)
    bones = [
        BoneSpec("root", (0.0, 0.0, 0.0), (0.0, 0.3, 0.0), deform=False),
        BoneSpec("body", BODY, (0.0, -0.36, 0.46), "root", up),
        BoneSpec("abdomen", (0.0, 0.14, 0.48), (0.0, 0.86, 0.60), "body", up),
    ]
    for leg in LEGS:
        femur, tibia = f"femur.{leg.suffix}", f"tibia.{leg.suffix}"
        bones.append(BoneSpec(femur, leg.hip, leg.knee, "body", up))
        bones.append(BoneSpec(tibia, leg.knee, leg.foot, femur, up, connected=True))
    return bones


def _model(rig: bpy.types.Object, collection: bpy.types.Collection) -> None:
    """Build the spider: an indigo body with amber marks and large dark eyes."""
    indigo = new_material("Indigo shell", (0.035, 0.04, 0.13), roughness=0.32)
    amber = new_material("Amber", (0.95, 0.40, 0.04), roughness=0.4)
    dark = new_material("Dark joint", (0.014, 0.014, 0.03), roughness=0.5)
    eye = new_material("Eye", (0.006, 0.006, 0.012), roughness=0.05)
    sparkle = new_material("Sparkle", (0.9, 0.95, 1.0), glow=1.5)
    parts = MeshParts()

    parts.rounded_box((0, -0.12, 0.47), (0.25, 0.33, 0.19), indigo, "body", roundness=2.3, detail=24)
    parts.ball((0, 0.17, 0.48), 0.1, dark, "body")
    tilt = Matrix.Rotation(radians(9.0), 3, "X")
    parts.rounded_box((0, 0.56, 0.57), (0.33, 0.44, 0.31), indigo, "abdomen", rotation=tilt, detail=28)
    for place, half_size in MARKS:
        parts.rounded_box((0, *place), (*half_size, 0.028), amber, "abdomen", rotation=tilt)
    parts.limb((0, 0.92, 0.58), (0, 1.06, 0.56), (0.055, 0.03), dark, "abdomen")

    for side in ("L", "R"):
        for place, radius in EYES:
            centre = mirrored(place, side)
            parts.ball(centre, radius, eye, "body", detail=18)
            highlight = centre + Vector((-0.28, -0.72, 0.5)) * radius
            parts.ball(highlight, radius * 0.24, sparkle, "body", detail=8)
        fang_top, fang_tip = mirrored((0.062, -0.40, 0.40), side), mirrored((0.05, -0.455, 0.24), side)
        parts.limb(fang_top, fang_tip, (0.058, 0.038), amber, "body")
        palp_joints = (0.15, -0.36, 0.40), (0.2, -0.56, 0.40), (0.17, -0.63, 0.25)
        palp, palp_knee, palp_tip = (mirrored(point, side) for point in palp_joints)
        parts.limb(palp, palp_knee, (0.034, 0.028), indigo, "body", detail=12)
        parts.limb(palp_knee, palp_tip, (0.03, 0.034), amber, "body", detail=12)

    for leg in LEGS:
        femur, tibia = f"femur.{leg.suffix}", f"tibia.{leg.suffix}"
        parts.ball(leg.hip, 0.068, dark, femur, detail=12)
        parts.limb(leg.hip, leg.knee, (0.062, 0.046), indigo, femur, detail=14)
        parts.ball(leg.knee, 0.052, amber, tibia, detail=12)
        parts.limb(leg.knee, leg.foot, (0.046, 0.014), indigo, tibia, roundness=6.0, detail=14)
        for share, radii in ((0.42, (0.027, 0.016)), (0.7, (0.019, 0.011))):
            ring = leg.knee.lerp(leg.foot, share)
            parts.torus(ring, leg.foot - leg.knee, radii, amber, tibia, detail=12)
    parts.make_object("Spider", collection, rig)


def _set(collection: bpy.types.Collection) -> None:
    tops = (
        new_material("Moss", (0.10, 0.16, 0.05), roughness=0.95),
        new_material("Light moss", (0.14, 0.21, 0.07), roughness=0.95),
    )
    soil = new_material("Soil", (0.10, 0.05, 0.03), roughness=0.95)
    block = Block(x=(-2.0, 2.0), y=(-3.0, 3.0), bottom=-0.55, columns=32, rows=48, tile=0.5)
    make_ground(block, ground_height, tops, soil, collection)

    stone = new_material("Stone", (0.34, 0.31, 0.28), roughness=0.85)
    pebbles = MeshParts()
    for x, y, size in PEBBLES:
        turned = turn_by(pitch=20.0 * x, roll=15.0 * y, yaw=60.0 * x * y)
        centre = _on_ground(Vector((x, y, 0.0))) + Vector((0.0, 0.0, 0.3 * size))
        pebbles.rounded_box(centre, (size, size * 0.8, size * 0.62), stone, roundness=2.6, rotation=turned)
    pebbles.make_object("Pebbles", collection)

    add_floor(collection, block.bottom, BACKGROUND)
    add_three_suns(collection, key_from=(3.2, -3.0, 4.6))
    add_camera(collection, eye=(4.6, -6.3, 3.3), look_at=(0.05, -0.1, 0.25), lens=60.0)


def build() -> Opening:
    """Build the scene."""
    start_scene("spider", LAST_FRAME, BACKGROUND)
    character, controls, stage = (new_collection(name) for name in ("Character", "Controls", "Set"))
    rig = make_armature("Spider rig", _bones(), character, display="WIRE")
    _model(rig, character)
    _set(stage)

    frames = range(1, LAST_FRAME + 1)
    body_frames = [*frames[::3], LAST_FRAME]
    key_bone_offset(rig, "root", [(frame, _travelled(frame)) for frame in (1, LAST_FRAME)], "LINEAR")
    key_bone_offset(rig, "body", [(frame, _body_place(frame) - _travelled(frame)) for frame in body_frames])
    key_bone_turn(rig, "body", [(frame, _body_turn(frame)) for frame in body_frames])
    key_bone_turn(rig, "abdomen", [(frame, _abdomen_turn(frame)) for frame in body_frames])
    for leg in LEGS:
        foot = make_empty(f"Foot.{leg.suffix}", leg.foot, controls, size=0.06)
        key_vectors(foot, "location", [(frame, foot_place(leg, frame)) for frame in frames])
        knee = make_empty(f"Knee.{leg.suffix}", leg.pole, controls, display="PLAIN_AXES", size=0.06)
        ends = [(frame, leg.pole + _travelled(frame)) for frame in (1, LAST_FRAME)]
        key_vectors(knee, "location", ends, "LINEAR")
        make_chain(rig, f"tibia.{leg.suffix}", 2, foot, knee)
    return Opening(rig, READ_ME, "tibia.L1")
