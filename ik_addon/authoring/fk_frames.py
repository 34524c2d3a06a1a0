"""Chains in their FK pose at each frame, and where their controls have to be for it."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

import bpy
import numpy as np
from mathutils import Matrix

from .. import messages
from ..bake.keys import BoneKeys, check_keyable, key_times, write_keys
from ..bake.stepping import stepping_lightly
from ..rig.blender.animation import animated_paths
from ..rig.blender.armatures import armature_named, armature_objects, posed_armatures
from ..rig.blender.rotations import LOCATION, SCALE, Raw, continuous_numbers, rotation_in
from ..rig.data.settings import path_of, settings_of, target_and_pole
from ..rig.model.limb import Limb, chain_bones, fk_joints
from ..rig.model.order import ChainName, KnownOrders, live_tips, objects_of
from ..rig.pose.checks import check_targets
from ..rig.pose.following import follow_limbs
from ..rig.pose.reading import SceneReader
from ..rig.pose.solving import solve_limb, tell
from ..solvers import ChainError
from ..solvers.bending import is_straight, start_frame
from ..solvers.chain import uneased
from .control_collections import BEYOND
from .placing import Control, Placer, check_control

BEND_SETTINGS = {"swivel": 0.0, "flip": False, "foot_roll": 0.0}
"""What a snap sets back, since target and pole alone shall carry the limb."""


def checked_controls(
    tips: Sequence[bpy.types.PoseBone], frames: range | None
) -> dict[bpy.types.PoseBone, list[Control]]:
    """Target and pole of each tip; ChainError where one of them cannot be put anywhere."""
    controls, owners = {}, {}
    for ob in {tip.id_data for tip in tips}:
        for other in map(ob.pose.bones.get, live_tips(ob)):
            if other not in tips:
                owners |= dict.fromkeys(target_and_pole(other), other)
    for tip in tips:
        settings = settings_of(tip)
        try:
            check_targets(tip.id_data, chain_bones(tip), settings)
            found = [Control(settings.target, settings.subtarget, settings.use_rotation)]
            if settings.pole_target is not None:
                found.append(Control(settings.pole_target, settings.pole_subtarget, False))
            for control in found:
                check_control(control, frames is not None)
                other = owners.setdefault((control.ob, control.bone), tip)
                if other is not tip:
                    raise ChainError(messages.CONTROL_SHARED(tip=other.name, control=control.shown))
                if frames is not None:
                    check_keyable(control.ob)
            animated = set(animated_paths(tip.id_data))
            for name in BEND_SETTINGS:
                if path_of(tip, name) in animated:
                    raise ChainError(messages.SETTING_ANIMATED(setting=name.replace("_", " ")))
        except ChainError as error:
            raise error.of(messages.BONE(bone=tip.name)) from error
        controls[tip] = found
    return controls


def stepped(
    context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone], frames: Sequence[float] | None
) -> Generator[tuple[tuple[int, int], SceneReader], None, None]:
    """The scene at each frame, before chains are solved there, with the step that this is; without frames, as it
    stands.

    Without meshes and all else that chains do not depend on, where that shows the same.
    """
    if frames is None:
        yield (1, 1), SceneReader(context.evaluated_depsgraph_get())
        return
    # All live chains may move these.
    live = (ob.pose.bones[name] for ob in armature_objects() for name in live_tips(ob))
    with stepping_lightly(context, [each for tip in (*tips, *live) for each in objects_of(tip)]) as go_to:
        for done, frame in enumerate(frames, 1):
            yield (done, len(frames)), SceneReader(go_to(frame), frame_changed=True)


def limbs_in_fk(
    scene: SceneReader,
    chosen: set[ChainName],
    orders: KnownOrders,
    solved: bool = False,
    at_full_influence: bool = True,
    bodies: dict[ChainName, dict[str, Raw]] | None = None,
) -> Iterator[tuple[ChainName, Limb]]:
    """Read the chosen chains, each after those that move it, as all others leave it.

    Those that are chosen are in their FK pose afterwards, or solved; in their FK pose no bone follows them. orders: of
    the chains, as they were at other frames. bodies: is told the channels of bones that follow them alone. Raises
    ChainError where one of the chains cannot be read.
    """
    order = orders.of(ob.evaluated_get(scene.depsgraph) for ob in posed_armatures(scene.depsgraph))
    switched_off = [chain for chain in sorted(chosen) if chain not in order.bones and chain not in order.errors]
    for chain in [*order.steps, *switched_off]:
        reader = scene.armature(armature_named(chain.armature))
        try:
            if chain in order.limbs:
                limbs = [limb for limb in order.limbs[chain] if solved or limb not in chosen]
                posed = follow_limbs(reader, chain.tip, [limb.tip for limb in limbs])
                if bodies is not None and chosen.issuperset(limbs):
                    bodies[chain] = posed.channels
                continue
            limb = reader.limb(chain.tip)
            if chain in chosen:
                if at_full_influence:
                    limb = replace(limb, settings=replace(limb.settings, influence=1.0))
                yield chain, limb
            if chain not in chosen or solved:
                tell(reader, solve_limb(limb))
                continue
        except ChainError:
            if chain in chosen:
                raise
            continue
        for reading in limb.turned:
            reader.pose(reading.name, reading.pose_armature)
    for chain in chosen & order.errors.keys():
        raise order.errors[chain]


def fk_goal(
    limb: Limb, target: Control, pole: Control, placer: Placer, reaches: dict[Control, float]
) -> tuple[Limb, dict[Control, Matrix]]:
    """The limb with the goal that gives its FK pose, and where target and pole have to be for it, in the world."""
    joints, chain, settings = fk_joints(limb.bones), limb.chain, limb.settings
    frame, root = start_frame(chain), joints[0]
    offset = joints[-1] - root
    distance = offset.length
    if is_straight(chain) and distance > chain.length * (1.0 - BEYOND):
        distance = chain.length * (1.0 + BEYOND)
    elif settings.reach != "STRETCH" and chain.limits is None:
        distance = uneased(distance, chain.length, settings.softness)
    target_armature = root + frame.along * distance if distance != offset.length else joints[-1]
    knee = joints[1] if len(limb.bones) > 1 else root
    # The knees of a longer chain lie beside the plane in which it bends as a whole.
    knee -= frame.normal * (knee - root).dot(frame.normal)
    if pole not in reaches:
        present = (limb.pole_armature - knee).length if limb.pole_armature else 0.0
        reaches[pole] = min(max(present, 0.5 * chain.length), 3.0 * chain.length)
    pole_armature = knee + frame.side * reaches[pole]
    ends = [replace(end, orientation=end.reading.orientation(end.reading.pose_armature)) for end in limb.ends]
    target_world, pole_world = placer.world_of(target), placer.world_of(pole)
    if ends:
        turn = ends[0].orientation @ limb.ends[0].orientation.inverted()
        world = rotation_in(limb.world)
        target_world = (world @ turn @ world.inverted()).to_matrix().to_4x4() @ target_world
    target_world.translation, pole_world.translation = limb.world @ target_armature, limb.world @ pole_armature
    goal = replace(limb, target_armature=target_armature, pole_armature=pole_armature, ends=tuple(ends))
    return goal, {target: target_world, pole: pole_world}


def key_controls(samples: dict[Control, list[tuple[Raw, ...]]], frames: range) -> None:
    """Key controls in their current actions."""
    by_object: dict[bpy.types.Object, list[BoneKeys]] = {}
    for control, rows in samples.items():
        keys = [keys_of(control.bone, mode, [row[k] for row in rows], frames) for k, mode in enumerate(control.modes)]
        by_object.setdefault(control.ob, []).extend(keys)
    for ob, keys in by_object.items():
        write_keys(ob, keys, "CURRENT")


def keys_of(bone: str, mode: str, raws: Sequence[Raw], frames: Sequence[int]) -> BoneKeys:
    """Keys of a bone's channel, or of the object's where `bone` is "", at frames of the scene. mode: of the channel."""
    numbers = raws if mode in (LOCATION, SCALE) else continuous_numbers(raws, mode)
    times = key_times(frames)
    return BoneKeys(bone, mode, times, np.array(numbers, np.float32), (float(times[0]), float(times[-1])))
