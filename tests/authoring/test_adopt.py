"""Blender's IK constraints become chains without moving a bone, and come back bit for bit."""

import re
from collections.abc import Callable
from math import pi, sqrt

import bpy
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_addon.authoring.adopt import Adopted, adopt, restore
from ik_addon.authoring.blender_ik import adoptable, adopted_tips, is_adopted, resting
from ik_addon.authoring.controls import add_chain
from ik_addon.rig.blender.animation import animated_paths
from ik_addon.rig.status.problems import left_behind
from ik_addon.solvers import ChainError

from ..helpers.blenders_ik import adopt_all, constrain, constraint_state
from ..rig.rigs import (
    BoneSpec,
    Control,
    Rig,
    bend_normal,
    editing,
    evaluated_copy,
    fk_values,
    leg,
    new_armature,
    new_empty,
    orientation,
    pole_point,
    pose_values,
    random_rig,
    reachable_point,
    set_rotation,
    update,
)
from ..scenes import (
    EXACT,
    angle_between,
    apart,
    curve_state,
    curves_of,
    enter,
    farthest_apart,
    go_to,
    key_fk,
    linked,
    played,
    pose_of,
    refuses,
    second_chain,
    slide,
    whole_state,
)

PROMISED = 1e-4
"""Of a chain's length: how far adopting moves a joint where Blender's own solution meets its target."""
SOLVED = 1e-3
"""Of a chain's length: farther from a target in reach, Blender's own solution is none, and no chain can repeat it."""


def constrained_leg(pole: bool = True, pole_angle: float = 0.4, knee: float = 0.2, **settings: object) -> Rig:
    """A leg under Blender's own IK, its pole in front of it and aside."""
    rig = leg(knee=knee)
    rig.pole = Control(new_empty("pole", (0.7, -2.0, 1.0))) if pole else None
    constrain(rig, pole_angle, **settings)
    return rig


def solved_by_blender(seed: int, count: int, with_pole: bool) -> tuple[Rig, float]:
    """A random rig whose target Blender's own IK meets, and by how much it misses it, in chain lengths.

    On up to a third of them (mirrored bones, bones that inherit no rotation, folded limbs) it stops far from it.
    """
    for attempt in range(seed * 100, seed * 100 + 100):
        rig = random_rig(attempt, count, with_pole)
        target = reachable_point(rig)
        rig.place_target(target)
        if with_pole:
            rig.place_pole(pole_point(rig, target))
        constrain(rig, rig.random.uniform(-pi, pi))
        if rig.missed() < SOLVED:
            return rig, rig.missed()
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    raise AssertionError("Blender met none of a hundred targets")


def adopt_one(ob: bpy.types.Object) -> Adopted:
    [adopted] = adopt_all(ob)
    return adopted


def moved(ob: bpy.types.Object, before: dict[str, Matrix], length: float) -> float:
    """How far the heads and tails of all bones are from where they were, in chain lengths."""
    ways = []
    for name, matrix in pose_of(ob).items():
        tail = Vector((0.0, ob.data.bones[name].length, 0.0))
        ways += [(matrix @ point - before[name] @ point).length for point in (Vector(), tail)]
    return max(ways) / length


# No bone moves


@pytest.mark.parametrize("with_pole", [True, False])
@pytest.mark.parametrize(
    ("count", "seed"), [(2, seed) for seed in range(100)] + [(n, seed) for n in (1, 3, 5) for seed in range(25)]
)
def test_adopting_moves_no_bone(count, seed, with_pole):
    """By no more than Blender's own solution misses its target: then a limb that meets it has to move.

    A limb that is nearly straight or folded moves by a multiple of that.
    """
    rig, missed = solved_by_blender(seed, count, with_pole)
    before, length = pose_of(rig.ob), sum(rig.lengths())
    adopted = adopt_one(rig.ob)
    assert moved(rig.ob, before, length) < max(PROMISED, 10.0 * missed)
    assert adopted.moved == pytest.approx(moved(rig.ob, before, length), abs=1e-6)
    after = pose_of(rig.ob)
    turned = max(angle_between(orientation(after[name]), orientation(before[name])) for name in after)
    assert turned < max(5.0 * PROMISED, 40.0 * missed)
    assert adopted.turned == pytest.approx(turned, rel=0.2, abs=1e-5)
    assert rig.missed() < EXACT
    # Also once the frame changes, and the chain is solved from the start.
    go_to(bpy.context.scene.frame_current + 1)
    assert apart(pose_of(rig.ob), after, length) < EXACT


