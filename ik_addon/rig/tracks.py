"""Where steady chains shall go: read from an evaluated scene, or sampled over frames; and solved over frames."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

from .. import messages
from ..solvers import ChainError, Outcome, blend
from ..solvers.pairs import conjugate, multiply, rotated, solve_pairs
from .channels import channel_of, raw_of
from .limb import posed_by_channels, rotation_in
from .relation import place_of
from .sampling import Sampler
from .steady import SteadyChain, Wishes, is_even


class UnevenError(ChainError):
    """What carries a chain is scaled unevenly: its FK pose is not the same there as elsewhere."""


class EvaluatedPlaces:
    """Where things are as one depsgraph evaluated them; `moved` objects where their channels have just put them."""

    def __init__(self, depsgraph: bpy.types.Depsgraph, moved: Collection[bpy.types.Object] = ()) -> None:
        self.depsgraph = depsgraph
        self._moved = moved
        self._carried: dict[tuple[str, str], tuple[Matrix, Matrix]] = {}

    def shows(self, ob: bpy.types.Object) -> bool:
        """Whether an object is evaluated here at all; in another view layer it may be excluded."""
        return ob.evaluated_get(self.depsgraph).is_evaluated

    def wishes(self, ob: bpy.types.Object, chain: SteadyChain) -> Wishes:
        """What a chain of an original armature object wishes. Raises UnevenError where it is not steady just now."""
        carried = self._carried.get((chain.armature, chain.parent))
        if carried is None:
            carried = self._carried[chain.armature, chain.parent] = self._carry(ob, chain.parent)
        tip = ob.pose.bones[chain.tip]
        target = self._place(ob, carried, tip.analytic_ik_target, chain.target_bone)
        pole = None
        if chain.goal.pole is not None:
            pole = self._place(ob, carried, tip.analytic_ik_pole_target, chain.pole_bone).to_translation()
        return Wishes(target.to_translation(), pole, rotation_in(target) if chain.held else None)

    def confirm(self, ob: bpy.types.Object, chain: SteadyChain, wishes: Wishes) -> bool:
        """Whether a chain of an original armature object wishes here what it was taken to wish, but for rounding."""
        try:
            return same_wishes(wishes, self.wishes(ob, chain), chain.chain.length)
        except ChainError:
            return False

    def _carry(self, ob: bpy.types.Object, parent: str) -> tuple[Matrix, Matrix]:
        """From armature space, and from the world, into the space of a bone."""
        evaluated = ob.evaluated_get(self.depsgraph)
        if not evaluated.is_evaluated:
            raise ChainError(messages.ARMATURE_NOT_HERE(armature=ob.name))
        to_world, pose = self._world_and_pose(ob, parent)
        if not to_world.determinant():
            raise UnevenError(messages.ARMATURE_WITHOUT_SIZE(armature=ob.name))
        if pose is None:
            return Matrix(), to_world.inverted_safe()
        if not is_even(pose):
            raise UnevenError(messages.PARENT_UNEVEN(bone=parent))
        return pose.inverted_safe(), (to_world @ pose).inverted_safe()

    def _place(self, ob: bpy.types.Object, carried: tuple[Matrix, ...], control: bpy.types.Object, bone: str) -> Matrix:
        world, pose = self._world_and_pose(control, bone)
        if pose is None:
            return carried[1] @ world
        return carried[0] @ pose if control == ob else carried[1] @ world @ pose

    def _world_and_pose(self, ob: bpy.types.Object, bone: str) -> tuple[Matrix, Matrix | None]:
        """World matrix of an object, and the pose matrix of a bone of it; None without a bone."""
        if ob not in self._moved:
            return place_of(ob, bone, self.depsgraph)
        world = ob.matrix_basis
        if ob.parent is not None:
            to_parent = ob.parent.evaluated_get(self.depsgraph).matrix_world
            world = to_parent @ ob.matrix_parent_inverse @ world
        return world, posed_by_channels(ob.pose.bones[bone]) if bone else None


_SAME_PLACE = 1e-5
"""Distance, in parts of a chain's reach to it, from where a point was sampled to where Blender has it, for rounding."""


