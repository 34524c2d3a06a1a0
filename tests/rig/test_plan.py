"""However a chain is solved: before the frame, after it or read anew, the pose is the same, whatever changes."""

from collections.abc import Iterable
from random import Random

import bpy
import pytest
from mathutils import Matrix, Vector

from ik_addon.rig.live import armature_plan
from ik_addon.rig.live import handlers as live
from ik_addon.rig.live import state as live_state
from ik_addon.rig.model.order import ChainName
from ik_addon.rig.pose.solving import PlannedChain, solve_scene

from ..changes import AFTER, AHEAD, CHANGES, EVERY, SMOOTH, VARIES, Change, constrained_target, walking
from ..helpers.handling import handling
from ..scenes import apart, go_to, pose_of
from .keys import FRAMES, any_rig, curves_in, fcurves, key, key_rotation
from .rigs import (
    ROTATION_MODES,
    BoneSpec,
    Control,
    Rig,
    editing,
    leg,
    make_chain,
    new_armature,
    new_empty,
    random_point,
    random_rotation,
    set_rotation,
    update,
)

SAME = 5e-6
"""Between two ways of solving: of the chain's length, and of matrix elements."""
NEARLY = 1e-5
"""Likewise of chains of any kind, some of which come near half a turn or full extension: there rounding counts more."""
EXACT = 1e-5
"""From the tip to its target, of the chain's length."""
WALK = (1, 2, 3, 4, 5, 6, 7, 8)
"""Frames enough for every comparison at first, and for a block of frames to be kept."""
JUMPS = (9, 4, 5, 7.5, -3, -4, 40, 100, 101, 100.25, 12, 13, 12, 11, 0, -200)
BETWEEN = (7.5, 6.25, -0.75, 7.5, 40, -30, 3.125, 3, 60, 61)
"""Fractions of frames, and blocks of frames that are new after them."""


@pytest.fixture(autouse=True)
def no_complaint(capsys):
    """No handler fails, in any of these tests."""
    live.undo_post()
    yield
    assert "Analytic IK" not in capsys.readouterr().out


def way(rig: Rig) -> str:
    return live_state.way_of(bpy.context.scene, ChainName(rig.ob.name_full, rig.tip.name))


def read_anew(frame: float) -> None:
    """Go to a frame, and let the pass that reads everything solve its chains: no plan has a part in it."""
    with live.paused():
        go_to(frame)
        solve_scene(bpy.context.evaluated_depsgraph_get(), True)
        update()


def poses_at(frames: Iterable[float], *objects: bpy.types.Object) -> list[dict[str, Matrix]]:
    found = []
    for frame in frames:
        go_to(frame)
        found += [pose_of(ob) for ob in objects]
    return found


def poses_read_anew(frames: Iterable[float], *objects: bpy.types.Object) -> list[dict[str, Matrix]]:
    found = []
    for frame in frames:
        read_anew(frame)
        found += [pose_of(ob) for ob in objects]
    return found


def assert_played_as_read_anew(
    frames: Iterable[float], rig: Rig, *others: bpy.types.Object, same: float = SAME
) -> None:
    frames = list(frames)
    played = poses_at(frames, rig.ob, *others)
    expected = poses_read_anew(frames, rig.ob, *others)
    length = sum(rig.lengths())
    each = [frame for frame in frames for _ in (rig.ob, *others)]
    differences = {f: apart(a, b, length) for f, a, b in zip(each, played, expected, strict=True)}
    assert max(differences.values()) < same, differences


def on_its_way(keyed: bool = False) -> Rig:
    """The leg of the catalog, after some frames."""
    rig = walking(keyed)
    for frame in WALK:
        go_to(frame)
    assert way(rig) == AHEAD
    return rig


# Laws over rigs of any kind


ways_seen: list[str] = []


ON_EDGE = {29}
"""Seeds of chains with a frame at which a target moved by a millionth of their length moves a bone by 5e-4 of it."""


HALF_TURNS = {56}
"""Seeds of chains of which a link turns nearly half round, where single precision tells the axis less well."""


@pytest.mark.parametrize("seed", sorted(set(range(60)) - ON_EDGE))
def test_any_chain_has_the_pose_that_reading_everything_gives(seed):
    rig = any_rig(seed)
    go_to(1)
    go_to(2)
    ways_seen.append(way(rig).partition(" (")[0])
    random = Random(seed)
    frames = [*range(3, 13), *range(14, 6, -1), *(random.randint(-40, 60) for _ in range(6)), 5]
    assert_played_as_read_anew(frames, rig, same=5.0 * NEARLY if seed in HALF_TURNS else NEARLY)


