"""The certificate of several clips: all of them judged, the worst first, and every button leads into its clip."""

import json

import bpy
import pytest

from ik_addon.bake import chains_of
from ik_addon.bake.certificate import certificate_text, faults_words, read_certificates
from ik_addon.bake.clips import bake_clips
from ik_addon.rig.blender.clips import playing_clip
from ik_addon.rig.data.control_clips import partner
from ik_addon.ui.base import slides_words
from ik_addon.ui.operators.certificates import shown_certificate

from ..bake.entries import entry, foot_entry
from ..clips.characters import AMOUNTS, new_character, rigged_character, show
from ..rig.rigs import update
from ..scenes import curve_bags, enter
from .layouts import certificate_panel

as_bones = pytest.mark.parametrize("as_bones", [False, True], ids=["Empties", "bones"])
FAR = range(5, 8)
"""Frames at which a foot is lifted out of reach."""


def clip_entry(clip: str, *chains: dict, feet: tuple[dict, ...] = ()) -> dict:
    own = [chain | {"armature": "skeleton"} for chain in chains]
    feet = tuple(foot | {"armature": "skeleton"} for foot in feet)
    return {"file": "", "frames": [1, 12, 1], "seconds": 0.1, "error": None, "clip": clip, "chains": own, "feet": feet}


def with_report(ob, *entries: dict) -> None:
    ob.analytic_ik_report = json.dumps({**entries[0], "clips": [*entries]})


def checked(as_bones: bool) -> bpy.types.Object:
    """Three clips, of which in "run" a foot goes out of reach for a while."""
    ob = rigged_character(as_bones)
    curves = [curve for bag in curve_bags(bpy.data.actions["run"]).values() for curve in bag.fcurves]
    if not as_bones and not hasattr(bpy.types, "ActionSlot"):
        curves = list(bpy.data.actions["run Foot.L"].fcurves)
    path = 'pose.bones["foot_ik.L"].location' if as_bones else "location"
    for curve in [each for each in curves if each.data_path == path and each.array_index == 2][:1]:
        for point in curve.keyframe_points:
            if point.co.x in FAR:
                point.co.y += 3.0
        curve.update()
    show(ob, "walk")
    enter("POSE", ob, "spine")
    assert bpy.ops.analytic_ik.check(clips="ALL") == {"FINISHED"}
    without_flips(ob)
    return ob


def without_flips(ob) -> None:
    """The legs of this character straighten, and bend the other way: nothing to be told here."""
    report = json.loads(ob.analytic_ik_report)
    for clip in report["clips"]:
        for chain in clip["chains"]:
            chain["flipped_frames"] = chain["straight_frames"] = chain["aligned_frames"] = []
    ob.analytic_ik_report = json.dumps(report)


def clip_buttons(shown) -> list[str]:
    return [button.text for button in shown.buttons if button.text in AMOUNTS]


@as_bones
def test_all_clips_are_judged_the_worst_first(as_bones):
    ob = checked(as_bones)
    shown = certificate_panel()
    assert "1 of 3 clips needs a look" in shown.text()
    assert clip_buttons(shown)[0] == "run"
    assert set(clip_buttons(shown)) == {*AMOUNTS}
    assert "out of reach" in shown.text()
    # Below them, what plays.
    assert "The chain is out of reach" not in shown.text()
    assert "Both chains meet their targets" in shown.text()
    show(ob, "run")
    assert "1 of 2 chains meets its target" in certificate_panel().text()


@as_bones
def test_a_button_leads_into_its_clip_and_the_controls_follow(as_bones):
    ob = checked(as_bones)
    [button] = [button for button in certificate_panel().buttons if button.text == "run"]
    assert bpy.ops.analytic_ik.go_to_frame(frame=button.frame, clip=button.clip) == {"FINISHED"}
    assert playing_clip(ob).name == "run"
    for control in [each for each in bpy.data.objects if each.type == "EMPTY"]:
        assert playing_clip(control) == partner(control, playing_clip(ob))
    jump = next(button for button in certificate_panel().buttons if button.text.startswith("First Miss"))
    assert (jump.frame, jump.clip) == (FAR[0], "run")
    show(ob, "idle")
    bpy.ops.analytic_ik.go_to_frame(frame=jump.frame, bone=jump.bone, clip=jump.clip)
    assert (playing_clip(ob).name, bpy.context.scene.frame_current) == ("run", FAR[0])


def test_markers_are_of_the_clip_that_plays():
    ob = checked(True)
    bpy.ops.analytic_ik.mark_problems()
    assert not bpy.context.scene.timeline_markers
    show(ob, "run")
    bpy.ops.analytic_ik.mark_problems()
    assert [marker.frame for marker in bpy.context.scene.timeline_markers] == [FAR[0]]


