"""How far a body travels over frames, and a root that travels as far. Matrices are (T, 4, 4), in the world."""

from dataclasses import dataclass

import numpy as np

from ...solvers.arrays import multiply, rotated


@dataclass(frozen=True)
class RootPath:
    """How far something has come since the first frame.

    moves: (T, 3), world units. headings: (T,), radians about world Z, continuous.
    """

    moves: np.ndarray
    headings: np.ndarray

    @property
    def straight(self) -> "RootPath":
        """The way to the same end at constant speed."""
        shares = np.linspace(0.0, 1.0, len(self.headings))
        return RootPath(shares[:, None] * self.moves[-1], shares * self.headings[-1])


def way_of(places: np.ndarray, turns: np.ndarray, height: bool = False, heading: bool = False) -> RootPath:
    """The way of a body over the ground. places: (T, 3). turns: its orientations, quaternions (T, 4).

    height: whether the way goes up and down as well. heading: whether it turns.
    """
    moves = places - places[0]
    if not height:
        moves = moves * (1.0, 1.0, 0.0)
    return RootPath(moves, headings_of(turns) if heading else np.zeros(len(places)))


def headings_of(turns: np.ndarray) -> np.ndarray:
    """(T,), how far orientations (T, 4) have turned about world Z since the first one, in radians.

    The rest of the turn is about a level axis. So leaning does not count, up to half a turn.
    """
    since = multiply(turns, turns[:1] * (1.0, -1.0, -1.0, -1.0))
    return np.unwrap(2.0 * np.arctan2(since[:, 3], since[:, 0]), period=2.0 * np.pi)


def moved_along(first: np.ndarray, way: RootPath) -> np.ndarray:
    """The poses (T, 4, 4) of something that is at `first` (4, 4), and goes a way. It turns about its own origin."""
    poses = np.tile(first, (len(way.headings), 1, 1))
    half = 0.5 * way.headings
    turns = np.zeros((len(half), 4))
    turns[:, 0], turns[:, 3] = np.cos(half), np.sin(half)
    for column in range(3):
        poses[:, :3, column] = rotated(turns, np.broadcast_to(first[:3, column], (len(half), 3)))
    poses[:, :3, 3] += way.moves
    return poses


def shifted(poses: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """Poses (T, 4, 4) moved by (T, 3)."""
    poses = poses.copy()
    poses[:, :3, 3] += moves
    return poses
