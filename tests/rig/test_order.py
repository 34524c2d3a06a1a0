"""Several chains on one armature: each is solved after the chains that move it, or refused with a reason."""

from itertools import permutations

import bpy
import pytest

from ik_addon.rig.pose.solving import solve_scene

from .keys import key
from .rigs import BoneSpec, Control, evaluated_copy, leg, make_chain, new_armature, new_empty, update

LIMBS = ("a", "b", "c")


def stack(order: tuple[str, ...] = LIMBS) -> bpy.types.Object:
    """Three limbs of two bones, each hanging at the tip of the one before; `order` is that of their making."""
    specs = {}
    for k, limb in enumerate(LIMBS):
        root, knee, tip = (0.0, 0.0, 2.0 * k), (0.0, 0.3, 2.0 * k + 1.0), (0.0, 0.0, 2.0 * k + 2.0)
        specs[limb] = [
            BoneSpec(f"{limb} upper", root, knee, f"{LIMBS[k - 1]} lower" if k else ""),
            BoneSpec(f"{limb} lower", knee, tip, f"{limb} upper", connect=True),
        ]
    ob = new_armature("stack", [spec for limb in LIMBS for spec in specs[limb]])
    for k, limb in enumerate(LIMBS):
        new_empty(f"target {limb}", (0.3, 0.2 * k, 1.7 + 1.5 * k))
    for limb in order:
        make_chain(ob.pose.bones[f"{limb} lower"], Control(bpy.data.objects[f"target {limb}"]))
    update()
    return ob


def missed(ob: bpy.types.Object, limb: str) -> float:
    tail = evaluated_copy(ob).pose.bones[f"{limb} lower"].tail
    return (tail - evaluated_copy(bpy.data.objects[f"target {limb}"]).matrix_world.translation).length


def errors(ob: bpy.types.Object) -> dict[str, str]:
    done = solve_scene(bpy.context.evaluated_depsgraph_get(), frame_changed=False)
    return {chain.tip: str(error) for chain, error in done.errors.items() if chain.armature == ob.name_full}


@pytest.mark.parametrize("order", list(permutations(LIMBS)))
def test_chains_that_hang_below_each_other_all_meet_their_targets_at_once(order):
    ob = stack(order)
    assert max(missed(ob, limb) for limb in LIMBS) < 1e-5
    bpy.data.objects["target a"].location.x += 0.2
    update()
    assert max(missed(ob, limb) for limb in LIMBS) < 1e-5


def crossed_arms() -> bpy.types.Object:
    """Two arms of which each reaches for a handle on the other, and a third that is no concern of theirs."""
    specs = []
    for k, arm in enumerate(LIMBS):
        specs += [
            BoneSpec(f"{arm} upper", (k, 0.0, 0.0), (k, 0.2, 1.0)),
            BoneSpec(f"{arm} lower", (k, 0.2, 1.0), (k, 0.0, 2.0), f"{arm} upper", connect=True),
            BoneSpec(f"{arm} handle", (k, 0.3, 1.5), (k, 0.4, 1.5), f"{arm} lower"),
        ]
    ob = new_armature("crossed", specs)
    new_empty("target c", (2.2, 0.3, 1.5))
    make_chain(ob.pose.bones["a lower"], Control(ob, "b handle"))
    make_chain(ob.pose.bones["b lower"], Control(ob, "a handle"))
    make_chain(ob.pose.bones["c lower"], Control(bpy.data.objects["target c"]))
    update()
    return ob


def test_chains_that_move_each_others_targets_are_refused_by_name():
    ob = crossed_arms()
    said = errors(ob)
    assert said.keys() == {"a lower", "b lower"}
    for tip, text in said.items():
        assert text.startswith(f"Bone '{tip}': ")
        assert "a lower" in text and "b lower" in text and "Give one of them a target" in text
    assert missed(ob, "c") < 1e-5


def test_a_chain_that_breaks_by_a_key_leaves_the_others_exact_in_that_frame():
    ob = stack()
    key(ob.pose.bones["a lower"], "analytic_ik_enabled", [True, False, True, False])
    for frame in (1, 5, 9, 13, 5):
        bpy.context.scene.frame_set(frame)
        assert all(missed(ob, limb) < 1e-5 for limb in "bc" if limb != "b" or frame in (1, 9))


HANDLES = ("bone of another armature", "empty on a bone of another armature", "empty on a bone of this armature")


@pytest.mark.parametrize("handle", HANDLES)
def test_a_target_carried_by_a_chain_from_outside_the_armature_is_followed_in_the_same_frame(handle):
    leader, follower = leg("leader"), leg("follower", side=0.4)
    leader.enable()
    follower.target = Control(leader.ob, "foot")
    if "empty" in handle:
        follower.target = Control(new_empty("handle"))
        follower.target.ob.parent, follower.target.ob.parent_type = leader.ob, "BONE"
        follower.target.ob.parent_bone = "foot"
    if "this" in handle:
        follower.ob, follower.bones = two_legs(), ["thigh b", "shin b"]
        make_chain(follower.ob.pose.bones["shin a"], leader.target)
        follower.target.ob.parent, follower.target.ob.parent_bone = follower.ob, "shin a"
    follower.enable()
    key(leader.target.ob, "location", [(0.0, -0.3, 0.4), (0.0, 0.4, 0.6), (0.2, -0.5, 0.7), (0.0, 0.0, 0.4)])
    missed = []
    for frame in (1, 9, 5):
        bpy.context.scene.frame_set(frame)
        missed.append(follower.missed())
    assert max(missed) < 1e-5


def two_legs() -> bpy.types.Object:
    specs = []
    for name, x in (("a", 0.0), ("b", 0.4)):
        specs += [
            BoneSpec(f"thigh {name}", (x, 0.0, 2.0), (x, -0.2, 1.0)),
            BoneSpec(f"shin {name}", (x, -0.2, 1.0), (x, 0.0, 0.0), f"thigh {name}", connect=True),
        ]
    return new_armature("two legs", specs)


def test_armatures_that_move_each_others_targets_are_refused_by_name():
    a, b = leg("a"), leg("b", side=0.4)
    a.target, b.target = Control(b.ob, "foot"), Control(a.ob, "foot")
    for rig in (a, b):
        rig.enable()
    for rig in (a, b):
        (said,) = errors(rig.ob).values()
        assert said.startswith("Bone 'shin': ") and "each other" in said


def test_an_object_that_comes_while_a_chain_moves_its_own_target_ends_no_blender():
    """Up to 5.0 Blender crashed at the next tag of any object."""
    rig = leg()
    rig.enable()
    copy = rig.target.ob.constraints.new("COPY_LOCATION")
    copy.target, copy.subtarget, copy.use_offset, copy.influence = rig.ob, "foot", True, 0.1
    for k in range(3):
        new = new_empty(f"new {k}")
        update()
        new.update_tag()
        update()
        bpy.context.scene.frame_set(k + 2)
        rig.target.ob.update_tag()
        update()
