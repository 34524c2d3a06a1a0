"""What chains read over frames, in the space of each root's parent, from one of two sources: frames that were evaluated
one after the other, or `sampling.Sampler`.

All give arrays whose first axis is the frame, with one row where nothing moves.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import bpy
import numpy as np
from mathutils import Matrix

from ... import messages
from ...solvers import ChainError
from ...solvers.arrays import side_by_side
from ..blender.dependencies import shares_of
from ..blender.rotations import LOCATION, SCALE, SIMILAR, are_even, channel_path, quaternions_of, raw_values, turns_in
from ..blender.sampling import Sampler
from ..data.relation import place_of
from ..data.settings import BODY_RANGES, PREFIX, RANGES, body_settings_of, path_of, sampled_settings, settings_of
from ..model.body import BodyModel
from ..model.limb import Wishes
from ..model.limb_model import FkTrack, LimbModel, controls_of, fk_track
from .reading import UnevenError
from .solving import PlannedChain
from .track_solving import BodyTrack, GoalTrack, Reading, shifts_over


class SeenPlaces:
    """Where what chains read was at each frame that was evaluated, asked like a Sampler once all were seen.

    chains: the models, each with its original armature object. channels: what samples what F-Curves set.
    """

    def __init__(self, chains: Iterable[tuple[bpy.types.Object, LimbModel]], channels: Sampler) -> None:
        self._channels = channels
        self._worlds: dict[bpy.types.Object, list[Matrix]] = {}
        self._poses: dict[tuple[bpy.types.Object, str], list[Matrix]] = {}
        for ob, model in chains:
            bodies = [(ob, model.led.name), (ob, model.led.parent)] if model.led else []
            for each, bone in ((ob, model.parent), *controls_of(ob, model), *bodies):
                self._worlds.setdefault(each, [])
                if bone:
                    self._poses.setdefault((each, bone), [])

    def see(self, depsgraph: bpy.types.Depsgraph) -> None:
        for ob, places in self._worlds.items():
            places.append(place_of(ob, "", depsgraph)[0].copy())
        for (ob, bone), places in self._poses.items():
            pose = place_of(ob, bone, depsgraph)[1]
            assert pose is not None
            places.append(pose.copy())

    def worlds(self, ob: bpy.types.Object) -> np.ndarray:
        return np.array(self._worlds[ob])

    def poses(self, ob: bpy.types.Object, bone_name: str) -> np.ndarray:
        return np.array(self._poses[ob, bone_name])

    def channel(self, ob: bpy.types.Object, path: str, still: Sequence[float]) -> np.ndarray:
        return self._channels.channel(ob, path, still)


_SAME_PLACE = 1e-5
"""Distance, in parts of a chain's reach to it, from where a point was sampled to where Blender has it, for rounding."""

_Carried = tuple[np.ndarray, np.ndarray, np.ndarray]
"""From armature space, and from the world, into the space of a bone; from there to the world: (n, 4, 4) each."""


