"""What may be wrong with a chain: each makes it of a leg that is sound."""

import bpy

from .rig.rigs import BoneSpec, Rig, new_armature, new_empty, update
from .scenes import go_to, key_fk, second_chain
from .ui.layouts import chain_panel


def no_target(rig: Rig) -> None:
    rig.tip.analytic_ik_target = None


def deleted_target(rig: Rig) -> None:
    bpy.context.scene.collection.objects.unlink(rig.target.ob)


def missing_target_bone(rig: Rig) -> None:
    rig.tip.analytic_ik_target, rig.tip.analytic_ik_subtarget = rig.ob, "nose"


def too_many_bones(rig: Rig) -> None:
    rig.tip.analytic_ik_chain_count = 9


def missing_end_bone(rig: Rig) -> None:
    rig.tip.analytic_ik_end_bone = "fin"


def wrong_solver(rig: Rig) -> None:
    rig.tip.analytic_ik_chain_count, rig.tip.analytic_ik_solver = 3, "CIRCLE"


def target_below(rig: Rig) -> None:
    rig.tip.analytic_ik_target, rig.tip.analytic_ik_subtarget = rig.ob, "foot"


def rest_position(rig: Rig) -> None:
    rig.ob.data.pose_position = "REST"


def drive_rotation(rig: Rig) -> None:
    rig.ob.pose.bones["thigh"].driver_add("rotation_quaternion", 1)


def drive_scale(rig: Rig) -> None:
    rig.tip.analytic_ik_reach = "STRETCH"
    rig.ob.pose.bones["foot"].driver_add("scale", 1)


def scale_unevenly(rig: Rig) -> None:
    rig.ob.pose.bones["hips"].scale = (1.0, 1.5, 1.0)


def deleted_pole(rig: Rig) -> None:
    rig.tip.analytic_ik_pole_target = new_empty("gone", (0.5, -2.0, 1.0))
    bpy.context.scene.collection.objects.unlink(bpy.data.objects["gone"])


def missing_pole_bone(rig: Rig) -> None:
    rig.tip.analytic_ik_pole_target, rig.tip.analytic_ik_pole_subtarget = rig.ob, "nose"


def target_is_no_number(rig: Rig) -> None:
    rig.target.ob.animation_data_clear()
    rig.target.ob.location.x = float("nan")


def shared_bone(rig: Rig) -> None:
    rig.tip.analytic_ik_chain_count = 3
    second_chain(rig, "hips", 1)


def constrain(rig: Rig) -> None:
    constraint = rig.ob.pose.bones["thigh"].constraints.new("LIMIT_ROTATION")
    constraint.use_limit_x, constraint.owner_space = True, "LOCAL"


