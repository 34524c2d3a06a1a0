"""What operators need to run, and the sentences that say what is missing; and which kind of controls they make."""

from collections.abc import Callable

import bpy
from bpy.props import EnumProperty

from ... import messages
from ...authoring.blender_ik import adoptable, is_adopted
from ...authoring.keys import has_marks
from ...authoring.selection import active_bone, all_tips, chosen_tips
from ...bake.certificate import read_certificates
from ...messages import Message
from ...planting.scene.sources import is_planted
from ...rig.blender.armatures import has_editable_bones
from ...rig.data.export_stash import has_aside
from ...rig.data.settings import is_native, native_tips, switched_tips
from ...rig.model.order import has_live_chains
from ..base import Need


def _needs(has: Callable[[bpy.types.Object], object], message: Message) -> Need:
    """The need of what an armature object has; the message says that it has not."""
    return lambda _context, ob: "" if has(ob) else message(armature=ob.name)


no_bone = _needs(active_bone, messages.NO_ACTIVE_BONE)
none_native = _needs(native_tips, messages.NO_NATIVE_CHAIN)
# Which bones are meant the operator alone knows: they may be all.
nothing_to_adopt = _needs(lambda ob: adoptable(ob.pose.bones), messages.NOTHING_TO_ADOPT)
nothing_adopted = _needs(lambda ob: any(map(is_adopted, ob.pose.bones)), messages.NOTHING_ADOPTED)
no_report = _needs(lambda ob: read_certificates(ob.analytic_ik_report), messages.NO_REPORT)
not_marked = _needs(has_marks, messages.NOT_MARKED)
nothing_aside = _needs(has_aside, messages.NOT_BAKED_FOR_EXPORT)
baked_already = _needs(lambda ob: not has_aside(ob), messages.BAKED_FOR_EXPORT_ALREADY)


def none_chosen(context: bpy.types.Context, ob: bpy.types.Object) -> str:
    """What a selection without a chain lacks, or one with a native chain."""
    tips = chosen_tips(context, ob)
    native = next((tip.name for tip in tips if is_native(tip)), None)
    if native is not None:
        return messages.NATIVE_FIRST(bone=native)
    return "" if tips else messages.NO_TIP(armature=ob.name)


def none_live(_context: bpy.types.Context, ob: bpy.types.Object) -> str:
    """What an armature without a live chain lacks."""
    if has_live_chains(ob) or switched_tips(ob):
        return ""
    return (messages.ALL_NATIVE if native_tips(ob) else messages.NO_LIVE_CHAIN)(armature=ob.name)


def neither_live_nor_unrigged(context: bpy.types.Context, ob: bpy.types.Object) -> str:
    """What an armature without live chains lacks; one without any chain is rigged first, if it has an action."""
    if all_tips(ob) or native_tips(ob):
        return none_live(context, ob)
    moves = ob.animation_data is not None and ob.animation_data.action is not None
    return "" if moves else messages.NO_ACTION_TO_PLANT(armature=ob.name)


def nothing_to_check(context: bpy.types.Context, ob: bpy.types.Object) -> str:
    """What an armature lacks whose feet were not planted and that has no live chain."""
    return "" if is_planted(ob) else none_live(context, ob)


_CHOICE = {
    "name": "Controls",
    "description": "What new targets and pole targets are",
    "items": [
        ("EMPTIES", "Empties", "Objects beside the armature, for any character"),
        ("BONES", "Bones", "Bones of the armature, posed and keyed in Pose Mode"),
    ],
}


def shown_controls(context: bpy.types.Context, ob: bpy.types.Object) -> str:
    """What an operator makes as a control in the window: the scene's choice; EMPTIES if the armature gets no bones."""
    return context.scene.analytic_ik_controls if has_editable_bones(ob) else "EMPTIES"


class MakesControls:
    """What operators share that make controls. In the window the choice is the scene's; for scripts it is EMPTIES."""

    controls: EnumProperty(**_CHOICE, default="EMPTIES", options={"SKIP_SAVE"})

    def choose_controls(self, context: bpy.types.Context, ob: bpy.types.Object) -> None:
        """Take the scene's choice, unless the caller has made one; Empties if the armature gets no new bones."""
        if not self.properties.is_property_set("controls"):
            self.controls = shown_controls(context, ob)

    def keep_choice(self, context: bpy.types.Context, ob: bpy.types.Object) -> None:
        """Let the scene keep what was chosen in the window, or after it in *Adjust Last Operation*."""
        if self.options.is_invoke and has_editable_bones(ob) and context.scene.analytic_ik_controls != self.controls:
            context.scene.analytic_ik_controls = self.controls


def register() -> None:
    """Give scenes a place for it."""
    bpy.types.Scene.analytic_ik_controls = EnumProperty(**_CHOICE, default="BONES", options=set())


def unregister() -> None:
    """Take it away."""
    del bpy.types.Scene.analytic_ik_controls
