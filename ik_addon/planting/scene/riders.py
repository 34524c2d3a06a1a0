"""What goes along a path beside what hangs on the body: controls of other limbs, and bones beside the body's."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix

from ...authoring.fk_frames import keys_of, stepped
from ...authoring.placing import Control, check_control, goes_along
from ...bake.keys import BoneKeys, check_keyable
from ...bake.stepping import Steps
from ...rig.blender.animation import animated_paths
from ...rig.blender.clips import has_keys
from ...rig.blender.dependencies import carriers
from ...rig.blender.rotations import LOCATION, array_of, channel_of, channel_path, pose_matrix, raw_of
from ...rig.data.control_clips import controls_follow
from ...rig.data.settings import target_and_pole
from ...rig.model.order import live_tips
from ...rig.pose.reading import SceneReader
from ...solvers import ChainError
from .reading import BodyRows
from .sources import source_playing

UNTURNED = {"QUATERNION": (1.0, 0.0, 0.0, 0.0), "AXIS_ANGLE": (0.0, 0.0, 1.0, 0.0)}
"""The numbers of no rotation, by the mode, where there are four."""


Unkeyed = dict[str, list[float]]
"""By the paths of channels what they hold that no key sets."""


@dataclass(frozen=True, slots=True)
class Riders:
    """What goes along a path.

    hips: the bone that carries the body. others: bones and objects beside it that move by keys of their own, topmost
    ones. unkeyed: what places all of these and had no keys before it was planted.
    """

    hips: Control
    others: list[Control]
    unkeyed: Unkeyed

    @contextmanager
    def sources_playing(self) -> Iterator[None]:
        """The sources of the planted action, and of what controls play, play instead of them."""
        ob, own = self.hips.ob, [self.hips, *self.others]
        with ExitStack() as stack:
            stack.callback(controls_follow, ob)
            stack.enter_context(source_playing(ob))
            controls_follow(ob)
            for other in {each.ob for each in self.others} - {ob}:
                stack.enter_context(source_playing(other))
            for control in own:
                for mode in control.channels:
                    values = self.unkeyed.get(f"{control.ob.name}/{_path(control, mode)}")
                    if values is not None:
                        setattr(control.owner, channel_of(mode)[0], values)
            yield

    def read(self, context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone], frames: range) -> Steps[list]:
        """In steps: of each of the others three matrices, (3, T, 4, 4): of a bone as in `BodyRows`; of an object what
        its own channels make, that once more, and its world matrix."""
        rows: list[list[list[np.ndarray]]] = [[] for _ in self.others]
        with closing(stepped(context, tips, frames if self.others else ())) as scenes:
            for step, scene in scenes:
                for own, control in zip(rows, self.others, strict=True):
                    own.append([array_of(each) for each in _matrices(control, scene)])
                yield step
        return [np.array(own).swapaxes(0, 1) for own in rows]

    def keys(
        self,
        body: BodyRows,
        rows: Sequence[np.ndarray],
        turns: np.ndarray,
        shifts: np.ndarray,
        extra: np.ndarray,
        frames: range,
    ) -> dict[bpy.types.Object, list[BoneKeys]]:
        """The keys with which all of it is turned (T, 3, 3) and moved (T, 3) in the world; the body by `extra` more."""
        found = {
            self.hips.ob: _keys_along(self.hips, (body.worlds, body.above, body.poses), turns, shifts + extra, frames)
        }
        for control, own in zip(self.others, rows, strict=True):
            found.setdefault(control.ob, []).extend(_keys_along(control, own, turns, shifts, frames))
        return found


def riders_of(carrier: bpy.types.PoseBone, placed: Sequence[Control], known: Unkeyed) -> Riders:
    """What goes along with a body.

    carrier: the bone that carries it. placed: controls that are put where they belong; these do not ride, nor does
    what carries them. known: what had no keys when the action was planted first.
    """
    ob, above = carrier.id_data, {bone.name for bone in carrier.parent_recursive}
    holding = {bone.name for each in placed for own, bone in carriers(each.ob, each.bone) if own == ob}
    unmoved = above | holding - {each.bone for each in placed if each.ob == ob}
    found = [
        Control(ob, bone.name, turns=True)
        for bone in ob.pose.bones
        if bone != carrier and bone.name not in above | holding and (not bone.parent or bone.parent.name in unmoved)
    ]
    moving = {carrier.name, *(each.bone for each in (*found, *placed) if each.ob == ob)}
    for tip in map(ob.pose.bones.get, live_tips(ob)):
        for other, bone in target_and_pole(tip):
            hangs = any(own == ob and each.name in moving for own, each in carriers(other, bone))
            if other != ob and not hangs and not any(each.ob == other for each in placed):
                found.append(Control(other, bone, turns=True))
    hips, others = Control(ob, carrier.name, turns=True), [each for each in dict.fromkeys(found) if _rides(each)]
    unkeyed = {}
    for control in (hips, *others):
        animated = set(animated_paths(control.ob))
        for mode, values in control.channels.items():
            if _path(control, mode) not in animated:
                unkeyed[f"{control.ob.name}/{_path(control, mode)}"] = list(values)
    return Riders(hips, others, unkeyed | known)


def _path(control: Control, mode: str) -> str:
    return channel_path(control.bone, mode) if control.bone else channel_of(mode)[0]


def _rides(control: Control) -> bool:
    """Whether keys move it, and nothing else does."""
    names = [control.bone, *(bone.name for bone in control.owner.children_recursive)] if control.bone else [""]
    if goes_along(control) or not has_keys(control.ob, names):
        return False
    try:
        check_control(control)
        check_keyable(control.ob)
    except ChainError:
        # It follows something else, such as what a hand holds.
        return False
    return True


def _matrices(control: Control, scene: SceneReader) -> tuple[Matrix, Matrix, Matrix]:
    if control.bone:
        reader = scene.armature(control.ob)
        bone = reader.tip(control.bone)
        return reader.world, reader.parent_pose(bone) or Matrix(), reader.pose_of(bone)
    basis = control.ob.evaluated_get(scene.depsgraph).matrix_basis
    return basis, basis, scene.world_of(control.ob)


def _keys_along(
    control: Control, rows: np.ndarray | tuple[np.ndarray, ...], turns: np.ndarray, shifts: np.ndarray, frames: range
) -> list[BoneKeys]:
    """The keys with which one of it goes. rows: its three matrices."""
    moves = np.tile(np.eye(4), (len(turns), 1, 1))
    moves[:, :3, :3], moves[:, :3, 3] = turns, shifts
    owner, (first, second, third) = control.owner, rows
    if control.bone:
        poses = zip(map(Matrix, np.linalg.inv(first) @ moves @ first @ third), map(Matrix, second), strict=True)
        bases = [pose_matrix(owner.bone, pose, above if owner.parent else None, invert=True) for pose, above in poses]
    else:
        bases = [Matrix(each) for each in first @ np.linalg.inv(third) @ moves @ third]
    # Whole turns do not depend on how it is turned now.
    mode = owner.rotation_mode
    near, numbers = UNTURNED.get(mode, (0.0, 0.0, 0.0)), []
    for base in bases:
        numbers.append(near := raw_of(base.to_quaternion(), mode, near))
    places = [tuple(base.translation) for base in bases]
    return [keys_of(control.bone, LOCATION, places, frames), keys_of(control.bone, mode, numbers, frames)]
