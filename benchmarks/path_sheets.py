"""Walks along curves to look at: `python -m benchmarks.path_sheets FOLDER [LEGS.npz | FILE]…  [--clips WORD…]`.

For each clip a picture, by matplotlib: on each curve a view from the top, with the path, the body's way and each stance
as it stands, and a contact sheet: its legs from the side of the body, at even times. What is drawn is the plan.
"""

import argparse
from pathlib import Path

import matplotlib
import numpy as np

import ik_addon
from ik_addon.planting.feet.anchors import Anchors, stances_of
from ik_addon.planting.feet.clip import LegMotion
from ik_addon.planting.feet.contacts import BALL, HEEL
from ik_addon.planting.feet.judging import with_plan
from ik_addon.planting.feet.path import unit

from .figures import BLUE, DARK, GREY, ORANGE, PALE, STYLE
from .paths import SAMPLE, Source, sources, walked

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

CURVES = (("circle, radius 2", 1.0), ("circle, radius 1", 1.0), ("square, side 3", 1.0), ("S, radius 2", 1.3))
SHOWN = 10
"""Times of a contact sheet."""


def draw(source: Source, folder: Path) -> None:
    """One clip on all curves."""
    with plt.rc_context(STYLE):
        figure, rows = plt.subplots(
            len(CURVES), 2, figsize=(20.0, 4.0 * len(CURVES)), width_ratios=(1.0, 4.0), layout="constrained"
        )
        for (top, side), (curve, stride) in zip(rows, CURVES, strict=True):
            walk, along, there, made = walked(source, curve, stride)
            clip = with_plan(there, made)
            _draw_top(top, clip, walk.sole.points, Anchors(made.locks, ()), along.path.places)
            _, headings = along.path.at(along.offset + stride * walk.way.at(np.arange(clip.frame_count))[2])
            _draw_side(side, clip, walk.sole.points, headings, made.contacts.any(axis=1))
            top.set_title(f"{curve}, stride {stride:g}")
        figure.suptitle(source.name)
        figure.savefig(folder / f"{''.join(c if c.isalnum() else '_' for c in source.name)}.png", dpi=70)
        plt.close(figure)


def _draw_top(ax: Axes, clip: LegMotion, points: np.ndarray, anchors: Anchors, path: np.ndarray) -> None:
    body = clip.hips.mean(axis=0)
    ax.plot(*path.T, color=PALE, linewidth=3.0)
    ax.plot(*body[:, :2].T, color=GREY, linewidth=1.0)
    for leg in range(clip.leg_count):
        ax.plot(*clip.ankles[leg, :, :2].T, color=(BLUE, ORANGE)[leg % 2], linewidth=0.3)
    for stance in stances_of(anchors):
        middle = (stance.first + stance.last) // 2
        feet = clip.feet[stance.leg, middle] @ points[stance.leg].T
        sole = (clip.ankles[stance.leg, middle] + feet.T)[[HEEL, BALL]]
        ax.plot(*sole[:, :2].T, color=(BLUE, ORANGE)[stance.leg % 2], linewidth=3.0, solid_capstyle="round")
    low, high = body[:, :2].min(axis=0) - clip.size, body[:, :2].max(axis=0) + clip.size
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")


def _draw_side(ax: Axes, clip: LegMotion, points: np.ndarray, headings: np.ndarray, stands: np.ndarray) -> None:
    count = min(clip.frame_count, round(1.5 * clip.fps))
    for k, frame in enumerate(np.linspace(0, count - 1, SHOWN).astype(int)):
        ahead = np.append(unit(headings[frame]), 0.0)
        body = clip.hips[:, frame].mean(axis=0)
        for leg in range(clip.leg_count):
            sole = clip.ankles[leg, frame] + (clip.feet[leg, frame] @ points[leg].T).T
            joints = np.array((clip.hips[leg, frame], clip.knees[leg, frame], clip.ankles[leg, frame], *sole))
            color, width = (BLUE, ORANGE)[leg % 2], 2.0 if stands[leg, frame] else 1.0
            ax.plot(1.3 * clip.size * k + (joints - body) @ ahead, joints[:, 2], color=color, linewidth=width)
    ax.axhline(0.0, color=DARK, linewidth=0.5)
    ax.set_aspect("equal")


def main() -> None:
    """Draw the sample capture and the clips of files."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--clips", nargs="+", default=["walk", "run", "gallop"], metavar="WORD", help="of clips' names")
    options = parser.parse_args()
    ik_addon.register()
    options.folder.mkdir(parents=True, exist_ok=True)
    for source in sources([SAMPLE, *options.files], ["walk capture", *options.clips]):
        draw(source, options.folder)


if __name__ == "__main__":
    main()
