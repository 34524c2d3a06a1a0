"""Sentences and rows of buttons as a panel shows them."""

from collections.abc import Callable, Sequence

import blf
import bpy

_FONT = 0
"""The number of Blender's own font."""
_MARGIN = 86.0
"""Points that the margins of a panel and a box, the tabs of the sidebar and an icon take."""
_EDGES, _BUTTON = 52.0, 34.0
"""Points that the margins of a panel and the tabs take, and those of a button beside its text: an icon and edges."""
_NARROWEST = 90.0
"""Points that a line has at least, however narrow the sidebar is."""


def draw_sentence(layout: bpy.types.UILayout, context: bpy.types.Context, sentence: str, icon: str) -> None:
    """A sentence broken into lines that fit the region; labels do not wrap by themselves."""
    scale, measure = _measure(context)
    width = max(_NARROWEST * scale, context.region.width - _MARGIN * scale)
    column = layout.column(align=True)
    column.scale_y = 0.8
    for k, line in enumerate(lines_of(sentence, width, measure)):
        column.label(text=line, icon="BLANK1" if k and icon != "NONE" else icon)


def columns_for(context: bpy.types.Context, texts: Sequence[str], most: int) -> int:
    """How many buttons with these texts fit beside each other in the region; 1 even if none does."""
    scale, measure = _measure(context)
    room, widest = context.region.width - _EDGES * scale, max(map(measure, texts)) + _BUTTON * scale
    return max(1, min(most, int(room // widest)))


def fits(context: bpy.types.Context, text: str) -> bool:
    """True if a button with this text is as wide as the region at most."""
    scale, measure = _measure(context)
    return measure(text) + (_BUTTON + _EDGES) * scale <= context.region.width


def _measure(context: bpy.types.Context) -> tuple[float, Callable[[str], float]]:
    """The scale of the interface, and what gives the width of a text in it."""
    scale = context.preferences.system.ui_scale
    blf.size(_FONT, context.preferences.ui_styles[0].widget.points * scale)
    return scale, lambda text: blf.dimensions(_FONT, text)[0]


def lines_of(sentence: str, width: float, measure: Callable[[str], float]) -> list[str]:
    """A sentence in lines that are no wider than this, as far as its words are not. measure: gives a text's width."""
    lines, line = [], ""
    for word in sentence.split():
        longer = f"{line} {word}" if line else word
        if line and measure(longer) > width:
            lines.append(line)
            longer = word
        line = longer
    return [*lines, line] if line else lines
