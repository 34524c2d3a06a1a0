"""When heels and balls touch the ground, where on the foot these are, and how a foot stands on the ground below."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from .clip import UP, LegMotion, across, applied, directions, mean_turn, turns_between
from .curves import extent, frames_in, highest, lowest, quantile, runs, slope, smooth
from .exact import is_planted, pivot_near, stand_exactly
from .options import (
    BEHIND,
    EDGE,
    FASTEST_STAND,
    FASTEST_TIME,
    FLOOR_TIME,
    FOOTING,
    HEEL_BEHIND,
    PAW,
    POINT_FOOT,
    RADIUS,
    SAME_PLACE,
    SHORTEST_CONTACT,
    SHORTEST_GAP,
    SLIDE_RANGE,
    SLIDES,
    SLOPE_TIME,
    SLOW,
    SLOW_SHARE,
    SLOWEST_TIME,
    SLOWISH,
    SLOWISH_SHARE,
    SOLE_WIDTH,
    SPLIT_TIME,
    STEEP,
    TOES,
    Options,
)

HEEL, BALL = 0, 1

STILL_SHARE = 10
"""One of so many frames shows how a foot stands: even a run has as many."""
FEWEST_STILL = 3
"""So many at least."""
HEIGHT_SCALE = 0.05
"""Height, in leg lengths, that speaks as much against standing as a foot's median speed."""
LYING, LYING_TIME, LEGS_OF_INSECTS = 0.5, 0.7, 6
"""Hips that are lower than so many leg lengths over the feet for so many seconds are of a body that lies or sits; not
of insects, whose hips are always low."""


@dataclass(frozen=True)
class HeelAndBall:
    """Heel and ball of each foot.

    points: (legs, 2, 3), heel and ball relative to the ankle, in the foot's own space; equal for a foot that is a
    point.
    normals: (legs, 3), unit vector up from the sole, in the foot's own space.
    floors: (legs, T), height of the ground under each foot as captured, world units.
    depths: (legs,), how far the skin reaches below heel and ball while these stand, world units.
    """

    points: np.ndarray
    normals: np.ndarray
    floors: np.ndarray
    depths: np.ndarray

    @property
    def level(self) -> float:
        """The height of the level ground that suits the capture best, world units."""
        return float(np.median(self.floors))

    def is_point(self, leg: int) -> bool:
        """True if the foot of this leg has no heel."""
        return bool((self.points[leg, HEEL] == self.points[leg, BALL]).all())

    def places(self, ankles: np.ndarray, feet: np.ndarray) -> np.ndarray:
        """(legs, 2, T, 3), heels and balls of feet with these ankles (legs, T, 3) and orientations (legs, T, 3, 3)."""
        return ankles[:, None] + applied(feet[:, None], self.points[:, :, None])


def sole_of(clip: LegMotion, points: np.ndarray | None = None) -> HeelAndBall:
    """The soles of a clip's feet, from its stillest and lowest frames.

    points: (legs, 2, 3), heels and balls where they are known, as in `Sole`; else the heel is put behind the ankle, as
    high as the ball.
    """
    lying = lies(clip)
    still = [_still_frames(clip, leg, lying) for leg in range(clip.leg_count)]
    if points is None:
        points = np.array([_heel_and_ball(clip, leg, frames) for leg, frames in enumerate(still)])
    along = directions(points[:, BALL] - points[:, HEEL])
    up = [applied(clip.feet[leg, frames].swapaxes(1, 2), UP).mean(axis=0) for leg, frames in enumerate(still)]
    normals = directions(across(np.array(up), along))
    found = HeelAndBall(points, normals, np.empty(0), np.empty(0))
    heights = found.places(clip.ankles, clip.feet)[..., 2].min(axis=1)
    half = frames_in(FLOOR_TIME, clip.fps)
    floors = np.array([smooth(lowest(height, 2 * half), half) for height in heights])
    depths = np.zeros(clip.leg_count) if clip.soles is None else clip.soles.copy()
    for leg, skin in enumerate(clip.skins):
        if skin is not None:
            depths[leg] = quantile((heights[leg] - skin[..., 2].min(axis=0))[still[leg]])
    return replace(found, floors=floors, depths=depths)


def point_soles(clip: LegMotion) -> HeelAndBall:
    """Soles of limbs that end in a point, at wrist or ankle."""
    legs = clip.leg_count
    return HeelAndBall(
        np.zeros((legs, 2, 3)), np.tile(UP, (legs, 1)), np.zeros((legs, clip.frame_count)), np.zeros(legs)
    )


