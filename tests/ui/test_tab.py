"""The tab of the sidebar: all panels of the add-on are in one, and move to the one that the preferences name."""

import bpy
import pytest

from ik_addon.ui import base as tab
from ik_addon.ui.panels.preferences import AnalyticIKPreferences

from ..grabbing.bodies import person
from ..scenes import enter
from .layouts import drawn, is_shown

pytestmark = pytest.mark.versions


@pytest.fixture(autouse=True)
def _back_again():
    yield
    tab.show_in_tab("")


def panels():
    """Those that Blender knows: where the add-on was loaded anew there are others of the same names."""
    found = [cls for cls in bpy.types.Panel.__subclasses__() if cls.__name__.startswith("ANALYTIC_IK_PT")]
    return [cls for cls in found if cls.is_registered]


def tabs():
    """By panel: the tab that Blender has it in."""
    own = panels()
    return {cls.__name__: cls.bl_rna.identifier and cls.bl_category for cls in own if cls.bl_region_type == "UI"}


def test_all_panels_of_the_sidebar_are_in_one_tab_at_first():
    assert len(tabs()) >= 5
    assert set(tabs().values()) == {"Analytic IK"}


@pytest.mark.parametrize(("name", "shown"), [("Rig", "Rig"), ("Item", "Item"), ("", "Analytic IK"), ("骨", "骨")])
def test_they_move_together_and_stay_registered(name, shown):
    before = set(tabs())
    tab.show_in_tab("Elsewhere")
    tab.show_in_tab(name)
    assert set(tabs().values()) == {shown}
    assert set(tabs()) == before
    assert all(getattr(bpy.types, panel).is_registered for panel in before)


def test_a_part_keeps_its_parent():
    children = [cls for cls in panels() if getattr(cls, "bl_parent_id", "") == "ANALYTIC_IK_PT_sidebar"]
    assert children
    tab.show_in_tab("Rig")
    assert all(cls.is_registered for cls in children)
    assert bpy.types.ANALYTIC_IK_PT_sidebar.is_registered


def test_the_name_is_a_preference():
    shown = AnalyticIKPreferences.bl_rna.properties["sidebar_tab"]
    assert (shown.name, shown.default) == ("Sidebar Tab", "Analytic IK")
    assert AnalyticIKPreferences.bl_idname == "ik_addon", "as the package that Blender enables"


def test_looking_at_an_armature_without_chains_leaves_nothing_in_the_file():
    """Up to 4.5 Blender keeps what is read of a pointer property."""
    ob = person()
    enter("POSE", ob, "hips")
    for kind in panels():
        if kind.bl_region_type == "UI" and is_shown(kind):
            drawn(kind)
    bpy.ops.analytic_ik.plant_feet.poll()
    assert {bone.name: [*bone.keys()] for bone in ob.pose.bones if bone.keys()} == {}
    assert [*ob.keys()] == []
