"""The command line: bake, check and rig .blend files without a window.

`analytic-ik COMMAND …` from the Python package (`__main__.py`), `blender FILE --command analytic_ik COMMAND …` from
Blender.
Exit status: 0 done; 1 a file failed, a chain missed its target by more than --max-error, or `rig` found no leg; 2 bad
usage; 130 stopped by Ctrl+C, 143 by whoever ended the process.
"""

import argparse
import json
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import bpy

from . import messages
from .authoring.rigging import rig_legs
from .bake import bake, chains_of, check
from .bake.certificate import certificate_text
from .bake.clips import clips_words
from .bake.report import words
from .bake.saving import check_place, first_doubled, save_blend, save_text
from .bake.stepping import Progress
from .bake.stopping import Stopped, stop_if_asked, stops_heard
from .solvers import ChainError

try:
    from tqdm import tqdm
except ImportError:  # Blender does not ship it: there the frames go by without a bar.
    tqdm = None

_FRAMES = re.compile(r"(-?\d+)-(-?\d+)$")
_BLEND = b"BLENDER"
_COMPRESSED = (b"\x28\xb5\x2f\xfd", b"\x1f\x8b")
_handles: list[object] = []


def run(arguments: Sequence[str], prog: str = "analytic-ik") -> int:
    """Carry out one command; returns the exit status and raises nothing."""
    try:
        options = _parser(prog).parse_args(arguments)
        _check_usage(options)
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
            entries.append(_process(file, options))
        except Stopped as stop:
            stopped = stop
            entries.append(_failed(file, messages.STOPPED()))
            break
    report = {"blender": bpy.app.version_string.split()[0], "files": entries}
    written = [not options.report or _written(options.report, json.dumps(report, indent=1))]
    written.append(not options.certificate or _written(options.certificate, certificate_text(report).rstrip()))
    if stopped is not None:
        raise stopped
    return max(int(not all(written)), *(_status(entry, options) for entry in entries))


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=prog, description="Analytic inverse kinematics for .blend files.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("files", nargs="*", type=Path, metavar="FILE", help=".blend files to open")
    shared.add_argument("--frames", type=_frames, metavar="A-B", help="first and last frame (default: the scene's)")
    shared.add_argument("--step", type=_step, default=1, metavar="N", help="every Nth frame")
    shared.add_argument("--report", type=Path, metavar="FILE.json", help="write what was measured")
    shared.add_argument("--certificate", type=Path, metavar="FILE.txt", help="write it as text to be read")
    baking = commands.add_parser("bake", parents=[shared], help="write live chains into keys and save")
    where = baking.add_mutually_exclusive_group(required=True)
    where.add_argument("--output", type=Path, metavar="PATH", help="file to save to (one FILE)")
    where.add_argument("--output-dir", type=Path, metavar="DIR", help="folder to save to, under the same names")
    where.add_argument("--in-place", action="store_true", help="save over each FILE")
    baking.add_argument("--action", type=str.upper, choices=("NEW", "COPY", "CURRENT"), default="COPY")
    baking.add_argument("--after", type=str.upper, choices=("KEEP", "MUTE", "REMOVE"), default="MUTE")
    baking.add_argument(
        "--tolerance", type=_distance, default=0.0, metavar="T", help="drop keys while the tip stays within T"
    )
    checking = commands.add_parser("check", parents=[shared], help="measure live chains; save nothing")
    checking.add_argument(
        "--max-error", type=_distance, metavar="E", help="exit with 1 where a tip misses its target by more"
    )
    rigging = commands.add_parser("rig", help="give the legs of armatures chains and controls, and save")
    rigging.add_argument("files", nargs="*", type=Path, metavar="FILE", help=".blend file to open")
    rigging.add_argument("--output", type=Path, metavar="PATH", required=True, help="file to save to")
    rigging.add_argument("--armature", metavar="NAME", help="armature object to rig (default: all of the scene)")
    rigging.add_argument("--arms", action="store_true", help="rig arms too, where the names of the bones say so")
    rigging.add_argument(
        "--controls", type=str.upper, choices=("EMPTIES", "BONES"), default="EMPTIES", help="what the controls are"
    )
    rigging.set_defaults(report=None, certificate=None)
    for command in (baking, checking, rigging):
        command.set_defaults(usage_error=command.error)
    return parser


