"""The command in a process of its own, and what is in a folder."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from ..planting import clips

CHECKOUT = Path(__file__).parents[2]

COMMAND = (sys.executable, "-c", "import sys; from ik_addon.__main__ import main; sys.exit(main())")

# Blender as a module sets it for this process, and another Blender says on stdout that it found it.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "OCIO"} | {"PYTHONPATH": str(CHECKOUT)}


def ran(*arguments: object, cwd: Path, status: int = 0) -> subprocess.CompletedProcess:
    """What the command says in a process of its own; its clean end and its exit status are part of every test."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == status, f"{done.stdout}\n{done.stderr}"
    return done


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


LEG, SECONDS = 0.85, 3.0


def sliding(clip):
    """The clip with a body, and feet with it, that goes a little less far than its steps."""
    way = np.zeros((clip.frame_count, 3))
    way[:, 0] = -0.12 * LEG * np.arange(clip.frame_count) / clip.fps
    return clips.placed(clip, way)
