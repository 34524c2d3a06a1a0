"""Keys: on the leg's own bones, on what it follows; actions, their slots, and what is done to them."""

import bpy
from mathutils import Euler

from ...rig.rigs import set_rotation, update
from ...scenes import bag_of, curves_of, enter, go_to, select, slide
from ..faults import fault
from ..stage import Stage

GROUP = "Keys and actions"
SLOTS = hasattr(bpy.types, "ActionSlot")


def key_fk(stage: Stage, mode: str = "QUATERNION") -> None:
    """Key the FK rotations of the leg's bones."""
    channel = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")
    for name in stage.limbs[0].bones:
        bone = stage.ob.pose.bones[name]
        bone.rotation_mode = mode
        for frame, turn in ((1, 0.1), (6, 0.5), (12, -0.1)):
            set_rotation(bone, Euler((turn, 0.0, 0.2 * turn)).to_quaternion())
            bone.keyframe_insert(channel, frame=frame)
    stage.learn_fk_pose()


def new_action(name: str, ob: bpy.types.Object, start, end) -> bpy.types.Action:
    """Another action for an object's place, which keeps the one that it has."""
    data = ob.animation_data_create()
    before, slot = data.action, getattr(data, "action_slot", None)
    if before:
        before.use_fake_user = True
    data.action = None
    slide(ob, start, end)
    made = data.action
    made.name, made.use_fake_user = name, True
    data.action = before
    if slot:
        data.action_slot = slot
    return made


def assign(ob: bpy.types.Object, action: bpy.types.Action | None) -> None:
    """Let an object play an action."""
    data = ob.animation_data_create()
    data.action = action
    if action and SLOTS and data.action_slot is None:
        data.action_slot = action.slots[0]


# On the bones of the chain


@fault(GROUP, "Keys on the chain's bones, as Euler angles", "keyed")
def keys_as_euler_angles(stage: Stage) -> None:
    key_fk(stage, "ZXY")


@fault(GROUP, "Keys on the chain's bones, as axis and angle", "keyed")
def keys_as_axis_and_angle(stage: Stage) -> None:
    key_fk(stage, "AXIS_ANGLE")


@fault(GROUP, "Keys on one number of a rotation alone", "keyed")
def keys_on_one_number(stage: Stage) -> None:
    thigh = stage.ob.pose.bones["thigh"]
    thigh.rotation_mode = "XYZ"
    for frame, turn in ((1, 0.1), (12, 0.4)):
        thigh.rotation_euler.x = turn
        thigh.keyframe_insert("rotation_euler", index=0, frame=frame)
    stage.learn_fk_pose()


@fault(GROUP, "Keys are removed one by one, then all at once")
def keys_are_removed(stage: Stage) -> None:
    key_fk(stage)
    go_to(6)
    for name in stage.limbs[0].bones:
        stage.ob.pose.bones[name].keyframe_delete("rotation_quaternion", frame=6)
    stage.follow("one removed")
    stage.ob.animation_data_clear()
    stage.follow("all removed")
    # What the keys left in the channels is the FK pose from now on.
    stage.fk_pose = None


@fault(GROUP, "The solved pose is keyed bone by bone", "keyed")
def the_solved_pose_is_keyed(stage: Stage) -> None:
    for frame in (1, 6, 12):
        go_to(frame)
        for name in stage.limbs[0].bones:
            stage.ob.pose.bones[name].keyframe_insert("rotation_quaternion")
    stage.learn_fk_pose()


@fault(GROUP, "The whole character is keyed while IK is on")
def the_whole_character_is_keyed(stage: Stage) -> None:
    _key_in_the_view(stage, "WholeCharacter")
    stage.follow("keyed")
    # Until 4.5 Blender keys the settings too, as it keys all properties of a bone.
    for (path, _), curve in curves_of(stage.ob).items():
        curve.mute = "analytic_ik" in path
        if "analytic_ik_record" in path:
            stage.note("keyed", lost="what the FK pose is kept in")
    stage.learn_fk_pose()
    stage.follow("with the settings' keys muted")


@fault(GROUP, "Visual keying of the selected bones while IK is on", "keyed")
def visual_keys_are_set(stage: Stage) -> None:
    _key_in_the_view(stage, "BUILTIN_KSI_VisualRot")
    stage.learn_fk_pose()


def _key_in_the_view(stage: Stage, keying_set: str) -> None:
    """Key with a keying set, as the menu of the 3D view does, in pose mode at several frames."""
    enter("POSE", stage.ob, *stage.limbs[0].bones)
    window = bpy.context.window_manager.windows[0]
    (area,) = [area for area in window.screen.areas if area.type == "VIEW_3D"]
    with bpy.context.temp_override(window=window, area=area):
        for frame in (1, 6, 12):
            go_to(frame)
            assert bpy.ops.anim.keyframe_insert_by_name(type=keying_set) == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert any("thigh" in path for path, _ in curves_of(stage.ob))


@fault(GROUP, "The group of the chain's keys is muted", "muted")
def a_group_is_muted(stage: Stage) -> None:
    key_fk(stage)
    bag = bag_of(stage.ob)
    for curve in bag.fcurves:
        curve.group = bag.groups.get("own") or bag.groups.new("own")
    bag.groups["own"].mute = True
    update()
    stage.learn_fk_pose()


@fault(GROUP, "IK is switched by keys")
def ik_is_switched_by_keys(stage: Stage) -> None:
    owner, path = (
        (stage.limbs[0].tip, "analytic_ik_enabled") if stage.ours else (stage.constraint_of(stage.limbs[0]), "enabled")
    )
    for frame, on in ((1, True), (6, False), (10, True)):
        setattr(owner, path, on)
        owner.keyframe_insert(path, frame=frame)
    for frame in (1, 12, 4, 11):
        go_to(frame)
        stage.look(f"on at frame {frame}")
        go_to(8)
        stage.expect_fk_pose("off at frame 8")
    owner.keyframe_delete(path, frame=6)


# On what it follows


@fault(GROUP, "The target's keys go round by a Cycles modifier")
def the_target_cycles(stage: Stage) -> None:
    for curve in curves_of(stage.target).values():
        curve.modifiers.new("CYCLES")
        curve.update()
    stage.follow("cycling")
    stage.play((15, 30, 101, -7))


@fault(GROUP, "The target plays another slot of its action (4.4 and later)")
def the_target_plays_another_slot(stage: Stage) -> None:
    if not SLOTS:
        stage.look("without slots")
        return
    data = stage.target.animation_data
    first = data.action_slot
    data.action_slot = data.action.slots.new("OBJECT", "second")
    slide(stage.target, (0.3, 0.2, 0.6), (0.0, -0.5, 0.3))
    stage.follow("second")
    data.action_slot = first
    stage.follow("first again")
    data.action_slot = None
    stage.follow("none")


@fault(GROUP, "Automatic keying while the target is dragged", "afterwards")
def keys_are_set_while_dragging(stage: Stage) -> None:
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    select(stage.target)
    for frame in (3, 7):
        go_to(frame)
        stage.drag(z=0.1 * frame)
        stage.target.keyframe_insert("location")
        stage.look(f"keyed at frame {frame}")
