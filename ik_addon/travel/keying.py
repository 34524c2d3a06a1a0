"""New motion in the world for bones and objects, into keys of a copy of the clip."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise

import bpy
import numpy as np
from mathutils import Matrix

from .. import messages
from ..authoring.controls import controls_of
from ..authoring.fk_frames import keys_of
from ..authoring.placing import Control, depth, goes_along
from ..authoring.selection import all_tips
from ..bake.keys import BoneKeys, check_keyable
from ..bake.stepping import GoTo, Steps, part_of, recorded, stepping_lightly
from ..planting.scene.reading import legs_of
from ..planting.scene.writing import keyed_control, write_copies
from ..rig.blender.animation import current_fcurve_collections
from ..rig.blender.armatures import is_changeable
from ..rig.blender.clips import mark_beside, motion_of
from ..rig.blender.dependencies import shares_of, way_along
from ..rig.blender.rotations import (
    LOCATION,
    SCALE,
    Raw,
    array_of,
    channel_of,
    pose_matrix,
    quaternion_of,
    raw_of,
    raw_values,
    rotation_in,
)
from ..rig.data.control_clips import controls_follow, plays_another_clip
from ..rig.data.undoing import all_or_nothing
from ..rig.model.body import bodies_above
from ..rig.status.problems import check_changeable
from ..solvers import ChainError

Channels = dict[str, Raw]
"""What the channels of a bone or object hold, by their modes: location, rotation and scale."""


def turn_of(channels: Channels) -> str:
    """The rotation mode of channels."""
    return next(mode for mode in channels if mode not in (LOCATION, SCALE))


@dataclass(frozen=True)
class Film:
    """What is seen over T frames.

    worlds: (T, 4, 4), of each object. poses: (T, 4, 4), of the bones of the armature object, in its space.
    channels: of each control, T of them.
    """

    ob: bpy.types.Object
    frames: range
    worlds: dict[bpy.types.Object, np.ndarray]
    poses: dict[str, np.ndarray]
    channels: dict[Control, list[Channels]]

    def world(self, control: Control) -> np.ndarray:
        """The world matrices (T, 4, 4) of an object that was seen, or of a bone of the armature object."""
        own = self.worlds[control.ob]
        return own @ self.poses[control.bone] if control.bone else own

    def size_of(self, control: Control) -> float:
        """The largest number that places a control, or the other bones, in the space of its location."""
        own = self.poses.values() if control.bone else (self.worlds[control.ob],)
        return max(float(np.abs(each[:, :3, 3]).max()) for each in own)


def filmed(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    controls: Sequence[Control],
    frames: range,
    going: Callable[..., AbstractContextManager[GoTo]] = stepping_lightly,
) -> Steps[Film]:
    """In steps: see an armature object over frames, and the channels of controls: bones of it, or objects. going: as
    these frames are gone through: without chains, or so that bones of live ones hold what is shown."""
    objects = list(dict.fromkeys([ob, *(control.ob for control in controls)]))
    names = [bone.name for bone in ob.pose.bones]

    def take(depsgraph: bpy.types.Depsgraph) -> tuple[np.ndarray, np.ndarray, list[Channels]]:
        worlds = [array_of(each.evaluated_get(depsgraph).matrix_world) for each in objects]
        row = np.empty(16 * len(names), np.float32)
        ob.evaluated_get(depsgraph).pose.bones.foreach_get("matrix", row)
        # Blender keeps matrices by their columns.
        return np.array(worlds), row.reshape(-1, 4, 4).swapaxes(1, 2), [_channels(each, depsgraph) for each in controls]

    rows = yield from recorded(going(context, objects), frames, take)
    worlds, poses, channels = (list(each) for each in zip(*rows, strict=True))
    worlds, poses = np.swapaxes(worlds, 0, 1), np.swapaxes(poses, 0, 1).astype(float)
    by_control = {control: [row[k] for row in channels] for k, control in enumerate(controls)}
    return Film(ob, frames, dict(zip(objects, worlds, strict=True)), dict(zip(names, poses, strict=True)), by_control)


def _channels(control: Control, depsgraph: bpy.types.Depsgraph) -> Channels:
    own = control.ob.evaluated_get(depsgraph)
    owner = own.pose.bones[control.bone] if control.bone else own
    return {mode: raw_values(owner, mode) for mode in (LOCATION, owner.rotation_mode, SCALE)}


def bone_named(ob: bpy.types.Object, name: str) -> bpy.types.PoseBone:
    """A bone of an armature object; ChainError if there is none of this name."""
    if name not in ob.pose.bones:
        raise ChainError(messages.NO_SUCH_BONE(armature=ob.name, bone=name))
    return ob.pose.bones[name]


def body_of(ob: bpy.types.Object, name: str = "") -> bpy.types.PoseBone:
    """The bone of this name, else the one that carries all legs and most of the body. ChainError if there is none."""
    if name:
        return bone_named(ob, name)
    roots = [ob.pose.bones[leg.links[0]] for leg in legs_of(ob)]
    # What carries controls of legs as well is above the body, unless all does.
    held = {carrier.bone for control in chain_controls(ob) for carrier in carriers_of(control) if carrier.ob == ob}
    line = bodies_above(roots, held) or bodies_above(roots)
    if not line:
        raise ChainError(messages.NO_HIPS(armature=ob.name))
    return line[0]


def root_of(body: bpy.types.PoseBone) -> Control:
    """The topmost bone above a body; if there is none, the armature object."""
    above = body.parent_recursive
    return Control(body.id_data, above[-1].name if above else "", turns=True)


def line_of(body: bpy.types.PoseBone) -> list[Control]:
    """The armature object, and the bones from the topmost one down to a body."""
    ob, bones = body.id_data, [body, *body.parent_recursive]
    return [Control(ob, "", turns=True), *(Control(ob, bone.name, turns=True) for bone in reversed(bones))]


def chain_controls(ob: bpy.types.Object) -> list[Control]:
    """What is keyed to move the targets and pole targets of the chains of an armature object, live or switched off: its
    own bones, and objects."""
    found = [keyed_control(tip, control) for tip in all_tips(ob) for control in controls_of(tip)]
    own = [control for control in found if not control.bone or control.ob == ob]
    return [*dict.fromkeys(Control(control.ob, control.bone, turns=True) for control in own)]


def carriers_of(control: Control) -> Iterator[Control]:
    """What carries a control, nearest first: bones, and objects."""
    above = _above(control)
    while above is not None:
        yield above
        above = _above(above)


def _above(control: Control) -> Control | None:
    ob = control.ob
    if control.bone:
        parent = control.owner.parent
        return Control(ob, parent.name if parent else "", turns=True)
    if ob.parent is None:
        return None
    on_bone = ob.parent_type == "BONE" and ob.parent.pose is not None and ob.parent_bone in ob.parent.pose.bones
    return Control(ob.parent, ob.parent_bone if on_bone else "", turns=True)


def hanging_on(carrier: Control, controls: Iterable[Control]) -> list[Control]:
    """What moves directly with the armature object or a bone of it: its bones, and of objects those that these
    controls of chains are or hang on."""
    bones = carrier.owner.children if carrier.bone else [bone for bone in carrier.ob.pose.bones if bone.parent is None]
    found = [Control(carrier.ob, bone.name, turns=True) for bone in bones]
    for control in controls:
        line = [control, *carriers_of(control)]
        found += [low for low, high in pairwise(line) if high == carrier and not low.bone]
    return [*dict.fromkeys(found)]


Rows = dict[str, list[Raw]]
"""What the channels of a control are to hold at each frame, by their modes."""
Worlds = Mapping[Control, np.ndarray]
"""Where controls are to be, (T, 4, 4) each."""

_SAME = 1e-6
"""Numbers this close are the same: of a matrix's elements, and of locations by `Film.size_of`."""
_SHEARED = 1e-4
"""How far a matrix's elements may be from what location, rotation and scale make."""


