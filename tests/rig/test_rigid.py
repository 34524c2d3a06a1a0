"""Bones split for twist: with the bone before them they are one rigid link, and cost no more than a plain limb."""

from math import pi
from random import Random

import bpy
import pytest
from mathutils import Quaternion, Vector

from ik_addon.bake import bake, chains_of
from ik_addon.rig.live import handlers as live

from ..scenes import EXACT, farthest_apart, go_to, played, played_without_the_add_on, pose_of
from .keys import FRAMES as KEYED
from .keys import key_target
from .rigs import (
    BoneSpec,
    Control,
    Rig,
    evaluated_copy,
    leg,
    local_rotation,
    new_armature,
    new_empty,
    pose_values,
    random_unit,
    rotation_values,
    set_rotation,
    update,
)

SPLIT = ("thigh", "thigh twist", "shin", "shin twist")
FRAMES = range(KEYED[0], KEYED[-1] + 1)
SEEDS = range(6)


def split_leg(seed: int, bent: float = 0.0, swung: float = 0.0, **settings: object) -> Rig:
    """A leg whose thigh and shin are two bones each. bent: how far they leave the line at rest; swung: radians by which
    their FK pose bends them besides its twist."""
    random = Random(seed)
    hip, knee, ankle = Vector((0.0, 0.0, 2.0)), Vector((0.0, -0.2, 1.0)), Vector((0.0, 0.0, 0.0))
    above = (hip + knee) / 2.0 + random_unit(random) * bent
    below = (knee + ankle) / 2.0 + random_unit(random) * bent
    points = [hip, above, knee, below, ankle]
    specs = [BoneSpec("hips", (0.0, 0.5, 2.0), (0.0, 0.0, 2.0))]
    for name, parent, head, tail in zip(SPLIT, ("hips", *SPLIT), points, points[1:], strict=False):
        specs.append(BoneSpec(name, head, tail, parent, roll=random.uniform(-pi, pi)))
    specs.append(BoneSpec("foot", ankle, (0.0, -0.4, 0.0), SPLIT[-1]))
    ob = new_armature("split", specs)
    for name in ("thigh twist", "shin twist"):
        bone = ob.pose.bones[name]
        bone.analytic_ik_rigid = True
        set_rotation(bone, Quaternion((0, 1, 0), random.uniform(-1, 1)) @ Quaternion(random_unit(random), swung))
    rig = Rig(ob, list(SPLIT), Control(new_empty("split target", ankle)), Control(new_empty("split pole", (0, -2, 1))))
    rig.enable(end_bone="foot", **settings)
    return rig


def joints(rig: Rig) -> list[Vector]:
    bones = evaluated_copy(rig.ob).pose.bones
    return [bones[name].head.copy() for name in (SPLIT[0], SPLIT[2], "foot")]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("bent", "swung"), [(0.0, 0.0), (0.1, 0.0), (0.05, 0.3)])
def test_knee_and_ankle_are_those_of_a_plain_leg(seed, bent, swung):
    rig = split_leg(seed, bent, swung)
    lengths = [(b - a).length for a, b in zip(joints(rig), joints(rig)[1:], strict=False)]
    plain = new_armature(
        "plain",
        [
            BoneSpec("thigh", (0.0, 0.0, 2.0), (0.0, 0.0, 2.0 - lengths[0])),
            BoneSpec("shin", (0.0, 0.0, 2.0 - lengths[0]), (0.0, 0.0, 2.0 - sum(lengths)), "thigh"),
        ],
    )
    oracle = Rig(plain, ["thigh", "shin"], rig.target, rig.pole)
    oracle.enable()
    random = Random(seed)
    kept = {name: rotation_values(rig.ob.pose.bones[name]) for name in ("thigh twist", "shin twist")}
    for _ in range(4):
        rig.target.place(Vector((0.0, 0.0, 2.0)) + random_unit(random) * random.uniform(0.5, 1.8))
        rig.pole.place(random_unit(random) * 5.0)
        found, wanted = joints(rig), oracle.joints()
        assert max((a - b).length for a, b in zip(found, wanted, strict=True)) < 2.0 * EXACT
        # What the twist bones hold is the user's.
        assert {name: rotation_values(rig.ob.pose.bones[name]) for name in kept} == kept


@pytest.mark.parametrize("settings", [{}, {"use_rotation": True}, {"reach": "STRETCH"}, {"influence": 0.5}])
def test_every_setting_plays_and_bakes_as_it_is_shown(settings):
    rig = split_leg(3, 0.05, 0.2, **settings)
    key_target(rig)
    shown = played(rig.ob, FRAMES)
    bake(bpy.context, chains_of([rig.ob]), FRAMES)
    assert farthest_apart(shown, played_without_the_add_on(rig.ob, FRAMES), 2.0) < EXACT


def test_it_is_solved_ahead_like_a_plain_leg():
    rig = split_leg(1)
    key_target(rig)
    go_to(FRAMES[0])
    (chain,) = chains_of([rig.ob])
    plan = live.plan_of(bpy.context)
    assert not plan.reasons(bpy.context.scene)[chain] and len(plan.planned()[chain].model.links) == 2


def test_keys_of_a_twist_bone_are_followed():
    rig = split_leg(2)
    twist = rig.ob.pose.bones["thigh twist"]
    for frame, angle in ((FRAMES[0], 0.0), (FRAMES[-1], 1.0)):
        set_rotation(twist, Quaternion((0.0, 1.0, 0.0), angle))
        twist.keyframe_insert("rotation_quaternion", frame=frame)
    for frame in (FRAMES[0], FRAMES[-1]):
        go_to(frame)
        assert (joints(rig)[-1] - rig.target.ob.matrix_world.translation).length < 2.0 * EXACT
    shown = played(rig.ob, FRAMES)
    bake(bpy.context, chains_of([rig.ob]), FRAMES, action="NEW")
    assert farthest_apart(shown, played_without_the_add_on(rig.ob, FRAMES), 2.0) < EXACT


def test_made_rigid_while_it_is_bent_by_the_chain_it_gets_its_fk_rotation_back():
    rig = split_leg(4)
    twist = rig.ob.pose.bones["thigh twist"]
    twist.analytic_ik_rigid = False
    rig.tip.analytic_ik_least_motion = True
    fk = local_rotation(twist)
    rig.target.place((0.3, -0.5, 1.0))
    assert local_rotation(evaluated_copy(rig.ob).pose.bones[twist.name]).rotation_difference(fk).angle > 0.1
    twist.analytic_ik_rigid = True
    update()
    assert local_rotation(evaluated_copy(rig.ob).pose.bones[twist.name]).rotation_difference(fk).angle < 1e-5
    assert (joints(rig)[-1] - rig.target.ob.matrix_world.translation).length < 2.0 * EXACT


def test_a_bone_that_does_not_inherit_rotation_is_a_link_of_its_own():
    rig = split_leg(5)
    rig.ob.data.bones["thigh twist"].use_inherit_rotation = False
    rig.target.place((0.3, -0.5, 1.0))
    assert (joints(rig)[-1] - rig.target.ob.matrix_world.translation).length < 2.0 * EXACT


def test_the_root_of_a_chain_turns_all_the_same():
    rig = leg()
    rig.ob.pose.bones["thigh"].analytic_ik_rigid = True
    rig.enable()
    before = pose_values(rig.ob)
    assert rig.missed() < EXACT
    rig.target.place((0.2, -0.4, 0.6))
    assert rig.missed() < EXACT and pose_values(rig.ob) != before and pose_of(rig.ob)
