"""Native rigs: Make Native, what happens then, and Make Live."""

from collections.abc import Callable

import bpy

from ik_addon.native.making import make_live, make_native
from ik_addon.native.records import HELPER_PREFIX
from ik_addon.rig.data.settings import native_tips
from ik_addon.solvers import ChainError
from ik_addon.ui.operators.chains import ANALYTIC_IK_OT_make_live

from ...rig.rigs import evaluated_copy, matrix_difference, update
from ...scenes import go_to, select
from ..faults import fault, works
from ..stage import NEAR, Limb, Stage
from .duplicating import copies, join_a_copy, left_leg, select_edit_bones
from .files import without_the_add_on
from .libraries import linked_collection, save_and_load, save_library, show

GROUP = "Native rigs"
BONES = ["thigh", "shin"]


def native(stage: Stage, bones: bool = False, pole: bool = False, swivel: float = 0.0) -> Limb:
    """The first leg made native. bones: its controls are bones; pole: it has a pole bone too. swivel: its setting."""
    limb = stage.limbs[0]
    if bones:
        stage.follow_bones(pole="knee ik" if pole else "")
    if stage.ours:
        limb.tip.analytic_ik_swivel = swivel
        make_native(bpy.context, [limb.tip])
    stage.look("native")
    return limb


def live_again(stage: Stage) -> None:
    """Every native leg made live; it follows as before."""
    for ob in [ob for ob in bpy.data.objects if ob.type == "ARMATURE" and ob.pose]:
        if stage.ours and native_tips(ob):
            make_live(bpy.context, native_tips(ob))
            assert not [bone.name for bone in ob.data.bones if bone.name.startswith(HELPER_PREFIX)], "helpers are left"
    stage.look("live again")
    stage.follow("live again")


def _undone_and_redone(stage: Stage, step: Callable[[], object]) -> None:
    """Do something, undo it, redo it: the bones are each time where they were."""
    update()
    bpy.ops.ed.undo_push(message="before")
    before = _shown(stage)
    step()
    update()
    bpy.ops.ed.undo_push(message="step")
    after = _shown(stage)
    bpy.ops.ed.undo()
    _check_shown(stage, "undone", before)
    stage.look("undone")
    bpy.ops.ed.redo()
    _check_shown(stage, "redone", after)
    bpy.ops.ed.undo()
    stage.follow("undone again")
    bpy.ops.ed.redo()


def _shown(stage: Stage) -> dict:
    """The bones that are no helpers, and which chains are native."""
    ob = evaluated_copy(stage.ob)
    own = {bone.name: bone.matrix.copy() for bone in ob.pose.bones if not bone.name.startswith(HELPER_PREFIX)}
    return {"bones": own, "native": [tip.name for tip in native_tips(stage.ob)], "count": len(stage.ob.data.bones)}


def _check_shown(stage: Stage, when: str, expected: dict) -> None:
    found = _shown(stage)
    assert (found["native"], found["count"]) == (expected["native"], expected["count"]), f"{when}, it is another rig"
    own = expected["bones"]
    near = 4 * NEAR[stage.solver]
    assert all(matrix_difference(found["bones"][name], own[name]) < near for name in own), (
        f"{when}, it is posed otherwise"
    )


# Undo


@works(GROUP, "Make Native is undone and redone")
def made_native_and_undone(stage: Stage) -> None:
    _undone_and_redone(stage, lambda: native(stage))
    stage.follow("redone again")
    live_again(stage)


@works(GROUP, "Make Live is undone and redone", "afterwards")
def made_live_and_undone(stage: Stage) -> None:
    native(stage, bones=True, pole=True)
    if stage.ours:
        _undone_and_redone(stage, lambda: make_live(bpy.context, native_tips(stage.ob)))


@works(GROUP, "A setting of a native leg is changed, undone and redone")
def a_native_setting_is_undone(stage: Stage) -> None:
    limb = native(stage, swivel=0.2)

    def turn() -> None:
        if stage.ours:
            limb.tip["ik_swivel"] = 0.4
        else:
            stage.constraint_of(limb).influence = 0.5
        stage.ob.update_tag()

    _undone_and_redone(stage, turn)
    bpy.ops.ed.undo()
    live_again(stage)


# Copies


@works(GROUP, "A native armature whose controls are bones is duplicated, and each is made live by itself")
def a_native_armature_with_control_bones_is_duplicated(stage: Stage) -> None:
    native(stage, bones=True, pole=True)
    copy = copies(stage, stage.ob)[0]
    stage.limbs.append(Limb(copy.name, BONES, copy.name, True, "foot ik", copy.name, "knee ik"))
    copy.location = (0.3, 0.0, 0.0)
    update()
    stage.follow("duplicated")
    if stage.ours:
        make_live(bpy.context, native_tips(copy))
        update()
    stage.follow("the copy live")
    live_again(stage)


