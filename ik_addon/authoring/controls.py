"""Put a chain on a limb without moving a bone, give it one more control, and take it off again."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from math import hypot, sqrt
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Vector

from .. import messages
from ..rig.blender.armatures import tag_pose
from ..rig.blender.clips import clips_of, moved_channels
from ..rig.blender.dependencies import check_unmoved, check_way, followed_nodes
from ..rig.blender.rotations import SCALE, Raw, raw_values
from ..rig.data import settings
from ..rig.data.settings import check_switchable, mute_setting
from ..rig.data.undoing import all_or_nothing
from ..rig.model.foot import end_bone, possible_end_bones
from ..rig.model.limb import BoneReading, Limb, chain_bones, factors, fk_chain, fk_joints, known_bones, present_ratio
from ..rig.model.order import live_tips
from ..rig.pose.posing import Channel, write_fk
from ..rig.pose.reading import ArmatureReader, SceneReader, check_targets
from ..rig.status.problems import check_changeable
from ..solvers import Chain, ChainError, solver_for
from ..solvers.bending import is_straight, start_frame
from .blender_ik import animated_by_adopting
from .control_bones import (
    check_editable_bones,
    edit_bones,
    is_unused_bone,
    make_control_bones,
    new_bones_taken_back,
    remove_bones,
    root_bone,
)
from .end_bone import end_bone_of, limb_with_tip
from .finding.limbs import FoundLimb
from .keys import remove_animation
from .knees import let_follow, pole_and_carriers, stop_following
from .placing import (
    Control,
    Placer,
    check_control,
    control_bones,
    home_of,
    is_controls_home,
    is_local,
    pole_place,
    target_place,
)

ALLOWED = 1e-4
"""How far a bone may move, in chain lengths."""
VISIBLE = 1e-3
"""How far a bone has to move to be seen, in chain lengths."""
_ROUNDING = 2.0**-21
"""Of a location in single precision, with what matrices make of it, as a part of it: three times the most that was
seen of 4000 limbs."""


class Moved(NamedTuple):
    """A bone that moved as a chain was added. distance: in world units."""

    bone: str
    distance: float


@contextmanager
def bones_stay(context: bpy.types.Context, tip: bpy.types.PoseBone) -> Iterator[list[Moved]]:
    """Compares the evaluated pose of an armature after the block, which adds a chain to a tip, with the one before.

    Gives a list that holds, after the block, the bone that moved farthest if that can be seen. Raises ChainError that
    names it, if any joint or the end of any bone's axis is elsewhere by more than `ALLOWED` and what single precision
    makes of the limb. Control bones are left out.
    """
    ob = tip.id_data
    # An earlier control bone may be taken again.
    controls = control_bones(ob.data)
    names = [bone.name for bone in ob.pose.bones if bone.name not in controls]
    before, seen = _poses(context, ob, names), []
    yield seen
    context.view_layer.update()
    moved = np.linalg.norm(_poses(context, ob, names) - before, axis=2)
    try:
        reader = SceneReader(context.evaluated_depsgraph_get()).armature(ob)
        limb = reader.limb(tip.name)
        # An import may make a bone of any length: its axes tell no more than what they do to a limb.
        lengths = np.minimum([ob.data.bones[name].length for name in names], limb.chain.length)
        ways = np.maximum(moved[:, 3], moved[:, :3].max(axis=1) * lengths)
        farthest = Moved(names[int(ways.argmax())], float(ways.max()) * reader.world.median_scale)
        # Written so that a way that is not a number counts as well.
        if not ways.max() <= _allowed(limb):
            raise ChainError(messages.WOULD_MOVE(moved=farthest.bone, distance=farthest.distance))
        if ways.max() > VISIBLE * limb.chain.length:
            seen.append(farthest)
    except ChainError as error:
        raise error.of(messages.BONE(bone=tip.name)) from error


def _allowed(limb: Limb) -> float:
    """How far a bone may move when a chain is added to a limb, in armature space.

    The straighter a limb is, the more its bend depends on how the location of its target is rounded: where the target
    is a little closer, the bulge grows by its square.
    """
    chain = limb.chain
    along = start_frame(chain).along
    bulge = max(((point - along * point.dot(along)).length for point in chain.joints[1:-1]), default=chain.length)
    rounding = _ROUNDING * (limb.world.translation.length / limb.world.median_scale + limb.target_armature.length)
    bent = hypot(bulge, sqrt(rounding * chain.length)) - bulge
    # A straight limb may become quite straight, or bend to where its hinge bends.
    return ALLOWED * chain.length + rounding + bent + (3.0 * bulge if is_straight(chain) else 0.0)


def _poses(context: bpy.types.Context, ob: bpy.types.Object, names: list[str]) -> np.ndarray:
    """The three axes and the heads of some bones as evaluated, in armature space: (bones, 4, 3)."""
    bones = ob.evaluated_get(context.evaluated_depsgraph_get()).pose.bones
    # Column by column, as Blender keeps them.
    matrices = np.empty((len(bones), 4, 4), np.float32)
    bones.foreach_get("matrix", matrices.reshape(-1))
    places = {bone.name: k for k, bone in enumerate(bones)}
    return matrices[[places[name] for name in names], :, :3].astype(float)


class Added(NamedTuple):
    """What `add_chain` set up. straight: the limb does not show where it bends, so its hinge decided. moved: the bone
    that rounding moved farthest, if that can be seen."""

    target: Control
    pole: Control | None
    straight: bool
    moved: Sequence[Moved]


def add_chain(
    context: bpy.types.Context,
    tip: bpy.types.PoseBone,
    chain_count: int,
    solver: str,
    with_pole: bool,
    controls: Sequence[bpy.types.Object] = (),
    straight_axis: str = "AUTO",
    limb: FoundLimb | None = None,
    as_bones: bool = False,
    pole_follows: bool = False,
) -> Added:
    """Make a bone the tip of a live chain.

    controls: objects chosen as target and pole: one is the target; of two, the nearer to the chain's end is. What is
    missing is made, as Empties or `as_bones` as control bones: the target on the chain's end, the pole in the present
    bend plane, so that no bone moves. The bone on the chain's end follows the target's rotation. Chains over two links
    keep their pose by least motion. straight_axis: see the setting. limb: the leg or arm that the chain moves, None: it
    is found. pole_follows: see `make_control_bones`. Raises ChainError, with nothing changed, where the chain could not
    be solved, or moves a bone though no control was chosen.
    """
    ob = tip.id_data
    check_changeable(ob)
    if as_bones:
        check_editable_bones(ob)
    with (
        new_bones_taken_back(ob) if as_bones else nullcontext(),
        all_or_nothing([ob, *controls]),
        nullcontext([]) if controls else bones_stay(context, tip) as moved,
    ):
        home = home_of(ob, context.scene)
        reader = SceneReader(context.evaluated_depsgraph_get()).armature(ob)
        limb = limb or limb_with_tip(tip)
        end = end_bone_of(tip, limb)
        tip.analytic_ik_straight_axis, tip.analytic_ik_end_bone = straight_axis, end
        try:
            bones, chain, target, pole = _checked(reader, tip, chain_count, solver, controls)
        except ChainError as error:
            raise error.of(messages.BONE(bone=tip.name)) from error
        straight = is_straight(chain)
        target_armature = target_place(fk_joints(bones), chain) if target is None else None
        pole_armature = pole_place(fk_joints(bones), chain) if pole is None and with_pole else None
        if as_bones:
            names = tuple(bone.name for bone in chain_bones(tip, chain_count))
            limb = limb or FoundLimb("", "", "", names, end, "", "")
            places = (target_armature, pole_armature)
            made = make_control_bones(context, reader, bones, limb, chain, *places, pole_follows)
        else:
            roles = (("target", target_armature), ("pole", pole_armature))
            made = [_empty_for(home, reader, tip, role, at, chain.length) for role, at in roles]
        target, pole = target or made[0], pole or made[1]
        # An earlier chain may have left a swivel or a target's bone here.
        settings.clear_settings(tip)
        tip.analytic_ik_target, tip.analytic_ik_subtarget = target.ob, target.bone
        if pole is not None:
            tip.analytic_ik_pole_target, tip.analytic_ik_pole_subtarget = pole.ob, pole.bone
        tip.analytic_ik_chain_count, tip.analytic_ik_solver = chain_count, solver
        tip.analytic_ik_straight_axis, tip.analytic_ik_end_bone = straight_axis, end
        tip.analytic_ik_least_motion = len(bones) > 2
        tip.analytic_ik_enabled = True
        tip.analytic_ik_use_rotation = bool(end) and (limb is None or limb.rides) and _is_free_end(tip)
    return Added(target, pole, straight, moved)


_DISPLAYS = {"target": "SPHERE", "pole": "PLAIN_AXES"}


def _empty_for(
    home: bpy.types.Collection,
    reader: ArmatureReader,
    tip: bpy.types.PoseBone,
    role: str,
    at: Vector | None,
    length: float,
) -> Control | None:
    """None without a place. at, length: of the chain, in armature space."""
    if at is None:
        return None
    size = 0.1 * length * reader.world.median_scale
    return Control(new_empty(home, f"{tip.name} {role}", reader.world @ at, _DISPLAYS[role], size))


def _is_free_end(tip: bpy.types.PoseBone) -> bool:
    """True if a bone rides on the end of a tip's chain, and no other chain has it."""
    end, ob = end_bone(tip), tip.id_data
    others = (ob.pose.bones[name] for name in live_tips(ob) if name != tip.name)
    return end is not None and all(
        end not in [*(known_bones(other) or [other]), *possible_end_bones(other)] for other in others
    )


