"""What is asked of Plant Feet, measured on captures: `python -m benchmarks.criteria FOLDER [--write]`.

Plans for a CMU capture and for the characters of the folder, clean and spoiled: legs of other proportions (x1.1, x0.9)
and a root that wanders (7 % of a leg). Characters walk in place; here they travel, four times around. Distances are in
leg lengths. Beside it what a threshold per frame and a hard lock do. What is measured on evaluated bones is that of
`benchmarks.planting`. ANALYTIC_IK_CAPTURES is set to the folder.
"""

import argparse
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time

import bpy
import numpy as np

from ik_addon.planting.feet import contacts_of
from ik_addon.planting.feet.clip import LegMotion
from ik_addon.planting.feet.contacts import sole_of
from ik_addon.planting.feet.options import Options
from ik_addon.planting.feet.planning import FootPlan, plan

from . import pages

SPOILED = [(1.1, 0), (0.9, 0), (1.1, 1), (0.9, 1)]
WALKS = [
    ("RobotExpressive.glb", "Walking"),
    ("kaykit_Med_MovementBasic.glb", "Walking_A"),
    ("kaykit_Med_MovementBasic.glb", "Walking_B"),
    ("kaykit_Med_MovementBasic.glb", "Walking_C"),
    ("quat_cyberpunk_22_clips.glb", "Walk"),
    ("quat_KnightCharacter.glb", "Walk"),
    ("mannequiny.glb", "run"),
    ("Fox.glb", "Walk"),
    ("quat_Wolf.glb", "Walk"),
]
SLOPES = ["bumps", "uphill", "downhill", "across"]


@dataclass(frozen=True)
class Row:
    """One figure. limit: what is asked; most: whether it is at most that, and not at least."""

    name: str
    limit: float
    capture: float
    characters: float
    naive: float = np.nan
    most: bool = True

    @property
    def cells(self) -> list[str]:
        """Its cells in the table."""
        met = [(x <= self.limit) if self.most else (x >= self.limit) for x in (self.capture, self.characters)]
        words = ["" if np.isnan(x) else f"{x:.3g}" for x in (self.capture, self.characters, self.naive)]
        told = " / ".join("-" if not word else "yes" if ok else "no" for ok, word in zip(met, words, strict=False))
        return [self.name, f"{self.limit:g}", *words, told]


@dataclass(frozen=True)
class Case:
    """A clip, as captured or spoiled, and the captured one."""

    clip: LegMotion
    captured: LegMotion
    spoiled: bool


def cases(clip: LegMotion) -> Iterator[Case]:
    """A clip, clean and spoiled."""
    yield Case(clip, clip, False)
    for factor, seed in SPOILED:
        yield Case(clips.degraded(clip, factor, seed), clip, True)


def ratios(case: Case, planned: FootPlan) -> np.ndarray:
    """Of knee speed, knee acceleration, foot speed."""
    knees = measures.knee_ratios(case.clip, case.clip.hips + planned.shifts, planned.ankles, case.captured)
    return np.array((*knees, measures.top_speed(planned.ankles) / measures.top_speed(case.clip.ankles)))


def of_naive(case: Case) -> np.ndarray:
    """The same, of hard locks under a threshold."""
    sole = sole_of(case.clip)
    ankles = measures.naive_ankles(case.clip, sole, measures.naive_contacts(case.clip, sole))
    ankles = measures.shown(case.clip, case.clip.hips, ankles)
    knees = measures.knee_ratios(case.clip, case.clip.hips, ankles, case.captured)
    return np.array((*knees, measures.top_speed(ankles) / measures.top_speed(case.clip.ankles)))


def below(case: Case, planned: FootPlan, ground: str) -> float:
    """How deep heel or ball is in the ground, at any frame."""
    points = measures.places(case.clip, sole_of(case.clip), planned.ankles, planned.feet)
    heights = test_planning.ground_of(ground, case.clip)(points.reshape(-1, 3)).reshape(points.shape[:-1])
    return float((heights - points[..., 2]).max() / case.clip.size)


def over(case: Case, planned: FootPlan, ground: str) -> float:
    """How far off the ground heel or ball of a flat foot is."""
    points = measures.places(case.clip, sole_of(case.clip), planned.ankles, planned.feet)
    heights = test_planning.ground_of(ground, case.clip)(points.reshape(-1, 3)).reshape(points.shape[:-1])
    flat = planned.contacts.all(axis=1)
    return float(np.abs(points[..., 2] - heights).transpose(0, 2, 1)[flat].max(initial=0.0) / case.clip.size)


def on_stairs(case: Case, find_footing: bool) -> float:
    """The same on stairs of 0.18 by 0.85 in the direction in which a clip goes."""
    way = case.clip.hips[0, -1] - case.clip.hips[0, 0]
    heights = test_planning.stairs(case.clip, turn=float(np.arctan2(way[1], way[0])))
    planned = plan(case.clip, Options(find_footing=find_footing), ground=heights)
    points = measures.places(case.clip, sole_of(case.clip), planned.ankles, planned.feet)
    gaps = points[..., 2] - heights(points.reshape(-1, 3)).reshape(points.shape[:-1])
    flat = planned.contacts.all(axis=1)
    return float(np.abs(gaps).transpose(0, 2, 1)[flat].max(initial=0.0) / case.clip.size)


