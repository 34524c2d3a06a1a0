"""The buttons that fix what is wrong with a chain."""

import bpy
from bpy.props import StringProperty

from ... import messages
from ...authoring.cures import cure
from ...authoring.selection import chain_armature
from ...rig.status.problems import Cure
from ...solvers import ChainError
from ..classes import registration_of
from .chains import ChainOperator
from .control_choice import MakesControls, shown_controls

BUTTONS = {
    "NEW_TARGET": (
        "New Target Empty",
        "EMPTY_AXIS",
        "Make an Empty as the target of this limb. The limb does not move",
    ),
    "BRING_BACK_TARGET": ("Bring It Back", "LOOP_BACK", "Put the deleted target back into the scene"),
    "BRING_BACK_POLE": ("Bring It Back", "LOOP_BACK", "Put the deleted pole target back into the scene"),
    "CLEAR_POLE": ("Clear Pole", "X", "Bend as in the FK pose, without a pole target"),
    "FEWER_BONES": (
        "Use Fewer Bones",
        "REMOVE",
        "Shorten the chain to the bones that are free",
    ),
    "CLEAR_END_BONE": ("Clear End Bone", "X", "End the chain at the tail of its tip bone"),
    "AUTO_SOLVER": ("Use Automatic", "FILE_REFRESH", "Choose the solver by the number of bones"),
    "POSE_POSITION": ("Pose Position", "POSE_HLT", "Show the armature in Pose Position"),
    "REMOVE_DRIVERS": ("Remove Driver", "X", "Remove the drivers that rotate or scale this bone against its chain"),
    "MUTE_CONSTRAINT": (
        "Mute Constraint",
        "HIDE_ON",
        "Mute the constraint that moves this bone after its chain",
    ),
    "STRETCH": ("Stretch", "FIXED_SIZE", "Lengthen the bones if the target is out of reach"),
    "FLIP_BEND": ("Flip", "CON_ROTLIKE", "Bend to the other side"),
    "REMOVE_CHAIN": ("Remove", "X", "Remove this chain. The bones keep following the rig"),
    "RESET_SCALE": ("Reset Scale", "LOOP_BACK", "Clear the pose scale of this bone"),
    "SHOW_TARGET": ("Show", "HIDE_OFF", "Show the target and its collections in the viewport"),
    "FOLLOW_MOTION": (
        "Snap",
        "EMPTY_AXIS",
        "Key target and pole target so that they carry the bones' motion",
    ),
    "MUTE_KEYS": (
        "Mute Keys",
        "MUTE_IPO_ON",
        "Mute the rotation keys of the chain's bones. The keys stay",
    ),
    "MUTE_SWITCH": ("Mute Keys", "MUTE_IPO_ON", "Mute the keys that turn this chain on and off. The keys stay"),
}
"""For each kind of fix its text, its icon and its tooltip."""
BONE_BUTTONS = {
    "NEW_TARGET": (
        "New Target Bone",
        "BONE_DATA",
        "Make a control bone as the target of this limb. The limb does not move",
    ),
}
"""The same for fixes that make a control bone."""


def button_of(context: bpy.types.Context, kind: str) -> tuple[str, str, str]:
    """The text, the icon and the tooltip of a kind of fix, as it would be done here."""
    ob = chain_armature(context)
    if ob is not None and kind in BONE_BUTTONS and shown_controls(context, ob) == "BONES":
        return BONE_BUTTONS[kind]
    return BUTTONS[kind]


class ANALYTIC_IK_OT_cure(MakesControls, ChainOperator):
    """Fix what keeps a chain from its target"""

    bl_idname = "analytic_ik.cure"
    bl_label = "Fix Analytic IK"

    kind: StringProperty(name="Fix", description="What to do", options={"HIDDEN", "SKIP_SAVE"})
    bone: StringProperty(name="Bone", description="Bone to fix", options={"HIDDEN", "SKIP_SAVE"})
    what: StringProperty(name="What", description="Part of the bone to fix", options={"HIDDEN", "SKIP_SAVE"})

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        return button_of(context, properties.kind)[2] if properties.kind in BUTTONS else cls.__doc__ or ""

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.choose_controls(context, chain_armature(context))
        return self.execute(context)

    def draw(self, context: bpy.types.Context) -> None:
        if self.kind in BONE_BUTTONS:
            layout = self.layout
            layout.use_property_split, layout.use_property_decorate = True, False
            layout.prop(self, "controls")

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        if self.kind not in BUTTONS:
            raise ChainError(messages.NO_CURE(fix=self.kind, fixes=", ".join(BUTTONS)))
        done = cure(context, ob, Cure(self.kind, self.bone, self.what), as_bones=self.controls == "BONES")
        if self.kind in BONE_BUTTONS:
            self.keep_choice(context, ob)
        return done


class ANALYTIC_IK_OT_lock_interface(bpy.types.Operator):
    """Lock the interface while rendering, so that live chains render safely"""

    bl_idname = "analytic_ik.lock_interface"
    bl_label = "Lock Interface"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if context.scene.render.use_lock_interface:
            cls.poll_message_set(messages.INTERFACE_LOCKED_ALREADY())
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        context.scene.render.use_lock_interface = True
        self.report({"INFO"}, messages.INTERFACE_LOCKED())
        return {"FINISHED"}


register, unregister = registration_of(__name__)
