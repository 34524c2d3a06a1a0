"""Rigs that come from another file: appended, linked, instanced."""

import shutil
from collections.abc import Iterable
from pathlib import Path

import bpy
from mathutils import Vector

from ...rig.rigs import evaluated_copy, new_empty, update
from ...scenes import curves_of, go_to, reopened, select
from ..faults import fault
from ..stage import FRAMES, Limb, Stage

GROUP = "Append and link"
CHARACTER = "character"


def save_library(stage: Stage, name: str = "library") -> Path:
    """Save all objects of the stage as a collection in a file of its own; an empty scene is left."""
    gather()
    path = stage.folder / f"{name}.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    return path


def gather() -> bpy.types.Collection:
    """Put all objects of the scene into one collection of it."""
    root, character = bpy.context.scene.collection, bpy.data.collections.new(CHARACTER)
    root.children.link(character)
    for ob in list(root.objects):
        character.objects.link(ob)
        root.objects.unlink(ob)
    return character


def linked_collection(path: Path, name: str = CHARACTER) -> bpy.types.Collection:
    """A collection of another file, linked; it is in no scene yet."""
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.collections = [name]
    return next(each for each in bpy.data.collections if each.name == name and each.library)


def show(collection: bpy.types.Collection) -> None:
    """Put a collection into the scene."""
    bpy.context.scene.collection.children.link(collection)
    update()


def instance(collection: bpy.types.Collection) -> bpy.types.Object:
    """An Empty that shows a collection."""
    shown = new_empty("instance", (1.0, 2.0, 0.0))
    shown.instance_type, shown.instance_collection = "COLLECTION", collection
    update()
    return shown


def append(path: Path, kind: str, *names: str) -> None:
    """Append as a user does, from the file browser."""
    directory = f"{path}/{kind}/"
    bpy.ops.wm.append(directory=directory, files=[{"name": name} for name in names], filepath=directory + names[0])
    update()


def save_and_load(stage: Stage, name: str = "shot") -> None:
    """Save the file that is open, and load it again."""
    reopened(stage.folder / f"{name}.blend")


def check_target_moves(stage: Stage) -> None:
    """See that the target is where its keys say: leg and target could both stand still where nobody evaluates it."""
    for frame in FRAMES:
        go_to(frame)
        check_shown(stage)


def check_shown(stage: Stage) -> None:
    """See that the target is where its keys say at the frame that is shown."""
    frame = bpy.context.scene.frame_current
    found = evaluated_copy(stage.target).matrix_world.translation
    keyed = [curve.evaluate(frame) for _, curve in sorted(curves_of(stage.target).items())]
    assert (found - Vector(keyed)).length < 1e-5, f"the target is not evaluated at frame {frame}"


@fault(GROUP, "A rig is appended twice, and one copy's target is moved")
def a_rig_is_appended_twice(stage: Stage) -> None:
    path = save_library(stage)
    append(path, "Object", "leg", "ball")
    append(path, "Object", "leg")
    second = Limb("leg.001", stage.limbs[0].bones, "leg target.001")
    assert second.tip.id_data != stage.ob
    stage.limbs.append(second)
    stage.look("at once")
    stage.follow("both")
    bpy.data.objects[second.target].location = (-0.2, -0.3, 0.8)
    stage.look("with one copy's target moved")


@fault(GROUP, "An armature alone is linked: its target is in no collection")
def an_armature_alone_is_linked(stage: Stage) -> None:
    path = save_library(stage)
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.objects = ["leg", "ball"]
    for name in ("leg", "ball"):
        bpy.context.scene.collection.objects.link(bpy.data.objects[name])
    stage.look("at once")
    stage.follow("linked")
    check_target_moves(stage)
    save_and_load(stage)
    stage.look("at once, saved and loaded")
    stage.follow("saved and loaded")
    check_target_moves(stage)