class TrackReader:
    """Reads chains over `count` frames from a source.

    Bones that follow their limbs are where they go for these, wherever the source has them: their limbs are to be read
    together.
    """

    def __init__(self, source: Sampler | SeenPlaces, count: int) -> None:
        self._source = source
        self._count = count
        self._carried: dict[tuple[str, str], _Carried] = {}
        self._bodies: dict[tuple[str, str], BodyTrack | ChainError] = {}
        self._lifts: dict[str, list[tuple[BodyModel, np.ndarray]]] = {}

    def readings(self, chains: Iterable[tuple[bpy.types.Object, PlannedChain]]) -> list[Reading | ChainError]:
        """The reading of each chain of an original armature object, or why there is none."""
        chains = [*chains]
        for ob, chain in chains:
            led = chain.model.led
            if led:
                limbs = [other for own, other in chains if own == ob and other.model.tip in led.limbs]
                self._bodies[chain.model.armature, led.name] = self._followed(ob, led, limbs)
        return [self._read(ob, chain) for ob, chain in chains]

    def _read(self, ob: bpy.types.Object, chain: PlannedChain) -> Reading | ChainError:
        model = chain.model
        body = self._bodies.get((model.armature, model.body.name)) if model.body else None
        if isinstance(body, ChainError):
            return body
        try:
            fk = read_fk(ob, model, partial(self._numbers, ob, model)) if model.keyed_bones else chain.fk
            return Reading(model, fk, self._goal(ob, model), self._count, body if model.led else None)
        except ChainError as error:
            return error

    def sent_now(self, ob: bpy.types.Object, model: LimbModel, fk: FkTrack) -> Reading:
        """The reading of a chain of which the FK pose is known, and that moves with no bone that follows it."""
        return Reading(model, fk, self._goal(ob, model), self._count)

    def _numbers(self, ob: bpy.types.Object, model: LimbModel, name: str, mode: str) -> Sequence[float] | np.ndarray:
        still = raw_values(ob.pose.bones[name], mode)
        return self._source.channel(ob, channel_path(name, mode), still) if name in model.keyed_bones else still

    def _followed(self, ob: bpy.types.Object, body: BodyModel, limbs: Sequence[PlannedChain]) -> BodyTrack | ChainError:
        """Find where a bone goes that follows its limbs, and from now on what it carries there."""
        bone, poses, lifts = ob.pose.bones[body.name], self._source.poses, self._lifts.setdefault(ob.name_full, [])
        fk = self._own(ob, bone, "location", bone.location[:], body.keyed)
        basis = (poses(ob, body.parent) if body.parent else np.eye(4)[None]) @ body.rest
        turn = basis[:, :3, :3]
        to_fk = basis[:, :3, 3] + (turn @ fk[..., None])[..., 0] - poses(ob, body.name)[:, :3, 3]
        lifts.append((body, to_fk))
        readings = [self._read(ob, limb) for limb in limbs]
        sound = [each for each in readings if isinstance(each, Reading)]
        if len(sound) < len(body.limbs):
            refused = (each for each in readings if isinstance(each, ChainError))
            return next(refused, ChainError(messages.MOVES_WITH_BODY(bone=body.name)))
        for limb in sound:
            if not np.isfinite(limb.goal.targets).all():
                control = ob.pose.bones[limb.model.tip].analytic_ik_target
                return ChainError(messages.CONTROL_NO_NUMBER(role="target", control=control.name))
        now = body_settings_of(bone)
        settings = {
            name: self._own(ob, bone, PREFIX + name, [value], name in body.keyed_settings)[:, 0].clip(
                *BODY_RANGES[name]
            )
            for name, value in (("body_influence", now.influence), ("body_softness", now.softness))
        }
        parents = [self._pose(ob, limb.model.parent) for limb in limbs]
        shifts = shifts_over(body, sound, parents, self._source.worlds(ob), settings)
        moves = (np.linalg.inv(turn) @ shifts[..., None])[..., 0] if shifts.any() else np.zeros((1, 3))
        locations = np.where(moves.any(axis=1)[:, None], (fk + moves).astype(np.float32), fk)
        lifts[-1] = body, to_fk + (turn @ (locations - fk)[..., None])[..., 0]
        self._carried.clear()
        return BodyTrack(fk, locations)

    def _own(
        self, ob: bpy.types.Object, bone: bpy.types.PoseBone, name: str, still: Sequence[float], keyed: bool
    ) -> np.ndarray:
        path = f"{bone.path_from_id()}.{name}"
        return self._source.channel(ob, path, still) if keyed else np.array([still], float)

    def _pose(self, ob: bpy.types.Object, bone: str) -> np.ndarray:
        """The pose matrices (n, 4, 4) of a bone, below the bones that follow their limbs."""
        pose = self._source.poses(ob, bone)
        for body, lift in self._lifts.get(ob.name_full, ()):
            share = _share_of(ob, bone, body)
            if share:
                pose = np.broadcast_to(pose, (max(len(pose), len(lift)), 4, 4)).copy()
                pose[:, :3, 3] += share * lift
        return pose

    def _goal(self, ob: bpy.types.Object, model: LimbModel) -> GoalTrack:
        key = model.armature, model.parent
        if key not in self._carried:
            self._carried[key] = self._carry(ob, model.parent)
        carried = self._carried[key]
        target, *poles = [self._place(ob, carried, *each) for each in controls_of(ob, model)]
        return GoalTrack(
            targets=target[:, :3, 3],
            poles=poles[0][:, :3, 3] if poles else None,
            orientations=turns_in(target) if model.foot else None,
            to_world=carried[2],
            settings=self._settings(ob, model),
        )

    def _settings(self, ob: bpy.types.Object, model: LimbModel) -> dict[str, np.ndarray]:
        tip, found = ob.pose.bones[model.tip], {}
        for name, value in sampled_settings(settings_of(tip)).items():
            rows = np.array([float(value)])
            if name in model.keyed_settings:
                rows = self._source.channel(ob, path_of(tip, name), [value])[:, 0]
                # F-Curves may say what the setting cannot be.
                rows = np.clip(rows, *RANGES[name]) if name in RANGES else rows
            found[name] = rows > 0.5 if isinstance(value, bool) else rows
        return found

    def _carry(self, ob: bpy.types.Object, parent: str) -> _Carried:
        to_world, pose = self._source.worlds(ob), np.eye(4)[None]
        if not np.linalg.det(to_world).all():
            raise UnevenError(messages.ARMATURE_WITHOUT_SIZE(armature=ob.name))
        if parent:
            pose = self._pose(ob, parent)
            if not are_even(pose):
                raise UnevenError(messages.PARENT_UNEVEN(bone=parent))
            to_world = to_world @ pose
        return np.linalg.inv(pose), np.linalg.inv(to_world), to_world

    def _place(self, ob: bpy.types.Object, carried: _Carried, control: bpy.types.Object, bone: str) -> np.ndarray:
        """Where a control is, in the space of the root's parent."""
        if not bone:
            return carried[1] @ self._source.worlds(control)
        pose = self._pose(control, bone)
        return carried[0] @ pose if control == ob else carried[1] @ self._source.worlds(control) @ pose


