"""Blender's own IK constraints become chains without moving a bone, and go back as they were."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import atan2, inf
from typing import NamedTuple

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..rig import settings
from ..rig.animation import animated_paths, current_fcurve_collections, fcurve_collections, is_driven
from ..rig.chains import fk_chain
from ..rig.channels import Raw, quaternion_of, raw_of, raw_values
from ..rig.limb import Limb, chain_bones
from ..rig.order import live_tips
from ..rig.posing import PoseWriter
from ..rig.reading import SceneReader, check_targets
from ..rig.settings import Settings
from ..rig.solving import solve_limb
from ..rig.switch import check_switchable
from ..solvers import ChainError, Goal, solver_for
from ..solvers.bending import aim_at, start_frame
from .controls import remove_chain

_SAME = 1e-5
"""Radians between two rotations of a bone that are the same pose."""
_CORRECTIONS = {True: (10, 1.0), False: (200, 0.5)}
"""How often an FK pose is corrected by what its solution misses, and by which part of it; at full influence, and below,
where what is blended depends on the correction too."""
_UNCAPPED = 100.0
"""Blender's own stretch has no end: this many times the chain's length."""


class Held(NamedTuple):
    """A bone and one of its IK constraints."""

    tip: bpy.types.PoseBone
    constraint: bpy.types.Constraint

    def error(self, sentence: str) -> ChainError:
        """What keeps the constraint from being adopted, or restored, with its cure."""
        return ChainError(f"Bone '{self.tip.name}': constraint '{self.constraint.name}' {sentence}")


@dataclass(frozen=True, slots=True)
class Adopted:
    """A constraint that became a chain.

    moved: the longest way of a bone's head or tail, in chain lengths; turned: the largest turn of an axis of a bone, in
    radians.
    because: why bones moved, as the end of a sentence.
    """

    tip: str
    constraint: str
    moved: float
    turned: float
    because: str


@dataclass(frozen=True, slots=True)
class _Plan:
    """How a constraint becomes a chain. limb: with the settings and the FK pose that the chain gets.

    before: the FK pose so far, as numbers of the bones' rotation modes. missed: how much farther from its target than
    need be the tip is in Blender's own solution, in chain lengths.
    """

    held: Held
    limb: Limb
    before: tuple[Raw, ...]
    missed: float


def adoptable(bones: Sequence[bpy.types.PoseBone]) -> list[Held]:
    """The IK constraints of these bones that are not muted."""
    return [
        Held(bone, constraint)
        for bone in bones
        for constraint in bone.constraints
        if constraint.type == "IK" and not constraint.mute
    ]


def is_adopted(tip: bpy.types.PoseBone) -> bool:
    """Whether the chain of a bone was a constraint."""
    return bool(tip.analytic_ik_record_adopted)


def adopt(context: bpy.types.Context, constraints: Sequence[Held]) -> list[Adopted]:
    """Make chains of IK constraints, in the present pose, and mute them.

    Where a chain would turn the bones otherwise than the constraint does, the bones get another FK pose, of which the
    present one is the solution. (Where they are keyed, their keys bring back the old one at another frame.) Raises
    ChainError, with nothing changed, for what no chain can do.
    """
    for held in constraints:
        _check(held)
    plans = [_planned(context, held) for held in constraints]
    before = [_places(context, plan) for plan in plans]
    for plan in plans:
        _carry_out(plan)
    context.view_layer.update()
    return [
        Adopted(plan.held.tip.name, plan.held.constraint.name, *_way(plan, was, _places(context, plan)), _because(plan))
        for plan, was in zip(plans, before, strict=True)
    ]


def restore(context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone]) -> list[str]:
    """Give back the constraints of adopted chains, and the FK pose of before, but for bones whose own was edited since.

    Returns the names of the constraints. Raises ChainError, with nothing changed, where one of them is gone.
    """
    constraints = [_adopted_constraint(tip) for tip in tips]
    for held in constraints:
        _restore(held)
    context.view_layer.update()
    return [held.constraint.name for held in constraints]


# What can be adopted


def _check(held: Held) -> None:
    """Raise ChainError for what no chain can do."""
    tip, constraint = held
    ob = tip.id_data
    if not ob.is_editable:
        raise held.error(f"belongs to armature '{ob.name}', which is linked; make a library override of it first")
    if ob.data.pose_position == "REST":
        raise held.error(f"does nothing while armature '{ob.name}' shows its rest position; switch to Pose Position")
    if ob.pose.ik_solver != "LEGACY":
        raise held.error("is solved by iTaSC; set the armature's IK Solver to Standard")
    for what, refused in _REFUSALS.items():
        if refused(constraint):
            raise held.error(what)
    _check_unshared(held)
    _check_animation(held)


def _leaves_axes_free(ik: bpy.types.Constraint) -> bool:
    locks = (f"lock_{what}_{axis}" for what in ("location", "rotation") for axis in "xyz")
    return ik.reference_axis != "BONE" or not all(getattr(ik, lock) for lock in locks)


_REFUSALS: dict[str, Callable[[bpy.types.Constraint], bool]] = {
    "has no target; choose one, or mute it": lambda ik: ik.target is None,
    "keeps a distance; set its IK Type to Copy Pose": lambda ik: ik.ik_type != "COPY_POSE",
    "leaves its own bone out of its chain; switch Use Tail on, or move it to the parent bone": lambda ik: (
        not ik.use_tail
    ),
    "does not follow its target's location; switch Position on": lambda ik: not ik.use_location,
    "follows its target's rotation; switch Rotation off and add a Copy Rotation": lambda ik: ik.use_rotation,
    "has a weight other than 1; set those of Position and Rotation to 1": lambda ik: (
        (ik.weight, ik.orient_weight) != (1, 1)
    ),
    "leaves axes of its target free; lock all of them, and set Axis Reference to Bone": _leaves_axes_free,
    "reads its target in another space; set Target Space to World Space": lambda ik: ik.target_space != "WORLD",
}
"""What no chain can do, and the cure."""


def _check_unshared(held: Held) -> None:
    """Raise ChainError where a bone is part of another chain, of either kind."""
    ob, own = held.tip.id_data, _bone_names(held)
    for other in adoptable(ob.pose.bones):
        shared = sorted(own & _bone_names(other)) if other != held else []
        if shared:
            raise held.error(
                f"shares bone '{shared[0]}' with constraint '{other.constraint.name}' of bone '{other.tip.name}' "
                "(tree IK); shorten one of their chains, or mute one"
            )
    for other in live_tips(ob):
        tip = ob.pose.bones[other]
        shared = sorted(own & _names_up(tip, tip.analytic_ik_chain_count))
        if shared:
            raise held.error(f"shares bone '{shared[0]}' with the chain of '{other}'; remove that chain, or mute it")


def _check_animation(held: Held) -> None:
    """Raise ChainError where animation or drivers would not let the chain be what it becomes."""
    tip, constraint = held
    ob = tip.id_data
    paths = set(animated_paths(ob))
    if not paths.isdisjoint(f"{constraint.path_from_id()}.{name}" for name in ("mute", "enabled")):
        raise held.error("is muted by animation, which would switch it on again; animate its influence instead")
    own = {f"{tip.path_from_id()}.{settings.PREFIX}{name}" for name in Settings.__dataclass_fields__}
    if paths & own or any(home.find(_copy_path(tip)) for home in _curve_homes(ob)):
        raise held.error("cannot hand over to a chain that is animated already; delete what animates that chain")
    for curve in _influence_curves(held):
        if not curve.id_data.is_editable:
            raise held.error(f"is animated by action '{curve.id_data.name}', which is linked; make it local")
    for name in sorted(_bone_names(held)):
        if is_driven(ob, ob.pose.bones[name], "rotation"):
            raise held.error(f"is above a driver that sets the rotation of bone '{name}'; remove that driver")


def _bone_names(held: Held) -> set[str]:
    """The bones that a constraint turns."""
    tip, constraint = held
    return _names_up(tip if constraint.use_tail else tip.parent, constraint.chain_count)


def _names_up(tip: bpy.types.PoseBone | None, count: int) -> set[str]:
    """A bone and those above it, `count` in all, or as many as there are; 0: up to the root."""
    return {bone.name for bone in [tip, *tip.parent_recursive][: count or None]} if tip else set()


# The chain of a constraint


def _planned(context: bpy.types.Context, held: Held) -> _Plan:
    """Find the settings and the FK pose with which a chain gives the present pose; nothing is changed."""
    try:
        limb = _limb(context, held)
        with _full_influence(context, held):
            full, distance = _visual(context, held, limb)
        limb = replace(limb, settings=replace(limb.settings, swivel=_swivel(limb, full)))
        wanted, _ = _visual(context, held, limb)
        nearest = _distance(limb, solve_limb(_at_full_influence(limb)).poses_armature[-1])
        before = tuple(reading.fk for reading in limb.bones)
        return _Plan(held, _fitted(limb, wanted), before, max(0.0, distance - nearest))
    except ChainError as error:
        raise held.error(f"cannot become a chain: {error}") from error


def _settings(held: Held) -> Settings:
    """What of a chain's settings a constraint states; the others at their defaults."""
    tip, constraint = held
    names, known = Settings.__dataclass_fields__, tip.bl_rna.properties
    # A pointer has no default.
    defaults = {name: getattr(known[settings.PREFIX + name], "default", None) for name in names}
    bones = [tip.id_data.pose.bones[name] for name in _bone_names(held)]
    stated = {
        "enabled": True,
        "target": constraint.target,
        "subtarget": constraint.subtarget,
        "pole_target": constraint.pole_target,
        "pole_subtarget": constraint.pole_subtarget if constraint.pole_target else "",
        # Blender's own IK takes as many bones as there are.
        "chain_count": len(bones) if constraint.chain_count else 0,
        "influence": constraint.influence,
        "least_motion": len(bones) > 2,
    }
    if constraint.use_stretch and any(bone.ik_stretch > 0.0 for bone in bones):
        stated |= {"reach": "STRETCH", "stretch_max": _UNCAPPED}
    return Settings(**(defaults | stated))


