"""What is said of a chain is what Blender shows of it: its state agrees with the solver, its distance with the pose."""

from random import Random

import bpy
import pytest
from mathutils import Vector

from ik_addon.authoring.knees import limit_knees
from ik_addon.bake.report import report_of
from ik_addon.rig.live import handlers as live
from ik_addon.rig.live import state as live_state
from ik_addon.rig.pose.solving import solve_scene
from ik_addon.rig.status.states import states_of
from ik_addon.solvers import Outcome

from ..scenes import go_to, link_from_library, missed_world, second_chain, walking_leg, whole_state
from .rigs import Rig, leg, random_point, random_rig, reach, update, world_length

ROUNDING = 4e-5
"""Of a chain's length: what solving and evaluating in single precision may miss."""


def state(rig: Rig):
    return states_of(rig.ob, [rig.bones[-1]], bpy.context.evaluated_depsgraph_get())[rig.bones[-1]]


def outcome(rig: Rig) -> Outcome:
    """What the solver makes of the chain, read anew."""
    done = solve_scene(bpy.context.evaluated_depsgraph_get(), frame_changed=False)
    return next(posed.outcome for chain, posed in done.limbs.items() if chain.tip == rig.bones[-1])


@pytest.mark.parametrize("seed", range(60))
def test_the_state_is_what_the_solver_found_and_blender_shows(seed):
    random = Random(seed)
    uneven = random.random() < 0.2
    rig = random_rig(seed, count=random.choice((1, 2, 2, 2, 3, 5)), uneven_scale=uneven)
    _, far = reach(rig.lengths())
    softness, influence = random.choice((0.0, 0.0, 0.3)), random.choice((1.0, 1.0, 0.5))
    rig.enable(softness=softness, influence=influence, reach=random.choice(("CLAMP", "CLAMP", "HOLD", "STRETCH")))
    for part in (0.5, 0.95, 1.3, 0.1):
        rig.place_target(rig.joints()[0] + random_point(rig.random, 1.0, 1.0).normalized() * far * part)
        update()
        found, missed = state(rig), missed_world(rig)
        slack = 2e-6 * (1.0 + rig.to_world(rig.joints()[0]).length + world_length(rig))
        assert found.distance_world == pytest.approx(missed, abs=slack)
        if found.kind == "MET":
            assert missed <= ROUNDING * world_length(rig) + slack
            continue
        assert missed > 0.2 * ROUNDING * world_length(rig)
        if found.kind in Outcome.__members__:
            assert outcome(rig) is Outcome[found.kind]
        else:
            assert outcome(rig) is Outcome.REACHED
            assert found.kind == "BLENDED" if influence < 1.0 else found.kind in ("SOFT", "ELSEWHERE")
            assert found.kind != "SOFT" or softness
            assert found.kind != "ELSEWHERE" or uneven


@pytest.mark.parametrize("with_plan", [True, False])
@pytest.mark.parametrize(
    ("kind", "z", "settings"),
    [
        ("MET", 0.4, {}),
        ("TOO_FAR", -1.0, {}),
        ("TOO_FAR", -1.0, {"reach": "HOLD"}),
        ("TOO_FAR", -4.0, {"reach": "STRETCH"}),
        ("MET", -0.3, {"reach": "STRETCH"}),
        ("SOFT", 0.1, {"softness": 0.3}),
        ("BLENDED", 0.4, {"influence": 0.5}),
        ("TOO_FAR", -1.0, {"softness": 0.3, "influence": 0.5}),
    ],
)
def test_each_state_is_told_from_kept_numbers_as_from_reading(kind, z, settings, with_plan):
    rig = leg()
    rig.enable(**settings)
    rig.target.place((0.0, 0.0, z))
    if not with_plan:
        live_state.memory.plans.clear()
    found = state(rig)
    assert found.kind == kind
    assert found.distance_world == pytest.approx(missed_world(rig), abs=2e-6)
    assert (found.sentence == "") is (kind == "MET")
    assert kind == "MET" or "Bone 'shin': " in found.sentence
    # What mends it is what is left to do.
    assert ("raise Max Stretch" in found.sentence) is (kind == "TOO_FAR" and settings.get("reach") == "STRETCH")


@pytest.mark.parametrize("with_plan", [True, False])
@pytest.mark.parametrize(("settings", "part", "kind"), [({}, 1.0005, "TOO_FAR"), ({"softness": 0.3}, 0.71, "SOFT")])
def test_little_is_told_too(settings, part, kind, with_plan):
    rig = leg()
    rig.enable(**settings)
    rig.target.place(rig.to_world(rig.joints()[0]) - Vector((0.0, 0.0, sum(rig.lengths()) * part)))
    if not with_plan:
        live_state.memory.plans.clear()
    assert 1e-4 < missed_world(rig) < 2e-3
    assert state(rig).kind == kind


