"""Swivelling turns the knee about the line from root to target and nothing else; dragging does it with the mouse."""

from math import cos, pi, radians, sin
from types import SimpleNamespace

import bpy
import pytest
from mathutils import Quaternion, Vector

from ik_addon.authoring.selection import live_tip
from ik_addon.ui.view import swivel
from ik_addon.ui.view.swivel import ANALYTIC_IK_GGT_swivel, ANALYTIC_IK_OT_swivel, circle_of

from ..rig.rigs import Rig, leg, random_rig, random_unit, reach, update
from ..scenes import curves_of, enter, go_to, keyed_frames, walking_leg, whole_state, without_blender

SEEDS = range(20)


def live(seed: int, count: int = 2) -> Rig:
    """A live chain on any armature with its target well in reach, in pose mode with its tip active."""
    rig = random_rig(seed, count)
    near, far = reach(rig.lengths())
    rig.place_target(rig.joints()[0] + random_unit(rig.random) * (near + (far - near) * rig.random.uniform(0.4, 0.8)))
    if rig.pole:
        rig.place_pole(rig.joints()[0] + random_unit(rig.random) * 3.0)
    rig.enable()
    enter("POSE", rig.ob, rig.bones[-1])
    update()
    return rig


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_knee_turns_by_the_angle_about_the_line_from_root_to_tip(seed, count):
    rig = live(seed, count)
    angle = rig.random.uniform(-pi, pi)
    before = rig.joints()
    assert bpy.ops.analytic_ik.swivel(angle=angle) == {"FINISHED"}
    update()
    after = rig.joints()
    turn = Quaternion(before[-1] - before[0], angle)
    close = 1e-4 * sum(rig.lengths())
    for old, new in zip(before, after, strict=True):
        assert (before[0] + turn @ (old - before[0]) - new).length < close
    assert (after[0] - before[0]).length < close
    assert (after[-1] - before[-1]).length < close


@pytest.mark.parametrize("seed", SEEDS)
def test_the_circle_is_where_the_knee_goes(seed):
    rig = live(seed)
    circle = circle_of(rig.ob, rig.bones[-1], bpy.context.evaluated_depsgraph_get())
    assert circle is not None
    assert (circle.knee_world - rig.to_world(rig.joints()[1])).length < 1e-4
    for angle in (0.5, 2.0, 4.0):
        bpy.ops.analytic_ik.swivel(angle=angle - rig.tip.analytic_ik_swivel)
        update()
        on_circle = circle.matrix_world() @ Vector((cos(angle), sin(angle), 0.0))
        assert (on_circle - rig.to_world(rig.joints()[1])).length < 1e-3 * sum(rig.lengths())


@pytest.mark.parametrize("seed", SEEDS)
def test_a_ray_through_a_point_of_the_circle_meets_it_there(seed):
    rig = live(seed)
    circle = circle_of(rig.ob, rig.bones[-1], bpy.context.evaluated_depsgraph_get())
    for angle in (0.3, -1.2, 2.9):
        point = circle.matrix_world() @ Vector((cos(angle), sin(angle), 0.0))
        eye = circle.world @ (circle.centre + circle.axis * 5.0 + circle.towards)
        assert circle.angle_of(eye, point - eye) == pytest.approx(angle, abs=1e-3)
    assert circle.angle_of(point, circle.world.to_3x3() @ circle.towards) is None


@pytest.mark.parametrize("bone", ["thigh", "shin", "foot"])
def test_any_bone_of_the_limb_will_do(bone):
    rig = walking_leg()
    enter("POSE", rig.ob, bone)
    assert live_tip(bpy.context) == rig.tip
    bpy.ops.analytic_ik.swivel(angle=0.5)
    assert rig.tip.analytic_ik_swivel == pytest.approx(0.5)
    bpy.ops.analytic_ik.swivel(angle=-0.2)
    assert rig.tip.analytic_ik_swivel == pytest.approx(0.3)


def test_a_bone_of_no_chain_is_refused():
    rig = walking_leg()
    enter("POSE", rig.ob, "hips")
    assert live_tip(bpy.context) is None
    assert not bpy.ops.analytic_ik.swivel.poll()
    enter("POSE", rig.ob, "shin")
    assert bpy.ops.analytic_ik.swivel.poll()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not bpy.ops.analytic_ik.swivel.poll()


def no_target(rig: Rig) -> None:
    rig.tip.analytic_ik_target = None


