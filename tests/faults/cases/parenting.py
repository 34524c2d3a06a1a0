"""Targets, poles and armatures that get parents: other objects, armatures, and bones of chains."""

import bpy
from mathutils import Matrix

from ...rig.rigs import new_empty, update
from ...scenes import enter, go_to, select, slide
from ..faults import fault
from ..stage import Limb, Stage

GROUP = "Parents"


def _hang(ob: bpy.types.Object, parent: bpy.types.Object, bone: str = "") -> None:
    """Parent an object so that it stays where it is, as Ctrl+P does."""
    world = ob.matrix_world.copy()
    ob.parent = parent
    if bone:
        ob.parent_type, ob.parent_bone = "BONE", bone
    update()
    ob.matrix_world = world
    update()


def _in_a_circle(stage: Stage, sentence: str) -> None:
    """The leg moves its own target: the add-on says so and leaves it in its FK pose; Blender's own IK chases it."""
    if stage.ours:
        stage.limbs[0].target = ""
        stage.says(sentence)
    for frame in (1, 2, 3):
        go_to(frame)
        stage.look("in a circle")


def _second_leg(stage: Stage) -> Limb:
    """Another leg, with a target of its own."""
    select(stage.ob, stage.target)
    bpy.ops.object.duplicate()
    bpy.data.objects["leg.001"].location = (0.2, 0.0, 0.0)
    limb = Limb("leg.001", ["thigh", "shin"], "leg target.001")
    stage.limbs.append(limb)
    update()
    return limb


@fault(GROUP, "The target hangs on the armature object, which then moves")
def target_on_the_armature(stage: Stage) -> None:
    select(stage.target, stage.ob, active=stage.ob)
    bpy.ops.object.parent_set(type="OBJECT", keep_transform=True)
    stage.look("parented")
    stage.ob.location, stage.ob.rotation_euler = (0.4, 0.2, 0.1), (0.0, 0.1, 0.2)
    stage.limbs[0].bends = False
    update()
    stage.play((1, 4, 9), "moved")
    select(stage.target)
    bpy.ops.object.parent_clear(type="CLEAR_KEEP_TRANSFORM")
    stage.look("cleared")


@fault(GROUP, "The target hangs on the chain's own shin, and is taken off again", "afterwards")
def target_on_the_chain(stage: Stage) -> None:
    _hang(stage.target, stage.ob, "shin")
    name = stage.limbs[0].target
    _in_a_circle(stage, "moves with the chain's own bone 'shin'")
    bpy.data.objects[name].parent = None
    stage.limbs[0].target = name
    update()
    go_to(1)
    stage.look("taken off")


@fault(GROUP, "The target bone becomes a child of the chain's foot, and is freed again", "afterwards")
def target_bone_on_the_chain(stage: Stage) -> None:
    limb = stage.follow_bones()
    with stage.edit_bones() as bones:
        bones["foot ik"].parent = bones["foot"]
    name = limb.target
    _in_a_circle(stage, "moves with the chain's own bone 'shin'")
    with stage.edit_bones() as bones:
        bones["foot ik"].parent = None
    limb.target = name
    stage.look("freed")


@fault(GROUP, "The target hangs on another chain's shin")
def target_on_another_chain(stage: Stage) -> None:
    _second_leg(stage)
    data = stage.target.animation_data
    data.action = None
    _hang(stage.target, bpy.data.objects["leg.001"], "shin")
    stage.play((1, 4, 9))
    bpy.data.objects["leg target.001"].location = (0.3, -0.4, 0.6)
    stage.look("dragged")


@fault(GROUP, "Two legs carry each other's targets")
def targets_on_each_other(stage: Stage) -> None:
    other = _second_leg(stage)
    for ob in ("leg target", "leg target.001"):
        bpy.data.objects[ob].animation_data.action = None
    first, stage.fk_pose = stage.limbs[0], None
    _hang(bpy.data.objects[first.target], bpy.data.objects["leg.001"], "shin")
    _hang(bpy.data.objects[other.target], bpy.data.objects["leg"], "shin")
    names = first.target, other.target
    if stage.ours:
        other.target = ""
    _in_a_circle(stage, "move each other's controls")
    for limb, name in zip((first, other), names, strict=True):
        limb.target = name
        bpy.data.objects[name].parent = None
        bpy.data.objects[name].matrix_parent_inverse = Matrix()
    stage.drag()
    stage.look("freed")


@fault(GROUP, "The target hangs on an object that moves, and is freed at another frame", "freed")
def target_on_an_object(stage: Stage) -> None:
    carrier = new_empty("carrier")
    slide(carrier, (0.0, 0.0, 0.0), (0.1, 0.1, 0.1))
    go_to(1)
    _hang(stage.target, carrier)
    stage.play((1, 4, 9, 4.5), "carried")
    select(stage.target)
    bpy.ops.object.parent_clear(type="CLEAR")
    update()


@fault(GROUP, "The armature object hangs on its own target's parent, and on a bone of another armature")
def the_armature_is_carried(stage: Stage) -> None:
    carrier = new_empty("carrier")
    slide(carrier, (0.0, 0.0, 0.0), (0.1, 0.0, 0.1))
    go_to(1)
    _hang(stage.ob, carrier)
    stage.play((1, 4, 9), "on an object")
    stage.ob.parent = None
    _second_leg(stage)
    _hang(stage.ob, bpy.data.objects["leg.001"], "hips")
    stage.play((1, 4, 9), "on a bone")


@fault(GROUP, "The armature object hangs on its own target")
def the_armature_on_its_target(stage: Stage) -> None:
    stage.limbs[0].bends = False
    stage.fk_pose = None
    _hang(stage.ob, stage.target)
    stage.play((1, 4, 9))


@fault(GROUP, "The target is a child of the other target, by bones")
def a_bone_under_another_target(stage: Stage) -> None:
    limb = stage.follow_bones()
    stage.add_bone("root ik", (0.0, 0.0, 0.0))
    with stage.edit_bones() as bones:
        bones["foot ik"].parent = bones["root ik"]
    root = stage.ob.pose.bones["root ik"]
    for frame, x in ((1, 0.0), (9, 0.1)):
        root.location.x = x
        root.keyframe_insert("location", frame=frame)
    stage.play((1, 4, 9))
    enter("POSE", stage.ob, limb.target_bone)
    bpy.ops.object.mode_set(mode="OBJECT")
