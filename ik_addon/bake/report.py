"""The certificate of a bake or check: what was measured at each frame, as a dict and as words."""

import json
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from math import degrees

import bpy
import numpy as np

from .. import messages
from ..rig.blender.armatures import armature_named
from ..solvers import ChainError, Outcome
from ..solvers.arrays import conjugate, multiply
from ..solvers.chain import MET
from .certificate import MISSES, UNSEEN, contacts_words, range_words
from .course import NOTHING, Course
from .radar import Flags, flags_of
from .stopping import TimeLimitError

SCHEMA = 1
"""Version of the shape of reports: it changes if something that was there is no longer, or means something else."""

_last: dict = {}


@dataclass(slots=True)
class ChainRecord:
    """What a bake or check did with a chain. keys: how many key points were written."""

    armature: str
    bone: str
    chain_count: int
    solver: str = ""
    course: Course = NOTHING
    keys: int = 0


def _entry(record: ChainRecord, flags: Flags, step: int) -> dict:
    """A chain's entry in the report; see `file_report`."""
    course = record.course
    frames, errors = course.frames.tolist(), course.errors
    worst = int(errors.argmax()) if frames else None
    soft = (course.soft > 0) & (course.outcomes == 0) & (course.solved > MET * course.lengths)
    lags = course.solved[soft]
    turns = multiply(conjugate(course.rotations[:-1]), course.rotations[1:])
    angles = 2.0 * np.arctan2(np.linalg.norm(turns[..., 1:], axis=-1), np.abs(turns[..., 0]))
    # Where a bone is not turned at both frames there is none.
    steps = np.fmax.reduce(angles, axis=1, initial=0.0)
    largest = int(steps.argmax()) if steps.any() else None

    def where(these: np.ndarray) -> list[list[int]]:
        return ranges(course.frames[these].tolist(), step)

    return {
        "armature": record.armature,
        "bone": record.bone,
        "solver": record.solver,
        "chain_count": record.chain_count,
        "frames": len(frames),
        "max_error": float(errors.max(initial=0.0)),
        "mean_error": float(errors.mean()) if frames else 0.0,
        "worst_frame": None if worst is None else frames[worst],
        "unreached_frames": where((course.outcomes == Outcome.TOO_FAR) | (course.outcomes == Outcome.TOO_NEAR)),
        "limited_frames": where(course.outcomes == Outcome.LIMITED),
        "moved_frames": where(errors > course.solved + UNSEEN * course.lengths),
        "max_lag": float(lags.max(initial=0.0)),
        "max_step_degrees": degrees(steps.max(initial=0.0)),
        "max_step_frame": None if largest is None else frames[largest + 1],
        "length": float(course.lengths[0]) if frames else 0.0,
        "aligned_frames": ranges(flags.aligned, step),
        "straight_frames": ranges(flags.straight, step),
        "flipped_frames": ranges(flags.flipped, step),
        "keys": record.keys,
    }


def ranges(frames: Sequence[int], step: int) -> list[list[int]]:
    """Runs of frames that follow each other at `step`, as [first, last]."""
    runs: list[list[int]] = []
    for frame in frames:
        if runs and frame - runs[-1][1] <= step:
            runs[-1][1] = frame
        else:
            runs.append([frame, frame])
    return runs


def file_report(frames: range, seconds: float, records: Sequence[ChainRecord]) -> dict:
    """One file's entry in the report. Errors are distances from tip to target in world units, as Blender shows them.

    unreached_frames: the bones are too short or too long for the target; limited_frames: joint limits keep the tip from
    it; moved_frames: something else moves the tip farther from it than it was solved to be; max_lag: how far softness
    holds the tip back where the target is in reach; max_step_frame: the frame that the largest turn of a bone leads to;
    length: the limb's, in world units; aligned_frames, straight_frames, flipped_frames: what the radar saw (radar.py);
    keys: how many key points were written, 0 for a check.
    """
    flags = flags_of([record.course for record in records], frames.step)
    return {
        "file": bpy.data.filepath,
        "frames": [frames.start, frames[-1] if frames else frames.start, frames.step],
        "seconds": seconds,
        "chains": [_entry(*each, frames.step) for each in zip(records, flags, strict=True)],
        "error": None,
    }


