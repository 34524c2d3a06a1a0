"""Pictures that a render has written, as numbers. Imports nothing of the add-on: for pytest and for the window."""

from pathlib import Path
from struct import unpack_from

import bpy
import numpy as np

Pictures = dict[str, np.ndarray]
"""By a name: its red, green, blue (and alpha) values from 0 to 1, all in one row."""


def picture_at(path: Path) -> np.ndarray:
    """A picture of one layer in a file of any format that Blender reads; what is transparent is black."""
    image = bpy.data.images.load(str(path))
    pixels = np.empty(len(image.pixels), np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    assert len(pixels), f"{path} holds no picture"
    pixels.reshape(-1, 4)[:, :3] *= pixels[3::4, None]
    return pixels


def layers_at(path: Path) -> Pictures:
    """The combined picture of each view layer in an OpenEXR file of several layers, written without compression.

    Blender shows them, and hands out none of their pixels.
    """
    data = path.read_bytes()
    assert unpack_from("<i", data)[0] == 20000630, f"{path} is no OpenEXR file"
    at, attributes = 8, {}
    while data[at]:
        name, at = _word(data, at)
        _, at = _word(data, at)
        (size,) = unpack_from("<i", data, at)
        attributes[name], at = data[at + 4 : at + 4 + size], at + 4 + size
    assert attributes["compression"] == b"\0", "write it with the codec NONE"
    left, low, right, high = unpack_from("<4i", attributes["dataWindow"])
    width, height = right - left + 1, high - low + 1
    channels, k = [], 0
    while attributes["channels"][k]:
        name, k = _word(attributes["channels"], k)
        (kind,) = unpack_from("<i", attributes["channels"], k)
        channels.append((name, {1: np.float16, 2: np.float32}[kind]))
        k += 16
    offsets = unpack_from(f"<{height}Q", data, at + 1)
    found = {name: np.empty((height, width), np.float32) for name, _ in channels}
    for offset in offsets:
        (y,) = unpack_from("<i", data, offset)
        row = offset + 8
        for name, kind in channels:
            found[name][y - low] = np.frombuffer(data, kind, width, row)
            row += width * np.dtype(kind).itemsize
    # In channels named LAYER.Combined.R
    layers = dict.fromkeys(name.split(".")[0] for name, _ in channels if ".Combined." in name)
    return {layer: np.stack([found[f"{layer}.Combined.{c}"] for c in "RGB"], axis=-1).ravel() for layer in layers}


def _word(data: bytes, at: int) -> tuple[str, int]:
    """Text that ends with a zero, and where what follows it begins."""
    end = data.index(0, at)
    return data[at:end].decode(), end + 1
