"""Which frames keys play over, judged by what Blender evaluates; and which controls anything moves."""

from collections.abc import Callable
from math import ceil, floor

import bpy
import pytest

from ik_addon.rig.blender.clips import has_keys, has_own_motion, motion_frames

from ..scenes import apart, curves_of, go_to, key_fk, pose_of, walking_leg
from .keys import push_down
from .rigs import Rig, new_empty, update


def keyed(times: tuple[float, ...] = (1, 5, 9, 13)) -> Rig:
    """A leg without IK, its thigh turned by keys at some times."""
    rig = walking_leg()
    rig.tip.analytic_ik_enabled = False
    thigh = rig.ob.pose.bones["thigh"]
    for k, time in enumerate(times):
        thigh.rotation_quaternion = (1.0, 0.2 * (k + 1), 0.1 * k, 0.0)
        thigh.keyframe_insert("rotation_quaternion", frame=time)
    update()
    return rig


def of_whole_frames() -> Rig:
    return keyed()


def of_fractions() -> Rig:
    return keyed((2.4, 8.0, 11.3))


def before_the_first_frame() -> Rig:
    return keyed((-7.5, 3.0))


def in_a_strip() -> Rig:
    rig = keyed()
    push_down(rig.ob, mute=False)
    strip = rig.ob.animation_data.nla_tracks[0].strips[0]
    strip.frame_start, strip.scale = 21.0, 2.0
    update()
    return rig


def beside_muted_ones() -> Rig:
    rig = in_a_strip()
    rig.ob.animation_data.nla_tracks[0].mute = True
    thigh = rig.ob.pose.bones["thigh"]
    for frame in (31, 36):
        thigh.rotation_quaternion = (1.0, 0.01 * frame, 0.0, 0.0)
        thigh.keyframe_insert("rotation_quaternion", frame=frame)
    curve = next(iter(curves_of(rig.ob).values()))
    curve.keyframe_points.insert(50.0, 1.0)
    curve.mute = True
    update()
    return rig


def of_an_object_above() -> Rig:
    rig = keyed((4, 9))
    above = new_empty("above")
    rig.ob.parent = above
    for frame in (2, 17):
        above.location.x = frame
        above.keyframe_insert("location", frame=frame)
    update()
    return rig


def in_remapped_time() -> Rig:
    rig = keyed()
    bpy.context.scene.render.frame_map_old, bpy.context.scene.render.frame_map_new = 100, 250
    update()
    return rig


def tweaked() -> Rig:
    rig = in_a_strip()
    data = rig.ob.animation_data
    data.nla_tracks.active = data.nla_tracks[0]
    data.nla_tracks[0].strips[0].select = True
    data.use_tweak_mode = True
    update()
    return rig


@pytest.mark.parametrize(
    "made",
    [
        of_whole_frames,
        of_fractions,
        before_the_first_frame,
        in_a_strip,
        beside_muted_ones,
        of_an_object_above,
        in_remapped_time,
        tweaked,
    ],
)
def test_all_that_moves_does_so_within_the_frames_and_at_both_ends(made: Callable[[], Rig]):
    rig = made()
    frames = motion_frames(rig.ob)
    assert frames is not None

    def moves(a: float, b: float) -> bool:
        places = []
        for frame in (a, b):
            go_to(frame)
            world = rig.ob.matrix_world.copy()
            places.append({name: world @ pose for name, pose in pose_of(rig.ob).items()})
        return apart(*places, 2.0) > 1e-6

    assert not moves(frames[0] - 20, frames[0])
    assert not moves(frames[-1], frames[-1] + 20)
    assert moves(frames[0], frames[0] + 1)
    assert moves(frames[-1] - 1, frames[-1])


def test_keys_between_frames_are_within():
    assert motion_frames(of_fractions().ob) == range(floor(2.4), ceil(11.3) + 1)


def test_what_is_repeated_plays_over_the_range_of_the_scene():
    rig = keyed()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 80
    for curve in curves_of(rig.ob).values():
        curve.modifiers.new("CYCLES")
    assert motion_frames(rig.ob) == range(1, 81)


@pytest.mark.skipif(not hasattr(bpy.types, "ActionSlot"), reason="actions have slots since 4.4")
def test_another_slot_of_its_action_is_not_its_motion():
    rig, other = keyed((4, 9)), new_empty("other")
    data = other.animation_data_create()
    data.action = action = rig.ob.animation_data.action
    data.action_slot = action.slots.new(id_type="OBJECT", name="other")
    for frame in (-30, 90):
        other.location.x = frame
        other.keyframe_insert("location", frame=frame)
    assert other.animation_data.action == action
    assert motion_frames(rig.ob) == range(4, 10)
    assert motion_frames(other) == range(-30, 91)


def test_a_pose_that_is_keyed_once_is_no_motion():
    assert motion_frames(keyed((5,)).ob) is None
    assert motion_frames(new_empty("still")) is None


def test_keys_are_those_of_the_bones_that_play():
    rig = keyed()
    assert has_keys(rig.ob, ["shin", "thigh"])
    assert not has_keys(rig.ob, ["shin", "foot", ""])
    for curve in curves_of(rig.ob).values():
        curve.mute = True
    assert not has_keys(rig.ob, ["thigh"])


def test_keys_of_strips_count_while_their_track_plays():
    rig = in_a_strip()
    assert has_keys(rig.ob, ["thigh"])
    rig.ob.animation_data.nla_tracks[0].mute = True
    assert not has_keys(rig.ob, ["thigh"])


def test_a_track_that_plays_alone_silences_the_action():
    rig = in_a_strip()
    key_fk(rig)
    assert has_keys(rig.ob, ["shin"])
    rig.ob.animation_data.nla_tracks[0].is_solo = True
    assert has_keys(rig.ob, ["thigh"]) and not has_keys(rig.ob, ["shin"])


def test_a_control_moves_by_its_own_keys_drivers_and_constraints():
    rig = walking_leg()
    assert has_own_motion(rig.target.ob, "")
    still = new_empty("still")
    assert not has_own_motion(still, "")
    still.keyframe_insert("hide_viewport", frame=1)
    assert not has_own_motion(still, "")
    still.driver_add("delta_location", 0)
    assert has_own_motion(still, "")
    constrained = new_empty("constrained")
    constraint = constrained.constraints.new("COPY_LOCATION")
    assert has_own_motion(constrained, "")
    constraint.mute = True
    assert not has_own_motion(constrained, "")
    other = keyed()
    assert has_own_motion(other.ob, "thigh")
    assert not has_own_motion(other.ob, "shin") and not has_own_motion(other.ob, "gone")
