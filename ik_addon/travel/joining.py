"""Two clips one after the other: the second goes on from a frame of the first at which the same feet stand."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

import bpy
import numpy as np
from mathutils import Matrix

from .. import messages
from ..authoring.placing import Control
from ..bake.clips import channels_of_clips, clip_playing
from ..bake.stepping import Steps, at_once, frame_kept, part_of
from ..planting.feet.clip import applied
from ..planting.feet.options import Options
from ..planting.feet.treadmill import Stage, stands_on
from ..planting.scene.limbs import key_contacts, keyed_contacts
from ..planting.scene.path import walk_of
from ..planting.scene.reading import Leg, legs_of, shown
from ..rig.blender.clips import clip_called, moved_channels, playing_clip
from ..rig.blender.rotations import pose_matrix
from ..rig.model.order import live_tips
from ..solvers import ChainError
from .joint import FAR, Joint, Pair, Refused, Way, joints_of, way_at
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
from .loop import FootGoal, basis_at, foot_poses, legs_of_controls, moves, path_to, rows_of_leg

_TRIED, _BESIDE = 6, 2
"""So many joints are tried that feet allow, none beside one that was: so many frames away in both clips."""


def clips_joined(context: bpy.types.Context, ob: bpy.types.Object, clip: str, body: str = "") -> Steps[dict]:
    """In steps: let the clip of an armature object go on as another one of it, in a copy of its action.

    They are joined at frames that have the same feet on the ground and the most similar poses and speeds, of those at
    which no foot and no bone gets faster than in both; their contacts are keyed. body: the bone that carries the legs;
    "" to find it. Comes to a report. Raises ChainError, with nothing changed.
    """
    hips, legs, other, own = body_of(ob, body), legs_of(ob), clip_called(ob, clip), playing_clip(ob)
    if not clip:
        raise ChainError(messages.NO_NEXT_CLIP(armature=ob.name))
    if other is None:
        raise ChainError(messages.NO_SUCH_CLIP(armature=ob.name, clip=clip))
    keyed = {name for each in (own, other) if each for name, _ in moved_channels(each)}
    keyed |= {name for leg in legs for name in path_to(leg, hips)}
    bones = [Control(ob, bone.name, turns=True) for bone in ob.pose.bones if bone.name in keyed]
    seen = [*dict.fromkeys([*line_of(hips), *chain_controls(ob), *bones])]
    frames = frames_of_clip(ob, seen)
    # Refused or not, controls are back where the clip that plays has them.
    with frame_kept(context.scene):
        first = yield from part_of(_side(context, ob, legs, frames), 0, 6)
        before = yield from part_of(filmed(context, ob, seen, frames), 1, 6)
        with clip_playing(ob, other, channels_of_clips(ob)):
            later = frames_of_clip(ob, seen)
            second = yield from part_of(_side(context, ob, legs, later), 2, 6)
            after = yield from part_of(filmed(context, ob, seen, later), 3, 6)
    names = own.name if own else "", clip
    pair = Pair((walk_of(first), walk_of(second)), (before, after), hips, legs, names)
    joint, rows = yield from part_of(_best(pair), 4, 6)
    at = [frames[joint.row], later[joint.following]]
    frames = range(frames.start, frames.start + joint.row + len(later) - joint.following)
    yield from part_of(made_of_clip(context, ob, seen, lambda _: rows, "joined", frames), 5, 6)
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


def _best(pair: Pair) -> Steps[tuple[Joint, dict[Control, Rows]]]:
    """In steps: where two clips are joined best, and what all that was seen of them is to hold. Raises ChainError that
    says what is too fast, or out of reach, where least is."""
    refused, tried, ways, joints = [], [], [], joints_of(pair)
    for number, joint in enumerate(joints):
        yield number, len(joints)
        way = way_at(pair, joint)
        if way.refused[0] > 1.0:
            refused.append(way.refused)
        else:
            ways.append((joint, way))
    # Where no foot jolts first.
    for joint, way in sorted(ways, key=lambda own: own[1].rough):
        if any(max(abs(joint.row - each.row), abs(joint.following - each.following)) <= _BESIDE for each in tried):
            continue
        rows = _rows_of(pair, joint, way)
        found = _refused(pair, joint, way, rows)
        if found[0] <= 1.0:
            return joint, rows
        refused.append(found)
        tried.append(joint)
        if len(tried) == _TRIED:
            break
    raise ChainError(min(refused)[1])


def _rows_of(pair: Pair, joint: Joint, way: Way) -> dict[Control, Rows]:
    """What all that was seen of both clips is to hold."""
    before, after = pair.films
    ob, film, body = before.ob, joint.film(before, after), pair.body
    controls, on_feet = chain_controls(ob), legs_of_controls(ob, pair.legs)
    wanted = {
        each: joint.passed(before.world(each), after.world(each), on_feet.get((each.ob, each.bone)))
        for each in film.channels
        if body not in carriers_of(each) and each != body and (each in controls or moves(film, each))
    }
    wanted[body] = way.bodies
    rows = {
        each: joint.channels(own, after.channels[each], each not in wanted) for each, own in before.channels.items()
    }
    for control, channels in rows_for(film, wanted).items():
        rows[control] |= channels
    for k, (leg, path) in enumerate(zip(pair.legs, pair.paths, strict=True)):
        if path:
            seen = np.array(joint.joined(*(clip.feet[k] for clip in pair.clips)))
            turns = way.feet[k, :, :3, :3] @ seen.swapaxes(1, 2)
            rows |= rows_of_leg(film, FootGoal(leg, path, way.feet[k, :, :3, 3], turns), way.bodies, rows)
    return rows


def _refused(pair: Pair, joint: Joint, way: Way, rows: Mapping[Control, Rows]) -> Refused:
    """What turns fastest, or misses its foot most, of what the body carries."""
    film = joint.film(*pair.films)
    live = live_tips(film.ob)
    poses = _posed(film, rows, way.bodies, pair.carried, {leg.links[0] for leg in pair.legs if leg.tip in live})
    found = [pair.too_far(*own) for own in pair.speeds(poses, film.worlds[film.ob])]
    for k, (leg, path) in enumerate(zip(pair.legs, pair.paths, strict=True)):
        # A leg follows its foot also where that does not hang on it.
        if leg.tip in poses and (path or leg.foot not in pair.carried):
            one, two = (foot_poses(clip, k) for clip in pair.clips)
            goes = way.feet[k] @ np.linalg.inv(joint.joined(one, two))
            ends = [film.worlds[film.ob] @ each[leg.tip] @ (*leg.ankle, 1.0) for each in (poses, film.poses)]
            off = np.linalg.norm(ends[0] - applied(goes, ends[1]), axis=1) / pair.clips[0].reaches[k]
            found.append(pair.out_of_reach(k, off, *(() if path else (FAR,))))
    return max(found)


def _posed(
    film: Film, rows: Mapping[Control, Rows], bodies: np.ndarray, names: Sequence[str], but: Container[str]
) -> dict[str, np.ndarray]:
    """The poses (T, 4, 4), in the space of the armature, of a body and of what it carries. bodies: (T, 4, 4), where it
    is in the world. rows: what is to be keyed of bones. names: of bones, parents first. but: those, and what they
    carry, are left out."""
    poses = {names[0]: np.linalg.inv(film.worlds[film.ob]) @ bodies}
    for name in names[1:]:
        owner, control = film.ob.pose.bones[name], Control(film.ob, name, turns=True)
        if name in but or owner.parent.name not in poses:
            continue
        above = poses[owner.parent.name]
        if control in film.channels and not owner.constraints:
            bases = (basis_at(film, rows, control, t) for t in range(len(above)))
            pairs = zip(bases, above, strict=True)
            poses[name] = np.array([pose_matrix(owner.bone, basis, Matrix(pose)) for basis, pose in pairs])
        else:
            poses[name] = above @ np.linalg.inv(film.poses[owner.parent.name]) @ film.poses[name]
    return poses


def _side(context: bpy.types.Context, ob: bpy.types.Object, legs: Sequence[Leg], frames: range) -> Steps[Stage]:
    """What plays, with its contacts: as keys say, else as they are found."""
    stage, clip = stands_on((yield from shown(context, ob, legs, frames)), Options()), playing_clip(ob)
    if stage.ground.velocity.any():
        raise ChainError(messages.JOIN_IN_PLACE(armature=ob.name, clip=clip.name if clip else ""))
    keyed = [keyed_contacts(ob.pose.bones[leg.tip], frames) for leg in legs]
    contacts = [own if told is None else told for own, told in zip(stage.contacts, keyed, strict=True)]
    return replace(stage, contacts=np.array(contacts))
