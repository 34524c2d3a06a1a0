"""The inside of a resident process: requests are read from stdin, one a line, and answered where stdout was."""

import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout

import bpy

from .. import command_line
from ..bake.saving import Stopped, mark_unfinished, stops_heard
from .crew import from_request


def work() -> int:
    """Answer requests until there are no more; returns the exit status.

    First it says which Blender it is. An answer has the "entries" of the report, with what was printed meanwhile as
    "out" and "err", or is {"stopped": true}.
    """
    with stops_heard():
        try:
            return _work()
        except Stopped as stop:
            return 128 + stop.number
        except BrokenPipeError:
            # Nobody waits for answers any longer: whoever started it has died.
            return 1


def _work() -> int:
    sys.stdout.flush()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Blender prints from C as well, and must not print between the answers.
    os.dup2(2, 1)

    def answer(content: dict) -> None:
        answers.write(json.dumps(content) + "\n")
        answers.flush()

    answer({"blender": bpy.app.version_string.split()[0]})
    for line in sys.stdin:
        out, err = io.StringIO(), io.StringIO()
        try:
            with redirect_stdout(out), redirect_stderr(err):
                request = json.loads(line)
                mark_unfinished(request["mark"])
                entries = command_line.process(*from_request(request))
        except Stopped:
            answer({"stopped": True})
            raise
        answer({"entries": entries, "out": out.getvalue(), "err": err.getvalue()})
    return 0
