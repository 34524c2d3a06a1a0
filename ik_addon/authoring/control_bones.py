"""Targets and pole targets as bones of the character's own armature: their names, shapes, and how they are made."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from math import cos, pi, sin

import bpy
from mathutils import Matrix, Quaternion, Vector

from .. import messages
from ..rig.blender.armatures import has_editable_bones
from ..rig.blender.clips import has_keys
from ..rig.blender.dependencies import aims_of, constraints_of
from ..rig.data.settings import target_and_pole
from ..rig.live import handlers as live
from ..rig.model.limb import BoneReading, end_in_tip
from ..rig.pose.reading import ArmatureReader, SceneReader
from ..solvers import Chain, ChainError
from ..solvers.bending import is_straight, start_frame
from .end_bone import Sole, sole_of, up_of
from .finding.limbs import FoundLimb, find_limbs
from .knees import let_follow, lets_follow, stop_following
from .placing import CONTROL_BONES, Control, Placer, control_bones, is_local, pole_place, target_place
from .selection import active_bone, selected_bones


def check_editable_bones(ob: bpy.types.Object) -> None:
    """Raise ChainError if no bones can be added to an armature object."""
    if not has_editable_bones(ob):
        linked = ob.library is not None or (ob.data.library is not None and ob.override_library is None)
        message = messages.BONES_LINKED if linked else messages.BONES_OVERRIDDEN
        raise ChainError(message(armature=ob.name))


@contextmanager
def edit_bones(ob: bpy.types.Object) -> Iterator[bpy.types.ArmatureEditBones]:
    """The edit bones of an armature object inside the block; afterwards mode, selection and settings are as before.

    References to `Bone`s are invalid afterwards, those to `PoseBone`s are not. Another object with the same armature
    data gets the same bones.
    """
    mode, mirror, hidden = ob.mode, ob.data.use_mirror_x, ob.hide_viewport
    active, selected = active_bone(ob), {bone.name for bone in selected_bones(ob)}
    active_name = active.name if active else ""
    # In a scene of its own: there nothing else is selected, hidden or in Edit Mode with it.
    shown, scene = bpy.context.scene, bpy.data.scenes.new("Analytic IK")
    try:
        # Blender plays the keys there, and leaves what they say in the bones.
        scene.frame_set(shown.frame_current, subframe=shown.frame_subframe)
        for name in ("frame_map_old", "frame_map_new"):
            setattr(scene.render, name, getattr(shown.render, name))
        scene.collection.objects.link(ob)
        layer = scene.view_layers[0]
        layer.objects.active = ob
        ob.hide_viewport = ob.data.use_mirror_x = False
        here = bpy.context.temp_override(scene=scene, view_layer=layer, active_object=ob, object=ob)
        with live.paused(), here:
            bpy.ops.object.mode_set(mode="EDIT")
            try:
                yield ob.data.edit_bones
            finally:
                bpy.ops.object.mode_set(mode=mode)
    finally:
        bpy.data.scenes.remove(scene)
        ob.hide_viewport, ob.data.use_mirror_x = hidden, mirror
        _select(ob, selected, active_name)


def delete_bones(ob: bpy.types.Object, names: Iterable[str], home: str) -> bool:
    """Delete bones of an armature object, and the bone collection of this name if that is empty then; whether there was
    any bone to delete."""
    going = [name for name in names if name in ob.data.bones]
    if going:
        with edit_bones(ob) as bones:
            for name in going:
                bones.remove(bones[name])
    collection = ob.data.collections_all.get(home)
    if collection is not None and not collection.bones and not collection.children:
        ob.data.collections.remove(collection)
    return bool(going)


def _select(ob: bpy.types.Object, names: set[str], active: str) -> None:
    for bone in ob.pose.bones:
        flags = bone if hasattr(bone, "select") else bone.bone
        if flags.select != (bone.name in names):
            flags.select = bone.name in names
    ob.data.bones.active = ob.data.bones.get(active)


_WORDS = {"LEG": ("foot_ik", "knee_pole"), "ARM": ("hand_ik", "elbow_pole")}
_SIDE = re.compile(
    r"^(?P<before>(?i:left|right|l|r)[._ -]|Left|Right)"
    r"|(?P<after>[._ -](?i:left|right|l|r)|Left|Right)(?:\.\d{3,})?$"
)


def control_names(limb: FoundLimb, bones: Iterable[str] = ()) -> tuple[str, str]:
    """Names for the target and the pole target of a limb: "foot_ik.L" and "knee_pole.L", or "Foot_ik_L".

    Those of a limb that is neither leg nor arm are made of its tip's name. If a limb has a side, Blender's
    *Paste Flipped* finds the other one by the name. bones: names of all bones; a pair that is spelled in two ways, as
    "Lefthand" and "RightHand", tells no form.
    """
    if limb.kind not in _WORDS:
        return _sided(limb.bones[-1], "ik"), _sided(limb.bones[-1], "pole")
    own = limb.end or limb.bones[-1]
    place = f"{limb.place.lower()}_" if limb.place else ""
    found = _SIDE.search(own)
    before, after = (found["before"] or "", found["after"] or "") if found else ("", "")
    names_of_pair, opposite = {own, *bones}, bpy.utils.flip_name(own)
    if opposite not in names_of_pair and opposite.lower() in map(str.lower, names_of_pair - {own}):
        own, before, after = own.lower(), "", ""
    capital = own[len(before) :][:1].isupper()
    names = []
    for word in _WORDS[limb.kind]:
        stem = place + word
        stem = stem[:1].upper() + stem[1:] if capital else stem
        name = f"{before}{stem}{after}"
        if limb.side and (bpy.utils.flip_name(name) == name or side_of(name) != limb.side):
            name = f"{stem}.{limb.side}"
        names.append(name if limb.side else stem)
    return names[0], names[1]


def side_of(name: str) -> str:
    """L, R or "": the side that Blender reads in a bone's name."""
    found = _SIDE.search(name)
    if found is None or bpy.utils.flip_name(name) == name:
        return ""
    return (found["before"] or found["after"]).strip("._ -")[0].upper()