def _limb(context: bpy.types.Context, held: Held) -> Limb:
    """The limb of the chain that a constraint would be, in its FK pose."""
    scene, chosen = SceneReader(context.evaluated_depsgraph_get()), _settings(held)
    reader = scene.armature(held.tip.id_data)
    chain = chain_bones(reader.tip(held.tip.name), chosen.chain_count)
    check_targets(reader.ob, chain, chosen)
    parent = chain[0].parent
    parent_pose = reader.pose_of(parent) if parent else None
    bones = reader.bones(chain)

    def point(control: bpy.types.Object, bone: str) -> Vector:
        place_world = scene.world_of(control)
        if bone:
            place_world = place_world @ scene.armature(control).tip(bone).matrix
        return reader.world.inverted_safe() @ place_world.to_translation()

    return Limb(
        tip=held.tip.name,
        settings=chosen,
        solver=solver_for(len(chain), chosen.solver),
        world=reader.world,
        bones=bones,
        chain=fk_chain(bones, parent_pose),
        parent_pose=parent_pose,
        target_armature=point(chosen.target, chosen.subtarget),
        pole_armature=point(chosen.pole_target, chosen.pole_subtarget) if chosen.pole_target else None,
    )


def _visual(context: bpy.types.Context, held: Held, limb: Limb) -> tuple[list[Quaternion], float]:
    """The local rotations of a limb's bones as Blender poses them now, and how far its tip is from its target."""
    ob = held.tip.id_data.evaluated_get(context.evaluated_depsgraph_get())
    rotations, parent_pose = [], limb.parent_pose
    for reading in limb.bones:
        pose = ob.pose.bones[reading.name].matrix.copy()
        rotations.append(reading.local_rotation(pose, parent_pose))
        parent_pose = pose
    return rotations, _distance(limb, parent_pose)


