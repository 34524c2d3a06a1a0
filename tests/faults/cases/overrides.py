"""Library overrides: made, changed, saved, reloaded, resynced, taken back."""

import bpy

from ik_addon.ui.operators.chains import ANALYTIC_IK_OT_add

from ...rig.rigs import new_empty, update
from ...scenes import go_to, select, slide
from ..faults import fault
from ..stage import BLENDERS, OURS, Limb, Stage
from .libraries import (
    change_the_rig,
    gather,
    linked_collection,
    reload_as,
    save_and_load,
    save_library,
    show,
)

GROUP = "Library overrides"
INFLUENCE = {OURS: "analytic_ik_influence", BLENDERS: "influence"}


def override(stage: Stage, editable: bool = True) -> None:
    """Put the stage into a library, link it into an empty scene, and override it with all that belongs to it.

    editable: the user may change all of it; else only the armature, and Blender overrides the rest for its sake.
    """
    collection = linked_collection(save_library(stage))
    show(collection)
    made = collection.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=editable)
    update()
    assert all(ob.override_library for ob in made.all_objects)
    assert stage.ob.override_library.is_system_override is not editable


def chain_of(stage: Stage):
    """What holds the chain's settings: the tip, or the constraint on it."""
    tip = stage.limbs[0].tip
    return tip if stage.ours else next(each for each in tip.constraints if each.type == "IK")


@fault(GROUP, "Blender overrides the armature only for the sake of something else: nobody may edit it")
def a_system_override(stage: Stage) -> None:
    override(stage, editable=False)
    stage.look("at once")
    if stage.ours:
        select(stage.ob)
        assert "Make it editable in the Outliner" in ANALYTIC_IK_OT_add.missing(bpy.context)
    stage.follow("overridden")
    save_and_load(stage)
    stage.look("at once, saved and loaded")
    stage.follow("saved and loaded")


@fault(GROUP, "A setting is overridden, saved and loaded", "with all influence again")
def a_setting_is_overridden(stage: Stage) -> None:
    override(stage)
    setattr(chain_of(stage), INFLUENCE[stage.solver], 0.25)
    update()
    save_and_load(stage)
    assert abs(getattr(chain_of(stage), INFLUENCE[stage.solver]) - 0.25) < 1e-6, "the influence is not kept"
    setattr(chain_of(stage), INFLUENCE[stage.solver], 1.0)
    update()


@fault(GROUP, "Keys on an overridden setting, saved and loaded")
def keys_on_an_overridden_setting(stage: Stage) -> None:
    override(stage)
    for frame, value in ((1, 1.0), (5, 0.0), (9, 1.0)):
        setattr(chain_of(stage), INFLUENCE[stage.solver], value)
        assert chain_of(stage).keyframe_insert(INFLUENCE[stage.solver], frame=frame)
    for when in ("keyed", "saved and loaded"):
        stage.play((1, 9), f"{when}")
        go_to(5)
        evaluated = stage.ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        straight = stage.fk_pose["shin"]
        local = evaluated["shin"].parent.matrix.inverted() @ evaluated["shin"].matrix
        assert (local.to_quaternion() - straight.to_quaternion()).magnitude < 1e-5, "no influence is no FK pose"
        save_and_load(stage)


@fault(GROUP, "Another target is chosen on an override, saved and loaded", "saved and loaded")
def another_target_on_an_override(stage: Stage) -> None:
    override(stage)
    other = new_empty("other")
    slide(other, (0.1, -0.5, 0.6), (0.0, 0.4, 0.5))
    setattr(chain_of(stage), "analytic_ik_target" if stage.ours else "target", other)
    stage.limbs[0].target = "other"
    go_to(2)
    stage.look("at once")
    save_and_load(stage)
    stage.look("at once, saved and loaded")


@fault(GROUP, "A bone is posed on an override, saved and loaded", "saved and loaded")
def a_bone_is_posed_on_an_override(stage: Stage) -> None:
    override(stage)
    stage.pose_fk("thigh", (0.9, 0.3, 0.2, 0.1))
    stage.look("posed")
    go_to(3)
    save_and_load(stage)


@fault(GROUP, "A chain is added to an override, saved and loaded", "saved and loaded")
def a_chain_is_added_to_an_override(stage: Stage) -> None:
    stage.unsolve(stage.limbs[0])
    override(stage)
    stage.solve(stage.limbs[0])
    stage.look("added")
    save_and_load(stage)
    stage.look("at once, saved and loaded")


