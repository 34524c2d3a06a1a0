"""The certificate of a bake or check: what was measured at each frame, as a dict and as words."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import atan2, degrees, hypot

import bpy
import numpy as np
from mathutils import Quaternion

from .. import messages
from ..rig.blender.armatures import armature_named
from ..rig.blender.channels import quaternion_of
from ..rig.pose.kinematics import joints_of
from ..rig.pose.solving import PosedLimb
from ..rig.pose.tracks import OUTCOMES, PoseTrack, Reading
from ..solvers import Outcome
from ..solvers.arrays import conjugate, multiply
from ..solvers.chain import MET
from .certificate import MISSES, UNSEEN, range_words
from .radar import Flags, Radar

_last: dict = {}


@dataclass(slots=True)
class ChainRecord:
    """What a chain did at the frames of a bake."""

    armature: str
    bone: str
    chain_count: int
    solver: str = ""
    frames: list[int] = field(default_factory=list)
    errors_world: list[float] = field(default_factory=list)
    unreached: list[int] = field(default_factory=list)
    limited: list[int] = field(default_factory=list)
    moved: list[int] = field(default_factory=list)
    max_lag: float = 0.0
    max_step: float = 0.0
    max_step_frame: int | None = None
    keys: int = 0
    length_world: float = 0.0
    flags: Flags | None = None
    _radar: Radar = field(default_factory=Radar)
    _rotations: list[Quaternion] = field(default_factory=list)

    def add(self, frame: int, posed: PosedLimb, error_world: float) -> None:
        """What a chain did at a frame. error_world: distance from its tip to its target there, as Blender shows it."""
        self.solver = posed.limb.solver
        self.frames.append(frame)
        self.errors_world.append(error_world)
        if posed.outcome is Outcome.LIMITED:
            self.limited.append(frame)
        elif posed.outcome is not Outcome.REACHED:
            self.unreached.append(frame)
        elif posed.lag_world:
            self.max_lag = max(self.max_lag, posed.lag_world)
        rotations = [
            quaternion_of(raw, reading.mode) for raw, reading in zip(posed.rotations, posed.limb.turned, strict=True)
        ]
        for before, after in zip(self._rotations, rotations, strict=False):
            self._step(angle_between(before, after), frame)
        self._rotations = rotations
        length = posed.limb.chain.length * posed.limb.world.median_scale
        if error_world > posed.error_world + UNSEEN * length:
            self.moved.append(frame)
        self.length_world = self.length_world or length
        self._radar.see(frame, posed)

    def add_track(
        self, frames: Sequence[int], reading: Reading, pose: PoseTrack, errors: np.ndarray, flags: Flags
    ) -> None:
        """What a chain did at all frames at once. errors: in world units, at each."""
        self.solver = reading.model.solver_name
        self.frames += frames
        self.errors_world += errors.tolist()
        outcomes = zip(frames, pose.outcomes.tolist(), strict=True)
        missed = [(frame, OUTCOMES[number]) for frame, number in outcomes if number]
        self.limited += [frame for frame, outcome in missed if outcome is Outcome.LIMITED]
        self.unreached += [frame for frame, outcome in missed if outcome is not Outcome.LIMITED]
        size = np.abs(np.linalg.det(reading.goal.to_world)) ** (1.0 / 3.0)
        lengths = np.linalg.norm(np.diff(joints_of(reading.model, reading.fk), axis=1), axis=-1).sum(axis=1) * size
        self.length_world, self.flags = float(lengths[0]), flags
        settings = reading.goal.settings
        soft = (settings["softness"] > 0.0) & (settings["influence"] == 1.0) & (pose.outcomes == 0)
        lags = np.where(soft & (errors > MET * lengths), errors, 0.0)
        self.max_lag = max(self.max_lag, float(lags.max(initial=0.0)))
        turns = multiply(conjugate(pose.rotations[:-1]), pose.rotations[1:])
        angles = 2.0 * np.arctan2(np.linalg.norm(turns[..., 1:], axis=-1), np.abs(turns[..., 0]))
        if angles.size:
            steps = angles.max(axis=1)
            largest = int(steps.argmax())
            self._step(float(steps[largest]), frames[largest + 1])

    def _step(self, angle: float, frame: int) -> None:
        if angle > self.max_step:
            self.max_step, self.max_step_frame = angle, frame

    def summary(self, step: int) -> dict:
        """The chain's entry in the report; see `file_report`."""
        errors = self.errors_world
        worst = max(range(len(errors)), key=errors.__getitem__, default=None)
        flags = self.flags or self._radar.flags(step)
        return {
            "armature": self.armature,
            "bone": self.bone,
            "solver": self.solver,
            "chain_count": self.chain_count,
            "frames": len(self.frames),
            "max_error": errors[worst] if worst is not None else 0.0,
            "mean_error": sum(errors) / len(errors) if errors else 0.0,
            "worst_frame": self.frames[worst] if worst is not None else None,
            "unreached_frames": ranges(self.unreached, step),
            "limited_frames": ranges(self.limited, step),
            "moved_frames": ranges(self.moved, step),
            "max_lag": self.max_lag,
            "max_step_degrees": degrees(self.max_step),
            "max_step_frame": self.max_step_frame,
            "length": self.length_world,
            "aligned_frames": ranges(flags.aligned, step),
            "straight_frames": ranges(flags.straight, step),
            "flipped_frames": ranges(flags.flipped, step),
            "keys": self.keys,
        }


