"""A render that the window started: it goes on in a thread of its own, while the window is drawn and used.

It poses the same armature objects as the window does, frame by frame. What the window wrote in between would be in the
picture. So until it is done their pose is the render's alone, and the window catches up afterward.
"""

from contextvars import ContextVar

import bpy

# A thread sees what was set in itself only, and Blender imports add-ons in its main thread.
_IN_MAIN_THREAD = ContextVar("analytic_ik_in_main_thread", default=False)
_IN_MAIN_THREAD.set(True)


def is_render_thread() -> bool:
    """Whether who asks is called by a render that has a thread of its own."""
    return not _IN_MAIN_THREAD.get()


def is_rendering() -> bool:
    """Whether such a render is on its way. One that a script waits for is none: it runs in the script's own thread."""
    return bool(bpy.app.is_job_running("RENDER"))