def test_any_chain_between_two_frames_too():
    for seed in range(12):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        rig = any_rig(seed)
        for frame in WALK:
            go_to(frame)
        assert_played_as_read_anew(BETWEEN, rig, same=NEARLY)


def test_the_rigs_above_were_solved_in_more_than_one_way():
    # A quick run sees a few of them.
    assert {AHEAD, EVERY} <= {*ways_seen} or len(ways_seen) < 20


@pytest.mark.some(12)
@pytest.mark.parametrize("pole", [False, True])
@pytest.mark.parametrize("influence", [1.0, 0.4])
@pytest.mark.parametrize("kind", ["empty", "bone", "parented empty"])
@pytest.mark.parametrize("seed", range(3))
def test_a_foot_that_follows_its_target_too(seed, kind, influence, pole):
    rig = following(seed, kind)
    if pole:
        rig.pole = Control(new_empty("pole", (0.3, -3.0, 1.0)))
    rig.enable(influence=influence, use_rotation=True)
    go_to(1)
    go_to(2)
    assert way(rig).startswith(AHEAD)
    assert_played_as_read_anew([*range(3, 10), *JUMPS], rig)


def following(seed: int, kind: str) -> Rig:
    """A leg of any rotation modes whose target moves and turns."""
    random = Random(seed)
    rig = leg()
    for bone in rig.ob.pose.bones:
        bone.rotation_mode = random.choice(ROTATION_MODES)
        set_rotation(bone, random_rotation(random, 0.3))
    if kind == "bone":
        with editing(rig.ob) as bones:
            control = bones.new("control")
            control.head, control.tail = (0.0, 0.0, 0.0), (0.0, -0.3, 0.0)
        rig.target = Control(rig.ob, "control")
    if kind == "parented empty":
        rig.target.ob.parent = new_empty("carrier", (0.1, 0.0, 0.0))
        key(rig.target.ob.parent, "rotation_euler", [(0.1 * k, 0.0, -0.2 * k) for k in range(4)])
    moved = rig.ob.pose.bones["control"] if kind == "bone" else rig.target.ob
    key(moved, "location", [Vector(place) + random_point(random, 0.0, 0.1) for place in SMOOTH])
    if kind == "bone":
        key_rotation(random, moved)
    else:
        key(moved, "rotation_euler", [random_rotation(random, 1.0).to_euler() for _ in FRAMES])
    return rig


def test_many_chains_on_one_armature_of_all_ways():
    """One solved before the frame, one after it, one read anew, one whose switch is keyed, and two with other keys."""
    specs = []
    for k in range(6):
        specs += [
            BoneSpec(f"thigh {k}", (k, 0.0, 2.0), (k, -0.2, 1.0)),
            BoneSpec(f"shin {k}", (k, -0.2, 1.0), (k, 0.0, 0.0), f"thigh {k}", connect=True),
        ]
    ob = new_armature("spider", specs)
    for k in range(6):
        target = new_empty(f"target {k}")
        key(target, "location", [Vector(place) + Vector((k, 0.0, 0.1 * k)) for place in SMOOTH])
        make_chain(ob.pose.bones[f"shin {k}"], Control(target))
        ob.pose.bones[f"thigh {k}"].rotation_mode = ROTATION_MODES[k % 4]
    bpy.data.objects["target 1"].constraints.new("LIMIT_LOCATION").use_min_x = True
    ob.data.bones["shin 2"].use_local_location = False
    key(ob.pose.bones["shin 3"], "analytic_ik_enabled", [True, False, True, False])
    key(ob.pose.bones["thigh 4"], "location", [(0.0, 0.0, 0.1 * k) for k in range(4)])
    key_rotation(Random(1), ob.pose.bones["thigh 5"])
    for frame in WALK:
        go_to(frame)
    said = [live_state.way_of(bpy.context.scene, ChainName("spider", f"shin {k}")).partition(" (")[0] for k in range(6)]
    assert said == [AHEAD, AFTER, EVERY, AFTER, AHEAD, AHEAD]
    assert_played_as_read_anew([*range(9, 14), *JUMPS, 1, 2, 3], Rig(ob, ["thigh 0", "shin 0"], Control(ob)))


