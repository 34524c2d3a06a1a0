"""What chains do over frames: sampled where F-Curves tell all, else seen frame by frame."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import bpy
import numpy as np
from mathutils import Vector

from .. import messages
from ..rig.blender.armatures import armature_named
from ..rig.blender.rotations import LOCATION, SCALE, Raw, continuous, continuous_numbers, raw_values
from ..rig.blender.sampling import Sampler
from ..rig.data.settings import body_settings_of, settings_of
from ..rig.live import handlers as live
from ..rig.live.handler_lists import others_handle_frames
from ..rig.live.scene_plan import ScenePlan
from ..rig.model.body import body_channels
from ..rig.model.foot import possible_end_bones
from ..rig.model.limb import link_bones, missed_world, scaled_bones
from ..rig.model.limb_model import FkTrack, LimbModel, animated_bones, joints_of, posed
from ..rig.model.order import ChainName, objects_of
from ..rig.pose.planned import asked_now, is_confirmed
from ..rig.pose.posing import Channel, loans
from ..rig.pose.reading import SceneReader
from ..rig.pose.solving import PlannedChain, ScenePass
from ..rig.pose.track_reading import SeenPlaces, TrackReader, same_wishes
from ..rig.pose.track_solving import PoseTrack, Reading, errors_world, solve_each
from ..rig.status.states import States, moved_afterwards
from ..solvers import ChainError
from .limb_keys import ShownChain
from .report import ChainRecord, Course, course_at, course_of, joined
from .stepping import GoTo, Steps, stepping, stepping_apart

_SAME_END = 1e-4
"""Of a chain's length: from where its FK pose was found to end to where Blender has it, for rounding."""
FEWEST_SAMPLED = 4
"""Frames. Fewer are quicker stepped through than looked at at three of them."""


_Poses = dict[ChainName, PoseTrack | ChainError]


@dataclass(slots=True)
class Motion:
    """What was seen of one chain. chain: its own bones, root first; bones: all that it turns, those on its end last.

    numbers: for each of the bones its rotation over the frames as numbers of its mode, (frames, width), continuous.
    scaled: bones whose scale the chain may set, its end bones among them; fk_scales: theirs, (frames or 1, 3) each;
    stretches: how long the chain is at each frame, its FK pose being 1. carried: the channels, name and mode, of bones
    that follow it and chains that come after it here; places: the numbers of each, (frames, 3 or 4). shown: the chain
    as arrays; None where it was read whole at each frame.
    """

    record: ChainRecord
    chain: list[str]
    bones: list[str]
    modes: list[str]
    scaled: list[str]
    carried: list[Channel]
    numbers: list[np.ndarray] = field(default_factory=list)
    fk_scales: Sequence[np.ndarray] = ()
    stretches: np.ndarray = field(default_factory=lambda: np.ones(1))
    places: Sequence[np.ndarray] = ()
    shown: ShownChain | None = None


def collect(
    context: bpy.types.Context,
    plan: ScenePlan,
    bones_of: dict[ChainName, list[str]],
    frames: range,
) -> Steps[dict[ChainName, Motion]]:
    """What chains of the context's scene do at `frames`, in steps.

    plan: how they are solved at present; bones_of: the names of each chain's own bones. What is changed on the way is
    as before in the end, also after an exception. Raises ChainError where a chain cannot be solved at one of the
    frames.
    Errors are those that Blender shows while the chains are live. Where nothing moves a chain's bones after the
    solution, that is the solution's own error; else each frame is evaluated with the solution, and measured.
    """
    motions = {chain: _motion(chain, plan, bones_of) for chain in bones_of}
    doubted, reasons = _doubted(context, plan, motions), plan.reasons(context.scene)
    alone = not others_handle_frames()
    possible = plan.planned()
    certain = {chain for chain in motions.keys() - doubted if not plan.is_switched(chain)}
    # Keys that cannot be sampled are seen with the chain.
    planned = {
        chain: own for chain, own in possible.items() if chain in certain and (own.model.is_still or not reasons[chain])
    }
    if not alone and len(planned) < len(motions):
        # What the others write at each frame could not be told from what a handler does.
        planned = {}
    planned = _whole(planned)
    poses: _Poses = {}
    readings = _sampled(
        {chain: own for chain, own in planned.items() if alone and not reasons[chain]}, len(frames), Sampler(frames)
    )
    readings = _whole(_sure(readings, poses))
    planned = _whole({chain: own for chain, own in planned.items() if not isinstance(poses.get(chain), ChainError)})
    if len(planned) == len(motions) and alone:
        tips = [armature_named(name.armature).pose.bones[name.tip] for name in planned]
        with stepping_apart(context, [each for tip in tips for each in objects_of(tip)]) as go_to:
            if go_to is not None:
                readings = _confirmed(planned, readings, frames, go_to)
                yield from _see(planned, {}, readings, poses, frames, go_to, measured=False)
                # What turned out not to hold at some frame is read anew at each.
                planned = {chain: own for chain, own in planned.items() if chain in readings}
    while any(chain not in readings and not motion.numbers for chain, motion in motions.items()):
        with stepping(context) as go_to:
            readings = _confirmed(planned, readings, frames, go_to)
            others = {chain: motion for chain, motion in motions.items() if chain not in planned and not motion.numbers}
            yield from _see(planned, others, readings, poses, frames, go_to, measured=bool(doubted))
        planned = {chain: own for chain, own in planned.items() if chain in readings}
    return _solved(motions, readings, poses, frames)


