"""Targets and pole targets as bones of the character's own armature, to be posed and keyed in Pose Mode with it."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..rig.blender.motion import has_keys
from ..rig.model.limb import BoneReading, end_in_tip
from ..rig.pose.reading import ArmatureReader, SceneReader
from ..solvers import Chain
from ..solvers.bending import is_straight, start_frame
from .control_names import control_names, side_of
from .editing import check_editable_bones, delete_bones, edit_bones
from .finding.legs import FoundLimb, find_limbs
from .homes import CONTROL_BONES, control_bones
from .places import pole_place, target_place
from .placing import Control, Placer
from .soles import Sole, sole_of, up_of
from .widgets import remove_unused_widgets, widget

_COLORS = {"L": (0.20, 0.50, 1.00), "R": (1.00, 0.25, 0.25), "": (1.00, 0.80, 0.15)}
"""Blue on the left, red on the right, yellow in the middle: the color sets of Blender are too dark for thin lines."""
_SELECTED, _ACTIVE = 0.5, 0.75
"""How far a color goes towards white where its bone is selected, or active."""
_WIRE = 2.0
"""Width of the lines of a control, in pixels."""
_POLE_SIZE = 0.04
"""Radius of a pole target, in lengths of the chain."""
_TARGET_SIZE = 0.13
"""The same of a target without the outline of a foot."""
_SAME = 1e-6
"""In lengths of the chain: a control this near to its rest pose is in it."""
_REUSED = 1e-3
"""The same for an earlier control bone, with the one that is wanted: it is taken again."""
_FLOOR = 0.1
"""Part of a body's height below which its topmost bone lies on the ground, as a root bone does."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A control bone that is to be made, in armature space.

    rest: where it is at rest.
    posed: where it is in the pose.
    shape: the name of its widget; size, center: its scale and its place, in the bone's axes.
    turns: True if its orientation counts.
    """

    name: str
    rest: Matrix
    posed: Matrix
    length: float
    parent: str
    shape: str
    size: tuple[float, float, float]
    turns: bool
    center: Vector
    selectable: bool = True


def make_control_bones(
    context: bpy.types.Context,
    reader: ArmatureReader,
    links: Sequence[BoneReading],
    limb: FoundLimb,
    chain: Chain,
    target_armature: Vector | None,
    pole_armature: Vector | None,
) -> tuple[Control | None, Control | None]:
    """Make a target and a pole target of a limb as bones, at these places in the pose; None: not made.

    Clearing their transforms brings the limb to its rest pose. They are parented to the root bone, if the armature has
    one that lies on the ground. Raises ChainError if the armature cannot be edited.
    """
    ob = reader.ob
    check_editable_bones(ob)
    legs = find_limbs(ob.data.bones).limbs
    up = up_of(ob, legs)
    parent = _root_bone(ob, limb.bones[0], up)
    names = control_names(limb)
    wanted: list[_Wanted] = []
    if target_armature is not None:
        sole = sole_of(ob, limb, legs, up)
        wanted.append(_target(reader, links, limb, chain, names[0], parent, target_armature, sole))
    if pole_armature is not None:
        wanted.append(_pole(links, chain, names[1], parent, pole_armature))
    if not wanted:
        return None, None
    made = _made(context, ob, wanted, chain.length)
    _placed(context, wanted, made, chain.length)
    controls = iter(made)
    target = next(controls) if target_armature is not None else None
    return target, next(controls, None)


def rest_joints(links: Sequence[BoneReading]) -> list[Vector]:
    """Joints of a chain's links at rest, in armature space, root first."""
    tip = links[-1].last.pose_bone
    return [*(link.bone.head_local.copy() for link in links), tip.bone.matrix_local @ end_in_tip(tip)]


def _target(
    reader: ArmatureReader,
    links: Sequence[BoneReading],
    limb: FoundLimb,
    chain: Chain,
    name: str,
    parent: str,
    at_armature: Vector,
    sole: Sole | None,
) -> _Wanted:
    ob = reader.ob
    carried = ob.pose.bones[limb.end or limb.bones[-1]]
    evaluated = reader.evaluated.pose.bones[carried.name]
    axes = (sole.axes if sole else carried.bone.matrix_local.to_3x3()).normalized()
    turn = _rotation(reader.pose_of(evaluated)) @ _rotation(carried.bone.matrix_local).inverted()
    joints = rest_joints(links)
    rest = _matrix(axes.to_quaternion(), target_place(joints, Chain([joint - joints[0] for joint in joints])))
    posed = _matrix(turn @ axes.to_quaternion(), at_armature)
    size = _TARGET_SIZE * chain.length
    # A foot that is parented to something else is what one moves; dragged away from it, the target would tear it off.
    own = not limb.end or any(above.name in limb.bones for above in carried.parent_recursive)
    if not own:
        size, sole, parent = _POLE_SIZE * chain.length, None, limb.end
    if sole:
        return _Wanted(name, rest, posed, sole.length, parent, "FOOT", (*sole.half, 1.0), True, sole.center)
    return _Wanted(name, rest, posed, size, parent, "SPHERE", (size,) * 3, True, Vector(), own)


