"""Loops: the last frame shows what the first one does, without a jump in speed, and feet that stand stand as before."""

from dataclasses import replace

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from ik_addon.planting.feet.clip import LegMotion
from ik_addon.planting.feet.contacts import sole_of
from ik_addon.planting.feet.measures import measured
from ik_addon.planting.feet.options import Options
from ik_addon.planting.feet.treadmill import stands_on
from ik_addon.rig.blender.animation import current_fcurve_collections
from ik_addon.solvers import ChainError
from ik_addon.travel import make_loop, put_in_place, to_root, travel
from ik_addon.travel.motion import best_cycle, closed_poses, passage, passage_between, pivots_of

from ..rig.rigs import BoneSpec, new_armature, update
from ..scenes import EXACT, refuses, whole_state
from .walkers import CHAINS, CYCLE, LEG, Walk, character, seen_on_ground, shown, some_slow, walker

pytestmark = pytest.mark.versions

CLOSED = 1e-6
"""How far the ends of a loop may be apart, part of the leg or of a matrix's elements: what single precision leaves."""
LEVEL = Matrix.Translation((0.4, 0.3, 0.2)) @ Matrix.Rotation(0.8, 4, "Z")
DRIFTING = Walk(drift=0.15)
WALKS = {
    "two cycles": DRIFTING,
    "less than two cycles": replace(DRIFTING, last=45, mode="XYZ"),
    "no root": replace(DRIFTING, root="", mode="ZXY", fps=30),
    "in place": replace(DRIFTING, in_place=True, drift=0.1),
    "placed and scaled": replace(DRIFTING, world=LEVEL @ Matrix.Scale(0.1, 4)),
}


def ends_apart(motion: dict[str, np.ndarray], leg: float, still: tuple[str, ...]) -> tuple[float, float]:
    """How far the last frame is from the first but for a way over the ground, and how far their speeds are, by frame.

    The second as part of the largest change of speed anywhere in the clip.
    """
    way = motion["hips"][-1, :3, 3] - motion["hips"][0, :3, 3]
    way[2] = 0.0
    apart, jump = 0.0, 0.0
    for name, worlds in motion.items():
        if name in still:
            continue
        places, axes = worlds[:, :3, 3] / leg, worlds[:, :3, :3] / np.linalg.norm(worlds[0, :3, 0])
        apart = max(apart, np.abs(places[-1] - way / leg - places[0]).max(), np.abs(axes[-1] - axes[0]).max())
        steps = np.diff(places, axis=0)
        usual = np.linalg.norm(np.diff(steps, axis=0), axis=1).max()
        jump = max(jump, np.linalg.norm(steps[0] - steps[-1]) / max(usual, 1e-3))
    return float(apart), float(jump)


def slides(clip: LegMotion, source: LegMotion) -> list[float]:
    """How far each foot slides at most in a contact of the source."""
    sole = sole_of(source)
    return [leg["slide"] for leg in measured(clip, sole, stands_on(source, Options()).contacts)]


