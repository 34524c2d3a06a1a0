"""What the add-on adds to each start of Blender, beside that of Blender as a module.

    uv run python -m benchmarks.start [processes]

Processor time of the main thread, in processes of their own, the lowest quarter. The first process compiles the files
and does not count.
"""

import os
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

CHECKOUT = Path(__file__).parents[1]
MEASURED = """
import time
start = time.thread_time()
import bpy
started = time.thread_time()
import ik_addon
ik_addon.register()
print(started - start, time.thread_time() - started)
ik_addon.unregister()
"""


def seconds(compiled: str) -> list[float]:
    """Seconds of processor time of one start: of Blender, and of the add-on. compiled: where compiled files are."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command, environment["PYTHONPYCACHEPREFIX"] = [sys.executable, "-c", MEASURED], compiled
    run = subprocess.run(command, cwd=CHECKOUT, env=environment, check=True, capture_output=True, text=True)
    return [float(word) for word in run.stdout.split()[-2:]]


def main(processes: int = 12) -> None:
    """Print milliseconds of both, and how they compare."""
    with TemporaryDirectory() as compiled:
        times = [seconds(compiled) for _ in range(processes + 1)][1:]
    blender, own = (statistics.quantiles(each, n=4)[0] for each in zip(*times, strict=True))
    print(f"Blender {blender * 1e3:.0f} ms, Analytic IK {own * 1e3:.0f} ms, ratio {own / blender:.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
