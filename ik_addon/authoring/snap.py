"""Between FK and IK: the controls go to where the FK pose puts them, or the solved pose becomes the FK pose."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace

import bpy
import numpy as np
from mathutils import Matrix

from .. import messages
from ..bake.keys import BoneKeys, check_keyable, check_undriven, check_unshared, key_times, write_keys
from ..bake.stepping import Steps, at_once, stepping, stepping_apart
from ..rig.blender.animation import animated_paths
from ..rig.blender.armatures import armature_named, armature_objects, posed_armatures, tag_pose
from ..rig.blender.bones import rotation_in
from ..rig.blender.channels import LOCATION, Raw
from ..rig.blender.rotations import continuous_numbers
from ..rig.data.settings import settings_of
from ..rig.data.undoing import all_or_nothing
from ..rig.live.others import others_handle_frames
from ..rig.model.foot import possible_end_bones
from ..rig.model.limb import Limb, chain_bones, fk_joints
from ..rig.model.order import ChainName, chain_order, live_tips, objects_of
from ..rig.pose.carrying import follow
from ..rig.pose.posing import write_fk
from ..rig.pose.reading import SceneReader, check_targets
from ..rig.pose.solving import solve_limb, tell
from ..solvers import ChainError
from ..solvers.bending import is_straight, start_frame
from ..solvers.reach import uneased
from .control_bones import new_bones_taken_back
from .new_controls import new_pole_control
from .places import BEYOND
from .placing import Control, Placer, check_control, depth

_BEND_SETTINGS = {"swivel": 0.0, "flip": False, "foot_roll": 0.0}
"""What a snap sets back, since target and pole alone shall carry the limb."""


@dataclass(slots=True)
class Snapped:
    """What `snap_targets` did. missed: the largest way of a joint from its FK place, in chain lengths, for each tip.

    lengths: of the chains of these tips, in world units. poles: the pole targets that were made.
    """

    missed: dict[str, float] = field(default_factory=dict)
    lengths: dict[str, float] = field(default_factory=dict)
    poles: list[Control] = field(default_factory=list)


def targets_snapped(
    context: bpy.types.Context,
    tips: Sequence[bpy.types.PoseBone],
    frames: range | None = None,
    as_bones: bool = False,
) -> Steps[Snapped]:
    """In steps: bring targets and poles of chains to where the FK pose puts them: so the controls alone carry the limb.

    frames: to key the controls at; None: the present frame, without keys. A chain without a pole gets one, an Empty or
    `as_bones` a control bone. Swivel, flip and foot roll go back to zero. Raises ChainError that names the bone, with
    nothing changed, where a control would not stay where it is put. Closed before the end, the steps leave everything
    as it was.
    """
    controls = _checked_controls(tips, frames)
    changed = [tip.id_data for tip in tips] + [control.ob for own in controls.values() for control in own]
    growing = {tip.id_data for tip in tips} if as_bones else ()
    with all_or_nothing(changed) as undo, new_bones_taken_back(*growing):
        done = Snapped()
        _make_poles(context, tips, controls, done, as_bones)
        undo.nothing_more_is_made()
        samples = yield from _snap_controls(context, tips, controls, frames, done)
        with all_or_nothing([control.ob for control in samples], keys=True):
            if frames is not None:
                _key_controls(samples, frames)
            for tip in tips:
                tag_pose(tip.id_data)
            return done


snap_targets = at_once(targets_snapped)
"""Bring targets and poles to where the FK pose puts them, all at once: see `targets_snapped`."""


def _make_poles(
    context: bpy.types.Context,
    tips: Sequence[bpy.types.PoseBone],
    controls: dict[bpy.types.PoseBone, list[Control]],
    done: Snapped,
    as_bones: bool,
) -> None:
    """Leave all bending to poles, and make those that are missing."""
    for tip in tips:
        for name, value in _BEND_SETTINGS.items():
            setattr(tip, f"analytic_ik_{name}", value)
        if tip.analytic_ik_pole_target is None:
            pole = new_pole_control(context, tip, as_bones)
            tip.analytic_ik_pole_target, tip.analytic_ik_pole_subtarget = pole.ob, pole.bone
            done.poles.append(pole)
            controls[tip].append(pole)


def _snap_controls(
    context: bpy.types.Context,
    tips: Sequence[bpy.types.PoseBone],
    controls: dict[bpy.types.PoseBone, list[Control]],
    frames: range | None,
    done: Snapped,
) -> Steps[dict[Control, list[tuple[Raw, ...]]]]:
    """Put controls where they are wanted at each frame; returns what their channels hold there."""
    chosen = {ChainName(tip.id_data.name_full, tip.name): controls[tip] for tip in tips}
    reaches: dict[Control, float] = {}
    samples: dict[Control, list[tuple[Raw, ...]]] = {control: [] for own in controls.values() for control in own}
    with closing(_stepped(context, tips, frames)) as scenes:
        for step, scene in scenes:
            placer, wanted = Placer(scene), {}
            for chain, limb in _limbs(scene, set(chosen)):
                target, pole = chosen[chain]
                goal, places = _goal_of(limb, target, pole, placer, reaches)
                wanted |= places
                done.missed[chain.tip] = max(done.missed.get(chain.tip, 0.0), _missed(limb, goal))
                done.lengths[chain.tip] = limb.chain.length * limb.world.median_scale
            for control in sorted(wanted, key=depth):
                samples[control].append(placer.place(control, wanted[control]))
            yield step
    return samples


def pose_snapped(
    context: bpy.types.Context,
    tips: Sequence[bpy.types.PoseBone],
    frames: range | None = None,
    at_full_influence: bool = True,
) -> Steps[None]:
    """In steps: make the solved pose of chains their FK pose: at full influence, or else as it is shown; with the place
    of a bone that follows them alone.

    frames: to key the bones at, in the current action; None: the present frame, without keys. Raises ChainError that
    names the bone, with nothing changed, where a chain cannot be solved or keyed. (The toe of a rolled foot is turned
    against its FK pose: after this it stands as it did at influence 0.)
    """
    chosen = {ChainName(tip.id_data.name_full, tip.name) for tip in tips}
    for tip in tips:
        bones = chain_bones(tip) + possible_end_bones(tip)
        check_undriven(tip.id_data, [bone.name for bone in bones], "rotation")
        if frames is not None:
            check_keyable(tip.id_data)
    if frames is not None:
        check_unshared(list(dict.fromkeys(tip.id_data for tip in tips)))
    tip_of = {chain: armature_named(chain.armature).pose.bones[chain.tip] for chain in chosen}
    rotations: dict[tuple[str, str, str], list[Raw]] = {}
    with closing(_stepped(context, tips, frames)) as scenes:
        for step, scene in scenes:
            bodies: dict[ChainName, Raw] = {}
            for chain, limb in _limbs(scene, chosen, True, at_full_influence, bodies):
                solved = zip(limb.turned, solve_limb(limb).rotations, strict=True)
                found = {(reading.name, reading.mode): raw for reading, raw in solved}
                # What rides on the chain's end may be turned at some of the frames only.
                for end in possible_end_bones(tip_of[chain]) if frames is not None else ():
                    mode, fk = scene.armature(end.id_data).fk.rotation(end.name)
                    found.setdefault((end.name, mode), fk)
                for (name, mode), raw in found.items():
                    rotations.setdefault((chain.armature, name, mode), []).append(raw)
            for body, location in bodies.items():
                rotations.setdefault((body.armature, body.tip, LOCATION), []).append(location)
            yield step
    armatures = dict.fromkeys(tip.id_data for tip in tips)
    with all_or_nothing(armatures, keys=frames is not None):
        _write_pose(armatures, rotations, frames)


snap_pose = at_once(pose_snapped)
"""Make the solved pose the FK pose, all at once: see `pose_snapped`."""


def _write_pose(
    armatures: Iterable[bpy.types.Object], rotations: dict[tuple[str, str, str], list[Raw]], frames: range | None
) -> None:
    """Make rotations and locations the FK poses of armature objects, by names, bones and modes; frames: with keys."""
    for armature in armatures:
        own = {(bone, mode): raws for (name, bone, mode), raws in rotations.items() if name == armature.name_full}
        if frames is None:
            write_fk(armature, {channel: raws[-1] for channel, raws in own.items()})
        else:
            write_keys(armature, [_keys(bone, mode, raws, frames) for (bone, mode), raws in own.items()], "CURRENT")
        armature.update_tag()


def _checked_controls(
    tips: Sequence[bpy.types.PoseBone], frames: range | None
) -> dict[bpy.types.PoseBone, list[Control]]:
    """Target and pole of each tip; ChainError where one of them cannot be put anywhere."""
    controls, owners = {}, {}
    for ob in {tip.id_data for tip in tips}:
        for other in map(ob.pose.bones.get, live_tips(ob)):
            if other not in tips:
                owners[other.analytic_ik_target, other.analytic_ik_subtarget] = other
                owners[other.analytic_ik_pole_target, other.analytic_ik_pole_subtarget] = other
    for tip in tips:
        settings = settings_of(tip)
        try:
            check_targets(tip.id_data, chain_bones(tip), settings)
            found = [Control(settings.target, settings.subtarget, settings.use_rotation)]
            if settings.pole_target is not None:
                found.append(Control(settings.pole_target, settings.pole_subtarget, False))
            for control in found:
                check_control(control)
                other = owners.setdefault((control.ob, control.bone), tip)
                if other is not tip:
                    raise ChainError(messages.CONTROL_SHARED(tip=other.name, control=control.shown))
                if frames is not None:
                    check_keyable(control.ob)
            animated = set(animated_paths(tip.id_data))
            for name in _BEND_SETTINGS:
                if f"{tip.path_from_id()}.analytic_ik_{name}" in animated:
                    raise ChainError(messages.SETTING_ANIMATED(setting=name.replace("_", " ")))
        except ChainError as error:
            raise error.of(messages.BONE(bone=tip.name)) from error
        controls[tip] = found
    return controls


def _stepped(
    context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone], frames: range | None
) -> Generator[tuple[tuple[int, int], SceneReader], None, None]:
    """The scene at each frame, before chains are solved there, with the step that this is; without frames, as it
    stands.

    Without meshes and all else that chains do not depend on, where that shows the same.
    """
    if frames is None:
        yield (1, 1), SceneReader(context.evaluated_depsgraph_get())
        return
    with ExitStack() as stack:
        go_to = None
        if not others_handle_frames():
            # All live chains may move these.
            live = (ob.pose.bones[name] for ob in armature_objects() for name in live_tips(ob))
            needed = [each for tip in (*tips, *live) for each in objects_of(tip)]
            go_to = stack.enter_context(stepping_apart(context, needed))
        go_to = go_to or stack.enter_context(stepping(context))
        for done, frame in enumerate(frames, 1):
            yield (done, len(frames)), SceneReader(go_to(frame), frame_changed=True)


def _limbs(
    scene: SceneReader,
    chosen: set[ChainName],
    solved: bool = False,
    at_full_influence: bool = True,
    bodies: dict[ChainName, Raw] | None = None,
) -> Iterator[tuple[ChainName, Limb]]:
    """Read the chosen chains, each after those that move it, as all others leave it.

    Those that are chosen are in their FK pose afterwards, or solved; in their FK pose no bone follows them. bodies: is
    told where bones went that follow them alone. Raises ChainError where one of the chains cannot be read.
    """
    order = chain_order(ob.evaluated_get(scene.depsgraph) for ob in posed_armatures(scene.depsgraph))
    switched_off = [chain for chain in sorted(chosen) if chain not in order.bones and chain not in order.errors]
    for chain in [*order.steps, *switched_off]:
        reader = scene.armature(armature_named(chain.armature))
        try:
            if chain in order.limbs:
                limbs = [limb for limb in order.limbs[chain] if solved or limb not in chosen]
                posed = follow(reader, chain.tip, [limb.tip for limb in limbs])
                if bodies is not None and chosen.issuperset(limbs):
                    bodies[chain] = posed.location
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


def _goal_of(
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


def _missed(limb: Limb, goal: Limb) -> float:
    """The largest way of a joint from the FK pose to the solved one, in chain lengths."""
    poses = solve_limb(goal).poses_armature
    return (
        max((a - b).length for a, b in zip(goal.joints(poses), fk_joints(limb.bones), strict=True)) / limb.chain.length
    )


def _key_controls(samples: dict[Control, list[tuple[Raw, ...]]], frames: range) -> None:
    """Key controls in their current actions."""
    by_object: dict[bpy.types.Object, list[BoneKeys]] = {}
    for control, rows in samples.items():
        keys = [_keys(control.bone, mode, [row[k] for row in rows], frames) for k, mode in enumerate(control.modes)]
        by_object.setdefault(control.ob, []).extend(keys)
    for ob, keys in by_object.items():
        write_keys(ob, keys, "CURRENT")


def _keys(bone: str, mode: str, raws: Sequence[Raw], frames: range) -> BoneKeys:
    numbers = raws if mode == LOCATION else continuous_numbers(raws, mode)
    times = key_times(frames)
    return BoneKeys(bone, mode, times, np.array(numbers, np.float32), (float(times[0]), float(times[-1])))
