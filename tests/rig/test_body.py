"""A bone that follows its limbs: all of them reach, at any frame in any order, and its own channels stay the user's."""

from math import cos, radians, sin
from random import Random

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector

from ik_addon import bake
from ik_addon.authoring import snap
from ik_addon.authoring import snap as switching
from ik_addon.rig.data.settings import clear_settings
from ik_addon.rig.live import handlers as live
from ik_addon.rig.model.order import ChainName
from ik_addon.rig.pose.solving import solve_scene

from ..helpers.creature import ALL_REACH, LEGS, WORLDS, Creature, differ, matrices, pose_at, walked
from ..scenes import link_from_library
from .keys import key
from .rigs import BoneSpec, Control, evaluated_copy, make_chain, new_armature, new_empty, pose_values, update

pytestmark = pytest.mark.versions


def channels(ob):
    return [
        (*bone.location, *bone.rotation_quaternion, *bone.rotation_euler, *bone.rotation_axis_angle, *bone.scale)
        for bone in ob.pose.bones
    ]


@pytest.mark.some(12)
@pytest.mark.parametrize("legs", LEGS)
@pytest.mark.parametrize("direction", ["DOWN", "NEAREST"])
@pytest.mark.parametrize("world", WORLDS)
def test_all_limbs_reach(legs, direction, world):
    creature = Creature(legs, world=WORLDS[world], direction=direction)
    random, moved = Random(legs), 0
    for _ in range(25):
        for leg in creature.legs:
            creature.step(leg, [random.uniform(-0.3, 0.3), random.uniform(-0.6, 0.6), random.uniform(-0.4, 0.5)])
        update()
        assert creature.missed() < ALL_REACH
        moved += creature.body().length > 0.05
        if direction == "DOWN" and world != "turned":
            assert creature.body().xy.length < 1e-5
    assert moved > 5


def test_it_stays_where_all_reach_with_something_to_spare():
    creature = Creature()
    for leg in creature.legs:
        creature.step(leg, (0, 0, 0.3))
    update()
    assert creature.body().length == 0.0
    assert tuple(evaluated_copy(creature.ob).pose.bones["hips"].location) == (0.0, 0.0, 0.0)


def test_knees_that_may_not_straighten_are_reckoned_with():
    creature = Creature()
    for leg in creature.legs:
        shin = creature.ob.pose.bones[f"shin.{leg}"]
        shin.lock_ik_y = shin.lock_ik_z = True
        shin.analytic_ik_use_min_bend, shin.analytic_ik_min_bend = True, radians(40)
    update()
    assert creature.body().z < -0.05 and creature.missed() < ALL_REACH
    for distance in (0.2, 0.5, 0.8):
        creature.step("L", (0, -distance, 0))
        update()
        assert creature.missed() < ALL_REACH


def test_softness_of_a_chain_leaves_its_target_in_reach():
    creature = Creature(softness=0.1)
    creature.step("L", (0, -0.6, 0))
    update()
    assert creature.missed() < ALL_REACH and creature.body().z < -0.2


def test_where_no_place_serves_all_the_worst_miss_alike():
    creature = Creature(direction="NEAREST")
    creature.step("L", (4, 0, 0))
    creature.step("R", (-4, 0, 0))
    update()
    ob = evaluated_copy(creature.ob)
    missed = [
        (ob.pose.bones[f"shin.{leg}"].tail - target.matrix_world.translation).length
        for leg, target in creature.targets.items()
    ]
    assert missed[0] == pytest.approx(missed[1], abs=1e-4) and missed[0] > 1
    done = solve_scene(bpy.context.evaluated_depsgraph_get(), frame_changed=False)
    assert done.bodies[ChainName("creature", "hips")].excess_world == pytest.approx(missed[0], abs=5e-4)


def test_a_chain_that_its_target_hardly_leads_hardly_holds_it():
    creature = Creature()
    creature.step("L", (0, -0.9, 0))
    shin, falls = creature.ob.pose.bones["shin.L"], []
    for influence in (1.0, 0.9, 0.5, 0.1, 0.0):
        shin.analytic_ik_influence = influence
        update()
        falls.append(-creature.body().z)
    # The other leg, which stands, is straight enough at rest to be eased.
    assert falls == sorted(falls, reverse=True) and falls[0] > 0.1 and falls[-1] < 0.01


