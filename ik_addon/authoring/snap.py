"""Between FK and IK: snap one to the other, in one clip or several, and switch without a jump."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from functools import partial

import bpy

from .. import messages
from ..bake.clips import Chosen, clips_made
from ..bake.keys import check_keyable, check_undriven, write_keys
from ..bake.stepping import Steps, at_once
from ..rig.blender.animation import driver_at
from ..rig.blender.armatures import armature_named, tag_pose
from ..rig.blender.clips import Clip, play, playing_clip
from ..rig.blender.rotations import Raw, channel_of
from ..rig.data.control_clips import let_controls_play, partner, partners_made, separate_controls
from ..rig.data.settings import path_of, set_to, settings_of
from ..rig.data.undoing import all_or_nothing
from ..rig.live.state import unseen
from ..rig.model.foot import possible_end_bones
from ..rig.model.limb import Limb, chain_bones, fk_joints
from ..rig.model.order import ChainName, KnownOrders
from ..rig.pose.posing import write_fk
from ..rig.pose.solving import solve_limb
from ..rig.status.problems import check_changeable
from ..solvers import ChainError
from .clip_tracks import ClipTracks
from .control_bones import new_bones_taken_back
from .controls import new_control
from .fk_frames import (
    BEND_SETTINGS,
    Samples,
    Slopes,
    are_carried,
    checked_controls,
    controls_in,
    controls_over,
    fk_goal,
    key_controls,
    keys_of,
    limbs_in_fk,
    stepped,
)
from .keys import hold_before, key_if_asked
from .placing import Control, Placer, depth


@dataclass(slots=True)
class Snapped:
    """What `snap_targets` did. missed: the largest way of a joint from its FK place, in chain lengths, for each tip.

    lengths: of the chains of these tips, in world units. poles: the pole targets that were made. slopes: see
    `ControlTracks`.
    """

    missed: dict[str, float] = field(default_factory=dict)
    lengths: dict[str, float] = field(default_factory=dict)
    poles: list[Control] = field(default_factory=list)
    slopes: Slopes = field(default_factory=dict)


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
    controls = checked_controls(tips, frames)
    changed = [tip.id_data for tip in tips] + [control.ob for own in controls.values() for control in own]
    growing = {tip.id_data for tip in tips} if as_bones else ()
    with new_bones_taken_back(*growing), all_or_nothing(changed) as undo:
        done = Snapped(poles=leave_to_poles(context, tips, controls, as_bones))
        undo.nothing_more_is_made()
        samples = yield from _snap_controls(context, tips, controls, frames, done)
        armatures = dict.fromkeys(tip.id_data for tip in tips)
        clips = [clip for clip in map(playing_clip, armatures if frames else ()) if clip is not None]
        with all_or_nothing([control.ob for control in samples], keys=True, actions=[clip.action for clip in clips]):
            _keep(tips, samples, frames, done.slopes)
            return done


snap_targets = at_once(targets_snapped)


def motion_snapped(
    context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone], frames: range, clips: ClipTracks
) -> Steps[Snapped]:
    """In steps: the same over frames of a clip, as part of a work over `clips` that takes care that all or nothing is
    done; nobody sees chains meanwhile."""
    done, controls = Snapped(), checked_controls(tips, frames)
    done.poles = leave_to_poles(context, tips, controls)
    with unseen():
        samples = yield from _snap_controls(context, tips, controls, frames, done, clips)
        _keep(tips, samples, frames, done.slopes)
    return done


def poles_snapped(context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone], frames: range) -> Steps[None]:
    """In steps: key nothing but the poles of chains where the FK pose puts them, as part of a work that takes care that
    all or nothing is done. Chains that more than a pole bends are left out."""
    controls = {}
    for tip, settings in ((tip, settings_of(tip)) for tip in tips):
        if settings.pole_target and all(getattr(settings, name) == value for name, value in BEND_SETTINGS.items()):
            pole = Control(settings.pole_target, settings.pole_subtarget)
            controls[tip] = [Control(settings.target, settings.subtarget, settings.use_rotation), pole]
    done = Snapped()
    samples = yield from _snap_controls(context, [*controls], controls, frames, done)
    _keep([*controls], {pole: samples[pole] for _, pole in controls.values()}, frames, done.slopes)


def _keep(
    tips: Sequence[bpy.types.PoseBone],
    samples: Samples,
    frames: range | None,
    slopes: Slopes,
) -> None:
    """Key controls where they were put; without frames they are there."""
    for ob in dict.fromkeys(tip.id_data for tip in tips):
        if frames is not None:
            let_controls_play(ob)
        tag_pose(ob)
    if frames is not None:
        key_controls(samples, frames, slopes)


def leave_to_poles(
    context: bpy.types.Context,
    tips: Sequence[bpy.types.PoseBone],
    controls: dict[bpy.types.PoseBone, list[Control]],
    as_bones: bool = False,
) -> list[Control]:
    """Leave all bending to poles, and make those that are missing: they come into `controls`. Returns them."""
    made = []
    for tip in tips:
        set_to(tip, BEND_SETTINGS)
        if tip.analytic_ik_pole_target is None:
            pole = new_control(context, tip, "pole", as_bones)
            tip.analytic_ik_pole_target, tip.analytic_ik_pole_subtarget = pole.ob, pole.bone
            made.append(pole)
            controls[tip].append(pole)
    return made


def _snap_controls(
    context: bpy.types.Context,
    tips: Sequence[bpy.types.PoseBone],
    controls: dict[bpy.types.PoseBone, list[Control]],
    frames: range | None,
    done: Snapped,
    clips: ClipTracks | None = None,
) -> Steps[Samples]:
    """Put controls where they are wanted at each frame; returns what their channels hold there."""
    if frames is not None:
        together = clips if clips is not None and not are_carried(controls) else None
        sampled = together and together.of(context, tips, frames, partial(controls_in, controls))
        sampled = sampled or controls_over(context, controls, frames)
        if sampled is not None:
            samples, done.missed, done.lengths, done.slopes = sampled
            yield len(frames), len(frames)
            return samples
    chosen = {ChainName(tip.id_data.name_full, tip.name): controls[tip] for tip in tips}
    reaches: dict[Control, float] = {}
    samples: Samples = {control: [] for own in controls.values() for control in own}
    orders, in_order = KnownOrders(), sorted(samples, key=depth)
    with closing(stepped(context, tips, frames)) as scenes:
        for step, scene in scenes:
            placer, wanted = Placer(scene), {}
            for chain, limb in limbs_in_fk(scene, set(chosen), orders):
                target, pole = chosen[chain]
                goal, places = fk_goal(limb, target, pole, placer, reaches)
                wanted |= places
                done.missed[chain.tip] = max(done.missed.get(chain.tip, 0.0), _missed(limb, goal))
                done.lengths[chain.tip] = limb.chain.length * limb.world.median_scale
            for control in in_order:
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
    tip_of = {chain: armature_named(chain.armature).pose.bones[chain.tip] for chain in chosen}
    rotations: dict[tuple[str, str, str], list[Raw]] = {}
    orders = KnownOrders()
    with closing(stepped(context, tips, frames)) as scenes:
        for step, scene in scenes:
            bodies: dict[ChainName, dict[str, Raw]] = {}
            for chain, limb in limbs_in_fk(scene, chosen, orders, True, at_full_influence, bodies):
                solved = zip(limb.turned, solve_limb(limb).rotations, strict=True)
                found = {(reading.name, reading.mode): raw for reading, raw in solved}
                # What rides on the chain's end may be turned at some of the frames only.
                for end in possible_end_bones(tip_of[chain]) if frames is not None else ():
                    mode, fk = scene.armature(end.id_data).fk.rotation(end.name)
                    found.setdefault((end.name, mode), fk)
                for (name, mode), raw in found.items():
                    rotations.setdefault((chain.armature, name, mode), []).append(raw)
            for body, channels in bodies.items():
                for mode, raw in channels.items():
                    rotations.setdefault((body.armature, body.tip, mode), []).append(raw)
            yield step
    armatures = dict.fromkeys(tip.id_data for tip in tips)
    with all_or_nothing(armatures, keys=frames is not None):
        _write_pose(armatures, rotations, frames)


snap_pose = at_once(pose_snapped)


def _write_pose(
    armatures: Iterable[bpy.types.Object], rotations: dict[tuple[str, str, str], list[Raw]], frames: range | None
) -> None:
    """Make rotations and locations the FK poses of armature objects, by names, bones and modes; frames: with keys."""
    for armature in armatures:
        own = {(bone, mode): raws for (name, bone, mode), raws in rotations.items() if name == armature.name_full}
        if frames is None:
            write_fk(armature, {channel: raws[-1] for channel, raws in own.items()})
        else:
            write_keys(armature, [keys_of(bone, mode, raws, frames) for (bone, mode), raws in own.items()], "CURRENT")
        armature.update_tag()


def _missed(limb: Limb, goal: Limb) -> float:
    """The largest way of a joint from the FK pose to the solved one, in chain lengths."""
    poses = solve_limb(goal).poses_armature
    return (
        max((a - b).length for a, b in zip(goal.joints(poses), fk_joints(limb.bones), strict=True)) / limb.chain.length
    )


def targets_snapped_in_clips(
    context: bpy.types.Context,
    tips: Sequence[bpy.types.PoseBone],
    clips: Chosen,
    frames: range | None = None,
    as_bones: bool = False,
) -> Steps[Snapped]:
    """In steps: key targets and poles of chains of one armature object in its clips, so that they carry the FK pose.

    frames: of what plays, see `targets_snapped`. A control that is an object plays in each clip what belongs to that;
    what it played of its own before is kept by a fake user. Raises ChainError that names the clip, with nothing
    changed.
    """
    ob, named = tips[0].id_data, [*filter(None, clips)]
    if not named:
        return (yield from targets_snapped(context, tips, frames, as_bones))
    controls = checked_controls(tips, range(0))
    objects = [ob, *(control.ob for own in controls.values() for control in own)]
    taken_back = new_bones_taken_back(*([ob] if as_bones else ()))
    with taken_back, all_or_nothing(objects, keys=True, actions=[clip.action for clip in named]):
        poles = leave_to_poles(context, tips, controls, as_bones)
        mine = {control.ob for own in controls.values() for control in own}
        mine &= {*separate_controls(ob)}
        partners_made(mine, named)
        tracks = ClipTracks(ob, named)
        found, _ = yield from clips_made(ob, named, lambda frames: motion_snapped(context, tips, frames, tracks))
        for control in mine:
            _play_partner(control, playing_clip(ob))
        return _all_of(found, poles)


def pose_snapped_in_clips(
    context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone], clips: Chosen, frames: range | None = None
) -> Steps[None]:
    """In steps: make the solved pose of chains of one armature object their FK pose in its clips.

    frames: of what plays, see `pose_snapped`. Raises ChainError that names the clip, with nothing changed.
    """
    ob, actions = tips[0].id_data, [clip.action for clip in filter(None, clips)]
    with all_or_nothing([ob], keys=True, actions=actions) if actions else nullcontext():
        yield from clips_made(ob, clips, lambda frames: pose_snapped(context, tips, frames), frames)


def _play_partner(control: bpy.types.Object, clip: Clip | None) -> None:
    """Let a control play what belongs to the clip that its armature plays, if anything does."""
    own, wanted = playing_clip(control), partner(control, clip) if clip else None
    if wanted in (None, own):
        return
    if own is not None and own.action.is_editable:
        # Without a user it would be lost when the file is saved.
        own.action.use_fake_user = True
    play(control, wanted)


def _all_of(found: Sequence[Snapped], poles: list[Control]) -> Snapped:
    """What was done in all clips as one: the largest misses."""
    tips = dict.fromkeys(tip for one in found for tip in one.missed)
    missed = {tip: max(one.missed.get(tip, 0.0) for one in found) for tip in tips}
    return Snapped(missed, {tip: length for one in found for tip, length in one.lengths.items()}, poles)


_INFLUENCE = "analytic_ik_influence"


def switch_to_fk(context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone]) -> None:
    """Make the current pose of chains their FK pose, and their influence 0. Raises ChainError, with nothing changed."""
    with _switching(tips):
        _hold_before(context, tips)
        snap_pose(context, tips, at_full_influence=False)
        _set_influence(context, tips, 0.0)
        _key_switch(context, tips)


def switch_to_ik(context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone], as_bones: bool = False) -> None:
    """Move the controls of chains to where the current pose puts them, and make their influence 1.

    A chain without a pole gets one, an Empty or `as_bones` a control bone. Raises ChainError, with nothing changed.
    """
    growing = {tip.id_data for tip in tips} if as_bones else ()
    with new_bones_taken_back(*growing), _switching(tips):
        _hold_before(context, tips)
        # What is all IK stays where it is; of a blend the shown pose is what must not jump.
        moving = [tip for tip in tips if tip.analytic_ik_influence < 1.0]
        blended = [tip for tip in moving if tip.analytic_ik_influence > 0.0]
        if blended:
            snap_pose(context, blended, at_full_influence=False)
        if moving:
            snap_targets(context, moving, as_bones=as_bones)
        _set_influence(context, tips, 1.0)
        _key_switch(context, tips)


def _hold_before(context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone]) -> None:
    """Have the frames before the current one stay as they are where what a switch will key has no keys yet."""
    for owner, path in (*((tip, _INFLUENCE) for tip in tips), *_switched_channels(tips)):
        hold_before(context, owner, path)


def _key_switch(context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone]) -> None:
    """Key FK and controls, as Auto Keying asks: both, so that the next switch changes no frame before this one."""
    for owner, path in _switched_channels(tips):
        key_if_asked(context, owner, path, switches=True)


def _switched_channels(
    tips: Sequence[bpy.types.PoseBone],
) -> Iterator[tuple[bpy.types.PoseBone | bpy.types.Object, str]]:
    """What a switch sets besides Influence: the rotations of the chains' bones, and the channels of their controls."""
    for tip in tips:
        for bone in (*chain_bones(tip), *possible_end_bones(tip)):
            yield bone, channel_of(bone.rotation_mode)[0]
    for control in _controls(tips):
        for mode in control.modes:
            yield control.owner, channel_of(mode)[0]


