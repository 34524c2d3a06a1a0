"""The planned chains of one armature: solved ahead from samples, or from the evaluated scene, and written in bulk."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import bpy
import numpy as np
from mathutils import Matrix

from ... import messages
from ...solvers import ChainError
from ..blender.armatures import is_evaluated_in
from ..blender.dependencies import aims_of, goes_by_channels
from ..blender.evaluation import Graphs, curves_of, is_rendering, plays_alone, silence
from ..blender.rotations import channel_of, channel_path, raw_values
from ..blender.sampling import Judge, Sampler, action_not_simple, not_simple, time_is_plain
from ..data.relation import is_tied, wake
from ..data.settings import BODY_RANGES, PREFIX, SAMPLED_SETTINGS, target_and_pole
from ..model.limb import Wishes
from ..model.limb_model import LimbModel, controls_of
from ..model.order import objects_of
from ..pose.planned import Request, asked_now, is_confirmed, planned_chain
from ..pose.posing import PoseWriter, RowWriter, loans
from ..pose.reading import SceneReader
from ..pose.solving import PlannedChain
from ..pose.track_reading import TrackReader, same_wishes
from ..pose.track_solving import Reading, channel_values, solve_each

_FRAMES_AHEAD = 16
"""How many frames are sampled and solved at once after a jump."""
_FRAMES_AHEAD_PLAYING = 256, 5120
"""Likewise where one frame came after the other: at most so many, and at most so many bones times frames, of all
armatures together: or playback halts for it."""
_KEPT_AHEAD = 1_000_000
"""How many rotations of bones are kept, of all armatures together, so that playback in a loop samples and solves each
frame once; some 80 MB. Likewise of those that are not sampled."""
_COMPARED_AT_FIRST = 3
"""Frames, or updates in which something was moved by hand, at which all chains that were solved before are compared
with the evaluated scene."""
_COMPARED_EACH = 16
"""From then on at every so-manieth frame one of them is."""


@dataclass(frozen=True, slots=True)
class _Ahead:
    """Chains solved ahead, for frames in a row from `first` on. which: their indices; readings: theirs.

    rows: of their channels among the armature's; None: all of them. values: (frames, rows, 4), what is written there.
    keyed, fk: rows of channels that have keys, and their FK values (frames, keyed, 4). curves: places of the F-Curves
    that would undo what is written; watched: the path of a channel of each chain with keys, and what is written there.
    """

    first: float
    which: list[int]
    readings: list[Reading]
    rows: np.ndarray | None
    values: np.ndarray
    keyed: np.ndarray
    fk: np.ndarray
    curves: list[int]
    watched: list[tuple[str, list[tuple[float, ...]]]]


_Wished = tuple[Wishes, dict[str, float]]
"""Where a chain shall go, and its settings at that frame."""


@dataclass(slots=True)
class _Written:
    """What was written before the evaluation at hand.

    ahead, row: chains solved ahead, and which of their frames; None: none were written. silences: F-Curves are silent
    for that. settled: after the frame there is nothing to solve and nothing to compare. guessed: what chains that are
    not sampled came to when the frame was visited before. early: of those that were solved before an update; certain:
    nothing but what was moved by hand is read by these.
    """

    ahead: _Ahead | None = None
    row: int = 0
    silences: bool = False
    settled: bool = False
    guessed: dict[int, tuple[_Wished, np.ndarray]] = field(default_factory=dict)
    early: dict[int, tuple[Wishes, np.ndarray]] = field(default_factory=dict)
    certain: bool = False


class ArmaturePlan:
    """The planned chains of one armature object.

    ways: for each chain why it is not solved before the frame, "": it is; None: that is to be seen. written: before the
    frame or update at hand. late: by tips what keeps chains from being solved before the frame, besides what is found
    here. bones: how many channels they set; among: how many those of all armatures set, and place: the number of this
    armature among them.
    """

    def __init__(self, ob: bpy.types.Object, chains: Sequence[PlannedChain], late: Mapping[str, str]) -> None:
        self.chains = [*chains]
        self._late = late
        self.models = [chain.model for chain in chains]
        self.ways: list[str] | None = None
        self.written = _Written()
        self._object, self._uid = ob, ob.session_uid
        self._answers: dict[tuple[str, int], bool] = {}
        self._looked = [numbers_of(ob, model) for model in self.models]
        # Of what cannot be sampled; keys would undo what is written.
        self._recallable = [not model.keyed_bones and model.body is None for model in self.models]
        self._recalled: dict[float, dict[int, tuple[_Wished, np.ndarray]]] = {}
        # What each was asked for last, and the numbers of its channels for that.
        self._solved: dict[int, tuple[PlannedChain, bytes, np.ndarray]] = {}
        self._channels = [model.channels for model in self.models]
        # Of each chain a channel that keys would undo first.
        self._watched = [
            next((row for row, (name, _) in enumerate(own) if name in model.keyed_bones), 0)
            for own, model in zip(self._channels, self.models, strict=True)
        ]
        self._keyed = [
            own[row]
            for own, model, row in zip(self._channels, self.models, self._watched, strict=True)
            if own[row][0] in model.keyed_bones
        ]
        self.bones = self.among = sum(map(len, self._channels))
        self.place = 0
        self._writer = RowWriter(ob, (channel for own in self._channels for channel in own))
        starts = np.cumsum([0, *map(len, self._channels)])
        self._rows = [np.arange(*span) for span in pairwise(starts)]
        # By the session numbers of objects which chains read them; and these numbers by the names of the objects.
        self._readers: dict[int, set[int]] = {}
        self._named: dict[str, int] = {}
        for k, model in enumerate(self.models):
            for each in objects_of(ob.pose.bones[model.tip]):
                self._readers.setdefault(each.session_uid, set()).add(k)
                self._named[each.name_full] = each.session_uid
        together: dict[str, list[int]] = {}
        for k, model in enumerate(self.models):
            together.setdefault(model.body.name if model.body else "", []).append(k)
        # What one of them reads moves the bone that follows it, and with that the others.
        self._leads = any(model.led for model in self.models)
        self._together = [together[model.body.name] if model.body else [k] for k, model in enumerate(self.models)]
        self._refused: dict[int, str] = {}
        self._ahead: dict[float, _Ahead] = {}
        self._frame: float | None = None
        self._frames = self._updates = 0
        self._silenced: tuple[list[int], list[int]] | None = None

    @property
    def reads(self) -> Collection[int]:
        """Session numbers of the objects that its chains read."""
        return self._readers.keys()

    @property
    def object(self) -> bpy.types.Object | None:
        """The armature object; None: it is gone."""
        try:
            return self._object if self._object.pose else None
        except ReferenceError:
            return None

    def found_again(self, objects: Mapping[int, bpy.types.Object]) -> None:
        """After an undo: take the armature object as it is now. objects: by their session numbers."""
        self._object = objects[self._uid]
        self.written, self._updates = _Written(), 0
        self._recalled.clear()
        self.restructured()

    def doubt(self) -> None:
        """What is sampled may have changed."""
        self.ways = None
        self._forget_ahead()
        self._refused.clear()
        self._frames, self._silenced = 0, None

    def _forget_ahead(self) -> None:
        self._ahead.clear()
        self.written.ahead, self.written.settled = None, False

    def restructured(self) -> None:
        """What moves with what may have changed, and what is sampled as well."""
        self._answers.clear()
        self.doubt()

    def _once(self, question: str, of: int, answer: Callable[[], bool]) -> bool:
        """The answer to a question about a chain or an object, which stays until what moves with what may change."""
        if (question, of) not in self._answers:
            self._answers[question, of] = answer()
        return self._answers[question, of]

    def touched(self, uids: Collection[int]) -> list[int]:
        """Which of the chains read one of the objects with these session numbers."""
        found = [self._readers[uid] for uid in uids if uid in self._readers]
        return self._with_others(set().union(*found)) if found else []

    def _with_others(self, which: Iterable[int]) -> list[int]:
        """Chains, and those that are solved together with them."""
        return sorted({other for k in which for other in self._together[k]})

    def before_frame(self, scene: bpy.types.Scene, graphs: Graphs) -> bool:
        """Write the chains that can be sampled, in all depsgraphs that show the scene. False: the armature is gone."""
        written = self.written = _Written()
        ob, frame = self.object, scene.frame_current_final
        if ob is None:
            return False
        ahead = self._ahead.get(frame)
        if ahead is None:
            ahead = self._look_ahead(ob, scene, frame)
        k = int(frame - ahead.first)
        if ahead.curves:
            written.silences = self._silence(ob, scene, graphs, ahead.curves)
            if not written.silences:
                # Someone else plays them too now, or they are not where they were.
                self.doubt()
                return True
            # Blender does not bring the originals what is silent.
            self._writer.write([ob], ahead.fk[k], ahead.keyed)
        else:
            self._silenced = None
        copies = copies_of(ob, graphs)
        if self._recalled:
            self._guess(ob, frame, copies, ahead.which)
        if not ahead.which:
            return True
        self._writer.write(copies, ahead.values[k], ahead.rows)
        if not self._frames or self._leads:
            # What moved while nobody was told is no reason for Blender to evaluate the chain now; nor is a foot to
            # evaluate the body that follows it.
            wake(ob, ())
        written.ahead, written.row, self._frame = ahead, k, frame
        self._frames += 1
        compared = self._frames > _COMPARED_AT_FIRST and self._frames % _COMPARED_EACH
        written.settled = ahead.rows is None and bool(compared) and not written.silences
        return True

    def after_frame(self, places: SceneReader, anew: bool) -> bool:
        """Write the chains that were not solved before the frame, and compare those that were with what they should
        have read; anew: all of them, and what was written may be lost. False where that cannot be done."""
        ob, ahead = self.object, self.written.ahead
        if ob is None:
            return False
        if not places.shows(ob):
            return True
        if ahead is None:
            return self.solve(places, None, True, anew)
        late = []
        if anew or self._frames <= _COMPARED_AT_FIRST:
            late = self._misplaced(ob, places, ahead, ahead.which)
        elif self._frames % _COMPARED_EACH == 0:
            late = self._misplaced(ob, places, ahead, [ahead.which[self._frames // _COMPARED_EACH % len(ahead.which)]])
        # Keys of a copy made anew were played over what was written before the frame.
        copy, k = ob.evaluated_get(places.depsgraph), self.written.row
        shown = ((copy.path_resolve(path, False), numbers[k]) for path, numbers in ahead.watched)
        if anew or (self.written.silences and any(tuple(now) != own for now, own in shown)):
            self._silenced, late = None, range(len(self.chains))
        elif ahead.rows is not None:
            late += sorted(set(range(len(self.chains))).difference(ahead.which))
        return not late or self.solve(places, self._with_others(late), True, anew)

    def _silence(self, ob: bpy.types.Object, scene: bpy.types.Scene, graphs: Graphs, curves: list[int]) -> bool:
        """See `silence`. What was silent after the frame before is not looked at again: it is after this one."""
        wanted = curves, [graph.as_pointer() for graph in graphs]
        if self._silenced != wanted or not plays_alone(ob):
            self._silenced = wanted if silence(ob, scene, graphs, curves) else None
        return self._silenced is not None

    def _guess(
        self, ob: bpy.types.Object, frame: float, copies: Sequence[bpy.types.Object], sampled: Collection[int]
    ) -> None:
        """Write what chains that are not sampled came to when the frame was visited before."""
        self.written.guessed = {k: own for k, own in self._recalled.get(frame, {}).items() if k not in sampled}
        guessed = [(values, self._rows[k]) for k, (_, values) in self.written.guessed.items()]
        if not all(self._writer.shows(copy, *each) for copy in copies for each in guessed):
            for each in guessed:
                self._writer.write(copies, *each)
            wake(ob, ())

    def before_update(self, depsgraph: bpy.types.Depsgraph, moved: set[str], graphs: Graphs) -> bool:
        """Solve the chains that read what was moved by hand before that is evaluated, so that it is evaluated once.

        moved: names of those objects; the armature's own is among them where a bone was posed. Only where nothing else
        of the armature can move with them. False where a chain cannot be solved so.
        """
        uids, ob = {self._named[name] for name in moved & self._named.keys()}, self.object
        which = self.touched(uids) if uids else []
        if not which or ob is None or not self.is_alone():
            return True
        objects = {
            each for k in which for each in objects_of(ob.pose.bones[self.models[k].tip]) if each.session_uid in uids
        }
        if not all(self._is_placed(each, moved) for each in objects if each != ob):
            return True
        # What animation sets in the same update is seen only afterwards, and during a render nothing is lent.
        self.written.certain = not is_rendering() and all(each.animation_data is None for each in objects)
        try:
            if not all(map(self._follows_channels, which)):
                return True
            requests = self._requests(SceneReader(depsgraph, moved=objects), which)
            solved = {k: (own.wishes, self._values(k, own)) for k, own in requests.items()}
        except (ChainError, AttributeError, KeyError):
            # The pass that reads everything finds the reason and says it.
            return False
        copies = copies_of(ob, graphs)
        for k, (wishes, values) in solved.items():
            self._writer.write(copies, values, self._rows[k])
            self.written.early[k] = wishes, values
        if any(self.models[k].led for k in solved):
            wake(ob, ())
        return True

    def after_update(self, places: SceneReader, changed: set[int]) -> bool:
        """Solve the chains that read one of the objects with these session numbers. False where that cannot be done."""
        early, ob = self.written.early, self.object
        if ob is None:
            return False
        if not places.shows(ob):
            return True
        self.written.early = {}
        which = sorted({*self.touched(changed), *early})
        if not which:
            return True
        self.doubt()
        self._updates += 1
        trusted = self._updates > _COMPARED_AT_FIRST and self._updates % _COMPARED_EACH
        sure = bool(trusted) and self.written.certain
        evaluated = ob.evaluated_get(places.depsgraph)
        late = [k for k in which if k not in early or not self._holds_early(places, evaluated, k, early[k], sure)]
        return not late or self.solve(places, self._with_others(late))

    def _holds_early(
        self, places: SceneReader, copy: bpy.types.Object, k: int, early: tuple[Wishes, np.ndarray], sure: bool
    ) -> bool:
        """True if a chain that was solved before an update shows that still, and wishes it; sure: it wishes it."""
        watched, (wishes, values) = self._watched[k], early
        name, mode = self._channels[k][watched]
        shown = copy.pose.bones[name].path_resolve(channel_of(mode)[0], False)
        # Keys that were played in the same update undo what was written.
        if tuple(shown) != tuple(values[watched, : len(shown)].tolist()):
            return False
        return sure or is_confirmed(places.armature(self._object), self.chains[k], wishes)

    def solve(
        self, places: SceneReader, which: Sequence[int] | None = None, frame_changed: bool = False, anew: bool = True
    ) -> bool:
        """Solve chains, None: all, from the evaluated scene, with all that are solved together with them, and write
        them. anew: also those that show already what they ask for. False where one of them cannot be solved so."""
        ob, which = self.object, range(len(self.chains)) if which is None else which
        if ob is None:
            return False
        try:
            copy, frame = ob.evaluated_get(places.depsgraph), places.depsgraph.scene.frame_current_final
            writer = PoseWriter(ob, copy)
            ahead = self._ahead_of(ob, places.depsgraph.scene) if frame_changed else {}
            asked = self._requests(places, which)
            if not anew:
                for k, (wished, values) in self.written.guessed.items():
                    if k in asked and wished == asked[k].wished and self._writer.shows(copy, values, self._rows[k]):
                        del asked[k]
            for k, own in asked.items():
                sampled, values = ahead.get(k, (None, None))
                # To the last digit what every other visit to the frame gives.
                if sampled is None or not same_wishes(sampled, own.wishes, self.chains[k].chain.length):
                    values = self._values(k, own)
                for (name, mode), numbers in zip(self._channels[k], values.tolist(), strict=True):
                    writer.write(name, mode, numbers[: channel_of(mode)[1]])
                if frame_changed and self._recallable[k]:
                    if (len(self._recalled) + 1) * self.among > _KEPT_AHEAD:
                        self._recalled.clear()
                    self._recalled.setdefault(frame, {})[k] = own.wished, values
            own = [self.models[k] for k in which]
            writer.commit(
                [*(model.tip for model in own), *(model.led.name for model in own if model.led)], frame_changed
            )
            loans.settle(places.depsgraph, frame_changed)
        except (ChainError, AttributeError, KeyError):
            # The pass that reads everything finds the reason and says it.
            return False
        return True

    def _values(self, k: int, asked: Request) -> np.ndarray:
        """See `Request.values`. Of many chains that are solved because the pose changed few are asked anew."""
        digits, before = asked.digits, self._solved.get(k)
        if before is None or before[0] is not asked.ready or before[1] != digits:
            before = self._solved[k] = asked.ready, digits, asked.values()
        return before[2]

    def _ahead_of(self, ob: bpy.types.Object, scene: bpy.types.Scene) -> dict[int, tuple[Wishes, np.ndarray]]:
        """Of the chains that can be sampled what they wish at the scene's frame, and the numbers of their channels."""
        frame = scene.frame_current_final
        ahead = self._ahead.get(frame) or self._look_ahead(ob, scene, frame)
        at, rows = int(frame - ahead.first), np.cumsum([0, *(len(self._channels[k]) for k in ahead.which)])
        own = zip(ahead.which, ahead.readings, pairwise(rows), strict=True)
        return {k: (reading.goal.at(at), ahead.values[at, start:end]) for k, reading, (start, end) in own}

    def _requests(self, places: SceneReader, which: Sequence[int]) -> dict[int, Request]:
        """What chains ask for just now, each with all that are solved together with it among them."""
        reader = places.armature(self._object)
        return dict(zip(which, asked_now(reader, [self.chains[k] for k in which]), strict=True))

    def is_up_to_date(self) -> bool:
        """True if the models of the chains still hold; those whose FK pose or settings are others are read again."""
        ob = self.object
        if ob is None:
            return False
        try:
            now = [numbers_of(ob, model) for model in self.models]
            for k, (numbers, before) in enumerate(zip(now, self._looked, strict=True)):
                *own, _ = numbers
                *own_before, _ = before
                if own != own_before:
                    self.chains[k] = planned_chain(ob, self.models[k])
                if numbers != before:
                    self._forget_ahead()
                    self._recalled.clear()
            self._looked = now
        except (ChainError, KeyError):
            # A bone is gone, or has a pose for which the model does not hold.
            return False
        return True

    def is_to_be_tagged(self) -> bool:
        """Whether chains were written before this evaluation, and nothing ties one of them to its controls."""
        ob, written = self.object, self.written
        which = *written.early, *written.guessed, *(written.ahead.which if written.ahead else ())
        return ob is not None and not all(self._is_tied(ob, k) for k in which)

    def _is_tied(self, ob: bpy.types.Object, k: int) -> bool:
        def found() -> bool:
            bones, model = ob.pose.bones, self.models[k]
            return is_tied(bones[model.tip]) and (not model.led or is_tied(bones[model.led.name], loosely=True))

        return self._once("tied", k, found)

    def is_alone(self) -> bool:
        """Whether nothing but channels places the armature object, what of it carries or makes its chains, and their
        control bones."""
        ob = self.object

        def found() -> bool:
            driven = any(data and data.drivers for data in (ob.animation_data, ob.data.animation_data))
            bones = ob.pose.bones
            names = {name for model in self.models for name in model.touched}
            names |= {name for model in self.models if model.body for name in model.body.line}
            for tip in (bones[model.tip] for model in self.models):
                names |= {tip.analytic_ik_end_bone, *(bone.name for bone in tip.parent_recursive)}
            line = [bones[name] for name in names if name in bones]
            constrained = any(not each.mute for owner in (ob, *line) for each in owner.constraints)
            free = ob.parent is None and not driven and not constrained
            return free and not any(map(self._follows_others, self.models))

        return ob is not None and self._once("alone", self._uid, found)

    def plays(self, depsgraph: bpy.types.Depsgraph) -> bool:
        """True if a depsgraph shows the FK pose of bones that have keys: Blender plays these also where it finds out
        again what depends on what."""
        ob = self.object
        if ob is None or not self._keyed or not is_evaluated_in(ob, depsgraph):
            return False
        bones, evaluated = ob.pose.bones, ob.evaluated_get(depsgraph).pose.bones
        return any(raw_values(bones[name], mode) == raw_values(evaluated[name], mode) for name, mode in self._keyed)

    def _is_placed(self, control: bpy.types.Object, moved: set[str]) -> bool:
        """Whether a moved control is where its channels and its parent's place say, which has not moved."""
        simple = self._once(
            "placed", control.session_uid, lambda: control.parent_type == "OBJECT" and not not_simple(control)
        )
        above = control.parent
        while above is not None and above.name_full not in moved:
            above = above.parent
        return simple and above is None

    def _follows_others(self, model: LimbModel) -> bool:
        """Whether constraints let a control bone of a chain follow another object."""
        own = self._object
        names = [name for ob, name in target_and_pole(own.pose.bones[model.tip]) if ob == own]
        bones = [own.pose.bones[name] for name in names if name in own.pose.bones]
        return any(
            aim != own
            for bone in bones
            for above in (bone, *bone.parent_recursive)
            for each in above.constraints
            if not each.mute
            for aim, _ in aims_of(each)
        )

    def _follows_channels(self, k: int) -> bool:
        """Whether channels alone say where the control bones of a chain are."""
        controls = target_and_pole(self._object.pose.bones[self.models[k].tip])
        bones = (control.pose.bones[name] for control, name in controls if name)
        return self._once("by channels", k, lambda: all(map(goes_by_channels, bones)))

    def reasons(self, scene: bpy.types.Scene, which: Sequence[int] | None = None) -> list[str]:
        """For each chain, or each of these, what keeps its controls from being sampled; "": nothing."""
        which = range(len(self.chains)) if which is None else which
        ob = self.object
        if not time_is_plain(scene):
            return [messages.TIME_REMAPPED()] * len(which)
        if ob is None:
            return [messages.ARMATURE_GONE()] * len(which)
        judge = Judge()
        found = {
            k: self._refused.get(k) or self._late.get(self.models[k].tip) or _why_not_sampled(ob, self.models[k], judge)
            for k in self._with_others(which)
        }
        return [next((found[other] for other in (k, *self._together[k]) if found[other]), "") for k in which]

    def way_of(self, scene: bpy.types.Scene, tip: str) -> str | None:
        """The same of the chain with this tip bone; None: it has none."""
        k = next((k for k, model in enumerate(self.models) if model.tip == tip), None)
        if k is None:
            return None
        # Asked for one of them: all the others may be many.
        return self.ways[k] if self.ways else self.reasons(scene, [k])[0]

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
        sampled = [k for k, way in enumerate(self.ways) if not way]
        reader = TrackReader(Sampler(frames), len(frames))
        readings: dict[int, Reading] = {}
        for k, reading in zip(sampled, reader.readings((ob, self.chains[k]) for k in sampled), strict=True):
            if isinstance(reading, ChainError):
                self.ways[k] = str(reading)
            else:
                readings[k] = reading
        poses = {}
        for k, pose in zip(readings, solve_each([*readings.values()]), strict=True):
            if isinstance(pose, ChainError):
                self.ways[k] = str(pose)
            else:
                poses[k] = pose
        poses = {k: pose for k, pose in poses.items() if poses.keys() >= {*self._together[k]}}
        for k in sampled:
            self.ways[k] = next((self.ways[other] for other in (k, *self._together[k]) if self.ways[other]), "")
        if not poses:
            none = np.empty(0)
            return _Ahead(frames[0], [], [], None, none, none, none, [], [])
        which, own = [*poses], [readings[k] for k in poses]
        rows = np.concatenate([self._rows[k] for k in which])
        channels = [(reading.model, channel) for reading in own for channel in reading.model.channels]
        has_keys = np.array([name in model.keyed_bones for model, (name, _) in channels])
        curves = curves_of(ob, {channel_path(*each) for model, each in channels if each[0] in model.keyed_bones})
        fk, values = channel_values(own, [*poses.values()])
        keyed = np.flatnonzero(has_keys)
        # Of each chain the first one.
        firsts = {channels[place][0].tip: (place, channels[place][1]) for place in keyed[::-1].tolist()}
        watched = [
            (channel_path(name, mode), [*map(tuple, values[:, place, : channel_of(mode)[1]].tolist())])
            for place, (name, mode) in firsts.values()
        ]
        which_rows = None if len(rows) == self.bones else rows
        return _Ahead(frames[0], which, own, which_rows, values, rows[keyed], fk[:, keyed], curves, watched)

    def _misplaced(self, ob: bpy.types.Object, places: SceneReader, ahead: _Ahead, some: Sequence[int]) -> list[int]:
        """Which of some chains solved before the frame were led astray; they are not sampled any more."""
        assert self.ways is not None
        found = []
        for k in some:
            sampled = ahead.readings[ahead.which.index(k)].goal.at(self.written.row)
            if not is_confirmed(places.armature(ob), self.chains[k], sampled):
                found.append(k)
        if found:
            self._ahead.clear()
            for k in self._with_others(found):
                self.ways[k] = self._refused[k] = messages.NOT_WHERE_SAMPLED()
        return found


