"""What an object or a bone depends on: parents, constraints, Blender's own IK, and drivers.

And bones that go along with several others of their armature, by Blender's Armature constraint: where that takes them,
and which channels bring them elsewhere."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix

from ... import messages
from ...solvers import ChainError
from .animation import animated_paths, bone_of_path, drivers_of, is_animated, is_driven, placing_drivers
from .armatures import bones_below
from .rotations import array_of, pose_matrix


class ConstraintKind(NamedTuple):
    """What a kind of constraint does to its owner. The defaults are what any may do.

    moves: it may put it elsewhere; False: it turns or sizes it on the spot. places: it decides where it is, or how it
    is turned; False: it sizes it, or holds it back at a border, within which a chain places it. looks: how the owner is
    turned depends on where it is. takes: it poses bones above it too. asks: for more than animation, such as a camera,
    a clip or a surface.
    """

    moves: bool = True
    places: bool = True
    looks: bool = False
    takes: bool = False
    asks: bool = False


_UNKNOWN = ConstraintKind(asks=True)
CONSTRAINTS: dict[str, ConstraintKind] = {
    kind: row
    for row, kinds in (
        (ConstraintKind(), ("ACTION", "ARMATURE", "CHILD_OF", "COPY_LOCATION", "COPY_TRANSFORMS", "FOLLOW_PATH")),
        (ConstraintKind(), ("PIVOT", "STRETCH_TO", "TRANSFORM", "TRANSFORM_CACHE")),
        (ConstraintKind(moves=False), ("COPY_ROTATION",)),
        (ConstraintKind(moves=False, looks=True), ("DAMPED_TRACK", "LOCKED_TRACK", "TRACK_TO")),
        (ConstraintKind(moves=False, places=False), ("COPY_SCALE", "LIMIT_ROTATION", "LIMIT_SCALE", "MAINTAIN_VOLUME")),
        (ConstraintKind(places=False), ("CLAMP_TO", "FLOOR", "LIMIT_DISTANCE", "LIMIT_LOCATION")),
        (ConstraintKind(takes=True), ("IK", "SPLINE_IK")),
        (ConstraintKind(asks=True), ("CAMERA_SOLVER", "FOLLOW_TRACK", "OBJECT_SOLVER", "SHRINKWRAP")),
        # Since Blender 5.0.
        (ConstraintKind(asks=True), ("GEOMETRY_ATTRIBUTE",)),
    )
    for kind in kinds
}
"""All kinds of all versions of Blender."""


def kind_of(constraint: bpy.types.Constraint) -> ConstraintKind:
    """What a constraint does to its owner."""
    return CONSTRAINTS.get(constraint.type, _UNKNOWN)


def aims_of(constraint: bpy.types.Constraint) -> Iterator[tuple[bpy.types.Object, str]]:
    """The objects that a constraint names, each with the name of a bone of it, or ""."""
    found = [(each.target, each.subtarget) for each in getattr(constraint, "targets", ())]
    for ob, bone in (("target", "subtarget"), ("pole_target", "pole_subtarget")):
        found.append((getattr(constraint, ob, None), getattr(constraint, bone, "")))
    if "CUSTOM" in (constraint.owner_space, constraint.target_space):
        found.append((constraint.space_object, constraint.space_subtarget))
    yield from ((ob, bone) for ob, bone in found if isinstance(ob, bpy.types.Object))


def constraints_of(
    ob: bpy.types.Object,
) -> Iterator[tuple[bpy.types.Object | bpy.types.PoseBone, bpy.types.Constraint]]:
    """The constraints of an object and of its bones, each with its owner."""
    yield from ((ob, each) for each in ob.constraints)
    for bone in ob.pose.bones if ob.pose else ():
        if len(bone.constraints):
            yield from ((bone, each) for each in bone.constraints)


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


class Mover(NamedTuple):
    """A constraint that moves a bone, of this name, after its chain was solved. owner: the bone that has the
    constraint: the moved one, or one below it."""

    bone: str
    owner: bpy.types.PoseBone
    constraint: bpy.types.Constraint

    @property
    def is_placing(self) -> bool:
        """True if it decides where the bone is or how it is turned; False if it only limits that."""
        return kind_of(self.constraint).places

    @property
    def source(self) -> str:
        """Name of the bone of the same armature that the moved bone follows; "" if it follows anything else."""
        if kind_of(self.constraint).takes:
            return ""
        return next((bone for ob, bone in aims_of(self.constraint) if bone and ob == self.owner.id_data), "")


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
    return any(kind_of(each).places and _acts(each) for bone in bones for each in bone.constraints)


def goes_along(bone: bpy.types.PoseBone) -> bool:
    """True if a bone goes as far as its parent does that is not turned, whatever its own constraints do."""
    kinds = [kind_of(each) for each in bone.constraints if not each.mute]
    return not any(kind.moves or kind.looks for kind in kinds)


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


def taken_by(constraint: bpy.types.Constraint, bone: bpy.types.PoseBone) -> set[str]:
    """Names of the bones that Blender's own IK on a bone poses, of those above it and of itself."""
    if not kind_of(constraint).takes or constraint.target is None:
        return set()
    taken = [bone, *bone.parent_recursive]
    if not getattr(constraint, "use_tail", True):
        taken = taken[1:]
    return {each.name for each in (taken[: constraint.chain_count] if constraint.chain_count else taken)}


