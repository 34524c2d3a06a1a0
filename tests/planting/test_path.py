"""Plant Feet along a curve in Blender: measured on evaluated bones."""

import re
from dataclasses import replace
from itertools import pairwise
from math import cos, sin

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_addon.planting import Ground, Options, plant
from ik_addon.planting.feet.along_path import along_path, brought
from ik_addon.planting.feet.contacts import sole_of
from ik_addon.planting.feet.path import path_of
from ik_addon.planting.feet.walk import Walk
from ik_addon.planting.scene.footprints import footprints_of
from ik_addon.planting.scene.limbs import key_contacts
from ik_addon.planting.scene.path import curve_of, points_of
from ik_addon.planting.scene.reading import leg_tips
from ik_addon.ui.panels.motion import ANALYTIC_IK_PT_planting

from ..scenes import curves_of, go_to, select, sliding_walk
from ..ui.layouts import drawn
from . import clips
from .curves_drawn import curve_through
from .standing import FRAMES, LEG, feet_over, keys_of, slides, world_of

pytestmark = pytest.mark.versions


@pytest.fixture
def walker() -> bpy.types.Object:
    return sliding_walk()


BEND = ((0.0, 0.0, 0.0), (0.6, -1.0, 0.0), (2.0, -1.4, 0.0))


def keyed(ob):
    """The keys of an armature object and of its chains' controls."""
    tips = leg_tips(ob)
    controls = [tip.analytic_ik_target for tip in tips] + [tip.analytic_ik_pole_target for tip in tips]
    return [keys_of(each) for each in (ob, *controls)]


def hips_at(ob, frame):
    go_to(frame)
    return world_of(ob, "hips")


@pytest.mark.some(1)
@pytest.mark.parametrize("kind", ["NURBS", "BEZIER", "POLY"])
def test_feet_stand_on_a_curve(walker, kind):
    curve = curve_through(BEND, kind=kind)
    report = plant(bpy.context, leg_tips(walker), FRAMES, path=curve)
    assert not report["unreached_frames"]
    assert slides(walker, report, FRAMES) < 1e-5
    assert slides(walker, report, np.arange(1.0, 60.0, 0.5)) < 1e-4
    points = points_of(curve)[0]
    points = np.concatenate([np.linspace(one, other, 100) for one, other in pairwise(points)])
    assert report["path"]["object"] == curve.name
    assert 0.5 * LEG < report["path"]["end"] < report["path"]["length"]
    ways = [np.linalg.norm(points[:, :2] - hips_at(walker, frame)[:2, 3], axis=1).min() for frame in FRAMES[::10]]
    # Its corner is rounded, and hips sway.
    assert max(ways) < (0.5 if kind == "POLY" else 0.2) * LEG


@pytest.mark.slow
def test_the_path_from_a_clip_changes_nothing_until_it_is_edited(walker):
    bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=60)
    before, hips = feet_over(walker, FRAMES), [hips_at(walker, frame) for frame in FRAMES[::7]]
    bpy.ops.analytic_ik.path_from_clip()
    curve = bpy.data.objects["Robot rig Path"]
    bpy.ops.analytic_ik.plant_again()
    after = feet_over(walker, FRAMES)
    for tip, worlds in before.items():
        assert np.abs(worlds - after[tip]).max() < 2e-6
    assert np.abs(np.array(hips) - [hips_at(walker, frame) for frame in FRAMES[::7]]).max() < 2e-6
    unedited = keyed(walker)
    knots = curve.data.splines[0].bezier_points
    place = knots[-1].co.copy()
    knots[-1].co = place + Vector((1.0, 0.5, 0.0))
    bpy.ops.analytic_ik.plant_again()
    assert np.linalg.norm((hips_at(walker, 60) - hips[-1])[:2, 3]) > 0.1
    knots[-1].co = place
    bpy.ops.analytic_ik.plant_again()
    assert keyed(walker) == unedited