def _check_usage(options: argparse.Namespace) -> None:
    if not options.files and bpy.data.filepath:
        options.files = [Path(bpy.data.filepath)]
    if not options.files:
        options.usage_error(messages.NO_FILE_GIVEN())
    if options.command == "rig" and len(options.files) > 1:
        options.usage_error(messages.RIG_TAKES_ONE())
    if options.command == "bake" and options.output and len(options.files) > 1:
        options.usage_error(messages.OUTPUT_TAKES_ONE())
    if options.command == "bake":
        outputs = [_output(file, options) for file in options.files]
        doubled = first_doubled(outputs)
        if doubled is not None:
            first, second = (options.files[k] for k in doubled)
            options.usage_error(messages.SAME_OUTPUT(first=first, second=second, output=outputs[doubled[1]]))


def _output(file: Path, options: argparse.Namespace) -> Path:
    """Where the baked file goes."""
    return options.output_dir / file.name if options.output_dir else options.output or file


def _process(file: Path, options: argparse.Namespace) -> dict:
    """One file; its entry in the report, with the error that stopped it."""
    try:
        stop_if_asked()
        entry = (_open_and_rig if options.command == "rig" else _open_and_step)(file, options)
    except (ChainError, OSError, RuntimeError) as error:
        return _failed(file, error)
    except Exception as error:
        # A bug, or no memory: the other files go on.
        traceback.print_exc()
        return _failed(file, messages.FILE_FAILED(kind=type(error).__name__, error=error))
    for chain in entry["chains"]:
        _say(messages.OF(whose=file, said=words(chain)))
    return {**entry, "file": str(file)}


def _failed(file: Path, error: Exception | str) -> dict:
    """Say what stopped a file; returns its entry in the report."""
    return {"file": str(file), "frames": None, "seconds": 0.0, "chains": [], "error": _said(file, error)}


def _said(file: Path, error: Exception | str) -> str:
    """Say on stderr what stopped a file, in one line; returns the reason."""
    reason = " ".join(str(error).removeprefix("Error: ").split())
    print(messages.OF(whose=file, said=reason), file=sys.stderr)
    return reason


def _say(line: str) -> None:
    """Print a line; letters that the terminal, or the pipe, does not know are spelled out."""
    encoding = sys.stdout.encoding or "utf-8"
    print(line.encode(encoding, "backslashreplace").decode(encoding))


def _open_and_rig(file: Path, options: argparse.Namespace) -> dict:
    """Rig the legs of a file and save it; its entry, with an error if none of its armatures has legs."""
    compressed = _is_compressed(file)
    check_place(options.output)
    bpy.ops.wm.open_mainfile(filepath=str(file.absolute()))
    as_bones = options.controls == "BONES"
    rigged = [_legs_of(file, ob, options.arms, as_bones) for ob in _armatures(options.armature)]
    if any(rigged):
        stop_if_asked()
        save_blend(options.output, compressed)
    return {"chains": [], "error": not any(rigged)}