def same_wishes(sampled: Wishes, evaluated: Wishes, length: float) -> bool:
    """Whether two wishes of a chain of some length are the same, but for rounding."""
    for a, b in ((sampled.target, evaluated.target), (sampled.pole, evaluated.pole)):
        if a is not None and b is not None and not (a - b).length <= _SAME_PLACE * (length + b.length):
            return False
    a, b = sampled.orientation, evaluated.orientation
    return a is None or b is None or min((a - b).magnitude, (a + b).magnitude) <= _SAME_PLACE


@dataclass(frozen=True, slots=True)
class Track:
    """What a steady chain wishes over n frames, in the space of its root's parent.

    count: n. targets, poles: (n, 3); orientations: (n, 4) unit quaternions; None where it has none. to_world:
    (n, 3, 3), how distances there are in the world. What does not move may have one row for all frames.
    """

    count: int

    targets: np.ndarray
    poles: np.ndarray | None
    orientations: np.ndarray | None
    to_world: np.ndarray

    def at(self, k: int) -> Wishes:
        """The wishes at one of the frames."""
        target, pole, orientation = (
            rows if rows is None else rows[k if len(rows) > 1 else 0]
            for rows in (self.targets, self.poles, self.orientations)
        )
        return Wishes(
            Vector(target),
            None if pole is None else Vector(pole),
            None if orientation is None else Quaternion(orientation),
        )


class SeenPlaces:
    """Where what chains read was at each frame that was evaluated; to be asked like a Sampler, once all were seen.

    chains: each with its original armature object.
    """

    def __init__(self, chains: Iterable[tuple[bpy.types.Object, SteadyChain]]) -> None:
        self._worlds: dict[bpy.types.Object, list[Matrix]] = {}
        self._poses: dict[tuple[bpy.types.Object, str], list[Matrix]] = {}
        for ob, chain in chains:
            tip = ob.pose.bones[chain.tip]
            controls = [(tip.analytic_ik_target, chain.target_bone), (tip.analytic_ik_pole_target, chain.pole_bone)]
            for each, bone in ((ob, chain.parent), *controls):
                if each is not None:
                    self._worlds.setdefault(each, [])
                    if bone:
                        self._poses.setdefault((each, bone), [])

    def see(self, depsgraph: bpy.types.Depsgraph) -> None:
        """Note where everything is now."""
        for ob, places in self._worlds.items():
            places.append(place_of(ob, "", depsgraph)[0].copy())
        for (ob, bone), places in self._poses.items():
            pose = place_of(ob, bone, depsgraph)[1]
            assert pose is not None
            places.append(pose.copy())

    def worlds(self, ob: bpy.types.Object) -> np.ndarray:
        """The world matrices of an object, (n, 4, 4)."""
        return np.array(self._worlds[ob])

    def poses(self, ob: bpy.types.Object, bone_name: str) -> np.ndarray:
        """The pose matrices of a bone, in armature space, (n, 4, 4)."""
        return np.array(self._poses[ob, bone_name])


