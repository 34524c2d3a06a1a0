"""What all pictures of the manual are taken with: scenes, views, pictures side by side, pictures that move."""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from math import radians
from pathlib import Path

import bpy
from mathutils import Euler

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "window"))

import driver as d

SCENES = Path(__file__).resolve().parents[2] / "sample_scenes"

State = tuple[str, Callable[[], None] | d.Steps]
"""What is written under a picture, and what is done before it is taken: called, or gone through."""

HEIGHT = 340
"""Pixels, of each of the pictures that stand side by side."""
LARGEST_FILE = 150_000
"""Bytes; the manual is read in a browser."""
SMALL = (640, 400)
"""Pixels of a moving picture."""


# Scenes and views


def open_scene(name: str) -> d.Steps:
    bpy.ops.wm.open_mainfile(filepath=str(SCENES / f"{name}.blend"), load_ui=True)
    yield 1.0
    with d.over():
        bpy.ops.object.mode_set(mode="OBJECT")
    plain_view()
    yield 0.3


def plain_view() -> None:
    """Leave in the 3D view what the pictures are about."""
    d.area().spaces.active.show_region_ui = False
    overlay = d.area().spaces.active.overlay
    overlay.show_text = overlay.show_cursor = overlay.show_object_origins = False
    overlay.show_extras = True
    bpy.context.scene.camera.hide_set(True)


def rig() -> bpy.types.Object:
    return next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")


def select(*objects: bpy.types.Object) -> None:
    """Select objects, so that they are drawn in orange; the last is the active one."""
    for ob in bpy.context.view_layer.objects:
        ob.select_set(ob in objects)
    bpy.context.view_layer.objects.active = objects[-1] if objects else rig()


def choose_bone(name: str) -> d.Steps:
    """Pose mode, one bone selected, the sidebar with its chain."""
    select(rig())
    with d.over():
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.pose.select_all(action="DESELECT")
    bone = rig().pose.bones[name]
    (bone if hasattr(bone, "select") else bone.bone).select = True
    rig().data.bones.active = bone.bone
    yield 0.3


def look(at: Sequence[float], turn: float, tilt: float, distance: float) -> None:
    """Look at a point from a distance. turn: degrees about the vertical, 0 from the front, 90 from its left."""
    view = d.area().spaces.active.region_3d
    view.view_perspective = "PERSP"
    view.view_location = at
    view.view_rotation = Euler((radians(90.0 - tilt), 0.0, radians(turn))).to_quaternion()
    view.view_distance = distance


# Pictures side by side, and of the window


def middle_crop(width: int, height: int) -> tuple[int, int, int, int]:
    x, y, full_width, full_height = d.crop_of()
    return x + (full_width - width) // 2, y + (full_height - height) // 2 + 10, width, height


def side_by_side(
    name: str, states: Sequence[State], width: int = 300, height: int = HEIGHT, grow: int = 560
) -> d.Steps:
    """One picture of several states. grow: pixels of the view's height that are shown at `height`."""
    with tempfile.TemporaryDirectory() as folder:
        taken: list[str] = []
        for k, (label, make) in enumerate(states):
            if callable(make):
                make()
            else:
                yield from make
            rig().update_tag()
            yield 0.5
            crop = middle_crop(round(width * grow / height), grow)
            path = d.picture(Path(folder) / f"{k}.png", crop)
            taken += ["-label", label, str(path)]
        joined = Path(folder) / "joined.png"
        style = ["-background", "#262626", "-fill", "#d8d8d8", "-pointsize", "17", "-font", "DejaVu-Sans"]
        shape = ["-tile", f"{len(states)}x1", "-geometry", f"{width}x{height}+3+3"]
        subprocess.run(["montage", *style, *taken, *shape, str(joined)], check=True)
        save_small(joined, name)


def save_small(path: Path, name: str) -> None:
    """Save with as many colours as the file's size allows."""
    out = d.out_folder() / f"{name}.png"
    for colours in (256, 160, 96, 64, 40):
        few = ["-dither", "None", "-colors", str(colours), "-strip", "-define", "png:compression-level=9"]
        subprocess.run(["convert", str(path), *few, f"PNG8:{out}"], check=True)
        if out.stat().st_size < LARGEST_FILE:
            break
    print(f"{out.name}: {out.stat().st_size // 1024} KB, {colours} colours", flush=True)


def setter(owner: Callable[[], object], **values) -> Callable[[], None]:
    """What sets properties of what is looked up when it is called."""

    def make() -> None:
        for name, value in values.items():
            setattr(owner(), name, value)

    return make


def window_picture(name: str, width: int, crop: tuple[int, int, int, int] | None = None) -> None:
    """A picture of the window or a part of it, as wide as the manual shows it."""
    with tempfile.TemporaryDirectory() as folder:
        path = d.picture(Path(folder) / "whole.png", crop)
        subprocess.run(["convert", str(path), "-resize", f"{width}x>", str(path)], check=True)
        save_small(path, name)


def right_part_of_view() -> tuple[int, int, int, int]:
    """The 3D view without its tools, with the sidebar and the timeline."""
    x, y, width, height = d.crop_of()
    return x + 330, y, width - 330, height


def view_crop(part: float) -> tuple[int, int, int, int]:
    """The middle of the 3D view: so much of its width, and all its height but its header."""
    x, y, width, height = d.crop_of()
    return x + round(width * (1 - part) / 2), y + 60, round(width * part), height - 60


# Pictures that move


def film(folder: Path, caption: str, count: int, pose: Callable[[float], None]) -> d.Steps:
    """Take `count` pictures, each after `pose` was called with the part of the shot that has passed, from 0 to 1."""
    width, height = SMALL
    for k in range(count):
        pose(k / count)
        rig().update_tag()
        yield 0.25
        path = folder / f"{len(list(folder.iterdir())):04}.png"
        d.picture(path, middle_crop(round(560 * width / height), 560))
        text = ["-gravity", "South", "-pointsize", "20", "-font", "DejaVu-Sans-Bold", "-fill", "white"]
        band = ["-undercolor", "#00000099", "-annotate", "+0+12", f"  {caption}  "]
        subprocess.run(["convert", str(path), "-resize", f"{width}x{height}!", *text, *band, str(path)], check=True)


def moving_picture(name: str, *shots: Callable[[Path], d.Steps]) -> Callable[[], d.Steps]:
    """Shots one after the other, as one picture that moves."""

    def taken() -> d.Steps:
        with tempfile.TemporaryDirectory() as folder:
            for shot in shots:
                yield from shot(Path(folder))
            save_moving(sorted(Path(folder).iterdir()), name)

    return taken


def save_moving(frames: list[Path], name: str) -> None:
    """Save pictures as one that moves, ten a second, and repeats."""
    out = d.out_folder() / f"{name}.webp"
    shape = ["-delay", "10", "-loop", "0", "-quality", "55", "-define", "webp:method=6"]
    subprocess.run(["convert", *shape, *map(str, frames), str(out)], check=True)
    print(f"{out.name}: {out.stat().st_size // 1024} KB, {len(frames)} pictures", flush=True)
