"""Match Source: ankles, wrists, knees and elbows against what the source's evaluated bones say, scaled by hand."""

from dataclasses import replace
from math import pi, radians

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from ik_addon.authoring.finding.limbs import FoundLimb
from ik_addon.authoring.rigging import rig_legs
from ik_addon.matching import last_match_report, match_source
from ik_addon.matching.match import source_matched
from ik_addon.planting import Options, plant
from ik_addon.planting.scene.reading import leg_tips
from ik_addon.planting.scene.sources import source_of
from ik_addon.solvers import ChainError

from ..authoring.skeletons import FAMILIES, armature_of
from ..helpers.once import once
from ..rig.rigs import editing, evaluated_copy, update
from ..scenes import action_state, bag_of, curves_of, go_through, go_to, whole_state
from .bodies import FRAMES, SIDES, Build, Motion, animate, moving_body, new_body, walk
from .oracle import ARM, LEG, LIMBS, Seen, joints_over, line_and_side

pytestmark = pytest.mark.versions

LYING = (pi / 2.0, 0.0, 0.0)
MIXAMO = Build("mixamo", size=0.01, axes=LYING, roll=0.4)
SHORT = Build("rigify", legs=0.6, arms=0.7, droop=radians(45.0), roll=1.0)
CASES = {
    "alike": (MIXAMO, Build()),
    "short": (MIXAMO, SHORT),
    "tall": (Build("cmu", droop=radians(30.0)), Build("mixamo", legs=1.6, arms=1.3, size=0.01, axes=LYING)),
    "long arms": (Build("cmu", legs=0.8), Build("rigify", legs=0.9, arms=1.6, droop=radians(60.0), knee=0.45)),
    "put up elsewhere": (
        Build("rigify", place=(1.0, 2.0, 0.5), heading=0.7, roll=-0.8),
        Build("cmu", legs=1.3, arms=0.6, place=(-3.0, 1.0, 1.2), heading=-1.9, knee=0.56, size=2.0),
    ),
}
NEAR = 1e-5


@once
def rigged(source: Build, own: Build, **given: object) -> tuple[bpy.types.Object, bpy.types.Object]:
    """A source that walks, and a character to which its walk was retargeted naively, rigged."""
    bodies = moving_body(source, "source"), moving_body(own, "character", **{"travel": 1.1 * own.legs, **given})
    rig_legs(bpy.context, bodies[1], arms=True)
    update()
    return bodies


def standing(_: int) -> Motion:
    return walk(FRAMES.start)


def on_still_feet(frame: int) -> Motion:
    """A walk whose feet do not turn."""
    (turns, way), (still, _) = walk(frame), standing(frame)
    return turns | {place: turn for place, turn in still.items() if place[0] in ("foot", "toe")}, way


@pytest.mark.some(2)
@pytest.mark.parametrize(
    "case",
    [
        "alike",
        "short",
        "put up elsewhere",
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("tall", "long arms")),
    ],
)
def test_ankles_and_wrists_are_where_the_scaled_source_has_them(case):
    source, own = CASES[case]
    origin, ob = rigged(source, own)
    before = Seen(origin, source, ob, own)
    report = match_source(bpy.context, ob, origin)
    seen = Seen(origin, source, ob, own)
    for limb in LIMBS:
        assert seen.is_in_reach(limb).all()
        assert seen.misses(limb).max() < NEAR
        assert seen.swivel(limb).max() < 1e-4
    assert max(before.misses((LEG, side)).max() for side in SIDES) > 0.1
    assert report == last_match_report()
    assert (report["armature"], report["source"], report["frames"]) == (ob.name, origin.name, [1, 24, 1])
    assert (report["unreached_frames"], report["left_out"], report["body"]) == ([], [], own.bone("pelvis"))
    told = {limb["tip"]: limb for limb in report["limbs"]}
    assert set(told) == {own.bone(bones[1], side) for bones, side in LIMBS}
    for bones, side in LIMBS:
        limb = told[own.bone(bones[1], side)]
        assert limb["source_bone"] == source.bone(bones[1], side)
        assert limb["scale"] == pytest.approx(seen.scale((bones, side)), rel=1e-5)
        assert limb["length"] == pytest.approx(seen.lengths[bones, side], rel=1e-5)
        assert limb["error"] < NEAR * limb["length"]
        assert limb["swivel_error"] < 1e-4
        assert limb["distance_before"] == pytest.approx(
            before.misses((bones, side)).max() * limb["length"], abs=1e-4 * limb["length"]
        )


