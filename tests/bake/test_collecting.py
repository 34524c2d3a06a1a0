"""Chains are sampled, or seen in a scene of its own, or in the user's: the keys play as live each time."""

import math
from collections.abc import Callable
from contextlib import contextmanager
from itertools import pairwise

import bpy
import pytest
from mathutils import Vector

from ik_addon.bake import bake, baking, chains_of, check, collecting, stepping
from ik_addon.rig.live import state as live_state
from ik_addon.rig.live.scene_plan import ScenePlan
from ik_addon.rig.pose import sources
from ik_addon.rig.pose.track_reading import TrackReader
from ik_addon.solvers import ChainError

from ..helpers.feet import follow, footed_leg
from ..helpers.films import assert_same_but_for_rounding, frames_gone_to
from ..helpers.movers import drive, held_by, mover, turning
from ..rig.keys import fcurves, push_down
from ..rig.rigs import BoneSpec, Control, Rig, editing, leg, new_armature, new_empty, update
from ..scenes import (
    EXACT,
    Poses,
    farthest_apart,
    go_to,
    key_fk,
    missed_world,
    played,
    played_without_the_add_on,
    rotation_curves,
    slide,
    walking_leg,
    whole_state,
)

FRAMES = range(1, 13)
SAMPLED, APART, HERE = "sampled", "in a scene of its own", "in the user's scene"

SCENES: dict[str, tuple[Callable[[], Rig], str]] = {}


def seen(way: str):
    """A scene with one chain, and the way in which it is to be seen."""

    def keep(build):
        SCENES[build.__name__] = build, way
        return build

    return keep


# What moves


def add_bones(ob: bpy.types.Object, *specs: BoneSpec) -> None:
    with editing(ob) as edit_bones:
        for spec in specs:
            bone = edit_bones.new(spec.name)
            bone.head, bone.tail, bone.roll = spec.head, spec.tail, spec.roll
            bone.parent = edit_bones[spec.parent] if spec.parent else None
    update()


def live_leg(**settings: object) -> Rig:
    """A live leg whose target still stands still."""
    rig = leg()
    rig.enable(**settings)
    return rig


def cube(name: str) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)], [], [(0, 1, 3, 2)])
    ob = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(ob)
    return ob


# Scenes that are sampled


@seen(SAMPLED)
def a_keyed_target():
    return walking_leg()


@seen(SAMPLED)
def euler_bones():
    rig = walking_leg()
    rig.ob.pose.bones["thigh"].rotation_mode = "ZXY"
    rig.tip.rotation_mode = "AXIS_ANGLE"
    return rig


@seen(SAMPLED)
def half_influence():
    return walking_leg(influence=0.6)


@seen(SAMPLED)
def softness():
    rig = walking_leg(softness=0.4)
    slide(rig.target.ob, (0.0, -0.6, 0.5), (0.2, 0.5, 0.05))
    return rig


@seen(SAMPLED)
def out_of_reach():
    rig = walking_leg()
    slide(rig.target.ob, (0.0, -0.6, 0.5), (0.2, 0.9, -0.6))
    return rig


@seen(SAMPLED)
def hold_where_out_of_reach():
    rig = walking_leg(reach="HOLD", influence=0.8)
    slide(rig.target.ob, (0.0, -0.6, 0.5), (0.2, 0.9, -0.6))
    return rig


@seen(SAMPLED)
def a_pole_and_a_parented_target():
    rig = leg()
    rig.target.ob.parent = turning()
    rig.pole = Control(mover("pole", (2.0, -1.0, 1.0), (-1.0, -2.0, 1.0)))
    rig.enable()
    return rig


@seen(SAMPLED)
def a_foot_that_follows():
    rig = footed_leg()
    rig.target.ob.parent = turning()
    follow(rig)
    return rig


@seen(SAMPLED)
def a_bone_of_the_armature_as_target():
    rig = leg()
    add_bones(
        rig.ob,
        BoneSpec("root", (0.0, 0.0, 0.0), (0.0, 0.5, 0.0)),
        BoneSpec("goal", (0.0, -0.3, 0.4), (0.0, 0.2, 0.4), "root", roll=0.3),
    )
    rig.target = Control(rig.ob, "goal")
    for frame, place in ((1, (0.0, 0.0, 0.0)), (12, (0.1, 0.6, -0.3))):
        bone = rig.ob.pose.bones["goal"]
        bone.location, rig.ob.pose.bones["root"].location = place, Vector(place) * -0.3
        bone.keyframe_insert("location", frame=frame)
        rig.ob.pose.bones["root"].keyframe_insert("location", frame=frame)
    rig.enable()
    return rig


@seen(SAMPLED)
def hips_and_an_armature_that_move():
    rig = walking_leg()
    rig.ob.parent = turning()
    slide(rig.ob, (0.0, 0.0, 0.0), (0.0, 0.1, 0.1))
    hips = rig.ob.pose.bones["hips"]
    for frame, angle in ((1, 1.0), (12, 0.95)):
        hips.rotation_quaternion = (angle, 0.2, 0.1, 0.0)
        hips.keyframe_insert("rotation_quaternion", frame=frame)
    return rig


