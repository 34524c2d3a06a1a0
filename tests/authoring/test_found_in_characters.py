"""The limbs of characters from elsewhere are found: of Rigify's metarigs, and of downloaded files where they are there.

Each limb is written as "chain > end, toe" with the sign ~ before an end that does not ride, for the left side.
"""

import json
from importlib import import_module
from pathlib import Path

import bpy
import pytest

from ik_addon.authoring.finding.limbs import Found, FoundLimb, find_limbs

from ..rig.rigs import BoneSpec, new_armature
from .skeletons import all_bones

CHARACTERS = Path(__file__).parents[3] / "shared" / "data" / "characters"


def written(limb: FoundLimb) -> str:
    end = limb.end if limb.rides or not limb.end else f"~{limb.end}"
    chain = ", ".join(f"+{name}" if name in limb.segments else name for name in limb.bones)
    return f"{limb.kind} {limb.place}".strip() + f": {chain} > {', '.join(filter(None, (end, limb.toe)))}"


def check(found: Found, expected: list[str]) -> None:
    """All limbs of the left side are the expected ones, and each has its twin on the right."""
    sides = {side: [limb for limb in found.limbs if limb.side == side] for side in "LR"}
    assert sorted(map(written, sides["L"])) == sorted(expected)
    assert [(limb.kind, limb.place, len(limb.bones), limb.rides) for limb in sides["L"]] == [
        (limb.kind, limb.place, len(limb.bones), limb.rides) for limb in sides["R"]
    ]
    assert len(found.limbs) == 2 * len(expected)
    assert not found.left_out


# Rigify

LEGS_OF_A_PERSON = "LEG: thigh.L, shin.L > foot.L, toe.L"
ARMS_OF_A_PERSON = "ARM: upper_arm.L, forearm.L > hand.L"
LEGS_OF_A_WOLF = [
    "LEG HIND: thigh.L, shin.L, foot.L > toe.L",
    "LEG FRONT: front_thigh.L, front_shin.L, front_foot.L > front_toe.L",
]
METARIGS = {
    "human": [LEGS_OF_A_PERSON, ARMS_OF_A_PERSON],
    "Basic.basic_human": [LEGS_OF_A_PERSON, ARMS_OF_A_PERSON],
    "Basic.basic_quadruped": LEGS_OF_A_WOLF,
    "Animals.wolf": LEGS_OF_A_WOLF,
    "Animals.cat": [
        "LEG HIND: thigh.L, shin.L, foot.L > r_toe.L",
        "LEG FRONT: upper_arm.L, forearm.L, hand.L > f_toe.L",
    ],
    "Animals.horse": [
        "LEG HIND: thigh.L, lower_leg.L, hind_foot.L > r_toe.L, r_hoof.L",
        "LEG FRONT: upper_arm.L, forearm.L, forefoot.L > f_toe.L, f_hoof.L",
    ],
    "Animals.bird": [LEGS_OF_A_PERSON],
    "Animals.shark": [],
}


def test_the_limbs_of_rigifys_metarigs_are_found():
    before = list(bpy.app.handlers.load_post)
    bpy.ops.preferences.addon_enable(module="rigify")
    try:
        for name, expected in METARIGS.items():
            ob = bpy.data.objects.new(name, bpy.data.armatures.new(name))
            bpy.context.scene.collection.objects.link(ob)
            bpy.context.view_layer.objects.active = ob
            import_module(f"rigify.metarigs.{name}").create(ob)
            bpy.ops.object.mode_set(mode="OBJECT")
            found = find_limbs(all_bones(ob), arms=True)
            check(found, expected)
    finally:
        bpy.ops.preferences.addon_disable(module="rigify")
        # It leaves a handler that fails without it.
        for handler in [each for each in bpy.app.handlers.load_post if each not in before]:
            bpy.app.handlers.load_post.remove(handler)


# Downloaded files

