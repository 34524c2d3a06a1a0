"""Files by their suffix: opened with Blender's importers, and written with its exporters.

All with their own defaults, but where these would lose what a file holds: how fast it is, which way is up, keys that a
foot needs to stand, and the names of clips.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import addon_utils
import bpy
import numpy as np
from bpy_extras.io_utils import axis_conversion
from mathutils import Matrix

from .. import messages
from ..rig.blender.animation import fcurve_collections
from ..rig.blender.bones import rotation_in
from ..rig.blender.motion import motion_of
from .saving import save_blend, save_files

BLEND = ".blend"
_BLEND = b"BLENDER"
_RATES = (24, 25, 30, 50, 60)
"""Frames a second."""
_ON_A_FRAME = 0.02
"""Part of a frame by which a key may lie beside one: times are rounded to a millisecond by some programs."""
_ALMOST_ALL = 0.9
"""Share of keys."""
_COMPRESSED = (b"\x28\xb5\x2f\xfd", b"\x1f\x8b")


@dataclass(frozen=True, slots=True)
class _Format:
    """addon: Blender's, which has the operators. read: imports a path. write: exports to a path, and these frames."""

    addon: str
    read: Callable[[str], object]
    write: Callable[[str, range], object]


def _read_bvh(path: str) -> None:
    # By default a capture plays at the rate of the scene, whatever its own is, and would be written at that.
    bpy.ops.import_anim.bvh(filepath=path, update_scene_fps=True, update_scene_duration=True)


def _write_bvh(path: str, frames: range) -> None:
    # The importer turns a capture from Y up to Z up, and the exporter writes bones in the armature's own space.
    ob = bpy.context.object
    world, scale = ob.matrix_world, ob.matrix_world.median_scale
    place = Matrix.Translation(world.translation / scale) @ rotation_in(world).to_matrix().to_4x4()
    place = axis_conversion(to_forward="-Z", to_up="Y").to_4x4() @ place
    _transform(ob, place)
    try:
        bpy.ops.export_anim.bvh(filepath=path, frame_start=frames.start, frame_end=frames[-1], global_scale=scale)
    finally:
        _transform(ob, place.inverted())


def _transform(ob: bpy.types.Object, place: Matrix) -> None:
    """Move an armature object's bones, in its own space."""
    ob.data.transform(place)
    # Blender does not notice by itself.
    ob.data.update_tag()
    bpy.context.view_layer.update()


def _read_fbx(path: str) -> None:
    # Blender 4.5 and later have an importer of their own, beside that of the add-on.
    (bpy.ops.wm.fbx_import if "fbx_import" in dir(bpy.ops.wm) else bpy.ops.import_scene.fbx)(filepath=path)


def _write_fbx(path: str, _frames: range) -> None:
    # The exporter puts the armature's name before each clip's, and the importer leaves it there, or adds it again.
    starts = tuple(f"{ob.name}|" for ob in bpy.context.scene.objects if ob.type == "ARMATURE")
    for action in bpy.data.actions:
        while start := next((each for each in starts if action.name.startswith(each)), ""):
            action.name = action.name.removeprefix(start)
    # Keys that are left out would let a foot slide, and at each trip the last bones would get one more.
    bpy.ops.export_scene.fbx(filepath=path, bake_anim_simplify_factor=0.0, add_leaf_bones=False)


def _read_gltf(path: str) -> None:
    bpy.ops.import_scene.gltf(filepath=path)
    # It knows seconds alone, which are imported at the rate of the scene: keys of another rate lie between its frames.
    rate = _rate_of_keys(bpy.context.scene.render.fps)
    if rate != bpy.context.scene.render.fps:
        _new_scene()
        bpy.context.scene.render.fps = rate
        bpy.ops.import_scene.gltf(filepath=path)


def _rate_of_keys(rate: int) -> int:
    """The usual rate with the frames of which almost all keys of the file agree, which was imported at `rate`, else
    that."""
    times = [_key_times(curve) / rate for action in bpy.data.actions for curve in _curves_of(action)]
    seconds = np.unique(np.concatenate(times)) if times else np.zeros(1)

    def share(fps: int) -> float:
        frames = seconds * fps
        return float((np.abs(frames - np.round(frames)) < _ON_A_FRAME).mean())

    best = max((rate, *_RATES), key=share)
    return best if share(best) > _ALMOST_ALL else rate


