"""Where Blender's own IK is off: `blender -b --factory-startup --python blenders_ik.py -- [OUT.blend]`.

Needs nothing but Blender, so that it can be sent as it is, or as the .blend file that it saves. There each case is an
armature with an IK constraint and a target, side by side, as measured; this script and its table are texts in it.
`python benchmarks/blenders_ik.py` does the same with Blender as a module. Lengths are parts of the chain's length.
"""

import sys
from collections.abc import Callable
from itertools import pairwise
from math import atan2, cos, degrees, radians, sin

import bpy
from mathutils import Vector

Points = list[tuple[float, float, float]]
_APART = 3.0
"""How far cases stand from each other."""


class Case:
    """A chain of bones through points, with an IK constraint of default settings, and what is measured of it."""

    count = 0

    def __init__(self, name: str, points: Points, pole: Vector | None = None) -> None:
        self.place, self.size = Vector((_APART * Case.count, 0.0, 0.0)), 0.0
        Case.count += 1
        data = bpy.data.armatures.new(name)
        self.ob = bpy.data.objects.new(name, data)
        self.ob.location = self.place
        bpy.context.scene.collection.objects.link(self.ob)
        bpy.context.view_layer.objects.active = self.ob
        bpy.ops.object.mode_set(mode="EDIT")
        above = None
        for k, (head, tail) in enumerate(pairwise(map(Vector, points))):
            bone = data.edit_bones.new(f"{k}")
            bone.head, bone.tail, bone.parent, bone.use_connect = head, tail, above, above is not None
            above = bone
            self.size += (tail - head).length
        bpy.ops.object.mode_set(mode="OBJECT")
        self.bones = [self.ob.pose.bones[f"{k}"] for k in range(len(points) - 1)]
        self.target = self._empty(f"{name} target", Vector(points[-1]))
        self.ik = self.bones[-1].constraints.new("IK")
        self.ik.target, self.ik.chain_count = self.target, len(self.bones)
        if pole is not None:
            self.ik.pole_target = self._empty(f"{name} pole", pole)

    def _empty(self, name: str, place: Vector) -> bpy.types.Object:
        empty = bpy.data.objects.new(name, None)
        empty.empty_display_size, empty.location = 0.1, self.place + place
        bpy.context.scene.collection.objects.link(empty)
        return empty

    def go(self, place: Vector) -> None:
        """Move the target, in the armature's space."""
        self.target.location = self.place + place
        bpy.context.view_layer.update()

    @property
    def shown(self) -> list[bpy.types.PoseBone]:
        """Its bones as they are evaluated."""
        return list(self.ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones)

    def missed(self) -> float:
        """How far the end is from the target."""
        place = self.target.location - self.place
        return (self.shown[-1].tail - place).length / self.size

    def turned(self, bone: int) -> float:
        """How far a bone is turned from its rest pose, degrees."""
        own = self.shown[bone]
        above = own.parent.matrix @ own.parent.bone.matrix_local.inverted() if own.parent else None
        rest = above @ own.bone.matrix_local if above else own.bone.matrix_local
        return degrees(rest.to_quaternion().rotation_difference(own.matrix.to_quaternion()).angle)


_LEG = [(0.0, 0.0, 1.0), (0.0, -0.02, 0.5), (0.0, 0.0, 0.0)]
_POLE = Vector((0.0, -2.0, 0.5))
_STRAIGHT = [(0.0, 0.0, 1.0), (0.0, 0.0, 0.5), (0.0, 0.0, 0.0)]


def straight_leg(pole: Vector | None = None) -> float:
    """A leg that is straight at rest, whose foot is lifted to 0.4 below the hip: how far it misses."""
    case = Case("straight leg", _STRAIGHT, pole)
    case.go(Vector((0.0, 0.0, 0.6)))
    return case.missed()


def straight_leg_with_pole() -> float:
    """The same with a pole target."""
    return straight_leg(_POLE)


def bent_leg() -> float:
    """A bent leg with a pole target, at 200 places in reach: how far it misses at most."""
    case, worst = Case("bent leg", _LEG, _POLE), 0.0
    for k in range(200):
        angle = 0.5 * sin(0.37 * k)
        reach = 0.3 + 0.65 * (k % 20) / 20.0
        case.go(Vector((0.3 * sin(0.11 * k), -reach * sin(angle), 1.0 - reach * cos(angle))))
        worst = max(worst, case.missed())
    return worst


def side_of_pole() -> float:
    """A bent leg with a pole target, at 200 places: how far its knee leaves the side that the pole target gave it at
    the first of them."""
    case, pole, sides = Case("side of the pole", _LEG, _POLE), Vector(_POLE), []
    for k in range(200):
        case.go(Vector((0.3 * sin(0.02 * k), 0.4 * sin(0.03 * k), 1.0 - (0.9 - 0.6 * k / 200.0) * case.size)))
        hip, knee, foot = case.shown[0].head, case.shown[0].tail, case.shown[-1].tail
        along = (foot - hip).normalized()
        side, wanted = (point - hip - (point - hip).dot(along) * along for point in (knee, pole))
        sides.append(degrees(atan2(wanted.cross(side).dot(along), wanted.dot(side))))
    return max(abs((each - sides[0] + 180.0) % 360.0 - 180.0) for each in sides)


def limited_root(pole: Vector | None = None) -> float:
    """A leg whose thigh may turn by 10 degrees about each axis, and whose foot is wanted 45 degrees aside: by how much
    the thigh turns beyond its limits."""
    case = Case("limited root", _LEG, pole)
    for axis in "xyz":
        setattr(case.bones[0], f"use_ik_limit_{axis}", True)
        setattr(case.bones[0], f"ik_min_{axis}", radians(-10.0))
        setattr(case.bones[0], f"ik_max_{axis}", radians(10.0))
    case.go(Vector((0.6, 0.0, 0.3)))
    # Three turns of 10 degrees at most are one of less than 18.
    return max(0.0, case.turned(0) - 10.0 * 3.0**0.5)


def limited_root_with_pole() -> float:
    """The same with a pole target."""
    return limited_root(_POLE)


def hundred_bones() -> float:
    """A chain of 100 bones in an arc of a radian, whose end is wanted at half of its length: how far it misses."""
    points = [(sin(k / 100.0), 0.0, cos(k / 100.0) - 1.0) for k in range(101)]
    case = Case("100 bones", points)
    case.go(Vector((0.3, 0.2, -0.35)))
    return case.missed()


CASES: list[tuple[Callable[[], float], str]] = [
    (straight_leg, "of its length"),
    (straight_leg_with_pole, "of its length"),
    (bent_leg, "of its length"),
    (side_of_pole, "degrees"),
    (limited_root, "degrees"),
    (limited_root_with_pole, "degrees"),
    (hundred_bones, "of its length"),
]


def main(arguments: list[str]) -> None:
    """Print a table; save the file."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    lines = [f"Blender {bpy.app.version_string}", "", "| case | off by | |", "| --- | --- | --- |"]
    for measure, unit in CASES:
        words = " ".join((measure.__doc__ or "").split())
        lines.append(f"| {words} | {measure():.3g} | {unit} |")
    print(*lines, sep="\n")
    if arguments:
        with open(__file__, encoding="utf-8") as source:
            bpy.data.texts.new("blenders_ik.py").write(source.read())
        bpy.data.texts.new("measured").write("\n".join(lines))
        bpy.ops.wm.save_as_mainfile(filepath=arguments[0])


if __name__ == "__main__":
    main(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:])
