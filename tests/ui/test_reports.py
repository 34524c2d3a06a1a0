"""What operators say when they are done, or wonder: whole sentences, with every name as it is."""

import json
from collections.abc import Callable

import bpy
import pytest

from ik_addon.authoring import adopt as adopting
from ik_addon.authoring.adopt import Adopted, Adoption
from ik_addon.rig.status.problems import notes_of

from ..authoring.skeletons import FAMILIES, armature_of
from ..bake.entries import entry
from ..rig.rigs import BoneSpec, Rig, leg, new_armature, new_empty, update
from ..scenes import enter, go_to, refuses, select, slide

TIP = 'shin "L" {0} {bone} %s \\ 足'
"""What is in a bone's name is nobody's business."""


def named_leg(**settings: object) -> Rig:
    """A live leg that walks, its tip with a name that only a careful program gets right."""
    rig = sleeping_leg()
    slide(rig.target.ob, (0.0, -0.6, 0.5), (0.2, 0.5, 0.3))
    rig.enable(**settings)
    go_to(1)
    return rig


def sleeping_leg() -> Rig:
    rig = leg()
    rig.ob.pose.bones["shin"].name = TIP
    rig.bones[-1] = TIP
    update()
    return rig


def add() -> None:
    enter("POSE", sleeping_leg().ob, TIP)
    bpy.ops.analytic_ik.add()


def with_chain(call: Callable[[], object]) -> Callable[[], None]:
    def press() -> None:
        enter("POSE", named_leg().ob, TIP)
        call()

    return press


def adopted() -> None:
    rig = sleeping_leg()
    ik = rig.tip.constraints.new("IK")
    ik.target, ik.chain_count = rig.target.ob, 2
    rig.target.place((0.1, -0.4, 0.4))
    enter("POSE", rig.ob, TIP)
    bpy.ops.analytic_ik.adopt()


def adopted_and_restored() -> None:
    adopted()
    bpy.ops.analytic_ik.restore()


def with_report(*entries: dict) -> None:
    rig = named_leg()
    rig.ob.analytic_ik_report = json.dumps({"file": "", "frames": [1, 12, 1], "seconds": 0.1, "chains": entries})
    enter("POSE", rig.ob, TIP)


def marked(*ranges: tuple[int, int]) -> None:
    with_report(entry(unreached_frames=ranges))
    bpy.ops.analytic_ik.mark_problems()


def unmarked(*ranges: tuple[int, int]) -> None:
    marked(*ranges)
    bpy.ops.analytic_ik.clear_marks()


def copied(form: str) -> None:
    with_report(entry())
    bpy.ops.analytic_ik.copy_certificate(form=form)


def unlocked_interface() -> None:
    bpy.context.scene.render.use_lock_interface = False
    bpy.ops.analytic_ik.lock_interface()


ik = bpy.ops.analytic_ik
SAID = {
    "add": (add, f"Added a 2-bone chain thigh > {TIP}, ending at 'foot'. Move '{TIP} target' to pose it"),
    "remove": (with_chain(lambda: ik.remove()), f"Removed the chain of {TIP}"),
    "limit_knees": (with_chain(lambda: ik.limit_knees()), f"Limited '{TIP}' (around its X axis)"),
    "snap_targets": (
        with_chain(lambda: ik.snap_targets()),
        f"Snapped 1 chain at frame 1, with a pole target, the new Empty '{TIP} pole'",
    ),
    "snap_pose": (with_chain(lambda: ik.snap_pose()), "Snapped the pose of 1 chain at frame 1\n"),
    "adopt": (adopted, f"Converted 'IK' of '{TIP}'"),
    "restore": (adopted_and_restored, "Reverted 'IK'"),
    "select": (with_chain(lambda: ik.select_chain(tip=TIP)), f"Selected '{TIP}'"),
    "check": (
        with_chain(lambda: ik.check(frame_start=1, frame_end=3)),
        "Checked 1 chain, frames 1-3",
    ),
    "go to frame": (with_chain(lambda: ik.go_to_frame(frame=7)), "Frame 7\n"),
    "go to bone": (with_chain(lambda: ik.go_to_frame(frame=7, bone=TIP)), f"Frame 7: '{TIP}'"),
    "bone is gone": (
        with_chain(lambda: ik.go_to_frame(frame=7, bone="{gone}")),
        "Armature 'leg' no longer has a bone '{gone}'. Check its chains again",
    ),
    "nothing to mark": (marked, "Nothing to mark: no chain misses its target or is close to a flip"),
    "one marker": (lambda: marked((2, 3)), "1 marker added\n"),
    "two markers": (lambda: marked((2, 3), (5, 5)), "2 markers added\n"),
    "one marker off": (lambda: unmarked((2, 3)), "1 marker removed\n"),
    "two markers off": (lambda: unmarked((2, 3), (5, 5)), "2 markers removed\n"),
    "copy": (lambda: copied("TEXT"), " lines copied"),
    "make native": (
        with_chain(lambda: ik.make_native()),
        "Made 1 chain native with 4 helper bones, within ",
    ),
    "make live": (with_chain(lambda: (ik.make_native(), ik.make_live(only_selected=True))), "Made 1 chain live\n"),
    "lock": (unlocked_interface, "The interface is locked while rendering\n"),
}


