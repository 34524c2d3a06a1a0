"""Poses that are cleared, copied, pasted and applied; bones that get another rest pose."""

import bpy
from mathutils import Matrix

from ...rig.rigs import Control, leg, new_empty, update
from ...scenes import enter, go_to, reopened, select
from ..faults import fault, works
from ..stage import Limb, Stage

GROUP = "Poses copied and pasted, rest poses applied, bones edited"


def _left_and_right(stage: Stage, bones: bool) -> tuple[Limb, Limb]:
    """Two legs of one armature, left and right, that follow objects or bones named by their sides."""
    left = stage.limbs[0]
    stage.unsolve(left)
    target = bpy.data.objects["leg target"]
    with stage.edit_bones() as edit_bones:
        for side, x in (("L", 0.2), ("R", -0.2)):
            last = edit_bones["hips"]
            for name, head, tail in (("thigh", (x, 0.0, 2.0), (x, -0.2, 1.0)), ("shin", (x, -0.2, 1.0), (x, 0.0, 0.0))):
                bone = edit_bones.new(f"{name}.{side}")
                bone.head, bone.tail, bone.parent, bone.use_connect = head, tail, last, name == "shin"
                last = bone
            bone = edit_bones.new(f"foot ik.{side}")
            bone.head, bone.tail = (x, -0.3, 0.4), (x, -0.5, 0.4)
    limbs = []
    for side, x in (("L", 0.2), ("R", -0.2)):
        if bones:
            limb = Limb("leg", [f"thigh.{side}", f"shin.{side}"], "leg", True, f"foot ik.{side}")
        else:
            control = new_empty(f"hand.{side}", (x, -0.3, 0.4 + x))
            limb = Limb("leg", [f"thigh.{side}", f"shin.{side}"], control.name)
        stage.solve(limb)
        limbs.append(limb)
    bpy.data.objects.remove(target)
    stage.limbs, stage.fk_pose = limbs, None
    stage.look("left and right")
    return limbs[0], limbs[1]


@works(GROUP, "A pose is copied and pasted; the chain follows bones of its armature", "afterwards")
def copied_and_pasted_with_bones(stage: Stage) -> None:
    stage.follow_bones(pole="knee ik")
    enter("POSE", stage.ob, "thigh", "shin")
    bpy.ops.pose.copy()
    go_to(6)
    bpy.ops.pose.paste()
    stage.look("pasted")
    bpy.ops.object.mode_set(mode="OBJECT")


@works(GROUP, "A pose is pasted, undone, redone, saved and opened", "opened")
def pasted_undone_and_saved(stage: Stage) -> None:
    enter("POSE", stage.ob, "thigh", "shin")
    bpy.ops.pose.copy()
    bpy.ops.ed.undo_push(message="copied")
    bpy.ops.pose.paste()
    update()
    bpy.ops.ed.undo_push(message="pasted")
    bpy.ops.ed.undo()
    stage.look("undone")
    bpy.ops.ed.redo()
    stage.look("redone")
    reopened(stage.folder / "pasted.blend")
    if stage.ob.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")


@works(GROUP, "A pose of the left leg is pasted flipped on the right leg; both follow bones")
def pasted_flipped(stage: Stage) -> None:
    _left_and_right(stage, bones=True)
    _paste_flipped(stage)


@works(GROUP, "A pose of the left leg is pasted flipped on the right leg; both follow objects")
def pasted_flipped_with_objects(stage: Stage) -> None:
    _left_and_right(stage, bones=False)
    _paste_flipped(stage)


def _paste_flipped(stage: Stage) -> None:
    enter("POSE", stage.ob, "thigh.L", "shin.L")
    bpy.ops.pose.copy()
    enter("POSE", stage.ob, "thigh.R", "shin.R")
    bpy.ops.pose.paste(flipped=True)
    stage.look("pasted")
    bpy.ops.object.mode_set(mode="OBJECT")
    stage.play((2, 5), "afterwards")
    # The pasted pose alone has its foot where a symmetrical target is.
    stage.drag(0.1, -0.4, 0.6)
    stage.look("dragged")