_READ_OF_CHAINS = ("rotation", "scale", "matrix")
"""How the names begin of what a chain writes of a bone, and a driver may read without looking where the bone is."""

Node = tuple[bpy.types.Object, str]
"""An original object, or with a name that bone of it."""
_Bone = tuple[bpy.types.Object, bpy.types.PoseBone]


@dataclass(slots=True)
class Known:
    """What was looked at already. nodes: what each follows, with whether it is where that is. solvers: of armature
    objects the bones with Blender's own IK, each with the names of those that it poses."""

    nodes: dict[Node, list[tuple[Node, bool]]] = field(default_factory=dict)
    solvers: dict[bpy.types.Object, list[tuple[str, set[str]]]] = field(default_factory=dict)

    def followed(self, node: Node, turned: bool = True) -> list[tuple[Node, bool]]:
        """What a node follows; turned: also what only turns it on the spot."""
        if not turned:
            return _look_at(node, False, self)
        if node not in self.nodes:
            self.nodes[node] = _look_at(node, True, self)
        return self.nodes[node]


def followed_bones(
    ob: bpy.types.Object, bone_name: str = "", turned: bool = True, known: Known | None = None
) -> Iterator[_Bone]:
    """The bones that move an object, or a bone of it, by any constraint or driver on the way, with those that carry
    it, each with its armature object (original).

    turned: whether it also counts what only turns it on the spot. known: to be shared by several questions at one time.
    """
    start: Node = (ob.original, bone_name)  # pyright: ignore[reportAssignmentType]
    for node in _walk(start, turned, known or Known(), set(), onward=False):
        bone = _bone_of(node)
        if bone is not None:
            yield node[0], bone


def followed_nodes(
    ob: bpy.types.Object, bone_name: str = "", visited: set[Node] | None = None, known: Known | None = None
) -> set[Node]:
    """An object or bone with all objects and bones that move it: what carries it, its constraints and its drivers.

    visited: nodes that were found before, which are added to. known: to be shared by several questions at one time.
    """
    start: Node = (ob.original, bone_name)  # pyright: ignore[reportAssignmentType]
    visited = set() if visited is None else visited
    for _ in _walk(start, True, known or Known(), visited, onward=True):
        pass
    return visited


