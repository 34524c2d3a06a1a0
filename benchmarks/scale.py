"""How cost grows with size: `python -m benchmarks.scale [--json] [--rounds N] [--rows PATTERN] [--sizes N] [--cpu]`.

More and more chains, bones, objects and frames, with Blender's IK constraint (`nla.bake` where it is baked) beside ours
in one run. Every scene is built once and kept as a file; a turn opens it, goes through some frames, and measures one
thing. Turns alternate between contenders and between sizes. Times are medians over the rounds, in milliseconds; ratios
medians of the quotients within a round, of the largest size. The slope is that of a line through the upper half of the
sizes in a plot of both logarithms: 1 is linear growth, 2 is quadratic. Errors are in leg lengths, at the largest size.
With --cpu processor time is counted, of all threads: it is steadier where others use the machine.

Memory is of the process: resident, after Python's collector has run, and its peak on Linux; and of Python, as
tracemalloc counts it in a turn of its own. What is kept is seen after playing, after undoing and after loading again
and again, beside the same without the add-on's handlers.
"""

import argparse
import gc
import os
import re
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil, cos, log, sin
from pathlib import Path
from statistics import linear_regression, median
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import TextIO

import bpy

import ik_addon
from ik_addon.rig.live import handlers as live
from ik_addon.rig.status.states import States
from ik_addon.ui.panels import chain as panel
from ik_addon.ui.panels import chain_list
from ik_addon.ui.view import chains as overlay_chains

from . import pages
from .crowds import Crowd, error
from .rounds import clock, parsed, ratio, show, turns

CONTENDERS = ("BLENDER", "OURS")
SECONDS = 0.1
"""What is repeated is repeated for so long at least, ..."""
MOST = 100
"""... and no more often than this."""

CHAINS = (125, 250, 500, 1000)
OBJECTS = (1250, 2500, 5000, 10_000)
LINKS = (2, 10, 50, 100, 250, 500)
SPARE = (100, 1000, 2500, 5000, 10_000)
FRAMES = (1250, 2500, 5000, 10_000, 20_000)

Act = Callable[[Crowd], float]
"""Does in an open scene what is measured, once it is warm; returns seconds."""


@dataclass(frozen=True)
class Growth:
    """A line of the table. crowd: the scene of a size; act: what is measured; contenders: those that can do it."""

    name: str
    sizes: Sequence[int]
    crowd: Callable[[int], Crowd]
    act: Act
    contenders: Sequence[str] = CONTENDERS
    at_most: int = field(default=1 << 30, kw_only=True)
    """Largest size at which Blender's own is measured: where it takes minutes."""

    def measured(self, rounds: int, files: "Files", sizes: int) -> dict[str, object]:
        """The line. sizes: how many of the sizes, the smallest first."""
        chosen, errors = self.sizes[:sizes], {}

        def turn(contender: str, size: int) -> float:
            crowd = self.crowd(size)
            files.open(crowd, contender)
            seconds = self.act(crowd)
            if size == chosen[-1]:
                errors[contender] = max(errors.get(contender, 0.0), error())
            return seconds

        pairs = [(name, size) for size in chosen for name in self.contenders if name == "OURS" or size <= self.at_most]
        seconds = turns({f"{c} {s}": lambda c=c, s=s: turn(c, s) for c, s in pairs}, rounds)
        of = {pair: seconds["{} {}".format(*pair)] for pair in pairs}
        peers = [size for size in chosen if ("BLENDER", size) in of]
        last = peers[-1] if peers else None
        return {
            "what": self.name,
            "sizes": ", ".join(map(str, chosen)),
            "Analytic IK, ms": _listed([of["OURS", size] for size in chosen]),
            "slope": slope(chosen, [median(of["OURS", size]) for size in chosen]),
            "Blender's, ms": _listed([of["BLENDER", size] for size in peers]),
            "its slope": slope(peers, [median(of["BLENDER", size]) for size in peers]),
            "Analytic IK / Blender's": ratio(of["OURS", last], of["BLENDER", last]) if last is not None else None,
            "error": errors["OURS"],
            "its error": errors.get("BLENDER"),
        }


