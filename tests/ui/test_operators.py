"""The operators have the names, options and defaults that scripts rely on, and say when they cannot run."""

from importlib import import_module
from math import radians
from pkgutil import walk_packages

import bpy
import pytest

from ik_addon import ui
from ik_addon.authoring.rigging import rig_legs

from ..grabbing.bodies import person
from ..helpers.controlled import human_with_ground, rigged_with_bones
from ..matching.bodies import Build, moving_body
from ..rig.rigs import editing, leg, update
from ..scenes import (
    carrier_of_a_prop,
    curves_of,
    enter,
    go_to,
    key_fk,
    keyed_frames,
    link_from_library,
    rotation_curves,
    select,
    skin_of,
    sliding_walk,
    walking_leg,
    whole_state,
)
from ..travel.walkers import Walk, walker
from .layouts import adopted, with_blenders_ik

pytestmark = pytest.mark.versions

OPTIONS = {
    "add": {"chain_count": 2, "solver": "AUTO", "with_pole": True},
    "remove": {"keep_pose": True, "delete_controls": False},
    "limit_knees": {"min_bend": pytest.approx(radians(2.0)), "max_bend": pytest.approx(radians(150.0))},
    "bake": {"frame_step": 1, "only_selected": False, "action": "COPY", "after": "MUTE", "tolerance": 0.0},
    "check": {},
}


def rna(operator: str) -> bpy.types.Struct:
    return getattr(bpy.ops.analytic_ik, operator).get_rna_type()


@pytest.mark.parametrize("operator", OPTIONS)
def test_an_operator_has_its_options_with_their_defaults(operator):
    options = rna(operator).properties
    assert {name: options[name].default for name in OPTIONS[operator]} == OPTIONS[operator]
    shown = [option for option in options if option.identifier != "rna_type"]
    assert all(option.name for option in shown)
    assert rna(operator).description


# Every operator of the add-on


def own_operators() -> dict[str, type]:
    """All operator classes of the add-on by their names; it need not be registered for that."""
    modules = [import_module(found.name) for found in walk_packages(ui.__path__, f"{ui.__name__}.")]
    kinds = {kind for module in modules for kind in vars(module).values() if isinstance(kind, type)}
    own = [kind for kind in kinds if issubclass(kind, bpy.types.Operator) and "bl_idname" in vars(kind)]
    return {kind.bl_idname.partition(".")[2]: kind for kind in own}


INTERNALS = ("_", "()", "bpy", "depsgraph", "record", "RNA", "None", "ChainError", "handler")


def test_every_operator_is_registered():
    assert set(own_operators()) == set(dir(bpy.ops.analytic_ik))


def test_every_operator_says_what_it_does():
    described = [rna(name).description for name in own_operators()]
    options = [option for name in own_operators() for option in rna(name).properties]
    described += [option.description for option in options if option.identifier != "rna_type"]
    for words in described:
        assert len(words) > 5
        assert words[0].isupper()
        # Blender adds the period.
        assert not words.endswith(".")
        assert "\n" not in words
        assert not [internal for internal in INTERNALS if internal in words]


def test_every_operator_asks_blender_for_a_step_to_undo():
    for name, operator in own_operators().items():
        options = operator.bl_options
        # What only changes what a window shows is no step.
        assert {"REGISTER", "UNDO"} <= options or "UNDO_GROUPED" in options or name in {"open_sidebar", "show_chain"}


def sound() -> None:
    enter("POSE", walking_leg().ob, "shin")


def person_posed() -> None:
    enter("POSE", person(), "hips")


def without_chain() -> None:
    enter("POSE", leg().ob, "shin")


def keyed_below() -> None:
    rig = walking_leg()
    key_fk(rig)
    enter("POSE", rig.ob, "shin")


def baked_for_export() -> None:
    keyed_below()
    assert bpy.ops.analytic_ik.bake_for_export() == {"FINISHED"}
    go_to(1)


