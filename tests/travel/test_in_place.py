"""Clips in place and clips that travel: feet slide back at one speed, and stand once the clip travels again."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from ik_addon.authoring.rigging import rig_legs
from ik_addon.bake.stepping import finish
from ik_addon.planting.feet.contacts import sole_of
from ik_addon.planting.feet.measures import measured
from ik_addon.planting.feet.options import Options
from ik_addon.planting.feet.treadmill import stands_on
from ik_addon.planting.scene.reading import legs_of
from ik_addon.planting.scene.reading import shown as legs_shown
from ik_addon.solvers import ChainError
from ik_addon.travel import put_in_place, to_root, travel
from ik_addon.travel.motion import standing_velocity

from ..planting.clips import CYCLE as CLIP_CYCLE
from ..planting.clips import STRIDE as CLIP_STRIDE
from ..planting.clips import every, placed
from ..planting.clips import walk as made_walk
from ..rig.rigs import update
from ..scenes import EXACT, linked, refuses
from .walkers import CHAINS, CYCLE, LEG, PLACED, STANCE, STRIDE, Walk, apart, character, shown, some_slow, walker

pytestmark = pytest.mark.versions

WALKS = {
    "on the hips": (Walk(), False),
    "on the root": (Walk(root_place=(0.1, 0.2, 0.0, 0.4)), True),
    "no root": (Walk(root="", mode="XYZ", fps=30), False),
    "on the object": (Walk(root="", world=PLACED), True),
    "placed and scaled": (Walk(world=PLACED @ Matrix.Scale(0.1, 4)), False),
}


@pytest.mark.parametrize("chains", CHAINS)
@pytest.mark.parametrize("name", some_slow(WALKS))
def test_in_place_and_traveling_again_it_is_the_same_clip(name, chains):
    walk, on_root = WALKS[name]
    ob, leg = character(walk, chains)
    if on_root:
        to_root(bpy.context, ob)
    before = shown(ob, walk.frames)
    report = put_in_place(bpy.context, ob)
    still = shown(ob, walk.frames)
    # Everything is where it was, but for a way at constant speed. What stands where it was goes with nothing.
    ways = before["hips"][:, :3, 3] - still["hips"][:, :3, 3]
    steps = np.diff(ways, axis=0)
    assert np.abs(steps - steps[0]).max() < EXACT * leg
    assert np.linalg.norm((before["hips"] - still["hips"])[-1, :3, 3]) > 1.9 * leg
    assert np.abs((still["hips"][-1] - still["hips"][0])[:2, 3]).max() < EXACT * leg
    moving = [each for each in before if each not in ("root", "prop") or on_root]
    both = {each: before[each].copy() for each in moving}
    for worlds in both.values():
        worlds[:, :3, 3] -= ways
    assert apart(both, {each: still[each] for each in moving}, leg) < EXACT
    scale = ob.matrix_world.median_scale
    expected = scale * STRIDE / CYCLE * walk.fps
    # Over whole cycles; a body placed obliquely travels over the ground as far as it is level.
    assert report["speed"] == pytest.approx(np.linalg.norm(ways[-1]) / 48 * walk.fps, rel=1e-4)
    assert report["speed"] <= expected * 1.0001
    travel(bpy.context, ob)
    assert apart(before, shown(ob, walk.frames), leg) < EXACT


def feet(ob: bpy.types.Object, frames: range) -> list[dict[str, float]]:
    clip = finish(legs_shown(bpy.context, ob, legs_of(ob), frames))
    sole = sole_of(clip)
    return measured(clip, sole, stands_on(clip, Options()).contacts)


@pytest.mark.parametrize("fps", [24, 30])
@pytest.mark.parametrize("chains", CHAINS)
def test_a_clip_in_place_travels_so_that_its_feet_stand(chains, fps):
    walk = Walk(in_place=True, fps=fps)
    ob, leg = character(walk, chains)
    report = travel(bpy.context, ob)
    assert report["speed"] == pytest.approx(STRIDE / CYCLE * fps, rel=1e-5)
    after = shown(ob, walk.frames)
    for side, phase in (("L", 0.05), ("R", 0.55)):
        # The shares of the cycle in which a foot stands, by the walk itself.
        stands = ((np.arange(len(walk.frames)) / CYCLE + phase) % 1.0) < STANCE - 1e-6
        speed = np.linalg.norm(np.diff(after[f"foot.{side}"][:, :3, 3], axis=0), axis=1) / leg
        assert speed[stands[1:] & stands[:-1]].max() < EXACT
    assert after["root"][-1, 1, 3] == pytest.approx(-2.0 * STRIDE, rel=1e-5)


def test_keyed_bones_without_a_parent_travel_along_and_others_stay():
    walk = Walk(in_place=True)
    ob = walker(walk)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for name in ("paw", "prop stand"):
        ob.data.edit_bones.new(name).tail = (0.0, 0.0, 0.1)
    bpy.ops.object.mode_set(mode="OBJECT")
    foot, paw = ob.pose.bones["foot.L"], ob.pose.bones["paw"]
    for frame in walk.frames:
        bpy.context.scene.frame_set(frame)
        paw.matrix = foot.matrix
        for channel in ("location", "rotation_quaternion"):
            paw.keyframe_insert(channel)
    travel(bpy.context, ob)
    after = shown(ob, walk.frames)
    assert np.abs(after["paw"][:, :3, 3] - after["foot.L"][:, :3, 3]).max() < EXACT
    assert np.ptp(after["prop stand"][:, :3, 3], axis=0).max() == 0.0
    put_in_place(bpy.context, ob)
    after = shown(ob, walk.frames)
    assert np.abs(after["paw"][:, :3, 3] - after["foot.L"][:, :3, 3]).max() < EXACT


@pytest.mark.parametrize("fps", [24.0, 60.0])
def test_the_speed_of_feet_that_roll_is_that_of_their_contacts(fps):
    clip = every(made_walk(fps=120.0)[0], round(120.0 / fps))
    speed = CLIP_STRIDE / CLIP_CYCLE
    times = np.arange(clip.frame_count)[:, None] / clip.fps
    in_place = placed(clip, -times * (speed, 0.0, 0.0))
    found = standing_velocity(in_place)
    assert found == pytest.approx((speed, 0.0, 0.0), abs=1e-4 * speed)
    belt = stands_on(in_place, Options()).ground.velocity
    assert -belt == pytest.approx(found, abs=1e-2 * speed)


def test_feet_that_a_retarget_lets_slide_stand_as_well_as_their_capture_does():
    # A wobbling body keeps no belt exactly: the feet are as still as the source has them.
    walk = Walk(drift=0.15)
    ob = walker(walk)
    before = feet(ob, walk.frames)
    put_in_place(bpy.context, ob)
    ob.animation_data.action.property_unset("analytic_ik_travel_taken")
    travel(bpy.context, ob)
    after = feet(ob, walk.frames)
    for one, other in zip(before, after, strict=True):
        assert other["slide"] <= one["slide"] + 0.01


def test_what_was_taken_is_forgotten_once_it_is_given_back():
    ob = walker(Walk(last=25))
    put_in_place(bpy.context, ob)
    assert ob.animation_data.action.is_property_set("analytic_ik_travel_taken")
    travel(bpy.context, ob)
    assert not ob.animation_data.action.is_property_set("analytic_ik_travel_taken")
    with refuses(ChainError, "its feet do not slide back at one speed"):
        travel(bpy.context, ob)


@pytest.mark.parametrize("record", ["", "[]", "{", '{"bone": "gone", "step": [1, 2, 3]}', '{"bone": "", "step": [1]}'])
def test_a_record_that_somebody_else_wrote_counts_for_nothing(record):
    walk = Walk(in_place=True)
    ob = walker(walk)
    ob.animation_data.action.analytic_ik_travel_taken = record
    assert travel(bpy.context, ob)["speed"] == pytest.approx(STRIDE, rel=1e-5)


def test_a_clip_in_place_is_not_put_in_place():
    ob = walker(Walk(in_place=True, last=25))
    with refuses(ChainError, r"Armature 'walker': its body 'hips' does not travel in this clip"):
        put_in_place(bpy.context, ob)


def test_a_control_from_a_library_is_named(tmp_path):
    ob, _ = character(Walk(last=25), "Empties")
    tip = ob.pose.bones["shin.L"]
    tip.analytic_ik_target = linked(tip.analytic_ik_target, tmp_path)
    update()
    with pytest.raises(ChainError, match=r"Object 'Foot.L': it is linked"):
        put_in_place(bpy.context, ob)


def test_controls_play_what_belongs_to_the_new_clip_and_the_source_is_kept():
    walk = Walk(last=25)
    ob = walker(walk)
    source = ob.animation_data.action
    other = source.copy()
    other.use_fake_user = True
    rig_legs(bpy.context, ob)
    update()
    before = shown(ob, walk.frames)
    put_in_place(bpy.context, ob)
    made, still = ob.animation_data.action, shown(ob, walk.frames)
    for action, expected in ((source, before), (made, still), (other, before), (made, still)):
        ob.animation_data.action = action
        update()
        assert apart(expected, shown(ob, walk.frames)) < EXACT


def test_after_an_in_place_clip_is_exported_and_imported_it_is_the_same(tmp_path):
    walk = Walk(last=25)
    ob = walker(walk)
    put_in_place(bpy.context, ob)
    before = shown(ob, walk.frames)
    path = str(tmp_path / "walk.glb")
    bpy.ops.export_scene.gltf(filepath=path, export_animation_mode="ACTIONS")
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.context.scene.render.fps = walk.fps
    bpy.ops.import_scene.gltf(filepath=path)
    new = next(each for each in bpy.data.objects if each.type == "ARMATURE")
    # The source is exported as well.
    new.animation_data.action = next(each for each in bpy.data.actions if "in place" in each.name)
    # Imported animation begins at frame 0 or 1, by version.
    first = round(new.animation_data.action.frame_range[0])
    frames = range(first, first + len(walk.frames))
    after = shown(new, frames)
    heads = {name: np.abs(after[name] - before[name])[:, :3, 3].max() for name in before}
    assert max(heads.values()) < 1e-4 * LEG
