"""Putting a chain on a limb moves no bone; what cannot be a chain is refused and changes nothing."""

import re

import bpy
import pytest

from ik_addon.rig.status.problems import problems_of

from ..rig.rigs import (
    TWO_BONE_SOLVERS,
    BoneSpec,
    Rig,
    bend_normal,
    leg,
    new_armature,
    new_empty,
    random_rig,
    update,
    world_length,
)
from ..scenes import EXACT, apart, enter, go_to, pose_of, where_one_stands, whole_state


def add(
    ob: bpy.types.Object, tip: str, *controls: bpy.types.Object, mode: str = "OBJECT", **options
) -> bpy.types.PoseBone:
    """The operator on a bone, with these other objects selected."""
    enter(mode, ob, tip)
    for control in controls:
        control.select_set(True)
    assert bpy.ops.analytic_ik.add(**options) == {"FINISHED"}
    update()
    assert problems_of(ob, [tip], bpy.context.evaluated_depsgraph_get()) == {}
    return ob.pose.bones[tip]


def assert_moves_nothing(rig: Rig, **options) -> None:
    length, before = sum(rig.lengths()), pose_of(rig.ob)
    options.setdefault("chain_count", len(rig.bones))
    tip = add(rig.ob, rig.bones[-1], **options)
    assert tip.analytic_ik_enabled
    assert apart(pose_of(rig.ob), before, length) < EXACT
    # Also once the frame changes, and the chain is solved from the start.
    go_to(bpy.context.scene.frame_current + 1)
    assert apart(pose_of(rig.ob), before, length) < EXACT
    tail = rig.to_world(rig.joints()[-1])
    assert (tip.analytic_ik_target.matrix_world.translation - tail).length < EXACT * world_length(rig)


@pytest.mark.parametrize("with_pole", [True, False])
@pytest.mark.parametrize("seed", range(100))
def test_a_chain_of_two_bones_moves_nothing(seed, with_pole):
    rig = random_rig(seed)
    solver = rig.random.choice(["AUTO", *TWO_BONE_SOLVERS, "TRIANGULATION"])
    assert_moves_nothing(rig, solver=solver, with_pole=with_pole, mode=rig.random.choice(["OBJECT", "POSE"]))


@pytest.mark.parametrize("with_pole", [True, False])
@pytest.mark.parametrize("count", [1, 3, 5, 20])
@pytest.mark.parametrize("seed", range(1000, 1015))
def test_a_chain_of_any_length_moves_nothing(seed, count, with_pole):
    assert_moves_nothing(random_rig(seed, count), with_pole=with_pole)


@pytest.mark.parametrize("with_pole", [True, False])
@pytest.mark.parametrize("count", [2, 3, 5, 20])
@pytest.mark.parametrize("seed", range(2000, 2008))
def test_a_limb_that_is_exactly_straight_does_not_move_either(seed, count, with_pole):
    assert_moves_nothing(random_rig(seed, count, straight="FK"), with_pole=with_pole)


def limb(joints: list[tuple[float, float, float]]) -> Rig:
    """A limb through these joints."""
    names = [f"bone {k}" for k in range(len(joints) - 1)]
    parents = ["", *names[:-1]]
    specs = [BoneSpec(*spec, bool(spec[-1])) for spec in zip(names, joints, joints[1:], parents, strict=False)]
    return Rig(new_armature("limb", specs), names, target=None)


@pytest.mark.parametrize("with_pole", [True, False])
@pytest.mark.parametrize("bend", [0.05, 0.3, 1.0])
def test_an_s_whose_bends_cancel_does_not_move(bend, with_pole):
    paw = limb([(0.0, 0.0, 0.0), (0.0, -bend, -1.0), (0.0, bend, -2.0), (0.0, 0.0, -3.0)])
    assert_moves_nothing(paw, with_pole=with_pole)


