"""The overlay: what its shapes show is true of the limb, and its draw handler exists exactly while it is on."""

from math import pi

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_addon.rig.live.handler_lists import others_handle
from ik_addon.rig.live.state import memory
from ik_addon.rig.pose.solving import solve_scene
from ik_addon.solvers import Outcome
from ik_addon.ui.view import chains as reading
from ik_addon.ui.view import overlay, shapes

from ..helpers.creature import WORLDS, Creature
from ..rig.joint_laws import limited_rig
from ..rig.rigs import Rig, evaluated_copy, leg, new_empty, random_point, random_rig, random_unit, reach, update
from ..scenes import enter, select, walking_leg
from ..troubles import no_target, target_below, target_is_no_number, too_many_bones

STATE_NAMES = {**dict(enumerate(Outcome)), shapes.ASTRAY: None}
SEEDS = range(40)


def depsgraph() -> bpy.types.Depsgraph:
    return bpy.context.evaluated_depsgraph_get()


def places_of(rig: Rig, mode: str = "ALL") -> reading.ShownPlaces:
    kept = reading.shown_chains(mode, depsgraph())
    return reading.read_places(kept, [rig.ob], depsgraph())


def state_of(rig: Rig) -> Outcome | None:
    return STATE_NAMES[int(shapes.states_of(reading.chains_of(places_of(rig)))[0])]


def solved_outcome(rig: Rig) -> Outcome:
    [posed] = solve_scene(depsgraph(), False).limbs.values()
    return posed.outcome


def shape(rig: Rig, what: str) -> np.ndarray:
    """The points of a shape of the only chain, in armature space."""
    chains = reading.chains_of(places_of(rig))
    points = shapes.lines_of(chains, shapes.states_of(chains)).points[shapes.points_of(what)]
    inverse = np.array(rig.ob.matrix_world.inverted())
    return points @ inverse[:3, :3].T + inverse[:3, 3]


def alphas(rig: Rig, what: str) -> np.ndarray:
    chains = reading.chains_of(places_of(rig))
    return shapes.lines_of(chains, shapes.states_of(chains)).colours[shapes.points_of(what), 3]


def distances(points: np.ndarray, point: Vector) -> np.ndarray:
    return np.linalg.norm(points - np.array(point), axis=1)


def live(seed: int, count: int = 2, part: tuple[float, float] = (0.2, 1.4), **settings: object) -> Rig:
    """A live chain on any armature, its target at a random distance, in reach or out of it."""
    rig = random_rig(seed, count)
    root = rig.joints()[0]
    near, far = reach(rig.lengths())
    rig.place_target(root + random_unit(rig.random) * (near + (far - near) * rig.random.uniform(*part)))
    if rig.pole:
        rig.place_pole(root + random_point(rig.random, 1.0, 3.0))
    rig.enable(**settings)
    return rig


# The shapes


@pytest.mark.parametrize("seed", SEEDS)
def test_every_point_of_the_knees_circle_is_a_place_for_the_knee(seed):
    rig = live(seed, part=(0.2, 0.9))
    root, _, tip = rig.joints()
    circle, lengths = shape(rig, "bend")[:144], rig.lengths()
    assert distances(circle, root) == pytest.approx(lengths[0], rel=2e-4)
    assert distances(circle, tip) == pytest.approx(lengths[1], rel=2e-4)
    assert distances(circle, rig.joints()[1]).min() < 1e-4 * sum(lengths)


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("seed", range(10))
def test_the_rings_are_as_far_as_the_limb_reaches(seed, count):
    rig = live(seed, count)
    root = rig.joints()[0]
    near, far = reach(rig.lengths())
    assert distances(shape(rig, "reach"), root) == pytest.approx(far, rel=2e-4)
    assert distances(shape(rig, "nearest"), root) == pytest.approx(near, abs=2e-4 * far)
    assert bool(alphas(rig, "nearest").any()) == (near > 1e-4 * far)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_lines_run_to_the_target_and_from_the_knee_to_the_pole(seed):
    rig = live(seed, part=(0.2, 0.9))
    root, knee, _ = rig.joints()
    close = 1e-4 * sum(rig.lengths())
    line, pole_line = shape(rig, "line"), shape(rig, "pole line")
    assert (Vector(line[0]) - root).length < close
    assert (Vector(line[27]) - rig.to_armature(rig.target)).length < close
    assert (Vector(pole_line[0]) - knee).length < close
    assert bool(alphas(rig, "pole line").any()) == (rig.pole is not None)
    if rig.pole:
        pole = rig.to_armature(rig.pole)
        assert (Vector(pole_line[-1]) - pole).length < 1e-4 * ((pole - knee).length + sum(rig.lengths()))


