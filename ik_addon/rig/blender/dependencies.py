"""What an object or a bone depends on: parents, constraints, Blender's own IK, and drivers."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import bpy

from ... import messages
from ...solvers import ChainError
from .animation import animated_paths, bone_of_path, is_animated, is_driven, placing_drivers
from .armatures import bones_below


def carriers(ob: bpy.types.Object, bone_name: str = "") -> Iterator[tuple[bpy.types.Object, bpy.types.PoseBone]]:
    """The bones that move an object, or a bone of it, nearest first, each with its armature object (original).

    A bone carries itself and what hangs below it; an object parented to a bone hangs on that bone, and an armature
    object's bones move with whatever moves the object. Constraints are not followed.
    """
    original, visited = ob.original, set()
    while original is not None and original not in visited:
        visited.add(original)
        bone = original.pose.bones.get(bone_name) if bone_name and original.pose else None
        while bone is not None:
            yield original, bone
            bone = bone.parent
        bone_name = original.parent_bone if original.parent_type == "BONE" else ""
        original = original.parent


_HOLDING = {
    "CLAMP_TO",
    "COPY_SCALE",
    "FLOOR",
    "LIMIT_DISTANCE",
    "LIMIT_LOCATION",
    "LIMIT_ROTATION",
    "LIMIT_SCALE",
    "MAINTAIN_VOLUME",
}
"""Kinds of constraints that size a bone, or hold it back at a border: within that, a chain places it."""
_OWN_IK = {"IK", "SPLINE_IK"}


_TURNING = {"COPY_ROTATION", "COPY_SCALE", "LIMIT_ROTATION", "LIMIT_SCALE", "MAINTAIN_VOLUME"}
"""Kinds of constraints that turn or size a bone, and do so alike wherever it is."""


class Mover(NamedTuple):
    """A constraint that moves a bone after its chain was solved.

    bone: name of the moved bone.
    owner: the bone that has the constraint: the moved one, or one below it.
    """

    bone: str
    owner: bpy.types.PoseBone
    constraint: bpy.types.Constraint

    @property
    def is_placing(self) -> bool:
        """True if it decides where the bone is or how it is turned; False if it only limits that."""
        return _is_placing(self.constraint)

    @property
    def source(self) -> str:
        """Name of the bone of the same armature that the moved bone follows; "" if it follows anything else."""
        if self.constraint.type in _OWN_IK:
            return ""
        aims = getattr(self.constraint, "targets", None) or [self.constraint]
        found = (aim.subtarget for aim in aims if getattr(aim, "target", None) == self.owner.id_data)
        return next(filter(None, found), "")


def movers_of(bones: Sequence[bpy.types.PoseBone]) -> Iterator[Mover]:
    """The constraints that act on bones of a limb (root first): their own, then IK of bones below the root."""
    for bone in bones:
        yield from (Mover(bone.name, bone, constraint) for constraint in bone.constraints if _acts(constraint))
    names = {bone.name for bone in bones}
    for below in bones_below(bones[0]):
        for constraint in () if below.name in names else below.constraints:
            taken = names & taken_by(constraint, below)
            if taken and _acts(constraint):
                yield Mover(min(taken), below, constraint)


def is_placed(bones: Sequence[bpy.types.PoseBone]) -> bool:
    """True if a constraint on one of these bones decides where it is or how it is turned."""
    return any(_is_placing(each) and _acts(each) for bone in bones for each in bone.constraints)


def goes_along(bone: bpy.types.PoseBone) -> bool:
    """True if a bone goes as far as its parent does that is not turned, whatever its own constraints do."""
    return all(each.mute or each.type in _TURNING for each in bone.constraints)


def is_rigify(ob: bpy.types.Object) -> bool:
    """True if Rigify generated the armature of an object."""
    return ob.data.get("rig_id") is not None


def check_unmoved(bones: Sequence[bpy.types.PoseBone]) -> None:
    """Raise ChainError if constraints or drivers place these bones (root first), so that no chain could."""
    ob = bones[0].id_data
    for mover in movers_of(bones):
        if mover.is_placing:
            raise ChainError(why_placed(mover))
    for bone in bones:
        if is_driven(ob, bone, "rotation"):
            raise ChainError(messages.TURNED_BY_DRIVER(bone=bone.name))


def why_placed(mover: Mover) -> str:
    """Why no chain can place a bone that this constraint places, and what to do instead."""
    bone, constraint = mover.bone, mover.constraint
    if constraint.type == "IK":
        return messages.HAS_IK(bone=mover.owner.name, constraint=constraint.name)
    if mover.source and is_rigify(mover.owner.id_data):
        return messages.MOVED_BY_RIGIFY(bone=bone, mover=mover.source)
    if mover.source:
        return messages.FOLLOWS_BONE(bone=bone, mover=mover.source, constraint=constraint.name)
    return messages.PLACED_BY_CONSTRAINT(bone=bone, constraint=constraint.name)


def _acts(constraint: bpy.types.Constraint) -> bool:
    # One that has nothing to read, for example, is not valid and moves nothing.
    return constraint.enabled and constraint.is_valid and constraint.influence > 0.0


def may_act(constraint: bpy.types.Constraint, animated: Collection[str]) -> bool:
    """Whether a constraint acts, or may at another frame. animated: the paths that animation sets."""
    if constraint.mute and not animated:
        # So is the tie of each chain: its path takes longer than the rest.
        return False
    path = constraint.path_from_id()
    is_on = not constraint.mute or f"{path}.mute" in animated or f"{path}.enabled" in animated
    return is_on and (constraint.influence > 0.0 or f"{path}.influence" in animated)


def _is_placing(constraint: bpy.types.Constraint) -> bool:
    return constraint.type not in _HOLDING


def taken_by(constraint: bpy.types.Constraint, bone: bpy.types.PoseBone) -> set[str]:
    """Names of the bones that Blender's own IK on a bone poses, of those above it and of itself."""
    if constraint.type not in _OWN_IK or constraint.target is None:
        return set()
    taken = [bone, *bone.parent_recursive]
    if not getattr(constraint, "use_tail", True):
        taken = taken[1:]
    return {each.name for each in (taken[: constraint.chain_count] if constraint.chain_count else taken)}


