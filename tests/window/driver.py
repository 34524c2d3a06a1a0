"""Drives Blender's own window by mouse and keys, and takes pictures of it.

Steps are a generator: each `yield SECONDS` gives Blender that time to handle events and to draw. What waits for
Blender is a generator too and is called by `yield from`. All pixels are of the window, from its lower left corner, as
Blender counts them.

Needs an X display and xdotool. Pictures are taken with ImageMagick's import; without it by Blender itself.
"""

import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Generator
from pathlib import Path
from shutil import which
from time import perf_counter

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Vector

Steps = Generator[float, None, None]
Pixel = tuple[float, float]

SETTLE = 0.15
"""Seconds after which an event has been handled and what it changed is drawn, in a window drawn in software."""
HOVER = 0.03
"""Seconds after which a button knows that the mouse is over it."""
SCAN = 8
"""Pixels from one look for a button to the next: less than half of a button's height."""


class Watched:
    """Stands for sys.stderr and counts the tracebacks: Blender goes on after one in a panel or a handler."""

    def __init__(self, stream):
        self.stream = stream
        self.tracebacks = 0

    def write(self, text: str) -> int:
        self.tracebacks += text.count("Traceback (most recent call last)")
        return self.stream.write(text)

    def __getattr__(self, name: str):
        return getattr(self.stream, name)


LOOKS = "scale=", "theme="
"""How words begin that are for this kit: `scale=1.5` sets Blender's resolution scale, `theme=light` its theme."""


def words_after_dashes() -> list[str]:
    """What follows `--` on Blender's command line and is for the script."""
    return [word for word in _all_words() if not word.startswith(LOOKS)]


def _all_words() -> list[str]:
    return sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []


def _set_look() -> None:
    """Scale and theme, if words ask for them."""
    for what, _, value in (word.partition("=") for word in _all_words() if word.startswith(LOOKS)):
        if what == "scale":
            bpy.context.preferences.view.ui_scale = float(value)
            continue
        themes = (Path(folder) / f"Blender_{value.title()}.xml" for folder in bpy.utils.preset_paths("interface_theme"))
        theme = next(file for file in themes if file.exists())
        bpy.ops.script.execute_preset(filepath=str(theme), menu_idname="USERPREF_MT_interface_theme_presets")


def run(steps: Callable[[], Steps], minutes: float = 15.0) -> None:
    """Run the steps in the window, then end Blender: with status 1 where they raised or anything left a traceback."""
    watched = sys.stderr = Watched(sys.stderr)
    going = steps()
    end = perf_counter() + 60.0 * minutes

    def step() -> float:
        try:
            if perf_counter() > end:
                raise TimeoutError(f"the steps took more than {minutes} minutes")
            return next(going)
        except StopIteration:
            status = 1 if watched.tracebacks else 0
            print(f"Done; {watched.tracebacks} tracebacks", flush=True)
        except BaseException:
            traceback.print_exc()
            status = 1
            picture(out_folder() / "failed.png")
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)

    _set_look()
    # Not the first moment: the window is not drawn yet.
    bpy.app.timers.register(step, first_interval=1.5, persistent=True)


def out_folder() -> Path:
    """The folder for the pictures: the script's first word."""
    words = words_after_dashes()
    folder = Path(words[0] if words else ".").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


# Where things are


def window() -> bpy.types.Window:
    return bpy.context.window_manager.windows[0]


def area(kind: str = "VIEW_3D") -> bpy.types.Area:
    """The largest area of a kind."""
    areas = [area for area in window().screen.areas if area.type == kind]
    return max(areas, key=lambda area: area.width * area.height)


def region(kind: str = "WINDOW", area_kind: str = "VIEW_3D") -> bpy.types.Region:
    return next(region for region in area(area_kind).regions if region.type == kind)


def over(kind: str = "WINDOW", area_kind: str = "VIEW_3D"):
    """A context for operators, as if they were called with the mouse over a region."""
    return bpy.context.temp_override(
        window=window(), screen=window().screen, area=area(area_kind), region=region(kind, area_kind)
    )