def test_the_bend_plane_is_filled_from_root_to_tip():
    rig = walking_leg()
    chains = reading.chains_of(places_of(rig))
    corners = shapes.fill_of(chains, shapes.states_of(chains)).points
    for corner, joint in zip(corners, rig.joints(), strict=True):
        assert (Vector(corner) - joint).length < 1e-5


@pytest.mark.parametrize("axis", ["x", "z"])
def test_a_hinges_arc_is_where_its_bone_points_at_its_limits(axis):
    rig = leg()
    shin = rig.tip
    others = {"x": "z", "z": "x"}
    setattr(shin, f"lock_ik_{others[axis]}", True)
    shin.lock_ik_y = True
    setattr(shin, f"use_ik_limit_{axis}", True)
    setattr(shin, f"ik_min_{axis}", -0.4)
    setattr(shin, f"ik_max_{axis}", 1.9)
    rig.enable()
    places = places_of(rig)
    [(_, mark)] = places.marks
    assert not mark.closed
    [lines] = [reading.mark_lines_of(places, reading.chains_of(places))]
    knee = rig.joints()[1]
    rim = [(Vector(point) - knee) / (shapes.MARK_SIZE * rig.lengths()[1]) for point in lines.points[:64]]
    rest = rig.ob.matrix_world.to_3x3() @ (
        rig.matrices()[0].to_3x3() @ shin.parent.bone.matrix_local.to_3x3().inverted() @ shin.bone.matrix_local.to_3x3()
    )
    for angle, point in ((-0.4, rim[0]), (1.9, rim[-1])):
        pointed = rest @ Matrix.Rotation(angle, 3, axis.upper()) @ Vector((0.0, 1.0, 0.0))
        assert (pointed - point).length < 1e-4


def test_a_cone_and_a_swing_have_the_angles_they_were_given():
    assert shapes.cone_mark(0.7)[:, 1] == pytest.approx(np.cos(0.7))
    rim = shapes.swing_mark((-0.3, 0.8), (-0.5, 0.4))
    assert np.linalg.norm(rim, axis=1) == pytest.approx(1.0)
    # About x the y axis turns to z, about z to -x.
    assert rim[0] == pytest.approx((0.0, np.cos(0.8), np.sin(0.8)), abs=1e-6)
    assert rim[8] == pytest.approx((-np.sin(0.4), np.cos(0.4), 0.0), abs=1e-6)
    assert rim[16] == pytest.approx((0.0, np.cos(0.3), -np.sin(0.3)), abs=1e-6)
    assert rim[24] == pytest.approx((np.sin(0.5), np.cos(0.5), 0.0), abs=1e-6)
    free = shapes.swing_mark((-pi, pi), (-0.5, 0.4))
    assert np.isfinite(free).all()
    assert np.linalg.norm(free, axis=1) == pytest.approx(1.0)


# The state


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_so_it_is_with_limits(seed, count):
    rig = limited_rig(seed, count)
    near, far = reach(rig.lengths())
    rig.place_target(rig.joints()[0] + random_unit(rig.random) * (near + (far - near) * rig.random.uniform(0.1, 1.2)))
    if rig.pole:
        rig.place_pole(rig.joints()[0] + random_point(rig.random, 1.0, 3.0))
    rig.enable()
    assert state_of(rig) is solved_outcome(rig)


