"""Where objects and bones are at any frames, from their F-Curves alone: no frame is changed, nothing is evaluated.

Also what keeps an object or a bone from being sampled, and which scene's frame the originals stand at."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import bpy
import numpy as np
from mathutils import Matrix

from ... import messages
from .animation import animated_paths, bone_of_path, current_fcurve_collections, plays
from .armatures import is_evaluated_in
from .dependencies import Shares, shares_of, taken_by, way_along
from .file_memory import file_memory
from .rotations import REST, array_of, channel_of, matrices_of, pose_matrix, quaternions_of


class Sampler:
    """Where objects and bones are at `frames`, of any number; only for what `not_simple` has nothing against.

    For one call: it holds Blender's data. Arrays are (n, 4, 4), or (1, 4, 4) of what does not move; they are kept, and
    not for the caller to change.
    """

    def __init__(self, frames: Sequence[float]) -> None:
        self._frames = [float(frame) for frame in frames]
        self._times = np.array(self._frames)
        self._worlds: dict[bpy.types.Object, np.ndarray] = {}
        self._poses: dict[bpy.types.PoseBone, np.ndarray] = {}
        self._curves: dict[bpy.types.Object, _Curves] = {}

    def worlds(self, ob: bpy.types.Object) -> np.ndarray:
        ob = ob.original  # pyright: ignore[reportAssignmentType]
        for each in self._unknown(ob, self._worlds):
            world = self._local(each, each, "")
            self._worlds[each] = world if each.parent is None else self.carried(each) @ world
        return self._worlds[ob]

    def poses(self, ob: bpy.types.Object, bone_name: str) -> np.ndarray:
        """The pose matrices of a bone, in armature space."""
        pose_bone = ob.original.pose.bones[bone_name]
        for each in self._unknown(pose_bone, self._poses):
            pose, shares = self._pose_by_channels(each), shares_of(each)
            way = way_along(ob.original.data.bones, shares, lambda name: self.poses(ob, name)) if shares else None
            self._poses[each] = pose if way is None else way @ pose
        return self._poses[pose_bone]

    def carried(self, ob: bpy.types.Object) -> np.ndarray:
        """From what an object's own channels make of it to the world; only for one that has a parent."""
        above = self.worlds(ob.parent)
        if ob.parent_type == "BONE":
            tail = Matrix.Translation((0.0, ob.parent.data.bones[ob.parent_bone].length, 0.0))
            above = above @ (self.poses(ob.parent, ob.parent_bone) @ array_of(tail))
        return above @ array_of(ob.matrix_parent_inverse)

    def _unknown(self, owner, known: dict) -> list:
        """An object or a bone and those above it of which nothing is known, topmost first."""
        line = []
        while owner is not None and owner not in known:
            line.append(owner)
            owner = owner.parent
        return line[::-1]

    def channel(self, ob: bpy.types.Object, path: str, still: Sequence[float]) -> np.ndarray:
        """The numbers (n or 1, width) of a property. still: what it holds where no F-Curve sets it."""
        return self._numbers(self._curves_of(ob), path, still)

    def _curves_of(self, ob: bpy.types.Object) -> "_Curves":
        curves = self._curves.get(ob)
        if curves is None:
            curves = self._curves[ob] = {}
            for home in current_fcurve_collections(ob.animation_data) if ob.animation_data else ():
                for curve in home:
                    curves.setdefault(curve.data_path, []).append(curve)
        return curves

    def _pose_by_channels(self, pose_bone: bpy.types.PoseBone) -> np.ndarray:
        ob, bone, parent = pose_bone.id_data, pose_bone.bone, pose_bone.parent
        local = self._local(ob, pose_bone, f"{pose_bone.path_from_id()}.")
        if bone.use_connect:
            local = local.copy()
            local[:, :3, 3] = 0.0
        if parent is None:
            if bone.use_local_location:
                return array_of(bone.matrix_local) @ local
            return np.array([array_of(pose_matrix(bone, Matrix(own), None)) for own in local])
        above = self._poses[parent]
        if bone.use_local_location and bone.use_inherit_rotation and bone.inherit_scale == "FULL":
            return above @ (array_of(parent.bone.matrix_local.inverted() @ bone.matrix_local) @ local)
        above, local = np.broadcast_arrays(above, local)
        pairs = zip(local, above, strict=True)
        return np.array([array_of(pose_matrix(bone, Matrix(own), Matrix(under))) for own, under in pairs])

    def _local(self, ob: bpy.types.Object, owner: bpy.types.Object | bpy.types.PoseBone, prefix: str) -> np.ndarray:
        """The matrices that the channels of an object, or of a bone of it, make. prefix: of a bone's paths."""
        still = array_of(owner.matrix_basis)[None]
        paths = curves = self._curves_of(ob)
        if not paths:
            return still

        def numbers(name: str) -> np.ndarray:
            return self._numbers(curves, prefix + name, getattr(owner, name)[:])

        mode = owner.rotation_mode
        rotation = channel_of(mode)[0]
        # Bones have no deltas, and objects none of axis and angle.
        delta_rotation = "" if prefix or mode == "AXIS_ANGLE" else f"delta_{rotation}"
        moves = prefix + "location" in paths or "delta_location" in paths
        turns = prefix + rotation in paths or prefix + "scale" in paths
        if not prefix:
            turns = turns or delta_rotation in paths or "delta_scale" in paths
        if not moves and not turns:
            return still
        matrices = np.empty((len(self._frames), 4, 4))
        matrices[:] = still
        if turns:
            turned, scale = matrices_of(quaternions_of(numbers(rotation), mode)), numbers("scale")
            if delta_rotation:
                turned = matrices_of(quaternions_of(numbers(delta_rotation), mode)) @ turned
            if not prefix:
                scale = scale * numbers("delta_scale")
            matrices[:, :3, :3] = turned * scale[:, None]
        if moves and prefix:
            self._fill(matrices[:, :3, 3], curves, prefix + "location")
        elif moves and "delta_location" in paths:
            matrices[:, :3, 3] = numbers("location") + numbers("delta_location")
        elif moves:
            self._fill(matrices[:, :3, 3], curves, "location", owner.delta_location[:])
        return matrices

    def _numbers(self, curves: "_Curves", path: str, still: Sequence[float]) -> np.ndarray:
        numbers = np.array([still], float)
        if path in curves:
            numbers = np.repeat(numbers, len(self._frames), axis=0)
            self._fill(numbers, curves, path)
        return numbers

    def _fill(
        self, columns: np.ndarray, curves: "_Curves", path: str, delta: Sequence[float] = (0.0, 0.0, 0.0, 0.0)
    ) -> None:
        """Write what F-Curves set of a channel into its columns (n, width), with delta added."""
        for curve in curves.get(path, ()):
            index = curve.array_index
            if index < columns.shape[1] and plays(curve):
                columns[:, index] = self._evaluated(curve, columns.shape[1] > 1)
                if delta[index]:
                    columns[:, index] += delta[index]

    def _evaluated(self, curve: bpy.types.FCurve, of_vector: bool) -> Sequence[float] | np.ndarray:
        """What an F-Curve comes to at the frames. Where it has a key at each of them that is the key's number, and all
        keys are read at once. of_vector: else Blender may round what it comes to."""
        count = len(curve.keyframe_points)
        if of_vector and count >= len(self._frames) and not len(curve.modifiers):
            keys = np.empty((count, 2), np.float32)
            curve.keyframe_points.foreach_get("co", keys.reshape(-1))
            first = int(keys[:, 0].searchsorted(self._frames[0]))
            own = keys[first : first + len(self._frames)]
            if len(own) == len(self._times) and (own[:, 0] == self._times).all():
                return own[:, 1]
        return [*map(curve.evaluate, self._frames)]


