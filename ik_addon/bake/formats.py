"""Files by their suffix: opened with Blender's importers, written with its exporters; what glTF says of itself, what
importers leave unsaid of clips, and what exporters would mix.
"""

import json
import os
import re
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import addon_utils
import bpy
import numpy as np
from bpy_extras.io_utils import axis_conversion
from mathutils import Matrix

from .. import messages
from ..rig.blender.animation import all_fcurves, fcurve_collections
from ..rig.blender.clips import clips_of, motion_of, moved_channels, playing_clip
from ..rig.blender.rotations import LOCATION, REST, SCALE, channel_of, rotation_in
from .keys import keys_of, put_keys, times_of
from .saving import process, save_blend, save_files


def beginning(path: Path, count: int) -> bytes:
    """The first so many bytes of a file, or all that it has. Raises OSError if it cannot be read."""
    with path.open("rb") as stream:
        return stream.read(count)


def hold_unkeyed() -> None:
    """Key bones in clips that say nothing of them where the imported file has them.

    Exporters put these at rest in all clips but the current one, and a root would be elsewhere.
    """
    for ob in _armatures():
        own = playing_clip(ob)
        shown = moved_channels(own) if own else set()
        size = float(np.mean([bone.length for bone in ob.data.bones]))
        away = {
            (bone.name, channel): tuple(numbers)
            for bone in ob.pose.bones
            for channel in (channel_of(mode)[0] for mode in (LOCATION, bone.rotation_mode, SCALE))
            if np.abs(np.subtract(numbers := getattr(bone, channel), REST[channel])).max()
            > _AWAY * (size if channel == channel_of(LOCATION)[0] else 1.0)
        }
        for clip in clips_of(ob):
            for name, channel in away.keys() - shown - moved_channels(clip):
                for index, number in enumerate(away[name, channel]):
                    curve = clip.curves[0].new(f"{ob.pose.bones[name].path_from_id()}.{channel}", index=index)
                    curve.keyframe_points.insert(_span(clip.curves)[0], number)


_AWAY = 1e-4
"""Part of a bone's length, or of one, by which a channel may be off rest."""


def keys_onto_frames() -> None:
    """Move clips whose keys lie between frames, all by the same part of one, back onto these.

    Files that know seconds alone may begin anywhere; a bake has keys on frames, and would be a frame longer.
    """
    for action in bpy.data.actions:
        curves = [curve for curve in all_fcurves(action) if len(curve.keyframe_points)]
        times = [times_of(curve).astype(float) for curve in curves]
        if not curves:
            continue
        start = min(own.min() for own in times)
        first = np.floor(start + _ON_A_FRAME)
        there = [first + np.round(own - start) for own in times]
        moves = [frames - own for frames, own in zip(there, times, strict=True)]
        ends = np.array([(own.min(), own.max()) for own in moves])
        if np.abs(ends).max() < _EXACT or np.ptp(ends) > 2.0 * _ON_A_FRAME:
            continue
        for curve, own in zip(curves, moves, strict=True):
            keys = keys_of(curve, ("handle_left", "handle_right", "co"))
            for places in keys.values():
                places[:, 0] += own
            put_keys(curve, keys)
            curve.update()
        owners = (owner for owner in (*bpy.data.objects, *bpy.data.shape_keys) if owner.animation_data)
        strips = (strip for owner in owners for track in owner.animation_data.nla_tracks for strip in track.strips)
        for strip in (strip for strip in strips if strip.action == action):
            strip.action_frame_start, strip.action_frame_end = action.curve_frame_range


_EXACT = 1e-4
"""Part of a frame."""


def bystanders_apart() -> None:
    """Give cameras and the like whose keys go on beyond those of an armature in one action an action of their own.

    An exported clip is as long as all that is in its action.
    """
    for ob in _armatures():
        for action in {clip.action for clip in clips_of(ob)}:
            slots: list = list(getattr(action, "slots", ()))
            spans = {slot.identifier: _span(fcurve_collections(action, slot)) for slot in slots}
            led = [spans[slot.identifier] for slot in slots if any(_leads(user) for user in slot.users())]
            if not led:
                continue
            first, last = min(span[0] for span in led), max(span[1] for span in led)
            apart = {
                slot.identifier: slot.users()
                for slot in slots
                if not any(map(_leads, slot.users()))
                and (spans[slot.identifier][0] < first or spans[slot.identifier][1] > last)
            }
            if apart:
                _move_slots(action, apart)


