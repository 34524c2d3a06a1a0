"""What goes along a path beside what hangs on the body: controls of other limbs, and bones beside the body's."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

import bpy
import numpy as np
from mathutils import Matrix

from ...authoring.fk_frames import keys_of, stepped
from ...authoring.placing import Control, check_control, goes_along
from ...bake.keys import BoneKeys, check_keyable
from ...bake.stepping import Steps
from ...rig.blender.animation import animated_paths, drivers_of
from ...rig.blender.clips import has_keys
from ...rig.blender.dependencies import carriers
from ...rig.blender.rotations import LOCATION, array_of, channel_of, channel_path, pose_matrix, raw_of
from ...rig.data.control_clips import controls_follow
from ...rig.data.settings import target_and_pole
from ...rig.model.limb import chain_bones
from ...rig.model.order import live_tips
from ...rig.pose.reading import SceneReader
from ...solvers import ChainError
from ..feet.spine import Move, Spine
from .reading import BodyRows
from .sources import source_playing

UNTURNED = {"QUATERNION": (1.0, 0.0, 0.0, 0.0), "AXIS_ANGLE": (0.0, 0.0, 1.0, 0.0)}
"""The numbers of no rotation, by the mode, where there are four."""


TRAVELS = 0.5
"""Leg lengths from which on a bone travels."""

Unkeyed = dict[str, list[float]]
"""By the paths of channels what they hold that no key sets."""


@dataclass(frozen=True, slots=True)
class Riders:
    """What goes along a path.

    hips: the bone that carries the body. others: bones and objects beside it that move by keys of their own, topmost
    ones. spines: by the legs that hang on it the bones of each spine, the one at the body first. unkeyed: what places
    all of these and had no keys before it was planted.
    """

    hips: Control
    others: list[Control]
    spines: dict[tuple[int, ...], list[Control]]
    unkeyed: Unkeyed

    @property
    def moving(self) -> list[Control]:
        """All that is read: the others, then the bones of each spine."""
        return [*self.others, *chain.from_iterable(self.spines.values())]

    @contextmanager
    def sources_playing(self) -> Iterator[None]:
        """The sources of the planted action, and of what controls play, play instead of them."""
        ob = self.hips.ob
        with ExitStack() as stack:
            stack.callback(controls_follow, ob)
            stack.enter_context(source_playing(ob))
            controls_follow(ob)
            for other in {each.ob for each in self.others} - {ob}:
                stack.enter_context(source_playing(other))
            for control in (self.hips, *self.moving):
                for mode in control.channels:
                    values = self.unkeyed.get(f"{control.ob.name}/{_path(control, mode)}")
                    if values is not None:
                        setattr(control.owner, channel_of(mode)[0], values)
            yield

    def read(self, context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone], frames: range) -> Steps[list]:
        """In steps: of each that is moving three matrices, (3, T, 4, 4): of a bone as in `BodyRows`; of an object what
        its own channels make, that once more, and its world matrix."""
        moving, rows = self.moving, [[] for _ in self.moving]
        with closing(stepped(context, tips, frames if moving else ())) as scenes:
            for step, scene in scenes:
                for own, control in zip(rows, moving, strict=True):
                    own.append([array_of(each) for each in _matrices(control, scene)])
                yield step
        return [np.array(own).swapaxes(0, 1) for own in rows]

    def spines_read(self, rows: Sequence[np.ndarray], away: np.ndarray) -> list[Spine]:
        """Its spines as they were captured, seen from what moves `away` (T, 3). rows: as read."""
        rest, found = iter(rows[len(self.others) :]), []
        for legs, bones in self.spines.items():
            matrices = (next(rest) for _ in bones)
            heads = [(world @ pose)[:, :3, 3] - away for world, _, pose in matrices]
            found.append(Spine(legs, np.array(heads)))
        return found

    def keys(
        self,
        body: BodyRows,
        rows: Sequence[np.ndarray],
        move: Move,
        spines: Sequence[Sequence[Move]],
        extra: np.ndarray,
        frames: range,
    ) -> dict[bpy.types.Object, list[BoneKeys]]:
        """The keys with which all of it moves in the world; the body by `extra` (T, 3) more. rows: as read. spines: how
        each bone of each spine moves; empty: as the body does."""
        own, lower, rest = _matrices_by(*move), _matrices_by(move[0], move[1] + extra), iter(rows)
        hips = body.worlds, body.above, body.poses
        found = {self.hips.ob: _keys_along(self.hips, hips, lower, np.eye(4), frames)}
        for control in self.others:
            found.setdefault(control.ob, []).extend(_keys_along(control, next(rest), own, np.eye(4), frames))
        for bones, moves in zip_longest(self.spines.values(), spines, fillvalue=()):
            above = lower
            for bone, (turns, shifts) in zip_longest(bones, moves, fillvalue=move):
                here = _matrices_by(turns, shifts + extra)
                # Where it is turns with what is above.
                found[bone.ob] += _keys_along(bone, next(rest), here, above, frames)[1:]
                above = here
        return found


def _matrices_by(turns: np.ndarray, shifts: np.ndarray) -> np.ndarray:
    """Turns (T, 3, 3) and shifts (T, 3) as matrices (T, 4, 4)."""
    moves = np.tile(np.eye(4), (len(turns), 1, 1))
    moves[:, :3, :3], moves[:, :3, 3] = turns, shifts
    return moves


def staying(carrier: bpy.types.PoseBone, body: BodyRows, size: float) -> str:
    """The name of the bone above the one that carries the body, which keeps its own way, if it travels; "": none.

    size: of the legs.
    """
    travels = np.ptp((body.worlds @ body.above)[:, :3, 3], axis=0).max() > TRAVELS * size
    return carrier.parent.name if carrier.parent and travels else ""


def riders_of(
    carrier: bpy.types.PoseBone, tips: Sequence[bpy.types.PoseBone], placed: Sequence[Control], known: Unkeyed
) -> Riders:
    """What goes along with a body.

    carrier: the bone that carries it. tips: of its legs. placed: controls that are put where they belong; these do not
    ride, nor does what carries them. known: what had no keys when the action was planted first.
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
    hips, others = Control(ob, carrier.name, turns=True), [each for each in dict.fromkeys(found) if rides(each)]
    riders, unkeyed = Riders(hips, others, _spines_of(carrier, tips), {}), {}
    for control in (hips, *riders.moving):
        animated = set(animated_paths(control.ob))
        for mode, values in control.channels.items():
            if _path(control, mode) not in animated:
                unkeyed[f"{control.ob.name}/{_path(control, mode)}"] = list(values)
    return replace(riders, unkeyed=unkeyed | known)