@pytest.mark.some(1)
@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
def test_run_twice_it_gives_the_same_keys_and_without_a_path_those_from_before(walker, mode):
    hips = walker.pose.bones["hips"]
    # In another mode than that of its keys it keeps a rotation that no key sets.
    hips.rotation_mode = mode
    # By the operator each time: its settings have single precision.
    bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=60, path="", anyway=True)
    without, shown = keyed(walker), feet_over(walker, FRAMES)
    bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=60, path=curve_through(BEND).name, anyway=True)
    along = keyed(walker)
    assert along != without
    bpy.ops.analytic_ik.plant_again()
    assert keyed(walker) == along
    bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=60, path="", anyway=True)
    for tip, worlds in feet_over(walker, FRAMES).items():
        assert np.abs(worlds - shown[tip]).max() < 1e-6
    # Controls to the last bit; the body is keyed anew.
    assert keyed(walker)[1:] == without[1:]


def test_a_footprint_that_was_moved_goes_along(walker):
    curve = curve_through(BEND)
    plant(bpy.context, leg_tips(walker), FRAMES, path=curve, footprints=True)
    tip = leg_tips(walker)[0]
    prints = sorted(footprints_of(tip), key=lambda ob: ob.name)
    before = [ob.matrix_world.copy() for ob in prints]
    aside = Vector((0.08, 0.03, 0.0))
    prints[1].matrix_world = before[1] @ Matrix.Translation(aside)
    curve.matrix_world = Matrix.Translation((3.0, 1.0, 0.0)) @ Matrix.Rotation(0.8, 4, "Z")
    bpy.context.view_layer.update()
    report = plant(bpy.context, leg_tips(walker), FRAMES, path=curve, footprints=True)
    bpy.context.view_layer.update()
    for k, ob in enumerate(prints):
        wanted = curve.matrix_world @ before[k] @ Matrix.Translation(aside if k == 1 else (0.0, 0.0, 0.0))
        assert (ob.matrix_world.translation - wanted.translation).length < 1e-4
    assert slides(walker, report, FRAMES) < 1e-5


def test_what_is_no_path_is_refused_and_nothing_changes(walker):
    source = walker.animation_data.action
    empty, parted = bpy.data.objects.new("Empty", None), curve_through(BEND, name="Parted")
    bpy.context.scene.collection.objects.link(empty)
    short = curve_through([(0.0, 0.0, 0.0)] * 2, kind="POLY", name="Short")
    curve_through([(0.0, 0.0, 0.0), (0.0, 0.001, 0.0)], kind="POLY", name="Tiny")
    parted.parent, parted.parent_type, parted.parent_bone = walker, "BONE", "hips"
    bpy.context.view_layer.update()
    for name, said in (
        ("Gone", "the scene has no such object"),
        ("Empty", "it is no curve"),
        ("Short", "it is 0 long, and a leg 0"),
        ("Tiny", r"it is 0\.00\d* long, and a leg 0\.69"),
        ("Parted", "it moves with armature 'Robot rig'"),
    ):
        with pytest.raises(RuntimeError, match=said):
            bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=60, path=name)
        assert walker.animation_data.action == source
    assert short.name == "Short"


def test_the_check_measures_what_was_planted_on_a_path(walker):
    from ik_addon.planting import check_feet

    bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=60, path=curve_through(BEND).name)
    for entry in check_feet(bpy.context, walker, FRAMES):
        assert entry["before"] is None
        assert entry["after"]["slide"] < 1e-5


def test_the_panel_says_how_far_the_path_goes(walker):
    bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=60, path=curve_through(BEND).name)
    assert re.search(r"Path 'Way': [\d.]+ m of [\d.]+ m", drawn(ANALYTIC_IK_PT_planting).text())
    bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=60, path="Way", path_offset=2.0)
    assert "beyond path 'Way'. Turn on Fit to Path" in drawn(ANALYTIC_IK_PT_planting).text()
    bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=60, path="Way", path_offset=2.0, path_fit=True)
    assert "beyond path" not in drawn(ANALYTIC_IK_PT_planting).text()


