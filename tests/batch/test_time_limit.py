"""A file for which there is no time: clips that are done are kept, the others are as they were, and are named."""

import os
from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
import pytest

from ik_addon import command_line
from ik_addon.authoring import rigging
from ik_addon.authoring.rigging import rig_legs
from ik_addon.bake import saving as stopping
from ik_addon.planting.scene import whole_clip

from ..clips.characters import films, walking_clips
from ..scenes import walking_leg
from .shots import names, read

pytestmark = pytest.mark.slow

LIMIT = ("--time-limit", "60", "--report", "report.json")
SENTENCE = "it took longer than 60 s. Raise --time-limit, or leave it out."
CLIPS = {"walk", "slow", "flying"}


@pytest.fixture
def folder(addon, tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def in_time(monkeypatch) -> Callable[[object, str, int], None]:
    """Let no time pass but in one function of steps, which takes too much of it from a certain call on."""
    now = [0.0]
    monkeypatch.setattr(stopping, "monotonic", lambda: now[0])

    def wrap(module: object, name: str, calls: int) -> None:
        real, done = getattr(module, name), []

        def slow(*given, **named):
            result = yield from real(*given, **named)
            done.append(name)
            if len(done) == calls:
                now[0] += 100.0
            return result

        monkeypatch.setattr(module, name, slow)

    return wrap


def walkers(rigged: bool = False) -> None:
    """A character with three clips, in one of which nobody stands, in a file."""
    ob = walking_clips()
    if rigged:
        rig_legs(bpy.context, ob)
    bpy.ops.wm.save_as_mainfile(filepath=os.path.abspath("walkers.blend"))


def run(*arguments: str, status: int = 1) -> None:
    assert command_line.run(arguments) == status


def by_clip() -> dict[str, dict]:
    entries = {entry["clip"]: entry for entry in read(Path("report.json"))}
    assert set(entries) == CLIPS
    return entries


def late(entries: dict[str, dict]) -> set[str]:
    """The clips for which there was no time, which is an error and the reason why they are left out."""
    found = {clip for clip, entry in entries.items() if entry["error"] is not None}
    for clip in found:
        assert entries[clip]["error"] == entries[clip]["left_out"] == SENTENCE
        assert entries[clip]["frames"] is not None
    return found


@pytest.mark.parametrize("suffix", ["blend", "glb"])
def test_planted_clips_are_kept_and_the_others_are_as_they_were(folder, in_time, capsys, suffix):
    walkers()
    bones = [bone.name for bone in bpy.data.objects["Robot rig"].pose.bones]
    before = films(Path("walkers.blend"), range(1, 41), bones)
    in_time(whole_clip, "_baked", 1)
    capsys.readouterr()
    run("plant", "walkers.blend", "--output", f"out.{suffix}", *LIMIT)
    said = capsys.readouterr()
    assert said.err.splitlines()[-1] == f"walkers.blend: {SENTENCE}"
    assert "walkers.blend: saved with what was done within the time limit" in said.out.splitlines()
    entries = by_clip()
    [done] = CLIPS - late(entries)
    assert entries[done]["feet"] and "left_out" not in entries[done]
    for clip in late(entries):
        assert f"walkers.blend: {clip}: left as it is: it took longer than 60 s." in said.out
    after = films(Path(f"out.{suffix}"), range(1, 41), bones)
    for clip in late(entries):
        assert np.abs(after[clip] - before[clip]).max() < 1e-3


def test_clips_with_live_chains_are_baked_where_there_is_no_time_to_plant_them(folder, in_time):
    """Without their chains they would show something else."""
    walkers(rigged=True)
    in_time(whole_clip, "_baked", 1)
    run("plant", "walkers.blend", "--output", "out.blend", *LIMIT)
    entries = by_clip()
    assert len(late(entries)) == 2
    assert all(entries[clip]["chains"] for clip in CLIPS)


def test_a_character_for_which_there_is_no_time_is_not_rigged(folder, in_time):
    walkers()
    in_time(rigging, "motion_snapped", 1)
    run("rig", "walkers.blend", "--output", "out.blend", *LIMIT)
    [entry] = read(Path("report.json"))
    assert entry["error"] == SENTENCE and not Path("out.blend").exists()


def test_who_raises_the_limit_goes_on(folder, in_time, capsys):
    walkers()
    in_time(whole_clip, "_baked", 1)
    run("plant", "walkers.blend", "--output", "out.blend", *LIMIT)
    assert len(late(by_clip())) == 2
    run("plant", "walkers.blend", "--output", "out.blend", *LIMIT, "--resume", "--time-limit", "1000", status=0)
    entries = by_clip()
    assert late(entries) == set()
    assert [clip for clip, entry in entries.items() if "left_out" in entry] == ["flying"]


def test_checked_clips_are_kept(folder, in_time):
    from ik_addon.planting.scene import checking

    walkers(rigged=True)
    in_time(checking, "checked", 1)
    run("check", "walkers.blend", "--clips", "all", *LIMIT)
    entries = by_clip()
    assert len(late(entries)) == 2
    assert all(bool(entry["chains"]) == (entry["error"] is None) for entry in entries.values())


@pytest.mark.parametrize(
    "line",
    [
        "plant walkers.blend --output out.blend --frames 1-40",
        "plant walkers.blend --output out.glb",
        "bake walkers.blend --output out.blend --clips all",
        "bake walkers.blend --output out.blend",
        "native walkers.blend --output out.blend",
    ],
)
def test_what_cannot_be_kept_in_part_leaves_nothing(folder, monkeypatch, capsys, line):
    """No time from the beginning on."""
    walkers(rigged=True)
    ticks = iter(range(0, 10_000_000, 100))
    monkeypatch.setattr(stopping, "monotonic", lambda: next(ticks))
    capsys.readouterr()
    run(*line.split(), *LIMIT)
    assert capsys.readouterr().err == f"walkers.blend: {SENTENCE}\n"
    assert [(entry["error"], entry["chains"]) for entry in read(Path("report.json"))] == [(SENTENCE, [])]
    assert names(folder) == ["report.json", "walkers.blend"]


def test_an_armature_for_which_there_is_no_time_is_told_beside_the_others(folder, in_time, capsys):
    ob = walking_clips()
    other = ob.copy()
    other.data = ob.data.copy()
    other.name = "Second"
    bpy.context.collection.objects.link(other)
    bpy.ops.wm.save_as_mainfile(filepath=os.path.abspath("walkers.blend"))
    from ik_addon.command_line import commands as planting

    in_time(planting, "clips_planted", 1)
    run("plant", "walkers.blend", "--output", "out.blend", "--frames", "1-40", *LIMIT)
    assert [entry["error"] for entry in read(Path("report.json"))] == [None, SENTENCE]
    assert SENTENCE in capsys.readouterr().err
    assert "out.blend" in names(folder)


def test_without_a_limit_nothing_is_too_late(folder, monkeypatch):
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    walking_leg()
    bpy.ops.wm.save_as_mainfile(filepath=os.path.abspath("walk.blend"))
    ticks = iter(range(0, 10_000_000, 100))
    monkeypatch.setattr(stopping, "monotonic", lambda: next(ticks))
    run("bake", "walk.blend", "--output", "out.blend", status=0)
