"""Files to worker processes and their entries back: what --jobs and --cluster do."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..command_line.console import counted, remark, say
from ..command_line.files import Entries, failed
from . import cluster
from .crew import Crew, suitable_jobs, to_requests


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