@pytest.mark.parametrize("arms", [pytest.param("CHEST", marks=pytest.mark.slow), "GROUND"])
def test_hands_are_measured_from_where_they_are_asked_to(arms):
    source, own = Build("cmu"), Build("rigify", legs=1.2, arms=1.3, droop=radians(45.0))
    origin, ob = rigged(source, own)
    match_source(bpy.context, ob, origin, arms=arms)
    seen = Seen(origin, source, ob, own, arms)
    for limb in LIMBS:
        near = seen.is_in_reach(limb)
        assert near.mean() > 0.5
        assert seen.misses(limb)[near].max() < NEAR
        assert seen.swivel(limb)[near].max() < 1e-4
    # The other ways to measure differ.
    assert max(Seen(origin, source, ob, own).misses((ARM, side)).max() for side in SIDES) > 0.01


def test_hands_that_meet_stay_together_between_shoulders():
    def clapping(frame: int):
        turns, way = walk(frame)
        for side, sign in SIDES.items():
            for bone, angle in (("shoulder", 0.0), ("upper_arm", -0.9), ("forearm", -2.0), ("hand", -2.0)):
                turns[bone, side] = Matrix.Rotation(angle * sign, 3, "Z").to_quaternion()
        return turns, way

    source, own = Build("mixamo"), Build("rigify", legs=1.1, arms=0.9, droop=radians(45.0))
    origin, ob = moving_body(source, "source", motion=clapping), moving_body(own, "character", motion=clapping)
    rig_legs(bpy.context, ob, arms=True)
    match_source(bpy.context, ob, origin, arms="CHEST")
    seen = Seen(origin, source, ob, own, "CHEST")
    (left, right), (own_left, own_right) = (
        [each[ARM, side][:, 2] for side in SIDES] for each in (seen.theirs, seen.ours)
    )
    assert all(seen.is_in_reach(limb).all() for limb in LIMBS)
    assert np.abs((own_left - own_right) - seen.scale((ARM, "L")) * (left - right)).max() < 1e-5


@pytest.mark.parametrize(
    ("arms", "body"),
    [
        pytest.param("SHOULDER", False, marks=pytest.mark.slow),
        ("GROUND", True),
        pytest.param("CHEST", True, marks=pytest.mark.slow),
    ],
)
def test_what_is_out_of_reach_is_told_by_frame(arms, body):
    """Short arms cannot get to the hands of a larger body; legs that the body does not help cannot get to its feet."""
    source, own = Build("cmu", arms=1.2), Build("mixamo", legs=0.9, arms=0.65 if arms == "GROUND" else 1.0)
    if arms == "CHEST":
        source = replace(source, arms=0.6)
    origin, ob = rigged(source, own, travel=0.7)
    report = match_source(bpy.context, ob, origin, arms=arms, body=body)
    seen = Seen(origin, source, ob, own, arms)
    told = {limb["tip"]: limb["unreached_frames"] for limb in report["limbs"]}
    expected = {
        own.bone(bones[1], side): [FRAMES[k] for k in np.flatnonzero(~seen.is_in_reach((bones, side)))]
        for bones, side in LIMBS
    }
    assert told == expected
    assert any(expected.values())
    assert report["unreached_frames"] == sorted({frame for frames in expected.values() for frame in frames})
    for limb in LIMBS:
        near = seen.is_in_reach(limb)
        assert not near.any() or seen.misses(limb)[near].max() < NEAR
    assert (report["body_shift"] > 0.0) is body


def test_the_scales_are_measured_at_a_frame():
    source, own = Build("cmu"), Build("mixamo", legs=1.2, arms=1.1, knee=0.6)
    origin, ob = rigged(source, own)
    seen = Seen(origin, source, ob, own)

    def ratio(bones):
        spans = [
            sum(np.linalg.norm(each[bones, side][6, 2] - each[bones, side][6, 0]) for side in SIDES)
            for each in (seen.ours, seen.theirs)
        ]
        return spans[0] / spans[1]

    expected = {"LEG": ratio(LEG), "ARM": ratio(ARM)}
    assert abs(expected["LEG"] - seen.scale((LEG, "L"))) > 1e-3
    go_to(3)
    report = match_source(bpy.context, ob, origin, scale_frame=FRAMES[6])
    for limb in report["limbs"]:
        assert limb["scale"] == pytest.approx(expected[limb["kind"]], rel=1e-5)
    assert bpy.context.scene.frame_current == 3


