"""Scenes to bake, to rig and to show: what they hold, what they play, and whether anything in them changed."""

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from math import asin, cos, sin, sqrt
from pathlib import Path

import bpy
import pytest
from mathutils import Matrix, Vector

from ik_addon.rig.live import handlers as live
from ik_addon.rig.live.scene_plan import ScenePlan

from .helpers.once import once
from .rig.keys import key
from .rig.rigs import (
    Control,
    Rig,
    evaluated_copy,
    leg,
    make_chain,
    matrix_difference,
    new_empty,
    orientation,
    random_point,
    random_rig,
    update,
)

EXACT = 1e-5
"""What is promised: of a chain's length for positions, of a matrix's elements for orientations."""

Poses = dict[float, dict[str, Matrix]]


# What is played


def go_to(frame: float) -> None:
    bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)


def pose_of(ob: bpy.types.Object) -> dict[str, Matrix]:
    """Pose matrices of all bones, as Blender evaluates them."""
    return {bone.name: bone.matrix.copy() for bone in evaluated_copy(ob).pose.bones}


def played(ob: bpy.types.Object, frames: Iterable[float]) -> Poses:
    poses = {}
    for frame in frames:
        go_to(frame)
        poses[frame] = pose_of(ob)
    return poses


@contextmanager
def without_handlers() -> Iterator[None]:
    """Blender as it is where the add-on was never installed: nothing follows anything."""
    live.unregister()
    try:
        yield
    finally:
        live.register()


@contextmanager
def read_whole() -> Iterator[None]:
    """Bakes read every chain whole at each frame, as the handlers would, and none in arrays."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ScenePlan, "planned", lambda self: {})
        patch.setattr(ScenePlan, "reasons", lambda self, scene: {})
        yield


def played_without_the_add_on(ob: bpy.types.Object, frames: Iterable[float]) -> Poses:
    with without_handlers():
        return played(ob, frames)


def farthest_apart(a: Poses, b: Poses, length: float) -> float:
    """Largest difference between two motions: of positions by `length`, of orientations by matrix elements."""
    assert a.keys() == b.keys()
    return max(apart(a[frame], b[frame], length) for frame in a)


def apart(a: dict[str, Matrix], b: dict[str, Matrix], length: float) -> float:
    assert a.keys() == b.keys()
    return max(
        max(
            (a[name].to_translation() - b[name].to_translation()).length / length,
            matrix_difference(orientation(a[name]), orientation(b[name])),
        )
        for name in a
    )


def angle_between(a: Matrix, b: Matrix) -> float:
    """Angle in radians between two orientations, exact for small ones: by the chord between the matrices."""
    rows = zip(a.to_3x3(), b.to_3x3(), strict=True)
    chord = sqrt(sum((x - y) ** 2 for u, v in rows for x, y in zip(u, v, strict=True)))
    return 2.0 * asin(min(1.0, chord / sqrt(8.0)))


def missed_world(rig: Rig) -> float:
    """Distance from the tip to its target as Blender evaluates both, in world units."""
    return (rig.to_world(rig.joints()[-1]) - rig.to_world(rig.to_armature(rig.target))).length


# What is animated


def slide(ob: bpy.types.Object, start: Iterable[float], end: Iterable[float]) -> None:
    """Key an object's location: from one place at frame 1 to another at frame 12."""
    for frame, location in ((1, start), (12, end)):
        ob.location = location
        ob.keyframe_insert("location", frame=frame)


def walking_leg(name: str = "leg", side: float = 0.0, **settings: object) -> Rig:
    """A live leg whose target wanders within its reach over the frames 1 to 12."""
    rig = leg(name, side)
    slide(rig.target.ob, (side, -0.6, 0.5), (side + 0.2, 0.5, 0.3))
    rig.enable(**settings)
    go_to(1)
    return rig


