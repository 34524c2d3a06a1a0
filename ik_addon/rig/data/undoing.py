"""All or nothing: whatever fails in the middle leaves no object, key, lock or setting behind."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache

import bpy
import numpy as np

from ..blender.animation import drivers_of, fcurve_homes
from ..blender.cleanup import Scratch, surely
from ..blender.clips import Clip, clip_in
from ..blender.file_memory import file_memory
from ..blender.rotations import REST
from .relation import KeptControls
from .settings import PREFIX

_MADE = ("objects", "collections", "actions", "meshes")
"""The kinds of data-blocks that operators make."""
_OF_OBJECT = (*REST, "analytic_ik_report")
_BLENDERS_LIMITS = ("lock_ik_", "use_ik_limit_", "ik_min_", "ik_max_")
_CONTROLS = "analytic_ik_record_controls"
_TRIGGER = "analytic_ik_record_trigger"
_OF_CONSTRAINT = ("mute", "influence")
_CURVES = getattr(bpy.types, "ActionChannelbagFCurves", bpy.types.FCurve)
_TAKES_CURVES = "new_from_fcurve" in _CURVES.bl_rna.functions
"""Whether an action can be given F-Curves of another one as they are: since Blender 5.0."""
_PLAIN = str | int | float | None | bpy.types.ID
"""Kinds of values that stay as they are; Blender's vectors show what their property holds at any time."""


class Undo:
    """What objects and the file hold at one moment, to bring back if what follows fails.

    objects: all of their bones, constraints and animation count; keys: those of what they play as their current action
    as well. actions: others whose keys count.
    """

    def __init__(
        self, objects: Iterable[bpy.types.Object], keys: bool = False, actions: Iterable[bpy.types.Action] = ()
    ) -> None:
        self._objects = [(ob, _Before(ob)) for ob in dict.fromkeys(objects)]
        own = (action for ob, _ in self._objects for action in _current(ob)) if keys else ()
        self._actions = dict.fromkeys((*actions, *own))
        self._fake_users = {_uid(action): action.use_fake_user for action in bpy.data.actions}
        self._scratch = Scratch(bpy.data.actions)
        self._copies: list[tuple[Clip, bpy.types.Action]] = []
        self._before = _uids()
        self._made: dict[str, set[int]] | None = None
        self._making: dict[str, set[int]] | None = None

    def note_keys(self) -> None:
        for action in self._actions:
            copy = self._scratch.made(action.copy)
            copy.use_fake_user = action.use_fake_user
            # By its name: a copy may take its place before.
            self._copies.append((clip_in(action), copy))
        self._before = _uids()

    def nothing_more_is_made(self) -> None:
        """What comes into the file from here on, in the steps of a window, is somebody else's and stays."""
        if self._made is None:
            self._made = {kind: uids - self._before[kind] for kind, uids in _uids().items()}

    @contextmanager
    def making(self) -> Iterator[None]:
        """What comes into the file inside is made by the work itself, although nothing more was to be made."""
        self._making = _uids()
        try:
            yield
        finally:
            self._count_made()

    def _count_made(self) -> None:
        """What is in the file beside what was there as `making` began was made; an interrupted count is begun anew."""
        if self._making is not None and self._made is not None:
            self._made = {kind: self._made[kind] | (uids - self._making[kind]) for kind, uids in _uids().items()}
        self._making = None

    def forget(self) -> None:
        self._scratch.remove()

    def bring_back(self) -> None:
        self.nothing_more_is_made()
        self._count_made()
        for ob, held in self._objects:
            held.bring_back(ob)
        for clip, copy in self._copies:
            if not _hold_again(clip.action, copy):
                self._scratch.keep(copy)
                _replace(clip.action, copy)
        self._copies = []
        for action in bpy.data.actions:
            kept = self._fake_users.get(_uid(action), action.use_fake_user)
            if action.use_fake_user != kept:
                action.use_fake_user = kept
        for kind, uids in self._made.items():
            blocks = getattr(bpy.data, kind)
            for each in [each for each in blocks if _uid(each) in uids]:
                blocks.remove(each)
        file_memory.forget_armatures()
        file_memory.forget_animation()


@contextmanager
def all_or_nothing(
    objects: Iterable[bpy.types.Object], keys: bool = False, actions: Iterable[bpy.types.Action] = ()
) -> Iterator[Undo]:
    """Whatever is raised inside leaves objects and the file as they were before: see `Undo`."""
    undo = Undo(objects, keys, actions)
    with surely(undo.forget):
        try:
            undo.note_keys()
            yield undo
        except BaseException:
            undo.bring_back()
            raise


