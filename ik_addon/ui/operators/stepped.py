"""Operators that go through frames. In the window they leave Blender time to draw, and Esc cancels them."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from textwrap import wrap
from time import perf_counter
from typing import ClassVar

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ... import messages
from ...authoring.selection import all_tips, chain_armature, selected_bones
from ...bake import ACTION_ITEMS, AFTER_ITEMS
from ...bake.certificate import MISSES, certificate_of, verdict_on_targets, verdicts_on_feet
from ...bake.stepping import Progress, Steps, finish
from ...planting.scene.sources import is_planted
from ...rig.blender.clips import motion_of
from ...rig.blender.evaluation import is_rendering
from ...rig.model.order import ChainName
from ...rig.status.problems import bones_left_behind
from ...solvers import ChainError
from ..base import ChainOperator, not_editable, redraw_panels, registration_of
from .clip_list import OverClips, WithStrips, draw_clips, draw_frames, strips_asked
from .polls import none_live, nothing_to_check


@dataclass(slots=True)
class Running:
    """Work over frames that goes on between redraws. label: what it is; done, total: its steps, frames mostly.

    steps: the work itself; closed, it leaves everything as it was. panel: the class name of the one that shows it.
    """

    label: str
    steps: Generator
    total: int = 0
    done: int = 0
    panel: str = "ANALYTIC_IK_PT_bake"
    _start: float = field(default_factory=perf_counter)

    @property
    def factor(self) -> float:
        """The part that is done, 0 to 1."""
        return self.done / self.total if self.total else 1.0

    @property
    def seconds_left(self) -> float | None:
        """How long it will take by what it has taken so far; None: it is too early to tell."""
        if not self.done:
            return None
        return (perf_counter() - self._start) / self.done * (self.total - self.done)

    def __str__(self) -> str:
        left = self.seconds_left
        return self.label if left is None else f"{self.label}: {self.done} of {self.total}, {left:.0f} s left"


_current: list[Running] = []


def running() -> Running | None:
    """What runs, if anything does."""
    return _current[-1] if _current else None


def start_running(label: str, steps: Generator, panel: str = "ANALYTIC_IK_PT_bake") -> Running:
    """Something starts to run, which this panel shows."""
    _current.append(Running(label, steps, panel=panel))
    return _current[-1]


def end_running() -> None:
    """What runs, if anything does, ends; what it has not finished is as before."""
    while _current:
        _current.pop().steps.close()


_SECONDS_PER_TICK = 0.1, 0.5
"""How long the window stands still, at least and at most: as long as drawing it takes, so that half of the time is
work."""
_PATIENCE = 0.3
"""Seconds without a sign that the add-on is at work; most bakes are done by then."""


_MANY = 0.1
"""Part of the frames that may be out of reach before a bake is worth a warning."""
_LINE = 44
"""Characters that a line of a dialog holds."""


class SteppedOperator(ChainOperator):
    """Operators whose work goes in steps: at once where a script calls them, some at a time in the window.

    label: what the progress calls the work. panel: the class name of the one that has its button, and shows the
    progress. asks: whether a dialog asks for settings first.
    """

    label: ClassVar[str]
    panel: ClassVar[str] = "ANALYTIC_IK_PT_bake"
    asks: ClassVar[bool] = True
    # Blender makes no such attributes, and cancels a dialog that never ran anything.
    _asked = False
    _running: Running | None = None
    _timer: bpy.types.Timer | None = None

    @classmethod
    def missing(cls, context: bpy.types.Context) -> str:
        if running() is not None:
            return messages.AT_WORK()
        return messages.RENDERING() if is_rendering() else super().missing(context)

    def steps(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps[str]:
        """Do it in steps; comes to the sentence that says what was done. Raises ChainError."""
        raise NotImplementedError

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        with at_cursor(context) as progress:
            return finish(self.steps(context, ob), progress)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self._asked = True
        return context.window_manager.invoke_props_dialog(self) if self.asks else self.execute(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        if not self._asked:
            return super().execute(context)
        # What is done again later, with other settings, is done at once.
        self._asked = False
        self._running = start_running(self.label, self.steps(context, chain_armature(context)), self.panel)
        state = self._go_on(context, _PATIENCE)
        if state == {"RUNNING_MODAL"}:
            self._timer = context.window_manager.event_timer_add(0.01, window=context.window)
            self._drawn_since = perf_counter()
            context.window_manager.modal_handler_add(self)
        return state

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if event.type == "ESC":
            self.cancel(context)
            self.report({"INFO"}, messages.CANCELLED(work=self.label))
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        least, most = _SECONDS_PER_TICK
        state = self._go_on(context, min(max(least, perf_counter() - self._drawn_since), most))
        self._drawn_since = perf_counter()
        # Panels have timers too, with which they find their places.
        return {"PASS_THROUGH"} if state == {"RUNNING_MODAL"} else state

    def cancel(self, context: bpy.types.Context) -> None:
        """Leave everything as it was; Blender calls this too if its window goes or its dialog is dismissed."""
        if self._running is not None:
            self._end(context)

    def _go_on(self, context: bpy.types.Context, seconds: float) -> set[str]:
        """Take steps for so many seconds."""
        until = perf_counter() + seconds
        going_on = False
        try:
            while perf_counter() < until:
                self._running.done, self._running.total = next(self._running.steps)
            going_on = True
        except StopIteration as end:
            self.report({self.level}, end.value)
            return {"FINISHED"}
        except ChainError as error:
            return self.refuse(error)
        finally:
            if not going_on:
                self._end(context)
        _show(context, f"{self._running}   (Esc cancels)")
        return {"RUNNING_MODAL"}

    def _end(self, context: bpy.types.Context) -> None:
        end_running()
        self._running = None
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            self._timer = None
        _show(context, None)


class RangeOperator(SteppedOperator):
    """Operators that step through frames; the scene's range where none is given."""

    frame_start: IntProperty(name="Start", description="First frame")
    frame_end: IntProperty(name="End", description="Last frame")
    frame_step: IntProperty(name="Step", description="Frame step", default=1, min=1)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.set_range(context, self.offered_range)
        return super().invoke(context, event)

    def frames(self, context: bpy.types.Context) -> range:
        """The frames to step; ChainError where they are none."""
        self.set_range(context, self.default_range)
        if self.frame_end < self.frame_start:
            raise ChainError(messages.LAST_BEFORE_FIRST(last=self.frame_end, first=self.frame_start))
        return range(self.frame_start, self.frame_end + 1, self.frame_step)

    def default_range(self, context: bpy.types.Context) -> range:
        """The frames to step where none are given."""
        return range(context.scene.frame_start, context.scene.frame_end + 1)

    def offered_range(self, context: bpy.types.Context) -> range:
        """The frames that a dialog offers."""
        return self.default_range(context)

    def set_range(self, context: bpy.types.Context, find: Callable[[bpy.types.Context], range]) -> None:
        """Set the first and the last frame, as far as they are not given. find: gives the range to take them from."""
        missing = [name for name in ("frame_start", "frame_end") if not self.properties.is_property_set(name)]
        if missing:
            frames = find(context)
            ends = {"frame_start": frames.start, "frame_end": frames.stop - 1}
            for name in missing:
                setattr(self, name, ends[name])


