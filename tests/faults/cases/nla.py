"""The NLA: strips for what the leg follows, and strips with keys for its own bones."""

import bpy

from ...rig.rigs import update
from ...scenes import go_to
from ..faults import fault
from ..stage import FRAMES, Stage
from .keys import SLOTS, assign, key_fk, new_action

GROUP = "NLA"


def push_down(ob: bpy.types.Object, name: str = "track", start: int = 1) -> bpy.types.NlaStrip:
    """Make a strip of an object's action, on a new track; the object has no action afterwards."""
    data = ob.animation_data
    action, slot = data.action, getattr(data, "action_slot", None)
    strip = _strip(ob, action, name, start)
    if slot:
        strip.action_slot = slot
    data.action = None
    update()
    return strip


def _strip(ob: bpy.types.Object, action: bpy.types.Action, name: str, start: int = 1) -> bpy.types.NlaStrip:
    track = ob.animation_data.nla_tracks.new()
    track.name = name
    strip = track.strips.new(name, start, action)
    if SLOTS and strip.action_slot is None:
        strip.action_slot = action.slots[0]
    return strip


@fault(GROUP, "The target's strip is scaled, repeated and reversed")
def the_targets_strip_is_scaled(stage: Stage) -> None:
    strip = push_down(stage.target)
    strip.scale, strip.repeat = 0.4, 3.0
    stage.follow("scaled")
    strip.use_reverse = True
    stage.follow("reversed")
    stage.play((13, 40))


@fault(GROUP, "The target's strips are added and blended, with a keyed influence", "combined")
def the_targets_strips_are_blended(stage: Stage) -> None:
    second = new_action("second", stage.target, (0.0, 0.1, 0.1), (0.1, -0.1, 0.0))
    push_down(stage.target)
    strip = _strip(stage.target, second, "added", 2)
    strip.blend_type, strip.use_animated_influence = "ADD", True
    for frame, influence in ((2, 0.0), (6, 1.0)):
        strip.influence = influence
        strip.keyframe_insert("influence", frame=frame)
    stage.follow("added")
    strip.blend_type = "COMBINE"


@fault(GROUP, "An action is played over the target's strips, with half its influence", "added")
def an_action_over_strips(stage: Stage) -> None:
    second = new_action("second", stage.target, (0.3, 0.2, 0.6), (0.0, -0.5, 0.3))
    push_down(stage.target)
    assign(stage.target, second)
    data = stage.target.animation_data
    data.action_influence = 0.5
    stage.follow("half")
    data.action_blend_type, data.action_influence = "ADD", 0.1


@fault(GROUP, "Tweak mode of the target's strip is entered and left", "muted")
def the_targets_strip_is_tweaked(stage: Stage) -> None:
    strip = push_down(stage.target)
    data = stage.target.animation_data
    _tweak(data, True)
    stage.follow("in it")
    stage.drag(z=0.7)
    stage.target.keyframe_insert("location", frame=5)
    stage.follow("with one more key")
    _tweak(data, False)
    stage.follow("left")
    strip.mute = True


@fault(GROUP, "An action with the leg's own keys is stashed")
def an_action_is_stashed(stage: Stage) -> None:
    """As Blender stashes: on a track that is muted, behind everything, so that nothing of it plays."""
    own = stage.fk_pose
    key_fk(stage)
    # Stashed, nothing sets these channels any more: here they are what they were before they were keyed.
    strip = push_down(stage.ob, "[Action Stash]")
    stage.ob.animation_data.nla_tracks[0].mute = True
    strip.frame_start_ui = 1000
    _clear_rotations(stage)
    stage.fk_pose = own
    update()
    stage.follow("stashed")
    _half_influence(stage)


@fault(GROUP, "The track with the leg's own keys is muted")
def the_legs_track_is_muted(stage: Stage) -> None:
    own = stage.fk_pose
    key_fk(stage)
    push_down(stage.ob)
    stage.ob.animation_data.nla_tracks[0].mute = True
    _clear_rotations(stage)
    stage.fk_pose = own
    update()
    stage.follow("muted")
    _half_influence(stage)


