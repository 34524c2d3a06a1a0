"""Bodies that follow are planned ahead: however they and their limbs are read, for one frame or for many, in whatever
order frames come, they come to the same pose; and that is the one which a pass comes to that reads everything anew."""

from random import Random

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector

from ik_addon import bake
from ik_addon.rig.blender.sampling import Sampler
from ik_addon.rig.live import handlers as live
from ik_addon.rig.live.state import memory
from ik_addon.rig.pose.solving import solve_scene
from ik_addon.rig.pose.track_reading import TrackReader
from ik_addon.rig.pose.track_solving import solve_tracks

from ..helpers.creature import LEGS, Creature, differ, matrices
from ..helpers.places import places_now
from .keys import key
from .rigs import Control, make_chain, new_empty, update

pytestmark = pytest.mark.versions

SAME = 1e-6
"""Between sources, and between one frame and many: of a leg's length, and of quaternions."""
ROUNDED = 2e-5
"""Of what Blender evaluates in single precision, where the bend of a knee near full extension is a root of it."""
FRAMES = [1, 2, 4, 5.5, 9, 12]


def any_creature(seed: int) -> Creature:
    """A creature of 2 to 8 legs that walks, with what else chains and bodies may have."""
    random = Random(seed)
    world = Matrix.LocRotScale(
        [random.uniform(-2, 2) for _ in range(3)], Euler([random.uniform(-0.4, 0.4) for _ in range(3)]), None
    )
    creature = Creature(
        random.choice([*LEGS]),
        world=world if random.random() < 0.5 else None,
        direction=random.choice(["DOWN", "DOWN", "NEAREST"]),
        influence=random.choice([1.0, 1.0, 0.6]),
    )
    if random.random() < 0.5:
        hang_on_a_bone_between(creature, creature.legs[0])
    ob, hips = creature.ob, creature.hips
    hips.analytic_ik_body_softness = random.choice([0.0, 0.02, 0.05])
    for leg in creature.legs:
        walk(random, creature, leg)
        shin = ob.pose.bones[f"shin.{leg}"]
        if random.random() < 0.3:
            key(shin, "analytic_ik_influence", [1.0, random.uniform(0.0, 1.0), 1.0, 0.7])
        if random.random() < 0.2:
            shin.analytic_ik_softness = 0.05
        if random.random() < 0.3:
            shin.analytic_ik_reach = random.choice(["STRETCH", "HOLD"])
        if random.random() < 0.3:
            shin.lock_ik_y = shin.lock_ik_z = True
            shin.analytic_ik_use_min_bend, shin.analytic_ik_min_bend = True, 0.3
    if random.random() < 0.5:
        key(hips, "location", [[random.uniform(-0.3, 0.3) for _ in range(3)] for _ in range(4)])
    if random.random() < 0.4:
        hips.rotation_mode = random.choice(["XYZ", "QUATERNION"])
        turns = [Euler([random.uniform(-0.3, 0.3) for _ in range(3)]) for _ in range(4)]
        path = "rotation_euler" if hips.rotation_mode == "XYZ" else "rotation_quaternion"
        key(hips, path, [turn if path == "rotation_euler" else turn.to_quaternion() for turn in turns])
    if random.random() < 0.4:
        key(ob.pose.bones["root"], "location", [[random.uniform(-0.3, 0.3) for _ in range(3)] for _ in range(4)])
    if random.random() < 0.3:
        key(hips, "analytic_ik_body_influence", [0.0, 1.0, 0.5, 1.0])
    if random.random() < 0.3:
        key(hips, "analytic_ik_body_softness", [0.0, 0.02, 0.05, 0.0])
    if random.random() < 0.4:
        # A chain that rides on it and holds nothing.
        make_chain(ob.pose.bones["spine"], Control(new_empty("look", (0, -1, 2.5))), chain_count=1)
    if random.random() < 0.3:
        # A pole that moves with it.
        tip = ob.pose.bones[f"shin.{creature.legs[0]}"]
        tip.analytic_ik_pole_target, tip.analytic_ik_pole_subtarget = ob, "hips"
    if random.random() < 0.3:
        # What keys do not say is read after the frame.
        target = creature.targets[creature.legs[-1]]
        target.constraints.new("LIMIT_LOCATION")
    update()
    return creature


def hang_on_a_bone_between(creature: Creature, leg: str) -> None:
    bpy.context.view_layer.objects.active = creature.ob
    bpy.ops.object.mode_set(mode="EDIT")
    bones = creature.ob.data.edit_bones
    pelvis = bones.new("pelvis")
    pelvis.head, pelvis.tail, pelvis.parent = (0.1, 0.0, 2.1), (0.1, 0.3, 2.1), bones["hips"]
    bones[f"thigh.{leg}"].parent = pelvis
    bpy.ops.object.mode_set(mode="OBJECT")
    update()


