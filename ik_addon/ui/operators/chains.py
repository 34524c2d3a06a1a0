"""The operators: they check, call one function, and say what was done or what is in the way."""

from collections.abc import Sequence
from math import pi, radians

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ... import messages
from ...authoring.controls import add_chain, controls_of, delete_controls, remove_chain, unused
from ...authoring.homes import control_bones
from ...authoring.knees import limit_knees
from ...authoring.proposal import chain_words, proposed_chain
from ...authoring.selection import active_armature, active_bone, chosen_controls, chosen_tips
from ...authoring.unmoved import Moved
from ...rig.data.settings import SOLVER_ITEMS
from ...rig.data.switch import check_switchable
from ...rig.data.undoing import all_or_nothing
from ...rig.model.limb import chain_bones
from ...solvers import ChainError
from ..classes import registration_of
from ..lengths import length_words
from .control_choice import MakesControls
from .polls import armature_for, missing_for


class ChainOperator(bpy.types.Operator):
    """What the operators share: they say what they need (polls.py), and a ChainError is their refusal.

    level: what kind of report the last sentence is, INFO or WARNING.
    """

    bl_options = {"REGISTER", "UNDO"}
    level = "INFO"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        missing = missing_for(cls.bl_idname, context)
        if missing:
            cls.poll_message_set(missing)
        return not missing

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            done = self.act(context, armature_for(type(self).bl_idname, context))
            self.report({self.level}, done)
        except ChainError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        """Do it; returns the sentence that says what was done. Raises ChainError."""
        raise NotImplementedError

    def with_moved(self, context: bpy.types.Context, said: str, moved: Sequence[Moved]) -> str:
        """The last sentence, where rounding may have moved bones so far that it can be seen; `said` without."""
        if not moved:
            return said
        self.report({self.level}, said)
        self.level = "WARNING"
        farthest = max(moved, key=lambda each: each.distance)
        return messages.MOVED_BY_ROUNDING(bone=farthest.bone, distance=length_words(context.scene, farthest.distance))


class ANALYTIC_IK_OT_add(MakesControls, ChainOperator):
    """Add an IK chain that ends at the active bone. \
Selected objects become target and pole target, or new ones are made"""

    bl_idname = "analytic_ik.add"
    bl_label = "Add Analytic IK"

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
        ob = active_armature(context)
        self.choose_controls(context, ob)
        given = self.properties.is_property_set
        if not given("use_this_bone"):
            self.use_this_bone = False
        bone = active_bone(ob)
        found = proposed_chain(bone, self.use_this_bone) if bone else None
        if found is not None and not given("chain_count"):
            self.chain_count = len(found.bones)
        return self.execute(context)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split, layout.use_property_decorate = True, False
        for name in ("controls", "use_this_bone", "chain_count", "solver", "with_pole"):
            layout.prop(self, name)

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
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
        return self.with_moved(context, said, added.moved)


def add_label(context: bpy.types.Context) -> str:
    """The label of the button for the active bone: "Add Analytic IK: thigh.L > shin.L"."""
    ob = active_armature(context)
    bone = active_bone(ob) if ob else None
    found = proposed_chain(bone) if bone else None
    return f"{ANALYTIC_IK_OT_add.bl_label}: {found.words}" if found else ANALYTIC_IK_OT_add.bl_label


class ANALYTIC_IK_OT_remove(ChainOperator):
    """Remove the selected chains"""

    bl_idname = "analytic_ik.remove"
    bl_label = "Remove Analytic IK"

    keep_pose: BoolProperty(
        name="Keep Pose",
        description="Keep the current pose instead of the FK pose",
        default=True,
    )
    delete_controls: BoolProperty(name="Delete Controls", description="Delete controls that nothing else uses")

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        tips = chosen_tips(context, ob)
        names = [tip.name for tip in tips]
        controls = [control for tip in tips for control in controls_of(tip)]
        for tip in tips:
            check_switchable(ob, tip)
        with all_or_nothing([ob], keys=True):
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
        tips = chosen_tips(context, ob)
        knees = limit_knees(context, tips, self.min_bend, self.max_bend)
        for warning in filter(None, (knee.warning for knee in knees)):
            self.report({"WARNING"}, warning)
        return messages.LIMITED_KNEES(knees=", ".join(messages.KNEE(bone=knee.bone, axis=knee.axis) for knee in knees))


register, unregister = registration_of(__name__)
