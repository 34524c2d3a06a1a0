"""The limbs that Rig Legs finds are a list: each can be left out, or given another first bone, tip, end or side."""

import bpy
import pytest

from ik_addon.authoring.rigging import corrected, survey
from ik_addon.solvers import ChainError
from ik_addon.ui.operators.rigs import ANALYTIC_IK_limb, bones_of, draw_limbs, fill

from ..rig.rigs import BoneSpec, new_armature, update
from ..scenes import refuses, select, select_bones, whole_state
from ..ui.layouts import Layout


def human() -> bpy.types.Object:
    """Two legs, each with a bone from the hips to the hip."""
    bones = [BoneSpec("hips", (0.0, 0.0, 1.0), (0.0, 0.0, 1.2))]
    for side, x in (("L", 0.1), ("R", -0.1)):
        bones += [
            BoneSpec(f"pelvis.{side}", (0.0, 0.0, 1.0), (x, 0.0, 0.98), "hips"),
            BoneSpec(f"thigh.{side}", (x, 0.0, 0.98), (x, -0.05, 0.55), f"pelvis.{side}"),
            BoneSpec(f"shin.{side}", (x, -0.05, 0.55), (x, 0.0, 0.1), f"thigh.{side}"),
            BoneSpec(f"foot.{side}", (x, 0.0, 0.1), (x, -0.12, 0.03), f"shin.{side}"),
            BoneSpec(f"toe.{side}", (x, -0.12, 0.03), (x, -0.18, 0.03), f"foot.{side}"),
        ]
    ob = new_armature("human", bones)
    select(ob)
    select_bones(ob)
    update()
    return ob


def chains(ob: bpy.types.Object) -> dict[str, tuple[int, str]]:
    return {
        bone.name: (bone.analytic_ik_chain_count, bone.analytic_ik_end_bone)
        for bone in ob.pose.bones
        if bone.analytic_ik_enabled
    }


def row(name: str, **change) -> dict:
    """A limb of the list as a script gives it, as found but for some changes."""
    side = name[-1]
    found = {"first": f"thigh.{side}", "tip": f"shin.{side}", "end": f"foot.{side}", "side": side}
    return {"name": name, "use": True, "is_open": False, "why": "", **found, **change}


def rig(**options) -> None:
    bpy.ops.analytic_ik.rig_legs(**options)
    update()


FOUND = {"shin.L": (2, "foot.L"), "shin.R": (2, "foot.R")}


def test_without_changes_all_that_was_found_is_rigged():
    ob = human()
    rig()
    assert chains(ob) == FOUND


def test_a_limb_that_is_not_ticked_is_left_out():
    ob = human()
    rig(limbs=[row("shin.L", use=False)])
    assert chains(ob) == {"shin.R": FOUND["shin.R"]}


def test_no_tick_at_all_is_refused():
    ob = human()
    before = whole_state()
    with pytest.raises(RuntimeError, match=r"Armature 'human': no limb is ticked\. Tick the limbs to rig"):
        rig(limbs=[row("shin.L", use=False), row("shin.R", use=False)])
    assert whole_state() == before and not chains(ob)


@pytest.mark.parametrize(
    ("change", "chain"),
    [
        ({"first": "pelvis.L"}, {"shin.L": (3, "foot.L")}),
        ({"tip": "foot.L", "end": "toe.L"}, {"foot.L": (3, "toe.L")}),
        ({"end": ""}, {"shin.L": (2, "")}),
        ({"end": "toe.L"}, {"shin.L": (2, "toe.L")}),
    ],
)
@pytest.mark.parametrize("controls", ["EMPTIES", "BONES"])
def test_a_limb_is_rigged_as_it_was_corrected(change, chain, controls):
    ob = human()
    rig(limbs=[row("shin.L", **change)], controls=controls)
    assert chains(ob) == {**chain, "shin.R": FOUND["shin.R"]}


def test_a_corrected_side_is_that_of_the_controls():
    ob = human()
    rig(limbs=[row("shin.L", side="NONE")])
    assert ob.pose.bones["shin.L"].analytic_ik_target.name == "Foot"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"first": "thigh.R"}, "Bone 'shin.L' is not below 'thigh.R'. Choose the first and the last bone of one limb"),
        ({"tip": "hips"}, "Bone 'hips' is not below 'thigh.L'. Choose the first and the last bone of one limb"),
        (
            {"end": "shin.L"},
            "Bone 'shin.L': its end bone 'shin.L' is part of its chain. Choose a bone after it, or none",
        ),
        ({"tip": "gone"}, "Armature 'human' has no bone 'gone'. Choose one of its bones"),
    ],
)
def test_what_makes_no_chain_is_refused_and_changes_nothing(change, sentence):
    human()
    with refuses(RuntimeError, sentence):
        rig(limbs=[row("shin.L", **change)])


