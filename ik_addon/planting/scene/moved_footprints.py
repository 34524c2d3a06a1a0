"""A footprint that is moved takes its foot along at once: the keys of that step go with it, and fade into those around.

The rest of the plan stays: the body and the knees follow when the feet are planted again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix

from ...authoring.fk_tracks import channel_rows
from ...authoring.placing import Control, keyed_control
from ...bake.keys import key_times
from ...rig.blender.animation import current_fcurve_collections
from ...rig.blender.file_memory import MovedStep, file_memory
from ...rig.blender.rotations import LOCATION, array_of, channel_of, raw_values, turns_in
from ...rig.blender.sampling import Sampler, not_simple
from ...rig.data.held_feet import footprint_of
from ...rig.model.limb import known_bones
from ..feet.clip import applied, turns_by, vectors_of
from ..feet.curves import bridged, runs
from ..feet.options import Options
from ..feet.paths import fade_frames, slopes_inside
from .footprints import numbers_of, place_of
from .limbs import keyed_contacts
from .sources import kept_settings

_SAME = 1e-6
"""By how much the elements of a footprint's matrix differ that has not moved."""


@dataclass(frozen=True, slots=True)
class _KeyedStep:
    """The step of a footprint, with the ways to it and from it.

    control: what is keyed for its foot. frames: of the scene, from the last one of the step before to the first one of
    the next. own: (n,) bool, in which of these the foot stands in this step; stands: or in the others. options: of
    planting. size: length of the leg in the world.
    """

    control: Control
    frames: Sequence[int]
    own: np.ndarray
    stands: np.ndarray
    options: Options
    size: float
    fps: float


def follow_footprints(scene: bpy.types.Scene, footprints: Iterable[bpy.types.Object]) -> bool:
    """Let the steps of footprints go where these are now, if they have moved in a scene; whether any did."""
    return any([_follow(scene, empty) for empty in footprints])


def _follow(scene: bpy.types.Scene, empty: bpy.types.Object) -> bool:
    kept = footprint_of(empty)
    now, shown = place_of(empty), Matrix(kept.shown)
    # Of a file from before nothing tells where its steps are.
    is_known = abs(shown.determinant()) > 0.5 and empty.animation_data is None
    if not is_known or np.allclose(now, shown, atol=_SAME):
        return False
    step = _step_of(scene, empty)
    curves = _curves_of(step.control) if step is not None else None
    if step is None or curves is None:
        return False
    before, place = _before(empty, curves, shown)
    _put(curves, before)
    ways = _ways(step, array_of(now @ place.inverted()))
    if ways is None:
        return False
    times = key_times(step.frames).astype(float)
    for curve, way in zip(curves, ways, strict=True):
        _shift(curve, times, way)
    file_memory.moved_steps[empty.session_uid] = MovedStep(numbers_of(place), before, _taken(curves))
    kept.shown = numbers_of(now)
    curves[0].id_data.update_tag()
    return True


def _step_of(scene: bpy.types.Scene, empty: bpy.types.Object) -> _KeyedStep | None:
    """The step of a footprint in what plays; None: it is not there, or more than its keys places its foot."""
    kept = footprint_of(empty)
    ob = kept.armature
    tip = ob.pose.bones.get(kept.tip) if ob is not None and ob.pose is not None else None
    settings = (kept_settings(ob) or {}) if tip is not None else {}
    if tip is None or tip.name not in settings.get("tips", ()) or tip.analytic_ik_target is None:
        return None
    control = Control(tip.analytic_ik_target, tip.analytic_ik_subtarget, turns=True)
    if keyed_control(tip, control) != control or not_simple(control.ob, control.bone):
        return None
    frames = range(*settings["frames"])
    contacts = keyed_contacts(tip, frames)
    steps = runs(contacts.any(axis=0)) if contacts is not None else []

    def shared(step: tuple[int, int]) -> int:
        return min(frames[step[1]], kept.last) - max(frames[step[0]], kept.first) + 1

    own = max(steps, key=shared, default=None)
    if own is None or shared(own) <= 0:
        return None
    start = max((last for _, last in steps if last < own[0]), default=0)
    end = min((first for first, _ in steps if first > own[1]), default=len(frames) - 1)
    rows = np.arange(start, end + 1)
    length = sum(bone.bone.length for bone in known_bones(tip)) * ob.matrix_world.median_scale
    return _KeyedStep(
        control=control,
        frames=[frames[row] for row in rows],
        own=(own[0] <= rows) & (rows <= own[1]),
        stands=contacts.any(axis=0)[start : end + 1],
        options=Options.known(settings),
        size=length,
        fps=scene.render.fps / scene.render.fps_base,
    )


