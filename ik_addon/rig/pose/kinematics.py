"""Forward kinematics of chains over rows, and from the turns of links to local rotations.

All in the space of the root's parent; arrays have the row first, one or n of them; quaternions are (..., 4), w x y z.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...solvers.arrays import conjugate, multiply, rotated, side_by_side, slerp
from ..model.limb_model import LimbModel


@dataclass(frozen=True, slots=True)
class FkTrack:
    """The FK pose of a chain's bones, its end bones included.

    numbers: for each bone the numbers of its rotation channel, (n, 3 or 4).
    rotations, locations, scales: local, (n, bones, 4 or 3).
    turns, heads, sizes: (n, bones, 4), (n, bones, 3), (n, bones): orientation, head, and how much it is scaled.
    end: (n, 3), where the chain ends.
    lengthening: the FK scales (n, 3) of the bones in `model.scaled`.
    """

    numbers: tuple[np.ndarray, ...]
    rotations: np.ndarray
    locations: np.ndarray
    scales: np.ndarray
    turns: np.ndarray
    heads: np.ndarray
    sizes: np.ndarray
    end: np.ndarray
    lengthening: tuple[np.ndarray, ...] = ()

    @property
    def is_still(self) -> bool:
        """True if it is the same at all rows."""
        return len(self.turns) == len(self.heads) == len(self.end) == 1


def fk_track(
    model: LimbModel,
    numbers: tuple[np.ndarray, ...],
    rotations: np.ndarray,
    locations: np.ndarray,
    scales: np.ndarray,
    lengthening: tuple[np.ndarray, ...] = (),
) -> FkTrack:
    """Forward kinematics of evenly scaled bones that inherit all of their parents' motion."""
    turn, head, size = np.array([[1.0, 0.0, 0.0, 0.0]]), np.zeros((1, 3)), np.ones(1)
    offsets = model.rest_offsets + rotated(model.rest_turns, locations)
    in_parents = multiply(model.rest_turns, rotations)
    turns, heads, sizes = [], [], []
    end = head
    for k in range(len(model.bones)):
        head = head + size[:, None] * rotated(turn, offsets[:, k])
        turn = multiply(turn, in_parents[:, k])
        # What is off unit length adds up.
        turn = turn / np.linalg.norm(turn, axis=-1, keepdims=True)
        size = size * scales[:, k, 1]
        turns.append(turn)
        heads.append(head)
        sizes.append(size)
        if k == model.own - 1:
            end = head + size[:, None] * rotated(turn, model.end)
    turns, heads, sizes = map(side_by_side, (turns, heads, sizes))
    return FkTrack(numbers, rotations, locations, scales, turns, heads, sizes, end, lengthening)


def joints_of(model: LimbModel, fk: FkTrack) -> np.ndarray:
    """The joints (n, links + 1, 3) of a chain, root first."""
    return side_by_side([*(fk.heads[:, k] for k in model.links), fk.end])


def local_rotations(
    model: LimbModel, fk: FkTrack, link_turns: np.ndarray, foot_turns: list[np.ndarray], influences: np.ndarray
) -> np.ndarray:
    """The local rotations (n, turned, 4) of the bones that a chain turns.

    link_turns: (n, links, 4), how each link turned from the FK pose.
    foot_turns: the orientations (n, 4) of the bones on its end.
    influences: (n or 1).
    """
    turned, links = list(model.turned), len(model.links)
    own, after = fk.rotations[:, turned], fk.turns[:, turned]
    # Between a local rotation and the turn of its bone from the FK pose there are only constant rotations.
    before = multiply(own, conjugate(after))
    targets = [link_turns[:, k] for k in range(links)]
    targets += [multiply(each, conjugate(after[:, links + k])) for k, each in enumerate(foot_turns)]
    under = [multiply(conjugate(above), target) for above, target in pairwise(targets)]
    found = multiply(multiply(before, side_by_side([targets[0], *under])), after)
    if (influences == 1.0).all():
        return found
    found = slerp(own, found, influences[:, None])
    if foot_turns:
        # A foot is turned to its orientation under the tip as it is shown; a toe as it lies to the foot.
        turns = multiply(multiply(conjugate(before), found), conjugate(after))
        shown = turns[:, 0]
        for k in range(1, links):
            shown = multiply(shown, turns[:, k])
        turn = multiply(conjugate(shown), targets[links])
        local = multiply(multiply(before[:, links], turn), after[:, links])
        found[:, links] = slerp(own[:, links], local, influences)
    return found


def posed(model: LimbModel, fk: FkTrack, rotations: np.ndarray, stretches: np.ndarray) -> FkTrack:
    """Forward kinematics with solved local rotations (n, turned, 4), and lengthened by `stretches` (n)."""
    count = max(len(rotations), len(fk.rotations))
    locals_now = np.broadcast_to(fk.rotations, (count, *fk.rotations.shape[1:])).copy()
    locals_now[:, model.turned] = rotations
    scales = fk.scales
    if model.scaled:
        scales = np.broadcast_to(scales, (count, *scales.shape[1:])).copy()
        for name, exponent in model.scaled:
            if name in model.bones:
                scales[:, model.bones.index(name)] *= (stretches**exponent)[:, None]
    return fk_track(model, fk.numbers, locals_now, fk.locations, scales)
