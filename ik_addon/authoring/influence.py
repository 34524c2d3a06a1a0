"""One property animated as another is: by the same F-Curves, in the action and in strips, and by the same driver."""

from collections.abc import Sequence

import bpy

from ..rig.blender.animation import fcurve_homes

_STEP = 1e-6
"""So little below 1 a switch counts as on: for Blender nothing below 1 is."""


def curves_at(ob: bpy.types.Object, path: str) -> list[bpy.types.FCurve]:
    """The F-Curves that animate a property of an object."""
    found = (home.find(path) for home in fcurve_homes(ob))
    return [curve for curve in found if curve is not None]


def driver_at(ob: bpy.types.Object, path: str) -> bpy.types.FCurve | None:
    """The driver of a property of an object."""
    return ob.animation_data.drivers.find(path) if ob.animation_data else None


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
    """Copy all that a curve plays."""
    copy.group = curve.group
    copy.keyframe_points.add(len(curve.keyframe_points))
    for key, new in zip(curve.keyframe_points, copy.keyframe_points, strict=True):
        _copy_properties(key, new)
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