@pytest.mark.parametrize("pole_angle", [0.0, 1.0, -2.5])
def test_a_leg_follows_its_target_and_pole_as_before(pole_angle):
    """Not only at the moment of adopting: the swivel stands for the pole angle wherever target and pole go."""
    rig = constrained_leg(pole_angle=pole_angle)
    places = [((0.1, -0.5, 0.3), (0.5, -2.0, 1.5)), ((-0.4, 0.3, 0.6), (-1.0, -1.5, 1.0)), ((0, -0.9, 1), (0, -2, 3))]

    def poses() -> list[dict[str, Matrix]]:
        found = []
        for target, pole in places:
            rig.target.place(target)
            rig.pole.place(pole)
            found.append(pose_of(rig.ob))
        return found

    by_blender = poses()
    rig.target.place((0.0, -0.3, 0.4))
    adopt_one(rig.ob)
    assert max(apart(a, b, 2.0) for a, b in zip(poses(), by_blender, strict=True)) < 0.01


@pytest.mark.parametrize("pole", [True, False])
@pytest.mark.parametrize("knee", [0.0, 0.2])
def test_a_leg_out_of_reach_stays_straight_and_bends_to_the_same_side(knee, pole):
    rig = constrained_leg(pole, knee=knee)
    rig.target.place((0.1, -0.2, 0.3))
    side = bend_normal(rig.joints())
    rig.target.place((0.5, -0.4, -1.5))
    before, length, short = pose_of(rig.ob), sum(rig.lengths()), rig.missed()
    adopt_one(rig.ob)
    # Blender leaves it a little short of straight, and by the square root of that its knee is off the line.
    assert moved(rig.ob, before, length) < 2.0 * sqrt(max(0.0, short - rig.missed())) + PROMISED
    assert moved(rig.ob, before, length) < 30.0 * PROMISED
    rig.target.place((0.1, -0.2, 0.3))
    # Blender's own IK does not bend a leg that is straight in its FK pose at all.
    assert not knee or side.dot(bend_normal(rig.joints())) > 0.99


def test_keys_that_blenders_ik_went_over_are_no_matter():
    rig = constrained_leg()
    key_fk(rig)
    adopt_one(rig.ob)
    assert left_behind(rig.ob, "shin") == []
    restore(bpy.context, [rig.tip])
    rig.tip.constraints.remove(rig.tip.constraints[0])
    add_chain(bpy.context, rig.tip, 2, "AUTO", True)
    # They were seen before this chain was.
    assert left_behind(rig.ob, "shin") != []


@pytest.mark.parametrize("seed", [13, 48])
def test_a_long_chain_does_not_magnify_what_blender_misses(seed):
    """It gets the nearest pose that meets the target, and not the one that least motion makes of Blender's."""
    rig = random_rig(seed, 3, with_pole=False)
    rig.place_target(reachable_point(rig))
    constrain(rig, rig.random.uniform(-pi, pi))
    missed = rig.missed()
    assert 1e-6 < missed < SOLVED
    assert adopt_one(rig.ob).moved < 3.0 * missed


def test_a_limited_knee_stays():
    rig = constrained_leg()
    knee = rig.tip
    knee.lock_ik_y = knee.lock_ik_z = knee.use_ik_limit_x = True
    knee.ik_min_x, knee.ik_max_x = (-2.5, 0.0) if knee.bone.x_axis.x < 0.0 else (0.0, 2.5)
    before = pose_of(rig.ob)
    adopt_one(rig.ob)
    assert moved(rig.ob, before, 2.0) < 5.0 * PROMISED


def test_limits_of_the_root_hold_from_now_on_and_the_way_is_told():
    """With a pole Blender ignores them."""
    rig = constrained_leg(pole_angle=2.0)
    root = rig.ob.pose.bones["thigh"]
    root.use_ik_limit_y, root.ik_min_y, root.ik_max_y = True, -0.1, 0.1
    update()
    adopted = adopt_one(rig.ob)
    assert adopted.moved > 0.05
    assert adopted.because == "with a pole Blender ignores the limits of the first bone"


def test_only_the_chosen_constraints_are_adopted_and_muted_ones_never():
    rig = constrained_leg()
    muted = rig.tip.constraints.new("IK")
    muted.target, muted.mute = rig.target.ob, True
    assert adoptable([rig.ob.pose.bones["thigh"]]) == []
    assert [held.constraint.name for held in adoptable(rig.ob.pose.bones)] == ["IK"]
    adopt_one(rig.ob)
    assert adoptable(rig.ob.pose.bones) == []
    assert muted.mute


