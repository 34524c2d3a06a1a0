"""The bones that an object or a bone follows by constraints and drivers, besides those that carry it (carriers.py)."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import bpy

from .animation import animated_paths, bone_of_path, is_animated, placing_drivers
from .movers import may_act, taken_by

_TURNING = {"COPY_ROTATION", "LIMIT_ROTATION", "DAMPED_TRACK", "LOCKED_TRACK", "TRACK_TO"}
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
        if constraint.mute or (not turned and constraint.type in _TURNING) or _is_idle(owner, constraint):
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
