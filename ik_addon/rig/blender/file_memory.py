"""What is remembered of the file that is open: plain data and armature objects, gone with that state of the file.

Also the reports of what was done in this Blender, the last of each kind, and that of the action which plays now. They
are not kept on actions: copies of these, in which something else was done, would have them too, and so would files.
After an undo nothing is said of an action, for it may be that of before.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import bpy


@dataclass(frozen=True, slots=True)
class MovedStep:
    """What the keys of a step were before its footprint was moved, and what they are now.

    place: of the footprint before, the columns of its matrix. keys, after: all that the keys of its control were and
    are, by F-Curve. below: what they were without corrections; empty: the same.
    """

    place: list[float]
    keys: dict[str, bytes]
    after: dict[str, bytes]
    below: dict[str, bytes]


@dataclass(slots=True)
class FileMemory:
    """All that is kept from one question to the next.

    armatures: under "now" counts of the file's objects and armatures, its armature objects then, and their session
    numbers. To find them by name Blender looks through all objects of the file, for each; it tells when one of them is
    gone.
    named: armature objects by the full names that they had when one was last looked for in vain.
    channels: by session numbers of objects which channels of bones animation sets, after what tells whether it changed.
    placing: of objects with drivers which of these place it, and which of its bones.
    walks: see `animation.unchanged`: for each of them what F-Curves set, by the session numbers of objects.
    taken_over: session numbers of copies that took an action's place, and whose they count as: they were not made.
    went: session numbers of scenes, in the order in which they went to a frame.
    silent: by the session numbers of armature objects, which may get other names, and of scenes: the places of the
    F-Curves that are silent in what shows the scene.
    shown: by the name of an armature object the channels that hold a solution in its evaluated bones, or held one:
    another depsgraph may show it still.
    played: what armature objects play whose controls have been looked at, by their session numbers.
    drawn: depsgraphs in which chains were solved, or that were drawn already: their addresses and view layers.
    driven: by control, an object and a bone or "", the chains that follow it, by the names of armature object and tip
    bone: a redraw of the panels asks for them dozens of times.
    moved_steps: by the session numbers of footprints that were moved.
    keys: by the session numbers of armature objects all that the keys of their controls are, before one is keyed.
    looked: when keys were last compared with these: the address of the last operator in the history.
    visited: the frames at which the scene has been since.
    reports: of what was done to an action, by the kind of report and the names of armature object and action.
    limbs: under "now" what an armature was like when its limbs were last found, and these, as plain data: to find them
    takes too long for every redraw.
    """

    armatures: dict[str, tuple] = field(default_factory=dict)
    named: dict[str, bpy.types.Object] = field(default_factory=dict)
    channels: dict[int, tuple[tuple, dict[str, set[tuple[str, int]]]]] = field(default_factory=dict)
    placing: dict[int, tuple[tuple, dict[str, list[int]]]] = field(default_factory=dict)
    walks: list[dict[int, Collection[str]]] = field(default_factory=list)
    taken_over: dict[int, int] = field(default_factory=dict)
    went: list[int] = field(default_factory=list)
    silent: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    shown: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    played: dict[int, tuple[int, int]] = field(default_factory=dict)
    drawn: set[tuple[int, str]] = field(default_factory=set)
    driven: dict[tuple[int, str], list[tuple[str, str]]] = field(default_factory=dict)
    moved_steps: dict[int, MovedStep] = field(default_factory=dict)
    keys: dict[int, dict[tuple[int, int], dict[str, bytes]]] = field(default_factory=dict)
    looked: dict[str, int] = field(default_factory=dict)
    visited: set[float] = field(default_factory=set)
    reports: dict[tuple[str, str, str], dict] = field(default_factory=dict)
    limbs: dict[str, tuple] = field(default_factory=dict)

    def forget(self) -> None:
        """Another state of the file: nothing that was known holds."""
        for each in fields(self):
            getattr(self, each.name).clear()

    def forget_armatures(self) -> None:
        """Look for the armature objects again at the next question."""
        self.armatures.clear()
        self.named.clear()

    def forget_animation(self) -> None:
        """Read all animation again at the next question."""
        self.channels.clear()
        self.placing.clear()


file_memory = FileMemory()


Kind = Literal["bake", "keys", "match", "plain", "plant"]


@dataclass(slots=True)
class Session:
    """What is known of this Blender, whatever file is open.

    reports: the last of each kind. cleanups: what is to be done at the end of work that goes on. evaluations: for each
    in the middle of a pass whether handlers were called.
    """

    reports: dict[Kind, dict] = field(default_factory=dict)
    cleanups: list[Callable[[], object]] = field(default_factory=list)
    evaluations: list[list[bool]] = field(default_factory=list)


session = Session()


def remember(kind: Kind, report: dict) -> dict:
    """Keep a report, apart from the one that a script gets and may change; returns it."""
    session.reports[kind] = own = _copied(report)
    if "action" in report:
        file_memory.reports[kind, report["armature"], report["action"]] = own
    return report


def _copied(value: Any) -> Any:
    """Plain data, apart from where it came from; `deepcopy` takes several times as long."""
    if isinstance(value, dict):
        return {key: _copied(each) for key, each in value.items()}
    return type(value)(map(_copied, value)) if isinstance(value, (list, tuple)) else value


def last(kind: Kind) -> dict:
    """The last report of a kind; empty before the first."""
    return _copied(session.reports.get(kind, {}))


def of_action(kind: Kind, ob: bpy.types.Object) -> dict | None:
    """The last report of a kind on the action that an armature object plays now."""
    return file_memory.reports.get(_of_action(kind, ob))


def forget(kind: Kind, ob: bpy.types.Object) -> None:
    """What it says of that action no longer holds."""
    file_memory.reports.pop(_of_action(kind, ob), None)


def _of_action(kind: Kind, ob: bpy.types.Object) -> tuple[str, str, str]:
    action = ob.animation_data.action if ob.animation_data else None
    return kind, ob.name, action.name if action is not None else ""
