"""Limits of joints: set at random, and how far Blender's own evaluated pose is beyond them.

Nothing here asks the solvers. A bone's rotation is read from its channels, and where bones point from their pose
matrices.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from math import asin, atan2, hypot, pi, sin
from random import Random

import bpy
from mathutils import Matrix, Quaternion, Vector

from .rigs import Rig, evaluated_copy, local_rotation, random_rig, set_rotation, update

HELD = 1e-4
"""Radians within which a limit holds."""
_FLAT = 1e-3
"""Radians within which a search finds where a cosine in single precision is largest."""

KINDS = ("hinge", "narrow hinge", "bent hinge", "swing", "one axis", "twist", "locked", "cone", "cone and swing")

Range = tuple[float, float]


# What a bone may do, as Blender's own panel says


def range_of(pose_bone: bpy.types.PoseBone, axis: str) -> Range | None:
    """What a bone's IK lock and limit leave it about one of its axes; None: all."""
    if getattr(pose_bone, f"lock_ik_{axis}"):
        return 0.0, 0.0
    if not getattr(pose_bone, f"use_ik_limit_{axis}"):
        return None
    return getattr(pose_bone, f"ik_min_{axis}"), getattr(pose_bone, f"ik_max_{axis}")


def set_range(pose_bone: bpy.types.PoseBone, axis: str, lowest: float, highest: float) -> None:
    setattr(pose_bone, f"use_ik_limit_{axis}", True)
    setattr(pose_bone, f"ik_min_{axis}", lowest)
    setattr(pose_bone, f"ik_max_{axis}", highest)


def hinge_axis(pose_bone: bpy.types.PoseBone) -> str:
    """The axis of a bone that turns about one axis only; empty where it swings."""
    if pose_bone.lock_ik_x:
        return "z"
    return "x" if pose_bone.lock_ik_z else ""


def joint_rotation(pose_bone: bpy.types.PoseBone) -> Quaternion:
    """The rotation of an evaluated bone's joint from its rest pose: what its channels mean.

    Of a bone that does not inherit its parent's rotation: what it is turned against its parent, which is how
    Blender's own IK reads its limits.
    """
    parent, bone = pose_bone.parent, pose_bone.bone
    if bone.use_inherit_rotation or parent is None:
        return local_rotation(pose_bone)
    own = pose_bone.matrix.to_3x3() @ Matrix.Diagonal([1.0 if size > 0.0 else -1.0 for size in pose_bone.scale])
    rest = parent.bone.matrix_local.to_3x3().inverted() @ bone.matrix_local.to_3x3()
    return (unmirrored(parent.matrix.to_3x3()) @ rest).to_quaternion().inverted() @ unmirrored(own).to_quaternion()


def unmirrored(matrix: Matrix) -> Matrix:
    """The rotation in a matrix, of its mirrored axes where it mirrors."""
    return (matrix * (-1.0 if matrix.determinant() < 0.0 else 1.0)).normalized()


def swing_and_twist(rotation: Quaternion) -> tuple[float, float, float]:
    """Of a rotation that twists about Y and then swings: x and z of the swing, as sin(angle / 2), and the twist."""
    twist = 2.0 * atan2(rotation.y, rotation.w)
    return *swing_of(rotation @ Quaternion((0.0, 1.0, 0.0), -twist)), wrapped(twist)


def swing_of(swung: Quaternion) -> tuple[float, float]:
    """x and z of a swing, as sin(angle / 2)."""
    return (swung.x, swung.z) if swung.w >= 0.0 else (-swung.x, -swung.z)


def swung_and_twisted(x: float, z: float, twist: float) -> Quaternion:
    """The rotation of which `swing_and_twist` says this."""
    w = max(0.0, 1.0 - x * x - z * z) ** 0.5
    return Quaternion((w, x, 0.0, z)) @ Quaternion((0.0, 1.0, 0.0), twist)


# How far a pose is beyond its limits


