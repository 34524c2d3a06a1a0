"""What ties chains to their controls is the add-on's, whatever it is called; the rest is the user's, whatever it is
called."""

from collections.abc import Iterator

import bpy
import pytest

from ik_addon.authoring.adopt import restore
from ik_addon.authoring.blender_ik import adoptable
from ik_addon.native.making import make_live, make_native
from ik_addon.rig.data.relation import is_tie, is_tied, ties_of, trigger_of
from ik_addon.rig.pose import posing
from ik_addon.rig.status.problems import warnings_of

from ..helpers.blenders_ik import adopt_all, constrain, constraint_state
from ..scenes import EXACT, enter, go_to, link_from_library, reopened, select, walking_leg
from .rigs import Control, Rig, editing, evaluated_copy, leg, make_chain, new_empty, update

pytestmark = pytest.mark.versions

NAMES = ("Analytic IK", "Analytic IK pole")


def own_ik(bone: bpy.types.PoseBone, name: str, mute: bool) -> None:
    """Blender's IK constraint of a user, with settings of its own."""
    constraint = bone.constraints.new("IK")
    constraint.target, constraint.chain_count = bpy.data.objects.get("aim") or new_empty("aim", (0.3, -0.9, 0.2)), 1
    constraint.pole_target, constraint.mute = bpy.data.objects["aim"], mute
    constraint.influence, constraint.iterations, constraint.name = 0.25, 77, name


def users(ob: bpy.types.Object) -> dict[str, list[dict]]:
    """All of the constraints of an armature's bones that have a user's settings."""
    state = {bone.name: [*map(constraint_state, bone.constraints)] for bone in ob.pose.bones}
    return {name: own for name, all_ in state.items() if (own := [each for each in all_ if each["iterations"] == 77])}


def tied(ob: bpy.types.Object) -> dict[str, int]:
    """How many ties the bones of an armature have; every constraint is either a tie or a user's."""
    assert not [c for bone in ob.pose.bones for c in bone.constraints if is_tie(c) == (c.iterations == 77)]
    return {bone.name: len(ties_of(bone)) for bone in ob.pose.bones if ties_of(bone)}


def shown() -> None:
    update()
    go_to(bpy.context.scene.frame_current + 1)
    update()


def rename_in_edit_mode(rig: Rig, names: dict[str, str]) -> None:
    with editing(rig.ob) as bones:
        for old, new in names.items():
            bones[old].name = new
    rig.bones = [names.get(name, name) for name in rig.bones]


def a_life(rig: Rig) -> Iterator[str]:
    """What happens to a chain from its making to its end."""
    shown()
    yield "before"
    pole = new_empty("pole", (0.0, -3.0, 1.0))
    rig.enable(pole_target=pole)
    shown()
    yield "made"
    drag(rig)
    yield "dragged"
    enter("EDIT", rig.ob)
    bpy.ops.object.mode_set(mode="OBJECT")
    shown()
    yield "edited"
    make_chain(rig.ob.pose.bones["foot"], Control(new_empty("toes", (0.0, -0.7, 0.3))), chain_count=1)
    shown()
    yield "a second chain"
    rig.ob.pose.bones["foot"].analytic_ik_enabled = False
    shown()
    yield "off again"
    rig.tip.analytic_ik_pole_target = None
    shown()
    yield "without a pole"
    rig.tip.analytic_ik_target = new_empty("another", (0.0, -0.4, 0.5))
    rig.target = Control(rig.tip.analytic_ik_target)
    shown()
    yield "another target"
    remove(rig.ob, "shin", "foot")
    yield "removed"


def drag(rig: Rig) -> None:
    rig.target.place((0.1, -0.4, 0.5))
    shown()


def remove(ob: bpy.types.Object, *tips: str) -> None:
    enter("POSE", ob, *tips)
    bpy.ops.analytic_ik.remove(keep_pose=False)
    bpy.ops.object.mode_set(mode="OBJECT")
    shown()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("bones", "mute"), [(("hips", "thigh", "shin", "foot"), True), (("hips",), False)])
