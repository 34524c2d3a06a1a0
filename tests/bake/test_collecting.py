"""Chains are sampled, or seen in a scene of its own, or in the user's: the keys play as live each time."""

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager, nullcontext

import bpy
import pytest

from ik_addon.bake import bake, baking, chains_of, check, collecting, stepping
from ik_addon.rig.live import state as live_state
from ik_addon.rig.live.scene_plan import ScenePlan
from ik_addon.rig.pose import track_reading
from ik_addon.rig.pose.reading import ArmatureReader
from ik_addon.rig.pose.track_reading import TrackReader
from ik_addon.solvers import ChainError

from ..changes import APART, CHANGES, HERE, HIDDEN, REFUSED, SAMPLED, hide, made
from ..helpers.films import assert_same_but_for_rounding, frames_gone_to
from ..helpers.movers import drive, held_by, mover
from ..rig.keys import fcurves
from ..rig.rigs import Rig, leg, new_empty, update
from ..scenes import (
    EXACT,
    Poses,
    farthest_apart,
    go_to,
    missed_world,
    only_chain,
    played,
    played_without_the_add_on,
    read_whole,
    slide,
    walking_leg,
    whole_state,
)

FRAMES = range(1, 13)


# How they are looked at


def way_of(frames_seen: list[tuple[str, int]], frames: range = FRAMES) -> str:
    """Which way frames were gone through, judged by the frame changes alone."""
    here = [frame for scene, frame in frames_seen if scene == bpy.context.scene.name]
    apart = [frame for scene, frame in frames_seen if scene != bpy.context.scene.name]
    if here:
        assert [*frames] == [frame for k, frame in enumerate(here) if frame in frames][-len(frames) - 1 :][
            : len(frames)
        ]
        return HERE
    return APART if len(apart) >= len(frames) else SAMPLED


def baked(rig: Rig, frames: range = FRAMES, **options) -> dict:
    return bake(bpy.context, chains_of([rig.ob]), frames, **options)


def without_time(report: dict) -> dict:
    return {**report, "files": [{**file, "seconds": 0.0} for file in report["files"]]}


def assert_plays_as(rig: Rig, expected: Poses) -> None:
    # Backwards: a pose that leant on the frame before would show.
    assert farthest_apart(played_without_the_add_on(rig.ob, reversed(expected)), expected, 2.0) < EXACT


def fresh() -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


# As live, and the way


BAKED = [name for name, change in CHANGES.items() if not change.moved]


@pytest.mark.parametrize("name", BAKED)
def test_keys_play_as_live_and_are_seen_in_the_right_way(name):
    rig = made(name)
    expected = played(rig.ob, FRAMES)
    with refused_or_not(name):
        with frames_gone_to() as frames_seen:
            report = baked(rig)
        assert way_of(frames_seen) == CHANGES[name].baked
        assert_plays_as(rig, expected)
        if name != "switch_keyed":
            assert {chain["frames"] for chain in report["files"][0]["chains"]} <= {len(FRAMES)}


def refused_or_not(name: str) -> AbstractContextManager:
    return pytest.raises(ChainError) if CHANGES[name].baked == REFUSED else nullcontext()


@pytest.mark.some(16)
@pytest.mark.parametrize("name", BAKED)
def test_a_bake_that_is_the_first_to_see_the_frames_finds_the_same(name):
    expected = played(made(name).ob, FRAMES)
    fresh()
    rig = made(name)
    with refused_or_not(name):
        baked(rig)
        assert_plays_as(rig, expected)


@pytest.mark.some(5)
@pytest.mark.parametrize(
    "frames", [range(1, 13, 2), range(2, 40, 5), range(-7, 6), range(6, 7), range(-3, 1000)], ids=str
)
@pytest.mark.parametrize("name", ["nothing", "a_target_held_by_another", "a_target_driven_by_a_function"])
def test_any_range_of_frames(name, frames):
    rig = made(name)
    expected = played(rig.ob, frames if len(frames) < 100 else frames[::90])
    with frames_gone_to() as frames_seen:
        report = baked(rig, frames)
    if len(frames) > 3:
        assert way_of(frames_seen, frames) == CHANGES[name].baked
    assert_plays_as(rig, expected)
    assert only_chain(report)["frames"] == len(frames)


# Hidden


def where_shown(name: str) -> Poses:
    """What the scene plays where nothing is hidden."""
    expected = played(made(name).ob, FRAMES)
    fresh()
    return expected


