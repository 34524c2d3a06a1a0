"""Pose > Inverse Kinematics: all that can be done with chains, beside Blender's own; F3 finds what is in a menu.

And File > Export: what an exporter would show wrong.
"""

import bpy

from ..operators.chains import (
    ANALYTIC_IK_OT_add,
    ANALYTIC_IK_OT_limit_knees,
    ANALYTIC_IK_OT_make_live,
    ANALYTIC_IK_OT_make_native,
    ANALYTIC_IK_OT_remove,
)
from ..operators.feet import (
    ANALYTIC_IK_OT_lock_to_object,
    ANALYTIC_IK_OT_match_source,
    ANALYTIC_IK_OT_path_from_clip,
    ANALYTIC_IK_OT_plant_again,
    ANALYTIC_IK_OT_plant_feet,
    ANALYTIC_IK_OT_release,
)
from ..operators.keys import ANALYTIC_IK_OT_all_keys, ANALYTIC_IK_OT_apply_correction, ANALYTIC_IK_OT_simplify_keys
from ..operators.rigs import (
    ANALYTIC_IK_OT_adopt,
    ANALYTIC_IK_OT_restore,
    ANALYTIC_IK_OT_rig_legs,
    ANALYTIC_IK_OT_snap_pose,
    ANALYTIC_IK_OT_snap_targets,
)
from ..operators.stepped import ANALYTIC_IK_OT_bake, ANALYTIC_IK_OT_check
from ..operators.travel import ANALYTIC_IK_OT_back_to_live, ANALYTIC_IK_OT_bake_for_export
from ..view.grab import ANALYTIC_IK_OT_grab, ANALYTIC_IK_OT_pin
from ..view.swivel import ANALYTIC_IK_OT_swivel
from .exporting import draw_in_menu

_ENTRIES = (
    ((ANALYTIC_IK_OT_add, "CON_KINEMATIC"), (ANALYTIC_IK_OT_rig_legs, "NONE"), (ANALYTIC_IK_OT_remove, "X")),
    ((ANALYTIC_IK_OT_adopt, "CONSTRAINT_BONE"), (ANALYTIC_IK_OT_restore, "NONE")),
    ((ANALYTIC_IK_OT_snap_targets, "NONE"), (ANALYTIC_IK_OT_snap_pose, "NONE")),
    ((ANALYTIC_IK_OT_grab, "VIEW_PAN"), (ANALYTIC_IK_OT_pin, "PINNED")),
    ((ANALYTIC_IK_OT_swivel, "CON_ROTLIKE"), (ANALYTIC_IK_OT_limit_knees, "CON_ROTLIMIT")),
    ((ANALYTIC_IK_OT_match_source, "NONE"),),
    (
        (ANALYTIC_IK_OT_plant_feet, "NONE"),
        (ANALYTIC_IK_OT_plant_again, "NONE"),
        (ANALYTIC_IK_OT_path_from_clip, "NONE"),
    ),
    (
        (ANALYTIC_IK_OT_apply_correction, "NONE"),
        (ANALYTIC_IK_OT_simplify_keys, "NONE"),
        (ANALYTIC_IK_OT_all_keys, "NONE"),
    ),
    ((ANALYTIC_IK_OT_lock_to_object, "NONE"), (ANALYTIC_IK_OT_release, "NONE")),
    ((ANALYTIC_IK_OT_bake, "KEYFRAME_HLT"), (ANALYTIC_IK_OT_check, "NONE")),
    ((ANALYTIC_IK_OT_bake_for_export, "NONE"), (ANALYTIC_IK_OT_back_to_live, "NONE")),
    ((ANALYTIC_IK_OT_make_native, "NONE"), (ANALYTIC_IK_OT_make_live, "NONE")),
)


def draw_entries(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """What is appended to Blender's menu."""
    for group in _ENTRIES:
        menu.layout.separator()
        for operator, icon in group:
            menu.layout.operator(operator.bl_idname, icon=icon)


def register() -> None:
    """Add the entries, once."""
    unregister()
    bpy.types.VIEW3D_MT_pose_ik.append(draw_entries)
    bpy.types.TOPBAR_MT_file_export.prepend(draw_in_menu)


def unregister() -> None:
    """Take the entries off, also those that an earlier load of this module left."""
    for menu, own in ((bpy.types.VIEW3D_MT_pose_ik, draw_entries), (bpy.types.TOPBAR_MT_file_export, draw_in_menu)):
        for draw in list(getattr(menu.draw, "_draw_funcs", ())):
            if (draw.__module__, draw.__name__) == (own.__module__, own.__name__):
                menu.remove(draw)
