"""Where a foot touches the ground, in the foot's own space, as the clip itself shows it.

Rest poses of captures do not tell: their bones lie along an axis, and have no heel.
"""

from dataclasses import dataclass

import numpy as np

from .clip import LegMotion
from .in_time import frames_in, lowest, slope, smooth
from .options import FLOOR_TIME, HEEL_BEHIND, POINT_FOOT, SLOPE_TIME
from .turns import UP, across, applied, directions

HEEL, BALL = 0, 1

STILL_SHARE = 10
"""One of so many frames shows how a foot stands: even a run has as many."""
HEIGHT_SCALE = 0.05
"""Height, in leg lengths, that speaks as much against standing as a foot's median speed."""


@dataclass(frozen=True)
class HeelAndBall:
    """Heel and ball of each foot.

    points: (legs, 2, 3), heel and ball relative to the ankle, in the foot's own space; equal for a foot that is a
    point.
    normals: (legs, 3), unit vector up from the sole, in the foot's own space.
    floors: (legs, T), height of the ground under each foot as captured, world units.
    """

    points: np.ndarray
    normals: np.ndarray
    floors: np.ndarray

    @property
    def level(self) -> float:
        """The height of the level ground that suits the capture best, world units."""
        return float(np.median(self.floors))

    def is_point(self, leg: int) -> bool:
        """True if the foot of this leg has no heel."""
        return bool((self.points[leg, HEEL] == self.points[leg, BALL]).all())

    def places(self, ankles: np.ndarray, feet: np.ndarray) -> np.ndarray:
        """(legs, 2, T, 3), heels and balls of feet with these ankles (legs, T, 3) and orientations (legs, T, 3, 3)."""
        return ankles[:, None] + applied(feet[:, None], self.points[:, :, None])


def sole_of(clip: LegMotion, points: np.ndarray | None = None) -> HeelAndBall:
    """The soles of a clip's feet, from its stillest and lowest frames.

    points: (legs, 2, 3), heels and balls where they are known, as in `Sole`; else the heel is put behind the ankle, as
    high as the ball.
    """
    still = [_still_frames(clip, leg) for leg in range(clip.leg_count)]
    if points is None:
        points = np.array([_heel_and_ball(clip, leg, frames) for leg, frames in enumerate(still)])
    along = directions(points[:, BALL] - points[:, HEEL])
    up = [applied(clip.feet[leg, frames].swapaxes(1, 2), UP).mean(axis=0) for leg, frames in enumerate(still)]
    normals = directions(across(np.array(up), along))
    heights = HeelAndBall(points, normals, np.empty(0)).places(clip.ankles, clip.feet)[..., 2].min(axis=1)
    half = frames_in(FLOOR_TIME, clip.fps)
    return HeelAndBall(points, normals, np.array([smooth(lowest(height, 2 * half), half) for height in heights]))


def point_soles(clip: LegMotion) -> HeelAndBall:
    """Soles of limbs that end in a point, at wrist or ankle."""
    legs = clip.leg_count
    return HeelAndBall(np.zeros((legs, 2, 3)), np.tile(UP, (legs, 1)), np.zeros((legs, clip.frame_count)))


def _heel_and_ball(clip: LegMotion, leg: int, still: np.ndarray) -> np.ndarray:
    """(2, 3), one foot's heel and ball in its own space, as frames show them in which it stands."""
    ankles, balls, to_own = clip.ankles[leg, still], clip.balls[leg, still], clip.feet[leg, still].swapaxes(1, 2)
    ball = np.median(applied(to_own, balls - ankles), axis=0)
    ahead = (balls - ankles) * (1.0, 1.0, 0.0)
    if np.median(np.linalg.norm(ahead, axis=1)) < POINT_FOOT * clip.size:
        return np.array((ball, ball))
    heels = ankles - HEEL_BEHIND * ahead
    heels[:, 2] = balls[:, 2]
    return np.array((np.median(applied(to_own, heels - ankles), axis=0), ball))


def _still_frames(clip: LegMotion, leg: int) -> np.ndarray:
    """The frames in which a foot stands most probably: slow and low."""
    ankles, balls = clip.ankles[leg], clip.balls[leg]
    speeds = np.maximum(*(np.linalg.norm(slope(way, clip.fps, SLOPE_TIME), axis=1) for way in (ankles, balls)))
    heights = ankles[:, 2] + balls[:, 2]
    restlessness = speeds / (np.median(speeds) + 1e-9 * clip.size)
    restlessness += (heights - heights.min()) / (HEIGHT_SCALE * clip.size)
    return np.argsort(restlessness, kind="stable")[: max(3, clip.frame_count // STILL_SHARE)]
