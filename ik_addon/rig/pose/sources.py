"""Where chains read things from: one evaluated scene, or frames that were evaluated one after the other.

A third source is `sampling.Sampler`. All give arrays whose first axis is the frame, with one row where nothing moves.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from typing import Protocol

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ..blender.rotations import array_of, posed_by_channels
from ..blender.sampling import Sampler, stands_elsewhere
from ..data.relation import place_of
from ..model.limb_model import LimbModel


class Source(Protocol):
    """worlds: the world matrices (n, 4, 4) of an object. poses: the pose matrices (n, 4, 4) of a bone, in armature
    space. channel: the numbers (n, width) of a property of an original object; still: those that it holds."""

    def worlds(self, ob: bpy.types.Object) -> np.ndarray: ...

    def poses(self, ob: bpy.types.Object, bone_name: str) -> np.ndarray: ...

    def channel(self, ob: bpy.types.Object, path: str, still: Sequence[float]) -> np.ndarray: ...


class EvaluatedPlaces:
    """Where things are as one depsgraph evaluated them; `moved` objects where their channels have just put them."""

    def __init__(self, depsgraph: bpy.types.Depsgraph, moved: Collection[bpy.types.Object] = ()) -> None:
        self.depsgraph = depsgraph
        self._moved = moved
        self._kept: dict[tuple[str, str], tuple[Matrix, Matrix]] = {}
        self._lifts: list[tuple[bpy.types.Object, Collection[str], Matrix]] = []
        self._elsewhere: dict[bpy.types.Object, bool] = {}

    @cached_property
    def _sampler(self) -> Sampler:
        """One for all channels: it looks through all F-Curves of an object. Few have it looked at."""
        return Sampler([self.depsgraph.scene.frame_current_final])

    def anew(self) -> "EvaluatedPlaces":
        """The same, with nothing kept and nothing lifted."""
        return EvaluatedPlaces(self.depsgraph, self._moved)

    def lift(self, ob: bpy.types.Object, bones: Collection[str], offset: Vector) -> None:
        """From now on bones of an original object are farther by an offset in armature space."""
        self._lifts.append((ob, bones, Matrix.Translation(offset)))
        self._kept.clear()

    def kept(self, key: tuple[str, str], found: Callable[[], tuple[Matrix, Matrix]]) -> tuple[Matrix, Matrix]:
        """What was found for a key before; chains share what carries them."""
        if key not in self._kept:
            self._kept[key] = found()
        return self._kept[key]

    def shows(self, ob: bpy.types.Object) -> bool:
        """True if an object is evaluated here at all; in another view layer it may be excluded."""
        return ob.evaluated_get(self.depsgraph).is_evaluated

    def world_and_pose(self, ob: bpy.types.Object, bone: str) -> tuple[Matrix, Matrix | None]:
        """World matrix of an object, and the pose matrix of a bone of it; None without a bone."""
        world, pose = self._unlifted(ob, bone)
        for owner, bones, lift in self._lifts:
            if pose is not None and owner == ob and bone in bones:
                pose = lift @ pose
        return world, pose

    def _unlifted(self, ob: bpy.types.Object, bone: str) -> tuple[Matrix, Matrix | None]:
        if ob not in self._moved:
            return place_of(ob, bone, self.depsgraph)
        world = ob.matrix_basis
        if ob.parent is not None:
            to_parent = ob.parent.evaluated_get(self.depsgraph).matrix_world
            world = to_parent @ ob.matrix_parent_inverse @ world
        return world, posed_by_channels(ob.pose.bones[bone]) if bone else None

    def worlds(self, ob: bpy.types.Object) -> np.ndarray:
        return array_of(self.world_and_pose(ob, "")[0])[None]

    def poses(self, ob: bpy.types.Object, bone_name: str) -> np.ndarray:
        pose = self.world_and_pose(ob, bone_name)[1]
        assert pose is not None
        return array_of(pose)[None]

    def channel(self, ob: bpy.types.Object, path: str, still: Sequence[float]) -> np.ndarray:
        """See Source. Originals hold the FK pose, and what animation sets of the settings."""
        if ob not in self._elsewhere:
            self._elsewhere[ob] = stands_elsewhere(ob, self.depsgraph.scene)
        if not self._elsewhere[ob]:
            return np.array([still], float)
        # As Blender would hold them.
        return self._sampler.channel(ob, path, still).astype(np.float32).astype(float)


class SeenPlaces:
    """Where what chains read was at each frame that was evaluated; to be asked once all were seen.

    chains: the models, each with its original armature object. channels: the source of what F-Curves set.
    """

    def __init__(self, chains: Iterable[tuple[bpy.types.Object, LimbModel]], channels: Source) -> None:
        self._channels = channels
        self._worlds: dict[bpy.types.Object, list[Matrix]] = {}
        self._poses: dict[tuple[bpy.types.Object, str], list[Matrix]] = {}
        for ob, model in chains:
            tip = ob.pose.bones[model.tip]
            controls = [(tip.analytic_ik_target, model.target_bone), (tip.analytic_ik_pole_target, model.pole_bone)]
            bodies = [(ob, model.led.name), (ob, model.led.parent)] if model.led else []
            for each, bone in ((ob, model.parent), *controls, *bodies):
                if each is not None:
                    self._worlds.setdefault(each, [])
                    if bone:
                        self._poses.setdefault((each, bone), [])

    def see(self, depsgraph: bpy.types.Depsgraph) -> None:
        """Note where everything is now."""
        for ob, places in self._worlds.items():
            places.append(place_of(ob, "", depsgraph)[0].copy())
        for (ob, bone), places in self._poses.items():
            pose = place_of(ob, bone, depsgraph)[1]
            assert pose is not None
            places.append(pose.copy())

    def worlds(self, ob: bpy.types.Object) -> np.ndarray:
        return np.array(self._worlds[ob])

    def poses(self, ob: bpy.types.Object, bone_name: str) -> np.ndarray:
        return np.array(self._poses[ob, bone_name])

    def channel(self, ob: bpy.types.Object, path: str, still: Sequence[float]) -> np.ndarray:
        return self._channels.channel(ob, path, still)
