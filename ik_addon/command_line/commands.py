"""The commands: `bake`, `check`, `native`, `plant`, `rig`."""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter

import bpy

from .. import messages
from ..authoring.finding.limbs import FoundLimb, LeftOut
from ..authoring.for_export import controls_of_chains, remove_controls
from ..authoring.given_limbs import given_limbs, named_limbs
from ..authoring.rigging import Rigged, none_found, rig_limbs, rig_these, rigged_entry, survey
from ..bake.baking import by_armature, chains_of
from ..bake.certificate import read_certificates
from ..bake.clips import Clips, clips_baked, rigged_clips
from ..bake.formats import ONE_CLIP, open_file
from ..bake.report import bare_entry
from ..bake.saving import TimeLimitError, check_time, save_blend, save_text, stop_if_asked
from ..bake.stepping import finish, in_time
from ..native.making import make_native
from ..planting.feet.options import SHOWN, Options
from ..planting.scene.checking import clips_checked
from ..planting.scene.limbs import check_frames
from ..planting.scene.plant import Ground, StaysAsItIsError
from ..planting.scene.reading import legs_of
from ..planting.scene.whole_clip import NothingToPlantError, clips_planted
from ..rig.blender.clips import clips_of, motion_frames
from ..rig.data.settings import native_tips
from ..rig.model.order import ChainName
from ..rig.status.problems import check_changeable
from ..solvers import ChainError
from ..travel.engines import engine_ready, grown_clips, with_engine
from .console import complain, say, shown
from .files import armatures_of_scene, curve_given, ground_of, is_foreign, opened, save_output, span_of


def bake_file(file: Path, options: argparse.Namespace) -> list[dict]:
    """Bake the chains of a file and save it; its entries in the report."""
    output, compressed = opened(file, options)
    scene = bpy.context.scene
    if options.in_place and any(map(was_baked, scene.objects)):
        if not chains_of(scene.objects):
            # A farm may give a file to two workers, one after the other.
            return [bare_entry(left_out=messages.ALREADY_BAKED())]
        say(messages.OF(whose=file, said=messages.BAKED_AGAIN()))
    chains = live_chains(file)
    armatures = [*by_armature(chains)]
    keeps_chains = not is_foreign(output)
    settings = {"action": options.action or "COPY", "after": options.after or "MUTE"}
    if not keeps_chains:
        # What is made takes the place of what it was made of.
        settings = {"action": "CURRENT", "after": "REMOVE"}
    settings["tolerance"] = options.tolerance
    clips = clips_asked(options, armatures, not keeps_chains and output.suffix.lower() not in ONE_CLIP)
    controls = [(ob, controls_of_chains(ob)) for ob in armatures]
    frames, grown = frames_asked(options), {ob: grown_clips(ob) for ob in armatures}
    if options.frames:
        try:
            check_frames([*armatures, *(control.ob for _, own in controls for control in own)], frames, on_path=False)
        except ChainError as error:
            # Something else may move them there.
            complain(file, error)
    with shown(file.name, len(frames)) as progress:
        steps = clips_baked(bpy.context, chains, **settings, clips=clips, frames=frames, strips=True)
        report = finish(in_time(steps), progress)
    stop_if_asked()
    if not keeps_chains:
        for ob, own in controls:
            remove_controls(ob, own)
        bpy.context.view_layer.objects.active = armatures[0]
    entries = _for_engine(file, options, grown, report["files"])
    save_output(file, output, compressed, span_of(entries), options.optimize)
    return entries


def _for_engine(
    file: Path,
    options: argparse.Namespace,
    armatures: Mapping[bpy.types.Object, Mapping[str, str]],
    entries: Sequence[dict],
) -> list[dict]:
    """Make the clips of a file ready for the engine of the options, and say what that does not take as it is, once for
    all clips of which it is so; without an engine, which clips grew. armatures: those to look at, with their
    `grown_clips`. entries: of the file; returns them with what was done."""
    found, clips_with = [], {}
    for ob, grown in armatures.items() if options.engine else ():
        found += finish(engine_ready(bpy.context, ob, options.engine, clips_of(ob), grown=grown))
    said = [(each["clip"], warning) for each in found for warning in each["warnings"]]
    if not options.engine:
        baked = {entry.get("clip") for entry in entries}
        said = [pair for grown in armatures.values() for pair in grown.items() if pair[0] in baked]
    for clip, warning in said:
        clips_with.setdefault(warning, []).append(clip)
    for warning, clips in clips_with.items():
        of_all = 1 < len(found or entries) == len(clips)
        say(messages.OF(whose=file if of_all else messages.OF(whose=file, said=", ".join(clips)), said=warning))
    return with_engine(entries, found)