@pytest.mark.some(8)
@pytest.mark.parametrize("how", HIDDEN)
@pytest.mark.parametrize(
    "name",
    [
        "nothing",
        "a_target_held_by_another",
        "a_carrier_held_by_another",
        "a_constrained_control_bone_of_another_armature",
        "an_armature_without_bones_as_target",
        "a_pole_bone_and_a_target_bone",
        "driven_target",
        "nla_target",
    ],
)
def test_a_hidden_target_is_where_it_would_be_if_it_were_shown(name, how):
    expected = where_shown(name)
    rig = made(name)
    hide(rig.target.ob, how)
    baked(rig)
    assert_plays_as(rig, expected)


def test_a_target_that_is_in_no_scene_is_refused():
    rig = walking_leg()
    bpy.context.scene.collection.objects.unlink(rig.target.ob)
    update()
    with pytest.raises(ChainError):
        baked(rig)


@pytest.mark.parametrize("how", ["in viewports", "by the eye"])
@pytest.mark.parametrize("name", ["nothing", "a_constrained_control_bone_of_the_armature", "hips_that_copy_a_rotation"])
def test_a_hidden_armature_is_baked_as_it_plays_when_shown_or_refused(name, how):
    expected = where_shown(name)
    rig = made(name)
    hide(rig.ob, how)
    try:
        baked(rig)
    except ChainError:
        return
    rig.ob.hide_viewport = False
    rig.ob.hide_set(False)
    assert_plays_as(rig, expected)


# The report


# With its chain off, Blender does not say where a hidden target is; where a foot rolls, only the panel knows.
UNSEEN = ("a_hidden_target_driven_by_the_scenes_frame", "target_disabled", "rolling", "switch_keyed", "switched_off")


@pytest.mark.some(20)
@pytest.mark.parametrize(
    "name", [name for name in BAKED if CHANGES[name].baked != REFUSED and name not in (*UNSEEN, "chain_removed")]
)
def test_bake_and_check_say_the_same_and_errors_are_what_the_keys_play(name):
    rig = made(name)
    checking = check(bpy.context, chains_of([rig.ob]), FRAMES)
    go_to(1)
    baking_report = baked(rig)
    for checked, written in zip(checking["files"][0]["chains"], baking_report["files"][0]["chains"], strict=True):
        assert (checked.pop("keys") == 0) < written.pop("keys")
    assert_same_but_for_rounding(without_time(checking), without_time(baking_report))
    missed = {}
    for frame in FRAMES:
        played_without_the_add_on(rig.ob, [frame])
        missed[frame] = missed_world(rig)
    chain = next(chain for chain in checking["files"][0]["chains"] if chain["bone"] == rig.bones[-1])
    assert chain["max_error"] == pytest.approx(max(missed.values()), abs=4e-6)
    assert chain["mean_error"] == pytest.approx(sum(missed.values()) / len(missed), abs=4e-6)
    assert missed[chain["worst_frame"]] == pytest.approx(max(missed.values()), abs=8e-6)


@pytest.mark.some(5)
@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (3.0, 3.0, 3.0), (-2.0, 2.0, 2.0), (0.7, -1.3, 2.0)], ids=str)
@pytest.mark.parametrize("name", ["soft", "out_of_reach", "held_out_of_reach", "influence_set", "rolling"])
def test_the_report_is_that_of_the_general_way(name, scale):
    chains = []
    for way in (nullcontext, read_whole):
        rig = made(name)
        rig.ob.scale = scale
        update()
        with way():
            chains.append(only_chain(baked(rig)))
        fresh()
    ours, general = chains
    for name in ("max_error", "mean_error", "max_lag"):
        assert ours[name] == pytest.approx(general[name], abs=2e-5), name
    assert ours["max_step_degrees"] == pytest.approx(general["max_step_degrees"], abs=0.01)
    for name in ("solver", "chain_count", "frames", "unreached_frames", "limited_frames"):
        assert ours[name] == general[name]


# Everything as it was


REPRESENTATIVES = {
    SAMPLED: "a_carrier_that_turns",
    APART: "a_constrained_control_bone_of_another_armature",
    HERE: "a_target_driven_by_a_function",
}


