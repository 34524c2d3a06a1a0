"""A character as pipelines bring it into a shot: its collection is linked, and its hierarchy overridden."""

import re
from pathlib import Path

import bpy
import pytest

from ik_addon.authoring.placing import home_of
from ik_addon.ui.operators import certificates as cures
from ik_addon.ui.panels import chain as chain_panel

from ..rig.rigs import leg, new_empty, update
from ..scenes import (
    EXACT,
    apart,
    pose_of,
    reopened,
    select,
    select_bones,
)
from ..ui.layouts import drawn, press
from .skeletons import FAMILIES, armature_of

pytestmark = pytest.mark.versions

FAMILY = FAMILIES[0]
LIMBS = FAMILY.found()
CHARACTER = "CHAR"


def library_with(*objects: bpy.types.Object, folder: Path) -> Path:
    """A file with a character in a collection, in which there is another; an empty file is open then."""
    character, inner = bpy.data.collections.new(CHARACTER), bpy.data.collections.new("geometry")
    bpy.context.scene.collection.children.link(character)
    character.children.link(inner)
    for ob in objects:
        character.objects.link(ob)
        bpy.context.scene.collection.objects.unlink(ob)
    body = bpy.data.objects.new("body", bpy.data.meshes.new("body"))
    body.parent = objects[0]
    inner.objects.link(body)
    path = folder / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    return path


def linked_character(path: Path) -> bpy.types.Collection:
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.collections = [CHARACTER]
    collection = bpy.data.collections[CHARACTER]
    bpy.context.scene.collection.children.link(collection)
    update()
    return collection


def overridden_character(path: Path, editable: bool = True) -> bpy.types.Object:
    """The armature of a character that is linked and overridden. editable: as *Make Library Override* leaves it."""
    linked_character(path).override_hierarchy_create(
        bpy.context.scene, bpy.context.view_layer, do_fully_editable=editable
    )
    update()
    return overridden_armature()


def overridden_armature() -> bpy.types.Object:
    [ob] = [ob for ob in bpy.data.objects if ob.type == "ARMATURE" and ob.override_library]
    assert all(collection.override_library for collection in ob.users_collection)
    return ob


def hero() -> bpy.types.Object:
    ob = armature_of(FAMILY.bones())
    ob.name = "hero"
    return ob


def saved_and_opened(folder: Path) -> bpy.types.Object:
    reopened(folder / "shot.blend")
    return overridden_armature()


# A whole shot


@pytest.mark.parametrize("with_rotation", [True, False])
def test_a_constraint_of_an_overridden_character_is_adopted_and_restored(with_rotation, tmp_path):
    rig = leg()
    constraint = rig.ob.pose.bones["foot" if with_rotation else "shin"].constraints.new("IK")
    constraint.target, constraint.chain_count = rig.target.ob, 3 if with_rotation else 2
    constraint.use_rotation = with_rotation
    path = library_with(rig.ob, rig.target.ob, folder=tmp_path)
    ob = overridden_character(path)
    before, count = pose_of(ob), len(bpy.data.objects)
    select(ob)
    assert bpy.ops.analytic_ik.adopt(all=True) == {"FINISHED"}
    update()
    # As near as Blender's own IK comes to its target.
    assert apart(pose_of(ob), before, 2.0) < 1e-3
    # With the trigger that ties the chain to its armature.
    assert len(bpy.data.objects) == count + 1 + with_rotation
    live = pose_of(ob)
    ob = saved_and_opened(tmp_path)
    assert apart(pose_of(ob), live, 2.0) < EXACT
    select(ob)
    assert bpy.ops.analytic_ik.restore(all=True) == {"FINISHED"}
    assert apart(pose_of(ob), before, 2.0) < EXACT
    assert len(bpy.data.objects) == count


def test_a_character_that_gets_no_bones_gets_an_empty(tmp_path):
    ob = overridden_character(library_with(leg().ob, folder=tmp_path))
    select(ob)
    select_bones(ob, "shin")
    bpy.ops.analytic_ik.add()
    tip = ob.pose.bones["shin"]
    tip.analytic_ik_target = None
    update()
    bpy.context.scene.analytic_ik_controls = "BONES"
    assert cures.button_of(bpy.context, "NEW_TARGET") == cures.BUTTONS["NEW_TARGET"]
    bones = len(ob.data.bones)
    assert press(cures.ANALYTIC_IK_OT_cure, kind="NEW_TARGET", bone="shin") == {"FINISHED"}
    assert tip.analytic_ik_target.type == "EMPTY" and len(ob.data.bones) == bones
    with pytest.raises(RuntimeError, match=r"gets no new bones\. Choose Empties as its controls"):
        bpy.ops.analytic_ik.cure(kind="NEW_TARGET", bone="shin", controls="BONES")


# What the tab says


