"""From a plan to keys: of the controls, and of the bone that carries the body."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace

import bpy
import numpy as np
from mathutils import Matrix

from ...authoring.fk_frames import keys_of, stepped
from ...authoring.placing import Control, Placer, depth
from ...bake.keys import BoneKeys, write_keys
from ...bake.stepping import Steps
from ...rig.blender.rotations import LOCATION, Raw, channel_of
from ...rig.data.control_clips import controls_follow, with_its_clip
from ..feet.curves import runs
from ..feet.planning import FootPlan
from .limbs import keyed_control
from .reading import Capture
from .sources import forget_source, is_made, mark_source

Samples = dict[Control, list[tuple[Raw, ...]]]
"""What the channels of controls hold at each frame."""
Slopes = dict[Control, list[np.ndarray]]
"""How fast the locations (2, 3) of controls arrive at each frame and leave it, as `arcs` of a plan."""

_STRAIGHT = 1e-6
"""How far numbers may be from a straight line that single precision draws, part of them or of the leg."""


def controls_placed(
    context: bpy.types.Context,
    tips: Sequence[bpy.types.PoseBone],
    controls: dict[bpy.types.PoseBone, list[Control]],
    capture: Capture,
    plan: FootPlan,
    frames: range,
) -> Steps[tuple[Samples, Slopes]]:
    """In steps: put the controls of these legs where a plan wants them at each frame."""
    targets, samples, slopes = _target_worlds(capture, plan), {}, {}
    with closing(stepped(context, tips, frames)) as scenes:
        for (done, total), scene in scenes:
            placer, wanted = Placer(scene), {}
            for k, tip in enumerate(tips):
                target, pole = controls[tip]
                keyed, place = keyed_control(tip, target), Matrix(targets[k, done - 1])
                if keyed != target:
                    way = place.translation - placer.world_of(target).translation
                    place = Matrix.Translation(way) @ placer.world_of(keyed)
                else:
                    slopes.setdefault(target, []).append(_slopes(placer, target, place, plan.arcs[k, done - 1]))
                wanted[keyed], wanted[pole] = place, Matrix.Translation(plan.poles[k, done - 1])
            if done == 1:
                _turn_back(wanted)
            for control in sorted(wanted, key=depth):
                samples.setdefault(control, []).append(placer.place(control, wanted[control]))
            yield done, total
    return samples, slopes


def _slopes(placer: Placer, control: Control, place: Matrix, ways: np.ndarray) -> np.ndarray:
    """What ways (2, 3) in the world are for the location of a control at a place."""
    if np.isnan(ways).all():
        return ways
    here = np.array(placer.place(control, place)[0])
    there = [placer.place(control, Matrix.Translation(np.nan_to_num(way)) @ place)[0] for way in ways]
    return np.where(np.isnan(ways), np.nan, np.array(there) - here)


def _turn_back(controls: Iterable[Control]) -> None:
    """Let the rotations of controls begin at none, so that keys do not depend on how these are turned now."""
    for control in controls:
        for mode in set(control.modes) - {LOCATION}:
            numbers = _UNTURNED.get(mode, (0.0, 0.0, 0.0))
            setattr(control.owner, channel_of(mode)[0], numbers)


_UNTURNED = {"QUATERNION": (1.0, 0.0, 0.0, 0.0), "AXIS_ANGLE": (0.0, 0.0, 1.0, 0.0)}


def _target_worlds(capture: Capture, plan: FootPlan) -> np.ndarray:
    """Where targets go, (legs, frames, 4, 4): to the ankles, turned as the feet want it."""
    worlds = np.tile(np.eye(4), (*plan.ankles.shape[:2], 1, 1))
    worlds[..., :3, :3] = plan.feet @ capture.held.swapaxes(-1, -2)[:, None]
    worlds[..., :3, 3] = plan.ankles
    return worlds


def body_keys(carrier: bpy.types.PoseBone, capture: Capture, plan: FootPlan, frames: range) -> BoneKeys:
    """The keys with which the bone that carries a body moves as planned."""
    ways = np.linalg.solve(capture.ways, plan.shifts[..., None])[..., 0]
    return keys_of(carrier.name, LOCATION, (capture.locations + ways).tolist(), frames)


def write_plan(
    tips: Sequence[bpy.types.PoseBone],
    controls: dict[bpy.types.PoseBone, list[Control]],
    body: Sequence[BoneKeys],
    capture: Capture,
    plan: FootPlan,
    samples: Samples,
    slopes: Slopes,
    frames: range,
    made: str,
) -> None:
    """Key a plan: in copies of the actions of controls and armature, or in those that were made so before.

    body: keys of the bone that carries the limbs. made: what the copies' names say of them.
    """
    ob = tips[0].id_data
    keys = {ob: [*body]}
    for k, tip in enumerate(tips):
        target, pole = keyed_control(tip, controls[tip][0]), controls[tip][1]
        needed = needed_rows(plan.contacts[k], samples[target], float(capture.clip.reaches[k]) / _scale_of(target))
        for control, rows in ((target, needed), (pole, np.arange(len(frames)))):
            own = _control_keys(control, samples[control], frames, rows)
            if control in slopes:
                own[0] = replace(own[0], slopes=np.array(slopes[control])[rows])
            keys.setdefault(control.ob, []).extend(own)
    write_copies(ob, keys, made)


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
    numbers = np.array([np.concatenate(row) for row in rows])
    sizes = np.where(np.arange(numbers.shape[1]) < 3, length, 1.0)
    for first, last in runs(contacts.all(axis=0)):
        between = np.linspace(numbers[first], numbers[last], last - first + 1)
        tolerances = _STRAIGHT * np.maximum(sizes, np.abs(between).max(axis=0))
        if (np.abs(numbers[first : last + 1] - between) <= tolerances).all():
            needed[first + 1 : last] = False
    return np.flatnonzero(needed)


def _control_keys(
    control: Control, samples: Sequence[tuple[Raw, ...]], frames: range, rows: np.ndarray
) -> list[BoneKeys]:
    times = [frames[row] for row in rows]
    return [
        keys_of(control.bone, mode, [samples[row][k] for row in rows], times) for k, mode in enumerate(control.modes)
    ]


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
