"""What the controls of limbs and the body do over frames, as their F-Curves have it, and what carries them."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import bpy
import numpy as np
from mathutils import Matrix

from ... import messages
from ...authoring.fk_frames import sampled_world, stepped
from ...authoring.placing import Control, Placer, depth, keyed_control
from ...bake.keys import check_keyable, check_unshared, key_times
from ...bake.stepping import Steps
from ...rig.blender.clips import motion_of
from ...rig.blender.rotations import LOCATION, array_of, channel_of, matrices_of, quaternions_of, raw_values
from ...rig.blender.sampling import Judge, Sampler, time_is_plain
from ...rig.data.settings import settings_of, target_and_pole
from ...rig.model.limb import known_bones, link_bones
from ...rig.model.order import live_tips
from ...rig.status.problems import check_changeable
from ...solvers import ChainError
from ..feet.curves import runs
from ..feet.simplifying import ControlTrack
from .kept_keys import curves_of
from .limbs import keyed_contacts
from .reading import carrier_of, leg_tips
from .sources import kept_settings


@dataclass(frozen=True, slots=True)
class LimbControls:
    """What is keyed of a limb: what moves its foot or hand, and its pole; None: there is none. on_body: whether it is a
    leg whose root the body carries."""

    tip: bpy.types.PoseBone
    foot: Control
    pole: Control | None
    on_body: bool = False


@dataclass(frozen=True, slots=True)
class KeyedControls:
    """The controls of an armature object's live limbs, and the bone that carries the body of its legs."""

    ob: bpy.types.Object
    limbs: tuple[LimbControls, ...]
    body: Control | None

    @property
    def all(self) -> list[Control]:
        """All of them, each once."""
        found = [control for limb in self.limbs for control in (limb.foot, limb.pole)]
        return list(dict.fromkeys(control for control in (*found, self.body) if control is not None))

    @property
    def with_bones(self) -> list[Control]:
        """All of them, and the other bones of the armature."""
        found = self.all
        known = {each.bone for each in found if each.ob == self.ob}
        bones = [bone.name for bone in self.ob.pose.bones if bone.name not in known]
        return found + [Control(self.ob, name, turns=True) for name in bones]

    @property
    def by_hand(self) -> list[Control]:
        """All of them, and the other bones of the armature but for those that the chains pose."""
        posed, own = {bone.name for limb in self.limbs for bone in known_bones(limb.tip)}, {*self.all}
        return [each for each in self.with_bones if each in own or each.bone not in posed]

    def limb_of(self, control: Control) -> LimbControls | None:
        """The limb whose hand or foot a control moves."""
        return next((limb for limb in self.limbs if limb.foot == control), None)

    def stances_of(self, control: Control, frames: range) -> list[tuple[int, int]]:
        """The first and last frames of the contacts of the foot that a control moves."""
        limb = self.limb_of(control)
        contacts = keyed_contacts(limb.tip, frames) if limb is not None else None
        own = runs(contacts.any(axis=0)) if contacts is not None else []
        return [(frames[first], frames[last]) for first, last in own]

    @property
    def owners(self) -> list[bpy.types.Object]:
        """The objects that hold them."""
        return list(dict.fromkeys(control.ob for control in self.all))


def keyed_controls(ob: bpy.types.Object) -> KeyedControls:
    """The controls of an armature object's live limbs of two links or more."""
    limbs, own = [], {}
    for tip in (ob.pose.bones[name] for name in live_tips(ob)):
        settings = settings_of(tip)
        if settings.target is None or len(link_bones(known_bones(tip))) < 2:
            continue
        pair = [Control(*each) for each in target_and_pole(tip)]
        own[tip.name] = pair
        pole = pair[1] if settings.pole_target is not None else None
        limbs.append(LimbControls(tip, keyed_control(tip, pair[0]), pole))
    legs = [tip for tip in leg_tips(ob) if tip.name in own]
    try:
        body = Control(ob, carrier_of(legs, {tip: own[tip.name] for tip in legs}).name, turns=True) if legs else None
    except ChainError:
        # Nothing carries all of them: there is no body to speak of.
        body = None
    carried = [replace(limb, on_body=body is not None and limb.tip in legs) for limb in limbs]
    return KeyedControls(ob, tuple(carried), body)


