"""What a whole show takes: `python -m benchmarks.show [--shots N] [--clips N] [--life HOURS] [--json]`,
or of a crowd on random curves: `python -m benchmarks.show --walkers 1000`.

What one file costs is measured first, on this machine: one process with one file and with many of them, of shots that
are baked and of captures that are planted. A synthetic show is then simulated from that: its files in chunks, one
command for each, on 1 to 1000 workers that share a scheduler and a storage. A scheduler hands out one chunk after the
other, a storage reads and writes one file after the other; workers die now and then, and the file that they were at is
done again by another one. What is measured and what is assumed stands in the tables.
"""

import argparse
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from heapq import heappop, heappush
from math import ceil, inf
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

from .processes import CHECKOUT, taken
from .walkers import crowd

SAMPLES = CHECKOUT / "sample_scenes"
WORKERS = (1, 10, 30, 100, 300, 1000)
CHUNKS = (1, 3, 10, 30, 100, 300, 1000)
MANY = 16
"""Files of a process with many, of which the cost of one more is read off."""
SHOT = ("bake", "--frames", "1-1000")
SPREAD = 1.0
"""How much files differ: the standard deviation of the logarithm of what one takes, a factor of 2.7."""
STARTED = 60.0
"""Seconds after which an engine gives what a lost worker had to another one."""


@dataclass(frozen=True)
class Costs:
    """What one file costs. start: of a process; work: of a file in a process that has begun; seconds. size: read and
    written, bytes."""

    start: float
    work: float
    size: float


HEAVY = Costs(4.0, 20.0, 200e6)
"""A shot with a dense set, which takes its time to be opened and saved: assumed, not measured."""


@dataclass(frozen=True)
class Farm:
    """What a show runs on. dispatch: seconds in which the scheduler hands out a chunk. bandwidth: of the storage,
    bytes a second. life: hours after which a worker dies, on average."""

    workers: int
    chunk: int
    dispatch: float = 0.05
    bandwidth: float = 300e6
    life: float = 500.0


@dataclass
class Outcome:
    """How a show went. hours: from start to end. busy, storage, scheduler: part of that in which they worked. lost:
    part of all work that was done in vain. deaths: of workers."""

    hours: float
    busy: float
    storage: float
    scheduler: float
    lost: float
    deaths: int

    @property
    def bottleneck(self) -> str:
        """What is busy most."""
        parts = {"workers": self.busy, "storage": self.storage, "scheduler": self.scheduler}
        return max(parts, key=parts.__getitem__)


def simulated(files: int, costs: Costs, farm: Farm, seed: int = 1) -> Outcome:
    """A show of so many files."""
    random_of = random.Random(seed)
    drawn = [random_of.lognormvariate(0.0, SPREAD) for _ in range(files)]
    scale = costs.work * files / sum(drawn)
    chunks = iter([range(first, min(first + farm.chunk, files)) for first in range(0, files, farm.chunk)])
    transfer = 0.5 * costs.size / farm.bandwidth
    life = 3600.0 * farm.life
    # By time: when a worker has done its step, its number, and the steps that it has left.
    events: list[tuple[float, int]] = [(0.0, worker) for worker in range(farm.workers)]
    steps: dict[int, Iterator[tuple[str, float]]] = {}
    dies = [random_of.expovariate(1.0 / life) for _ in range(farm.workers)]
    free = {"storage": 0.0, "scheduler": 0.0}
    used = {"storage": 0.0, "scheduler": 0.0, "work": 0.0, "lost": 0.0}
    end, deaths = 0.0, 0

    def of_chunk(chunk: range) -> Iterator[tuple[str, float]]:
        yield "scheduler", farm.dispatch
        yield "start", costs.start
        for file in chunk:
            yield "storage", transfer
            yield "work", scale * drawn[file]
            yield "storage", transfer

    while events:
        now, worker = heappop(events)
        step = next(steps.get(worker, iter(())), None)
        if step is None:
            chunk = next(chunks, None)
            if chunk is None:
                end = max(end, now)
                continue
            steps[worker] = of_chunk(chunk)
            step = next(steps[worker])
        kind, seconds = step
        begin = max(now, free[kind]) if kind in free else now
        if kind in free:
            free[kind] = begin + seconds
            used[kind] += seconds
        else:
            used["work"] += seconds
        if kind == "work" and begin + seconds > dies[worker]:
            deaths += 1
            wasted = max(0.0, dies[worker] - begin)
            again = max(begin, dies[worker]) + STARTED + costs.start
            used["lost"] += wasted + STARTED + costs.start
            begin, dies[worker] = again, again + random_of.expovariate(1.0 / life)
        heappush(events, (begin + seconds, worker))
    busy = (used["work"] + used["lost"]) / (end * farm.workers)
    lost = used["lost"] / (used["work"] + used["lost"])
    return Outcome(end / 3600.0, busy, used["storage"] / end, used["scheduler"] / end, lost, deaths)


