"""Files to worker processes and their entries back, what --jobs and --cluster do; and the inside of such a process:
requests are read from stdin, one a line, and answered where stdout was.
"""

import argparse
import io
import json
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import bpy

from .. import command_line
from ..bake.saving import Stopped, mark_unfinished, stops_heard
from ..command_line.console import counted, remark, say
from ..command_line.files import Entries, failed
from . import cluster
from .crew import Crew, from_request, suitable_jobs, to_requests


def worked_on(files: Sequence[Path], options: argparse.Namespace) -> Entries:
    """The entries of files that workers work on; see `command_line.working.Workers`."""
    requests = to_requests(files, options)
    limits = {"tries": options.tries or 2, "limit": options.time_limit}
    if options.cluster is None:
        answers = Crew(**limits).answers(requests, options.jobs or suitable_jobs(len(files)))
    else:
        answers = cluster.answers(options.cluster, requests, **limits, note=remark)
    with counted(len(files), options.quiet) as count:
        for index, answer in answers:
            with count(bool(answer.get("error")) or any(entry["error"] for entry in answer["entries"])):
                for line in answer.get("out", "").splitlines():
                    say(line)
                for line in answer.get("err", "").splitlines():
                    remark(line)
                entries = [failed(files[index], answer["error"])] if "error" in answer else answer["entries"]
            of_run = {name: answer[name] for name in ("attempts", "host", "blender") if name in answer}
            yield index, [{**entry, "file": str(files[index]), **of_run} for entry in entries]


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
