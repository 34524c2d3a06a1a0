"""The command in a process of its own, and what it takes: as its users have it, with its sources compiled."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

CHECKOUT = Path(__file__).parents[1]
_COMPILED = TemporaryDirectory()
"""Where Python keeps what it has compiled. Where it may keep nothing, each process would compile Blender's scripts."""


def taken(*arguments: object, may_fail: bool = False) -> tuple[float, float]:
    """Seconds that a command takes, and the processor time of its process and of those that it starts.

    may_fail: its report tells what it did not do.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before, begin = os.times(), perf_counter()
    subprocess.run(
        [sys.executable, "-m", "ik_addon", *map(str, arguments)],
        check=not may_fail,
        cwd=CHECKOUT,
        env=environment | {"PYTHONPYCACHEPREFIX": _COMPILED.name},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    seconds, after = perf_counter() - begin, os.times()
    return seconds, sum(after[2:4]) - sum(before[2:4])
