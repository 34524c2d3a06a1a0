"""The corrections that an action keeps: one entry for each control and move, those of one step together."""

from collections.abc import Mapping

import bpy

from .kept_keys import CORRECTIONS, record


def corrections_of(ob: bpy.types.Object) -> list[dict]:
    """The corrections in what an armature object plays: the control's object and bone, frame, move and turn in the
    world, fade in seconds, whether the body gives, whether it is on, over which frames it was when last laid, and the
    number of the step that made it: one step may move many controls."""
    return record(ob, CORRECTIONS).get("entries", [])


def steps_of(ob: bpy.types.Object) -> dict[int, list[dict]]:
    """The same, those that one step made together, by the number of the first of them."""
    found: dict[object, tuple[int, list[dict]]] = {}
    for index, own in enumerate(corrections_of(ob)):
        found.setdefault(step_of(own), (index, []))[1].append(own)
    return dict(found.values())


def step_of(entry: Mapping) -> object:
    """What those that one step made have in common; of files from before each was made by itself."""
    return entry.get("step") or (entry["object"], entry["bone"], entry["frame"])


def control_name(entry: Mapping) -> str:
    """What the control of a correction is called."""
    return entry["bone"] or entry["object"]


def short_limbs(ob: bpy.types.Object) -> dict[str, int]:
    """The limbs of an armature object that corrections leave short of their controls, by tip, and the frame of each at
    which it is so most."""
    return record(ob, CORRECTIONS).get("short", {})