def _key_times(curve: bpy.types.FCurve) -> np.ndarray:
    """The frames of an F-Curve's keys."""
    found = np.empty(2 * len(curve.keyframe_points), np.float32)
    curve.keyframe_points.foreach_get("co", found)
    return found[::2]


def _curves_of(action: bpy.types.Action) -> Iterator[bpy.types.FCurve]:
    for slot in getattr(action, "slots", (None,)):
        for curves in fcurve_collections(action, slot):
            yield from curves


def _write_glb(path: str, _frames: range) -> None:
    bpy.ops.export_scene.gltf(filepath=path, export_optimize_animation_size=False)


def _write_gltf(path: str, _frames: range) -> None:
    bpy.ops.export_scene.gltf(filepath=path, export_format="GLTF_SEPARATE", export_optimize_animation_size=False)


_FORMATS = {
    ".bvh": _Format("io_anim_bvh", _read_bvh, _write_bvh),
    ".fbx": _Format("io_scene_fbx", _read_fbx, _write_fbx),
    ".glb": _Format("io_scene_gltf2", _read_gltf, _write_glb),
    ".gltf": _Format("io_scene_gltf2", _read_gltf, _write_gltf),
}
SUFFIXES = (BLEND, *_FORMATS)
"""What can be opened and written."""
ONE_CLIP = (".bvh",)
"""Those that hold one clip."""
written_suffixes: set[str] = set()
"""Of what this process has exported."""


def open_blend(file: Path) -> bool:
    """Open a .blend file; returns whether it is compressed, as what is saved from it should be.

    Raises OSError, with its cure, where it is none, and RuntimeError where Blender cannot read it.
    """
    if not file.is_file():
        raise FileNotFoundError(messages.NO_SUCH_FILE())
    with file.open("rb") as stream:
        start = stream.read(len(_BLEND))
    if not start.startswith((_BLEND, *_COMPRESSED)):
        raise OSError(messages.NOT_A_BLEND_FILE())
    bpy.ops.wm.open_mainfile(filepath=str(file.absolute()))
    return start != _BLEND


def open_file(file: Path) -> bool:
    """Open a file of any of `SUFFIXES`; returns whether it is a compressed .blend file.

    What is imported is alone in an empty scene, whose range is that of its keys. Raises OSError, with its cure, and
    RuntimeError as `open_blend` does.
    """
    own = _FORMATS.get(file.suffix.lower())
    if own is None:
        return open_blend(file)
    if not file.is_file():
        raise FileNotFoundError(messages.NO_SUCH_FILE())
    _new_scene()
    _check_addon(own)
    try:
        own.read(str(file.absolute()))
    except RuntimeError as error:
        raise OSError(messages.NOT_IMPORTED(reason=_last_line(error))) from error
    scene = bpy.context.scene
    frames = motion_of(scene.objects)
    if frames is not None:
        scene.frame_start, scene.frame_end = max(frames.start, 0), max(frames[-1], 0)
    return False


def _new_scene() -> None:
    """An empty file."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


def write_file(path: Path, compressed: bool, frames: range) -> None:
    """Write the open file to a path, as its suffix says. Raises OSError, with its cure; nothing is left half-written.

    compressed: of a .blend file. frames: of the active armature object, which is all that a .bvh file holds.
    """
    own = _FORMATS.get(path.suffix.lower())
    if own is None:
        save_blend(path, compressed)
        return
    _check_addon(own)

    def write(place: Path) -> None:
        written_suffixes.add(path.suffix.lower())
        try:
            own.write(str(place), frames)
        except RuntimeError as error:
            raise OSError(_last_line(error)) from error

    save_files(path, write)


def _check_addon(own: _Format) -> None:
    if not addon_utils.check(own.addon)[1] and addon_utils.enable(own.addon) is None:
        raise OSError(messages.NO_ADDON(addon=own.addon))


def _last_line(error: RuntimeError) -> str:
    """Why an operator failed: of a traceback the last line alone."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip() and not line.startswith("Location:")]
    return lines[-1].removeprefix("Error: ").rstrip(".") if lines else type(error).__name__
