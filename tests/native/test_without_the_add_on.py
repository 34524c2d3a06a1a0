"""A native rig in a process that has no add-on and may run no scripts: opened, linked, linked and overridden."""

import json
import subprocess
import sys
from pathlib import Path

import bpy
import pytest

from ..rig.rigs import Control, new_empty
from ..rig.test_foot import follow, footed_leg
from ..scenes import go_to, slide
from .natives import native, user_pose

pytestmark = pytest.mark.versions

FRAMES = (1, 4, 8, 12)
SHOW = """
import json, sys
import bpy
file, how, frames = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
assert not hasattr(bpy.types.PoseBone, "analytic_ik_enabled")
if how == "opened":
    bpy.ops.wm.open_mainfile(filepath=file, use_scripts=False)
    ob = bpy.data.objects["leg"]
else:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(file, link=True) as (_, into):
        into.collections = ["character"]
    collection = into.collections[0]
    if how == "linked":
        bpy.context.scene.collection.children.link(collection)
    else:
        collection = collection.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
        if collection.name not in bpy.context.scene.collection.children:
            bpy.context.scene.collection.children.link(collection)
    ob = next(each for each in collection.all_objects if each.type == "ARMATURE")
if how == "overridden":
    ob.pose.bones["shin"]["ik_swivel"]  # a setting that a user may set and key
found = {}
for frame in frames:
    bpy.context.scene.frame_set(frame)
    shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    found[frame] = {bone.name: [list(row) for row in bone.matrix] for bone in shown}
print("SHOWN", json.dumps(found))
sys.stdout.flush()
import os
os._exit(0)
"""


def performance(folder: Path):
    """A foot that follows a turning target and rolls, with keyed swivel and influence; saved native in a collection."""
    rig = footed_leg(heel=True)
    rig.pole = Control(new_empty("pole", (0.2, -2.0, 1.0)))
    slide(rig.target.ob, (0.0, -0.5, 0.4), (0.2, 0.4, 0.3))
    for frame, angle in ((1, 0.0), (12, 0.8)):
        rig.target.ob.rotation_euler = (angle, 0.3 * angle, 0.0)
        rig.target.ob.keyframe_insert("rotation_euler", frame=frame)
    go_to(1)
    follow(rig, foot_roll=0.0)
    for name, values in {"swivel": (0.0, 0.7), "influence": (1.0, 0.6), "foot_roll": (-0.3, 1.1)}.items():
        for frame, value in zip((1, 12), values, strict=True):
            setattr(rig.tip, f"analytic_ik_{name}", value)
            rig.tip.keyframe_insert(f"analytic_ik_{name}", frame=frame)
    shown = {}
    for frame in FRAMES:
        go_to(frame)
        shown[frame] = user_pose(rig.ob)
    native(rig)
    home = bpy.data.collections.new("character")
    bpy.context.scene.collection.children.link(home)
    for ob in (rig.ob, rig.target.ob, rig.pole.ob):
        home.objects.link(ob)
        bpy.context.scene.collection.objects.unlink(ob)
    file = folder / "native.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    return file, shown


@pytest.mark.parametrize("how", ["opened", "linked", "overridden"])
def test_it_plays_without_the_add_on(how, tmp_path):
    file, shown = performance(tmp_path)
    process = subprocess.run(
        [sys.executable, "-c", SHOW, str(file), how, json.dumps(FRAMES)],
        capture_output=True,
        text=True,
        check=True,
    )
    said = next(line for line in process.stdout.splitlines() if line.startswith("SHOWN "))
    played = json.loads(said.removeprefix("SHOWN "))
    for frame in FRAMES:
        for name, matrix in shown[frame].items():
            found = played[str(frame)][name]
            off = max(
                abs(a - b) for row, other in zip(matrix, found, strict=True) for a, b in zip(row, other, strict=True)
            )
            assert off < 1e-4, (frame, name)
    for words in ("Dependency cycle", "Error", "Traceback"):
        assert words not in process.stdout + process.stderr


def test_nothing_of_it_needs_python(tmp_path):
    performance(tmp_path)
    curves = bpy.data.objects["leg"].animation_data.drivers
    assert curves
    assert all(curve.driver.is_valid and curve.driver.is_simple_expression for curve in curves)
    assert max(len(curve.driver.expression) for curve in curves) <= 255
    bones = bpy.data.objects["leg"].data
    assert not [bone.name for bone in bones.bones if bone.name.startswith("IK-") and bone.use_deform]
    assert not bones.collections_all["IK Mechanism"].is_visible