def middle(kind: str = "WINDOW", area_kind: str = "VIEW_3D") -> Pixel:
    """The middle of a region."""
    shown = region(kind, area_kind)
    return shown.x + shown.width / 2, shown.y + shown.height / 2


def pixel_of(point_world: Vector) -> Pixel:
    """Where the 3D view shows a point."""
    shown = region()
    at = location_3d_to_region_2d(shown, area().spaces.active.region_3d, Vector(point_world))
    assert at is not None, f"{point_world} is behind the view"
    return shown.x + at.x, shown.y + at.y


def is_in_view(at: Pixel) -> bool:
    """Whether a pixel is in the 3D view, and neither toolbar, header nor sidebar is over it."""
    for shown in area().regions:
        inside = 0 <= at[0] - shown.x < shown.width and 0 <= at[1] - shown.y < shown.height
        if inside != (shown.type == "WINDOW") and shown.width > 1 and shown.height > 1:
            return False
    return True


def pixel_of_frame(frame: float) -> Pixel:
    """Where a click in the timeline goes to a frame: in the strip of numbers at its top."""
    timeline = region("WINDOW", "DOPESHEET_EDITOR")
    x, _ = timeline.view2d.view_to_region(frame, 0.0, clip=False)
    return timeline.x + x, timeline.y + timeline.height - 10


# Mouse and keys


def xdotool(*words: object) -> None:
    subprocess.run(["xdotool", *(str(word) for word in words)], check=True, stdout=subprocess.DEVNULL)


def point(at: Pixel) -> None:
    """Put the mouse somewhere, at once."""
    x, y = at
    xdotool("mousemove", round(window().x + x), round(window().y + window().height - 1 - y))


def move(at: Pixel) -> Steps:
    """Move the mouse somewhere, over a last stretch: what is under it must see it come."""
    x, y = at
    for away in (3, 1, 0):
        point((x - away, y))
        yield HOVER
    yield SETTLE


def click(at: Pixel, button: int = 1) -> Steps:
    yield from move(at)
    xdotool("click", button)
    yield 2 * SETTLE


def press(keys: str, at: Pixel | None = None) -> Steps:
    """Press a key such as "g" or "ctrl+z", with the mouse over the 3D view or at a pixel."""
    if at is not None:
        yield from move(at)
    xdotool("key", "--clearmodifiers", keys)
    yield 2 * SETTLE


def drag(start: Pixel, end: Pixel, steps: int = 12, seen: Callable[[float], None] | None = None) -> Steps:
    """Drag with the left button. seen: called on the way with the part of it that is done."""
    yield from move(start)
    xdotool("mousedown", 1)
    yield SETTLE
    for k in range(1, steps + 1):
        part = k / steps
        point((start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part))
        yield 0.05
        if seen is not None:
            seen(part)
    yield SETTLE
    xdotool("mouseup", 1)
    yield 2 * SETTLE


# The sidebar and its buttons


def open_sidebar(tab: str, width: int | None = None) -> Steps:
    """Show the sidebar of the 3D view with a tab on top. There is no button for it that could be asked by name."""
    area().spaces.active.show_region_ui = True
    yield 0.6  # it slides in, and has no tabs before it was drawn
    region("UI").active_panel_category = tab
    yield 0.6
    if width is not None:
        yield from widen_sidebar(width)


def widen_sidebar(width: int) -> Steps:
    """Drag the sidebar's edge until it is so many pixels wide."""
    shown = region("UI")
    edge = shown.x, shown.y + 60
    yield from drag(edge, (edge[0] - (width - shown.width), edge[1]))
    yield 0.3


def button_under_mouse(kind: str = "UI", area_kind: str = "VIEW_3D") -> str | None:
    """What the button under the mouse does: the operator's call in Python, or the path of the property it sets."""
    clipboard = bpy.context.window_manager
    with over(kind, area_kind):
        for copy in (bpy.ops.ui.copy_python_command_button, bpy.ops.ui.copy_data_path_button):
            clipboard.clipboard = ""
            if copy.poll() and copy() == {"FINISHED"} and clipboard.clipboard:
                return clipboard.clipboard
    return None


