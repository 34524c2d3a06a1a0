"""Files: saved, loaded, recovered, opened without the add-on, saved by an earlier version of it."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from ...rig.rigs import update
from ...scenes import go_to
from ..faults import fault
from ..stage import Stage

GROUP = "Files"


def save_file(stage: Stage, name: str = "file", **how: object) -> str:
    """Save the file that is open; returns its path."""
    path = str(stage.folder / f"{name}.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, **how)
    return path


def open_file(path: str, **how: object) -> None:
    """Open a file."""
    bpy.ops.wm.open_mainfile(filepath=path, **how)


@contextmanager
def without_the_add_on(stage: Stage) -> Iterator[None]:
    """The add-on is disabled; Blender's own IK constraint needs none."""
    import ik_addon

    if not stage.ours:
        yield
        return
    ik_addon.unregister()
    try:
        yield
    finally:
        ik_addon.register()


@fault(GROUP, "The same, compressed, with relative paths, in a folder of its own", "loaded")
def saved_otherwise(stage: Stage) -> None:
    (stage.folder / "deeper").mkdir()
    save_file(stage)
    open_file(save_file(stage, "deeper/file", compress=True, relative_remap=True))
    stage.look("at once")


@fault(GROUP, "A file is loaded without the windows that it was saved with", "loaded")
def loaded_without_windows(stage: Stage) -> None:
    open_file(save_file(stage), load_ui=False)
    stage.look("at once")


@fault(GROUP, "A copy is saved while one works on, and loaded later", "loaded")
def a_copy_is_saved(stage: Stage) -> None:
    go_to(9)
    copy = save_file(stage, "copy", copy=True)
    stage.look("in the file itself")
    go_to(4)
    stage.drag()
    stage.look("in the file itself, dragged")
    open_file(copy)
    assert bpy.context.scene.frame_current == 9
    stage.look("at once")


@fault(GROUP, "A file is reverted to what was saved", "reverted")
def reverted(stage: Stage) -> None:
    go_to(4)
    save_file(stage)
    stage.drag()
    stage.unsolve(stage.limbs[0])
    bpy.ops.wm.revert_mainfile()
    stage.look("at once")


@fault(GROUP, "Another file is opened, and this one again", "back again")
def another_file_and_back(stage: Stage) -> None:
    path = save_file(stage)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.context.scene.frame_set(7)
    other = bpy.data.objects.new("leg", bpy.data.armatures.new("leg"))
    bpy.context.scene.collection.objects.link(other)
    update()
    open_file(path)
    stage.look("at once")


@fault(GROUP, "A file is saved ten times over, at other frames, and loaded each time", "afterwards")
def saved_ten_times(stage: Stage) -> None:
    for k in range(10):
        go_to(1 + k)
        open_file(save_file(stage))
        stage.look(f"the {k + 1}. time")


@fault(GROUP, "Saved in pose mode and in edit mode", "afterwards")
def saved_in_other_modes(stage: Stage) -> None:
    for mode in ("POSE", "EDIT"):
        bpy.context.view_layer.objects.active = stage.ob
        bpy.ops.object.mode_set(mode=mode)
        path = save_file(stage)
        if mode == "EDIT":
            bpy.ops.object.mode_set(mode="OBJECT")
        open_file(path)
        if stage.ob.mode == "EDIT":
            bpy.context.view_layer.objects.active = stage.ob
            bpy.ops.object.mode_set(mode="OBJECT")
        stage.look(f"saved in {mode.lower()} mode")


@fault(GROUP, "Saved in rest position", "in pose position")
def saved_in_rest_position(stage: Stage) -> None:
    stage.ob.data.pose_position = "REST"
    update()
    open_file(save_file(stage))
    if stage.ours:
        # Blender's own IK shows the rest position without a word.
        stage.look("in rest position")
    stage.ob.data.pose_position = "POSE"
    update()


@fault(GROUP, "Saved with nothing evaluated since the last change", "loaded")
def saved_unevaluated(stage: Stage) -> None:
    stage.target.location = (0.3, -0.4, 0.6)
    bpy.context.scene.frame_current = 6
    open_file(save_file(stage))
    stage.look("at once")


@fault(GROUP, "Saved while a bake or check runs, in which nothing is posed", "loaded")
def saved_while_paused(stage: Stage) -> None:
    from ik_addon.rig.live import handlers as live

    with live.paused():
        go_to(9)
        path = save_file(stage)
    open_file(path)
    stage.look("at once")


