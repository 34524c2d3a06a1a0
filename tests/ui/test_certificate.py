"""The certificate in the sidebar: it says what the report says, leads there, and draws whatever it is given."""

import json
from types import SimpleNamespace

import bpy
import pytest

from ik_addon.bake.certificate import read_certificates

from ..bake.entries import entry, foot_entry
from ..rig.rigs import Rig
from ..scenes import enter, select, selected_bone_names, walking_leg
from .layouts import certificate_panel


def troubled_leg() -> Rig:
    """A leg whose ankle goes out of reach at the frames 3 and 4 and 9; checked over the frames 1 to 12."""
    rig = walking_leg()
    for frame in range(1, 13):
        rig.target.ob.location = (0.0, 0.0, -1.0 if frame in (3, 4, 9) else 0.6)
        rig.target.ob.keyframe_insert("location", frame=frame)
    enter("POSE", rig.ob, "hips")
    bpy.ops.analytic_ik.check(frame_start=1, frame_end=12)
    return rig


def edited(rig: Rig, **changes: object) -> None:
    """Write other values into the entry of the only chain of a report."""
    report = json.loads(rig.ob.analytic_ik_report)
    report["chains"][0].update(changes)
    rig.ob.analytic_ik_report = json.dumps(report)


def report_with(rig: Rig, entries: list[dict], **more: object) -> None:
    report = {"file": "", "frames": [1, 12, 1], "seconds": 0.1, "chains": entries}
    rig.ob.analytic_ik_report = json.dumps(report | more)


# What it says


def test_it_is_there_after_a_check_and_after_a_bake():
    rig = walking_leg()
    enter("POSE", rig.ob, "shin")
    bpy.ops.analytic_ik.check(frame_start=1, frame_end=12)
    assert "Checked frames 1 to 12" in certificate_panel().text()
    bpy.ops.analytic_ik.bake(frame_start=1, frame_end=11, frame_step=2)
    assert "Baked frames 1 to 11, every 2nd" in certificate_panel().text()


def test_a_chain_out_of_reach_is_shown_with_the_way_to_it():
    rig = troubled_leg()
    shown = certificate_panel()
    assert "The chain is out of reach" in shown.text()
    assert "ERROR" in shown.icons
    jumps = shown.jumps()
    assert (jumps["3-4"], jumps["9"]) == ((3, "shin"), (9, "shin"))
    [[chain]] = [each.chains for each in read_certificates(rig.ob.analytic_ik_report)]
    worst = next(text for text in jumps if text.endswith(f" at {chain.worst_frame}") and "m" in text)
    assert jumps[worst] == (chain.worst_frame, "shin")
    turn = f"{chain.max_step_degrees:.1f}°/frame at {chain.max_step_frame}"
    assert jumps[turn] == (chain.max_step_frame, "shin")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("unreached_frames", "Out of Reach"),
        ("limited_frames", "Limits"),
        ("moved_frames", "Moved"),
        ("flipped_frames", "Bend Flips"),
        ("aligned_frames", "Pole Aligned"),
        ("straight_frames", "Nearly Straight"),
    ],
)
def test_each_kind_of_trouble_has_its_line(kind, name):
    rig = walking_leg()
    enter("POSE", rig.ob, "shin")
    report_with(rig, [entry("shin", **{kind: [[5, 7]]})])
    shown = certificate_panel()
    assert name in shown.labels
    assert shown.jumps()["5-7"] == (5, "shin")


def test_that_a_limb_out_of_reach_is_straight_is_not_said_again():
    rig = walking_leg()
    enter("POSE", rig.ob, "shin")
    report_with(rig, [entry("shin", unreached_frames=[[5, 7]], straight_frames=[[5, 7], [9, 9]])])
    shown = certificate_panel()
    assert (shown.labels.count("5-7"), shown.labels.count("9")) == (1, 1)


def test_an_error_too_small_to_be_written_is_not_nothing():
    rig = walking_leg()
    enter("POSE", rig.ob, "shin")
    report_with(rig, [entry("shin", max_error=2e-8)])
    assert "< 1 µm at 3" in certificate_panel().labels
    report_with(rig, [entry("shin", max_error=0.0)])
    assert "0 m at 3" in certificate_panel().labels


