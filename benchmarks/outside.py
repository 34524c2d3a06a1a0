"""What others' yardsticks, players and validators say: `python -m benchmarks.outside FOLDER [--captures CMU_LEGS.npz]`.

Prints the tables of docs/yardsticks.md. The folder has characters in files; without `--clips` their walks and runs are
looked at. The captures are those of `benchmarks.train_contacts`: legs as arrays.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import bpy
import numpy as np

import ik_addon
from ik_addon import api, command_line
from ik_addon.bake.formats import open_file, write_file
from ik_addon.command_line.console import noise_apart
from ik_addon.planting.feet.clip import LegMotion
from ik_addon.planting.feet.contacts import HeelAndBall, sole_of
from ik_addon.planting.feet.measures import measured
from ik_addon.planting.feet.yardsticks import HUMAN_LEG, YARDSTICKS, yardsticks_of
from ik_addon.rig.blender.clips import clip_name, clips_of
from ik_addon.solvers import ChainError

from .rivals import RIVALS, naive_contacts, plant_feet
from .train_contacts import clips_of as captures_of
from .train_contacts import labels_of

_SPOILED = ((1.1, 1), (0.9, 2))
"""Proportions of legs, and the seed of a root that wanders by 7 % of a leg."""
_COLUMNS = (*YARDSTICKS, "knee speed, times", "moved, cm", "ms of 1000 frames")


@dataclass(frozen=True)
class Case:
    """A clip of legs, what truly stands in it, and its sole."""

    clip: LegMotion
    truth: np.ndarray
    sole: HeelAndBall


def cases(file: Path, spoiled: bool) -> Iterator[Case]:
    """The captures of a file as they are, or with legs of other proportions and a root that wanders."""
    from tests.planting import clips

    for _, clip in captures_of(str(file)):
        truth = labels_of(clip)
        for each in [clips.degraded(clip, *spoil) for spoil in _SPOILED] if spoiled else [clip]:
            yield Case(each, truth, sole_of(each))


def of_rival(name: str, among: Sequence[Case], given: bool) -> list[float]:
    """The means of yardsticks over captures. given: contacts are given; else each has its own.

    The contacts in which speeds are measured are always the true ones.
    """
    rows = []
    for case in among:
        contacts = case.truth if given else None if RIVALS[name] is plant_feet else naive_contacts(case.clip, case.sole)
        began = process_time()
        made = RIVALS[name](case.clip, case.sole, contacts)  # pyright: ignore[reportArgumentType]
        seconds = process_time() - began
        figures = yardsticks_of(made, case.sole, case.truth)
        knees = [max(leg["knee_speed"] for leg in measured(clip, case.sole, case.truth)) for clip in (case.clip, made)]
        moved = np.linalg.norm(made.ankles - case.clip.ankles, axis=2).mean() / case.clip.size * HUMAN_LEG * 100.0
        rows.append((*figures.values(), knees[1] / knees[0], moved, 1e6 * seconds / case.clip.frame_count))
    return np.mean(np.array(rows, float), axis=0).tolist()


def table(columns: Iterable[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table as Markdown, row by row."""
    print(f"\n| {' | '.join(('', *columns))} |\n|{' --- |' * (1 + len(list(columns)))}")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |", flush=True)


def shown(values: Iterable[float]) -> list[str]:
    """Numbers with three digits."""
    return [f"{value:.3g}" for value in values]


def rivals_of(file: Path) -> None:
    """Print what each does to captures, clean and spoiled, with contacts of its own and with given ones."""
    for spoiled in (False, True):
        among = list(cases(file, spoiled))
        frames = sum(case.clip.frame_count for case in among)
        for given in (False, True):
            kind = ("spoiled" if spoiled else "clean", "given contacts" if given else "own contacts")
            print(f"\n{len(among)} captures, {frames} frames, {', '.join(kind)}")
            table(_COLUMNS, ([name, *shown(of_rival(name, among, given))] for name in RIVALS))


