"""A chain's settings as custom properties of its tip, and what animates them: there, and back."""

from collections.abc import Iterable, Iterator
from math import pi

import bpy

from ..rig.blender.animation import fcurve_homes
from ..rig.blender.armatures import tag_pose
from ..rig.blender.clips import clips_of
from ..rig.data.settings import PREFIX
from .mechanism import Variable

NATIVE_PREFIX = "ik_"


_FACTOR: dict[str, object] = {"subtype": "FACTOR", "min": 0.0, "max": 1.0, "soft_min": 0.0, "soft_max": 1.0}
_ANGLE: dict[str, object] = {"subtype": "ANGLE", "soft_min": -pi, "soft_max": pi}
_OPTIONS: dict[str, dict[str, object]] = {
    "enabled": {},
    "influence": _FACTOR | {"default": 1.0},
    "swivel": _ANGLE,
    "flip": {},
    "softness": _FACTOR | {"max": 0.5, "soft_max": 0.5},
    "stretch_max": {"min": 1.0, "soft_min": 1.0, "max": 100.0, "soft_max": 3.0, "default": 1.0},
    "foot_roll": _ANGLE | {"soft_min": -pi / 2.0, "soft_max": pi / 2.0},
    "toe_angle": _ANGLE | {"min": 0.0, "max": pi, "soft_min": 0.0, "default": pi / 4.0},
}
"""The settings that a native chain can have, in the order in which they are shown."""
NAMES = tuple(_OPTIONS)
_ANIMATED_DATA = ("objects", "armatures", "shape_keys", "meshes", "materials", "node_groups", "worlds", "scenes")
"""Kinds of data-blocks whose drivers may read a setting."""


def key_of(name: str) -> str:
    """The name of the custom property that a setting becomes."""
    return NATIVE_PREFIX + name


def native_settings(tip: bpy.types.PoseBone) -> list[str]:
    """Names of the settings that a native chain has as custom properties."""
    return [name for name in NAMES if key_of(name) in tip]


def value_of(tip: bpy.types.PoseBone, name: str):
    """A setting of a native chain as it is now; of an evaluated tip: as animated."""
    return tip[key_of(name)]


def live_path(tip: bpy.types.PoseBone, name: str) -> str:
    """The RNA path of a setting while its chain is live."""
    return f"{tip.path_from_id()}.{PREFIX}{name}"


def native_path(tip: bpy.types.PoseBone, name: str) -> str:
    """The same while it is native."""
    return f'{tip.path_from_id()}["{key_of(name)}"]'


def variable(tip: bpy.types.PoseBone, name: str) -> Variable:
    """A setting, for a driver to read."""
    return Variable("PROPERTY", native_path(tip, name))


def to_native(tip: bpy.types.PoseBone, names: Iterable[str]) -> None:
    """Give a tip these settings as custom properties, and let what animates or reads them find them there."""
    for name in names:
        key, value = key_of(name), getattr(tip, PREFIX + name)
        tip[key] = value
        tip.property_overridable_library_set(f'["{key}"]', True)
        shown = tip.bl_rna.properties[PREFIX + name]
        options = {} if isinstance(value, bool) else _OPTIONS[name]
        tip.id_properties_ui(key).update(description=shown.description, **options)
        _repath(tip.id_data, live_path(tip, name), native_path(tip, name))


def to_live(tip: bpy.types.PoseBone) -> None:
    """Take the custom properties away; what they were changed to, and what animates them, is the chain's again."""
    for name in native_settings(tip):
        key, own = key_of(name), PREFIX + name
        if getattr(tip, own) != tip[key]:
            setattr(tip, own, tip[key])
        _repath(tip.id_data, native_path(tip, name), live_path(tip, name))
        del tip[key]
    tag_pose(tip.id_data)


def homes_of(ob: bpy.types.Object) -> list:
    """All collections of F-Curves that play on an armature object or could: of all its clips."""
    found = [*fcurve_homes(ob), *(curves for clip in clips_of(ob) for curves in clip.curves)]
    return list({home[0].as_pointer() if len(home) else id(home): home for home in found}.values())


def _repath(ob: bpy.types.Object, old: str, new: str) -> None:
    """Let all that animates or reads a property of an armature object find it at another path."""
    for home in homes_of(ob):
        curve = home.find(old)
        if curve is not None:
            curve.data_path = new
    if ob.animation_data:
        driver = ob.animation_data.drivers.find(old)
        if driver is not None:
            driver.data_path = new
    for target in _read_by_drivers(ob):
        if target.data_path == old:
            target.data_path = new


def _read_by_drivers(ob: bpy.types.Object) -> Iterator[bpy.types.DriverTarget]:
    """What drivers of the file read of an object by an RNA path."""
    for kind in _ANIMATED_DATA:
        for block in getattr(bpy.data, kind):
            for curve in block.animation_data.drivers if block.animation_data else ():
                for each in curve.driver.variables:
                    if each.type == "SINGLE_PROP":
                        yield from (target for target in each.targets if target.id == ob)