class ChainsOperator(RangeOperator):
    """Operators that step through the chains of an armature."""

    only_selected: BoolProperty(
        name="Selected Chains Only",
        description="Only chains with a selected tip bone",
    )

    def offered_range(self, context: bpy.types.Context) -> range:
        """The frames over which keys move the armature or its controls; the scene's range if none do."""
        from ...authoring.controls import controls_of

        ob = chain_armature(context)
        controls = [control.ob for tip in all_tips(ob) for control in controls_of(tip)]
        return motion_of([ob, *controls]) or super().offered_range(context)

    def chains(self, ob: bpy.types.Object) -> list[ChainName]:
        """The chains to step; ChainError where there is none."""
        from ...bake.baking import chains_of

        chains = chains_of([ob])
        if self.only_selected:
            selected = {bone.name for bone in selected_bones(ob)}
            chains = [chain for chain in chains if chain.tip in selected]
        if not chains:
            missing = messages.NO_LIVE_CHAIN_SELECTED if self.only_selected else messages.NO_LIVE_CHAIN
            raise ChainError(missing(armature=ob.name))
        return chains

    def summary(self, one: messages.Message, several: messages.Message, report: dict) -> str:
        """What a bake or check did, as one line: `one` of what played, `several` of clips; the first that misses
        anything is named."""
        files = report["files"]
        self.level = "WARNING" if any(map(_faults, files)) else "INFO"
        found = {(chain["armature"], chain["bone"]) for file in files for chain in file["chains"]}
        chains = messages.CHAINS(count=len(found))
        if "clip" in files[0]:
            return several(clips=messages.CLIPS(count=len(files)), chains=chains, result=faults_of_clips(files))
        (first, last, _), faults = files[0]["frames"], _faults(files[0])
        result = messages.SEE_CERTIFICATE(verdict=". ".join(faults)) if faults else ""
        return one(chains=chains, first=first, last=last, result=result)


