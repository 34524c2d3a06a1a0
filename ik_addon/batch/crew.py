"""Resident processes on this machine, each with a thread that asks it, and what they are told. A crash costs one
attempt at one file."""

import argparse
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from queue import Empty, SimpleQueue
from secrets import token_hex
from time import monotonic

from .. import messages
from ..bake.saving import Stopped, remove_unfinished, stop_if_asked
from ..command_line.files import output_of
from .resident import DiedError, Resident, TooLongError

_OF_RUN = {
    *("files", "files_from", "lines", "report", "certificate", "resume"),
    *("jobs", "cluster", "tries", "usage_error"),
}
"""Options of the run as a whole, which no worker needs."""
_PATHS = {"output", "output_dir", "limbs_out"}


def to_requests(files: Sequence[Path], options: argparse.Namespace) -> list[dict]:
    """A request for each file. On a cluster paths are absolute: its workers have other current folders.

    All of them have one mark, for names of files that are not finished, and each the folder that it is saved to.
    """
    path = str if options.cluster is None else os.path.abspath
    mark = token_hex(8)
    given = {name: value for name, value in vars(options).items() if name not in _OF_RUN}
    paths = {name: path(given[name]) for name in _PATHS & given.keys() if given[name] is not None}
    return [
        {"file": path(file), "options": given | paths, "mark": mark, "folder": _folder(file, options)} for file in files
    ]


def remove_leftovers(requests: Sequence[dict]) -> None:
    """Remove what processes that were killed have left of files that they were saving."""
    folders = {request["folder"] for request in requests} - {None}
    for mark in {request["mark"] for request in requests}:
        remove_unfinished(mark, folders)


def _folder(file: Path, options: argparse.Namespace) -> str | None:
    return None if options.command == "check" else str(output_of(file, options).resolve().parent)


def from_request(request: dict) -> tuple[Path, argparse.Namespace]:
    """The file and the options of a request."""
    given = request["options"]
    paths = {name: Path(given[name]) for name in _PATHS & given.keys() if given[name] is not None}
    return Path(request["file"]), argparse.Namespace(**given | paths)


MEMORY = 500_000_000
"""Bytes that a process is given where their number is chosen."""
_GRACE = 10.0
"""Seconds that processes have to stop before they are ended."""
_PAUSE = 0.1
"""Seconds between two looks whether somebody asks to stop."""


def suitable_jobs(files: int) -> int:
    """How many processes suit this machine: one for each core that may be used, and for each 0.5 GB of free memory."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, files, _free_memory() // MEMORY))


def _free_memory() -> int:
    """Bytes that processes can still have; where the system does not tell, as many as anybody asks for."""
    known = Path("/proc/meminfo")
    lines = known.read_text(encoding="utf-8").splitlines() if known.exists() else []
    free = next((line for line in lines if line.startswith("MemAvailable:")), "")
    return int(free.split()[1]) * 1024 if free else 1 << 62


@dataclass(slots=True)
class _Task:
    """A request, and which attempt at it this is. state: of its file before the first."""

    index: int
    request: dict
    state: tuple[int, int] | None
    attempt: int = 1


class Crew:
    """Residents that share a list of requests. tries: attempts at a request whose process dies.

    limit: seconds after which an attempt is given up, None if it may take as long as it does.
    """

    def __init__(self, tries: int, limit: float | None) -> None:
        self._tries, self._limit = tries, limit
        self._tasks: SimpleQueue[_Task] = SimpleQueue()
        # None: a thread has ended.
        self._results: SimpleQueue[tuple[int, dict] | None] = SimpleQueue()
        self._residents: dict[int, Resident] = {}
        self._stopped = threading.Event()
        self._reason = ""

    def answers(self, requests: Sequence[dict], jobs: int) -> Iterator[tuple[int, dict]]:
        """Answers to requests, as (index, answer), in the order in which they come.

        requests: each has a "file". An answer has "entries", "out" and "err" (see `worker.py`), or an "error"; and
        "attempts". Raises Stopped if somebody asks to stop, once all processes have stopped.
        """
        for index, request in enumerate(requests):
            self._tasks.put(_Task(index, request, _state(request)))
        threads = [threading.Thread(target=self._work, args=(k,), daemon=True) for k in range(min(jobs, len(requests)))]
        for thread in threads:
            thread.start()
        working, asked, deadline = len(threads), None, inf
        try:
            while working:
                try:
                    if asked is None:
                        stop_if_asked()
                except Stopped as stop:
                    asked, deadline = stop, monotonic() + _GRACE
                    self._stopped.set()
                    for resident in list(self._residents.values()):
                        resident.stop(stop.number)
                if monotonic() > deadline:
                    self._kill()
                try:
                    result = self._results.get(timeout=_PAUSE)
                except Empty:
                    continue
                if result is None:
                    working -= 1
                else:
                    yield result
            if asked is not None:
                raise asked
        finally:
            self._stopped.set()
            self._kill()
            for thread in threads:
                thread.join()
            remove_leftovers(requests)
        # Where no process could be started tasks are left.
        left = [self._tasks.get() for _ in range(self._tasks.qsize())]
        for task in sorted(left, key=lambda task: task.index):
            yield task.index, {"error": messages.NO_WORKER_STARTS(reason=self._reason), "attempts": task.attempt}

    def _kill(self) -> None:
        for resident in list(self._residents.values()):
            resident.kill()

    def _work(self, place: int) -> None:
        """A thread: asks its resident for one task after the other."""
        try:
            while not self._stopped.is_set():
                try:
                    task = self._tasks.get_nowait()
                except Empty:
                    break
                if place not in self._residents and not self._started(place):
                    self._tasks.put(task)
                    break
                if self._stopped.is_set():
                    break
                answer = self._asked(place, task)
                if answer is not None:
                    self._results.put((task.index, {**answer, "attempts": task.attempt}))
        finally:
            resident = self._residents.pop(place, None)
            if resident is not None:
                resident.close()
            self._results.put(None)

    def _started(self, place: int) -> bool:
        try:
            resident = self._residents[place] = Resident()
        except OSError as error:
            self._reason = str(error)
            return False
        try:
            resident.start()
        except DiedError:
            self._reason = resident.last_words()
            del self._residents[place]
            resident.close()
            return False
        return True

    def _asked(self, place: int, task: _Task) -> dict | None:
        """The answer to a task; None if it is to be tried again."""
        resident = self._residents[place]
        try:
            answer = resident.ask(task.request, self._limit)
        except DiedError as died:
            del self._residents[place]
            resident.close()
            if self._stopped.is_set():
                return {"error": messages.STOPPED()}
            if _state(task.request) != task.state:
                # It was saved, and must not be baked a second time.
                return {"error": messages.SAVED_AND_DIED()}
            if task.attempt < self._tries and not isinstance(died, TooLongError):
                task.attempt += 1
                self._tasks.put(task)
                return None
            return {"error": str(died)}
        return {"error": messages.STOPPED()} if "stopped" in answer else answer


def _state(request: dict) -> tuple[int, int] | None:
    """What tells whether a request's file was saved meanwhile; None if there is none."""
    try:
        stat = os.stat(request["file"])
    except OSError:
        return None
    return stat.st_size, stat.st_mtime_ns
