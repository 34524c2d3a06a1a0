"""The solution stands in evaluated bones alone: the channels of the originals are the user's, bit for bit."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import bpy
import pytest
from mathutils import Matrix, Quaternion

from ik_addon.rig.blender import evaluation as evaluating
from ik_addon.rig.live import handlers as live
from ik_addon.rig.live import state
from ik_addon.rig.model.order import live_tips
from ik_addon.rig.pose import posing
from ik_addon.rig.pose.posing import loans

from ..changes import CHANGES, Change, walking
from ..helpers.handling import handling
from ..scenes import EXACT, apart, go_to, key_fk, played, without_handlers
from .keys import FRAMES, animated_rig, fcurves, key
from .rigs import Rig, editing, evaluated_copy, fk_values, leg, matrix_difference, new_empty, set_rotation, update

pytestmark = pytest.mark.versions

CHANNELS = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")


def held(ob: bpy.types.Object) -> dict[str, tuple]:
    """All that the channels of an armature object's bones hold."""
    return {bone.name: tuple(tuple(getattr(bone, name)) for name in CHANNELS) for bone in ob.pose.bones}


def assert_shows_what_its_channels_make(ob: bpy.types.Object) -> None:
    """The evaluated pose is the forward kinematics of the evaluated channels: nothing that was written is stale."""
    evaluated = evaluated_copy(ob).pose.bones
    poses: dict[str, Matrix] = {}
    for bone in evaluated:
        parent = bone.parent
        above = {"parent_matrix": poses[parent.name], "parent_matrix_local": parent.bone.matrix_local} if parent else {}
        local = bone.matrix_basis.copy()
        if bone.bone.use_connect:
            local.translation = (0.0, 0.0, 0.0)
        poses[bone.name] = bone.bone.convert_local_to_pose(local, bone.bone.matrix_local, **above)
        assert matrix_difference(poses[bone.name], bone.matrix) < 2e-4, bone.name


def footed(follows: bool = True) -> Rig:
    """A leg with hips, a foot that follows its target, another bone, and an FK pose of its own."""
    rig = leg()
    for bone in rig.ob.pose.bones:
        set_rotation(bone, Quaternion((1.0, 0.1, 0.05, 0.0)).normalized())
    rig.enable(use_rotation=follows)
    return rig


def drag(rig: Rig) -> None:
    rig.target.place((0.1, -0.4, 0.6))


@pytest.mark.some(80)
@pytest.mark.parametrize("change", [change for change in CHANGES.values() if not change.keyed], ids=str)
def test_the_channels_hold_the_fk_pose_whatever_moves(change: Change):
    rig = walking()
    change(rig)
    before = held(rig.ob)
    update()
    assert held(rig.ob) == before
    constrained = any(constraint.enabled for bone in rig.ob.pose.bones for constraint in bone.constraints)
    if not constrained and rig.ob.data.pose_position == "POSE":
        assert_shows_what_its_channels_make(rig.ob)


@pytest.mark.parametrize("fk_keys", ["all", "some of its numbers", "of another rotation mode"])
@pytest.mark.parametrize("seed", range(700, 704))
def test_keyed_channels_hold_what_their_keys_say(seed, fk_keys):
    rig = animated_rig(seed, fk_keys)
    curves = fcurves(rig.ob)
    for frame in (*FRAMES, 7.0, 2.0):
        go_to(frame)
        for curve in curves:
            if "rotation" in curve.data_path and not curve.mute:
                value = rig.ob.path_resolve(curve.data_path)[curve.array_index]
                assert value == pytest.approx(curve.evaluate(frame), abs=1e-6), (frame, curve.data_path)
        assert not any(curve.mute for curve in curves)


@pytest.mark.parametrize("change", [change for change in CHANGES.values() if change.keyed], ids=str)
def test_keyed_channels_hold_what_blender_alone_plays_whatever_happens(change: Change):
    rig = walking(keyed=True)
    for frame in (3, 4):
        go_to(frame)
    change(rig)
    held_live = {}
    for frame in (5, 6, 9, 2):
        go_to(frame)
        held_live[frame] = fk_values(rig.ob)
    for action in bpy.data.actions:
        action.update_tag()
    with without_handlers():
        for frame, values in held_live.items():
            go_to(frame)
            for name, expected in fk_values(rig.ob).items():
                assert values[name] == pytest.approx(expected, abs=1e-6), (frame, name)


# Guards


def test_a_handler_that_fails_leaves_the_fk_pose(monkeypatch, capsys):
    rig = footed()
    before = held(rig.ob)

    def fail(*_, **__):
        raise RuntimeError("planted")

    with monkeypatch.context() as patch:
        patch.setattr(live, "solve_scene", fail)
        patch.setattr(live.ScenePlan, "update", fail)
        patch.setattr(live.ScenePlan, "after_frame", fail)
        rig.ob.update_tag()
        update()
        rig.ob.update_tag()
        go_to(5)
    assert held(rig.ob) == before and not loans._lent
    assert "planted" in capsys.readouterr().out
    go_to(6)
    assert rig.missed() < EXACT