@dataclass
class Judge:
    """Says by how many radians a rig's evaluated pose breaks its limits. fk_twists: of its bones before IK."""

    rig: Rig
    fk_twists: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.read_fk()

    def read_fk(self) -> None:
        """Take the present pose for the FK pose."""
        for bone in self.bones():
            self.fk_twists[bone.name] = swing_and_twist(joint_rotation(bone))[2]

    def bones(self) -> list[bpy.types.PoseBone]:
        evaluated = evaluated_copy(self.rig.ob)
        return [evaluated.pose.bones[name] for name in self.rig.bones]

    def broken(self) -> dict[str, float]:
        """For each limit that does not hold, the radians beyond it."""
        joints, found = self.rig.joints(), {}
        for k, bone in enumerate(self.bones()):
            for what, excess in [("joint", self._of_channels(bone)), *self._of_bends(bone, k, joints)]:
                if not excess <= HELD:
                    found[f"{bone.name}: {what}"] = excess
        return found

    def _of_channels(self, bone: bpy.types.PoseBone) -> float:
        """How far a bone's rotation is from a legal one near it."""
        rotation = joint_rotation(bone)
        twist = self._legal_twist(bone, swing_and_twist(rotation)[2])
        # Of a joint that is folded flat the twist is noise: what a legal one leaves of the rotation is its swing.
        swung = rotation @ Quaternion((0.0, 1.0, 0.0), -twist)
        swung = Quaternion((swung.w, swung.x, 0.0, swung.z)).normalized()
        twisted = Quaternion((0.0, 1.0, 0.0), twist)
        # Half a turn one way is half a turn the other way.
        ways = (swung, -swung) if abs(swung.w) < HELD else (swung if swung.w >= 0.0 else -swung,)
        return min(
            rotation_between(rotation, legal @ twisted)
            for way in ways
            for legal in _legal_swings(way, range_of(bone, "x"), range_of(bone, "z"))
        )

    def _legal_twist(self, bone: bpy.types.PoseBone, twist: float) -> float:
        allowed = range_of(bone, "y")
        if hinge_axis(bone):
            return self.kept_twist(bone)
        return twist if allowed is None else nearest_in(twist, *allowed)

    def kept_twist(self, bone: bpy.types.PoseBone) -> float:
        """The twist that a hinge keeps: that of its FK pose, clamped to its limits."""
        lowest, highest = range_of(bone, "y") or (-pi, pi)
        return min(max(self.fk_twists[bone.name], lowest), highest)

    def _of_bends(self, bone: bpy.types.PoseBone, k: int, joints: list[Vector]) -> list[tuple[str, float]]:
        link, before = joints[k + 1] - joints[k], self.before(k, joints)
        if before is None:
            return []
        found = []
        bend = angle(link, before)
        if bone.analytic_ik_use_cone:
            found.append(("cone", bend - bone.analytic_ik_cone))
        if bone.analytic_ik_use_min_bend and hinge_axis(bone):
            found.append(("least bend", bone.analytic_ik_min_bend - bend))
            found.append(("side of the bend", 0.0 if self.on_its_side(bone, link, before) else 1.0))
        return found

    def before(self, k: int, joints: list[Vector]) -> Vector | None:
        """Where what comes before a bone of the chain points: the link before, or the root's parent bone."""
        if k:
            return joints[k] - joints[k - 1]
        parent = self.bones()[0].parent
        return parent.tail - parent.head if parent else None

    def on_larger_sides(self) -> bool:
        """Whether all hinges are bent to the larger side of their range."""
        joints, bones = self.rig.joints(), self.bones()
        links = [b - a for a, b in pairwise(joints)]
        return all(
            self.on_its_side(bones[k], links[k], links[k - 1]) for k in range(1, len(bones)) if hinge_axis(bones[k])
        )

    def on_its_side(self, bone: bpy.types.PoseBone, link: Vector, before: Vector) -> bool:
        """Whether a hinge is bent to the larger side of its range, seen from where it is straightest."""
        axis = hinge_axis(bone)
        lowest, highest = range_of(bone, axis) or (-pi, pi)
        middle = (lowest + highest) / 2.0
        now, straight = (
            middle + wrapped(turned - middle) for turned in (hinge_angle(bone), straightest(bone, link, before))
        )
        return now >= straight - _FLAT if middle >= straight else now <= straight + _FLAT