def _armatures(name: str | None) -> list[bpy.types.Object]:
    """The armature objects of the scene, or the one of that name; ChainError where there is none."""
    found = [ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE" and name in (None, ob.name)]
    if not found:
        raise ChainError(messages.NO_ARMATURE_NAMED(armature=name) if name else messages.NO_ARMATURE_IN_SCENE())
    return found


def _legs_of(file: Path, ob: bpy.types.Object, arms: bool, as_bones: bool) -> bool:
    """Rig the legs of one armature object and say what was done; whether there were any."""
    try:
        rigged = rig_legs(bpy.context, ob, arms=arms, as_bones=as_bones)
    except ChainError as error:
        _said(file, error)
        return False
    for one in rigged.limbs:
        names = {"target": one.target.name, "pole": one.pole.name}
        line = messages.LIMB_FOLLOWS(armature=ob.name, first=one.limb.bones[0], last=one.limb.bones[-1], **names)
        _say(messages.OF(whose=file, said=line))
    if rigged.clips:
        line = messages.CLIPS_FOLLOWED(
            armature=ob.name, clips=clips_words(len(rigged.clips)), names=messages.quoted(rigged.clips)
        )
        _say(messages.OF(whose=file, said=line))
    elif rigged.frames is not None:
        line = messages.MOTION_FOLLOWED(armature=ob.name, first=rigged.frames[0], last=rigged.frames[-1])
        _say(messages.OF(whose=file, said=line))
    for out in rigged.left_out:
        line = messages.LIMB_LEFT_OUT(armature=ob.name, bone=out.bone, why=messages.as_part(out.reason))
        _say(messages.OF(whose=file, said=line))
    return True


def _open_and_step(file: Path, options: argparse.Namespace) -> dict:
    compressed = _is_compressed(file)
    output = _output(file, options) if options.command == "bake" else None
    if output is not None:
        if options.output_dir:
            options.output_dir.mkdir(parents=True, exist_ok=True)
        check_place(output)
    bpy.ops.wm.open_mainfile(filepath=str(file.absolute()))
    scene = bpy.context.scene
    first, last = options.frames or (scene.frame_start, scene.frame_end)
    frames = range(first, last + 1, options.step)
    chains = chains_of(scene.objects)
    if not chains:
        raise ChainError(messages.NO_CHAIN_IN_SCENE())

    with _shown(file.name, len(frames)) as progress:
        if output is None:
            report = check(bpy.context, chains, frames, progress=progress)
        else:
            settings = {name: getattr(options, name) for name in ("action", "after", "tolerance")}
            report = bake(bpy.context, chains, frames, **settings, progress=progress)
    stop_if_asked()
    if output is not None:
        save_blend(output, compressed)
    return report["files"][0]


@contextmanager
def _shown(name: str, frames: int) -> Iterator[Progress]:
    """Progress on a terminal, none in a pipe; between two frames it is heard whether somebody asks to stop."""
    if tqdm is None or not sys.stderr.isatty():
        yield lambda *_: stop_if_asked()
        return
    with tqdm(desc=name, unit="frame", total=frames) as bar:

        def progress(done: int, total: int) -> None:
            stop_if_asked()
            bar.total = total
            bar.update(done - bar.n)

        yield progress
        # What was sampled had no steps.
        bar.update(bar.total - bar.n)


def _is_compressed(file: Path) -> bool:
    """Whether a .blend file is compressed, as what is saved from it shall be. OSError where it is none."""
    if not file.is_file():
        raise FileNotFoundError(messages.NO_SUCH_FILE())
    with file.open("rb") as stream:
        start = stream.read(len(_BLEND))
    if not start.startswith((_BLEND, *_COMPRESSED)):
        raise OSError(messages.NOT_A_BLEND_FILE())
    return start != _BLEND


def _written(path: Path, text: str) -> bool:
    """Write a text file; whether that went well is said on stderr."""
    try:
        save_text(path, text)
    except OSError as error:
        _said(path, error)
        return False
    return True


def _status(entry: dict, options: argparse.Namespace) -> int:
    if entry["error"]:
        return 1
    limit = getattr(options, "max_error", None)
    return int(limit is not None and any(chain["max_error"] > limit for chain in entry["chains"]))


def _frames(text: str) -> tuple[int, int]:
    match = _FRAMES.match(text)
    if match is None or int(match[1]) > int(match[2]):
        raise argparse.ArgumentTypeError(messages.NO_RANGE(text=text))
    return int(match[1]), int(match[2])


def _step(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(messages.NO_STEP(text=text))
    return int(text)


def _distance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(messages.NO_DISTANCE(text=text))
    return value


def register() -> None:
    """Make Blender's own command line know `--command analytic_ik`."""
    _handles.append(
        bpy.utils.register_cli_command("analytic_ik", lambda arguments: run(arguments, "blender --command analytic_ik"))
    )


def unregister() -> None:
    """Take the command away from it."""
    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())
