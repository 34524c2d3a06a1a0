"""Clips that are read together get the keys that each of them gets alone."""

from collections.abc import Callable, Iterable
from functools import partial
from math import cos, sin

import bpy
import pytest

from ik_addon.authoring import clip_tracks, snap
from ik_addon.authoring.rigging import rig_legs
from ik_addon.bake.collecting import SampledChains
from ik_addon.bake.stepping import finish
from ik_addon.planting import last_report
from ik_addon.planting.scene import plant, reading
from ik_addon.planting.scene.reading import captured, leg_tips
from ik_addon.rig.blender.clips import clips_of, playing_alone

from ..helpers.empty import empty_scene
from ..scenes import action_state
from .characters import AMOUNTS, as_bones, new_character, walker

pytestmark = pytest.mark.versions


def keys_of_clips(as_bones: bool, turning: Iterable[str] = ()) -> dict:
    """The keys in all clips of a character that has been rigged. turning: the clips in which the body turns once."""
    empty_scene()
    ob = new_character()
    body = ob.pose.bones["spine"]
    for name in turning:
        ob.animation_data.action = bpy.data.actions[name]
        for frame, angle in ((1, 0.0), (5, 2.0), (9, 4.0), (12, 5.8)):
            body.rotation_quaternion = (cos(0.5 * angle), 0.0, sin(0.5 * angle), 0.0)
            body.keyframe_insert("rotation_quaternion", frame=frame)
    rig_legs(bpy.context, ob, as_bones=as_bones)
    # The numbers of slots are drawn by lot.
    return {
        action.name: sorted((path, index, state) for (_, path, index), state in action_state(action).items())
        for action in bpy.data.actions
    }


@pytest.fixture
def readings(monkeypatch) -> list[int]:
    """Of how many clips each reading was that was made of several, or of one."""
    counts = []

    def counted(read: Callable, *given):
        counts.append(len(given[-1]))
        return read(*given)

    for module, name in ((snap, "controls_in"), (reading, "_told_in")):
        monkeypatch.setattr(module, name, partial(counted, getattr(module, name)))
    return counts


@as_bones
@pytest.mark.parametrize(
    "turning, most, groups", [([*AMOUNTS], 2000, [3]), (["run"], 2000, [1, 2]), ([*AMOUNTS], 1, [1, 1, 1])]
)
def test_clips_read_together_are_as_each_alone(as_bones, turning, most, groups, readings, monkeypatch):
    monkeypatch.setattr(clip_tracks, "_MOST", most)
    together = keys_of_clips(as_bones, turning)
    assert sorted(readings) == groups
    monkeypatch.setattr(clip_tracks.ClipTracks, "of", lambda *_: None)
    assert keys_of_clips(as_bones, turning) == together


def test_a_clip_that_is_not_as_it_was_read_is_stepped_through(readings, monkeypatch):
    expected, confirmed, stepped = keys_of_clips(False), SampledChains.is_confirmed, []

    def refused(self, context, tips, frames, start=0):
        is_refused = tips[0].id_data.animation_data.action.name == "run"
        return not is_refused and confirmed(self, context, tips, frames, start)

    through = snap.stepped
    monkeypatch.setattr(SampledChains, "is_confirmed", refused)
    monkeypatch.setattr(snap, "stepped", lambda *given: stepped.append(1) or through(*given))
    found = keys_of_clips(False)
    assert stepped == [1] and found.keys() == expected.keys()


def test_other_frames_than_those_that_were_read_are_read_alone():
    ob = new_character()
    rig_legs(bpy.context, ob)
    tracks = clip_tracks.ClipTracks(ob, clips_of(ob))
    tips = [bone for bone in ob.pose.bones if bone.analytic_ik_enabled]
    read = partial(snap.controls_in, snap.checked_controls(tips, range(1, 9)))
    (clip, *_), sampler = clips_of(ob), next(iter(tracks._samplers.values()))
    frames = range(sampler.frames.start, sampler.frames.stop - 2)
    with playing_alone([(ob, clip)]):
        assert tracks.of(bpy.context, tips, frames, read) is None


def planted_keys(times: int, follows: bool = True) -> dict:
    """The keys in all clips of a character, one of which is refused, that was planted so many times."""
    ob = walker(True)
    for tip in leg_tips(ob):
        tip.analytic_ik_use_rotation = follows
    for _ in range(times):
        assert bpy.ops.analytic_ik.plant_feet(clips="ALL") == {"FINISHED"}
    return {
        action.name: sorted((path, index, state) for (_, path, index), state in action_state(action).items())
        for action in bpy.data.actions
    }


@pytest.mark.slow
@pytest.mark.parametrize("times, follows", [(1, True), (1, False), (2, True)])
def test_clips_that_are_planted_together_are_as_each_alone(times, follows, readings, monkeypatch):
    together = planted_keys(times, follows)
    assert 3 in readings, "it was not read together"
    assert {"walk planted", "slow planted"} <= together.keys()
    monkeypatch.setattr(clip_tracks.ClipTracks, "of", lambda *_: None)
    assert planted_keys(times, follows) == together


@pytest.mark.slow
def test_what_is_reported_of_planted_clips_is_what_reading_their_keys_gives(monkeypatch):
    ob = walker(True)
    bpy.ops.analytic_ik.plant_feet(clips="CURRENT")
    told = last_report()

    def read_again(context, tips, capture, frames):
        return finish(captured(context, tips, None, frames, solved=True, at_feet=True, legs=capture.legs)).clip

    monkeypatch.setattr(plant, "solved_again", read_again)
    ob = walker(True)
    bpy.ops.analytic_ik.plant_feet(clips="CURRENT")
    for one, other in zip(told["chains"], last_report()["chains"], strict=True):
        assert one["after"] == pytest.approx(other["after"], rel=1e-6, abs=1e-7)
        assert one["pop_frames"] == other["pop_frames"]
    assert ob.animation_data.action.name == told["action"]
