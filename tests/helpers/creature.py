"""A body with legs that follows its limbs' targets, in worlds of any kind."""

from math import radians
from random import Random

import bpy
from mathutils import Euler, Matrix, Vector

from ..rig.rigs import BoneSpec, Control, evaluated_copy, make_chain, new_armature, new_empty, update

LEGS = {
    2: {"L": (0.2, 0.0), "R": (-0.2, 0.0)},
    4: {"FL": (0.2, -0.8), "FR": (-0.2, -0.8), "HL": (0.2, 0.8), "HR": (-0.2, 0.8)},
    8: {
        f"{k}.{side}": (sign * (0.3 + 0.05 * k), 0.6 - 0.4 * k)
        for k in range(4)
        for side, sign in (("L", 1), ("R", -1))
    },
}
"""Of creatures with so many legs: where each hangs, as seen from above."""

ALL_REACH = 1e-5
"""Of a leg's length."""


class Creature:
    """A body on legs that end on the ground, each with a target Empty, in an armature of any scale and place.

    size: length of a leg in the armature's units is about twice that.
    """

    def __init__(self, legs=2, size=1.0, world=None, influence=1.0, direction="DOWN", connect=False, **settings):
        specs = [BoneSpec("root", (0, 0, 0), (0, 0.3, 0)), BoneSpec("hips", (0, 0, 2), (0, 0.4, 2), "root")]
        specs += [BoneSpec("spine", (0, 0.4, 2), (0, 0.4, 2.8), "hips", connect=True)]
        for leg, (x, y) in LEGS[legs].items():
            specs.append(BoneSpec(f"thigh.{leg}", (x, y, 2), (x, y - 0.2, 1), "hips"))
            specs.append(BoneSpec(f"shin.{leg}", (x, y - 0.2, 1), (x, y, 0.1), f"thigh.{leg}", connect=True))
        for spec in specs:
            spec.__dict__.update(head=Vector(spec.head) * size, tail=Vector(spec.tail) * size)
        self.ob, self.size, self.legs = new_armature("creature", specs), size, [*LEGS[legs]]
        self.ob.matrix_world = world or Matrix()
        update()
        self.world = self.ob.matrix_world.copy()
        self.targets, self.homes = {}, {}
        for leg in self.legs:
            shin = self.ob.pose.bones[f"shin.{leg}"]
            self.homes[leg] = self.world @ shin.tail
            self.targets[leg] = new_empty(f"foot {leg}", self.homes[leg])
            make_chain(shin, Control(self.targets[leg]), **settings)
        self.hips.analytic_ik_body_direction = direction
        self.hips.analytic_ik_body_influence = influence
        update()

    @property
    def hips(self):
        return self.ob.pose.bones["hips"]

    @property
    def leg_length(self):
        return (Vector((0, -0.2, -1)).length + Vector((0, 0.2, -0.9)).length) * self.size

    def step(self, leg, offset):
        """Put a target so far from where it is at rest, in legs of size 1, in the world's directions."""
        self.targets[leg].location = self.homes[leg] + Vector(offset) * self.size * self.scale

    @property
    def scale(self):
        return self.world.median_scale

    def missed(self):
        """By how much the worst foot misses its target, in leg lengths."""
        ob = evaluated_copy(self.ob)
        missed = (
            (ob.matrix_world @ ob.pose.bones[f"shin.{leg}"].tail - target.matrix_world.translation).length
            for leg, target in self.targets.items()
        )
        return max(missed) / (self.leg_length * self.scale)

    def body(self):
        """How far the hips are from where their FK channels put them, in the world, in legs of size 1."""
        ob = evaluated_copy(self.ob)
        rest = self.ob.data.bones["hips"].matrix_local @ Vector(self.hips.location)
        return ob.matrix_world.to_3x3() @ (ob.pose.bones["hips"].head - rest) / (self.size * self.scale)


def matrices(ob):
    return {bone.name: [x for row in bone.matrix for x in row] for bone in evaluated_copy(ob).pose.bones}


def differ(a, b):
    return max(abs(x - y) for name in a for x, y in zip(a[name], b[name], strict=True))


WORLDS = {
    "still": Matrix(),
    "turned": Matrix.LocRotScale((3, -1, 2), Euler((0.4, 1.2, -0.7)), (1, 1, 1)),
    "mirrored": Matrix.LocRotScale((0.5, 0, 0), Euler((0, 0, 2)), (-1, 1, 1)),
    "small": Matrix.Diagonal((0.01, 0.01, 0.01, 1)),
    "large": Matrix.Diagonal((100, 100, 100, 1)),
}


def walked(creature, keyed_hips=True):
    """The creature, its targets and perhaps its hips keyed over the frames 1 to 21."""
    random = Random(3)
    for frame in (1, 6, 11, 16, 21):
        for leg in creature.legs:
            creature.step(leg, [random.uniform(-0.3, 0.3), random.uniform(-0.7, 0.7), random.uniform(-0.1, 0.4)])
            creature.targets[leg].keyframe_insert("location", frame=frame)
        if keyed_hips:
            creature.hips.location = [random.uniform(-0.2, 0.2) * creature.size for _ in range(3)]
            creature.hips.keyframe_insert("location", frame=frame)
    return creature


WIDE = {"FL": (0.1, -1.85, 0.9), "HR": (0.0, 1.85, -0.6), "FR": (-0.2, -0.3, 0.0), "HL": (0.2, 0.4, 0.1)}
"""Steps with which no shift serves all legs of a creature with four, and a turn does."""


def spread(part=1.0, degrees=60.0, **settings):
    creature = Creature(4, **settings)
    creature.hips.analytic_ik_body_turn = radians(degrees)
    step_wide(creature, part)
    update()
    return creature


def step_wide(creature, part):
    for leg, step in WIDE.items():
        creature.step(leg, Vector(step) * part)


def spread_over_frames(keyed_hips=True):
    """A creature that turns where its steps are wide, keyed over the frames 1 to 21."""
    creature = spread()
    for frame, part in ((1, 0.2), (6, 1.0), (11, 0.5), (16, 0.98), (21, 0.0)):
        step_wide(creature, part)
        for target in creature.targets.values():
            target.keyframe_insert("location", frame=frame)
        if keyed_hips:
            creature.hips.rotation_quaternion = Euler((0.0, 0.004 * frame, 0.0)).to_quaternion()
            creature.hips.keyframe_insert("rotation_quaternion", frame=frame)
    return creature


def pose_at(creature: Creature, frame: float) -> dict[str, list[float]]:
    """The pose at a frame, where all its legs reach their targets."""
    bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
    assert creature.missed() < ALL_REACH
    return matrices(creature.ob)
