"""Few keys and corrections on planted clips: `python -m benchmarks.editing FILE… [--clips WORD…] [--frames COUNT]`.
With --write the table of docs/motion_figures.md is written.

Each clip is planted, and its keys are made few by *Simplify Keys*; beside it what Blender's Decimate (Ratio) shows with
as many key points on each control, and straight lines from key to key, divided where they are farthest off, with as
many keys. Keys are frames with a key of a control. All is measured on the bones as Blender evaluates them; lengths are
parts of a leg. Slide: of heel or ball in contacts, also at thirds of frames. Reach: farther from its target than
before. Jerk: times that of the clip before. Then corrections, each taken off again:
milliseconds.

FILE is a character or capture, or LEGS.npz with NAME/hips, knees, ankles, feet, lengths and fps of each clip, read at
120, 60, 30 and 24 frames a second in turn. Time is that of the processor.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import bpy
import numpy as np
from mathutils import Matrix

import ik_addon
from ik_addon.authoring.placing import Control
from ik_addon.authoring.rigging import rig_legs
from ik_addon.bake.keys import bytes_of, set_bytes, times_of, write_curve
from ik_addon.bake.stepping import finish
from ik_addon.planting import Options, last_report
from ik_addon.planting.feet.clip import LegMotion
from ik_addon.planting.feet.contacts import HeelAndBall
from ik_addon.planting.feet.curves import runs
from ik_addon.planting.scene.checking import feet_seen
from ik_addon.planting.scene.control_tracks import keyed_controls, worlds_over
from ik_addon.planting.scene.correcting import apply_correction, change_correction
from ik_addon.planting.scene.kept_keys import curves_of
from ik_addon.planting.scene.limbs import keyed_contacts
from ik_addon.planting.scene.plant import Ground, planted_and_kept
from ik_addon.planting.scene.reading import leg_tips
from ik_addon.planting.scene.simplify import all_keys, simplify_keys
from ik_addon.rig.blender.clips import clip_name, clips_of, motion_frames, play
from ik_addon.solvers import ChainError

from . import keys, pages
from .character.files import armature_of, importers
from .planting import Legs, _set_rate, _slides

_TITLES = (
    "clip",
    "frames, fps",
    "keys",
    "fewer, %",
    "s",
    "way",
    "tip max, mean",
    "knee",
    "slide before",
    "after",
    "reach",
    "jerk",
    "ms: stance, air, body",
)
_WRITTEN = (
    *_TITLES[:4],
    "keys, Decimate",
    "tips: ours; Decimate",
    "knees",
    "slide",
    *("reach", "jerk", "s"),
)
_RATES = (1, 2, 4, 5)
"""Every so manieth frame of 120 a second."""


@dataclass(frozen=True)
class Seen:
    """What is seen of a clip at thirds of frames, and how far feet are from their targets at frames, (legs, T)."""

    thirds: LegMotion
    misses: np.ndarray


def _seen(ob: bpy.types.Object, frames: range, offsets: np.ndarray | None = None) -> tuple[Seen, np.ndarray]:
    """What is seen, and where ankles are in their targets, (legs, 3). offsets: these, if they are known."""
    legs, controls = Legs(ob), keyed_controls(ob)
    thirds = legs.seen(np.arange(3 * frames[0], 3 * frames[-1] + 1) / 3.0)
    feet = {limb.tip: limb.foot for limb in controls.limbs}
    own = [feet[tip] for tip in legs.tips]
    worlds = finish(worlds_over(bpy.context, controls, frames, own))
    targets = np.array([worlds[each] for each in own])
    ankles = np.concatenate((thirds.ankles[:, ::3], np.ones((*targets.shape[:2], 1))), axis=2)
    local = np.linalg.solve(targets, ankles[..., None])[..., :3, 0]
    offsets = np.median(local, axis=1) if offsets is None else offsets
    return Seen(thirds, np.linalg.norm(local - offsets[:, None], axis=2)), offsets


def _figures(before: Seen, now: Seen, sole: HeelAndBall, slide: float) -> list[str]:
    """The cells of one way to have fewer keys."""
    size = before.thirds.size
    one, other = (each.thirds for each in (before, now))
    points = [
        np.concatenate((each.ankles[:, None], sole.places(each.ankles, each.feet)), axis=1) for each in (one, other)
    ]
    off = np.linalg.norm(points[1] - points[0], axis=-1)[..., ::3] / size
    knees = np.linalg.norm(other.knees - one.knees, axis=-1)[:, ::3].max() / size
    jerks = [np.sqrt((np.diff(each.ankles[:, ::3], 3, axis=1) ** 2).mean()) for each in (one, other)]
    reach = max(0.0, float((now.misses - before.misses).max())) / size
    return [
        f"{off.max():.2%}, {off.mean():.2%}",
        f"{knees:.2%}",
        f"{slide:.1e}",
        f"{reach:.1e}",
        f"{jerks[1] / jerks[0]:.2f}",
    ]


def _graph_editor() -> dict:
    window = bpy.context.window_manager.windows[0]
    area = max(window.screen.areas, key=lambda each: each.width * each.height)
    area.type = "GRAPH_EDITOR"
    region = next(each for each in area.regions if each.type == "WINDOW")
    return {"window": window, "screen": window.screen, "area": area, "region": region}


def _decimate(ob: bpy.types.Object, counts: dict[Control, int], frames: range) -> None:
    """Blender's Decimate, each channel to as many keys."""
    everything = [curve for each in keyed_controls(ob).all for curve in keys.curves_of(each.ob)]
    for control, count in counts.items():
        own = [*curves_of(control).values()]
        for curve in everything:
            curve.select = False
            curve.keyframe_points.foreach_set("select_control_point", np.zeros(len(curve.keyframe_points), bool))
        for curve in own:
            curve.select, curve.hide, curve.lock = True, False, False
            curve.keyframe_points.foreach_set("select_control_point", np.ones(len(curve.keyframe_points), bool))
        with bpy.context.temp_override(**_graph_editor()):
            bpy.context.space_data.dopesheet.show_only_selected = False
            bpy.ops.graph.decimate(mode="RATIO", factor=max(0.0, 1.0 - count / len(frames)))


