"""Work in the window, and what interrupts it: Esc, a mistake, a window that goes. Then nothing was changed."""

from itertools import count
from types import SimpleNamespace

import bpy
import pytest

from ik_addon.rig.live import handlers as live
from ik_addon.ui.operators import rigs as rig_operators
from ik_addon.ui.operators import stepped as range_operators
from ik_addon.ui.operators.stepped import running

from ..rig.rigs import update
from ..scenes import EXACT, enter, go_to, missed_world, walking_leg, whole_state, without_blender

OPERATORS = {
    "bake": range_operators.ANALYTIC_IK_OT_bake,
    "check": range_operators.ANALYTIC_IK_OT_check,
    "snap_targets": rig_operators.ANALYTIC_IK_OT_snap_targets,
    "snap_pose": rig_operators.ANALYTIC_IK_OT_snap_pose,
}


class Manager:
    """Stands for the window manager: which timers and modal operators there are."""

    def __init__(self):
        self.timers, self.modal, self.windows = [], [], []

    def event_timer_add(self, seconds, window):
        self.timers.append(seconds)
        return len(self.timers)

    def event_timer_remove(self, timer):
        self.timers.pop()

    def modal_handler_add(self, operator):
        self.modal.append(operator)


class Window:
    """An operator as a window runs it: asked, confirmed, then told of timers and keys."""

    def __init__(self, name: str, monkeypatch, **options):
        kind = OPERATORS[name]
        self.manager, self.status, self.reports = Manager(), [], []
        self.context = SimpleNamespace(
            window_manager=self.manager,
            window=None,
            workspace=SimpleNamespace(status_text_set=self.status.append),
            **{each: getattr(bpy.context, each) for each in ("scene", "view_layer", "object", "active_object")},
            evaluated_depsgraph_get=bpy.context.evaluated_depsgraph_get,
        )
        rna = getattr(bpy.ops.analytic_ik, name).get_rna_type().properties
        defaults = {each.identifier: each.default for each in rna if hasattr(each, "default")}
        self.operator = without_blender(kind, **defaults | options)
        self.operator.report = lambda kinds, text: self.reports.append((kinds, text))
        self.operator.properties = SimpleNamespace(is_property_set=lambda _: True)
        self.operator._asked = True
        # Always in steps, one at each tick.
        monkeypatch.setattr(range_operators, "_PATIENCE", 0.0)

    def start(self) -> set[str]:
        return self.operator.execute(self.context)

    def send(self, event: str) -> set[str]:
        return self.operator.modal(self.context, SimpleNamespace(type=event))


def working(name: str, monkeypatch) -> tuple[Window, object, dict]:
    """A leg that is read frame by frame, in the middle of being worked on; and all as it was before."""
    rig = walking_leg()
    rig.ob.data.bones["shin"].use_local_location = False
    enter("POSE", rig.ob, "shin")
    go_to(4.25)
    before = whole_state()
    options = {"frame_start": 1, "frame_end": 12, "frame_step": 1, "only_selected": False, "use_range": True}
    window = Window(name, monkeypatch, **options)
    assert window.start() == {"RUNNING_MODAL"}
    # A frame or two at each tick.
    clock = count()
    monkeypatch.setattr(range_operators, "perf_counter", lambda: 0.06 * next(clock))
    return window, rig, before


def is_same(a: object, b: object) -> bool:
    """Whether two states are the same but for the last bit of what was solved once more."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(is_same(value, b[key]) for key, value in a.items())
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(map(is_same, a, b))
    return abs(a - b) < 2e-7 if isinstance(a, float) and isinstance(b, float) else a == b


def assert_as_before(window: Window, rig, before: dict) -> None:
    assert running() is None
    assert window.manager.timers == []
    assert window.status[-1] is None
    update()
    assert is_same(whole_state(), before)
    for frame in (2, 9):
        go_to(frame)
        assert missed_world(rig) < EXACT * 2.0


@pytest.mark.some(5)
@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("ticks", [0, 1, 3])
def test_esc_leaves_everything_as_it_was(name, ticks, monkeypatch):
    window, rig, before = working(name, monkeypatch)
    for _ in range(ticks):
        assert window.send("TIMER") == {"PASS_THROUGH"}
    assert window.send("MOUSEMOVE") == {"RUNNING_MODAL"}
    assert window.send("ESC") == {"CANCELLED"}
    assert window.reports[-1][1].endswith("was cancelled, nothing was changed")
    assert_as_before(window, rig, before)


@pytest.mark.parametrize("name", OPERATORS)
def test_a_window_that_goes_leaves_everything_as_it_was(name, monkeypatch):
    window, rig, before = working(name, monkeypatch)
    window.send("TIMER")
    window.operator.cancel(window.context)
    assert_as_before(window, rig, before)


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt, ValueError])
def test_a_mistake_while_it_runs_leaves_everything_as_it_was(error, monkeypatch):
    window, rig, before = working("bake", monkeypatch)
    window.send("TIMER")

    real, failed = live.solve_scene, []

    def fails(*arguments, **options):
        # Once: going back to where one was solves the chains as well.
        if not failed:
            failed.append(True)
            raise error("planned")
        return real(*arguments, **options)

    monkeypatch.setattr(live, "solve_scene", fails)
    with pytest.raises(error):
        window.send("TIMER")
    assert_as_before(window, rig, before)


def test_what_is_not_interrupted_comes_to_its_end(monkeypatch):
    window, rig, _ = working("bake", monkeypatch)
    for _ in range(100):
        if (state := window.send("TIMER")) != {"PASS_THROUGH"}:
            break
    assert state == {"FINISHED"}
    assert window.reports[-1][1].startswith("Baked 1 chain")
    assert running() is None and window.manager.timers == []
    assert not rig.tip.analytic_ik_enabled
