"""What planting did, as a dict: contacts of each leg, slides before and after, and how far the body moved."""

from collections.abc import Sequence

import bpy
import numpy as np

from ...rig.blender.file_memory import last, remember
from ..feet.anchors import Anchors, Lock, stances_of
from ..feet.clip import LegMotion
from ..feet.loops import period_of
from ..feet.measures import compared, knee_jumps, new_pops, same_sole
from ..feet.paths import carried_over
from ..feet.planning import FootPlan
from ..feet.treadmill import SLOWEST_BELT, Stage, way_a_second

_POINTS = ("HEEL", "BALL")


def last_report() -> dict:
    """What `plant` did last; empty before that. Lengths in world units, frames of the scene."""
    return last("plant")


def report_of(
    tips: Sequence[bpy.types.PoseBone],
    carrier: bpy.types.PoseBone,
    captured: LegMotion,
    stage: Stage,
    after: LegMotion,
    plan: FootPlan,
    frames: range,
    path: dict | None,
    is_cyclic: bool,
    follows: float,
) -> dict:
    """The report of a plan. captured: the clip. stage: as planted, on a path. after: the legs as solved now. path:
    figures of it. is_cyclic: it goes on beyond its keys. follows: how much the body is to follow the feet."""
    before, ground, chains = stage.clip, stage.ground, []
    seen, shifts = ground.seen_from(after), _moves(stage, plan.shifts, follows)
    figures = compared(seen, stage.seen, same_sole(seen, stage.sole), plan.contacts, ground.heights)
    for k, (tip, pops) in enumerate(zip(tips, _pops(captured, after, path is not None), strict=True)):
        locks = [lock for lock in plan.locks if lock.leg == k]
        chains.append(
            {
                "tip": tip.name,
                "length": float(before.reaches[k]),
                "steps": len(stances_of(Anchors(tuple(locks), ()))),
                "contacts": [_contact(lock, frames) for lock in locks],
                "slide_before": figures[k][0]["slide"] * float(before.reaches[k]),
                "slide_after": figures[k][1]["slide"] * float(before.reaches[k]),
                "pop_frames": [[frames[row] for row in pop] for pop in pops],
                "before": figures[k][0],
                "after": figures[k][1],
            }
        )
    report = {
        "armature": carrier.id_data.name,
        "action": carrier.id_data.animation_data.action.name,
        "body": carrier.name,
        "frames": [frames.start, frames[-1], frames.step],
        "ground_speed": float(np.linalg.norm(ground.velocity)),
        "ground_velocity": ground.velocity.tolist(),
        "chains": chains,
        "body_shift": float(shifts.max()),
        "body_frame": frames[int(shifts.argmax())],
        "loop_jump": 0.0 if path or is_cyclic else _jump(before),
        "unreached_frames": [frames[k] for k in np.flatnonzero(plan.unreached)],
        "path": path,
    }
    return remember("plant", report)


def _contact(lock: Lock, frames: range) -> dict:
    return {"point": _POINTS[lock.point], "first": frames[lock.first], "last": frames[lock.last]}


def _pops(captured: LegMotion, after: LegMotion, jumps: bool) -> list[list[tuple[int, int]]]:
    """Of each leg where its knee pops and did not, with jumps also where it jumps farther."""
    far = knee_jumps(captured, after) if jumps else [[]] * after.leg_count
    return [sorted(own + more) for own, more in zip(new_pops(captured, after), far, strict=True)]


def _moves(stage: Stage, shifts: np.ndarray, follows: float) -> np.ndarray:
    """(T,), how far a body goes by its shifts (T, 3), but for what it goes up and down with the ground."""
    carried = carried_over(stage.seen, stage.sole, stage.ground.heights).ankles - stage.seen.ankles
    return np.linalg.norm(shifts - follows * carried.mean(axis=0), axis=1)


def _jump(clip: LegMotion) -> float:
    """How far a loop that travels jumps back; 0 of other clips."""
    way = float(np.linalg.norm(way_a_second(clip))) * (clip.frame_count - 1) / clip.fps
    return way if way > SLOWEST_BELT * clip.size and period_of(clip) else 0.0
