"""Adding a chain is checked: where it moves a bone it is taken back, with a sentence that says which and how far."""

import random
import re
from itertools import pairwise
from math import radians

import bpy
import pytest
from mathutils import Quaternion, Vector

from ik_addon.authoring import controls, rigging
from ik_addon.authoring.controls import ALLOWED, VISIBLE

from ..helpers.everything import differences, everything
from ..rig.rigs import leg, new_empty, update
from ..scenes import pose_of, select, select_bones
from .skeletons import FAMILIES, armature_of

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


def a_body_anywhere(rng: random.Random) -> tuple[bpy.types.Object, float]:
    """A body with two legs of 1.9 cm to 190 m, at most 100 km from the origin, turned and posed; and a leg's length,
    in armature space."""
    scale = rng.choice((1.0, 0.01))
    length = 1.9 * 10.0 ** rng.uniform(-2.0, 2.0) / scale
    bend = rng.choice((0.0, 10.0 ** rng.uniform(-4.0, -0.5)))
    data = bpy.data.armatures.new("body")
    ob = bpy.data.objects.new("body", data)
    bpy.context.collection.objects.link(ob)
    select(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    joints = {"thigh": (0.0, 1.0), "shin": (-bend, 0.5), "foot": (0.0, 0.06), "toe": (-0.12, 0.01), "": (-0.2, 0.0)}
    root = data.edit_bones.new("hips")
    root.head, root.tail = (0.0, 0.0, length), (0.0, 0.0, 1.2 * length)
    for side, x in (("L", 0.1), ("R", -0.1)):
        parent, names = root, [*joints]
        for name, after in pairwise(names):
            bone = data.edit_bones.new(f"{name}.{side}")
            bone.head, bone.tail = (Vector((x, *joints[each])) * length for each in (name, after))
            bone.parent = parent
            parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")

    def direction() -> Vector:
        return Vector([rng.gauss(0.0, 1.0) for _ in range(3)]).normalized()

    far = rng.choice((0.0, 10.0 ** rng.uniform(0.0, 5.0)))
    ob.location, ob.scale, ob.rotation_mode = far * direction(), (scale,) * 3, "QUATERNION"
    ob.rotation_quaternion = Quaternion(direction(), rng.choice((0.0, rng.uniform(0.0, 3.0))))
    if rng.random() < 0.6:
        for bone in ob.pose.bones:
            bone.rotation_quaternion = Quaternion(direction(), rng.uniform(0.0, 0.4))
    pose = pose_of(ob)
    chain = [pose[f"{name}.L"].translation for name in ("thigh", "shin", "foot")]
    return ob, (chain[1] - chain[0]).length + (chain[2] - chain[1]).length


def farthest_move(ob: bpy.types.Object, before: dict, length: float) -> float:
    """How far joints and ends of axes are from where they were, in lengths of the leg."""
    after, moves = pose_of(ob), []
    for name, pose in before.items():
        reach = min(ob.data.bones[name].length, length)
        moves += [(after[name].translation - pose.translation).length]
        moves += [reach * (after[name].col[k].xyz - pose.col[k].xyz).length for k in range(3)]
    return max(moves) / length


@pytest.mark.slow
@pytest.mark.parametrize("block_seed", range(20))
def test_rounding_is_never_refused_and_said_where_it_can_be_seen(block_seed, capfd):
    said = []
    for number in range(50):
        rng = random.Random(50 * block_seed + number)
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        ob, length = a_body_anywhere(rng)
        before, controls_as = pose_of(ob), rng.choice(("EMPTIES", "BONES"))
        capfd.readouterr()
        tips = rng.choice((["shin.L"], ["shin.L", "shin.R"]))
        if len(tips) == 1:
            select_bones(ob, *tips)
            bpy.ops.analytic_ik.add(controls=controls_as)
        else:
            select_bones(ob)
            bpy.ops.analytic_ik.rig_legs(controls=controls_as)
        update()
        out = capfd.readouterr().out
        assert {bone.name for bone in ob.pose.bones if bone.analytic_ik_enabled} == {*tips}, out
        moved = farthest_move(ob, before, length)
        warned = re.search(r"Warning: Bone '[\w.]+' moved by [\d.e+-]+ ?\w*: so far from the origin", out)
        # After the second leg the first is rounded otherwise.
        either_way = 1.02 if len(tips) == 1 else 2.0
        if not 1.0 / either_way < moved / VISIBLE < either_way:
            assert bool(warned) == (moved > VISIBLE), (number, moved, out)
        said.append(bool(warned))
    assert any(said)
    assert not all(said)