def _listed(seconds: Sequence[Sequence[float]]) -> str:
    return ", ".join(f"{1e3 * median(each):.3g}" for each in seconds)


def slope(sizes: Sequence[int], seconds: Sequence[float]) -> float | None:
    """Growth over the upper half of the sizes: the exponent of the size that fits best."""
    count = max(2, ceil(len(sizes) / 2) + 1) if len(sizes) > 2 else len(sizes)
    if count < 2:
        return None
    points = list(zip(sizes, seconds, strict=True))[-count:]
    return linear_regression([log(size) for size, _ in points], [log(value) for _, value in points]).slope


class Files:
    """Scenes, built once and kept as files in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: dict[tuple[Crowd, str], str] = {}

    def open(self, crowd: Crowd, contender: str) -> None:
        """Open a scene; our handlers are on for ours alone."""
        live.unregister()
        path = self._paths.get((crowd, contender))
        if path is None:
            crowd.build(contender)
            path = self._paths[crowd, contender] = str(self._folder / f"{len(self._paths)}.blend")
            bpy.ops.wm.save_as_mainfile(filepath=path)
        if contender == "OURS":
            live.register()
        bpy.ops.wm.open_mainfile(filepath=path)
        bpy.context.view_layer.update()
        # Whatever waits to be freed is freed now.
        gc.collect()


# What is measured


def repeated(act: Callable[[int], object]) -> float:
    """Seconds that it takes, done again and again; it is told how often it was done before."""
    count, start = 0, clock()
    while (passed := clock() - start) < SECONDS and count < MOST:
        act(count)
        count += 1
    return passed / count


def played_again(crowd: Crowd) -> float:
    """A frame that was played before, as in a loop."""
    frames = range(1, 11)
    for _ in range(2):
        for frame in frames:
            bpy.context.scene.frame_set(frame)
    return repeated(lambda k: bpy.context.scene.frame_set(frames[k % len(frames)]))


def played_on(crowd: Crowd) -> float:
    """The mean of frames that are played for the first time, once playback runs."""
    scene, first = bpy.context.scene, 3
    for frame in range(1, first):
        scene.frame_set(frame)
    start = clock()
    for frame in range(first, crowd.frames + 1):
        scene.frame_set(frame)
    return (clock() - start) / (crowd.frames + 1 - first)


def longest_wait(crowd: Crowd) -> float:
    """The longest of these frames: where many frames ahead are solved at once, and playback halts for it."""
    scene, longest = bpy.context.scene, 0.0
    scene.frame_set(1)
    scene.frame_set(2)
    for frame in range(3, crowd.frames + 1):
        start = clock()
        scene.frame_set(frame)
        longest = max(longest, clock() - start)
    return longest


def _dragged(ob: bpy.types.Object) -> float:
    layer, (x, y, z) = bpy.context.view_layer, ob.location

    def drag(k: int) -> None:
        ob.location = (x + 0.05 * sin(0.3 * k), y + 0.2 * cos(0.2 * k), z)
        layer.update()

    for k in range(3):
        drag(-k - 1)
    return repeated(drag)


def target_dragged(crowd: Crowd) -> float:
    """A step of dragging one foot."""
    bpy.context.scene.frame_set(2)
    return _dragged(bpy.data.objects["foot.0.0"])


def other_dragged(crowd: Crowd) -> float:
    """A step of dragging an object that has nothing to do with chains."""
    bpy.context.scene.frame_set(2)
    return _dragged(bpy.data.objects["other.0"])


def _set(k: int, contender: str) -> None:
    shin = bpy.data.objects["legs.0"].pose.bones["shin.0"]
    if contender == "OURS":
        shin.analytic_ik_influence = 1.0 - 0.1 * (k % 2)
    else:
        shin.constraints[0].influence = 1.0 - 0.1 * (k % 2)


def _contender() -> str:
    return "BLENDER" if bpy.data.objects["legs.0"].pose.bones["shin.0"].constraints else "OURS"


def setting_changed(crowd: Crowd) -> float:
    """A chain's influence is set, and that is evaluated."""
    layer, contender = bpy.context.view_layer, _contender()
    bpy.context.scene.frame_set(2)

    def change(k: int) -> None:
        _set(k + 1, contender)
        layer.update()

    seconds = repeated(change)
    _set(0, contender)
    layer.update()
    return seconds


