"""The flip radar: beside brute force on the scene that Blender evaluates, and on scenes whose flags are known."""

from itertools import pairwise
from math import atan2, pi, radians, sin

import bpy
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_addon.bake import chains_of, check
from ik_addon.bake.report import ALIGNED, EXTENDED, FLIPPED, OTHER_SIDE

from ..rig.rigs import (
    BoneSpec,
    Control,
    Rig,
    across,
    evaluated_copy,
    leg,
    new_armature,
    new_empty,
    pole_point,
    random_rig,
    random_unit,
    reach,
)
from ..scenes import go_to

KINDS = ("aligned_frames", "straight_frames", "flipped_frames")


def expanded(chain: dict, step: int = 1) -> dict[str, list[int]]:
    """The flagged frames one by one."""
    return {kind: [frame for a, b in chain[kind] for frame in range(a, b + 1, step)] for kind in KINDS}


def flags(rig: Rig, frames: range) -> dict[str, list[int]]:
    """What a check tells of the only chain of an armature."""
    [chain] = check(bpy.context, chains_of([rig.ob]), frames)["files"][0]["chains"]
    return expanded(chain, frames.step)


# Brute force


def seen(rig: Rig, frames: range) -> dict[int, tuple[list[Vector], Vector, Vector | None]]:
    """Joints, target and pole from the root at each frame, turned as the root's parent, as Blender evaluates them."""
    found = {}
    for frame in frames:
        go_to(frame)
        joints, parent = rig.joints(), evaluated_copy(rig.ob).pose.bones[rig.bones[0]].parent
        turn = parent.matrix.to_3x3() if parent else Quaternion().to_matrix()
        turn = (
            (turn * (1.0 if turn.determinant() > 0.0 else -1.0)).normalized().to_quaternion().normalized().conjugated()
        )
        pole = turn @ (rig.to_armature(rig.pole) - joints[0]) if rig.pole else None
        target = turn @ (rig.to_armature(rig.target) - joints[0])
        found[frame] = [turn @ (joint - joints[0]) for joint in joints], target, pole
    return found


def swivel(before: list[Vector], now: list[Vector]) -> float:
    """The turn about the line from root to tip that brings a limb's joints closest to others: tried out by degrees."""
    way = before[-1].rotation_difference(now[-1])
    axis = now[-1].normalized()
    a, b = ([across(joint, now[-1]) for joint in joints[1:-1]] for joints in ([way @ each for each in before], now))

    def apart(angle: float) -> float:
        turn = Quaternion(axis, angle)
        return sum((turn @ u - v).length_squared for u, v in zip(a, b, strict=True))

    coarse = min((radians(degree) for degree in range(-180, 181)), key=apart)
    return abs(min((coarse + radians(part / 50.0) for part in range(-50, 51)), key=apart))


def brute_force(rig: Rig, frames: range, slack: float) -> dict[str, set[int]]:
    """The frames to be flagged. slack: by this part the limits are wider; below 0, narrower."""
    found: dict[str, set[int]] = {kind: set() for kind in KINDS}
    before = None
    for frame, (joints, target, pole) in seen(rig, frames).items():
        length = sum((b - a).length for a, b in pairwise(joints))
        if pole is not None and min(target.angle(pole), pi - target.angle(pole)) < ALIGNED * (1.0 + slack):
            found[KINDS[0]].add(frame)
        if joints[-1].length > length * (1.0 - (1.0 - EXTENDED) * (1.0 + slack)):
            found[KINDS[1]].add(frame)
        off_line = sum(across(joint, joints[-1]).length_squared for joint in joints[1:-1]) ** 0.5
        if min(off_line, joints[-1].length) < 1e-3 * length * (1.0 - slack):
            continue
        if before is not None:
            limit = min(FLIPPED * (frame - before[0]), OTHER_SIDE) * (1.0 - slack)
            if swivel(before[1], joints) > limit:
                found[KINDS[2]].add(frame)
        before = frame, joints
    return found