_last_seen: dict[tuple, Pixel] = {}
"""Where buttons were found: most are where they were."""


def _does(found: str | None, what: str) -> bool:
    """Whether what the button under the mouse does is what is looked for."""
    return found is not None and (f"{what}(" in found or found.endswith(what))


def find_button(
    what: str, kind: str = "UI", area_kind: str = "VIEW_3D", across: tuple[float, ...] = (0.3, 0.62, 0.85)
) -> Generator[float, None, Pixel]:
    """The pixel of a button: of an operator by its name ("analytic_ik.add"), or of a property by its path's end.

    Scrolls the region down where it is not seen; LookupError where it is not found.
    """
    name = what, kind, area_kind, across
    if name in _last_seen:
        at = _last_seen[name]
        yield from move(at)
        if _does(button_under_mouse(kind, area_kind), what):
            return at
    for hover in (HOVER, 5 * HOVER):  # the second for a machine that is busy
        seen: set[str] = set()
        yield from scroll(-40, kind, area_kind)
        for _ in range(6):
            known = len(seen)
            for part in across:
                at = yield from _look_down(what, part, hover, kind, area_kind, seen)
                if at is not None:
                    _last_seen[name] = at
                    return at
            if len(seen) == known:
                break
            yield from scroll(8, kind, area_kind)
    raise LookupError(f"no button {what!r}; there are {sorted(seen)}")


def _look_down(
    what: str, part: float, hover: float, kind: str, area_kind: str, seen: set[str]
) -> Generator[float, None, Pixel | None]:
    """Look along one column of a region from above; the middle of the button, None where it is not met."""
    shown = region(kind, area_kind)
    x = shown.x + part * shown.width
    hits: list[Pixel] = []
    for k in range(int(shown.height / SCAN)):
        at = x, shown.y + shown.height - (k + 0.5) * SCAN
        point(at)
        yield hover
        found = button_under_mouse(kind, area_kind)
        if found is not None:
            seen.add(found)
        if _does(found, what):
            hits.append(at)
        elif hits:
            break
    return hits[len(hits) // 2] if hits else None


def scroll(clicks: int, kind: str = "UI", area_kind: str = "VIEW_3D") -> Steps:
    """Turn the wheel, downwards above 0, over the first panel: below the last one the view would be zoomed."""
    shown = region(kind, area_kind)
    yield from move((shown.x + shown.width / 2, shown.y + shown.height - 12))
    for _ in range(abs(clicks)):
        xdotool("click", 5 if clicks > 0 else 4)
    yield SETTLE


def click_button(what: str, **where) -> Steps:
    at = yield from find_button(what, **where)
    yield from click(at)


def open_dialog(operator: str) -> Steps:
    """Open the dialog of an operator of the add-on: by its button, or as the menu does that has it."""
    if operator.startswith("snap_"):
        with over():
            getattr(bpy.ops.analytic_ik, operator)("INVOKE_DEFAULT")
        yield 2 * SETTLE
    else:
        yield from click_button(f"analytic_ik.{operator}")


# Pictures


def picture(path: Path, crop: tuple[int, int, int, int] | None = None) -> Path:
    """Save what the screen shows. crop: x, y (of the upper left corner, from above), width, height."""
    if which("import") and os.environ.get("DISPLAY"):
        cut = ["-crop", "{2}x{3}+{0}+{1}".format(*crop), "+repage"] if crop else []
        subprocess.run(["import", "-silent", "-window", "root", *cut, str(path)], check=True)
    else:
        with bpy.context.temp_override(window=window(), screen=window().screen):
            bpy.ops.screen.screenshot(filepath=str(path))
    return path


def crop_of(kind: str = "WINDOW", area_kind: str = "VIEW_3D", margin: int = 0) -> tuple[int, int, int, int]:
    """A region as a crop of the picture."""
    shown = region(kind, area_kind)
    top = window().height - (shown.y + shown.height)
    return shown.x - margin, top - margin, shown.width + 2 * margin, shown.height + 2 * margin