@fault(GROUP, "A native armature is duplicated with linked data (Alt+D)")
def linked_duplicates_of_a_native_armature(stage: Stage) -> None:
    native(stage)
    copy, target = copies(stage, stage.ob, stage.target, linked=True)
    stage.limbs.append(Limb(copy.name, BONES, target.name))
    copy.location = (0.3, 0.0, 0.0)
    update()
    stage.follow("duplicated")
    _refused(stage, "shares its bones with")
    select(copy)
    bpy.ops.object.make_single_user(object=True, obdata=True)
    live_again(stage)


@fault(GROUP, "Bones of a native leg and its control bones are duplicated in edit mode")
def native_bones_are_duplicated(stage: Stage) -> None:
    native(stage, bones=True, pole=True)
    select_edit_bones(stage, *BONES, "foot ik", "knee ik")
    bpy.ops.armature.duplicate()
    bpy.ops.object.mode_set(mode="OBJECT")
    update()
    copy = Limb("leg", ["thigh.001", "shin.001"], "leg", True, "foot ik.001", "leg", "knee ik.001")
    stage.limbs.append(copy)
    stage.follow("duplicated")
    _rewired(stage, copy)


@fault(GROUP, "Bones of a native leg are duplicated in edit mode, its control bones are not")
def a_native_chain_alone_is_duplicated(stage: Stage) -> None:
    native(stage, bones=True)
    select_edit_bones(stage, *BONES)
    bpy.ops.armature.duplicate()
    bpy.ops.object.mode_set(mode="OBJECT")
    update()
    stage.limbs.append(Limb("leg", ["thigh.001", "shin.001"], "leg", True, "foot ik"))
    stage.follow("duplicated")
    live_again(stage)


@fault(GROUP, "A native leg is symmetrized with its control bones")
def a_native_leg_is_symmetrized(stage: Stage) -> None:
    left_leg(stage, pole="knee ik.L")
    native(stage)
    select_edit_bones(stage, "thigh.L", "shin.L", "foot ik.L", "knee ik.L")
    bpy.ops.armature.symmetrize()
    bpy.ops.object.mode_set(mode="OBJECT")
    update()
    copy = Limb("leg", ["thigh.R", "shin.R"], "leg", True, "foot ik.R", "leg", "knee ik.R")
    stage.limbs.append(copy)
    stage.follow("symmetrized")
    _rewired(stage, copy)


def _rewired(stage: Stage, copy: Limb) -> None:
    """Do with a copied leg what its sentence says: live again, with controls of its own."""
    if stage.ours:
        make_live(bpy.context, [copy.tip])
        copy.tip.analytic_ik_subtarget, copy.tip.analytic_ik_pole_subtarget = copy.target_bone, copy.pole_bone
        update()
        assert not native_tips(stage.ob)
    stage.look("live, with controls of its own")
    if stage.ours:
        make_native(bpy.context, [limb.tip for limb in stage.limbs])
        update()
    stage.follow("both native")
    live_again(stage)


@works(GROUP, "Two native armatures are joined")
def native_armatures_are_joined(stage: Stage) -> None:
    native(stage, bones=True)
    join_a_copy(stage)
    stage.follow("joined")
    live_again(stage)


# Renamed


@works(GROUP, "The armature, the target, the data and the collections of a native leg are renamed")
def all_around_a_native_leg_is_renamed(stage: Stage) -> None:
    limb = native(stage)
    stage.ob.data.name, stage.target.name, stage.ob.name = "skeleton", "goal", "body"
    limb.ob, limb.target = "body", "goal"
    for collection in stage.ob.data.collections_all:
        collection.name = f"own {collection.name}"
    bpy.context.scene.name = "shot 010"
    stage.follow("renamed")
    live_again(stage)


# Taken away


@fault(GROUP, "The target of a native leg is deleted")
def the_target_of_a_native_leg_is_deleted(stage: Stage) -> None:
    limb = native(stage)
    go_to(1)
    bpy.data.objects.remove(stage.target)
    limb.target = ""
    stage.look("deleted")
    stage.says("Press Make Live first")
    go_to(4)
    stage.look("at another frame")


