"""Which tab of the sidebar a scene opens with.

Blender knows the tabs of a sidebar once it has drawn it, and a scene built without a window has none drawn. A saved
window names its tab in a list at the sidebar's region; here that list gets one entry while the scene is saved. The
layout is that of Blender 4.2, the only one that builds the scenes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

import bpy


class _ListBase(ctypes.Structure):
    _fields_ = (("first", ctypes.c_void_p), ("last", ctypes.c_void_p))


class _PanelCategoryStack(ctypes.Structure):
    _fields_ = (("next", ctypes.c_void_p), ("prev", ctypes.c_void_p), ("idname", ctypes.c_char * 64))


TABS_IN_REGION = 272  # bytes from the start of ARegion to its list panels_category_active


@contextmanager
def sidebar_open_at(tab: str) -> Iterator[None]:
    """Open the sidebar of each 3D view, for what is saved meanwhile at a tab."""
    lists = []
    for area in (area for screen in bpy.data.screens for area in screen.areas if area.type == "VIEW_3D"):
        area.spaces.active.show_region_ui = True
        region = next(region for region in area.regions if region.type == "UI")
        lists.append(_ListBase.from_address(region.as_pointer() + TABS_IN_REGION))
    # Blender frees what is in these lists: nothing of ours may stay.
    if any(tabs.first or tabs.last for tabs in lists):
        raise RuntimeError("A sidebar that was never drawn has tabs: is this Blender 4.2?")
    # One for each: in a file an address names one thing, which two lists would free twice.
    entries = [_PanelCategoryStack(idname=tab.encode()) for _ in lists]
    for tabs, entry in zip(lists, entries, strict=True):
        tabs.first = tabs.last = ctypes.addressof(entry)
    try:
        yield
    finally:
        for tabs in lists:
            tabs.first = tabs.last = None