def key_fk(rig: Rig) -> None:
    """Key the FK rotations of a leg's chain over the frames 1 to 13."""
    for name in rig.bones:
        quaternions = [(1.0, 0.0, 0.0, 0.0), (0.9, 0.3, 0.0, 0.0), (0.8, 0.0, 0.4, 0.0), (1.0, 0.0, 0.0, 0.0)]
        key(rig.ob.pose.bones[name], "rotation_quaternion", quaternions)


def chain_below_chain(seed: int) -> tuple[Rig, Rig]:
    """Two live chains on one armature of any kind, the second hanging from the first; both targets are keyed."""
    whole = random_rig(seed, count=4, with_pole=False)
    length = sum(whole.lengths())
    made = []
    for k, names in enumerate((whole.bones[:2], whole.bones[2:])):
        rig = Rig(whole.ob, names, Control(new_empty(f"goal {k}")), random=whole.random)
        root = rig.to_world(rig.joints()[0])
        slide(rig.target.ob, *(root + random_point(whole.random, 0.1, 0.5) * length for _ in range(2)))
        made.append(rig)
    for rig in made:
        rig.enable()
    go_to(1)
    return made[0], made[1]


# What an action holds


def curve_bags(action: bpy.types.Action) -> dict[int, bpy.types.bpy_struct]:
    """What holds the F-Curves and groups of an action, by the slot it belongs to; 0 where actions have no slots."""
    if not hasattr(action, "layers"):
        return {0: action}
    strips = [strip for layer in action.layers for strip in layer.strips]
    return {bag.slot_handle: bag for strip in strips for bag in strip.channelbags}


def bag_of(ob: bpy.types.Object) -> bpy.types.bpy_struct | None:
    """What holds the F-Curves and groups that play on an object."""
    data = ob.animation_data
    if data is None or data.action is None:
        return None
    return curve_bags(data.action).get(getattr(data, "action_slot_handle", 0))


def curves_of(ob: bpy.types.Object) -> dict[tuple[str, int], bpy.types.FCurve]:
    """The F-Curves that play on an object, by path and index."""
    bag = bag_of(ob)
    return {(curve.data_path, curve.array_index): curve for curve in bag.fcurves} if bag else {}


def group_by_bone(ob: bpy.types.Object) -> None:
    """Give every curve of a bone the group that Blender's own keys have (4.2 makes none from Python)."""
    bag = bag_of(ob)
    for (path, _), curve in curves_of(ob).items():
        bone = path.partition('"')[2].partition('"')[0]
        if bone and curve.group is None:
            curve.group = bag.groups.get(bone) or bag.groups.new(bone)


def key_state(key: bpy.types.Keyframe) -> tuple:
    points = (tuple(key.co), tuple(key.handle_left), tuple(key.handle_right))
    return (*points, key.interpolation, key.easing, key.handle_left_type, key.handle_right_type, key.type)


def curve_state(curve: bpy.types.FCurve) -> tuple:
    """All that a curve plays, bit for bit."""
    modifiers = tuple((modifier.type, modifier.mute) for modifier in curve.modifiers)
    group = (curve.group.name, curve.group.mute) if curve.group else None
    keys = tuple(key_state(key) for key in curve.keyframe_points)
    return (curve.mute, curve.lock, curve.extrapolation, group, modifiers, keys)


def action_state(action: bpy.types.Action) -> dict:
    return {
        (handle, curve.data_path, curve.array_index): curve_state(curve)
        for handle, bag in curve_bags(action).items()
        for curve in bag.fcurves
    }


def rotation_curves(ob: bpy.types.Object, bone: str) -> list[bpy.types.FCurve]:
    prefix = f"{ob.pose.bones[bone].path_from_id()}.rotation_"
    return [curve for (path, _), curve in curves_of(ob).items() if path.startswith(prefix)]


def keyed_frames(curve: bpy.types.FCurve) -> list[float]:
    return [key.co.x for key in curve.keyframe_points]


