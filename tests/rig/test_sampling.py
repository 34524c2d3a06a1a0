"""Sampling F-Curves: where nothing speaks against it, it gives what Blender evaluates; else something is said."""

from collections.abc import Callable
from itertools import product
from random import Random

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_addon.rig.blender.sampling import Sampler, not_simple, time_is_plain
from tests.changes import CHANGES, walking
from tests.rig.keys import fcurves, key, push_down
from tests.rig.rigs import (
    INHERIT_SCALE,
    ROTATION_MODES,
    BoneSpec,
    editing,
    evaluated_copy,
    new_armature,
    new_empty,
    rotation_channel,
    update,
)
from tests.scenes import go_to, group_by_bone, link_from_library, whole_state

AT = (1, 4, 6.5, 9, 13, 12.25, 30, -8)
"""Frames: at keys, between them, in parts, in any order, and outside all keys."""
EXACT = 1e-5
LAYERED = hasattr(bpy.types, "ActionSlot")

Thing = tuple[bpy.types.Object, str]
"""An object, and a bone of it or ""."""

SIMPLE: dict[str, Callable[[], list[Thing]]] = {}
NOT_SIMPLE: dict[str, tuple[Callable[[], Thing], str, bool]] = {}


def simple(build):
    """A scene all of whose things are to be sampled."""
    SIMPLE[build.__name__] = build
    return build


def refused(words: str, needlessly: bool = False):
    """A scene whose thing must not be sampled. needlessly: the sampled values may be right all the same."""

    def keep(build):
        NOT_SIMPLE[build.__name__] = (build, words, needlessly)
        return build

    return keep


# What Blender says


def blenders(ob: bpy.types.Object, bone: str = "") -> np.ndarray:
    evaluated = evaluated_copy(ob)
    return np.array(evaluated.pose.bones[bone].matrix if bone else evaluated.matrix_world)


def played(things: list[Thing], frames=AT) -> list[np.ndarray]:
    matrices = []
    for frame in frames:
        go_to(frame)
        matrices.append([blenders(*thing) for thing in things])
    return list(np.moveaxis(np.array(matrices), 0, 1))


def sampled(thing: Thing, sampler: Sampler) -> np.ndarray:
    ob, bone = thing
    return sampler.poses(ob, bone) if bone else sampler.worlds(ob)


def difference(matrices: np.ndarray, expected: np.ndarray) -> float:
    """The largest one between elements, as a part of the largest element of either matrix."""
    size = np.abs(expected).max(axis=(1, 2), keepdims=True).clip(1.0)
    return float((np.abs(matrices - expected) / size).max())


# Things that move


def moving(name: str = "moving", seed: int = 1, mode: str = "XYZ", *channels: str) -> bpy.types.Object:
    """An empty all of whose channels are keyed, or only these."""
    ob = new_empty(name)
    ob.rotation_mode = mode
    random_keys(ob, seed, *channels)
    return ob


def random_keys(owner, seed: int, *channels: str) -> None:
    random = Random(seed)
    for channel in channels or ("location", rotation_channel(owner), "scale"):
        width = len(getattr(owner, channel))
        key(owner, channel, [[random.uniform(-1.5, 1.5) for _ in range(width)] for _ in range(4)])


def rope(name: str = "Rig", count: int = 3, connect: bool = False, keyed: bool = True) -> bpy.types.Object:
    """An armature object of keyed bones "0", "1", ... in a row, rolled and at angles."""
    points = [Vector((0.3 * k, 0.7 * k, 0.4 * (k % 2))) for k in range(count + 1)]
    gap = Vector() if connect else Vector((0.1, 0.2, -0.1))
    specs = [
        BoneSpec(str(k), points[k] + gap, points[k + 1], str(k - 1) if k else "", connect, 0.4 * k)
        for k in range(count)
    ]
    ob = new_armature(name, specs)
    for k, bone in enumerate(ob.pose.bones if keyed else ()):
        random_keys(bone, k)
    return ob


def tip_of(ob: bpy.types.Object) -> Thing:
    return ob, ob.pose.bones[-1].name


def drive(owner, path: str, index: int = -1, expression: str = "frame / 7") -> bpy.types.FCurve:
    driver = owner.driver_add(path, index)
    driver.driver.expression = expression
    return driver


