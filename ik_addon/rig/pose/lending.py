"""What original bones are lent: the solution, while Blender copies them anew.

Whenever anything but the add-on's handlers runs, the channels of the originals hold the FK pose. Where Blender is about
to copy an armature object, its originals are lent what the evaluated bones show, for the length of that evaluation.
`loans` alone does that, and knows whether anything is lent: it remembers each FK value before the first write, and
forgets it after the last. So whatever interrupts it, at any instruction, nothing is lost.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import bpy

from ..blender.evaluation import evaluate
from ..blender.rotations import LOCATION, SCALE, channel_of

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

    def want(self, ob: bpy.types.Object, shown: Shown) -> None:
        """Have an original armature object lent the solution before the next evaluation."""
        self._wanted[ob.session_uid] = ob, shown

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


def shown_by(ob_evaluated: bpy.types.Object, ob: bpy.types.Object, channels: Iterable[tuple[str, str]]) -> Shown:
    """What the bones of an evaluated armature object hold in those channels that the original has at present too."""
    bones, evaluated, found = ob.pose.bones, ob_evaluated.pose.bones, []
    for name, mode in channels:
        bone, shown = bones.get(name), evaluated.get(name)
        if bone and shown and has_channel(bone, mode) and shown.rotation_mode == bone.rotation_mode:
            channel = channel_of(mode)[0]
            found.append((name, channel, tuple(shown.path_resolve(channel, False))))
    return found


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
