"""Files that are worked on: in this process, in several on this machine, or on a cluster."""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import bpy

from .. import messages
from ..bake.stopping import Stopped
from ..batch import cluster
from ..batch.crew import Crew, suitable_jobs
from ..batch.worker import serve
from .many import from_request, to_request
from .saying import complain, counted, remark, say

Process = Callable[[Path, argparse.Namespace], list[dict]]
"""Works on one file, says what there is to say, and returns its entries in the report."""

WORK = "work"
"""The command of a worker process. Nobody types it, and no help names it."""


def worked_on(files: Sequence[Path], options: argparse.Namespace, process: Process) -> Iterator[tuple[int, list[dict]]]:
    """The entries of each file, as (index, entries), when they are there.

    Raises Stopped if somebody asks to stop, after the entries of what was stopped; NoClusterError if there is none.
    """
    if options.jobs is None and options.cluster is None:
        return _here(files, options, process)
    return _elsewhere(files, options)


def work(process: Process) -> int:
    """Be a worker process; returns the exit status."""
    about = {"blender": bpy.app.version_string.split()[0]}
    return serve(lambda request: process(*from_request(request)), about)


def failed(file: Path, error: Exception | str) -> dict:
    """Say what stopped a file; returns its entry in the report."""
    return {"file": str(file), "frames": None, "seconds": 0.0, "chains": [], "error": complain(file, error)}


def _here(files: Sequence[Path], options: argparse.Namespace, process: Process) -> Iterator[tuple[int, list[dict]]]:
    for index, file in enumerate(files):
        try:
            entries = process(file, options)
        except Stopped:
            yield index, [failed(file, messages.STOPPED())]
            raise
        yield index, entries


def _elsewhere(files: Sequence[Path], options: argparse.Namespace) -> Iterator[tuple[int, list[dict]]]:
    requests = [to_request(file, options) for file in files]
    limits = {"tries": options.tries or 2, "limit": options.time_limit}
    if options.cluster is None:
        jobs = options.jobs or suitable_jobs(len(files))
        answers = Crew(_worker_command(), **limits).answers(requests, jobs)
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


def _worker_command() -> list[str]:
    """What starts a worker process: this Python with Blender as a module, or Blender the application."""
    if not bpy.app.binary_path:
        return [sys.executable, "-m", "ik_addon", WORK]
    return [bpy.app.binary_path, "--command", "analytic_ik", WORK]
