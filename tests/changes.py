"""What may happen to a rig: one catalog, which laws of live solving, bakes, reports and sampling go through.

Each change is made to the leg of `walking`, at once or on its way. What it does beyond what all do stands beside it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from math import pi

import bpy
from mathutils import Matrix, Quaternion, Vector

import ik_addon
from ik_addon.authoring import placing
from ik_addon.authoring.knees import limit_knees
from ik_addon.planting import lock
from ik_addon.rig.blender import animation
from ik_addon.rig.live import handlers as live

from .helpers.movers import drive, held_by, mover, turning
from .rig.joint_laws import set_range
from .rig.keys import fcurves, key, key_rotation, push_down
from .rig.rigs import BoneSpec, Control, Rig, add_bones, editing, leg, new_armature, new_empty, update
from .scenes import go_to, key_fk, second_chain, slide

AHEAD, AFTER, EVERY, VARIES = "Ahead of the Frame", "After the Frame", "Every Frame", ""
"""How a chain is solved live, as the panel says it."""
SAMPLED, APART, HERE, REFUSED = "sampled", "in a scene of its own", "in the user's scene", "refused"
"""How a bake sees frames."""
BAKED = {AHEAD: SAMPLED, AFTER: APART, EVERY: HERE, VARIES: SAMPLED}
"""How a bake sees frames where nothing else is said, by the way in which a chain is solved live."""
SMOOTH = [(0.0, -0.3, 0.4), (0.0, 0.6, 0.5), (0.0, -0.9, 0.8), (0.0, 0.2, 0.3)]


@dataclass(frozen=True)
class Change:
    """live, because: what the panel says of the chain, and a part of the reason. baked: how a bake sees the frames.
    moved: its bones are moved after it. drifts: a frame depends on those before it. keyed: its own bones have keys."""

    do: Callable[[Rig], None]
    live: str = AHEAD
    because: str = ""
    baked: str = ""
    moved: bool = False
    drifts: bool = False
    keyed: bool = False

    def __call__(self, rig: Rig) -> None:
        self.do(rig)

    def __str__(self) -> str:
        return self.do.__name__


CHANGES: dict[str, Change] = {}


def change(live: str = AHEAD, because: str = "", baked: str = "", **flags: bool) -> Callable:
    """Enter a function into the catalog; the fields of Change."""

    def enter(do: Callable[[Rig], None]) -> Change:
        CHANGES[do.__name__] = Change(do, live, because, baked or BAKED[live], **flags)
        return CHANGES[do.__name__]

    return enter


def walking(keyed: bool = False) -> Rig:
    """A live leg on its way, solved ahead: its target is parented to an Empty, its pole and its hips move too.

    keyed: its own bones and some of its settings have keys as well.
    """
    rig = leg()
    carrier = new_empty("carrier", (0.0, 0.0, 0.1))
    rig.target.ob.parent = carrier
    rig.pole = Control(new_empty("pole", (0.3, -3.0, 1.0)))
    key(rig.target.ob, "location", SMOOTH)
    key(rig.pole.ob, "location", [(0.3, -3.0, 1.0), (-0.8, -3.0, 1.5), (0.8, -3.0, 0.5), (0.0, -3.0, 1.0)])
    key(rig.ob.pose.bones["hips"], "location", [(0.0, 0.0, 0.0), (0.1, 0.0, 0.1), (-0.1, 0.05, 0.0), (0.0, 0.0, 0.1)])
    if keyed:
        # Near full extension single precision, in which chains are read whole, leaves more.
        rig.random.seed(5)
        fk_keyed(rig)
        key_rotation(rig.random, rig.tip)
        key(rig.tip, "analytic_ik_influence", [1.0, 0.6, 1.0, 0.8])
        key(rig.tip, "analytic_ik_swivel", [0.0, 0.5, -0.5, 0.2])
    rig.enable()
    go_to(1)
    return rig


def made(name: str) -> Rig:
    """The leg, changed from the start."""
    rig = walking(CHANGES[name].keyed)
    CHANGES[name](rig)
    update()
    go_to(1)
    return rig


def own_collection(ob: bpy.types.Object) -> bpy.types.LayerCollection:
    """Put an object into a collection of its own alone."""
    collection = bpy.data.collections.new(f"of {ob.name}")
    bpy.context.scene.collection.children.link(collection)
    for old in list(ob.users_collection):
        old.objects.unlink(ob)
    collection.objects.link(ob)
    return bpy.context.view_layer.layer_collection.children[collection.name]


def _into_another_scene(ob: bpy.types.Object) -> None:
    bpy.data.scenes.new("other").collection.objects.link(ob)
    bpy.context.scene.collection.objects.unlink(ob)


MEANS: dict[str, Callable[[bpy.types.Object], None]] = {
    "by the eye": lambda ob: ob.hide_set(True),
    "in viewports": lambda ob: setattr(ob, "hide_viewport", True),
    "in renders": lambda ob: setattr(ob, "hide_render", True),
    "its collection by the eye": lambda ob: setattr(own_collection(ob), "hide_viewport", True),
    "its collection in viewports": lambda ob: setattr(own_collection(ob).collection, "hide_viewport", True),
    "its collection in renders": lambda ob: setattr(own_collection(ob).collection, "hide_render", True),
    "its collection excluded": lambda ob: setattr(own_collection(ob), "exclude", True),
    "its collection a holdout": lambda ob: setattr(own_collection(ob), "holdout", True),
    "its collection indirect only": lambda ob: setattr(own_collection(ob), "indirect_only", True),
    "not selectable": lambda ob: setattr(ob, "hide_select", True),
    "shown as bounds": lambda ob: setattr(ob, "display_type", "BOUNDS"),
    "invisible to the camera": lambda ob: setattr(ob, "visible_camera", False),
}
"""By which an object is hidden."""
HIDDEN = {name: MEANS[name] for name in MEANS if "eye" in name or "viewports" in name or "excluded" in name}
HIDDEN["in another scene only"] = _into_another_scene
"""By which it is out of sight."""


def hide(ob: bpy.types.Object, how: str) -> None:
    HIDDEN[how](ob)
    update()


def still(rig: Rig) -> bpy.types.Object:
    """The target without keys."""
    rig.target.ob.animation_data_clear()
    rig.target.ob.location = SMOOTH[0]
    return rig.target.ob


def controlled_by(rig: Rig, target: Control, pole: Control | None = None) -> None:
    rig.target, rig.pole = target, pole or rig.pole
    rig.tip.analytic_ik_target, rig.tip.analytic_ik_subtarget = target.ob, target.bone
    if pole:
        rig.tip.analytic_ik_pole_target, rig.tip.analytic_ik_pole_subtarget = pole.ob, pole.bone


def cube(name: str) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)], [], [(0, 1, 3, 2)])
    ob = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(ob)
    return ob


# What a chain follows, and how its bones and settings are


@change()
def nothing(rig: Rig) -> None:
    """As it is."""


@change()
def muted_constraint(rig: Rig) -> None:
    constraint = rig.target.ob.constraints.new("LIMIT_LOCATION")
    constraint.use_min_x, constraint.min_x, constraint.mute = True, 0.7, True


@change()
def muted_driver(rig: Rig) -> None:
    curve = rig.target.ob.driver_add("delta_location", 0)
    curve.driver.expression, curve.mute = "frame * 0.02", True


@change()
def muted_nla_target(rig: Rig) -> None:
    push_down(rig.target.ob, mute=False)
    # If nothing moves it there is no track.
    for track in data.nla_tracks if (data := rig.target.ob.animation_data) else ():
        track.mute = True


@change()
def knee_limited(rig: Rig) -> None:
    limit_knees(bpy.context, [rig.tip], 0.05, 1.9)


@change(AFTER, "constraint")
def constrained_target(rig: Rig) -> None:
    rig.target.ob.constraints.new("LIMIT_LOCATION").use_min_x = True


@change(AFTER, "constraint")
def constrained_carrier(rig: Rig) -> None:
    constraint = rig.target.ob.parent.constraints.new("LIMIT_LOCATION")
    constraint.use_min_x, constraint.min_x = True, 0.2


@change(AFTER, "constraint")
def constrained_pole(rig: Rig) -> None:
    constraint = rig.pole.ob.constraints.new("LIMIT_LOCATION")
    constraint.use_max_x, constraint.max_x = True, 0.2


@change(AFTER, "constraint")
def constrained_hips(rig: Rig) -> None:
    constraint = rig.ob.pose.bones["hips"].constraints.new("LIMIT_LOCATION")
    constraint.use_max_x, constraint.max_x = True, 0.0


@change(AFTER, "driver")
def driven_target(rig: Rig) -> None:
    rig.target.ob.driver_add("delta_location", 0).driver.expression = "frame * 0.02"


@change(AFTER, "driver")
def driven_hips(rig: Rig) -> None:
    rig.ob.pose.bones["hips"].driver_add("scale", 0).driver.expression = "1.0"


@change(AFTER, "NLA")
def nla_target(rig: Rig) -> None:
    push_down(rig.target.ob, mute=False)


@change(AFTER, "NLA")
def nla_armature(rig: Rig) -> None:
    push_down(rig.ob, mute=False)


@change()
def target_on_a_bone(rig: Rig) -> None:
    other = new_armature("other", [BoneSpec("hold", (0.0, 0.0, 0.0), (0.0, 0.3, 0.0))])
    rig.target.ob.parent, rig.target.ob.parent_type, rig.target.ob.parent_bone = other, "BONE", "hold"


@change(AFTER, "rigid body", baked=HERE)
def target_rigid_body(rig: Rig) -> None:
    bpy.ops.rigidbody.world_add()
    bpy.context.view_layer.objects.active = bpy.data.objects["pole"]
    mesh = bpy.data.objects.new("ball", bpy.data.meshes.new("ball"))
    bpy.context.scene.collection.objects.link(mesh)
    bpy.context.view_layer.objects.active = mesh
    bpy.ops.rigidbody.object_add()
    mesh.rigid_body.kinematic = True
    controlled_by(rig, Control(mesh))
    mesh.location = (0.0, 0.3, 0.5)


@change()
def thigh_limited(rig: Rig) -> None:
    thigh = rig.ob.pose.bones[rig.bones[0]]
    thigh.use_ik_limit_x, thigh.ik_min_x, thigh.ik_max_x = True, -pi / 2.0, pi / 2.0


@change()
def knee_through_straight(rig: Rig) -> None:
    rig.tip.lock_ik_y = rig.tip.lock_ik_z = rig.tip.use_ik_limit_x = True
    rig.tip.ik_min_x, rig.tip.ik_max_x = -1.5, 1.5


@change(EVERY, "its joint limits allow several poses that are as good")
def thigh_barred(rig: Rig) -> None:
    """It cannot aim the leg at its target."""
    thigh = rig.ob.pose.bones[rig.bones[0]]
    for axis in "xz":
        set_range(thigh, axis, 0.0, 0.01)


@change(EVERY, "ik_max_x")
def knee_keyed(rig: Rig) -> None:
    knee_limited(rig)
    key(rig.tip, "ik_max_x", [1.9, 1.5, 2.0, 0.8])


@change()
def fk_keyed(rig: Rig) -> None:
    key_rotation(rig.random, rig.ob.pose.bones["thigh"])


@change(EVERY, "scaled unevenly")
def scales_keyed(rig: Rig) -> None:
    """Some of those of bones that the chain scales, with a target in and out of its reach."""
    rig.tip.analytic_ik_reach, rig.tip.analytic_ik_stretch_max = "STRETCH", 2.0
    key(rig.target.ob, "location", [(0.0, -0.3, 0.4), (0.0, 1.2, -0.2), (0.0, -0.9, 0.8), (0.0, -1.5, -0.1)])
    for name, index in (("foot", 1), ("thigh", 0)):
        bone = rig.ob.pose.bones[name]
        bone.scale = (0.9, 1.1, 1.2)
        key(bone, "scale", [1.0, 1.3, 0.8, 1.2], index=index)


@change()
def foot_constrained(rig: Rig) -> None:
    constraint = held_by(rig.ob.pose.bones["foot"], new_empty("toe", (0.0, -3.0, 1.0)), "DAMPED_TRACK")
    key(constraint, "influence", [0.0, 1.0, 0.2, 0.8])


@change(EVERY, "swivel")
def swivel_driven(rig: Rig) -> None:
    rig.tip.driver_add("analytic_ik_swivel").driver.expression = "frame * 0.1"


@change(EVERY, "it moves with another chain, or moves one")
def below_another(rig: Rig) -> None:
    second_chain(rig, "foot", 1)


@change(EVERY, "not parented to the chain", baked=REFUSED)
def in_a_circle(rig: Rig) -> None:
    rig.tip.analytic_ik_target, rig.tip.analytic_ik_subtarget = rig.ob, "foot"


# What changes on the way


@change()
def key_moved(rig: Rig) -> None:
    fcurves(rig.target.ob)[1].keyframe_points[2].co.y = 0.4


@change()
def key_added(rig: Rig) -> None:
    rig.target.ob.location = (0.2, -0.2, 0.6)
    rig.target.ob.keyframe_insert("location", frame=10)


@change()
def curve_muted(rig: Rig) -> None:
    fcurves(rig.target.ob)[1].mute = True


@change()
def curve_removed(rig: Rig) -> None:
    rig.target.ob.keyframe_delete("location", index=1, frame=9)
    rig.target.ob.keyframe_delete("location", index=1, frame=5)


@change()
def extrapolated(rig: Rig) -> None:
    for curve in fcurves(rig.target.ob)[1:2]:
        curve.extrapolation = "LINEAR"


@change()
def noisy(rig: Rig) -> None:
    modifier = fcurves(rig.target.ob)[1].modifiers.new("NOISE")
    modifier.strength = 0.3


@change()
def action_swapped(rig: Rig) -> None:
    old = rig.target.ob.animation_data.action
    rig.target.ob.animation_data.action = None
    key(rig.target.ob, "location", [(0.2, *place[1:]) for place in reversed(SMOOTH)])
    assert rig.target.ob.animation_data.action != old


@change()
def action_taken_off(rig: Rig) -> None:
    rig.target.ob.animation_data_clear()


@change()
def target_carried_otherwise(rig: Rig) -> None:
    rig.target.ob.parent = new_empty("other carrier", (0.2, 0.1, 0.0))


@change(EVERY, "Bone 'shin': there is no target", baked=REFUSED)
def target_deleted(rig: Rig) -> None:
    bpy.data.objects.remove(rig.target.ob)


@change()
def pole_deleted(rig: Rig) -> None:
    bpy.data.objects.remove(rig.pole.ob)
    rig.pole = None


@change()
def carrier_deleted(rig: Rig) -> None:
    bpy.data.objects.remove(rig.target.ob.parent)


@change(EVERY, "its target 'leg target' was deleted", baked=REFUSED)
def target_unlinked(rig: Rig) -> None:
    bpy.context.scene.collection.objects.unlink(rig.target.ob)


@change()
def target_hidden(rig: Rig) -> None:
    rig.target.ob.hide_set(True)


@change()
def tip_renamed(rig: Rig) -> None:
    rig.tip.name = rig.bones[-1] = "calf"


@change()
def tip_and_foot_swap_names(rig: Rig) -> None:
    for old, new in (("foot", "other"), ("thigh", "foot"), ("other", "thigh")):
        rig.ob.data.bones[old].name = new
    rig.bones[0] = "foot"


@change()
def rest_edited(rig: Rig) -> None:
    with editing(rig.ob) as bones:
        bones["shin"].head.y = -0.4


@change()
def bone_moved_among_others(rig: Rig) -> None:
    """As many bones as before, but in another order."""
    with editing(rig.ob) as bones:
        bones.remove(bones["foot"])
        bones["hips"].name = "waist"
        other = bones.new("hips")
        other.head, other.tail = bones["waist"].head, bones["waist"].tail
        bones["thigh"].parent = other
        bones["thigh"].use_connect = False
        bones.remove(bones["waist"])
        bones.new("spare").tail = (0.0, 0.0, 1.0)


@change()
def hinge(rig: Rig) -> None:
    rig.tip.lock_ik_y = rig.tip.lock_ik_z = True


@change()
def knee_set(rig: Rig) -> None:
    limit_knees(bpy.context, [rig.tip], 0.05, 0.9)


@change()
def knee_narrowed(rig: Rig) -> None:
    limit_knees(bpy.context, [rig.tip], 0.05, 1.9)
    update()
    go_to(7)
    go_to(8)
    rig.tip.ik_max_x = 0.3


@change(EVERY, "its joint limits allow several poses that are as good")
def limit_switched_on(rig: Rig) -> None:
    rig.tip.ik_min_x, rig.tip.ik_max_x = 0.0, 0.8
    update()
    go_to(7)
    go_to(8)
    rig.tip.use_ik_limit_x = True


@change(EVERY, "it moves with another chain, or moves one")
def second_chain_added(rig: Rig) -> None:
    second_chain(rig, "hips", 1)


@change()
def duplicated(rig: Rig) -> None:
    other = rig.ob.copy()
    other.data = rig.ob.data.copy()
    other.name = "copy"
    bpy.context.scene.collection.objects.link(other)


@change(AFTER, "'leg target' has the constraint 'Limit Location'")
def constraint_unmuted(rig: Rig) -> None:
    muted_constraint(rig)
    update()
    go_to(6)
    rig.target.ob.constraints[0].mute = False


@change()
def registered_again(rig: Rig) -> None:
    ik_addon.unregister()
    ik_addon.register()


@change()
def handlers_registered_again(rig: Rig) -> None:
    live.unregister()
    go_to(5)
    live.register()


@change()
def out_of_reach(rig: Rig) -> None:
    fcurves(rig.target.ob)[2].keyframe_points[1].co.y = -0.9


@change()
def held_out_of_reach(rig: Rig) -> None:
    rig.tip.analytic_ik_reach, rig.tip.analytic_ik_influence = "HOLD", 0.8
    out_of_reach(rig)


@change()
def three_bones(rig: Rig) -> None:
    rig.tip.analytic_ik_enabled = False
    rig.bones.append("foot")
    rig.enable()


@change(EVERY, "bone 'thigh' has animation or a driver on its rotation_mode")
def rotation_mode_keyed(rig: Rig) -> None:
    rig.ob.pose.bones["thigh"].keyframe_insert("rotation_mode", frame=1)


@change(EVERY, "bone 'thigh' has animation or a driver on its rotation_quaternion", baked=REFUSED)
def driven_thigh(rig: Rig) -> None:
    rig.ob.pose.bones["thigh"].driver_add("rotation_quaternion", 1)


@change(EVERY, "it moves what it follows", drifts=True)
def moving_its_own_target(rig: Rig) -> None:
    copy = held_by(rig.target.ob, rig.ob, bone="foot")
    copy.use_offset, copy.influence = True, 0.1


@change()
def a_carrier_that_turns(rig: Rig) -> None:
    rig.target.ob.parent = turning()


@change()
def hips_and_an_armature_that_turn(rig: Rig) -> None:
    rig.ob.parent = turning()
    slide(rig.ob, (0.0, 0.0, 0.0), (0.0, 0.1, 0.1))
    hips = rig.ob.pose.bones["hips"]
    for frame, angle in ((1, 1.0), (12, 0.95)):
        hips.rotation_quaternion = (angle, 0.2, 0.1, 0.0)
        hips.keyframe_insert("rotation_quaternion", frame=frame)


@change()
def a_bone_of_the_armature_as_target(rig: Rig) -> None:
    root = BoneSpec("root", (0.0, 0.0, 0.0), (0.0, 0.5, 0.0))
    add_bones(rig.ob, root, BoneSpec("goal", (0.0, -0.3, 0.4), (0.0, 0.2, 0.4), "root", roll=0.3))
    for frame, place in ((1, (0.0, 0.0, 0.0)), (12, (0.1, 0.6, -0.3))):
        for name, part in (("goal", 1.0), ("root", -0.3)):
            rig.ob.pose.bones[name].location = Vector(place) * part
            rig.ob.pose.bones[name].keyframe_insert("location", frame=frame)
    controlled_by(rig, Control(rig.ob, "goal"))


# What only Blender can evaluate, in any scene


@change(AFTER, "'leg target' has the constraint 'Copy Location'")
def a_target_held_by_another(rig: Rig) -> None:
    held_by(rig.target.ob, mover())


@change(AFTER, "'carrier' has the constraint 'Copy Transforms'")
def a_carrier_held_by_another(rig: Rig) -> None:
    held_by(rig.target.ob.parent, turning(), "COPY_TRANSFORMS")


@change(AFTER, "a driver sets the location of 'leg target'")
def a_target_driven_by_another_object(rig: Rig) -> None:
    drive(still(rig), "location", 1, "2 * v - 0.6", id=mover(), data_path="location.x")


@change(AFTER, "bone 'goal' has the constraint 'Copy Location'")
def a_constrained_control_bone_of_the_armature(rig: Rig) -> None:
    add_bones(rig.ob, BoneSpec("goal", (0.0, -0.3, 0.4), (0.0, 0.2, 0.4)))
    held_by(rig.ob.pose.bones["goal"], mover())
    controlled_by(rig, Control(rig.ob, "goal"))


@change(AFTER, "bone 'goal' has the constraint 'Copy Location'")
def a_constrained_control_bone_of_another_armature(rig: Rig) -> None:
    specs = [BoneSpec(name, (x, 0.0, 0.0), (x, 0.3, 0.0)) for name, x in (("first", 1.0), ("goal", 0.0), ("last", 2.0))]
    controls = new_armature("controls", specs)
    controls.location, rig.ob.rotation_euler = (0.5, 0.2, -0.3), (0.1, -0.1, 0.2)
    held_by(controls.pose.bones["goal"], mover())
    controlled_by(rig, Control(controls, "goal"))


@change(AFTER, "bone 'goal' has the constraint 'Copy Location'")
def a_pole_bone_and_a_target_bone(rig: Rig) -> None:
    """Both are bones of another armature, neither is its first."""
    specs = [BoneSpec(name, (x, 0.0, 0.0), (x, 0.3, 0.0)) for name, x in (("a", 1.0), ("goal", 0.0), ("pole", 0.0))]
    controls = new_armature("controls", specs)
    held_by(controls.pose.bones["goal"], mover())
    held_by(controls.pose.bones["pole"], mover("leader", (2.0, -1.0, 1.0), (-1.0, -2.0, 1.0)))
    controlled_by(rig, Control(controls, "goal"), Control(controls, "pole"))


@change(AFTER, "'boneless' has the constraint 'Copy Location'")
def an_armature_without_bones_as_target(rig: Rig) -> None:
    held_by(boneless := new_armature("boneless", []), mover())
    controlled_by(rig, Control(boneless))


@change(AFTER, "'leg target' has the constraint 'Copy Rotation'")
def a_foot_that_follows_a_constrained_target(rig: Rig) -> None:
    held_by(rig.target.ob, turning(), "COPY_ROTATION")
    rig.tip.analytic_ik_use_rotation = True


@change(AFTER, "bone 'hips' has the constraint 'Copy Rotation'")
def hips_that_copy_a_rotation(rig: Rig) -> None:
    held_by(rig.ob.pose.bones["hips"], turning(), "COPY_ROTATION").influence = 0.2


@change(AFTER, "'pole' has the constraint 'Copy Location'")
def a_pole_held_by_another(rig: Rig) -> None:
    held_by(rig.pole.ob, mover("leader", (2.0, -1.0, 1.0), (-1.0, -2.0, 1.0)))


@change(AFTER, "'own carrier' has the constraint 'Copy Transforms'")
def an_armature_on_a_constrained_object(rig: Rig) -> None:
    rig.ob.parent = new_empty("own carrier")
    held_by(rig.ob.parent, turning(), "COPY_TRANSFORMS")


@change()
def a_target_on_a_turning_bone_of_another_armature(rig: Rig) -> None:
    target_on_a_bone(rig)
    key(
        bpy.data.objects["other"].pose.bones["hold"],
        "rotation_quaternion",
        [(1.0, 0.1 * k, 0.0, 0.0) for k in range(4)],
    )


@change(AFTER, "'leg target' has the constraint 'Follow Path'")
def a_target_that_follows_a_path(rig: Rig) -> None:
    curve = bpy.data.curves.new("path", "CURVE")
    curve.dimensions, curve.use_path, curve.path_duration = "3D", True, 20
    spline = curve.splines.new("POLY")
    spline.points.add(1)
    spline.points[0].co, spline.points[1].co = (0.0, -0.6, 0.5, 1.0), (0.2, 0.9, 0.3, 1.0)
    path = bpy.data.objects.new("path", curve)
    bpy.context.scene.collection.objects.link(path)
    still(rig).location = (0.0, 0.0, 0.0)
    rig.target.ob.constraints.new("FOLLOW_PATH").target = path
    for frame in (0, 20):
        curve.eval_time = frame
        curve.keyframe_insert("eval_time", frame=frame)


# What plays only where it is


@change(AFTER, "a driver sets the location of 'leg target'", baked=HERE)
def a_target_driven_by_a_function(rig: Rig) -> None:
    bpy.app.driver_namespace["height_at"] = lambda frame: 0.2 + 0.05 * frame
    drive(still(rig), "location", 2, "height_at(frame)")


@change(AFTER, "a driver sets the location of 'carrier'", baked=HERE)
def a_parent_driven_by_the_scenes_frame(rig: Rig) -> None:
    own = {"id_type": "SCENE", "id": bpy.context.scene, "data_path": "frame_current"}
    drive(rig.target.ob.parent, "location", 1, "0.05 * v", **own)


@change(AFTER, "a driver sets the location of 'leg target'", baked=HERE)
def a_target_driven_by_a_property_of_the_scene(rig: Rig) -> None:
    scene = bpy.context.scene
    for frame, height in ((1, 0.2), (12, 0.9)):
        scene["height"] = height
        scene.keyframe_insert('["height"]', frame=frame)
    drive(still(rig), "location", 2, "v", id_type="SCENE", id=scene, data_path='["height"]')


@change(AFTER, "a driver sets the location of 'leg target'", baked=HERE)
def a_target_driven_by_the_context(rig: Rig) -> None:
    bpy.context.scene["height"] = 0.7
    # Where the scene has no such property, the driver fails.
    variable = {"type": "CONTEXT_PROP", "context_property": "ACTIVE_SCENE", "data_path": '["height"]'}
    drive(still(rig), "location", 2, "v + 0.01 * frame", **variable)


@change(AFTER, "'leg target' has the constraint 'Copy Location'", baked=HERE)
def an_influence_driven_by_a_function(rig: Rig) -> None:
    bpy.app.driver_namespace["part_at"] = lambda frame: frame / 12.0
    drive(held_by(rig.target.ob, mover()), "influence", -1, "part_at(frame)")


@change(baked=HERE)
def a_foreign_handler(rig: Rig) -> None:
    name = still(rig).name

    def moves_the_target(scene, _):
        if name in bpy.data.objects:
            bpy.data.objects[name].location.z = 0.2 + 0.05 * scene.frame_current

    bpy.app.handlers.frame_change_pre.append(moves_the_target)


@change(AFTER, "'body' is a rigid body", baked=HERE, drifts=True)
def a_falling_body(rig: Rig) -> None:
    body = cube("body")
    body.location = (0.0, -0.3, 1.2)
    bpy.ops.rigidbody.world_add()
    bpy.context.scene.rigidbody_world.collection = bpy.data.collections.new("bodies")
    bpy.context.scene.rigidbody_world.collection.objects.link(body)
    update()
    assert body.rigid_body is not None
    controlled_by(rig, Control(body))


@change(AFTER, "a driver sets the location of 'leg target'", baked=HERE)
def a_hidden_target_driven_by_the_scenes_frame(rig: Rig) -> None:
    still(rig).hide_viewport = True
    own = {"id_type": "SCENE", "id": bpy.context.scene, "data_path": "frame_current"}
    drive(rig.target.ob, "location", 1, "0.05 * v", **own)


@change(AFTER, "'leg target' has the constraint 'Copy Location'", baked=HERE, drifts=True)
def a_target_on_a_simulated_mesh(rig: Rig) -> None:
    mesh = cube("cloth")
    mesh.modifiers.new("Cloth", "CLOTH")
    mesh.vertex_groups.new(name="all").add(range(8), 1.0, "REPLACE")
    mesh.location = (0.0, -0.3, 0.6)
    bpy.context.scene.gravity = (0.0, 0.0, 1.0)
    still(rig).location = (0.0, 0.0, 0.0)
    held_by(rig.target.ob, mesh, bone="all")


@change(AFTER, "'cloth' has the constraint 'Copy Location'", baked=HERE)
def a_constrained_target_that_is_itself_simulated(rig: Rig) -> None:
    cloth = cube("cloth")
    cloth.modifiers.new("Cloth", "CLOTH")
    held_by(cloth, mover())
    controlled_by(rig, Control(cloth))


@change(AFTER, "'leg target' has the constraint 'Copy Location'", baked=HERE)
def a_target_on_a_mesh_that_the_scene_simplifies(rig: Rig) -> None:
    mesh, render = cube("rounded"), bpy.context.scene.render
    render.use_simplify, render.simplify_subdivision = True, 0
    mesh.data.clear_geometry()
    corners = [(-0.5, -0.5, 0.5), (0.5, -0.5, 0.5), (0.5, 0.5, 0.2), (-0.5, 0.5, 0.9)]
    mesh.data.from_pydata(corners, [], [(0, 1, 2, 3)])
    mesh.modifiers.new("Subdivision", "SUBSURF").levels = 3
    mesh.vertex_groups.new(name="edge").add([0, 1], 1.0, "REPLACE")
    slide(mesh, (0.0, -0.4, 0.2), (0.1, 0.3, 0.0))
    held_by(rig.target.ob, mesh, bone="edge")


@change(AFTER, "'leg target' has the constraint 'Camera Solver'", baked=HERE)
def a_constraint_that_looks_at_the_camera(rig: Rig) -> None:
    rig.target.ob.constraints.new("CAMERA_SOLVER")


# What happens beside it


@change()
def an_object_added(rig: Rig) -> None:
    new_empty("another")


@change()
def all_tagged(rig: Rig) -> None:
    rig.ob.update_tag()
    rig.ob.data.update_tag()


@change()
def to_edit_mode_and_back(rig: Rig) -> None:
    with editing(rig.ob):
        pass


@change()
def armature_carried(rig: Rig) -> None:
    rig.ob.parent = new_empty("own carrier", (0.0, 0.0, 0.2))


# What moves a leg after its chain


@change(baked=HERE, moved=True)
def the_rotation_of_its_shin_is_copied(rig: Rig) -> None:
    held_by(rig.tip, turning(), "COPY_ROTATION").influence = 0.4


@change(baked=HERE, moved=True)
def the_rotation_of_its_shin_is_limited(rig: Rig) -> None:
    limit = rig.tip.constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.min_x, limit.max_x, limit.owner_space = True, 0.0, 0.3, "LOCAL"


@change(baked=HERE, moved=True)
def its_shin_looks_at_something(rig: Rig) -> None:
    held_by(rig.tip, new_empty("looked at", (0.5, -2.0, 0.0)), "DAMPED_TRACK")


@change(baked=HERE, moved=True)
def the_transforms_of_its_thigh_are_copied(rig: Rig) -> None:
    held_by(rig.ob.pose.bones["thigh"], turning(), "COPY_TRANSFORMS").influence = 0.3


@change(baked=HERE, moved=True)
def a_constraint_that_begins_later(rig: Rig) -> None:
    constraint = held_by(rig.tip, new_empty("looked at", (0.5, -2.0, 0.0)), "DAMPED_TRACK")
    for frame, influence in ((1, 0.0), (6, 0.0), (12, 0.8)):
        constraint.influence = influence
        constraint.keyframe_insert("influence", frame=frame)


@change(baked=HERE, moved=True)
def a_constraint_that_is_muted_at_first(rig: Rig) -> None:
    constraint = held_by(rig.tip, new_empty("looked at", (0.5, -2.0, 0.0)), "DAMPED_TRACK")
    for frame in range(1, 13):
        constraint.mute = frame < 9
        constraint.keyframe_insert("mute", frame=frame)


@change(baked=HERE, moved=True)
def blenders_own_ik_on_its_foot(rig: Rig) -> None:
    constraint = held_by(rig.ob.pose.bones["foot"], new_empty("pulled to", (0.4, -0.5, 0.6)), "IK")
    constraint.chain_count = 3
    for frame, influence in ((1, 0.0), (6, 0.0), (12, 1.0)):
        constraint.influence = influence
        constraint.keyframe_insert("influence", frame=frame)


@change(EVERY, "it moves what it follows", drifts=True, moved=True)
def hips_that_follow_the_foot_a_bit(rig: Rig) -> None:
    held_by(rig.ob.pose.bones["hips"], rig.ob, bone="foot").influence = 0.1


@change(EVERY, "it moves what it follows", drifts=True, moved=True)
def a_target_that_follows_the_foot_a_bit(rig: Rig) -> None:
    held_by(rig.target.ob, rig.ob, bone="foot").influence = 0.3


@change(baked=HERE, moved=True)
def moved_bones_that_have_keys(rig: Rig) -> None:
    the_rotation_of_its_shin_is_copied(rig)
    key_fk(rig)


@change(baked=HERE, moved=True)
def a_moved_chain_that_stretches(rig: Rig) -> None:
    rig.tip.analytic_ik_reach = "STRETCH"
    slide(rig.target.ob, (0.0, -0.6, 0.5), (0.2, 0.5, -0.4))
    held_by(rig.tip, new_empty("looked at", (0.5, -2.0, 0.0)), "DAMPED_TRACK").influence = 0.5


@change()
def object_carried(rig: Rig) -> None:
    rig.ob.parent = bpy.data.objects["carrier"]
    key(rig.ob.parent, "rotation_euler", [(0.0, 0.0, 0.0), (0.5, 0.0, 0.3), (0.0, -0.5, 1.0), (0.0, 0.0, 0.0)])


@change(AFTER, "constraint")
def locked(rig: Rig) -> None:
    """Its target keeps to a prop over some of the frames, by *Lock to Object*; the prop is animated last."""
    prop = new_empty("prop", (0.2, -0.2, 0.3))
    update()
    lock(bpy.context, [rig.tip], placing.Control(prop), range(4, 12), blend=0.1)
    key(prop, "location", [(0.2, -0.2, 0.3), (0.3, -0.3, 0.4), (0.1, 0.0, 0.3), (0.2, -0.2, 0.3)])
    key(prop, "rotation_euler", [(0.0, 0.0, 0.0), (0.3, 0.0, 0.2), (0.0, -0.3, 0.5), (0.0, 0.0, 0.0)])


@change(VARIES, baked=REFUSED)
def target_nowhere_at_one_frame(rig: Rig) -> None:
    fcurves(rig.target.ob)[0].keyframe_points[1].co.y = float("nan")


# What is set


def sets(which: str, of: str, /, live: str = AHEAD, because: str = "", baked: str = "", keyed: bool = False, **values):
    """Enter a change that sets properties. of: whose, as `_owner` reads it."""

    change(live, because, baked, keyed=keyed)(setting(of, which, **values))


def setting(of: str, which: str = "", /, **values: object) -> Callable[[Rig], Rig]:
    """Sets properties of something of a leg, as `_owner` reads it; which: how that is called."""

    def do(rig: Rig) -> Rig:
        for name, value in values.items():
            setattr(_owner(rig, of), name, value)
        return rig

    do.__name__ = which or " ".join(values)
    return do


def keys(which: str, of: str, path: str, values: list, live: str = AHEAD, because: str = "", baked: str = "") -> None:
    """Enter a change that keys a property."""

    def do(rig: Rig) -> None:
        key(_owner(rig, of), path, values)

    do.__name__ = which
    change(live, because, baked)(do)


def _owner(rig: Rig, of: str) -> bpy.types.bpy_struct:
    """What a chain of attributes leads to; it begins with a bone of the leg, or with one of these."""
    first, *attributes = of.split(".")
    match first:
        case "tip" | "ob":
            owner = getattr(rig, first)
        case "target":
            owner = rig.target.ob
        case "carrier":
            owner = rig.target.ob.parent
        case "scene":
            owner = bpy.context.scene
        case bone:
            owner = rig.ob.pose.bones[bone]
    return reduce(getattr, attributes, owner)


sets("blended_action", "target.animation_data", AFTER, "blended", action_influence=0.5)
sets("added_action", "target.animation_data", AFTER, "blended", action_blend_type="ADD")
sets("remapped", "scene.render", AFTER, "remapped", frame_map_new=200)
sets("stretching", "tip", analytic_ik_reach="STRETCH")
sets("rolling", "tip", analytic_ik_use_rotation=True, analytic_ik_foot_roll=0.3)
sets("limited", "tip", use_ik_limit_x=True, ik_min_x=0.0, ik_max_x=2.0)
sets("coned", "tip", analytic_ik_use_cone=True, analytic_ik_cone=2.0)
sets(
    "without_inheritance",
    "thigh.bone",
    EVERY,
    "does not inherit all of its parent's motion",
    use_inherit_rotation=False,
)
sets("without_inherited_scale", "thigh.bone", EVERY, "inherit", inherit_scale="NONE")
sets("without_local_location", "thigh.bone", EVERY, "inherit", use_local_location=False)
sets("with_relative_parent", "thigh.bone", EVERY, "inherit", use_relative_parent=True)
sets("unevenly_scaled", "thigh", EVERY, "its bones, or those above, are scaled unevenly", scale=(1.2, 1.0, 0.8))
sets("without_target", "tip", EVERY, "Bone 'shin': there is no target", baked=REFUSED, analytic_ik_target=None)
sets("target_moved_by_script", "carrier", location=(0.3, 0.1, 0.0))
sets("target_turned_by_script", "carrier", rotation_euler=(0.3, 0.1, 0.4))
sets("target_delta", "target", delta_location=(0.3, 0.1, 0.0))
sets("target_orphaned", "target", parent=None)
sets("parent_inverse", "target", matrix_parent_inverse=Matrix.Translation((0.2, 0.1, 0.0)))
sets("target_renamed", "target", name="renamed")
sets("armature_renamed", "ob", name="renamed")
sets("hips_renamed", "hips", name="pelvis")
sets("location_by_hand", "thigh", location=(0.1, 0.1, 0.0))
sets("scale_by_hand", "thigh", scale=(1.2, 1.2, 1.2))
sets("hips_by_hand", "hips", rotation_quaternion=Quaternion((1.0, 0.0, 0.0), 0.2))
sets("hips_scaled", "hips", scale=(1.2, 1.2, 1.2))
sets("hips_follow", "hips", analytic_ik_body_influence=1.0)
sets(
    "hips_turn",
    "hips",
    EVERY,
    "it moves with bone 'hips', which follows its limbs",
    analytic_ik_body_influence=1.0,
    analytic_ik_body_turn=1.0,
)
sets("object_moved", "ob", location=(0.1, 0.1, 0.1))
sets(
    "limit_set",
    "tip",
    EVERY,
    "its joint limits allow several poses that are as good",
    use_ik_limit_x=True,
    ik_min_x=0.0,
    ik_max_x=0.8,
)
sets("cone_set", "shin", analytic_ik_use_cone=True, analytic_ik_cone=0.6)
sets("mode_changed", "thigh", rotation_mode="ZYX")
sets("mode_changed_to_axis_angle", "shin", rotation_mode="AXIS_ANGLE")
sets("chain_removed", "tip", VARIES, analytic_ik_enabled=False)
sets("in_rest", "ob.data", VARIES, baked=REFUSED, pose_position="REST")
sets("blending", "tip", analytic_ik_use_rotation=True, analytic_ik_influence=0.5)
sets("soft", "tip", analytic_ik_softness=0.4)
sets("mirrored_and_uneven", "ob", scale=(-1.5, 0.7, 1.2))
sets("target_disabled", "target", hide_viewport=True)
sets("influence_set", "tip", analytic_ik_influence=0.5)
sets("swivel_set", "tip", analytic_ik_swivel=0.6)
sets("flip_set", "tip", analytic_ik_flip=True)
sets("softness_set", "tip", analytic_ik_softness=0.3)
sets("chain_count_set", "tip", analytic_ik_chain_count=1)
sets("solver_set", "tip", analytic_ik_solver="CIRCLE")
sets("pole_target_set", "tip", analytic_ik_pole_target=None)
sets("least_motion_set", "tip", analytic_ik_least_motion=True)
sets("reach_set", "tip", analytic_ik_reach="HOLD")
sets("use_rotation_set", "tip", analytic_ik_use_rotation=True)
sets("straight_axis_set", "tip", analytic_ik_straight_axis="Z")
sets("own_action_cleared", "ob.animation_data", keyed=True, action=None)
sets("switched_off", "tip", VARIES, keyed=True, analytic_ik_enabled=False)
even, uneven, mirrored, none = [1.0] * 3, [1.3, 1.0, 0.8], [-1.0, 1.0, 1.0], [0.0] * 3
keys("scaled_unevenly_at_some_frames", "hips", "scale", [even, even, uneven, even], VARIES, baked=HERE)
keys("scaled_evenly", "hips", "scale", [even, [1.3] * 3, [0.8] * 3, even])
keys("mirrored_at_some_frames", "hips", "scale", [even, even, mirrored, even], VARIES, baked=HERE)
keys("object_scaled", "ob", "scale", [even, (1.3, 0.8, 1.0), (-1.0, 1.2, 0.7), [2.0] * 3])
keys("object_of_no_size_at_one_frame", "ob", "scale", [even, none, even, even], VARIES, baked=REFUSED)
keys("location_keyed", "thigh", "location", [(0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1)])
keys("influence_keyed", "tip", "analytic_ik_influence", [0.0, 1.0, 0.3, 1.0])
keys("switch_keyed", "tip", "analytic_ik_enabled", [True, False, True, False], AFTER, "switch", baked=HERE)
keys("carrier_keyed", "carrier", "location", [(0.0, 0.0, 0.0), (0.2, 0.0, 0.0), (-0.2, 0.0, 0.1), (0.0, 0.0, 0.0)])


# What happens to keys of its own bones


@change(keyed=True)
def fk_key_moved(rig: Rig) -> None:
    for curve in fcurves(rig.ob):
        if "rotation" in curve.data_path:
            curve.keyframe_points[1].co.y += 0.3
            curve.update()


@change(keyed=True)
def fk_key_inserted(rig: Rig) -> None:
    rig.tip.rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    rig.tip.keyframe_insert("rotation_quaternion", frame=9)


@change(keyed=True)
def fk_curves_muted(rig: Rig) -> None:
    for curve in fcurves(rig.ob):
        curve.mute = "thigh" in curve.data_path


@change(keyed=True)
def fk_curves_removed(rig: Rig) -> None:
    for home in animation.current_fcurve_collections(rig.ob.animation_data):
        for curve in [curve for curve in home if "thigh" in curve.data_path]:
            home.remove(curve)


@change(keyed=True)
def own_action_copied(rig: Rig) -> None:
    _assign(rig.ob, rig.ob.animation_data.action.copy())


@change(keyed=True)
def own_action_set_back(rig: Rig) -> None:
    action = rig.ob.animation_data.action
    rig.ob.animation_data.action = None
    go_to(8)
    _assign(rig.ob, action)


@change(AFTER, "another object plays the action of 'leg' too", baked=HERE, keyed=True)
def action_played_by_another(rig: Rig) -> None:
    other = rig.ob.copy()
    bpy.context.scene.collection.objects.link(other)
    other.location.x = 3.0


@change(AFTER, "'leg' plays NLA strips", baked=HERE, keyed=True)
def pushed_down(rig: Rig) -> None:
    push_down(rig.ob, mute=False)


def _assign(ob: bpy.types.Object, action: bpy.types.Action) -> None:
    ob.animation_data.action = action
    if hasattr(action, "slots"):
        ob.animation_data.action_slot = action.slots[0]
