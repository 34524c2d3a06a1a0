"""The limbs of every known rig are found after Blender has exported it and imported it again, with each bone option."""

from pathlib import Path

import bpy
import pytest

from ik_addon.authoring.finding.limbs import FoundLimb, find_limbs

from .skeletons import FAMILIES, Family, all_bones, armature_of

IMPORTS = {
    "glTF, Blender": ("gltf", {"bone_heuristic": "BLENDER"}),
    "glTF, Temperance": ("gltf", {"bone_heuristic": "TEMPERANCE"}),
    "glTF, Fortune": ("gltf", {"bone_heuristic": "FORTUNE"}),
    "FBX": ("fbx", {}),
    "FBX, automatic bone orientation": ("fbx", {"automatic_bone_orientation": True}),
    "FBX with leaf bones": ("fbx with leaves", {}),
    "FBX with leaf bones, automatic bone orientation": ("fbx with leaves", {"automatic_bone_orientation": True}),
    "FBX, leaf bones ignored": ("fbx with leaves", {"ignore_leaf_bones": True}),
}


@pytest.fixture(scope="module")
def exported(tmp_path_factory, addon) -> dict[str, Path]:
    """One file for each format, with all families in it."""
    folder = tmp_path_factory.mktemp("families")
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    for k, family in enumerate(FAMILIES):
        ob = armature_of(family.bones())
        ob.name = ob.data.name = name_of(family)
        ob.location.x = 5.0 * k
        # A glTF file has bones only where something is skinned to them.
        mesh = bpy.data.meshes.new("skin")
        mesh.from_pydata([(0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)], [], [(0, 1, 2)])
        skin = bpy.data.objects.new(f"skin {k}", mesh)
        bpy.context.scene.collection.objects.link(skin)
        skin.parent = ob
        skin.vertex_groups.new(name=ob.data.bones[0].name).add((0, 1, 2), 1.0, "REPLACE")
        skin.modifiers.new("skin", "ARMATURE").object = ob
    files = {"gltf": folder / "families.glb", "fbx": folder / "families.fbx", "fbx with leaves": folder / "leaves.fbx"}
    bpy.ops.export_scene.gltf(filepath=str(files["gltf"]), export_animations=False)
    for kind in ("fbx", "fbx with leaves"):
        bpy.ops.export_scene.fbx(filepath=str(files[kind]), add_leaf_bones=kind != "fbx", bake_anim=False)
    return files


def name_of(family: Family) -> str:
    return f"family {FAMILIES.index(family):02}"


def import_file(path: Path, options: dict) -> None:
    if path.suffix == ".glb":
        bpy.ops.import_scene.gltf(filepath=str(path), **options)
    else:
        bpy.ops.import_scene.fbx(filepath=str(path), use_anim=False, **options)


def without_leaf(limb: FoundLimb) -> FoundLimb:
    """A leaf that the exporter put on a chain's end is named and does not ride; else nothing is."""
    return FoundLimb(
        limb.kind,
        limb.side,
        limb.place,
        limb.bones,
        "" if limb.end.endswith("_end") else limb.end,
        limb.toe,
        limb.heel,
        limb.segments,
        limb.rides,
    )


BY_DEFAULT = {"glTF, Blender", "FBX"}
OPTIONS = [option if option in BY_DEFAULT else pytest.param(option, marks=pytest.mark.slow) for option in IMPORTS]


@pytest.mark.some(4)
@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.slow
def test_the_limbs_of_every_family_are_found_in_an_imported_file(exported, option):
    kind, options = IMPORTS[option]
    import_file(exported[kind], options)
    wrong = []
    for family in FAMILIES:
        found = find_limbs(all_bones(bpy.data.objects[name_of(family)]), arms=True)
        if [without_leaf(limb) for limb in found.limbs] != family.found() or found.left_out:
            wrong.append((str(family), found))
    assert not wrong
