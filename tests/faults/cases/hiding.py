"""Targets, poles, armatures and bones that are hidden or excluded, by every means that Blender has."""

import bpy

from ...changes import MEANS, own_collection
from ...rig.rigs import new_empty, update
from ...scenes import go_to, slide
from ..faults import works
from ..stage import Stage

GROUP = "Hiding and excluding"


def _by_every_means(stage: Stage, ob: str) -> None:
    """Hide an object by one means after the other, play, and show it again. Each is tried alone in an object's fault:
    what one of them does, another could mend."""
    for means, hide in MEANS.items():
        bpy.ops.ed.undo_push(message="shown")
        hide(bpy.data.objects[ob])
        update()
        stage.follow(means)
        _show(bpy.data.objects[ob])
        stage.follow(f"{means}, shown again")


def _show(ob: bpy.types.Object) -> None:
    """Undo all that hides an object."""
    ob.hide_viewport = ob.hide_render = ob.hide_select = False
    for collection in list(ob.users_collection):
        if collection.name.startswith("of "):
            collection.objects.unlink(ob)
            bpy.data.collections.remove(collection)
    if not ob.users_collection:
        bpy.context.scene.collection.objects.link(ob)
    update()
    ob.hide_set(False)
    ob.display_type, ob.visible_camera = "TEXTURED", True
    update()


@works(GROUP, f"The target, by {len(MEANS)} means, each shown again")
def the_target(stage: Stage) -> None:
    _by_every_means(stage, "leg target")


@works(GROUP, "The pole, likewise")
def the_pole(stage: Stage) -> None:
    stage.unsolve(stage.limbs[0])
    new_empty("knee control", (0.0, -2.0, 1.0))
    stage.limbs[0].pole = "knee control"
    stage.solve(stage.limbs[0])
    _by_every_means(stage, "knee control")


@works(GROUP, "The parent of the target, likewise")
def the_parent_of_the_target(stage: Stage) -> None:
    parent = new_empty("carrier", (0.1, 0.0, 0.0))
    parent.keyframe_insert("location", frame=1)
    parent.location = (-0.1, 0.0, 0.1)
    parent.keyframe_insert("location", frame=9)
    stage.target.parent = parent
    stage.look("parented")
    _by_every_means(stage, "carrier")


@works(GROUP, "The armature that holds the target bone, likewise")
def the_armature_of_the_target_bone(stage: Stage) -> None:
    from .renaming import _follow_another_armature

    _follow_another_armature(stage)
    _by_every_means(stage, "controls")


@works(GROUP, "A target that a constraint moves, likewise")
def a_constrained_target(stage: Stage) -> None:
    carrier = new_empty("carrier")
    slide(carrier, (0.0, -0.6, 0.5), (0.2, 0.5, 0.3))
    stage.target.constraints.new("COPY_LOCATION").target = carrier
    update()
    # Where the target should be is told by what it follows: what is hidden may stand still, and the leg with it.
    stage.limbs[0].target = "carrier"
    _by_every_means(stage, "leg target")


@works(GROUP, "The armature, likewise: looked at when it is shown again")
def the_armature(stage: Stage) -> None:
    for means, hide in MEANS.items():
        hide(stage.ob)
        update()
        go_to(4)
        if stage.ob.visible_get():
            stage.follow(means)
        stage.drag(0.2, -0.2, 0.7)
        _show(stage.ob)
        stage.look(f"{means}, shown again")
        stage.follow(f"{means}, shown again")


@works(GROUP, "The armature, its chain switched off meanwhile", "switched on again")
def switched_off_while_hidden(stage: Stage) -> None:
    limb = stage.limbs[0]
    MEANS["its collection excluded"](stage.ob)
    update()
    go_to(4)
    if stage.ours:
        limb.tip.analytic_ik_enabled = False
    for constraint in limb.tip.constraints:
        constraint.mute = True
    go_to(5)
    _show(stage.ob)
    stage.switch_off()
    stage.fk_pose = None
    if stage.ours:
        limb.tip.analytic_ik_enabled = True
    for constraint in limb.tip.constraints:
        constraint.mute = False
    stage.look("switched on again")


@works(GROUP, "Bones of the chain and the target bone, in pose mode and in edit mode", "in edit mode")
def bones(stage: Stage) -> None:
    stage.follow_bones()
    pose = stage.ob.pose.bones
    for name in ("thigh", "shin", "foot ik"):
        holder = pose[name] if hasattr(pose[name], "hide") else pose[name].bone
        holder.hide = True
    stage.look("in pose mode")
    stage.follow("in pose mode")
    with stage.edit_bones() as edit_bones:
        for name in ("thigh", "foot ik"):
            edit_bones[name].hide = True


@works(GROUP, "The bone collection that holds chain and target bone", "removed")
def bone_collections(stage: Stage) -> None:
    stage.follow_bones()
    data = stage.ob.data
    collection = data.collections.new("hidden")
    for name in ("thigh", "shin", "foot ik"):
        collection.assign(data.bones[name])
    collection.is_visible = False
    update()
    stage.follow("hidden")
    other = data.collections.new("other")
    other.is_solo = True
    update()
    stage.follow("with another one solo")
    data.collections.remove(collection)
    update()


@works(GROUP, "The target's switch in viewports has keys")
def a_keyed_switch(stage: Stage) -> None:
    target = stage.target
    for frame, hidden in ((1, False), (3, True), (8, False)):
        target.hide_viewport = hidden
        target.keyframe_insert("hide_viewport", frame=frame)
    update()
    # Dragged while it is hidden it has nowhere to be put by keys: only frames are looked at.
    stage.play((1, 2, 3, 4, 5, 8, 9, 4, 1))


@works(GROUP, "The target hides in a second view layer alone, and that is shown", "in the second layer")
def a_second_view_layer(stage: Stage) -> None:
    second = bpy.context.scene.view_layers.new("second")
    layer_collection = own_collection(stage.target)
    second.layer_collection.children[layer_collection.name].exclude = True
    update()
    stage.follow("in the first layer")
    bpy.context.window.view_layer = second
    stage.look("in the second layer")


@works(GROUP, "The armature is in local view, its target is not", "in local view")
def local_view(stage: Stage) -> None:
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    bpy.context.view_layer.objects.active = stage.ob
    stage.ob.select_set(True)
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.view3d.localview()
    assert area.spaces.active.local_view, "there is no local view"
    assert not stage.target.visible_in_viewport_get(area.spaces.active)
    update()
