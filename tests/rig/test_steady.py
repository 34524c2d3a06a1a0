"""The numbers that are kept of a chain: solved from them, one frame or many, it is the chain that is read anew."""

from math import pi
from random import Random

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_addon.authoring.knees import limit_knees
from ik_addon.rig import live
from ik_addon.rig.channels import channel_of, quaternion_of, raw_values
from ik_addon.rig.sampling import Sampler
from ik_addon.rig.solving import solve_scene
from ik_addon.rig.steady import SteadyChain, Wishes, is_even
from ik_addon.rig.tracks import (
    OUTCOMES,
    EvaluatedPlaces,
    SeenPlaces,
    Track,
    TrackReader,
    errors_world,
    raw_rows,
    same_wishes,
    solve_tracks,
    track_joints,
)
from ik_addon.solvers import ChainError, Outcome

from ..scenes import go_to
from .keys import FRAMES, key, key_target
from .rigs import (
    ROTATION_MODES,
    Control,
    Rig,
    leg,
    new_empty,
    random_point,
    random_rig,
    random_rotation,
    random_unit,
    reach,
    reachable_point,
    set_rotation,
    update,
)

NEARLY = 1e-5
"""Between rotations, as quaternions; of a chain's length for points."""


def track_of(wishes: list[Wishes]) -> Track:
    """A track of wishes one by one, in a world that is the space of the root's parent."""
    first = wishes[0]
    return Track(
        len(wishes),
        np.array([wish.target for wish in wishes]),
        None if first.pole is None else np.array([wish.pole for wish in wishes]),
        None if first.orientation is None else np.array([wish.orientation for wish in wishes]),
        np.eye(3)[None],
    )


def steady_rig(seed: int, count: int = 2, **settings: object) -> Rig:
    """A live chain of any kind that stays steady, its target where it reaches."""
    rig = random_rig(seed, count)
    for name in rig.bones:
        bone = rig.ob.data.bones[name]
        bone.use_inherit_rotation = bone.use_local_location = True
        bone.inherit_scale = rig.random.choice(("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE"))
    for bone in rig.ob.pose.bones:
        bone.scale = [abs(value) for value in bone.scale]
    update()
    if rig.pole:
        rig.place_pole(rig.joints()[0] + random_point(rig.random, 1.0, 3.0))
    rig.place_target(reachable_point(rig))
    rig.enable(**settings)
    return rig


def kept(rig: Rig) -> SteadyChain:
    (chain,) = live.plan_of(bpy.context).steady().values()
    assert (chain.armature, chain.tip) == (rig.ob.name_full, rig.tip.name)
    return chain


def apart(a: Quaternion, b: Quaternion) -> float:
    return min((a - b).magnitude, (a + b).magnitude)


def settings_of_seed(random: Random) -> dict[str, object]:
    return {
        "swivel": random.choice((0.0, random.uniform(-pi, pi))),
        "flip": random.random() < 0.3,
        "softness": random.choice((0.0, 0.2)),
        "reach": random.choice(("CLAMP", "HOLD")),
        "least_motion": random.random() < 0.3,
    }


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(10))
def test_a_kept_chain_goes_where_the_chain_that_is_read_goes(seed, count):
    rig = steady_rig(seed, count, **settings_of_seed(Random(seed)))
    chain = kept(rig)
    near, far = reach(rig.lengths())
    root = rig.joints()[0]
    for part in (0.3, 0.6, 0.9, 1.3):
        rig.place_target(root + random_unit(rig.random) * (near + (far - near) * part))
        depsgraph = bpy.context.evaluated_depsgraph_get()
        (posed,) = solve_scene(depsgraph, False).limbs.values()
        rotations, outcome = chain.solve(EvaluatedPlaces(depsgraph).wishes(rig.ob, chain))
        assert outcome is posed.outcome
        for name, rotation, raw in zip(chain.bones, rotations, posed.rotations, strict=True):
            assert apart(rotation, quaternion_of(raw, rig.ob.pose.bones[name].rotation_mode)) < 5.0 * NEARLY
        for name, raw, wanted in zip(chain.bones, chain.raw(rotations, outcome), posed.rotations, strict=True):
            # Near its poles an Euler rotation has numbers that rounding moves far.
            if rig.ob.pose.bones[name].rotation_mode == "QUATERNION":
                assert raw == pytest.approx(wanted, abs=NEARLY)


