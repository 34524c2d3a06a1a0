"""Plant Feet on a capture in Blender: measured on evaluated bones, live, between frames and baked."""

from functools import partial

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_addon.planting import Ground, last_report, plant
from ik_addon.planting.scene.footprints import footprints_of
from ik_addon.planting.scene.plant import planted
from ik_addon.planting.scene.reading import leg_tips
from ik_addon.planting.scene.sources import source_of
from ik_addon.planting.scene.writing import needed_rows
from ik_addon.solvers import ChainError

from ..rig.rigs import new_empty, update
from ..scenes import bag_of, curves_of, go_through, go_to, select, sliding_walk
from ..travel.walkers import STRIDE, Walk, character, shown
from .curves_drawn import curve_through
from .standing import FRAMES, LEG, feet_over, keys_of, slides, world_of

pytestmark = pytest.mark.versions


@pytest.fixture
def walker() -> bpy.types.Object:
    return sliding_walk()


def test_a_ball_that_is_locked_stands_on_evaluated_bones(walker):
    tips = leg_tips(walker)
    report = plant(bpy.context, tips, FRAMES)
    assert sum(len(chain["contacts"]) for chain in report["chains"]) > 4
    assert slides(walker, report, FRAMES) < 1e-5
    assert slides(walker, report, np.arange(1.0, 60.0, 0.25)) < 1e-4
    assert not report["unreached_frames"]
    # Heels too, on the legs as they are solved.
    assert max(chain["slide_after"] for chain in report["chains"]) < 1e-5 * LEG
    assert max(chain["slide_before"] for chain in report["chains"]) > 0.01 * LEG
    assert last_report() == report


@pytest.mark.slow
def test_a_foot_that_rolls_stands_between_two_frames(walker):
    """Every third frame alone is keyed: its foot turns far from one to the next, and a chord would leave the lock."""
    report = plant(bpy.context, leg_tips(walker), range(1, 122, 3))
    between = np.arange(1.0, 120.0, 0.25)
    bent = slides(walker, report, between)
    for tip in leg_tips(walker):
        for curve in curves_of(tip.analytic_ik_target).values():
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR"
            curve.update()
    straight = slides(walker, report, between)
    assert bent < 1e-4 and straight > 100.0 * bent, (bent, straight)


@pytest.mark.parametrize("carried", ["bones", pytest.param("object", marks=pytest.mark.slow)])
def test_a_ball_stands_between_frames_whatever_carries_the_control(carried):
    """Bones that are controls follow the root, which the capture moves; an Empty may follow another one."""
    ob = sliding_walk(controls="BONES" if carried == "bones" else "EMPTIES")
    tips = leg_tips(ob)
    if carried == "object":
        mover = new_empty("mover")
        for frame, place, turn in ((1, (0.0, 0.0, 0.0), 0.0), (40, (1.0, -2.0, 0.3), 0.8), (60, (0.0, 0.0, 0.0), -0.5)):
            mover.location, mover.rotation_euler.z = place, turn
            for path in ("location", "rotation_euler"):
                mover.keyframe_insert(path, frame=frame)
        for tip in tips:
            tip.analytic_ik_target.parent = mover
            tip.analytic_ik_target.rotation_mode = "XYZ"
    report = plant(bpy.context, tips, FRAMES)
    assert slides(ob, report, FRAMES) < 1e-5
    assert slides(ob, report, np.arange(1.0, 60.0, 0.25)) < 3e-5


def test_a_leg_is_long_enough_between_frames_where_the_body_turns_there(walker):
    """Its keys are at other frames than the scene's, as in files of another frame rate."""
    hips = leg_tips(walker)[0].parent.parent
    path = hips.path_from_id("rotation_euler")
    for curve in [curve for curve in bag_of(walker).fcurves if curve.data_path == path]:
        for frame in range(5, 55, 2):
            before = [curve.evaluate(each) for each in (frame, frame + 1)]
            for time, value in zip((frame, frame + 1), before, strict=True):
                curve.keyframe_points.insert(time, value)
            curve.keyframe_points.insert(frame + 0.5, np.mean(before) + 0.3 * (curve.array_index == 2))
        curve.update()
    report = plant(bpy.context, leg_tips(walker), FRAMES)
    assert slides(walker, report, np.arange(1.0, 60.0, 0.25)) < 1e-4


def test_two_keys_hold_a_stance_as_exactly_as_its_leg_asks():
    contacts = np.ones((2, 9), bool)
    rows = [(np.array((0.3, 0.0, 1e-7 * k * k)), np.array((1.0, 0.0, 0.0, 0.0))) for k in range(9)]
    assert needed_rows(contacts, rows, 1.0).tolist() == list(range(9))
    assert needed_rows(contacts, rows, 10.0).tolist() == [0, 8]