def test_a_clip_that_was_retargeted_in_the_world_stays_there():
    """Constraints copy what a source does in the world, to whatever side the character looks in its rest pose."""
    source, own = Build("cmu"), Build("rigify", legs=1.2, heading=pi / 2.0)
    origin, ob = rigged(source, own, in_world=True, travel=1.2)
    match_source(bpy.context, ob, origin)
    seen = Seen(origin, source, ob, own, in_world=True)
    assert max(seen.misses(limb).max() for limb in LIMBS) < NEAR
    assert max(seen.swivel(limb).max() for limb in LIMBS) < 1e-4


def test_the_ground_stays_the_ground():
    """A foot that stands in the source stands: its ankle has no height of its own in the world of the character."""
    source, own = Build("cmu"), Build("mixamo", legs=1.5)
    origin, ob = moving_body(source, "source", motion=standing), moving_body(own, "character", travel=2.0)
    rig_legs(bpy.context, ob)
    match_source(bpy.context, ob, origin)
    seen = Seen(origin, source, ob, own)
    for side in SIDES:
        ankles = seen.ours[LEG, side][:, 2]
        assert np.abs(ankles - ankles[0]).max() < NEAR
        assert ankles[0, 2] == pytest.approx(seen.scale((LEG, side)) * seen.theirs[LEG, side][0, 2, 2], abs=1e-5)


def test_feet_and_hands_keep_their_rotation_and_other_bones_their_keys():
    origin, ob = rigged(MIXAMO, SHORT)
    action, names = ob.animation_data.action, {own.name for own in bpy.data.actions}
    kept = {each.name: action_state(each) for each in bpy.data.actions}
    ends = [SHORT.bone(bones[2], side) for bones, side in LIMBS]
    others = [SHORT.bone("chest"), SHORT.bone("head")]

    def turns(names):
        found = []
        for frame in FRAMES:
            go_to(frame)
            shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
            found.append([np.array(shown.pose.bones[name].matrix.to_3x3()) for name in names])
        return np.array(found)

    before = turns(ends), turns(others)
    match_source(bpy.context, ob, origin)
    assert np.abs(turns(ends) - before[0]).max() < 1e-5
    assert np.abs(turns(others) - before[1]).max() < 1e-6
    assert {name: action_state(bpy.data.actions[name]) for name in names} == kept
    moved = {SHORT.bone(bone, side) for bones, side in LIMBS for bone in bones} | {SHORT.bone("pelvis")}
    old = {
        path: curve for path, curve in curves_by_path(ob, action).items() if not any(name in path[0] for name in moved)
    }
    new = curves_by_path(ob, ob.animation_data.action)
    assert old
    assert all(new[path] == keys for path, keys in old.items())


def curves_by_path(ob: bpy.types.Object, action: bpy.types.Action) -> dict:
    playing = ob.animation_data.action
    ob.animation_data.action = action
    found = {path: [tuple(point.co) for point in curve.keyframe_points] for path, curve in curves_of(ob).items()}
    ob.animation_data.action = playing
    return found


def all_keys() -> dict:
    return {
        ob.name: {path: [(*point.co,) for point in curve.keyframe_points] for path, curve in curves_of(ob).items()}
        for ob in bpy.data.objects
        if ob.animation_data and ob.animation_data.action
    }


@pytest.mark.parametrize("is_body_keyed", [True, False])
def test_done_twice_it_gives_the_same_keys(is_body_keyed):
    origin, ob = rigged(MIXAMO, SHORT)
    if not is_body_keyed:
        for curve in [curve for (path, _), curve in curves_of(ob).items() if path.endswith("location")]:
            bag_of(ob).fcurves.remove(curve)
        ob.pose.bones[SHORT.bone("pelvis")].location = (0.0, 0.0, 0.0)
        go_to(1)
    match_source(bpy.context, ob, origin)
    keys, actions = all_keys(), set(bpy.data.actions.keys())
    go_to(9)
    report = match_source(bpy.context, ob, origin)
    again = all_keys()
    # What limbs show is read off their solution, which is rounded.
    bones = keys.pop(ob.name), again.pop(ob.name)
    assert again == keys
    assert len(keys) == 9
    assert {path: keys for path, keys in bones[1].items() if path[0].endswith("location")} == {
        path: keys for path, keys in bones[0].items() if path[0].endswith("location")
    }
    assert bones[0].keys() == bones[1].keys()
    assert max(np.abs(np.array(bones[0][path]) - bones[1][path]).max() for path in bones[0]) < 2e-6
    assert set(bpy.data.actions.keys()) == actions
    assert report["body_shift"] > 0.01