def reopened(path: Path) -> None:
    """Save the file under a path, and open it."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))


# Whether anything changed


def where_one_stands() -> dict:
    """Frame, mode, active object and bones, selection: what one looks at."""
    scene, layer = bpy.context.scene, bpy.context.view_layer
    active = layer.objects.active
    return {
        "frame": (scene.frame_current, scene.frame_subframe),
        "active": active and (active.name, active.mode),
        "selected": {ob.name for ob in layer.objects if ob.select_get()},
        "bones": {
            ob.name: (ob.data.bones.active and ob.data.bones.active.name, selected_bone_names(ob))
            for ob in bpy.data.objects
            if ob.type == "ARMATURE"
        },
    }


def whole_state() -> dict:
    """All of the file that an operator of the add-on could have changed."""
    return {
        "stand": where_one_stands(),
        "objects": {ob.name_full: object_state(ob) for ob in bpy.data.objects},
        "actions": {
            action.name_full: (action.use_fake_user, action.users, action_state(action)) for action in bpy.data.actions
        },
    }


@contextmanager
def refuses(error: type[Exception], match: str) -> Iterator[pytest.ExceptionInfo]:
    """Inside, what is done is refused with a sentence that matches, and nothing of the file is changed."""
    before = whole_state()
    with pytest.raises(error, match=match) as caught:
        yield caught
    update()
    assert whole_state() == before


def object_state(ob: bpy.types.Object) -> dict:
    data = ob.animation_data
    return {
        "place": (tuple(ob.location), tuple(ob.rotation_euler), tuple(ob.scale), ob.parent and ob.parent.name),
        "collections": [collection.name for collection in ob.users_collection],
        "report": ob.analytic_ik_report,
        "animation": data and (data.action and data.action.name_full, getattr(data, "action_slot_handle", 0)),
        "bones": {bone.name: bone_state(bone) for bone in ob.pose.bones} if ob.pose else None,
    }


def bone_state(bone: bpy.types.PoseBone) -> dict:
    own = [rna.identifier for rna in bone.bl_rna.properties if rna.identifier.startswith("analytic_ik_")]
    channels = ["location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale", "rotation_mode"]
    values = {name: getattr(bone, name) for name in own + channels}
    return {name: readable(value) for name, value in values.items()}


def readable(value: object) -> object:
    """A property's value as something that can be compared later."""
    if isinstance(value, bpy.types.ID):
        return value.name_full
    # The rows of a matrix as well: they are Blender's memory.
    return value if isinstance(value, str | int | float | None) else tuple(map(readable, value))


# Selecting


def skin_of(ob: bpy.types.Object) -> bpy.types.Object:
    """A mesh that an armature object deforms."""
    skin = bpy.data.objects.new("skin", bpy.data.meshes.new("skin"))
    bpy.context.scene.collection.objects.link(skin)
    skin.modifiers.new("Armature", "ARMATURE").object = ob
    return skin


def select(*objects: bpy.types.Object, active: bpy.types.Object | None = None) -> None:
    # As a list: selecting brings the layer up to date, which in Blender 4.2 frees what is being gone through.
    for ob in list(bpy.context.view_layer.objects):
        ob.select_set(ob in objects)
    bpy.context.view_layer.objects.active = active or objects[0]


def select_bones(ob: bpy.types.Object, *names: str) -> None:
    """Select these bones; the last one is the active bone."""
    for bone in ob.pose.bones:
        flag = bone if hasattr(bone, "select") else bone.bone
        flag.select = bone.name in names
    if names:
        ob.data.bones.active = ob.data.bones[names[-1]]


def selected_bone_names(ob: bpy.types.Object) -> list[str]:
    return [bone.name for bone in ob.pose.bones if (bone if hasattr(bone, "select") else bone.bone).select]