def clips_asked(options: argparse.Namespace, armatures: Sequence[bpy.types.Object], all_by_default: bool) -> Clips:
    """The clips that the options name. all_by_default: they are all that armatures have, if nothing is said of them or
    of frames."""
    if options.clips is None and all_by_default and not (options.frames or getattr(options, "step", None)):
        return "ALL" if any(map(rigged_clips, armatures)) else "CURRENT"
    return "ALL" if options.clips == "all" else "CURRENT"


def frames_asked(options: argparse.Namespace) -> range:
    """The frames that the options name, else those of the scene."""
    scene = bpy.context.scene
    first, last = options.frames or (scene.frame_start, scene.frame_end)
    return range(first, last + 1, options.step or 1)


def live_chains(file: Path) -> list[ChainName]:
    """The chains of the scene. ChainError says what to do where there is none."""
    chains = chains_of(bpy.context.scene.objects)
    if not chains:
        imported = is_foreign(file)
        are_baked = any(map(was_baked, bpy.context.scene.objects))
        without = messages.CHAINS_ARE_BAKED if are_baked else messages.NO_CHAIN_IN_SCENE
        raise ChainError((messages.NO_CHAIN_IMPORTED if imported else without)())
    return chains


def was_baked(ob: bpy.types.Object) -> bool:
    """True if the last report that an object keeps is that of a bake."""
    return any(certificate.baked for certificate in read_certificates(ob.analytic_ik_report))


def check_file(file: Path, options: argparse.Namespace) -> list[dict]:
    """Check the chains of a file, and with --feet its feet; its entries in the report."""
    open_file(file)
    scene, ground = bpy.context.scene, ground_of(options)
    with_feet = options.feet or options.metrics or bool(options.limit)
    chains = chains_of(scene.objects) if with_feet else live_chains(file)
    armatures = [*by_armature(chains)]
    if with_feet:
        armatures = [ob for ob in armatures_of_scene() if legs_of(ob)] or armatures_of_scene()
    clips, frames = clips_asked(options, armatures, is_foreign(file)), frames_asked(options)
    with shown(file.name, len(frames)) as progress:
        steps = clips_checked(bpy.context, chains, armatures, clips, frames, with_feet, ground, options.metrics)
        entries = finish(steps, progress)["files"]
    stop_if_asked()
    return entries


def native_file(file: Path, options: argparse.Namespace) -> list[dict]:
    """Make the chains of a file native and save it; its entry, with an error if none of them could be."""
    start = perf_counter()
    output, compressed = opened(file, options)
    try:
        chains = live_chains(file)
    except ChainError:
        if not any(native_tips(ob) for ob in bpy.context.scene.objects if ob.type == "ARMATURE"):
            raise
        # A farm may give a file to two workers, one after the other. Elsewhere whoever asked for it finds each file.
        if not options.in_place:
            save_blend(output, compressed)
        return [bare_entry(left_out=messages.ALREADY_NATIVE())]
    pairs = by_armature(chains).items()
    found = [_made(file, ob, [chain.tip for chain in own], options.switch) for ob, own in pairs]
    made = [each for each in found if each["tips"]]
    if made:
        stop_if_asked()
        save_blend(output, compressed)
    reasons = dict.fromkeys(reason for each in found for reason in each["stay_live"])
    error = None if made else messages.NOTHING_NATIVE(refusal=" ".join(reasons))
    return [bare_entry(perf_counter() - start, native=found, error=error)]


