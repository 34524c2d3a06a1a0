"""What chains do over frames: sampled where F-Curves alone say where their controls are, else seen frame by frame."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import bpy
import numpy as np
from mathutils import Quaternion

from .. import messages
from ..rig import live
from ..rig.afterwards import moved_afterwards
from ..rig.armatures import armature_named
from ..rig.channels import SCALE, Raw, channel_of, quaternion_of, raw_of, raw_values
from ..rig.evaluating import evaluate
from ..rig.foot import possible_end_bones
from ..rig.lengthening import scaled_bones
from ..rig.limb import link_bones
from ..rig.order import ChainName
from ..rig.others import others_handle_frames
from ..rig.plan import Plan
from ..rig.sampling import Sampler
from ..rig.settings import settings_of
from ..rig.shown import Shown
from ..rig.solving import PosedLimb, ScenePass
from ..rig.states import States
from ..rig.steady import SteadyChain, animated_bones
from ..rig.tracks import EvaluatedPlaces, SeenPlaces, Track, TrackReader, errors_world, solve_tracks, track_joints
from ..solvers import ChainError
from .radar import flags_of_tracks
from .report import ChainRecord
from .stepping import GoTo, Steps, stepping, stepping_apart


@dataclass(slots=True)
class Motion:
    """What was seen of one chain. chain: its own bones, root first; bones: all that it turns, those on its end last.

    numbers: for each of the bones its rotation over the frames as numbers of its mode, (frames, width), continuous.
    scaled: bones whose scale the chain may set, its end bones among them; fk_scales: theirs, at each frame; stretches:
    how long the chain is there, its FK pose being 1; both empty for a chain that was not read frame by frame, which
    never scales. limbs: the chain at each frame, None where it was off; only where they are wanted, for they are large.
    """

    record: ChainRecord
    chain: list[str]
    bones: list[str]
    modes: list[str]
    scaled: list[str]
    wants_limbs: bool
    numbers: list[np.ndarray] = field(default_factory=list)
    fk_scales: list[list[Raw]] = field(default_factory=list)
    stretches: list[float] = field(default_factory=list)
    limbs: list[PosedLimb | None] = field(default_factory=list)


def collect(
    context: bpy.types.Context,
    plan: Plan,
    bones_of: dict[ChainName, list[str]],
    frames: range,
    each_frame: bool,
) -> Steps[dict[ChainName, Motion]]:
    """What chains of the context's scene do at `frames`, in steps.

    plan: how they are solved at present; bones_of: the names of each chain's own bones; each_frame: the chains are
    wanted as limbs. What is changed on the way is as before in the end, also after an exception. Raises ChainError
    where a chain cannot be solved at one of the frames.
    Errors are those that Blender shows while the chains are live. Where nothing moves a chain's bones after the
    solution, that is the solution's own error; else each frame is evaluated with the solution, and measured.
    """
    motions = {}
    for chain, names in bones_of.items():
        pose_bones = armature_named(chain.armature).pose.bones
        bones = turned_bones(chain, names)
        modes = [pose_bones[name].rotation_mode for name in bones]
        scaled = scaled_bones(pose_bones[chain.tip])
        record = ChainRecord(chain.armature, chain.tip, len(names))
        motions[chain] = Motion(record, names, bones, modes, scaled, each_frame)
    doubted, reasons = _doubted(context, plan, motions), plan.reasons(context.scene)
    alone = not others_handle_frames()
    steady = {
        chain: own
        for chain, own in plan.steady().items()
        if chain in motions and not each_frame and chain not in doubted
    }
    if not alone and len(steady) < len(motions):
        # What the others write at each frame could not be told from what a handler does.
        steady = {}
    tracks = _sampled({chain: own for chain, own in steady.items() if alone and not reasons[chain]}, frames)
    if len(steady) == len(motions) and alone:
        with stepping_apart(context, _objects_of(steady.values())) as go_to:
            if go_to is not None:
                tracks = _confirmed(steady, tracks, frames, go_to)
                yield from _see(steady, {}, tracks, frames, go_to, measured=False)
                # What turned out not to be steady at some frame is read anew at each.
                steady = {chain: own for chain, own in steady.items() if chain in tracks}
    while any(chain not in tracks and not motion.numbers for chain, motion in motions.items()):
        with stepping(context) as go_to:
            tracks = _confirmed(steady, tracks, frames, go_to)
            others = {chain: motion for chain, motion in motions.items() if chain not in steady and not motion.numbers}
            yield from _see(steady, others, tracks, frames, go_to, measured=bool(doubted))
        steady = {chain: own for chain, own in steady.items() if chain in tracks}
    return _solved(motions, steady, tracks, frames)


def _doubted(context: bpy.types.Context, plan: Plan, motions: dict[ChainName, Motion]) -> set[ChainName]:
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


def continuous(rotations: Sequence[Raw], mode: str) -> list[Raw]:
    """The same rotations without sign flips and jumps by whole turns from one frame to the next."""
    numbers = [rotations[0]]
    for raw in rotations[1:]:
        numbers.append(raw_of(quaternion_of(raw, mode), mode, numbers[-1]))
    return numbers


def _objects_of(chains: Iterable[SteadyChain]) -> Iterable[bpy.types.Object]:
    """Armature objects and controls."""
    for chain in chains:
        ob = _object(chain)
        tip = ob.pose.bones[chain.tip]
        yield from (each for each in (ob, tip.analytic_ik_target, tip.analytic_ik_pole_target) if each is not None)


def _object(chain: SteadyChain) -> bpy.types.Object:
    return armature_named(chain.armature)


def _sampled(chains: dict[ChainName, SteadyChain], frames: range) -> dict[ChainName, Track]:
    with Sampler(frames, in_bulk=True) as sampler:
        found = TrackReader(sampler, len(frames)).tracks([(_object(chain), chain) for chain in chains.values()])
    return {name: track for name, track in zip(chains, found, strict=True) if isinstance(track, Track)}


def _confirmed(
    chains: dict[ChainName, SteadyChain], tracks: dict[ChainName, Track], frames: range, go_to: GoTo
) -> dict[ChainName, Track]:
    """The sampled tracks that are as Blender evaluates them at the first, the middle and the last frame."""
    for k in {0, len(frames) // 2, len(frames) - 1} if tracks else ():
        places = EvaluatedPlaces(go_to(frames[k]))
        tracks = {
            name: track
            for name, track in tracks.items()
            if places.confirm(_object(chains[name]), chains[name], track.at(k))
        }
    return tracks


def _see(
    chains: dict[ChainName, SteadyChain],
    motions: dict[ChainName, Motion],
    tracks: dict[ChainName, Track],
    frames: range,
    go_to: GoTo,
    measured: bool,
) -> Steps[None]:
    """Go through the frames once, for what has no track yet.

    For steady chains that is seen; a chain of them that turns out not to be steady at all frames gets none. Of other
    `motions` the chains are solved at each frame, as the handlers would. measured: what they solved is evaluated, and
    the errors are measured on that.
    """
    missing = {name: (_object(chain), chain) for name, chain in chains.items() if name not in tracks}
    seen, kept = SeenPlaces(missing.values()), _Kept(missing)
    rotations: dict[ChainName, list[list[Raw]]] = {name: [] for name in motions}
    if not missing and not motions:
        return
    for done, frame in enumerate(frames, 1):
        depsgraph = go_to(frame)
        seen.see(depsgraph)
        if not motions:
            kept.see()
        else:
            solved = live.solve_scene(depsgraph, frame_changed=True)
            shown = None
            if measured:
                evaluate(depsgraph)
                shown = Shown(depsgraph)
            for name, motion in motions.items():
                rotations[name].append(_take(motion, name, frame, solved, shown))
        yield done, len(frames)
    missing = {name: own for name, own in missing.items() if name not in kept.changed}
    found = TrackReader(seen, len(frames)).tracks(missing.values()) if missing else []
    tracks |= {name: track for name, track in zip(missing, found, strict=True) if isinstance(track, Track)}
    for name, motion in motions.items():
        motion.numbers = [
            np.array(continuous([each[k] for each in rotations[name]], mode), np.float32)
            for k, mode in enumerate(motion.modes)
        ]


class _Kept:
    """What steady chains keep from frame to frame, unless a handler of another add-on changes it.

    changed: the chains of which something was changed.
    """

    def __init__(self, chains: Mapping[ChainName, tuple[bpy.types.Object, SteadyChain]]) -> None:
        self._chains = chains if others_handle_frames() else {}
        self._first = self._now()
        self.changed: set[ChainName] = set()

    def see(self) -> None:
        """Compare with how it was at first."""
        for name, now in self._now().items():
            if now != self._first[name]:
                self.changed.add(name)

    def _now(self) -> dict[ChainName, tuple]:
        found = {}
        for name, (ob, own) in self._chains.items():
            tip, bones = ob.pose.bones[own.tip], [ob.pose.bones[bone] for bone in own.bones]
            found[name] = settings_of(tip), [bone.matrix_basis.copy() for bone in bones]
        return found


def _take(motion: Motion, chain: ChainName, frame: int, done: ScenePass, shown: Shown | None) -> list[Raw]:
    """The rotations of a chain's bones as a pass over the scene left them. shown: to measure the error on."""
    if chain in done.errors:
        raise done.errors[chain].of(messages.FRAME(frame=frame))
    posed = done.limbs.get(chain)
    bones = armature_named(chain.armature).pose.bones
    motion.stretches.append(posed.stretch if posed is not None else 1.0)
    if motion.wants_limbs:
        motion.limbs.append(posed)
    motion.fk_scales.append([raw_values(bones[name], SCALE) for name in motion.scaled])
    solved = {}
    if posed is not None:
        solved = dict(zip((reading.name for reading in posed.limb.turned), posed.rotations, strict=True))
        error = shown.missed_world(armature_named(chain.armature), chain.tip) if shown else posed.error_world
        motion.record.add(frame, posed, error)
    return [
        solved.get(name) or raw_values(bones[name], mode) for name, mode in zip(motion.bones, motion.modes, strict=True)
    ]