def characters_of(folder: Path, words: Sequence[str]) -> Iterator[list[str]]:
    """For each character of a folder the means over its clips before and after *Plant Feet*, as Blender shows them."""
    for file in sorted(folder.iterdir()):
        if file.suffix not in (".glb", ".gltf", ".fbx", ".bvh"):
            continue
        for ob in armatures_in(file):
            names = [clip_name(clip, clips_of(ob)) for clip in clips_of(ob)]
            chosen = [name for name in names if any(word in name.lower() for word in words)]
            try:
                api.plant(ob, clips=chosen or "CURRENT")
                # What was made of a clip has another name, and knows what it was made from.
                made = [name for name in (clip_name(clip, clips_of(ob)) for clip in clips_of(ob)) if name not in names]
                checked = api.check(ob, clips=made or "CURRENT", metrics=True)
            except ChainError as error:
                yield [file.name, "", *[""] * len(YARDSTICKS), str(error)]
                continue
            metrics = [each for entry in checked["files"] for each in entry.get("metrics", ()) if each["before"]]
            if metrics:
                yield [file.name, str(len(metrics)), *before_and_after(metrics), ""]


def armatures_in(file: Path) -> list[bpy.types.Object]:
    """The armature objects of a file that is opened."""
    with noise_apart(is_quiet=True):
        open_file(file)
    return [ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE" and ob.animation_data]


def before_and_after(metrics: Sequence[dict]) -> list[str]:
    """The mean of each yardstick over clips."""
    found = []
    for name in YARDSTICKS:
        pairs = [(each["before"][name], each["after"][name]) for each in metrics if each["after"][name] is not None]
        found.append(" → ".join(shown(np.mean(pairs, axis=0))) if pairs else "")
    return found


def played_by_others(folder: Path) -> Iterator[list[str]]:
    """For each character the farthest that a joint of its planted clips is from where Blender shows it, by players, and
    what the Khronos validator says of it that it does not say of Blender's own round trip. Nothing without Node."""
    from tests.consumers import node, test_played

    with TemporaryDirectory() as place:
        at = node.installed(Path(place))
        for file in sorted(folder.glob("*.glb")):
            output, back = at / f"planted {file.name}", at / f"back {file.name}"
            with noise_apart(is_quiet=True):
                open_file(file)
                write_file(back, False, range(1, 2))
                # The file that it has written is still open afterward.
                with redirect_stdout(StringIO()):
                    status = command_line.run(["plant", str(file), "--output", str(output), "--anyway"])
            if status or not output.exists():
                yield [file.name, "", "", "", "", "nothing is planted"]
                continue
            played = [node.asked(at, each, output, output=at / "played.json") for each in test_played.PLAYERS.values()]
            said = node.asked(at, "validate.mjs", output, back, output=at / "said.json")
            new, old = ({code for _, code in said[str(path)]["messages"]} for path in (output, back))
            yield [
                file.name,
                str(len(played[0])),
                *(farthest_off(own) for own in played),
                f"{output.stat().st_size / back.stat().st_size:.2f}",
                ", ".join(sorted(new - old)) or "none",
            ]


def farthest_off(played: dict) -> str:
    """How far joints are off in what was played, leg lengths; or which one is off between frames, where it stands."""
    from tests.consumers import test_played

    try:
        return f"{test_played.compare(played, test_played.armature()):.0e}"
    except AssertionError as error:
        return str(error).splitlines()[0]


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path, help="of characters")
    parser.add_argument("--captures", type=Path, metavar="CMU_LEGS.npz")
    parser.add_argument("--clips", nargs="+", default=["walk", "run", "jog"], metavar="WORD", help="of clips' names")
    parser.add_argument("--players", action="store_true", help="also play and validate what is written, under Node")
    options = parser.parse_args()
    began = process_time()
    if options.captures:
        rivals_of(options.captures)
    ik_addon.register()
    print(f"\nBlender {bpy.app.version_string}, clips named {', '.join(options.clips)}")
    table(("clips", *YARDSTICKS, "refused"), characters_of(options.folder, options.clips))
    if options.players:
        titles = ("clips", "three.js, off at most", "Babylon", "size, times Blender's round trip", "new messages")
        table(titles, played_by_others(options.folder))
    print(f"\n{process_time() - began:.0f} s of processor time")


if __name__ == "__main__":
    main()