def test_what_is_set_up():
    rig = leg()
    tip = add(rig.ob, "shin", solver="CIRCLE")
    target, pole = tip.analytic_ik_target, tip.analytic_ik_pole_target
    assert (tip.analytic_ik_chain_count, tip.analytic_ik_solver, tip.analytic_ik_least_motion) == (2, "CIRCLE", False)
    assert (target.type, pole.type) == ("EMPTY", "EMPTY")
    assert set(target.users_collection) == set(rig.ob.users_collection)
    assert (target.name, pole.name) == ("shin target", "shin pole")
    # The knee points forwards, and so does the pole from it.
    assert pole.matrix_world.translation.y < -1.0
    assert abs(pole.matrix_world.translation.x) < EXACT


@pytest.mark.parametrize("with_pole", [True, False])
def test_without_a_pole_none_is_made(with_pole):
    rig = leg()
    count = len(bpy.data.objects)
    tip = add(rig.ob, "shin", with_pole=with_pole)
    assert (tip.analytic_ik_pole_target is not None) is with_pole
    # With the trigger that ties the chain to its armature.
    assert len(bpy.data.objects) == count + 2 + with_pole


def test_settings_left_by_an_earlier_chain_do_not_move_the_limb():
    rig = leg()
    rig.target.place((0.0, -0.2, 0.3))
    rig.enable(flip=True, swivel=1.0, softness=0.3, influence=0.3, reach="HOLD")
    rig.tip.analytic_ik_target = rig.ob
    rig.tip.analytic_ik_subtarget = "hips"
    rig.tip.analytic_ik_enabled = False
    update()
    assert_moves_nothing(rig)


def test_a_straight_limb_is_told_to_bend_about_its_hinge(capfd):
    rig = leg(knee=0.0)
    add(rig.ob, "shin")
    assert "Use Flip Bend to bend it the other way" in capfd.readouterr().out
    before = bend_normal(rig.joints())
    rig.tip.analytic_ik_target.location.z += 0.3
    update()
    first = bend_normal(rig.joints())
    rig.tip.analytic_ik_flip = True
    update()
    assert first.dot(bend_normal(rig.joints())) < -0.99
    assert before.length < 2.0


# Chosen controls


def chosen(*locations: tuple[float, float, float]) -> tuple[Rig, list[bpy.types.Object]]:
    rig = leg()
    return rig, [new_empty(f"chosen {k}", location) for k, location in enumerate(locations)]


@pytest.mark.parametrize("mode", ["OBJECT", "POSE"])
def test_one_selected_object_is_the_target_and_the_limb_goes_there(mode):
    rig, [target] = chosen((0.0, -0.4, 0.7))
    tip = add(rig.ob, "shin", target, mode=mode)
    assert tip.analytic_ik_target == target
    assert tip.analytic_ik_pole_target.name == "shin pole"
    assert (rig.to_world(rig.joints()[-1]) - target.location).length < EXACT * 2.0


@pytest.mark.parametrize("nearer_first", [True, False])
def test_of_two_selected_objects_the_nearer_to_the_tip_is_the_target(nearer_first):
    places = [(0.0, -0.3, 0.4), (0.0, -2.0, 1.0)]
    rig, controls = chosen(*(places if nearer_first else places[::-1]))
    target, pole = controls if nearer_first else controls[::-1]
    tip = add(rig.ob, "shin", *controls)
    assert (tip.analytic_ik_target, tip.analytic_ik_pole_target) == (target, pole)
    # With the trigger that ties the chain to its armature.
    assert len(bpy.data.objects) == 5


# Refusals


def refused(ob: bpy.types.Object, tip: str, *controls: bpy.types.Object, **options) -> str:
    """The sentence of the refusal; that nothing was changed is part of every test."""
    enter("OBJECT", ob, *([tip] if tip else []))
    for control in controls:
        control.select_set(True)
    update()
    before = whole_state()
    with pytest.raises(RuntimeError) as refusal:
        bpy.ops.analytic_ik.add(**options)
    assert whole_state() == before
    # What an operator needs it says before it runs, as the reason why its button is greyed out.
    sentence = re.sub(r"^(Error: |Operator \S+\.poll\(\) )", "", str(refusal.value)).strip()
    assert "\n" not in sentence
    assert re.match(r"(Bone|Armature) '.+\. .+\.$", sentence), sentence
    return sentence


