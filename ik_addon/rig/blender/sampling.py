"""Where objects and bones are at any frames, from their F-Curves alone: no frame is changed, no scene is evaluated.

`simple.not_simple` says where that is sound; where it is not, only Blender knows, after it has evaluated the frame.
Hidden objects, which Blender may not evaluate at all, are sampled like any other.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

import bpy
import numpy as np
from mathutils import Matrix

from .animation import current_fcurve_collections, fcurve_collections, plays
from .bones import pose_matrix
from .channels import channel_of
from .cleanup import Scratch, surely
from .rotations import array_of, matrices_of, quaternions_of


class Sampler:
    """Where objects and bones are at `frames`, of any number; only for what `not_simple` has nothing against.

    For one call: it holds Blender's data. in_bulk: whole frames in a row are read from a copy of the action, which
    pays for many. A copy lasts for one question, or as long as a `with` around several of them; once it is gone,
    Blender rebuilds the relations of the scene at its next update, so it is nothing for playback.
    still: objects that do not move, by their session number; what is found there is not looked at again, and what turns
    out not to move is added.
    Arrays are (n, 4, 4), or (1, 4, 4) of what does not move; they are kept, and not for the caller to change.
    """

    def __init__(
        self, frames: Sequence[float], in_bulk: bool = False, still: dict[int, np.ndarray] | None = None
    ) -> None:
        self._frames = [float(frame) for frame in frames]
        start = self._frames[0] if self._frames else 0.5
        in_a_row = start.is_integer() and self._frames == [start + k for k in range(len(self._frames))]
        self._in_bulk = in_bulk and in_a_row
        self._still = {} if still is None else still
        self._worlds: dict[bpy.types.Object, np.ndarray] = {}
        self._poses: dict[bpy.types.PoseBone, np.ndarray] = {}
        self._curves: dict[bpy.types.Object, _Curves] = {}
        self._copies: dict[bpy.types.Action, bpy.types.Action | None] = {}
        self._scratch = Scratch(bpy.data.actions)
        self._questions = ExitStack()
        self._depth = 0

    def __enter__(self) -> "Sampler":
        if not self._depth:
            self._questions.enter_context(surely(self._forget_copies))
        self._depth += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth:
            self._questions.close()

    def _forget_copies(self) -> None:
        self._scratch.remove()
        self._copies.clear()

    def worlds(self, ob: bpy.types.Object) -> np.ndarray:
        """The world matrices of an object."""
        ob = ob.original  # pyright: ignore[reportAssignmentType]
        known = self._still.get(ob.session_uid)
        if known is not None:
            return known
        self._climb(ob, self._worlds, self._world)
        return self._worlds[ob]

    def poses(self, ob: bpy.types.Object, bone_name: str) -> np.ndarray:
        """The pose matrices of a bone, in armature space."""
        pose_bone = ob.original.pose.bones[bone_name]
        self._climb(pose_bone, self._poses, self._pose)
        return self._poses[pose_bone]

    def _climb(self, owner, known: dict, found: Callable) -> None:
        """Find the matrices of an object or a bone, and before it those of its parents."""
        line = []
        while owner is not None and owner not in known:
            line.append(owner)
            owner = owner.parent
        with self:
            for each in reversed(line):
                known[each] = found(each)

    def channel(self, ob: bpy.types.Object, path: str, still: Sequence[float]) -> np.ndarray:
        """The numbers (n or 1, width) of a property. still: what it holds where no F-Curve sets it."""
        with self:
            return self._numbers(self._curves_of(ob), path, still)

    def _curves_of(self, ob: bpy.types.Object) -> "_Curves":
        curves = self._curves.get(ob)
        if curves is None:
            curves = self._curves[ob] = _curves_of(ob)
        return curves

    def _world(self, ob: bpy.types.Object) -> np.ndarray:
        world = self._local(ob, ob, "")
        if ob.parent is not None:
            world = self._worlds[ob.parent] @ (array_of(ob.matrix_parent_inverse) @ world)
        # Of one frame alone there is no telling.
        if len(world) < len(self._frames):
            self._still[ob.session_uid] = world
        return world

    def _pose(self, pose_bone: bpy.types.PoseBone) -> np.ndarray:
        ob, bone, parent = pose_bone.id_data, pose_bone.bone, pose_bone.parent
        prefix = f'pose.bones["{bpy.utils.escape_identifier(pose_bone.name)}"].'
        local = self._local(ob, pose_bone, prefix)
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
        curves = self._curves_of(ob)
        paths = curves.of_path
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
        """See `channel`."""
        numbers = np.array([still], float)
        if path in curves.of_path:
            numbers = np.repeat(numbers, len(self._frames), axis=0)
            self._fill(numbers, curves, path)
        return numbers

    def _fill(
        self, columns: np.ndarray, curves: "_Curves", path: str, delta: Sequence[float] = (0.0, 0.0, 0.0, 0.0)
    ) -> None:
        """Write what F-Curves set of a channel into its columns (n, width), with delta added."""
        for k, curve in curves.of_path.get(path, ()):
            index = curve.array_index
            if index < columns.shape[1] and plays(curve):
                values = self._read_copy(curves, k) if self._in_bulk else None
                columns[:, index] = list(map(curve.evaluate, self._frames)) if values is None else values
                if delta[index]:
                    columns[:, index] += delta[index]

    def _read_copy(self, curves: "_Curves", k: int) -> np.ndarray | None:
        """An F-Curve's values from its copy as samples: the same, in half the time. None: it has none."""
        data = curves.data
        try:
            if data.action not in self._copies:
                self._copies[data.action] = None
                self._copies[data.action] = self._scratch.made(data.action.copy)
            copy = self._copies[data.action]
            if copy is None:
                return None
            (home,) = fcurve_collections(copy, getattr(data, "action_slot", None))
            home[k].convert_to_samples(int(self._frames[0]), int(self._frames[-1]) + 1)
        except RuntimeError:
            # Blender makes no copy here, or samples were all that this curve had.
            return None
        points = home[k].sampled_points
        if len(points) != len(self._frames):
            return None
        values = np.empty(2 * len(points), np.float32)
        points.foreach_get("co", values)
        return values[1::2]


@dataclass(frozen=True, slots=True)
class _Curves:
    """The F-Curves that may play on an object, by path, each with its number in its collection."""

    data: bpy.types.AnimData | None
    of_path: dict[str, list[tuple[int, bpy.types.FCurve]]] = field(default_factory=dict)


_NO_CURVES = _Curves(None)


def _curves_of(ob: bpy.types.Object) -> _Curves:
    data = ob.animation_data
    if data is None:
        return _NO_CURVES
    curves = _Curves(data)
    if data.action is not None:
        for home in current_fcurve_collections(data):
            for k, curve in enumerate(home):
                curves.of_path.setdefault(curve.data_path, []).append((k, curve))
    return curves
