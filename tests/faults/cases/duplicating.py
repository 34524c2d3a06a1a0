"""Objects and bones that are duplicated, mirrored, joined and separated."""

import bpy

from ...rig.rigs import update
from ...scenes import enter, go_to, select
from ..faults import works
from ..stage import Limb, Stage

GROUP = "Duplicating and mirroring"


def copies(stage: Stage, *objects: bpy.types.Object, linked: bool = False) -> list[bpy.types.Object]:
    """Duplicate objects as Shift+D and Alt+D do; the copies in the order of what they are copies of."""
    names = [f"{ob.name}.001" for ob in objects]
    select(*objects)
    bpy.ops.object.duplicate(linked=linked)
    return [bpy.data.objects[name] for name in names]


@works(GROUP, "The armature is duplicated, its target is not", "afterwards")
def the_armature_alone(stage: Stage) -> None:
    copy = copies(stage, stage.ob)[0]
    stage.limbs.append(Limb(copy.name, ["thigh", "shin"], stage.target.name))
    stage.look("duplicated")
    copy.location = (0.3, 0.0, 0.0)
    update()


@works(GROUP, "Armature and target are duplicated together", "afterwards")
def armature_and_target(stage: Stage) -> None:
    copy, target = copies(stage, stage.ob, stage.target)
    stage.limbs.append(Limb(copy.name, ["thigh", "shin"], target.name))
    copy.location = (0.3, 0.0, 0.0)
    update()


@works(GROUP, "Linked duplicates: the chain of one of them is switched off", "afterwards")
def one_linked_duplicate_is_switched_off(stage: Stage) -> None:
    copy = copies(stage, stage.ob, linked=True)[0]
    stage.unsolve(Limb(copy.name, ["thigh", "shin"], ""))


@works(GROUP, "Linked duplicates: bones are edited in one of them", "afterwards")
def bones_of_linked_duplicates_are_edited(stage: Stage) -> None:
    copy, target = copies(stage, stage.ob, stage.target, linked=True)
    stage.limbs.append(Limb(copy.name, ["thigh", "shin"], target.name))
    stage.fk_pose = None
    with stage.edit_bones() as bones:
        bones["shin"].tail = (0.0, 0.1, 0.1)


@works(GROUP, "A linked duplicate is made single user", "afterwards")
def a_linked_duplicate_is_made_single_user(stage: Stage) -> None:
    copy, target = copies(stage, stage.ob, stage.target, linked=True)
    stage.limbs.append(Limb(copy.name, ["thigh", "shin"], target.name))
    select(copy)
    bpy.ops.object.make_single_user(object=True, obdata=True)
    assert copy.data != stage.ob.data


@works(GROUP, "Armature and target are copied and pasted", "afterwards")
def copied_and_pasted(stage: Stage) -> None:
    select(stage.ob, stage.target)
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.view3d.copybuffer()
        bpy.ops.view3d.pastebuffer()
    new = sorted(ob.name for ob in bpy.data.objects if ob.name in ("leg.001", "leg target.001"))
    assert len(new) == 2, "nothing was pasted"
    stage.limbs.append(Limb("leg.001", ["thigh", "shin"], "leg target.001"))
    update()


@works(GROUP, "Bones of the chain are duplicated in edit mode, its target bone is not", "afterwards")
def the_chain_alone_is_duplicated(stage: Stage) -> None:
    stage.follow_bones()
    select_edit_bones(stage, "thigh", "shin")
    bpy.ops.armature.duplicate()
    bpy.ops.object.mode_set(mode="OBJECT")
    update()
    stage.limbs.append(Limb("leg", ["thigh.001", "shin.001"], "leg", True, "foot ik"))


@works(GROUP, "Bones are duplicated twice before edit mode is left", "afterwards")
def bones_are_duplicated_twice(stage: Stage) -> None:
    stage.follow_bones()
    for number in ("001", "002"):
        select_edit_bones(stage, "thigh", "shin", "foot ik")
        bpy.ops.armature.duplicate()
        stage.limbs.append(
            Limb("leg", [f"thigh.{number}", f"shin.{number}"], "leg", True, f"foot ik.{number}"),
        )
    bpy.ops.object.mode_set(mode="OBJECT")
    update()