def enter(mode: str, ob: bpy.types.Object, *bones: str) -> None:
    """Go to an armature's mode with these of its bones selected."""
    select(ob)
    bpy.ops.object.mode_set(mode=mode)
    select_bones(ob, *bones)


def without_blender(operator: type, **given: object) -> object:
    """An operator as a plain object, to run without a window. given: its properties, and what Blender does."""
    own = [vars(each) for each in reversed(operator.__mro__) if each.__module__.startswith("ik_addon")]
    taken = {name: value for each in own for name, value in each.items() if not name.startswith("__")}
    return type("Operator", (), {"release_confirm": False} | taken | given)()


@once
def sliding_walk(**options: object) -> bpy.types.Object:
    """A character whose captured feet slide, with a chain on each leg; options: of Rig Legs."""
    scene = Path(__file__).parents[1] / "sample_scenes" / "biped_capture.blend"
    bpy.ops.wm.open_mainfile(filepath=str(scene), load_ui=True)
    ob = bpy.data.objects["Robot rig"]
    select(ob)
    bpy.ops.analytic_ik.rig_legs(**options)
    return ob


def go_through(steps: Generator[tuple[int, int], None, object], share: float) -> None:
    """Go through some of the steps of a work, and close it there."""
    for done, total in steps:
        if done >= share * total:
            break
    steps.close()


# Scenes in which something is in the way


def link_from_library(ob: bpy.types.Object, folder) -> bpy.types.Object:
    """The same object, linked from a library file into an empty scene."""
    library, name = str(folder / "library.blend"), ob.name
    bpy.ops.wm.save_as_mainfile(filepath=library)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(library, link=True) as (_, linked):
        linked.objects = [name]
    for other in bpy.data.objects:
        bpy.context.scene.collection.objects.link(other)
    update()
    return bpy.data.objects[name]


def linked(data: bpy.types.ID, folder: Path) -> bpy.types.ID:
    """The same from a library; the one in this file is gone."""
    library, name, kind = str(folder / "library.blend"), data.name, type(data).__name__.lower() + "s"
    bpy.data.libraries.write(library, {data})
    getattr(bpy.data, kind).remove(data)
    with bpy.data.libraries.load(library, link=True) as (_, wanted):
        setattr(wanted, kind, [name])
    return getattr(bpy.data, kind)[name]


def second_chain(rig: Rig, tip: str, count: int, name: str = "second") -> bpy.types.PoseBone:
    """Another live chain on the same armature, its target where its tip is."""
    bone = rig.ob.pose.bones[tip]
    make_chain(bone, Control(new_empty(name, rig.to_world(Vector(bone.tail)))), chain_count=count)
    update()
    return bone


@once
def carrier_of_a_prop(**options: object) -> tuple[bpy.types.Object, bpy.types.Object]:
    """A captured walker with chains on arms and legs, and an Empty that turns and moves where the left hand reaches.

    At frame 30 it is close to the hand.
    """
    ob = sliding_walk(arms=True, **options)
    prop = new_empty("prop")

    def joint(frame: int, bone: str) -> Vector:
        go_to(frame)
        shown = evaluated_copy(ob)
        return shown.matrix_world @ shown.pose.bones[bone].head

    way = 0.92 * (joint(30, "hand.L") - joint(30, "upper_arm.L"))
    for frame in range(1, 121, 6):
        arm = joint(frame, "upper_arm.L")
        prop.location = arm + way + Vector((sin(0.11 * frame), cos(0.07 * frame), sin(0.05 * frame))) * 0.02
        prop.rotation_euler = (0.04 * frame, 0.6 * sin(0.06 * frame), -0.03 * frame)
        prop.keyframe_insert("location", frame=frame)
        prop.keyframe_insert("rotation_euler", frame=frame)
    go_to(30)
    return ob, prop


def only_chain(report: dict) -> dict:
    """The entry of the only chain of the only file in a report."""
    [file] = report["files"]
    [chain] = file["chains"]
    return chain
