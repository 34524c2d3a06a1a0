"""Every message of the add-on is met by some test: each process counts what it says, the end of a whole run judges.

A run may be spread over processes (pytest-xdist). Each of them ends by telling the first one what was said in it.
"""

from collections import Counter
from functools import wraps
from pathlib import Path

import pytest

from ik_addon import messages
from ik_addon.messages import Message

MESSAGES = {name: value for name, value in vars(messages).items() if isinstance(value, Message)}
FILES = set(Path(__file__).parent.rglob("test_*.py"))

# Every message that was said in this process so far, and how often.
SAID: Counter[Message] = Counter()
# Of this process and of those that told it: what was said in each, and whether each knows of a whole run.
TOLD: list[dict] = []
_LEFT_OUT = pytest.StashKey[bool]()
_say = Message.__call__


@wraps(_say)
def _say_and_count(message: Message, **given: object) -> str:
    SAID[message] += 1
    return _say(message, **given)


Message.__call__ = _say_and_count


@pytest.fixture
def said_messages() -> Counter[Message]:
    return SAID


def pytest_deselected(items):
    # What is deep only repeats what the others show, on more cases.
    for item in items:
        if item.get_closest_marker("deep") is None:
            item.config.stash[_LEFT_OUT] = True


def pytest_testnodedown(node):
    """One of several processes has ended; one that crashed tells nothing, and fails the run anyway."""
    TOLD.append(getattr(node, "workeroutput", {}))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    config = session.config
    whole = {item.path for item in session.items} >= FILES and _LEFT_OUT not in config.stash
    here = {"said": [name for name, message in MESSAGES.items() if SAID[message]], "whole": whole}
    if hasattr(config, "workeroutput"):
        config.workeroutput.update(here)
        return
    told = [here, *TOLD]
    unmet = MESSAGES.keys() - {name for each in told for name in each.get("said", ())}
    # A test that failed, or was not run, may be the one that meets a message.
    if session.exitstatus == 0 and any(each.get("whole") for each in told) and not config.option.collectonly and unmet:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        config.hook.pytest_runtest_logreport(report=_failure(sorted(unmet)))


def _failure(unmet: list[str]) -> pytest.TestReport:
    place = "tests/every_message.py"
    sentence = f"no test meets {', '.join(unmet)} of messages.py; add a test that does, or remove what nobody can meet"
    return pytest.TestReport(
        nodeid=f"{place}::every message is met by a test",
        location=(place, None, "every message is met by a test"),
        keywords={},
        outcome="failed",
        longrepr=sentence,
        when="call",
    )
