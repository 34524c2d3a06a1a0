"""Two armature objects that share something: their armature, an action, a slot, a parent."""

import bpy

from ...rig.rigs import new_empty, update
from ...scenes import go_to, slide
from ..faults import fault
from ..stage import FRAMES, Limb, Stage
from .keys import SLOTS, key_fk

GROUP = "Shared data"


def _twin(stage: Stage, solved: bool = True) -> bpy.types.Object:
    """A second armature object on the leg's armature, with a chain and a target of its own."""
    twin = bpy.data.objects.new("twin", stage.ob.data)
    bpy.context.scene.collection.objects.link(twin)
    twin.location.x = 0.5
    target = new_empty("twin target", (0.5, -0.3, 0.4))
    slide(target, (0.5, -0.5, 0.6), (0.5, 0.4, 0.3))
    update()
    if solved:
        limb = Limb(twin.name, ["thigh", "shin"], target.name)
        stage.solve(limb)
        stage.limbs.append(limb)
    return twin


@fault(GROUP, "Two armature objects share one armature, each with IK", "both")
def two_objects_on_one_armature(stage: Stage) -> None:
    _twin(stage)


@fault(GROUP, "Two armature objects share one armature, one of them with IK")
def one_of_two_has_ik(stage: Stage) -> None:
    twin = _twin(stage, solved=False)
    stage.follow("one")
    thigh = twin.pose.bones["thigh"]
    if tuple(thigh.rotation_quaternion) != (1.0, 0.0, 0.0, 0.0):
        stage.note("the other one", lost="the pose of the other one")


@fault(GROUP, "The shared armature is edited", "edited")
def a_shared_armature_is_edited(stage: Stage) -> None:
    stage.fk_pose = None
    _twin(stage)
    go_to(4)
    with stage.edit_bones() as bones:
        bones["shin"].tail.z -= 0.1
        bones.new("prop").tail = (0.0, 0.0, 1.0)
    stage.look("edited")


@fault(GROUP, "The shared armature is edited while frames change", "edited")
def a_shared_armature_is_edited_while_playing(stage: Stage) -> None:
    stage.fk_pose = None
    _twin(stage)
    bpy.context.view_layer.objects.active = stage.ob
    bpy.ops.object.mode_set(mode="EDIT")
    for frame in FRAMES:
        go_to(frame)
    stage.ob.data.edit_bones["thigh"].head.z += 0.1
    go_to(5)
    bpy.ops.object.mode_set(mode="OBJECT")
    stage.look("edited")


@fault(GROUP, "The shared armature is shown in its rest position and posed again", "posed")
def a_shared_armature_rests(stage: Stage) -> None:
    _twin(stage)
    stage.ob.data.pose_position = "REST"
    stage.look("at rest")
    go_to(4)
    stage.look("at rest, at another frame")
    stage.ob.data.pose_position = "POSE"
    stage.look("posed")


@fault(GROUP, "Shared armature is made single", "single")
def a_shared_armature_is_made_single(stage: Stage) -> None:
    twin = _twin(stage)
    go_to(4)
    twin.data = twin.data.copy()
    stage.look("single")


@fault(GROUP, "Two armature objects play one action", "keyed on the other")
def two_objects_play_one_action(stage: Stage) -> None:
    key_fk(stage)
    twin = _twin(stage)
    data = twin.animation_data_create()
    data.action = stage.ob.animation_data.action
    if SLOTS:
        data.action_slot = stage.ob.animation_data.action_slot
    stage.follow("one action")
    twin.pose.bones["thigh"].keyframe_insert("rotation_quaternion", frame=7)
    stage.learn_fk_pose()


@fault(GROUP, "Two armature objects play slots of one action (4.4 and later)")
def two_slots_of_one_action(stage: Stage) -> None:
    if not SLOTS:
        stage.look("without slots")
        return
    key_fk(stage)
    twin = _twin(stage)
    data = twin.animation_data_create()
    data.action = stage.ob.animation_data.action
    data.action_slot = data.action.slots.new("OBJECT", "twin")
    hips = twin.pose.bones["hips"]
    for frame, height in ((1, 0.0), (12, -0.2)):
        hips.location.z = height
        hips.keyframe_insert("location", frame=frame)
    stage.follow("two slots")


@fault(GROUP, "Two targets play one action", "moved")
def two_targets_play_one_action(stage: Stage) -> None:
    twin = _twin(stage)
    target, other = stage.target, bpy.data.objects["twin target"]
    twin.location.x = 0.0
    other.animation_data.action = target.animation_data.action
    if SLOTS:
        other.animation_data.action_slot = target.animation_data.action_slot
    stage.follow("one action")
    for point in (curve := _first_curve(target)).keyframe_points:
        point.co.y += 0.1
    curve.update()


@fault(GROUP, "Two armature objects hang on one parent that moves", "carried")
def two_objects_hang_on_one_parent(stage: Stage) -> None:
    twin = _twin(stage)
    carrier = new_empty("carrier")
    slide(carrier, (0.0, 0.0, 0.0), (0.1, -0.1, 0.1))
    for ob in (stage.ob, twin, bpy.data.objects["twin target"]):
        ob.parent = carrier
    update()


@fault(GROUP, "Both legs follow one target", "one target")
def both_follow_one_target(stage: Stage) -> None:
    twin = _twin(stage, solved=False)
    twin.location.x = 0.2
    limb = Limb(twin.name, ["thigh", "shin"], stage.limbs[0].target)
    stage.solve(limb)
    stage.limbs.append(limb)


def _first_curve(ob: bpy.types.Object) -> bpy.types.FCurve:
    from ...scenes import curves_of

    return next(iter(curves_of(ob).values()))