@seen(SAMPLED)
def a_mirrored_and_uneven_armature():
    rig = walking_leg()
    rig.ob.scale = (-1.5, 0.7, 1.2)
    return rig


@seen(SAMPLED)
def three_bones():
    rig = leg()
    rig.bones.append("foot")
    slide(rig.target.ob, (0.0, -0.6, 0.5), (0.2, 0.5, 0.3))
    rig.enable()
    return rig


@seen(SAMPLED)
def a_muted_constraint():
    rig = walking_leg()
    held_by(rig.target.ob, new_empty("other")).mute = True
    return rig


# Scenes that only Blender can evaluate, and in any scene


@seen(APART)
def a_constrained_target():
    rig = live_leg()
    held_by(rig.target.ob, mover())
    return rig


@seen(APART)
def a_target_on_a_constrained_parent():
    rig = leg()
    rig.target.ob.parent = new_empty("carrier")
    held_by(rig.target.ob.parent, turning(), "COPY_TRANSFORMS")
    rig.enable()
    return rig


@seen(APART)
def a_driven_target():
    rig = live_leg()
    drive(rig.target.ob, "location", 1, "0.1 * frame - 0.6")
    return rig


@seen(APART)
def a_target_driven_by_another_object():
    rig = live_leg()
    drive(rig.target.ob, "location", 1, "2 * v - 0.6", id=mover(), data_path="location.x")
    return rig


@seen(APART)
def a_target_in_a_strip():
    rig = walking_leg()
    push_down(rig.target.ob, mute=False)
    return rig


@seen(APART)
def a_constrained_control_bone_of_the_armature():
    rig = leg()
    add_bones(rig.ob, BoneSpec("goal", (0.0, -0.3, 0.4), (0.0, 0.2, 0.4)))
    rig.target = Control(rig.ob, "goal")
    held_by(rig.ob.pose.bones["goal"], mover())
    rig.enable()
    return rig


@seen(APART)
def a_constrained_control_bone_of_another_armature():
    rig = leg()
    specs = [BoneSpec(name, (x, 0.0, 0.0), (x, 0.3, 0.0)) for name, x in (("first", 1.0), ("goal", 0.0), ("last", 2.0))]
    rig.target = Control(new_armature("controls", specs), "goal")
    rig.target.ob.location, rig.ob.rotation_euler = (0.5, 0.2, -0.3), (0.1, -0.1, 0.2)
    held_by(rig.target.ob.pose.bones["goal"], mover())
    rig.enable()
    return rig


@seen(APART)
def a_foot_that_follows_a_constrained_target():
    rig = footed_leg()
    held_by(rig.target.ob, turning(), "COPY_ROTATION")
    follow(rig)
    return rig


@seen(APART)
def constrained_hips():
    rig = walking_leg()
    held_by(rig.ob.pose.bones["hips"], turning(), "COPY_ROTATION").influence = 0.2
    return rig


@seen(APART)
def a_constrained_pole():
    rig = leg()
    rig.pole = Control(new_empty("pole"))
    held_by(rig.pole.ob, mover("leader", (2.0, -1.0, 1.0), (-1.0, -2.0, 1.0)))
    slide(rig.target.ob, (0.0, -0.6, 0.5), (0.2, 0.5, 0.3))
    rig.enable()
    return rig


@seen(APART)
def an_armature_on_a_constrained_object():
    rig = walking_leg()
    rig.ob.parent = new_empty("carrier")
    held_by(rig.ob.parent, turning(), "COPY_TRANSFORMS")
    return rig