def child_of(parent: bpy.types.Object, name: str = "child", *channels: str) -> bpy.types.Object:
    child = moving(name, 5, "XYZ", *channels)
    child.parent = parent
    child.matrix_parent_inverse = Matrix.LocRotScale((1.0, 2.0, 3.0), Matrix.Rotation(0.5, 3, "X"), (1.0, 2.0, 0.5))
    return child


def set_step(ob: bpy.types.Object, path: str, index: int = -1) -> bpy.types.FCurve:
    """A curve of any path in the object's action: 0 at frame 1 and 3 at frame 9."""
    ob.animation_data_create()
    if ob.animation_data.action is None:
        ob.keyframe_insert("color", frame=1)
    data = ob.animation_data
    home = data.action.layers[0].strips[0].channelbag(data.action_slot) if LAYERED else data.action
    curve = home.fcurves.new(path, index=max(index, 0))
    curve.keyframe_points.insert(1, 0.0)
    curve.keyframe_points.insert(9, 3.0)
    return curve


# Scenes that are simple


@simple
def every_rotation_mode_with_deltas():
    things = []
    for k, mode in enumerate(ROTATION_MODES):
        ob = moving(mode, k, mode)
        ob.delta_location, ob.delta_scale = (1.0, -2.0, 0.5), (2.0, -1.0, 0.7)
        ob.delta_rotation_euler, ob.delta_rotation_quaternion = (0.3, -0.7, 1.1), (0.9, 0.4, -0.2, 0.3)
        things.append((ob, ""))
    return things


@simple
def children_of_bones():
    """With keys on the bones, and a child of the child."""
    rig, things = rope(), []
    for k in range(3):
        child = child_of(rig, f"child {k}")
        child.parent_type, child.parent_bone = "BONE", str(k)
        things += [(child, ""), (child_of(child, f"grandchild {k}"), "")]
    return things


@simple
def keyed_deltas():
    deltas = ("delta_location", "delta_rotation_euler", "delta_rotation_quaternion", "delta_scale")
    things = [(moving(mode, k, mode, *deltas), "") for k, mode in enumerate(ROTATION_MODES)]
    for ob, _ in things:
        random_keys(ob, 3)
    return things


@simple
def one_number_of_a_channel():
    things = []
    for mode in ("QUATERNION", "AXIS_ANGLE", "ZXY"):
        channel = rotation_channel(moving("probe", 1, mode))
        for path in ("location", channel, "scale", "delta_location", "delta_scale"):
            ob = new_empty(f"{mode} {path}")
            ob.rotation_mode = mode
            ob.location, ob.scale = (1.0, 2.0, 3.0), (0.5, -2.0, 1.5)
            ob.delta_location, ob.delta_scale = (0.1, 0.2, 0.3), (1.0, 1.1, 1.2)
            setattr(ob, channel, (0.6, 0.5, -0.4, 0.3)[: len(getattr(ob, channel))])
            key(ob, path, [0.5, 1.5, -0.5, 2.0], index=1)
            things.append((ob, ""))
    return things


@simple
def channels_of_other_rotation_modes():
    ob = moving("quaternion", 1, "QUATERNION")
    ob.rotation_mode = "YXZ"
    ob.rotation_euler = (0.1, 0.2, 0.3)
    other = moving("other")
    random_keys(other, 2, "rotation_axis_angle", "delta_rotation_quaternion")
    return [(ob, ""), (other, "")]


@simple
def zero_rotations():
    things = []
    for mode, width in (("QUATERNION", 4), ("AXIS_ANGLE", 4)):
        ob = new_empty(mode)
        ob.rotation_mode = mode
        key(ob, rotation_channel(ob), [(0.0,) * width, (0.0,) * width, (1.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0, 0.0)])
        things.append((ob, ""))
    return things


@simple
def nothing_moves():
    still = new_empty("still", (1.0, 2.0, 3.0))
    still.scale, still.rotation_euler, still.delta_scale = (1.0, -2.0, 0.0), (1.0, 2.0, 3.0), (2.0, 2.0, 2.0)
    return [(still, ""), tip_of(rope(keyed=False)), (child_of(still, "child", "scale"), "")]


