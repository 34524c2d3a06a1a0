"""Whatever fails, wherever it fails, leaves nothing behind: each line of each operator is made to fail once."""

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import bpy
import pytest

from ik_addon.authoring.adopt import adopt, restore
from ik_addon.authoring.blender_ik import adoptable, adopted_tips
from ik_addon.authoring.controls import add_chain
from ik_addon.authoring.fixes import cure
from ik_addon.authoring.knees import limit_knees
from ik_addon.authoring.rigging import rig_legs
from ik_addon.authoring.snap import snap_pose, snap_targets
from ik_addon.bake import bake, chains_of
from ik_addon.rig.data.undoing import all_or_nothing
from ik_addon.rig.status.problems import Cure
from ik_addon.solvers import ChainError

from ..helpers.everything import differences, everything
from ..rig.keys import key
from ..rig.rigs import Rig, leg, update
from ..scenes import action_state, curve_bags, go_to, key_fk, second_chain, select, walking_leg
from .skeletons import FAMILIES, armature_of

PACKAGE = Path(sys.modules[adopt.__module__.partition(".")[0]].__file__).parent
# The files that change something. Others only read, or clean up: what fails there is not cleaned up.
CHANGING = [
    *(f"authoring/{name}.py" for name in ("adopt", "controls", "cures", "homes", "influence", "knees", "placing")),
    *(
        "authoring/adopt.py",
        "authoring/rigging.py",
        "authoring/snap.py",
        "authoring/controls.py",
        "bake/baking.py",
        "bake/keys.py",
    ),
]
# They come last, for what they delete cannot be brought back.
DELETING = {"_delete_copies", "delete_controls", "remove_animation"}
PLACES = int(os.environ.get("ANALYTIC_IK_PLACES", "3"))
"""At how many lines each operator is made to fail, spread over all that it goes through; 0: at all of them."""


# Failing


class PlantedError(RuntimeError):
    """What nobody expects."""


@contextmanager
def failing(error: type[Exception], at: tuple[str, int] | None, hit: int, seen: Counter) -> Iterator[None]:
    """Inside, a line of the add-on raises when it is reached for the so manieth time. seen: counts all lines."""

    def trace(frame, event: str, _arg: object):
        file = frame.f_code.co_filename.removeprefix(f"{PACKAGE}/")
        if file not in CHANGING or frame.f_code.co_name in DELETING:
            return None

        def lines(frame, event: str, _arg: object):
            if event == "line":
                place = (file, frame.f_lineno)
                seen[place] += 1
                if place == at and seen[place] == hit:
                    sys.settrace(None)
                    raise error("planted. Look here")
            return lines

        return lines

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def can_fail(place: tuple[str, int], again: bool) -> bool:
    """Whether there is something in a line that can fail; what begins a block may be its end when it comes again."""
    line = (PACKAGE / place[0]).read_text().splitlines()[place[1] - 1].strip()
    return not (
        re.fullmatch(r"return \w+|context\.view_layer\.update\(\)", line)
        or (again and line.startswith(("with ", "for ", "while ", "yield")))
    )


# What is done


def add_a_chain() -> Callable[[], object]:
    rig = leg()
    second_chain(rig, "foot", 1)
    return lambda: add_chain(bpy.context, rig.ob.pose.bones["shin"], 2, "AUTO", True)


def add_to_a_selected_target() -> Callable[[], object]:
    rig = leg()
    return lambda: add_chain(bpy.context, rig.tip, 2, "AUTO", True, [rig.target.ob])


def rig_all_limbs() -> Callable[[], object]:
    # One of the families whose thighs are split for their twist.
    family = next(each for each in FAMILIES if any(len(limb.bones) > 3 for limb in each.found()))
    ob = armature_of(family.bones())
    return lambda: rig_legs(bpy.context, ob, arms=True)


def rig_moving_legs() -> Callable[[], object]:
    family = FAMILIES[0]
    ob = armature_of(family.bones())
    for limb in family.found():
        if limb.kind == "LEG":
            key(ob.pose.bones[limb.bones[1]], "rotation_quaternion", [(1.0, 0.1 * k, 0.0, 0.0) for k in range(4)])
    go_to(3)
    return lambda: rig_legs(bpy.context, ob, as_bones=True)


def constrained_leg() -> Rig:
    """A leg with Blender's own IK on its foot, which turns as its target does, with keyed influence."""
    rig = leg()
    constraint = rig.ob.pose.bones["foot"].constraints.new("IK")
    constraint.target, constraint.chain_count, constraint.use_rotation = rig.target.ob, 3, True
    key(constraint, "influence", [1.0] * 4)
    go_to(1)
    return rig


def adopt_constraints() -> Callable[[], object]:
    rig = constrained_leg()
    other = leg("other", side=0.5)
    constraint = other.ob.pose.bones["shin"].constraints.new("IK")
    constraint.target, constraint.chain_count = other.target.ob, 2
    constraint.driver_add("influence").driver.expression = "1.0"
    update()
    return lambda: adopt(bpy.context, adoptable([*rig.ob.pose.bones, *other.ob.pose.bones]))


def restore_constraints() -> Callable[[], object]:
    adopt_constraints()()
    update()
    tips = [bone for ob in bpy.data.objects if ob.pose for bone in adopted_tips(ob.pose.bones)]
    assert len(tips) == 2
    return lambda: restore(bpy.context, tips)


def limit_all_knees() -> Callable[[], object]:
    rig = walking_leg()
    return lambda: limit_knees(bpy.context, [rig.tip], 0.1, 2.0)