@fault(GROUP, "The strip with the leg's own keys is over, and holds nothing")
def the_legs_strip_is_over(stage: Stage) -> None:
    key_fk(stage)
    strip = push_down(stage.ob)
    strip.extrapolation = "NOTHING"
    strip.frame_end = 6
    stage.learn_fk_pose()
    stage.follow("over")
    stage.play((20, 21, 22))
    _half_influence(stage, 20)
    go_to(FRAMES[1])


@fault(GROUP, "The NLA of the leg is switched off")
def the_nla_is_switched_off(stage: Stage) -> None:
    own = stage.fk_pose
    key_fk(stage)
    push_down(stage.ob)
    stage.ob.animation_data.use_nla = False
    _clear_rotations(stage)
    stage.fk_pose = own
    update()
    stage.follow("switched off")
    _half_influence(stage)


@fault(GROUP, "Tweak mode of the leg's strip is entered, a key is set, and it is left", "left")
def the_legs_strip_is_tweaked(stage: Stage) -> None:
    key_fk(stage)
    push_down(stage.ob)
    data = stage.ob.animation_data
    _tweak(data, True)
    stage.follow("in it")
    go_to(8)
    thigh = stage.ob.pose.bones["thigh"]
    thigh.rotation_quaternion = (0.9, 0.3, 0.1, 0.0)
    thigh.keyframe_insert("rotation_quaternion")
    stage.follow("keyed")
    _tweak(data, False)
    stage.learn_fk_pose()


@fault(GROUP, "Strips fade the influence and move the hips")
def strips_set_the_influence(stage: Stage) -> None:
    owner, path = (
        (stage.limbs[0].tip, "analytic_ik_influence")
        if stage.ours
        else (stage.constraint_of(stage.limbs[0]), "influence")
    )
    for frame, value in ((1, 1.0), (4, 0.0), (9, 1.0)):
        setattr(owner, path, value)
        owner.keyframe_insert(path, frame=frame)
    hips = stage.ob.pose.bones["hips"]
    for frame, height in ((1, 0.0), (9, -0.2)):
        hips.location.z = height
        hips.keyframe_insert("location", frame=frame)
    push_down(stage.ob)
    for frame in (1, 9, 12):
        go_to(frame)
        stage.look(f"full at frame {frame}")
        go_to(4)
        stage.expect_fk_pose("gone at frame 4")
    stage.fk_pose = None


def _tweak(data: bpy.types.AnimData, on: bool) -> None:
    """Enter or leave tweak mode of the first strip."""
    track = data.nla_tracks[0]
    data.nla_tracks.active = track
    track.select = True
    for strip in track.strips:
        strip.select = True
    data.use_tweak_mode = on
    update()
    assert data.use_tweak_mode == on


def _clear_rotations(stage: Stage) -> None:
    """Give the leg's bones the FK pose that they had at first."""
    for name in stage.limbs[0].bones:
        stage.ob.pose.bones[name].rotation_quaternion = (1.0, 0.0, 0.0, 0.0)


def _half_influence(stage: Stage, frame: int = FRAMES[1]) -> None:
    """Halfway between its FK pose and its target a leg must stand as it stood when the frame is visited again."""
    owner, path = (
        (stage.limbs[0].tip, "analytic_ik_influence")
        if stage.ours
        else (stage.constraint_of(stage.limbs[0]), "influence")
    )
    setattr(owner, path, 0.5)
    poses = []
    for away in (1, 2, 1):
        go_to(frame + away)
        go_to(frame)
        poses.append(stage.joints())
    moved = max((a - b).length for pose in poses for a, b in zip(pose, poses[0], strict=True))
    stage.note("at half the influence, at the same frame again", missed=moved / 2.0)
    setattr(owner, path, 1.0)
