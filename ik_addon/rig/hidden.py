"""Controls that are hidden, excluded or in no collection of the scene: followed as Blender's own IK follows them.

Blender evaluates such an object only where something that it shows depends on it. Its own IK is a constraint, and so
depends on its target; a chain's settings do not count. So the tip gets a muted constraint that asks for its hidden
control and does nothing else, for as long as it is hidden.
"""

import bpy
import numpy as np
from mathutils import Matrix

from .animation import is_animated
from .sampling import Sampler
from .simple import not_simple

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


def ask_for_hidden(tip: bpy.types.PoseBone, hidden: Hidden) -> None:
    """Make Blender evaluate the controls of an original tip that are hidden, and no longer those that are not."""
    for what, name in _NAMES.items():
        control = getattr(tip, f"analytic_ik_{what}")
        asking = tip.constraints.get(name)
        # One that was deleted lives on, in no collection, because the chain points to it. Blender looks through all
        # collections to tell, so that is asked last.
        wanted = control is not None and tip.analytic_ik_enabled and hidden[control]
        wanted = wanted and bool(control.users_collection)
        if not wanted:
            if asking is not None:
                tip.constraints.remove(asking)
            continue
        if asking is None:
            if not tip.id_data.is_editable:
                continue
            asking = tip.constraints.new("COPY_LOCATION")
            asking.name, asking.mute = name, True
        bone = getattr(tip, f"analytic_ik_{what.replace('target', 'subtarget')}")
        if (asking.target, asking.subtarget) != (control, bone):
            asking.target, asking.subtarget = control, bone


def switched(tip: bpy.types.PoseBone, _context: bpy.types.Context) -> None:
    """A user or a script has switched a chain on or off."""
    if not tip.analytic_ik_enabled:
        forget_hidden(tip)
    tip.id_data.update_tag()


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
    evaluated = ob.evaluated_get(depsgraph)
    if evaluated.is_evaluated or not_simple(ob, bone):
        return evaluated.matrix_world, evaluated.pose.bones[bone].matrix if bone else None
    sampler = Sampler([depsgraph.scene.frame_current_final])
    pose = _matrix(sampler.poses(ob, bone)) if bone else None
    return _matrix(sampler.worlds(ob)), pose


def _matrix(places: np.ndarray) -> Matrix:
    return Matrix(places[0])
