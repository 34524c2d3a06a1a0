"""The picture of what live frames and bakes cost: `python -m benchmarks.speed_plot LIVE.json BAKE.json`.

The two files are what `benchmarks.live --json` and `benchmarks.bake --json` print; needs matplotlib.
"""

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from .figures import BLUE, DARK, GREY, ORANGE, PICTURES, STYLE

LIVE, BAKE = "Analytic IK / Blender's IK", "nla.bake / Analytic IK"


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


def draw(live: Mapping, bake: Mapping, output: Path) -> None:
    """Both benchmarks, one above the other."""
    heights = [len(live["rows"]), len(bake["rows"])]
    figure, (upper, lower) = plt.subplots(
        2, 1, figsize=(9.0, 1.6 + 0.26 * sum(heights)), layout="constrained", height_ratios=heights
    )
    values = [row[LIVE] for row in live["rows"]]
    bars(upper, [row["scene"] for row in live["rows"]], values, [value <= 1.0 for value in values], 0.0)
    upper.set_xlim(0.0, 1.1 * max(1.1, *values))
    upper.set_title("A live frame: time, ours / Blender's IK constraint (shorter is better)")

    values = [row[BAKE] for row in bake["rows"]]
    names = [f"{row['scene']}, {row['frames']} frames" for row in bake["rows"]]
    lower.set_xscale("log")
    bars(lower, names, values, [value >= 1.0 for value in values], 1.0)
    lower.set_xlim(0.7 * min(1.0, *values), 1.4 * max(1.0, *values))
    lower.xaxis.set_major_formatter("{x:g}")
    lower.set_title("A bake: time, nla.bake / ours (longer is better)")
    figure.savefig(output, metadata={"Date": None} if output.suffix == ".svg" else None, dpi=120)
    plt.close(figure)


def main() -> None:
    """Draw it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("live", type=Path, metavar="LIVE.json")
    parser.add_argument("bake", type=Path, metavar="BAKE.json")
    parser.add_argument("--output", type=Path, default=PICTURES / "speed.svg", metavar="FILE", help="picture to write")
    chosen = parser.parse_args()
    live, bake = (json.loads(path.read_text(encoding="utf-8")) for path in (chosen.live, chosen.bake))
    with plt.rc_context(STYLE):
        draw(live, bake, chosen.output)
    # Older Blenders crash or hang at Python's ordinary exit.
    os._exit(0)


if __name__ == "__main__":
    main()
