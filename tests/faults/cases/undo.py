"""Undo and redo."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import bpy
from mathutils import Matrix

from ...rig.rigs import leg, matrix_difference, new_empty, update
from ...scenes import go_to, pose_of, select, select_bones, slide
from ..faults import fault
from ..stage import BLENDERS, NEAR, OURS, Limb, Stage

GROUP = "Undo and redo"
INFLUENCE = {OURS: "analytic_ik_influence", BLENDERS: "influence"}


def _push(what: str) -> None:
    bpy.ops.ed.undo_push(message=what)


def _undo() -> None:
    bpy.ops.ed.undo()


def _redo() -> None:
    bpy.ops.ed.redo()


def chain_of(stage: Stage):
    """What holds the chain's settings: the tip, or the constraint on it."""
    tip = stage.limbs[0].tip
    return tip if stage.ours else next(each for each in tip.constraints if each.type == "IK")


@contextmanager
def _mode(stage: Stage, mode: str) -> Iterator[None]:
    select(stage.ob)
    bpy.ops.object.mode_set(mode=mode)
    yield
    if stage.ob.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    update()


def _differ(stage: Stage, pose: dict[str, Matrix]) -> bool:
    """Whether the leg's pose is another one than it was."""
    now = pose_of(stage.ob)
    return now.keys() != pose.keys() or any(
        matrix_difference(now[name], pose[name]) > 2 * NEAR[stage.solver] for name in now
    )


def _step_undone_and_redone(stage: Stage, step: Callable[[], object]) -> None:
    """Do something, undo and redo it: the pose is each time what it was."""
    _push("before")
    before = pose_of(stage.ob)
    step()
    update()
    _push("step")
    after = pose_of(stage.ob)
    _undo()
    assert not _differ(stage, before), "undone, the pose is not what it was before"
    stage.look("undone")
    _redo()
    assert not _differ(stage, after), "redone, the pose is not what it was afterwards"
    _undo()
    stage.follow("undone again")


@fault(GROUP, "A chain is removed, undone and redone")
def a_removal_is_undone(stage: Stage) -> None:
    _step_undone_and_redone(stage, lambda: stage.unsolve(stage.limbs[0]))


@fault(GROUP, "A chain is added to another leg, undone and redone", "redone")
def an_addition_is_undone(stage: Stage) -> None:
    second = leg("second", side=1.0)
    slide(second.target.ob, (1.0, -0.6, 0.5), (1.2, 0.5, 0.3))
    added = Limb("second", second.bones, second.target.ob.name)
    go_to(1)
    _push("before")
    stage.solve(added)
    _push("added")
    _undo()
    stage.look("undone")
    _redo()
    stage.limbs.append(added)
    stage.look("redone")


@fault(GROUP, "A bake is undone and redone", "undone again")
def a_bake_is_undone(stage: Stage) -> None:
    own = stage.fk_pose
    _push("before")
    stage.bake(1, 12)
    _push("baked")
    _undo()
    stage.fk_pose = own
    stage.look("undone")
    stage.follow("undone")
    _redo()
    stage.play((1, 4, 9), "redone")
    _undo()


@fault(GROUP, "Keys of target and influence are undone and redone")
def keys_are_undone(stage: Stage) -> None:
    def key() -> None:
        stage.target.location = (0.2, -0.5, 0.6)
        stage.target.keyframe_insert("location", frame=5)
        chain_of(stage).keyframe_insert(INFLUENCE[stage.solver], frame=1)

    _step_undone_and_redone(stage, key)


@fault(GROUP, "A bone posed under its chain is undone and redone", "undone again")
def a_posed_bone_is_undone(stage: Stage) -> None:
    own = dict(stage.fk_pose)
    _push("before")
    stage.pose_fk("thigh", (0.95, 0.2, 0.2, 0.1))
    posed = dict(stage.fk_pose)
    _push("posed")
    _undo()
    stage.look("undone")
    _redo()
    stage.fk_pose = posed
    stage.look("redone")
    _undo()
    stage.fk_pose = own