# Frames


def test_its_influence_may_be_walked():
    creature = walked(Creature())
    for frame, influence in ((1, 0.0), (11, 0.0), (16, 1.0)):
        creature.hips.analytic_ik_body_influence = influence
        creature.hips.keyframe_insert("analytic_ik_body_influence", frame=frame)
    bpy.context.scene.frame_set(1)
    assert creature.body().length < 1e-6
    places = {}
    for frame in (18, 3, 20, 8, 14):
        bpy.context.scene.frame_set(frame)
        places[frame] = creature.body().length
    assert max(places[3], places[8]) < 1e-6
    bpy.context.scene.frame_set(18)
    assert creature.missed() < ALL_REACH
    assert creature.body().length == pytest.approx(places[18], abs=1e-6)


def way(creature):
    return live.plan_of(bpy.context).way_of(bpy.context.scene, ChainName("creature", f"shin.{creature.legs[0]}"))


def test_chains_that_move_with_it_are_planned_or_say_why_not():
    creature = Creature()
    assert way(creature) == "Ahead of the Frame"
    anew = "Every Frame (it moves with bone 'hips', which follows its limbs)"
    # A limb that also follows another chain is not known before that is solved.
    other, foot = new_machine(), creature.targets["L"]
    foot.parent, foot.parent_type, foot.parent_bone = other, "BONE", "hand"
    update()
    assert way(creature) == anew
    foot.parent = None
    update()
    assert way(creature) == "Ahead of the Frame"
    creature.hips.bone.inherit_scale = "NONE"
    update()
    assert way(creature) == anew
    creature.hips.bone.inherit_scale = "FULL"
    creature.hips.driver_add("rotation_quaternion", 0)
    update()
    assert way(creature) == anew
    creature.hips.driver_remove("rotation_quaternion", 0)
    update()
    assert way(creature) == "Ahead of the Frame"
    creature.hips.analytic_ik_body_influence = 0.0
    update()
    assert "Every Frame" not in way(creature)


def new_machine():
    """An arm beside the creature that reaches for an Empty, "goal"."""
    ob = new_armature(
        "machine",
        [
            BoneSpec("arm", (1.5, 0, 0), (1.5, 0.1, 0.6)),
            BoneSpec("hand", (1.5, 0.1, 0.6), (1.5, 0, 1.2), "arm", connect=True),
        ],
    )
    make_chain(ob.pose.bones["hand"], Control(new_empty("goal", (1.0, 0, 0.4))))
    return ob


# What it does not follow, and what keeps it


def unfit():
    done = solve_scene(bpy.context.evaluated_depsgraph_get(), frame_changed=False)
    return {body.tip: str(error) for body, error in done.unfit.items()}


def test_a_limb_whose_target_moves_with_it_does_not_hold_it():
    creature = Creature()
    creature.targets["R"].parent, creature.targets["R"].parent_type = creature.ob, "BONE"
    creature.targets["R"].parent_bone = "spine"
    update()
    there = evaluated_copy(creature.ob).matrix_world.copy()
    creature.targets["R"].matrix_world = there @ Matrix.Translation((-0.2, 0, 0.3))
    creature.step("L", (0, -0.9, 0))
    update()
    assert creature.missed() < ALL_REACH and creature.body().length > 0.1
    creature.targets["L"].parent = creature.targets["R"]
    update()
    assert creature.body().length < 1e-6
    assert unfit() == {
        "hips": "Bone 'hips': it follows no limb, for the targets of all chains below it move with it. Choose targets "
        "that are not parented to it."
    }


def test_a_connected_bone_cannot_move():
    creature = Creature(influence=0.0)
    creature.ob.pose.bones["spine"].analytic_ik_body_influence = 1.0
    bpy.context.view_layer.objects.active = creature.ob
    bpy.ops.object.mode_set(mode="EDIT")
    creature.ob.data.edit_bones["thigh.L"].parent = creature.ob.data.edit_bones["spine"]
    bpy.ops.object.mode_set(mode="OBJECT")
    creature.step("L", (0, -0.9, 0))
    update()
    assert unfit() == {
        "spine": "Bone 'spine': it is connected to its parent and cannot follow its limbs. Disconnect it in Edit "
        "Mode, or let bone 'hips' follow."
    }
    assert tuple(evaluated_copy(creature.ob).pose.bones["spine"].location) == (0, 0, 0)


