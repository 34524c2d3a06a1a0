"""The bones that an object or a bone follows by constraints and drivers, besides those that carry it (carriers.py)."""

from collections.abc import Iterator

import bpy

from .animation import animated_paths, bone_of_path, placing_drivers

_TURNING = {"COPY_ROTATION", "LIMIT_ROTATION", "DAMPED_TRACK", "LOCKED_TRACK", "TRACK_TO"}
"""Kinds of constraints that only turn their owner, and leave it where it is."""
_READ_OF_CHAINS = ("rotation", "scale", "matrix")
"""How the names begin of what a chain writes of a bone, and a driver may read without looking where the bone is."""

Node = tuple[bpy.types.Object, str]
"""An original object, or with a name that bone of it."""
Known = dict[Node, tuple[bpy.types.PoseBone | None, list[tuple[Node, bool]]]]
"""Of nodes that were looked at already the bone, and what they follow."""


def followed_bones(
    ob: bpy.types.Object, bone_name: str = "", turned: bool = True, known: Known | None = None
) -> Iterator[tuple[bpy.types.Object, bpy.types.PoseBone]]:
    """The bones that move an object, or a bone of it, by any constraint or driver on the way, with those that carry
    it, each with its armature object (original).

    turned: whether it also counts what only turns it on the spot. known: to be shared by several questions at one time.
    """
    start: Node = (ob.original, bone_name)  # pyright: ignore[reportAssignmentType]
    known = {} if known is None else known
    waiting, visited = [start], set()
    while waiting:
        node = waiting.pop()
        if node in visited:
            continue
        visited.add(node)
        if node == start and not turned:
            bone, followed = _look_at(node, turned)
        else:
            if node not in known:
                known[node] = _look_at(node, True)
            bone, followed = known[node]
        if bone is not None:
            yield node[0], bone
        for other, is_place in followed:
            if is_place:
                waiting.append(other)
            elif other[0].pose and other[1] in other[0].pose.bones:
                yield other[0], other[0].pose.bones[other[1]]


def followed_nodes(ob: bpy.types.Object, bone_name: str = "", visited: set[Node] | None = None) -> set[Node]:
    """An object or bone with all objects and bones that move it: what carries it, its constraints and its drivers.

    visited: nodes that were found before, which are added to.
    """
    waiting: list[Node] = [(ob.original, bone_name)]  # pyright: ignore[reportAssignmentType]
    visited = set() if visited is None else visited
    while waiting:
        node = waiting.pop()
        if node not in visited:
            visited.add(node)
            waiting += [other for other, _ in _look_at(node, True)[1]]
    return visited


def _look_at(node: Node, turned: bool) -> tuple[bpy.types.PoseBone | None, list[tuple[Node, bool]]]:
    """The bone of a node, and what the node follows, each with whether it is where that is."""
    owner, name = node
    bone = owner.pose.bones.get(name) if name and owner.pose else None
    if name and bone is None:
        return None, []
    return bone, [*((above, True) for above in _carriers(owner, bone)), *_followed(owner, bone, turned)]


def _carriers(owner: bpy.types.Object, bone: bpy.types.PoseBone | None) -> list[Node]:
    """What carries a bone or, without, an object."""
    if bone is not None:
        return [(owner, bone.parent.name if bone.parent else "")]
    if owner.parent is None:
        return []
    return [(owner.parent, owner.parent_bone if owner.parent_type == "BONE" else "")]


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
    return constraint.influence == 0.0 and f"{constraint.path_from_id()}.influence" not in animated_paths(owner)
