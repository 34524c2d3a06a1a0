"""What a bake costs: `python -m benchmarks.bake [--json] [--rounds N]`.

Blender's IK constraint baked by `nla.bake` (visual keying, rotations of the legs' bones) beside our chains baked by
`analytic_ik.bake`. Times are medians over alternating rounds; errors are those of the replayed keys, in leg lengths.
"""

import os
import sys
from time import perf_counter

import bpy

import ik_addon

from .legs import FRAMES, build, worst_error
from .rounds import medians, options, show


def baked_by_blender(legs: int) -> float:
    """Seconds that nla.bake takes."""
    ob = build(legs, "BLENDER")
    bpy.ops.object.mode_set(mode="POSE")
    for bone in ob.pose.bones:
        chosen = bone.name != "root"
        if hasattr(bone, "select"):
            bone.select = chosen
        else:
            bone.bone.select = chosen
    start = perf_counter()
    bpy.ops.nla.bake(
        frame_start=FRAMES[0],
        frame_end=FRAMES[-1],
        only_selected=True,
        visual_keying=True,
        clear_constraints=True,
        bake_types={"POSE"},
        channel_types={"ROTATION"},
    )
    return perf_counter() - start


def baked_by_us(legs: int) -> float:
    """Seconds that our bake takes."""
    build(legs, "OURS")
    start = perf_counter()
    bpy.ops.analytic_ik.bake(frame_start=FRAMES[0], frame_end=FRAMES[-1])
    return perf_counter() - start


def row(legs: int, rounds: int) -> dict[str, object]:
    """One line of the table."""
    seconds = medians(
        {"BLENDER": lambda: baked_by_blender(legs), "OURS": lambda: baked_by_us(legs)},
        rounds,
    )
    errors = {}
    for contender, baked in (("BLENDER", baked_by_blender), ("OURS", baked_by_us)):
        baked(legs)
        errors[contender] = worst_error(bpy.data.objects["Legs"], FRAMES[::10])
    return {
        "legs": legs,
        "frames": len(FRAMES),
        "nla.bake / ours": seconds["BLENDER"] / seconds["OURS"],
        "nla.bake ms": 1e3 * seconds["BLENDER"],
        "ours ms": 1e3 * seconds["OURS"],
        "nla.bake error": errors["BLENDER"],
        "our error": errors["OURS"],
    }


def main() -> None:
    """Print the table."""
    chosen = options(__doc__)
    ik_addon.register()
    show([row(legs, chosen.rounds) for legs in (1, 4, 40)], chosen.json)
    ik_addon.unregister()
    sys.stdout.flush()
    # Older Blenders crash or hang at Python's ordinary exit.
    os._exit(0)


if __name__ == "__main__":
    main()