@seen(APART)
def a_target_on_a_bone_of_another_armature():
    rig, other = leg(), new_armature("other", [BoneSpec("bone", (0.0, 0.0, 0.0), (0.0, 0.3, 0.0))])
    rig.target.ob.parent, rig.target.ob.parent_type, rig.target.ob.parent_bone = other, "BONE", "bone"
    bone = other.pose.bones["bone"]
    for frame, angle in ((1, 0.0), (12, 0.4)):
        bone.rotation_quaternion = (1.0, angle, 0.0, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    rig.enable()
    return rig


@seen(APART)
def remapped_time():
    rig = walking_leg()
    bpy.context.scene.render.frame_map_new = 50
    return rig


@seen(APART)
def a_target_that_follows_a_path():
    rig = live_leg()
    curve = bpy.data.curves.new("path", "CURVE")
    curve.dimensions, curve.use_path, curve.path_duration = "3D", True, 20
    spline = curve.splines.new("POLY")
    spline.points.add(1)
    spline.points[0].co, spline.points[1].co = (0.0, -0.6, 0.5, 1.0), (0.2, 0.9, 0.3, 1.0)
    path = bpy.data.objects.new("path", curve)
    bpy.context.scene.collection.objects.link(path)
    rig.target.ob.location = (0.0, 0.0, 0.0)
    rig.target.ob.constraints.new("FOLLOW_PATH").target = path
    curve.eval_time = 0.0
    curve.keyframe_insert("eval_time", frame=0)
    curve.eval_time = 20.0
    curve.keyframe_insert("eval_time", frame=20)
    return rig


# Scenes that play only where they are


@seen(HERE)
def a_target_driven_by_a_function():
    bpy.app.driver_namespace["height_at"] = lambda frame: 0.2 + 0.05 * frame
    rig = live_leg()
    drive(rig.target.ob, "location", 2, "height_at(frame)")
    return rig


@seen(HERE)
def a_parent_driven_by_the_scenes_frame():
    rig = live_leg()
    rig.target.ob.parent = new_empty("carrier")
    drive(
        rig.target.ob.parent,
        "location",
        1,
        "0.05 * v",
        id_type="SCENE",
        id=bpy.context.scene,
        data_path="frame_current",
    )
    return rig


@seen(HERE)
def a_target_driven_by_a_property_of_the_scene():
    scene, rig = bpy.context.scene, live_leg()
    for frame, height in ((1, 0.2), (12, 0.9)):
        scene["height"] = height
        scene.keyframe_insert('["height"]', frame=frame)
    drive(rig.target.ob, "location", 2, "v", id_type="SCENE", id=scene, data_path='["height"]')
    return rig


@seen(HERE)
def a_target_driven_by_the_context():
    scene, rig = bpy.context.scene, live_leg()
    scene["height"] = 0.7
    # Where the scene has no such property, the driver fails.
    variable = {"type": "CONTEXT_PROP", "context_property": "ACTIVE_SCENE", "data_path": '["height"]'}
    drive(rig.target.ob, "location", 2, "v + 0.01 * frame", **variable)
    return rig


@seen(HERE)
def an_influence_driven_by_a_function():
    bpy.app.driver_namespace["part_at"] = lambda frame: frame / 12.0
    rig = live_leg()
    held_by(rig.target.ob, mover())
    drive(rig.target.ob.constraints[0], "influence", -1, "part_at(frame)")
    return rig


@seen(HERE)
def a_foreign_handler():
    rig = live_leg()
    name = rig.target.ob.name

    def moves_the_target(scene, _):
        bpy.data.objects[name].location.z = 0.2 + 0.05 * scene.frame_current

    bpy.app.handlers.frame_change_pre.append(moves_the_target)
    return rig


@seen(HERE)
def a_falling_body():
    rig = leg()
    rig.target = Control(cube("body"))
    rig.target.ob.location = (0.0, -0.3, 1.2)
    bpy.ops.rigidbody.world_add()
    bpy.context.scene.rigidbody_world.collection = bpy.data.collections.new("bodies")
    bpy.context.scene.rigidbody_world.collection.objects.link(rig.target.ob)
    update()
    assert rig.target.ob.rigid_body is not None
    rig.enable()
    return rig


@seen(HERE)
def a_hidden_target_driven_by_the_scenes_frame():
    rig = live_leg()
    rig.target.ob.hide_viewport = True
    variable = {"id_type": "SCENE", "id": bpy.context.scene, "data_path": "frame_current"}
    drive(rig.target.ob, "location", 1, "0.05 * v", **variable)
    return rig


@seen(HERE)
def a_target_on_a_simulated_mesh():
    rig, mesh = live_leg(), cube("cloth")
    mesh.modifiers.new("Cloth", "CLOTH")
    mesh.vertex_groups.new(name="all").add(range(8), 1.0, "REPLACE")
    mesh.location = (0.0, -0.3, 0.6)
    bpy.context.scene.gravity = (0.0, 0.0, 1.0)
    rig.target.ob.location = (0.0, 0.0, 0.0)
    held_by(rig.target.ob, mesh, bone="all")
    return rig


@seen(HERE)
def a_constrained_target_that_is_itself_simulated():
    rig = leg()
    rig.target = Control(cube("cloth"))
    rig.target.ob.modifiers.new("Cloth", "CLOTH")
    held_by(rig.target.ob, mover())
    rig.enable()
    return rig


@seen(HERE)
def a_target_on_a_mesh_that_the_scene_simplifies():
    rig, mesh, render = live_leg(), cube("rounded"), bpy.context.scene.render
    render.use_simplify, render.simplify_subdivision = True, 0
    mesh.data.clear_geometry()
    corners = [(-0.5, -0.5, 0.5), (0.5, -0.5, 0.5), (0.5, 0.5, 0.2), (-0.5, 0.5, 0.9)]
    mesh.data.from_pydata(corners, [], [(0, 1, 2, 3)])
    mesh.modifiers.new("Subdivision", "SUBSURF").levels = 3
    mesh.vertex_groups.new(name="edge").add([0, 1], 1.0, "REPLACE")
    slide(mesh, (0.0, -0.4, 0.2), (0.1, 0.3, 0.0))
    held_by(rig.target.ob, mesh, bone="edge")
    return rig


@seen(HERE)
def a_constraint_that_looks_at_the_camera():
    rig = walking_leg()
    rig.target.ob.constraints.new("CAMERA_SOLVER")
    return rig


@seen(SAMPLED)
def keyed_fk():
    rig = walking_leg(influence=0.5)
    key_fk(rig)
    return rig


@seen(SAMPLED)
def a_leg_that_stretches():
    rig = walking_leg(reach="STRETCH")
    slide(rig.target.ob, (0.0, -0.6, 0.5), (0.2, 0.9, -0.6))
    return rig


@seen(HERE)
def a_leg_that_inherits_less():
    rig = walking_leg()
    rig.ob.data.bones["shin"].use_local_location = False
    return rig


# How they are looked at


def way_of(frames_seen: list[tuple[str, int]], frames: range = FRAMES) -> str:
    """Which way frames were gone through, judged by the frame changes alone."""
    here = [frame for scene, frame in frames_seen if scene == bpy.context.scene.name]
    apart = [frame for scene, frame in frames_seen if scene != bpy.context.scene.name]
    if here:
        assert [*frames] == [frame for k, frame in enumerate(here) if frame in frames][-len(frames) - 1 :][
            : len(frames)
        ]
        return HERE
    return APART if len(apart) >= len(frames) else SAMPLED


def baked(rig: Rig, frames: range = FRAMES, **options) -> dict:
    return bake(bpy.context, chains_of([rig.ob]), frames, **options)


def only_chain(report: dict) -> dict:
    [file] = report["files"]
    [chain] = file["chains"]
    return chain


def without_time(report: dict) -> dict:
    return {**report, "files": [{**file, "seconds": 0.0} for file in report["files"]]}


def assert_plays_as(rig: Rig, expected: Poses) -> None:
    # Backwards: a pose that leant on the frame before would show.
    assert farthest_apart(played_without_the_add_on(rig.ob, reversed(expected)), expected, 2.0) < EXACT


def fresh() -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


# As live, and the way


@pytest.mark.parametrize("name", list(SCENES))
def test_keys_play_as_live_and_are_seen_in_the_right_way(name):
    build, way = SCENES[name]
    rig = build()
    expected = played(rig.ob, FRAMES)
    with frames_gone_to() as frames_seen:
        report = baked(rig)
    assert way_of(frames_seen) == way
    assert_plays_as(rig, expected)
    assert only_chain(report)["frames"] == len(FRAMES)


@pytest.mark.parametrize("name", list(SCENES))
def test_a_bake_that_is_the_first_to_see_the_frames_finds_the_same(name):
    build, _ = SCENES[name]
    expected = played(build().ob, FRAMES)
    fresh()
    rig = build()
    go_to(1)
    baked(rig)
    assert_plays_as(rig, expected)


@pytest.mark.parametrize(
    "frames", [range(1, 13, 2), range(2, 40, 5), range(-7, 6), range(6, 7), range(-3, 1000)], ids=str
)
@pytest.mark.parametrize("build", [a_keyed_target, a_constrained_target, a_target_driven_by_a_function])
def test_any_range_of_frames(build, frames):
    rig = build()
    expected = played(rig.ob, frames if len(frames) < 100 else frames[::90])
    with frames_gone_to() as frames_seen:
        report = baked(rig, frames)
    if len(frames) > 3:
        assert way_of(frames_seen, frames) == SCENES[build.__name__][1]
    assert_plays_as(rig, expected)
    assert only_chain(report)["frames"] == len(frames)


def test_a_target_that_a_foreign_handler_moves_after_the_frame_is_met():
    rig = live_leg()
    name = rig.target.ob.name

    def moves_the_target(scene, _):
        bpy.data.objects[name].location.z = 0.2 + 0.05 * scene.frame_current

    bpy.app.handlers.frame_change_post.append(moves_the_target)
    with frames_gone_to() as frames_seen:
        baked(rig)
    assert way_of(frames_seen) == HERE
    for frame in FRAMES:
        played_without_the_add_on(rig.ob, [frame])
        update()
        assert rig.target.ob.location.z == pytest.approx(0.2 + 0.05 * frame)
        assert rig.missed() < EXACT


@pytest.mark.parametrize("other", ["constrained", "inheriting less"])
@pytest.mark.parametrize("build", [a_keyed_target, a_constrained_target])
def test_chains_that_are_seen_in_different_ways_are_baked_together(build, other):
    rig = build()
    second = leg("second", 1.0)
    if other == "constrained":
        held_by(second.target.ob, mover("second mover", (1.0, -0.6, 0.5), (1.2, 0.5, 0.3)))
        second.enable()
    else:
        slide(second.target.ob, (1.0, -0.6, 0.5), (1.2, 0.9, -0.3))
        second.ob.data.bones["shin"].use_local_location = False
        second.enable()
    expected = [played(each.ob, FRAMES) for each in (rig, second)]
    with frames_gone_to() as frames_seen:
        bake(bpy.context, chains_of([rig.ob, second.ob]), FRAMES)
    assert way_of(frames_seen) == (APART if other == "constrained" else HERE)
    for each, poses in zip((rig, second), expected, strict=True):
        assert_plays_as(each, poses)


# Hidden


def hide(ob: bpy.types.Object, how: str) -> None:
    """Take an object out of sight."""
    scene, layer = bpy.context.scene, bpy.context.view_layer
    if how == "hide_viewport":
        ob.hide_viewport = True
    elif how == "eye":
        ob.hide_set(True)
    elif how == "in another scene only":
        bpy.data.scenes.new("other").collection.objects.link(ob)
        scene.collection.objects.unlink(ob)
    else:
        collection = bpy.data.collections.new("hidden")
        scene.collection.children.link(collection)
        collection.objects.link(ob)
        scene.collection.objects.unlink(ob)
        shown = layer.layer_collection.children["hidden"]
        if how == "collection hidden":
            collection.hide_viewport = True
        elif how == "collection's eye":
            shown.hide_viewport = True
        else:
            shown.exclude = True
    update()


HIDDEN = (
    "hide_viewport",
    "eye",
    "in another scene only",
    "collection hidden",
    "collection's eye",
    "collection excluded",
)


def where_shown(build: Callable[[], Rig]) -> Poses:
    """What the scene plays where nothing is hidden."""
    expected = played(build().ob, FRAMES)
    fresh()
    return expected


def an_armature_without_bones_as_target():
    rig = leg()
    rig.target = Control(new_armature("boneless", []))
    held_by(rig.target.ob, mover())
    rig.enable()
    return rig


def a_pole_bone_and_a_target_bone():
    """Both are bones of another armature, neither is its first, and only one is constrained."""
    rig = leg()
    specs = [BoneSpec(name, (x, 0.0, 0.0), (x, 0.3, 0.0)) for name, x in (("a", 1.0), ("goal", 0.0), ("pole", 0.0))]
    rig.target = Control(new_armature("controls", specs), "goal")
    rig.pole = Control(rig.target.ob, "pole")
    held_by(rig.target.ob.pose.bones["goal"], mover())
    held_by(rig.target.ob.pose.bones["pole"], mover("leader", (2.0, -1.0, 1.0), (-1.0, -2.0, 1.0)))
    rig.enable()
    return rig


@pytest.mark.parametrize("how", HIDDEN)
@pytest.mark.parametrize(
    "build",
    [
        a_keyed_target,
        a_constrained_target,
        a_target_on_a_constrained_parent,
        a_constrained_control_bone_of_another_armature,
        an_armature_without_bones_as_target,
        a_pole_bone_and_a_target_bone,
        a_driven_target,
        a_target_in_a_strip,
    ],
)
def test_a_hidden_target_is_where_it_would_be_if_it_were_shown(build, how):
    expected = where_shown(build)
    rig = build()
    hide(rig.target.ob, how)
    baked(rig)
    assert_plays_as(rig, expected)


@pytest.mark.parametrize("how", HIDDEN)
@pytest.mark.parametrize("build", [a_target_on_a_constrained_parent, a_pole_and_a_parented_target])
def test_a_hidden_parent_of_a_target_is_where_it_would_be_if_it_were_shown(build, how):
    expected = where_shown(build)
    rig = build()
    hide(rig.target.ob.parent, how)
    baked(rig)
    assert_plays_as(rig, expected)


@pytest.mark.parametrize("how", HIDDEN)
@pytest.mark.parametrize("build", [a_keyed_target, a_constrained_target])
def test_a_hidden_target_beside_a_chain_that_is_seen_in_the_users_scene(build, how):
    expected = where_shown(build)
    rig, second = build(), walking_leg("second", 1.0, reach="STRETCH")
    hide(rig.target.ob, how)
    bake(bpy.context, chains_of([rig.ob, second.ob]), FRAMES)
    assert_plays_as(rig, expected)


def test_a_target_that_is_in_no_scene_is_refused():
    rig = walking_leg()
    bpy.context.scene.collection.objects.unlink(rig.target.ob)
    update()
    with pytest.raises(ChainError):
        baked(rig)


@pytest.mark.parametrize(
    "build", [a_keyed_target, a_constrained_target, a_constrained_control_bone_of_another_armature]
)
def test_a_target_that_is_hidden_at_some_frames(build):
    expected = where_shown(build)
    rig = build()
    for frame, hidden in ((1, False), (4, True), (9, False)):
        rig.target.ob.hide_viewport = hidden
        rig.target.ob.keyframe_insert("hide_viewport", frame=frame)
    go_to(1)
    baked(rig)
    assert_plays_as(rig, expected)


@pytest.mark.parametrize("how", ["hide_viewport", "eye"])
@pytest.mark.parametrize("build", [a_keyed_target, a_constrained_control_bone_of_the_armature, constrained_hips])
def test_a_hidden_armature_is_baked_as_it_plays_when_shown_or_refused(build, how):
    expected = where_shown(build)
    rig = build()
    hide(rig.ob, how)
    try:
        baked(rig)
    except ChainError:
        return
    rig.ob.hide_viewport = False
    rig.ob.hide_set(False)
    assert_plays_as(rig, expected)


# The report


# With its chain off, Blender does not say where a hidden target is.
@pytest.mark.parametrize("name", [name for name in SCENES if name != "a_hidden_target_driven_by_the_scenes_frame"])
def test_bake_and_check_say_the_same_and_errors_are_what_the_keys_play(name):
    rig = SCENES[name][0]()
    go_to(1)
    checking = check(bpy.context, chains_of([rig.ob]), FRAMES)
    go_to(1)
    baking_report = baked(rig)
    assert (only_chain(checking)["keys"] == 0) < only_chain(baking_report).pop("keys")
    del only_chain(checking)["keys"]
    assert_same_but_for_rounding(without_time(checking), without_time(baking_report))
    missed = {}
    for frame in FRAMES:
        played_without_the_add_on(rig.ob, [frame])
        missed[frame] = missed_world(rig)
    chain = only_chain(checking)
    assert chain["max_error"] == pytest.approx(max(missed.values()), abs=4e-6)
    assert chain["mean_error"] == pytest.approx(sum(missed.values()) / len(missed), abs=4e-6)
    assert missed[chain["worst_frame"]] == pytest.approx(max(missed.values()), abs=8e-6)


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (3.0, 3.0, 3.0), (-2.0, 2.0, 2.0), (0.7, -1.3, 2.0)], ids=str)
@pytest.mark.parametrize(
    "build", [softness, out_of_reach, hold_where_out_of_reach, half_influence, a_foot_that_follows]
)
def test_the_report_is_that_of_the_general_way(build, scale):
    chains = []
    for tolerance in (0.0, 1e-9):
        rig = build()
        rig.ob.scale = scale
        update()
        chains.append(only_chain(baked(rig, tolerance=tolerance)))
        fresh()
    ours, general = chains
    for name in ("max_error", "mean_error", "max_lag"):
        assert ours[name] == pytest.approx(general[name], abs=2e-5), name
    assert ours["max_step_degrees"] == pytest.approx(general["max_step_degrees"], abs=0.01)
    for name in ("solver", "chain_count", "frames", "unreached_frames", "limited_frames"):
        assert ours[name] == general[name]