@pytest.mark.parametrize("seed", range(30))
def test_a_kept_chain_with_a_knee_goes_where_the_chain_that_is_read_goes(seed):
    random = Random(seed)
    rig = steady_rig(seed, 2, **settings_of_seed(random), influence=random.choice((1.0, 1.0, 0.6)))
    limit_knees(bpy.context, [rig.tip], random.choice((0.03, 0.1)), random.uniform(0.8, 3.0))
    update()
    chain = kept(rig)
    assert chain.chain.limits is not None and not chain.is_pair
    near, far = reach(rig.lengths())
    root, outcomes = rig.joints()[0], set()
    for k in range(12):
        rig.place_target(root + random_unit(rig.random) * (near + (far - near) * 0.1 * (k + 1)))
        depsgraph = bpy.context.evaluated_depsgraph_get()
        (posed,) = solve_scene(depsgraph, False).limbs.values()
        rotations, outcome = chain.solve(EvaluatedPlaces(depsgraph).wishes(rig.ob, chain))
        assert outcome is posed.outcome
        outcomes.add(outcome)
        for name, rotation, raw in zip(chain.bones, rotations, posed.rotations, strict=True):
            if outcome is Outcome.REACHED or not chain.holds:
                assert apart(rotation, quaternion_of(raw, rig.ob.pose.bones[name].rotation_mode)) < 5.0 * NEARLY
    assert Outcome.REACHED in outcomes


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("seed", range(20, 30))
def test_over_many_frames_a_chain_is_solved_as_frame_by_frame(seed, count):
    random = Random(seed)
    rig = steady_rig(seed, count, influence=random.choice((1.0, 0.5)), **settings_of_seed(random))
    chain = kept(rig)
    length = chain.chain.length
    wishes = [
        Wishes(
            chain.root + random_point(random, 0.1, 1.3) * length,
            None if chain.goal.pole is None else chain.root + random_point(random, 0.5, 2.0) * length,
        )
        for _ in range(12)
    ]
    track = track_of(wishes)
    (solved,) = solve_tracks([chain], [track])
    assert solved.rotations.shape == (len(wishes), count, 4)
    for k, wish in enumerate(wishes):
        rotations, outcome = chain.solve(wish)
        assert OUTCOMES[int(solved.outcomes[k])] is outcome
        for own, wanted in zip(solved.rotations[k], rotations, strict=True):
            assert apart(Quaternion(own), wanted) < NEARLY


@pytest.mark.parametrize("seed", range(4))
def test_chains_solved_together_are_solved_as_each_alone(seed):
    random = Random(seed)
    chains, tracks = [], []
    for k in range(4):
        rig = leg(f"leg {k}", side=float(k))
        for bone in rig.ob.pose.bones:
            set_rotation(bone, random_rotation(random, 0.4))
        if k % 2:
            rig.pole = Control(new_empty(f"pole {k}", (k, -2.0, 1.0)))
        rig.enable(use_rotation=k == 2, swivel=0.3 * k)
    steady = live.plan_of(bpy.context).steady()
    assert len(steady) == 4
    for chain in steady.values():
        wishes = [
            Wishes(
                chain.root + random_point(random, 0.2, 2.2),
                None if chain.goal.pole is None else chain.root + random_point(random, 1.0, 3.0),
                random_rotation(random) if chain.held else None,
            )
            for _ in range(6)
        ]
        chains.append(chain)
        tracks.append(track_of(wishes))
    together = solve_tracks(chains, tracks)
    for chain, track, solved in zip(chains, tracks, together, strict=True):
        (alone,) = solve_tracks([chain], [track])
        assert np.abs(alone.rotations - solved.rotations).max() < 1e-12
        assert (alone.outcomes == solved.outcomes).all()
        assert solved.rotations.shape[1] == len(chain.bones) == (3 if chain.held else 2)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("seed", range(40, 50))
