"""Rotation modes, rest position, edit mode, and the other modes of Blender."""

import bpy

from ...rig.rigs import ROTATION_MODES, update
from ...scenes import enter, go_to, select
from ..faults import fault
from ..stage import Limb, Stage

GROUP = "Rotation modes, rest position and edit mode"


@fault(GROUP, "Every rotation mode, by the operator in pose mode")
def every_rotation_mode_by_the_operator(stage: Stage) -> None:
    enter("POSE", stage.ob, "thigh", "shin")
    for mode in ROTATION_MODES:
        bpy.ops.pose.rotation_mode_set(type=mode)
        assert stage.ob.pose.bones["shin"].rotation_mode == mode
        stage.look(f"in {mode}")
        stage.follow(f"in {mode}")
    bpy.ops.object.mode_set(mode="OBJECT")


@fault(GROUP, "Another rotation mode than that in which the FK pose has keys")
def other_than_the_keys(stage: Stage) -> None:
    thigh, limb = stage.ob.pose.bones["thigh"], stage.limbs[0]
    stage.unsolve(limb)
    for frame, x in ((1, 0.2), (9, -0.3)):
        thigh.rotation_quaternion = (1.0, x, 0.0, 0.0)
        thigh.keyframe_insert("rotation_quaternion", frame=frame)
    # Keys of another mode than the bone's are what nobody plays: the FK pose is the bone's Euler channel then.
    stage.fk_pose = None
    stage.solve(limb)
    stage.follow("in the mode of its keys")
    for mode in ("XYZ", "AXIS_ANGLE", "QUATERNION"):
        thigh.rotation_mode = mode
        stage.look(f"in {mode}")
        stage.follow(f"in {mode}")


@fault(GROUP, "Other rotation modes of armature object and target object", "afterwards")
def of_objects(stage: Stage) -> None:
    for ob in (stage.ob, stage.target):
        for mode in ROTATION_MODES:
            ob.rotation_mode = mode
            stage.look(f"{ob.name} in {mode}")
        ob.keyframe_insert("rotation_axis_angle", frame=1)
        ob.rotation_mode = "AXIS_ANGLE"


@fault(GROUP, "Rest position, and back", "posed again")
def rest_position(stage: Stage) -> None:
    stage.ob.data.pose_position = "REST"
    update()
    for frame in (1, 4):
        go_to(frame)
        stage.look(f"at rest, at frame {frame}") if stage.ours else None
    if stage.ours:
        stage.says("Rest Position", "Pose Position")
    stage.ob.data.pose_position = "POSE"
    stage.look("posed again")


@fault(GROUP, "Rest position at another frame, with another file state by undo", "undone")
def rest_position_and_undo(stage: Stage) -> None:
    bpy.ops.ed.undo_push(message="posed")
    stage.ob.data.pose_position = "REST"
    update()
    bpy.ops.ed.undo_push(message="rest")
    go_to(6)
    bpy.ops.ed.undo()
    stage.look("undone")


@fault(GROUP, "The chain is switched off while the armature is at rest")
def switched_off_at_rest(stage: Stage) -> None:
    limb = stage.limbs[0]
    stage.ob.data.pose_position = "REST"
    update()
    if stage.ours:
        limb.tip.analytic_ik_enabled = False
    for constraint in limb.tip.constraints:
        constraint.mute = True
    update()
    go_to(3)
    stage.ob.data.pose_position = "POSE"
    stage.switch_off()


@fault(GROUP, "Edit mode is entered and left between frames", "afterwards")
def edit_mode_between_frames(stage: Stage) -> None:
    for frame in (2, 5, 7):
        go_to(frame)
        enter("EDIT", stage.ob)
        go_to(frame + 1)
        bpy.ops.object.mode_set(mode="OBJECT")
        stage.look(f"left at frame {frame + 1}")


@fault(GROUP, "Two armatures in edit mode at once", "afterwards")
def two_in_edit_mode(stage: Stage) -> None:
    select(stage.ob)
    bpy.ops.object.duplicate()
    copy = bpy.data.objects["leg.001"]
    stage.limbs.append(Limb("leg.001", ["thigh", "shin"], stage.target.name))
    select(stage.ob, copy)
    bpy.ops.object.mode_set(mode="EDIT")
    assert copy.mode == stage.ob.mode == "EDIT"
    go_to(3)
    for ob in (stage.ob, copy):
        ob.data.edit_bones["shin"].roll += 0.3
    bpy.ops.object.mode_set(mode="OBJECT")
    stage.fk_pose = None
    stage.look("left")


@fault(GROUP, "The armature of the target bone is in edit mode while the leg plays", "afterwards")
def the_controls_in_edit_mode(stage: Stage) -> None:
    from .renaming import _follow_another_armature

    _follow_another_armature(stage)
    enter("EDIT", bpy.data.objects["controls"])
    stage.play((1, 4))
    bpy.ops.object.mode_set(mode="OBJECT")
    stage.look("left")


@fault(GROUP, "Weight paint, vertex paint and sculpt on a mesh that the armature moves", "afterwards")
def modes_of_a_bound_mesh(stage: Stage) -> None:
    bpy.ops.mesh.primitive_cube_add(location=(0.0, 0.0, 1.0))
    mesh = bpy.context.object
    select(mesh, stage.ob, active=stage.ob)
    bpy.ops.object.parent_set(type="ARMATURE_NAME")
    enter("POSE", stage.ob, "shin")
    select(mesh, stage.ob, active=mesh)
    for mode in ("WEIGHT_PAINT", "VERTEX_PAINT", "SCULPT", "EDIT"):
        bpy.ops.object.mode_set(mode=mode)
        update()
        stage.follow(mode)
    bpy.ops.object.mode_set(mode="OBJECT")


@fault(GROUP, "The armature object gets other data with the same bones, and its own again", "its own")
def other_data(stage: Stage) -> None:
    own = stage.ob.data
    other = own.copy()
    stage.ob.data = other
    stage.look("other data")
    stage.follow("other data")
    stage.ob.data = own
    stage.look("its own")
