"""What a live frame costs: `python -m benchmarks.live [--json] [--rounds N] [--rows PATTERN]`.

The same scene with nothing that follows (the floor), with Blender's IK constraint and with ours; our handlers are on
for ours alone. Each round builds the scene anew and goes through the frames with `frame_set` twice: playback loops, so
the first time is not counted and what is learnt there may be kept. Rows that drag move one foot of a scene that stands
still, step by step, and evaluate it; likewise twice. A round's time is the mean over its frames or steps; times are
medians over alternating rounds, ratios medians of the quotients within a round, and they are what counts. Errors are
the largest distances of a tip from its target in leg lengths, at some of the frames, after the timing.
"""

from dataclasses import dataclass, field
from math import cos, sin
from statistics import median
from time import perf_counter

import bpy

from .legs import build, error, worst_error
from .rounds import ratio, run, turns

CONTENDERS = ("BARE", "BLENDER", "OURS")
STEPS = 100
"""How often a dragged foot moves."""
SECONDS = 0.1
"""What a contender's turn lasts at least: short scenes are played several times."""


@dataclass(frozen=True)
class Row:
    """A line of the table. scene: options of `build`; dragged: one foot is moved, and no frame changes."""

    name: str
    scene: dict[str, object]
    frames: range = field(default=range(1, 251), kw_only=True)
    dragged: bool = field(default=False, kw_only=True)

    def seconds(self, contender: str, errors: dict[str, float]) -> float:
        """Seconds that one frame or step takes; the error that was left goes to `errors`."""
        ob = build(contender=contender, **self.scene)
        play = _drag if self.dragged else _play
        play(self.frames)
        count, start = 0, perf_counter()
        while (passed := perf_counter() - start) < SECONDS:
            count += play(self.frames)
        left = error(ob) if self.dragged else worst_error(ob, self.frames)
        errors[contender] = max(errors.get(contender, 0.0), left)
        return passed / count

    def measured(self, rounds: int) -> dict[str, object]:
        """The line."""
        errors: dict[str, float] = {}
        contenders = {name: lambda name=name: self.seconds(name, errors) for name in CONTENDERS}
        seconds = turns(contenders, rounds)
        return {
            "scene": self.name,
            "ours / Blender IK": ratio(seconds["OURS"], seconds["BLENDER"]),
            "ours / bare": ratio(seconds["OURS"], seconds["BARE"]),
            "bare µs": 1e6 * median(seconds["BARE"]),
            "Blender IK µs": 1e6 * median(seconds["BLENDER"]),
            "ours µs": 1e6 * median(seconds["OURS"]),
            "Blender IK error": errors["BLENDER"],
            "our error": errors["OURS"],
        }


def _play(frames: range) -> int:
    scene = bpy.context.scene
    for frame in frames:
        scene.frame_set(frame)
    return len(frames)


def _drag(_frames: range) -> int:
    foot, layer = bpy.data.objects["foot.0"], bpy.context.view_layer
    for step in range(STEPS):
        foot.location = (0.1 * sin(0.3 * step), 0.3 * cos(0.2 * step), 0.4 + 0.1 * sin(0.1 * step))
        layer.update()
    return STEPS


def _rows() -> list[Row]:
    some, few = range(1, 126), range(1, 51)
    others, skin = {"legs": 4, "others": 2000}, {"legs": 4, "skin_vertices": 200_000}
    rows = []
    for root in ("static", "animated"):
        moving = {"animated_root": root == "animated"}
        rows += [
            Row(f"1 leg, {root} root", {"legs": 1, **moving}),
            Row(f"4 legs, {root} root", {"legs": 4, **moving}),
            Row(f"40 legs, {root} root", {"legs": 40, **moving}, frames=some),
            Row(f"4 legs, 2000 other objects, {root} root", {**others, **moving}, frames=few),
            Row(f"4 legs split for twist, {root} root", {"legs": 4, "split": True, **moving}, frames=some),
            Row(f"4 legs, 200k-vertex skin, {root} root", {**skin, **moving}, frames=few),
        ]
    for bones, frames in ((2, some), (5, some), (20, some), (100, few)):
        rows.append(Row(f"4 chains of {bones} bones", {"legs": 4, "bones": bones, "poles": False}, frames=frames))
    rows.append(Row("dragging 1 of 40 legs", {"legs": 40}, dragged=True))
    rows.append(Row("dragging 1 of 40 legs, 2000 other objects", {"legs": 40, "others": 2000}, dragged=True))
    return rows


if __name__ == "__main__":
    run(__doc__, _rows())
