"""Where chains read things from: one evaluated scene, or frames that were evaluated one after the other.

A third source is `sampling.Sampler`. All give arrays whose first axis is the frame, with one row where nothing moves.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

import bpy
import numpy as np
from mathutils import Matrix

from ..blender.sampling import Sampler, stands_elsewhere
from ..data.relation import place_of
from ..model.limb_model import LimbModel


class Source(Protocol):
    """worlds: the world matrices (n, 4, 4) of an object. poses: the pose matrices (n, 4, 4) of a bone, in armature
    space. channel: the numbers (n, width) of a property of an original object; still: those that it holds."""

    def worlds(self, ob: bpy.types.Object) -> np.ndarray: ...

    def poses(self, ob: bpy.types.Object, bone_name: str) -> np.ndarray: ...

    def channel(self, ob: bpy.types.Object, path: str, still: Sequence[float]) -> np.ndarray: ...


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


class PlacesNow(SeenPlaces):
    """Where what chains read is as one depsgraph has evaluated it."""

    def __init__(self, chains: Iterable[tuple[bpy.types.Object, LimbModel]], depsgraph: bpy.types.Depsgraph) -> None:
        self._scene = depsgraph.scene
        super().__init__(chains, Sampler([self._scene.frame_current_final]))
        self.see(depsgraph)

    def channel(self, ob: bpy.types.Object, path: str, still: Sequence[float]) -> np.ndarray:
        """See Source. Originals hold the FK pose, and what animation sets of the settings."""
        if not stands_elsewhere(ob, self._scene):
            return np.array([still], float)
        # As Blender would hold them.
        return super().channel(ob, path, still).astype(np.float32).astype(float)