@works(GROUP, "A pose is pasted on another character of the same make", "afterwards")
def pasted_on_another_character(stage: Stage) -> None:
    select(stage.ob, stage.target)
    bpy.ops.object.duplicate()
    stage.limbs.append(Limb("leg.001", ["thigh", "shin"], "leg target.001"))
    bpy.data.objects["leg target.001"].delta_location.z = 0.1
    update()
    enter("POSE", stage.ob, "thigh", "shin")
    bpy.ops.pose.copy()
    bpy.ops.object.mode_set(mode="OBJECT")
    enter("POSE", bpy.data.objects["leg.001"], "thigh", "shin")
    bpy.ops.pose.paste()
    bpy.ops.object.mode_set(mode="OBJECT")
    stage.look("pasted")
    bpy.data.objects["leg target.001"].delta_location.z = 0.0


@fault(GROUP, "A target is cleared by hand, and a pose is pasted: it stays cleared")
def cleared_and_pasted(stage: Stage) -> None:
    enter("POSE", stage.ob, "thigh", "shin")
    bpy.ops.pose.copy()
    tip = stage.limbs[0].tip
    if stage.ours:
        tip.analytic_ik_target = None
    else:
        tip.constraints["IK"].target = None
    update()
    bpy.ops.pose.paste()
    update()
    bpy.ops.object.mode_set(mode="OBJECT")
    stage.limbs[0].target = ""
    # Of a chain that is off, what is pasted is its FK pose: that of the copied bones as they were seen.
    stage.fk_pose = None
    go_to(3)
    stage.says("no target", "Choose")
    stage.look("afterwards")


@works(GROUP, "Pose mode: transforms are cleared in each way that there is", "afterwards")
def cleared(stage: Stage) -> None:
    enter("POSE", stage.ob, "thigh", "shin")
    for clear in (
        bpy.ops.pose.rot_clear,
        bpy.ops.pose.scale_clear,
        bpy.ops.pose.loc_clear,
        bpy.ops.pose.transforms_clear,
        bpy.ops.pose.user_transforms_clear,
    ):
        clear()
        stage.look(str(clear))
    bpy.ops.object.mode_set(mode="OBJECT")


@fault(GROUP, "A cleared FK pose is what comes back when IK is off")
def a_cleared_pose_is_the_fk_pose(stage: Stage) -> None:
    # The stage's own FK pose is a cleared one.
    stage.ob.pose.bones["thigh"].rotation_quaternion = (0.9, 0.1, 0.2, 0.0)
    update()
    enter("POSE", stage.ob, "thigh", "shin")
    bpy.ops.pose.rot_clear()
    bpy.ops.object.mode_set(mode="OBJECT")
    stage.look("cleared")


@fault(GROUP, "The pose is applied as rest pose", "afterwards")
def applied_as_rest_pose(stage: Stage) -> None:
    enter("POSE", stage.ob, "thigh", "shin")
    bpy.ops.pose.armature_apply()
    bpy.ops.object.mode_set(mode="OBJECT")
    stage.fk_pose = None
    # It rests on everything: also the bones beside the chain.
    stage.forget_bystander("foot")
    stage.look("applied")


@fault(GROUP, "The visual pose is applied to the chain's bones", "afterwards")
def visually_applied(stage: Stage) -> None:
    enter("POSE", stage.ob, "thigh", "shin")
    bpy.ops.pose.visual_transform_apply()
    bpy.ops.object.mode_set(mode="OBJECT")
    # It is the FK pose from now on.
    stage.fk_pose = None
    stage.look("applied")


@fault(GROUP, "The tip is disconnected from its parent, and connected again", "connected again")
def disconnected(stage: Stage) -> None:
    with stage.edit_bones() as bones:
        bones["shin"].use_connect = False
        bones["shin"].head = (0.0, -0.1, 0.9)
    stage.fk_pose = None
    stage.look("disconnected")
    stage.follow("disconnected")
    with stage.edit_bones() as bones:
        bones["shin"].use_connect = True