def _straighten(ob: bpy.types.Object, counts: dict[Control, int], frames: range) -> None:
    """Straight lines from key to key, divided at the frame that is farthest off, until there are as many keys."""
    rows = np.array(frames, float)
    for control, count in counts.items():
        curves = [*curves_of(control).values()]
        numbers = np.array([[curve.evaluate(frame) for frame in frames] for curve in curves]).T
        kept = {0, len(rows) - 1}
        while len(kept) < count:
            at = np.array(sorted(kept))
            lines = np.array([np.interp(rows, rows[at], column[at]) for column in numbers.T]).T
            kept.add(int(np.abs(lines - numbers).max(axis=1).argmax()))
        at = np.array(sorted(kept))
        for curve, column in zip(curves, numbers.T, strict=True):
            write_curve(curve, rows[at], column[at], None, (rows[0], rows[-1]))


def _counts(ob: bpy.types.Object) -> dict[Control, int]:
    return {
        each: len({time for curve in curves_of(each).values() for time in np.round(times_of(curve), 3).tolist()})
        for each in keyed_controls(ob).all
        if curves_of(each)
    }


def _corrections(ob: bpy.types.Object, frames: range) -> list[float]:
    """Milliseconds for a stance, a foot in the air, the body."""
    controls, found = keyed_controls(ob), []
    limb = next(each for each in controls.limbs if keyed_contacts(each.tip, frames) is not None)
    stands = keyed_contacts(limb.tip, frames).any(axis=0)
    middles = [[frames[(a + b) // 2] for a, b in runs(which)] for which in (stands, ~stands)]
    wanted = [(limb.foot, middles[0]), (limb.foot, middles[1]), (controls.body, [frames[len(frames) // 2]])]
    for control, own in wanted:
        if control is None or not own:
            found.append(np.nan)
            continue
        bpy.context.scene.frame_set(own[len(own) // 2])
        control.owner.location[0] += 0.03
        began = process_time()
        try:
            apply_correction(bpy.context, ob)
        except ChainError:
            found.append(np.nan)
            continue
        found.append(1e3 * (process_time() - began))
        change_correction(bpy.context, ob, 0, True)
    return found


def _rows(ob: bpy.types.Object, name: str, frames: range, plain: bool) -> Iterator[Sequence[str]]:
    """The rows of what an armature plays."""
    scene = bpy.context.scene
    fps = scene.render.fps / scene.render.fps_base
    try:
        finish(planted_and_kept(bpy.context, Legs(ob).tips, frames, Options(), Ground()))
    except ChainError as error:
        yield [name, str(error)]
        return
    planted, times = last_report(), np.arange(3 * frames[0], 3 * frames[-1] + 1) / 3.0
    before, offsets = _seen(ob, frames)
    sole = finish(feet_seen(bpy.context, ob, frames)).sole
    slides = [_slides(before.thirds, sole, planted, times)]
    corrected = ", ".join(f"{each:.0f}" for each in _corrections(ob, frames))
    dense, began = _counts(ob), process_time()

    def cells(way: str, seconds: str, milliseconds: str) -> list[str]:
        now = _seen(ob, frames, offsets)[0]
        figures = _figures(before, now, sole, _slides(now.thirds, sole, planted, times))
        few, all_of_them = sum(_counts(ob).values()), sum(dense.values())
        sizes = [f"{all_of_them} → {few}", f"{100.0 * (1.0 - few / all_of_them):.0f}"]
        own = [name, f"{len(frames)}, {fps:.0f}", *sizes, seconds, way, *figures[:2], f"{slides[0]:.1e}", *figures[2:]]
        return [*own, milliseconds]

    try:
        simplify_keys(bpy.context, ob)
    except ChainError as error:
        yield [name, str(error)]
        return
    seconds = process_time() - began
    few = _counts(ob)
    yield cells("Simplify Keys", f"{seconds:.2f}", corrected)
    if plain:
        return
    all_keys(bpy.context, ob)
    known = [(curve, bytes_of(curve)) for each in few for curve in curves_of(each).values()]
    for way, change in (("Decimate", _decimate), ("straight", _straighten)):
        change(ob, few, frames)
        yield cells(way, "", "")
        for curve, own in known:
            set_bytes(curve, own)


# Legs out of arrays


def _character(clip: LegMotion) -> bpy.types.Object:
    """An armature of a body and two legs that moves as these do, with keys on every frame."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scene, data = bpy.context.scene, bpy.data.armatures.new("Legs")
    ob = bpy.data.objects.new("Legs", data)
    scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    ob.select_set(True)
    poses = _poses(clip)
    bpy.ops.object.mode_set(mode="EDIT")
    for name, (parent, pose, length) in poses.items():
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = (0.0, 0.0, 0.0), (0.0, length, 0.0)
        bone.matrix = Matrix(pose[0])
        bone.parent = data.edit_bones.get(parent)
    bpy.ops.object.mode_set(mode="OBJECT")
    values = {}
    for name, (parent, pose, _) in poses.items():
        bone = data.bones[name]
        rest, above = np.array(bone.matrix_local, float), np.eye(4)
        if parent:
            above = poses[parent][1] @ np.linalg.inv(np.array(data.bones[parent].matrix_local, float))
        local = np.linalg.inv(above @ rest) @ pose
        turns = np.array([Matrix(each).to_quaternion() for each in local])
        turns[1:] *= np.cumprod(np.sign((turns[1:] * turns[:-1]).sum(axis=1)))[:, None]
        path = f'pose.bones["{name}"]'
        values[f"{path}.rotation_quaternion"] = turns.tolist()
        if not parent:
            values[f"{path}.location"] = local[:, :3, 3].tolist()
    scene.render.fps, scene.frame_start, scene.frame_end = round(clip.fps), 1, clip.frame_count
    keys.write(ob, range(1, clip.frame_count + 1), values)
    return ob


def _poses(clip: LegMotion) -> dict[str, tuple[str, np.ndarray, float]]:
    """By the names of bones their parents, poses (T, 4, 4) in armature space, and lengths."""
    left, right = clip.hips
    body = _frame(np.broadcast_to((0.0, 0.0, 1.0), left.shape), left - right, (left + right) / 2.0)
    found = {"Hips": ("", body, 0.2 * clip.size)}
    for k, side in enumerate("LR"):
        hip, knee, ankle = clip.hips[k], clip.knees[k], clip.ankles[k]
        aside = clip.feet[k, :, :, 0]
        foot = np.tile(np.eye(4), (len(hip), 1, 1))
        foot[:, :3, :3], foot[:, :3, 3] = clip.feet[k], ankle
        found[f"thigh.{side}"] = ("Hips", _frame(knee - hip, aside, hip), float(clip.lengths[k, 0]))
        found[f"shin.{side}"] = (f"thigh.{side}", _frame(ankle - knee, aside, knee), float(clip.lengths[k, 1]))
        found[f"foot.{side}"] = (f"shin.{side}", foot, float(np.linalg.norm(clip.balls[k, 0] - ankle[0])))
    return found


def _frame(y: np.ndarray, x: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Matrices (T, 4, 4) with Y along y (T, 3), and X near x."""
    found = np.tile(np.eye(4), (len(y), 1, 1))
    y = y / np.linalg.norm(y, axis=1, keepdims=True)
    z = np.cross(x, y)
    z = z / np.linalg.norm(z, axis=1, keepdims=True)
    found[:, :3, 0], found[:, :3, 1], found[:, :3, 2], found[:, :3, 3] = np.cross(y, z), y, z, place
    return found


def _of_arrays(file: Path, words: Sequence[str], most: int, plain: bool) -> Iterator[Sequence[str]]:
    with np.load(file) as data:
        names = sorted({key.split("/")[0] for key in data.files})
        for number, name in enumerate(each for each in names if any(word in each for word in words)):
            step = _RATES[number % len(_RATES)]
            own = {key.split("/")[1]: data[key] for key in data.files if key.startswith(f"{name}/")}
            rows = {key: own[key][:, : most * step : step] for key in ("hips", "knees", "ankles", "balls", "feet")}
            ob = _character(LegMotion(float(own["fps"]) / step, own["lengths"], *rows.values()))
            rig_legs(bpy.context, ob)
            yield from _rows(ob, name, motion_frames(ob)[:most], plain)


def _of_file(file: Path, words: Sequence[str], most: int, plain: bool) -> Iterator[Sequence[str]]:
    ob = armature_of(str(file), next(iter(importers(str(file)))))
    if ob is None:
        return
    _set_rate(file)
    if not leg_tips(ob):
        rig_legs(bpy.context, ob)
    clips = clips_of(ob)
    for clip in clips:
        name = clip_name(clip, clips).rpartition("|")[2]
        if any(word in name.lower() for word in words):
            play(ob, clip)
            frames = motion_frames(ob)
            if frames and len(frames) > 5:
                yield from _rows(ob, f"{file.stem} {name}", frames[:most], plain)


def _beside(ours: Sequence[str], decimate: Sequence[str]) -> list[str]:
    """The cells of a clip in the document."""
    tips, knees, slide = ("; ".join(row[k].split(", ")[0] for row in (ours, decimate)) for k in (6, 7, 9))
    return [*ours[:4], decimate[2].split(" → ")[1], tips, knees, slide, ours[10], ours[11], ours[4]]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument(
        "--clips", nargs="+", default=[""], metavar="WORD", help="of clips' names; all if none is given"
    )
    parser.add_argument("--frames", type=int, default=480, metavar="COUNT", help="the first of each clip")
    parser.add_argument("--plain", action="store_true", help="nothing beside it")
    parser.add_argument("--write", action="store_true", help="put the table into docs/motion_figures.md")
    options = parser.parse_args()
    ik_addon.register()
    print(f"Blender {bpy.app.version_string}\n\n| {' | '.join(_TITLES)} |\n|{' --- |' * len(_TITLES)}")
    found: dict[str, list[Sequence[str]]] = {}
    for file in options.files:
        rows = _of_arrays if file.suffix == ".npz" else _of_file
        for row in rows(file, options.clips, options.frames, options.plain):
            print(f"| {' | '.join(row)} |", flush=True)
            found.setdefault(row[0], []).append(row)
    page = pages.Page("motion_figures.md", options.write and not options.plain)
    page.put("few keys", pages.table(_WRITTEN, (_beside(*own[:2]) for own in found.values() if len(own) == 3)))


if __name__ == "__main__":
    main()
