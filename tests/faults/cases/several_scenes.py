"""Several scenes and view layers, in which the leg, its target or both are shown or not."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from ...rig.rigs import update
from ...scenes import go_to, slide
from ..faults import fault
from ..stage import FRAMES, Stage

GROUP = "Scenes and view layers"


def show(scene: bpy.types.Scene, layer: str = "") -> None:
    """Show a scene in the window, as a user does."""
    window = bpy.context.window_manager.windows[0]
    window.scene = scene
    window.view_layer = scene.view_layers[layer] if layer else scene.view_layers[0]
    update()


def new_scene(stage: Stage, kind: str) -> bpy.types.Scene:
    """Another scene by Blender's own operator, which shows it; back to the first."""
    first = bpy.context.scene
    bpy.ops.scene.new(type=kind)
    made = bpy.context.window_manager.windows[0].scene
    assert made != first
    show(first)
    return made


def _key_hips(stage: Stage) -> None:
    hips = stage.ob.pose.bones["hips"]
    for frame, height in ((1, 0.0), (12, -0.3)):
        hips.location.z = height
        hips.keyframe_insert("location", frame=frame)


@contextmanager
def _looked_at(stage: Stage, scene: bpy.types.Scene) -> Iterator[None]:
    """Inside, the limbs are looked at in a scene that the window does not show."""
    for limb in stage.limbs:
        limb.scene = scene.name
    yield
    for limb in stage.limbs:
        limb.scene = ""


@fault(GROUP, "The leg in a second, linked scene, shown in turn", "in the first again")
def a_linked_scene(stage: Stage) -> None:
    first, second = bpy.context.scene, new_scene(stage, "LINK_COPY")
    for scene in (second, first, second):
        show(scene)
        stage.follow(f"in {scene.name}")
    show(first)


@fault(GROUP, "A full copy of the scene", "the first")
def a_full_copy_of_the_scene(stage: Stage) -> None:
    first, second = bpy.context.scene, new_scene(stage, "FULL_COPY")
    copy = next(ob for ob in second.objects if ob.type == "ARMATURE")
    limb = stage.limbs[0]
    own_ob, own_target = limb.ob, limb.target
    target = stage.bone_target(copy)
    show(second)
    limb.ob, limb.target = copy.name, target.name
    stage.follow("the copy")
    show(first)
    limb.ob, limb.target = own_ob, own_target


@fault(GROUP, "A scene that shares the rig, each at its own frame, both evaluated in turn, with keyed hips")
def two_scenes_with_keyed_hips(stage: Stage) -> None:
    _key_hips(stage)
    second = new_scene(stage, "LINK_COPY")
    for here, there in ((1, 9), (4, 12), (9, 3)):
        go_to(here)
        stage.look(f"the first at frame {here}")
        second.frame_set(there)
        with _looked_at(stage, second):
            stage.look(f"the second at frame {there}")
        stage.look(f"the first at frame {here} again")
    go_to(FRAMES[1])


@fault(GROUP, "The shown scene stands still while the other one plays, with keyed hips")
def the_other_scene_plays(stage: Stage) -> None:
    _key_hips(stage)
    second = new_scene(stage, "LINK_COPY")
    go_to(4)
    for frame in (1, 2, 3, 8):
        second.frame_set(frame)
        with _looked_at(stage, second):
            stage.look(f"the second at frame {frame}")
    stage.look("the first")
    go_to(4)
    stage.look("the first, gone there again")


@fault(GROUP, "The target is in another scene alone")
def the_target_is_in_another_scene(stage: Stage) -> None:
    second = bpy.data.scenes.new("second")
    second.collection.objects.link(stage.target)
    bpy.context.scene.collection.objects.unlink(stage.target)
    update()
    stage.follow("with it")
    for frame in FRAMES:
        # Blender itself must have been made to evaluate it: else target and leg would stand still together.
        go_to(frame)
        point = stage.target.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation
        stage.note(f"the target at frame {frame}", (point - stage.target_point()).length / 2.04)


@fault(GROUP, "The leg is moved to another scene", "there")
def the_leg_is_moved(stage: Stage) -> None:
    first, second = bpy.context.scene, bpy.data.scenes.new("second")
    for ob in (stage.ob, stage.target):
        second.collection.objects.link(ob)
        first.collection.objects.unlink(ob)
    stage.look("where it is no more")
    show(second)


@fault(GROUP, "A scene that shares the rig is deleted", "the other deleted")
def a_scene_is_deleted(stage: Stage) -> None:
    first, second = bpy.context.scene, new_scene(stage, "LINK_COPY")
    show(second)
    go_to(4)
    show(first)
    bpy.data.scenes.remove(second)


@fault(GROUP, "The shown scene is deleted", "in the other one")
def the_shown_scene_is_deleted(stage: Stage) -> None:
    first, second = bpy.context.scene, new_scene(stage, "LINK_COPY")
    show(first)
    go_to(4)
    bpy.data.scenes.remove(first)
    show(second)


@fault(GROUP, "The leg stands in the background set of a scene", "in its own scene")
def a_background_set(stage: Stage) -> None:
    first, second = bpy.context.scene, bpy.data.scenes.new("shot")
    second.background_set = first
    show(second)
    stage.play(FRAMES)
    stage.drag()
    stage.look("dragged")
    show(first)


@fault(GROUP, "A second view layer without the leg's target")
def a_layer_without_the_target(stage: Stage) -> None:
    _excluded(stage, stage.target)


@fault(GROUP, "A second view layer without the leg")
def a_layer_without_the_leg(stage: Stage) -> None:
    _excluded(stage, stage.ob)


def _excluded(stage: Stage, ob: bpy.types.Object) -> None:
    """Two view layers, in the second of which the collection of an object is excluded."""
    scene = bpy.context.scene
    own = bpy.data.collections.new("own")
    scene.collection.children.link(own)
    own.objects.link(ob)
    scene.collection.objects.unlink(ob)
    first, second = scene.view_layers[0], scene.view_layers.new("second")
    second.layer_collection.children["own"].exclude = True
    window = bpy.context.window_manager.windows[0]
    stage.follow("in the first")
    window.view_layer = second
    update()
    if ob == stage.target:
        stage.follow("in the second")
    else:
        for frame in FRAMES:
            go_to(frame)
    window.view_layer = first
    stage.look("in the first again")
    stage.follow("in the first again")
    window.view_layer = second
    update()
    second.layer_collection.children["own"].exclude = False
    update()
    stage.follow("in the second, no longer excluded")


@fault(GROUP, "Two view layers at once")
def two_layers_at_once(stage: Stage) -> None:
    _key_hips(stage)
    scene = bpy.context.scene
    second = scene.view_layers.new("second")
    for frame in (*FRAMES, 2.5):
        go_to(frame)
        second.update()
        stage.look(f"in the first at frame {frame}")
        with bpy.context.temp_override(scene=scene, view_layer=second):
            stage.look(f"in the second at frame {frame}")
    stage.drag()
    stage.look("in the first, dragged")
    with bpy.context.temp_override(scene=scene, view_layer=second):
        second.update()
        stage.look("in the second, dragged")
    go_to(4)
    stage.look("in the first again")


@fault(GROUP, "A new scene without anything is shown for a while", "back")
def an_empty_scene_for_a_while(stage: Stage) -> None:
    first, second = bpy.context.scene, bpy.data.scenes.new("empty")
    go_to(4)
    show(second)
    slide(stage.target, (0.1, -0.5, 0.3), (0.2, 0.3, 0.6))
    for frame in FRAMES:
        go_to(frame)
    show(first)
    stage.look("back")
