"""Make Native and Make Live: chains as Blender's own constraints, and chains again."""

import bpy
from bpy.props import BoolProperty

from ... import messages
from ...authoring.selection import chosen_tips
from ...bake.certificate import chains_words
from ...native.making import make_live, make_native
from ...rig.data.settings import is_native, native_tips
from ...rig.model.order import tips_of
from ...solvers import ChainError
from ..classes import registration_of
from .chains import ChainOperator


class ANALYTIC_IK_OT_make_native(ChainOperator):
    """Turn chains into Blender's own constraints, which move without the add-on. \
Controls and keys stay"""

    bl_idname = "analytic_ik.make_native"
    bl_label = "Make Native"

    only_selected: BoolProperty(name="Only Selected", description="Convert only chains with a selected tip bone")
    switch: BoolProperty(
        name="FK/IK Switch",
        description="Keep Influence as a setting. Without, frames cost less",
        default=True,
    )

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        live = [ob.pose.bones[name] for name in tips_of(ob)]
        tips = [tip for tip in live if not self.only_selected or tip in chosen_tips(context, ob)]
        if not live:
            raise ChainError(messages.ALL_NATIVE(armature=ob.name))
        if not tips:
            raise ChainError(messages.NO_LIVE_CHAIN_SELECTED(armature=ob.name))
        done = make_native(context, tips, self.switch)
        for sentence in done.left:
            self.report({"WARNING"}, sentence)
        return messages.MADE_NATIVE(
            chains=chains_words(len(done.tips)), percent=100.0 * done.figure, bones=done.helpers
        )


class ANALYTIC_IK_OT_make_live(ChainOperator):
    """Turn native chains back into live ones, with settings and keys"""

    bl_idname = "analytic_ik.make_live"
    bl_label = "Make Live"

    only_selected: BoolProperty(name="Only Selected", description="Convert only chains with a selected tip bone")

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        tips = native_tips(ob)
        if self.only_selected:
            tips = [tip for tip in chosen_tips(context, ob) if is_native(tip)]
        if not tips:
            raise ChainError(messages.NO_NATIVE_CHAIN(armature=ob.name))
        return messages.MADE_LIVE(chains=chains_words(len(make_live(context, tips))))


register, unregister = registration_of(__name__)
