"""Files as no rigger means them: opened, played, looked at, checked, baked. Nothing hangs, crashes or raises."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import bpy
import pytest

from ik_addon.rig.data.settings import settings_of

from ..rig.rigs import update
from ..scenes import EXACT, enter, reopened, walking_leg
from ..ui.layouts import drawn
from . import hostile
from .exercise import armatures, exercised, panels

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).parents[2]
COMMAND = "import sys; from ik_addon.__main__ import main; sys.exit(main())"
HEAVY = "ANALYTIC_IK_HEAVY" in os.environ
"""Whether files are made as large as the issue names them; else a tenth."""
WRONG_TARGETS = (
    "mesh",
    "camera",
    "itself",
    "its own tip",
    "its own root",
    "its own child",
    "nobody's bone",
    "pole is the target",
)
PLACES = (
    "object of no size",
    "object of one flat side",
    "object that is mirrored",
    "huge object",
    "tiny object",
    "object without numbers",
    "object nowhere",
    "bone of no size",
    "huge bone",
    "tiny bone",
    "bone without numbers",
    "bone turned without numbers",
    "bone turned by nothing",
    "target nowhere",
    "target at no end",
    "target far away",
    "target at the root",
    "parent without numbers",
    "keys without numbers",
)
KINDS = ("enabled", "target", "subtarget", "chain_count", "solver", "influence", "record", "record_adopted")


def cases() -> Iterator[tuple[str, Callable[[], object]]]:
    for name, values in hostile.NUMBERS.items():
        for value in values:
            yield f"{name} is {value}", partial(hostile.number, name, value)
    for name in KINDS:
        for value in hostile.KINDS:
            yield f"{name} is {value!r}", partial(hostile.kind, name, value)
    for value in (1e30, -1e30, hostile.NAN):
        yield f"keys of {value}", partial(hostile.animated_numbers, value)
    yield "drivers that fail", hostile.broken_drivers
    for what in WRONG_TARGETS:
        yield f"target: {what}", partial(hostile.wrong_target, what)
    yield "target in a library that is gone", hostile.missing_library
    for length in (1, 2, 7):
        yield f"a circle of {length}", partial(hostile.circle, length)
    yield "armatures on each other's bones", hostile.armature_on_its_own_bone
    for name, text in hostile.NAMES.items():
        yield f"names: {name}", partial(hostile.named, text)
    for what in PLACES:
        yield what, partial(hostile.placed, what)
    yield "no bones", hostile.empty_armature
    yield "no length", hostile.without_length


CASES = dict(cases())


def made_and_opened(make: Callable[[], object], folder: Path) -> Path:
    make()
    file = folder / "hostile.blend"
    reopened(file)
    return file


@pytest.mark.some(30)
@pytest.mark.parametrize("case", CASES)
def test_nothing_is_raised(case, tmp_path, capfd):
    made_and_opened(CASES[case], tmp_path)
    exercised()
    said = "".join(capfd.readouterr())
    assert "Please report" not in said
    assert "ik_addon" not in said


@pytest.mark.some(6)
@pytest.mark.parametrize("name", [name for name, values in hostile.NUMBERS.items() if not name.startswith("record")])
def test_a_setting_that_is_no_number_is_told_and_any_other_is_in_its_range(name, tmp_path):
    for value in hostile.NUMBERS[name]:
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        made_and_opened(partial(hostile.number, name, value), tmp_path)
        [ob] = armatures()
        enter("POSE", ob, "shin")
        settings = settings_of(ob.pose.bones["shin"])
        if value != value:
            shown = " ".join(drawn(kind).text() for kind in panels() if kind.__name__ == "ANALYTIC_IK_PT_sidebar")
            if name not in ("cone", "min_bend"):
                assert "is not a number. Enter a new value" in shown
            continue
        assert 0.0 <= settings.influence <= 1.0
        assert 0.0 <= settings.softness <= 0.5
        assert settings.stretch_max >= 1.0
        assert settings.solver and settings.reach


@pytest.mark.parametrize("name", [name for name in hostile.NAMES])
def test_a_chain_with_such_names_works(name, tmp_path):
    """Not only is nothing raised: it follows, and its keys play."""
    made_and_opened(partial(hostile.named, hostile.NAMES[name]), tmp_path)
    [ob] = armatures()
    [tip] = [bone for bone in ob.pose.bones if bone.analytic_ik_enabled]
    for bake in (False, True):
        if bake:
            enter("POSE", ob, tip.name)
            bpy.ops.analytic_ik.bake(frame_start=1, frame_end=12)
            assert not tip.analytic_ik_enabled
            bpy.ops.object.mode_set(mode="OBJECT")
        for frame in (3, 9):
            bpy.context.scene.frame_set(frame)
            evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
            tail = evaluated.matrix_world @ evaluated.pose.bones[tip.name].tail
            assert (tail - tip.analytic_ik_target.matrix_world.translation).length < EXACT * 2.0


def test_a_record_that_holds_no_numbers_loses_no_pose(tmp_path):
    made_and_opened(partial(hostile.number, "record", [hostile.NAN] * 9), tmp_path)
    [ob] = armatures()
    tip = ob.pose.bones["shin"]
    tip.analytic_ik_enabled = False
    update()
    assert all(value == value for bone in ob.pose.bones for value in bone.rotation_quaternion)


# Texts that the add-on keeps


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


TEXTS = {
    "nothing": "{}",
    "no JSON": "{{{",
    "deep": nested(100_000),
    "unbalanced": "[" * 100_000,
    "a number": "12",
    "endless numbers": json.dumps([[1, "x"], [float("inf"), "y"]]),
    "huge": json.dumps(["x" * 1000] * 10_000),
    "many digits": "9" * 10_000,
    "kinds": json.dumps({"bone": 1, "constraint": [], "helper": {}, "animated": 1, "fk": 3}),
    "lengths": json.dumps(
        {"bone": "shin", "constraint": "IK", "helper": None, "animated": 1, "fk": {"shin": ["XYZ", [1], ["a"]]}}
    ),
}


@pytest.mark.some(5)
@pytest.mark.parametrize("text", TEXTS)
def test_what_is_kept_as_text_may_be_any_text(text, tmp_path, capfd):
    def make() -> None:
        rig = walking_leg()
        rig.ob.analytic_ik_report = rig.ob.analytic_ik_marks = rig.tip.analytic_ik_record_adopted = TEXTS[text]
        rig.tip.constraints.new("IK").mute = True

    made_and_opened(make, tmp_path)
    [ob] = armatures()
    enter("POSE", ob, "shin")
    shown = " ".join(drawn(kind).text() for kind in panels() if kind.__name__ == "ANALYTIC_IK_PT_certificate")
    assert "cannot be read. Check or bake again" in shown
    with pytest.raises(RuntimeError, match=r"cannot be read. Remove the chain instead|is no longer there. Remove"):
        bpy.ops.analytic_ik.restore()
    bpy.ops.analytic_ik.clear_marks()
    bpy.ops.object.mode_set(mode="OBJECT")
    exercised()
    assert "Please report" not in "".join(capfd.readouterr())


def test_a_subtarget_of_what_has_no_bones_is_refused():
    """Snapping to a mesh's vertex group that a Copy Location would know."""
    hostile.wrong_target("mesh")
    [ob] = armatures()
    enter("POSE", ob, "shin")
    with pytest.raises(RuntimeError, match=r"has no bone 'vertex group'. Choose one") as refusal:
        bpy.ops.analytic_ik.snap_targets()
    assert "Traceback" not in str(refusal.value)


