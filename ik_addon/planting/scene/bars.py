"""When limbs are held, to what, and in which grip: bars in the Dope Sheet, with what the action keeps of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix

from ...authoring.placing import Control
from ...rig.data.hold import HoldRecord
from ..feet.clip import LegMotion
from ..feet.holds import Hold, mean_grip
from ..feet.in_time import runs
from ..feet.space import Space
from .contact_keys import keyed_contacts


@dataclass(frozen=True, slots=True)
class Bar:
    """A limb that is held in some frames. leg: its number. first, last: rows. grip: None for the mean of these."""

    leg: int
    first: int
    last: int
    held: Control
    grip: Matrix | None
    blend: float


def is_keyed(tip: bpy.types.PoseBone, frames: range) -> np.ndarray:
    """(frames,) bool, where keys of the Contact of a limb say that it is held."""
    contacts = keyed_contacts(tip, frames)
    return np.zeros(len(frames), bool) if contacts is None else contacts.any(axis=0)


def kept_bars(leg: int, keyed: np.ndarray, frames: range, records: Sequence[HoldRecord]) -> Iterator[Bar]:
    """The bars of one limb that its keys show, each held to what it was held to before."""
    if not records:
        return
    for first, last in runs(keyed):
        begins, ends = frames[first], frames[last]

        def shared(record: HoldRecord, begins: int = begins, ends: int = ends) -> int:
            return min(ends, record.last) - max(begins, record.first) + 1

        own = sorted((each for each in records if shared(each) > 0), key=lambda each: each.first)
        # A bar that somebody has added is held to what is held nearest to it.
        own = own or [max(records, key=shared)]
        # Between holds that follow each other there is no end of a bar.
        starts = [first, *(max(each.first - frames.start, first) for each in own[1:])]
        stops = [start - 1 for start in starts[1:]] + [last]
        for each, start, stop in zip(own, starts, stops, strict=True):
            if start > stop:
                continue
            yield Bar(leg, start, stop, held_of(each), each.grip if shared(each) > 0 else None, each.blend)


def hold_of(bar: Bar, clip: LegMotion, space: Space) -> Hold:
    """A bar with its grip, as exactly as a file keeps it."""
    if bar.grip is None:
        place, turn = mean_grip(clip, bar.leg, bar.first, bar.last, space)
        grip = np.eye(4)
        grip[:3, 3], grip[:3, :3] = place, turn
    else:
        grip = np.array(bar.grip, float)
    grip = grip.astype(np.float32).astype(float)
    return Hold(bar.leg, bar.first, bar.last, space, grip[:3, 3], grip[:3, :3])


def held_of(record: HoldRecord) -> Control:
    """What a record says that a limb is held to."""
    return Control(record.ob, record.bone)


def record_of(bar: Bar, hold: Hold, tips: Sequence[bpy.types.PoseBone], frames: range) -> HoldRecord:
    """The record of a bar with its grip. tips: of all limbs. frames: of the scene, by rows."""
    grip = np.eye(4)
    grip[:3, 3], grip[:3, :3] = hold.place, hold.turn
    span = range(frames[bar.first], frames[bar.last] + 1)
    return new_record(tips[bar.leg], bar.held, span, Matrix(grip), bar.blend)


def new_record(tip: bpy.types.PoseBone, held: Control, frames: range, grip: Matrix, blend: float) -> HoldRecord:
    """The record of a limb that is held to something in these frames of the scene."""
    return HoldRecord(tip.name, held.ob, held.bone, frames.start, frames[-1], grip, blend)
