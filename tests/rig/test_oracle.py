"""What the add-on shows is what a pass that reads and solves every chain whole comes to, in the pose that is shown."""

from dataclasses import replace
from random import Random

import bpy
import pytest
from mathutils import Vector

from ik_addon.rig.blender.rotations import quaternion_of
from ik_addon.rig.model.limb import end_in_tip
from ik_addon.solvers import Chain

from ..helpers.creature import Creature
from ..helpers.feet import follow, footed_leg, turn_target
from ..oracle.whole_pass import PosedLimb, solve_limb, solved_now
from .keys import any_rig, key, key_rotation
from .rigs import evaluated_copy, random_point, random_rotation, set_rotation, update

SAME = 2e-5
"""Of a chain's length, beside what the rounding of its target does to it: near full extension joints move by the root
of that."""
ROUNDING = 1e-6
"""Of single precision: part of the largest distance that a chain reads."""
FRAMES = (1, 4, 7)


def with_more(seed: int) -> None:
    """A rig of any kind, some with keyed bones, keyed settings, stretch, a roll of the tip's own."""
    rig, random = any_rig(seed), Random(seed)
    if random.random() < 0.3:
        rig.tip.analytic_ik_reach, rig.tip.analytic_ik_stretch_max = "STRETCH", random.choice((1.5, 100.0))
    if random.random() < 0.3:
        key_rotation(random, rig.ob.pose.bones[rig.bones[0]])
    for each, name, values in ((2, "swivel", (0.0, 0.8)), (3, "influence", (1.0, 0.4)), (5, "softness", (0.0, 0.2))):
        if random.random() < 1.0 / each:
            key(rig.tip, f"analytic_ik_{name}", [*values, *values])


def with_foot(seed: int) -> None:
    """A leg whose foot follows its target and may roll."""
    rig, random = footed_leg(toe=seed % 5 > 0), Random(seed)
    for bone in rig.ob.pose.bones:
        set_rotation(bone, random_rotation(random, 0.5))
        if random.random() < 0.2:
            bone.scale = [random.uniform(0.7, 1.4) for _ in "xyz"]
        if random.random() < 0.1:
            bone.bone.use_inherit_rotation = False
    turn_target(rig, random_rotation(random, 1.0))
    choice = random.choice
    follow(
        rig,
        reach=choice(("CLAMP", "STRETCH", "HOLD")),
        stretch_max=2.0,
        influence=choice((1.0, 0.4)),
        foot_roll=choice((0.0, -0.5, 0.8)),
        toe_angle=random.uniform(0.1, 0.9),
    )
    root = rig.joints()[0]
    rig.place_target(root + random.uniform(0.5, 1.3) * sum(rig.lengths()) * Vector((0.6, 0.0, -0.8)))


def with_body(seed: int) -> None:
    """A body on legs that follows them."""
    random = Random(seed)
    creature = Creature(random.choice((2, 4)), influence=random.choice((1.0, 0.5)))
    for leg in creature.legs:
        creature.step(leg, random_point(random, 0.0, 0.5))
    if random.random() < 0.3:
        creature.ob.pose.bones["root"].scale = (1.0, 1.3, 1.0)


def with_others(seed: int) -> None:
    """Legs of which one carries the target of another, or hangs on it."""
    random = Random(seed)
    creature = Creature(4, influence=random.choice((0.0, 0.0, 1.0)))
    first, *others = random.sample(creature.legs, len(creature.legs))
    for leg in creature.legs:
        creature.step(leg, random_point(random, 0.0, 0.5))
    carried = creature.targets[others[0]]
    place = carried.matrix_world.copy()
    carried.parent, carried.parent_type, carried.parent_bone = creature.ob, "BONE", f"shin.{first}"
    update()
    carried.matrix_world = place
    if random.random() < 0.5:
        key_rotation(random, creature.ob.pose.bones["root"])
    if random.random() < 0.3:
        creature.ob.scale = (1.0, 1.2, 0.9)


def farthest(points: list[Vector], others: list[Vector]) -> float:
    return max((a - b).length for a, b in zip(points, others, strict=True))


def rounded(posed: PosedLimb) -> float:
    """How far the joints of a solved chain may move where what it reads is rounded: target, pole and, without limits,
    the joints of its FK pose. Each coordinate is rounded by itself."""
    limb, joints = posed.limb, posed.limb.joints(posed.poses_armature)
    size = ROUNDING * (limb.chain.length + limb.target_armature.length + limb.root_armature.length)
    shifts = [sign * size * Vector(axis) for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1)) for sign in (1.0, -1.0)]
    controls = {name: getattr(limb, name) for name in ("target_armature", "pole_armature")}
    nudged = [
        [replace(limb, **{name: at + each}) for each in shifts] for name, at in controls.items() if at is not None
    ]
    if limb.chain.limits is None:
        for k, joint in enumerate(limb.chain.joints):
            before, after = limb.chain.joints[:k], limb.chain.joints[k + 1 :]
            chains = [Chain([*before, joint + each, *after], bend_normal=limb.chain.bend_normal) for each in shifts]
            nudged.append([replace(limb, chain=chain) for chain in chains])
    moved = [[solve_limb(each) for each in of_one] for of_one in nudged]
    far = [[farthest(each.limb.joints(each.poses_armature), joints) for each in of_one] for of_one in moved]
    return sum(max(pair) for of_one in far for pair in zip(of_one[::2], of_one[1::2], strict=True))


def apart() -> dict[str, float]:
    """By tips how far the joints that are shown lie from those that the oracle finds, in lengths of the chain, and foot
    and toe in their directions."""
    found = {}
    for chain, posed in solved_now().items():
        limb, shown = posed.limb, evaluated_copy(bpy.data.objects[chain.armature]).pose.bones
        own = [shown[reading.name].head for reading in limb.bones]
        own.append(shown[chain.tip].matrix @ end_in_tip(shown[chain.tip]))
        found[chain.tip] = farthest(own, limb.joints(posed.poses_armature)) / limb.chain.length
        if found[chain.tip] > SAME:
            found[chain.tip] -= rounded(posed) / limb.chain.length
        above = limb.bones[-1].last_pose(posed.poses_armature[-1])
        for end, raw in zip(limb.ends, posed.rotations[len(limb.bones) :], strict=True):
            above = end.reading.posed(quaternion_of(raw, end.reading.mode), above)
            turned = above.to_3x3().normalized() - shown[end.reading.name].matrix.to_3x3().normalized()
            found[end.reading.name] = max(column.length for column in turned.col)
    return found


BUILDS = [with_more, with_foot, with_body, with_others]


def check(build, seeds: range) -> None:
    off = {}
    for seed in seeds:
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        build(seed)
        for frame in FRAMES:
            bpy.context.scene.frame_set(frame)
            far = {tip: way for tip, way in apart().items() if way > SAME}
            if far:
                off[seed, frame] = far
    assert not off


@pytest.mark.parametrize("build", BUILDS)
def test_what_is_shown_is_what_the_oracle_finds(build):
    check(build, range(24))


@pytest.mark.deep
@pytest.mark.parametrize("build", BUILDS)
def test_ten_thousand_rigs_are_shown_as_the_oracle_finds_them(build):
    check(build, range(24, 2524))