@pytest.mark.parametrize("stretches", [False, True])
def test_nothing_is_evaluated_within_a_frame_change(monkeypatch, stretches):
    """`depsgraph.update()` in frame_change_post crashed Blender 4.2 and 4.5."""
    rig = footed()
    rig.tip.analytic_ik_reach = "STRETCH" if stretches else "CLAMP"
    lowest = -0.5 if stretches else 0.3
    key(rig.target.ob, "location", [(0.0, -0.3, 0.4), (0.1, 0.2, 0.5), (0.0, -0.5, lowest), (0.0, 0.0, 0.3)])
    called = []
    monkeypatch.setattr(posing, "evaluate", called.append)
    monkeypatch.setattr(live, "evaluate_waiting", called.append)
    for frame in (2, 3, 4, 9, 12, 5):
        go_to(frame)
        assert rig.missed() < 1e-5
    assert not called


def test_two_scenes_at_two_frames_are_right_and_come_to_rest():
    rig = footed()
    key(rig.target.ob, "location", [(0.0, -0.3, 0.4), (0.1, 0.2, 0.5), (0.0, -0.5, 0.6), (0.0, 0.0, 0.3)])
    first = bpy.context.scene
    second = bpy.data.scenes.new("second")
    for ob in (rig.ob, rig.target.ob):
        second.collection.objects.link(ob)
    layers = [scene.view_layers[0] for scene in (first, second)]
    first.frame_set(3)
    second.frame_set(11)
    for scene, layer in zip((first, second), layers, strict=True):
        ours = rig.ob.evaluated_get(layer.depsgraph)
        tail = ours.matrix_world @ ours.pose.bones["shin"].tail
        assert (tail - rig.target.ob.evaluated_get(layer.depsgraph).matrix_world.translation).length < EXACT, scene.name
    ran = []
    with handling("depsgraph_update_post", lambda *_: ran.append(1)):
        for _ in range(10):
            for layer in layers:
                layer.update()
    assert len(ran) <= 2


@pytest.mark.parametrize("constraint", ["Analytic IK", "Analytic IK pole"])
def test_a_tie_that_is_deleted_is_made_again(constraint):
    rig = leg()
    pole = new_empty("pole", (0.0, -3.0, 1.0))
    rig.enable(pole_target=pole)
    rig.tip.constraints.remove(rig.tip.constraints[constraint])
    update()
    drag(rig)
    assert rig.missed() < EXACT
    assert {each.name for each in rig.tip.constraints} == {"Analytic IK", "Analytic IK pole"}
    assert all(each.mute for each in rig.tip.constraints)


def test_a_chain_that_would_be_a_circle_is_tied_to_the_trigger_alone(capfd):
    rig = leg()
    rig.tip.analytic_ik_target, rig.tip.analytic_ik_subtarget = rig.ob, "foot"
    rig.tip.analytic_ik_enabled = True
    update()
    go_to(3)
    assert live_tips(rig.ob) == ["shin"]
    (tie,) = rig.tip.constraints
    assert tie.mute and tie.target == rig.ob.analytic_ik_record_trigger and tie.pole_target is None
    said = capfd.readouterr()
    assert "ycle" not in said.out + said.err


def test_keys_that_blender_plays_within_a_frame_are_solved_over():
    """Blender plays an action also where it finds out again what depends on what."""
    rig = leg()
    for frame, angle in ((1, 0.1), (20, 0.4)):
        rig.tip.rotation_quaternion = Quaternion((1.0, 0.0, 0.0), angle)
        rig.tip.keyframe_insert("rotation_quaternion", frame=frame)
    rig.enable()
    for frame in (1, 2, 3):
        go_to(frame)
    shelf = bpy.data.collections.new("shelf")
    bpy.context.scene.collection.children.link(shelf)
    shelf.objects.link(rig.ob)
    bpy.context.scene.collection.objects.unlink(rig.ob)
    assert rig.missed() < 1e-5


def test_a_chain_that_moves_its_own_control_is_evaluated_without_lending():
    rig = leg()
    rig.tip.analytic_ik_target, rig.tip.analytic_ik_subtarget = rig.ob, "foot"
    with editing(rig.ob) as bones:
        for name, x in (("arm", 1.0), ("hand", 1.5)):
            bone = bones.new(name)
            bone.head, bone.tail = (x, 0.0, 1.0), (x + 0.5, 0.1, 1.0)
            bone.parent = bones.get("arm")
    target = new_empty("target", (1.4, 0.3, 1.2))
    target.constraints.new("LIMIT_LOCATION")
    target.keyframe_insert("location", frame=1)
    target.location.x = 1.8
    target.keyframe_insert("location", frame=9)
    hand = rig.ob.pose.bones["hand"]
    hand.analytic_ik_target, hand.analytic_ik_enabled = target, True
    rig.tip.analytic_ik_enabled = True
    before = fk_values(rig.ob)
    for frame in (1, 2, 3, 4):
        go_to(frame)
        assert fk_values(rig.ob) == before, frame


