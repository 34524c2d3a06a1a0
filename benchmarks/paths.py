"""Walks along curves, in arrays: `python -m benchmarks.paths [LEGS.npz | FILE]…  [--clips WORD…] [--quick] [--write]`.

The sample capture, and the walks of characters and legs that are given, are planted on curves, with several strides.
Lengths are in leg lengths. Speeds and accelerations are times those of the same clip planted without a path: median /
worst. Naive: the whole character goes by the map of its body, as a parent on the curve would take it at its best.

LEGS.npz has NAME/hips, knees, ankles, balls, feet, lengths and fps of each clip.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time

import bpy
import numpy as np

import ik_addon
from ik_addon.bake.stepping import finish
from ik_addon.planting.feet.along_path import AlongPath, along_path, brought
from ik_addon.planting.feet.clip import LegMotion, applied
from ik_addon.planting.feet.contacts import Ground, sole_of
from ik_addon.planting.feet.curves import slope
from ik_addon.planting.feet.judging import with_plan
from ik_addon.planting.feet.loops import in_cycles, period_of, unrolled
from ik_addon.planting.feet.measures import measured, new_pops
from ik_addon.planting.feet.options import SLOPE_TIME, Options
from ik_addon.planting.feet.path import GroundPath, path_of, unit
from ik_addon.planting.feet.planning import FootPlan, plan
from ik_addon.planting.feet.spine import Spine
from ik_addon.planting.feet.treadmill import stands_on
from ik_addon.planting.feet.walk import Walk
from ik_addon.planting.scene.reading import legs_of, shown
from ik_addon.rig.blender.clips import motion_frames

from . import pages
from .character.files import armature_of, importers
from .planting import play_alone

SAMPLE = Path(__file__).parents[1] / "sample_scenes" / "biped_capture.blend"
_ROUND = np.linspace(0.0, 2.0 * np.pi, 400)
_CIRCLE = np.stack((np.sin(_ROUND), 1.0 - np.cos(_ROUND)), axis=1)[:-1]
_HALVES = _CIRCLE[:200], _CIRCLE[:200] * (-1.0, 1.0)
CURVES = {
    "own path": None,
    "straight": (np.array(((0.0, 0.0), (40.0, 0.0))), False),
    "circle, radius 3": (3.0 * _CIRCLE, True),
    "circle, radius 2": (2.0 * _CIRCLE, True),
    "circle, radius 1": (_CIRCLE, True),
    "S, radius 2": (2.0 * np.concatenate((_HALVES[0], (0.0, 2.0) + _HALVES[1])), False),
    "two corners": (2.0 * np.concatenate((_HALVES[0], (0.0, 4.0) + _HALVES[1])), False),
    "square, side 3": (3.0 * np.array(((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))), True),
    "slope 15 % (ground)": (np.array(((0.0, 0.0), (40.0, 0.0))), False),
    "stairs (ground)": (np.array(((0.0, 0.0), (40.0, 0.0))), False),
}
RADII = (1.0, 2.0, 4.0)
_BONES = 4
STRIDES = (0.7, 1.0, 1.15, 1.3)
_CYCLES = 4
_PASSES = 50
"""How often a way along a path is looked for from where it was last."""


@dataclass(frozen=True)
class Source:
    """A clip to walk: over the ground, with its contacts."""

    name: str
    clip: LegMotion
    contacts: np.ndarray

    def walk(self) -> Walk:
        """It, as a walk."""
        return Walk(self.clip, sole_of(self.clip), self.contacts)


def source_of(name: str, captured: LegMotion) -> Source | None:
    """A captured clip, several times one after the other if it is a loop; None if nothing stands in
    it, or if it stays in place."""
    stage = stands_on(captured, Options())
    clip, contacts = stage.seen, stage.contacts
    if period_of(clip) and clip.frame_count < 3.0 * clip.fps:
        clip, contacts = unrolled(clip, _CYCLES), in_cycles(clip, contacts, _CYCLES)
    travels = np.ptp(clip.hips.mean(axis=0)[:, :2], axis=0).max() > clip.size
    return Source(name, clip, contacts) if contacts.any() and travels else None


def sources(files: Sequence[Path], words: Sequence[str]) -> Iterator[Source]:
    """The clips of files."""
    for file in files:
        if file.suffix == ".npz":
            with np.load(file) as data:
                for name in sorted({key.split("/")[0] for key in data.files}):
                    own = {key.split("/")[1]: data[key] for key in data.files if key.startswith(f"{name}/")}
                    yield from filter(None, [source_of(name, LegMotion(**own | {"fps": float(own["fps"])}))])
            continue
        option = next(iter(importers(str(file))))
        ob = armature_of(str(file), option)
        names = [action.name for action in bpy.data.actions]
        for name in [name for name in names if any(word in name.lower() for word in words)] if ob else ():
            play_alone(ob, name)
            frames = motion_frames(ob)
            if frames and len(frames) > 5:
                clip = finish(shown(bpy.context, ob, legs_of(ob), frames))
                yield from filter(None, [source_of(f"{file.stem} {name}", clip)])


@dataclass(frozen=True)
class Row:
    """What a clip does on a curve."""

    clip: str
    curve: str
    stride: float
    slide: float
    step: float
    naive: float
    unreached: int
    frames: int
    knee_speed: float
    knee_acceleration: float
    knee_jump: float
    new_pops: int
    pops: int
    pops_before: int
    plane: float
    vertical: float
    own: float
    seconds: float
    sunken: float


def walked(source: Source, curve: str, stride: float) -> tuple[Walk, AlongPath, LegMotion, FootPlan]:
    """A clip planted on a curve: as a walk, where it goes, there before it is planted, and the plan."""
    walk, options = source.walk(), Options(path_stride=stride)
    along = along_path(walk, *_path(walk, curve, options), options)
    ground = _ground(walk, along, curve)
    there = brought(walk, along, options, ground=ground).clip
    return walk, along, there, plan(there, options, source.contacts, ground, sole=walk.sole)


def row_of(source: Source, curve: str, stride: float) -> Row:
    """Plant a clip on a curve."""
    clip, began = source.clip, process_time()
    walk, along, there, made = walked(source, curve, stride)
    seconds, options = process_time() - began, Options()
    plain = plan(clip, options, source.contacts, sole=walk.sole)
    before, after = with_plan(clip, plain), with_plan(there, made)
    figures = [measured(each, walk.sole, made.contacts) for each in (before, after)]

    def ratio(name: str) -> float:
        one, other = (max(leg[name] for leg in legs) for legs in figures)
        return other / max(one, 1e-9)

    captured, planted, planned = (_accelerations(each.hips.mean(axis=0), clip.fps) for each in (clip, before, after))
    had = np.maximum(captured, planted)
    rows = np.arange(clip.frame_count, dtype=float)
    own = walk.way.at(rows)
    bend = _bend(along, along.offset + stride * own[2], clip.fps) if curve != "own path" else 0.0
    turns, shifts = along.maps(walk, rows)
    naive = replace(clip, ankles=applied(turns, clip.ankles) + shifts, feet=turns @ clip.feet)
    return Row(
        source.name,
        curve,
        stride,
        max(leg["slide"] for leg in figures[1]),
        float(np.median(steps_off(walk, along, plain, made))),
        max(leg["slide"] for leg in measured(naive, walk.sole, made.contacts)),
        int(made.unreached.sum()),
        clip.frame_count,
        ratio("knee_speed"),
        ratio("knee_acceleration"),
        float(np.divide(*map(_knee_jump, (after, before)))),
        sum(map(len, new_pops(before, after))),
        *(sum(leg["knee_pops"] for leg in each) for each in figures[::-1]),
        planned[0] / (had[0] + bend),
        planned[1] / had[1],
        float(np.abs(made.ankles - plain.ankles).max() / clip.size) if curve == "own path" and stride == 1.0 else 0.0,
        seconds,
        max(leg["sunken"] for leg in figures[1]) - max(leg["sunken"] for leg in figures[0]),
    )


@dataclass(frozen=True)
class Bend:
    """What the body of a four-legged clip does on a circle, stiff and with a spine.

    bend: how far the spine bends at most, degrees. hips, shoulders: how far the middle of either girdle is off the path
    in the median, leg lengths. knee_speed: times that of the clip without a path. Stiff first.
    """

    clip: str
    radius: float
    bend: float
    hips: tuple[float, float]
    shoulders: tuple[float, float]
    knee_speed: tuple[float, float]


def bend_of(source: Source, radius: float) -> Bend:
    """Bring a clip to a circle as a stiff body, and with a spine of even bones from its hind legs to its fore legs."""
    walk, options = source.walk(), Options()
    clip, fore = walk.clip, walk.aheads > walk.aheads.mean()
    path = path_of(radius * clip.size * _CIRCLE, True, 0.02 * clip.size, walk.stride)
    hind, front = (clip.hips[legs].mean(axis=0) for legs in (~fore, fore))
    shares = np.arange(_BONES)[:, None, None] / _BONES
    spine = Spine(tuple(np.flatnonzero(fore).tolist()), hind + shares * (front - hind))
    along = along_path(walk, path, None, options)
    before = _knee_speed(clip, plan(clip, options, source.contacts, sole=walk.sole), walk)
    found = []
    for spines in ((), (spine,)):
        there = brought(walk, along, options, spines)
        made = plan(there.clip, options, source.contacts, sole=walk.sole)
        middles = (there.clip.hips[legs].mean(axis=0) for legs in (~fore, fore))
        away = [np.linalg.norm(middle[:, None, :2] - path.places, axis=2).min(axis=1) for middle in middles]
        speed = _knee_speed(there.clip, made, walk) / before
        found.append((*(float(np.median(own)) / clip.size for own in away), speed))
    turns = there.body[0].swapaxes(1, 2) @ there.spines[0][-1][0]
    bend = np.degrees(np.abs(np.arctan2(turns[:, 1, 0], turns[:, 0, 0])).max())
    return Bend(source.name, radius, float(bend), *zip(*found, strict=True))


def _knee_speed(clip: LegMotion, made: FootPlan, walk: Walk) -> float:
    return max(leg["knee_speed"] for leg in measured(with_plan(clip, made), walk.sole, made.contacts))


def _bend(along: AlongPath, ways: np.ndarray, fps: float) -> float:
    """The acceleration aside, of one in a hundred frames, of what goes such ways on a path: v² times its curvature."""
    places, headings = along.path.at(ways)
    found = slope(slope(places, fps, SLOPE_TIME), fps, SLOPE_TIME)
    return float(np.percentile(np.abs(np.sum(found * unit(headings + 0.5 * np.pi), axis=1)), 99.0))


def _path(walk: Walk, curve: str, options: Options) -> tuple[GroundPath, GroundPath | None]:
    """A curve as a path, and as it was made of the clip."""
    size, rounding = walk.clip.size, walk.stride * options.path_stride
    if CURVES[curve] is None:
        last = walk.clip.frame_count - 1.0
        points = walk.way.at(np.linspace(0.0, last, max(2, round(last / walk.step) + 1)))[0][:, :2]
        own = path_of(points, False, 0.02 * size, rounding)
        return own, own
    points, is_closed = CURVES[curve]
    return path_of(points * size, is_closed, 0.02 * size, rounding), None


def _ground(walk: Walk, along: AlongPath, curve: str) -> Ground | None:
    if "ground" not in curve:
        return None
    level, size = walk.sole.level, walk.clip.size
    if "slope" in curve:
        return lambda points: level + 0.15 * points[:, 0]
    return lambda points: level + 0.18 * size * np.floor(points[:, 0] / size / 0.85)


def steps_off(walk: Walk, along: AlongPath, plain: FootPlan, made: FootPlan) -> np.ndarray:
    """The part of each step by which the body goes farther or less far from one place of a foot to its next than the
    stride says. plain: without a path."""
    own, off = _path(walk, "own path", Options())[0], []
    for leg, point in np.ndindex(len(plain.ankles), 2):
        one, other = (
            {each.last: each.place[:2] for each in planned.locks if (each.leg, each.point) == (leg, point)}
            for planned in (plain, made)
        )
        both = sorted(one.keys() & other.keys())
        if len(both) < 2:
            continue
        captured, planned = (np.array([places[k] for k in both]) for places in (one, other))
        ways = walk.way.at(walk.times[leg, both])[2]
        ahead = float(_aheads(own, captured, ways).mean())
        before = np.diff(passed(own, captured, ahead, ways))
        after = np.diff(passed(along.path, planned, ahead, along.offset + along.stride * ways))
        far = before > 0.5 * walk.stride
        off += np.abs(after[far] / (along.stride * before[far]) - 1.0).tolist()
    return np.array(off or [0.0])


def passed(path: GroundPath, places: np.ndarray, ahead: float, ways: np.ndarray) -> np.ndarray:
    """How far along a path (n,) a body has come that has places (n, 2) so far ahead of it, at about ways (n,).

    As the body sees them: where places are nearest to the path, feet ahead of a body that turns would step unevenly.
    """
    for _ in range(_PASSES):
        ways = ways + 0.5 * (_aheads(path, places, ways) - ahead)
    return ways


def _aheads(path: GroundPath, places: np.ndarray, ways: np.ndarray) -> np.ndarray:
    """(n,), how far ahead places (n, 2) are of a body at ways (n,) on a path."""
    here, headings = path.at(ways)
    return np.sum((places - here) * unit(headings), axis=-1)


def _knee_jump(clip: LegMotion) -> float:
    """How far a knee, seen from its hip, is at most from where the two frames before lead to expect."""
    return float(np.linalg.norm(np.diff(clip.knees - clip.hips, 2, axis=1), axis=2).max())


def _accelerations(places: np.ndarray, fps: float) -> tuple[float, float]:
    """What one in a hundred frames exceeds, in the plane and up and down."""
    found = slope(slope(places, fps, SLOPE_TIME), fps, SLOPE_TIME)
    plane, vertical = (np.linalg.norm(part, axis=1) for part in (found[:, :2], found[:, 2:]))
    return float(np.percentile(plane, 99.0)), float(np.percentile(vertical, 99.0))


_TITLES = (
    *(
        "naive slide",
        "slide",
        "steps off",
        "out of reach",
        "knee speed",
        "knee acceleration",
        "knee jump",
        "new pops, all / before",
    ),
    *("hips in plane", "hips vertical", "sinks deeper", "from own place", "s per 1000 frames"),
)


def _cells(rows: Sequence[Row]) -> list[str]:
    def both(name: str, form: str = ".2f") -> str:
        values = [getattr(row, name) for row in rows]
        return f"{np.median(values):{form}} / {max(values):{form}}"

    return [
        both("naive"),
        f"{max(row.slide for row in rows):.0e}",
        both("step", ".1%"),
        f"{sum(row.unreached for row in rows)} of {sum(row.frames for row in rows)}",
        both("knee_speed"),
        both("knee_acceleration"),
        both("knee_jump"),
        "{}, {} / {}".format(*(sum(getattr(row, x) for row in rows) for x in ("new_pops", "pops", "pops_before"))),
        both("plane"),
        both("vertical"),
        f"{max((row.sunken for row in rows if 'ground' not in row.curve), default=0.0):.3f}",
        f"{max(row.own for row in rows):.0e}",
        f"{np.median([1000.0 * row.seconds / row.frames for row in rows]):.2f}",
    ]


_BEND_TITLES = ("clip", "radius", "spine bends, degrees", "hips off the path", "shoulders off the path", "knee speed")


def _bend_cells(row: Bend) -> list[str]:
    pairs = [" → ".join(f"{value:.2f}" for value in pair) for pair in (row.hips, row.shoulders, row.knee_speed)]
    return [row.clip.replace("|", " "), f"{row.radius:g}", f"{row.bend:.0f}", *pairs]


def _grouped(groups: dict[str, list[Row]]) -> Iterator[list[str]]:
    for name, rows in groups.items():
        if rows:
            yield [name, *_cells(rows)]


_WIDE = ("own path", "straight", "circle, radius 3", "circle, radius 2", "S, radius 2")
_FAST = ("run", "gallop", "jog")


def _criteria(rows: Sequence[Row]) -> Iterator[tuple[str, float, float]]:
    """What is asked of all runs on level ground: its name, the most that it may be, and the largest one."""
    level = [row for row in rows if "ground" not in row.curve]
    fast = [row for row in level if any(word in row.clip.lower() for word in _FAST)]
    walks = [row for row in level if row not in fast]
    yield "slide at frames", 2e-6, max(row.slide for row in rows)
    yield "frames out of reach, walks", 0.0, sum(row.unreached for row in walks)
    if fast:
        frames = sum(row.frames for row in fast)
        yield "frames out of reach of 1000, runs", 1.0, 1000.0 * sum(row.unreached for row in fast) / frames
    for stride, most in ((1.0, 1.3), (1.3, 1.35)):
        own = [row for row in level if row.stride == stride and row.curve in _WIDE]
        if own:
            yield f"knee speed, stride {stride:g}, radius 2 up", most, max(row.knee_speed for row in own)
            yield f"new pops, stride {stride:g}, radius 2 up", 0.0, sum(row.new_pops for row in own)
            yield f"hips in plane, stride {stride:g}, radius 2 up", 1.1, max(row.plane for row in own)
            yield f"hips vertical, stride {stride:g}, radius 2 up", 1.1, max(row.vertical for row in own)
    yield "steps off the stride, radius 2 up", 0.01, max(row.step for row in level if row.curve in _WIDE)
    yield "from its own place", 1e-6, max(row.own for row in rows)
    yield "seconds for 1000 frames", 1.0, float(np.median([1000.0 * row.seconds / row.frames for row in rows]))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--clips", nargs="+", default=["walk", "run", "gallop"], metavar="WORD", help="of clips' names")
    parser.add_argument("--quick", action="store_true", help="strides 1 and 1.3, and fewer curves")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/motion_figures.md")
    options = parser.parse_args()
    ik_addon.register()
    found = list(sources([SAMPLE, *options.files], ["walk capture", *options.clips]))
    strides = (1.0, 1.3) if options.quick else STRIDES
    curves = ("own path", "straight", "circle, radius 2", "square, side 3") if options.quick else tuple(CURVES)
    rows = [row_of(each, curve, stride) for each in found for curve in curves for stride in strides]
    level = [row for row in rows if "ground" not in row.curve]
    print(f"Blender {bpy.app.version_string}, {len(found)} clips, {len(rows)} runs")
    asked = ([name, f"{most:g}", f"{found_most:.3g}"] for name, most, found_most in _criteria(rows))
    pages.table(("criterion", "asked", "measured"), asked)
    same, flat = [row for row in rows if row.stride == 1.0], [row for row in level if row.stride == 1.0]
    page = pages.Page("motion_figures.md", options.write)
    of_curves = _grouped({name: [row for row in same if row.curve == name] for name in curves})
    page.keep("paths, curves", ("stride 1", *_TITLES), of_curves)
    of_strides = _grouped({f"stride {x:g}": [row for row in level if row.stride == x] for x in strides})
    page.keep("paths, strides", ("level ground", *_TITLES), of_strides)
    walks = [each for each in found if each.clip.leg_count == 4 and "walk" in each.name.lower()]
    bends = (bend_of(each, radius) for each in walks for radius in RADII)
    page.keep("paths, spines", _BEND_TITLES, map(_bend_cells, bends), 2)
    of_clips = _grouped({x.name: [row for row in flat if row.clip == x.name] for x in found})
    pages.table(("stride 1, level", *_TITLES), of_clips)


if __name__ == "__main__":
    main()