def rows_for(film: Film, wanted: Worlds) -> dict[Control, Rows]:
    """The channels with which controls are where they are wanted, as far as they change; those that they carry go
    along unless they are wanted elsewhere. Raises ChainError that names what cannot be put there."""
    ways = {control: worlds @ np.linalg.inv(film.world(control)) for control, worlds in wanted.items()}
    found = {}
    for control in sorted(wanted, key=depth):
        rows = _changed(film, control, (_of_bone if control.bone else _of_object)(film, wanted, ways, control))
        if rows:
            _check_free(control, rows)
            found[control] = rows
    return found


def _way_of(ways: Worlds, line: Iterable[Control]) -> np.ndarray:
    """The way (T, 4, 4) of the first of a line that has one; the unit matrix if none has."""
    return next((ways[each] for each in line if each in ways), np.eye(4))


def _of_object(film: Film, wanted: Worlds, ways: Worlds, control: Control) -> list[Matrix]:
    """The basis matrices of an object."""
    to_own = np.linalg.inv(_way_of(ways, carriers_of(control)) @ film.world(control))
    locals_now = [basis_of(row) for row in film.channels[control]]
    return [basis @ Matrix(way) for basis, way in zip(locals_now, to_own @ wanted[control], strict=True)]


def _of_bone(film: Film, wanted: Worlds, ways: Worlds, control: Control) -> list[Matrix]:
    """The basis matrices of a bone."""
    bone, world, shares = control.owner.bone, film.worlds[control.ob], shares_of(control.owner)
    own = Control(control.ob, "", turns=True)
    to_armature = np.linalg.inv(_way_of(ways, (own, *carriers_of(own))) @ world)
    poses = to_armature @ wanted[control]
    if shares:

        def moved(name: str) -> np.ndarray:
            carrier = Control(control.ob, name, turns=True)
            return to_armature @ _way_of(ways, (carrier, *carriers_of(carrier))) @ film.world(carrier)

        poses = np.linalg.inv(way_along(control.ob.data.bones, shares, moved)) @ poses
    if bone.parent is None:
        return [pose_matrix(bone, Matrix(pose), None, invert=True) for pose in poses]
    parents = to_armature @ _way_of(ways, carriers_of(control)) @ world @ film.poses[bone.parent.name]
    pairs = zip(poses, parents, strict=True)
    return [pose_matrix(bone, Matrix(pose), Matrix(parent), invert=True) for pose, parent in pairs]