def _motion(chain: ChainName, plan: ScenePlan, bones_of: dict[ChainName, list[str]]) -> Motion:
    names, pose_bones = bones_of[chain], armature_named(chain.armature).pose.bones
    bones = turned_bones(chain, names)
    modes = [pose_bones[name].rotation_mode for name in bones]
    record = ChainRecord(chain.armature, chain.tip, len(names))
    bodies = [body.tip for body, limbs in plan.limbs.items() if limbs[0] == chain and bones_of.keys() >= {*limbs}]
    carried = [(body, mode) for body in bodies for mode in body_channels(pose_bones[body])]
    return Motion(record, names, bones, modes, scaled_bones(pose_bones[chain.tip]), carried)


def _doubted(context: bpy.types.Context, plan: ScenePlan, motions: dict[ChainName, Motion]) -> set[ChainName]:
    """The chains of the scene that may end elsewhere than they are solved to: only Blender knows where."""
    turned = plan.turned() | {chain: [*motion.chain, *motion.bones] for chain, motion in motions.items()}
    # A handler may switch any constraint on.
    doubted = moved_afterwards(turned, with_idle=others_handle_frames())
    # What else moves one is seen where it stands just now.
    depsgraph, states = context.evaluated_depsgraph_get(), {}
    for chain in motions.keys() - doubted:
        if chain.armature not in states:
            states[chain.armature] = States(armature_named(chain.armature), depsgraph)
        if states[chain.armature].of(chain.tip).kind == "ELSEWHERE":
            doubted.add(chain)
    return doubted


def turned_bones(chain: ChainName, names: Sequence[str]) -> list[str]:
    """Names of the bones whose rotation a bake keys: those that a chain may turn, then the animated ones that it keeps.

    names: of the chain's own bones, root first.
    """
    ob = armature_named(chain.armature)
    turned = [bone.name for bone in link_bones([ob.pose.bones[name] for name in names])]
    ends = [bone.name for bone in possible_end_bones(ob.pose.bones[chain.tip])]
    kept = [name for name in names if name not in turned and name in animated_bones(ob)]
    return [*turned, *ends, *kept]


_Chain = TypeVar("_Chain", PlannedChain, Reading)


def _whole(chains: dict[ChainName, _Chain]) -> dict[ChainName, _Chain]:
    """The chains but for those that move with a bone of which not all limbs are among them: it follows all of them."""
    limbs = {name: own.model.body.limbs if own.model.body else () for name, own in chains.items()}
    return {
        name: own
        for name, own in chains.items()
        if all(ChainName(name.armature, limb) in chains for limb in limbs[name])
    }


def _sampled(chains: dict[ChainName, PlannedChain], count: int, sampler: Sampler) -> dict[ChainName, Reading]:
    reader = TrackReader(sampler, count)
    found = reader.readings((armature_named(name.armature), own) for name, own in chains.items())
    return {name: reading for name, reading in zip(chains, found, strict=True) if isinstance(reading, Reading)}


