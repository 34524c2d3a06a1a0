"""Rigs that are shown through instances: of a collection, by geometry nodes, on the faces of a mesh."""

import bpy
from mathutils import Vector

from ...rig.rigs import new_empty, update
from ...scenes import go_to
from ..faults import fault
from ..stage import FRAMES, Stage
from .several_scenes import show

GROUP = "Instances"


def skin(stage: Stage, name: str = "skin") -> bpy.types.Object:
    """A mesh with one vertex on each joint of the leg, bound to it: the last one must be where the target is."""
    joints = stage.rest_joints()
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(joint) for joint in joints], [(0, 1), (1, 2)], [(0, 1, 2)])
    ob = bpy.data.objects.new(name, mesh)
    for collection in stage.ob.users_collection:
        collection.objects.link(ob)
    for k, bone in enumerate(("thigh", "shin", "shin")):
        ob.vertex_groups.new(name=bone) if bone not in ob.vertex_groups else None
        ob.vertex_groups[bone].add([k], 1.0, "REPLACE")
    modifier = ob.modifiers.new("armature", "ARMATURE")
    modifier.object = stage.ob
    update()
    return ob


def _into_collection(stage: Stage, linked: bool) -> tuple[bpy.types.Collection, bpy.types.Object]:
    """Armature, skin and target in a collection, which an Empty instances; linked: the scene has it too."""
    own = bpy.data.collections.new("rig")
    ob = skin(stage)
    for each in (stage.ob, stage.target, ob):
        own.objects.link(each)
        bpy.context.scene.collection.objects.unlink(each)
    if linked:
        bpy.context.scene.collection.children.link(own)
    instance = new_empty("instance", (3.0, 0.0, 0.0))
    instance.instance_type, instance.instance_collection = "COLLECTION", own
    update()
    return own, instance


def look_at_instance(stage: Stage, when: str, place: Vector | None = None) -> None:
    """See whether the skin's last vertex, as it is instanced, is where the target is instanced."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    ends = [
        each.matrix_world @ each.object.data.vertices[2].co
        for each in depsgraph.object_instances
        if each.is_instance and each.object.original.name.startswith("skin")
    ]
    if not ends:
        stage.note(when, lost="the instance")
        return
    offset = Vector((3.0, 0.0, 0.0)) if place is None else place
    goal = offset + stage.target_point()
    missed = (ends[0] - goal).length / 2.04
    said = stage.sentences() if missed > 1e-3 else []
    stage.note(when, 0.0 if said else missed)
    stage.seen[-1].sentences += said


def _follow_instance(stage: Stage, when: str) -> None:
    for frame in (*FRAMES, 2.5):
        go_to(frame)
        look_at_instance(stage, f"{when}, at frame {frame}")
    stage.drag()
    look_at_instance(stage, f"{when}, dragged")
    stage.dragged = False
    go_to(4)
    look_at_instance(stage, f"{when}, at frame 4 again")


@fault(GROUP, "A collection instance of a rig that is in the scene too")
def an_instance_of_what_is_shown(stage: Stage) -> None:
    _into_collection(stage, linked=True)
    stage.follow("the rig")
    _follow_instance(stage, "the instance")


@fault(GROUP, "A collection instance of a rig that is excluded from the view layer")
def an_instance_of_what_is_excluded(stage: Stage) -> None:
    _into_collection(stage, linked=True)
    bpy.context.view_layer.layer_collection.children["rig"].exclude = True
    update()
    _follow_instance(stage, "the instance")


@fault(GROUP, "A collection instance of a rig that is in no scene")
def an_instance_of_what_is_in_no_scene(stage: Stage) -> None:
    _into_collection(stage, linked=False)
    _follow_instance(stage, "the instance")
    stage.fk_pose = None


@fault(GROUP, "A collection instance of a rig in no scene, with the target beside it")
def an_instance_whose_target_is_shown(stage: Stage) -> None:
    own, _ = _into_collection(stage, linked=False)
    own.objects.unlink(stage.target)
    bpy.context.scene.collection.objects.link(stage.target)
    update()
    _follow_instance(stage, "the instance")
    stage.fk_pose = None


@fault(GROUP, "An instance in an instance")
def an_instance_in_an_instance(stage: Stage) -> None:
    _, instance = _into_collection(stage, linked=False)
    outer = bpy.data.collections.new("outer")
    outer.objects.link(instance)
    bpy.context.scene.collection.objects.unlink(instance)
    shown = new_empty("shown", (0.0, 1.0, 0.0))
    shown.instance_type, shown.instance_collection = "COLLECTION", outer
    update()
    for frame in FRAMES:
        go_to(frame)
        look_at_instance(stage, f"at frame {frame}", Vector((3.0, 1.0, 0.0)))
    stage.fk_pose = None


@fault(GROUP, "Geometry nodes instance the collection of a rig")
def geometry_nodes_instance_a_rig(stage: Stage) -> None:
    own, instance = _into_collection(stage, linked=False)
    bpy.data.objects.remove(instance)
    tree = bpy.data.node_groups.new("instances", "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    info, out = tree.nodes.new("GeometryNodeCollectionInfo"), tree.nodes.new("NodeGroupOutput")
    info.inputs["Collection"].default_value = own
    tree.links.new(info.outputs[0], out.inputs[0])
    mesh = bpy.data.objects.new("host", bpy.data.meshes.new("host"))
    bpy.context.scene.collection.objects.link(mesh)
    mesh.location.x = 3.0
    mesh.modifiers.new("nodes", "NODES").node_group = tree
    update()
    _follow_instance(stage, "the instance")
    stage.fk_pose = None


@fault(GROUP, "An instance of a rig in another scene, which plays at other frames", "in its own scene")
def an_instance_from_another_scene(stage: Stage) -> None:
    own, _ = _into_collection(stage, linked=True)
    first, second = bpy.context.scene, bpy.data.scenes.new("shot")
    instance = bpy.data.objects.new("other instance", None)
    second.collection.objects.link(instance)
    instance.instance_type, instance.instance_collection = "COLLECTION", own
    instance.location.x = 3.0
    show(second)
    for frame in FRAMES:
        go_to(frame)
        look_at_instance(stage, f"in the shot at frame {frame}")
    show(first)


@fault(GROUP, "The rig is taken out of its instance again", "linked")
def the_instance_is_removed(stage: Stage) -> None:
    own, instance = _into_collection(stage, linked=False)
    go_to(4)
    look_at_instance(stage, "instanced")
    bpy.data.objects.remove(instance)
    update()
    go_to(5)
    bpy.context.scene.collection.children.link(own)
    stage.look("linked")
