"""One pipeline: whatever a chain is read from, for one frame or for many, it comes to the same pose, and Blender to it.

In the space of the root's parent, where tracks live; distances are parts of the chain's length.
"""

from dataclasses import replace
from random import Random

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_addon.rig.blender.sampling import Sampler
from ik_addon.rig.live import handlers as live
from ik_addon.rig.model.limb_model import joints_of, posed
from ik_addon.rig.model.order import ChainName
from ik_addon.rig.pose.planned import asked_now
from ik_addon.rig.pose.reading import SceneReader
from ik_addon.rig.pose.solving import PlannedChain
from ik_addon.rig.pose.track_reading import TrackReader
from ik_addon.rig.pose.track_solving import Reading, channel_values, solve_tracks

from ..helpers.feet import follow, footed_leg, turn_target
from ..helpers.places import places_now
from .keys import any_rig, key, key_rotation
from .rigs import Rig, random_rotation, set_rotation, update

SAME = 1e-6
"""Between sources, and between one frame and many, beside what ROUNDING of its target does to the chain: near full
extension a knee moves by the root of that."""
ROUNDING = 1e-6
"""Of single precision, in which Blender evaluates where things are: part of a target's distance from the parent."""
FLAT = 3e-4
"""Of chains that keep to the least motion: at the least of a sum many poses are nearly as good."""
BLENDER = 2e-5
"""To the bones as Blender evaluates them: where parents have a scale it rounds more than single precision does."""
SINGLE = 2e-5
"""Of numbers of rotations and scales in single precision; near full extension a knee turns by the root of its."""
FRAMES = range(-1, 15, 3)
STATIONS = ((2, "swivel", (0.0, 0.8)), (3, "influence", (1.0, 0.4)), (5, "softness", (0.0, 0.2)))


def with_more_keys(seed: int) -> Rig:
    """A rig of any kind, some with keyed bones, keyed settings, a foot, stretch."""
    rig, random = any_rig(seed), Random(seed)
    if random.random() < 0.3:
        rig.tip.analytic_ik_reach = "STRETCH"
    if random.random() < 0.3:
        key_rotation(random, rig.ob.pose.bones[rig.bones[0]])
    for each, name, values in STATIONS:
        if random.random() < 1.0 / each:
            key(rig.tip, f"analytic_ik_{name}", [*values, *values])
    return rig


def joints_at(reading: Reading) -> np.ndarray:
    """Joints (frames, links + 1, 3) of a reading once it is solved."""
    pose = solve_tracks([reading])[0]
    rotations = np.where(pose.at_fk[:, None, None], reading.fk.rotations[:, reading.model.turned], pose.rotations)
    shown = posed(reading.model, reading.fk, rotations, np.where(pose.at_fk, 1.0, pose.stretches))
    return np.broadcast_to(joints_of(reading.model, shown), (reading.count, len(reading.model.links) + 1, 3))


def evaluated_joints(rig: Rig, chain: PlannedChain) -> np.ndarray:
    """The joints that Blender shows now, in the space of the root's parent."""
    bones = rig.ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    parent = chain.model.parent
    to_parent = np.linalg.inv(bones[parent].matrix) if parent else np.eye(4)
    heads = [bones[chain.model.bones[k]].matrix.translation for k in chain.model.links]
    tip = bones[chain.model.tip].matrix
    points = np.array([*heads, tip @ type(heads[0])(chain.model.end)])
    return points @ to_parent[:3, :3].T + to_parent[:3, 3]


def seen_now(rig: Rig, chain: PlannedChain) -> Reading:
    """The chain as it is read from what is evaluated now."""
    return TrackReader(places_now([(rig.ob, chain.model)]), 1).readings([(rig.ob, chain)])[0]


def rounded(reading: Reading, k: int, size: float) -> float:
    """How far the joints move at a frame, in parts of `size`, where the target is rounded."""
    points, targets = joints_at(reading), np.broadcast_to(reading.goal.targets, (reading.count, 3))
    shifts = ROUNDING * (size + np.abs(targets[k]).max()) * np.concatenate((np.eye(3), -np.eye(3)))
    moved = (joints_at(replace(reading, goal=replace(reading.goal, targets=targets + shift))) for shift in shifts)
    return max(np.linalg.norm(each[k] - points[k], axis=-1).max() for each in moved) / size


