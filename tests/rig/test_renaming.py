"""Bones that are renamed in Edit Mode, where Blender's evaluated copies have the old names until it is left."""

from random import Random

import bpy
import pytest

from ..scenes import EXACT, go_to
from .keys import key
from .rigs import BoneSpec, Control, Rig, make_chain, new_armature, new_empty, pose_values, update

pytestmark = pytest.mark.versions

SIDES = {"L": 0.3, "R": -0.3}
FRAMES = range(1, 13)


def two_legs() -> tuple[bpy.types.Object, list[Rig]]:
    """Two legs that follow bones, with keys on switch, influence, roll and swivel. The left one is off at frames 4-6,
    and fades from 7 to 9."""
    specs = [BoneSpec("hips", (0.0, 0.5, 2.0), (0.0, 0.0, 2.0))]
    for side, x in SIDES.items():
        specs += [
            BoneSpec(f"thigh.{side}", (x, 0.0, 2.0), (x, -0.2, 1.0), "hips"),
            BoneSpec(f"shin.{side}", (x, -0.2, 1.0), (x, 0.0, 0.0), f"thigh.{side}", connect=True),
            BoneSpec(f"foot.{side}", (x, 0.0, 0.0), (x, -0.4, 0.0), f"shin.{side}", connect=True),
            BoneSpec(f"control.{side}", (x, 0.0, 0.0), (x, 0.3, 0.0)),
        ]
    ob, rigs = new_armature("legs", specs), []
    for side in SIDES:
        rig = Rig(ob, [f"thigh.{side}", f"shin.{side}"], Control(ob, f"control.{side}"))
        key(
            ob.pose.bones[f"control.{side}"],
            "location",
            [(0.0, -0.2, 0.3), (0.1, 0.2, 0.4), (0.0, -0.3, 0.6), (0.0, 0.0, 0.3)],
        )
        make_chain(rig.tip, rig.target, Control(new_empty(f"pole {side}", (0.0, -3.0, 1.0))), chain_count=2)
        rigs.append(rig)
    tip = rigs[0].tip
    for frame, on in ((1, True), (4, False), (7, True)):
        tip.analytic_ik_enabled = on
        tip.keyframe_insert("analytic_ik_enabled", frame=frame)
    key_values(tip, "influence", {6: 1.0, 8: 0.4, 9: 1.0})
    key_values(rigs[1].tip, "influence", {1: 1.0, 12: 1.0})
    key_values(rigs[1].tip, "foot_roll", {1: 0.0, 12: 0.0})
    key_values(tip, "swivel", {1: 0.0, 12: 0.4})
    go_to(1)
    return ob, rigs


def key_values(tip: bpy.types.PoseBone, name: str, values: dict[int, float]) -> None:
    for frame, value in values.items():
        setattr(tip, f"analytic_ik_{name}", value)
        tip.keyframe_insert(f"analytic_ik_{name}", frame=frame)


def shown(ob: bpy.types.Object, frames=FRAMES) -> list[list[tuple[float, ...]]]:
    """The rotations that an armature shows at each frame, by the places of its bones."""
    found = []
    for frame in frames:
        go_to(frame)
        found.append([*pose_values(ob).values()])
    return found


def same(now: list, before: list) -> bool:
    return all(
        abs(a - b) < EXACT
        for frame_now, frame_before in zip(now, before, strict=True)
        for bone_now, bone_before in zip(frame_now, frame_before, strict=True)
        for a, b in zip(bone_now, bone_before, strict=True)
    )


def rename(ob: bpy.types.Object, random: Random) -> bool:
    """Rename some bones in Edit Mode, as typing into the name field does: what is taken gets a number. Whether another
    frame was shown meanwhile, which Blender does not animate there."""
    bones, went = ob.data.edit_bones, False
    for bone in random.sample([*bones], random.randint(1, len(bones))):
        bone.name = random.choice(["x", "thigh.L", "shin.R", 'a "b"]', "bone", f"{random.random()}"])
        if random.random() < 0.3:
            update()
        if random.random() < 0.2:
            go_to(random.choice(FRAMES))
            went = True
    return went


@pytest.mark.some(4)
@pytest.mark.parametrize("with_a_copy", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_poses_are_as_before_and_nothing_is_printed(seed, with_a_copy, capfd):
    random = Random(seed)
    ob, _ = two_legs()
    before = shown(ob)
    if with_a_copy:
        # It is shown in a pose while the other is edited.
        copy = ob.copy()
        bpy.context.scene.collection.objects.link(copy)
        update()
    go_to(random.choice(FRAMES))
    for _ in range(3):
        bpy.context.view_layer.objects.active = ob
        bpy.ops.object.mode_set(mode="EDIT")
        went = rename(ob, random)
        bpy.ops.object.mode_set(mode="OBJECT")
        now = [[*pose_values(ob).values()]]
        assert went or same(now, [before[bpy.context.scene.frame_current - 1]]), "when Edit Mode is left"
        assert same(shown(ob), before)
        if with_a_copy:
            assert same(shown(copy), before)
        go_to(random.choice(FRAMES))
    said = capfd.readouterr()
    assert said.out + said.err == ""


def rename_all(ob: bpy.types.Object, names: dict[str, str]) -> None:
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for old, new in names.items():
        ob.data.edit_bones[old].name = new
    bpy.ops.object.mode_set(mode="OBJECT")


def test_a_tip_with_a_keyed_switch_is_renamed(capfd):
    ob, (rig, _) = two_legs()
    before = shown(ob)
    go_to(2)
    rename_all(ob, {"shin.L": "x"})
    rig.bones[-1] = "x"
    assert rig.missed() < EXACT
    assert same(shown(ob), before)
    assert "Traceback" not in capfd.readouterr().out


def test_a_control_gets_the_name_that_a_tip_had():
    ob, _ = two_legs()
    before = shown(ob)
    rename_all(ob, {"shin.R": "x", "control.L": "shin.R"})
    assert same(shown(ob), before)
    assert ob.pose.bones["shin.R"].analytic_ik_target is None, "a control is no chain"
    assert ob.pose.bones["shin.L"].analytic_ik_subtarget == "shin.R"
