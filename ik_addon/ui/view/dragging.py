"""What operators share that drag something in the 3D view: how a drag begins and ends, and numbers that are typed."""

from typing import ClassVar

import bpy
from bpy.props import BoolProperty

from ... import messages
from ...solvers import ChainError
from ..base import ChainOperator

PRECISE = 0.1
"""Part of the movement that counts with Shift."""
Keys = tuple[tuple[str, tuple[str, ...]], ...]
"""What keys do during a drag, with Blender's icons for them."""


def in_pose_mode(context: bpy.types.Context, ob: bpy.types.Object) -> str:
    """What an armature lacks that is active and not in Pose Mode."""
    return messages.NO_POSE_MODE() if ob == context.active_object and ob.mode != "POSE" else ""


class DragOperator(ChainOperator):
    """Operators whose options the mouse sets in a 3D view. Without one, or called with them, they act at once."""

    bl_options = {"REGISTER", "UNDO", "BLOCKING"}
    keys: ClassVar[Keys]

    release_confirm: BoolProperty(
        name="Confirm on Release",
        description="Confirm when the mouse button is released",
        options={"HIDDEN", "SKIP_SAVE"},
    )

    def begin(self, context: bpy.types.Context, event: bpy.types.Event) -> bool:
        """Begin to drag; False: there is nothing under the mouse. Raises ChainError."""
        raise NotImplementedError

    def goes_on(self, context: bpy.types.Context) -> bool:
        """Whether what is dragged is still there."""
        raise NotImplementedError

    def heard(self, context: bpy.types.Context, event: bpy.types.Event) -> bool:
        """Do what an event says; False: it says nothing here. Raises ChainError."""
        raise NotImplementedError

    def restore(self, context: bpy.types.Context) -> None:
        """All is as it was before the drag."""
        raise NotImplementedError

    def confirm(self, context: bpy.types.Context) -> None:
        """Keep what was dragged."""
        raise NotImplementedError

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        try:
            if not self.begin(context, event):
                return {"PASS_THROUGH", "CANCELLED"}
        except ChainError as error:
            return self.refuse(error)
        context.window.cursor_modal_set("SCROLL_XY")
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        pressed = event.value == "PRESS"
        released = self.release_confirm and event.type == "LEFTMOUSE" and event.value == "RELEASE"
        try:
            if context.region_data is None or not self.goes_on(context):
                state = {"CANCELLED"}
            elif pressed and event.type in {"ESC", "RIGHTMOUSE"}:
                self.restore(context)
                state = {"CANCELLED"}
            elif released or (pressed and event.type in {"LEFTMOUSE", "RET", "NUMPAD_ENTER"}):
                self.confirm(context)
                state = {"FINISHED"}
            else:
                # The view may be turned meanwhile, and what plays goes on.
                return {"RUNNING_MODAL"} if self.heard(context, event) else {"PASS_THROUGH"}
        except ChainError as error:
            self.restore(context)
            state = self.refuse(error)
        self.cancel(context)
        return state

    def show(self, context: bpy.types.Context, text: str) -> None:
        """Say in the header how far the drag is, and in the status bar what keys do."""
        keys = self.keys
        context.area.header_text_set(text)
        context.workspace.status_text_set(lambda header, _context: _draw_keys(header, keys))

    def cancel(self, context: bpy.types.Context) -> None:
        """Leave nothing of the drag in the window. Blender ends it too: a window closes, or another file is opened."""
        if context.area is not None:
            context.area.header_text_set(None)
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        if context.window is not None:
            context.window.cursor_modal_restore()


def _draw_keys(header: bpy.types.Header, keys: Keys) -> None:
    """As Blender shows those of its own tools."""
    row = header.layout.row(align=True)
    for text, icons in keys:
        for icon in icons:
            row.label(text="", icon=icon)
        # Some of these icons are wider than others.
        row.separator(factor=1.0)
        row.label(text=text)
        row.separator(factor=1.5)


def typed(text: str, event: bpy.types.Event) -> str | None:
    """The text of a number after a key was pressed; None: the key is none of a number's."""
    if event.value != "PRESS":
        return None
    if event.type == "BACK_SPACE":
        return text[:-1]
    if event.ascii == "-":
        return text.removeprefix("-") if text.startswith("-") else "-" + text
    if event.ascii and event.ascii in "0123456789.":
        return text if event.ascii == "." and "." in text else text + event.ascii
    return None


def number_of(text: str) -> float | None:
    """The number that was typed, if it is one yet."""
    return float(text) if any(sign.isdigit() for sign in text) else None