def wandering(seed: int) -> Rig:
    """A rig of any kind whose target, and pole, wander widely over the frames 1 to 12."""
    rig = random_rig(seed, count=2 + seed % 3, with_pole=bool(seed % 2))
    root, far = rig.joints()[0], reach(rig.lengths())[1]
    for frame in (1, 5, 8, 12):
        rig.place_target(root + random_unit(rig.random) * far * rig.random.uniform(0.3, 1.3))
        if rig.pole:
            rig.place_pole(pole_point(rig, rig.to_armature(rig.target)))
        for control in filter(None, (rig.target, rig.pole)):
            moved = control.ob.pose.bones[control.bone] if control.bone else control.ob
            moved.keyframe_insert("location", frame=frame)
    rig.enable(softness=rig.random.choice([0.0, 0.1]))
    return rig


@pytest.mark.parametrize("seed", range(60))
def test_it_sees_what_brute_force_sees(seed):
    rig, frames = wandering(seed), range(1, 13)
    told = flags(rig, frames)
    surely, perhaps = brute_force(rig, frames, -0.02), brute_force(rig, frames, 0.02)
    for kind in KINDS:
        assert surely[kind] <= set(told[kind]) <= perhaps[kind], kind


# Known scenes


def planar_leg(bones: int = 2, steady: bool = True, **settings: object) -> Rig:
    """A leg of length 2 that hangs from a hip at the origin, its knee towards -Y, with a target and a pole."""
    points = [(0.0, -0.3 * sin(pi * k / bones), -2.0 * k / bones) for k in range(bones + 1)]
    length = sum((Vector(b) - Vector(a)).length for a, b in pairwise(points))
    points = [tuple(2.0 / length * value for value in point) for point in points]
    specs = [BoneSpec("hips", (0.0, 0.5, 0.0), (0.0, 0.0, 0.0))]
    specs += [
        BoneSpec(f"link {k}", a, b, f"link {k - 1}" if k else "hips", connect=bool(k))
        for k, (a, b) in enumerate(pairwise(points))
    ]
    ob = new_armature("leg", specs)
    rig = Rig(ob, [spec.name for spec in specs[1:]], Control(new_empty("foot")), Control(new_empty("knee")))
    rig.target.place((0.0, 0.0, -1.6))
    rig.pole.place((0.0, -3.0, -0.8))
    if not steady:
        rig.ob.pose.bones["link 0"].keyframe_insert("rotation_quaternion", frame=1)
    rig.enable(**settings)
    return rig


def play(control: Control, places: dict[int, tuple]) -> None:
    """Key a control at each of these frames, without anything between them."""
    for frame, place in places.items():
        control.ob.location = place
        control.ob.keyframe_insert("location", frame=frame)
    go_to(1)


BOTH_WAYS = pytest.mark.parametrize("steady", [True, False])
BONES = pytest.mark.parametrize("bones", [2, 3, 7])
NOTHING: dict[str, list[int]] = {kind: [] for kind in KINDS}


@BOTH_WAYS
def test_a_leg_that_holds_its_pose_out_of_reach_does_not_follow_its_pole(steady):
    rig = planar_leg(steady=steady, reach="HOLD")
    play(rig.pole, {1: (0.0, 0.0, -3.0)})
    play(rig.target, {frame: (0.0, 0.0, -2.5 if frame > 3 else -1.5) for frame in range(1, 7)})
    assert flags(rig, range(1, 7))["aligned_frames"] == [1, 2, 3]


