"""Blender's own IK constraints, to be adopted."""

import bpy

from ik_addon.authoring.adopt import Adopted, adopt
from ik_addon.authoring.blender_ik import adoptable
from ik_addon.rig.status.problems import problems_of

from ..rig.rigs import Rig, update
from ..scenes import readable


def constrain(rig: Rig, pole_angle: float = 0.0, **settings: object) -> bpy.types.Constraint:
    """Give a rig's chain Blender's own IK, with the rig's target and pole."""
    ik = rig.tip.constraints.new("IK")
    ik.target, ik.subtarget, ik.chain_count = rig.target.ob, rig.target.bone, len(rig.bones)
    if rig.pole:
        ik.pole_target, ik.pole_subtarget, ik.pole_angle = rig.pole.ob, rig.pole.bone, pole_angle
    for name, value in settings.items():
        setattr(ik, name, value)
    update()
    return ik


def adopt_all(ob: bpy.types.Object) -> tuple[Adopted, ...]:
    done = adopt(bpy.context, adoptable(ob.pose.bones))
    assert done.left == ()
    adopted = done.adopted
    tips = [chain.tip for chain in adopted]
    assert problems_of(ob, tips, bpy.context.evaluated_depsgraph_get()) == {}
    return adopted


def constraint_state(ik: bpy.types.Constraint) -> dict:
    """All of a constraint; the errors are results of the last evaluation and no settings."""
    names = [rna.identifier for rna in ik.bl_rna.properties if not rna.identifier.startswith(("error_", "rna_", "is_"))]
    return {name: readable(getattr(ik, name)) for name in names}