def test_what_constraints_or_drivers_move_does_not_follow_and_is_given_back():
    creature = Creature()
    creature.step("L", (0, -0.9, 0))
    update()
    assert creature.body().length > 0.1
    constraint = creature.hips.constraints.new("LIMIT_ROTATION")
    constraint.name = "keep"
    update()
    assert unfit()["hips"] == (
        "Bone 'hips': constraint 'keep' moves it, so it cannot follow its limbs. Mute it, or let another bone follow."
    )
    update()
    assert creature.body().length < 1e-6
    creature.hips.constraints.remove(constraint)
    update()
    assert creature.body().length > 0.1
    creature.hips.driver_add("location", 0)
    update()
    assert "a driver sets its location" in unfit()["hips"]


def test_a_target_that_is_nowhere_does_not_hold_it():
    creature = Creature()
    creature.targets["L"].location.x = float("nan")
    creature.step("R", (0, -0.9, 0))
    update()
    assert creature.body().length > 0.1
    ob = evaluated_copy(creature.ob)
    assert (ob.pose.bones["shin.R"].tail - creature.targets["R"].location).length < 1e-4
    creature.step("L", (0, 0, 0))
    update()
    assert creature.missed() < ALL_REACH


def test_what_is_parented_to_it_in_edit_mode_moves_with_it():
    """A target that is taken along holds it no more."""
    creature = Creature()
    bpy.context.view_layer.objects.active = creature.ob
    bpy.ops.object.mode_set(mode="EDIT")
    control = creature.ob.data.edit_bones.new("control")
    control.head, control.tail = (0.2, -0.9, 0.1), (0.2, -0.9, 0.4)
    bpy.ops.object.mode_set(mode="OBJECT")
    tip = creature.ob.pose.bones["shin.L"]
    tip.analytic_ik_target, tip.analytic_ik_subtarget = creature.ob, "control"
    update()
    assert creature.body().length > 0.1
    bpy.ops.object.mode_set(mode="EDIT")
    creature.ob.data.edit_bones["control"].parent = creature.ob.data.edit_bones["hips"]
    bpy.ops.object.mode_set(mode="OBJECT")
    update()
    assert creature.body().length < 0.01
    ob = evaluated_copy(creature.ob)
    target = ob.pose.bones["control"].head
    bpy.context.scene.frame_set(3)
    assert evaluated_copy(creature.ob).pose.bones["control"].head == target


def test_what_blenders_ik_poses_does_not_follow():
    creature = Creature()
    creature.step("L", (0, -0.9, 0))
    constraint = creature.ob.pose.bones["spine"].constraints.new("IK")
    constraint.target, constraint.chain_count = new_empty("look", (0, -1, 2.5)), 2
    update()
    assert "constraint 'IK' moves it" in unfit()["hips"]
    constraint.chain_count = 1
    update()
    assert unfit() == {} and creature.missed() < ALL_REACH and creature.body().length > 0.1


def test_a_limb_that_goes_along_only_half_does_not_hold_it_and_reaches():
    """Between the hips and one leg lies a constraint: what that makes of their move only Blender knows."""
    creature = Creature()
    bpy.context.view_layer.objects.active = creature.ob
    bpy.ops.object.mode_set(mode="EDIT")
    bones = creature.ob.data.edit_bones
    pelvis = bones.new("pelvis")
    pelvis.head, pelvis.tail, pelvis.parent = (0.2, 0, 2), (0.2, 0.3, 2), bones["hips"]
    bones["thigh.L"].parent = pelvis
    bpy.ops.object.mode_set(mode="OBJECT")
    half = creature.ob.pose.bones["pelvis"].constraints.new("COPY_LOCATION")
    half.target, half.influence = new_empty("there", (0.2, 0, 1.9)), 0.5
    for distance in (0.7, 0.9, 0.2, 0.8):
        creature.step("R", (0, -distance, 0))
        update()
        assert creature.missed() < ALL_REACH
    assert creature.body().length > 0.05
    creature.step("R", (0, 0, 0))
    creature.step("L", (0, -0.9, 0))
    update()
    assert creature.body().length < 0.02
    half.mute = True
    update()
    assert creature.missed() < ALL_REACH and creature.body().length > 0.1