def _changed(film: Film, control: Control, bases: Sequence[Matrix]) -> Rows:
    """The channels that have to hold something else for these basis matrices."""
    before = film.channels[control]
    mode = turn_of(before[0])
    locations, rotations = [], []
    near = before[0][mode]
    for row, basis in zip(before, bases, strict=True):
        rotation = rotation_in(basis, row[SCALE])
        made = Matrix.LocRotScale(basis.translation, rotation, row[SCALE])
        size = max(map(abs, row[SCALE]))
        if _apart(made.to_3x3(), basis.to_3x3()) > _SHEARED * size:
            raise ChainError(messages.TRAVEL_SHEARED()).of(words_of(control))
        locations.append(tuple(basis.translation))
        near = raw_of(rotation, mode, near)
        rotations.append(near)
    rows = {}
    size = film.size_of(control)
    if any(_apart((place,), (row[LOCATION],)) > _SAME * size for place, row in zip(locations, before, strict=True)):
        rows[LOCATION] = locations
    turned = (
        _apart(quaternion_of(now, mode).to_matrix(), quaternion_of(row[mode], mode).to_matrix())
        for now, row in zip(rotations, before, strict=True)
    )
    if any(apart > _SAME for apart in turned):
        rows[mode] = rotations
    return rows


def _apart(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]) -> float:
    return max(abs(x - y) for one, other in zip(a, b, strict=True) for x, y in zip(one, other, strict=True))


def basis_of(channels: Channels) -> Matrix:
    """The basis matrix that channels make."""
    mode = turn_of(channels)
    return Matrix.LocRotScale(channels[LOCATION], quaternion_of(channels[mode], mode), channels[SCALE])


def _check_free(control: Control, rows: Rows) -> None:
    """Raise ChainError where a control does not go where these of its channels say."""
    owner, ob = control.owner, control.ob
    if not is_changeable(ob):
        raise ChainError(messages.TRAVEL_LINKED()).of(words_of(control))
    if control.bone and owner.bone.use_connect and owner.parent is not None and LOCATION in rows:
        raise ChainError(messages.TRAVEL_CONNECTED()).of(words_of(control))
    for constraint in owner.constraints:
        if constraint.enabled and constraint.influence > 0.0 and not goes_along(control):
            raise ChainError(messages.TRAVEL_CONSTRAINED(constraint=constraint.name)).of(words_of(control))
    data = ob.animation_data
    prefix = f"{owner.path_from_id()}." if control.bone else ""
    for mode in rows:
        path = channel_of(mode)[0]
        if data is not None and any(not each.mute and each.data_path == prefix + path for each in data.drivers):
            raise ChainError(messages.KEYS_DRIVEN(channel=path.replace("_", " "))).of(words_of(control))


def words_of(control: Control) -> str:
    """A bone or object at the beginning of a sentence."""
    return messages.BONE(bone=control.bone) if control.bone else messages.OBJECT(object=control.ob.name)