def two_keyed_legs() -> Rig:
    """Legs on one armature, whose own bones have keys; the rig is that of the first."""
    specs = []
    for k in range(2):
        specs += [
            BoneSpec(f"thigh {k}", (k, 0.0, 2.0), (k, -0.2, 1.0)),
            BoneSpec(f"shin {k}", (k, -0.2, 1.0), (k, 0.0, 0.0), f"thigh {k}", connect=True),
        ]
    ob = new_armature("legs", specs)
    for k in range(2):
        target = new_empty(f"target {k}")
        key(target, "location", [Vector(place) + Vector((k, 0.0, 0.0)) for place in SMOOTH])
        make_chain(ob.pose.bones[f"shin {k}"], Control(target))
        for name in ("thigh", "shin"):
            key_rotation(Random(k), ob.pose.bones[f"{name} {k}"])
    for frame in WALK:
        go_to(frame)
    return Rig(ob, ["thigh 0", "shin 0"], Control(bpy.data.objects["target 0"]))


@pytest.mark.parametrize("other", ["off", "constrained"])
def test_keys_of_a_chain_that_is_written_no_more_are_played_beside_one_that_is(other):
    rig = two_keyed_legs()
    assert way(rig) == AHEAD
    if other == "off":
        rig.tip.analytic_ik_enabled = False
    else:
        rig.target.ob.constraints.new("LIMIT_LOCATION")
    update()
    assert_played_as_read_anew([*range(9, 14), *JUMPS, 1, 2, 3], rig)


# The catalog


def keyed_or_not(change: Change) -> list[bool]:
    return [True] if change.keyed else [False, True]


@pytest.mark.parametrize(
    ("change", "keyed", "updated"),
    [
        pytest.param(
            change, keyed, updated, marks=[] if keyed == change.keyed and updated == bool(k % 2) else pytest.mark.deep
        )
        for k, change in enumerate(CHANGES.values())
        for keyed in keyed_or_not(change)
        for updated in (False, True)
    ],
    ids=str,
)
def test_a_change_is_heeded_at_the_very_next_frame(change, keyed, updated):
    rig = on_its_way(keyed)
    frames = (9, 10, 3, 9)
    poses_at(frames, rig.ob)
    go_to(8)
    change(rig)
    if updated:
        update()
    if updated and not keyed and str(change).endswith("_set"):
        # What keys say is seen at the next frame; a setting in that very update.
        here = pose_of(rig.ob)
        read_anew(8)
        assert apart(here, pose_of(rig.ob), 2.0) < SAME
    played = poses_at(frames, rig.ob)
    expected = poses_read_anew(frames, rig.ob)
    assert change.drifts or max(apart(a, b, 2.0) for a, b in zip(played, expected, strict=True)) < SAME
    others = [ob for ob in bpy.data.objects if ob.type == "ARMATURE" and ob.pose.bones and ob != rig.ob]
    if not change.drifts:
        assert_played_as_read_anew((11, 12, 2, 7.5, -20, 100.25, 40, 12), rig, *others)
    if keyed == change.keyed:
        go_to(4)
        go_to(5)
        assert_is_solved_as_expected(rig, change)
    for action in bpy.data.actions:
        # What is silent while chains are written is so on copies alone.
        assert str(change) in ("curve_muted", "fk_curves_muted") or not any(curve.mute for curve in curves_in(action))


def assert_is_solved_as_expected(rig: Rig, change: Change) -> None:
    if change.live != VARIES:
        said = way(rig)
        assert said.startswith(change.live) and change.because in said


@pytest.mark.some(40)
@pytest.mark.parametrize("change", CHANGES.values(), ids=str)
def test_a_chain_that_was_so_from_the_start_is_solved_the_same_way(change):
    rig = walking(change.keyed)
    change(rig)
    go_to(1)
    go_to(2)
    assert_is_solved_as_expected(rig, change)
    if not change.drifts:
        assert_played_as_read_anew((3, 4, 9, 10, 100, -2), rig)


# Other handlers


def place_at(frame: float) -> Vector:
    """Where the handlers below put things."""
    return Vector((0.1, 0.1 * (frame % 7) - 0.3, 0.4 + 0.03 * (frame % 11)))


