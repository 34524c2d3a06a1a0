"""What footprints look like: a sole, blue for the left foot and red for the right one."""

import bpy
import numpy as np

_NAMES = {"L": "Footprint Left", "R": "Footprint Right", "": "Footprint"}
_COLORS = {"L": (0.13, 0.42, 0.95), "R": (0.93, 0.22, 0.18), "": (0.95, 0.75, 0.15)}
_OPACITY = 0.85
_WIDTH, _HEIGHT = 72, 160
"""Pixels."""
_PARTS = ((0.0, -0.68, 0.48, 0.29), (0.08, 0.33, 0.76, 0.64))
"""Heel and ball of a left sole as ellipses: center and radii, of half the width and half the height."""
_SHARPNESS = 8.0
"""By how much the edge of a sole fades."""


def footprint_image(side: str) -> bpy.types.Image:
    """The image of a footprint of a side, L, R or "": the file's own if it has one of that name."""
    name = _NAMES[side]
    image = bpy.data.images.get(name)
    if image is None:
        image = bpy.data.images.new(name, _WIDTH, _HEIGHT, alpha=True)
        image.pixels.foreach_set(_pixels(side).ravel())
        # Else it would be lost with the file.
        image.pack()
    return image


def _pixels(side: str) -> np.ndarray:
    """(height, width, 4), from below."""
    y, x = (np.arange(2 * count)[1::2, None] / count - 1.0 for count in (_HEIGHT, _WIDTH))
    x = -x.T if side == "R" else x.T
    outside = np.min([((x - cx) / rx) ** 2 + ((y - cy) / ry) ** 2 for cx, cy, rx, ry in _PARTS], axis=0)
    opacity = _OPACITY * np.clip((1.0 - outside) * _SHARPNESS, 0.0, 1.0)
    pixels = np.empty((_HEIGHT, _WIDTH, 4), np.float32)
    pixels[..., :3], pixels[..., 3] = _COLORS[side], opacity
    return pixels
