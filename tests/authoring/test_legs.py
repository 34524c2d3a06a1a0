"""Legs and arms are found by name and shape, whatever the rig; what is none is left out, with a reason."""

import re
from math import radians
from random import Random
from uuid import UUID

import pytest
from mathutils import Matrix, Vector

from ik_addon.authoring.finding.limbs import Found, FoundLimb, find_limbs

from ..rig.rigs import BoneSpec, random_rotation
from .skeletons import FAMILIES, Family, all_bones, armature_of

FAMILY = pytest.mark.parametrize("family", FAMILIES, ids=str)
BY_NAME = {str(family): family for family in FAMILIES}


def found_in(bones: list[BoneSpec], arms: bool = True, **changes) -> Found:
    return find_limbs(all_bones(armature_of(bones, **changes)), arms)


def limbs_of(found: Found) -> list[FoundLimb]:
    return list(found.limbs)


# Families


@FAMILY
def test_the_limbs_of_a_known_rig_are_found(family):
    found = found_in(family.bones())
    assert limbs_of(found) == family.found()
    assert not found.left_out
    legs = found_in(family.bones(), arms=False)
    assert limbs_of(legs) == [limb for limb in family.found() if limb.kind == "LEG"]


@FAMILY
def test_other_sides_mirror_the_answer(family):
    """The same names on the other side of the body: what counts is what the rigger called left."""
    names = dict(zip(*(names_of(family, sides) for sides in (family.sides, family.sides[::-1])), strict=True))
    assert limbs_of(found_in(family.bones(), rename=names.get)) == family.found()


def names_of(family: Family, sides: tuple[str, str]) -> list[str]:
    return [spec.name for spec in Family("", family.tree, (), sides, family.places, family.decoys).bones()]


@pytest.mark.some(20)
@pytest.mark.parametrize("seed", range(5))
@FAMILY
def test_which_way_is_up_does_not_matter(family, seed):
    random = Random(seed)
    turn = Matrix.Rotation(radians(-90.0), 3, "X") if seed == 0 else random_rotation(random).to_matrix()
    scale = 1.0 if seed == 0 else 10.0 ** random.uniform(-2.0, 2.0)
    assert limbs_of(found_in(family.bones(), turn=turn * scale)) == family.found()


@pytest.mark.some(20)
@pytest.mark.parametrize("seed", range(3))
@FAMILY
def test_tails_of_imported_bones_may_be_anywhere(family, seed):
    """FBX and glTF have joints and no tails: importers let bones point somewhere."""
    random = Random(seed)
    tail = Vector((0.0, 0.0, 0.05)) if seed == 0 else None
    bones = [
        BoneSpec(spec.name, spec.head, Vector(spec.head) + (tail or random_direction(random)), spec.parent)
        for spec in family.bones()
    ]
    assert limbs_of(found_in(bones)) == family.found()


def random_direction(random: Random) -> Vector:
    return random_rotation(random) @ Vector((0.0, 0.0, 10.0 ** random.uniform(-3.0, 0.5)))


# Some of the bones


@FAMILY
def test_of_selected_bones_only_their_limbs_are_found(family):
    ob = armature_of(family.bones())
    for limb in family.found():
        for name in filter(None, (*limb.bones, limb.end)):
            found = find_limbs([ob.data.bones[name]], arms=True)
            assert limbs_of(found) == [limb]
            assert not found.left_out
        beyond = [ob.data.bones[name] for name in (limb.toe, limb.heel) if name]
        assert not find_limbs(beyond, arms=True).limbs


def test_of_no_bones_nothing_is_found():
    assert find_limbs([]) == Found((), ())


# What is none


def without(family: str, pattern: str) -> list[BoneSpec]:
    """A rig without some bones, and without those below them."""
    kept: list[BoneSpec] = []
    for spec in BY_NAME[family].bones():
        orphan = spec.parent and spec.parent not in {other.name for other in kept}
        if not orphan and not re.search(pattern, spec.name):
            kept.append(spec)
    return kept


