"""What holds after every step, whatever was done: measured from what Blender evaluated, with names only kept."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from math import isfinite

import bpy
from mathutils import Matrix, Vector

from ik_addon.rig.blender.animation import animated_channels
from ik_addon.rig.data.relation import place_of
from ik_addon.rig.data.settings import switched_tips
from ik_addon.rig.model.body import bodies_of
from ik_addon.rig.status.problems import warnings_of
from ik_addon.rig.status.states import States

from ..rig.rigs import evaluated_copy, matrix_difference, reach
from ..scenes import EXACT, action_state
from .playground import OWN_BONE, is_stranger, own_armatures

ROUNDING = 3e-6
"""Of a coordinate in single precision, after the few multiplications between a target and a tail."""
HELPERS = "Analytic IK"
"""What the add-on's own data-blocks and constraints are called."""

WHOLE = ("objects", "scenes", "actions", "rest")
"""Of what kinds nothing may go."""

Poses = dict[str, dict[str, Matrix]]


# Handlers


def own_handlers() -> Counter[tuple[str, str]]:
    """How often each handler of the add-on is registered, in all of Blender's lists."""
    lists = [name for name in dir(bpy.app.handlers) if isinstance(getattr(bpy.app.handlers, name), list)]
    return Counter(
        (name, f"{handler.__module__}.{handler.__name__}")
        for name in lists
        for handler in getattr(bpy.app.handlers, name)
        if (getattr(handler, "__module__", "") or "").startswith("ik_addon")
    )


# What is left over


def left_overs() -> list[str]:
    """Data-blocks and constraints of the add-on's own that have no business to be there."""
    found = [f"scene {scene.name}" for scene in bpy.data.scenes if scene.name.startswith(HELPERS)]
    for ob in bpy.data.objects:
        for bone in ob.pose.bones if ob.pose else ():
            names = [constraint.name for constraint in bone.constraints if constraint.name.startswith(HELPERS)]
            live = bone.analytic_ik_enabled or bone.name in switched_tips(ob) or bone.name in bodies_of(ob)
            if names and not live:
                found.append(f"{names} on {ob.name} {bone.name}, which is the tip of no live chain")
            if len(names) > 2 or not all(bone.constraints[name].mute for name in names):
                found.append(f"{names} on {ob.name} {bone.name}")
    return found


def ghosts() -> set[str]:
    """Objects that are in no collection, but for the add-on's triggers: somebody points to them."""
    return {ob.name_full for ob in bpy.data.objects if not ob.users_collection and not ob.name.startswith(HELPERS)}


# What is the user's


def fk_channels() -> dict[tuple[str, str, str], tuple[float, ...]]:
    """What the channels of all bones hold that no animation sets, bit for bit."""
    found = {}
    for ob in bpy.data.objects:
        animated = animated_channels(ob) if ob.pose else {}
        for bone in ob.pose.bones if ob.pose else ():
            for channel in ("rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale", "location"):
                if not any(channel == name for name, _ in animated.get(bone.name, ())):
                    found[ob.name_full, bone.name, channel] = tuple(getattr(bone, channel))
    return found


# Strangers


def strangers_state(body_action: str) -> dict:
    """All of the strangers that is not played, bit for bit."""
    state = {ob.name: _object_state(ob) for ob in bpy.data.objects if is_stranger(ob)}
    for ob in own_armatures():
        for bone in ob.pose.bones:
            if bone.name == OWN_BONE:
                # Edit mode gives all bones their ends anew, rounded.
                state[OWN_BONE, ob.name] = (*_bone_state(bone), round(bone.bone.length, 5))
    action = bpy.data.actions.get(body_action)
    if action is not None:
        state["keys"] = {key: value for key, value in action_state(action).items() if f'"{OWN_BONE}"' in key[1]}
    return state


def _object_state(ob: bpy.types.Object) -> tuple:
    data = ob.animation_data
    return (
        custom_properties(ob),
        tuple(ob.location[:2]),
        tuple(ob.rotation_euler),
        tuple(ob.scale),
        action_state(data.action),
        [curve.data_path for curve in data.drivers],
        [_bone_state(bone) for bone in ob.pose.bones] if ob.pose else None,
    )


def _bone_state(bone: bpy.types.PoseBone) -> tuple:
    return (
        custom_properties(bone),
        tuple(bone.location[1:]),
        tuple(bone.scale),
        bone.rotation_mode,
        constraints_of(bone),
    )


