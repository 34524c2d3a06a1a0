"""Two clips one after the other: the second goes on from a frame of the first at which the same feet stand.

All of the second is moved as a whole over the ground: the map of a path, which is one at a joint. What is still apart
there fades over a step. A foot that stands passes its part once it is in the air, so its stance stays where it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from .. import messages
from ..authoring.placing import Control
from ..bake.clips import channels_of_clips, clip_playing
from ..bake.stepping import Steps, at_once, frame_kept, part_of
from ..planting.feet.anchors import standing
from ..planting.feet.clip import UP, LegMotion, applied, turns_by, vectors_of
from ..planting.feet.options import Options
from ..planting.feet.treadmill import Stage, stands_on
from ..planting.feet.walk import Walk
from ..planting.scene.limbs import key_contacts, keyed_contacts
from ..planting.scene.path import walk_of
from ..planting.scene.reading import Leg, legs_of, shown
from ..rig.blender.clips import clip_called, moved_channels, playing_clip
from ..rig.blender.rotations import LOCATION, SCALE, continuous, matrices_of, quaternions_of, turns_in
from ..rig.model.order import live_tips
from ..solvers import ChainError
from ..solvers.arrays import quaternions
from .keying import (
    Channels,
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
from .loop import FootGoal, foot_poses, legs_of_controls, moves, path_to, rows_of_leg

NEAR = 2.0
"""Seconds from the end of the first clip, and from the beginning of the second, in which they are joined; at most half
of either."""
SPEED_TIME = 0.1
"""Seconds over which a difference in speed counts as the difference in place that it makes."""

_JERK = 1.25
"""Times as much as in either clip a knee may change its speed before it is worth a word."""

_SHORT = 0.01
"""Part of a leg by which it may reach less far than its foot is, beyond what it does in either clip."""


@dataclass(frozen=True)
class _Joint:
    """row, following: of the first clip and the second, which are one. walk: the second. move: (4, 4), that of it over
    the ground. apart: the mean distance of joints, world units."""

    row: int
    following: int
    walk: Walk
    move: np.ndarray
    apart: float

    def joined(self, before: Sequence, after: Sequence) -> list:
        """Rows of both clips, as they are."""
        return [*before[: self.row + 1], *after[self.following + 1 :]]

    def film(self, before: Film, after: Film) -> Film:
        """Both clips, as they are."""
        (worlds, poses, channels) = (
            {key: self.joined(rows, getattr(after, name)[key]) for key, rows in getattr(before, name).items()}
            for name in ("worlds", "poses", "channels")
        )
        worlds, poses = ({key: np.array(rows) for key, rows in each.items()} for each in (worlds, poses))
        return Film(before.ob, before.frames, worlds, poses, channels)

    def left(self, leg: int | None, apart: np.ndarray, faster: np.ndarray) -> np.ndarray:
        """What is left, (n, k), of a difference (k,) at the joint, and of one in speed. leg: of a foot; None: of all
        else."""
        rows, speed = np.arange(self.following, self.walk.clip.frame_count), 1.0
        start, end = self.following, self.following + self.walk.step
        if leg is not None:
            stops = self.walk.stops[leg]
            k = max(k for k, (first, *_) in enumerate(stops) if first <= start)
            speed, start = float(stops[k][1] < start), max(stops[k][1], start)
            # A foot that stands to the end stays where it is.
            start, end = (start, stops[k + 1][0]) if k + 1 < len(stops) else (rows[-1], rows[-1] + 1)
        t = np.clip((rows - start) / max(end - start, 1), 0.0, 1.0)[:, None]
        return (1.0 + 2.0 * t) * (1.0 - t) ** 2 * apart + speed * (end - start) * t * (1.0 - t) ** 2 * faster

    def passed(self, before: np.ndarray, after: np.ndarray, leg: int | None) -> np.ndarray:
        """Poses (T, 4, 4) in the world, of the second clip where it goes on from the first. leg: of a foot."""
        before, later = before[: self.row + 1], self.move @ after[self.following :]
        places, turns, own = later[:, :3, 3], matrices_of(turns_in(later)), matrices_of(turns_in(before[-2:]))
        pivots = places
        if leg is not None:
            pivots = applied(self.move[:3, :3], self.walk.feet[leg, self.following :]) + self.move[:3, 3]
        faster = vectors_of(own[1] @ own[0].T) - vectors_of(turns[1] @ turns[0].T)
        spins = turns_by(self.left(leg, vectors_of(own[1] @ turns[0].T), faster))
        moved = pivots + applied(spins, places - pivots)
        faster = (before[-1] - before[-2])[:3, 3] - (places[1] - places[0])
        later[:, :3, 3] = moved + self.left(leg, before[-1, :3, 3] - moved[0], faster)
        later[:, :3, :3] = spins @ later[:, :3, :3]
        return np.concatenate((before, later[1:]))

    def channels(self, before: Sequence[Channels], after: Sequence[Channels], fades: bool) -> Rows:
        """What those channels of a control hold that change. fades: so that the second clip goes on from the first."""
        found = {}
        for mode in before[0]:
            own, later = (np.array([row[mode] for row in rows], float) for rows in (before, after))
            own, later = own[: self.row + 1], later[self.following :]
            if mode in (LOCATION, SCALE):
                faster = (own[-1] - own[-2]) - (later[1] - later[0])
                later = later + fades * self.left(None, own[-1] - later[0], faster)
            else:
                ends, turns = (matrices_of(quaternions_of(each, mode)) for each in (own[-2:], later))
                faster = vectors_of(ends[0].T @ ends[1]) - vectors_of(turns[0].T @ turns[1])
                turns = turns @ turns_by(fades * self.left(None, vectors_of(turns[0].T @ ends[1]), faster))
                later = continuous(quaternions(turns), mode, own[-1])
            numbers = np.concatenate((own, later[1:]))
            if (numbers != numbers[0]).any():
                found[mode] = [tuple(each) for each in numbers.tolist()]
        return found


def clips_joined(context: bpy.types.Context, ob: bpy.types.Object, clip: str, body: str = "") -> Steps[dict]:
    """In steps: let the clip of an armature object go on as another one of it, in a copy of its action.

    They are joined at frames that have the same feet on the ground and the most similar poses and speeds; their
    contacts are keyed. body: the bone that carries the legs; "" to find it. Comes to a report. Raises ChainError, with
    nothing changed.
    """
    hips, legs, other = body_of(ob, body), legs_of(ob), clip_called(ob, clip)
    if not clip:
        raise ChainError(messages.NO_NEXT_CLIP(armature=ob.name))
    if other is None:
        raise ChainError(messages.NO_SUCH_CLIP(armature=ob.name, clip=clip))
    keyed = {name for each in (playing_clip(ob), other) if each for name, _ in moved_channels(each)}
    keyed |= {name for leg in legs for name in path_to(leg, hips)}
    own = [Control(ob, bone.name, turns=True) for bone in ob.pose.bones if bone.name in keyed]
    seen = [*dict.fromkeys([*line_of(hips), *chain_controls(ob), *own])]
    frames = frames_of_clip(ob, seen)
    # Refused or not, controls are back where the clip that plays has them.
    with frame_kept(context.scene):
        first = yield from part_of(_side(context, ob, legs, frames), 0, 5)
        with clip_playing(ob, other, channels_of_clips(ob)):
            later = frames_of_clip(ob, seen)
            second = yield from part_of(_side(context, ob, legs, later), 1, 5)
            after = yield from part_of(filmed(context, ob, seen, later), 2, 5)
    joint = _joint_of(ob, *(walk_of(each) for each in (first, second)))

    def moved(before: Film) -> Mapping[Control, Rows]:
        return _rows_of(joint, (before, after), (first.clip, second.clip), hips, legs)

    at = [frames[joint.row], later[joint.following]]
    frames = range(frames.start, frames.start + joint.row + len(later) - joint.following)
    yield from part_of(made_of_clip(context, ob, seen, moved, "joined", frames), 3, 5)
    contacts = np.array(joint.joined(first.contacts.T, second.contacts.T)).T
    key_contacts([ob.pose.bones[leg.tip] for leg in legs], contacts, frames)
    made = yield from part_of(shown(context, ob, legs, frames), 4, 5)
    jerk = _jerk(made, (first.clip, second.clip))
    return {
        "armature": ob.name,
        "action": ob.animation_data.action.name,
        "body": hips.name,
        "frames": [frames.start, frames.stop - 1],
        "joint": at,
        "difference": joint.apart,
        "jerk": jerk and {"tip": legs[jerk[0]].tip, "frame": frames[jerk[1]], "times": jerk[2]},
    }


join_clips = at_once(clips_joined)


def _jerk(made: LegMotion, clips: Sequence[LegMotion]) -> tuple[int, int, float] | None:
    """The leg and row at which a knee changes its speed by frame more than any does in the clips it is made of, and how
    many times as much; None: none does."""
    changes, *usual = (np.linalg.norm(np.diff(each.knees, 2, axis=1), axis=-1) for each in (made, *clips))
    most = max(each.max(initial=0.0) for each in usual)
    leg, row = np.unravel_index(changes.argmax(), changes.shape)
    return (int(leg), int(row) + 1, float(changes.max() / most)) if changes.max() > _JERK * most > 0.0 else None


def _rows_of(
    joint: _Joint,
    films: tuple[Film, Film],
    feet: tuple[LegMotion, LegMotion],
    hips: bpy.types.PoseBone,
    legs: Sequence[Leg],
) -> dict[Control, Rows]:
    """What all that was seen of both clips is to hold. feet: the legs as they were seen."""
    before, after = films
    ob, film, body = before.ob, joint.film(before, after), Control(before.ob, hips.name, turns=True)
    controls, on_feet, live = chain_controls(ob), legs_of_controls(ob, legs), set(live_tips(ob))
    wanted = {
        each: joint.passed(before.world(each), after.world(each), on_feet.get((each.ob, each.bone)))
        for each in film.channels
        if each == body or (body not in carriers_of(each) and (each in controls or moves(film, each)))
    }
    rows = {
        each: joint.channels(own, after.channels[each], each not in wanted) for each, own in before.channels.items()
    }
    for control, channels in rows_for(film, wanted).items():
        rows[control] |= channels
    goes = wanted[body] @ np.linalg.inv(film.world(body))
    for k, leg in enumerate(legs):
        path = path_to(leg, hips)
        _check_reach(joint, feet, k, leg, goes, film.frames)
        if path and leg.tip not in live:
            own, later = (foot_poses(clip, k) for clip in feet)
            made, seen = joint.passed(own, later, k), np.array(joint.joined(own, later))
            turns = made[:, :3, :3] @ seen[:, :3, :3].swapaxes(1, 2)
            rows |= rows_of_leg(film, FootGoal(leg, path, made[:, :3, 3], turns), wanted[body], rows)
    return rows


def _check_reach(
    joint: _Joint, feet: tuple[LegMotion, LegMotion], k: int, leg: Leg, goes: np.ndarray, frames: range
) -> None:
    """Raise ChainError where a leg does not reach its foot as it does in both clips. goes: (T, 4, 4), the body's way
    from where it was seen."""
    reach = float(feet[0].reaches[k])
    hips = np.array(joint.joined(*(clip.hips[k] for clip in feet)))
    hips = applied(goes[:, :3, :3], hips) + goes[:, :3, 3]
    before, after = (foot_poses(clip, k) for clip in feet)
    ankles = joint.passed(before, after, k)[:, :3, 3]
    usual = max(float(np.linalg.norm(clip.ankles[k] - clip.hips[k], axis=1).max()) for clip in feet)
    short = (np.linalg.norm(ankles - hips, axis=1) - max(usual, reach)) / reach
    if short.max() > _SHORT:
        frame = frames[int(short.argmax())]
        part = messages.LEG_LENGTHS(part=float(short.max()))
        raise ChainError(messages.JOIN_OUT_OF_REACH(bone=leg.tip, frame=frame, distance=part))


def _side(context: bpy.types.Context, ob: bpy.types.Object, legs: Sequence[Leg], frames: range) -> Steps[Stage]:
    """What plays, with its contacts: as keys say, else as they are found."""
    stage, clip = stands_on((yield from shown(context, ob, legs, frames)), Options()), playing_clip(ob)
    if stage.ground.velocity.any():
        raise ChainError(messages.JOIN_IN_PLACE(armature=ob.name, clip=clip.name if clip else ""))
    keyed = [keyed_contacts(ob.pose.bones[leg.tip], frames) for leg in legs]
    contacts = [own if told is None else told for own, told in zip(stage.contacts, keyed, strict=True)]
    return replace(stage, contacts=np.array(contacts))


def _joint_of(ob: bpy.types.Object, first: Walk, second: Walk) -> _Joint:
    """Where two clips are most alike, of all places where the same feet stand."""
    (level, heights), (other, other_heights) = _features(first), _features(second)
    # Its angle is the turn about the vertical that brings one pose nearest to another.
    product = level.T @ other.conj()
    own, others = (
        np.square(np.abs(np.vstack(each))).sum(axis=0) for each in ((level, heights), (other, other_heights))
    )
    away = own[:, None] + others - 2.0 * (np.abs(product) + heights.T @ other_heights)
    one, two = (standing(each.anchors, each.clip.ankles.shape[:2]) for each in (first, second))
    fits = (one[:, :, None] == two[:, None]).all(axis=0)
    near = round(NEAR * first.clip.fps)
    fits[: max(len(fits) // 2, len(fits) - near)] = fits[:, min(fits.shape[1] // 2, near) :] = False
    if not fits.any():
        raise ChainError(messages.NO_JOINT(armature=ob.name))
    # In the air only where no foot that stands does so near both ends: runs of one cycle.
    standing_too = fits & one.any(axis=0)[:, None]
    fits = standing_too if standing_too.any() else fits
    row, following = divmod(int(np.where(fits, away, np.inf).argmin()), fits.shape[1])
    move, stands = np.eye(4), one[:, row]
    move[:3, :3] = turns_by(np.angle(product[row, following]) * UP)
    # Where no foot stands the body goes on as it went, over the same ground.
    here, there = (
        (walk.feet[stands, at] if stands.any() else walk.clip.hips[:, at] * (1.0 - UP)).mean(axis=0)
        for walk, at in ((first, row), (second, following))
    )
    move[:3, 3] = here - move[:3, :3] @ there
    return _Joint(row, following, second, move, float(np.sqrt(max(away[row, following], 0.0) / len(heights))))


def _features(walk: Walk) -> tuple[np.ndarray, np.ndarray]:
    """What is compared of each frame: joints and their speeds in the plane, complex (2 n, T), and heights over the
    ground, (n, T)."""
    clip = walk.clip
    joints = np.concatenate((clip.hips, clip.knees, clip.ankles, clip.balls))
    level = joints[..., 0] + 1j * joints[..., 1]
    speeds = np.gradient(level, axis=1) * clip.fps * SPEED_TIME
    return np.concatenate((level - level.mean(axis=0), speeds)), joints[..., 2] - walk.feet[..., 2].mean(axis=0)
