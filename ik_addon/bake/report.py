"""The certificate of a bake or check, as a dict and as words, with the flip radar: frames at which a limb's bend is ill
defined, nearly lost, or changes its side."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from math import cos, degrees, nan, radians, sin

import bpy
import numpy as np
from mathutils import Quaternion

from .. import messages
from ..rig.blender.armatures import armature_named
from ..rig.blender.file_memory import last, remember
from ..rig.blender.rotations import quaternion_of, rotation_in
from ..rig.model.limb_model import joints_of
from ..rig.pose.solving import PosedLimb
from ..rig.pose.track_solving import PoseTrack, Reading
from ..solvers import ChainError, Outcome
from ..solvers.arrays import conjugate, cross, dot, multiply
from ..solvers.chain import MET
from ..solvers.vectors import SMALL
from .certificate import MISSES, UNSEEN, range_words
from .saving import TimeLimitError


@dataclass(frozen=True, slots=True)
class Course:
    """A chain at n frames; those at which it was off are left out.

    frames: (n,), ascending. follows: (n,), False where it keeps its FK pose. outcomes: (n,), of `Outcome`.
    counts: (n,), how many joints it has, for that may be animated. joints: (n, most, 3) from its root, root first, and
    at the end its last one again where it has fewer; targets, poles: (n, 3), from its root, NaN without a pole; all
    turned as the root's parent. rotations: (n, most, 4), local quaternions of the bones that it turns; NaN behind.
    errors, solved: (n,), distances in world units from its end to its target, as Blender shows them and as solved.
    lengths: (n,), of the chain in world units. soft: (n,), True where softness may hold its end back from its target.
    """

    frames: np.ndarray
    follows: np.ndarray
    outcomes: np.ndarray
    counts: np.ndarray
    joints: np.ndarray
    targets: np.ndarray
    poles: np.ndarray
    rotations: np.ndarray
    errors: np.ndarray
    solved: np.ndarray
    lengths: np.ndarray
    soft: np.ndarray


def course_at(frame: int, posed: PosedLimb, error_world: float) -> Course:
    """A chain that was read and solved at one frame. error_world: as Blender shows it."""
    limb, settings = posed.limb, posed.limb.settings
    turn = rotation_in(limb.parent_pose).conjugated() if limb.parent_pose else Quaternion()
    points = limb.joints(posed.poses_armature)
    root, pole = points[0], limb.pole_armature
    rotations = zip(posed.rotations, limb.turned, strict=True)
    rows = (
        frame,
        settings.influence > 0.0 and not posed.holds,
        posed.outcome,
        len(points),
        [turn @ (point - root) for point in points],
        turn @ (limb.target_armature - root),
        (nan, nan, nan) if pole is None else turn @ (pole - root),
        [quaternion_of(raw, reading.mode) for raw, reading in rotations],
        error_world,
        posed.error_world,
        limb.chain.length * limb.world.median_scale,
        settings.softness > 0.0 and settings.influence == 1.0,
    )
    return Course(*(np.array([own]) for own in rows))


def joined(courses: Sequence[Course]) -> Course:
    """A chain's frames one after the other."""
    columns = {each.name: [getattr(course, each.name) for course in courses] for each in fields(Course)}
    for name in ("joints", "rotations"):
        most = max(own.shape[1] for own in columns[name])
        columns[name] = [_padded(own, most, nan if name == "rotations" else own[:, -1:]) for own in columns[name]]
    return Course(**{name: np.concatenate(own) for name, own in columns.items()})


def _padded(rows: np.ndarray, most: int, filling: np.ndarray | float) -> np.ndarray:
    behind = np.full((len(rows), most - rows.shape[1], rows.shape[2]), filling)
    return np.concatenate((rows, behind), axis=1)


def course_of(frames: range, reading: Reading, pose: PoseTrack, joints: np.ndarray, errors: np.ndarray) -> Course:
    """A chain that was solved over all frames at once.

    joints: (n, most, 3), as shown. errors: (n,), in world units.
    """
    count, goal, root = len(frames), reading.goal, joints[:, 0]
    size = np.abs(np.linalg.det(goal.to_world[:, :3, :3])) ** (1.0 / 3.0)
    lengths = np.linalg.norm(np.diff(joints_of(reading.model, reading.fk), axis=1), axis=-1).sum(axis=1) * size
    soft = (goal.settings["softness"] > 0.0) & (goal.settings["influence"] == 1.0)
    return Course(
        frames=np.array(frames),
        follows=~pose.at_fk,
        outcomes=pose.outcomes,
        counts=np.full(count, joints.shape[1]),
        joints=joints - root[:, None],
        targets=pose.ends - root,
        poles=np.full((count, 3), nan) if goal.poles is None else goal.poles - root,
        rotations=pose.rotations,
        errors=errors,
        solved=errors,
        lengths=np.broadcast_to(lengths, count),
        soft=np.broadcast_to(soft, count),
    )


