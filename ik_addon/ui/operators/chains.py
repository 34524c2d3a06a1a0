"""The operators of chains: add, remove, choose, switch, make native."""

from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from math import pi, radians
from typing import TYPE_CHECKING, ClassVar

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ... import messages
from ...authoring.blender_ik import is_adopted, record_of
from ...authoring.keys import auto_keying
from ...authoring.selection import (
    active_armature,
    active_bone,
    all_tips,
    chain_armature,
    character_of,
    chosen_controls,
    chosen_tips,
    focus,
    is_tip,
    select_bone,
    select_object,
    show_chain,
)
from ...rig.blender.file_memory import file_memory
from ...rig.data.export_stash import has_aside
from ...rig.data.settings import SOLVER_ITEMS, check_switchable, is_native, may_change, native_tips
from ...rig.data.undoing import actions_of, all_or_nothing
from ...rig.model.limb import chain_bones
from ...rig.model.order import tips_of
from ...rig.status.states import States
from ...solvers import ChainError
from ..base import ChainOperator, length_words, not_editable, registration_of
from .polls import MakesControls, no_bone, none_chosen, none_live, none_native

if TYPE_CHECKING:
    from ...authoring.controls import Moved
    from ...authoring.finding.limbs import FoundLimb


class ANALYTIC_IK_OT_add(MakesControls, ChainOperator):
    """Add an IK chain that ends at the active bone. \
Selected objects become target and pole target, or new ones are made"""

    bl_idname = "analytic_ik.add"
    bl_label = "Add Analytic IK"
    needs = (not_editable, no_bone)
    on_active_object = True

    chain_count: IntProperty(
        name="Chain Length", description="Number of bones in the chain. 0 uses all parents", default=2, min=0
    )
    solver: EnumProperty(name="Solver", description="Method that solves the chain", items=SOLVER_ITEMS)
    with_pole: BoolProperty(
        name="Pole Target", description="Make a pole target that the chain bends toward", default=True
    )
    use_this_bone: BoolProperty(
        name="Use This Bone",
        description="End the chain at the active bone, even a foot or thigh",
        default=True,
        options={"SKIP_SAVE"},
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        from ...authoring.rigging import limbs_carried, proposed_chain

        ob = active_armature(context)
        self.choose_controls(context, ob)
        given = self.properties.is_property_set
        if not given("use_this_bone"):
            self.use_this_bone = False
        bone = active_bone(ob)
        found = proposed_chain(bone, self.use_this_bone) if bone else None
        if found is not None and not given("chain_count"):
            self.chain_count = len(found.bones)
        carried = limbs_carried(ob.pose.bones[found.tip]) if found else []
        if carried:
            return self.ask(context, event, messages.CARRIES_LIMBS(bone=found.tip, limbs=counted(carried)))
        return self.execute(context)

    def ask(self, context: bpy.types.Context, event: bpy.types.Event, said: str) -> set[str]:
        """Ask whether to go on."""
        names = {"title": self.bl_label, "message": said, "confirm_text": "Add"}
        return context.window_manager.invoke_confirm(self, event, **names)

    def draw(self, context: bpy.types.Context) -> None:
        self.drawn("controls", "use_this_bone", "chain_count", "solver", "with_pole")

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        from ...authoring.controls import add_chain
        from ...authoring.placing import control_bones
        from ...authoring.rigging import chain_words, proposed_chain

        bone = active_bone(ob)
        if bone is None:
            raise ChainError(messages.NO_ACTIVE_BONE(armature=ob.name))
        if bone.name in control_bones(ob.data):
            raise ChainError(messages.IS_CONTROL(bone=bone.name))
        led = None if self.use_this_bone else proposed_chain(bone)
        tip = ob.pose.bones[led.tip] if led else bone
        if tip.parent is None and self.chain_count > 1:
            raise ChainError(messages.NO_PARENT(bone=tip.name))
        controls = chosen_controls(context, ob)
        added = add_chain(
            context, tip, self.chain_count, self.solver, self.with_pole, controls, as_bones=self.controls == "BONES"
        )
        self.keep_choice(context, ob)
        if led and led.is_led:
            self.report({"INFO"}, messages.LED(bone=bone.name, bones=led.words, tip=tip.name))
        end = messages.ENDING_AT(end=tip.analytic_ik_end_bone) if tip.analytic_ik_end_bone else ""
        message = messages.ADDED_STRAIGHT if added.straight and tip.parent is not None else messages.ADDED
        names = tuple(each.name for each in chain_bones(tip, self.chain_count))
        said = message(count=len(names), bones=chain_words(names), target=added.target.name, end=end)
        return with_moved(self, context, said, added.moved)


def with_moved(operator: ChainOperator, context: bpy.types.Context, said: str, moved: "Sequence[Moved]") -> str:
    """The last sentence, where rounding may have moved bones so far that it can be seen; `said` without."""
    if not moved:
        return said
    farthest = max(moved, key=lambda each: each.distance)
    distance = length_words(context.scene, farthest.distance)
    words = messages.MOVED_BY_ROUNDING(bone=farthest.bone, distance=distance)
    return operator.said_before([(operator.level, said), ("WARNING", words)])


def counted(limbs: "Sequence[FoundLimb]") -> str:
    """How many legs and arms there are."""
    arms = sum(limb.kind == "ARM" for limb in limbs)
    legs = len(limbs) - arms
    leg_words, arm_words = messages.LEGS(count=legs), messages.ARMS(count=arms)
    if legs and arms:
        return messages.LEGS_AND_ARMS(legs=leg_words, arms=arm_words)
    return leg_words if legs else arm_words


def may_be_limb(bone: bpy.types.PoseBone) -> bool:
    """Whether a bone has a chain to be added that carries no limbs, as hips do."""
    from ...authoring.rigging import limbs_carried, proposed_chain

    found = proposed_chain(bone)
    return found is not None and not limbs_carried(bone.id_data.pose.bones[found.tip])


def add_label(context: bpy.types.Context) -> str:
    """The label of the button for the active bone: "Add Analytic IK: thigh.L > shin.L"."""
    from ...authoring.rigging import proposed_chain

    ob = active_armature(context)
    bone = active_bone(ob) if ob else None
    found = proposed_chain(bone) if bone else None
    return f"{ANALYTIC_IK_OT_add.bl_label}: {found.words}" if found else ANALYTIC_IK_OT_add.bl_label


class ANALYTIC_IK_OT_remove(ChainOperator):
    """Remove the selected chains"""

    bl_idname = "analytic_ik.remove"
    bl_label = "Remove Analytic IK"
    needs = (not_editable, none_chosen)
    takes_need = True

    keep_pose: BoolProperty(
        name="Keep Pose",
        description="Keep the current pose instead of the FK pose",
        default=True,
    )
    delete_controls: BoolProperty(name="Delete Controls", description="Delete controls that nothing else uses")

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        from ...authoring.controls import controls_of, delete_controls, remove_chain, unused

        tips = chosen_tips(context, ob)
        names = [tip.name for tip in tips]
        controls = [control for tip in tips for control in controls_of(tip)]
        for tip in tips:
            check_switchable(ob, tip)
        with all_or_nothing([ob], actions=actions_of(ob)):
            for tip in tips:
                remove_chain(tip, self.keep_pose)
            left, kept = unused(controls), ""
            if self.delete_controls:
                delete_controls(ob, left)
            elif left:
                kept = messages.KEPT_CONTROLS(controls=messages.quoted(control.name for control in left))
            return messages.REMOVED(tips=", ".join(names), kept=kept)


class ANALYTIC_IK_OT_limit_knees(ChainOperator):
    """Make knees and elbows bend in one direction and never straighten. \
Sets the bones' own IK locks and limits"""

    bl_idname = "analytic_ik.limit_knees"
    bl_label = "Limit to Hinge"
    needs = (not_editable, none_chosen)

    min_bend: FloatProperty(
        name="Min Bend",
        description="Smallest angle between a bone and its parent",
        default=radians(2.0),
        min=0.0,
        max=pi,
        subtype="ANGLE",
    )
    max_bend: FloatProperty(
        name="Max Bend",
        description="Largest angle between a bone and its parent",
        default=radians(150.0),
        min=0.0,
        max=pi,
        subtype="ANGLE",
    )

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        from ...authoring.knees import limit_knees

        tips = chosen_tips(context, ob)
        knees = limit_knees(context, tips, self.min_bend, self.max_bend)
        for warning in filter(None, (knee.warning for knee in knees)):
            self.report({"WARNING"}, warning)
        return messages.LIMITED_KNEES(knees=", ".join(messages.KNEE(bone=knee.bone, axis=knee.axis) for knee in knees))


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


class ANALYTIC_IK_OT_select_armature(ChainOperator):
    """Select the armature of the active object, which it deforms or carries"""

    bl_idname = "analytic_ik.select_armature"
    bl_label = "Select Armature"

    @classmethod
    def armature_for(cls, context: bpy.types.Context) -> bpy.types.Object | None:
        ob = context.active_object
        return character_of(context, ob) if ob is not None and ob.mode == "OBJECT" else None

    @classmethod
    def missing(cls, context: bpy.types.Context) -> str:
        return "" if cls.armature_for(context) else messages.NO_CHARACTER()

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        select_object(context, ob)
        return ""


class ANALYTIC_IK_OT_open_sidebar(ChainOperator):
    """Show the chain's settings in the sidebar of the 3D view"""

    bl_idname = "analytic_ik.open_sidebar"
    bl_label = "Open in Sidebar"
    bl_options = {"INTERNAL"}

    @classmethod
    def missing(cls, context: bpy.types.Context) -> str:
        return "" if _view(context) else messages.NO_VIEW()

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        area = _view(context)
        area.spaces.active.show_region_ui = True
        # The sidebar has its tabs once it was drawn.
        bpy.app.timers.register(partial(_open_tab, context.window, area), first_interval=0.1)
        return ""


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


class SwitchOperator(ChainOperator):
    """Operators that switch the selected chains. kind: to what, in a word."""

    needs = (not_editable, none_chosen)
    kind: ClassVar[str]

    insert_keys: BoolProperty(
        name="Insert Keys",
        description="Key the switch at this frame as Auto Keying does. The frames before it stay as they are",
        options={"SKIP_SAVE"},
    )

    def draw(self, context: bpy.types.Context) -> None:
        # Few switches make a pole target: the choice of its kind would be noise.
        self.layout.prop(self, "insert_keys")

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        # Where Influence has keys a switch without one is lost at the next frame.
        tips = chosen_tips(context, chain_armature(context))
        if not self.properties.is_property_set("insert_keys"):
            self.insert_keys = any(may_change(tip, "influence") for tip in tips)
        return self.execute(context)

    def switch(self, context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone]) -> None:
        """Do it. Raises ChainError."""
        raise NotImplementedError

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        tips = chosen_tips(context, ob)
        with auto_keying(context) if self.insert_keys else nullcontext():
            self.switch(context, tips)
        # What it keyed is no move to be corrected.
        file_memory.keys.clear()
        if all(may_change(tip, "influence") for tip in tips):
            frame = messages.AT_FRAME(frame=context.scene.frame_current_final)
        else:
            frame = messages.ON_ALL_FRAMES()
        return messages.SWITCHED(chains=messages.CHAINS(count=len(tips)), kind=self.kind, frame=frame)