@pytest.mark.parametrize("troubled", [0, 40])
def test_forty_chains_stay_short(troubled):
    rig = walking_leg()
    enter("POSE", rig.ob, "shin")
    trouble = {"unreached_frames": [[k, k] for k in range(1, 100, 2)]}
    report_with(rig, [entry(f"bone {k}", **(trouble if k < troubled else {})) for k in range(40)])
    shown, boxes = certificate_panel(), 5 if troubled else 0
    # Drawn here as if it were open.
    rows = shown.labels[shown.labels.index(f"{40 - boxes} Other Chains") + 1 :]
    assert len(shown.labels) - len(rows) < 130
    assert len(shown.jumps()) >= 1
    assert len([label for label in rows if label.startswith("bone ")]) == 40 - boxes


def test_a_chain_that_was_off_says_so():
    rig = walking_leg()
    enter("POSE", rig.ob, "shin")
    report_with(rig, [entry("shin", frames=0, worst_frame=None, max_step_frame=None)])
    shown = certificate_panel()
    assert "switched off" in shown.text()
    assert "None" not in shown.text()
    assert not shown.jumps()


# Feet


def test_a_leg_has_two_lines_and_the_way_to_its_worst_slide():
    rig = walking_leg()
    enter("POSE", rig.ob, "shin")
    report_with(rig, [entry("shin")], feet=[foot_entry("shin", slide=0.02, source={"slide": 0.1}, tiptoe=0.126)])
    shown = certificate_panel()
    assert shown.jumps()["Slide 20 cm → 4 cm"] == (5, "shin")
    assert "4 contacts, skating 10%, tiptoe 13%, float 2 mm, sink 0 m" in shown.text()
    assert "Feet slide on the ground: 'shin'" in shown.text()
    assert "ERROR" in shown.icons
    rig_was = len(shown.labels)
    report_with(rig, [entry("shin")])
    assert rig_was - len(certificate_panel().labels) <= 5


def test_a_sound_leg_says_no_more_than_it_has_to():
    rig = walking_leg()
    enter("POSE", rig.ob, "shin")
    feet = [foot_entry("shin", ground="CAPTURED", contacts=1), foot_entry("shin", knee_pops=2, contacts=0)]
    report_with(rig, [], feet=feet)
    shown = certificate_panel()
    assert "1 contact, skating 10%, tiptoe 25%" in shown.labels
    assert "0 contacts, skating 10%, tiptoe 25%, float 2 mm, sink 0 m, knee pops 2" in shown.text()
    assert "No chain was on" not in shown.text()


def test_forty_feet_stay_short():
    rig = walking_leg()
    enter("POSE", rig.ob, "shin")
    feet = [foot_entry(f"leg {k}", slide=0.5 if k == 30 else 0.0) for k in range(40)]
    report_with(rig, [entry("shin")], feet=feet)
    shown = certificate_panel()
    assert len(shown.labels) < 40
    assert "leg 30 (gone)" in shown.labels
    assert "and 35 more" in shown.labels


# Whatever it is given


NONSENSE = [
    "no json",
    "{",
    "[]",
    "3",
    "null",
    '"frames"',
    "{}",
    '{"frames": [1, 2]}',
    '{"frames": [1, 2, 1], "seconds": 1, "chains": [3]}',
    '{"frames": [1, 2, 1], "seconds": 1, "chains": {"a": 1}}',
    '{"frames": [1e9, 2, 1], "seconds": 1, "chains": []}',
    '{"frames": null, "seconds": 0.0, "chains": [], "error": "it stopped"}',
    '{"frames": [1, 2, 1], "seconds": NaN, "chains": []}',
    "[" * 100000,
]


def test_a_report_that_is_none_any_more_says_so():
    rig = walking_leg()
    enter("POSE", rig.ob, "shin")
    for text in NONSENSE:
        rig.ob.analytic_ik_report = text
        assert "cannot be read. Check or bake again" in certificate_panel().text(), text[:99]
        for refused in ("mark_problems", "copy_certificate"):
            assert not getattr(bpy.ops.analytic_ik, refused).poll()


@pytest.mark.parametrize(
    "changes",
    [
        {"bone": 3},
        {"bone": None},
        {"max_error": "far"},
        {"max_error": float("inf")},
        {"max_error": None},
        {"worst_frame": 10**12},
        {"worst_frame": "first"},
        {"unreached_frames": [3]},
        {"unreached_frames": [[1, 2, 3]]},
        {"unreached_frames": [[10**12, 10**13]]},
        {"flipped_frames": 7},
        {"keys": "many"},
        {"chain_count": float("inf")},
    ],
)
def test_an_entry_that_was_edited_to_nonsense_says_so(changes):
    rig = walking_leg()
    enter("POSE", rig.ob, "shin")
    report_with(rig, [entry() | changes])
    assert "cannot be read. Check or bake again" in certificate_panel().text()


# Going there