def changeable_controls(ob: bpy.types.Object) -> KeyedControls:
    """The same, whose keys can be changed. Raises ChainError where these cannot, or there is no limb."""
    check_changeable(ob)
    controls = keyed_controls(ob)
    if not controls.limbs:
        raise ChainError(messages.NO_LIVE_CHAIN(armature=ob.name))
    for owner in controls.owners:
        check_keyable(owner)
    check_unshared(controls.owners)
    return controls


def frames_of_keys(ob: bpy.types.Object, controls: KeyedControls) -> range:
    """The frames over which an armature object was planted, else those over which keys move it."""
    settings = kept_settings(ob) or {}
    if "frames" in settings:
        return range(*settings["frames"])
    return motion_of([ob, *controls.owners]) or range(0)


Times = TypeVar("Times", float, np.ndarray)


def key_time(frame: Times) -> Times:
    """The time of a key at a frame of the scene, whole or not."""
    render = bpy.context.scene.render
    return frame * render.frame_map_old / render.frame_map_new


def frame_of(time: Times) -> Times:
    """The frame of the scene at which a key of this time plays."""
    render = bpy.context.scene.render
    return time * render.frame_map_new / render.frame_map_old


def numbers_at(control: Control, times: Sequence[float]) -> np.ndarray:
    """What the channels of a control hold at times of keys, (n, 6 or 7), location first; what no key sets is as it
    is."""
    found, columns = np.tile(held_by(control), (len(times), 1)), columns_of(control)
    for key, curve in curves_of(control).items():
        found[:, columns[key]] = [curve.evaluate(time) for time in times]
    return found


def turned(mode: str, numbers: np.ndarray) -> np.ndarray:
    """The rotations (n, 3, 3) that numbers (n, 3 or 4) of a mode make."""
    return matrices_of(quaternions_of(numbers, mode))


def track_of(control: Control, frames: range, worlds: np.ndarray, at_thirds: bool = False) -> ControlTrack:
    """What a control does at frames, at which it is at these places (T, 4, 4) in the world. at_thirds: between them
    too."""
    times, mode = key_times(frames).astype(float), control.owner.rotation_mode
    rows = np.arange(0, 3 * len(times) - 2, 1 if at_thirds else 3) / 3.0
    found = numbers_at(control, np.interp(rows, np.arange(len(times)), times).tolist())
    numbers, thirds = (found[::3], found) if at_thirds else (found, None)
    local = np.tile(np.eye(4), (len(numbers), 1, 1))
    # What carries it is what is left of it, its own size taken off.
    local[:, :3, :3] = turned(mode, numbers[:, 3:]) * np.array(control.owner.scale)
    local[:, :3, 3] = numbers[:, :3]
    spaces = worlds @ np.linalg.inv(local)
    return ControlTrack(numbers, spaces, partial(turned, mode), thirds)


def worlds_over(
    context: bpy.types.Context,
    controls: KeyedControls,
    frames: Sequence[float],
    chosen: Sequence[Control] | None = None,
) -> Steps[dict[Control, np.ndarray]]:
    """In steps: where controls are in the world at frames, (T, 4, 4). chosen: which; None: all."""
    judge, found, asked = Judge(), {}, controls.all if chosen is None else chosen
    simple = time_is_plain(context.scene) and not any(judge.not_simple(each.ob, each.bone) for each in asked)
    if simple:
        sampler = Sampler(frames)
        for each in asked:
            found[each] = np.broadcast_to(sampled_world(each, sampler), (len(frames), 4, 4))
        yield len(frames), len(frames)
        return found
    rows: dict[Control, list[np.ndarray]] = {each: [] for each in sorted(asked, key=depth)}
    tips = [limb.tip for limb in controls.limbs]
    with closing(stepped(context, tips, frames)) as scenes:
        for step, scene in scenes:
            placer = Placer(scene)
            for each, own in rows.items():
                own.append(array_of(Matrix(placer.world_of(each))))
            yield step
    return {each: np.array(own) for each, own in rows.items()}


def columns_of(control: Control) -> dict[tuple[str, int], int]:
    """By mode and index the columns of `numbers_at`."""
    modes = (LOCATION, control.owner.rotation_mode)
    channels = [(mode, index) for mode in modes for index in range(channel_of(mode)[1])]
    return {channel: column for column, channel in enumerate(channels)}


def held_by(control: Control) -> np.ndarray:
    """What the channels of a control hold now, (6 or 7,)."""
    return np.concatenate([raw_values(control.owner, mode) for mode in (LOCATION, control.owner.rotation_mode)])