class _Before:
    def __init__(self, ob: bpy.types.Object) -> None:
        self._own = _values(ob, _OF_OBJECT)
        self._has_controls = ob.is_property_set(_CONTROLS)
        self._has_trigger = ob.is_property_set(_TRIGGER)
        self._controls = [_values(kept, _names(KeptControls)) for kept in ob.analytic_ik_record_controls]
        _, own = _parted(_names(bpy.types.PoseBone))
        self._bones = {
            bone.name: (_values(bone, own), ({each.name: _values(each, _OF_CONSTRAINT) for each in bone.constraints}))
            for bone in _bones(ob)
        }
        self._of_blender = _of_blender(ob)
        data = ob.animation_data
        self._animated = data is not None
        action = data.action if data else None
        # By its name: a copy may take its place.
        self._action = action and (action.name, action.library and action.library.filepath)
        self._slot = getattr(data, "action_slot_handle", 0)
        self._drivers = _drivers(ob)

    def bring_back(self, ob: bpy.types.Object) -> None:
        """Let the object hold it again. What it holds already is not touched, so that nothing is evaluated for it."""
        (_, own), changed = _parted(_names(bpy.types.PoseBone)), False
        for bone in _bones(ob):
            if bone.name in self._bones:
                values, constraints = self._bones[bone.name]
                changed |= _set_back(bone, values, own)
                changed |= _set_constraints_back(bone, constraints)
        changed |= self._bring_poses_back(ob)
        self._bring_controls_back(ob)
        self._bring_animation_back(ob)
        # Last: keys no longer play over it.
        changed |= _set_back(ob, self._own, _OF_OBJECT)
        if changed:
            ob.update_tag()

    def _bring_poses_back(self, ob: bpy.types.Object) -> bool:
        """What Blender's own properties of the bones hold that there were. Returns whether any held another."""
        rows, changed = {name: row for row, name in enumerate(self._bones)}, False
        kept = [(k, rows[bone.name]) for k, bone in enumerate(_bones(ob)) if bone.name in rows]
        present, before = np.array(kept, int).reshape(-1, 2).T
        for name, now in _of_blender(ob).items():
            held = self._of_blender[name]
            for k in np.flatnonzero((now[present] != held[before]).any(axis=1)):
                numbers = held[before[k]].tolist()
                setattr(ob.pose.bones[present[k]], name, numbers if len(numbers) > 1 else numbers[0])
                changed = True
        return changed

    def _bring_controls_back(self, ob: bpy.types.Object) -> None:
        kept = ob.analytic_ik_record_controls
        names = {values["name"] for values in self._controls}
        for name in [each.name for each in kept if each.name not in names]:
            kept.remove(kept.find(name))
        for values in self._controls:
            own = kept.get(values["name"]) or kept.add()
            _set_back(own, values, _names(KeptControls))
        if not self._has_controls:
            ob.property_unset(_CONTROLS)
        if not self._has_trigger:
            ob.property_unset(_TRIGGER)

    def _bring_animation_back(self, ob: bpy.types.Object) -> None:
        data = ob.animation_data
        if data is None:
            return
        for path, index in _drivers(ob) - self._drivers:
            data.drivers.remove(data.drivers.find(path, index=index))
        action = self._action and bpy.data.actions[self._action]
        if data.action != action:
            data.action = action
        if getattr(data, "action_slot_handle", 0) != self._slot:
            slots = action.slots if action else ()
            data.action_slot = next((slot for slot in slots if slot.handle == self._slot), None)
        if not self._animated:
            ob.animation_data_clear()


def _uids() -> dict[str, set[int]]:
    return {kind: {_uid(each) for each in getattr(bpy.data, kind)} for kind in _MADE}


def _uid(block: bpy.types.ID) -> int:
    return file_memory.taken_over.get(block.session_uid, block.session_uid)


def _bones(ob: bpy.types.Object) -> Iterable[bpy.types.PoseBone]:
    return ob.pose.bones if ob.pose else ()


def _of_blender(ob: bpy.types.Object) -> dict[str, np.ndarray]:
    """What those of Blender's properties hold that operators set, of all bones: (bones, numbers) each."""
    found, bones, properties = {}, _bones(ob), bpy.types.PoseBone.bl_rna.properties
    for name in _parted(_names(bpy.types.PoseBone))[0] if len(bones) else ():
        width = properties[name].array_length or 1
        found[name] = np.empty((len(bones), width), bool if properties[name].type == "BOOLEAN" else np.float32)
        bones.foreach_get(name, found[name].reshape(-1))
    return found


@cache
def _names(kind: type[bpy.types.PoseBone] | type[bpy.types.Action] | type[KeptControls]) -> tuple[str, ...]:
    """The properties that operators set, of bones, of actions or of what is kept of chains' controls.

    Records come last: setting another property may set one.
    """
    found = [rna.identifier for rna in kind.bl_rna.properties if not rna.is_readonly]
    if kind is bpy.types.PoseBone:
        found = [name for name in found if name in REST or name.startswith((PREFIX, *_BLENDERS_LIMITS))]
    return tuple(sorted(found, key=lambda name: name.startswith(f"{PREFIX}record")))


