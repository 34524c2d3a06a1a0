"""Bones from which game engines read where feet and hands belong, filled from the pose that a clip shows.

Unreal's mannequins have ik_foot_l, ik_foot_r, ik_hand_gun, ik_hand_l and ik_hand_r; characters made for Unity or Godot
have LeftFootIK and the like. Their parents ik_foot_root and ik_hand_root stay where the root is.
"""

import re
from collections.abc import Mapping

import bpy
import numpy as np
from mathutils import Matrix

from ..authoring.controls import controls_of
from ..authoring.fk_frames import keys_of
from ..bake.keys import check_undriven, write_keys
from ..bake.stepping import Steps, recorded, stepping_lightly
from ..rig.blender.rotations import LOCATION, array_of, pose_matrix, raw_of, raw_values

_GOALS = {
    r"ik_(foot|hand)_([lr])": r"\1_\2",
    r"ik_hand_gun": "hand_r",
    r"(left|right)(foot|hand)_?ik": r"\1\2",
}
"""Whole names, without what comes before a colon and in lower case, and those of the bones that they follow."""


def goals_of(ob: bpy.types.Object) -> dict[str, str | None]:
    """The goals among the bones of an armature object, parents first, each with the bone that it follows; None: that is
    not there.

    What something else moves is none: a chain's control, or a bone with constraints.
    """
    controls = {control.bone for bone in ob.pose.bones for control in controls_of(bone) if control.ob == ob}
    by_name = {_plain(bone.name): bone.name for bone in ob.pose.bones}
    found = {}
    for bone in ob.pose.bones:
        followed = next((re.sub(form, name, _plain(bone.name)) for form, name in _GOALS.items() if _is(bone, form)), "")
        if followed and bone.name not in controls and not bone.constraints:
            found[bone.name] = by_name.get(followed)
    return dict(sorted(found.items(), key=lambda pair: len(ob.pose.bones[pair[0]].parent_recursive)))


def _plain(name: str) -> str:
    return name.rpartition(":")[2].lower()


def _is(bone: bpy.types.PoseBone, form: str) -> bool:
    return re.fullmatch(form, _plain(bone.name)) is not None


def goals_filled(context: bpy.types.Context, ob: bpy.types.Object, frames: range) -> Steps[list[str]]:
    """In steps: key the goals of an armature object in the action that it plays, at each frame where the bones are that
    they follow, as far from these as at rest; the names of the goals. Raises ChainError where one has a driver."""
    goals = {goal: followed for goal, followed in goals_of(ob).items() if followed is not None}
    if not goals:
        return []
    check_undriven(ob, [*goals], "location")
    parents = {goal: ob.pose.bones[goal].parent for goal in goals}
    seen = list(dict.fromkeys([*goals.values(), *(parent.name for parent in parents.values() if parent)]))

    def take(depsgraph: bpy.types.Depsgraph) -> list[np.ndarray]:
        bones = ob.evaluated_get(depsgraph).pose.bones
        return [array_of(bones[name].matrix) for name in seen]

    rows = yield from recorded(stepping_lightly(context, [ob]), frames, take)
    poses = dict(zip(seen, np.swapaxes(rows, 0, 1), strict=True))
    keys = []
    for goal, followed in goals.items():
        places, turns = _channels(ob.pose.bones[goal], followed, poses)
        mode = ob.pose.bones[goal].rotation_mode
        keys += [keys_of(goal, LOCATION, places, frames), keys_of(goal, mode, turns, frames)]
    write_keys(ob, keys, "CURRENT")
    return [*goals]


def _channels(goal: bpy.types.PoseBone, followed: str, poses: Mapping[str, np.ndarray]) -> tuple[list, list]:
    """The locations and the rotations with which a goal is where it belongs. poses: its own are put there, for what is
    parented to it."""
    data, parent = goal.id_data.data, goal.parent
    from_followed = data.bones[followed].matrix_local.inverted_safe() @ goal.bone.matrix_local
    places, turns, near = [], [], raw_values(goal, goal.rotation_mode)
    wanted = [Matrix(pose).normalized() @ from_followed for pose in poses[followed]]
    for k, pose in enumerate(wanted):
        basis = pose_matrix(goal.bone, pose, Matrix(poses[parent.name][k]) if parent else None, invert=True)
        near = raw_of(basis.to_quaternion(), goal.rotation_mode, near)
        places.append(tuple(basis.translation))
        turns.append(near)
    if goal.name in poses:
        poses[goal.name][:] = np.array(wanted)
    return places, turns
