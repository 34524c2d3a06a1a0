"""Solved chains into keys, in bulk, with a report; and a forecast of what a bake will miss."""

from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter

import bpy
import numpy as np

from .. import messages
from ..rig.blender.armatures import armature_named, bones_below, posed_armatures
from ..rig.blender.rotations import SCALE
from ..rig.data.settings import check_switchable, clear_settings, mute_setting, switched_tips
from ..rig.data.undoing import all_or_nothing
from ..rig.live import handlers as live
from ..rig.live.scene_plan import ScenePlan
from ..rig.model.body import bodies_of
from ..rig.model.limb import chain_bones, growth, may_stretch, scaled_bones
from ..rig.model.order import ChainName, chain_order, live_tips, objects_of
from ..rig.pose.following import follow_limbs
from ..rig.pose.reading import SceneReader
from ..rig.pose.solving import solve_limb, tell
from ..rig.status.problems import read_chains
from ..solvers import ChainError, Outcome
from ..solvers.vectors import finite_number
from .certificate import APART
from .collecting import Motion, collect, turned_bones
from .keys import BoneKeys, check_unshared, check_writable, key_times, write_keys
from .limb_keys import few_keys, without_still
from .report import file_report, publish
from .stepping import Steps, at_once, stepping_apart

Scales = dict[str, np.ndarray]
"""The scales of bones: frames x 3."""


def chains_of(objects: Iterable[bpy.types.Object]) -> list[ChainName]:
    """The chains of armature objects that are live, or are switched on by animation."""
    armatures = [ob for ob in objects if ob.type == "ARMATURE"]
    names = [ChainName(ob.name_full, tip) for ob in armatures for tip in [*live_tips(ob), *switched_tips(ob)]]
    return list(dict.fromkeys(names))


def by_armature(chains: Iterable[ChainName]) -> dict[bpy.types.Object, list[ChainName]]:
    """Chains by their armature objects."""
    found: dict[bpy.types.Object, list[ChainName]] = {}
    for chain in chains:
        found.setdefault(armature_named(chain.armature), []).append(chain)
    return found


def baked(
    context: bpy.types.Context,
    chains: Sequence[ChainName],
    frames: range,
    action: str = "COPY",
    after: str = "MUTE",
    tolerance: float = 0.0,
    last: bool = True,
) -> Steps[dict]:
    """In steps: key the chains' bones at `frames` so that they play as they do live; returns the report.

    action: NEW, COPY or CURRENT; after: KEEP, MUTE or REMOVE the chains; tolerance: above 0, keys are dropped
    while the tip stays within it, in armature units. last: no other frames are to be baked before the chains are muted
    or removed; if not, `finish_chains` does that.
    The report says what Blender shows at each frame while the chains are live, constraints, drivers and other add-ons
    included; the keys play the same, a tolerance apart.
    Raises ChainError, before any key is written, where a chain cannot be solved or keyed. The frame, the
    selection and the mode stay as they were, also after an exception and where the steps are closed.
    """
    finite_number(tolerance, "the tolerance", least=0.0)
    plan, bones_of = _checked(context, chains, frames)
    for body, limbs in plan.limbs.items() if after != "KEEP" else ():
        if not {*limbs} <= bones_of.keys() and not bones_of.keys().isdisjoint(limbs):
            tips = messages.quoted(limb.tip for limb in limbs)
            raise ChainError(messages.BODY_HALF_BAKED(bone=body.tip, tips=tips))
    for chain, names in bones_of.items():
        ob = armature_named(chain.armature)
        check_writable(ob, turned_bones(chain, names), scaled_bones(ob.pose.bones[chain.tip]), action)
        if after != "KEEP":
            check_switchable(ob, ob.pose.bones[chain.tip])
    if action == "CURRENT":
        check_unshared([*by_armature(chains)])
    start = perf_counter()
    motions = yield from collect(context, plan, bones_of, frames)
    with all_or_nothing(by_armature(chains), keys=action == "CURRENT"):
        _write(motions, frames, action, after, tolerance)
        carried = {chain: [name for name, _ in motion.carried] for chain, motion in motions.items()}
        if after != "KEEP":
            _silence(carried)
        if after != "KEEP" and last:
            _switch_off(carried, after)
        records = [motion.record for motion in motions.values()]
        return publish(file_report(frames, perf_counter() - start, records))