def another_bone_selected() -> None:
    enter("POSE", walking_leg().ob, "hips")


def checked_out_of_reach() -> None:
    rig = walking_leg()
    rig.target.ob.animation_data_clear()
    rig.target.place((0.0, 0.0, -3.0))
    enter("POSE", rig.ob, "shin")
    bpy.ops.analytic_ik.check(frame_start=1, frame_end=3)


def marked() -> None:
    checked_out_of_reach()
    bpy.ops.analytic_ik.mark_problems()


def all_fk() -> None:
    rig = walking_leg()
    rig.tip.analytic_ik_influence = 0.0
    enter("POSE", rig.ob, "shin")


def skin_active() -> None:
    select(skin_of(leg().ob))


def muted() -> None:
    sound()
    bpy.context.object.pose.bones["shin"].analytic_ik_enabled = False


def planted() -> None:
    sliding_walk()
    bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=40)
    for point in curves_of(bpy.data.objects["Foot.L"])["location", 2].keyframe_points:
        point.co[1] += 0.1


def arm_and_prop() -> None:
    ob, _ = carrier_of_a_prop()
    enter("POSE", ob, "hand.L")


def arm_with_a_prop() -> None:
    arm_and_prop()
    bpy.ops.analytic_ik.lock_to_object(object="prop", frame_start=20, frame_end=40)


def retargeted() -> None:
    source, own = Build("mixamo"), Build(legs=1.3)
    origin, ob = moving_body(source, "source", frames=range(1, 6)), moving_body(own, "character", frames=range(1, 6))
    rig_legs(bpy.context, ob)
    select(origin, ob, active=ob)


def walking() -> None:
    walker(Walk(drift=0.1, last=25))


def walking_in_place() -> None:
    walker(Walk(in_place=True, last=25))


def with_pole_bones() -> None:
    ob = rigged_with_bones(human_with_ground())
    enter("POSE", ob, "shin.L")


def native() -> None:
    sound()
    bpy.ops.analytic_ik.make_native()


def with_few_keys() -> None:
    planted()
    bpy.ops.analytic_ik.simplify_keys()


def with_a_moved_foot() -> None:
    planted()
    go_to(20)
    bpy.data.objects["Foot.L"].location.x += 0.05


def with_a_correction() -> None:
    with_a_moved_foot()
    bpy.ops.analytic_ik.apply_correction()


UNDONE = {
    "add": (without_chain, {}),
    "rig_legs": (without_chain, {"controls": "BONES"}),
    "adopt": (with_blenders_ik, {}),
    "restore": (adopted, {}),
    "remove": (sound, {"delete_controls": True}),
    "limit_knees": (sound, {}),
    "snap_targets": (keyed_below, {"use_range": True, "frame_start": 1, "frame_end": 5}),
    "snap_pose": (sound, {"use_range": True, "frame_start": 1, "frame_end": 5}),
    "bake": (sound, {"frame_start": 1, "frame_end": 5}),
    "bake_for_export": (keyed_below, {}),
    "back_to_live": (baked_for_export, {}),
    "check": (sound, {"frame_start": 1, "frame_end": 5}),
    "pole_follows": (with_pole_bones, {}),
    "switch_to_fk": (sound, {}),
    "switch_to_ik": (all_fk, {}),
    "plant_feet": (sliding_walk, {"frame_start": 1, "frame_end": 40}),
    "plant_again": (planted, {}),
    "path_from_clip": (planted, {}),
    "simplify_keys": (planted, {}),
    "all_keys": (with_few_keys, {}),
    "apply_correction": (with_a_moved_foot, {}),
    "correct_moved": (with_a_moved_foot, {}),
    "correct_rotated": (with_a_moved_foot, {}),
    "correct_grabbed": (with_a_moved_foot, {}),
    "remove_correction": (with_a_correction, {}),
    "switch_correction": (with_a_correction, {}),
    "lock_to_object": (arm_and_prop, {"object": "prop", "frame_start": 20, "frame_end": 40}),
    "release": (arm_with_a_prop, {}),
    "match_source": (retargeted, {}),
    "root_motion": (walking, {}),
    "in_place": (walking, {}),
    "travel": (walking_in_place, {}),
    "make_loop": (walking, {}),
    "join_clips": (walking, {"clip": "walk"}),
    "make_native": (sound, {}),
    "make_live": (native, {"only_selected": True}),
    "unmute": (muted, {}),
    "swivel": (sound, {"angle": 0.7}),
    "grab": (person_posed, {"bone": "hips", "location": (0.0, 0.1, 0.7)}),
    "pin": (person_posed, {"bone": "foot.L"}),
    "cure": (keyed_below, {"kind": "MUTE_KEYS", "bone": "shin"}),
    "lock_interface": (sound, {}),
    "select_chain": (another_bone_selected, {"tip": "shin"}),
    "select_armature": (skin_active, {}),
    "go_to_frame": (another_bone_selected, {"frame": 5, "bone": "shin"}),
    "mark_problems": (checked_out_of_reach, {}),
    "clear_marks": (marked, {}),
}


