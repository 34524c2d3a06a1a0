"""What runs in the window: how far it is, and that nothing else starts meanwhile."""

from collections.abc import Generator

import bpy
import pytest

import ik_addon
from ik_addon.ui.operators.stepped import end_running, running, start_running

from ..rig.rigs import leg
from ..scenes import enter


def work(closed: list) -> Generator:
    try:
        yield 1, 2
    finally:
        closed.append("closed")


def test_what_runs_is_closed_where_the_add_on_goes(addon):
    closed: list = []
    next(start_running("Baking", work(closed)).steps)
    ik_addon.unregister()
    try:
        assert closed == ["closed"] and running() is None
    finally:
        ik_addon.register()


def test_it_tells_how_far_it_is_and_how_long_it_will_take():
    assert running() is None
    now = start_running("Baking", work([]))
    assert running() is now
    assert str(now) == "Baking" and now.seconds_left is None
    now.done, now.total = 30, 120
    assert now.factor == 0.25
    spent = now.seconds_left / 3.0
    assert 0.0 < spent < 5.0
    assert str(now).startswith("Baking: 30 of 120, ")
    end_running()
    assert running() is None


@pytest.mark.parametrize("operator", ["bake", "check", "snap_targets", "snap_pose"])
def test_nothing_else_starts_meanwhile(operator):
    rig = leg()
    rig.enable()
    enter("POSE", rig.ob, "shin")
    assert getattr(bpy.ops.analytic_ik, operator).poll()
    start_running("Baking", work([]))
    try:
        assert not getattr(bpy.ops.analytic_ik, operator).poll()
        with pytest.raises(
            RuntimeError, match=r"Analytic IK is working. Wait until it is done, or press Esc to cancel it"
        ):
            getattr(bpy.ops.analytic_ik, operator)()
    finally:
        end_running()


@pytest.mark.parametrize("operator", ["bake", "check"])
def test_nothing_goes_through_frames_while_the_window_renders(operator, monkeypatch):
    """It would hold the handlers still that pose the limbs in the pictures."""
    rig = leg()
    rig.enable()
    enter("POSE", rig.ob, "shin")
    # A script that renders waits for it: only a window can be asked meanwhile.
    monkeypatch.setattr("ik_addon.ui.operators.stepped.is_rendering", lambda: True)
    assert not getattr(bpy.ops.analytic_ik, operator).poll()
    with pytest.raises(RuntimeError, match="A render is in progress"):
        getattr(bpy.ops.analytic_ik, operator)()
