"""What can happen to a rig, one function each, and what came of it."""

import io
import re
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import wraps

from .stage import NEAR, Seen, Stage

Deed = Callable[[Stage], None]


@dataclass(frozen=True)
class Fault:
    """Something that happens. group, title: as docs/reliability_table.md calls them."""

    group: str
    title: str
    do: Deed

    @property
    def where(self) -> str:
        """The function that lets it happen, as file::function."""
        return f"{self.do.__module__.rpartition('.')[2]}.py::{self.do.__name__}"


ENTERED: list[Fault] = []


def fault(group: str, title: str, then: str = "") -> Callable[[Deed], Deed]:
    """Enter a function into the list of what can happen. then: how it is called that all limbs follow in the end."""

    def enter(do: Deed) -> Deed:
        @wraps(do)
        def deed(stage: Stage) -> None:
            do(stage)
            if then:
                stage.follow(then)

        ENTERED.append(Fault(group, title, deed))
        return deed

    return enter


def works(group: str, title: str, then: str = "") -> Callable[[Deed], Deed]:
    """Likewise, and a sentence is no excuse: the leg has all that it needs."""

    def enter(do: Deed) -> Deed:
        @wraps(do)
        def deed(stage: Stage) -> None:
            do(stage)
            if then:
                stage.follow(then)
            said = [sentence for seen in stage.seen for sentence in seen.sentences]
            assert not said or not stage.ours, f"it says: {said[0]}"

        return fault(group, title)(deed)

    return enter


@dataclass(frozen=True)
class Outcome:
    """What came of a fault.

    missed: the farthest that a tip was from its target, in chain lengths, where nothing was said about it. when: at
    which moment. sentences: what was said. lost: what is gone or changed. log: tracebacks and errors in the log.
    """

    missed: float
    when: str
    sentences: tuple[str, ...]
    lost: tuple[str, ...]
    log: str
    near: float

    @property
    def sound(self) -> bool:
        """Whether the pose is right or a sentence says why not, nothing is lost, and the log is clean."""
        return self.missed <= self.near and not self.lost and not self.log

    def __str__(self) -> str:
        parts = []
        if self.missed > self.near:
            parts.append(f"wrong by {self.missed:.2g} of its length {self.when}")
        if self.lost:
            parts.append("loses " + ", ".join(self.lost))
        if self.log:
            parts.append(f"in the log: {self.log}")
        if self.sentences:
            parts.append("says: " + " / ".join(self.sentences))
        return "; ".join(parts) or "right"


def outcome_of(fault: Fault, solver: str, folder) -> Outcome:
    """Let a fault happen in an empty scene; solver: OURS or BLENDERS."""
    log = io.StringIO()
    with redirect_stderr(log), redirect_stdout(log):
        stage = Stage(solver, folder)
        stage.look("at first")
        fault.do(stage)
        stage.switch_off()
    worst = max(stage.seen, key=lambda seen: seen.missed)
    return Outcome(
        worst.missed,
        worst.when,
        tuple(dict.fromkeys(sentence for seen in stage.seen for sentence in seen.sentences)),
        tuple(dict.fromkeys(_lost(seen) for seen in stage.seen if seen.lost)),
        _complaints(log.getvalue()),
        NEAR[solver],
    )


def _lost(seen: Seen) -> str:
    return f"{' and '.join(seen.lost)} ({seen.when})"


def _complaints(log: str) -> str:
    """The lines of a log that no user should have to read."""
    return " | ".join(line for line in log.splitlines() if re.search(r"Traceback|Error\b|Exception", line))