def _walk(start: Node, turned: bool, known: Known, visited: set[Node], onward: bool) -> Iterator[Node]:
    """What moves a node, itself first. onward: also by what a driver reads without looking where it is."""
    waiting = [start]
    while waiting:
        node = waiting.pop()
        if node in visited:
            continue
        visited.add(node)
        yield node
        for other, is_place in known.followed(node, turned or node != start):
            if is_place or onward:
                waiting.append(other)
            else:
                yield other


def _bone_of(node: Node) -> bpy.types.PoseBone | None:
    owner, name = node
    return owner.pose.bones.get(name) if name and owner.pose else None


def _look_at(node: Node, turned: bool, known: Known) -> list[tuple[Node, bool]]:
    """What a node follows, each with whether it is where that is."""
    owner, bone = node[0], _bone_of(node)
    if node[1] and bone is None:
        return []
    followed = [*_carriers(owner, bone), *_solvers(owner, bone, known)]
    return [*((each, True) for each in followed), *_followed(owner, bone, turned)]


def _carriers(owner: bpy.types.Object, bone: bpy.types.PoseBone | None) -> list[Node]:
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
        is_on = constraint.influence or is_animated(owner, f"{constraint.path_from_id()}.influence")
        if is_on and not constraint.mute and (turned or kind_of(constraint).moves):
            yield from ((aim, True) for aim in aims_of(constraint))
    for driver in placing_drivers(owner, bone.name if bone else "", turned):
        for variable, aim in read_by(driver):
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


def read_by(driver: bpy.types.Driver) -> Iterator[tuple[bpy.types.DriverVariable, bpy.types.DriverTarget]]:
    """What a driver reads, each with the variable that it is."""
    yield from ((variable, aim) for variable in driver.variables for aim in variable.targets)


_CHANNELS = ("location", "rotation", "scale", "matrix_basis")
"""How the names of a bone's own channels begin."""


def reader_of(ob: bpy.types.Object, bones: Collection[str]) -> tuple[str, str] | None:
    """Names of a data-block whose driver reads channels of one of an armature's bones, and of that bone; None: none.

    Only drivers of the armature and of the objects parented to it, as those of corrective shape keys are.
    """
    for owner in _owners(ob):
        for curve in drivers_of(owner):
            for bone in _read_of(ob, curve.driver):
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


def _read_of(ob: bpy.types.Object, driver: bpy.types.Driver) -> Iterator[str]:
    """Names of the bones of an armature object whose channels a driver reads."""
    for variable, aim in read_by(driver):
        if aim.id == ob and variable.type == "TRANSFORMS" and aim.transform_space == "TRANSFORM_SPACE":
            yield aim.bone_target
        elif aim.id == ob and variable.type == "SINGLE_PROP":
            bone, channel = bone_of_path(aim.data_path)
            if channel.startswith(_CHANNELS):
                yield bone


_SIMULATIONS = {"CLOTH", "SOFT_BODY", "FLUID", "PARTICLE_SYSTEM", "PARTICLE_INSTANCE", "DYNAMIC_PAINT", "NODES"}


def plays_anywhere(objects: Iterable[bpy.types.Object]) -> bool:
    """Whether nothing that places some objects asks which scene it is in: with all that it depends on."""
    visited: set[bpy.types.ID] = set()
    waiting: list[bpy.types.ID | None] = [*objects]
    while waiting:
        data = waiting.pop()
        if data is None or data in visited:
            continue
        visited.add(data)
        drivers = [curve.driver for curve in drivers_of(data)]
        # These may read more than what their variables name.
        asking = (each.type == "SCRIPTED" and not each.is_simple_expression for each in drivers)
        asking = any(asking) or any(own.type == "CONTEXT_PROP" for each in drivers for own in each.variables)
        if isinstance(data, bpy.types.Scene) or asking:
            return False
        waiting += [aim.id for driver in drivers for _, aim in read_by(driver)]
        if isinstance(data, bpy.types.Object):
            constraints = [constraint for _, constraint in constraints_of(data)]
            simulated = data.rigid_body is not None or any(each.type in _SIMULATIONS for each in data.modifiers)
            if simulated or "VERTEX" in data.parent_type or any(map(_asks_scene, constraints)):
                return False
            waiting += [data.parent, data.data, *(ob for each in constraints for ob, _ in aims_of(each))]
    return True


