"""The inside of a resident process: requests are read from stdin, one a line, and answered where stdout was."""

import io
import json
import os
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout

from ..bake.stopping import Stopped


def serve(work: Callable[[dict], list[dict]], about: dict) -> int:
    """Answer requests until there are no more; returns the exit status.

    work: does what a request asks for and returns its entries in the report. about: what is said first. An answer has
    the "entries", with what was printed meanwhile as "out" and "err", or is {"stopped": true}.
    """
    sys.stdout.flush()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Blender prints from C as well, and must not print between the answers.
    os.dup2(2, 1)

    def answer(content: dict) -> None:
        answers.write(json.dumps(content) + "\n")
        answers.flush()

    try:
        answer(about)
        for line in sys.stdin:
            out, err = io.StringIO(), io.StringIO()
            try:
                with redirect_stdout(out), redirect_stderr(err):
                    entries = work(json.loads(line))
            except Stopped as stop:
                answer({"stopped": True})
                return 128 + stop.number
            answer({"entries": entries, "out": out.getvalue(), "err": err.getvalue()})
    except BrokenPipeError:
        # Nobody waits for answers any longer: whoever started it has died.
        return 1
    return 0
