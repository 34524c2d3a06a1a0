"""The skin of feet is where Blender's Armature modifier puts it, and sinking and floating are measured with it."""

from random import Random

import bmesh
import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector

from ik_addon.planting import Ground, check_feet
from ik_addon.planting.scene.reading import leg_tips
from ik_addon.planting.scene.skin import skin_of_foot
from ik_addon.rig.blender.rotations import array_of

from ..rig.rigs import set_rotation, update
from ..scenes import go_to, sliding_walk

pytestmark = pytest.mark.versions

FRAMES = range(1, 31)


def bare_walk() -> bpy.types.Object:
    """The walk without its skin."""
    ob = sliding_walk()
    for other in [other for other in bpy.data.objects if other.type == "MESH"]:
        bpy.data.objects.remove(other)
    return ob


def shoe(ob: bpy.types.Object, side: str, thick: float = 0.0) -> bpy.types.Object:
    """A ball around foot and toe of a side, as their skin, whose points both move; it ends in the ground, or below."""
    bones = ob.data.bones
    foot, toe = bones[f"foot.{side}"], bones[f"toe.{side}"]
    mesh = bpy.data.meshes.new("shoe")
    ball = bmesh.new()
    bmesh.ops.create_uvsphere(ball, u_segments=24, v_segments=16, radius=1.0)
    ball.to_mesh(mesh)
    ball.free()
    low, high = -thick, max(foot.head_local.z, toe.head_local.z)
    along = toe.tail_local - foot.head_local
    middle = foot.head_local + 0.5 * along
    middle.z = 0.5 * (low + high)
    for vertex in mesh.vertices:
        x, y, z = vertex.co
        vertex.co = middle + Vector((0.05 * x, 0.6 * abs(along.y) * y, 0.5 * (high - low) * z))
    other = bpy.data.objects.new("shoe", mesh)
    bpy.context.scene.collection.objects.link(other)
    groups = {bone.name: other.vertex_groups.new(name=bone.name) for bone in (foot, toe)}
    other.vertex_groups.new(name="no bone").add(range(len(mesh.vertices)), 1.0, "REPLACE")
    for vertex in mesh.vertices:
        part = min(max((vertex.co.y - foot.head_local.y) / along.y, 0.0), 1.0)
        groups[foot.name].add([vertex.index], 1.0 - part, "REPLACE")
        groups[toe.name].add([vertex.index], part, "REPLACE")
    other.parent = ob
    modifier = other.modifiers.new("skin", "ARMATURE")
    modifier.object = ob
    update()
    return other


def evaluated_points(other: bpy.types.Object) -> np.ndarray:
    """(n, 3), in the world."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    evaluated = other.evaluated_get(depsgraph)
    points = np.array([evaluated.matrix_world @ vertex.co for vertex in evaluated.to_mesh().vertices])
    evaluated.to_mesh_clear()
    return points


def leg_length(ob: bpy.types.Object) -> float:
    bones = ob.data.bones
    return (bones["foot.L"].head_local - bones["thigh.L"].head_local).length


@pytest.mark.parametrize("seed", range(4))
def test_it_is_as_low_as_the_evaluated_mesh_however_the_foot_turns(seed):
    ob, random = bare_walk(), Random(seed)
    for tip in leg_tips(ob):
        tip.analytic_ik_enabled = False
    other = shoe(ob, "L")
    ob.animation_data_clear()
    ob.matrix_world = Matrix.LocRotScale((1.0, 2.0, 3.0), Euler((0.3, 0.2, 1.0)), None)
    update()
    skin = skin_of_foot(ob, "foot.L", leg_length(ob))
    assert skin is not None and set(skin.bones) == {"foot.L", "toe.L"}
    for _ in range(20):
        for name in ("foot.L", "toe.L"):
            set_rotation(ob.pose.bones[name], Euler([random.uniform(-1.0, 1.0) for _ in range(3)]).to_quaternion())
        update()
        evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        poses = [array_of(evaluated.pose.bones[name].matrix)[None] for name in skin.bones]
        lowest = skin.over(array_of(evaluated.matrix_world)[None], poses)[..., 2].min()
        expected = evaluated_points(other)[:, 2].min()
        assert -1e-5 <= lowest - expected < 2e-3 * leg_length(ob)


def test_a_foot_without_skin_has_none():
    ob = bare_walk()
    assert skin_of_foot(ob, "foot.L", leg_length(ob)) is None
    shoe(ob, "R")
    assert skin_of_foot(ob, "foot.L", leg_length(ob)) is None
    assert skin_of_foot(ob, "foot.R", leg_length(ob)) is not None


def test_sinking_is_as_deep_as_the_skin_is_in_the_ground_and_floating_as_high():
    ob = bare_walk()
    others = {side: shoe(ob, side, thick=0.02) for side in "LR"}
    lowest = {side: np.inf for side in "LR"}
    for frame in FRAMES:
        go_to(frame)
        lowest = {side: min(low, evaluated_points(others[side])[:, 2].min()) for side, low in lowest.items()}
    for height in (0.5, 0.0, -0.5):
        for foot in check_feet(bpy.context, ob, FRAMES, Ground("LEVEL", height)):
            sunken = max(height - lowest[foot["bone"][-1]], 0.0)
            assert foot["after"]["sunken"] * foot["length"] == pytest.approx(sunken, abs=2e-3 * foot["length"])
            if height:
                assert (foot["after"]["floating"] > 0.0) == (height < 0.0)