@pytest.mark.parametrize(
    ("kind", "z", "settings", "said"),
    [
        ("TOO_FAR", -1.0, {}, "its target is out of reach. Move it closer, or set Out of Reach to Stretch."),
        ("SOFT", 0.1, {"softness": 0.3}, "Softness keeps it short of its target. Lower it to reach the target."),
        (
            "BLENDED",
            0.4,
            {"influence": 0.5},
            "Influence is below 1, so it stops short of its target. Raise Influence to 1.",
        ),
    ],
)
def test_what_is_said_names_the_bone_the_reason_and_the_cure(kind, z, settings, said):
    rig = leg()
    rig.ob.pose.bones["shin"].name = rig.bones[-1] = "{shin} 'L'"
    rig.enable(**settings)
    rig.target.place((0.0, 0.0, z))
    found = state(rig)
    assert (found.kind, found.sentence) == (kind, f"Bone '{{shin}} 'L'': {said}")


@pytest.mark.parametrize("knee", [False, True])
def test_a_joint_limit_that_keeps_it_off_is_told(knee):
    rig = leg()
    rig.enable()
    if knee:
        limit_knees(bpy.context, [rig.tip], 0.0, 0.5)
    else:
        rig.tip.analytic_ik_use_cone, rig.tip.analytic_ik_cone = True, 0.5
    rig.target.place((0.0, 0.0, 1.5))
    found = state(rig)
    assert found.kind == "LIMITED"
    assert found.distance_world == pytest.approx(missed_world(rig), abs=2e-6)


def test_a_constraint_that_wins_is_told():
    rig = walking_leg()
    rig.ob.pose.bones["shin"].constraints.new("LIMIT_ROTATION").use_limit_x = True
    update()
    assert missed_world(rig) > 0.01
    assert state(rig).kind == "ELSEWHERE"
    away = "something moves it after it was solved. Look for constraints, drivers or uneven scale."
    assert state(rig).sentence == f"Bone 'shin': {away}"


def test_a_rolled_foot_is_met_where_its_ankle_belongs():
    rig = walking_leg(use_rotation=True)
    rig.tip.analytic_ik_foot_roll = 0.5
    update()
    assert missed_world(rig) > 0.01
    assert state(rig).kind == "MET"


def test_each_of_several_chains_has_its_own_state():
    rig = walking_leg()
    second_chain(rig, "foot", 1).analytic_ik_target = None
    rig.target.place((0.0, 0.0, -2.0))
    found = states_of(rig.ob, ["shin", "foot"], bpy.context.evaluated_depsgraph_get())
    assert {tip: own.kind for tip, own in found.items()} == {"shin": "TOO_FAR", "foot": "PROBLEM"}


def test_a_chain_that_finds_its_place_takes_it_from_another_at_once():
    """The first of two chains that share a bone has it: also where it asked for too many bones until now."""
    rig = walking_leg()
    other = second_chain(rig, "thigh", 9)
    go_to(2)
    assert (state(rig).kind, state(Rig(rig.ob, ["thigh"], rig.target)).kind) == ("MET", "PROBLEM")
    other.analytic_ik_chain_count = 1
    other.analytic_ik_target.location = rig.to_world(rig.joints()[1])
    update()
    assert (state(rig).kind, state(Rig(rig.ob, ["thigh"], rig.target)).kind) == ("PROBLEM", "MET")


def test_while_a_bake_steps_the_frames_nothing_kept_is_trusted():
    rig = walking_leg()
    second_chain(rig, "foot", 1)
    with live.paused():
        rig.tip.analytic_ik_target = None
        bpy.context.view_layer.update()
        assert state(rig).kind == "PROBLEM"


def test_asking_changes_nothing():
    rig = walking_leg(softness=0.2)
    second_chain(rig, "foot", 1)
    go_to(5)
    before = whole_state()
    for _ in range(3):
        states_of(rig.ob, ["shin", "foot"], bpy.context.evaluated_depsgraph_get())
    assert whole_state() == before


def test_a_linked_armature_follows_and_can_be_checked(tmp_path):
    rig = walking_leg()
    go_to(2)
    linked = link_from_library(rig.ob, tmp_path)
    for frame in (1, 2, 3):
        go_to(frame)
        assert states_of(linked, ["shin"], bpy.context.evaluated_depsgraph_get())["shin"].kind == "MET"
    bpy.context.view_layer.objects.active = linked
    bpy.ops.analytic_ik.check(frame_start=1, frame_end=12)
    [chain] = report_of(linked)["chains"]
    assert chain["max_error"] < ROUNDING