def _solved(
    motions: dict[ChainName, Motion],
    steady: dict[ChainName, SteadyChain],
    tracks: dict[ChainName, Track],
    frames: range,
) -> dict[ChainName, Motion]:
    """The motions, with those of steady chains as their tracks make them."""
    try:
        solved = solve_tracks([steady[name] for name in tracks], list(tracks.values()))
    except ChainError as error:
        raise _named(steady, tracks, frames) or error from error
    keyed = [each.rotations.astype(np.float32).astype(float) for each in solved]
    joints = track_joints([steady[name] for name in tracks], keyed)
    errors = errors_world(list(tracks.values()), joints)
    flags = flags_of_tracks(frames, [steady[name] for name in tracks], list(tracks.values()), solved, joints)
    for name, each, missed, flagged in zip(tracks, solved, errors, flags, strict=True):
        motion, chain = motions[name], steady[name]
        motion.numbers = [
            _numbers(each.rotations[:, k], mode, fk)
            for k, (mode, fk) in enumerate(zip(chain.modes, chain.fk, strict=True))
        ]
        motion.record.add_track(frames, chain, tracks[name], each, missed, flagged)
    return motions


def _named(steady: dict[ChainName, SteadyChain], tracks: dict[ChainName, Track], frames: range) -> ChainError | None:
    """The error of the first frame and chain that cannot be solved."""
    for k, frame in enumerate(frames):
        for name, track in tracks.items():
            try:
                steady[name].solve(track.at(k))
            except ChainError as error:
                names = {"frame": frame, "bone": name.tip, "armature": name.armature}
                return ChainError(messages.FRAME_UNSOLVED(**names, refusal=error))
    return None


def _numbers(rotations: np.ndarray, mode: str, fk: Raw) -> np.ndarray:
    """Local rotations (frames, 4) as continuous numbers of a mode, the first ones next to the FK rotation."""
    if mode != "QUATERNION":
        first = raw_of(Quaternion(rotations[0]), mode, fk)
        numbers = [first]
        for rotation in rotations[1:]:
            numbers.append(raw_of(Quaternion(rotation), mode, numbers[-1]))
        return np.array(numbers, np.float32).reshape(-1, channel_of(mode)[1])
    flips = np.empty(len(rotations))
    flips[0] = rotations[0] @ np.array(fk)
    flips[1:] = (rotations[1:] * rotations[:-1]).sum(axis=1)
    signs = np.cumprod(np.where(flips < 0.0, -1.0, 1.0))
    return (rotations * signs[:, None]).astype(np.float32)
