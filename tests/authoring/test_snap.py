"""Snapping brings the controls to the FK pose, or makes the solved pose the FK pose; and changes nothing else."""

from collections.abc import Callable
from itertools import pairwise
from math import cos

import bpy
import pytest
from mathutils import Matrix, Vector

from ik_addon.authoring import snap
from ik_addon.authoring.snap import pose_snapped, snap_pose, snap_targets, targets_snapped
from ik_addon.solvers import ChainError

from ..changes import setting
from ..helpers.feet import animated_foot, footed_leg, random_footed
from ..rig.keys import FRAMES, key, key_rotation
from ..rig.rigs import (
    ROTATION_MODES,
    BoneSpec,
    Control,
    Rig,
    bends_generically,
    leg,
    new_armature,
    new_empty,
    pose_values,
    random_point,
    random_rig,
    random_rotation,
    reachable_point,
    set_on,
    set_rotation,
    update,
)
from ..scenes import (
    EXACT,
    action_state,
    angle_between,
    apart,
    curve_state,
    curves_of,
    enter,
    farthest_apart,
    go_to,
    keyed_frames,
    link_from_library,
    played,
    played_without_the_add_on,
    pose_of,
    refuses,
    rotation_curves,
    second_chain,
    slide,
    where_one_stands,
    whole_state,
)

RANGE = {"use_range": True, "frame_start": 1, "frame_end": 13}
LENGTH = 2.0


def operate(operator: str, rig: Rig, **options) -> set[str]:
    """The operator on the rig's tip, in pose mode."""
    enter("POSE", rig.ob, rig.bones[-1])
    done = getattr(bpy.ops.analytic_ik, operator)(**options)
    update()
    return done


def to_targets(rig: Rig, **options) -> None:
    assert operate("snap_targets", rig, **options) == {"FINISHED"}


def to_pose(rig: Rig, **options) -> None:
    assert operate("snap_pose", rig, **options) == {"FINISHED"}


def limb_pose(rig: Rig) -> dict[str, Matrix]:
    """The pose of the chain's bones and of those below: where controls are bones of the same armature, they move."""
    below = {bone.name for bone in rig.tip.children_recursive} | set(rig.bones)
    return {name: matrix for name, matrix in pose_of(rig.ob).items() if name in below}


def fk_pose(rig: Rig) -> dict[str, Matrix]:
    """The pose that the limb has without IK."""
    enabled = rig.tip.analytic_ik_enabled
    set_on(rig, enabled=False)
    pose = limb_pose(rig)
    set_on(rig, enabled=enabled)
    return pose


def length_of(rig: Rig) -> float:
    return sum(rig.lengths())


def pose_anew(rig: Rig, most: float = 1.2) -> None:
    """Another FK pose for the limb, one that bends clearly, and its end."""
    enabled = rig.tip.analytic_ik_enabled
    set_on(rig, enabled=False)
    while True:
        for bone in [*(rig.ob.pose.bones[name] for name in rig.bones), *rig.tip.children]:
            set_rotation(bone, random_rotation(rig.random, most))
        update()
        if bends_generically(rig.joints()):
            break
    set_on(rig, enabled=enabled)


def near_gimbal_lock(control: Control) -> bool:
    """Whether the rounding of a control's Euler angles shows in its orientation."""
    owner = control.ob.pose.bones[control.bone] if control.bone else control.ob
    mode = owner.rotation_mode
    return mode in ROTATION_MODES[2:] and abs(cos(owner.rotation_euler["XYZ".index(mode[1])])) < 0.1


def assert_snaps(rig: Rig, tolerance: float = EXACT) -> None:
    fk = fk_pose(rig)
    to_targets(rig)
    if rig.tip.analytic_ik_use_rotation and near_gimbal_lock(rig.target):
        tolerance = 2e-4
    assert apart(limb_pose(rig), fk, length_of(rig)) < tolerance
    go_to(bpy.context.scene.frame_current + 1)
    assert apart(limb_pose(rig), fk, length_of(rig)) < tolerance


# FK to IK, at one frame