def test_a_users_constraint_with_the_ties_name_is_never_touched(bones, mute, name):
    rig = leg()
    for bone in bones:
        own_ik(rig.ob.pose.bones[bone], name, mute)
    update()
    before = users(rig.ob)
    assert before.keys() == set(bones)
    for when in a_life(rig):
        assert users(rig.ob) == before, when
        if when not in ("before", "removed"):
            assert tied(rig.ob)["shin"] == 1 + (rig.tip.analytic_ik_pole_target is not None), when
            assert rig.missed() < EXACT, when
    assert tied(rig.ob) == {} and trigger_of(rig.ob) is None


@pytest.mark.parametrize("in_edit_mode", [True, False])
def test_it_stays_where_bones_are_renamed(in_edit_mode):
    rig = leg()
    for bone in rig.ob.pose.bones:
        own_ik(bone, "Analytic IK", mute=True)
    rig.enable()
    names = {"thigh": "upper", "shin": "lower", "foot": "Analytic IK"}
    kept = {names.get(name, name): state for name, state in users(rig.ob).items()}
    if in_edit_mode:
        rename_in_edit_mode(rig, names)
    else:
        for old, new in names.items():
            rig.ob.data.bones[old].name = new
        rig.bones = ["upper", "lower"]
    drag(rig)
    assert users(rig.ob) == kept and tied(rig.ob) == {"lower": 1}
    assert rig.missed() < EXACT
    remove(rig.ob, "lower")
    assert users(rig.ob) == kept and tied(rig.ob) == {}


def test_a_tie_is_one_under_any_name():
    rig = leg()
    rig.enable()
    (tie,) = rig.tip.constraints
    tie.name = "swing"
    own_ik(rig.tip, "Analytic IK", mute=True)
    own_ik(rig.ob.pose.bones["foot"], "Analytic IK", mute=True)
    before = users(rig.ob)
    drag(rig)
    assert tied(rig.ob) == {"shin": 1} and ties_of(rig.tip)[0].name == "swing"
    assert users(rig.ob) == before and rig.missed() < EXACT
    remove(rig.ob, "shin")
    assert tied(rig.ob) == {} and users(rig.ob) == before


def test_beside_a_constraint_of_its_name_a_tie_gets_another():
    rig = leg()
    own_ik(rig.tip, "Analytic IK", mute=True)
    rig.enable()
    assert [constraint.name for constraint in rig.tip.constraints] == ["Analytic IK", "Analytic IK.001"]
    assert [*map(is_tie, rig.tip.constraints)] == [False, True]
    drag(rig)
    assert rig.missed() < EXACT


def test_an_unmuted_constraint_of_a_user_is_named_as_such_and_may_become_a_chain():
    rig = leg()
    constrain(rig).name = "Analytic IK"
    before = constraint_state(rig.tip.constraints[0])
    assert [held.constraint.name for held in adoptable(rig.ob.pose.bones)] == ["Analytic IK"]
    adopt_all(rig.ob)
    shown()
    assert rig.missed() < EXACT and len(ties_of(rig.tip)) == 1
    restore(bpy.context, [rig.tip])
    shown()
    assert [*map(constraint_state, rig.tip.constraints)] == [before]
    rig.tip.constraints[0].target = new_empty("elsewhere", (0.0, 0.5, 0.5))
    rig.enable()
    (warning,) = warnings_of(rig.ob, "shin")
    assert "'Analytic IK'" in warning.sentence and "solves the chain again" not in warning.sentence


def test_it_waits_while_a_chain_is_native():
    rig = leg()
    rig.enable()
    own_ik(rig.tip, "Analytic IK pole", mute=True)
    before = users(rig.ob)
    enter("POSE", rig.ob, "shin")
    make_native(bpy.context, [rig.tip])
    update()
    make_live(bpy.context, [rig.tip])
    shown()
    assert users(rig.ob) == before and tied(rig.ob) == {"shin": 1}
    assert rig.missed() < EXACT