def _why_not_sampled(ob: bpy.types.Object, model: LimbModel, judge: Judge) -> str:
    """What keeps what a chain reads from being sampled; "": nothing."""
    read = (ob, model.parent), *controls_of(ob, model)
    why = next(filter(None, (judge.not_simple(*each) for each in read)), "")
    if not why and not model.is_still:
        why = action_not_simple(ob)
        if not why and model.keyed_bones and not plays_alone(ob):
            why = messages.KEYS_SHARED(object=ob.name)
    return why


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


Numbers = tuple[list[Matrix], list[float], list[Matrix | float]]
"""Of a chain its FK pose and the settings that may change from frame to frame, as far as nothing keys them: what is
keyed is read at each frame. The last: of the bone that is written with it."""


def numbers_of(ob: bpy.types.Object, model: LimbModel) -> Numbers:
    """What the planned chain of an original armature object looks like. Raises KeyError if a bone is gone."""
    bones, body = ob.pose.bones, model.led
    watched, of_body = model.touched - model.keyed_bones, []
    if body:
        bone = bones[body.name]
        of_body = [getattr(bone, PREFIX + name) for name in BODY_RANGES if name not in body.keyed_settings]
        of_body += [] if body.keyed else [bone.matrix_basis.copy()]
    return (
        [bones[name].matrix_basis.copy() for name in watched if not (body and name == body.name)],
        [getattr(bones[model.tip], PREFIX + name) for name in SAMPLED_SETTINGS if name not in model.keyed_settings],
        of_body,
    )
