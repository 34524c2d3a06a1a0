"""What a redraw of the overlay costs: `blender --factory-startup --python benchmarks/overlay.py -- [--write]`.

It needs a window: it builds legs that walk, all of them shown, redraws the window and measures the overlay's Python
time in it: where nothing has changed since the last redraw (as while the view is turned),
and where every redraw is of another frame. In the same rounds it measures what solving the same legs takes: reading all
of them anew, and by the handlers of a frame change, which sample the legs' F-Curves ahead. Times are medians over
rounds of the mean over the round's frames, ratios medians of the quotients within a round. The draw calls themselves
are apart: where the graphics are computed by software they wait until all is drawn, and say nothing of Python.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from time import perf_counter
from traceback import print_exc

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import ik_addon
from benchmarks.legs import FRAMES, build
from benchmarks.pages import Page
from benchmarks.rounds import show
from ik_addon.rig.live import handlers as live
from ik_addon.rig.pose.solving import solve_scene
from ik_addon.ui.view import overlay

FRAMES_IN_A_ROUND = 15

Seconds = dict[str, list[float]]


class Clock:
    """The seconds that a function took since they were last asked for."""

    def __init__(self, function: Callable) -> None:
        self.function = function
        self.seconds = 0.0
        self.calls = 0

    def __call__(self, *arguments: object) -> object:
        start = perf_counter()
        found = self.function(*arguments)
        self.seconds += perf_counter() - start
        self.calls += 1
        return found

    def taken(self) -> float:
        """Those seconds."""
        seconds, self.seconds = self.seconds, 0.0
        return seconds


def clocked_handlers() -> list[Clock]:
    """Our handlers of a frame change, timed; as many handlers as before, for others would change how chains go."""
    clocks = []
    for name in ("frame_change_pre", "frame_change_post"):
        handlers = getattr(bpy.app.handlers, name)
        clock = Clock(getattr(live, name))
        handlers[handlers.index(clock.function)] = clock.__call__
        clocks.append(clock)
    return clocks


def redraw() -> None:
    """Draw the window at once."""
    bpy.ops.wm.redraw_timer(type="DRAW_WIN_SWAP", iterations=1)


def a_round(drawing: Clock, reading: Clock, handlers: list[Clock], seconds: Seconds) -> None:
    """Measure each once, frame by frame."""
    scene, layer = bpy.context.scene, bpy.context.view_layer
    found: Seconds = {name: [] for name in seconds}
    # Once without counting: reading anew, before, has written over what the handlers had planned.
    for frame in FRAMES[:FRAMES_IN_A_ROUND]:
        scene.frame_set(frame)
    for clock in (drawing, reading, *handlers):
        clock.taken()
    for frame in FRAMES[:FRAMES_IN_A_ROUND]:
        scene.frame_set(frame)
        found["handlers"].append(sum(clock.taken() for clock in handlers))
        redraw()
        found["another frame"].append(reading.taken())
        drawing.taken()
        redraw()
        found["nothing changed"].append(reading.taken())
        found["draw calls"].append(drawing.taken() - found["nothing changed"][-1])
    for frame in FRAMES[:FRAMES_IN_A_ROUND]:
        scene.frame_set(frame)
        start = perf_counter()
        solve_scene(layer.depsgraph, True)
        found["read anew"].append(perf_counter() - start)
    for clock in (drawing, reading, *handlers):
        clock.taken()
    for name, values in found.items():
        seconds[name].append(mean(values))


def rows(legs: int, rounds: int) -> Iterator[dict[str, object]]:
    """The lines of the table, for the legs that were built."""
    bpy.context.scene.analytic_ik_overlay = "ALL"
    drawing = Clock(overlay._draw_view)
    reading = Clock(overlay.batches_of)
    overlay._draw_view, overlay.batches_of = drawing, reading
    handlers = clocked_handlers()
    names = ("nothing changed", "another frame", "draw calls", "read anew", "handlers")
    seconds: Seconds = {name: [] for name in names}
    for _ in range(2):
        a_round(drawing, reading, handlers, {name: [] for name in seconds})
    drawn = drawing.calls
    for _ in range(rounds):
        a_round(drawing, reading, handlers, seconds)
    views = (drawing.calls - drawn) / (2 * FRAMES_IN_A_ROUND * rounds)
    if not views:
        raise RuntimeError("no 3D view was drawn: run it in a window that shows one")
    for name in ("nothing changed", "another frame"):
        yield {
            "legs": legs,
            "redraw": name,
            "µs": 1e6 * median(seconds[name]),
            "reading anew, µs": 1e6 * median(seconds["read anew"]),
            "redraw / reading anew twice": _ratio(seconds[name], seconds["read anew"]),
            "handlers, µs": 1e6 * median(seconds["handlers"]),
            "redraw / handlers twice": _ratio(seconds[name], seconds["handlers"]),
            "draw calls, µs": 1e6 * median(seconds["draw calls"]),
            "3D views": views,
        }


def _ratio(of: list[float], to: list[float]) -> float:
    return median(one / (2.0 * other) for one, other in zip(of, to, strict=True))


def main() -> None:
    """Measure once the window is up, and quit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--rounds", type=int, default=9, help="(default 9)")
    parser.add_argument("--legs", type=int, default=8, help="(default 8)")
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    parser.add_argument("--build", metavar="FILE", help="only build the legs and save them")
    chosen = parser.parse_args(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else [])

    def measure() -> None:
        status = 1
        try:
            # A timer is in no window.
            with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
                found = list(rows(chosen.legs, chosen.rounds))
            head = {"Blender": bpy.app.version_string, "rounds": chosen.rounds}
            show(found, chosen.json, head, Page("performance.md", chosen.write, is_part=True), "overlay", keys=2)
            status = 0
        except Exception:
            print_exc()
        sys.stdout.flush()
        os._exit(status)

    ik_addon.register()
    if chosen.build:
        build(chosen.legs, "OURS")
        bpy.ops.wm.save_as_mainfile(filepath=chosen.build)
        sys.stdout.flush()
        os._exit(0)
    with TemporaryDirectory() as folder:
        # By another Blender: what builds the legs starts with a file that has no window.
        path = str(Path(folder) / "legs.blend")
        command = [bpy.app.binary_path, "--background", "--factory-startup", "--python", __file__, "--"]
        subprocess.run([*command, "--legs", str(chosen.legs), "--build", path], check=True)
        bpy.ops.wm.open_mainfile(filepath=path, load_ui=False)
    bpy.app.timers.register(measure, first_interval=2.0, persistent=True)


if __name__ == "__main__":
    main()
