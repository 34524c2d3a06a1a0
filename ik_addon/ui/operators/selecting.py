"""The operators that choose which chain is shown."""

from functools import partial

import bpy
from bpy.props import BoolProperty, StringProperty

from ... import messages
from ...authoring.adopted import is_adopted, record_of
from ...authoring.selection import chain_armature, character_of, focus, is_tip, select_bone, select_object, show_chain
from ...rig.status.states import States
from ...solvers import ChainError
from ..classes import registration_of
from .chains import ChainOperator


class ANALYTIC_IK_OT_select_chain(ChainOperator):
    """Select the tip bone of this chain. Shift adds it to the selection"""

    bl_idname = "analytic_ik.select_chain"
    bl_label = "Select Chain"

    tip: StringProperty(name="Tip Bone", description="Tip bone of the chain", options={"SKIP_SAVE"})
    extend: BoolProperty(name="Extend", description="Keep what is selected", options={"SKIP_SAVE"})

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        ob = chain_armature(context)
        bone = ob.pose.bones.get(properties.tip) if ob is not None else None
        if bone is None or not is_tip(bone):
            return cls.__doc__ or ""
        state = States(ob, context.view_layer.depsgraph).of(bone.name)
        said = [messages.OF(whose=bone.name, said=messages.AT_TARGET()) if state.kind == "MET" else state.sentence]
        if is_adopted(bone):
            said.append(messages.FROM_CONSTRAINT(constraint=_constraint_of(bone)))
        return "\n".join((f"{cls.__doc__}.", *(sentence.rstrip(".") for sentence in said)))

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.extend = self.extend or event.shift
        return self.execute(context)

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        bone = ob.pose.bones.get(self.tip)
        if bone is None or not is_tip(bone):
            raise ChainError(messages.NOT_A_TIP(armature=ob.name, bone=self.tip))
        if ob != context.active_object and ob.name in context.view_layer.objects:
            if self.extend:
                ob.select_set(True)
                context.view_layer.objects.active = ob
            else:
                select_object(context, ob)
        select_bone(ob, bone.name, self.extend)
        return messages.SELECTED(bone=bone.name)


def _constraint_of(tip: bpy.types.PoseBone) -> str:
    try:
        return record_of(tip).constraint
    except ChainError:
        return "IK"


class ANALYTIC_IK_OT_show_chain(ChainOperator):
    """Show this chain of the control"""

    bl_idname = "analytic_ik.show_chain"
    bl_label = "Show Chain"
    bl_options = {"INTERNAL"}

    armature: StringProperty(name="Armature", description="Armature object of the chain", options={"SKIP_SAVE"})
    tip: StringProperty(name="Tip Bone", description="Tip bone of the chain", options={"SKIP_SAVE"})

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        driven = focus(context).driven
        tip = next((tip for tip in driven if (tip.id_data.name_full, tip.name) == (self.armature, self.tip)), None)
        if tip is None:
            raise ChainError(messages.NOT_A_TIP(armature=ob.name, bone=self.tip))
        show_chain(context, tip)
        return messages.SHOWN(bone=tip.name)


class ANALYTIC_IK_OT_select_armature(bpy.types.Operator):
    """Select the armature of the active object, which it deforms or carries"""

    bl_idname = "analytic_ik.select_armature"
    bl_label = "Select Armature"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if _character(context) is None:
            cls.poll_message_set(messages.NO_CHARACTER())
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        select_object(context, _character(context))
        return {"FINISHED"}


def _character(context: bpy.types.Context) -> bpy.types.Object | None:
    ob = context.active_object
    return character_of(context, ob) if ob is not None and ob.mode == "OBJECT" else None


class ANALYTIC_IK_OT_open_sidebar(bpy.types.Operator):
    """Show the chain's settings in the sidebar of the 3D view"""

    bl_idname = "analytic_ik.open_sidebar"
    bl_label = "Open in Sidebar"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if _view(context) is None:
            cls.poll_message_set(messages.NO_VIEW())
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        area = _view(context)
        area.spaces.active.show_region_ui = True
        # The sidebar has its tabs once it was drawn.
        bpy.app.timers.register(partial(_open_tab, context.window, area), first_interval=0.1)
        return {"FINISHED"}


def _view(context: bpy.types.Context) -> bpy.types.Area | None:
    """The largest 3D view of the window."""
    areas = context.window.screen.areas if context.window else ()
    views = [area for area in areas if area.type == "VIEW_3D"]
    return max(views, key=lambda area: area.width * area.height, default=None)


def _open_tab(window: bpy.types.Window, area: bpy.types.Area) -> None:
    if area not in window.screen.areas[:]:
        return
    for region in area.regions:
        if region.type == "UI":
            region.active_panel_category = bpy.types.ANALYTIC_IK_PT_sidebar.bl_category
            region.tag_redraw()


register, unregister = registration_of(__name__)
