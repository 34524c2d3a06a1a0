"""The only file that writes a solution: into evaluated bones, while the channels of the originals hold the FK pose.

Numbers are written by a bone's own array properties: that tags nothing and copies nothing. Blender evaluates them when
the trigger of the armature is tagged (relation.py). When Blender is about to copy an armature object anew, the original
is lent the solution for the length of that update, or the copy would bring the FK pose and the skin be evaluated twice.
`loans` alone does that: it remembers each FK value before the first write, and forgets it after the last. So whatever
interrupts it, at any instruction, nothing is lost.
"""

from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import bpy
import numpy as np

from ..blender.animation import animated_channels
from ..blender.armatures import armature_objects
from ..blender.evaluation import evaluate, silent_channels
from ..blender.file_memory import file_memory
from ..blender.rotations import LOCATION, SCALE, Raw, channel_of, channel_path, raw_values
from ..blender.sampling import Sampler, stands_elsewhere
from ..data.relation import wake

Numbers = tuple[float, ...]
Shown = list[tuple[str, str, Numbers]]
"""Name of a bone, one of its array properties, and the numbers of the solution."""


@dataclass(slots=True)
class Loans:
    """The originals that are lent the solution, and those to be lent it before the next evaluation.

    lent: object, bone, property, FK values, and the numbers that were lent. wanted: by session number an object and
    what it shall be lent.
    """

    _lent: list[tuple[bpy.types.Object, str, str, Numbers, Numbers]] = field(default_factory=list)
    _wanted: dict[int, tuple[bpy.types.Object, Shown]] = field(default_factory=dict)

    def lend(self, ob: bpy.types.Object, shown: Shown) -> None:
        """Lend an original armature object the solution; `take_back` ends it."""
        bones = _bones(ob)
        for name, channel, numbers in shown:
            bone = bones.get(name)
            own = bone and bone.path_resolve(channel, False)
            fk = own and tuple(own)
            if fk and fk != numbers:
                self._lent.append((ob, name, channel, fk, numbers))
                own.foreach_set(numbers)

    def want(self, ob: bpy.types.Object, ob_evaluated: bpy.types.Object) -> None:
        """Have an original armature object lent what its evaluated copy shows before the next evaluation."""
        self._wanted[ob.session_uid] = ob, shown_numbers(ob, ob_evaluated)

    def lend_wanted(self, is_last: bool) -> None:
        """Lend all that is to be lent, just before an evaluation.

        is_last: no handler of others follows, which would see it. Else nothing is lent: it is solved afterwards.
        """
        while self._wanted:
            _, (ob, shown) = self._wanted.popitem()
            if is_last:
                self.lend(ob, shown)

    def settle(self, depsgraph: bpy.types.Depsgraph, frame_changed: bool) -> None:
        """Have what is to be lent evaluated at once.

        Not within a change of frames, which evaluates it by itself: Blender 4.2 and 4.5 may crash there. No handler is
        called after that, so it is taken back by a timer, or by the next handler.
        """
        if not self._wanted:
            return
        if not frame_changed:
            self.evaluate(depsgraph)
            return
        self.lend_wanted(is_last=True)
        if not bpy.app.timers.is_registered(self.take_back):
            bpy.app.timers.register(self.take_back, first_interval=0.0)

    def evaluate(self, depsgraph: bpy.types.Depsgraph) -> None:
        """Evaluate all that has changed; what is to be lent is, in the add-on's last handler before it."""
        try:
            evaluate(depsgraph)
        finally:
            self.take_back()

    def take_back(self) -> None:
        """Give the originals their FK values again, but for numbers that somebody else has set meanwhile."""
        while self._lent:
            ob, name, channel, fk, lent = self._lent[-1]
            bone = _bones(ob).get(name)
            if bone is not None:
                own = bone.path_resolve(channel, False)
                now = tuple(own)
                if now != lent:
                    fk = [mine if number == was else number for number, was, mine in zip(now, lent, fk, strict=True)]
                own.foreach_set(fk)
            self._lent.pop()

    def forget(self) -> None:
        """Another state of the file: nothing is lent."""
        self._lent.clear()
        self._wanted.clear()


loans = Loans()


