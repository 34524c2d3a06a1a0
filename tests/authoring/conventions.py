"""How rigs all over the world call the bones of one person, and that person's bones under those names."""

# The names of a rig stay on one line, however long.
# ruff: noqa: E501, RUF001

from dataclasses import dataclass

from mathutils import Vector

from ik_addon.authoring.finding.stance import Row

from .skeletons import Family

# In the order of PLACES; {s} stands for the side. Sides are left and right. "-" is a bone that the rig has not.
_TABLE = """
Character Creator 3 | L R | CC_Base_Hip; CC_Base_Spine01; CC_Base_Head; CC_Base_{s}_Clavicle; CC_Base_{s}_Upperarm; CC_Base_{s}_Forearm; CC_Base_{s}_Hand; CC_Base_{s}_Thigh; CC_Base_{s}_Calf; CC_Base_{s}_Foot; CC_Base_{s}_ToeBase
Character Creator 4, game | l r | pelvis; spine_01; head; clavicle_{s}; upperarm_{s}; lowerarm_{s}; hand_{s}; thigh_{s}; calf_{s}; foot_{s}; ball_{s}
AccuRig | L R | RL_BoneRoot_Hip; RL_Spine01; RL_Head; CC_Base_{s}_Clavicle; CC_Base_{s}_Upperarm; CC_Base_{s}_Forearm; CC_Base_{s}_Hand; CC_Base_{s}_Thigh; CC_Base_{s}_Calf; CC_Base_{s}_Foot; CC_Base_{s}_ToeBase
Daz Genesis 8 | l r | hip; abdomenLower; head; {s}Collar; {s}ShldrBend; {s}ForearmBend; {s}Hand; {s}ThighBend; {s}Shin; {s}Foot; {s}Toe
Daz Genesis 9 | l r | hip; spine1; head; {s}_shoulder; {s}_upperarm; {s}_forearm; {s}_hand; {s}_thigh; {s}_shin; {s}_foot; {s}_toes
MetaHuman | l r | pelvis; spine_04; head; clavicle_{s}; upperarm_{s}; lowerarm_{s}; hand_{s}; thigh_{s}; calf_{s}; foot_{s}; ball_{s}
Valve biped | L R | ValveBiped.Bip01_Pelvis; ValveBiped.Bip01_Spine2; ValveBiped.Bip01_Head1; ValveBiped.Bip01_{s}_Clavicle; ValveBiped.Bip01_{s}_UpperArm; ValveBiped.Bip01_{s}_Forearm; ValveBiped.Bip01_{s}_Hand; ValveBiped.Bip01_{s}_Thigh; ValveBiped.Bip01_{s}_Calf; ValveBiped.Bip01_{s}_Foot; ValveBiped.Bip01_{s}_Toe0
Valve, later | L R | pelvis; spine_1; head; clavicle_{s}; arm_upper_{s}; arm_lower_{s}; hand_{s}; leg_upper_{s}; leg_lower_{s}; ankle_{s}; ball_{s}
MikuMikuDance | 左 右 | 下半身; 上半身; 頭; {s}肩; {s}腕; {s}ひじ; {s}手首; {s}足; {s}ひざ; {s}足首; {s}つま先
MikuMikuDance, D bones | 左 右 | 下半身; 上半身; 頭; {s}肩; {s}腕; {s}ひじ; {s}手首; {s}足D; {s}ひざD; {s}足首D; {s}足先EX
mmd_tools | L R | 下半身; 上半身; 頭; 肩.{s}; 腕.{s}; ひじ.{s}; 手首.{s}; 足.{s}; ひざ.{s}; 足首.{s}; つま先.{s}
Chinese | 左 右 | 盆骨; 脊柱; 头; {s}锁骨; {s}上臂; {s}前臂; {s}手; {s}大腿; {s}小腿; {s}脚; {s}脚趾
Korean | L R | 골반; 척추; 머리; 쇄골.{s}; 위팔.{s}; 아래팔.{s}; 손.{s}; 허벅지.{s}; 종아리.{s}; 발.{s}; 발가락.{s}
Russian | L R | Таз; Позвоночник; Голова; Ключица.{s}; Плечо.{s}; Предплечье.{s}; Кисть.{s}; Бедро.{s}; Голень.{s}; Стопа.{s}; Носок.{s}
Auto-Rig Pro | l r | root.x; spine_01.x; head.x; shoulder.{s}; arm_stretch.{s}; forearm_stretch.{s}; hand.{s}; thigh_stretch.{s}; leg_stretch.{s}; foot.{s}; toes_01.{s}
SMPL | L R | Pelvis; Spine1; Head; {s}_Collar; {s}_Shoulder; {s}_Elbow; {s}_Wrist; {s}_Hip; {s}_Knee; {s}_Ankle; {s}_Foot
SMPL, words | left right | pelvis; spine1; head; {s}_collar; {s}_shoulder; {s}_elbow; {s}_wrist; {s}_hip; {s}_knee; {s}_ankle; {s}_foot
Second Life | Left Right | mPelvis; mTorso; mHead; mCollar{s}; mShoulder{s}; mElbow{s}; mWrist{s}; mHip{s}; mKnee{s}; mAnkle{s}; mFoot{s}
Roblox | Left Right | LowerTorso; UpperTorso; Head; -; {s}UpperArm; {s}LowerArm; {s}Hand; {s}UpperLeg; {s}LowerLeg; {s}Foot; -
VRoid | L R | J_Bip_C_Hips; J_Bip_C_Spine; J_Bip_C_Head; J_Bip_{s}_Shoulder; J_Bip_{s}_UpperArm; J_Bip_{s}_LowerArm; J_Bip_{s}_Hand; J_Bip_{s}_UpperLeg; J_Bip_{s}_LowerLeg; J_Bip_{s}_Foot; J_Bip_{s}_ToeBase
AdvancedSkeleton | L R | Root_M; Spine1_M; Head_M; Scapula_{s}; Shoulder_{s}; Elbow_{s}; Wrist_{s}; Hip_{s}; Knee_{s}; Ankle_{s}; Toes_{s}
MHX | L R | hips; spine; head; clavicle.{s}; upper_arm.{s}; forearm.{s}; hand.{s}; thigh.{s}; shin.{s}; foot.{s}; toe.{s}
Xsens | Left Right | Hips; Chest; Head; {s}Collar; {s}Shoulder; {s}Elbow; {s}Wrist; {s}Hip; {s}Knee; {s}Ankle; {s}Toe
CMU | Left Right | Hips; LowerBack; Head; {s}Shoulder; {s}Arm; {s}ForeArm; {s}Hand; {s}UpLeg; {s}Leg; {s}Foot; {s}ToeBase
Skyrim | L R | NPC Pelvis [Pelv]; NPC Spine [Spn0]; NPC Head [Head]; NPC {s} Clavicle [{s}Clv]; NPC {s} UpperArm [{s}Uar]; NPC {s} Forearm [{s}Lar]; NPC {s} Hand [{s}Hnd]; NPC {s} Thigh [{s}Thg]; NPC {s} Calf [{s}Clf]; NPC {s} Foot [{s}ft ]; NPC {s} Toe0 [{s}Toe]
Genshin | L R | Bip001 Pelvis; Bip001 Spine; Bip001 Head; Bip001 {s} Clavicle; Bip001 {s} UpperArm; Bip001 {s} Forearm; Bip001 {s} Hand; Bip001 {s} Thigh; Bip001 {s} Calf; Bip001 {s} Foot; Bip001 {s} Toe0
Kyle | Left Right | Hip; Ribs; Head; {s}_Shoulder_Joint_01; {s}_Upper_Arm_Joint_01; {s}_Forearm_Joint_01; {s}_Wrist_Joint_01; {s}_Thigh_Joint_01; {s}_Knee_Joint_01; {s}_Ankle_Joint_01; {s}_Toe_Joint_01
Blender's numbers | 0 1 | Bone.100; Bone.101; Bone.102; Bone.{s}03; Bone.{s}04; Bone.{s}05; Bone.{s}06; Bone.{s}07; Bone.{s}08; Bone.{s}09; Bone.{s}10
numbered joints | 1 2 | joint80; joint81; joint82; joint{s}01; joint{s}02; joint{s}03; joint{s}04; joint{s}05; joint{s}06; joint{s}07; joint{s}08
leg0_0 | L R | root; body; head; arm_{s}_0; arm_{s}_1; arm_{s}_2; arm_{s}_3; leg_{s}_0; leg_{s}_1; leg_{s}_2; leg_{s}_3
German | L R | Hüfte; Wirbelsäule; Kopf; Schlüsselbein.{s}; Oberarm.{s}; Unterarm.{s}; Hand.{s}; Oberschenkel.{s}; Unterschenkel.{s}; Fuß.{s}; Zehen.{s}
Spanish | Izq Der | Cadera; Columna; Cabeza; Clavicula{s}; Brazo{s}; Antebrazo{s}; Mano{s}; Muslo{s}; Pantorrilla{s}; Pie{s}; Dedos{s}
Spanish, legs | izquierda derecha | caderas; columna; cabeza; clavicula_{s}; brazo_{s}; antebrazo_{s}; mano_{s}; muslo_{s}; pierna_{s}; pie_{s}; dedos_{s}
French | G D | Bassin; Colonne; Tete; Clavicule.{s}; Bras.{s}; AvantBras.{s}; Main.{s}; Cuisse.{s}; Jambe.{s}; Pied.{s}; Orteils.{s}
Portuguese | E D | Quadril; Coluna; Cabeca; Clavicula.{s}; Braço.{s}; Antebraço.{s}; Mão.{s}; Coxa.{s}; Perna.{s}; Pé.{s}; Dedos.{s}
mGear | L R | spine_C0_pelvis_jnt; spine_C0_01_jnt; neck_C0_head_jnt; shoulder_{s}0_shoulder_jnt; arm_{s}0_0_jnt; arm_{s}0_1_jnt; arm_{s}0_end_jnt; leg_{s}0_0_jnt; leg_{s}0_1_jnt; leg_{s}0_end_jnt; foot_{s}0_0_jnt
Vicon | L R | Pelvis; Thorax; Head; {s}clav; {s}hume; {s}radi; {s}hand; {s}femu; {s}tibi; {s}foot; {s}toes
German, words | Links Rechts | Becken; Wirbel; Kopf; {s}Schulter; {s}Oberarm; {s}Unterarm; {s}Hand; {s}Oberschenkel; {s}Wade; {s}Fuss; {s}Zeh
German, joints | li re | Huefte; Rumpf; Kopf; Schulter_L_{s}; Arm_oben_{s}; Arm_unten_{s}; Hand_{s}; Bein_oben_{s}; Bein_unten_{s}; Fuss_{s}; Zehen_{s}
French, words | gauche droite | bassin; colonne; tête; épaule_{s}; bras_{s}; avant_bras_{s}; main_{s}; cuisse_{s}; mollet_{s}; cheville_{s}; pied_{s}
Spanish, joints | I D | Pelvis; Torso; Cabeza; Hombro_{s}; Brazo_{s}; Codo_{s}; Muñeca_{s}; Muslo_{s}; Rodilla_{s}; Tobillo_{s}; Pie_{s}
Portuguese, words | Esquerda Direita | Quadril; Tronco; Cabeça; Ombro{s}; Braço{s}; Antebraço{s}; Mão{s}; Coxa{s}; Canela{s}; Pé{s}; Ponta{s}
Italian | SX DX | Bacino; Spina; Testa; Clavicola_{s}; Braccio_{s}; Avambraccio_{s}; Mano_{s}; Coscia_{s}; Polpaccio_{s}; Piede_{s}; Dita_{s}
Italian, words | Sinistra Destra | Bacino; Busto; Testa; Spalla{s}; Braccio{s}; Gomito{s}; Polso{s}; Coscia{s}; Ginocchio{s}; Caviglia{s}; Piede{s}
Polish | L P | Miednica; Kregoslup; Glowa; Bark.{s}; Ramię.{s}; Przedramię.{s}; Dłoń.{s}; Udo.{s}; Łydka.{s}; Stopa.{s}; Palce.{s}
Polish, words | lewa prawa | miednica; tulow; glowa; bark_{s}; ramie_{s}; przedramie_{s}; dlon_{s}; udo_{s}; podudzie_{s}; stopa_{s}; palce_{s}
Turkish | sol sağ | kalça; omurga; baş; omuz_{s}; üst_kol_{s}; ön_kol_{s}; el_{s}; uyluk_{s}; baldır_{s}; ayak_{s}; parmak_{s}
Turkish, legs | Sol Sag | Kalca; Govde; Kafa; {s}Omuz; {s}UstKol; {s}AltKol; {s}El; {s}UstBacak; {s}AltBacak; {s}Ayak; {s}Parmak
MotionBuilder | Left Right | Character1:Hips; Character1:Spine; Character1:Head; Character1:{s}Shoulder; Character1:{s}Arm; Character1:{s}ForeArm; Character1:{s}Hand; Character1:{s}UpLeg; Character1:{s}Leg; Character1:{s}Foot; Character1:{s}ToeBase
Vicon, upper case | L R | HIPS; SPINE; HEAD; {s}SHOULDER; {s}UPARM; {s}LOARM; {s}HAND; {s}UPLEG; {s}LOLEG; {s}FOOT; {s}TOES
Finnish, unknown here | L R | lantio; selka; paa; solisluu.{s}; olkavarsi.{s}; kyynarvarsi.{s}; kasi.{s}; reisi.{s}; saari.{s}; jalkatera.{s}; varpaat.{s}
Hungarian, unknown here | B J | csipo; gerinc; fej; kulcscsont.{s}; felkar.{s}; alkar.{s}; kezfej.{s}; comb.{s}; labszar.{s}; labfej.{s}; labujj.{s}
misspelled | L R | Hips; Spine; Head; Sholder.{s}; UperArm.{s}; ForeArm.{s}; Hand.{s}; Tigh.{s}; Shin.{s}; Foot.{s}; Toes.{s}
misspelled, all | L R | Hps; Spne; Hd; Clavcle.{s}; Uprarm.{s}; Forarm.{s}; Hnd.{s}; Thgh.{s}; Clf.{s}; Fot.{s}; Tos.{s}
mirrored by Blender | .L .R | hips; spine; head; clavicle{s}.001; upper_arm{s}.001; forearm{s}.001; hand{s}.001; thigh{s}.001; shin{s}.001; foot{s}.001; toe{s}.001
left as named, right as copied | .L .L.001 | hips; spine; head; clavicle{s}; upper_arm{s}; forearm{s}; hand{s}; thigh{s}; shin{s}; foot{s}; toe{s}
"""
_TREE = """
{}, pelvis
  {}, chest
    {}, head
    {}, shoulder > {}, upper arm > {}, forearm > {}, hand
  {}, thigh > {}, shin > {}, foot > {}, toe
"""


@dataclass(frozen=True)
class Convention:
    """Names of a rig. names: in the order of the tree, with {s} for the side."""

    title: str
    sides: tuple[str, ...]
    names: tuple[str, ...]

    def __str__(self) -> str:
        return self.title

    def rows(self) -> list[Row]:
        """The bones of a person so called."""
        lines = _TREE.format(*self.names).replace("  -, shoulder > ", "  ").replace(" > -, toe", "")
        return [
            (spec.name, Vector(spec.head), Vector(spec.tail), spec.parent)
            for spec in Family("", lines, (), self.sides).bones()
        ]

    def limbs(self) -> dict[tuple[str, str], tuple[tuple[str, str], str]]:
        """Chain and end bone by kind and side."""
        found = {}
        for letter, side in zip("LR", self.sides, strict=True):
            named = [name.format(s=side) for name in self.names]
            found["ARM", letter] = (named[4], named[5]), named[6]
            found["LEG", letter] = (named[7], named[8]), named[9]
        return found


def _conventions():
    for line in filter(None, _TABLE.splitlines()):
        title, sides, names = (part.strip() for part in line.split("|"))
        yield Convention(title, tuple(sides.split()), tuple(name.strip() for name in names.split(";")))


CONVENTIONS = [*_conventions()]
