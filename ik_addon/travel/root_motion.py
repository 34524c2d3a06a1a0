"""The travel of a body on a root, and back; and clips in place. All else stays where it is in the world."""

import json
from collections.abc import Callable, Sequence

import bpy
import numpy as np

from .. import messages
from ..authoring.placing import Control
from ..bake.stepping import Steps, at_once, part_of
from ..planting.feet.clip import LegMotion
from ..planting.scene.reading import clip_rate, legs_of, shown
from ..planting.scene.riders import rides
from ..rig.blender.rotations import turns_in
from ..solvers import ChainError
from .keying import (
    Film,
    Rows,
    Worlds,
    body_of,
    bone_named,
    carriers_of,
    chain_controls,
    frames_of_clip,
    hanging_on,
    line_of,
    made_of_clip,
    report_of,
    root_of,
    rows_for,
)
from .motion import ALONG, RootPath, moved_along, shifted, standing_velocity, way_of


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

    film = yield from made_of_clip(context, ob, [root, hips, *kept], moved, made, beside=False)
    goes = way(film.world(hips))
    distance, heading = float(np.linalg.norm(goes.moves[-1])), float(goes.headings[-1])
    return report_of(ob, film, root=root.bone, body=body.name, distance=distance, heading=heading)


to_root = at_once(moved_to_root)
to_hips = at_once(moved_to_hips)
"""The travel of a root onto what is below it, all at once: see `moved_to_hips`."""


_TAKEN = "analytic_ik_travel_taken"
_SHORTEST = 0.05
"""Part of the armature's size below which a body stays in place."""


def clip_in_place(context: bpy.types.Context, ob: bpy.types.Object, body: str = "") -> Steps[dict]:
    """In steps: let a clip that travels stay in place, in a copy of its action.

    What the body travels over the ground from the first frame to the last is taken off at constant speed: of the
    topmost bone that travels with the body, or the object, and of what that does not carry: the chains' controls, and
    keyed bones without a parent. So feet that stand slide back at one speed. body: the bone that counts; "" for the one
    that carries the legs. Comes to a report. Raises ChainError that names the armature, with nothing changed.
    """
    hips = body_of(ob, body)
    line = line_of(hips)
    controls = _beside(ob)
    taken: list = []

    def moved(film: Film) -> dict[Control, Rows]:
        found = traveler(film, line)
        if found is None:
            raise ChainError(messages.IN_PLACE_ALREADY(bone=hips.name)).of(messages.ARMATURE(armature=ob.name))
        mover, way = found
        step = way / (len(film.frames) - 1)
        taken.extend((mover, step))
        return rows_for(film, _moved_in_place(film, mover, controls, -step))

    film = yield from made_of_clip(context, ob, [*line, *controls], moved, "in place")
    mover, step = taken
    setattr(ob.animation_data.action, _TAKEN, json.dumps({"bone": mover.bone, "step": step.tolist()}))
    return _report(context, ob, film, mover, step)


def clip_travelling(context: bpy.types.Context, ob: bpy.types.Object, body: str = "") -> Steps[dict]:
    """In steps: let a clip that stays in place travel, so that its feet stand, in a copy of its action.

    At the velocity that was taken off it, else against the one at which its feet slide back. The root bone above the
    body travels, or the body if there is none, and what `clip_in_place` moves beside it.
    """
    hips, controls = body_of(ob, body), _beside(ob)
    known = _taken(ob)
    if known is not None:
        mover, step = known
    else:
        mover = root_of(hips)
        mover = mover if mover.bone else Control(ob, hips.name, turns=True)
        step = yield from part_of(_standing_step(context, ob, controls), 0, 2)

    def moved(film: Film) -> dict[Control, Rows]:
        return rows_for(film, _moved_in_place(film, mover, controls, step))

    steps = made_of_clip(context, ob, [mover, *controls], moved, "traveling")
    film = yield from (steps if known is not None else part_of(steps, 1, 2))
    ob.animation_data.action.property_unset(_TAKEN)
    return _report(context, ob, film, mover, step)


put_in_place = at_once(clip_in_place)
travel = at_once(clip_travelling)
"""A clip that travels, all at once: see `clip_travelling`."""


def _standing_step(context: bpy.types.Context, ob: bpy.types.Object, controls: list[Control]) -> Steps[np.ndarray]:
    """How far (3,) a clip in place has to travel in a frame for its feet to stand."""
    legs, frames = legs_of(ob), frames_of_clip(ob, controls)
    velocity = np.zeros(3)
    if legs and len(frames) > 2:
        clip: LegMotion = yield from shown(context, ob, legs, frames)
        velocity = standing_velocity(clip) / clip.fps
    if not velocity.any():
        raise ChainError(messages.NO_BELT()).of(messages.ARMATURE(armature=ob.name))
    return velocity


def _beside(ob: bpy.types.Object) -> list[Control]:
    """What travels with a body that may not carry it: controls of chains, and keyed bones without a parent, such as
    feet."""
    loose = (Control(ob, bone.name, turns=True) for bone in ob.pose.bones if bone.parent is None)
    return [*dict.fromkeys([*chain_controls(ob), *filter(rides, loose)])]


def _moved_in_place(film: Film, mover: Control, controls: list[Control], step: np.ndarray) -> Worlds:
    """Where what travels is if it goes a step (3,) more from frame to frame."""
    moves = np.arange(len(film.frames))[:, None] * step
    above = [mover, *carriers_of(mover)]
    free = [control for control in controls if control not in above and mover not in carriers_of(control)]
    return {control: shifted(film.world(control), moves) for control in (mover, *free)}


def traveler(film: Film, line: Sequence[Control]) -> tuple[Control, np.ndarray] | None:
    """The first of a line, down to a body, that travels with the body, and how far (3,) that goes over the ground.

    None if the body stays in place.
    """
    ways = [_way(film, each) for each in line]
    if np.linalg.norm(ways[-1]) < _SHORTEST * size_of(film):
        return None
    least = ALONG * ways[-1] @ ways[-1]
    return next(each for each, way in zip(line, ways, strict=True) if way @ ways[-1] >= least), ways[-1]


def _way(film: Film, control: Control) -> np.ndarray:
    """How far (3,) something goes over the ground."""
    places = film.world(control)[:, :3, 3]
    return (places[-1] - places[0]) * (1.0, 1.0, 0.0)


def size_of(film: Film) -> float:
    """The extent of an armature at its first frame, world units."""
    places = np.array([(film.worlds[film.ob][0] @ pose[0])[:3, 3] for pose in film.poses.values()])
    return float(np.ptp(places, axis=0).max())


def _taken(ob: bpy.types.Object) -> tuple[Control, np.ndarray] | None:
    """What travelled before, and how far in a frame, as the current action of an object keeps it; None: nothing."""
    action = ob.animation_data.action if ob.animation_data else None
    try:
        found = json.loads(getattr(action, _TAKEN)) if action is not None else None
        bone, step = found["bone"], np.array(found["step"], float)
    except (ValueError, KeyError, TypeError):
        # There is none, or somebody else wrote it.
        return None
    if step.shape != (3,) or not np.isfinite(step).all() or (bone and bone not in ob.pose.bones):
        return None
    return Control(ob, bone, turns=True), step


def _report(context: bpy.types.Context, ob: bpy.types.Object, film: Film, mover: Control, step: np.ndarray) -> dict:
    length, rate = float(np.linalg.norm(step)), clip_rate(context.scene, film.frames)
    return report_of(ob, film, root=mover.bone, speed=length * rate, distance=length * (len(film.frames) - 1))