def key_mute(rig: Rig, name: str, on: bool) -> None:
    """Keys that mute the constraint from frame 5 to 9; `enabled` is the same the other way round."""
    ik = rig.tip.constraints["IK"]
    for frame, muted in ((1, False), (5, True), (9, False)):
        setattr(ik, name, muted is not on)
        ik.keyframe_insert(name, frame=frame)


def drive_mute(rig: Rig, driver_type: str) -> None:
    """A driver that mutes the constraint where a property of a bone, keyed, is 1; between it is not quite on."""
    switch = rig.ob.pose.bones["hips"]
    keys = ((1, 0.0), (4, 0.0), (5, 1.0), (8, 1.0), (10, 0.0))
    for frame, value in keys:
        switch["switch"] = value
        switch.keyframe_insert('["switch"]', frame=frame)
    curve = rig.tip.constraints["IK"].driver_add("mute")
    curve.driver.type = driver_type
    variable = curve.driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = rig.ob, switch.path_from_id('["switch"]')
    curve.driver.expression = variable.name
    if driver_type == "SUM":
        # As Rigify does: 1 - x, and x is the switch the other way round.
        for frame, value in keys:
            switch["other"] = 1.0 - value
            switch.keyframe_insert('["other"]', frame=frame)
        variable.targets[0].data_path = switch.path_from_id('["other"]')
        generator = curve.modifiers[0] if curve.modifiers else curve.modifiers.new("GENERATOR")
        generator.mode, generator.poly_order, generator.coefficients = "POLYNOMIAL", 1, (1.0, -1.0)


MUTES = {
    "keys": lambda rig: key_mute(rig, "mute", False),
    "keys of enabled": lambda rig: key_mute(rig, "enabled", True),
    "a driver": lambda rig: drive_mute(rig, "SCRIPTED"),
    "a driver of another type": lambda rig: drive_mute(rig, "SUM"),
}


@pytest.mark.parametrize("by", MUTES)
def test_a_constraint_that_animation_mutes_hands_over_where_it_was_on(by):
    """The animation stays; where it mutes the constraint the chain is off."""
    rig = constrained_leg()
    rig.tip.constraints["IK"].influence = 0.7
    MUTES[by](rig)
    frames = [*range(1, 13), 4.5, 8.5, 9.5]
    before = played(rig.ob, frames)
    go_to(2)
    file, settings = whole_state(), constraint_state(rig.tip.constraints["IK"])
    switched = {frame: not muted_at(rig, frame) for frame in frames}
    assert set(switched.values()) == {True, False}
    go_to(2)
    assert adopt_one(rig.ob).moved < PROMISED
    assert adoptable(rig.ob.pose.bones) == []
    for frame in frames:
        go_to(frame)
        assert evaluated_copy(rig.ob).pose.bones["shin"].analytic_ik_enabled == switched[frame], frame
    assert farthest_apart(played(rig.ob, frames), before, 2.0) < 3.0 * PROMISED
    go_to(2)
    restore(bpy.context, [rig.tip])
    assert constraint_state(rig.tip.constraints["IK"]) == settings
    assert whole_state() == file
    assert farthest_apart(played(rig.ob, frames), before, 2.0) < EXACT


def muted_at(rig: Rig, frame: float) -> bool:
    go_to(frame)
    return evaluated_copy(rig.ob).pose.bones["shin"].constraints["IK"].mute


@pytest.mark.some(2)
@pytest.mark.parametrize("by", MUTES)
def test_removing_a_chain_takes_along_what_switched_it(by):
    rig = constrained_leg()
    MUTES[by](rig)
    adopt_one(rig.ob)
    paths = set(animated_paths(rig.ob))
    assert rig.tip.path_from_id("analytic_ik_enabled") in paths
    enter("POSE", rig.ob, "shin")
    assert bpy.ops.analytic_ik.remove() == {"FINISHED"}
    assert not any("analytic_ik" in path for path in animated_paths(rig.ob))
    go_to(12)
    assert not rig.tip.analytic_ik_enabled


@pytest.mark.some(2)
@pytest.mark.parametrize("by", MUTES)
def test_a_bake_of_an_adopted_chain_leaves_nothing_that_switches_it_on_again(by):
    rig = constrained_leg()
    slide(rig.target.ob, (0.0, -0.6, 0.5), (0.2, -0.3, 0.3))
    MUTES[by](rig)
    go_to(2)
    adopt_one(rig.ob)
    frames = [*range(1, 13)]
    live = played(rig.ob, frames)
    enter("POSE", rig.ob, "shin")
    assert bpy.ops.analytic_ik.bake(frame_start=1, frame_end=12) == {"FINISHED"}
    assert farthest_apart(played(rig.ob, frames), live, 2.0) < EXACT
    assert not any(evaluated_copy(rig.ob).pose.bones["shin"].analytic_ik_enabled for _ in map(go_to, frames))


