"""What others do to feet that slide, on legs as arrays: each takes a clip and contacts, and returns a clip.

Written from the descriptions of their authors, for two or more legs and without a character. Feet keep the orientation
that they were captured with, and knees bend to the side that they did.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ik_addon.planting.feet.clip import LegMotion
from ik_addon.planting.feet.contacts import HeelAndBall
from ik_addon.planting.feet.curves import eased, frames_in, runs, smooth
from ik_addon.planting.feet.judging import with_plan
from ik_addon.planting.feet.options import Options
from ik_addon.planting.feet.paths import captured_sides, knees_and_poles
from ik_addon.planting.feet.planning import plan

Rival = Callable[[LegMotion, HeelAndBall, np.ndarray], LegMotion]

_LETTING_GO = 5
"""Frames in which a naive lock lets go."""
_KOVAR_BLEND, _SMOOTHING = 0.25, 0.1
"""Seconds."""
_ROUNDS = 50
_ALMOST = 0.9999
"""Part of a leg's length to which Kovar's root lets it reach."""


def nothing(clip: LegMotion, _sole: HeelAndBall, _contacts: np.ndarray) -> LegMotion:
    """As captured."""
    return clip


def plant_feet(clip: LegMotion, sole: HeelAndBall, contacts: np.ndarray | None) -> LegMotion:
    """Plant Feet with its defaults; None: it finds the contacts."""
    return with_plan(clip, plan(clip, Options(), contacts, sole=sole))


def naive_lock(clip: LegMotion, sole: HeelAndBall, contacts: np.ndarray) -> LegMotion:
    """Ankles stay where they are when a contact begins, and are let go over five frames; the body stays."""
    ankles = clip.ankles.copy()
    for leg, touching in enumerate(contacts.any(axis=1)):
        for first, last in runs(touching):
            ankles[leg, first : last + 1] = clip.ankles[leg, first]
            offset = clip.ankles[leg, first] - clip.ankles[leg, last]
            free = runs(~touching[last + 1 : last + _LETTING_GO])
            count = free[0][1] + 1 if free and free[0][0] == 0 else 0
            fade = 1.0 - np.arange(1, count + 1) / _LETTING_GO
            ankles[leg, last + 1 : last + 1 + count] += fade[:, None] * offset
    return _moved(clip, sole, clip.hips, ankles)


def kovar(clip: LegMotion, sole: HeelAndBall, contacts: np.ndarray) -> LegMotion:
    """Kovar, Schreiner, Gleicher 2002, "Footskate Cleanup for Motion Capture Editing", sections 4 and 5, without bones
    that change their lengths.

    Each contact has its mean place; offsets fade over a quarter of a second; the root goes to the nearest place from
    which all legs reach, and its way is smoothed.
    """
    ankles, blend = clip.ankles.copy(), frames_in(_KOVAR_BLEND, clip.fps)
    frames = np.arange(clip.frame_count)
    for leg, touching in enumerate(contacts.any(axis=1)):
        offsets, weights = np.zeros((clip.frame_count, 3)), np.zeros(clip.frame_count)
        for first, last in runs(touching):
            inside = slice(first, last + 1)
            place = clip.ankles[leg, inside].mean(axis=0)
            away = np.maximum(np.maximum(first - frames, frames - last), 0)
            weight = 1.0 - eased(away / blend)
            weight[touching & ((frames < first) | (frames > last))] = 0.0
            nearest = clip.ankles[leg, np.clip(frames, first, last)]
            offsets += weight[:, None] * (place - nearest)
            weights += weight
            offsets[inside], weights[inside] = place - clip.ankles[leg, inside], 1.0
        ankles[leg] += offsets / np.maximum(weights, 1.0)[:, None]
    shifts = np.zeros((clip.frame_count, 3))
    for _ in range(_ROUNDS):
        lines = ankles - clip.hips - shifts
        distances = np.linalg.norm(lines, axis=2)
        over = np.maximum(distances - _ALMOST * clip.reaches[:, None], 0.0)
        farthest = over.argmax(axis=0), np.arange(clip.frame_count)
        shifts = shifts + lines[farthest] * (over / distances)[farthest][:, None]
    return _moved(clip, sole, clip.hips + smooth(shifts, frames_in(_SMOOTHING, clip.fps)), ankles)


def low_pass(clip: LegMotion, sole: HeelAndBall, _contacts: np.ndarray) -> LegMotion:
    """All joints averaged over a tenth of a second to either side."""
    half = frames_in(_SMOOTHING, clip.fps)
    hips, ankles = (np.array([smooth(way, half) for way in ways]) for ways in (clip.hips, clip.ankles))
    return _moved(clip, sole, hips, ankles)


RIVALS: dict[str, Rival] = {
    "as captured": nothing,
    "Plant Feet": plant_feet,
    "naive lock": naive_lock,
    "Kovar 2002": kovar,
    "low-pass": low_pass,
}


def naive_contacts(clip: LegMotion, sole: HeelAndBall, speed: float = 0.35, height: float = 0.06) -> np.ndarray:
    """A threshold per frame, as most tools have it: slow and low, leg lengths a second and leg lengths."""
    places = sole.places(clip.ankles, clip.feet)
    steps = np.linalg.norm(np.diff(places, axis=2, append=places[:, :, -1:]), axis=3) * clip.fps / clip.size
    return (steps < speed) & ((places[..., 2] - sole.level) / clip.size < height)


def _moved(clip: LegMotion, sole: HeelAndBall, hips: np.ndarray, ankles: np.ndarray) -> LegMotion:
    """A clip with other hips and ankles. Legs that are too short point at theirs, as any IK does."""
    lines = ankles - hips
    distances = np.linalg.norm(lines, axis=2, keepdims=True)
    shown = hips + lines * np.minimum(1.0, clip.reaches[:, None, None] / distances)
    knees, _ = knees_and_poles(clip, captured_sides(clip, sole), hips, shown)
    return replace(clip, hips=hips, knees=knees, ankles=shown, balls=shown + clip.balls - clip.ankles)