def nearest_in(value: float, lowest: float, highest: float) -> float:
    """The angle of a range that is nearest to `value`, the short way round."""
    ends = (lowest, highest)
    return value if lowest <= value <= highest else min(ends, key=lambda end: abs(wrapped(value - end)))


def wrapped(turned: float) -> float:
    """The same angle between -pi and pi."""
    return (turned + pi) % (2.0 * pi) - pi


def _legal_swing(x: float, z: float, x_range: Range | None, z_range: Range | None) -> tuple[float, float]:
    x, z = _clamped(x, x_range), _clamped(z, z_range)
    if x_range and z_range:
        sines = [abs(sin(limits[value > 0.0] / 2.0)) for value, limits in ((x, x_range), (z, z_range))]
        share = hypot(x / sines[0], z / sines[1]) if all(sines) else 0.0
        if share > 1.0:
            x, z = x / share, z / share
    size = max(1.0, hypot(x, z))
    return x / size, z / size


def _clamped(value: float, limits: Range | None) -> float:
    return value if limits is None else min(max(value, sin(limits[0] / 2.0)), sin(limits[1] / 2.0))


def _legal_swings(swung: Quaternion, x_range: Range | None, z_range: Range | None) -> list[Quaternion]:
    """Legal swings near a swing; near half a turn x and z alone do not tell it in single precision."""
    x, z = _legal_swing(swung.x, swung.z, x_range, z_range)
    legal = [Quaternion((max(0.0, 1.0 - x * x - z * z) ** 0.5, x, 0.0, z))]
    if hypot(x - swung.x, z - swung.z) < HELD:
        legal.append(Quaternion((swung.w, x, 0.0, z)).normalized())
    return legal


def rotation_between(a: Quaternion, b: Quaternion) -> float:
    """Angle of the rotation from one to the other, exact for small ones too."""
    apart = min((a - b).magnitude, (a + b).magnitude)
    return 4.0 * asin(min(1.0, apart / 2.0))


def angle(a: Vector, b: Vector) -> float:
    """Between two vectors, exact for small ones too."""
    a, b = a.normalized(), b.normalized()
    return 2.0 * atan2((a - b).length, (a + b).length)


def hinge_angle(bone: bpy.types.PoseBone) -> float:
    """By how much a hinge is turned about its axis."""
    x, z, _ = swing_and_twist(joint_rotation(bone))
    turned = x if hinge_axis(bone) == "x" else z
    return 2.0 * asin(max(-1.0, min(1.0, turned)))


def carrier_of(bone: bpy.types.PoseBone) -> Matrix:
    """What a bone's joint turns in, the reflection of a mirrored parent included."""
    return bone.matrix.to_3x3() @ (joint_rotation(bone).to_matrix() @ Matrix.Diagonal(bone.scale)).inverted()


def straightest(bone: bpy.types.PoseBone, link: Vector, before: Vector) -> float:
    """The angle of a hinge at which its link comes nearest to straight on."""
    axis = Vector([float(hinge_axis(bone) == other) for other in "xyz"])
    carrier = carrier_of(bone)
    own = carrier.inverted() @ link

    def cosine(turn: float) -> float:
        return (carrier @ (Quaternion(axis, turn) @ own)).normalized().dot(before.normalized())

    best, step = max((k * pi / 180.0 for k in range(-180, 180)), key=cosine), pi / 180.0
    while step > 1e-6:
        step /= 2.0
        best = max((best - step, best, best + step), key=cosine)
    return wrapped(hinge_angle(bone) + best)


# At random


