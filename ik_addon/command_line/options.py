"""What can be asked of the command, and which files a run may write: checked before anything is opened."""

import argparse
import json
import os
import re
import stat
from collections.abc import Sequence
from functools import partial
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any, NoReturn, get_args

import bpy

from .. import messages
from ..authoring.given_limbs import GivenLimbs, checked_limbs
from ..bake import Action, After
from ..bake.certificate import FIRST_WORDS
from ..bake.formats import BLEND, ONE_CLIP, SUFFIXES, VRM, beginning, check_replaceable
from ..bake.saving import KnownPaths, first_doubled
from ..messages import one_line
from ..planting.feet.judging import JUDGED
from ..planting.feet.measures import FIGURES
from ..planting.feet.options import GROUND_ITEMS, SHOWN
from ..solvers import ChainError
from ..travel.engines import ENGINES
from .files import (
    check_run,
    is_foreign,
    is_in_place,
    many_options,
    matching,
    output_of,
    read_list,
    read_path,
    span,
    text_of,
    whole,
)

_REPORT = re.compile(rb'\s*\{\s*"schema":\s*\d+,\s*"blender":\s*"(?:[^"\\]|\\.)*",\s*"files":\s*\[')
"""How a report begins. It may be too long to be read for this."""
_MAP = re.compile(rb'\s*\{\s*"(legs|arms)":\s*\[')
"""How limbs in a file begin."""
_BEGINS = {"report": _REPORT, "certificate": re.compile(re.escape(FIRST_WORDS.encode())), "limbs-out": _MAP}
"""The same of each kind of text that a run writes."""
_LONGEST_LIMBS = 10_000_000
"""Bytes of a file with limbs."""
_BEGINNING = 4096
"""Bytes of it."""


def check_outputs(options: argparse.Namespace, outputs: Sequence[Path]) -> None:
    """Exit as argparse does if outputs would replace each other or what is read. outputs: of each file."""
    doubled = first_doubled(outputs)
    if doubled is not None:
        first, second = (options.files[k] for k in doubled)
        if first == second:
            options.usage_error(messages.GIVEN_TWICE(file=first))
        options.usage_error(messages.SAME_OUTPUT(first=first, second=second, output=outputs[doubled[1]]))
    if options.output_dir is not None:
        folder = Path(os.path.abspath(options.output_dir))
        there = next(each for each in (folder, *folder.parents) if os.path.lexists(each) or each == Path(each.anchor))
        if not there.is_dir():
            options.usage_error(messages.NOT_A_FOLDER(folder=there))
    if is_in_place(options):
        return
    refusal = messages.OUTPUT_NEEDS_IN_PLACE if hasattr(options, "in_place") else messages.OUTPUT_IS_READ
    read = _places_read(options)
    for output in outputs:
        what = read.at(output)
        if what is not None:
            options.usage_error(refusal(output=output, what=what))


def check_replaced(options: argparse.Namespace, outputs: Sequence[Path]) -> None:
    """Exit as argparse does if what is at the place of an output cannot be an earlier one."""
    for output in () if is_in_place(options) else outputs:
        try:
            check_replaceable(output)
        except OSError as error:
            is_said = error.strerror is None
            options.usage_error(error if is_said else messages.NOT_WRITTEN(path=output, reason=error.strerror))


def check_texts(options: argparse.Namespace, outputs: Sequence[Path]) -> None:
    """Exit as argparse does if the report or the certificate would replace anything but an earlier one."""
    taken = _places_read(options)
    for output in outputs:
        taken.add(output, messages.AN_OUTPUT())
    for name in _BEGINS:
        option, path = f"--{name}", getattr(options, name.replace("-", "_"), None)
        if path is None or _is_stream(path):
            continue
        what = taken.at(path)
        if what is not None:
            options.usage_error(messages.TEXT_IS_TAKEN(option=option, path=path, what=what))
        if path.suffix.lower() in SUFFIXES:
            options.usage_error(messages.TEXT_HAS_SUFFIX(option=option, path=path))
        refusal = why_not_replaced(path, name)
        if refusal is not None:
            options.usage_error(refusal)
        taken.add(path, option)


def why_not_replaced(path: Path, kind: str) -> str | None:
    """Why a text may not be written to a path, and what to do; None if it may. kind: "report" or "certificate"."""
    if _is_stream(path):
        # It is written to, and not replaced.
        return None
    if os.path.islink(path):
        return messages.IS_A_LINK(path=path)
    if not os.path.exists(path):
        return None
    if not os.path.isfile(path):
        return messages.NO_PLACE_FOR_A_FILE(path=path)
    try:
        start = beginning(path, _BEGINNING)
    except OSError as error:
        return messages.OF(whose=path, said=messages.UNREADABLE(reason=error.strerror or error))
    is_own = _BEGINS[kind].match(start)
    return None if is_own or not start else messages.OTHER_FILE_THERE(path=path, kind=kind)


