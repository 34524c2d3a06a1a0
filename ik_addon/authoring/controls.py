"""Put a chain on a limb without moving a bone, and take it off again."""

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import NamedTuple

import bpy
from mathutils import Vector

from .. import messages
from ..rig.blender.channels import SCALE, Raw, raw_values
from ..rig.blender.movers import check_unmoved
from ..rig.data import settings
from ..rig.data.switch import check_switchable, mute_switch
from ..rig.data.undoing import all_or_nothing
from ..rig.model.chains import fk_chain
from ..rig.model.foot import possible_end_bones
from ..rig.model.lengthening import factors, present_ratio
from ..rig.model.limb import BoneReading, chain_bones, fk_joints, known_bones
from ..rig.model.order import live_tips
from ..rig.pose.posing import Channel, write_fk
from ..rig.pose.reading import ArmatureReader, SceneReader, check_targets
from ..rig.status.problems import check_changeable
from ..solvers import Chain, ChainError, solver_for
from ..solvers.bending import is_straight, start_frame
from .adopted import animated_by_adopting
from .ends import end_bone_of
from .homes import home_of, is_controls_home, is_local
from .influence import remove_animation
from .unmoved import bones_stay

BEYOND = 4e-6
"""How far beyond a straight limb its new target lies, in chain lengths: nearer, rounding would bend it."""


class Added(NamedTuple):
    """What `add_chain` set up. straight: the limb does not show where it bends, so its hinge decided."""

    target: bpy.types.Object
    pole: bpy.types.Object | None
    straight: bool


def add_chain(
    context: bpy.types.Context,
    tip: bpy.types.PoseBone,
    chain_count: int,
    solver: str,
    with_pole: bool,
    controls: Sequence[bpy.types.Object] = (),
    straight_axis: str = "AUTO",
    end_bone: str | None = None,
) -> Added:
    """Make a bone the tip of a live chain.

    controls: objects chosen as target and pole: one is the target; of two, the nearer to the chain's end is. What is
    missing is made as Empties: the target on the chain's end, the pole in the present bend plane, so that
    no bone moves. Chains over two links keep their pose by least motion. straight_axis: see the setting. end_bone: the
    bone at whose head the chain ends, "": at the tip's tail, None: it is found. Raises ChainError, with nothing
    changed, where the chain could not be solved, or moves a bone though no control was chosen.
    """
    ob = tip.id_data
    check_changeable(ob)
    with all_or_nothing([ob, *controls]), nullcontext() if controls else bones_stay(context, tip):
        home = home_of(ob, context.scene)
        reader = SceneReader(context.evaluated_depsgraph_get()).armature(ob)
        if end_bone is None:
            end_bone = end_bone_of(tip)
        tip.analytic_ik_straight_axis, tip.analytic_ik_end_bone = straight_axis, end_bone
        try:
            bones, chain, target, pole = _checked(reader, tip, chain_count, solver, controls)
        except ChainError as error:
            raise error.of(messages.BONE(bone=tip.name)) from error
        joints_armature = fk_joints(bones)
        straight, frame = is_straight(chain), start_frame(chain)
        size = 0.1 * chain.length * reader.world.median_scale
        if target is None:
            at_armature = target_place(joints_armature, chain)
            target = new_empty(home, f"{tip.name} target", reader.world @ at_armature, "SPHERE", size)
        if pole is None and with_pole:
            knee = joints_armature[1] if len(bones) > 1 else joints_armature[0]
            # The knees of a longer chain lie beside the plane in which it bends as a whole.
            beside = frame.normal * (knee - joints_armature[0]).dot(frame.normal)
            at_armature = knee - beside + frame.side * chain.length
            pole = new_empty(home, f"{tip.name} pole", reader.world @ at_armature, "PLAIN_AXES", size)
        # What an earlier chain left here, a swivel or a target's bone, is none of this one's.
        settings.clear_settings(tip)
        tip.analytic_ik_target = target
        tip.analytic_ik_pole_target = pole
        tip.analytic_ik_chain_count = chain_count
        tip.analytic_ik_solver = solver
        tip.analytic_ik_straight_axis = straight_axis
        tip.analytic_ik_end_bone = end_bone
        tip.analytic_ik_least_motion = len(bones) > 2
        tip.analytic_ik_enabled = True
        return Added(target, pole, straight)


def target_place(joints_armature: Sequence[Vector], chain: Chain) -> Vector:
    """Where a target leaves a limb in the pose that it has, in armature space.

    joints_armature: of the limb in that pose, root first; chain: the limb's chain in it.
    """
    # A folded limb, or an S, has no bulge either; but it is not stretched out.
    extended = (joints_armature[-1] - joints_armature[0]).length > chain.length * (1.0 - BEYOND)
    if is_straight(chain) and extended and len(joints_armature) > 2:
        return joints_armature[0] + start_frame(chain).along * (chain.length * (1.0 + BEYOND))
    return joints_armature[-1]


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
    mute_switch(ob, tip)
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


def controls_of(tip: bpy.types.PoseBone) -> list[bpy.types.Object]:
    """The target and pole objects of a chain."""
    return [control for control in (tip.analytic_ik_target, tip.analytic_ik_pole_target) if control]


def unused(controls: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Those of them that are this file's own Empties and that no chain of the file follows."""
    used = {
        control
        for ob in bpy.data.objects
        if ob.type == "ARMATURE"
        for bone in ob.pose.bones
        for control in controls_of(bone)
    }
    free = (control for control in dict.fromkeys(controls) if control not in used)
    return [control for control in free if control.type == "EMPTY" and is_local(control)]


def delete_controls(ob: bpy.types.Object, controls: Iterable[bpy.types.Object]) -> None:
    """Delete controls of an armature object, and the collection that was made for them if that leaves it empty."""
    homes = set()
    for control in controls:
        homes.update(each for each in control.users_collection if is_controls_home(each, ob))
        bpy.data.objects.remove(control)
    for home in homes:
        if not home.objects and not home.children:
            bpy.data.collections.remove(home)


def _checked(
    reader: ArmatureReader,
    tip: bpy.types.PoseBone,
    chain_count: int,
    solver: str,
    controls: Sequence[bpy.types.Object],
) -> tuple[tuple[BoneReading, ...], Chain, bpy.types.Object | None, bpy.types.Object | None]:
    """The bones, their chain, and which of the chosen controls is its target and which its pole."""
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
    return bones, fk_chain(bones, reader.parent_pose(evaluated[0])), target, pole


def new_empty(home: bpy.types.Collection, name: str, at_world: Vector, display: str, size: float) -> bpy.types.Object:
    """A new Empty in a collection: see homes.py."""
    empty = bpy.data.objects.new(name, None)
    empty.empty_display_type = display
    empty.empty_display_size = size
    empty.location = at_world
    empty.show_in_front = True
    home.objects.link(empty)
    return empty