def remove_chain(tip: bpy.types.PoseBone, keep_pose: bool) -> None:
    """Take a chain off its tip, with what adopting a constraint animated for it.

    The bones keep the solved pose and length, or get their FK pose back. Raises ChainError where a driver or an NLA
    strip would switch it on again.
    """
    animated = animated_by_adopting(tip)
    take_off(tip, keep_pose)
    for path in animated:
        remove_animation(tip.id_data, path)


def take_off(tip: bpy.types.PoseBone, keep_pose: bool) -> None:
    """`remove_chain` without deleting anything, for a caller that may have to bring it back."""
    ob = tip.id_data
    check_switchable(ob, tip)
    turned = [*(known_bones(tip) or [tip]), *possible_end_bones(tip)]
    for bone in turned:
        bone.property_unset("analytic_ik_rigid")
    if keep_pose:
        write_fk(ob, shown_pose(tip, [bone.name for bone in turned]))
    mute_setting(tip, "enabled")
    settings.clear_settings(tip)


def shown_pose(tip: bpy.types.PoseBone, turned: Iterable[str]) -> dict[Channel, Raw]:
    """The rotations of the bones that a chain turns as they are shown, and their FK scales with its stretch."""
    ob = tip.id_data
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    modes = {name: ob.pose.bones[name].rotation_mode for name in turned}
    found = {(name, mode): raw_values(evaluated[name], mode) for name, mode in modes.items()}

    def fk_scale(name: str) -> Raw:
        return raw_values(ob.pose.bones[name], SCALE)

    ratio = present_ratio(evaluated[tip.name], fk_scale)
    own = factors([bone.bone for bone in (known_bones(tip) or [tip])], ratio) if ratio != 1.0 else {}
    scales = {(name, SCALE): tuple(factor * each for each in fk_scale(name)) for name, factor in own.items()}
    return found | scales