def test_a_bone_of_a_chain_does_not_follow():
    creature = Creature()
    make_chain(creature.ob.pose.bones["hips"], Control(new_empty("goal", (0, 1, 1))), chain_count=1)
    update()
    assert "it belongs to the chain of 'hips'" in unfit()["hips"]


def test_limbs_that_move_each_others_targets_do_not_move_it():
    creature = Creature()
    machine = new_machine()
    goal = bpy.data.objects["goal"]
    goal.parent, goal.parent_type, goal.parent_bone = creature.ob, "BONE", "spine"
    foot = creature.targets["L"]
    foot.parent, foot.parent_type, foot.parent_bone = machine, "BONE", "hand"
    update()
    assert unfit() == {
        "hips": "Bone 'hips': it cannot follow its limbs, for chains that it carries move their targets. Give them "
        "targets that do not."
    }


# Several armatures and bodies


def test_a_body_within_a_body_follows_its_own_limbs():
    creature = Creature(4, influence=1.0)
    bpy.context.view_layer.objects.active = creature.ob
    bpy.ops.object.mode_set(mode="EDIT")
    bones = creature.ob.data.edit_bones
    chest = bones.new("chest")
    chest.head, chest.tail, chest.parent = (0, -0.8, 2), (0, -1.2, 2), bones["hips"]
    for leg in ("FL", "FR"):
        bones[f"thigh.{leg}"].parent = chest
    bpy.ops.object.mode_set(mode="OBJECT")
    creature.ob.pose.bones["chest"].analytic_ik_body_influence = 1.0
    creature.step("FL", (0, -1.0, 0))
    update()
    assert creature.missed() < ALL_REACH
    front = evaluated_copy(creature.ob).pose.bones["chest"].location
    assert front.length > 0.1 and creature.body().length < 0.01
    creature.step("HL", (0, 1.0, 0))
    update()
    assert creature.missed() < ALL_REACH and creature.body().length > 0.1


# Baked and snapped


def worst_difference(creature, frames, poses):
    worst = 0.0
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        worst = max(worst, differ(matrices(creature.ob), poses[frame]))
    return worst


def test_kept_live_it_goes_on_following_and_gets_no_keys():
    creature, frames = walked(Creature(), keyed_hips=False), range(1, 12)
    poses = {frame: pose_at(creature, frame) for frame in frames}
    bake.bake(bpy.context, bake.chains_of([creature.ob]), frames, after="KEEP")
    assert creature.hips.analytic_ik_body_influence == 1.0
    assert worst_difference(creature, frames, poses) < 1e-5


def test_half_of_its_limbs_cannot_be_baked():
    creature = walked(Creature())
    one = [ChainName("creature", "shin.L")]
    with pytest.raises(bake.ChainError if hasattr(bake, "ChainError") else Exception, match="Bake all of them") as why:
        bake.bake(bpy.context, one, range(1, 5))
    assert str(why.value) == (
        "Bone 'hips' follows the chains of 'shin.L', 'shin.R'. Bake all of them, or set its Body Follows to 0."
    )
    assert creature.ob.pose.bones["shin.L"].analytic_ik_enabled


def test_snapped_to_ik_and_switched_to_fk_it_stays():
    creature = Creature()
    creature.hips.analytic_ik_body_softness = 0.0
    creature.step("L", (0, -0.9, 0))
    update()
    pose = matrices(creature.ob)
    tips = [creature.ob.pose.bones[f"shin.{leg}"] for leg in creature.legs]
    switching.switch_to_fk(bpy.context, tips)
    update()
    assert differ(matrices(creature.ob), pose) < 1e-5
    assert creature.hips.location.length > 0.1