def has_channel(bone: bpy.types.PoseBone, mode: str) -> bool:
    """Whether a channel is one that a bone has at present: of rotations only that of its mode."""
    return mode in (SCALE, LOCATION) or mode == bone.rotation_mode


def _bones(ob: bpy.types.Object) -> Mapping[str, bpy.types.PoseBone]:
    """The bones of an armature object; none if it is gone."""
    try:
        # The stubs know it for a collection, which has this of a mapping.
        return ob.pose.bones  # pyright: ignore[reportReturnType]
    except ReferenceError:
        return {}


_ROUNDING = 5e-7
"""What the numbers of a rotation or scale differ by that was solved before the frame and after it."""

Channel = tuple[str, str]
"""The name of a bone, and its rotation mode, SCALE or LOCATION."""


def put(bones: bpy.types.bpy_prop_collection, channel: Channel, numbers: Sequence[float]) -> None:
    """Write the numbers of a channel of one of some bones, without a tag."""
    name, mode = channel
    bones[name].path_resolve(channel_of(mode)[0], False).foreach_set(numbers)


class FkPose:
    """Reads the FK pose of one armature: what the channels of its original bones hold.

    ob: the armature object; scene: in which it was evaluated, None: as its channels are. ob_evaluated: its evaluated
    copy, if animation has just been evaluated: a render brings it to the copy alone.
    """

    def __init__(
        self,
        ob: bpy.types.Object,
        scene: bpy.types.Scene | None = None,
        ob_evaluated: bpy.types.Object | None = None,
    ) -> None:
        self._ob, self._originals = ob, ob.pose.bones
        is_elsewhere = scene is not None and not ob_evaluated and stands_elsewhere(ob, scene)
        self.elsewhere = Sampler([scene.frame_current_final]) if is_elsewhere else None
        self._animated: Mapping[str, Collection[tuple[str, int]]] = {}
        if scene is not None and ob_evaluated is not None:
            self._evaluated, data = ob_evaluated.pose.bones, ob_evaluated.animation_data
            self._animated = animated_channels(ob, data, scene.frame_current_final)
            self._silent = silent_channels(ob, ob_evaluated) if self._animated else set()

    def rotation(self, name: str) -> tuple[str, Raw]:
        mode = self._originals[name].rotation_mode
        return mode, self.numbers(name, mode)

    def scale(self, name: str) -> Raw:
        return self.numbers(name, SCALE)

    def numbers(self, name: str, mode: str) -> Raw:
        """What a bone's channel holds of a rotation mode, SCALE or LOCATION."""
        fk, of_bone = raw_values(self._originals[name], mode), self._animated.get(name)
        if self.elsewhere is not None:
            there = self.elsewhere.channel(self._ob, channel_path(name, mode), fk)
            return tuple(there[0].astype(np.float32).tolist())
        if not of_bone:
            return fk
        channel, evaluated = channel_of(mode)[0], raw_values(self._evaluated[name], mode)
        return tuple(
            evaluated[k] if (channel, k) in of_bone and (name, channel, k) not in self._silent else value
            for k, value in enumerate(fk)
        )


