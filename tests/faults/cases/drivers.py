"""Drivers on the leg's bones, on what it follows, and on the settings of its IK."""

import bpy

from ...rig.rigs import new_empty, update
from ...scenes import go_to, slide
from ..faults import fault
from ..stage import FRAMES, Stage

GROUP = "Drivers"
SINGLE = {"type": "SINGLE_PROP"}


def drive(
    owner, path: str, index: int = -1, expression: str = "var", subject: str = "", read: str = "location.z"
) -> bpy.types.Driver:
    """Drive a number of an object or a bone by a property of an object; without subject by the expression alone."""
    curve = owner.driver_add(path, index) if index >= 0 else owner.driver_add(path)
    driver = curve.driver
    driver.type, driver.expression = "SCRIPTED", expression
    if subject:
        variable = driver.variables.new()
        variable.name = "var"
        variable.targets[0].id, variable.targets[0].data_path = bpy.data.objects[subject], read
    update()
    return driver


def _drive_by_bone(owner, path: str, index: int, bone: str, kind: str = "LOC_Z") -> None:
    """Drive it by where a bone of the leg is in the world."""
    driver = owner.driver_add(path, index).driver
    driver.type = "SUM"
    variable = driver.variables.new()
    variable.type = "TRANSFORMS"
    aim = variable.targets[0]
    aim.id, aim.bone_target = bpy.data.objects["leg"], bone
    aim.transform_type, aim.transform_space = kind, "WORLD_SPACE"
    update()


def _dial() -> bpy.types.Object:
    """An Empty whose height is 1 at frames 1 to 4, 0 at frame 9, and 1 again at frame 12."""
    dial = new_empty("dial")
    for frame, height in ((1, 1.0), (4, 1.0), (9, 0.0), (12, 1.0)):
        dial.location.z = height
        dial.keyframe_insert("location", frame=frame)
    return dial


@fault(GROUP, "A driver turns the thigh, is muted, and is removed")
def a_driver_is_muted_and_removed(stage: Stage) -> None:
    _dial()
    thigh = stage.ob.pose.bones["thigh"]
    drive(thigh, "rotation_quaternion", 1, "0.3 * var", "dial")
    go_to(4)
    stage.look("driven")
    stage.ob.animation_data.drivers[0].mute = True
    stage.follow("muted")
    thigh.driver_remove("rotation_quaternion", 1)
    stage.follow("without it")
    # What the driver left in the channel is the user's own FK pose from now on.
    stage.fk_pose = None


@fault(GROUP, "A driver makes the shin longer", "with it")
def a_driver_scales_the_shin(stage: Stage) -> None:
    _dial()
    for axis in range(3):
        drive(stage.ob.pose.bones["shin"], "scale", axis, "1.0 + 0.1 * var", "dial")
    stage.learn_fk_pose()


@fault(GROUP, "A driver moves the target by a bone that another chain moves")
def a_driver_moves_the_target_by_another_chain(stage: Stage) -> None:
    other = stage.add_leg("other")
    _dial()
    drive(stage.target, "location", 2, "0.3 + 0.3 * var", "dial")
    _drive_by_bone(bpy.data.objects[other.target], "location", 2, "foot")
    stage.play((*FRAMES, 2.5))


@fault(GROUP, "A driver moves the target by the chain's own bone: a circle", "without it")
def a_driver_goes_in_a_circle(stage: Stage) -> None:
    _drive_by_bone(stage.target, "location", 2, "shin")
    stage.play(FRAMES)
    stage.target.driver_remove("location", 2)


@fault(GROUP, "A driver turns the hips by the leg's own switch on its foot", "with it")
def a_driver_reads_a_switch_on_the_foot(stage: Stage) -> None:
    stage.ob.pose.bones["foot"]["switch"] = 0.2
    drive(stage.ob.pose.bones["hips"], "location", 2, "-var", "leg", 'pose.bones["foot"]["switch"]')


@fault(GROUP, "A driver switches IK off and on")
def a_driver_switches_ik(stage: Stage) -> None:
    _dial()
    own = "analytic_ik_enabled" if stage.ours else "mute"
    owner = stage.limbs[0].tip if stage.ours else stage.constraint_of(stage.limbs[0])
    drive(owner, own, expression="var > 0.5" if stage.ours else "var < 0.5", subject="dial")
    for frame in (1, 4, 12, 2, 11):
        go_to(frame)
        stage.look(f"on at frame {frame}")
        go_to(9)
        stage.expect_fk_pose("off at frame 9")
    owner.driver_remove(own)


@fault(GROUP, "A driver fades the influence in and out")
def a_driver_fades_ik(stage: Stage) -> None:
    _dial()
    own = "analytic_ik_influence" if stage.ours else "influence"
    owner = stage.limbs[0].tip if stage.ours else stage.constraint_of(stage.limbs[0])
    drive(owner, own, subject="dial")
    for frame in (1, 4, 12, 2):
        go_to(frame)
        stage.look(f"full at frame {frame}") if frame != 11 else None
        go_to(6)
        go_to(9)
        stage.expect_fk_pose("gone at frame 9")


@fault(GROUP, "A driver without anything to read, on the target and on the thigh", "with that on the target alone")
def a_broken_driver(stage: Stage) -> None:
    for owner, path in ((stage.target, "location"), (stage.ob.pose.bones["thigh"], "rotation_quaternion")):
        driver = owner.driver_add(path, 1).driver
        driver.type = "SUM"
        driver.variables.new().name = "var"
    update()
    stage.fk_pose = None
    stage.follow("with it")
    stage.ob.pose.bones["thigh"].driver_remove("rotation_quaternion", 1)


@fault(GROUP, "A driver moves the pole by the target", "with it")
def a_driver_moves_the_pole(stage: Stage) -> None:
    new_empty("pole", (0.0, -2.0, 0.5))
    stage.aim(stage.limbs[0], "pole")
    drive(bpy.data.objects["pole"], "location", 0, "0.3 * var", stage.limbs[0].target, "location.x")
    slide(new_empty("unrelated"), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
