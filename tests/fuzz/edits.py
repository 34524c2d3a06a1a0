"""What people do to a file while chains are live: each takes plain numbers and names things anew every time.

which, other: an object, counted round; bone: likewise a bone; choice: one of several ways; amount: -1 to 1; x, y, z: a
place; yes: or not. Python's references to Blender's data die at undo and load, so none is kept.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import wraps
from math import pi

import bpy
from mathutils import Euler

from ik_addon.rig.live import state

from ..rig.keys import fcurves
from ..rig.rigs import ROTATION_MODES, rotation_channel, set_rotation, update
from ..scenes import go_to, select, select_bones
from .playground import LAST_FRAME, OWN_BONE, goals, own_armatures, own_bones

MOST_ARMATURES, MOST_GOALS, MOST_BONES = 4, 14, 40
SOLVERS = ("AUTO", "VECTOR", "LAW_OF_COSINES", "CIRCLE", "SPHERE", "TRIANGULATION", "CCD")


# Which


class AbsentError(LookupError):
    """There is nothing to which this could be done."""


def one_of(found: Sequence, which: int):
    """The so-manieth of them, counted round."""
    if not found:
        raise AbsentError
    return found[which % len(found)]


def armature(which: int) -> bpy.types.Object:
    return one_of(own_armatures(), which)


def goal(which: int) -> bpy.types.Object:
    return one_of(goals(), which)


def thing(which: int) -> bpy.types.Object:
    return one_of([*goals(), *own_armatures()], which)


def pose_bone(which: int, bone: int) -> bpy.types.PoseBone:
    ob = armature(which)
    found = ob.pose.bones.get(one_of(own_bones(ob), bone))
    if found is None:
        raise AbsentError
    return found


def tip(which: int) -> bpy.types.PoseBone:
    """The so-manieth bone with a chain; else any bone."""
    tips = [
        bone
        for ob in own_armatures()
        for bone in ob.pose.bones
        if bone.analytic_ik_enabled or bone.analytic_ik_target is not None
    ]
    return tips[which % len(tips)] if tips else pose_bone(which, which)


def out_of_edit_mode() -> None:
    active = bpy.context.view_layer.objects.active
    # Of one that was hidden meanwhile Blender leaves the mode as it is.
    if active is not None and active.mode != "OBJECT" and bpy.ops.object.mode_set.poll():
        bpy.ops.object.mode_set(mode="OBJECT")


def make_active(ob: bpy.types.Object) -> bool:
    """Whether it could be; in object mode then."""
    if ob.name not in bpy.context.view_layer.objects or ob.hide_viewport or not ob.visible_get():
        return False
    out_of_edit_mode()
    select(ob)
    return bpy.context.view_layer.objects.active == ob


# Objects


def move_goal(which: int, x: float, y: float, z: float) -> None:
    ob = goal(which)
    ob.location = (x, y, z)


def turn_goal(which: int, x: float, y: float, z: float) -> None:
    ob = goal(which)
    ob.rotation_euler = (x, y, z)


def move_goal_onto_joint(which: int, other: int, bone: int, yes: bool) -> None:
    """A goal exactly on a head, or a tail, of a bone."""
    ob, at = goal(which), pose_bone(other, bone)
    ob.location = at.id_data.matrix_world @ (at.head if yes else at.tail)


def move_goal_far(which: int, choice: int) -> None:
    ob = goal(which)
    ob.location = ((1e4, 0.0, 0.0), (0.0, -1e6, 1e6), (1e20, 0.0, 0.0), (float("nan"), 0.0, 0.0))[choice % 4]


def move_armature(which: int, x: float, y: float, z: float) -> None:
    ob = armature(which)
    ob.location = (x, y, z)


def turn_armature(which: int, x: float, y: float, z: float) -> None:
    ob = armature(which)
    ob.rotation_euler = (x, y, z)


def scale_armature(which: int, choice: int) -> None:
    ob = armature(which)
    sizes = ((1, 1, 1), (2, 2, 2), (1, 0.5, 2), (-1, 1, 1), (0, 0, 0), (0.01, 0.01, 0.01), (100, 100, 100))
    ob.scale = sizes[choice % len(sizes)]


def hide(which: int, choice: int, yes: bool) -> None:
    ob = thing(which)
    if choice % 3 == 0:
        if ob.name in bpy.context.view_layer.objects:
            ob.hide_set(yes)
    elif choice % 3 == 1:
        ob.hide_viewport = yes
    else:
        ob.hide_render = yes


def rename_object(which: int, choice: int) -> None:
    thing(which).name = ("renamed", "body", "goal 0", 'quote " and \\', "ü" * 20)[choice % 5]


def delete_object(which: int, yes: bool) -> None:
    """yes: as a user does it, which leaves an object in the file that something points to; else for good."""
    found = [*goals(), *own_armatures()[1:]]
    ob = one_of(found, which)
    out_of_edit_mode()
    if yes:
        with bpy.context.temp_override(selected_objects=[ob]):
            bpy.ops.object.delete()
    else:
        bpy.data.objects.remove(ob)


def duplicate(which: int, other: int, yes: bool) -> None:
    """An armature, with one of the goals or without."""
    ob = armature(which)
    if len(own_armatures()) >= MOST_ARMATURES or len(goals()) >= MOST_GOALS or not make_active(ob):
        return
    if yes and (beside := goal(other)).name in bpy.context.view_layer.objects:
        select(ob, beside)
    bpy.ops.object.duplicate()
    for each in bpy.context.selected_objects:
        each.location.x += 1.5


def new_goal(x: float, y: float, z: float) -> None:
    if len(goals()) < MOST_GOALS:
        ob = bpy.data.objects.new("goal", None)
        bpy.context.scene.collection.objects.link(ob)
        ob.location = (x, y, z)


def parent(which: int, other: int, bone: int, choice: int) -> None:
    """A goal or an armature to a bone, to an object, or to nothing."""
    found = [*goals(), *own_armatures()]
    ob, above = one_of(found, which), armature(other)
    if choice % 3 == 0:
        ob.parent = None
        return
    line = above
    while line is not None:
        if line == ob:
            return
        line = line.parent
    ob.parent = above
    if choice % 3 == 1:
        names = own_bones(above)
        if names:
            ob.parent_type, ob.parent_bone = "BONE", names[bone % len(names)]
    else:
        # Without a bone's name of before, by which Blender would take it for parented to a bone.
        ob.parent_type, ob.parent_bone = "OBJECT", ""


def unlink(which: int, yes: bool) -> None:
    """Out of the scene's collection, or back into it."""
    found = [*goals(), *own_armatures()]
    ob, collection = one_of(found, which), bpy.context.scene.collection
    out_of_edit_mode()
    if yes and ob.name in collection.objects:
        collection.objects.unlink(ob)
    elif not yes and ob.name not in collection.objects:
        collection.objects.link(ob)


