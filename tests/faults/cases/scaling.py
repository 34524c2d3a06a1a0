"""Bones, objects and their parents that are scaled, evenly or not, mirrored, or to nothing."""

from math import pi
from random import Random

import bpy
from mathutils import Vector

from ...rig.rigs import INHERIT_SCALE, evaluated_copy, new_empty, random_rotation, update
from ...scenes import go_to, select
from ..faults import fault
from ..stage import Stage

GROUP = "Scale and shear"


@fault(GROUP, "The armature's parent is scaled unevenly and turned: a sheared object")
def a_sheared_object(stage: Stage) -> None:
    parent = new_empty("carrier")
    parent.scale = (1.0, 1.6, 0.8)
    stage.ob.parent = parent
    stage.ob.rotation_euler = (0.5, 0.3, 0.2)
    stage.limbs[0].bends = False
    update()
    stage.target.animation_data.action = None
    world = evaluated_copy(stage.ob).matrix_world
    for place in ((0.1, -0.4, 0.5), (-0.2, 0.1, 0.7), (0.0, -0.6, 1.0)):
        stage.target.location = world @ Vector(place)
        stage.look(f"target at {place}")


@fault(GROUP, "The hips are scaled unevenly, with every way to inherit scale")
def hips_unevenly_inherited(stage: Stage) -> None:
    stage.forget_bystander("hips")
    stage.fk_pose = None
    stage.ob.pose.bones["hips"].scale = (0.8, 1.2, 1.1)
    for way in INHERIT_SCALE:
        stage.ob.data.bones["thigh"].inherit_scale = way
        update()
        for place in ((0.1, -0.4, 0.5), (-0.2, -0.3, 0.6)):
            stage.target.animation_data.action = None
            stage.target.location = place
            stage.look(f"{way}, target at {place}")


@fault(GROUP, "Bones are mirrored by a scale below zero")
def mirrored_bones(stage: Stage) -> None:
    stage.forget_bystander("hips")
    stage.fk_pose = None
    stage.limbs[0].bends = False
    # Blender's own IK is lost on two plain bones already where a bone of the chain is mirrored; seen by hand.
    for name, scale in (("hips", (-1.0, 1.0, 1.0)), ("thigh", (1.0, 1.0, -1.0)), ("shin", (-1.0, 1.0, 1.0))):
        stage.ob.pose.bones[name].scale = scale
        stage.look(f"with {name}")
    # What is scaled may bring a target that is dragged by hand out of reach.
    stage.play((1, 4, 9, 4.5), "afterwards")


@fault(GROUP, "The armature object shrinks to nothing and grows again")
def nothing_and_back(stage: Stage) -> None:
    for frame, size in ((1, 1.0), (3, 0.0), (6, 0.0), (9, 1.0)):
        stage.ob.scale = (size,) * 3
        stage.ob.keyframe_insert("scale", frame=frame)
    update()
    for frame in (1, 3, 4, 6, 9, 1):
        go_to(frame)
        # Nothing has a length of nothing: it is looked at while there is something to see.
        if frame in (1, 9):
            stage.look(f"at frame {frame}")
        elif stage.ours:
            stage.says("scale of zero", "Give it a size")


@fault(GROUP, "The thigh shrinks to nothing and grows again")
def a_bone_of_nothing(stage: Stage) -> None:
    stage.fk_pose = None
    thigh = stage.ob.pose.bones["thigh"]
    for frame, size in ((1, 1.0), (3, 0.0), (6, 0.0), (9, 1.0)):
        thigh.scale = (size,) * 3
        thigh.keyframe_insert("scale", frame=frame)
    update()
    for frame in (1, 3, 4, 6, 9, 1):
        go_to(frame)
        if frame in (1, 9):
            stage.look(f"at frame {frame}")


@fault(GROUP, "The target is scaled to nothing, and so is its parent")
def a_target_of_nothing(stage: Stage) -> None:
    stage.target.scale = (0.0, 0.0, 0.0)
    stage.look("the target")
    stage.follow("the target")
    parent = new_empty("carrier", (0.1, -0.3, 0.5))
    parent.scale = (0.0, 0.0, 0.0)
    stage.target.parent = parent
    stage.look("its parent")
    stage.play((1, 4, 9, 4.5), "its parent")


@fault(GROUP, "An uneven scale of the armature object is applied")
def an_uneven_scale_is_applied(stage: Stage) -> None:
    stage.target.animation_data.action = None
    stage.fk_pose = None
    stage.ob.scale, stage.ob.rotation_euler = (1.0, 1.4, 0.8), (0.2, 0.0, pi / 7.0)
    stage.limbs[0].bends = False
    update()
    stage.drag(0.1, -0.3, 0.5)
    stage.look("scaled")
    select(stage.ob)
    bpy.ops.object.transform_apply(location=False, rotation=True, scale=True)
    stage.drag(0.1, -0.3, 0.6)
    stage.look("applied")


@fault(GROUP, "The hips are turned and scaled unevenly, by up to a quarter, in forty ways")
def hips_in_many_ways(stage: Stage) -> None:
    stage.forget_bystander("hips")
    stage.fk_pose = None
    stage.limbs[0].bends = False
    stage.target.animation_data.action = None
    hips, random = stage.ob.pose.bones["hips"], Random(1)
    for way in range(40):
        hips.rotation_quaternion = random_rotation(random, 0.6)
        hips.scale = [1.25 ** random.uniform(-1.0, 1.0) for _ in range(3)]
        update()
        thigh = evaluated_copy(stage.ob).pose.bones["thigh"]
        # Between hip and where the straight leg would end: in reach however it is sheared.
        along = Vector((random.uniform(-0.5, 0.5), random.uniform(-0.7, 0.2), -1.2))
        stage.target.location = thigh.head + along
        stage.look(f"in way {way}")
        assert not stage.seen[-1].sentences, f"a leg sheared this little misses its target in way {way}"