def _ways(step: _KeyedStep, move: np.ndarray) -> list[np.ndarray] | None:
    """How far each channel of the control of a step goes at each of its frames, (n,) each; None where its keys alone do
    not tell.

    move: (4, 4), of the footprint in the world. With it the foot goes as long as it stands; that fades before and after
    as a blend of planting does.
    """
    control, options, sampler = step.control, step.options, Sampler(step.frames)
    worlds = sampler.worlds(control.ob)
    if control.bone:
        worlds = worlds @ sampler.poses(control.ob, control.bone)
    worlds = np.broadcast_to(worlds, (len(step.frames), 4, 4))
    places, turns = worlds[:, :3, 3], turns_in(worlds)
    moved = applied(move[:3, :3], places) + move[:3, 3] - places
    turned = np.broadcast_to(vectors_of(move[:3, :3]), moved.shape)
    faded = []
    for values, fastest in ((moved, options.added_speed * step.size), (turned, options.added_turn)):
        values = values * step.own[:, None]
        slopes = slopes_inside(values, step.stands, step.fps)

        def count(end: np.ndarray, most: float = fastest) -> int:
            return fade_frames(end, most, step.fps, options)

        faded.append(bridged(values, step.stands, slopes, count))
    mode = control.modes[1]
    path = f"{control.owner.path_from_id()}.{channel_of(mode)[0]}" if control.bone else channel_of(mode)[0]
    near = sampler.channel(control.ob, path, raw_values(control.owner, mode))[0]
    turned_by = np.tile(np.eye(4), (len(turns), 1, 1))
    turned_by[:, :3, :3] = turns_by(faded[1])
    before = channel_rows(control, places, turns, sampler, near)
    after = channel_rows(control, places + faded[0], turns_in(turned_by @ worlds), sampler, near)
    if before is None or after is None:
        return None
    return [*(np.concatenate(after, axis=1) - np.concatenate(before, axis=1)).T]


def _curves_of(control: Control) -> list[bpy.types.FCurve] | None:
    """The F-Curves that place and turn a control, location first; None: one is missing."""
    data, found = control.ob.animation_data, []
    prefix = f"{control.owner.path_from_id()}." if control.bone else ""
    for home in current_fcurve_collections(data) if data and data.action else ():
        for mode in (LOCATION, control.owner.rotation_mode):
            path, count = channel_of(mode)
            found += [home.find(prefix + path, index=index) for index in range(count)]
    return found if found and None not in found else None


_NEAR = 1e-3
"""Frames by which a key may be beside its frame."""
_POINTS = ("co", "handle_left", "handle_right")


def _taken(curves: Sequence[bpy.types.FCurve]) -> list[np.ndarray]:
    """The keys of F-Curves, (3, 2 n) each: points and handles."""
    taken = []
    for curve in curves:
        points = np.empty((3, 2 * len(curve.keyframe_points)), np.float32)
        for name, row in zip(_POINTS, points, strict=True):
            curve.keyframe_points.foreach_get(name, row)
        taken.append(points)
    return taken


def _put(curves: Sequence[bpy.types.FCurve], taken: Sequence[np.ndarray]) -> None:
    """Give F-Curves keys that were taken from them."""
    for curve, points in zip(curves, taken, strict=True):
        for name, row in zip(_POINTS, points, strict=True):
            curve.keyframe_points.foreach_set(name, row)
        curve.update()


def _shift(curve: bpy.types.FCurve, times: np.ndarray, way: np.ndarray) -> None:
    """Move the keys of an F-Curve by a way that is known at some times."""
    (points,) = _taken([curve])
    ways = np.interp(points[:, ::2], times, way).astype(np.float32)
    # What is not planted stays.
    inside = (times[0] - _NEAR <= points[0, ::2]) & (points[0, ::2] <= times[-1] + _NEAR)
    points[:, 1::2] += np.where(inside, ways, 0.0)
    _put([curve], [points])


def _before(
    empty: bpy.types.Object, curves: Sequence[bpy.types.FCurve], shown: Matrix
) -> tuple[list[np.ndarray], Matrix]:
    """The keys from which a step is moved, and where its footprint was then: those from before it was first moved, so
    that many moves are one, and none at all leads back; the present ones, if somebody has changed them since."""
    known, now = file_memory.moved_steps.get(empty.session_uid), _taken(curves)
    if known is None or not all(map(np.array_equal, known.after, now)):
        return now, shown
    return known.before, Matrix(np.reshape(known.place, (4, 4)).T)