def frame_after_change(crowd: Crowd) -> float:
    """A frame after a setting was changed: what was planned is planned anew."""
    scene, layer, contender, taken = bpy.context.scene, bpy.context.view_layer, _contender(), []
    for k in range(5):
        scene.frame_set(2)
        scene.frame_set(3)
        _set(k, contender)
        layer.update()
        start = clock()
        scene.frame_set(4)
        taken.append(clock() - start)
    return median(taken)


def undone(crowd: Crowd) -> float:
    """One step back, and one frame on."""
    scene, taken = bpy.context.scene, []
    scene.frame_set(2)
    bpy.ops.ed.undo_push(message="before")
    for k in range(3):
        bpy.data.objects["foot.0.0"].delta_location.x = 0.01 * (k + 1)
        bpy.context.view_layer.update()
        bpy.ops.ed.undo_push(message="after")
        start = clock()
        bpy.ops.ed.undo()
        bpy.context.view_layer.update()
        bpy.context.scene.frame_set(3)
        taken.append(clock() - start)
    return median(taken)


def object_added(crowd: Crowd) -> float:
    """An Empty is added, and another time deleted, and that is evaluated."""
    scene, layer = bpy.context.scene, bpy.context.view_layer
    scene.frame_set(2)

    def change(k: int) -> None:
        ob = bpy.data.objects.new("added", None)
        scene.collection.objects.link(ob)
        layer.update()
        bpy.data.objects.remove(ob)
        layer.update()

    return repeated(change)


def loaded(crowd: Crowd) -> float:
    """The file is opened, and a frame is gone to."""
    path = bpy.data.filepath
    start = clock()
    bpy.ops.wm.open_mainfile(filepath=path)
    bpy.context.scene.frame_set(2)
    return clock() - start


def enabled(crowd: Crowd) -> float:
    """The add-on is switched on, and a frame is gone to."""
    ik_addon.unregister()
    start = clock()
    ik_addon.register()
    bpy.context.scene.frame_set(2)
    return clock() - start


def baked(crowd: Crowd) -> float:
    """A bake, for each of its frames."""
    armatures = [ob for ob in bpy.data.objects if ob.type == "ARMATURE"]
    theirs, frames = _contender() == "BLENDER", crowd.frames
    for ob in armatures:
        ob.select_set(True)
    bpy.context.view_layer.objects.active = armatures[0]
    if theirs:
        bpy.ops.object.mode_set(mode="POSE")
        for ob in armatures:
            for bone in ob.pose.bones:
                chosen = bone.name.startswith(("thigh", "shin"))
                if hasattr(bone, "select"):
                    bone.select = chosen
                else:
                    bone.bone.select = chosen
    start = clock()
    if theirs:
        bpy.ops.nla.bake(
            frame_start=1,
            frame_end=frames,
            only_selected=True,
            visual_keying=True,
            clear_constraints=True,
            use_current_action=True,
            bake_types={"POSE"},
            channel_types={"ROTATION"},
        )
    else:
        bpy.ops.analytic_ik.bake(frame_start=1, frame_end=frames)
    return (clock() - start) / frames


def baked_with_few_keys(crowd: Crowd) -> float:
    """A bake of ours that drops keys, for each of its frames."""
    start = clock()
    bpy.ops.analytic_ik.bake(frame_start=1, frame_end=crowd.frames, tolerance=0.01)
    return (clock() - start) / crowd.frames


def checked(crowd: Crowd) -> float:
    """A check, for each of its frames."""
    start = clock()
    bpy.ops.analytic_ik.check(frame_start=1, frame_end=crowd.frames)
    return (clock() - start) / crowd.frames


