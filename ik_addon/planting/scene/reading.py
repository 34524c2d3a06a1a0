"""Legs over frames into plain numbers in the world: in their FK pose, and as Blender shows them."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from itertools import accumulate, pairwise
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector
from mathutils.bvhtree import BVHTree

from ... import messages
from ...authoring.end_bone import axis_nearest, skin_below
from ...authoring.finding.limbs import find_limbs
from ...authoring.finding.names import read_names
from ...authoring.fk_frames import limbs_in_fk, stepped
from ...authoring.placing import Control
from ...authoring.selection import all_tips
from ...bake.collecting import sampled_over, shown_track
from ...bake.stepping import GoTo, Steps, recorded, stepping_lightly, stepping_shown
from ...rig.blender.animation import animated_paths
from ...rig.blender.dependencies import carriers
from ...rig.blender.rotations import (
    LOCATION,
    array_of,
    channel_path,
    matrices_of,
    quaternion_of,
    rotation_in,
    turns_in,
)
from ...rig.blender.sampling import Judge, Sampler
from ...rig.data.settings import path_of, settings_of
from ...rig.live.handler_lists import others_handle_frames
from ...rig.model.body import bodies_above, check_movable
from ...rig.model.foot import end_bone, toe_joint
from ...rig.model.limb import Limb, chain_bones, end_in_tip, known_bones, link_bones
from ...rig.model.limb_model import FkTrack, LimbModel, joints_of
from ...rig.model.order import ChainName, KnownOrders, live_tips
from ...rig.pose.solving import solve_limb
from ...rig.pose.track_reading import TrackReader
from ...rig.pose.track_solving import Reading, solve_tracks
from ...solvers import Chain, ChainError
from ...solvers.arrays import multiply
from ...solvers.bending import start_frame
from ..feet.clip import LegMotion, applied
from ..feet.options import POINT_FOOT
from ..feet.treadmill import Space
from .limbs import foot_of, keyed_control
from .skin import FootSkin, Skins, ball_on_skin, skin_of_foot
from .sources import source_playing


def carrier_of(
    tips: Sequence[bpy.types.PoseBone], controls: Mapping[bpy.types.PoseBone, Sequence[Control]]
) -> bpy.types.PoseBone:
    """The bone that carries the roots of all these chains of one armature, with the body, and none of their controls.

    controls: target and pole of each of them.
    Raises ChainError where there is none, or where it cannot be moved.
    """
    ob, roots = tips[0].id_data, [chain_bones(tip)[0] for tip in tips]
    moved = [
        *(keyed_control(tip, own[0]) for tip, own in controls.items()),
        *(each for own in controls.values() for each in own),
    ]
    held = {bone.name: control for control in moved for own, bone in carriers(control.ob, control.bone) if own == ob}
    line = bodies_above(roots, held)
    if not line:
        for bone in bodies_above(roots):
            raise ChainError(messages.CONTROL_ON_BODY(control=held[bone.name].shown, bone=bone.name))
        raise ChainError(messages.NO_BODY(armature=ob.name, tips=messages.quoted(_apart(tips, roots))))
    # A connected bone cannot move, and what it is connected to can.
    carrier = next((bone for bone in line if not bone.bone.use_connect), line[0])
    check_movable(carrier)
    return carrier


def _apart(tips: Sequence[bpy.types.PoseBone], roots: Sequence[bpy.types.PoseBone]) -> list[str]:
    """The tips without which most of these limbs share a bone that carries them; all if there are none."""
    above = [{bone.name for bone in root.parent_recursive} for root in roots]
    counts = Counter(name for names in above for name in names)
    most = max(counts.values(), default=0)
    shared = {name for name, count in counts.items() if count == most}
    return [tip.name for tip, names in zip(tips, above, strict=True) if not shared & names] or [
        tip.name for tip in tips
    ]


_CLOSE = 0.35
"""Distance from wrist or ankle to what it holds, part of the limb's length: a hand's length, and some more."""


def near_to(context: bpy.types.Context, held: Control, clip: LegMotion, space: Space) -> np.ndarray:
    """(limbs, T) bool: whether the end of each limb of a clip is close to what it may hold, as that is shaped now.

    space: where that is over the frames of the clip.
    """
    seen, close = space.seen(clip.ankles), _CLOSE * clip.reaches[:, None]
    if held.bone:
        bone = held.ob.pose.bones[held.bone]
        along = Vector((0.0, bone.length * held.ob.matrix_world.median_scale, 0.0))
        share = np.clip(seen @ np.array(along) / max(along.length_squared, 1e-30), 0.0, 1.0)
        return np.linalg.norm(seen - share[..., None] * np.array(along), axis=-1) <= close
    tree = _tree_of(context, held.ob)
    if tree is None:
        return np.linalg.norm(seen, axis=-1) <= close
    flat = [tree.find_nearest(point)[3] for point in seen.reshape(-1, 3).tolist()]
    return np.array(flat, float).reshape(seen.shape[:2]) <= close


def _tree_of(context: bpy.types.Context, ob: bpy.types.Object) -> BVHTree | None:
    """The surface of an object in its space, which has no size; None if it has no face."""
    evaluated = ob.evaluated_get(context.evaluated_depsgraph_get())
    try:
        mesh = evaluated.to_mesh()
    except RuntimeError:
        # Empties and the like have none.
        return None
    world = evaluated.matrix_world
    pose = Matrix.Translation(world.translation) @ rotation_in(world).to_matrix().to_4x4()
    to_space = pose.inverted_safe() @ world
    points = [to_space @ vertex.co for vertex in mesh.vertices]
    faces = [tuple(face.vertices) for face in mesh.polygons]
    evaluated.to_mesh_clear()
    return BVHTree.FromPolygons(points, faces) if faces else None


def leg_tips(ob: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """The tips of an armature object's live chains that are legs."""
    return legs_among(ob, (ob.pose.bones[name] for name in live_tips(ob)))