def custom_properties(owner: bpy.types.bpy_struct) -> dict:
    """Those that somebody made by hand; of some versions `keys` has the registered ones too."""
    return {name: owner[name] for name in owner.keys() if not name.startswith("analytic_ik_")}  # noqa: SIM118


def constraints_of(owner: bpy.types.Object | bpy.types.PoseBone) -> list[tuple]:
    """An owner's constraints but those with which the add-on asks for hidden controls."""
    return [
        (each.name, each.type, each.mute, each.influence, getattr(each, "subtarget", ""))
        for each in owner.constraints
        if not each.name.startswith(HELPERS)
    ]


# Poses


def shown() -> list[bpy.types.Object]:
    """The armatures that may be rigged, as far as they are evaluated in a pose now and a saved file keeps them."""
    return [
        ob
        for ob in own_armatures()
        if ob.users and ob.mode != "EDIT" and ob.data.pose_position == "POSE" and evaluated_copy(ob).is_evaluated
    ]


def poses() -> Poses:
    """The pose matrices of all bones that may be rigged, as Blender evaluates them.

    Without those that its own IK moves, and what hangs on them: that goes on from where it was, and so depends on where
    one came from.
    """
    found, left_out = {}, _moved_by_blenders_ik()
    for ob in shown():
        bones = evaluated_copy(ob).pose.bones
        found[ob.name] = {bone.name: bone.matrix.copy() for bone in bones if bone.name not in left_out[ob.name]}
    return found


def unsettled() -> tuple[str, ...]:
    """What of `scenes.whole_state` need not stay, by how the ways to it begin: bones that Blender's own IK moves, what
    hangs on them, and what a driver sets by the frame, which each scene's evaluation sets anew."""
    moved = [f"/objects/{name}/bones/{bone}/" for name, bones in _moved_by_blenders_ik().items() for bone in bones]
    driven = [
        f"/objects/{ob.name_full}/bones/{bone.name}/location"
        for ob in bpy.data.objects
        for bone in (ob.pose.bones if ob.pose else ())
        if bone.name.startswith(OWN_BONE)
    ]
    return (*moved, *driven)


def _moved_by_blenders_ik() -> dict[str, set[str]]:
    """By the armature's name the bones that are, as they move themselves or follow what is moved."""
    armatures = own_armatures()
    moved = {ob.name: set() for ob in armatures}
    while True:
        before = sum(map(len, moved.values()))
        for ob in armatures:
            if _hangs(ob, moved):
                moved[ob.name].update(ob.pose.bones.keys())
            for bone in ob.pose.bones:
                for count in _followers(bone, moved):
                    line = [bone, *bone.parent_recursive]
                    root = line[: count or len(line)][-1]
                    moved[ob.name].update((root.name, *(below.name for below in root.children_recursive)))
        if before == sum(map(len, moved.values())):
            return moved


def _followers(bone: bpy.types.PoseBone, moved: dict[str, set[str]]) -> Iterator[int]:
    """For what on a bone follows Blender's IK, or is that, how many bones up from it are turned; 0: all."""
    for constraint in bone.constraints:
        is_ik = constraint.type == "IK"
        if (is_ik and constraint.enabled) or _hangs(getattr(constraint, "target", None), moved):
            yield constraint.chain_count if is_ik else 1
    controls = (
        (bone.analytic_ik_target, bone.analytic_ik_subtarget),
        (bone.analytic_ik_pole_target, bone.analytic_ik_pole_subtarget),
    )
    if any(ob and (_hangs(ob, moved) or name in moved.get(ob.name, ())) for ob, name in controls):
        yield bone.analytic_ik_chain_count


def _hangs(ob: bpy.types.Object | None, moved: dict[str, set[str]]) -> bool:
    """Whether an object is parented, by as many steps as it takes, to a bone that is moved."""
    while ob is not None:
        if ob.parent_type == "BONE" and ob.parent and ob.parent_bone in moved.get(ob.parent.name, ()):
            return True
        ob = ob.parent
    return False


def not_finite(found: Poses) -> list[str]:
    """Bones whose matrix holds what is no number."""
    return [
        f"{name} {bone}"
        for name, bones in found.items()
        for bone, matrix in bones.items()
        if not all(isfinite(value) for row in matrix for value in row)
    ]


