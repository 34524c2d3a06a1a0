"""What exporters write of an armature's clips, imported again."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np

from ik_addon.rig.blender.animation import bone_of_path
from ik_addon.rig.blender.clips import Clip, clip_in, playing_alone

from ..scenes import go_to

GLTF_MODES = ("ACTIONS", "NLA_TRACKS", "ACTIVE_ACTIONS", "SCENE")
FBX_MODES = ("FBX ACTIONS", "FBX STRIPS")
MODES = (*GLTF_MODES, *FBX_MODES)
OF_ONE_CLIP = ("ACTIVE_ACTIONS", "SCENE")
"""Modes that write what plays, as one clip."""


@dataclass(frozen=True, slots=True)
class Imported:
    """objects: the names of all but the armature. films: by the names of clips where bones are at each frame, in the
    space of the armature's world: (frames, bones, 3); in modes of one clip by "" alone."""

    objects: list[str]
    bones: set[str]
    films: dict[str, np.ndarray]


def export(path: Path, mode: str, **options: object) -> None:
    if mode.startswith("FBX"):
        takes = {"bake_anim_use_nla_strips": mode == "FBX STRIPS", "bake_anim_use_all_actions": mode == "FBX ACTIONS"}
        bpy.ops.export_scene.fbx(
            filepath=str(path), add_leaf_bones=False, bake_anim_simplify_factor=0.0, **takes, **options
        )
    else:
        bpy.ops.export_scene.gltf(filepath=str(path), export_animation_mode=mode, **options)


def exported(folder: Path, mode: str, bones: Sequence[str], frames: range, **options: object) -> Imported:
    """What is in the file that an exporter writes, in an empty scene. frames: of a clip, as long as each of them."""
    bpy.context.scene.render.fps = 24
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = frames[0], frames[-1]
    path = folder / f"clips{'.fbx' if mode.startswith('FBX') else '.glb'}"
    export(path, mode, **options)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.context.scene.render.fps = 24
    if mode.startswith("FBX"):
        bpy.ops.import_scene.fbx(filepath=str(path))
    else:
        bpy.ops.import_scene.gltf(filepath=str(path), bone_heuristic="BLENDER")
    back = next(each for each in bpy.data.objects if each.type == "ARMATURE")
    films = {}
    for clip in _clips():
        first = round(clip.action.frame_range[0])
        with playing_alone([(back, clip)]):
            name = "" if mode in OF_ONE_CLIP else _name(clip, back.name)
            films[name] = film(back, bones, range(first, first + len(frames)))
    # What shows bones in Blender is the importer's own.
    objects = [ob.name for ob in bpy.data.objects if ob != back and not ob.name.startswith("Icosphere")]
    return Imported(objects, set(back.data.bones.keys()), films)


def film(ob: bpy.types.Object, bones: Sequence[str], frames: range) -> np.ndarray:
    """Where the ends of bones are at each frame of what plays, in the world."""
    found = []
    for frame in frames:
        go_to(frame)
        copy = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        world = copy.matrix_world
        found.append([world @ copy.pose.bones[bone].head for bone in bones])
    return np.array(found, float)


def _clips() -> list[Clip]:
    """Every action, or slot in one, that moves a bone."""
    found = []
    for action in bpy.data.actions:
        clips = [clip_in(action, slot.handle) for slot in getattr(action, "slots", ())] or [clip_in(action)]
        paths = {clip: [curve.data_path for curves in clip.curves for curve in curves] for clip in clips}
        found += [clip for clip in clips if any(bone_of_path(path)[0] for path in paths[clip])]
    return found


def _name(clip: Clip, armature: str) -> str:
    """The name of a clip in the file: glTF of Blender 4.2 adds the armature's behind it, FBX before it."""
    return clip.name.rpartition("|")[2].removesuffix(f"_{armature}")