bake = at_once(baked)


def _write(motions: dict[ChainName, Motion], frames: range, action: str, after: str, tolerance: float) -> None:
    for ob, chains in by_armature(motions).items():
        own = {chain: motions[chain] for chain in chains}
        scales = _scales(ob, own)
        keys = []
        for chain, motion in own.items():
            root = ob.pose.bones[motion.chain[0]]
            below = {bone.name for bone in bones_below(root)} if tolerance else ()
            # The tip of a chain that hangs from this one would stray with every key dropped here.
            needs_all = any(other is not motion and other.chain[0] in below for other in own.values())
            if root.parent is not None and root.parent.analytic_ik_enabled:
                # What a chain that may stretch and is not baked gives its root is in no key.
                is_baked = root.parent.name in (chain.tip for chain in own)
                needs_all = needs_all or (not is_baked and may_stretch(root.parent))
            own_keys = _keys(motion, scales[chain], frames, 0.0 if needs_all else tolerance)
            if after != "KEEP":
                # A body that goes on following needs no keys of where it went.
                times = key_times(frames)
                span = float(times[0]), float(times[-1])
                places = zip(motion.carried, motion.places, strict=True)
                own_keys += [BoneKeys(name, mode, times, numbers, span) for (name, mode), numbers in places]
            motion.record.keys = sum(each.values.size for each in own_keys)
            keys += own_keys
        write_keys(ob, keys, action)


def checked(context: bpy.types.Context, chains: Sequence[ChainName], frames: range) -> Steps[dict]:
    """In steps: the report that `baked` would give, without writing a key. Raises ChainError as that does."""
    plan, bones_of = _checked(context, chains, frames)
    start = perf_counter()
    motions = yield from collect(context, plan, bones_of, frames)
    records = [motion.record for motion in motions.values()]
    return publish(file_report(frames, perf_counter() - start, records))


check = at_once(checked)


def _checked(
    context: bpy.types.Context, chains: Sequence[ChainName], frames: range
) -> tuple[ScenePlan, dict[ChainName, list[str]]]:
    """How chains are solved at present, and the bones of each; ChainError where one cannot be, as it is set up."""
    if not frames:
        raise ChainError(messages.NO_FRAMES())
    plan = live.plan_of(context)
    # Planned chains have been solved already.
    planned = plan.planned()
    unsteady = [chain for chain in chains if chain not in planned]
    others = read_chains(unsteady, context.evaluated_depsgraph_get()) if unsteady else {}
    bones_of = {}
    for chain in chains:
        limb = others.get(chain)
        if isinstance(limb, ChainError):
            raise limb
        tip = armature_named(chain.armature).pose.bones[chain.tip]
        bones_of[chain] = limb.names if limb else [bone.name for bone in chain_bones(tip)]
    return plan, bones_of


def _scales(ob: bpy.types.Object, motions: dict[ChainName, Motion]) -> dict[ChainName, Scales]:
    """The scales that each chain has to key: of its bones and its end bones, where they change at any frame.

    An end bone of one chain may be the root of another, which keys what both make of it.
    """
    scales: Scales = {}
    for motion in motions.values():
        if (motion.stretches != 1.0).any():
            powers = growth([ob.data.bones[name] for name in motion.chain])
            for name, fk_scales in zip(motion.scaled, motion.fk_scales, strict=True):
                scales[name] = scales.get(name, fk_scales) * (motion.stretches ** powers[name])[:, None]
    in_chains = {name for motion in motions.values() for name in motion.chain}
    return {
        chain: {
            name: values
            for name, values in scales.items()
            if name in motion.chain or (name in motion.scaled and name not in in_chains)
        }
        for chain, motion in motions.items()
    }