def into_collection(which: int, yes: bool) -> None:
    """Into a collection that is excluded, or shown."""
    ob = thing(which)
    out_of_edit_mode()
    collection = bpy.data.collections.get("shelf")
    if collection is None:
        collection = bpy.data.collections.new("shelf")
    if collection.name not in bpy.context.scene.collection.children:
        bpy.context.scene.collection.children.link(collection)
    if ob.name not in collection.objects:
        collection.objects.link(ob)
        for other in list(ob.users_collection):
            if other != collection:
                other.objects.unlink(ob)
    layer = bpy.context.view_layer.layer_collection.children.get("shelf")
    if layer:
        layer.exclude = yes


# Bones


def pose_by_hand(which: int, bone: int, x: float, y: float, z: float) -> None:
    found = pose_bone(which, bone)
    set_rotation(found, Euler((0.3 * x, 0.3 * y, 0.3 * z)).to_quaternion())


def move_bone(which: int, bone: int, x: float, y: float, z: float) -> None:
    found = pose_bone(which, bone)
    found.location = (0.2 * x, 0.2 * y, 0.2 * z)


def scale_bone(which: int, bone: int, choice: int) -> None:
    found = pose_bone(which, bone)
    sizes = ((1, 1, 1), (1.3, 1.3, 1.3), (1, 1.5, 1), (-1, 1, 1), (0, 0, 0), (0.2, 0.2, 0.2))
    found.scale = sizes[choice % len(sizes)]


