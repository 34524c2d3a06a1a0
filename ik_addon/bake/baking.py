"""Step the frames once for all chains, collect their rotations and scales, write them in bulk."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

import bpy
import numpy as np

from ..rig import live
from ..rig.channels import SCALE, Raw, quaternion_of, raw_of
from ..rig.foot import possible_end_bones
from ..rig.lengthening import factors, may_stretch, scaled_bones
from ..rig.order import ChainName, live_tips
from ..rig.problems import read_chains
from ..rig.records import forget_fk, recorded_fk
from ..rig.settings import clear_settings
from ..rig.solving import PosedLimb, ScenePass
from ..rig.switch import check_switchable, mute_switch, switched_tips
from ..solvers import ChainError
from .keys import BoneKeys, check_unshared, check_writable, write_keys
from .reduction import needed_frames
from .report import ChainRecord, file_report, publish

Progress = Callable[[Iterable[int]], Iterable[int]]
Scales = dict[str, np.ndarray]
"""The scales of bones: frames x 3."""


@dataclass(slots=True)
class Samples:
    """What was seen of one chain. chain: its own bones, root first; bones: all that it turns, those on its end last.

    rotations, fk_scales, limbs: an entry per frame. scaled: bones whose scale the chain may set, its end bones among
    them; fk_scales are theirs. A limb is None where the chain was off.
    """

    record: ChainRecord
    chain: list[str]
    bones: list[str]
    modes: list[str]
    scaled: list[str]
    rotations: list[list[Raw]] = field(default_factory=list)
    fk_scales: list[list[Raw]] = field(default_factory=list)
    limbs: list[PosedLimb | None] = field(default_factory=list)


def chains_of(objects: Iterable[bpy.types.Object]) -> list[ChainName]:
    """The chains of armature objects that are live, or are switched on by animation."""
    armatures = [ob for ob in objects if ob.type == "ARMATURE"]
    names = [ChainName(ob.name, tip) for ob in armatures for tip in [*live_tips(ob), *switched_tips(ob)]]
    return list(dict.fromkeys(names))


def bake(
    context: bpy.types.Context,
    chains: Sequence[ChainName],
    frames: range,
    action: str = "COPY",
    after: str = "MUTE",
    tolerance: float = 0.0,
    progress: Progress = iter,
) -> dict:
    """Key the chains' bones at `frames` so that they play as they do live; returns the report.

    action: NEW, COPY or CURRENT; after: KEEP, MUTE or REMOVE the chains; tolerance: above 0, keys are dropped
    while the tip stays within it, in armature units; progress: wraps the frames as they are stepped.
    Raises ChainError, before any key is written, where a chain cannot be solved or keyed. The frame, the
    selection and the mode stay as they were, also after an exception.
    """
    bones_of = _checked(context, chains)
    for chain, names in bones_of.items():
        ob = bpy.data.objects[chain.armature]
        check_writable(ob, _turned_bones(chain, names), scaled_bones(ob.pose.bones[chain.tip]), action)
        if after != "KEEP":
            check_switchable(ob, ob.pose.bones[chain.tip])
    if action == "CURRENT":
        check_unshared([bpy.data.objects[name] for name in dict.fromkeys(chain.armature for chain in chains)])
    start = perf_counter()
    with frame_kept(context.scene):
        samples = _sample(context, bones_of, frames, progress)
        for armature in dict.fromkeys(chain.armature for chain in chains):
            own = {chain: sample for chain, sample in samples.items() if chain.armature == armature}
            ob = bpy.data.objects[armature]
            scales = _scales(ob, own)
            keys = []
            for chain, sample in own.items():
                needs_all = _carries(ob, sample, own.values()) or _hangs_on_live(ob, sample, own)
                keys += _keys(sample, scales[chain], frames, 0.0 if needs_all else tolerance)
            write_keys(ob, keys, action)
            for chain, sample in own.items():
                _finish(ob, chain.tip, sample.bones, scales[chain], after)
    records = [sample.record for sample in samples.values()]
    return publish(file_report(frames, perf_counter() - start, records))


def check(context: bpy.types.Context, chains: Sequence[ChainName], frames: range, progress: Progress = iter) -> dict:
    """The report that `bake` would give, without writing a key. Raises ChainError as `bake` does."""
    bones_of = _checked(context, chains)
    start = perf_counter()
    with frame_kept(context.scene):
        samples = _sample(context, bones_of, frames, progress)
    records = [sample.record for sample in samples.values()]
    return publish(file_report(frames, perf_counter() - start, records))


def _checked(context: bpy.types.Context, chains: Sequence[ChainName]) -> dict[ChainName, list[str]]:
    """The bones of each chain; ChainError where a chain cannot be solved as it is set up."""
    depsgraph = context.evaluated_depsgraph_get()
    bones_of = {}
    for chain, limb in read_chains(list(chains), depsgraph).items():
        if isinstance(limb, ChainError):
            raise limb
        bones_of[chain] = [reading.name for reading in limb.bones]
    return bones_of


@contextmanager
def frame_kept(scene: bpy.types.Scene) -> Iterator[None]:
    """Afterwards the scene is at the frame again at which it was, whatever happens."""
    frame, subframe = scene.frame_current, scene.frame_subframe
    try:
        yield
    finally:
        scene.frame_set(frame, subframe=subframe)


def _sample(
    context: bpy.types.Context, bones_of: dict[ChainName, list[str]], frames: range, progress: Progress
) -> dict[ChainName, Samples]:
    """Go through the frames once and solve all chains at each, as the handlers would."""
    samples = {}
    for chain, names in bones_of.items():
        pose_bones = bpy.data.objects[chain.armature].pose.bones
        record, bones = ChainRecord(chain.armature, chain.tip), _turned_bones(chain, names)
        modes = [pose_bones[name].rotation_mode for name in bones]
        samples[chain] = Samples(record, names, bones, modes, scaled_bones(pose_bones[chain.tip]))
    with live.paused():
        for frame in progress(frames):
            context.scene.frame_set(frame)
            done = live.solve_scene(context.evaluated_depsgraph_get(), frame_changed=True)
            for chain, sample in samples.items():
                _take(sample, chain, frame, done)
    return samples


def _take(sample: Samples, chain: ChainName, frame: int, done: ScenePass) -> None:
    if chain in done.errors:
        raise ChainError(f"Frame {frame}: {done.errors[chain]}")
    posed = done.limbs.get(chain)
    bones = bpy.data.objects[chain.armature].pose.bones
    sample.limbs.append(posed)
    sample.fk_scales.append([recorded_fk(bones[name], SCALE) for name in sample.scaled])
    solved = {}
    if posed is not None:
        solved = dict(zip((reading.name for reading in posed.limb.turned), posed.rotations, strict=True))
        sample.record.add(frame, posed)
    sample.rotations.append(
        [
            solved.get(name) or recorded_fk(bones[name], mode)
            for name, mode in zip(sample.bones, sample.modes, strict=True)
        ]
    )


def _turned_bones(chain: ChainName, names: Sequence[str]) -> list[str]:
    """Names of all bones that a chain may turn: its own, `names`, and those on its end."""
    tip = bpy.data.objects[chain.armature].pose.bones[chain.tip]
    return [*names, *(bone.name for bone in possible_end_bones(tip))]


def _scales(ob: bpy.types.Object, samples: dict[ChainName, Samples]) -> dict[ChainName, Scales]:
    """The scales that each chain has to key: of its bones and its end bones, where they change at any frame.

    An end bone of one chain may be the root of another, which keys what both make of it.
    """
    scales: Scales = {}
    for sample in samples.values():
        ratios = [limb.stretch if limb else 1.0 for limb in sample.limbs]
        if any(ratio != 1.0 for ratio in ratios):
            rows = [factors([ob.data.bones[name] for name in sample.chain], ratio) for ratio in ratios]
            for k, name in enumerate(sample.scaled):
                before = scales.get(name, np.array([fk[k] for fk in sample.fk_scales]))
                scales[name] = before * np.array([[row[name]] for row in rows])
    in_chains = {name for sample in samples.values() for name in sample.chain}
    return {
        chain: {
            name: values
            for name, values in scales.items()
            if name in sample.chain or (name in sample.scaled and name not in in_chains)
        }
        for chain, sample in samples.items()
    }


def _keys(sample: Samples, scales: Scales, frames: range, tolerance: float) -> list[BoneKeys]:
    """A chain's keys: continuous numbers, and no more of them than the tolerance asks for."""
    rotations = [
        np.array(continuous([rotations[k] for rotations in sample.rotations], mode), np.float32)
        for k, mode in enumerate(sample.modes)
    ]
    times, needed = np.array(frames, np.float32), list(range(len(frames)))
    turned = {len(posed.limb.turned) if posed else 0 for posed in sample.limbs}
    if tolerance > 0.0 and turned == {len(sample.bones)}:
        needed = needed_frames(frames, sample.limbs, rotations, scales, tolerance)
    channels = [*zip(sample.bones, sample.modes, rotations, strict=True)]
    channels += [(name, SCALE, values) for name, values in scales.items()]
    return [
        BoneKeys(name, mode, times[needed], numbers[needed], (frames.start, frames.stop - 1))
        for name, mode, numbers in channels
    ]