def _keys(motion: Motion, scales: Scales, frames: range, tolerance: float) -> list[BoneKeys]:
    """A chain's keys: continuous numbers, and no more of them than the tolerance asks for."""
    channels = [*zip(motion.bones, motion.modes, motion.numbers, strict=True)]
    channels += [(name, SCALE, values) for name, values in scales.items()]
    times = key_times(frames)
    # All that was asked for, though a step may miss its end.
    first, last = key_times([frames.start, frames.stop - 1])
    span = float(first), float(last)
    few, shown = None, motion.shown
    if tolerance > 0.0 and len(times) > 2:
        if shown is not None and {*motion.bones} <= {*shown.model.bones}:
            rotations = {name: (mode, numbers) for name, mode, numbers in channels[: len(motion.bones)]}
            few = few_keys(shown, rotations, scales, tolerance)
        else:
            few = without_still(np.concatenate([numbers for *_, numbers in channels], axis=1))
    if few is None or len(few.rows) == len(times):
        return [BoneKeys(name, mode, times, numbers, span) for name, mode, numbers in channels]
    ends = np.cumsum([numbers.shape[1] for *_, numbers in channels])[:-1]
    step = (times[-1] - times[0]) / (len(times) - 1)
    parts = (np.split(each, ends, axis=-1) for each in (few.numbers, few.slopes / step))
    return [
        BoneKeys(name, mode, times[few.rows], numbers, span, slopes)
        for (name, mode, _), numbers, slopes in zip(channels, *parts, strict=True)
    ]


def finish_chains(context: bpy.types.Context, chains: Sequence[ChainName], after: str) -> None:
    """Mute or remove chains that were baked, and let no body follow them. after: MUTE or REMOVE."""
    limbs = live.plan_of(context).limbs
    carried = {chain: [body.tip for body, own in limbs.items() if own[0] == chain] for chain in chains}
    _switch_off(carried, after)


def _silence(carried: Mapping[ChainName, Sequence[str]]) -> None:
    """Let nothing in the current action switch chains on, or have bones follow them. carried: these bones of each."""
    for chain, bones in carried.items():
        ob = armature_named(chain.armature)
        for name in bones:
            mute_setting(ob.pose.bones[name], "body_influence")
        mute_setting(ob.pose.bones[chain.tip], "enabled")


def _switch_off(carried: Mapping[ChainName, Sequence[str]], after: str) -> None:
    for chain, bones in carried.items():
        ob = armature_named(chain.armature)
        for name in bones:
            ob.pose.bones[name].analytic_ik_body_influence = 0.0
        if after == "MUTE":
            ob.pose.bones[chain.tip].analytic_ik_enabled = False
        else:
            clear_settings(ob.pose.bones[chain.tip])


_FRAMES = 20
"""How many frames are looked at."""
_SECONDS = 0.5
"""How long a dialog may be late; what was seen by then counts."""


def part_out_of_reach(context: bpy.types.Context, chains: Sequence[ChainName], frames: range) -> float:
    """The part of the frames, 0 to 1, at which some of the chains stay clearly short of their targets.

    The user's scene keeps its frame. Returns 0 if it alone could tell, because chains depend on it.
    """
    seen = missed = 0
    until = perf_counter() + _SECONDS
    tips = [armature_named(chain.armature).pose.bones[chain.tip] for chain in chains]
    # A bone that follows its limbs follows all of them.
    tips += [ob.pose.bones[name] for ob in by_armature(chains) if bodies_of(ob) for name in live_tips(ob)]
    with stepping_apart(context, [each for tip in tips for each in objects_of(tip)]) as go_to:
        if go_to is None:
            return 0.0
        for frame in frames[:: max(1, len(frames) // _FRAMES)]:
            seen += 1
            missed += _misses(SceneReader(go_to(frame), frame_changed=True), set(chains))
            if perf_counter() > until:
                break
    return missed / max(seen, 1)


def _misses(scene: SceneReader, chains: set[ChainName]) -> bool:
    """Whether one of the chains stays clearly short of its target as the scene stands."""
    order = chain_order(ob.evaluated_get(scene.depsgraph) for ob in posed_armatures(scene.depsgraph))
    for chain in order.steps:
        reader = scene.armature(armature_named(chain.armature))
        try:
            if chain in order.limbs:
                follow_limbs(reader, chain.tip, [limb.tip for limb in order.limbs[chain]])
                continue
            posed = solve_limb(reader.limb(chain.tip))
        except ChainError:
            # The bake itself says what is wrong with it.
            continue
        limb = posed.limb
        short = posed.error_world > APART * limb.chain.length * limb.world.median_scale
        if short and chain in chains and posed.outcome in (Outcome.TOO_FAR, Outcome.TOO_NEAR):
            return True
        tell(reader, posed)
    return False