def unmute_chains(tips: Iterable[bpy.types.PoseBone]) -> int:
    """Switch chains on that are off and have a target; returns how many."""
    muted = [tip for tip in tips if not tip.analytic_ik_enabled and tip.analytic_ik_target is not None]
    for tip in muted:
        tip.analytic_ik_enabled = True
    return len(muted)


def _switching(tips: Sequence[bpy.types.PoseBone]):
    """Everything as before if a switch fails. Raises ChainError if the influence cannot be set."""
    for tip in tips:
        check_changeable(tip.id_data)
        if driver_at(tip.id_data, path_of(tip, "influence")) is not None:
            raise ChainError(messages.SETTING_DRIVEN(bone=tip.name, setting="influence"))
    changed = [tip.id_data for tip in tips] + [control.ob for control in _controls(tips)]
    return all_or_nothing(list(dict.fromkeys(changed)), keys=True)


def _set_influence(context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone], influence: float) -> None:
    for tip in tips:
        setattr(tip, _INFLUENCE, influence)
        # Between two switches a chain is either FK or IK.
        key_if_asked(context, tip, _INFLUENCE, "CONSTANT", switches=True)


def _controls(tips: Sequence[bpy.types.PoseBone]) -> Iterator[Control]:
    for tip in tips:
        chain = settings_of(tip)
        if chain.target is not None:
            yield Control(chain.target, chain.subtarget, chain.use_rotation)
        if chain.pole_target is not None:
            yield Control(chain.pole_target, chain.pole_subtarget, False)