def test_three_selected_objects_are_refused():
    rig, controls = chosen((0.0, 0.0, 0.0), (0.0, -1.0, 1.0), (1.0, 0.0, 0.0))
    assert re.match(r"Bone 'shin': 3 other objects are selected. Select ", refused(rig.ob, "shin", *controls))


def test_too_few_parents_are_refused():
    rig = leg()
    sentence = refused(rig.ob, "shin", chain_count=4)
    assert sentence == ("Bone 'shin': its chain needs 4 bones and has 3 up to the root. Set Chain Length to 3.")


def test_a_tip_of_a_chain_is_refused():
    rig = leg()
    rig.enable()
    assert "it already is the tip bone of a chain" in refused(rig.ob, "shin")


@pytest.mark.parametrize(("tip", "count"), [("foot", 2), ("thigh", 1), ("foot", 0)])
def test_bones_of_another_chain_are_refused(tip, count):
    rig = leg()
    rig.enable()
    sentence = refused(rig.ob, tip, chain_count=count)
    assert re.match(
        rf"Bone '{tip}': bone '(shin|thigh)' already belongs to the chain of 'shin'. Use a shorter chain", sentence
    )


def test_a_solver_that_does_not_fit_is_refused():
    rig = leg()
    assert "SPHERE solves 2 bones, and this chain has 3" in refused(rig.ob, "shin", chain_count=3, solver="SPHERE")


@pytest.mark.parametrize("carrier", ["thigh", "shin", "foot"])
def test_a_target_below_the_chain_is_refused(carrier):
    rig, [target] = chosen((0.0, -0.4, 0.7))
    target.parent, target.parent_type, target.parent_bone = rig.ob, "BONE", carrier
    sentence = refused(rig.ob, "shin", target)
    bone = "shin" if carrier == "foot" else carrier
    assert re.match(rf"Bone 'shin': its target 'chosen 0' moves with the chain's own bone '{bone}'. Choose ", sentence)


def test_an_armature_without_an_active_bone_is_refused():
    rig = leg()
    rig.ob.data.bones.active = None
    assert refused(rig.ob, "") == "Armature 'leg' has no active bone. Select the last bone of the limb."


def test_a_limb_without_length_is_refused():
    rig = leg()
    rig.ob.pose.bones["thigh"].scale = (0.0, 0.0, 0.0)
    assert re.match(r"Bone 'shin': bone '(thigh|shin)' of its chain has no length. ", refused(rig.ob, "shin"))


# One step


def test_the_mode_and_the_selection_stay():
    rig = leg()
    other = new_empty("other", (0.0, -0.2, 0.4))
    enter("POSE", rig.ob, "foot", "shin")
    other.select_set(True)
    before = where_one_stands()
    bpy.ops.analytic_ik.add()
    assert where_one_stands() == before
    assert rig.tip.analytic_ik_target == other


def test_what_an_importer_left_selected_is_no_control():
    """The skin, and the Empty that the armature is parented to."""
    rig = leg()
    holder = new_empty("imported", (3.0, 0.0, 0.0))
    rig.ob.parent = holder
    skins = [bpy.data.objects.new(name, bpy.data.meshes.new(name)) for name in ("modified", "parented")]
    for skin in skins:
        bpy.context.scene.collection.objects.link(skin)
    skins[0].modifiers.new("Armature", "ARMATURE").object = rig.ob
    skins[1].parent, skins[1].parent_type = rig.ob, "ARMATURE"
    before = pose_of(rig.ob)
    tip = add(rig.ob, "shin", holder, *skins)
    assert tip.analytic_ik_target.type == "EMPTY" and tip.analytic_ik_target is not holder
    assert apart(pose_of(rig.ob), before, 2.0) < EXACT
