"""All that the add-on could have changed in a file, and in what two such states differ."""

import bpy
from mathutils import Matrix, Vector

from ..rig.rigs import update
from ..scenes import action_state, pose_of, readable

KINDS = [
    "actions",
    "armatures",
    "cameras",
    "collections",
    "materials",
    "meshes",
    "objects",
    "scenes",
    "texts",
    "worlds",
]


def everything() -> dict:
    """What an operator could have changed, bit for bit, and the pose that Blender evaluates."""
    update()
    return {
        "names": {kind: sorted(each.name_full for each in getattr(bpy.data, kind)) for kind in KINDS},
        "objects": {ob.name: object_state(ob) for ob in bpy.data.objects},
        "actions": {
            action.name: (action.use_fake_user, action.users, action_state(action)) for action in bpy.data.actions
        },
        "collections": {
            each.name: (sorted(each.objects.keys()), sorted(each.children.keys()))
            for each in [bpy.context.scene.collection, *bpy.data.collections]
        },
        "poses": {ob.name: pose_of(ob) for ob in bpy.data.objects if ob.pose},
        "frame": bpy.context.scene.frame_current,
    }


def object_state(ob: bpy.types.Object) -> dict:
    data = ob.animation_data
    return {
        "own": state(ob, ["location", "rotation_euler", "scale", "parent", "parent_bone", "analytic_ik_report"]),
        "custom": sorted(ob.keys()),
        "controls": [state(kept) for kept in ob.analytic_ik_record_controls],
        "bones": {bone.name: bone_state(bone) for bone in ob.pose.bones} if ob.pose else {},
        "animation": data and (data.action and data.action.name_full, getattr(data, "action_slot_handle", 0)),
        "drivers": data and sorted((each.data_path, each.array_index, each.mute) for each in data.drivers),
    }


def bone_state(bone: bpy.types.PoseBone) -> dict:
    constraints = [(each.name, each.type, each.mute, each.influence) for each in bone.constraints]
    return state(bone) | {"constraints": constraints, "custom": sorted(bone.keys())}


def state(owner: bpy.types.bpy_struct, names: list[str] | None = None) -> dict:
    """The values of all properties that can be set, and of an add-on's whether they are."""
    left_out = {"custom_shape", "custom_shape_transform", "bone_group", "select", "hide"}
    names = names or [
        rna.identifier
        for rna in owner.bl_rna.properties
        if not rna.is_readonly and rna.type != "COLLECTION" and rna.identifier not in left_out
    ]
    return {name: (readable(getattr(owner, name)), owner.is_property_set(name)) for name in names}


def differences(before: object, after: object, at: str = "") -> list[str]:
    """Where two states differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        return [
            line
            for name in sorted(before.keys() | after.keys(), key=str)
            for line in differences(before.get(name), after.get(name), f"{at}/{name}")
        ]
    return [] if same(before, after) else [f"{at}: {before} became {after}"]


def same(before: object, after: object) -> bool:
    """Whether values are equal; numbers up to what differs where a chain is solved before a frame and after it."""
    if isinstance(before, float) and isinstance(after, float):
        return before == after or abs(before - after) <= 1e-6
    if isinstance(before, tuple | Matrix | Vector) and type(before) is type(after) and len(before) == len(after):
        return all(same(a, b) for a, b in zip(before, after, strict=True))
    return before == after
