"""What files cost: `python -m benchmarks.files [--rounds N] [--rows PATTERN] [--cpu] [--write]`.

The command `plant` over so many clips of a walking capture of 25 bones (captures.py), written by Blender's own
exporters beforehand: each in a file of its own, or all in one. Seconds are those of the command in this process; the
share of Blender is what its importers and exporters take of them. Every round runs all of it anew; figures are medians.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import bpy

from ik_addon.bake import formats
from ik_addon.command_line import run as command
from ik_addon.rig.live import handlers as live

from . import captures
from .rounds import clock, run


@dataclass(frozen=True)
class Row:
    """A line of the table: so many clips of so many frames, in files of a suffix; together: in one file."""

    clips: int
    suffix: str
    together: bool
    frames: int = 64

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.clips} clips in {'one' if self.together else 'as many'} {self.suffix}"

    def measured(self, rounds: int) -> dict[str, object]:
        """The line."""
        whole, blender = [], []
        with TemporaryDirectory() as folder:
            files = [*self._written(Path(folder))]
            for number in range(rounds):
                output = Path(folder) / f"out{number}"
                with _timed() as spent, redirect_stdout(sys.stderr):
                    start = clock()
                    failed = command(["plant", *map(str, files), "--output-dir", str(output)])
                    whole.append(clock() - start)
                blender.append(sum(spent))
                if failed or len([*output.iterdir()]) != len(files):
                    raise RuntimeError(f"{self.name}: the command failed")
        return {
            "files": self.name,
            "frames of a clip": self.frames,
            "seconds": median(whole),
            "ms a clip": 1e3 * median(whole) / self.clips,
            "Blender's import and export": median(own / each for own, each in zip(blender, whole, strict=True)),
        }

    def _written(self, folder: Path) -> Iterator[Path]:
        """The files."""
        live.unregister()
        frames = range(1, self.frames + 1)
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        # All formats know it, and Blender imports nothing at another.
        bpy.context.scene.render.fps = 24
        ob = captures.walker(bpy.context.scene, frames)
        own = ob.animation_data.action
        own.name, own.use_fake_user = "clip", True
        for _ in range(1, self.clips if self.together else 1):
            own.copy().use_fake_user = True
        file = folder / f"all{self.suffix}"
        formats.write_file(file, False, frames)
        live.register()
        if self.together:
            yield file
            return
        for number in range(self.clips):
            copy = folder / f"clip{number}{self.suffix}"
            copy.write_bytes(file.read_bytes())
            yield copy


@contextmanager
def _timed() -> Iterator[list[float]]:
    """Inside, the seconds of each import and export go to this list."""
    spent: list[float] = []

    def timed(work: Callable) -> Callable:
        def done(*given: object) -> object:
            start = clock()
            try:
                return work(*given)
            finally:
                spent.append(clock() - start)

        return done

    before = dict(formats._FORMATS)
    try:
        for suffix, own in before.items():
            formats._FORMATS[suffix] = formats._Format(own.addon, timed(own.read), timed(own.write))
        yield spent
    finally:
        formats._FORMATS.update(before)


def _rows() -> list[Row]:
    return [
        Row(100, ".bvh", together=False),
        Row(100, ".glb", together=False),
        Row(100, ".glb", together=True),
        Row(20, ".glb", together=True),
        Row(100, ".fbx", together=True),
    ]


if __name__ == "__main__":
    run(__doc__, _rows(), "files")