def of_labels(clip: LegMotion, truth: np.ndarray, where: slice) -> dict[str, float]:
    """Agreement with labels, and what slides within those of balls."""
    found: dict[str, list[float]] = {}
    for case in cases(clip):
        sole, kind = sole_of(case.clip), "spoiled" if case.spoiled else "clean"
        contacts = contacts_of(case.clip, sole).touching
        naive = measures.naive_contacts(case.clip, sole)
        found.setdefault(kind, []).append(measures.agreement(contacts[..., where], truth[..., where]))
        found.setdefault(f"{kind} naive", []).append(measures.agreement(naive[..., where], truth[..., where]))
        planned = plan(case.clip, Options(), ground=test_planning.ground_of("level", case.clip))
        balls = truth.copy()
        balls[:, 0] = False
        inside = balls[..., where].sum()
        found.setdefault(f"{kind} covered", []).append((planned.contacts & balls)[..., where].sum() / inside)
        if case.spoiled:
            before, after = (
                measures.slides(measures.places(case.clip, sole, *pose), balls, middle_only=True).mean()
                for pose in ((case.clip.ankles, case.clip.feet), (planned.ankles, planned.feet))
            )
            found.setdefault("slide", []).append(after / before)
    return {kind: float(np.mean(figures)) for kind, figures in found.items()}


def worst(clips_of: list[LegMotion], figure: Callable[[Case], np.ndarray | float], spoiled: bool) -> np.ndarray:
    """The largest of a figure over clips, clean or spoiled."""
    return np.max([figure(case) for clip in clips_of for case in cases(clip) if case.spoiled == spoiled], axis=0)


def rows(capture: LegMotion, characters: list[LegMotion], labeled: list[tuple[LegMotion, np.ndarray]]) -> Iterator[Row]:
    """All figures."""
    truth = labels.cmu_labels(capture.frame_count)
    truth[1, 1, :447] = False
    own = of_labels(capture, labels.cmu_labels(capture.frame_count), labels.CMU_LABELED)
    slide = of_labels(capture, truth, labels.CMU_LABELED)["slide"]
    found = [of_labels(clip, mask, slice(None)) for clip, mask in labeled]

    def mean(kind: str) -> float:
        return float(np.mean([each[kind] for each in found]))

    yield Row("agreement (F1) with labels, clean, mean", 0.87, own["clean"], mean("clean"), own["clean naive"], False)
    naive = own["spoiled naive"]
    yield Row("the same, spoiled, mean", 0.86, own["spoiled"], mean("spoiled"), naive, False)

    def counts(clip: LegMotion) -> float:
        each = [clips.every(clip, step) for step in (1, 2, 4, 5)]
        numbers = [measures.lock_count(contacts_of(one).touching) for one in each]
        return float(max(numbers) - min(numbers))

    spoiled = max(counts(clips.degraded(capture, *spoil)) for spoil in SPOILED)
    yield Row("locks at 24, 30, 60, 120 fps differ by", 1, counts(capture), np.nan)
    yield Row("the same, spoiled, worst", 1, spoiled, np.nan)
    yield Row("slide in labeled contacts of balls, spoiled, after / before", 0.05, slide, mean("slide"))
    yield Row(
        "locks cover labeled contacts of balls, clean", 0.83, own["clean covered"], mean("clean covered"), most=False
    )
    covered = own["spoiled covered"]
    yield Row("the same, spoiled", 0.78, covered, mean("spoiled covered"), most=False)

    def planned(case: Case, ground: str) -> FootPlan:
        return plan(case.clip, Options(), ground=test_planning.ground_of(ground, case.clip))

    def unreached(case: Case) -> float:
        return float(sum(planned(case, ground).unreached.sum() for ground in ("captured", "level", *SLOPES)))

    def naive_unreached(case: Case) -> float:
        sole = sole_of(case.clip)
        ankles = measures.naive_ankles(case.clip, sole, measures.naive_contacts(case.clip, sole))
        return float(measures.beyond_reach(case.clip, case.clip.hips, ankles).sum())

    for spoil in (False, True):
        kind = "spoiled" if spoil else "clean"
        both = [float(worst(each, unreached, spoil)) for each in ([capture], characters)]
        yield Row(
            f"frames out of reach, six grounds, {kind}", 0, *both, float(worst([capture], naive_unreached, spoil))
        )
        both = [
            float(worst(each, lambda case: below(case, planned(case, "level"), "level"), spoil))
            for each in ([capture], characters)
        ]
        yield Row(f"below level ground, {kind}", 0.001, *both)
        for name, grounds, limits in (("level", ["level"], (1.25, 1.5)), ("bumps, slopes", SLOPES, (1.3, 1.7))):
            each = [
                worst(
                    some,
                    lambda case, grounds=grounds: np.max([ratios(case, planned(case, g)) for g in grounds], axis=0),
                    spoil,
                )
                for some in ([capture], characters)
            ]
            hard = worst([capture], of_naive, spoil) if name == "level" else np.full(3, np.nan)
            for k, (what, limit) in enumerate(
                zip(("knee speed", "knee acceleration", "foot speed"), (*limits, 1.15), strict=True)
            ):
                yield Row(f"{what}, {name}, {kind}", limit, each[0][k], each[1][k], hard[k])
    mesh = [
        float(max(worst(each, lambda case, g=g: below(case, planned(case, g), g), True) for g in SLOPES))
        for each in ([capture], characters)
    ]
    yield Row("below bumps and slopes, spoiled", 0.002, *mesh)
    for name, grounds, limit in (("slopes", SLOPES[1:], 0.001), ("bumps", SLOPES[:1], 0.01)):
        both = [
            float(max(worst(each, lambda case, g=g: over(case, planned(case, g), g), True) for g in grounds))
            for each in ([capture], characters)
        ]
        yield Row(f"flat feet off the {name}, spoiled", limit, *both)

    for on in (False, True):
        both = [
            float(np.mean([on_stairs(case, on) for clip in each for case in cases(clip)]))
            for each in ([capture], characters)
        ]
        yield Row(f"flat feet off stairs, mean of clips, {'with' if on else 'without'} Find Footing", 0.01, *both)

    def body(clip: LegMotion) -> np.ndarray:
        shifts = plan(clip, Options()).shifts / clip.size
        hips = clip.hips.mean(axis=0) / clip.size
        # What takes a jump out of the captured root accelerates as much as that.
        before, after = (
            np.linalg.norm(np.diff(way, 2, axis=0), axis=1).max() * clip.fps**2 * 0.85 for way in (hips, hips + shifts)
        )
        return np.array((np.linalg.norm(shifts, axis=1).max(), after - before))

    moved, others = body(capture), np.max([body(clip) for clip in characters], axis=0)
    yield Row("body, clean, as captured: farthest", 0.07, moved[0], others[0])
    yield Row("acceleration of hips over the captured one, for legs of 0.85 m, m/s2", 4, moved[1], others[1])
    harm = [[harms(clip) for clip in some] for some in ([capture], characters)]
    for k, (what, limit) in enumerate(
        (("feet", 0.011), ("body", 0.008), ("feet in the mean, contacts found again", 0.01))
    ):
        yield Row(f"planted twice, change of {what}", limit, *(max(h[k] for h in some) for some in harm))
    exact, contacts = clips.walk(60.0)
    again = plan(exact, Options(), contacts)
    stands = np.linalg.norm(again.ankles - exact.ankles, axis=2)[contacts.any(axis=1)].max() / exact.size
    yield Row("a walk that stands exactly: change in contacts", 0.001, np.nan, stands)
    shift = np.linalg.norm(again.shifts, axis=1).max() / exact.size
    yield Row("its body", 0.002, np.nan, shift)
    began = process_time()
    plan(capture, Options(), ground=test_planning.ground_of("bumps", capture))
    yield Row(f"planning {capture.frame_count} frames, seconds of processor time", 0.5, process_time() - began, np.nan)