@pytest.mark.parametrize("seed", range(60))
def test_the_controls_alone_carry_the_fk_pose(seed):
    rig = random_rig(seed, with_pole=seed % 3 != 0)
    rig.place_target(reachable_point(rig))
    rig.enable(swivel=rig.random.choice([0.0, 0.7]), flip=rig.random.random() < 0.3)
    pose_anew(rig)
    assert_snaps(rig)
    assert rig.tip.analytic_ik_swivel == 0.0 and not rig.tip.analytic_ik_flip
    assert rig.tip.analytic_ik_pole_target is not None


@pytest.mark.parametrize("seed", range(100, 140))
def test_a_foot_that_follows_gets_its_orientation_from_its_target(seed):
    rig = random_footed(seed, with_pole=True)
    rig.enable()
    set_on(rig, use_rotation=True)
    if max(rig.ob.scale) - min(rig.ob.scale) > 0.01 or rig.target.ob.scale != Vector((1.0, 1.0, 1.0)):
        # Through uneven scales no turned control can give any orientation.
        return
    pose_anew(rig)
    assert_snaps(rig, 2 * EXACT)


def control_of_kind(kind: str) -> tuple[Rig, bpy.types.Object | bpy.types.PoseBone]:
    """A footed leg, and what holds the channels of its target."""
    rig = footed_leg()
    if kind == "object":
        return rig, rig.target.ob
    bones = [
        BoneSpec("base", (0.0, 0.0, 0.0), (0.1, 0.3, 0.0)),
        BoneSpec("hold", (0.2, 0.1, 0.2), (0.4, 0.2, 0.1), "base"),
    ]
    other = new_armature("other", bones)
    other.pose.bones["base"].rotation_quaternion = (0.9, 0.2, 0.3, 0.1)
    other.location = (0.1, 0.0, 0.3)
    rig.target = Control(other, "hold")
    update()
    return rig, other.pose.bones["hold"]


@pytest.mark.parametrize("reach", ["CLAMP", "HOLD"])
@pytest.mark.parametrize("bend", [0.3, 0.08])
def test_a_soft_chain_near_extension_is_pulled_far_enough(bend, reach):
    rig = leg(knee=bend)
    rig.enable(softness=0.2, reach=reach)
    rig.target.place((0.3, -0.2, 0.6))
    rig.ob.pose.bones["thigh"].rotation_quaternion = (0.9, 0.2, 0.1, 0.1)
    # The nearer to extension, the more does rounding of the target bend.
    assert_snaps(rig, 5 * EXACT)


def test_a_soft_chain_that_stretches_arrives_and_says_how_far_its_knee_is_off(capfd):
    """It lengthens where it eases: unstretched there is no target that holds it so near to extension."""
    rig = leg(knee=0.3)
    rig.enable(softness=0.2, reach="STRETCH")
    rig.target.place((0.3, -0.2, 0.6))
    ankle = fk_pose(rig)["foot"].translation
    to_targets(rig)
    assert (rig.joints()[-1] - ankle).length < EXACT * LENGTH
    assert "off its FK pose" in capfd.readouterr().out


@pytest.mark.parametrize("count", [1, 3, 4, 5])
@pytest.mark.parametrize("seed", range(400, 408))
def test_chains_of_any_length_with_least_motion(seed, count, capfd):
    rig = random_rig(seed, count)
    rig.place_target(reachable_point(rig))
    rig.enable(least_motion=True)
    pose_anew(rig, 0.8)
    assert_snaps(rig)
    assert "off its FK pose" not in capfd.readouterr().out


@pytest.mark.parametrize("count", [3, 4, 5])
def test_longer_chains_without_it_say_how_far_they_are_off(count, capfd):
    rig = random_rig(410 + count, count, with_pole=True)
    rig.place_target(reachable_point(rig))
    rig.enable()
    pose_anew(rig, 0.8)
    fk = fk_pose(rig)
    to_targets(rig)
    off = max((limb_pose(rig)[name].translation - fk[name].translation).length for name in rig.bones)
    assert off > 1e-3
    said = capfd.readouterr().out
    (line,) = [line for line in said.splitlines() if "off its FK pose" in line]
    told = float(line.partition("its chain is ")[2].partition(" off")[0])
    assert told == pytest.approx(off * rig.ob.matrix_world.median_scale, rel=1e-2)
    assert rig.missed() < EXACT


