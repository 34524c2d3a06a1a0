"""Reports are kept in one place: the last of each kind, and that of the action which plays."""

import bpy

from ik_addon.rig.blender.file_memory import last, of_action, remember


def playing(name, action):
    ob = bpy.data.objects.new(name, None)
    ob.animation_data_create().action = bpy.data.actions.new(action)
    return ob


def report(ob, **said):
    return {"armature": ob.name, "action": ob.animation_data.action.name, **said}


def test_kinds_and_actions_are_kept_apart():
    one, other = playing("one", "walk"), playing("other", "run")
    for ob in (one, other):
        remember("lock", report(ob, holds=[ob.name]))
    remember("plant", report(one, chains=[]))
    assert of_action("lock", one)["holds"] == ["one"]
    assert of_action("lock", other)["holds"] == ["other"] == last("lock")["holds"]
    assert of_action("plant", other) is None
    assert last("plant") == of_action("plant", one)
    one.animation_data.action = None
    assert of_action("lock", one) is None


def test_what_a_script_does_with_its_own_changes_none_that_is_kept():
    ob = playing("one", "walk")
    given = remember("match", report(ob, limbs=[]))
    given["limbs"].append("arm")
    last("match")["limbs"].append("leg")
    assert last("match")["limbs"] == of_action("match", ob)["limbs"] == []


def test_after_an_undo_nothing_is_said_of_an_action():
    """It may be the one of before."""
    ob = playing("one", "walk")
    bpy.ops.ed.undo_push(message="before")
    remember("plant", report(ob, chains=["leg"]))
    bpy.ops.ed.undo_push(message="planted")
    bpy.ops.ed.undo()
    assert of_action("plant", bpy.data.objects["one"]) is None
    assert last("plant")["chains"] == ["leg"]
