"""The operators that switch chains: between FK and IK, and on again after a bake."""

from collections.abc import Sequence
from typing import ClassVar

import bpy

from ... import messages
from ...authoring.for_export import back_to_live
from ...authoring.selection import all_tips, chain_armature, chosen_tips
from ...authoring.switching import switch_to_fk, switch_to_ik, unmute_chains
from ...bake.certificate import chains_words
from ...bake.clips import clips_words
from ...rig.blender.animation import is_animated
from ...rig.data.aside import has_aside
from ...rig.data.settings import is_native
from ..classes import registration_of
from .chains import ChainOperator
from .control_choice import MakesControls


class SwitchOperator(ChainOperator):
    """Operators that switch the selected chains. done: what to report."""

    done: ClassVar[messages.Message]

    def switch(self, context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone]) -> None:
        """Do it. Raises ChainError."""
        raise NotImplementedError

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        tips = chosen_tips(context, ob)
        self.switch(context, tips)
        if all(is_animated(tip.id_data, f"{tip.path_from_id()}.analytic_ik_influence") for tip in tips):
            frame = messages.AT_FRAME(frame=context.scene.frame_current_final)
        else:
            frame = messages.ON_ALL_FRAMES()
        return type(self).done(chains=chains_words(len(tips)), frame=frame)


class ANALYTIC_IK_OT_switch_to_fk(SwitchOperator):
    """Keep the current pose as FK and set Influence to 0. \
Inserts keys if Auto Keying is on"""

    bl_idname = "analytic_ik.switch_to_fk"
    bl_label = "Switch to FK"
    done = messages.SWITCHED_TO_FK

    def switch(self, context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone]) -> None:
        switch_to_fk(context, tips)


class ANALYTIC_IK_OT_switch_to_ik(MakesControls, SwitchOperator):
    """Move the controls to the FK pose and set Influence to 1. \
Inserts keys if Auto Keying is on"""

    bl_idname = "analytic_ik.switch_to_ik"
    bl_label = "Switch to IK"
    done = messages.SWITCHED_TO_IK

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.choose_controls(context, chain_armature(context))
        return self.execute(context)

    def draw(self, context: bpy.types.Context) -> None:
        # Few switches make a pole target: the choice of its kind would be noise.
        pass

    def switch(self, context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone]) -> None:
        switch_to_ik(context, tips, as_bones=self.controls == "BONES")


class ANALYTIC_IK_OT_unmute(ChainOperator):
    """Switch the armature's muted chains on again"""

    bl_idname = "analytic_ik.unmute"
    bl_label = "Unmute Chains"

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        if has_aside(ob):
            return messages.BACK_TO_LIVE(clips=clips_words(back_to_live(ob)))
        return messages.UNMUTED(chains=chains_words(unmute_chains(tip for tip in all_tips(ob) if not is_native(tip))))


register, unregister = registration_of(__name__)