def _pole(links: Sequence[BoneReading], chain: Chain, name: str, parent: str, at_armature: Vector) -> _Wanted:
    rest, size, turned = _rest_pole(links, at_armature), _POLE_SIZE * chain.length, Quaternion()
    return _Wanted(
        name, _matrix(turned, rest), _matrix(turned, at_armature), size, parent, "SPHERE", (size,) * 3, False, Vector()
    )


def _rest_pole(links: Sequence[BoneReading], at_armature: Vector) -> Vector:
    """Where a pole target leaves a limb at rest; if that is straight, where the first bone carries the posed one."""
    joints = rest_joints(links)
    chain = Chain([joint - joints[0] for joint in joints])
    if not is_straight(chain):
        return pole_place(joints, chain)
    first, knee = links[0], min(1, len(links) - 1)
    turn = _rotation(first.bone.matrix_local) @ first.orientation(first.pose_armature).inverted()
    way = turn @ (at_armature - links[knee].pose_armature.to_translation())
    along = start_frame(chain).along
    side = way - along * way.dot(along)
    return joints[knee] + side.normalized() * way.length


def _made(context: bpy.types.Context, ob: bpy.types.Object, wanted: Sequence[_Wanted], length: float) -> list[Control]:
    """Make the bones, or take earlier ones again that no chain follows, and give them their looks."""
    free = {one.name for one in wanted if _is_free(ob, one, length)}
    names = []
    with edit_bones(ob) as bones:
        for one in wanted:
            bone = bones[one.name] if one.name in free else bones.new(_unkeyed(ob, one.name))
            bone.tail = (0.0, one.length, 0.0)
            bone.matrix = one.rest
            bone.length = one.length
            bone.parent, bone.use_connect, bone.use_deform = bones.get(one.parent), False, False
            names.append(bone.name)
    collections = ob.data.collections_all
    home = collections.get(CONTROL_BONES) or ob.data.collections.new(CONTROL_BONES)
    for name, one in zip(names, wanted, strict=True):
        bone, pose_bone = ob.data.bones[name], ob.pose.bones[name]
        for other in list(bone.collections):
            other.unassign(bone)
        home.assign(bone)
        _color(bone, _COLORS[side_of(name)])
        bone.hide_select = not one.selectable
        pose_bone.custom_shape = widget(context.scene, one.shape)
        pose_bone.use_custom_shape_bone_size = False
        pose_bone.custom_shape_scale_xyz = one.size
        pose_bone.custom_shape_translation = one.center
        pose_bone.custom_shape_rotation_euler = (0.0, 0.0, 0.0)
        pose_bone.custom_shape_wire_width = _WIRE
    return [Control(ob, name) for name in names]


def _color(bone: bpy.types.Bone, color: tuple[float, float, float]) -> None:
    bone.color.palette = "CUSTOM"
    for name, part in (("normal", 0.0), ("select", _SELECTED), ("active", _ACTIVE)):
        setattr(bone.color.custom, name, Vector(color).lerp((1.0, 1.0, 1.0), part))


def _placed(context: bpy.types.Context, wanted: Sequence[_Wanted], controls: Sequence[Control], length: float) -> None:
    """Pose new control bones to where they are wanted."""
    for control in controls:
        control.owner.matrix_basis = Matrix()
    scene = SceneReader(context.evaluated_depsgraph_get())
    reader, placer = scene.armature(controls[0].ob), Placer(scene)
    for one, control in zip(wanted, controls, strict=True):
        parent = reader.evaluated.pose.bones[control.bone].parent
        is_rest = (one.posed.translation - one.rest.translation).length < _SAME * length
        is_rest = is_rest and (not one.turns or _angle(one.posed, one.rest) < _SAME)
        if is_rest and (parent is None or _is_at_rest(reader.pose_of(parent), parent.bone, length)):
            continue
        placer.place(Control(control.ob, control.bone, one.turns), reader.world @ one.posed)


