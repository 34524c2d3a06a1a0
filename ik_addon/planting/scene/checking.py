"""The clip check: how well the feet of an armature stand over frames, and how well they did in its source."""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import bpy
import numpy as np

from ... import messages
from ...bake.baking import by_armature, checked
from ...bake.clips import Clips, chosen_clips, clip_entries, over_clips
from ...bake.report import file_report, left_out, publish
from ...bake.saving import TimeLimitError
from ...bake.stepping import Steps, at_once, in_time, part_of
from ...rig.model.order import ChainName
from ...solvers import ChainError
from ..feet.clip import LegMotion
from ..feet.contacts import HeelAndBall
from ..feet.curves import runs
from ..feet.measures import compared, knee_pops, same_sole, worst_contact
from ..feet.options import Options
from ..feet.treadmill import Standing, stands_on
from ..feet.yardsticks import yardsticks_of
from .limbs import keyed_contacts
from .plant import Ground, planted_on
from .reading import Leg, legs_of, shown, source_shown, with_skins
from .skin import Skins
from .sources import kept_settings, source_of

_FEWEST = 3
"""Frames without which nothing moves."""


@dataclass(frozen=True)
class FeetSeen:
    """Feet of an armature object over frames, as they are seen from their ground.

    legs: L of them. clip, before: as Blender shows them, and in the source of the action; None if it has none. sole,
    contacts: what should stand, (legs, 2, T). standing: on what. ground: CAPTURED, LEVEL or OBJECT.
    """

    ob: bpy.types.Object
    legs: Sequence[Leg]
    frames: range
    clip: LegMotion
    before: LegMotion | None
    sole: HeelAndBall
    contacts: np.ndarray
    standing: Standing
    ground: str


def feet_checked(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    frames: range,
    ground: Ground | None = None,
    known: Skins | None = None,
) -> Steps[list[dict]]:
    """In steps: how well the feet of an armature object stand, an entry for each leg; nothing changes. See
    `feet_seen`.

    armature, bone: the object and the last bone of the leg. length: of the leg, world units. frames: how many.
    ground: CAPTURED, LEVEL or OBJECT. ground_speed: at which the ground passes below a clip in place, world units a
    second. contacts: how many of heel and ball. slide_frames: the contact in which the foot slides farthest, None
    without one. pop_frames: where the knee pops. before, after: the figures of `measured`, of the source (None: there
    is none) and of what is shown; `after` with the figures of `distances` from the source.
    """
    return _entries((yield from feet_seen(context, ob, frames, ground, known)))


check_feet = at_once(feet_checked)


def feet_seen(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    frames: range,
    ground: Ground | None = None,
    known: Skins | None = None,
) -> Steps[FeetSeen]:
    """In steps: the feet of an armature object, and what they should do.

    Measured on the bones as Blender shows them, whatever moves them: live chains, keys, constraints. Contacts are those
    that are keyed, else they are found. If the action was planted, its source is measured too, in the same contacts.
    ground: None for what the action was planted on, else as captured. known: what was read of the skins of its feet
    for another clip. Raises ChainError that names the armature.
    """
    known = Skins() if known is None else known
    legs = with_skins(ob, legs_of(ob, known), known)
    if not legs:
        raise ChainError(messages.NO_LEG_TO_CHECK(armature=ob.name))
    if len(frames) < _FEWEST:
        raise ChainError(messages.TOO_FEW_FRAMES())
    ground = ground or planted_on(context, ob)
    heights = ground.heights(context)
    has_source = source_of(ob) is not None
    clip = yield from part_of(shown(context, ob, legs, frames), 0, 1 + has_source)
    before = None
    if has_source:
        before = yield from part_of(source_shown(context, ob, legs, frames), 1, 2)
    stage, settings = stands_on(before or clip, Options(), heights), kept_settings(ob) or {}
    standing, velocity = stage.ground, settings.get("ground_velocity")
    # If it went another way, what it did there is no measure, but its soles are the same.
    before = None if settings.get("path") else before
    if velocity is not None:
        # The feet that planting reads are not quite those that are seen, and the ground is one.
        standing = Standing(np.array(velocity, float), heights)
    clip, before = standing.seen_from(clip), before and standing.seen_from(before)
    contacts = _contacts(ob, legs, frames, stage.contacts)
    return FeetSeen(ob, legs, frames, clip, before, same_sole(clip, stage.sole), contacts, standing, ground.kind)


