"""Constraints on the leg's bones, on what it follows, and on what carries it."""

import bpy
from mathutils import Matrix

from ...rig.rigs import new_empty, update
from ...scenes import go_to, slide
from ..faults import fault
from ..stage import Limb, Stage

GROUP = "Constraints"


def _constrain(owner, kind: str, subject: str = "", **settings: object) -> bpy.types.Constraint:
    """Put a constraint on an object or a bone. subject: the object that it reads."""
    constraint = owner.constraints.new(kind)
    if subject:
        constraint.target = bpy.data.objects[subject]
    for name, value in settings.items():
        setattr(constraint, name, value)
    update()
    return constraint


def _mover(name: str = "mover", start=(0.0, 0.0, 0.0), end=(0.1, -0.2, 0.1)) -> bpy.types.Object:
    """An Empty with keys, which turns too."""
    mover = new_empty(name)
    slide(mover, start, end)
    for frame, turn in ((1, 0.0), (12, 0.4)):
        mover.rotation_euler.z = turn
        mover.keyframe_insert("rotation_euler", frame=frame)
    return mover


def _with_it_and_muted(stage: Stage, constraint: bpy.types.Constraint) -> None:
    """With it a sentence says what is wrong; without it the leg must stand where it should."""
    stage.follow("with it")
    constraint.mute = True
    stage.follow("muted")


# On the bones of the chain


@fault(GROUP, "Stretch To on the shin")
def stretch_to_on_the_shin(stage: Stage) -> None:
    _mover(start=(0.0, -1.5, 0.5))
    constraint = _constrain(stage.ob.pose.bones["shin"], "STRETCH_TO", "mover", rest_length=1.0)
    _with_it_and_muted(stage, constraint)


@fault(GROUP, "Child Of on the thigh")
def child_of_on_the_thigh(stage: Stage) -> None:
    _mover()
    constraint = _constrain(stage.ob.pose.bones["thigh"], "CHILD_OF", "mover")
    _with_it_and_muted(stage, constraint)


@fault(GROUP, "An Armature constraint on the thigh")
def armature_constraint_on_the_thigh(stage: Stage) -> None:
    _mover()
    constraint = _constrain(stage.ob.pose.bones["thigh"], "ARMATURE")
    other = stage.add_leg("other").ob
    aim = constraint.targets.new()
    aim.target, aim.subtarget = bpy.data.objects[other], "thigh"
    update()
    _with_it_and_muted(stage, constraint)


@fault(GROUP, "An Action constraint on the shin")
def action_constraint_on_the_shin(stage: Stage) -> None:
    _with_it_and_muted(stage, _constrain_by_action(stage, "shin"))


@fault(GROUP, "Blender's own IK on the same bones, to somewhere else")
def both_kinds_of_ik_at_once(stage: Stage) -> None:
    _mover(start=(0.2, 0.6, 0.4))
    constraint = _constrain(stage.limbs[0].tip, "IK", "mover", chain_count=2)
    _with_it_and_muted(stage, constraint)


@fault(GROUP, "Blender's own IK on the thigh that poses the hips too, on which another leg hangs")
def blenders_ik_reaches_the_other_leg(stage: Stage) -> None:
    _two_legs_on_one_armature(stage)
    stage.fk_pose = None
    _mover(start=(0.2, -0.6, 1.0), end=(0.1, -0.4, 1.2))
    constraint = _constrain(stage.ob.pose.bones["thigh"], "IK", "mover", chain_count=2)
    _with_it_and_muted(stage, constraint)


@fault(GROUP, "IK constraints of one's own that are called as the add-on calls its own")
def constraints_with_the_add_ons_names(stage: Stage) -> None:
    _mover()
    stage.add_bone("prop", (1.0, 0.0, 0.0))
    for bone in ("shin", "thigh", "prop"):
        for name in ("Analytic IK", "Analytic IK pole"):
            own = _constrain(stage.ob.pose.bones[bone], "IK", "mover", chain_count=1, mute=bone != "prop")
            own.iterations, own.name = 77, name

    def users() -> list[tuple]:
        found = [(bone.name, each) for bone in stage.ob.pose.bones for each in bone.constraints if each.type == "IK"]
        return [(name, each.name, each.target, each.mute) for name, each in found if each.iterations == 77]

    before = users()
    stage.follow("with them")
    stage.add_leg("other")
    stage.follow("with another chain")
    for limb in reversed(stage.limbs):
        stage.unsolve(limb)
    if stage.ours and users() != before:
        stage.note("without chains", lost="constraints of one's own")
    stage.limbs.clear()


