"""Keys and markers: Auto Keying, properties animated as others are, and timeline markers of a certificate."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import bpy

from ..bake.certificate import TROUBLES, Certificate
from ..bake.keys import keys_of, set_keys
from ..rig.blender.animation import current_fcurve_collections, driver_at, fcurve_homes

_STEP = 1e-6
"""So little below 1 a switch counts as on: for Blender nothing below 1 is."""


def curves_at(ob: bpy.types.Object, path: str) -> list[bpy.types.FCurve]:
    """The F-Curves that animate a property of an object."""
    found = (home.find(path) for home in fcurve_homes(ob))
    return [curve for curve in found if curve is not None]


def copy_animation(ob: bpy.types.Object, path: str, copy_path: str, inverted: bool = False) -> bool:
    """Animate one property as another is. Returns whether it is. inverted: one switch is on where the other is off."""
    copied = False
    for home in fcurve_homes(ob):
        curve = home.find(path)
        # Several strips may play one action.
        if curve is not None and home.find(copy_path) is None:
            copy = home.new(copy_path)
            _copy_curve(curve, copy)
            if inverted:
                _invert(copy)
            copied = True
    driver = driver_at(ob, path)
    if driver is not None:
        copy = ob.animation_data.drivers.from_existing(src_driver=driver)
        copy.data_path = copy_path
        if inverted:
            _invert(copy)
    return copied or driver is not None


def remove_animation(ob: bpy.types.Object, path: str) -> None:
    """Remove all that animates a property."""
    for home in fcurve_homes(ob):
        curve = home.find(path)
        if curve is not None:
            home.remove(curve)
    driver = driver_at(ob, path)
    if driver is not None:
        ob.animation_data.drivers.remove(driver)


def _copy_curve(curve: bpy.types.FCurve, copy: bpy.types.FCurve) -> None:
    copy.group = curve.group
    set_keys(copy, keys_of(curve))
    for modifier in curve.modifiers:
        _copy_properties(modifier, copy.modifiers.new(modifier.type))
    _copy_properties(curve, copy, but=("data_path", "array_index", "group"))
    copy.update()


def _invert(curve: bpy.types.FCurve) -> None:
    """Let a curve or driver give less than 1, which is off, where it gives 1 or more, and else more than 1."""
    envelope = curve.modifiers.new("ENVELOPE")
    # It takes what is between these two to what is between a point's -1 and 1, straight on beyond that. The point's own
    # numbers stay: setting them lets Blender read memory that is not theirs.
    envelope.reference_value, envelope.default_min, envelope.default_max = 0.0, 1.0, 1.0 - _STEP
    envelope.control_points.add(0.0)


def _copy_properties(source: bpy.types.bpy_struct, copy: bpy.types.bpy_struct, but: Sequence[str] = ()) -> None:
    for rna in source.bl_rna.properties:
        if not rna.is_readonly and rna.identifier not in but:
            setattr(copy, rna.identifier, getattr(source, rna.identifier))


@contextmanager
def auto_keying(context: bpy.types.Context) -> Iterator[None]:
    """Meanwhile Auto Keying is on."""
    tools = context.scene.tool_settings
    before = tools.use_keyframe_insert_auto, tools.auto_keying_mode
    tools.use_keyframe_insert_auto, tools.auto_keying_mode = True, "ADD_REPLACE_KEYS"
    try:
        yield
    finally:
        tools.use_keyframe_insert_auto, tools.auto_keying_mode = before


def key_if_asked(
    context: bpy.types.Context,
    owner: bpy.types.PoseBone | bpy.types.Object,
    path: str,
    interpolation: str = "",
    switches: bool = False,
) -> bool:
    """Key a property of a pose bone or an object at the current frame if Auto Keying asks for it; True if it did.

    interpolation: of the new key; "": as the preferences say. switches: what was before the key stays as it is, and
    Only Insert Available does not count: without a key the whole shot would change.
    """
    tools, frame = context.scene.tool_settings, context.scene.frame_current_final
    if not tools.use_keyframe_insert_auto:
        return False
    curves = _curves(owner, path)
    if tools.auto_keying_mode == "REPLACE_KEYS":
        # Replace means: keys that are there.
        if not any(abs(key.co.x - frame) < 0.01 for curve in curves for key in curve.keyframe_points):
            return False
    elif not (switches or curves) and getattr(context.preferences.edit, "use_keyframe_insert_available", False):
        return False
    if not owner.keyframe_insert(path, frame=frame, group=_group_of(owner)):
        return False
    for key in (key for curve in _curves(owner, path) for key in curve.keyframe_points):
        if abs(key.co.x - frame) < 0.01:
            key.interpolation = interpolation or key.interpolation
            if switches:
                # Else the next key would bend the curve before this one.
                key.handle_left_type = key.handle_right_type = "ALIGNED"
    return True


def hold_before(context: bpy.types.Context, owner: bpy.types.PoseBone | bpy.types.Object, path: str) -> None:
    """Where Auto Keying will key a property that has no keys, key its present value at the scene's start, so that the
    frames before the current one stay as they are."""
    tools, start = context.scene.tool_settings, context.scene.frame_start
    if not tools.use_keyframe_insert_auto or tools.auto_keying_mode == "REPLACE_KEYS" or _curves(owner, path):
        return
    if start < context.scene.frame_current_final:
        owner.keyframe_insert(path, frame=start, group=_group_of(owner))
        for key in (key for curve in _curves(owner, path) for key in curve.keyframe_points):
            key.interpolation = "CONSTANT"


def _group_of(owner: bpy.types.PoseBone | bpy.types.Object) -> str:
    return owner.name if isinstance(owner, bpy.types.PoseBone) else "Object Transforms"


def _curves(owner: bpy.types.PoseBone | bpy.types.Object, path: str) -> list[bpy.types.FCurve]:
    """The F-Curves of a property in the current action."""
    data = owner.id_data.animation_data
    whole = f"{owner.path_from_id()}.{path}" if isinstance(owner, bpy.types.PoseBone) else path
    homes = current_fcurve_collections(data) if data else []
    return [curve for home in homes for curve in home if curve.data_path == whole]


def mark_troubles(scene: bpy.types.Scene, ob: bpy.types.Object, certificate: Certificate) -> int:
    """Put a marker at the start of every range in which a chain of an armature object misses its target, or its bend
    may be seen to pop, in place of the markers that were put for it before. Returns how many."""
    clear_marks(scene, ob)
    marks = []
    for chain in certificate.chains:
        for kind, ranges in chain.ranges.items():
            for first, last in ranges:
                until = f" to {last}" if last > first else ""
                marker = scene.timeline_markers.new(f"{chain.bone} {TROUBLES[kind]}{until}", frame=first)
                # As Blender has kept it: a name that is too long is cut.
                marks.append((first, marker.name))
    ob.analytic_ik_marks = json.dumps(marks) if marks else ""
    return len(marks)


def clear_marks(scene: bpy.types.Scene, ob: bpy.types.Object) -> int:
    """Take the markers away that were put for an armature object; returns how many. One that was renamed since is the
    user's own, and one that was moved is found by its name."""
    marks, markers = _marks(ob), scene.timeline_markers
    left = [*marks]
    for at_its_frame in (True, False):
        for frame, name in [*left]:
            found = (each for each in markers if each.name == name and (each.frame == frame or not at_its_frame))
            marker = next(found, None)
            if marker is not None:
                markers.remove(marker)
                left.remove((frame, name))
    ob.analytic_ik_marks = ""
    return len(marks) - len(left)


def has_marks(ob: bpy.types.Object) -> bool:
    """Whether markers were put for an armature object."""
    return bool(ob.analytic_ik_marks)


def _marks(ob: bpy.types.Object) -> list[tuple[int, str]]:
    """Frames and names of the markers that were put; none where the note of them was changed by hand."""
    try:
        return [(int(frame), str(name)) for frame, name in json.loads(ob.analytic_ik_marks or "[]")]
    except (ValueError, TypeError, OverflowError, RecursionError):
        return []
