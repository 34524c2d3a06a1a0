"""Laws of corrections at random: any control, frame, move and turn, several of them, in any order, dense and few keys.

What is equal is equal to the bit, and what is rounded is said so.
"""

from random import Random

import bpy
import numpy as np
import pytest

from ik_addon.planting.feet.corrections import Bump, Sum, span_of
from ik_addon.planting.scene.control_tracks import keyed_controls
from ik_addon.planting.scene.correcting import corrections_of
from ik_addon.planting.scene.kept_keys import curves_of

from ..scenes import reopened
from .corrected import TIMES, channels, foot, middle_stance, move, walk
from .planted_walks import FRAMES, all_bytes, farthest, seen

seeds = pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])


def at_random(ob, chance):
    """What to do: a control, a frame, a way and a turn."""
    control = chance.choice(keyed_controls(ob).all)
    way = [chance.uniform(-0.05, 0.05) for _ in range(3)]
    turn = chance.choice((0.0, chance.uniform(-0.3, 0.3))) if control.turns else 0.0
    return chance.randrange(FRAMES[0] + 3, FRAMES[-1] - 3), control.name, way, turn


def done(ob, frame, name, way, turn):
    control = next(each for each in keyed_controls(ob).all if each.name == name)
    move(ob, frame, control, way, turn, body=False)


def spans(ob) -> dict[str, np.ndarray]:
    """By control, at which of TIMES its corrections may be seen."""
    found, scene = {}, bpy.context.scene
    controls = keyed_controls(ob)
    stances = {each.name: controls.stances_of(each, FRAMES) for each in controls.all}
    for own in corrections_of(ob):
        name = own["bone"] or own["object"]
        start, *_, end = span_of(own["frame"], stances[name], own["fade"] * scene.render.fps)
        inside = (start < TIMES) & (end > TIMES)
        found[name] = found.get(name, False) | inside
    return found


@seeds
@pytest.mark.parametrize("keys", ["dense", pytest.param("few", marks=pytest.mark.slow)])
def test_outside_all_spans_keys_are_equal_and_what_is_taken_off_is_as_before(seed, keys):
    chance = Random(seed)
    ob, _ = walk(keys)
    before, all_before = channels(ob), all_bytes(ob)
    for _ in range(chance.randrange(1, 6)):
        done(ob, *at_random(ob, chance))
    inside, moved = spans(ob), channels(ob)
    for name, numbers in moved.items():
        outside = ~inside.get(name, np.zeros(len(TIMES), bool))
        # Blender aligns handles at the ends anew. On few keys a span may begin within a curve: it is divided there.
        off = np.abs(numbers - before[name])[outside]
        assert off.max(initial=0.0) <= (1e-5 if keys == "dense" else 5e-5), name
        if keys == "dense":
            assert not off[TIMES[outside] % 1.0 == 0.0].any(), name
    while corrections_of(ob):
        bpy.ops.analytic_ik.remove_correction(index=chance.randrange(len(corrections_of(ob))))
    assert all_bytes(ob) == all_before


@seeds
def test_in_any_order_they_make_the_same(seed):
    chance = Random(seed + 100)
    ob, _ = walk()
    # One in each span: a second one there would take the place of the first.
    todo = {each[1]: each for each in (at_random(ob, chance) for _ in range(8))}
    orders, made = [[*todo], chance.sample([*todo], len(todo))], []
    for order in orders:
        ob, _ = walk()
        for name in order:
            done(ob, *todo[name])
        made.append(channels(ob))
    for name, numbers in made[0].items():
        assert made[1][name] == pytest.approx(numbers, abs=2e-6), name