@pytest.mark.parametrize("case", SAID)
def test_it_says_what_was_done_and_to_what(case, capfd):
    press, sentence = SAID[case]
    press()
    said = capfd.readouterr().out
    assert sentence in said
    assert "Error" not in said


def test_joints_that_adoption_moved_are_told_with_the_reason(monkeypatch, capfd):
    rig = sleeping_leg()
    rig.tip.constraints.new("IK").target = rig.target.ob
    one = Adopted(TIP, "{IK}", 0.0123, 0.02461, 0.1, 7, "with a pole Blender ignores the limits of the first bone")
    done = Adoption(
        (one,),
        ("Bone 'toe': constraint 'IK' has no target. Choose one, or mute it",),
        (TIP,),
    )
    monkeypatch.setattr(adopting, "adopt", lambda context, held: done)
    enter("POSE", rig.ob, TIP)
    ik.adopt()
    said = capfd.readouterr().out
    assert f"Warning: Bone '{TIP}': its chain is up to 0.0246 and 5.7° off (frame 7): {one.because}\n" in said
    assert f"Warning: Blender also stretched '{TIP}' within reach, and a chain does not. " in said
    assert f"Warning: {done.left[0]}\n" in said
    assert f"Converted '{{IK}}' of '{TIP}'\n" in said


@pytest.mark.parametrize(
    ("operator", "lacks"),
    [
        ("adopt", "has an IK constraint. Select the bone that has it"),
        ("restore", "has a converted chain. Select its tip bone"),
    ],
)
def test_a_selection_without_what_is_meant_is_refused(operator, lacks):
    adopted()
    rig = bpy.context.object
    rig.pose.bones["hips"].constraints.new("IK")
    enter("POSE", rig, "thigh")
    with refuses(RuntimeError, f"Armature 'leg': no selected bone {lacks}"):
        getattr(ik, operator)()


def test_one_bone_with_keys_under_its_chain_is_named():
    rig = named_leg()
    rig.target.ob.animation_data_clear()
    for frame in (1, 9):
        rig.tip.rotation_quaternion = (1.0, 0.1 * frame, 0.0, 0.0)
        rig.tip.keyframe_insert("rotation_quaternion", frame=frame)
    assert [note.sentence for note in notes_of(rig.ob, TIP)] == [
        f"Bone '{TIP}' has keys, and the controls do not follow them. Snap the controls, or mute the keys"
    ]


# Legs


def test_rigging_names_what_follows_what_and_what_was_left_out(capfd):
    ob = armature_of(FAMILIES[0].bones())
    left, right = (limb for limb in FAMILIES[0].found() if limb.kind == "LEG")
    made = ob.pose.bones[right.bones[-1]].constraints.new("IK")
    made.name, made.target = "leg {IK}", new_empty("goal")
    enter("POSE", ob)
    ik.rig_legs()
    said = capfd.readouterr().out
    assert f"Rigged '{left.bones[0]}' to '{left.bones[-1]}', ending at '{left.end}' (Foot.L, Knee.L)\n" in said
    why = f"constraint 'leg {{IK}}' of bone '{right.bones[-1]}' already is an IK. Use Convert Blender IK instead"
    assert f"Left out '{right.bones[-1]}': {why}" in said


def test_all_selected_armatures_are_rigged_each_with_its_own_line(capfd):
    ob, other = armature_of(FAMILIES[0].bones()), armature_of(FAMILIES[0].bones())
    bare = new_armature("prop", [BoneSpec("handle", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))])
    select(other, bare, ob, active=ob)
    ik.rig_legs()
    said = capfd.readouterr().out
    assert all(f"Info: {each.name}: Rigged '" in said for each in (ob, other))
    assert "Warning: Armature 'prop': no leg to rig was found" in said
    assert said.splitlines()[-1] == "Warning: Rigged 2 armatures: 4 legs"
    assert [sum(bone.analytic_ik_enabled for bone in each.pose.bones) for each in (ob, other, bare)] == [2, 2, 0]


def test_of_armatures_without_limbs_the_first_is_refused():
    first, second = (new_armature(name, [BoneSpec("a", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))]) for name in ("one", "two"))
    select(second, first, active=first)
    with pytest.raises(RuntimeError, match="Armature 'one': no leg to rig was found"):
        ik.rig_legs()


def test_of_many_that_are_left_out_a_few_are_named(capfd):
    leg_bones = (("thigh", 1.0, 0.6), ("shin", 0.6, 0.2), ("foot", 0.2, 0.1))
    bones = [BoneSpec("pelvis", (0.0, 0.0, 1.0), (0.0, 0.0, 1.2))]
    for k in range(6):
        parent = "pelvis"
        for part, top, bottom in leg_bones:
            name = f"{part}.{k}.L"
            bones.append(
                BoneSpec(name, (0.2 * k, 0.0, top), (0.2 * k, -0.1 if part == "foot" else 0.0, bottom), parent)
            )
            parent = name
    ob = new_armature("insect", bones)
    for k in range(5):
        ob.pose.bones[f"shin.{k}.L"].constraints.new("IK").target = new_empty(f"goal {k}")
    enter("POSE", ob)
    ik.rig_legs()
    said = capfd.readouterr().out
    assert said.count("already is an IK. Use Convert Blender IK instead") == 3
    assert ", and 2 more" in said
