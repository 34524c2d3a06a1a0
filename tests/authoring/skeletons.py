"""Skeletons of well-known rigs: their names, how their bones hang together, and which limbs they have."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import bpy
from mathutils import Matrix, Vector

from ik_addon.authoring.finding.limbs import FoundLimb

from ..rig.rigs import BoneSpec, new_armature

Place = tuple[tuple[float, float, float], tuple[float, float, float]]

# Head and tail of the left side's bones and of those in the middle. Z is up, and the body looks to -Y.
HUMAN: dict[str, Place] = {
    "ground": ((0.0, 0.0, 0.0), (0.0, 0.3, 0.0)),
    "pelvis": ((0.0, 0.0, 1.0), (0.0, 0.0, 1.15)),
    "chest": ((0.0, 0.0, 1.15), (0.0, 0.0, 1.5)),
    "head": ((0.0, 0.0, 1.5), (0.0, 0.0, 1.75)),
    "hair": ((0.05, 0.1, 1.7), (0.06, 0.15, 1.3)),
    "breast": ((0.08, -0.1, 1.35), (0.08, -0.2, 1.35)),
    "stub": ((0.0, 0.0, 1.0), (0.1, 0.0, 0.97)),
    "thigh": ((0.1, 0.0, 0.95), (0.11, -0.02, 0.52)),
    "thigh 1": ((0.1, 0.0, 0.95), (0.105, -0.01, 0.735)),
    "thigh 2": ((0.105, -0.01, 0.735), (0.11, -0.02, 0.52)),
    "shin": ((0.11, -0.02, 0.52), (0.12, 0.03, 0.09)),
    "shin 1": ((0.11, -0.02, 0.52), (0.115, 0.005, 0.305)),
    "shin 2": ((0.115, 0.005, 0.305), (0.12, 0.03, 0.09)),
    "knee pole": ((0.11, -0.6, 0.52), (0.11, -0.7, 0.52)),
    "foot": ((0.12, 0.03, 0.09), (0.13, -0.1, 0.02)),
    "toe": ((0.13, -0.1, 0.02), (0.13, -0.17, 0.01)),
    "toe end": ((0.13, -0.17, 0.01), (0.13, -0.2, 0.01)),
    "heel": ((0.1, 0.08, 0.0), (0.15, 0.08, 0.0)),
    "skirt 1": ((0.12, -0.1, 1.0), (0.16, -0.14, 0.7)),
    "skirt 2": ((0.16, -0.14, 0.7), (0.19, -0.17, 0.4)),
    "skirt 3": ((0.19, -0.17, 0.4), (0.2, -0.18, 0.1)),
    "tail 1": ((0.0, 0.1, 1.0), (0.0, 0.3, 0.7)),
    "tail 2": ((0.0, 0.3, 0.7), (0.0, 0.4, 0.3)),
    "tail 3": ((0.0, 0.4, 0.3), (0.0, 0.7, 0.05)),
    "shoulder": ((0.02, 0.0, 1.42), (0.16, 0.02, 1.42)),
    "upper arm": ((0.17, 0.02, 1.4), (0.37, 0.04, 1.2)),
    "upper arm 1": ((0.17, 0.02, 1.4), (0.27, 0.03, 1.3)),
    "upper arm 2": ((0.27, 0.03, 1.3), (0.37, 0.04, 1.2)),
    "forearm": ((0.37, 0.04, 1.2), (0.55, 0.0, 1.02)),
    "hand": ((0.55, 0.0, 1.02), (0.6, -0.02, 0.96)),
    "palm": ((0.56, 0.02, 1.01), (0.61, 0.02, 0.95)),
    "palm 2": ((0.56, -0.04, 1.01), (0.61, -0.06, 0.95)),
    "finger": ((0.6, -0.02, 0.96), (0.64, -0.03, 0.9)),
    "to the hip": ((0.0, 0.0, 1.0), (0.1, 0.0, 0.95)),
    "to the shoulder": ((0.0, 0.0, 1.45), (0.17, 0.02, 1.4)),
    "buttock": ((0.03, 0.02, 1.0), (0.1, 0.0, 0.95)),
    "bent thigh 1": ((0.1, 0.0, 0.95), (0.1, -0.05, 0.8)),
    "bent thigh 2": ((0.1, -0.05, 0.8), (0.11, -0.02, 0.52)),
    "strap": ((0.14, 0.0, 0.12), (0.16, -0.02, 0.1)),
}
HUMAN |= {
    # With hands close to the ground.
    "long forearm": ((0.37, 0.04, 1.2), (0.5, 0.0, 0.25)),
    "low hand": ((0.5, 0.0, 0.25), (0.52, -0.02, 0.15)),
    # With short legs and large feet.
    "short thigh": ((0.17, 0.0, 0.52), (0.17, -0.01, 0.29)),
    "short shin": ((0.17, -0.01, 0.29), (0.17, 0.02, 0.145)),
    "large foot": ((0.17, 0.02, 0.145), (0.17, -0.1, 0.026)),
    "large toe": ((0.17, -0.1, 0.026), (0.17, -0.26, 0.026)),
}
BEAST: dict[str, Place] = {
    "pelvis": ((0.0, 0.4, 0.75), (0.0, 0.1, 0.8)),
    "chest": ((0.0, 0.1, 0.8), (0.0, -0.35, 0.85)),
    "head": ((0.0, -0.35, 0.85), (0.0, -0.7, 1.0)),
    "tail 1": ((0.0, 0.45, 0.75), (0.0, 0.6, 0.5)),
    "tail 2": ((0.0, 0.6, 0.5), (0.0, 0.7, 0.25)),
    "tail 3": ((0.0, 0.7, 0.25), (0.0, 0.75, 0.0)),
    "thigh": ((0.12, 0.34, 0.74), (0.12, 0.27, 0.47)),
    "shin": ((0.12, 0.27, 0.47), (0.11, 0.48, 0.25)),
    "foot": ((0.11, 0.48, 0.25), (0.11, 0.41, 0.04)),
    "toe": ((0.11, 0.41, 0.04), (0.11, 0.34, 0.01)),
    "foot 1": ((0.11, 0.48, 0.25), (0.11, 0.445, 0.145)),
    "foot 2": ((0.11, 0.445, 0.145), (0.11, 0.41, 0.04)),
    "hoof": ((0.11, 0.34, 0.01), (0.11, 0.28, 0.0)),
    "shoulder": ((0.06, -0.26, 0.89), (0.12, -0.34, 0.72)),
    "front thigh": ((0.12, -0.32, 0.69), (0.12, -0.22, 0.44)),
    "front shin": ((0.12, -0.22, 0.44), (0.11, -0.21, 0.17)),
    "front foot": ((0.11, -0.21, 0.17), (0.11, -0.25, 0.04)),
    "front toe": ((0.11, -0.25, 0.04), (0.11, -0.37, 0.0)),
    "low front shin": ((0.12, -0.22, 0.44), (0.11, -0.21, 0.08)),
    "front paw": ((0.11, -0.21, 0.08), (0.11, -0.28, 0.02)),
    "low shin": ((0.12, 0.27, 0.47), (0.11, 0.4, 0.08)),
    "paw": ((0.11, 0.4, 0.08), (0.11, 0.3, 0.0)),
}
BEAST |= {
    "ground": ((0.0, 0.0, 0.0), (0.0, 0.3, 0.0)),
    # A lizard on its hind legs, whose little arms do not reach the ground.
    "little arm": ((0.1, -0.3, 0.8), (0.1, -0.36, 0.7)),
    "little forearm": ((0.1, -0.36, 0.7), (0.1, -0.44, 0.66)),
    "little hand": ((0.1, -0.44, 0.66), (0.1, -0.48, 0.64)),
    # A bird; its toes spread.
    "tarsus": ((0.11, 0.48, 0.25), (0.11, 0.3, 0.03)),
    "toe 1": ((0.11, 0.3, 0.03), (0.05, 0.2, 0.0)),
    "toe 2": ((0.11, 0.3, 0.03), (0.11, 0.2, 0.0)),
    "toe 3": ((0.11, 0.3, 0.03), (0.17, 0.2, 0.0)),
    "hip": ((0.03, 0.36, 0.76), (0.12, 0.34, 0.74)),
}


def _leg_of_spider(y: float, z: float) -> list[Place]:
    """Its three links and its foot, each leg in another direction."""
    joints = [(0.1, 0.4 * y, 0.2), (0.3, 1.2 * y, 0.4), (0.6, 2.2 * y, 0.25), (0.7, 2.6 * y, z), (0.72, 2.7 * y, z)]
    return list(pairwise(joints))


SPIDER: dict[str, Place] = {
    "body": ((0.0, 0.1, 0.2), (0.0, -0.1, 0.2)),
    "abdomen": ((0.0, 0.1, 0.2), (0.0, 0.4, 0.3)),
    **{
        f"{pair} {k}": place
        for pair, y in (("front", -0.3), ("mid front", -0.1), ("mid back", 0.1), ("back", 0.3))
        for k, place in enumerate(_leg_of_spider(y, 0.0), 1)
    },
}
PLACES = {"human": HUMAN, "beast": BEAST, "spider": SPIDER}


@dataclass(frozen=True)
class Family:
    """A kind of rig. Wherever a name has {s}, there is one bone for each side.

    tree: bones in a row in each line, root first, the parent of the first by indentation; their places after commas.
    limbs: "kind place: chain > end, toe, heel", each for both sides; + before a segment, ~ before an end that does not
    ride. decoys: bones that are no limb, as `tree`.
    """

    name: str
    tree: str
    limbs: tuple[str, ...]
    sides: tuple[str, str] = ("L", "R")
    places: str = "human"
    decoys: str = ""

    def __str__(self) -> str:
        return self.name

    def bones(self, decoys: bool = True) -> list[BoneSpec]:
        places = PLACES[self.places]
        specs = [*_specs(self.tree, self.sides, places), *(_specs(self.decoys, self.sides, places) if decoys else ())]
        # Decoys hang on bones of the tree, which they name again: the first one counts.
        first: dict[str, BoneSpec] = {}
        for spec in specs:
            first.setdefault(spec.name, spec)
        return list(first.values())

    def found(self) -> list[FoundLimb]:
        limbs = [_expected(limb, side, "LR"[k]) for limb in self.limbs for k, side in enumerate(self.sides)]
        return sorted(limbs, key=lambda limb: (limb.kind == "ARM", limb.place == "FRONT", limb.side, limb.bones))


def _specs(tree: str, sides: tuple[str, str], places: dict[str, Place]) -> Iterator[BoneSpec]:
    above: list[tuple[int, str]] = []
    for line in filter(str.strip, tree.splitlines()):
        indent = len(line) - len(line.lstrip())
        above = [(depth, parent) for depth, parent in above if depth < indent]
        parent = above[-1][1] if above else ""
        for bone in line.split(" > "):
            name, place = (part.strip() for part in bone.split(","))
            for side, sign in zip(sides, (1.0, -1.0), strict=True):
                head, tail = ((x * sign, y, z) for x, y, z in places[place])
                yield BoneSpec(name.format(s=side), head, tail, parent.format(s=side))
                if "{s}" not in name:
                    break
            parent = name
        above.append((indent, parent))


def _expected(limb: str, side: str, letter: str) -> FoundLimb:
    kind_and_place, _, rest = limb.format(s=side).partition(": ")
    chain, _, beyond = rest.partition(" > ")
    kind, _, place = kind_and_place.partition(" ")
    bones = [part.strip() for part in chain.split(",")]
    end, toe, heel = (*(part.strip() for part in beyond.split(",")), "", "")[:3]
    return FoundLimb(
        kind,
        letter,
        place,
        tuple(bone.lstrip("+") for bone in bones),
        end.lstrip("~"),
        toe,
        heel,
        tuple(bone[1:] for bone in bones if bone.startswith("+")),
        rides=bool(end) and not end.startswith("~"),
    )


def armature_of(bones: list[BoneSpec], turn: Matrix | None = None, rename: Callable[[str], str] = str):
    """An armature of these bones, turned as a whole and with other names."""
    turn = turn or Matrix.Identity(3)
    return new_armature(
        "skeleton",
        [
            BoneSpec(
                rename(spec.name),
                turn @ Vector(spec.head),
                turn @ Vector(spec.tail),
                rename(spec.parent) if spec.parent else "",
            )
            for spec in bones
        ],
    )


def all_bones(ob: bpy.types.Object) -> list[bpy.types.Bone]:
    return list(ob.data.bones)


FAMILIES = [
    Family(
        "Rigify metarig",
        """
