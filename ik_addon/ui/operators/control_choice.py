"""Whether new controls are Empties or bones: an option of the operators that make them, kept in the scene."""

import bpy
from bpy.props import EnumProperty

from ...authoring.editing import has_editable_bones

_ITEMS = [
    ("EMPTIES", "Empties", "Objects beside the armature, for any character"),
    ("BONES", "Bones", "Bones of the armature, posed and keyed in Pose Mode"),
]


def shown_controls(context: bpy.types.Context, ob: bpy.types.Object) -> str:
    """What an operator makes as a control in the window: the scene's choice; EMPTIES if the armature gets no bones."""
    return context.scene.analytic_ik_controls if has_editable_bones(ob) else "EMPTIES"


class MakesControls:
    """What operators share that make controls. In the window the choice is the scene's; for scripts it is EMPTIES."""

    controls: EnumProperty(
        name="Controls",
        description="What new targets and pole targets are",
        items=_ITEMS,
        default="EMPTIES",
        options={"SKIP_SAVE"},
    )

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
    bpy.types.Scene.analytic_ik_controls = EnumProperty(
        name="Controls",
        description="What new targets and pole targets are",
        items=_ITEMS,
        default="BONES",
        options=set(),
    )


def unregister() -> None:
    """Take it away."""
    del bpy.types.Scene.analytic_ik_controls