def test_its_targets_are_snapped_to_its_fk_pose():
    creature = Creature()
    creature.hips.analytic_ik_body_softness = 0.0
    creature.step("L", (0, -0.9, 0))
    update()
    assert creature.body().length > 0.1
    for leg in creature.legs:
        creature.ob.pose.bones[f"thigh.{leg}"].rotation_quaternion = Euler((0.5, 0, 0)).to_quaternion()
        creature.ob.pose.bones[f"shin.{leg}"].rotation_quaternion = Euler((-0.9, 0, 0)).to_quaternion()
    tips = [creature.ob.pose.bones[f"shin.{leg}"] for leg in creature.legs]
    snap.snap_targets(bpy.context, tips)
    update()
    assert creature.body().length < 1e-4
    assert pose_values(creature.ob)["thigh.L"] == pytest.approx(
        tuple(creature.ob.pose.bones["thigh.L"].rotation_quaternion), abs=1e-4
    )


# Elsewhere


def test_a_linked_creature_follows(tmp_path):
    ob = link_from_library(walked(Creature()).ob, tmp_path)
    for frame in (18, 3, 11):
        bpy.context.scene.frame_set(frame)
        found = evaluated_copy(ob)
        for leg in LEGS[2]:
            foot = found.pose.bones[f"shin.{leg}"].tail
            assert (foot - evaluated_copy(bpy.data.objects[f"foot {leg}"]).matrix_world.translation).length < 2e-5
    assert found.pose.bones["hips"].location != ob.pose.bones["hips"].location


def test_nothing_is_left_when_its_chains_are_removed():
    objects = set(bpy.data.objects)
    creature = Creature()
    creature.step("L", (0, -0.8, 0))
    update()
    assert any("trigger" in each.name for each in bpy.data.objects)
    for leg in creature.legs:
        clear_settings(creature.ob.pose.bones[f"shin.{leg}"])
    update()
    assert creature.body().length == 0.0
    assert not any(len(bone.constraints) for bone in creature.ob.pose.bones)
    assert set(bpy.data.objects) - objects == {creature.ob, *creature.targets.values()}


# Several effectors


FULL = 1.0 - 1e-4
"""Of its length, a limb is held bent: nothing says to which side a straight one bends."""
NEAR = 2e-4
"""From the oracles, in lengths of about one limb."""


