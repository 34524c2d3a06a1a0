"""A leg solved by geometry nodes, beside ours and Blender's IK: `python -m benchmarks.geometry_nodes`, Blender 5.1 on.

The two-bone solution by the law of cosines as a node group: it stores the rotations of both bones as attributes of a
point, and a Geometry Attribute constraint on each bone takes them. Where target and pole target are, as the leg sees
them, comes in by drivers from two helper bones at the hip: a Bone Info node of the same armature would make a
dependency cycle with the constraint, for nodes depend on the whole armature. docs/performance.md has the figures.
"""

import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

import bpy
from mathutils import Matrix, Quaternion, Vector

import ik_addon
from ik_addon.native.making import make_native

from .rounds import turns

LEGS = 4
FRAMES = range(1, 51)
POSES = 300
INPUTS = ("target x", "target y", "target z", "pole x", "pole y", "pole z")


@dataclass(frozen=True)
class Leg:
    """An armature object with bones hips, thigh and shin, and its controls."""

    ob: bpy.types.Object
    target: bpy.types.Object
    pole: bpy.types.Object


def new_leg(seed: int) -> Leg:
    """A leg with random rolls, bent forward."""
    own, y = random.Random(seed), 2.0 * seed
    ob = bpy.data.objects.new("leg", bpy.data.armatures.new("leg"))
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    places = {"hips": ((0, y, 1), (0, y, 1.3)), "thigh": ((0.1, y, 1), (0.1, y - 0.1, 0.55))}
    places["shin"] = (places["thigh"][1], (0.1, y, 0.1))
    bones = {}
    for name, (head, tail) in places.items():
        bones[name] = ob.data.edit_bones.new(name)
        bones[name].head, bones[name].tail, bones[name].roll = head, tail, own.uniform(-3.0, 3.0)
    bones["thigh"].parent, bones["shin"].parent = bones["hips"], bones["thigh"]
    bpy.ops.object.mode_set(mode="OBJECT")
    controls = []
    for name, place in (("target", (0.1, y, 0.3)), ("pole", (0.1, y - 1.0, 0.6))):
        control = bpy.data.objects.new(name, None)
        control.location = place
        bpy.context.scene.collection.objects.link(control)
        controls.append(control)
    bpy.context.view_layer.update()
    return Leg(ob, *controls)


class Nodes:
    """A node group while it is built."""

    def __init__(self) -> None:
        self.group = bpy.data.node_groups.new("Two bones", "GeometryNodeTree")
        interface = self.group.interface
        interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
        made = [interface.new_socket(name, in_out="INPUT", socket_type="NodeSocketFloat") for name in INPUTS]
        interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
        self.inputs = [socket.identifier for socket in made]
        self.begin = self.group.nodes.new("NodeGroupInput")

    def node(self, kind: str, *inputs: object, **settings: object) -> bpy.types.NodeSocket:
        """A node and its first output that is not hidden. inputs: sockets or values, in the order of its own."""
        made = self.group.nodes.new(kind)
        for name, value in settings.items():
            setattr(made, name, value)
        for socket, given in zip([each for each in made.inputs if each.enabled], inputs, strict=False):
            if isinstance(given, bpy.types.NodeSocket):
                self.group.links.new(given, socket)
            else:
                socket.default_value = given
        return next(each for each in made.outputs if each.enabled)

    def math(self, operation: str, *inputs: object) -> bpy.types.NodeSocket:
        """A number from numbers."""
        return self.node("ShaderNodeMath", *inputs, operation=operation)

    def about_x(self, angle: object) -> bpy.types.NodeSocket:
        """A turn about X."""
        return self.node("FunctionNodeAxisAngleToRotation", (1.0, 0.0, 0.0), angle)

    def constant(self, rotation: Matrix) -> bpy.types.NodeSocket:
        """A rotation that stays."""
        return self.node("FunctionNodeQuaternionToRotation", *rotation.to_quaternion())

    def turned(self, first: bpy.types.NodeSocket, *others: bpy.types.NodeSocket) -> bpy.types.NodeSocket:
        """Turns one after the other, each in the axes that the one before left."""
        for other in others:
            first = self.node("FunctionNodeRotateRotation", first, other, rotation_space="LOCAL")
        return first

    def angle(self, cosine: bpy.types.NodeSocket) -> bpy.types.NodeSocket:
        """The angle of a cosine, which may be out of its range."""
        return self.math("ARCCOSINE", self.math("MAXIMUM", self.math("MINIMUM", cosine, 1.0), -1.0))


