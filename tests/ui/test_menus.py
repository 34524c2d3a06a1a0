"""Pose > Inverse Kinematics holds all that can be done with chains, once, for as long as the add-on is on."""

from types import SimpleNamespace

import bpy
import pytest

from ik_addon.ui.panels import menus

from .layouts import Layout

pytestmark = pytest.mark.versions


def own_entries() -> list:
    draws = getattr(bpy.types.VIEW3D_MT_pose_ik.draw, "_draw_funcs", ())
    return [draw for draw in draws if draw.__name__ == "draw_entries"]


def test_the_menu_holds_every_operator_that_one_begins_with():
    layout = Layout()
    menus.draw_entries(SimpleNamespace(layout=layout), bpy.context)
    # These are for buttons that know what they are about.
    buttons = {"cure", "lock_interface", "select_chain"}
    shown = [name.partition(".")[2] for name in layout.operators]
    assert {"add", "rig_legs", "adopt", "restore", "remove", "snap_targets", "snap_pose"} <= set(shown)
    assert {"swivel", "limit_knees", "bake", "check"} <= set(shown)
    assert len(set(shown)) == len(shown)
    assert buttons.isdisjoint(shown)


def test_entries_that_an_earlier_load_left_are_taken_off():
    def draw_entries(_menu, _context):
        pass

    draw_entries.__module__ = menus.__name__
    bpy.types.VIEW3D_MT_pose_ik.append(draw_entries)
    menus.add_entries()
    assert own_entries() == [menus.draw_entries]