_TURNING_ONLY = {"COPY_ROTATION", "LIMIT_ROTATION", "DAMPED_TRACK", "LOCKED_TRACK", "TRACK_TO"}
"""Kinds of constraints that only turn their owner, and leave it where it is."""
_READ_OF_CHAINS = ("rotation", "scale", "matrix")
"""How the names begin of what a chain writes of a bone, and a driver may read without looking where the bone is."""

Node = tuple[bpy.types.Object, str]
"""An original object, or with a name that bone of it."""


@dataclass(slots=True)
class Known:
    """What was looked at already. nodes: of each the bone, and what it follows. solvers: of armature objects the bones
    with Blender's own IK, each with the names of those that it poses."""

    nodes: dict[Node, tuple[bpy.types.PoseBone | None, list[tuple[Node, bool]]]] = field(default_factory=dict)
    solvers: dict[bpy.types.Object, list[tuple[str, set[str]]]] = field(default_factory=dict)


def followed_bones(
    ob: bpy.types.Object, bone_name: str = "", turned: bool = True, known: Known | None = None
) -> Iterator[tuple[bpy.types.Object, bpy.types.PoseBone]]:
    """The bones that move an object, or a bone of it, by any constraint or driver on the way, with those that carry
    it, each with its armature object (original).

    turned: whether it also counts what only turns it on the spot. known: to be shared by several questions at one time.
    """
    start: Node = (ob.original, bone_name)  # pyright: ignore[reportAssignmentType]
    known = known or Known()
    waiting, visited = [start], set()
    while waiting:
        node = waiting.pop()
        if node in visited:
            continue
        visited.add(node)
        if node == start and not turned:
            bone, followed = _look_at(node, turned, known)
        else:
            if node not in known.nodes:
                known.nodes[node] = _look_at(node, True, known)
            bone, followed = known.nodes[node]
        if bone is not None:
            yield node[0], bone
        for other, is_place in followed:
            if is_place:
                waiting.append(other)
            elif other[0].pose and other[1] in other[0].pose.bones:
                yield other[0], other[0].pose.bones[other[1]]


def followed_nodes(
    ob: bpy.types.Object, bone_name: str = "", visited: set[Node] | None = None, known: Known | None = None
) -> set[Node]:
    """An object or bone with all objects and bones that move it: what carries it, its constraints and its drivers.

    visited: nodes that were found before, which are added to. known: to be shared by several questions at one time.
    """
    waiting: list[Node] = [(ob.original, bone_name)]  # pyright: ignore[reportAssignmentType]
    visited = set() if visited is None else visited
    known = known or Known()
    while waiting:
        node = waiting.pop()
        if node not in visited:
            visited.add(node)
            waiting += [other for other, _ in _look_at(node, True, known)[1]]
    return visited