def test_a_roll_goes_back_to_zero():
    rig = footed_leg()
    rig.target.place((0.1, -0.3, 0.5))
    rig.enable()
    set_on(rig, use_rotation=True, foot_roll=0.6)
    pose_anew(rig, 0.5)
    assert_snaps(rig)
    assert rig.tip.analytic_ik_foot_roll == 0.0


# FK to IK, over a range


def key_limb(rig: Rig, *names: str) -> None:
    for name in names or rig.bones:
        key_rotation(rig.random, rig.ob.pose.bones[name])


def muted(rig: Rig, *names: str) -> None:
    for name in names or rig.bones:
        for curve in rotation_curves(rig.ob, name):
            curve.mute = True
    update()


def fk_motion(rig: Rig) -> dict:
    return played_without_the_add_on(rig.ob, range(1, 14))


@pytest.mark.parametrize("kind", ["object", "bone"])
@pytest.mark.parametrize("with_pole", [True, False])
def test_over_a_range_the_controls_are_keyed_at_every_frame(with_pole, kind):
    rig, owner = control_of_kind(kind)
    rig.random.seed(5)
    if with_pole:
        rig.pole = Control(new_empty("pole", (0.0, -2.0, 1.0)))
    key_limb(rig, "thigh", "shin", "foot")
    rig.enable()
    set_on(rig, use_rotation=True)
    go_to(5.5)
    stand = where_one_stands()["frame"]
    expected = fk_motion(rig)
    go_to(5.5)
    to_targets(rig, **RANGE)
    assert where_one_stands()["frame"] == stand
    go_to(5)
    to_targets(rig, **RANGE)
    # At once, without another frame change.
    assert apart(pose_of(rig.ob), expected[5], LENGTH) < EXACT
    assert farthest_apart(played(rig.ob, range(13, 0, -1)), expected, LENGTH) < EXACT
    path = f"{owner.path_from_id()}." if kind == "bone" else ""
    for channel in ("location", "rotation_quaternion" if kind == "bone" else "rotation_euler"):
        curves = [curve for at, curve in curves_of(rig.target.ob).items() if at[0] == path + channel]
        assert len(curves) >= 3
        assert all(keyed_frames(curve) == [float(frame) for frame in range(1, 14)] for curve in curves)
    # What the limb itself has in keys is not needed for where it is.
    muted(rig, "thigh", "shin", "foot")
    for name in ("thigh", "shin", "foot"):
        rig.ob.pose.bones[name].rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    now = played(rig.ob, range(1, 14))
    for frame, pose in expected.items():
        for name in ("shin", "foot", "toe"):
            assert (now[frame][name].translation - pose[name].translation).length < 2 * EXACT * LENGTH, (frame, name)
        assert angle_between(now[frame]["foot"], pose["foot"]) < 1e-4


@pytest.mark.parametrize("follows", [False, True])
def test_nothing_else_changes(follows):
    rig = footed_leg()
    rig.random.seed(3)
    target, pole = rig.target.ob, new_empty("pole", (0.0, -2.0, 1.0))
    rig.pole = Control(pole)
    for ob in (target, pole):
        key(ob, "location", [random_point(rig.random, 0.0, 0.3) for _ in FRAMES])
        key(ob, "rotation_euler", [random_rotation(rig.random, 1.0).to_euler() for _ in FRAMES])
        key(ob, "scale", [(1.0, 1.0, 1.0), (1.1, 1.1, 1.1), (1.0, 1.0, 1.0), (0.9, 0.9, 0.9)])
        ob.location = (0.0, 0.0, 0.0)
        for frame in (-5, 20):
            ob.keyframe_insert("location", frame=frame)
    key_limb(rig, "thigh", "shin", "foot")
    rig.enable()
    set_on(rig, use_rotation=follows)
    go_to(5)

    def others(ob: bpy.types.Object) -> dict:
        turned = follows and ob is target
        written = {"location", "rotation_euler"} if turned else {"location"}
        return {at: curve_state(curve) for at, curve in curves_of(ob).items() if at[0] not in written}

    before, limb = {ob.name: others(ob) for ob in (target, pole)}, action_state(rig.ob.animation_data.action)
    to_targets(rig, **RANGE)
    assert {ob.name: others(ob) for ob in (target, pole)} == before
    assert action_state(rig.ob.animation_data.action) == limb
    for ob in (target, pole):
        for index in range(3):
            keys = keyed_frames(curves_of(ob)["location", index])
            assert keys == [-5.0, *(float(frame) for frame in range(1, 14)), 20.0]


