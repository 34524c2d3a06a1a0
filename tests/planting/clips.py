"""Clips to plant: walks that are made, captures that are read, and what bad retargets and trackers do to them."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ik_addon.planting.feet.clip import UP, LegMotion, across, applied, directions, turns_by
from ik_addon.planting.feet.curves import eased

from . import bvh

CAPTURES = Path(os.environ.get("ANALYTIC_IK_CAPTURES", ""))

CYCLE, STANCE = 1.1, 0.62
"""Seconds from one heel strike to the next, and the share of it in which a foot is on the ground."""
STRIDE = 1.4
HEEL, BALL = np.array((-0.04, 0.0, -0.08)), np.array((0.16, 0.0, -0.08))
"""Of a foot that points along X, from its ankle, in leg lengths."""
HEEL_ROCK, BALL_ROCK = 0.14, 0.68
"""Shares of a stance up to which a foot turns about its heel, and from which on about its ball."""


def walk(fps=60.0, seconds=6.0, size=1.0, terrain=lambda x: 0.0, turn=0.0, legs=2):
    """A walk whose feet stand exactly, and the truth of its contacts (legs, 2, T).

    terrain: height over x, leg lengths. turn: radians by which all is turned about z.
    """
    times = np.arange(round(seconds * fps) + 1) / fps
    poses = [_foot(times, (leg % 2) * 0.5 + (leg // 2) * 0.25, (leg // 2) * -1.2, terrain) for leg in range(legs)]
    ankles, feet, truth = (np.array(part) for part in zip(*poses, strict=True))
    lateral = np.array([0.1 if leg % 2 else -0.1 for leg in range(legs)])
    ankles[..., 1] += lateral[:, None]
    hips = np.zeros_like(ankles)
    along = STRIDE * times / CYCLE + 0.13
    ground = np.array([terrain(x) for x in along])
    hips[..., 0], hips[..., 1] = along, lateral[:, None]
    hips[..., 0] += np.array([(leg // 2) * -1.2 for leg in range(legs)])[:, None]
    hips[..., 2] = 0.99 + 0.01 * np.cos(4.0 * np.pi * times / CYCLE) + ground
    # Thighs and shins long enough that no leg is ever straight.
    lengths = np.tile((0.53, 0.52), (legs, 1))
    lengths *= max(1.0, 1.01 * np.linalg.norm(ankles - hips, axis=2).max() / 1.05)
    about = turns_by(turn * UP)
    clip = LegMotion(
        fps, lengths, *(applied(about, x) for x in (hips, hips, ankles, ankles + feet @ BALL)), about @ feet
    )
    return scaled(with_knees(clip), size), truth


def loop(fps=24.0, size=1.0):
    """One cycle of a walk in place, whose last frame is its first one."""
    clip, _ = walk(120.0, seconds=CYCLE, size=size)
    frames = np.round(np.linspace(0.0, clip.frame_count - 1, round(CYCLE * fps) + 1)).astype(int)
    names = ("hips", "knees", "ankles", "balls", "feet")
    cycle = replace(clip, fps=fps, **{name: getattr(clip, name)[:, frames] for name in names})
    return placed(cycle, -(cycle.hips.mean(axis=0) - cycle.hips.mean(axis=0)[0]) * (1.0, 1.0, 0.0))


def _foot(times, phase, start, terrain):
    """Ankles (T, 3), orientations (T, 3, 3) and contacts (2, T) of one foot."""
    cycles = np.floor(times / CYCLE - phase)
    share = times / CYCLE - phase - cycles
    stance, swing = np.clip(share / STANCE, 0.0, 1.0), np.clip((share - STANCE) / (1.0 - STANCE), 0.0, 1.0)
    places = STRIDE * (cycles + phase + 0.5 * STANCE) + start
    here, there = ([np.array((x, 0.0, terrain(x))) for x in xs] for xs in (places, places + STRIDE))
    here, there = np.array(here), np.array(there)
    strike, leave = -0.35, 0.75
    pitch = (
        strike * (1.0 - eased(stance / HEEL_ROCK))
        + leave * np.clip((stance - BALL_ROCK) / (1.0 - BALL_ROCK), 0, 1) ** 2
    )
    pitch = np.where(swing > 0.0, leave + (strike - leave) * eased(swing), pitch)
    feet = turns_by(pitch[:, None] * (0.0, 1.0, 0.0))
    pivot = np.where((stance >= 0.5)[:, None], BALL, HEEL)
    standing = here + pivot - HEEL * (0, 0, 1) - applied(feet, pivot)
    first = here + BALL - HEEL * (0, 0, 1) - turns_by(np.array((0.0, leave, 0.0))) @ BALL
    second = there + HEEL * (1, 1, 0) - turns_by(np.array((0.0, strike, 0.0))) @ HEEL
    w = eased(swing)[:, None]
    flying = (1.0 - w) * first + w * second + 0.1 * np.sin(np.pi * swing)[:, None] ** 2 * UP
    ankles = np.where(swing[:, None] > 0.0, flying, standing)
    return ankles, feet, np.array(((stance <= BALL_ROCK), (stance >= HEEL_ROCK) & (swing <= 0.0)))


def with_knees(clip):
    """The clip with knees in front of the legs, where its lengths put them."""
    along = directions(clip.ankles - clip.hips)
    side = directions(across(clip.balls - clip.ankles + 1e-3 * UP, along))
    distance = np.linalg.norm(clip.ankles - clip.hips, axis=2)
    first, second = clip.lengths[:, :1], clip.lengths[:, 1:]
    forward = (first**2 - second**2 + distance**2) / (2.0 * distance)
    aside = np.sqrt(np.maximum(first**2 - forward**2, 0.0))
    return replace(clip, knees=clip.hips + along * forward[..., None] + side * aside[..., None])


def scaled(clip, size):
    points = {name: getattr(clip, name) * size for name in ("lengths", "hips", "knees", "ankles", "balls")}
    return replace(clip, **points)


def placed(clip, move):
    """All of a clip moved by (T, 3)."""
    return replace(clip, **{name: getattr(clip, name) + move for name in ("hips", "knees", "ankles", "balls")})


def every(clip, step):
    """A clip at a lower frame rate."""
    points = {name: getattr(clip, name)[:, ::step] for name in ("hips", "knees", "ankles", "balls", "feet")}
    return replace(clip, fps=clip.fps / step, **points)


def wandering(clip, amount, seed=0):
    """A root that a tracker lost: it wanders by `amount` (rms, leg lengths), a quarter of it up and down."""
    chance = np.random.default_rng(seed)
    times = np.arange(clip.frame_count) / clip.fps
    waves = [np.sin(2 * np.pi * (f * times[:, None] + chance.random(3))) for f in np.linspace(0.15, 1.1, 5)]
    way = sum(wave / (1 + 2 * k) for k, wave in enumerate(waves))
    way *= amount * clip.size / np.sqrt((way**2).mean(axis=0)) * (1.0, 1.0, 0.25)
    return placed(clip, way)


def retargeted(clip, factor):
    """Legs that are longer or shorter than the captured ones, with the same angles: feet skate."""
    hips = clip.hips.copy()
    ground = np.percentile(clip.balls[..., 2], 5)
    hips[..., 2] = ground + factor * (hips[..., 2] - ground)
    ankles = hips + factor * (clip.ankles - clip.hips)
    return replace(
        clip,
        lengths=factor * clip.lengths,
        hips=hips,
        knees=hips + factor * (clip.knees - clip.hips),
        ankles=ankles,
        balls=ankles + clip.balls - clip.ankles,
    )


def degraded(clip, factor, seed=0):
    return wandering(retargeted(clip, factor), 0.07, seed)


def of_joints(fps, hips, knees, ankles, balls, feet):
    """A clip of captured joints: its lengths are their distances in the median."""
    thighs, shins = (np.median(np.linalg.norm(b - a, axis=2), axis=1) for a, b in ((hips, knees), (knees, ankles)))
    return LegMotion(fps, np.stack((thighs, shins), axis=1), hips, knees, ankles, balls, feet)


def capture(name):
    """The path of a capture; skips the test if it is not there."""
    path = CAPTURES / name
    if not CAPTURES.name or not path.is_file():
        pytest.skip(f"ANALYTIC_IK_CAPTURES names no folder with {name}. Set it to one with captured walks")
    return path


def as_captured(clip):
    """A walk with what captures have: hurried and slow steps, a root that wanders, joints that tremble, and legs that
    are straight at times, since their lengths are measured in the mean."""
    rows, chance = np.arange(clip.frame_count), np.random.default_rng(0)
    rows = np.round(rows + 0.08 * clip.fps * np.sin(rows / clip.fps * 2.9)).clip(0, clip.frame_count - 1).astype(int)
    points = {name: getattr(clip, name)[:, rows] for name in ("hips", "knees", "ankles", "balls", "feet")}
    clip = wandering(replace(clip, **points), 0.05)
    hips, ankles = (own + 0.003 * clip.size * chance.normal(size=own.shape) for own in (clip.hips, clip.ankles))
    lengths = clip.lengths * (0.98 * np.linalg.norm(ankles - hips, axis=2).max() / clip.size)
    return with_knees(replace(clip, lengths=lengths, hips=hips, ankles=ankles, balls=clip.balls + ankles - clip.ankles))


def cmu_walk():
    """CMU 131_01, at 120 frames a second."""
    captured = bvh.read(capture("cmu_131_01_walk.bvh"))
    hips, knees, ankles, balls = (
        np.array([captured.places[side + joint] for side in ("Left", "Right")])
        for joint in ("Hip", "Knee", "Ankle", "Toe")
    )
    feet = np.array([captured.turns[side + "Ankle"] for side in ("Left", "Right")])
    return of_joints(captured.fps, hips, knees, ankles, balls, feet)


def travelling(clip, cycles=4):
    """A loop that was made in place, several times, as fast over the ground as its low feet go back."""
    count = clip.frame_count - 1
    points = {
        name: np.tile(getattr(clip, name)[:, :-1], (1, cycles, 1)) for name in ("hips", "knees", "ankles", "balls")
    }
    looped = replace(clip, feet=np.tile(clip.feet[:, :-1], (1, cycles, 1, 1)), **points)
    speeds, low = np.diff(clip.balls, axis=1), clip.balls[:, :-1, 2]
    belt = np.median(speeds[low <= np.percentile(low, 40, axis=1, keepdims=True)], axis=0) * (1.0, 1.0, 0.0)
    return placed(looped, -belt * np.arange(count * cycles)[:, None])