def test_of_two_constraints_that_exclude_each_other_the_active_one_becomes_a_chain(capfd):
    """As on Rigify's limbs: with a pole, or without. The other takes over where animation switches it on."""
    rig = constrained_leg(pole=False)
    pole = new_empty("pole", (0.9, -2.0, 1.0))
    other = rig.tip.constraints.new("IK")
    other.target, other.chain_count = rig.target.ob, 2
    other.pole_target, other.pole_angle, other.mute = pole, 0.4, True
    rig.ob["with pole"] = 0.0
    for ik, expression in ((rig.tip.constraints["IK"], "var"), (other, "1 - var")):
        driver = ik.driver_add("mute").driver
        variable = driver.variables.new()
        variable.targets[0].id, variable.targets[0].data_path = rig.ob, '["with pole"]'
        driver.expression = expression

    def both() -> list[dict[str, Matrix]]:
        found = []
        for value in (0.0, 1.0, 0.0):
            rig.ob["with pole"] = value
            rig.ob.update_tag()
            update()
            found.append(pose_of(rig.ob))
        return found

    by_blender = both()
    assert apart(by_blender[0], by_blender[1], 2.0) > 0.1
    assert [held.constraint for held in resting(rig.ob.pose.bones)] == [other]
    enter("POSE", rig.ob, "shin")
    assert bpy.ops.analytic_ik.adopt() == {"FINISHED"}
    assert "Left 'IK.001' of 'shin' as Blender's IK: animation mutes it now" in capfd.readouterr().out
    assert max(apart(a, b, 2.0) for a, b in zip(both(), by_blender, strict=True)) < 3.0 * PROMISED
    assert [held.constraint for held in resting(rig.ob.pose.bones)] == [other]
    # Where the other one is on, it could only become a second chain of the same bones.
    rig.ob["with pole"] = 1.0
    rig.ob.update_tag()
    update()
    assert "would need a second chain beside the converted one. Revert that first" in refused(rig.ob)
    restore(bpy.context, [rig.tip])
    assert max(apart(a, b, 2.0) for a, b in zip(both(), by_blender, strict=True)) < EXACT


# Other frames


@pytest.mark.parametrize("stretch", [0.0, 0.3])
def test_what_moves_at_other_keyed_frames_is_told_with_the_frame(stretch):
    rig = constrained_leg()
    for name in rig.bones:
        rig.ob.pose.bones[name].ik_stretch = stretch
    keys = {1: (0.0, -0.3, 0.4), 7: (0.3, -0.7, 1.0), 12: (0.1, -0.2, 0.2), 500: (0.0, -0.9, 1.6)}
    for frame, place in keys.items():
        rig.target.ob.location = place
        rig.target.ob.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_end = 100
    frames = [frame for frame in keys if frame <= 100]
    before = played(rig.ob, frames)
    go_to(1)
    adopted = adopt_one(rig.ob)
    after = played(rig.ob, frames)
    length = sum(rig.ob.data.bones[name].length for name in rig.bones)
    knees = {frame: (after[frame]["shin"].translation - before[frame]["shin"].translation).length for frame in frames}
    assert (max(knees.values()) > 0.01) is bool(stretch)
    assert adopted.distance == pytest.approx(max(knees.values()), abs=2e-4 * length)
    assert adopted.moved == pytest.approx(adopted.distance / length, rel=1e-4)
    if stretch:
        assert adopted.frame == max(knees, key=knees.get) != 1
        assert adopted.because == "Blender also stretches within reach, with the bones at its end"


def test_looking_at_other_frames_keeps_a_pose_that_has_no_keys_yet():
    rig = constrained_leg()
    slide(rig.target.ob, (0.0, -0.6, 0.5), (0.2, 0.5, 0.3))
    go_to(5)
    rig.target.place((0.3, -0.4, 0.7))
    before = pose_of(rig.ob)
    scenes = len(bpy.data.scenes)
    adopt_one(rig.ob)
    assert moved(rig.ob, before, 2.0) < 3.0 * PROMISED
    assert len(bpy.data.scenes) == scenes


