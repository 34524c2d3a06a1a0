"""Pictures of planted clips to judge by eye: `python -m benchmarks.contact_sheets FILE… --clips NAME… --output FOLDER`.

A sheet for each clip: the bones that move skin at ten frames, from the side that its feet show, as captured and planted
with the defaults, the captured ones in gray behind. Below are how far ahead heels and balls are over the frames and how
high, in leg lengths, captured thin and planted thick, with a bar for each of their contacts. Needs matplotlib.
"""

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import bpy
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

import ik_addon
from ik_addon.authoring.rigging import rig_legs
from ik_addon.bake.stepping import finish
from ik_addon.planting import Options, last_report
from ik_addon.planting.scene.checking import FeetSeen, feet_seen
from ik_addon.planting.scene.plant import Ground, planted_and_kept
from ik_addon.planting.scene.reading import leg_tips
from ik_addon.rig.blender.clips import clip_name, clips_of, motion_frames, play
from ik_addon.rig.model.limb import chain_bones, posed_joints
from ik_addon.solvers import ChainError

from .character.files import armature_of, importers
from .figures import BLUE, DARK, GREEN, GREY, ORANGE, RED, STYLE

_POSES, _AROUND = 10, 1.0
"""How many, and leg lengths to either side of the hips that are drawn."""
_COLORS = (BLUE, RED, GREEN, ORANGE)
"""Of legs, in their order."""


def _poses_over(ob: bpy.types.Object, frames: range) -> list[np.ndarray]:
    """Over frames the ways from the heads of bones to those of their children (T, bones, 2, 3), and of each leg the
    joints (T, joints, 3), in the world."""
    names, chains = _drawn(ob), [[bone.name for bone in chain_bones(tip)] for tip in leg_tips(ob)]
    body, legs = [], [[] for _ in chains]
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        bones, world = shown.pose.bones, shown.matrix_world
        body.append([[world @ bones[name].parent.head, world @ bones[name].head] for name in names])
        for own, chain in zip(legs, chains, strict=True):
            own.append([world @ point for point in posed_joints([bones[name] for name in chain])])
    return [np.array(each, float) for each in (body, *legs)]


def _drawn(ob: bpy.types.Object) -> list[str]:
    """The bones that are drawn from their parents on: those that move skin, but for legs."""
    skinned = {group.name for other in bpy.data.objects for group in other.vertex_groups} or {*ob.pose.bones.keys()}
    skinned -= {bone.name for tip in leg_tips(ob) for bone in chain_bones(tip)[1:]}
    return [bone.name for bone in ob.pose.bones if bone.name in skinned and bone.parent is not None]


