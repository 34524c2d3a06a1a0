"""Rigs that Blender's own Rigify generates: their limbs are converted, not rigged, and nothing moves.

What is compared are the deforming bones as Blender evaluates them.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import bpy
import pytest
from mathutils import Matrix

from ik_addon.authoring.blender_ik import adoptable, resting
from ik_addon.rig.model.order import live_tips
from ik_addon.rig.status.problems import warnings_of

from ..rig.rigs import evaluated_copy, update
from ..scenes import EXACT, angle_between, enter, go_to, reopened, select, whole_state

pytestmark = pytest.mark.slow

CLOSE = 1e-4
"""Scene units, on a human of 2."""
LIMBS = ("MCH-shin_ik.L", "MCH-shin_ik.R", "MCH-forearm_ik.L", "MCH-forearm_ik.R")
KEYED = (1, 10, 20, 33)


@pytest.fixture(scope="module")
def generated(addon, tmp_path_factory) -> Iterator[Path]:
    """A file with a human that Rigify generated of a metarig whose limbs have live chains."""
    path = tmp_path_factory.mktemp("rigify") / "human.blend"
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.preferences.addon_enable(module="rigify")
    try:
        bpy.ops.object.armature_human_metarig_add()
        enter("POSE", bpy.context.object)
        assert bpy.ops.analytic_ik.rig_legs(arms=True) == {"FINISHED"}
        assert bpy.ops.pose.rigify_generate() == {"FINISHED"}
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
    finally:
        bpy.ops.preferences.addon_disable(module="rigify")
    yield path


@pytest.fixture
def carried_over(generated) -> bpy.types.Object:
    """The generated rig, with the copies of the metarig's chains."""
    bpy.ops.wm.open_mainfile(filepath=str(generated))
    return bpy.data.objects["rig"]


@pytest.fixture
def rig(carried_over) -> bpy.types.Object:
    """The same without any chain in the file."""
    for ob in bpy.data.objects:
        for bone in ob.pose.bones if ob.pose else ():
            if bone.analytic_ik_enabled:
                enter("POSE", ob, bone.name)
                bpy.ops.analytic_ik.remove(keep_pose=False, delete_controls=True)
    enter("OBJECT", carried_over)
    update()
    return carried_over


def without_stretch(ob: bpy.types.Object) -> None:
    for bone in ob.pose.bones:
        bone.ik_stretch = 0.0


def animate(ob: bpy.types.Object) -> None:
    """Hips, hands and feet move, within reach."""
    bpy.context.scene.frame_end = 40
    ways = {"torso": (0.05, 0.0, -0.06), "foot_ik.L": (0.0, 0.15, 0.2), "foot_ik.R": (0.05, -0.1, 0.1)}
    ways |= {"hand_ik.L": (-0.1, 0.15, 0.1), "hand_ik.R": (0.05, -0.1, 0.15)}
    for name, way in ways.items():
        bone = ob.pose.bones[name]
        for k, frame in enumerate(KEYED):
            bone.location = [value * (0.0, 1.0, 0.4, 0.7)[k] for value in way]
            bone.keyframe_insert("location", frame=frame)
    go_to(1)


def deforming(ob: bpy.types.Object) -> dict[str, Matrix]:
    return {bone.name: bone.matrix.copy() for bone in evaluated_copy(ob).pose.bones if bone.bone.use_deform}


def played(ob: bpy.types.Object, frames=(*KEYED, 5, 27)) -> dict[int, dict[str, Matrix]]:
    poses = {}
    for frame in frames:
        go_to(frame)
        poses[frame] = deforming(ob)
    return poses


def apart(a: dict[str, Matrix], b: dict[str, Matrix]) -> float:
    """The longest way of a bone's head, in scene units; of turns a tenth: Blender leaves its target by some 5e-5, which
    turns a foot, a tenth of a limb, by ten times that.
    """
    assert a.keys() == b.keys()
    ways = [(a[name].translation - b[name].translation).length for name in a]
    turns = [angle_between(a[name].normalized(), b[name].normalized()) for name in a]
    return max(*ways, 0.1 * max(turns))


def farthest(a: dict, b: dict) -> float:
    return max(apart(a[frame], b[frame]) for frame in a)


