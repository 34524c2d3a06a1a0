"""The command line: bake, check, plant, rig files and make them native without a window, and merge reports.

`analytic-ik COMMAND …` from the Python package (`__main__.py`), `blender FILE --command analytic_ik COMMAND …` from
Blender.
Exit status: 0 done; 1 a file failed, a chain missed its target by more than --max-error, a figure of feet is beyond its
--limit, or `rig` or `plant` found no leg; 2 bad usage, or no cluster; 130 stopped by Ctrl+C, 143 by whoever ended the
process.
"""

import argparse
import json
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from .. import messages
from ..bake.report import foot_words, metric_words, words
from ..bake.saving import Stopped, stop_if_asked, stops_heard, time_limit
from ..solvers import ChainError
from .commands import bake_file, check_file, native_file, plant_file, rig_file
from .console import complain, noise_apart, remark, say, say_sum
from .files import NoClusterError, Workers, failed, worked_on
from .options import read_options
from .reports import Ledger, entries_kept, merge

_WORK = {"bake": bake_file, "check": check_file, "native": native_file, "plant": plant_file, "rig": rig_file}


def run(arguments: Sequence[str], prog: str = "analytic-ik", workers: Workers | None = None) -> int:
    """Carry out one command; returns the exit status and raises nothing. workers: None where there are none."""
    with stops_heard():
        try:
            options = read_options(arguments, prog, workers is not None)
            return merge(options) if options.command == "merge" else _carried_out(options, workers)
        except SystemExit as stop:
            # argparse has said what is wrong, or shown the help.
            return int(stop.code or 0)
        except Stopped as stop:
            return 128 + stop.number


def _carried_out(options: argparse.Namespace, workers: Workers | None) -> int:
    """Do what the options say; returns the exit status.

    Raises Stopped if somebody asked to stop, after the report of what was done until then is written.
    """
    try:
        kept = entries_kept(options)
    except ChainError as error:
        complain(options.report, error)
        return 2
    ledger = Ledger(options, kept)
    places = [index for index in range(len(options.files)) if index not in kept]
    try:
        for index, entries in worked_on([options.files[index] for index in places], options, process, workers):
            ledger.add(places[index], entries)
    except NoClusterError as error:
        complain("--cluster", error)
        return 2
    except Stopped:
        ledger.write()
        raise
    if kept or len(ledger.entries) > 1:
        say_sum(ledger.entries, {str(options.files[index]) for index in kept})
    over = [line for entry in ledger.entries for line in _over_limits(entry, options)]
    for file, line in over:
        complain(file, line)
    failed = bool(over) or any(entry["error"] for entry in ledger.entries)
    return int(not ledger.write() or failed)


def process(file: Path, options: argparse.Namespace) -> list[dict]:
    """One file; its entries in the report, one for each clip, with the error that stopped it."""
    try:
        stop_if_asked()
        with noise_apart(options.quiet), time_limit(options.time_limit):
            entries = _WORK[options.command](file, options)
        # A figure that is none could not be written to the report.
        json.dumps(entries, allow_nan=False)
    except (ChainError, OSError, RuntimeError) as error:
        return [failed(file, error)]
    except Exception as error:
        # A bug, or no memory: the other files go on.
        for line in [] if options.quiet else traceback.format_exc().splitlines():
            remark(line)
        return [failed(file, messages.FILE_FAILED(kind=type(error).__name__, error=error))]
    several = len({chain["armature"] for entry in entries for chain in entry["chains"]}) > 1
    for entry in entries:
        _say_entry(file, entry, several)
    for reason in dict.fromkeys(entry["error"] for entry in entries if "left_out" in entry and entry["error"]):
        complain(file, reason)
    return [{**entry, "file": str(file)} for entry in entries]


def _say_entry(file: Path, entry: dict, several: bool) -> None:
    """Print what was measured in a file, or in a clip of it. several: armatures, which are named."""
    whose = messages.OF(whose=file, said=entry["clip"]) if "clip" in entry else file
    for kind, say_it in (("chains", words), ("feet", foot_words)):
        for own in entry.get(kind, ()):
            line = messages.OF(whose=own["armature"], said=say_it(own)) if several else say_it(own)
            say(messages.OF(whose=whose, said=line))
    lines = [metric_words(metrics) for metrics in entry.get("metrics", ())]
    if "left_out" in entry:
        lines.append(messages.CLIP_LEFT_OUT(why=messages.as_part(entry["left_out"])))
    for line in lines:
        say(messages.OF(whose=whose, said=line))


def _over_limits(entry: dict, options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """The figures of a file, or of a clip in it, that are over the limits of the options: its name, and a sentence."""
    whose = messages.OF(whose=entry["file"], said=entry["clip"]) if "clip" in entry else entry["file"]
    most = getattr(options, "max_error", None)
    found = (
        [] if most is None else [(chain["bone"], "max_error", chain["max_error"], most) for chain in entry["chains"]]
    )
    for foot in entry.get("feet", ()):
        found += [(foot["bone"], name, foot["after"][name], most) for name, most in getattr(options, "limit", ())]
    for bone, figure, value, most in found:
        if value > most:
            yield whose, messages.OVER_LIMIT(bone=bone, figure=figure, value=value, limit=most)
