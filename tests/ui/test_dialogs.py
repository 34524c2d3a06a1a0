"""The dialogs of work over frames: what they ask, what they offer at first, and that they can be dismissed."""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

import bpy
import pytest

from ik_addon.rig.blender.clips import clips_of
from ik_addon.ui.operators import feet as operators
from ik_addon.ui.operators import stepped as range_operators
from ik_addon.ui.operators.stepped import running

from ..clips.characters import rigged_character
from ..rig.rigs import Rig, update
from ..scenes import curves_of, enter, go_to, key_fk, keyed_frames, missed_world, slide, walking_leg, whole_state
from .layouts import Layout

ik = bpy.ops.analytic_ik
OPERATORS = ("bake", "check", "snap_targets", "snap_pose")
RESULT = ("frame_start", "frame_end", "use_range", "source", "scale_frame", "path")


class Dialog:
    """A dialog that an operator has opened. shown: as it is drawn; values: what it offers."""

    def __init__(self, operator: bpy.types.Operator):
        kind = type(operator)
        self.shown = Layout()
        own = operator.properties.bl_rna.properties
        self.values = {name: getattr(operator, name) for name in RESULT if name in own}
        if hasattr(kind, "draw"):
            state = {"layout": self.shown, "bl_rna": operator.properties.bl_rna, "_warning": ""}
            read = ("use_range", "_warning", "ground", "clips", "chosen_clips", "scale", "root", "direction", "cycle")
            read += ("path", "path_fit")
            state |= {name: getattr(operator, name) for name in read if hasattr(operator, name)}
            dialog = SimpleNamespace(**state)
            dialog.drawn = partial(kind.drawn, dialog)
            kind.draw(dialog, bpy.context)
        operator.cancel(bpy.context)


@pytest.fixture
def ask(monkeypatch) -> Callable[..., Dialog]:
    """Opens a dialog as a click does, and dismisses it. (Without a window Blender asks nothing.)"""
    opened = []

    def press(name: str, **options) -> Dialog:
        with monkeypatch.context() as patch:
            kind = range_operators.SteppedOperator
            patch.setattr(kind, "execute", lambda self, context: self.invoke(context, None))
            patch.setattr(kind, "invoke", lambda self, context, event: opened.append(Dialog(self)) or {"CANCELLED"})
            assert getattr(ik, name)(**options) == {"CANCELLED"}
        return opened[-1]

    return press


def captured(first: float = 1.0) -> Rig:
    """A leg with keys, and a chain whose controls have none."""
    rig = walking_leg()
    rig.target.ob.animation_data_clear()
    key_fk(rig)
    for curve in curves_of(rig.ob).values():
        for key in curve.keyframe_points:
            key.co.x += first - 1.0
            key.handle_left.x += first - 1.0
            key.handle_right.x += first - 1.0
    enter("POSE", rig.ob, "shin")
    go_to(3)
    return rig


# Dismissed


@pytest.mark.parametrize("name", OPERATORS)
def test_a_dialog_that_is_dismissed_leaves_everything_as_it_was(name, ask, capfd):
    captured()
    before = whole_state()
    ask(name)
    assert whole_state() == before
    assert running() is None
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", OPERATORS)
def test_dismissing_a_dialog_does_not_end_what_others_run(name, ask):
    captured()
    work = range_operators.start_running("Work", (None for _ in range(3)))
    try:
        # Its button is greyed out then; a dialog may have been open before.
        kind = getattr(range_operators, f"ANALYTIC_IK_OT_{name}", None) or bpy.types.ANALYTIC_IK_OT_snap_targets
        kind.cancel(SimpleNamespace(_running=kind._running), bpy.context)
        assert running() is work
    finally:
        range_operators.end_running()


# Snap


@pytest.mark.parametrize("name", ["snap_targets", "snap_pose"])
def test_bones_with_keys_are_snapped_over_the_range_of_their_action(name, ask):
    captured(first=40.3)
    dialog = ask(name)
    assert dialog.values == {"use_range": True, "frame_start": 40, "frame_end": 53}
    assert dialog.shown.properties == ["frames_to_snap", "frame_start", "frame_end", "frame_step"]
    assert dialog.shown.enabled


def test_bones_without_keys_are_snapped_at_the_current_frame(ask):
    enter("POSE", walking_leg().ob, "shin")
    for name in ("snap_targets", "snap_pose"):
        dialog = ask(name)
        assert not dialog.values["use_range"]
        assert not dialog.shown.enabled
    assert ask("snap_targets").values["frame_end"] == bpy.context.scene.frame_end


def test_the_pose_of_controls_with_keys_is_snapped_over_theirs(ask):
    enter("POSE", walking_leg().ob, "shin")
    values = ask("snap_pose").values
    assert (values["frame_start"], values["frame_end"]) == (1, 12)


@pytest.mark.parametrize("by", [{"use_range": True}, {"frames_to_snap": "RANGE"}])
def test_scripts_choose_the_range_by_either_name(by, capfd):
    rig = captured()
    ik.snap_targets(frame_start=2, frame_end=7, **by)
    assert "Snapped 1 chain, frames 2-7" in capfd.readouterr().out
    assert all(keyed_frames(curve) == [*range(2, 8)] for curve in curves_of(rig.target.ob).values())
    ik.snap_pose(frame_start=3, frame_end=5, **by)
    assert "Snapped the pose of 1 chain, frames 3-5\n" in capfd.readouterr().out