def _keys(film: Film, found: Mapping[Control, Rows]) -> dict[bpy.types.Object, list[BoneKeys]]:
    """The keys of channels, by the objects that have them."""
    keys: dict[bpy.types.Object, list[BoneKeys]] = {}
    for control, rows in found.items():
        own = [keys_of(control.bone, mode, raws, film.frames) for mode, raws in rows.items()]
        keys.setdefault(control.ob, []).extend(own)
    return keys


def made_of_clip(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    controls: Sequence[Control],
    moved: Callable[[Film], Mapping[Control, Rows]],
    made: str,
    frames: range | None = None,
    beside: bool = True,
    judged: Callable[[], Steps[None]] | None = None,
) -> Steps[Film]:
    """In steps: key controls otherwise, in a copy of the action of an armature object, over all frames of its motion.
    Returns what was seen before.

    controls: what is seen. moved: what channels hold then. made: what the copy's name says of it. frames: those that
    the copy has alone; None: all. beside: the copy is a clip of its own, and does not take the place of that. judged:
    in steps, raises ChainError where the copy that plays is not good. Raises ChainError, with nothing changed.
    """
    check_changeable(ob)
    objects = list(dict.fromkeys([ob, *(control.ob for control in controls)]))
    only, frames = frames, frames_of_clip(ob, controls) if frames is None else frames
    controls_follow(ob)
    for each in objects:
        check_keyable(each, "COPY")
        if each != ob and plays_another_clip(ob, each):
            raise ChainError(messages.CONTROL_ELSEWHERE(armature=ob.name, control=each.name))
    with all_or_nothing(objects) as undo:
        undo.nothing_more_is_made()
        steps = filmed(context, ob, controls, frames)
        film = yield from (steps if judged is None else part_of(steps, 0, 2))
        found = moved(film)
        with undo.making():
            before = {each: _action_of(each) for each in objects}
            write_copies(ob, _keys(film, found), made, again=False)
            if beside:
                mark_beside(ob.animation_data.action)
            for each in objects if only is not None else ():
                if _action_of(each) != before[each]:
                    _cut(each, frames)
        if judged is not None:
            yield from part_of(judged(), 1, 2)
    # What stands at this frame is as keyed.
    scene = context.scene
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    return film


def report_of(ob: bpy.types.Object, film: Film, **figures: object) -> dict:
    """What is reported of a copy that was made of a clip: its armature object, name and frames, and figures."""
    frames = [film.frames.start, film.frames.stop - 1]
    return {"armature": ob.name, "action": ob.animation_data.action.name, "frames": frames, **figures}


def _action_of(ob: bpy.types.Object) -> bpy.types.Action | None:
    return ob.animation_data.action if ob.animation_data else None


def _cut(ob: bpy.types.Object, frames: range) -> None:
    """Leave no keys outside of these frames of the scene in the action of an object, and the motion in them as it
    is."""
    data = ob.animation_data
    first, last = (data.nla_tweak_strip_time_to_scene(frame, invert=True) for frame in (frames[0], frames[-1]))
    for curve in (curve for home in current_fcurve_collections(data) for curve in home):
        points = curve.keyframe_points
        if curve.modifiers or not points:
            continue
        ways = {key.interpolation for key in points}
        inner = [end for end in (first, last) if points[0].co.x < end < points[-1].co.x]
        if any(all(abs(key.co.x - end) > _SAME for key in points) for end in inner):
            # A piece of a Bezier curve has other handles than the whole.
            at = inner if len(ways) == 1 and ways <= {"CONSTANT", "LINEAR"} else [first + k for k in range(len(frames))]
            for frame, value in [(frame, curve.evaluate(frame)) for frame in at]:
                points.insert(frame, value).interpolation = "CONSTANT" if ways == {"CONSTANT"} else "LINEAR"
        if points[-1].co.x < first - _SAME or points[0].co.x > last + _SAME:
            # What was set for good before, such as a switch.
            points.insert(first, curve.evaluate(first)).interpolation = points[0].interpolation
        for key in [key for key in points if not first - _SAME <= key.co.x <= last + _SAME][::-1]:
            points.remove(key, fast=True)
        curve.update()


def frames_of_clip(ob: bpy.types.Object, controls: Sequence[Control]) -> range:
    """The frames over which keys move an armature object or what controls it; ChainError if none do."""
    frames = motion_of(dict.fromkeys([ob, *(control.ob for control in controls)]))
    if frames is None:
        raise ChainError(messages.NO_MOTION()).of(messages.ARMATURE(armature=ob.name))
    return frames