def _asks_scene(constraint: bpy.types.Constraint) -> bool:
    """Whether more than animation decides what a constraint does. What hangs on a surface depends on its modifiers, on
    simulations and on the scene's level of detail."""
    on_surface = any(ob.type not in ("ARMATURE", "EMPTY") and bone for ob, bone in aims_of(constraint))
    return on_surface or kind_of(constraint).asks


Shares = Mapping[str, float]
"""Names of the bones with which another one goes along, each with its part of the weights."""

_FLAT = 1e-3
"""Determinant of a way below which bones that are turned against each other take all to nearly one line."""


def shares_of(bone: bpy.types.PoseBone) -> Shares | None:
    """The bones of its armature with which a bone goes along by a constraint. Empty: no constraint moves it; None: one
    does so in any other way. As the constraints are set just now."""
    acting = [each for each in bone.constraints if not each.mute and each.influence > 0.0]
    if not acting:
        return {}
    constraint = acting[0]
    if len(acting) > 1 or constraint.type != "ARMATURE" or constraint.influence < 1.0:
        return None
    if constraint.use_deform_preserve_volume or constraint.use_bone_envelopes:
        return None
    weights: dict[str, float] = {}
    for each in constraint.targets:
        if each.target is None or each.target.original != bone.id_data.original:
            return None
        bones = bone.id_data.data.bones
        # A bone of several segments takes along what lies beside it by its curve.
        if each.subtarget in ("", bone.name) or each.subtarget not in bones or bones[each.subtarget].bbone_segments > 1:
            return None
        weights[each.subtarget] = weights.get(each.subtarget, 0.0) + each.weight
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items() if weight} if total > 0.0 else None


def way_along(bones: bpy.types.bpy_prop_collection, shares: Shares, poses: Callable[[str], np.ndarray]) -> np.ndarray:
    """How far bones take another one from where its channels put it, in armature space: the mean of how far each is
    from its rest pose (Blender Manual, Armature Constraint). poses: (..., 4, 4), by names."""
    ways = [
        share * (poses(name) @ array_of(bones[name].matrix_local.inverted_safe())) for name, share in shares.items()
    ]
    return sum(ways[1:], start=ways[0])


def basis_at(bone: bpy.types.Bone, wanted_armature: Matrix, parent_pose: Matrix | None, way: Matrix | None) -> Matrix:
    """What a bone's channels have to make for it to be where it is wanted. way: see `way_along`; None: nothing takes it
    along. Raises ChainError if no channels bring it there."""
    if way is not None:
        check_way(bone.name, way)
        wanted_armature = way.inverted() @ wanted_armature
    return pose_matrix(bone, wanted_armature, parent_pose, invert=True)


def check_way(bone: str, way: Matrix) -> None:
    """Raise ChainError if bones that are turned against each other take another one, of this name, nowhere."""
    if abs(way.determinant()) < _FLAT:
        raise ChainError(messages.CONTROL_TORN(control=bone))


def goes_by_channels(bone: bpy.types.PoseBone) -> bool:
    """Whether nothing but channels says where a bone is: its own, those of the bones above it and of those with which
    it goes along, all by their parents alone."""
    shares = shares_of(bone)
    if shares is None or (shares and is_share_animated(bone)):
        return False
    others = [bone.id_data.pose.bones[name] for name in shares]
    line = {above for each in (bone, *others) for above in each.parent_recursive}
    return not any(not each.mute for other in line.union(others) for each in other.constraints)


def is_share_animated(bone: bpy.types.PoseBone) -> bool:
    """Whether animation sets something of a bone's constraints."""
    start = f"{bone.path_from_id()}.constraints"
    return any(path.startswith(start) for path in animated_paths(bone.id_data))
