"""What the overlay shows of chains, as points and colours: no scene and no drawing.

Every shape is a fixed sum of a few points and vectors of its chain. So all chains are built at once: one product of a
constant table (the template) with these points and vectors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi

import numpy as np

from ...rig.model.limb import Range
from ...solvers import Outcome
from ...solvers.chain import MET

ASTRAY = len(Outcome)
"""How a chain stands to its target, where that is no `Outcome`: it is not solved, or something moves it after."""

# All colours of the overlay: of middle brightness, so that they stand out on dark and on light ground.
STATE_COLOURS = (
    (0.10, 0.72, 0.52),
    (0.96, 0.50, 0.08),
    (0.25, 0.58, 0.98),
    (0.76, 0.36, 0.95),
    (0.94, 0.22, 0.24),
)
"""Red, green and blue of each state."""
KNEE_COLOUR = (0.92, 0.70, 0.10)
"""Of the knee's circle and the line to the pole."""
BODY_COLOUR = (0.20, 0.70, 0.92)
"""Of a bone that follows its limbs."""
LIMIT_COLOUR = (0.66, 0.44, 0.92)
"""Of what a joint may do."""
FILL_ALPHA = 0.10

OFF = 1e-3
"""Distance, in parts of the chain's reach, from where a chain without limits should end that is no rounding."""
_HELD = 3.0 * MET
"""The same for a chain with limits: evaluated bones are in single precision."""
_THIN = 1e-4
"""Parts of its reach by which a chain bulges, or by which it cannot come nearer, that are not worth drawing."""


@dataclass(slots=True)
class Chains:
    """Where n chains are, each in the space of its armature.

    joints: (n, k, 3), root first; a chain of fewer repeats its tip. lengths: (n, k - 1), of the links as the chain is
    solved, zero beyond the tip. targets, poles: (n, 3), not a number where there is none. softness: (n,), part of the
    length. checked: (n,), whether a chain is where it was solved to, no influence or hold between. limited: (n,),
    whether it has joint limits. states: (n,), of those that are known; -1: by the geometry. worlds: (n, 4, 4), of
    the armatures.
    """

    joints: np.ndarray
    lengths: np.ndarray
    targets: np.ndarray
    poles: np.ndarray
    softness: np.ndarray
    checked: np.ndarray
    limited: np.ndarray
    states: np.ndarray
    worlds: np.ndarray


@dataclass(slots=True)
class Lines:
    """points: (m, 3), two of each line, in the world; colours: (m, 4)."""

    points: np.ndarray
    colours: np.ndarray


def lengths_of(joints: np.ndarray) -> np.ndarray:
    """The distances from joint to joint, (n, k - 1)."""
    return _norm(joints[:, 1:] - joints[:, :-1])


