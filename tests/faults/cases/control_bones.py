"""Control bones that the add-on made: what they need, and what they do not."""

import bpy

from ...rig.rigs import update
from ...scenes import enter, select
from ..faults import fault, works
from ..stage import Limb, Stage

GROUP = "Control bones"


def _with_control_bones(stage: Stage) -> Limb:
    """Let the first leg follow bones of its armature: those that *Add Analytic IK* makes, else such by hand."""
    if not stage.ours:
        limb = stage.follow_bones("shin_ik", pole="shin_pole")
        stage.look("following bones")
        return limb
    limb = stage.limbs[0]
    stage.unsolve(limb)
    enter("POSE", stage.ob, "shin")
    bpy.ops.analytic_ik.add(controls="BONES", solver="CIRCLE")
    bpy.ops.object.mode_set(mode="OBJECT")
    update()
    limb.target = limb.pole = limb.ob
    limb.target_bone, limb.pole_bone = limb.tip.analytic_ik_subtarget, limb.tip.analytic_ik_pole_subtarget
    stage.look("following bones")
    return limb


@works(GROUP, "Their bone collection is deleted", "afterwards")
def the_bone_collection_is_deleted(stage: Stage) -> None:
    limb = _with_control_bones(stage)
    data = limb.pose.id_data.data
    for collection in list(data.collections):
        data.collections.remove(collection)


@works(GROUP, "Their shapes are deleted", "afterwards")
def the_shapes_are_deleted(stage: Stage) -> None:
    _with_control_bones(stage)
    for ob in [ob for ob in bpy.data.objects if ob.type == "MESH" and ob.name.startswith("Analytic IK")]:
        bpy.data.objects.remove(ob)
    update()


@works(GROUP, "They are parented to another bone in edit mode", "afterwards")
def they_get_another_parent(stage: Stage) -> None:
    limb = _with_control_bones(stage)
    with stage.edit_bones() as bones:
        for name in (limb.target_bone, limb.pole_bone):
            bones[name].parent = bones["hips"]
    stage.look("parented")


@works(GROUP, "Another object with the same armature data gets control bones", "afterwards")
def shared_data(stage: Stage) -> None:
    _with_control_bones(stage)
    select(stage.ob)
    bpy.ops.object.duplicate(linked=True)
    copy = bpy.context.object
    limb = Limb(copy.name, ["thigh", "shin"], copy.name, True, stage.limbs[0].target_bone)
    stage.limbs.append(limb)
    copy.location = (0.3, 0.0, 0.0)
    stage.look("shared")
    with stage.edit_bones() as bones:
        more = bones.new("more")
        more.head, more.tail = (2.0, 0.0, 0.0), (2.0, 0.0, 1.0)


@fault(GROUP, "The target bone is deleted in edit mode")
def the_target_bone_is_deleted(stage: Stage) -> None:
    limb = _with_control_bones(stage)
    with stage.edit_bones() as bones:
        bones.remove(bones[limb.target_bone])
    limb.target = ""
    stage.fk_pose = None
    stage.look("deleted")
