"""Bones, objects, data, collections and scenes that get other names."""

from collections.abc import Iterable

import bpy

from ...rig.rigs import update
from ...scenes import enter, go_to, reopened, select
from ..faults import works
from ..stage import Stage

GROUP = "Renaming"
HARD_NAMES = ('the "left" shin', "C:\\bones\\shin", "shin.L.001", "голень 胫骨 ساق", "[0].x", "x" * 60)


def _rename_bones(stage: Stage, names: Iterable[tuple[str, str]]) -> None:
    """Rename bones of the leg as the outliner and scripts do."""
    for old, new in names:
        stage.ob.data.bones[old].name = new
        limb = stage.limbs[0]
        limb.bones = [new if name == old else name for name in limb.bones]
        if limb.target_bone == old:
            limb.target_bone = new
        if stage.fk_pose and old in stage.fk_pose:
            stage.fk_pose[new] = stage.fk_pose.pop(old)


@works(GROUP, "The tip, in edit mode", "afterwards")
def the_tip_in_edit_mode(stage: Stage) -> None:
    with stage.edit_bones() as bones:
        bones["shin"].name = "lower"
    stage.limbs[0].bones[1] = "lower"
    stage.fk_pose["lower"] = stage.fk_pose.pop("shin")
    stage.look("renamed")


@works(GROUP, "The tip, whose switch has keys, in edit mode", "afterwards")
def a_tip_with_a_keyed_switch(stage: Stage) -> None:
    limb = stage.limbs[0]
    switch = (limb.tip, "analytic_ik_enabled") if stage.ours else (stage.constraint_of(limb), "enabled")
    switch[0].keyframe_insert(switch[1], frame=1)
    stage.follow("with keys")
    with stage.edit_bones() as bones:
        bones["shin"].name = limb.bones[1] = "lower"
    stage.fk_pose["lower"] = stage.fk_pose.pop("shin")
    stage.look("renamed")


@works(GROUP, "The tip gets names with quotes, backslashes, dots, brackets and other scripts", "afterwards")
def names_that_are_hard(stage: Stage) -> None:
    stage.ob.pose.bones["thigh"].keyframe_insert("location", frame=1)
    for name in HARD_NAMES:
        _rename_bones(stage, [(stage.limbs[0].bones[-1], name)])
        stage.look(f"as {name}")


@works(GROUP, "The target bone gets such names", "afterwards")
def target_names_that_are_hard(stage: Stage) -> None:
    limb = stage.follow_bones()
    for name in HARD_NAMES:
        _rename_bones(stage, [(limb.target_bone, name)])
        stage.look(f"as {name}")


@works(GROUP, "The target bone and the pole bone, by the outliner or a script", "afterwards")
def control_bones(stage: Stage) -> None:
    limb = stage.follow_bones(pole="knee ik")
    _rename_bones(stage, [("foot ik", "CTRL_foot"), ("knee ik", "CTRL_knee")])
    limb.pole_bone = "CTRL_knee"
    stage.look("renamed")


@works(GROUP, "The target bone, in edit mode", "afterwards")
def the_target_bone_in_edit_mode(stage: Stage) -> None:
    limb = stage.follow_bones()
    with stage.edit_bones() as bones:
        bones["foot ik"].name = limb.target_bone = "CTRL_foot"
    stage.look("renamed")


@works(GROUP, "The target bone is renamed, and another bone gets its old name", "afterwards")
def the_old_name_is_taken(stage: Stage) -> None:
    stage.follow_bones()
    _rename_bones(stage, [("foot ik", "CTRL_foot")])
    with stage.edit_bones() as bones:
        other = bones.new("foot ik")
        other.head, other.tail = (3.0, 0.0, 0.0), (3.0, 1.0, 0.0)
    stage.look("renamed")


@works(GROUP, "Target bone and pole bone swap their names", "afterwards")
def controls_swap_names(stage: Stage) -> None:
    limb = stage.follow_bones(pole="knee ik")
    _rename_bones(stage, [("foot ik", "x"), ("knee ik", "foot ik"), ("x", "knee ik")])
    limb.target_bone, limb.pole_bone = "knee ik", "foot ik"
    stage.look("renamed")


@works(GROUP, "A target bone in another armature", "afterwards")
def a_bone_of_another_armature(stage: Stage) -> None:
    limb = _follow_another_armature(stage)
    bpy.data.objects["controls"].data.bones["hand"].name = limb.target_bone = "CTRL_hand"
    stage.look("renamed")


@works(GROUP, "A target bone in another armature, while that is in edit mode", "afterwards")
def a_bone_of_another_armature_in_edit_mode(stage: Stage) -> None:
    limb = _follow_another_armature(stage)
    enter("EDIT", bpy.data.objects["controls"])
    bpy.context.object.data.edit_bones["hand"].name = limb.target_bone = "CTRL_hand"
    bpy.ops.object.mode_set(mode="OBJECT")
    stage.look("renamed")


@works(GROUP, "A target bone, then undone and redone", "afterwards")
def a_renamed_target_bone_is_undone(stage: Stage) -> None:
    limb = stage.follow_bones()
    bpy.ops.ed.undo_push(message="set up")
    _rename_bones(stage, [("foot ik", "CTRL_foot")])
    bpy.ops.ed.undo_push(message="rename")
    stage.look("renamed")
    bpy.ops.ed.undo()
    limb.target_bone = "foot ik"
    stage.look("undone")
    bpy.ops.ed.redo()
    limb.target_bone = "CTRL_foot"
    stage.look("redone")


