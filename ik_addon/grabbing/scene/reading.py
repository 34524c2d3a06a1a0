"""A body, read from an armature object as it is evaluated."""

import re
from collections.abc import Iterable, Sequence
from math import atan2, pi, tau

import bpy
import numpy as np
from mathutils import Vector

from ... import messages
from ...authoring.finding.limbs import FoundLimb, find_limbs
from ...rig.blender.dependencies import movers_of
from ...rig.blender.rotations import are_even, array_of, channel_of, quaternions_of, raw_values, turns_in
from ...rig.model.limb import known_bones, limits_of
from ...rig.model.order import live_tips
from ...solvers import ChainError
from ..solving.body import Body, hips_of
from ..solving.drag import Drag
from ..solving.geometry import Point, Turn, unit
from ..solving.limb import FoundParts
from ..solving.limits import JointLimits
from ..solving.skeleton import Skeleton, basis_of, point

_HEAD = re.compile(r"(?<![a-z])(head|kopf|cabeza|tete|testa)(?![a-z]*track|[a-z]*top)")
_NOISE = 1e-3
"""Slack of `are_even`: clips come with scale that is uneven by a ten thousandth."""
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
        found = find_limbs(ob.data.bones, arms=True, posed=posed).limbs
        limbs = [limb for limb in found if len(limb.bones) - len(limb.segments) >= 2]
        tips = [tip for tip in live_tips(ob) if ob.pose.bones[tip].analytic_ik_influence > 0.0]
        chains = {bone.name: tip for tip in tips for bone in known_bones(ob.pose.bones[tip])}
        rigged = [limb for limb in limbs if limb.bones[-1] in chains]
        posed_by_chains = {*chains, *(name for limb in rigged for name in (*limb.bones, limb.end, limb.toe) if name)}
        skeleton = _skeleton(ob, evaluated, index, limbs, frozenset(index[name] for name in posed_by_chains))
        heads = [k for k, name in enumerate(self.names) if _HEAD.search(name.lower())]
        parts = [_parts(limb, index) for limb in limbs]
        if hips_of(skeleton, parts) < 0:
            raise ChainError(messages.NO_HIPS_TO_GRAB(armature=ob.name))
        self.body = Body(skeleton, parts, heads)
        self.chains = {k: chains[limb.bones[-1]] for k, limb in enumerate(limbs) if limb.bones[-1] in chains}
        parents = [*skeleton.parents]
        self._forks = {bone for bone in parents if parents.count(bone) > 1} | {*self.body.line, -1}
        named = [(*limb.found.bones, limb.found.end, limb.found.toe, limb.girdle) for limb in self.body.limbs]
        self._parts = {bone for row in named for bone in row} | {*(self.body.neck.links if self.body.neck else ())}

    def row_to(self, bone: int) -> tuple[int, ...]:
        """The bones from the last fork, or the line of the body, to one; () if it and those below it are no row."""
        bones = self.body.bones
        row = [bone]
        while bones.parents[row[-1]] not in self._forks:
            row.append(bones.parents[row[-1]])
        goes_on = (len(row) > 1 or bone in bones.parents) and self._parts.isdisjoint(row)
        return tuple(reversed(row)) if goes_on and bones.parents[row[-1]] in (*self.body.line, -1) else ()

    def drag_of(self, bone: str, look: bool = False) -> Drag:
        """What is dragged with a bone: an end, a knee or elbow, the hips, the chest, the head, or a tail. look: to
        where the head looks. Raises ChainError if the armature has nothing of these."""
        body, own = self.body, self.names.index(bone)
        for k in body.bones.above(own):
            if body.neck and k in body.neck.links:
                return Drag("GAZE" if look else "HEAD")
            if k in body.line and k != own:
                row = self.row_to(own)
                if row:
                    return Drag("ROW", row=row)
            if k in body.line[1:]:
                return Drag("CHEST")
            for number, limb in enumerate(body.limbs):
                if k in (limb.found.end, limb.found.toe) or (limb.found.end < 0 and k == limb.tip):
                    return Drag("LIMB", number)
                if k in limb.found.bones:
                    is_first = k not in limb.links[1:]
                    return Drag("HIPS" if limb.found.is_lower else "CHEST") if is_first else Drag("JOINT", number)
                if k == limb.girdle:
                    return Drag("CHEST")
        row = () if body.limbs else self.row_to(own)
        if not body.limbs and not row:
            raise ChainError(messages.NO_LIMB_TO_GRAB(armature=self.ob.name))
        return Drag("ROW", row=row) if row else Drag("HIPS")

    def check(self, moved: Iterable[int]) -> None:
        """Raise ChainError if something besides its channels poses one of these bones."""
        body = self.body.bones
        for k in sorted(set(moved) - body.rigged):
            pose_bone = self.ob.pose.bones[self.names[k]]
            made = body.frames[k] @ basis_of(body.turns[k], body.locations[k], body.scales[k])
            mover = next((each for each in movers_of([pose_bone]) if each.bone == pose_bone.name), None)
            if mover is not None:
                raise ChainError(messages.GRAB_CONSTRAINED(bone=pose_bone.name, constraint=mover.constraint.name))
            size = np.linalg.norm(made[:3, :3], axis=0).max()
            far = np.abs(made - body.poses[k]) / np.array([size, size, size, self.body.size])
            if pose_bone.analytic_ik_body_influence > 0.0:
                # It follows its limbs, and will again: by that it is beside its channels.
                far[:, 3] = 0.0
            if far.max() > _APART:
                raise ChainError(messages.GRAB_NOT_BY_CHANNELS(bone=pose_bone.name))
            frame = body.frames[k]
            mirrored = np.diag((*[np.sign(np.linalg.det(frame[:3, :3]))] * 3, 1.0))
            if not are_even((frame @ mirrored)[None], _NOISE):
                above = pose_bone.parent_recursive or [pose_bone]
                uneven = max(above, key=lambda each: max(each.scale) - min(each.scale))
                raise ChainError(messages.GRAB_UNEVEN(bone=uneven.name))