def harms(clip: LegMotion) -> tuple[float, float, float]:
    """What planting changes of a clip that it has planted: feet, body, and feet if contacts are found anew."""
    first = plan(clip, Options())
    feet = first.feet @ clip.feet.swapaxes(-1, -2)
    balls = first.ankles + (feet @ (clip.balls - clip.ankles)[..., None])[..., 0]
    hips = clip.hips + first.shifts
    done = replace(clip, hips=hips, knees=first.knees, ankles=first.ankles, balls=balls, feet=first.feet)
    sole = sole_of(clip)
    again, anew = plan(done, Options(), first.contacts, sole=sole), plan(done, Options())
    ways = [np.linalg.norm(each.ankles - first.ankles, axis=2) / clip.size for each in (again, anew)]
    return float(ways[0].max()), float(np.linalg.norm(again.shifts, axis=1).max() / clip.size), float(ways[1].mean())


def main(is_written: bool) -> None:
    """Print a table."""
    capture = clips.cmu_walk()
    read = {}
    for name, action in WALKS:
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        read[name, action] = test_captures.character(f"characters/{name}", action)
    characters = [clips.travelling(clip) for clip in read.values()]
    labeled = []
    for (name, action), spans in labels.CHARACTERS.items():
        clip = read[name, action]
        walking, mask = clips.travelling(clip), labels.mask(spans, clip.frame_count)[..., :-1]
        labeled.append((walking, np.tile(mask, walking.frame_count // mask.shape[-1])))
    titles = ("", "asked", "capture", "characters", "naive, capture", "met")
    made = (row.cells for row in rows(capture, characters, labeled))
    pages.Page("motion_figures.md", is_written).keep("criteria", titles, made)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of the captures, with the characters in characters/")
    parser.add_argument("--write", action="store_true", help="put the table into docs/motion_figures.md")
    chosen = parser.parse_args()
    os.environ["ANALYTIC_IK_CAPTURES"] = str(chosen.folder.resolve())
    from tests.planting import clips, labels, measures, test_captures, test_planning

    main(chosen.write)