def _distance(limb: Limb, tip_pose: Matrix) -> float:
    """From the tip to the target for a pose matrix of the tip, in chain lengths."""
    return (limb.tail_of(tip_pose) - limb.target_armature).length / limb.chain.length


def _at_full_influence(limb: Limb) -> Limb:
    return replace(limb, settings=replace(limb.settings, influence=1.0))


@contextmanager
def _full_influence(context: bpy.types.Context, held: Held) -> Iterator[None]:
    """Inside, the constraint has its full effect: below that, its pose does not tell where it bends."""
    constraint, driver = held.constraint, _driver(held.tip.id_data, _influence_path(held))
    present, muted = constraint.influence, driver is not None and driver.mute
    if present == 1.0:
        yield
        return
    try:
        if driver is not None:
            driver.mute = True
        constraint.influence = 1.0
        context.view_layer.update()
        yield
    finally:
        constraint.influence = present
        if driver is not None:
            driver.mute = muted
        context.view_layer.update()


def _swivel(limb: Limb, visual: Sequence[Quaternion]) -> float:
    """The angle that turns the plane in which the chain would bend into the one in which the visual limb bends.

    Blender leaves no limb quite straight that bends in its FK pose, so that its plane is told also out of reach.
    """
    if limb.pole_armature is None and len(limb.bones) > 2:
        # Least motion starts from the FK pose, which becomes the visual one.
        return 0.0
    normal = start_frame(_with_fk(limb, visual).chain).normal
    root = limb.root_armature
    pole = limb.pole_armature - root if limb.pole_armature else None
    aim = aim_at(limb.chain, Goal(limb.target_armature - root, pole), limb.chain.length)
    return atan2(aim.along.dot(aim.normal.cross(normal)), aim.normal.dot(normal))