def test_softness_lags_and_what_is_out_of_reach_is_named():
    assert only_chain(baked(softness()))["max_lag"] > 0.01
    fresh()
    [[first, last]] = only_chain(baked(out_of_reach()))["unreached_frames"]
    assert 1 < first < last == 12


# Everything as it was


REPRESENTATIVES = {
    SAMPLED: a_pole_and_a_parented_target,
    APART: a_constrained_control_bone_of_another_armature,
    HERE: a_target_driven_by_a_function,
}


def everything() -> dict:
    """All data-blocks with their users, besides `whole_state`, and where everything is linked."""
    state = whole_state()
    for ob in state["objects"].values():
        del ob["report"]
    kinds = [
        rna.identifier for rna in bpy.data.bl_rna.properties if rna.type == "COLLECTION" and rna.identifier != "all_ids"
    ]
    state["blocks"] = {
        (kind, block.name_full): (block.users, block.use_fake_user, block.tag)
        for kind in kinds
        for block in getattr(bpy.data, kind)
    }
    state["scenes"] = {
        scene.name: (
            [layer.name for layer in scene.view_layers],
            {ob.name for ob in scene.objects},
            (scene.frame_current, scene.frame_subframe, scene.frame_start, scene.frame_end),
        )
        for scene in bpy.data.scenes
    }
    window = bpy.context.window
    state["shown"] = (bpy.context.scene.name, bpy.context.view_layer.name, window and window.scene.name)
    state["paused"] = list(live_state.memory.paused)
    return state


