"""STRETCH: bones lengthen so that the tip arrives, what hangs on the tip keeps its size, and no scale is ever lost."""

from random import Random

import bpy
import pytest
from mathutils import Matrix, Vector

from ik_addon.authoring.controls import remove_chain
from ik_addon.rig.pose import solving

from ..changes import setting
from ..helpers.empty import empty_scene
from ..helpers.stretching import FK_SCALES, add_end_bones, beyond, scaled_leg, scales, two_in_line
from ..scenes import enter, go_to, pose_of, without_handlers
from ..troubles import too_many_bones
from .rigs import (
    INHERIT_SCALE,
    BoneSpec,
    Control,
    Rig,
    editing,
    evaluated_copy,
    leg,
    matrix_difference,
    new_armature,
    new_empty,
    pose_values,
    random_rig,
    update,
)

EXACT = 1e-5
INHERITING = INHERIT_SCALE[:4]


def farthest(a: dict[str, Matrix], b: dict[str, Matrix]) -> float:
    assert a.keys() == b.keys()
    return max(matrix_difference(a[name], b[name]) for name in a)


def stretched_leg(distance: float = 2.6, **settings: object) -> Rig:
    """A live leg whose target is `distance` below its hip; its bones are 2.04 long."""
    rig = leg()
    rig.target.place((0.0, 0.0, 2.0 - distance))
    rig.enable(**{"reach": "STRETCH"} | settings)
    return rig


# What it does


@pytest.mark.some(36)
@pytest.mark.parametrize("of_tip", INHERIT_SCALE)
@pytest.mark.parametrize("of_end", INHERIT_SCALE)
@pytest.mark.parametrize("turns_along", [True, False])
def test_every_way_to_inherit_scale_is_heeded_and_none_is_changed(of_tip, of_end, turns_along):
    rig = leg()
    bones = rig.ob.data.bones
    bones["shin"].inherit_scale, bones["foot"].inherit_scale = of_tip, of_end
    bones["shin"].use_inherit_rotation = bones["foot"].use_inherit_rotation = turns_along
    rig.ob.pose.bones["thigh"].scale = rig.ob.pose.bones["foot"].scale = (1.2, 1.2, 1.2)
    size, length = pose_of(rig.ob)["foot"].to_scale(), sum(rig.lengths())
    rig.target.place((0.3, 0.2, 2.0 - 1.3 * length))
    distance = (rig.target.ob.location - Vector((0.0, 0.0, 2.0))).length
    rig.enable(reach="STRETCH")
    assert rig.missed() < EXACT
    assert sum(rig.lengths()) == pytest.approx(distance, rel=EXACT)
    assert (pose_of(rig.ob)["foot"].to_scale() - size).length < EXACT
    assert (bones["shin"].inherit_scale, bones["foot"].inherit_scale) == (of_tip, of_end)
    k = distance / length
    shown = scales(rig.ob)
    assert shown["shin"][0] == pytest.approx(1.0 if of_tip in INHERITING else k)
    assert shown["foot"][0] == pytest.approx(1.2 / k if of_end in INHERITING else 1.2)


@pytest.mark.parametrize("reach", ["CLAMP", "HOLD"])
def test_the_other_modes_never_scale(reach):
    rig = stretched_leg(reach=reach)
    assert set(scales(rig.ob).values()) == {(1.0, 1.0, 1.0)}


def test_one_solution_is_enough(monkeypatch):
    """Only under uneven scales is a chain solved again, to end where it was solved to."""
    rig, solutions, solve = stretched_leg(), [], solving.solve
    rig.target.place((0.2, 0.1, -0.9))
    monkeypatch.setattr(solving, "solve", lambda *given: solutions.append(given) or solve(*given))
    solving.solve_scene(bpy.context.evaluated_depsgraph_get(), frame_changed=False)
    assert rig.missed() < EXACT
    assert len(solutions) == 1


# Laws of the FK scale


switch_off = setting("tip", analytic_ik_enabled=False)
clamp = setting("tip", analytic_ik_reach="CLAMP")
no_influence = setting("tip", analytic_ik_influence=0.0)


def delete_target(rig: Rig) -> None:
    bpy.data.objects.remove(rig.target.ob)


def into_reach(rig: Rig) -> None:
    rig.target.place((0.0, -0.3, 0.4))


