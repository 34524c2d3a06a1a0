"""CCD as the paper describes it, section 2.2: a loose tolerance, and a limit on the sweeps."""

from collections.abc import Iterator
from itertools import accumulate
from operator import matmul

from mathutils import Quaternion, Vector

from .setup import ROOT, TOLERANCE, PaperChain, Pose

MAX_SWEEPS = 99


def ccd(chain: PaperChain, pose: Pose, target: Vector) -> tuple[Pose, int]:
    """The pose with the end near the target, and the sweeps it took: 99 also where it never came near."""
    for done, swept in enumerate(sweeps(chain, pose, target), 1):
        pose = swept
        if (pose.end(chain) - target).length <= TOLERANCE or done == MAX_SWEEPS:
            break
    return pose, done


def sweeps(chain: PaperChain, pose: Pose, target: Vector) -> Iterator[Pose]:
    """The poses after one sweep, two, and so on without end, each from the tip to the root."""
    while True:
        pose = _sweep(chain, pose, target)
        yield pose


def _sweep(chain: PaperChain, pose: Pose, target: Vector) -> Pose:
    points = [ROOT]
    for along, length in zip(pose.directions, chain.lengths, strict=True):
        points.append(points[-1] + along * length)
    end = points.pop()
    turned: list[Quaternion] = []
    for k in reversed(range(len(points))):
        to_end = end - points[k]
        turn = to_end.rotation_difference(target - points[k])
        limit = chain.limits[k]
        if limit is not None:
            turn = _limited(turn, pose.directions[k - 1], pose.directions[k], limit)
        end = points[k] + turn @ to_end
        turned.append(turn)
    # A link turns with its own joint and with those before it.
    carried = list(accumulate(reversed(turned), matmul))
    directions = [(turn @ along).normalized() for turn, along in zip(carried, pose.directions, strict=True)]
    turns = pose.turns and tuple(
        [(turn @ before).normalized() for turn, before in zip(carried, pose.turns, strict=True)]
    )
    return Pose(tuple(directions), turns)


def _limited(turn: Quaternion, before: Vector, along: Vector, limit: float) -> Quaternion:
    """The turn, or as much of it as leaves the link inside the cone about the link before it."""
    wanted = turn @ along
    angle = before.angle(wanted)
    if angle <= limit:
        return turn
    edge = Quaternion(before.cross(wanted), limit) @ before
    return along.rotation_difference(edge)
