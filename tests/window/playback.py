"""A walk plays with the overlay of all chains; other files are loaded, and the add-on is switched off: no draw handler
is left behind, and there are never two.

    blender sample_scenes/biped_walk.blend --python tests/window/playback.py -- FOLDER

The add-on must be enabled. Blender ends with status 1 where something is not as it should be, or where anything left a
traceback.
"""

import sys
from collections.abc import Generator
from pathlib import Path
from types import ModuleType

import bpy

sys.path.insert(0, str(Path(__file__).parent))

import driver as d

FRAMES = 300
SCENES = Path(__file__).resolve().parents[2] / "sample_scenes"


class Counted:
    """How often the 3D view was drawn, and how often the overlay in it."""

    def __init__(self, overlay: ModuleType) -> None:
        self.views = self.overlays = 0
        draw = overlay._draw_view

        def counted(context: bpy.types.Context) -> None:
            self.overlays += 1
            draw(context)

        # What is raised below is caught there and printed: here it shall be seen.
        overlay._draw_view = counted
        bpy.types.SpaceView3D.draw_handler_add(self.see, (), "WINDOW", "POST_VIEW")

    def see(self) -> None:
        self.views += 1

    def over(self, redraws: int = 5) -> Generator[float, None, float]:
        """Let the view be drawn; comes to how often the overlay was drawn in each."""
        self.views = self.overlays = 0
        while self.views < redraws:
            d.area().tag_redraw()
            yield 0.1
        return self.overlays / self.views


def module(name: str) -> ModuleType:
    """A module of the add-on, wherever that is installed."""
    (found,) = (key for key in sys.modules if key.endswith(f"ik_addon.{name}"))
    return sys.modules[found]


def played() -> list[int]:
    """The frames that are gone to from now on."""
    frames: list[int] = []

    def see(scene: bpy.types.Scene, *_: object) -> None:
        frames.append(scene.frame_current)

    bpy.app.handlers.frame_change_post.append(see)
    return frames


def steps() -> d.Steps:
    overlay = module("ui.view.overlay")
    counted = Counted(overlay)
    bpy.context.scene.analytic_ik_overlay = "ALL"
    yield 0.5
    frames = played()
    yield from d.press("space", d.middle())
    while len(frames) < FRAMES:
        yield 0.5
    d.picture(d.out_folder() / "playing.png")
    yield from d.press("space", d.middle())
    assert not bpy.context.screen.is_animation_playing
    assert set(frames) >= set(range(bpy.context.scene.frame_start, bpy.context.scene.frame_end + 1))
    times = yield from counted.over()
    assert times == 1, f"drawn {times} times"

    for name in ("spider", "biped_walk", "spider"):
        bpy.ops.wm.open_mainfile(filepath=str(SCENES / f"{name}.blend"))
        yield 0.5
        bpy.context.scene.analytic_ik_overlay = "ALL"
        times = yield from counted.over()
        assert times == 1, f"after {name}.blend was opened: drawn {times} times"
    d.picture(d.out_folder() / "another_file.png")

    bpy.context.scene.analytic_ik_overlay = "OFF"
    times = yield from counted.over()
    assert times == 0, f"switched off, and drawn {times} times"
    bpy.context.scene.analytic_ik_overlay = "ALL"

    addons = bpy.context.preferences.addons
    (enabled,) = (addon.module for addon in addons if addon.module.endswith("analytic_ik"))
    bpy.ops.preferences.addon_disable(module=enabled)
    yield 0.5
    times = yield from counted.over()
    d.picture(d.out_folder() / "disabled.png")
    assert times == 0, f"the add-on is disabled, and drawn {times} times"
    bpy.ops.preferences.addon_enable(module=enabled)
    for _ in range(20):  # it looks at the scenes when Blender next has time
        yield 0.5
        if overlay._handles:
            break
    yield 1.0
    handlers = len(overlay._handles)
    assert handlers == 1, f"the add-on is enabled again, and there are {handlers} draw handlers"


d.run(steps, minutes=8.0)
