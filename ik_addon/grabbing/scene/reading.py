"""A body, read from an armature object as it is evaluated."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import tau

import bpy
import numpy as np
from mathutils import Vector

from ... import messages
from ...authoring.finding.limbs import FoundLimb, find_limbs
from ...planting.scene.skin import skins_of_bones
from ...rig.blender.dependencies import carriers, movers_of
from ...rig.blender.rotations import array_of, quaternion_of, raw_values, turns_in
from ...rig.data.settings import pin_of
from ...rig.model.limb import known_bones, limits_of
from ...rig.model.order import live_tips
from ...solvers import ChainError
from ..solving.body import Body
from ..solving.drag import Drag
from ..solving.geometry import Point, Turn, normalized
from ..solving.limits import LOCKED, JointLimits
from ..solving.row import FoundParts
from ..solving.skeleton import Skeleton, basis_of, point

_HEAD = re.compile(r"(?<![a-z])(head|kopf|cabeza|tete|testa)(?![a-z]*track|[a-z]*top)")
_UNEVEN = 0.05
"""Part by which the axes of a bone's scale may differ: clips of stretched limbs differ by 3 %."""
_APART = 1e-3
"""By which a pose may differ from what its channels make, in matrix elements, lengths in those of its own bones."""


class GrabBody:
    """A body of an armature object, by the names of its bones, in the pose before: plain data.

    names: of the bones, by number. chains: the tip of the live chain of each limb that has one, by the limb's number.
    """

    def __init__(self, ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> None:
        self._armature = ob.name
        evaluated = ob.evaluated_get(depsgraph)
        self.world = evaluated.matrix_world.copy()
        index = {bone.name: k for k, bone in enumerate(ob.pose.bones)}
        self.names = [*index]
        posed = {bone.name: bone.head.copy() for bone in evaluated.pose.bones}
        found = find_limbs(ob.data.bones, arms=True, posed=posed).limbs
        limbs = [limb for limb in found if len(limb.bones) - len(limb.segments) >= 2]
        tips = [tip for tip in live_tips(ob) if ob.pose.bones[tip].analytic_ik_influence > 0.0]
        chains = {bone.name: tip for tip in tips for bone in known_bones(ob.pose.bones[tip])}
        self.chains = {k: chains[limb.bones[-1]] for k, limb in enumerate(limbs) if limb.bones[-1] in chains}
        rigged = {name for k in self.chains for name in (*limbs[k].bones, limbs[k].end, limbs[k].toe) if name}
        # Arms that something else moves do not hang.
        moved = {limb.bones[0] for limb in limbs if any(movers_of([ob.pose.bones[limb.bones[0]]]))}
        skeleton = _skeleton(ob, evaluated, index, rigged.union(chains), moved)
        heads = [k for k, name in enumerate(self.names) if _HEAD.search(name.lower())]
        body = self.body = Body(skeleton, [_parts(limb, index) for limb in limbs], heads)
        if body.hips < 0:
            raise ChainError(messages.NO_HIPS_TO_GRAB(armature=ob.name))
        neck = body.neck.links if body.neck else ()
        carried = [self.names[bone] for bone in (*body.line, *neck)]
        self._anchored = {k for k, tip in self.chains.items() if not _rides_on(ob.pose.bones[tip], carried)}
        self._drags = dict.fromkeys(body.line[1:], Drag("CHEST")) | dict.fromkeys(neck, Drag("HEAD"))
        for k, limb in enumerate(body.limbs):
            own, lower = limb.found, limb.found.bones.index(limb.links[1])
            whole = dict.fromkeys((limb.girdle, *own.bones[:lower]), Drag("HIPS" if limb.is_lower else "CHEST"))
            self._drags |= whole | dict.fromkeys(own.bones[lower:], Drag("JOINT", k))
            self._drags |= dict.fromkeys((limb.joint, own.toe), Drag("LIMB", k))
        self._drags.pop(-1, None)

    def skins(self, ob: bpy.types.Object) -> dict[int, np.ndarray]:
        """The outermost points (n, 3) of the skin of trunk, neck and head, with all that is on it, in armature space in
        the pose before. What hangs below them, such as a cape, is left out: it may lie on the ground."""
        body, bones = self.body, self.body.bones
        neck = body.neck.links if body.neck else ()
        owners = {self.names[bone]: bone for bone in (*body.line, *neck)}
        if neck:
            on_head = (bone for bone in range(len(self.names)) if neck[-1] in bones.above(bone))
            owners |= {self.names[bone]: neck[-1] for bone in on_head}
        skins = skins_of_bones(ob, {name: self.names[bone] for name, bone in owners.items()})
        found = {owners[name]: points for name, points in skins.items()}
        posed = {bone: bones.poses[bone] @ np.linalg.inv(bones.at_rest[bone]) for bone in found}
        found = {bone: points @ posed[bone][:3, :3].T + posed[bone][:3, 3] for bone, points in found.items()}
        ends = np.minimum(np.array(bones.heads) @ bones.up, np.array(bones.tails) @ bones.up) - body.depth
        kept = {bone: points[points @ bones.up >= ends[bone]] for bone, points in found.items()}
        return {bone: points for bone, points in kept.items() if len(points)}

    def joint_bone(self, k: int) -> str:
        """The bone at the end of a limb, which has its pin."""
        return self.names[self.body.limbs[k].joint]

    def joints(self) -> dict[str, Drag]:
        """What can be dragged, by the bones that are shown for it."""
        body, parents = self.body, self.body.bones.parents
        bones = [bone for bone in range(len(parents)) if bone not in parents and len(self._row_to(bone)) > 1]
        if body.limbs:
            bones += [body.hips, body.chest, *(body.neck.links[-1:] if body.neck else ())]
            bones += [limb.links[1] for k, limb in enumerate(body.limbs) if k not in self.chains]
            bones += [limb.joint for limb in body.limbs]
        return {self.names[bone]: self.drag_of(self.names[bone]) for bone in bones}

    def _is_tip(self, drag: Drag) -> bool:
        """Whether the tail of a bone is dragged: the end of a tail, or of a limb without hand or foot."""
        return drag.kind == "ROW" or (drag.kind == "LIMB" and self.body.limbs[drag.limb].found.end < 0)

    def place(self, evaluated: bpy.types.Object, bone: str, drag: Drag) -> Vector:
        """Where a joint is now, in the world."""
        shown = evaluated.pose.bones[bone]
        return evaluated.matrix_world @ (shown.tail if self._is_tip(drag) else shown.head)

    def start(self, drag: Drag) -> Vector:
        """Where what is dragged is in the pose before, in the world."""
        return self.world @ Vector(drag.start(self.body))

    def goal(self, bone: str, drag: Drag, location_world: Vector) -> Vector:
        """Where what is dragged goes if the head of a bone, or its tip, shall go to a place, both in the world; or if
        the head shall look there."""
        if self._is_tip(drag) or drag.kind == "GAZE":
            return location_world
        head = self.body.bones.heads[self.names.index(bone)]
        return self.start(drag) + location_world - self.world @ Vector(head)

    def standing(self, ob: bpy.types.Object, heads: Sequence[Point], tails: Sequence[Point]) -> set[int]:
        """The legs of an armature object that are on the ground where its bones begin and end there."""
        free = [k for k in range(len(self.body.limbs)) if pin_of(ob.pose.bones[self.joint_bone(k)]) == "FREE"]
        return self.body.standing(heads, tails, free)

    def pin(self, ob: bpy.types.Object, k: int, standing: Collection[int]) -> str | None:
        """What of a limb's end is held, None for nothing. standing: legs that are held where nothing else is said."""
        kind = pin_of(ob.pose.bones[self.joint_bone(k)])
        if kind == "AUTO":
            # A control stands where it is, unless the body carries it.
            return "BOTH" if k in (self._anchored if k in self.chains else standing) else None
        return None if kind == "FREE" else kind

    def _row_to(self, bone: int) -> tuple[int, ...]:
        """The bones from the last fork, or the line of the body, to one; () if it and those below it are no row."""
        parents, line = self.body.bones.parents, self.body.line
        row = [bone]
        while parents[row[-1]] not in (*line, -1) and parents.count(parents[row[-1]]) == 1:
            row.append(parents[row[-1]])
        parts = {*self._drags, *(line if self.body.limbs else ())}
        is_row = parents[row[-1]] in (*line, -1) and parts.isdisjoint(row) and (len(row) > 1 or bone in parents)
        return tuple(reversed(row)) if is_row else ()

    def is_sheared(self, ob: bpy.types.Object) -> bool:
        """Whether legs are sheared, by bones in or above them that are scaled unevenly: then nothing can be grabbed."""
        legs = [limb.links[-1] for limb in self.body.limbs if limb.is_lower]
        return any(_shears(above) for leg in legs for above in ob.pose.bones[self.names[leg]].parent_recursive)

    def drag_of(self, bone: str, look: bool = False) -> Drag:
        """What is dragged with a bone: an end, a knee or elbow, the hips, the chest, the head, or a tail. look: to
        where the head looks. Raises ChainError if there is no such bone, or nothing of these."""
        if bone not in self.names:
            raise ChainError(messages.NO_SUCH_BONE(armature=self._armature, bone=bone))
        own = self.names.index(bone)
        if row := self._row_to(own):
            return Drag("ROW", row=row)
        if not self.body.limbs:
            raise ChainError(messages.NO_LIMB_TO_GRAB(armature=self._armature))
        drag = next((self._drags[k] for k in self.body.bones.above(own) if k in self._drags), Drag("HIPS"))
        return Drag("GAZE") if look and drag.kind == "HEAD" else drag

    def check(self, ob: bpy.types.Object, moved: Iterable[int]) -> None:
        """Raise ChainError if something besides its channels poses one of these bones."""
        body = self.body.bones
        for k in sorted({*moved} - body.rigged):
            pose_bone, frame = ob.pose.bones[self.names[k]], body.frames[k]
            made = frame @ basis_of(body.turns[k], body.locations[k], body.scales[k])
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
            if uneven := next(filter(_shears, pose_bone.parent_recursive), None):
                raise ChainError(messages.GRAB_UNEVEN(bone=uneven.name))


def _shears(bone: bpy.types.PoseBone) -> bool:
    """Whether a bone shears those below it by so much that their ends would not be brought where they belong."""
    sizes = [*map(abs, bone.scale)]
    return min(sizes) <= (1.0 - _UNEVEN) * max(sizes)


def _rides_on(tip: bpy.types.PoseBone, bones: Collection[str]) -> bool:
    """Whether one of these bones carries the target of a chain."""
    target = tip.analytic_ik_target
    carried = carriers(target, tip.analytic_ik_subtarget) if target else ()
    return any(owner == tip.id_data and bone.name in bones for owner, bone in carried)


def _parts(limb: FoundLimb, index: Mapping[str, int]) -> FoundParts:
    bones, links = [index[name] for name in limb.bones], [index[n] for n in limb.bones if n not in limb.segments]
    end, toe = (index.get(name, -1) for name in (limb.end, limb.toe))
    return FoundParts(limb.kind, limb.side, limb.place, bones, links, end, toe, limb.rides)


def _skeleton(
    ob: bpy.types.Object,
    evaluated: bpy.types.Object,
    index: Mapping[str, int],
    rigged: Iterable[str],
    moved: Collection[str],
) -> Skeleton:
    own, shown = ob.pose.bones, evaluated.pose.bones
    parents = [index[bone.parent.name] if bone.parent else -1 for bone in own]
    # The last one is what those without a parent are in: the armature.
    poses = np.array([*(array_of(bone.matrix) for bone in shown), np.eye(4)])
    at_rest = np.array([*(array_of(bone.bone.matrix_local) for bone in own), np.eye(4)])
    flat = np.flatnonzero(np.linalg.det(at_rest[:-1]) == 0.0)
    if flat.size:
        raise ChainError(messages.BONE_TO_LENGTHEN(armature=ob.name, bone=own[flat[0]].name))
    rests = np.linalg.solve(at_rest[parents], at_rest[:-1])
    frames = poses[parents] @ rests
    modes = [bone.rotation_mode for bone in own]
    turns = [normalized(quaternion_of(raw_values(bone, mode), mode)) for bone, mode in zip(own, modes, strict=True)]
    up = evaluated.matrix_world.to_3x3().inverted_safe() @ Vector((0.0, 0.0, 1.0))
    limits = {k: each for k, bone in enumerate(own) if (each := _limits(bone, turns[k]))}
    return Skeleton(
        names=[*index],
        parents=parents,
        connected=[bone.bone.use_connect for bone in own],
        poses=poses[:-1],
        at_rest=at_rest[:-1],
        rests=rests,
        frames=frames,
        frame_turns=[normalized(turn) for turn in turns_in(frames).tolist()],
        tails=[point(bone.tail) for bone in shown],
        turns=turns,
        locations=[point(bone.location) for bone in own],
        scales=[point(bone.scale) for bone in own],
        up=point(up.normalized()),
        rigged=frozenset(index[name] for name in rigged),
        stiff=frozenset(k for k, bone in enumerate(own) if any(bone.lock_rotation) or bone.name in moved),
        fixed=frozenset(k for k, bone in enumerate(own) if any(bone.lock_location)),
        # What is locked as a whole is refused if it would turn.
        limits={k: each for k, each in limits.items() if not all(own[k].lock_rotation)},
        hinges={k: each.hinge for k, each in limits.items() if each.hinge},
    )


def _limits(bone: bpy.types.PoseBone, turn: Turn) -> JointLimits | None:
    """Its limits and locks for IK, and locks of its rotation; None: it is free."""
    limits, order = limits_of(bone), bone.rotation_mode if len(bone.rotation_mode) == 3 else "XYZ"
    ranges = dict(enumerate((limits.x, limits.y, limits.z))) if limits else {}
    ranges = {axis: (least, most) for axis, (least, most) in ranges.items() if most - least < tau}
    ranges |= {3 + axis: LOCKED for axis in range(3) if bone.lock_rotation[axis]}
    return JointLimits(turn, ranges, order) if ranges else None
