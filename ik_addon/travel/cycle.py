"""The best cycle in a clip: the two frames between which most happens and whose poses, speeds and contacts agree."""

import numpy as np

SHORTEST_TIME = 0.4
"""Seconds that a cycle lasts at least: no character walks or runs faster."""
SPEED_TIME = 0.1
"""Seconds over which a difference in speed counts as the difference in place that it makes."""
CONTACT = 0.1
"""Difference in place as which a foot counts that stands at one of the frames alone, part of the size."""
HAPPENS = 0.25
"""Of how far two frames of the clip are usually apart: as far from its beginning a cycle goes at least."""
COMES_BACK = 0.5
"""Of how far a cycle goes from its beginning: its end is no farther from that."""
AS_GOOD = 1.25, 0.02
"""How near ends are is seen beside how far the cycle goes. The shortest is taken that is up to this many times as far
apart as the best one, plus this."""
ALONG = 0.5
"""A bone travels with the body if it goes this part of the body's way at least."""
MOST = 1500
"""Frames that are compared with each other at most; of longer clips every so many is."""


def best_cycle(places: np.ndarray, body: np.ndarray, locked: np.ndarray, fps: float) -> tuple[int, int] | None:
    """The first and last row of the best cycle in T frames; None if the clip is too short for one.

    places: (T, n, 3), of the bones in the world. body: (T, 3), of what travels, whose way over the ground does not
    count. locked: (legs, T) bool, when each foot stands.
    """
    step = -(-len(places) // MOST)
    least = max(2, int(np.ceil(SHORTEST_TIME * fps / step)))
    away = _differences(_features(places, body, locked, fps)[::step])
    if len(away) <= least:
        return None
    ahead = np.triu(away)
    farthest = np.maximum.accumulate(ahead, axis=1)
    happens = (farthest >= HAPPENS * np.median(away)) & (away <= COMES_BACK * farthest) & (farthest > 0.0)
    rows, columns = np.nonzero(np.triu(happens, least))
    if not len(rows):
        return None
    found = away[rows, columns] / farthest[rows, columns]
    times, plus = AS_GOOD
    good = found <= times * found.min() + plus
    rows, columns, found = rows[good], columns[good], found[good]
    best = np.lexsort((found, columns - rows))[0]
    return int(rows[best]) * step, int(columns[best]) * step


def _features(places: np.ndarray, body: np.ndarray, locked: np.ndarray, fps: float) -> np.ndarray:
    """What is compared of each frame, (T, m): its Euclidean distance is a part of the character's size."""
    level = body * (1.0, 1.0, 0.0)
    way = level[-1] - level[0]
    # A root that stays behind is seen where it is.
    goes = (places[-1] - places[0]) @ way >= ALONG * way @ way
    seen = places - level[:, None] * goes[None, :, None]
    seen = seen / max(float(np.ptp(seen[0], axis=0).max()), 1e-9)
    speeds = np.gradient(seen, axis=0) * fps * SPEED_TIME
    count, legs = np.sqrt(seen.shape[1]), np.sqrt(max(len(locked), 1))
    flat = [each.reshape(len(seen), -1) / count for each in (seen, speeds)]
    return np.concatenate([*flat, CONTACT * locked.T / legs], axis=1)


def _differences(features: np.ndarray) -> np.ndarray:
    """How far each frame is from each other one, (T, T)."""
    squares = np.square(features).sum(axis=1)
    return np.sqrt(np.maximum(squares[:, None] + squares - 2.0 * features @ features.T, 0.0))