def is_sound() -> bool:
    """Whether nothing but its chain moves any limb: Blender's own IK, for one, goes on from where it was."""
    return not any(
        warnings_of(ob, tip.name) for ob in own_armatures() for tip in ob.pose.bones if tip.analytic_ik_enabled
    )


def apart(a: Poses, b: Poses) -> tuple[float, str]:
    """The largest difference between the matrices of two poses, relative to their places; and where it is."""
    if a.keys() != b.keys():
        return float("inf"), f"{sorted(a)} against {sorted(b)}"
    worst, where = 0.0, ""
    for name, bones in a.items():
        if bones.keys() != b[name].keys():
            return float("inf"), f"{name}: {sorted(bones)} against {sorted(b[name])}"
        for bone, matrix in bones.items():
            size = 1.0 + max(abs(value) for row in matrix for value in row)
            rows = zip(matrix, b[name][bone], strict=True)
            difference = max(abs(x - y) for row_a, row_b in rows for x, y in zip(row_a, row_b, strict=True)) / size
            if not difference <= worst:
                worst, where = difference, f"{name} {bone}"
    return worst, where


# Targets


def missed_targets() -> list[str]:
    """Chains that nothing keeps from their targets and that are not there, with how far they are off."""
    found = []
    depsgraph = bpy.context.evaluated_depsgraph_get()
    if not is_sound():
        # What moves one limb after its chain may move another one's root.
        return found
    for ob in shown():
        evaluated = evaluated_copy(ob)
        live = [tip.name for tip in evaluated.pose.bones if tip.analytic_ik_enabled]
        if not live:
            continue
        states = States(ob, depsgraph)
        for name in live:
            if states.of(name).kind != "PROBLEM" and not warnings_of(ob, name):
                said = _missed(ob, evaluated, evaluated.pose.bones[name])
                if said:
                    found.append(said)
    return found


def chain_of(tip: bpy.types.PoseBone) -> list[bpy.types.PoseBone]:
    """The bones of a chain, root first; as many as there are."""
    bones = [tip, *tip.parent_recursive]
    count = tip.analytic_ik_chain_count
    return (bones[:count] if count else bones)[::-1]


def _end_of(tip: bpy.types.PoseBone) -> Vector:
    """Where the chain of an evaluated tip ends, in armature space: at the joint of its end bone, or at its tail."""
    end = tip.id_data.pose.bones.get(tip.analytic_ik_end_bone)
    return tip.tail if end is None else tip.matrix @ tip.bone.matrix_local.inverted() @ end.bone.head_local


def _missed(ob: bpy.types.Object, evaluated: bpy.types.Object, tip: bpy.types.PoseBone) -> str:
    bones = chain_of(tip)
    if tip.analytic_ik_influence < 1.0 or tip.analytic_ik_softness or _is_limited(bones):
        return ""
    if tip.analytic_ik_use_rotation and tip.analytic_ik_foot_roll:
        return ""
    if any(_is_stale(bone) for bone in bones):
        return ""
    depsgraph, subtarget = bpy.context.evaluated_depsgraph_get(), tip.analytic_ik_subtarget
    # Of one that was hidden just now Blender keeps where it was.
    target_world, pose = place_of(tip.analytic_ik_target.original, subtarget, depsgraph)
    point_world = (target_world @ pose if pose else target_world).to_translation()
    point = evaluated.matrix_world.inverted() @ point_world
    # Bones of a chain need not touch: what lies between two heads belongs to the upper bone.
    joints = [*(bone.head for bone in bones), _end_of(tip)]
    lengths = [(b - a).length for a, b in pairwise(joints)]
    near, far = reach(lengths)
    length = sum(lengths)
    coordinates = [*(abs(value) for joint in joints for value in joint), *map(abs, point)]
    scale = max(evaluated.matrix_world.median_scale, 1e-9)
    coordinates += [
        abs(value) / scale for world in (evaluated.matrix_world, target_world) for value in world.translation
    ]
    slack = EXACT * length + ROUNDING * max(coordinates)
    distance = (point - joints[0]).length
    if not near + slack <= distance <= far - slack:
        return ""
    missed = (Vector(joints[-1]) - point).length
    # Near full extension CCD is still on its way after its last sweep.
    if missed <= (slack if tip.analytic_ik_solver != "CCD" else 1e-3 * length):
        return ""
    return f"{ob.name} {tip.name}: {missed:.3e} off its target of a length of {length:.3f} ({distance:.3f} away)"