ENDS = (
    *(switch_off, delete_target, too_many_bones, clamp, no_influence, into_reach),
    setting("tip", "another_solver", analytic_ik_chain_count=1, analytic_ik_solver="VECTOR"),
    setting("tip", "hold", analytic_ik_reach="HOLD"),
    setting("tip", "no_stretch", analytic_ik_stretch_max=1.0),
)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("frame_change", [False, True])
def test_bones_that_need_not_be_longer_any_more_get_their_scale_back_exactly(end, frame_change):
    fk = {name: tuple(Vector(scale)) for name, scale in FK_SCALES.items()}
    rig = scaled_leg()
    assert scales(rig.ob)["thigh"] != fk["thigh"]
    assert scales(rig.ob)["foot"] != fk["foot"]
    end(rig)
    if frame_change:
        go_to(2)
    else:
        update()
    assert scales(rig.ob) == fk
    update()
    go_to(3)
    assert scales(rig.ob) == fk


@pytest.mark.parametrize("end", [switch_off, clamp, no_influence, into_reach])
def test_all_that_hangs_below_is_where_it_would_be_without(end):
    """Also what a bone with a constraint carries: nothing is left over in the same update."""
    poses = []
    for by_detour in (True, False):
        empty_scene()
        rig = leg()
        rig.random = Random(1)
        add_end_bones(rig, 3)
        track = rig.ob.pose.bones["end 1"].constraints.new("COPY_ROTATION")
        track.target = new_empty("turned")
        track.target.rotation_euler = (0.3, 0.5, 0.7)
        rider = new_empty("rider")
        rider.parent, rider.parent_type, rider.parent_bone = rig.ob, "BONE", "end 2"
        rig.target.place((0.0, 0.3, -0.6))
        rig.enable(reach="STRETCH")
        if by_detour:
            end(rig)
        else:
            rig.tip.analytic_ik_enabled = False
            update()
            end(rig)
            rig.tip.analytic_ik_enabled = end is not switch_off
        update()
        poses.append(pose_of(rig.ob) | {"rider": evaluated_copy(rider).matrix_world.copy()})
    assert farthest(*poses) < 1e-6


@pytest.mark.parametrize("what", ["removed by hand", "inherit scale", "parent"])
def test_an_end_bone_that_is_none_any_more_gets_its_scale_back(what):
    rig = scaled_leg()
    if what == "inherit scale":
        rig.ob.data.bones["foot"].inherit_scale = "NONE"
        rig.target.place((0.1, 0.3, -1.0))
    else:
        with editing(rig.ob) as edit_bones:
            if what == "parent":
                edit_bones["foot"].parent = None
            else:
                edit_bones.remove(edit_bones["thigh"])
                edit_bones.remove(edit_bones["shin"])
    assert scales(rig.ob)["foot"] == tuple(Vector(FK_SCALES["foot"]))


# Chains on chains


@pytest.mark.parametrize("seed", range(12))
def test_two_chains_in_line_arrive_and_the_last_bone_keeps_its_size(seed):
    upper, lower = two_in_line(seed)
    upper.tip.analytic_ik_reach = lower.tip.analytic_ik_reach = "CLAMP"
    before = pose_of(upper.ob)
    upper.tip.analytic_ik_reach = lower.tip.analytic_ik_reach = "STRETCH"
    assert upper.missed() < EXACT and lower.missed() < EXACT
    assert sum(upper.lengths()) == pytest.approx(upper.target.ob.location.length, rel=EXACT)
    for name in ("bone 4", "bone 5"):
        now = pose_of(upper.ob)[name]
        assert (now.to_scale() - before[name].to_scale()).length < 2 * EXACT


@pytest.mark.some(10)
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("end", [switch_off, clamp, delete_target, no_influence, too_many_bones])
@pytest.mark.parametrize("seed", range(3))
def test_ending_one_of_two_leaves_the_other_as_if_it_had_been_alone(seed, end, which):
    poses = []
    for by_detour in (True, False):
        empty_scene()
        chains = two_in_line(seed, **{} if by_detour else {"reach": "CLAMP"})
        end(chains[which])
        if not by_detour:
            update()
            chains[1 - which].tip.analytic_ik_reach = "STRETCH"
        update()
        assert chains[1 - which].missed() < EXACT
        poses.append(pose_of(chains[0].ob))
    assert farthest(*poses) < 5e-6
    for rig in chains:
        rig.tip.analytic_ik_enabled = False
    fk = scales(chains[0].ob)
    empty_scene()
    chains = two_in_line(seed, reach="CLAMP")
    assert scales(chains[0].ob) == fk


