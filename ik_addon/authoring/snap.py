"""Between FK and IK: the controls go to where the FK pose puts them, or the solved pose becomes the FK pose."""

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field

import bpy

from ..bake.keys import check_keyable, check_undriven, write_keys
from ..bake.stepping import Steps, at_once
from ..rig.blender.armatures import armature_named, tag_pose
from ..rig.blender.channels import LOCATION, Raw
from ..rig.blender.clips import playing_clip
from ..rig.data.control_clips import let_controls_play
from ..rig.data.undoing import all_or_nothing
from ..rig.model.foot import possible_end_bones
from ..rig.model.limb import Limb, chain_bones, fk_joints
from ..rig.model.order import ChainName
from ..rig.pose.posing import write_fk
from ..rig.pose.solving import solve_limb
from .control_bones import new_bones_taken_back
from .fk_frames import BEND_SETTINGS, checked_controls, fk_goal, key_controls, keys_of, limbs_in_fk, stepped
from .new_controls import new_pole_control
from .placing import Control, Placer, depth


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
    controls = checked_controls(tips, frames)
    changed = [tip.id_data for tip in tips] + [control.ob for own in controls.values() for control in own]
    growing = {tip.id_data for tip in tips} if as_bones else ()
    with all_or_nothing(changed) as undo, new_bones_taken_back(*growing):
        done = Snapped(poles=leave_to_poles(context, tips, controls, as_bones))
        undo.nothing_more_is_made()
        samples = yield from _snap_controls(context, tips, controls, frames, done)
        armatures = dict.fromkeys(tip.id_data for tip in tips)
        clips = [clip for clip in map(playing_clip, armatures if frames else ()) if clip is not None]
        with all_or_nothing([control.ob for control in samples], keys=True, actions=[clip.action for clip in clips]):
            if frames is not None:
                for ob in armatures:
                    let_controls_play(ob)
                key_controls(samples, frames)
            for tip in tips:
                tag_pose(tip.id_data)
            return done


snap_targets = at_once(targets_snapped)
"""Bring targets and poles to where the FK pose puts them, all at once: see `targets_snapped`."""


def leave_to_poles(
    context: bpy.types.Context,
    tips: Sequence[bpy.types.PoseBone],
    controls: dict[bpy.types.PoseBone, list[Control]],
    as_bones: bool = False,
) -> list[Control]:
    """Leave all bending to poles, and make those that are missing: they come into `controls`. Returns them."""
    made = []
    for tip in tips:
        for name, value in BEND_SETTINGS.items():
            setattr(tip, f"analytic_ik_{name}", value)
        if tip.analytic_ik_pole_target is None:
            pole = new_pole_control(context, tip, as_bones)
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
) -> Steps[dict[Control, list[tuple[Raw, ...]]]]:
    """Put controls where they are wanted at each frame; returns what their channels hold there."""
    chosen = {ChainName(tip.id_data.name_full, tip.name): controls[tip] for tip in tips}
    reaches: dict[Control, float] = {}
    samples: dict[Control, list[tuple[Raw, ...]]] = {control: [] for own in controls.values() for control in own}
    with closing(stepped(context, tips, frames)) as scenes:
        for step, scene in scenes:
            placer, wanted = Placer(scene), {}
            for chain, limb in limbs_in_fk(scene, set(chosen)):
                target, pole = chosen[chain]
                goal, places = fk_goal(limb, target, pole, placer, reaches)
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
    tip_of = {chain: armature_named(chain.armature).pose.bones[chain.tip] for chain in chosen}
    rotations: dict[tuple[str, str, str], list[Raw]] = {}
    with closing(stepped(context, tips, frames)) as scenes:
        for step, scene in scenes:
            bodies: dict[ChainName, Raw] = {}
            for chain, limb in limbs_in_fk(scene, chosen, True, at_full_influence, bodies):
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
            write_keys(armature, [keys_of(bone, mode, raws, frames) for (bone, mode), raws in own.items()], "CURRENT")
        armature.update_tag()


def _missed(limb: Limb, goal: Limb) -> float:
    """The largest way of a joint from the FK pose to the solved one, in chain lengths."""
    poses = solve_limb(goal).poses_armature
    return (
        max((a - b).length for a, b in zip(goal.joints(poses), fk_joints(limb.bones), strict=True)) / limb.chain.length
    )