def _share_of(ob: bpy.types.Object, bone: str, body: BodyModel) -> float:
    """Which part of the way of a body a bone goes: all of it below the body, else what constraints take it along."""
    if bone in body.carries:
        return 1.0
    return sum(share for name, share in (shares_of(ob.pose.bones[bone]) or {}).items() if name in body.carries)


Numbers = Callable[[str, str], Sequence[float] | np.ndarray]
"""Gives the numbers of a bone's channel, by its name and a rotation mode, SCALE or LOCATION; of n rows: (n, width)."""


def read_fk(ob: bpy.types.Object, model: LimbModel, numbers: Numbers) -> FkTrack:
    """The FK pose of a chain of an original armature object. Raises UnevenError where its bones are scaled unevenly."""

    def rows(name: str, mode: str) -> np.ndarray:
        return np.atleast_2d(np.array(numbers(name, mode), float))

    own = [rows(name, mode) for name, mode in zip(model.bones, model.modes, strict=True)]
    scales = [rows(name, SCALE) for name in model.bones]
    for name, scale in zip(model.bones, scales, strict=True):
        size = scale[:, 1:2]
        if not (np.abs(scale - size) <= SIMILAR * size).all() or not (size > 0.0).all():
            raise UnevenError(messages.PARENT_UNEVEN(bone=name))
    locations = [
        np.zeros((1, 3)) if connected else rows(name, LOCATION)
        for name, connected in zip(model.bones, model.connected, strict=True)
    ]
    turns = [quaternions_of(each, mode) for each, mode in zip(own, model.modes, strict=True)]
    lengthening = tuple(rows(name, SCALE) for name, _ in model.scaled)
    together = side_by_side(turns), side_by_side(locations), side_by_side(scales)
    return fk_track(model, tuple(own), *together, lengthening)


def same_wishes(sampled: Wishes, evaluated: Wishes, length: float) -> bool:
    """True if two wishes of a chain of some length are the same, but for rounding."""
    for a, b in ((sampled.target, evaluated.target), (sampled.pole, evaluated.pole)):
        if a is not None and b is not None and not (a - b).length <= _SAME_PLACE * (length + b.length):
            return False
    a, b = sampled.orientation, evaluated.orientation
    return a is None or b is None or min((a - b).magnitude, (a + b).magnitude) <= _SAME_PLACE
