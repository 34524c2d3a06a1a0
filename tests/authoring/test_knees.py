"""Two clicks make a knee: it bends one way only, never quite straight, and points to its pole."""

from math import pi, radians
from random import Random

import bpy
import pytest
from mathutils import Vector

from ..rig.joint_laws import angle
from ..rig.rigs import (
    BoneSpec,
    Control,
    Rig,
    across,
    editing,
    evaluated_copy,
    matrix_difference,
    new_armature,
    orientation,
    random_rotation,
    random_unit,
    update,
)
from ..scenes import enter, whole_state

LEAST, LARGEST = radians(2.0), radians(150.0)
HELD = 1e-4
KNEES = ("bent", "straight", "bent backwards")
TURNS = (0.0, 90.0, 180.0, 270.0)


def make_leg(seed: int, knee: str = "bent", turn: float = 0.0, side: float = 1.0, askew: float = 0.0) -> Rig:
    """A leg of random proportions in a random place; turn, askew: degrees by which the shin is rolled.

    Unrolled the shin bends about its X axis. side: -1.0 for its mirror image.
    """
    random = Random(seed)
    size = random.uniform(0.2, 3.0)
    forwards = {"bent": -1.0, "straight": 0.0, "bent backwards": 1.0}[knee]
    ankle = Vector((0.0, random.uniform(-0.2, 0.2), 0.0))
    hip = Vector((0.0, 0.0, 2.0))
    middle = hip.lerp(ankle, random.uniform(0.4, 0.6)) + Vector((0.0, forwards * random.uniform(0.1, 0.6), 0.0))
    toe = ankle + Vector((0.0, -0.4, -0.1))
    spots = [point * size for point in (Vector((0.2, 0.3, 2.0)), hip, middle, ankle, toe)]
    names = ["hips", "thigh", "shin", "foot"]
    ob = new_armature(
        "leg",
        [
            BoneSpec(name, head, tail, parent, connect=name != "hips" and name != "thigh")
            for name, head, tail, parent in zip(names, spots, spots[1:], ["", *names], strict=False)
        ],
    )
    with editing(ob) as edit_bones:
        for bone in edit_bones:
            # Z forwards, so that X is the axis of the knee.
            bone.align_roll((0.0, -1.0, 0.0))
        edit_bones["shin"].roll += radians(turn + askew) * side
    ob.rotation_euler = random_rotation(random).to_euler()
    ob.location = random_unit(random)
    ob.scale.x *= side
    update()
    return Rig(ob, ["thigh", "shin"], Control(ob), random=random)


def two_clicks(rig: Rig) -> None:
    enter("POSE", rig.ob, "shin")
    assert bpy.ops.analytic_ik.add() == {"FINISHED"}
    assert bpy.ops.analytic_ik.limit_knees() == {"FINISHED"}
    update()
    tip = rig.tip
    rig.target, rig.pole = Control(tip.analytic_ik_target), Control(tip.analytic_ik_pole_target)


class Knee:
    """Which way a leg's knee bends as it stands, and how it bends later."""

    def __init__(self, rig: Rig, axis: str, sign: float) -> None:
        self.rig, self.axis, self.sign = rig, axis, sign

    def bend(self) -> float:
        """The angle between the two bones, negative where it is bent to the other side."""
        hip, knee, ankle = self.rig.joints()
        thigh, shin = knee - hip, ankle - knee
        bend = angle(thigh, shin)
        normal = getattr(evaluated_copy(self.rig.ob).pose.bones["shin"], f"{self.axis}_axis")
        # Where the axis lies askew the knee never comes quite straight: there it bends to neither side.
        bent = thigh.normalized().cross(shin.normalized()).dot(normal) * self.sign
        return bend if bent >= -HELD else -bend


def knee_of(rig: Rig) -> tuple[str, float]:
    """The shin's axis about which the knee bends in the scene as it is, and the sign of that bend."""
    hip, knee, ankle = rig.joints()
    normal = (knee - hip).cross(ankle - knee)
    shin = evaluated_copy(rig.ob).pose.bones["shin"]
    axis = max("xz", key=lambda name: abs(normal.dot(getattr(shin, f"{name}_axis"))))
    return axis, 1.0 if normal.dot(getattr(shin, f"{axis}_axis")) >= 0.0 else -1.0


