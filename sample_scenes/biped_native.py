"""The robot with control bones, made native: it waves, and follows its controls, without the add-on."""

from __future__ import annotations

import bpy

from . import biped_control_bones
from .staging import Opening

READ_ME = """\
1. Press Space: the robot waves. Its limbs follow control bones by Blender's own constraints.
2. Disable Analytic IK in the preferences: nothing changes.
3. Grab foot_ik.L, the outline around the left foot (G), and turn it (R): the foot follows.
4. Select the bone shin.L: its settings are custom properties, under Properties > Bone.
5. With the add-on enabled, press Make Live in the Bake panel: the chains are live again.
"""


def build() -> Opening:
    """Build the scene."""
    opening = biped_control_bones.build()
    bpy.context.scene.name = "biped_native"
    bpy.ops.analytic_ik.make_native()
    return Opening(opening.rig, READ_ME, "foot_ik.L")