def legs_among(ob: bpy.types.Object, tips: Iterable[bpy.types.PoseBone]) -> list[bpy.types.PoseBone]:
    """Of these tips of an armature object's chains those of legs: by the names of bones, and by where these are."""
    names = read_names(bone.name for bone in ob.pose.bones)
    by_shape = cache(lambda: {limb.bones[-1] for limb in find_limbs(ob.data.bones).limbs})

    def is_leg(tip: bpy.types.PoseBone) -> bool:
        end = end_bone(tip)
        kinds = {names[bone.name].kind for bone in (*chain_bones(tip), *((end,) if end else ()))}
        # The fore legs of animals are called arms too.
        return "LEG" in kinds or "ARM" not in kinds or tip.name in by_shape()

    return [tip for tip in tips if is_leg(tip)]


Shown = Callable[[bpy.types.Depsgraph], Matrix]
"""Place and orientation in the world of something, as it was evaluated."""


def pose_of_held(held: Control) -> Shown:
    """The pose of what a limb is held to: an object, or a bone of one. Its size does not count."""

    def shown(depsgraph: bpy.types.Depsgraph) -> Matrix:
        ob = held.ob.evaluated_get(depsgraph)
        world = ob.matrix_world @ ob.pose.bones[held.bone].matrix if held.bone else ob.matrix_world
        return _pose(world.translation, rotation_in(world))

    return shown


def pose_of_end(tip: bpy.types.PoseBone) -> Shown:
    """The pose of a limb's hand or foot, at the wrist or ankle; of a limb without one the place alone."""
    ob, name, foot, end = tip.id_data, tip.name, end_bone(tip), Vector(end_in_tip(tip))
    end_name = foot.name if foot is not None else None

    def shown(depsgraph: bpy.types.Depsgraph) -> Matrix:
        evaluated = ob.evaluated_get(depsgraph)
        world, bones = evaluated.matrix_world, evaluated.pose.bones
        turn = Quaternion()
        if end_name is not None:
            turn = rotation_in(world) @ rotation_in(bones[end_name].matrix, bones[end_name].scale)
        return _pose(world @ bones[name].matrix @ end, turn)

    return shown


def shown_over(context: bpy.types.Context, things: Sequence[Shown], frames: range) -> Steps[list[Space]]:
    """In steps: where things are over frames, with all chains live; the scene goes back to its frame."""
    if not things:
        return []
    going = stepping_shown(context, context.scene.objects)
    rows = yield from recorded(going, frames, lambda depsgraph: [array_of(thing(depsgraph)) for thing in things])
    return [Space(poses[:, :3, 3], poses[:, :3, :3]) for poses in np.swapaxes(rows, 0, 1)]


def _pose(place: Vector, turn: Quaternion) -> Matrix:
    return Matrix.Translation(place) @ turn.to_matrix().to_4x4()


@dataclass(frozen=True, slots=True)
class BodyRows:
    """What carries a body over T frames.

    locations: (T, 3), of the bone's channel. worlds: (T, 4, 4), of its armature object. above, poses: (T, 4, 4), pose
    matrices of the bone above it, the unit matrix without one, and of itself.
    """

    locations: np.ndarray
    worlds: np.ndarray
    above: np.ndarray
    poses: np.ndarray


