"""One frame of chains of which only target, pole and parents move, in plain numbers; and a body that follows."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ... import messages
from ...solvers import Chain, ChainError, Goal, Outcome, Solution, blend, link_rotations, solve
from ...solvers.carrier import eased_shifts
from ...solvers.limited import legal_reach
from ..blender.rotations import Raw, pose_matrix, quaternion_of, raw_of
from ..data.settings import BodySettings, body_settings_of, goal_values, settings_of
from ..model.body import check_movable
from ..model.limb_model import LimbModel
from .kinematics import FkTrack
from .reading import ArmatureReader

_FULL = 1e-4
"""Part of a limb's length by which it is held bent: the last bend opens like a root, and nearer to straight the
rounding of float32 would show, and nothing would say to which side its joints bend."""


@dataclass(frozen=True, slots=True)
class PosedBody:
    """A bone that follows its limbs. location: the numbers of its channel. shift_world: how far it went from its FK
    pose. excess_world: by how much the worst limb misses its reach at the end, 0: all of them reach; world units."""

    location: Raw
    shift_world: Vector
    excess_world: float


def follow(reader: ArmatureReader, name: str, tips: Sequence[str]) -> PosedBody:
    """Find where a bone goes, and tell the reader. tips: of the chains that it follows, its limbs.

    Raises ChainError that names the bone where it cannot move. A chain that cannot be read holds nothing.
    """
    pose_bone = reader.tip(name)
    settings, bone = body_settings_of(pose_bone), pose_bone.bone
    parent_pose, location = reader.parent_pose(pose_bone), reader.fk.location(name)
    mode, rotation = reader.fk.rotation(name)
    turn, scale = quaternion_of(rotation, mode), reader.scale_of(pose_bone)

    def posed(at: Sequence[float]) -> Matrix:
        return pose_matrix(bone, Matrix.LocRotScale(Vector(at), turn, scale), parent_pose)

    if not settings.influence:
        reader.pose(name, posed(location))
        return PosedBody(location, Vector(), 0.0)
    check_movable(reader.ob.pose.bones[name], pose_bone)
    fk_pose = posed(location)
    with reader.supposing(name, fk_pose):
        holds = [*_holds(reader, tips)]
    shift, excess = body_shift(reader.world, holds, settings)
    if any(shift):
        moved = fk_pose.copy()
        moved.translation += shift
        location = tuple(pose_matrix(bone, moved, parent_pose, invert=True).translation)
    pose = posed(location)
    reader.pose(name, pose)
    shift_world = reader.world.to_3x3() @ (pose.translation - fk_pose.translation)
    return PosedBody(location, shift_world, excess * reader.world.median_scale)


Hold = tuple[Vector, tuple[float, float], float, float]
"""A limb of a body in its FK pose: from its root to where its end shall go, and its shortest and its longest reach, in
armature space; its softness and its influence."""


def _holds(reader: ArmatureReader, tips: Sequence[str]) -> Iterator[Hold]:
    """The chains of these tips as they are below the bone as the reader supposes it."""
    for tip in tips:
        settings = settings_of(reader.tip(tip))
        if not settings.influence > 0.0:
            continue
        try:
            # The pole may move with the bone, and does not matter here.
            limb = reader.limb(tip, replace(settings, pole_target=None, pole_subtarget=""))
        except ChainError:
            # The chain itself says why.
            continue
        offset = limb.target_armature - limb.root_armature
        yield offset, legal_reach(limb.chain), settings.softness, settings.influence


def body_shift(world: Matrix, holds: Sequence[Hold], settings: BodySettings) -> tuple[Vector, float]:
    """How a bone with these settings moves, in armature space, and by how much the limb that misses most does."""
    if not holds:
        return Vector(), 0.0
    offsets, reaches, softness, influences = (np.array([own], float) for own in zip(*holds, strict=True))
    down, ease, worlds = settings.direction == "DOWN", np.array([settings.softness]), np.array(world)[None]
    shifts, excesses = body_shifts(offsets, reaches, softness, influences, worlds, down, ease)
    return Vector(shifts[0] * settings.influence), float(excesses[0])


def body_shifts(
    offsets: np.ndarray,
    reaches: np.ndarray,
    held: np.ndarray,
    influences: np.ndarray,
    worlds: np.ndarray,
    down: bool,
    softness: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """How a bone moves over T rows so that its limbs reach, (T, 3), and by how much the worst one misses, (T,).

    offsets: (T, n, 3), from each limb's root to where its end shall go, with the bone in its FK pose. reaches: (T, n,
    2), its shortest and its longest. held, influences: (T, n), its softness and its influence; of no influence it holds
    nothing. worlds: (T or 1, 4, 4), of the armature; the rest is in its space. softness: (T,), of the bone.
    """
    shifts, excesses = np.zeros((len(offsets), 3)), np.zeros(len(offsets))
    holding = influences > 0.0
    for active in holding[:1] if holding.all() else np.unique(holding, axis=0):
        if not active.any():
            continue
        rows = np.flatnonzero((holding == active).all(axis=1))
        own = np.ix_(rows, active)
        to_z = _to_z(worlds if len(worlds) == 1 else worlds[rows])
        moves, excesses[rows] = _of_holding(
            offsets[own], reaches[own], held[own], influences[own], to_z, down, softness[rows]
        )
        shifts[rows] = (to_z.swapaxes(1, 2) @ moves[..., None])[..., 0]
    return shifts, excesses


def _of_holding(
    offsets: np.ndarray,
    reaches: np.ndarray,
    held: np.ndarray,
    influences: np.ndarray,
    to_z: np.ndarray,
    down: bool,
    softness: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """See `body_shifts`; of limbs that hold all."""
    shortest, longest = reaches[..., 0], reaches[..., 1] * (1.0 - np.maximum(held, _FULL))
    # A limb that is hardly led by its target hardly holds.
    away = np.maximum(np.linalg.norm(offsets, axis=2) - longest, 0.0)
    shortest, longest = shortest * influences, longest + (1.0 / influences - 1.0) * (longest + away)
    return eased_shifts(offsets @ to_z.swapaxes(1, 2), longest, shortest, softness * longest.min(axis=1), down)


def _to_z(worlds: np.ndarray) -> np.ndarray:
    """The rotations (n, 3, 3) that take the direction which is up in the world, seen from the armature, to z."""
    up = np.array([Matrix(world).to_3x3().inverted_safe().col[2] for world in worlds], float)
    z = up / np.linalg.norm(up, axis=1, keepdims=True)
    x = np.cross(np.eye(3)[np.abs(z).argmin(axis=1)], z)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return np.stack((x, np.cross(z, x), z), axis=1)


SIMILAR = 1e-4
"""Part by which the axes of a pose may differ in length, or lean, and still count as evenly scaled: long chains of
single precision come to 2e-5."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """Where a steady chain shall go: target, pole and the target's orientation, in the space of its root's parent."""

    target: Vector
    pole: Vector | None = None
    orientation: Quaternion | None = None


@dataclass(frozen=True, slots=True)
class SteadyChain:
    """A chain whose FK pose and settings stay the same, for one frame at a time. Points and rotations in the space of
    its root's parent; the chain from its root.

    fk, fk_rotations: of the bones that it turns. before, after: for each the constant rotations on the two sides of its
    turn against the bone before. lengthening: the FK scales of the bones in `model.scaled`. offset: from the target to
    where the chain's end goes, and ends: how the bones on it are turned, in the space of the target, for the foot as it
    rolls. goal: its wishes, with a pole if it has one.
    """

    model: LimbModel
    fk: tuple[Raw, ...]
    fk_rotations: tuple[Quaternion, ...]
    before: tuple[Quaternion, ...]
    after: tuple[Quaternion, ...]
    lengthening: tuple[Raw, ...]
    offset: Vector
    ends: tuple[Quaternion, ...]
    chain: Chain
    root: Vector
    goal: Goal
    influence: float

    def solve(self, wishes: Wishes) -> tuple[list[Quaternion], Outcome, float]:
        """The local rotations of its bones, how the target lies to it, and how many times its FK length it is long. See
        `solve_surely` for errors."""
        pole = None if wishes.pole is None else wishes.pole - self.root
        goal = replace(self.goal, target=self.end_of(wishes) - self.root, pole=pole)
        solution = solve_surely(self.chain, goal, self.model.solver)
        turns = link_rotations(self.chain, solution)
        if wishes.orientation is not None:
            turns += [
                wishes.orientation @ end @ after.conjugated()
                for end, after in zip(self.ends, self.after[len(turns) :], strict=True)
            ]
        rotations, unturned = [], None
        for turn, before, after in zip(turns, self.before, self.after, strict=True):
            rotations.append(before @ (turn if unturned is None else unturned @ turn) @ after)
            unturned = turn.conjugated()
        influence = 0.0 if self._holds(solution.outcome) else self.influence
        if influence != 1.0:
            rotations = self._blended(rotations, turns, influence)
        return rotations, solution.outcome, 1.0 + influence * (solution.stretch - 1.0)

    def _blended(self, rotations: list[Quaternion], turns: list[Quaternion], influence: float) -> list[Quaternion]:
        """turns: of its bones from their FK pose, at full influence. A foot is turned to its orientation under the tip
        as it is shown; a toe as it lies to the foot."""
        shown = [blend(fk, solved, influence) for fk, solved in zip(self.fk_rotations, rotations, strict=True)]
        if self.ends:
            foot, tip = len(self.model.links), Quaternion()
            for rotation, before, after in zip(shown[:foot], self.before, self.after, strict=False):
                tip = tip @ before.conjugated() @ rotation @ after.conjugated()
            local = self.before[foot] @ tip.conjugated() @ turns[foot] @ self.after[foot]
            shown[foot] = blend(self.fk_rotations[foot], local, influence)
        return shown

    def end_of(self, wishes: Wishes) -> Vector:
        """Where the chain's end shall go."""
        return wishes.target if wishes.orientation is None else wishes.target + wishes.orientation @ self.offset

    def raw(self, rotations: Iterable[Quaternion], outcome: Outcome, stretch: float) -> list[Raw]:
        """What `solve` found as numbers of the bones' rotation modes, each next to its FK rotation, then the scales."""
        if not self.influence or self._holds(outcome):
            # No influence is the FK pose itself, not what its quaternion rounds to.
            return [*self.fk, *self.lengthening]
        modes, scaled = self.model.turned_modes, zip(self.lengthening, self.model.scaled, strict=True)
        turned = [raw_of(rotation, mode, fk) for rotation, mode, fk in zip(rotations, modes, self.fk, strict=True)]
        return turned + [tuple(value * stretch**power for value in fk) for fk, (_, power) in scaled]

    def _holds(self, outcome: Outcome) -> bool:
        return self.model.reach == "HOLD" and outcome is not Outcome.REACHED


