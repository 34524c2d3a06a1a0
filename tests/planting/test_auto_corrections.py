"""With Auto Keying on, moving a control of a capture is a correction at once; other animation is keyed as ever."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_addon.authoring.placing import Control
from ik_addon.grabbing.scene.posing import grab_bone
from ik_addon.grabbing.solving.drag import GrabOptions
from ik_addon.planting.scene.control_tracks import keyed_controls
from ik_addon.planting.scene.correcting import corrections_of
from ik_addon.planting.scene.footprints import footprint_over
from ik_addon.planting.scene.kept_keys import curves_of, keys_now, put_keys
from ik_addon.rig.blender.file_memory import file_memory
from ik_addon.ui.panels import motion as panel
from ik_addon.ui.view import auto_corrections

from ..rig.rigs import editing, leg, update
from ..scenes import enter, go_to, sliding_walk
from ..ui.layouts import drawn
from .corrected import channels, foot, middle_stance, middle_swing, move
from .planted_walks import FRAMES, all_bytes, planted

pytestmark = pytest.mark.versions


def captured(few=False):
    """A planted walk, with Auto Keying on."""
    ob, _ = planted()
    if few:
        bpy.ops.analytic_ik.simplify_keys()
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    update()
    return ob


def time_comes():
    """As Blender runs a timer, which is registered meanwhile."""
    auto_corrections.correct()
    bpy.app.timers.unregister(auto_corrections.correct)


def key(frame, control, way=(0.05, 0.0, 0.0)):
    """As Blender does it at the end of a drag with Auto Keying on; returns whether a correction follows."""
    go_to(frame)
    update()
    control.owner.location = [a + b for a, b in zip(control.owner.location, way, strict=True)]
    update()
    control.owner.keyframe_insert("location", frame=frame)
    update()
    follows = bpy.app.timers.is_registered(auto_corrections.correct)
    if follows:
        time_comes()
    return follows


def test_an_armature_without_chains_is_keyed_as_ever(capfd):
    rig = leg()
    for frame, turn in ((1, 0.0), (2, 0.1), (3, 0.2)):
        rig.ob.pose.bones["shin"].rotation_quaternion = (1.0, turn, 0.0, 0.0)
        rig.ob.pose.bones["shin"].keyframe_insert("rotation_quaternion", frame=frame)
    enter("POSE", rig.ob, "shin")
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    for frame in (1, 2, 3):
        assert not key(frame, Control(rig.ob, "shin"))
    # Chains that go while their keys are remembered.
    ob = captured()
    assert key(middle_swing(ob)[0] + 3, foot(ob).foot)
    for bone in ob.pose.bones:
        bone.analytic_ik_enabled = False
    assert not key(5, Control(ob, "hips"))
    said = capfd.readouterr()
    assert "Traceback" not in said.out + said.err
    assert "could not be solved" not in said.out + said.err


def by_button(ob, frame, control, way=(0.05, 0.0, 0.0)):
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False
    move(ob, frame, control, way)
    return channels(ob)


@pytest.mark.some(4)
@pytest.mark.parametrize("keys", ["dense", "few"])
@pytest.mark.parametrize("kind", ["stance", "swing", "pole", "body"])
def test_what_is_keyed_is_what_the_button_makes_of_it(kind, keys):
    found = []
    for way in (key, None):
        ob = captured(keys == "few")
        controls, before = keyed_controls(ob), all_bytes(ob)
        control = {"pole": foot(ob).pole, "body": controls.body}.get(kind, foot(ob).foot)
        frame = sum({"swing": middle_swing(ob)}.get(kind, middle_stance(ob))) // 2
        if way is None:
            found.append(by_button(ob, frame, control))
        else:
            assert key(frame, control)
            found.append(channels(ob))
        assert [own["frame"] for own in corrections_of(ob)] == [frame]
        bpy.ops.analytic_ik.remove_correction(index=0)
        assert all_bytes(ob) == before
    for name, numbers in found[0].items():
        assert numbers == pytest.approx(found[1][name], abs=1e-6), name


def test_a_switch_is_no_move():
    ob = captured()
    enter("POSE", ob, "shin.L")
    go_to(sum(middle_stance(ob)) // 2)
    update()
    ob.pose.bones["shin.L"].analytic_ik_influence = 0.5
    bpy.ops.analytic_ik.switch_to_ik(insert_keys=True)
    update()
    assert not bpy.app.timers.is_registered(auto_corrections.correct)
    assert corrections_of(ob) == []


def test_channels_that_had_no_keys_have_none_again():
    """Auto Keying keys location, rotation and scale at once, unless it inserts needed keys alone."""
    ob = captured()
    pole, before = foot(ob).pole, all_bytes(ob)
    frame = sum(middle_stance(ob)) // 2
    go_to(frame)
    update()
    pole.owner.location.x += 0.05
    update()
    for path in ("location", "rotation_euler"):
        pole.owner.keyframe_insert(path, frame=frame)
    update()
    time_comes()
    assert [own["frame"] for own in corrections_of(ob)] == [frame]
    bpy.ops.analytic_ik.remove_correction(index=0)
    assert all_bytes(ob) == before


def test_one_channel_is_keyed_and_handles_of_others_are_set_anew():
    """As Move does in the window, with only needed keys."""
    ob = captured()
    control, before = foot(ob).foot, all_bytes(ob)
    first, last = middle_stance(ob)
    for frame in (first + 2, last - 2):
        go_to(frame)
        update()
        control.owner.location.y += 0.03
        update()
        for curve in curves_of(control).values():
            curve.keyframe_points[0].handle_left.y -= 0.01
        control.owner.keyframe_insert("location", index=1, frame=frame)
        update()
        time_comes()
        assert [own["frame"] for own in corrections_of(ob)] == [frame]
    bpy.ops.analytic_ik.remove_correction(index=0)
    assert all_bytes(ob) == before


def test_one_after_the_other():
    ob = captured()
    control, before = foot(ob).foot, all_bytes(ob)
    frames = [sum(middle_stance(ob)) // 2, sum(middle_swing(ob)) // 2]
    for frame in frames:
        assert key(frame, control)
    assert [own["frame"] for own in corrections_of(ob)] == sorted(frames)
    # A second move in one stance takes the place of the first.
    assert key(frames[0] + 1, control, (0.0, 0.02, 0.0))
    assert len(corrections_of(ob)) == 2
    for _ in range(2):
        bpy.ops.analytic_ik.remove_correction(index=0)
    assert all_bytes(ob) == before


@pytest.mark.parametrize("hips", ["MOVE", "STAY"])
def test_a_limb_that_is_grabbed_is_corrected(hips):
    """Also where its control is all that moves."""
    ob = captured()
    frame = sum(middle_swing(ob)) // 2
    go_to(frame)
    update()
    place = ob.matrix_world @ ob.pose.bones["foot.L"].head
    grab_bone(bpy.context, ob, "foot.L", place + Vector((0.0, 0.0, 0.03)), options=GrabOptions(hips=hips))
    update()
    assert not bpy.app.timers.is_registered(auto_corrections.correct)
    assert {own["frame"] for own in corrections_of(ob)} == {frame}


def test_one_grab_is_one_row_in_the_list_whatever_it_moves():
    ob = captured()
    before, frame = all_bytes(ob), sum(middle_stance(ob)) // 2
    go_to(frame)
    update()
    place = ob.matrix_world @ ob.pose.bones["foot.L"].head
    grab_bone(bpy.context, ob, "foot.L", place + Vector((0.05, 0.1, 0.1)), options=GrabOptions(hips="MOVE"))
    own = corrections_of(ob)
    assert len(own) > 1
    words = drawn(panel.ANALYTIC_IK_PT_planting).text()
    assert words.count(f"frame {frame} (") == 1
    assert f"and {len(own) - 1} more, frame {frame}" in words
    moved = channels(ob)
    bpy.ops.analytic_ik.switch_correction(index=len(own) - 1)
    assert not any(each["on"] for each in corrections_of(ob))
    assert all_bytes(ob) == before
    bpy.ops.analytic_ik.switch_correction(index=0)
    for name, numbers in channels(ob).items():
        assert numbers == pytest.approx(moved[name], abs=1e-6), name
    bpy.ops.analytic_ik.remove_correction(index=0)
    assert all_bytes(ob) == before
    assert not corrections_of(ob)


@pytest.mark.parametrize("told", [True, False])
def test_going_on_at_once_is_no_reason_to_lose_what_was_moved(told):
    """Blender may note the key and the next frame in one update, or the timer may run at that frame."""
    ob = captured()
    control, before = foot(ob).foot, all_bytes(ob)
    frame = sum(middle_swing(ob)) // 2
    go_to(frame)
    update()
    control.owner.location.z += 0.05
    control.owner.keyframe_insert("location", frame=frame)
    if told:
        update()
    else:
        file_memory.looked["operator"] = -1
    go_to(frame + 1)
    update()
    time_comes()
    assert [own["frame"] for own in corrections_of(ob)] == [frame]
    assert bpy.context.scene.frame_current == frame + 1
    bpy.ops.analytic_ik.remove_correction(index=0)
    assert all_bytes(ob) == before


@pytest.mark.parametrize("keys", ["dense", "few"])
@pytest.mark.parametrize("count", [2, 5])
def test_moves_at_many_frames_before_the_first_is_corrected_are_as_many_corrections(count, keys):
    ob = captured(keys == "few")
    limb, before = foot(ob), all_bytes(ob)
    frame = sum(middle_swing(ob)) // 2 - count // 2
    go_to(frame)
    update()
    for k in range(count):
        control = limb.pole if k == 1 else limb.foot
        go_to(frame + k)
        control.owner.location.z += 0.05
        control.owner.keyframe_insert("location", frame=frame + k)
        file_memory.looked["operator"] = -1
    update()
    assert bpy.app.timers.is_registered(auto_corrections.correct)
    time_comes()
    assert [own["frame"] for own in corrections_of(ob)] == [frame + k for k in range(count)]
    for _ in range(count):
        bpy.ops.analytic_ik.remove_correction(index=0)
    assert all_bytes(ob) == before


def test_what_is_keyed_right_after_a_correction_is_the_next_one():
    """Before anything tells that the keys are others now."""
    ob = captured()
    limb, before = foot(ob), all_bytes(ob)
    frame = sum(middle_swing(ob)) // 2
    assert key(frame, limb.foot)
    limb.pole.owner.location.z += 0.05
    limb.pole.owner.keyframe_insert("location", frame=frame)
    update()
    time_comes()
    assert [(own["object"], own["frame"]) for own in corrections_of(ob)] == [
        (each.ob.name, frame) for each in (limb.foot, limb.pole)
    ]
    for _ in range(2):
        bpy.ops.analytic_ik.remove_correction(index=0)
    assert all_bytes(ob) == before


def test_a_move_that_is_undone_before_it_is_corrected_is_nothing(capfd):
    ob = captured()
    control, before = foot(ob).foot, all_bytes(ob)
    frame = sum(middle_swing(ob)) // 2
    go_to(frame)
    update()
    kept = keys_now([control])
    control.owner.location.z += 0.05
    control.owner.keyframe_insert("location", frame=frame)
    update()
    bpy.app.timers.unregister(auto_corrections.correct)
    for owner, keys in kept.items():
        put_keys(owner, keys)
    auto_corrections.correct()
    assert all_bytes(ob) == before and not corrections_of(ob)
    assert "Error" not in capfd.readouterr().out


def test_a_bone_with_captured_keys_is_corrected_too_and_one_with_few_is_not():
    ob = captured()
    body, frame = keyed_controls(ob).body.bone, 20
    with editing(ob) as bones:
        for name in ("head", "jaw"):
            bones.new(name).tail = (0.0, 0.0, 0.1)
            bones[name].parent = bones[body]
    for name, frames in (("head", FRAMES), ("jaw", (1, 60))):
        ob.pose.bones[name].rotation_mode = "XYZ"
        for each in frames:
            ob.pose.bones[name].keyframe_insert("rotation_euler", frame=each)
    file_memory.keys.clear()
    for name, follows in (("head", True), ("jaw", False)):
        go_to(frame)
        update()
        bone, before = ob.pose.bones[name], all_bytes(ob)
        bone.rotation_euler.x += 0.5
        bone.keyframe_insert("rotation_euler", frame=frame)
        update()
        assert bpy.app.timers.is_registered(auto_corrections.correct) == follows
        if follows:
            time_comes()
            assert [own["bone"] for own in corrections_of(ob)] == [name]
            turned = np.array(head_x(ob))[[0, 19, 20, 59]] - head_x(ob)[0]
            assert turned == pytest.approx([0.0, 0.5, 0.485, 0.0], abs=0.01)
            bpy.ops.analytic_ik.remove_correction(index=0)
            assert all_bytes(ob) == before


def head_x(ob):
    curve = curves_of(Control(ob, "head", turns=True))["XYZ", 0]
    return [curve.evaluate(frame) for frame in FRAMES]


def test_switched_corrections_of_one_frame_keep_their_order():
    ob = captured()
    frame = sum(middle_swing(ob)) // 2
    for control in (foot(ob).foot, foot(ob).pole):
        assert key(frame, control)
    names = [own["object"] for own in corrections_of(ob)]
    for states in ([False, True], [True, True], [False, True]):
        bpy.ops.analytic_ik.switch_correction(index=0)
        assert [(own["object"], own["on"]) for own in corrections_of(ob)] == [*zip(names, states, strict=True)]


def test_what_nobody_captured_is_keyed_as_ever():
    ob = sliding_walk(follow_motion=False)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    control = foot(ob).foot
    for frame in (1, 20, 40):
        assert not key(frame, control)
    assert not corrections_of(ob)
    assert [point.co.x for point in next(iter(curves_of(control).values())).keyframe_points] == [1.0, 20.0, 40.0]


def test_keys_that_were_edited_and_frames_outside_stay_keys():
    ob = captured()
    control = foot(ob).foot
    update()
    for point in (point for curve in curves_of(control).values() for point in curve.keyframe_points):
        point.co.y += 0.01
    next(iter(curves_of(control).values())).id_data.update_tag()
    update()
    assert not bpy.app.timers.is_registered(auto_corrections.correct)
    go_to(FRAMES[-1] + 20)
    before = all_bytes(ob)
    if key(FRAMES[-1] + 20, control):
        assert all_bytes(ob) != before
    assert not corrections_of(ob)


def test_without_auto_keying_nothing_is_remembered():
    ob = captured()
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False
    assert not key(sum(middle_stance(ob)) // 2, foot(ob).foot)
    assert not corrections_of(ob)


def test_a_footprint_shows_where_its_stance_was_corrected_to():
    ob = captured()
    bpy.ops.analytic_ik.plant_feet(frame_start=FRAMES[0], frame_end=FRAMES[-1], footprints=True)
    own, tip = middle_stance(ob), foot(ob).tip
    empty = footprint_over(tip, *own)
    start, before, dense = np.array(empty.matrix_world), all_bytes(ob), channels(ob)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False
    move(ob, sum(own) // 2, way=(0.04, 0.02, 0.0))
    update()
    corrected, after = np.array(empty.matrix_world), channels(ob)
    assert corrected[:3, 3] - start[:3, 3] == pytest.approx((0.04, 0.02, 0.0), abs=1e-5)
    # Planned again it is neither corrected twice nor lost.
    assert bpy.ops.analytic_ik.plant_again() == {"FINISHED"}
    assert np.array(empty.matrix_world) == pytest.approx(corrected, abs=1e-5)
    for name, numbers in channels(ob).items():
        assert numbers == pytest.approx(after[name], abs=2e-5), name
    # It is moved on, and the correction stays a correction.
    empty.location.x += 0.03
    update()
    name = foot(ob).foot.name
    at = own[0] * 4 - 4 * FRAMES[0]
    assert (channels(ob)[name] - after[name])[at, :3] == pytest.approx((0.03, 0.0, 0.0), abs=1e-4)
    assert len(corrections_of(ob)) == 1
    bpy.ops.analytic_ik.remove_correction(index=0)
    update()
    assert np.array(empty.matrix_world)[:3, 3] - start[:3, 3] == pytest.approx((0.03, 0.0, 0.0), abs=1e-5)
    assert (channels(ob)[name] - dense[name])[at, :3] == pytest.approx((0.03, 0.0, 0.0), abs=1e-4)
    empty.location.x -= 0.03
    update()
    assert np.abs(channels(ob)[name] - dense[name]).max() < 1e-4
    assert before.keys() == all_bytes(ob).keys()


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("said", "name"), [("Move", "correct_moved"), ("Rotate", "correct_rotated"), ("Grab", "correct_grabbed")]
)
def test_the_move_and_its_correction_are_one_step_to_undo(said, name):
    ob = captured()
    frame, control, before = sum(middle_stance(ob)) // 2, foot(ob).foot, all_bytes(ob)
    go_to(frame)
    update()
    bpy.ops.ed.undo_push(message="before")
    control.owner.location.x += 0.05
    update()
    control.owner.keyframe_insert("location", frame=frame)
    update()
    bpy.ops.ed.undo_push(message=said)
    bpy.app.timers.unregister(auto_corrections.correct)
    assert getattr(bpy.ops.analytic_ik, name)("EXEC_DEFAULT", True) == {"FINISHED"}
    after = all_bytes(bpy.context.object)
    bpy.ops.ed.undo()
    assert all_bytes(bpy.context.object) == before
    bpy.ops.ed.redo()
    assert all_bytes(bpy.context.object) == after
    assert len(corrections_of(bpy.context.object)) == 1


def edited(ob, control, frames, way=0.01):
    """As the Graph Editor does it; what Blender tells of it."""
    for curve in curves_of(control).values():
        for point in (each for each in curve.keyframe_points if each.co.x in frames):
            point.co.y += way
    next(iter(curves_of(control).values())).id_data.update_tag()
    update()


def said_of_keys():
    words = " ".join(drawn(panel.ANALYTIC_IK_PT_planting).labels)
    return ["Keys at" + each for each in words.split("Keys at")[1:]]


def test_keys_edited_where_the_scene_has_not_been_are_named_with_their_frames():
    ob = captured()
    control, (last, first) = foot(ob).foot, middle_swing(ob)
    bpy.ops.analytic_ik.simplify_keys()
    bpy.ops.analytic_ik.all_keys()
    update()
    assert said_of_keys() == []
    edited(ob, control, (last + 1, last + 2))
    edited(ob, foot(ob).pole, (first,))
    assert not bpy.app.timers.is_registered(auto_corrections.correct)
    (said,) = said_of_keys()
    assert f"Keys at frame {last + 1}-{last + 2}, {first} are no corrections" in said
    # What is corrected beside them is no reason to forget them, and no edit itself.
    assert key(sum(middle_stance(ob)) // 2, keyed_controls(ob).body)
    bpy.ops.analytic_ik.switch_correction(index=0)
    update()
    assert said_of_keys() == [said]
    # Planted again they are gone.
    bpy.ops.analytic_ik.plant_again()
    update()
    assert said_of_keys() == []


def test_a_footprint_that_is_moved_edits_no_keys():
    """What is moved next is a correction."""
    ob = captured()
    bpy.ops.analytic_ik.plant_feet(frame_start=FRAMES[0], frame_end=FRAMES[-1], footprints=True)
    update()
    before = channels(ob)[foot(ob).foot.name]
    footprint_over(foot(ob).tip, *middle_stance(ob)).location.x += 0.03
    update()
    update()
    assert np.abs(channels(ob)[foot(ob).foot.name] - before).max() > 0.02
    assert key(sum(middle_stance(ob)) // 2, foot(ob).pole)
    assert said_of_keys() == []


def test_a_move_beside_a_key_of_what_nobody_captured_is_a_correction():
    """Auto Keying keys all that is selected."""
    ob = captured()
    frame, control, other = sum(middle_stance(ob)) // 2, foot(ob).foot, keyed_controls(ob).limbs[1].pole
    for curve in list(curves_of(other).values()):
        curve.keyframe_points.clear()
    file_memory.keys.clear()
    go_to(frame)
    update()
    for each in (control, other):
        each.owner.location.x += 0.05
        each.owner.keyframe_insert("location", frame=frame)
    update()
    time_comes()
    assert [own["object"] for own in corrections_of(ob)] == [control.name]


def test_an_automatic_correction_that_is_refused_says_why_in_the_panel():
    ob = captured()
    frame = FRAMES[-1] + 20
    assert key(frame, foot(ob).foot)
    (said,) = said_of_keys()
    assert said.startswith(
        f"Keys at frame {frame} are no corrections. Frame {frame} is not in frames 1-60 of the clip. Go to"
    )
    assert [each.frame for each in drawn(panel.ANALYTIC_IK_PT_planting).buttons if hasattr(each, "frame")] == [frame]
    assert not corrections_of(ob)
