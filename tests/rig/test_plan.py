"""However a chain is solved: before the frame, after it or read anew, the pose is the same, whatever changes."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from random import Random

import bpy
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_addon.rig.live import armature_plan
from ik_addon.rig.live import handlers as live
from ik_addon.rig.live import state as live_state
from ik_addon.rig.model.order import ChainName
from ik_addon.rig.pose.solving import ReadyChain, solve_scene

from ..changes import (
    AFTER,
    AHEAD,
    CHANGES,
    EVERY,
    HIDDEN,
    SMOOTH,
    VARIES,
    Change,
    constrained_target,
    hide,
    registered_again,
    walking,
)
from ..scenes import apart, bone_state, go_to, pose_of
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
    pose_values,
    random_point,
    random_rotation,
    rotation_values,
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


def test_a_chain_is_where_it_belongs_after_a_fraction_of_a_frame():
    rig = on_its_way()
    for frame in (7.5, 100, 101, 102, 103, 5.25, 5.5, -20, 3):
        go_to(frame)
        assert rig.missed() < EXACT


def test_the_rigs_above_were_solved_in_more_than_one_way():
    # A quick run sees a few of them.
    assert {AHEAD, EVERY} <= {*ways_seen} or len(ways_seen) < 20


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


def test_a_foot_with_less_influence_that_began_in_its_fk_pose():
    rig = leg()
    key(rig.target.ob, "location", [(0.0, 0.0, 0.0), *SMOOTH[1:]])
    key(rig.target.ob, "rotation_euler", [(0.0, 0.0, 0.0), (0.6, 0.5, 0.0), (0.0, -0.9, 0.8), (0.0, 0.2, 0.3)])
    go_to(1)
    rig.enable(influence=0.5, use_rotation=True)
    assert_played_as_read_anew(range(1, 10), rig)


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


def test_control_bones_that_hang_on_others_are_sampled():
    rig = leg()
    with editing(rig.ob) as bones:
        for name, parent in (("master", ""), ("control", "master")):
            bone = bones.new(name)
            bone.head, bone.tail, bone.roll = (0.0, 0.1, 0.0), (0.1, 0.3, 0.2), 0.7
            bone.parent = bones.get(parent)
    rig.target = Control(rig.ob, "control")
    key_rotation(Random(1), rig.ob.pose.bones["master"])
    key(rig.ob.pose.bones["master"], "scale", [(1.0, 1.0, 1.0), (1.2, 0.7, 1.1), (0.8, 0.8, 1.3), (1.0, 1.0, 1.0)])
    key(rig.ob.pose.bones["control"], "location", [(0.1, 0.0, 0.5), (0.3, 0.2, 0.6), (-0.2, 0.1, 0.7), (0.0, 0.2, 0.4)])
    rig.enable()
    go_to(1)
    go_to(2)
    assert way(rig) == AHEAD
    assert_played_as_read_anew([*range(3, 14), *JUMPS], rig)


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


def test_an_armature_in_two_scenes_has_in_each_the_pose_of_its_frame():
    rig = leg()
    key(rig.target.ob, "location", SMOOTH)
    rig.enable()
    first = bpy.context.scene
    second = bpy.data.scenes.new("second")
    for ob in first.collection.objects:
        second.collection.objects.link(ob)
    for k, frame in enumerate((9, 10, 3, 4, 12, 11, 5, 7, 8, 6)):
        for scene, at in ((first, frame), (second, 13 - frame)) if k % 3 else ((first, frame),):
            scene.frame_set(at)
            depsgraph = scene.view_layers[0].depsgraph
            ob, target = rig.ob.evaluated_get(depsgraph), rig.target.ob.evaluated_get(depsgraph)
            assert (ob.pose.bones["shin"].tail - target.matrix_world.translation).length < EXACT


@pytest.mark.parametrize("what", ["nothing", "target", "armature"])
def test_a_second_view_layer_without_some_of_it_changes_nothing(what):
    rig = on_its_way()
    scene = bpy.context.scene
    collection = bpy.data.collections.new("own")
    scene.collection.children.link(collection)
    for ob in {"nothing": [], "target": [rig.target.ob], "armature": [rig.ob]}[what]:
        scene.collection.objects.unlink(ob)
        collection.objects.link(ob)
    scene.view_layers.new("second").layer_collection.children["own"].exclude = True
    for frame in range(2, 13):
        go_to(frame)
        assert rig.missed() < EXACT, frame


# Which way


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


@pytest.mark.some(60)
@pytest.mark.parametrize("change", CHANGES.values(), ids=str)
def test_a_chain_that_was_so_from_the_start_is_solved_the_same_way(change):
    rig = walking(change.keyed)
    change(rig)
    go_to(1)
    go_to(2)
    assert_is_solved_as_expected(rig, change)
    if not change.drifts:
        assert_played_as_read_anew((3, 4, 9, 10, 100, -2), rig)


@pytest.mark.parametrize("seed", range(30))
def test_changes_one_after_another(seed):
    random = Random(seed)
    rig = on_its_way(keyed=True)
    done = random.sample(
        [change for change in CHANGES.values() if change.live == AHEAD and not (change.keyed or change.moved)], 3
    )
    for change in done:
        change(rig)
        poses_at((random.randint(-5, 20), 8), rig.ob)
        assert_played_as_read_anew((9, 10, 3), rig)


@pytest.mark.parametrize("control", ["target", "pole_target"])
@pytest.mark.parametrize("updated", [False, True])
def test_another_control_is_followed_at_the_very_next_frame(control, updated):
    rig = on_its_way()
    other = new_empty("another", (0.3, -0.5, 0.7))
    setattr(rig.tip, f"analytic_ik_{control}", other)
    if updated:
        update()
    assert_played_as_read_anew((9, 10, 3), rig)
    if control == "target":
        assert (rig.joints()[-1] - other.location).length < EXACT


@pytest.mark.parametrize("updated", [False, True])
@pytest.mark.parametrize("how", HIDDEN)
def test_a_target_that_is_hidden_is_followed_as_reading_everything_would(how, updated):
    rig = on_its_way()
    hide(rig.target.ob, how)
    if updated:
        update()
    # What Blender keeps of a hidden object depends on the frames that were visited: so it is read at once.
    for frame in (9, 10, 3, 4, 12, 13, 2, 3, 4, 5, 6, 7, 8, 9):
        go_to(frame)
        played = pose_of(rig.ob)
        with live.paused():
            solve_scene(bpy.context.evaluated_depsgraph_get(), True)
            update()
        assert apart(played, pose_of(rig.ob), 2.0) < SAME, frame


# The FK pose


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "ZYX"])
@pytest.mark.parametrize("updated", [False, True])
def test_a_bone_that_is_turned_by_hand_has_a_new_fk_pose(updated, mode):
    rig = on_its_way()
    bone = rig.ob.pose.bones["thigh"]
    bone.rotation_mode = mode
    go_to(8)
    go_to(9)
    set_rotation(bone, Quaternion((0.8, 0.2, -0.3, 0.1)).normalized())
    wanted = rotation_values(bone)
    if updated:
        update()
    for frame in (10, 11, 4, 5, 30):
        go_to(frame)
        assert rig.missed() < EXACT
    assert_played_as_read_anew((10, 3), rig)
    rig.tip.analytic_ik_influence = 0.0
    go_to(12)
    assert rotation_values(bone) == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("channel", ["location", "scale"])
@pytest.mark.parametrize("updated", [False, True])
def test_a_bone_that_is_moved_or_scaled_by_hand_keeps_that(channel, updated):
    rig = on_its_way()
    before = pose_values(rig.ob)
    by_hand = (0.1, 0.05, 0.1) if channel == "location" else (1.1, 1.1, 1.1)
    setattr(rig.ob.pose.bones["thigh"], channel, by_hand)
    if updated:
        update()
    for frame in (9, 10, 4):
        go_to(frame)
        assert rig.missed() < EXACT
    assert tuple(getattr(rig.ob.pose.bones["thigh"], channel)) == pytest.approx(by_hand)
    assert pose_values(rig.ob) != before


def test_a_bone_that_is_keyed_as_it_stands_shows_its_keys_without_the_chain():
    rig = on_its_way()
    bone = rig.ob.pose.bones["thigh"]
    bone.keyframe_insert("rotation_quaternion", frame=8)
    keyed = rotation_values(bone)
    for frame in (9, 10, 4):
        go_to(frame)
        assert rig.missed() < EXACT
    rig.tip.analytic_ik_influence = 0.0
    go_to(6)
    assert rotation_values(bone) == keyed


FK = {"thigh": (0.9, 0.1, 0.3, 0.2), "shin": (0.95, -0.2, 0.1, 0.0)}


def walking_with_fk_pose() -> Rig:
    rig = on_its_way()
    for name, values in FK.items():
        rig.ob.pose.bones[name].rotation_quaternion = Quaternion(values).normalized()
    update()
    for frame in WALK:
        go_to(frame)
    assert way(rig) == AHEAD
    return rig


def assert_fk_pose(ob: bpy.types.Object) -> None:
    ob.pose.bones["shin"].analytic_ik_influence = 0.0
    update()
    for name, values in FK.items():
        assert rotation_values(ob.pose.bones[name]) == pytest.approx(tuple(Quaternion(values).normalized()), abs=1e-6)


def test_playing_leaves_the_fk_pose_as_it_was():
    rig = walking_with_fk_pose()
    for frame in (*range(9, 60), *JUMPS):
        go_to(frame)
    assert_fk_pose(rig.ob)


def test_undo_and_redo_after_playing_keep_the_fk_pose_and_the_motion():
    rig = walking_with_fk_pose()
    bpy.ops.ed.undo_push(message="start")
    expected = poses_at((9, 4), rig.ob)
    rig.tip.analytic_ik_swivel = 0.5
    for frame in WALK:
        go_to(frame)
    bpy.ops.ed.undo_push(message="swivelled")
    swivelled = poses_at((9, 4), rig.ob)
    for step, wanted in ((bpy.ops.ed.undo, expected), (bpy.ops.ed.redo, swivelled), (bpy.ops.ed.undo, expected)):
        step()
        for frame in (10, 11, 12):
            go_to(frame)
        now = poses_at((9, 4), bpy.data.objects["leg"])
        assert max(apart(a, b, 2.0) for a, b in zip(now, wanted, strict=True)) < SAME
    assert_fk_pose(bpy.data.objects["leg"])


def test_a_file_saved_while_another_frame_is_shown_keeps_the_fk_pose_and_the_motion(tmp_path):
    rig = walking_with_fk_pose()
    expected = poses_at((9, 4, 11), rig.ob)
    path = str(tmp_path / "leg.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    go_to(3)
    bpy.ops.wm.open_mainfile(filepath=path)
    ob = bpy.data.objects["leg"]
    for _ in range(2):
        now = poses_at((9, 4, 11), ob)
        assert max(apart(a, b, 2.0) for a, b in zip(now, expected, strict=True)) < SAME
    assert_fk_pose(ob)


def test_the_add_on_registered_again_keeps_the_fk_pose():
    rig = walking_with_fk_pose()
    registered_again(rig)
    for frame in WALK:
        go_to(frame)
        assert rig.missed() < EXACT
    assert_fk_pose(rig.ob)


@pytest.mark.parametrize("way_out", ["influence", "hold"])
def test_no_influence_is_the_fk_pose_to_the_bit(way_out):
    rig = on_its_way()
    fk = (0.5, 0.2, 0.0, 0.0)
    rig.ob.pose.bones["thigh"].rotation_quaternion = fk
    if way_out == "influence":
        rig.tip.analytic_ik_influence = 0.0
    else:
        rig.tip.analytic_ik_reach = "HOLD"
        rig.target.ob.parent.location.z = -20.0
    for frame in WALK:
        go_to(frame)
        assert rotation_values(rig.ob.pose.bones["thigh"]) == pytest.approx(fk, abs=1e-7)


# Other handlers


@contextmanager
def handling(kind: str, handler: Callable, first: bool = False) -> Iterator[None]:
    """A handler of someone else's; first: before the add-on's own."""
    handlers = getattr(bpy.app.handlers, kind)
    handlers.insert(0, handler) if first else handlers.append(handler)
    try:
        yield
    finally:
        handlers.remove(handler)


def place_at(frame: float) -> Vector:
    """Where the handlers below put things."""
    return Vector((0.1, 0.1 * (frame % 7) - 0.3, 0.4 + 0.03 * (frame % 11)))


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("since", [-100, 10])
@pytest.mark.parametrize("moved", ["target", "carrier"])
def test_what_a_handler_moves_before_the_frame_is_followed_in_that_frame(moved, since, first):
    rig = on_its_way()
    if moved == "target":
        rig.target.ob.animation_data_clear()
        update()
    ob = rig.target.ob if moved == "target" else rig.target.ob.parent

    def move(scene, *_):
        if scene.frame_current >= since:
            ob.location = place_at(scene.frame_current) * (1.0 if moved == "target" else 0.3)

    with handling("frame_change_pre", move, first):
        for frame in (6, 7, 8, 9, 10, 11, 12, 11, 10, 30, 31, 9, 8, 12):
            go_to(frame)
            assert rig.missed() < EXACT, frame
    for frame in (*WALK, 30, 9):
        go_to(frame)
        assert rig.missed() < EXACT, frame


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


def settings_by_handler(rig: Rig, frame: int) -> None:
    rig.tip.analytic_ik_influence = (frame % 5) / 4.0


def swivel_by_handler(rig: Rig, frame: int) -> None:
    rig.tip.analytic_ik_swivel = frame * 0.3


def fk_by_handler(rig: Rig, frame: int) -> None:
    rig.ob.pose.bones["thigh"].rotation_quaternion = Quaternion((0.0, 0.0, 1.0), 0.05 * frame)


def location_by_handler(rig: Rig, frame: int) -> None:
    rig.ob.pose.bones["thigh"].location = (0.01 * frame, 0.0, 0.0)


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("change", [settings_by_handler, swivel_by_handler, fk_by_handler, location_by_handler])
def test_what_a_handler_sets_on_the_chain_before_the_frame_counts_in_that_frame(change, first):
    rig = on_its_way()
    with handling("frame_change_pre", lambda scene, *_: change(rig, scene.frame_current), first):
        played = poses_at((6, 7, 8, 9, 10, 11), rig.ob)
        expected = []
        for frame in (6, 7, 8, 9, 10, 11):
            live_state.memory.plans.clear()
            expected += poses_at((frame,), rig.ob)
    assert max(apart(a, b, 2.0) for a, b in zip(played, expected, strict=True)) < SAME


# Nothing else


def test_nothing_is_written_but_the_rotations_of_the_chain_and_records():
    rig = on_its_way()
    with editing(rig.ob) as bones:
        for k in range(12):
            bones.new(f"spare {k}").tail = (0.0, 0.0, 1.0)
    for frame in WALK:
        go_to(frame)
    for k in range(12):
        rig.ob.pose.bones[f"spare {k}"].rotation_mode = ROTATION_MODES[k % len(ROTATION_MODES)]
        set_rotation(rig.ob.pose.bones[f"spare {k}"], random_rotation(rig.random))
        rig.ob.pose.bones[f"spare {k}"].scale = random_point(rig.random, 0.5, 1.5)
    update()
    others = [bone for bone in rig.ob.pose.bones if bone.name not in ("hips", *rig.bones)]
    before = {bone.name: bone_state(bone) for bone in others}
    chain = {name: bone_state(rig.ob.pose.bones[name]) for name in rig.bones}
    for frame in (*WALK, *JUMPS, *range(13)):
        go_to(frame)
    assert {bone.name: bone_state(bone) for bone in others} == before
    for name, state in chain.items():
        now = bone_state(rig.ob.pose.bones[name])
        changed = {key for key in state if state[key] != now[key]}
        assert not changed


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


def test_a_scene_that_is_not_shown_heeds_changes_too():
    rig = leg()
    key(rig.target.ob, "location", SMOOTH)
    rig.enable()
    shown, scene = bpy.context.scene, bpy.data.scenes.new("not shown")
    for ob in list(shown.collection.objects):
        scene.collection.objects.link(ob)
        shown.collection.objects.unlink(ob)
    update()
    for frame in WALK:
        scene.frame_set(frame)
    rig.tip.analytic_ik_swivel = 0.7
    fcurves(rig.target.ob)[1].keyframe_points[2].co.y = -0.2
    # The scene that is shown is evaluated, and knows nothing of the rig.
    update()
    scene.frame_set(9)
    depsgraph = scene.view_layers[0].depsgraph
    played = {bone.name: bone.matrix.copy() for bone in rig.ob.evaluated_get(depsgraph).pose.bones}
    live_state.memory.plans.clear()
    scene.frame_set(9)
    expected = {bone.name: bone.matrix.copy() for bone in rig.ob.evaluated_get(depsgraph).pose.bones}
    assert apart(played, expected, 2.0) < SAME


def test_bones_that_come_and_go_do_not_shift_the_chain():
    specs = [
        BoneSpec("spare", (1.0, 0.0, 0.0), (1.0, 0.0, 1.0)),
        BoneSpec("thigh", (0.0, 0.0, 2.0), (0.0, -0.2, 1.0)),
        BoneSpec("shin", (0.0, -0.2, 1.0), (0.0, 0.0, 0.0), "thigh", connect=True),
    ]
    ob = new_armature("rig", specs)
    rig = Rig(ob, ["thigh", "shin"], Control(new_empty("target", (0.0, -0.3, 0.4))))
    key(rig.target.ob, "location", SMOOTH)
    rig.enable()
    for frame in WALK:
        go_to(frame)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    ob.data.edit_bones.remove(ob.data.edit_bones["spare"])
    late = ob.data.edit_bones.new("late")
    late.head, late.tail = (2.0, 0.0, 0.0), (2.0, 0.0, 1.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    for frame in (9, 10, 11):
        go_to(frame)
        assert rig.missed() < EXACT
    assert tuple(ob.pose.bones["late"].rotation_quaternion) == (1.0, 0.0, 0.0, 0.0)


# Pictures


def test_what_a_handler_moves_before_the_frame_is_followed_in_a_picture_too(tmp_path):
    rig = leg()
    rig.enable()
    for frame in WALK:
        go_to(frame)
    film(tmp_path)

    def move(scene, *_):
        rig.target.ob.location = place_at(scene.frame_current)

    expected, rotations = {}, {}

    def keep(scene, *_):
        rotations[scene.frame_current] = rotation_values(rig.tip)

    with handling("frame_change_pre", move):
        with handling("render_post", keep):
            bpy.ops.render.render(animation=True)
        for frame in range(9, 12):
            live_state.memory.plans.clear()
            go_to(frame)
            expected[frame] = rotation_values(rig.tip)
    for frame, values in expected.items():
        assert rotations[frame] == pytest.approx(values, abs=1e-5), frame


def film(folder) -> None:
    """Ready to render the frames 9 to 11, small and quickly."""
    scene = bpy.context.scene
    scene.render.engine, scene.cycles.samples, scene.cycles.device = "CYCLES", 1, "CPU"
    scene.render.resolution_x = scene.render.resolution_y = 4
    scene.render.threads_mode, scene.render.threads = "FIXED", 1
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    scene.collection.objects.link(camera)
    scene.camera = camera
    scene.frame_start, scene.frame_end = 9, 11
    scene.render.filepath = str(folder / "picture")
    update()


@pytest.mark.parametrize("change", ["nothing", "constrained_target", "stretching", "hips_by_hand"])
def test_a_picture_is_rendered_in_the_pose_of_its_frame(change, tmp_path):
    rig = on_its_way()
    CHANGES[change](rig)
    for frame in WALK:
        go_to(frame)
    film(tmp_path)
    rotations, expected = {}, {}

    def keep(scene, *_):
        rotations[scene.frame_current] = pose_values(rig.ob)

    with handling("render_post", keep):
        bpy.ops.render.render(animation=True)
    for frame in range(9, 12):
        read_anew(frame)
        expected[frame] = pose_values(rig.ob)
    for frame, values in expected.items():
        for name in rig.bones:
            assert rotations[frame][name] == pytest.approx(values[name], abs=1e-5), (frame, name)


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
    solve = ReadyChain.solve
    monkeypatch.setattr(ReadyChain, "solve", lambda chain, wishes: late.append(chain) or solve(chain, wishes))
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
