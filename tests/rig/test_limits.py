"""Joint limits hold in every pose that is solved, on armatures of any kind, and what they keep away is told."""

from math import isfinite, pi, radians

import bpy
import pytest
from mathutils import Quaternion, Vector

from ik_addon.rig.pose.solving import PosedLimb, solve_scene
from ik_addon.rig.status.problems import problems_of
from ik_addon.solvers import Outcome

from ..scenes import go_to, missed_world
from .joint_laws import (
    HELD,
    Judge,
    angle,
    joint_rotation,
    limited_rig,
    pose_legally,
    set_range,
    swing_and_twist,
    swung_and_twisted,
)
from .keys import FRAMES, key
from .rigs import (
    Rig,
    bends_generically,
    evaluated_copy,
    leg,
    local_rotation,
    matrix_difference,
    new_empty,
    orientation,
    pole_side,
    pose_values,
    random_point,
    random_rig,
    random_unit,
    set_rotation,
    update,
)

EXACT = 1e-5
"""Of a chain's length: what is promised of a target that is reached."""


def fk_pose(rig: Rig) -> dict[str, Quaternion]:
    return {name: local_rotation(rig.ob.pose.bones[name]) for name in rig.bones}


def pose(rig: Rig, rotations: dict[str, Quaternion]) -> None:
    for name, rotation in rotations.items():
        set_rotation(rig.ob.pose.bones[name], rotation)
    update()


def problem(rig: Rig) -> str | None:
    return problems_of(rig.ob, [rig.bones[-1]], bpy.context.evaluated_depsgraph_get()).get(rig.bones[-1])


def solved_limb() -> PosedLimb:
    done = solve_scene(bpy.context.evaluated_depsgraph_get(), frame_changed=False)
    assert not done.errors
    (limb,) = done.limbs.values()
    return limb


def random_target(rig: Rig) -> Vector:
    """Anywhere: near, far beyond reach, and on the root itself."""
    length = sum(rig.lengths())
    distance = rig.random.choice((0.0, rig.random.uniform(0.05, 0.8), rig.random.uniform(1.0, 2.0)))
    return rig.joints()[0] + random_unit(rig.random) * length * distance


def random_wishes(rig: Rig) -> dict[str, object]:
    random = rig.random
    return {
        "solver": random.choice(("AUTO", "AUTO", "TRIANGULATION", "CCD")),
        "swivel": random.choice((0.0, random.uniform(-pi, pi))),
        "flip": random.random() < 0.25,
        "least_motion": random.random() < 0.5,
        "softness": random.choice((0.0, 0.2)),
    }


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(60))
def test_every_limit_holds_wherever_the_target_goes(seed, count):
    rig = limited_rig(seed, count)
    judge = Judge(rig)
    if rig.random.random() < 0.5:
        pose_legally(judge)
    judge.read_fk()
    rig.place_target(random_target(rig))
    if rig.pole:
        rig.place_pole(rig.joints()[0] + random_point(rig.random, 0.5, 3.0))
    rig.enable(**random_wishes(rig))
    for target in (None, random_target(rig)):
        if target is not None:
            rig.place_target(target)
        assert problem(rig) is None
        assert judge.broken() == {}
        assert all(isfinite(value) for values in pose_values(rig.ob).values() for value in values)
        assert_told_truly(rig)


def assert_told_truly(rig: Rig) -> None:
    """The pass says how far the tip is off, and whether limits are what keeps it away."""
    limb = solved_limb()
    missed, length = missed_world(rig), sum(rig.lengths())
    size = length * max(map(abs, rig.ob.matrix_world.to_scale()))
    assert abs(limb.error_world - missed) < 2e-5 * size
    if limb.outcome is Outcome.LIMITED:
        assert rig.missed() > 1e-7
    elif limb.outcome is Outcome.REACHED and not limb.limb.settings.softness:
        assert rig.missed() < EXACT


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("seed", range(2000, 2030))
def test_a_wide_range_of_twist_holds_from_either_of_its_ends(seed, count):
    rig = random_rig(seed, count)
    for name in rig.bones:
        pose_bone = rig.ob.pose.bones[name]
        for axis in "xz":
            set_range(pose_bone, axis, -rig.random.uniform(0.3, 2.7), rig.random.uniform(0.3, 2.7))
        set_range(pose_bone, "y", -2.9, 0.4)
    judge = Judge(rig)
    assert pose_legally(judge)
    target = rig.joints()[-1]
    for name in rig.bones:
        # Beyond the upper end, and nearer to the lower one.
        set_rotation(rig.ob.pose.bones[name], swung_and_twisted(0.1, 0.1, rig.random.uniform(2.2, 2.9)))
    rig.place_target(target)
    for least_motion in (True, False):
        rig.enable(least_motion=least_motion)
        assert judge.broken() == {}