spine, pelvis
  spine.003, chest
    spine.006, head
    shoulder.{s}, shoulder > upper_arm.{s}, upper arm > forearm.{s}, forearm > hand.{s}, hand > f_index.01.{s}, finger
  pelvis.{s}, stub
  thigh.{s}, thigh > shin.{s}, shin > foot.{s}, foot
    toe.{s}, toe
    heel.02.{s}, heel
""",
        (
            "LEG: thigh.{s}, shin.{s} > foot.{s}, toe.{s}, heel.02.{s}",
            "ARM: upper_arm.{s}, forearm.{s} > hand.{s}",
        ),
        decoys="""
spine.003, chest > breast.{s}, breast
spine, pelvis > tail, tail 1 > tail.001, tail 2 > tail.002, tail 3
spine.006, head > hair.{s}, hair
""",
    ),
    Family(
        "Rigify generated",
        """
root, ground > DEF-spine, pelvis
  DEF-spine.001, chest > DEF-shoulder.{s}, shoulder > DEF-upper_arm.{s}, upper arm > DEF-forearm.{s}, forearm
    DEF-hand.{s}, hand
  DEF-pelvis.{s}, stub
  DEF-thigh.{s}, thigh 1 > DEF-thigh.{s}.001, thigh 2 > DEF-shin.{s}, shin 1 > DEF-shin.{s}.001, shin 2
    DEF-foot.{s}, foot > DEF-toe.{s}, toe
