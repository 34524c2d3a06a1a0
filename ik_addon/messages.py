"""Every message a user can meet: the only place in the code where they are put into words.

These are refusals, problems, what a grayed-out button lacks, the status of a chain, what an operator has done, and what
the command line and the console print. Labels, headings and descriptions of properties and operators are not here, nor
is the certificate as a page of text (bake/certificate.py).

A message is called with what it is about and returns the sentence, so nothing is put into words if nothing is wrong.
tests/test_messages.py checks that each of them is used, names its thing and its fix, and is met by some test.
"""

from collections.abc import Iterable, Sequence
from string import Formatter


class Message:
    """Words with named fields. What is filled in is in the sentence as it is, whatever characters it has.

    Raises TypeError for a missing or unknown field.
    """

    __slots__ = ("fields", "words")

    def __init__(self, words: str) -> None:
        self.words = words
        self.fields = frozenset(name for _, name, _, _ in Formatter().parse(words) if name is not None)

    def __call__(self, **given: object) -> str:
        if given.keys() != self.fields:
            raise TypeError(f"{self.words!r} is given {sorted(given)}")
        return self.words.format_map(given)


class Refusal(Message):
    """What keeps something from being done, or a chain from its target: "What is wrong. What to do."."""


class OfBone(Refusal):
    """A refusal about a bone, which stands before the words."""

    __slots__ = ()
    whose = "Bone '{bone}': "

    def __init__(self, words: str) -> None:
        super().__init__(self.whose + words)


class OfConstraint(OfBone):
    """The same about a constraint of it."""

    __slots__ = ()
    whose = "Bone '{bone}': constraint '{constraint}' "


class OfArmature(OfBone):
    """The same about an armature."""

    __slots__ = ()
    whose = "Armature '{armature}': "


class Clause(Refusal):
    """A refusal about something: whoever catches it puts the bone, or the file, before it."""


class Note(Message):
    """What is no fault and worth knowing."""


class Done(Message):
    """What was done."""


class Part(Message):
    """A part of another message: whose it is, or why."""


class Counted(Part):
    """So many of something: its field is `count`. one: the words for one of it."""

    __slots__ = ("one",)

    def __init__(self, one: str, several: str) -> None:
        super().__init__(several)
        self.one = one

    def __call__(self, **given: object) -> str:
        several = super().__call__(**given)
        return self.one if given["count"] == 1 else several


