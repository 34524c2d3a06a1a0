"""One character, as a user takes it: imported, rigged by one click, its controls moved, baked; and measured throughout.

`python -m benchmarks.character.trial JSON`, with the arguments of `tried`, prints the row of one character.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil, cos, floor, pi, sin
from time import perf_counter

import bpy
import numpy as np
from mathutils import Matrix, Vector

import ik_addon

from .files import armature_of, select_bones
from .oracle import (
    Limb,
    Motion,
    farthest,
    jumps,
    limb_of,
    most_turned,
    place_world,
    played,
    played_with,
    shown,
    turns,
    uneven,
)

RESULT, BEGINS = "RESULT ", "The add-on begins."
"""Before a row on stdout; and on stderr, after what an importer wrote there."""
LIFT = 0.1
"""How far controls are raised, in lengths of their limb."""
SWAY, SWAY_FRAMES = 0.05, range(1, 49)
"""How far a body without keys is moved, in lengths of its first limb, and on which frames."""
FLIP = 30.0
"""By how many degrees more than before a bone turns from one frame to the next where a limb flips."""
UNEVEN = 1e-3
"""Difference between the scales of a bone's axes that is worth a word."""

Row = dict[str, object]
Place = tuple[bpy.types.Object, str]


@dataclass(frozen=True)
class Chain:
    """A live chain: its limb, and the tip bone that holds its settings. length: of the limb, in world units."""

    tip: bpy.types.PoseBone
    limb: Limb
    length: float

    @property
    def control(self) -> Place:
        """The target: an object, and the name of its bone or ""."""
        return self.tip.analytic_ik_target, self.tip.analytic_ik_subtarget

    def follow(self, control: bpy.types.Object, bone: str = "") -> None:
        """Have the chain follow another target."""
        self.tip.analytic_ik_target, self.tip.analytic_ik_subtarget = control, bone


def tried(source: str, option: str, arms: bool = False, most: int = 120, clip: str = "") -> Row:
    """What becomes of one character.

    source, option: see `files`. arms: rig arms too. most: frames to measure. clip: a part of the name of the clip to
    play; "": the one that the importer left active.
    """
    ob = armature_of(source, option)
    if ob is None:
        return {"refused": "The file has no armature."}
    if clip:
        _play(ob, clip)
    print(BEGINS, file=sys.stderr, flush=True)
    frames = _frames(ob, most)
    untouched = played(ob, frames)
    bpy.context.scene.frame_set(frames[0])
    row: Row = {"armature": ob.name, "bones": len(ob.data.bones), "frames": len(frames), "errors": [], "seconds": {}}
    held, begun = _counts(), perf_counter()
    try:
        bpy.ops.analytic_ik.rig_legs(arms=arms)
    except RuntimeError as error:
        row["refused"], row["left behind"] = _sentence(error), _counts() != held
        return row
    row["seconds"]["rig"] = perf_counter() - begun
    chains = _chains(ob, untouched)
    shortest = min(chain.length for chain in chains)
    row["limbs"] = [_words(chain.limb) for chain in chains]
    row["links"] = max(len(chain.limb.rigid) - sum(chain.limb.rigid) for chain in chains)
    now, before = shown(ob), _at(untouched, 0)
    row["moved"], row["turned"] = farthest(now, before) / shortest, most_turned(now, before)
    row |= _controls(chains, now)
    if uneven(untouched, [bone for chain in chains for bone in (*chain.limb.bones, chain.limb.end) if bone]) > UNEVEN:
        row["uneven"] = True
    _measure_clip(ob, chains, untouched, shortest, row)
    if len(frames) == 1:
        frames = SWAY_FRAMES
        _sway(ob, chains)
    _measure_controls(ob, chains, untouched, frames, row)
    return row


def _measure_clip(ob: bpy.types.Object, chains: Sequence[Chain], untouched: Motion, length: float, row: Row) -> None:
    """How well the chains carry the clip, after rigging and after snapping where rigging left the controls still."""
    frames = untouched.frames
    if len(frames) == 1:
        row["snap by"] = "still"
        return
    rigged = played(ob, frames)
    row["moved over the clip"] = farthest(rigged, untouched) / length
    row["snap by"] = "rig"
    if not all(_is_keyed(chain.control) for chain in chains):
        row["snap by"] = "snap"
        select_bones(ob, *(chain.tip.name for chain in chains))
        span = {"frame_start": frames[0], "frame_end": frames[-1], "frame_step": _step(frames)}
        if not _done(row, "snap", lambda: bpy.ops.analytic_ik.snap_targets(use_range=True, **span)):
            return
        rigged = played(ob, frames)
    row["snap"], row["snap degrees"] = farthest(rigged, untouched) / length, most_turned(rigged, untouched)