def all_that_is_there() -> dict:
    limits = ("lock_ik_x", "lock_ik_y", "lock_ik_z", "use_ik_limit_x", "ik_min_x", "ik_max_x")
    bones = [bone for ob in bpy.data.objects if ob.pose for bone in ob.pose.bones]
    return {
        **whole_state(),
        "markers": [(marker.name, marker.frame) for marker in bpy.context.scene.timeline_markers],
        "marks": [ob.analytic_ik_marks for ob in bpy.data.objects],
        "muted": [(constraint.name, constraint.mute) for bone in bones for constraint in bone.constraints],
        "limits": [[getattr(bone, name) for name in limits] for bone in bones],
        "locked": bpy.context.scene.render.use_lock_interface,
    }


UNKEYED = ("apply_correction", "correct_moved", "correct_rotated", "correct_grabbed")
"""Before these a control was moved, and not keyed."""


@pytest.mark.some(22)
@pytest.mark.parametrize("name", UNDONE)
def test_what_an_operator_changes_is_undone_in_one_step(name):
    prepare, options = UNDONE[name]
    prepare()
    update()
    bpy.ops.ed.undo_push(message="before")
    before = all_that_is_there()
    assert getattr(bpy.ops.analytic_ik, name)("EXEC_DEFAULT", True, **options) == {"FINISHED"}
    update()
    assert all_that_is_there() != before
    bpy.ops.ed.undo()
    after = all_that_is_there()
    if name in UNKEYED:
        # Blender plays the keys of what is brought back.
        after["objects"]["Foot.L"]["place"] = before["objects"]["Foot.L"]["place"]
    assert {what: after[what] for what in after if after[what] != before[what]} == {}


def test_every_operator_that_changes_something_is_undone():
    # These change nothing of the file.
    assert set(UNDONE) == set(own_operators()) - {"copy_certificate", "open_sidebar", "show_chain"}


def test_every_operator_that_needs_an_armature_says_so_in_an_empty_scene():
    for name in own_operators():
        call = getattr(bpy.ops.analytic_ik, name)
        if call.poll():
            # It asks for nothing: then it runs.
            assert call() == {"FINISHED"}
            continue
        with pytest.raises(RuntimeError, match=r"poll\(\) [A-Z]") as refusal:
            call()
        said = str(refusal.value)
        assert "armature" in said
        assert said.strip().endswith(".")