@dataclass(frozen=True, slots=True)
class Capture:
    """What the FK pose of some legs does over frames, and what carries it.

    legs, clip: the legs. held: (legs, 3, 3), how each foot stands against its target. body: what carries them; None if
    that was not asked for. loose: which feet were read that do not hang on their legs. ends: (legs, T, 3), where the
    leg of each foot ends, from its ankle in its own space: elsewhere where bones stretch or have keys of location.
    told: what F-Curves told of it; None: it was stepped through.
    """

    legs: "Sequence[Leg]"
    clip: LegMotion
    held: np.ndarray
    body: BodyRows | None
    loose: tuple[bool, ...]
    ends: np.ndarray
    told: "_Told | None"


def captured(
    context: bpy.types.Context,
    tips: Sequence[bpy.types.PoseBone],
    carrier: bpy.types.PoseBone | None,
    frames: range,
    solved: bool = False,
    at_feet: bool = False,
    skins: Skins | None = None,
    legs: "Sequence[Leg]" = (),
) -> Steps[Capture]:
    """In steps: read the legs of these chains of one armature in their FK pose, or as they are solved.

    carrier: the bone that carries them, if that is to be moved. at_feet: ankles are where feet are seen, also of a leg
    whose foot hangs on something else, and carries its target. skins: of their feet, as far as they are known, for they
    are to be seen too. legs: if they were read before. Raises ChainError that names the bone of one that cannot be.
    """
    ob = tips[0].id_data
    if not legs:
        # They are measured where the armature is just now.
        context.evaluated_depsgraph_get()
        legs = [leg_of(tip, at_feet, skins) for tip in tips]
        legs = legs if skins is None else with_skins(ob, legs, skins)
    told, judge = None, Judge()
    if not any(judge.not_simple(ob, name) for leg in legs if leg.skin for name in leg.skin.bones):
        read = partial(_told_in, tips, legs, carrier, solved, at_feet)
        told = skins.clips.of(context, tips, frames, read) if skins is not None and skins.clips is not None else None
        if told is None or told.settings != _settings_of(tips):
            sampler = Sampler(frames)
            readings = sampled_over(context, tips, frames, sampler)
            told = read(readings, sampler, [len(frames)])[0] if readings is not None else None
    if told is not None:
        yield len(frames), len(frames)
        rows, body = told.rows, told.body
    else:
        rows, body = yield from _stepped_through(context, tips, carrier, frames, solved, at_feet, legs)
    clip, ends = _clip_of(context, legs, rows, frames, at_feet)
    held = np.array([np.eye(3) if own.held is None else own.held.to_matrix() for own in rows])
    return Capture(legs, clip, held, body, tuple(not own.hangs for own in rows), ends, told)


def solved_again(
    context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone], capture: Capture, frames: range
) -> LegMotion:
    """The legs of a capture that F-Curves told as they are solved now that controls, and what carries the legs, have
    other keys."""
    sampler = Sampler(frames)
    reader, told = TrackReader(sampler, len(frames)), zip(capture.told.models, capture.told.fks, strict=True)
    readings = [reader.sent_now(tips[0].id_data, *chain) for chain in told]
    rows = _rows_of(tips, capture.legs, readings, sampler, solved=True, at_feet=True)
    return _clip_of(context, capture.legs, rows, frames, at_feet=True)[0]


def _clip_of(
    context: bpy.types.Context, legs: "Sequence[Leg]", rows: "Sequence[_Rows]", frames: range, at_feet: bool
) -> tuple[LegMotion, np.ndarray]:
    """The legs in the world; and where they end, see Capture."""
    count = len(frames)
    found = [_leg_over(own, leg.ball, count, at_feet) for own, leg in zip(rows, legs, strict=True)]
    joints, lengths, feet, balls, ends = (np.array(each) for each in zip(*found, strict=True))
    clip = LegMotion(
        fps=clip_rate(context.scene, frames),
        # Single precision lengthens limbs by a millionth at a frame.
        lengths=lengths.mean(axis=1),
        hips=joints[:, :, 0],
        knees=joints[:, :, 1],
        ankles=joints[:, :, 2],
        balls=balls,
        feet=feet,
        soles=np.array([leg.sole for leg in legs]),
        rests=np.array([leg.rests for leg in legs]),
        skins=tuple(_skin_over(leg.skin, own, count) for leg, own in zip(legs, rows, strict=True)),
    )
    return clip, ends


@dataclass(slots=True)
class _Rows:
    """A leg over T frames, or one row where nothing moves, in some space.

    worlds: (T, 4, 4), from that space to the world. joints: (T, links + 1, 3). feet: (T, 4, 4), of its foot, empty
    without one. held: how that stands against its target. hangs: False where the foot does not hang on the leg; then
    it stands where its head is, and not where the leg ends. beside: (bones, T or 1, 4, 4), in the space of the foot, of
    those that deform its skin; empty if that is not to be seen.
    """

    worlds: Sequence | np.ndarray
    joints: Sequence | np.ndarray
    feet: Sequence | np.ndarray
    held: Quaternion | None = None
    hangs: bool = True
    beside: Sequence = ()