@fault(GROUP, "A linked collection is shown by an Empty")
def a_linked_collection_is_instanced(stage: Stage) -> None:
    instance(linked_collection(save_library(stage)))
    stage.look("at once")
    stage.follow("instanced")
    check_target_moves(stage)
    save_and_load(stage)
    stage.follow("saved and loaded")
    check_target_moves(stage)


@fault(GROUP, "A linked scene is the background of another")
def a_linked_scene_is_the_background(stage: Stage) -> None:
    bpy.context.scene.name = "set"
    path = save_library(stage)
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.scenes = ["set"]
    bpy.context.scene.background_set = bpy.data.scenes["set"]
    update()
    stage.follow("in the background")
    check_target_moves(stage)


@fault(GROUP, "A rig is linked beside an appended copy of it with the same names", "both")
def linked_beside_a_copy_of_the_same_name(stage: Stage) -> None:
    path = save_library(stage)
    append(path, "Collection", CHARACTER)
    show(linked_collection(path))
    stage.follow("the copy")
    for ob in [ob for ob in bpy.data.objects if ob.library is None]:
        ob.name = f"own {ob.name}"
    stage.limbs.append(Limb("own leg", stage.limbs[0].bones, "own leg target"))


@fault(GROUP, "Undo and redo in a shot with a linked rig", "afterwards")
def undone_beside_a_linked_rig(stage: Stage) -> None:
    show(linked_collection(save_library(stage)))
    for frame in (1, 9, 4):
        go_to(frame)
        bpy.ops.ed.undo_push(message=f"frame {frame}")
    for step in (bpy.ops.ed.undo, bpy.ops.ed.undo, bpy.ops.ed.redo, bpy.ops.ed.redo):
        step()
        stage.look(f"at frame {bpy.context.scene.frame_current}")
        check_shown(stage)


@fault(GROUP, "The library is changed elsewhere and reloaded", "reloaded")
def the_library_is_reloaded(stage: Stage) -> None:
    gather()
    old, new = stage.folder / "library.blend", stage.folder / "changed.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(old))
    change_the_rig(stage)
    bpy.ops.wm.save_as_mainfile(filepath=str(new))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    show(linked_collection(old))
    stage.follow("as it was")
    reload_as(old, new)
    assert "toe" in stage.ob.pose.bones
    stage.look("at once")


def change_the_rig(stage: Stage) -> None:
    """What a rigger does to a rig that others have linked: another bone before the others, other places, other keys."""
    with stage.edit_bones() as bones:
        bones["thigh"].head.x = 0.1
        toe = bones.new("toe")
        toe.head, toe.tail, toe.parent = (0.0, -0.4, 0.0), (0.0, -0.6, 0.0), bones["foot"]
    stage.fk_pose = None
    stage.ob.location.x = 0.2
    stage.target.location = (0.0, -0.5, 0.6)
    stage.target.keyframe_insert("location", frame=5)
    go_to(1)


def reload_as(old: Path, new: Path) -> None:
    """Put a changed file in the place of a library, and reload that."""
    shutil.copy(new, old)
    bpy.data.libraries[0].reload()
    update()


@fault(GROUP, "A linked rig is made local", "local")
def a_linked_rig_is_made_local(stage: Stage) -> None:
    show(linked_collection(save_library(stage)))
    go_to(4)
    make_local(bpy.context.view_layer.objects)
    assert stage.ob.library is None
    stage.look("at once")


def make_local(objects: Iterable[bpy.types.Object]) -> None:
    """Object > Relations > Make Local, with all data."""
    select(*objects)
    bpy.ops.object.make_local(type="ALL")
    update()


@fault(GROUP, "The library's file is missing when the shot is opened", "found again")
def the_library_is_missing(stage: Stage) -> None:
    path = save_library(stage)
    show(linked_collection(path))
    shot = str(stage.folder / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    path.rename(stage.folder / "elsewhere.blend")
    bpy.ops.wm.open_mainfile(filepath=shot)
    assert stage.limbs[0].ob not in bpy.data.objects
    go_to(4)
    (stage.folder / "elsewhere.blend").rename(path)
    bpy.data.libraries[0].reload()
    update()
