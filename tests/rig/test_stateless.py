"""A frame's pose depends on that frame alone; and the FK pose is never lost."""

from collections.abc import Callable
from functools import partial
from random import Random

import bpy
import pytest
from mathutils import Matrix, Quaternion

from ..helpers.creature import Creature, spread_over_frames, walked
from ..helpers.empty import empty_scene
from ..helpers.feet import animated_foot
from ..helpers.stretching import SCALE_KEYS, scale_animated_rig
from ..scenes import go_to, reopened, without_handlers
from ..troubles import no_target, target_deleted_by_operator, target_removed_from_the_file, too_many_bones
from .keys import FK_KEYS, FRAMES, animated_rig, fcurves
from .rigs import (
    ROTATION_MODES,
    Rig,
    evaluated_copy,
    fk_values,
    leg,
    matrix_difference,
    orientation,
    pose_values,
    random_rig,
    reachable_point,
    rotation_channel,
    rotation_values,
    set_rotation,
    update,
)

pytestmark = pytest.mark.versions

SAME = 2e-6
READ = 1e-5
"""Between a chain that was sampled, in double precision, and one that was read whole."""

Pose = dict[str, tuple[float, ...]]


def evaluated_pose(ob: bpy.types.Object) -> Pose:
    """All matrices of an armature, as Blender evaluates them."""
    return {bone.name: tuple(x for row in bone.matrix for x in row) for bone in evaluated_copy(ob).pose.bones}


def pose_at(ob: bpy.types.Object, frame: float) -> Pose:
    go_to(frame)
    return evaluated_pose(ob)


def difference(a: Pose, b: Pose) -> float:
    assert a.keys() == b.keys()
    return max(abs(x - y) for name in a for x, y in zip(a[name], b[name], strict=True))


def random_frames(random: Random, count: int) -> list[float]:
    """Frames with sub-frames, which float32 holds exactly."""
    return [random.choice((random.randint(0, 14), random.randint(0, 56) / 4.0)) for _ in range(count)]


RIGS: dict[str, Callable[[int], Rig]] = {
    **{f"keys: {kind}": partial(animated_rig, fk_keys=kind) for kind in FK_KEYS},
    **{f"scales: {kind}": partial(scale_animated_rig, scale_keys=kind) for kind in SCALE_KEYS},
}
"""Of a seed a chain of any kind that moves over the frames 1 to 13, by what is keyed of its own bones."""
BUILDS: dict[str, Callable[[int], Rig | Creature]] = RIGS | {
    "foot": animated_foot,
    "foot, its switch keyed": partial(animated_foot, keyed_switch=True),
    "body": lambda seed: walked(Creature(), keyed_hips=seed % 2 == 0),
    "body that turns": lambda seed: spread_over_frames(keyed_hips=seed % 2 == 0),
}


@pytest.mark.some(24)
@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("seed", range(12))
def test_a_frame_has_one_pose_whatever_was_visited_before(seed, build):
    frames, expected = random_frames(Random(seed), 12), {}
    for frame in set(frames[:4]):
        # In a scene that has visited no other.
        empty_scene()
        expected[frame] = pose_at(BUILDS[build](seed).ob, frame)
    empty_scene()
    ob = BUILDS[build](seed).ob
    for frame in frames + frames[:4]:
        pose = pose_at(ob, frame)
        assert difference(pose, expected.setdefault(frame, pose)) < SAME, f"frame {frame}"


@pytest.mark.some(12)
@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("seed", range(100, 104))
def test_a_frame_has_the_same_pose_after_save_and_reload(seed, build, tmp_path):
    ob = BUILDS[build](seed).ob
    name, frames = ob.name, random_frames(Random(seed), 4)
    expected = {frame: pose_at(ob, frame) for frame in frames}
    reopened(tmp_path / "rig.blend")
    ob = bpy.data.objects[name]
    update()
    assert difference(evaluated_pose(ob), expected[frames[-1]]) < READ
    for frame in frames:
        assert difference(pose_at(ob, frame), expected[frame]) < READ


