"""What each setting of Plant Feet trades: `uv run --group benchmark python -m benchmarks.planting_settings`.

The sample capture is planted on its hill, with one setting low, as it is at first, and high. Prints the table of
docs/planting.md and draws its curves; needs matplotlib.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import bpy
import matplotlib
import numpy as np

import ik_addon
from ik_addon.planting import Ground, last_report, plant
from ik_addon.planting.feet.options import Options
from ik_addon.planting.scene.legs import leg_tips

from .figures import BLUE, DARK, GREY, ORANGE, PALE, STYLE
from .planting import Legs

matplotlib.use("Agg")

from matplotlib import pyplot as plt

CHECKOUT = Path(__file__).parents[1]
FRAMES = range(1, 121)
DEFAULT = Options()
TITLES = (
    "setting",
    "value",
    "steps",
    "slide after, mm",
    "body moves, cm",
    "knee speed, times",
    "foot from capture, cm",
)
ASIDE = 0.5
"""Meters by which one footprint is moved aside, to show where the body goes."""
MOVED = "Footprint 0033 foot.L"


@dataclass(frozen=True)
class Trial:
    """A row of the table. value: as it is written. aside: one footprint is moved as far from the other foot."""

    setting: str
    value: str
    options: Options = DEFAULT
    ground: str = "OBJECT"
    aside: float = 0.0


def trials() -> list[Trial]:
    """All rows."""
    found = []
    for setting, name, values in (
        ("Slide", "slide", (0.05, 0.0, 0.3)),
        ("Blend", "blend", (0.0, 0.12, 0.4)),
        ("Body", "body", (0.0, 1.0)),
        ("Extension", "softness", (0.9, 0.985, 1.0)),
        ("Clearance", "clearance", (0.0, 0.03, 0.2)),
    ):
        found += [Trial(setting, f"{value:g}", replace(DEFAULT, **{name: value})) for value in values]
    for value, name in (("Down", "DOWN"), ("Nearest", "NEAREST")):
        options = replace(DEFAULT, body_direction=name, body=0.0)
        found.append(Trial("Direction, Body 0, a step 50 cm aside", value, options, "CAPTURED", ASIDE))
    grounds = {"As Captured": "CAPTURED", "Level": "LEVEL", "Object": "OBJECT"}
    return found + [Trial("Ground", value, ground=kind) for value, kind in grounds.items()]


def rigged() -> bpy.types.Object:
    """The sample capture with rigged legs."""
    bpy.ops.wm.open_mainfile(filepath=str(CHECKOUT / "sample_scenes" / "biped_capture.blend"))
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.analytic_ik.rig_legs()
    return bpy.context.object


def planted(trial: Trial) -> bpy.types.Object:
    """The sample capture, planted."""
    ob = rigged()
    tips, hill = leg_tips(ob), bpy.data.objects["Hill"]
    ground = Ground(trial.ground, ob=hill if trial.ground == "OBJECT" else None)
    plant(bpy.context, tips, FRAMES, trial.options, ground, footprints=bool(trial.aside))
    if trial.aside:
        bpy.data.objects[MOVED].location.x += trial.aside
        bpy.context.view_layer.update()
        plant(bpy.context, tips, FRAMES, trial.options, ground, footprints=True)
    return ob


def row(trial: Trial) -> tuple[str, ...]:
    """The row of a trial, from the report of planting."""
    planted(trial)
    report = last_report()
    chains = report["chains"]
    before, after = (max(chain[when]["knee_speed"] for chain in chains) for when in ("before", "after"))
    default = trial.setting != "Ground" and not trial.aside and trial.options == DEFAULT
    return (
        trial.setting,
        f"**{trial.value}**" if default else trial.value,
        str(sum(chain["steps"] for chain in chains)),
        f"{1000.0 * max(chain['slide_after'] for chain in chains):.3f}",
        f"{100.0 * report['body_shift']:.1f}",
        f"{after / before:.2f}",
        f"{100.0 * max(chain['after']['distance'] * chain['length'] for chain in chains):.1f}",
    )


# Curves


def draw_blend() -> None:
    """How far one foot is from where it was captured, relative to the body, over a step and a half."""
    with plt.rc_context(STYLE):
        figure, ax = plt.subplots(figsize=(7.0, 2.7), layout="constrained")
        captured = Legs(rigged()).seen(FRAMES)
        for value, color in ((0.12, BLUE), (0.4, ORANGE)):
            ob = planted(Trial("", "", replace(DEFAULT, blend=value), "CAPTURED"))
            way = np.linalg.norm(Legs(ob).seen(FRAMES).ankles[0] - captured.ankles[0], axis=-1)
            ax.plot(FRAMES, 100.0 * way, color=color, linewidth=2.0, label=f"Blend {value}")
        _draw_contacts(ax)
        _finish(figure, ax, "left foot from the capture, cm", "blend")


def draw_extension() -> None:
    """The bend of one knee."""
    with plt.rc_context(STYLE):
        figure, ax = plt.subplots(figsize=(7.0, 2.7), layout="constrained")
        ax.plot(FRAMES, _bends(rigged()), color=GREY, linewidth=2.0, label="captured")
        for value, color in ((0.9, ORANGE), (0.985, BLUE), (1.0, DARK)):
            ob = planted(Trial("", "", replace(DEFAULT, softness=value)))
            ax.plot(FRAMES, _bends(ob), color=color, linewidth=1.6, label=f"Extension {value}")
        _draw_contacts(ax)
        _finish(figure, ax, "bend of the left knee, degrees", "extension")


def _bends(ob: bpy.types.Object) -> np.ndarray:
    clip = Legs(ob).seen(FRAMES)
    thigh, shin = clip.knees[0] - clip.hips[0], clip.ankles[0] - clip.knees[0]
    cosines = np.sum(thigh * shin, axis=-1) / np.linalg.norm(thigh, axis=-1) / np.linalg.norm(shin, axis=-1)
    return np.degrees(np.arccos(np.clip(cosines, -1.0, 1.0)))


def _draw_contacts(ax: plt.Axes) -> None:
    """Bands where the left foot touches the ground."""
    for lock in last_report()["chains"][0]["contacts"]:
        ax.axvspan(lock["first"], lock["last"], color=PALE, linewidth=0.0, zorder=0)


def _finish(figure: plt.Figure, ax: plt.Axes, label: str, name: str) -> None:
    ax.set_xlabel("frame; shaded: the foot touches the ground")
    ax.set_ylabel(label)
    ax.set_xlim(36, 108)
    ax.set_ylim(bottom=0.0)
    ax.legend(loc="upper right", ncols=4, bbox_to_anchor=(1.0, 1.16))
    figure.savefig(CHECKOUT / "docs" / "pictures" / f"planting_{name}.svg", metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    """Print the table, draw the curves."""
    ik_addon.register()
    print(f"| {' | '.join(TITLES)} |\n|{' --- |' * len(TITLES)}")
    last = ""
    for trial in trials():
        cells: Sequence[str] = row(trial)
        print(f"| {' | '.join(('' if cells[0] == last else cells[0], *cells[1:]))} |", flush=True)
        last = cells[0]
    draw_blend()
    draw_extension()


if __name__ == "__main__":
    main()