def everything() -> dict:
    """All data-blocks with their users, besides `whole_state`, and where everything is linked."""
    state = whole_state()
    for ob in state["objects"].values():
        del ob["report"]
    kinds = [
        rna.identifier for rna in bpy.data.bl_rna.properties if rna.type == "COLLECTION" and rna.identifier != "all_ids"
    ]
    state["blocks"] = {
        (kind, block.name_full): (block.users, block.use_fake_user, block.tag)
        for kind in kinds
        for block in getattr(bpy.data, kind)
    }
    state["scenes"] = {
        scene.name: (
            [layer.name for layer in scene.view_layers],
            {ob.name for ob in scene.objects},
            (scene.frame_current, scene.frame_subframe, scene.frame_start, scene.frame_end),
        )
        for scene in bpy.data.scenes
    }
    window = bpy.context.window
    state["shown"] = (bpy.context.scene.name, bpy.context.view_layer.name, window and window.scene.name)
    state["paused"] = list(live_state.memory.paused)
    return state


def looked_at(way: str) -> Rig:
    """A scene in Pose Mode between two frames, with a second scene beside it, and hidden controls."""
    rig = walking_leg()
    CHANGES[REPRESENTATIVES[way]](rig)
    bpy.data.scenes.new("Analytic IK").collection.objects.link(rig.ob)
    rig.target.ob.hide_viewport = way == APART
    update()
    bpy.context.view_layer.objects.active = rig.ob
    rig.ob.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    go_to(5.25)
    return rig


def assert_as_it_was(rig: Rig, before: dict) -> None:
    update()
    after = everything()
    assert {name: after[name] for name in after if after[name] != before[name]} == {}
    rig.target.ob.hide_viewport = False
    update()
    for frame in (3, 8):
        go_to(frame)
        assert rig.missed() < EXACT


@pytest.mark.parametrize("way", REPRESENTATIVES)
def test_a_check_leaves_everything_as_it_was(way):
    rig = looked_at(way)
    before = everything()
    check(bpy.context, chains_of([rig.ob]), FRAMES)
    assert_as_it_was(rig, before)


@pytest.mark.parametrize("way", REPRESENTATIVES)
def test_a_bake_leaves_but_its_keys(way):
    rig = looked_at(way)
    before = everything()
    baked(rig, after="KEEP")
    update()
    after = everything()
    new = {key for key in after["blocks"] if key not in before["blocks"]}
    assert [kind for kind, _ in new] == ["actions"]
    assert before["blocks"].keys() <= after["blocks"].keys()
    assert {key for key, value in before["blocks"].items() if value != after["blocks"][key]} <= set()
    for name in ("stand", "scenes", "shown", "paused"):
        assert after[name] == before[name], name


def fail_at(number: int, real: Callable, error: type[BaseException]) -> Callable:
    """What does as `real` does, until it is called for the so-manieth time."""
    calls = []

    def fails(*arguments, **options):
        calls.append(arguments)
        if len(calls) == number:
            raise error("planned")
        return real(*arguments, **options)

    return fails


def failing_progress(frame: int, error: type[BaseException]) -> Callable:
    def progress(done, total):
        assert 1 <= done <= total == len(FRAMES)
        if done == frame:
            raise error("planned")

    return progress


def failing_steps(real: Callable, number: int, error: type[BaseException]) -> Callable:
    @contextmanager
    def steps(*arguments):
        with real(*arguments) as step:
            yield step and fail_at(number, step, error)

    return steps


@pytest.mark.some(12)
@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt, ChainError])
@pytest.mark.parametrize(
    "stage", ["progress", "first step", "last step", "reading", "sampling", "judging", "solving", "writing"]
)
@pytest.mark.parametrize("way", REPRESENTATIVES)
def test_everything_is_as_it_was_after_an_exception(way, stage, error, monkeypatch):
    rig = looked_at(way)
    before, progress = everything(), None
    with monkeypatch.context() as patch:
        if stage == "progress":
            if way == SAMPLED:
                # It has no steps.
                return
            progress = failing_progress(6, error)
        elif stage.endswith("step"):
            number = 1 if stage == "first step" else (3 if way == SAMPLED else 12)
            for name in ("stepping", "stepping_apart"):
                patch.setattr(collecting, name, failing_steps(getattr(collecting, name), number, error))
        elif stage == "reading":
            if way == SAMPLED:
                patch.setattr(ArmatureReader, "control", fail_at(2, ArmatureReader.control, error))
            else:
                patch.setattr(track_reading.SeenPlaces, "see", fail_at(5, track_reading.SeenPlaces.see, error))
        elif stage == "sampling":
            if way != SAMPLED:
                return
            patch.setattr(TrackReader, "_place", fail_at(1, TrackReader._place, error))
        elif stage == "judging":
            patch.setattr(stepping, "plays_anywhere", fail_at(1, stepping.plays_anywhere, error))
        elif stage == "solving":
            patch.setattr(collecting, "solve_each", fail_at(1, collecting.solve_each, error))
        else:
            patch.setattr(baking, "write_keys", fail_at(1, baking.write_keys, error))
        raised = False
        try:
            bake(bpy.context, chains_of([rig.ob]), FRAMES, progress=progress)
        except error:
            raised = True
        assert raised or (error is ChainError and stage in ("sampling", "reading"))
        if not raised:
            return
    assert_as_it_was(rig, before)


