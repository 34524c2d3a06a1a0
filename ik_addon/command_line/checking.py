"""`check`: live chains, and feet, measured; nothing is saved."""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import bpy

from ..bake import chains_of
from ..bake.baking import checked
from ..bake.clips import clips_checked, rigged_clips
from ..bake.formats import open_file
from ..bake.stepping import Steps, finish
from ..bake.stopping import stop_if_asked
from ..planting.scene.checking import checked_with_feet
from ..planting.scene.shown import legs_of
from ..rig.blender.armatures import armature_named
from ..solvers import ChainError
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

    def work(obs: Sequence[bpy.types.Object], over: range) -> Steps[dict]:
        own = [chain for chain in chains if armature_named(chain.armature) in obs]
        if not with_feet:
            return checked(bpy.context, own, over)
        return checked_with_feet(bpy.context, own, obs, over, ground)

    def clip_work(ob: bpy.types.Object, over: range) -> Steps[dict]:
        try:
            return (yield from work([ob], over))
        except ChainError as error:
            if not with_feet or not legs_of(ob):
                raise
            # Not every clip has feet that move.
            own = [chain for chain in chains if armature_named(chain.armature) == ob]
            report = yield from checked(bpy.context, own, over)
            return {**report, "files": [{**entry, "left_out": str(error)} for entry in report["files"]]}

    entries = []
    with shown(file.name, len(frames)) as progress:
        if clips != "all":
            entries = finish(work(armatures, frames), progress)["files"]
        for ob in armatures if clips == "all" else ():
            entries += finish(clips_checked(ob, partial(clip_work, ob)), progress)["files"]
    stop_if_asked()
    return entries