@pytest.mark.parametrize("is_body_keyed", [True, False])
def test_run_twice_it_gives_the_same_keys(walker, is_body_keyed):
    tips = leg_tips(walker)
    if not is_body_keyed:
        for curve in [curve for (path, _), curve in curves_of(walker).items() if path.endswith("location")]:
            bag_of(walker).fcurves.remove(curve)
        for bone in walker.pose.bones:
            bone.location = (0.0, 0.0, 0.0)
    plant(bpy.context, tips, FRAMES)
    controls = [tip.analytic_ik_target for tip in tips] + [tip.analytic_ik_pole_target for tip in tips]
    before, actions = [keys_of(ob) for ob in (walker, *controls)], len(bpy.data.actions)
    plant(bpy.context, tips, FRAMES)
    assert [keys_of(ob) for ob in (walker, *controls)] == before
    assert len(bpy.data.actions) == actions


def test_the_source_keeps_every_key(walker):
    source = walker.animation_data.action
    before = keys_of(walker)
    plant(bpy.context, leg_tips(walker), FRAMES)
    assert walker.animation_data.action is not source
    assert source_of(walker) is source
    walker.animation_data.action = source
    assert keys_of(walker) == before


@pytest.mark.slow
def end_a_contact_early(ob, tip):
    """Three frames before the foot leaves the ground; the frame at which it did."""
    curve = curves_of(ob)[f"{tip.path_from_id()}.analytic_ik_contact", 0]
    moved = next(point for point in curve.keyframe_points if point.co[1] == 0.0 and 20 < point.co[0] < 40)
    frame = moved.co[0]
    moved.co[0] -= 3.0
    curve.update()
    return frame


def test_a_contact_that_is_edited_changes_its_own_step_alone(walker):
    tips = leg_tips(walker)
    report = plant(bpy.context, tips, FRAMES)
    before = feet_over(walker, FRAMES)[tips[0].name]
    frame = end_a_contact_early(walker, tips[0])
    again = plant(bpy.context, tips, FRAMES)
    after = feet_over(walker, FRAMES)[tips[0].name]
    assert again["chains"][0]["contacts"] != report["chains"][0]["contacts"]
    changed = np.abs(after - before).max(axis=(1, 2)) > 1e-6
    frames = np.array(FRAMES)
    assert changed.any()
    assert np.abs(frames[changed] - frame).max() < 30


def test_edited_contacts_are_judged_on_a_path(walker):
    tips = leg_tips(walker)
    plant(bpy.context, tips, FRAMES)
    end_a_contact_early(walker, tips[0])
    with pytest.raises(ChainError, match="planting makes these frames worse"):
        plant(bpy.context, tips, FRAMES, path=curve_through([(0, 0, 0), (0, -9, 0)]))


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_closed_in_the_middle_it_leaves_all_as_it_was(walker, share):
    """While controls are placed, and after keys were written."""
    tips = leg_tips(walker)
    before, actions = keys_of(walker), sorted(bpy.data.actions.keys())
    steps = planted(bpy.context, tips, FRAMES)
    go_through(steps, share)
    assert keys_of(walker) == before
    assert sorted(bpy.data.actions.keys()) == actions


def lowest_skin(ob: bpy.types.Object, frames) -> float:
    """The lowest point of all that an armature deforms or carries, as evaluated."""
    lowest, depsgraph = np.inf, bpy.context.evaluated_depsgraph_get()
    skins = [
        each
        for each in bpy.data.objects
        if each.type == "MESH" and (each.parent == ob or any(m.type == "ARMATURE" for m in each.modifiers))
    ]
    for frame in frames:
        go_to(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        for skin in skins:
            shown = skin.evaluated_get(depsgraph)
            mesh = shown.to_mesh()
            points = np.empty(3 * len(mesh.vertices), np.float32)
            mesh.vertices.foreach_get("co", points)
            world = np.array(shown.matrix_world, float)
            lowest = min(lowest, float((points.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3])[:, 2].min()))
            shown.to_mesh_clear()
    return lowest


def test_on_level_ground_the_skin_stands_neither_in_it_nor_over_it(walker):
    plant(bpy.context, leg_tips(walker), FRAMES, ground=Ground("LEVEL", 0.3))
    lowest = [lowest_skin(walker, [frame]) for frame in FRAMES[::3]]
    assert np.median(lowest) == pytest.approx(0.3, abs=0.01 * LEG)
    assert min(lowest) > 0.3 - 0.03 * LEG