PERSON_WITH_LOOSE_FEET = "LEG: UpperLeg.L, LowerLeg.L > ~Foot.L"
DOWNLOADED = {
    "Fox.glb": [
        "LEG HIND: b_LeftLeg01_015, b_LeftLeg02_016, b_LeftFoot01_017 > b_LeftFoot02_018",
        "LEG FRONT: b_LeftUpperArm_09, b_LeftForeArm_010 > b_LeftHand_011",
    ],
    "RobotExpressive.glb": [PERSON_WITH_LOOSE_FEET, "ARM: UpperArm.L, LowerArm.L > ~Palm2.L"],
    "godot_player.glb": ["LEG: l-thigh, l-leg > l-foot", "ARM: l-arm, l-forearm > ~l-ARMCONTROL"],
    "kaykit_Med_MovementBasic.glb": [
        "LEG: upperleg.l, lowerleg.l > foot.l, toes.l",
        "ARM: upperarm.l, lowerarm.l > wrist.l",
    ],
    "mannequiny.glb": ["LEG: thigh.l, calf.l > foot.l, ball.l", "ARM: upperarm.l, lowerarm.l > hand.l"],
    "quat_KnightCharacter.glb": [PERSON_WITH_LOOSE_FEET, "ARM: UpperArm.L, LowerArm.L > Palm.L"],
    "quat_cyberpunk_22_clips.glb": [PERSON_WITH_LOOSE_FEET, "ARM: UpperArm.L, LowerArm.L > Hand.L"],
    "quat_Spider.glb": [
        f"LEG {place}: {leg}.L, {leg}2.L, {leg}3.L > ~{leg[:-3]}Foot.L"
        for place, leg in {
            "FRONT": "FrontLeg",
            "MID_FRONT": "MidFrontLeg",
            "MID_HIND": "MidBackLeg",
            "HIND": "BackLeg",
        }.items()
    ],
    "quat_Wolf.glb": [
        "LEG HIND: BackLeg.L, BackUpperLeg.L, BackLowerLeg.L > ~IKBackLeg.L",
        "LEG FRONT: FrontUpperLeg.L, FrontLowerLeg.L > ~IKFrontLeg.L",
    ],
    "makehuman_walk1.bvh": ["LEG: UpLeg_L, LoLeg_L > Foot_L, Toe_L", "ARM: UpArm_L, LoArm_L > Hand_L"],
    "ufbx_human_ik.fbx": [
        "LEG: Character1_LeftUpLeg, Character1_LeftLeg > Character1_LeftFoot, Character1_LeftToeBase",
        "ARM: Character1_LeftArm, Character1_LeftForeArm > Character1_LeftHand",
    ],
    "german_names.glb": [
        "LEG: Oberschenkel.L, Unterschenkel.L > Fuß.L, Zehen.L",
        "ARM: Oberarm.L, Unterarm.L > Hand.L",
    ],
    "kaykit_Knight.glb": [
        "LEG: upperleg.l, lowerleg.l > foot.l, toes.l",
        "ARM: upperarm.l, lowerarm.l > wrist.l",
    ],
    "m2m_fox_anims.glb": [
        "LEG HIND: Back_Leg_Upper_L, Back_Leg_Lower_L, Back_Leg_Ankle_L > Back_Leg_Foot_L, Back_Leg_Foot_1_L",
        "LEG FRONT: Front_Leg_Upper_L, Front_Leg_Lower_L, Front_Leg_Ankle_L > Front_Leg_Foot_L",
    ],
    "m2m_horse_anims.glb": [
        "LEG HIND: back_leg_upper_l, back_leg_lower_l, back_leg_ankle_l > back_leg_foot_l, back_leg_toe_l",
        "LEG FRONT: front_leg_upper_l, front_leg_lower_l, front_leg_ankle_l > front_leg_foot_l",
    ],
    "m2m_spider_anims.glb": [f"LEG: leg_{leg}_1_l, leg_{leg}_2_l, leg_{leg}_3_l > leg_{leg}_tip_l" for leg in "abcd"],
    "ozz_pab_jog.fbx": [
        "LEG: LeftUpLeg, LeftLeg > LeftFoot, LeftFootThumb1",
        "ARM: LeftArm, LeftForeArm > Lefthand",
    ],
    "twist_between_shin_and_foot.glb": [
        "LEG: thigh_l, calf_l, +foot_twist_l > foot_l, ball_l",
        "ARM: upperarm_l, lowerarm_l > hand_l",
    ],
    "mpfb_default.json": [
        "LEG: upperleg01.L, +upperleg02.L, lowerleg01.L, +lowerleg02.L > foot.L",
        "ARM: upperarm01.L, +upperarm02.L, lowerarm01.L, +lowerarm02.L > wrist.L",
    ],
    "mpfb_mixamo.json": [
        "LEG: mixamorig:LeftUpLeg, mixamorig:LeftLeg > mixamorig:LeftFoot, mixamorig:LeftToeBase",
        "ARM: mixamorig:LeftArm, mixamorig:LeftForeArm > mixamorig:LeftHand",
    ],
}
OPTIONS = {
    ".glb": [{"bone_heuristic": heuristic} for heuristic in ("BLENDER", "TEMPERANCE", "FORTUNE")],
    ".fbx": [{}, {"automatic_bone_orientation": True}],
}
IMPORTED = [
    # With the importer's default options always.
    pytest.param(name, options, id=f"{name} {[*options.values()]}", marks=[pytest.mark.slow] if k else [])
    for name in DOWNLOADED
    for k, options in enumerate(OPTIONS.get(Path(name).suffix, [{}]))
]


def armature_in(path: Path, options: dict) -> bpy.types.Object:
    if path.suffix == ".json":
        return armature_by_definition(json.loads(path.read_text()))
    if path.suffix == ".glb":
        bpy.ops.import_scene.gltf(filepath=str(path), **options)
    elif path.suffix == ".fbx":
        bpy.ops.import_scene.fbx(filepath=str(path), **options)
    else:
        bpy.ops.preferences.addon_enable(module="io_anim_bvh")
        bpy.ops.import_anim.bvh(filepath=str(path))
    return next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")


def armature_by_definition(definition: dict) -> bpy.types.Object:
    """An armature of a rig that MPFB defines; parents come first."""
    rest, ordered = dict(definition.get("bones", definition)), []
    while rest:
        ready = [name for name, bone in rest.items() if bone["parent"] not in rest]
        ordered += [(name, rest.pop(name)) for name in ready]
    return new_armature(
        "skeleton",
        [
            BoneSpec(name, bone["head"]["default_position"], bone["tail"]["default_position"], bone["parent"])
            for name, bone in ordered
        ],
    )


@pytest.mark.parametrize(("name", "options"), IMPORTED)
def test_the_limbs_of_a_downloaded_character_are_found(name, options):
    path = CHARACTERS / name
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    check(find_limbs(all_bones(armature_in(path, options)), arms=True), DOWNLOADED[name])


def test_a_leg_of_one_bone_is_not_completed_with_its_foot():
    path = CHARACTERS / "raylib_guy.blend"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    bpy.ops.wm.open_mainfile(filepath=str(path))
    found = find_limbs(all_bones(next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")))
    assert not found.limbs
    assert [limb.bones for limb, _ in found.unsure] == [("leg_L", "leg_L.001"), ("leg_R", "leg_R.001")]
