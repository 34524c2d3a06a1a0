"""Adding a chain is checked: where it moves a bone it is taken back, with a sentence that says which and how far."""

import re
from math import radians

import bpy
import pytest
from mathutils import Vector

from ik_addon.authoring import controls, rigging
from ik_addon.authoring.unmoved import ALLOWED

from ..rig.rigs import leg, new_empty, update
from ..scenes import pose_of, select, select_bones
from .skeletons import FAMILIES, armature_of
from .test_all_or_nothing import differences, everything

LENGTH = 2.0 * (1.0 + 0.2**2) ** 0.5
"""Of the leg of rigs.py."""


def misplace_targets(monkeypatch: pytest.MonkeyPatch, way: float, times: int = 1) -> None:
    """Plant a defect: the next targets are made so far beside the limb's end, in chain lengths."""
    place, left = controls.target_place, [way] * times

    def misplaced(joints, chain):
        return place(joints, chain) + Vector((0.0, 0.0, left.pop() * chain.length if left else 0.0))

    monkeypatch.setattr(controls, "target_place", misplaced)


def add(*selected: bpy.types.Object) -> bpy.types.Object:
    ob = bpy.data.objects["leg"]
    update()
    select(ob, *selected, active=ob)
    select_bones(ob, "shin")
    bpy.ops.analytic_ik.add()
    update()
    return ob


def test_a_chain_that_moves_a_bone_is_taken_back_with_a_sentence(monkeypatch):
    rig = leg()
    select(rig.ob)
    select_bones(rig.ob, "shin")
    before = everything()
    misplace_targets(monkeypatch, 0.01)
    with pytest.raises(RuntimeError) as refusal:
        add()
    found = re.search(r"Bone 'shin': bone '(\w+)' would move by ([\d.]+). Look for constraints, ", str(refusal.value))
    assert found and found[1] in ("shin", "foot", "thigh")
    # The end itself moved by 0.01 of the limb, and bones on their way there by some times as much.
    assert 0.01 * LENGTH <= float(found[2]) <= 0.05 * LENGTH
    assert differences(before, everything()) == []


@pytest.mark.parametrize(("part", "refused"), [(0.2, False), (3.0, True)])
def test_what_is_allowed_is_a_part_of_the_limb(part, refused, monkeypatch):
    rig = leg()
    # In any unit: the leg is large, and its object small.
    rig.ob.scale = (0.01, 0.01, 0.01)
    update()
    misplace_targets(monkeypatch, part * ALLOWED)
    if refused:
        with pytest.raises(RuntimeError, match="would move by"):
            add()
    else:
        assert add().pose.bones["shin"].analytic_ik_enabled


def test_a_chosen_target_may_move_the_limb():
    leg()
    before = pose_of(bpy.data.objects["leg"])
    ob = add(new_empty("chosen", (0.0, -0.4, 0.7)))
    assert (pose_of(ob)["foot"].translation - Vector((0.0, -0.4, 0.7))).length < 1e-5
    assert (before["foot"].translation - pose_of(ob)["foot"].translation).length > 0.5


def rig_a_human() -> tuple[bpy.types.Object, list]:
    ob = armature_of(FAMILIES[0].bones())
    select(ob)
    select_bones(ob)
    update()
    return ob, [limb for limb in FAMILIES[0].found() if limb.kind == "LEG"]


def test_a_leg_that_would_move_is_left_out_and_the_other_is_rigged(monkeypatch, capfd):
    ob, legs = rig_a_human()
    before = pose_of(ob)
    misplace_targets(monkeypatch, 0.01)
    assert bpy.ops.analytic_ik.rig_legs() == {"FINISHED"}
    update()
    tips = [bone.name for bone in ob.pose.bones if bone.analytic_ik_enabled]
    assert len(tips) == len(legs) - 1
    [missing] = {leg.bones[-1] for leg in legs} - set(tips)
    said = capfd.readouterr().out
    assert re.search(rf"Left out '{missing}': Bone '{missing}': bone '.*' would move by [\d.e-]+. Look for ", said)
    assert {ob.name for ob in bpy.data.collections[0].objects} == {
        control.name
        for tip in tips
        for control in (ob.pose.bones[tip].analytic_ik_target, ob.pose.bones[tip].analytic_ik_pole_target)
    }
    # With the trigger that ties the chain to its armature.
    assert len(bpy.data.objects) == 4
    for name, pose in before.items():
        assert (pose_of(ob)[name].translation - pose.translation).length < 1e-5


def test_where_all_would_move_nothing_is_left(monkeypatch):
    rig_a_human()
    before = everything()
    misplace_targets(monkeypatch, 0.01, times=2)
    with pytest.raises(RuntimeError, match="would move by"):
        bpy.ops.analytic_ik.rig_legs()
    assert differences(before, everything()) == []


def test_a_bone_anywhere_that_turns_counts_by_the_way_of_its_end(monkeypatch):
    ob, legs = rig_a_human()
    in_legs = {name for leg in legs for name in (*leg.bones, leg.end, leg.toe)}
    head = next(bone for bone in ob.pose.bones if not bone.children and bone.name not in in_legs)
    add_chain = rigging.add_chain

    def turn_the_head(*args, **options):
        head.rotation_mode = "XYZ"
        head.rotation_euler.x += radians(2.0)
        return add_chain(*args, **options)

    monkeypatch.setattr(rigging, "add_chain", turn_the_head)
    before = everything()
    with pytest.raises(RuntimeError) as refusal:
        bpy.ops.analytic_ik.rig_legs()
    found = re.search(r"bone '([^']+)' would move by ([\d.e-]+)\. ", str(refusal.value))
    assert found and found[1] == head.name
    assert float(found[2]) == pytest.approx(radians(2.0) * head.bone.length, rel=0.02)
    left = differences(before, everything())
    assert all(line.endswith("became ('XYZ', True)") for line in left), "its rotation mode alone is not ours"
