"""Match Source on characters from elsewhere, with a captured walk that was copied to them bone by bone."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion

from benchmarks.character.files import armature_of, importers
from ik_addon.authoring.finding.limbs import FoundLimb, find_limbs
from ik_addon.authoring.rigging import rig_legs
from ik_addon.matching import match_source

from ..planting.clips import capture
from ..rig.rigs import evaluated_copy, update
from ..scenes import go_to

CHARACTERS = ("mpfb_mixamo.json", "mannequiny.glb", "quat_KnightCharacter.glb")
FRAMES = range(40, 80)
TOO_HIGH = 1.08
"""What a retargeter gets wrong of the height of hips."""


def limbs_of(ob: bpy.types.Object) -> dict[tuple[str, str], FoundLimb]:
    return {(limb.kind, limb.side): limb for limb in find_limbs(ob.data.bones, arms=True).limbs}


def joints(ob: bpy.types.Object, limb: FoundLimb) -> np.ndarray:
    """(frames, n, 3), where its joints are in the world. A foot need not be parented to its shin."""
    last, found = ob.data.bones[limb.bones[-1]], []
    end = last.matrix_local.inverted() @ ob.data.bones[limb.end].head_local
    for frame in FRAMES:
        go_to(frame)
        shown = evaluated_copy(ob)
        bones = shown.pose.bones
        points = [*(bones[name].head for name in limb.bones), bones[last.name].matrix @ end]
        found.append([shown.matrix_world @ point for point in points])
    return np.array(found, float)


def size_of(joints: np.ndarray) -> float:
    """How long a limb is as it is posed: imported poses are off their rest lengths."""
    return float(np.linalg.norm(np.diff(joints, axis=1), axis=2).sum(axis=1).mean())


def pelvis_of(ob: bpy.types.Object) -> bpy.types.Bone:
    """The nearest bone that carries both legs."""
    left, right = (ob.data.bones[limbs_of(ob)["LEG", side].bones[0]] for side in "LR")
    return next(bone for bone in left.parent_recursive if bone in right.parent_recursive)


def turn_from_rest(ob: bpy.types.Object, name: str) -> Quaternion:
    """How an evaluated bone is turned in the world from its rest pose."""
    world = ob.matrix_world.to_quaternion()
    bone = ob.pose.bones[name]
    rest = world @ bone.bone.matrix_local.to_quaternion()
    return world @ bone.matrix.to_quaternion() @ rest.inverted()


def copy_motion(origin: bpy.types.Object, ob: bpy.types.Object) -> None:
    """Turn each bone of the limbs and the pelvis from rest as the same bone of the source is, in the world."""
    names = {pelvis_of(ob).name: pelvis_of(origin).name}
    theirs = limbs_of(origin)
    for kind, limb in limbs_of(ob).items():
        if kind in theirs:
            own, other = [[name for name in (*each.bones, each.end) if name] for each in (limb, theirs[kind])]
            names |= dict(zip(own, other, strict=True))
    ob.animation_data_create().action = bpy.data.actions.new("copied")
    world = ob.matrix_world.to_quaternion()
    scale = TOO_HIGH * size_of(joints(ob, limbs_of(ob)["LEG", "L"])) / size_of(joints(origin, theirs["LEG", "L"]))
    for frame in FRAMES:
        go_to(frame)
        shown = evaluated_copy(origin)
        turns = {name: turn_from_rest(shown, other) for name, other in names.items()}
        for name, turn in turns.items():
            bone = ob.pose.bones[name]
            above = next((turns[parent.name] for parent in bone.parent_recursive if parent.name in turns), Quaternion())
            rest = world @ bone.bone.matrix_local.to_quaternion()
            bone.rotation_mode = "QUATERNION"
            bone.rotation_quaternion = rest.inverted() @ above.inverted() @ turn @ rest
            bone.keyframe_insert("rotation_quaternion", frame=frame)
            if bone.bone == pelvis_of(ob):
                place = scale * (shown.matrix_world @ shown.pose.bones[names[name]].head)
                bone.location = (ob.matrix_world @ bone.bone.matrix_local).inverted() @ place
                bone.keyframe_insert("location", frame=frame)
    update()


@pytest.mark.slow
@pytest.mark.parametrize("name", CHARACTERS)
def test_a_captured_walk_matches_its_source(name):
    source, path = str(capture("cmu_131_01_walk.bvh")), str(capture(f"characters/{name}"))
    ob = armature_of(path, next(iter(importers(path))))
    before = set(bpy.context.scene.objects)
    importers(source)["default"](source)
    (origin,) = set(bpy.context.scene.objects) - before
    ob.animation_data_clear()
    for bone in ob.pose.bones:
        # A clip may have left it uneven scales, with which a limb is as long as it is bent.
        bone.matrix_basis = Matrix()
    copy_motion(origin, ob)
    rig_legs(bpy.context, ob, arms=True, follow_motion=True)
    own, theirs = limbs_of(ob), limbs_of(origin)
    kinds = [(kind, side) for kind in ("LEG", "ARM") for side in "LR"]
    seen = {key: joints(origin, theirs[key]) for key in kinds}
    before = {key: joints(ob, own[key]) for key in kinds}
    sizes = {key: size_of(before[key]) for key in kinds}
    scales = {
        kind: sum(sizes[kind, side] for side in "LR") / sum(size_of(seen[kind, side]) for side in "LR")
        for kind in ("LEG", "ARM")
    }
    report = match_source(bpy.context, ob, origin, FRAMES)
    told = {(limb["kind"], limb["side"]): limb for limb in report["limbs"]}
    assert set(told) == set(kinds)
    for key in kinds:
        ours, ends = joints(ob, own[key]), scales[key[0]] * seen[key][:, -1]
        if key[0] == "ARM":
            ends = ours[:, 0] + scales["ARM"] * (seen[key][:, -1] - seen[key][:, 0])
        miss = np.linalg.norm(ours[:, -1] - ends, axis=1) / sizes[key]
        near = np.linalg.norm(ends - ours[:, 0], axis=1) < sizes[key]
        was = np.linalg.norm(before[key][:, -1] - ends, axis=1).max() / sizes[key]
        turn, shift = told[key]["swivel_error"], report["body_shift"] / sizes[key]
        print(f"{name} {key}: {was:.2f} -> {miss.max():.1e} of the limb, swivel {turn:.1e}, body {shift:.2f}")
        assert near.all()
        assert told[key]["unreached_frames"] == []
        assert told[key]["scale"] == pytest.approx(scales[key[0]], rel=1e-5)
        assert miss.max() < 1e-5
        assert told[key]["swivel_error"] < 1e-4
        assert was > 0.1