def _measure_controls(
    ob: bpy.types.Object, chains: Sequence[Chain], untouched: Motion, frames: Sequence[int], row: Row
) -> None:
    """What the limbs do when their controls are held still, when they are raised, and when that is baked.

    untouched: as imported, on these frames, or on the one that there is.
    """
    if len(untouched.frames) < len(frames):
        untouched = Motion(tuple(frames), untouched.names, np.repeat(untouched.world, len(frames), axis=0))
    before, places = played_with(ob, frames, [chain.control for chain in chains])
    for chain, place in zip(chains, places, strict=True):
        chain.follow(_stand_in(place[_best_still(chain.limb, before)][None], frames[:1]))
    held = played(ob, frames)
    row["hold"], row["hold frames"] = _worst(_held(chain, held) for chain in chains)

    raised = places.copy()
    for chain, place in zip(chains, raised, strict=True):
        place[:, 2, 3] += LIFT * chain.length
        chain.follow(_stand_in(place, frames))
    lifted = played(ob, frames)
    lifts = [_Lift.of(chain, untouched, before) for chain in chains]
    row["lift"], row["lift frames"] = _worst(lift.missed(lifted) for lift in lifts)
    turned = [lift.foot_turned(lifted) for lift in lifts]
    row["foot degrees"] = max((degrees for degrees in turned if degrees is not None), default=None)
    row["flips"] = sum(lift.flips(lifted) for lift in lifts)

    span = {"frame_start": frames[0], "frame_end": frames[-1], "frame_step": _step(frames)}
    if _done(row, "bake", lambda: bpy.ops.analytic_ik.bake(**span)):
        with _without_the_add_on():
            row["bake"] = farthest(played(ob, frames), lifted) / min(chain.length for chain in chains)


@dataclass(frozen=True)
class _Lift:
    """What is asked of a limb whose control is raised.

    untouched: the motion that it had without a chain. wanted: world positions of its end, shape (frames, 3). inside:
    which of them are in reach.
    """

    chain: Chain
    untouched: Motion
    wanted: np.ndarray
    inside: np.ndarray

    @classmethod
    def of(cls, chain: Chain, untouched: Motion, before: Motion) -> "_Lift":
        wanted = chain.limb.ends(untouched) + np.array([0.0, 0.0, LIFT * chain.length])
        return cls(chain, untouched, wanted, chain.limb.in_reach(before, wanted))

    def missed(self, lifted: Motion) -> tuple[float, int]:
        """How far the end is from where it should be, in lengths; and on how many frames that is in reach."""
        missed = np.linalg.norm(self.chain.limb.ends(lifted) - self.wanted, axis=1)[self.inside]
        return float(missed.max(initial=-1.0)) / self.chain.length, missed.size

    def foot_turned(self, lifted: Motion) -> float | None:
        """How far the foot has turned, in degrees; None if none follows the control."""
        foot = self.chain.limb.end
        if not foot or not self.chain.tip.analytic_ik_use_rotation or not self.inside.any():
            return None
        return float(turns(lifted.of(foot), self.untouched.of(foot))[self.inside].max())

    def flips(self, lifted: Motion) -> int:
        """From how many frames to the next the limb jumps where it did not before."""
        jumped = np.max([jumps(lifted, self.untouched, name) for name in self.chain.limb.bones], axis=0) > FLIP
        return int((jumped & self.inside[1:] & self.inside[:-1]).sum())


def _held(chain: Chain, held: Motion) -> tuple[float, int]:
    """How far a limb's end strays under a still control, in lengths; and on how many frames that is in reach."""
    ends = chain.limb.ends(held)
    at = place_world(*chain.control)[:3, 3]
    ends = ends[chain.limb.in_reach(held, np.broadcast_to(at, ends.shape))]
    if len(ends) < 2:
        return -1.0, len(ends)
    middle = 0.5 * (ends.min(axis=0) + ends.max(axis=0))
    return 2.0 * float(np.linalg.norm(ends - middle, axis=1).max()) / chain.length, len(ends)


def _best_still(limb: Limb, motion: Motion) -> int:
    """On which frame a limb's end is where it is in reach on most of the frames."""
    ends = limb.ends(motion)
    return int(np.argmax([limb.in_reach(motion, np.broadcast_to(end, ends.shape)).sum() for end in ends]))


def _controls(chains: Sequence[Chain], now: Motion) -> Row:
    """How far controls are from their limbs' ends at most, and their sizes, in lengths of the limbs."""
    away, sizes = [], []
    for chain in chains:
        control, bone = chain.control
        world = place_world(control, bone)
        away.append(float(np.linalg.norm(world[:3, 3] - chain.limb.ends(now)[0])) / chain.length)
        drawn = control.data.bones[bone].length if bone else control.empty_display_size
        sizes.append(drawn * Matrix(world).median_scale / chain.length)
    return {"control": max(away), "smallest": min(sizes), "largest": max(sizes)}