def controls_of(tip: bpy.types.PoseBone) -> list[Control]:
    """The target and the pole target of a chain."""
    return [Control(ob, bone) for ob, bone in settings.target_and_pole(tip)]


def unused(controls: Iterable[Control]) -> list[Control]:
    """Those of them that the add-on may delete: this file's own Empties and control bones that no chain follows."""
    used = {
        control.ob
        for ob in bpy.data.objects
        if ob.type == "ARMATURE"
        for bone in ob.pose.bones
        for control in controls_of(bone)
    }
    return [
        control
        for control in dict.fromkeys(controls)
        if (
            is_unused_bone(control)
            if control.bone
            else control.ob not in used and control.ob.type == "EMPTY" and is_local(control.ob)
        )
    ]


def delete_controls(ob: bpy.types.Object, controls: Iterable[Control]) -> None:
    """Delete controls of an armature object, and the collection that was made for them if that leaves it empty."""
    homes, bones = set(), {}
    for control in controls:
        if control.bone:
            bones.setdefault(control.ob, []).append(control.bone)
            continue
        homes.update(each for each in control.ob.users_collection if is_controls_home(each, ob))
        bpy.data.objects.remove(control.ob)
    for holder, names in bones.items():
        remove_bones(holder, names)
    for home in homes:
        if not home.objects and not home.children:
            bpy.data.collections.remove(home)