def test_a_corrected_foot_rides_if_it_is_parented_to_the_tip():
    ob = human()
    limb = survey(ob).free[0]
    assert limb.rides
    assert corrected(ob, limb, "thigh.L", "shin.L", "foot.L", "L") == limb
    assert not corrected(ob, limb, "thigh.L", "shin.L", "toe.L", "L").rides
    assert corrected(ob, limb, "thigh.L", "foot.L", "toe.L", "L").rides
    with pytest.raises(ChainError):
        corrected(ob, limb, "thigh.L", "", "", "L")


@pytest.fixture
def items():
    """An empty list of limbs, as the operator has one."""
    bpy.types.Scene.limbs_of_a_test = bpy.props.CollectionProperty(type=ANALYTIC_IK_limb)
    yield bpy.context.scene.limbs_of_a_test
    del bpy.types.Scene.limbs_of_a_test


class Drawn(Layout):
    """Its fields as well, which a list has."""

    def prop(self, owner, name, text=None, icon="NONE", emboss=True, **_):
        super().prop(owner, name, text, icon)


def drawn(ob: bpy.types.Object, items) -> Drawn:
    fill(items, survey(ob))
    layout = Drawn()
    draw_limbs(layout, ob, items)
    return layout


def test_each_limb_is_one_line_and_says_why_it_is_left_out(items):
    ob = human()
    rig(limbs=[row("shin.R", use=False)])
    layout = drawn(ob, items)
    assert "thigh.R > shin.R > foot.R" in layout.labels
    assert "'shin.L': bone 'shin.L' already has a chain. Remove that chain first." in layout.labels
    assert layout.properties == ["use", "is_open"]
    items["shin.R"].is_open = True
    assert drawn(ob, items).properties == ["use", "is_open", "first", "tip", "end", "side"]


def test_bones_that_are_part_of_no_limb_say_why(items):
    ob = new_armature(
        "odd",
        [
            *(BoneSpec(name, (0.1, 0.0, z), (0.1, 0.02, z - 0.4), above) for name, z, above in THREE),
            BoneSpec("thigh.R", (-0.1, 0.0, 1.0), (-0.1, 0.0, 0.6)),
        ],
    )
    layout = drawn(ob, items)
    assert "'thigh.R': it has no shin below it" in layout.labels


THREE = (("thigh.L", 1.0, ""), ("shin.L", 0.6, "thigh.L"), ("foot.L", 0.2, "shin.L"))


def test_what_was_chosen_stays_while_limbs_come_and_go(items):
    ob = human()
    fill(items, survey(ob))
    items["shin.L"].tip, items["shin.R"].use = "foot.L", False
    fill(items, survey(ob, [ob.pose.bones["thigh.L"]]))
    assert [item.name for item in items] == ["shin.L"]
    fill(items, survey(ob))
    assert (items["shin.L"].tip, bones_of(items["shin.L"])) == ("foot.L", "thigh.L > foot.L")
    # It was gone meanwhile, and what was chosen with it.
    assert items["shin.R"].use


def one_bone_legs() -> bpy.types.Object:
    """Legs of one bone, and its foot, under names that show neither."""
    bones = [BoneSpec("body", (0.0, 0.0, 1.0), (0.0, 0.0, 1.5))]
    for side, x in (("L", 0.2), ("R", -0.2)):
        bones += [
            BoneSpec(f"leg.{side}", (x, 0.0, 1.0), (x, 0.0, 0.0), "body"),
            BoneSpec(f"leg.{side}.001", (x, 0.0, 0.0), (x, -0.3, 0.0), f"leg.{side}"),
        ]
    ob = new_armature("figure", bones)
    select(ob)
    select_bones(ob)
    update()
    return ob


UNSURE = "'leg.L.001' turns off like a foot, which leaves one bone for the leg"


def test_a_limb_that_is_not_sure_is_not_ticked_and_says_why(items):
    layout = drawn(one_bone_legs(), items)
    assert [item.use for item in items] == [False, False]
    assert f"'leg.L.001': {UNSURE}" in layout.labels


def test_a_limb_that_is_not_sure_is_rigged_only_if_it_is_ticked():
    ob = one_bone_legs()
    with refuses(RuntimeError, r"no leg to rig was found.*leaves one bone"):
        rig()
    ticked = {"name": "leg.L.001", "use": True, "is_open": False, "why": ""}
    rig(limbs=[{**ticked, "first": "leg.L", "tip": "leg.L.001", "end": "", "side": "L"}])
    assert chains(ob) == {"leg.L.001": (2, "")}
