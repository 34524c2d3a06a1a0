"""The bone that follows its limbs: of the chain that is shown, or the active bone itself."""

import bpy

from ... import messages
from ...authoring.selection import active_armature, active_bone, focus
from ...rig.status.bodies import body_of, state_of_body
from ..classes import registration_of
from ..lengths import length_words
from .places import InBoneTab, InSidebar
from .sentences import draw_sentence


def shown_body(context: bpy.types.Context) -> bpy.types.PoseBone | None:
    """The bone that the panel is about; None: none carries several limbs."""
    ob = active_armature(context)
    return body_of(active_bone(ob) if ob is not None else None, focus(context).tip)


class BodyPanel:
    """How a bone follows the limbs that it carries."""

    bl_label = "Body Follows"
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 2

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return shown_body(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout, bone = self.layout, shown_body(context)
        if bone is None:
            return
        layout.use_property_split = True
        layout.use_property_decorate = True
        column = layout.column()
        column.label(text=bone.name, icon="BONE_DATA")
        column.prop(bone, "analytic_ik_body_influence", text="Influence")
        settings = layout.column()
        settings.active = bone.analytic_ik_body_influence > 0.0
        settings.prop(bone, "analytic_ik_body_direction")
        settings.prop(bone, "analytic_ik_body_softness")
        draw_state(layout, context, bone)


def draw_state(layout: bpy.types.UILayout, context: bpy.types.Context, bone: bpy.types.PoseBone) -> None:
    """Whether its limbs reach, in one row; or what keeps it from following them."""
    if not bone.analytic_ik_body_influence > 0.0:
        return
    state = state_of_body(bone, context.view_layer.depsgraph)
    if state is None:
        return
    if state.problem:
        draw_sentence(layout, context, state.problem, "ERROR")
    elif state.posed is not None:
        words, icon = messages.STATUS_BODY_STILL(), "CHECKMARK"
        if state.posed.excess_world:
            distance = length_words(context.scene, state.posed.excess_world)
            words, icon = messages.STATUS_BODY_SHORT(distance=distance), "CON_DISTLIMIT"
        elif state.posed.shift_world.length:
            words = messages.STATUS_BODY_MOVED(distance=length_words(context.scene, state.posed.shift_world.length))
        layout.label(text=words, icon=icon)
        limbs = messages.few(state.limbs)
        draw_sentence(layout, context, messages.BODY_LIMBS(bone=bone.name, limbs=limbs), "INFO")


class ANALYTIC_IK_PT_body(BodyPanel, InSidebar, bpy.types.Panel):
    """How a bone follows its limbs, in the sidebar."""

    bl_parent_id = "ANALYTIC_IK_PT_sidebar"


class ANALYTIC_IK_PT_bone_body(BodyPanel, InBoneTab, bpy.types.Panel):
    """How a bone follows its limbs, under Properties > Bone."""

    bl_parent_id = "ANALYTIC_IK_PT_bone"


register, unregister = registration_of(__name__)