def added(crowd: Crowd) -> float:
    """A chain is put on a limb; Blender's: the constraint."""
    ob, theirs = bpy.data.objects["legs.0"], _contender() == "BLENDER"
    shin = ob.pose.bones["shin.0"]
    if theirs:
        shin.constraints.remove(shin.constraints[0])
    else:
        for name in ("enabled", "target", "pole_target", "chain_count"):
            shin.property_unset(f"analytic_ik_{name}")
    bpy.context.view_layer.objects.active = ob
    ob.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    for bone in ob.pose.bones:
        flags = bone if hasattr(bone, "select") else bone.bone
        flags.select = bone.name == "shin.0"
    ob.data.bones.active = ob.data.bones["shin.0"]
    foot = bpy.data.objects["foot.0.0"]
    if theirs:
        # Beside the active bone it takes the selected object as its target.
        foot.select_set(True)
    start = clock()
    if theirs:
        constraint = shin.constraints.new("IK")
        constraint.target, constraint.chain_count = foot, crowd.bones
    else:
        bpy.ops.analytic_ik.add(chain_count=crowd.bones)
    bpy.context.view_layer.update()
    seconds = clock() - start
    bpy.ops.object.mode_set(mode="OBJECT")
    return seconds


class _Layout:
    """Stands for Blender's layout and takes everything."""

    def __getattr__(self, name: str) -> Callable[..., "_Layout"]:
        return lambda *_, **__: self

    def operator(self, *_: object, **__: object) -> SimpleNamespace:
        """What takes the options of a button."""
        return SimpleNamespace()

    def template_list(self, _kind: str, _id: str, data: object, name: str, *_: object, **__: object) -> None:
        """Asks what shall be shown, and draws eight rows, as Blender does."""
        own = chain_list.ANALYTIC_IK_UL_chains
        bones = getattr(data, name)
        flags, _ = own.filter_items(SimpleNamespace(bitflag_filter_item=1, filter_name=""), None, data, name)
        for bone in [bone for bone, flag in zip(bones, flags, strict=True) if flag][:8]:
            own.draw_item(SimpleNamespace(), _context(), self, data, bone, 0, None, "", 0, 0)


def _context() -> SimpleNamespace:
    real = bpy.context
    return SimpleNamespace(
        object=real.object,
        active_object=real.active_object,
        view_layer=real.view_layer,
        scene=real.scene,
        preferences=SimpleNamespace(system=SimpleNamespace(ui_scale=1.0)),
        region=SimpleNamespace(width=300),
    )


def panels_drawn(crowd: Crowd) -> float:
    """The chain's panel and the list of chains are drawn; all bones are selected."""
    ob = bpy.data.objects["legs.0"]
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="POSE")
    for bone in ob.pose.bones:
        flags = bone if hasattr(bone, "select") else bone.bone
        flags.select = True
    ob.data.bones.active = ob.data.bones["shin.0"]
    bpy.context.scene.frame_set(2)

    def draw(_: int) -> None:
        for kind in (panel.ANALYTIC_IK_PT_sidebar, chain_list.ANALYTIC_IK_PT_chains):
            # Blender alone makes panels: this has all that a panel's own classes have.
            own = [base for base in kind.__bases__ if base is not bpy.types.Panel]
            drawn = type("Drawn", tuple(own), {})()
            drawn.layout = _Layout()
            if kind.poll(_context()):
                kind.draw(drawn, _context())
        for name in ("add", "remove", "bake", "check", "snap_targets"):
            getattr(bpy.ops.analytic_ik, name).poll()

    draw(0)
    seconds = repeated(draw)
    bpy.ops.object.mode_set(mode="OBJECT")
    return seconds


def states_asked(crowd: Crowd) -> float:
    """How every chain stands is asked, of all armatures."""
    bpy.context.scene.frame_set(2)
    armatures = [ob for ob in bpy.data.objects if ob.type == "ARMATURE"]

    def ask(_: int) -> None:
        for ob in armatures:
            states = States(ob, bpy.context.view_layer.depsgraph)
            for leg in range(crowd.legs):
                states.of(f"shin.{leg}")

    return repeated(ask)