@works(GROUP, "A target bone, before the file is saved and opened again", "afterwards")
def a_renamed_target_bone_is_saved(stage: Stage) -> None:
    stage.follow_bones()
    _rename_bones(stage, [("foot ik", "CTRL_foot")])
    reopened(stage.folder / "renamed.blend")
    stage.look("opened")


@works(GROUP, "A target bone while the chain is switched off, which is then switched on", "afterwards")
def while_it_is_off(stage: Stage) -> None:
    limb = stage.follow_bones()
    _switch(stage, on=False)
    _rename_bones(stage, [("foot ik", "CTRL_foot")])
    update()
    _switch(stage, on=True)
    assert limb.target_bone == "CTRL_foot"
    stage.look("switched on")


@works(GROUP, "Names of left and right are flipped in pose mode", "afterwards")
def names_are_flipped(stage: Stage) -> None:
    limb = stage.follow_bones("foot ik.L")
    _rename_bones(stage, [("thigh", "thigh.L"), ("shin", "shin.L")])
    update()
    enter("POSE", stage.ob, "thigh.L", "shin.L", "foot ik.L")
    bpy.ops.pose.flip_names()
    bpy.ops.object.mode_set(mode="OBJECT")
    for name in ("thigh", "shin"):
        stage.fk_pose[f"{name}.R"] = stage.fk_pose.pop(f"{name}.L")
    limb.bones, limb.target_bone = ["thigh.R", "shin.R"], "foot ik.R"
    stage.look("flipped")


@works(GROUP, "The sides of a whole rig are swapped by flipping the names of all its bones", "afterwards")
def sides_are_swapped(stage: Stage) -> None:
    limb = stage.follow_bones("foot ik.L")
    stage.add_bone("foot ik.R", (1.0, -0.3, 0.4))
    enter("POSE", stage.ob, "foot ik.L", "foot ik.R")
    bpy.ops.pose.flip_names()
    bpy.ops.object.mode_set(mode="OBJECT")
    limb.target_bone = "foot ik.R"
    stage.look("flipped")


@works(GROUP, "Bones are named by their side in pose mode", "afterwards")
def named_by_side(stage: Stage) -> None:
    limb = stage.follow_bones()
    enter("POSE", stage.ob, "foot ik")
    bpy.ops.pose.autoside_names(axis="YAXIS")
    bpy.ops.object.mode_set(mode="OBJECT")
    (limb.target_bone,) = (bone.name for bone in stage.ob.data.bones if bone.name.startswith("foot ik"))
    assert limb.target_bone != "foot ik"
    stage.look("named")


@works(GROUP, "The armature object, whose own bone is the target", "afterwards")
def the_armature_with_its_target(stage: Stage) -> None:
    limb = stage.follow_bones()
    stage.ob.name = "body"
    limb.ob = limb.target = "body"
    stage.look("renamed")


@works(GROUP, "Armature and target swap their names", "afterwards")
def objects_swap_names(stage: Stage) -> None:
    ob, target = stage.ob, stage.target
    ob.name, target.name = "x", "leg"
    ob.name = "leg target"
    stage.limbs[0].ob, stage.limbs[0].target = "leg target", "leg"
    stage.look("renamed")


@works(GROUP, "Armature data, collection and scene", "afterwards")
def data_collection_and_scene(stage: Stage) -> None:
    collection = bpy.data.collections.new("rig")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(stage.ob)
    stage.follow("before")
    stage.ob.data.name, collection.name, bpy.context.scene.name = "skeleton", "character", "shot 010"
    stage.look("renamed")


@works(GROUP, "All bones at once, as batch rename does", "afterwards")
def all_at_once(stage: Stage) -> None:
    limb = stage.follow_bones()
    for bone in stage.ob.data.bones:
        if bone.name not in ("hips", "foot"):
            bone.name = f"hero {bone.name}"
    limb.bones, limb.target_bone = ["hero thigh", "hero shin"], "hero foot ik"
    stage.fk_pose = {f"hero {name}": own for name, own in (stage.fk_pose or {}).items()}
    stage.look("renamed")


def _follow_another_armature(stage: Stage):
    """Let the leg follow a bone of another armature."""
    limb = stage.limbs[0]
    stage.unsolve(limb)
    select(stage.ob)
    bpy.ops.object.mode_set(mode="OBJECT")
    controls = bpy.data.objects.new("controls", bpy.data.armatures.new("controls"))
    bpy.context.scene.collection.objects.link(controls)
    enter("EDIT", controls)
    bone = controls.data.edit_bones.new("hand")
    bone.head, bone.tail = (0.0, -0.3, 0.4), (0.0, -0.5, 0.4)
    bpy.ops.object.mode_set(mode="OBJECT")
    limb.target, limb.target_bone = "controls", "hand"
    hand = controls.pose.bones["hand"]
    for frame, place in ((1.0, (0.0, 0.0, 0.0)), (9.0, (0.1, -0.1, -0.3))):
        hand.location = place
        hand.keyframe_insert("location", frame=frame)
    stage.solve(limb)
    go_to(1)
    return limb


def _switch(stage: Stage, on: bool) -> None:
    """Switch the first leg's chain on or off."""
    tip = stage.limbs[0].tip
    if stage.ours:
        tip.analytic_ik_enabled = on
    for constraint in tip.constraints:
        if constraint.type == "IK":
            constraint.mute = not on
    update()