""",
        (
            "LEG: DEF-thigh.{s}, +DEF-thigh.{s}.001, DEF-shin.{s}, +DEF-shin.{s}.001 > DEF-foot.{s}, DEF-toe.{s}",
            "ARM: DEF-upper_arm.{s}, DEF-forearm.{s} > DEF-hand.{s}",
        ),
        decoys="""
root, ground
  ORG-spine, pelvis
    ORG-thigh.{s}, thigh > ORG-shin.{s}, shin > ORG-foot.{s}, foot
      ORG-toe.{s}, toe
      ORG-heel.02.{s}, heel
    MCH-thigh_parent.{s}, stub
      thigh_fk.{s}, thigh > shin_fk.{s}, shin > foot_fk.{s}, foot > toe_fk.{s}, toe
      thigh_ik.{s}, thigh > MCH-shin_ik.{s}, shin > MCH-thigh_ik_target.{s}, foot
      thigh_tweak.{s}, thigh
      shin_tweak.{s}, shin
  foot_ik.{s}, foot > foot_heel_ik.{s}, heel
  thigh_ik_target.{s}, knee pole
""",
    ),
    *(
        Family(
            f"Mixamo, prefix '{prefix}'",
            """
@Hips, pelvis
  @Spine, chest
    @Head, head
    @{s}Shoulder, shoulder > @{s}Arm, upper arm > @{s}ForeArm, forearm > @{s}Hand, hand > @{s}HandIndex1, finger
  @{s}UpLeg, thigh > @{s}Leg, shin > @{s}Foot, foot > @{s}ToeBase, toe > @{s}Toe_End, toe end