def _look_at(node: Node, turned: bool, known: Known) -> tuple[bpy.types.PoseBone | None, list[tuple[Node, bool]]]:
    """The bone of a node, and what the node follows, each with whether it is where that is."""
    owner, name = node
    bone = owner.pose.bones.get(name) if name and owner.pose else None
    if name and bone is None:
        return None, []
    followed = [*_carriers(owner, bone), *_solvers(owner, bone, known)]
    return bone, [*((each, True) for each in followed), *_followed(owner, bone, turned)]


def _carriers(owner: bpy.types.Object, bone: bpy.types.PoseBone | None) -> list[Node]:
    """What carries a bone or, without, an object."""
    if bone is not None:
        return [(owner, bone.parent.name if bone.parent else "")]
    if owner.parent is None:
        return []
    return [(owner.parent, owner.parent_bone if owner.parent_type == "BONE" else "")]


def _solvers(owner: bpy.types.Object, bone: bpy.types.PoseBone | None, known: Known) -> Iterator[Node]:
    """The bones whose own IK by Blender poses a bone above them too: it begins with how they are posed."""
    if bone is None:
        return
    # Blender's own answer, is_in_ik_chain, ends 4.2 to 5.0 where bones have come or gone that were not evaluated yet.
    if owner not in known.solvers:
        animated = set(animated_paths(owner))
        known.solvers[owner] = [
            (each.name, taken_by(constraint, each))
            for each in owner.pose.bones
            if each.constraints
            for constraint in each.constraints
            if constraint.type == "IK" and may_act(constraint, animated)
        ]
    yield from ((owner, solver) for solver, taken in known.solvers[owner] if bone.name in taken)


def _followed(owner: bpy.types.Object, bone: bpy.types.PoseBone | None, turned: bool) -> Iterator[tuple[Node, bool]]:
    """What the constraints and drivers of an object or bone read, and whether it is where that is."""
    for constraint in (bone or owner).constraints:
        if constraint.mute or (not turned and constraint.type in _TURNING_ONLY) or _is_idle(owner, constraint):
            continue
        aims = getattr(constraint, "targets", None) or [constraint]
        for aim in aims:
            if isinstance(getattr(aim, "target", None), bpy.types.Object):
                yield (aim.target, getattr(aim, "subtarget", "")), True
        if isinstance(getattr(constraint, "pole_target", None), bpy.types.Object):
            yield (constraint.pole_target, constraint.pole_subtarget), True
    for driver in placing_drivers(owner, bone.name if bone else "", turned):
        for variable in driver.variables:
            for aim in variable.targets:
                if not isinstance(aim.id, bpy.types.Object):
                    continue
                if variable.type != "SINGLE_PROP":
                    yield (aim.id, aim.bone_target), True
                    continue
                name, what = bone_of_path(aim.data_path)
                if not name:
                    yield (aim.id, ""), True
                elif what.startswith(_READ_OF_CHAINS):
                    yield (aim.id, name), False


def _is_idle(owner: bpy.types.Object, constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint has no influence, nor ever gets any."""
    return constraint.influence == 0.0 and not is_animated(owner, f"{constraint.path_from_id()}.influence")


_CHANNELS = ("location", "rotation", "scale", "matrix_basis")
"""How the names of a bone's own channels begin."""


def reader_of(ob: bpy.types.Object, bones: Collection[str]) -> tuple[str, str] | None:
    """Names of a data-block whose driver reads channels of one of an armature's bones, and of that bone; None: none.

    Only drivers of the armature and of the objects parented to it, as those of corrective shape keys are.
    """
    for owner in _owners(ob):
        for curve in owner.animation_data.drivers if owner.animation_data else ():
            for bone in _read_by(curve.driver, ob):
                if bone in bones:
                    return owner.name, bone
    return None


def _owners(ob: bpy.types.Object) -> Iterator[bpy.types.ID]:
    for each in (ob, *ob.children):
        yield each
        if each.data is not None:
            yield each.data
            shapes = getattr(each.data, "shape_keys", None)
            if shapes is not None:
                yield shapes


def _read_by(driver: bpy.types.Driver, ob: bpy.types.Object) -> Iterator[str]:
    """Names of the bones of an armature object whose channels a driver reads."""
    for variable in driver.variables:
        for target in variable.targets:
            if target.id != ob:
                continue
            if variable.type == "TRANSFORMS" and target.transform_space == "TRANSFORM_SPACE":
                yield target.bone_target
            elif variable.type == "SINGLE_PROP":
                bone, channel = bone_of_path(target.data_path)
                if channel.startswith(_CHANNELS):
                    yield bone
