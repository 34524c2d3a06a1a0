"""What cannot be baked is refused in one sentence that names it and its cure, and nothing has changed."""

import re

import bpy
import pytest

from ik_addon.bake import bake, chains_of
from ik_addon.solvers import ChainError

from ..changes import setting
from ..rig.keys import push_down
from ..rig.rigs import Rig, update
from ..scenes import go_to, link_from_library, refuses, second_chain, slide, walking_leg, whole_state


def drive_rotation(rig: Rig) -> None:
    rig.ob.pose.bones["thigh"].driver_add("rotation_quaternion", 1)


def blend(rig: Rig) -> None:
    rig.ob.animation_data_create().action_blend_type = "ADD"


def half_an_action(rig: Rig) -> None:
    rig.ob.animation_data_create().action_influence = 0.5


def tweak(rig: Rig) -> None:
    slide(rig.ob, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    push_down(rig.ob, mute=False)
    rig.ob.animation_data.nla_tracks[0].select = True
    rig.ob.animation_data.nla_tracks[0].strips[0].select = True
    rig.ob.animation_data.nla_tracks.active = rig.ob.animation_data.nla_tracks[0]
    rig.ob.animation_data.use_tweak_mode = True
    assert rig.ob.animation_data.use_tweak_mode


def solo(rig: Rig) -> None:
    rig.ob.animation_data_create().nla_tracks.new().is_solo = True


lose_target = setting("tip", analytic_ik_target=None)


def share_a_bone(rig: Rig) -> None:
    second_chain(rig, "foot", 2)


def take_out_of_the_scene(rig: Rig) -> None:
    bpy.context.scene.collection.objects.unlink(rig.ob)


def obstruct(rig: Rig, obstacle) -> None:
    obstacle(rig)
    # Bones whose chain has ended take their FK pose at the next update, whoever asks for it.
    update()


OBSTACLES = {
    drive_rotation: r"Bone 'thigh': a driver sets its rotation .*. Remove that driver",
    blend: r"Armature 'leg': .*. Set its blending to Replace",
    half_an_action: r"Armature 'leg': .* its influence to 1",
    solo: r"Armature 'leg' plays one NLA track alone and not its action. Turn that Solo off",
    tweak: r"Armature 'leg' is in NLA tweak mode. Leave it",
    lose_target: r"Bone 'shin': there is no target. Choose an object",
    setting(
        "tip", analytic_ik_chain_count=7
    ): r"Bone 'shin': its chain needs \d+ bones and has 3 up to the root\. Set Chain Length to 3",
    setting("ob.data", pose_position="REST"): r"Armature 'leg' is in Rest Position. Switch it",
    share_a_bone: r"Bone '(foot|shin)': its bone 'shin' already belongs to the chain of '(foot|shin)'. Lower",
    take_out_of_the_scene: r"Armature 'leg' is not in this scene. Link it",
}


def refused(ob: bpy.types.Object, action: str = "COPY") -> str:
    """The sentence of the refusal; that nothing was changed is part of every test."""
    go_to(5.5)
    before, count = whole_state(), len(bpy.data.objects)
    with pytest.raises(ChainError) as refusal:
        bake(bpy.context, chains_of([ob]), range(1, 10), action)
    sentence = str(refusal.value)
    assert whole_state() == before
    assert len(bpy.data.objects) == count
    assert "\n" not in sentence
    assert re.match(r"(Bone|Armature|Action) '.+\. .+\.$", sentence), sentence
    return sentence


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_an_obstacle_is_named_with_its_cure_and_nothing_changes(obstacle):
    rig = walking_leg()
    obstruct(rig, obstacle)
    assert re.match(OBSTACLES[obstacle], refused(rig.ob))


@pytest.mark.some(1)
@pytest.mark.parametrize("obstacle", [drive_rotation, blend, lose_target])
def test_one_armature_that_cannot_be_baked_keeps_the_others_from_being_changed(obstacle):
    good, bad = walking_leg("good", 1.0), walking_leg()
    obstruct(bad, obstacle)
    with refuses(ChainError, r"'(thigh|leg|shin)'"):
        bake(bpy.context, chains_of([good.ob, bad.ob]), range(1, 10))


def test_a_linked_action_is_refused_as_the_place_for_keys_but_not_as_a_model(tmp_path):
    rig = walking_leg()
    slide(rig.ob, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    override_of_linked(rig, tmp_path)
    ob = bpy.data.objects["leg"]
    assert ob.override_library
    assert not ob.animation_data.action.is_editable
    name = ob.animation_data.action.name
    assert refused(ob, "CURRENT") == f"Action '{name}' is linked. Bake to a copy or to a new action."
    bake(bpy.context, chains_of([ob]), range(1, 10), "COPY")
    assert ob.animation_data.action.is_editable


def override_of_linked(rig: Rig, folder) -> None:
    linked = link_from_library(rig.ob, folder)
    for ob in (linked, bpy.data.objects["leg target"]):
        collections = list(ob.users_collection)
        made = ob.override_create(remap_local_usages=True)
        for collection in collections:
            if made.name not in collection.objects:
                collection.objects.link(made)
    update()


@pytest.mark.parametrize("operator", ["bake", "check"])
def test_an_end_before_the_start_is_refused(operator):
    rig = walking_leg()
    bpy.context.view_layer.objects.active = rig.ob
    with refuses(RuntimeError, r"The last frame \(3\) is before the first \(9\). Swap them"):
        getattr(bpy.ops.analytic_ik, operator)(frame_start=9, frame_end=3)


def test_no_frames_are_refused():
    rig = walking_leg()
    with refuses(ChainError, r"^The frame range is empty, its last frame is before its first. Swap"):
        bake(bpy.context, chains_of([rig.ob]), range(9, 4))


def test_a_chain_that_breaks_mid_way_is_refused_with_its_frame():
    rig = walking_leg()
    rig.target.ob.keyframe_insert("location", index=0, frame=6)
    for name in rig.bones:
        bone = rig.ob.pose.bones[name]
        for frame, size in ((1, 1.0), (5, 1.0), (6, 0.0)):
            bone.scale = (size, size, size)
            bone.keyframe_insert("scale", frame=frame)
    go_to(1)
    with refuses(ChainError, r"Frame 6: Bone 'shin': .*no length"):
        bake(bpy.context, chains_of([rig.ob]), range(1, 10))