def _made(file: Path, ob: bpy.types.Object, names: list[str], switch: bool) -> dict:
    """Make chains of one armature object native, and say it; what the report says of it."""
    check_time()
    entry = {"armature": ob.name, "tips": [], "difference": 0.0, "stay_live": []}
    bpy.context.view_layer.objects.active = ob
    try:
        done = make_native(bpy.context, [ob.pose.bones[name] for name in names], switch)
    except ChainError as error:
        return {**entry, "stay_live": [complain(file, error)]}
    line = messages.MADE_NATIVE(
        chains=messages.CHAINS(count=len(done.tips)), percent=100.0 * done.figure, bones=done.helpers
    )
    say(messages.OF(whose=file, said=line))
    for sentence in done.left:
        complain(file, sentence)
    return {**entry, "tips": [*done.tips], "difference": done.figure, "stay_live": [*done.left]}


def plant_file(file: Path, options: argparse.Namespace) -> list[dict]:
    """Plant the armatures of a file, bake and save it; its entries, with an error if none could be planted."""
    output, compressed = opened(file, options)
    ground, keep = ground_of(options) or Ground(), not is_foreign(output)
    how = Options(**{name: getattr(options, name) for name in SHOWN}, limits=dict(options.limits))
    frames = options.frames and range(options.frames[0], options.frames[1] + 1)
    path = curve_given(options.path)
    entries, planted, reasons, late, still, grown = [], [], [], [], [], {}
    for ob in armatures_of_scene():
        bpy.context.view_layer.objects.active = ob
        grown[ob] = grown_clips(ob)
        holds_all = output.suffix.lower() not in ONE_CLIP
        if not holds_all and len(rigged_clips(ob)) > 1:
            say(messages.OF(whose=file, said=messages.ONLY_CURRENT(armature=ob.name, suffix=output.suffix)))
        clips = clips_asked(options, [ob], holds_all)
        try:
            with shown(file.name, 1) as progress:
                steps = clips_planted(bpy.context, ob, clips, frames, how, ground, keep, options.limbs, path)
                report = finish(in_time(steps) if clips == "CURRENT" else steps, progress)
        except StaysAsItIsError as error:
            # The file is as it is wanted, and is written all the same.
            entries.append(bare_entry(left_out=complain(file, error)))
            planted.append((ob, frames or motion_frames(ob) or range(1, 2)))
            continue
        except NothingToPlantError as error:
            still.append(complain(file, error))
            continue
        except ChainError as error:
            reasons.append(complain(file, error))
            if isinstance(error, TimeLimitError):
                late.append(bare_entry(error=str(error)))
            continue
        entries += report["files"]
        _say_walked(file, report["files"])
        planted.append((ob, span_of(report["files"])))
    if not planted and not reasons:
        return [bare_entry(left_out=" ".join(still), nothing=True)]
    if not planted:
        return [bare_entry(error=" ".join([*reasons, *still]))]
    stop_if_asked()
    if path is not None and not keep:
        # Files in other formats are of the character alone.
        bpy.data.objects.remove(path)
    bpy.context.view_layer.objects.active = planted[0][0]
    entries = _for_engine(file, options, {ob: grown[ob] for ob, _ in planted}, entries)
    save_output(file, output, compressed, planted[0][1], options.optimize)
    if late or any(entry["error"] for entry in entries):
        say(messages.OF(whose=file, said=messages.SAVED_IN_PART()))
    return entries + late


def _say_walked(file: Path, entries: Sequence[dict]) -> None:
    """How far clips walk along their path."""
    for walked in filter(None, (entry.get("path") for entry in entries)):
        given = {name: walked[name] for name in ("object", "start", "end", "length", "stride")}
        left = max(0.0, walked["length"] - walked["end"])
        say(messages.OF(whose=file, said=messages.WALKED_PATH(**given, left=left)))
        if walked["stays"]:
            complain(file, messages.LEFT_BY_PATH(bone=walked["stays"]))


