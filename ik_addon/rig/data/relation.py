"""What ties a chain to its controls and to a trigger in Blender's own eyes: muted IK constraints on its tip.

Blender evaluates bones when something that they depend on has changed, and a hidden object where something depends on
it. An add-on's settings count for neither. A muted IK constraint does nothing but have Blender evaluate the bones of
its chain, and no others: an IK leg with its eye shut. Its target is the chain's, and its pole target the trigger: an
Empty in no collection, one for each armature object, that is tagged to have the bones evaluated and does nothing else.
A control must not be tagged for that: in a render it would go to where it stands in the window.

And what chains say of their controls, kept a second time on their armature object. Pasting a pose overwrites all
properties of the bones as well, an add-on's among them, and leaves no pointer to an object in them. A tip that has lost
its target so gets it back from here; one whose target was cleared does not, for setting a property tells it here too.
"""

from collections.abc import Iterable

import bpy
from mathutils import Matrix

from ..blender.armatures import is_changeable, tag_pose
from ..blender.file_memory import file_memory

_NAMES = {"target": "Analytic IK", "pole_target": "Analytic IK pole"}
_MARK = "analytic_ik"
"""The pole bone of a tie, which has no meaning where the pole target is an Empty: a name is anybody's."""
_TRIGGER = "Analytic IK trigger"
_RECORD = "analytic_ik_record_trigger"
_Values = tuple[bpy.types.Object | None, str, bpy.types.Object | None, int]
"""Of a tie the target with its bone, the pole target, and how many bones it has Blender evaluate."""


def trigger_of(ob: bpy.types.Object) -> bpy.types.Object | None:
    """The trigger of an armature object; None if no chain of it was tied."""
    # Blender 4.2 adds an empty property where one that is not set is read.
    return ob.analytic_ik_record_trigger if ob.is_property_set(_RECORD) else None