@fault(GROUP, "The armature is deleted and undone", "undone again")
def a_deleted_armature_is_undone(stage: Stage) -> None:
    _push("before")
    for name in ("hips", "foot"):
        stage.forget_bystander(name)
    select(stage.ob)
    bpy.ops.object.delete()
    _push("deleted")
    go_to(5)
    _undo()
    stage.look("undone")
    _redo()
    _undo()


@fault(GROUP, "Bones are moved in edit mode; undone from object mode")
def edit_mode_is_undone_from_object_mode(stage: Stage) -> None:
    def edit() -> None:
        with stage.edit_bones() as bones:
            bones["thigh"].head.x += 0.2
            bones["shin"].head.y -= 0.1

    _step_undone_and_redone(stage, edit)


@fault(GROUP, "Undo inside edit mode, and out of it", "undone to the beginning")
def undo_inside_edit_mode(stage: Stage) -> None:
    _push("before")
    with _mode(stage, "EDIT"):
        _push("entered")
        for k in range(3):
            stage.ob.data.edit_bones["thigh"].head.x += 0.1
            _push(f"moved {k}")
        for _ in range(2):
            _undo()
        _redo()
        _undo()
        assert abs(stage.ob.data.edit_bones["thigh"].head.x - 0.1) < 1e-6
        stage.drag()
    stage.fk_pose = None
    stage.look("out of it")
    stage.follow("out of it")
    while stage.ob.mode != "OBJECT" or abs(stage.ob.data.bones["thigh"].head_local.x) > 1e-6:
        _undo()


@fault(GROUP, "A bone above the chain is added in edit mode, undone and redone: all bones get other numbers")
def other_numbers_are_undone(stage: Stage) -> None:
    def add() -> None:
        with stage.edit_bones() as bones:
            spine = bones.new("spine")
            spine.head, spine.tail = (0.0, 0.5, 2.0), (0.0, 0.5, 2.5)
            bones["hips"].parent = spine

    _step_undone_and_redone(stage, add)


@fault(GROUP, "The chain's bone is renamed, undone and redone", "redone")
def a_renaming_is_undone(stage: Stage) -> None:
    _push("before")
    stage.ob.data.bones["shin"].name = "calf"
    _push("renamed")
    _undo()
    stage.look("undone")
    stage.follow("undone")
    _redo()
    stage.limbs[0].bones[1] = "calf"
    stage.fk_pose["calf"] = stage.fk_pose.pop("shin")


@fault(GROUP, "Undo goes back over a frame change: no frame handler is called", "afterwards")
def undone_over_a_frame_change(stage: Stage) -> None:
    go_to(1)
    _push("at the first frame")
    go_to(9)
    _push("at the ninth frame")
    stage.drag()
    _push("dragged")
    _undo()
    stage.look("the drag undone")
    _undo()
    assert bpy.context.scene.frame_current == 1
    stage.look("the frame undone")
    _redo()
    assert bpy.context.scene.frame_current == 9
    stage.look("the frame redone")
    _redo()
    stage.look("the drag redone")


@fault(GROUP, "Frames and undo in turn, as in playback that is interrupted again and again", "afterwards")
def frames_and_undo_in_turn(stage: Stage) -> None:
    for k in range(1, 9):
        go_to(k)
        _push(f"frame {k}")
    for k in range(7, 0, -1):
        stage.play(range(k, k + 4))
        _undo()
        stage.look(f"after undo {k}")