class PoseWriter:
    """Collects the rotations and scales of one armature as one depsgraph evaluates it, and writes those that differ."""

    def __init__(self, ob: bpy.types.Object, ob_evaluated: bpy.types.Object) -> None:
        self._ob = ob
        self._evaluated = ob_evaluated
        self._values: dict[Channel, Raw] = {}
        self._given_back: set[Channel] = set()
        self._shown = file_memory.shown.setdefault(ob.name_full, set())

    def write(self, name: str, mode: str, solved: Raw) -> None:
        """Have a bone show `solved` in its channel of `mode`."""
        self._values[name, mode] = tuple(array("f", solved))
        self._shown.add((name, mode))

    def give_back(self, name: str, mode: str, fk: Raw) -> None:
        """Have a bone show its FK values again."""
        self._values[name, mode] = fk
        self._given_back.add((name, mode))

    def commit(self, tips: Iterable[str], frame_changed: bool = False) -> bool:
        """Write. Returns whether any bone is to be evaluated again.

        tips: of the chains whose bones are written, and bones that follow their limbs. frame_changed: the scene has
        just gone to a frame, whose pose then depends on nothing that stood there before.
        """
        bones, slack = self._evaluated.pose.bones, 0.0 if frame_changed else _ROUNDING
        changed = {
            channel: numbers
            for channel, numbers in self._values.items()
            # Equal to rounding it was solved in another way: nothing moves and nothing is evaluated again.
            if any(
                # A location has the unit of its armature: no number is small for all of them.
                not abs(a - b) <= (slack if channel[1] != LOCATION else 0.0)
                for a, b in zip(raw_values(bones[channel[0]], channel[1]), numbers, strict=True)
            )
        }
        # With several threads Blender may pass over a bone that was just written; seen after a trigger was deleted.
        names = {name for name, _ in self._values}
        passed_over = not changed and any(bones[name].matrix_channel != bones[name].matrix_basis for name in names)
        # What was switched off is tied no more; what animation switches off is.
        ended = not frame_changed and not self._given_back.isdisjoint(changed)
        self._values.clear()
        self._given_back.clear()
        for channel, numbers in changed.items():
            put(bones, channel, numbers)
        if (changed or passed_over) and (ended or not wake(self._ob, tips)):
            loans.want(self._ob, self._evaluated)
            self._ob.update_tag(refresh={"OBJECT"})
        return bool(changed) or passed_over


class RowWriter:
    """Writes the same channels of one armature's bones again and again, before Blender evaluates them.

    ob: the armature object; channels: of its bones.
    """

    def __init__(self, ob: bpy.types.Object, channels: Iterable[Channel]) -> None:
        channels = [*channels]
        # By paths from the object: half the time of finding the bone first.
        self._rows = [(channel_path(*channel), channel_of(channel[1])[1]) for channel in channels]
        file_memory.shown.setdefault(ob.name_full, set()).update(channels)

    def write(self, copies: Iterable[bpy.types.Object], values: np.ndarray, which: Iterable[int] | None = None) -> None:
        """Write values (channels, 4), zeros behind; which: of these of the channels alone.

        copies: the armature object as it is evaluated wherever it is shown, or the original, to write its FK pose.
        """
        rows = self._rows if which is None else [self._rows[row] for row in which]
        for copy in copies:
            for (path, width), numbers in zip(rows, values, strict=True):
                copy.path_resolve(path, False).foreach_set(numbers[:width])

    def shows(self, copy: bpy.types.Object, values: np.ndarray, which: Iterable[int]) -> bool:
        """True if the armature object, as it is evaluated, has values (channels, 4) in these of the channels."""
        rows = (self._rows[row] for row in which)
        return all(
            tuple(copy.path_resolve(path, False)) == tuple(numbers[:width])
            for (path, width), numbers in zip(rows, values.tolist(), strict=True)
        )


def shown_channels(ob: bpy.types.Object) -> list[Channel]:
    """The channels of an armature object's bones that may show a solution."""
    of_bones = ((ob.pose.bones.get(name), mode) for name, mode in file_memory.shown.get(ob.name_full, ()))
    return [(bone.name, mode) for bone, mode in of_bones if bone and has_channel(bone, mode)]


def shown_armatures() -> list[bpy.types.Object]:
    """The original armature objects that show a solution."""
    # While an add-on is being enabled Blender may not show its data.
    return [ob for ob in armature_objects() if file_memory.shown.get(ob.name_full)] if file_memory.shown else []


def shown_numbers(ob: bpy.types.Object, ob_evaluated: bpy.types.Object) -> Shown:
    """What the evaluated bones of an armature object show of a solution in those channels that the original has at
    present too, to be lent to that."""
    evaluated, found = ob_evaluated.pose.bones, []
    for name, mode in shown_channels(ob):
        shown = evaluated.get(name)
        if shown and has_channel(shown, mode):
            channel = channel_of(mode)[0]
            found.append((name, channel, tuple(shown.path_resolve(channel, False))))
    return found


def write_fk(ob: bpy.types.Object, numbers: Mapping[Channel, Raw]) -> None:
    """Make numbers the FK pose of some bones of an original armature object."""
    for channel, fk in numbers.items():
        put(ob.pose.bones, channel, fk)
    ob.update_tag(refresh={"OBJECT"})