def rotation_mode(which: int, bone: int, choice: int) -> None:
    found = pose_bone(which, bone)
    found.rotation_mode = ROTATION_MODES[choice % len(ROTATION_MODES)]


def clear_pose(which: int) -> None:
    ob = armature(which)
    for bone in filter(None, map(ob.pose.bones.get, own_bones(ob))):
        set_rotation(bone, Euler().to_quaternion())
        bone.location, bone.scale = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)


def inherit(which: int, bone: int, choice: int, yes: bool) -> None:
    found = pose_bone(which, bone)
    flag = ("use_inherit_rotation", "use_local_location", "use_relative_parent")[choice % 3]
    setattr(found.bone, flag, yes)


def inherit_scale(which: int, bone: int, choice: int) -> None:
    found = pose_bone(which, bone)
    found.bone.inherit_scale = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")[choice % 6]


def rename_bone(which: int, bone: int, choice: int) -> None:
    found = pose_bone(which, bone)
    found.bone.name = ("thigh.L", "renamed", 'a "quoted" one', "\\", "x" * 60)[choice % 5]


def limit(which: int, bone: int, choice: int, yes: bool) -> None:
    found = pose_bone(which, bone)
    kind = choice % 5
    if kind < 2:
        setattr(found, f"lock_ik_{'xz'[kind]}", yes)
    elif kind == 2:
        found.use_ik_limit_x, found.ik_min_x, found.ik_max_x = yes, -0.4, 1.2
    elif kind == 3:
        found.analytic_ik_use_cone, found.analytic_ik_cone = yes, 0.8
    else:
        found.analytic_ik_use_min_bend, found.analytic_ik_min_bend = yes, 0.1


def add_constraint(which: int, bone: int, other: int, choice: int) -> None:
    found, target = pose_bone(which, bone), goal(other)
    if not found or len(found.constraints) > 2:
        return
    kind = ("IK", "IK", "COPY_ROTATION", "LIMIT_ROTATION", "COPY_LOCATION")[choice % 5]
    constraint = found.constraints.new(kind)
    if kind == "IK":
        constraint.target, constraint.chain_count = target, 1 + choice % 3
        constraint.use_rotation = choice > 7
    elif kind.startswith("COPY"):
        constraint.target, constraint.influence = target, 0.5


def change_constraint(which: int, choice: int) -> None:
    found = [
        constraint
        for ob in own_armatures()
        for bone in ob.pose.bones
        for constraint in (bone.constraints if not bone.name.startswith(OWN_BONE) else ())
        if not constraint.name.startswith("Analytic IK")
    ]
    constraint = one_of(found, which)
    if choice % 3 == 0:
        constraint.mute = not constraint.mute
    elif choice % 3 == 1:
        constraint.influence = 0.5
    else:
        bone = constraint.path_from_id().rpartition(".constraints")[0]
        constraint.id_data.path_resolve(bone).constraints.remove(constraint)


def rest_position(which: int, yes: bool) -> None:
    ob = armature(which)
    ob.data.pose_position = "REST" if yes else "POSE"


# Edit mode