@fault(GROUP, "Thirty steps are undone to the first and redone to the last", "undone to the first")
def many_steps(stage: Stage) -> None:
    # Without keys: where undo changes the frame, Blender brings what has keys back to them.
    stage.target.animation_data_clear()
    slide(stage.ob, (0.0, 0.0, 0.0), (0.2, 0.3, 0.0))
    go_to(1)
    # Blender keeps 32 steps.
    steps: list[Callable[[], object]] = [
        lambda: stage.drag(0.1, -0.4, 0.8),
        lambda: go_to(5),
        lambda: setattr(chain_of(stage), INFLUENCE[stage.solver], 0.5),
        lambda: setattr(chain_of(stage), INFLUENCE[stage.solver], 1.0),
        lambda: stage.drag(-0.2, 0.3, 0.4),
        lambda: setattr(stage.ob, "rotation_euler", (0.1, 0.0, 0.1)),
        lambda: setattr(stage.limbs[0].pose.bones["hips"], "location", (0.0, 0.1, 0.1)),
        lambda: go_to(9),
        lambda: setattr(stage.limbs[0].pose.bones["hips"], "location", (0.0, 0.0, 0.0)),
        lambda: go_to(1),
    ]
    states = []
    for k in range(30):
        steps[k % len(steps)]()
        update()
        _push(f"step {k}")
        states.append((bpy.context.scene.frame_current, pose_of(stage.ob)))
    for way in (reversed(range(29)), range(1, 30), reversed(range(29))):
        for k in way:
            (_redo if isinstance(way, range) else _undo)()
            frame, pose = states[k]
            assert bpy.context.scene.frame_current == frame
            assert not _differ(stage, pose), f"the pose of step {k} is another one"


@fault(GROUP, "Global undo is switched off")
def without_global_undo(stage: Stage) -> None:
    edit = bpy.context.preferences.edit
    edit.use_global_undo = False
    try:
        _push("before")
        stage.drag()
        _push("dragged")
        if bpy.ops.ed.undo.poll():
            _undo()
        stage.look("undone, as far as that goes")
        stage.follow("afterwards")
    finally:
        edit.use_global_undo = True


@fault(GROUP, "Undo in another scene than the leg's", "afterwards")
def undone_in_another_scene(stage: Stage) -> None:
    first = bpy.context.scene.name
    other = bpy.data.scenes.new("other")
    _push("two scenes")
    stage.drag()
    _push("dragged")
    bpy.context.window.scene = other
    other.frame_set(7)
    new_empty("something")
    _push("something in the other scene")
    _undo()
    _undo()
    bpy.context.window.scene = bpy.data.scenes[first]
    stage.look("back in the first scene")
    _redo()
    bpy.context.window.scene = bpy.data.scenes[first]
    stage.look("redone")


@fault(GROUP, "A chain is switched off, undone and redone")
def a_switch_is_undone(stage: Stage) -> None:
    def switch() -> None:
        if stage.ours:
            stage.limbs[0].tip.analytic_ik_enabled = False
        else:
            chain_of(stage).mute = True

    _step_undone_and_redone(stage, switch)


@fault(GROUP, "Undo in pose mode, bone by bone", "afterwards")
def undo_in_pose_mode(stage: Stage) -> None:
    with _mode(stage, "POSE"):
        _push("entered")
        hips = stage.ob.pose.bones["hips"]
        select_bones(stage.ob, "hips")
        for k in range(4):
            hips = stage.ob.pose.bones["hips"]
            hips.location.z = -0.05 * (k + 1)
            update()
            _push(f"hips {k}")
            stage.look(f"hips moved {k}")
        for k in range(4):
            _undo()
            stage.look(f"hips undone {k}")


@fault(GROUP, "The rotation mode of a chain's bone is changed, undone and redone")
def a_rotation_mode_is_undone(stage: Stage) -> None:
    _step_undone_and_redone(stage, lambda: setattr(stage.ob.pose.bones["thigh"], "rotation_mode", "XYZ"))


@fault(GROUP, "The whole stage is undone while handlers are paused, as during a bake in the window", "afterwards")
def undone_while_paused(stage: Stage) -> None:
    from ik_addon.rig.live import handlers as live

    _push("before")
    stage.drag()
    _push("dragged")
    with live.paused():
        _undo()
    stage.look("undone")
    with live.paused():
        _redo()
        go_to(9)
    update()
    go_to(4)
    stage.look("redone")
