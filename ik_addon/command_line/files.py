"""What commands share: where a file goes, what is in it, and which of its clips are meant."""

import argparse
from pathlib import Path

import bpy

from .. import messages
from ..bake.formats import BLEND, SUFFIXES, VRM, check_readable, check_replaceable, open_file, write_file
from ..bake.saving import check_place
from ..planting import Ground
from ..solvers import ChainError
from .saying import say


def output_of(file: Path, options: argparse.Namespace) -> Path:
    """Where what is made of a file goes."""
    if options.output_dir is None:
        return options.output or file
    return options.output_dir / (f"{file.stem}.{options.format}" if options.format else file.name)


def is_foreign(path: Path) -> bool:
    """Whether a file is in another format than Blender's own, which keeps no chains and controls."""
    return path.suffix.lower() in SUFFIXES and path.suffix.lower() != BLEND


def opened(file: Path, options: argparse.Namespace) -> tuple[Path, bool]:
    """Open a file, once it is known that what is made of it can be saved: where to, and if it is a compressed .blend.

    Makes the folder that --output-dir names. Raises OSError and RuntimeError as `open_file` does.
    """
    check_readable(file)
    output = output_of(file, options)
    if options.output_dir:
        try:
            options.output_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OSError(messages.NOT_WRITTEN(path=output, reason=error.strerror)) from error
    if not is_in_place(options):
        # Once more: it may have been hours since all were checked.
        check_replaceable(output)
    check_place(output)
    return output, open_file(file)


def save_output(file: Path, output: Path, compressed: bool, frames: range) -> None:
    """Write what was made of a file, as `write_file` does."""
    write_file(output, compressed, frames)
    if output.suffix.lower() == VRM:
        say(messages.OF(whose=file, said=messages.VRM_IS_GLTF()))


def is_in_place(options: argparse.Namespace) -> bool:
    """Whether files are saved over."""
    return getattr(options, "in_place", False)


def armatures_of_scene(name: str | None = None) -> list[bpy.types.Object]:
    """The armature objects of the scene, or the one of that name; ChainError where there is none."""
    found = [ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE" and name in (None, ob.name)]
    if not found:
        raise ChainError(messages.NO_ARMATURE_NAMED(armature=name) if name else messages.NO_ARMATURE_IN_SCENE())
    return found


def ground_of(options: argparse.Namespace) -> Ground | None:
    """What the feet stand on, as the options say; None if they say nothing."""
    if options.ground is None:
        return None
    name = options.ground_object
    ob = bpy.context.scene.objects.get(name) if name else None
    if name and ob is None:
        raise ChainError(messages.NO_GROUND_NAMED(object=name))
    return Ground(options.ground, options.height, ob)


def span_of(entries: list[dict]) -> range:
    """The frames from the first of all entries to the last."""
    frames = [entry["frames"] for entry in entries]
    return range(min(each[0] for each in frames), max(each[1] for each in frames) + 1)
