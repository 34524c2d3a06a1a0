"""What chains say of their controls, kept a second time on their armature object.

Pasting a pose overwrites all properties of the bones as well, an add-on's among them, and leaves no pointer to an
object in them. A tip that has lost its target so gets it back from here; one whose target was cleared does not, for
setting a property tells it here too.
"""

import bpy

from ..blender.armatures import tag_pose
from ..blender.file_memory import file_memory

_WHAT = ("target", "pole_target")
_OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}


class KeptControls(bpy.types.PropertyGroup):
    """The controls of one chain, and its end bone; `name` is its tip's."""

    name: bpy.props.StringProperty(override=_OVERRIDABLE)
    target: bpy.props.PointerProperty(type=bpy.types.Object, override=_OVERRIDABLE)
    subtarget: bpy.props.StringProperty(override=_OVERRIDABLE)
    pole_target: bpy.props.PointerProperty(type=bpy.types.Object, override=_OVERRIDABLE)
    pole_subtarget: bpy.props.StringProperty(override=_OVERRIDABLE)
    end_bone: bpy.props.StringProperty(override=_OVERRIDABLE)


_CONTROLS = ("target", "subtarget", "pole_target", "pole_subtarget", "end_bone")


def keep_controls(tip: bpy.types.PoseBone) -> None:
    """Keep the controls that the settings of an original tip name now."""
    ob = tip.id_data
    override = ob.override_library
    if not ob.is_editable or (override is not None and override.is_system_override):
        return
    kept = ob.analytic_ik_record_controls
    own = kept.get(tip.name)
    if own is None:
        own = kept.add()
        own.name = tip.name
    for name in _CONTROLS:
        value = getattr(tip, f"analytic_ik_{name}")
        if getattr(own, name) != value:
            setattr(own, name, value)
            file_memory.driven.clear()


def has_controls(ob: bpy.types.Object) -> bool:
    """True if an armature object has a chain, live or switched off."""
    return len(ob.analytic_ik_record_controls) > 0


def controls_set(tip: bpy.types.PoseBone, _context: bpy.types.Context) -> None:
    """A user or a script has set a control of a chain."""
    keep_controls(tip)
    tag_pose(tip.id_data)


def forget_controls(ob: bpy.types.Object, tip: str) -> None:
    """A bone is no tip any more."""
    kept = ob.analytic_ik_record_controls
    index = kept.find(tip)
    if index >= 0:
        kept.remove(index)
        file_memory.driven.clear()


def lost_controls(ob: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """The tips of an armature object that name none of the controls that were kept for them."""
    named = ((ob.pose.bones.get(own.name), own) for own in ob.analytic_ik_record_controls)
    return [tip for tip, own in named if tip is not None and _lost(tip, own)]


def restore_controls(tip: bpy.types.PoseBone) -> None:
    """Give the chain of a tip back what it has lost."""
    own = tip.id_data.analytic_ik_record_controls[tip.name]
    # All at once: setting one of them tells the others here.
    given = {name: getattr(own, name) for name in _CONTROLS}
    for name, value in given.items():
        setattr(tip, f"analytic_ik_{name}", value)


def keep_all(ob: bpy.types.Object) -> None:
    """Keep the controls of all chains that an armature object has now, and of no others."""
    bones = ob.pose.bones
    gone = [own.name for own in ob.analytic_ik_record_controls if own.name not in bones]
    for name in gone:
        forget_controls(ob, name)
    for own in list(ob.analytic_ik_record_controls):
        keep_controls(bones[own.name])


def _lost(tip: bpy.types.PoseBone, own: KeptControls) -> bool:
    return any(getattr(own, what) is not None and getattr(tip, f"analytic_ik_{what}") is None for what in _WHAT)


def register() -> None:
    """Give objects a place for it."""
    bpy.utils.register_class(KeptControls)
    bpy.types.Object.analytic_ik_record_controls = bpy.props.CollectionProperty(
        type=KeptControls, override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"}, options={"HIDDEN"}
    )


def unregister() -> None:
    """Take it away."""
    del bpy.types.Object.analytic_ik_record_controls
    bpy.utils.unregister_class(KeptControls)