def snap(frames: range | None) -> Callable[[], Callable[[], object]]:
    def prepare() -> Callable[[], object]:
        rig = walking_leg(swivel=0.4)
        key_fk(rig)
        go_to(3)
        return lambda: snap_targets(bpy.context, [rig.tip], frames)

    return prepare


def make_pose(frames: range | None) -> Callable[[], Callable[[], object]]:
    def prepare() -> Callable[[], object]:
        rig = walking_leg()
        key_fk(rig)
        go_to(3)
        return lambda: snap_pose(bpy.context, [rig.tip], frames)

    return prepare


def bake_to(action: str, after: str) -> Callable[[], Callable[[], object]]:
    def prepare() -> Callable[[], object]:
        rigs = [walking_leg(), walking_leg("other", side=0.5)]
        key_fk(rigs[0])
        key(rigs[0].tip, "analytic_ik_enabled", [True] * 4)
        go_to(3)
        obs = [rig.ob for rig in rigs]
        return lambda: bake(bpy.context, chains_of(obs), range(1, 6), action, after)

    return prepare


def remove_chains() -> Callable[[], object]:
    rig = walking_leg()
    key(rig.tip, "analytic_ik_enabled", [True] * 4)
    select(rig.ob)
    rig.ob.data.bones.active = rig.ob.data.bones["shin"]
    return lambda: bpy.ops.analytic_ik.remove()


def make_a_target() -> Callable[[], object]:
    rig = walking_leg(use_rotation=True)
    rig.tip.analytic_ik_target = None
    update()
    return lambda: cure(bpy.context, rig.ob, Cure("NEW_TARGET", "shin"))


OPERATIONS = {
    "add": add_a_chain,
    "add to a target": add_to_a_selected_target,
    "rig": rig_all_limbs,
    "rig and follow the motion": rig_moving_legs,
    "adopt": adopt_constraints,
    "restore": restore_constraints,
    "limit knees": limit_all_knees,
    "snap targets": snap(None),
    "snap targets over frames": snap(range(1, 4)),
    "snap pose": make_pose(None),
    "snap pose over frames": make_pose(range(1, 4)),
    "bake to the current action": bake_to("CURRENT", "REMOVE"),
    "bake to a copy": bake_to("COPY", "MUTE"),
    "bake to a new action": bake_to("NEW", "KEEP"),
    "remove": remove_chains,
    "a new target": make_a_target,
}


def prepared(name: str) -> Callable[[], object]:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    operation = OPERATIONS[name]()
    update()
    return operation


def places(name: str) -> list[tuple[tuple[str, int], int]]:
    """The lines that an operation goes through, and when: at first, and again."""
    seen, operation = Counter(), prepared(name)
    before = everything()
    with failing(PlantedError, None, 0, seen):
        operation()
    assert everything() != before, "it did nothing"
    found = [(place, 1) for place in seen if can_fail(place, again=False)]
    found += [(place, 2) for place, count in seen.items() if count > 1 and can_fail(place, again=True)]
    return found[:: max(1, len(found) // PLACES)] if PLACES else found


@pytest.mark.some(6)
@pytest.mark.parametrize("name", OPERATIONS)
def test_what_fails_at_any_line_leaves_nothing_behind(name, capfd):
    found = {}
    for place, hit in places(name):
        operation = prepared(name)
        before = everything()
        with pytest.raises(RuntimeError, match=r"planted. Look here"), failing(PlantedError, place, hit, Counter()):
            operation()
        left = differences(before, everything())
        if left:
            found[f"{place[0]}:{place[1]} ({hit})"] = left[:5]
    # So Blender complains of a constraint whose bone went first.
    assert "Failed to add relation" not in capfd.readouterr().err
    assert not found


@pytest.mark.parametrize("name", ["rig", "a new target"])
def test_what_is_refused_at_any_line_leaves_nothing_behind(name, capfd):
    refused = 0
    for place, hit in places(name):
        operation = prepared(name)
        before = everything()
        try:
            with failing(ChainError, place, hit, Counter()):
                operation()
        except (ChainError, RuntimeError):
            refused += 1
            assert differences(before, everything()) == [], place
        else:
            check_nothing_is_left_over()
    capfd.readouterr()
    assert refused


def check_nothing_is_left_over() -> None:
    """Where one of several limbs is left out, there is no control that no chain follows, and no empty collection."""
    tips = [bone for ob in bpy.data.objects if ob.pose for bone in ob.pose.bones if bone.analytic_ik_enabled]
    followed = {each for tip in tips for each in (tip.analytic_ik_target, tip.analytic_ik_pole_target)}
    for collection in bpy.data.collections:
        assert collection.objects
        assert set(collection.objects) <= followed


def test_an_action_that_is_brought_back_stays_the_same_data_block():
    """So references of scripts to it last: before Blender 5.0, and where slots came, its copy takes its place."""
    rig = walking_leg()
    key_fk(rig)
    action = rig.ob.animation_data.action
    action["own"] = 3
    [bag] = curve_bags(action).values()
    bag.fcurves[0].modifiers.new("NOISE")
    before, groups = action_state(action), [group.name for group in bag.groups]
    with pytest.raises(PlantedError), all_or_nothing([rig.ob], keys=True):
        bag.fcurves.remove(bag.fcurves[2])
        bag.fcurves[0].keyframe_points.insert(2.5, 7.0)
        bag.fcurves.new("location", index=1)
        action["own"], action["other"], action.analytic_ik_corrections = 4, 5, "{}"
        raise PlantedError
    now = rig.ob.animation_data.action
    assert action_state(now) == before
    [bag] = curve_bags(now).values()
    assert [group.name for group in bag.groups] == groups
    assert dict(now.items()) == {"own": 3}
    assert not now.analytic_ik_corrections
    if bpy.app.version >= (5, 0, 0):
        assert now == action
