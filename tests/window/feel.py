"""The same mouse over the same leg gives the same numbers with the add-on's chain as with Blender's own IK.

    blender sample_scenes/biped_walk.blend -p 0 0 1600 900 --python tests/window/feel.py -- FOLDER [keyed|unkeyed]

Hips, bones of the leg and its control are moved, turned and scaled; the legs have keys of their own, or have not. The
add-on must be enabled. Blender ends with status 1 where a channel differs, or where anything left a traceback.
"""

import sys
from math import pi, sin
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))

import driver as d
from redraws import drag_by, rig, scene, select_bone, select_object

TIP, FOOT = "shin.L", "Foot.L"
SAME = 2e-3
"""How far apart a channel may be: Blender's IK comes to its solution step by step, and not all the way."""
CHANNELS = ("location", "rotation_quaternion", "rotation_euler", "scale")
GESTURES = (
    ("hips", "r"),
    ("hips", "r r"),
    ("hips", "g"),
    ("thigh.L", "r"),
    ("thigh.L", "r r"),
    ("thigh.L", "r x x"),
    ("thigh.L", "s"),
    ("shin.L", "r"),
    ("shin.L", "r r"),
    ("shin.L", "g"),
    ("foot.L", "r"),
    ("foot.L", "r r"),
    ("", "g"),
    ("", "r"),
)
"""Each with a bone, or "" for the control."""


def owners() -> list:
    return [*rig().pose.bones, *(ob for ob in scene().objects if ob.type == "EMPTY")]


def numbers() -> dict[tuple[str, str], tuple]:
    return {(owner.name, name): tuple(getattr(owner, name)) for owner in owners() for name in CHANNELS}


def restore(before: dict[tuple[str, str], tuple]) -> None:
    for owner in owners():
        for name in CHANNELS:
            setattr(owner, name, before[owner.name, name])


def shown() -> list[float]:
    bpy.context.view_layer.update()
    bones = rig().evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    return [x for name in ("thigh.L", TIP) for row in bones[name].matrix for x in row]


def own_ik() -> None:
    """Blender's own IK in place of the chain, with the pole angle with which it shows the same."""
    wanted, tip = shown(), rig().pose.bones[TIP]
    tip.analytic_ik_enabled = False
    constraint = tip.constraints.new("IK")
    constraint.target, constraint.pole_target = tip.analytic_ik_target, tip.analytic_ik_pole_target
    constraint.chain_count, constraint.iterations = 2, 500

    def apart(angle: float) -> float:
        constraint.pole_angle = angle
        return max(abs(a - b) for a, b in zip(shown(), wanted, strict=True))

    best, width = 0.0, pi
    while width > 1e-4:
        best = min((best + width * k / 8 for k in range(-8, 9)), key=apart)
        width /= 4
    print(f"Blender's IK shows the leg {apart(best):.5f} apart", flush=True)


def key_leg() -> None:
    """Keys for the bones of the leg; the knee bends about its axis, or Blender's IK would bend it elsewhere."""
    for frame in range(1, 40, 6):
        for name, turn in (("thigh.L", (0.2, 0.0, 0.1)), (TIP, (0.3, 0.0, 0.0)), ("foot.L", (0.1, 0.2, 0.1))):
            bone = rig().pose.bones[name]
            bone.rotation_euler = [value * sin(0.3 * frame) for value in turn]
            bone.keyframe_insert("rotation_euler", frame=frame)


def gestures() -> d.Steps:
    """Ends with the channels after each gesture."""
    before, found = numbers(), []
    for bone, move in GESTURES:
        with d.over():
            select_bone(bone) if bone else select_object(FOOT)
        restore(before)
        yield 0.3
        yield from drag_by(move, pixels=90)
        found.append(numbers())
    restore(before)
    return found


def steps() -> d.Steps:
    bpy.context.preferences.view.show_splash = False
    failed = []
    words = d.words_after_dashes()[1:]
    for keyed in ("keyed" in words,) if words else (False, True):
        if keyed:
            for constraint in [each for each in rig().pose.bones[TIP].constraints if not each.mute]:
                rig().pose.bones[TIP].constraints.remove(constraint)
            rig().pose.bones[TIP].analytic_ik_enabled = True
            key_leg()
        scene().frame_set(13)
        scene().frame_set(14)
        yield 1.0
        start = numbers()
        ours = yield from gestures()
        still = [move for move, found in zip(GESTURES, ours, strict=True) if found == start]
        assert not still, f"nothing is changed by {still}"
        d.picture(d.out_folder() / f"feel_ours_{keyed}.png")
        yield 0.5
        own_ik()
        yield 0.5
        theirs = yield from gestures()
        d.picture(d.out_folder() / f"feel_theirs_{keyed}.png")
        for (bone, move), a, b in zip(GESTURES, ours, theirs, strict=True):
            apart = {key: max(abs(x - y) for x, y in zip(a[key], b[key], strict=True)) for key in a}
            where = max(apart, key=apart.__getitem__)
            difference = apart[where]
            told = f"{'keyed' if keyed else 'no keys'}, {move} on {bone or FOOT}: {difference:.5f} {where}"
            print(told, flush=True)
            if difference > SAME:
                failed.append(told)
    assert not failed, failed


d.run(steps)