def projected(point: np.ndarray, centers: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """The point nearest to one that lies in all balls, by Dykstra's alternating projections."""
    steps = np.zeros_like(centers)
    for _ in range(4000):
        before = point
        for k, (center, radius) in enumerate(zip(centers, radii, strict=True)):
            from_here = point + steps[k]
            way = from_here - center
            point = center + way * min(1.0, radius / np.linalg.norm(way))
            steps[k] = from_here - point
        if np.abs(point - before).max() < 1e-10:
            break
    return point


def highest_below(point: np.ndarray, centers: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """The highest point straight below one, itself included, that lies in all balls, by bisection."""
    low, high = centers[:, 2].max() if len(centers) > 1 else centers[0, 2], point[2]

    def within(z: float) -> bool:
        return bool((np.linalg.norm(centers - (*point[:2], z), axis=1) <= radii).all())

    if within(high):
        return point
    for _ in range(80):
        middle = (low + high) / 2.0
        low, high = (middle, high) if within(middle) else (low, middle)
    return np.array((*point[:2], low))


def balls(creature: Creature) -> tuple[np.ndarray, np.ndarray]:
    """Where the head of the hips may be for each foot, in a world that the armature does not turn."""
    bones, hips = creature.ob.data.bones, creature.ob.data.bones["hips"].head_local
    centers = [creature.targets[leg].location - (bones[f"thigh.{leg}"].head_local - hips) for leg in creature.legs]
    return np.array(centers), np.full(len(centers), creature.leg_length * FULL)


def drag(creature: Creature, place: Vector) -> np.ndarray:
    """Drag the hips there by hand; where they stand then."""
    rest = creature.ob.data.bones["hips"].matrix_local
    creature.hips.location = rest.inverted() @ place
    update()
    return np.array(evaluated_copy(creature.ob).pose.bones["hips"].head)


@pytest.mark.parametrize("legs", LEGS)
@pytest.mark.slow
def test_hips_dragged_anywhere_keep_the_feet_and_stop_where_the_legs_end(legs):
    creature, random, stopped = Creature(legs, direction="NEAREST"), Random(legs), 0
    creature.hips.analytic_ik_body_softness = 0.0
    for leg in creature.legs:
        creature.step(leg, [random.uniform(-0.1, 0.1), random.uniform(-0.2, 0.2), random.uniform(0.0, 0.1)])
    centers, radii = balls(creature)
    for k in range(24):
        # Around in ever wider circles, up and down.
        place = Vector((0.05 * k * cos(k), 0.05 * k * sin(k), 1.8 + 0.5 * sin(0.7 * k)))
        stands = drag(creature, place)
        assert creature.missed() < ALL_REACH
        assert np.linalg.norm(stands - projected(np.array(place), centers, radii)) < NEAR
        stopped += np.linalg.norm(stands - place) > 0.01
    assert 8 < stopped < 24


@pytest.mark.parametrize("legs", LEGS)
def test_hips_dragged_up_stop_straight_below_where_the_legs_end(legs):
    creature, random = Creature(legs), Random(legs)
    creature.hips.analytic_ik_body_softness = 0.0
    for leg in creature.legs:
        creature.step(leg, [random.uniform(-0.1, 0.1), random.uniform(-0.1, 0.1), random.uniform(0.0, 0.1)])
    centers, radii = balls(creature)
    heights = []
    for k in range(16):
        place = Vector((0.01 * k, -0.01 * k, 1.7 + 0.05 * k))
        stands = drag(creature, place)
        assert creature.missed() < ALL_REACH
        assert np.linalg.norm(stands - highest_below(np.array(place), centers, radii)) < NEAR
        heights.append(stands[2])
    assert heights[0] == pytest.approx(1.7, abs=1e-6) and max(heights) < 2.2
    drag(creature, Vector((0.0, 0.0, 5.0)))
    assert creature.missed() < ALL_REACH


class Climber:
    """A chest with two arms, whose hands hold on to a rope that swings: their targets are children of it."""

    def __init__(self):
        specs = [BoneSpec("chest", (0, 0, 3), (0, 0, 3.5))]
        for side, sign in (("L", 1.0), ("R", -1.0)):
            specs += [
                BoneSpec(f"upper_arm.{side}", (0.2 * sign, 0, 3.4), (0.5 * sign, 0.2, 3.6), "chest"),
                BoneSpec(f"forearm.{side}", (0.5 * sign, 0.2, 3.6), (0.1 * sign, 0, 3.9), f"upper_arm.{side}", True),
            ]
        self.ob, self.rope, self.hands = new_armature("climber", specs), new_empty("rope", (0, 0, 6)), {}
        for side, height in (("L", -2.1), ("R", -1.9)):
            hand = self.hands[side] = new_empty(f"hand {side}", (0, 0, height))
            hand.parent = self.rope
            make_chain(self.ob.pose.bones[f"forearm.{side}"], Control(hand), chain_count=2)
        chest = self.ob.pose.bones["chest"]
        chest.analytic_ik_body_influence, chest.analytic_ik_body_softness = 1.0, 0.0
        chest.analytic_ik_body_direction = "NEAREST"
        key(self.rope, "rotation_euler", [(0, 0, 0), (0.5, 0.2, 0), (-0.4, -0.3, 0), (0, 0, 0)])
        update()


def test_hands_on_a_rope_that_swings_take_the_chest_along():
    climber, moved = Climber(), []
    bones = climber.ob.data.bones
    for frame in (1, 3, 9, 5, 12, 7, 2, 11):
        bpy.context.scene.frame_set(frame)
        posed, centers, radii = evaluated_copy(climber.ob), [], []
        for side, hand in climber.hands.items():
            upper, lower = bones[f"upper_arm.{side}"], bones[f"forearm.{side}"]
            held = evaluated_copy(hand).matrix_world.translation
            assert (posed.pose.bones[f"forearm.{side}"].tail - held).length < 1e-5
            centers.append(held - (upper.head_local - bones["chest"].head_local))
            radii.append((upper.length + lower.length) * FULL)
        stands, rest = np.array(posed.pose.bones["chest"].head), np.array(bones["chest"].head_local)
        assert np.linalg.norm(stands - projected(rest, np.array(centers), np.array(radii))) < NEAR
        moved.append(np.linalg.norm(stands - rest))
    assert min(moved) < 1e-6 and max(moved) > 0.3
