"""The errors of a report are what Blender shows, whatever moves the bones: each frame is played and looked at."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import bpy
import pytest

from ik_addon.bake import bake, chains_of, check, collecting
from ik_addon.bake.certificate import certificate_of, verdict_on_targets
from ik_addon.bake.report import words

from ..changes import AHEAD, CHANGES, made
from ..helpers.films import frames_gone_to
from ..helpers.movers import held_by, turning
from ..rig.rigs import Rig, leg, new_empty
from ..scenes import EXACT, farthest_apart, go_to, missed_world, only_chain, played, walking_leg

FRAMES = range(1, 13)
MOVED = [name for name, change in CHANGES.items() if change.moved]
CIRCLES = {name for name in MOVED if CHANGES[name].drifts}
"""In which a chain follows what it moves itself."""


def moved(name: str) -> Rig:
    """A leg that is moved after its chain."""
    rig = walking_leg()
    CHANGES[name](rig)
    go_to(1)
    return rig


def a_second_leg_on_the_foot(build: Callable[[Rig, Rig], None]) -> Rig:
    """Of a leg that is moved."""
    other = moved("the_rotation_of_its_shin_is_copied")
    rig = leg("second", 0.4)
    build(rig, other)
    rig.enable()
    return rig


def a_target_on_the_foot_of_a_leg_that_is_moved() -> Rig:
    def parent(rig: Rig, other: Rig) -> None:
        rig.target.ob.parent, rig.target.ob.parent_type, rig.target.ob.parent_bone = other.ob, "BONE", "foot"
        rig.target.ob.location = (0.0, 0.0, 0.0)

    return a_second_leg_on_the_foot(parent)


SCENES = {name: partial(moved, name) for name in MOVED} | {
    "a_leg_on_another": a_target_on_the_foot_of_a_leg_that_is_moved
}


def at_the_start() -> None:
    """In a circle each evaluation goes on from the last one, until all is at rest."""
    for _ in range(30):
        go_to(1)


def as_shown(rig: Rig, frames: range = FRAMES) -> dict[int, float]:
    """What the tip misses at each frame, played."""
    at_the_start()
    missed = {}
    for frame in frames:
        go_to(frame)
        missed[frame] = missed_world(rig)
    return missed


def assert_is_as_shown(chain: dict, missed: dict[int, float], same: float = 1e-5) -> None:
    assert chain["max_error"] == pytest.approx(max(missed.values()), abs=same)
    assert chain["mean_error"] == pytest.approx(sum(missed.values()) / len(missed), abs=same)
    assert missed[chain["worst_frame"]] == pytest.approx(chain["max_error"], abs=same)


@pytest.mark.parametrize("name", SCENES)
def test_what_moves_a_leg_afterwards_is_in_its_errors(name):
    rig = SCENES[name]()
    missed = as_shown(rig)
    assert max(missed.values()) > 1e-3
    at_the_start()
    chain = only_chain(check(bpy.context, chains_of([rig.ob]), FRAMES))
    # In a circle a frame starts from where the one before it has come to.
    same = 2e-4 if name in CIRCLES else 1e-5
    assert_is_as_shown(chain, missed, same)
    assert chain["moved_frames"]
    assert bpy.context.scene.frame_current == 1
    assert as_shown(rig) == pytest.approx(missed, abs=same)


UNMOVED = [change for change in CHANGES.values() if not change.moved and change.live == AHEAD]


@pytest.mark.some(20)
@pytest.mark.parametrize("change", UNMOVED, ids=str)
def test_of_a_chain_that_nothing_moves_afterwards_nothing_is_said(change):
    rig = made(str(change))
    at_the_start()
    for chain in check(bpy.context, chains_of([rig.ob]), FRAMES)["files"][0]["chains"]:
        assert not chain["moved_frames"]


@pytest.mark.some(10)
@pytest.mark.parametrize("tolerance", [0.0, 1e-6])
@pytest.mark.parametrize("name", sorted(SCENES.keys() - CIRCLES))
def test_a_bake_says_what_its_keys_play(name, tolerance):
    rig = SCENES[name]()
    chains = chains_of(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    report = bake(bpy.context, chains, FRAMES, tolerance=tolerance)
    [file] = report["files"]
    assert not rig.tip.analytic_ik_enabled
    assert_is_as_shown(next(chain for chain in file["chains"] if chain["armature"] == rig.ob.name), as_shown(rig))


# Other add-ons


@contextmanager
def somebody_elses(event: str, handler: Callable) -> Iterator[None]:
    getattr(bpy.app.handlers, event).append(handler)
    try:
        yield
    finally:
        getattr(bpy.app.handlers, event).remove(handler)


def places_the_thigh(rig: Rig, frame: int) -> None:
    rig.ob.pose.bones["thigh"].location = (0.0, 0.02 * frame, 0.0)


def places_the_thigh_later(rig: Rig, frame: int) -> None:
    rig.ob.pose.bones["thigh"].location = (0.0, 0.1 * max(0, frame - 6), 0.0)


def turns_the_shin_later(rig: Rig, frame: int) -> None:
    if frame > 6:
        rig.tip.rotation_quaternion = (1.0, 0.1 * frame, 0.0, 0.0)


def weighs_the_chain_later(rig: Rig, frame: int) -> None:
    rig.tip.analytic_ik_influence = 1.0 if frame < 6 else 0.5


def turns_the_shin(rig: Rig, frame: int) -> None:
    rig.tip.rotation_quaternion = (1.0, 0.1 * frame, 0.0, 0.0)


def moves_the_target(rig: Rig, frame: int) -> None:
    rig.target.ob.location = (0.0, -0.05 * frame, 0.5)


def weighs_a_constraint(rig: Rig, frame: int) -> None:
    rig.tip.constraints["Damped Track"].influence = 0.05 * frame


def mutes_a_constraint(rig: Rig, frame: int) -> None:
    rig.tip.constraints["Damped Track"].mute = frame % 3 == 0


@pytest.mark.some(8)
@pytest.mark.parametrize("event", ["frame_change_pre", "frame_change_post"])
@pytest.mark.parametrize(
    "does",
    [
        places_the_thigh,
        places_the_thigh_later,
        turns_the_shin,
        turns_the_shin_later,
        weighs_the_chain_later,
        moves_the_target,
        weighs_a_constraint,
        mutes_a_constraint,
    ],
)
def test_what_other_add_ons_move_is_in_the_errors(event, does):
    rig = walking_leg()
    if does in (weighs_a_constraint, mutes_a_constraint):
        held_by(rig.tip, new_empty("looked at", (0.5, -2.0, 0.0)), "DAMPED_TRACK").mute = True
    if does is weighs_a_constraint:
        rig.tip.constraints["Damped Track"].mute = False
    with somebody_elses(event, lambda scene, _=None: does(rig, scene.frame_current)):
        missed = as_shown(rig)
        chain = only_chain(check(bpy.context, chains_of([rig.ob]), FRAMES))
    assert_is_as_shown(chain, missed)
    assert bool(chain["moved_frames"]) == (does in (weighs_a_constraint, mutes_a_constraint))


@pytest.mark.parametrize("event", ["frame_change_pre", "frame_change_post"])
def test_a_bone_that_another_add_on_begins_to_move_later_is_baked_as_live(event):
    rig = walking_leg()
    with somebody_elses(event, lambda scene, _=None: places_the_thigh_later(rig, scene.frame_current)):
        at_the_start()
        live = played(rig.ob, FRAMES)
        at_the_start()
        bake(bpy.context, chains_of([rig.ob]), FRAMES)
        assert not rig.tip.analytic_ik_enabled
        assert farthest_apart(played(rig.ob, FRAMES), live, 2.0) < EXACT


def test_a_constraint_that_was_not_thought_of_is_seen_where_the_scene_stands(monkeypatch):
    rig = moved("the_rotation_of_its_shin_is_copied")
    missed = as_shown(rig)
    monkeypatch.setattr(collecting, "moved_afterwards", lambda _, with_idle: set())
    assert_is_as_shown(only_chain(check(bpy.context, chains_of([rig.ob]), FRAMES)), missed)


# What it costs


def a_muted_constraint() -> Rig:
    rig = walking_leg()
    held_by(rig.tip, turning(), "COPY_ROTATION").mute = True
    return rig


def a_constraint_without_influence() -> Rig:
    rig = walking_leg()
    held_by(rig.ob.pose.bones["thigh"], turning(), "COPY_ROTATION").influence = 0.0
    return rig


def a_constraint_on_the_foot() -> Rig:
    rig = walking_leg()
    held_by(rig.ob.pose.bones["foot"], turning(), "COPY_ROTATION")
    return rig


@pytest.mark.parametrize("build", [a_muted_constraint, a_constraint_without_influence, a_constraint_on_the_foot])
def test_frames_are_not_played_for_what_moves_no_bone_of_the_chain(build):
    rig = build()
    go_to(1)
    with frames_gone_to() as frames_seen:
        chain = only_chain(check(bpy.context, chains_of([rig.ob]), FRAMES))
    assert len(frames_seen) <= 4
    assert_is_as_shown(chain, as_shown(rig))


# What is said of it


def test_that_a_chain_is_moved_is_said():
    rig = moved("a_constraint_that_is_muted_at_first")
    report = check(bpy.context, chains_of([rig.ob]), FRAMES)
    assert only_chain(report)["moved_frames"] == [[9, 12]]
    assert words(only_chain(report)).endswith(", moved by a constraint, driver or add-on at 9 to 12")
    assert verdict_on_targets(certificate_of(report["files"][0])) == (
        False,
        "The chain is moved by a constraint, driver or add-on",
    )