@FAMILY
def test_arms_alone_are_no_legs(family):
    if family.places == "beast":
        pytest.skip("an animal's arms are legs, and told by its hind legs")
    legs = [bone for limb in family.found() if limb.kind == "LEG" for bone in limb.bones]
    bones = without(str(family), "|".join(map(re.escape, [*legs, "ORG", "ref", "_[if]k"])))
    found = found_in(bones)
    assert limbs_of(found) == [limb for limb in family.found() if limb.kind == "ARM"]


def reasons(found: Found) -> dict[str, str]:
    return {left_out.bone: left_out.reason for left_out in found.left_out}


def test_if_nothing_is_found_helpers_are_left_out_with_the_reason():
    ob = armature_of(BY_NAME["Unreal mannequin"].bones())
    said = reasons(find_limbs([ob.data.bones[name] for name in ("thigh_twist_01_l", "ik_foot_r")]))
    assert said["thigh_twist_01_l"] == "it twists with 'thigh_l'"
    assert said["ik_foot_r"] == "'ik' in its name says that it is a helper"
    ob = armature_of(BY_NAME["Rigify generated"].bones())
    said = reasons(find_limbs([ob.data.bones["ORG-thigh.L"]]))
    assert said["ORG-thigh.L"] == "it belongs to the same limb as 'DEF-thigh.L'"


def test_what_lacks_a_part_is_left_out_before_helpers():
    bones = [
        BoneSpec("foot_ik.L", (0.0, 0.0, 0.1), (0.0, -0.1, 0.1)),
        BoneSpec("thigh.L", (0.1, 0.0, 0.9), (0.1, 0.0, 0.5)),
        BoneSpec("calf.R", (-0.1, 0.0, 0.5), (-0.1, 0.0, 0.1)),
    ]
    found = found_in(bones)
    assert [(left_out.bone, left_out.reason) for left_out in found.left_out] == [
        ("thigh.L", "it has no shin below it"),
        ("calf.R", "it has no thigh above it"),
        ("foot_ik.L", "'ik' in its name says that it is a helper"),
    ]


@pytest.mark.parametrize(("part", "end"), [(1.0, "boot.L"), (0.9, "boot.L"), (0.5, ""), (0.05, "")])
def test_the_only_child_of_a_shin_is_its_foot_where_it_is_on_its_end(part, end):
    bones = without("Rigify metarig", r"^foot\.L$")
    shin = next(spec for spec in bones if spec.name == "shin.L")
    head = Vector(shin.head).lerp(Vector(shin.tail), part)
    found = found_in([*bones, BoneSpec("boot.L", head, head + Vector((0.0, -0.1, 0.0)), "shin.L")], arms=False)
    assert [(limb.bones[-1], limb.end, limb.rides) for limb in found.limbs] == [
        ("shin.L", end, bool(end)),
        ("shin.R", "foot.R", True),
    ]


def with_parents(bones: list[BoneSpec], **parents: str) -> list[BoneSpec]:
    return [
        BoneSpec(spec.name, spec.head, spec.tail, parents.get(spec.name.replace(".", "_"), spec.parent))
        for spec in bones
    ]


@pytest.mark.parametrize("parent", ["", "spine"])
def test_a_foot_that_is_parented_to_something_else_is_the_end_of_its_leg(parent):
    found = found_in(with_parents(BY_NAME["Rigify metarig"].bones(), foot_L=parent), arms=False)
    assert [(limb.bones, limb.end, limb.rides) for limb in found.limbs] == [
        (("thigh.L", "shin.L"), "foot.L", False),
        (("thigh.R", "shin.R"), "foot.R", True),
    ]


def test_a_foot_whose_name_has_no_side_is_of_its_shins_side():
    tree = "pelvis, pelvis\n  thigh.{s}, thigh\n    shin.{s}, shin"
    bones = Family("", tree, ()).bones()
    bones += [BoneSpec(f"foot{k}", *(spec.tail, (0.0, 0.0, 0.0)), spec.name) for k, spec in enumerate(bones[-2:], 1)]
    assert [(limb.side, limb.bones, limb.end) for limb in found_in(bones).limbs] == [
        ("L", ("thigh.L", "shin.L"), "foot1"),
        ("R", ("thigh.R", "shin.R"), "foot2"),
    ]