def test_a_leg_that_never_stands_is_not_said_to_stand(walker):
    tips, curve = leg_tips(walker), curve_through(BEND)
    own = tips[0].bone.name
    key_contacts(tips[:1], np.zeros((1, 2, len(FRAMES)), int), FRAMES)
    bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=60, path=curve.name)
    text = drawn(ANALYTIC_IK_PT_planting).text()
    assert f"{own}: no contact found" in text and f"{own}: slide" not in text


@pytest.mark.parametrize("cyclic", [True, False])
def test_cyclic_keys_go_on_beyond_the_range_of_the_scene(walker, cyclic):
    scene, curves = bpy.context.scene, curves_of(walker).values()
    scene.frame_start, scene.frame_end = 1, round(max(curve.range()[1] for curve in curves))
    for curve in curves if cyclic else ():
        curve.modifiers.new("CYCLES").mode_after = "REPEAT_OFFSET"
    last = scene.frame_end + 30
    if cyclic:
        bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=last, path=curve_through(BEND).name)
        way = hips_at(walker, last) - hips_at(walker, scene.frame_end)
        assert np.linalg.norm(way[:3, 3]) > 0.2 * LEG
    else:
        with pytest.raises(RuntimeError, match="go on beyond the keys"):
            bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=last, path=curve_through(BEND).name)


def keys_changed(ob, change):
    """The keys of the action of an armature object with other frames or values: change(path, index, co)."""
    for (path, index), curve in curves_of(ob).items():
        for point in curve.keyframe_points:
            point.co = change(path, index, point.co)
        curve.keyframe_points.sort()
        curve.update()
    for tip in leg_tips(ob):
        for control in (tip.analytic_ik_target, tip.analytic_ik_pole_target):
            control.animation_data_clear()


def put_in_place(ob, frames=120.0):
    """The walk on a treadmill: what its hips go forward is taken away."""
    way = {}
    for (path, index), curve in curves_of(ob).items():
        if path == 'pose.bones["hips"].location':
            way[index] = (curve.evaluate(frames) - curve.evaluate(1.0)) / (frames - 1.0)

    def stay(path, index, co):
        return co.x, co.y - way.get(index, 0.0) * (co.x - 1.0) * (path == 'pose.bones["hips"].location')

    keys_changed(ob, stay)


def test_a_clip_in_place_travels_along_a_path(walker):
    put_in_place(walker)
    curve = curve_through([(0.0, 0.0, 0.0), (0.0, 5.0, 0.0)], kind="POLY")
    report = plant(bpy.context, leg_tips(walker), FRAMES, path=curve)
    assert report["ground_speed"] == 0.0
    assert report["path"]["end"] > 2.0 * LEG
    assert slides(walker, report, FRAMES) < 1e-5
    way = (hips_at(walker, 60) - hips_at(walker, 1))[:2, 3]
    assert way[1] == pytest.approx(report["path"]["end"], rel=0.1) and abs(way[0]) < 0.1 * LEG


def test_a_walk_backward_goes_back_along_a_path(walker):
    ahead = plant(bpy.context, leg_tips(walker), FRAMES, path=curve_through(BEND))
    bpy.ops.wm.revert_mainfile()
    walker = bpy.data.objects["Robot rig"]
    keys_changed(walker, lambda path, index, co: (61.0 - co.x, co.y))
    # Facing along the path, it goes beyond its beginning.
    report = plant(bpy.context, leg_tips(walker), FRAMES, path=curve_through(BEND), options=Options(anyway=True))
    assert report["path"]["end"] == pytest.approx(ahead["path"]["end"], rel=0.1)
    assert slides(walker, report, FRAMES) < 1e-5