""".replace("@", prefix),
            (
                "LEG: @{s}UpLeg, @{s}Leg > @{s}Foot, @{s}ToeBase".replace("@", prefix),
                "ARM: @{s}Arm, @{s}ForeArm > @{s}Hand".replace("@", prefix),
            ),
            sides=("Left", "Right"),
        )
        for prefix in ("mixamorig:", "")
    ),
    Family(
        "Unreal mannequin",
        """
root, ground > pelvis, pelvis
  spine_01, chest
    head, head
    clavicle_{s}, shoulder > upperarm_{s}, upper arm > lowerarm_{s}, forearm > hand_{s}, hand
  thigh_{s}, thigh > calf_{s}, shin > foot_{s}, foot > ball_{s}, toe
""",
        ("LEG: thigh_{s}, calf_{s} > foot_{s}, ball_{s}", "ARM: upperarm_{s}, lowerarm_{s} > hand_{s}"),
        sides=("l", "r"),
        decoys="""
thigh_{s}, thigh
  thigh_twist_01_{s}, thigh 2
  thigh_correctiveRoot_{s}, thigh > thigh_bck_{s}, thigh
calf_{s}, shin
  calf_twist_01_{s}, shin 2
  calf_knee_{s}, shin
foot_{s}, foot
  ankle_bck_{s}, heel
  ankle_fwd_{s}, foot
upperarm_{s}, upper arm > upperarm_twist_01_{s}, upper arm
root, ground > ik_foot_root, ground > ik_foot_{s}, foot
""",
    ),
    Family(
        "VRM",
        """
Root, ground > J_Bip_C_Hips, pelvis
  J_Bip_C_Spine, chest
    J_Bip_C_Head, head
    J_Bip_{s}_Shoulder, shoulder > J_Bip_{s}_UpperArm, upper arm > J_Bip_{s}_LowerArm, forearm > J_Bip_{s}_Hand, hand
  J_Bip_{s}_UpperLeg, thigh > J_Bip_{s}_LowerLeg, shin > J_Bip_{s}_Foot, foot > J_Bip_{s}_ToeBase, toe
""",
        (
            "LEG: J_Bip_{s}_UpperLeg, J_Bip_{s}_LowerLeg > J_Bip_{s}_Foot, J_Bip_{s}_ToeBase",
            "ARM: J_Bip_{s}_UpperArm, J_Bip_{s}_LowerArm > J_Bip_{s}_Hand",
        ),
        decoys="""
J_Bip_{s}_ToeBase, toe > J_Bip_{s}_ToeBase_end, toe end
J_Bip_{s}_UpperLeg, thigh > J_Sec_{s}_CoatSkirtFront1_01, skirt 2
J_Bip_C_Hips, pelvis > J_Sec_{s}_SkirtFront0_01, skirt 1 > J_Sec_{s}_SkirtFront1_01, skirt 2
  J_Sec_{s}_SkirtFront2_01, skirt 3
J_Bip_C_Head, head > J_Sec_Hair1_{s}, hair
J_Bip_C_Spine, chest > J_Sec_{s}_Bust1, breast
""",
    ),
    Family(
        "motion capture, hip and knee",
        """
Hips, pelvis
  Chest, chest
    Head, head
    {s}Collar, shoulder > {s}Shoulder, upper arm > {s}Elbow, forearm > {s}Wrist, hand
  {s}HipJoint, stub > {s}Hip, thigh > {s}Knee, shin > {s}Ankle, foot > {s}Toe, toe
""",
        ("LEG: {s}Hip, {s}Knee > {s}Ankle, {s}Toe", "ARM: {s}Shoulder, {s}Elbow > {s}Wrist"),
        sides=("Left", "Right"),
    ),
    Family(
        "Auto-Rig Pro",
        """
root.x, pelvis
  spine_01.x, chest > shoulder.{s}, shoulder > arm_stretch.{s}, upper arm > forearm_stretch.{s}, forearm
    hand.{s}, hand
  thigh_stretch.{s}, thigh > leg_stretch.{s}, shin > foot.{s}, foot > toes_01.{s}, toe
""",
        (
            "LEG: thigh_stretch.{s}, leg_stretch.{s} > foot.{s}, toes_01.{s}",
            "ARM: arm_stretch.{s}, forearm_stretch.{s} > hand.{s}",
        ),
        sides=("l", "r"),
        decoys="""
