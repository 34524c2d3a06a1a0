"""Work over frames beside a bare step: `python -m benchmarks.over_frames [--rounds N] [--rows PATTERN] [--write]`.

A walking capture of 25 bones (captures.py), in one long clip or in several. Stepped through with `frame_set` it is the
floor; then its legs are rigged with all that the clips do, the feet are checked, and planted. Every round builds the
scene anew. Times are medians over the rounds; ratios medians of the quotients within a round.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import bpy

from ik_addon.authoring.rigging import rig_legs
from ik_addon.bake.clips import over_clips
from ik_addon.bake.stepping import finish
from ik_addon.planting.scene.checking import feet_checked
from ik_addon.rig.blender.clips import clips_of
from ik_addon.rig.live import handlers as live

from . import captures
from .rounds import clock, ratio, run


def _seconds(work: Callable[[], object]) -> float:
    start = clock()
    work()
    return clock() - start


@dataclass(frozen=True)
class Row:
    """A line of the table: so many clips of so many frames."""

    clips: int
    frames: int

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.clips} clips of {self.frames} frames" if self.clips > 1 else f"{self.frames} frames"

    def measured(self, rounds: int) -> dict[str, object]:
        """The line."""
        found: dict[str, list[float]] = {}
        for _ in range(rounds):
            for name, seconds in self._round().items():
                found.setdefault(name, []).append(seconds)
        bare = found.pop("bare")
        line: dict[str, object] = {"frames": self.name, "bare step, ms a frame": 1e3 * median(bare) / self._all}
        for name, seconds in found.items():
            line |= {f"{name} / bare": ratio(seconds, bare), f"{name}, s": median(seconds)}
        return line

    @property
    def _all(self) -> int:
        return self.clips * self.frames

    def _round(self) -> dict[str, float]:
        live.unregister()
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        scene, frames = bpy.context.scene, range(1, self.frames + 1)
        scene.frame_start, scene.frame_end = frames[0], frames[-1]
        ob = captures.walker(scene, frames)
        for _ in range(1, self.clips):
            ob.animation_data.action.copy().use_fake_user = True
        live.register()

        def step() -> None:
            for _ in range(self.clips):
                for frame in frames:
                    scene.frame_set(frame)

        step()
        return {
            "bare": _seconds(step),
            "Rig Legs": _seconds(lambda: rig_legs(bpy.context, ob)),
            "check": _seconds(
                lambda: finish(over_clips(ob, clips_of(ob), lambda own: feet_checked(bpy.context, ob, own)))
            ),
            "Plant Feet": _seconds(lambda: bpy.ops.analytic_ik.plant_feet(clips="ALL", anyway=True)),
        }


def _rows() -> Sequence[Row]:
    return [Row(1, 250), Row(1, 1000), Row(22, 45)]


if __name__ == "__main__":
    run(__doc__, _rows(), "over frames")
