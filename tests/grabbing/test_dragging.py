"""The drag of Grab: mouse, axes, numbers and keys give what the operator gives for the same place."""

from types import SimpleNamespace

import bpy
import pytest
from mathutils import Matrix, Vector

from ik_addon.grabbing.solving.drag import Drag, _Step
from ik_addon.ui.view import grab

from ..rig.rigs import update
from ..scenes import apart, enter, pose_of, without_blender
from .bodies import person

PIXEL = 0.01


class Window:
    """A view from the front, in which a pixel is a hundredth of a unit; says: the header's text."""

    def __init__(self, monkeypatch, **options):
        self.ob = person()
        enter("POSE", self.ob, "hips")
        update()
        monkeypatch.setattr(
            grab,
            "region_2d_to_location_3d",
            lambda _r, _v, at, deep: Vector((at[0] * PIXEL, deep.y, at[1] * PIXEL)),
        )
        monkeypatch.setattr(grab, "location_3d_to_region_2d", lambda _r, _v, place: Vector((place.x, place.z)) / PIXEL)
        self.says = []
        names = ("status_text_set", "cursor_modal_set", "cursor_modal_restore", "modal_handler_add")
        quiet = SimpleNamespace(**dict.fromkeys((*names, "gizmo_group_type_ensure"), lambda *_: None))
        area = SimpleNamespace(header_text_set=self.says.append, tag_redraw=lambda: None)
        real = bpy.context
        self.context = SimpleNamespace(
            scene=real.scene,
            view_layer=real.view_layer,
            preferences=SimpleNamespace(system=SimpleNamespace(ui_scale=1.0)),
            active_object=self.ob,
            evaluated_depsgraph_get=real.evaluated_depsgraph_get,
            region=None,
            region_data=SimpleNamespace(view_matrix=Matrix()),
            area=area,
            workspace=quiet,
            window=quiet,
            window_manager=quiet,
        )
        given = {
            "bone": "",
            "at_mouse": False,
            "look": False,
            "hips": "MOVE",
            "pin_feet": True,
            "rotation": "AUTO",
            "balance": 0.6,
            "lift_heels": True,
            "spine": 1.0,
            "properties": SimpleNamespace(is_property_set=lambda _: False),
        }
        self.operator = without_blender(grab.ANALYTIC_IK_OT_grab, **(given | options))
        self.before = pose_of(self.ob)

    def at(self, bone):
        place = self.ob.pose.bones[bone].head
        return place.x / PIXEL, place.z / PIXEL

    def start(self, x=0.0, y=0.0):
        self.result = self.operator.invoke(self.context, self.event("LEFTMOUSE", x, y))
        return self

    def event(self, kind, x=0.0, y=0.0, **more):
        given = {"value": "PRESS", "shift": False, "ctrl": False, "alt": False, "ascii": ""} | more
        return SimpleNamespace(type=kind, mouse_region_x=x, mouse_region_y=y, **given)

    def send(self, kind, x=0.0, y=0.0, **more):
        result = self.operator.modal(self.context, self.event(kind, x, y, **more))
        update()
        return result

    def hips(self):
        return self.ob.matrix_world @ self.ob.pose.bones["hips"].head


@pytest.fixture
def window(monkeypatch):
    own = Window(monkeypatch)
    yield own
    own.operator.cancel(own.context)


def test_the_mouse_brings_the_joint_where_the_operator_would(window):
    start = window.hips()
    window.start().send("MOUSEMOVE", 5.0, -30.0)
    assert (window.hips() - start - Vector((0.05, 0.0, -0.3))).length < 1e-6
    shown = pose_of(window.ob)
    assert window.send("ESC") == {"CANCELLED"} and window.says[-1] is None
    assert apart(window.before, pose_of(window.ob), 1.0) == 0.0
    bpy.ops.analytic_ik.grab(bone="hips", location=start + Vector((0.05, 0.0, -0.3)))
    update()
    assert apart(shown, pose_of(window.ob), 1.0) < 1e-6


def test_axes_numbers_steps_and_precision(window):
    start = window.hips()
    window.start().send("MOUSEMOVE", 4.0, -28.0)
    window.send("Z", 4.0, -28.0)
    assert (window.hips() - start - Vector((0.0, 0.0, -0.28))).length < 1e-6
    window.send("MOUSEMOVE", 4.0, -28.0, ctrl=True)
    assert (window.hips() - start - Vector((0.0, 0.0, -0.3))).length < 1e-6
    for sign in "-.2":
        window.send("PERIOD", 4.0, -28.0, ascii=sign)
    assert (window.hips() - start - Vector((0.0, 0.0, -0.2))).length < 1e-6
    for _ in range(3):
        window.send("BACK_SPACE", 4.0, -28.0)
    window.send("MOUSEMOVE", 4.0, -38.0, shift=True)
    assert (window.hips() - start - Vector((0.0, 0.0, -0.29))).length < 1e-6
    assert "held: 'foot.L', 'foot.R'" in window.says[-1]
    assert window.send("MIDDLEMOUSE") == {"PASS_THROUGH"}


