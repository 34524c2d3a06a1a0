"""Native and live again: everything is as before, bit for bit."""

import bpy
import pytest

from ik_addon.native.making import make_live, make_native
from ik_addon.native.records import HELPER_PREFIX, MECHANISM
from ik_addon.rig.data.relation import is_tie
from ik_addon.rig.data.settings import is_native
from ik_addon.solvers import ChainError

from ..helpers.feet import follow, footed_leg
from ..rig.rigs import (
    BoneSpec,
    Control,
    Rig,
    editing,
    evaluated_copy,
    make_chain,
    matrix_difference,
    new_armature,
    new_empty,
    update,
)
from ..scenes import action_state, apart, curves_of, enter, go_to, played, reopened, walking_leg
from .natives import all_there_is, any_footed, any_rig, changed, live, native, user_pose

pytestmark = pytest.mark.versions
seeds = pytest.mark.parametrize("seed", range(100))

OPTIONS = ({}, {"swivel": 0.4}, {"reach": "STRETCH"}, {"softness": 0.2, "flip": True})


def there_and_back(rig: Rig) -> None:
    update()
    before, shown = all_there_is(rig.ob), user_pose(rig.ob)
    native(rig)
    assert changed(before, all_there_is(rig.ob))
    live(rig)
    update()
    assert changed(before, all_there_is(rig.ob)) == {}
    after = user_pose(rig.ob)
    assert max(matrix_difference(after[name], shown[name]) for name in shown) < 1e-5


@seeds
def test_two_bones_come_back_as_they_were(seed):
    rig = any_rig(seed)
    rig.enable(**OPTIONS[seed % len(OPTIONS)])
    there_and_back(rig)


@seeds
def test_more_bones_come_back_as_they_were(seed):
    rig = any_rig(seed, 3 + seed % 4)
    rig.enable(swivel=0.3)
    there_and_back(rig)


@seeds
def test_a_foot_comes_back_as_it_was(seed):
    rig = any_footed(seed)
    rig.enable(foot_roll=0.2 * (seed % 3))
    rig.tip.analytic_ik_use_rotation = True
    there_and_back(rig)


def keyed_and_driven() -> Rig:
    """With keys and a driver on its settings, a driver that reads one, constraints, and a strip that plays another."""
    rig = walking_leg()
    tip, path = rig.tip, rig.tip.path_from_id()
    for frame, swivel, influence, flip in ((1, 0.0, 1.0, False), (6, 0.7, 0.8, True), (12, -0.4, 1.0, False)):
        tip.analytic_ik_swivel, tip.analytic_ik_influence, tip.analytic_ik_flip = swivel, influence, flip
        for name in ("swivel", "influence", "flip"):
            tip.keyframe_insert(f"analytic_ik_{name}", frame=frame)
    # What an action keys that only a strip plays.
    first = rig.ob.animation_data.action
    track = rig.ob.animation_data.nla_tracks.new()
    track.strips.new("other", 40, first.copy())
    tip.analytic_ik_softness = 0.1
    curve = tip.driver_add("analytic_ik_softness")
    curve.driver.expression = "0.05 + var * 0.1"
    variable = curve.driver.variables.new()
    variable.name, variable.type = "var", "SINGLE_PROP"
    variable.targets[0].id, variable.targets[0].data_path = rig.ob, "location[0]"
    reader = new_empty("reads the swivel")
    read = reader.driver_add("location", 2).driver
    read.expression = "v"
    given = read.variables.new()
    given.name, given.type = "v", "SINGLE_PROP"
    given.targets[0].id, given.targets[0].data_path = rig.ob, f"{path}.analytic_ik_swivel"
    muted = rig.tip.constraints.new("IK")
    muted.target, muted.chain_count, muted.mute, muted.influence = rig.target.ob, 2, True, 0.3
    rig.ob.pose.bones["thigh"].constraints.new("LIMIT_SCALE").mute = True
    rig.ob.pose.bones["shin"].constraints.active = muted
    go_to(1)
    return rig


def test_keys_drivers_strips_and_constraints_come_back_as_they_were():
    there_and_back(keyed_and_driven())