@pytest.mark.some(12)
@pytest.mark.parametrize("root", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("chains", CHAINS)
@pytest.mark.parametrize("name", some_slow(WALKS))
def test_the_ends_meet_and_feet_stand_as_they_did(name, chains, root):
    walk = WALKS[name]
    ob, leg = character(walk, chains)
    if root and not walk.in_place:
        to_root(bpy.context, ob)
    still = ("root", "prop")
    before, source = shown(ob, walk.frames), seen_on_ground(ob, walk.frames)
    report = make_loop(bpy.context, ob)
    after = shown(ob, walk.frames)
    assert ends_apart(before, leg, still)[0] > 0.1
    apart, jump = ends_apart(after, leg, still)
    assert apart < CLOSED * max(1.0, np.abs(after["hips"][:, :3, 3]).max() / leg)
    assert jump < 1.0
    assert report["difference"] > 0.01 * leg
    for one, other in zip(slides(source, source), slides(seen_on_ground(ob, walk.frames), source), strict=True):
        assert other < one + 1e-4
    # As little as closes it: half of the difference at either end.
    away = max(np.abs(after[each] - before[each])[:, :3, 3].max() for each in before if each not in still)
    assert root or away < 0.2 * leg


def test_a_clip_that_is_a_loop_stays_as_it_is():
    # 48 frames are two cycles: the last frame is the first one, two strides on.
    walk = Walk()
    ob = walker(walk)
    before = shown(ob, walk.frames)
    make_loop(bpy.context, ob)
    after = shown(ob, walk.frames)
    away = max(np.abs(after[each] - before[each])[:, :3, 3].max() for each in before)
    assert away < EXACT * LEG


def test_a_loop_in_place_travels_again():
    walk = DRIFTING
    ob = walker(walk)
    put_in_place(bpy.context, ob)
    make_loop(bpy.context, ob)
    assert ends_apart(shown(ob, walk.frames), LEG, ("root", "prop"))[0] < CLOSED
    travel(bpy.context, ob)
    after = shown(ob, walk.frames)
    assert after["hips"][-1, 1, 3] == pytest.approx(-2.0, abs=0.1)
    assert ends_apart(after, LEG, ("root", "prop"))[0] < 3.0 * CLOSED
    clip = seen_on_ground(ob, walk.frames)
    assert max(slides(clip, clip)) < 1e-3


def test_contacts_that_are_keyed_count():
    walk = replace(DRIFTING, last=25)
    ob, _ = character(walk, "Empties")
    tip = ob.pose.bones["shin.L"]
    for frame, contact in ((1, "NONE"), (10, "FLAT"), (20, "NONE")):
        tip.analytic_ik_contact = contact
        tip.keyframe_insert("analytic_ik_contact", frame=frame)
    before = shown(ob, walk.frames)["foot.L"]
    make_loop(bpy.context, ob)
    # In contact the foot is put elsewhere as a whole, and there it does what it did.
    moved = shown(ob, walk.frames)["foot.L"] @ np.linalg.inv(before)
    steps = np.abs(np.diff(moved, axis=0)).max(axis=(1, 2))
    assert steps[9:18].max() < 1e-5
    assert steps.max() > 1e-3


def test_a_body_without_any_contact_and_one_that_stands_throughout_are_closed():
    rng = np.random.default_rng(1)
    places, turns = rng.normal(size=(30, 3)), np.tile(np.eye(3), (30, 1, 1))
    for locked in (np.zeros(30, bool), np.ones(30, bool)):
        closed, _ = closed_poses(places, turns, passage_between(locked, 24.0), pivots_of(places, locked))
        assert closed[0] == pytest.approx(closed[-1], abs=1e-12)
    assert passage(3, 24.0).shares == pytest.approx([-0.5, 0.0, 0.5])


def test_a_foot_that_rolls_in_its_contact_keeps_every_point_in_place():
    # Heel and ankle turn about the ball, which stands; the whole foot is put elsewhere, and turned.
    count = 20
    angles = np.linspace(0.0, 0.8, count)
    turns = np.array([Matrix.Rotation(angle, 3, "X") for angle in angles], float)
    ball = np.array((0.1, -0.2, 0.0))
    arm = np.array((0.0, -0.15, -0.08))
    places = ball - turns @ arm
    turns[15:] = [Matrix.Rotation(0.3, 3, "Z") @ Matrix(turn) for turn in turns[15:].tolist()]
    locked = np.arange(count) < 15
    closed, turned = closed_poses(places, turns, passage_between(locked, 24.0), pivots_of(places, locked))
    balls = closed + turned @ arm
    assert np.ptp(balls[:14], axis=0).max() < 1e-9
    assert np.abs(closed - places).max() > 1e-3


def test_a_clip_of_two_frames_is_none():
    ob = walker(Walk(last=2))
    with refuses(ChainError, "fewer than 3 frames"):
        make_loop(bpy.context, ob)


# Which frames


def test_a_body_that_has_turned_is_told_of(capfd):
    walker(Walk(root="", turn=0.3))
    assert bpy.ops.analytic_ik.make_loop(cycle="WHOLE") == {"FINISHED"}
    assert "The body turned by 17° and turns back in it" in capfd.readouterr().out


def falling_at_the_end(walk: Walk, since: int) -> bpy.types.Object:
    """A walker that falls after its walk: its ends are far apart."""
    ob = walker(walk)
    for frame, angle in ((since, 0.0), (walk.last, 2.5)):
        ob.rotation_euler.x = angle
        ob.keyframe_insert("rotation_euler", frame=frame)
    update()
    return ob


def keyed_range(ob: bpy.types.Object) -> set[tuple[float, float]]:
    """First and last key of the curves with more than one."""
    homes = current_fcurve_collections(ob.animation_data)
    return {tuple(curve.range()) for home in homes for curve in home if len(curve.keyframe_points) > 1}


def test_where_the_ends_are_far_apart_the_best_cycle_is_found():
    walk = Walk(last=97)
    ob = falling_at_the_end(walk, 73)
    before = shown(ob, walk.frames)
    report = make_loop(bpy.context, ob)
    first, last = report["frames"]
    # The walk repeats itself after each CYCLE, and before the fall alone.
    assert last - first == CYCLE and last <= 74
    assert report["difference"] < 1e-3 * LEG
    assert keyed_range(ob) == {(first, last)}
    after = shown(ob, range(first, last + 1))
    assert ends_apart(after, LEG, ("root", "prop"))[0] < 3.0 * CLOSED
    away = max(np.abs(after[each] - before[each][first - 1 : last])[:, :3, 3].max() for each in before)
    assert away < 1e-3 * LEG


@pytest.mark.parametrize("sparse", ["BEZIER", "CONSTANT", "LINEAR"])
def test_a_range_becomes_a_clip_of_its_own(sparse):
    walk = Walk()
    ob = walker(walk)
    source = ob.animation_data.action
    for frame, value in ((1, 1.0), (20, 3.0), (49, 2.0)):
        ob["mood"] = value
        ob.keyframe_insert('["mood"]', frame=frame)
    curve = mood_of(ob)
    for key in curve.keyframe_points:
        key.interpolation = sparse
    curve.update()
    before, moods = shown(ob, walk.frames), [curve.evaluate(frame) for frame in walk.frames]
    report = make_loop(bpy.context, ob, cycle="RANGE", frames=range(10, 35))
    assert report["frames"] == [10, 34] and ob.animation_data.action != source
    assert keyed_range(ob) == {(10.0, 34.0)}
    after = shown(ob, range(10, 35))
    away = max(np.abs(after[each] - before[each][9:34])[:, :3, 3].max() for each in before)
    assert away < EXACT * LEG
    assert [mood_of(ob).evaluate(frame) for frame in range(10, 35)] == pytest.approx(moods[9:34], abs=1e-3)


@pytest.mark.parametrize("frame", [3, 45])
def test_what_was_switched_outside_of_a_range_is_so_in_it(frame):
    ob = walker(Walk())
    for at in (frame - 1, frame):
        ob["mood"] = 2.0
        ob.keyframe_insert('["mood"]', frame=at)
    make_loop(bpy.context, ob, cycle="RANGE", frames=range(10, 35))
    assert tuple(ob.animation_data.action.frame_range) == (10.0, 34.0)
    assert [key.co[:] for key in mood_of(ob).keyframe_points] == [(10.0, 2.0)]


def mood_of(ob: bpy.types.Object) -> bpy.types.FCurve:
    homes = current_fcurve_collections(ob.animation_data)
    return next(curve for home in homes for curve in home if curve.data_path == '["mood"]')


@pytest.mark.parametrize(
    ("cycle", "also"), [("WHOLE", ""), ("AUTO", ", and nothing in them repeats after a few steps")]
)
def test_without_legs_the_distance_is_a_length(cycle, also):
    ob = new_armature("worm", [BoneSpec("a", (0, 0, 0), (0, 0, 1)), BoneSpec("b", (0, 0, 1), (0, 0, 2), "a")])
    for frame, angle in ((1, 0.0), (20, 2.0)):
        ob.pose.bones["a"].rotation_mode = "XYZ"
        ob.pose.bones["a"].rotation_euler = (angle, 0.0, 0.0)
        ob.pose.bones["a"].keyframe_insert("rotation_euler", frame=frame)
    before = whole_state()
    with pytest.raises(
        ChainError, match=rf"the ends of frames 1-20 are 1\.\d+ apart{also}\. Choose a range that goes straight"
    ):
        make_loop(bpy.context, ob, body="a", cycle=cycle)
    assert whole_state() == before


@pytest.mark.parametrize("seed", range(5))
def test_the_best_cycle_is_the_one_that_was_hidden(seed):
    """Noise with one piece of it repeated; the repetition is the cycle, whatever travels and however it is sampled."""
    rng = np.random.default_rng(seed)
    count, first, length = 240, int(rng.integers(20, 120)), int(rng.integers(30, 60))
    walk = rng.normal(size=(count, 8, 3)).cumsum(axis=0) * 0.1
    walk[first + length : first + length + 3] = walk[first : first + 3]
    walk[first + length - 2 : first + length] = walk[first - 2 : first]
    body = rng.normal(size=(count, 3)).cumsum(axis=0) * (1.0, 1.0, 0.0)
    found = best_cycle(walk + body[:, None], body, np.zeros((2, count), bool), 30.0)
    assert abs(found[0] - first) <= 2 and found[1] - found[0] == length


def test_a_cycle_is_a_few_steps_even_where_more_of_them_end_alike():
    """Steps that nearly repeat, in what comes back exactly after many of them, as after a walk to the side and back."""
    t = np.arange(241)
    steps, around = 2.0 * np.pi * t / 24, 2.0 * np.pi * t / 192
    places = np.stack([np.sin(steps), np.cos(steps), 0.0 * t], axis=1)[:, None] + [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    places[:, 1] += np.stack((np.sin(around), np.cos(around), 0.0 * t), axis=1)
    locked = np.array((t % 24 < 12, t % 24 >= 12))
    first, last = best_cycle(places, np.zeros((241, 3)), locked, 24.0)
    assert abs(last - first - 24) <= 2


def test_a_foot_that_stands_at_one_end_alone_is_no_cycle():
    t = np.arange(97) * 2.0 * np.pi / 24
    places = np.stack([np.sin(t), np.cos(t), 0 * t], axis=1)[:, None] + np.array([[0, 0, 0], [0, 0, 1.0]])
    locked = np.zeros((1, 97), bool)
    first, last = best_cycle(places, np.zeros((97, 3)), locked, 24.0)
    assert last - first == 24
    locked[0, (np.arange(97) // 24) % 2 == 1] = True
    first, last = best_cycle(places, np.zeros((97, 3)), locked, 24.0)
    assert locked[0, first] == locked[0, last] and (last - first) % 24 == 0
    assert best_cycle(places[:5], np.zeros((5, 3)), locked[:, :5], 24.0) is None