def convert(ob: bpy.types.Object) -> None:
    select(ob)
    assert bpy.ops.analytic_ik.adopt(all=True) == {"FINISHED"}


def with_and_without_pole(ob: bpy.types.Object) -> list[dict[str, Matrix]]:
    """The deforming bones as the left leg's switch of its pole goes on and off again."""
    found = []
    for value in (0, 1, 0):
        switch = ob.pose.bones["thigh_parent.L"]
        switch["pole_vector"] = type(switch["pole_vector"])(value)
        ob.update_tag()
        update()
        found.append(deforming(ob))
    return found


# Its limbs are not rigged


@pytest.mark.some(2)
@pytest.mark.parametrize("bone", ["DEF-shin.L", "ORG-shin.L", "DEF-shin.L.001", "MCH-shin_ik.L", "ORG-forearm.R"])
def test_a_bone_that_rigify_moves_gets_no_chain(rig, bone):
    enter("POSE", rig, bone)
    before, objects = whole_state(), len(bpy.data.objects)
    ik = "already is an IK. Use Convert Blender IK instead"
    with pytest.raises(RuntimeError, match=ik if bone in LIMBS else "in a Rigify rig. Use Convert Blender IK on"):
        bpy.ops.analytic_ik.add()
    assert whole_state() == before
    assert len(bpy.data.objects) == objects


@pytest.mark.parametrize("arms", [False, True])
def test_its_legs_are_refused_in_one_sentence_that_names_the_way(rig, arms):
    select(rig)
    before, collections = whole_state(), len(bpy.data.collections)
    sentence = "Armature 'rig': Rigify moves its limbs by constraints. Use Convert Blender IK instead"
    with pytest.raises(RuntimeError, match=sentence) as refusal:
        bpy.ops.analytic_ik.rig_legs(arms=arms)
    assert len(str(refusal.value)) < 150
    assert whole_state() == before
    assert len(bpy.data.collections) == collections


def test_fk_controls_get_a_chain_that_arrives(rig):
    for name in ("thigh_parent.L", "upper_arm_parent.R"):
        rig.pose.bones[name]["IK_FK"] = 1.0
    enter("POSE", rig, "shin_fk.L")
    assert bpy.ops.analytic_ik.add() == {"FINISHED"}
    target = rig.pose.bones["shin_fk.L"].analytic_ik_target
    target.location.z += 0.1
    foot = evaluated_copy(rig).pose.bones["DEF-foot.L"]
    assert (rig.matrix_world @ foot.head - target.location).length < CLOSE


# What generating carried over


def test_chains_that_generating_carried_over_are_off_and_can_be_removed(carried_over):
    rig = carried_over
    carried = [bone.name for bone in rig.pose.bones if bone.analytic_ik_enabled]
    assert len(carried) == 4 and all(name.startswith("ORG-") for name in carried)
    assert live_tips(rig) == []
    assert len(live_tips(bpy.data.objects["metarig"])) == 4
    for name in carried:
        (warning,) = [each for each in warnings_of(rig, name) if "Rigify" in each.sentence][:1]
        (wanted,) = warning.cures
        before = deforming(rig)
        enter("POSE", rig, name)
        bpy.ops.analytic_ik.cure(kind=wanted.kind, bone=wanted.bone, what=wanted.name)
        assert apart(deforming(rig), before) < EXACT
    assert not any(bone.analytic_ik_enabled for bone in rig.pose.bones)


# Its limbs are converted


def test_converting_all_moves_no_deforming_bone_at_any_keyed_frame_and_comes_back(rig, capfd):
    without_stretch(rig)
    animate(rig)
    before = played(rig)
    go_to(10)
    constraints = {
        (name, ik.name): (ik.mute, ik.influence) for name in LIMBS for ik in rig.pose.bones[name].constraints
    }
    drivers = {(curve.data_path, curve.driver.type): curve.mute for curve in rig.animation_data.drivers}
    assert len(resting(rig.pose.bones)) == 4
    convert(rig)
    said = capfd.readouterr().out
    assert sorted(live_tips(rig)) == sorted(LIMBS)
    assert "Left 'IK.001' of 'MCH-shin_ik.L'" in said and "animation mutes it now" in said
    assert adoptable(rig.pose.bones) == []
    assert farthest(played(rig), before) < CLOSE
    assert not re.search(r"Traceback|cycle", said + capfd.readouterr().out)
    go_to(10)
    assert bpy.ops.analytic_ik.restore(all=True) == {"FINISHED"}
    assert live_tips(rig) == []
    assert {(n, ik.name): (ik.mute, ik.influence) for n in LIMBS for ik in rig.pose.bones[n].constraints} == constraints
    assert {(curve.data_path, curve.driver.type): curve.mute for curve in rig.animation_data.drivers} == drivers
    assert farthest(played(rig), before) < EXACT