@pytest.mark.parametrize("way", REPRESENTATIVES)
def test_a_target_that_is_nowhere_at_some_frame_is_refused_and_everything_is_as_it_was(way):
    rig = looked_at(way)
    if way == HERE:
        # What a driver says is checked by Blender itself.
        slide(rig.target.ob, (0.0, -0.6, 0.5), (0.2, 0.5, 0.3))
    moved = {SAMPLED: bpy.data.objects.get("turning"), APART: bpy.data.objects.get("mover"), HERE: rig.target.ob}[way]
    curve = next(curve for curve in fcurves(moved) if curve.data_path == "location")
    curve.keyframe_points.insert(9, 0.0)
    for point in curve.keyframe_points:
        point.interpolation = "CONSTANT"
    curve.keyframe_points[1].co.y = math.nan
    update()
    before = everything()
    with pytest.raises(ChainError, match=r"^Frame \d+: .*'shin'"):
        baked(rig)
    update()
    after = everything()
    assert {name: after[name] for name in after if repr(after[name]) != repr(before[name])} == {}


# Where sampling is wrong


@pytest.mark.parametrize("wrong_at", [(1,), (7,), (12,), (1, 7, 12)], ids=str)
def test_sampling_that_blender_contradicts_is_found_by_three_frames(wrong_at, monkeypatch):
    rig = walking_leg()
    constraint = held_by(rig.target.ob, new_empty("elsewhere", (0.3, -0.2, 0.8)))
    for frame in FRAMES:
        constraint.influence = float(frame in wrong_at)
        constraint.keyframe_insert("influence", frame=frame)
    expected = played(rig.ob, FRAMES)
    with monkeypatch.context() as patch:
        patch.setattr(ScenePlan, "reasons", lambda self, scene: dict.fromkeys(self.planned(), ""))
        with frames_gone_to() as frames_seen:
            baked(rig)
    assert way_of(frames_seen) == APART
    assert_plays_as(rig, expected)


# What it costs


@pytest.mark.parametrize("name", ["nothing", "a_target_held_by_another", "a_target_driven_by_a_function"])
def test_how_often_frames_are_changed(name):
    """And how often the user's scene is evaluated: something in it counts that no chain depends on."""
    counted = []
    bpy.app.driver_namespace["count"] = lambda frame: counted.append(frame) or frame
    rig, frames = made(name), range(1, 61)
    drive(new_empty("meter"), "location", 0, "count(frame)")
    go_to(1)
    counted.clear()
    with frames_gone_to() as frames_seen:
        baked(rig, frames)
        update()
    way = CHANGES[name].baked
    most = {SAMPLED: 4, APART: len(frames) + 4, HERE: len(frames) + 2}[way]
    assert len(frames_seen) <= most
    assert len(counted) <= (len(frames) + 4 if way == HERE else 4)
    assert set(counted) <= ({*frames} if way == HERE else {1})


def test_many_chains_share_the_frames():
    rigs = []
    for k in range(6):
        rig = leg(f"leg {k}", float(k))
        held_by(rig.target.ob, mover(f"mover {k}", (k, -0.6, 0.5), (k + 0.2, 0.5, 0.3)))
        rig.enable()
        rigs.append(rig)
    expected = [played(rig.ob, FRAMES) for rig in rigs]
    with frames_gone_to() as frames_seen:
        bake(bpy.context, chains_of([rig.ob for rig in rigs]), FRAMES)
    assert len(frames_seen) <= len(FRAMES) + 4
    for rig, poses in zip(rigs, expected, strict=True):
        assert_plays_as(rig, poses)