def walk(random: Random, creature: Creature, leg: str) -> None:
    places = [
        creature.homes[leg] + Vector([random.uniform(-0.3, 0.3), random.uniform(-0.7, 0.7), random.uniform(-0.2, 0.4)])
        for _ in range(4)
    ]
    key(creature.targets[leg], "location", places)


def readings_of(source, count: int, creature: Creature) -> list:
    plan = live.plan_of(bpy.context)
    return TrackReader(source, count).readings((creature.ob, own) for own in plan.planned().values())


@pytest.mark.parametrize("seed", range(30))
def test_one_frame_many_frames_sampled_and_evaluated_give_one_pose(seed):
    creature = any_creature(seed)
    plan = live.plan_of(bpy.context)
    assert plan.planned() and not plan.unsteady, plan.unsteady
    if any(plan.reasons(bpy.context.scene).values()):
        return
    many = readings_of(Sampler(FRAMES), len(FRAMES), creature)
    together = solve_tracks(many)
    for k, frame in enumerate(FRAMES):
        ones = readings_of(Sampler([frame]), 1, creature)
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
        chains = [(creature.ob, own.model) for own in plan.planned().values()]
        seen = readings_of(places_now(chains), 1, creature)
        for own, slack in ((ones, SAME), (seen, ROUNDED)):
            for reading, pose, all_frames, all_poses in zip(own, solve_tracks(own), many, together, strict=True):
                if reading.body:
                    now, before = reading.body.locations[0], at(all_frames.body.locations, k)
                    assert np.abs(now - before).max() < slack
                assert np.abs(at(reading.goal.targets, 0) - at(all_frames.goal.targets, k)).max() < 2 * slack
                a, b = at(pose.rotations, 0), at(all_poses.rotations, k)
                assert np.abs(a * np.sign((a * b).sum(axis=-1, keepdims=True)) - b).max() < 200 * slack


def at(rows: np.ndarray, k: int) -> np.ndarray:
    return rows[k if len(rows) > 1 else 0]


@pytest.mark.parametrize("seed", range(30))
def test_it_is_the_pose_of_a_pass_that_reads_everything(seed):
    creature, random = any_creature(seed), Random(seed)
    planned, order = {}, FRAMES * 3
    random.shuffle(order)
    for frame in order:
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
        now = matrices(creature.ob)
        assert differ(now, planned.setdefault(frame, now)) < SAME
    for frame in FRAMES:
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
        memory.plans.clear()
        solve_scene(bpy.context.evaluated_depsgraph_get(), frame_changed=False)
        creature.ob.update_tag(refresh={"OBJECT"})
        assert differ(matrices(creature.ob), planned[frame]) < ROUNDED * 10


@pytest.mark.parametrize("seed", range(12))
def test_moved_by_hand_it_is_the_pose_of_a_pass_that_reads_everything(seed):
    creature, random = any_creature(seed), Random(seed)
    for step in range(8):
        what = random.choice(["target", "hips", "setting", "leg", "armature"])
        leg = random.choice(creature.legs)
        if what == "target":
            creature.targets[leg].location.y += random.uniform(-0.3, 0.3)
        elif what == "hips":
            creature.hips.location.z += random.uniform(-0.2, 0.2)
        elif what == "setting":
            creature.hips.analytic_ik_body_influence = random.choice([0.3, 1.0])
        elif what == "leg":
            creature.ob.pose.bones[f"thigh.{leg}"].rotation_quaternion = Euler((0, random.random(), 0)).to_quaternion()
        else:
            creature.ob.location.x += random.uniform(-0.1, 0.1)
        update()
        now = matrices(creature.ob)
        memory.plans.clear()
        creature.ob.update_tag(refresh={"OBJECT"})
        update()
        assert differ(matrices(creature.ob), now) < ROUNDED * 10, (step, what)
    plan = live.plan_of(bpy.context)
    assert plan.planned() and not plan.unsteady


@pytest.mark.parametrize("seed", range(8))
def test_baked_from_samples_it_plays_as_it_did(seed):
    creature, frames = any_creature(seed), range(1, 13)
    poses = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        poses[frame] = matrices(creature.ob)
    bake.bake(bpy.context, bake.chains_of([creature.ob]), frames)
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        assert differ(matrices(creature.ob), poses[frame]) < ROUNDED * 10, frame


def test_feet_and_hips_that_are_dragged_leave_the_plan_as_it_is():
    creature = Creature()
    live.plan_of(bpy.context)
    for k in range(6):
        creature.step(creature.legs[k % 2], (0, -0.15 * k, 0))
        update()
        plan = memory.plan_of(bpy.context.scene)
        creature.hips.location.z += 0.01
        update()
        assert memory.plan_of(bpy.context.scene) is plan is not None
        creature.targets[creature.legs[0]].location.y -= 0.1
        update()
        assert memory.plan_of(bpy.context.scene) is plan
