"""Whether every message is met is judged of the processes of a run together: small suites with the same judge."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .every_message import MESSAGES

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parent
UNMET = sorted(MESSAGES)[-1]
SETTINGS = f"""
[pytest]
addopts = --import-mode=importlib --dist=loadfile
pythonpath = . {TESTS.parent.as_posix()}
markers =
    slow
    deep
"""
# Two files, each of which meets one half of the messages, so that of two processes none meets them all.
HALF = f"""
import pytest
from tests.every_message import MESSAGES

def test_half():
    for name in sorted(MESSAGES.keys() - {{{UNMET!r}}})["test_1.py" in __file__ :: 2]:
        MESSAGES[name](**dict.fromkeys(MESSAGES[name].fields, 0))

@pytest.mark.slow
def test_slow():
    pass

@pytest.mark.deep
def test_deep():
    pass
"""


def ends(folder, *options):
    """Exit status and output of a run of a suite that meets all messages but the last."""
    (folder / "tests").mkdir()
    for name in ("conftest.py", "every_message.py"):
        shutil.copy(TESTS / name, folder / "tests")
    (folder / "pytest.ini").write_text(SETTINGS)
    for name in ("test_0.py", "test_1.py"):
        (folder / "tests" / name).write_text(HALF)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout


@pytest.mark.some(1)
@pytest.mark.parametrize("processes", ["2", "0"])
def test_one_that_no_process_meets_fails_the_run_by_name(tmp_path, processes):
    status, said = ends(tmp_path, "-n", processes)
    assert f"no test meets {UNMET} of messages.py" in said
    assert "1 failed, 6 passed" in said.splitlines()[-1]
    assert status == 1


def test_a_part_of_a_suite_is_not_judged(tmp_path):
    status, said = ends(tmp_path, "-n", "0", "-m", "not slow")
    assert "2 passed, 4 deselected" in said.splitlines()[-1]
    assert status == 0


def test_without_what_is_deep_it_is_whole(tmp_path):
    status, said = ends(tmp_path, "-n", "0", "-m", "not deep")
    assert "1 failed, 4 passed, 2 deselected" in said.splitlines()[-1]
    assert status == 1