@fault(GROUP, "Spline IK on the same bones")
def spline_ik_on_the_same_bones(stage: Stage) -> None:
    data = bpy.data.curves.new("spline", "CURVE")
    data.dimensions = "3D"
    points = data.splines.new("POLY").points
    points.add(2)
    points.foreach_set("co", [0.0, 1.0, 2.0, 1.0, 0.0, 1.5, 1.0, 1.0, 0.0, 2.0, 1.0, 1.0])
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("spline", data))
    constraint = _constrain(stage.limbs[0].tip, "SPLINE_IK", "spline", chain_count=2)
    _with_it_and_muted(stage, constraint)


@fault(GROUP, "A constraint on a chain bone is muted, unmuted and muted again", "muted again")
def a_constraint_is_muted_and_unmuted(stage: Stage) -> None:
    _mover()
    constraint = _constrain(stage.ob.pose.bones["thigh"], "COPY_ROTATION", "mover", mute=True)
    stage.follow("muted")
    constraint.mute = False
    stage.follow("unmuted")
    constraint.mute = True


@fault(GROUP, "A constraint on a chain bone without influence, or with nothing to read", "without influence alone")
def constraints_that_do_nothing(stage: Stage) -> None:
    _mover()
    _constrain(stage.ob.pose.bones["shin"], "COPY_ROTATION", "mover", influence=0.0)
    empty = _constrain(stage.ob.pose.bones["thigh"], "DAMPED_TRACK")
    stage.follow("with them")
    stage.ob.pose.bones["thigh"].constraints.remove(empty)


# On what the chain follows


@fault(GROUP, "The target is a Child Of something that moves, by key on and off", "with it")
def the_target_changes_its_parent(stage: Stage) -> None:
    _mover()
    constraint = _constrain(stage.target, "CHILD_OF", "mover")
    for frame, influence in ((1, 1.0), (4, 1.0), (5, 0.0)):
        constraint.influence = influence
        constraint.keyframe_insert("influence", frame=frame)


@fault(GROUP, "The target looks at the leg's own foot", "with it")
def the_target_tracks_the_own_foot(stage: Stage) -> None:
    _constrain(stage.target, "DAMPED_TRACK", "leg", subtarget="foot")


@fault(GROUP, "The target hangs by a constraint on a bone of another chain")
def the_target_hangs_on_another_chain(stage: Stage) -> None:
    other = stage.add_leg("other")
    target = bpy.data.objects[other.target]
    target.location = (0.2, 0.1, 0.1)
    _constrain(target, "COPY_LOCATION", "leg", subtarget="foot", use_offset=True)
    _look_at_both(stage)


@fault(GROUP, "A tool follows one hand by Child Of, the other hand follows the tool")
def two_hands_on_a_tool(stage: Stage) -> None:
    tool = new_empty("tool")
    other = stage.add_leg("other")
    target = bpy.data.objects[other.target]
    target.parent, target.location = tool, (0.2, 0.1, 0.1)
    constraint = _constrain(tool, "CHILD_OF", "leg", subtarget="shin")
    pose = stage.ob.matrix_world @ stage.ob.pose.bones["shin"].matrix
    constraint.inverse_matrix = (pose @ Matrix.Translation((0.0, 1.0, 0.0))).inverted()
    _look_at_both(stage)


@fault(GROUP, "A bone of the same armature copies one chain's end, another chain follows it")
def a_bone_hangs_on_another_chain(stage: Stage) -> None:
    first = _two_legs_on_one_armature(stage)
    copy = first.pose.bones["other target"]
    _constrain(copy, "COPY_LOCATION", "leg", subtarget="foot")
    if stage.ours:
        first.pose.bones["other shin"].analytic_ik_target = first
        first.pose.bones["other shin"].analytic_ik_subtarget = "other target"
    else:
        constraint = stage.constraint_of(stage.limbs[1])
        constraint.target, constraint.subtarget = first, "other target"
    stage.limbs[1].target, stage.limbs[1].target_bone = "leg", "other target"
    _look_at_both(stage)