def make_nodes(leg: Leg) -> None:
    """Let geometry nodes solve a leg, from the pose in which it is."""
    ob = leg.ob
    thigh, shin, hips = (ob.pose.bones[name] for name in ("thigh", "shin", "hips"))
    hip, knee, ankle = thigh.head.copy(), shin.head.copy(), shin.tail.copy()
    upper, lower = (knee - hip).length, (ankle - knee).length
    along = (ankle - hip).normalized()
    side = ((knee - hip) - along * (knee - hip).dot(along)).normalized()
    frame = Matrix((along.cross(side), along, side)).transposed()
    above = (knee - hip).angle(along)
    bend = (knee - hip).angle(ankle - knee)
    rest = {bone: bone.bone.matrix_local.to_3x3() for bone in (thigh, shin)}
    thigh_after = (frame @ Matrix.Rotation(above, 3, "X")).inverted() @ thigh.matrix.to_3x3()
    shin_after = (frame @ Matrix.Rotation(above - bend, 3, "X")).inverted() @ shin.matrix.to_3x3()
    shin_before = (thigh_after @ rest[thigh].inverted() @ rest[shin]).inverted()

    nodes = Nodes()
    sockets = nodes.begin.outputs
    target = nodes.node("ShaderNodeCombineXYZ", *sockets[1:4])
    pole = nodes.node("ShaderNodeCombineXYZ", *sockets[4:7])
    distance = nodes.node("ShaderNodeVectorMath", target, operation="LENGTH")
    squared = nodes.math("MULTIPLY", distance, distance)
    rise = nodes.math("ADD", squared, upper**2 - lower**2)
    rise = nodes.math("DIVIDE", rise, nodes.math("MAXIMUM", nodes.math("MULTIPLY", distance, 2.0 * upper), 1e-9))
    fold = nodes.math("DIVIDE", nodes.math("SUBTRACT", squared, upper**2 + lower**2), 2.0 * upper * lower)
    aim = nodes.node("FunctionNodeAxesToRotation", target, pole, primary_axis="Y", secondary_axis="Z")
    turns_of = {
        "thigh": nodes.turned(
            nodes.constant(rest[thigh].inverted()), aim, nodes.about_x(nodes.angle(rise)), nodes.constant(thigh_after)
        ),
        "shin": nodes.turned(
            nodes.constant(shin_before),
            nodes.about_x(nodes.math("MULTIPLY", nodes.angle(fold), -1.0)),
            nodes.constant(shin_after),
        ),
    }
    geometry = sockets[0]
    for name, turn in turns_of.items():
        geometry = nodes.node(
            "GeometryNodeStoreNamedAttribute", geometry, True, name, turn, data_type="QUATERNION", domain="POINT"
        )
    nodes.group.links.new(geometry, nodes.group.nodes.new("NodeGroupOutput").inputs[0])

    point = bpy.data.meshes.new("solver")
    point.from_pydata([(0.0, 0.0, 0.0)], [], [])
    solver = bpy.data.objects.new("solver", point)
    bpy.context.scene.collection.objects.link(solver)
    solver.modifiers.new("solve", "NODES").node_group = nodes.group
    _driven_by_helpers(leg, solver, nodes.inputs, hip, hips.name)
    for bone in (thigh, shin):
        constraint = bone.constraints.new("GEOMETRY_ATTRIBUTE")
        constraint.target, constraint.attribute_name, constraint.data_type = solver, bone.name, "QUATERNION"
        constraint.owner_space, constraint.mix_mode = "LOCAL", "REPLACE"
        constraint.mix_loc = constraint.mix_scl = constraint.apply_target_transform = False