def _places_read(options: argparse.Namespace) -> KnownPaths:
    """All files that the run reads, each with what it is."""
    places = KnownPaths()
    for file in options.files:
        places.add(file, messages.AN_INPUT())
    if isinstance(limbs := getattr(options, "limbs", None), Path):
        places.add(limbs, "--limbs")
    if isinstance(curve := (getattr(options, "path", None) or {}).get("file"), str):
        places.add(Path(curve), "--path")
    listed = getattr(options, "files_from", None)
    if listed not in (None, "-"):
        places.add(Path(listed), messages.THE_LIST())
    return places


def _is_stream(path: Path) -> bool:
    """Whether a path leads to a terminal, a pipe or the like."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


_OF_CHAINS = ("rig", "native")
"""Commands whose work only a .blend file can hold."""


def read_options(arguments: Sequence[str], prog: str, has_workers: bool) -> argparse.Namespace:
    """The options that arguments say. Raises SystemExit, once it is said, where they make no sense or ask for help.

    has_workers: False where there are no worker processes for --jobs and --cluster.
    """
    options = _parser(prog).parse_args(arguments)
    options.files = [file for given in options.files for file in matching(given)]
    if options.command == "merge":
        check_texts(options, ())
        return options
    read_list(options)
    check_run(options, has_workers)
    if not options.files and bpy.data.filepath and not options.files_from:
        options.files = [Path(bpy.data.filepath)]
    if not options.files:
        options.usage_error(messages.NO_FILE_GIVEN())
    outputs = _outputs(options) if _saves(options) else []
    check_texts(options, outputs)
    if getattr(options, "limbs", None) is not None:
        options.limbs = _limbs_in(options.limbs, options)
    if getattr(options, "clips", None) == "all" and (options.frames or getattr(options, "step", None)):
        options.usage_error(messages.FRAMES_OF_CURRENT())
    if getattr(options, "ground", None) == "OBJECT" and not options.ground_object:
        options.usage_error(messages.GROUND_WITHOUT_NAME())
    # Once all are checked.
    if options.lines:
        options.files = options.files[slice(*options.lines)]
    if outputs:
        # A folder that has no name of its own, as ".", is told of when its turn comes.
        check_replaced(options, [output_of(file, options) for file in options.files if file.name])
    return options


def _saves(options: argparse.Namespace) -> bool:
    """Whether a run saves files. Exits as argparse does if nothing says where, or if it shall not."""
    if options.command != "rig":
        return options.command != "check"
    if options.limbs_out and len(options.files) > 1:
        options.usage_error(messages.LIMBS_OF_ONE_FILE())
    has_output = bool(options.output or options.output_dir)
    if has_output == options.dry_run:
        refusal = messages.DRY_RUN_SAVES_NOTHING if has_output else messages.NO_OUTPUT_GIVEN
        options.usage_error(refusal())
    return has_output


def _limbs_in(path: Path, options: argparse.Namespace) -> GivenLimbs | None:
    """The limbs that a file names. Exits as argparse does if it cannot be read, or names none."""
    try:
        return checked_limbs(json.loads(text_of(path, _LONGEST_LIMBS) or b"null"))
    except OSError as error:
        said = messages.UNREADABLE(reason=error.strerror or error)
    except ChainError as error:
        said = error
    except (ValueError, RecursionError):
        said = messages.NOT_LIMBS()
    options.usage_error(messages.OF(whose=path, said=said))


def _outputs(options: argparse.Namespace) -> list[Path]:
    """Where what is made of each file goes. Exits as argparse does if that makes no sense."""
    if options.output and len(options.files) > 1:
        options.usage_error(messages.OUTPUT_TAKES_ONE())
    if options.command in _OF_CHAINS and options.output_dir:
        options.format = BLEND.removeprefix(".")
    outputs = [output_of(file, options) for file in options.files]
    check_outputs(options, outputs)
    for file, output in zip(options.files, outputs, strict=True):
        suffix = output.suffix.lower()
        if options.output and os.path.isdir(output):
            options.usage_error(messages.NO_PLACE_FOR_A_FILE(path=output))
        if suffix not in SUFFIXES and suffix != file.suffix.lower():
            options.usage_error(messages.NO_FORMAT(output=output, formats=", ".join(SUFFIXES)))
        if not is_foreign(output):
            if getattr(options, "engine", None):
                options.usage_error(messages.ENGINE_OF_EXPORTS(output=output))
            continue
        if options.command in _OF_CHAINS:
            options.usage_error(messages.RIG_IS_BLEND(output=output))
        if options.command == "bake" and (options.action or options.after):
            options.usage_error(messages.KEPT_IN_BLEND(output=output))
        if suffix in ONE_CLIP and options.clips == "all":
            options.usage_error(messages.HOLDS_ONE_CLIP(output=output))
    return outputs


class _Parser(argparse.ArgumentParser):
    """A parser, also of commands, whose complaints keep to one line whatever the names of files are."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.set_defaults(usage_error=self.refuse)

    def error(self, message: str) -> NoReturn:
        super().error(one_line(message))

    def refuse(self, message: object) -> NoReturn:
        """What makes no sense for a reason that the usage does not show."""
        self.exit(2, f"{self.prog}: error: {one_line(str(message))}\n")


