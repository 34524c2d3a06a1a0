"""What the add-on does, for scripts, pipelines and agents: functions on armature objects that return a report.

A report is a dict of lists, numbers, strings and None, in the shape that `report.schema.json` beside this file
describes. It is measured on the bones as Blender shows them. Every function raises ChainError, with nothing changed, if
it cannot do what is asked; its text names the bone, object or clip, and what to do. Selection, mode and frame stay.

`clips`: "CURRENT" is what the armature plays; "ALL" every clip that moves its controls, each over its own frames; or
the names of some. `frames`: a range with the scene's frames, for the current clip only; None: those over which keys
move the armature, else the scene's. `progress`: is called with how many steps are done, and of how many.
"""

from collections.abc import Sequence
from time import perf_counter
from typing import Literal

import bpy
from mathutils import Vector

from . import messages
from .authoring.given_limbs import GivenLimbs, given_limbs
from .authoring.rigging import rig_legs, rig_these, rigged_entry
from .bake import Action, After
from .bake.baking import chains_of
from .bake.clips import Clips, clips_baked
from .bake.report import bare_entry, whole_report
from .bake.stepping import Progress, finish
from .grabbing.scene.posing import grab_bone
from .grabbing.solving.drag import GrabOptions
from .matching.match import source_matched
from .matching.match_plan import Arms
from .planting.feet.options import Options
from .planting.scene.checking import clips_checked
from .planting.scene.plant import Ground
from .planting.scene.reading import legs_of
from .planting.scene.whole_clip import clips_planted
from .rig.blender.clips import motion_frames
from .rig.model.order import ChainName
from .solvers import ChainError
from .solvers.vectors import finite_number

__all__ = ["ChainError", "Clips", "Ground", "Options", "bake", "check", "grab", "match", "plant", "rig"]


def rig(
    ob: bpy.types.Object,
    *,
    arms: bool = False,
    controls: Literal["EMPTIES", "BONES"] = "EMPTIES",
    follow_motion: bool = True,
    knees_follow: bool = True,
    limbs: GivenLimbs | None = None,
    progress: Progress | None = None,
) -> dict:
    """Give the legs of an armature object, with `arms` its arms too, chains and controls. No bone moves, in no clip.

    controls: what targets and pole targets are. follow_motion: they get keys that carry every clip. knees_follow: pole
    targets that are bones, of legs without keys, keep between foot and body. limbs: their bones, where these are not to
    be found: {"legs": [["thigh.L", "shin.L", "foot.L"]], "arms": []}, first bone, tip bone, and end bone or None. The
    report's entry says in `rigged` which limbs got what, and which were left out.
    """
    _check_armature(ob)
    start = perf_counter()
    if limbs is None:
        rigged = rig_legs(bpy.context, ob, (), arms, follow_motion, controls == "BONES", progress, knees_follow)
    else:
        named = given_limbs(ob, limbs)
        rigged = rig_these(bpy.context, ob, named, follow_motion, controls == "BONES", progress, knees_follow)
    said = {"file": bpy.data.filepath, "rigged": [rigged_entry(ob, rigged)]}
    return whole_report([bare_entry(perf_counter() - start, **said)])


def plant(
    ob: bpy.types.Object,
    *,
    clips: Clips = "CURRENT",
    frames: range | None = None,
    ground: Ground | None = None,
    options: Options | None = None,
    keep_controls: bool = True,
    limbs: GivenLimbs | None = None,
    path: bpy.types.Object | None = None,
    progress: Progress | None = None,
) -> dict:
    """Let the feet of an armature object stand where they touch the ground, bake that, and check it.

    Its legs are rigged first if it has no chains. limbs: their bones, as for `rig`. ground: None for as captured.
    options: how; None for as the operator has it. path: a curve object along which it walks; None for as captured.
    keep_controls: the chains stay, muted, and so do the clips before; else nothing stays but the planted clips,
    under the names of these. The report's entries have `feet`, before and after, and `left_out` for a clip in which no
    foot stands.
    """
    _check_armature(ob)
    _check_frames(clips, frames)
    steps = clips_planted(bpy.context, ob, clips, frames, options, ground, keep_controls, limbs, path)
    return finish(steps, progress)