def _fitted(limb: Limb, wanted: Sequence[Quaternion]) -> Limb:
    """The limb with an FK pose of which `wanted`, local rotations, is the solution, or nearest to it.

    The FK pose that it has serves, with other rolls, unless there is a clearly better one: the visual pose, or that
    brought to the target from which Blender left it.
    """
    error, own = _corrected(limb, wanted)
    if error <= _SAME:
        return own
    shown = _with_fk(limb, wanted)
    at_target = solve_limb(replace(_at_full_influence(shown), solver="CCD"))
    reached = [quaternion_of(raw, reading.mode) for raw, reading in zip(at_target.rotations, limb.bones, strict=True)]
    others = [_corrected(shown, wanted), _corrected(_with_fk(limb, reached), wanted)]
    best_error, best = min(others, key=lambda other: other[0])
    return best if 2.0 * best_error < error else own


def _corrected(limb: Limb, wanted: Sequence[Quaternion]) -> tuple[float, Limb]:
    """The limb with its FK pose corrected by what its solution misses, and what it misses still, in radians."""
    best_error, best = inf, limb
    passes, part = _CORRECTIONS[limb.settings.influence == 1.0]
    for _ in range(passes):
        missing = [
            quaternion_of(raw, reading.mode).rotation_difference(rotation)
            for raw, reading, rotation in zip(solve_limb(limb).rotations, limb.bones, wanted, strict=True)
        ]
        error = max(2.0 * Vector((turn.x, turn.y, turn.z)).length for turn in missing)
        if error < best_error:
            best_error, best = error, limb
        if error <= _SAME:
            break
        turns = zip(limb.bones, missing, strict=True)
        limb = _with_fk(limb, [reading.fk_rotation @ Quaternion().slerp(turn, part) for reading, turn in turns])
    return best_error, best


