"""What worker processes gain and cost: `python -m benchmarks.batch [--short N] [--long N] [--jobs N,N] [--write]`.

The same files are baked by one process and with `--jobs`. Beside the seconds that it takes there is the processor time
of all processes: one process is no single thread, for Blender has threads of its own, so two workers on two cores
cannot be twice as fast. The own work of the files is the processor time of one process without that of its start.
"""

import argparse
import os
from pathlib import Path
from shutil import copyfile
from statistics import median
from tempfile import TemporaryDirectory

from . import pages
from .processes import CHECKOUT, taken

SHORT = ("biped_walk", "biped_control_bones", "paper_arm", "spider", "tentacle")
LONG = ("spider",)
_TITLES = ("--jobs", "s", "files/s", "speed", "processor s", "of own work")
LONG_FRAMES = ("--frames", "1-20000")


def rows(files: list[Path], options: tuple[str, ...], jobs: list[int], rounds: int) -> list[list[str]]:
    """A line of the table for one process, and for each number of workers; medians over alternating rounds."""
    found: dict[int, list[tuple[float, float]]] = {count: [] for count in (0, *jobs)}
    starts = []
    with TemporaryDirectory() as folder:
        # The first one compiles.
        taken("bake", files[0], "--output-dir", folder)
        for _ in range(rounds):
            starts.append(taken("--help")[1])
            for count, times in found.items():
                workers = ("--jobs", str(count)) if count else ()
                times.append(taken("bake", *files, "--output-dir", folder, *options, *workers))
    seconds = {count: median(time[0] for time in times) for count, times in found.items()}
    processor = {count: median(time[1] for time in times) for count, times in found.items()}
    own = processor[0] - median(starts)
    return [
        [
            str(count or "one process"),
            f"{seconds[count]:.1f}",
            f"{len(files) / seconds[count]:.2f}",
            f"{seconds[0] / seconds[count]:.2f}",
            f"{processor[count]:.1f}",
            f"{processor[count] / own:.2f}",
        ]
        for count in found
    ]


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", type=int, default=200, help="short files (default 200)")
    parser.add_argument("--long", type=int, default=24, help="files of 20000 frames (default 24)")
    parser.add_argument("--jobs", default="1,2,4,8", help="numbers of workers (default 1,2,4,8)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds (default 3)")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/performance.md")
    options = parser.parse_args()
    page = pages.Page("performance.md", options.write)
    jobs = [int(count) for count in options.jobs.split(",")]
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    kinds = (("short", SHORT, options.short, ()), ("long", LONG, options.long, LONG_FRAMES))
    for name, samples, count, given in (kind for kind in kinds if kind[2]):
        with TemporaryDirectory() as folder:
            files = [Path(folder) / f"{name}_{k:04}.blend" for k in range(count)]
            for k, file in enumerate(files):
                copyfile(CHECKOUT / "sample_scenes" / f"{samples[k % len(samples)]}.blend", file)
            print(f"\n{count} {name} files\n")
            page.keep(f"{name} files", _TITLES, rows(files, given, jobs, options.rounds))


if __name__ == "__main__":
    main()