def test_other_constraints_are_left_alone_and_told_where_they_turn_the_chain():
    rig = constrained_leg()
    for bone, name in (("foot", "foot"), ("thigh", "thigh")):
        other = rig.ob.pose.bones[bone].constraints.new("COPY_ROTATION")
        other.name, other.target = name, rig.pole.ob
    update()
    adopted = adopt_one(rig.ob)
    assert adopted.because == "constraint 'thigh' now moves its bones after the chain"
    assert not any(constraint.mute for bone in ("foot", "thigh") for constraint in rig.ob.pose.bones[bone].constraints)


def test_what_is_set_up():
    rig = constrained_leg(use_stretch=False)
    # What an earlier chain left here.
    rig.tip.analytic_ik_softness, rig.tip.analytic_ik_flip, rig.tip.analytic_ik_pole_subtarget = 0.3, True, "hips"
    adopt_one(rig.ob)
    tip, ik = rig.tip, rig.tip.constraints["IK"]
    assert is_adopted(tip) and ik.mute
    assert (tip.analytic_ik_target, tip.analytic_ik_pole_target) == (rig.target.ob, rig.pole.ob)
    assert (tip.analytic_ik_subtarget, tip.analytic_ik_pole_subtarget) == ("", "")
    assert (tip.analytic_ik_chain_count, tip.analytic_ik_solver, tip.analytic_ik_least_motion) == (2, "AUTO", False)
    assert (tip.analytic_ik_reach, tip.analytic_ik_softness, tip.analytic_ik_flip) == ("CLAMP", 0.0, False)


@pytest.mark.parametrize("stretch", [0.0, 1.0])
def test_bones_that_stretch_make_a_chain_that_stretches(stretch):
    """Blender stretches a limb before it is straight, ours not: the knee moves, the end stays."""
    rig = constrained_leg()
    for name in rig.bones:
        rig.ob.pose.bones[name].ik_stretch = stretch
    rig.target.place((0.3, -0.5, -1.0))
    before, ankle = pose_of(rig.ob), rig.joints()[-1]
    length = sum(rig.ob.data.bones[name].length for name in rig.bones)
    adopted = adopt_one(rig.ob)
    assert rig.tip.analytic_ik_reach == ("STRETCH" if stretch else "CLAMP")
    assert (rig.joints()[-1] - ankle).length < 3.0 * PROMISED * length
    assert (rig.missed() < EXACT) is bool(stretch)
    assert moved(rig.ob, before, length) == pytest.approx(adopted.moved, abs=1e-5)
    because = "Blender also stretches within reach" if stretch else "Blender's solution was not quite on the target"
    assert adopted.because.startswith(because)


# Influence