def overlay_read(crowd: Crowd) -> float:
    """The overlay of all chains after a change: what is shown, where it is, and the lines."""
    bpy.context.scene.frame_set(2)
    depsgraph = bpy.context.view_layer.depsgraph

    def read(_: int) -> None:
        kept = overlay_chains.shown_chains("ALL", depsgraph)
        objects = [bpy.data.objects[name] for name in kept.armatures]
        overlay_chains.shapes_of(overlay_chains.read_places(kept, objects, depsgraph))

    return repeated(read)


def overlay_moved(crowd: Crowd) -> float:
    """The overlay of all chains at another frame: where they are, and the lines."""
    bpy.context.scene.frame_set(2)
    depsgraph = bpy.context.view_layer.depsgraph
    kept = overlay_chains.shown_chains("ALL", depsgraph)
    objects = [bpy.data.objects[name] for name in kept.armatures]
    return repeated(lambda _: overlay_chains.shapes_of(overlay_chains.read_places(kept, objects, depsgraph)))


# Memory


@dataclass(frozen=True)
class Held:
    """A line of the table of memory: what work over more and more frames needs, at its peak and afterwards."""

    name: str
    sizes: Sequence[int]
    crowd: Callable[[int], Crowd]
    act: Act
    contenders: Sequence[str] = CONTENDERS

    def measured(self, files: "Files", sizes: int) -> Iterator[dict[str, object]]:
        """The lines, one for each contender."""
        chosen = self.sizes[:sizes]
        for contender in self.contenders:
            peaks, python = [], []
            for size in chosen:
                crowd = self.crowd(size)
                files.open(crowd, contender)
                before = _resident()
                with _peak() as peak:
                    self.act(crowd)
                peaks.append(peak[0] - before)
                files.open(crowd, contender)
                tracemalloc.start()
                self.act(crowd)
                python.append(tracemalloc.get_traced_memory()[1])
                tracemalloc.stop()
            yield {
                "what": self.name,
                "whose": "Analytic IK" if contender == "OURS" else "Blender's",
                "sizes": ", ".join(map(str, chosen)),
                "peak MB": ", ".join(f"{max(each, 0) / 1e6:.0f}" for each in peaks),
                "of Python, MB": ", ".join(f"{each / 1e6:.1f}" for each in python),
                "slope": slope(chosen, python),
            }


@dataclass(frozen=True)
class Kept:
    """A line of the table of what stays: something is done again and again. times: after how many times it is seen."""

    name: str
    times: Sequence[int]
    crowd: Crowd
    act: Callable[[Crowd, int], None]

    def measured(self, files: "Files", sizes: int) -> Iterator[dict[str, object]]:
        """The lines: with our handlers, and without."""
        for contender in reversed(CONTENDERS):
            files.open(self.crowd, contender)
            done, resident, seen = 0, [], self.times[: max(2, sizes)]
            for until in seen:
                while done < until:
                    self.act(self.crowd, done)
                    done += 1
                resident.append(_resident())
            yield {
                "what": self.name,
                "whose": "Analytic IK" if contender == "OURS" else "Blender's",
                "times": ", ".join(map(str, seen)),
                "resident MB": ", ".join(f"{each / 1e6:.0f}" for each in resident),
                "growth in kB a time": (resident[-1] - resident[0]) / 1e3 / (seen[-1] - seen[0]),
            }


def all_played(crowd: Crowd, _: int) -> None:
    """All frames, one after the other."""
    for frame in range(1, crowd.frames + 1):
        bpy.context.scene.frame_set(frame)


def undone_and_redone(_: Crowd, k: int) -> None:
    """A foot is moved and a step pushed; back, on, and a frame further."""
    if not k:
        bpy.ops.ed.undo_push(message="opened")
    bpy.data.objects["foot.0.0"].delta_location.x = 0.01 * (k % 7)
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="moved")
    bpy.ops.ed.undo()
    bpy.context.scene.frame_set(2 + k % 9)
    bpy.ops.ed.redo()


def loaded_again(_: Crowd, k: int) -> None:
    """The file is opened anew, and a frame is gone to."""
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    bpy.context.scene.frame_set(2 + k % 9)


def _resident() -> int:
    """Bytes that the process holds, after Python has let go of what it can."""
    gc.collect()
    return _status("VmRSS")


