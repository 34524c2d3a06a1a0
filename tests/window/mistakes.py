"""Only mistakes: wrong bones, no bone, what is linked, deleted or out of reach, and Escape everywhere. Each is answered
by a sentence or changes nothing, and none leaves a traceback.

    blender sample_scenes/biped_unrigged.blend --python tests/window/mistakes.py -- FOLDER [MISTAKE...]

The mistakes are named as the functions below; without one all are made, each in the file as it was opened. The add-on
must be enabled. FOLDER gets a picture of each; the sentence that the panel, or the report, had is printed. Blender ends
with status 1 where it was another one.
"""

import sys
import traceback
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))

import driver as d
from redraws import module, rig, scene, select_bone, select_object

BESIDE = "TEXT_EDITOR"
"""An area that may be an Info editor for a moment."""
MET = "On target"

said: list[str] = []
"""The sentences that were drawn in panels since they were last forgotten."""


def listen() -> None:
    """Keep the sentences that panels draw, which cannot be read from the screen."""
    panels = [name for name in sys.modules if ".ik_addon.ui.panels." in name]
    for name in panels:
        for function in ("draw_sentence", "status_words"):
            original = getattr(sys.modules[name], function, None)
            if original is not None:
                setattr(sys.modules[name], function, _heard(original))


def _heard(original):
    def heard(*given):
        words = original(*given)
        said.append(given[2] if words is None else words)
        return words

    return heard


def reports() -> list[str]:
    """What the Info editor lists."""
    area = d.area(BESIDE)
    area.type = "INFO"
    with d.over(area_kind="INFO"):
        bpy.ops.info.select_all(action="SELECT")
        bpy.ops.info.report_copy()
        bpy.ops.info.select_all(action="DESELECT")
    area.type = BESIDE
    return bpy.context.window_manager.clipboard.splitlines()


def shot(name: str) -> None:
    d.picture(d.out_folder() / f"{name}.png")


def shows(name: str, words: str) -> d.Steps:
    """A picture; the panel has a sentence with these words."""
    said.clear()
    for area in d.window().screen.areas:
        area.tag_redraw()
    yield 0.6
    shot(name)
    found = next((sentence for sentence in said if words in sentence), None)
    assert found, (words, said)
    print(f"{name}: {found}", flush=True)


def reported(name: str, words: str) -> d.Steps:
    """A picture; the last report but those of Blender's own operators has these words."""
    yield 0.3
    shot(name)
    found = next((line for line in reversed(reports()) if words in line), None)
    assert found, (words, reports()[-4:])
    print(f"{name}: {found}", flush=True)
    # A report of an error is a box that stays until the mouse leaves it.
    yield from d.move(d.middle())
    yield 0.5


def tips() -> list[str]:
    return [bone.name for bone in rig().pose.bones if bone.analytic_ik_enabled]


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


# The mistakes


def nothing_of_a_character() -> d.Steps:
    """An object that is no armature is active."""
    select_object("Ground")
    yield from shows("nothing_of_a_character", "Select an armature")


def edit_mode() -> d.Steps:
    select_bone("shin.L")
    yield from d.press("Tab", d.middle())
    assert bpy.context.mode == "EDIT_ARMATURE", bpy.context.mode
    yield from shows("edit_mode", "Leave Edit Mode")
    yield from d.press("Tab", d.middle())


def no_bone() -> d.Steps:
    select_bone("shin.L")
    rig().data.bones.active = None
    yield from shows("no_bone", "Select the last bone of a limb")


def a_bone_without_parent() -> d.Steps:
    select_bone("root")
    yield 0.3
    yield from d.click_button("analytic_ik.add")
    yield from reported("a_bone_without_parent", "has no parent")
    assert not tips()


def the_wrong_bone_of_a_leg() -> d.Steps:
    """A foot, and a thigh: the chain ends at the shin, and the report says so."""
    for bone in ("foot.L", "thigh.R"):
        select_bone(bone)
        yield 0.3
        yield from d.click_button("analytic_ik.add")
        yield from reported(f"the_wrong_bone_{bone[:-2]}", f"Bone '{bone}' belongs to the limb")
    assert tips() == ["shin.L", "shin.R"], tips()


def legs_of_an_arm() -> d.Steps:
    select_bone("forearm.L")
    yield 0.3
    yield from d.click_button("analytic_ik.rig_legs")
    yield from reported("legs_of_an_arm", "no leg to rig was found among its selected bones")
    assert not tips()