@pytest.mark.some(4)
@pytest.mark.parametrize("influence", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("seed", range(10))
def test_with_a_pole_two_bones_stay_at_any_influence(seed, influence):
    rig, missed = solved_by_blender(seed, 2, True)
    rig.tip.constraints["IK"].influence = influence
    before, length = pose_of(rig.ob), sum(rig.lengths())
    adopted = adopt_one(rig.ob)
    assert rig.tip.analytic_ik_influence == rig.tip.constraints["IK"].influence == pytest.approx(influence)
    assert moved(rig.ob, before, length) < max(3.0 * PROMISED, 10.0 * missed)
    assert adopted.moved == pytest.approx(moved(rig.ob, before, length), abs=1e-6)


def test_what_moves_below_full_influence_is_told():
    """Without a pole Blender moves the target towards the limb, and a chain blends the pose."""
    rig = constrained_leg(pole=False, influence=0.5)
    before = pose_of(rig.ob)
    adopted = adopt_one(rig.ob)
    assert adopted.moved == pytest.approx(moved(rig.ob, before, sum(rig.lengths())), rel=1e-3)
    assert adopted.because == "below full influence Blender blends its constraint in another way"


def key_influence(ik: bpy.types.Constraint) -> bpy.types.FCurve:
    """From 0 to 1 and half back, with every kind of key, in a group, and a modifier on it."""
    ob = ik.id_data
    for frame, influence in ((1, 0.0), (6, 1.0), (12, 0.5)):
        ik.influence = influence
        ik.keyframe_insert("influence", frame=frame, group="leg")
    curve = curves_of(ob)[f"{ik.path_from_id()}.influence", 0]
    first, second, _ = curve.keyframe_points
    first.handle_right_type, first.handle_right = "FREE", (3.0, 0.6)
    second.interpolation, second.easing, second.back = "BACK", "EASE_IN", 2.5
    curve.extrapolation = "LINEAR"
    modifier = curve.modifiers.new("STEPPED")
    modifier.frame_step, modifier.use_frame_start, modifier.frame_start = 3.0, True, 20.0
    curve.update()
    return curve


@pytest.mark.some(4)
@pytest.mark.parametrize("strip", [False, True])
@pytest.mark.parametrize("frame", [1, 4, 6, 12, 30])
def test_keys_on_the_influence_are_copied_and_taken_back(frame, strip):
    rig = constrained_leg()
    ik = rig.tip.constraints["IK"]
    state = curve_state(key_influence(ik))
    if strip:
        data = rig.ob.animation_data
        track = data.nla_tracks.new()
        new = track.strips.new("walk", 1, data.action)
        new.extrapolation = "HOLD"
        data.action = None
    go_to(frame)
    before, file = pose_of(rig.ob), whole_state()
    adopt_one(rig.ob)
    assert moved(rig.ob, before, 2.0) < 3.0 * PROMISED
    if not strip:
        copy = curves_of(rig.ob)[rig.tip.path_from_id("analytic_ik_influence"), 0]
        assert curve_state(copy) == state
        assert copy.modifiers[0].frame_step == 3.0
    for other in (1, 3, 9, 14, 25, frame):
        go_to(other)
        assert rig.tip.analytic_ik_influence == ik.influence
    restore(bpy.context, [rig.tip])
    assert whole_state() == file


@pytest.mark.parametrize("influence", [0.0, 0.5])
def test_a_driver_of_the_influence_is_copied_and_taken_back(influence):
    rig = constrained_leg()
    ik = rig.tip.constraints["IK"]
    by_blender = pose_of(rig.ob)
    slider = new_empty("slider", (influence, 0.0, 0.0))
    driver = ik.driver_add("influence").driver
    variable = driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = slider, "location.x"
    driver.type = "AVERAGE"
    update()
    assert ik.influence == pytest.approx(influence)
    before, fk = pose_of(rig.ob), pose_values(rig.ob)
    adopt_one(rig.ob)
    assert moved(rig.ob, before, 2.0) < 3.0 * PROMISED
    slider.location.x = 1.0
    update()
    assert rig.tip.analytic_ik_influence == 1.0
    assert moved(rig.ob, by_blender, 2.0) < 3.0 * PROMISED
    slider.location.x = influence
    update()
    restore(bpy.context, [rig.tip])
    assert [curve.data_path for curve in rig.ob.animation_data.drivers] == [ik.path_from_id("influence")]
    assert not rig.ob.animation_data.drivers[0].mute
    assert pose_values(rig.ob) == fk
    assert moved(rig.ob, before, 2.0) < EXACT


# Back again


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(100, 106))
def test_restoring_gives_everything_back_bit_for_bit(seed, count):
    rig, _ = solved_by_blender(seed, count, with_pole=bool(seed % 2))
    ik = rig.tip.constraints["IK"]
    before, file, settings = pose_of(rig.ob), whole_state(), constraint_state(ik)
    adopt_one(rig.ob)
    adopted = {**constraint_state(ik), "mute": False, "enabled": True}
    assert adopted == settings
    assert whole_state() != file
    rig.place_target(reachable_point(rig))
    rig.target.place(rig.to_world(rig.joints()[-1]))
    restore(bpy.context, [rig.tip])
    assert not is_adopted(rig.tip)
    assert constraint_state(ik) == settings
    after = whole_state()
    assert after["objects"][rig.ob.name]["bones"].keys() == file["objects"][rig.ob.name]["bones"].keys()
    for name in rig.bones:
        assert after["objects"][rig.ob.name]["bones"][name] == file["objects"][rig.ob.name]["bones"][name]
    assert before.keys() == pose_of(rig.ob).keys()


def test_a_bone_that_was_posed_since_keeps_its_new_fk_pose():
    rig, _ = solved_by_blender(3, 3, False)
    first, second, third = (rig.ob.pose.bones[name] for name in rig.bones)
    before = pose_values(rig.ob)
    adopt_one(rig.ob)
    set_rotation(second, Quaternion((0.3, 1.0, 0.2), 0.7))
    edited = fk_values(rig.ob)[second.name]
    assert pose_values(rig.ob)[second.name] != edited
    restore(bpy.context, [rig.tip])
    after = pose_values(rig.ob)
    assert after[second.name] == edited
    assert (after[first.name], after[third.name]) == (before[first.name], before[third.name])


def test_a_chain_that_was_no_constraint_is_not_restored():
    rig = leg()
    rig.enable()
    with refuses(ChainError, r"Bone 'shin': its chain was not converted from an IK constraint. Select "):
        restore(bpy.context, [rig.tip])


