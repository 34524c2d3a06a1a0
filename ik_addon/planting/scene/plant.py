"""Plant Feet on a level, a mesh or along a curve: read, find contacts, plan, place, key."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from ... import messages
from ...authoring.clip_tracks import ClipTracks
from ...authoring.fk_frames import checked_controls
from ...authoring.placing import Control
from ...bake.stepping import Steps, at_once, part_of
from ...rig.blender.armatures import tag_pose
from ...rig.blender.clips import Clip
from ...rig.data.control_clips import separate_controls
from ...rig.data.settings import set_to
from ...rig.data.undoing import all_or_nothing
from ...rig.live.state import unseen
from ...solvers import ChainError
from ...solvers.vectors import finite_number
from ..feet import contacts
from ..feet.anchors import Anchors
from ..feet.judging import stands_already, worse_by
from ..feet.options import Options
from ..feet.planning import FootPlan, Footprints, lowered, plan
from ..feet.standing import why_nothing_stands
from ..feet.treadmill import Stage, stands_on
from .between import falls_between
from .footprints import edited, make_footprints
from .limbs import check_frames, check_limbs, controls_ready, key_contacts, keyed_contacts
from .path import check_path, curve_of, path_named, walk_along, walk_of
from .reading import Capture, captured, carrier_of, reaching, solved_again
from .report import report_of
from .riders import Riders, riders_of, staying
from .simplify import with_edits
from .skin import Skins
from .sources import keep_settings, keep_unkeyed, kept_settings, kept_unkeyed, source_playing
from .writing import body_keys, controls_placed, keyed_of, let_repeat, repeats, write_plan


@dataclass(frozen=True, slots=True)
class Ground:
    """kind: CAPTURED (as the feet stand in the capture), LEVEL (at a height in the world) or OBJECT (a mesh object)."""

    kind: str = "CAPTURED"
    height: float = 0.0
    ob: bpy.types.Object | None = None

    def __post_init__(self) -> None:
        finite_number(self.height, "the ground's height")

    def heights(self, context: bpy.types.Context) -> contacts.Ground | None:
        """The height below any point; None as captured. Raises ChainError where the object is no ground."""
        if self.kind == "LEVEL":
            return lambda points: np.full(len(points), self.height)
        return _of_mesh(self.ob, context.evaluated_depsgraph_get()) if self.kind == "OBJECT" else None


class StaysAsItIsError(ChainError):
    """Planting would change nothing: the feet stand already, or none stands."""


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
    path: bpy.types.Object | None = None,
    skins: Skins | None = None,
) -> Steps[dict]:
    """In steps: let the feet of these legs, all of one armature, stand still in each contact; the body follows.

    The motion is that of the bones' own keys. What is keyed, controls and the bone that carries the body, is keyed in
    copies of their actions; planting again begins with the same motion and writes into the same copies. Contacts are
    found, or are those that keys of the legs' Contact say. footprints: give each stance an Empty; those that there are,
    and that were moved, move their stances. path: a curve along which the character walks; None: as captured. skins: of
    its feet, as far as they were read for another clip. Comes to a report. Raises ChainError that names the bone, with
    nothing changed. Closed before the end, the steps leave everything as it was.
    """
    options, ground = options or Options(), ground or Ground()
    ob = tips[0].id_data
    check_limbs(tips, frames)
    heights = ground.heights(context)
    if path is not None:
        check_path(path, tips)
    owners = [control.ob for own in checked_controls(tips, frames).values() for control in own]
    is_elsewhere = path is not None or bool((kept_settings(ob) or {}).get("path"))
    owners += separate_controls(ob) if is_elsewhere else []
    check_frames([ob, *owners], frames, path is not None)
    with unseen(), all_or_nothing([ob, *owners], keys=True) as undo:
        controls = controls_ready(context, tips)
        undo.nothing_more_is_made()
        carrier = carrier_of(tips, controls)
        # What it does live is keyed.
        set_to(carrier, {"body_influence": 0.0})
        placed = [each for own in controls.values() for each in own]
        riders = riders_of(carrier, tips, placed, kept_unkeyed(ob)) if is_elsewhere else None
        reading = _read(context, tips, carrier, riders, frames, Skins() if skins is None else skins)
        is_cyclic = path is None and repeats(carrier)
        capture, rows = yield from part_of(reading, 0, 2)
        taken, seen = _stage_of(capture, tips, frames, options, heights), []
        way = walk_along(taken, path, options, riders, rows) if path is not None else None
        stage = way.stage if way else taken

        def with_footprints(anchors: Anchors) -> Anchors:
            seen.append(anchors)
            return edited(anchors, tips, frames, stage.seen, stage.sole)

        # Contacts that somebody keyed are wanted, but for a path they may be those of another way, or of fewer frames.
        is_keyed = path is None and any(keyed_contacts(tip, frames) is not None for tip in tips)
        is_wanted = options.anyway or footprints or is_keyed
        made = _planned(stage, ob.name, options, with_footprints, is_wanted)
        placing = controls_placed(context, tips, controls, capture, made, frames)
        samples, slopes = yield from part_of(placing, 2, 4)
        with undo.making():

            def write(made: FootPlan) -> None:
                body = {ob: [body_keys(carrier, capture.body, made, frames)]}
                if riders:
                    # Without a path once more as captured.
                    here = (np.tile(np.eye(3), (len(frames), 1, 1)), np.zeros(3)), []
                    moves = (way.body, way.spines) if way else here
                    body = riders.keys(capture.body, rows, *moves, made.shifts, frames)
                write_plan(tips, controls, body, capture, made, samples, slopes, frames, "planted")

            write(made)
            falls = falls_between(tips, stage.clip, made, frames)
            if falls.any():
                made = lowered(stage.clip, made, falls)
                write(made)
            if is_cyclic:
                poles = (controls[tip][1] for tip in tips)
                let_repeat([Control(ob, carrier.name), *keyed_of(tips, controls, capture), *poles])
            key_contacts(tips, made.contacts, frames)
            if riders:
                keep_unkeyed(ob, riders.unkeyed)
        tag_pose(ob)
        # On a path more is keyed than what these were told from.
        if capture.told is not None and riders is None:
            after = solved_again(context, tips, capture, frames)
            yield 1, 1
        else:
            steps = captured(context, tips, None, frames, solved=True, at_feet=True, legs=capture.legs)
            after = (yield from part_of(steps, 3, 4)).clip
        # After the last step: nothing is left of what ends before.
        if footprints:
            make_footprints(context.scene, tips, seen[0], frames, stage.seen, stage.sole)
        if skins is None:
            # Controls stand where they were put last; back to what is keyed here, once for several clips.
            scene = context.scene
            scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
        figures = way.figures | {"stays": staying(carrier, capture.body, stage.seen.size)} if way else None
        return report_of(tips, carrier, taken.clip, stage, after, made, frames, figures, is_cyclic, options.body)


plant = at_once(planted)


def skins_of(ob: bpy.types.Object, clips: Iterable[Clip | None]) -> Skins:
    """What is read once of an armature object of which these clips are planted, None for what plays."""
    return Skins(clips=ClipTracks(ob, filter(None, clips), source_playing))


def _read(
    context: bpy.types.Context,
    tips: Sequence[bpy.types.PoseBone],
    carrier: bpy.types.PoseBone,
    riders: Riders | None,
    frames: range,
    skins: Skins,
) -> Steps[tuple[Capture, list[np.ndarray]]]:
    """In steps: what was captured, and what goes along with it on a path, see `Riders.read`."""
    if riders is None:
        with source_playing(tips[0].id_data):
            return (yield from captured(context, tips, carrier, frames, at_feet=True, skins=skins)), []
    reading = captured(context, tips, carrier, frames, at_feet=True, skins=replace(skins, clips=None))
    with riders.sources_playing():
        capture = yield from part_of(reading, 0, 2)
        return capture, (yield from part_of(riders.read(context, tips, frames), 1, 2))


def planted_and_kept(
    context: bpy.types.Context,
    tips: Sequence[bpy.types.PoseBone],
    frames: range,
    options: Options,
    ground: Ground,
    footprints: bool = False,
    path: bpy.types.Object | None = None,
    skins: Skins | None = None,
) -> Steps[dict]:
    """In steps: the same, and the action keeps how, for `planted_again`."""
    steps = planted(context, tips, frames, options, ground, footprints, path, skins)
    report = yield from with_edits(context, tips[0].id_data, steps)
    settings = {
        **vars(options),
        "tips": [tip.name for tip in tips],
        "frames": [frames.start, frames.stop, frames.step],
        "ground": ground.kind,
        "height": ground.height,
        "ground_object": ground.ob.name if ground.ob else "",
        "path": path.name if path else "",
        "footprints": footprints,
        "ground_velocity": report["ground_velocity"],
    }
    keep_settings(tips[0].id_data, settings)
    return report


def planted_again(context: bpy.types.Context, ob: bpy.types.Object) -> Steps[dict]:
    """In steps: plant the current action of an armature object as it was, with contacts, footprints and path as they
    are."""
    settings = kept_settings(ob)
    if settings is None:
        raise ChainError(messages.NOT_PLANTED(armature=ob.name))
    tips = [ob.pose.bones[name] for name in settings["tips"] if name in ob.pose.bones]
    if not tips:
        raise ChainError(messages.NO_LIVE_CHAIN(armature=ob.name))
    # What was changed by hand is wanted.
    options, ground = Options.known(settings | {"anyway": True}), planted_on(context, ob)
    frames, path = range(*settings["frames"]), path_named(context.scene, settings.get("path", ""))
    return (yield from planted_and_kept(context, tips, frames, options, ground, settings["footprints"], path))


def planted_on(context: bpy.types.Context, ob: bpy.types.Object) -> Ground:
    """What the current action of an armature object was planted on; as captured if nothing tells."""
    settings = kept_settings(ob)
    if settings is None:
        return Ground()
    return Ground(settings["ground"], settings["height"], context.scene.objects.get(settings["ground_object"]))


def path_from_clip(
    context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone], frames: range
) -> Steps[tuple[bpy.types.Object, float]]:
    """In steps: a new curve along which these legs of one armature walk as they were captured, and the farthest that
    their way is from it, leg lengths. Unedited it is no other path. An action that was planted without a path is
    planted along it from now on."""
    ob = tips[0].id_data
    check_limbs(tips, frames)
    with source_playing(ob):
        capture = yield from captured(context, tips, None, frames, at_feet=True)
    context.view_layer.update()
    walk = walk_of(_stage_of(capture, tips, frames, Options(), None))
    curve, away = curve_of(walk, f"{ob.name} Path", context.scene)
    settings = kept_settings(ob)
    if settings is not None and not settings.get("path"):
        keep_settings(ob, settings | {"path": curve.name})
    return curve, away


def _stage_of(
    capture: Capture,
    tips: Sequence[bpy.types.PoseBone],
    frames: range,
    options: Options,
    heights: contacts.Ground | None,
) -> Stage:
    """What was captured, with the contacts that were found, or that keys tell."""
    stage, keyed = stands_on(reaching(capture), options, heights), [keyed_contacts(tip, frames) for tip in tips]
    touching = np.array([own if told is None else told for own, told in zip(stage.contacts, keyed, strict=True)])
    if not touching.any():
        raise StaysAsItIsError(_WHY_NOT[why_nothing_stands(stage.seen, stage.sole)](armature=tips[0].id_data.name))
    return replace(stage, contacts=touching)


def _planned(stage: Stage, name: str, options: Options, footprints: Footprints, is_wanted: bool) -> FootPlan:
    """The plan for what was captured. name: of the armature object. is_wanted: whatever becomes of it."""
    clip, heights = stage.seen, stage.ground.heights
    made = plan(clip, options, stage.contacts, heights, footprints, stage.sole)
    if is_wanted:
        return stage.ground.put_back(clip, made)
    if clip.extensions is None and stands_already(clip, made, stage.sole):
        still = not np.ptp(np.concatenate((clip.hips, clip.ankles, clip.balls)), axis=1).any()
        why = messages.FEET_NEVER_MOVE if still else messages.FEET_STAND_ALREADY
        raise StaysAsItIsError(why(armature=name))
    worse = worse_by(clip, made, stage.sole, heights is None, options.limits)
    if worse:
        words = ((_WORSE[each.figure], each) for each in worse)
        said = (message(**{field: getattr(each, field) for field in message.fields}) for message, each in words)
        raise ChainError(messages.PLANTED_WORSE(armature=name, figures="; ".join(said)))
    return stage.ground.put_back(clip, made)


_WHY_NOT = {
    "": messages.NO_CONTACT,
    "AIR": messages.NO_FOOT_DOWN,
    "LIES": messages.BODY_LIES,
    "TURNED": messages.RESTS_TURNED,
}
_WORSE = {
    "slide": messages.WORSE_SLIDE,
    "knee_speed": messages.WORSE_KNEES,
    "loop": messages.WORSE_LOOP,
    "sunken": messages.WORSE_SUNKEN,
    "body": messages.WORSE_BODY,
}
"""What is said of the figures that are judged."""