# Refusals


def constrained(rig: Rig) -> str:
    rig.target.ob.constraints.new("LIMIT_LOCATION").name = "Fence"
    return "'Fence'"


def constrained_pole(rig: Rig) -> str:
    rig.tip.analytic_ik_pole_target = new_empty("pole", (0.0, -2.0, 1.0))
    rig.tip.analytic_ik_pole_target.constraints.new("LIMIT_LOCATION").name = "Fence"
    return "'Fence'"


def driven(rig: Rig) -> str:
    rig.target.ob.driver_add("location", 1)
    return "driver"


def driven_rotation(rig: Rig) -> str:
    rig.tip.analytic_ik_use_rotation = True
    rig.target.ob.driver_add("rotation_euler", 1)
    return "driver"


def connected(rig: Rig) -> str:
    other = new_armature(
        "other",
        [BoneSpec("base", (0, 0, 0), (0, 0.3, 0)), BoneSpec("hold", (0, 0.3, 0), (0, 0.6, 0), "base", connect=True)],
    )
    rig.tip.analytic_ik_target, rig.tip.analytic_ik_subtarget = other, "hold"
    return "connected"


def deleted_target(rig: Rig) -> str:
    bpy.context.scene.collection.objects.unlink(rig.target.ob)
    return "deleted"


def target_below_the_chain(rig: Rig) -> str:
    rig.target.ob.parent, rig.target.ob.parent_type, rig.target.ob.parent_bone = rig.ob, "BONE", "foot"
    return "moves with the chain's own bone"


def having(words: str, **settings: object) -> Callable[[Rig], str]:
    return lambda rig: setting("tip", **{f"analytic_ik_{name}": settings[name] for name in settings})(rig) and words


def animated(name: str) -> Callable[[Rig], str]:
    return lambda rig: (
        rig.tip.keyframe_insert(f"analytic_ik_{name}", frame=1) and f"{name.replace('_', ' ')} is animated"
    )


@pytest.mark.some(13)
@pytest.mark.parametrize("use_range", [False, True])
@pytest.mark.parametrize(
    "obstacle",
    [
        *(constrained, constrained_pole, driven, driven_rotation, connected, deleted_target, target_below_the_chain),
        *map(animated, ("swivel", "flip", "foot_roll")),
        having("there is no target", target=None),
        having("its chain needs 9 bones and has 3", chain_count=9),
        having("VECTOR", chain_count=3, solver="VECTOR"),
        lambda rig: having("has no bone 'nose'", pole_target=rig.ob, pole_subtarget="nose")(rig),
    ],
)
def test_what_would_not_work_is_refused_with_nothing_changed(obstacle, use_range):
    rig = footed_leg()
    rig.enable(swivel=0.3, foot_roll=0.2)
    text = obstacle(rig)
    enter("POSE", rig.ob, "shin")
    go_to(4)
    before = whole_state()
    with pytest.raises(RuntimeError, match="Bone 'shin'") as caught:
        bpy.ops.analytic_ik.snap_targets(**(RANGE if use_range else {}))
    assert text in str(caught.value)
    update()
    assert whole_state() == before


def test_a_chain_that_cannot_be_read_at_a_later_frame_is_refused_with_nothing_changed():
    rig = footed_leg()
    rig.target.place((0.1, -0.3, 0.5))
    rig.enable(swivel=0.3)
    key(rig.ob.pose.bones["thigh"], "scale", [(1.0, 1.0, 1.0), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)])
    go_to(1)
    with refuses(ChainError, "Bone 'shin': bone 'thigh' of its chain has no length"):
        snap_targets(bpy.context, [rig.tip], range(1, 14))