def test_a_constraint_that_is_gone_is_told_and_nothing_is_restored():
    rig = constrained_leg()
    adopt_one(rig.ob)
    rig.tip.constraints["IK"].name = "other"
    before = whole_state()
    with pytest.raises(
        ChainError, match=r"Bone 'shin': its IK constraint 'IK' is no longer there. Remove the chain instead"
    ):
        restore(bpy.context, [rig.tip])
    assert whole_state() == before


# Following the target's rotation


def foot_ik(bone: str = "") -> tuple[bpy.types.Object, bpy.types.Constraint, bpy.types.Object]:
    """A leg whose foot has the constraint and follows its target, an Empty or a bone of another armature."""
    rig = leg()
    with editing(rig.ob) as bones:
        bones.remove(bones["foot"])
        foot = bones.new("paw")
        foot.head, foot.tail, foot.roll = bones["shin"].tail, bones["shin"].tail + Vector((0.1, -0.3, -0.05)), 0.4
        foot.parent = bones["shin"]
    target = new_empty("goal") if not bone else new_armature("goals", [BoneSpec(bone, (0, 0, 0), (0.0, 0.2, 0.1))])
    target.rotation_mode = "XYZ"
    place = evaluated_copy(rig.ob).matrix_world @ rig.ob.pose.bones["paw"].matrix
    place.translation = place @ Vector((0.0, rig.ob.data.bones["paw"].length, 0.0))
    turn = Matrix.Translation((0.0, -0.1, 0.3)) @ place @ Matrix.Rotation(0.3, 4, "X")
    target.matrix_world = turn @ target.pose.bones[bone].matrix.inverted() if bone else turn
    ik = rig.ob.pose.bones["paw"].constraints.new("IK")
    ik.target, ik.subtarget, ik.chain_count, ik.use_rotation = target, bone, 3, True
    update()
    return rig.ob, ik, target


@pytest.mark.parametrize("bone", ["", "ball"])
def test_a_foot_that_follows_its_target_s_rotation_is_the_end_of_a_chain(bone):
    ob, ik, target = foot_ik(bone)
    before, state, objects = pose_of(ob), constraint_state(ik), set(bpy.data.objects)
    adopted = adopt_one(ob)
    assert adopted.tip == "shin"
    length = sum(ob.data.bones[name].length for name in ("thigh", "shin"))
    assert moved(ob, before, length) <= 2e-4
    assert angle_between(pose_of(ob)["paw"], before["paw"]) <= 2e-3
    # As the target moves and turns, the foot's tail is on it and the foot is turned as it is.
    target.location += Vector((0.05, -0.1, 0.1))
    target.rotation_euler.x += 0.2
    foot = pose_of(ob)["paw"]
    carrier = evaluated_copy(target)
    wanted = carrier.matrix_world @ (carrier.pose.bones[bone].matrix if bone else Matrix())
    to_world = evaluated_copy(ob).matrix_world
    tail = to_world @ foot @ Vector((0.0, ob.data.bones["paw"].length, 0.0))
    assert (tail - wanted.translation).length <= 1e-4
    assert angle_between(to_world @ foot, wanted) <= 1e-3
    restore(bpy.context, adopted_tips([ob.pose.bones["paw"]]))
    assert set(bpy.data.objects) == objects
    assert constraint_state(ob.pose.bones["paw"].constraints["IK"]) == state


def test_a_bone_that_turns_alone_with_its_target_is_refused():
    ob, ik, _ = foot_ik()
    ik.chain_count = 1
    assert "turns one bone to its target's rotation" in refused(ob)


def test_a_bone_beside_the_end_of_its_parent_that_follows_a_rotation_is_refused():
    ob, _, _ = foot_ik()
    with editing(ob) as bones:
        bones["paw"].head += Vector((0.2, 0.0, 0.0))
    assert "is not at the end of 'shin'" in refused(ob)


# Refusals


