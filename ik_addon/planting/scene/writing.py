"""From a plan to keys: of the controls, and of the bone that carries the body."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...authoring.fk_frames import (
    Samples,
    Slopes,
    channels_over,
    control_keys,
    is_carried,
    keys_of,
    sampled_world,
    stepped,
    turns_with,
)
from ...authoring.placing import Control, Placer, depth
from ...bake.keys import BoneKeys, write_keys
from ...bake.stepping import Steps
from ...rig.blender.file_memory import forget
from ...rig.blender.rotations import (
    LOCATION,
    Raw,
    array_of,
    channel_of,
    continuous_numbers,
    matrices_of,
    pose_matrix,
    rotation_in,
    turns_in,
)
from ...rig.blender.sampling import Judge, Sampler, time_is_plain
from ...rig.data.control_clips import controls_follow, with_its_clip
from ...rig.live.handler_lists import others_handle_frames
from ..feet.clip import applied, vectors_of
from ..feet.curves import runs
from ..feet.planning import FootPlan
from .kept_keys import curves_of, forget_kept
from .limbs import keyed_control
from .reading import BodyRows, Capture
from .riders import UNTURNED
from .sources import forget_source, is_made, mark_source

Thirds = dict[tuple[Control, int], list[np.ndarray]]
"""Locations (3,) of controls at a third and two between a frame and the next one."""

_STRAIGHT = 1e-6
"""How far numbers may be from a straight line that single precision draws, part of them or of the leg."""

_STILL = 1e-6
"""Radians, or part of a leg, by which what turns or moves less goes straight."""


def controls_placed(
    context: bpy.types.Context,
    tips: Sequence[bpy.types.PoseBone],
    controls: dict[bpy.types.PoseBone, list[Control]],
    capture: Capture,
    plan: FootPlan,
    frames: range,
) -> Steps[tuple[Samples, Slopes]]:
    """In steps: put the controls of these legs where a plan wants them at each frame, and so that between two frames
    what stands does."""
    targets, keys = _target_worlds(capture, plan), keyed_of(tips, controls, capture)
    told = _placed_at_once(context, [controls[tip] for tip in tips], keys, targets, capture, plan, frames)
    if told is not None:
        yield len(frames), len(frames)
        return told
    samples, carried, size = {}, [], capture.clip.size
    in_order = sorted(dict.fromkeys([*keys, *(controls[tip][1] for tip in tips)]), key=depth)
    with closing(stepped(context, tips, frames)) as scenes:
        for (done, total), scene in scenes:
            placer, wanted = Placer(scene), {}
            carriers = [placer.world_of(each) if each else Matrix() for each in map(_carrier_of, keys)]
            carried.append([*map(array_of, carriers)])
            for k, (key, tip) in enumerate(zip(keys, tips, strict=True)):
                target, pole = controls[tip]
                wanted[key] = _key_place(placer, key, target, Matrix(targets[k, done - 1]))
                wanted[pole] = Matrix.Translation(plan.poles[k, done - 1])
            if done == 1:
                _turn_back(wanted)
            for control in in_order:
                samples.setdefault(control, []).append(placer.place(control, wanted[control]))
            yield done, total
    curved = _curved(np.array(carried).swapaxes(0, 1), size, plan)
    all_targets = [controls[tip][0] for tip in tips]
    thirds = yield from _thirds(context, tips, keys, all_targets, capture, plan, frames, samples, curved)
    return samples, _slopes(thirds, samples, keys)


def _curved(carried: np.ndarray, size: float, plan: FootPlan) -> np.ndarray:
    """(legs, T - 1) bool: from which frames on no straight line leads to where controls have to be. carried: (legs, T,
    4, 4), what carries them. size: of a leg."""
    moves = np.abs(np.diff(carried, axis=1)) / np.array([size if column == 3 else 1.0 for column in range(4)])
    turns = np.linalg.norm(vectors_of(plan.feet[:, 1:] @ plan.feet[:, :-1].swapaxes(2, 3)), axis=2) > _STILL
    return ((moves.max(axis=(2, 3), initial=0.0) > _STILL) | turns) & ~np.isnan(plan.pivots[:, :-1, 0])


def _carrier_of(control: Control) -> Control | None:
    """What carries a control; None: nothing does."""
    ob, above = control.ob, control.owner.parent
    if control.bone:
        return Control(ob, above.name if above else "")
    return above and Control(above, ob.parent_bone if ob.parent_type == "BONE" else "")


def keyed_of(
    tips: Sequence[bpy.types.PoseBone], controls: Mapping[bpy.types.PoseBone, Sequence[Control]], capture: Capture
) -> list[Control]:
    """What is keyed to move each leg: its target, or a foot that carries that; a loose foot is turned as well."""
    found = [keyed_control(tip, controls[tip][0]) for tip in tips]
    return [replace(key, turns=True) if loose else key for key, loose in zip(found, capture.loose, strict=True)]


def _key_place(placer: Placer, key: Control, target: Control, place: Matrix) -> Matrix:
    """Where that has to be for the target, or a loose foot itself, to be at a place in the world."""
    if key == target or key.turns:
        return place
    return Matrix.Translation(place.translation - placer.world_of(target).translation) @ placer.world_of(key)


def _placed_at_once(
    context: bpy.types.Context,
    controls: Sequence[Sequence[Control]],
    keys: Sequence[Control],
    targets: np.ndarray,
    capture: Capture,
    plan: FootPlan,
    frames: range,
) -> tuple[Samples, Slopes] | None:
    """The same from F-Curves; None where these do not tell what carries controls.

    controls: target and pole of each leg; keys: what moves it. targets: (legs, T, 4, 4), where targets go.
    """
    placed, judge = {*keys, *(pole for _, pole in controls)}, Judge()
    known = {*placed, *(target for target, _ in controls)}
    if others_handle_frames() or not time_is_plain(context.scene) or any(is_carried(each, placed) for each in placed):
        return None
    if any(judge.not_simple(each.ob, each.bone) for each in known):
        return None
    sampler, samples = Sampler(frames), {}
    for k, (key, (target, pole)) in enumerate(zip(keys, controls, strict=True)):
        places = targets[k, :, :3, 3] + _from_target(key, target, sampler)
        near = UNTURNED.get(key.modes[-1], (0.0, 0.0, 0.0))
        samples[key] = channels_over(key, places, turns_in(targets[k]) if key.turns else None, sampler, near)
        samples[pole] = channels_over(pole, plan.poles[k], None, sampler, ())
    if None in samples.values():
        return None
    above = [sampled_world(each, sampler) if each else np.eye(4)[None] for each in map(_carrier_of, keys)]
    curved = _curved(np.array([np.broadcast_to(each, (len(frames), 4, 4)) for each in above]), capture.clip.size, plan)
    targets_of = [target for target, _ in controls]
    thirds = _thirds_at_once(keys, targets_of, capture, plan, frames, samples, curved)
    return None if thirds is None else (samples, _slopes(thirds, samples, keys))


def _thirds_at_once(
    keys: Sequence[Control],
    targets: Sequence[Control],
    capture: Capture,
    plan: FootPlan,
    frames: range,
    samples: Samples,
    curved: np.ndarray,
) -> Thirds | None:
    """See `_thirds`; from F-Curves. None where what carries controls is scaled unevenly."""
    thirds: Thirds = {}
    for k, (key, target) in enumerate(zip(keys, targets, strict=True)):
        if not len(rows := np.flatnonzero(curved[k])):
            continue
        own, shares = np.repeat(rows, 2), np.tile((1.0 / 3.0, 2.0 / 3.0), len(rows))[:, None]
        sampler = Sampler([frames[row] + share * frames.step for row, (share,) in zip(own, shares, strict=True)])

        def between(before: np.ndarray, after: np.ndarray) -> np.ndarray:
            return (1.0 - shares) * before[own] + shares * after[own]  # noqa: B023

        turns = turns_in(sampled_world(target, sampler))
        if key.turns:
            rotations = _rotations(samples[key], key.modes[1])
            turns = turns_with(key, between(rotations[:-1], rotations[1:]), sampler)
        ends = between(capture.ends[k, :-1], capture.ends[k, 1:]) - plan.pivots[k, own]
        places = between(*(each[k] for each in _stands(plan))) + applied(matrices_of(turns) @ capture.held[k], ends)
        places = places + _from_target(key, target, sampler)
        found = channels_over(replace(key, turns=False), places, None, sampler, ())
        if found is None:
            return None
        locations = np.array([location for (location,) in found]).reshape(-1, 2, 3)
        thirds |= {(key, row): [*pair] for row, pair in zip(rows, locations, strict=True)}
    return thirds


def _from_target(key: Control, target: Control, sampler: Sampler) -> np.ndarray:
    """How far a control is from the target that it carries, (n, 3) in the world; see `_key_place`."""
    if key == target or key.turns:
        return np.zeros((1, 3))
    return sampled_world(key, sampler)[:, :3, 3] - sampled_world(target, sampler)[:, :3, 3]


def _stands(plan: FootPlan) -> list[np.ndarray]:
    """Where what stands of each foot is at a frame and at the next one, (legs, T - 1, 3) each."""
    pairs = (plan.ankles[:, :-1], plan.feet[:, :-1]), (plan.ankles[:, 1:], plan.feet[:, 1:])
    return [ankles + applied(feet, plan.pivots[:, :-1]) for ankles, feet in pairs]


def _thirds(
    context: bpy.types.Context,
    tips: Sequence[bpy.types.PoseBone],
    keys: Sequence[Control],
    targets: Sequence[Control],
    capture: Capture,
    plan: FootPlan,
    frames: range,
    samples: Samples,
    curved: np.ndarray,
) -> Steps[Thirds]:
    """In steps: where controls have to be at each third between two frames for what stands to stand.

    curved: (legs, T - 1) bool, from which frames on a straight line does not lead there: what carries a control moves
    as it likes, and its own rotation goes from key to key as its channels do.
    """
    thirds: Thirds = {}
    stands = _stands(plan)
    turned = {each: _rotations(samples[each], each.modes[1]) for each in keys if each.turns}
    rows, shares = np.flatnonzero(curved.any(axis=0)), (1.0 / 3.0, 2.0 / 3.0)
    times = [frames[row] + share * frames.step for row in rows for share in shares]
    with closing(stepped(context, tips, times)) as scenes:
        for (done, _), scene in scenes:
            # No progress, but Esc is heard.
            yield len(frames), len(frames)
            placer, row, share = Placer(scene), rows[(done - 1) // 2], shares[(done - 1) % 2]
            for k in np.flatnonzero(curved[:, row]):
                key, weights = keys[k], np.array((1.0 - share, share))
                place = placer.world_of(key if capture.loose[k] else targets[k])
                if key in turned:
                    place = placer.world_with(key, {key.modes[1]: weights @ turned[key][row : row + 2]})
                foot = np.array(rotation_in(place).to_matrix(), float) @ capture.held[k]
                end = weights @ capture.ends[k, row : row + 2] - plan.pivots[k, row]
                place.translation = weights @ [each[k, row] for each in stands] + foot @ end
                place = _key_place(placer, key, targets[k], place)
                thirds.setdefault((key, row), []).append(np.array(placer.place(key, place)[0]))
    return thirds


def _rotations(samples: Sequence[tuple[Raw, ...]], mode: str) -> np.ndarray:
    """The rotations of a control as they are keyed, (T, 3 or 4)."""
    return continuous_numbers([row[1] for row in samples], mode).astype(float)


def _slopes(thirds: Thirds, samples: Samples, keyed: Iterable[Control]) -> Slopes:
    """The slopes of the cubics from frame to frame that go through these thirds."""
    slopes = {control: np.full((len(samples[control]), 2, 3), np.nan) for control in keyed}
    for (control, row), (first, second) in thirds.items():
        start, end = (np.array(samples[control][each][0]) for each in (row, row + 1))
        first, second = 27.0 * first - 8.0 * start - end, 27.0 * second - start - 8.0 * end
        slopes[control][row, 1] = (2.0 * first - second) / 6.0 - 3.0 * start
        slopes[control][row + 1, 0] = 3.0 * end - (2.0 * second - first) / 6.0
    return slopes


def _turn_back(controls: Iterable[Control]) -> None:
    """Let the rotations of controls begin at none, so that keys do not depend on how these are turned now."""
    for control in controls:
        for mode in set(control.modes) - {LOCATION}:
            numbers = UNTURNED.get(mode, (0.0, 0.0, 0.0))
            setattr(control.owner, channel_of(mode)[0], numbers)


def _target_worlds(capture: Capture, plan: FootPlan) -> np.ndarray:
    """Where targets go, (legs, frames, 4, 4): to where the legs of the feet end, turned as these want it."""
    worlds = np.tile(np.eye(4), (*plan.ankles.shape[:2], 1, 1))
    worlds[..., :3, :3] = plan.feet @ capture.held.swapaxes(-1, -2)[:, None]
    worlds[..., :3, 3] = plan.ankles + applied(plan.feet, capture.ends)
    return worlds


def body_keys(carrier: bpy.types.PoseBone, body: BodyRows, plan: FootPlan, frames: range) -> BoneKeys:
    """The keys with which the bone that carries a body moves as planned."""
    # Most characters have nothing above it that moves.
    above = body.above if (body.above != body.above[:1]).any() else body.above[:1]
    ways = np.array([_way_of(Matrix(pose) if carrier.parent else None, carrier) for pose in above])
    ways = body.worlds[:, :3, :3].astype(np.float32).astype(float) @ ways
    moves = np.linalg.solve(ways, plan.shifts[..., None])[..., 0]
    return keys_of(carrier.name, LOCATION, (body.locations + moves).tolist(), frames)


def _way_of(parent_pose: Matrix | None, bone: bpy.types.PoseBone) -> np.ndarray:
    """How a bone moves in its armature with its location, (3, 3): a column for each of its three numbers.

    parent_pose: of the bone above, if there is one.
    """
    at_rest, *ends = (
        pose_matrix(bone.bone, Matrix.Translation(location), parent_pose).to_translation()
        for location in (Vector(), *map(Vector, np.eye(3).tolist()))
    )
    return np.array([end - at_rest for end in ends], float).T


def write_plan(
    tips: Sequence[bpy.types.PoseBone],
    controls: dict[bpy.types.PoseBone, list[Control]],
    body: Mapping[bpy.types.Object, Sequence[BoneKeys]],
    capture: Capture,
    plan: FootPlan,
    samples: Samples,
    slopes: Slopes,
    frames: range,
    made: str,
) -> None:
    """Key a plan: in copies of the actions of controls and armature, or in those that were made so before.

    body: keys of the bone that carries the limbs, by its object, and of what goes along. made: what the copies' names
    say of them.
    """
    ob = tips[0].id_data
    keys, keyed = {ob: [], **{owner: [*own] for owner, own in body.items()}}, keyed_of(tips, controls, capture)
    for k, tip in enumerate(tips):
        target, pole = keyed[k], controls[tip][1]
        needed = needed_rows(plan.contacts[k], samples[target], float(capture.clip.reaches[k]) / _scale_of(target))
        needed = np.union1d(needed, np.flatnonzero(~np.isnan(slopes[target]).all(axis=(1, 2))))
        for control, rows in ((target, needed), (pole, np.arange(len(frames)))):
            keys.setdefault(control.ob, []).extend(control_keys(control, samples, slopes, frames, rows))
    write_copies(ob, keys, made)


def repeats(carrier: bpy.types.PoseBone) -> bool:
    """Whether Cycles modifiers let a body, or what carries it, go on beyond its keys."""
    line = (
        Control(carrier.id_data, name) for name in ("", carrier.name, *(each.name for each in carrier.parent_recursive))
    )
    modifiers = (own for control in line for curve in curves_of(control).values() for own in curve.modifiers)
    return any(own.type == "CYCLES" and not own.mute for own in modifiers)


def let_repeat(controls: Iterable[Control]) -> None:
    """Let controls go on beyond their keys too, each time from where they have come."""
    for curve in (curve for control in controls for curve in curves_of(control).values() if not curve.modifiers):
        cycles = curve.modifiers.new("CYCLES")
        cycles.mode_before = cycles.mode_after = "REPEAT_OFFSET"


def _scale_of(control: Control) -> float:
    """How long one unit of a control's location is in the world."""
    space = control.ob if control.bone else control.ob.parent
    return space.matrix_world.median_scale if space is not None else 1.0


