"""What cannot be native is refused with what to do instead, and nothing is changed."""

from collections.abc import Callable
from math import radians

import bpy
import pytest

from ik_addon.authoring.knees import limit_knees
from ik_addon.native import making
from ik_addon.solvers import ChainError

from ..changes import setting
from ..helpers.feet import follow, footed_leg
from ..rig.rigs import Rig, update
from ..scenes import key_fk, link_from_library, linked, second_chain, walking_leg
from .natives import all_there_is, any_rig, changed, live, native

pytestmark = pytest.mark.versions


def leg_with(of: str, **values: object) -> Callable[[], Rig]:
    """A walking leg with these properties of something of it."""
    return lambda: setting(of, **values)(walking_leg())


def shared() -> Rig:
    rig = walking_leg()
    other = bpy.data.objects.new("twin", rig.ob.data)
    bpy.context.scene.collection.objects.link(other)
    return rig


def setting_keyed(name: str) -> Rig:
    rig = walking_leg()
    rig.tip.keyframe_insert(f"analytic_ik_{name}", frame=1)
    return rig


def name_taken() -> Rig:
    rig = walking_leg()
    rig.tip["ik_swivel"] = 1.0
    return rig


def keyed_in_a_linked_action(tmp_path) -> Rig:
    rig = walking_leg()
    rig.tip.keyframe_insert("analytic_ik_swivel", frame=1)
    data = rig.ob.animation_data
    own = data.action
    data.action = None
    found = linked(own, tmp_path)
    data.action = found
    if hasattr(data, "action_slot"):
        data.action_slot = found.slots[0]
    return rig


def many(**settings: object) -> Rig:
    rig = any_rig(3, 3)
    rig.enable(**settings)
    return rig


def flipped_knee() -> Rig:
    rig = walking_leg(flip=True)
    limit_knees(bpy.context, [rig.tip], radians(5.0), radians(120.0))
    return rig


def toe_not_inheriting() -> Rig:
    rig = footed_leg()
    follow(rig, foot_roll=0.3)
    rig.ob.data.bones["toe"].use_inherit_rotation = False
    return rig


def driven() -> Rig:
    rig = walking_leg()
    rig.ob.pose.bones["thigh"].driver_add("location", 0)
    return rig


def keyed() -> Rig:
    rig = walking_leg()
    key_fk(rig)
    return rig


def constrained() -> Rig:
    rig = walking_leg()
    rig.ob.pose.bones["thigh"].constraints.new("LIMIT_ROTATION").use_limit_x = True
    return rig


def foot_on_a_mirrored_target() -> Rig:
    """Blender copies the rotation of a mirrored object otherwise than its axes are turned."""
    rig = footed_leg()
    rig.target.ob.scale = (-1.0, 1.0, 1.0)
    rig.target.ob.rotation_euler = (0.3, 0.5, 0.2)
    follow(rig)
    return rig


