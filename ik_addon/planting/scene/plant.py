"""Plant Feet on a level or a mesh: read, find contacts, plan, place, key."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import bpy
import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from ... import messages
from ...authoring.fk_frames import checked_controls
from ...bake.stepping import Steps, at_once, part_of
from ...rig.blender.armatures import tag_pose
from ...rig.data.held_feet import holds_of
from ...rig.data.undoing import all_or_nothing
from ...solvers import ChainError
from ..feet import contacts
from ..feet.anchors import Anchors
from ..feet.clip import LegMotion
from ..feet.contacts import sole_of
from ..feet.judging import stands_already, worse_by
from ..feet.options import Options
from ..feet.planning import FootPlan, Footprints, plan
from ..feet.standing import why_nothing_stands
from ..feet.treadmill import Standing, stands_on
from .footprints import edited, make_footprints
from .limbs import check_limbs, controls_ready, key_contacts, keyed_contacts
from .reading import captured, carrier_of, reaching
from .report import report_of
from .sources import keep_settings, kept_settings, source_playing
from .writing import body_keys, controls_placed, write_plan


@dataclass(frozen=True, slots=True)
class Ground:
    """kind: CAPTURED (as the feet stand in the capture), LEVEL (at a height in the world) or OBJECT (a mesh object)."""

    kind: str = "CAPTURED"
    height: float = 0.0
    ob: bpy.types.Object | None = None

    def heights(self, depsgraph: bpy.types.Depsgraph) -> contacts.Ground | None:
        """The height below any point; None as captured. Raises ChainError where the object is no ground."""
        if self.kind == "LEVEL":
            return lambda points: np.full(len(points), self.height)
        return _of_mesh(self.ob, depsgraph) if self.kind == "OBJECT" else None


class FeetStandError(ChainError):
    """Planting would change nothing that is seen."""


def _of_mesh(ob: bpy.types.Object | None, depsgraph: bpy.types.Depsgraph) -> contacts.Ground:
    if ob is None:
        raise ChainError(messages.NO_GROUND())
    if ob.type != "MESH":
        raise ChainError(messages.GROUND_NO_MESH(object=ob.name))
    evaluated = ob.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh()
    points = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", points)
    world = np.array(evaluated.matrix_world, float)
    points = points.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]
    faces = [tuple(face.vertices) for face in mesh.polygons]
    evaluated.to_mesh_clear()
    if not faces:
        raise ChainError(messages.GROUND_WITHOUT_FACES(object=ob.name))
    tree = BVHTree.FromPolygons(points.tolist(), faces)
    above, down = float(points[:, 2].max()) + 1.0, Vector((0.0, 0.0, -1.0))

    def height(point: np.ndarray) -> float:
        hit = tree.ray_cast(Vector((point[0], point[1], above)), down)[0]
        if hit is None:
            # Beside the mesh the ground goes on as high as its nearest edge.
            hit = tree.find_nearest(Vector(point))[0]
        return hit.z

    return lambda at: np.array([height(point) for point in at], float)


def planted(
    context: bpy.types.Context,
    tips: Sequence[bpy.types.PoseBone],
    frames: range,
    options: Options | None = None,
    ground: Ground | None = None,
    footprints: bool = False,
) -> Steps[dict]:
    """In steps: let the feet of these legs, all of one armature, stand still in each contact; the body follows.

    The motion is that of the bones' own keys. What is keyed, controls and the bone that carries the body, is keyed in
    copies of their actions; planting again begins with the same motion and writes into the same copies. Contacts are
    found, or are those that keys of the legs' Contact say. footprints: give each stance an Empty; those that there are,
    and that were moved, move their stances. Comes to a report. Raises ChainError that names the bone,
    with nothing changed. Closed before the end, the steps leave everything as it was.
    """
    options, ground = options or Options(), ground or Ground()
    ob = tips[0].id_data
    check_limbs(tips, frames)
    locked = {hold.tip for hold in holds_of(ob)}
    for tip in tips:
        if tip.name in locked:
            raise ChainError(messages.PLANT_LOCKED()).of(messages.BONE(bone=tip.name))
    heights = ground.heights(context.evaluated_depsgraph_get())
    found = checked_controls(tips, frames)
    owners = [control.ob for own in found.values() for control in own]
    with all_or_nothing([ob, *owners], keys=True) as undo:
        controls = controls_ready(context, tips)
        undo.nothing_more_is_made()
        carrier = carrier_of(tips, controls)
        # What it does live is keyed.
        carrier.analytic_ik_body_influence = 0.0
        with source_playing(ob):
            capture = yield from part_of(captured(context, tips, carrier, frames, at_feet=True), 0, 3)
        context.view_layer.update()
        clip, seen = reaching(capture), []
        ground_below, found = stands_on(clip, options, heights)

        def with_footprints(anchors: Anchors) -> Anchors:
            seen.append(anchors)
            return edited(anchors, tips, frames)

        made = _planned(clip, ground_below, found, tips, frames, options, with_footprints, footprints)
        placing = controls_placed(context, tips, controls, capture, made, frames)
        samples, slopes = yield from part_of(placing, 1, 3)
        body = body_keys(carrier, capture, made, frames)
        with undo.making():
            write_plan(tips, controls, [body], capture, made, samples, slopes, frames, "planted")
            key_contacts(tips, made.contacts, frames)
        tag_pose(ob)
        after = yield from part_of(captured(context, tips, carrier, frames, solved=True, at_feet=True), 2, 3)
        # After the last step: nothing is left of what ends before.
        if footprints:
            make_footprints(context.scene, tips, seen[0], frames, clip, sole_of(clip))
        # Controls stand where they were put last; back to what is keyed here.
        scene = context.scene
        scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
        return report_of(tips, carrier, clip, after.clip, made, ground_below, frames)


plant = at_once(planted)


def planted_and_kept(
    context: bpy.types.Context,
    tips: Sequence[bpy.types.PoseBone],
    frames: range,
    options: Options,
    ground: Ground,
    footprints: bool = False,
) -> Steps[dict]:
    """In steps: the same, and the action keeps how, for `planted_again`."""
    report = yield from planted(context, tips, frames, options, ground, footprints)
    settings = {
        **asdict(options),
        "tips": [tip.name for tip in tips],
        "frames": [frames.start, frames.stop, frames.step],
        "ground": ground.kind,
        "height": ground.height,
        "ground_object": ground.ob.name if ground.ob else "",
        "footprints": footprints,
        "ground_velocity": report["ground_velocity"],
    }
    keep_settings(tips[0].id_data, settings)
    return report


def planted_again(context: bpy.types.Context, ob: bpy.types.Object) -> Steps[dict]:
    """In steps: plant the current action of an armature object as it was, with contacts and footprints as they are."""
    settings = kept_settings(ob)
    if settings is None:
        raise ChainError(messages.NOT_PLANTED(armature=ob.name))
    tips = [ob.pose.bones[name] for name in settings["tips"] if name in ob.pose.bones]
    if not tips:
        raise ChainError(messages.NO_LIVE_CHAIN(armature=ob.name))
    # What was changed by hand is wanted.
    options, ground = Options.known(settings | {"anyway": True}), planted_on(context, ob)
    return (
        yield from planted_and_kept(context, tips, range(*settings["frames"]), options, ground, settings["footprints"])
    )


def planted_on(context: bpy.types.Context, ob: bpy.types.Object) -> Ground:
    """What the current action of an armature object was planted on; as captured if nothing tells."""
    settings = kept_settings(ob)
    if settings is None:
        return Ground()
    return Ground(settings["ground"], settings["height"], context.scene.objects.get(settings["ground_object"]))


def _planned(
    captured_clip: LegMotion,
    ground: Standing,
    found: np.ndarray,
    tips: Sequence[bpy.types.PoseBone],
    frames: range,
    options: Options,
    footprints: Footprints,
    wants_footprints: bool,
) -> FootPlan:
    """The plan for what was captured, with the contacts that were found, or that keys tell."""
    clip, name = ground.seen_from(captured_clip), tips[0].id_data.name
    keyed = [keyed_contacts(tip, frames) for tip in tips]
    contacts = np.array([own if told is None else told for own, told in zip(found, keyed, strict=True)])
    sole = sole_of(clip)
    if not contacts.any():
        raise ChainError(_WHY_NOT[why_nothing_stands(clip, sole)](armature=name))
    made = plan(clip, options, contacts, ground.heights, footprints, sole)
    # Contacts that somebody keyed are wanted.
    is_wanted = options.anyway or wants_footprints or any(told is not None for told in keyed)
    slide = None if is_wanted else stands_already(clip, made, sole)
    if slide is not None:
        raise FeetStandError(messages.FEET_STAND_ALREADY(armature=name, slide=slide))
    worse = [] if is_wanted else worse_by(clip, made, sole, ground.heights is None, options.limits)
    if worse:
        words = ((_WORSE[each.figure], each) for each in worse)
        said = (message(**{field: getattr(each, field) for field in message.fields}) for message, each in words)
        raise ChainError(messages.PLANTED_WORSE(armature=name, figures="; ".join(said)))
    return ground.put_back(clip, made)


_WHY_NOT = {"": messages.NO_CONTACT, "AIR": messages.NO_FOOT_DOWN, "LIES": messages.BODY_LIES}
_WORSE = {
    "slide": messages.WORSE_SLIDE,
    "knee_speed": messages.WORSE_KNEES,
    "loop": messages.WORSE_LOOP,
    "sunken": messages.WORSE_SUNKEN,
    "body": messages.WORSE_BODY,
}
"""What is said of the figures that are judged."""