def looked_at(way: str) -> Rig:
    """A scene in Pose Mode between two frames, with a second scene beside it, and hidden controls."""
    rig = REPRESENTATIVES[way]()
    bpy.data.scenes.new("Analytic IK").collection.objects.link(rig.ob)
    rig.target.ob.hide_viewport = way == APART
    update()
    bpy.context.view_layer.objects.active = rig.ob
    rig.ob.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    go_to(5.25)
    return rig


def assert_as_it_was(rig: Rig, before: dict) -> None:
    update()
    after = everything()
    assert {name: after[name] for name in after if after[name] != before[name]} == {}
    rig.target.ob.hide_viewport = False
    update()
    for frame in (3, 8):
        go_to(frame)
        assert rig.missed() < EXACT


@pytest.mark.parametrize("way", REPRESENTATIVES)
def test_a_check_leaves_everything_as_it_was(way):
    rig = looked_at(way)
    before = everything()
    check(bpy.context, chains_of([rig.ob]), FRAMES)
    assert_as_it_was(rig, before)


@pytest.mark.parametrize("way", REPRESENTATIVES)
def test_a_bake_leaves_but_its_keys(way):
    rig = looked_at(way)
    before = everything()
    baked(rig, after="KEEP")
    update()
    after = everything()
    new = {key for key in after["blocks"] if key not in before["blocks"]}
    assert [kind for kind, _ in new] == ["actions"]
    assert before["blocks"].keys() <= after["blocks"].keys()
    assert {key for key, value in before["blocks"].items() if value != after["blocks"][key]} <= set()
    for name in ("stand", "scenes", "shown", "paused"):
        assert after[name] == before[name], name


