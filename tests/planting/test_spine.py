"""The spine of an animal along a curve, in Blender: measured on evaluated bones."""

import bpy
import numpy as np
import pytest

from ik_addon.planting import Options, plant
from ik_addon.planting.scene.limbs import key_contacts
from ik_addon.planting.scene.reading import leg_of, leg_tips

from ..clips.characters import FRAMES, new_character
from ..rig.rigs import evaluated_copy
from ..scenes import go_to
from .curves_drawn import curve_through
from .standing import keys_of

pytestmark = pytest.mark.versions
RADIUS = 1.5
"""Of the curve, leg lengths."""
SPINE = "spine.008"
ANYWAY = Options(anyway=True)


@pytest.fixture
def beast() -> bpy.types.Object:
    """A beast that travels, with the contacts of its feet keyed. Its spine is bent, and no key says so."""
    ob = new_character(["walk"], beast=True)
    ob.pose.bones[SPINE].rotation_mode = "XYZ"
    ob.pose.bones[SPINE].rotation_euler = 0.1, 0.2, 0.1
    bpy.ops.analytic_ik.rig_legs()
    tips, length = leg_tips(ob), leg_of(leg_tips(ob)[0]).length
    for frame in (FRAMES[0], FRAMES[-1]):
        ob.location.y = -1.2 * length * (frame - FRAMES[0]) / len(FRAMES)
        ob.keyframe_insert("location", frame=frame)
    contacts = np.zeros((len(tips), 2, len(FRAMES)), bool)
    for leg, first in enumerate((0, 6, 6, 0)):
        contacts[leg, :, first : first + 5] = True
    key_contacts(tips, contacts, FRAMES)
    return ob


def round_of(ob, turn: float) -> bpy.types.Object:
    """A circle that begins where a beast does, to its left (1) or right (-1)."""
    radius = RADIUS * leg_of(leg_tips(ob)[0]).length
    angles = np.linspace(0.0, 2.0 * np.pi, 17)[:-1]
    points = [(turn * radius * (1.0 - np.cos(angle)), -radius * np.sin(angle), 0.0) for angle in angles]
    return curve_through(points, is_closed=True)


def bend_of(ob, frame: int) -> float:
    """By how much the chest is turned about the vertical against the hips, radians."""
    go_to(frame)
    shown = evaluated_copy(ob).pose.bones
    chest, hips = (np.array(shown[name].matrix.to_3x3()) for name in (SPINE, "spine"))
    turn = chest @ np.linalg.inv(hips)
    return float(np.arctan2(turn[1, 0] - turn[0, 1], turn[0, 0] + turn[1, 1]))


@pytest.mark.parametrize("turn", [1.0, -1.0])
def test_an_animal_bends_into_its_circle_and_stands(beast, turn):
    straight = bend_of(beast, 6)
    report = plant(bpy.context, leg_tips(beast), FRAMES, ANYWAY, path=round_of(beast, turn))
    assert max(leg["after"]["slide"] for leg in report["chains"]) < 1e-5
    assert 0.2 < turn * (bend_of(beast, 6) - straight) < 1.0


def test_its_spine_is_keyed_the_same_again_and_as_captured_without_a_path(beast):
    tips, captured = leg_tips(beast), [bend_of(beast, frame) for frame in FRAMES]
    curve = round_of(beast, 1.0)
    plant(bpy.context, tips, FRAMES, ANYWAY, path=curve)
    along = keys_of(beast)
    plant(bpy.context, tips, FRAMES, ANYWAY, path=curve)
    assert keys_of(beast) == along
    bpy.ops.analytic_ik.plant_feet(
        frame_start=FRAMES[0], frame_end=FRAMES[-1], path=curve.name, anyway=True, path_stride=0.8
    )
    bpy.ops.analytic_ik.plant_feet(frame_start=FRAMES[0], frame_end=FRAMES[-1], path="", anyway=True)
    assert [bend_of(beast, frame) for frame in FRAMES] == pytest.approx(captured, abs=1e-5)


def test_a_spine_that_something_else_turns_stays_as_it_is(beast):
    constraint = beast.pose.bones[SPINE].constraints.new("LIMIT_ROTATION")
    straight = bend_of(beast, 6)
    plant(bpy.context, leg_tips(beast), FRAMES, ANYWAY, path=round_of(beast, 1.0))
    assert constraint.name in beast.pose.bones[SPINE].constraints
    assert abs(bend_of(beast, 6) - straight) < 1e-5