def _heel_and_ball(clip: LegMotion, leg: int, still: np.ndarray) -> np.ndarray:
    """(2, 3), one foot's heel and ball in its own space, as frames show them in which it stands."""
    ankles, balls, to_own = clip.ankles[leg, still], clip.balls[leg, still], clip.feet[leg, still].swapaxes(1, 2)
    ball = quantile(applied(to_own, balls - ankles))
    ahead = (balls - ankles) * (1.0, 1.0, 0.0)
    if quantile(np.linalg.norm(ahead, axis=1)) < POINT_FOOT * clip.size:
        return np.array((ball, ball))
    heels = ankles - HEEL_BEHIND * ahead
    heels[:, 2] = balls[:, 2]
    heel = quantile(applied(to_own, heels - ankles))
    return np.array((pivot_near(clip, leg, heel) if is_planted(clip) else heel, ball))


def _still_frames(clip: LegMotion, leg: int, lying: np.ndarray) -> np.ndarray:
    """The frames in which a foot stands most probably: slow and low. lying: see `lies`."""
    ankles, balls = clip.ankles[leg], clip.balls[leg]
    speeds = np.maximum(*(np.linalg.norm(slope(way, clip.fps, SLOPE_TIME), axis=1) for way in (ankles, balls)))
    heights = ankles[:, 2] + balls[:, 2]
    restlessness = speeds / (quantile(speeds) + 1e-9 * clip.size)
    restlessness += (heights - heights.min()) / (HEIGHT_SCALE * clip.size)
    # Feet of a body that lies are still and low, and show no sole.
    order = np.lexsort((restlessness, lying))
    flat = stand_exactly(clip, np.array((ankles, balls))).all(axis=0) & ~lying
    planted = is_planted(clip)
    # What is held in the air does not move either.
    flat &= heights <= (heights[flat] if planted and flat.any() else heights).min() + 1.5 * HEIGHT_SCALE * clip.size
    if np.count_nonzero(flat) >= (1 if planted else FEWEST_STILL):
        order = order[flat[order]]
    return order[: max(FEWEST_STILL, clip.frame_count // STILL_SHARE)]


def lies(clip: LegMotion) -> np.ndarray:
    """(T,) bool, frames in which the body lies, sits or rolls."""
    if clip.leg_count >= LEGS_OF_INSECTS:
        return np.zeros(clip.frame_count, bool)
    feet = np.minimum(clip.ankles[..., 2], clip.balls[..., 2]).min(axis=0)
    height = clip.hips[..., 2].mean(axis=0) - lowest(feet, frames_in(FLOOR_TIME, clip.fps))
    low = height < LYING * clip.size
    for first, last in runs(low):
        low[first : last + 1] = last - first + 1 >= min(LYING_TIME * clip.fps, clip.frame_count)
    return low


def find_holds(clip: LegMotion, near: np.ndarray) -> np.ndarray:
    """(limbs, T) bool: whether the end of each limb moves with what a clip is seen from, and is close to it.

    near: (limbs, T) bool, whether it is close.
    """
    found = np.zeros(near.shape, bool)
    for limb, way in enumerate(clip.ankles / clip.size):
        speed = np.linalg.norm(slope(way, clip.fps, SLOPE_TIME), axis=-1)
        found[limb] = _stays(way, near[limb], speed, clip.fps)
        _split(found[limb], way, SLIDE_RANGE[0], clip.fps)
        _drop_short(found[limb], clip.fps)
    return found


def _stays(way: np.ndarray, near: np.ndarray, speed: np.ndarray, fps: float) -> np.ndarray:
    """(T,) bool: whether a point stays at a place to which it is near. way: (T, 3). near, speed: (T,)."""
    slow, slowish = _limits(speed, fps)
    strong, weak = near & (speed < slow), near & (speed < slowish)
    apart = 1 + frames_in(SPLIT_TIME / 2.0, fps)
    contact = np.zeros(len(way), bool)
    todo = runs(weak)
    while todo:
        first, last = todo.pop()
        cores = first + np.flatnonzero(strong[first : max(first, last + 1)])
        if len(cores):
            start, end = stay(way, np.inf, (first, last), (cores[0], cores[-1]), fps)
            contact[start : end + 1] = True
            # The rest of the run may have contacts of its own: a foot that shuffles is slow all the time.
            todo += [(first, start - 1 - apart), (end + 1 + apart, last)]
    _fill_gaps(contact, way, fps)
    return contact


def _limits(speed: np.ndarray, fps: float) -> tuple[np.ndarray, np.ndarray]:
    """(T,) each: below which speeds a point is slow, and slowish; higher where its slowest and fastest nearby are."""
    slowest, fastest = lowest(speed, frames_in(SLOWEST_TIME, fps)), highest(speed, frames_in(FASTEST_TIME, fps))
    slow = np.minimum(slowest + SLOW_SHARE * (fastest - slowest), FASTEST_STAND)
    slowish = np.minimum(slowest + SLOWISH_SHARE * (fastest - slowest), 1.5 * FASTEST_STAND)
    return np.maximum(slow, SLOW), np.maximum(slowish, SLOWISH)


def stay(way: np.ndarray, lift: float, run: tuple[int, int], core: tuple[int, int], fps: float) -> tuple[int, int]:
    """The first and last frame of a run in which a point stays where it is in the core of that run.

    way: (T, 3). lift: height over its own at rest from which on it has left.
    """
    start, end = core
    middle = (start + end) / 2.0
    resting = way[start : end + 1]
    times = np.arange(len(way)) - middle
    drift = np.zeros(3)
    if end - start > 2:
        inner = times[start : end + 1]
        drift = inner @ resting / (inner @ inner)
        drift *= min(1.0, FASTEST_STAND / max(np.linalg.norm(drift) * fps, FASTEST_STAND))
    away = np.linalg.norm(way - resting.mean(axis=0) - times[:, None] * drift, axis=1)
    lifted = way[:, 2] - quantile(resting[:, 2], 0.25) > lift
    gone = lifted | (away > RADIUS + min(RADIUS, away[start : end + 1].max()))
    while start < end and lifted[start]:
        start += 1
    while end > start and lifted[end]:
        end -= 1
    while start > run[0] and not gone[start - 1]:
        start -= 1
    while end < run[1] and not gone[end + 1]:
        end += 1
    return start, end


def _fill_gaps(contact: np.ndarray, way: np.ndarray, fps: float) -> None:
    """Join contacts between which a point did not move; where it moved on, a fleeting one beside them is none."""
    found = runs(contact)
    for before, after in pairwise(found):
        gap = slice(before[1] + 1, after[0])
        if (gap.stop - gap.start) / fps >= SHORTEST_GAP:
            continue
        if np.linalg.norm(way[gap.stop] - way[gap.start - 1]) < SAME_PLACE:
            contact[gap] = True
            continue
        for first, last in (before, after):
            if (last - first + 1) / fps < SPLIT_TIME:
                contact[first : last + 1] = False


def split_slides(contacts: np.ndarray, places: np.ndarray, options: Options, fps: float) -> None:
    """Split contacts (legs, 2, T) in which a point moves farther than it may slide, and drop those that are too short.

    places: (legs, 2, T, 3), leg lengths. How far it may is what is usual in this clip, several times, if it is not set.
    """
    pairs = [
        (way, contact)
        for ways, own in zip(places, contacts, strict=True)
        for way, contact in zip(ways, own, strict=True)
    ]
    slides = [extent(way[first : last + 1]) for way, contact in pairs for first, last in runs(contact)]
    usual = float(np.clip(SLIDES * quantile(np.array(slides)), *SLIDE_RANGE)) if slides else 0.0
    for way, contact in pairs:
        _split(contact, way, options.slide or usual, fps)
        _drop_short(contact, fps)


def _split(contact: np.ndarray, way: np.ndarray, slide: float, fps: float) -> None:
    """Split a contact (T,) in which a point moves farther than `slide` where it is fastest, until it nowhere does."""
    frames, half, steps = np.arange(len(way)), 0.5 * SPLIT_TIME * fps, None
    # Over a time, and not from frame to frame: so it is where it is at every frame rate.
    spread = _SPREAD * half
    ways = (np.stack([np.interp(frames + s, frames, each) for each in way.T]) for s in (-spread, spread))
    todo = runs(contact)
    while todo:
        first, last = todo.pop()
        if last - first < 4.0 * half or extent(way[first : last + 1]) <= slide:
            continue
        if steps is None:
            before, after = ways
            steps = np.linalg.norm(after - before, axis=0)
        # The ends of a contact are its fastest frames.
        margin = max(1, round(min((last - first) / 6.0, 4.0 * half)))
        fastest = first + margin + int(np.argmax(steps[first + margin : last + 1 - margin]))
        gap = np.flatnonzero(np.abs(frames - fastest) <= half)
        contact[max(first, gap[0]) : min(last, gap[-1]) + 1] = False
        todo += [(start, end) for start, end in ((first, gap[0] - 1), (gap[-1] + 1, last)) if start < end]


_SPREAD = 0.75
"""Part of half the time that a step takes, to either side, over which a point is how fast it is there."""


def _drop_short(contact: np.ndarray, fps: float) -> None:
    """Drop contacts that are too short, unless the clip's ends cut them off."""
    for first, last in runs(contact):
        if (last - first + 1) / fps < SHORTEST_CONTACT and first > 0 and last < len(contact) - 1:
            contact[first : last + 1] = False


Ground = Callable[[np.ndarray], np.ndarray]
"""Heights (n,) of the ground below points (n, 3), world units."""

PIVOT_STEPS = 4
"""Each step of `pivoted` leaves a share of the error as large as the slope's change under a moved point: a tenth."""

BACK_STEPS = 16
"""In so many steps of the way back an edge is looked for."""
FOOTING_RINGS = 12
"""So many distances are tried for a footing, in eight directions each."""


def under(sole: HeelAndBall, leg: int, ground: Ground | None) -> Ground | None:
    """The ground as high as heel and ball of one foot are over it while its skin stands on it."""
    return ground and (lambda points: ground(points) + sole.depths[leg])


def floors_below(sole: HeelAndBall, places: np.ndarray, ground: Ground | None) -> np.ndarray:
    """(legs, 2, T), the heights at which heels and balls stand on the ground below their places (legs, 2, T, 3)."""
    if ground is None:
        return np.repeat(sole.floors[:, None], 2, axis=1)
    return ground(places.reshape(-1, 3)).reshape(places.shape[:-1]) + np.reshape(sole.depths, (-1, 1, 1))


def on_ground(place: np.ndarray, ground: Ground | None) -> np.ndarray:
    """A point (3,) put on the ground; as it is if there is none."""
    return place if ground is None else np.array((*place[:2], ground(place[None])[0]))


def flat_foot(
    feet: np.ndarray, points: np.ndarray, normal: np.ndarray, middle: np.ndarray, ground: Ground | None
) -> tuple[np.ndarray, np.ndarray]:
    """The orientation (3, 3) and the ankle (3,) of a foot that stands flat.

    It is turned least from the mean of its captured orientations (n, 3, 3), and the middle of its sole is below or
    above `middle` (3,), the captured one in the mean. points: (2, 3), heel and ball in the foot's own space.
    normal: (3,), of the sole, likewise. On a mesh the sole takes the slope of four samples, and is so high that none
    of them is above it.
    """
    foot = mean_turn(feet)
    along, aside = _sole_axes(foot, points)
    slope = UP
    if ground is not None and along.any():
        (heel, ball), (right, left) = (ground(middle + 0.5 * np.array((-way, way))) for way in (along, aside))
        length, width = float(np.linalg.norm(along)), float(np.linalg.norm(aside))
        rise, bank = _slope(ball - heel, length), _slope(left - right, width)
        slope = directions(np.cross(along / length + rise * UP, aside / width + bank * UP))
        ends = heel + 0.5 * rise * length, ball - 0.5 * rise * length
        sides = right + 0.5 * bank * width, left - 0.5 * bank * width
        middle = np.array((*middle[:2], max(*ends, *(sides if bank else ends))))
    foot = turns_between(foot @ normal, slope) @ foot
    return foot, middle - foot @ points.mean(axis=0)


def footprint(foot: np.ndarray, points: np.ndarray, size: float) -> np.ndarray:
    """(4, 3), level, from the middle of a sole (2, 3) to its back, front, right and left; of a foot that is a point, to
    where its paw or hoof ends. size: of a leg."""
    along, aside = _sole_axes(foot, points)
    if not along.any():
        return 0.5 * PAW * size * np.array(((-1.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 1.0, 0.0)))
    return np.array((-(BEHIND + 0.5) * along, (0.5 + TOES) * along, -0.5 * aside, 0.5 * aside))


def way_to_footing(
    prints: Sequence[np.ndarray], frames: Sequence[int], middles: np.ndarray, ground: Ground, back: np.ndarray
) -> np.ndarray:
    """The shortest level way (3,) by which the soles of one stance come to where no edge is below them.

    Where none leads all of them there, it counts for how many frames. Looked for ahead, behind, to both sides and
    between, up to `FOOTING`. prints: (4, 3) of each of its feet; see `footprint`. frames: how long each stands.
    middles: (feet, 3), of their soles. back: a way (3,) from which to look first.
    """
    lengths = [float(np.linalg.norm(own[1] - own[0])) for own in prints]
    turns = 0.25 * np.pi * np.arange(8)
    around = lengths[0] * np.stack((np.cos(turns), np.sin(turns), np.zeros(8)), axis=1)
    rings = FOOTING * np.arange(1, FOOTING_RINGS + 1) / FOOTING_RINGS

    def even_frames(ways: np.ndarray) -> np.ndarray:
        found = np.zeros(len(ways))
        for own, count, middle in zip(prints, frames, middles, strict=True):
            heights = ground((middle + ways[:, None] + own).reshape(-1, 3)).reshape(-1, 4)
            found += count * _is_even(heights, own)
        return found

    near = np.vstack((np.zeros((1, 3)), (rings[:, None, None] * around).reshape(-1, 3)))
    ways = np.vstack((back + near, near)) if back.any() else near
    if even_frames(ways[:1])[0] == sum(frames):
        return ways[0]
    return ways[np.argmax(even_frames(ways))]


def way_back(place: np.ndarray, before: np.ndarray, ground: Ground) -> np.ndarray:
    """The shortest level way (3,) from a place to where no edge is between it and the one before."""
    ways = np.linspace(0.0, 1.0, BACK_STEPS + 1)[:, None] * ((before - place) * (1.0, 1.0, 0.0))
    rises = np.abs(np.diff(ground(place + ways)))
    edges = np.flatnonzero(rises > STEEP * np.linalg.norm(ways[1]))
    return ways[edges[-1] + 1] if len(edges) else ways[0]


def _sole_axes(foot: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Level vectors (3,) along a sole, from heel to ball, and across it to the left, as long as the sole is."""
    along = (foot @ (points[BALL] - points[HEEL])) * (1.0, 1.0, 0.0)
    return along, SOLE_WIDTH * np.array((-along[1], along[0], 0.0))


def _is_even(heights: np.ndarray, footprint: np.ndarray) -> np.ndarray:
    """(n,) bool: whether heights (n, 4) below the ends of a footprint (4, 3) are those of one slope."""
    back, front, right, left = heights.T
    behind, ahead, *_ = np.linalg.norm(footprint, axis=1)
    length, width = behind + ahead, np.linalg.norm(footprint[3] - footprint[2])
    rise = (front - back) / length
    steep = (np.abs(rise) > STEEP) | (np.abs(left - right) > STEEP * width)
    return ~steep & (np.abs(back + behind * rise - 0.5 * (left + right)) <= EDGE * length)


def pivoted(foot: np.ndarray, arm: np.ndarray, pivot: np.ndarray, ground: Ground | None) -> np.ndarray:
    """The orientation (3, 3) of a foot turned about a point that stands, until its other point is on the ground.

    arm: (3,), from the one point to the other in the foot's own space. Without a ground the foot stays as it is.
    """
    if ground is None:
        return foot
    for _ in range(PIVOT_STEPS):
        reach = foot @ arm
        heights = ground((pivot + reach)[None]) - pivot[2]
        foot = turns_to_heights(reach[None], heights)[0] @ foot
    return foot


def turns_to_heights(arms: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """The rotations (n, 3, 3) that pitch arms (n, 3) until their ends are at heights (n,), as far as `STEEP` allows."""
    lengths = np.linalg.norm(arms, axis=1)
    heights = np.clip(heights, np.minimum(-STEEP * lengths, arms[:, 2]), np.maximum(STEEP * lengths, arms[:, 2]))
    flat = directions(arms * (1.0, 1.0, 0.0)) * np.sqrt(np.maximum(lengths**2 - heights**2, 0.0))[:, None]
    flat[:, 2] = heights
    return turns_between(directions(arms), directions(flat))


def _slope(rise: float, run: float) -> float:
    """The slope between two samples; 0, as a level foot has, where there is an edge between them."""
    return rise / run if abs(rise) <= STEEP * run else 0.0