def _is_free(ob: bpy.types.Object, one: _Wanted, length: float) -> bool:
    """True if an armature has the wanted control bone from before, at the same place, and nothing follows it."""
    bone = ob.data.bones.get(one.name)
    return (
        bone is not None
        and bone.name in control_bones(ob.data)
        and (bone.head_local - one.rest.translation).length < _REUSED * length
        and (bone.parent.name if bone.parent else "") == one.parent
        and not bone.children
        and not has_keys(ob, [one.name])
        and (ob, one.name) not in followed_bones_of(ob)
    )


def _unkeyed(ob: bpy.types.Object, name: str) -> str:
    """The name, or with a number if keys of an earlier bone of that name would move the new one."""
    found, k = name, 0
    while has_keys(ob, [found]):
        k += 1
        found = f"{name}.{k:03}"
    return found


def followed_bones_of(ob: bpy.types.Object) -> set[tuple[bpy.types.Object, str]]:
    """The bones that the chains of an armature object follow, with their armature objects."""
    return {
        (target, bone)
        for tip in ob.pose.bones
        for target, bone in (
            (tip.analytic_ik_target, tip.analytic_ik_subtarget),
            (tip.analytic_ik_pole_target, tip.analytic_ik_pole_subtarget),
        )
        if target is not None and bone
    }


# Taken off again


@contextmanager
def new_bones_taken_back(*armatures: bpy.types.Object) -> Iterator[None]:
    """Whatever is raised inside leaves no new bone, and no new bone collection, on these armature objects."""
    before = [(ob, {bone.name for bone in ob.data.bones}, CONTROL_BONES in ob.data.collections_all) for ob in armatures]
    try:
        yield
    except BaseException:
        for ob, names, had_home in before:
            remove_bones(ob, [bone.name for bone in ob.data.bones if bone.name not in names])
            home = ob.data.collections_all.get(CONTROL_BONES)
            if home is not None and not had_home:
                ob.data.collections.remove(home)
        raise


def remove_bones(ob: bpy.types.Object, names: Iterable[str]) -> None:
    """Delete bones of an armature object, and the bone collection of control bones if that leaves it empty."""
    if delete_bones(ob, names, CONTROL_BONES):
        remove_unused_widgets()


def is_unused_bone(control: Control) -> bool:
    """True if a control is a control bone that was made for chains, and nothing in the file uses it any more.

    A chain, a constraint, a bone or an object may: of any object with the same armature data.
    """
    ob, name = control.ob, control.bone
    if ob.type != "ARMATURE" or name not in control_bones(ob.data) or ob.data.bones[name].children:
        return False
    users = {other for other in bpy.data.objects if other.type == "ARMATURE" and other.data == ob.data}
    for other in bpy.data.objects:
        if other.parent in users and other.parent_type == "BONE" and other.parent_bone == name:
            return False
        if any(_names(constraint, users, name) for constraint in other.constraints):
            return False
        if other.type != "ARMATURE":
            continue
        if any((user, name) in followed_bones_of(other) for user in users):
            return False
        if any(_names(constraint, users, name) for bone in other.pose.bones for constraint in bone.constraints):
            return False
    return True


def _names(constraint: bpy.types.Constraint, users: set[bpy.types.Object], bone: str) -> bool:
    pairs = [(getattr(constraint, "target", None), getattr(constraint, "subtarget", ""))]
    pairs.append((getattr(constraint, "pole_target", None), getattr(constraint, "pole_subtarget", "")))
    pairs += [(each.target, each.subtarget) for each in getattr(constraint, "targets", ())]
    return any(target in users and name == bone for target, name in pairs)


# Where things are


def _root_bone(ob: bpy.types.Object, first: str, up: Vector) -> str:
    """The topmost bone above a chain if it lies on the ground, as one that carries the whole character does; or ""."""
    above = ob.data.bones[first].parent_recursive
    if not above:
        return ""
    heights = [bone.head_local.dot(up) for bone in ob.data.bones]
    lowest, highest = min(heights), max(heights)
    return above[-1].name if above[-1].head_local.dot(up) <= lowest + _FLOOR * (highest - lowest) else ""


def _matrix(rotation: Quaternion, place: Vector) -> Matrix:
    return Matrix.Translation(place) @ rotation.to_matrix().to_4x4()


def _rotation(matrix: Matrix) -> Quaternion:
    return matrix.to_quaternion().normalized()


def _angle(a: Matrix, b: Matrix) -> float:
    return max((a.col[k].xyz - b.col[k].xyz).length for k in range(3))


def _is_at_rest(posed: Matrix, bone: bpy.types.Bone, length: float) -> bool:
    rest = bone.matrix_local
    return (posed.translation - rest.translation).length < _SAME * length and _angle(posed, rest) < _SAME