def _status(name: str) -> int:
    try:
        text = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return 0
    return 1024 * int(re.search(rf"^{name}:\s+(\d+)", text, re.MULTILINE)[1])


@contextmanager
def _peak() -> Iterator[list[int]]:
    """Gets, in the end, the most that the process held meanwhile."""
    found: list[int] = []
    reset = Path("/proc/self/clear_refs")
    if reset.exists():
        # 5: the peak counts from here.
        reset.write_text("5", encoding="ascii")
    yield found
    found.append(_status("VmHWM"))


# The tables


def _spread(chains: int, **options: object) -> Crowd:
    """Chains on armatures of four."""
    return Crowd(armatures=max(1, chains // 4), legs=min(4, chains), **options)


def _together(chains: int, **options: object) -> Crowd:
    """Chains on one armature."""
    return Crowd(legs=chains, **options)


def _chain_rows() -> Iterator[Growth]:
    ours = ("OURS",)
    for where, crowd in (("armatures of 4", _spread), ("one armature", _together)):
        yield Growth(f"{where}: a frame, played before", CHAINS, crowd, played_again)
        yield Growth(f"{where}: a frame, for the first time", CHAINS, crowd, played_on)
        yield Growth(f"{where}: the longest such frame", CHAINS, crowd, longest_wait)
        for controls in ("BONES", "CONSTRAINED"):

            def controlled(size: int, crowd=crowd, controls=controls) -> Crowd:
                return crowd(size, controls=controls)

            what = "control bones" if controls == "BONES" else "constrained targets"
            yield Growth(f"{where}: a frame, {what}", CHAINS, controlled, played_again)
            yield Growth(f"{where}: frame after a change, {what}", CHAINS, controlled, frame_after_change)

        def limited(size: int, crowd=crowd) -> Crowd:
            return crowd(size, limits=True)

        yield Growth(f"{where}: a frame, limits", CHAINS, limited, played_again)
        yield Growth(f"{where}: a foot is dragged", CHAINS, crowd, target_dragged)
        yield Growth(f"{where}: a foot is dragged, limits", CHAINS, limited, target_dragged)
        yield Growth(f"{where}: a setting", CHAINS, crowd, setting_changed)
        yield Growth(f"{where}: frame after a change", CHAINS, crowd, frame_after_change)
        yield Growth(f"{where}: undo and a frame", CHAINS, crowd, undone)
        yield Growth(f"{where}: file opened, and a frame", CHAINS, crowd, loaded)
        yield Growth(f"{where}: add-on switched on, and a frame", CHAINS, crowd, enabled, ours)
        yield Growth(f"{where}: panel and list", CHAINS, crowd, panels_drawn, ours)
        yield Growth(f"{where}: states of all", CHAINS, crowd, states_asked, ours)
        yield Growth(f"{where}: overlay of all, anew", CHAINS, crowd, overlay_read, ours)
        yield Growth(f"{where}: overlay of all, moved", CHAINS, crowd, overlay_moved, ours)
        yield Growth(f"{where}: bake, a frame of 50", CHAINS, crowd, baked)
        yield Growth(f"{where}: check, a frame of 50", CHAINS, crowd, checked, ours)
        yield Growth(
            f"{where}: bake, limits, a frame of 20", CHAINS, lambda size, make=limited: _shorter(make(size), 20), baked
        )


def _shorter(crowd: Crowd, frames: int) -> Crowd:
    return Crowd(**{**{name: getattr(crowd, name) for name in crowd.__dataclass_fields__}, "frames": frames})


def _object_rows() -> Iterator[Growth]:
    def plain(size: int) -> Crowd:
        return Crowd(armatures=2, legs=2, others=size)

    def hidden(size: int) -> Crowd:
        return Crowd(armatures=2, legs=2, others=size, hidden=True)

    def linked(size: int) -> Crowd:
        return Crowd(armatures=2, legs=2, others=size, collections=50)

    def limited(size: int) -> Crowd:
        return Crowd(armatures=2, legs=2, others=size, limits=True)

    yield Growth("objects: a frame", OBJECTS, plain, played_again)
    yield Growth("objects: a frame, hidden targets", OBJECTS, hidden, played_again)
    yield Growth("objects: a frame, 50 collections", OBJECTS, linked, played_again)
    yield Growth("objects: a frame, limits", OBJECTS, limited, played_again)
    yield Growth("objects: a foot is dragged", OBJECTS, plain, target_dragged)
    yield Growth("objects: another object is dragged", OBJECTS, plain, other_dragged)
    yield Growth("objects: one is added and deleted", OBJECTS, plain, object_added)
    yield Growth("objects: a setting", OBJECTS, plain, setting_changed)
    yield Growth("objects: frame after a change", OBJECTS, plain, frame_after_change)
    yield Growth("objects: undo and a frame", OBJECTS, plain, undone)
    yield Growth("objects: file opened, and a frame", OBJECTS, plain, loaded)
    yield Growth("objects: bake, a frame of 50", OBJECTS, plain, baked)


def _bone_rows() -> Iterator[Growth]:
    kinds: tuple[tuple[str, dict[str, object]], ...] = (
        ("Triangulation", {"settings": (("solver", "TRIANGULATION"),)}),
        ("least motion", {"settings": (("least_motion", True),)}),
        ("limits", {"limits": True}),
        ("stretch", {"settings": (("reach", "STRETCH"),)}),
        ("constrained target", {"controls": "CONSTRAINED"}),
    )
    for name, options in kinds:

        def long(size: int, options: dict[str, object] = options) -> Crowd:
            return Crowd(bones=size, poles=False, **options)

        yield Growth(f"bones in a chain, {name}: a frame", LINKS, long, played_again)

    def chain(size: int) -> Crowd:
        return Crowd(bones=size, poles=False)

    def ccd(size: int) -> Crowd:
        return Crowd(bones=size, poles=False, frames=10, settings=(("solver", "CCD"),))

    yield Growth("bones in a chain, CCD: a frame", LINKS[:4], ccd, played_again)
    yield Growth("bones in a chain: a frame, for the first time", LINKS, chain, played_on)
    yield Growth("bones in a chain: the longest such frame", LINKS, chain, longest_wait)
    yield Growth("bones in a chain: the target is dragged", LINKS, chain, target_dragged)
    yield Growth("bones in a chain: a setting", LINKS, chain, setting_changed)
    yield Growth("bones in a chain: frame after a change", LINKS, chain, frame_after_change)
    yield Growth("bones in a chain: chain added", LINKS, chain, added)
    yield Growth("bones in a chain: bake, a frame of 50", LINKS, chain, baked)
    yield Growth("bones in a chain: bake with few keys", LINKS[:4], chain, baked_with_few_keys, ("OURS",))

    def among(size: int) -> Crowd:
        return Crowd(legs=4, spare=size)

    def among_bones(size: int) -> Crowd:
        return Crowd(legs=4, spare=size, controls="BONES")

    def among_moved(size: int) -> Crowd:
        return Crowd(legs=4, spare=size, root_keyed=True)

    yield Growth("bones beside 4 chains: a frame", SPARE, among, played_again)
    yield Growth("bones beside 4 chains, root keyed: a frame", SPARE, among_moved, played_again)
    yield Growth("bones beside 4 chains: a frame, control bones", SPARE, among_bones, played_again)
    yield Growth("bones beside 4 chains: a foot is dragged", SPARE, among, target_dragged)
    yield Growth("bones beside 4 chains: a setting", SPARE, among, setting_changed)
    yield Growth("bones beside 4 chains: frame after a change", SPARE, among, frame_after_change)
    yield Growth("bones beside 4 chains: panel and list", SPARE, among, panels_drawn, ("OURS",))
    yield Growth("bones beside 4 chains: bake, a frame of 50", SPARE, among, baked)


def _legs_for(frames: int, **options: object) -> Crowd:
    return Crowd(legs=4, frames=frames, **options)


def _frame_rows() -> Iterator[Growth]:
    def limited(size: int) -> Crowd:
        return _legs_for(size, limits=True)

    def constrained(size: int) -> Crowd:
        return _legs_for(size, controls="CONSTRAINED")

    yield Growth("frames: bake, a frame", FRAMES, _legs_for, baked)
    yield Growth("frames: bake, constrained targets", FRAMES, constrained, baked)
    yield Growth("frames: bake, limits", FRAMES, limited, baked)
    yield Growth("frames: bake with few keys", FRAMES[:4], _legs_for, baked_with_few_keys, ("OURS",))
    yield Growth("frames: check", FRAMES, _legs_for, checked, ("OURS",))
    yield Growth("frames: check, limits", FRAMES, limited, checked, ("OURS",))


def _held_rows() -> Iterator[Held]:
    def stretching(size: int) -> Crowd:
        # Such chains are read anew at each frame.
        return _legs_for(size, settings=(("reach", "STRETCH"),))

    def constrained(size: int) -> Crowd:
        return _legs_for(size, controls="CONSTRAINED")

    yield Held("memory: bake over frames", FRAMES, _legs_for, baked)
    yield Held("memory: bake over frames, constrained", FRAMES, constrained, baked, ("OURS",))
    yield Held("memory: bake over frames, stretch", FRAMES, stretching, baked, ("OURS",))
    yield Held("memory: check over frames, stretch", FRAMES, stretching, checked, ("OURS",))
    yield Held("memory: bake with few keys", FRAMES[:4], _legs_for, baked_with_few_keys, ("OURS",))


def _kept_rows() -> Iterator[Kept]:
    yield Kept("kept: 20 000 frames played, 4 legs", (1, 2, 3), _legs_for(20_000), all_played)
    yield Kept("kept: 5 000 frames played, 200 chains on armatures of 4", (1, 2), _spread(200, frames=5000), all_played)
    yield Kept("kept: 2 000 frames played, 500 bones", (1, 2), Crowd(bones=500, poles=False, frames=2000), all_played)
    yield Kept("kept: undo and redo", (100, 500, 1000, 1500, 2000), _legs_for(50), undone_and_redone)
    yield Kept("kept: file opened", (50, 100, 200, 350, 500), _legs_for(50), loaded_again)


@contextmanager
def _quiet() -> Iterator[TextIO]:
    """Inside, what Blender says of files and of operators' reports goes nowhere; gives where progress is told."""
    sys.stdout.flush()
    kept = os.dup(1)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        try:
            yield sys.stderr
        finally:
            sys.stdout.flush()
            os.dup2(kept, 1)
            os.close(kept)


def main() -> None:
    """Measure the rows that the command line asks for, show them, and end the process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="turns of each contender at each size (default 3)")
    parser.add_argument(
        "--rows", type=re.compile, default=re.compile(""), metavar="PATTERN", help="only rows whose name holds it"
    )
    parser.add_argument("--sizes", type=int, default=99, help="only so many sizes of each row, the smallest first")
    chosen = parsed(parser)
    ik_addon.register()
    growth = [*_chain_rows(), *_object_rows(), *_bone_rows(), *_frame_rows()]
    times, held, kept = [], [], []
    with TemporaryDirectory() as folder, _quiet() as progress:
        files = Files(Path(folder))

        def add(table: list[dict[str, object]], lines: Iterable[dict[str, object]]) -> None:
            for line in lines:
                table.append(line)
                print(line, file=progress, flush=True)

        for row in (row for row in growth if chosen.rows.search(row.name)):
            add(times, [row.measured(chosen.rounds, files, chosen.sizes)])
        for table, rows in ((held, _held_rows()), (kept, _kept_rows())):
            for row in (row for row in rows if chosen.rows.search(row.name)):
                add(table, row.measured(files, chosen.sizes))
    print(f"Blender {bpy.app.version_string}, rounds {chosen.rounds}{', processor time' if chosen.cpu else ''}")
    page = pages.Page("performance.md", chosen.write, bool(chosen.rows.pattern), f"time {clock}")
    if times:
        show(times, chosen.json, page=page, place="scale")
    for table in (held, kept):
        print()
        show(table, chosen.json)
    sys.stdout.flush()
    # Older Blenders crash or hang at Python's ordinary exit.
    os._exit(0)


if __name__ == "__main__":
    main()