@fault(GROUP, "The tip gets another parent")
def reparented(stage: Stage) -> None:
    stage.add_bone("upper", (0.0, 0.0, 2.0), "hips")
    with stage.edit_bones() as bones:
        bones["upper"].tail = (0.0, -0.2, 1.0)
        bones["shin"].parent = bones["upper"]
    stage.limbs[0].bones[0] = "upper"
    stage.fk_pose = None
    stage.look("afterwards")
    stage.follow("afterwards")
    off = max(abs(value) for value in stage.ob.pose.bones["thigh"].rotation_quaternion[1:])
    assert off < 1e-6, "the bone that left the chain is not in its FK pose"


@fault(GROUP, "The tip loses its parent")
def orphaned(stage: Stage) -> None:
    with stage.edit_bones() as bones:
        bones["shin"].parent = None
    stage.fk_pose = None
    if stage.ours:
        stage.limbs[0].target = ""
        update()
        stage.says("its chain needs 2 bones and has 1 up to the root", "Set Chain Length to 1")
    else:
        # Blender's own IK then takes what there is.
        stage.limbs[0].bones, stage.limbs[0].bends = ["shin"], False
        stage.limbs.clear()
    go_to(3)
    stage.look("afterwards")


@fault(GROUP, "A bone of the chain is subdivided")
def subdivided(stage: Stage) -> None:
    with stage.edit_bones() as bones:
        for bone in bones:
            bone.select = bone.select_head = bone.select_tail = bone.name == "thigh"
        bpy.ops.armature.subdivide()
        halves = [bone.name for bone in bones if bone.name.startswith("thigh")]
    assert len(halves) == 2
    # Bones counts two still, from the tip: the upper half is no part of the chain.
    lower = stage.ob.pose.bones["shin"].parent.name
    stage.limbs[0].bones, stage.limbs[0].bends = [lower, "shin"], False
    stage.fk_pose = None
    stage.look("subdivided")
    stage.drag(0.0, -0.3, 0.6)
    stage.look("dragged")


@fault(GROUP, "A bone is extruded from the tip, and the tip is split off", "split")
def extruded_and_split(stage: Stage) -> None:
    with stage.edit_bones() as bones:
        for bone in bones:
            bone.select = bone.select_head = bone.select_tail = False
        bones["shin"].select_tail = True
        bpy.ops.armature.extrude()
        bpy.ops.armature.select_all(action="DESELECT")
    stage.look("extruded")
    stage.follow("extruded")
    with stage.edit_bones() as bones:
        for bone in bones:
            bone.select = bone.select_head = bone.select_tail = bone.name in ("thigh", "shin")
        bpy.ops.armature.split()
    assert stage.ob.pose.bones["thigh"].parent is None
    stage.fk_pose = None
    stage.look("split")


@fault(GROUP, "Bones are switched in their direction")
def switched_direction(stage: Stage) -> None:
    with stage.edit_bones() as bones:
        for bone in bones:
            bone.select = bone.select_head = bone.select_tail = bone.name in ("thigh", "shin")
        bpy.ops.armature.switch_direction()
    stage.fk_pose = None
    stage.limbs[0].bends = False
    # Now the shin is the parent of the thigh, and the tip has the bones that are left above it.
    above = stage.ob.pose.bones["shin"].parent
    if stage.ours and above is None:
        stage.limbs[0].target = ""
    elif above is None:
        stage.limbs.clear()
    stage.look("afterwards")


@fault(GROUP, "Another leg is made with the same bones' names, in another armature, and both are posed", "both")
def another_leg(stage: Stage) -> None:
    rig = leg("second", side=1.0)
    stage.limbs.append(Limb("second", rig.bones, rig.target.ob.name))
    stage.solve(stage.limbs[1])
    assert isinstance(rig.target, Control)
    stage.ob.pose.bones["hips"].matrix_basis = Matrix()
    bpy.data.objects["second"].location = (-0.8, 0.0, 0.0)
    stage.look("both")