@pytest.mark.some(2)
@pytest.mark.parametrize(
    "options",
    [
        {"path_stride": 0.7},
        {"path_stride": 1.1, "path_offset": 0.5, "path_lean": 1.0},
        {"path_rounding": 0.0},
        {"path_fit": True},
    ],
    ids=lambda given: "-".join(given),
)
def test_feet_stand_however_the_path_is_walked(walker, options):
    radius = 0.35 if "path_fit" in options else 1.2
    round_and_round = [(radius * cos(0.5 * k), radius * sin(0.5 * k), 0.0) for k in range(12)]
    curve = curve_through(round_and_round, is_closed=True)
    report = plant(bpy.context, leg_tips(walker), FRAMES, path=curve, options=Options(**options, anyway=True))
    assert slides(walker, report, FRAMES) < 1e-5
    assert report["path"]["closed"] and report["path"]["stride"] == pytest.approx(
        options.get("path_stride", report["path"]["stride"])
    )
    if "path_fit" in options:
        assert report["path"]["end"] == pytest.approx(report["path"]["length"])


def test_feet_stand_on_a_mesh_along_a_path(walker):
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=40, y_subdivisions=40, size=12.0)
    ground = bpy.context.object
    for vertex in ground.data.vertices:
        vertex.co.z = 0.15 * sin(vertex.co.x) + 0.1 * sin(1.7 * vertex.co.y)
    select(walker)
    report = plant(bpy.context, leg_tips(walker), FRAMES, path=curve_through(BEND), ground=Ground("OBJECT", ob=ground))
    assert not report["unreached_frames"]
    assert slides(walker, report, FRAMES) < 1e-5
    assert max(chain["after"]["floating"] for chain in report["chains"]) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("controls", ["EMPTIES", "BONES"])
def test_hands_with_controls_of_their_own_go_along(controls):
    ob = sliding_walk(arms=True, controls=controls)
    go_to(60)
    hand = np.linalg.inv(world_of(ob, "chest")) @ world_of(ob, "hand.L")
    others = [tip for tip in ob.pose.bones if tip.name.startswith("forearm")]
    curve = curve_through(BEND)
    plant(bpy.context, leg_tips(ob), FRAMES, path=curve)
    go_to(60)
    after = np.linalg.inv(world_of(ob, "chest")) @ world_of(ob, "hand.L")
    assert np.abs(hand - after).max() < 0.02
    owners = {tip.analytic_ik_target for tip in others} | {tip.analytic_ik_pole_target for tip in others}
    before = [keyed(ob), [keys_of(each) for each in owners]]
    plant(bpy.context, leg_tips(ob), FRAMES, path=curve)
    assert [keyed(ob), [keys_of(each) for each in owners]] == before
    # And back.
    bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=60, path=curve.name, anyway=True)
    bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=60, path="", anyway=True)
    go_to(60)
    after = np.linalg.inv(world_of(ob, "chest")) @ world_of(ob, "hand.L")
    assert np.abs(hand - after).max() < 0.02


def test_a_bone_beside_the_body_goes_along_if_it_moves(walker):
    select(walker)
    bpy.ops.object.mode_set(mode="EDIT")
    for name, at in (("prop", 0.3), ("stone", 0.6)):
        bone = walker.data.edit_bones.new(name)
        bone.head, bone.tail = (at, 0.0, 1.0), (at, 0.2, 1.0)
    bpy.ops.object.mode_set(mode="POSE")
    prop, stone = walker.pose.bones["prop"], walker.pose.bones["stone"]
    for frame in (1, 60):
        go_to(frame)
        prop.location.z = 0.02 * frame
        prop.keyframe_insert("location", frame=frame)
    go_to(60)
    seen = np.linalg.inv(world_of(walker, "hips")) @ world_of(walker, "prop")
    stays = world_of(walker, "stone")
    plant(bpy.context, leg_tips(walker), FRAMES, path=curve_through(BEND))
    go_to(60)
    assert np.abs(np.linalg.inv(world_of(walker, "hips")) @ world_of(walker, "prop") - seen).max() < 0.03
    assert np.abs(world_of(walker, "stone") - stays).max() < 1e-6
    assert stone.name == "stone"


def test_a_bone_above_the_body_that_goes_its_own_way_is_named(walker):
    curve = curve_through(BEND)
    says = "Bone 'root' above the body goes its own way. Use Root Motion with Heading"
    bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=60, path=curve.name)
    assert says in drawn(ANALYTIC_IK_PT_planting).text()
    bpy.ops.analytic_ik.root_motion(direction="TO_HIPS")
    bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=60, path=curve.name)
    assert says not in drawn(ANALYTIC_IK_PT_planting).text()