thigh_stretch.{s}, thigh > thigh_twist.{s}, thigh 1
leg_stretch.{s}, shin > leg_twist.{s}, shin 2
root.x, pelvis
  c_thigh_fk.{s}, thigh > c_leg_fk.{s}, shin > c_foot_fk.{s}, foot
  thigh_ref.{s}, thigh > leg_ref.{s}, shin > foot_ref.{s}, foot > toes_ref.{s}, toe
c_foot_ik.{s}, foot > c_foot_heel.{s}, heel
c_leg_pole.{s}, knee pole
""",
    ),
    Family(
        "3ds Max Biped",
        """
Bip01, pelvis
  Bip01 Spine, chest > Bip01 {s} Clavicle, shoulder > Bip01 {s} UpperArm, upper arm > Bip01 {s} Forearm, forearm
    Bip01 {s} Hand, hand
  Bip01 {s} Thigh, thigh > Bip01 {s} Calf, shin > Bip01 {s} Foot, foot > Bip01 {s} Toe0, toe
    Bip01 {s} Toe0Nub, toe end
""",
        (
            "LEG: Bip01 {s} Thigh, Bip01 {s} Calf > Bip01 {s} Foot, Bip01 {s} Toe0",
            "ARM: Bip01 {s} UpperArm, Bip01 {s} Forearm > Bip01 {s} Hand",
        ),
    ),
    Family(
        "Daz",
        """
hip, pelvis
  abdomen, chest > {s}Collar, shoulder > {s}ShldrBend, upper arm 1 > {s}ShldrTwist, upper arm 2
    {s}ForearmBend, forearm > {s}Hand, hand
  pelvis, pelvis > {s}ThighBend, thigh 1 > {s}ThighTwist, thigh 2 > {s}Shin, shin > {s}Foot, foot > {s}Toe, toe
""",
        (
            "LEG: {s}ThighBend, +{s}ThighTwist, {s}Shin > {s}Foot, {s}Toe",
            "ARM: {s}ShldrBend, +{s}ShldrTwist, {s}ForearmBend > {s}Hand",
        ),
        sides=("l", "r"),
    ),
    Family(
        "MakeHuman",
        """
root, pelvis
  spine01, chest > clavicle.{s}, shoulder > upperarm01.{s}, upper arm > lowerarm01.{s}, forearm > wrist.{s}, hand
  pelvis.{s}, stub > upperleg01.{s}, thigh 1 > upperleg02.{s}, thigh 2 > lowerleg01.{s}, shin 1
    lowerleg02.{s}, shin 2 > foot.{s}, foot
      toe1-1.{s}, toe
      toe2-1.{s}, toe
""",
        (
            "LEG: upperleg01.{s}, +upperleg02.{s}, lowerleg01.{s}, +lowerleg02.{s} > foot.{s}",
            "ARM: upperarm01.{s}, lowerarm01.{s} > wrist.{s}",
        ),
    ),
    Family(
        "Rigify wolf",
        """
spine, pelvis
  spine.008, chest
    spine.010, head
    shoulder.{s}, shoulder > front_thigh.{s}, front thigh > front_shin.{s}, front shin > front_foot.{s}, front foot
      front_toe.{s}, front toe
  thigh.{s}, thigh > shin.{s}, shin > foot.{s}, foot > toe.{s}, toe
""",
        (
            "LEG HIND: thigh.{s}, shin.{s}, foot.{s} > toe.{s}",
            "LEG FRONT: front_thigh.{s}, front_shin.{s}, front_foot.{s} > front_toe.{s}",
        ),
        places="beast",
        decoys="""
spine, pelvis > spine.003, tail 1 > spine.002, tail 2 > spine.001, tail 3
""",
    ),
    Family(
        "Rigify cat",
        """
spine, pelvis
  spine.003, chest > shoulder.{s}, shoulder > upper_arm.{s}, front thigh > forearm.{s}, low front shin
    hand.{s}, front paw > f_toe.{s}, front toe
  thigh.{s}, thigh > shin.{s}, shin > foot.{s}, foot > r_toe.{s}, toe
""",
        (
            "LEG HIND: thigh.{s}, shin.{s}, foot.{s} > r_toe.{s}",
            "LEG FRONT: upper_arm.{s}, forearm.{s} > hand.{s}, f_toe.{s}",
        ),
        places="beast",
    ),
    Family(
        "Rigify horse",
        """
spine, pelvis
  spine.005, chest > shoulder.{s}, shoulder > upper_arm.{s}, front thigh > forearm.{s}, front shin
    forefoot.{s}, front foot > f_toe.{s}, front toe
  thigh.{s}, thigh > lower_leg.{s}, shin > hind_foot.{s}, foot > r_toe.{s}, toe > r_hoof.{s}, hoof
""",
        (
            "LEG HIND: thigh.{s}, lower_leg.{s}, hind_foot.{s} > r_toe.{s}, r_hoof.{s}",
            "LEG FRONT: upper_arm.{s}, forearm.{s}, forefoot.{s} > f_toe.{s}",
        ),
        places="beast",
    ),
    Family(
        "Rigify horse, generated, its hind legs",
        """