@fault(GROUP, "Another file is opened while a bake or check runs", "loaded")
def opened_while_paused(stage: Stage) -> None:
    from ik_addon.rig.live import handlers as live

    path = save_file(stage)
    with live.paused():
        open_file(path)
        go_to(9)
    go_to(4)
    stage.look("at once")


@fault(GROUP, "A file with autosave's name is recovered", "recovered")
def an_autosave_is_recovered(stage: Stage) -> None:
    go_to(9)
    path = save_file(stage, "1234_autosave", copy=True)
    stage.drag()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.wm.recover_auto_save(filepath=path)
    stage.look("at once")


@fault(GROUP, "The last session is recovered", "recovered")
def the_last_session_is_recovered(stage: Stage) -> None:
    paths = bpy.context.preferences.filepaths
    before = paths.temporary_directory
    paths.temporary_directory = str(stage.folder)
    try:
        go_to(9)
        save_file(stage, "quit", copy=True)
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        # Blender puts the file's own folder back.
        bpy.context.preferences.filepaths.temporary_directory = str(stage.folder)
        bpy.ops.wm.recover_last_session()
    finally:
        bpy.context.preferences.filepaths.temporary_directory = before
    stage.look("at once")


@fault(GROUP, "Opened without the add-on, worked on there, saved, and opened with it", "with the add-on")
def worked_on_without_the_add_on(stage: Stage) -> None:
    path = save_file(stage)
    with without_the_add_on(stage):
        open_file(path)
        go_to(9)
        stage.target.location = (0.1, -0.5, 0.5)
        stage.target.keyframe_insert("location", frame=6)
        path = save_file(stage, "saved without")
        open_file(path)
        go_to(4)
        path = save_file(stage, "saved without")
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    open_file(path)
    stage.look("at once")


@fault(GROUP, "A bone is posed without the add-on; that is its FK pose with it", "with the add-on")
def posed_without_the_add_on(stage: Stage) -> None:
    path = save_file(stage)
    with without_the_add_on(stage):
        open_file(path)
        stage.pose_fk("thigh", (0.9, 0.3, 0.2, 0.1))
        path = save_file(stage, "posed without")
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    open_file(path)
    stage.look("at once")


@fault(GROUP, "The scene that follows is not the one that is shown when the file opens", "shown")
def another_scene_is_shown(stage: Stage) -> None:
    first = bpy.context.scene.name
    bpy.context.window.scene = bpy.data.scenes.new("other")
    path = save_file(stage)
    open_file(path)
    bpy.context.window.scene = bpy.data.scenes[first]
    stage.look("at once")


@fault(GROUP, "The armature is in two scenes, its target in one; windows switch from one to the other", "afterwards")
def a_target_in_another_scene(stage: Stage) -> None:
    first = bpy.context.scene.name
    other = bpy.data.scenes.new("other")
    other.collection.objects.link(stage.ob)
    for k in range(3):
        bpy.context.window.scene = bpy.data.scenes["other"]
        go_to(5 + k)
        stage.look(f"in the other scene, the {k + 1}. time")
        bpy.context.window.scene = bpy.data.scenes[first]
        go_to(2 + k)
        stage.look(f"in the first scene, the {k + 1}. time")


@fault(GROUP, "A file saved by a later version: it has a solver that this one does not know")
def saved_by_a_later_version(stage: Stage) -> None:
    if not stage.ours:
        return  # it has no settings that an earlier Blender does not know and keeps
    tip = stage.limbs[0].tip
    kept = tip.bl_system_properties_get() if hasattr(tip, "bl_system_properties_get") else tip
    name, value = "analytic_ik_solver", tip["analytic_ik_solver"] if kept is tip else kept["analytic_ik_solver"]
    kept[name] = 99
    open_file(save_file(stage))
    seen = len(stage.seen)
    stage.follow("opened")
    for look in stage.seen[seen:]:
        # It reads as another one: what suits the number of bones solves the chain meanwhile.
        look.lost = [what for what in look.lost if "settings" not in what]
    tip = stage.limbs[0].tip
    kept = tip.bl_system_properties_get() if hasattr(tip, "bl_system_properties_get") else tip
    assert kept[name] == 99, "the setting is lost"
    kept[name] = value
    stage.ob.update_tag()
    stage.follow("with a solver that is known")