def test_without_chains_the_matched_pose_is_shown_and_planting_begins_with_it():
    source, own = CASES["short"]
    origin, ob = moving_body(source, "source", motion=standing), moving_body(own, "character", motion=on_still_feet)
    rig_legs(bpy.context, ob, arms=True)
    match_source(bpy.context, ob, origin)
    matched = ob.animation_data.action
    for tip in [own.bone(bones[1], side) for bones, side in LIMBS]:
        ob.pose.bones[tip].analytic_ik_enabled = False
    seen = Seen(origin, source, ob, own)
    assert max(seen.misses(limb).max() for limb in LIMBS) < NEAR
    for tip in [own.bone(bones[1], side) for bones, side in LIMBS]:
        ob.pose.bones[tip].analytic_ik_enabled = True
    assert plant(bpy.context, leg_tips(ob), FRAMES, Options(anyway=True))["chains"][0]["slide_before"] < 1e-4
    assert source_of(ob) == matched
    with pytest.raises(ChainError, match="its action was planted"):
        match_source(bpy.context, ob, origin)


def test_a_limb_that_the_source_does_not_have_is_left_out():
    source, own = Build("cmu"), Build("rigify", legs=1.2)
    origin, ob = rigged(source, own)
    for side in SIDES:
        origin.data.bones[source.bone("upper_arm", side)].name = f"wing {side}"
        origin.data.bones[source.bone("forearm", side)].name = f"wing tip {side}"
    report = match_source(bpy.context, ob, origin)
    assert report["left_out"] == ["forearm.L", "forearm.R"]
    assert [limb["tip"] for limb in report["limbs"]] == ["shin.L", "shin.R"]


def test_a_source_that_has_chains_itself_is_matched_as_it_is_shown():
    source, own = Build("cmu"), Build("mixamo", legs=1.3, arms=1.2)
    origin, ob = rigged(source, own)
    rig_legs(bpy.context, origin)
    for ob_ in bpy.data.objects:
        if ob_.type == "EMPTY" and ob_.name.startswith("Foot") and ob_.animation_data:
            for (path, index), curve in curves_of(ob_).items():
                if path == "location" and index == 2:
                    for point in curve.keyframe_points:
                        point.co[1] += 0.05
    go_to(1)
    match_source(bpy.context, ob, origin)
    seen = Seen(origin, source, ob, own)
    assert max(seen.misses(limb).max() for limb in LIMBS) < NEAR


def links(limb: FoundLimb) -> int:
    return len(limb.bones) - len(limb.segments)


def test_controls_that_are_bones_of_the_character_move_it():
    """They are in its own action, and no child of what the body moves."""
    source, own = CASES["tall"]
    origin, ob = moving_body(source, "source"), moving_body(own, "character", travel=1.7)
    rig_legs(bpy.context, ob, arms=True, as_bones=True)
    for _ in range(2):
        match_source(bpy.context, ob, origin)
        seen = Seen(origin, source, ob, own)
        assert max(seen.misses(limb).max() for limb in LIMBS) < NEAR
        assert max(seen.swivel(limb).max() for limb in LIMBS) < 1e-4


BEASTS = [
    family
    for family in FAMILIES
    if family.places == "beast"
    and {"LEG"} == {limb.kind for limb in family.found()}
    and 3 in map(links, family.found())
]