def test_keys_change_how_the_body_gives_and_what_is_held(window):
    window.start().send("MOUSEMOVE", 0.0, -30.0)
    for key, name, value in (
        ("R", "rotation", "KEEP"),
        ("B", "balance", 0.0),
        ("H", "lift_heels", False),
        ("L", "look", True),
    ):
        window.send(key, 0.0, -30.0)
        assert getattr(window.operator, name) == value
    window.send("LEFT_ALT", 0.0, -30.0, alt=True)
    assert window.operator.hips == "STAY"
    window.send("LEFT_ALT", 0.0, -30.0)
    assert window.operator.hips == "MOVE"
    foot = window.ob.pose.bones["foot.L"]
    window.send("P", *window.at("foot.L"))
    assert foot.analytic_ik_pin == "FREE" and "'foot.L'" not in window.says[-1]
    window.send("RIGHTMOUSE")
    assert not foot.is_property_set("analytic_ik_pin")


def test_the_joint_under_the_mouse_is_dragged(monkeypatch):
    window = Window(monkeypatch, at_mouse=True)
    window.start(*window.at("hand.L"))
    assert window.operator.bone == "hand.L" and window.result == {"RUNNING_MODAL"}
    window.operator.cancel(window.context)
    window.start(500.0, 500.0)
    assert window.result == {"PASS_THROUGH", "CANCELLED"}
    assert apart(window.before, pose_of(window.ob), 1.0) == 0.0


def test_what_lies_over_another_is_taken_by_its_kind_and_depth():
    """The nearest one; of those as near an end before what is between, then what is nearer to the eye."""
    foot, knee, hips = Drag("LIMB", 0), Drag("JOINT", 0), Drag("HIPS")

    def taken(x, *seen):
        rows = [grab.SeenJoint(drag != foot, depth, bone, drag, Vector((at, 0.0))) for bone, drag, at, depth in seen]
        return grab.joint_under(Vector((x, 0.0)), rows, 1.0)

    assert taken(0.0, ("knee", knee, 0.0, 1.0), ("foot", foot, 3.0, 2.0)) == "foot"
    assert taken(0.0, ("knee", knee, 0.0, 1.0), ("foot", foot, 10.0, 0.0)) == "knee"
    assert taken(0.0, ("knee", knee, 0.0, 2.0), ("hips", hips, 1.0, 1.0)) == "hips"
    assert taken(0.0, ("foot.L", foot, 2.0, 1.0), ("foot.R", foot, 0.0, 2.0), ("knee", knee, 0.0, 0.0)) == "foot.L"
    assert taken(0.0, ("foot", foot, 41.0, 1.0)) == "" and taken(0.0) == ""
    # However near both are to the end of what is near.
    assert taken(0.0, ("knee", knee, 39.0, 1.0), ("foot", foot, 41.0, 0.0)) == "knee"


def test_a_drag_begins_where_the_button_was_pressed(monkeypatch):
    window = Window(monkeypatch, at_mouse=True)
    window.context.region = SimpleNamespace(x=100, y=50)
    start, (x, y) = window.hips(), window.at("hips")
    pressed = {"value": "CLICK_DRAG", "mouse_prev_press_x": x + 100, "mouse_prev_press_y": y + 50}
    window.operator.invoke(window.context, window.event("LEFTMOUSE", x + 60.0, y, **pressed))
    window.send("MOUSEMOVE", x, y - 30.0)
    assert window.operator.bone == "hips"
    assert (window.hips() - start - Vector((0.0, 0.0, -0.3))).length < 1e-6
    window.operator.cancel(window.context)


def test_a_limb_that_begins_where_the_trunk_turns_has_a_goal_too():
    body = SimpleNamespace(bones=SimpleNamespace(up=(0.0, 0.0, 1.0)), aside=(1.0, 0.0, 0.0))
    pivot, goal = (0.1, 0.2, 1.0), (0.5, -0.3, 0.2)
    assert _Step._ahead(SimpleNamespace(body=body), pivot, pivot, goal) == goal