@pytest.mark.some(4)
@pytest.mark.parametrize("number", [1, 7, 13])
@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("steps_of", [targets_snapped, pose_snapped])
def test_closed_at_any_step_everything_is_as_it_was(steps_of, keyed, number, monkeypatch):
    monkeypatch.setattr(snap, "controls_over", lambda *_: None)
    rig, _ = control_of_kind("bone")
    key_limb(rig, "thigh", "shin", "foot")
    rig.target.place((0.1, -0.3, 0.5))
    if keyed:
        key(rig.target.ob.pose.bones[rig.target.bone], "location", [(0.1 * k, 0.0, 0.0) for k in range(4)])
    rig.enable(swivel=0.3, flip=True)
    set_on(rig, use_rotation=True)
    go_to(4.5)
    before = whole_state()
    steps = steps_of(bpy.context, [rig.tip], range(1, 14))
    assert [next(steps) for _ in range(number)] == [(k, 13) for k in range(1, number + 1)]
    steps.close()
    update()
    assert whole_state() == before


def test_a_linked_control_is_refused(tmp_path):
    target = link_from_library(new_empty("hold", (0.0, -0.3, 0.5)), tmp_path)
    rig = footed_leg()
    rig.target = Control(target)
    rig.enable(swivel=0.3)
    with refuses(ChainError, "its control 'hold' is linked"):
        snap_targets(bpy.context, [rig.tip])


def test_a_control_in_tweak_mode_is_refused_over_a_range():
    rig = footed_leg()
    rig.enable(swivel=0.3)
    target = rig.target.ob
    key(target, "location", [(0.0, 0.0, 0.3)] * 4)
    data = target.animation_data
    strip = data.nla_tracks.new().strips.new("walk", 1, data.action)
    if hasattr(strip, "action_slot"):
        strip.action_slot = data.action_slot
    data.action = None
    data.nla_tracks[0].select = strip.select = True
    data.use_tweak_mode = True
    assert data.use_tweak_mode
    with refuses(ChainError, "is in NLA tweak mode"):
        snap_targets(bpy.context, [rig.tip], range(1, 14))
    data.use_tweak_mode = False


def test_a_switched_off_constraint_is_no_obstacle():
    rig = footed_leg()
    rig.target.ob.constraints.new("LIMIT_LOCATION").enabled = False
    rig.enable()
    pose_anew(rig, 0.8)
    assert_snaps(rig)


# IK to FK


@pytest.mark.parametrize("seed", range(600, 630))
def test_the_solved_pose_becomes_the_fk_pose(seed):
    rig = random_footed(seed)
    rig.enable()
    set_on(rig, use_rotation=True)
    length, solved = length_of(rig), limb_pose(rig)
    to_pose(rig)
    assert apart(limb_pose(rig), solved, length) < 2 * EXACT
    set_on(rig, influence=0.5)
    values = pose_values(rig.ob)
    for _ in range(5):
        rig.ob.update_tag()
        update()
    assert pose_values(rig.ob) == values
    assert apart(limb_pose(rig), solved, length) < 2 * EXACT
    set_on(rig, influence=0.0)
    assert apart(limb_pose(rig), solved, length) < 2 * EXACT
    set_on(rig, influence=1.0, enabled=False)
    assert apart(limb_pose(rig), solved, length) < 2 * EXACT