@pytest.mark.parametrize("seed", range(20))
def test_a_bump_is_smooth_rigid_where_it_stands_and_nothing_outside(seed):
    """Mathematics alone: C1 at all knots, for a foot that turns meanwhile."""
    chance = np.random.default_rng(seed)
    start, first, last, end = np.cumsum(chance.uniform(2.0, 9.0, 4))
    ways = chance.normal(size=(4, 3))

    def places(times):
        return np.stack([ways[0] * t + ways[1] * np.sin(0.3 * t) + ways[2] for t in times])

    def speed(time):
        return ways[0] + 0.3 * ways[1] * np.cos(0.3 * time)

    place = places([0.5 * (first + last)])[0]
    edges = places([first, last])
    speeds = np.array([speed(first), speed(last)])
    bump = Bump(start, first, last, end, chance.normal(size=3), chance.normal(size=3), place, edges, speeds)
    step = 1e-5
    for knot in (start, first, last, end):
        times = np.array([knot - 2 * step, knot - step, knot, knot + step, knot + 2 * step])
        moves = bump.moves(times, places(times)) * Sum([bump]).holds(times)[:, None]
        assert moves[1] == pytest.approx(moves[3], abs=1e-3)
        before, after = (moves[2] - moves[0]) / (2 * step), (moves[4] - moves[2]) / (2 * step)
        assert before == pytest.approx(after, abs=2e-3)
    inside = np.linspace(first, last, 9)
    moved = places(inside) + bump.moves(inside, places(inside))
    rigid = bump.rigid
    assert moved == pytest.approx(places(inside) @ rigid[:3, :3].T + rigid[:3, 3], abs=1e-9)
    outside = np.array((start - 1.0, start, end, end + 1.0))
    assert not Sum([bump]).holds(outside).any()
    assert np.abs(bump.moves(outside, places(outside))).max() < 1e-9


@seeds
@pytest.mark.versions
def test_channels_are_smooth_at_the_knots(seed):
    """One-sided slopes of what is added, on the F-Curves themselves."""
    chance = Random(seed)
    ob, _ = walk("few")
    before = {each.name: {key: curve for key, curve in curves_of(each).items()} for each in keyed_controls(ob).all}
    name, own = foot(ob).foot.name, middle_stance(ob)
    known = {key: [curve.evaluate(t) for t in np.arange(1, 60, 0.01)] for key, curve in before[name].items()}
    move(ob, chance.randrange(own[0], own[1] + 1), way=[chance.uniform(-0.05, 0.05) for _ in range(3)], turn=0.2)
    for key, curve in curves_of(foot(ob).foot).items():
        added = np.array([curve.evaluate(t) for t in np.arange(1, 60, 0.01)]) - known[key]
        bends = np.abs(np.diff(added, 2)) / 0.01
        # A corner of a slope s shows as s: nothing turns at once.
        assert bends.max() < 0.02, key


@pytest.mark.versions
def test_saved_undone_copied_planted_again_and_simplified_they_stay(tmp_path):
    chance = Random(7)
    ob, _ = walk()
    before = all_bytes(ob)
    bpy.ops.ed.undo_push(message="before")
    for frame in (16, 31):
        move(ob, frame, way=[chance.uniform(-0.04, 0.04) for _ in range(3)], turn=0.1)
    bpy.ops.ed.undo_push(message="corrected")
    corrected, shown = channels(ob), seen(ob)
    bpy.ops.ed.undo()
    ob = bpy.context.object
    assert all_bytes(ob) == before
    assert corrections_of(ob) == []
    bpy.ops.ed.redo()
    ob = bpy.context.object
    assert len(corrections_of(ob)) == 2
    ob.animation_data.action = ob.animation_data.action.copy()
    reopened(tmp_path / "kept.blend")
    ob = bpy.context.object
    assert len(corrections_of(ob)) == 2
    for name, numbers in channels(ob).items():
        assert (numbers == corrected[name]).all()
    bpy.ops.analytic_ik.plant_again()
    assert farthest(shown, seen(ob), ("foot", "toe")) < 2e-5
    bpy.ops.analytic_ik.simplify_keys()
    bpy.ops.analytic_ik.all_keys()
    assert farthest(shown, seen(ob), ("foot", "toe")) < 2e-5
    assert len(corrections_of(ob)) == 2