def test_a_rolling_foot_is_read_as_it_is_solved():
    rig = walking_leg(use_rotation=True)
    rig.tip.analytic_ik_foot_roll = 0.5
    update()
    assert state_of(rig) is Outcome.REACHED
    ankle = rig.joints()[-1]
    assert (Vector(shape(rig, "line")[27]) - ankle).length < 1e-4
    assert (ankle - rig.to_armature(rig.target)).length > 0.05


# What is broken


def missing_bone(rig: Rig) -> None:
    rig.tip.analytic_ik_target, rig.tip.analytic_ik_subtarget = rig.ob, "nose"


def no_size(rig: Rig) -> None:
    rig.ob.scale = (0.0, 0.0, 0.0)


BROKEN = [no_target, missing_bone, too_many_bones, target_below, target_is_no_number, no_size]


@pytest.mark.parametrize("spoil", BROKEN)
def test_a_broken_chain_is_shown_as_such_and_raises_nothing(spoil):
    rig = walking_leg()
    spoil(rig)
    update()
    places = places_of(rig)
    lines, fill = reading.shapes_of(places)
    assert np.isfinite(lines.points).all()
    assert np.isfinite(fill.points).all()
    assert shapes.states_of(reading.chains_of(places))[0] == shapes.ASTRAY


def test_a_bone_that_something_moves_after_the_chain_is_astray():
    rig = walking_leg()
    rig.tip.constraints.new("LIMIT_ROTATION").use_limit_x = True
    update()
    assert state_of(rig) is None


# What is shown


def shown(mode: str) -> set[str]:
    return {one.tip for chains in reading.shown_chains(mode, depsgraph()).chains.values() for one in chains}


def test_a_pinned_chain_is_shown_in_any_mode_but_edit_mode():
    rig = walking_leg()
    select(new_empty("other"))
    assert shown("SELECTED") == set()
    rig.tip.analytic_ik_show_overlay = True
    assert shown("SELECTED") == {"shin"}
    enter("EDIT", rig.ob)
    assert shown("SELECTED") == shown("ALL") == set()
    bpy.ops.object.mode_set(mode="OBJECT")


def test_nothing_that_moved_is_built_anew_and_what_moved_is():
    rig = walking_leg()
    kept = reading.shown_chains("ALL", depsgraph())
    before = reading.read_places(kept, [rig.ob], depsgraph())
    assert before == reading.read_places(kept, [rig.ob], depsgraph())
    rig.target.place((0.1, -0.2, 0.5))
    assert before != reading.read_places(kept, [rig.ob], depsgraph())


def test_chains_of_several_lengths_are_shown_side_by_side():
    one, other = walking_leg(), random_rig(5, 5, with_pole=False)
    other.place_target(other.joints()[0] + Vector((0.5, 0.5, 0.5)))
    other.enable()
    kept = reading.shown_chains("ALL", depsgraph())
    places = reading.read_places(kept, [one.ob, other.ob], depsgraph())
    alone = [reading.read_places(kept, [ob], depsgraph()) for ob in (one.ob, other.ob)]
    together, _ = reading.shapes_of(places)
    apart = np.concatenate([reading.shapes_of(each)[0].points for each in alone])
    assert together.points == pytest.approx(apart, abs=1e-4)


# Bones that follow their limbs


def bodies_shown(mode: str) -> set[str]:
    return {one.name for bodies in reading.shown_chains(mode, depsgraph()).bodies.values() for one in bodies}


