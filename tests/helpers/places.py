"""Where what chains read is, as it is evaluated."""

from collections.abc import Iterable

import bpy

from ik_addon.rig.blender.sampling import Sampler
from ik_addon.rig.model.limb_model import LimbModel
from ik_addon.rig.pose.track_reading import SeenPlaces


def places_now(chains: Iterable[tuple[bpy.types.Object, LimbModel]]) -> SeenPlaces:
    """The places of models, each with its original armature object, at the frame that is shown."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    places = SeenPlaces(chains, Sampler([bpy.context.scene.frame_current_final]))
    places.see(depsgraph)
    return places
