"""Exported, baked by Blender or simulated: what others get when they evaluate the frames themselves."""

import addon_utils
import bpy
from mathutils import Vector

from ...scenes import enter, go_to, select
from ..faults import fault
from ..stage import FRAMES, Stage
from .instances import skin

GROUP = "Exports, bakes and caches"
PLAIN = {"bake_anim_use_all_actions": False, "bake_anim_use_nla_strips": False, "bake_anim_simplify_factor": 0.0}
"""What the scene plays, and nothing that no one sees."""
START, END = 1, 12


def _prepare(stage: Stage) -> bpy.types.Object:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = START, END
    # A root that is animated too: where that goes wrong, an export freezes.
    hips = stage.ob.pose.bones["hips"]
    for frame, height in ((START, 0.0), (END, -0.2)):
        hips.location.z = height
        hips.keyframe_insert("location", frame=frame)
    ob = skin(stage)
    go_to(7)
    return ob


def _compare(stage: Stage, when: str, before: set[str], bone: str = "") -> None:
    """See whether the end of the imported leg, a vertex or a bone's head, is where the target is at each frame."""
    kind = "ARMATURE" if bone else "MESH"
    made = [ob for ob in bpy.context.scene.objects if ob.name not in before and ob.type == kind]
    made = [ob for ob in made if bone or len(ob.data.vertices) == 3]
    if not made:
        stage.note(when, lost="the leg")
        return
    tracks = [
        track
        for ob in bpy.context.scene.objects
        if ob.name not in before and ob.animation_data
        for track in ob.animation_data.nla_tracks
    ]
    for frame in (START, *FRAMES, END):
        for track in tracks:
            # glTF brings each object's motion as a muted track.
            track.mute = False
        go_to(frame)
        ob = made[0].evaluated_get(bpy.context.evaluated_depsgraph_get())
        end = ob.pose.bones[bone].head if bone else ob.data.vertices[2].co
        goal = stage.target.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation
        # Files keep single precision, and some formats less.
        missed = (ob.matrix_world @ Vector(end) - goal).length / 2.04
        stage.note(f"{when}, at frame {frame}", missed if missed > 1e-4 else 0.0)
    for ob in made:
        bpy.data.objects.remove(ob)


def _names() -> set[str]:
    return {ob.name for ob in bpy.context.scene.objects}


@fault(GROUP, "Alembic", "afterwards")
def alembic(stage: Stage) -> None:
    _prepare(stage)
    path, before = str(stage.folder / "leg.abc"), _names()
    bpy.ops.wm.alembic_export(filepath=path, start=START, end=END, as_background_job=False)
    stage.look("after it")
    bpy.ops.wm.alembic_import(filepath=path, as_background_job=False, set_frame_range=False)
    _compare(stage, "in the file", before)


@fault(GROUP, "USD, as vertices")
def usd_vertices(stage: Stage) -> None:
    _usd(stage, export_armatures=False)


@fault(GROUP, "USD, as a skeleton")
def usd_skeleton(stage: Stage) -> None:
    _usd(stage, export_armatures=True)


def _usd(stage: Stage, **settings: object) -> None:
    _prepare(stage)
    path, before = str(stage.folder / "leg.usdc"), _names()
    bpy.ops.wm.usd_export(filepath=path, export_animation=True, **settings)
    stage.look("after it")
    bpy.ops.wm.usd_import(filepath=path, set_frame_range=False)
    _compare(stage, "in the file", before)
    stage.follow("afterwards")


@fault(GROUP, "glTF", "afterwards")
def gltf(stage: Stage) -> None:
    addon_utils.enable("io_scene_gltf2")
    skinned = _prepare(stage)
    # Alone: with several objects that move, the motion in the file was now and then another's in Blender 5.2, with its
    # own IK as well.
    select(skinned, stage.ob)
    path, before = str(stage.folder / "leg.glb"), _names()
    bpy.ops.export_scene.gltf(
        filepath=path, use_selection=True, export_animation_mode="SCENE", export_force_sampling=True
    )
    stage.look("after it")
    bpy.ops.import_scene.gltf(filepath=path)
    _compare(stage, "in the file", before, bone="foot")


@fault(GROUP, "FBX", "afterwards")
def fbx(stage: Stage) -> None:
    addon_utils.enable("io_scene_fbx")
    _prepare(stage)
    path, before = str(stage.folder / "leg.fbx"), _names()
    bpy.ops.export_scene.fbx(filepath=path, **PLAIN)
    stage.look("after it")
    bpy.ops.import_scene.fbx(filepath=path, anim_offset=0.0)
    _compare(stage, "in the file", before, bone="foot")