class ClipSampler(Sampler):
    """The same over the frames of one clip, which plays just now, whatever plays later.

    objects: those that play something else in another clip. channels: what F-Curves set on them, the places of the
    objects, paths, indices, and whether they play.
    """

    def __init__(self, frames: range, objects: Iterable[bpy.types.Object]) -> None:
        super().__init__(frames)
        self.frames = frames
        self.channels = frozenset(
            (place, path, curve.array_index, plays(curve))
            for place, ob in enumerate(objects)
            for path, curves in self._curves_of(ob).items()
            for curve in curves
        )


class JoinedSampler(Sampler):
    """The same over clips one after the other that set the same channels."""

    def __init__(self, clips: Sequence[ClipSampler]) -> None:
        super().__init__([frame for clip in clips for frame in clip._frames])
        self._clips = clips

    def _curves_of(self, ob: bpy.types.Object) -> "_Curves":
        if ob not in self._curves:
            own = [clip._curves_of(ob) for clip in self._clips]
            paths = dict.fromkeys(path for curves in own for path in curves)
            self._curves[ob] = {path: [*zip(self._clips, own, strict=True)] for path in paths}
        return self._curves[ob]

    def _fill(
        self, columns: np.ndarray, curves: "_Curves", path: str, delta: Sequence[float] = (0.0, 0.0, 0.0, 0.0)
    ) -> None:
        start = 0
        for clip, own in curves.get(path, ()):
            clip._fill(columns[start : start + len(clip.frames)], own, path, delta)
            start += len(clip.frames)


_Curves = dict[str, list[bpy.types.FCurve]]
"""The F-Curves that may play on an object, by path."""