def fail_at(number: int, real: Callable, error: type[BaseException]) -> Callable:
    """What does as `real` does, until it is called for the so-manieth time."""
    calls = []

    def fails(*arguments, **options):
        calls.append(arguments)
        if len(calls) == number:
            raise error("planned")
        return real(*arguments, **options)

    return fails


def failing_progress(frame: int, error: type[BaseException]) -> Callable:
    def progress(done, total):
        assert 1 <= done <= total == len(FRAMES)
        if done == frame:
            raise error("planned")

    return progress


def failing_steps(real: Callable, number: int, error: type[BaseException]) -> Callable:
    @contextmanager
    def steps(*arguments):
        with real(*arguments) as step:
            yield step and fail_at(number, step, error)

    return steps


@pytest.mark.parametrize("number", [1, 6, 12])
@pytest.mark.parametrize("way", [APART, HERE])
def test_everything_is_as_it_was_where_the_steps_are_closed(way, number):
    rig = looked_at(way)
    before = everything()
    steps = baking.baked(bpy.context, chains_of([rig.ob]), FRAMES)
    assert [next(steps) for _ in range(number)] == [(k, len(FRAMES)) for k in range(1, number + 1)]
    steps.close()
    assert_as_it_was(rig, before)


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt, ChainError])
@pytest.mark.parametrize(
    "stage", ["progress", "first step", "last step", "reading", "sampling", "judging", "solving", "writing"]
)
@pytest.mark.parametrize("way", REPRESENTATIVES)
def test_everything_is_as_it_was_after_an_exception(way, stage, error, monkeypatch):
    rig = looked_at(way)
    before, progress = everything(), None
    with monkeypatch.context() as patch:
        if stage == "progress":
            if way == SAMPLED:
                # It has no steps.
                return
            progress = failing_progress(6, error)
        elif stage.endswith("step"):
            number = 1 if stage == "first step" else (3 if way == SAMPLED else 12)
            for name in ("stepping", "stepping_apart"):
                patch.setattr(collecting, name, failing_steps(getattr(collecting, name), number, error))
        elif stage == "reading":
            if way == SAMPLED:
                place = sources.EvaluatedPlaces.world_and_pose
                patch.setattr(sources.EvaluatedPlaces, "world_and_pose", fail_at(2, place, error))
            else:
                patch.setattr(sources.SeenPlaces, "see", fail_at(5, sources.SeenPlaces.see, error))
        elif stage == "sampling":
            if way != SAMPLED:
                return
            patch.setattr(TrackReader, "_place", fail_at(2, TrackReader._place, error))
        elif stage == "judging":
            patch.setattr(stepping, "_reads_scene", fail_at(1, stepping._reads_scene, error))
        elif stage == "solving":
            patch.setattr(collecting, "solve_tracks", fail_at(1, collecting.solve_tracks, error))
        else:
            patch.setattr(baking, "write_keys", fail_at(1, baking.write_keys, error))
        raised = False
        try:
            bake(bpy.context, chains_of([rig.ob]), FRAMES, progress=progress)
        except error:
            raised = True
        assert raised or (error is ChainError and stage in ("sampling", "reading"))
        if not raised:
            return
    assert_as_it_was(rig, before)


