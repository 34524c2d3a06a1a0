"""A crowd on random curves, through the command line: see `benchmarks.show --walkers N`.

Each walker is a file: the sample capture with a curve of its own. They are planted along these in batches, one process
for each, and what the reports say of all of them is gathered.
"""

import json
import random
from math import cos, sin
from pathlib import Path
from tempfile import TemporaryDirectory

import bpy
import numpy as np

from .processes import CHECKOUT, taken

BATCH = 50
CORNERS, TURN, FAR = 5, 1.2, (0.7, 1.4)
"""A curve has so many points, turns by up to so many radians at each, and these are so many meters apart."""


def crowd(count: int) -> str:
    """What planting so many walkers takes and gives."""
    with TemporaryDirectory() as place:
        files = _made(Path(place), count)
        found = [_planted(files[first : first + BATCH]) for first in range(0, count, BATCH)]
    seconds, entries = sum(each[0] for each in found), [entry for each in found for entry in each[1]]
    walked = [entry for entry in entries if entry.get("feet")]
    feet = [foot for entry in walked for foot in entry["feet"]]
    slides, pops = [foot["after"]["slide"] for foot in feet], sum(foot["after"]["knee_pops"] for foot in feet)
    return (
        f"{len(walked)} of {count} walkers planted in batches of {BATCH}, {seconds / count:.2f} s each; "
        f"feet slide {max(slides):.1e} of a leg at most; knees pop {pops} times"
    )


def _planted(files: list[Path]) -> tuple[float, list[dict]]:
    """The processor time of a batch of files, and what is reported of them."""
    folder = files[0].parent
    report, planted = folder / "report.json", folder / "planted"
    given = ("--path", "Way", "--output-dir", planted, "--report", report)
    _, seconds = taken("plant", *files, *given, may_fail=True)
    for file in planted.iterdir():
        file.unlink()
    return seconds, json.loads(report.read_text())["files"]


def _made(folder: Path, count: int) -> list[Path]:
    """A file for each walker."""
    bpy.ops.wm.open_mainfile(filepath=str(CHECKOUT / "sample_scenes" / "biped_capture.blend"))
    curve = bpy.data.curves.new("Way", "CURVE")
    curve.dimensions = "3D"
    spline = curve.splines.new("BEZIER")
    spline.bezier_points.add(CORNERS - 1)
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Way", curve))
    drawn, files = random.Random(1), []
    for number in range(count):
        place, heading = np.zeros(3), drawn.uniform(-3.0, 3.0)
        for knot in spline.bezier_points:
            knot.co = place
            knot.handle_left_type = knot.handle_right_type = "AUTO"
            place = place + drawn.uniform(*FAR) * np.array((cos(heading), sin(heading), 0.0))
            heading += drawn.uniform(-TURN, TURN)
        files.append(folder / f"{number}.blend")
        bpy.ops.wm.save_as_mainfile(filepath=str(files[-1]), copy=True)
    return files