_CHANNELS = {*REST, *(f"delta_{name}" for name in REST)}
"""What F-Curves may set, and drivers may not."""
_FIXED = ("rotation_mode", "parent", "matrix", "constraints", "animation_data", "data", "bone")
"""How the names begin of what neither may set: with it the same channels place something elsewhere."""
_FIXED_OF_ARMATURE = re.compile(
    r"pose_position|bones\[.*\]\.(use_inherit_rotation|inherit_scale|use_local_location|use_connect|parent.*"
    r"|matrix.*|head(_local)?|tail(_local)?|length)$",
    re.DOTALL,
)


def time_is_plain(scene: bpy.types.Scene) -> bool:
    """Whether F-Curves play at the scene's own frames, not stretched by time remapping."""
    return scene.render.frame_map_old == scene.render.frame_map_new


def not_simple(ob: bpy.types.Object, bone_name: str = "") -> str:
    """What prevents sampling an object, and with `bone_name` that bone of it too; "": nothing does.

    All objects and bones above are judged as well. What the add-on's own chains move is for the caller to know.
    """
    return Judge().not_simple(ob, bone_name)


class Judge:
    """Says `not_simple` of many objects and bones, and reads the animation of each object once; for one call, as it
    holds Blender's data."""

    def __init__(self) -> None:
        self._objects: dict[bpy.types.Object, str] = {}
        self._bones: dict[bpy.types.Object, _Bones] = {}
        # Three or four F-Curves have one path.
        self._settings = cache(lambda ob: dict.fromkeys(_settings(ob)))

    def not_simple(self, ob: bpy.types.Object, bone_name: str = "") -> str:
        ob = ob.original  # pyright: ignore[reportAssignmentType]
        above, why = ob, ""
        while ob not in self._objects and above is not None and not why:
            why = action_not_simple(above) or _placed_otherwise(above, self._settings(above))
            if not why and hangs_on_bone(above):
                why = self._bone_not_simple(above.parent, above.parent_bone)
            above = above.parent
        self._objects.setdefault(ob, why)
        if self._objects[ob] or not bone_name:
            return self._objects[ob]
        if ob.pose is None or bone_name not in ob.pose.bones:
            return messages.CONTROL_WITHOUT_BONE(object=ob.name, bone=bone_name)
        return self._bone_not_simple(ob, bone_name)

    def _bone_not_simple(self, ob: bpy.types.Object, bone_name: str) -> str:
        if ob not in self._bones:
            self._bones[ob] = _Bones(ob, self._settings(ob))
        return self._bones[ob].not_simple(bone_name)


def _settings(ob: bpy.types.Object) -> Iterator[tuple[str, bool]]:
    """The paths of `ob` that its own action and drivers set, and whether it is a driver."""
    data = ob.animation_data
    if data is not None:
        for home in current_fcurve_collections(data):
            yield from ((curve.data_path, False) for curve in home if plays(curve))
        yield from ((driver.data_path, True) for driver in data.drivers if not driver.mute)


def action_not_simple(ob: bpy.types.Object) -> str:
    """Why an original object does not just play its action, which could be sampled; "": it does."""
    data = ob.animation_data
    if data is None:
        return ""
    if data.use_tweak_mode:
        return messages.IN_TWEAK_MODE(object=ob.name)
    if data.use_nla and any(track.is_solo or (track.strips and not track.mute) for track in data.nla_tracks):
        return messages.PLAYS_STRIPS(object=ob.name)
    if data.action is None:
        return ""
    if data.action_blend_type != "REPLACE" or data.action_influence != 1.0:
        return messages.ACTION_BLENDED(object=ob.name)
    if len(current_fcurve_collections(data)) > 1:
        return messages.ACTION_LAYERED(object=ob.name)
    return ""


def hangs_on_bone(ob: bpy.types.Object) -> bool:
    """Whether an object is parented to the tail of a bone that there is."""
    parent = ob.parent
    if ob.parent_type != "BONE" or parent is None or parent.pose is None or ob.parent_bone not in parent.pose.bones:
        return False
    return not parent.data.bones[ob.parent_bone].use_relative_parent


def _placed_otherwise(ob: bpy.types.Object, settings: Iterable[tuple[str, bool]]) -> str:
    """What places an object besides its channels and its parent; "": nothing does. settings: see `_settings`."""
    parent = ob.parent
    constraint = next((constraint for constraint in ob.constraints if not constraint.mute), None)
    if constraint is not None:
        return messages.OBJECT_CONSTRAINED(object=ob.name, constraint=constraint.name)
    if ob.rigid_body is not None:
        return messages.RIGID_BODY(object=ob.name)
    if parent is not None:
        if ob.parent_type != "OBJECT" and not hangs_on_bone(ob):
            part = ob.parent_type.partition("_")[0].lower()
            return messages.HANGS_BY_PART(object=ob.name, parent=parent.name, part=part)
        if parent.type == "CURVE" and (parent.data.use_path or "use_path" in animated_paths(parent.data)):
            return messages.FOLLOWS_PATH(object=ob.name, parent=parent.name)
    for path, is_driver in settings:
        name = _channel(path)
        if name == "constraints" and not ob.constraints:
            continue
        if name.startswith(_FIXED) or (is_driver and name in _CHANNELS):
            return _said(name, is_driver, messages.CONTROL_OBJECT(control=ob.name))
    return ""


