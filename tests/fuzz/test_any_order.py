"""Operators, edits, frames, undo, saving and switching the add-on off and on, in any order: what holds, holds on.

The suite does a short run. A long one:

    ANALYTIC_IK_FUZZ_STEPS=12000 pytest -s tests/fuzz/test_any_order.py

It prints its seed; with ANALYTIC_IK_FUZZ_SEED it is done again. What fails is cut down to a few steps, in a while.
ANALYTIC_IK_FUZZ_LOG names a file that gets every step before it is done, for runs that end with Blender itself; then
nothing is cut down, and the file ends with what failed.
"""

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from inspect import signature
from pathlib import Path
from random import SystemRandom
from time import perf_counter

import bpy
import hypothesis
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

import ik_addon
from ik_addon.rig.status.problems import faults_of, notes_of, warnings_of

from ..rig.rigs import update
from ..scenes import go_to, reopened, whole_state
from . import edits, laws
from .console import heard
from .playground import OWN_BONE, build

# NumPy's warnings would be printed in Blender.
pytestmark = [pytest.mark.versions, pytest.mark.filterwarnings("error::RuntimeWarning")]

STEPS = int(os.environ.get("ANALYTIC_IK_FUZZ_STEPS", "300"))
IN_A_ROW = 50
"""Steps from one empty file to the next."""
SEED = os.environ.get("ANALYTIC_IK_FUZZ_SEED")
LOG = os.environ.get("ANALYTIC_IK_FUZZ_LOG")
SAME = 2e-5
"""Of places and of matrices' elements, where two ways lead to one pose."""

which, bones, quarters = st.integers(0, 7), st.integers(0, 19), st.integers(-12, 12).map(lambda n: n / 4.0)
DRAWN = {
    "which": which,
    "other": which,
    "bone": bones,
    "choice": st.integers(0, 11),
    "amount": st.integers(-4, 4).map(lambda n: n / 4.0),
    "x": quarters,
    "y": quarters,
    "z": quarters,
    "yes": st.booleans(),
    "frame": st.sampled_from(edits.FRAMES),
}
"""By a parameter's name what is drawn for it."""

done: Counter[str] = Counter()
"""How often each step was taken."""


def step(function: Callable) -> Callable:
    """A rule whose arguments are drawn by their names; afterwards all laws hold."""
    names = [name for name in signature(function).parameters if name != "self"]

    @rule(**{name: DRAWN[name] for name in names})
    @wraps(function)
    def taken(self, **drawn: object) -> None:
        _note(f"    state.{function.__name__}({', '.join(f'{name}={value!r}' for name, value in drawn.items())})")
        done[function.__name__] += 1
        with heard() as said:
            with suppress(edits.AbsentError):
                function(self, **drawn)
            fk = laws.fk_channels()
            update()
        assert not said.complaint, said.complaint
        written = {where: (fk[where], now) for where, now in laws.fk_channels().items() if fk.get(where, now) != now}
        assert not written or self.has_nan(), written
        self.laws_hold()

    return taken


def _edit(function: Callable) -> Callable:
    """A step that is an edit of edits.py, with which a user pushes a step to undo."""

    @wraps(function)
    def edited(self, **drawn: object) -> None:
        function(**drawn)
        update()
        bpy.ops.ed.undo_push(message=function.__name__)

    return edited


def _note(line: str) -> None:
    if LOG:
        with open(LOG, "a") as file:
            print(line, file=file)


STILL = {"check", "select_chain", "mark_problems", "clear_marks", "copy_certificate", "lock_interface"}
"""Operators after which every bone stands where it stood."""
OVER_FRAMES = {"bake", "check", "snap_targets", "snap_pose"}
MAY_CHANGE = {
    "add": set(),
    "remove": {"objects", "actions", "places", "bones"},
    "rig_legs": set(),
    "limit_knees": {"locks"},
    "adopt": {"constraints", "drivers", "actions", "bones"},
    "restore": {"constraints", "drivers", "actions", "objects", "bones"},
    "snap_targets": {"places", "bones", "actions"},
    "snap_pose": {"actions"},
    "bake": {"actions"},
    "cure": {"actions", "constraints", "drivers", "objects", "places", "bones"},
    "go_to_frame": {"places", "bones"},
    "grab": {"places", "bones"},
    "pin": set(),
}
"""What of a file that is not the add-on's an operator may change, of what was there: see laws.foreign_state."""


