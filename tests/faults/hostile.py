"""Scenes as no rigger means them: each is made by a function, saved, and opened again by whoever asks."""

import math
from collections.abc import Iterable

import bpy

from ..rig.rigs import BoneSpec, Rig, leg, make_chain, new_armature, new_empty, update
from ..scenes import slide, walking_leg

INFINITE = float("inf")
NAN = float("nan")


def raw(bone: bpy.types.PoseBone):
    """Where the add-on's properties of a bone are kept, without the ranges that Blender sees to."""
    if hasattr(bone, "bl_system_properties_get"):
        return bone.bl_system_properties_get(do_create=True)
    return bone


# Numbers out of every range


NUMBERS = {
    "chain_count": (-1, 2**31 - 1, -(2**31)),
    "influence": (NAN, INFINITE, -INFINITE, 1e38, -5.0),
    "softness": (NAN, INFINITE, 1e38, -3.0),
    "stretch_max": (NAN, INFINITE, 1e38, -3.0, 0.0),
    "swivel": (NAN, INFINITE, 1e38),
    "foot_roll": (NAN, INFINITE, 1e38),
    "toe_angle": (NAN, -1e30),
    "solver": (-1, 99, 2**31 - 1),
    "reach": (-1, 99),
    "straight_axis": (-7, 99),
    "cone": (NAN, -2.0, 1e38),
    "min_bend": (NAN, -2.0, 1e38),
    "record": ([NAN] * 9, [1e38] * 9),
    "record_rotation": ([NAN] * 4, [0.0, 1e38, 0.0, 0.0]),
    "record_fk_scale": ([NAN] * 3,),
    "record_solved_scale": ([INFINITE] * 3,),
}


def number(name: str, value: object) -> None:
    """A leg of which one setting is out of its range."""
    rig = walking_leg(use_rotation=True, reach="STRETCH", softness=0.1, foot_roll=0.2)
    for bone in ("thigh", "shin"):
        rig.ob.pose.bones[bone].analytic_ik_use_cone = True
        rig.ob.pose.bones[bone].analytic_ik_use_min_bend = name == "min_bend"
    raw(rig.tip)[f"analytic_ik_{name}"] = value


KINDS = ("text", 3.5, [1, 2, 3], {"a": 1})


def kind(name: str, value: object) -> None:
    """A leg of which one setting is of another kind than it should be."""
    rig = walking_leg()
    kept = raw(rig.tip)
    # What is there keeps its kind.
    if f"analytic_ik_{name}" in kept:
        del kept[f"analytic_ik_{name}"]
    kept[f"analytic_ik_{name}"] = value


def animated_numbers(value: float) -> None:
    """F-Curves whose keys are beyond every range."""
    rig = walking_leg()
    for name in ("influence", "softness", "stretch_max", "swivel", "chain_count", "solver", "enabled"):
        rig.tip.keyframe_insert(f"analytic_ik_{name}", frame=1)
        rig.tip.keyframe_insert(f"analytic_ik_{name}", frame=5)
    for curve in curves(rig.ob):
        for point in curve.keyframe_points:
            point.co.y = value


def curves(ob: bpy.types.Object) -> Iterable[bpy.types.FCurve]:
    from ..scenes import curves_of

    return curves_of(ob).values()


def broken_drivers() -> None:
    """Drivers of settings that are no Python, divide by nothing, or ask for what is gone."""
    rig = walking_leg()
    for name, expression in (
        ("influence", "(((("),
        ("softness", "1 / 0"),
        ("swivel", "nothing_of_this_name"),
        ("stretch_max", "float('nan')"),
        ("chain_count", "2 ** 400"),
    ):
        driver = rig.tip.driver_add(f"analytic_ik_{name}").driver
        driver.type, driver.expression = "SCRIPTED", expression
    driver = rig.target.ob.driver_add("location", 0).driver
    variable = driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = rig.ob, 'pose.bones["gone"].location[0]'
    driver.expression = "var * 1e300 * 1e300"


# Controls that are none


