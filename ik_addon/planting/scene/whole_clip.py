"""Clips from capture to keys: rigged if there are no chains, planted, baked and checked."""

from collections.abc import Sequence
from time import perf_counter

import bpy

from ... import messages
from ...authoring.for_export import controls_of_chains, remove_controls
from ...authoring.given_limbs import GivenLimbs, given_limbs
from ...authoring.rigging import rig_legs, rig_these
from ...bake.baking import baked, chains_of, finish_chains
from ...bake.clips import Chosen, Clips, chosen_clips, clip_entries, clips_tried, strips_play
from ...bake.report import file_report, left_out, publish
from ...bake.stepping import Steps, at_once, in_time, part_of
from ...rig.blender.clips import clips_of, forget_made, motion_frames, playing_clip
from ...rig.data.control_clips import own_actions, partners_made, separate_controls
from ...rig.data.undoing import all_or_nothing
from ...rig.model.order import ChainName
from ...solvers import ChainError
from ..feet.options import Options
from .checking import feet_checked
from .plant import Ground, planted_and_kept, skins_of
from .reading import leg_tips
from .skin import Skins
from .sources import forget_source, source_of


class NothingToPlantError(ChainError):
    """No clip moves an armature: there is nothing to do."""


def clips_planted(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    clips: Clips = "CURRENT",
    frames: range | None = None,
    options: Options | None = None,
    ground: Ground | None = None,
    keep_controls: bool = True,
    limbs: GivenLimbs | None = None,
    path: bpy.types.Object | None = None,
) -> Steps[dict]:
    """In steps: plant the feet of what an armature object plays, or of its clips, each over its own frames while it
    plays alone, and bake its chains; comes to the report of the bake, with the feet as they are checked afterward.

    If it has no chain, its legs are rigged first. limbs: their bones, None for those that are found. frames: of what
    plays; None for those over which keys move it. path: a curve that clips walk along, None: as captured.
    keep_controls: the chains stay, muted, and the actions before too; else nothing stays but the baked actions, under
    the names of the first. A clip in which no foot stands, or for which there is no time, shows what it showed before;
    its entry in the report says why, in `left_out`. NLA strips play what takes the place of their clips. Raises
    ChainError that names the armature or bone, with nothing changed, if nothing can be planted.
    """
    options, ground = options or Options(), ground or Ground()
    tips, own, is_current = leg_tips(ob), playing_clip(ob), clips == "CURRENT"
    is_new, chains, frames = not tips, chains_of([ob]), frames or motion_frames(ob)
    if not (frames if is_current else tips or clips_of(ob)):
        whose = messages.ARMATURE(armature=ob.name)
        raise NothingToPlantError(messages.OF(whose=whose, said=messages.NO_MOTION()))
    chosen = chosen_clips(ob, clips, clips_of(ob) if is_new else None)
    present = [own] if own and is_current else [*filter(None, chosen)]
    called, entries = clip_entries(chosen), []

    def work(frames: range) -> Steps[dict | ChainError]:
        start, error = perf_counter(), None
        try:
            steps = planted_and_kept(context, tips, frames, options, ground, path=path, skins=skins)
            planted = yield from part_of(in_time(steps), 0, 2)
        except ChainError as refusal:
            # Not every clip has feet that stand, or there is no time for all of them.
            error = refusal
        if error is None:
            entry = yield from part_of(_baked(context, ob, chains, frames, ground, skins, start), 1, 2)
            entries.append(entry | {"path": planted["path"]})
            if not keep_controls:
                _put_in_place_of_source(ob)
            return entries[-1]
        entry = file_report(frames, 0.0, [])
        if not (is_new or is_current):
            # Without its chains it would show something else.
            steps = baked(context, chains, frames, "COPY" if keep_controls else "CURRENT", last=False)
            entry = (yield from part_of(steps, 1, 2))["files"][0]
        entries.append(entry | left_out(error))
        return error

    replaced = [] if keep_controls else dict.fromkeys(clip.action for clip in present)
    with all_or_nothing([ob], actions=replaced) as undo:
        if is_new:
            tips = _rigged(context, ob, chosen, keep_controls, limbs)
            # What was rigged just now and is not planted has no keys, and is not baked.
            chains = list(dict.fromkeys([*chains, *(ChainName(tip.id_data.name_full, tip.name) for tip in tips)]))
        undo.nothing_more_is_made()
        of_controls, skins = own_actions(ob, present), skins_of(ob, chosen)
        found = yield from clips_tried(ob, chosen, work, frames)
        strips_play(ob, found.made)
        controls = controls_of_chains(ob)
        finish_chains(context, chains_of([ob]), "MUTE" if keep_controls else "REMOVE")
    if not keep_controls:
        remove_controls(ob, controls, of_controls)
    return publish(*(entry | own for entry, own in zip(entries, called, strict=True)))


plant_clips = at_once(clips_planted)


def _rigged(
    context: bpy.types.Context, ob: bpy.types.Object, clips: Chosen, keep_controls: bool, limbs: GivenLimbs | None
) -> list[bpy.types.PoseBone]:
    """Rig the legs of an armature object; the tips of those that are planted. limbs: given ones."""
    several = [*filter(None, clips)]
    # Planting reads the bones, and keys the controls of what plays: those of other clips stay as they are.
    follow_motion = keep_controls and bool(several)
    if limbs is None:
        rigged = rig_legs(context, ob, follow_motion=follow_motion)
    else:
        rigged = rig_these(context, ob, given_limbs(ob, {"legs": limbs.get("legs", ())}), follow_motion)
    partners_made(separate_controls(ob), several)
    return leg_tips(ob) or [ob.pose.bones[one.limb.bones[-1]] for one in rigged.limbs]


def _baked(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    chains: Sequence[ChainName],
    frames: range,
    ground: Ground,
    skins: Skins,
    start: float,
) -> Steps[dict]:
    """Bake chains into the planted action; comes to the entry of the report, with the feet. skins: of these, as far as
    they are known. start: of the clip's time."""
    report = yield from part_of(baked(context, chains, frames, "CURRENT", last=False), 0, 2)
    feet = yield from part_of(feet_checked(context, ob, frames, ground, skins), 1, 2)
    return {**report["files"][0], "seconds": perf_counter() - start, "feet": feet}


def _put_in_place_of_source(ob: bpy.types.Object) -> None:
    """Give the current action of an object, which was planted, the name and the users of its source, which goes."""
    action, source = ob.animation_data.action, source_of(ob)
    name = source.name if source is not None else action.name
    # First of all what points to it: Blender 5.0 evaluates that too, and ends where it is gone.
    forget_source(action)
    forget_made(action)
    if source is not None:
        action.use_fake_user = source.use_fake_user
        source.user_remap(action)
        bpy.data.actions.remove(source)
    action.name = name
