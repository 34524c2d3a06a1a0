"""Contacts labeled by eye: frames of heels and balls, counted from 0, both ends included.

CMU 131_01: frames 440 to 779, from plots of height and of the way along the path, not of speed. The characters' clips
walk in place: from tables of height and of speed over their frames, a point touches while it is about as low as it ever
is and goes back with the ground. All were made before any output of a detector on these clips was seen. Others would
label the beginning and the end of a contact a frame or two apart at 24 frames a second.
"""

import numpy as np

Spans = dict[tuple[int, int], list[tuple[int, int]]]
"""By leg (left, right) and point (heel, ball)."""

CMU: Spans = {
    (0, 0): [(486, 501), (556, 630), (696, 770)],
    (0, 1): [(446, 504), (568, 636), (708, 744), (756, 779)],
    (1, 0): [(440, 446), (500, 556), (631, 697)],
    (1, 1): [(440, 446), (498, 561), (638, 699)],
}
CMU_LABELED = slice(440, 780)

CHARACTERS: dict[tuple[str, str], Spans] = {
    ("kaykit_Med_MovementBasic.glb", "Walking_B"): {
        (0, 0): [(0, 8)],
        (0, 1): [(3, 9)],
        (1, 0): [(13, 21)],
        (1, 1): [(16, 22)],
    },
    ("kaykit_Med_MovementBasic.glb", "Walking_C"): {
        (0, 0): [(1, 14)],
        (0, 1): [(4, 16)],
        (1, 0): [(21, 34)],
        (1, 1): [(24, 35)],
    },
    ("quat_cyberpunk_22_clips.glb", "Walk"): {
        (0, 0): [(0, 9), (32, 32)],
        (0, 1): [(0, 9), (32, 32)],
        (1, 0): [(16, 25)],
        (1, 1): [(16, 25)],
    },
}


def mask(spans: Spans, frame_count: int) -> np.ndarray:
    """(2, 2, T) bool: what touches at each frame."""
    truth = np.zeros((2, 2, frame_count), bool)
    for (leg, point), runs in spans.items():
        for first, last in runs:
            truth[leg, point, first : last + 1] = True
    return truth


def cmu_labels(frame_count: int) -> np.ndarray:
    """The labels of CMU 131_01; nothing is known outside `CMU_LABELED`."""
    return mask(CMU, frame_count)
