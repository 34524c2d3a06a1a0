"""Laws of size, without a clock: work grows as the scene does, memory stays bounded, and the poses stay exact.

Work is counted in calls, of Python's functions and of Blender's alike: the same at every run. Where everything of a
scene is doubled the calls may double; what looks at everything for everything makes four times as many.
"""

import gc
import sys
import tracemalloc
from collections.abc import Callable
from math import asin, cos, sin

import bpy
import pytest
from mathutils import Vector

from ik_addon.authoring.selection import chosen_tips
from ik_addon.bake.baking import bake, chains_of, check
from ik_addon.rig.live import armature_plan
from ik_addon.rig.live import handlers as live
from ik_addon.rig.live import state as live_state
from ik_addon.rig.model.order import ChainName
from ik_addon.rig.status.states import States
from ik_addon.ui.view.chains import read_places, shown_chains

from ..rig.keys import key
from ..rig.rigs import BoneSpec, Control, make_chain, new_armature, new_empty, update
from ..scenes import EXACT, enter, go_to

pytestmark = pytest.mark.slow

FEW = 6
TWICE = 2.2
"""Times as many calls as half the size takes, at most: what is constant makes it less than 2, sets and sorts more."""

Crowd = Callable[[int], list[bpy.types.Object]]


def swing(owner: bpy.types.bpy_struct, *places: tuple[float, float, float]) -> None:
    """Key a location at two places in turn."""
    key(owner, "location", [*places, *places])


def legs(count: int, name: str = "rig", controls: str = "empties") -> bpy.types.Object:
    """An armature of live legs in a row, their targets keyed: objects, or bones of the same armature."""
    specs = [BoneSpec("root", (0.0, 0.0, 2.0), (0.0, 0.0, 2.5))]
    for k in range(count):
        x = 0.5 * k
        specs += [
            BoneSpec(f"thigh.{k}", (x, 0.0, 2.0), (x, -0.2, 1.0), "root"),
            BoneSpec(f"shin.{k}", (x, -0.2, 1.0), (x, 0.0, 0.0), f"thigh.{k}", connect=True),
        ]
        if controls == "bones":
            specs.append(BoneSpec(f"foot.{k}", (x, -0.3, 0.4), (x, -0.3, 0.7)))
    ob = new_armature(name, specs)
    for k in range(count):
        x = 0.5 * k
        if controls == "bones":
            control, moved = Control(ob, f"foot.{k}"), ob.pose.bones[f"foot.{k}"]
            places = [(0.0, 0.0, 0.0), (0.1, 0.2, 0.1)]
        else:
            moved = new_empty(f"{name} foot.{k}")
            control, places = Control(moved), [(x, -0.3, 0.4), (x + 0.1, 0.3, 0.3)]
        swing(moved, *places)
        make_chain(ob.pose.bones[f"shin.{k}"], control, chain_count=2)
    return ob


def together(count: int) -> list[bpy.types.Object]:
    """All legs on one armature."""
    return [legs(count)]


