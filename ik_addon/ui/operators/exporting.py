"""The operators around an export: all clips baked under their own names, and back to live chains."""

import bpy
from bpy.props import BoolProperty

from ... import messages
from ...authoring.for_export import back_to_live, clips_baked_for_export
from ...authoring.selection import chain_armature
from ...bake.baking import chains_of
from ...bake.clips import clips_words
from ...bake.stepping import Steps, part_of
from ...rig.blender.armatures import armature_objects
from ...rig.blender.rendering import is_rendering
from ...solvers import ChainError
from ..classes import registration_of
from .chains import ChainOperator
from .ranges import SteppedOperator, faults_of_clips
from .running import running


class ANALYTIC_IK_OT_bake_for_export(SteppedOperator):
    """Bake every clip under its own name, and put controls aside. \
Back to Live takes it back"""

    bl_idname = "analytic_ik.bake_for_export"
    bl_label = "Bake All Clips for Export"
    label = "Baking"
    asks = False

    all: BoolProperty(name="All", description="Include all armatures of the scene")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if chain_armature(context) is not None or running() is not None or is_rendering():
            return super().poll(context)
        # While none is active, all can be baked.
        return any(chains_of([ob]) for ob in scene_armatures(context.scene)) or super().poll(context)

    def steps(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps[str]:
        obs = [each for each in scene_armatures(context.scene) if chains_of([each])] if self.all else [ob]
        if None in obs or not obs:
            raise ChainError(messages.NO_ARMATURE())
        files = []
        for number, each in enumerate(obs):
            report = yield from part_of(clips_baked_for_export(context, each), number, len(obs))
            files += report["files"]
        result = faults_of_clips(files)
        self.level = "WARNING" if result else "INFO"
        return messages.BAKED_FOR_EXPORT(clips=clips_words(len(files)), result=result)


class ANALYTIC_IK_OT_back_to_live(ChainOperator):
    """Bring back the live clips and the controls. \
The clips that were baked for export go"""

    bl_idname = "analytic_ik.back_to_live"
    bl_label = "Back to Live"

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        return messages.BACK_TO_LIVE(clips=clips_words(back_to_live(ob)))


def scene_armatures(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The armature objects of a scene."""
    return [ob for ob in armature_objects() if ob.name in scene.objects]


register, unregister = registration_of(__name__)