def wrong_target(what: str) -> None:
    rig = walking_leg()
    tip = rig.tip
    if what == "mesh":
        mesh = bpy.data.meshes.new("cube")
        tip.analytic_ik_target = bpy.data.objects.new("cube", mesh)
        bpy.context.scene.collection.objects.link(tip.analytic_ik_target)
        tip.analytic_ik_subtarget = "vertex group"
    elif what == "itself":
        tip.analytic_ik_target = rig.ob
    elif what == "its own tip":
        tip.analytic_ik_target, tip.analytic_ik_subtarget = rig.ob, "shin"
    elif what == "its own root":
        tip.analytic_ik_target, tip.analytic_ik_subtarget = rig.ob, "thigh"
    elif what == "its own child":
        rig.target.ob.parent, rig.target.ob.parent_type = rig.ob, "BONE"
        rig.target.ob.parent_bone = "foot"
    elif what == "nobody's bone":
        rig.target.ob.parent, rig.target.ob.parent_type = rig.ob, "BONE"
        rig.target.ob.parent_bone = "gone"
    elif what == "pole is the target":
        tip.analytic_ik_pole_target = rig.target.ob
    elif what == "camera":
        rig.tip.analytic_ik_target = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
        bpy.context.scene.collection.objects.link(tip.analytic_ik_target)


