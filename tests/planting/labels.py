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

_KAYKIT, _HORSE, _FOX = "kaykit_Med_MovementBasic.glb", "m2m_horse_anims.glb", "m2m_fox_anims.glb"

BIPEDS: dict[tuple[str, str], Spans] = {
    **CHARACTERS,
    ("quat_KnightCharacter.glb", "Walk"): {(0, 1): [(14, 24)], (1, 1): [(0, 8), (30, 30)]},
    ("quat_KnightCharacter.glb", "Run"): {(0, 1): [(15, 18)], (1, 1): [(4, 7)]},
    ("RobotExpressive.glb", "Walking"): {(0, 1): [(0, 10), (23, 23)], (1, 1): [(12, 18)]},
    ("RobotExpressive.glb", "Running"): {(0, 1): [(7, 8)], (1, 1): [(18, 19)]},
    (_KAYKIT, "Walking_A"): {(0, 0): [(0, 9)], (0, 1): [(3, 11)], (1, 0): [(13, 22)], (1, 1): [(16, 23)]},
    (_KAYKIT, "Running_A"): {(0, 0): [(2, 4)], (0, 1): [(2, 4)], (1, 0): [(12, 14)], (1, 1): [(12, 14)]},
}
ANIMALS: dict[tuple[str, str], Spans] = {
    ("quat_Wolf.glb", "Walk"): {
        (0, 1): [(0, 9), (22, 25)],
        (1, 1): [(9, 22)],
        (2, 1): [(0, 13), (25, 25)],
        (3, 1): [(0, 0), (14, 25)],
    },
    ("quat_Wolf.glb", "Gallop"): {(0, 1): [(7, 9)], (1, 1): [(8, 11)], (2, 1): [(0, 4)], (3, 1): [(3, 6)]},
    (_HORSE, "Walk"): {
        **{(0, point): [(0, 3), (17, 22)] for point in (0, 1)},
        **{(1, point): [(3, 16)] for point in (0, 1)},
        **{(2, point): [(0, 9), (22, 22)] for point in (0, 1)},
        **{(3, point): [(12, 21)] for point in (0, 1)},
    },
    (_HORSE, "Trot"): {
        **{(0, point): [(8, 12)] for point in (0, 1)},
        **{(1, point): [(0, 4)] for point in (0, 1)},
        **{(2, point): [(9, 13)] for point in (0, 1)},
        **{(3, point): [(0, 4)] for point in (0, 1)},
    },
    (_FOX, "Walk"): {
        (0, 0): [(0, 3), (17, 23)],
        (0, 1): [(0, 4), (17, 23)],
        (1, 0): [(3, 11)],
        (1, 1): [(3, 13)],
        (2, 0): [(0, 7), (17, 23)],
        (2, 1): [(0, 8), (18, 23)],
        (3, 0): [(9, 21)],
        (3, 1): [(10, 22)],
    },
    (_FOX, "Run"): {
        **{(0, point): [(7, 7)] for point in (0, 1)},
        **{(1, point): [(6, 6)] for point in (0, 1)},
        **{(2, point): [(0, 1)] for point in (0, 1)},
        **{(3, point): [(1, 3)] for point in (0, 1)},
    },
}
"""Clips in place, as they are in their files. Of feet that are points the balls alone are told."""


def mask(spans: Spans, frame_count: int, legs: int = 2) -> np.ndarray:
    """(legs, 2, T) bool: what touches at each frame."""
    truth = np.zeros((legs, 2, frame_count), bool)
    for (leg, point), runs in spans.items():
        for first, last in runs:
            truth[leg, point, first : last + 1] = True
    return truth


def cmu_labels(frame_count: int) -> np.ndarray:
    """The labels of CMU 131_01; nothing is known outside `CMU_LABELED`."""
    return mask(CMU, frame_count)
