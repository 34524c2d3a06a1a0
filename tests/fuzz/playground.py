"""The file in which everything is tried: armatures to rig, controls, and strangers that nothing may touch."""

import bpy
from mathutils import Euler

from ..rig.rigs import BoneSpec, Control, make_chain, new_armature, new_empty, update
from ..scenes import enter, go_to

LAST_FRAME = 12
OWN_BONE = "hair"
"""A bone of the first armature that no edit and no chain takes: it has keys, a driver and a constraint of its own."""
STRANGERS = ("stranger", "prop")


def build(rigged: int) -> None:
    """The file at the start of every sequence. rigged: which of its limbs have chains already, 0 to 7; of some its hips
    follow the legs."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST_FRAME
    for name in STRANGERS:
        _stranger(name)
    body = new_armature("body", [*_body(), BoneSpec(OWN_BONE, (0.0, 0.4, 2.2), (0.0, 0.5, 2.6), "hips")])
    _own_bone(body)
    pet = new_armature("pet", _tail())
    pet.location, pet.rotation_euler = (2.0, 1.0, 0.3), Euler((0.2, 0.1, 0.9))
    for k, place in enumerate([(0.3, -0.4, 0.5), (-0.2, -0.3, 0.4), (2.4, 0.4, 1.2), (0.0, -2.0, 1.0)]):
        new_empty(f"goal {k}", place)
    _walk(bpy.data.objects["goal 0"])
    update()
    if rigged % 2:
        # A leg that walks, and one on a bone.
        _chain(body, "shin.L", 2, "goal 0")
        _chain(body, "shin.R", 2, "body", "control")
        body.pose.bones["hips"].analytic_ik_body_influence = 1.0 if rigged > 2 else 0.0
    if rigged // 2 % 2:
        _chain(pet, "tail 4", 4, "goal 2")
        _chain(body, "hand.L", 3, "goal 3")
    if rigged // 4:
        enter("POSE", body, "shin.L", "forearm.R")
        constraint = body.pose.bones["forearm.R"].constraints.new("IK")
        constraint.target, constraint.chain_count = bpy.data.objects["goal 1"], 2
    go_to(1)
    bpy.ops.ed.undo_push(message="start")


def _chain(ob: bpy.types.Object, tip: str, count: int, target: str, bone: str = "") -> None:
    make_chain(ob.pose.bones[tip], Control(bpy.data.objects[target], bone), chain_count=count)


def own_armatures() -> list[bpy.types.Object]:
    """The armatures that may be rigged and edited."""
    found = [ob for ob in bpy.data.objects if ob.type == "ARMATURE" and not is_stranger(ob)]
    return sorted(found, key=lambda ob: ob.name)


def goals() -> list[bpy.types.Object]:
    """The objects that may be controls, and may be edited."""
    found = [ob for ob in bpy.data.objects if ob.type == "EMPTY" and ob.users_collection and not is_stranger(ob)]
    return sorted(found, key=lambda ob: ob.name)


def own_bones(ob: bpy.types.Object) -> list[str]:
    """Names of the bones of an armature that may be edited."""
    return [bone.name for bone in ob.data.bones if not bone.name.startswith(OWN_BONE)]


def is_stranger(ob: bpy.types.Object) -> bool:
    """Whether nobody may touch an object."""
    return "stranger" in ob


def _body() -> list[BoneSpec]:
    bones = [
        BoneSpec("hips", (0.0, 0.3, 2.0), (0.0, 0.0, 2.0)),
        BoneSpec("spine", (0.0, 0.1, 2.0), (0.0, 0.1, 3.0), "hips"),
        BoneSpec("control", (0.5, -1.0, 0.5), (0.5, -0.7, 0.5)),
    ]
    for side, sign in (("L", 1.0), ("R", -1.0)):
        x = 0.3 * sign
        bones += [
            BoneSpec(f"thigh.{side}", (x, 0.0, 2.0), (x, -0.2, 1.0), "hips"),
            BoneSpec(f"shin.{side}", (x, -0.2, 1.0), (x, 0.0, 0.1), f"thigh.{side}", connect=True),
            BoneSpec(f"foot.{side}", (x, 0.0, 0.1), (x, -0.4, 0.0), f"shin.{side}", connect=True),
            BoneSpec(f"toe.{side}", (x, -0.4, 0.0), (x, -0.6, 0.0), f"foot.{side}", connect=True),
            BoneSpec(f"upper_arm.{side}", (x, 0.1, 2.9), (2.5 * x, 0.2, 2.5), "spine"),
            BoneSpec(f"forearm.{side}", (2.5 * x, 0.2, 2.5), (4.0 * x, 0.0, 2.2), f"upper_arm.{side}", connect=True),
            BoneSpec(f"hand.{side}", (4.0 * x, 0.0, 2.2), (4.6 * x, 0.0, 2.1), f"forearm.{side}", connect=True),
        ]
    return bones


def _tail() -> list[BoneSpec]:
    points = [(0.0, 0.0, 0.0), (0.0, 0.5, 0.2), (0.1, 0.9, 0.1), (0.0, 1.4, 0.3), (0.1, 1.8, 0.2), (0.0, 2.1, 0.0)]
    names = ["tail 0", "tail 1", "tail 2", "tail 3", "tail 4"]
    return [
        BoneSpec(name, points[k], points[k + 1], names[k - 1] if k else "", k > 0, 0.3 * k)
        for k, name in enumerate(names)
    ]


def _walk(ob: bpy.types.Object) -> None:
    for frame, location in ((1, (0.3, -0.6, 0.5)), (7, (0.4, 0.5, 0.3)), (LAST_FRAME, (0.3, -0.2, 0.8))):
        ob.location = location
        ob.keyframe_insert("location", frame=frame)


def _own_bone(body: bpy.types.Object) -> None:
    bone = body.pose.bones[OWN_BONE]
    bone.rotation_mode = "XYZ"
    bone["curl"] = 0.25
    for frame, angle in ((1, 0.0), (LAST_FRAME, 1.0)):
        bone.rotation_euler = (angle, 0.0, 0.0)
        bone.keyframe_insert("rotation_euler", frame=frame)
    constraint = bone.constraints.new("COPY_SCALE")
    constraint.target = bpy.data.objects["prop"]
    driver = bone.driver_add("location", 0).driver
    driver.expression = "frame * 0.01"
    body["tailor"] = "nobody"


def _stranger(name: str) -> None:
    if name == "prop":
        ob = new_empty(name, (5.0, 5.0, 5.0))
    else:
        ob = new_armature(
            name, [BoneSpec("arm", (0, 0, 0), (0, 0, 1)), BoneSpec("hand", (0, 0, 1), (0, 0.3, 1), "arm")]
        )
        arm = ob.pose.bones["hand"]
        arm.rotation_mode = "XYZ"
        arm["grip"] = 0.5
        constraint = arm.constraints.new("IK")
        constraint.target, constraint.chain_count = None, 2
        arm.driver_add("rotation_euler", 1).driver.expression = "frame * 0.02"
    ob["stranger"] = name
    for frame, height in ((1, 0.0), (LAST_FRAME, 1.5)):
        ob.location.z = height
        ob.keyframe_insert("location", index=2, frame=frame)