def refused(ob: bpy.types.Object) -> str:
    """The sentence of the refusal; that nothing was changed is part of every test."""
    update()
    constraints = [ik for bone in ob.pose.bones for ik in bone.constraints if ik.type == "IK"]
    before, settings, pose = whole_state(), [constraint_state(ik) for ik in constraints], pose_of(ob)
    with pytest.raises(ChainError) as refusal:
        adopt(bpy.context, adoptable(ob.pose.bones))
    update()
    assert whole_state() == before
    assert [constraint_state(ik) for ik in constraints] == settings
    assert apart(pose_of(ob), pose, 1.0) < EXACT
    sentence = str(refusal.value)
    assert re.match(r"(Bone '.+': constraint|Armature) '.+' .+\. .+\.$", sentence), sentence
    return sentence


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"target": None}, "has no target"),
        ({"ik_type": "DISTANCE"}, "keeps a distance"),
        ({"use_tail": False}, "leaves its own bone out"),
        ({"use_location": False}, "does not follow its target's location"),
        ({"weight": 0.5}, "has a weight other than 1"),
        ({"orient_weight": 0.5}, "has a weight other than 1"),
        ({"reference_axis": "TARGET"}, "leaves axes of its target free"),
        ({"lock_location_y": False}, "leaves axes of its target free"),
        ({"target_space": "LOCAL"}, "reads its target in another space"),
    ],
)
def test_what_no_chain_can_do_is_refused_by_name(settings, words):
    rig = constrained_leg()
    for name, value in settings.items():
        setattr(rig.tip.constraints["IK"], name, value)
    assert words in refused(rig.ob)


def test_itasc_is_refused():
    rig = constrained_leg()
    rig.ob.pose.ik_solver = "ITASC"
    assert "is solved by iTaSC. Set the armature's IK Solver to Standard" in refused(rig.ob)


@pytest.mark.parametrize(("bone", "count"), [("foot", 2), ("thigh", 1), ("shin", 1), ("foot", 0)])
def test_tree_ik_is_refused(bone, count):
    rig = constrained_leg()
    other = rig.ob.pose.bones[bone].constraints.new("IK")
    other.target, other.chain_count = new_empty("other", (0.0, -0.5, 0.2)), count
    assert re.search(r"shares bone '\w+' with constraint 'IK(\.001)?' of bone '\w+' \(tree IK\)", refused(rig.ob))


@pytest.mark.parametrize(("tip", "count"), [("shin", 2), ("foot", 2), ("thigh", 1)])
def test_bones_of_a_live_chain_are_refused(tip, count):
    rig = constrained_leg()
    second_chain(rig, tip, count)
    assert re.search(rf"shares bone '(thigh|shin)' with the chain of '{tip}'. Remove", refused(rig.ob))


@pytest.mark.parametrize("target", ["foot", "a vertex group"])
def test_a_target_that_no_chain_can_have_is_refused(target):
    rig = constrained_leg()
    ik = rig.tip.constraints["IK"]
    if target == "foot":
        child = new_empty("child")
        child.parent, child.parent_type, child.parent_bone = rig.ob, "BONE", "foot"
        ik.target = child
        words = "cannot become a chain: its target 'child' moves with the chain's own bone 'shin'"
    else:
        mesh = bpy.data.objects.new("mesh", bpy.data.meshes.new("mesh"))
        bpy.context.scene.collection.objects.link(mesh)
        mesh.vertex_groups.new(name=target)
        ik.target, ik.subtarget = mesh, target
        words = "cannot become a chain: its target 'mesh' has no bone 'a vertex group'"
    assert words in refused(rig.ob)


def animate_mute_and_influence(rig: Rig) -> None:
    rig.tip.constraints["IK"].keyframe_insert("mute", frame=1)
    rig.tip.constraints["IK"].keyframe_insert("influence", frame=1)


def animate_switch(rig: Rig) -> None:
    rig.tip.keyframe_insert("analytic_ik_influence", frame=1)


def drive_rotation(rig: Rig) -> None:
    rig.ob.pose.bones["thigh"].driver_add("rotation_quaternion", 1)


@pytest.mark.parametrize(
    ("animate", "words"),
    [
        (animate_mute_and_influence, "has animation on its influence and on its mute. Remove one of the two"),
        (animate_switch, "cannot hand over to a chain that is already animated"),
        (drive_rotation, "is above a driver that sets the rotation of bone 'thigh'"),
    ],
)
def test_animation_that_would_win_over_the_chain_is_refused(animate: Callable[[Rig], None], words):
    rig = constrained_leg()
    animate(rig)
    assert words in refused(rig.ob)


def test_a_rest_position_is_refused():
    rig = constrained_leg()
    rig.ob.data.pose_position = "REST"
    assert refused(rig.ob) == "Armature 'leg' is in Rest Position. Switch it to Pose Position."


def test_an_influence_in_a_linked_action_is_refused(tmp_path):
    rig = constrained_leg()
    rig.tip.constraints["IK"].keyframe_insert("influence", frame=1)
    rig.ob.animation_data.action = linked(rig.ob.animation_data.action, tmp_path)
    name = rig.ob.animation_data.action.name
    assert refused(rig.ob) == (
        f"Bone 'shin': constraint 'IK' is animated by action '{name}', which is linked. Make it local."
    )
