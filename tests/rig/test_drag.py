"""Within a frame: what is touched is solved, once, and nothing else."""

from math import pi

import bpy
import pytest
from mathutils import Matrix

from ik_addon.authoring.rigging import rig_legs
from ik_addon.rig.live import handlers as live
from ik_addon.rig.pose import solving
from ik_addon.rig.pose.solving import PlannedChain

from ..authoring.skeletons import FAMILIES, armature_of
from ..scenes import go_to, select
from .rigs import BoneSpec, Control, Rig, evaluated_copy, leg, make_chain, new_armature, new_empty, update

pytestmark = pytest.mark.versions


@pytest.fixture
def solved(monkeypatch):
    """The tips of the chains that are solved from now on."""
    tips = []
    solve_limb, solve_steady = solving.solve_limb, PlannedChain.solve

    def counting(limb):
        tips.append((limb.tip, round(limb.world.translation.x)))
        return solve_limb(limb)

    def counting_steady(chain, wishes):
        ob = bpy.data.objects.get(chain.model.armature)
        tips.append((chain.model.tip, round(ob.location.x) if ob else 0))
        return solve_steady(chain, wishes)

    monkeypatch.setattr(solving, "solve_limb", counting)
    monkeypatch.setattr(PlannedChain, "solve", counting_steady)
    return tips


@pytest.fixture
def passes(monkeypatch):
    """One entry for each time that a handler has gone through the scene."""
    done = []
    solve_scene = live.solve_scene
    monkeypatch.setattr(live, "solve_scene", lambda *args: done.append(args) or solve_scene(*args))
    return done


def spider(count: int = 4) -> Rig:
    """Legs on one armature, each with a target and a pole; the rig is that of leg 0."""
    specs = [BoneSpec("body", (0.0, 0.0, 2.0), (0.0, 0.5, 2.0))]
    for k in range(count):
        specs += [
            BoneSpec(f"thigh {k}", (k, 0.0, 2.0), (k, -0.2, 1.0), "body"),
            BoneSpec(f"shin {k}", (k, -0.2, 1.0), (k, 0.0, 0.0), f"thigh {k}", connect=True),
        ]
    ob = new_armature("spider", specs)
    for k in range(count):
        target, pole = new_empty(f"target {k}", (k, -0.3, 0.5)), new_empty(f"pole {k}", (k, -2.0, 1.0))
        make_chain(ob.pose.bones[f"shin {k}"], Control(target), Control(pole))
    update()
    return Rig(ob, ["thigh 0", "shin 0"], Control(bpy.data.objects["target 0"]))


ALL_TIPS = [f"shin {k}" for k in range(4)]
ALL = [(tip, 0) for tip in ALL_TIPS]


def carried(ob: bpy.types.Object) -> bpy.types.Object:
    """The parent that an object gets, where it moves nothing."""
    ob.parent = new_empty("carrier")
    update()
    return ob.parent


MOVES = {
    "a target": (["shin 2"], lambda rig: bpy.data.objects["target 2"], "location"),
    "a pole": (["shin 1"], lambda rig: bpy.data.objects["pole 1"], "location"),
    "the parent of a target": (["shin 0"], lambda rig: carried(rig.target.ob), "location"),
    "the armature": (ALL_TIPS, lambda rig: rig.ob, "location"),
    "the parent of the armature": (ALL_TIPS, lambda rig: carried(rig.ob), "location"),
    "a bone above": (ALL_TIPS, lambda rig: rig.ob.pose.bones["body"], "rotation_quaternion"),
    "what no chain reads": ([], lambda rig: new_empty("bystander"), "location"),
}
"""What is moved, and the tips of the chains that follow it."""


@pytest.mark.parametrize("what", MOVES)
def test_what_follows_something_that_is_moved_is_solved_and_nothing_else(what, solved):
    rig, other = spider(), leg("other leg")
    other.ob.location.x = 30.0
    other.enable()
    tips, moved, channel = MOVES[what]
    owner = moved(rig)
    update()
    solved.clear()
    getattr(owner, channel)[2] += 0.1
    update()
    assert sorted(solved) == [(tip, 0) for tip in tips]
    assert rig.missed() < 1e-5


def test_nothing_is_solved_while_nothing_changes(solved, passes):
    spider()
    update()
    solved.clear()
    passes.clear()
    for _ in range(5):
        update()
    assert solved == [] and passes == []


def test_what_is_written_does_not_call_the_handler_again(solved, passes):
    spider()
    bpy.data.objects["target 0"].location.z += 0.2
    passes.clear()
    solved.clear()
    update()
    update()
    # The chain is known already: nothing but it is read.
    assert passes == [] and len(solved) == 1


def test_a_frame_change_solves_every_chain_once(solved, passes):
    spider()
    for k in range(4):
        bpy.data.objects[f"target {k}"].constraints.new("LIMIT_LOCATION")
    update()
    solved.clear()
    passes.clear()
    bpy.context.scene.frame_set(7)
    update()
    assert sorted(solved) == ALL and passes == []


def test_chains_whose_controls_can_be_sampled_are_solved_before_the_frame(solved, passes):
    spider()
    bpy.context.scene.frame_set(7)
    solved.clear()
    passes.clear()
    bpy.context.scene.frame_set(8)
    update()
    assert solved == [] and passes == []


def test_chains_are_found_when_an_armature_comes_while_another_object_goes(solved):
    rig = leg("first", side=0.0)
    rig.enable()
    spare = new_empty("spare")
    update()
    second = rig.ob.copy()
    bpy.context.scene.collection.objects.link(second)
    second.location.x = 5.0
    bpy.data.objects.remove(spare)
    solved.clear()
    update()
    assert ("shin", 5) in solved


def test_inside_paused_the_handlers_do_nothing(solved):
    rig = leg()
    rig.enable()
    solved.clear()
    with live.paused():
        rig.target.place((0.0, -0.2, 0.5))
        bpy.context.scene.frame_set(5)
    assert solved == []
    bpy.context.scene.frame_set(6)
    assert rig.missed() < 1e-5


def test_poles_that_constraints_move_are_followed_however_often_all_is_moved():
    ob = armature_of(FAMILIES[0].bones())
    select(ob)
    update()
    limbs = rig_legs(bpy.context, ob, as_bones=True).limbs
    body = ob.data.bones[limbs[0].limb.bones[0]].parent.name
    for limb in limbs:
        constraint = ob.pose.bones[limb.pole.bone].constraints.new("ARMATURE")
        for name in (limb.target.bone, body):
            carrier = constraint.targets.new()
            carrier.target, carrier.subtarget, carrier.weight = ob, name, 0.5
    moved = [ob.pose.bones[name] for name in (body, *(limb.target.bone for limb in limbs))]
    update()
    for step in range(1, 13):
        for bone in moved:
            rest = bone.bone.matrix_local
            bone.matrix_basis = rest.inverted() @ Matrix.Rotation(step * pi / 12, 4, "Z") @ rest
        update()
    bones = [name for limb in limbs for name in limb.limb.bones]
    seen = [evaluated_copy(ob).pose.bones[name].head.copy() for name in bones]
    go_to(bpy.context.scene.frame_current + 1)
    after = [evaluated_copy(ob).pose.bones[name].head for name in bones]
    assert max((a - b).length for a, b in zip(seen, after, strict=True)) < 1e-5
