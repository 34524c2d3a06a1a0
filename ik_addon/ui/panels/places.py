"""Where panels are shown, and whose they are."""

import bpy

from ...authoring.selection import active_armature, active_bone, focus
from ...rig.data.settings import is_native
from .tab import DEFAULT


class InSidebar:
    """A panel in the sidebar of the 3D view."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = DEFAULT


class InBoneTab:
    """A panel under Properties > Bone."""

    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "bone"


class BonePanel:
    """What the panels of a bone and of its chain share."""

    @staticmethod
    def bone(context: bpy.types.Context) -> bpy.types.PoseBone | None:
        """The active pose bone."""
        ob = active_armature(context)
        return active_bone(ob) if ob is not None else None

    @classmethod
    def tip(cls, context: bpy.types.Context) -> bpy.types.PoseBone | None:
        """The tip bone of the chain that is shown: of the active bone, or of the active control."""
        return focus(context).tip


class PartOfChainPanel(BonePanel):
    """A part of the panel of a chain; it is there if a chain is shown."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        tip = cls.tip(context)
        # Of a native chain nothing but its custom properties says anything.
        return tip is not None and not is_native(tip)