class ANALYTIC_IK_OT_switch_to_fk(SwitchOperator):
    """The bones take the pose that is shown, and Influence becomes 0. \
Inserts keys if Auto Keying is on, else the whole shot is FK"""

    bl_idname = "analytic_ik.switch_to_fk"
    bl_label = "Switch to FK"
    kind = "FK"

    def switch(self, context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone]) -> None:
        from ...authoring.snap import switch_to_fk

        switch_to_fk(context, tips)


class ANALYTIC_IK_OT_switch_to_ik(MakesControls, SwitchOperator):
    """The controls take the pose that is shown, and Influence becomes 1. \
Inserts keys if Auto Keying is on, else the whole shot is IK"""

    bl_idname = "analytic_ik.switch_to_ik"
    bl_label = "Switch to IK"
    kind = "IK"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.choose_controls(context, chain_armature(context))
        return SwitchOperator.invoke(self, context, event)

    def switch(self, context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone]) -> None:
        from ...authoring.snap import switch_to_ik

        switch_to_ik(context, tips, as_bones=self.controls == "BONES")


class ANALYTIC_IK_OT_pole_follows(ChainOperator):
    """Keep the pole target between foot and body, or no longer. \
Nothing moves at this frame"""

    bl_idname = "analytic_ik.pole_follows"
    bl_label = "Pole Follows"
    needs = (not_editable, none_chosen)

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        from ...authoring.controls import switch_following
        from ...authoring.knees import is_following

        tips = chosen_tips(context, ob)
        follows = not all(map(is_following, tips))
        with all_or_nothing([ob]):
            for tip in tips:
                if is_following(tip) != follows:
                    switch_following(context, tip, follows)
        said = messages.POLES_FOLLOW if follows else messages.POLES_STAY
        return said(chains=messages.CHAINS(count=len(tips)))


