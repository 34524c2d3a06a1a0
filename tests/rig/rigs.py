"""Armatures made from a seed or by hand, their controls, and what Blender itself evaluates of them."""

from collections.abc import Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from math import pi
from random import Random

import bpy
from mathutils import Euler, Matrix, Quaternion, Vector

ROTATION_MODES = ("QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
INHERIT_SCALE = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")
TWO_BONE_SOLVERS = ("VECTOR", "LAW_OF_COSINES", "CIRCLE", "SPHERE")
WORLDS = ("still", "moved", "uneven", "mirrored", "parented")
CONTROLS = ("empty", "parented empty", "bone of the same armature", "bone of another armature")
GENERIC_BEND = 0.1
"""Radians: far above the 1e-3 below which float32 joints do not tell in which plane a limb bends."""


@dataclass(frozen=True)
class BoneSpec:
    """A bone to be made, in armature space."""

    name: str
    head: Iterable[float]
    tail: Iterable[float]
    parent: str = ""
    connect: bool = False
    roll: float = 0.0


@dataclass(frozen=True)
class Control:
    """A target or a pole: an object, or one of its bones."""

    ob: bpy.types.Object
    bone: str = ""

    def place(self, point_world: Iterable[float]) -> None:
        """Bring it to a point, by nothing but its own location."""
        update()
        if self.bone:
            pose_bone = self.ob.pose.bones[self.bone]
            point_armature = self.ob.matrix_world.inverted() @ Vector(point_world)
            # Control bones are made with an identity rest matrix and without a parent.
            pose_bone.location = point_armature
        elif self.ob.parent:
            parent_world = self.ob.parent.matrix_world @ self.ob.matrix_parent_inverse
            self.ob.location = parent_world.inverted() @ Vector(point_world)
        else:
            self.ob.location = point_world
        update()


@dataclass
class Rig:
    """An armature with one chain. bones: of the chain, root first. The chain is made by `enable`."""

    ob: bpy.types.Object
    bones: list[str]
    target: Control
    pole: Control | None = None
    random: Random = field(default_factory=Random)

    @property
    def tip(self) -> bpy.types.PoseBone:
        return self.ob.pose.bones[self.bones[-1]]

    def enable(self, **settings: object) -> None:
        """Make the chain a live one, with these of its settings besides its controls."""
        make_chain(self.tip, self.target, self.pole, chain_count=len(self.bones), **settings)
        update()

    def matrices(self) -> list[Matrix]:
        """Pose matrices of the chain's bones, root first, as Blender evaluates them."""
        evaluated = evaluated_copy(self.ob)
        return [evaluated.pose.bones[name].matrix.copy() for name in self.bones]

    def joints(self) -> list[Vector]:
        """Heads of the chain's bones and tail of its tip in armature space, as Blender evaluates them."""
        evaluated = evaluated_copy(self.ob)
        bones = [evaluated.pose.bones[name] for name in self.bones]
        return [bone.head.copy() for bone in bones] + [bones[-1].tail.copy()]

    def lengths(self) -> list[float]:
        return [(b - a).length for a, b in pairwise(self.joints())]

    def to_armature(self, control: Control) -> Vector:
        """Where a control is, in armature space, as Blender evaluates it."""
        evaluated = evaluated_copy(control.ob)
        bone = evaluated.pose.bones[control.bone] if control.bone else None
        if bone and control.ob == self.ob:
            return bone.head.copy()
        point_world = evaluated.matrix_world @ (bone.head if bone else Vector())
        return evaluated_copy(self.ob).matrix_world.inverted() @ point_world

    def to_world(self, point_armature: Vector) -> Vector:
        return evaluated_copy(self.ob).matrix_world @ point_armature

    def place_target(self, point_armature: Vector) -> None:
        self.target.place(self.to_world(point_armature))

    def place_pole(self, point_armature: Vector) -> None:
        self.pole.place(self.to_world(point_armature))

    def missed(self) -> float:
        """Distance from tip to target, in chain lengths."""
        return (self.joints()[-1] - self.to_armature(self.target)).length / sum(self.lengths())


# What Blender says


def update() -> None:
    bpy.context.view_layer.update()


def evaluated_copy(ob: bpy.types.Object) -> bpy.types.Object:
    return ob.evaluated_get(bpy.context.evaluated_depsgraph_get())


def rotation_channel(pose_bone: bpy.types.PoseBone) -> str:
    known = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
    return known.get(pose_bone.rotation_mode, "rotation_euler")


def rotation_values(pose_bone: bpy.types.PoseBone) -> tuple[float, ...]:
    """The numbers of a bone's rotation, in its own rotation mode."""
    return tuple(getattr(pose_bone, rotation_channel(pose_bone)))


def local_rotation(pose_bone: bpy.types.PoseBone) -> Quaternion:
    """What a bone's rotation means, in any rotation mode."""
    values = rotation_values(pose_bone)
    if pose_bone.rotation_mode == "QUATERNION":
        return Quaternion(values).normalized()
    if pose_bone.rotation_mode == "AXIS_ANGLE":
        return Quaternion(values[1:], values[0])
    return Euler(values, pose_bone.rotation_mode).to_quaternion()


def pose_values(ob: bpy.types.Object) -> dict[str, tuple[float, ...]]:
    """The rotations of all bones as they are shown, in their own rotation modes."""
    return {bone.name: rotation_values(bone) for bone in evaluated_copy(ob).pose.bones}


def fk_values(ob: bpy.types.Object) -> dict[str, tuple[float, ...]]:
    """The rotations that the user's own channels hold."""
    return {bone.name: rotation_values(bone) for bone in ob.pose.bones}


def matrix_difference(a: Matrix, b: Matrix) -> float:
    """Largest difference between two matrices, element by element."""
    return max(abs(x - y) for row_a, row_b in zip(a, b, strict=True) for x, y in zip(row_a, row_b, strict=True))


def orientation(matrix: Matrix) -> Matrix:
    return matrix.to_3x3().normalized()


def across(vector: Vector, axis: Vector) -> Vector:
    """The part of `vector` that is perpendicular to `axis`."""
    axis = axis.normalized()
    return vector - axis * vector.dot(axis)


def bend_normal(joints: list[Vector]) -> Vector:
    """Normal of the plane of a two-bone chain."""
    root, knee, tip = joints
    return (knee - root).cross(tip - knee).normalized()


def bulge(joints: list[Vector]) -> Vector:
    """Towards where the inner joints lie off the line from root to end."""
    along = joints[-1] - joints[0]
    return sum((across(joint - joints[0], along) for joint in joints[1:-1]), Vector())


def pole_side(joints: list[Vector]) -> Vector:
    """Where a bent chain has its pole: as it bulges, and three links as their first joint bends; a unit vector."""
    first, second, *others = [after - before for before, after in pairwise(joints)]
    if len(others) != 1:
        return bulge(joints).normalized()
    along = joints[-1] - joints[0]
    return along.cross(first.cross(second)).normalized()


def reach(lengths: list[float]) -> tuple[float, float]:
    """The nearest and the farthest that links of these lengths reach."""
    return max(0.0, 2.0 * max(lengths) - sum(lengths)), sum(lengths)


# Making things


def new_armature(name: str, bones: Iterable[BoneSpec]) -> bpy.types.Object:
    ob = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(ob)
    add_bones(ob, *bones)
    return ob


def add_bones(ob: bpy.types.Object, *specs: BoneSpec) -> None:
    with editing(ob) as edit_bones:
        for spec in specs:
            bone = edit_bones.new(spec.name)
            bone.head, bone.tail, bone.roll = spec.head, spec.tail, spec.roll
            if spec.parent:
                bone.parent = edit_bones[spec.parent]
                bone.use_connect = spec.connect
    update()


@contextmanager
def editing(ob: bpy.types.Object):
    """The edit bones of an armature, inside its edit mode."""
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    yield ob.data.edit_bones
    bpy.ops.object.mode_set(mode="OBJECT")


def new_empty(name: str, location: Iterable[float] = (0.0, 0.0, 0.0)) -> bpy.types.Object:
    ob = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(ob)
    ob.location = location
    return ob


def make_chain(
    tip: bpy.types.PoseBone, target: Control | None = None, pole: Control | None = None, **settings: object
) -> None:
    if target:
        tip.analytic_ik_target, tip.analytic_ik_subtarget = target.ob, target.bone
    if pole:
        tip.analytic_ik_pole_target, tip.analytic_ik_pole_subtarget = pole.ob, pole.bone
    for name, value in settings.items():
        setattr(tip, f"analytic_ik_{name}", value)
    tip.analytic_ik_enabled = True


def leg(name: str = "leg", side: float = 0.0, knee: float = 0.2) -> Rig:
    """A plain leg that bends forwards (to -Y), with a foot and a target Empty at its ankle."""
    ob = new_armature(
        name,
        [
            BoneSpec("hips", (side, 0.5, 2.0), (side, 0.0, 2.0)),
            BoneSpec("thigh", (side, 0.0, 2.0), (side, -knee, 1.0), "hips"),
            BoneSpec("shin", (side, -knee, 1.0), (side, 0.0, 0.0), "thigh", connect=True),
            BoneSpec("foot", (side, 0.0, 0.0), (side, -0.4, 0.0), "shin", connect=True),
        ],
    )
    return Rig(ob, ["thigh", "shin"], Control(new_empty(f"{name} target", (side, -0.3, 0.4))))


# At random


def random_unit(random: Random) -> Vector:
    while True:
        vector = Vector([random.uniform(-1.0, 1.0) for _ in range(3)])
        if 0.1 < vector.length < 1.0:
            return vector.normalized()


def random_rotation(random: Random, most: float = pi) -> Quaternion:
    return Quaternion(random_unit(random), random.uniform(-most, most))


def random_point(random: Random, nearest: float, farthest: float) -> Vector:
    return random_unit(random) * random.uniform(nearest, farthest)


def set_rotation(pose_bone: bpy.types.PoseBone, rotation: Quaternion) -> None:
    """Set a bone's rotation in its own rotation mode."""
    if pose_bone.rotation_mode == "QUATERNION":
        pose_bone.rotation_quaternion = rotation
    elif pose_bone.rotation_mode == "AXIS_ANGLE":
        axis, angle = rotation.to_axis_angle()
        pose_bone.rotation_axis_angle = (angle, *axis)
    else:
        pose_bone.rotation_euler = rotation.to_euler(pose_bone.rotation_mode)


def random_rig(
    seed: int,
    count: int = 2,
    with_pole: bool | None = None,
    uneven_scale: bool = False,
    straight: str = "",
) -> Rig:
    """An armature of any kind, with a chain of `count` bones that is not live yet.

    uneven_scale: bones are scaled differently along their axes. straight: "rest" for a limb that is straight
    in its rest pose, "FK" for one that is straight also in its FK pose.
    """
    random = Random(seed)
    parents = random.randrange(3)
    names = [f"bone {k}" for k in range(parents + count)]
    ob = new_armature(
        "rig",
        [
            *_random_limb(random, names, parents, straight),
            BoneSpec("hand control", (0.0, 0.0, 0.0), (0.0, 0.3, 0.0)),
            BoneSpec("pole control", (0.0, 0.0, 0.0), (0.0, 0.3, 0.0)),
        ],
    )
    _place_in_world(random, ob, random.choice(WORLDS))
    rig = Rig(ob, names[parents:], _random_control(random, ob, "hand control"), random=random)
    if with_pole if with_pole is not None else random.random() < 0.5:
        rig.pole = _random_control(random, ob, "pole control")
    for name in names:
        _random_flags(random, ob.pose.bones[name])
    while True:
        for name in names:
            _random_pose(random, ob.pose.bones[name], uneven_scale)
        if straight == "FK":
            for name in rig.bones:
                set_rotation(ob.pose.bones[name], Quaternion())
                ob.data.bones[name].use_inherit_rotation = True
        update()
        if straight == "FK" or bends_generically(rig.joints()):
            return rig


def _random_limb(random: Random, names: list[str], parents: int, straight: str) -> Iterable[BoneSpec]:
    tail, along = random_point(random, 0.0, 1.0), random_unit(random)
    for k, name in enumerate(names):
        connect = k > 0 and random.random() < 0.6
        if straight and k > parents:
            connect = True
        else:
            along = random_rotation(random, 1.5) @ along
        head = tail if connect or k == 0 else tail + random_point(random, 0.0, 0.4)
        tail = head + along * random.uniform(0.3, 1.5)
        yield BoneSpec(name, head, tail, names[k - 1] if k else "", connect, random.uniform(-pi, pi))


def _random_flags(random: Random, pose_bone: bpy.types.PoseBone) -> None:
    pose_bone.bone.inherit_scale = random.choice(INHERIT_SCALE)
    pose_bone.bone.use_inherit_rotation = random.random() < 0.7
    pose_bone.bone.use_local_location = random.random() < 0.7
    pose_bone.rotation_mode = random.choice(ROTATION_MODES)


def _random_pose(random: Random, pose_bone: bpy.types.PoseBone, uneven_scale: bool) -> None:
    set_rotation(pose_bone, random_rotation(random, 2.0))
    # Blender ignores the location of a connected bone, and so must the chain.
    pose_bone.location = random_point(random, 0.0, 0.4)
    if uneven_scale:
        pose_bone.scale = [random.uniform(0.6, 1.5) for _ in range(3)]
    else:
        size = random.choice((1.0, random.uniform(0.6, 1.5)))
        mirrored = random.random() < 0.15
        pose_bone.scale = [size * (random.choice((-1.0, 1.0)) if mirrored else 1.0) for _ in range(3)]


def _place_in_world(random: Random, ob: bpy.types.Object, world: str) -> None:
    if world == "still":
        return
    ob.location = random_point(random, 0.0, 3.0)
    ob.rotation_euler = random_rotation(random).to_euler()
    if world == "uneven":
        ob.scale = [random.uniform(0.5, 2.0) for _ in range(3)]
    if world == "mirrored":
        ob.scale = random.choice([(-1.0, 1.0, 1.0), (0.7, -1.3, 0.9), (-1.2, -1.2, -1.2)])
    if world == "parented":
        ob.parent = new_empty("carrier", random_point(random, 0.0, 3.0))
        ob.parent.rotation_euler = random_rotation(random).to_euler()
        ob.parent.scale = [random.uniform(0.5, 2.0)] * 3
    update()


def _random_control(random: Random, ob: bpy.types.Object, bone: str) -> Control:
    kind = random.choice(CONTROLS)
    if kind == "bone of the same armature":
        return Control(ob, bone)
    if kind == "bone of another armature":
        other = new_armature(f"other {bone}", [BoneSpec(bone, (0.0, 0.0, 0.0), (0.0, 0.3, 0.0))])
        _place_in_world(random, other, random.choice(WORLDS))
        return Control(other, bone)
    empty = new_empty(bone)
    if kind == "parented empty":
        empty.parent = new_empty(f"parent of {bone}", random_point(random, 0.0, 2.0))
        empty.parent.rotation_euler = random_rotation(random).to_euler()
    return Control(empty)


def bends_generically(joints: list[Vector]) -> bool:
    """Whether a limb's joints tell clearly in which plane it bends, and whither it points."""
    links = [(b - a).normalized() for a, b in pairwise(joints)]
    length = sum((b - a).length for a, b in pairwise(joints))
    if len(links) == 1:
        return True
    stretched = (joints[-1] - joints[0]).length > 0.1 * length
    bent = all(GENERIC_BEND < a.angle(b) < pi - GENERIC_BEND for a, b in pairwise(links))
    return stretched and bent and bulge(joints).length > 0.1 * length / len(links)


def reachable_point(rig: Rig, margin: float = 0.05) -> Vector:
    """A point in armature space that the chain reaches; margin: part of its range kept clear of either edge."""
    near, far = reach(rig.lengths())
    distance = near + (far - near) * rig.random.uniform(margin, 1.0 - margin)
    return rig.joints()[0] + random_unit(rig.random) * distance


def pole_point(rig: Rig, target_armature: Vector) -> Vector:
    """A point clearly off the line from the chain's root to its target."""
    root = rig.joints()[0]
    while True:
        offset = random_point(rig.random, 0.5, 3.0)
        if across(offset, target_armature - root).length > 0.2 * offset.length:
            return root + offset


def set_on(rig: Rig, **settings: object) -> None:
    """Set properties of the chain, by their names without the prefix."""
    for name, value in settings.items():
        setattr(rig.tip, f"analytic_ik_{name}", value)
    update()


def world_length(rig: Rig) -> float:
    """The length of the chain as it is posed."""
    joints = [rig.to_world(joint) for joint in rig.joints()]
    return sum((b - a).length for a, b in pairwise(joints))