def random_limits(random: Random, pose_bone: bpy.types.PoseBone, kind: str) -> None:
    """Limit a bone's joint."""
    if kind in ("cone", "cone and swing"):
        pose_bone.analytic_ik_use_cone = True
        pose_bone.analytic_ik_cone = random.uniform(0.3, 3.0)
    if "hinge" in kind:
        axis = random.choice("xz")
        setattr(pose_bone, "lock_ik_z" if axis == "x" else "lock_ik_x", True)
        if kind != "hinge" or random.random() < 0.5:
            most = 0.5 if kind == "narrow hinge" else pi
            set_range(pose_bone, axis, -random.uniform(0.0, most), random.uniform(0.0, most))
        if kind == "bent hinge":
            pose_bone.analytic_ik_use_min_bend = True
            pose_bone.analytic_ik_min_bend = random.uniform(0.0, 0.8)
    if "swing" in kind:
        for axis in "xz":
            set_range(pose_bone, axis, -random.uniform(0.0, pi), random.uniform(0.0, pi))
    if kind == "one axis":
        set_range(pose_bone, random.choice("xz"), -random.uniform(0.0, pi), random.uniform(0.0, pi))
    if kind == "locked":
        for axis in "xyz":
            setattr(pose_bone, f"lock_ik_{axis}", True)
    elif kind == "twist" or (kind != "cone" and random.random() < 0.5):
        if random.random() < 0.5:
            pose_bone.lock_ik_y = True
        else:
            set_range(pose_bone, "y", -random.uniform(0.0, pi), random.uniform(0.0, pi))


def random_legal(judge: Judge, pose_bone: bpy.types.PoseBone) -> Quaternion:
    """A rotation within a bone's own locks and limits; its cone and its least bend are not looked at."""
    random = judge.rig.random
    ranges = {axis: range_of(pose_bone, axis) for axis in "xyz"}
    twist = judge.kept_twist(pose_bone) if hinge_axis(pose_bone) else random.uniform(*(ranges["y"] or (-pi, pi)))
    while True:
        swing = [sin(random.uniform(*(ranges[axis] or (-pi, pi))) / 2.0) for axis in "xz"]
        if hypot(*swing) < 1.0 and _legal_swing(*swing, ranges["x"], ranges["z"]) == tuple(swing):
            return swung_and_twisted(*swing, twist)


def pose_legally(judge: Judge, also: Callable[[], bool] = lambda: True, tries: int = 60) -> bool:
    """Put a rig that is not live into a random pose within its limits; False: none was found."""
    rig = judge.rig
    for _ in range(tries):
        for name in rig.bones:
            pose_bone = rig.ob.pose.bones[name]
            set_rotation(pose_bone, random_legal(judge, pose_bone))
        update()
        if not judge.broken() and also():
            return True
    return False


def limited_rig(seed: int, count: int, with_pole: bool | None = None) -> Rig:
    """An armature of any kind with limits on some of its chain's bones; the limits leave each something."""
    rig = random_rig(seed, count, with_pole=with_pole)
    for k, name in enumerate(rig.bones):
        pose_bone = rig.ob.pose.bones[name]
        while rig.random.random() < 0.7:
            random_limits(rig.random, pose_bone, rig.random.choice(KINDS))
            if agree(rig, k):
                break
            free(pose_bone)
    update()
    return rig


def agree(rig: Rig, k: int) -> bool:
    """Whether a bone's cone leaves its other limits room, and can be told from where the bone itself points."""
    pose_bone = rig.ob.pose.bones[rig.bones[k]]
    if not pose_bone.analytic_ik_use_cone or all(range_of(pose_bone, axis) is None for axis in "xyz"):
        return True
    update()
    judge, joints = Judge(rig), rig.joints()
    bone, before, link = judge.bones()[k], judge.before(k, joints), joints[k + 1] - joints[k]
    if before is None or angle(link, bone.tail - bone.head) > HELD:
        return before is None
    carrier = carrier_of(bone)
    straight = carrier @ (joint_rotation(bone).inverted() @ (carrier.inverted() @ link))
    return angle(straight, before) < bone.analytic_ik_cone


def free(pose_bone: bpy.types.PoseBone) -> None:
    """Take all limits off a bone."""
    pose_bone.analytic_ik_use_cone = pose_bone.analytic_ik_use_min_bend = False
    for axis in "xyz":
        setattr(pose_bone, f"lock_ik_{axis}", False)
        setattr(pose_bone, f"use_ik_limit_{axis}", False)
