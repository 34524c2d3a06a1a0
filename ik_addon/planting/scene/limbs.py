"""What planting and locking need of limbs: ready controls, contacts as keys, and the action that was planted."""

from collections.abc import Collection, Sequence

import bpy
import numpy as np

from ... import messages
from ...authoring.fk_frames import checked_controls
from ...authoring.placing import Control, check_control, keyed_control
from ...authoring.snap import leave_to_poles
from ...bake.keys import check_keyable, check_unshared, key_times, write_choices
from ...rig.blender.animation import current_fcurve_collections
from ...rig.blender.clips import goes_on, motion_of
from ...rig.data.settings import PREFIX, set_to
from ...rig.model.foot import end_bone
from ...rig.model.limb import chain_bones
from ...rig.status.problems import check_changeable
from ...solvers import ChainError

_SETTINGS = {"softness": 0.0, "influence": 1.0}
"""What planting sets: the body does the softening, and nothing is to be left of the FK pose."""
FEWEST = 3
"""Frames without which there is no motion."""


def check_limbs(tips: Sequence[bpy.types.PoseBone], frames: range) -> None:
    """Raise ChainError where limbs of one armature cannot be keyed over frames, or have no knee or elbow."""
    ob = tips[0].id_data
    check_changeable(ob)
    if len(frames) < FEWEST:
        raise ChainError(messages.TOO_FEW_FRAMES())
    check_keyable(ob, "COPY")
    for tip in tips:
        if len(chain_bones(tip)) < 2:
            raise ChainError(messages.NO_KNEE()).of(messages.BONE(bone=tip.name))


def check_frames(obs: Collection[bpy.types.Object], frames: range, on_path: bool) -> None:
    """Raise ChainError if keys that move these objects are in none of these frames, or, on a path, end before the last
    of them: who stands still there walks nowhere."""
    keyed = motion_of(obs)
    if keyed is None or any(map(goes_on, obs)):
        return
    given = {"first": frames[0], "last": frames[-1], "start": keyed[0], "end": keyed[-1]}
    if frames[-1] < keyed[0] or keyed[-1] < frames[0]:
        raise ChainError(messages.FRAMES_WITHOUT_KEYS(**given))
    if on_path and keyed[-1] < frames[-1]:
        raise ChainError(messages.PATH_BEYOND_KEYS(**given))


def controls_ready(
    context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone]
) -> dict[bpy.types.PoseBone, list[Control]]:
    """Target and pole of each of these limbs of one armature, which alone move it. Raises ChainError where they cannot
    be keyed."""
    ob = tips[0].id_data
    for tip in tips:
        leave_to_control(tip)
    controls = checked_controls(tips, range(1))
    leave_to_poles(context, tips, controls)
    for tip, (target, _) in controls.items():
        check_control(keyed_control(tip, target), over_frames=True)
    check_unshared(list(dict.fromkeys([ob, *(control.ob for own in controls.values() for control in own)])))
    return controls


def leave_to_control(tip: bpy.types.PoseBone) -> None:
    """Let a limb's control hold its foot or hand, and nothing else bend it."""
    set_to(tip, _SETTINGS)
    if end_bone(tip) is not None:
        set_to(tip, {"use_rotation": True})


def foot_of(tip: bpy.types.PoseBone) -> bpy.types.PoseBone | None:
    """The foot bone of a leg's chain: that on its end, or one that hangs on something else and carries its target."""
    target = Control(tip.analytic_ik_target, tip.analytic_ik_subtarget) if tip.analytic_ik_target else None
    keyed = keyed_control(tip, target) if target else None
    if keyed is None or keyed == target or keyed.ob != tip.id_data:
        return end_bone(tip)
    return keyed.ob.pose.bones.get(keyed.bone)


_PROPERTY = f"{PREFIX}contact"
_HEEL, _BALL = 1, 2
"""Bits of the numbers of `CONTACT_ITEMS`."""


def keyed_contacts(tip: bpy.types.PoseBone, frames: range) -> np.ndarray | None:
    """Whether heel and ball of a leg stand at each frame, (2, frames), as its keys say; None: it has no such keys."""
    data, path = tip.id_data.animation_data, f"{tip.path_from_id()}.{_PROPERTY}"
    curves = (home.find(path) for home in current_fcurve_collections(data)) if data else ()
    curve = next((curve for curve in curves if curve is not None and len(curve.keyframe_points)), None)
    if curve is None:
        return None
    numbers = np.array([round(curve.evaluate(time)) for time in key_times(frames)])
    return np.array([numbers & _HEEL, numbers & _BALL]) > 0


def key_contacts(tips: Sequence[bpy.types.PoseBone], contacts: np.ndarray, frames: range) -> None:
    """Key what stands of these legs in their armature's current action. contacts: (legs, 2, frames), heel and ball."""
    times = key_times(frames)
    for tip, (heel, ball) in zip(tips, contacts, strict=True):
        numbers, path = _HEEL * heel + _BALL * ball, f"{tip.path_from_id()}.{_PROPERTY}"
        changes = np.diff(numbers, prepend=-1) != 0
        # Between two keys of one value the Dope Sheet draws a bar: a key at the end of each contact too.
        changes = np.flatnonzero(changes | (np.diff(numbers, append=-1) != 0) & (numbers > 0))
        keys = times[changes].tolist(), numbers[changes].tolist()
        write_choices(tip.id_data, path, tip.name, *keys, (float(times[0]), float(times[-1])))
