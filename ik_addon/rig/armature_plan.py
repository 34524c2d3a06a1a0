"""The steady chains of one armature: solved ahead from samples, or from the evaluated scene, and written in bulk."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import bpy
import numpy as np

from .. import messages
from ..solvers import ChainError
from .posing import BulkPose
from .sampling import Sampler
from .simple import Judge, not_simple, time_is_plain
from .steady import SteadyChain, Wishes
from .tracks import EvaluatedPlaces, Track, TrackReader, raw_rows, solve_tracks

_FRAMES_AHEAD = 16
"""How many frames are sampled and solved at once after a jump."""
_FRAMES_AHEAD_PLAYING = 256, 5120
"""Likewise where one frame came after the other: at most so many, and at most so many bones times frames, of all
armatures together: or playback halts for it."""
_KEPT_AHEAD = 1_000_000
"""How many rotations of bones are kept, of all armatures together, so that playback in a loop samples and solves each
frame once; some 80 MB."""
_COMPARED_AT_FIRST = 3
"""Frames at which all sampled chains are compared with the evaluated scene."""
_COMPARED_EACH = 16
"""From then on at every so-manieth frame one of them is."""


@dataclass(frozen=True, slots=True)
class _Ahead:
    """Chains solved ahead, for frames in a row from `first` on. which: their indices; tracks: theirs.

    rows: of their bones among the armature's; None: all of them. values: (frames, rows, 4), what is written there;
    as_bytes: the same for each frame, where it is of all rows, to compare.
    """

    first: float
    which: list[int]
    tracks: list[Track]
    rows: np.ndarray | None
    values: np.ndarray
    as_bytes: list[bytes | None]


class ArmaturePlan:
    """The steady chains of one armature object.

    ways: for each chain why it is not solved before the frame, "": it is; None: that is to be seen. written: what was
    written before this frame. settled: after it there is nothing to solve and nothing to compare. early: what chains
    that were solved before an update wished. bones: how many bones they turn; among: how many those of all armatures
    turn, and place: the number of this armature among them.
    """

    def __init__(self, ob: bpy.types.Object, chains: Sequence[SteadyChain], alone: bool) -> None:
        self.chains = chains
        self.ways: list[str] | None = None
        self.written: _Ahead | None = None
        self.settled = False
        self.early: dict[int, Wishes] = {}
        self._object = ob
        self._stands_alone: bool | None = None
        self._placed: dict[int, bool] = {}
        names = [name for chain in chains for name in chain.bones]
        self.bones = self.among = len(names)
        self.place = 0
        self._modes = [mode for chain in chains for mode in chain.modes]
        self._fk = np.array([(*raw, 0.0)[:4] for chain in chains for raw in chain.fk])
        self._pose = BulkPose(ob, names, self._modes, alone)
        starts = np.cumsum([0, *(len(chain.bones) for chain in chains)])
        self._rows = [np.arange(*span) for span in pairwise(starts)]
        self._readers: dict[int, set[int]] = {}
        for k, chain in enumerate(chains):
            for uid in _controls(ob, chain):
                self._readers.setdefault(uid, set()).add(k)
        self._refused: dict[int, str] = {}
        self._still: dict[int, np.ndarray] = {}
        self._ahead: dict[float, _Ahead] = {}
        self._frame: float | None = None
        self._frames = 0

    @property
    def object(self) -> bpy.types.Object | None:
        """The armature object; None: it is gone."""
        try:
            return self._object if self._object.pose else None
        except ReferenceError:
            return None

    def doubt(self) -> None:
        """What is sampled may have changed."""
        self.ways = self.written = None
        self.settled = False
        self._ahead.clear()
        self._refused.clear()
        self._still.clear()
        self._frames = 0

    def intact(self) -> bool:
        """Whether its bones hold what was written."""
        ob = self.object
        return ob is not None and self._pose.unchanged(ob)

    def restructured(self) -> None:
        """What moves with what may have changed, and what is sampled as well."""
        self._stands_alone = None
        self._placed.clear()
        self.doubt()

    def touched(self, uids: Collection[int]) -> list[int]:
        """Which of the chains read one of the objects with these session numbers."""
        found = [self._readers[uid] for uid in uids if uid in self._readers]
        return sorted(set().union(*found)) if found else []

    def before_frame(self, scene: bpy.types.Scene) -> bool:
        """Write the chains that can be sampled. False where what is there is not what the plan wrote."""
        self.written = None
        ob, frame = self.object, scene.frame_current_final
        if ob is None:
            return False
        ahead = self._ahead.get(frame)
        if ahead is None:
            ahead = self._look_ahead(ob, scene, frame)
        if not ahead.which:
            self.settled = False
            return True
        k = int(frame - ahead.first)
        if not self._pose.write(ob, ahead.values[k], ahead.rows, ahead.as_bytes[k]):
            return False
        self.written, self._frame = ahead, frame
        self._frames += 1
        compared = self._frames > _COMPARED_AT_FIRST and self._frames % _COMPARED_EACH
        self.settled = ahead.rows is None and bool(compared)
        return True

    def after_frame(self, places: EvaluatedPlaces, every: bool) -> bool:
        """Write the chains that were not solved before the frame, and compare those that were with what they should
        have read; every: all of them. False where that cannot be done."""
        ob, ahead = self.object, self.written
        if ob is None:
            return False
        if not places.shows(ob):
            return True
        if ahead is None:
            return self.solve(places, range(len(self.chains)))
        late = []
        if every or self._frames <= _COMPARED_AT_FIRST:
            late = self._misplaced(ob, places, ahead, ahead.which)
        elif self._frames % _COMPARED_EACH == 0:
            late = self._misplaced(ob, places, ahead, [ahead.which[self._frames // _COMPARED_EACH % len(ahead.which)]])
        if ahead.rows is not None:
            late += sorted(set(range(len(self.chains))).difference(ahead.which))
        return self.solve(places, late) if late else True

    def before_update(self, depsgraph: bpy.types.Depsgraph, moved: dict[int, bpy.types.Object]) -> bool:
        """Solve the chains whose controls were moved by hand before that is evaluated, so that it is evaluated once.

        moved: those objects, by their session numbers. Only where nothing else of the armature can move with them.
        """
        which, ob = self.touched(moved), self.object
        if not which or ob is None or ob.session_uid in moved or not self._is_alone(ob):
            return True
        if not all(self._is_placed(control, moved) for uid, control in moved.items() if uid in self._readers):
            return True
        return self.solve(EvaluatedPlaces(depsgraph, set(moved.values())), which, self.early)

    def after_update(self, places: EvaluatedPlaces, changed: set[int]) -> bool:
        """Solve the chains that read one of the objects with these session numbers. False where that cannot be done."""
        early, ob = self.early, self.object
        if ob is None:
            return False
        if not places.shows(ob):
            return True
        if early:
            # It is among the changed ones because it was written.
            changed, self.early = changed - {ob.session_uid}, {}
        which = self.touched(changed)
        if not which:
            return True
        self.doubt()
        late = [k for k in which if k not in early or not places.confirm(ob, self.chains[k], early[k])]
        return self.solve(places, late) if late else True

    def solve(self, places: EvaluatedPlaces, which: Iterable[int], wished: dict[int, Wishes] | None = None) -> bool:
        """Solve chains from the evaluated scene, and write them. False where one of them cannot be solved so.

        wished: gets what they wished.
        """
        ob = self.object
        if ob is None:
            return False
        values, rows = [], []
        try:
            for k in which:
                chain = self.chains[k]
                wishes = places.wishes(ob, chain)
                if wished is not None:
                    wished[k] = wishes
                rotations, outcome = chain.solve(wishes)
                values += [(*raw, 0.0)[:4] for raw in chain.raw(rotations, outcome)]
                rows.append(self._rows[k])
        except (ChainError, AttributeError):
            # The pass that reads everything finds the reason and says it.
            return False
        if not rows:
            return True
        return self._pose.write(ob, np.array(values, np.float32), np.concatenate(rows))

    def _is_alone(self, ob: bpy.types.Object) -> bool:
        """Whether nothing but its channels places the armature object and its bones."""
        if self._stands_alone is None:
            driven = any(data and data.drivers for data in (ob.animation_data, ob.data.animation_data))
            constrained = any(not each.mute for owner in (ob, *ob.pose.bones) for each in owner.constraints)
            self._stands_alone = ob.parent is None and not driven and not constrained
        return self._stands_alone

    def _is_placed(self, control: bpy.types.Object, moved: dict[int, bpy.types.Object]) -> bool:
        """Whether a moved control is where its channels and its parent's place say, which has not moved."""
        if control.session_uid not in self._placed:
            self._placed[control.session_uid] = not not_simple(control)
        above = control.parent
        while above is not None and above.session_uid not in moved:
            above = above.parent
        return self._placed[control.session_uid] and above is None

    def reasons(self, scene: bpy.types.Scene) -> list[str]:
        """For each chain what keeps its controls from being sampled; "": nothing."""
        ob = self.object
        if not time_is_plain(scene):
            return [messages.TIME_REMAPPED()] * len(self.chains)
        if ob is None:
            return [messages.ARMATURE_GONE()] * len(self.chains)
        ways, reason = [], Judge().not_simple
        for k, chain in enumerate(self.chains):
            tip = ob.pose.bones[chain.tip]
            why = self._refused.get(k) or reason(ob, chain.parent) or reason(tip.analytic_ik_target, chain.target_bone)
            if not why and chain.goal.pole is not None:
                why = reason(tip.analytic_ik_pole_target, chain.pole_bone)
            ways.append(why)
        return ways

    def _look_ahead(self, ob: bpy.types.Object, scene: bpy.types.Scene, frame: float) -> _Ahead:
        """Sample and solve the chains that can be at `frame`, and at whole frames around it."""
        if self.ways is None:
            self.ways = self.reasons(scene)
        playing = self._frame is not None and abs(frame - self._frame) == 1.0
        frames = _frames_around(frame, self.among if playing else 0, self.place)
        ahead = self._solve_ahead(ob, frames)
        if (len(self._ahead) + len(frames)) * self.among > _KEPT_AHEAD:
            self._ahead.clear()
        self._ahead.update(dict.fromkeys(map(float, frames), ahead))
        return ahead

    def _solve_ahead(self, ob: bpy.types.Object, frames: Sequence[float]) -> _Ahead:
        assert self.ways is not None
        which, tracks = [], []
        sampled = [k for k, way in enumerate(self.ways) if not way]
        reader = TrackReader(Sampler(frames, still=self._still), len(frames))
        for k, track in zip(sampled, reader.tracks((ob, self.chains[k]) for k in sampled), strict=True):
            if isinstance(track, ChainError):
                self.ways[k] = str(track)
            else:
                which.append(k)
                tracks.append(track)
        if not which:
            return _Ahead(frames[0], [], [], None, np.empty(0), [])
        rows = np.concatenate([self._rows[k] for k in which])
        try:
            solved = solve_tracks([self.chains[k] for k in which], tracks)
        except ChainError as error:
            for k in which:
                self.ways[k] = str(error)
            return _Ahead(frames[0], [], [], None, np.empty(0), [])
        rotations = np.concatenate([each.rotations for each in solved], axis=1)
        fk = self._fk[rows]
        values = raw_rows(rotations, [self._modes[row] for row in rows], fk)
        without = np.concatenate(
            [each.without_influence(self.chains[k]) for k, each in zip(which, solved, strict=True)], axis=1
        )
        values = np.where(without[..., None], fk, values).astype(np.float32)
        if len(rows) < len(self._modes):
            return _Ahead(frames[0], which, tracks, rows, values, [None] * len(values))
        return _Ahead(frames[0], which, tracks, None, values, [each.tobytes() for each in values])

    def _misplaced(
        self, ob: bpy.types.Object, places: EvaluatedPlaces, ahead: _Ahead, some: Sequence[int]
    ) -> list[int]:
        """Which of some chains solved before the frame were led astray; they are not sampled any more."""
        assert self._frame is not None and self.ways is not None
        found = []
        for k in some:
            sampled = ahead.tracks[ahead.which.index(k)].at(int(self._frame - ahead.first))
            if not places.confirm(ob, self.chains[k], sampled):
                self.ways[k] = self._refused[k] = messages.NOT_WHERE_SAMPLED()
                found.append(k)
        if found:
            self._ahead.clear()
        return found


def _frames_around(frame: float, playing: int, place: int) -> Sequence[float]:
    """playing: how many bones are turned while one frame comes after the other; 0: it was a jump. place: so that not
    all armatures begin anew at the same frame."""
    if frame != int(frame):
        return [frame]
    most, in_all = _FRAMES_AHEAD_PLAYING
    count = min(max(in_all // playing, _FRAMES_AHEAD), most) if playing else _FRAMES_AHEAD
    place %= count
    first = int((frame + place) // count) * count - place
    return range(first, first + count)


def _controls(ob: bpy.types.Object, chain: SteadyChain) -> set[int]:
    """Session numbers of the objects that a chain reads."""
    tip = ob.pose.bones[chain.tip]
    return {each.session_uid for each in (ob, tip.analytic_ik_target, tip.analytic_ik_pole_target) if each}
