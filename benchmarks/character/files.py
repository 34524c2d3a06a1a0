"""Characters out of files: which import options a file has, and the armature that comes of it."""

import json
from collections.abc import Callable
from pathlib import Path

import addon_utils
import bpy

ADDONS = ("io_scene_gltf2", "io_scene_fbx", "io_anim_bvh")
METARIG, GENERATED = "metarig", "generated rig"


def _gltf(heuristic: str) -> Callable[[str], object]:
    return lambda path: bpy.ops.import_scene.gltf(filepath=path, bone_heuristic=heuristic)


_GLTF = {"Blender (default)": _gltf("BLENDER"), "Temperance": _gltf("TEMPERANCE"), "Fortune": _gltf("FORTUNE")}
_FBX = {
    "default": lambda path: bpy.ops.wm.fbx_import(filepath=path),
    "legacy": lambda path: bpy.ops.import_scene.fbx(filepath=path),
    "legacy, Automatic Bone Orientation": lambda path: bpy.ops.import_scene.fbx(
        filepath=path, automatic_bone_orientation=True
    ),
}
"""From Blender 4.5 on there are two importers."""
_OLD_FBX = {
    "default": lambda path: bpy.ops.import_scene.fbx(filepath=path),
    "Automatic Bone Orientation": lambda path: bpy.ops.import_scene.fbx(filepath=path, automatic_bone_orientation=True),
}


def importers(source: str) -> dict[str, Callable[[str], object]]:
    """By the names of their options, the ways to bring a source into the scene; none if it holds no character.

    source: a file's path, or a metarig of Rigify as "metarig human", "generated rig human".
    """
    kind, _, name = source.rpartition(" ")
    if kind in (METARIG, GENERATED):
        return {kind: lambda _: _add_metarig(name, kind == GENERATED)}
    path = Path(source)
    suffix = path.suffix.lower()
    if suffix == ".json":
        return {"MPFB rig": lambda path: _build_mpfb(Path(path))} if _mpfb_bones(path) else {}
    return {
        ".glb": _GLTF,
        ".gltf": _GLTF,
        ".fbx": _FBX if "fbx_import" in dir(bpy.ops.wm) else _OLD_FBX,
        ".bvh": {"default": lambda path: bpy.ops.import_anim.bvh(filepath=path)},
        ".blend": {"": lambda path: bpy.ops.wm.open_mainfile(filepath=path, load_ui=False)},
    }.get(suffix, {})


def metarigs() -> list[str]:
    """The metarigs of Rigify that this Blender ships, as sources."""
    addon_utils.enable("rigify", default_set=True)
    names = [name for name in dir(bpy.ops.object) if name.startswith("armature_") and name.endswith("_metarig_add")]
    return [f"{METARIG} {name.removeprefix('armature_').removesuffix('_metarig_add')}" for name in sorted(names)]


def armature_of(source: str, option: str) -> bpy.types.Object | None:
    """Bring a source into an empty scene; returns its largest armature, active in Object Mode, None without one."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    for addon in ADDONS:
        addon_utils.enable(addon)
    importers(source)[option](source)
    scene = bpy.context.scene
    armatures = [ob for ob in scene.objects if ob.type == "ARMATURE"]
    if not armatures:
        return None
    if bpy.context.object is not None and bpy.context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    ob = max(armatures, key=lambda ob: len(ob.data.bones))
    for other in list(scene.objects):
        # Skins cost time and change nothing.
        other.hide_viewport |= other.type == "MESH"
        other.select_set(other == ob)
    bpy.context.view_layer.objects.active = ob
    select_bones(ob)
    return ob


def select_bones(ob: bpy.types.Object, *names: str) -> None:
    """Select these bones alone; the last one becomes active."""
    for bone in ob.pose.bones:
        # Since 5.0 pose bones have a selection of their own.
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name in names
    ob.data.bones.active = ob.data.bones[names[-1]] if names else None


def _add_metarig(name: str, generated: bool) -> None:
    addon_utils.enable("rigify", default_set=True)
    getattr(bpy.ops.object, f"armature_{name}_metarig_add")()
    if generated:
        metarig = bpy.context.object
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.pose.rigify_generate()
        bpy.data.objects.remove(metarig)


def _mpfb_bones(path: Path) -> dict[str, dict]:
    """The bones of a rig definition of MPFB; none if the file is something else."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return {}
    bones = data.get("bones", data) if isinstance(data, dict) else {}
    places = (isinstance(bone, dict) and "default_position" in bone.get("head", ()) for bone in bones.values())
    return bones if all(places) else {}


def _build_mpfb(path: Path) -> None:
    """The armature of an MPFB rig definition, as MPFB makes it for its base mesh."""
    armature = bpy.data.armatures.new(path.stem)
    ob = bpy.data.objects.new(path.stem, armature)
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    bones = _mpfb_bones(path)
    for name, wanted in bones.items():
        bone = armature.edit_bones.new(name)
        bone.head, bone.tail = wanted["head"]["default_position"], wanted["tail"]["default_position"]
        bone.roll = wanted.get("roll", 0.0)
    for name, wanted in bones.items():
        if wanted.get("parent"):
            armature.edit_bones[name].parent = armature.edit_bones[wanted["parent"]]
            armature.edit_bones[name].use_connect = wanted.get("use_connect", False)
    bpy.ops.object.mode_set(mode="OBJECT")
