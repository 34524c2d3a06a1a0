"""Corrections that fade, over dense keys and few ones: measured on channels and evaluated bones."""

import bpy
import numpy as np
import pytest

from ik_addon.planting.scene.control_tracks import keyed_controls, numbers_at
from ik_addon.planting.scene.correcting import corrections_of
from ik_addon.planting.scene.entries import short_limbs
from ik_addon.ui.panels import motion as panel

from ..rig.rigs import evaluated_copy, leg
from ..scenes import enter, go_to
from ..ui.layouts import drawn
from .corrected import TIMES, channels, foot, middle_stance, middle_swing, move, stances, walk
from .planted_walks import FRAMES, LEG, seen

pytestmark = pytest.mark.versions

KEYS = ["dense", pytest.param("few", marks=pytest.mark.slow)]


@pytest.mark.parametrize("keys", KEYS)
def test_a_stance_is_moved_like_a_rigid_body(keys):
    ob, _ = walk(keys)
    own = middle_stance(ob)
    times = np.arange(4 * own[0], 4 * own[1] + 1) / 4.0
    before = seen(ob, times)
    move(ob, sum(own) // 2, turn=0.2)
    after = seen(ob, times)
    # Ankle and ball keep their distances from where each was at one moment, and the move is one and the same.
    for bone in ("foot.L", "toe.L"):
        one, two = (np.linalg.norm(places[bone] - places[bone][0], axis=1) for places in (before, after))
        assert np.abs(one - two).max() < 3e-4 * LEG
    assert np.linalg.norm(after["foot.L"][len(times) // 2] - before["foot.L"][len(times) // 2]) > 0.03


@pytest.mark.parametrize(("before_contact", "said"), [(1, True), (2, True), (5, False)])
def test_what_fades_to_a_contact_at_once_is_told(before_contact, said, capfd):
    ob, _ = walk("dense")
    move(ob, middle_swing(ob)[1] - before_contact)
    assert (
        "A contact or the end of a loop is so near that the correction of 'Foot.L' jumps back" in capfd.readouterr().out
    ) == said
    # With Auto Keying only the panel tells.
    assert ("The correction of 'Foot.L' jumps back" in drawn(panel.ANALYTIC_IK_PT_planting).text()) == said


@pytest.mark.parametrize("loops", [True, False])
@pytest.mark.parametrize("frame", [5, 21, 37])
def test_a_loop_stays_closed(loops, frame):
    rig = leg()
    ends = (0.0, -0.3, 0.4), (0.0, -0.3, 0.4 if loops else 0.5)
    for time, place in zip((1, 21, 41), (ends[0], (0.1, 0.2, 0.3), ends[1]), strict=True):
        rig.target.ob.location = place
        rig.target.ob.keyframe_insert("location", frame=time)
    rig.enable()
    enter("POSE", rig.ob, "shin")

    def places():
        return [tuple(round(x, 6) for x in at(time)) for time in (1, 41)]

    def at(time):
        go_to(time)
        return rig.target.ob.location.copy()

    before, own = places(), at(frame)
    rig.target.ob.location.x += 0.1
    assert bpy.ops.analytic_ik.apply_correction() == {"FINISHED"}
    assert at(frame).x == pytest.approx(own.x + 0.1, abs=1e-5)
    # A clip that goes on elsewhere fades as long as it should.
    assert (places() == before) == (loops or frame == 21)


@pytest.mark.parametrize("keys", KEYS)
def test_in_the_air_it_is_where_it_was_put_and_fades_to_the_contacts(keys):
    ob, _ = walk(keys)
    last, first = middle_swing(ob)
    frame = (first + last) // 2
    before, places = channels(ob), seen(ob, [frame])
    move(ob, frame, way=(0.0, 0.0, 0.04))
    after, now = channels(ob), seen(ob, [frame])
    assert now["foot.L"][0] - places["foot.L"][0] == pytest.approx((0.0, 0.0, 0.04), abs=2e-4)
    name = foot(ob).foot.name
    inside = (last < TIMES) & (first > TIMES)
    away = np.linalg.norm((after[name] - before[name])[:, :3], axis=1)
    assert away[~inside] == pytest.approx(0.0, abs=1e-5)
    # No pop: it goes there in steps, none of them large.
    steps = np.abs(np.diff(away[inside]))
    assert steps.max() < 0.04 * 4.0 / (first - last) * 1.5 * 0.5
    assert away.max() < 0.0405


def test_the_body_gives_so_that_legs_reach():
    ob, _ = walk()
    own = middle_stance(ob)
    frame = sum(own) // 2
    move(ob, frame, way=(0.25, 0.0, 0.0))
    go_to(frame)
    shown, target = evaluated_copy(ob), foot(ob).foot
    ankle = shown.matrix_world @ shown.pose.bones["foot.L"].head
    assert (ankle - target.ob.matrix_world.translation).length < 1e-3 * LEG


def test_a_second_move_in_one_stance_takes_the_place_of_the_first():
    ob, _ = walk()
    own, before = middle_stance(ob), channels(ob)
    move(ob, own[0] + 1)
    move(ob, own[1] - 1, way=(-0.02, 0.01, 0.0))
    assert len(corrections_of(ob)) == 1
    at = np.flatnonzero(own[0] == TIMES)[0]
    name = foot(ob).foot.name
    assert (channels(ob)[name] - before[name])[at, :3] == pytest.approx((0.03, 0.01, 0.0), abs=1e-5)


def test_keys_that_were_changed_by_hand_are_not_lost():
    ob, _ = walk()
    stance, swing = middle_stance(ob), middle_swing(ob)
    move(ob, sum(stance) // 2)
    control = foot(ob).foot
    go_to(5)
    control.owner.location.z += 0.1
    control.owner.keyframe_insert("location", frame=5)
    with pytest.raises(RuntimeError, match="were changed by hand since it was corrected"):
        bpy.ops.analytic_ik.remove_correction(index=0)
    before = numbers_at(control, [5.0])
    move(ob, sum(swing) // 2, way=(0.0, 0.0, 0.02))
    assert numbers_at(control, [5.0]) == pytest.approx(before, abs=1e-6)
    assert [own["frame"] for own in corrections_of(ob)] == [sum(swing) // 2]


def test_a_body_that_gave_and_was_keyed_by_hand_keeps_that_and_gives_no_more():
    ob, _ = walk()
    swing, body = middle_swing(ob), keyed_controls(ob).body
    move(ob, sum(middle_stance(ob)) // 2, way=(0.0, -0.15, 0.0))
    frame = sum(middle_stance(ob)) // 2
    go_to(frame)
    body.owner.location.x += 0.02
    body.owner.keyframe_insert("location", frame=frame)
    before = channels(ob)[body.name]
    move(ob, sum(swing) // 2, way=(0.0, 0.0, 0.01), body=False)
    assert channels(ob)[body.name] == pytest.approx(before, abs=1e-6)


def test_for_a_foot_out_of_all_reach_the_body_stays():
    ob, _ = walk()
    before = seen(ob)["thigh.L"][:, 2]
    move(ob, sum(middle_swing(ob)) // 2, way=(1.5, 0.0, 0.0))
    assert np.abs(seen(ob)["thigh.L"][:, 2] - before).max() < 0.2
    assert corrections_of(ob)[0]["span"] == [*middle_swing(ob)]


def test_what_cannot_be_corrected_is_refused():
    ob, _ = walk()
    go_to(20)
    with pytest.raises(RuntimeError, match="no keyed control is moved at this frame"):
        bpy.ops.analytic_ik.apply_correction()
    with pytest.raises(RuntimeError, match="no longer has this correction"):
        bpy.ops.analytic_ik.remove_correction(index=3)
    go_to(90)
    foot(ob).foot.owner.location.x += 0.1
    with pytest.raises(RuntimeError, match=r"Frame 90 is not in frames 1-60 of the clip"):
        bpy.ops.analytic_ik.apply_correction()


def test_the_body_gives_for_many_steps_no_more_than_for_one():
    """What one step asks for is not asked again of the next, which only begins to fade in there."""
    ob, _ = walk()
    place, left = seen(ob)["thigh.L"][:, 2], stances(ob)
    lowered = []
    for frame, way in ((sum(left[1]) // 2, (0.0, -0.15, 0.0)), (left[1][0] - 6, (0.0, 0.0, 0.12))):
        move(ob, frame, way=way)
        lowered.append(float((place - seen(ob)["thigh.L"][:, 2]).max()))
    right = keyed_controls(ob).limbs[1].foot
    move(ob, left[1][1] + 6, right, (0.0, 0.05, 0.0))
    lowered.append(float((place - seen(ob)["thigh.L"][:, 2]).max()))
    assert lowered[0] > 0.01
    assert max(lowered) < 2.0 * lowered[0] + 0.02


@pytest.mark.parametrize("way", [0.0, 0.3])
def test_feet_that_cannot_follow_the_body_are_named(way, capfd):
    ob, _ = walk()
    move(ob, sum(middle_stance(ob)) // 2, keyed_controls(ob).body, (0.0, 0.01, way))
    assert ("'shin.L'" in capfd.readouterr().out) == (way > 0.0)


@pytest.mark.parametrize("turn", [0.0, 0.5])
def test_legs_that_a_turned_body_leaves_short_are_named_with_the_frame_where_most(turn, capfd):
    """Beside the frame at which it is turned as well: there a leg may be straighter."""
    ob, _ = walk()
    body, targets = keyed_controls(ob).body, {each.tip.name: each.foot for each in keyed_controls(ob).limbs}
    own = middle_swing(ob)
    before = missed(ob, targets)
    move(ob, sum(own) // 2, body, (0.0, 0.0, 0.0 if turn else 1e-3), turn)
    away = {tip: frames - before[tip] for tip, frames in missed(ob, targets).items()}
    short, said = short_limbs(ob), capfd.readouterr().out
    assert short.keys() == {tip for tip, frames in away.items() if frames.max() > 2e-3 * LEG}
    for tip, frame in short.items():
        assert away[tip][FRAMES.index(frame)] > 0.9 * away[tip].max()
        assert f"'{tip}' at frame {frame}" in said
        assert f"{tip}: out of reach, most at frame {frame}" in drawn(panel.ANALYTIC_IK_PT_planting).text()
    assert bool(short) == bool(turn)


def missed(ob, targets) -> dict[str, np.ndarray]:
    """How far the end of each limb is from its target in FRAMES."""
    found = {tip: [] for tip in targets}
    for frame in FRAMES:
        go_to(frame)
        shown = evaluated_copy(ob)
        for tip, target in targets.items():
            foot = shown.matrix_world @ shown.pose.bones[tip].tail
            found[tip].append((foot - target.ob.matrix_world.translation).length)
    return {tip: np.array(own) for tip, own in found.items()}
