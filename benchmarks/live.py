"""What a live frame costs: `python -m benchmarks.live [--rounds N] [--rows PATTERN] [--cpu] [--write]`.

The same scene with nothing that follows (the floor), with Blender's IK constraint and with ours; our handlers are on
for ours alone. Each round builds the scene anew and goes through the frames with `frame_set` twice: playback loops, so
the first time is not counted and what is learnt there may be kept. Rows that move something by hand move one foot, or
a bone, of a scene that stands still, step by step, and evaluate it; likewise twice. A round's time is the mean over its
frames or steps; times are medians over alternating rounds, ratios medians of the quotients within a round, and they are
what counts. Errors are the largest distances of a tip from its target in leg lengths, at some of the frames, after the
timing.

The rows of feet, of a capture and of a Rigify character say in `feet`, `captures` and `rigify` what Blender's contender
does there.
"""

from dataclasses import dataclass, field
from functools import partial
from math import cos, sin
from statistics import median
from types import ModuleType

import bpy

from . import captures, feet, legs, rigify
from .rounds import clock, ratio, run, turns

CONTENDERS = ("BARE", "BLENDER", "OURS")
STEPS = 100
"""How often a dragged foot moves."""
SECONDS = 0.1
"""What a contender's turn lasts at least: short scenes are played several times."""


@dataclass(frozen=True)
class Row:
    """A line of the table. scene: options of `build`; of: the module of that and of `error`.

    by_hand: what is moved step by step while no frame changes: "foot", a control, or a bone such as "root", that which
    carries the legs; "": frames change.
    """

    name: str
    scene: dict[str, object]
    of: ModuleType = field(default=legs, kw_only=True)
    frames: range = field(default=range(1, 251), kw_only=True)
    by_hand: str = field(default="", kw_only=True)

    def seconds(self, contender: str, errors: dict[str, float]) -> float:
        """Seconds that one frame or step takes; the error that was left goes to `errors`."""
        ob = self.of.build(contender=contender, **self.scene)
        play = partial(_move, ob, self.by_hand) if self.by_hand else partial(_play, self.frames)
        play()
        count, start = 0, clock()
        while (passed := clock() - start) < SECONDS:
            count += play()
        left = self.of.error(ob) if self.by_hand else self.of.worst_error(ob, self.frames)
        errors[contender] = max(errors.get(contender, 0.0), left)
        return passed / count

    def measured(self, rounds: int) -> dict[str, object]:
        """The line."""
        errors: dict[str, float] = {}
        contenders = {name: lambda name=name: self.seconds(name, errors) for name in CONTENDERS}
        seconds = turns(contenders, rounds)
        return {
            "scene": self.name,
            "Analytic IK / Blender's IK": ratio(seconds["OURS"], seconds["BLENDER"]),
            "Analytic IK / bare frame": ratio(seconds["OURS"], seconds["BARE"]),
            "bare µs": 1e6 * median(seconds["BARE"]),
            "Blender's IK µs": 1e6 * median(seconds["BLENDER"]),
            "Analytic IK µs": 1e6 * median(seconds["OURS"]),
            "error, Blender's IK": errors["BLENDER"],
            "error, Analytic IK": errors["OURS"],
        }


def _play(frames: range) -> int:
    scene = bpy.context.scene
    for frame in frames:
        scene.frame_set(frame)
    return len(frames)


def _move(ob: bpy.types.Object, what: str) -> int:
    layer = bpy.context.view_layer
    moved = bpy.data.objects["foot.0"] if what == "foot" else ob.pose.bones[what]
    for step in range(STEPS):
        if what == "foot":
            moved.location = (0.1 * sin(0.3 * step), 0.3 * cos(0.2 * step), 0.4 + 0.1 * sin(0.1 * step))
        else:
            moved.location = (0.05 * sin(0.3 * step), 0.05 * cos(0.2 * step), 0.05 * sin(0.1 * step))
        layer.update()
    return STEPS


SWITCH = ("", " with FK/IK Switch")


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
    for bones in (2, 20):
        poles = {"legs": 4, "bones": bones, "poles": bones == 2, "animated_root": bones == 2}
        for switch in (False, True):
            name = f"4 chains of {bones} bones, native{SWITCH[switch]}"
            rows.append(Row(name, {**poles, "native": True, "switch": switch}, frames=some))
    for switch in (False, True):
        name = f"4 legs with feet that roll, native{SWITCH[switch]}"
        rows.append(Row(name, {"count": 4, "native": True, "switch": switch}, of=feet, frames=some))
    rows.append(Row("dragging 1 of 40 legs", {"legs": 40}, by_hand="foot"))
    rows.append(Row("dragging 1 of 40 legs, 2000 other objects", {"legs": 40, "others": 2000}, by_hand="foot"))
    for vertices, covered in ((0, ""), (50_000, ", 50k-vertex skin")):
        for bones in (25, 400, 1000):
            scene = {"legs": 4, "spare": bones - 9, "skin_vertices": vertices}
            rows.append(Row(f"{bones} bones{covered}: frames", scene, frames=few))
            for by_hand, said in (("foot", "a control"), ("root", "the hips"), ("spare.0", "another bone")):
                rows.append(Row(f"{bones} bones{covered}: moving {said}", scene, by_hand=by_hand))
    return [*rows, *_slower_rows()]


def _slower_rows() -> list[Row]:
    """A row for each reason for which a chain may cost more than in the rows above."""
    few, rows = range(1, 51), []
    for vertices, covered in ((0, ""), (50_000, ", 50k-vertex skin")):
        for kind, said in captures.KINDS.items():
            scene = {"kind": kind, "skin_vertices": vertices}
            rows.append(Row(f"capture{covered}: {said}", scene, of=captures))
    for count in (1, 4, 40):
        name = "FK keys on the bones of 1 leg" if count == 1 else f"FK keys on the bones of {count} legs"
        rows.append(Row(name, {"legs": count, "fk_keys": True}, frames=few if count == 40 else range(1, 126)))
    rows.append(Row("4 legs, one IK limit on a thigh", {"legs": 4, "limit": True}, frames=range(1, 126)))
    for legs_below in (2, 8):
        scene = {"legs": legs_below, "body": True}
        rows.append(Row(f"{legs_below} legs, the body follows: frames", scene, frames=few))
        rows.append(Row(f"{legs_below} legs, the body follows: moving a control", scene, by_hand="foot"))
        rows.append(Row(f"{legs_below} legs, the body follows: moving the hips", scene, by_hand="root"))
    for bones in (150, 400, 1000):
        scene = {"legs": 4, "spare": bones - 9, "body_keys": True}
        rows.append(Row(f"{bones} bones, the body keyed: frames", scene, frames=few))
        rows.append(Row(f"{bones} bones, the body keyed: moving a control", scene, by_hand="foot"))
    rows.append(Row("adopted Rigify limbs: frames", {}, of=rigify, frames=rigify.FRAMES))
    rows.append(Row("adopted Rigify limbs: moving a foot", {}, of=rigify, by_hand="foot_ik.L"))
    return rows


if __name__ == "__main__":
    run(__doc__, _rows(), "live")
