"""Names propose a limb; where its shape and place do not agree it is another one, or it is left out with the reason."""

import pytest
from mathutils import Vector

from ik_addon.authoring.finding.limbs import Found, limbs_of_body
from ik_addon.authoring.finding.stance import Row, body_of

Point = tuple[float, float, float]


def line(parent: str, *bones: tuple[str, Point]) -> list[Row]:
    """Bones in a row on both sides; {s} in their names is the side, and the places are those of the left."""
    rows = []
    for side, sign in (("L", 1.0), ("R", -1.0)):
        above = parent.format(s=side)
        for k, (name, (x, y, z)) in enumerate(bones):
            head = Vector((sign * x, y, z))
            after = bones[k + 1][1] if k + 1 < len(bones) else (x, y - 0.1, z)
            tail = Vector((sign * after[0], *after[1:]))
            rows.append((name.format(s=side), head, tail, above))
            above = name.format(s=side)
    return rows


def trunk(height: float, length: float = 0.5, lies: bool = False) -> list[Row]:
    along = Vector((0.0, -1.0, 0.0)) if lies else Vector((0.0, 0.0, 1.0))
    hips = Vector((0.0, 0.0, height))
    chest, neck = hips + 0.1 * along, hips + length * along
    return [("hips", hips, chest, ""), ("spine", chest, neck, "hips"), ("neck", neck, neck + 0.1 * along, "spine")]


def found_in(*parts: list[Row], arms: bool = False) -> Found:
    return limbs_of_body(body_of([row for part in parts for row in part]), arms)


def chains(found: Found) -> list[tuple[tuple[str, ...], str]]:
    return [(limb.bones, limb.end) for limb in found.limbs if limb.side == "L"]


THIGH, SHIN, FOOT, TOE = (0.1, 0.0, 0.95), (0.11, -0.02, 0.52), (0.12, 0.03, 0.09), (0.13, -0.1, 0.02)
PERSON = line("hips", ("thigh.{s}", THIGH), ("shin.{s}", SHIN), ("foot.{s}", FOOT), ("toe.{s}", TOE))


# What names mean


def test_a_letter_of_a_leg_is_no_word():
    legs = [
        line(
            "hips",
            *(
                (f"leg_{letter}_{part}_{{s}}", (0.1 + 0.4 * k, y * (1.0 + 2.0 * k), z))
                for k, (part, z) in enumerate((("1", 0.2), ("2", 0.6), ("3", 0.4), ("tip", 0.0)))
            ),
        )
        for letter, y in zip("abcd", (-0.3, -0.1, 0.1, 0.3), strict=True)
    ]
    expected = [
        ((f"leg_{letter}_1_L", f"leg_{letter}_2_L", f"leg_{letter}_3_L"), f"leg_{letter}_tip_L") for letter in "abcd"
    ]
    assert chains(found_in(trunk(0.2, lies=True), *legs)) == expected


def test_a_bone_called_pelvis_is_no_thigh():
    leg = (
        ("back_leg_pelvis_{s}", (0.07, 0.2, 1.15)),
        ("back_leg_upper_{s}", (0.16, 0.6, 1.0)),
        ("back_leg_lower_{s}", (0.16, 0.5, 0.7)),
        ("back_leg_ankle_{s}", (0.16, 0.8, 0.35)),
        ("back_leg_foot_{s}", (0.16, 0.75, 0.1)),
        ("back_leg_tip_{s}", (0.16, 0.65, 0.03)),
    )
    assert chains(found_in(trunk(1.1, lies=True), line("hips", *leg))) == [
        (("back_leg_upper_L", "back_leg_lower_L", "back_leg_ankle_L"), "back_leg_foot_L")
    ]


def test_legs_that_are_named_after_the_joints_at_their_tails_end_near_the_ground():
    """As a dragon's: what is called a hip leads to the hip, and what is called an ankle is the shin."""
    dragon = [
        line(
            "hips",
            (f"{place}_leg_hip_{{s}}", (0.05, y, 0.68)),
            (f"{place}_leg_{{s}}", (0.12, y, 0.64)),
            (f"{place}_ankle_{{s}}", (0.12, y - 0.03, 0.36)),
            (f"{place}_foot_{{s}}", (0.12, y + 0.02, 0.08)),
            (f"{place}_toe_{{s}}", (0.12, y - 0.1, 0.01)),
        )
        for place, y in (("back", 0.3), ("front", -0.4))
    ]
    found = found_in(trunk(0.7, 0.8, lies=True), *dragon)
    assert chains(found) == [
        (("back_leg_L", "back_ankle_L"), "back_foot_L"),
        (("front_leg_L", "front_ankle_L"), "front_foot_L"),
    ]


def test_the_front_legs_of_an_insect_whose_hips_lie_as_low_as_its_feet_are_legs():
    legs = [
        line(
            "hips",
            (f"{place}_upperleg.{{s}}", (0.1, y, 0.1)),
            (f"{place}_lowerleg.{{s}}", (0.3, y, 0.12)),
            (f"{place}_foot.{{s}}", (0.5, y, 0.1)),
        )
        for place, y in (("front", -0.3), ("middle", 0.0), ("back", 0.3))
    ]
    found = found_in(trunk(0.1, lies=True), *legs, arms=True)
    assert sorted(limb.place for limb in found.limbs if limb.kind == "LEG") == [
        "FRONT", "FRONT", "HIND", "HIND", "MID", "MID"
    ]  # fmt: skip


