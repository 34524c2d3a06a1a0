"""Drivers that read what a bone's own channels hold."""

from collections.abc import Collection, Iterator

import bpy

from .animation import bone_of_path

_CHANNELS = ("location", "rotation", "scale", "matrix_basis")
"""How the names of a bone's own channels begin."""


def reader_of(ob: bpy.types.Object, bones: Collection[str]) -> tuple[str, str] | None:
    """Names of a data-block whose driver reads channels of one of an armature's bones, and of that bone; None: none.

    Only drivers of the armature and of the objects parented to it, as those of corrective shape keys are.
    """
    for owner in _owners(ob):
        for curve in owner.animation_data.drivers if owner.animation_data else ():
            for bone in _read_by(curve.driver, ob):
                if bone in bones:
                    return owner.name, bone
    return None


def _owners(ob: bpy.types.Object) -> Iterator[bpy.types.ID]:
    for each in (ob, *ob.children):
        yield each
        if each.data is not None:
            yield each.data
            shapes = getattr(each.data, "shape_keys", None)
            if shapes is not None:
                yield shapes


def _read_by(driver: bpy.types.Driver, ob: bpy.types.Object) -> Iterator[str]:
    """Names of the bones of an armature object whose channels a driver reads."""
    for variable in driver.variables:
        for target in variable.targets:
            if target.id != ob:
                continue
            if variable.type == "TRANSFORMS" and target.transform_space == "TRANSFORM_SPACE":
                yield target.bone_target
            elif variable.type == "SINGLE_PROP":
                bone, channel = bone_of_path(target.data_path)
                if channel.startswith(_CHANNELS):
                    yield bone