def test_a_foot_far_from_every_shin_belongs_to_none():
    bones = [
        BoneSpec(spec.name, (3.0, 0.0, 0.0), (3.0, 0.0, 1.0)) if spec.name == "foot.L" else spec
        for spec in without("Rigify metarig", r"^(toe|heel.02)\.L$")
    ]
    found = found_in(bones, arms=False)
    assert [(limb.bones[-1], limb.end) for limb in found.limbs] == [("shin.L", ""), ("shin.R", "foot.R")]
    assert reasons(found) == {"foot.L": "it has no shin above it"}


def test_a_twist_bone_out_of_line_is_no_part_of_a_leg():
    bones = [
        BoneSpec(spec.name, (0.4, 0.0, 0.8), spec.tail, spec.parent) if spec.name == "lThighTwist" else spec
        for spec in BY_NAME["Daz"].bones()
    ]
    found = found_in(bones, arms=False)
    assert [limb.side for limb in found.limbs] == ["R"]
    assert reasons(found)["lFoot"] == "it has no thigh above it"


@pytest.mark.parametrize("thigh", ["thigh_ik.{s}", "thigh", "spine.{s}"], ids=["a helper", "no side", "no thigh"])
def test_a_shin_hangs_on_a_thigh_of_its_side(thigh):
    tree = f"pelvis, pelvis\n  {thigh}, thigh\n    shin.{{s}}, shin\n      foot.{{s}}, foot"
    assert not found_in(Family("", tree, ()).bones()).limbs


def test_of_the_same_leg_the_bones_that_deform_are_found_whatever_comes_first():
    family = BY_NAME["Rigify generated"]
    tree = family.decoys + family.tree.replace("root, ground > ", "")
    found = found_in(Family("", tree, ()).bones(), arms=False)
    assert {limb.bones[0] for limb in found.limbs} == {"DEF-thigh.L", "DEF-thigh.R"}


@pytest.mark.parametrize("angle", [0.0, 5.0, 9.0])
def test_a_limb_in_the_middle_has_no_side(angle):
    tree = "pelvis, pelvis\n  leg, thigh\n    knee, shin\n      foot, foot"
    found = found_in(Family("", tree, ()).bones(), turn=Matrix.Rotation(angle, 3, "X"))
    assert limbs_of(found) == [FoundLimb("LEG", "", "", ("leg", "knee"), "foot", "", "")]


def numbered(*heads: tuple[float, float, float], foot: bool = True) -> list[BoneSpec]:
    """Leg1, Leg2 ... and Foot, with their heads in a row."""
    names = [f"Leg{k}.L" for k in range(1, len(heads))] + ["Foot.L" if foot else f"Leg{len(heads)}.L"]
    return [
        BoneSpec(name, head, Vector(head) + Vector((0.0, -0.1, -0.02)), above)
        for name, head, above in zip(names, heads, ["", *names], strict=False)
    ]


@pytest.mark.parametrize(
    ("heads", "segments"),
    [
        (((0.1, 0.0, 1.0), (0.1, -0.3, 0.6), (0.1, 0.0, 0.1)), ()),
        # A straight leg has a knee all the same.
        (((0.1, 0.0, 1.0), (0.1, 0.0, 0.6), (0.1, 0.0, 0.1)), ()),
        (((0.1, 0.0, 1.0), (0.1, -0.1, 0.7), (0.1, 0.2, 0.4), (0.1, 0.0, 0.1)), ()),
        (((0.1, 0.0, 1.0), (0.1, 0.0, 0.7), (0.1, 0.0, 0.4), (0.1, 0.0, 0.1)), ()),
        (((0.1, 0.0, 1.0), (0.1, -0.1, 0.8), (0.1, -0.2, 0.6), (0.1, 0.1, 0.1)), ("Leg2.L",)),
    ],
    ids=["a pair", "straight", "three links", "three straight links", "a thigh in two"],
)
def test_numbered_bones_are_joints_unless_they_are_in_line_and_enough_are_left(heads, segments):
    (leg,) = found_in(numbered(*heads)).limbs
    assert leg.bones == tuple(f"Leg{k}.L" for k in range(1, len(heads)))
    assert (leg.end, leg.segments) == ("Foot.L", segments)