class TrackReader:
    """Makes tracks over `count` frames from where things are at these.

    source: sampled (only for what `not_simple` has nothing against), or seen.
    """

    def __init__(self, source: Sampler | SeenPlaces, count: int) -> None:
        self._source = source
        self._count = count
        self._carried: dict[tuple[str, str], tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

    def tracks(self, chains: Iterable[tuple[bpy.types.Object, SteadyChain]]) -> list[Track | ChainError]:
        """The track of each chain of an original armature object, or why it has none."""
        found = []
        for ob, chain in chains:
            try:
                found.append(self._track(ob, chain))
            except ChainError as error:
                found.append(error)
        return found

    def _track(self, ob: bpy.types.Object, chain: SteadyChain) -> Track:
        key = chain.armature, chain.parent
        if key not in self._carried:
            self._carried[key] = self._carry(ob, chain.parent)
        carried = self._carried[key]
        tip = ob.pose.bones[chain.tip]
        to_parent, target = self._place(ob, carried, tip.analytic_ik_target, chain.target_bone)
        poles = orientations = None
        if chain.goal.pole is not None:
            poles = _points(*self._place(ob, carried, tip.analytic_ik_pole_target, chain.pole_bone))
        if chain.held is not None:
            turned = [rotation_in(Matrix(place)) for place in to_parent @ target]
            orientations = np.array(turned)
        return Track(self._count, _points(to_parent, target), poles, orientations, carried[2][:, :3, :3])

    def _carry(self, ob: bpy.types.Object, parent: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As in EvaluatedPlaces, for each frame."""
        to_world, pose = self._source.worlds(ob), np.eye(4)[None]
        if not np.linalg.det(to_world).all():
            raise UnevenError(messages.ARMATURE_WITHOUT_SIZE(armature=ob.name))
        if parent:
            pose = self._source.poses(ob, parent)
            if not all(is_even(Matrix(each)) for each in pose):
                raise UnevenError(messages.PARENT_UNEVEN(bone=parent))
            to_world = to_world @ pose
        return np.linalg.inv(pose), np.linalg.inv(to_world), to_world

    def _place(
        self, ob: bpy.types.Object, carried: tuple[np.ndarray, ...], control: bpy.types.Object, bone: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """Where a control is, and from there into the space of the root's parent."""
        if not bone:
            return carried[1], self._source.worlds(control)
        pose = self._source.poses(control, bone)
        return (carried[0], pose) if control == ob else (carried[1], self._source.worlds(control) @ pose)


def _points(to_parent: np.ndarray, places: np.ndarray) -> np.ndarray:
    return (to_parent @ places[:, :, 3:])[:, :3, 0]


@dataclass(frozen=True, slots=True)
class SolvedTrack:
    """A chain over n frames. rotations: (n, bones, 4), local unit quaternions. outcomes: n numbers of `OUTCOMES`."""

    rotations: np.ndarray
    outcomes: np.ndarray

    def without_influence(self, chain: SteadyChain) -> np.ndarray:
        """Where the bones have their FK pose itself, and not what its quaternions round to: (n, bones)."""
        left = (self.outcomes != 0) if chain.holds else np.zeros(len(self.outcomes), bool)
        return np.repeat((left | (chain.influence == 0.0))[:, None], self.rotations.shape[1], axis=1)


OUTCOMES = {0: Outcome.REACHED, 1: Outcome.TOO_FAR, -1: Outcome.TOO_NEAR, 2: Outcome.LIMITED}
"""Outcomes by the numbers that arrays hold for them."""
_NUMBERS = {outcome: number for number, outcome in OUTCOMES.items()}


def solve_tracks(chains: Sequence[SteadyChain], tracks: Sequence[Track]) -> list[SolvedTrack]:
    """Solve each chain over its track. Raises ChainError for what is no point.

    Pairs are solved all at once, other chains one frame after the other.
    """
    pairs = [k for k, chain in enumerate(chains) if chain.is_pair]
    solved = {}
    if pairs:
        solved = dict(zip(pairs, _solve_pairs([chains[k] for k in pairs], [tracks[k] for k in pairs]), strict=True))
    return [solved[k] if k in solved else _solve_each(chain, tracks[k]) for k, chain in enumerate(chains)]


def _solve_each(chain: SteadyChain, track: Track) -> SolvedTrack:
    frames = [chain.solve(track.at(k)) for k in range(track.count)]
    outcomes = [_NUMBERS[outcome] for _, outcome in frames]
    return SolvedTrack(np.array([rotations for rotations, _ in frames]), np.array(outcomes))


def _solve_pairs(chains: Sequence[SteadyChain], tracks: Sequence[Track]) -> list[SolvedTrack]:
    roots = np.array([chain.root for chain in chains])[:, None]
    targets, poles = np.empty((2, len(tracks), tracks[0].count, 3))
    for own_targets, own_poles, track in zip(targets, poles, tracks, strict=True):
        own_targets[:] = track.targets
        own_poles[:] = track.targets if track.poles is None else track.poles
    targets -= roots
    poles -= roots
    pairs = solve_pairs([chain.chain for chain in chains], [chain.goal for chain in chains], targets, poles)
    before, after = (
        np.array([side[:2] for side in sides])[:, None]
        for sides in ([chain.before for chain in chains], [chain.after for chain in chains])
    )
    first, second = pairs.turns[:, :, 0], pairs.turns[:, :, 1]
    turns = np.stack((first, multiply(conjugate(first), second)), axis=2)
    rotations = multiply(multiply(before, turns), after)
    return [
        _completed(chain, track, *each)
        for chain, track, *each in zip(chains, tracks, rotations, second, pairs.outcomes, strict=True)
    ]


def _completed(
    chain: SteadyChain, track: Track, rotations: np.ndarray, tip_turns: np.ndarray, outcomes: np.ndarray
) -> SolvedTrack:
    """With the bone on the chain's end, and with its influence."""
    if chain.held is not None:
        foot = np.array(chain.held @ chain.after[-1].conjugated())
        turns = multiply(conjugate(tip_turns), multiply(track.orientations, foot))
        own = multiply(multiply(np.array(chain.before[-1]), turns), np.array(chain.after[-1]))
        rotations = np.concatenate((rotations, own[:, None]), axis=1)
    if chain.influence != 1.0 or (chain.holds and outcomes.any()):
        influences = (
            np.where(outcomes, 0.0, chain.influence) if chain.holds else np.full(len(outcomes), chain.influence)
        )
        rotations = np.array(
            [
                [blend(fk, Quaternion(own), influence) for fk, own in zip(chain.fk_rotations, each, strict=True)]
                for each, influence in zip(rotations, influences, strict=True)
            ]
        )
    return SolvedTrack(rotations, outcomes)


def raw_rows(rotations: np.ndarray, modes: Sequence[str], fk: np.ndarray) -> np.ndarray:
    """Local rotations (n, bones, 4) as numbers of the bones' modes, (n, bones, 4), zeros behind, each next to `fk`."""
    values = np.where((rotations * fk).sum(axis=2, keepdims=True) < 0.0, -rotations, rotations)
    for k, mode in enumerate(modes):
        if mode != "QUATERNION":
            width = channel_of(mode)[1]
            raws = [raw_of(Quaternion(rotation), mode, fk[k][:width]) for rotation in rotations[:, k]]
            values[:, k] = 0.0
            values[:, k, :width] = raws
    return values


def track_joints(chains: Sequence[SteadyChain], rotations: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Each chain's joints (n, bones + 1, 3) in the space of its root's parent, by forward kinematics.

    rotations: of each chain, (n, bones, 4), local; what its end bone turns is not looked at.
    """
    found: dict[int, np.ndarray] = {}
    by_length: dict[int, list[int]] = {}
    for k, chain in enumerate(chains):
        by_length.setdefault(len(chain.chain.lengths), []).append(k)
    for count, same in by_length.items():
        own = [chains[k] for k in same]
        before, after = (
            conjugate(np.array([side[:count] for side in sides]))[:, :, None]
            for sides in ([chain.before for chain in own], [chain.after for chain in own])
        )
        links = np.array([np.diff([(0.0, 0.0, 0.0), *chain.chain.joints[1:]], axis=0) for chain in own])[:, :, None]
        local = np.array([rotations[k][:, :count] for k in same]).swapaxes(1, 2)
        joints = np.empty((len(own), local.shape[2], count + 1, 3))
        joints[:, :, 0] = np.array([chain.root for chain in own])[:, None]
        turned = None
        for k in range(count):
            against_before = multiply(multiply(before[:, k], local[:, k]), after[:, k])
            turned = against_before if turned is None else multiply(turned, against_before)
            # Single precision is not of length one, and adds up.
            turned = turned / np.sqrt((turned * turned).sum(axis=-1, keepdims=True))
            joints[:, :, k + 1] = joints[:, :, k] + rotated(turned, links[:, k])
        found |= zip(same, joints, strict=True)
    return [found[k] for k in range(len(chains))]


def errors_world(tracks: Sequence[Track], joints: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Distances of each chain's tip from its target in world units. joints: see `track_joints`."""
    missed = (each[:, -1] - track.targets for track, each in zip(tracks, joints, strict=True))
    return [
        np.sqrt((((track.to_world @ each[..., None])[..., 0]) ** 2).sum(axis=-1))
        for track, each in zip(tracks, missed, strict=True)
    ]
