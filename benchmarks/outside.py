"""What others' yardsticks, players and validators say: `python -m benchmarks.outside FOLDER [--write]`.

Prints the tables of docs/yardsticks.md; --write puts them there. In the folder and below it are characters in files, of
which without `--clips` walks and runs are looked at, and captures as those of `benchmarks.train_contacts`: legs as
arrays (.npz). With `--only` words other files are left alone, and --write leaves their rows as they are.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import bpy
import numpy as np
import pytest

import ik_addon
from ik_addon import api, command_line
from ik_addon.bake.formats import contents, open_file, write_file
from ik_addon.command_line.console import noise_apart
from ik_addon.planting.feet.clip import LegMotion
from ik_addon.planting.feet.contacts import HeelAndBall, sole_of
from ik_addon.planting.feet.measures import measured
from ik_addon.planting.feet.yardsticks import HUMAN_LEG, yardsticks_of
from ik_addon.rig.blender.clips import clip_name, clips_of
from ik_addon.solvers import ChainError

from . import pages
from .rivals import RIVALS, naive_contacts, plant_feet
from .train_contacts import clips_of as captures_of
from .train_contacts import labels_of

_SPOILED = ((1.1, 1), (0.9, 2))
"""Proportions of legs, and the seed of a root that wanders by 7 % of a leg."""
_OF_CAPTURES = {
    "kimodo_skate_ratio": "Kimodo ratio",
    "kimodo_contact_speed": "speed in contacts, m/s",
    "gmd_skating_ratio": "GMD ratio",
    "edge_pfc": "EDGE PFC",
    "jitter": "jitter, m/s³",
}
"""The yardsticks that are shown of captures, and what they are called. Some climb: heights say little."""
_OF_CHARACTERS = {**_OF_CAPTURES, "penetration": "penetration, mm"}
_KNEES = "knee speed, times"
_COLUMNS = (*_OF_CAPTURES.values(), _KNEES, "moved, cm", "ms of 1000 frames")
_OF_PLAYERS = (
    *("", "clips", "three.js, off at most", "Babylon", "Blender alone, three.js"),
    *("axes at rest, off", "size, times", "new messages"),
)
TABLES = ("captures", "characters", "players")
_SAMPLE = Path(__file__).parents[1] / "sample_scenes" / "biped_capture.blend"


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
        rows.append(
            (
                *(figures[name] for name in _OF_CAPTURES),
                knees[1] / knees[0],
                moved,
                1e6 * seconds / case.clip.frame_count,
            )
        )
    return np.mean(np.array(rows, float), axis=0).tolist()


def shown(values: Iterable[float]) -> list[str]:
    """Numbers with three digits."""
    return [f"{value:.3g}" if value < 1000.0 else f"{value:.0f}" for value in values]


def rivals_of(file: Path) -> Iterator[tuple[str, Iterator[list[str]]]]:
    """What each does to captures, clean and spoiled, with contacts of its own and with given ones: (name, rows)."""
    for spoiled in (True, False):
        among = list(cases(file, spoiled))
        frames = sum(case.clip.frame_count for case in among)
        for given in (True, False):
            kind = f"{'spoiled' if spoiled else 'clean'}, {'given' if given else 'own'} contacts"
            print(f"\n{len(among)} captures, {frames} frames, {kind}\n")
            figures = {name: of_rival(name, among, given) for name in RIVALS}
            yield kind, with_the_best_in_bold(figures)


def with_the_best_in_bold(figures: Mapping[str, Sequence[float]]) -> Iterator[list[str]]:
    """Rows of figures. The smallest is best, but for the knees, which had best be as fast as they were. The first row
    is the capture, and does not compete."""
    first, *others = figures
    ideal = np.array([float(column == _KNEES) for column in _COLUMNS])
    off = np.abs(np.array([figures[name] for name in others]) - ideal)
    yield [first, *shown(figures[first])]
    for name, row in zip(others, off == off.min(axis=0), strict=True):
        cells = zip(shown(figures[name]), row, strict=True)
        yield [name, *(f"**{cell}**" if best else cell for cell, best in cells)]


def characters_of(files: Iterable[Path], words: Sequence[str]) -> Iterator[list[str]]:
    """For each character the means over its clips before and after *Plant Feet*, as Blender shows them."""
    for file in files:
        for ob in armatures_in(file):
            names = [clip_name(clip, clips_of(ob)) for clip in clips_of(ob)]
            chosen = [name for name in names if any(word in name.lower() for word in words)]
            try:
                api.plant(ob, clips=chosen or "CURRENT")
                # What was made of a clip has another name, and knows what it was made from.
                made = [name for name in (clip_name(clip, clips_of(ob)) for clip in clips_of(ob)) if name not in names]
                checked = api.check(ob, clips=made or "CURRENT", metrics=True)
            except ChainError as error:
                why = str(error).partition(": ")[2].partition(". ")[0]
                yield [file.stem, f"left alone: {why}", *[""] * len(_OF_CHARACTERS)]
                continue
            metrics = [each for entry in checked["files"] for each in entry.get("metrics", ()) if each["before"]]
            if metrics:
                yield [file.stem, str(len(metrics)), *before_and_after(metrics)]


@contextmanager
def silence() -> Iterator[None]:
    """Inside nothing is printed."""
    with redirect_stdout(StringIO()), noise_apart(is_quiet=True):
        yield


def armatures_in(file: Path) -> list[bpy.types.Object]:
    """The armature objects of a file that is opened."""
    with silence():
        open_file(file)
    return [ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE" and ob.animation_data]


def before_and_after(metrics: Sequence[dict]) -> list[str]:
    """The mean of each yardstick over clips."""
    found = []
    for name in _OF_CHARACTERS:
        pairs = [(each["before"][name], each["after"][name]) for each in metrics if each["after"][name] is not None]
        found.append(" → ".join(shown(np.mean(pairs, axis=0))) if pairs else "")
    return found


def played_by_others(files: Iterable[Path]) -> Iterator[list[str]]:
    """For each character the farthest that a joint of its planted clips is from where Blender shows it, by players, and
    of Blender's own round trip by the first one; how far the axes of its bones are from right angles at rest, which no
    rotation in a file can hold; its size; and what the Khronos validator says of it that it does not say of that round
    trip. SystemExit without Node."""
    from tests.consumers import node, test_played

    with TemporaryDirectory() as place:
        try:
            at = node.installed(Path(place))
        except pytest.skip.Exception as missing:
            raise SystemExit(str(missing)) from missing
        for file in files:
            output, back = at / f"planted {file.stem}.glb", at / f"back {file.stem}.glb"
            with silence():
                open_file(file)
                write_file(back, False, range(1, 2))
                without = farthest_off(node.asked(at, test_played.PLAYERS["three.js"], back, output=at / "played.json"))
                # The file that it has written is still open afterward.
                status = command_line.run(["plant", str(file), "--output", str(output), "--anyway", "--quiet"])
            if status or not output.exists() or not contents(output).get("skins"):
                # Joints are what meshes are bound to.
                why = "it failed" if status else "no mesh" if output.exists() else "nothing moves"
                yield [file.stem, why, *[""] * 6]
                continue
            played = [node.asked(at, each, output, output=at / "played.json") for each in test_played.PLAYERS.values()]
            said = node.asked(at, "validate.mjs", output, back, output=at / "said.json")
            new, old = ({code for _, code in said[str(path)]["messages"]} for path in (output, back))
            yield [
                file.stem,
                str(len(played[0])),
                *(farthest_off(own) for own in played),
                without,
                f"{test_played.sheared(test_played.armature()):.0e}",
                f"{output.stat().st_size / back.stat().st_size:.2f}",
                ", ".join(sorted(new - old)) or "none",
            ]


def farthest_off(played: dict) -> str:
    """How far joints are off in what was played, leg lengths; or which one is off between frames, where it stands.
    Clips of cameras and the like are left out."""
    from tests.consumers import test_played

    ob = test_played.armature()
    clips = clips_of(ob)
    own = {test_played.short(clip_name(clip, clips)) for clip in clips}
    try:
        shown = {name: clip for name, clip in played.items() if test_played.short(name) in own}
        return f"{test_played.compare(shown, ob):.0e}" if shown else "no clip"
    except AssertionError as error:
        return " ".join(str(error).split())[:60]


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path, help="of characters and captures")
    parser.add_argument("--clips", nargs="+", default=["walk", "run", "jog"], metavar="WORD", help="of clips' names")
    parser.add_argument("--only", nargs="+", default=[""], metavar="WORD", help="of files' names; all without it")
    parser.add_argument("--tables", nargs="+", default=TABLES, choices=TABLES, help="all without it")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/yardsticks.md")
    options = parser.parse_args()
    files = [file for file in sorted(options.folder.rglob("*")) if any(word in file.name for word in options.only)]
    page = pages.Page("yardsticks.md", options.write, is_part=options.only != [""])
    began = process_time()
    if "captures" in options.tables:
        for file in (file for file in files if file.suffix == ".npz"):
            for name, made in rivals_of(file):
                page.keep(name, ("", *_COLUMNS), made)
    ik_addon.register()
    print(f"\nBlender {bpy.app.version_string}, clips named {', '.join(options.clips)}\n")
    if "characters" in options.tables:
        moving = (file for file in files if file.suffix in (".glb", ".gltf", ".fbx", ".bvh"))
        page.keep("characters", ("", "clips", *_OF_CHARACTERS.values()), characters_of(moving, options.clips))
    if "players" in options.tables:
        own = [_SAMPLE] if any(word in _SAMPLE.name for word in options.only) else []
        meshes = (file for file in (*own, *files) if file.suffix in (".blend", ".glb", ".fbx"))
        page.keep("players", _OF_PLAYERS, played_by_others(meshes))
    print(f"\n{process_time() - began:.0f} s of processor time")


if __name__ == "__main__":
    main()
