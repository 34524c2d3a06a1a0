"""Between FK and IK in several clips of an armature, each over its own frames."""

from collections.abc import Sequence

import bpy

from ..bake.clips import clips_made, frames_of
from ..bake.stepping import Steps
from ..rig.blender.clips import Clip, play, playing_clip
from ..rig.data.control_clips import partner, partner_made, separate_controls
from ..rig.data.undoing import all_or_nothing
from .control_bones import new_bones_taken_back
from .fk_frames import checked_controls
from .placing import Control
from .snap import Snapped, leave_to_poles, pose_snapped, targets_snapped


def targets_snapped_in_clips(
    context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone], clips: Sequence[Clip], as_bones: bool = False
) -> Steps[Snapped]:
    """In steps: key targets and poles of chains of one armature object in its clips, so that they carry the FK pose.

    A control that is an object plays in each clip what belongs to that; what it played of its own before is kept by a
    fake user. For the others see `targets_snapped`. Raises ChainError that names the clip, with nothing changed.
    """
    ob = tips[0].id_data
    controls = checked_controls(tips, range(0))
    objects = [ob, *(control.ob for own in controls.values() for control in own)]
    taken_back = new_bones_taken_back(*([ob] if as_bones else ()))
    with all_or_nothing(objects, keys=True, actions=[clip.action for clip in clips]), taken_back:
        poles = leave_to_poles(context, tips, controls, as_bones)
        mine = {control.ob for own in controls.values() for control in own}
        mine &= {*separate_controls(ob)}
        for control in mine:
            for clip in clips:
                partner_made(control, clip)
        steps = clips_made(ob, clips, lambda _: targets_snapped(context, tips, frames_of(ob), as_bones))
        found, _ = yield from steps
        for control in mine:
            _play_partner(control, playing_clip(ob))
        return _all_of(found, poles)


def pose_snapped_in_clips(
    context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone], clips: Sequence[Clip]
) -> Steps[None]:
    """In steps: make the solved pose of chains of one armature object their FK pose in its clips.

    For the others see `pose_snapped`. Raises ChainError that names the clip, with nothing changed.
    """
    ob = tips[0].id_data
    with all_or_nothing([ob], keys=True, actions=[clip.action for clip in clips]):
        yield from clips_made(ob, clips, lambda _: pose_snapped(context, tips, frames_of(ob)))


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
