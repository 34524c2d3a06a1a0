"""How well contacts are found: `python -m benchmarks.contacts FOLDER [--pieces N] [--write]`.

F1 of frames of heels and balls against labels that no network was trained on. Those of a CMU capture and of clips in
place were made by eye (`tests/planting/labels.py`). Of the CMU captures that the networks of Plant Feet learned from,
half of the subjects are kept apart at a time, and networks that are trained on the others alone are asked; labels are
those of `benchmarks.train_contacts`, of what is clean. Spoiled are legs x1.1 and x0.9 and a root that wanders by 7 % of
a leg. Below a false lock all labels say that nothing stands; what nobody knows counts for nothing. FOLDER holds the
capture, `cmu_legs.npz` and `characters/`.
"""

import argparse
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import bpy
import numpy as np

from ik_addon.planting.feet import contacts_of, finding
from ik_addon.planting.feet.clip import LegMotion
from ik_addon.planting.feet.contacts import sole_of
from ik_addon.planting.feet.curves import runs

from . import pages
from .criteria import SPOILED
from .train_contacts import clips_of, labels_of, train


@dataclass(frozen=True)
class Found:
    """What was found in a clip: F1, and how many locks have no label below them."""

    name: str
    agreement: float
    false: int


def found_in(name: str, clip: LegMotion, truth: np.ndarray, where: slice = slice(None)) -> Found:
    """The contacts of a clip beside labels (legs, 2, T), where they are not NaN; a foot that is a point has one."""
    sole = sole_of(clip)
    points = [[1] if sole.is_point(leg) else [0, 1] for leg in range(clip.leg_count)]
    touching = contacts_of(clip, sole).touching
    pairs = [(touching[leg, k], truth[leg, k]) for leg, own in enumerate(points) for k in own]
    false = sum(not any(wanted[first : last + 1]) for own, wanted in pairs for first, last in _within(own, where))
    own, wanted = (np.array(each)[:, where] for each in zip(*pairs, strict=True))
    known = ~np.isnan(wanted)
    return Found(name, measures.agreement(own[known], wanted[known] == 1.0), false)


def _within(touching: np.ndarray, where: slice) -> Iterator[tuple[int, int]]:
    """The contacts that are in the labeled frames as a whole."""
    start, stop, _ = where.indices(len(touching))
    return ((first, last) for first, last in runs(touching) if first >= start and last < stop)


def spoiled(clip: LegMotion) -> Iterator[LegMotion]:
    """A clip as bad retargets and trackers leave it."""
    return (clips.degraded(clip, factor, seed) for factor, seed in SPOILED)


def of_capture() -> dict[str, list[Found]]:
    """CMU 131_01, labeled by eye."""
    clip, where = clips.cmu_walk(), labels.CMU_LABELED
    truth = labels.cmu_labels(clip.frame_count)
    return {
        "CMU 131_01, clean": [found_in("131_01", clip, truth, where)],
        "CMU 131_01, spoiled": [found_in("131_01", each, truth, where) for each in spoiled(clip)],
    }


def of_others(path: Path, pieces: int) -> dict[str, list[Found]]:
    """Captures of subjects that the networks which are asked have not seen."""
    known = [(name, clip, labels_of(clip)) for name, clip in clips_of(str(path))]
    subjects = sorted({name.rpartition("_")[0] for name, *_ in known})
    rows: dict[str, list[Found]] = {}
    for part in (0, 1):
        apart = set(subjects[part::2])
        others = [(clip, truth) for name, clip, truth in known if name.rpartition("_")[0] not in apart]
        networks = train(others, pieces, seed=0)
        with patch.object(finding, "networks", lambda networks=networks: networks):
            for name, clip, truth in (each for each in known if each[0].rpartition("_")[0] in apart):
                for state, seen in (("clean", [clip]), ("spoiled", spoiled(clip))):
                    row = rows.setdefault(f"other subjects, {state}", [])
                    row += [found_in(name, each, truth) for each in seen]
    return rows


def of_characters(labeled: Mapping[tuple[str, str], Mapping]) -> Iterator[Found]:
    """Clips of characters in place, as they are."""
    for (file, action), spans in labeled.items():
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        clip = captured.character(f"characters/{file}", action)
        yield found_in(f"{Path(file).stem} {action}", clip, labels.mask(spans, clip.frame_count, clip.leg_count))


def all_rows(folder: Path, pieces: int) -> Iterator[tuple[str, list[Found]]]:
    """What was found, by what the labels are of."""
    yield from of_capture().items()
    if pieces:
        yield from of_others(folder / "cmu_legs.npz", pieces).items()
    yield "bipeds in place", [*of_characters(labels.BIPEDS)]
    yield "animals in place", [*of_characters(labels.ANIMALS)]


def cells(name: str, found: list[Found]) -> list[str]:
    """A row of the table."""
    scores, worst = [each.agreement for each in found], min(found, key=lambda each: each.agreement)
    counts = scores.count(0.0), sum(each.false for each in found)
    return [name, str(len(found)), f"{np.mean(scores):.3f}", f"{worst.agreement:.3f}, {worst.name}", *map(str, counts)]


def main() -> None:
    """Print a table."""
    rows = dict(all_rows(OPTIONS.folder, OPTIONS.pieces))
    titles = ("labels", "clips", "F1, mean", "the worst", "no contact found", "false locks")
    page = pages.Page("motion_figures.md", OPTIONS.write, is_part=not OPTIONS.pieces)
    page.keep("contacts", titles, (cells(name, found) for name, found in rows.items()))
    if OPTIONS.each:
        for found in (each for each in (*rows["bipeds in place"], *rows["animals in place"])):
            print(f"{found.name}: {found.agreement:.3f}, {found.false} false")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pieces", type=int, default=1500, help="to train on; 0: other subjects are left out")
    parser.add_argument("--each", action="store_true", help="tell each clip in place")
    parser.add_argument("--write", action="store_true", help="put the table into docs/motion_figures.md")
    OPTIONS = parser.parse_args()
    os.environ["ANALYTIC_IK_CAPTURES"] = str(OPTIONS.folder.resolve())
    from tests.planting import captured, clips, labels, measures

    main()
