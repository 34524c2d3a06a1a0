"""A clip from capture to keys: rigged if it has no chains, planted, baked and checked."""

from collections.abc import Sequence
from dataclasses import asdict

import bpy

from ... import messages
from ...authoring.rigging import rig_legs
from ...bake.baking import baked, chains_of
from ...bake.report import publish
from ...bake.stepping import Steps, at_once, part_of
from ...rig.blender.motion import motion_frames
from ...rig.data.undoing import all_or_nothing
from ...solvers import ChainError
from ..feet.options import Options
from .checking import feet_checked
from .ground import Ground
from .legs import leg_tips
from .plant import planted
from .sources import keep_settings, source_of


def clip_planted(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    frames: range | None = None,
    options: Options | None = None,
    ground: Ground | None = None,
    keep_controls: bool = True,
) -> Steps[dict]:
    """In steps: plant the feet of what an armature object plays, and bake its chains; comes to the report of the bake,
    with the feet as they are checked afterward.

    If it has no chain, its legs are rigged first and the controls follow its motion. frames: None for those over which
    keys move it. keep_controls: the chains stay, muted, and the actions before too; else nothing stays but the baked
    action, under the name of the first. Raises ChainError that names the armature or bone, with nothing changed.
    """
    options, ground, frames = options or Options(), ground or Ground(), frames or motion_frames(ob)
    if frames is None:
        raise ChainError(messages.NO_MOTION()).of(messages.ARMATURE(armature=ob.name))
    actions = {action.session_uid for action in bpy.data.actions}
    # Nothing below writes into the actions that there are.
    with all_or_nothing([ob]) as undo:
        made = []
        if not leg_tips(ob):
            # Planting reads the bones, and keys the controls: those of other clips stay as they are.
            rigged = rig_legs(context, ob, follow_motion=False)
            made = [control.ob for limb in rigged.limbs for control in (limb.target, limb.pole)]
        undo.nothing_more_is_made()
        tips = leg_tips(ob)
        yield from part_of(planted(context, tips, frames, options, ground), 0, 3)
        keep_settings(ob, _settings(tips, frames, options, ground))
        after = "MUTE" if keep_controls else "REMOVE"
        report = yield from part_of(baked(context, chains_of([ob]), frames, after=after), 1, 3)
        feet = yield from part_of(feet_checked(context, ob, frames, ground), 2, 3)
    if not keep_controls:
        for control in made:
            bpy.data.objects.remove(control)
        _put_in_place_of_source(ob, actions)
    return publish({**report["files"][0], "feet": feet})


plant_clip = at_once(clip_planted)
"""A clip planted and baked, all at once: see `clip_planted`."""


def _settings(tips: Sequence[bpy.types.PoseBone], frames: range, options: Options, ground: Ground) -> dict:
    """How a clip was planted, as Update Feet reads it."""
    return {
        **asdict(options),
        "tips": [tip.name for tip in tips],
        "frames": [frames.start, frames.stop, frames.step],
        "ground": ground.kind,
        "height": ground.height,
        "ground_object": ground.ob.name if ground.ob else "",
        "footprints": False,
    }


def _put_in_place_of_source(ob: bpy.types.Object, actions: set[int]) -> None:
    """Give the current action of an object the name and the users of its source, and remove what else was made.

    actions: the session_uids of those that there were before.
    """
    action, source = ob.animation_data.action, source_of(ob)
    name = source.name if source is not None else action.name
    # First of all what points to them: Blender 5.0 evaluates that too, and ends where it is gone.
    for pointer in ("analytic_ik_planted_from", "analytic_ik_planted_with", "analytic_ik_made_from"):
        action.property_unset(pointer)
    for each in list(bpy.data.actions):
        if each.session_uid not in actions and each != action:
            bpy.data.actions.remove(each)
    if source is not None:
        source.user_remap(action)
        bpy.data.actions.remove(source)
    action.name = name
