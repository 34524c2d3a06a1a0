"""What matching did, as a dict: how far limbs are from where their source has them, and where they do not reach."""

from collections.abc import Sequence

import bpy
import numpy as np

from ..planting.feet.clip import LegMotion
from ..planting.feet.planning import FootPlan
from ..planting.scene.report import of_action
from .pairs import LimbPair
from .wanted import Match, swivel_errors

_last: list[dict] = [{}]
_by_action: dict[tuple[str, str], dict] = {}
"""What was matched in this Blender, by the names of armature and action."""
_MISSED = 1e-4
"""Part of a limb by which its end may be off a place that it reaches."""


def last_match_report() -> dict:
    """What `match_source` did last; empty before that. World units, radians, frames of the scene."""
    return _last[0]


def matched_report(ob: bpy.types.Object) -> dict | None:
    """What `match_source` did last in the action that an armature object plays now."""
    return of_action(ob, _by_action)


def match_report_of(
    pairs: Sequence[LimbPair],
    left_out: Sequence[bpy.types.PoseBone],
    source: bpy.types.Object,
    carrier: bpy.types.PoseBone | None,
    before: LegMotion,
    after: LegMotion,
    plan: FootPlan,
    match: Match,
    frames: range,
) -> dict:
    """The report of limbs that were matched. before, after: the limbs as retargeted, and as Blender shows them now.

    distance_before: how far ankle or wrist was from where the scaled source has it at most. error, swivel_error: how
    far it is now, in the frames in which it reaches, and to how different a side knee or elbow bends.
    """
    ob = pairs[0].tip.id_data
    off = np.linalg.norm(after.ankles - match.ends(after.hips), axis=-1)
    was_off = np.linalg.norm(before.ankles - match.ends(before.hips), axis=-1)
    # A limb without a number misses too.
    reached, swivels = off <= _MISSED * after.reaches[:, None], swivel_errors(after, match)
    limbs = [
        {
            "tip": pair.tip.name,
            "source_bone": pair.source.bones[-1],
            "kind": pair.limb.kind,
            "side": pair.limb.side,
            "length": float(after.reaches[k]),
            "scale": float(match.scales[k]),
            "distance_before": float(was_off[k].max()),
            "error": float(off[k][reached[k]].max(initial=0.0)),
            "swivel_error": float(swivels[k][reached[k]].max(initial=0.0)),
            "unreached_frames": [frames[t] for t in np.flatnonzero(~reached[k])],
        }
        for k, pair in enumerate(pairs)
    ]
    _last[0] = {
        "armature": ob.name,
        "source": source.name,
        "action": ob.animation_data.action.name,
        "body": carrier.name if carrier is not None else "",
        "frames": [frames.start, frames[-1], frames.step],
        "limbs": limbs,
        "left_out": [tip.name for tip in left_out],
        "body_shift": float(np.linalg.norm(plan.shifts, axis=1).max()),
        "unreached_frames": [frames[t] for t in np.flatnonzero(~reached.all(axis=0))],
    }
    _by_action[ob.name, _last[0]["action"]] = _last[0]
    return _last[0]