def follow_a_bone(rig: Rig) -> None:
    constraint = rig.ob.pose.bones["thigh"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.subtarget = rig.ob, "hips"


def hidden_target(rig: Rig) -> None:
    rig.target.ob.hide_set(True)


def disabled_target(rig: Rig) -> None:
    rig.target.ob.hide_viewport = True


def excluded_target(rig: Rig) -> None:
    home, inner = bpy.data.collections.new("home"), bpy.data.collections.new("inner")
    bpy.context.scene.collection.children.link(home)
    home.children.link(inner)
    bpy.context.scene.collection.objects.unlink(rig.target.ob)
    inner.objects.link(rig.target.ob)
    bpy.context.view_layer.layer_collection.children["home"].exclude = True


def fk_keys(rig: Rig) -> None:
    rig.target.ob.animation_data_clear()
    key_fk(rig)
    go_to(5)


def keyed_switch(rig: Rig) -> None:
    rig.tip.keyframe_insert("analytic_ik_enabled", frame=1)
    go_to(5)


def target_deleted_by_operator(rig: Rig) -> None:
    with bpy.context.temp_override(selected_objects=[rig.target.ob]):
        bpy.ops.object.delete()
    assert rig.tip.analytic_ik_target


def target_removed_from_the_file(rig: Rig) -> None:
    bpy.data.objects.remove(rig.target.ob)
    update()


def target_at_infinity(rig: Rig) -> None:
    rig.target.ob.animation_data_clear()
    # Blender makes of it the largest number that it holds.
    rig.target.ob.location = (float("inf"), -0.3, 0.4)


def pole_at_nan(rig: Rig) -> None:
    rig.tip.analytic_ik_pole_target = new_empty("pole", (float("nan"), 0.0, 0.0))


def pole_too_far_away(rig: Rig) -> None:
    rig.tip.analytic_ik_pole_target = new_empty("pole", (0.0, -1e20, 0.0))


def pole_on_the_chain(rig: Rig) -> None:
    rig.tip.analytic_ik_pole_target, rig.tip.analytic_ik_pole_subtarget = rig.ob, "foot"


def bone_at_nan(rig: Rig) -> None:
    rig.ob.pose.bones["hips"].location.x = float("nan")


def target_is_the_chains_own_bone(rig: Rig) -> None:
    rig.tip.analytic_ik_target, rig.tip.analytic_ik_subtarget = rig.ob, "thigh"


def target_object_is_parented_to_the_chain(rig: Rig) -> None:
    rig.target.ob.parent, rig.target.ob.parent_type, rig.target.ob.parent_bone = rig.ob, "BONE", "foot"


def pole_object_is_carried_by_the_chain(rig: Rig) -> None:
    carrier, pole = new_empty("carrier"), new_empty("pole")
    carrier.parent, carrier.parent_type, carrier.parent_bone = rig.ob, "BONE", "thigh"
    pole.parent = carrier
    rig.tip.analytic_ik_pole_target = pole


def target_bone_is_missing(rig: Rig) -> None:
    other = new_armature("other", [BoneSpec("here", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))])
    rig.tip.analytic_ik_target, rig.tip.analytic_ik_subtarget = other, "gone"


def target_has_no_bones_at_all(rig: Rig) -> None:
    rig.tip.analytic_ik_subtarget = "gone"


def no_length(rig: Rig) -> None:
    rig.ob.pose.bones["thigh"].scale = (0.0, 0.0, 0.0)


def no_scale(rig: Rig) -> None:
    rig.ob.scale = (0.0, 1.0, 1.0)