def _stepped_through(
    context: bpy.types.Context,
    tips: Sequence[bpy.types.PoseBone],
    carrier: bpy.types.PoseBone | None,
    frames: range,
    solved: bool,
    at_feet: bool,
    legs: "Sequence[Leg]",
) -> Steps[tuple[list[_Rows], BodyRows | None]]:
    """In steps: the legs, frame by frame, and what carries them, see Capture."""
    ob, orders, body = tips[0].id_data, KnownOrders(), []
    rows = {ChainName(ob.name_full, tip.name): _Rows([], [], [], beside=[]) for tip in tips}
    deforming = {chain: leg.skin.bones if leg.skin else () for chain, leg in zip(rows, legs, strict=True)}
    with closing(stepped(context, tips, frames)) as scenes:
        for step, scene in scenes:
            reader = scene.armature(ob)
            if carrier is not None:
                own = reader.tip(carrier.name)
                matrices = reader.world, reader.parent_pose(own) or Matrix(), reader.pose_of(own)
                body.append((own.location[:], *map(array_of, matrices)))
            for chain, limb in limbs_in_fk(scene, {*rows}, orders, solved):
                poses, foot = _solved(limb) if solved else _in_fk(limb)
                own, loose = rows[chain], _loose_foot(ob.pose.bones[chain.tip]) if at_feet else None
                if loose is not None:
                    foot, own.hangs = reader.pose_of(reader.tip(loose.name)), False
                own.worlds.append(array_of(limb.world))
                own.joints.append(limb.joints(poses))
                if foot is not None:
                    own.feet.append(array_of(foot))
                own.held = limb.held or own.held
                if deforming[chain]:
                    seen = foot_of(ob.pose.bones[chain.tip])
                    to_foot, *poses = (reader.pose_of(reader.tip(n)) for n in (seen.name, *deforming[chain]))
                    own.beside.append([array_of(to_foot.inverted_safe() @ pose) for pose in poses])
            yield step
    found = [
        replace(
            own,
            worlds=np.array(own.worlds),
            joints=np.array(own.joints),
            feet=np.array(own.feet),
            beside=[*np.swapaxes(own.beside, 0, 1)] if own.beside else (),
        )
        for own in rows.values()
    ]
    return found, BodyRows(*map(np.array, zip(*body, strict=True))) if body else None


def _loose_foot(tip: bpy.types.PoseBone) -> bpy.types.PoseBone | None:
    """The foot of a leg that hangs on something else; None: it hangs on its leg."""
    foot = foot_of(tip)
    return foot if foot is not None and foot != end_bone(tip) else None


@dataclass(frozen=True, slots=True)
class _Told:
    """Legs from F-Curves, and what carries them; the FK pose of each chain, and its settings."""

    rows: list[_Rows]
    body: BodyRows | None
    fks: list[FkTrack]
    models: list[LimbModel]
    settings: tuple


def _settings_of(tips: Iterable[bpy.types.PoseBone]) -> tuple:
    return tuple((settings_of(tip), *tip.analytic_ik_record_rotation) for tip in tips)


def _told_in(
    tips: Sequence[bpy.types.PoseBone],
    legs: "Sequence[Leg]",
    carrier: bpy.types.PoseBone | None,
    solved: bool,
    at_feet: bool,
    readings: Mapping[ChainName, Reading],
    sampler: Sampler,
    counts: Sequence[int],
) -> list[_Told]:
    """Legs in clips that were read one after the other, counts: each of so many frames."""
    own, count = [*readings.values()], sum(counts)
    rows = _rows_of(tips, legs, own, sampler, solved, at_feet)
    body = _carried_over(carrier, sampler, count) if carrier is not None else None
    whole = _Told(rows, body, [each.fk for each in own], [each.model for each in own], _settings_of(tips))
    return [_part(whole, slice(end - each, end), count) for each, end in zip(counts, accumulate(counts), strict=True)]


def _part(found, part: slice, count: int) -> Any:
    """A part of `count` rows, of all arrays that have as many in what was found."""
    if isinstance(found, np.ndarray):
        return found[part] if len(found) == count else found
    if isinstance(found, (list, tuple)):
        return type(found)(_part(each, part, count) for each in found)
    if isinstance(found, (_Told, _Rows, BodyRows, FkTrack)):
        return replace(found, **{own.name: _part(getattr(found, own.name), part, count) for own in fields(found)})
    return found


