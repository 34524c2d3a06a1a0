"""Targets, poles, bones and armatures that are deleted."""

import bpy

from ...rig.rigs import new_empty, update
from ...scenes import go_to, reopened, select
from ..faults import fault
from ..stage import Limb, Stage

GROUP = "Deleting"


def _delete(*objects: bpy.types.Object) -> None:
    select(*objects)
    bpy.ops.object.delete()
    update()


def _mourn(stage: Stage) -> None:
    """The first leg has nothing to follow any more: it stands in its FK pose at every frame."""
    stage.limbs[0].target = ""
    stage.play((1, 4), "afterwards")


def _with_pole(stage: Stage) -> None:
    stage.unsolve(stage.limbs[0])
    new_empty("knee control", (0.0, -2.0, 1.0))
    stage.limbs[0].pole = "knee control"
    stage.solve(stage.limbs[0])
    stage.look("with a pole")


@fault(GROUP, "The target, in the viewport")
def the_target(stage: Stage) -> None:
    _delete(stage.target)
    stage.says("'leg target'", "deleted", "Choose another")
    _mourn(stage)


@fault(GROUP, "The target, in the viewport, then undone and redone")
def the_target_and_undo(stage: Stage) -> None:
    bpy.ops.ed.undo_push(message="set up")
    _delete(stage.target)
    bpy.ops.ed.undo_push(message="delete")
    bpy.ops.ed.undo()
    stage.look("undone")
    stage.follow("undone")
    bpy.ops.ed.redo()
    stage.limbs[0].target = ""
    stage.look("redone")
    # As a drag that was undone: what follows the deed is not part of it.
    _mourn(stage)


@fault(GROUP, "The target, and all orphans are purged, saved and opened again")
def the_target_and_purge(stage: Stage) -> None:
    _delete(stage.target)
    bpy.ops.outliner.orphans_purge(do_local_ids=True, do_linked_ids=True, do_recursive=True)
    reopened(stage.folder / "purged.blend")
    update()
    stage.limbs[0].target = ""
    _mourn(stage)


@fault(GROUP, "The target, and the chain gets another one", "afterwards")
def another_target(stage: Stage) -> None:
    _delete(stage.target)
    other = new_empty("other", (0.1, -0.4, 0.5))
    if stage.ours:
        stage.limbs[0].tip.analytic_ik_target = other
    else:
        stage.limbs[0].tip.constraints["IK"].target = other
    stage.limbs[0].target = "other"
    stage.look("afterwards")


@fault(GROUP, "The target is unlinked from its collection, and linked again", "afterwards")
def the_target_is_linked_again(stage: Stage) -> None:
    target, collection = stage.target, bpy.context.scene.collection
    collection.objects.unlink(target)
    update()
    if stage.ours:
        stage.says("'leg target'", "deleted")
    collection.objects.link(target)
    stage.look("linked again")


@fault(GROUP, "The pole, in the viewport: the leg goes on without it", "afterwards")
def the_pole(stage: Stage) -> None:
    _with_pole(stage)
    _delete(bpy.data.objects["knee control"])
    stage.says("pole target", "'knee control'", "deleted")
    stage.look("afterwards")


@fault(GROUP, "The pole bone, in edit mode: the leg goes on without it", "afterwards")
def the_pole_bone(stage: Stage) -> None:
    stage.follow_bones(pole="knee ik")
    with stage.edit_bones() as bones:
        bones.remove(bones["knee ik"])
    stage.says("pole target", "no bone 'knee ik'", "Choose one")
    if not stage.ours:
        # Blender's own IK then takes the armature object itself for the pole.
        stage.limbs[0].bends = False
    stage.look("afterwards")


@fault(GROUP, "The target bone, in edit mode")
def the_target_bone(stage: Stage) -> None:
    stage.follow_bones()
    with stage.edit_bones() as bones:
        bones.remove(bones["foot ik"])
    stage.limbs[0].target = ""
    stage.says("no bone 'foot ik'", "Choose one")
    _mourn(stage)


@fault(GROUP, "The target bone; another bone takes its name", "afterwards")
def the_target_bone_is_made_anew(stage: Stage) -> None:
    stage.follow_bones()
    with stage.edit_bones() as bones:
        bones.remove(bones["foot ik"])
    stage.add_bone("foot ik", (0.1, -0.3, 0.5))
    stage.look("made anew")


@fault(GROUP, "The target bone's copy stays when the target bone is deleted")
def the_copy_of_the_target_bone_stays(stage: Stage) -> None:
    stage.follow_bones()
    with stage.edit_bones() as bones:
        for bone in bones:
            bone.select = bone.select_head = bone.select_tail = bone.name == "foot ik"
        bpy.ops.armature.duplicate()
    with stage.edit_bones() as bones:
        assert "foot ik.001" in bones
        bones.remove(bones["foot ik"])
    stage.limbs[0].target = ""
    stage.says("no bone 'foot ik'", "Choose one")
    _mourn(stage)