@fault(GROUP, "The library is changed, and the override resynced as the shot is opened", "resynced")
def resynced_when_opened(stage: Stage) -> None:
    old, new = _two_states_of_the_library(stage)
    _override_of(old)
    shot = str(stage.folder / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    new.replace(old)
    bpy.ops.wm.open_mainfile(filepath=shot)
    assert "toe" in stage.ob.pose.bones
    stage.look("at once")


@fault(GROUP, "The library is changed and reloaded under an override", "reloaded")
def reloaded_under_an_override(stage: Stage) -> None:
    old, new = _two_states_of_the_library(stage)
    _override_of(old)
    stage.follow("as it was")
    reload_as(old, new)
    assert "toe" in stage.ob.pose.bones
    stage.look("at once")


def _two_states_of_the_library(stage: Stage):
    gather()
    old, new = stage.folder / "library.blend", stage.folder / "changed.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(old))
    change_the_rig(stage)
    bpy.ops.wm.save_as_mainfile(filepath=str(new))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    return old, new


def _override_of(path) -> None:
    collection = linked_collection(path)
    show(collection)
    collection.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    update()


@fault(GROUP, "An override is resynced by hand", "resynced")
def resynced_by_hand(stage: Stage) -> None:
    override(stage)
    root = next(each for each in bpy.data.collections if each.override_library)
    root.override_library.resync(bpy.context.scene, view_layer=bpy.context.view_layer, do_hierarchy_enforce=True)
    stage.look("at once")


@fault(GROUP, "What was overridden is reset to the library's", "reset")
def an_override_is_reset(stage: Stage) -> None:
    override(stage)
    stage.drag()
    setattr(chain_of(stage), INFLUENCE[stage.solver], 0.25)
    update()
    for name in ("leg", stage.limbs[0].target):
        overridden = bpy.data.objects[name].override_library
        # Blender does so by itself before each undo step.
        overridden.operations_update()
        overridden.reset()
    stage.look("at once")


@fault(GROUP, "An override is taken back: what is linked is left", "linked again")
def an_override_is_destroyed(stage: Stage) -> None:
    override(stage)
    root = next(each for each in bpy.data.collections if each.override_library)
    root.override_library.destroy(do_hierarchy=True)
    update()
    assert stage.ob.library
    stage.look("at once")


@fault(GROUP, "One rig is overridden twice in a shot")
def overridden_twice(stage: Stage) -> None:
    override(stage)
    linked = next(each for each in bpy.data.collections if each.library)
    linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    update()
    names = {ob.name for ob in bpy.data.objects if ob.override_library}
    assert {"leg", "leg.001", "leg target", "leg target.001"} <= names, names
    stage.limbs.append(Limb("leg.001", stage.limbs[0].bones, "leg target.001"))
    bpy.data.objects["leg.001"].location.x = 3.0
    bpy.data.objects["leg target.001"].location = (3.0, -0.3, 0.5)
    bpy.data.objects["leg target.001"].animation_data_clear()
    stage.look("at once")
    save_and_load(stage)
    stage.look("saved and loaded")
    go_to(6)
    stage.look("at another frame")


@fault(GROUP, "An override is baked, saved and loaded")
def an_override_is_baked(stage: Stage) -> None:
    override(stage)
    stage.bake(1, 12)
    save_and_load(stage)
    stage.play((1, 4, 9), "baked")


@fault(GROUP, "An override is made local", "saved and loaded")
def an_override_is_made_local(stage: Stage) -> None:
    override(stage)
    for ob in [ob for ob in bpy.data.objects if ob.override_library]:
        ob.make_local(clear_liboverride=True)
    update()
    assert not stage.ob.override_library and not stage.ob.library
    stage.look("at once")
    stage.follow("local")
    save_and_load(stage)


@fault(GROUP, "An override is changed and undone", "afterwards")
def an_override_is_undone(stage: Stage) -> None:
    override(stage)
    bpy.ops.ed.undo_push(message="made")
    stage.drag()
    bpy.ops.ed.undo_push(message="dragged")
    setattr(chain_of(stage), INFLUENCE[stage.solver], 0.25)
    update()
    bpy.ops.ed.undo_push(message="blended")
    bpy.ops.ed.undo()
    stage.look("the influence undone")
    bpy.ops.ed.undo()
    stage.look("the drag undone")
    bpy.ops.ed.redo()
    stage.look("the drag redone")