def _driven_by_helpers(leg: Leg, solver: bpy.types.Object, inputs: list[str], hip: Vector, parent: str) -> None:
    ob = leg.ob
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for name in ("target seen", "pole seen"):
        bone = ob.data.edit_bones.new(name)
        # Axes as the armature's: the drivers then give what the nodes want.
        bone.head, bone.tail, bone.use_deform = hip, hip + Vector((0.0, 0.1, 0.0)), False
        bone.parent = ob.data.edit_bones[parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    for k, (name, control) in enumerate((("target seen", leg.target), ("pole seen", leg.pole))):
        ob.pose.bones[name].constraints.new("COPY_LOCATION").target = control
        for axis in range(3):
            driver = solver.driver_add(f'modifiers["solve"].properties.inputs.{inputs[3 * k + axis]}.value').driver
            driver.expression = "seen"
            variable = driver.variables.new()
            variable.name, variable.type = "seen", "TRANSFORMS"
            place = variable.targets[0]
            place.id, place.bone_target = ob, name
            place.transform_type, place.transform_space = f"LOC_{'XYZ'[axis]}", "LOCAL_SPACE"


def make_live(leg: Leg) -> None:
    """Our live chain on a leg."""
    tip = leg.ob.pose.bones["shin"]
    tip.analytic_ik_target, tip.analytic_ik_pole_target = leg.target, leg.pole
    tip.analytic_ik_chain_count, tip.analytic_ik_enabled = 2, True
    bpy.context.view_layer.update()


def make_constraints(leg: Leg) -> None:
    """The same, made native."""
    make_live(leg)
    bpy.context.view_layer.objects.active = leg.ob
    make_native(bpy.context, [leg.ob.pose.bones["shin"]], switch=False)


def make_blenders(leg: Leg) -> None:
    """Blender's own IK on a leg."""
    constraint = leg.ob.pose.bones["shin"].constraints.new("IK")
    constraint.target, constraint.pole_target, constraint.chain_count = leg.target, leg.pole, 2


KINDS: dict[str, Callable[[Leg], None] | None] = {
    "nothing": None,
    "Blender's IK": make_blenders,
    "live": make_live,
    "constraints": make_constraints,
    "geometry nodes": make_nodes,
}


def scene(kind: str) -> None:
    """Four legs with keys."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    for seed in range(LEGS):
        leg = new_leg(seed)
        if KINDS[kind] is not None:
            KINDS[kind](leg)
        hips = leg.ob.pose.bones["hips"]
        hips.rotation_mode = "XYZ"
        for frame, part in ((FRAMES.start, 0.0), (FRAMES[-1], 1.0)):
            hips.rotation_euler = (0.3 * part, 0.1, 0.2 * part)
            hips.keyframe_insert("rotation_euler", frame=frame)
            leg.target.location.z = 0.2 + 0.4 * part
            leg.target.keyframe_insert("location", frame=frame)
    bpy.context.view_layer.update()


def cost(kind: str) -> float:
    """Seconds of a frame, the best of three plays."""
    scene(kind)
    played = []
    for _ in range(4):
        begin = perf_counter()
        for frame in FRAMES:
            bpy.context.scene.frame_set(frame)
        played.append(perf_counter() - begin)
    return min(played[1:]) / len(FRAMES)


def accuracy(kind: str) -> list[float]:
    """Largest difference of the bones' matrices from the live chain in random poses, sorted."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    first, second = new_leg(0), new_leg(0)
    make_live(first)
    KINDS[kind](Leg(second.ob, first.target, first.pole))
    own, found = random.Random(3), []
    for _ in range(POSES):
        first.target.location = [0.1 + own.uniform(-0.5, 0.5), own.uniform(-0.5, 0.5), own.uniform(0.2, 0.7)]
        first.pole.location = (own.uniform(-1.0, 1.0), -1.0, own.uniform(0.0, 1.2))
        turn = Quaternion([own.gauss(2.0, 0.5), *(own.gauss(0.0, 0.5) for _ in range(3))]).normalized()
        for leg in (first, second):
            leg.ob.pose.bones["hips"].rotation_quaternion = turn
        bpy.context.view_layer.update()
        graph = bpy.context.evaluated_depsgraph_get()
        seen = [
            [leg.ob.evaluated_get(graph).pose.bones[name].matrix for name in ("thigh", "shin")]
            for leg in (first, second)
        ]
        found.append(max(abs(x) for a, b in zip(*seen, strict=True) for row in a - b for x in row))
    return sorted(found)


def cycles(kind: str) -> int:
    """How often Blender reports a dependency cycle, in a process of its own."""
    code = f"from benchmarks.geometry_nodes import *; ik_addon.register(); scene({kind!r}); import os; os._exit(0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[1])
    return (done.stdout + done.stderr).count("Dependency cycle")


def main() -> None:
    """Measure, and print the table."""
    ik_addon.register()
    seconds = turns({kind: lambda kind=kind: cost(kind) for kind in KINDS}, 5)
    own = {kind: median(seconds[kind]) - median(seconds["nothing"]) for kind in KINDS}
    print(f"| {LEGS} legs | microseconds a leg | / Blender's IK | off the live chain: median, max | cycles |")
    print("| --- | --- | --- | --- | --- |")
    for kind in list(KINDS)[1:]:
        off = accuracy(kind) if kind in ("constraints", "geometry nodes") else None
        said = f"{off[len(off) // 2]:.1e}, {off[-1]:.1e}" if off else ""
        each, part = 1e6 * own[kind] / LEGS, own[kind] / own["Blender's IK"]
        print(f"| {kind} | {each:.0f} | {part:.2f} | {said} | {cycles(kind)} |")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
