"""Shots for tests of many files, and the command as its users run it."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import bpy

from ik_addon import command_line
from ik_addon.batch.workers import worked_on

from ..every_report import check_report
from ..scenes import walking_leg

CHECKOUT = Path(__file__).parents[2]
DOUBLE = Path(__file__).parent / "double"
COMMAND = (sys.executable, "-m", "ik_addon")
PATH = os.pathsep.join((str(DOUBLE), str(CHECKOUT)))
"""Where workers find Analytic IK, and what stands for a Blender that crashes (double/sitecustomize.py)."""
OF_RUN = ("seconds", "attempts", "host", "blender")
"""What differs from run to run."""


def save_shots(folder: Path, names: list[str], frames: int = 12) -> None:
    """A leg that walks, in files of these names."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    walking_leg()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, frames
    first, *others = (folder / f"{name}.blend" for name in names)
    bpy.ops.wm.save_as_mainfile(filepath=str(first), compress=False)
    for other in others:
        other.write_bytes(first.read_bytes())


def status_of(arguments: Sequence[str]) -> int:
    """The exit status of the command, as the Python package runs it."""
    return command_line.run(arguments, workers=worked_on)


def started(*arguments: object, cwd: Path) -> subprocess.Popen:
    """The command in a process of its own."""
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": PATH},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def read(report: Path) -> list[dict]:
    """The entries of a report, which has its shape."""
    content = json.loads(report.read_text(encoding="utf-8"))
    check_report(content)
    return content["files"]


def measured(report: Path) -> list[dict]:
    """The entries of a report without what differs from run to run."""
    return [{name: value for name, value in entry.items() if name not in OF_RUN} for entry in read(report)]


def names(folder: Path) -> list[str]:
    """All that is in a folder."""
    return sorted(path.name for path in folder.iterdir())


def keys_of(file: Path) -> list[list[float]]:
    """All key points of a file."""
    bpy.ops.wm.open_mainfile(filepath=str(file))
    found = []
    for action in bpy.data.actions:
        curves = action.fcurves if hasattr(action, "fcurves") else action.layers[0].strips[0].channelbags[0].fcurves
        for curve in curves:
            points = [0.0] * (2 * len(curve.keyframe_points))
            curve.keyframe_points.foreach_get("co", points)
            found.append(points)
    return found


def wait_for(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Until it holds; fails if that takes too long."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