@fault(GROUP, "FBX with every action on every object, as Blender's exporter is set at first", "afterwards")
def fbx_of_all_actions(stage: Stage) -> None:
    addon_utils.enable("io_scene_fbx")
    # The exporter puts the matrices of all bones back by way of other numbers for the same rotation.
    stage.forget_bystander("foot")
    _prepare(stage)
    bpy.ops.export_scene.fbx(filepath=str(stage.folder / "leg.fbx"))
    stage.look("after it")


@fault(GROUP, "OBJ files of single frames", "afterwards")
def obj_files(stage: Stage) -> None:
    _prepare(stage)
    for frame in FRAMES:
        go_to(frame)
        path, before = str(stage.folder / f"leg{frame}.obj"), _names()
        bpy.ops.wm.obj_export(filepath=path, forward_axis="Y", up_axis="Z")
        bpy.ops.wm.obj_import(filepath=path, forward_axis="Y", up_axis="Z")
        (made,) = [ob for ob in bpy.context.scene.objects if ob.name not in before]
        goal = stage.target.matrix_world.translation
        missed = (made.matrix_world @ made.data.vertices[2].co - goal).length / 2.04
        stage.note(f"in the file, at frame {frame}", missed if missed > 1e-4 else 0.0)
        bpy.data.objects.remove(made)


@fault(GROUP, "Blender's own bake of the bones (nla.bake), with visual keys")
def blenders_own_bake(stage: Stage) -> None:
    _prepare(stage)
    enter("POSE", stage.ob, *stage.limbs[0].bones)
    bpy.ops.nla.bake(
        frame_start=START,
        frame_end=END,
        only_selected=True,
        visual_keying=True,
        use_current_action=True,
        bake_types={"POSE"},
    )
    bpy.ops.object.mode_set(mode="OBJECT")
    stage.follow("baked")
    # Without IK the keys must play the same.
    stage.fk_pose = None
    stage.switch_off()
    for limb in stage.limbs:
        if stage.ours:
            limb.tip.analytic_ik_enabled = False
        else:
            stage.constraint_of(limb).enabled = False
    stage.play(FRAMES, "from the keys alone")
    if stage.ours:
        stage.limbs[0].tip.analytic_ik_enabled = True
    else:
        stage.constraint_of(stage.limbs[0]).enabled = True


@fault(GROUP, "Cloth on a mesh that the leg moves, baked", "afterwards")
def cloth_is_baked(stage: Stage) -> None:
    ob = _prepare(stage)
    pinned = ob.vertex_groups.new(name="pinned")
    pinned.add([0, 1, 2], 1.0, "REPLACE")
    cloth = ob.modifiers.new("cloth", "CLOTH")
    cloth.settings.vertex_group_mass = "pinned"
    cache = cloth.point_cache
    cache.frame_start, cache.frame_end = START, END
    go_to(START)
    with bpy.context.temp_override(scene=bpy.context.scene, active_object=ob, object=ob, point_cache=cache):
        bpy.ops.ptcache.bake(bake=True)
    assert cache.is_baked
    for frame in (9, 4, 12):
        go_to(frame)
        end = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices[2].co
        goal = stage.target.matrix_world.translation
        # All of it is pinned: the cache must hold the mesh as the leg moves it.
        missed = (ob.matrix_world @ end - goal).length / 2.04
        stage.note(f"in the cache, at frame {frame}", missed if missed > 1e-3 else 0.0)


@fault(GROUP, "Motion paths of the foot")
def motion_paths(stage: Stage) -> None:
    _prepare(stage)
    enter("POSE", stage.ob, "foot")
    bpy.ops.pose.paths_calculate(range="SCENE")
    path = stage.ob.pose.bones["foot"].motion_path
    bpy.ops.object.mode_set(mode="OBJECT")
    if path is None or len(path.points) < END - START:
        stage.note("in the path", lost="the path")
        return
    for frame in FRAMES:
        go_to(frame)
        goal = stage.target.matrix_world.translation
        missed = (path.points[frame - path.frame_start].co - goal).length / 2.04
        said = stage.notes() if missed > 1e-3 else []
        stage.note(f"in the path, at frame {frame}", 0.0 if said or missed <= 1e-3 else missed)
        stage.seen[-1].sentences += said
    stage.follow("afterwards")


@fault(GROUP, "The armature modifier is applied, and a posed mesh is made of it", "afterwards")
def a_posed_mesh_is_made(stage: Stage) -> None:
    ob = _prepare(stage)
    for frame in FRAMES:
        go_to(frame)
        mesh = bpy.data.meshes.new_from_object(ob.evaluated_get(bpy.context.evaluated_depsgraph_get()))
        goal = stage.target.matrix_world.translation
        missed = (ob.matrix_world @ mesh.vertices[2].co - goal).length / 2.04
        stage.note(f"made at frame {frame}", missed if missed > 1e-3 else 0.0)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.modifier_apply(modifier="armature")