def _look_at_both(stage: Stage) -> None:
    # A chain that cannot be sampled: only after the frame is it known where its target is.
    _mover()
    _constrain(stage.target, "CHILD_OF", "mover")
    stage.play((1, 4, 9, 2.5))
    stage.target.location = (0.3, -0.4, 0.6)
    stage.look("dragged")
    go_to(7)
    stage.look("at frame 7")


# On what carries it


@fault(GROUP, "The armature object copies the target's place in part", "with it")
def the_armature_goes_with_its_target(stage: Stage) -> None:
    _constrain(stage.ob, "COPY_LOCATION", stage.limbs[0].target, influence=0.3, use_z=False)


@fault(GROUP, "The hips follow the target in part", "with it")
def the_hips_follow_the_target(stage: Stage) -> None:
    _constrain(stage.ob.pose.bones["hips"], "COPY_LOCATION", stage.limbs[0].target, influence=0.1)


@fault(GROUP, "An Action constraint moves the hips", "with it")
def action_constraint_on_the_hips(stage: Stage) -> None:
    _constrain_by_action(stage, "hips")


@fault(GROUP, "The hips ride on the end of another chain by a constraint", "with it")
def the_hips_ride_on_another_chain(stage: Stage) -> None:
    other = stage.add_leg("other", side=-0.5)
    stage.limbs.reverse()
    stage.fk_pose = None
    _mover()
    _constrain(bpy.data.objects[other.target], "CHILD_OF", "mover")
    hips = bpy.data.objects["leg"].pose.bones["hips"]
    _constrain(hips, "COPY_LOCATION", other.ob, subtarget="foot", influence=0.1)
    slide(bpy.data.objects[other.target], (-0.5, -0.6, 0.5), (-0.3, 0.5, 0.3))


# What Blender's IK reads on bones


@fault(GROUP, "The channels of chain bones are locked", "locked")
def channels_are_locked(stage: Stage) -> None:
    for name in stage.limbs[0].bones:
        bone = stage.ob.pose.bones[name]
        bone.lock_rotation = bone.lock_location = bone.lock_scale = (True, True, True)
        bone.lock_rotation_w = bone.lock_rotations_4d = True


# What several faults need


def _constrain_by_action(stage: Stage, bone: str) -> bpy.types.Constraint:
    """An Action constraint on a bone, which a mover's height plays."""
    owner = stage.ob.pose.bones[bone]
    other = bpy.data.objects.new("other", stage.ob.data)
    bpy.context.scene.collection.objects.link(other)
    update()
    posed = other.pose.bones[bone]
    posed.rotation_mode = owner.rotation_mode
    for frame, turn in ((1, 0.0), (10, 0.2)):
        posed.rotation_quaternion = (1.0, turn, 0.0, 0.0)
        posed.keyframe_insert("rotation_quaternion", frame=frame)
    action, slot = other.animation_data.action, getattr(other.animation_data, "action_slot", None)
    bpy.data.objects.remove(other)
    _mover(end=(0.0, 0.0, 1.0))
    constraint = _constrain(owner, "ACTION", "mover", transform_channel="LOCATION_Z", frame_end=10, max=1.0)
    constraint.action = action
    if slot:
        constraint.action_slot = slot
    update()
    return constraint


def _two_legs_on_one_armature(stage: Stage) -> bpy.types.Object:
    with stage.edit_bones() as bones:
        for name, parent in (("thigh", "hips"), ("shin", "other thigh"), ("foot", "other shin")):
            old, new = bones[name], bones.new(f"other {name}")
            new.head, new.tail, new.roll = old.head, old.tail, old.roll
            new.head.x += 0.5
            new.tail.x += 0.5
            new.parent, new.use_connect = bones[parent], old.use_connect
        free = bones.new("other target")
        free.head, free.tail = (0.0, 0.0, 0.0), (0.0, 0.2, 0.0)
    target = new_empty("other target", (0.5, -0.3, 0.4))
    limb = Limb("leg", ["other thigh", "other shin"], target.name)
    stage.solve(limb)
    stage.limbs.append(limb)
    return stage.ob