def _spines_of(carrier: bpy.types.PoseBone, tips: Sequence[bpy.types.PoseBone]) -> dict[tuple[int, ...], list[Control]]:
    """By the legs of each girdle the bones between it and the bone that carries the body, where these can turn.

    They carry several legs, and not all. None if one carries two girdles.
    """
    lines = []
    for tip in tips:
        above = chain_bones(tip)[0].parent_recursive
        lines.append(above[: above.index(carrier)][::-1])
    counts = Counter(bone.name for line in lines for bone in line)
    driven = {driver.data_path for driver in drivers_of(carrier.id_data)}
    spines: dict[tuple[str, ...], list[int]] = {}
    for leg, line in enumerate(lines):
        names = (
            bone.name
            for bone in line
            if 1 < counts[bone.name] < len(tips)
            and bone.bone.use_inherit_rotation
            and not bone.constraints
            and channel_path(bone.name, bone.rotation_mode) not in driven
        )
        spines.setdefault(tuple(names), []).append(leg)
    spines.pop((), None)
    bones = list(chain.from_iterable(spines))
    if len(set(bones)) < len(bones):
        return {}
    return {
        tuple(legs): [Control(carrier.id_data, name, turns=True) for name in names] for names, legs in spines.items()
    }


def _path(control: Control, mode: str) -> str:
    return channel_path(control.bone, mode) if control.bone else channel_of(mode)[0]


def rides(control: Control) -> bool:
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
    control: Control,
    rows: np.ndarray | tuple[np.ndarray, ...],
    moves: np.ndarray,
    above_moves: np.ndarray,
    frames: range,
) -> list[BoneKeys]:
    """The keys with which one of it goes. rows: its three matrices. moves: of it in the world, (T, 4, 4), and
    above_moves of the bone above."""
    owner, (first, second, third) = control.owner, rows
    if control.bone:
        to_world, back = first, np.linalg.inv(first)
        poses = zip(
            map(Matrix, back @ moves @ to_world @ third),
            map(Matrix, back @ above_moves @ to_world @ second),
            strict=True,
        )
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