@dataclass(frozen=True)
class Sheet:
    """A clip before and after. poses: of both, see `_poses_over`. body: how far it was moved, leg lengths."""

    name: str
    frames: range
    poses: tuple[list[np.ndarray], list[np.ndarray]]
    seen: FeetSeen
    body: float

    def drawn(self, path: Path) -> None:
        """Draw it to a file."""
        figure, axes = plt.subplots(3, 1, figsize=(16.0, 11.0), layout="constrained", height_ratios=(3, 1, 1))
        self._poses(axes[0])
        self._curves(*axes[1:])
        figure.savefig(path, dpi=90)
        plt.close(figure)

    def _poses(self, ax: Axes) -> None:
        size, ahead, floor = self.seen.clip.size, self._ahead, self.seen.sole.level / self.seen.clip.size
        # Where the ground passes below a clip in place, its feet are measured from there.
        hips, moved = (np.mean([legs[:, 0] for legs in poses[1:]], axis=0) / size for poses in self.poses)
        width, height = 2.0 * _AROUND, hips[:, 2].max() - floor + 1.2 * _AROUND
        rows = np.linspace(0, len(self.frames) - 1, min(_POSES, len(self.frames))).round().astype(int)
        for (line, (body, *legs)), (column, row) in product(enumerate(self.poses), enumerate(rows)):
            there = np.array((column * width - hips[row, :2] @ ahead, -line * height - floor))

            def draw(
                points: np.ndarray, color: str, thick: float, there: np.ndarray = there, column: int = column
            ) -> None:
                flat = np.stack((points[..., :2] @ ahead, points[..., 2]), axis=-1) / size + there
                if np.abs(flat[:, 0] - column * width).max() < _AROUND:
                    ax.plot(*flat.T, color=color, linewidth=thick)

            ax.plot((column + np.array((-0.5, 0.5))) * width, [-line * height] * 2, color=GREY, linewidth=0.7)
            for own in self.poses[0][1:] if line else ():
                draw(own[row], GREY, 1.5)
            for ends in body[row]:
                draw(ends, "#777777", 0.8)
            clip = self.seen.clip if line or self.seen.before is None else self.seen.before
            away = (moved if line else hips)[row] * size - clip.hips[:, row].mean(axis=0)
            ankles, soles = clip.ankles[:, row] + away, self.seen.sole.places(clip.ankles, clip.feet)[:, :, row] + away
            for leg, own in enumerate(legs):
                draw(own[row], _COLORS[leg % len(_COLORS)], 2.2)
                draw(np.array((ankles[leg], *soles[leg], ankles[leg])), DARK, 1.0)
            if not line:
                ax.annotate(str(self.frames[row]), (column * width, height - 0.15), ha="center", fontsize=8)
        ax.set_title(f"{self.name}: above as captured, below planted; body moves by {self.body:.3f} of a leg")
        ax.set_aspect("equal")
        ax.axis("off")

    @property
    def _ahead(self) -> np.ndarray:
        """(2,), where the feet point."""
        clip = self.seen.clip
        ahead = (clip.balls - clip.ankles)[..., :2].mean(axis=(0, 1))
        length = np.linalg.norm(ahead)
        return ahead / length if length > 1e-2 * clip.size else np.array((0.0, -1.0))

    def _curves(self, ways: Axes, heights: Axes) -> None:
        clip, sole, frames = self.seen.clip, self.seen.sole, np.array(self.frames)
        for each, width in ((self.seen.before, 0.8), (clip, 1.8)):
            if each is None:
                continue
            places = sole.places(each.ankles, each.feet) / clip.size
            for leg, point in np.ndindex(places.shape[:2]):
                look = {"color": _COLORS[leg % len(_COLORS)], "linestyle": "-" if point else ":", "linewidth": width}
                ways.plot(frames, places[leg, point, :, :2] @ self._ahead, **look)
                heights.plot(frames, places[leg, point, :, 2] - sole.level / clip.size, **look)
        for leg, point in np.ndindex(self.seen.contacts.shape[:2]):
            at, rows = -0.05 * (1 + 2 * leg + point), np.flatnonzero(self.seen.contacts[leg, point])
            look = {"color": _COLORS[leg % len(_COLORS)], "markersize": 3 + 2 * point}
            heights.plot(frames[rows], np.full(len(rows), at), "s", **look)
        ways.set_ylabel("ahead")
        heights.set_ylabel("height")
        heights.set_xlabel("frame; balls -, heels dotted; squares: contacts, heels small")


def _sheets(source: Path, names: Sequence[str]) -> Iterator[Sheet]:
    """Those of the named clips of a file; what is left alone is told."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    ob = armature_of(str(source), next(iter(importers(str(source)))))
    if not leg_tips(ob):
        rig_legs(bpy.context, ob)
    clips = clips_of(ob)
    for clip in clips:
        name = clip_name(clip, clips).rpartition("|")[2]
        if name not in names:
            continue
        play(ob, clip)
        frames, tips = motion_frames(ob), leg_tips(ob)
        before = _captured(ob, tips, frames)
        try:
            finish(planted_and_kept(bpy.context, tips, frames, Options(), Ground()))
        except ChainError as error:
            print(f"{name}: {error}")
            continue
        seen = finish(feet_seen(bpy.context, ob, frames))
        body = last_report()["body_shift"] / seen.clip.size
        yield Sheet(f"{source.stem} {name}", frames, (before, _poses_over(ob, frames)), seen, body)


def _captured(ob: bpy.types.Object, tips: Sequence[bpy.types.PoseBone], frames: range) -> list[np.ndarray]:
    """Poses without chains, see `_poses_over`."""
    influences = [tip.analytic_ik_influence for tip in tips]
    for tip in tips:
        tip.analytic_ik_influence = 0.0
    found = _poses_over(ob, frames)
    for tip, influence in zip(tips, influences, strict=True):
        tip.analytic_ik_influence = influence
    return found


def main() -> None:
    """Draw them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--clips", nargs="+", required=True, metavar="NAME")
    parser.add_argument("--output", type=Path, default=Path("contact_sheets"))
    chosen = parser.parse_args()
    chosen.output.mkdir(parents=True, exist_ok=True)
    ik_addon.register()
    with plt.rc_context(STYLE):
        for file in chosen.files:
            for sheet in _sheets(file, chosen.clips):
                sheet.drawn(chosen.output / f"{sheet.name.replace(' ', '_')}.png")
                print(sheet.name, flush=True)
    # Older Blenders crash or hang at Python's ordinary exit.
    os._exit(0)


if __name__ == "__main__":
    main()