# The command line


COMMANDED = ("names: quotes", "names: letters", "influence is nan", "a circle of 7", "target far away", "no length")


def test_the_command_line_says_a_sentence_each(tmp_path):
    """One process for all, in a terminal that knows no letters but those of English."""
    files = []
    for case in COMMANDED:
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        files.append(made_and_opened(CASES[case], tmp_path).rename(tmp_path / f"{len(files)}.blend"))
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "check", *files, "--frames", "1-5", "--certificate", tmp_path / "c.txt"],
        env=os.environ | {"PYTHONPATH": str(CHECKOUT), "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    told = done.stdout + done.stderr
    assert all(f"{file}: " in told for file in files)
    assert "is not a number. Enter a new value" in done.stderr
    assert "move each other's controls" in done.stderr
    assert (tmp_path / "c.txt").read_text(encoding="utf-8")


# Many


MANY = {
    "a chain of bones": (hostile.long_chain, 10_000, 300),
    "a small chain below bones": (hostile.many_bones, 10_000, 1_200),
    "chains": (hostile.many_chains, 1_000, 100),
    "parents of a target": (hostile.deep_parents, 5_000, 1_500),
    "keys": (hostile.many_keys, 1_000_000, 100_000),
}


@pytest.mark.some(1)
@pytest.mark.parametrize("what", MANY)
def test_many_of_them_neither_hang_nor_crash(what, tmp_path):
    """In a process of its own, which is ended after ten minutes; more than Python's depth of recursion each."""
    make, many, some = MANY[what]
    made_and_opened(partial(make, many if HEAVY else some), tmp_path)
    script = (
        "import os, bpy, ik_addon; ik_addon.register()\n"
        "from tests.faults.exercise import exercised\n"
        f"bpy.ops.wm.open_mainfile(filepath={str(tmp_path / 'hostile.blend')!r})\n"
        "print('spent', exercised(), flush=True); os._exit(0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "spent" in done.stdout and "Please report" not in done.stdout
