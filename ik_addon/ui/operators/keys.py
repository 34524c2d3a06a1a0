"""The operators of keys: few of them, and all of them again; and corrections that fade."""

from math import radians

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ... import messages
from ...authoring.selection import chain_armature
from ...bake.stepping import Steps
from ..base import ChainOperator, not_editable, registration_of
from .polls import none_live
from .stepped import RangeOperator

_ALIGN = [
    ("CONTROL", "Each Control", "As few keys as each needs"),
    ("LIMB", "Limb", "Target and pole target share their frames"),
    ("POSE", "Whole Pose", "All controls and the body share their frames"),
]


class ANALYTIC_IK_OT_simplify_keys(RangeOperator):
    """Keep only the keys that the motion of limbs and body needs. \
Feet stand still between keys too"""

    bl_idname = "analytic_ik.simplify_keys"
    bl_label = "Simplify Keys"
    needs = (not_editable, none_live)
    label = "Simplifying"
    panel = "ANALYTIC_IK_PT_planting"

    tolerance: FloatProperty(
        name="Tolerance",
        description="How far feet and hands may be off, in leg lengths",
        default=0.005,
        min=0.0005,
        max=0.05,
        precision=4,
    )
    rotation: FloatProperty(
        name="Rotation",
        description="How far feet, hands and body may be turned off",
        default=radians(1.5),
        min=radians(0.1),
        max=radians(10.0),
        subtype="ANGLE",
    )
    still: FloatProperty(
        name="Still",
        description="How far a rolling foot may slide between keys, in leg lengths",
        default=1e-4,
        min=1e-5,
        max=1e-3,
        precision=5,
    )
    align: EnumProperty(name="Align", description="Which controls have keys in the same frames", items=_ALIGN)

    def default_range(self, context: bpy.types.Context) -> range:
        from ...planting.scene.control_tracks import frames_of_keys, keyed_controls

        ob = chain_armature(context)
        return frames_of_keys(ob, keyed_controls(ob))

    def draw(self, context: bpy.types.Context) -> None:
        self.drawn("frame_start", "frame_end", "tolerance", "rotation", "still", "align")

    def steps(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps[str]:
        from ...planting.feet.simplifying import KeyOptions
        from ...planting.scene.simplify import keys_simplified

        options = KeyOptions(self.tolerance, self.rotation, self.still, self.align)
        report = yield from keys_simplified(context, ob, self.frames(context), options)
        first, last, _ = report["frames"]
        shown = {name: report[name] for name in ("keys", "tips", "knees", "slide")}
        return messages.SIMPLIFIED(before=report["keys_before"], first=first, last=last, **shown)


class ANALYTIC_IK_OT_all_keys(ChainOperator):
    """Bring back the keys from before Simplify Keys"""

    bl_idname = "analytic_ik.all_keys"
    bl_label = "Back to All Keys"
    needs = (not_editable, none_live)

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        from ...planting.scene.simplify import all_keys

        return messages.ALL_KEYS_BACK(keys=all_keys(context, ob))


class Correcting(ChainOperator):
    """Operators that apply a correction."""

    bl_label = "Apply Correction"
    needs = (not_editable, none_live)

    fade: FloatProperty(
        name="Fade",
        description="Time to fade before and after, where no contact ends it",
        default=0.4,
        min=0.0,
        soft_max=4.0,
        subtype="TIME_ABSOLUTE",
    )
    body: BoolProperty(name="Body Follows", description="Lower the body as far as legs need to reach", default=True)

    def draw(self, context: bpy.types.Context) -> None:
        self.drawn("fade", "body")

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        from ...planting.scene.correcting import apply_correction
        from ...planting.scene.entries import control_name, short_limbs

        names: dict[float, list[str]] = {}
        made = apply_correction(context, ob, self.fade, self.body)
        for own in made:
            names.setdefault(own["frame"], []).append(control_name(own))
        done = [messages.CORRECTED(controls=messages.few(own), frame=frame) for frame, own in sorted(names.items())]
        last = self.said_before([("INFO", each) for each in done])
        short = [messages.SHORT_AT(tip=tip, frame=frame) for tip, frame in short_limbs(ob).items()]
        if short:
            self.level = "WARNING"
            return messages.CORRECTED_SHORT(done=last, tips=", ".join(short))
        abrupt = [control_name(own) for own in made if own["abrupt"]]
        if abrupt:
            self.level = "WARNING"
            return messages.CORRECTED_ABRUPT(done=last, controls=messages.few(abrupt))
        return last


class ANALYTIC_IK_OT_apply_correction(Correcting):
    """Keep what was moved at this frame, and fade it. \
A foot that stands takes its whole stance along"""

    bl_idname = "analytic_ik.apply_correction"


def _grouped(name: str, step: str) -> type[Correcting]:
    """One that is one step of the undo history with what moved the control: Blender wants a class for each name."""
    own = {
        "__module__": __name__,
        "__doc__": f"Apply the correction that Auto Keying keyed with {step}",
        "bl_idname": f"analytic_ik.{name}",
        "bl_options": {"INTERNAL", "UNDO_GROUPED"},
        "bl_undo_group": step,
    }
    return type(f"ANALYTIC_IK_OT_{name}", (Correcting,), own)


_MOVED = _grouped("correct_moved", "Move")
_ROTATED = _grouped("correct_rotated", "Rotate")
_GRABBED = _grouped("correct_grabbed", "Grab")


class OfCorrection(ChainOperator):
    """Operators on one correction in the list."""

    needs = (not_editable, none_live)
    removes = False

    index: IntProperty(name="Correction", description="Its number in the list", min=0, options={"SKIP_SAVE"})

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        from ...planting.scene.correcting import change_correction
        from ...planting.scene.entries import control_name

        was = change_correction(context, ob, self.index, self.removes)
        names, frame = messages.few([control_name(own) for own in was]), was[0]["frame"]
        if self.removes:
            return messages.CORRECTION_REMOVED(controls=names, frame=frame)
        return messages.CORRECTION_SWITCHED(controls=names, frame=frame, state="off" if was[0]["on"] else "on")


class ANALYTIC_IK_OT_remove_correction(OfCorrection):
    """Remove this correction. The keys are as they were without it"""

    bl_idname = "analytic_ik.remove_correction"
    bl_label = "Remove Correction"
    removes = True


class ANALYTIC_IK_OT_switch_correction(OfCorrection):
    """Turn this correction off or on"""

    bl_idname = "analytic_ik.switch_correction"
    bl_label = "Switch Correction"


register, unregister = registration_of(__name__)
