"""What a bake costs: `python -m benchmarks.bake [--rounds N] [--rows PATTERN] [--cpu] [--write]`.

Blender's IK constraint baked by `nla.bake` (visual keying, rotations of the legs' bones) beside our chains baked by
`analytic_ik.bake`, over the same frames of the same scene; and that scene's frames with nothing that follows, by
`frame_set`. Where it is said, also the frames of a second scene with the armature, its targets and what they depend on
alone. Every round builds the scene anew. Times are medians over alternating rounds, ratios medians of the quotients
within a round; errors are those of the replayed keys, in leg lengths.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from types import ModuleType

import bpy

from . import captures, legs
from .rounds import clock, ratio, run, turns


@dataclass(frozen=True)
class Row:
    """A line of the table. scene: options of `build`; of: the module of that; second_scene: measure that, too."""

    name: str
    scene: dict[str, object]
    of: ModuleType = field(default=legs, kw_only=True)
    frames: range = field(default=range(1, 251), kw_only=True)
    second_scene: bool = field(default=False, kw_only=True)

    def baked(self, contender: str, found: dict[str, float]) -> float:
        """Seconds that a bake takes; the error that was left, and how many bones were baked, go to `found`."""
        ob = self.of.build(contender=contender, frames=self.frames, **self.scene)
        names = self.of.baked_bones(ob)
        stretched = {"SCALE"} if self.scene.get("kind") == "STRETCH" else set()
        if contender == "BLENDER":
            _select(ob, names)
        start = clock()
        if contender == "BLENDER":
            bpy.ops.nla.bake(
                frame_start=self.frames[0],
                frame_end=self.frames[-1],
                only_selected=True,
                visual_keying=True,
                clear_constraints=True,
                # Into the action that the other bones' keys are in: a new one would not move them.
                use_current_action=True,
                bake_types={"POSE"},
                channel_types={"ROTATION", *stretched},
            )
        else:
            bpy.ops.analytic_ik.bake(frame_start=self.frames[0], frame_end=self.frames[-1])
        seconds = clock() - start
        found[contender] = max(found.get(contender, 0.0), self.of.worst_error(ob, self.frames))
        found["bones"] = len(names)
        return seconds

    def stepped(self, second: bool = False) -> float:
        """Seconds that the frames take where nothing follows; second: in a scene of what the legs need alone."""
        self.of.build(contender="BARE", frames=self.frames, **self.scene)
        scene = bpy.context.scene
        if second:
            whole, scene = scene, bpy.data.scenes.new("Legs")
            for ob in whole.objects:
                if ob.type == "ARMATURE" or ob.name.startswith(("foot", "knee", "guide")):
                    scene.collection.objects.link(ob)
            scene.frame_set(self.frames[0])
        start = clock()
        for frame in self.frames:
            scene.frame_set(frame)
        return clock() - start

    def measured(self, rounds: int) -> dict[str, object]:
        """The line."""
        found: dict[str, float] = {}
        contenders = {
            "BARE": self.stepped,
            "BLENDER": lambda: self.baked("BLENDER", found),
            "OURS": lambda: self.baked("OURS", found),
        }
        if self.second_scene:
            contenders["SECOND"] = lambda: self.stepped(second=True)
        seconds = turns(contenders, rounds)
        return {
            "scene": self.name,
            "frames": len(self.frames),
            "nla.bake / Analytic IK": ratio(seconds["BLENDER"], seconds["OURS"]),
            "Analytic IK / frame_set": ratio(seconds["OURS"], seconds["BARE"]),
            "Analytic IK / second scene": ratio(seconds["OURS"], seconds["SECOND"]) if self.second_scene else None,
            "nla.bake ms": 1e3 * median(seconds["BLENDER"]),
            "frame_set ms": 1e3 * median(seconds["BARE"]),
            "Analytic IK ms": 1e3 * median(seconds["OURS"]),
            "µs a bone and frame": 1e6 * median(seconds["OURS"]) / (found["bones"] * len(self.frames)),
            "error, nla.bake": found["BLENDER"],
            "error, Analytic IK": found["OURS"],
        }


def _select(ob: bpy.types.Object, names: Sequence[str]) -> None:
    bpy.ops.object.mode_set(mode="POSE")
    for bone in ob.pose.bones:
        chosen = bone.name in names
        if hasattr(bone, "select"):
            bone.select = chosen
        else:
            bone.bone.select = chosen


def _rows() -> list[Row]:
    skin = {"legs": 4, "skin_vertices": 200_000}
    return [
        *(Row("1 leg" if legs == 1 else f"{legs} legs", {"legs": legs}) for legs in (1, 4, 10, 20, 40)),
        *(Row("4 legs", {"legs": 4}, frames=range(1, count + 1)) for count in (125, 500, 1000)),
        *(Row(f"4 chains of {bones} bones", {"legs": 4, "bones": bones, "poles": False}) for bones in (2, 5, 20, 100)),
        Row("4 legs, 2000 other objects", {"legs": 4, "others": 2000}, frames=range(1, 1001)),
        Row("4 legs, 200k-vertex skin, animated root", {**skin, "animated_root": True}, frames=range(1, 501)),
        Row(
            "4 legs, 200k-vertex skin, constrained targets",
            {**skin, "constrained": True, "animated_root": True},
            frames=range(1, 501),
            second_scene=True,
        ),
        *(
            Row(f"capture{covered}: {captures.KINDS[kind]}", {"kind": kind, "skin_vertices": vertices}, of=captures)
            for vertices, covered in ((0, ""), (50_000, ", 50k-vertex skin"))
            for kind in ("FOLLOW", "ROLL", "STRETCH", "INFLUENCE")
        ),
    ]


if __name__ == "__main__":
    run(__doc__, _rows(), "bake", keys=2)