@pytest.mark.parametrize("way", REPRESENTATIVES)
def test_a_target_that_is_nowhere_at_some_frame_is_refused_and_everything_is_as_it_was(way):
    rig = looked_at(way)
    if way == HERE:
        # What a driver says is checked by Blender itself.
        slide(rig.target.ob, (0.0, -0.6, 0.5), (0.2, 0.5, 0.3))
    moved = {SAMPLED: bpy.data.objects.get("turning"), APART: bpy.data.objects.get("mover"), HERE: rig.target.ob}[way]
    curve = next(curve for curve in fcurves(moved) if curve.data_path == "location")
    curve.keyframe_points.insert(9, 0.0)
    for point in curve.keyframe_points:
        point.interpolation = "CONSTANT"
    curve.keyframe_points[1].co.y = math.nan
    update()
    before = everything()
    with pytest.raises(ChainError, match=r"^Frame \d+: .*'shin'"):
        baked(rig)
    update()
    after = everything()
    assert {name: after[name] for name in after if repr(after[name]) != repr(before[name])} == {}


# Keys that run on


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "ZXY", "AXIS_ANGLE"])
@pytest.mark.parametrize("constrained", [False, True])
def test_a_leg_that_turns_twice_has_keys_without_jumps(constrained, mode):
    rig, frames = leg(), range(1, 82)
    for name in rig.bones:
        rig.ob.pose.bones[name].rotation_mode = mode
    moved = new_empty("circling") if constrained else rig.target.ob
    for frame in frames:
        turn = 4.0 * math.pi * (frame - 1) / 80.0
        moved.location = (0.0, math.sin(turn), 2.0 + math.cos(turn))
        moved.keyframe_insert("location", frame=frame)
    if constrained:
        held_by(rig.target.ob, moved)
    rig.enable()
    expected = played(rig.ob, frames)
    baked(rig, frames)
    assert_plays_as(rig, expected)
    for name in rig.bones:
        rows = zip(
            *([key.co.y for key in curve.keyframe_points] for curve in rotation_curves(rig.ob, name)), strict=True
        )
        for before, after in pairwise(rows):
            # The axis of a turn by nothing is any.
            numbers = list(zip(before, after, strict=True))[: 1 if mode == "AXIS_ANGLE" else 4]
            assert max(abs(a - b) for a, b in numbers) < (1.0 if mode != "QUATERNION" else 0.3)