def angle_between(a: Quaternion, b: Quaternion) -> float:
    """Angle in radians of the rotation between two orientations (exact for small angles, unlike `Quaternion.angle`)."""
    difference = a.inverted() @ b
    return 2.0 * atan2(hypot(difference.x, difference.y, difference.z), abs(difference.w))


def ranges(frames: Sequence[int], step: int) -> list[list[int]]:
    """Runs of frames that follow each other at `step`, as [first, last]."""
    runs: list[list[int]] = []
    for frame in frames:
        if runs and frame - runs[-1][1] <= step:
            runs[-1][1] = frame
        else:
            runs.append([frame, frame])
    return runs


def file_report(frames: range, seconds: float, chains: Sequence[ChainRecord], error: str | None = None) -> dict:
    """One file's entry in the report. Errors are distances from tip to target in world units, as Blender shows them.

    unreached_frames: the bones are too short or too long for the target; limited_frames: joint limits keep the tip from
    it; moved_frames: something else moves the tip farther from it than it was solved to be; max_lag: how far softness
    holds the tip back where the target is in reach; max_step_frame: the frame that the largest turn of a bone leads to;
    length: the limb's, in world units; aligned_frames, straight_frames, flipped_frames: what the radar saw (radar.py);
    keys: how many key points were written, 0 for a check.
    """
    return {
        "file": bpy.data.filepath,
        "frames": [frames.start, frames[-1] if frames else frames.start, frames.step],
        "seconds": seconds,
        "chains": [chain.summary(frames.step) for chain in chains],
        "error": error,
    }


def publish(file: dict) -> dict:
    """Make the full report of one file: for scripts the last report, and on each armature its own part."""
    report = {"blender": bpy.app.version_string.split()[0], "files": [file]}
    _last.clear()
    _last.update(report)
    for name in {chain["armature"] for chain in file["chains"]}:
        own = [chain for chain in file["chains"] if chain["armature"] == name]
        # Of a linked one it is shown until the file is closed.
        armature_named(name).analytic_ik_report = json.dumps({**file, "chains": own})
    return report


def last_report() -> dict:
    """The report of the last bake or check in this Blender; empty before the first."""
    return dict(_last)


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
        frames=chain["frames"],
        error=chain["max_error"],
        worst=chain["worst_frame"],
        step=chain["max_step_degrees"],
    )
    for kind, what in MISSES.items():
        if chain[kind]:
            line += messages.RESULT_MISSES(what=what, frames=", ".join(map(range_words, chain[kind])))
    if chain.get("max_lag"):
        line += messages.RESULT_HELD_BACK(distance=chain["max_lag"])
    return line


def register() -> None:
    """Make Blender know where an armature keeps its report."""
    bpy.types.Object.analytic_ik_report = bpy.props.StringProperty(
        name="Analytic IK Report", options={"HIDDEN"}, override={"LIBRARY_OVERRIDABLE"}
    )


def unregister() -> None:
    """Take that away."""
    del bpy.types.Object.analytic_ik_report