@pytest.mark.some(1)
@pytest.mark.parametrize("kind", ["hill", "stairs"])
def test_soles_stand_on_a_mesh(walker, kind):
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=60, y_subdivisions=60, size=8.0)
    ground = bpy.context.object
    for vertex in ground.data.vertices:
        x, y, _ = vertex.co
        vertex.co.z = 0.15 * y if kind == "hill" else 0.06 * np.sin(2.0 * x) * np.cos(1.5 * y)
    update()
    select(walker)
    report = plant(bpy.context, leg_tips(walker), FRAMES, ground=Ground("OBJECT", ob=ground))
    assert not report["unreached_frames"]
    assert slides(walker, report, FRAMES) < 1e-5


@pytest.mark.parametrize("height", [0.0, 2.0])
def test_how_far_the_body_moves_leaves_out_how_high_the_ground_is(walker, height):
    captured = plant(bpy.context, leg_tips(walker), FRAMES)
    raised = plant(bpy.context, leg_tips(walker), FRAMES, ground=Ground("LEVEL", height))
    bpy.ops.mesh.primitive_plane_add(size=20.0, location=(0.0, 0.0, height))
    hill = bpy.context.object
    for vertex in hill.data.vertices:
        vertex.co.z = -0.3 * vertex.co.y
    select(walker)
    climbing = plant(bpy.context, leg_tips(walker), FRAMES, ground=Ground("OBJECT", ob=hill))
    assert raised["body_shift"] == pytest.approx(captured["body_shift"], abs=0.02 * LEG)
    assert climbing["body_shift"] < captured["body_shift"] + 0.06 * LEG


def test_footprints_are_those_of_the_clip_that_plays(walker):
    """Another clip is not planted by them, and hides them until the first one is planted again."""
    tips, data = leg_tips(walker), walker.animation_data
    other = data.action.copy()
    plant(bpy.context, tips, FRAMES, footprints=True)
    first, planted_action = [*footprints_of(tips[0])], data.action
    before = feet_over(walker, FRAMES)
    first[1].location.x += 0.1
    data.action = other
    if getattr(data, "action_slot", data) is None:
        data.action_slot = other.slots[0]
    update()
    assert not [*footprints_of(tips[0])]
    plant(bpy.context, tips, FRAMES, footprints=True)
    assert np.abs(feet_over(walker, FRAMES)[tips[0].name] - before[tips[0].name])[:, :3, 3].max() < 1e-4
    second = [*footprints_of(tips[0])]
    assert not {*first} & {*second}
    assert [ob.hide_viewport for ob in (*first, *second)] == [True] * len(first) + [False] * len(second)
    data.action = planted_action
    plant(bpy.context, tips, FRAMES, footprints=True)
    assert [ob.hide_viewport for ob in (*first, *second)] == [False] * len(first) + [True] * len(second)
    assert np.abs(feet_over(walker, FRAMES)[tips[0].name] - before[tips[0].name])[:, :3, 3].max() > 0.05


def test_pole_targets_are_as_far_from_the_knees_as_rig_legs_puts_them(walker):
    def distances() -> list[float]:
        go_to(9)
        knees = [Vector(world_of(walker, tip.name)[:3, 3]) for tip in leg_tips(walker)]
        poles = [tip.analytic_ik_pole_target.matrix_world.translation for tip in leg_tips(walker)]
        return [(pole - knee).length for pole, knee in zip(poles, knees, strict=True)]

    before = distances()
    plant(bpy.context, leg_tips(walker), FRAMES)
    assert distances() == pytest.approx(before, rel=1e-3)


def test_a_footprint_shows_its_foot_its_direction_and_its_frame(walker):
    plant(bpy.context, leg_tips(walker), FRAMES, footprints=True)
    for tip in leg_tips(walker):
        side = tip.name[-1]
        for ob in footprints_of(tip):
            assert ob.data.name == {"L": "Footprint Left", "R": "Footprint Right"}[side]
            assert ob.name == f"Footprint {ob.analytic_ik_footprint.first:04} foot.{side}"
            # The walk goes to -Y, toes a little out.
            ahead = ob.matrix_world.to_3x3().col[1]
            assert ahead.y < -0.9 and ahead.x * {"L": 1.0, "R": -1.0}[side] > 0.02
    left, right = (pixels_of(f"Footprint {side}") for side in ("Left", "Right"))
    assert (left[:, ::-1, 3] == right[..., 3]).all()
    assert left[..., 3].any(axis=1).sum() > 2 * left[..., 3].any(axis=0).sum()


