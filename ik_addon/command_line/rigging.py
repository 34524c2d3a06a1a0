"""`rig`: chains and controls on the legs of armatures."""

import argparse
from pathlib import Path
from time import perf_counter

import bpy

from .. import messages
from ..authoring.rigging import rig_legs
from ..authoring.rigging_report import rigged_entry
from ..bake.clips import clips_words
from ..bake.saving import save_blend
from ..bake.stopping import stop_if_asked
from ..solvers import ChainError
from .files import armatures_of_scene, opened
from .saying import complain, say


def rig_file(file: Path, options: argparse.Namespace) -> list[dict]:
    """Rig the legs of a file and save it; its entry, with an error if none of its armatures has legs."""
    start = perf_counter()
    output, compressed = opened(file, options)
    found = [_legs_of(file, ob, options) for ob in armatures_of_scene(options.armature)]
    rigged = [entry for entry in found if entry is not None]
    if rigged:
        stop_if_asked()
        save_blend(output, compressed)
    entry = {"frames": None, "seconds": perf_counter() - start, "chains": [], "rigged": rigged}
    return [{**entry, "error": None if rigged else messages.NOTHING_RIGGED()}]


def _legs_of(file: Path, ob: bpy.types.Object, options: argparse.Namespace) -> dict | None:
    """Rig the legs of one armature object and say what was done; what the report says of it, None if it has none."""
    try:
        rigged = rig_legs(bpy.context, ob, arms=options.arms, as_bones=options.controls == "BONES")
    except ChainError as error:
        complain(file, error)
        return None
    lines = []
    for one in rigged.limbs:
        names = {"target": one.target.name, "pole": one.pole.name}
        lines.append(messages.LIMB_FOLLOWS(armature=ob.name, first=one.limb.bones[0], last=one.limb.bones[-1], **names))
    if rigged.clips:
        clips = {"clips": clips_words(len(rigged.clips)), "names": messages.quoted(rigged.clips)}
        lines.append(messages.CLIPS_FOLLOWED(armature=ob.name, **clips))
    elif rigged.frames is not None:
        lines.append(messages.MOTION_FOLLOWED(armature=ob.name, first=rigged.frames[0], last=rigged.frames[-1]))
    for out in rigged.left_out:
        lines.append(messages.LIMB_LEFT_OUT(armature=ob.name, bone=out.bone, why=messages.as_part(out.reason)))
    entry = rigged_entry(ob, rigged)
    for line in (*lines, *(messages.OF(whose=ob.name, said=warning) for warning in entry["warnings"])):
        say(messages.OF(whose=file, said=line))
    return entry
