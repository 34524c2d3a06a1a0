"""What each setting of Plant Feet trades: `uv run python -m benchmarks.planting_settings --write` writes the
table of docs/motion_figures.md; without --write it is only printed.

The sample capture is planted on its hill, with one setting low, as it is at first, and high.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import bpy

import ik_addon
from ik_addon.planting import Ground, last_report, plant
from ik_addon.planting.feet.options import Options
from ik_addon.planting.scene.reading import leg_tips

from . import pages

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


def _moved() -> bpy.types.Object:
    """The footprint of the left foot that begins next to frame 33."""
    found = [ob for ob in bpy.data.objects if ob.name.startswith("Footprint") and ob.name.endswith("foot.L")]
    return min(found, key=lambda ob: abs(int(ob.name.split()[1]) - 33))


def planted(trial: Trial) -> bpy.types.Object:
    """The sample capture, planted."""
    ob = rigged()
    tips, hill = leg_tips(ob), bpy.data.objects["Hill"]
    ground = Ground(trial.ground, ob=hill if trial.ground == "OBJECT" else None)
    plant(bpy.context, tips, FRAMES, trial.options, ground, footprints=bool(trial.aside))
    if trial.aside:
        _moved().location.x += trial.aside
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


def rows() -> Iterator[Sequence[str]]:
    """All rows, each setting named once."""
    last = ""
    for trial in trials():
        cells = row(trial)
        yield ("" if cells[0] == last else cells[0], *cells[1:])
        last = cells[0]


def main() -> None:
    """Print the table, and write it."""
    ik_addon.register()
    pages.Page("motion_figures.md", "--write" in sys.argv).put("settings", pages.table(TITLES, rows()))


if __name__ == "__main__":
    main()