ORG-spine, pelvis > DEF-thigh.{s}, thigh > DEF-lower_leg.{s}, shin > DEF-hind_foot.{s}, foot 1
  DEF-hind_foot.{s}.001, foot 2 > DEF-r_toe.{s}, toe > DEF-r_hoof.{s}, hoof
""",
        (
            "LEG: DEF-thigh.{s}, DEF-lower_leg.{s}, DEF-hind_foot.{s}, +DEF-hind_foot.{s}.001 > "
            "DEF-r_toe.{s}, DEF-r_hoof.{s}",
        ),
        places="beast",
    ),
    Family(
        "four legs, FrontUpperLeg",
        """
Pelvis, pelvis
  Chest, chest > FrontUpperLeg.{s}, front thigh > FrontLowerLeg.{s}, low front shin > FrontPaw.{s}, front paw
  HindUpperLeg.{s}, thigh > HindLowerLeg.{s}, low shin > HindPaw.{s}, paw
""",
        (
            "LEG HIND: HindUpperLeg.{s}, HindLowerLeg.{s} > HindPaw.{s}",
            "LEG FRONT: FrontUpperLeg.{s}, FrontLowerLeg.{s} > FrontPaw.{s}",
        ),
        places="beast",
    ),
    Family(
        "Maya HumanIK, roll bones in line",
        """
Character1_Hips, pelvis
  Character1_Spine, chest
    Character1_Head, head
    Character1_{s}Shoulder, shoulder > Character1_{s}Arm, upper arm 1 > Character1_{s}ArmRoll, upper arm 2
      Character1_{s}ForeArm, forearm > Character1_{s}Hand, hand > Character1_{s}HandIndex1, finger
  Character1_{s}UpLeg, thigh 1 > Character1_{s}UpLegRoll, thigh 2 > Character1_{s}Leg, shin 1
    Character1_{s}LegRoll, shin 2 > Character1_{s}Foot, foot > Character1_{s}ToeBase, toe
""",
        (
            "LEG: Character1_{s}UpLeg, +Character1_{s}UpLegRoll, Character1_{s}Leg, +Character1_{s}LegRoll > "
            "Character1_{s}Foot, Character1_{s}ToeBase",
            "ARM: Character1_{s}Arm, +Character1_{s}ArmRoll, Character1_{s}ForeArm > Character1_{s}Hand",
        ),
        sides=("Left", "Right"),
    ),
    Family(
        "MakeHuman, a thigh split where it bends",
        """
root, pelvis > pelvis.{s}, to the hip > upperleg01.{s}, bent thigh 1 > upperleg02.{s}, bent thigh 2
  lowerleg01.{s}, shin 1 > lowerleg02.{s}, shin 2 > foot.{s}, foot
    toe1-1.{s}, toe
    toe2-1.{s}, toe
""",
        ("LEG: upperleg01.{s}, +upperleg02.{s}, lowerleg01.{s}, +lowerleg02.{s} > foot.{s}",),
    ),
    Family(
        "MakeHuman capture",
        """
Root, pelvis
  Spine1, chest > __Clavicle_{s}, stub > Clavicle_{s}, shoulder > UpArm_{s}, upper arm > LoArm_{s}, forearm
    Hand_{s}, hand > __Index1_{s}, finger
  Hips, pelvis > __UpLeg_{s}, to the hip > UpLeg_{s}, thigh > LoLeg_{s}, shin > Foot_{s}, foot > Toe_{s}, toe
""",
        ("LEG: UpLeg_{s}, LoLeg_{s} > Foot_{s}, Toe_{s}", "ARM: UpArm_{s}, LoArm_{s} > Hand_{s}"),
    ),
    Family(
        "OpenPose, bones named after the joints at their tails",
        """
MidHip, pelvis
  Neck, chest
    Nose, head
    {s}Shoulder, to the shoulder > {s}Elbow, upper arm > {s}Wrist, forearm
  {s}Hip, to the hip > {s}Knee, thigh > {s}Ankle, shin > {s}BigToe, foot
""",
        ("LEG: {s}Knee, {s}Ankle > {s}BigToe", "ARM: {s}Elbow, {s}Wrist > "),
    ),
    Family(
        "Poser",
        """
BODY, ground > hip, pelvis
  abdomen, chest > {s}Collar, shoulder > {s}Shldr, upper arm > {s}ForeArm, forearm > {s}Hand, hand
  {s}Buttock, buttock > {s}Thigh, thigh > {s}Shin, shin > {s}Foot, foot > {s}Toe, toe
""",
        ("LEG: {s}Thigh, {s}Shin > {s}Foot, {s}Toe", "ARM: {s}Shldr, {s}ForeArm > {s}Hand"),
        sides=("l", "r"),
    ),
    Family(
        "motion capture, lfemur",
        """
root, pelvis
  {s}hipjoint, to the hip > {s}femur, thigh > {s}tibia, shin > {s}foot, foot > {s}toes, toe
  thorax, chest > {s}clavicle, shoulder > {s}humerus, upper arm > {s}radius, forearm > {s}wrist, hand
    {s}hand, finger
