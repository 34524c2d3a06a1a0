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

KeysOf = dict[str, bytes]
"""All that the keys of an object are, by F-Curve."""


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


def name_of(curve: bpy.types.FCurve) -> str:
    """By which name the keys of an F-Curve are kept."""
    return f"{curve.array_index} {curve.data_path}"


def keys_now(controls: Iterable[Control]) -> dict[bpy.types.Object, KeysOf]:
    """The keys of controls, by the objects that hold these."""
    found: dict[bpy.types.Object, KeysOf] = {}
    for control in controls:
        own = {name_of(curve): bytes_of(curve) for curve in curves_of(control).values()}
        found.setdefault(control.ob, {}).update(own)
    return found


def put_keys(ob: bpy.types.Object, keys: Mapping[str, bytes]) -> None:
    """Let F-Curves of an object have these keys."""
    for home in current_fcurve_collections(ob.animation_data) if keys else ():
        for curve in home:
            if (name := name_of(curve)) in keys:
                set_bytes(curve, keys[name])


def kept(ob: bpy.types.Object, what: str) -> KeysOf:
    """What the action that an object plays keeps of the object's own keys."""
    known = record(ob, what).get(_slot_of(ob), {})
    return {name: decompress(b64decode(text)) for name, text in known.items()}


def keep(ob: bpy.types.Object, what: str, keys: Mapping[str, bytes | None]) -> None:
    """Let that action keep these keys of the object beside those that it keeps already; None: nothing of an F-Curve."""
    slots, slot = record(ob, what), _slot_of(ob)
    texts = {name: b64encode(compress(own)).decode() if own is not None else "" for name, own in keys.items()}
    slots[slot] = {name: text for name, text in (slots.get(slot, {}) | texts).items() if text}
    keep_record(ob, what, {slot: own for slot, own in slots.items() if own})


def put_back(ob: bpy.types.Object, what: str) -> None:
    """Let an object have the keys that are kept of it, and forget these."""
    known = kept(ob, what)
    put_keys(ob, known)
    keep(ob, what, dict.fromkeys(known))


def forget_kept(action: bpy.types.Action) -> None:
    """Let an action keep no keys beside those that play: others were written."""
    for what in (FEW_KEYS, ALL_KEYS, UNCORRECTED, CORRECTIONS):
        action.property_unset(what)


def record(ob: bpy.types.Object, what: str) -> dict:
    """What the action that an object plays remembers under a name; empty: nothing."""
    clip = playing_clip(ob)
    try:
        found = json.loads(getattr(clip.action, what) or "{}") if clip else {}
    except ValueError:
        # Somebody else wrote it.
        return {}
    return found if isinstance(found, dict) else {}


def keep_record(ob: bpy.types.Object, what: str, told: Mapping) -> None:
    """Let that action remember it; what is empty is forgotten."""
    clip = playing_clip(ob)
    if clip is not None and getattr(clip.action, what) != (text := json.dumps(told) if told else ""):
        setattr(clip.action, what, text)


def _slot_of(ob: bpy.types.Object) -> str:
    clip = playing_clip(ob)
    return str(clip.slot) if clip else ""