class ANALYTIC_IK_OT_bake(WithStrips, ChainsOperator):
    """Bake the live chains to keyframes that play without the add-on"""

    bl_idname = "analytic_ik.bake"
    bl_label = "Bake Analytic IK"
    needs = (not_editable, none_live)
    label = "Baking"

    action: EnumProperty(
        name="Bake To",
        description="Action that receives the keys",
        default="COPY",
        items=ACTION_ITEMS,
    )
    after: EnumProperty(
        name="After Baking",
        description="What to do with the chains after baking",
        default="MUTE",
        items=AFTER_ITEMS,
    )
    tolerance: FloatProperty(
        name="Tolerance",
        description="Drop keys while the tip stays within this distance. 0 keeps all keys",
        default=0.0,
        min=0.0,
        subtype="DISTANCE",
        precision=4,
    )

    _warning = ""

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.set_range(context, self.offered_range)
        try:
            ob = chain_armature(context)
            self._warning = _warning_before(context, ob, self.chains(ob), self.frames(context))
        except ChainError:
            # The bake says so once its settings are confirmed; others may help.
            self._warning = ""
        return super().invoke(context, event)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        column = layout.column(align=True)
        for k, line in enumerate(wrap(self._warning, _LINE)):
            column.label(text=line, icon="BLANK1" if k else "ERROR")
        draw_clips(self, self.drawn())
        draw_frames(self, "frame_step")
        self.drawn(*strips_asked(self, context), "only_selected", "action", "after", "tolerance")

    def steps(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps[str]:
        from ...bake.clips import clips_baked

        chains, clips = self.chains(ob), self.asked(ob)
        frames = self.frames(context) if clips == "CURRENT" else None
        settings = (self.action, self.after, self.tolerance, clips, frames, self.strips)
        report = yield from clips_baked(context, chains, *settings)
        return self.summary(messages.BAKED, messages.BAKED_CLIPS, report)


class ANALYTIC_IK_OT_check(OverClips, ChainsOperator):
    """Measure how exactly the live chains meet their targets, without keying"""

    bl_idname = "analytic_ik.check"
    bl_label = "Check Analytic IK"
    needs = (nothing_to_check,)
    label = "Checking"

    feet: BoolProperty(name="Feet", description="Also measure how well the feet stand")

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if not self.properties.is_property_set("feet"):
            self.feet = is_planted(chain_armature(context))
        return super().invoke(context, event)

    def draw(self, context: bpy.types.Context) -> None:
        draw_clips(self, self.drawn())
        draw_frames(self, "frame_step")
        self.drawn("only_selected", "feet")

    def steps(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps[str]:
        from ...bake.baking import chains_of
        from ...planting.scene.checking import clips_checked

        # Feet are measured where chains are muted too.
        chains = self.chains(ob) if chains_of([ob]) or not self.feet else []
        clips = self.asked(ob)
        frames = self.frames(context) if clips == "CURRENT" else None
        report = yield from clips_checked(context, chains, [ob], clips, frames, self.feet)
        return self.summary(messages.CHECKED, messages.CHECKED_CLIPS, report)


def faults_of_clips(files: Sequence[dict]) -> str:
    """What the first clip that misses anything misses, after another sentence; "": nothing. files: a report's."""
    found = next(((file["clip"], faults) for file in files if (faults := _faults(file))), None)
    return messages.CLIP_MISSES(clip=found[0], verdict=". ".join(found[1])) if found else ""


def _faults(file: dict) -> list[str]:
    """What a bake or check of one file, or clip, has missed, as sentences."""
    certificate = certificate_of(file)
    missed = any(chain[kind] for chain in file["chains"] for kind in MISSES)
    verdicts = [*([verdict_on_targets(certificate)] if missed else []), *verdicts_on_feet(certificate)]
    return [sentence for good, sentence in verdicts if not good]


def _warning_before(context: bpy.types.Context, ob: bpy.types.Object, chains: list[ChainName], frames: range) -> str:
    """What to know of chains before they are baked; "": nothing."""
    from ...bake.baking import part_out_of_reach

    left = sum(bool(bones_left_behind(ob, chain.tip)) for chain in chains)
    if left:
        return messages.CONTROLS_LEFT_BEHIND(chains=messages.CHAINS(count=left))
    part = part_out_of_reach(context, chains, frames)
    return messages.MANY_OUT_OF_REACH(part=part) if part > _MANY else ""


@contextmanager
def at_cursor(context: bpy.types.Context) -> Iterator[Progress]:
    """Show at the cursor how far the frames have been stepped."""
    manager = context.window_manager
    manager.progress_begin(0, 1)
    try:
        yield lambda done, total: manager.progress_update(done / total)
    finally:
        manager.progress_end()


def _show(context: bpy.types.Context, text: str | None) -> None:
    """Show in the status bar, and where panels are, how far the work is; None: there is none."""
    if context.workspace is None:
        # The window goes.
        return
    context.workspace.status_text_set(text)
    redraw_panels()


register, _unregister_classes = registration_of(__name__)


def unregister() -> None:
    """Take the operators away; what runs ends, for Blender tells an operator nothing when its class goes."""
    if running() is not None:
        end_running()
        _show(bpy.context, None)
    _unregister_classes()