UNSOLVED = {
    no_target: "Bone 'shin': there is no target. Choose an object as its Target",
    deleted_target: "Bone 'shin': its target 'leg target' was deleted. Choose another one or clear it",
    target_deleted_by_operator: "Bone 'shin': its target 'leg target' was deleted. Choose another one or clear it",
    target_removed_from_the_file: "Bone 'shin': there is no target. Choose an object as its Target",
    missing_target_bone: "Bone 'shin': its target 'leg' has no bone 'nose'. Choose one of that armature's bones",
    target_bone_is_missing: "Bone 'shin': its target 'other' has no bone 'gone'. Choose one of that armature's bones",
    target_has_no_bones_at_all: "Bone 'shin': its target 'leg target' has no bone 'gone'. Choose one of",
    too_many_bones: "Bone 'shin': its chain needs 9 bones and has 3 up to the root. Set Chain Length to 3",
    wrong_solver: "Bone 'shin': CIRCLE solves 2 bones, and this chain has 3. Use AUTO or TRIANGULATION",
    target_below: "Bone 'shin': its target bone 'foot' moves with the chain's own bone 'shin'. Choose one that is not",
    target_is_the_chains_own_bone: "Bone 'shin': its target bone 'thigh' moves with the chain's own bone 'thigh'",
    target_object_is_parented_to_the_chain: "its target 'leg target' moves with the chain's own bone 'shin'. Choose",
    pole_on_the_chain: "Bone 'shin': its pole target bone 'foot' moves with the chain's own bone 'shin'. Choose",
    pole_object_is_carried_by_the_chain: "its pole target 'pole' moves with the chain's own bone 'thigh'. Choose",
    target_is_no_number: "Bone 'shin': the location of its target 'leg target' is not a number. Clear",
    pole_at_nan: "Bone 'shin': the location of its pole target 'pole' is not a number. Clear the transform",
    target_at_infinity: "Bone 'shin': the target has a value that is too large: (3.4e+38, -0.3, -1.6). Move it closer",
    pole_too_far_away: "Bone 'shin': the pole has a value that is too large: (0, -1e+20, -2). Move it closer",
    bone_at_nan: "the pose of bone 'thigh' holds values that are not numbers. Clear its transform and its parents'",
    no_length: "has no length. Lengthen it in Edit Mode, or clear its pose scale",
    no_scale: "Bone 'shin': the armature object 'leg' has a scale of zero. Give it a size",
}
"""For which a chain is not solved, and the sentence."""
PROBLEMS = UNSOLVED | {
    deleted_pole: "Bone 'shin': its pole target 'gone' was deleted. Choose another one or clear it",
    shared_bone: "Bone 'shin': its bone 'hips' already belongs to the chain of 'hips'. Lower Chain Length until",
    rest_position: "Armature 'leg' is in Rest Position. Switch it to Pose Position",
}
WARNINGS = {
    scale_unevenly: "Bone 'hips': its uneven scale shears the bones below it, and the chain may miss its target. Scale",
    drive_rotation: "Bone 'thigh': a driver overrides its rotation. Remove that driver",
    drive_scale: "Bone 'foot': a driver overrides its scale, so it cannot stretch. Remove that driver",
    constrain: "Bone 'thigh': constraint 'Limit Rotation' moves it after the chain. Mute it",
}
"""What spoils a chain that is solved."""
OTHERS = {
    missing_pole_bone: "its pole target 'leg' has no bone 'nose'",
    missing_end_bone: "its end bone 'fin' does not exist",
    follow_a_bone: "bone 'thigh' follows 'hips' by its constraint 'Copy Rotation'",
    hidden_target: "its target 'leg target' is hidden",
    disabled_target: "its target 'leg target' is hidden",
    excluded_target: "its target 'leg target' is hidden",
    fk_keys: "Bones 'thigh', 'shin' have keys",
    keyed_switch: "keys turn its chain on and off",
}
CURES_OF = {
    no_target: ["NEW_TARGET"],
    deleted_target: ["NEW_TARGET", "BRING_BACK_TARGET"],
    deleted_pole: ["CLEAR_POLE", "BRING_BACK_POLE"],
    missing_target_bone: ["NEW_TARGET"],
    missing_pole_bone: ["CLEAR_POLE"],
    target_below: ["NEW_TARGET"],
    target_is_no_number: ["NEW_TARGET"],
    too_many_bones: ["FEWER_BONES"],
    missing_end_bone: ["CLEAR_END_BONE"],
    shared_bone: ["FEWER_BONES"],
    wrong_solver: ["AUTO_SOLVER"],
    rest_position: ["POSE_POSITION"],
    drive_rotation: ["REMOVE_DRIVERS"],
    drive_scale: ["REMOVE_DRIVERS"],
    constrain: ["MUTE_CONSTRAINT"],
    follow_a_bone: ["REMOVE_CHAIN"],
    scale_unevenly: ["RESET_SCALE"],
    hidden_target: ["SHOW_TARGET"],
    disabled_target: ["SHOW_TARGET"],
    excluded_target: ["SHOW_TARGET"],
    fk_keys: ["FOLLOW_MOTION", "MUTE_KEYS"],
    keyed_switch: ["MUTE_SWITCH"],
}
"""The buttons below each sentence that take the trouble away."""
CASES = [
    (problem, (PROBLEMS | WARNINGS | OTHERS)[problem], cure) for problem, cures in CURES_OF.items() for cure in cures
]


def shown_cure(rig: Rig, words: str, kind: str) -> dict[str, str]:
    """The options of the button of a kind in the panel, beside the sentence with these words."""
    shown = chain_panel(rig, rig.bones[-1])
    assert words in shown.text()
    (wanted,) = {cure for cure in shown.cures() if cure[0] == kind}
    return dict(zip(("kind", "bone", "what"), wanted, strict=True))
