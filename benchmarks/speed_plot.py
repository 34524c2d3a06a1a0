"""The picture of what live frames and bakes cost: `python -m benchmarks.speed_plot`; needs matplotlib.

It draws what `benchmarks.live --write` and `benchmarks.bake --write` have put into docs/performance.md.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from . import pages
from .figures import BLUE, DARK, GREY, ORANGE, PICTURES, STYLE

LIVE, BAKE = "Analytic IK / Blender's IK", "nla.bake / Analytic IK"
SHOWN = re.compile("legs?, .*(static|animated) root|^4 chains of [0-9]+ bones$|^dragging")


def bars(ax: Axes, names: Sequence[str], values: Sequence[float], quicker: Sequence[bool], base: float) -> None:
    """Horizontal bars from `base` on, the first on top, each with its number; blue where ours is quicker."""
    places = range(len(names))
    colours = [BLUE if better else ORANGE for better in quicker]
    ax.barh(places, [value - base for value in values], left=base, color=colours, height=0.62)
    for place, value in zip(places, values, strict=True):
        right = value >= base
        ax.annotate(
            f"{value:.2g}" if value < 100.0 else f"{value:.0f}",
            (value, place), (4 if right else -4, 0), textcoords="offset points",
            ha="left" if right else "right", va="center", color=DARK, fontsize=9,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
        )  # fmt: skip
    ax.axvline(1.0, color=DARK, linewidth=1.2)
    ax.set_yticks(places, names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.grid(axis="x", color=GREY, linewidth=0.5, alpha=0.6)
    ax.set_axisbelow(True)


def draw(live: Sequence[dict[str, str]], bake: Sequence[dict[str, str]], output: Path) -> None:
    """Both benchmarks, one above the other."""
    heights = [len(live), len(bake)]
    figure, (upper, lower) = plt.subplots(
        2, 1, figsize=(9.0, 1.6 + 0.26 * sum(heights)), layout="constrained", height_ratios=heights
    )
    values = [float(row[LIVE]) for row in live]
    bars(upper, [row["scene"] for row in live], values, [value <= 1.0 for value in values], 0.0)
    upper.set_xlim(0.0, 1.1 * max(1.1, *values))
    upper.set_title("A live frame: time, Analytic IK / Blender's IK (shorter is better)")

    values = [float(row[BAKE]) for row in bake]
    names = [f"{row['scene']}, {row['frames']} frames" for row in bake]
    lower.set_xscale("log")
    bars(lower, names, values, [value >= 1.0 for value in values], 1.0)
    lower.set_xlim(0.7 * min(1.0, *values), 1.4 * max(1.0, *values))
    lower.xaxis.set_major_formatter("{x:g}")
    lower.set_title("A bake: time, nla.bake / Analytic IK (longer is better)")
    figure.savefig(output, metadata={"Date": None}, dpi=120)
    plt.close(figure)


def main() -> None:
    """Draw it."""
    live, bake = (
        [row for row in pages.rows_of("performance.md", place) if shown.search(row["scene"])]
        for place, shown in (("live", SHOWN), ("bake", re.compile("^[0-9]")))
    )
    with plt.rc_context(STYLE):
        draw(live, bake, PICTURES / "speed.svg")
    # Older Blenders crash or hang at Python's ordinary exit.
    os._exit(0)


if __name__ == "__main__":
    main()