class AnyOrder(RuleBasedStateMachine):
    """A file, a window without a screen, and people who do one thing after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="analytic-ik-any-order-"))

    @initialize(rigged=st.integers(0, 7))
    def start(self, rigged: int) -> None:
        _note(f"    state = AnyOrder()\n    state.start(rigged={rigged})")
        with heard() as said:
            bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
            build(rigged)
        assert not said.complaint, said.complaint
        self.body_action = bpy.data.objects["body"].animation_data.action.name
        self.strangers = laws.strangers_state(self.body_action)
        self.handlers = laws.own_handlers()
        assert set(self.handlers.values()) == {1}

    def teardown(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def laws_hold(self) -> None:
        """What holds after every step."""
        assert laws.own_handlers() == self.handlers
        left = laws.left_overs()
        assert not left, left
        state = laws.strangers_state(self.body_action)
        # Whole armatures may go, and their actions with them.
        for key, value in state.items():
            known = self.strangers.get(key) or self.strangers[OWN_BONE, "body"]
            assert value == known, (key, value, known)
        wrong = [] if self.has_nan() else laws.not_finite(laws.poses())
        assert not wrong, wrong
        missed = laws.missed_targets()
        assert not missed, missed

    def has_nan(self) -> bool:
        """Whether an edit made an object's place no number: what hangs on it by parenting is none either."""
        return any(value != value for ob in bpy.data.objects for value in ob.location)

    def is_wild(self) -> bool:
        """Whether poses need not be the same for other reasons than the add-on's."""
        return self.has_nan() or not laws.is_sound()

    # The add-on's operators

    def operate(self, name: str, and_back: bool = False, **options: object) -> None:
        """Call an operator as a button does. It does it, or refuses in a sentence and changes nothing."""
        update()
        if name in OVER_FRAMES or and_back:
            # What is animated and was moved by hand without a key goes back at the next frame, as ever; and where an
            # undo brings it back that was deleted.
            go_to(bpy.context.scene.frame_current_final)
        active = bpy.context.view_layer.objects.active
        calm = active is None or active.mode != "EDIT"
        bpy.ops.ed.undo_push(message="before")
        before, foreign, ghosts = whole_state() if calm else None, laws.foreign_state(), laws.ghosts()
        poses, unsettled = laws.poses(), laws.unsettled()
        try:
            outcome = getattr(bpy.ops.analytic_ik, name)("EXEC_DEFAULT", True, **options)
        except RuntimeError as refusal:
            outcome, sentence = {"REFUSED"}, str(refusal)
            assert "Traceback" not in sentence, sentence
            assert "context is incorrect" not in sentence, sentence
        done[f"{name}: {'refused' if 'REFUSED' in outcome else 'done'}"] += 1
        update()
        if outcome == {"REFUSED"}:
            if calm:
                differences = _settled(_differences(before, whole_state()), unsettled)
                assert not differences, (name, sentence, differences)
            return
        assert outcome == {"FINISHED"}
        differences = laws.changed(foreign, laws.foreign_state())
        unwanted = {kind: what for kind, what in differences.items() if kind not in MAY_CHANGE.get(name, set())}
        assert not unwanted, (name, options, unwanted)
        for action, (_, used) in foreign["actions"].items():
            # What a control that is deleted on request was moved by goes with it.
            assert "objects" in differences or not used or bpy.data.actions[action].users, (
                f"{name}: nobody uses {action} any more"
            )
        assert laws.ghosts() <= ghosts
        if name in STILL and laws.is_sound():
            difference, where = laws.apart(poses, laws.poses())
            assert difference <= SAME, f"{name}: {where} moved by {difference:.2e}"
        if and_back and calm and laws.is_sound():
            bpy.ops.ed.undo()
            update()
            differences = _settled(_differences(before, whole_state()), unsettled)
            assert not differences, (f"{name} was not undone", differences)

    @step
    def add(self, which, bone, other, choice, yes):
        edits.choose(which, bone, other, choice)
        solver = edits.SOLVERS[choice % 7] if choice > 8 else "AUTO"
        self.operate("add", chain_count=choice % 5, solver=solver, with_pole=yes)

    @step
    def rig_legs(self, which, yes, choice):
        edits.choose(which, 0, 0, choice)
        self.operate("rig_legs", choice == 7, arms=yes)

    @step
    def adopt(self, which, bone, yes, choice):
        edits.choose(which, bone, 0, choice)
        self.operate("adopt", choice == 7, all=yes)

    @step
    def restore(self, which, yes, choice):
        edits.choose_chain(which, choice)
        self.operate("restore", choice == 7, all=yes)

    @step
    def remove(self, which, yes, choice):
        edits.choose_chain(which, choice)
        self.operate("remove", choice == 7, keep_pose=yes, delete_controls=bool(choice % 2))

    @step
    def grab(self, which, bone, choice, x, y, z, yes):
        edits.choose(which, bone, 0, choice)
        self.operate("grab", choice == 7, location=(x, y, z), pin_feet=yes, look=choice == 5)

    @step
    def pin(self, which, bone, choice):
        edits.choose(which, bone, 0, choice)
        self.operate("pin", choice == 7)

    @step
    def limit_knees(self, which, choice):
        edits.choose_chain(which, choice)
        self.operate("limit_knees", choice == 7, min_bend=0.05 * (choice % 5), max_bend=0.15 + 0.5 * (choice % 3))

    @step
    def snap_targets(self, which, choice):
        edits.choose_chain(which, choice)
        self.operate("snap_targets", choice == 7, use_range=not choice % 3, frame_start=1, frame_end=5)

    @step
    def snap_pose(self, which, choice):
        edits.choose_chain(which, choice)
        self.operate("snap_pose", choice == 7, use_range=not choice % 3, frame_start=1, frame_end=5)

    @step
    def bake(self, which, choice, other, yes, frame):
        edits.choose_chain(which, other)
        self.operate(
            "bake",
            choice == 7,
            frame_start=1,
            frame_end=int(frame),
            frame_step=1 + choice % 2,
            action=("NEW", "COPY", "CURRENT")[choice % 3],
            after=("KEEP", "MUTE", "REMOVE")[other % 3],
            tolerance=0.01 * (choice % 2),
            only_selected=yes,
        )

    @step
    def check(self, which, choice, yes, frame):
        edits.choose_chain(which, choice)
        self.operate("check", frame_start=1, frame_end=int(frame), only_selected=yes)

    @step
    def cure(self, which, choice, yes):
        """One of the cures that are offered, or any."""
        edits.choose_chain(which, choice)
        ob = bpy.context.view_layer.objects.active
        offered = []
        if ob is not None and ob.type == "ARMATURE" and ob.mode != "EDIT":
            tips = [bone.name for bone in ob.pose.bones if bone.analytic_ik_enabled]
            found = [*faults_of(ob, tips, bpy.context.evaluated_depsgraph_get()).values()]
            found += [problem for tip in tips for problem in (*warnings_of(ob, tip), *notes_of(ob, tip))]
            offered = [cure for problem in found for cure in problem.cures]
        if offered and yes:
            kind, bone, what = offered[choice % len(offered)]
        else:
            kind = ("NEW_TARGET", "BRING_BACK_TARGET", "CLEAR_POLE", "FEWER_BONES", "SHOW_TARGET", "NO CURE")[
                choice % 6
            ]
            bone, what = edits.pose_bone(which, choice).name, ""
        self.operate("cure", choice == 7, kind=kind, bone=bone, what=what)

    @step
    def swivel(self, which, amount, choice):
        edits.choose_chain(which, choice)
        self.operate("swivel", choice == 7, angle=amount)

    @step
    def show_chain(self, which, choice):
        """What leaves the pose alone."""
        edits.choose_chain(which, choice)
        name = edits.tip(which).name
        operator = ("select_chain", "mark_problems", "clear_marks", "copy_certificate", "lock_interface")[choice % 5]
        self.operate(operator, choice == 6, **({"tip": name} if operator == "select_chain" else {}))

    @step
    def go_to_frame(self, which, frame):
        edits.choose_chain(which, which)
        self.operate("go_to_frame", frame=int(frame), bone=edits.tip(which).name)

    # Frames

    @step
    def frame(self, frame):
        go_to(frame)

    @step
    def play(self, frame, choice):
        for k in range(choice):
            go_to(frame + k)

    @step
    def there_and_back(self, frame, other, choice):
        """A frame's pose depends on that frame alone."""
        go_to(frame)
        first = laws.poses()
        for k in range(1 + other % 3):
            go_to(edits.FRAMES[(choice + 3 * k) % len(edits.FRAMES)])
        go_to(frame)
        difference, where = laws.apart(first, laws.poses())
        assert difference <= SAME or self.is_wild(), f"frame {frame}: {where} is {difference:.2e} off"

    # Undo, files, and the add-on itself

    @step
    def undo(self, choice):
        for _ in range(1 + choice % 3):
            if bpy.ops.ed.undo.poll():
                bpy.ops.ed.undo()

    @step
    def redo(self, choice):
        for _ in range(1 + choice % 3):
            if bpy.ops.ed.redo.poll():
                bpy.ops.ed.redo()

    @step
    def save_and_reload(self, frame):
        """The frame has the same pose in a file that was just opened, before and after it is gone to."""
        edits.out_of_edit_mode()
        go_to(frame)
        before = laws.poses()
        reopened(self.folder / "file.blend")
        update()
        opened = laws.poses()
        go_to(frame)
        again = laws.poses()
        bpy.ops.ed.undo_push(message="opened")
        for found, what in ((opened, "opened"), (again, "gone to")):
            difference, where = laws.apart(before, found)
            assert difference <= SAME or self.is_wild(), f"frame {frame}, {what}: {where} is {difference:.2e} off"

    @step
    def off_and_on(self, frame, yes):
        """The add-on is switched off and on again, and Blender goes on meanwhile."""
        ik_addon.unregister()
        try:
            assert laws.own_handlers() == {}
            if yes:
                go_to(frame)
        finally:
            ik_addon.register()
        go_to(frame)