def one_bone(rig: Rig) -> None:
    rig.tip.analytic_ik_chain_count = 1


def driven(rig: Rig) -> None:
    rig.tip.driver_add("analytic_ik_swivel")


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (no_target, "there is no target. Choose an object as its Target"),
        (one_bone, "its chain has one bone and so no knee. Set Chain Length to 2 or more"),
        (driven, "a driver sets its swivel. Remove that driver"),
    ],
)
def test_what_cannot_be_swivelled_is_refused_with_the_bones_name(spoil, sentence):
    rig = walking_leg()
    enter("POSE", rig.ob, "shin")
    spoil(rig)
    update()
    with pytest.raises(RuntimeError, match=f"Bone 'shin': {sentence}"):
        bpy.ops.analytic_ik.swivel(angle=0.5)
    assert rig.tip.analytic_ik_swivel == 0.0


def test_a_straight_limb_cannot_be_dragged_and_says_so():
    rig = leg()
    rig.target.place((0.0, -5.0, 2.0))
    rig.enable()
    enter("POSE", rig.ob, "shin")
    before, said = whole_state(), []
    assert operator_that_says(said).invoke(bpy.context, None) == {"CANCELLED"}
    assert said == ["Bone 'shin': its limb is straight, so its knee cannot swing around. Bend it first."]
    assert whole_state() == before


def test_what_is_missing_is_told_before_anything_is_pressed():
    rig = walking_leg()
    enter("POSE", rig.ob, "hips")
    with pytest.raises(
        RuntimeError, match=r"Armature 'leg': no live chain is active. Select a bone or a control of one"
    ):
        bpy.ops.analytic_ik.swivel()
    enter("OBJECT", rig.ob, "shin")
    with pytest.raises(
        RuntimeError, match=r"No armature is in Pose Mode. Make an armature the active object and enter Pose Mode"
    ):
        bpy.ops.analytic_ik.swivel()


# Keys


def swivel_keys(rig: Rig) -> list[float]:
    curve = curves_of(rig.ob).get((f"{rig.tip.path_from_id()}.analytic_ik_swivel", 0))
    return keyed_frames(curve) if curve else []


@pytest.fixture
def only_available():
    """Blender's own preference: keys go only where an F-Curve is. Newer versions have it on from the start."""
    edit = bpy.context.preferences.edit
    before = edit.use_keyframe_insert_available
    yield edit
    edit.use_keyframe_insert_available = before


def test_auto_keying_keys_it(only_available):
    rig = walking_leg()
    enter("POSE", rig.ob, "thigh")
    bpy.ops.analytic_ik.swivel(angle=0.2)
    assert swivel_keys(rig) == []
    tools = bpy.context.scene.tool_settings
    tools.use_keyframe_insert_auto, tools.auto_keying_mode = True, "ADD_REPLACE_KEYS"
    go_to(4)
    only_available.use_keyframe_insert_available = True
    bpy.ops.analytic_ik.swivel(angle=0.0)
    assert swivel_keys(rig) == []
    only_available.use_keyframe_insert_available = False
    bpy.ops.analytic_ik.swivel(angle=0.2)
    only_available.use_keyframe_insert_available = True
    go_to(9)
    bpy.ops.analytic_ik.swivel(angle=0.3)
    assert swivel_keys(rig) == [4.0, 9.0]
    go_to(4)
    assert rig.tip.analytic_ik_swivel == pytest.approx(0.4)
    tools.auto_keying_mode = "REPLACE_KEYS"
    bpy.ops.analytic_ik.swivel(angle=0.1)
    go_to(6)
    bpy.ops.analytic_ik.swivel(angle=0.1)
    assert swivel_keys(rig) == [4.0, 9.0]
    go_to(4)
    assert rig.tip.analytic_ik_swivel == pytest.approx(0.5)


# Dragging