def measured(command: Sequence[str], sample: Path) -> Costs:
    """What a command costs for one file, in a process of its own and in one that goes on: processor time, as a worker
    with one core takes."""
    seconds = {}
    with TemporaryDirectory() as folder:
        place = Path(folder)
        names = [place / f"{k}{sample.suffix}" for k in range(MANY)]
        for name in names:
            copyfile(sample, name)
        for count in (1, MANY):
            best = inf
            for _ in range(3):
                best = min(best, taken(*command, *names[:count], "--output-dir", place / "out")[1])
            seconds[count] = best
        sizes = sample.stat().st_size + (place / "out" / names[0].name).stat().st_size
    work = (seconds[MANY] - seconds[1]) / (MANY - 1)
    return Costs(seconds[1] - work, work, sizes)


def _capture(folder: Path) -> Path:
    """The sample's capture as a file of its own, as motion libraries hold them."""
    path = folder / "capture.bvh"
    script = (
        "import bpy, sys; bpy.ops.wm.open_mainfile(filepath=sys.argv[1]);"
        "import ik_addon; ik_addon.register();"
        "from ik_addon.bake.formats import write_file; from pathlib import Path;"
        "bpy.context.view_layer.objects.active = next(o for o in bpy.data.objects if o.type == 'ARMATURE');"
        "write_file(Path(sys.argv[2]), False, range(1, 121)); import os; os._exit(0)"
    )
    given = [sys.executable, "-c", script, str(SAMPLES / "biped_capture.blend"), str(path)]
    subprocess.run(given, check=True, cwd=CHECKOUT, stdout=subprocess.DEVNULL)
    return path


def _table(titles: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in lines)


def _row(farm: Farm, found: Outcome) -> list[str]:
    parts = (found.busy, found.storage, found.scheduler, found.lost)
    given = (farm.workers, farm.chunk, farm.dispatch, farm.bandwidth / 1e6, farm.life)
    return [*(f"{each:g}" for each in given), f"{found.hours:.2g}", *(f"{part:.0%}" for part in parts)]


def main() -> None:
    """Measure, simulate, and print the tables of docs/scale.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shots", type=int, default=10_000, help="shots that are baked (default 10000)")
    parser.add_argument("--clips", type=int, default=100_000, help="captures that are planted (default 100000)")
    parser.add_argument("--life", type=float, default=Farm(1, 1).life, help="hours of a worker (default 500)")
    parser.add_argument("--json", action="store_true", help="print what was measured and simulated as JSON")
    parser.add_argument("--walkers", type=int, help="plant a crowd of so many on random curves, and nothing else")
    options = parser.parse_args()
    if options.walkers:
        print(crowd(options.walkers), flush=True)
        return
    with TemporaryDirectory() as folder:
        costs = {
            f"{options.shots} shots": (
                options.shots,
                measured(SHOT, SAMPLES / "biped_walk.blend"),
            ),
            f"{options.clips} clips": (options.clips, measured(["plant"], _capture(Path(folder)))),
        }
        costs[f"{options.shots} heavy shots, assumed"] = (options.shots, HEAVY)
    farms = ("workers", "files a chunk", "dispatch, s", "storage, MB/s", "worker's life, h")
    titles = (*farms, "hours", "workers busy", "storage busy", "scheduler busy", "work lost")
    found = []
    for name, (files, each) in costs.items():
        # A chunk that takes a minute: what starting costs is then small, and what a death costs too.
        chunk = ceil(60.0 / each.work)
        spread = [replace(Farm(workers, chunk), life=options.life) for workers in WORKERS]
        sizes = [replace(Farm(100, size), life=options.life) for size in CHUNKS]
        slow = [Farm(100, chunk, life=options.life), Farm(100, 1, dispatch=1.0), Farm(100, chunk, life=1.0)]
        slow += [Farm(1000, chunk, bandwidth=30e6)]
        found += [(name, each, farm, simulated(files, each, farm)) for farm in (*spread, *sizes, *slow)]
    if options.json:
        print(
            json.dumps([(name, asdict(each), asdict(farm), asdict(out)) for name, each, farm, out in found], indent=1)
        )
        return
    for name, (_, each) in costs.items():
        print(f"\n{name}: start {each.start:.2f} s, {each.work:.2f} s and {each.size / 1e6:.2f} MB a file")
        print(f"{os.cpu_count()} cores here\n")
        print(
            _table(
                (*titles, "bottleneck"),
                [[*_row(farm, out), out.bottleneck] for own, _, farm, out in found if own == name],
            )
        )


if __name__ == "__main__":
    main()