def test_keys_and_drivers_move_along():
    rig = keyed_and_driven()
    frames = (1, 3, 6, 9, 12)
    shown = played(rig.ob, frames)
    reader = bpy.data.objects["reads the swivel"]
    native(rig)
    path = rig.tip.path_from_id()
    paths = {curve.data_path for curve in rig.ob.animation_data.drivers} | {path for path, _ in curves_of(rig.ob)}
    assert {f'{path}["ik_{name}"]' for name in ("swivel", "influence", "flip", "softness")} <= paths
    assert not [each for each in paths if "analytic_ik" in each]
    strip = rig.ob.animation_data.nla_tracks[0].strips[0]
    assert not [each for _, each, _ in action_state(strip.action) if "analytic_ik" in each]
    for frame in frames:
        go_to(frame)
        after = user_pose(rig.ob)
        assert apart({name: shown[frame][name] for name in after}, after, 2.0) < 1e-4
        assert reader.location.z == pytest.approx(evaluated_copy(rig.ob).pose.bones["shin"]["ik_swivel"], abs=1e-6)


def test_a_keyed_switch_switches_the_native_chain():
    rig = walking_leg()
    for frame, enabled in ((1, True), (6, False), (9, True)):
        rig.tip.analytic_ik_enabled = enabled
        rig.tip.keyframe_insert("analytic_ik_enabled", frame=frame)
    frames = (1, 5, 6, 8, 9, 12)
    go_to(1)
    before, shown = all_there_is(rig.ob), played(rig.ob, frames)
    go_to(1)
    native(rig)
    for frame in frames:
        go_to(frame)
        after = user_pose(rig.ob)
        assert apart({name: shown[frame][name] for name in after}, after, 2.0) < 1e-5
    go_to(1)
    live(rig)
    update()
    assert changed(before, all_there_is(rig.ob)) == {}


def test_what_was_changed_while_it_was_native_is_kept():
    rig = walking_leg(softness=0.1)
    native(rig)
    rig.tip["ik_swivel"], rig.tip["ik_softness"], rig.tip["ik_flip"] = 0.25, 0.2, True
    live(rig)
    assert (rig.tip.analytic_ik_swivel, rig.tip.analytic_ik_flip) == (0.25, True)
    assert rig.tip.analytic_ik_softness == pytest.approx(0.2)
    assert not [key for key, _ in rig.tip.items() if key.startswith("ik_")]


def test_it_comes_back_after_bones_were_renamed(tmp_path):
    rig = footed_leg()
    follow(rig, foot_roll=0.3)
    make_chain(rig.tip, Control(rig.ob, bone_target(rig.ob)))
    update()
    native(rig)
    for old, new in (("shin", "Unterschenkel"), ("thigh", "Oberschenkel"), ("foot", "Fuß"), ("goal", "Ziel")):
        rig.ob.data.bones[old].name = new
    reopened(tmp_path / "renamed.blend")
    ob = bpy.data.objects["leg"]
    update()
    shown = user_pose(ob)
    make_live(bpy.context, [ob.pose.bones["Unterschenkel"]])
    update()
    tip = ob.pose.bones["Unterschenkel"]
    assert (tip.analytic_ik_enabled, tip.analytic_ik_subtarget) == (True, "Ziel")
    after = user_pose(ob)
    assert max(matrix_difference(after[name], shown[name]) for name in shown) < 1e-5
    assert not [bone.name for bone in ob.data.bones if bone.name.startswith("IK-")]


def test_a_muted_ik_constraint_comes_back_to_controls_that_were_renamed(tmp_path):
    rig = footed_leg()
    make_chain(rig.tip, Control(rig.ob, bone_target(rig.ob)), Control(new_empty("pole", (0.0, -2.0, 1.0))))
    muted = rig.tip.constraints.new("IK")
    muted.target, muted.subtarget, muted.pole_target = rig.ob, "goal", bpy.data.objects["pole"]
    muted.chain_count, muted.mute = 2, True
    update()
    native(rig)
    assert "IK" not in [each.type for each in rig.tip.constraints]
    rig.ob.data.bones["goal"].name = "Ziel"
    bpy.data.objects["pole"].name = "Pol"
    live(rig)
    back = rig.tip.constraints["IK"]
    assert (back.target, back.subtarget, back.pole_target.name) == (rig.ob, "Ziel", "Pol")


def bone_target(ob: bpy.types.Object) -> str:
    with editing(ob) as bones:
        bone = bones.new("goal")
        bone.head, bone.tail = (0.0, -0.2, 0.5), (0.0, -0.2, 0.7)
    update()
    return "goal"