def test_a_script_that_names_no_frames_snaps_the_whole_action(capfd):
    captured(first=40.3)
    ik.snap_targets(use_range=True)
    assert "Snapped 1 chain, frames 40-53" in capfd.readouterr().out


def test_a_frame_between_two_is_told_as_it_is(capfd):
    captured()
    go_to(4.25)
    ik.snap_targets()
    assert "Snapped 1 chain at frame 4.25" in capfd.readouterr().out


# Bake


@pytest.mark.parametrize("name", ["bake", "check"])
def test_the_frames_of_the_motion_are_offered_and_the_scenes_where_nothing_moves(name, ask):
    rig = captured(first=40.3)
    values = ask(name).values
    assert (values["frame_start"], values["frame_end"]) == (40, 53)
    slide(rig.target.ob, (0.0, -0.3, 0.4), (0.0, 0.3, 0.4))
    values = ask(name).values
    assert (values["frame_start"], values["frame_end"]) == (1, 53)
    for ob in (rig.ob, rig.target.ob):
        ob.animation_data_clear()
    values = ask(name).values
    assert (values["frame_start"], values["frame_end"]) == (bpy.context.scene.frame_start, bpy.context.scene.frame_end)


def test_a_bake_of_controls_that_do_not_follow_warns(ask):
    rig = captured()
    words = "Keys move the bones of 1 chain, and the controls do not follow. Cancel, and snap the controls"
    assert words in ask("bake").shown.text()
    ik.snap_targets(use_range=True)
    assert ask("bake").shown.text() == ""
    rig.target.ob.animation_data_clear()
    rig.tip.analytic_ik_pole_target.animation_data_clear()
    assert words in ask("bake").shown.text()
    rig.tip.analytic_ik_influence = 0.5
    assert ask("bake").shown.text() == ""


@pytest.mark.parametrize(("far", "warns"), [(0, False), (1, False), (4, True), (20, True)])
def test_a_bake_of_targets_out_of_reach_warns(far, warns, ask):
    rig = walking_leg()
    slide(rig.target.ob, (0.0, -0.6, 0.5), (0.0, -0.6, 0.5))
    for frame in range(1, 21):
        rig.target.ob.location = (0.0, -9.0, 0.0) if frame <= far else (0.0, -0.6, 0.5)
        rig.target.ob.keyframe_insert("location", frame=frame)
    enter("POSE", rig.ob, "shin")
    go_to(20)
    before = whole_state()
    dialog = ask("bake", frame_start=1, frame_end=20)
    part = f"out of reach on about {far / 20:.0%} of the frames"
    assert (part in dialog.shown.text()) is warns
    assert whole_state() == before
    assert (missed_world(rig) > 0.1) == (far == 20)


def test_the_dialog_of_a_bake_asks_all_that_it_asked(ask):
    captured()
    options = set(ik.bake.get_rna_type().properties.keys()) - {"rna_type"}
    # Of clips, where there are several.
    assert set(ask("bake").shown.properties) == options - {"clips", "chosen_clips", "clip_index", "strips"}


@pytest.mark.parametrize("name", ["bake", "check"])
@pytest.mark.parametrize("far", [False, True])
def test_a_report_of_frames_that_were_missed_is_a_warning(name, far, capfd):
    rig = walking_leg()
    if far:
        slide(rig.target.ob, (0.0, -0.6, 0.5), (0.0, -9.0, 0.5))
    enter("POSE", rig.ob, "shin")
    getattr(ik, name)(frame_start=1, frame_end=12)
    said = capfd.readouterr().out
    assert ("Warning: " if far else "Info: ") + ("Baked" if name == "bake" else "Checked") in said


def test_the_description_of_an_action_holds_for_each_choice():
    items = ik.bake.get_rna_type().properties["action"].enum_items
    for item, kept in (("NEW", True), ("COPY", True), ("CURRENT", False)):
        assert ("is kept" in items[item].description) is kept
        rig = captured()
        own = rig.ob.animation_data.action
        ik.bake(frame_start=1, frame_end=5, action=item)
        assert (rig.ob.animation_data.action != own) is kept
        bpy.data.objects.remove(rig.ob)
        update()


# Plant Feet


@pytest.mark.parametrize(
    ("ground", "asked"),
    [("CAPTURED", set()), ("LEVEL", {"height", "clearance"}), ("OBJECT", {"ground_object", "clearance"})],
)
def test_plant_feet_asks_for_its_ground(ground, asked, ask):
    captured()
    shown = ask("plant_feet", ground=ground).shown
    assert {"height", "ground_object", "clearance"} & set(shown.properties) == asked
    assert {"slide", "blend", "body", "body_direction", "softness", "footprints"} <= set(shown.properties)
    assert "path" in shown.properties and "path_stride" not in shown.properties