def test_the_switch_of_the_pole_works_as_before(rig):
    without_stretch(rig)
    rig.pose.bones["foot_ik.L"].location = (0.0, -0.1, 0.2)
    rig.pose.bones["thigh_ik_target.L"].location = (0.3, 0.0, 0.0)

    by_blender = with_and_without_pole(rig)
    assert apart(by_blender[0], by_blender[1]) > 0.05
    convert(rig)
    assert max(apart(a, b) for a, b in zip(with_and_without_pole(rig), by_blender, strict=True)) < CLOSE


def test_the_stretch_within_reach_is_told_with_its_size(rig, capfd):
    animate(rig)
    before = played(rig, KEYED)
    go_to(1)
    capfd.readouterr()
    convert(rig)
    said = capfd.readouterr().out
    assert "Blender also stretched 'MCH-shin_ik.L', 'MCH-shin_ik.R' and 2 more within reach" in said
    told = re.search(r"Bone 'MCH-shin_ik.L': its chain is up to ([\d.]+) and [\d.]+° off \(frame (\d+)\)", said)
    after = played(rig, KEYED)
    knee = {
        frame: (after[frame]["DEF-shin.L"].translation - before[frame]["DEF-shin.L"].translation).length
        for frame in KEYED
    }
    worst = max(knee, key=knee.get)
    assert knee[worst] > 1e-3
    assert float(told[1]) == pytest.approx(knee[worst], abs=0.02 * knee[worst] + CLOSE)
    assert int(told[2]) == worst


def test_an_override_is_converted_too_and_survives_a_file(rig, generated, tmp_path):
    without_stretch(rig)
    home = bpy.data.collections.new("character")
    bpy.context.scene.collection.children.link(home)
    for collection in rig.users_collection:
        collection.objects.unlink(rig)
    home.objects.link(rig)
    bpy.data.libraries.write(str(tmp_path / "character.blend"), {home}, fake_user=True)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "character.blend"), link=True) as (_, data):
        data.collections = ["character"]
    override = data.collections[0].override_hierarchy_create(
        bpy.context.scene, bpy.context.view_layer, do_fully_editable=True
    )
    assert override
    update()
    ob = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE" and ob.override_library)
    ob.pose.bones["foot_ik.L"].location = (0.0, -0.1, 0.2)
    update()
    before, by_blender = deforming(ob), with_and_without_pole(ob)
    convert(ob)
    assert apart(deforming(ob), before) < CLOSE
    reopened(tmp_path / "shot.blend")
    ob = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE" and ob.override_library)
    update()
    assert apart(deforming(ob), before) < CLOSE
    assert sorted(live_tips(ob)) == sorted(LIMBS)
    assert max(apart(a, b) for a, b in zip(with_and_without_pole(ob), by_blender, strict=True)) < CLOSE


def test_its_converted_limbs_become_native_without_a_dependency_cycle_and_come_back(rig, capfd):
    convert(rig)
    animate(rig)
    live, before = played(rig), whole_state()
    capfd.readouterr()
    enter("POSE", rig)
    assert bpy.ops.analytic_ik.make_native() == {"FINISHED"}
    assert not live_tips(rig)
    native = played(rig)
    said = capfd.readouterr()
    assert "Made 4 chains native" in said.out
    assert "Dependency cycle" not in said.out + said.err
    assert farthest(live, native) < CLOSE
    bpy.ops.analytic_ik.make_live()
    assert len(live_tips(rig)) == 4
    assert farthest(live, played(rig)) < EXACT
    assert whole_state()["actions"] == before["actions"]