def up_of(evaluated: bpy.types.Object) -> Vector:
    """The world's up in the space of an armature object."""
    return (evaluated.matrix_world.to_3x3().inverted_safe() @ Vector((0.0, 0.0, 1.0))).normalized()


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
    ob: bpy.types.Object,
    evaluated: bpy.types.Object,
    index: dict[str, int],
    limbs: Sequence[FoundLimb],
    rigged: frozenset[int],
) -> Skeleton:
    own = [ob.pose.bones[name] for name in index]
    shown = [evaluated.pose.bones[name] for name in index]
    parents = [index[bone.parent.name] if bone.parent else -1 for bone in own]
    # The last one is what those without a parent are in: the armature.
    poses, at_rest = (
        np.array([*map(array_of, matrices), np.eye(4)])
        for matrices in ((bone.matrix for bone in shown), (bone.bone.matrix_local for bone in own))
    )
    rests = np.linalg.solve(at_rest[parents], at_rest[:-1])
    frames = poses[parents] @ rests
    # Arms that something else moves do not hang.
    moved = {limb.bones[0] for limb in limbs if any(movers_of([ob.pose.bones[limb.bones[0]]]))}
    turns = _turns(own)
    return Skeleton(
        [*index],
        parents,
        [bone.bone.use_connect for bone in own],
        poses[:-1],
        rests,
        at_rest[:-1],
        frames,
        [tuple(turn) for turn in turns_in(frames).tolist()],
        [point(bone.tail) for bone in shown],
        turns,
        [point(bone.location) for bone in own],
        [point(bone.scale) for bone in own],
        point(up_of(evaluated)),
        rigged,
        (
            frozenset(k for k, bone in enumerate(own) if any(bone.lock_rotation) or bone.name in moved),
            frozenset(k for k, bone in enumerate(own) if any(bone.lock_location)),
        ),
        hinges={
            index[name]: hinge
            for name in (name for limb in limbs for name in limb.bones[1:])
            if (hinge := _hinge(ob.pose.bones[name], frames[index[name]], turns[index[name]]))
        },
        limits={k: each for k, bone in enumerate(own) if (each := _limits(bone, turns[k]))},
    )


def _limits(bone: bpy.types.PoseBone, turn: Turn) -> JointLimits | None:
    """What its limits and locks for IK, and locks of some of its rotation, leave free; None: all, or nothing."""
    limits, locked = limits_of(bone), [axis for axis in range(3) if bone.lock_rotation[axis]]
    ranges = {axis: getattr(limits, "xyz"[axis]) for axis in range(3)} if limits else {}
    ranges = {axis: (least, most) for axis, (least, most) in ranges.items() if most - least < tau}
    order = "XYZ" if bone.rotation_mode in ("QUATERNION", "AXIS_ANGLE") else bone.rotation_mode
    return JointLimits(turn, ranges, locked, order) if (ranges or locked) and len(locked) < 3 else None


def _hinge(bone: bpy.types.PoseBone, frame: np.ndarray, turn: Turn) -> tuple[Point, float, float] | None:
    """The axis about which a bone bends, in armature space, and by how much it may from its pose; None: it is free."""
    limits = limits_of(bone)
    free: dict[int, tuple[float, float]] = {}
    for axis, number in (("x", 0), ("z", 2)):
        least, most = getattr(limits, axis) if limits else (-pi, pi)
        angle = (2.0 * atan2(turn[1 + number], turn[0]) + pi) % tau - pi
        free[number] = (0.0, 0.0) if bone.lock_rotation[number] else (least - angle, most - angle)
    widths = {number: most - least for number, (least, most) in free.items()}
    if min(widths.values()) >= tau:
        return None
    # One that is locked leaves the other; else the one that is limited.
    number = (
        max(widths, key=lambda each: widths[each]) if 0.0 in widths.values() else min(widths, key=widths.__getitem__)
    )
    least, most = free[number]
    return unit(point(frame[:3, number])), least, most


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
