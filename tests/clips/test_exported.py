"""What exporters write of a rigged character with several clips: what Blender shows, imported again."""

import bpy
import numpy as np
import pytest

from ik_addon.bake import chains_of
from ik_addon.bake.clips import bake_clips
from ik_addon.rig.blender.clips import clips_of, playing_alone

from .characters import AMOUNTS, FRAMES, all_shown, film, rigged_character

pytestmark = [pytest.mark.versions, pytest.mark.slow]

LEG = 0.9
NEAR = 1e-4


def exported(ob: bpy.types.Object, path, kind: str) -> dict[str, np.ndarray]:
    """By clip where the limbs are after an export and an import."""
    bpy.context.scene.render.fps = 24
    if kind == "FBX":
        bpy.ops.export_scene.fbx(filepath=str(path), add_leaf_bones=False, bake_anim_simplify_factor=0.0)
    else:
        bpy.ops.export_scene.gltf(filepath=str(path), export_animation_mode=kind)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.context.scene.render.fps = 24
    if kind == "FBX":
        bpy.ops.import_scene.fbx(filepath=str(path))
    else:
        bpy.ops.import_scene.gltf(filepath=str(path), bone_heuristic="BLENDER")
    back = next(each for each in bpy.data.objects if each.type == "ARMATURE")
    found = {}
    for clip in clips_of(back):
        # glTF of Blender 4.2 adds the armature's name; its FBX also has the actions of Empties.
        name = clip.name.split("|")[-1].removesuffix("_skeleton")
        if name not in AMOUNTS:
            continue
        first = round(clip.action.frame_range[0])
        with playing_alone([(back, clip)]):
            found[name] = film(back, range(first, first + len(FRAMES)))
    return found


def farthest(shown, found) -> float:
    return max(float(np.abs(found[name] - shown[name]).max()) for name in shown)


@pytest.mark.some(3)
@pytest.mark.parametrize("strips", [False, True], ids=["actions", "strips"])
@pytest.mark.parametrize("kind", ["ACTIONS", "FBX"])
@pytest.mark.parametrize("as_bones", [False, True], ids=["Empties", "bones"])
def test_live_clips_are_exported_as_they_are_shown(as_bones, kind, strips, tmp_path):
    ob = rigged_character(as_bones, strips=strips)
    shown = all_shown(ob)
    suffix = ".fbx" if kind == "FBX" else ".glb"
    assert farthest(shown, exported(ob, tmp_path / f"clips{suffix}", kind)) < NEAR * LEG


def test_tracks_are_exported_with_control_bones(tmp_path):
    ob = rigged_character(True, strips=True)
    shown = all_shown(ob)
    assert farthest(shown, exported(ob, tmp_path / "clips.glb", "NLA_TRACKS")) < NEAR * LEG


@pytest.mark.some(3)
@pytest.mark.parametrize("as_bones", [False, True], ids=["Empties", "bones"])
@pytest.mark.parametrize("kind", ["ACTIONS", "NLA_TRACKS", "FBX"])
def test_baked_clips_are_exported_in_every_way(as_bones, kind, tmp_path):
    ob = rigged_character(as_bones, strips=True)
    shown = all_shown(ob)
    bake_clips(bpy.context, chains_of([ob]), "CURRENT", strips=True)
    suffix = ".fbx" if kind == "FBX" else ".glb"
    assert farthest(shown, exported(ob, tmp_path / f"clips{suffix}", kind)) < NEAR * LEG