""",
        ("LEG: {s}femur, {s}tibia > {s}foot, {s}toes", "ARM: {s}humerus, {s}radius > {s}wrist"),
        sides=("l", "r"),
    ),
    Family(
        "MikuMikuDance",
        """
全ての親, ground
  下半身, pelvis > {s}足, thigh > {s}ひざ, shin > {s}足首, foot > {s}つま先, toe
  上半身, pelvis > {s}肩, shoulder > {s}腕, upper arm 1 > {s}腕捩, upper arm 2 > {s}ひじ, forearm > {s}手首, hand
""",
        ("LEG: {s}足, {s}ひざ > {s}足首, {s}つま先", "ARM: {s}腕, +{s}腕捩, {s}ひじ > {s}手首"),
        sides=("左", "右"),
        decoys="""
下半身, pelvis > {s}足D, thigh > {s}ひざD, shin > {s}足首D, foot > {s}足先EX, toe
全ての親, ground > {s}足IK親, ground > {s}足IK, foot > {s}つま先IK, toe
""",
    ),
    Family(
        "MB-Lab",
        """
root, ground > pelvis, pelvis
  spine01, chest > clavicle_{s}, shoulder > upperarm_{s}, upper arm > lowerarm_{s}, forearm > hand_{s}, hand
  thigh_{s}, thigh > calf_{s}, shin > foot_{s}, foot > toes_{s}, toe
""",
        ("LEG: thigh_{s}, calf_{s} > foot_{s}, toes_{s}", "ARM: upperarm_{s}, lowerarm_{s} > hand_{s}"),
        decoys="""
thigh_{s}, thigh > thigh_twist_{s}, thigh 2
calf_{s}, shin
  calf_twist_{s}, shin 2
  rot_helper01_{s}, shin 2
""",
    ),
    Family(
        "KayKit, short legs and large feet",
        """
root, ground > hips, pelvis
  chest, chest > upperarm.{s}, upper arm > lowerarm.{s}, forearm > wrist.{s}, hand > hand.{s}, finger
  upperleg.{s}, short thigh > lowerleg.{s}, short shin > foot.{s}, large foot > toes.{s}, large toe
""",
        ("LEG: upperleg.{s}, lowerleg.{s} > foot.{s}, toes.{s}", "ARM: upperarm.{s}, lowerarm.{s} > wrist.{s}"),
        sides=("l", "r"),
    ),
    Family(
        "feet and shins with straps",
        """
Hips, pelvis > {s}_thigh, thigh > {s}_shin, shin
  foot_lamp_{s}, strap
  foot_rope_{s}, strap
  foot_{s}, foot > toe_{s}, toe
  shin_strap_{s}, strap > shin_buckle_{s}, strap
""",
        ("LEG: {s}_thigh, {s}_shin > foot_{s}, toe_{s}",),
    ),
    Family(
        "feet that are parented to the root",
        """
Bone, ground
  Foot.{s}, foot
  Body, pelvis > Torso, chest > Shoulder.{s}, shoulder > UpperArm.{s}, upper arm > LowerArm.{s}, forearm
    Palm1.{s}, palm > Ring1.{s}, finger
    Palm2.{s}, hand > Middle1.{s}, finger
    Palm3.{s}, palm 2 > Index1.{s}, finger
  UpperLeg.{s}, thigh > LowerLeg.{s}, shin
  PoleTarget.{s}, knee pole
""",
        ("LEG: UpperLeg.{s}, LowerLeg.{s} > ~Foot.{s}", "ARM: UpperArm.{s}, LowerArm.{s} > ~Palm1.{s}"),
    ),
    Family(
        "shins without feet, forearms with controls",
        """
MASTER, ground
  hip, pelvis
    chest, chest > {s}-arm, upper arm > {s}-forearm, forearm
    {s}-thigh, thigh > {s}-leg, shin
  {s}-ARMCONTROL, hand
  {s}-LEGORIENT, knee pole
""",
        ("LEG: {s}-thigh, {s}-leg > ", "ARM: {s}-arm, {s}-forearm > ~{s}-ARMCONTROL"),
        sides=("l", "r"),
    ),
    Family(
        "boots and fists",
        """
pelvis, pelvis
  chest, chest > {s}_uparm, upper arm > {s}_loarm, forearm > {s}_fist, hand
  {s}_upleg, thigh > {s}_loleg, shin > {s}_boot, foot
""",
        ("LEG: {s}_upleg, {s}_loleg > {s}_boot", "ARM: {s}_uparm, {s}_loarm > {s}_fist"),
    ),
    Family(
        "a troll with long arms",
        """
pelvis, pelvis
  chest, chest > upperarm_{s}, upper arm > forearm_{s}, long forearm > hand_{s}, low hand
  thigh_{s}, thigh > shin_{s}, shin > foot_{s}, foot > toe_{s}, toe