def targets(rig: Rig) -> list[Vector]:
    """Everywhere, in armature space: in reach, beyond it, almost on the root, on it, and straight through it."""
    root, length = rig.joints()[0], sum(rig.lengths())
    anywhere = [root + random_unit(rig.random) * length * rig.random.uniform(0.0, 1.5) for _ in range(10)]
    through = [root + random_unit(rig.random) * 1e-4 * length, root]
    along = rig.joints()[-1] - root
    return anywhere + through + [root + along * part for part in (3.0, 1.0, 0.2, -0.2, -1.0, -3.0)]


@pytest.mark.some(12)
@pytest.mark.parametrize("knee", KNEES)
@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("seed", range(4))
def test_a_knee_stays_within_its_range_wherever_the_target_goes(seed, turn, side, knee):
    rig = make_leg(seed, knee, turn, side)
    two_clicks(rig)
    axis, sign = knee_of(rig)
    judge = Knee(rig, axis, sign)
    for target in targets(rig):
        rig.place_target(target)
        assert LEAST - HELD <= judge.bend() <= LARGEST + HELD
        distance = (target - rig.joints()[0]).length
        if distance > 1e-2 * sum(rig.lengths()):
            assert_points_to_its_pole(rig)


def assert_points_to_its_pole(rig: Rig) -> None:
    root, knee, ankle = rig.joints()
    along = ankle - root
    bulge, pole = across(knee - root, along), across(rig.to_armature(rig.pole) - root, along)
    if min(bulge.length, pole.length) > 1e-3 * sum(rig.lengths()):
        assert angle(bulge, pole) < 1e-3


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("knee", ["bent", "bent backwards"])
@pytest.mark.parametrize("seed", range(10, 13))
def test_two_clicks_move_nothing(seed, knee, turn, side):
    rig = make_leg(seed, knee, turn, side)
    before = rig.matrices()
    two_clicks(rig)
    for now, then in zip(rig.matrices(), before, strict=True):
        assert (now.to_translation() - then.to_translation()).length < HELD * sum(rig.lengths())
        assert matrix_difference(orientation(now), orientation(then)) < HELD


def test_its_range_can_be_chosen():
    rig = make_leg(1)
    enter("POSE", rig.ob, "shin")
    bpy.ops.analytic_ik.add()
    bpy.ops.analytic_ik.limit_knees(min_bend=0.5, max_bend=1.0)
    rig.target = Control(rig.tip.analytic_ik_target)
    root, length = rig.joints()[0], sum(rig.lengths())
    for distance, expected in ((3.0, 0.5), (0.1, 1.0)):
        rig.place_target(root + random_unit(rig.random) * length * distance)
        hip, knee, ankle = rig.joints()
        assert angle(knee - hip, ankle - knee) == pytest.approx(expected, abs=HELD)


def test_the_bones_own_ik_locks_and_limits_say_it(capfd):
    rig = make_leg(2)
    two_clicks(rig)
    shin, thigh = rig.ob.pose.bones["shin"], rig.ob.pose.bones["thigh"]
    assert (shin.lock_ik_x, shin.lock_ik_y, shin.lock_ik_z) == (False, True, True)
    assert shin.use_ik_limit_x
    assert shin.analytic_ik_use_min_bend
    assert shin.analytic_ik_min_bend == pytest.approx(LEAST)
    assert not (thigh.lock_ik_x or thigh.lock_ik_y or thigh.lock_ik_z or thigh.use_ik_limit_x)
    assert "Limited 'shin' (around its X axis)" in capfd.readouterr().out


@pytest.mark.parametrize("askew", [0.0, 10.0, 14.0, 20.0, 40.0, -30.0])
def test_a_bone_whose_axis_lies_askew_is_told_and_keeps_its_limits(askew, capfd):
    rig = make_leg(3, "bent", askew=askew)
    two_clicks(rig)
    warned = f"its X axis is {abs(askew):.0f}° off the axis that the limb bends around" in capfd.readouterr().out
    assert warned is (abs(askew) > 15.0)
    axis, sign = knee_of(rig)
    judge = Knee(rig, axis, sign)
    for target in targets(rig):
        rig.place_target(target)
        assert LEAST - HELD <= judge.bend() <= pi


