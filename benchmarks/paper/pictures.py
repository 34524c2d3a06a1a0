"""The figures: iterations over distance as in the paper's figure 6, poses as in its figures 2, 5 and 7."""

from itertools import accumulate, islice
from pathlib import Path

import matplotlib
import numpy as np
from mathutils import Vector

from .ccd import MAX_SWEEPS, ccd, sweeps
from .runs import Run, ours_near
from .setup import FREE, LIMITED, ROOT, TOLERANCE, PaperChain, Pose

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

STYLE = {
    "figure.facecolor": "white",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": "medium",
    "font.size": 10,
    "savefig.dpi": 130,
}
BLUE, ORANGE, RED, GREY = "#1f5f99", "#d9790b", "#c8281e", "#b4bac2"

TARGET = Vector((-12.0, 19.0, 0.0))
"""In the plane of the picture; the chains start along its X axis."""


def draw(folder: Path, *runs: Run) -> None:
    """Write both figures into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    with plt.rc_context(STYLE):
        iterations(folder / "experiment_iterations.png", *runs)
        poses(folder / "experiment_poses.png")


def iterations(path: Path, *runs: Run) -> None:
    """Sweeps of CCD over the distance from the straight chain's end to the target."""
    figure, axes = plt.subplots(1, len(runs), figsize=(10.0, 4.2), sharey=True, layout="constrained")
    for ax, run in zip(axes, runs, strict=True):
        reached = run.reached
        away, sweeps_done = run.to_hand[reached], run.passes[reached]
        ax.scatter(away, sweeps_done, s=3, color=GREY, linewidths=0, label="one target", rasterized=True)
        edges = np.arange(0.0, away.max() + 4.0, 4.0)
        bins = np.digitize(away, edges)
        filled = [k for k in range(1, len(edges)) if (bins == k).sum() >= 20]
        middles = edges[filled] - 2.0
        for share, colour, label in ((95, ORANGE, "95 % took fewer"), (50, BLUE, "median")):
            ax.plot(middles, [np.percentile(sweeps_done[bins == k], share) for k in filled], color=colour, label=label)
        ax.set_title(run.chain.name)
        ax.set_xlabel("distance from the straight chain's end to the target")
        ax.set_yscale("log")
        ax.set_yticks([1, 2, 5, 10, 20, 50, 99], labels=["1", "2", "5", "10", "20", "50", "99"], minor=False)
        ax.minorticks_off()
    axes[0].set_ylabel("iterations of CCD")
    axes[0].legend(frameon=False, loc="lower right")
    figure.savefig(path)
    plt.close(figure)


def poses(path: Path) -> None:
    """One near target: the chain where it starts, CCD's first and last sweep, and Triangulation."""
    figure, axes = plt.subplots(2, 3, figsize=(10.0, 4.9), layout="constrained")
    for row, chain in zip(axes, (FREE, LIMITED), strict=True):
        straight = Pose.straight(chain)
        (first,) = islice(sweeps(chain, straight, TARGET), 1)
        last, count = ccd(chain, straight, TARGET)
        assert count < MAX_SWEEPS
        solved, _ = ours_near(chain, straight, TARGET)
        shown = {"CCD, first sweep": first, f"CCD, sweep {count}": last, "Triangulation": solved}
        for ax, (title, pose) in zip(row, shown.items(), strict=True):
            _chain(ax, chain, straight, GREY, 1.5)
            _chain(ax, chain, pose, ORANGE if title.startswith("CCD") else BLUE, 3.0)
            ax.add_patch(plt.Circle(tuple(TARGET.xy), TOLERANCE, color=RED, zorder=3))
            ax.set_title(title)
            ax.set_aspect("equal")
            ax.set_xlim(-20.0, 42.0)
            ax.set_ylim(-11.0, 30.0)
            ax.set_xticks([])
            ax.set_yticks([])
            ax.spines[:].set_visible(False)
        row[0].set_ylabel(chain.name)
    figure.savefig(path)
    plt.close(figure)


def _chain(ax: Axes, chain: PaperChain, pose: Pose, colour: str, width: float) -> None:
    links = (along * length for along, length in zip(pose.directions, chain.lengths, strict=True))
    points = np.array([tuple(point) for point in accumulate(links, initial=ROOT)])
    ax.plot(points[:, 0], points[:, 1], "-o", color=colour, linewidth=width, markersize=width + 2.0)