@fault(GROUP, "The target bone of a native leg is deleted")
def the_target_bone_of_a_native_leg_is_deleted(stage: Stage) -> None:
    limb = native(stage, bones=True)
    with stage.edit_bones() as bones:
        bones.remove(bones["foot ik"])
    limb.target = ""
    stage.look("deleted")


def _delete_bone(stage: Stage, name: str) -> None:
    """Delete a bone in Edit Mode, "": none; the leg follows, and so it does when it is live again."""
    if name:
        with stage.edit_bones() as bones:
            bones.remove(bones[name])
    update()
    stage.follow("deleted")
    live_again(stage)


@fault(GROUP, "The helper bone that aims is deleted, and Make Live mends it")
def the_aiming_helper_is_deleted(stage: Stage) -> None:
    native(stage)
    _delete_bone(stage, "IK-aim-shin" if stage.ours else "")


@fault(GROUP, "The constraints on the bones of a native leg are removed, and Make Live mends it")
def constraints_of_a_native_leg_are_removed(stage: Stage) -> None:
    native(stage)
    if stage.ours:
        for name in BONES:
            for constraint in list(stage.ob.pose.bones[name].constraints):
                stage.ob.pose.bones[name].constraints.remove(constraint)
        update()
    stage.follow("removed")
    live_again(stage)


# Its rest pose


@fault(GROUP, "The scale of a native armature is applied")
def the_scale_of_a_native_armature_is_applied(stage: Stage) -> None:
    stage.ob.scale = (1.2, 1.2, 1.2)
    update()
    native(stage)
    select(stage.ob)
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    update()
    stage.fk_pose = None
    stage.follow("applied")
    live_again(stage)
    if stage.ours:
        make_native(bpy.context, [stage.limbs[0].tip])
    stage.follow("native again")
    live_again(stage)


@works(GROUP, "Location and rotation of a native armature are applied")
def the_place_of_a_native_armature_is_applied(stage: Stage) -> None:
    stage.ob.location, stage.ob.rotation_euler = (0.1, 0.2, 0.1), (0.0, 0.0, 0.2)
    update()
    native(stage)
    select(stage.ob)
    bpy.ops.object.transform_apply(location=True, rotation=True, scale=False)
    update()
    stage.follow("applied")
    live_again(stage)


@fault(GROUP, "The shin of a native leg is made longer in edit mode")
def a_native_bone_is_edited(stage: Stage) -> None:
    native(stage)
    with stage.edit_bones() as bones:
        bones["shin"].tail = (0.0, 0.1, -0.3)
    stage.fk_pose = None
    stage.follow("edited")
    live_again(stage)


# Elsewhere


@works(GROUP, "The add-on is disabled on a native leg, worked on, and enabled")
def the_add_on_is_disabled(stage: Stage) -> None:
    native(stage)
    with without_the_add_on(stage):
        stage.drag(0.1, -0.3, 0.6)
        stage.ob.location.z = 0.1
        update()
        assert stage.missed() < NEAR[stage.solver], "disabled, it does not follow"
        for frame in (1, 5, 9):
            go_to(frame)
            assert stage.missed() < NEAR[stage.solver], "disabled, it does not follow over frames"
    update()
    stage.follow("enabled")
    live_again(stage)


@fault(GROUP, "A native leg is linked")
def a_native_leg_is_linked(stage: Stage) -> None:
    native(stage)
    show(linked_collection(save_library(stage)))
    stage.play((1, 4, 9), "linked")
    _refused(stage, "linked")
    stage.fk_pose = None


@fault(GROUP, "A native leg with control bones is overridden, and a setting; saved and loaded", "saved and loaded")
def a_native_leg_with_control_bones_is_overridden(stage: Stage) -> None:
    limb = native(stage, bones=True, pole=True, swivel=0.2)
    collection = linked_collection(save_library(stage))
    show(collection)
    collection.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    update()
    stage.fk_pose = None
    stage.follow("overridden")
    if stage.ours:
        limb.tip["ik_swivel"] = 0.5
        stage.ob.update_tag()
        save_and_load(stage)
        assert limb.tip["ik_swivel"] == 0.5, "the swivel is not kept"


def _refused(stage: Stage, reason: str) -> None:
    """See that Make Live of the first leg is refused with a sentence, and changes nothing."""
    if not stage.ours:
        return
    select(stage.ob)
    said = ANALYTIC_IK_OT_make_live.missing(bpy.context)
    if not said:
        try:
            make_live(bpy.context, native_tips(stage.ob))
        except ChainError as error:
            said = str(error)
    assert reason in said, f"Make Live is refused with: {said}"
    assert native_tips(stage.ob), "it is native no more"