@pytest.mark.some(3)
@pytest.mark.parametrize(
    "family",
    [family if k < 2 else pytest.param(family, marks=pytest.mark.slow) for k, family in enumerate(BEASTS)],
    ids=str,
)
def test_legs_of_three_links_match_theirs(family):
    """An animal, and a larger one of the same kind whose clip was copied with errors."""
    frames, rng = range(1, 9), np.random.default_rng(5)
    limbs = [limb for limb in family.found() if limb.kind == "LEG"]
    bodies = armature_of(family.bones()), armature_of(family.bones())
    bodies[1].scale = (1.4, 1.4, 1.4)
    names = [name for limb in limbs for name in (*limb.bones, limb.end) if name not in limb.segments]
    turns = {name: rng.uniform(-0.15, 0.15, (len(frames), 3)) for name in names}
    for ob, error in zip(bodies, (0.0, 0.1), strict=True):
        for name, angles in turns.items():
            bone = ob.pose.bones[name]
            bone.rotation_mode = "XYZ"
            for frame, own in zip(frames, angles, strict=True):
                bone.rotation_euler = own + error
                bone.keyframe_insert("rotation_euler", frame=frame)
    origin, ob = bodies
    rig_legs(bpy.context, ob)
    report = match_source(bpy.context, ob, origin, frames)
    assert [limb["tip"] for limb in report["limbs"]] == [limb["source_bone"] for limb in report["limbs"]]
    assert {limb["tip"] for limb in report["limbs"]} == {limb.bones[-1] for limb in limbs}
    for frame in frames:
        go_to(frame)
        there, here = evaluated_copy(origin), evaluated_copy(ob)
        for limb, told in zip(limbs, report["limbs"], strict=True):
            ends = []
            for shown in (there, here):
                tip = shown.pose.bones[limb.bones[-1]]
                end = tip.bone.matrix_local.inverted() @ shown.data.bones[limb.end].head_local
                ends.append(np.array(shown.matrix_world @ tip.matrix @ end))
            assert told["scale"] == pytest.approx(1.4, rel=1e-5)
            if frame not in told["unreached_frames"]:
                assert np.linalg.norm(ends[1] - 1.4 * ends[0]) < NEAR * told["length"]
    assert all(limb["swivel_error"] < 1e-3 for limb in report["limbs"])
    assert all(len(limb["unreached_frames"]) < 3 for limb in report["limbs"])
    assert any(limb["distance_before"] > 0.02 * limb["length"] for limb in report["limbs"])


@pytest.mark.parametrize("share", [0.05, 0.8, *(pytest.param(each, marks=pytest.mark.slow) for each in (0.4, 0.95))])
def test_closed_in_the_middle_it_leaves_all_as_it_was(share):
    origin, ob = rigged(MIXAMO, SHORT)
    go_to(4)
    before = whole_state()
    go_through(source_matched(bpy.context, ob, origin), share)
    update()
    assert whole_state() == before


@pytest.mark.parametrize("what", ["target", "pole"])
def test_the_oracle_sees_a_control_that_is_off(what):
    source, own = CASES["tall"]
    origin, ob = rigged(source, own)
    match_source(bpy.context, ob, origin)
    tip = ob.pose.bones[own.bone("shin", "L")]
    control = tip.analytic_ik_target if what == "target" else tip.analytic_ik_pole_target
    for (path, index), curve in curves_of(control).items():
        if path == "location" and index == 0:
            for point in curve.keyframe_points:
                point.co[1] += 2e-4
    go_to(2)
    seen = Seen(origin, source, ob, own)
    far = seen.misses((LEG, "L")) if what == "target" else seen.swivel((LEG, "L"))
    assert far.max() > 1e-4


def test_straight_limbs_of_the_source_leave_the_side_to_the_character():
    """Arms that hang straight show no side; the character's own elbows keep theirs."""

    def straight(frame: int):
        turns, way = walk(frame)
        for side in SIDES:
            turns["forearm", side] = turns["upper_arm", side]
        return turns, way

    source = Build("cmu")
    own = Build("mixamo", arms=0.8, legs=1.2)
    origin = new_body(source, "source")
    with_straight_arms(origin, source)
    animate(origin, source, motion=straight)
    ob = moving_body(own, "character", travel=1.2)
    rig_legs(bpy.context, ob, arms=True)
    before = joints_over(ob, own)
    match_source(bpy.context, ob, origin, arms="CHEST")
    seen = Seen(origin, source, ob, own, "CHEST")
    for side in SIDES:
        assert seen.is_in_reach((ARM, side)).all()
        assert seen.misses((ARM, side)).max() < NEAR
        for was, now in zip(before[ARM, side], seen.ours[ARM, side], strict=True):
            sides = [line_and_side(each)[1] for each in (was, now)]
            if np.linalg.norm(sides[1]) > 0.01:
                assert sides[0] @ sides[1] > 0.0


def with_straight_arms(ob: bpy.types.Object, build: Build) -> None:
    with editing(ob) as bones:
        for side in SIDES:
            shoulder, wrist = bones[build.bone("upper_arm", side)].head, bones[build.bone("hand", side)].head
            middle = (shoulder + wrist) / 2.0
            bones[build.bone("upper_arm", side)].tail = middle
            bones[build.bone("forearm", side)].head = middle
