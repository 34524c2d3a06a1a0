"""Which properties of an object are animated: its F-Curves, drivers and NLA strips, in every Blender version.

Only plain data is kept between calls, under a signature that changes with the animation; `forget` drops it when
Blender says that an action or armature changed.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

import bpy

from .file_memory import file_memory
from .rotations import REST

_BONE_PATH = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]\.?(.*)$', re.DOTALL)
FOLLOWING = "analytic_ik_body_influence"
"""How far a bone follows the limbs that it carries."""
_GROUPS_MUTE = not hasattr(bpy.types, "ActionSlot")
"""Whether a muted group of F-Curves is silent: since actions have slots, Blender plays it."""

Channels = dict[str, set[tuple[str, int]]]
"""For each bone's name the numbers of its channels that are animated: channel and index."""

_PLACING = ("location", "rotation", "scale", "constraints")
"""How the names begin of what places an object or a bone."""


def fcurve_collections(action: bpy.types.Action | None, slot=None) -> list:
    """The collections that hold an action's F-Curves; where actions have slots, those of `slot`."""
    if action is None:
        return []
    if not hasattr(action, "layers"):
        return [action.fcurves]
    if slot is None:
        return []
    bags = (strip.channelbag(slot) for layer in action.layers for strip in layer.strips)
    return [bag.fcurves for bag in bags if bag is not None]


def all_fcurves(action: bpy.types.Action) -> Iterator[bpy.types.FCurve]:
    """The F-Curves of an action, of all its slots."""
    for slot in getattr(action, "slots", (None,)):
        for curves in fcurve_collections(action, slot):
            yield from curves


def current_fcurve_collections(data: bpy.types.AnimData) -> list:
    """The collections that hold the F-Curves of an object's current action."""
    return fcurve_collections(data.action, getattr(data, "action_slot", None))


def fcurve_homes(ob: bpy.types.Object) -> list:
    """All collections of F-Curves that may play on an object: of its current action, and of its NLA strips."""
    data = ob.animation_data
    if data is None:
        return []
    strips = [strip for track in data.nla_tracks for strip in track.strips]
    return [*current_fcurve_collections(data), *homes_of_strips(strips)]


def _homes(ob: bpy.types.Object) -> list:
    """The same, but those of NLA strips only where the NLA is on: a clip that plays alone is one of many."""
    data = ob.animation_data
    return fcurve_homes(ob) if data is None or data.use_nla else current_fcurve_collections(data)


def homes_of_strips(strips: Iterable[bpy.types.NlaStrip]) -> Iterator:
    """The collections of F-Curves of strips, and of the strips in those that hold others."""
    for strip in strips:
        yield from fcurve_collections(strip.action, getattr(strip, "action_slot", None))
        yield from homes_of_strips(strip.strips)


def playing_strips(data: bpy.types.AnimData, frame: float) -> list[bpy.types.NlaStrip]:
    """The NLA strips that set something at a frame. data: as animated, for a strip's influence may be."""
    tracks = list(data.nla_tracks) if data.use_nla else []
    if data.use_tweak_mode and data.nla_tracks.active in tracks:
        # From the tweaked track on the action plays instead.
        tracks = tracks[: tracks.index(data.nla_tracks.active)]
    solo = any(track.is_solo for track in data.nla_tracks)
    tracks = [track for track in tracks if (track.is_solo if solo else not track.mute)]
    found = (strip for track in tracks for strip in _strips_at(track.strips, frame))
    return [strip for strip in found if not strip.mute and strip.influence > 0.0]


def _strips_at(strips: Iterable[bpy.types.NlaStrip], frame: float) -> list[bpy.types.NlaStrip]:
    """The strip of a track that plays at a frame or is held there, if any; for a transition, those it lies between."""
    strips = list(strips)
    begun = [k for k, strip in enumerate(strips) if strip.frame_start <= frame]
    if not begun:
        # Only the first one is held backwards in time.
        return [strip for strip in strips[:1] if strip.extrapolation == "HOLD"]
    k = begun[-1]
    if strips[k].type == "TRANSITION":
        return strips[max(0, k - 1) : k + 2]
    return [strips[k]] if frame <= strips[k].frame_end or strips[k].extrapolation != "NOTHING" else []


def plays(curve: bpy.types.FCurve) -> bool:
    """Whether Blender evaluates an F-Curve."""
    silent = curve.mute or (_GROUPS_MUTE and curve.group and curve.group.mute)
    return not (silent or curve.is_empty or not curve.is_valid)


def bone_of_path(path: str) -> tuple[str, str]:
    """The name of the pose bone that an RNA path of an object leads to, and the path from there; "" for other paths."""
    match = _BONE_PATH.match(path)
    return (bpy.utils.unescape_identifier(match[1]), match[2]) if match else ("", "")


def drivers_of(data: bpy.types.ID) -> Sequence[bpy.types.FCurve]:
    """The drivers of a data-block, muted ones too."""
    animation = getattr(data, "animation_data", None)
    return animation.drivers if animation else ()


def driver_at(ob: bpy.types.Object, path: str) -> bpy.types.FCurve | None:
    """The driver of a property of an object."""
    return ob.animation_data.drivers.find(path) if ob.animation_data else None


def remove_drivers(ob: bpy.types.Object, paths: str | tuple[str, ...]) -> None:
    """Remove the drivers of all whose RNA paths begin so."""
    for curve in [curve for curve in drivers_of(ob) if curve.data_path.startswith(paths)]:
        ob.animation_data.drivers.remove(curve)


def revive_drivers(ob: bpy.types.Object) -> None:
    """Let drivers of the add-on's settings drive again: evaluated without the add-on, Blender gave them up."""
    for curve in drivers_of(ob):
        if ".analytic_ik_" in curve.data_path and not curve.driver.is_valid:
            # Setting what it is already takes the mark off.
            curve.driver.type = curve.driver.type


