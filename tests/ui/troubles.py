"""What may be wrong with a chain: each makes it of a leg that is sound."""

import bpy

from ..rig.rigs import Rig


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
