"""`native`: live chains into Blender's own constraints."""

import argparse
from pathlib import Path
from time import perf_counter

import bpy

from .. import messages
from ..bake.certificate import chains_words
from ..bake.saving import save_blend
from ..bake.stopping import check_time, stop_if_asked
from ..native.making import make_native
from ..rig.blender.armatures import armature_named
from ..rig.data.settings import native_tips
from ..solvers import ChainError
from .baking import live_chains
from .files import opened
from .saying import complain, say


def native_file(file: Path, options: argparse.Namespace) -> list[dict]:
    """Make the chains of a file native and save it; its entry, with an error if none of them could be."""
    start = perf_counter()
    output, compressed = opened(file, options)
    entry = {"frames": None, "seconds": 0.0, "chains": []}
    try:
        chains = live_chains(file)
    except ChainError:
        if not any(native_tips(ob) for ob in bpy.context.scene.objects if ob.type == "ARMATURE"):
            raise
        # A farm may give a file to two workers, one after the other. Elsewhere whoever asked for it finds each file.
        if not options.in_place:
            save_blend(output, compressed)
        return [{**entry, "left_out": messages.ALREADY_NATIVE(), "error": None}]
    names = dict.fromkeys(chain.armature for chain in chains)
    found = [
        _made(file, armature_named(name), [chain.tip for chain in chains if chain.armature == name], options.switch)
        for name in names
    ]
    made = [each for each in found if each["tips"]]
    if made:
        stop_if_asked()
        save_blend(output, compressed)
    reasons = dict.fromkeys(reason for each in found for reason in each["stay_live"])
    error = None if made else messages.NOTHING_NATIVE(refusal=" ".join(reasons))
    return [{**entry, "seconds": perf_counter() - start, "native": found, "error": error}]


def _made(file: Path, ob: bpy.types.Object, names: list[str], switch: bool) -> dict:
    """Make chains of one armature object native, and say it; what the report says of it."""
    check_time()
    entry = {"armature": ob.name, "tips": [], "difference": 0.0, "stay_live": []}
    bpy.context.view_layer.objects.active = ob
    try:
        done = make_native(bpy.context, [ob.pose.bones[name] for name in names], switch)
    except ChainError as error:
        return {**entry, "stay_live": [complain(file, error)]}
    line = messages.MADE_NATIVE(chains=chains_words(len(done.tips)), percent=100.0 * done.figure, bones=done.helpers)
    say(messages.OF(whose=file, said=line))
    for sentence in done.left:
        complain(file, sentence)
    return {**entry, "tips": [*done.tips], "difference": done.figure, "stay_live": [*done.left]}
