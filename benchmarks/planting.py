"""What Plant Feet does to clips from anywhere: `python -m benchmarks.planting FILE_OR_FOLDER…  [--clips WORD…]`.

Each file is rigged, and each of its clips is planted with the defaults: a row of what became of it, or why it was left
alone. All figures are measured on the bones as Blender evaluates them, by the clip check, and of contacts also three
times between two frames; lengths are in leg lengths. A clip in place stands on the ground that passes below it.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np

import ik_addon
from ik_addon.authoring.rigging import rig_legs
from ik_addon.bake.stepping import finish
from ik_addon.planting import Options, last_report
from ik_addon.planting.feet.clip import LegMotion
from ik_addon.planting.feet.contacts import HeelAndBall
from ik_addon.planting.feet.judging import KNEE_NOISE, MORE_OPEN, MORE_SUNKEN
from ik_addon.planting.feet.loops import period_of
from ik_addon.planting.feet.measures import compared
from ik_addon.planting.scene.checking import feet_seen
from ik_addon.planting.scene.plant import Ground, planted_and_kept
from ik_addon.planting.scene.reading import leg_of, leg_tips
from ik_addon.rig.blender.clips import clip_name, clips_of, motion_frames, play
from ik_addon.rig.model.limb import chain_bones, posed_joints
from ik_addon.solvers import ChainError

from . import pages
from .character.files import armature_of, importers

_TITLES = (
    "clip",
    "frames",
    "contacts",
    "slide before",
    "after",
    "between",
    "knee speed",
    "body",
    "sinks before",
    "after",
    "what happened",
)
FAST_KNEES, FAR = 1.25, 0.03
"""Times as fast as before that knees may bend, and part of a leg that the body may move, without being counted. What
is slower than `KNEE_NOISE` nobody sees.
"""
STANDS = 1e-3
"""Part of a leg by which no foot that stands may slide more than before."""


class Legs:
    """The legs of an armature as Blender evaluates them."""

    def __init__(self, ob: bpy.types.Object) -> None:
        self.ob = ob
        self.tips = leg_tips(ob)
        self.legs = [leg_of(tip) for tip in self.tips]

    def seen(self, times: Sequence[float]) -> LegMotion:
        """The legs at some times of the scene."""
        scene, found = bpy.context.scene, []
        for time in times:
            scene.frame_set(int(time // 1), subframe=time % 1.0)
            shown = self.ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
            found.append([self._leg(shown, k) for k in range(len(self.legs))])
        rows = [np.array([[leg[k] for leg in row] for row in found]).swapaxes(0, 1) for k in range(5)]
        hips, knees, ankles, balls, feet = rows
        fps = scene.render.fps / scene.render.fps_base / (times[1] - times[0])
        return LegMotion(fps, np.array([leg.lengths for leg in self.legs]), hips, knees, ankles, balls, feet)

    def _leg(self, shown: bpy.types.Object, number: int) -> tuple[np.ndarray, ...]:
        world, bones, leg = np.array(shown.matrix_world, float), shown.pose.bones, self.legs[number]

        def at(point: Sequence[float]) -> np.ndarray:
            return world[:3, :3] @ np.array(point, float) + world[:3, 3]

        points = posed_joints([bones[bone.name] for bone in chain_bones(self.tips[number])])
        hip, knee, ankle = (at(points[k]) for k in (0, 1, -1))
        if leg.ball is None:
            return hip, knee, ankle, ankle, np.eye(3)
        pose = world @ np.array(bones[leg.foot].matrix, float)
        turn = pose[:3, :3] / np.linalg.norm(pose[:3, :3], axis=0)
        return hip, knee, pose[:3, 3], pose[:3, :3] @ leg.ball + pose[:3, 3], turn


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


@dataclass(frozen=True)
class Row:
    """What became of a clip. refusal: why it was left alone; "": it was planted, and these are its figures."""

    name: str
    refusal: str = ""
    frames: int = 0
    contacts: int = 0
    slides: tuple[float, float] = (0.0, 0.0)
    between: float = 0.0
    knees: tuple[float, float] = (0.0, 0.0)
    body: float = 0.0
    sinks: tuple[float, float] = (0.0, 0.0)
    opened: float = 0.0
    unreached: int = 0

    @property
    def why(self) -> str:
        """Why it was left alone, in short."""
        said = self.refusal.partition("': ")[2].partition(". ")[0]
        return "its feet stand already" if said.startswith("its feet stand") else said

    @property
    def is_worse(self) -> bool:
        """Whether feet slide or sink more than before, or a loop was opened."""
        slides, sinks = (new - old for old, new in (self.slides, self.sinks))
        return slides > STANDS or sinks > MORE_SUNKEN or self.opened > MORE_OPEN

    @property
    def cells(self) -> tuple[str, ...]:
        """Its cells in the table."""
        if self.refusal:
            return (self.name, *[""] * 9, f"left alone: {self.why}")
        return (
            self.name,
            str(self.frames),
            str(self.contacts),
            f"{self.slides[0]:.3f}",
            f"{self.slides[1]:.0e}",
            f"{self.between:.0e}",
            f"{self.knees[1] / max(self.knees[0], 1e-9):.2f}",
            f"{self.body:.3f}",
            f"{self.sinks[0]:.3f}",
            f"{self.sinks[1]:.3f}",
            "planted",
        )


def _row(ob: bpy.types.Object, name: str) -> Row:
    """Plant what an armature plays; its row."""
    legs, frames = Legs(ob), motion_frames(ob)
    try:
        if frames is None:
            return Row(name, f"'{name}': no keys move it")
        finish(planted_and_kept(bpy.context, legs.tips, frames, Options(), Ground()))
    except ChainError as error:
        return Row(name, str(error))
    report, seen = last_report(), finish(feet_seen(bpy.context, ob, frames))
    figures = compared(seen.clip, seen.before, seen.sole, seen.contacts, seen.standing.heights)
    times = np.arange(frames[0], frames[-1] + 0.01, 0.25)

    def both(figure: str) -> tuple[float, float]:
        old, new = (max(leg[figure] for leg in legs) for legs in zip(*figures, strict=True))
        return old, new

    seams = both("seam")
    return Row(
        name,
        frames=len(frames),
        contacts=sum(len(chain["contacts"]) for chain in report["chains"]),
        slides=both("slide"),
        between=_slides(legs.seen(times), seen.sole, report, times),
        knees=both("knee_speed"),
        body=report["body_shift"] / seen.clip.size,
        sinks=both("sunken"),
        opened=seams[1] - seams[0] if seen.before and period_of(seen.before) else 0.0,
        unreached=len(report["unreached_frames"]),
    )


def play_alone(ob: bpy.types.Object, name: str) -> None:
    """Let an armature object play the action of that name, and nothing else."""
    data = ob.animation_data_create()
    while data.nla_tracks:
        data.nla_tracks.remove(data.nla_tracks[0])
    data.action = bpy.data.actions[name]
    if hasattr(data, "action_slot") and data.action_slot is None and data.action.slots:
        data.action_slot = data.action.slots[0]


def _rows(source: Path, words: Sequence[str]) -> Iterator[Row]:
    """What became of each clip of a file whose name has one of these words."""
    ob = armature_of(str(source), next(iter(importers(str(source)))))
    if ob is None:
        return
    _set_rate(source)
    clips = clips_of(ob)
    if not clips and not motion_frames(ob):
        yield Row(source.stem, f"'{source.stem}': it has no clip")
        return
    try:
        if not leg_tips(ob):
            rig_legs(bpy.context, ob)
    except ChainError as error:
        yield Row(source.stem, str(error))
        return
    for name, clip in sorted(((clip_name(each, clips), each) for each in clips), key=lambda pair: pair[0].lower()):
        if any(word in name.lower() for word in words):
            play(ob, clip)
            yield _row(ob, name.rpartition("|")[2])


def _set_rate(source: Path) -> None:
    """Play a .bvh file as fast as it was captured; the importer's defaults do not."""
    if source.suffix == ".bvh":
        rate = next(line for line in source.read_text().splitlines() if line.startswith("Frame Time:"))
        bpy.context.scene.render.fps = round(1.0 / float(rate.partition(":")[2]))


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    """What became of all clips, in sentences."""
    planted = [row for row in rows if not row.refusal]
    unreached = sum(row.unreached for row in planted)
    yield f"Of {len(rows)} clips {len(planted)} are planted, {unreached} frames out of reach."
    for why, count in Counter(row.why.partition(":")[0] for row in rows if row.refusal).most_common():
        yield f"Left alone, {count}: {why}."
    for what, found in (
        ("worse than before", [row for row in planted if row.is_worse]),
        ("loops opened", [row for row in planted if row.opened > MORE_OPEN]),
        (
            f"knees more than {FAST_KNEES} times as fast",
            [row for row in planted if row.knees[1] > max(FAST_KNEES * row.knees[0], KNEE_NOISE)],
        ),
        (f"body moves by more than {FAR}", [row for row in planted if row.body > FAR]),
    ):
        yield f"{what.capitalize()}, {len(found)}: {', '.join(row.name for row in found) or 'none'}."


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("places", nargs="+", type=Path, metavar="FILE_OR_FOLDER")
    parser.add_argument(
        "--clips", nargs="+", default=[""], metavar="WORD", help="of clips' names; all if none is given"
    )
    parser.add_argument("--write", action="store_true", help="put it into docs/planted_clips.md")
    options = parser.parse_args()
    files = [file for place in options.places for file in (sorted(place.iterdir()) if place.is_dir() else [place])]
    ik_addon.register()
    print(f"Blender {bpy.app.version_string}")
    everything: list[Row] = []
    parts: list[str] = []
    for file in (file for file in files if file.suffix in (".bvh", ".glb", ".gltf", ".fbx", ".blend")):
        print(f"\n## {file.stem}\n")
        found = []
        made = pages.table(_TITLES, (found.append(row) or row.cells for row in _rows(file, options.clips)))
        parts.append(f"## {file.stem}\n\n{made}")
        everything += found
    summary = "\n".join(f"- {line}" for line in _summary(everything))
    print(f"\n{summary}")
    pages.Page("planted_clips.md", options.write).put("clips", "\n\n".join((summary, *parts)))


if __name__ == "__main__":
    main()