def _with_fk(limb: Limb, rotations: Sequence[Quaternion]) -> Limb:
    """The limb with another FK pose, given as local rotations."""
    bones, parent_pose = [], limb.parent_pose
    for reading, rotation in zip(limb.bones, rotations, strict=True):
        parent_pose = reading.posed(rotation, parent_pose)
        raw = raw_of(rotation, reading.mode, reading.fk)
        bones.append(replace(reading, fk=raw, fk_rotation=rotation, pose_armature=parent_pose))
    return replace(limb, bones=tuple(bones), chain=fk_chain(bones, limb.parent_pose))


def _carry_out(plan: _Plan) -> None:
    """Write the FK pose and the settings, keep what restoring needs, and mute the constraint."""
    tip, constraint = plan.held
    ob, writer = tip.id_data, PoseWriter(tip.id_data)
    for reading in plan.limb.bones:
        writer.restore_fk(reading.name, reading.mode, reading.fk)
    writer.commit()
    for name in Settings.__dataclass_fields__:
        setattr(tip, settings.PREFIX + name, getattr(plan.limb.settings, name))
    tip.analytic_ik_record_adopted = json.dumps(
        {
            "constraint": constraint.name,
            "animated": _copy_animation(plan.held),
            # Written as it reads back: channels hold single precision.
            "fk": {
                reading.name: (reading.mode, before, raw_values(ob.pose.bones[reading.name], reading.mode))
                for reading, before in zip(plan.limb.bones, plan.before, strict=True)
            },
        }
    )
    constraint.mute = True
    ob.update_tag()


# What moved


def _places(context: bpy.types.Context, plan: _Plan) -> dict[str, tuple[Vector, ...]]:
    """Head and tail, and the axes, of the bones from a chain's root on, as evaluated, in armature space."""
    ob = plan.held.tip.id_data.evaluated_get(context.evaluated_depsgraph_get())
    root = ob.pose.bones[plan.limb.bones[0].name]
    return {
        bone.name: (bone.head.copy(), bone.tail.copy(), *bone.matrix.to_3x3().normalized().col)
        for bone in [root, *root.children_recursive]
    }


def _way(
    plan: _Plan, before: dict[str, tuple[Vector, ...]], after: dict[str, tuple[Vector, ...]]
) -> tuple[float, float]:
    """How far bones moved, and turned: see `Adopted`."""
    ways = [[(b - a).length for a, b in zip(before[name], after[name], strict=True)] for name in before]
    return max(max(way[:2]) for way in ways) / plan.limb.chain.length, max(max(way[2:]) for way in ways)


def _because(plan: _Plan) -> str:
    """Why bones may have moved: what of Blender's own solution no chain repeats, or what comes after it."""
    limb = plan.limb
    others = [
        constraint.name
        for reading in limb.bones
        for constraint in reading.pose_bone.constraints
        if constraint != plan.held.constraint and constraint.enabled and constraint.influence > 0.0
    ]
    if others:
        return f"constraint '{others[0]}' now turns its bones after the chain"
    if limb.pole_armature is not None and limb.bones[0].limits is not None:
        return "with a pole Blender ignores the limits of the first bone"
    if 0.0 < limb.settings.influence < 1.0:
        return "below full influence Blender blends its constraint in another way"
    if limb.settings.reach == "STRETCH":
        return "Blender stretches within reach too, and what hangs on the end with it"
    return f"Blender's own solution left the target by {plan.missed:.2g} of the chain's length"


# Influence


def _influence_path(held: Held) -> str:
    return f"{held.constraint.path_from_id()}.influence"


def _copy_path(tip: bpy.types.PoseBone) -> str:
    return f"{tip.path_from_id()}.analytic_ik_influence"