# Where sampling is wrong


@pytest.mark.parametrize("wrong_at", [(1,), (7,), (12,), (1, 7, 12)], ids=str)
def test_sampling_that_blender_contradicts_is_found_by_three_frames(wrong_at, monkeypatch):
    rig = walking_leg()
    constraint = held_by(rig.target.ob, new_empty("elsewhere", (0.3, -0.2, 0.8)))
    for frame in FRAMES:
        constraint.influence = float(frame in wrong_at)
        constraint.keyframe_insert("influence", frame=frame)
    expected = played(rig.ob, FRAMES)
    with monkeypatch.context() as patch:
        patch.setattr(ScenePlan, "reasons", lambda self, scene: dict.fromkeys(self.planned(), ""))
        with frames_gone_to() as frames_seen:
            baked(rig)
    assert way_of(frames_seen) == APART
    assert_plays_as(rig, expected)


@pytest.mark.parametrize("moved", ["pole", "orientation"])
def test_that_is_so_for_a_pole_and_an_orientation_too(moved, monkeypatch):
    rig = footed_leg()
    rig.pole = Control(new_empty("pole", (0.0, -3.0, 1.0)))
    follow(rig)
    if moved == "pole":
        held_by(rig.pole.ob, mover("leader", (2.0, -1.0, 1.0), (-1.0, -2.0, 1.0)))
    else:
        held_by(rig.target.ob, turning(), "COPY_ROTATION")
    expected = played(rig.ob, FRAMES)
    with monkeypatch.context() as patch:
        patch.setattr(ScenePlan, "reasons", lambda self, scene: dict.fromkeys(self.planned(), ""))
        baked(rig)
    assert_plays_as(rig, expected)


# What it costs


@pytest.mark.parametrize("build", [a_keyed_target, a_constrained_target, a_target_driven_by_a_function])
def test_how_often_frames_are_changed(build):
    """And how often the user's scene is evaluated: something in it counts that no chain depends on."""
    counted = []
    bpy.app.driver_namespace["count"] = lambda frame: counted.append(frame) or frame
    rig, frames = build(), range(1, 61)
    drive(new_empty("meter"), "location", 0, "count(frame)")
    go_to(1)
    counted.clear()
    with frames_gone_to() as frames_seen:
        baked(rig, frames)
        update()
    way = SCENES[build.__name__][1]
    most = {SAMPLED: 4, APART: len(frames) + 4, HERE: len(frames) + 2}[way]
    assert len(frames_seen) <= most
    assert len(counted) <= (len(frames) + 4 if way == HERE else 4)
    assert set(counted) <= ({*frames} if way == HERE else {1})


def test_many_chains_share_the_frames():
    rigs = []
    for k in range(6):
        rig = leg(f"leg {k}", float(k))
        held_by(rig.target.ob, mover(f"mover {k}", (k, -0.6, 0.5), (k + 0.2, 0.5, 0.3)))
        rig.enable()
        rigs.append(rig)
    expected = [played(rig.ob, FRAMES) for rig in rigs]
    with frames_gone_to() as frames_seen:
        bake(bpy.context, chains_of([rig.ob for rig in rigs]), FRAMES)
    assert len(frames_seen) <= len(FRAMES) + 4
    for rig, poses in zip(rigs, expected, strict=True):
        assert_plays_as(rig, poses)
