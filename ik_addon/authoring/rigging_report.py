"""What rigging set up, as reports say it."""

import bpy

from .. import messages
from .placing import Control
from .rigging import Rigged


def rigged_entry(ob: bpy.types.Object, rigged: Rigged) -> dict:
    """What was set up on an armature object: see `rigged` in report.schema.json."""
    return {
        "armature": ob.name,
        "limbs": [
            {
                "kind": one.limb.kind,
                "side": one.limb.side,
                "bones": [*one.limb.bones],
                "target": _control(one.target),
                "pole_target": _control(one.pole),
            }
            for one in rigged.limbs
        ],
        "left_out": [{"bone": out.bone, "reason": out.reason} for out in rigged.left_out],
        "warnings": [
            messages.MOVED_BY_ROUNDING(bone=moved.bone, distance=f"{moved.distance:.3g}") for moved in rigged.moved
        ],
        "frames": [rigged.frames[0], rigged.frames[-1], rigged.frames.step] if rigged.frames else None,
        "clips": [*rigged.clips],
    }


def _control(control: Control) -> dict:
    return {"object": control.ob.name, "bone": control.bone or None}