def edit_bones(which: int, bone: int, other: int, choice: int) -> None:
    ob = armature(which)
    if not make_active(ob):
        return
    names = own_bones(ob)
    if not names:
        return
    bpy.ops.object.mode_set(mode="EDIT")
    bones = ob.data.edit_bones
    chosen, second = bones[names[bone % len(names)]], bones[names[(bone + other + 1) % len(names)]]
    kind = choice % 7
    if kind == 0 and len(names) < MOST_BONES:
        new = bones.new("new")
        new.head, new.tail, new.parent = chosen.tail, chosen.tail + chosen.vector * 0.7, chosen
        new.tail.x += 0.1
    elif kind == 1:
        bones.remove(chosen)
    elif kind == 2:
        chosen.name = "edited"
    elif kind == 3:
        chosen.tail.x += 0.2
    elif kind == 4 and second not in chosen.children_recursive and second != chosen:
        chosen.use_connect, chosen.parent = False, second
    elif kind == 5:
        chosen.parent = None
    elif kind == 6:
        chosen.roll += 0.7
    if other % 4:
        bpy.ops.object.mode_set(mode="OBJECT" if other % 2 else "POSE")


# Settings of chains


def set_number(which: int, choice: int, amount: float) -> None:
    found = tip(which)
    name, value = (
        ("influence", abs(amount)),
        ("influence", 1.0),
        ("swivel", pi * amount),
        ("softness", max(0.0, 0.5 * amount)),
        ("stretch_max", 1.0 + abs(amount)),
        ("foot_roll", amount),
        ("toe_angle", abs(amount)),
    )[choice % 7]
    setattr(found, f"analytic_ik_{name}", value)


def set_switch(which: int, choice: int, yes: bool) -> None:
    found = tip(which)
    name = ("enabled", "enabled", "flip", "least_motion", "use_rotation")[choice % 5]
    setattr(found, f"analytic_ik_{name}", yes)


