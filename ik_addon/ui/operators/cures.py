"""The buttons that cure what is wrong with a chain."""

import bpy
from bpy.props import StringProperty

from ... import messages
from ...authoring.cures import cure
from ...rig.status.problems import Cure
from ...solvers import ChainError
from .chains import ChainOperator

BUTTONS = {
    "NEW_TARGET": (
        "New Target",
        "EMPTY_AXIS",
        "Make a new Empty on the end of the limb and let the limb follow it. The limb does not move; its pole goes to "
        "where the limb bends now",
    ),
    "BRING_BACK_TARGET": ("Bring It Back", "LOOP_BACK", "Put the deleted target back into the scene, where it was"),
    "BRING_BACK_POLE": ("Bring It Back", "LOOP_BACK", "Put the deleted pole back into the scene, where it was"),
    "CLEAR_POLE": ("Clear Pole", "X", "Let the limb bend as it does in its FK pose, without a pole"),
    "FEWER_BONES": (
        "Use Fewer Bones",
        "REMOVE",
        "Let the chain end at the highest bone that is there and belongs to no other chain",
    ),
    "CLEAR_END_BONE": ("Clear End Bone", "X", "End the chain at the tail of its last bone"),
    "AUTO_SOLVER": ("Use Automatic", "FILE_REFRESH", "Let the number of bones choose the solver"),
    "POSE_POSITION": ("Pose Position", "POSE_HLT", "Show the armature in its pose instead of its rest position"),
    "REMOVE_DRIVERS": ("Remove Driver", "X", "Remove the drivers that turn or scale this bone against its chain"),
    "MUTE_CONSTRAINT": (
        "Mute Constraint",
        "HIDE_ON",
        "Switch the constraint off that moves this bone after its chain was solved; its settings stay",
    ),
    "REMOVE_CHAIN": ("Remove", "X", "Remove this chain; the bones keep following the rig"),
    "RESET_SCALE": ("Reset Scale", "LOOP_BACK", "Give this bone its own size back, the same along all axes"),
    "SHOW_TARGET": ("Show", "HIDE_OFF", "Show the target in the viewport, and the collections that it is in"),
    "FOLLOW_MOTION": (
        "Snap",
        "EMPTY_AXIS",
        "Key the target and the pole of this chain so that they carry the motion of its bones, over its whole range",
    ),
    "MUTE_KEYS": (
        "Mute Keys",
        "MUTE_IPO_ON",
        "Mute the rotation keys of the chain's bones, so that the chain alone poses them. The keys stay",
    ),
    "MUTE_SWITCH": ("Mute Keys", "MUTE_IPO_ON", "Mute the keys that switch this chain on and off. The keys stay"),
}
"""For the kinds of cures text, icon, and what the button says it does."""


class ANALYTIC_IK_OT_cure(ChainOperator):
    """Take away what keeps a chain from its target"""

    bl_idname = "analytic_ik.cure"
    bl_label = "Cure Analytic IK"

    kind: StringProperty(name="Cure", description="What is done", options={"HIDDEN", "SKIP_SAVE"})
    bone: StringProperty(name="Bone", description="Bone that it is done to", options={"HIDDEN", "SKIP_SAVE"})
    what: StringProperty(name="What", description="What of the bone is meant", options={"HIDDEN", "SKIP_SAVE"})

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        return BUTTONS[properties.kind][2] if properties.kind in BUTTONS else cls.__doc__ or ""

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        if self.kind not in BUTTONS:
            raise ChainError(messages.NO_CURE(cure=self.kind, cures=", ".join(BUTTONS)))
        return cure(context, ob, Cure(self.kind, self.bone, self.what))


class ANALYTIC_IK_OT_lock_interface(bpy.types.Operator):
    """Lock the interface while rendering, so that no redraw changes what a chain is solved from"""

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


# The stubs say that it returns nothing.
register, unregister = bpy.utils.register_classes_factory(  # pyright: ignore[reportGeneralTypeIssues]
    (ANALYTIC_IK_OT_cure, ANALYTIC_IK_OT_lock_interface)
)
