"""Two clips one after the other: the second goes on from a frame of the first at which the same feet stand."""

from collections.abc import Sequence
from dataclasses import replace

import bpy
import numpy as np

from .. import messages
from ..authoring.controls import controls_of
from ..authoring.placing import Control
from ..authoring.selection import all_tips
from ..authoring.snap import poles_snapped
from ..bake.clips import channels_of_clips, clip_playing
from ..bake.stepping import Steps, at_once, frame_kept, part_of, stepping_shown
from ..planting.feet.options import Options
from ..planting.feet.treadmill import Stage, stands_on
from ..planting.scene.limbs import key_contacts, keyed_contacts
from ..planting.scene.path import walk_of
from ..planting.scene.reading import Leg, legs_of, shown
from ..rig.blender.clips import clip_called, moved_channels, playing_clip
from ..rig.blender.rotations import LOCATION
from ..rig.model.order import live_tips
from ..solvers import ChainError
from .joint import FAR, Joint, Pair, Refused, Way, end_of, joints_of, way_at
from .keying import (
    Film,
    Rows,
    body_of,
    carriers_of,
    chain_controls,
    filmed,
    frames_of_clip,
    line_of,
    made_of_clip,
    rows_for,
)
from .loop import FootGoal, legs_of_controls, moves, path_to, rows_of_leg

_TRIED, _BESIDE = 6, 2
"""So many joints are tried that feet allow, none beside one that was: so many frames away in both clips."""


def clips_joined(
    context: bpy.types.Context, ob: bpy.types.Object, clip: str, body: str = "", end: int = 0
) -> Steps[dict]:
    """In steps: let the clip of an armature object go on as another one of it, in a copy of its action.

    They are joined at frames that have the same feet on the ground and the most similar poses and speeds, of those at
    which no foot and no bone is shown faster than in both; their contacts are keyed. body: the bone that carries the
    legs; "" to find it. end: the last frame of the first clip; 0 to find it. Comes to a report. Raises ChainError, with
    nothing changed.
    """
    hips, legs, other, own = body_of(ob, body), legs_of(ob), clip_called(ob, clip), playing_clip(ob)
    if not clip:
        raise ChainError(messages.NO_NEXT_CLIP(armature=ob.name))
    if other is None:
        raise ChainError(messages.NO_SUCH_CLIP(armature=ob.name, clip=clip))
    keyed = {name for each in (own, other) if each for name, _ in moved_channels(each)}
    keyed |= {name for leg in legs for name in path_to(leg, hips) or path_to(leg, hips, leg.tip)}
    bones = [Control(ob, bone.name, turns=True) for bone in ob.pose.bones if bone.name in keyed]
    # Targets that ride on what is keyed for them may have keys as well.
    targets = (replace(each, turns=True) for tip in all_tips(ob) for each in controls_of(tip))
    controls = [*chain_controls(ob), *(each for each in targets if not each.bone or each.ob == ob)]
    seen = [*dict.fromkeys([*line_of(hips), *controls, *bones])]
    frames = frames_of_clip(ob, seen)
    if end and end not in frames[1:]:
        raise ChainError(messages.JOIN_END(armature=ob.name, frame=end, start=frames[0] + 1, last=frames[-1]))
    # Refused or not, controls are back where the clip that plays has them.
    with frame_kept(context.scene):
        first = yield from part_of(_side(context, ob, legs, frames), 0, 6)
        before = yield from part_of(filmed(context, ob, seen, frames, stepping_shown), 1, 6)
        with clip_playing(ob, other, channels_of_clips(ob)):
            later = frames_of_clip(ob, seen)
            second = yield from part_of(_side(context, ob, legs, later), 2, 6)
            after = yield from part_of(filmed(context, ob, seen, later, stepping_shown), 3, 6)
    names = own.name if own else "", clip
    pair = Pair((walk_of(first), walk_of(second)), (before, after), hips, legs, names)
    joint = yield from part_of(_best(context, pair, seen, frames.index(end) if end else None), 2, 3)
    at, frames = [frames[joint.row], later[joint.following]], joint.film(before, after).frames
    key_contacts([ob.pose.bones[leg.tip] for leg in legs], joint.contacts(first.contacts, second.contacts), frames)
    return {
        "armature": ob.name,
        "action": ob.animation_data.action.name,
        "body": hips.name,
        "frames": [frames.start, frames.stop - 1],
        "joint": at,
        "difference": joint.apart,
    }


join_clips = at_once(clips_joined)


class _RefusedError(ChainError):
    """A joint is not shown as it is to be."""