def bake(
    ob: bpy.types.Object,
    *,
    clips: Clips = "CURRENT",
    frames: range | None = None,
    action: Action = "COPY",
    after: After = "MUTE",
    tolerance: float = 0.0,
    strips: bool = True,
    progress: Progress | None = None,
) -> dict:
    """Key the bones of an armature object's chains so that they play as they do live, without the add-on.

    action: the keys go into a new action, into a copy of what plays, or into that itself. after: what becomes of the
    chains. tolerance: above 0, keys are dropped while the tip stays within it, in armature units. strips: NLA strips
    play what was made of their clips.
    """
    chains = _chains(ob)
    over = _frames(ob, clips, frames)
    return finish(clips_baked(bpy.context, chains, action, after, tolerance, clips, over, strips), progress)


def check(
    ob: bpy.types.Object,
    *,
    clips: Clips = "CURRENT",
    frames: range | None = None,
    feet: bool = True,
    ground: Ground | None = None,
    metrics: bool = False,
    progress: Progress | None = None,
) -> dict:
    """Measure how well the chains of an armature object meet their targets, and its feet stand. Nothing changes.

    It needs no chains to look at feet. feet: look at them, if it has legs. ground: what they should stand on; None:
    what they were planted on, else as captured. metrics: also by the formulas of papers on generated motion.
    """
    _check_armature(ob)
    has_feet = feet and bool(legs_of(ob))
    chains = chains_of([ob]) if has_feet else _chains(ob)
    over = _frames(ob, clips, frames)
    return finish(clips_checked(bpy.context, chains, [ob], clips, over, has_feet, ground, metrics), progress)


def match(
    ob: bpy.types.Object,
    source: bpy.types.Object,
    *,
    frames: range | None = None,
    scale_frame: int | None = None,
    arms: Arms = "SHOULDER",
    body: bool = True,
    progress: Progress | None = None,
) -> dict:
    """Bring ankles and wrists of a retargeted clip back to where its source has them, scaled: see `match_source`.

    The limbs need chains, which `rig` makes. The report's entry says in `matched` how near each limb is.
    """
    _check_armature(ob)
    start = perf_counter()
    matched = finish(source_matched(bpy.context, ob, source, frames, scale_frame, arms, body), progress)
    said = {"file": bpy.data.filepath, "frames": matched["frames"], "matched": matched}
    return whole_report([bare_entry(perf_counter() - start, **said)])


def grab(
    ob: bpy.types.Object,
    bone: str,
    location: Sequence[float],
    *,
    pin_feet: bool = True,
    hips: Literal["MOVE", "STAY"] = "MOVE",
    spine: float = 1.0,
    balance: float = 0.6,
    lift_heels: bool = True,
    rotation: Literal["AUTO", "KEEP", "FOLLOW"] = "AUTO",
    look: bool = False,
) -> dict:
    """Bring the head of a bone to a place in the world, as near as what is held allows, by FK channels alone; the tip
    of a tail, or of a limb without hand or foot. look: a head looks there and stays where it is.

    The pose is a function of the pose before and of the place. pin_feet: feet on the ground are held, where
    `analytic_ik_pin` of their bones says nothing else. Keys as Auto Keying asks. Returns how far the bone is from its
    place in world units, what was held, which bones turned, and which of these a planted clip has no keys of, so that
    they moved on all of its frames: {"missed": 0.0, "held": {"foot.L": "BOTH"}, "turned": ["spine"], "unkeyed": []}.
    """
    _check_armature(ob)
    for name, part in (("spine", spine), ("balance", balance)):
        finite_number(part, name, least=0.0, most=1.0)
    options = GrabOptions(hips, spine, balance, lift_heels, rotation, pin_feet, look)
    return grab_bone(bpy.context, ob, bone, Vector(location), options)


def _check_armature(ob: bpy.types.Object) -> None:
    if ob.type != "ARMATURE":
        raise ChainError(messages.NOT_AN_ARMATURE(object=ob.name))


def _chains(ob: bpy.types.Object) -> list[ChainName]:
    _check_armature(ob)
    chains = chains_of([ob])
    if not chains:
        raise ChainError(messages.NO_CHAIN_ACTIVE(armature=ob.name))
    return chains


def _frames(ob: bpy.types.Object, clips: Clips, frames: range | None) -> range:
    _check_frames(clips, frames)
    scene = bpy.context.scene
    return frames or motion_frames(ob) or range(scene.frame_start, scene.frame_end + 1)


def _check_frames(clips: Clips, frames: range | None) -> None:
    if clips != "CURRENT" and frames is not None:
        raise ChainError(messages.CLIPS_HAVE_FRAMES())
