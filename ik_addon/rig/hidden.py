"""Controls that are hidden, excluded or in no collection of the scene: followed as Blender's own IK follows them.

Blender evaluates such an object only where something that it shows depends on it. Its own IK is a constraint, and so
depends on its target; a chain's settings do not count. So the tip gets a muted constraint that asks for its hidden
control and does nothing else, for as long as it is hidden.
"""

from collections.abc import Iterable, Iterator

import bpy
import numpy as np
from mathutils import Matrix

from .animation import is_animated
from .armatures import tag_pose
from .sampling import Sampler
from .simple import not_simple

_due: set[str] = set()
"""Names of tips that have something to ask for, or no longer."""
_awaited: set[int] = set()
"""Session numbers of controls that are to be asked for, or were since anything was evaluated: what stands in the
evaluated scene is where they were when they were last seen."""
_NAMES = {"target": "Analytic IK: hidden target", "pole_target": "Analytic IK: hidden pole"}


def is_hidden(ob: bpy.types.Object) -> bool:
    """Whether Blender evaluates an original object only where something depends on it. The eye does not hide so."""
    layer = bpy.context.view_layer
    if layer is None:
        return False
    if ob.hide_viewport or not (ob.visible_get(view_layer=layer) or ob.hide_get(view_layer=layer)):
        return True
    return is_animated(ob, "hide_viewport")


class Hidden(dict[bpy.types.Object, bool]):
    """Says `is_hidden` of objects, of each asked once; for one call, it holds Blender's data."""

    def __missing__(self, ob: bpy.types.Object) -> bool:
        self[ob] = is_hidden(ob)
        return self[ob]


def in_any_collection(ob: bpy.types.Object) -> bool:
    """False for an object that was deleted and lives on only because a chain still points to it."""
    original = ob.original
    view_layer = bpy.context.view_layer
    # The first test answers at once for what is shown; the last visits all collections. What is linked on its own is in
    # none here, and can be deleted only where it comes from.
    shown = view_layer and original.visible_get(view_layer=view_layer)
    return bool(shown or original.library or original.users_collection)


def note_hidden(tips: Iterable[bpy.types.PoseBone]) -> None:
    """See what of original tips has been hidden or shown, to ask for it before the next evaluation.

    Not at once: what depends on what would be found out anew right after the chain was solved, and with that its keys
    would be evaluated over it.
    """
    hidden = Hidden()
    for tip in tips:
        for wanted, asking, bone, _ in _controls(tip, hidden):
            if wanted is not None and (asking is None or (asking.target, asking.subtarget) != (wanted, bone)):
                _awaited.add(wanted.session_uid)
                _due.add(tip.name)
            elif wanted is None and asking is not None:
                _due.add(tip.name)


def is_due() -> bool:
    """Whether there is something to ask for, or no longer."""
    return bool(_due)


def ask_for_hidden(tips: Iterable[bpy.types.PoseBone]) -> None:
    """Make Blender evaluate the controls of original tips that are hidden, and no longer those that are not."""
    _due.clear()
    hidden = Hidden()
    for tip in tips:
        _ask(tip, hidden)


def _ask(tip: bpy.types.PoseBone, hidden: Hidden) -> None:
    for wanted, asking, bone, name in _controls(tip, hidden):
        if wanted is None:
            if asking is not None:
                tip.constraints.remove(asking)
            continue
        if asking is None:
            asking = tip.constraints.new("COPY_LOCATION")
            asking.name, asking.mute = name, True
        if (asking.target, asking.subtarget) != (wanted, bone):
            asking.target, asking.subtarget = wanted, bone
            _awaited.add(wanted.session_uid)


def evaluated() -> None:
    """What was asked for is evaluated now."""
    if not _due:
        _awaited.clear()


def forget_noted() -> None:
    """Another state of the file."""
    _due.clear()
    _awaited.clear()


def _controls(
    tip: bpy.types.PoseBone, hidden: Hidden
) -> Iterator[tuple[bpy.types.Object | None, bpy.types.Constraint | None, str, str]]:
    """For target and pole of an original tip: the control if it is to be asked for, what asks for it now, the bone that
    is meant, and how what asks is called."""
    for what, name in _NAMES.items():
        control, asking = getattr(tip, f"analytic_ik_{what}"), tip.constraints.get(name)
        # Blender looks through all collections to tell whether it is in one, so that is asked last.
        wanted = control is not None and tip.analytic_ik_enabled and hidden[control] and in_any_collection(control)
        wanted = control if wanted else None
        yield wanted, asking, getattr(tip, f"analytic_ik_{what.replace('target', 'subtarget')}"), name


def switched(tip: bpy.types.PoseBone, _context: bpy.types.Context) -> None:
    """A user or a script has switched a chain on or off."""
    if not tip.analytic_ik_enabled:
        forget_hidden(tip)
    tag_pose(tip.id_data)


def forget_hidden(tip: bpy.types.PoseBone) -> None:
    """Take that off a tip."""
    for name in _NAMES.values():
        asking = tip.constraints.get(name)
        if asking is not None:
            tip.constraints.remove(asking)


def place_of(ob: bpy.types.Object, bone: str, depsgraph: bpy.types.Depsgraph) -> tuple[Matrix, Matrix | None]:
    """World matrix of an object, and the pose matrix of a bone of it in armature space; None without a bone.

    As evaluated; what has just been hidden and is not evaluated yet is sampled where that is sound.
    """
    found = ob.evaluated_get(depsgraph)
    if (found.is_evaluated and ob.original.session_uid not in _awaited) or not_simple(ob, bone):
        return found.matrix_world, found.pose.bones[bone].matrix if bone else None
    sampler = Sampler([depsgraph.scene.frame_current_final])
    pose = _matrix(sampler.poses(ob, bone)) if bone else None
    return _matrix(sampler.worlds(ob)), pose


def _matrix(places: np.ndarray) -> Matrix:
    return Matrix(places[0])
