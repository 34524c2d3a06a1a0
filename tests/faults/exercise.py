"""All that an artist, or Blender by itself, does with a file: opened, played, looked at, checked, baked."""

from time import perf_counter

import bpy

import ik_addon.ui
from ik_addon.bake import chains_of
from ik_addon.ui.view import chains as overlay_chains

from ..rig.rigs import update
from ..scenes import enter
from ..ui.layouts import drawn, is_shown

FRAMES = (1, 2, 5)
OPERATORS = (
    "check",
    "bake",
    "snap_targets",
    "snap_pose",
    "limit_knees",
    "mark_problems",
    "restore",
    "grab",
    "remove",
    "add",
)


def panels() -> list[type]:
    """All panels of the add-on."""
    return [kind for kind in bpy.types.Panel.__subclasses__() if kind.__module__.startswith(ik_addon.ui.__name__)]


def exercised() -> dict[str, float]:
    """Do it with every armature of the open file; the seconds that each part took. What Blender refuses in a sentence
    is fine; anything else is raised."""
    spent: dict[str, float] = {}
    for name, part in (("frames", _frames), ("panels", _panels), ("overlay", _overlay), ("operators", _operators)):
        start = perf_counter()
        part()
        spent[name] = round(perf_counter() - start, 2)
    return spent


def armatures() -> list[bpy.types.Object]:
    return [ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE"]


def _frames() -> None:
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
    for ob in bpy.context.scene.objects:
        ob.update_tag()
    update()


def _panels() -> None:
    for ob in armatures():
        tips = chains_of([ob])
        for bone in [chain.tip for chain in tips[:2]] or [bone.name for bone in ob.pose.bones[:1]]:
            enter("POSE", ob, bone)
            for kind in panels():
                if is_shown(kind):
                    drawn(kind)
        enter("OBJECT", ob)


def _overlay() -> None:
    depsgraph = bpy.context.evaluated_depsgraph_get()
    for mode in ("SELECTED", "ALL"):
        kept = overlay_chains.shown_chains(mode, depsgraph)
        places = overlay_chains.read_places(kept, [bpy.data.objects[name] for name in kept.armatures], depsgraph)
        if places.shown or places.bodies:
            overlay_chains.shapes_of(places)


def _operators() -> None:
    for name in OPERATORS:
        for ob in armatures():
            tips = chains_of([ob])
            enter("POSE", ob, *[chain.tip for chain in tips[:1]])
            operator = getattr(bpy.ops.analytic_ik, name)
            options = {"frame_start": 1, "frame_end": 3} if name in ("check", "bake") else {}
            if operator.poll():
                try:
                    operator(**options)
                except RuntimeError as refusal:
                    if "Traceback" in str(refusal):
                        raise
            bpy.ops.object.mode_set(mode="OBJECT")
    _frames()
