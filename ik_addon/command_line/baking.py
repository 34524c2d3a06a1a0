"""`bake`: live chains into keys."""

import argparse
from pathlib import Path

import bpy

from .. import messages
from ..authoring.bare import controls_of_chains, remove_controls
from ..bake import chains_of
from ..bake.baking import baked
from ..bake.certificate import read_certificates
from ..bake.clips import clips_baked, rigged_clips
from ..bake.formats import ONE_CLIP
from ..bake.stepping import finish, in_time
from ..bake.stopping import stop_if_asked
from ..rig.blender.armatures import armature_named
from ..rig.model.order import ChainName
from ..solvers import ChainError
from .files import is_foreign, opened, save_output, span_of
from .saying import say, shown


def bake_file(file: Path, options: argparse.Namespace) -> list[dict]:
    """Bake the chains of a file and save it; its entries in the report."""
    output, compressed = opened(file, options)
    scene = bpy.context.scene
    if options.in_place and any(map(was_baked, scene.objects)):
        if not chains_of(scene.objects):
            # A farm may give a file to two workers, one after the other.
            left_out = messages.ALREADY_BAKED()
            return [{"frames": None, "seconds": 0.0, "chains": [], "left_out": left_out, "error": None}]
        say(messages.OF(whose=file, said=messages.BAKED_AGAIN()))
    chains = live_chains(file)
    armatures = [armature_named(name) for name in dict.fromkeys(chain.armature for chain in chains)]
    keeps_chains = not is_foreign(output)
    settings = {"action": options.action or "COPY", "after": options.after or "MUTE"}
    if not keeps_chains:
        # What is made takes the place of what it was made of.
        settings = {"action": "CURRENT", "after": "REMOVE"}
    settings["tolerance"] = options.tolerance
    clips = options.clips
    if clips is None and not (keeps_chains or options.frames or options.step or output.suffix.lower() in ONE_CLIP):
        clips = "all" if any(len(rigged_clips(ob)) > 1 for ob in armatures) else None
    controls = [(ob, controls_of_chains(ob)) for ob in armatures]
    first, last = options.frames or (scene.frame_start, scene.frame_end)
    frames = range(first, last + 1, options.step or 1)
    with shown(file.name, len(frames)) as progress:
        if clips == "all":
            steps = clips_baked(bpy.context, chains, **settings, strips=True)
        else:
            steps = baked(bpy.context, chains, frames, **settings)
        report = finish(in_time(steps), progress)
    stop_if_asked()
    if not keeps_chains:
        for ob, own in controls:
            remove_controls(ob, own)
        bpy.context.view_layer.objects.active = armatures[0]
    save_output(file, output, compressed, span_of(report["files"]))
    return report["files"]


def live_chains(file: Path) -> list[ChainName]:
    """The chains of the scene. ChainError says what to do where there is none."""
    chains = chains_of(bpy.context.scene.objects)
    if not chains:
        imported = is_foreign(file)
        raise ChainError((messages.NO_CHAIN_IMPORTED if imported else messages.NO_CHAIN_IN_SCENE)())
    return chains


def was_baked(ob: bpy.types.Object) -> bool:
    """True if the last report that an object keeps is that of a bake."""
    return any(certificate.baked for certificate in read_certificates(ob.analytic_ik_report))