def test_an_appended_one_comes_back(tmp_path):
    rig = walking_leg(swivel=0.3)
    shown = user_pose(rig.ob)
    native(rig)
    file = str(tmp_path / "native.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(file) as (_, into):
        into.objects = ["leg", "leg target"]
    for ob in into.objects:
        bpy.context.scene.collection.objects.link(ob)
    ob = bpy.data.objects["leg"]
    update()
    for _ in range(2):
        after = user_pose(ob)
        assert max(matrix_difference(after[name], shown[name]) for name in shown) < 1e-5
        if not ob.pose.bones["shin"].analytic_ik_enabled:
            make_live(bpy.context, [ob.pose.bones["shin"]])
            update()
    assert ob.pose.bones["shin"].analytic_ik_enabled


def two_native_legs() -> bpy.types.Object:
    """On one armature; Flip Bend and the driver that it needs are of the first alone."""
    specs = [BoneSpec("hips", (0.0, 0.5, 2.0), (0.0, 0.0, 2.0))]
    for side, x in (("L", 0.3), ("R", -0.3)):
        specs.append(BoneSpec(f"thigh.{side}", (x, 0.0, 2.0), (x, -0.2, 1.0), "hips"))
        specs.append(BoneSpec(f"shin.{side}", (x, -0.2, 1.0), (x, 0.0, 0.0), f"thigh.{side}", connect=True))
    ob = new_armature("legs", specs)
    for side, x in (("L", 0.3), ("R", -0.3)):
        make_chain(ob.pose.bones[f"shin.{side}"], Control(new_empty(f"goal {side}", (x, -0.3, 0.4))), chain_count=2)
    ob.pose.bones["shin.L"].analytic_ik_flip = True
    update()
    make_native(bpy.context, [ob.pose.bones["shin.L"], ob.pose.bones["shin.R"]])
    update()
    return ob


def symmetrized(ob: bpy.types.Object, to: str) -> None:
    """The left leg onto the right one, or the other way round: the tip there has the record of this one then."""
    enter("EDIT", ob)
    for bone in ob.data.edit_bones:
        bone.select = bone.select_head = bone.select_tail = not bone.name.startswith(HELPER_PREFIX)
    bpy.ops.armature.symmetrize(direction=to)
    bpy.ops.object.mode_set(mode="OBJECT")
    update()


@pytest.mark.parametrize("to", ["POSITIVE_X", "NEGATIVE_X"])
def test_after_symmetrizing_no_helper_is_left(to):
    ob = two_native_legs()
    symmetrized(ob, to)
    make_live(bpy.context, [tip for tip in ob.pose.bones if is_native(tip)])
    assert [bone.name for bone in ob.pose.bones if bone.analytic_ik_enabled] == ["shin.L", "shin.R"]
    assert not [bone.name for bone in ob.data.bones if bone.name.startswith(HELPER_PREFIX)]
    assert MECHANISM not in ob.data.collections_all
    assert not [each.name for bone in ob.pose.bones for each in bone.constraints if not is_tie(each)]
    assert not (ob.animation_data and len(ob.animation_data.drivers))


def test_helpers_that_another_native_chain_uses_stay():
    ob = two_native_legs()
    with editing(ob) as bones:
        bones.new("tail")
        bones["tail"].head, bones["tail"].tail = (0.0, 1.0, 2.0), (0.0, 2.0, 2.0)
    tail = ob.pose.bones["tail"]
    make_chain(tail, Control(new_empty("goal of the tail", (0.4, 1.8, 2.0))), chain_count=1)
    update()
    make_native(bpy.context, [tail])
    update()
    symmetrized(ob, "NEGATIVE_X")

    def followed() -> set[str]:
        shins = [bone for bone in ob.pose.bones if bone.name.startswith("shin")]
        return {each.subtarget for bone in shins for each in bone.constraints}

    before = followed()
    make_live(bpy.context, [ob.pose.bones["tail"]])
    assert before == followed() <= {bone.name for bone in ob.data.bones}
    assert not [bone.name for bone in ob.data.bones if bone.name.endswith("-tail")]


def test_a_record_that_was_changed_by_hand_is_refused():
    rig = walking_leg()
    native(rig)
    rig.tip.analytic_ik_record_native = "{"
    before = all_there_is(rig.ob)
    with pytest.raises(ChainError, match="Bone 'shin': what it keeps of its live chain was changed by hand"):
        live(rig)
    assert changed(before, all_there_is(rig.ob)) == {}