@pytest.mark.some(12)
@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("seed", range(200, 204))
def test_a_frame_has_the_same_pose_after_undo_and_redo(seed, build):
    name = BUILDS[build](seed).ob.name
    frames = random_frames(Random(seed), 3)
    expected = {frame: pose_at(bpy.data.objects[name], frame) for frame in frames}
    bpy.ops.ed.undo_push(message="start")
    bpy.data.objects[name].pose.bones[0].location = (0.3, 0.2, 0.1)
    for frame in frames[:2]:
        go_to(frame)
    bpy.ops.ed.undo_push(message="moved")
    for steps in ((bpy.ops.ed.undo,), (bpy.ops.ed.redo, bpy.ops.ed.undo)):
        for step in steps:
            step()
        for frame in frames:
            assert difference(pose_at(bpy.data.objects[name], frame), expected[frame]) < SAME


@pytest.mark.some(12)
@pytest.mark.parametrize("build", RIGS)
@pytest.mark.parametrize("seed", range(300, 306))
def test_influence_zero_is_the_fk_pose(seed, build):
    """Blender alone, without the add-on, shows what the FK pose of a frame is."""
    frames = random_frames(Random(seed), 3)
    rig = RIGS[build](seed)
    rig.tip.analytic_ik_enabled = False
    update()
    with without_handlers():
        expected = {frame: pose_at(rig.ob, frame) for frame in frames}
    empty_scene()
    rig = RIGS[build](seed)
    for frame in random_frames(Random(seed + 1), 4):
        go_to(frame)
    for curve in fcurves(rig.ob):
        curve.mute = curve.mute or curve.data_path.endswith(("analytic_ik_influence", "analytic_ik_enabled"))
    rig.tip.analytic_ik_enabled, rig.tip.analytic_ik_influence = True, 0.0
    update()
    for frame in frames:
        # Rounded, for the tip has a constraint: Blender takes such bones to world space and back.
        assert difference(pose_at(rig.ob, frame), expected[frame]) < SAME
        assert pose_values(rig.ob) == fk_values(rig.ob)


@pytest.mark.parametrize("seed", range(500, 530))
def test_another_rotation_mode_does_to_the_fk_pose_what_it_does_without_ik(seed):
    expected = in_other_modes(seed, live=False)
    empty_scene()
    for now, before in zip(in_other_modes(seed, live=True), expected, strict=True):
        assert matrix_difference(orientation(now), orientation(before)) < 1e-5


def in_other_modes(seed: int, live: bool) -> list[Matrix]:
    """The FK pose of a rig whose chain has changed its rotation modes, with IK on top or without."""
    rig = random_rig(seed)
    rig.place_target(reachable_point(rig))
    if live:
        rig.enable()
    for name in rig.bones:
        rig.ob.pose.bones[name].rotation_mode = rig.random.choice(ROTATION_MODES)
    update()
    if live:
        assert rig.missed() < 1e-5
        rig.tip.analytic_ik_influence = 0.0
        update()
    return rig.matrices()


def switch_off(rig: Rig) -> None:
    rig.tip.analytic_ik_enabled = False


def choose_a_solver_that_does_not_fit(rig: Rig) -> None:
    rig.tip.analytic_ik_chain_count = 1
    rig.tip.analytic_ik_solver = "VECTOR"


ENDS = (
    switch_off,
    target_removed_from_the_file,
    target_deleted_by_operator,
    too_many_bones,
    no_target,
    choose_a_solver_that_does_not_fit,
)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("frame_change", [False, True])
def test_a_chain_that_ends_gives_its_bones_their_fk_pose_back(end, frame_change):
    rig = leg()
    fk = pose_values(rig.ob)
    rig.enable()
    assert pose_values(rig.ob) != fk
    end(rig)
    if frame_change:
        go_to(2)
    else:
        update()
    assert pose_values(rig.ob) == fk
    assert rig.joints()[-1].length < SAME


def test_a_muted_driver_takes_no_part():
    rig = leg()
    bones = rig.ob.pose.bones
    set_rotation(bones["thigh"], Quaternion((1.0, 0.0, 0.0), 0.3))
    fk = rotation_values(bones["thigh"])
    rig.target.place((0.1, -0.4, 0.6))
    for name in ("thigh", "shin"):
        for curve in bones[name].driver_add(rotation_channel(bones[name])):
            curve.mute = True
    rig.enable(influence=0.6)
    for frame in (*FRAMES, *reversed(FRAMES)):
        go_to(frame)
    rig.tip.analytic_ik_influence = 0.0
    update()
    # Without drivers that act, what stands on a bone at a frame change is what the chain wrote there.
    assert rotation_values(bones["thigh"]) == fk
