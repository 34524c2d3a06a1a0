"""What a bake costs: `python -m benchmarks.bake [--json] [--rounds N] [--rows PATTERN]`.

Blender's IK constraint baked by `nla.bake` (visual keying, rotations of the legs' bones) beside our chains baked by
`analytic_ik.bake`, over the same frames of the same scene; and that scene's frames with nothing that follows, by
`frame_set`. Where it is said, also the frames of a second scene with the armature, its targets and what they depend on
alone. Every round builds the scene anew. Times are medians over alternating rounds, ratios medians of the quotients
within a round; errors are those of the replayed keys, in leg lengths.
"""

from dataclasses import dataclass, field
from statistics import median
from time import perf_counter

import bpy

from .legs import build, worst_error
from .rounds import ratio, run, turns


@dataclass(frozen=True)
class Row:
    """A line of the table. scene: options of `build`; second_scene: measure that, too."""

    name: str
    scene: dict[str, object]
    frames: range = field(default=range(1, 251), kw_only=True)
    second_scene: bool = field(default=False, kw_only=True)

    def baked(self, contender: str, errors: dict[str, float]) -> float:
        """Seconds that a bake takes; the error that was left goes to `errors`."""
        ob = build(contender=contender, frames=self.frames, **self.scene)
        if contender == "BLENDER":
            _select_legs(ob)
        start = perf_counter()
        if contender == "BLENDER":
            bpy.ops.nla.bake(
                frame_start=self.frames[0],
                frame_end=self.frames[-1],
                only_selected=True,
                visual_keying=True,
                clear_constraints=True,
                # Into the action that the root's keys are in: a new one would not move the root.
                use_current_action=True,
                bake_types={"POSE"},
                channel_types={"ROTATION"},
            )
        else:
            bpy.ops.analytic_ik.bake(frame_start=self.frames[0], frame_end=self.frames[-1])
        seconds = perf_counter() - start
        errors[contender] = max(errors.get(contender, 0.0), worst_error(ob, self.frames))
        return seconds

    def stepped(self, second: bool = False) -> float:
        """Seconds that the frames take where nothing follows; second: in a scene of what the legs need alone."""
        build(contender="BARE", frames=self.frames, **self.scene)
        scene = bpy.context.scene
        if second:
            whole, scene = scene, bpy.data.scenes.new("Legs")
            for ob in whole.objects:
                if ob.type == "ARMATURE" or ob.name.startswith(("foot", "knee", "guide")):
                    scene.collection.objects.link(ob)
            scene.frame_set(self.frames[0])
        start = perf_counter()
        for frame in self.frames:
            scene.frame_set(frame)
        return perf_counter() - start

    def measured(self, rounds: int) -> dict[str, object]:
        """The line."""
        errors: dict[str, float] = {}
        contenders = {
            "BARE": self.stepped,
            "BLENDER": lambda: self.baked("BLENDER", errors),
            "OURS": lambda: self.baked("OURS", errors),
        }
        if self.second_scene:
            contenders["SECOND"] = lambda: self.stepped(second=True)
        seconds = turns(contenders, rounds)
        bones = self.scene["legs"] * self.scene.get("bones", 2)
        return {
            "scene": self.name,
            "frames": len(self.frames),
            "nla.bake / ours": ratio(seconds["BLENDER"], seconds["OURS"]),
            "ours / frame_set": ratio(seconds["OURS"], seconds["BARE"]),
            "ours / second scene": ratio(seconds["OURS"], seconds["SECOND"]) if self.second_scene else None,
            "nla.bake ms": 1e3 * median(seconds["BLENDER"]),
            "frame_set ms": 1e3 * median(seconds["BARE"]),
            "ours ms": 1e3 * median(seconds["OURS"]),
            "ours, µs per bone and frame": 1e6 * median(seconds["OURS"]) / (bones * len(self.frames)),
            "nla.bake error": errors["BLENDER"],
            "our error": errors["OURS"],
        }


def _select_legs(ob: bpy.types.Object) -> None:
    bpy.ops.object.mode_set(mode="POSE")
    for bone in ob.pose.bones:
        chosen = bone.name != "root"
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
    ]


if __name__ == "__main__":
    run(__doc__, _rows())
