"""The steady chains of one armature: solved ahead from samples, or from the evaluated scene, and written in bulk."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import bpy
import numpy as np

from .. import messages
from ..solvers import ChainError
from .armatures import is_evaluated_in
from .channels import Raw, channel_of
from .glance import glance
from .posing import PoseWriter, RowWriter, settle
from .relation import is_tied, wake
from .rendering import is_rendering
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
"""Frames, or updates in which something was moved by hand, at which all chains that were solved before are compared
with the evaluated scene."""
_COMPARED_EACH = 16
"""From then on at every so-manieth frame one of them is."""


Graphs = Sequence[bpy.types.Depsgraph]
"""The depsgraphs that show a scene."""


@dataclass(frozen=True, slots=True)
class _Ahead:
    """Chains solved ahead, for frames in a row from `first` on. which: their indices; tracks: theirs.

    rows: of their bones among the armature's; None: all of them. values: (frames, rows, 4), what is written there.
    """

    first: float
    which: list[int]
    tracks: list[Track]
    rows: np.ndarray | None
    values: np.ndarray


class ArmaturePlan:
    """The steady chains of one armature object.

    ways: for each chain why it is not solved before the frame, "": it is; None: that is to be seen. written: what was
    written before this frame. settled: after it there is nothing to solve and nothing to compare. early: what chains
    that were solved before an update wished. bones: how many bones they turn; among: how many those of all armatures
    turn, and place: the number of this armature among them.
    """

    def __init__(self, ob: bpy.types.Object, chains: Sequence[SteadyChain]) -> None:
        self.chains = chains
        self.ways: list[str] | None = None
        self.written: _Ahead | None = None
        self.settled = False
        self.early: dict[int, Wishes] = {}
        self._object = ob
        self._stands_alone: bool | None = None
        self._tied: bool | None = None
        self._placed: dict[int, bool] = {}
        tips = [ob.pose.bones[chain.tip] for chain in chains]
        above = {bone.name for tip in tips for bone in tip.parent_recursive}
        beside = {tip.analytic_ik_end_bone for tip in tips} & set(ob.pose.bones.keys())
        self._line = [*{name for chain in chains for name in (*chain.bones, chain.tip)} | above | beside]
        self._looked = glance(ob, chains, self._line)
        names = [name for chain in chains for name in chain.bones]
        self.bones = self.among = len(names)
        self.place = 0
        self._modes = [mode for chain in chains for mode in chain.modes]
        self._fk = np.array([(*raw, 0.0)[:4] for chain in chains for raw in chain.fk])
        self._writer = RowWriter(ob, names, self._modes)
        starts = np.cumsum([0, *(len(chain.bones) for chain in chains)])
        self._rows = [np.arange(*span) for span in pairwise(starts)]
        self._readers: dict[int, set[int]] = {}
        self._named: dict[str, int] = {}
        for k, chain in enumerate(chains):
            for each in _controls(ob, chain):
                self._readers.setdefault(each.session_uid, set()).add(k)
                self._named[each.name_full] = each.session_uid
        self._refused: dict[int, str] = {}
        self._still: dict[int, np.ndarray] = {}
        self._ahead: dict[float, _Ahead] = {}
        self._frame: float | None = None
        self._frames = self._updates = 0
        self._certain = False

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

    def restructured(self) -> None:
        """What moves with what may have changed, and what is sampled as well."""
        self._stands_alone = self._tied = None
        self._placed.clear()
        self.doubt()

    def touched(self, uids: Collection[int]) -> list[int]:
        """Which of the chains read one of the objects with these session numbers."""
        found = [self._readers[uid] for uid in uids if uid in self._readers]
        return sorted(set().union(*found)) if found else []

    def before_frame(self, scene: bpy.types.Scene, graphs: Graphs) -> bool:
        """Write the chains that can be sampled, in all depsgraphs that show the scene. False: the armature is gone."""
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
        self._writer.write(copies_of(ob, graphs), ahead.values[k], ahead.rows)
        if not self._frames:
            # What moved while nobody was told is no reason for Blender to evaluate the chain now.
            wake(ob, ())
        self.written, self._frame = ahead, frame
        self._frames += 1
        compared = self._frames > _COMPARED_AT_FIRST and self._frames % _COMPARED_EACH
        self.settled = ahead.rows is None and bool(compared)
        return True

    def after_frame(self, places: EvaluatedPlaces, anew: bool) -> bool:
        """Write the chains that were not solved before the frame, and compare those that were with what they should
        have read; anew: all of them, and what was written may be lost. False where that cannot be done."""
        ob, ahead = self.object, self.written
        if ob is None:
            return False
        if not places.shows(ob):
            return True
        if ahead is None:
            return self._solve(places, range(len(self.chains)), frame_changed=True)
        late = []
        if anew or self._frames <= _COMPARED_AT_FIRST:
            late = self._misplaced(ob, places, ahead, ahead.which)
        elif self._frames % _COMPARED_EACH == 0:
            late = self._misplaced(ob, places, ahead, [ahead.which[self._frames // _COMPARED_EACH % len(ahead.which)]])
        if anew:
            late = range(len(self.chains))
        elif ahead.rows is not None:
            late += sorted(set(range(len(self.chains))).difference(ahead.which))
        return self._solve(places, late, frame_changed=True) if late else True

    def before_update(self, depsgraph: bpy.types.Depsgraph, moved: set[str], graphs: Graphs) -> bool:
        """Solve the chains that read what was moved by hand before that is evaluated, so that it is evaluated once.

        moved: names of those objects; the armature's own is among them where a bone was posed. Only where nothing else
        of the armature can move with them. False where a chain cannot be solved so.
        """
        uids, ob = {self._named[name] for name in moved & self._named.keys()}, self.object
        which = self.touched(uids) if uids else []
        if not which or ob is None or not self.is_alone():
            return True
        objects = {each for k in which for each in _controls(ob, self.chains[k]) if each.session_uid in uids}
        if not all(self._is_placed(each, moved) for each in objects if each != ob):
            return True
        places = EvaluatedPlaces(depsgraph, objects)
        copies = copies_of(ob, graphs)
        # What animation sets in the same update is seen only afterwards, and during a render nothing is lent.
        self._certain = not is_rendering() and all(each.animation_data is None for each in objects)
        try:
            for k in which:
                self.early[k], values = self._solved(places, ob, k)
                self._writer.write(copies, np.array(values, np.float32), self._rows[k])
        except (ChainError, AttributeError, KeyError):
            # The pass that reads everything finds the reason and says it.
            return False
        return True

    def after_update(self, places: EvaluatedPlaces, changed: set[int]) -> bool:
        """Solve the chains that read one of the objects with these session numbers. False where that cannot be done."""
        early, ob = self.early, self.object
        if ob is None:
            return False
        if not places.shows(ob):
            return True
        self.early = {}
        which = sorted({*self.touched(changed), *early})
        if not which:
            return True
        self.doubt()
        self._updates += 1
        trusted = self._updates > _COMPARED_AT_FIRST and self._updates % _COMPARED_EACH
        if which == [*early] and trusted and self._certain:
            return True
        late = [k for k in which if k not in early or not places.confirm(ob, self.chains[k], early[k])]
        return self._solve(places, late, frame_changed=False) if late else True

    def _solve(self, places: EvaluatedPlaces, which: Iterable[int], frame_changed: bool) -> bool:
        """Solve chains from the evaluated scene, and write them. False where one of them cannot be solved so."""
        ob = self.object
        if ob is None:
            return False
        writer, tips = PoseWriter(ob, ob.evaluated_get(places.depsgraph)), []
        try:
            for k in which:
                chain = self.chains[k]
                _, values = self._solved(places, ob, k)
                for name, mode, numbers in zip(chain.bones, chain.modes, values, strict=True):
                    writer.write(name, mode, numbers[: channel_of(mode)[1]])
                tips.append(chain.tip)
            writer.commit(tips, frame_changed)
            settle(places.depsgraph, frame_changed)
        except (ChainError, AttributeError, KeyError):
            # The pass that reads everything finds the reason and says it.
            return False
        return True

    def _solved(self, places: EvaluatedPlaces, ob: bpy.types.Object, k: int) -> tuple[Wishes, list[Raw]]:
        """What a chain wishes, and the numbers of its bones for it, four of each."""
        chain = self.chains[k]
        wishes = places.wishes(ob, chain)
        return wishes, [(*raw, 0.0)[:4] for raw in chain.raw(*chain.solve(wishes))]

    def looks_the_same(self) -> bool:
        """Whether nothing of the armature that its chains are made of has been changed by posing."""
        ob = self.object
        try:
            return ob is not None and glance(ob, self.chains, self._line) == self._looked
        except KeyError:
            # A bone is gone.
            return False

    def is_to_be_tagged(self) -> bool:
        """Whether chains were written before this evaluation, and nothing ties one of them to its controls."""
        ob = self.object
        if ob is None or not (self.early or self.written):
            return False
        if self._tied is None:
            self._tied = all(is_tied(ob.pose.bones[chain.tip]) for chain in self.chains)
        return not self._tied

    def is_alone(self) -> bool:
        """Whether nothing but channels places the armature object, and what of it carries or makes its chains."""
        ob = self.object
        if self._stands_alone is None and ob is not None:
            driven = any(data and data.drivers for data in (ob.animation_data, ob.data.animation_data))
            line = [ob.pose.bones[name] for name in self._line]
            constrained = any(not each.mute for owner in (ob, *line) for each in owner.constraints)
            self._stands_alone = ob.parent is None and not driven and not constrained
        return bool(self._stands_alone)

    def _is_placed(self, control: bpy.types.Object, moved: set[str]) -> bool:
        """Whether a moved control is where its channels and its parent's place say, which has not moved."""
        if control.session_uid not in self._placed:
            self._placed[control.session_uid] = not not_simple(control)
        above = control.parent
        while above is not None and above.name_full not in moved:
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
            return _Ahead(frames[0], [], [], None, np.empty(0))
        rows = np.concatenate([self._rows[k] for k in which])
        try:
            solved = solve_tracks([self.chains[k] for k in which], tracks)
        except ChainError as error:
            for k in which:
                self.ways[k] = str(error)
            return _Ahead(frames[0], [], [], None, np.empty(0))
        rotations = np.concatenate([each.rotations for each in solved], axis=1)
        fk = self._fk[rows]
        values = raw_rows(rotations, [self._modes[row] for row in rows], fk)
        without = np.concatenate(
            [each.without_influence(self.chains[k]) for k, each in zip(which, solved, strict=True)], axis=1
        )
        values = np.where(without[..., None], fk, values).astype(np.float32)
        return _Ahead(frames[0], which, tracks, rows if len(rows) < len(self._modes) else None, values)

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


def copies_of(ob: bpy.types.Object, graphs: Iterable[bpy.types.Depsgraph]) -> list[bpy.types.Object]:
    """An armature object as depsgraphs evaluate it, where they do."""
    return [ob.evaluated_get(graph) for graph in graphs if is_evaluated_in(ob, graph)]


def _controls(ob: bpy.types.Object, chain: SteadyChain) -> list[bpy.types.Object]:
    """The objects that a chain reads: its armature object and its controls."""
    tip = ob.pose.bones[chain.tip]
    return [each for each in (ob, tip.analytic_ik_target, tip.analytic_ik_pole_target) if each]