def test_a_body_is_shown_with_its_limbs_or_when_it_is_selected():
    creature = Creature()
    enter("POSE", creature.ob, "spine")
    assert bodies_shown("SELECTED") == set() and bodies_shown("ALL") == {"hips"}
    enter("POSE", creature.ob, "hips")
    assert bodies_shown("SELECTED") == {"hips"} and shown("SELECTED") == set()
    for bone in ("thigh.L", "shin.R"):
        enter("POSE", creature.ob, bone)
        assert bodies_shown("SELECTED") == {"hips"}
    enter("OBJECT", creature.ob)
    select(creature.targets["L"])
    assert bodies_shown("SELECTED") == {"hips"} and shown("SELECTED") == {"shin.L"}
    creature.hips.analytic_ik_body_influence = 0.0
    update()
    assert bodies_shown("SELECTED") == bodies_shown("ALL") == set()
    enter("OBJECT", creature.ob)


@pytest.mark.parametrize("world", WORLDS)
def test_a_body_is_shown_from_where_it_was_posed_to_where_it_stands(world):
    creature = Creature(world=WORLDS[world])
    creature.hips.location = (0.03, 0.05, -0.01)
    hips = evaluated_copy(creature.ob)
    root = hips.matrix_world @ hips.pose.bones["hips"].head
    for distance in (0.7, 1.5):
        for name, target in creature.targets.items():
            target.location = root.lerp(creature.homes[name], distance)
        update()
        kept = reading.shown_chains("ALL", depsgraph())
        kept.chains.clear()
        lines, fill = reading.shapes_of(reading.read_places(kept, [creature.ob], depsgraph()))
        assert not len(fill.points)
        ob = evaluated_copy(creature.ob)
        rest = creature.ob.data.bones["hips"].matrix_local @ creature.hips.location
        posed, stands = (np.array(ob.matrix_world @ point) for point in (rest, ob.pose.bones["hips"].head))
        slack = 1e-5 * creature.scale * (1.0 + np.abs(stands).max())
        seen = lines.points[lines.colours[:, 3] > 0.0]
        size = 0.03 * creature.leg_length * creature.scale
        # Nothing but a mark of its size where it stands, and a straight way there.
        far = np.linalg.norm(seen - stands, axis=1) > size + slack
        assert far.any() == (distance > 1.0)
        if distance > 1.0:
            assert np.abs(seen[0] - posed).max() < slack
            way = (stands - posed) / np.linalg.norm(stands - posed)
            aside = seen[far] - posed
            aside -= (aside @ way)[:, None] * way
            assert np.linalg.norm(aside, axis=1).max() < 0.5 * size + slack


# The handler