def test_the_hock_of_a_hind_leg_bends_the_other_way_than_its_knee():
    ob = new_armature(
        "hind leg",
        [
            BoneSpec("femur", (0.0, 0.0, 3.0), (0.0, -0.5, 2.0)),
            BoneSpec("tibia", (0.0, -0.5, 2.0), (0.0, 0.4, 1.0), "femur", connect=True),
            BoneSpec("hock", (0.0, 0.4, 1.0), (0.0, 0.1, 0.0), "tibia", connect=True),
        ],
    )
    rig = Rig(ob, ["femur", "tibia", "hock"], Control(ob))
    before = rig.matrices()
    enter("POSE", ob, "hock")
    bpy.ops.analytic_ik.add(chain_count=3)
    bpy.ops.analytic_ik.limit_knees()
    update()
    assert all(matrix_difference(now, then) < HELD for now, then in zip(rig.matrices(), before, strict=True))
    rig.target = Control(rig.tip.analytic_ik_target)
    for target in targets(rig):
        rig.place_target(target)
        hip, knee, ankle, toe = rig.joints()
        femur, tibia, hock = knee - hip, ankle - knee, toe - ankle
        side = evaluated_copy(ob).pose.bones["tibia"].x_axis
        assert femur.cross(tibia).dot(side) * tibia.cross(hock).dot(side) < 0.0
        assert min(angle(femur, tibia), angle(tibia, hock)) > LEAST - HELD


def test_all_selected_tips_are_limited():
    rig = make_leg(4)
    with editing(rig.ob) as edit_bones:
        copies = {}
        for name in ("thigh", "shin"):
            copy = edit_bones.new(f"other {name}")
            copy.head, copy.tail, copy.roll = (getattr(edit_bones[name], key) for key in ("head", "tail", "roll"))
            copy.parent = copies.get("thigh", edit_bones["hips"])
            copies[name] = copy
    for name in ("shin", "other shin"):
        enter("POSE", rig.ob, name)
        bpy.ops.analytic_ik.add()
    enter("POSE", rig.ob, "shin", "other shin")
    assert bpy.ops.analytic_ik.limit_knees() == {"FINISHED"}
    assert all(rig.ob.pose.bones[name].use_ik_limit_x for name in ("shin", "other shin"))
    # And nothing of the first is changed where the second is no knee.
    limits = {"min_bend": 0.1, "max_bend": 0.2}
    rig.ob.pose.bones["other shin"].analytic_ik_chain_count = 1
    for order in (("shin", "other shin"), ("other shin", "shin")):
        enter("POSE", rig.ob, *order)
        with pytest.raises(RuntimeError, match="Bone 'other shin': its chain has one bone and so no knee"):
            bpy.ops.analytic_ik.limit_knees(**limits)
        assert rig.tip.analytic_ik_min_bend == pytest.approx(LEAST)


def test_limits_that_left_it_nothing_are_cured_by_it():
    rig = make_leg(5)
    two_clicks(rig)
    rig.tip.analytic_ik_min_bend = 3.0
    assert bpy.ops.analytic_ik.limit_knees() == {"FINISHED"}
    assert rig.tip.analytic_ik_min_bend == pytest.approx(LEAST)


# Where it refuses


def state() -> dict:
    limits = {
        (ob.name, bone.name): [getattr(bone, name) for name in dir(bone) if "ik" in name and "analytic" not in name]
        for ob in bpy.data.objects
        if ob.pose
        for bone in ob.pose.bones
    }
    return {"limits": [str(value) for value in limits.items()], **whole_state()}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"min_bend": 1.0, "max_bend": 0.5}, "Bone 'shin': the min bend is not smaller than the max bend"),
        ({"min_bend": 1.0, "max_bend": 1.0}, "Bone 'shin': the min bend is not smaller than the max bend"),
    ],
)
def test_a_range_that_is_none_is_refused(options, said):
    rig = make_leg(6)
    enter("POSE", rig.ob, "shin")
    bpy.ops.analytic_ik.add()
    before = state()
    with pytest.raises(RuntimeError, match=said):
        bpy.ops.analytic_ik.limit_knees(**options)
    assert state() == before