def _curve_homes(ob: bpy.types.Object) -> list:
    """The collections of F-Curves that play on an object: of its action, and of its NLA strips."""
    data = ob.animation_data
    if data is None:
        return []
    strips = [strip for track in data.nla_tracks for strip in track.strips]
    of_strips = [fcurve_collections(strip.action, getattr(strip, "action_slot", None)) for strip in strips]
    return [home for homes in (current_fcurve_collections(data), *of_strips) for home in homes]


def _influence_curves(held: Held) -> list[bpy.types.FCurve]:
    found = (home.find(_influence_path(held)) for home in _curve_homes(held.tip.id_data))
    return [curve for curve in found if curve is not None]


def _driver(ob: bpy.types.Object, path: str) -> bpy.types.FCurve | None:
    return ob.animation_data.drivers.find(path) if ob.animation_data else None


def _copy_animation(held: Held) -> bool:
    """Animate the chain's influence as the constraint's is. Returns whether it is."""
    tip, path = held.tip, _influence_path(held)
    ob, copied = tip.id_data, False
    for home in _curve_homes(ob):
        curve = home.find(path)
        # Several strips may play one action.
        if curve is not None and home.find(_copy_path(tip)) is None:
            _copy_curve(curve, home.new(_copy_path(tip)))
            copied = True
    driver = _driver(ob, path)
    if driver is not None:
        ob.animation_data.drivers.from_existing(src_driver=driver).data_path = _copy_path(tip)
    return copied or driver is not None


def _copy_curve(curve: bpy.types.FCurve, copy: bpy.types.FCurve) -> None:
    """Copy all that a curve plays."""
    copy.group = curve.group
    copy.keyframe_points.add(len(curve.keyframe_points))
    for key, new in zip(curve.keyframe_points, copy.keyframe_points, strict=True):
        _copy_properties(key, new)
    for modifier in curve.modifiers:
        _copy_properties(modifier, copy.modifiers.new(modifier.type))
    _copy_properties(curve, copy, but=("data_path", "array_index", "group"))
    copy.update()


def _copy_properties(source: bpy.types.bpy_struct, copy: bpy.types.bpy_struct, but: Sequence[str] = ()) -> None:
    for rna in source.bl_rna.properties:
        if not rna.is_readonly and rna.identifier not in but:
            setattr(copy, rna.identifier, getattr(source, rna.identifier))


# Back again


def _adopted_constraint(tip: bpy.types.PoseBone) -> Held:
    """The constraint that the chain of a tip was. Raises ChainError where it is gone, or must not be given back."""
    if not is_adopted(tip):
        raise ChainError(f"Bone '{tip.name}': its chain was no IK constraint; select a bone whose chain was adopted")
    if not tip.id_data.is_editable:
        raise ChainError(f"Armature '{tip.id_data.name}' is linked; make a library override of it first")
    name = json.loads(tip.analytic_ik_record_adopted)["constraint"]
    constraint = tip.constraints.get(name)
    if constraint is None or constraint.type != "IK":
        raise ChainError(f"Bone '{tip.name}': its IK constraint '{name}' is gone; remove the chain instead")
    check_switchable(tip.id_data, tip)
    return Held(tip, constraint)


def _restore(held: Held) -> None:
    tip, constraint = held
    ob, record = tip.id_data, json.loads(tip.analytic_ik_record_adopted)
    remove_chain(tip, keep_pose=False)
    writer = PoseWriter(ob)
    for name, (mode, before, written) in record["fk"].items():
        bone = ob.pose.bones.get(name)
        if bone is not None and bone.rotation_mode == mode and raw_values(bone, mode) == tuple(written):
            writer.restore_fk(name, mode, tuple(before))
    writer.commit()
    if record["animated"]:
        _remove_copies(ob, _copy_path(tip))
    constraint.mute = False
    ob.update_tag()


def _remove_copies(ob: bpy.types.Object, path: str) -> None:
    for home in _curve_homes(ob):
        curve = home.find(path)
        if curve is not None:
            home.remove(curve)
    driver = _driver(ob, path)
    if driver is not None:
        ob.animation_data.drivers.remove(driver)