@simple
def nested_parents():
    top = moving("top", 1, "QUATERNION")
    middle = child_of(top, "middle")
    middle.scale = (-1.0, 2.0, 0.3)
    below = new_empty("still", (3.0, 0.0, 1.0))
    below.parent = middle
    below.delta_location = (0.0, 0.0, 2.0)
    last = child_of(below, "last")
    # What is far away is exact by its distance.
    return [(each, "") for each in (last, below, middle, top)]


@simple
def a_parent_inverse_without_a_parent():
    child = child_of(moving("once"))
    child.parent = None
    return [(child, "")]


@simple
def all_kinds_of_curves():
    ob = moving("curves", 3)
    curves = fcurves(ob)
    for curve, interpolation in zip(curves, ("BEZIER", "LINEAR", "CONSTANT", "ELASTIC", "BACK", "SINE"), strict=False):
        for point in curve.keyframe_points:
            point.interpolation = interpolation
    curves[0].modifiers.new("CYCLES")
    noise = curves[1].modifiers.new("NOISE")
    noise.strength, noise.use_restricted_range, noise.frame_start, noise.frame_end = 3.0, True, 3.0, 20.0
    curves[2].modifiers.new("GENERATOR").use_additive = True
    curves[3].extrapolation = "LINEAR"
    curves[4].modifiers.new("NOISE").mute = True
    curves[5].modifiers.new("STEPPED")
    return [(ob, "")]


@simple
def curves_that_are_samples():
    ob = moving("samples", 3)
    for curve in fcurves(ob)[:4]:
        curve.convert_to_samples(-10, 20)
    return [(ob, "")]


@simple
def muted_curves():
    ob = moving("muted", 3)
    for curve in fcurves(ob)[::2]:
        curve.mute = True
    ob.location, ob.scale = (5.0, 6.0, 7.0), (2.0, 3.0, 4.0)
    rig = rope()
    for curve in fcurves(rig)[::3]:
        curve.mute = True
    for bone in rig.pose.bones:
        bone.location, bone.scale = (0.2, 0.3, 0.4), (1.5, 1.2, 0.7)
    return [(ob, ""), tip_of(rig)]


@simple
def muted_groups():
    rig = rope()
    group_by_bone(rig)
    for curve in fcurves(rig):
        if '"1"' in curve.data_path:
            curve.group.mute = True
    rig.pose.bones["1"].location = (0.2, 0.3, 0.4)
    return [tip_of(rig)]


@simple
def empty_and_senseless_curves():
    ob = moving("empty", 3, "XYZ", "scale")
    set_step(ob, "location", 0).keyframe_points.clear()
    set_step(ob, "location", 7)
    set_step(ob, "gone_with_an_add_on")
    set_step(ob, 'constraints["gone"].influence')
    ob.location = (1.0, 2.0, 3.0)
    return [(ob, "")]


@simple
def drivers_on_other_things():
    ob = moving()
    ob["power"] = 1.0
    drive(ob, '["power"]')
    drive(ob, "hide_render", expression="frame > 5")
    drive(ob, "location", 0).mute = True
    rig = rope()
    rig.pose.bones["1"]["power"] = 1.0
    drive(rig.pose.bones["1"], '["power"]')
    drive(rig.data.bones["1"], "bbone_x")
    drive(rig.data, "show_names", expression="frame > 5")
    return [(ob, ""), tip_of(rig)]


@simple
def nla_that_does_not_play():
    things = []
    for k, how in enumerate(("muted track", "no strips", "NLA off")):
        ob = moving(how, k)
        if how == "no strips":
            ob.animation_data.nla_tracks.new()
        else:
            push_down(ob, mute=False)
            random_keys(ob, k + 10)
            ob.animation_data.nla_tracks[0].mute = how == "muted track"
            ob.animation_data.use_nla = how != "NLA off"
        things.append((ob, ""))
    return things


@simple
def blending_without_an_action():
    ob = new_empty("idle", (1.0, 2.0, 3.0))
    ob.animation_data_create().action_influence = 0.5
    return [(ob, "")]