def _best(context: bpy.types.Context, pair: Pair, seen: Sequence[Control], end: int | None) -> Steps[Joint]:
    """In steps: join two clips where that is best. Raises ChainError that says what is too fast, or out of reach, where
    least is, with nothing changed. seen: all that is keyed. end: see `joints_of`."""
    refused, tried, ways, joints = [], [], [], joints_of(pair, end)
    for number, joint in enumerate(joints):
        yield number, 2 * len(joints)
        way = way_at(pair, joint)
        if way.refused[0] > 1.0:
            refused.append(way.refused)
        else:
            ways.append((joint, way))
    # Where no foot jolts first.
    for joint, way in sorted(ways, key=lambda own: own[1].rough):
        if any(max(abs(joint.row - each.row), abs(joint.following - each.following)) <= _BESIDE for each in tried):
            continue
        try:
            yield from part_of(_made(context, pair, seen, joint, way, refused), 1, 2)
            return joint
        except _RefusedError:
            tried.append(joint)
        if len(tried) == _TRIED:
            break
    raise ChainError(min(refused)[1])


def _made(
    context: bpy.types.Context, pair: Pair, seen: Sequence[Control], joint: Joint, way: Way, refused: list[Refused]
) -> Steps[Film]:
    """In steps: make a joint. Raises _RefusedError, with nothing changed but `refused`, where it is not good."""
    ob, frames, rows = pair.hips.id_data, joint.film(*pair.films).frames, _rows_of(pair, joint, way)

    def judged() -> Steps[None]:
        # A pole that fades by itself swings a leg of which the side turns, as that of a hind leg that is an S.
        tips = {leg.tip for leg, path in zip(pair.legs, pair.paths, strict=True) if path}.intersection(live_tips(ob))
        yield from poles_snapped(context, [ob.pose.bones[tip] for tip in sorted(tips)], frames)
        found = _refused(pair, way, (yield from filmed(context, ob, [], frames, stepping_shown)))
        if found[0] > 1.0:
            refused.append(found)
            raise _RefusedError(found[1])

    return (yield from made_of_clip(context, ob, seen, lambda _: rows, "joined", frames, judged=judged))


def _rows_of(pair: Pair, joint: Joint, way: Way) -> dict[Control, Rows]:
    """What all that was seen of both clips is to hold."""
    before, after = pair.films
    ob, film, body = before.ob, joint.film(before, after), pair.body
    controls, on_feet = chain_controls(ob), legs_of_controls(ob, pair.legs)
    wanted = {
        each: joint.passed(before.world(each), after.world(each), None)
        for each in film.channels
        if {body, *controls}.isdisjoint(carriers_of(each)) and each != body and (each in controls or moves(film, each))
    }
    for each in wanted:
        if (each.ob, each.bone) in on_feet:
            wanted[each] = way.feet[on_feet[each.ob, each.bone]] @ film.world(each)
    wanted[body] = way.bodies
    rows = {
        each: joint.channels(own, after.channels[each], each not in wanted) for each, own in before.channels.items()
    }
    for k, (leg, path) in enumerate(zip(pair.legs, pair.paths, strict=True)):
        if path:
            rows |= rows_of_leg(film, FootGoal(leg, path, way.ends[k], way.feet[k, :, :3, :3]), way.bodies, rows)
    for control, channels in rows_for(film, wanted).items():
        rows[control] |= channels
    for each in controls:
        # The copy has keys of its own of all of them.
        rows[each].setdefault(LOCATION, [row[LOCATION] for row in film.channels[each]])
    return rows


def _refused(pair: Pair, way: Way, film: Film) -> Refused:
    """What goes fastest of what the body carries, or misses its foot most. film: the joint as it is shown."""
    found = [pair.too_far(*own) for own in pair.speeds(film)]
    for k, (leg, path) in enumerate(zip(pair.legs, pair.paths, strict=True)):
        # A leg follows its foot also where that does not hang on it.
        if path or leg.foot not in pair.carried:
            off = np.linalg.norm(end_of(film, leg) - way.ends[k], axis=1) / pair.clips[0].reaches[k]
            hangs = path[-1:] == [leg.foot or leg.tip]
            found.append(pair.out_of_reach(k, off, *(() if hangs else (FAR,))))
    return max(found)


def _side(context: bpy.types.Context, ob: bpy.types.Object, legs: Sequence[Leg], frames: range) -> Steps[Stage]:
    """What plays, with its contacts: as keys say, else as they are found."""
    stage, clip = stands_on((yield from shown(context, ob, legs, frames)), Options()), playing_clip(ob)
    if stage.ground.velocity.any():
        raise ChainError(messages.JOIN_IN_PLACE(armature=ob.name, clip=clip.name if clip else ""))
    keyed = [keyed_contacts(ob.pose.bones[leg.tip], frames) for leg in legs]
    contacts = [own if told is None else told for own, told in zip(stage.contacts, keyed, strict=True)]
    return replace(stage, contacts=np.array(contacts))
