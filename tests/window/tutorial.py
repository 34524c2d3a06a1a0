"""The first lesson of the tutorial, step by step by mouse and keys: from an imported character to a keyed step.

    blender --python tests/window/tutorial.py -- FOLDER [CHARACTER.glb|.bvh|.fbx]

The add-on must be enabled. Without a character the armature of the opened file is taken. FOLDER gets a picture of each
step. Blender ends with status 1 if a step does not do what docs/tutorial.md says.
"""

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))

import driver as d
from characters import bring_in, show_whole
from controls import choose, missed, place, tips_of

FRAMES = (1, 11, 21)
"""At which the step is keyed."""
MET = 1e-4
"""Of the height of the character: where a foot counts as on its control."""


def rig() -> bpy.types.Object:
    return next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")


def tips() -> list[bpy.types.PoseBone]:
    return tips_of(rig())


def height() -> float:
    return max(rig().dimensions)


def shot(name: str) -> None:
    d.picture(d.out_folder() / f"{name}.png")


def steps() -> d.Steps:
    words = d.words_after_dashes()[1:]
    if words:
        yield from bring_in(Path(words[0]))
    yield from open_the_tab()
    yield from rig_the_legs()
    tip = tips()[0]
    yield from choose_the_control(tip)
    yield from key_a_step(tip)
    watch(tip)


def open_the_tab() -> d.Steps:
    """1 and 2: the armature selected, the whole of it in view, the sidebar open."""
    show_whole(rig())
    yield from d.open_sidebar("Analytic IK")
    shot("1_selected")


def rig_the_legs() -> d.Steps:
    """3: one click, and no bone moves."""
    before = {bone.name: bone.matrix.copy() for bone in rig().pose.bones}
    yield from d.click_button("analytic_ik.rig_legs")
    yield 0.5
    shot("2_rigged")
    assert len(tips()) >= 2, [tip.name for tip in tips()]
    shown = rig().evaluated_get(bpy.context.evaluated_depsgraph_get())
    for name, matrix in before.items():
        moved = (shown.pose.bones[name].matrix.translation - matrix.translation).length
        assert moved < MET * height(), f"{name} moved by {moved}"


def choose_the_control(tip: bpy.types.PoseBone) -> d.Steps:
    """4: Pose Mode, and a click on the control."""
    yield from choose(tip)
    shot("3_control")


def key_a_step(tip: bpy.types.PoseBone) -> d.Steps:
    """5 to 7: three keys."""
    up = 0.12 * d.region().height
    for frame, x, y in zip(FRAMES, (0, 0.25 * up, 0.25 * up), (0, up, -up), strict=True):
        bpy.context.scene.frame_set(frame)
        yield 0.2
        if x:
            start = d.pixel_of(place(tip))
            yield from d.press("g", start)
            for k in range(1, 7):
                d.point((start[0] + x * k / 6, start[1] + y * k / 6))
                yield 0.05
            yield from d.click((start[0] + x, start[1] + y))
        yield from d.press("i", d.middle())
        shot(f"4_frame_{frame}")


def watch(tip: bpy.types.PoseBone) -> None:
    """8: the foot is on its control on every frame, and moves."""
    places = []
    for frame in range(FRAMES[0], FRAMES[-1] + 1):
        bpy.context.scene.frame_set(frame)
        assert missed(tip) < MET * height(), f"frame {frame}: {missed(tip)}"
        places.append(place(tip).copy())
    lifted = max((at - places[0]).length for at in places)
    assert lifted > 0.02 * height(), "nothing was keyed"
    print(f"Keyed: the control moves by {lifted:.3f}", flush=True)


if __name__ == "__main__":
    d.run(steps, minutes=10.0)
