"""What rigs show in a Blender that has no add-on and may run no scripts.

python without_the_add_on.py JOBS.json: a list of {"file", "how", "frames", "shown"}. how: the way in which the
collection "character" of a file comes there: opened, linked, overridden. shown: where to write the bones' matrices by
frame; if that is a folder, pictures. Imports nothing of the project.
"""

import json
import os
import sys
from pathlib import Path

import bpy
import gpu


def opened(file: str, how: str) -> bpy.types.Object:
    """The armature object of a file, by one of the ways."""
    if how == "opened":
        bpy.ops.wm.open_mainfile(filepath=file, use_scripts=False)
        return bpy.data.objects["leg"]
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(file, link=True) as (_, into):
        into.collections = ["character"]
    (collection,) = into.collections
    shown = bpy.context.scene.collection.children
    # Blender 5.3 makes no override of what is in no scene.
    shown.link(collection)
    if how == "overridden":
        linked, collection = collection, collection.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
        if linked.name in shown:
            shown.unlink(linked)
        if collection.name not in shown:
            shown.link(collection)
    return next(each for each in collection.all_objects if each.type == "ARMATURE")


def matrices(ob: bpy.types.Object) -> dict[str, list[list[float]]]:
    """Of all bones, as evaluated."""
    shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    return {bone.name: [list(row) for row in bone.matrix] for bone in shown}


def main() -> None:
    """Do the jobs."""
    assert not hasattr(bpy.types.PoseBone, "analytic_ik_enabled")
    for job in json.loads(Path(sys.argv[1]).read_text()):
        ob, scene, shown, found = opened(job["file"], job["how"]), bpy.context.scene, Path(job["shown"]), {}
        for frame in job["frames"]:
            scene.frame_set(frame)
            if shown.is_dir():
                if scene.render.engine != "CYCLES":
                    getattr(gpu, "init", int)()
                scene.render.filepath = str(shown / f"{frame}.png")
                bpy.ops.render.render(write_still=True)
            else:
                found[frame] = matrices(ob)
        if found:
            shown.write_text(json.dumps(found))
    sys.stdout.flush()
    # With Blender as a module, a normal exit may hang.
    os._exit(0)


if __name__ == "__main__":
    main()