def _values(owner: bpy.types.bpy_struct, names: Iterable[str]) -> dict[str, object]:
    """The values of properties; of the add-on's only those that are set, and to something that there is."""
    blenders, own = _parted(tuple(names))
    found = {name: _plain(getattr(owner, name)) for name in blenders}
    # Blender keeps them with custom properties until 4.5, and apart from them since.
    kept = getattr(owner, "bl_system_properties_get", lambda: owner)() if own else None
    # Of most bones none is set: a look at what they keep takes less than to ask for each.
    for name in own if kept is not None and kept.keys() else ():
        if not owner.is_property_set(name):
            continue
        # A file that somebody else has written may hold a choice that there is none of.
        value = getattr(owner, name)
        if value != "" or owner.bl_rna.properties[name].type != "ENUM":
            found[name] = _plain(value)
    return found


@cache
def _parted(names: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Names of properties: Blender's, and the add-on's."""
    own = [name for name in names if name.startswith(PREFIX)]
    return [name for name in names if name not in own], own


def _set_back(owner: bpy.types.bpy_struct, values: dict[str, object], names: Iterable[str]) -> bool:
    """Let properties have their values again. Returns whether any had another."""
    changed = False
    for name in names:
        if name in values:
            is_set = not name.startswith(PREFIX) or owner.is_property_set(name)
            if is_set and _plain(getattr(owner, name)) == values[name]:
                continue
            setattr(owner, name, values[name])
        elif owner.is_property_set(name):
            owner.property_unset(name)
        else:
            continue
        changed = True
    return changed


def _plain(value: object) -> object:
    return value if isinstance(value, _PLAIN) else tuple(value)


def _set_constraints_back(bone: bpy.types.PoseBone, before: dict[str, dict[str, object]]) -> bool:
    changed = False
    for constraint in list(bone.constraints):
        if constraint.name in before:
            changed |= _set_back(constraint, before[constraint.name], _OF_CONSTRAINT)
        else:
            bone.constraints.remove(constraint)
            changed = True
    return changed


def _drivers(ob: bpy.types.Object) -> set[tuple[str, int]]:
    return {(driver.data_path, driver.array_index) for driver in drivers_of(ob)}


def actions_of(*obs: bpy.types.Object) -> Iterator[bpy.types.Action]:
    """This file's own actions of objects: the current ones, and those of their NLA strips."""
    for ob in obs:
        yield from _current(ob)
        yield from _own(home.id_data for home in fcurve_homes(ob))


def _current(ob: bpy.types.Object) -> Iterator[bpy.types.Action]:
    return _own([ob.animation_data.action] if ob.animation_data else ())


def _own(actions: Iterable[bpy.types.Action | None]) -> Iterator[bpy.types.Action]:
    return (each for each in actions if each is not None and each.library is None and each.override_library is None)


def _hold_again(action: bpy.types.Action, copy: bpy.types.Action) -> bool:
    """Let an action hold what its copy does, so that references of scripts to it last. Returns whether it can: not
    before Blender 5.0, nor if slots came or went."""
    own, held = _bags(action), _bags(copy)
    if not _TAKES_CURVES or own.keys() != held.keys() or len(action.slots) != len(copy.slots):
        return False
    for slot, bag in own.items():
        bag.fcurves.clear()
        for curve in held[slot].fcurves:
            again = bag.fcurves.new_from_fcurve(curve)
            if curve.group is not None:
                again.group = bag.groups.get(curve.group.name) or bag.groups.new(curve.group.name)
    _, names = _parted(_names(bpy.types.Action))
    _set_back(action, _values(copy, names), names)
    # The stubs do not know what keys there are.
    for name in {*action.keys(), *copy.keys()}:  # pyright: ignore[reportGeneralTypeIssues]
        if name in copy:
            action[name] = copy[name]
        else:
            del action[name]
    action.update_tag()
    return True


def _bags(action: bpy.types.Action) -> dict[int, "bpy.types.ActionChannelbag"]:
    """What holds its F-Curves, by the handles of slots; empty where actions have none."""
    strips = (strip for layer in getattr(action, "layers", ()) for strip in layer.strips)
    return {bag.slot_handle: bag for strip in strips for bag in strip.channelbags}


def _replace(action: bpy.types.Action, copy: bpy.types.Action) -> None:
    name, file_memory.taken_over[copy.session_uid] = action.name, _uid(action)
    action.user_remap(copy)
    bpy.data.actions.remove(action)
    copy.name = name