def worst_of(rig: Rig) -> dict[str, float] | None:
    """The largest distances between ways of reading the chain of a rig, less what rounding does; None: it is not
    planned."""
    plan, scene = live.plan_of(bpy.context), bpy.context.scene
    chain = plan.planned().get(ChainName(rig.ob.name_full, rig.tip.name))
    if chain is None or plan.reasons(scene)[ChainName(rig.ob.name_full, rig.tip.name)]:
        return None
    own, size = [(rig.ob, chain)], chain.chain.length
    many = TrackReader(Sampler(FRAMES), len(FRAMES)).readings(own)[0]
    if not isinstance(many, Reading):
        return None
    together = joints_at(many)
    worst = dict.fromkeys(("one frame", "evaluated", "Blender"), 0.0)

    def compare(what: str, points: np.ndarray, k: int) -> None:
        apart = np.linalg.norm(points - together[k], axis=-1).max() / size
        if apart > SAME and what == "evaluated":
            apart -= FLAT if chain.model.least_motion else rounded(many, k, size)
        worst[what] = max(worst[what], apart)

    for k, frame in enumerate(FRAMES):
        compare("one frame", joints_at(TrackReader(Sampler([frame]), 1).readings(own)[0])[0], k)
        scene.frame_set(frame)
        compare("Blender", evaluated_joints(rig, chain), k)
        compare("evaluated", joints_at(seen_now(rig, chain))[0], k)
    return worst


def check(seeds: range) -> None:
    planned, off = 0, {}
    for seed in seeds:
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        worst = worst_of(with_more_keys(seed))
        if worst is None:
            continue
        planned += 1
        if max(worst["one frame"], worst["evaluated"]) > SAME or worst["Blender"] > BLENDER:
            off[seed] = worst
    assert planned > len(seeds) // 3
    assert not off


def test_sampled_or_evaluated_one_frame_or_many_the_pose_is_the_same():
    check(range(30))


def test_without_arrays_it_is_the_pose_of_one_row():
    """Feet that follow, roll and blend, of chains that stretch: in each combination."""
    seen, off = set(), {}
    for seed in range(24):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        rig, random = footed_leg(toe=seed % 5 > 0), Random(seed)
        for bone in rig.ob.pose.bones:
            set_rotation(bone, random_rotation(random, 0.5))
        turn_target(rig, random_rotation(random, 1.0))
        reach, influence = ("CLAMP", "STRETCH")[seed % 2], (1.0, 0.4)[seed // 2 % 2]
        roll = (0.0, -0.5, 0.8)[seed // 4 % 3]
        follow(
            rig, reach=reach, stretch_max=2.0, influence=influence, foot_roll=roll, toe_angle=random.uniform(0.1, 0.9)
        )
        root = rig.joints()[0]
        rig.place_target(root + random.uniform(0.5, 1.3) * sum(rig.lengths()) * Vector((0.6, 0.0, -0.8)))
        update()
        chain = live.plan_of(bpy.context).planned().get(ChainName(rig.ob.name_full, rig.tip.name))
        assert chain is not None and chain.model.is_still, live.plan_of(bpy.context).unsteady
        reading = seen_now(rig, chain)
        in_arrays = channel_values([reading], solve_tracks([reading]))[1][0]
        reader = SceneReader(bpy.context.evaluated_depsgraph_get()).armature(rig.ob)
        alone = asked_now(reader, [chain])[0].values()
        seen.add((reach, influence, roll))
        apart = np.abs(alone - in_arrays).max()
        if apart > SINGLE:
            off[seed] = apart
    assert len(seen) == 12
    assert not off


@pytest.mark.deep
@pytest.mark.parametrize("first", range(30, 2030, 100))
def test_and_so_with_two_thousand_rigs(first):
    check(range(first, first + 100))
