"""The properties are what files and scripts rely on: their names, types, defaults and limits."""

import bpy
import pytest

from ik_addon.rig.data.settings import SETTINGS

from ..rig.rigs import leg
from ..scenes import enter

pytestmark = pytest.mark.versions


def rna(name: str) -> bpy.types.Property:
    return bpy.types.PoseBone.bl_rna.properties[f"analytic_ik_{name}"]


# All of them as files and scripts know them: type and default; of numbers the kind, the limits and those of the slider;
# of choices the numbers under which files keep them. Never edited, only added to.
EVERY = {
    "body_direction": ("ENUM", "DOWN", {"DOWN": 0, "NEAREST": 1}),
    "body_influence": ("FLOAT", "FACTOR", 0.0, (0.0, 1.0), (0.0, 1.0)),
    "body_softness": ("FLOAT", "FACTOR", 0.02, (0.0, 0.2), (0.0, 0.2)),
    "body_turn": ("FLOAT", "ANGLE", 0.0, (0.0, 1.5708), (0.0, 1.5708)),
    "chain_count": ("INT", 2, 0),
    "cone": ("FLOAT", "ANGLE", 3.14159, (0.0, 3.14159), (0.0, 3.14159)),
    "contact": ("ENUM", "NONE", {"NONE": 0, "HEEL": 1, "BALL": 2, "FLAT": 3}),
    "enabled": ("BOOLEAN", False),
    "end_bone": ("STRING", ""),
    "flip": ("BOOLEAN", False),
    "foot_roll": ("FLOAT", "ANGLE", 0.0, (None, None), (-1.5708, 1.5708)),
    "influence": ("FLOAT", "FACTOR", 1.0, (0.0, 1.0), (0.0, 1.0)),
    "least_motion": ("BOOLEAN", False),
    "min_bend": ("FLOAT", "ANGLE", 0.0, (0.0, 3.14159), (0.0, 3.14159)),
    "pin": ("ENUM", "AUTO", {"AUTO": 0, "FREE": 1, "LOCATION": 2, "ROTATION": 3, "BOTH": 4}),
    "pole_subtarget": ("STRING", ""),
    "pole_target": ("POINTER",),
    "reach": ("ENUM", "CLAMP", {"CLAMP": 0, "STRETCH": 2, "HOLD": 1}),
    "record_adopted": ("STRING", ""),
    "record_helps": ("STRING", ""),
    "record_name": ("STRING", ""),
    "record_native": ("STRING", ""),
    "record_removed": ("STRING", ""),
    "record_rotation": ("FLOAT",),
    "rigid": ("BOOLEAN", False),
    "softness": ("FLOAT", "FACTOR", 0.0, (0.0, 0.5), (0.0, 0.5)),
    "solver": (
        "ENUM",
        "AUTO",
        {"AUTO": 0, "VECTOR": 1, "LAW_OF_COSINES": 2, "CIRCLE": 3, "SPHERE": 4, "TRIANGULATION": 5, "CCD": 6},
    ),
    "straight_axis": ("ENUM", "AUTO", {"AUTO": 0, "X": 1, "NEGATIVE_X": 2, "Z": 3, "NEGATIVE_Z": 4}),
    "stretch_max": ("FLOAT", "NONE", 1.5, (1.0, None), (1.0, 3.0)),
    "subtarget": ("STRING", ""),
    "swivel": ("FLOAT", "ANGLE", 0.0, (None, None), (-3.14159, 3.14159)),
    "target": ("POINTER",),
    "toe_angle": ("FLOAT", "ANGLE", 0.7854, (0.0, 3.14159), (0.0, 3.14159)),
    "use_cone": ("BOOLEAN", False),
    "use_min_bend": ("BOOLEAN", False),
    "use_rotation": ("BOOLEAN", False),
}


def as_listed(option: bpy.types.Property) -> tuple:
    def bounds(*limits: float) -> tuple:
        return tuple(None if abs(limit) > 1e9 else round(limit, 5) for limit in limits)

    if option.type == "FLOAT" and not option.is_array:
        own, shown = bounds(option.hard_min, option.hard_max), bounds(option.soft_min, option.soft_max)
        return option.type, option.subtype, *bounds(option.default), own, shown
    if option.type == "INT":
        return option.type, option.default, option.hard_min
    if option.type == "ENUM":
        return option.type, option.default, {item.identifier: item.value for item in option.enum_items}
    return (option.type, option.default) if option.type in ("BOOLEAN", "STRING") else (option.type,)


def test_every_property_is_what_it_was():
    table = {name: as_listed(rna(name)) for name in SETTINGS}
    assert table == EVERY
    hidden = {name for name in SETTINGS if rna(name).is_hidden}
    assert hidden == {name for name in SETTINGS if name.startswith("record_")}
    shown = [rna(name) for name in SETTINGS if name not in hidden]
    assert all(option.name and option.description and option.is_overridable for option in shown)


def test_settings_can_be_keyed_and_driven():
    tip = leg().tip
    for name in (name for name in SETTINGS if rna(name).is_animatable and not rna(name).is_hidden):
        assert tip.keyframe_insert(f"analytic_ik_{name}", frame=1)
        assert tip.driver_add(f"analytic_ik_{name}")


def test_limits_belong_to_their_bone_and_stay_when_a_chain_goes():
    rig = leg()
    rig.tip.analytic_ik_use_cone, rig.tip.analytic_ik_cone = True, 1.0
    rig.tip.analytic_ik_use_min_bend, rig.tip.analytic_ik_min_bend = True, 0.1
    enter("POSE", rig.ob, "shin")
    bpy.ops.analytic_ik.add()
    bpy.ops.analytic_ik.remove()
    assert rig.tip.analytic_ik_use_cone
    assert rig.tip.analytic_ik_cone == pytest.approx(1.0)
    assert rig.tip.analytic_ik_use_min_bend
    assert rig.tip.analytic_ik_min_bend == pytest.approx(0.1)
