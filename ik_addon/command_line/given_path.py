"""The curve of `--path`: of the scene of each file, of another .blend file, or points in a text."""

import argparse
import json
import os
from math import isfinite
from pathlib import Path

import bpy

from .. import messages
from ..bake.formats import BLEND, check_readable
from ..planting.scene.path import path_named
from ..solvers import ChainError
from .files import text_of

_LONGEST = 10_000_000
"""Bytes of a file with points."""
_TEXT = ".json"

GivenPath = dict
"""A curve by its `name`, in the .blend file `file` if there is one; or `points`, [x, y] or [x, y, z], and if they are
`closed`. It can be sent to other processes."""


def read_path(text: str) -> GivenPath:
    """What --path says. Raises argparse.ArgumentTypeError if there is no such file, or no points in it."""
    file, colon, name = text.rpartition(":")
    if text.lower().endswith(_TEXT):
        return _points_in(Path(text))
    if not colon or not file.lower().endswith(BLEND):
        return {"name": text}
    try:
        check_readable(Path(file))
    except OSError as error:
        raise argparse.ArgumentTypeError(messages.OF(whose=file, said=error)) from error
    return {"file": os.path.abspath(file), "name": name}


def _points_in(file: Path) -> GivenPath:
    try:
        given = json.loads(text_of(file, _LONGEST) or b"null")
    except OSError as error:
        said = messages.UNREADABLE(reason=error.strerror or error)
        raise argparse.ArgumentTypeError(messages.OF(whose=file, said=said)) from error
    except (ValueError, RecursionError):
        given = None
    given = given if isinstance(given, dict) else {"points": given}
    points, is_closed = given.get("points"), given.get("closed", False)
    if not isinstance(points, list) or len(points) < 2 or not all(map(_is_point, points)):
        raise argparse.ArgumentTypeError(messages.OF(whose=file, said=messages.NOT_POINTS()))
    return {"name": file.stem, "points": points, "closed": bool(is_closed)}


def _is_point(point: object) -> bool:
    return (
        isinstance(point, list)
        and len(point) in (2, 3)
        and all(isinstance(number, int | float) and isfinite(number) for number in point)
    )


def curve_given(given: GivenPath | None) -> bpy.types.Object | None:
    """The curve object in the scene of the open file, brought there if it is elsewhere; None without one."""
    scene = bpy.context.scene
    if given is None:
        return None
    if "points" in given:
        curve = _drawn(given)
    elif "file" in given:
        with bpy.data.libraries.load(given["file"]) as (there, here):  # pyright: ignore[reportGeneralTypeIssues]
            if given["name"] not in there.objects:
                raise ChainError(messages.NO_CURVE_IN_FILE(object=given["name"], file=given["file"]))
            here.objects = [given["name"]]
        [curve] = here.objects
    else:
        return path_named(scene, given["name"])
    scene.collection.objects.link(curve)
    bpy.context.view_layer.update()
    return curve


def _drawn(given: GivenPath) -> bpy.types.Object:
    data = bpy.data.curves.new(given["name"], "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(len(given["points"]) - 1)
    for knot, point in zip(spline.points, given["points"], strict=True):
        knot.co = (*point, 0.0, 1.0) if len(point) == 2 else (*point, 1.0)
    spline.use_cyclic_u = given["closed"]
    return bpy.data.objects.new(given["name"], data)
