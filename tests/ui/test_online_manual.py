"""Right click > Online Manual: each setting and operator has its place in the reference."""

import re
from fnmatch import fnmatchcase
from pathlib import Path

import bpy
import pytest

from ik_addon.ui.panels import preferences as online_manual

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def places(monkeypatch):
    monkeypatch.setattr(online_manual, "_website", lambda: "https://manual.example/")
    return online_manual.manual_map()


def place_of(what: str, places) -> str:
    """As Blender looks it up: the first pattern that fits."""
    address, patterns = places
    return address + next(page for pattern, page in patterns if fnmatchcase(what.lower(), pattern))


@pytest.mark.parametrize(
    ("what", "place"),
    [
        ("bpy.types.PoseBone.analytic_ik_influence", "reference/#influence"),
        ("bpy.types.PoseBone.analytic_ik_use_min_bend", "reference/#min-bend"),
        ("bpy.types.PoseBone.analytic_ik_pole_target", "reference/#target-and-pole-target"),
        ("bpy.types.Scene.analytic_ik_overlay", "reference/#overlay"),
        ("bpy.ops.analytic_ik.switch_to_fk", "reference/#fkik"),
        ("bpy.ops.analytic_ik.cure", "reference/#panels"),
        ("bpy.ops.analytic_ik.make_native", "giving_away/#make-native"),
        ("bpy.ops.analytic_ik.make_loop", "motion_capture/#root-motion-and-loops"),
    ],
)
def test_it_leads_to_the_heading(what, place, places):
    assert place_of(what, places) == f"https://manual.example/{place}"


def test_every_place_is_a_heading_of_its_page(places):
    for _, place in places[1]:
        page, _, heading = place.partition("/#")
        titles = re.findall(r"^#+ (.+)$", (DOCS / f"{page}.md").read_text(), re.MULTILINE)
        assert heading in {re.sub(r"[^a-z -]", "", title.lower()).replace(" ", "-") for title in titles}, place


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