_SHAPES = {"joints": (1, 3), "targets": (3,), "poles": (3,), "rotations": (1, 4)}
NOTHING = Course(**{each.name: np.empty((0, *_SHAPES.get(each.name, ()))) for each in fields(Course)})
"""Of a chain that was off at all frames."""


ALIGNED = radians(5.0)
"""Angle at the root between target and pole, or between one and the opposite of the other, below which they count as
in line: what moves one of them sideways there turns the bend by more than eleven times that angle (1 / sin 5°)."""

EXTENDED = 0.999
"""Part of its length to which a limb reaches when it counts as straight. Two equal bones then bend by 5°, and as much
of the length as is left, a thousandth, takes all of that: from here on the knee turns faster than any target."""

FLIPPED = radians(30.0)
"""Turn of the bend about the line from root to tip, from one frame to the next, that counts as a flip: two whole turns
in a second at 24 frames. At a wider step as much more, ..."""

OTHER_SIDE = radians(90.0)
"""... but no more than this: it bends to the other side then, however long that took between two frames."""

_SIN_FLIPPED = sin(FLIPPED)
_NO_SIDE = 1e-3
"""Part of its length by which a limb's joints must lie off the line from root to tip, all of them together, for a side
to be told: with less the limb is straight to the eye, and single precision would choose the side."""


_TURN_BACK = 1e-12
"""Keeps the shortest way between two opposite lines, which there is none of, a number."""


@dataclass(frozen=True, slots=True)
class Flags:
    """Frames, ascending. aligned: target and pole are in line with the root; straight: the limb is nearly straight;
    flipped: those at which its bend has changed sides since the frame before."""

    aligned: list[int]
    straight: list[int]
    flipped: list[int]


def flags_of(courses: Sequence[Course], step: int) -> list[Flags]:
    """What is to be told of chains, all at once; of each its frames lie `step` apart where it was not off between."""
    found = [Flags([], [], []) for _ in courses]
    by_size: dict[int, list[int]] = {}
    for k, course in enumerate(courses):
        if course.frames.size:
            by_size.setdefault(course.joints.shape[1], []).append(k)
    for same in by_size.values():
        # One chain's frames after the other's: short rows are what makes arrays slow.
        frames, counts, joints, targets, poles, follows = (
            np.concatenate([getattr(courses[k], name) for k in same])
            for name in ("frames", "counts", "joints", "targets", "poles", "follows")
        )
        starts = np.cumsum([courses[k].frames.size for k in same])[:-1]
        goes_on = (np.diff(frames) <= step) & (np.diff(counts) == 0)
        goes_on[starts - 1] = False
        # Components first.
        joints, targets, poles = joints.T.copy(), targets.T.copy(), poles.T.copy()
        flagged = np.zeros((3, len(frames)), bool)
        flagged[0] = follows & (dot(targets, poles) ** 2 >= cos(ALIGNED) ** 2 * _square(targets) * _square(poles))
        if joints.shape[1] > 2:
            length = np.sqrt(_square(joints[:, 1:] - joints[:, :-1])).sum(axis=0)
            reach = np.sqrt(_square(joints[:, -1]))
            flagged[1] = follows & (reach >= EXTENDED * length)
            flagged[2] = _has_flipped(frames, goes_on, joints, reach, length)
        flagged[1:] &= counts > 2
        for k, own in zip(same, np.split(flagged, starts, axis=1), strict=True):
            if own.any():
                found[k] = Flags(*(courses[k].frames[each].tolist() for each in own))
    return found