_Commands = argparse._SubParsersAction  # pyright: ignore[reportPrivateUsage]


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = _Parser(prog=prog, description="Analytic inverse kinematics for .blend files, characters and captures.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("files", nargs="*", type=Path, metavar="FILE", help=f"files to open: {', '.join(SUFFIXES)}")
    shared.add_argument("--report", type=Path, metavar="FILE.json", help="write what was done and measured")
    shared.add_argument("--quiet", action="store_true", help="print results alone: nothing of what Blender prints")
    measured = argparse.ArgumentParser(add_help=False, parents=[shared, many_options()])
    measured.add_argument(
        "--frames",
        type=_frames,
        metavar="A-B",
        help="first and last frame of the current clip",
    )
    measured.add_argument("--certificate", type=Path, metavar="FILE.txt", help="write it as text to be read")
    measured.add_argument(
        "--clips",
        type=str.lower,
        choices=("current", "all"),
        help="what plays, or every clip over its own frames (default: all; bake and check of a .blend file that stays "
        "one: current)",
    )
    stepped = argparse.ArgumentParser(add_help=False)
    stepped.add_argument("--step", type=_step, metavar="N", help="every Nth frame of the current clip")
    standing = argparse.ArgumentParser(add_help=False)
    standing.add_argument(
        "--ground", type=str.upper, choices=[name for name, *_ in GROUND_ITEMS], help="what the feet stand on"
    )
    standing.add_argument("--height", type=float, default=0.0, metavar="H", help="height of level ground")
    standing.add_argument("--ground-object", metavar="NAME", help="mesh object that the feet stand on")
    _baking(commands, [measured, stepped])
    _checking(commands, [measured, stepped, standing])
    _planting(commands, [measured, standing])
    _rigging(commands, [shared, many_options()])
    _converting(commands, [shared, many_options()])
    _merging(commands)
    return parser


def _planting(commands: _Commands, parents: Sequence[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("plant", parents=parents, help="rig captures, let their feet stand, bake and save")
    _add_outputs(command)
    _add_limbs(command)
    _add_format(command)
    command.add_argument(
        "--path",
        type=read_path,
        metavar="CURVE",
        help="curve to walk along: NAME in each FILE, OTHER.blend:NAME, or POINTS.json with a list of [x, y] or "
        '[x, y, z], or {"points": [...], "closed": true}',
    )
    for name in SHOWN:
        _add_shown(command, name)
    command.add_argument(
        "--limit",
        dest="limits",
        type=partial(_limit, figures=JUDGED),
        action="append",
        default=[],
        metavar="FIGURE=VALUE",
        help=f"leave a clip as it is where a figure would be larger: {', '.join(JUDGED)}",
    )


def _add_shown(command: argparse.ArgumentParser, name: str) -> None:
    """An option of planting, as its property is."""
    (default, said), flag = SHOWN[name], f"--{name.replace('_', '-')}"
    words = said["description"][0].lower() + said["description"][1:]
    if isinstance(default, bool):
        action = argparse.BooleanOptionalAction if default else "store_true"
        command.add_argument(flag, action=action, default=default, help=words)
    elif "items" in said:
        choices = [item[0] for item in said["items"]]
        command.add_argument(flag, type=str.upper, choices=choices, default=default, help=words)
    else:
        number = partial(_number, least=said.get("min", -inf), most=said.get("max", inf))
        command.add_argument(flag, type=number, default=default, metavar="N", help=f"{words} (default: {default})")


def _baking(commands: _Commands, parents: Sequence[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("bake", parents=parents, help="write live chains into keys and save")
    _add_outputs(command).add_argument("--in-place", action="store_true", help="save over each FILE")
    _add_format(command)
    command.add_argument("--action", type=str.upper, choices=get_args(Action), help="of a .blend file (default: COPY)")
    command.add_argument("--after", type=str.upper, choices=get_args(After), help="of a .blend file (default: MUTE)")
    command.add_argument(
        "--tolerance", type=_distance, default=0.0, metavar="T", help="drop keys while the tip stays within T"
    )


def _checking(commands: _Commands, parents: Sequence[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("check", parents=parents, help="measure live chains, and feet; save nothing")
    command.add_argument(
        "--max-error", type=_distance, metavar="E", help="exit with 1 where a tip misses its target by more"
    )
    command.add_argument("--feet", action="store_true", help="measure how well feet stand, with or without chains")
    command.add_argument(
        "--metrics", action="store_true", help="measure feet by the formulas of papers on generated motion too"
    )
    command.add_argument(
        "--limit",
        type=_limit,
        action="append",
        default=[],
        metavar="FIGURE=VALUE",
        help=f"exit with 1 where a figure of feet is larger: {', '.join(FIGURES)}",
    )


def _rigging(commands: _Commands, parents: Sequence[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "rig", parents=parents, help="give the legs of armatures chains and controls, and save .blend files"
    )
    _add_outputs(command).required = False
    _add_limbs(command)
    command.add_argument(
        "--dry-run", action="store_true", help="only say which limbs are found, and save nothing but what else is asked"
    )
    command.add_argument("--limbs-out", type=Path, metavar="FILE.json", help="write the limbs of FILE, for --limbs")
    command.add_argument("--armature", metavar="NAME", help="armature object to rig (default: all of the scene)")
    command.add_argument("--arms", action="store_true", help="rig arms too")
    command.add_argument(
        "--controls", type=str.upper, choices=("EMPTIES", "BONES"), default="EMPTIES", help="what the controls are"
    )
    command.set_defaults(certificate=None, format=None)


def _add_limbs(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--limbs",
        type=Path,
        metavar="FILE.json",
        help="the limbs' bones, where they are not to be found: first bone, tip bone and end bone or null of each, "
        "in lists under legs and arms",
    )


def _converting(commands: _Commands, parents: Sequence[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "native", parents=parents, help="turn live chains into Blender's own constraints and save"
    )
    _add_outputs(command).add_argument("--in-place", action="store_true", help="save over each FILE")
    command.add_argument(
        "--no-switch",
        dest="switch",
        action="store_false",
        help="where Influence is not in use, keep no setting for it: frames cost less",
    )
    command.set_defaults(certificate=None, format=None)


def _merging(commands: _Commands) -> None:
    command = commands.add_parser("merge", help="make one report of several")
    command.add_argument("--quiet", action="store_true", help="print results alone")
    command.add_argument("files", nargs="+", type=Path, metavar="REPORT.json", help="reports of parts of a run")
    command.add_argument("--report", type=Path, metavar="ALL.json", required=True, help="report to write")
    command.add_argument("--certificate", type=Path, metavar="ALL.txt", help="write it as text to be read")


def _add_outputs(command: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    where = command.add_mutually_exclusive_group(required=True)
    where.add_argument("--output", type=Path, metavar="PATH", help="file to save to (one FILE), in the format it says")
    where.add_argument("--output-dir", type=Path, metavar="DIR", help="folder to save to, under the same names")
    return where


def _add_format(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--engine",
        type=str.upper,
        choices=[*ENGINES],
        help="game engine: fill its bones for feet and hands, and say what it does not take as it is",
    )
    command.add_argument(
        "--format",
        type=str.lower,
        choices=[suffix.removeprefix(".") for suffix in SUFFIXES if suffix != VRM],
        help="of the files in DIR (default: as they came)",
    )
    command.add_argument(
        "--optimize",
        action="store_true",
        help="write .fbx, .glb and .gltf files with fewer keys: smaller, and less exact",
    )


_frames = partial(span, refusal=messages.NO_RANGE, least=-inf)
_step = partial(whole, refusal=messages.NO_STEP)


def _limit(text: str, figures: Sequence[str] = FIGURES) -> tuple[str, float]:
    figure, _, value = text.partition("=")
    if figure not in figures:
        raise argparse.ArgumentTypeError(messages.NO_FIGURE(text=text, figures=", ".join(figures)))
    return figure, _distance(value)


def _distance(text: str) -> float:
    return _number(text, 0.0, inf)


def _number(text: str, least: float, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = nan
    if least <= value <= most and isfinite(value):
        return value
    to = "" if most == inf else messages.UP_TO(most=most)
    raise argparse.ArgumentTypeError(messages.NOT_BETWEEN(text=text, least=least, to=to))