def _equal(a: object, b: object) -> bool:
    """Whether two values are the same; of poses that were solved again, but for rounding."""
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(map(_equal, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= SAME * (1.0 + abs(a)) or repr(a) == repr(b)
    return repr(a) == repr(b)


def _differences(before: dict, after: dict, at: str = "") -> dict:
    """Where two states differ, by the way that leads there."""
    found = {}
    for key in {**before, **after}:
        a, b = before.get(key, "nothing"), after.get(key, "nothing")
        if isinstance(a, dict) and isinstance(b, dict):
            found |= _differences(a, b, f"{at}/{key}")
        elif not _equal(a, b):
            found[f"{at}/{key}"] = (a, b)
    return found


def _settled(differences: dict, unsettled: tuple[str, ...]) -> dict:
    return {at: values for at, values in differences.items() if not at.startswith(unsettled)}


for each in edits.EDITS:
    setattr(AnyOrder, each.__name__, step(_edit(each)))


def test_whatever_is_done_in_whatever_order_all_laws_hold():
    started, examples = perf_counter(), max(1, round(STEPS / IN_A_ROW))
    if "ANALYTIC_IK_FUZZ_STEPS" in os.environ:
        seed = int(SEED) if SEED else SystemRandom().randrange(2**32)
        print(f"\nANALYTIC_IK_FUZZ_SEED={seed}, Blender {bpy.app.version_string}")
        hypothesis.seed(seed)(AnyOrder)
    done.clear()
    try:
        run_state_machine_as_test(
            AnyOrder,
            settings=hypothesis.settings(
                max_examples=examples,
                stateful_step_count=IN_A_ROW,
                database=None,
                deadline=None,
                print_blob=True,
                report_multiple_bugs=False,
                phases=[hypothesis.Phase.generate] if LOG else list(hypothesis.Phase),
                suppress_health_check=list(hypothesis.HealthCheck),
                derandomize="ANALYTIC_IK_FUZZ_STEPS" not in os.environ,
            ),
        )
    finally:
        steps = sum(count for name, count in done.items() if ":" not in name)
        print(f"{steps} steps in {perf_counter() - started:.0f} s: {dict(sorted(done.items()))}")
