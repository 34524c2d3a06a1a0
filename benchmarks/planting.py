"""What Plant Feet does to captures from anywhere: `python -m benchmarks.planting FILE_OR_FOLDER…  [--clips WORD…]`.

Each walk and run of each file is rigged and planted with the defaults. All figures are measured on the bones as
Blender evaluates them, at each frame and three times between two; distances are in leg lengths. A clip in place
stands on the ground that passes below it.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter

import bpy
import numpy as np

import ik_addon
from ik_addon.planting import last_report
from ik_addon.planting.feet.clip import LegMotion
from ik_addon.planting.feet.contacts import HeelAndBall, sole_of
from ik_addon.planting.feet.measures import measured
from ik_addon.planting.scene.limbs import foot_of
from ik_addon.planting.scene.reading import ball_of_chain, leg_tips
from ik_addon.planting.scene.sources import source_of
from ik_addon.rig.model.limb import chain_bones, end_in_tip, posed_joints

from .character.files import armature_of, importers

_TITLES = (
    "clip",
    "frames",
    "contacts",
    "slide before",
    "after",
    "between frames",
    "out of reach",
    "knee speed, times",
    "knee acceleration, times",
    "body",
    "seconds",
)


class Legs:
    """The legs of an armature as Blender evaluates them."""

    def __init__(self, ob: bpy.types.Object) -> None:
        self.ob = ob
        self.tips = leg_tips(ob)
        self.balls = {tip.name: ball_of_chain(tip)[0] for tip in self.tips}
        self.lengths = np.array([self._lengths(tip) for tip in self.tips])

    def _lengths(self, tip: bpy.types.PoseBone) -> tuple[float, float]:
        bones = [bone.bone for bone in chain_bones(tip)]
        joints = np.array([*(bone.head_local for bone in bones), bones[-1].matrix_local @ end_in_tip(tip)])
        links = np.linalg.norm(np.diff(joints, axis=0), axis=1) * self.ob.matrix_world.median_scale
        return float(links[0]), float(links[1:].sum())

    def seen(self, times: Sequence[float]) -> LegMotion:
        """The legs at some times of the scene."""
        scene, found = bpy.context.scene, []
        for time in times:
            scene.frame_set(int(time // 1), subframe=time % 1.0)
            shown = self.ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
            found.append([self._leg(shown, tip) for tip in self.tips])
        rows = [np.array([[leg[k] for leg in row] for row in found]).swapaxes(0, 1) for k in range(5)]
        hips, knees, ankles, balls, feet = rows
        fps = scene.render.fps / scene.render.fps_base / (times[1] - times[0])
        return LegMotion(fps, self.lengths, hips, knees, ankles, balls, feet)

    def _leg(self, shown: bpy.types.Object, tip: bpy.types.PoseBone) -> tuple[np.ndarray, ...]:
        world, bones = np.array(shown.matrix_world, float), shown.pose.bones

        def at(point: Sequence[float]) -> np.ndarray:
            return world[:3, :3] @ np.array(point, float) + world[:3, 3]

        end, own = foot_of(tip), self.balls[tip.name]
        points = posed_joints([bones[bone.name] for bone in chain_bones(tip)])
        hip, knee, ankle = (at(points[k]) for k in (0, 1, -1))
        if end is None or own is None:
            return hip, knee, ankle, ankle, np.eye(3)
        pose = world @ np.array(bones[end.name].matrix, float)
        return (
            hip,
            knee,
            pose[:3, 3],
            pose[:3, :3] @ own + pose[:3, 3],
            pose[:3, :3] / np.linalg.norm(pose[:3, :3], axis=0),
        )


def _slides(clip: LegMotion, sole: HeelAndBall, report: dict, times: np.ndarray) -> float:
    """The farthest that a locked point is from itself in one of its locks, seen from the ground."""
    places = sole.places(clip.ankles, clip.feet)
    places = places - (np.arange(len(times)) / clip.fps)[:, None] * np.array(report["ground_velocity"])
    worst = 0.0
    for leg, chain in enumerate(report["chains"]):
        for lock in chain["contacts"]:
            inside = (times >= lock["first"]) & (times <= lock["last"])
            way = places[leg, int(lock["point"] == "BALL")][inside]
            worst = max(worst, float(np.linalg.norm(way[:, None] - way, axis=-1).max()))
    return worst / clip.size


def _row(ob: bpy.types.Object, name: str) -> tuple[object, ...]:
    """Rig and plant what an armature plays; its row."""
    bpy.ops.analytic_ik.rig_legs()
    legs = Legs(ob)
    bpy.ops.analytic_ik.plant_feet("EXEC_DEFAULT")
    # The captured motion, and then that of the plan.
    report = last_report()
    first, last, _ = report["frames"]
    frames = np.arange(first, last + 1.0)
    began = perf_counter()
    bpy.ops.analytic_ik.plant_again()
    seconds = perf_counter() - began
    report = last_report()
    after = legs.seen(frames)
    between = legs.seen(np.arange(first, last + 0.01, 0.25))
    for tip in legs.tips:
        tip.analytic_ik_enabled = False
    source = source_of(ob)
    assert source is not None
    ob.animation_data.action = source
    before = legs.seen(frames)
    sole = sole_of(before)
    no_contact = np.zeros((before.leg_count, 2, len(frames)), bool)
    knees = [[own["knee_speed"], own["knee_acceleration"]] for own in measured(before, sole, no_contact)]
    knees_after = [[own["knee_speed"], own["knee_acceleration"]] for own in measured(after, sole, no_contact)]
    ratios = np.max(knees_after, axis=0) / np.max(knees, axis=0)
    return (
        name,
        len(frames),
        sum(len(chain["contacts"]) for chain in report["chains"]),
        f"{_slides(before, sole, report, frames):.3f}",
        f"{_slides(after, sole, report, frames):.0e}",
        f"{_slides(between, sole, report, np.arange(first, last + 0.01, 0.25)):.0e}",
        len(report["unreached_frames"]),
        f"{ratios[0]:.2f}",
        f"{ratios[1]:.2f}",
        f"{report['body_shift'] / before.size:.3f}",
        f"{seconds:.2f}",
    )


def play_alone(ob: bpy.types.Object, name: str) -> None:
    """Let an armature object play the action of that name, and nothing else."""
    data = ob.animation_data_create()
    while data.nla_tracks:
        data.nla_tracks.remove(data.nla_tracks[0])
    data.action = bpy.data.actions[name]
    if hasattr(data, "action_slot") and data.action_slot is None and data.action.slots:
        data.action_slot = data.action.slots[0]


def _clips(source: Path, words: Sequence[str]) -> Iterator[tuple[object, ...]]:
    """The row of each clip of a file, or why it has none."""
    option = next(iter(importers(str(source))))
    ob = armature_of(str(source), option)
    names = [action.name for action in bpy.data.actions]
    chosen = [name for name in names if any(word in name.lower() for word in words)] or names[:1]
    for name in chosen if ob is not None else ():
        ob = armature_of(str(source), option)
        play_alone(ob, name)
        shown = name if name == source.stem else f"{source.stem}: {name}"
        _set_rate(source)
        try:
            yield _row(ob, shown)
        except RuntimeError as error:
            yield (shown, *[""] * 9, " ".join(str(error).removeprefix("Error: ").split()))


def _set_rate(source: Path) -> None:
    """Play a .bvh file as fast as it was captured; the importer's defaults do not."""
    if source.suffix == ".bvh":
        rate = next(line for line in source.read_text().splitlines() if line.startswith("Frame Time:"))
        bpy.context.scene.render.fps = round(1.0 / float(rate.partition(":")[2]))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("places", nargs="+", type=Path, metavar="FILE_OR_FOLDER")
    parser.add_argument("--clips", nargs="+", default=["walk", "run", "jog"], metavar="WORD", help="of clips' names")
    options = parser.parse_args()
    files = [file for place in options.places for file in (sorted(place.iterdir()) if place.is_dir() else [place])]
    ik_addon.register()
    print(f"Blender {bpy.app.version_string}\n\n| {' | '.join(_TITLES)} |\n|{' --- |' * len(_TITLES)}")
    for file in files:
        if file.suffix in (".bvh", ".glb", ".gltf", ".fbx"):
            for row in _clips(file, options.clips):
                print(f"| {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()