def test_the_root_follows_the_path_afterward(walker):
    report = plant(bpy.context, leg_tips(walker), FRAMES, path=curve_through(BEND))
    before = [hips_at(walker, frame) for frame in FRAMES[::7]]
    bpy.ops.analytic_ik.root_motion(direction="TO_ROOT", heading=True)
    assert np.abs(np.array(before) - [hips_at(walker, frame) for frame in FRAMES[::7]]).max() < 1e-5
    assert slides(walker, report, FRAMES) < 1e-5
    go_to(1)
    start = world_of(walker, "root")
    go_to(60)
    assert np.linalg.norm((world_of(walker, "root") - start)[:2, 3]) > LEG


@pytest.mark.parametrize(("planted", "then"), [(True, "click Update Feet"), (False, "choose it as Path in Plant Feet")])
def test_the_path_from_a_clip_says_how_near_it_is_and_what_to_do_next(walker, capfd, planted, then):
    if planted:
        bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=60)
    bpy.ops.analytic_ik.path_from_clip()
    said = rf"with \d points, up to 0\.\d\d leg lengths from the clip's way\. Move some, and {then}"
    assert re.search(said, capfd.readouterr().out)


def test_the_path_of_another_clip_is_a_curve_like_any_other(walker):
    bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=60)
    bpy.ops.analytic_ik.path_from_clip()
    curve = bpy.data.objects["Robot rig Path"]
    tips = leg_tips(walker)
    assert plant(bpy.context, tips, range(1, 41), path=curve)["path"]["from_clip"]
    report = plant(bpy.context, tips, range(60, 121), path=curve, options=Options(anyway=True))
    assert not report["path"]["from_clip"]
    assert slides(walker, report, range(60, 121)) < 3e-5


def test_a_walk_whose_time_is_stretched_stands_along_a_path(walker):
    keys_changed(walker, lambda path, index, co: (co.x + 8.0 * (1.0 - cos(co.x / 20.0)), co.y))
    report = plant(bpy.context, leg_tips(walker), FRAMES, path=curve_through(BEND), options=Options(anyway=True))
    assert report["path"]["end"] > 0.5 * LEG
    assert slides(walker, report, FRAMES) < 1e-5


@pytest.mark.parametrize("bend", [0.0, 2.0])
@pytest.mark.parametrize("back", [0, 40])
def test_the_path_of_a_clip_runs_along_its_way_also_where_it_first_steps_back(back, bend):
    clip, truth = clips.walk(fps=30.0, seconds=6.0)
    rows = np.r_[back:0:-1, : clip.frame_count]
    turned = {name: getattr(clip, name)[:, rows] for name in ("hips", "knees", "ankles", "balls", "feet")}
    clip, contacts = replace(clip, **turned), truth[..., rows]
    own = Walk(clip, sole_of(clip), contacts)
    points = np.stack((np.linspace(0.0, 9.0, 60), bend * np.cos(np.linspace(0.0, 6.0, 60))), axis=1)
    there = brought(own, along_path(own, path_of(points, False, 0.02, own.stride), None, Options()), Options()).clip
    sole = sole_of(there)
    walk = Walk(there, sole, contacts)
    curve, away = curve_of(walk, "Way", bpy.context.scene)
    ways = walk.way.at(np.arange(there.frame_count))[2]
    strides = np.ptp(ways) / walk.stride
    assert walk.way.length > 0.0 and strides > 3.0
    assert strides + 0.5 <= len(curve.data.splines[0].bezier_points) <= 4.0 * strides + 1.5
    through = points_of(curve)[0][:, :2]
    hips = there.hips.mean(axis=0)[:, None, :2]
    far = np.linalg.norm(hips - through, axis=2).min(axis=1).max()
    # A way averaged over a stride cuts where a walk turns back.
    assert far < (0.3 if back else 0.2) * there.size and away < 0.1