@contextmanager
def unchanged() -> Iterator[None]:
    """Inside, no animation changes: what F-Curves set is looked up once for each object."""
    walks = file_memory.walks
    depth = len(walks)
    try:
        # Inside: an interrupt before the try would leave it there for good.
        walks.append(walks[-1] if walks else {})
        yield
    finally:
        del walks[depth:]


def _paths_of(ob: bpy.types.Object) -> Collection[str]:
    """The RNA paths that F-Curves and NLA strips set on an object with animation data, each once: many clips set the
    same."""
    walks = file_memory.walks
    known = walks[-1].get(ob.session_uid) if walks else None
    if known is None:
        known = dict.fromkeys(path for path, _ in _set_by(_homes(ob)))
        if walks:
            walks[-1][ob.session_uid] = known
    return known


def animated_paths(ob: bpy.types.Object) -> Iterator[str]:
    """The RNA paths of `ob` that an F-Curve, an NLA strip or a driver sets."""
    return (path for path, _ in animation_of(ob))


def animation_of(ob: bpy.types.Object) -> Iterator[tuple[str, bool]]:
    """The same paths, and whether it is a driver."""
    data = ob.animation_data
    if data is not None:
        yield from ((path, False) for path in _paths_of(ob))
        yield from ((driver.data_path, True) for driver in data.drivers if not driver.mute)


def bones_with_animated(ob: bpy.types.Object, what: str) -> list[str]:
    """Names of the bones of an armature object of which an F-Curve, an NLA strip or a driver sets a property."""
    data = ob.animation_data
    if data is None:
        return []
    # Most paths end otherwise, and are asked for nothing else.
    if file_memory.walks:
        paths = [path for path in _paths_of(ob) if path.endswith(what)]
    else:
        curves = (curve for home in _homes(ob) for curve in home if curve.data_path.endswith(what))
        paths = [curve.data_path for curve in curves if plays(curve)]
    drivers = (driver for driver in data.drivers if driver.data_path.endswith(what))
    paths += [each.data_path for each in drivers if not each.mute]
    found = (bone_of_path(path) for path in paths)
    return [name for name, own in found if own == what and name in ob.pose.bones]


def is_animated(ob: bpy.types.Object, path: str) -> bool:
    """Whether an F-Curve, an NLA strip or a driver sets the property of `ob` at an RNA path: of one, quicker than to
    go through them all."""
    data = ob.animation_data
    if data is None:
        return False
    curves = (home.find(path) for home in _homes(ob))
    driver = data.drivers.find(path)
    return any(curve is not None and plays(curve) for curve in curves) or (driver is not None and not driver.mute)


def _set_by(homes: Iterable) -> Iterator[tuple[str, int]]:
    for home in homes:
        for curve in home:
            if plays(curve):
                yield curve.data_path, curve.array_index


def animated_channels(ob: bpy.types.Object, data_at: bpy.types.AnimData | None = None, frame: float = 0.0) -> Channels:
    """The numbers of the bones' channels that are set anew by animation or drivers at each frame.

    data_at: the animation data as it was evaluated at `frame`: of the NLA strips only those count that play there;
    without it all of them do.
    """
    data = ob.animation_data
    if data is None:
        return {}
    strips = playing_strips(data_at, frame) if data_at is not None and data.nla_tracks else None
    signature = (
        data.action.name_full if data.action else "",
        getattr(data, "action_slot_handle", 0),
        sum(len(collection) for collection in current_fcurve_collections(data)),
        sum(not driver.mute for driver in data.drivers),
        data.use_nla and len(data.nla_tracks),
        strips and [strip.name for strip in strips],
    )
    known = file_memory.channels.get(ob.session_uid)
    if known is None or known[0] != signature:
        channels: Channels = {}
        homes = _homes(ob)
        if strips is not None:
            homes = [*current_fcurve_collections(data), *homes_of_strips(strips)]
        driven = ((driver.data_path, driver.array_index) for driver in data.drivers if not driver.mute)
        for path, index in (*_set_by(homes), *driven):
            name, channel = bone_of_path(path)
            if channel in REST:
                channels.setdefault(name, set()).add((channel, index))
        known = file_memory.channels[ob.session_uid] = (signature, channels)
    return known[1]


def placing_drivers(ob: bpy.types.Object, bone_name: str, turned: bool) -> Iterator[bpy.types.Driver]:
    """The drivers that set where an object, or with a name that bone of it, is; turned: also how it is turned."""
    data = ob.animation_data
    if data is None or not data.drivers:
        return
    signature = (len(data.drivers), sum(not driver.mute for driver in data.drivers))
    known = file_memory.placing.get(ob.session_uid)
    if known is None or known[0] != signature:
        found: dict[str, list[int]] = {}
        for k, driver in enumerate(data.drivers):
            name, what = bone_of_path(driver.data_path)
            if (what if name else driver.data_path).removeprefix("delta_").startswith(_PLACING):
                found.setdefault(name, []).append(k)
        known = file_memory.placing[ob.session_uid] = (signature, found)
    for k in known[1].get(bone_name, ()):
        curve = data.drivers[k]
        driver = curve.driver
        if driver is not None and not curve.mute and (turned or "rotation" not in curve.data_path):
            yield driver


def is_driven(ob: bpy.types.Object, pose_bone: bpy.types.PoseBone, what: str) -> bool:
    """Whether a driver sets the bone's "rotation", "scale" or "location": it would win over what is written there."""
    data = ob.animation_data
    if data is None or not data.drivers:
        return False
    prefix = f"{pose_bone.path_from_id()}.{what}"
    return any(not driver.mute and driver.data_path.startswith(prefix) for driver in data.drivers)
