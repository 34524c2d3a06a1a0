"""The travel of a body on a root, and back: every other bone and every control stays where it is in the world."""

from collections.abc import Callable

import bpy
import numpy as np

from ... import messages
from ...authoring.placing import Control
from ...bake.stepping import Steps, at_once
from ...rig.blender.rotations import turns_in
from ...solvers import ChainError
from ..motion.ways import RootPath, moved_along, way_of
from .body import body_of, bone_named, chain_controls, hanging_on, root_of
from .film import Film
from .keying import Rows, rows_for
from .making import made_of_clip


def moved_to_root(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    root: str | None = None,
    body: str = "",
    height: bool = False,
    heading: bool = False,
    straight: bool = False,
) -> Steps[dict]:
    """In steps: let the root of an armature object travel as its body does, in a copy of its action.

    root: a bone; "" for the object; None for the topmost bone above the body, or the object if there is none.
    body: the bone that is followed; "" for the one that carries the legs. height, heading: whether the root also goes
    up and down with it, and turns with it about world Z. straight: at constant speed to the same end. Comes to a
    report. Raises ChainError that names bone or object, with nothing changed.
    """

    def way(worlds: np.ndarray) -> RootPath:
        found = way_of(worlds[:, :3, 3], turns_in(worlds), height, heading)
        return found.straight if straight else found

    return (yield from _moved(context, ob, root, body, way, "root motion"))


def moved_to_hips(
    context: bpy.types.Context, ob: bpy.types.Object, root: str | None = None, body: str = ""
) -> Steps[dict]:
    """In steps: let the root of an armature object stand still as at the first frame, and all below it keep its motion
    in the world. See `moved_to_root`."""

    def way(worlds: np.ndarray) -> RootPath:
        return RootPath(np.zeros((len(worlds), 3)), np.zeros(len(worlds)))

    return (yield from _moved(context, ob, root, body, way, "root still"))


def _moved(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    root_name: str | None,
    body_name: str,
    way: Callable[[np.ndarray], RootPath],
    made: str,
) -> Steps[dict]:
    body = body_of(ob, body_name)
    root = root_of(body) if root_name is None else Control(ob, root_name and bone_named(ob, root_name).name, turns=True)
    if root.bone and root.owner not in body.parent_recursive:
        raise ChainError(messages.ROOT_NOT_ABOVE(bone=root.bone, body=body.name))
    hips = Control(ob, body.name, turns=True)
    kept = hanging_on(root, chain_controls(ob))

    def moved(film: Film) -> dict[Control, Rows]:
        goes = way(film.world(hips))
        own = {control: film.world(control) for control in kept}
        return rows_for(film, {root: moved_along(film.world(root)[0], goes), **own})

    film = yield from made_of_clip(context, ob, [root, hips, *kept], moved, made)
    goes = way(film.world(hips))
    return {
        "armature": ob.name,
        "action": ob.animation_data.action.name,
        "root": root.bone,
        "body": body.name,
        "frames": [film.frames.start, film.frames.stop - 1],
        "distance": float(np.linalg.norm(goes.moves[-1])),
        "heading": float(goes.headings[-1]),
    }


to_root = at_once(moved_to_root)
"""The travel of a body onto its root, all at once: see `moved_to_root`."""
to_hips = at_once(moved_to_hips)
"""The travel of a root onto what is below it, all at once: see `moved_to_hips`."""
