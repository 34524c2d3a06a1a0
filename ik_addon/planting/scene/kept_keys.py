"""Keys of controls that an action keeps beside those that play, to have them again byte for byte.

They are text on the action itself, so copies of it, undo, saved files and overrides have them too.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from zlib import compress, decompress

import bpy

from ...authoring.placing import Control
from ...bake.keys import bytes_of, set_bytes
from ...rig.blender.animation import current_fcurve_collections
from ...rig.blender.clips import playing_clip
from ...rig.blender.rotations import LOCATION, channel_of, channel_path

ALL_KEYS, UNCORRECTED = "analytic_ik_all_keys", "analytic_ik_uncorrected"
"""What is kept: the keys before there were fewer of them; and those without corrections."""
FEW_KEYS, CORRECTIONS = "analytic_ik_few_keys", "analytic_ik_corrections"
"""What is remembered of them: how there are fewer, and what was corrected."""


def curves_of(control: Control) -> dict[tuple[str, int], bpy.types.FCurve]:
    """The F-Curves of a control's location and rotation in what its object plays now, by mode and index."""
    data, found = control.ob.animation_data, {}
    for home in current_fcurve_collections(data) if data else ():
        for mode in (LOCATION, control.owner.rotation_mode):
            path = channel_path(control.bone, mode) if control.bone else channel_of(mode)[0]
            for index in range(channel_of(mode)[1]):
                curve = home.find(path, index=index)
                if curve is not None and len(curve.keyframe_points):
                    found[mode, index] = curve
    return found


def curves_by_object(controls: Iterable[Control]) -> dict[bpy.types.Object, list[bpy.types.FCurve]]:
    """The F-Curves of controls, by the objects that hold these."""
    found: dict[bpy.types.Object, list[bpy.types.FCurve]] = {}
    for control in controls:
        found.setdefault(control.ob, []).extend(curves_of(control).values())
    return found


def kept(ob: bpy.types.Object, what: str) -> dict[str, bytes]:
    """What the action that an object plays keeps of the object's own keys, by F-Curve."""
    clip = playing_clip(ob)
    known = _read(clip.action, what).get(str(clip.slot), {}) if clip else {}
    return {name: decompress(b64decode(text)) for name, text in known.items()}


def keep(what: str, curves: Mapping[bpy.types.Object, Iterable[bpy.types.FCurve]]) -> None:
    """Keep the keys of these F-Curves of objects, beside what their actions keep already."""
    for ob, own in curves.items():
        keep_bytes(ob, what, {name_of(curve): bytes_of(curve) for curve in own})


def keep_bytes(ob: bpy.types.Object, what: str, keys: Mapping[str, bytes]) -> None:
    """The same for one object, given what keys are by F-Curve."""
    clip = playing_clip(ob)
    known = _read(clip.action, what)
    texts = {name: b64encode(compress(own)).decode() for name, own in keys.items()}
    known[str(clip.slot)] = known.get(str(clip.slot), {}) | texts
    setattr(clip.action, what, json.dumps(known))


def put_back(ob: bpy.types.Object, what: str, names: Iterable[str] | None = None) -> None:
    """Let F-Curves of an object have the keys that are kept of them, and forget these. names: of which; None: all."""
    known = kept(ob, what)
    chosen = set(known if names is None else names) & known.keys()
    for home in current_fcurve_collections(ob.animation_data) if chosen else ():
        for curve in home:
            if (name := name_of(curve)) in chosen:
                set_bytes(curve, known[name])
    _drop(ob, what, chosen)


def forget_curves(ob: bpy.types.Object, what: str, curves: Iterable[bpy.types.FCurve]) -> None:
    """Keep nothing any more of these F-Curves of an object."""
    _drop(ob, what, {name_of(curve) for curve in curves})


def _drop(ob: bpy.types.Object, what: str, names: set[str]) -> None:
    clip = playing_clip(ob)
    texts = _read(clip.action, what) if clip and names else {}
    if names & texts.get(str(clip.slot), {}).keys() if clip and texts else False:
        own = texts[str(clip.slot)]
        texts[str(clip.slot)] = {name: own[name] for name in own if name not in names}
        left = {slot: each for slot, each in texts.items() if each}
        setattr(clip.action, what, json.dumps(left) if left else "")


def forget_kept(action: bpy.types.Action) -> None:
    """Let an action keep no keys beside those that play: others were written."""
    for what in (FEW_KEYS, ALL_KEYS, UNCORRECTED, CORRECTIONS):
        action.property_unset(what)


def record(ob: bpy.types.Object, what: str) -> dict:
    """What the action that an object plays remembers under a name; empty: nothing."""
    clip = playing_clip(ob)
    return _read(clip.action, what) if clip else {}


def keep_record(ob: bpy.types.Object, what: str, told: dict) -> None:
    """Let that action remember it; what is empty is forgotten."""
    clip = playing_clip(ob)
    if clip is not None and getattr(clip.action, what) != (text := json.dumps(told) if told else ""):
        setattr(clip.action, what, text)


def name_of(curve: bpy.types.FCurve) -> str:
    """By which name the keys of an F-Curve are kept."""
    return f"{curve.array_index} {curve.data_path}"


def _read(action: bpy.types.Action, what: str) -> dict[str, dict[str, str]]:
    try:
        found = json.loads(getattr(action, what) or "{}")
    except ValueError:
        # Somebody else wrote it.
        return {}
    return found if isinstance(found, dict) else {}
