"""Right click > Online Manual: each setting and operator has its place in the reference."""

from fnmatch import fnmatchcase

import bpy
import pytest

from ik_addon.ui.panels import preferences as online_manual

pytestmark = pytest.mark.versions


@pytest.fixture
def places(monkeypatch):
    monkeypatch.setattr(online_manual, "_website", lambda: "https://manual.example/")
    return online_manual.manual_map()


def place_of(what: str, places) -> str:
    """As Blender looks it up: the first pattern that fits."""
    address, patterns = places
    return address + next(page for pattern, page in patterns if fnmatchcase(what.lower(), pattern))


@pytest.mark.parametrize(
    ("what", "heading"),
    [
        ("bpy.types.PoseBone.analytic_ik_influence", "influence"),
        ("bpy.types.PoseBone.analytic_ik_use_min_bend", "min-bend"),
        ("bpy.types.PoseBone.analytic_ik_pole_target", "target-and-pole-target"),
        ("bpy.types.Scene.analytic_ik_overlay", "overlay"),
        ("bpy.ops.analytic_ik.switch_to_fk", "fkik"),
        ("bpy.ops.analytic_ik.cure", "panels"),
    ],
)
def test_it_leads_to_the_heading(what, heading, places):
    assert place_of(what, places) == f"https://manual.example/reference/#{heading}"


def test_every_setting_and_operator_has_a_place(places):
    names = [option.identifier for option in bpy.types.PoseBone.bl_rna.properties]
    settings = [f"bpy.types.PoseBone.{name}" for name in names if name.startswith("analytic_ik_")]
    operators = [f"bpy.ops.analytic_ik.{name}" for name in dir(bpy.ops.analytic_ik)]
    assert len(settings) > 20
    for what in (*settings, *operators):
        assert place_of(what, places)


def test_without_a_website_there_is_no_entry(monkeypatch):
    monkeypatch.setattr(online_manual, "_website", lambda: "")
    assert online_manual.manual_map() == ("", ())


def test_blender_asks_it():
    assert online_manual.manual_map in bpy.utils._manual_map