def _carries(ob: bpy.types.Object, sample: Samples, samples: Iterable[Samples]) -> bool:
    """Whether another of the chains hangs from this one: its tip would stray with every key dropped here."""
    below = {bone.name for name in sample.chain for bone in ob.pose.bones[name].children_recursive}
    return any(other is not sample and other.chain[0] in below for other in samples)


def _hangs_on_live(ob: bpy.types.Object, sample: Samples, samples: Iterable[ChainName]) -> bool:
    """Whether a chain hangs on one that may stretch and is not baked: what that gives its root is in no key."""
    above = ob.pose.bones[sample.chain[0]].parent
    if above is None or not above.analytic_ik_enabled or above.name in (chain.tip for chain in samples):
        return False
    return may_stretch(above)


def continuous(rotations: Sequence[Raw], mode: str) -> list[Raw]:
    """The same rotations without sign flips and jumps by whole turns from one frame to the next."""
    numbers = [rotations[0]]
    for raw in rotations[1:]:
        numbers.append(raw_of(quaternion_of(raw, mode), mode, numbers[-1]))
    return numbers


def _finish(ob: bpy.types.Object, tip: str, bones: Sequence[str], scaled: Iterable[str], after: str) -> None:
    """The keys are the bones' FK pose now; what happens to the chain itself."""
    pose_bone = ob.pose.bones[tip]
    for name in bones:
        forget_fk(ob.pose.bones[name], ob.pose.bones[name].rotation_mode)
    for name in scaled:
        forget_fk(ob.pose.bones[name], SCALE)
    if after == "KEEP":
        return
    mute_switch(ob, pose_bone)
    if after == "MUTE":
        pose_bone.analytic_ik_enabled = False
    else:
        clear_settings(pose_bone)