def _checked(
    reader: ArmatureReader,
    tip: bpy.types.PoseBone,
    chain_count: int,
    solver: str,
    controls: Sequence[bpy.types.Object],
) -> tuple[tuple[BoneReading, ...], Chain, Control | None, Control | None]:
    """The links, their chain, and which of the chosen controls is its target and which its pole."""
    ob = tip.id_data
    if tip.analytic_ik_enabled:
        raise ChainError(messages.TIP_ALREADY())
    if len(controls) > 2:
        raise ChainError(messages.TOO_MANY_CONTROLS(count=len(controls)))
    chain = chain_bones(tip, chain_count)
    names = {bone.name for bone in chain}
    for other in map(ob.pose.bones.get, live_tips(ob)):
        shared = names.intersection(
            bone.name for bone in [*(known_bones(other) or [other]), *possible_end_bones(other)]
        )
        if shared:
            raise ChainError(messages.BONE_TAKEN(bone=min(shared), tip=other.name))
    check_unmoved(chain)
    evaluated = [reader.tip(bone.name) for bone in chain]
    bones = reader.links(evaluated)
    solver_for(len(bones), solver)
    end_world = reader.world @ fk_joints(bones)[-1]

    def distance(control: bpy.types.Object) -> float:
        return (control.matrix_world.translation - end_world).length

    target, pole = [*sorted(controls, key=distance), None, None][:2]
    chosen = replace(settings.settings_of(tip), target=target, subtarget="", pole_target=pole, pole_subtarget="")
    if target is not None:
        check_targets(ob, chain, chosen)
    parent_pose = reader.parent_pose(evaluated[0])
    return bones, fk_chain(bones, parent_pose), target and Control(target), pole and Control(pole)


def new_empty(home: bpy.types.Collection, name: str, at_world: Vector, display: str, size: float) -> bpy.types.Object:
    """A new Empty in a collection."""
    empty = bpy.data.objects.new(name, None)
    empty.empty_display_type = display
    empty.empty_display_size = size
    empty.location = at_world
    empty.show_in_front = True
    home.objects.link(empty)
    return empty


def switch_following(context: bpy.types.Context, tip: bpy.types.PoseBone, follows: bool) -> None:
    """Let the pole target of a chain keep between foot and body, or not any longer. Nothing moves at this frame.

    Raises ChainError, with nothing changed, if it cannot, or has keys, which say where it is already.
    """
    ob, names = tip.id_data, pole_and_carriers(tip)
    check_changeable(ob)
    check_editable_bones(ob)
    nodes = {node for name in names[1:] for node in followed_nodes(ob, name)}
    if not names or (ob, names[0]) in nodes:
        raise ChainError(messages.POLE_CANNOT_FOLLOW()).of(messages.BONE(bone=tip.name))
    pole, carriers = Control(ob, names[0]), names[1:]
    if any(name == pole.bone for clip in clips_of(ob) for name, _ in moved_channels(clip)):
        raise ChainError(messages.POLE_KEYED(pole=pole.bone)).of(messages.BONE(bone=tip.name))
    parent = "" if follows else root_bone(ob, known_bones(tip)[0].name)
    reader = SceneReader(context.evaluated_depsgraph_get()).armature(ob)
    place_world = reader.world @ reader.pose_of(reader.tip(pole.bone))
    try:
        check_control(pole)
        if follows:
            check_way(pole.bone, reader.way_with(dict.fromkeys(carriers, 1.0 / len(carriers))))
    except ChainError as error:
        raise error.of(messages.BONE(bone=tip.name)) from error
    stop_following(pole.owner)
    with edit_bones(ob) as bones:
        bones[pole.bone].parent = bones.get(parent)
    if follows:
        let_follow(pole.owner, carriers)
    Placer(SceneReader(context.evaluated_depsgraph_get())).place(pole, place_world)
    tag_pose(ob)


def words_of(control: Control) -> str:
    """A control that was made, in a sentence."""
    return messages.NEW_BONE(bone=control.bone) if control.bone else messages.NEW_EMPTY(empty=control.name)


def new_control(context: bpy.types.Context, tip: bpy.types.PoseBone, role: str, as_bone: bool) -> Control:
    """Make a target or a pole for a chain, which does not follow it yet. Raises ChainError, with nothing changed."""
    ob = tip.id_data
    if as_bone:
        check_editable_bones(ob)
    home = home_of(ob, context.scene)
    reader = SceneReader(context.evaluated_depsgraph_get()).armature(ob)
    try:
        evaluated = chain_bones(reader.tip(tip.name), tip.analytic_ik_chain_count)
        links = reader.links(evaluated)
        chain = fk_chain(links, reader.parent_pose(evaluated[0]))
    except ChainError as error:
        raise error.of(messages.BONE(bone=tip.name)) from error
    is_target, joints = role == "target", fk_joints(links)
    at = target_place(joints, chain) if is_target else pole_place(joints, chain)
    if as_bone:
        limb, end = limb_with_tip(tip), tip.analytic_ik_end_bone
        if limb is None or limb.end != end:
            # It is no limb with a name.
            limb = FoundLimb("", "", "", tuple(bone.name for bone in evaluated), end, "", "")
        places = (at, None) if is_target else (None, at)
        made = make_control_bones(context, reader, links, limb, chain, *places)
    else:
        made = (_empty_for(home, reader, tip, role, at, chain.length),)
    return next(filter(None, made))