class ANALYTIC_IK_OT_unmute(ChainOperator):
    """Switch the armature's muted chains on again"""

    bl_idname = "analytic_ik.unmute"
    bl_label = "Unmute Chains"

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        from ...authoring.for_export import back_to_live
        from ...authoring.snap import unmute_chains

        if has_aside(ob):
            return messages.BACK_TO_LIVE(clips=messages.CLIPS(count=back_to_live(ob)))
        return messages.UNMUTED(
            chains=messages.CHAINS(count=unmute_chains(tip for tip in all_tips(ob) if not is_native(tip)))
        )


class ANALYTIC_IK_OT_make_native(ChainOperator):
    """Turn chains into Blender's own constraints, which move without the add-on. \
Controls and keys stay"""

    bl_idname = "analytic_ik.make_native"
    bl_label = "Make Native"
    needs = (not_editable, none_live)
    takes_need = True

    only_selected: BoolProperty(name="Only Selected", description="Convert only chains with a selected tip bone")
    switch: BoolProperty(
        name="FK/IK Switch",
        description="Keep Influence as a setting. Without, frames cost less",
        default=True,
    )

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        from ...native.making import make_native

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
            chains=messages.CHAINS(count=len(done.tips)), percent=100.0 * done.figure, bones=done.helpers
        )


class ANALYTIC_IK_OT_make_live(ChainOperator):
    """Turn native chains back into live ones, with settings and keys"""

    bl_idname = "analytic_ik.make_live"
    bl_label = "Make Live"
    needs = (not_editable, none_native)
    takes_need = True

    only_selected: BoolProperty(name="Only Selected", description="Convert only chains with a selected tip bone")

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        from ...native.making import make_live

        tips = native_tips(ob)
        if self.only_selected:
            tips = [tip for tip in chosen_tips(context, ob) if is_native(tip)]
        if not tips:
            raise ChainError(messages.NO_NATIVE_CHAIN(armature=ob.name))
        return messages.MADE_LIVE(chains=messages.CHAINS(count=len(make_live(context, tips))))


register, unregister = registration_of(__name__)
