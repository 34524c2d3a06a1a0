"""Handlers of other add-ons that are written in unusual ways."""

import bpy
import pytest

from ik_addon.rig.live.handler_lists import others_handle

from ..scenes import go_to, missed_world, walking_leg


@pytest.mark.versions
@pytest.mark.parametrize("event", ["frame_change_pre", "frame_change_post", "depsgraph_update_post"])
def test_a_handler_without_a_module_is_one_of_others(event, capsys):
    """As code makes it that is run with a namespace of its own."""
    rig, space = walking_leg(), {}
    exec("def nothing(*_):\n    pass\n", space)
    nothing = space["nothing"]
    nothing.__module__ = None
    handlers, before = getattr(bpy.app.handlers, event), others_handle(event)
    handlers.append(nothing)
    try:
        assert others_handle(event)
        for frame in (5, 9):
            go_to(frame)
            assert missed_world(rig) < 1e-4
    finally:
        handlers.remove(nothing)
    assert others_handle(event) == before
    assert "Traceback" not in capsys.readouterr().out