""",
        ("LEG: thigh_{s}, shin_{s} > foot_{s}, toe_{s}", "ARM: upperarm_{s}, forearm_{s} > hand_{s}"),
    ),
    Family(
        "numbered joints of a person",
        """
torso_joint_1, pelvis
  torso_joint_2, chest
    neck_joint_1, head
    arm_joint_{s}_1, upper arm > arm_joint_{s}_2, forearm > arm_joint_{s}_3, hand
  leg_joint_{s}_1, thigh > leg_joint_{s}_2, shin > leg_joint_{s}_3, foot > leg_joint_{s}_5, toe
""",
        (
            "LEG: leg_joint_{s}_1, leg_joint_{s}_2 > leg_joint_{s}_3, leg_joint_{s}_5",
            "ARM: arm_joint_{s}_1, arm_joint_{s}_2 > arm_joint_{s}_3",
        ),
    ),
    Family(
        "numbered joints of a fox",
        """
b_Root, ground > b_Hip_01, pelvis
  b_Spine01, chest > b_{s}UpperArm, front thigh > b_{s}ForeArm, low front shin > b_{s}Hand, front paw
  b_{s}Leg01, thigh > b_{s}Leg02, shin > b_{s}Foot01, foot > b_{s}Foot02, toe
""",
        (
            "LEG HIND: b_{s}Leg01, b_{s}Leg02, b_{s}Foot01 > b_{s}Foot02",
            "LEG FRONT: b_{s}UpperArm, b_{s}ForeArm > b_{s}Hand",
        ),
        sides=("Left", "Right"),
        places="beast",
    ),
    Family(
        "a wolf whose paws follow bones without a parent",
        """
Body, pelvis
  Torso, chest > FrontShoulder.{s}, shoulder > FrontUpperLeg.{s}, front thigh > FrontLowerLeg.{s}, low front shin
  BackShoulder.{s}, hip > BackLeg.{s}, thigh > BackUpperLeg.{s}, shin > BackLowerLeg.{s}, foot
IKBackLeg.{s}, toe > FFB.{s}, hoof
IKFrontLeg.{s}, front paw
""",
        (
            "LEG HIND: BackLeg.{s}, BackUpperLeg.{s}, BackLowerLeg.{s} > ~IKBackLeg.{s}",
            "LEG FRONT: FrontUpperLeg.{s}, FrontLowerLeg.{s} > ~IKFrontLeg.{s}",
        ),
        places="beast",
    ),
    Family(
        "a lizard with little arms",
        """
Root, pelvis
  Torso, chest > FrontUpperLeg.{s}, little arm > FrontLowerLeg.{s}, little forearm > FrontFoot.{s}, little hand
  BackUpperLeg.{s}, thigh > BackLowerLeg.{s}, shin > BackFoot.{s}, foot > BackToes.{s}, toe
""",
        (
            "LEG: BackUpperLeg.{s}, BackLowerLeg.{s}, BackFoot.{s} > BackToes.{s}",
            "ARM: FrontUpperLeg.{s}, FrontLowerLeg.{s} > FrontFoot.{s}",
        ),
        places="beast",
    ),
    Family(
        "a bird",
        """
Root, pelvis
  Spine, chest > Wing1.{s}, little arm > Wing2.{s}, little forearm
  Thigh.{s}, thigh > Shin.{s}, shin > Foot.{s}, tarsus
    Toe1.{s}, toe 1
    Toe2.{s}, toe 2
    Toe3.{s}, toe 3
""",
        ("LEG: Thigh.{s}, Shin.{s}, Foot.{s} > ~Toe2.{s}",),
        places="beast",
    ),
    Family(
        "a spider",
        """
Root, body
  Body, body
    Abdomen, abdomen
    FrontLeg.{s}, front 1 > FrontLeg2.{s}, front 2 > FrontLeg3.{s}, front 3
    MidFrontLeg.{s}, mid front 1 > MidFrontLeg2.{s}, mid front 2 > MidFrontLeg3.{s}, mid front 3
    MidBackLeg.{s}, mid back 1 > MidBackLeg2.{s}, mid back 2 > MidBackLeg3.{s}, mid back 3
    BackLeg.{s}, back 1 > BackLeg2.{s}, back 2 > BackLeg3.{s}, back 3
  FrontFoot.{s}, front 4
  MidFrontFoot.{s}, mid front 4
  MidBackFoot.{s}, mid back 4
  BackFoot.{s}, back 4
""",
        (
            "LEG FRONT: FrontLeg.{s}, FrontLeg2.{s}, FrontLeg3.{s} > ~FrontFoot.{s}",
            "LEG MID_FRONT: MidFrontLeg.{s}, MidFrontLeg2.{s}, MidFrontLeg3.{s} > ~MidFrontFoot.{s}",
            "LEG MID_HIND: MidBackLeg.{s}, MidBackLeg2.{s}, MidBackLeg3.{s} > ~MidBackFoot.{s}",
            "LEG HIND: BackLeg.{s}, BackLeg2.{s}, BackLeg3.{s} > ~BackFoot.{s}",
        ),
        places="spider",
    ),
]