def test_plant_feet_takes_the_selected_curve_as_its_path(ask):
    captured()
    curve = bpy.data.objects.new("Way", bpy.data.curves.new("Way", "CURVE"))
    bpy.context.scene.collection.objects.link(curve)
    curve.select_set(True)
    dialog = ask("plant_feet")
    assert dialog.values["path"] == "Way"
    assert {"path_stride", "path_fit", "path_offset", "path_rounding", "path_lean"} <= set(dialog.shown.properties)
    assert ask("plant_feet", path_fit=True).shown.properties == dialog.shown.properties


@pytest.mark.parametrize(("clips", "said"), [("CURRENT", "1 clip along the path"), ("ALL", "3 clips along the path")])
def test_plant_feet_says_how_many_clips_go_along_a_path(clips, said, ask):
    rigged_character(True)
    shown = ask("plant_feet", clips=clips, path="Way").shown
    assert said in shown.labels
    assert not any("along the path" in label for label in ask("plant_feet", clips=clips, path="").shown.labels)


@pytest.mark.some(2)
@pytest.mark.parametrize("name", ["bake", "check", "plant_feet", "root_motion", "in_place", "travel", "make_loop"])
def test_clips_are_listed_where_there_are_several(ask, name):
    rigged_character(True)
    shown = ask(name, clips="ALL").shown
    assert {"walk", "run", "idle"} <= set(shown.labels)
    # OK stays where it is.
    assert shown.properties == ask(name, clips="CURRENT").shown.properties
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    rigged_character(True, names=["walk"])
    assert "clips" not in ask(name).shown.properties


# Match Source


@pytest.mark.parametrize(("scale", "asked"), [("LIMBS", set()), ("FRAME", {"scale_frame"})])
def test_match_source_offers_the_one_other_armature_and_the_current_frame(scale, asked, ask):
    captured()
    rig = captured()
    dialog = ask("match_source", scale=scale)
    assert {"scale_frame"} & set(dialog.shown.properties) == asked
    assert {"source", "scale", "arms", "body", "frame_start", "frame_end"} <= set(dialog.shown.properties)
    assert (dialog.values["source"], dialog.values["scale_frame"]) == ("leg", 3)
    assert dialog.values["source"] != rig.ob.name
    captured()
    assert ask("match_source").values["source"] == ""


def test_objects_are_offered_by_kind_and_a_part_of_their_names():
    """Of a property that searches Blender tells no more than that it does."""
    captured().ob.name = "Source Walk"
    captured().ob.name = "Other"
    captured()
    for kind, data in (("CURVE", bpy.data.curves.new("Way", "CURVE")), ("MESH", bpy.data.meshes.new("Hill"))):
        bpy.context.scene.collection.objects.link(bpy.data.objects.new(data.name, data))
        update()
        assert operators._any(kind)(None, bpy.context, "") == [data.name]
    found = operators._any("ARMATURE")
    assert sorted(found(None, bpy.context, "")) == ["Other", "Source Walk"]
    assert found(None, bpy.context, "walk") == ["Source Walk"]


@pytest.mark.parametrize("name", ["path", "ground_object"])
def test_plant_feet_does_not_offer_all_objects(name, ask):
    """A list of a collection, such as the scene's, cannot be filtered."""
    captured()
    shown = ask("plant_feet", ground="OBJECT").shown
    assert name in shown.properties and name not in shown.searched


def test_what_is_seldom_needed_of_plant_feet_is_closed_at_first(ask):
    captured()
    curve = bpy.data.objects.new("Way", bpy.data.curves.new("Way", "CURVE"))
    bpy.context.scene.collection.objects.link(curve)
    assert ask("plant_feet", path="Way").shown.closed == ["Path Options", "Feet and Body"]
    assert ask("plant_feet").shown.closed == ["Feet and Body"]


# Root Motion


@pytest.mark.parametrize(
    ("chosen", "asked"),
    [
        ({}, {"direction", "root", "path", "height", "heading", "body"}),
        ({"root": "BONE"}, {"direction", "root", "root_bone", "path", "height", "heading", "body"}),
        ({"direction": "TO_HIPS"}, {"direction", "root", "body"}),
    ],
)
def test_root_motion_asks_for_what_its_direction_needs(chosen, asked, ask):
    captured()
    assert set(ask("root_motion", **chosen).shown.properties) == asked


@pytest.mark.parametrize("name", ["in_place", "travel", "make_loop"])
def test_the_others_ask_for_the_hips_alone(name, ask):
    """A loop also for the frames that are its cycle."""
    captured()
    assert ask(name).shown.properties == [*(["cycle"] if name == "make_loop" else []), "body"]
    assert ask("join_clips").shown.properties == ["clip", "end", "body"]


@pytest.mark.some(1)
@pytest.mark.parametrize("name", ["bake", "check", "plant_feet", "make_loop"])
def test_the_list_of_a_hundred_clips_scrolls(name, ask):
    ob = rigged_character(True)
    own = ob.animation_data.action
    for k in range(100 - len(clips_of(ob))):
        own.copy().name = f"walk {k}"
    shown = ask(name, clips="ALL").shown
    assert shown.properties.count("use") == 100
    assert shown.rows == [5]