REFUSED = {
    "shared": (shared, "Armature 'leg' shares its bones with 'twin'. Make its data single-user"),
    "reach": (lambda: setting_keyed("reach"), "Bone 'shin': setting 'Out of Reach' is animated. Mute its keys"),
    "rotation": (lambda: setting_keyed("use_rotation"), "Bone 'shin': setting 'Follow Rotation' is animated"),
    "name": (name_taken, "Bone 'shin': it already has a custom property 'ik_swivel'. Rename or remove that first"),
    "body": (
        leg_with("hips", analytic_ik_body_influence=1.0),
        "Bone 'shin': bone 'hips' follows its limbs. Bake it, or set its Body Follows to 0",
    ),
    "CCD": (
        lambda: walking_leg(solver="CCD"),
        "Bone 'shin': its Solver is CCD, which has no native form. Set it to Automatic, or bake the chain",
    ),
    "flip": (lambda: many(flip=True), "its Flip Bend has no native form. Switch it off"),
    "least motion": (lambda: many(least_motion=True), "Preserve FK Shape has no native form. Switch it off"),
    "cone": (
        leg_with("tip", analytic_ik_use_cone=True, analytic_ik_cone=1.0),
        "Bone 'shin': the Max Bend of bone 'shin' has no native form",
    ),
    "root": (
        leg_with("thigh", use_ik_limit_x=True, ik_max_x=1.0),
        "Bone 'shin': the IK limits of bone 'thigh' have no native form",
    ),
    "flipped knee": (flipped_knee, "Bone 'shin': its Flip Bend has no native form"),
    "uneven": (
        leg_with("hips", scale=(1.0, 1.4, 1.0)),
        "Bone 'shin': bone 'hips' is scaled unevenly or mirrored. Scale it evenly",
    ),
    "inherit": (
        leg_with("shin.bone", use_inherit_rotation=False),
        "Bone 'shin': bone 'shin' does not inherit rotation. Switch on its Inherit Rotation",
    ),
    "toe": (toe_not_inheriting, "Bone 'shin': bone 'toe' does not inherit rotation"),
    "driven": (driven, "Bone 'shin': a driver moves bone 'thigh'. Mute the driver, or bake the chain"),
    "keyed": (keyed, "Bone 'shin': bone 'thigh' has FK keys below the chain. Mute them, or bake the chain"),
    "constrained": (constrained, "Bone 'shin': constraint 'Limit Rotation' moves bone 'thigh'. Mute it, or bake"),
    "foot": (foot_on_a_mirrored_target, "Bone 'shin': as constraints it would be off by"),
    # Blender blends a constraint in the world, where such an object shears its bones.
    "measured": (
        lambda: setting("ob", scale=(1.0, 2.0, 0.7))(walking_leg(influence=0.5)),
        "Bone 'shin': as constraints it would be off by",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_native_is_refused_and_nothing_is_changed(case):
    prepare, sentence = REFUSED[case]
    rig = prepare()
    update()
    before = all_there_is(rig.ob)
    with pytest.raises(ChainError) as refusal:
        native(rig)
    assert sentence in str(refusal.value)
    assert changed(before, all_there_is(rig.ob)) == {}


def test_keys_in_a_linked_action_cannot_move(tmp_path):
    rig = keyed_in_a_linked_action(tmp_path)
    with pytest.raises(ChainError, match="Bone 'shin': action 'legAction' has keys of its settings and is linked"):
        native(rig)


def test_a_linked_or_overridden_armature_gets_no_bones(tmp_path):
    ob = link_from_library(walking_leg().ob, tmp_path)
    override = ob.override_create()
    bpy.context.scene.collection.objects.link(override)
    override.override_library.is_system_override = False
    update()
    with pytest.raises(ChainError, match="gets no new bones, for it is linked or overridden"):
        making.make_native(bpy.context, [override.pose.bones["shin"]])


def test_what_can_be_native_is_where_another_chain_cannot():
    rig = walking_leg()
    rig.ob.pose.bones["foot"].analytic_ik_target = rig.target.ob
    second = second_chain(rig, "foot", 1)
    second.analytic_ik_use_cone, second.analytic_ik_cone = True, 1.0
    update()
    done = making.make_native(bpy.context, [rig.tip, second])
    assert done.tips == ("shin",)
    assert [sentence.partition(":")[0] for sentence in done.left] == ["Bone 'foot'"]
    live(rig)
    assert rig.tip.analytic_ik_enabled


@pytest.mark.parametrize("broken", ["wire", "measure", "make_bones"])
def test_whatever_goes_wrong_in_the_middle_leaves_nothing(broken, monkeypatch):
    rig = walking_leg(swivel=0.3)
    rig.tip.keyframe_insert("analytic_ik_swivel", frame=1)
    update()
    before = all_there_is(rig.ob)

    def fail(*_: object) -> None:
        raise KeyError(broken)

    monkeypatch.setattr(making, broken, fail)
    with pytest.raises(KeyError, match=broken):
        native(rig)
    update()
    assert changed(before, all_there_is(rig.ob)) == {}
