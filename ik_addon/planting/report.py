"""What planting did, as a dict: contacts of each leg, slides before and after, and how far the body moved."""

from collections.abc import Sequence

import bpy
import numpy as np

from .planning import Plan
from .reading import Capture
from .sole import sole_of

_last: list[dict] = [{}]
_POINTS = ("HEEL", "BALL")


def last_report() -> dict:
    """What `plant` did last; empty before that. Lengths in world units, frames of the scene."""
    return _last[0]


def report_of(
    tips: Sequence[bpy.types.PoseBone],
    carrier: bpy.types.PoseBone,
    capture: Capture,
    plan: Plan,
    frames: range,
) -> dict:
    """The report of a plan."""
    clip, sole = capture.clip, sole_of(capture.clip)
    before, after = sole.places(clip.ankles, clip.feet), sole.places(plan.ankles, plan.feet)
    chains = []
    for k, tip in enumerate(tips):
        locks = [lock for lock in plan.locks if lock.leg == k]
        chains.append(
            {
                "tip": tip.name,
                "length": float(clip.reaches[k]),
                "contacts": [
                    {"point": _POINTS[lock.point], "first": frames[lock.first], "last": frames[lock.last]}
                    for lock in locks
                ],
                "slide_before": _slide(before, locks),
                "slide_after": _slide(after, locks),
            }
        )
    _last[0] = {
        "armature": carrier.id_data.name,
        "body": carrier.name,
        "frames": [frames.start, frames[-1], frames.step],
        "chains": chains,
        "body_shift": float(np.linalg.norm(plan.shifts, axis=1).max()),
        "unreached_frames": [frames[k] for k in np.flatnonzero(plan.unreached)],
    }
    return _last[0]


def _slide(points: np.ndarray, locks: Sequence) -> float:
    """The largest way between two places of a point while it is locked."""
    return max((_extent(points[lock.leg, lock.point, lock.first : lock.last + 1]) for lock in locks), default=0.0)


def _extent(points: np.ndarray) -> float:
    return float(np.linalg.norm(points[:, None] - points[None], axis=-1).max())
