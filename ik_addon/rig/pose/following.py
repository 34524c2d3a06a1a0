"""A bone that follows its limbs: where it goes for them, at one frame or at many."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ...solvers import ChainError
from ...solvers.carrier import eased_shifts, least_turn
from ...solvers.limited import legal_reach
from ..blender.rotations import LOCATION, Raw, is_even, pose_matrix, quaternion_of, raw_of
from ..data.settings import BodySettings, body_settings_of, settings_of
from ..model.body import check_movable
from .reading import ArmatureReader

_FULL = 1e-4
"""Part of a limb's length by which it is held bent: the last bend opens like a root, and nearer to straight the
rounding of float32 would show, and nothing would say to which side its joints bend."""


@dataclass(frozen=True, slots=True)
class PosedBody:
    """A bone that follows its limbs. channels: the numbers of its location, and of its rotation if it may turn.
    shift_world: how far it went from its FK pose. excess_world: by how much the worst limb misses its reach at the end,
    0: all of them reach; world units. angle: by how much it turned, in radians."""

    channels: dict[str, Raw]
    shift_world: Vector
    excess_world: float
    angle: float


Hold = tuple[Vector, Vector, tuple[float, float], float, float]
"""A limb of a body in its FK pose: its root, from there to where its end shall go, and its shortest and its longest
reach, in armature space; its softness and its influence."""


def follow(reader: ArmatureReader, name: str, holds: Callable[[], Iterable[Hold]]) -> PosedBody:
    """Find where a bone goes, and tell the reader. holds: reads its limbs as they are below the bone in its FK pose.

    Raises ChainError that names the bone where it cannot move. A chain that cannot be read holds nothing.
    """
    pose_bone = reader.tip(name)
    settings, bone = body_settings_of(pose_bone), pose_bone.bone
    parent_pose, scale, fk = reader.parent_pose(pose_bone), reader.scale_of(pose_bone), reader.fk
    mode, rotation = fk.rotation(name)
    location, turn = fk.numbers(name, LOCATION), quaternion_of(rotation, mode)
    channels = {LOCATION: location}
    if settings.turn:
        channels[mode] = rotation

    def posed(at: Sequence[float], turn: Quaternion, scale: Vector | None = scale) -> Matrix:
        return pose_matrix(bone, Matrix.LocRotScale(Vector(at), turn, scale), parent_pose)

    if not settings.influence:
        reader.pose(name, posed(location, turn))
        return PosedBody(channels, Vector(), 0.0, 0.0)
    check_movable(reader.ob.pose.bones[name], pose_bone)
    fk_pose = posed(location, turn)
    with reader.supposing(name, fk_pose):
        held = [*holds()]
    further, angle = None, 0.0
    if settings.turn and is_even(unturned := posed(location, Quaternion(), None)):
        further = body_turn(fk_pose.translation, held, settings)
    if further:
        held = [_turned(hold, fk_pose.translation, further) for hold in held]
        basis, own = unturned.to_quaternion(), Quaternion().slerp(further, settings.influence)
        turn, angle = basis.inverted() @ own @ basis @ turn, own.angle
        channels[mode] = raw_of(turn, mode, rotation)
    shift, excess = body_shift(reader.world, held, settings)
    if any(shift):
        moved = fk_pose.copy()
        moved.translation += shift
        channels[LOCATION] = tuple(pose_matrix(bone, moved, parent_pose, invert=True).translation)
    pose = posed(channels[LOCATION], turn)
    reader.pose(name, pose)
    shift_world = reader.world.to_3x3() @ (pose.translation - fk_pose.translation)
    return PosedBody(channels, shift_world, excess * reader.world.median_scale, angle)


def follow_limbs(reader: ArmatureReader, name: str, tips: Sequence[str]) -> PosedBody:
    """See `follow`; tips: of the chains that it follows, which are read."""
    return follow(reader, name, lambda: _read_holds(reader, tips))


def _read_holds(reader: ArmatureReader, tips: Sequence[str]) -> Iterator[Hold]:
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
        root = limb.root_armature
        yield root, limb.target_armature - root, legal_reach(limb.chain), settings.softness, settings.influence


def body_turn(center: Vector, holds: Sequence[Hold], settings: BodySettings) -> Quaternion | None:
    """The least turn of a bone about its head with which its limbs reach, in armature space; None: it need not turn."""
    if not holds:
        return None
    roots, offsets, reaches, softness, influences = (np.array([*own], float) for own in zip(*holds, strict=True))
    shortest, longest = _held(offsets, reaches, softness, influences)
    # As early as the body begins to move: so it has room to move in.
    longest = np.maximum(longest - settings.softness * longest.min(), shortest)
    arms = roots - np.array(center)
    turn = Vector(least_turn(arms, arms + offsets, longest, shortest, settings.turn))
    return Quaternion(turn.normalized(), turn.length) if turn.length else None


def _turned(hold: Hold, center: Vector, turn: Quaternion) -> Hold:
    """A limb as it is once the body has turned."""
    root, offset, reach, softness, influence = hold
    turned = center + turn @ (root - center)
    return turned, offset + root - turned, reach, softness, influence


def body_shift(world: Matrix, holds: Sequence[Hold], settings: BodySettings) -> tuple[Vector, float]:
    """How a bone with these settings moves, in armature space, and by how much the limb that misses most does."""
    if not holds:
        return Vector(), 0.0
    offsets, reaches, softness, influences = (np.array([own], float) for own in [*zip(*holds, strict=True)][1:])
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
        shortest, longest = _held(offsets[own], reaches[own], held[own], influences[own])
        ease = softness[rows] * longest.min(axis=1)
        moves, excesses[rows] = eased_shifts(offsets[own] @ to_z.swapaxes(1, 2), longest, shortest, ease, down)
        shifts[rows] = (to_z.swapaxes(1, 2) @ moves[..., None])[..., 0]
    return shifts, excesses


def _held(
    offsets: np.ndarray, reaches: np.ndarray, held: np.ndarray, influences: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The shortest and the longest reach of limbs, (..., n), as a body has to keep to them; see `body_shifts`."""
    shortest, longest = reaches[..., 0], reaches[..., 1] * (1.0 - np.maximum(held, _FULL))
    # A limb that is hardly led by its target hardly holds.
    away = np.maximum(np.linalg.norm(offsets, axis=-1) - longest, 0.0)
    return shortest * influences, longest + (1.0 / influences - 1.0) * (longest + away)


def _to_z(worlds: np.ndarray) -> np.ndarray:
    """The rotations (n, 3, 3) that take the direction which is up in the world, seen from the armature, to z."""
    up = np.array([Matrix(world).to_3x3().inverted_safe().col[2] for world in worlds], float)
    z = up / np.linalg.norm(up, axis=1, keepdims=True)
    x = np.cross(np.eye(3)[np.abs(z).argmin(axis=1)], z)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return np.stack((x, np.cross(z, x), z), axis=1)
