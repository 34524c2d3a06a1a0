"""What a live frame costs: `python -m benchmarks.live [--json] [--rounds N]`.

The same legs with nothing that follows (the floor), with Blender's IK constraint and with ours; frames go by with
`frame_set`. Times are medians over alternating rounds, the ratio is what counts; errors are in leg lengths.
"""

import os
import sys
from time import perf_counter

import bpy

import ik_addon

from .legs import FRAMES, build, worst_error
from .rounds import medians, options, show

CONTENDERS = ("BARE", "BLENDER", "OURS")


def frame_seconds(legs: int, contender: str, animated_root: bool) -> float:
    """Seconds that one frame takes, over all frames once."""
    build(legs, contender, animated_root)
    scene = bpy.context.scene
    start = perf_counter()
    for frame in FRAMES:
        scene.frame_set(frame)
    return (perf_counter() - start) / len(FRAMES)


def row(legs: int, animated_root: bool, rounds: int) -> dict[str, object]:
    """One line of the table."""
    seconds = medians(
        {
            contender: lambda contender=contender: frame_seconds(legs, contender, animated_root)
            for contender in CONTENDERS
        },
        rounds,
    )
    errors = {
        contender: worst_error(build(legs, contender, animated_root), FRAMES[::10]) for contender in ("BLENDER", "OURS")
    }
    return {
        "legs": legs,
        "root": "animated" if animated_root else "static",
        "ours / Blender IK": seconds["OURS"] / seconds["BLENDER"],
        "ours / bare": seconds["OURS"] / seconds["BARE"],
        "bare µs": 1e6 * seconds["BARE"],
        "Blender IK µs": 1e6 * seconds["BLENDER"],
        "ours µs": 1e6 * seconds["OURS"],
        "Blender IK error": errors["BLENDER"],
        "our error": errors["OURS"],
    }


def main() -> None:
    """Print the table."""
    chosen = options(__doc__)
    ik_addon.register()
    rows = [row(legs, animated, chosen.rounds) for animated in (False, True) for legs in (1, 4, 40)]
    show(rows, chosen.json)
    ik_addon.unregister()
    sys.stdout.flush()
    # Older Blenders crash or hang at Python's ordinary exit.
    os._exit(0)


if __name__ == "__main__":
    main()