def test_ties_that_are_copied_to_other_bones_go_and_a_users_constraint_stays():
    rig = leg()
    own_ik(rig.tip, "Analytic IK", mute=True)
    rig.enable()
    update()
    enter("POSE", rig.ob, "foot", "hips", "shin")
    bpy.ops.pose.constraints_copy()
    bpy.ops.object.mode_set(mode="OBJECT")
    drag(rig)
    assert users(rig.ob).keys() == {"foot", "hips", "shin"}
    assert tied(rig.ob) == {"shin": 1} and rig.missed() < EXACT


def copies_to_the_other_side(ob: bpy.types.Object, _folder) -> bpy.types.Object:
    ob.data.bones["thigh"].name, ob.data.bones["shin"].name = "thigh.L", "shin.L"
    update()
    select(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in ob.data.edit_bones:
        bone.select = bone.select_head = bone.select_tail = bone.name.endswith(".L")
    bpy.ops.armature.symmetrize()
    bpy.ops.object.mode_set(mode="OBJECT")
    return ob


def duplicates(ob: bpy.types.Object, _folder) -> bpy.types.Object:
    select(ob)
    bpy.ops.object.duplicate()
    return bpy.context.object


def joins(ob: bpy.types.Object, _folder) -> bpy.types.Object:
    """Into an armature that has a chain, and so a trigger, of its own."""
    other = walking_leg("other", side=2.0)
    for bone in other.ob.data.bones:
        bone.name = f"{bone.name}.other"
    update()
    select(ob, other.ob, active=other.ob)
    bpy.ops.object.join()
    return other.ob


def joins_without_a_chain(ob: bpy.types.Object, _folder) -> bpy.types.Object:
    other = leg("other", side=2.0)
    for bone in other.ob.data.bones:
        bone.name = f"{bone.name}.other"
    select(ob, other.ob, active=other.ob)
    bpy.ops.object.join()
    return other.ob


def goes_apart(ob: bpy.types.Object, _folder) -> bpy.types.Object:
    select(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in ob.data.edit_bones:
        bone.select = bone.select_head = bone.select_tail = bone.name != "hips"
    bpy.ops.armature.separate()
    bpy.ops.object.mode_set(mode="OBJECT")
    return next(each for each in bpy.context.selected_objects if "shin" in each.pose.bones)


def is_appended(ob: bpy.types.Object, folder) -> bpy.types.Object:
    name, path = ob.name, str(folder / "character.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    for _ in range(2):
        bpy.ops.wm.append(directory=f"{path}/Object/", filename=name)
    return bpy.data.objects[f"{name}.001"]


def is_opened(ob: bpy.types.Object, folder) -> bpy.types.Object:
    name, path = ob.name, str(folder / "character.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    return bpy.data.objects[name]


def is_overridden(ob: bpy.types.Object, folder) -> bpy.types.Object:
    library = link_from_library(ob, folder)
    overridden = library.override_create()
    bpy.context.scene.collection.objects.link(overridden)
    bpy.context.scene.collection.objects.unlink(library)
    return overridden


def of_before(ob: bpy.types.Object) -> None:
    """As files are that were saved when ties had no mark."""
    for bone in ob.pose.bones:
        for tie in ties_of(bone):
            tie.pole_subtarget = ""


@pytest.mark.parametrize("before", [lambda _: None, of_before], ids=["now", "before"])
@pytest.mark.parametrize(
    "happens",
    [
        copies_to_the_other_side,
        duplicates,
        joins,
        joins_without_a_chain,
        goes_apart,
        is_appended,
        is_opened,
        is_overridden,
    ],
)
def test_each_tip_has_its_own_ties_and_the_users_constraints_whatever_happens(happens, before, tmp_path):
    rig = leg()
    pole = new_empty("pole", (0.0, -3.0, 1.0))
    rig.enable(pole_target=pole)
    for bone in ("thigh", "shin", "foot"):
        own_ik(rig.ob.pose.bones[bone], "Analytic IK", mute=True)
    before(rig.ob)
    update()
    ob = happens(rig.ob, tmp_path)
    shown()
    tips = {bone.name for bone in ob.pose.bones if bone.analytic_ik_enabled}
    assert tips and all(is_tied(ob.pose.bones[tip]) for tip in tips)
    if before is of_before and happens in (joins, joins_without_a_chain):
        # What bore the trigger is gone: these ties of before cannot be told from a user's constraint.
        return
    assert tied(ob).keys() == tips
    assert {name.partition(".")[0] for name in users(ob)} == {"thigh", "shin", "foot"}
    for constraint in (own[0] for own in users(ob).values()):
        assert constraint["influence"] == 0.25 and constraint["chain_count"] == 1 and constraint["mute"]


def test_files_of_before_open_as_they_are(tmp_path):
    rig = leg()
    rig.enable(pole_target=new_empty("pole", (0.0, -3.0, 1.0)))
    of_before(rig.ob)
    before = [*map(constraint_state, rig.tip.constraints)]
    ob = is_opened(rig.ob, tmp_path)
    shown()
    assert [*map(constraint_state, ob.pose.bones["shin"].constraints)] == before
    remove(ob, "shin")
    assert not ob.pose.bones["shin"].constraints


@pytest.mark.parametrize("loosely", [True, False])
def test_a_deleted_trigger_is_made_anew_and_no_tie_twice(loosely):
    rig = leg()
    own_ik(rig.tip, "Analytic IK", mute=True)
    own_ik(rig.ob.pose.bones["hips"], "Analytic IK", mute=False)
    before = users(rig.ob)
    rig.enable()
    if loosely:
        # To Blender that would be a circle.
        rig.tip.analytic_ik_target, rig.tip.analytic_ik_subtarget = rig.ob, "foot"
        update()
    bpy.data.objects.remove(trigger_of(rig.ob))
    shown()
    assert tied(rig.ob) == {"shin": 1}
    assert users(rig.ob) == before
    if not loosely:
        drag(rig)
        assert rig.missed() < EXACT
    remove(rig.ob, "shin")
    assert tied(rig.ob) == {} and users(rig.ob) == before


def test_a_bone_that_blender_passed_over_is_evaluated_at_the_next_frame(monkeypatch):
    rig = leg()
    # Then the chain is read whole each time.
    own_ik(rig.ob.pose.bones["hips"], "hips", mute=False)
    rig.enable()
    shown()
    with monkeypatch.context() as blender:
        blender.setattr(posing, "wake", lambda *_: True)
        rig.target.place((0.1, -0.4, 0.5))
        update()
    assert rig.missed() > EXACT
    go_to(bpy.context.scene.frame_current + 1)
    assert rig.missed() < EXACT


@pytest.mark.parametrize("with_pole", [False, True])
def test_blenders_own_ik_on_the_tip_acts_as_if_there_were_no_ties(with_pole, tmp_path):
    """Behind two muted IK constraints Blender poses another limb than behind none."""
    rig = leg()
    if with_pole:
        rig.pole = Control(new_empty("knee", (0.0, -2.0, 1.0)))
    rig.enable()
    goal = new_empty("goal", (0.1, -0.4, 0.5))
    update()
    made = rig.tip.constraints.new("IK")
    made.target, made.chain_count = goal, 2
    update()
    update()

    armature, name = rig.ob.name, rig.tip.name

    def gap() -> float:
        ob = bpy.data.objects[armature]
        return (ob.matrix_world @ evaluated_copy(ob).pose.bones[name].tail - bpy.data.objects["goal"].location).length

    assert gap() < 1e-3
    rig.tip.analytic_ik_enabled = False
    update()
    assert gap() < 1e-3
    rig.tip.analytic_ik_enabled = True
    update()
    reopened(tmp_path / "leg.blend")
    update()
    assert gap() < 1e-3
    rows = [is_tie(each) for each in bpy.data.objects[armature].pose.bones[name].constraints]
    assert rows == [False] + [True] * (1 + with_pole)
