"""What is said of how a chain is solved, and of what should not happen."""

import bpy

from ik_addon.rig.blender import sampling as simple
from ik_addon.rig.live import handlers as live

from ..scenes import go_to, walking_leg
from .rigs import update


def test_an_action_of_several_layers_is_not_sampled(monkeypatch):
    """No Blender makes one yet; a later one may."""
    rig, collections = walking_leg(), simple.current_fcurve_collections
    monkeypatch.setattr(simple, "current_fcurve_collections", lambda data: collections(data) * 2)
    assert simple.not_simple(rig.target.ob) == "the action of 'leg target' has several layers"


def test_an_armature_that_is_gone_is_a_reason_and_no_crash():
    rig = walking_leg()
    known = live.plan_of(bpy.context)
    bpy.data.objects.remove(rig.ob)
    assert list(known.reasons(bpy.context.scene).values()) == ["its armature is gone"]


def test_what_should_not_happen_is_printed_once_and_reaches_nobody(monkeypatch, capsys):
    rig = walking_leg()
    rig.tip.analytic_ik_reach = "STRETCH"
    update()

    def broken(*_):
        raise ZeroDivisionError("{nothing} 100 %")

    # As where nothing is known of it yet.
    live.memory.reset()
    monkeypatch.setattr(live, "solve_scene", broken)
    for frame in (2, 3, 4):
        go_to(frame)
    said = capsys.readouterr().out
    assert said.count("Analytic IK: a chain could not be solved. Please report this.\nTraceback") == 1
    assert "ZeroDivisionError: {nothing} 100 %\n" in said
    monkeypatch.undo()
    go_to(5)
    assert rig.missed() < 1e-5
    assert capsys.readouterr().out == ""