class Registry:
    """Stands for the 3D view's own list of draw handlers, which nobody can read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.handlers: list[object] = []
        overlay._take_off()
        monkeypatch.setattr(overlay, "_view_type", lambda: self)
        overlay.follow_switches()

    def draw_handler_add(self, function, arguments, region, kind):
        handle = (function, object())
        assert (arguments, region, kind) == ((), "WINDOW", "POST_VIEW")
        self.handlers.append(handle)
        return handle

    def draw_handler_remove(self, handle, region):
        self.handlers.remove(handle)


@pytest.fixture
def registry(monkeypatch):
    yield Registry(monkeypatch)
    overlay._take_off()
    monkeypatch.undo()
    overlay.follow_switches()


def switch(mode: str) -> None:
    bpy.context.scene.analytic_ik_overlay = mode


def test_the_handler_is_there_exactly_while_the_overlay_is_on(registry):
    assert bpy.context.scene.analytic_ik_overlay == "SELECTED"
    assert len(registry.handlers) == 1
    for mode, count in [("OFF", 0), ("OFF", 0), ("ALL", 1), ("SELECTED", 1), ("ALL", 1), ("OFF", 0), ("SELECTED", 1)]:
        switch(mode)
        assert len(registry.handlers) == count


def test_one_scene_that_has_it_on_is_enough(registry):
    switch("OFF")
    other = bpy.data.scenes.new("other")
    assert other.analytic_ik_overlay == "SELECTED"
    overlay.follow_switches()
    assert len(registry.handlers) == 1
    other.analytic_ik_overlay = "OFF"
    assert not registry.handlers


def test_a_scene_that_is_shown_for_the_first_time_is_followed(registry):
    switch("OFF")
    bpy.ops.scene.new(type="NEW")
    new_empty("something to see")
    update()
    assert bpy.context.scene.analytic_ik_overlay == "SELECTED"
    assert len(registry.handlers) == 1


def test_another_file_has_its_own_switch(registry, tmp_path):
    switch("OFF")
    path = str(tmp_path / "off.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert len(registry.handlers) == 1
    bpy.ops.wm.open_mainfile(filepath=path)
    assert not registry.handlers
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert len(registry.handlers) == 1


def test_a_list_that_another_add_on_has_cleared_is_put_right_when_the_view_is_drawn(registry, monkeypatch):
    monkeypatch.setattr(overlay, "_draw_view", lambda _: None)
    for name, handler in overlay._HANDLERS.items():
        getattr(bpy.app.handlers, name).remove(handler)
    overlay._drawing.drawn = "what was shown before"
    overlay._draw()
    overlay._draw()
    assert not overlay._drawing.drawn
    for name, handler in overlay._HANDLERS.items():
        assert getattr(bpy.app.handlers, name).count(handler) == 1


def test_the_add_on_takes_its_handler_with_it(registry, addon):
    overlay.unregister()
    assert not registry.handlers
    assert not hasattr(bpy.types.Scene, "analytic_ik_overlay")
    assert not hasattr(bpy.types.PoseBone, "analytic_ik_show_overlay")
    overlay.register()
    assert len(registry.handlers) == 1
    for name in overlay._HANDLERS:
        ours = [one for one in getattr(bpy.app.handlers, name) if one.__module__ == overlay.__name__]
        assert len(ours) == 1, name


def test_its_handlers_are_not_taken_for_those_of_others():
    # Chains are solved before the frame only where nobody else acts on frames.
    assert not any(name.startswith("frame_change") for name in overlay._HANDLERS)
    events = ("frame_change_pre", "frame_change_post", "depsgraph_update_pre", "depsgraph_update_post")
    assert len(bpy.app.handlers.depsgraph_update_post) > 1
    assert not any(others_handle(event) for event in events)
    bpy.app.handlers.depsgraph_update_post.append(lambda *_: None)
    assert others_handle("depsgraph_update_post")
    bpy.app.handlers.depsgraph_update_post.pop()


def test_what_is_raised_while_drawing_is_said_once_and_goes_no_further(monkeypatch, capsys):
    def fail(_):
        raise RuntimeError("no graphics today")

    monkeypatch.setattr(overlay, "_draw_view", fail)
    memory.reported.clear()
    overlay._draw()
    overlay._draw()
    assert capsys.readouterr().out.count("Please report this") == 1
    memory.reported.clear()


@pytest.mark.parametrize(("z", "state"), [(0.4, Outcome.REACHED), (-1.0, Outcome.TOO_FAR)])
def test_the_mark_at_the_target_has_the_shape_of_the_state(z, state):
    rig = leg()
    rig.enable()
    rig.target.place((0.0, 0.0, z))
    update()
    visible = [mark for mark in range(len(shapes.STATE_COLOURS)) if alphas(rig, f"mark {mark}").any()]
    assert visible == [state]
    size = 0.1 * sum(rig.lengths())
    target = chains_target(rig)
    assert distances(shape(rig, f"mark {state}"), target).max() < size


def test_no_two_states_have_the_same_mark():
    rig = leg()
    rig.enable()
    update()
    found = [shape(rig, f"mark {mark}") for mark in range(len(shapes.STATE_COLOURS))]
    for k, one in enumerate(found):
        for other in found[:k]:
            assert one.shape != other.shape or not np.allclose(one, other, atol=1e-4)


def chains_target(rig: Rig) -> Vector:
    """Where the overlay has the target of the only chain."""
    return Vector(reading.chains_of(places_of(rig)).targets[0])