def rig_file(file: Path, options: argparse.Namespace) -> list[dict]:
    """Rig the legs of a file and save it; its entry, with an error if none of its armatures has legs."""
    start = perf_counter()
    if options.dry_run:
        open_file(file)
        limbs = {ob: found for ob in armatures_of_scene(options.armature) if (found := _found(file, ob, options))}
        _write_limbs(file, [*limbs.values()], options)
        return [bare_entry(perf_counter() - start, error=None if limbs else messages.NOTHING_RIGGED())]
    output, compressed = opened(file, options)
    found = [_rigged(file, ob, options) for ob in armatures_of_scene(options.armature)]
    rigged = [each for each in found if each is not None]
    if rigged:
        stop_if_asked()
        save_blend(output, compressed)
        _write_limbs(file, [[one.limb for one in each.limbs] for _, each in rigged], options)
    error = None if rigged else messages.NOTHING_RIGGED()
    entries = [rigged_entry(ob, each) for ob, each in rigged]
    return [bare_entry(perf_counter() - start, rigged=entries, error=error)]


def _found(file: Path, ob: bpy.types.Object, options: argparse.Namespace) -> list[FoundLimb]:
    """The limbs of an armature object that would be rigged, which are said; none if it has none."""
    try:
        limbs, left_out = (given_limbs(ob, options.limbs), ()) if options.limbs else _surveyed(ob, options)
    except ChainError as error:
        complain(file, error)
        return []
    for limb in limbs:
        end = messages.quoted([limb.end]) if limb.end else messages.ITS_TAIL()
        line = messages.LIMB_FOUND(armature=ob.name, first=limb.bones[0], last=limb.bones[-1], end=end)
        say(messages.OF(whose=file, said=line))
    for out in left_out:
        line = messages.LIMB_LEFT_OUT(armature=ob.name, bone=out.bone, why=messages.as_part(out.reason))
        say(messages.OF(whose=file, said=line))
    return limbs


def _surveyed(ob: bpy.types.Object, options: argparse.Namespace) -> tuple[list[FoundLimb], Sequence[LeftOut]]:
    """The limbs of an armature object that can be rigged, and what is left out. Raises ChainError if none can."""
    check_changeable(ob)
    seen = survey(ob, arms=options.arms)
    if not seen.free:
        raise ChainError(none_found(ob, seen, messages.NO_LIMB_IN_FILE))
    return [*seen.free], seen.left_out


def _write_limbs(file: Path, limbs: Sequence[Sequence[FoundLimb]], options: argparse.Namespace) -> None:
    """Write the limbs of the one armature that has some, if that is asked for."""
    if options.limbs_out is None or not limbs:
        return
    if len(limbs) > 1:
        raise ChainError(messages.LIMBS_OF_MANY())
    save_text(options.limbs_out, json.dumps(named_limbs(limbs[0]), indent=1))


def _rigged(file: Path, ob: bpy.types.Object, options: argparse.Namespace) -> tuple[bpy.types.Object, Rigged] | None:
    """Rig the legs of one armature object and say what was done; None if it has none."""
    as_bones = options.controls == "BONES"
    try:
        if options.limbs:
            rigged = rig_these(bpy.context, ob, given_limbs(ob, options.limbs), as_bones=as_bones)
        else:
            rigged = rig_limbs(bpy.context, ob, *_surveyed(ob, options), as_bones=as_bones)
    except TimeLimitError:
        raise
    except ChainError as error:
        complain(file, error)
        return None
    lines = []
    for one in rigged.limbs:
        names = {"target": one.target.name, "pole": one.pole.name}
        lines.append(messages.LIMB_FOLLOWS(armature=ob.name, first=one.limb.bones[0], last=one.limb.bones[-1], **names))
    followed = rigged.followed
    if followed.clips:
        clips = {"clips": messages.CLIPS(count=len(followed.clips)), "names": messages.quoted(followed.clips)}
        lines.append(messages.CLIPS_FOLLOWED(armature=ob.name, **clips))
    elif followed.frames is not None:
        lines.append(messages.MOTION_FOLLOWED(armature=ob.name, first=followed.frames[0], last=followed.frames[-1]))
    for out in rigged.left_out:
        lines.append(messages.LIMB_LEFT_OUT(armature=ob.name, bone=out.bone, why=messages.as_part(out.reason)))
    for line in (*lines, *(messages.OF(whose=ob.name, said=warning) for warning in rigged.warnings)):
        say(messages.OF(whose=file, said=line))
    return ob, rigged
