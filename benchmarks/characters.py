"""What the add-on does with characters from anywhere: `python -m benchmarks.characters FOLDER [--arms] [--rigify]`.

Each file is tried with each of its importer's bone options, in a process of its own: import, *Rig Legs*, snap where
that is needed, controls held still, controls raised, bake, and the bake played without the add-on. All figures are
measured on the bones as Blender evaluates them; distances are in lengths of the limb, hip to ankle, joint to joint.
Files: .glb, .gltf, .fbx, .bvh, .blend, and rig definitions of MPFB (.json). `docs/characters.md` explains the columns.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import bpy
from tqdm import tqdm

from . import pages
from .character.files import GENERATED, METARIG, importers, metarigs
from .character.trial import BEGINS, RESULT, Row

CHECKOUT = Path(__file__).parents[1]
TIMEOUT = 900.0
"""Seconds that a character may take."""


@dataclass(frozen=True)
class Trial:
    """A character to try: a file or a metarig, an import option, and whether its arms are rigged too."""

    source: str
    option: str
    arms: bool

    @property
    def character(self) -> str:
        """Its name without a folder."""
        return Path(self.source).name

    @property
    def how(self) -> str:
        """How it is imported and rigged, in words."""
        return ", ".join(word for word in (self.option, "arms" if self.arms else "") if word)

    def run(self, most: int, clip: str) -> Row:
        """Its row; whatever happens to the process becomes part of it."""
        given = {"source": self.source, "option": self.option, "arms": self.arms, "most": most, "clip": clip}
        command = [sys.executable, "-m", "benchmarks.character.trial", json.dumps(given)]
        with tempfile.TemporaryDirectory() as folder:
            # The user's own settings and add-ons stay out of it.
            environment = {**os.environ, "BLENDER_USER_RESOURCES": folder}
            try:
                ran = subprocess.run(
                    command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, timeout=TIMEOUT
                )
            except subprocess.TimeoutExpired:
                return {"error": f"stopped after {TIMEOUT:.0f} s"}
        results = [line for line in ran.stdout.splitlines() if line.startswith(RESULT)]
        _, begun, stderr = ran.stderr.partition(BEGINS)
        if not results:
            last = (ran.stderr.strip().splitlines() or [""])[-1]
            return {"error": f"{'' if begun else 'while importing: '}{last or f'exit status {ran.returncode}'}"}
        row = json.loads(results[-1].removeprefix(RESULT))
        row["stderr"] = stderr.strip()
        if ran.returncode:
            row["stderr"] = f"exit status {ran.returncode}; {row['stderr']}"
        return row


@dataclass(frozen=True)
class Column:
    """A figure of the table. bounds: the least and the largest that is promised."""

    title: str
    key: str
    shown: Callable[[float], str]
    bounds: tuple[float, float] = (float("-inf"), float("inf"))

    def cell(self, row: Row) -> str:
        """What stands in a row; bold if it is not what is promised."""
        value = row.get(self.key)
        if value is None:
            return ""
        return self.shown(value) if self.holds(value) else f"**{self.shown(value)}**"

    def holds(self, value: float) -> bool:
        """Whether a value is what is promised."""
        least, largest = self.bounds
        return least <= value <= largest


def _small(value: float) -> str:
    return (
        "0" if value == 0.0 else f"{value:.0e}" if value < 0.01 else f"{value:.3g}" if value > 10.0 else f"{value:.2g}"
    )


COLUMNS = (
    Column("frames", "frames", str),
    Column("moved at rigging", "moved", _small, (0.0, 1e-4)),
    Column("turned at rigging, °", "turned", _small, (0.0, 0.1)),
    Column("control to ankle", "control", _small, (0.0, 0.01)),
    Column("smallest control", "smallest", _small, (0.05, 0.2)),
    Column("largest control", "largest", _small, (0.05, 0.2)),
    Column("clip after rigging", "moved over the clip", _small),
    Column("clip on controls", "snap", _small, (0.0, 1e-4)),
    Column("turned, °", "snap degrees", _small, (0.0, 0.1)),
    Column("held still", "hold", _small, (0.0, 1e-5)),
    Column("raised", "lift", _small, (0.0, 1e-4)),
    Column("foot turned, °", "foot degrees", _small, (0.0, 0.1)),
    Column("flips", "flips", str, (0, 0)),
    Column("baked", "bake", _small, (0.0, 3e-5)),
    Column("seconds", "all seconds", lambda value: f"{value:.1f}"),
)


def trials(sources: Iterable[str], arms: bool) -> list[Trial]:
    """All that is to be tried."""
    kinds = (False, True) if arms else (False,)
    return [Trial(source, option, kind) for source in sources for option in importers(source) for kind in kinds]


def sources(places: Iterable[Path]) -> list[str]:
    """The files among these and in these folders that may hold characters."""
    found = (path for place in places for path in (sorted(place.rglob("*")) if place.is_dir() else [place]))
    return [str(path.resolve()) for path in found if path.is_file() and importers(str(path))]


def tables(tried: Sequence[tuple[Trial, Row]]) -> str:
    """Two tables in Markdown: what was found, and what was measured of it."""
    measured = [(trial, row) for trial, row in tried if "limbs" in row]
    found: dict[tuple[str, str], list[str]] = {}
    for trial, row in tried:
        found.setdefault((trial.character, _found(row)), []).append(trial.how)
    figures = [
        (trial.character, trial.how, *(column.cell(_summed(row)) for column in COLUMNS), _notes(row))
        for trial, row in measured
    ]
    held = sum(
        all(column.holds(row[column.key]) for column in COLUMNS if _is_known(row, column)) for _, row in measured
    )
    return "\n".join(
        (
            f"Blender {bpy.app.version_string}: {len(tried)} trials, {len(measured)} of them rigged, "
            f"{held} of these within all bounds.",
            "",
            *_table(
                ("character", "import", "limbs, or why none"),
                [(character, "; ".join(ways), what) for (character, what), ways in found.items()],
            ),
            "",
            *_table(("character", "import", *(column.title for column in COLUMNS), "notes"), figures),
        )
    )


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterable[str]:
    yield "| " + " | ".join(titles) + " |"
    yield "|" + " --- |" * len(titles)
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


def _found(row: Row) -> str:
    if "error" in row:
        return f"**{row['error']}**"
    if "limbs" in row:
        return "; ".join(row["limbs"])
    return row["refused"] + (" **Something was left behind.**" if row.get("left behind") else "")


def _summed(row: Row) -> Row:
    return {**row, "all seconds": sum(row["seconds"].values())}


def _notes(row: Row) -> str:
    notes = [f"**{error}**" for error in row["errors"]]
    if row["snap by"] == "still":
        notes.append("no motion: its body was swayed")
    if row["snap by"] == "snap":
        notes.append("snapped")
    if row["links"] > 2:
        notes.append(f"{row['links']} links")
    if row.get("uneven"):
        notes.append("keys scale bones unevenly")
    if row["stderr"]:
        notes.append(f"**stderr: {row['stderr'].splitlines()[-1]}**")
    return "; ".join(notes)


def _is_known(row: Row, column: Column) -> bool:
    return row.get(column.key) is not None


def main() -> None:
    """Try all characters that the command line names and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="*", type=Path, metavar="FOLDER", help="folders, or files")
    parser.add_argument("--arms", action="store_true", help="each character once more with its arms")
    parser.add_argument("--rigify", action="store_true", help="Rigify's metarigs too, and a rig generated of each")
    parser.add_argument("--frames", default="120", help="frames of a clip, evenly chosen; or all (default 120)")
    parser.add_argument("--clip", default="", help="play the first clip whose name holds this, not the active one")
    parser.add_argument("--jobs", type=int, default=1, help="characters at the same time (default 1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all rows to a file")
    parser.add_argument("--write", action="store_true", help="replace the tables in docs/characters.md")
    chosen = parser.parse_args()
    most = sys.maxsize if chosen.frames == "all" else int(chosen.frames)
    named = sources(chosen.places)
    if chosen.rigify:
        # Rigify prints.
        with redirect_stdout(sys.stderr):
            named += [source for metarig in metarigs() for source in (metarig, metarig.replace(METARIG, GENERATED))]
    all_of_them = trials(named, chosen.arms)
    if not all_of_them:
        parser.error("no character: name a folder with .glb, .gltf, .fbx, .bvh, .blend or MPFB .json files")
    with ThreadPoolExecutor(chosen.jobs) as pool:
        rows = pool.map(partial(Trial.run, most=most, clip=chosen.clip), all_of_them)
        tried = list(zip(all_of_them, tqdm(rows, total=len(all_of_them), disable=None), strict=True))
    if chosen.json:
        shown = [{"character": trial.character, "import": trial.how, **row} for trial, row in tried]
        chosen.json.write_text(json.dumps(shown, indent=1) + "\n", encoding="utf-8")
    print(tables(tried))
    pages.Page("characters.md", chosen.write).put("tables", tables(tried))
    sys.stdout.flush()
    # Older Blenders crash or hang at Python's ordinary exit.
    os._exit(0)


if __name__ == "__main__":
    main()