@works(GROUP, "A leg is symmetrized with its target bone and pole bone", "afterwards")
def symmetrized(stage: Stage) -> None:
    limb = left_leg(stage, pole="knee ik.L")
    select_edit_bones(stage, "thigh.L", "shin.L", "foot ik.L", "knee ik.L")
    bpy.ops.armature.symmetrize()
    bpy.ops.object.mode_set(mode="OBJECT")
    update()
    stage.limbs.append(Limb("leg", ["thigh.R", "shin.R"], "leg", True, "foot ik.R", limb.pole, "knee ik.R"))


@works(GROUP, "A leg is symmetrized whose target bone has a mirrored one already", "afterwards")
def symmetrized_to_a_target_that_was_there(stage: Stage) -> None:
    left_leg(stage)
    stage.add_bone("foot ik.R", (-0.2, -0.3, 0.4))
    select_edit_bones(stage, "thigh.L", "shin.L")
    bpy.ops.armature.symmetrize()
    bpy.ops.object.mode_set(mode="OBJECT")
    update()
    stage.limbs.append(Limb("leg", ["thigh.R", "shin.R"], "leg", True, "foot ik.R"))


def join_a_copy(stage: Stage) -> None:
    """Join the armature with a copy of it that stands beside; its leg follows a bone of its own."""
    other = copies(stage, stage.ob)[0]
    other.location = (0.3, 0.0, 0.0)
    update()
    select(stage.ob, other, active=stage.ob)
    bpy.ops.object.join()
    update()
    stage.limbs.append(Limb("leg", ["thigh.001", "shin.001"], "leg", True, "foot ik.001"))


@works(GROUP, "Two armatures with chains are joined; one follows a bone, one an object", "afterwards")
def armatures_are_joined(stage: Stage) -> None:
    stage.follow_bones()
    join_a_copy(stage)
    stage.look("joined")


@works(GROUP, "An armature with a chain is joined into another one")
def joined_into_another(stage: Stage) -> None:
    stage.follow_bones()
    other = bpy.data.objects.new("body", bpy.data.armatures.new("body"))
    bpy.context.scene.collection.objects.link(other)
    stage.forget_bystander("foot")
    update()
    select(other, stage.ob, active=other)
    bpy.ops.object.join()
    update()
    limb = stage.limbs[0]
    limb.ob = limb.target = "body"
    stage.look("joined")
    stage.drag()
    stage.look("dragged")


@works(GROUP, "A chain's bones are separated into an armature of their own, its target bone is not", "afterwards")
def separated(stage: Stage) -> None:
    limb = stage.follow_bones()
    select_edit_bones(stage, "hips", "thigh", "shin", "foot")
    bpy.ops.armature.separate()
    bpy.ops.object.mode_set(mode="OBJECT")
    update()
    limb.ob = "leg.001"


@works(GROUP, "A chain's bones and its target bone are separated into an armature of their own")
def separated_with_target(stage: Stage) -> None:
    limb = stage.follow_bones()
    select_edit_bones(stage, "hips", "thigh", "shin", "foot", "foot ik")
    bpy.ops.armature.separate()
    bpy.ops.object.mode_set(mode="OBJECT")
    update()
    limb.ob = limb.target = "leg.001"
    stage.look("separated")
    stage.drag()
    stage.look("dragged")


def left_leg(stage: Stage, pole: str = "") -> Limb:
    """The leg on the left side, its bones named so, following bones."""
    limb = stage.follow_bones("foot ik.L", pole)
    with stage.edit_bones() as bones:
        for bone in list(bones):
            if bone.name in ("thigh", "shin", "foot ik.L", "knee ik.L"):
                bone.head.x, bone.tail.x = 0.2, 0.2
    for name in limb.bones:
        stage.ob.data.bones[name].name = f"{name}.L"
    limb.bones = ["thigh.L", "shin.L"]
    stage.fk_pose = {f"{name}.L": own for name, own in (stage.fk_pose or {}).items()}
    stage.fk_pose = None
    go_to(1)
    stage.look("on the left")
    return limb


def select_edit_bones(stage: Stage, *names: str) -> None:
    """Go to the armature's edit mode with these bones selected."""
    if stage.ob.mode != "EDIT":
        enter("EDIT", stage.ob)
    for bone in stage.ob.data.edit_bones:
        bone.select = bone.select_head = bone.select_tail = bone.name in names