@fault(GROUP, "The armature that holds the target bone")
def the_armature_of_the_target_bone(stage: Stage) -> None:
    stage.unsolve(stage.limbs[0])
    controls = stage.ob.copy()
    controls.data = stage.ob.data.copy()
    controls.name = "controls"
    bpy.context.scene.collection.objects.link(controls)
    stage.limbs[0].target, stage.limbs[0].target_bone = "controls", "foot"
    controls.location = (0.0, -0.4, 0.5)
    stage.solve(stage.limbs[0])
    stage.look("before")
    _delete(controls)
    stage.limbs[0].target = ""
    stage.says("'controls'", "deleted")
    _mourn(stage)


@fault(GROUP, "The chain's tip, in edit mode")
def the_tip(stage: Stage) -> None:
    with stage.edit_bones() as bones:
        bones.remove(bones["shin"])
    stage.forget_bystander("foot")
    stage.limbs.clear()
    _play_bones(stage, "thigh")


@fault(GROUP, "The chain's root, in edit mode: the tip then hangs on the bone above")
def the_root(stage: Stage) -> None:
    with stage.edit_bones() as bones:
        bones.remove(bones["thigh"])
    _reach_from_the_hips(stage)


@fault(GROUP, "The chain's root and tip are dissolved into one, in edit mode")
def bones_are_dissolved(stage: Stage) -> None:
    with stage.edit_bones() as bones:
        for bone in bones:
            bone.select = bone.select_head = bone.select_tail = bone.name == "thigh"
        bpy.ops.armature.dissolve()
        left = [bone.name for bone in bones]
    assert "shin" not in left, left
    stage.limbs.clear()
    _play_bones(stage, "thigh")


@fault(GROUP, "The parent of the chain, in edit mode", "afterwards")
def the_parent(stage: Stage) -> None:
    with stage.edit_bones() as bones:
        bones.remove(bones["hips"])
    stage.forget_bystander("hips")
    stage.fk_pose = None
    stage.look("afterwards")


@fault(GROUP, "The armature", "afterwards")
def the_armature(stage: Stage) -> None:
    bystander = Limb("leg.001", ["thigh", "shin"], stage.target.name)
    select(stage.ob)
    bpy.ops.object.duplicate()
    _delete(bpy.data.objects["leg"])
    for name in ("hips", "foot"):
        stage.forget_bystander(name)
    stage.limbs, stage.fk_pose = [bystander], None
    stage.look("afterwards")


@fault(GROUP, "Everything; and another rig is made under the same names", "afterwards")
def everything(stage: Stage) -> None:
    _delete(stage.ob, stage.target)
    for kind in (bpy.data.objects, bpy.data.armatures):
        for each in list(kind):
            if each.name.startswith("leg"):
                kind.remove(each)
    go_to(3)
    from ...rig.rigs import leg

    rig = leg("leg")
    for name in ("hips", "foot"):
        stage.forget_bystander(name)
    stage.fk_pose = None
    stage.limbs = [Limb("leg", rig.bones, rig.target.ob.name)]
    stage.solve(stage.limbs[0])
    stage.look("afterwards")


@fault(GROUP, "The collection that holds the rig, with its objects")
def the_collection(stage: Stage) -> None:
    collection = bpy.data.collections.new("rig")
    bpy.context.scene.collection.children.link(collection)
    for ob in (stage.ob, stage.target):
        collection.objects.link(ob)
        bpy.context.scene.collection.objects.unlink(ob)
    update()
    stage.follow("in a collection")
    bpy.data.collections.remove(collection)
    for ob in list(bpy.data.objects):
        if not ob.users_collection:
            bpy.data.objects.remove(ob)
    for name in ("hips", "foot"):
        stage.forget_bystander(name)
    stage.limbs.clear()
    go_to(3)
    go_to(5)
    stage.look("afterwards")


@fault(GROUP, "The target is another kind of object now", "afterwards")
def the_target_is_converted(stage: Stage) -> None:
    curve = bpy.data.objects.new("curve", bpy.data.curves.new("curve", "CURVE"))
    bpy.context.scene.collection.objects.link(curve)
    stage.unsolve(stage.limbs[0])
    stage.limbs[0].target = "curve"
    curve.location = (0.0, -0.3, 0.5)
    stage.solve(stage.limbs[0])
    stage.look("a curve")
    select(curve)
    bpy.ops.object.convert(target="MESH")
    stage.look("a mesh")


def _reach_from_the_hips(stage: Stage) -> None:
    """The chain has lost a bone and reaches with the hips in its place, as it does with Blender's own IK."""
    stage.fk_pose = None
    # It is turned now.
    stage.forget_bystander("hips")
    stage.limbs[0].bones, stage.limbs[0].bends = ["hips", "shin"], False
    stage.look("afterwards")
    stage.drag(0.0, -0.3, 1.4)
    stage.look("dragged")


def _play_bones(stage: Stage, name: str) -> None:
    """A bone that has lost its chain stands in its FK pose at every frame."""
    for frame in (1, 4):
        go_to(frame)
        bone = stage_bone(stage, name)
        off = max(abs(value) for value in bone.rotation_quaternion[1:])
        assert off < 1e-6, f"bone '{name}' is not in its FK pose at frame {frame}: {off}"


def stage_bone(stage: Stage, name: str) -> bpy.types.PoseBone:
    """A bone of the leg's armature, as Blender evaluates it."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    return bpy.data.objects["leg"].evaluated_get(depsgraph).pose.bones[name]