def sampled_over(
    context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone], frames: range, sampler: Sampler
) -> dict[ChainName, Reading] | None:
    """The chains of these tips over frames, all from F-Curves; None where these do not tell all of them.

    That is so where something else has a part in one of them: constraints, drivers, other chains, a body that follows.
    sampler: for these frames.
    """
    sampled = sampled_chains(context, tips, len(frames), sampler) if len(frames) >= FEWEST_SAMPLED else None
    return sampled.readings if sampled is not None and sampled.is_confirmed(context, tips, frames) else None


def sampled_chains(
    context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone], count: int, sampler: Sampler
) -> "SampledChains | None":
    """The same over `count` frames of a sampler, to be confirmed where they play."""
    plan, scene = live.plan_of(context), context.scene
    names = [ChainName(tip.id_data.name_full, tip.name) for tip in tips]
    planned, reasons = plan.planned(), plan.reasons(scene)
    if others_handle_frames():
        return None
    # That others play the same keys is a reason not to silence them, and none not to read them.
    fine = {"", *(messages.KEYS_SHARED(object=tip.id_data.name) for tip in tips)}
    if any(name not in planned or reasons[name] not in fine or planned[name].model.body for name in names):
        return None
    chains = {name: planned[name] for name in names}
    readings = _sampled(chains, count, sampler)
    # What is no number is told by whoever steps through the frames.
    sound = len(readings) == len(chains) and all(own.sound.all() for own in readings.values())
    return SampledChains(chains, readings) if sound else None


@dataclass(frozen=True, slots=True)
class SampledChains:
    """Chains as they were planned, and as they were sampled."""

    chains: dict[ChainName, PlannedChain]
    readings: dict[ChainName, Reading]

    def is_confirmed(
        self, context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone], frames: range, start: int = 0
    ) -> bool:
        """Whether Blender evaluates these tips as sampled at the first, the middle and the last of these frames, which
        play. start: the row of the first one."""
        with stepping_apart(context, [each for tip in tips for each in objects_of(tip)]) as go_to:
            if go_to is None:
                return False
            for k in _compared(frames):
                depsgraph, row = go_to(frames[k]), start + k
                confirmed = _confirmed_at(self.chains, self.readings, row, depsgraph)
                ends = (_ends_there(own, row, depsgraph) for own in self.readings.values())
                if len(confirmed) < len(self.chains) or not all(ends):
                    return False
            return True


