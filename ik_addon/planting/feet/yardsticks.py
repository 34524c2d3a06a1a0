"""How papers on generated motion measure feet, so that a clip can be compared with what they print.

Each formula is that of the published code, which has the floor at height 0 and a human in meters. So a clip is scaled
to a human's leg, and heights are those over the ground. At the frame rate of the code the numbers are the same; where
the code has its rate built in, times are kept and not counts of frames.
"""

from dataclasses import dataclass

import numpy as np

from .clip import LegMotion
from .contacts import Ground, HeelAndBall

HUMAN_LEG = 0.85
"""Meters."""


@dataclass(frozen=True)
class HumanFeet:
    """Feet over T frames, meters, z up from the ground.

    fps: frames per second. ankles, toes: (feet, T, 3). root: (T, 3), of the body. joints: (n, T, 3), all that are
    known. lowest: (T,), the height of the lowest point of the feet. touching: (feet, 2, T) bool, whether heel and toe
    should stand.
    """

    fps: float
    ankles: np.ndarray
    toes: np.ndarray
    root: np.ndarray
    joints: np.ndarray
    lowest: np.ndarray
    touching: np.ndarray


def human_feet(clip: LegMotion, sole: HeelAndBall, contacts: np.ndarray, heights: Ground | None = None) -> HumanFeet:
    """The feet of a clip as papers have them; toes are where the balls touch. See `measured` for what it takes."""
    to_human = HUMAN_LEG / clip.size

    def over_ground(points: np.ndarray, level: float = sole.level) -> np.ndarray:
        raised = points.copy()
        raised[..., 2] -= level if heights is None else heights(points.reshape(-1, 3)).reshape(points.shape[:-1])
        return to_human * raised

    ankles, toes = over_ground(clip.ankles), over_ground(clip.balls)
    soles = over_ground(sole.places(clip.ankles, clip.feet))[..., 2].min(axis=(0, 1))
    # As captured the ground is as high as heels and balls, and skin reaches below these.
    levels = sole.level - sole.depths
    skins = [
        over_ground(skin, level)[..., 2].min(axis=0)
        for skin, level in zip(clip.skins, levels, strict=False)
        if skin is not None
    ]
    # Without a mesh heels and balls are all that is known of the skin.
    lowest = np.min(skins, axis=0) if len(skins) == clip.leg_count else soles
    joints = to_human * np.concatenate((clip.hips, clip.knees, clip.ankles, clip.balls))
    return HumanFeet(clip.fps, ankles, toes, to_human * clip.hips.mean(axis=0), joints, lowest, contacts.astype(bool))


_KIMODO_LOW, _KIMODO_FAST = 0.05, 0.2
"""Meters; meters a second."""
_NO_FRAME = 1e-6
"""What the published code adds to numbers of frames, so that none is no division by zero."""


def kimodo_skate_ratio(feet: HumanFeet) -> float:
    """Part of the frames with a low toe, counted for each foot, in which it moves faster than 0.2 m/s.

    Kimodo (NVIDIA 2026), metrics/foot_skate.py, FootSkateRatio: low is below 5 cm at a frame and at the next.
    """
    low, speeds = _both_below(feet.toes, _KIMODO_LOW), _speeds(feet.toes, feet.fps)
    return float((low & (speeds > _KIMODO_FAST)).sum() / (low.sum() + _NO_FRAME))


def kimodo_low_speed(feet: HumanFeet) -> float:
    """The mean speed of toes while they are below 5 cm, m/s: metrics/foot_skate.py, FootSkateFromHeight."""
    low, speeds = feet.toes[:, :-1, 2] < _KIMODO_LOW, _speeds(feet.toes, feet.fps)
    return float(speeds[low].sum() / (low.sum() + _NO_FRAME))


def kimodo_contact_speed(feet: HumanFeet) -> float:
    """The mean speed of ankles and toes in contact, m/s: metrics/foot_skate.py, FootSkateFromContacts.

    There contacts are those that the network predicts, here those of the clip check.
    """
    speeds = np.stack([_speeds(points, feet.fps) for points in (feet.ankles, feet.toes)], axis=1)
    touching = feet.touching[..., :-1]
    return float(speeds[touching].sum() / (touching.sum() + _NO_FRAME))


_GMD_LOW, _GMD_FAST, _GMD_WINDOW = 0.05, 0.5, 0.25
"""Meters; meters a second; seconds, five frames at the 20 a second of the code."""