@BOTH_WAYS
@pytest.mark.parametrize("influence", [0.0, 1.0])
def test_a_leg_that_the_animator_has_straightened_is_no_warning(influence, steady):
    rig = planar_leg(steady=steady, influence=influence)
    straighten = -rig.ob.pose.bones["link 0"].vector.angle(rig.ob.pose.bones["link 1"].vector)
    knee = rig.ob.pose.bones["link 1"]
    axis = knee.matrix.to_3x3().inverted() @ rig.ob.pose.bones["link 0"].vector.cross(knee.vector)
    knee.rotation_quaternion = Quaternion(axis, straighten)
    if not steady:
        knee.keyframe_insert("rotation_quaternion", frame=1)
    play(rig.target, {1: (0.0, 0.0, -2.5)})
    assert flags(rig, range(1, 3))["straight_frames"] == ([1, 2] if influence else [])


@pytest.mark.some(3)
@BOTH_WAYS
@BONES
def test_a_leg_that_leaves_the_straight_on_the_other_side_has_flipped_there(bones, steady):
    rig = planar_leg(bones, steady)
    play(rig.target, {frame: (0.0, 0.0, -2.5 if 4 <= frame <= 6 else -1.5) for frame in range(1, 11)})
    play(rig.pole, {frame: (0.0, -3.0 if frame < 5 else 3.0, 0.0) for frame in range(1, 11)})
    assert flags(rig, range(1, 11)) == NOTHING | {"straight_frames": [4, 5, 6], "flipped_frames": [7]}


def test_at_wide_steps_the_other_side_is_a_flip_all_the_same():
    rig = planar_leg()
    play(rig.pole, {frame: (0.0, -3.0 if frame < 8 else 3.0, -0.8) for frame in range(1, 22)})
    assert flags(rig, range(1, 22, 5))["flipped_frames"] == [11]


def turn_character(rig: Rig) -> None:
    """The whole character turns by 50 degrees a frame, by a bone above, and walks; its controls go with it."""
    carrier = rig.ob.pose.bones["hips"]
    to_tail = carrier.bone.matrix_local @ Matrix.Translation((0.0, carrier.bone.length, 0.0))
    carrier.rotation_mode = "XYZ"
    for frame in range(1, 11):
        carrier.rotation_euler = (0.3 * frame, radians(50.0 * frame), 0.2 * frame)
        carrier.location = (0.4 * frame, 0.0, 0.0)
        for channel in ("rotation_euler", "location"):
            carrier.keyframe_insert(channel, frame=frame)
    for control in (rig.target, rig.pole):
        # Carried by a bone, an object is placed from its tail: here that is the origin.
        control.ob.parent, control.ob.parent_type, control.ob.parent_bone = rig.ob, "BONE", "hips"
        control.ob.matrix_parent_inverse = to_tail.inverted()
    go_to(1)


@pytest.mark.some(2)
@BOTH_WAYS
@BONES
def test_a_character_that_turns_and_walks_is_not_flagged(bones, steady):
    rig = planar_leg(bones, steady)
    turn_character(rig)
    turned = set()
    for frame in range(1, 11):
        go_to(frame)
        joints = rig.joints()
        turned.add(round(atan2(joints[1].x - joints[0].x, joints[1].y - joints[0].y), 1))
        assert rig.missed() < 1e-3
    assert len(turned) > 5
    assert flags(rig, range(1, 11)) == NOTHING


def test_a_chain_that_was_off_meanwhile_begins_anew():
    rig = planar_leg()
    for frame, switch in ((1, True), (4, False), (8, True)):
        rig.tip.analytic_ik_enabled = switch
        rig.tip.keyframe_insert("analytic_ik_enabled", frame=frame)
    play(rig.pole, {frame: (0.0, -3.0 if frame < 6 else 3.0, -0.8) for frame in range(1, 13)})
    assert flags(rig, range(1, 13)) == NOTHING


def test_a_single_bone_has_no_bend_but_its_pole_may_be_in_line():
    rig = leg()
    rig = Rig(rig.ob, ["thigh"], rig.target, Control(new_empty("pole", (0.0, -0.9, -2.8))))
    rig.enable()
    assert flags(rig, range(1, 4)) == NOTHING | {"aligned_frames": [1, 2, 3]}