def reach_of(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nearest and the farthest that chains of these links reach."""
    far = lengths.sum(axis=1)
    return np.maximum(0.0, 2.0 * lengths.max(axis=1) - far), far


def states_of(chains: Chains) -> np.ndarray:
    """How each chain stands to its target: what the solvers call its outcome, but for its rounding."""
    near, far = reach_of(chains.lengths)
    root, tip = chains.joints[:, 0], chains.joints[:, -1]
    offset = chains.targets - root
    distance = _norm(offset)
    slack = MET * far
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        states = np.where(distance > far + slack, Outcome.TOO_FAR, Outcome.REACHED)
        states[distance < near - slack] = Outcome.TOO_NEAR
        span = chains.softness * far
        beyond = distance - (far - span)
        eased = far - span * np.exp(-beyond / span)
        held = np.clip(np.where((span > 0.0) & (beyond > 0.0), eased, distance), near, far)
        # A target on the root has no direction: there only the distance can be told.
        along = _unit(offset, tip - root)
        missed = _norm(tip - root - along * held[:, None])
        held_by_limits = chains.checked & chains.limited & (states == Outcome.REACHED) & (missed > _HELD * far)
        astray = chains.checked & ~chains.limited & ~(missed <= OFF * far)
    states[held_by_limits] = Outcome.LIMITED
    states[astray | ~np.isfinite(distance)] = ASTRAY
    return np.where(chains.states >= 0, chains.states, states)


# Templates

# What the shapes of a chain are sums of: points, then vectors.
_ROOT, _TIP, _TARGET, _KNEE, _POLE, _CENTRE = range(6)
_FAR, _NEAR, _CIRCLE = 6, 9, 12
"""The first of three vectors of the length of the reach, along the target, aside and across; and of two of the knee's
circle, towards the knee and across."""
_PARTS = 14
_POINTS = 6

# Groups of lines that are shown or not as a whole.
_REACH, _NEAREST, _LINE, _GAP, _BEND, _POLE_LINE = range(6)
_MARK = 6
"""The first of the marks of the states at the target: they differ by shape, for not everybody sees colors."""


class _Template:
    """Lines as rows of factors for a chain's points and vectors, each with its group and its alpha."""

    def __init__(self) -> None:
        self.rows: list[np.ndarray] = []
        self.groups: list[int] = []
        self.alphas: list[float] = []

    def line(self, group: int, rows: Sequence[np.ndarray], alphas: Sequence[float]) -> None:
        """A line through points."""
        for k in range(len(rows) - 1):
            self.rows += [rows[k], rows[k + 1]]
            self.alphas += [alphas[k], alphas[k + 1]]
            self.groups += [group, group]

    def dashes(self, group: int, start: int, end: int, count: int, alpha: float) -> None:
        """A broken line from one point to another."""
        for k in range(count):
            parts = [(k + at) / (count - 0.45) for at in (0.0, 0.55)]
            rows = [(1.0 - part) * _part(start) + part * _part(end) for part in parts]
            self.line(group, rows, (alpha, alpha))

    def arc(self, group: int, centre: int, first: int, second: int, angles: np.ndarray, alphas: np.ndarray) -> None:
        """Part of a circle, from its first vector towards its second."""
        rows = [_part(centre) + np.cos(t) * _part(first) + np.sin(t) * _part(second) for t in angles]
        self.line(group, rows, alphas.tolist())


def _part(k: int) -> np.ndarray:
    return np.eye(_PARTS)[k]


def _facing(angles: np.ndarray, strongest: float, weakest: float, power: float) -> np.ndarray:
    """An alpha that fades away from the angle zero."""
    return weakest + (strongest - weakest) * ((1.0 + np.cos(angles)) / 2.0) ** power


def _template() -> _Template:
    made = _Template()
    around, cap = np.linspace(-pi, pi, 73), np.linspace(-0.9, 0.9, 25)
    for group, first, strongest in ((_REACH, _FAR, 0.75), (_NEAREST, _NEAR, 0.55)):
        made.arc(group, _ROOT, first, first + 1, around, _facing(around, strongest, 0.07, 5.0))
        made.arc(group, _ROOT, first, first + 2, cap, strongest * np.cos(cap / cap[-1] * pi / 2.0))
    made.dashes(_LINE, _ROOT, _TARGET, 14, 0.85)
    made.line(_GAP, [_part(_TIP), _part(_TARGET)], (1.0, 1.0))
    made.arc(_BEND, _CENTRE, _CIRCLE, _CIRCLE + 1, around, _facing(around, 0.8, 0.16, 2.0))
    made.line(_BEND, [_part(_CENTRE), _part(_KNEE)], (0.15, 0.55))
    made.dashes(_POLE_LINE, _KNEE, _POLE, 16, 0.7)
    for state, lines in _MARKS.items():
        for second in (_FAR + 1, _FAR + 2):
            for line in lines:
                corners = [0.035 * (along * _part(_FAR) + aside * _part(second)) for along, aside in line]
                made.line(_MARK + state, [_part(_TARGET) + corner for corner in corners], (0.95,) * len(corners))
    return made


_MARKS = {
    Outcome.REACHED: (((1, 0), (0, 1), (-1, 0), (0, -1), (1, 0)),),
    Outcome.TOO_FAR: (((1.2, 0), (-0.7, 1), (-0.7, -1), (1.2, 0)),),
    Outcome.TOO_NEAR: (((-1.2, 0), (0.7, 1), (0.7, -1), (-1.2, 0)),),
    Outcome.LIMITED: (((0.8, 0.8), (-0.8, 0.8), (-0.8, -0.8), (0.8, -0.8), (0.8, 0.8)),),
    ASTRAY: (((1, 1), (-1, -1)), ((1, -1), (-1, 1))),
}
"""The mark of each state as lines, along the line from root to target and aside: a diamond, triangles that point away
from the root and to it, a square, a cross."""
_MADE = _template()
_ROWS = np.array(_MADE.rows, np.float32)
_GROUPS = np.array(_MADE.groups)
_COLOURS = np.empty((len(STATE_COLOURS), len(_GROUPS), 4), np.float32)
"""Of every point of the template, by the chain's state."""
for _state, _colour in enumerate(STATE_COLOURS):
    _COLOURS[_state, :, :3] = np.where(np.isin(_GROUPS, (_BEND, _POLE_LINE))[:, None], KNEE_COLOUR, _colour)
    _COLOURS[_state, :, 3] = _MADE.alphas


def points_of(what: str) -> slice:
    """Where the points of a shape stand among those of a chain: reach, nearest, line, gap, bend, pole line, or the mark
    of a state, such as "mark 0"."""
    names = ("reach", "nearest", "line", "gap", "bend", "pole line", *(f"mark {state}" for state in _MARKS))
    found = np.flatnonzero(names.index(what) == _GROUPS)
    return slice(int(found[0]), int(found[-1]) + 1)


def lines_of(chains: Chains, states: np.ndarray) -> Lines:
    """All lines of chains: their points chain after chain, the same number for each."""
    parts, groups = _parts(chains)
    groups[:, _GAP] &= states != Outcome.REACHED
    groups[:, _MARK:] &= states[:, None] == np.arange(len(_MARKS))
    # One product for all chains: they stand side by side.
    moved = _in_world(parts, chains.worlds).astype(np.float32).transpose(1, 0, 2).reshape(_PARTS, -1)
    points = (_ROWS @ np.nan_to_num(moved)).reshape(len(_ROWS), -1, 3).transpose(1, 0, 2)
    colours = _COLOURS[states]
    colours[..., 3] *= groups[:, _GROUPS]
    return Lines(points.reshape(-1, 3), colours.reshape(-1, 4))


def fill_of(chains: Chains, states: np.ndarray) -> Lines:
    """The limbs' bend planes as triangles from the root to every link but the first."""
    joints = chains.joints @ chains.worlds[:, :3, :3].transpose(0, 2, 1) + chains.worlds[:, None, :3, 3]
    count, inner = len(joints), joints.shape[1] - 2
    corners = np.empty((count, inner, 3, 3), np.float32)
    corners[:, :, 0], corners[:, :, 1], corners[:, :, 2] = joints[:, :1], joints[:, 1:-1], joints[:, 2:]
    colours = np.empty((count, inner * 3, 4), np.float32)
    colours[...] = _FILLS[states][:, None]
    return Lines(corners.reshape(-1, 3), colours.reshape(-1, 4))


_FILLS = np.array([(*colour, FILL_ALPHA) for colour in STATE_COLOURS], np.float32)


def knee_circles(joints: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For each chain: which joint is its knee, the circle's centre, and two vectors of its radius: to the knee and
    across, by the right-hand rule about the line from root to tip.

    The knee is the inner joint farthest from that line; the radius is zero where the limb is straight.
    """
    root = joints[:, 0]
    axis = joints[:, -1] - root
    along = _unit(axis, joints[:, min(1, joints.shape[1] - 1)] - root)
    offsets = joints - root[:, None]
    on_line = (offsets @ along[:, :, None]) * along[:, None]
    aside = _norm(offsets - on_line)
    knee = aside.argmax(axis=1)
    each = np.arange(len(joints))
    centre = root + on_line[each, knee]
    towards = joints[each, knee] - centre
    return knee, centre, towards, _cross(along, towards)


def _parts(chains: Chains) -> tuple[np.ndarray, np.ndarray]:
    """The points and vectors of each chain, (n, parts, 3), and which groups of lines it shows, (n, groups)."""
    joints, count = chains.joints, len(chains.joints)
    parts = np.empty((count, _PARTS, 3))
    near, far = reach_of(chains.lengths)
    root, tip = joints[:, 0], joints[:, -1]
    there, poled = np.isfinite(chains.targets[:, 0]), np.isfinite(chains.poles[:, 0])
    target = np.where(there[:, None], chains.targets, tip)
    knee, centre, towards, across = knee_circles(joints)
    knees = joints[np.arange(count), knee]
    along = _unit(target - root, tip - root)
    bulge = _norm(towards)
    bent = bulge > _THIN * far
    wished = np.where(poled[:, None], chains.poles - root, joints[:, 1] - root)
    side = np.where(bent[:, None], towards, wished)
    side = _unit(side - (side * along).sum(axis=1, keepdims=True) * along, _any_across(along))
    parts[:, _ROOT], parts[:, _TIP], parts[:, _TARGET], parts[:, _KNEE] = root, tip, target, knees
    parts[:, _POLE], parts[:, _CENTRE] = np.where(poled[:, None], chains.poles, knees), centre
    frame = np.stack((along, side, _cross(along, side)), axis=1)
    parts[:, _FAR : _FAR + 3], parts[:, _NEAR : _NEAR + 3] = frame * far[:, None, None], frame * near[:, None, None]
    parts[:, _CIRCLE], parts[:, _CIRCLE + 1] = towards, across
    shown = np.ones((count, _MARK + len(_MARKS)), bool)
    shown[:, _NEAREST] = near > _THIN * far
    shown[:, _LINE] = shown[:, _GAP] = there
    shown[:, _MARK:] = there[:, None]
    shown[:, _BEND], shown[:, _POLE_LINE] = bent, poled
    return parts, shown


def _in_world(parts: np.ndarray, worlds: np.ndarray) -> np.ndarray:
    moved = parts @ worlds[:, :3, :3].transpose(0, 2, 1)
    moved[:, :_POINTS] += worlds[:, None, :3, 3]
    return moved


# What joints may do

MARK_POINTS = 33
"""Of the rim of a joint's range."""
MARK_SIZE = 0.35
"""Radius of a joint's range as it is shown, in lengths of its bone."""


def hinge_mark(axis: str, limits: Range) -> np.ndarray:
    """Where a bone that turns about its x or z axis may point, in its rest frame: unit vectors from end to end."""
    angles = np.linspace(*limits, MARK_POINTS)
    zero, cos, sin = np.zeros(MARK_POINTS), np.cos(angles), np.sin(angles)
    return np.stack((zero, cos, sin) if axis == "x" else (-sin, cos, zero), axis=1)


def swing_mark(x: Range, z: Range) -> np.ndarray:
    """The rim of what a bone that swings about its x and z axes may point to, in its rest frame: unit vectors.

    As Blender's own IK joins the two: by quarter ellipses of sin(angle / 2), where both are limited.
    """
    angles = np.linspace(0.0, 2.0 * pi, MARK_POINTS)
    a, b = np.cos(angles), np.sin(angles)
    limit_a = np.abs(np.where(a > 0.0, *_swings(x)))
    limit_b = np.abs(np.where(b > 0.0, *_swings(z)))
    with np.errstate(divide="ignore"):
        shares = np.abs(a) / limit_a, np.abs(b) / limit_b
    elliptic = (-pi, pi) not in (x, z)
    size = np.minimum(1.0 / (np.hypot(*shares) if elliptic else np.maximum(*shares)), 1.0)
    return swung(a * size, b * size)


def cone_mark(angle: float) -> np.ndarray:
    """The rim of a cone about the y axis: unit vectors."""
    angles = np.linspace(0.0, 2.0 * pi, MARK_POINTS)
    size = np.sin(angle / 2.0)
    return swung(size * np.cos(angles), size * np.sin(angles))


def swung(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Whither the y axis points after swings of which these are sin(angle / 2) about the x and the z axis."""
    w = np.sqrt(np.maximum(0.0, 1.0 - x * x - z * z))
    return np.stack((-2.0 * w * z, 1.0 - 2.0 * (x * x + z * z), 2.0 * w * x), axis=1)


def _swings(limits: Range) -> tuple[float, float]:
    """sin(angle / 2) of the highest and the lowest, never quite zero."""
    low, high = (np.sin(max(-pi, min(pi, angle)) / 2.0) for angle in limits)
    return max(high, 1e-6), min(low, -1e-6)


def mark_lines(
    marks: np.ndarray, closed: np.ndarray, frames: np.ndarray, heads: np.ndarray, sizes: np.ndarray, worlds: np.ndarray
) -> Lines:
    """The lines of joints' ranges: their rims, and spokes to them.

    marks: (m, MARK_POINTS, 3) unit vectors in rest frames; closed: (m,), whether it is a rim all round; frames:
    (m, 3, 3), of which the columns are the axes of a rest frame in armature space; heads: (m, 3); sizes: (m,);
    worlds: (m, 4, 4), of the armatures.
    """
    to_world = worlds[:, :3, :3] @ (frames * sizes[:, None, None])
    origins = (worlds[:, :3, :3] @ heads[:, :, None])[:, :, 0] + worlds[:, :3, 3]
    rims = marks @ to_world.transpose(0, 2, 1) + origins[:, None]
    points = np.empty((len(marks), len(_SPOKES) * 2 + len(_RIM) * 2, 3), np.float32)
    rim_count = len(_RIM) * 2
    points[:, 0:rim_count:2], points[:, 1:rim_count:2] = rims[:, _RIM], rims[:, _RIM + 1]
    points[:, rim_count::2], points[:, rim_count + 1 :: 2] = origins[:, None], rims[:, _SPOKES]
    colours = np.empty((*points.shape[:2], 4), np.float32)
    colours[..., :3] = LIMIT_COLOUR
    colours[:, :rim_count, 3] = 0.9
    colours[:, rim_count:, 3] = np.where(closed[:, None], _CONE_SPOKES, _ARC_SPOKES)
    return Lines(points.reshape(-1, 3), colours.reshape(-1, 4))


_RIM = np.arange(MARK_POINTS - 1)
_SPOKES = np.array([0, 4, 8, 12, 16, 20, 24, 28, 32])
_CONE_SPOKES = np.tile([0.05, 0.3], len(_SPOKES))
_ARC_SPOKES = np.full(2 * len(_SPOKES), 0.12)
_ARC_SPOKES[[0, 1, -2, -1]] = 0.75


# Bones that follow their limbs


def body_lines(posed: np.ndarray, stands: np.ndarray, sizes: np.ndarray) -> Lines:
    """The lines of bones that follow their limbs: a diamond where each stands, and where it was posed a small cross,
    with a broken line from there; those only where it has moved.

    posed, stands: (m, 3), in the world; sizes: (m,), of the diamonds.
    """
    way = stands - posed
    moved = _norm(way) > _THIN * sizes
    dashes = posed[:, None] + way[:, None] * _DASHES[:, None]
    crosses = posed[:, None] + 0.5 * sizes[:, None, None] * _CROSS
    diamonds = stands[:, None] + sizes[:, None, None] * _DIAMOND
    points = np.concatenate((dashes, crosses, diamonds), axis=1).astype(np.float32)
    colours = np.empty((*points.shape[:2], 4), np.float32)
    colours[..., :3] = BODY_COLOUR
    colours[..., 3] = 0.95
    colours[:, : -len(_DIAMOND), 3] = np.where(moved[:, None], 0.85, 0.0)
    return Lines(points.reshape(-1, 3), colours.reshape(-1, 4))


_DASHES = np.array([(k + at) / 7.55 for k in range(8) for at in (0.0, 0.55)])
_AXES = np.eye(3)
_CROSS = np.array([side * axis for axis in _AXES for side in (1.0, -1.0)])
_DIAMOND = np.array(
    [
        corner
        for one, other in ((0, 1), (1, 2), (2, 0))
        for first in (_AXES[one], -_AXES[one])
        for second in (_AXES[other], -_AXES[other])
        for corner in (first, second)
    ]
)
"""Lines, two points each: parts of a way, three axes, and the edges of an octahedron."""


def joined(parts: Sequence[Lines]) -> Lines:
    """Several as one."""
    return Lines(np.concatenate([one.points for one in parts]), np.concatenate([one.colours for one in parts]))


def _norm(vectors: np.ndarray) -> np.ndarray:
    return np.sqrt((vectors * vectors).sum(axis=-1))


def _unit(vectors: np.ndarray, instead: np.ndarray) -> np.ndarray:
    """Unit vectors; of others where these have no length."""
    length = _norm(vectors)[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        vectors = np.where(length > 1e-12, vectors / length, instead)
    length = _norm(vectors)[:, None]
    return vectors / np.where(length > 0.0, length, 1.0)


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """As numpy's own, in a tenth of the time for few vectors."""
    return a[:, _NEXT] * b[:, _LAST] - a[:, _LAST] * b[:, _NEXT]


_NEXT, _LAST = [1, 2, 0], [2, 0, 1]


def _any_across(along: np.ndarray) -> np.ndarray:
    """Vectors perpendicular to others."""
    axes = np.eye(3)[np.abs(along).argmin(axis=1)]
    return _cross(along, axes)