def left_out(error: ChainError) -> dict:
    """What the entry of a clip says that was left as it is. For want of time that is an error, and not what it is."""
    return {"left_out": str(error), "error": str(error) if isinstance(error, TimeLimitError) else None}


def whole_report(entries: Iterable[dict]) -> dict:
    """A report of these entries of files, in the shape that `ik_addon/report.schema.json` describes."""
    return {"schema": SCHEMA, "blender": bpy.app.version_string.split()[0], "files": [*entries]}


def publish(*files: dict) -> dict:
    """Make the full report of one file, with an entry for each of its clips: for scripts the last report, and on each
    armature its own part, with the entries of its clips beside the first.

    files: with an entry "feet" where a clip check was made.
    """
    report = whole_report(files)
    _last.clear()
    # What a script does with its own must not change this one.
    _last.update(deepcopy(report))
    entries = [entry for file in files for kind in _OF_ARMATURES for entry in file.get(kind, ())]
    for name in dict.fromkeys(entry["armature"] for entry in entries):
        own = [file for file in (_part_of(file, name) for file in files) if any(map(file.get, _OF_ARMATURES))]
        # Of a linked one it is shown until the file is closed.
        armature_named(name).analytic_ik_report = json.dumps({**own[0], "clips": own} if len(own) > 1 else own[0])
    return report


_OF_ARMATURES = ("chains", "feet")


def _part_of(file: dict, armature: str) -> dict:
    """What a file's entry says of one armature."""
    lists = {kind: file[kind] for kind in _OF_ARMATURES if kind in file}
    own = {kind: [entry for entry in entries if entry["armature"] == armature] for kind, entries in lists.items()}
    return {**file, **own}


def last_report() -> dict:
    """The report of the last bake or check in this Blender; empty before the first."""
    return deepcopy(_last)


def report_of(ob: bpy.types.Object) -> dict | None:
    """What the last bake or check of an armature object left on it; None also where that was edited to nonsense."""
    try:
        return json.loads(ob.analytic_ik_report) if ob.analytic_ik_report else None
    except (ValueError, RecursionError):
        return None


def frames_words(count: int) -> str:
    """So many frames, in words."""
    return messages.ONE_FRAME() if count == 1 else messages.FRAMES(count=count)


def words(chain: dict) -> str:
    """One line that says what a chain's entry means."""
    if not chain["frames"]:
        return messages.RESULT_OFF(bone=chain["bone"])
    line = messages.RESULT(
        bone=chain["bone"],
        frames=frames_words(chain["frames"]),
        error=chain["max_error"],
        worst=chain["worst_frame"],
        step=chain["max_step_degrees"],
    )
    for kind, what in MISSES.items():
        if chain[kind]:
            line += messages.RESULT_MISSES(what=what, frames=", ".join(map(range_words, chain[kind])))
    if chain["max_lag"]:
        line += messages.RESULT_HELD_BACK(distance=chain["max_lag"])
    return line


def foot_words(foot: dict) -> str:
    """One line that says what a leg's entry of a clip check means, in leg lengths as the report and limits of it."""
    figures = [each for each in (foot["before"], foot["after"]) if each]
    slides, skating, pops = (
        " -> ".join(form.format(each[name]) for each in figures)
        for name, form in (("slide", "{:.4f}"), ("skating", "{:.0%}"), ("knee_pops", "{}"))
    )
    contacts = contacts_words(foot["contacts"])
    return messages.FOOT_RESULT(bone=foot["bone"], contacts=contacts, slides=slides, skating=skating, pops=pops)


def register() -> None:
    """Make Blender know where an armature keeps its report."""
    bpy.types.Object.analytic_ik_report = bpy.props.StringProperty(
        name="Analytic IK Report", options={"HIDDEN"}, override={"LIBRARY_OVERRIDABLE"}
    )


def unregister() -> None:
    """Take that away."""
    del bpy.types.Object.analytic_ik_report
