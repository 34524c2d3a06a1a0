"""The command line: bake, check, plant and rig files without a window.

`analytic-ik COMMAND …` from the Python package (`__main__.py`), `blender FILE --command analytic_ik COMMAND …` from
Blender.
Exit status: 0 done; 1 a file failed, a chain missed its target by more than --max-error, a figure of feet is beyond its
--limit, or `rig` or `plant` found no leg; 2 bad usage; 130 stopped by Ctrl+C, 143 by whoever ended the process.
"""

import argparse
import json
import traceback
from collections.abc import Sequence
from pathlib import Path

import bpy

from .. import messages
from ..bake.certificate import certificate_text
from ..bake.report import foot_words, whole_report, words
from ..bake.stopping import Stopped, stop_if_asked, stops_heard
from ..solvers import ChainError
from .baking import bake_file
from .checking import check_file
from .options import read_options
from .planting import plant_file
from .rigging import rig_file
from .saying import complain, say, written

_WORK = {"bake": bake_file, "check": check_file, "plant": plant_file, "rig": rig_file}
_handles: list[object] = []


def run(arguments: Sequence[str], prog: str = "analytic-ik") -> int:
    """Carry out one command; returns the exit status and raises nothing."""
    try:
        options = read_options(arguments, prog)
    except SystemExit as stop:
        # argparse has said what is wrong, or shown the help.
        return int(stop.code or 0)
    with stops_heard():
        try:
            return _carried_out(options)
        except Stopped as stop:
            return 128 + stop.number


def _carried_out(options: argparse.Namespace) -> int:
    """Do what the options say; returns the exit status.

    Raises Stopped if somebody asked to stop, after the report of what was done until then is written.
    """
    entries, stopped = [], None
    for file in options.files:
        try:
            entries += _process(file, options)
        except Stopped as stop:
            stopped = stop
            entries.append(_failed(file, messages.STOPPED()))
            break
    report = whole_report(entries)
    well = [not options.report or written(options.report, json.dumps(report, indent=1))]
    well.append(not options.certificate or written(options.certificate, certificate_text(report).rstrip()))
    if stopped is not None:
        raise stopped
    return max(int(not all(well)), *(_status(entry, options) for entry in entries))


def _process(file: Path, options: argparse.Namespace) -> list[dict]:
    """One file; its entries in the report, one for each clip, with the error that stopped it."""
    try:
        stop_if_asked()
        entries = _WORK[options.command](file, options)
    except (ChainError, OSError, RuntimeError) as error:
        return [_failed(file, error)]
    except Exception as error:
        # A bug, or no memory: the other files go on.
        traceback.print_exc()
        return [_failed(file, messages.FILE_FAILED(kind=type(error).__name__, error=error))]
    for entry in entries:
        _say_entry(file, entry)
    return [{**entry, "file": str(file)} for entry in entries]


def _say_entry(file: Path, entry: dict) -> None:
    """Print what was measured in a file, or in a clip of it."""
    whose = messages.OF(whose=file, said=entry["clip"]) if "clip" in entry else file
    lines = [words(chain) for chain in entry["chains"]] + [foot_words(foot) for foot in entry.get("feet", ())]
    if "left_out" in entry:
        lines.append(messages.CLIP_LEFT_OUT(why=messages.as_part(entry["left_out"])))
    for line in lines:
        say(messages.OF(whose=whose, said=line))


def _failed(file: Path, error: Exception | str) -> dict:
    """Say what stopped a file; returns its entry in the report."""
    return {"file": str(file), "frames": None, "seconds": 0.0, "chains": [], "error": complain(file, error)}


def _status(entry: dict, options: argparse.Namespace) -> int:
    if entry["error"]:
        return 1
    limit = getattr(options, "max_error", None)
    if limit is not None and any(chain["max_error"] > limit for chain in entry["chains"]):
        return 1
    limits, feet = getattr(options, "limit", ()), entry.get("feet", ())
    return int(any(foot["after"][figure] > most for foot in feet for figure, most in limits))


def register() -> None:
    """Make Blender's own command line know `--command analytic_ik`."""
    _handles.append(
        bpy.utils.register_cli_command("analytic_ik", lambda arguments: run(arguments, "blender --command analytic_ik"))
    )


def unregister() -> None:
    """Take the command away from it."""
    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())