class _Bones:
    """What prevents sampling the bones of an object that is simple itself. settings: see `_settings`."""

    def __init__(self, ob: bpy.types.Object, settings: Iterable[tuple[str, bool]]) -> None:
        self._ob = ob
        data, animated = ob.data, animated_paths(ob.data)
        path = next(filter(_FIXED_OF_ARMATURE.match, animated), "")
        channel = path.rpartition(".")[2].replace("_", " ")
        self._of_all = messages.ARMATURE_ANIMATED(channel=channel, data=data.name) if path else ""
        if data.is_editmode:
            self._of_all = messages.IN_EDIT_MODE(object=ob.name)
        if data.pose_position != "POSE":
            self._of_all = messages.SHOWN_AT_REST(object=ob.name)
        self._set, constrained = {}, set()
        for path, is_driver in settings:
            owner, what = bone_of_path(path)
            name = _channel(what)
            if not owner:
                if path.startswith("pose.bones["):
                    self._of_all = self._of_all or messages.BONE_BY_NUMBER(object=ob.name)
            elif name == "constraints":
                constrained.add(owner)
            elif name.startswith(_FIXED) or (is_driver and name in _CHANNELS):
                self._set.setdefault(owner, _said(name, is_driver, messages.CONTROL_BONE(bone=owner)))
        self._moved: dict[str, str] = {}
        self._blended: dict[str, Shares] = {}
        for bone in ob.pose.bones:
            shares = shares_of(bone) if len(bone.constraints) and bone.name not in constrained else None
            if shares:
                self._blended[bone.name] = shares
                continue
            # Where they are animated, muted ones count.
            for constraint in bone.constraints if len(bone.constraints) else ():
                if not constraint.mute or bone.name in constrained:
                    self._move(bone, constraint)

    def not_simple(self, bone_name: str) -> str:
        if self._of_all or not (self._set or self._moved or self._blended):
            return self._of_all
        line = self._line(bone_name)
        others = [above for name in line for other in self._blended.get(name, ()) for above in self._line(other)]
        # That bones go along with others which do so themselves is for Blender to work out.
        twice = next((name for name in others if name in self._blended), "")
        if twice:
            constraint = next(each for each in self._ob.pose.bones[twice].constraints if not each.mute)
            return messages.CONTROL_BONE_CONSTRAINED(bone=twice, constraint=constraint.name)
        found = (of[name] for of in (self._set, self._moved) for name in (*line, *others) if name in of)
        return next(found, "")

    def _line(self, bone_name: str) -> list[str]:
        pose_bone = self._ob.pose.bones[bone_name]
        return [pose_bone.name, *(bone.name for bone in pose_bone.parent_recursive)]

    def _move(self, pose_bone: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> None:
        said = messages.CONTROL_BONE_CONSTRAINED(bone=pose_bone.name, constraint=constraint.name)
        self._moved.setdefault(pose_bone.name, said)
        for name in taken_by(constraint, pose_bone):
            said = messages.MOVED_BY_CONSTRAINT(bone=name, constraint=constraint.name, owner=pose_bone.name)
            self._moved.setdefault(name, said)


def _channel(path: str) -> str:
    return path.partition("[")[0].partition(".")[0]


def _said(name: str, is_driver: bool, owner: str) -> str:
    message = messages.DRIVER_SETS if is_driver else messages.ANIMATION_SETS
    return message(channel=name.replace("_", " "), owner=owner)


def went_to_frame(scene: bpy.types.Scene) -> None:
    """The originals of what a scene shows stand at its frame, or were changed in it by hand."""
    uid, went = scene.session_uid, file_memory.went
    if went[-1:] != [uid]:
        if uid in went:
            went.remove(uid)
        went.append(uid)


def stands_elsewhere(ob: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """True if another scene that shows an original object has gone to another frame since a scene did."""
    uid, went = scene.session_uid, file_memory.went
    since = went[went.index(uid) + 1 :] if uid in went else went
    if not since:
        return False
    others = (each for each in bpy.data.scenes if each.session_uid in since)
    frame = scene.frame_current_final
    layers = (layer for other in others if other.frame_current_final != frame for layer in other.view_layers)
    return any(layer.depsgraph is not None and is_evaluated_in(ob, layer.depsgraph) for layer in layers)