def _armatures() -> list[bpy.types.Object]:
    return [ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE" and ob.animation_data]


def _leads(user: bpy.types.ID) -> bool:
    """Whether a clip is as long as what moves this: armatures, and the shapes of what they carry."""
    return isinstance(user, bpy.types.Key) or getattr(user, "type", "") == "ARMATURE"


def _span(homes: list) -> tuple[float, float]:
    ranges = [tuple(curve.range()) for curves in homes for curve in curves if len(curve.keyframe_points)]
    return (min(each[0] for each in ranges), max(each[1] for each in ranges)) if ranges else (np.inf, -np.inf)


def _move_slots(action: bpy.types.Action, apart: dict[str, list[bpy.types.ID]]) -> None:
    copy = action.copy()
    copy.name = f"{action.name} others"
    for identifier, users in apart.items():
        for user in users:
            data = user.animation_data
            for player in (data, *(strip for track in data.nla_tracks for strip in track.strips)):
                if player.action == action and player.action_slot and player.action_slot.identifier == identifier:
                    player.action, player.action_slot = copy, copy.slots[identifier]
    for slot in list(copy.slots):
        left = action if slot.identifier in apart else copy
        left.slots.remove(left.slots[slot.identifier])


_GLB = b"glTF"
_HEADER = struct.Struct("<4sIII4s")
"""Magic, version, length; and of the first chunk, which is JSON, its length and kind."""
_COMPRESSIONS = {
    "KHR_draco_mesh_compression": "Draco",
    "EXT_meshopt_compression": "meshopt",
    "KHR_meshopt_compression": "meshopt",
}
_LIBRARIES = {"Draco": "bf_intern_draco_bridge", "meshopt": "bf_intern_meshopt_bridge"}
"""What decodes them, by the names that Blender asks for since it can read both."""
_QUOTED = re.compile(rb"%([0-9A-Fa-f]{2})")


def contents(path: Path) -> dict:
    """The JSON of a .gltf, .glb or .vrm file; empty if it has none. Raises OSError if it cannot be read."""
    text = start = beginning(path, _HEADER.size)
    if start.startswith(_GLB):
        length = _HEADER.unpack(start)[3] if len(start) == _HEADER.size else 0
        text = beginning(path, _HEADER.size + length)[_HEADER.size :]
    elif start.lstrip()[:1] == b"{":
        text = path.read_bytes()
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def is_gltf(path: Path) -> bool:
    """Whether a file is glTF, as far as its beginning says."""
    return "asset" in contents(path)


def files_beside(path: Path) -> set[Path]:
    """The files that belong to a .gltf file: its buffers and images."""
    found, content = set(), contents(path)
    for kind in ("buffers", "images"):
        entries = content.get(kind)
        for entry in entries if isinstance(entries, list) else ():
            uri = entry.get("uri") if isinstance(entry, dict) else None
            if isinstance(uri, str) and not uri.startswith("data:"):
                name = _QUOTED.sub(lambda code: bytes.fromhex(code[1].decode()), uri.encode(errors="surrogatepass"))
                # What has a zero in it is no file's name.
                with suppress(ValueError):
                    found.add((path.parent / name.decode(errors="surrogateescape")).resolve())
    return found


def no_decoder(path: Path, is_module: bool) -> str | None:
    """Why Blender cannot read how a file is compressed, and what to do; None if it can, or nothing is compressed.

    is_module: whether Blender is a Python package, which may lack what the application has. Blender's add-on must be
    enabled.
    """
    for compression in _compressions_of(path, "extensionsUsed"):
        library = _library(compression)
        if library is not None and not library.is_file():
            return (messages.NO_DECODER if is_module else messages.NO_DECODER_AT_ALL)(compression=compression)
    return None


def unknown_compression(path: Path) -> str | None:
    """Which compression it may be that Blender could not read a file, and what to do; None if none is required."""
    for compression in _compressions_of(path, "extensionsRequired"):
        if _library(compression) is None:
            return messages.NO_DECODER_AT_ALL(compression=compression)
    return None


def _compressions_of(path: Path, where: str) -> list[str]:
    named = contents(path).get(where)
    return [name for extension, name in _COMPRESSIONS.items() if isinstance(named, list) and extension in named]


def _library(compression: str) -> Path | None:
    """Where Blender looks for what decodes a compression; None if it does not know it, or does not say where."""
    try:
        from io_scene_gltf2.io.com.library import dll_path  # pyright: ignore[reportMissingImports]
    except ImportError:
        # Until Blender 5.1.
        return _draco() if compression == "Draco" else None
    return dll_path(_LIBRARIES[compression], compression)


def _draco() -> Path | None:
    try:
        from io_scene_gltf2.io.com.draco import dll_path  # pyright: ignore[reportMissingImports]
    except ImportError:
        return _old_draco()
    return dll_path()


def _old_draco() -> Path | None:
    try:
        from io_scene_gltf2.io.com.gltf2_io_draco_compression_extension import (  # pyright: ignore[reportMissingImports]
            dll_path,
        )
    except ImportError:
        return None
    return dll_path()


BLEND = ".blend"
VRM = ".vrm"
"""glTF, with what VRM adds for avatars, which Blender neither reads nor writes."""
_GLTF = "io_scene_gltf2"
_BLEND = b"BLENDER"
_RATES = (24, 25, 30, 50, 60)
"""Frames a second."""
_ON_A_FRAME = 0.02
"""Part of a frame by which a key may lie beside one: times are rounded to a millisecond by some programs."""
_SIMPLIFIED = 1.0
"""The factor by which Blender's exporter leaves out keys of an FBX file by default."""
_ALMOST_ALL = 0.9
"""Share of keys."""
_COMPRESSED = (b"\x28\xb5\x2f\xfd", b"\x1f\x8b")


@dataclass(frozen=True, slots=True)
class _Format:
    """addon: Blender's, which has the operators. read: imports a path. write: exports to a path, and these frames; with
    all keys, or with those alone that its exporter keeps.

    is_one: whether a file is of this format, as far as its beginning says.
    """

    addon: str
    read: Callable[[str], object]
    write: Callable[[str, range, bool], object]
    is_one: Callable[[Path], bool]


def _read_bvh(path: str) -> None:
    # By default a capture plays at the rate of the scene, whatever its own is, and would be written at that.
    bpy.ops.import_anim.bvh(filepath=path, update_scene_fps=True, update_scene_duration=True)


def _write_bvh(path: str, frames: range, _optimized: bool) -> None:
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


def _write_fbx(path: str, _frames: range, optimized: bool) -> None:
    # The exporter puts the armature's name before each clip's, and the importer leaves it there, or adds it again.
    starts = tuple(f"{ob.name}|" for ob in bpy.context.scene.objects if ob.type == "ARMATURE")
    for action in bpy.data.actions:
        while start := next((each for each in starts if action.name.startswith(each)), ""):
            action.name = action.name.removeprefix(start)
    # The exporter makes a clip of each action for every object whose channels it names, and of what an object plays in
    # any case: actions that move cameras and the like shall fit these alone.
    armatures = {playing_clip(ob) for ob in _armatures()}
    others = {playing_clip(ob) for ob in bpy.context.scene.objects if ob.type != "ARMATURE"}
    for curves in (curves for clip in others - armatures - {None} for curves in clip.curves):
        curves.new(_NOWHERE)
    # Keys that are left out would let a foot slide, and at each trip the last bones would get one more.
    factor = _SIMPLIFIED if optimized else 0.0
    bpy.ops.export_scene.fbx(filepath=path, bake_anim_simplify_factor=factor, add_leaf_bones=False)


_NOWHERE = '["analytic_ik_nowhere"]'
"""A path that no object has."""


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
    times = [times_of(curve) / rate for action in bpy.data.actions for curve in all_fcurves(action)]
    seconds = np.unique(np.concatenate(times)) if times else np.zeros(1)

    def share(fps: int) -> float:
        frames = seconds * fps
        return float((np.abs(frames - np.round(frames)) < _ON_A_FRAME).mean())

    best = max((rate, *_RATES), key=share)
    return best if share(best) > _ALMOST_ALL else rate


def _write_glb(path: str, _frames: range, optimized: bool, form: str = "GLB") -> None:
    bpy.ops.export_scene.gltf(filepath=path, export_format=form, export_optimize_animation_size=optimized)


def _write_vrm(path: str, frames: range, optimized: bool) -> None:
    # The exporter ends each name as it sees fit.
    glb = f"{path}.glb"
    _write_glb(glb, frames, optimized)
    os.replace(glb, path)


def _begins(*starts: bytes) -> Callable[[Path], bool]:
    return lambda file: beginning(file, max(map(len, starts))).startswith(starts)


_is_blend = _begins(_BLEND, *_COMPRESSED)
_FORMATS = {
    ".bvh": _Format("io_anim_bvh", _read_bvh, _write_bvh, _begins(b"HIERARCHY")),
    ".fbx": _Format("io_scene_fbx", _read_fbx, _write_fbx, _begins(b"Kaydara FBX Binary")),
    ".glb": _Format(_GLTF, _read_gltf, _write_glb, _begins(b"glTF")),
    ".gltf": _Format(_GLTF, _read_gltf, partial(_write_glb, form="GLTF_SEPARATE"), is_gltf),
    VRM: _Format(_GLTF, _read_gltf, _write_vrm, _begins(b"glTF")),
}
SUFFIXES = (BLEND, *_FORMATS)
"""What can be opened and written."""
ONE_CLIP = (".bvh",)
"""Those that hold one clip."""


def check_readable(file: Path) -> None:
    """Raise OSError, with its cure, if there is no file to open."""
    if file.is_dir():
        suffix = next((suffix for suffix in SUFFIXES if any(file.glob(f"*{suffix}"))), BLEND)
        raise IsADirectoryError(messages.IS_A_FOLDER(files=file / f"*{suffix}"))
    if not file.exists():
        raise FileNotFoundError(messages.NO_SUCH_FILE())
    if not file.is_file():
        raise OSError(messages.IS_NOT_A_FILE())


def check_replaceable(path: Path) -> None:
    """Raise OSError, with its cure, if what is at a path cannot be an earlier output: a file of its format.

    An empty file holds nothing that could be lost.
    """
    own = _FORMATS.get(path.suffix.lower())
    if path.is_symlink():
        raise OSError(messages.IS_A_LINK(path=path))
    if path.exists() and not path.is_file():
        raise OSError(messages.NO_PLACE_FOR_A_FILE(path=path))
    if path.exists() and path.stat().st_size and not (_is_blend if own is None else own.is_one)(path):
        suffix = BLEND if own is None else path.suffix.lower()
        raise OSError(messages.OTHER_FILE_THERE(path=path, kind=f"{suffix} file"))


def _open_blend(file: Path) -> bool:
    """Open a .blend file; returns whether it is compressed, as what is saved from it should be."""
    if not _is_blend(file):
        is_named_so = file.suffix.lower() == BLEND
        raise OSError(
            messages.NOT_A_BLEND_FILE() if is_named_so else messages.NO_KNOWN_FORMAT(formats=", ".join(SUFFIXES))
        )
    try:
        bpy.ops.wm.open_mainfile(filepath=str(file.absolute()))
    except RuntimeError as error:
        raise OSError(messages.NOT_OPENED(reason=_last_line(error).rpartition(": ")[2])) from error
    return not _begins(_BLEND)(file)


def open_file(file: Path) -> bool:
    """Open a file of any of `SUFFIXES`; returns whether it is a compressed .blend file.

    What is imported is alone in an empty scene, whose range is that of its keys. Raises OSError, with its cure, and
    RuntimeError where Blender cannot read it.
    """
    check_readable(file)
    own = _FORMATS.get(file.suffix.lower())
    if own is None:
        return _open_blend(file)
    _new_scene()
    _check_addon(own)
    undecoded = no_decoder(file, not bpy.app.binary_path) if own.addon == _GLTF else None
    if undecoded:
        raise OSError(undecoded)
    try:
        own.read(str(file.absolute()))
    except RuntimeError as error:
        undecoded = unknown_compression(file) if own.addon == _GLTF else None
        raise OSError(undecoded or messages.NOT_IMPORTED(reason=_last_line(error))) from error
    keys_onto_frames()
    hold_unkeyed()
    scene = bpy.context.scene
    frames = motion_of(scene.objects)
    if frames is not None:
        scene.frame_start, scene.frame_end = max(frames.start, 0), max(frames[-1], 0)
    return False


def _new_scene() -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


def write_file(path: Path, compressed: bool, frames: range, optimized: bool = False) -> None:
    """Write the open file to a path, as its suffix says. Raises OSError, with its cure; nothing is left half-written.

    compressed: of a .blend file. frames: of the active armature object, which is all that a .bvh file holds. optimized:
    with fewer keys, as exporters leave them out by default.
    """
    own = _FORMATS.get(path.suffix.lower())
    if own is None:
        save_blend(path, compressed)
        return
    _check_addon(own)
    bystanders_apart()

    def write(place: Path) -> None:
        process.exported.add(path.suffix.lower())
        try:
            own.write(str(place), frames, optimized)
        except RuntimeError as error:
            raise OSError(_last_line(error)) from error

    save_files(path, write, lambda there: _belongs_to(path.resolve(), there))


def _belongs_to(path: Path, file: Path) -> bool:
    """Whether a file belongs to what was saved to a path before, and to no other file of that folder."""
    if path.suffix.lower() != ".gltf" or not path.is_file() or file not in files_beside(path):
        return False
    # The exporter names the buffer after its file, and images as it finds them.
    others = path.parent.glob("*.gltf") if file.stem != path.stem else ()
    return not any(file in files_beside(other) for other in others if other != path)


def _check_addon(own: _Format) -> None:
    if not addon_utils.check(own.addon)[1] and addon_utils.enable(own.addon) is None:
        raise OSError(messages.NO_ADDON(addon=own.addon))


def _last_line(error: RuntimeError) -> str:
    """Why an operator failed: of a traceback the last line alone."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip() and not line.startswith("Location:")]
    return lines[-1].removeprefix("Error: ").rstrip(".") if lines else type(error).__name__
