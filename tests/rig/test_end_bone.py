"""A chain ends at the head of its end bone, wherever its tip's tail is; Blender's own evaluation is the judge."""

from random import Random

import bpy
import pytest
from mathutils import Vector

from ik_addon.bake import bake, chains_of, check
from ik_addon.rig.live import handlers as live
from ik_addon.rig.status.problems import faults_of
from ik_addon.rig.status.states import states_of

from ..scenes import EXACT, enter, farthest_apart, go_to, played, played_without_the_add_on, pose_of, select
from .keys import FRAMES as KEYED
from .keys import key_target
from .rigs import BoneSpec, Control, Rig, editing, evaluated_copy, new_armature, new_empty, random_unit, update

FRAMES = range(KEYED[0], KEYED[-1] + 1)
SEEDS = range(8)
LENGTH = 2.0
"""Of the imported leg, from joint to joint, roughly."""


def imported_leg(seed: int, name: str = "import", **settings: object) -> Rig:
    """A leg as importers leave it: tails anywhere, a helper on the shin; its target is at the ankle."""
    random = Random(seed)
    ankle = Vector((0.0, 0.0, 0.0))

    def tail(head):
        return Vector(head) + random_unit(random) * random.uniform(0.05, 3.0)

    ob = new_armature(
        name,
        [
            BoneSpec("hips", (0.0, 0.5, 2.0), (0.0, 0.0, 2.0)),
            BoneSpec("thigh.L", (0.0, 0.0, 2.0), tail((0.0, 0.0, 2.0)), "hips", roll=random.uniform(-3, 3)),
            BoneSpec("shin.L", (0.0, -0.2, 1.0), tail((0.0, -0.2, 1.0)), "thigh.L", roll=random.uniform(-3, 3)),
            BoneSpec("foot.L", ankle, (0.0, -0.4, -0.1), "shin.L"),
            BoneSpec("calf twist.L", (0.0, -0.19, 0.95), (0.0, -0.1, 0.5), "shin.L"),
        ],
    )
    rig = Rig(ob, ["thigh.L", "shin.L"], Control(new_empty("Foot.L", ankle)))
    rig.enable(end_bone="foot.L", **settings)
    return rig


def ankle(rig: Rig, name: str = "foot.L") -> Vector:
    """Where the foot's head is in the world, as evaluated."""
    evaluated = evaluated_copy(rig.ob)
    return evaluated.matrix_world @ evaluated.pose.bones[name].head


def missed(rig: Rig) -> float:
    return (ankle(rig) - rig.target.ob.matrix_world.translation).length / LENGTH


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"solver": "CCD"},
        {"solver": "TRIANGULATION"},
        {"use_rotation": True},
        {"reach": "STRETCH"},
        {"influence": 0.999999},
    ],
)
def test_the_end_bones_head_reaches_the_target(seed, settings):
    rig = imported_leg(seed, **settings)
    random = Random(seed)
    for _ in range(4):
        point = Vector((0.0, 0.0, 2.0)) + random_unit(random) * random.uniform(0.3, 1.9)
        rig.target.place(point)
        assert missed(rig) < EXACT
        assert states_of(rig.ob, ["shin.L"], bpy.context.view_layer.depsgraph)["shin.L"].kind == "MET"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_chain_at_its_end_moves_nothing(seed):
    rig = imported_leg(seed)
    rig.tip.analytic_ik_enabled = False
    before = pose_of(rig.ob)
    rig.tip.analytic_ik_enabled = True
    update()
    assert farthest_apart({0.0: before}, {0.0: pose_of(rig.ob)}, LENGTH) < EXACT


def test_too_far_it_points_there_with_joints_in_line():
    rig = imported_leg(3)
    rig.target.place((0.0, -5.0, 2.0))
    evaluated = evaluated_copy(rig.ob)
    hip, knee = (evaluated.pose.bones[name].head for name in ("thigh.L", "shin.L"))
    assert (knee - hip).angle(ankle(rig) - knee) < 1e-3
    assert (ankle(rig) - hip).angle(Vector((0.0, -5.0, 0.0))) < 1e-3
    assert states_of(rig.ob, ["shin.L"], bpy.context.view_layer.depsgraph)["shin.L"].kind == "TOO_FAR"


