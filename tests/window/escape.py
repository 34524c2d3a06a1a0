"""Escape in dialogs, in a drag of the knee's ring, of a moved control and of a bake: nothing is changed.

What else may go wrong, and what is said of it, tests/ui shows.
"""

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))

import driver as d
from redraws import module, rig, select_bone, select_object


def reports() -> list[str]:
    """What the Info editor lists."""
    area = d.area("TEXT_EDITOR")
    area.type = "INFO"
    with d.over(area_kind="INFO"):
        bpy.ops.info.select_all(action="SELECT")
        bpy.ops.info.report_copy()
        bpy.ops.info.select_all(action="DESELECT")
    area.type = "TEXT_EDITOR"
    return bpy.context.window_manager.clipboard.splitlines()


def shot(name: str) -> None:
    d.picture(d.out_folder() / f"{name}.png")


def rig_the_legs(controls: str) -> None:
    """What is rigged is no matter here, so this is no click."""
    select_object(rig().name)
    with d.over():
        bpy.ops.analytic_ik.rig_legs(controls=controls)
        bpy.ops.object.mode_set(mode="POSE")


def move_bone(name: str, by: str) -> d.Steps:
    """Grab a bone in Pose Mode and move it by what keys say, such as "y 2"."""
    select_bone(name)
    yield 0.3
    yield from d.press("g", d.middle())
    for key in by.split():
        yield from d.press(key)
    yield from d.press("Return")


def shown(bone: str) -> bpy.types.PoseBone:
    """A bone as it is evaluated."""
    return rig().evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[bone]


def numbers() -> list:
    """The channels and settings of all bones, rounded, and the actions."""
    found: list = [(action.name, len(action.groups) if hasattr(action, "groups") else 0) for action in bpy.data.actions]
    for bone in rig().pose.bones:
        values = [*bone.location, *bone.rotation_euler, *bone.rotation_quaternion, *bone.scale, bone.analytic_ik_swivel]
        found.append((bone.name, bone.analytic_ik_enabled, *(round(value, 5) for value in values)))
    return found


def steps() -> d.Steps:
    yield 0.8
    yield from d.open_sidebar("Analytic IK")
    select_bone("spine")
    yield from d.press("alt+a", d.middle())
    before = numbers()
    at = yield from d.find_button("analytic_ik.rig_legs", across=(0.84,))
    yield from d.click(at)
    yield 0.5
    shot("escape_rig_legs")
    yield from d.press("Escape")
    assert not any(bone.analytic_ik_enabled for bone in rig().pose.bones)
    assert numbers() == before
    rig_the_legs("BONES")
    yield from move_bone("foot_ik.L", "z 0 period 2")
    # A bake of a chain with a keyed switch reads each frame: it takes long enough to be cancelled.
    for frame in (1, 2000):
        rig().pose.bones["foot_ik.L"].keyframe_insert("location", frame=frame)
    rig().pose.bones["shin.L"].keyframe_insert("analytic_ik_enabled", frame=1)
    yield 0.3
    before = numbers()
    for operator in ("bake", "check", "snap_targets", "snap_pose"):
        yield from d.open_dialog(operator)
        yield 0.4
        shot(f"escape_{operator}")
        yield from d.press("Escape")
        yield 0.3
        assert numbers() == before, operator
    knee = d.pixel_of(rig().matrix_world @ shown("thigh.L").tail)
    yield from d.move(knee)
    d.xdotool("mousedown", 1)
    yield 0.3
    for k in range(1, 9):
        d.point((knee[0] + 6 * k, knee[1]))
        yield 0.06
    shot("escape_ring")
    assert numbers() != before, "the ring was not dragged"
    # Not press: it would let the mouse's button go first, which confirms.
    d.xdotool("key", "Escape")
    yield 0.4
    d.xdotool("mouseup", 1)
    yield 0.4
    assert numbers() == before
    yield from d.press("g", d.pixel_of(rig().matrix_world @ shown("foot_ik.L").head))
    d.point((knee[0] - 60, knee[1]))
    yield 0.3
    yield from d.press("Escape")
    assert numbers() == before
    yield from d.click_button("analytic_ik.bake", across=(0.3,))
    yield from d.press("Return")
    yield 0.6
    assert module("ui.operators.stepped").running() is not None, "the bake was done too soon"
    shot("escape_baking")
    yield from d.press("Escape")
    yield 0.5
    shot("escape_baked_not")
    assert module("ui.operators.stepped").running() is None
    assert numbers() == before
    assert any("was cancelled, nothing was changed" in line for line in reports()), reports()[-4:]


d.run(steps)
