"""A path over the ground: a drawn curve as even samples, its corners rounded."""

from dataclasses import dataclass

import numpy as np

from .clip import directions
from .curves import cubic_at, smooth, smooth_inside


@dataclass(frozen=True)
class GroundPath:
    """A path: places (n, 2) that are `spacing` apart, and headings (n,) in radians, unwrapped.

    Beyond its ends it goes on straight, or round once more if it is closed. ahead: how far the samples go before its
    start and beyond its end.
    """

    places: np.ndarray
    headings: np.ndarray
    spacing: float
    is_closed: bool = False
    ahead: float = 0.0

    @property
    def length(self) -> float:
        """From its start to its end, or once around."""
        return self.spacing * (len(self.places) - 1) - 2.0 * self.ahead

    def at(self, ways: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Places (..., 2) and headings (...) at ways (...) from the start."""
        if self.is_closed:
            rounds = np.floor(ways / self.length)
            rows = (ways - rounds * self.length) / self.spacing
            around = self.headings[-1] - self.headings[0]
            return cubic_at(self.places, rows, True), cubic_at(self.headings, rows) + rounds * around
        ways = ways + self.ahead
        inside = np.clip(ways, 0.0, self.spacing * (len(self.places) - 1))
        places, headings = (cubic_at(each, inside / self.spacing) for each in (self.places, self.headings))
        return places + (ways - inside)[..., None] * unit(headings), headings


def unit(headings: np.ndarray) -> np.ndarray:
    """The directions (..., 2) of headings (...)."""
    return np.stack((np.cos(headings), np.sin(headings)), axis=-1)


def path_of(points: np.ndarray, is_closed: bool, spacing: float, rounding: float) -> GroundPath:
    """The path through points (n, 2) of a drawn curve, two of them apart, its corners rounded over `rounding` to
    either side. spacing: of the samples, about."""
    points = np.vstack((points, points[:1])) if is_closed else points
    points = points[np.concatenate(([True], np.linalg.norm(np.diff(points, axis=0), axis=1) > 1e-6 * spacing))]
    if not is_closed:
        # As straight as it goes on: so its ends are not rounded off.
        ends = rounding * directions(points[[0, -1]] - points[[1, -2]])
        points = np.vstack((points[0] + ends[0], points, points[-1] + ends[1])) if rounding else points
    places = _evenly(points, spacing)
    half = round(rounding / spacing)
    half = min(half, len(places) // 6) if is_closed else half
    rounded = _averaged(places, half, is_closed)
    # What is lost of bends that are wide enough comes back; corners stay round.
    places = _evenly(rounded + _averaged(places - rounded, half, is_closed), spacing)
    apart = float(np.linalg.norm(np.diff(places, axis=0), axis=1).mean())
    headings = _headings(places, half // 2, is_closed)
    return GroundPath(places, headings, apart, is_closed, 0.0 if is_closed else rounding)


def _headings(places: np.ndarray, half: int, is_closed: bool) -> np.ndarray:
    """Which way places (n, 2) go, averaged over `half` of them to either side."""
    tangents = np.gradient(places, axis=0)
    if is_closed:
        tangents[0] = tangents[-1] = 0.5 * (places[1] - places[-2])
    headings = np.unwrap(np.arctan2(tangents[:, 1], tangents[:, 0]))
    even = np.linspace(0.0, headings[-1] - headings[0], len(headings)) if is_closed else 0.0
    return even + _averaged(headings - even, half, is_closed)


def _evenly(points: np.ndarray, spacing: float) -> np.ndarray:
    """Points (n, 2) that are evenly apart, about as far as `spacing`."""
    ways = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))))
    wanted = np.linspace(0.0, ways[-1], max(4, round(ways[-1] / spacing)) + 1)
    return np.stack([np.interp(wanted, ways, own) for own in points.T], axis=1)


def _averaged(values: np.ndarray, half: int, is_closed: bool) -> np.ndarray:
    """Values averaged over `half` of them to either side; the ends stay, or are as far inside as anything."""
    if not is_closed or half < 1:
        return smooth_inside(values, half)
    return smooth(np.concatenate((values[-1 - half : -1], values, values[1 : 1 + half])), half)[half:-half]