def _sided(name: str, word: str) -> str:
    """A name with a word before its side."""
    found = _SIDE.search(name)
    if found is None or found["after"] is None:
        return f"{name}_{word}"
    return f"{name[: found.start('after')]}_{word}{found['after']}"


_HOME = "Analytic IK Widgets"
_STEPS = 32
"""Edges of a circle."""
_HEEL = 0.78
"""Width of a foot's outline at its heel, as a part of the width at its ball."""
_CORNER = 0.5
"""Exponent of the superellipse that rounds a foot's outline: 1 is an ellipse, 0 a rectangle."""

Lines = list[list[tuple[float, float, float]]]


def _circle() -> list[tuple[float, float]]:
    turns = [2.0 * pi * k / _STEPS for k in range(_STEPS + 1)]
    return [(cos(turn), sin(turn)) for turn in turns]


def _foot() -> Lines:
    """A closed outline in the XY plane from -1 to 1, its toes at Y = 1."""

    def rounded(value: float) -> float:
        return abs(value) ** _CORNER * (1.0 if value > 0.0 else -1.0)

    def width(y: float) -> float:
        return _HEEL + (1.0 - _HEEL) * min(1.0, (y + 1.0) / 1.2)

    points = [(rounded(x), rounded(y)) for x, y in _circle()]
    return [[(x * width(y), y, 0.0) for x, y in points]]


def _sphere() -> Lines:
    """Three circles with radius 1."""
    circle = _circle()
    return [[(x, y, 0.0) for x, y in circle], [(x, 0.0, y) for x, y in circle], [(0.0, x, y) for x, y in circle]]


_SHAPES = {"FOOT": ("Analytic IK Foot", _foot), "SPHERE": ("Analytic IK Sphere", _sphere)}


def _home() -> bpy.types.Collection | None:
    return next((each for each in bpy.data.collections if each.name == _HOME and is_local(each)), None)


def widget(scene: bpy.types.Scene, shape: str) -> bpy.types.Object:
    """The mesh object of a shape, FOOT or SPHERE; it is made if the file has none yet."""
    home = _home()
    if home is None:
        home = bpy.data.collections.new(_HOME)
        home.hide_viewport = home.hide_render = True
        scene.collection.children.link(home)
    name, lines = _SHAPES[shape]
    found = next((ob for ob in home.objects if ob.data and ob.data.name.startswith(name) and is_local(ob)), None)
    if found is None:
        found = bpy.data.objects.new(name, _mesh(name, lines()))
        home.objects.link(found)
    return found


def is_widget(ob: bpy.types.Object) -> bool:
    """Whether an object is the shape of control bones."""
    return is_local(ob) and any(each.name == _HOME for each in ob.users_collection)


def _mesh(name: str, lines: Lines) -> bpy.types.Mesh:
    points, edges = [], []
    for line in lines:
        first = len(points)
        # The last point of a closed line is its first one.
        points += line[:-1]
        numbers = [first + k % (len(line) - 1) for k in range(len(line))]
        edges += pairwise(numbers)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, edges, [])
    return mesh


