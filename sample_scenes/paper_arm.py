"""The five-joint chain of the Triangulation paper reaches for targets in and around the paper's box.

Source: R. Mueller-Cajar and R. Mukundan, "Triangulation: a new algorithm for inverse kinematics",
section 4: joints of length 9, 9, 9, 9 and 4, straight at the start (figure 5), and targets within a box
of side length 60 about the root. Here one of its units is a tenth of a metre.
"""

from __future__ import annotations

from itertools import pairwise, product

import bpy
from mathutils import Vector

from .motion import key_vectors
from .rigging import BoneSpec, make_armature, make_chain, make_empty
from .shapes import MeshParts
from .staging import Opening, add_camera, add_floor, add_three_suns, new_collection, new_material, start_scene

UNIT = 0.1
LENGTHS = (9.0, 9.0, 9.0, 9.0, 4.0)
BOX_SIDE = 60.0
BACKGROUND = (0.055, 0.065, 0.12)

# In the paper's units. The chain is 40 long: it cannot reach those marked as beyond it.
TARGETS = (
    (10.0, -12.0, 27.0),
    (24.0, -10.0, 14.0),
    (27.0, 8.0, -4.0),
    (17.0, 20.0, 6.0),
    (36.0, 14.0, 20.0),  # outside the box and beyond reach
    (12.0, 12.0, 24.0),
    (-8.0, 6.0, 29.0),
    (-24.0, 4.0, 18.0),
    (-39.0, -8.0, 12.0),  # outside the box and beyond reach
    (-26.0, -14.0, 2.0),
    (-17.0, -21.0, -9.0),
    (-9.0, -25.0, 8.0),
    (-10.0, -17.0, 37.0),  # outside the box and beyond reach
    (6.0, -20.0, 16.0),
    (18.0, -24.0, -6.0),
    (28.0, -28.0, 28.0),  # within the box, in its corner, and beyond reach
)
HOLD_FRAMES, MOVE_FRAMES = 10, 14
LAST_FRAME = len(TARGETS) * (HOLD_FRAMES + MOVE_FRAMES)

READ_ME = """\
1. Press Space: the arm of the Triangulation paper reaches for the paper's box of targets.
2. Four targets are out of reach: there the arm points at them, straight.
3. Press Check: the Certificate panel lists the frames that it cannot reach.
4. Set Out of Reach to Stretch: the arm gets longer, up to Max Stretch.
5. In Object Mode, move Target: five joints are solved in one pass.
"""


def _bones() -> list[BoneSpec]:
    heights = [0.0]
    for length in LENGTHS:
        heights.append(heights[-1] + length * UNIT)
    return [
        BoneSpec(
            f"joint.{number}",
            (0.0, 0.0, low),
            (0.0, 0.0, high),
            f"joint.{number - 1}" if number > 1 else "",
            (0.0, -1.0, 0.0),
            connected=number > 1,
        )
        for number, (low, high) in enumerate(pairwise(heights), 1)
    ]


def _model(rig: bpy.types.Object, collection: bpy.types.Collection) -> None:
    """Build the links as rounded bars, each with a collar and the joint that it turns about."""
    colours = (
        (0.06, 0.30, 0.55),
        (0.06, 0.45, 0.55),
        (0.16, 0.58, 0.44),
        (0.62, 0.66, 0.22),
        (0.95, 0.52, 0.08),
    )
    steel = new_material("Joint", (0.05, 0.055, 0.07), roughness=0.3, metallic=0.6)
    parts = MeshParts()
    radius = 0.24
    for index, bone in enumerate(rig.data.bones):
        enamel = new_material(f"Link {index + 1}", colours[index], roughness=0.35)
        low, high = bone.head_local, bone.tail_local
        parts.ball(low, radius * 0.95, steel, bone.name, detail=20)
        is_last = index == len(LENGTHS) - 1
        end = high if is_last else high - Vector((0.0, 0.0, 0.14))
        radii = (radius, 0.04 if is_last else radius * 0.86)
        parts.limb(low + Vector((0.0, 0.0, 0.14)), end, radii, enamel, bone.name, roundness=7.0, detail=24)
        parts.torus(low + Vector((0.0, 0.0, 0.27)), (0.0, 0.0, 1.0), (radius * 0.97, 0.026), steel, bone.name)
        radius *= 0.9
    parts.make_object("Arm", collection, rig)


def _target_ball(target: bpy.types.Object, collection: bpy.types.Collection) -> None:
    red = new_material("Target", (1.0, 0.10, 0.06), roughness=0.25, glow=0.8)
    parts = MeshParts()
    parts.ball((0, 0, 0), 0.17, red, detail=20)
    parts.make_object("Target ball", collection).parent = target


def _set(collection: bpy.types.Collection) -> None:
    """Build the paper's box, a mark at each target, the arm's stand, and the light."""
    frame = new_material("Box", (0.45, 0.55, 0.72), roughness=0.5, glow=0.15)
    mark = new_material("Mark", (0.85, 0.30, 0.24), roughness=0.6, glow=0.3)
    stand = new_material("Stand", (0.20, 0.22, 0.30), roughness=0.4)
    half = BOX_SIDE * UNIT / 2.0
    box = MeshParts()
    for start in product((-half, half), repeat=3):
        box.ball(start, 0.07, frame)
        for axis in range(3):
            if start[axis] < 0.0:
                end = list(start)
                end[axis] = half
                box.tube(start, end, 0.03, frame)
    box.make_object("Target box", collection)

    marks = MeshParts()
    for place in TARGETS:
        marks.ball(Vector(place) * UNIT, 0.06, mark)
    marks.make_object("Target places", collection)

    column = MeshParts()
    column.limb((0, 0, -half), (0, 0, -0.12), (0.34, 0.2), stand, roundness=12.0, detail=24)
    column.limb((0, 0, -half - 0.05), (0, 0, -half + 0.12), (0.8, 0.72), stand, roundness=6.0, detail=36)
    column.torus((0, 0, -0.14), (0, 0, 1), (0.2, 0.05), stand)
    column.make_object("Stand", collection)

    add_floor(collection, -half, BACKGROUND)
    add_three_suns(collection, key_from=(3.0, -3.5, 5.5))
    add_camera(collection, eye=(7.2, -13.4, 5.6), look_at=(0.1, 0.0, -0.3), lens=39.0)


def build() -> Opening:
    """Build the scene."""
    start_scene("paper_arm", LAST_FRAME, BACKGROUND)
    character, controls, stage = (new_collection(name) for name in ("Arm", "Controls", "Set"))
    rig = make_armature("Arm rig", _bones(), character)
    _model(rig, character)
    _set(stage)
    target = make_empty("Target", Vector(TARGETS[0]) * UNIT, controls, size=0.2)
    _target_ball(target, controls)
    samples = []
    for index, place in enumerate((*TARGETS, TARGETS[0])):
        arrives = 1 + index * (HOLD_FRAMES + MOVE_FRAMES)
        samples += [(frame, Vector(place) * UNIT) for frame in (arrives, arrives + HOLD_FRAMES)]
    key_vectors(target, "location", samples)
    make_chain(rig, f"joint.{len(LENGTHS)}", len(LENGTHS), target, solver="TRIANGULATION")
    return Opening(rig, READ_ME, "joint.5")