def _ends_there(reading: Reading, k: int, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether the FK pose of a chain at one of its rows ends where Blender evaluates it."""
    model, tracks = reading.model, (reading.goal.to_world, reading.fk.heads, reading.fk.end)
    world, heads, end = (rows[min(k, len(rows) - 1)] for rows in tracks)
    joints = np.array([*(heads[link] for link in model.links), end])
    evaluated = armature_named(model.armature).evaluated_get(depsgraph)
    seen = np.array(evaluated.matrix_world @ evaluated.pose.bones[model.tip].matrix @ Vector(model.end))
    joints = joints @ world[:3, :3].T + world[:3, 3]
    length = np.linalg.norm(np.diff(joints, axis=0), axis=1).sum()
    return bool(np.linalg.norm(seen - joints[-1]) < _SAME_END * (length + np.abs(seen).max()))


def _sure(readings: dict[ChainName, Reading], poses: _Poses) -> dict[ChainName, Reading]:
    """The readings but for those of chains with limits that have to be read whole at some frame; what chains with
    limits do is added to `poses`."""
    limited = {name: reading for name, reading in readings.items() if reading.model.is_limited}
    poses |= zip(limited, solve_each([*limited.values()]), strict=True)
    return {name: own for name, own in readings.items() if not isinstance(poses.get(name), ChainError)}


def _confirmed(
    chains: dict[ChainName, PlannedChain], readings: dict[ChainName, Reading], frames: range, go_to: GoTo
) -> dict[ChainName, Reading]:
    """The sampled readings that are as Blender evaluates them at the first, the middle and the last frame."""
    for k in _compared(frames) if readings else ():
        readings = _confirmed_at(chains, readings, k, go_to(frames[k]))
    return _whole(readings)


def _compared(frames: range) -> list[int]:
    return sorted({0, len(frames) // 2, len(frames) - 1})


def _confirmed_at(
    chains: dict[ChainName, PlannedChain], readings: dict[ChainName, Reading], k: int, depsgraph: bpy.types.Depsgraph
) -> dict[ChainName, Reading]:
    """The sampled readings that are as this has been evaluated at a row of them."""
    scene, groups, confirmed = SceneReader(depsgraph), {}, {}
    for name, reading in readings.items():
        # Where chains that move with a body are wanted is known once all of them are read.
        body = reading.model.body
        groups.setdefault((name.armature, body.name) if body else name, []).append(name)
    for names in groups.values():
        reader, name = scene.armature(armature_named(names[0].armature)), names[0]
        if readings[name].model.body is None:
            # Where it shall go is told without its FK pose.
            if is_confirmed(reader, chains[name], readings[name].goal.at(k)):
                confirmed[name] = readings[name]
            continue
        try:
            asked = asked_now(reader, [chains[name] for name in names])
        except ChainError:
            continue
        for name, own in zip(names, asked, strict=True):
            if same_wishes(readings[name].goal.at(k), own.wishes, chains[name].chain.length):
                confirmed[name] = readings[name]
    return confirmed


def _see(
    chains: dict[ChainName, PlannedChain],
    motions: dict[ChainName, Motion],
    readings: dict[ChainName, Reading],
    poses: _Poses,
    frames: range,
    go_to: GoTo,
    measured: bool,
) -> Steps[None]:
    """Go through the frames once, for what has no reading yet.

    For planned chains that is seen; a chain of them whose model does not hold at all frames gets none. Of other
    `motions` the chains are solved at each frame, as the handlers would. measured: what they solved is evaluated, and
    the errors are measured on that.
    """
    missing = {name: (armature_named(name.armature), own.model) for name, own in chains.items() if name not in readings}
    seen, kept = SeenPlaces(missing.values(), Sampler(frames)), _Kept(missing)
    taken: dict[ChainName, list[_Taken]] = {name: [] for name in motions}
    if not missing and not motions:
        return
    for done, frame in enumerate(frames, 1):
        depsgraph = go_to(frame)
        seen.see(depsgraph)
        if not motions:
            kept.see()
        else:
            solved = live.solve_scene(depsgraph, frame_changed=True)
            if measured:
                loans.evaluate(depsgraph)
            shown = SceneReader(depsgraph) if measured else None
            for name, motion in motions.items():
                taken[name].append(_take(motion, name, frame, solved, shown))
        yield done, len(frames)
    sure = [(ob, chains[name]) for name, (ob, _) in missing.items() if name not in kept.changed]
    found = TrackReader(seen, len(frames)).readings(sure)
    found = {ChainName(own.model.armature, own.model.tip): own for own in found if isinstance(own, Reading)}
    readings |= _whole(_sure(found, poses))
    for name, motion in motions.items():
        rotations, scales, stretches, places, courses = zip(*taken[name], strict=True)
        motion.numbers = [
            continuous_numbers([each[k] for each in rotations], mode) for k, mode in enumerate(motion.modes)
        ]
        motion.fk_scales, motion.stretches = [*np.array(scales).swapaxes(0, 1)], np.array(stretches)
        channels = zip(motion.carried, zip(*places, strict=True), strict=True)
        motion.places = [
            np.array(own) if mode == LOCATION else continuous_numbers(own, mode) for (_, mode), own in channels
        ]
        if any(courses):
            motion.record.course = joined([each for each in courses if each])


class _Kept:
    """What planned chains keep from frame to frame, unless a handler of another add-on changes it.

    changed: the chains of which something was changed.
    """

    def __init__(self, chains: Mapping[ChainName, tuple[bpy.types.Object, LimbModel]]) -> None:
        self._chains = chains if others_handle_frames() else {}
        self._first = self._now()
        self.changed: set[ChainName] = set()

    def see(self) -> None:
        for name, now in self._now().items():
            if now != self._first[name]:
                self.changed.add(name)

    def _now(self) -> dict[ChainName, tuple]:
        found = {}
        for name, (ob, own) in self._chains.items():
            tip, bones = ob.pose.bones[own.tip], [ob.pose.bones[bone] for bone in own.touched]
            body = body_settings_of(ob.pose.bones[own.led.name]) if own.led else None
            found[name] = settings_of(tip), body, [bone.matrix_basis.copy() for bone in bones]
        return found


_Taken = tuple[list[Raw], list[Raw], float, list[Raw], Course | None]
"""Of one frame: the rotations of a chain's bones, the FK scales of those that it may scale, its stretch, the numbers
of the channels of bones that follow it; None: off."""


def _take(motion: Motion, chain: ChainName, frame: int, done: ScenePass, shown: SceneReader | None) -> _Taken:
    """What a chain did as a pass over the scene left it. shown: to measure the error on."""
    if chain in done.errors:
        raise done.errors[chain].of(messages.FRAME(frame=frame))
    posed, ob = done.limbs.get(chain), armature_named(chain.armature)
    bones, solved, course = ob.pose.bones, {}, None
    if posed is not None:
        solved = dict(zip((reading.name for reading in posed.limb.turned), posed.rotations, strict=True))
        reader = shown.armature(ob) if shown else None
        error = missed_world(reader.tip(chain.tip), reader.limb(chain.tip)) if reader else posed.error_world
        course, motion.record.solver = course_at(frame, posed, error), posed.limb.solver
    rotations = (
        solved.get(name) or raw_values(bones[name], mode) for name, mode in zip(motion.bones, motion.modes, strict=True)
    )
    scales = [raw_values(bones[name], SCALE) for name in motion.scaled]
    bodies = ((done.bodies.get(ChainName(chain.armature, name)), name, mode) for name, mode in motion.carried)
    places = [body.channels[mode] if body else raw_values(bones[name], mode) for body, name, mode in bodies]
    return [*rotations], scales, posed.stretch if posed else 1.0, places, course


def _solved(
    motions: dict[ChainName, Motion], readings: dict[ChainName, Reading], known: _Poses, frames: range
) -> dict[ChainName, Motion]:
    """The motions, with those of planned chains as their readings make them. known: those solved before."""
    others = [name for name in readings if name not in known]
    solved = known | dict(zip(others, solve_each([readings[name] for name in others]), strict=True))
    # The first frame, and there the first chain.
    for name in sorted(readings, key=lambda name: readings[name].sound.argmin()):
        error, frame = solved[name], frames[readings[name].sound.argmin()]
        if isinstance(error, ChainError):
            names = {"frame": frame, "bone": name.tip, "armature": name.armature}
            raise ChainError(messages.FRAME_UNSOLVED(**names, refusal=error)) from error
    for name, reading in readings.items():
        motion, model, pose = motions[name], reading.model, solved[name]
        motion.numbers = [_numbers(reading, pose, motion, k) for k in range(len(motion.bones))]
        scales = dict(zip((bone for bone, _ in model.scaled), reading.fk.lengthening, strict=True))
        motion.fk_scales, motion.stretches = [scales[bone] for bone in motion.scaled if scales], pose.stretches
        if reading.body and motion.carried:
            motion.places = [np.broadcast_to(reading.body.locations, (reading.count, 3)).astype(np.float32)]
        fk = shown_track(reading, pose)
        size = armature_named(model.armature).matrix_world.median_scale
        units = np.linalg.norm(reading.goal.to_world[:, :3, 1], axis=1) / size
        motion.shown = ShownChain(model, fk, units)
        course = course_of(frames, reading, pose, joints_of(model, fk), errors_world(reading, fk.end, pose))
        motion.record.course, motion.record.solver = course, model.solver
    return motions


def shown_track(reading: Reading, pose: PoseTrack) -> FkTrack:
    """The chain as Blender will show it: its rotations are numbers of single precision."""
    return posed(reading.model, reading.fk, pose.rotations.astype(np.float32).astype(float), pose.stretches)


def _numbers(reading: Reading, pose: PoseTrack, motion: Motion, k: int) -> np.ndarray:
    """The numbers (frames, 3 or 4) of one of the bones that a bake keys, continuous, the first ones next to FK."""
    model, fk, place = reading.model, reading.fk, reading.model.bones.index(motion.bones[k])
    first = fk.numbers[place]
    turned = place in model.turned
    turns = pose.rotations[:, model.turned.index(place)] if turned else fk.rotations[:, place]
    numbers = continuous(np.broadcast_to(turns, (reading.count, 4)), motion.modes[k], first[0])
    if turned and pose.at_fk.any():
        numbers = np.where(pose.at_fk[:, None], first, numbers)
    return numbers.astype(np.float32)
