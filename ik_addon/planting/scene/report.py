"""What planting did, as a dict: contacts of each leg, slides before and after, and how far the body moved."""

from collections.abc import Sequence

import bpy
import numpy as np

from ... import messages
from ..feet.anchors import Anchors
from ..feet.belt import Standing
from ..feet.clip import Clip
from ..feet.measures import distances, measured
from ..feet.planning import Plan
from ..feet.sole import sole_of
from ..feet.stances import stances_of

_last: list[dict] = [{}]
_POINTS = ("HEEL", "BALL")


def last_report() -> dict:
    """What `plant` did last; empty before that. Lengths in world units, frames of the scene."""
    return _last[0]


def report_of(
    tips: Sequence[bpy.types.PoseBone],
    carrier: bpy.types.PoseBone,
    before: Clip,
    after: Clip,
    plan: Plan,
    ground: Standing,
    frames: range,
) -> dict:
    """The report of a plan. before, after: the legs in their FK pose, and as they are solved now."""
    sole = sole_of(ground.seen_from(before))
    figures = [measured(ground.seen_from(clip), sole, plan.contacts, ground.heights) for clip in (before, after)]
    away = distances(after, before)
    chains = []
    for k, tip in enumerate(tips):
        locks = [lock for lock in plan.locks if lock.leg == k]
        chains.append(
            {
                "tip": tip.name,
                "length": float(before.reaches[k]),
                "steps": len(stances_of(Anchors(tuple(locks), ()))),
                "contacts": [
                    {"point": _POINTS[lock.point], "first": frames[lock.first], "last": frames[lock.last]}
                    for lock in locks
                ],
                "slide_before": figures[0][k]["slide"] * float(before.reaches[k]),
                "slide_after": figures[1][k]["slide"] * float(before.reaches[k]),
                "before": figures[0][k],
                "after": figures[1][k] | away[k],
            }
        )
    _last[0] = {
        "armature": carrier.id_data.name,
        "action": carrier.id_data.animation_data.action.name,
        "body": carrier.name,
        "frames": [frames.start, frames[-1], frames.step],
        "ground_speed": float(np.linalg.norm(ground.velocity)),
        "ground_velocity": ground.velocity.tolist(),
        "chains": chains,
        "body_shift": float(np.linalg.norm(plan.shifts, axis=1).max()),
        "unreached_frames": [frames[k] for k in np.flatnonzero(plan.unreached)],
    }
    return _last[0]


def steps_words(count: int) -> str:
    """So many steps, in words."""
    return messages.STEPS_ONE() if count == 1 else messages.STEPS(count=count)
