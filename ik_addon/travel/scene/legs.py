"""Legs without live chains: turned so that their feet are where they are wanted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...authoring.placing import Control
from ...planting.scene.shown import Leg
from ...rig.blender.animation import is_driven
from ...rig.blender.bones import pose_matrix, rotation_in
from ...rig.blender.channels import LOCATION, SCALE, Raw, quaternion_of, raw_of
from ...rig.blender.movers import movers_of
from ...rig.blender.rotations import matrices_of, turns_in
from ...solvers import Chain, Goal, link_rotations, solve
from .film import Film, turn_of
from .keying import Rows


@dataclass(frozen=True)
class FootPath:
    """Where the foot of a leg is wanted over T frames, in the world.

    path: the bones from the body to the foot. ankles: (T, 3). turns: (T, 3, 3), from how the foot is turned as seen.
    """

    leg: Leg
    path: Sequence[str]
    ankles: np.ndarray
    turns: np.ndarray


def path_to(leg: Leg, body: bpy.types.PoseBone) -> list[str]:
    """The bones from below a body down to a foot, which nothing but their channels moves; else none."""
    bones = body.id_data.pose.bones
    end = bones[leg.foot or leg.tip]
    above = [end, *end.parent_recursive]
    if body not in above:
        return []
    path = above[: above.index(body)][::-1]
    moved = next(movers_of(path), None) or any(is_driven(body.id_data, bone, "rotation") for bone in path)
    return [] if moved else [bone.name for bone in path]


def rows_of_leg(film: Film, foot: FootPath, bodies: np.ndarray, rows: Mapping[Control, Rows]) -> dict[Control, Rows]:
    """The rotations with which a leg puts its foot there.

    bodies: (T, 4, 4), the body in the world. rows: what is to be keyed of bones; the leg bends as they have it, and is
    turned from there.
    """
    bones = [film.ob.pose.bones[name].bone for name in foot.path]
    controls = [Control(film.ob, name, turns=True) for name in foot.path]
    modes = [turn_of(film.channels[each][0]) for each in controls]
    links = [foot.path.index(name) for name in foot.leg.links]
    to_armature = np.linalg.inv(film.worlds[film.ob])
    tops = [Matrix(pose) for pose in to_armature @ bodies]
    before = [_posed(bones, [_basis(film, rows, each, t) for each in controls], top) for t, top in enumerate(tops)]
    tip = foot.path.index(foot.leg.tip)
    joints = [[*(poses[k].translation for k in links), poses[tip] @ foot.leg.ankle] for poses in before]
    goals = np.einsum("tij,tj->ti", to_armature[:, :3, :3], foot.ankles) + to_armature[:, :3, 3]
    turned = [_turns(chain, goal) for chain, goal in zip(joints, goals, strict=True)]
    spun = _in_armature(film, foot.turns)
    found: list[list[Raw]] = [[] for _ in foot.path]
    near = [film.channels[each][0][mode] for each, mode in zip(controls, modes, strict=True)]
    for t, top in enumerate(tops):
        parent = top
        for k, (bone, control, mode) in enumerate(zip(bones, controls, modes, strict=True)):
            basis = _basis(film, rows, control, t)
            pose = pose_matrix(bone, basis, parent)
            if k in links or bone.name == foot.leg.foot:
                as_it_is = np.array((before[t][k] if k in links else film.poses[bone.name][t]), float)
                turn = turned[t][links.index(k)] if k in links else spun[t]
                wanted = Matrix.Translation(pose.translation) @ Matrix(turn @ as_it_is[:3, :3]).to_4x4()
                size = film.channels[control][t][SCALE]
                rotation = rotation_in(pose_matrix(bone, wanted, parent, invert=True), size)
                pose = pose_matrix(bone, Matrix.LocRotScale(basis.translation, rotation, size), parent)
                near[k] = raw_of(rotation, mode, near[k])
                found[k].append(near[k])
            parent = pose
    turned_rows = zip(controls, modes, found, strict=True)
    return {control: {**rows.get(control, {}), mode: raws} for control, mode, raws in turned_rows if raws}


def _posed(bones: Sequence[bpy.types.Bone], bases: Sequence[Matrix], top: Matrix) -> list[Matrix]:
    poses = [top]
    for bone, basis in zip(bones, bases, strict=True):
        poses.append(pose_matrix(bone, basis, poses[-1]))
    return poses[1:]


def _basis(film: Film, rows: Mapping[Control, Rows], control: Control, t: int) -> Matrix:
    """What the channels of a bone make at a row, those that are to be keyed and the others."""
    own = {mode: raws[t] for mode, raws in rows.get(control, {}).items()}
    channels = {**film.channels[control][t], **own}
    mode = turn_of(channels)
    location = (0.0, 0.0, 0.0) if control.owner.bone.use_connect else channels[LOCATION]
    return Matrix.LocRotScale(location, quaternion_of(channels[mode], mode), channels[SCALE])


def _turns(joints: Sequence[Vector], goal: np.ndarray) -> list[np.ndarray]:
    """How each link of a chain turns, (3, 3), so that its end is at a goal (3,), with as little motion as needed."""
    chain = Chain(joints)
    solution = solve(chain, Goal(goal.tolist(), least_motion=True))
    return [np.array(turn.to_matrix()) for turn in link_rotations(chain, solution)]


def _in_armature(film: Film, turns: np.ndarray) -> np.ndarray:
    """Rotations (T, 3, 3) of the world in the space of the armature."""
    own = matrices_of(turns_in(film.worlds[film.ob]))
    return own.swapaxes(1, 2) @ turns @ own