@pytest.mark.parametrize("offset", [(0.0, 0.0, 0.0), (0.0, 0.01, 0.03)], ids=["on the ankle", "a little above"])
@pytest.mark.parametrize("name", ["foot_twist.{s}", "joint_12.{s}", "ankle_twist.{s}"])
def test_a_joint_between_shin_and_foot_does_not_break_a_leg(name, offset):
    between = (name, tuple(a + b for a, b in zip(FOOT, offset, strict=True)))
    leg = line("hips", ("thigh.{s}", THIGH), ("shin.{s}", SHIN), between, ("foot.{s}", FOOT), ("toe.{s}", TOE))
    (limb, _) = found_in(trunk(1.0), leg).limbs
    assert (limb.bones, limb.end) == (("thigh.L", "shin.L", name.format(s="L")), "foot.L")
    assert limb.segments == limb.bones[2:]


def test_a_row_without_names_may_begin_beside_the_pelvis():
    leg = line(
        "hips",
        ("Bone.004_{s}", (0.02, 0.0, 0.98)),
        ("Bone.004_{s}.001", THIGH),
        ("Bone.004_{s}.002", SHIN),
        ("Bone.004_{s}.003", FOOT),
        ("Bone.004_{s}.004", TOE),
    )
    assert chains(found_in(trunk(1.0), leg)) == [(("Bone.004_L.001", "Bone.004_L.002"), "Bone.004_L.003")]


def test_names_of_one_side_that_carry_the_other_side_mean_nothing():
    leg = line("hips", ("shin.{s}", THIGH), ("foot.{s}", SHIN), ("toe.{s}", FOOT), ("thigh.{s}", TOE))
    swapped = {"foot.L": "foot.R", "foot.R": "foot.L", "thigh.L": "thigh.R", "thigh.R": "thigh.L"}
    leg = [(swapped.get(name, name), head, tail, swapped.get(above, above)) for name, head, tail, above in leg]
    assert chains(found_in(trunk(1.0), leg)) == [(("shin.L", "foot.R"), "toe.L")]


# What is left out


def unsure(found: Found) -> dict[str, str]:
    assert not found.limbs
    return {limb.bones[-1]: reason for limb, reason in found.unsure}


def test_a_leg_of_one_bone_is_left_out():
    leg = line("hips", ("leg_{s}", (0.3, 0.0, 1.0)), ("leg_{s}.001", (0.3, 0.0, 0.0)))
    leg = [(name, head, head + Vector((0.0, -0.4, -1.0 if head.z else 0.0)), above) for name, head, _, above in leg]
    leg = [(name, head, tail + Vector((0.0, 0.4, 0.0)) * (head.z > 0.0), above) for name, head, tail, above in leg]
    said = unsure(found_in(trunk(1.1), leg))
    assert said["leg_L.001"] == "'leg_L.001' turns off like a foot, which leaves one bone for the leg"


def test_a_link_that_is_too_short_is_left_out():
    leg = line("hips", ("thigh.{s}", THIGH), ("shin.{s}", (0.1, 0.0, 0.14)), ("foot.{s}", FOOT), ("toe.{s}", TOE))
    assert unsure(found_in(trunk(1.0), leg))["shin.L"] == "'shin.L' is too short for a link of it"


def test_a_leg_that_begins_in_the_middle_of_the_body_is_left_out():
    leg = line("hips", ("hip.{s}", (0.01, 0.0, 1.0)), ("knee.{s}", THIGH))
    leg = [(name, head, tail if name[0] == "h" else 0.1 * head, above) for name, head, tail, above in leg]
    said = unsure(found_in(trunk(1.0), leg))
    assert said["knee.L"] == "'hip.L' begins in the middle of the body, where both sides do"


def test_a_leg_that_is_unlike_the_other_one_is_left_out():
    small = [
        (name, 0.4 * head, 0.4 * tail, above) if name.endswith("R") else (name, head, tail, above)
        for name, head, tail, above in PERSON
    ]
    said = unsure(found_in(trunk(1.0), small))
    assert said["shin.L"] == "it is not like the limb of the other side that ends at 'shin.R'"


def test_a_leg_that_ends_far_above_the_ground_is_left_out():
    leg = line(
        "hips",
        ("thigh.{s}", (0.1, 0.0, 1.0)),
        ("shin.{s}", (0.1, 0.0, 0.9)),
        ("foot.{s}", (0.1, 0.0, 0.8)),
        ("toe.{s}", (0.1, -1.0, 0.0)),
    )
    said = unsure(
        found_in(
            trunk(1.0),
            leg,
            line(
                "spine", ("arm.{s}", (0.2, 0.0, 1.4)), ("forearm.{s}", (0.5, 0.0, 1.4)), ("hand.{s}", (0.8, 0.0, 1.4))
            ),
        )
    )
    assert said["shin.L"] == "'foot.L' is too far above the ground for the end of a leg"


def test_a_leg_that_leads_up_is_left_out():
    legs = [
        line(
            "hips",
            (f"{place}_thigh.{{s}}", (0.1, y, 0.95)),
            (f"{place}_shin.{{s}}", (0.1, y - 0.02, 0.5)),
            (f"{place}_foot.{{s}}", (0.1, y, 0.05)),
        )
        for place, y in (("front", -0.5), ("hind", 0.5))
    ]
    up = line(
        "hips",
        ("mid_thigh.{s}", (0.1, 0.0, 0.06)),
        ("mid_shin.{s}", (0.3, 0.0, 0.3)),
        ("mid_foot.{s}", (0.5, 0.0, 0.08)),
    )
    found = found_in(trunk(1.0, lies=True), *legs, up)
    assert {limb.place for limb in found.limbs} == {"FRONT", "HIND"}
    assert {reason for _, reason in found.unsure} == {
        "'mid_foot.L' does not lie below the hip",
        "'mid_foot.R' does not lie below the hip",
    }