@simple
def a_slot_among_others():
    first = moving("first", 1)
    second = new_empty("second")
    second.animation_data_create().action = first.animation_data.action
    if LAYERED:
        slot = first.animation_data.action.slots.new(id_type="OBJECT", name="second")
        second.animation_data.action_slot = slot
        random_keys(second, 2)
    third = new_empty("third", (1.0, 0.0, 0.0))
    third.animation_data_create().action = first.animation_data.action
    if LAYERED:
        third.animation_data.action_slot = None
    return [(first, ""), (second, ""), (third, "")]


@simple
def bones_of_every_rotation_mode():
    rig = rope(count=len(ROTATION_MODES), keyed=False)
    for k, (bone, mode) in enumerate(zip(rig.pose.bones, ROTATION_MODES, strict=True)):
        bone.rotation_mode = mode
        random_keys(bone, k, "location", rotation_channel(bone))
    return [(rig, bone.name) for bone in rig.pose.bones]


@simple
def connected_bones_with_keyed_location():
    rig = rope(connect=True, count=4)
    for bone in rig.pose.bones:
        bone.location = (1.0, 1.0, 1.0)
    return [(rig, bone.name) for bone in rig.pose.bones]


@simple
def a_connected_bone_without_a_parent():
    rig = rope(count=2)
    with editing(rig) as bones:
        bones["0"].use_connect = True
    return [(rig, bone.name) for bone in rig.pose.bones]


@simple
def every_way_to_inherit():
    ways = list(product(INHERIT_SCALE, (True, False), (True, False), (True, False)))
    rig = rope(count=2)
    names = []
    with editing(rig) as bones:
        for k, (scale, rotation, location, relative) in enumerate(ways):
            bone = bones.new(f"way {k}")
            bone.head, bone.tail, bone.roll, bone.parent = (k, 1.0, 0.5), (k, 2.0, 1.0), 0.3 * k, bones["1"]
            bone.inherit_scale, bone.use_inherit_rotation = scale, rotation
            bone.use_local_location, bone.use_relative_parent = location, relative
            names.append(bone.name)
            below = bones.new(f"below {k}")
            below.head, below.tail, below.parent = (k, 2.0, 1.0), (k, 2.0, 3.0), bone
    update()
    for k, name in enumerate(names[::2]):
        random_keys(rig.pose.bones[name], k)
    return [(rig, bone.name) for bone in rig.pose.bones]


@simple
def constraints_of_bones_elsewhere():
    rig = rope(count=5)
    tip = rig.pose.bones["4"]
    ik = tip.constraints.new("IK")
    ik.target, ik.chain_count, ik.use_tail = new_empty("target", (1.0, 2.0, 2.0)), 3, True
    tip.constraints.new("COPY_ROTATION").target = ik.target
    return [(rig, "1"), (rig, "0")]


@simple
def a_child_of_a_curve_that_is_no_path():
    curve = bpy.data.objects.new("curve", bpy.data.curves.new("curve", "CURVE"))
    bpy.context.scene.collection.objects.link(curve)
    random_keys(curve, 4)
    return [(child_of(curve), "")]


# Scenes that are not


@refused("animation sets the constraints of 'moving'")
def a_constraint_that_wakes_up():
    ob = moving()
    constraint = ob.constraints.new("COPY_LOCATION")
    constraint.target = new_empty("target", (5.0, 5.0, 5.0))
    constraint.influence = 0.0
    set_step(ob, f'constraints["{constraint.name}"].influence')
    constraint.mute = True
    set_step(ob, f'constraints["{constraint.name}"].enabled')
    return ob, ""


@refused("a driver sets the delta scale of 'moving'")
def a_driven_delta():
    ob = moving()
    drive(ob, "delta_scale", 2)
    return ob, ""


@refused("animation sets the rotation mode of 'moving'")
def a_keyed_rotation_mode():
    ob = moving()
    key(ob, "rotation_mode", ["XYZ", "ZYX", "XYZ", "YXZ"])
    ob.rotation_mode = "XYZ"
    return ob, ""


@refused("animation sets the matrix parent inverse of 'child'")
def a_keyed_parent_inverse():
    child = child_of(moving("parent"))
    child.keyframe_insert("matrix_parent_inverse", frame=1)
    child.matrix_parent_inverse = Matrix.Translation((9.0, 0.0, 0.0))
    child.keyframe_insert("matrix_parent_inverse", frame=9)
    return child, ""