def spread(count: int) -> list[bpy.types.Object]:
    """Two legs on each of many armatures."""
    return [legs(2, f"rig {k}") for k in range(count // 2)]


def on_bones(count: int) -> list[bpy.types.Object]:
    """All legs on one armature, and their targets as well."""
    return [legs(count, controls="bones")]


CROWDS = pytest.mark.parametrize("crowd", [together, spread, on_bones])


def calls(act: Callable[[], object]) -> int:
    """How many functions are called while it acts, of Python or of Blender, our handlers included."""
    count = 0

    def counted(_frame, event, _argument):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        act()
    finally:
        sys.setprofile(before)
    return count


def clear() -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


def growth(crowd: Crowd, prepare: Callable, act: Callable, few: int = FEW) -> float:
    """Times as many calls as it takes with twice the legs. Both get the armatures."""
    found = []
    for count in (few, 2 * few, 4 * few):
        clear()
        objects = crowd(count)
        update()
        go_to(1)
        go_to(2)
        prepare(objects)
        found.append(calls(lambda objects=objects: act(objects)))
    few_calls, some, many = found
    assert few_calls, "nothing was called: the handlers are off"
    return (many - some) / max(some - few_calls, 1)


def nothing(_objects) -> None:
    pass


def change_a_setting(objects) -> None:
    objects[0].pose.bones["shin.0"].analytic_ik_influence = 0.9
    update()


def all_anew(_objects) -> None:
    live.undo_post()
    go_to(3)
    go_to(4)


def states(objects) -> None:
    for ob in objects:
        of = States(ob, bpy.context.evaluated_depsgraph_get())
        for bone in ob.pose.bones:
            if bone.name.startswith("shin"):
                of.of(bone.name)


def overlay(objects) -> None:
    depsgraph = bpy.context.evaluated_depsgraph_get()
    read_places(shown_chains("ALL", depsgraph), objects, depsgraph)


def drag(objects) -> None:
    control = objects[0].pose.bones["shin.0"].analytic_ik_target
    control.location.x += 0.01
    control.update_tag()
    update()


def check_all(objects) -> None:
    check(bpy.context, chains_of(objects), range(1, 4))


def bake_all(objects) -> None:
    bake(bpy.context, chains_of(objects), range(1, 4))


@pytest.mark.some(8)
@CROWDS
@pytest.mark.parametrize(
    "act", [change_a_setting, all_anew, states, overlay, drag, check_all, bake_all], ids=lambda act: act.__name__
)
def test_twice_the_chains_are_at_most_twice_the_work(crowd, act):
    assert growth(crowd, nothing, act) <= TWICE


def limit_all(objects) -> None:
    for ob in objects:
        for bone in ob.pose.bones:
            if bone.name.startswith("shin"):
                bone.analytic_ik_use_cone, bone.analytic_ik_cone = True, 2.5
    update()
    go_to(3)


@CROWDS
def test_twice_the_chains_that_are_read_anew_as_well(crowd):
    assert growth(crowd, limit_all, lambda _: go_to(4)) <= TWICE


@CROWDS
def test_a_frame_that_was_played_before_too(crowd):
    def play(_objects):
        for frame in [*range(1, 8)] * 2:
            go_to(frame)

    assert growth(crowd, play, lambda _: go_to(5)) <= TWICE


def test_of_many_selected_bones_the_chains_are_found_with_one_look_at_each():
    def select(objects):
        enter("POSE", objects[0], *(bone.name for bone in objects[0].pose.bones if bone.name.startswith("thigh")))

    assert growth(together, select, lambda objects: chosen_tips(bpy.context, objects[0])) <= TWICE


def test_how_one_chain_is_solved_is_asked_of_no_other_chain(monkeypatch):
    """The panel asks at each redraw."""
    ob = legs(FEW)
    update()
    plan = live_state.memory.plan_of(bpy.context.scene)
    plan.armatures[0].doubt()
    asked, why = [], armature_plan._why_not_sampled
    monkeypatch.setattr(armature_plan, "_why_not_sampled", lambda *given: asked.append(given) or why(*given))
    sentences = [live_state.way_of(bpy.context.scene, ChainName(ob.name_full, f"shin.{k}")) for k in range(FEW)]
    assert len(asked) == FEW
    assert all(sentences)


def test_bones_that_are_in_no_chain_are_not_asked_one_by_one_at_each_frame():
    found = []
    for spare in (100, 400):
        clear()
        ob = legs(3)
        with_spare = new_armature("other", [BoneSpec(f"spare {k}", (k, 0, 0), (k, 0, 1)) for k in range(spare)])
        make_chain(with_spare.pose.bones["spare 0"], Control(new_empty("goal", (0.0, 0.3, 0.9))), chain_count=1)
        update()
        for frame in [*range(1, 8)] * 2:
            go_to(frame)
        found.append(calls(lambda: go_to(5)))
        assert ob.pose
    assert found[0] == found[1]


def test_other_objects_cost_no_calls():
    found = []
    for others in (0, 300):
        clear()
        legs(3)
        for k in range(others):
            new_empty(f"other {k}")
        update()
        for frame in [*range(1, 8)] * 2:
            go_to(frame)
        found.append(calls(lambda: go_to(5)))
    assert found[0] == found[1]


# Memory


def test_what_is_kept_of_frames_that_were_played_is_bounded_for_all_armatures_together(monkeypatch):
    rotations = 5_000
    monkeypatch.setattr(armature_plan, "_KEPT_AHEAD", rotations)
    spread(8)
    update()
    go_to(1)
    seen = []
    tracemalloc.start()
    try:
        for until in (300, 600, 900):
            for frame in range(until - 300, until):
                go_to(frame)
            gc.collect()
            seen.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    plan = live_state.known_plan(bpy.context.scene)
    kept = sum(len(armature._ahead) * armature.bones for armature in plan.armatures)
    assert 0 < kept <= rotations
    assert max(seen) - min(seen) < 500_000


def test_a_bake_holds_numbers_of_chains_that_are_read_anew_and_not_the_chains():
    """Keys, errors, joints and places of two bones are some hundred numbers a frame; a limb is ten times as much."""
    ob = legs(2)
    limit_all([ob])
    peaks = []
    for frames in (100, 300):
        gc.collect()
        tracemalloc.start()
        try:
            check(bpy.context, chains_of([ob]), range(1, frames + 1))
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert (peaks[1] - peaks[0]) / (200 * 2) < 3000


# Poses


def tips_missed(ob: bpy.types.Object, length: float) -> float:
    """The farthest that any tip of an armature is from its target, as evaluated, in chain lengths."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    posed, worst = ob.evaluated_get(depsgraph), 0.0
    for bone in posed.pose.bones:
        target = bone.analytic_ik_target
        if target is not None:
            at = target.evaluated_get(depsgraph).matrix_world.translation
            worst = max(worst, (posed.matrix_world @ bone.tail - at).length / length)
    return worst


def test_hundreds_of_chains_all_meet_their_targets():
    count = 300
    specs = []
    for k in range(count):
        x, y = 0.5 * (k % 32), 2.0 * (k // 32)
        specs.append(BoneSpec(f"thigh.{k}", (x, y, 2.0), (x, y - 0.2, 1.0)))
        specs.append(BoneSpec(f"shin.{k}", (x, y - 0.2, 1.0), (x, y, 0.0), f"thigh.{k}", connect=True))
    ob = new_armature("crowd", specs)
    for k in range(count):
        x, y = 0.5 * (k % 32), 2.0 * (k // 32)
        target = new_empty(f"foot.{k}")
        swing(target, (x, y - 0.3, 0.4), (x + 0.1, y + 0.3, 0.3))
        make_chain(ob.pose.bones[f"shin.{k}"], Control(target), chain_count=2)
    update()
    for frame in (1, 2, 3, 9):
        go_to(frame)
        assert tips_missed(ob, 2.0) < EXACT
    plan = live.plan_of(bpy.context)
    assert plan.way_of(bpy.context.scene, ChainName("crowd", "shin.299")) == "Ahead of the Frame"


@pytest.mark.parametrize("settings", [{}, {"least_motion": True}, {"reach": "STRETCH"}], ids=str)
def test_a_chain_of_five_hundred_bones_meets_its_target_at_every_frame(settings):
    count, head, specs = 500, Vector((0.0, 0.0, 2.0)), []
    for k in range(count):
        lean = asin(0.2) * (2 * k / (count - 1) - 1)
        tail = head + Vector((0.0, sin(lean), -cos(lean))) * (2.0 / count)
        specs.append(BoneSpec(f"bone {k}", head, tail, f"bone {k - 1}" if k else "", connect=k > 0))
        head = tail
    ob = new_armature("tail", specs)
    target = new_empty("target")
    swing(target, (0.0, -0.3, 0.4), (0.3, 0.4, 0.9))
    make_chain(ob.pose.bones[f"bone {count - 1}"], Control(target), chain_count=count, **settings)
    update()
    for frame in range(1, 9):
        go_to(frame)
        # In single precision five hundred matrices, one after the other, are no more exact than that.
        assert tips_missed(ob, 2.0) < 5.0 * EXACT