@pytest.mark.parametrize(("angle", "whole"), [(0.0, True), (17.0, True), (24.0, True), (30.0, False)])
def test_a_part_that_is_split_by_number_is_one_up_to_a_bend(angle, whole):
    knee = Vector((0.1, 0.0, 0.8)) + Matrix.Rotation(radians(angle), 3, "X") @ Vector((0.0, 0.0, -0.3))
    tree = [("upperleg01.L", (0.1, 0.0, 1.0)), ("upperleg02.L", (0.1, 0.0, 0.8)), ("lowerleg.L", knee)]
    tree.append(("foot.L", knee + Vector((0.0, 0.1, -0.4))))
    bones = [
        BoneSpec(name, head, Vector(head) + Vector((0.0, -0.1, 0.0)), above)
        for (name, head), above in zip(tree, ["", *(name for name, _ in tree)], strict=False)
    ]
    (leg,) = found_in(bones).limbs
    assert leg.bones == ("upperleg01.L", "upperleg02.L", "lowerleg.L")[0 if whole else 1 :]
    assert leg.segments == (("upperleg02.L",) if whole else ())


# A rest pose that is no stance


def along_one_axis(bones: list[BoneSpec]) -> list[BoneSpec]:
    """As some captures have it at rest: every bone points the same way."""
    length = {spec.name: (Vector(spec.tail) - Vector(spec.head)).length for spec in bones}
    heads: dict[str, Vector] = {}
    for spec in bones:
        above = heads[spec.parent] + Vector((0.0, 0.0, length[spec.parent])) if spec.parent else Vector()
        aside = Vector((Vector(spec.head).x * 0.05, 0.0, 0.0)) if abs(Vector(spec.head).x) > 0.0 else Vector()
        heads[spec.name] = above + aside * (not spec.parent or heads[spec.parent].x == 0.0)
    return [
        BoneSpec(spec.name, heads[spec.name], heads[spec.name] + Vector((0.0, 0.0, length[spec.name])), spec.parent)
        for spec in bones
    ]


STRETCHED = ["Mixamo, prefix ''", "MB-Lab"]


@pytest.mark.parametrize("family", STRETCHED)
def test_names_win_over_a_rest_pose_that_is_no_stance(family):
    assert limbs_of(found_in(along_one_axis(BY_NAME[family].bones()))) == BY_NAME[family].found()


@pytest.mark.parametrize("family", [*STRETCHED, "Rigify wolf", "numbered joints of a fox"])
def test_a_pose_tells_how_a_body_stands_if_its_rest_does_not(family):
    bones = BY_NAME[family].bones()
    ob = armature_of(along_one_axis(bones))
    posed = {spec.name: Vector(spec.head) for spec in bones}
    assert limbs_of(find_limbs(all_bones(ob), True, posed)) == BY_NAME[family].found()


def test_a_pose_does_not_change_what_the_rest_pose_tells():
    family = BY_NAME["Rigify metarig"]
    ob = armature_of(family.bones())
    lying = {bone.name: Vector((bone.head_local.x, bone.head_local.z, 0.0)) for bone in ob.data.bones}
    assert limbs_of(find_limbs(all_bones(ob), True, lying)) == family.found()


def test_a_human_foot_is_no_paw_and_a_high_heel_none_either():
    raised = [
        BoneSpec(spec.name, *((x, y, z + 0.06 * (z > 0.08)) for x, y, z in (spec.head, spec.tail)), spec.parent)
        for spec in BY_NAME["Rigify metarig"].bones()
    ]
    assert limbs_of(found_in(raised)) == BY_NAME["Rigify metarig"].found()


# Without names

