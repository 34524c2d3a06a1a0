"""What a chain did over frames, in arrays: its report and the flip radar are made of that."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import nan

import numpy as np
from mathutils import Quaternion

from ..rig.blender.bones import rotation_in
from ..rig.blender.channels import quaternion_of
from ..rig.pose.kinematics import joints_of
from ..rig.pose.solving import PosedLimb
from ..rig.pose.tracks import PoseTrack, Reading


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
    size = np.abs(np.linalg.det(goal.to_world)) ** (1.0 / 3.0)
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