@pytest.mark.parametrize("mode", ["POSE", "OBJECT"])
def test_a_button_goes_to_its_frame_and_selects_the_tip(mode):
    rig = troubled_leg()
    enter(mode, rig.ob, "thigh", "foot")
    assert bpy.ops.analytic_ik.go_to_frame(frame=9, bone="shin") == {"FINISHED"}
    assert bpy.context.scene.frame_current == 9
    assert selected_bone_names(rig.ob) == ["shin"]
    assert rig.ob.data.bones.active.name == "shin"


def test_without_a_bone_the_selection_stays():
    rig = troubled_leg()
    enter("POSE", rig.ob, "thigh")
    bpy.ops.analytic_ik.go_to_frame(frame=9)
    assert selected_bone_names(rig.ob) == ["thigh"]


# Markers


def markers() -> list[tuple[str, int]]:
    return sorted((marker.name, marker.frame) for marker in bpy.context.scene.timeline_markers)


def test_problems_are_marked_once_however_often():
    troubled_leg()
    bpy.context.scene.timeline_markers.new("mine", frame=3)
    for _ in range(3):
        assert bpy.ops.analytic_ik.mark_problems() == {"FINISHED"}
        assert markers() == [("mine", 3), ("shin out of reach", 9), ("shin out of reach to 4", 3)]


def test_the_markers_of_an_older_report_are_replaced():
    rig = troubled_leg()
    bpy.ops.analytic_ik.mark_problems()
    edited(rig, unreached_frames=[], straight_frames=[], limited_frames=[[5, 5]])
    bpy.ops.analytic_ik.mark_problems()
    assert markers() == [("shin kept off by its limits", 5)]


def test_only_its_own_markers_are_removed():
    troubled_leg()
    bpy.context.scene.timeline_markers.new("shin out of reach", frame=2)
    bpy.ops.analytic_ik.mark_problems()
    assert bpy.ops.analytic_ik.clear_marks() == {"FINISHED"}
    assert markers() == [("shin out of reach", 2)]
    assert not bpy.ops.analytic_ik.clear_marks.poll()


def test_a_marker_that_was_moved_is_still_its_own_and_one_that_was_renamed_is_not():
    troubled_leg()
    bpy.ops.analytic_ik.mark_problems()
    scene = bpy.context.scene
    scene.timeline_markers["shin out of reach"].frame = 11
    scene.timeline_markers["shin out of reach to 4"].name = "look here"
    bpy.ops.analytic_ik.mark_problems()
    assert markers() == [("look here", 3), ("shin out of reach", 9), ("shin out of reach to 4", 3)]


def test_two_characters_keep_their_markers_apart():
    first = troubled_leg()
    bpy.ops.analytic_ik.mark_problems()
    second = walking_leg("second")
    enter("OBJECT", first.ob, "shin")
    second.ob.analytic_ik_report = first.ob.analytic_ik_report
    select(second.ob)
    bpy.ops.analytic_ik.mark_problems()
    assert len(markers()) == 4
    bpy.ops.analytic_ik.clear_marks()
    assert len(markers()) == 2
    select(first.ob)
    bpy.ops.analytic_ik.clear_marks()
    assert markers() == []


def test_a_name_too_long_for_a_marker_is_found_again():
    rig = troubled_leg()
    edited(rig, bone="b" * 63)
    for _ in range(2):
        bpy.ops.analytic_ik.mark_problems()
        assert len(markers()) == 2
    bpy.ops.analytic_ik.clear_marks()
    assert markers() == []


@pytest.mark.parametrize("text", ["nonsense", "[3]", '{"a": 1}', "[[1]]", '[["a", "b"]]'])
def test_a_note_of_markers_that_was_edited_harms_nothing(text):
    rig = troubled_leg()
    rig.ob.analytic_ik_marks = text
    bpy.ops.analytic_ik.mark_problems()
    assert len(markers()) == 2


# Copying


class Clipboard:
    """In the background Blender has none."""

    clipboard = ""


def copied(form: str) -> str:
    from ik_addon.ui.operators.certificates import ANALYTIC_IK_OT_copy_certificate as operator

    manager = Clipboard()
    fake = SimpleNamespace(form=form)
    operator.act(fake, SimpleNamespace(window_manager=manager), bpy.context.object)
    return manager.clipboard


def test_it_is_copied_as_text_and_as_json():
    rig = troubled_leg()
    assert json.loads(copied("JSON")) == json.loads(rig.ob.analytic_ik_report)
    text = copied("TEXT")
    assert "shin: out of reach at 3 to 4, 9" in text.splitlines()
    assert bpy.ops.analytic_ik.copy_certificate(form="TEXT") == {"FINISHED"}