def pixels_of(name: str) -> np.ndarray:
    image = bpy.data.images[name]
    return np.array(image.pixels).reshape(image.size[1], image.size[0], 4)


@pytest.mark.slow
def test_a_footprint_lies_along_the_slope(walker):
    bpy.ops.mesh.primitive_grid_add(size=8.0)
    ground = bpy.context.object
    for vertex in ground.data.vertices:
        vertex.co.z = 0.2 * vertex.co.y
    update()
    select(walker)
    plant(bpy.context, leg_tips(walker), FRAMES, ground=Ground("OBJECT", ob=ground), footprints=True)
    ahead = [ob.matrix_world.to_3x3().col[1] for tip in leg_tips(walker) for ob in footprints_of(tip)]
    assert np.median([way.z / way.y for way in ahead]) == pytest.approx(0.2, abs=0.02)


def test_what_ends_before_its_last_step_leaves_no_footprint(walker):
    before = {kind: len(getattr(bpy.data, kind)) for kind in ("objects", "images", "actions")}
    steps = planted(bpy.context, leg_tips(walker), FRAMES, footprints=True)
    go_through(steps, 1.0)
    assert {kind: len(getattr(bpy.data, kind)) for kind in before} == before


@pytest.mark.some(1)
@pytest.mark.parametrize("scale", [0.01, 100.0])
@pytest.mark.slow
def test_of_any_size(walker, scale):
    """An armature as many exporters leave them; its controls lie in the world."""
    root = new_empty("scale")
    walker.parent = root
    for tip in leg_tips(walker):
        for control in (tip.analytic_ik_target, tip.analytic_ik_pole_target):
            control.parent = root
    root.matrix_world = Matrix.Scale(scale, 4)
    update()
    report = plant(bpy.context, leg_tips(walker), FRAMES)
    assert slides(walker, report, FRAMES) / scale < 1e-5
    assert not report["unreached_frames"]


@pytest.mark.slow
def test_contacts_beyond_the_frames_that_are_planted_again_stay(walker):
    tips = leg_tips(walker)
    plant(bpy.context, tips, range(1, 121))
    curve = curves_of(walker)[f"{tips[0].path_from_id()}.analytic_ik_contact", 0]
    later = [tuple(point.co) for point in curve.keyframe_points if point.co[0] > FRAMES[-1]]
    plant(bpy.context, tips, FRAMES)
    curve = curves_of(walker)[f"{tips[0].path_from_id()}.analytic_ik_contact", 0]
    assert later and [tuple(point.co) for point in curve.keyframe_points if point.co[0] > FRAMES[-1]] == later


# Loops

JUMPS = "Where the clip repeats it jumps back by "


def looping(cycles: bool, **walk) -> bpy.types.Object:
    ob, _ = character(Walk(last=25, **walk), "Empties")
    for curve in curves_of(ob).values() if cycles else ():
        modifier = curve.modifiers.new("CYCLES")
        modifier.mode_before = modifier.mode_after = "REPEAT_OFFSET"
    return ob


@pytest.mark.parametrize(
    ("walk", "cycles", "is_told"),
    [({}, False, True), ({}, True, False), ({"in_place": True}, False, False), ({"drift": 0.2}, False, False)],
)
def test_a_loop_that_travels_says_that_it_jumps_back(walk, cycles, is_told, capfd):
    looping(cycles, **walk)
    bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=25, anyway=True)
    said = capfd.readouterr().out
    assert (JUMPS in said) is is_told
    assert (f"{JUMPS}1 m" in said) is is_told


def test_what_goes_on_beyond_its_keys_does_so_planted_and_planted_again():
    ob = looping(True)
    for work in (partial(bpy.ops.analytic_ik.plant_feet, frame_end=25, anyway=True), bpy.ops.analytic_ik.plant_again):
        work()
        seen = shown(ob, range(1, 74))
        for bone in ("hips", "foot.L", "foot.R"):
            places = seen[bone][:, :3, 3]
            assert np.abs(places[24:] - places[:-24] - (0.0, -STRIDE, 0.0)).max() < 1e-4 * LEG
    curve = next(iter(curves_of(leg_tips(ob)[0].analytic_ik_target).values()))
    assert len(curve.modifiers) == 1


def test_a_strip_that_is_planted_is_kept_under_its_name():
    ob = sliding_walk()
    data, action = ob.animation_data, ob.animation_data.action
    track = data.nla_tracks.new()
    track.strips.new(action.name, int(action.frame_range[0]), action)
    data.action = None
    plant(bpy.context, leg_tips(ob), FRAMES)
    assert data.action.name == f"{action.name} planted" and data.action.use_fake_user
