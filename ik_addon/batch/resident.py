"""A process with a Blender in it, seen from outside: a request a line goes in, an answer a line comes out. And what a
worker of a Dask cluster does with a file: it asks such a process of its own, one for each of its threads.

A process may crash or never answer, and a crash of Blender is no death of the worker. Nothing here needs Blender.
"""

import hashlib
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path

from .. import messages

WORK = "work"
"""The command of a worker process. Nobody types it, and no help names it."""

_APART = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
"""On Windows what `start_new_session` is elsewhere: Ctrl+C is heard by the parent alone, which passes it on."""

_GRACE = 120.0
"""Seconds over its limit that a process has at least to hear of it between two frames, and to save what is done: a
character with many clips takes long. Else it has as long again."""

_SECONDS_TO_END = 30.0
"""Seconds after which a process that has nothing to do, and does not end, is ended."""


class DiedError(Exception):
    """A process ended before it answered; the message says how, and what to do about the file."""


class TooLongError(DiedError):
    """It was ended because it took too long, and would again."""


class Resident:
    """A process that answers one request after the other; see `worker.py` for the other side.

    about: what it says of itself, once it has started.
    """

    def __init__(self) -> None:
        self.about: dict = {}
        self._expired = False
        # What Blender and its libraries print, which nobody reads but after a crash.
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the process)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ik_addon", WORK],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            encoding="utf-8",
            errors="replace",
            creationflags=_APART,
            start_new_session=True,
        )

    def start(self) -> None:
        """Wait until it has started. Raises DiedError if it cannot."""
        self.about = self._answer(None)

    def ask(self, request: dict, limit: float | None) -> dict:
        """The answer to a request. Raises DiedError if the process ends first.

        limit: seconds after which the process itself is to stop; if it does not, it is ended, and that is TooLongError.
        """
        try:
            self._stdin.write(json.dumps(request) + "\n")
            self._stdin.flush()
        except OSError:
            # It has ended; `_answer` says how.
            return self._answer(limit)
        timer = threading.Timer(max(limit + _GRACE, 2.0 * limit) if limit else 0.0, self._expire)
        if limit:
            timer.start()
        try:
            return self._answer(limit)
        finally:
            timer.cancel()

    def stop(self, number: int) -> None:
        """Ask it to stop between two frames. number: of the signal. Windows has none: there the file is finished."""
        if os.name == "posix":
            self._process.send_signal(number)

    def kill(self) -> None:
        """End it now, whatever it does."""
        self._process.kill()

    def close(self) -> None:
        """Let it end: it has no request left."""
        try:
            self._stdin.close()
            self._process.wait(_SECONDS_TO_END)
        except (OSError, subprocess.TimeoutExpired):
            # It has ended, with a request that it has not read; or it does not end.
            self._process.kill()
        self._process.wait()
        self._stdout.close()
        self._log.close()

    def last_words(self) -> str:
        """The last line that it printed."""
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def _answer(self, limit: float | None) -> dict:
        # What Blender prints before the worker has turned its stdout away is no answer.
        line = next((line for line in self._stdout if line.startswith("{")), "")
        if line.endswith("\n"):
            return json.loads(line)
        code = self._process.wait()
        if self._expired:
            raise TooLongError(messages.TOO_LONG(seconds=limit))
        raise DiedError(messages.BLENDER_DIED(how=signal.Signals(-code).name if code < 0 else f"exit status {code}"))

    def _expire(self) -> None:
        self._expired = True
        self._process.kill()

    @property
    def _stdin(self):
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def _stdout(self):
        assert self._process.stdout is not None
        return self._process.stdout


_of_thread = threading.local()


@cache
def version() -> str:
    """What tells whether two machines have the same Analytic IK: a digest of its sources."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def carry_out(request: dict, limit: float | None, wanted: str) -> dict:
    """The answer to a request (see `worker.py`), with "host" and "blender"; or why there is none, as "died".

    limit: seconds after which it is given up, or None. wanted: the version of whoever asks.
    """
    host = {"host": platform.node()}
    if version() != wanted:
        return {"died": messages.OTHER_VERSION(worker=platform.node()), **host}
    resident = getattr(_of_thread, "resident", None) or Resident()
    _of_thread.resident = None
    try:
        if not resident.about:
            resident.start()
        answer = resident.ask(request, limit)
    except DiedError as died:
        reason = str(died) if resident.about else messages.NO_WORKER_STARTS(reason=resident.last_words())
        resident.close()
        return {"error" if isinstance(died, TooLongError) else "died": reason, **host}
    _of_thread.resident = resident
    return {**answer, **host, "blender": resident.about["blender"]}