def a_linked_armature() -> d.Steps:
    """The panel says what can be done, and its buttons why they cannot be pressed."""
    file = str(Path(bpy.app.tempdir) / "library.blend")
    name = rig().name
    bpy.ops.wm.save_as_mainfile(filepath=file, copy=True)
    bpy.ops.object.mode_set(mode="OBJECT")
    for ob in [ob for ob in scene().objects if ob.type in {"ARMATURE", "MESH"}]:
        bpy.data.objects.remove(ob)
    with bpy.data.libraries.load(file, link=True) as (_, linked):
        linked.objects = [name]
    scene().collection.objects.link(linked.objects[0])
    bpy.context.view_layer.objects.active = linked.objects[0]
    linked.objects[0].select_set(True)
    yield from shows("a_linked_armature", "make a library override")
    at = yield from d.find_button("analytic_ik.rig_legs")
    yield from d.move(at)
    yield 2.0
    shot("a_linked_armature_tooltip")
    yield from d.click(at)
    assert not any(bone.analytic_ik_enabled for bone in linked.objects[0].pose.bones)


def a_deleted_target() -> d.Steps:
    """An Empty is deleted with X; the panel says whose it was, and a button makes a new one."""
    rig_the_legs("EMPTIES")
    name = rig().pose.bones["shin.L"].analytic_ik_target.name
    select_object(name)
    yield 0.3
    yield from d.press("x", d.middle())
    yield 0.6  # the question comes up
    yield from d.press("Return")
    assert name not in scene().objects
    select_bone("shin.L")
    yield from shows("a_deleted_target", "Bone 'shin.L'")
    yield from d.click_button("analytic_ik.cure")
    yield from shows("a_deleted_target_mended", MET)


def a_deleted_control_bone() -> d.Steps:
    rig_the_legs("BONES")
    select_bone("foot_ik.L")
    yield from d.press("Tab", d.middle())
    yield from d.press("x", d.middle())
    yield 0.6  # the question comes up
    yield from d.press("Return")
    yield from d.press("Tab", d.middle())
    assert "foot_ik.L" not in rig().pose.bones
    select_bone("shin.L")
    yield from shows("a_deleted_control_bone", "has no bone 'foot_ik.L'")
    yield from d.click_button("analytic_ik.cure")
    yield from shows("a_deleted_control_bone_mended", MET)


def out_of_reach() -> d.Steps:
    """Too far, and then stretched by the button in the row of the status."""
    rig_the_legs("BONES")
    yield from move_bone("foot_ik.L", "y minus 0 period 8")
    yield from shows("out_of_reach", "out of reach")
    yield from d.click_button("analytic_ik.cure")
    bones = rig().pose.bones
    assert bones["shin.L"].analytic_ik_reach == "STRETCH" or bones["hips"].analytic_ik_body_influence == 1.0
    yield from shows("out_of_reach_mended", "")


def a_pole_behind() -> d.Steps:
    """A pole target behind its knee: the knee bends backward, and the panel says so."""
    rig_the_legs("BONES")
    yield from move_bone("foot_ik.L", "z 0 period 2")
    yield from move_bone("knee_pole.L", "y 3")
    # The foot is on its target: what the row says instead comes with a button.
    yield from shows("a_pole_behind", MET)
    at = yield from d.find_button("analytic_ik.cure")
    assert "FLIP_BEND" in (d.button_under_mouse() or "")
    yield from d.click(at)
    shot("a_pole_behind_flipped")
    assert rig().pose.bones["shin.L"].analytic_ik_flip


def rest_position() -> d.Steps:
    rig_the_legs("BONES")
    select_bone("foot_ik.L")
    rig().data.pose_position = "REST"
    yield from shows("rest_position", "is in Rest Position")
    yield from d.click_button("analytic_ik.cure")
    assert rig().data.pose_position == "POSE"


def escape_everywhere() -> d.Steps:
    """Dialogs, a drag of the knee's ring, a moved control: Escape, and nothing is changed."""
    select_bone("spine")
    yield from d.press("alt+a", d.middle())
    before = numbers()
    at = yield from d.find_button("analytic_ik.rig_legs", across=(0.84,))
    yield from d.click(at)
    yield 0.5
    shot("escape_rig_legs")
    yield from d.press("Escape")
    assert not tips()
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
    yield from reported("escape_report", "was cancelled, nothing was changed")


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


MISTAKES = (
    nothing_of_a_character,
    edit_mode,
    no_bone,
    a_bone_without_parent,
    the_wrong_bone_of_a_leg,
    legs_of_an_arm,
    a_linked_armature,
    a_deleted_target,
    a_deleted_control_bone,
    out_of_reach,
    a_pole_behind,
    rest_position,
    escape_everywhere,
)


def steps() -> d.Steps:
    names = d.words_after_dashes()[1:]
    file, failed = bpy.data.filepath, []
    listen()
    for mistake in MISTAKES:
        if names and mistake.__name__ not in names:
            continue
        bpy.ops.wm.open_mainfile(filepath=file)
        yield 0.8
        yield from d.open_sidebar("Analytic IK")
        try:
            yield from mistake()
        except Exception:
            # The others are made all the same.
            print(traceback.format_exc(), flush=True)
            shot(f"failed_{mistake.__name__}")
            failed.append(mistake.__name__)
    assert not failed, failed


d.run(steps)
