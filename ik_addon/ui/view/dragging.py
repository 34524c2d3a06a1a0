"""What operators share that are dragged in the 3D view: how they end, typed numbers, and keys shown."""

from collections.abc import Iterable
from typing import Any, ClassVar

import bpy
from bpy.props import BoolProperty

from ... import messages
from ...solvers import ChainError
from ..base import ChainOperator

_PRECISE = 0.1
"""Part of the movement that counts with Shift."""
_MODIFIERS = {f"{side}_{key}" for side in ("LEFT", "RIGHT") for key in ("CTRL", "SHIFT", "ALT")}
BRIGHT = (1.0, 0.88, 0.40)
_OF_NUMBERS = "0123456789.-"
_OF_ALL = (("Confirm", ("MOUSE_LMB", "EVENT_RETURN")), ("Cancel", ("MOUSE_RMB", "EVENT_ESC")))
_SNAP = (("Snap", ("EVENT_CTRL",)), ("Precise", ("EVENT_SHIFT",)))
"""What keys do during a drag, with Blender's icons for them."""


class TypedNumber:
    """A number that is typed in a drag. value: None while it is none."""

    def __init__(self) -> None:
        self.text = ""

    @property
    def value(self) -> float | None:
        return float(self.text) if any(sign.isdigit() for sign in self.text) else None

    def heard(self, event: bpy.types.Event) -> bool:
        """Whether a key belongs to it."""
        if event.type == "BACK_SPACE":
            self.text = self.text[:-1]
        elif event.ascii == "-":
            self.text = self.text[1:] if self.text.startswith("-") else "-" + self.text
        elif event.ascii and event.ascii in _OF_NUMBERS:
            self.text += event.ascii if event.ascii != "." or "." not in self.text else ""
        else:
            return False
        return True


def in_pose_mode(context: bpy.types.Context, ob: bpy.types.Object) -> str:
    """What an armature lacks that is active and not in Pose Mode."""
    return messages.NO_POSE_MODE() if ob == context.active_object and ob.mode != "POSE" else ""


class DragsInView(ChainOperator):
    """An operator that is dragged, and ends as Blender's own do.

    It says whether what it drags is there (`goes_on`), how far the mouse moved it (`moved`), which keys mean something
    (`pressed`), what follows from `dragged` and `typed` (`follow`), what to do at the end (`confirmed`), and brings
    back what was before (`restore`).

    steps: to which Ctrl snaps, and Ctrl with Shift. dragged: how far in all, a number or a vector. typed: a number.
    """

    bl_options = {"REGISTER", "UNDO", "BLOCKING"}
    steps: ClassVar[tuple[float, float]]

    release_confirm: BoolProperty(
        name="Confirm on Release",
        description="Confirm when the mouse button is released",
        options={"HIDDEN", "SKIP_SAVE"},
    )

    def begin(self, context: bpy.types.Context, event: bpy.types.Event, nothing: Any) -> set[str]:
        """nothing: how far it is dragged at first."""
        self.dragged, self.typed = nothing, TypedNumber()
        self.follow(context, event)
        context.window.cursor_modal_set("SCROLL_XY")
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if context.region_data is None or not self.goes_on(context):
            self.cancel(context)
            return {"CANCELLED"}
        released = self.release_confirm and event.type == "LEFTMOUSE" and event.value == "RELEASE"
        if released or (event.type in {"LEFTMOUSE", "RET", "NUMPAD_ENTER"} and event.value == "PRESS"):
            self.cancel(context)
            self.confirmed(context)
            return {"FINISHED"}
        try:
            if not (event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS"):
                return self.heard(context, event)
        except ChainError as error:
            self.report({"ERROR"}, str(error))
        self.restore(context)
        self.cancel(context)
        return {"CANCELLED"}

    def heard(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Follow the mouse and the keys."""
        if event.type == "MOUSEMOVE":
            self.dragged += self.moved(context, event) * (_PRECISE if event.shift else 1.0)
        elif event.type not in _MODIFIERS and not (
            event.value == "PRESS" and (self.pressed(context, event) or self.typed.heard(event))
        ):
            # The view may be turned meanwhile, and what plays goes on.
            return {"PASS_THROUGH"}
        self.follow(context, event)
        return {"RUNNING_MODAL"}

    def pressed(self, context: bpy.types.Context, event: bpy.types.Event) -> bool:
        """Whether a key means something, besides those of numbers."""
        return False

    def snapped(self, number: float, event: bpy.types.Event) -> float:
        """A number, with Ctrl the nearest step."""
        step = self.steps[event.shift]
        return round(number / step) * step if event.ctrl else number

    def show(self, context: bpy.types.Context, text: str, keys: Iterable[tuple[str, tuple[str, ...]]]) -> None:
        """What is dragged in the header, and its keys in the status bar, as Blender shows those of its own tools."""

        def draw(header: bpy.types.Header, _context: bpy.types.Context) -> None:
            row = header.layout.row(align=True)
            for name, icons in (*_OF_ALL, *keys, *_SNAP):
                for icon in icons:
                    row.label(text="", icon=icon)
                # Some of these icons are wider than others.
                row.separator(factor=1.0)
                row.label(text=name)
                row.separator(factor=1.5)

        context.area.header_text_set(text)
        context.workspace.status_text_set(draw)

    def cancel(self, context: bpy.types.Context) -> None:
        """Nothing of the drag is left in the window. Blender ends it so too: one closes, or another file is opened."""
        if context.area is not None:
            context.area.header_text_set(None)
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        if context.window is not None:
            context.window.cursor_modal_restore()
