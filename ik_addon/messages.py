"""Every message a user can meet: the only place in the code where they are put into words.

Here is what is said: refusals, problems, what a greyed-out button lacks, how a chain stands, what an operator has done,
what the command line and the console print. Not here is what only names things: labels, headings, descriptions of
properties and operators, how far something is; nor the certificate as a page of text, which is a document
(bake/certificate.py).

A message is called with what it is about and gives the sentence; so nothing is put into words where nothing is wrong.
tests/test_messages.py sees to it that each of them is used, names its thing and its cure, and is met by some test.
"""

from collections.abc import Iterable
from string import Formatter


class Message:
    """Words with named fields. What is filled in stands in the sentence as it is, whatever characters it has.

    A field that is missing, or that there is not, is a TypeError.
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
    """What keeps something from being done, or a chain from its target: what is wrong with what; what to do."""


class Clause(Refusal):
    """A refusal said of something: whoever catches it puts the bone, or the file, before it."""


class Note(Message):
    """What is no fault and worth knowing."""


class Done(Message):
    """What was done."""


class Part(Message):
    """A part of another message: whose it is, or why."""


def quoted(names: Iterable[str]) -> str:
    """Names in a row, as they stand in a sentence."""
    return ", ".join(f"'{name}'" for name in names)


# Whose it is

OF = Part("{whose}: {said}")
BONE = Part("Bone '{bone}'")
ARMATURE = Part("Armature '{armature}'")
FRAME = Part("Frame {frame}")
LINK = Part("link {link}")
LIMITS_OF_BONE = Part("the limits of bone '{bone}'")
CONTROL_OBJECT = Part("'{control}'")
CONTROL_BONE = Part("bone '{bone}'")

# What is given to a solver

NO_POINT = Clause("{what} is not a point of three numbers: {values}; give x, y and z")
POINT_NOT_FINITE = Clause("{what} has a value that is not a finite number: {point}; give numbers")
POINT_TOO_LARGE = Clause("{what} has a value that is too large: {point}; bring it nearer")
NUMBER_NOT_FINITE = Clause("{what} is not a finite number: {value}; give a number")
NO_LENGTH = Clause("{what} has no length; give a direction")
TOO_FEW_POINTS = Clause("a chain needs two points or more, got {count}; give its root and the end of each link")
NO_SOLVER = Clause("there is no solver '{solver}'; there are AUTO, {solvers}")
SOLVES_TWO_BONES = Clause("{solver} solves two bones and this chain has {count}; use AUTO or TRIANGULATION")
SOFTNESS_OUT_OF_RANGE = Clause("the softness is {softness}; give a part of the chain's length from 0 to 0.5")
STRETCH_OUT_OF_RANGE = Clause("the largest stretch is {stretch}; give a ratio of 1 or more")
NO_ROWS = Clause("rows are chains without least motion; use solve for other chains")

# Limits of a joint

ENTRIES_MISSING = Clause("{what} needs one entry for each of the {count} links, got {given}; give None for a free one")
HINGE_AND_SWING = Clause("it is given a hinge and a swing; it can have one of them")
CONE_NEGATIVE = Clause("its cone is negative: {angle}; give an angle of 0 or more, in radians")
RANGE_BACKWARDS = Clause("its {what} runs from {lowest} down to {highest}; give the lowest angle first")
REST_IS_NONE = Clause("its rest rotation is none: {rotation}; give a quaternion that is not zero")
CONE_LEAVES_NOTHING = Clause("its cone and its hinge leave it no angle; widen one of them")
LEAST_BEND_OUT_OF_RANGE = Clause("its least bend is {angle}; give an angle from 0 to pi")
LEAST_BEND_LEAVES_NOTHING = Clause("its least bend leaves its hinge no angle; make it smaller or widen the hinge")
SWING_AXIS_ALONG = Clause("its swing axis lies along it; give one across it")
SWING_WITHOUT_REST = Clause("its swing leaves out its rest direction; let its ranges contain 0")
CONE_WITHOUT_REST = Clause("its cone leaves out the rest direction of its swing; widen the cone")

# The armature

NO_ARMATURE = Refusal("There is no armature to work on; make one the active object, in pose mode or object mode")
NO_POSE_MODE = Refusal("No armature is in pose mode; make one the active object and go to pose mode")
ARMATURE_LINKED = Refusal("Armature '{armature}' is linked; make a library override of it first")
ARMATURE_NOT_HERE = Refusal("Armature '{armature}' is not in this scene; link it there")
ARMATURE_WITHOUT_SIZE = Clause("the armature object '{armature}' has a scale of zero; give it a size")
ARMATURE_DATA_LINKED = Refusal("Armature data '{data}' is linked; show its pose in the file that it comes from")
BONES_LINKED = Refusal("Armature '{armature}' is linked and gets no new bones; choose Empties as its controls")
BONES_OVERRIDDEN = Refusal(
    "Armature '{armature}' has a library override and gets no new bones; choose Empties as its controls"
)
REST_POSITION = Refusal("Armature '{armature}' shows its rest position; switch it to Pose Position")
PARENT_UNEVEN = Refusal("Bone '{bone}' is scaled unevenly; scale it evenly")
NO_SUCH_BONE = Refusal("Armature '{armature}' has no bone '{bone}'; choose one of its bones")
NO_ACTIVE_BONE = Refusal("Armature '{armature}' has no active bone; select the last bone of the limb")
IS_CONTROL = Refusal("Bone '{bone}' is a control of a chain; select the last bone of a limb, such as a shin")
NO_PARENT = Refusal("Bone '{bone}' has no parent to make a chain with; select the last bone of a limb, such as a shin")
NO_TIP = Refusal(
    "Armature '{armature}': no selected bone is the tip of a chain; select the bone whose panel shows the target"
)
NO_LIVE_CHAIN = Refusal("Armature '{armature}': no bone of it is the tip of a live chain; add one first")
NO_LIVE_CHAIN_SELECTED = Refusal(
    "Armature '{armature}': no selected bone of it is the tip of a live chain; add one first"
)
ARMATURE_NOT_EDITABLE = Refusal(
    "Armature '{armature}' has a library override that is not editable; make it editable in the Outliner, in the "
    "Library Overrides view"
)
NOT_A_TIP = Refusal("Armature '{armature}': bone '{bone}' is not the tip of a chain; choose one from the list")
NO_CHAIN_ACTIVE = Refusal("Armature '{armature}': no bone of a live chain is active; make one the active bone")

# Targets and poles

NO_TARGET = Clause("there is no target; choose an object as its Target")
CONTROL_DELETED = Clause("its {role} '{control}' was deleted; choose another one or clear it")
ROLE_WITHOUT_BONE = Clause("its {role} '{control}' has no bone '{bone}'; choose one of that armature's bones")
WITHOUT_END_BONE = Clause(
    "its end bone '{end}' does not exist; choose another one, or clear End Bone to end the chain at the bone's tail"
)
CONTROL_ON_CHAIN = Clause(
    "its {role} {control} moves with the chain's own bone '{bone}'; choose one that does not hang below the chain"
)
CONTROL_NO_NUMBER = Clause(
    "the location of its {role} '{control}' is not a number; clear the transform, keys and drivers of that object"
)
CONTROL_GONE = Refusal("Bone '{bone}': its {role} is gone from the file; choose another one")
TARGET_LINKED = Refusal("Bone '{bone}': its target '{control}' is linked; make a library override of it first")
CONTROL_BONE_GONE = Clause("its control '{control}' has no bone '{bone}'; choose one of that armature's bones")
CONTROL_LINKED = Clause("its control {control} is linked; make a library override of it first")
CONTROL_CONSTRAINED = Clause(
    "constraint '{constraint}' moves its control {control}; switch it off or choose another one"
)
CONTROL_CONNECTED = Clause(
    "its control {control} is connected to its parent and cannot move; disconnect it in edit mode"
)
CONTROL_DRIVEN = Clause("a driver sets the {channel} of its control {control}; remove that driver")
CONTROL_SHARED = Clause("the chain of '{tip}' follows its control {control} too; give it one of its own")
TOO_MANY_CONTROLS = Clause("{count} other objects are selected; select its target, its target and pole, or none")

# A chain's bones

TOO_FEW_BONES = Clause(
    "up to the root it has {count} of the {wanted} bones that the chain asks for; set Bones to {count} or less"
)
BONE_SHARED = Clause(
    "its bone '{bone}' belongs to the chain of '{tip}' already; set Bones so that the chains share none"
)
BONE_TAKEN = Clause("bone '{bone}' belongs to the chain of '{tip}' already; use fewer bones, or remove that chain")
TIP_TAKEN = Refusal("Bone '{bone}': it belongs to another chain itself; remove one of the two chains")
WOULD_MOVE = Clause(
    "bone '{moved}' would move by {distance:.3g}; look for constraints, drivers or uneven scale on its limb, or select "
    "an object as the target to let it move"
)
TIP_ALREADY = Clause("it is the tip of a chain already; change that one, or remove it first")
BONE_NO_NUMBER = Clause(
    "the pose of bone '{bone}' holds values that are not numbers; clear its transform and its parents'"
)
BONE_WITHOUT_LENGTH = Clause(
    "bone '{bone}' of its chain has no length; lengthen it in edit mode, or clear its pose scale"
)
CHAINS_IN_CIRCLE = Clause(
    "the chains {tips} move each other's controls; choose for one of them a target that none of the others moves"
)
LINK_OF_CIRCLE = Part("{tip} of '{armature}'")
NO_KNEE = Clause("its chain has one bone and so no knee; set Bones to 2 or more")
KNEE_STRAIGHT = Refusal("Bone '{bone}': its limb is straight and its knee has no circle; bend it first")
BENDS_BACKWARDS = Refusal("Bone '{bone}': the least bend is not smaller than the largest; make it smaller")

# What wins over a chain, and over keys

ROTATION_DRIVEN = Refusal("Bone '{bone}': a driver sets its rotation and wins over the chain; remove that driver")
SCALE_DRIVEN = Refusal("Bone '{bone}': a driver sets its scale and wins over the stretch; remove that driver")
SWIVEL_DRIVEN = Refusal("Bone '{bone}': a driver sets its swivel; remove that driver")
SWITCH_DRIVEN = Refusal("Bone '{bone}': a driver switches its chain and would switch it on again; remove that driver")
SWITCH_IN_STRIP = Refusal(
    "Bone '{bone}': the NLA strip '{strip}' switches its chain and would switch it on again; remove its keys on the "
    "chain's switch"
)
BONE_CONSTRAINED = Refusal("Bone '{bone}': constraint '{constraint}' moves it after the chain; switch it off")
TIE_ON = Refusal(
    "Bone '{bone}': constraint '{constraint}' ties the chain to its controls and must be off; now Blender's IK solves "
    "the chain again"
)
FOLLOWS_BONE = Clause(
    "bone '{bone}' follows '{mover}' by its constraint '{constraint}'; rig the bones that move it, or adopt their IK"
)
MOVED_BY_RIGIFY = Clause(
    "bone '{bone}' follows '{mover}' in a rig of Rigify's; use Adopt Blender IK on this armature instead"
)
PLACED_BY_CONSTRAINT = Clause(
    "constraint '{constraint}' moves bone '{bone}'; mute that constraint, or rig the bones that move it"
)
TURNED_BY_DRIVER = Clause("a driver sets the rotation of bone '{bone}'; remove that driver, or rig the bones it reads")
FOLLOWS_OWN_BONE = Refusal(
    "Bone '{bone}': '{control}' follows the chain's own bone '{own}' by a constraint or driver, and the chain follows "
    "it: a circle; remove that constraint or driver"
)
SCALE_UNEVEN = Refusal(
    "Bone '{bone}': its uneven scale shears the bones below it, and the chain may miss its target; scale it evenly, or "
    "set Inherit Scale of the bone below to None"
)
SETTING_NO_NUMBER = Clause("its {setting} is not a number; set it anew, or look at its keys and drivers")
SETTING_ANIMATED = Clause("its {setting} is animated; remove that animation first")
CONSTRAINED_FROM_BELOW = Refusal(
    "Bone '{bone}': constraint '{constraint}' moves '{moved}' after the chain; switch it off"
)
NO_CONSTRAINT = Refusal("Bone '{bone}' has no constraint '{constraint}'; it was removed or renamed, look at the others")
NO_CURE = Refusal("There is no cure '{cure}'; there are {cures}")

# How a chain stands

SWITCHED_OFF = Note("Bone '{bone}': its chain is switched off")
TOO_FAR = Refusal(
    "Bone '{bone}': its target is farther away than the chain reaches; bring it nearer, or choose Stretch"
)
TOO_NEAR = Refusal("Bone '{bone}': its target is nearer to the root than the chain can fold; move it away")
LIMITED = Refusal("Bone '{bone}': the limits of its joints keep it from its target; widen them, or move the target")
SOFT = Refusal("Bone '{bone}': its softness holds it back from its target; lower it to arrive")
BLENDED = Refusal("Bone '{bone}': it goes only part of the way to its target; raise Influence to 1 to arrive")
ELSEWHERE = Refusal(
    "Bone '{bone}': something moves it away from where it was solved to be; look for constraints, drivers or uneven "
    "scale"
)
FROM_TARGET = Note("{distance} from its target. {state}")
AT_TARGET = Part("its tip is at its target")
ONE_MORE_PROBLEM = Note("1 more chain has a problem")
MORE_PROBLEMS = Note("{count} more chains have problems")
TARGET_HIDDEN = Note("Bone '{bone}': its target '{control}' is hidden; it is followed all the same")
BONE_KEYED = Note("Bone '{bone}' has keys, and the controls do not follow them. Snap the controls, or mute the keys")
BONES_KEYED = Note("Bones {bones} have keys, and the controls do not follow them. Snap the controls, or mute the keys")
MOTION_PATHS = Note(
    "Blender calculates the motion paths of {bones} without the chain; bake it to see the path that the animation takes"
)
SWITCH_KEYED = Note("Bone '{bone}': keys switch its chain on and off; mute them to set it by hand")

# How a chain is solved

READ_ANEW = Note("Read anew on every frame: {why}")
SOLVED_AFTER = Note("Solved after the frame: {why}")
SOLVED_BEFORE = Note("Solved before the frame")
MOVES_WITH_OTHERS = Part("it moves with another chain, or moves one")
SET_UP_UNUSUALLY = Part("its bones are set up in an unusual way")
SWITCH_ANIMATED = Part("its switch is animated")
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
HANGS_BY_PART = Part("'{object}' hangs on '{parent}' by its {part}")
FOLLOWS_PATH = Part("'{object}' follows the path '{parent}'")
CONTROL_WITHOUT_BONE = Part("'{object}' has no bone '{bone}'")
SHOWN_AT_REST = Part("'{object}' is shown in its rest position")
IN_EDIT_MODE = Part("'{object}' is in Edit Mode")
ARMATURE_ANIMATED = Part("animation sets the {channel} of armature '{data}'")
BONE_BY_NUMBER = Part("animation of '{object}' names a bone by its number")
CONTROL_BONE_CONSTRAINED = Part("bone '{bone}' has the constraint '{constraint}'")
MOVED_BY_CONSTRAINT = Part("bone '{bone}' is moved by the constraint '{constraint}' of '{owner}'")
ANIMATION_SETS = Part("animation sets the {channel} of {owner}")
DRIVER_SETS = Part("a driver sets the {channel} of {owner}")

# Frames and keys

NO_FRAMES = Refusal("There are no frames to go through, the last is before the first; exchange them")
LAST_BEFORE_FIRST = Refusal("The last frame ({last}) is before the first ({first}); exchange them")
FRAME_UNSOLVED = Refusal(
    "Frame {frame}: bone '{bone}' of armature '{armature}' cannot be solved; look at the keys of its target and pole "
    "there: {refusal}"
)
KEYS_DRIVEN = Refusal("Bone '{bone}': a driver sets its {channel} and would win over the keys; remove that driver")
NLA_TWEAKED = Refusal("{kind} '{object}' is in NLA tweak mode; leave it (Tab in the NLA editor) first")
NLA_SOLO = Refusal("{kind} '{object}' plays one NLA track alone and not its action; switch that Solo off first")
NLA_BLENDED = Refusal(
    "{kind} '{object}': its action does not replace what lies below; set its blending to Replace and its influence to 1"
)
ACTION_LINKED = Refusal("Action '{action}' is linked; bake to a copy or to a new action")
ACTION_SHARED = Refusal("Armatures '{first}' and '{second}' share the action '{action}'; bake to copies")
OWN_ACTION_LINKED = Refusal("Bone '{bone}': its action '{action}' is linked; make it local first")

# A bake and a check

RENDERING = Refusal("A render is on its way, and would show the limbs as they are passed; wait for it, or cancel it")
AT_WORK = Refusal("Analytic IK is at work; wait for it, or press Esc to cancel it")
CANCELLED = Done("{work} was cancelled; nothing was changed")
BAKED = Done("Baked {chains}. {result}")
CHECKED = Done("Checked {chains}. {result}")
ONE_CHAIN = Part("1 chain")
CHAINS = Part("{count} chains")
CONTROLS_LEFT_BEHIND = Note(
    "Keys move the bones of {chains}, and the controls do not follow. Cancel and snap the controls to the motion first"
)
KEYS_NOT_FOLLOWED = Note(
    "Keys move the bones of {chains}, and the controls do not follow. Snap the targets to the pose over the range"
)
MANY_OUT_OF_REACH = Note("Targets are out of reach on about {part:.0%} of the frames. Cancel and move them nearer")
RESULT_OFF = Note("{bone}: switched off at every frame")
RESULT = Note("{bone}: {frames} frames, worst error {error:.3g} at frame {worst}, largest step {step:.1f}°")
RESULT_MISSES = Part(", {what} at {frames}")
RESULT_HELD_BACK = Part(", held back by its softness by up to {distance:.3g}")
ALL_MUTED = Note("All chains of '{armature}' are muted")
INTERFACE_UNLOCKED = Note("Live chains render safely with the interface locked")
INTERFACE_LOCKED_ALREADY = Refusal("The interface is locked while rendering already; there is nothing to do")
INTERFACE_LOCKED = Done("The interface is locked while rendering")
ESC_CANCELS = Note("Esc cancels")

# The certificate

NO_REPORT = Refusal("Armature '{armature}' has no report; check or bake its chains first")
REPORT_UNREADABLE = Refusal("The report of armature '{armature}' cannot be read; check or bake again")
NONE_SWITCHED_ON = Note("No chain was switched on")
CHAIN_MEETS = Note("The chain meets its target")
BOTH_MEET = Note("Both chains meet their targets")
ALL_MEET = Note("All {count} chains meet their targets")
CHAIN_MISSES = Note("The chain is {why}")
ONE_MEETS = Note("1 of {count} chains meets its target; {why}")
SOME_MEET = Note("{met} of {count} chains meet their targets; {why}")
NO_FLIP = Note("No bend flips{close}")
FLIPS = Note("The bend of {chains} flips: look for pops{close}")
ONE_COMES_CLOSE = Part("; 1 chain comes close")
SOME_COME_CLOSE = Part("; {count} chains come close")
WENT_TO_BONE = Done("Frame {frame}: '{bone}'")
BONE_GONE = Refusal("Armature '{armature}' has no bone '{bone}' any more; check its chains anew")
NOTHING_TO_MARK = Done("There is nothing to mark: no chain misses its target or comes close to a flip")
MARKED_ONE = Done("Put 1 marker")
MARKED = Done("Put {count} markers")
NOT_MARKED = Refusal("No problem of armature '{armature}' is marked; Mark Problems does it")
UNMARKED_ONE = Done("Removed 1 marker")
UNMARKED = Done("Removed {count} markers")
COPIED = Done("Copied {count} lines")

# A chain put on and taken off

ADDED = Done("Added a {count}-bone chain {bones}{end}. Move '{target}' to pose it")
ADDED_STRAIGHT = Done(
    "Added a {count}-bone chain {bones}{end}. Move '{target}' to pose it. The limb is straight and bends about its "
    "hinge; use Flip to bend it the other way"
)
LED = Note(
    "Bone '{bone}' belongs to the limb {bones}, so the chain ends at '{tip}'. Turn on Use This Bone to change that"
)
REMOVED = Done("Removed the chain of {tips}{kept}")
KEPT_CONTROLS = Part(". Kept the controls {controls}")
SELECTED = Done("Selected '{bone}'")
LIMITED_KNEES = Done("Limited {knees}")
KNEE = Part("'{bone}' (about its {axis} axis)")
KNEE_ASKEW = Refusal(
    "Bone '{bone}': its {axis} axis lies {angle:.0f}° off the axis about which the limb bends; recalculate its roll in "
    "edit mode and limit it again"
)
SELECT_LAST_BONE = Note("Select the last bone of a limb, a shin or a forearm")
SELECT_LEGS = Note("Select bones of legs; none: all legs of the armature")
SELECT_CONSTRAINED = Note("Select the bones with IK constraints")
ALL_CONSTRAINTS = Note("All IK constraints of the armature")

# Problems cured

CURED = Done("Bone '{bone}': {done}")
NEW_TARGET = Part("follows '{target}'")
NEW_TARGET_WITHOUT_POLE = Part("follows '{target}'; its pole could not be moved, so the limb turned to it")
BROUGHT_BACK = Part("brought back '{control}'")
BENDS_WITHOUT_POLE = Part("bends as its FK pose does, without a pole")
HAS_ONE_BONE = Part("has a chain of 1 bone")
HAS_BONES = Part("has a chain of {count} bones")
ENDS_AT_TAIL = Part("ends its chain at its tail")
SOLVER_SUITS = Part("is solved by the solver that suits its number of bones")
SHOWS_POSE = Part("shows its pose")
DRIVERS_REMOVED = Part("no driver sets its {channel} any more")
CHAIN_REMOVED = Part("its chain was removed")
CONSTRAINT_OFF = Part("constraint '{constraint}' is switched off")
HAS_OWN_SIZE = Part("has its own size again")
TARGET_SHOWN = Part("its target '{control}' is shown")
CONTROLS_FOLLOW = Part("its controls follow frames {first}-{last}")
KEYS_MUTED = Part("the keys of its chain's bones are muted")
SWITCHED_BY_HAND = Part("its chain is switched by hand")

# FK and IK

SNAPPED_CONTROLS = Done("Snapped {chains}{frames}{poles}")
MADE_POLE = Part("; made the pole '{pole}'")
SNAP_MISSED = Note("Bone '{bone}': its chain is off its FK pose by up to {part:.2%} of its length")
SNAPPED_POSE = Done("Snapped the pose of {chains}{frames}")
AT_FRAME = Part(" at frame {frame:g}")
OVER_FRAMES = Part(", frames {first}-{last}")
NO_MOTION = Clause("no keys move it over a range of frames; key its bones first")

# Legs

RIGGED = Done("Rigged {limbs}")
RIGGED_FOLLOWING = Done("Rigged {limbs}; the controls follow frames {first}-{last}")
LEGS = Part("{count} legs")
ONE_LEG = Part("1 leg")
ARMS = Part("{count} arms")
ONE_ARM = Part("1 arm")
LEGS_AND_ARMS = Part("{legs} and {arms}")
RIGGED_LIMB = Part("'{first}' to '{last}'{end} ({target}, {pole})")
ENDING_AT = Part(", ending at '{end}'")
ON_FOOT = Part("{target} on bone '{foot}'")
NOT_BELOW = Refusal("Bone '{bone}' is not below '{first}'; choose the first and the last bone of one limb")
END_IN_CHAIN = Refusal("Bone '{bone}': its end bone '{end}' is part of its chain; choose a bone after it, or none")
NONE_TICKED = Refusal("Armature '{armature}': no limb is ticked; tick those to rig")
LEFT_OUT = Note("Left out {bones}")
LEFT_OUT_MORE = Note("Left out {bones}; and {count} more")
LEFT_OUT_BONE = Part("'{bone}': {why}")
NO_LEG = Refusal("Armature '{armature}': no leg to rig was found{why}; add chains to its limbs by hand")
NO_LEG_OR_ARM = Refusal("Armature '{armature}': no leg or arm to rig was found{why}; add chains to its limbs by hand")
NO_LEG_SELECTED = Refusal(
    "Armature '{armature}': no leg to rig was found among its selected bones{why}; select none of them to look at all"
)
NO_LEG_OR_ARM_SELECTED = Refusal(
    "Armature '{armature}': no leg or arm to rig was found among its selected bones{why}; select none of them to look "
    "at all"
)
RIGIFY_MOVES_LIMBS = Refusal(
    "Armature '{armature}': Rigify moves its limbs by constraints; use Adopt Blender IK instead, it takes over their IK"
)
IS_NONE = Part("; '{bone}' is none: {why}")
HAS_CHAIN = Clause("bone '{bone}' has a chain already; remove that first")
HAS_IK = Clause("constraint '{constraint}' of bone '{bone}' is an IK already; adopt that instead")
SAME_LIMB = Part("it belongs to the same limb as '{bone}', once more")
IS_HELPER = Part("'{word}' in its name says that it is a helper")
TWISTS_WITH = Part("it twists along with '{bone}'")
TWISTS = Part("it twists along with another bone")
LACKS_BELOW = Part("it has no {part} below it")
LACKS_ABOVE = Part("it has no {part} above it")
SHORT_ABOVE = Part("'{bone}' above it has no length")
MANY_PAIRS = Part("more than one pair hangs like legs")
NO_BODY_ABOVE = Part("it hangs like a leg, but too little rises above it to be a body")
MANY_BONES = Part("it hangs like a leg, but of {count} bones, and their names do not tell its foot")
NO_FOOT_STANDS_OUT = Part("it hangs like a leg, but no foot stands out at its end")

# Blender's own IK

NOTHING_TO_ADOPT = Refusal("Armature '{armature}': no bone of it has an IK constraint; add a chain instead")
NONE_SELECTED_TO_ADOPT = Refusal(
    "Armature '{armature}': no selected bone of it has an IK constraint; select the bone that has it"
)
NOTHING_ADOPTED = Refusal(
    "Armature '{armature}': no bone of it has a chain that was adopted; remove its chains instead"
)
NONE_SELECTED_ADOPTED = Refusal(
    "Armature '{armature}': no selected bone of it has a chain that was adopted; select its tip bone"
)
ADOPTED = Done("Adopted {constraints}")
ADOPTED_ONE = Part("'{constraint}' of '{bone}'")
RESTORED = Done("Restored {constraints}")
JOINTS_MOVED = Note("Bone '{bone}': its chain is off by up to {distance:.3g} and {angle:.1f}° (frame {frame}): {why}")
STRETCHED_IN_REACH = Note(
    "Blender also stretched {bones} within reach, and a chain does not: in some poses joints will be elsewhere. To "
    "avoid that, restore the IK and set IK Stretch to 0"
)
LEFT_AT_REST = Note("Left {constraints} as Blender's IK: animation mutes it now, and switches it on by itself")
AFTER_THE_CHAIN = Part("constraint '{constraint}' now moves its bones after the chain")
POLE_IGNORES_LIMITS = Part("with a pole Blender ignores the limits of the first bone")
BLENDS_OTHERWISE = Part("below full influence Blender blends its constraint in another way")
STRETCHES_WITHIN = Part("Blender also stretches within reach, with the bones at its end")
BLENDER_LEFT = Part("Blender's solution was not quite on the target")
IK_ITASC = Refusal(
    "Bone '{bone}': constraint '{constraint}' is solved by iTaSC; set the armature's IK Solver to Standard"
)
IK_WITHOUT_TARGET = Refusal("Bone '{bone}': constraint '{constraint}' has no target; choose one, or mute it")
IK_DISTANCE = Refusal("Bone '{bone}': constraint '{constraint}' keeps a distance; set its IK Type to Copy Pose")
IK_WITHOUT_TAIL = Refusal(
    "Bone '{bone}': constraint '{constraint}' leaves its own bone out of its chain; switch Use Tail on, or move it to "
    "the parent bone"
)
IK_WITHOUT_POSITION = Refusal(
    "Bone '{bone}': constraint '{constraint}' does not follow its target's location; switch Position on"
)
IK_WEIGHT = Refusal(
    "Bone '{bone}': constraint '{constraint}' has a weight other than 1; set those of Position and Rotation to 1"
)
IK_AXES = Refusal(
    "Bone '{bone}': constraint '{constraint}' leaves axes of its target free; lock all of them, and set Axis Reference "
    "to Bone"
)
IK_SPACE = Refusal(
    "Bone '{bone}': constraint '{constraint}' reads its target in another space; set Target Space to World Space"
)
IK_TURNS_ONE_BONE = Refusal(
    "Bone '{bone}': constraint '{constraint}' turns one bone to its target's rotation and has no other to reach it "
    "with; switch Rotation off and add a Copy Rotation"
)
IK_NOT_ON_END = Refusal(
    "Bone '{bone}': constraint '{constraint}' follows its target's rotation, and its bone is not on the end of "
    "'{parent}'; switch Rotation off and add a Copy Rotation"
)
IK_TREE = Refusal(
    "Bone '{bone}': constraint '{constraint}' shares bone '{shared}' with constraint '{other}' of bone '{owner}' "
    "(tree IK); shorten one of their chains, or mute one"
)
IK_SHARES_BONE = Refusal(
    "Bone '{bone}': constraint '{constraint}' shares bone '{shared}' with the chain of '{tip}'; remove that chain, or "
    "mute it"
)
IK_MUTE_ANIMATED = Refusal(
    "Bone '{bone}': constraint '{constraint}' has animation on its influence and on its mute; remove one of the two"
)
IK_TIP_ADOPTED = Refusal(
    "Bone '{bone}': constraint '{constraint}' would need a second chain beside the adopted one; restore that first, or "
    "leave this one as it is"
)
IK_CHAIN_ANIMATED = Refusal(
    "Bone '{bone}': constraint '{constraint}' cannot hand over to a chain that is animated already; delete what "
    "animates that chain"
)
IK_ACTION_LINKED = Refusal(
    "Bone '{bone}': constraint '{constraint}' is animated by action '{action}', which is linked; make it local"
)
IK_DRIVEN = Refusal(
    "Bone '{bone}': constraint '{constraint}' is above a driver that sets the rotation of bone '{driven}'; remove that "
    "driver"
)
IK_NO_CHAIN = Refusal("Bone '{bone}': constraint '{constraint}' cannot become a chain: {refusal}")
NOT_ADOPTED = Refusal("Bone '{bone}': its chain was no IK constraint; select a bone whose chain was adopted")
IK_RECORD_UNREADABLE = Refusal(
    "Bone '{bone}': what is kept of its IK constraint cannot be read any more; remove the chain instead"
)
IK_GONE = Refusal("Bone '{bone}': its IK constraint '{constraint}' is gone; remove the chain instead")

# The command line

NO_FILE_GIVEN = Clause("no FILE is given; name at least one FILE")
RIG_TAKES_ONE = Clause("rig takes one FILE; rig one after the other")
OUTPUT_TAKES_ONE = Clause("--output takes one FILE; use --output-dir for several")
SAME_OUTPUT = Clause("'{first}' and '{second}' would both be saved to '{output}'; rename one, or bake them separately")
NO_RANGE = Clause("'{text}' is no range of frames; write the first and last as 1-250")
NO_STEP = Clause("'{text}' is no step; write a whole number from 1")
NO_DISTANCE = Clause("'{text}' is no distance; write a number from 0")
NO_SUCH_FILE = Clause("there is no such file; check its path")
NOT_A_BLEND_FILE = Clause("it is not a .blend file; name one that Blender saved")
NO_FOLDER = Clause("there is no folder '{folder}' to save to; make it first")
NO_PLACE_FOR_A_FILE = Clause("'{path}' is a folder or a device; name a file to save to")
WRITE_PROTECTED = Clause("'{path}' is write-protected; make it writable, or choose another place")
NO_ARMATURE_NAMED = Clause("its scene has no armature '{armature}'; check the name")
NO_ARMATURE_IN_SCENE = Clause("its scene has no armature; add one and save the file")
NO_CHAIN_IN_SCENE = Clause("no armature of its scene has a live analytic IK chain; add one and save the file")
NOT_WRITTEN = Clause(
    "'{path}' could not be written ({reason}); see that the disk has room and that its folder can be written to, or "
    "choose another place"
)
NOT_FINISHED = Part("Blender could not finish it")
INCOMPLETE = Part("it came out incomplete")
STOPPED = Part("stopped before its end; nothing was written")
LIMB_FOLLOWS = Done("{armature}: '{first}' to '{last}' follow '{target}' and '{pole}'")
MOTION_FOLLOWED = Done("{armature}: the controls follow frames {first}-{last}")
LIMB_LEFT_OUT = Note("{armature}: left out '{bone}': {why}")

# What should not happen

FILE_FAILED = Clause("it stopped by {kind} ({error}); please report this")
HANDLER_FAILED = Refusal("Analytic IK: a chain could not be solved; please report this.\n{trace}")
OVERLAY_FAILED = Refusal("Analytic IK: the overlay could not be drawn; please report this.\n{trace}")
GIZMO_FAILED = Refusal("Analytic IK: the swivel gizmo could not be drawn; please report this.\n{trace}")
