"""A footprint that is moved takes its foot along at once: the keys of that step go with it as with a correction.

The rest of the plan stays: the body and the knees follow when the feet are planted again.
"""

from collections.abc import Iterable
from dataclasses import replace

import bpy
import numpy as np
from mathutils import Matrix

from ...authoring.placing import Control
from ...rig.blender.file_memory import MovedStep, file_memory
from ...rig.blender.rotations import array_of
from ...rig.blender.sampling import not_simple, time_is_plain
from ...rig.data.records import footprint_of
from .control_tracks import KeyedControls, keyed_controls
from .correcting import keep_below, keys_below, move_step
from .footprints import is_corrected, is_current, numbers_of, place_of, shared_by
from .kept_keys import keys_now, put_keys
from .sources import kept_settings

_SAME = 1e-6
"""By how much the elements of a footprint's matrix differ that has not moved."""


def follow_footprints(scene: bpy.types.Scene, footprints: Iterable[bpy.types.Object]) -> bool:
    """Let the steps of footprints go where these are now, if they have moved in a scene; whether any did."""
    return any([_follow(scene, empty) for empty in footprints])


def _follow(scene: bpy.types.Scene, empty: bpy.types.Object) -> bool:
    kept = footprint_of(empty)
    ob, now, shown = kept.armature, place_of(empty), Matrix(kept.shown)
    # Of a file from before nothing tells where its steps are.
    is_known = abs(shown.determinant()) > 0.5 and empty.animation_data is None
    if not is_known or np.allclose(now, shown, atol=_SAME):
        return False
    step = _step_of(scene, empty)
    before = step and _before(empty, ob, step[1], shown)
    if step is None or not before.keys:
        return False
    controls, control, frames, frame = step
    place, after = Matrix(np.reshape(before.place, (4, 4)).T), []
    # What is below corrections goes along; what plays comes last.
    for keys in (before.below, before.keys):
        put_keys(control.ob, keys)
        if keys and not np.allclose(now, place, atol=_SAME):
            move_step(bpy.context, controls, frames, control, frame, array_of(now @ place.inverted()))
        after.append(keys_now([control])[control.ob])
    if before.below:
        keep_below(ob, control, after[0])
    file_memory.moved_steps[empty.session_uid] = replace(before, after=after[1])
    if is_corrected(kept):
        kept.planned = numbers_of(Matrix(kept.planned) @ shown.inverted() @ now)
    kept.shown = numbers_of(now)
    return True


def _step_of(scene: bpy.types.Scene, empty: bpy.types.Object) -> tuple[KeyedControls, Control, range, int] | None:
    """The control of a footprint's foot, among those of its armature; the frames of the clip that plays, and the first
    one of the step in it. None: it is not there, or more than its keys places its foot."""
    kept = footprint_of(empty)
    ob = kept.armature
    tip = ob.pose.bones.get(kept.tip) if ob is not None and ob.pose is not None else None
    settings = (kept_settings(ob) or {}) if tip is not None else {}
    if tip is None or not is_current(kept) or tip.name not in settings.get("tips", ()):
        return None
    controls = keyed_controls(ob)
    control = next((limb.foot for limb in controls.limbs if limb.tip == tip), None)
    if control is None or (control.ob, control.bone) != (tip.analytic_ik_target, tip.analytic_ik_subtarget):
        return None
    if not time_is_plain(scene) or not_simple(control.ob, control.bone):
        return None
    frames = range(*settings["frames"])
    own = max(controls.stances_of(control, frames), key=lambda step: shared_by(kept, *step), default=None)
    return (controls, control, frames, own[0]) if own is not None and shared_by(kept, *own) > 0 else None


def _before(empty: bpy.types.Object, ob: bpy.types.Object, control: Control, shown: Matrix) -> MovedStep:
    """From what a step is moved: from how it was before it was first moved, so that many moves are one, and none at all
    leads back; from how it is, if somebody has changed its keys since."""
    known, now = file_memory.moved_steps.get(empty.session_uid), keys_now([control])[control.ob]
    if known is None or known.after != now:
        return MovedStep(numbers_of(shown), now, now, keys_below(ob, control))
    return known
