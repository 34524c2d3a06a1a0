"""A bake of chains with joint limits plays what they showed, and its report names the frames that they hold off."""

import bpy
import pytest

from ik_addon.bake import bake, chains_of, check
from ik_addon.bake.report import words
from ik_addon.rig.pose.solving import solve_scene
from ik_addon.solvers import Outcome

from ..rig.joint_laws import Judge, limited_rig
from ..rig.rigs import Rig, pole_point, random_unit, reach
from ..scenes import EXACT, farthest_apart, go_to, played, played_without_the_add_on, walking_leg

FRAMES = range(1, 14)


def wandering_rig(seed: int) -> Rig:
    """A rig of any kind, with limits, whose target wanders through its reach and out of it."""
    rig = limited_rig(seed, count=2 + seed % 2)
    root, far = rig.joints()[0], reach(rig.lengths())[1]
    moved = rig.target.ob.pose.bones[rig.target.bone] if rig.target.bone else rig.target.ob
    for frame in (1, 6, 13):
        rig.place_target(root + random_unit(rig.random) * far * rig.random.uniform(0.3, 1.2))
        moved.keyframe_insert("location", frame=frame)
    if rig.pole:
        rig.place_pole(pole_point(rig, rig.to_armature(rig.target)))
    rig.enable()
    return rig


def limited_at() -> list[int]:
    """The frames at which limits keep the only chain of the scene from its target."""
    found = []
    for frame in FRAMES:
        go_to(frame)
        done = solve_scene(bpy.context.evaluated_depsgraph_get(), frame_changed=False)
        (limb,) = done.limbs.values()
        if limb.outcome is Outcome.LIMITED:
            found.append(frame)
    return found


def frames_of(ranges: list[list[int]]) -> list[int]:
    return [frame for first, last in ranges for frame in range(first, last + 1)]


@pytest.mark.parametrize("seed", range(100, 130))
def test_the_keys_alone_play_it_and_the_report_names_the_frames_held_off(seed):
    rig = wandering_rig(seed)
    judge = Judge(rig)
    length = sum(rig.lengths())
    live, limited = played(rig.ob, FRAMES), limited_at()
    (checked,) = check(bpy.context, chains_of([rig.ob]), FRAMES)["files"][0]["chains"]
    (baked,) = bake(bpy.context, chains_of([rig.ob]), FRAMES)["files"][0]["chains"]
    assert frames_of(baked["limited_frames"]) == frames_of(checked["limited_frames"]) == limited
    assert ("kept off by its limits" in words(baked)) is bool(limited)
    assert not set(limited) & set(frames_of(baked["unreached_frames"]))
    assert farthest_apart(live, played_without_the_add_on(rig.ob, FRAMES), length) < EXACT
    for frame in FRAMES:
        go_to(frame)
        assert judge.broken() == {}


def test_words_name_the_frames():
    rig = walking_leg()
    rig.target.ob.animation_data_clear()
    rig.tip.analytic_ik_use_cone, rig.tip.analytic_ik_cone = True, 0.5
    for frame in range(1, 13):
        # Only a sharp bend, or none that is long enough, brings the ankle there.
        rig.target.ob.location = (0.0, -0.2, 1.5 if frame in (2, 3, 4, 9) else -5.0 if frame == 7 else 0.02)
        rig.target.ob.keyframe_insert("location", frame=frame)
    (chain,) = check(bpy.context, chains_of([rig.ob]), range(1, 13))["files"][0]["chains"]
    assert chain["limited_frames"] == [[2, 4], [9, 9]]
    assert chain["unreached_frames"] == [[7, 7]]
    assert "out of reach at 7, kept off by its limits at 2 to 4, 9" in words(chain)
