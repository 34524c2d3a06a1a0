"""`plant`: feet that stand, from a capture or a character in a file to a file."""

import argparse
from pathlib import Path

import bpy

from .. import messages
from ..bake.clips import rigged_clips
from ..bake.formats import ONE_CLIP
from ..bake.stepping import finish, in_time
from ..bake.stopping import TimeLimitError, stop_if_asked
from ..planting import Ground, plant_clips
from ..planting.scene.whole_clip import clip_planted
from ..solvers import ChainError
from .files import armatures_of_scene, ground_of, is_foreign, opened, save_output, span_of
from .saying import complain, say, shown


def plant_file(file: Path, options: argparse.Namespace) -> list[dict]:
    """Plant the armatures of a file, bake and save it; its entries, with an error if none could be planted."""
    output, compressed = opened(file, options)
    ground, keep = ground_of(options) or Ground(), not is_foreign(output)
    entries, planted, reasons, late = [], [], [], []
    for ob in armatures_of_scene():
        bpy.context.view_layer.objects.active = ob
        several = len(rigged_clips(ob)) > 1
        if several and output.suffix.lower() in ONE_CLIP:
            say(messages.OF(whose=file, said=messages.ONLY_CURRENT(armature=ob.name, suffix=output.suffix)))
            several = False
        try:
            with shown(file.name, 1) as progress:
                if options.clips == "all" or (options.clips is None and several and not options.frames):
                    report = plant_clips(bpy.context, ob, None, None, ground, keep, progress=progress)
                else:
                    frames = options.frames and range(options.frames[0], options.frames[1] + 1)
                    report = finish(in_time(clip_planted(bpy.context, ob, frames, None, ground, keep)), progress)
        except ChainError as error:
            reasons.append(complain(file, error))
            if isinstance(error, TimeLimitError):
                late.append({"frames": None, "seconds": 0.0, "chains": [], "error": str(error)})
            continue
        entries += report["files"]
        planted.append((ob, span_of(report["files"])))
    if not planted:
        return [{"frames": None, "seconds": 0.0, "chains": [], "error": " ".join(reasons)}]
    stop_if_asked()
    bpy.context.view_layer.objects.active = planted[0][0]
    save_output(file, output, compressed, planted[0][1])
    return entries + late