def test_over_a_range_the_limb_is_keyed_and_nothing_else():
    rig = animated_foot(602)
    rig.tip.id_data.animation_data.action.name = "walk"
    for curve in [curve for at, curve in curves_of(rig.ob).items() if "foot_roll" in at[0]]:
        curve.mute = True
    set_on(rig, foot_roll=0.0)
    for name in ("hips", "foot"):
        key(rig.ob.pose.bones[name], "scale", [(1.0, 1.0, 1.0), (1.1, 1.1, 1.1), (1.0, 1.0, 1.0), (0.9, 0.9, 0.9)])
    thigh = rig.ob.pose.bones["thigh"]
    for frame in (-4, 30):
        thigh.rotation_quaternion = (0.9, 0.1, 0.3, 0.2)
        thigh.keyframe_insert("rotation_quaternion", frame=frame)
    go_to(7)
    stand = where_one_stands()["frame"]
    turned = {f'pose.bones["{name}"].rotation_quaternion' for name in ("thigh", "shin", "foot")}
    before = {at: curve_state(curve) for at, curve in curves_of(rig.ob).items() if at[0] not in turned}
    ends = [curve_state(curve)[-1] for at, curve in curves_of(rig.ob).items() if "thigh" in at[0]]
    expected = played(rig.ob, range(1, 14))
    go_to(7)
    to_pose(rig, **RANGE)
    assert where_one_stands()["frame"] == stand
    assert rig.ob.animation_data.action.name == "walk"
    after = {at: curve_state(curve) for at, curve in curves_of(rig.ob).items() if at[0] not in turned}
    assert after == before
    for curve, keys in zip(rotation_curves(rig.ob, "thigh"), ends, strict=True):
        now = curve_state(curve)[-1]
        assert keyed_frames(curve) == [-4.0, *(float(frame) for frame in range(1, 14)), 30.0]
        assert (now[0][0], now[-1][0]) == (keys[0][0], keys[-1][0])
    assert farthest_apart(played_without_the_add_on(rig.ob, range(1, 14)), expected, LENGTH) < EXACT
    assert farthest_apart(played(rig.ob, range(1, 14)), expected, LENGTH) < EXACT


@pytest.mark.parametrize("keyed", ["roll", "switch"])
def test_over_a_range_in_which_the_foot_follows_or_rolls_for_a_while(keyed):
    rig = footed_leg()
    slide(rig.target.ob, (0.0, 0.0, 0.3), (0.1, -0.3, 0.5))
    rig.enable()
    set_on(rig, use_rotation=True)
    if keyed == "roll":
        key(rig.tip, "analytic_ik_foot_roll", [0.0, 0.5, 1.0, 0.0])
    else:
        key(rig.target.ob, "rotation_euler", [(0.0, 0.0, 0.0), (0.3, 0.0, 0.0), (0.0, 0.4, 0.0), (0.5, 0.0, 0.0)])
        key(rig.tip, "analytic_ik_use_rotation", [True, False, True, True])
    expected = played(rig.ob, range(1, 14))
    to_pose(rig, **RANGE)
    assert farthest_apart(played_without_the_add_on(rig.ob, range(1, 14)), expected, LENGTH) < EXACT


def test_a_driven_bone_is_refused_over_a_range_with_nothing_changed():
    rig = footed_leg()
    rig.enable()
    rig.ob.pose.bones["thigh"].driver_add("rotation_quaternion", 1)
    go_to(3)
    with refuses(ChainError, "Bone 'thigh': a driver sets its rotation"):
        snap_pose(bpy.context, [rig.tip], range(1, 5))


def test_the_keys_of_the_way_back_run_on_without_jumps():
    rig = footed_leg()
    for name in rig.bones:
        rig.ob.pose.bones[name].rotation_mode = "AXIS_ANGLE" if name == "shin" else "QUATERNION"
    rig.random.seed(2)
    key_limb(rig)
    rig.enable()
    to_targets(rig, **RANGE)
    to_pose(rig, **RANGE)
    for name in rig.bones:
        for curve in rotation_curves(rig.ob, name):
            values = [point.co.y for point in curve.keyframe_points]
            assert max(abs(b - a) for a, b in pairwise(values)) < 1.0


def test_a_control_that_another_chain_follows_too_is_refused():
    rig = footed_leg()
    rig.enable()
    other = second_chain(rig, "foot", 1)
    other.analytic_ik_target = rig.target.ob
    update()
    before = whole_state()
    with pytest.raises(
        ChainError, match=r"Bone 'shin': the chain of 'foot' follows its control .* too. Give the chain a control"
    ):
        snap_targets(bpy.context, [rig.tip])
    assert whole_state() == before
