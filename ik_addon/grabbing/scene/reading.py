"""A body, read from an armature object as it is evaluated."""

import re
from collections.abc import Iterable, Sequence

import bpy
import numpy as np
from mathutils import Vector

from ... import messages
from ...authoring.finding.limbs import FoundLimb, find_limbs
from ...rig.blender.dependencies import movers_of
from ...rig.blender.rotations import are_even, array_of, channel_of, quaternions_of, raw_values
from ...rig.model.limb import known_bones
from ...rig.model.order import live_tips
from ...solvers import ChainError
from ..solving.body import Body, hips_of
from ..solving.drag import Drag
from ..solving.limbs import FoundParts
from ..solving.skeleton import Skeleton, basis_of, point
from ..solving.turns import Turn

_HEAD = re.compile(r"(?<![a-z])(head|kopf|cabeza|tete|testa)(?![a-z]*track|[a-z]*top)")
_APART = 1e-3
"""By which a pose may differ from what its channels make, in matrix elements, lengths in those of its own bones."""


class GrabBody:
    """A body of an armature object, by the names of its bones, in the pose before.

    names: of the bones, by number. chains: the tip of the live chain of each limb that has one, by the limb's number.
    """

    def __init__(self, ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> None:
        self.ob = ob
        evaluated = ob.evaluated_get(depsgraph)
        self.world = evaluated.matrix_world.copy()
        bones = [*ob.pose.bones]
        self.names = [bone.name for bone in bones]
        index = {name: k for k, name in enumerate(self.names)}
        posed = {bone.name: bone.head.copy() for bone in evaluated.pose.bones}
        limbs = [limb for limb in find_limbs(ob.data.bones, arms=True, posed=posed).limbs if _has_links(limb)]
        if not limbs:
            raise ChainError(messages.NO_LIMB_TO_GRAB(armature=ob.name))
        tips = [tip for tip in live_tips(ob) if ob.pose.bones[tip].analytic_ik_influence > 0.0]
        chains = {bone.name: tip for tip in tips for bone in known_bones(ob.pose.bones[tip])}
        rigged = [limb for limb in limbs if limb.bones[-1] in chains]
        posed_by_chains = {*chains, *(name for limb in rigged for name in (*limb.bones, limb.end, limb.toe) if name)}
        skeleton = _skeleton(ob, evaluated, index, frozenset(index[name] for name in posed_by_chains))
        heads = [k for k, name in enumerate(self.names) if _HEAD.search(name.lower())]
        parts = [_parts(limb, index) for limb in limbs]
        if hips_of(skeleton, parts) < 0:
            raise ChainError(messages.NO_HIPS_TO_GRAB(armature=ob.name))
        self.body = Body(skeleton, parts, heads)
        self.chains = {k: chains[limb.bones[-1]] for k, limb in enumerate(limbs) if limb.bones[-1] in chains}

    def drag_of(self, bone: str) -> Drag:
        """What is dragged with a bone: an end, a knee or elbow, the hips, the chest or the head."""
        body = self.body
        for k in body.bones.above(self.names.index(bone)):
            if body.neck and k in body.neck.links:
                return Drag("HEAD")
            if k in body.line[1:]:
                return Drag("CHEST")
            for number, limb in enumerate(body.limbs):
                if k in (limb.found.end, limb.found.toe) or (limb.found.end < 0 and k == limb.tip):
                    return Drag("LIMB", number)
                if k in limb.found.bones:
                    is_first = k not in limb.links[1:]
                    return Drag("CHEST" if limb in body.upper else "HIPS") if is_first else Drag("JOINT", number)
                if k == limb.girdle:
                    return Drag("CHEST")
        return Drag("HIPS")

    def check(self, moved: Iterable[int]) -> None:
        """Raise ChainError if something besides its channels poses one of these bones."""
        body = self.body.bones
        for k in sorted(set(moved) - body.rigged):
            pose_bone = self.ob.pose.bones[self.names[k]]
            made = body.frame(k) @ basis_of(body.turns[k], body.locations[k], body.scales[k])
            mover = next((each for each in movers_of([pose_bone]) if each.bone == pose_bone.name), None)
            if mover is not None:
                raise ChainError(messages.GRAB_CONSTRAINED(bone=pose_bone.name, constraint=mover.constraint.name))
            size = np.linalg.norm(made[:3, :3], axis=0).max()
            far = np.abs(made - body.poses[k]) / np.array([size, size, size, self.body.size])
            if far.max() > _APART:
                raise ChainError(messages.GRAB_NOT_BY_CHANNELS(bone=pose_bone.name))
            if not are_even(body.frame(k)[None] * _unmirrored(body.frame(k))):
                raise ChainError(messages.GRAB_UNEVEN(bone=pose_bone.name))


def _unmirrored(matrix: np.ndarray) -> np.ndarray:
    sign = -1.0 if np.linalg.det(matrix[:3, :3]) < 0.0 else 1.0
    return np.array((sign, sign, sign, 1.0))


def _has_links(limb: FoundLimb) -> bool:
    return len(limb.bones) - len(limb.segments) >= 2


def _parts(limb: FoundLimb, index: dict[str, int]) -> FoundParts:
    return FoundParts(
        limb.kind,
        limb.side,
        limb.place,
        tuple(index[name] for name in limb.bones),
        frozenset(index[name] for name in limb.segments),
        index.get(limb.end, -1),
        index.get(limb.toe, -1),
        limb.rides,
    )


def _skeleton(
    ob: bpy.types.Object, evaluated: bpy.types.Object, index: dict[str, int], rigged: frozenset[int]
) -> Skeleton:
    names = [*index]
    shown = [evaluated.pose.bones[name] for name in names]
    bones = [ob.data.bones[name] for name in names]
    parents = [index[bone.parent.name] if bone.parent else -1 for bone in bones]
    at_rest = [array_of(bone.matrix_local) for bone in bones]
    rests = [
        rest if parent < 0 else np.linalg.solve(at_rest[parent], rest)
        for rest, parent in zip(at_rest, parents, strict=True)
    ]
    up = evaluated.matrix_world.to_3x3().inverted_safe() @ Vector((0.0, 0.0, 1.0))
    return Skeleton(
        names,
        parents,
        [bone.use_connect for bone in bones],
        [array_of(bone.matrix) for bone in shown],
        rests,
        [point(bone.tail) for bone in shown],
        _turns([ob.pose.bones[name] for name in names]),
        [point(ob.pose.bones[name].location) for name in names],
        [point(ob.pose.bones[name].scale) for name in names],
        point(up.normalized()),
        rigged,
    )


def _turns(bones: Sequence[bpy.types.PoseBone]) -> list[Turn]:
    """What the rotation channels hold, in double precision."""
    turns: list[Turn] = [(1.0, 0.0, 0.0, 0.0)] * len(bones)
    modes = {bone.rotation_mode for bone in bones}
    for mode in modes:
        rows = [k for k, bone in enumerate(bones) if bone.rotation_mode == mode]
        numbers = np.array([raw_values(bones[k], mode) for k in rows], float).reshape(-1, channel_of(mode)[1])
        for k, turn in zip(rows, quaternions_of(numbers, mode).tolist(), strict=True):
            turns[k] = tuple(turn)
    return turns
