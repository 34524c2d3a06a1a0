"""Native and live again: everything is as before, bit for bit."""

import bpy
import pytest

from ..rig.rigs import Rig, update
from ..scenes import readable, whole_state
from .natives import any_footed, any_rig, live, native, user_pose

pytestmark = pytest.mark.versions
seeds = pytest.mark.parametrize("seed", range(100))


def constraint_state(constraint: bpy.types.Constraint) -> dict:
    names = [rna.identifier for rna in constraint.bl_rna.properties if rna.type not in ("COLLECTION",)]
    pointers = {"rna_type", "space_object", "target", "pole_target"}
    values = {name: readable(getattr(constraint, name)) for name in names if name not in pointers}
    return values | {name: readable(getattr(constraint, name, None)) for name in ("target", "pole_target")}


def driver_state(curve: bpy.types.FCurve) -> tuple:
    driver = curve.driver
    variables = [
        (each.name, each.type, [(target.id and target.id.name, target.data_path) for target in each.targets])
        for each in driver.variables
    ]
    return (curve.data_path, curve.array_index, curve.mute, driver.type, driver.expression, variables)


def all_there_is(ob: bpy.types.Object) -> dict:
    """What of an armature could have changed, and of the file."""
    data = ob.animation_data
    bones = [
        (
            bone.name,
            bone.parent and bone.parent.name,
            bone.use_deform,
            bone.hide_select,
            tuple(map(tuple, bone.matrix_local)),
        )
        for bone in ob.data.bones
    ]
    return {
        **whole_state(),
        "rest": bones,
        "collections": [(each.name, each.is_visible) for each in ob.data.collections_all],
        "constraints": {bone.name: [constraint_state(each) for each in bone.constraints] for bone in ob.pose.bones},
        "set": {
            bone.name: [
                rna.identifier
                for rna in bone.bl_rna.properties
                if rna.identifier.startswith("analytic_ik_") and bone.is_property_set(rna.identifier)
            ]
            for bone in ob.pose.bones
        },
        "custom": {
            bone.name: [key for key in bone.keys() if not key.startswith("analytic_ik")] for bone in ob.pose.bones
        },
        "drivers": data and sorted(driver_state(curve) for curve in data.drivers),
        "animated": data is not None,
        "objects of the file": sorted(each.name for each in bpy.data.objects),
    }


def changed(before: dict, after: dict) -> dict:
    return {name: (before[name], after[name]) for name in before if before[name] != after[name]}


def there_and_back(rig: Rig) -> None:
    update()
    before, shown = all_there_is(rig.ob), user_pose(rig.ob)
    native(rig)
    assert changed(before, all_there_is(rig.ob))
    live(rig)
    update()
    assert changed(before, all_there_is(rig.ob)) == {}
    assert user_pose(rig.ob) == shown


@seeds
def test_two_bones_come_back_as_they_were(seed):
    rig = any_rig(seed)
    options = [{}, {"swivel": 0.4, "influence": 0.5}, {"reach": "STRETCH"}, {"softness": 0.2, "flip": True}]
    rig.enable(**options[seed % 2 * 2])
    there_and_back(rig)


@seeds
def test_more_bones_come_back_as_they_were(seed):
    rig = any_rig(seed, 3 + seed % 4)
    rig.enable(swivel=0.3)
    there_and_back(rig)


@seeds
def test_a_foot_comes_back_as_it_was(seed):
    rig = any_footed(seed)
    rig.enable(foot_roll=0.2 * (seed % 3))
    rig.tip.analytic_ik_use_rotation = True
    there_and_back(rig)