def clips_checked(
    context: bpy.types.Context,
    chains: Sequence[ChainName],
    armatures: Sequence[bpy.types.Object],
    clips: Clips = "CURRENT",
    frames: range | None = None,
    feet: bool = False,
    ground: Ground | None = None,
    metrics: bool = False,
) -> Steps[dict]:
    """In steps: check chains of armature objects in what plays over some frames, or in clips, each over its own;
    returns the report, with an entry for each clip.

    feet: those of all the armature objects are in it, see `feet_checked`; of a clip that is too short for them the
    chains alone are checked, and "left_out" says so. So it does of a clip for which there is no time. metrics: with
    what `YARDSTICKS` say of the feet.
    """
    if clips == "CURRENT":
        over = frames or range(0)
        seen = armatures if feet else ()
        return publish((yield from in_time(_checked(context, chains, seen, over, ground, Skins(), metrics))))
    entries = []
    for number, ob in enumerate(armatures):
        own, skins = by_armature(chains).get(ob, []), Skins()

        def work(
            frames: range,
            ob: bpy.types.Object = ob,
            own: Sequence[ChainName] = own,
            skins: Skins = skins,
        ) -> Steps[dict]:
            is_short = feet and len(frames) < _FEWEST
            try:
                seen = [ob] if feet and not is_short else []
                entry = yield from in_time(_checked(context, own, seen, frames, ground, skins, metrics))
            except TimeLimitError as error:
                return file_report(frames, 0.0, []) | left_out(error)
            return {**entry, "left_out": messages.TOO_FEW_FRAMES()} if is_short else entry

        chosen = chosen_clips(ob, clips)
        found = yield from part_of(over_clips(ob, chosen, work), number, len(armatures))
        entries += [entry | name for entry, name in zip(found, clip_entries(chosen), strict=True)]
    return publish(*entries)


def _checked(
    context: bpy.types.Context,
    chains: Sequence[ChainName],
    armatures: Sequence[bpy.types.Object],
    frames: range,
    ground: Ground | None,
    skins: Skins,
    metrics: bool,
) -> Steps[dict]:
    """In steps: the entry of a check of chains in what plays, with the feet of armature objects."""
    feet, measures, start, parts = [], [], perf_counter(), 1 + len(armatures)
    report = yield from part_of(checked(context, chains, frames), 0, parts)
    for k, ob in enumerate(armatures):
        seen = yield from part_of(feet_seen(context, ob, frames, ground, skins), 1 + k, parts)
        feet += _entries(seen)
        measures += [_metrics(seen)] if metrics else []
    entry = report["files"][0]
    if not armatures:
        return entry
    entry = {**entry, "seconds": perf_counter() - start, "feet": feet}
    return {**entry, "metrics": measures} if metrics else entry


def _metrics(seen: FeetSeen) -> dict:
    """What `YARDSTICKS` say of feet, in their source (None: there is none) and as shown."""
    before, after = (
        clip and yardsticks_of(clip, seen.sole, seen.contacts, seen.standing.heights)
        for clip in (seen.before, seen.clip)
    )
    return {"armature": seen.ob.name, "fps": float(seen.clip.fps), "before": before, "after": after}


def _contacts(ob: bpy.types.Object, legs: Sequence[Leg], frames: range, found: np.ndarray) -> np.ndarray:
    """(legs, 2, T), when heels and balls should stand: as keys say, else as is found.

    If the action was planted over a part of the frames, its keys say nothing beyond that.
    """
    settings = kept_settings(ob)
    first, after = settings["frames"][:2] if settings else (frames.start, frames.stop)
    inside = [first <= frame < after for frame in frames]
    keyed = [keyed_contacts(ob.pose.bones[leg.tip], frames) for leg in legs]
    pairs = zip(found, keyed, strict=True)
    return np.array([own if told is None else np.where(inside, told, own) for own, told in pairs])


def _entries(seen: FeetSeen) -> list[dict]:
    legs, frames, clip, before, contacts = seen.legs, seen.frames, seen.clip, seen.before, seen.contacts
    figures = compared(clip, before, seen.sole, contacts, seen.standing.heights)
    pops = knee_pops(clip)
    return [
        {
            "armature": seen.ob.name,
            "bone": leg.tip,
            "length": float(clip.reaches[k]),
            "frames": len(frames),
            "ground": seen.ground,
            "ground_speed": float(np.linalg.norm(seen.standing.velocity)),
            "contacts": sum(len(runs(mask)) for mask in contacts[k]),
            "slide_frames": worst and [frames[row] for row in worst],
            "pop_frames": [[frames[row] for row in pop] for pop in pops[k]],
            "before": figures[k][0],
            "after": figures[k][1],
        }
        for k, (leg, worst) in enumerate(zip(legs, worst_contact(clip, seen.sole, contacts), strict=True))
    ]