def _rows_of(
    tips: Sequence[bpy.types.PoseBone],
    legs: "Sequence[Leg]",
    readings: Sequence[Reading],
    sampler: Sampler,
    solved: bool,
    at_feet: bool,
) -> list[_Rows]:
    """Legs over all frames at once, each in the space of its root's parent."""
    ob, fks = tips[0].id_data, [reading.fk for reading in readings]
    if solved:
        fks = [shown_track(*each) for each in zip(readings, solve_tracks(readings), strict=True)]
    found = []
    for tip, leg, reading, fk in zip(tips, legs, readings, fks, strict=True):
        model, feet, held = reading.model, (), None
        loose = _loose_foot(tip) if at_feet else None
        if loose is not None:
            foot = sampler.worlds(loose.id_data) @ sampler.poses(loose.id_data, loose.name)
            feet = np.linalg.inv(reading.goal.to_world) @ foot
        elif model.foot is not None:
            held, feet = model.foot.held, _poses_in(fk, model.own)
        own = _Rows(reading.goal.to_world, joints_of(model, fk), feet, held, loose is None)
        if leg.skin is not None:
            seen = foot_of(tip).name
            of_chain = {name: np.linalg.inv(feet) @ _poses_in(fk, model.bones.index(name)) for name in leg.links}
            beside = (np.linalg.inv(sampler.poses(ob, seen)) @ sampler.poses(ob, name) for name in leg.skin.bones)
            own.beside = [of_chain.get(name, pose) for name, pose in zip(leg.skin.bones, beside, strict=True)]
        found.append(own)
    return found


def _poses_in(fk: FkTrack, k: int) -> np.ndarray:
    """The poses (n, 4, 4) of one of a chain's bones, in the space of its root's parent."""
    poses = np.tile(np.eye(4), (max(len(fk.heads), len(fk.turns), len(fk.sizes)), 1, 1))
    poses[:, :3, :3] = matrices_of(fk.turns[:, k]) * fk.sizes[:, k, None, None]
    poses[:, :3, 3] = fk.heads[:, k]
    return poses


def _skin_over(skin: FootSkin | None, rows: _Rows, count: int) -> np.ndarray | None:
    """The skin of a leg's foot over frames, (points, T, 3), in the world."""
    if skin is None or not len(rows.feet):
        return None
    points = skin.over(np.asarray(rows.worlds) @ np.asarray(rows.feet), rows.beside)
    return np.broadcast_to(points, (len(points), count, 3))