@pytest.mark.parametrize("bone", ["hips", "thigh"])
def test_keys_that_are_edited_within_a_frame_are_followed_in_that_update(bone):
    rig = leg()
    for frame, place in ((1, 0.0), (20, 0.3)):
        rig.ob.pose.bones[bone].location.x = place
        rig.ob.pose.bones[bone].keyframe_insert("location", frame=frame)
    rig.enable()
    for frame in range(1, 9):
        go_to(frame)
    for curve in fcurves(rig.ob):
        for point in curve.keyframe_points:
            point.co_ui.y += 0.05
    assert rig.missed() < 1e-5


# Several windows


@contextmanager
def shown(monkeypatch: pytest.MonkeyPatch, *layers: bpy.types.ViewLayer) -> Iterator[Callable[[], None]]:
    """Windows that show view layers. Gives what Blender does in time of its own: it evaluates each of them."""

    def of(scene: bpy.types.Scene) -> list[bpy.types.ViewLayer]:
        return [layer for layer in layers if layer.id_data == scene]

    def idle() -> None:
        for layer in layers:
            layer.update()

    with monkeypatch.context() as patch:
        patch.setattr(evaluating, "shown_layers", of)
        idle()
        state.evaluate_chains()
        idle()
        yield idle


def missed_in(rig: Rig, layer: bpy.types.ViewLayer) -> float:
    """How far the chain of a leg ends from its target in a view layer."""
    ours, target = rig.ob.evaluated_get(layer.depsgraph), rig.target.ob.evaluated_get(layer.depsgraph)
    return (ours.matrix_world @ ours.pose.bones["shin"].tail - target.matrix_world.translation).length


def keyed_leg() -> Rig:
    """A leg whose target and bones have keys."""
    rig = leg()
    key(rig.target.ob, "location", [(0.0, -0.3, 0.4), (0.1, 0.2, 0.5), (0.0, -0.5, 0.6), (0.0, 0.0, 0.3)])
    key_fk(rig)
    rig.enable()
    return rig


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("first", [0, 1])
def test_a_bone_posed_by_hand_is_followed_in_all_view_layers(monkeypatch, keyed, first):
    """first: which of them the mouse is in; the handlers before an update are not told which one is evaluated."""
    rig = keyed_leg() if keyed else footed()
    layers = [bpy.context.scene.view_layers[0], bpy.context.scene.view_layers.new("other")]
    if first:
        bpy.context.window.view_layer = layers[1]
    with shown(monkeypatch, *layers) as idle:
        for frame in (2, 3, 4, 5, 6, 7):
            go_to(frame)
            idle()
        for _ in range(4):
            rig.ob.pose.bones["thigh"].rotation_quaternion.y += 0.1
            idle()
            assert [missed_in(rig, layer) < EXACT for layer in layers] == [True, True]


@pytest.mark.parametrize("keyed", [False, True])
def test_a_frame_after_a_pose_that_is_not_evaluated_yet_is_right_in_all_view_layers(monkeypatch, keyed):
    rig = keyed_leg() if keyed else footed()
    layers = [bpy.context.scene.view_layers[0], bpy.context.scene.view_layers.new("other")]
    with shown(monkeypatch, *layers) as idle:
        for frame in (2, 3, 4, 5, 6, 7):
            go_to(frame)
            idle()
        rig.ob.pose.bones["thigh"].rotation_quaternion.y += 0.1
        rig.ob.update_tag(refresh={"OBJECT"})
        go_to(8)
        assert [missed_in(rig, layer) < EXACT for layer in layers] == [True, True]


def walking_foot() -> Rig:
    """A leg of which all is keyed: hips, bones, target, roll and influence."""
    rig = footed()
    key(rig.target.ob, "location", [(0.0, -0.3, 0.4), (0.1, 0.2, 0.5), (0.0, -0.5, 0.6), (0.0, 0.0, 0.3)])
    key(rig.target.ob, "rotation_euler", [(0.1 * k, 0.2, 0.1 * k) for k in range(4)])
    key(rig.ob.pose.bones["hips"], "location", [(0.0, 0.05 * k, 0.0) for k in range(4)])
    for name in ("thigh", "shin", "foot"):
        rotations = [Quaternion((1.0, 0.2 * k, 0.1 * k, 0.1)).normalized() for k in range(4)]
        key(rig.ob.pose.bones[name], "rotation_quaternion", rotations)
    key(rig.tip, "analytic_ik_foot_roll", [0.0, 0.0, 0.4, -0.3])
    key(rig.tip, "analytic_ik_influence", [1.0, 0.5, 0.7, 1.0])
    return rig