@as_bones
@pytest.mark.parametrize("action", ["COPY", "CURRENT"])
def test_after_a_bake_they_lead_to_what_was_baked(as_bones, action):
    ob = rigged_character(as_bones)
    bake_clips(bpy.context, chains_of([ob]), action)
    without_flips(ob)
    enter("POSE", ob, "spine")
    assert "All 3 clips are sound" in certificate_panel().text()
    for name in AMOUNTS:
        bpy.ops.analytic_ik.go_to_frame(frame=2, clip=name)
        assert playing_clip(ob).name == (f"{name} baked" if action == "COPY" else name)
        assert [button.text for button in certificate_panel().buttons if button.text == name]


@pytest.mark.parametrize("action", ["COPY", "CURRENT"])
def test_the_clip_that_plays_is_shown(action):
    ob = rigged_character(True)
    bake_clips(bpy.context, chains_of([ob]), action)
    without_flips(ob)
    enter("POSE", ob, "spine")
    for name in AMOUNTS:
        bpy.ops.analytic_ik.go_to_frame(frame=2, clip=name)
        assert name in certificate_panel().labels[len(AMOUNTS) :]
        assert shown_certificate(ob).clip == name


@pytest.mark.parametrize(("sliding", "others"), [(1, 14), (9, 10)])
def test_twenty_clips_have_rows_for_the_worst_and_a_panel_for_the_rest(sliding, others):
    ob = new_character(["walk"])
    entries = [clip_entry(f"clip {k:02}", entry()) for k in range(19 - sliding)]
    entries += [clip_entry(f"sliding {k}", entry(), feet=(foot_entry(slide=0.2),)) for k in range(sliding)]
    entries.append(clip_entry("short", entry(unreached_frames=[[3, 4]])))
    with_report(ob, *entries)
    enter("POSE", ob, "spine")
    shown = certificate_panel()
    assert f"{sliding + 1} of 20 clips need a look" in shown.text()
    buttons = [button.text for button in shown.buttons if button.text and getattr(button, "clip", "") == button.text]
    assert buttons[:2] == ["short", "sliding 0"]
    assert len(buttons) == 20
    assert f"{others} Other Clips" in shown.labels
    # None of them plays: the worst is shown.
    assert "The chain is out of reach" in shown.text()


def test_names_that_begin_with_that_of_the_armature_are_told_apart():
    ob = new_character(["walk"])
    with_report(ob, *(clip_entry(f"CharacterArmature|{name}", entry()) for name in ("walk", "run")))
    enter("POSE", ob, "spine")
    buttons = {button.text: button.clip for button in certificate_panel().buttons if getattr(button, "clip", "")}
    assert {name: buttons[name] for name in ("walk", "run")} == {
        "walk": "CharacterArmature|walk",
        "run": "CharacterArmature|run",
    }


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (clip_entry("a", entry()), ""),
        (clip_entry("a", entry(unreached_frames=[[3, 4]], flipped_frames=[[6, 6]])), "out of reach, flips"),
        (clip_entry("a", entry(), feet=(foot_entry(slide=0.2, knee_pops=3),)), "feet slide, knees pop"),
        (clip_entry("a", entry(), feet=(foot_entry(contacts=0),)), "no contact"),
        (clip_entry("a", entry(max_lag=0.1)), "misses"),
        (clip_entry("a", entry(frames=0)), "switched off"),
    ],
)
def test_what_is_wrong_in_a_clip_is_said_in_a_row(given, words):
    [own] = read_certificates(json.dumps(given))
    assert faults_words(own) == words
    assert own.is_sound == (not words)


def test_a_clip_that_is_gone_is_named():
    ob = checked(True)
    bpy.data.actions.remove(bpy.data.actions["run"])
    before = playing_clip(ob)
    with pytest.raises(RuntimeError, match=r"'skeleton' no longer has a clip 'run'\. Check its clips again"):
        bpy.ops.analytic_ik.go_to_frame(frame=3, clip="run")
    assert playing_clip(ob) == before


def test_a_clip_is_not_changed_under_an_nla_strip_that_is_tweaked():
    ob = checked(True)
    track = ob.animation_data.nla_tracks.new()
    track.strips.new("walk", 1, bpy.data.actions["walk"]).select = True
    ob.animation_data.action = None
    ob.animation_data.nla_tracks.active = track
    ob.animation_data.use_tweak_mode = True
    update()
    with pytest.raises(RuntimeError, match="tweak"):
        bpy.ops.analytic_ik.go_to_frame(frame=3, clip="run")


def test_the_text_has_every_clip():
    ob = checked(True)
    text = certificate_text(json.loads(ob.analytic_ik_report))
    assert all(f"Clip '{name}'" in text for name in AMOUNTS)
    assert text.count("Checked frames 1 to 12") == 3


def test_slides_that_are_rounding_are_the_same_wherever_they_are_shown():
    """Solved in double precision and shown in single, the same foot slides by 0.7 or by 4.5 micrometers."""
    words = {slides_words(bpy.context.scene, (0.05, after), 0.7) for after in (7e-7, 4.5e-6, 0.0)}
    assert words == {"5 cm → 0 m"}
    assert slides_words(bpy.context.scene, (0.05, 1e-3), 0.7) != words.pop()
