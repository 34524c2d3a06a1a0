"""Clips that are read together get the keys that each of them gets alone."""

import bpy
import pytest

from ik_addon.authoring import clip_tracks, snap
from ik_addon.authoring.rigging import rig_legs
from ik_addon.bake.collecting import SampledChains
from ik_addon.rig.blender.clips import clips_of

from ..helpers.empty import empty_scene
from ..scenes import action_state
from .characters import AMOUNTS, as_bones, new_character

pytestmark = pytest.mark.versions


def keys_of_clips(as_bones: bool, unlike: str = "") -> dict:
    """The keys in all clips of a character that has been rigged. unlike: the clip that moves the head as well."""
    empty_scene()
    ob = new_character()
    if unlike:
        ob.animation_data.action = bpy.data.actions[unlike]
        ob.pose.bones["head"].keyframe_insert("location", frame=3)
    rig_legs(bpy.context, ob, as_bones=as_bones)
    # The numbers of slots are drawn by lot.
    return {
        action.name: sorted((path, index, state) for (_, path, index), state in action_state(action).items())
        for action in bpy.data.actions
    }


@pytest.fixture
def readings(monkeypatch) -> list[int]:
    """Of how many clips each reading was that was made of several, or of one."""
    counts, together = [], clip_tracks.controls_in

    def counted(chosen, readings, sampler, parts):
        counts.append(len(parts))
        return together(chosen, readings, sampler, parts)

    monkeypatch.setattr(clip_tracks, "controls_in", counted)
    return counts


@as_bones
@pytest.mark.parametrize("unlike", ["", "run"])
@pytest.mark.parametrize("most", [2000, 1])
def test_clips_read_together_are_as_each_alone(as_bones, unlike, most, readings, monkeypatch):
    monkeypatch.setattr(clip_tracks, "_MOST", most)
    together = keys_of_clips(as_bones, unlike)
    groups = [1] * len(AMOUNTS) if most == 1 else [1, len(AMOUNTS) - 1] if unlike else [len(AMOUNTS)]
    assert sorted(readings) == groups
    monkeypatch.setattr(clip_tracks.ClipTracks, "of", lambda *_: None)
    assert keys_of_clips(as_bones, unlike) == together


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
    controls = snap.checked_controls(tips, range(1, 9))
    frames = tracks._samplers[next(iter(tracks._samplers))].frames
    assert tracks.of(bpy.context, controls, range(frames.start, frames.stop - 2)) is None
