"""A captured walk gets foot and knee controls that carry it, a foot is moved, and all is baked."""

import os
from math import cos, degrees, sin, tau
from pathlib import Path

import addon_utils
import bpy
import pytest
from mathutils import Matrix, Vector

from ik_addon.authoring.finding.limbs import find_limbs

from .scenes import angle_between, curves_of, played, played_without_the_add_on, select_bones

pytestmark = pytest.mark.versions

FRAMES = range(1, 41)
LIFT = 0.05

# A body that walks: hips that sway, legs that swing, knees that are quite straight at times and bend inward a little.
SKELETON = """HIERARCHY
ROOT Hips
{ OFFSET 0 0 0 CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT LeftUpLeg { OFFSET 0.1 -0.05 0 CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT LeftLeg { OFFSET 0 -0.45 0 CHANNELS 3 Zrotation Xrotation Yrotation
      JOINT LeftFoot { OFFSET 0 -0.42 0 CHANNELS 3 Zrotation Xrotation Yrotation
        JOINT LeftToeBase { OFFSET 0 -0.06 0.14 CHANNELS 3 Zrotation Xrotation Yrotation
          End Site { OFFSET 0 0 0.06 } } } } }
  JOINT RightUpLeg { OFFSET -0.1 -0.05 0 CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT RightLeg { OFFSET 0 -0.45 0 CHANNELS 3 Zrotation Xrotation Yrotation
      JOINT RightFoot { OFFSET 0 -0.42 0 CHANNELS 3 Zrotation Xrotation Yrotation
        JOINT RightToeBase { OFFSET 0 -0.06 0.14 CHANNELS 3 Zrotation Xrotation Yrotation
          End Site { OFFSET 0 0 0.06 } } } } }
  JOINT Spine { OFFSET 0 0.1 0 CHANNELS 3 Zrotation Xrotation Yrotation
    End Site { OFFSET 0 0.4 0 } } }
MOTION
"""


def walk(path: Path) -> Path:
    rows = []
    for frame in range(len(FRAMES)):
        phase = tau * frame / 20.0
        row = [0.0, 0.95 + 0.02 * cos(2.0 * phase), 0.05 * frame, 3.0 * sin(phase), 2.0, 5.0 * sin(phase)]
        for side in (0.0, tau / 2.0):
            knee = max(0.0, 60.0 * sin(phase + side))
            row += [2.0, -25.0 * sin(phase + side + 0.7), 4.0]
            row += [0.05 * knee, knee, 0.02 * knee]
            row += [3.0, 10.0 * sin(phase + side), -5.0, 0.0, 0.0, 0.0]
        row += [0.0, 0.0, 0.0]
        rows.append(" ".join(f"{value:.6f}" for value in row))
    text = SKELETON.replace("{", "\n{\n").replace("}", "\n}\n").replace("CHANNELS", "\nCHANNELS")
    path.write_text(text + f"Frames: {len(rows)}\nFrame Time: 0.0333333\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture(params=["made", "captured"])
def capture(request, tmp_path) -> tuple[bpy.types.Object, range]:
    """A capture as Blender imports it, and its frames."""
    if request.param == "made":
        path = walk(tmp_path / "walk.bvh")
    else:
        path = Path(os.environ.get("ANALYTIC_IK_CAPTURE", ""))
        if not path.is_file():
            pytest.skip("ANALYTIC_IK_CAPTURE names no .bvh file. Set it to a captured walk of a human")
    addon_utils.enable("io_anim_bvh")
    bpy.ops.import_anim.bvh(filepath=str(path), use_fps_scale=False, update_scene_duration=True)
    ob = bpy.context.object
    return ob, range(1, int(bpy.context.scene.frame_end))


def test_controls_carry_the_capture_and_a_lifted_foot_is_baked(capture):
    ob, frames = capture
    legs = find_limbs(ob.data.bones).limbs
    assert len(legs) == 2
    captured = played_without_the_add_on(ob, frames)
    bpy.context.scene.frame_set(frames[0])
    bpy.ops.analytic_ik.rig_legs()
    tips = [leg.bones[-1] for leg in legs]
    select_bones(ob, *tips)
    bpy.ops.analytic_ik.snap_targets(use_range=True, frame_start=frames[0], frame_end=frames[-1])
    assert_same(ob, legs, captured, played(ob, frames))

    # The controls alone: without the legs' own keys.
    own = {name for leg in legs for name in (*leg.bones, leg.end)}
    curves = [curve for (path, _), curve in curves_of(ob).items() if path.partition('"')[2].partition('"')[0] in own]
    for curve in curves:
        curve.mute = True
    for name in own:
        ob.pose.bones[name].matrix_basis = Matrix()
    assert_same(ob, legs, captured, played(ob, frames), turned=False)
    for curve in curves:
        curve.mute = False

    length = length_of(ob, legs[0])
    for tip in tips:
        lift(ob.pose.bones[tip].analytic_ik_target, LIFT * length)
    bpy.ops.analytic_ik.bake(frame_start=frames[0], frame_end=frames[-1])
    baked = played_without_the_add_on(ob, frames)
    up = ob.matrix_world.to_3x3().inverted() @ Vector((0.0, 0.0, LIFT * length))
    for frame in frames:
        for leg in legs:
            foot, before = baked[frame][leg.end], captured[frame][leg.end]
            # Where the leg is nearly straight, up may be out of its reach.
            wanted = before.translation + up
            root = captured[frame][leg.bones[0]].translation
            if (wanted - root).length < length * (1.0 - 1e-4):
                assert (foot.translation - wanted).length <= 1e-4 * length
            assert degrees(angle_between(foot, before)) <= 0.1


def test_from_fk_to_ik_and_back_changes_no_rotation(capture):
    ob, frames = capture
    captured = played_without_the_add_on(ob, frames)
    bpy.context.scene.frame_set(frames[0])
    bpy.ops.analytic_ik.rig_legs()
    select_bones(ob, *(leg.bones[-1] for leg in find_limbs(ob.data.bones).limbs))
    span = {"use_range": True, "frame_start": frames[0], "frame_end": frames[-1]}
    bpy.ops.analytic_ik.snap_targets(**span)
    bpy.ops.analytic_ik.snap_pose(**span)
    bpy.ops.analytic_ik.remove(keep_pose=False)
    back = played_without_the_add_on(ob, frames)
    worst = max(angle_between(back[frame][name], captured[frame][name]) for frame in frames for name in back[frame])
    assert degrees(worst) <= 0.05


def assert_same(ob, legs, before, after, turned=True) -> None:
    """Knees and ankles within 1e-4 of a leg's length, thigh, shin and foot within 0.1°."""
    for frame, poses in before.items():
        for leg in legs:
            for name in (*leg.bones[1:], leg.end):
                way = after[frame][name].translation - poses[name].translation
                assert way.length <= 1e-4 * length_of(ob, leg), (frame, name)
            for name in (*leg.bones, leg.end) if turned else (leg.end,):
                assert degrees(angle_between(after[frame][name], poses[name])) <= 0.1, (frame, name)


def length_of(ob, leg) -> float:
    return sum(ob.data.bones[name].length for name in leg.bones)


def lift(control: bpy.types.Object, height: float) -> None:
    curve = curves_of(control)["location", 2]
    for key in curve.keyframe_points:
        key.co.y += height
        key.handle_left.y += height
        key.handle_right.y += height
    curve.update()
