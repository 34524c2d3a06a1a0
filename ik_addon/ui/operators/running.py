"""What runs in the window at present, for panels and the status bar to show."""

from collections.abc import Generator
from dataclasses import dataclass, field
from time import perf_counter


@dataclass(slots=True)
class Running:
    """Work over frames that goes on between redraws. label: what it is; done, total: its frames.

    steps: the work itself; closed, it leaves everything as it was.
    """

    label: str
    steps: Generator
    total: int = 0
    done: int = 0
    _start: float = field(default_factory=perf_counter)

    @property
    def factor(self) -> float:
        """The part that is done, 0 to 1."""
        return self.done / self.total if self.total else 1.0

    @property
    def seconds_left(self) -> float | None:
        """How long it will take by what it has taken so far; None: it is too early to tell."""
        if not self.done:
            return None
        return (perf_counter() - self._start) / self.done * (self.total - self.done)

    def __str__(self) -> str:
        left = self.seconds_left
        if not self.done:
            return self.label
        return f"{self.label}: frame {self.done} of {self.total}" + ("" if left is None else f", {left:.0f} s left")


_current: list[Running] = []


def running() -> Running | None:
    """What runs, if anything does."""
    return _current[-1] if _current else None


def start_running(label: str, steps: Generator) -> Running:
    """Something starts to run."""
    _current.append(Running(label, steps))
    return _current[-1]


def end_running() -> None:
    """What runs, if anything does, ends; what it has not finished is as before."""
    while _current:
        _current.pop().steps.close()