def test_a_foot_that_begins_to_roll_is_none_that_has_to_be_read_anew():
    walking_foot()
    plan = {}
    for frame in (2, 3, 9, 4, 11):
        go_to(frame)
        plan[frame] = live.memory.plan_of(bpy.context.scene)
        assert plan[frame].holds(), frame
    assert plan[11] is plan[2]


def poses_in(rig: Rig, layer: bpy.types.ViewLayer) -> dict[str, Matrix]:
    return {bone.name: bone.matrix.copy() for bone in rig.ob.evaluated_get(layer.depsgraph).pose.bones}


def tag_the_trigger(rig: Rig) -> None:
    rig.ob.analytic_ik_record_trigger.update_tag(refresh={"OBJECT"})


@pytest.mark.parametrize("move", [None, tag_the_trigger, CHANGES["an_object_added"]])
def test_each_of_two_scenes_shows_the_pose_of_its_own_frame(monkeypatch, move):
    rig = walking_foot()
    first = bpy.context.scene
    frames = (1, 2, 3, 4, 5, 7, 8, 9, 11, 12)
    alone = played(rig.ob, frames)
    second = bpy.data.scenes.new("second")
    for ob in first.objects:
        second.collection.objects.link(ob)
    layers = [scene.view_layers[0] for scene in (first, second)]
    with shown(monkeypatch, *layers) as idle:
        for a, b in ((3, 12), (4, 1), (9, 8), (5, 11), (2, 7)):
            first.frame_set(a)
            second.frame_set(b)
            for _ in range(3):
                if move is not None:
                    move(rig)
                idle()
                for layer, frame in zip(layers, (a, b), strict=True):
                    assert apart(poses_in(rig, layer), alone[frame], 2.0) < 2e-4, (layer.id_data.name, frame)


def silent_in(layer: bpy.types.ViewLayer, ob: bpy.types.Object) -> int:
    """How many F-Curves of an armature object are silent in a view layer."""
    return sum(curve.mute for curve in fcurves(ob.evaluated_get(layer.depsgraph)))


def test_undo_and_redo_leave_no_key_silent():
    """Blender keeps evaluated copies of what is not undone."""
    rig = keyed_leg()
    go_to(2)
    for k in range(2):
        bpy.ops.ed.undo_push(message=f"posed {k}")
        rig.ob.pose.bones["hips"].rotation_quaternion.x += 0.1
        update()
        for frame in range(3 + k, 9 + k):
            go_to(frame)
        assert silent_in(bpy.context.view_layer, rig.ob)
    bpy.ops.ed.undo_push(message="last")
    for step in (bpy.ops.ed.undo, bpy.ops.ed.undo, bpy.ops.ed.redo):
        step()
        ob = bpy.data.objects["leg"]
        assert not silent_in(bpy.context.view_layer, ob)
        go_to(bpy.context.scene.frame_current + 1)
        for curve in fcurves(ob):
            value = ob.path_resolve(curve.data_path)[curve.array_index]
            assert value == pytest.approx(curve.evaluate(bpy.context.scene.frame_current), abs=1e-6)


def test_a_view_layer_that_is_shown_no_more_plays_its_keys(monkeypatch):
    rig = keyed_leg()
    layers = [bpy.context.scene.view_layers[0], bpy.context.scene.view_layers.new("other")]
    with shown(monkeypatch, *layers):
        for frame in range(2, 8):
            go_to(frame)
        assert all(silent_in(layer, rig.ob) for layer in layers)
    rig.tip.analytic_ik_enabled = False
    for frame in (8, 9):
        go_to(frame)
        assert not any(silent_in(layer, rig.ob) for layer in layers)
        assert poses_in(rig, layers[1])["thigh"] == poses_in(rig, layers[0])["thigh"]


def test_a_scene_that_is_shown_no_more_goes_to_frames_of_its_own(monkeypatch):
    rig = walking_foot()
    first, second = bpy.context.scene, bpy.data.scenes.new("second")
    alone = played(rig.ob, range(1, 13))
    for ob in first.objects:
        second.collection.objects.link(ob)
    with shown(monkeypatch, first.view_layers[0], second.view_layers[0]) as idle:
        for frame in range(2, 8):
            second.frame_set(frame)
            first.frame_set(frame + 3)
            idle()
    for frame in (12, 3):
        second.frame_set(frame)
        tag_the_trigger(rig)
        # All is read anew.
        live.memory.plans.clear()
        update()
        for scene in (first, second):
            assert apart(poses_in(rig, scene.view_layers[0]), alone[scene.frame_current], 2.0) < 2e-4, scene.name