BODY = """
A, pelvis
  B, chest
    C, head
    D{s}, upper arm
      E{s}, forearm
        F{s}, hand
  G{s}, thigh
    H{s}, shin
      I{s}, foot
        J{s}, toe
"""


def nameless(tree: str) -> tuple[list[BoneSpec], dict[str, str]]:
    """The bones of a tree, and names for them that say nothing."""
    bones = Family("", tree, ()).bones()
    return bones, {spec.name: f"Bone.{k:03}" for k, spec in enumerate(bones)}


@pytest.mark.parametrize("seed", range(10))
def test_the_limbs_of_a_body_without_names_are_found_by_shape(seed):
    bones, names = nameless(BODY)
    if seed % 2:
        random = Random(seed)
        names = {name: str(UUID(int=random.getrandbits(128))) for name in names}
    turn = random_rotation(Random(seed)).to_matrix() if seed else None
    found = found_in(bones, rename=names.get, turn=turn)
    assert limbs_of(found) == [
        *(
            FoundLimb("LEG", side, "", (names[f"G{side}"], names[f"H{side}"]), names[f"I{side}"], names[f"J{side}"], "")
            for side in "LR"
        ),
        *(
            FoundLimb("ARM", side, "", (names[f"D{side}"], names[f"E{side}"]), names[f"F{side}"], "", "")
            for side in "LR"
        ),
    ]


@pytest.mark.parametrize(
    "tree",
    [
        "A, pelvis\n  B, chest\n    C, head\n    D{s}, upper arm\n      E{s}, forearm\n        F{s}, hand",
        "B, chest\n  D{s}, upper arm\n    E{s}, forearm\n      F{s}, hand\n        G{s}, finger",
        "A, pelvis\n  B, chest\n    C, head\n  D{s}, skirt 1\n    E{s}, skirt 2\n      F{s}, skirt 3",
        "A, pelvis\n  B, chest\n    C, head\n  D, tail 1\n    E, tail 2\n      F, tail 3",
        "A, pelvis\n  G{s}, thigh\n    H{s}, shin\n      I{s}, foot\n        J{s}, toe",
        BODY.replace("  G{s}, thigh", "  G{s}, bent thigh 1\n   K{s}, bent thigh 2"),
    ],
    ids=["body without legs", "arms", "skirt", "tail", "legs without a body", "two joints that may be knees"],
)
def test_where_neither_name_nor_shape_is_sure_nothing_is_found(tree):
    bones, names = nameless(tree)
    assert not found_in(bones, rename=names.get).limbs


TWO_PAIRS = BODY + "  K{s}, thigh\n    L{s}, shin\n      M{s}, foot\n        N{s}, toe\n"


@pytest.mark.parametrize(
    ("tree", "reason"),
    [
        (TWO_PAIRS, "more than one pair is shaped like legs"),
        (
            "A, pelvis\n  G{s}, thigh\n    H{s}, shin\n      I{s}, foot\n        J{s}, toe",
            "it is shaped like a leg, but there is too little above it for a body",
        ),
        (
            BODY.replace("  G{s}, thigh", "  G{s}, bent thigh 1\n   K{s}, bent thigh 2"),
            "it is shaped like a leg, but has 5 bones, and their names do not show its foot",
        ),
    ],
)
def test_what_hangs_like_a_leg_is_left_out_with_the_reason(tree, reason):
    bones, names = nameless(tree)
    said = reasons(found_in(bones, rename=names.get))
    assert said[names["GL"]] == said[names["GR"]] == reason


def test_a_twist_bone_without_a_parent_is_told_without_one():
    alone = [BoneSpec("thigh_twist_01_l", (0.0, 0.0, 1.0), (0.0, 0.0, 0.5))]
    assert reasons(found_in(alone)) == {"thigh_twist_01_l": "it twists with another bone"}


def test_where_no_name_says_leg_in_any_language_shape_decides():
    bones, names = nameless(BODY)
    found = found_in(bones, rename=lambda name: names[name].replace("Bone", "Quux"))
    assert [limb.bones[0] for limb in found.limbs if limb.kind == "LEG"] == ["Quux.009", "Quux.010"]