def needed_rows(contacts: np.ndarray, rows: Sequence[tuple[Raw, ...]], length: float) -> np.ndarray:
    """At which frames the control of a foot needs keys: two hold it as long as heel and ball stand.

    More where what carries the control moves meanwhile. rows: what its channels hold at each frame, location first.
    length: of the leg, in units of the location.
    """
    needed = np.ones(contacts.shape[-1], bool)
    numbers = np.concatenate([np.array(channel) for channel in zip(*rows, strict=True)], axis=1)
    sizes = np.where(np.arange(numbers.shape[1]) < 3, length, 1.0)
    for first, last in runs(contacts.all(axis=0)):
        between = np.linspace(numbers[first], numbers[last], last - first + 1)
        tolerances = _STRAIGHT * np.maximum(sizes, np.abs(between).max(axis=0))
        if (np.abs(numbers[first : last + 1] - between) <= tolerances).all():
            needed[first + 1 : last] = False
    return np.flatnonzero(needed)


def write_copies(
    ob: bpy.types.Object, keys: Mapping[bpy.types.Object, Sequence[BoneKeys]], made: str, again: bool = True
) -> None:
    """Write keys of an armature object and its controls into copies of their actions.

    made: what the copies' names say of them. again: they keep their source, and into those that were made so the keys
    are written themselves; else what they were planted or matched from moves otherwise, and is forgotten.
    """

    def write(owner: bpy.types.Object, channels: Sequence[BoneKeys], in_copy: bool) -> None:
        source = owner.animation_data.action if owner.animation_data else None
        is_copy = in_copy or (again and is_made(owner, made))
        action = write_keys(owner, channels, "CURRENT" if is_copy else "COPY", made)
        forget_kept(action)
        forget("plain", owner)
        if not again:
            forget_source(action)
        elif not is_copy:
            mark_source(action, source, made)

    write(ob, keys.get(ob, ()), False)
    # In the copy of a clip they have copies of their slots.
    controls_follow(ob)
    for control, channels in keys.items():
        if control != ob:
            with with_its_clip(ob, control) as in_copy:
                write(control, channels, in_copy)