def is_tie(constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint of a bone is what ties a chain to one of its controls."""
    if constraint.type != "IK":
        return False
    if constraint.pole_subtarget == _MARK:
        return True
    # In files from before there was a mark.
    trigger = trigger_of(constraint.id_data)
    return trigger is not None and trigger in (constraint.pole_target, constraint.target)


def ties_of(tip: bpy.types.PoseBone) -> list[bpy.types.Constraint]:
    """The constraints that tie a tip to its controls, in the order of `_wanted`."""
    return [constraint for constraint in tip.constraints if is_tie(constraint)]


def is_tied(tip: bpy.types.PoseBone, loosely: bool = False) -> bool:
    """True if an original tip is tied to its controls as they are now, and to the trigger; loosely: to that alone."""
    wanted = [values for _, values in _wanted(tip, loosely)]
    has_trigger = not wanted or trigger_of(tip.id_data) is not None
    return has_trigger and [*map(_values, ties_of(tip))] == wanted and _are_last(tip)


def _are_last(tip: bpy.types.PoseBone) -> bool:
    """Whether no IK constraint of somebody else follows a tie: behind two muted ones Blender poses another limb."""
    own = [is_tie(constraint) for constraint in tip.constraints if constraint.type == "IK"]
    return own == sorted(own)


def tie(tip: bpy.types.PoseBone, loosely: bool = False) -> None:
    """Tie an original tip to its controls, and to the trigger of its armature object.

    loosely: to the trigger alone, where a control moves with the chain: that would be a circle to Blender.
    """
    ob = tip.id_data
    if trigger_of(ob) is None:
        ob.analytic_ik_record_trigger = bpy.data.objects.new(_TRIGGER, None)
    ties, wanted = ties_of(tip), _wanted(tip, loosely)
    for constraint in ties[len(wanted) :]:
        _remove(constraint, tip)
    for index, (name, values) in enumerate(wanted):
        if index < len(ties):
            constraint = ties[index]
            if _values(constraint) == values:
                continue
        else:
            active = tip.constraints.active
            constraint = tip.constraints.new("IK")
            tip.constraints.active = active
            constraint.mute, constraint.show_expanded = True, False
        constraint.name, constraint.pole_subtarget = name, _MARK
        constraint.target, constraint.subtarget, constraint.pole_target, constraint.chain_count = values
    while not _are_last(tip):
        first = next(k for k, each in enumerate(tip.constraints) if is_tie(each))
        tip.constraints.move(first, len(tip.constraints) - 1)


def untie(tip: bpy.types.PoseBone) -> None:
    """Take that off a tip."""
    for constraint in ties_of(tip):
        _remove(constraint, tip)


def _remove(constraint: bpy.types.Constraint, tip: bpy.types.PoseBone) -> None:
    others = [each for each in tip.constraints if each != constraint and each.active]
    tip.constraints.remove(constraint)
    # Blender removes that mark too.
    tip.constraints.active = others[0] if others else None


def forget_trigger(ob: bpy.types.Object) -> None:
    """Delete the trigger of an armature object if no tip is tied to it any more."""
    trigger = trigger_of(ob)
    tied = [bone for bone in ob.pose.bones if len(bone.constraints) and ties_of(bone)]
    if trigger is None or any(bone.analytic_ik_target is not None for bone in tied):
        return
    for bone in tied:
        # It followed chains that are gone.
        untie(bone)
    ob.property_unset(_RECORD)
    if trigger.users == 0 and trigger.library is None:
        bpy.data.objects.remove(trigger)


def wake(ob: bpy.types.Object, tips: Iterable[str]) -> bool:
    """Have the chains of an original armature object evaluated again. False: one of these tips is not tied to it."""
    bones, trigger = (ob.pose.bones[tip] for tip in tips), trigger_of(ob)
    if trigger is None or not all(
        (tip.analytic_ik_target is not None and is_tied(tip)) or is_tied(tip, loosely=True) for tip in bones
    ):
        return False
    trigger.update_tag(refresh={"OBJECT"})
    return True


def _values(constraint: bpy.types.Constraint) -> _Values:
    return constraint.target, constraint.subtarget, constraint.pole_target, constraint.chain_count


def _wanted(tip: bpy.types.PoseBone, loosely: bool) -> list[tuple[str, _Values]]:
    """What ties a tip to its controls as they are now, each with the name that a new tie gets."""
    trigger, count = trigger_of(tip.id_data), tip.analytic_ik_chain_count
    if loosely:
        return [(_NAMES["target"], (trigger, "", None, count))]
    controls = ((name, getattr(tip, f"analytic_ik_{what}"), _bone_of(tip, what)) for what, name in _NAMES.items())
    return [(name, (control, bone, trigger, count)) for name, control, bone in controls if control is not None]


def _bone_of(tip: bpy.types.PoseBone, what: str) -> str:
    """The control bone that a tip names, "" if there is none: of a missing one Blender complains in the console."""
    name = getattr(tip, f"analytic_ik_{what.replace('target', 'subtarget')}")
    control = getattr(tip, f"analytic_ik_{what}") if name else None
    return name if control is not None and control.pose and name in control.pose.bones else ""


def in_any_collection(ob: bpy.types.Object) -> bool:
    """False for an object that was deleted and lives on only because a chain still points to it."""
    original = ob.original
    view_layer = bpy.context.view_layer
    # The first test answers at once for what is shown; the last visits all collections. What is linked on its own is in
    # none here, and can be deleted only where it comes from.
    shown = view_layer and original.visible_get(view_layer=view_layer)
    return bool(shown or original.library or original.users_collection)


def place_of(ob: bpy.types.Object, bone: str, depsgraph: bpy.types.Depsgraph) -> tuple[Matrix, Matrix | None]:
    """World matrix of an object, and the pose matrix of a bone of it in armature space; None without a bone.

    As evaluated: chains are tied to their controls, so that Blender evaluates hidden ones too.
    """
    found = ob.evaluated_get(depsgraph)
    return found.matrix_world, found.pose.bones[bone].matrix if bone else None


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
    if not is_changeable(ob):
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
    return [
        tip
        for tip, own in named
        if tip is not None
        and any(getattr(own, what) is not None and getattr(tip, f"analytic_ik_{what}") is None for what in _NAMES)
    ]


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


def register() -> None:
    """Give objects a place for their trigger, and for what their chains say of controls."""
    bpy.types.Object.analytic_ik_record_trigger = bpy.props.PointerProperty(
        type=bpy.types.Object, override=_OVERRIDABLE, options={"HIDDEN"}
    )
    bpy.utils.register_class(KeptControls)
    bpy.types.Object.analytic_ik_record_controls = bpy.props.CollectionProperty(
        type=KeptControls, override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"}, options={"HIDDEN"}
    )


def unregister() -> None:
    """Take them away."""
    del bpy.types.Object.analytic_ik_record_controls
    bpy.utils.unregister_class(KeptControls)
    del bpy.types.Object.analytic_ik_record_trigger