def missing_library() -> None:
    """A target that is linked from a library that is gone: Blender puts a placeholder there."""
    import os
    import tempfile

    new_empty("far target")
    library = os.path.join(tempfile.mkdtemp(), "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=library)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    rig = walking_leg()
    with bpy.data.libraries.load(library, link=True) as (_, linked):
        linked.objects = ["far target"]
    rig.tip.analytic_ik_target = bpy.data.objects["far target"]
    bpy.context.scene.collection.objects.link(bpy.data.objects["far target"])
    os.unlink(library)


def circle(length: int) -> None:
    """Chains of several armatures, the target of each of which rides on the tip of the one before."""
    rigs = [leg(f"leg {k}", float(k)) for k in range(length)]
    for k, rig in enumerate(rigs):
        rig.target.ob.parent, rig.target.ob.parent_type = rigs[k - 1].ob, "BONE"
        rig.target.ob.parent_bone = "foot"
        make_chain(rig.tip, rig.target, chain_count=2)
    update()


def armature_on_its_own_bone() -> None:
    """Two armatures each of which is parented to a bone of the other's: Blender cuts the circle somewhere."""
    rig, other = walking_leg(), walking_leg("other", 1.0)
    other.ob.parent, other.ob.parent_type, other.ob.parent_bone = rig.ob, "BONE", "foot"
    constraint = rig.ob.constraints.new("COPY_LOCATION")
    constraint.target, constraint.subtarget = other.ob, "foot"
    rig.tip.analytic_ik_target, rig.tip.analytic_ik_subtarget = other.ob, "foot"


# Names


NAMES = {
    "quotes": 'shin"\'"',
    "backslashes": "\\shin\\\\",
    "lines": "shin\nbelow\ttab",
    "braces": "{shin} {0} %s %(x)d $HOME `id`",
    "path": '"]["../../x',
    "letters": "голень 脚 ساق",
    "emoji": "🦵🏽 shin 👨‍👩‍👧",
    "long": "ж" * 40,
    "blank": " ",
    "right to left": "\u202eshin\u200b",
}


def named(name: str) -> None:
    """A leg of which armature, bones, target and action have such a name."""
    rig = leg()
    rig.enable()
    slide(rig.target.ob, (0.0, -0.6, 0.5), (0.2, 0.5, 0.3))
    for bone in ("thigh", "shin", "foot"):
        rig.ob.data.bones[bone].name = name
    for thing in (rig.ob, rig.target.ob, rig.ob.data, rig.target.ob.animation_data.action):
        thing.name = name


# Places and sizes


def placed(what: str) -> None:
    rig = walking_leg()
    ob, thigh = rig.ob, rig.ob.pose.bones["thigh"]
    target = rig.target.ob
    target.animation_data_clear()
    tiny, huge = 1e-30, 1e30
    {
        "object of no size": lambda: setattr(ob, "scale", (0.0, 0.0, 0.0)),
        "object of one flat side": lambda: setattr(ob, "scale", (1.0, 0.0, 1.0)),
        "object that is mirrored": lambda: setattr(ob, "scale", (-1.0, 2.0, -3.0)),
        "huge object": lambda: setattr(ob, "scale", (huge, huge, huge)),
        "tiny object": lambda: setattr(ob, "scale", (tiny, tiny, tiny)),
        "object without numbers": lambda: setattr(ob, "scale", (NAN, 1.0, 1.0)),
        "object nowhere": lambda: setattr(ob, "location", (NAN, INFINITE, 1.0)),
        "bone of no size": lambda: setattr(thigh, "scale", (0.0, 0.0, 0.0)),
        "huge bone": lambda: setattr(thigh, "scale", (huge, huge, huge)),
        "tiny bone": lambda: setattr(thigh, "scale", (tiny, tiny, tiny)),
        "bone without numbers": lambda: setattr(thigh, "scale", (NAN, NAN, NAN)),
        "bone turned without numbers": lambda: setattr(thigh, "rotation_quaternion", (NAN, 0.0, 0.0, 0.0)),
        "bone turned by nothing": lambda: setattr(thigh, "rotation_quaternion", (0.0, 0.0, 0.0, 0.0)),
        "target nowhere": lambda: setattr(target, "location", (NAN, NAN, NAN)),
        "target at no end": lambda: setattr(target, "location", (INFINITE, 0.0, 0.0)),
        "target far away": lambda: setattr(target, "location", (huge, huge, huge)),
        "target at the root": lambda: setattr(target, "location", (0.0, 0.0, 2.0)),
        "parent without numbers": lambda: setattr(rig.ob.pose.bones["hips"], "location", (NAN, 0.0, 0.0)),
        "keys without numbers": lambda: key_nowhere(rig),
    }[what]()
    update()


def key_nowhere(rig: Rig) -> None:
    slide(rig.target.ob, (0.0, -0.6, 0.5), (0.2, 0.5, 0.3))
    for curve in curves(rig.target.ob):
        for point in curve.keyframe_points:
            point.co.y = NAN
            point.handle_left.x = point.handle_right.y = INFINITE


def empty_armature() -> None:
    ob = bpy.data.objects.new("nothing", bpy.data.armatures.new("nothing"))
    bpy.context.scene.collection.objects.link(ob)


def without_length() -> None:
    """Bones that have become points, as edit mode would not leave them: their rest is scaled away."""
    rig = walking_leg()
    rig.ob.data.transform(__import__("mathutils").Matrix.Scale(0.0, 4))
    update()


# Many


def long_chain(count: int) -> None:
    """One chain of so many bones."""
    ob = new_armature(
        "rope",
        (
            BoneSpec(f"b{k}", (0.0, 0.1 * math.sin(k), 0.1 * k), (0.0, 0.1 * math.sin(k + 1), 0.1 * (k + 1)))
            if k == 0
            else BoneSpec(
                f"b{k}",
                (0.0, 0.1 * math.sin(k), 0.1 * k),
                (0.0, 0.1 * math.sin(k + 1), 0.1 * (k + 1)),
                f"b{k - 1}",
                True,
            )
            for k in range(count)
        ),
    )
    tip = ob.pose.bones[f"b{count - 1}"]
    tip.analytic_ik_target = new_empty("target", (1.0, 1.0, 1.0))
    slide(tip.analytic_ik_target, (1.0, 1.0, 1.0), (2.0, 2.0, 1.0))
    tip.analytic_ik_chain_count = 0
    tip.analytic_ik_enabled = True
    update()


def many_bones(count: int) -> None:
    """One small chain among many bones that hang below each other."""
    long_chain(count)
    tip = bpy.data.objects["rope"].pose.bones[f"b{count - 1}"]
    tip.analytic_ik_chain_count = 2
    update()


def many_chains(count: int) -> None:
    """So many chains of two bones on one armature."""
    specs = []
    for k in range(count):
        x = float(k)
        specs += [
            BoneSpec(f"thigh {k}", (x, 0.0, 2.0), (x, -0.2, 1.0)),
            BoneSpec(f"shin {k}", (x, -0.2, 1.0), (x, 0.0, 0.0), f"thigh {k}", True),
        ]
    ob = new_armature("legs", specs)
    for k in range(count):
        tip = ob.pose.bones[f"shin {k}"]
        tip.analytic_ik_target = new_empty(f"target {k}", (float(k), -0.3, 0.4))
        tip.analytic_ik_enabled = True
    update()


def deep_parents(depth: int) -> None:
    """A target that hangs below so many objects, each of which hangs below another."""
    rig = walking_leg()
    above = None
    for k in range(depth):
        ob = new_empty(f"parent {k}")
        ob.parent, above = above, ob
    rig.target.ob.parent = above
    update()


def many_keys(count: int) -> None:
    """A target with so many keys, and a setting as well."""
    rig = walking_leg()
    rig.tip.keyframe_insert("analytic_ik_influence", frame=1)
    for ob in (rig.target.ob, rig.ob):
        for curve in curves(ob):
            points = curve.keyframe_points
            points.add(count)
            frames = [value for k in range(len(points)) for value in (float(k), 0.5)]
            points.foreach_set("co", frames)
            curve.update()
