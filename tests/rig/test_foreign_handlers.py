"""Handlers of other add-ons that are written in unusual ways."""

import bpy
import pytest

from ik_addon.rig.blender.file_memory import file_memory
from ik_addon.rig.live import handlers, state
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
    listed, before = getattr(bpy.app.handlers, event), others_handle(event)
    listed.append(nothing)
    try:
        assert others_handle(event)
        for frame in (5, 9):
            go_to(frame)
            assert missed_world(rig) < 1e-4
    finally:
        listed.remove(nothing)
    assert others_handle(event) == before
    assert "Traceback" not in capsys.readouterr().out


@pytest.mark.versions
def test_what_a_cleared_list_left_unsolved_is_solved_once_the_window_is_drawn():
    """A handler may clear the very list that Blender goes through, before the add-on's own has its turn."""
    rig = walking_leg()

    def clearing(*_):
        bpy.app.handlers.frame_change_post.clear()

    bpy.app.handlers.frame_change_post.insert(0, clearing)
    go_to(9)
    # It was drawn before.
    file_memory.drawn.add(state._key(bpy.context.evaluated_depsgraph_get()))
    try:
        state._before_drawing(handlers._lists.put_back)
        assert bpy.app.timers.is_registered(state.evaluate_chains)
    finally:
        file_memory.drawn.clear()
        if bpy.app.timers.is_registered(state.evaluate_chains):
            bpy.app.timers.unregister(state.evaluate_chains)
    state.evaluate_chains()
    bpy.context.view_layer.update()
    assert missed_world(rig) < 1e-4
    assert not handlers._lists.put_back()
