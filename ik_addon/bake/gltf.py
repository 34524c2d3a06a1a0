"""What a glTF file says of itself before Blender opens it: how it is compressed, and which files belong to it."""

import json
import os
import re
import struct
from pathlib import Path

from .. import messages
from .reading import beginning

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
                found.add((path.parent / _unquoted(uri)).resolve())
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


def _unquoted(uri: str) -> str:
    """A URI without its %20 and the like."""
    return os.fsdecode(_QUOTED.sub(lambda found: bytes.fromhex(found[1].decode()), os.fsencode(uri)))
