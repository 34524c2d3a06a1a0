"""What all clips of a character cost: `python -m benchmarks.clips [--rounds N] [--rows PATTERN] [--cpu] [--write]`.

A walking capture of 25 bones (captures.py) as so many actions of 250 frames, its two legs rigged in all of them. All
clips are baked at once (*Clips: All*), and in another scene one after the other, each assigned and baked by itself; of
these bakes the times are added. Every round builds both scenes anew. Times are medians over alternating rounds, ratios
medians of the quotients within a round.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import bpy

from ik_addon.authoring.rigging import rig_legs
from ik_addon.bake import bake, chains_of
from ik_addon.bake.clips import bake_clips
from ik_addon.rig.blender.clips import clips_of, play
from ik_addon.rig.live import handlers as live

from . import captures
from .rounds import clock, ratio, run, turns

FRAMES = range(1, 251)


@dataclass(frozen=True)
class Row:
    """A line of the table: so many clips, with controls that are bones or Empties, baked as an `action` says."""

    clips: int
    as_bones: bool
    action: str = "COPY"

    @property
    def name(self) -> str:
        """What it is called."""
        controls = "control bones" if self.as_bones else "Empties"
        return f"{self.clips} clips, {controls}, {self.action.lower()}"

    def all_at_once(self) -> float:
        """Seconds that *Clips: All* takes."""
        ob = self._built()
        start = clock()
        bake_clips(bpy.context, chains_of([ob]), self.action, "KEEP")
        return clock() - start

    def one_by_one(self) -> float:
        """Seconds that the bakes take by themselves, added."""
        ob, seconds = self._built(), 0.0
        for clip in clips_of(ob):
            play(ob, clip)
            bpy.context.scene.frame_set(FRAMES[0])
            start = clock()
            bake(bpy.context, chains_of([ob]), FRAMES, self.action, "KEEP")
            seconds += clock() - start
        return seconds

    def measured(self, rounds: int) -> dict[str, object]:
        """The line."""
        seconds = turns({"ALL": self.all_at_once, "ONE": self.one_by_one}, rounds)
        return {
            "clips": self.name,
            "all at once / one by one": ratio(seconds["ALL"], seconds["ONE"]),
            "all at once, ms a clip": 1e3 * median(seconds["ALL"]) / self.clips,
            "one by one, ms a clip": 1e3 * median(seconds["ONE"]) / self.clips,
        }

    def _built(self) -> bpy.types.Object:
        live.unregister()
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        scene = bpy.context.scene
        scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
        ob = captures.walker(scene, FRAMES)
        own = ob.animation_data.action
        own.use_fake_user = True
        for _ in range(1, self.clips):
            own.copy().use_fake_user = True
        live.register()
        scene.frame_set(FRAMES[0])
        rig_legs(bpy.context, ob, as_bones=self.as_bones)
        return ob


def _rows() -> Sequence[Row]:
    return [
        *(Row(20, as_bones, action) for as_bones in (False, True) for action in ("COPY", "CURRENT")),
        *(Row(count, False) for count in (1, 5, 100)),
    ]


if __name__ == "__main__":
    run(__doc__, _rows(), "clips")
