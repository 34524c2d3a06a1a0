"""The command line: bake, check, plant and rig files without a window.

`analytic-ik COMMAND …` from the Python package (`__main__.py`), `blender FILE --command analytic_ik COMMAND …` from
Blender.
Exit status: 0 done; 1 a file failed, a chain missed its target by more than --max-error, a figure of feet is beyond its
--limit, or `rig` found no leg; 2 bad usage; 130 stopped by Ctrl+C, 143 by whoever ended the process.
"""

import argparse
import json
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import bpy

from . import messages
from .authoring.rigging import rig_legs
from .bake import bake, chains_of
from .bake.baking import checked
from .bake.certificate import certificate_text
from .bake.clips import bake_clips, clips_checked, clips_words
from .bake.formats import BLEND, SUFFIXES, open_blend, open_file, write_file
from .bake.report import foot_words, whole_report, words
from .bake.saving import check_place, first_doubled, save_blend, save_text
from .bake.stepping import Progress, Steps, finish
from .bake.stopping import Stopped, stop_if_asked, stops_heard
from .planting import Ground, plant_clip
from .planting.feet.measures import FIGURES
from .planting.scene.checking import checked_with_feet
from .planting.scene.shown import legs_of
from .rig.blender.armatures import armature_named
from .rig.model.order import ChainName
from .solvers import ChainError

try:
    from tqdm import tqdm
except ImportError:  # Blender does not ship it: there the frames go by without a bar.
    tqdm = None