def remove_unused_widgets() -> None:
    """Delete the widgets that no bone of the file shows any more, and their collection once it is empty."""
    home = _home()
    if home is None:
        return
    shown = {bone.custom_shape for ob in bpy.data.objects if ob.type == "ARMATURE" for bone in ob.pose.bones}
    for ob in [ob for ob in home.objects if ob not in shown and is_local(ob)]:
        mesh = ob.data
        bpy.data.objects.remove(ob)
        if isinstance(mesh, bpy.types.Mesh) and mesh.users == 0:
            bpy.data.meshes.remove(mesh)
    if not home.objects and not home.children:
        bpy.data.collections.remove(home)


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

    rest, posed: where it is at rest and in the pose. shape: the name of its widget; size, center: its scale and its
    place, in the bone's axes. turns: True if its orientation counts.
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
    pole_follows: bool = False,
) -> tuple[Control | None, Control | None]:
    """Make a target and a pole target of a limb as bones, at these places in the pose; None: not made.

    Clearing their transforms brings the limb to its rest pose. They are parented to the root bone, if the armature has
    one that lies on the ground. pole_follows: the pole target keeps between the target and what carries the limb, if
    there is anything. Raises ChainError if the armature cannot be edited.
    """
    ob = reader.ob
    check_editable_bones(ob)
    legs = find_limbs(ob.data.bones).limbs
    up = up_of(ob, legs)
    parent = _root_bone(ob, limb.bones[0], up)
    names = control_names(limb, ob.data.bones.keys())
    wanted: list[_Wanted] = []
    if target_armature is not None:
        sole = sole_of(ob, limb, legs, up)
        wanted.append(_target(reader, links, limb, chain, names[0], parent, target_armature, sole))
    carrier = ob.data.bones[limb.bones[0]].parent
    follows = pole_follows and carrier is not None and target_armature is not None
    if pole_armature is not None:
        rest, posed = (_matrix(Quaternion(), at) for at in (_rest_pole(links, pole_armature), pole_armature))
        size, above = _POLE_SIZE * chain.length, "" if follows else parent
        wanted.append(_Wanted(names[1], rest, posed, size, above, "SPHERE", (size,) * 3, False, Vector()))
    if not wanted:
        return None, None
    carrier_name = carrier.name if follows else ""
    made = _made(context, ob, wanted, chain.length)
    if follows:
        let_follow(made[-1].owner, (made[0].bone, carrier_name))
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
        bone.color.palette = "CUSTOM"
        for state, part in (("normal", 0.0), ("select", _SELECTED), ("active", _ACTIVE)):
            setattr(bone.color.custom, state, Vector(_COLORS[side_of(name)]).lerp((1.0, 1.0, 1.0), part))
        bone.hide_select = not one.selectable
        pose_bone.custom_shape = widget(context.scene, one.shape)
        pose_bone.use_custom_shape_bone_size = False
        pose_bone.custom_shape_scale_xyz = one.size
        pose_bone.custom_shape_translation = one.center
        pose_bone.custom_shape_rotation_euler = (0.0, 0.0, 0.0)
        pose_bone.custom_shape_wire_width = _WIRE
        stop_following(pose_bone)
    return [Control(ob, name) for name in names]


def _placed(context: bpy.types.Context, wanted: Sequence[_Wanted], controls: Sequence[Control], length: float) -> None:
    for control in controls:
        control.owner.matrix_basis = Matrix()
    scene = SceneReader(context.evaluated_depsgraph_get())
    reader, placer = scene.armature(controls[0].ob), Placer(scene)
    for one, control in zip(wanted, controls, strict=True):
        parent, way = reader.tip(control.bone).parent, reader.way(reader.tip(control.bone))
        is_rest = (one.posed.translation - one.rest.translation).length < _SAME * length
        is_rest = is_rest and (not one.turns or _angle(one.posed, one.rest) < _SAME)
        is_rest = is_rest and (parent is None or _is_same(reader.pose_of(parent), parent.bone.matrix_local, length))
        if is_rest and (way is None or _is_same(way, Matrix(), length)):
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
    return {(control, bone) for tip in ob.pose.bones for control, bone in target_and_pole(tip) if bone}


# Taken off again


@contextmanager
def new_bones_taken_back(*armatures: bpy.types.Object) -> Iterator[None]:
    """Whatever is raised inside leaves no new bone, and no new bone collection, on these armature objects.

    Outside of what takes back the constraints that aim at them: Blender complains of these where it finds no bone.
    """
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
        for owner, each in constraints_of(other):
            # A pole target that is not needed itself needs nothing.
            idle = lets_follow(each) and (other, owner.name) not in followed_bones_of(other)
            if not idle and any(bone == name and aim in users for aim, bone in aims_of(each)):
                return False
        if other.type == "ARMATURE" and any((user, name) in followed_bones_of(other) for user in users):
            return False
    return True


# Where things are


def root_bone(ob: bpy.types.Object, first: str) -> str:
    """The bone to which the controls of a limb with this first bone are parented; "": none."""
    return _root_bone(ob, first, up_of(ob, find_limbs(ob.data.bones).limbs))


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


def _is_same(posed: Matrix, rest: Matrix, length: float) -> bool:
    return (posed.translation - rest.translation).length < _SAME * length and _angle(posed, rest) < _SAME
