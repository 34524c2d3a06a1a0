"""Timeline markers at the frames that a certificate names."""

import json

import bpy

from ..bake.certificate import TROUBLES, Certificate


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
    left = _marks(ob)
    removed = 0
    for at_its_frame in (True, False):
        for mark in list(left):
            frame, name = mark
            marker = next(
                (
                    each
                    for each in scene.timeline_markers
                    if each.name == name and (each.frame == frame or not at_its_frame)
                ),
                None,
            )
            if marker is not None:
                scene.timeline_markers.remove(marker)
                left.remove(mark)
                removed += 1
    ob.analytic_ik_marks = ""
    return removed


def has_marks(ob: bpy.types.Object) -> bool:
    """Whether markers were put for an armature object."""
    return bool(ob.analytic_ik_marks)


def _marks(ob: bpy.types.Object) -> list[tuple[int, str]]:
    """Frames and names of the markers that were put; none where the note of them was changed by hand."""
    try:
        return [(int(frame), str(name)) for frame, name in json.loads(ob.analytic_ik_marks or "[]")]
    except (ValueError, TypeError, OverflowError, RecursionError):
        return []


def register() -> None:
    """Make Blender know where an armature keeps which markers are its own: markers cannot say it themselves."""
    bpy.types.Object.analytic_ik_marks = bpy.props.StringProperty(
        name="Analytic IK Markers", options={"HIDDEN"}, override={"LIBRARY_OVERRIDABLE"}
    )


def unregister() -> None:
    """Take that away."""
    del bpy.types.Object.analytic_ik_marks