def _chains(ob: bpy.types.Object, motion: Motion) -> list[Chain]:
    """The live chains of an armature, as long as they are in a motion."""
    chains = []
    for tip in ob.pose.bones:
        if tip.analytic_ik_enabled:
            count = tip.analytic_ik_chain_count
            bones = [bone.name for bone in (tip, *tip.parent_recursive)][: count or None]
            limb = limb_of(ob, bones[::-1], tip.analytic_ik_end_bone)
            chains.append(Chain(tip, limb, limb.length(motion)))
    return chains


def _stand_in(places: np.ndarray, frames: Sequence[int]) -> bpy.types.Object:
    """An Empty that is at places on frames, by keys as a user sets them; at one place without keys."""
    empty = bpy.data.objects.new("stand-in", None)
    bpy.context.scene.collection.objects.link(empty)
    empty.rotation_mode = "QUATERNION"
    for frame, place in zip(frames, places, strict=True):
        empty.matrix_world = Matrix(place)
        if len(frames) > 1:
            for channel in ("location", "rotation_quaternion", "scale"):
                empty.keyframe_insert(channel, frame=frame)
    return empty


def _sway(ob: bpy.types.Object, chains: Sequence[Chain]) -> None:
    """Keys that move a body which has none: the nearest bone that carries all limbs, else the object."""
    above = [chain.limb.bones[0] for chain in chains]
    carried = [{bone.name for bone in ob.pose.bones[name].parent_recursive} for name in above]
    movable = [
        bone
        for bone in ob.pose.bones[above[0]].parent_recursive
        if all(bone.name in names for names in carried) and not bone.bone.use_connect
    ]
    owner = movable[0] if movable else ob
    size = SWAY * chains[0].length / (ob.matrix_world.median_scale if movable else 1.0)
    start = owner.location.copy()
    for frame in SWAY_FRAMES:
        phase = 2.0 * pi * frame / len(SWAY_FRAMES)
        owner.location = start + size * Vector((sin(phase), cos(phase) - 1.0, sin(2.0 * phase)))
        owner.keyframe_insert("location", frame=frame)


def _frames(ob: bpy.types.Object, most: int) -> range:
    """Frames of what an armature plays, evenly chosen; the current one alone without keys."""
    data, now = ob.animation_data, bpy.context.scene.frame_current
    if data is None or data.action is None:
        return range(now, now + 1)
    first, last = ceil(data.action.frame_range[0]), floor(data.action.frame_range[1])
    return range(first, last + 1, max(1, ceil((last + 1 - first) / most))) or range(first, first + 1)


def _play(ob: bpy.types.Object, clip: str) -> None:
    """Make the first action whose name holds this the armature's own, if there is one."""
    action = next((action for action in bpy.data.actions if clip.lower() in action.name.lower()), None)
    if action is not None:
        ob.animation_data_create().action = action


def _counts() -> tuple[int, ...]:
    """How much the file holds of what rigging may add."""
    tips = sum(bone.analytic_ik_enabled for ob in bpy.data.objects if ob.pose for bone in ob.pose.bones)
    return len(bpy.data.objects), len(bpy.data.collections), len(bpy.data.actions), tips


def _step(frames: Sequence[int]) -> int:
    return frames[1] - frames[0] if len(frames) > 1 else 1


def _at(motion: Motion, index: int) -> Motion:
    """One frame of a motion."""
    return Motion(motion.frames[index : index + 1], motion.names, motion.world[index : index + 1])


def _is_keyed(control: Place) -> bool:
    data = control[0].animation_data
    return data is not None and data.action is not None


def _done(row: Row, name: str, act: Callable[[], object]) -> bool:
    """Whether an operator did its work; its time and its refusal go into the row."""
    begun = perf_counter()
    try:
        act()
    except RuntimeError as error:
        row["errors"].append(f"{name}: {_sentence(error)}")
        return False
    row["seconds"][name] = perf_counter() - begun
    return True


@contextmanager
def _without_the_add_on() -> Iterator[None]:
    """Blender as it is where the add-on was never installed."""
    ik_addon.unregister()
    try:
        yield
    finally:
        ik_addon.register()


def _worst(found: Iterable[tuple[float, int]]) -> tuple[float | None, int]:
    """The largest figure, None if there is none; and the fewest frames that one was measured on. Negative: none."""
    figures, frames = zip(*found, strict=True)
    return (max(figures) if max(figures) >= 0.0 else None), min(frames)


def _words(limb: Limb) -> str:
    return " > ".join(limb.bones) + (f" > ({limb.end})" if limb.end else "")


def _sentence(error: RuntimeError) -> str:
    """What a user reads of an operator's refusal; of a traceback its last line."""
    lines = str(error).strip().removeprefix("Error: ").splitlines()
    return f"Traceback: {lines[-1]}" if lines and lines[0].startswith("Python: Traceback") else " ".join(lines)


def main() -> None:
    """Try the character that the command line names and print its row."""
    ik_addon.register()
    try:
        print(RESULT + json.dumps(tried(**json.loads(sys.argv[1]))), flush=True)
    finally:
        # Older Blenders crash at exit while Python is still registered with them.
        ik_addon.unregister()


if __name__ == "__main__":
    main()
