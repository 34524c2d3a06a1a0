"""The add-on itself: disabled, enabled, loaded anew."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from ...rig.rigs import update
from ...scenes import go_to
from ..faults import fault
from ..stage import Stage
from .files import open_file, save_file, without_the_add_on

GROUP = "The add-on"


@contextmanager
def loaded_anew() -> Iterator[None]:
    """Other modules of the same names do its work, as after an update."""
    old = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "ik_addon"}
    old["ik_addon"].unregister()
    for name in old:
        del sys.modules[name]
    try:
        new = importlib.import_module("ik_addon")
        new.register()
        yield
        new.unregister()
    finally:
        sys.modules.update(old)
        old["ik_addon"].register()


@fault(GROUP, "Disabled and enabled", "enabled")
def disabled_and_enabled(stage: Stage) -> None:
    for k in range(3):
        with without_the_add_on(stage):
            go_to(4 + k)
        stage.look(f"at once, the {k + 1}. time")


@fault(GROUP, "Disabled, worked on, enabled again: the legs follow at once", "enabled")
def worked_on_while_disabled(stage: Stage) -> None:
    with without_the_add_on(stage):
        stage.drag(0.3, -0.2, 0.9)
        stage.ob.location.z = 0.1
        update()
    stage.look("at once")


@fault(GROUP, "A bone is posed while it is disabled: that is its FK pose", "enabled")
def posed_while_disabled(stage: Stage) -> None:
    with without_the_add_on(stage):
        stage.pose_fk("shin", (0.9, 0.2, -0.3, 0.1))
    stage.look("at once")


@fault(GROUP, "Disabled, saved, loaded, and enabled in the file that is open", "enabled")
def enabled_in_a_file_with_chains(stage: Stage) -> None:
    with without_the_add_on(stage):
        go_to(9)
        path = save_file(stage)
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        open_file(path)
    stage.look("at once")


@fault(GROUP, "Disabled, undone, enabled", "enabled")
def undone_while_disabled(stage: Stage) -> None:
    bpy.ops.ed.undo_push(message="before")
    stage.drag()
    bpy.ops.ed.undo_push(message="dragged")
    with without_the_add_on(stage):
        bpy.ops.ed.undo()
    stage.look("at once")
    bpy.ops.ed.redo()
    stage.look("redone")


@fault(GROUP, "Loaded anew while legs follow, as an update does")
def updated(stage: Stage) -> None:
    go_to(4)
    with loaded_anew():
        stage.look("at once")
        stage.follow("loaded anew")
        handlers = bpy.app.handlers.frame_change_post
        assert len(handlers) == 2, f"there are {len(handlers)} handlers"


@fault(GROUP, "Factory settings are loaded, then the file again", "loaded")
def factory_settings(stage: Stage) -> None:
    path = save_file(stage)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    open_file(path)
    stage.look("at once")