class View:
    """A 3D view that looks along the circle's axis, or at its edge, and what the operator asks of the context."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, rig: Rig) -> None:
        self.header = ""
        self.rig = rig
        self.circle = circle_of(rig.ob, rig.bones[-1], bpy.context.evaluated_depsgraph_get())
        eye = self.circle.world @ (self.circle.centre + self.circle.axis * 10.0)
        monkeypatch.setattr(swivel, "region_2d_to_origin_3d", lambda region, view, mouse: eye)
        monkeypatch.setattr(swivel, "region_2d_to_vector_3d", lambda region, view, mouse: self.at(mouse[0]) - eye)
        real = bpy.context
        self.context = SimpleNamespace(
            active_object=real.active_object,
            scene=real.scene,
            preferences=real.preferences,
            view_layer=real.view_layer,
            region=None,
            region_data=SimpleNamespace(),
            area=SimpleNamespace(header_text_set=self._say),
            workspace=SimpleNamespace(status_text_set=lambda text: None),
            window=SimpleNamespace(cursor_modal_set=lambda kind: None, cursor_modal_restore=lambda: None),
            window_manager=SimpleNamespace(modal_handler_add=lambda operator: None),
        )

    def _say(self, text: str | None) -> None:
        self.header = text

    def at(self, angle: float) -> Vector:
        """The mouse's first coordinate is the angle on the circle at which it points."""
        return self.circle.matrix_world() @ Vector((cos(angle), sin(angle), 0.0))

    def event(self, kind: str, value: str = "PRESS", angle: float = 0.0, **more: object) -> SimpleNamespace:
        given = {"ctrl": False, "shift": False, "ascii": ""} | more
        return SimpleNamespace(type=kind, value=value, mouse_region_x=angle, mouse_region_y=0.0, **given)


def operator_that_says(said: list[str], **options: object) -> SimpleNamespace:
    """The operator without Blender behind it. said: gets what it reports."""
    return without_blender(
        ANALYTIC_IK_OT_swivel, report=lambda self, kind, text: said.append(text), **({"angle": 0.0} | options)
    )


class Dragging:
    """The operator as Blender runs it, without a window."""

    def __init__(self, view: View, **options: object) -> None:
        self.view = view
        self.operator = operator_that_says([], **options)
        assert self.operator.invoke(view.context, view.event("LEFTMOUSE")) == {"RUNNING_MODAL"}

    def send(self, kind: str, value: str = "PRESS", angle: float = 0.0, **more: object) -> set[str]:
        return self.operator.modal(self.view.context, self.view.event(kind, value, angle, **more))


@pytest.fixture
def view(monkeypatch):
    rig = walking_leg()
    enter("POSE", rig.ob, "shin")
    update()
    return View(monkeypatch, rig)


def move(dragging: Dragging, *angles: float, **more: object) -> float:
    for angle in angles:
        assert dragging.send("MOUSEMOVE", "NOTHING", angle, **more) == {"RUNNING_MODAL"}
    return dragging.view.rig.tip.analytic_ik_swivel


def test_the_knee_follows_the_mouse_more_than_once_round(view):
    dragging = Dragging(view)
    assert move(dragging, 0.5) == pytest.approx(0.5, abs=1e-4)
    assert "28.6" in view.header
    update()
    assert (view.rig.to_world(view.rig.joints()[1]) - view.at(0.5)).length < 1e-4
    assert move(dragging, 2.0, 4.0, 6.0, 8.0) == pytest.approx(8.0, abs=1e-3)
    assert dragging.send("LEFTMOUSE") == {"FINISHED"}
    assert view.header is None
    assert view.rig.tip.analytic_ik_swivel == pytest.approx(8.0, abs=1e-3)


@pytest.mark.parametrize("key", ["ESC", "RIGHTMOUSE"])
@pytest.mark.parametrize("start", [None, 0.1234567])
def test_what_is_cancelled_is_as_before(view, key, start):
    if start is not None:
        view.rig.tip.analytic_ik_swivel = start
    update()
    before, joints = view.rig.tip.analytic_ik_swivel, view.rig.joints()
    dragging = Dragging(view)
    move(dragging, 0.5, 1.0)
    assert dragging.send(key) == {"CANCELLED"}
    update()
    assert view.rig.tip.analytic_ik_swivel == before
    assert view.rig.tip.is_property_set("analytic_ik_swivel") == (start is not None)
    assert all((a - b).length < 1e-6 for a, b in zip(view.rig.joints(), joints, strict=True))


def test_ctrl_snaps_and_shift_is_precise(view):
    dragging = Dragging(view)
    assert move(dragging, radians(18.0), ctrl=True) == pytest.approx(radians(20.0), abs=1e-5)
    dragging = Dragging(view)
    start = view.rig.tip.analytic_ik_swivel
    assert move(dragging, 1.0, shift=True) - start == pytest.approx(0.1, abs=1e-4)