def gmd_skating_ratio(feet: HumanFeet) -> float:
    """Part of all frames in which the toe of any foot is low and moves horizontally faster than 0.5 m/s.

    Guided Motion Diffusion (Karunratanakul et al. 2023), data_loaders/humanml/utils/metrics.py,
    calculate_skating_ratio, with which MDM, OmniControl, DNO and others were measured. Low is below 5 cm at a frame and
    at the next; the mean over five frames, with nothing beyond the ends, must be as fast too.
    """
    speeds = _speeds(feet.toes[..., :2], feet.fps)
    size = max(1, round(_GMD_WINDOW * feet.fps))
    means = np.array([_running_mean(own, size) for own in speeds])
    skating = _both_below(feet.toes, _GMD_LOW) & (speeds > _GMD_FAST) & (means > _GMD_FAST)
    return float(skating.any(axis=0).mean())


_EDGE_FPS, _EDGE_SCALE = 30.0, 10000.0


def edge_pfc(feet: HumanFeet) -> float | None:
    """Physical Foot Contact: whether a body accelerates while neither foot is still. None unless it has two feet.

    EDGE (Tseng, Castellon, Liu 2023), eval/eval_pfc.py: the mean over frames of the root's acceleration, as a part of
    its largest and without what is downward, times for each foot how far the slower of ankle and toe goes horizontally
    in 1/30 s, times 10 000.
    """
    if len(feet.toes) != 2:
        return None
    pulls = np.diff(feet.root, 2, axis=0)
    pulls[:, 2] = np.maximum(pulls[:, 2], 0.0)
    sizes = np.linalg.norm(pulls, axis=1)
    if not sizes.any():
        return 0.0
    steps = np.stack([_speeds(points[:, 1:, :2], feet.fps / _EDGE_FPS) for points in (feet.ankles, feet.toes)])
    slower = steps.min(axis=0)
    return float((slower[0] * slower[1] * sizes / sizes.max()).mean() * _EDGE_SCALE)


_TOLERANCE = 0.005
"""Meters by which feet may be off the ground: that of the published code."""


def penetration(feet: HumanFeet) -> float:
    """How deep the lowest point is below the ground, in the mean over all frames, millimeters.

    PhysDiff (Yuan et al. 2023), section 4.1, as in Universal Humanoid Control (Luo et al. 2021): depths up to 5 mm
    count as none. There it is the lowest of all vertices of a body, here of the feet.
    """
    return 1000.0 * float(np.where(feet.lowest < -_TOLERANCE, -feet.lowest, 0.0).mean())


def floating(feet: HumanFeet) -> float:
    """How high the lowest point is above the ground, in the mean over all frames, millimeters: as `penetration`."""
    return 1000.0 * float(np.where(feet.lowest > _TOLERANCE, feet.lowest, 0.0).mean())


def jitter(feet: HumanFeet) -> float:
    """The mean third derivative of the places of joints, m/s³.

    The jerk of Flash and Hogan 1985 as WHAM (Shin et al. 2024), lib/eval/eval_utils.py, compute_jitter, has it, which
    gives a tenth of it; here of hips, knees, ankles and toes.
    """
    if feet.joints.shape[1] < 4:
        return 0.0
    return float(np.linalg.norm(np.diff(feet.joints, 3, axis=1), axis=-1).mean() * feet.fps**3)


YARDSTICKS = {
    "kimodo_skate_ratio": kimodo_skate_ratio,
    "kimodo_low_speed": kimodo_low_speed,
    "kimodo_contact_speed": kimodo_contact_speed,
    "gmd_skating_ratio": gmd_skating_ratio,
    "edge_pfc": edge_pfc,
    "penetration": penetration,
    "floating": floating,
    "jitter": jitter,
}


def yardsticks_of(
    clip: LegMotion, sole: HeelAndBall, contacts: np.ndarray, heights: Ground | None = None
) -> dict[str, float | None]:
    """What each of `YARDSTICKS` says of a clip that is seen from its ground; see `measured` for what it takes."""
    feet = human_feet(clip, sole, contacts, heights)
    return {name: measure(feet) for name, measure in YARDSTICKS.items()}


def _speeds(points: np.ndarray, fps: float) -> np.ndarray:
    """(..., T - 1), from each frame to the next."""
    return np.linalg.norm(np.diff(points, axis=-2), axis=-1) * fps


def _both_below(points: np.ndarray, height: float) -> np.ndarray:
    """(..., T - 1) bool: a point is lower at a frame and at the next."""
    low = points[..., 2] < height
    return low[..., :-1] & low[..., 1:]


def _running_mean(values: np.ndarray, size: int) -> np.ndarray:
    """The mean of so many values around each, those beyond the ends being zero."""
    return np.convolve(values, np.full(size, 1.0 / size))[(size - 1) // 2 :][: len(values)]