def test_where_things_are_is_the_same_sampled_and_evaluated(seed, count):
    rig = random_rig(seed, count)
    for name in rig.bones:
        bone = rig.ob.data.bones[name]
        bone.use_inherit_rotation, bone.use_local_location, bone.inherit_scale = True, True, "FULL"
    for bone in rig.ob.pose.bones:
        bone.scale = (1.0, 1.0, 1.0)
    update()
    key_target(rig)
    if rig.pole:
        rig.place_pole(rig.joints()[0] + random_point(rig.random, 1.0, 3.0))
    key(rig.ob, "rotation_euler", [random_rotation(rig.random, 1.0).to_euler() for _ in FRAMES])
    rig.enable()
    chain = kept(rig)
    frames = [-3, 1, 2.5, 7, 9, 30.25]
    (track,) = TrackReader(Sampler(frames), len(frames)).tracks([(rig.ob, chain)])
    (solved,) = solve_tracks([chain], [track])
    missed = errors_world([track], track_joints([chain], [solved.rotations]))[0]
    scale = max(abs(value) for value in rig.ob.matrix_world.to_scale())
    for k, frame in enumerate(frames):
        live.undo_post()
        go_to(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        assert same_wishes(track.at(k), EvaluatedPlaces(depsgraph).wishes(rig.ob, chain), chain.chain.length)
        seen = SeenPlaces([(rig.ob, chain)])
        seen.see(depsgraph)
        (own,) = TrackReader(seen, 1).tracks([(rig.ob, chain)])
        assert same_wishes(track.at(k), own.at(0), chain.chain.length)
        assert np.abs(track.to_world[k if len(track.to_world) > 1 else 0] - own.to_world[0]).max() < 1e-4
        blender = rig.to_world(rig.joints()[-1]) - rig.to_world(rig.to_armature(rig.target))
        assert missed[k] == pytest.approx(blender.length, abs=NEARLY * chain.chain.length * scale)


def test_of_two_wishes_all_is_compared():
    here = Wishes(Vector((1.0, 2.0, 3.0)), Vector((0.0, 1.0, 0.0)), Quaternion())
    assert same_wishes(here, here, 1.0)
    assert same_wishes(here, Wishes(here.target, here.pole, -here.orientation), 1.0)
    slightly = Vector((1e-4, 0.0, 0.0))
    assert not same_wishes(here, Wishes(here.target + slightly, here.pole, here.orientation), 1.0)
    assert not same_wishes(here, Wishes(here.target, here.pole + slightly, here.orientation), 1.0)
    assert not same_wishes(here, Wishes(here.target, here.pole, Quaternion((1.0, 1e-3, 0.0, 0.0))), 1.0)
    assert same_wishes(here, Wishes(here.target + slightly * 0.01, here.pole, here.orientation), 1.0)
    nowhere = Wishes(Vector((float("nan"), 0.0, 0.0)), here.pole, here.orientation)
    assert not same_wishes(here, nowhere, 1.0) and not same_wishes(nowhere, here, 1.0)


@pytest.mark.parametrize("seed", range(40))
def test_even_is_what_has_one_singular_value_and_no_mirror(seed):
    random = Random(seed)
    turn, size = random_rotation(random).to_matrix(), random.uniform(0.01, 100.0)
    factors = random.choice(([1.0] * 3, [1.0, 1.01, 1.0], [-1.0, 1.0, 1.0], [-1.0] * 3, [1.0, 1.0, 1.0 + 2e-6]))
    skewed = random_rotation(random).to_matrix() if random.random() < 0.5 else Matrix.Identity(3)
    matrix = turn @ Matrix.Diagonal([size * factor for factor in factors]) @ skewed
    values = np.linalg.svd(np.array(matrix))[1]
    even = values[0] / values[2] < 1.001 and np.linalg.det(np.array(matrix)) > 0.0
    assert is_even(Matrix.Translation(random_point(random, 0.0, 9.0)) @ matrix.to_4x4()) == even


@pytest.mark.parametrize("mode", ROTATION_MODES)
def test_the_numbers_of_many_frames_mean_their_rotations_and_are_near_the_fk_pose(mode):
    random = Random(mode)
    bone = leg().ob.pose.bones["shin"]
    bone.rotation_mode = mode
    set_rotation(bone, random_rotation(random))
    count = channel_of(mode)[1]
    values = list(raw_values(bone, mode))
    if mode not in ("QUATERNION", "AXIS_ANGLE"):
        values = [value + 4.0 * pi for value in values]
    fk = np.array([(*values, 0.0)[:4]])
    rotations = [random_rotation(random) * random.choice((-1.0, 1.0)) for _ in range(20)]
    rows = raw_rows(np.array(rotations)[:, None], [mode], fk)
    for row, rotation in zip(rows[:, 0], rotations, strict=True):
        assert apart(quaternion_of(row[:count], mode), rotation) < NEARLY
        assert (row[count:] == 0.0).all()
        if mode == "QUATERNION":
            assert row.dot(fk[0]) >= 0.0
        elif mode != "AXIS_ANGLE":
            assert np.abs(row[:3] - fk[0, :3]).max() < 1.5 * pi + 1e-4


def test_what_is_no_point_is_said():
    chain = kept(steady_rig(1))
    nowhere = Wishes(Vector((float("nan"), 0.0, 0.0)), chain.root + Vector((1.0, 1.0, 1.0)))
    with pytest.raises(ChainError):
        chain.solve(nowhere)
    with pytest.raises(ChainError):
        solve_tracks([chain], [track_of([nowhere])])


def test_out_of_reach_a_chain_that_holds_keeps_its_fk_pose_over_many_frames():
    rig = steady_rig(3, reach="HOLD")
    chain = kept(rig)
    pole = None if chain.goal.pole is None else chain.root + Vector((0.3, 1.0, 0.2)) * chain.chain.length
    far, near = (Wishes(chain.root + Vector((part * chain.chain.length, 0.0, 0.0)), pole) for part in (1.5, 0.8))
    (solved,) = solve_tracks([chain], [track_of([far, near, far])])
    assert [OUTCOMES[int(each)] for each in solved.outcomes] == [Outcome.TOO_FAR, Outcome.REACHED, Outcome.TOO_FAR]
    for k in (0, 2):
        for own, fk in zip(solved.rotations[k], chain.fk_rotations, strict=True):
            assert apart(Quaternion(own), fk) < 1e-6
    assert any(
        apart(Quaternion(own), fk) > 1e-3 for own, fk in zip(solved.rotations[1], chain.fk_rotations, strict=True)
    )