_FRAMES = re.compile(r"(-?\d+)-(-?\d+)$")
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
            entries += _process(file, options)
        except Stopped as stop:
            stopped = stop
            entries.append(_failed(file, messages.STOPPED()))
            break
    report = whole_report(entries)
    written = [not options.report or _written(options.report, json.dumps(report, indent=1))]
    written.append(not options.certificate or _written(options.certificate, certificate_text(report).rstrip()))
    if stopped is not None:
        raise stopped
    return max(int(not all(written)), *(_status(entry, options) for entry in entries))


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=prog, description="Analytic inverse kinematics for .blend files and captures."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("files", nargs="*", type=Path, metavar="FILE", help="files to open")
    shared.add_argument("--frames", type=_frames, metavar="A-B", help="first and last frame (default: the scene's)")
    shared.add_argument("--report", type=Path, metavar="FILE.json", help="write what was measured")
    shared.add_argument("--certificate", type=Path, metavar="FILE.txt", help="write it as text to be read")
    stepped = argparse.ArgumentParser(add_help=False)
    stepped.add_argument("--step", type=_step, default=1, metavar="N", help="every Nth frame")
    stepped.add_argument(
        "--clips",
        type=str.lower,
        choices=("current", "all"),
        default="current",
        help="what plays, or all that armatures may play, each over its own frames",
    )
    standing = argparse.ArgumentParser(add_help=False)
    standing.add_argument(
        "--ground", type=str.upper, choices=("CAPTURED", "LEVEL", "OBJECT"), help="what the feet stand on"
    )
    standing.add_argument("--height", type=float, default=0.0, metavar="H", help="height of level ground")
    standing.add_argument("--ground-object", metavar="NAME", help="mesh object that the feet stand on")
    baking = commands.add_parser("bake", parents=[shared, stepped], help="write live chains into keys and save")
    where = baking.add_mutually_exclusive_group(required=True)
    where.add_argument("--output", type=Path, metavar="PATH", help="file to save to (one FILE)")
    where.add_argument("--output-dir", type=Path, metavar="DIR", help="folder to save to, under the same names")
    where.add_argument("--in-place", action="store_true", help="save over each FILE")
    baking.add_argument("--action", type=str.upper, choices=("NEW", "COPY", "CURRENT"), default="COPY")
    baking.add_argument("--after", type=str.upper, choices=("KEEP", "MUTE", "REMOVE"), default="MUTE")
    baking.add_argument(
        "--tolerance", type=_distance, default=0.0, metavar="T", help="drop keys while the tip stays within T"
    )
    checking = commands.add_parser(
        "check", parents=[shared, stepped, standing], help="measure live chains, and feet; save nothing"
    )
    checking.add_argument(
        "--max-error", type=_distance, metavar="E", help="exit with 1 where a tip misses its target by more"
    )
    checking.add_argument("--feet", action="store_true", help="measure how well feet stand, with or without chains")
    checking.add_argument(
        "--limit",
        type=_limit,
        action="append",
        default=[],
        metavar="FIGURE=VALUE",
        help=f"exit with 1 where a figure of feet is larger: {', '.join(FIGURES)}",
    )
    planting = commands.add_parser(
        "plant", parents=[shared, standing], help="rig captures, let their feet stand, bake and save"
    )
    where = planting.add_mutually_exclusive_group(required=True)
    where.add_argument("--output", type=Path, metavar="PATH", help="file to save to (one FILE), in the format it says")
    where.add_argument("--output-dir", type=Path, metavar="DIR", help="folder to save to, under the same names")
    planting.add_argument(
        "--format",
        type=str.lower,
        choices=[suffix.removeprefix(".") for suffix in SUFFIXES],
        help="of the files in DIR (default: as they came)",
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
    for command in (baking, checking, planting, rigging):
        command.set_defaults(usage_error=command.error)
    return parser


def _check_usage(options: argparse.Namespace) -> None:
    if not options.files and bpy.data.filepath:
        options.files = [Path(bpy.data.filepath)]
    if not options.files:
        options.usage_error(messages.NO_FILE_GIVEN())
    if options.command == "rig" and len(options.files) > 1:
        options.usage_error(messages.RIG_TAKES_ONE())
    if options.command in ("bake", "plant"):
        if options.output and len(options.files) > 1:
            options.usage_error(messages.OUTPUT_TAKES_ONE())
        outputs = [_output(file, options) for file in options.files]
        doubled = first_doubled(outputs)
        if doubled is not None:
            first, second = (options.files[k] for k in doubled)
            options.usage_error(messages.SAME_OUTPUT(first=first, second=second, output=outputs[doubled[1]]))
    if options.command == "plant":
        unknown = [output for output in outputs if output.suffix.lower() not in SUFFIXES]
        if unknown:
            options.usage_error(messages.NO_FORMAT(output=unknown[0], formats=", ".join(SUFFIXES)))


def _output(file: Path, options: argparse.Namespace) -> Path:
    """Where the baked file goes."""
    if options.output_dir is None:
        return options.output or file
    given = getattr(options, "format", None)
    return options.output_dir / (file.with_suffix(f".{given}") if given else file).name


def _process(file: Path, options: argparse.Namespace) -> list[dict]:
    """One file; its entries in the report, one for each clip, with the error that stopped it."""
    try:
        stop_if_asked()
        entries = {"rig": _open_and_rig, "plant": _open_and_plant}.get(options.command, _open_and_step)(file, options)
    except (ChainError, OSError, RuntimeError) as error:
        return [_failed(file, error)]
    except Exception as error:
        # A bug, or no memory: the other files go on.
        traceback.print_exc()
        return [_failed(file, messages.FILE_FAILED(kind=type(error).__name__, error=error))]
    for entry in entries:
        whose = messages.OF(whose=file, said=entry["clip"]) if "clip" in entry else file
        for chain in entry["chains"]:
            _say(messages.OF(whose=whose, said=words(chain)))
        for foot in entry.get("feet", ()):
            _say(messages.OF(whose=whose, said=foot_words(foot)))
    return [{**entry, "file": str(file)} for entry in entries]


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


def _open_and_rig(file: Path, options: argparse.Namespace) -> list[dict]:
    """Rig the legs of a file and save it; its entry, with an error if none of its armatures has legs."""
    check_place(options.output)
    compressed = open_blend(file)
    as_bones = options.controls == "BONES"
    rigged = [_legs_of(file, ob, options.arms, as_bones) for ob in _armatures(options.armature)]
    if any(rigged):
        stop_if_asked()
        save_blend(options.output, compressed)
    return [{"chains": [], "error": not any(rigged)}]


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


def _open_and_plant(file: Path, options: argparse.Namespace) -> list[dict]:
    """Plant what the armatures of a file play, bake and save it; its entry, with an error if none could be planted."""
    output = _output(file, options)
    _check_output(output, options)
    compressed = open_file(file)
    ground = _ground(options) or Ground()
    given = options.frames and range(options.frames[0], options.frames[1] + 1)
    entries, scene = [], bpy.context.scene
    for ob in _armatures(None):
        bpy.context.view_layer.objects.active = ob
        try:
            with _shown(file.name, 1) as progress:
                keep = output.suffix.lower() == BLEND
                report = plant_clip(bpy.context, ob, given, ground=ground, keep_controls=keep, progress=progress)
        except ChainError as error:
            _said(file, error)
            continue
        entries += report["files"]
    if not entries:
        return [{"frames": None, "seconds": 0.0, "chains": [], "error": True}]
    stop_if_asked()
    first, last = min(entry["frames"][0] for entry in entries), max(entry["frames"][1] for entry in entries)
    bpy.context.view_layer.objects.active = scene.objects[entries[0]["feet"][0]["armature"]]
    write_file(output, compressed, range(first, last + 1))
    whole = {
        "frames": [first, last, 1],
        "seconds": sum(entry["seconds"] for entry in entries),
        "chains": [chain for entry in entries for chain in entry["chains"]],
        "feet": [foot for entry in entries for foot in entry["feet"]],
        "error": None,
    }
    return [whole]


def _ground(options: argparse.Namespace) -> Ground | None:
    """What the feet stand on, as the options say; None if they say nothing."""
    if options.ground is None:
        return None
    name = options.ground_object
    ob = bpy.context.scene.objects.get(name) if name else None
    if name and ob is None:
        raise ChainError(messages.NO_GROUND_NAMED(object=name))
    return Ground(options.ground, options.height, ob)


def _open_and_step(file: Path, options: argparse.Namespace) -> list[dict]:
    output = _output(file, options) if options.command == "bake" else None
    if output is not None:
        _check_output(output, options)
    compressed = (open_file if output is None else open_blend)(file)
    scene = bpy.context.scene
    first, last = options.frames or (scene.frame_start, scene.frame_end)
    frames = range(first, last + 1, options.step)
    chains = chains_of(scene.objects)
    if not chains and (output is not None or not _wants_feet(options)):
        raise ChainError(messages.NO_CHAIN_IN_SCENE())

    with _shown(file.name, len(frames)) as progress:
        if output is None:
            entries = _checked(chains, frames, options, progress)
        else:
            settings = {name: getattr(options, name) for name in ("action", "after", "tolerance")}
            if options.clips == "all":
                report = bake_clips(bpy.context, chains, **settings, strips=True, progress=progress)
            else:
                report = bake(bpy.context, chains, frames, **settings, progress=progress)
            entries = report["files"]
    stop_if_asked()
    if output is not None:
        save_blend(output, compressed)
    return entries


def _check_output(output: Path, options: argparse.Namespace) -> None:
    """Make the folder that --output-dir names. Raises OSError where nothing can be saved."""
    if options.output_dir:
        options.output_dir.mkdir(parents=True, exist_ok=True)
    check_place(output)


def _wants_feet(options: argparse.Namespace) -> bool:
    return options.feet or bool(options.limit)


def _checked(chains: Sequence[ChainName], frames: range, options: argparse.Namespace, progress: Progress) -> list[dict]:
    """The entries of a check of live chains, and with --feet of feet; with --clips all one for each clip."""
    armatures = [armature_named(name) for name in dict.fromkeys(chain.armature for chain in chains)]
    if _wants_feet(options):
        armatures = [ob for ob in _armatures(None) if legs_of(ob)] or _armatures(None)

    def work(obs: Sequence[bpy.types.Object], over: range) -> Steps[dict]:
        own = [chain for chain in chains if armature_named(chain.armature) in obs]
        if _wants_feet(options):
            return checked_with_feet(bpy.context, own, obs, over, _ground(options))
        return checked(bpy.context, own, over)

    if options.clips == "current":
        return finish(work(armatures, frames), progress)["files"]
    return [entry for ob in armatures for entry in finish(clips_checked(ob, partial(work, [ob])), progress)["files"]]


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
    if limit is not None and any(chain["max_error"] > limit for chain in entry["chains"]):
        return 1
    limits, feet = getattr(options, "limit", ()), entry.get("feet", ())
    return int(any(foot["after"][figure] > most for foot in feet for figure, most in limits))


def _frames(text: str) -> tuple[int, int]:
    match = _FRAMES.match(text)
    if match is None or int(match[1]) > int(match[2]):
        raise argparse.ArgumentTypeError(messages.NO_RANGE(text=text))
    return int(match[1]), int(match[2])


def _step(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(messages.NO_STEP(text=text))
    return int(text)


def _limit(text: str) -> tuple[str, float]:
    figure, _, value = text.partition("=")
    if figure not in FIGURES:
        raise argparse.ArgumentTypeError(messages.NO_FIGURE(text=text, figures=", ".join(FIGURES)))
    return figure, _distance(value)


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