_NAMED = 2
"""Names in a sentence of a panel, which has no room for all."""
_CONTROLS = (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Characters that a terminal obeys, or that end or reorder a line."""
_SPELLED_OUT = {code: chr(code).encode("unicode_escape").decode() for code in _CONTROLS}


def one_line(text: object) -> str:
    """Text as one line that a terminal shows and does not obey. Names of bones and files may hold any character."""
    return str(text).translate(_SPELLED_OUT)


def quoted(names: Iterable[str]) -> str:
    """Names in a row, as a sentence has them."""
    return ", ".join(f"'{name}'" for name in names)


def few(names: Sequence[str]) -> str:
    """The first two of several names, and how many more there are."""
    more = len(names) - _NAMED
    return f"{quoted(names[:_NAMED])} and {more} more" if more > 0 else quoted(names)


def as_part(refusal: str) -> str:
    """A refusal within another sentence."""
    return refusal.rstrip(".")


# Whose it is

OF = Part("{whose}: {said}")
BONE = Part("Bone '{bone}'")
ARMATURE = Part("Armature '{armature}'")
OBJECT = Part("Object '{object}'")
FRAME = Part("Frame {frame}")
LINK = Part("link {link}")
LIMITS_OF_BONE = Part("the limits of bone '{bone}'")
CONTROL_OBJECT = Part("'{control}'")
CONTROL_BONE = Part("bone '{bone}'")

# What is given to a solver

NO_POINT = Clause("{what} is not a point of three numbers: {values}. Give x, y and z.")
POINT_NOT_FINITE = Clause("{what} has a value that is not a finite number: {point}. Give numbers.")
POINT_TOO_LARGE = Clause("{what} has a value that is too large: {point}. Move it closer.")
NUMBER_NOT_FINITE = Clause("{what} is not a finite number: {value}. Give a number.")
NO_LENGTH = Clause("{what} has no length. Give a direction.")
TOO_FEW_POINTS = Clause("a chain needs two points or more, got {count}. Give its root and the end of each link.")
NO_SOLVER = Clause("there is no solver '{solver}'. There are AUTO, {solvers}.")
SOLVES_OTHERS = Clause("{solver} solves {links} bones, and this chain has {count}. Use AUTO or TRIANGULATION.")
NUMBER_OUT_OF_RANGE = Clause("{what} is {value:g}. Give a number from {least:g}{to}.")
NO_ROWS = Clause("rows are chains that need not keep their FK shape. Use solve for other chains.")

# Limits of a joint

ENTRIES_MISSING = Clause("{what} needs one entry for each link, {count} in all, got {given}. Give None for a free one.")
HINGE_AND_SWING = Clause("it is given a hinge and a swing. Give one of them.")
CONE_NEGATIVE = Clause("its cone is negative: {angle}. Give an angle of 0 or more, in radians.")
RANGE_BACKWARDS = Clause("its {what} runs from {lowest} down to {highest}. Give the lowest angle first.")
REST_IS_NONE = Clause("its rest rotation is no rotation: {rotation}. Give a quaternion that is not zero.")
CONE_LEAVES_NOTHING = Clause("its max bend and its hinge leave it no angle. Widen one of them.")
LEAST_BEND_OUT_OF_RANGE = Clause("its min bend is {angle}. Give an angle from 0 to pi.")
LEAST_BEND_LEAVES_NOTHING = Clause("its min bend leaves its hinge no angle. Lower it or widen the hinge.")
SWING_AXIS_ALONG = Clause("its swing axis is parallel to it. Give an axis across it.")
SWING_WITHOUT_REST = Clause("its swing limits leave out its rest direction. Let their ranges contain 0.")
CONE_WITHOUT_REST = Clause("its max bend leaves out the rest direction of its swing. Widen it.")

# The armature

NO_ARMATURE = Refusal("There is no armature to work on. Make an armature, or a control of a chain, the active object.")
IN_EDIT = Refusal("Armature '{armature}' is in Edit Mode. Leave that first (Tab).")
NO_CHARACTER = Refusal("No armature deforms the active object, or hangs below it alone. Make an armature active.")
NOT_AN_ARMATURE = Refusal("Object '{object}' is no armature. Give an armature object.")
NO_POSE_MODE = Refusal("No armature is in Pose Mode. Make an armature the active object and enter Pose Mode.")
ARMATURE_LINKED = Refusal("Armature '{armature}' is linked. Make a library override of it first.")
ARMATURE_NOT_HERE = Refusal("Armature '{armature}' is not in this scene. Link it to the scene.")
ARMATURE_WITHOUT_SIZE = Clause("the armature object '{armature}' has a scale of zero. Give it a size.")
ARMATURE_DATA_LINKED = Refusal("Armature data '{data}' is linked. Show its pose in the file that it comes from.")
BONES_LINKED = Refusal("Armature '{armature}' is linked and gets no new bones. Choose Empties as its controls.")
BONES_OVERRIDDEN = Refusal(
    "Armature '{armature}' has a library override and gets no new bones. Choose Empties as its controls."
)
NATIVE_LINKED = Refusal(
    "Armature '{armature}' gets no new bones, for it is linked or overridden. Make its chains native in its own file."
)
NATIVE_SHARED = Refusal(
    "Armature '{armature}' shares its bones with '{other}'. Make its data single-user (Object > Relations) first."
)
NATIVE_SETTING_ANIMATED = Clause("setting '{setting}' is animated. Mute its keys or driver, or bake the chain.")
NATIVE_NAME_TAKEN = Clause("it already has a custom property '{name}'. Rename or remove that first.")
NATIVE_ACTION_LINKED = Clause(
    "action '{action}' has keys of its settings and is linked. Make it local, or make the chain native in its own file."
)
NATIVE_BODY = Clause("bone '{body}' follows its limbs. Bake it, or set its Body Follows to 0.")
NATIVE_SOLVER = Clause("its Solver is {solver}, which has no native form. Set it to Automatic, or bake the chain.")
NATIVE_SETTING = Clause("its {setting} has no native form. Switch it off, or bake the chain.")
NATIVE_CONE = Clause("the Max Bend of bone '{limited}' has no native form. Switch it off, or bake the chain.")
NATIVE_LIMITS = Clause(
    "the IK limits of bone '{limited}' have no native form: only a knee of two bones may be a hinge. "
    "Remove them, or bake the chain."
)
NATIVE_UNEVEN = Clause("bone '{uneven}' is scaled unevenly or mirrored. Scale it evenly, or bake the chain.")
NATIVE_ROTATION_NOT_INHERITED = Clause(
    "bone '{free}' does not inherit rotation. Switch on its Inherit Rotation, or bake the chain."
)
NATIVE_DRIVEN = Clause("a driver moves bone '{driven}'. Mute the driver, or bake the chain.")
NATIVE_FK_KEYS = Clause("bone '{keyed}' has FK keys below the chain. Mute them, or bake the chain.")
NATIVE_CONSTRAINED = Clause("constraint '{constraint}' moves bone '{moved}'. Mute it, or bake the chain.")
NATIVE_OFF = Clause(
    "as constraints it would be off by {percent:.2g}% of its length, and {allowed:.2g}% is allowed. Bake the chain."
)
NATIVE_COPIED = Clause("bone '{other}' follows its helper bones too. Press Make Live, then Make Native again.")
NATIVE_CHANGED = Clause(
    "its bones or constraints were changed since Make Native, and it is not where it should be. "
    "Press Make Live, then Make Native again."
)
NATIVE_UNSOUND = Part("{said} Press Make Live first.")
NATIVE_RECORD_UNREADABLE = OfBone(
    "what it keeps of its live chain was changed by hand. Undo that, or remove the chain."
)
REST_POSITION = Refusal("Armature '{armature}' is in Rest Position. Switch it to Pose Position.")
PARENT_UNEVEN = Refusal("Bone '{bone}' is scaled unevenly. Scale it evenly.")
NO_SUCH_BONE = Refusal("Armature '{armature}' has no bone '{bone}'. Choose one of its bones.")
NO_ACTIVE_BONE = Refusal("Armature '{armature}' has no active bone. Select the last bone of the limb.")
IS_CONTROL = Refusal("Bone '{bone}' is a control of a chain. Select the last bone of a limb, such as a shin.")
NO_PARENT = Refusal("Bone '{bone}' has no parent to make a chain with. Select the last bone of a limb, such as a shin.")
NO_TIP = OfArmature("no selected bone belongs to a chain. Select a bone or a control of one.")
NO_LIVE_CHAIN = Refusal("Armature '{armature}' has no live chain. Add or unmute one first.")
NO_ACTION_TO_PLANT = OfArmature("it has no action. Choose one with motion: its legs are rigged along with planting.")
NATIVE_FIRST = OfBone("its chain is native. Press Make Live first.")
ALL_NATIVE = OfArmature("its chains are native. Press Make Live first.")
NO_NATIVE_CHAIN = Refusal("Armature '{armature}' has no native chain. Press Make Native first, or select its tip bone.")
NO_LIVE_CHAIN_SELECTED = OfArmature("no selected bone is the tip bone of a live chain. Select one, or bake all.")
ARMATURE_NOT_EDITABLE = Refusal(
    "Armature '{armature}' has a library override that is not editable. Make it editable in the Outliner, in the "
    "Library Overrides view."
)
NOT_A_TIP = OfArmature("bone '{bone}' is not the tip bone of a chain. Choose one from the list.")
NO_CHAIN_ACTIVE = OfArmature("no live chain is active. Select a bone or a control of one.")
NO_VIEW = Refusal("The window has no 3D view. Open one.")

# Targets and poles

NO_TARGET = Clause("there is no target. Choose an object as its Target.")
CONTROL_DELETED = Clause("its {role} '{control}' was deleted. Choose another one or clear it.")
ROLE_WITHOUT_BONE = Clause("its {role} '{control}' has no bone '{bone}'. Choose one of that armature's bones.")
WITHOUT_END_BONE = Clause(
    "its end bone '{end}' does not exist. Choose another one, or clear End Bone to end the chain at the tail of its "
    "tip bone."
)
CONTROL_ON_CHAIN = Clause(
    "its {role} {control} moves with the chain's own bone '{bone}'. Choose one that is not parented to the chain."
)
CONTROL_NO_NUMBER = Clause(
    "the location of its {role} '{control}' is not a number. Clear the transform, keys and drivers of that object."
)
CONTROL_GONE = OfBone("its {role} is no longer in the file. Choose another one.")
TARGET_LINKED = OfBone("its target '{control}' is linked. Make a library override of it first.")
CONTROL_LINKED = Clause("its control {control} is linked. Make a library override of it first.")
CONTROL_CONSTRAINED = Clause(
    "constraint '{constraint}' moves its control {control}. Mute it, or choose another control."
)
POLE_CANNOT_FOLLOW = Clause(
    "its pole target cannot follow. Make target and pole target bones of the armature, and none the parent of another."
)
POLE_KEYED = Clause("its pole target '{pole}' has keys, which place it. Delete them first.")
CONTROL_LOCKED = Clause("its control {control} is locked. Press Release first, or go to a frame without the lock.")
CONTROL_TORN = Clause(
    "its control '{control}' goes along with bones that are turned half around from each other. Turn them less."
)
CONTROL_CONNECTED = Clause(
    "its control {control} is connected to its parent and cannot move. Disconnect it in Edit Mode."
)
CONTROL_DRIVEN = Clause("a driver sets the {channel} of its control {control}. Remove that driver.")
CONTROL_SHARED = Clause("the chain of '{tip}' follows its control {control} too. Give the chain a control of its own.")
TOO_MANY_CONTROLS = Clause(
    "{count} other objects are selected. Select its target, its target and pole target, or none."
)

# A chain's bones

TOO_FEW_BONES = Clause("its chain needs {wanted} bones and has {count} up to the root. Set Chain Length to {count}.")
BONE_SHARED = Clause(
    "its bone '{bone}' already belongs to the chain of '{tip}'. Lower Chain Length until they share no bone."
)
BONE_TAKEN = Clause("bone '{bone}' already belongs to the chain of '{tip}'. Use a shorter chain, or remove that chain.")
TIP_TAKEN = OfBone("it belongs to another chain. Remove one of the two chains.")
WOULD_MOVE = Clause(
    "bone '{moved}' would move by {distance:.3g}. Look for constraints, drivers or uneven scale on its limb, or "
    "select an object as the target to let it move."
)
TIP_ALREADY = Clause("it already is the tip bone of a chain. Change that chain, or remove it first.")
BONE_NO_NUMBER = Clause(
    "the pose of bone '{bone}' holds values that are not numbers. Clear its transform and its parents'."
)
BONE_WITHOUT_LENGTH = Clause(
    "bone '{bone}' of its chain has no length. Lengthen it in Edit Mode, or clear its pose scale."
)
BODY_CONNECTED = Clause(
    "it is connected to its parent and cannot follow its limbs. Disconnect it in Edit Mode, or let bone '{parent}' "
    "follow."
)
BODY_ON_CHAIN = Clause(
    "it cannot follow its limbs, for it belongs to the chain of '{tip}'. Let a bone above that chain follow."
)
BODY_CONSTRAINED = Clause(
    "constraint '{constraint}' moves it, so it cannot follow its limbs. Mute it, or let another bone follow."
)
BODY_DRIVEN = Clause("a driver sets its {channel}, so it cannot follow its limbs. Remove that driver.")
BODY_WITHOUT_LIMBS = Clause(
    "it follows no limb, for the targets of all chains below it move with it. Choose targets that are not parented "
    "to it."
)
BODY_IN_CIRCLE = Clause(
    "it cannot follow its limbs, for chains that it carries move their targets. Give them targets that do not."
)
CHAINS_IN_CIRCLE = Clause(
    "the chains {tips} move each other's controls. Give one of them a target that none of the others moves."
)
LINK_OF_CIRCLE = Part("{tip} of '{armature}'")
NO_KNEE = Clause("its chain has one bone and so no knee. Set Chain Length to 2 or more.")
KNEE_STRAIGHT = OfBone("its limb is straight, so its knee cannot swing around. Bend it first.")
BENDS_BACKWARDS = OfBone("the min bend is not smaller than the max bend. Lower it.")

# What keeps feet from being planted

NO_BODY = OfArmature(
    "no bone carries all these legs. The body of the others does not carry {tips}. Remove these chains, or plant with "
    "Selected Chains Only."
)
CONTROL_ON_BODY = OfBone(
    "it carries the legs and their control {control} too. Parent that control to something that the body does not move."
)
PATH_GONE = Refusal("Path '{object}': the scene has no such object. Choose one of its curves.")
PATH_NO_CURVE = Refusal("Path '{object}': it is no curve. Choose a curve.")
PATH_TOO_SHORT = Refusal("Path '{object}': it is {length:.3g} long, and a leg {leg:.3g}. Draw it on, or scale it up.")
PATH_ON_BODY = Refusal("Path '{object}': it moves with armature '{armature}'. Clear its parent.")
NO_GROUND = Refusal("The ground has no object. Choose a mesh object.")
GROUND_NO_MESH = Refusal("Ground '{object}': it is no mesh. Choose a mesh object.")
GROUND_WITHOUT_FACES = Refusal("Ground '{object}': its mesh has no faces. Choose another object.")
NO_CONTACT = OfArmature("no foot stands still in these frames. Choose other frames, or leave them as they are.")
NO_FOOT_DOWN = OfArmature("no foot reaches the ground in these frames. Choose other frames, or leave them as they are.")
BODY_LIES = OfArmature("the body lies or sits in these frames. Choose other frames, or leave them as they are.")
RESTS_TURNED = OfArmature(
    "its legs do not point down at rest. Rotate it upright and apply that, or import it with another axis up."
)
FEET_STAND_ALREADY = OfArmature(
    "its feet stand already and slide by less than 0.001 of a leg. These frames stay as they are."
)
FEET_NEVER_MOVE = OfArmature("no leg moves in these frames. Choose an action with motion, or other frames.")
PLANTED_WORSE = OfArmature("planting makes these frames worse: {figures}. Leave them as they are, or plant anyway.")
WORSE_SLIDE = Part("feet slide by {after:.2f} of a leg, before by {before:.2f}")
WORSE_KNEES = Part("knees bend at {after:.1f} radians a second, before at {before:.1f}")
WORSE_LOOP = Part("the ends of the loop are {after:.2f} of a leg apart, before {before:.2f}")
WORSE_SUNKEN = Part("feet sink in by {after:.2f} of a leg, before by {before:.2f}")
WORSE_BODY = Part("the body moves by {after:.2f} of a leg")
NOT_PLANTED = OfArmature("its action was not made by Plant Feet. Press Plant Feet first.")
NO_KEYS_ON_CONTROLS = OfArmature(
    "its controls have no keys in these frames. Plant the feet first, or snap IK to FK over the range."
)
KEYS_STAY = OfArmature(
    "fewer keys would put tips off by {tips:.1%} of a leg and knees by {knees:.1%}. All keys stay. Raise Tolerance."
)
NOTHING_MOVED = OfArmature(
    "no keyed control is moved at this frame. Turn off Auto Keying, move a control, and do not key it."
)
CORRECTION_OUTSIDE = Refusal("Frame {frame:g} is not in frames {first}-{last} of the clip. Go to one of these.")
CORRECTION_KEYED = Refusal(
    "The keys of '{control}' were changed by hand since it was corrected. Undo that, or go on with them as they are."
)
NO_SUCH_CORRECTION = Refusal("Armature '{armature}' no longer has this correction. Choose another one.")
NOT_SIMPLIFIED = OfArmature("its action has all of its keys. Press Simplify Keys to have fewer.")
NO_LEG_TO_CHECK = OfArmature("it has no leg that can be found. Add chains to its legs.")
HELD_GONE = Clause("the object that it is locked to is gone. Choose another object.")
HELD_BONE_GONE = Clause("object '{object}' has no bone '{bone}' to lock it to. Choose another bone.")
HELD_BY_LIMB = Clause("its limb moves {held}, so it cannot be locked to it. Choose an object that it does not move.")
HELD_ON_BODY = Clause(
    "bone '{body}' follows its limbs and moves {held} with it, so it cannot be locked to it. Set Body Follows of that "
    "bone to 0."
)
NOTHING_HELD = OfArmature(
    "there is no object to lock to. Select it together with the hand, or choose it in the dialog."
)
NO_HOLD = OfArmature("no selected limb is in contact with {held} in these frames. Set Contacts to Whole Range.")
NOT_LOCKED = OfArmature("no selected limb is locked. Select a hand or foot that is.")
NO_SOURCE = OfArmature(
    "it has no source. Select the armature that the motion comes from too, or choose it in the dialog."
)
SOURCE_GONE = Refusal("Source '{source}': the scene has no such armature. Choose another one.")
SOURCE_ITSELF = Refusal(
    "Source '{source}': it is the character itself. Choose the armature that the motion comes from."
)
SOURCE_NO_LIMB = Refusal(
    "Source '{source}': neither the names nor the shape of its bones show a leg or an arm. Rename them, such as "
    "thigh.L, shin.L and foot.L."
)
SOURCE_NO_SIZE = Refusal(
    "Source '{source}': its limbs have no length in these frames. Reset the scale of the armature, and delete keys "
    "that are not numbers."
)
SOURCE_NO_CLIP = Refusal(
    "Source '{source}': it has no clip '{clip}'. Give the action that the clip was retargeted from this name."
)
MATCH_NO_PAIR = OfArmature(
    "source '{source}' has none of the limbs that its chains move. Add chains to the legs or arms that both have."
)
MATCH_PLANTED = OfArmature(
    "its action was planted. Assign the action that it was made from, and plant again after matching."
)
TOO_FEW_FRAMES = Refusal("The range has fewer than 3 frames. Set a longer one.")
FRAMES_WITHOUT_KEYS = Refusal("Frames {first}-{last} have no keys, which are at {start}-{end}. Set other frames.")
PATH_BEYOND_KEYS = Refusal(
    "Frames {first}-{last} go on beyond the keys at {start}-{end}. Set End to {end}, or make the keys cyclic in the "
    "Graph Editor."
)

# What wins over a chain, and over keys

ROTATION_DRIVEN = OfBone("a driver overrides its rotation. Remove that driver.")
SCALE_DRIVEN = OfBone("a driver overrides its scale, so it cannot stretch. Remove that driver.")
SETTING_DRIVEN = OfBone("a driver sets its {setting}. Remove that driver.")
SWITCH_DRIVEN = OfBone("a driver enables its chain and would enable it again. Remove that driver.")
SWITCH_IN_STRIP = OfBone(
    "the NLA strip '{strip}' enables its chain and would enable it again. Remove its keys on the chain's switch."
)
BONE_CONSTRAINED = OfConstraint("moves it after the chain. Mute it.")
TIE_ON = OfBone("Blender's IK solves the chain again, because its helper constraint '{constraint}' is on. Mute it.")
FOLLOWS_BONE = Clause(
    "bone '{bone}' follows '{mover}' by its constraint '{constraint}'. Rig the bones that move it, or convert their IK."
)
MOVED_BY_RIGIFY = Clause(
    "bone '{bone}' follows '{mover}' in a Rigify rig. Use Convert Blender IK on this armature instead."
)
PLACED_BY_CONSTRAINT = Clause(
    "constraint '{constraint}' moves bone '{bone}'. Mute that constraint, or rig the bones that move it."
)
TURNED_BY_DRIVER = Clause("a driver sets the rotation of bone '{bone}'. Remove that driver, or rig the bones it reads.")
FOLLOWS_OWN_BONE = OfBone(
    "'{control}' follows the chain's own bone '{own}' by a constraint or driver, and the chain follows it: a cycle. "
    "Remove that constraint or driver."
)
SCALE_UNEVEN = OfBone(
    "its uneven scale shears the bones below it, and the chain may miss its target. Scale it evenly, or set Inherit "
    "Scale of the bone below to None."
)
SETTING_NO_NUMBER = Clause("its {setting} is not a number. Enter a new value, or check its keys and drivers.")
SETTING_ANIMATED = Clause("its {setting} is animated. Remove that animation first.")
CONSTRAINED_FROM_BELOW = OfConstraint("moves '{moved}' after the chain. Mute it.")
NO_CONSTRAINT = Refusal(
    "Bone '{bone}' has no constraint '{constraint}', it was removed or renamed. Look at its other constraints."
)
NO_CURE = Refusal("There is no fix '{fix}'. Use one of {fixes}.")

# How a chain stands

SWITCHED_OFF = Note("Bone '{bone}': its chain is off")
TOO_FAR_STRETCHED = OfBone("its target is out of reach. Move it closer, or raise Max Stretch.")
TOO_FAR = OfBone("its target is out of reach. Move it closer, or set Out of Reach to Stretch.")
TOO_NEAR = OfBone("its target is closer to the root than the chain can fold. Move it away.")
LIMITED = OfBone("its joint limits keep it from its target. Widen them, or move the target.")
SOFT = OfBone("Softness keeps it short of its target. Lower it to reach the target.")
BLENDED = OfBone("Influence is below 1, so it stops short of its target. Raise Influence to 1.")
ELSEWHERE = OfBone("something moves it after it was solved. Look for constraints, drivers or uneven scale.")
BODY_LIMBS = Note("Bone '{bone}' carries {limbs}")
AT_TARGET = Part("its tip is on its target")

STATUS_MET = Note("On target")
STATUS_OFF = Note("Off")
STATUS_FK = Note("FK: Influence is 0")
STATUS_BROKEN = Note("Not solved")
STATUS_WORKING = Note("Working")
STATUS_TOO_FAR = Note("{distance} short: out of reach")
STATUS_TOO_NEAR = Note("{distance} off: target too close")
STATUS_LIMITED = Note("{distance} off: joint limits")
STATUS_SOFT = Note("{distance} short: softness")
STATUS_BLENDED = Note("{distance} off: influence")
STATUS_BODY_STILL = Note("All limbs reach")
STATUS_BODY_MOVED = Note("Moved by {distance}")
STATUS_BODY_TURNED = Note("Moved by {distance}, turned by {angle:.1f}°")
STATUS_BODY_SHORT = Note("{distance} too far: limbs apart")
STATUS_BODY_TURNED_SHORT = Note("{distance} too far, even turned")
STATUS_ELSEWHERE = Note("{distance} off: moved after the solve")
STATUS_BACKWARDS = Note("Bends against its rest pose")
FROM_CONSTRAINT = Note("Converted from IK constraint '{constraint}'")
MORE_PROBLEMS = Counted("1 more chain has a problem", "{count} more chains have problems")
TARGET_HIDDEN = Note("Bone '{bone}': its target '{control}' is hidden, and the chain still follows it")
BONE_KEYED = Note("Bone '{bone}' has keys, and the controls do not follow them. Snap the controls, or mute the keys")
BONES_KEYED = Note("Bones {bones} have keys, and the controls do not follow them. Snap the controls, or mute the keys")
MOTION_PATHS = Note(
    "Blender calculates the motion paths of {bones} without the chain. Bake it to see the path of the animation"
)
CHANNELS_READ = Note(
    "A driver of '{owner}' reads the channels of '{bone}', which change with the chain. "
    "Read a custom property, or the bone's transform in Local Space"
)
MOVE_FOOT = Note("Move bone '{bone}': it moves this target along")
SWITCH_KEYED = Note("Bone '{bone}': keys turn its chain on and off. Mute them to set it by hand")

# How a chain is solved

READ_ANEW = Note("Every Frame ({why})")
SOLVED_AFTER = Note("After the Frame ({why})")
SOLVED_BEFORE = Note("Ahead of the Frame")
EVALUATION = Note("Evaluation: {way}")
MOVES_WITH_OTHERS = Part("it moves with another chain, or moves one")
MOVES_ITSELF = Part("it moves what it follows")
MOVES_WITH_BODY = Part("it moves with bone '{bone}', which follows its limbs")
SWITCH_ANIMATED = Part("its switch is animated")
SET_UP_UNUSUALLY = Part("its bones are set up in an unusual way")
LIMITS_SEARCHED = Part("its joint limits allow several poses that are as good")
READS_ANIMATED = Part("bone '{bone}' has animation or a driver on its {channel}")
INHERITS_LESS = Part("bone '{bone}' does not inherit all of its parent's motion")
BONES_UNEVEN = Part("its bones, or those above, are scaled unevenly")
TIME_REMAPPED = Part("the scene's time is remapped")
ARMATURE_GONE = Part("its armature is gone")
NOT_WHERE_SAMPLED = Part("its controls are not where their F-Curves say")
IN_TWEAK_MODE = Part("'{object}' is in NLA tweak mode")
PLAYS_STRIPS = Part("'{object}' plays NLA strips")
ACTION_BLENDED = Part("the action of '{object}' is blended")
KEYS_SHARED = Part("another object plays the action of '{object}' too")
ACTION_LAYERED = Part("the action of '{object}' has several layers")
OBJECT_CONSTRAINED = Part("'{object}' has the constraint '{constraint}'")
RIGID_BODY = Part("'{object}' is a rigid body")
HANGS_BY_PART = Part("'{object}' is parented to '{parent}' by its {part}")
FOLLOWS_PATH = Part("'{object}' follows the path '{parent}'")
CONTROL_WITHOUT_BONE = Part("'{object}' has no bone '{bone}'")
SHOWN_AT_REST = Part("'{object}' is in Rest Position")
IN_EDIT_MODE = Part("'{object}' is in Edit Mode")
ARMATURE_ANIMATED = Part("animation sets the {channel} of armature '{data}'")
BONE_BY_NUMBER = Part("animation of '{object}' names a bone by its number")
CONTROL_BONE_CONSTRAINED = Part("bone '{bone}' has the constraint '{constraint}'")
MOVED_BY_CONSTRAINT = Part("bone '{bone}' is moved by the constraint '{constraint}' of '{owner}'")
ANIMATION_SETS = Part("animation sets the {channel} of {owner}")
DRIVER_SETS = Part("a driver sets the {channel} of {owner}")

# Frames and keys

NO_FRAMES = Refusal("The frame range is empty, its last frame is before its first. Swap them.")
CLIPS_HAVE_FRAMES = Refusal("Clips are gone through over their own frames. Give no frames, or clips='CURRENT'.")
LAST_BEFORE_FIRST = Refusal("The last frame ({last}) is before the first ({first}). Swap them.")
FRAME_UNSOLVED = Refusal(
    "Frame {frame}: bone '{bone}' of armature '{armature}' cannot be solved. Look at the keys of its target and pole "
    "target there: {refusal}"
)
KEYS_DRIVEN = Clause("a driver sets its {channel} and would override the keys. Remove that driver.")
BODY_HALF_BAKED = Refusal("Bone '{bone}' follows the chains of {tips}. Bake all of them, or set its Body Follows to 0.")
NLA_TWEAKED = Refusal("{kind} '{object}' is in NLA tweak mode. Leave it first (Tab in the NLA editor).")
NLA_SOLO = Refusal("{kind} '{object}' plays one NLA track alone and not its action. Turn that Solo off first.")
NLA_BLENDED = Refusal(
    "{kind} '{object}': its action does not replace the NLA strips below it. Set its blending to Replace and its "
    "influence to 1."
)
# Root motion

NO_HIPS = OfArmature("no bone carries legs that can be found. Choose its body in the dialog.")
ROOT_NOT_ABOVE = OfBone("body '{body}' does not move with it. Choose a root above the body.")
NO_ROOT_CHOSEN = OfArmature("no root is chosen. Choose its bone in the dialog.")
TRAVEL_LINKED = Clause("it is linked, so it cannot be kept in place. Make a library override of it first.")
TRAVEL_CONNECTED = Clause("it is connected to its parent and cannot move. Disconnect it in Edit Mode.")
TRAVEL_CONSTRAINED = Clause("constraint '{constraint}' moves it, so keys cannot. Mute it, or bake it first.")
TRAVEL_SHEARED = Clause(
    "what carries it is scaled unevenly, so it would be sheared. Apply that scale, or turn off Heading."
)
IN_PLACE_ALREADY = Clause("its body '{bone}' does not travel in this clip. Choose a clip that travels.")
NO_BELT = Clause(
    "its feet do not slide back at one speed, so nothing tells how fast it travels. Choose a clip that walks in place."
)

ACTION_LINKED = Refusal("Action '{action}' is linked. Bake to a copy or to a new action.")
ACTION_SHARED = Refusal("Armatures '{first}' and '{second}' share the action '{action}'. Bake to copies.")
OWN_ACTION_LINKED = OfBone("its action '{action}' is linked. Make it local first.")

# A bake and a check

RENDERING = Refusal("A render is in progress. Wait until it is finished, or cancel it.")
AT_WORK = Refusal("Analytic IK is working. Wait until it is done, or press Esc to cancel it.")
CANCELLED = Done("{work} was cancelled, nothing was changed")
BAKED = Done("Baked {chains}, frames {first}-{last}{result}")
PLANTED = Done("Planted {steps} of {legs}, frames {first}-{last}. The body moves by up to {part:.1%} of a leg{result}")
SIMPLIFIED = Done(
    "{keys} keys instead of {before}, frames {first}-{last}. Ends of chains are within {tips:.2%} of a leg, knees "
    "within {knees:.1%}, and feet stand within {slide:.3%}"
)
CORRECTED = Done("Corrected {controls} at frame {frame:g}")
CORRECTED_SHORT = Done("{done}. Out of reach now: {tips}. Move the body closer, or controls less")
CORRECTED_ABRUPT = Done(
    "{done}. A contact or the end of a loop is so near that the correction of {controls} jumps back. Move it in the "
    "contact, or farther from the end"
)
ABRUPT = Note(
    "The correction of {controls} jumps back: a contact or the end of a loop is near frame {frame:g}. Move it in the "
    "contact, or farther from the end"
)
SHORT_AT = Part("'{tip}' at frame {frame}")
CORRECTION_REMOVED = Done("Removed the correction of {controls} at frame {frame:g}")
CORRECTION_SWITCHED = Done("The correction of {controls} at frame {frame:g} is {state}")
CORRECTION = Note("{control}{more}, frame {frame:g} ({first}-{last})")
AND_MORE = Part(" and {more} more")
PLAIN_KEYS = Note("Keys at frame {frames} are no corrections. {why}")
KEYS_EDITED = Refusal("They were edited. To correct, undo that, go to a frame, and move the control.")
SHORT_LIMB = Note("{tip}: out of reach, most at frame {frame}")
ALL_KEYS_BACK = Done("All {keys} keys are back")
FEW_KEYS = Note(
    "{keys} keys, {before} before. Tips within {tips:.2%}, knees within {knees:.1%}, feet stand within {slide:.3%}"
)
TO_ROOT = Done("{root} travels {distance} with '{body}', frames {first}-{last}")
TO_HIPS = Done("{root} stands still, '{body}' travels, frames {first}-{last}")
PUT_IN_PLACE = Done("{root} stays in place, frames {first}-{last}. It traveled at {speed} per second")
TRAVELING = Done("{root} travels {distance} at {speed} per second, frames {first}-{last}")
LOOPED = Done("Made a loop of frames {first}-{last}, whose ends were {distance} apart{turned}")
LOOP_TURNED = Part(". The body turned by {angle:.0f}° and turns back in it: choose a range that goes straight")
LOOP_FAR = OfArmature(
    "the ends of frames {first}-{last} are {distance} apart{also}. Choose a range that goes straight and nearly "
    "repeats."
)
NO_CYCLE = Part(", and nothing in them repeats after a few steps")
JOINED = Done("Joined '{clip}' at frame {frame}, frames {first}-{last}. Poses were {distance} apart there")
JOIN_OUT_OF_REACH = OfBone(
    "its foot would be {part:.2%} of a leg out of reach at frame {frame}, where '{second}' begins. Choose clips whose "
    "poses and speeds are more alike where they meet."
)
JOIN_STEP = OfBone(
    "at frame {frame} it would go {far:.1%} of a leg in a frame, to go on as '{second}', and may go {most:.1%}. "
    "Choose clips whose poses are more alike where they meet, or have a step there."
)
JOIN_TURN = OfBone(
    "at frame {frame} it would turn by {far:.1f}° in a frame, to go on as '{second}', and may by {most:.1f}°. Choose "
    "clips whose poses are more alike where they meet, or a longer one."
)
JOIN_END = OfArmature("the clip cannot end at frame {frame}. Choose End at from {start} to {last}, or 0.")
JOIN_IN_PLACE = OfArmature("clip '{clip}' walks in place. Use Travel on it first.")
CONTROL_ELSEWHERE = OfArmature("control '{control}' plays another clip. Use Snap IK to FK in this one first.")
NO_NEXT_CLIP = OfArmature("no clip is to go on. Choose a clip in Next Clip.")
NO_JOINT = OfArmature(
    "no foot stands both near the end of '{first}' and near the start of '{second}'. Choose clips that overlap by a "
    "step."
)
LEG_LENGTHS = Part("{part:.2f} leg lengths")
TRAVEL_CLIPS = Done("{work}: {clips}{result}")
LOCKED = Done("Locked {tips} to {held}, frames {first}-{last}. It may be animated now")
RELEASED = Done("Released {tips}. Controls with keys play these again, others stay where they are")
MATCHED = Done(
    "Matched {chains} to '{source}', frames {first}-{last}. The body moves by up to {part:.1%} of a limb{result}"
)
MATCHED_LIMB = Note("{tip}: off the source by {ways}")
MATCH_LEFT_OUT = Part(". The source does not have: {tips}")
LOCK_HELD = Note("{tip} with {held}")
LOCK_LOST = Note("{tip} with an object that is gone")
SLIDES = Note("{tip}: slide {before} ({part:.1%}) → {after}")
NO_CONTACT_FOUND = Note("{tip}: no contact found")
SLIDES_NOT_KEPT = Note("Press Check to see how far feet slide")
BEFORE_CORRECTIONS = Note("As planted, without corrections")
KNEE_MAY_POP = Note("{tip}: the knee may pop at frame {frame}")
BODY_MOVED = Note("Body '{bone}' moves by {shift} ({part:.1%})")
BODY_MOVED_FAR = Note("Body '{bone}' moves by {shift} ({part:.1%}): does it still look like the capture?")
ON_PATH = Note("Path '{object}': {end} of {length}")
WALKED_PATH = Note(
    "Path '{object}': from {start:.3g} to {end:.3g} of {length:.3g}, {left:.3g} left, stride {stride:.3g}"
)
LEFT_BY_PATH = Note("Bone '{bone}' above the body goes its own way. Use Root Motion with Heading to take it along.")
BEYOND_PATH = Note(
    "The clip goes straight on {beyond} beyond path '{object}'. Turn on Fit to Path in Plant Feet to end there."
)
IN_PLACE = Note("The clip stays in place. For feet that do not slide, move the character at {speed} per second.")
STEPS = Counted("1 step", "{count} steps")
UNREACHED = Note("Out of reach: {frames}, the first is {frame}")
CHECKED = Done("Checked {chains}, frames {first}-{last}{result}")
SEE_CERTIFICATE = Part(". {verdict}. See Certificate")
CHAINS = Counted("1 chain", "{count} chains")
CONTROLS_LEFT_BEHIND = Note(
    "Keys move the bones of {chains}, and the controls do not follow. Cancel, and snap the controls to the motion first"
)
KEYS_NOT_FOLLOWED = Note(
    "Keys move the bones of {chains}, and the controls do not follow. Use Snap IK to FK over the range"
)
MANY_OUT_OF_REACH = Note("Targets are out of reach on about {part:.0%} of the frames. Cancel, and move them closer")
RESULT_OFF = Note("{bone}: off at every frame")
RESULT = Note("{bone}: {frames}, max error {error:.3g} at frame {worst}, max rotation {step:.1f}° per frame")
FRAMES = Counted("1 frame", "{count} frames")
RESULT_MISSES = Part(", {what} at {frames}")
RESULT_HELD_BACK = Part(", up to {distance:.3g} short by softness")
FOOT_RESULT = Note("{bone}: {contacts}, slide {slides}, skating {skating}, knee pops {pops}")
STATUS_NATIVE = Note("Native")
BAKE_OR_NATIVE = Note("Bake makes keys. Make Native keeps the controls")
ALL_MUTED = Note("The chains are muted")
INTERFACE_UNLOCKED = Note("Rendering live chains? Lock the interface first")
INTERFACE_LOCKED_ALREADY = Refusal("The interface is already locked while rendering. Nothing needs to be done.")
INTERFACE_LOCKED = Done("The interface is locked while rendering")
ESC_CANCELS = Note("Esc cancels")

# The certificate

NO_REPORT = Refusal("Armature '{armature}' has no report. Check or bake its chains first.")
REPORT_UNREADABLE = Refusal("The report of armature '{armature}' cannot be read. Check or bake again.")
NONE_SWITCHED_ON = Note("No chain was on")
CHAIN_MEETS = Note("The chain meets its target")
BOTH_MEET = Note("Both chains meet their targets")
ALL_MEET = Note("All {count} chains meet their targets")
CHAIN_MISSES = Note("The chain is {why}")
ONE_MEETS = Note("1 of {count} chains meets its target, {why}")
SOME_MEET = Note("{met} of {count} chains meet their targets, {why}")
AS_CAPTURED = Part(" by at most {part:.1%}: captured feet may lie apart from shins")
FEET_STAND = Note("The feet stand still")
FEET_SLIDE = Note("Feet slide on the ground: {bones}")
FEET_FLOAT = Note("Feet float over the ground: {bones}")
FEET_SINK = Note("Feet sink into the ground: {bones}")
KNEES_POP = Note("Knees pop: {bones}")
FEET_WITHOUT_CONTACT = Note("Feet never touch the ground: {bones}")
FOOT_FIGURES = Note("{contacts}, skating {skating:.0%}, tiptoe {tiptoe:.0%}{ground}{pops}")
FOOT_ON_GROUND = Part(", float {floating}, sink {sunken}")
KNEE_POPS = Part(", knee pops {count}")
SOUND = Part("sound")
CLIPS_SOUND = Note("All {count} clips are sound")
ONE_CLIP_FAULTY = Note("1 of {count} clips needs a look")
CLIPS_FAULTY = Note("{faulty} of {count} clips need a look")
CONTACTS = Counted("1 contact", "{count} contacts")
NO_FLIP = Note("No bend flips sides{close}")
FLIPS = Note("The bend of {chains} flips sides{close}")
CLOSE_TO_POP = Part(". Close to a flip: {chains} ({why})")
WENT_TO_BONE = Done("Frame {frame}: '{bone}'")
CLIP_GONE = Refusal("Armature '{armature}' no longer has a clip '{clip}'. Check its clips again.")
BONE_GONE = Refusal("Armature '{armature}' no longer has a bone '{bone}'. Check its chains again.")
NOTHING_TO_MARK = Done("Nothing to mark: no chain misses its target or is close to a flip")
MARKED = Counted("1 marker added", "{count} markers added")
NOT_MARKED = Refusal("No problem of armature '{armature}' is marked. Use Mark Problems first.")
UNMARKED = Counted("1 marker removed", "{count} markers removed")
COPIED = Done("{count} lines copied")

# A chain put on and taken off

ADDED = Done("Added a {count}-bone chain {bones}{end}. Move '{target}' to pose it")
ADDED_STRAIGHT = Done(
    "Added a {count}-bone chain {bones}{end}. Move '{target}' to pose it. The limb is straight and bends around its "
    "hinge. Use Flip Bend to bend it the other way"
)
MOVED_BY_ROUNDING = Note(
    "Bone '{bone}' moved by {distance}: so far from the origin, Blender's numbers are this coarse. "
    "Rig it closer to the origin"
)
LED = Note(
    "Bone '{bone}' belongs to the limb {bones}, so the chain ends at '{tip}'. Turn on Use This Bone to change that"
)
REMOVED = Done("Removed the chain of {tips}{kept}")
KEPT_CONTROLS = Part(". Kept the controls {controls}")
SELECTED = Done("Selected '{bone}'")
SHOWN = Done("Showing the chain of '{bone}'")
LIMITED_KNEES = Done("Limited {knees}")
KNEE = Part("'{bone}' (around its {axis} axis)")
KNEE_ASKEW = OfBone(
    "its {axis} axis is {angle:.0f}° off the axis that the limb bends around. Recalculate its roll in Edit Mode and "
    "limit it again."
)
SELECT_LAST_BONE = Note("Select the last bone of a limb, such as a shin, to add a chain to it")
SELECT_LIMB = Note("Select a limb, or click its control")
ARMATURE_HERE = Note("This object belongs to armature '{armature}'. Select the armature to rig or to bake")
SELECT_ARMATURE = Note("Select an armature, or a control of a chain")
LEAVE_EDIT_MODE = Note("Leave Edit Mode to use chains")
INSTANCE_HERE = Note(
    "Collection '{collection}' is linked, and this Empty shows it. To pose it, make a library override"
)
NOT_EDITABLE_HERE = Note(
    "Library override, not editable: the chains follow their targets. To edit them, make it editable in the Outliner, "
    "in the Library Overrides view"
)
OVERRIDDEN_HERE = Note("Linked or overridden: its controls are Empties")
LINKED_HERE = Note("Linked: the chains follow their targets. To edit them, make a library override")
LINKED_BARE = Note("Linked. To rig it, make a library override")

# Problems cured

CURED = Done("Bone '{bone}': {done}")
NEW_TARGET = Part("follows the {target}")
NEW_TARGET_WITHOUT_POLE = Part("follows the {target}, and turned to it because its pole target could not be moved")
NEW_EMPTY = Part("new Empty '{empty}'")
NEW_BONE = Part("new control bone '{bone}'")
BROUGHT_BACK = Part("brought back '{control}'")
BENDS_WITHOUT_POLE = Part("bends as its FK pose does, without a pole")
HAS_BONES = Counted("has a chain of 1 bone", "has a chain of {count} bones")
ENDS_AT_TAIL = Part("ends its chain at its tail")
SOLVER_SUITS = Part("uses the automatic solver")
SHOWS_POSE = Part("is in Pose Position")
DRIVERS_REMOVED = Part("no driver sets its {channel} now")
CHAIN_REMOVED = Part("its chain was removed")
CONSTRAINT_OFF = Part("constraint '{constraint}' is muted")
HAS_OWN_SIZE = Part("has its own size again")
BODY_FOLLOWS = Part("body '{body}' follows its limbs")
BODY_TURNS = Part("body '{body}' turns where its limbs do not reach")
STRETCHES = Part("stretches if its target is out of reach")
BENDS_OTHER_WAY = Part("bends to the other side")
TARGET_SHOWN = Part("its target '{control}' is shown")
CONTROLS_FOLLOW = Part("its controls follow frames {first}-{last}")
KEYS_MUTED = Part("the keys of its chain's bones are muted")
SWITCHED_BY_HAND = Part("its chain is turned on and off by hand")

# FK and IK

SNAPPED_CONTROLS = Done("Snapped {chains}{frames}{poles}")
MADE_POLE = Part(", with a pole target, the {pole}")
SNAP_MISSED = Note("Bone '{bone}': its chain is {distance:.3g} off its FK pose")
SNAPPED_POSE = Done("Snapped the pose of {chains}{frames}")
AT_FRAME = Part(" at frame {frame:g}")
ON_ALL_FRAMES = Part(" in the whole shot. For this frame on, tick Insert Keys in Adjust Last Operation")
OVER_FRAMES = Part(", frames {first}-{last}")
IN_CLIPS = Part(" in {clips}")
NO_MOTION = Clause("no keys move it over a range of frames. Key its bones first.")
SWITCHED = Done("Switched {chains} to {kind}{frame}")
MADE_NATIVE = Done("Made {chains} native with {bones} helper bones, within {percent:.1g}% of the length")
MADE_LIVE = Done("Made {chains} live")
POLES_FOLLOW = Done("The pole targets of {chains} keep between foot and body")
POLES_STAY = Done("The pole targets of {chains} stay where they are")
UNMUTED = Done("Unmuted {chains}")

# Legs

RIGGED = Done("Rigged {limbs}")
CLIP_MISSED = Note("Clip '{clip}' is not followed exactly: '{bone}' is off by up to {distance:.3g}")
MOTION_MISSED = Note("The keys are not followed exactly: '{bone}' is off by up to {distance:.3g}")
RIGGED_ARMATURES = Done("Rigged {count} armatures: {limbs}")
CARRIES_LIMBS = Note("Bone '{bone}' carries {limbs} and is no limb itself. Should a chain end there?")
RIGGED_FOLLOWING = Done("Rigged {limbs}, the controls follow frames {first}-{last}")
BAKED_CLIPS = Done("Baked {clips} of {chains}{result}")
BAKED_FOR_EXPORT = Done("Baked {clips} for export, controls left out{result}")
ENGINE_OF_EXPORTS = Refusal("{output} is no file for an engine. Write .fbx, .glb or .gltf, or leave --engine out.")
ENGINE_TAKES_ONE_ROOT = Refusal(
    "{engine} takes one bone without a parent, and these have none: {bones}. Parent the others to the first."
)
ENGINE_CHANGES_NAMES = Refusal("{engine} does not keep all characters of these names: {names}. Rename them.")
ENGINE_GOAL_ALONE = Refusal("Bone '{bone}' stays as it is: the bone that it follows is missing. Name that after it.")
ENGINE_SCALED = Refusal(
    "Bones that change their size lose that in retargeting: {bones}. Remove their scale keys, or Stretch of a chain."
)
ENGINE_DROPS = Note("Exporters drop keys that no engine reads: {channels}")
ENGINE_BETWEEN_FRAMES = Refusal(
    "{engine} takes clips that begin and end on a frame, and this one has keys from {first:g} to {last:g}. Move them."
)
CLIP_GROWN = Refusal(
    "The clip has keys from {first:g} to {last:g} and is baked to frames {start}-{end}. Snap its keys to frames first."
)
ENGINE_RATE = Refusal(
    "{engine} takes a whole number of frames a second, and the scene has {fps:g}. Choose 24, 30 or 60."
)
ENGINE_OPEN_LOOP = Refusal("The ends are {percent:.1f}% of a leg apart. If it is a loop, close it with Make Loop.")
ENGINE_ROOT_STAYS = Refusal(
    "The body travels by {distance:.3g} without the root bone '{bone}': engines see no root motion. Use Root Motion."
)
ENGINE_OBJECT_MOVES = Refusal(
    "Armature '{armature}' moves as an object: engines read root motion from a bone. Choose Bone in Root Motion."
)
BACK_TO_LIVE = Done("The chains are live again in {clips}")
IN_EXPORT_STATE = Note("Clips are baked for export. Live clips and controls are put aside")
BAKED_FOR_EXPORT_ALREADY = Refusal("Armature '{armature}' is baked for export already. Click Back to Live first.")
NOT_BAKED_FOR_EXPORT = Refusal("Armature '{armature}' is not baked for export. Click Bake All Clips for Export first.")
STRIPS_NOT_FOLLOWED = OfArmature(
    "exported NLA strips show limbs in wrong places: {strips}. Bake all clips for export first."
)
CHECKED_CLIPS = Done("Checked {clips} of {chains}{result}")
CLIPS_LEFT_OUT = Part(". Left out: {clips}. {why}")
MATCHED_CLIPS = Done("Matched {chains} to '{source}' in {clips}{result}")
GO_ALONG = Note("{clips} along the path")
LOOP_JUMPS = Part(". Where the clip repeats it jumps back by {way}. Use In Place, or plant it along a path")
PATH_MADE = Done("Drew the path '{object}' with {points} points, up to {away} from the clip's way{then}")
PATH_UPDATE = Part(". Move some, and click Update Feet")
PATH_CHOOSE = Part(". Move some, and choose it as Path in Plant Feet")
PLANTED_CLIPS = Done("Planted {steps} in {clips}{result}")
CLIP_UNREACHED = Part(". Clip '{clip}': {frames} out of reach")
CLIP_MISSES = Part(". Clip '{clip}': {verdict}. See Certificate")
RIGGED_CLIPS = Done("Rigged {limbs}, the controls follow {clips}")
CLIPS = Counted("1 clip", "{count} clips")
LEGS = Counted("1 leg", "{count} legs")
ARMS = Counted("1 arm", "{count} arms")
LEGS_AND_ARMS = Part("{legs} and {arms}")
RIGGED_LIMB = Part("'{first}' to '{last}'{end} ({target}, {pole})")
ENDING_AT = Part(", ending at '{end}'")
ON_FOOT = Part("{target} on bone '{foot}'")
NOT_BELOW = Refusal("Bone '{bone}' is not below '{first}'. Choose the first and the last bone of one limb.")
END_IN_CHAIN = OfBone("its end bone '{end}' is part of its chain. Choose a bone after it, or none.")
NONE_TICKED = OfArmature("no limb is ticked. Tick the limbs to rig.")
LEFT_OUT = Note("Left out {bones}")
LEFT_OUT_MORE = Note("Left out {bones}, and {count} more")
LEFT_OUT_BONE = Part("'{bone}': {why}")
NO_LEG = OfArmature("no leg to rig was found{why}. Add chains to its limbs by hand.")
NO_LIMB_IN_FILE = OfArmature("no limb to rig was found{why}. Name the bones of its limbs with --limbs.")
LIMBS_HAVE_CHAINS = OfArmature(
    "the limbs that were found have chains already. To rig them again, remove their chains first."
)
NO_LEG_OR_ARM = OfArmature("no leg or arm to rig was found{why}. Add chains to its limbs by hand.")
NO_LEG_SELECTED = OfArmature(
    "no leg to rig was found among its selected bones{why}. Clear the selection to search all bones."
)
NO_LEG_OR_ARM_SELECTED = OfArmature(
    "no leg or arm to rig was found among its selected bones{why}. Clear the selection to search all bones."
)
RIGIFY_MOVES_LIMBS = OfArmature("Rigify moves its limbs by constraints. Use Convert Blender IK instead.")
IS_NONE = Part(". No limb ends at '{bone}': {why}")
NOT_LIMBS = Clause(
    "it names no limbs. Write it with `rig --dry-run --limbs-out`: lists of first bone, tip bone and end bone or null "
    'under "legs" and "arms".'
)
NOT_POINTS = Clause(
    'it has no points. Write a list of two or more [x, y] or [x, y, z], or {{"points": …, "closed": true}}.'
)
NO_CURVE_IN_FILE = Clause("'{file}' has no object '{object}' to walk along. Check the name.")
HAS_CHAIN = Clause("bone '{bone}' already has a chain. Remove that chain first.")
HAS_IK = Clause("constraint '{constraint}' of bone '{bone}' already is an IK. Use Convert Blender IK instead.")
SAME_LIMB = Part("it belongs to the same limb as '{bone}'")
IS_HELPER = Part("'{word}' in its name says that it is a helper")
TWISTS_WITH = Part("it twists with '{bone}'")
TWISTS = Part("it twists with another bone")
LACKS_BELOW = Part("it has no {part} below it")
LACKS_ABOVE = Part("it has no {part} above it")
SHORT_ABOVE = Part("'{bone}' above it has no length")
MANY_PAIRS = Part("more than one pair is shaped like legs")
NO_BODY_ABOVE = Part("it is shaped like a leg, but there is too little above it for a body")
MANY_BONES = Part("it is shaped like a leg, but has {count} bones, and their names do not show its foot")
SHORT_LINK = Part("'{bone}' is too short for a link of it")
SHARED_HIP = Part("'{bone}' begins in the middle of the body, where both sides do")
UNLIKE_TWIN = Part("it is not like the limb of the other side that ends at '{bone}'")
TIP_IS_FOOT = Part("'{bone}' turns off like a foot, which leaves one bone for the leg")
ABOVE_GROUND = Part("'{bone}' is too far above the ground for the end of a leg")
NOT_BELOW_HIP = Part("'{bone}' does not lie below the hip")
NO_FOOT_STANDS_OUT = Part("it is shaped like a leg, but has no recognizable foot")

# Blender's own IK

NOTHING_TO_ADOPT = Refusal("Armature '{armature}' has no IK constraint. Add a chain instead.")
NONE_SELECTED_TO_ADOPT = OfArmature("no selected bone has an IK constraint. Select the bone that has it.")
NOTHING_ADOPTED = Refusal(
    "Armature '{armature}' has no chain that was converted from an IK constraint. Remove its chains instead."
)
NONE_SELECTED_ADOPTED = OfArmature("no selected bone has a converted chain. Select its tip bone.")
ADOPTED = Done("Converted {constraints}")
ADOPTED_ONE = Part("'{constraint}' of '{bone}'")
RESTORED = Done("Reverted {constraints}")
JOINTS_MOVED = Note("Bone '{bone}': its chain is up to {distance:.3g} and {angle:.1f}° off (frame {frame}): {why}")
STRETCHED_IN_REACH = Note(
    "Blender also stretched {bones} within reach, and a chain does not. In some poses joints will be elsewhere. To "
    "avoid that, revert to Blender IK and set IK Stretch to 0"
)
LEFT_AT_REST = Note("Left {constraints} as Blender's IK: animation mutes it now and enables it later")
AFTER_THE_CHAIN = Part("constraint '{constraint}' now moves its bones after the chain")
POLE_IGNORES_LIMITS = Part("with a pole Blender ignores the limits of the first bone")
BLENDS_OTHERWISE = Part("below full influence Blender blends its constraint in another way")
STRETCHES_WITHIN = Part("Blender also stretches within reach, with the bones at its end")
BLENDER_LEFT = Part("Blender's solution was not quite on the target")
IK_ITASC = OfConstraint("is solved by iTaSC. Set the armature's IK Solver to Standard.")
IK_WITHOUT_TARGET = OfConstraint("has no target. Choose one, or mute it.")
IK_DISTANCE = OfConstraint("keeps a distance. Set its IK Type to Copy Pose.")
IK_WITHOUT_TAIL = OfConstraint("leaves its own bone out of its chain. Turn Use Tail on, or move it to the parent bone.")
IK_WITHOUT_POSITION = OfConstraint("does not follow its target's location. Turn Position on.")
IK_WEIGHT = OfConstraint("has a weight other than 1. Set those of Position and Rotation to 1.")
IK_AXES = OfConstraint("leaves axes of its target free. Lock all of them, and set Axis Reference to Bone.")
IK_SPACE = OfConstraint("reads its target in another space. Set Target Space to World Space.")
IK_TURNS_ONE_BONE = OfConstraint(
    "turns one bone to its target's rotation and has no other to reach it with. Turn Rotation off and add a Copy "
    "Rotation."
)
IK_NOT_ON_END = OfConstraint(
    "follows its target's rotation, and its bone is not at the end of '{parent}'. Turn Rotation off and add a Copy "
    "Rotation."
)
IK_TREE = OfConstraint(
    "shares bone '{shared}' with constraint '{other}' of bone '{owner}' (tree IK). Shorten one of their chains, or "
    "mute one."
)
IK_SHARES_BONE = OfConstraint("shares bone '{shared}' with the chain of '{tip}'. Remove that chain, or mute it.")
IK_MUTE_ANIMATED = OfConstraint("has animation on its influence and on its mute. Remove one of the two.")
IK_TIP_ADOPTED = OfConstraint(
    "would need a second chain beside the converted one. Revert that first, or leave this constraint as it is."
)
IK_CHAIN_ANIMATED = OfConstraint(
    "cannot hand over to a chain that is already animated. Delete the animation of that chain."
)
IK_ACTION_LINKED = OfConstraint("is animated by action '{action}', which is linked. Make it local.")
IK_DRIVEN = OfConstraint("is above a driver that sets the rotation of bone '{driven}'. Remove that driver.")
IK_NO_CHAIN = OfConstraint("cannot become a chain: {refusal}")
NOT_ADOPTED = OfBone("its chain was not converted from an IK constraint. Select a bone with a converted chain.")
IK_RECORD_UNREADABLE = OfBone("the record of its IK constraint cannot be read. Remove the chain instead.")
IK_GONE = OfBone("its IK constraint '{constraint}' is no longer there. Remove the chain instead.")

# The command line

NO_FILE_GIVEN = Clause("no FILE is given. Name at least one FILE.")
OUTPUT_TAKES_ONE = Clause("--output takes one FILE. Use --output-dir for several.")
NO_OUTPUT_GIVEN = Clause("nothing says where to save. Give --output or --output-dir, or --dry-run to save nothing.")
DRY_RUN_SAVES_NOTHING = Clause("--dry-run saves nothing. Leave out --output and --output-dir.")
LIMBS_OF_ONE_FILE = Clause("--limbs-out takes one FILE. Name one character of those that have the same skeleton.")
LIMBS_OF_MANY = Clause("more than one of its armatures has limbs. Choose one with --armature.")
GIVEN_TWICE = Clause("'{file}' is given twice. Name it once.")
SAME_OUTPUT = Clause(
    "'{first}' and '{second}' would both be saved to '{output}'. Rename one, or save them to different folders."
)
OUTPUT_IS_READ = Clause("'{output}' is {what}, and would be replaced. Save to another file or folder.")
OUTPUT_NEEDS_IN_PLACE = Clause(
    "'{output}' is {what}, and would be replaced. Save to another file or folder, or use --in-place."
)
AN_INPUT = Part("a file that is read")
THE_LIST = Part("the list of files")
AN_OUTPUT = Part("an output")
NOT_A_FOLDER = Clause("'{folder}' is a file. Name a folder.")
IS_A_LINK = Clause("'{path}' is a link. Name the file that it leads to, or delete the link.")
OTHER_FILE_THERE = Clause("'{path}' is there already and is not a {kind}. Choose another name, or delete it.")
TEXT_IS_TAKEN = Clause("{option} '{path}' is also {what}. Choose another name.")
TEXT_HAS_SUFFIX = Clause("{option} '{path}' ends as files do that are opened. Choose another suffix.")
NO_RANGE = Clause("'{text}' is not a range of frames. Write the first and last as 1-250.")
NO_STEP = Clause("'{text}' is not a step. Write a whole number from 1.")
NO_FIGURE = Clause("'{text}' is not a limit. Write one of {figures} and a number, as slide=0.01.")
NO_FORMAT = Clause("'{output}' is in none of the formats {formats}. Name a file of one of them.")
NO_GROUND_NAMED = Clause("its scene has no object '{object}' as the ground. Check the name.")
NOT_BETWEEN = Clause("'{text}' is not possible. Write a number from {least:g}{to}.")
UP_TO = Part(" to {most:g}")
ALREADY_NATIVE = Part("its chains are native already")
NOTHING_NATIVE = Clause("none of its chains can be native. {refusal}")
RIG_IS_BLEND = Clause("'{output}' cannot hold chains and controls. Name a .blend file.")
KEPT_IN_BLEND = Clause(
    "'{output}' holds no chains and no second action: --action and --after are for .blend files. Leave them out."
)
HOLDS_ONE_CLIP = Clause("'{output}' holds one clip. Use --clips current, or another format.")
FRAMES_OF_CURRENT = Clause("--frames and --step are of the current clip. Leave them out, or use --clips current.")
GROUND_WITHOUT_NAME = Clause("--ground object needs the name of a mesh object. Add --ground-object NAME.")
NO_LINES = Clause("'{text}' is not a range of lines. Write the first and last as 1-100.")
LINES_OF_LIST = Clause("--lines are those of a list. Add --files-from.")
BOTH_GIVEN = Clause("both {first} and {second} are given. Leave one of them out.")
LIST_ENDS = Clause("'{path}' ends at line {count}, before --lines {first}-{last}. Name lines that it has.")
NO_JOBS = Clause("'{text}' is not a number of processes. Write a whole number from 1, or auto.")
NO_TRIES = Clause("'{text}' is not a number of attempts. Write a whole number from 1.")
NO_SECONDS = Clause("'{text}' is not a time. Write a number of seconds, at most a million.")
RESUME_WITHOUT_REPORT = Clause("--resume reads from the report which files are done. Add --report.")
FOR_WORKERS = Clause("{option} is for worker processes. Add --jobs or --cluster.")
NO_WORKERS_HERE = Clause("{option} needs the Python package. Leave it out, or install analytic-ik with pip.")
NOT_ON_CLUSTER = Clause("{option} does not go with --cluster, which may repeat a file. Use --output-dir.")
UNREADABLE = Clause("it cannot be read ({reason}). Check its path.")
NOT_A_REPORT = Clause("it is not a report. Name a file that --report wrote.")
OTHER_SCHEMA = Clause("it is a report of schema {schema}, and {known} is known. Update Analytic IK.")
NOT_A_LIST = Clause("it is not a list, or longer than {most} MB. Name a text file with a path on each line.")
LIST_NOT_UTF8 = Clause("line {line} is not in UTF-8. Save the list as UTF-8.")
NOTHING_TO_MERGE = Clause("no file is in these reports. Name reports of files.")
NO_SUCH_FILE = Clause("there is no such file. Check its path.")
IS_A_FOLDER = Clause("it is a folder. Name the files in it: {files}.")
IS_NOT_A_FILE = Clause("it is a device or a pipe. Name a file.")
NO_KNOWN_FORMAT = Clause("it is in none of the formats {formats}. Name a file of one of them.")
NOT_A_BLEND_FILE = Clause("it is not a .blend file. Name a file that Blender saved.")
NOT_OPENED = Clause("Blender cannot open it ({reason}). Take its backup (.blend1), or save it again.")
NOT_IMPORTED = Clause("Blender cannot import it ({reason}). Export it again, or in another format.")
NO_DECODER = Clause(
    "it is compressed with {compression}, which Blender as a Python package cannot read. Use Blender itself (blender "
    "--command analytic_ik), or export it without compression."
)
NO_DECODER_AT_ALL = Clause(
    "it is compressed with {compression}, which this Blender cannot read. Export it without compression."
)
VRM_IS_GLTF = Part("saved as glTF: expressions, spring bones and whatever else VRM adds are left out")
FILE_BESIDE = Part("'{name}' next to it belongs to another file")
NO_ADDON = Clause("Blender's add-on '{addon}' cannot be enabled. Enable it in Blender's preferences.")
NO_FOLDER = Clause("there is no folder '{folder}' to save to. Make it first.")
NO_PLACE_FOR_A_FILE = Clause("'{path}' is a folder or a device. Name a file to save to.")
WRITE_PROTECTED = Clause("'{path}' is write-protected. Make it writable, or choose another place.")
NO_ARMATURE_NAMED = Clause("its scene has no armature '{armature}'. Check the name.")
MOTION_WITHOUT_SKIN = Clause(
    "it has motion, but no skin, so its joints came as Empties. Import it together with its character, or export it "
    "with its skin."
)
NO_ARMATURE_IN_SCENE = Clause("its scene has no armature. Add one and save the file.")
CLIP = Part("Clip '{clip}'")
NO_CLIP = Refusal(
    "Armature '{armature}' has no clip in which the controls have keys. Assign its action and click Rig Legs or Snap "
    "IK to FK."
)
NO_SUCH_CLIP = Refusal(
    "Armature '{armature}' has no clip '{clip}', or its controls have no keys in it. Look at the name, or assign the "
    "clip and click Snap IK to FK."
)
NO_CLIP_TICKED = Refusal("No clip of armature '{armature}' is ticked. Tick one in the list.")
NO_CHAIN_IMPORTED = Clause(
    "files of its format hold no chains. Use check --feet for its feet, or the command rig or plant on it first."
)
NOTHING_RIGGED = Part("none of its armatures could be rigged")
CLIP_LEFT_OUT = Part("left as it is: {why}")
OVER_LIMIT = Note("{bone}: {figure} {value:.3g} is over the limit of {limit:g}")
FILES_DONE = Done("Files: {done} done, {failed} failed")
FILES_BEFORE = Part(", {before} done before")
FILES_NOTHING = Part(", {count} with nothing to plant")
CLIPS_LEFT = Part(". Clips left as they are: {clips}")
ONLY_CURRENT = Note("{armature}: a {suffix} file holds one clip, so only the current one is planted")
CHAINS_ARE_BAKED = Clause("its chains are baked, and none is live. Name the file that it was baked from.")
NO_CHAIN_IN_SCENE = Clause("no armature of its scene has a live analytic IK chain. Add one and save the file.")
NOT_WRITTEN = Clause(
    "'{path}' could not be written ({reason}). Make sure that the disk has room and the folder is writable, or "
    "choose another place."
)
NOT_FINISHED = Part("Blender could not finish it")
PATH_TOO_LONG = Part("the path is too long for Windows")
INCOMPLETE = Part("the written file is incomplete")
STOPPED = Part("stopped before the end, and nothing was written")
ALREADY_BAKED = Part("its chains are baked already")
BAKED_AGAIN = Part("its chains were baked before and kept live, and are baked again")
BLENDER_DIED = Clause("Blender ended with {how}. Open it in Blender, or leave it out.")
TOO_LONG = Clause("it took longer than {seconds:g} s. Raise --time-limit, or leave it out.")
SAVED_IN_PART = Part("saved with what was done within the time limit")
SAVED_AND_DIED = Clause("Blender saved it, and ended before it was done. Check the saved file.")
NO_WORKER_STARTS = Clause("no worker process can start ({reason}). Run the command without --jobs and --cluster.")
NO_DISTRIBUTED = Clause("the package 'distributed' is missing. Install analytic-ik[cluster].")
NO_SCHEDULER = Clause("no Dask scheduler answers at '{address}' ({reason}). Start it, or check the address.")
OTHER_VERSION = Clause(
    "worker '{worker}' has another version of Analytic IK. Install the same one on all machines and restart it."
)
NO_WORKER = Note("No Dask worker is connected to '{address}' yet")
CLUSTER_LOST = Clause("the Dask scheduler was lost before it was done. Start it again and add --resume.")
CLUSTER_GAVE_UP = Clause("the cluster gave it up ({reason}). Open it in Blender, or leave it out.")
LIMB_FOLLOWS = Done("{armature}: '{first}' to '{last}' follow '{target}' and '{pole}'")
MOTION_FOLLOWED = Done("{armature}: the controls follow frames {first}-{last}")
CLIPS_FOLLOWED = Done("{armature}: the controls follow {clips}: {names}")
LIMB_FOUND = Done("{armature}: found '{first}' to '{last}', which ends at {end}")
ITS_TAIL = Part("its tail")
LIMB_LEFT_OUT = Note("{armature}: left out '{bone}': {why}")

# Another copy of the add-on

SECOND_COPY = Refusal("Add-on '{own}' is not enabled: '{other}' is another copy of Analytic IK. Disable one of them.")

# Grab

NO_LIMB_TO_GRAB = OfArmature("no legs or arms were found. Rotate its bones instead.")
BONE_TO_LENGTHEN = OfArmature("bone '{bone}' has no length. Lengthen it in Edit Mode.")
NO_HIPS_TO_GRAB = OfArmature("no bone carries all of its limbs. Parent its limbs to one body.")
GRAB_CONSTRAINED = Refusal(
    "Bone '{bone}' is moved by its constraint '{constraint}'. Grab its control, or mute that constraint."
)
GRAB_NOT_BY_CHANNELS = Refusal(
    "Bone '{bone}' is not where its channels put it. Grab what moves it, or turn on its Inherit Rotation and Scale."
)
GRAB_UNEVEN = Refusal("Bone '{bone}' is scaled unevenly, which shears bones below. Give it the same scale on all axes.")
GRAB_DRIVEN = OfBone("a driver sets its channels. Grab what the driver reads, or remove the driver.")
GRAB_BLENDED = OfBone("its chain has an Influence between 0 and 1. Set it to 1 or to 0 to grab.")
GRAB_NO_TARGET = OfBone("its chain has no target. Choose a target for it.")
GRAB_KNEE_OF_CHAIN = Refusal("Bone '{bone}' is posed by its chain. Move its pole target, or use Swivel Knee.")
GRAB_LOCKED = Refusal("Bone '{bone}' is locked. Unlock its channels to grab it.")
GRAB_NO_LIMB = Refusal("Bone '{bone}' is part of no limb. Choose a hand, a foot, or a bone of its limb.")
GRABBED = Done("Grabbed '{bone}'{held}")
GRAB_HOLDS = Part(", held {names}")
GRAB_SHORT = Part("{length} short")
GRABBED_SHORT = Done("Grabbed '{bone}'{held}: {short}")
GRAB_UNKEYED = Note("{names} had no keys in this clip and moved on all of its frames. Undo, key them, then grab.")

# What should not happen

FILE_FAILED = Clause("it failed with {kind} ({error}). Please report this.")
HANDLER_FAILED = Refusal("Analytic IK: a chain could not be solved. Please report this.\n{trace}")
EXPORT_WARNING_FAILED = Refusal("Analytic IK: an export could not be checked beforehand. Please report this.\n{trace}")
OVERLAY_FAILED = Refusal("Analytic IK: the overlay could not be drawn. Please report this.\n{trace}")
GIZMO_FAILED = Refusal("Analytic IK: a gizmo could not be drawn. Please report this.\n{trace}")