def test_a_number_can_be_typed(view):
    dragging = Dragging(view)
    move(dragging, 0.4)
    for sign in "37.5":
        dragging.send("A", ascii=sign)
    assert view.rig.tip.analytic_ik_swivel == pytest.approx(radians(37.5))
    dragging.send("MINUS", ascii="-")
    assert view.rig.tip.analytic_ik_swivel == pytest.approx(radians(-37.5))
    for _ in range(5):
        dragging.send("BACK_SPACE")
    assert view.rig.tip.analytic_ik_swivel == pytest.approx(0.4, abs=1e-4)
    assert dragging.send("RET") == {"FINISHED"}


def test_a_gizmo_that_is_let_go_confirms(view):
    dragging = Dragging(view, release_confirm=True)
    move(dragging, 0.3)
    assert dragging.send("LEFTMOUSE", "RELEASE") == {"FINISHED"}
    assert Dragging(view).send("LEFTMOUSE", "RELEASE") == {"PASS_THROUGH"}


def test_it_ends_where_its_bone_is_gone(view):
    dragging = Dragging(view)
    bpy.context.view_layer.objects.active = None
    assert dragging.send("MOUSEMOVE", "NOTHING", 0.3) == {"CANCELLED"}
    assert view.header is None


# The gizmo


class Gizmo(SimpleNamespace):
    """Stands for a gizmo."""

    def target_set_operator(self, name: str) -> SimpleNamespace:
        self.operator = SimpleNamespace(name=name)
        return self.operator


def gizmo_group(context) -> SimpleNamespace:
    group = SimpleNamespace(gizmos=SimpleNamespace(new=lambda kind: Gizmo(kind=kind)))
    for name in ("_gizmo", "_give_up"):
        setattr(group, name, getattr(ANALYTIC_IK_GGT_swivel, name).__get__(group))
    ANALYTIC_IK_GGT_swivel.setup(group, context)
    ANALYTIC_IK_GGT_swivel.refresh(group, context)
    ANALYTIC_IK_GGT_swivel.draw_prepare(group, context)
    return group


def gizmo_context() -> SimpleNamespace:
    update()
    real = bpy.context
    shown = SimpleNamespace(show_gizmo=True, overlay=SimpleNamespace(show_overlays=True))
    return SimpleNamespace(
        active_object=real.active_object, scene=real.scene, view_layer=real.view_layer, space_data=shown
    )


@pytest.mark.parametrize("seed", range(6))
def test_the_dial_is_the_knees_circle_and_drags_it(seed):
    rig = live(seed)
    group = gizmo_group(gizmo_context())
    assert not group.dial.hide
    assert not group.handle.hide
    knee = rig.to_world(rig.joints()[1])
    assert (group.dial.matrix_basis @ Vector((1.0, 0.0, 0.0)) - knee).length < 1e-4
    assert (group.handle.matrix_basis.to_translation() - knee).length < 1e-4
    for gizmo in (group.dial, group.handle):
        assert gizmo.operator.name == "analytic_ik.swivel"
        assert gizmo.operator.release_confirm


def test_the_gizmo_hides_where_there_is_no_circle():
    rig = walking_leg()
    enter("POSE", rig.ob, "shin")
    assert not gizmo_group(gizmo_context()).dial.hide
    rig.tip.analytic_ik_influence = 0.0
    assert gizmo_group(gizmo_context()).dial.hide
    rig.tip.analytic_ik_influence = 1.0
    rig.tip.analytic_ik_target = None
    assert gizmo_group(gizmo_context()).dial.hide
    straight = leg("straight")
    straight.target.place((0.0, -5.0, 2.0))
    straight.enable()
    bpy.ops.object.mode_set(mode="OBJECT")
    enter("POSE", straight.ob, "shin")
    assert gizmo_group(gizmo_context()).handle.hide
    enter("POSE", straight.ob, "hips")
    assert gizmo_group(gizmo_context()).handle.hide


def test_a_gizmo_that_fails_hides_and_says_so_once(monkeypatch, capsys):
    def fail(*_):
        raise RuntimeError("no circle today")

    rig = walking_leg()
    enter("POSE", rig.ob, "shin")
    monkeypatch.setattr("ik_addon.ui.view.swivel.circle_of", fail)
    for _ in range(2):
        assert gizmo_group(gizmo_context()).dial.hide
    assert capsys.readouterr().out.count("Please report this") == 1