def _has_flipped(
    frames: np.ndarray, goes_on: np.ndarray, joints: np.ndarray, reach: np.ndarray, length: np.ndarray
) -> np.ndarray:
    """Where a limb bends elsewhere than it did when its side could last be told. goes_on: (n - 1), where the next one
    is the same limb at its next frame. joints: (3, bones + 1, n), from the root."""
    along = joints[:, -1] / np.maximum(reach, SMALL)
    inner = joints[:, 1:-1]
    off_line = inner - dot(inner, along[:, None]) * along[:, None]
    size = np.sqrt(_square(off_line).sum(axis=0))
    told = np.minimum(size, reach) > _NO_SIDE * length
    # Nearly always the joints move too little for a turn this wide, and that is told quickly.
    moved = np.sqrt(_square(off_line[:, :, 1:] - off_line[:, :, :-1]).sum(axis=0))
    moved += np.sqrt(_square(along[:, 1:] - along[:, :-1])) * size[:-1]
    quiet = told[:-1] & (moved <= _SIN_FLIPPED * size[1:])
    now = np.flatnonzero(told[1:] & ~quiet) + 1
    flipped = np.zeros(len(frames), bool)
    if now.size:
        places = np.arange(len(frames))
        last_told = np.maximum.accumulate(np.where(told, places, -1))
        began = np.maximum.accumulate(np.where(goes_on, 0, places[1:]))
        now = now[last_told[now - 1] >= began[now - 1]]
        before = last_told[now - 1]
        turns = _turns(off_line[:, :, before], along[:, before], off_line[:, :, now], along[:, now])
        flipped[now] = turns > np.minimum(FLIPPED * (frames[now] - frames[before]), OTHER_SIDE)
    return flipped


def _turns(off_before: np.ndarray, along_before: np.ndarray, off_line: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Angles in radians by which limbs turned about the lines from root to tip.

    A limb is brought from the line before to the line now by the shortest way. What is left is the turn about it that
    brings the inner joints, all together, closest to where they are now. off_before, off_line: these joints'
    distances from the line (3, joints, n); along_before, along: its directions (3, n).
    """
    # The shortest turn, of vectors square to the first line.
    half = (along_before + along) / np.maximum(1.0 + dot(along_before, along), _TURN_BACK)
    brought = off_before - dot(off_before, along[:, None]) * half[:, None]
    across = dot(cross(brought, off_line), along[:, None]).sum(axis=0)
    return np.abs(np.arctan2(across, dot(brought, off_line).sum(axis=0)))


def _square(a: np.ndarray) -> np.ndarray:
    return dot(a, a)


SCHEMA = 1
"""Version of the shape of reports: it changes if something that was there is no longer, or means something else."""


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
    """One file's entry in the report; its fields: `ik_addon/report.schema.json`."""
    flags = flags_of([record.course for record in records], frames.step)
    return {
        "file": bpy.data.filepath,
        "frames": [frames.start, frames[-1] if frames else frames.start, frames.step],
        "seconds": seconds,
        "chains": [_entry(*each, frames.step) for each in zip(records, flags, strict=True)],
        "error": None,
    }


def bare_entry(seconds: float = 0.0, **said: object) -> dict:
    """The entry of a file that is of no frames. said: what else it says."""
    return {"frames": None, "seconds": seconds, "chains": [], "error": None, **said}


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
    remember("bake", report)
    entries = [entry for file in files for kind in _OF_ARMATURES for entry in file.get(kind, ())]
    for name in dict.fromkeys(entry["armature"] for entry in entries):
        own = [file for file in (_part_of(file, name) for file in files) if any(map(file.get, _OF_ARMATURES))]
        # Of a linked one it is shown until the file is closed.
        armature_named(name).analytic_ik_report = json.dumps({**own[0], "clips": own} if len(own) > 1 else own[0])
    return report


_OF_ARMATURES = ("chains", "feet", "metrics")


def _part_of(file: dict, armature: str) -> dict:
    lists = {kind: file[kind] for kind in _OF_ARMATURES if kind in file}
    own = {kind: [entry for entry in entries if entry["armature"] == armature] for kind, entries in lists.items()}
    return {**file, **own}


def last_report() -> dict:
    """The report of the last bake or check in this Blender; empty before the first."""
    return last("bake")


def report_of(ob: bpy.types.Object) -> dict | None:
    """What the last bake or check of an armature object left on it; None also where that was edited to nonsense."""
    try:
        return json.loads(ob.analytic_ik_report) if ob.analytic_ik_report else None
    except (ValueError, RecursionError):
        return None


def words(chain: dict) -> str:
    """One line that says what a chain's entry means."""
    if not chain["frames"]:
        return messages.RESULT_OFF(bone=chain["bone"])
    line = messages.RESULT(
        bone=chain["bone"],
        frames=messages.FRAMES(count=chain["frames"]),
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
    contacts = messages.CONTACTS(count=foot["contacts"])
    return messages.FOOT_RESULT(bone=foot["bone"], contacts=contacts, slides=slides, skating=skating, pops=pops)


def metric_words(metrics: dict) -> str:
    """One line that says what an armature's entry of public yardsticks means."""
    figures = [each for each in (metrics["before"], metrics["after"]) if each]
    said = [
        f"{name} {' -> '.join(f'{each[name]:.4g}' for each in figures)}"
        for name, value in metrics["after"].items()
        if value is not None
    ]
    return messages.OF(whose=metrics["armature"], said=", ".join(said))