@pytest.mark.parametrize("first", [False, True])
def test_what_a_handler_moves_after_the_frame_is_followed_in_that_frame(first):
    rig = on_its_way()
    rig.target.ob.animation_data_clear()
    rig.target.ob.parent = None
    update()

    def move(scene, *_):
        rig.target.ob.location = place_at(scene.frame_current)

    with handling("frame_change_post", move, first):
        for frame in (6, 7, 8, 9, 10, 11, 30, 31, 12):
            go_to(frame)
            assert rig.missed() < EXACT, frame
    for frame in WALK:
        go_to(frame)
        assert rig.missed() < EXACT, frame


# Nothing else


@pytest.mark.parametrize("moves", [False, True])
def test_frames_tag_nothing(moves):
    rig = leg()
    if moves:
        key(rig.target.ob, "location", SMOOTH)
    rig.enable()
    tagged = []

    def look(*_):
        tagged.append(bpy.context.view_layer.depsgraph.id_type_updated("OBJECT"))

    for frame in WALK:
        go_to(frame)
    with handling("frame_change_pre", look):
        for frame in (9, 10, 7, 6):
            go_to(frame)
    assert not any(tagged)


# Frames solved ahead


def test_frames_solved_once_are_not_solved_again(monkeypatch):
    rig = on_its_way()
    counted = []
    solve_each = armature_plan.solve_each
    monkeypatch.setattr(armature_plan, "solve_each", lambda *args: counted.append(1) or solve_each(*args))
    frames = [*range(1, 13), *range(-20, 40)]
    for frame in frames:
        go_to(frame)
    assert 1 <= len(counted) <= 6
    counted.clear()
    for frame in (*frames, *reversed(frames), 30, -7, 3):
        go_to(frame)
        assert rig.missed() < EXACT
    assert counted == []
    for _ in range(2):
        go_to(3.5)
    assert len(counted) == 1


@pytest.mark.parametrize(
    "frames",
    [
        [*range(1, 40)] * 2,
        [*range(40, -40, -1)],
        [-1, 0, 1, -16, -17, -15, 16, 15, 17, -32, -31, 255, 256, 257, -256, -257],
        [0.5, 1.5, -0.5, -1.5, 15.5, 16.5, -16.5, 0.25, 0.75, 3.125],
        BETWEEN,
        [1048574, 3, -1048573, 3],
    ],
)
def test_playback_of_any_kind_is_as_read_anew(frames):
    rig = on_its_way()
    # All the way, so that no two frames are alike.
    for curve in fcurves(rig.target.ob):
        curve.modifiers.new("CYCLES")
    rig.target.ob.animation_data.action.update_tag()
    rig.target.ob.update_tag()
    go_to(1)
    go_to(2)
    go_to(3)
    assert way(rig) == AHEAD
    assert_played_as_read_anew(frames, rig)


@pytest.mark.parametrize("kept", [0, 50])
def test_few_frames_kept_ahead_change_nothing(kept, monkeypatch):
    monkeypatch.setattr(armature_plan, "_KEPT_AHEAD", kept)
    rig = on_its_way()
    assert_played_as_read_anew([*range(-20, 40), *JUMPS], rig)


# What cannot be sampled is remembered


@pytest.mark.parametrize(
    "change", ["constrained_target", "constrained_hips", "driven_target", "nla_target", "switch_keyed"]
)
def test_a_frame_that_comes_again_is_written_before_it_is_evaluated(change, monkeypatch):
    rig = on_its_way()
    CHANGES[change](rig)
    frames = range(1, 12)
    poses_at(frames, rig.ob)
    poses_at(frames, rig.ob)
    late = []
    solve = PlannedChain.solve
    monkeypatch.setattr(PlannedChain, "solve", lambda chain, wishes: late.append(chain) or solve(chain, wishes))
    again = poses_at(frames, rig.ob)
    # Where a switch goes off and on all is read anew.
    assert not late or change == "switch_keyed"
    monkeypatch.undo()
    expected = poses_read_anew(frames, rig.ob)
    assert max(apart(a, b, sum(rig.lengths())) for a, b in zip(again, expected, strict=True)) < SAME


def test_a_frame_that_comes_again_otherwise_is_solved_again():
    rig = on_its_way()
    constrained_target(rig)
    poses_at(range(1, 12), rig.ob)
    rig.target.ob.constraints[0].influence = 0.3
    assert_played_as_read_anew(range(1, 12), rig)
    key(rig.target.ob.constraints[0], "influence", [0.0, 1.0, 0.2, 0.7])
    assert_played_as_read_anew(range(1, 12), rig)
    rig.tip.analytic_ik_swivel = 0.4
    assert_played_as_read_anew(range(1, 12), rig)