def _is_stale(bone: bpy.types.PoseBone) -> bool:
    """Whether Blender shows a bone elsewhere than its channels say.

    It does so in a scene that no window has drawn yet: when bones get other names there, it copies every armature anew,
    with the matrices of the scene that was drawn last, and evaluates only some.
    """
    above = bone.parent
    if above is None or len(bone.constraints):
        return False
    basis = bone.matrix_basis.copy()
    if bone.bone.use_connect:
        basis.translation = (0.0, 0.0, 0.0)
    meant = bone.bone.convert_local_to_pose(
        basis, bone.bone.matrix_local, parent_matrix=above.matrix, parent_matrix_local=above.bone.matrix_local
    )
    return matrix_difference(meant, bone.matrix) > 1e-2 * max(1.0, *map(abs, meant.translation))


def _is_limited(bones: list[bpy.types.PoseBone]) -> bool:
    switches = [f"lock_ik_{axis}" for axis in "xyz"] + [f"use_ik_limit_{axis}" for axis in "xyz"]
    switches += ["analytic_ik_use_cone", "analytic_ik_use_min_bend"]
    return any(getattr(bone, name) for bone in bones for name in switches)


# What an operator leaves alone


def foreign_state() -> dict[str, dict]:
    """All of the file that is not the add-on's, by what kind of thing it is."""
    owners = list(_owners())
    taken = {(ob.name, bone.name) for ob in own_armatures() for bone in _taken(ob)}
    return {
        "objects": {ob.name_full: True for ob in bpy.data.objects if not ob.name.startswith(HELPERS)},
        "scenes": {scene.name: True for scene in bpy.data.scenes},
        "custom": {path: custom_properties(owner) for path, owner in owners},
        "constraints": {path: constraints_of(owner) for path, owner in owners},
        "drivers": {
            ob.name: [curve.data_path for curve in ob.animation_data.drivers]
            for ob in bpy.data.objects
            if ob.animation_data
        },
        "actions": {action.name: (action_state(action), action.users > 0) for action in bpy.data.actions},
        "rest": {
            (ob.name, bone.name): (
                [round(value, 5) for row in bone.matrix_local for value in row],
                bone.parent and bone.parent.name,
                round(bone.length, 5),
            )
            for ob in bpy.data.objects
            if ob.type == "ARMATURE" and ob.mode != "EDIT"
            for bone in ob.data.bones
        },
        "locks": {path: _locks(owner) for path, owner in owners if isinstance(owner, bpy.types.PoseBone)},
        "places": {ob.name: _channels(ob) for ob in bpy.data.objects if not ob.name.startswith(HELPERS)},
        "bones": {
            path: _channels(owner)
            for path, owner in owners
            if isinstance(owner, bpy.types.PoseBone) and path not in taken
        },
    }


def changed(before: dict[str, dict], after: dict[str, dict]) -> dict[str, list]:
    """By kind what is other than before. What came new, or was freed from a chain, or taken by it, is not compared."""
    found = {}
    for kind, state in before.items():
        # What an object that went has taken along is told by the objects.
        gone = [key for key in state if key not in after[kind]] if kind in WHOLE else []
        # As text: what is no number is not even the same as itself.
        other = [key for key, value in state.items() if key in after[kind] and repr(after[kind][key]) != repr(value)]
        if gone or other:
            found[kind] = gone + other
    return found


def _owners():
    for ob in bpy.data.objects:
        yield ob.name, ob
        for bone in ob.pose.bones if ob.pose else ():
            yield (ob.name, bone.name), bone


def _taken(ob: bpy.types.Object):
    """Bones that chains may write: their own, and those on their ends."""
    yield from (ob.pose.bones[name] for name in bodies_of(ob))
    for tip in ob.pose.bones:
        if tip.analytic_ik_enabled or tip.analytic_ik_target is not None:
            yield from chain_of(tip)
            for child in tip.children:
                yield child
                yield from child.children


def _channels(owner: bpy.types.Object | bpy.types.PoseBone) -> tuple:
    names = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")
    return (owner.rotation_mode, *(repr(tuple(getattr(owner, name))) for name in names))


def _locks(bone: bpy.types.PoseBone) -> tuple:
    names = [f"lock_ik_{axis}" for axis in "xyz"] + [f"use_ik_limit_{axis}" for axis in "xyz"]
    names += [f"ik_{end}_{axis}" for end in ("min", "max") for axis in "xyz"]
    return tuple(getattr(bone, name) for name in names)