def test_an_empty_that_shows_a_linked_character_says_what_to_do_and_its_button_does_it(tmp_path):
    path = library_with(hero(), folder=tmp_path)
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.collections = [CHARACTER]
    empty = new_empty("shown")
    empty.instance_type, empty.instance_collection = "COLLECTION", bpy.data.collections[CHARACTER]
    update()
    select(empty)
    shown = drawn(chain_panel.ANALYTIC_IK_PT_sidebar)
    assert (
        f"Collection '{CHARACTER}' is linked, and this Empty shows it. To pose it, make a library override"
        in shown.text()
    )
    assert shown.operators == ["object.make_override_library"]
    assert bpy.ops.object.make_override_library() == {"FINISHED"}
    update()
    ob = overridden_armature()
    select(ob)
    assert bpy.ops.analytic_ik.rig_legs() == {"FINISHED"}
    assert sum(tip.analytic_ik_enabled for tip in ob.pose.bones) == 2


@pytest.mark.parametrize("editable", [True, False])
def test_an_overridden_character_says_how_it_is_edited(editable, tmp_path):
    ob = overridden_character(library_with(leg().ob, folder=tmp_path), editable)
    select(ob)
    shown = drawn(chain_panel.ANALYTIC_IK_PT_sidebar)
    assert ("Linked or overridden: its controls are Empties" in shown.text()) is editable
    assert ("Library override, not editable: the chains follow" in shown.text()) is not editable
    assert "analytic_ik_controls" not in shown.properties
    assert "object.make_override_library" not in shown.operators


# Where controls go


def test_controls_go_where_the_armature_is_if_that_can_be_edited():
    rig, scene = leg(), bpy.context.scene
    home, elsewhere = bpy.data.collections.new("home"), bpy.data.collections.new("elsewhere")
    scene.collection.objects.unlink(rig.ob)
    elsewhere.objects.link(rig.ob)
    # In no collection of the scene.
    assert home_of(rig.ob, scene) == scene.collection
    scene.collection.children.link(home)
    home.objects.link(rig.ob)
    assert home_of(rig.ob, scene) == home
    scene.collection.children.link(elsewhere)
    assert home_of(rig.ob, scene) in (home, elsewhere)


def test_an_override_in_a_collection_of_the_shot_has_its_controls_there(tmp_path):
    path, scene = library_with(leg().ob, folder=tmp_path), bpy.context.scene
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.objects = ["leg"]
    shot = bpy.data.collections.new("shot")
    scene.collection.children.link(shot)
    # In use, for Blender 5.3 makes no override of what is in no scene.
    shot.objects.link(bpy.data.objects["leg"])
    ob = bpy.data.objects["leg"].override_create()
    shot.objects.unlink(bpy.data.objects["leg", str(path)])
    shot.objects.link(ob)
    update()
    select(ob)
    select_bones(ob, "shin")
    bpy.ops.analytic_ik.add()
    assert ob.pose.bones["shin"].analytic_ik_target.users_collection == (shot,)


def test_a_collection_of_controls_that_came_with_the_character_is_left_alone(tmp_path):
    ob = hero()
    path = library_with(ob, folder=tmp_path)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    own = bpy.data.collections.new("hero controls")
    bpy.data.collections[CHARACTER].children.link(own)
    own.objects.link(new_empty("theirs"))
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    ob = overridden_character(path)
    select(ob)
    select_bones(ob)
    bpy.ops.analytic_ik.rig_legs()
    [made] = [each for each in bpy.context.scene.collection.children if "controls" in each.name]
    assert made.override_library is None and len(made.objects) == 4
    select_bones(ob, *(limb.bones[-1] for limb in LIMBS))
    bpy.ops.analytic_ik.remove(delete_controls=True)
    assert [each.name for each in bpy.data.collections if "controls" in each.name and not each.library] == [
        "hero controls"
    ]


# What cannot be changed says so


@pytest.mark.some(3)
@pytest.mark.parametrize("operator", ["add", "rig_legs", "adopt", "limit_knees", "snap_targets", "snap_pose", "bake"])
def test_what_is_not_editable_is_refused_in_one_sentence(operator, tmp_path):
    ob = overridden_character(library_with(hero(), folder=tmp_path), editable=False)
    select(ob)
    ob.data.bones.active = ob.data.bones[0]
    count = len(bpy.data.objects), len(bpy.data.collections)
    with pytest.raises(RuntimeError) as refusal:
        getattr(bpy.ops.analytic_ik, operator)()
    sentence = re.sub(r"^(Error: |Operator \S+\.poll\(\) )", "", str(refusal.value)).strip()
    words = r"Armature 'hero' has a library override that is not editable. Make it editable in the Outliner, "
    assert re.match(words, sentence), sentence
    assert (len(bpy.data.objects), len(bpy.data.collections)) == count
