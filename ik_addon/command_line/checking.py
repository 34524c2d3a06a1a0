"""`check`: live chains, and feet, measured; nothing is saved."""

import argparse
from functools import partial
from pathlib import Path

import bpy

from ..bake import chains_of
from ..bake.baking import checked
from ..bake.clips import clips_checked, rigged_clips
from ..bake.formats import open_file
from ..bake.stepping import Steps, finish, in_time
from ..bake.stopping import stop_if_asked
from ..planting.scene.checking import checked_with_feet, clips_checked_with_feet
from ..planting.scene.shown import legs_of
from ..rig.blender.armatures import armature_named
from .baking import live_chains
from .files import armatures_of_scene, ground_of, is_foreign
from .saying import shown


def check_file(file: Path, options: argparse.Namespace) -> list[dict]:
    """Check the chains of a file, and with --feet its feet; its entries in the report."""
    open_file(file)
    scene, with_feet, ground = bpy.context.scene, options.feet or bool(options.limit), ground_of(options)
    chains = chains_of(scene.objects) if with_feet else live_chains(file)
    armatures = [armature_named(name) for name in dict.fromkeys(chain.armature for chain in chains)]
    if with_feet:
        armatures = [ob for ob in armatures_of_scene() if legs_of(ob)] or armatures_of_scene()
    clips = options.clips
    if clips is None and is_foreign(file) and not (options.frames or options.step):
        clips = "all" if any(len(rigged_clips(ob)) > 1 for ob in armatures) else None
    first, last = options.frames or (scene.frame_start, scene.frame_end)
    frames = range(first, last + 1, options.step or 1)

    def work() -> Steps[dict]:
        if with_feet:
            return checked_with_feet(bpy.context, chains, armatures, frames, ground)
        return checked(bpy.context, chains, frames)

    def clips_work(ob: bpy.types.Object) -> Steps[dict]:
        own = [chain for chain in chains if armature_named(chain.armature) == ob]
        if with_feet:
            return clips_checked_with_feet(bpy.context, own, ob, ground=ground)
        return clips_checked(ob, partial(checked, bpy.context, own))

    entries = []
    with shown(file.name, len(frames)) as progress:
        if clips != "all":
            entries = finish(in_time(work()), progress)["files"]
        for ob in armatures if clips == "all" else ():
            entries += finish(clips_work(ob), progress)["files"]
    stop_if_asked()
    return entries