LACKS = {
    "add": "has no active bone. Select the last bone of the limb",
    "adopt": "has no IK constraint",
    "restore": "has no chain that was converted from an IK constraint",
    "remove": "no selected bone belongs to a chain. Select a bone or a control of one",
    "limit_knees": "no selected bone belongs to a chain",
    "snap_targets": "no selected bone belongs to a chain",
    "snap_pose": "no selected bone belongs to a chain",
    "bake": "has no live chain. Add or unmute one first",
    "check": "has no live chain. Add or unmute one first",
    "bake_for_export": "has no live chain. Add or unmute one first",
    "back_to_live": "is not baked for export. Click Bake All Clips for Export first",
    "plant_feet": "it has no action. Choose one with motion",
    "plant_again": "has no live chain. Add or unmute one first",
    "path_from_clip": "has no live chain. Add or unmute one first",
    "simplify_keys": "has no live chain. Add or unmute one first",
    "all_keys": "has no live chain. Add or unmute one first",
    "apply_correction": "has no live chain. Add or unmute one first",
    "correct_moved": "has no live chain. Add or unmute one first",
    "correct_rotated": "has no live chain. Add or unmute one first",
    "correct_grabbed": "has no live chain. Add or unmute one first",
    "remove_correction": "has no live chain. Add or unmute one first",
    "switch_correction": "has no live chain. Add or unmute one first",
    "switch_to_fk": "no selected bone belongs to a chain",
    "switch_to_ik": "no selected bone belongs to a chain",
    "lock_to_object": "has no live chain. Add or unmute one first",
    "release": "has no live chain. Add or unmute one first",
    "match_source": "has no live chain. Add or unmute one first",
    "make_native": "has no live chain. Add or unmute one first",
    "make_live": "has no native chain. Press Make Native first",
}
TRAVELING = ("root_motion", "in_place", "travel", "make_loop", "join_clips")
LACKS_RESULTS = {
    "mark_problems": "Armature 'leg' has no report. Check or bake its chains first",
    "copy_certificate": "Armature 'leg' has no report. Check or bake its chains first",
    "clear_marks": "No problem of armature 'leg' is marked. Use Mark Problems first",
}


@pytest.mark.parametrize("name", LACKS_RESULTS)
def test_an_operator_for_results_is_greyed_out_without_them(name):
    enter("POSE", leg().ob)
    call = getattr(bpy.ops.analytic_ik, name)
    assert not call.poll()
    with pytest.raises(RuntimeError, match=rf"poll\(\) {LACKS_RESULTS[name]}"):
        call()


def test_an_operator_is_greyed_out_with_what_it_lacks():
    rig = leg()
    enter("POSE", rig.ob)
    rig.ob.data.bones.active = None
    for name, lacks in LACKS.items():
        call = getattr(bpy.ops.analytic_ik, name)
        assert not call.poll()
        with pytest.raises(RuntimeError, match=rf"poll\(\) Armature 'leg'.*{lacks}"):
            call()


def test_what_is_linked_is_told_before_anything_is_pressed(tmp_path):
    rig = walking_leg()
    rig.ob.data.bones.active = rig.ob.data.bones["shin"]
    select(link_from_library(rig.ob, tmp_path))
    said = r"poll\(\) Armature 'leg' is linked. Make a library override of it first"
    for name in {*LACKS, *TRAVELING, "rig_legs", "cure", "grab", "pin"} - {"check"}:
        with pytest.raises(RuntimeError, match=said):
            getattr(bpy.ops.analytic_ik, name)()


def test_without_a_range_the_scenes_own_is_baked():
    rig = walking_leg()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 4, 9
    select(rig.ob)
    bpy.ops.analytic_ik.bake()
    assert keyed_frames(rotation_curves(rig.ob, "shin")[0]) == [4.0, 5.0, 6.0, 7.0, 8.0, 9.0]
    assert len(curves_of(rig.ob)) == 8


def test_in_edit_mode_it_is_said_to_leave_that():
    rig = leg()
    with editing(rig.ob), pytest.raises(RuntimeError, match=r"Armature 'leg' is in Edit Mode. Leave that first"):
        bpy.ops.analytic_ik.add()