@pytest.mark.slow
def test_targets_of_legal_poses_are_reached(record_property):
    shares = {}
    for count in (1, 2, 3, 5):
        for seed in range(1000 * count, 1000 * count + 30):
            bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
            rig = limited_rig(seed, count)
            judge, fk = Judge(rig), fk_pose(rig)
            if not pose_legally(judge):
                continue
            target = rig.joints()[-1]
            pose(rig, fk)
            rig.place_target(target)
            if rig.pole:
                rig.place_pole(rig.joints()[0] + random_point(rig.random, 0.5, 3.0))
            rig.enable(least_motion=rig.random.random() < 0.5)
            shares.setdefault((count, rig.pole is not None), []).append(rig.missed() < EXACT)
            assert judge.broken() == {}
    for (count, with_pole), reached in shares.items():
        share = sum(reached) / len(reached)
        print(f"{count} bones, {'with' if with_pole else 'without'} pole: {share:.1%} of {len(reached)}")
        record_property(f"limited_{count}_{with_pole}", share)
        assert len(reached) > 5
    together = [one for reached in shares.values() for one in reached]
    assert sum(together) / len(together) >= 0.99


@pytest.mark.some(12)
@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("with_pole", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_a_legal_pose_whose_target_is_its_tip_stays_as_it_is(seed, with_pole, count):
    """Of a hinge that may bend both ways the larger side is taken: from the other one it would go there."""
    rig = limited_rig(5000 + seed, count, with_pole=with_pole)
    judge = Judge(rig)
    if not pose_legally(judge, lambda: bends_generically(rig.joints()) and judge.on_larger_sides(), tries=200):
        pytest.skip("no legal pose that bends clearly")
    joints, before = rig.joints(), rig.matrices()
    rig.place_target(joints[-1])
    if rig.pole:
        along = (joints[-1] - joints[0]) * rig.random.uniform(-0.5, 1.5)
        rig.place_pole(joints[0] + pole_side(joints) * sum(rig.lengths()) + along)
    rig.enable(least_motion=count > 2)
    length = sum(rig.lengths())
    for now, then in zip(rig.matrices(), before, strict=True):
        assert (now.to_translation() - then.to_translation()).length < HELD * length
        assert matrix_difference(orientation(now), orientation(then)) < HELD


# The root


def stiff_hip() -> Rig:
    """A leg whose thigh may twist and swing sideways by five degrees, and whose pole lies aside."""
    rig = leg()
    for axis in "yz":
        set_range(rig.ob.pose.bones["thigh"], axis, -radians(5.0), radians(5.0))
    return rig


def aside(rig: Rig) -> tuple[float, float]:
    """Twist of the thigh, and what it swings sideways; in radians."""
    _, z, twist = swing_and_twist(joint_rotation(evaluated_copy(rig.ob).pose.bones["thigh"]))
    return abs(twist), 2.0 * abs(z)


POLE = (2.0, 0.5, 1.2)


def test_limits_of_the_root_hold_beside_a_pole():
    """Blender's own IK lets go of the root's limits as soon as there is a pole."""
    rig = stiff_hip()
    judge = Judge(rig)
    rig.tip.analytic_ik_pole_target = new_empty("pole", POLE)
    rig.enable()
    for x in range(-3, 4):
        rig.target.place((0.2 * x, -0.3, 0.4))
        assert judge.broken() == {}
        assert max(aside(rig)) < radians(5.0) + HELD


# While time goes by, and while one edits


def swinging_leg() -> tuple[Rig, Judge]:
    """A live leg that bends sharply."""
    rig = leg()
    judge = Judge(rig)
    rig.target.place((0.0, -0.3, 1.2))
    rig.enable()
    return rig, judge


def bend_of_knee(rig: Rig) -> float:
    hip, knee, ankle = rig.joints()
    return angle(knee - hip, ankle - knee)


def test_a_keyed_cone_is_that_of_the_frame():
    rig, judge = swinging_leg()
    rig.tip.analytic_ik_use_cone = True
    rig.target.place((0.0, -0.2, 1.5))
    key(rig.tip, "analytic_ik_cone", [0.2, 1.0, 0.5, 2.0])
    for frame in range(1, 14):
        go_to(frame)
        assert judge.broken() == {}
        assert bend_of_knee(rig) == pytest.approx(evaluated_copy(rig.ob).pose.bones["shin"].analytic_ik_cone, abs=HELD)
    seen = [bend_at(rig, frame) for frame in FRAMES]
    assert seen == pytest.approx([0.2, 1.0, 0.5, 2.0], abs=HELD)


def bend_at(rig: Rig, frame: int) -> float:
    go_to(frame)
    return bend_of_knee(rig)


def test_a_driven_cone_is_that_of_the_frame():
    rig, _ = swinging_leg()
    rig.target.place((0.0, -0.2, 1.5))
    rig.tip.analytic_ik_use_cone = True
    rig.tip.driver_add("analytic_ik_cone").driver.expression = "0.1 * frame"
    assert [bend_at(rig, frame) for frame in (2, 9, 5)] == pytest.approx([0.2, 0.9, 0.5], abs=HELD)


@pytest.mark.parametrize("path", ["ik_max_x", "lock_ik_x"])
def test_blenders_own_limits_can_be_keyed_too(path):
    rig, judge = swinging_leg()
    shin = rig.ob.pose.bones["shin"]
    shin.lock_ik_y = shin.lock_ik_z = True
    set_range(shin, "x", 0.0, pi)
    key(shin, path, [0.2, 1.0, 0.5, 2.0] if path == "ik_max_x" else [True, False, True, False])
    poses = set()
    for frame in (*FRAMES, 3, 11):
        go_to(frame)
        assert judge.broken() == {}
        poses.add(round(bend_of_knee(rig), 3))
    assert len(poses) > 1


def lock_knee(shin: bpy.types.PoseBone) -> None:
    shin.lock_ik_x = shin.lock_ik_z = True


def limit_knee(shin: bpy.types.PoseBone) -> None:
    for axis in "xz":
        set_range(shin, axis, -0.3, 0.3)


def narrow_cone(shin: bpy.types.PoseBone) -> None:
    shin.analytic_ik_use_cone, shin.analytic_ik_cone = True, 0.5


def keep_bent(shin: bpy.types.PoseBone) -> None:
    shin.lock_ik_z = shin.lock_ik_y = True
    shin.analytic_ik_use_min_bend, shin.analytic_ik_min_bend = True, 2.6


@pytest.mark.parametrize("change", [lock_knee, limit_knee, narrow_cone, keep_bent])
def test_a_limit_that_changes_is_followed_at_once(change):
    rig, judge = swinging_leg()
    assert rig.missed() < EXACT
    before = bend_of_knee(rig)
    change(rig.tip)
    update()
    assert judge.broken() == {}
    assert abs(bend_of_knee(rig) - before) > 0.05
    assert solved_limb().outcome is Outcome.LIMITED
    for axis in "xyz":
        setattr(rig.tip, f"lock_ik_{axis}", False)
        setattr(rig.tip, f"use_ik_limit_{axis}", False)
    rig.tip.analytic_ik_use_cone = rig.tip.analytic_ik_use_min_bend = False
    assert rig.missed() < EXACT


# Limits that are none


def cone_against_hinge(shin: bpy.types.PoseBone) -> tuple[str, ...]:
    # In the rest pose the shin is bent by more than that already, and its hinge lets it go no way back.
    lock_all(shin)
    shin.analytic_ik_use_cone, shin.analytic_ik_cone = True, 0.1
    return "limits of bone 'shin'", "max bend", "Widen"


def cone_against_swing(shin: bpy.types.PoseBone) -> tuple[str, ...]:
    for axis in "xz":
        set_range(shin, axis, -0.5, 0.5)
    shin.analytic_ik_use_cone, shin.analytic_ik_cone = True, 0.1
    return "limits of bone 'shin'", "max bend", "Widen"


def bent_more_than_it_can(shin: bpy.types.PoseBone) -> tuple[str, ...]:
    shin.lock_ik_y = shin.lock_ik_z = True
    set_range(shin, "x", -0.5, 0.5)
    shin.analytic_ik_use_min_bend, shin.analytic_ik_min_bend = True, 2.0
    return "limits of bone 'shin'", "min bend"


def lock_all(shin: bpy.types.PoseBone) -> None:
    shin.lock_ik_x = shin.lock_ik_y = shin.lock_ik_z = True


@pytest.mark.parametrize("spoil", [cone_against_hinge, cone_against_swing, bent_more_than_it_can])
def test_limits_that_leave_nothing_are_told_and_the_fk_pose_comes_back(spoil):
    rig = leg()
    fk = pose_values(rig.ob)
    rig.enable()
    assert pose_values(rig.ob) != fk
    parts = spoil(rig.tip)
    update()
    sentence = problem(rig)
    assert sentence.startswith("Bone 'shin':")
    assert all(part in sentence for part in parts)
    assert pose_values(rig.ob) == fk
    go_to(7)
    assert pose_values(rig.ob) == fk
    done = solve_scene(bpy.context.evaluated_depsgraph_get(), frame_changed=False)
    assert list(map(str, done.errors.values())) == [sentence]