def test_a_chain_under_an_end_bone_that_is_no_tip_is_given_nothing():
    """A chain of one bone stretches; its end bone keeps its size; what hangs on that is not on the end of a chain."""
    bones = [BoneSpec(f"bone {k}", (0.0, 0.1 * k, k), (0.0, 0.1 * k + 0.1, k + 1.0)) for k in range(4)]
    specs = [BoneSpec(bone.name, bone.head, bone.tail, f"bone {k - 1}" if k else "") for k, bone in enumerate(bones)]
    ob = new_armature("line", specs)
    first = Rig(ob, ["bone 0"], Control(new_empty("first goal", (0.3, 0.2, 1.4))))
    last = Rig(ob, ["bone 2", "bone 3"], Control(new_empty("last goal", (0.5, 0.5, 5.0))))
    for rig in (first, last):
        rig.enable(reach="STRETCH", stretch_max=2.0)
    for z in (5.2, 5.0, 5.1):
        last.target.place((0.5, 0.5, z))
        assert last.missed() < EXACT and first.missed() < EXACT
    before = pose_of(ob)
    remove_chain(last.tip, keep_pose=True)
    assert farthest(pose_of(ob), before) < EXACT


def test_a_target_on_an_end_bone_with_a_constraint_is_followed_in_the_same_update():
    """What rides on the bone is as far from it as the bone's size says; the leg only lengthens and turns nothing."""
    rig, follower = leg(), leg("follower", side=1.0)
    turned = new_empty("turned")
    rig.ob.pose.bones["foot"].constraints.new("COPY_ROTATION").target = turned
    follower.target.ob.location = (0.5, 0.0, 0.6)
    follower.target.ob.parent, follower.target.ob.parent_type = rig.ob, "BONE"
    follower.target.ob.parent_bone = "foot"
    rig.target.place((0.0, 0.0, -0.2))
    rig.enable(reach="STRETCH", stretch_max=2.0)
    follower.enable(reach="STRETCH", stretch_max=5.0)
    for z in (-0.3, -1.0, -0.1, -0.6):
        rig.target.place((0.0, 0.0, z))
        assert follower.missed() < EXACT


# Taking it off


@pytest.mark.parametrize("seed", range(500, 510))
def test_a_removed_chain_leaves_the_pose_as_it_was(seed):
    rig = random_rig(seed, with_pole=False)
    add_end_bones(rig)
    rig.place_target(beyond(rig, 1.4))
    fk_rotations, fk = pose_values(rig.ob), scales(rig.ob)
    rig.enable(reach="STRETCH")
    before = pose_of(rig.ob)
    enter("POSE", rig.ob, rig.bones[-1])
    keep_pose = bool(seed % 2)
    bpy.ops.analytic_ik.remove(keep_pose=keep_pose)
    update()
    go_to(5)
    if keep_pose:
        assert farthest(pose_of(rig.ob), before) < 1e-6
    else:
        assert (pose_values(rig.ob), scales(rig.ob)) == (fk_rotations, fk)


def test_the_fk_scale_is_there_at_once():
    rig = scaled_leg()
    with without_handlers():
        remove_chain(rig.tip, keep_pose=False)
        assert scales(rig.ob) == {name: tuple(Vector(scale)) for name, scale in FK_SCALES.items()}


@pytest.mark.some(6)
@pytest.mark.parametrize("keep_pose", [True, False])
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("seed", range(4))
def test_removing_one_of_two_in_line_leaves_the_other_its_own(seed, which, keep_pose):
    chains = two_in_line(seed)
    fk = None
    before = pose_of(chains[0].ob)
    enter("POSE", chains[0].ob, chains[which].bones[-1])
    bpy.ops.analytic_ik.remove(keep_pose=keep_pose)
    update()
    other = chains[1 - which]
    assert other.missed() < EXACT
    if keep_pose:
        assert farthest(pose_of(chains[0].ob), before) < 5e-6
        other.tip.analytic_ik_enabled = False
        update()
        # Of the other's lengthening nothing was taken over.
        lengths = other.lengths()
        empty_scene()
        fresh = two_in_line(seed, reach="CLAMP")[1 - which]
        assert lengths == pytest.approx(fresh.lengths(), rel=EXACT)
    else:
        other.tip.analytic_ik_enabled = False
        fk = scales(chains[0].ob)
        empty_scene()
        assert scales(two_in_line(seed, reach="CLAMP")[0].ob) == fk
