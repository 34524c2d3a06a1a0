"""Taking a chain off a limb: with the pose it has or the FK pose it had, with its controls or without."""

import bpy
import pytest

from ..rig.rigs import Rig, leg, pose_values, random_rig, reachable_point, update
from ..scenes import EXACT, apart, bone_state, enter, go_to, pose_of, second_chain

pytestmark = pytest.mark.versions


def live_rig(seed: int) -> tuple[Rig, dict]:
    """A live chain on an armature of any kind, and the rotations of before."""
    rig = random_rig(seed, with_pole=False)
    rig.place_target(reachable_point(rig))
    fk = pose_values(rig.ob)
    rig.enable()
    assert pose_values(rig.ob) != fk
    return rig, fk


def remove(rig: Rig, *tips: str, mode: str = "POSE", **options) -> None:
    enter(mode, rig.ob, *(tips or rig.bones[-1:]))
    assert bpy.ops.analytic_ik.remove(**options) == {"FINISHED"}
    update()


@pytest.mark.parametrize("mode", ["OBJECT", "POSE"])
@pytest.mark.parametrize("seed", range(20))
def test_the_bones_stay_where_they_are(seed, mode):
    rig, _ = live_rig(seed)
    before, length = pose_of(rig.ob), sum(rig.lengths())
    remove(rig, mode=mode)
    assert apart(pose_of(rig.ob), before, length) < EXACT
    go_to(5)
    assert apart(pose_of(rig.ob), before, length) < EXACT


@pytest.mark.parametrize("seed", range(20))
def test_or_they_get_their_fk_pose_back_bit_for_bit(seed):
    rig, fk = live_rig(seed)
    remove(rig, keep_pose=False)
    assert pose_values(rig.ob) == fk
    go_to(5)
    assert pose_values(rig.ob) == fk


@pytest.mark.parametrize("keep_pose", [True, False])
def test_nothing_of_the_chain_is_left(keep_pose):
    fresh = bone_state(leg("fresh").tip)
    rig = leg()
    rig.enable(flip=True, softness=0.2, swivel=1.0, reach="HOLD", solver="CIRCLE", influence=0.5)
    remove(rig, keep_pose=keep_pose)
    left = bone_state(rig.tip)
    for name in fresh:
        if name.startswith("analytic_ik_") and not name.startswith("analytic_ik_record_"):
            assert left[name] == fresh[name], name
    assert not rig.tip.constraints and not any(ob.name.startswith("Analytic IK") for ob in bpy.data.objects)


@pytest.mark.parametrize("delete_controls", [True, False])
def test_the_controls_are_deleted_only_when_asked_for(delete_controls):
    rig = leg()
    enter("OBJECT", rig.ob, "shin")
    bpy.ops.analytic_ik.add()
    remove(rig, delete_controls=delete_controls)
    assert ("shin target" in bpy.data.objects) is not delete_controls
    assert ("shin pole" in bpy.data.objects) is not delete_controls
    assert "leg target" in bpy.data.objects


def test_a_control_that_another_chain_follows_stays():
    rig, other = leg(), leg("other", side=0.3)
    shared = rig.target.ob
    other.target = rig.target
    rig.enable()
    other.enable()
    remove(rig, delete_controls=True)
    assert shared.name in bpy.data.objects
    assert other.tip.analytic_ik_target == shared
    remove(other, delete_controls=True)
    assert "leg target" not in bpy.data.objects


def test_only_empties_are_deleted():
    rig, other = leg(), leg("other", side=0.3)
    rig.enable()
    rig.tip.analytic_ik_target = other.ob
    remove(rig, delete_controls=True)
    assert "other" in bpy.data.objects


def test_all_selected_tips_are_freed_and_no_other():
    rig = leg()
    rig.enable()
    foot = second_chain(rig, "foot", 1)
    remove(rig, "thigh", "foot")
    assert (rig.tip.analytic_ik_enabled, foot.analytic_ik_enabled) == (True, False)
    remove(rig, "shin", "foot")
    assert rig.tip.analytic_ik_target is None