@refused("'moving' plays NLA strips", needlessly=True)
def a_track_alone():
    ob = moving()
    push_down(ob, mute=True)
    random_keys(ob, 8)
    track = ob.animation_data.nla_tracks[0]
    track.mute = track.is_solo = True
    return ob, ""


@refused("'moving' is in NLA tweak mode")
def a_tweaked_strip():
    ob = moving()
    push_down(ob, mute=False)
    track = ob.animation_data.nla_tracks[0]
    track.strips[0].frame_start, track.strips[0].scale = 5.0, 2.0
    track.select = track.strips[0].select = True
    ob.animation_data.nla_tracks.active = track
    ob.animation_data.use_tweak_mode = True
    assert ob.animation_data.use_tweak_mode
    return ob, ""


@refused("'child' is parented to 'Rig' by its bone")
def a_child_of_the_head_of_a_bone():
    rig = rope()
    child = child_of(rig)
    child.parent_type, child.parent_bone = "BONE", "1"
    rig.data.bones["1"].use_relative_parent = True
    return child, ""


@refused("bone '0' has the constraint 'Limit Rotation'")
def a_child_of_a_constrained_bone():
    rig = rope()
    child = child_of(rig)
    child.parent_type, child.parent_bone = "BONE", "1"
    limit = rig.pose.bones["0"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x = True
    return child, ""


@refused("'child' is parented to 'cube' by its vertex")
def a_child_of_a_vertex():
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.object.name = "cube"
    child = child_of(bpy.context.object)
    child.parent_type, child.parent_vertices = "VERTEX", (1, 0, 0)
    return child, ""


@refused("'child' is parented to 'cage' by its lattice", needlessly=True)
def a_child_of_a_lattice():
    cage = bpy.data.objects.new("cage", bpy.data.lattices.new("cage"))
    bpy.context.scene.collection.objects.link(cage)
    child = child_of(cage)
    child.parent_type = "LATTICE"
    return child, ""


@refused("'child' follows the path 'path'")
def a_child_of_a_path():
    bpy.ops.curve.primitive_nurbs_path_add()
    path = bpy.context.object
    path.name = "path"
    return child_of(path), ""


# Blender is known to crash when it plays this one.
@refused("'child' follows the path 'path'", needlessly=True)
def a_child_of_a_curve_that_becomes_a_path():
    child, _ = a_child_of_a_path()
    curve = child.parent.data
    key(curve, "use_path", [False, True, True, False])
    curve.use_path = False
    return child, ""


@refused("animation sets the pose position of armature 'Rig'")
def a_rig_that_goes_to_rest():
    rig = rope()
    key(rig.data, "pose_position", ["POSE", "REST", "POSE", "REST"])
    rig.data.pose_position = "POSE"
    return tip_of(rig)


@refused("sets the inherit scale of armature 'Rig'")
def a_bone_that_inherits_otherwise():
    rig = rope()
    rig.data.keyframe_insert('bones["1"].inherit_scale', frame=1)
    rig.data.bones["1"].inherit_scale = "NONE"
    rig.data.keyframe_insert('bones["1"].inherit_scale', frame=6)
    return tip_of(rig)


@refused("sets the use inherit rotation of armature 'Rig'")
def a_bone_whose_inheritance_is_driven():
    rig = rope()
    drive(rig.data.bones["1"], "use_inherit_rotation", expression="frame < 5")
    return tip_of(rig)


@refused("'Rig' is in Edit Mode")
def a_rig_in_edit_mode():
    rig = rope()
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    return tip_of(rig)


@refused("bone '1' has the constraint 'Copy Rotation'")
def a_bone_whose_constraint_wakes_up():
    rig = rope()
    constraint = rig.pose.bones["1"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.mute = moving(), True
    set_step(rig, f'pose.bones["1"].constraints["{constraint.name}"].enabled')
    return tip_of(rig)


@refused("a driver sets the location of bone")
def a_driven_bone_with_quotes_in_its_name():
    rig = rope()
    rig.data.bones["0"].name = 'a"b'
    drive(rig.pose.bones['a"b'], "location", 2)
    return tip_of(rig)


@refused("animation sets the rotation mode of bone '0'")
def a_bone_with_keyed_rotation_mode():
    rig = rope()
    key(rig.pose.bones["0"], "rotation_mode", ["QUATERNION", "XYZ", "QUATERNION", "XYZ"])
    rig.pose.bones["0"].rotation_mode = "QUATERNION"
    return tip_of(rig)


@refused("names a bone by its number")
def a_bone_by_its_number():
    rig = rope(keyed=False)
    set_step(rig, "pose.bones[0].location", 1)
    return tip_of(rig)


@refused("bone '0' is moved by the constraint 'IK' of '3'")
def a_bone_in_the_chain_of_an_ik_up_to_the_root():
    rig = rope(count=4)
    ik = rig.pose.bones["3"].constraints.new("IK")
    ik.target = new_empty("target", (1.0, 2.0, 2.0))
    return rig, "0"


@refused("bone '2' is moved by the constraint 'Spline IK' of '3'")
def a_bone_in_the_chain_of_a_spline():
    bpy.ops.curve.primitive_nurbs_path_add()
    curve = bpy.context.object
    rig = rope(count=4)
    ik = rig.pose.bones["3"].constraints.new("SPLINE_IK")
    ik.target, ik.chain_count = curve, 2
    return rig, "2"


@refused("bone '1' is moved by the constraint 'IK' of '2'")
def a_bone_in_the_chain_of_an_ik_that_wakes_up():
    rig = rope(count=3)
    ik = rig.pose.bones["2"].constraints.new("IK")
    ik.target, ik.chain_count, ik.mute = new_empty("target", (1.0, 2.0, 2.0)), 2, True
    drive(ik, "enabled", expression="frame > 5")
    return rig, "1"


@refused("'Rig' has no bone 'gone'", needlessly=True)
def a_bone_that_is_gone():
    return rope(), "gone"


# The law


@pytest.mark.parametrize("name", SIMPLE)
def test_what_is_simple_is_sampled_as_blender_evaluates_it(name):
    things = SIMPLE[name]()
    update()
    assert [not_simple(*thing) for thing in things] == [""] * len(things)
    expected = played(things)
    sampler = Sampler(AT)
    for thing, blender in zip(things, expected, strict=True):
        matrices = sampled(thing, sampler)
        assert matrices.shape in {(len(AT), 4, 4), (1, 4, 4)} and matrices.dtype == np.float64
        assert difference(matrices, blender) < EXACT, thing
        for frame, one in zip(AT, blender, strict=True):
            assert difference(sampled(thing, Sampler([frame])), one[None]) < EXACT


@pytest.mark.some(60)
@pytest.mark.parametrize(
    "change",
    [
        change
        for name, change in CHANGES.items()
        if not (change.drifts or name in ("a_foreign_handler", "target_nowhere_at_one_frame"))
    ],
    ids=str,
)
def test_what_is_simple_of_a_rig_is_sampled_as_blender_evaluates_it(change):
    rig = walking(change.keyed)
    change(rig)
    things = [(ob, "") for ob in bpy.context.scene.objects] + [(rig.ob, rig.ob.pose.bones[0].name)]
    things = [thing for thing in things if not not_simple(*thing)]
    if time_is_plain(bpy.context.scene) and rig.ob.pose.bones[0].name not in live_bones(rig.ob):
        for thing, blender in zip(things, played(things), strict=True):
            assert difference(sampled(thing, Sampler(AT)), blender) < EXACT, thing


def live_bones(ob: bpy.types.Object) -> set[str]:
    """The bones of all chains."""
    tips = [bone for bone in ob.pose.bones if bone.analytic_ik_enabled]
    return {bone.name for tip in tips for bone in [tip, *tip.parent_recursive][: tip.analytic_ik_chain_count]}


@pytest.mark.parametrize("name", NOT_SIMPLE)
def test_what_is_not_simple_is_said(name):
    build, words, needlessly = NOT_SIMPLE[name]
    thing = build()
    update()
    assert words in not_simple(*thing)
    if not needlessly:
        # The scene is not simple indeed: another way to look at it than ours.
        frames = range(1, 25)
        (expected,) = played([thing], frames)
        assert difference(sampled(thing, Sampler(frames)), expected) > 1e-3


@pytest.mark.parametrize(
    "name", ["nested_parents", "every_way_to_inherit", "all_kinds_of_curves", "a_slot_among_others"]
)
def test_sampling_leaves_nothing_behind_and_changes_nothing(name):
    things = SIMPLE[name]()
    go_to(5)
    before = whole_state(), [blenders(*thing) for thing in things]
    sampler = Sampler(range(20, 40))
    for thing in things:
        not_simple(*thing)
        sampled(thing, sampler)
    assert whole_state() == before[0]
    assert all(np.array_equal(blenders(*thing), matrix) for thing, matrix in zip(things, before[1], strict=True))


def test_matrices_are_kept_and_still_things_have_one():
    rig, still = rope(), new_empty("still")
    sampler = Sampler(range(50))
    assert sampler.worlds(rig) is sampler.worlds(rig) and sampler.worlds(rig).shape == (1, 4, 4)
    assert sampler.poses(rig, "2") is sampler.poses(rig, "2") and sampler.poses(rig, "2").shape == (50, 4, 4)
    assert sampler.worlds(still).shape == (1, 4, 4)


def test_evaluated_things_are_sampled_as_their_originals():
    rig = rope()
    go_to(4)
    evaluated = evaluated_copy(rig)
    assert not_simple(evaluated, "2") == ""
    assert np.array_equal(Sampler([7]).poses(evaluated, "2"), Sampler([7]).poses(rig, "2"))
    assert np.array_equal(Sampler([7]).worlds(evaluated), Sampler([7]).worlds(rig))


def test_hidden_objects_are_where_they_are_when_shown():
    ob, collection = moving(), bpy.data.collections.new("hidden")
    bpy.context.scene.collection.children.link(collection)
    other = moving("other", 2)
    bpy.context.scene.collection.objects.unlink(other)
    collection.objects.link(other)
    ob.hide_viewport = collection.hide_viewport = True
    go_to(30)
    assert not_simple(ob) == not_simple(other) == ""
    found = [sampled((each, ""), Sampler(AT)) for each in (ob, other)]
    ob.hide_viewport = collection.hide_viewport = False
    for matrices, expected in zip(found, played([(ob, ""), (other, "")]), strict=True):
        assert difference(matrices, expected) < EXACT


def test_objects_of_another_scene():
    ob, here = moving(), bpy.context.scene
    here.collection.objects.unlink(ob)
    there = bpy.data.scenes.new("there")
    there.collection.objects.link(ob)
    matrices = Sampler(AT).worlds(ob)
    for frame, matrix in zip(AT, matrices, strict=True):
        there.frame_set(int(frame // 1), subframe=frame % 1.0)
        world = ob.evaluated_get(there.view_layers[0].depsgraph).matrix_world
        assert difference(matrix[None], np.array(world)[None]) < EXACT


def test_linked_things_are_sampled_too(tmp_path):
    rig = link_from_library(rope(), tmp_path)
    assert not_simple(rig, "2") == ""
    (expected,) = played([(rig, "2")], range(1, 14))
    actions = len(bpy.data.actions)
    assert difference(Sampler(range(1, 14)).poses(rig, "2"), expected) < EXACT
    assert len(bpy.data.actions) == actions


def test_long_lines_of_bones_and_of_parents():
    rig = rope(count=1200, keyed=False)
    random_keys(rig.pose.bones["0"], 1, "location")
    above = None
    for k in range(1200):
        ob = new_empty(f"link {k}", (0.0, 0.0, 0.01))
        ob.parent, above = above, ob
    things = [(rig, "1199"), (above, "")]
    assert [not_simple(*thing) for thing in things] == ["", ""]
    for thing, expected in zip(things, played(things, (1, 5)), strict=True):
        # Blender multiplies in single precision, twelve hundred times.
        assert difference(sampled(thing, Sampler((1, 5))), expected) < 1e-3


def test_remapped_time_is_not_plain():
    scene = bpy.context.scene
    assert time_is_plain(scene)
    scene.render.frame_map_new = 50
    assert not time_is_plain(scene)
    scene.render.frame_map_old = 50
    assert time_is_plain(scene)