@pytest.mark.parametrize("seed", SEEDS)
def test_it_is_solved_ahead_and_baked_as_any_chain(seed):
    rig = imported_leg(seed, use_rotation=True)
    key_target(rig)
    go_to(FRAMES[0])
    assert not live.plan_of(bpy.context).reasons(bpy.context.scene)[chains_of([rig.ob])[0]]
    shown = played(rig.ob, FRAMES)
    errors = {}
    for frame in FRAMES:
        go_to(frame)
        errors[frame] = missed(rig) * LENGTH
    (told,) = check(bpy.context, chains_of([rig.ob]), FRAMES)["files"][0]["chains"]
    assert told["max_error"] == pytest.approx(max(errors.values()), abs=LENGTH * EXACT)
    bake(bpy.context, chains_of([rig.ob]), FRAMES)
    assert farthest_apart(shown, played_without_the_add_on(rig.ob, FRAMES), LENGTH) < EXACT


# Its name is followed


def test_it_is_followed_to_another_name():
    rig = imported_leg(1)
    rig.ob.data.bones["foot.L"].name = "ankle.L"
    update()
    assert rig.tip.analytic_ik_end_bone == "ankle.L"
    rig.target.place((0.1, -0.3, 0.5))
    assert (ankle(rig, "ankle.L") - Vector((0.1, -0.3, 0.5))).length < LENGTH * EXACT


def test_a_mirrored_leg_ends_at_the_mirrored_foot():
    rig = imported_leg(2)
    with editing(rig.ob) as bones:
        for bone in bones:
            bone.select = bone.select_head = bone.select_tail = bone.name.endswith(".L")
        for bone in bones:
            # Off the middle, or a mirrored limb lies in the same place.
            if bone.name.endswith(".L"):
                bone.head.x += 0.2
                bone.tail.x += 0.2
        bpy.ops.armature.symmetrize()
    update()
    assert rig.ob.pose.bones["shin.R"].analytic_ik_end_bone == "foot.R"


def test_joined_into_an_armature_with_a_bone_of_its_name():
    rig = imported_leg(4)
    other = new_armature("body", [BoneSpec("foot.L", (5.0, 0.0, 0.0), (5.0, 0.0, 1.0))])
    update()
    select(rig.ob, other, active=other)
    bpy.ops.object.join()
    update()
    tip = other.pose.bones["shin.L"]
    foot = next(child for child in tip.children if child.name.startswith("foot"))
    assert foot.name != "foot.L" and tip.analytic_ik_end_bone == foot.name


def test_a_pasted_pose_does_not_take_it():
    rig = imported_leg(5)
    enter("POSE", rig.ob, "shin.L")
    bpy.ops.pose.copy()
    bpy.ops.pose.paste(flipped=False)
    update()
    assert rig.tip.analytic_ik_end_bone == "foot.L" and missed(rig) < EXACT


# Where it is gone


def test_without_it_the_chain_says_so_and_the_cure_ends_it_at_the_tail():
    rig = imported_leg(6)
    rig.tip.analytic_ik_end_bone = "fin"
    update()
    select(rig.ob)
    problem = faults_of(rig.ob, ["shin.L"], bpy.context.view_layer.depsgraph)["shin.L"]
    assert problem.sentence.startswith("Bone 'shin.L': its end bone 'fin' does not exist. Choose another one")
    (cure,) = problem.cures
    bpy.ops.analytic_ik.cure(kind=cure.kind, bone=cure.bone)
    update()
    assert not faults_of(rig.ob, ["shin.L"], bpy.context.view_layer.depsgraph)
    rig.target.place((0.0, -9.0, 2.0))
    evaluated = evaluated_copy(rig.ob)
    hip, tail = evaluated.pose.bones["thigh.L"].head, evaluated.pose.bones["shin.L"].tail
    assert (tail - hip).angle(Vector((0.0, -1.0, 0.0))) < 1e-3