def _leg_over(
    rows: _Rows, to_ball: np.ndarray | None, count: int, at_feet: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """In the world: joints (T, 3, 3), lengths (T, 2), foot (T, 3, 3) and ball (T, 3) of a leg; and where it ends
    (T, 3), see Capture."""
    joints = _in_world(rows.worlds, rows.joints)
    joints = np.broadcast_to(joints, (count, *joints.shape[1:]))
    lengths = np.linalg.norm(np.diff(joints, axis=1), axis=-1)
    if joints.shape[1] != 3:
        joints, lengths = map(np.array, zip(*map(in_two_links, joints), strict=True))
    if to_ball is None or not len(rows.feet):
        return joints, lengths, np.tile(np.eye(3), (count, 1, 1)), joints[:, 2], np.zeros((count, 3))
    feet = matrices_of(multiply(turns_in(rows.worlds), turns_in(rows.feet)))
    points = np.array((np.zeros(3), to_ball))[None]
    head, ball = _in_world(rows.worlds, _in_world(rows.feet, points)).swapaxes(0, 1)
    ends = np.zeros((count, 3))
    if at_feet:
        joints, end = joints.copy(), joints[:, 2].copy()
        joints[:, 2] = head
        # A foot that does not hang on its leg is moved itself.
        ends += applied(feet.swapaxes(-1, -2), end - head) * rows.hangs
    return joints, lengths, np.broadcast_to(feet, (count, 3, 3)), np.broadcast_to(ball, (count, 3)), ends


def _in_world(worlds: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points (n, m, 3) moved by matrices (n, 4, 4); of one row where nothing changes."""
    return points @ worlds[:, :3, :3].swapaxes(-1, -2) + worlds[:, None, :3, 3]


def _carried_over(carrier: bpy.types.PoseBone, sampler: Sampler, count: int) -> BodyRows:
    """What a bone does over so many frames, from F-Curves."""
    ob, parent = carrier.id_data, carrier.bone.parent
    locations = sampler.channel(ob, channel_path(carrier.name, LOCATION), carrier.location[:])
    above = sampler.poses(ob, parent.name) if parent else np.eye(4)[None]
    matrices = sampler.worlds(ob), above, sampler.poses(ob, carrier.name)
    rows = (np.broadcast_to(each, (count, *each.shape[1:])) for each in (locations, *matrices))
    return BodyRows(*rows)


def reaching(capture: Capture) -> LegMotion:
    """The legs, each as long as it takes to reach its foot: loose feet may be farther, and bones that stretch, and need
    not be reached better than they were."""
    clip = capture.clip
    shares = np.linalg.norm(clip.ankles - clip.hips, axis=-1).max(axis=1) / clip.lengths.sum(axis=1)
    return replace(clip, lengths=clip.lengths * np.maximum(shares, 1.0)[:, None])


def _in_fk(limb: Limb) -> tuple[Sequence[Matrix], Matrix | None]:
    """The pose matrices of a limb's links and of its foot in the FK pose, in armature space."""
    foot = limb.ends[0].pose_armature if limb.ends else None
    return [reading.pose_armature for reading in limb.bones], foot


def _solved(limb: Limb) -> tuple[Sequence[Matrix], Matrix | None]:
    """The same as the limb is solved."""
    posed = solve_limb(limb)
    poses, foot = posed.poses_armature, None
    if limb.ends:
        end, numbers = limb.ends[0], posed.rotations[len(limb.bones)]
        foot = end.posed(quaternion_of(numbers, end.mode), limb.bones[-1].last_pose(poses[-1]))
    return poses, foot


def in_two_links(points: np.ndarray) -> tuple[np.ndarray, tuple[float, float]]:
    """Hip, knee and ankle (3, 3) of a limb with these joints (n, 3), and the lengths between them.

    A limb of more links counts as one of two that are as long as they are together. Its knee is put where it bends as a
    whole, far enough from its line to tell: to that side its pole is, also where its own knees are on both sides.
    """
    links = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if len(links) == 2:
        return points, (float(links[0]), float(links[1]))
    half = 0.5 * float(links.sum())
    # Single precision is finest near zero.
    side = start_frame(Chain([Vector(point) for point in (points - points[0]).tolist()])).side
    middle = 0.5 * (points[0] + points[-1]) + 0.5 * half * np.array(side, float)
    return np.array((points[0], middle, points[-1])), (half, half)


_LONGEST_FOOT = 0.6
"""Of a foot, part of its leg: importers put the tails of bones without a child anywhere."""
_UP = 0.5
"""Sine of the angle at which a bone goes up from the ankle that does not lie along a foot."""


def ball_of(
    ob: bpy.types.Object,
    joints: Sequence[Vector],
    bones: Sequence[bpy.types.PoseBone],
    foot: bpy.types.PoseBone | None,
) -> tuple[np.ndarray | None, float]:
    """Where the ball of a foot is in its own space, None if the leg ends in a point; and how far the skin reaches below
    it, in armature units.

    joints: of the leg at rest, in armature space. bones: its chain. A foot whose ball is farther from the ankle than a
    foot is long touches the ground below its ankle. The bone of one that hangs on something else than its leg is a
    control, which may be of any length: if it has nearly none the ball is where the skin of the sole says.
    """
    hip, end = bones[0].bone, joints[-1]
    if foot is None:
        return None, skin_below(ob, hip, bones[-1].bone, end)
    ankle = foot.bone.head_local
    ball, up = toe_joint(foot), hip.head_local - ankle
    leg, is_up = up.length, (ball - ankle).dot(up) > _UP * (ball - ankle).length * up.length
    if is_up or (foot.parent != bones[-1] and (ball - ankle).length < POINT_FOOT * leg):
        line, thigh = end - joints[0], joints[1] - joints[0]
        bend = thigh - line * (line.dot(thigh) / (line.length_squared or 1.0))
        length = sum((b - a).length for a, b in pairwise(joints))
        ball = ball_on_skin(ob, foot.bone, axis_nearest(up), bend, length, is_up) or (ankle if is_up else ball)
    if (ball - ankle).length > _LONGEST_FOOT * leg:
        ball = ankle
    return np.array(foot.bone.matrix_local.inverted_safe() @ ball, float), skin_below(ob, hip, foot.bone, ball)


def clip_rate(scene: bpy.types.Scene, frames: range) -> float:
    """How many of these frames a second of a scene has."""
    render = scene.render
    return render.fps / render.fps_base * render.frame_map_old / render.frame_map_new / frames.step


@dataclass(frozen=True, slots=True)
class Leg:
    """A leg of an armature, by the names of its bones.

    links: the bones that begin its links, hip first. tip: the last bone of its chain. ankle: in the tip's rest space.
    foot: the bone on the ankle, "" if the leg ends in a point. ball: in the foot's own space. lengths: of thigh and
    shin, world units. sole: how far the skin reaches below the ball, world units. rests: see LegMotion.
    skin: of the foot; None: it has none, or it is not to be seen.
    """

    links: tuple[str, ...]
    tip: str
    ankle: Vector
    foot: str
    ball: np.ndarray | None
    lengths: tuple[float, float]
    sole: float
    rests: tuple[float, float]
    skin: FootSkin | None = None

    @property
    def length(self) -> float:
        """Of the leg at full extension, world units."""
        return sum(self.lengths)


def legs_of(ob: bpy.types.Object, known: Skins | None = None) -> list[Leg]:
    """The legs of an armature object that have chains, live or muted; if none has, those that its bones show. known:
    what was read of their skins."""
    tips = legs_among(ob, (tip for tip in all_tips(ob) if len(known_bones(tip)) > 1))
    if tips:
        return [leg_of(tip, known=known) for tip in tips]
    found, pose = [], ob.pose.bones
    for limb in find_limbs(ob.data.bones).limbs:
        bones = [pose[name] for name in limb.bones]
        foot = pose[limb.end] if limb.end else None
        end = pose[limb.end].bone.head_local if limb.end else bones[-1].bone.tail_local
        ankle = bones[-1].bone.matrix_local.inverted_safe() @ end
        found.append(_leg(bones, [bone for bone in bones if bone.name not in limb.segments], foot, ankle, known))
    # In the order that chains have.
    return sorted(found, key=lambda leg: pose.find(leg.tip))


def leg_of(tip: bpy.types.PoseBone, at_feet: bool = True, known: Skins | None = None) -> Leg:
    """The leg of a chain. at_feet: see `captured`. known: what was read of its skin."""
    bones = known_bones(tip)
    return _leg(bones, link_bones(bones), foot_of(tip) if at_feet else end_bone(tip), end_in_tip(tip), known)


def _leg(
    bones: Sequence[bpy.types.PoseBone],
    links: Sequence[bpy.types.PoseBone],
    foot: bpy.types.PoseBone | None,
    ankle: Vector,
    known: Skins | None,
) -> Leg:
    ob, tip = bones[0].id_data, bones[-1]
    at_rest = tip.bone.matrix_local @ ankle
    joints = [*(bone.bone.head_local for bone in links), at_rest]
    lengths = [(b - a).length for a, b in pairwise(joints)]
    thigh = lengths[0] if len(lengths) == 2 else 0.5 * sum(lengths)
    scale = ob.matrix_world.median_scale
    balls, name = (Skins() if known is None else known).balls, foot.name if foot else ""
    if (tip.name, name) not in balls:
        balls[tip.name, name] = ball_of(ob, joints, bones, foot)
    ball, sole = balls[tip.name, name]
    points = [at_rest] if foot is None or ball is None else [at_rest, foot.bone.matrix_local @ Vector(ball)]
    return Leg(
        links=tuple(bone.name for bone in links),
        tip=tip.name,
        ankle=ankle,
        foot=name,
        ball=ball,
        lengths=(scale * thigh, scale * (sum(lengths) - thigh)),
        sole=scale * sole,
        rests=((ob.matrix_world @ bones[0].bone.head_local).z, min((ob.matrix_world @ point).z for point in points)),
    )


def with_skins(ob: bpy.types.Object, legs: Iterable[Leg], known: Skins) -> list[Leg]:
    """Legs of an armature object with the skins of their feet, which are added to those that are known."""
    legs, scale = list(legs), ob.matrix_world.median_scale
    for leg in legs:
        if leg.foot not in known.feet:
            known.feet[leg.foot] = skin_of_foot(ob, leg.foot, leg.length / scale) if leg.foot else None
    return [replace(leg, skin=known.feet[leg.foot]) for leg in legs]


def shown(context: bpy.types.Context, ob: bpy.types.Object, legs: Sequence[Leg], frames: range) -> Steps[LegMotion]:
    """In steps: these legs as Blender shows them at each frame, live chains solved. Where F-Curves tell all of it three
    frames are looked at, else all."""
    told = _told(context, ob, legs, frames)
    if told is not None:
        few = frames[:: (len(frames) - 1) // 2]
        seen = yield from _seen(context, ob, legs, few, stepping_shown(context, [ob]))
        if _are_alike(told, seen, [frames.index(frame) for frame in few]):
            return told
    return (yield from _seen(context, ob, legs, frames, stepping_shown(context, [ob])))


_FEWEST_TOLD = 120
"""Frames. Fewer are as quickly stepped through: chains are solved many frames ahead of each that is looked at."""
_ALIKE = 1e-5
"""Part of the size of a leg, and of its distance from the origin, by which single precision moves what is seen."""


def _told(context: bpy.types.Context, ob: bpy.types.Object, legs: Sequence[Leg], frames: range) -> LegMotion | None:
    """These legs from F-Curves; None where more than these, and their own chains, may move them."""
    names, judge, live = _names_of(legs), Judge(), {*live_tips(ob)}
    tips = [ob.pose.bones[leg.tip] for leg in legs]
    rolls = {path_of(tip, "foot_roll") for tip in tips}
    if len(frames) < _FEWEST_TOLD or not live.issuperset(leg.tip for leg in legs) or others_handle_frames():
        return None
    if any(judge.not_simple(ob, name) for name in names) or not rolls.isdisjoint(animated_paths(ob)):
        return None
    if any(tip.analytic_ik_foot_roll for tip in tips):
        return None
    sampler = Sampler(frames)
    readings = sampled_over(context, tips, frames, sampler)
    if readings is None:
        return None
    rows = _rows_of(tips, legs, [*readings.values()], sampler, solved=True, at_feet=True)
    # Of a limb of more links the first knee is seen.
    rows = [replace(own, joints=np.asarray(own.joints)[:, [0, 1, -1]]) for own in rows]
    clip, _ = _clip_of(context, legs, rows, frames, at_feet=True)
    return replace(clip, lengths=np.array([leg.lengths for leg in legs]))


def _are_alike(told: LegMotion, seen: LegMotion, rows: Sequence[int]) -> bool:
    """Whether legs were told as they are seen at some of the frames."""
    size = _ALIKE * told.size

    def alike(one: np.ndarray, other: np.ndarray) -> bool:
        return bool((np.abs(one[:, rows] - other) <= size + _ALIKE * np.abs(other)).all())

    places = ((getattr(told, name), getattr(seen, name)) for name in ("hips", "knees", "ankles", "balls"))
    skins = ((a, b) for a, b in zip(told.skins, seen.skins, strict=True) if a is not None and b is not None)
    turned = np.abs(told.feet[:, rows] - seen.feet).max()
    return all(alike(*pair) for pair in (*places, *skins)) and turned <= _ALIKE


def source_shown(
    context: bpy.types.Context, ob: bpy.types.Object, legs: Sequence[Leg], frames: range
) -> Steps[LegMotion]:
    """In steps: these legs in the action from which the current one was planted, without chains."""
    with source_playing(ob):
        return (yield from _seen(context, ob, legs, frames, stepping_lightly(context, [ob])))


def _seen(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    legs: Sequence[Leg],
    frames: range,
    going: AbstractContextManager[GoTo],
) -> Steps[LegMotion]:
    names = _names_of(legs)

    def take(depsgraph: bpy.types.Depsgraph) -> list[np.ndarray]:
        evaluated = ob.evaluated_get(depsgraph)
        return [array_of(each) for each in (evaluated.matrix_world, *(evaluated.pose.bones[n].matrix for n in names))]

    world, *own = np.swapaxes((yield from recorded(going, frames, take)), 0, 1)
    poses = dict(zip(names, own, strict=True))
    own = [_posed(world, poses, leg) for leg in legs]
    (hips, knees, ankles, balls), feet = (
        np.array([joints for joints, _ in own]).swapaxes(0, 1),
        [turn for _, turn in own],
    )
    lengths, soles, rests = (np.array([getattr(leg, name) for leg in legs]) for name in ("lengths", "sole", "rests"))
    rate = clip_rate(context.scene, frames)
    skins = (leg.skin for leg in legs)
    skin = tuple(each and each.over(world, [poses[name] for name in each.bones]) for each in skins)
    return LegMotion(rate, lengths, hips, knees, ankles, balls, np.array(feet), soles, rests, skin)


def _names_of(legs: Sequence[Leg]) -> list[str]:
    """The bones by which legs and the skins of their feet are seen."""
    of_legs = (name for leg in legs for name in (*leg.links[:2], leg.tip, leg.foot) if name)
    return list(dict.fromkeys((*of_legs, *(name for leg in legs if leg.skin for name in leg.skin.bones))))


def _posed(world: np.ndarray, poses: Mapping[str, np.ndarray], leg: Leg) -> tuple[np.ndarray, np.ndarray]:
    """Hip, knee, ankle and ball (4, T, 3) of a leg, and its foot's orientation (T, 3, 3), in the world.

    world: (T, 4, 4), of its armature object; poses: likewise the pose matrices of its bones.
    """
    origin = (0.0, 0.0, 0.0)
    points = [(leg.links[0], origin), (leg.links[1], origin), (leg.tip, leg.ankle)]
    if leg.ball is not None:
        points[2:] = [(leg.foot, origin), (leg.foot, leg.ball)]
    joints = np.array([(world @ poses[name] @ (*point, 1.0))[:, :3] for name, point in points])
    if leg.ball is None:
        return joints[[0, 1, 2, 2]], np.tile(np.eye(3), (len(world), 1, 1))
    return joints, matrices_of(multiply(turns_in(world), turns_in(poses[leg.foot])))
