"""The table of constraint kinds against Blender itself, and what follows from it for the order of chains."""

import bpy
import pytest
from mathutils import Matrix

from ik_addon.rig.blender.dependencies import CONSTRAINTS, followed_bones, plays_anywhere

from .rigs import BoneSpec, evaluated_copy, new_armature, new_empty, update

pytestmark = pytest.mark.versions

ON_THE_SPOT = [kind for kind, row in CONSTRAINTS.items() if not row.moves]
LIMITS = {"LIMIT_ROTATION": ("x", "y", "z"), "LIMIT_SCALE": ("min_x", "min_y", "max_z")}


def kinds() -> set[str]:
    return set(bpy.types.Constraint.bl_rna.properties["type"].enum_items.keys())


def test_every_kind_of_this_blender_is_in_the_table():
    assert kinds() <= CONSTRAINTS.keys()
    # None is there twice, with two rows.
    assert len(CONSTRAINTS) == 29


def constrained(kind: str) -> tuple[bpy.types.Object, bpy.types.Constraint]:
    """A bone below another one, with a constraint that has much to do."""
    ob = new_armature(
        "rig",
        [
            BoneSpec("root", (0.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
            BoneSpec("own", (0.0, 1.0, 0.0), (0.0, 1.0, 1.0), "root"),
        ],
    )
    target = new_empty("target", (2.0, -1.0, 3.0))
    target.rotation_euler, target.scale = (0.4, 0.7, -0.5), (2.0, 3.0, 0.5)
    constraint = ob.pose.bones["own"].constraints.new(kind)
    if hasattr(constraint, "target"):
        constraint.target = target
    for axis in LIMITS.get(kind, ()):
        setattr(constraint, f"use_limit_{axis}" if kind == "LIMIT_ROTATION" else f"use_{axis}", True)
        for end in ("min", "max"):
            name = f"{end}_{axis}" if kind == "LIMIT_ROTATION" else axis
            setattr(constraint, name, 0.3 if kind == "LIMIT_ROTATION" or end == "max" else 1.5)
    if kind == "MAINTAIN_VOLUME":
        ob.pose.bones["own"].scale = (1.0, 2.0, 1.0)
    update()
    return ob, constraint


def posed(ob: bpy.types.Object) -> Matrix:
    update()
    return evaluated_copy(ob).pose.bones["own"].matrix.copy()


def apart(a: Matrix, b: Matrix) -> float:
    return max(
        abs(x - y) for one, other in zip(a.to_3x3(), b.to_3x3(), strict=True) for x, y in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("kind", ON_THE_SPOT)
def test_what_moves_nothing_turns_or_sizes_on_the_spot_and_as_the_table_says(kind):
    ob, constraint = constrained(kind)
    shown = posed(ob)
    constraint.mute = True
    free = posed(ob)
    assert (shown.translation - free.translation).length < 1e-6
    assert apart(shown, free) > 0.1
    constraint.mute = False
    ob.pose.bones["root"].location = (3.0, 2.0, -1.0)
    assert (apart(posed(ob), shown) > 0.1) == CONSTRAINTS[kind].looks


def test_a_constraint_in_the_space_of_another_bone_follows_that_too():
    ob, constraint = constrained("COPY_LOCATION")
    other = new_armature("other", [BoneSpec("hand", (0.0, 0.0, 0.0), (0.0, 1.0, 0.0))])
    constraint.space_object, constraint.space_subtarget = other, "hand"
    assert not [owner for owner, _ in followed_bones(ob, "own") if owner == other]
    constraint.owner_space = "CUSTOM"
    assert (other, other.pose.bones["hand"]) in followed_bones(ob, "own")


def test_a_target_is_where_it_is_however_it_is_sized():
    ob, _ = constrained("COPY_SCALE")
    leader = new_armature("leader", [BoneSpec("hand", (0.0, 0.0, 0.0), (0.0, 1.0, 0.0))])
    constraint = ob.pose.bones["own"].constraints[0]
    constraint.target, constraint.subtarget = leader, "hand"
    hand = leader, leader.pose.bones["hand"]
    assert hand in followed_bones(ob, "own")
    assert hand not in followed_bones(ob, "own", turned=False)


@pytest.mark.parametrize("kind", sorted(kind for kind, row in CONSTRAINTS.items() if row.asks))
def test_what_asks_for_the_scene_is_seen_there(kind):
    if kind not in kinds():
        pytest.skip(f"This Blender has no {kind}")
    ob, _ = constrained("COPY_LOCATION")
    assert plays_anywhere([ob])
    ob.pose.bones["own"].constraints.new(kind)
    assert not plays_anywhere([ob])