def set_choice(which: int, choice: int) -> None:
    found = tip(which)
    if choice % 3 == 0:
        found.analytic_ik_solver = SOLVERS[choice % len(SOLVERS)]
    elif choice % 3 == 1:
        found.analytic_ik_reach = ("CLAMP", "STRETCH", "HOLD")[choice // 3 % 3]
    else:
        found.analytic_ik_straight_axis = ("AUTO", "X", "NEGATIVE_X", "Z")[choice % 4]


def set_count(which: int, choice: int) -> None:
    found = tip(which)
    found.analytic_ik_chain_count = choice % 7


def set_target(which: int, other: int, bone: int, choice: int) -> None:
    """Target or pole of a chain: a goal, a bone, an armature, the chain's own armature, nothing."""
    found = tip(which)
    what = "target" if choice % 2 else "pole_target"
    sub = what.replace("target", "subtarget")
    kind = choice % 4
    if kind == 3 and bone % 4 == 0:
        setattr(found, f"analytic_ik_{what}", None)
        return
    above = armature(other)
    by_bone = pose_bone(other, bone) if bone % 3 == 0 else None
    setattr(found, f"analytic_ik_{what}", above if by_bone else goal(other))
    setattr(found, f"analytic_ik_{sub}", by_bone.name if by_bone else "")


def carrier(which: int, bone: int, yes: bool) -> bpy.types.PoseBone:
    """A bone that follows its limbs, or may: yes: the hips, if there are any; else one that does, or any."""
    ob = armature(which)
    names = ["hips"] if yes else [each.name for each in ob.pose.bones if each.analytic_ik_body_influence > 0.0]
    found = [ob.pose.bones[name] for name in names if name in ob.pose.bones and name in own_bones(ob)]
    return found[bone % len(found)] if found else pose_bone(which, bone)


def set_body(which: int, bone: int, choice: int, amount: float, yes: bool) -> None:
    """How a bone follows its limbs, or that it does no more."""
    found = carrier(which, bone, yes)
    if choice % 3 < 2:
        found.analytic_ik_body_influence = (1.0, abs(amount), 0.0)[choice // 3 % 3]
    elif choice == 11:
        found.analytic_ik_body_direction = "NEAREST" if yes else "DOWN"
    else:
        found.analytic_ik_body_softness = 0.1 * abs(amount)


def move_body(which: int, bone: int, x: float, y: float, z: float) -> None:
    """Hips dragged by hand."""
    found = carrier(which, bone, True)
    found.location = (0.2 * x, 0.2 * y, 0.2 * z)


def key_body(which: int, bone: int, frame: float, choice: int) -> None:
    found = carrier(which, bone, bool(choice % 2))
    names = ("location", "analytic_ik_body_influence", "analytic_ik_body_softness", "analytic_ik_body_direction")
    found.keyframe_insert(names[choice % 8 // 2], frame=frame)


def make_live(which: int, bone: int, other: int, choice: int) -> None:
    """A chain by its properties alone, as scripts make it."""
    found, target = pose_bone(which, bone), goal(other)
    found.analytic_ik_target, found.analytic_ik_subtarget = target, ""
    found.analytic_ik_chain_count = choice % 5
    found.analytic_ik_enabled = True


# Animation


def key_bone(which: int, bone: int, frame: float, choice: int) -> None:
    found = pose_bone(which, bone)
    path = (rotation_channel(found), rotation_channel(found), "location", "scale")[choice % 4]
    found.keyframe_insert(path, index=0 if choice > 7 else -1, frame=frame)


def key_goal(which: int, frame: float, choice: int) -> None:
    ob = goal(which)
    ob.keyframe_insert(("location", "rotation_euler", "hide_viewport")[choice % 3], frame=frame)


def key_setting(which: int, frame: float, choice: int) -> None:
    found = tip(which)
    names = ("influence", "enabled", "swivel", "flip", "softness", "foot_roll", "use_rotation", "chain_count")
    found.keyframe_insert(f"analytic_ik_{names[choice % len(names)]}", frame=frame)


def key_armature(which: int, frame: float) -> None:
    ob = armature(which)
    ob.keyframe_insert("location", frame=frame)


def change_curve(which: int, bone: int, choice: int) -> None:
    """Mute, unmute or remove one of an armature's curves, or move one of its keys."""
    ob = armature(which)
    if not ob.animation_data or not ob.animation_data.action:
        return
    try:
        found = [curve for curve in fcurves(ob) if '"hair' not in curve.data_path]
    except (IndexError, AttributeError):
        # An action without layers, or with a slot of its own that holds nothing.
        return
    curve = one_of(found, bone)
    if choice % 3 < 2:
        curve.mute = choice % 3 == 0
    elif len(curve.keyframe_points):
        curve.keyframe_points[0].co.y += 0.2
        curve.update()


def push_down(which: int, yes: bool) -> None:
    """The action of an armature becomes a strip, which plays or is muted."""
    ob = armature(which)
    data = ob.animation_data
    if data is None or data.action is None or len(data.nla_tracks) > 1:
        return
    action = data.action
    action.use_fake_user = True
    track = data.nla_tracks.new()
    track.strips.new(action.name, 1, action)
    track.mute = yes
    data.action = None


def drop_action(which: int, choice: int) -> None:
    """Another action of the file, or none."""
    ob = armature(which)
    data = ob.animation_data
    if data is None or (data.action is None and choice % 2):
        return
    if data.action is not None:
        data.action.use_fake_user = True
    data.action = None if choice % 2 else next((each for each in bpy.data.actions if "body" in each.name), None)


def drive(which: int, choice: int, yes: bool) -> None:
    """A driver on a setting of a chain or a body, or on its bone's rotation; or none any more."""
    found = carrier(which, choice, True) if choice > 9 else tip(which)
    path = ("analytic_ik_influence", "analytic_ik_swivel", "analytic_ik_enabled", rotation_channel(found))[choice % 4]
    path = "analytic_ik_body_influence" if choice > 9 else path
    index = 1 if path.startswith("rotation") else -1
    if yes:
        found.driver_add(path, index).driver.expression = "0.5 + frame * 0.02"
    else:
        found.driver_remove(path, index)


# Scenes


def another_scene(choice: int) -> None:
    """A second scene with the same objects, or with the armatures alone; or back to the first."""
    out_of_edit_mode()
    # What has keys and was moved by hand without one stands there in this scene alone.
    go_to(bpy.context.scene.frame_current_final)
    window, first = bpy.context.window, bpy.data.scenes[0]
    if choice % 3 == 0:
        window.scene = first
        _drawn()
        return
    scene = bpy.data.scenes.get("second")
    if scene is None:
        scene = bpy.data.scenes.new("second")
    for ob in [*own_armatures(), *(goals() if choice % 3 == 1 else [])]:
        if ob.name not in scene.collection.objects:
            scene.collection.objects.link(ob)
    window.scene = scene
    _drawn()


def remove_scene() -> None:
    scene = bpy.data.scenes.get("second")
    if scene is not None:
        out_of_edit_mode()
        bpy.context.window.scene = next(each for each in bpy.data.scenes if each != scene)
        bpy.data.scenes.remove(scene)
        _drawn()


def another_layer(choice: int) -> None:
    out_of_edit_mode()
    scene, window = bpy.context.scene, bpy.context.window
    if len(scene.view_layers) < 2:
        scene.view_layers.new("beside")
    window.view_layer = scene.view_layers[choice % len(scene.view_layers)]
    _drawn()


def _drawn() -> None:
    """What a window has just begun to show is seen when it is drawn; here none is."""
    update()
    state.evaluate_chains()


def time_is_remapped(yes: bool) -> None:
    bpy.context.scene.render.frame_map_new = 50 if yes else 100


# Selecting and modes


def if_there(edit: Callable) -> Callable:
    """It is left undone where there is nothing to which it could be done."""

    @wraps(edit)
    def edited(*given: object, **named: object) -> None:
        with suppress(AbsentError):
            edit(*given, **named)

    return edited


@if_there
def choose(which: int, bone: int, other: int, choice: int) -> None:
    """An armature is active, in object or pose mode, with some of its bones and goals selected; or nothing is."""
    ob = armature(which)
    if choice == 11:
        out_of_edit_mode()
        bpy.context.view_layer.objects.active = None
        return
    if not make_active(ob):
        return
    beside = [each for each in (goals() * 2)[other % 7 :][:2] if each.name in bpy.context.view_layer.objects]
    select(ob, *beside[: max(0, choice % 5 - 2)], active=ob)
    bpy.ops.object.mode_set(mode="POSE" if choice % 3 else "OBJECT")
    names = own_bones(ob)
    if names:
        some = [names[(bone + k) % len(names)] for k in range(min(choice % 4, len(names)))]
        select_bones(ob, *some)
    update()


@if_there
def choose_chain(which: int, choice: int) -> None:
    """The tip of a chain is selected, or several bones of it."""
    found = tip(which)
    ob, names = found.id_data, [found.name, *(each.name for each in found.parent_recursive)]
    # One that was hidden in edit mode is still in it, and its bones have other names there.
    if make_active(ob) and ob.mode != "EDIT":
        bpy.ops.object.mode_set(mode="POSE" if choice % 4 else "OBJECT")
        select_bones(ob, *names[: 1 + choice % 2][::-1])
        update()


EDITS = (
    move_goal, turn_goal, move_goal_onto_joint, move_goal_far, move_armature, turn_armature, scale_armature, hide,
    rename_object, delete_object, duplicate, new_goal, parent, unlink, into_collection, pose_by_hand, move_bone,
    scale_bone, rotation_mode, clear_pose, inherit, inherit_scale, rename_bone, limit, add_constraint,
    change_constraint, rest_position, edit_bones, set_number, set_switch, set_choice, set_count, set_target,
    make_live, set_body, move_body, key_body, key_bone, key_goal, key_setting, key_armature, change_curve, push_down,
    drop_action, drive, another_scene, remove_scene, another_layer, time_is_remapped, choose, choose_chain,
)  # fmt: skip
FRAMES = (1.0, 3.0, 3.25, 5.0, 6.5, 7.0, 9.75, float(LAST_FRAME), 20.0, -3.0)
