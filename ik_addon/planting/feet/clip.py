"""What is known of legs over the frames of a motion capture."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class LegMotion:
    """Legs over T frames, in the world with z up, float64.

    fps: frames per second.
    lengths: (legs, 2), thigh and shin, world units.
    hips, knees, ankles: (legs, T, 3), the joints of each leg.
    balls: (legs, T, 3), where the ball of the foot touches: below the joint of the toes, if the sole is thick; as long
        as it is above or below the ankle, the foot is a point, such as a paw or a hoof.
    feet: (legs, T, 3, 3), the orientation of the foot bone, its axes in columns.
    soles: (legs,), how far the skin reaches below heel and ball; None: there is none.
    """

    fps: float
    lengths: np.ndarray
    hips: np.ndarray
    knees: np.ndarray
    ankles: np.ndarray
    balls: np.ndarray
    feet: np.ndarray
    soles: np.ndarray | None = None

    @property
    def leg_count(self) -> int:
        """How many legs there are."""
        return len(self.lengths)

    @property
    def frame_count(self) -> int:
        """How many frames there are."""
        return self.ankles.shape[1]

    @property
    def size(self) -> float:
        """The mean length of a leg, by which tolerances and speeds are scaled."""
        return float(self.lengths.sum(axis=1).mean())

    @property
    def reaches(self) -> np.ndarray:
        """(legs,), the length of each leg at full extension."""
        return self.lengths.sum(axis=1)