def steady_chain(
    model: LimbModel, fk: FkTrack, settings: dict[str, float], chain: Chain, ends: tuple[np.ndarray, list[np.ndarray]]
) -> SteadyChain | None:
    """A chain with this FK pose and these settings; None where frames change them.

    chain: in the FK pose, from its root. ends: see `track_solving.placed`, of one row, in the space of the target.
    """
    if not model.is_still:
        return None
    places = model.turned
    rotations = [Quaternion(fk.rotations[0, k]) for k in places]
    turns = [Quaternion(fk.turns[0, k]) for k in places]
    return SteadyChain(
        model=model,
        fk=tuple(tuple(fk.numbers[k][0].tolist()) for k in places),
        fk_rotations=tuple(rotations),
        before=tuple(own @ turn.conjugated() for own, turn in zip(rotations, turns, strict=True)),
        after=tuple(turns),
        lengthening=tuple(tuple(scale[0].tolist()) for scale in fk.lengthening),
        offset=Vector(ends[0][0]),
        ends=tuple(Quaternion(turn[0]) for turn in ends[1]),
        chain=chain,
        root=Vector(fk.heads[0, 0]),
        goal=Goal(
            target=Vector(),
            pole=Vector() if model.has_pole else None,
            least_motion=model.least_motion,
            **goal_values(settings, model.reach),
        ),
        influence=settings["influence"],
    )


def solve_surely(chain: Chain, goal: Goal, solver: str) -> Solution:
    """Solve a chain whose pose does not depend on the space that it is solved in.

    Raises ChainError for what is no point, and where rounding may decide between poses that are as good.
    """
    solution = solve(chain, goal, solver)
    if solution.searched:
        raise ChainError(messages.LIMITS_SEARCHED())
    return solution


def is_even(matrix: Matrix) -> bool:
    """Whether a matrix turns, moves and scales evenly, without shear and without a mirror."""
    x, y, z = matrix.to_3x3().col
    size = x.dot(x)
    slack = SIMILAR * size
    return (
        abs(y.dot(y) - size) <= slack
        and abs(z.dot(z) - size) <= slack
        and max(abs(x.dot(y)), abs(y.dot(z)), abs(z.dot(x))) <= slack
        and x.cross(y).dot(z) > 0.0
    )
