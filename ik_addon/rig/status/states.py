"""The state of chains and of bodies, to be shown: measured on what Blender evaluated; nothing is written.

Also what may move a chain after it was solved, and knees that point backward."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import radians

import bpy
from mathutils import Matrix, Vector

from ... import messages
from ...solvers import ChainError, Outcome
from ...solvers.chain import eased, outcome_at, reach_limits
from ..blender.animation import animated_paths, placing_drivers
from ..blender.armatures import armature_named, is_evaluated_in, posed_armatures
from ..blender.dependencies import Known, carriers, constraints_of, followed_bones, may_act, taken_by
from ..data.relation import is_tie, place_of
from ..data.settings import Settings, settings_of
from ..live.state import known_plan
from ..model.body import bodies_of, possible_bodies
from ..model.limb import Limb, chain_bones, end_in_tip, end_world, missed_world, posed_joints
from ..model.order import ChainName, ChainOrder, chain_order, live_tips, read_by
from ..pose.following import PosedBody, follow_limbs
from ..pose.planned import wishes_of
from ..pose.reading import SceneReader
from ..pose.solving import PlannedChain, solve_limb
from .problems import Problem, fault_of, read_chain

ARRIVED = 2e-5
"""Distance of a tip from its target, in chain lengths, that is rounding of the solution and of Blender's own pose."""


@dataclass(frozen=True, slots=True)
class ChainState:
    """How a chain stands.

    kind: OFF, PROBLEM: it is not solved; MET: its tip is at its target; TOO_FAR, TOO_NEAR: the target is out of reach;
    LIMITED: its joint limits keep it from it; SOFT: its softness holds it back; BLENDED: part of its influence does;
    ELSEWHERE: its tip is not where it was solved to be. distance_world: from the tip to the target, in world units, as
    Blender evaluated both; None where there is no target. sentence: what is to be said of it; "": nothing.
    """

    kind: str
    distance_world: float | None = None
    sentence: str = ""
    problem: Problem | None = None


_SENTENCES = {
    "TOO_FAR": messages.TOO_FAR,
    "TOO_NEAR": messages.TOO_NEAR,
    "LIMITED": messages.LIMITED,
    "SOFT": messages.SOFT,
    "BLENDED": messages.BLENDED,
    "ELSEWHERE": messages.ELSEWHERE,
}


class States:
    """The states of the chains of one armature object as one depsgraph evaluated it; each is found when asked for."""

    def __init__(self, ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> None:
        self._ob = ob
        self._depsgraph = depsgraph
        self._plan = known_plan(depsgraph.scene)
        planned = self._plan.planned_of(ob) if self._plan else {}
        # What a chain that stretches, or whose foot rolls, misses takes more than its lengths to tell.
        tellable = {tip: own for tip, own in planned.items() if not own.model.rolls and own.model.reach != "STRETCH"}
        self._still = {tip: chain for tip, chain in tellable.items() if chain.model.is_still}
        self._scene = SceneReader(depsgraph)
        self._known: dict[str, ChainState] = {}

    @cached_property
    def _order(self) -> ChainOrder:
        found = posed_armatures(self._depsgraph)
        return chain_order(ob.evaluated_get(self._depsgraph) for ob in found)

    def of(self, tip: str) -> ChainState:
        if tip not in self._known:
            self._known[tip] = self._found(tip)
        return self._known[tip]

    def problem_of(self, tip: str) -> Problem | None:
        """What keeps the chain of a tip from being solved; None: nothing that is known without much ado, or it is off.

        A chain that was solved just now is not read for that.
        """
        known = self._known.get(tip)
        if known is not None:
            return known.problem
        solved, _ = self._solved(tip)
        if (solved and self._is_posed) or not self._is_on(tip):
            return None
        if solved is False:
            # It may read well, and what it reads cannot be solved.
            return self.of(tip).problem
        limb = self._read(tip)
        return fault_of(tip, limb) if isinstance(limb, ChainError) else None

    def _found(self, tip: str) -> ChainState:
        if not self._is_on(tip):
            return ChainState("OFF", sentence=messages.SWITCHED_OFF(bone=tip))
        if tip in self._still and self._is_posed and (self._evaluated_tip(tip).analytic_ik_target is not None):
            return self._of_still(self._still[tip])
        limb = self._read(tip)
        if isinstance(limb, ChainError):
            return self._broken(tip, limb)
        missed, length = missed_world(self._evaluated_tip(tip), limb), self._length_world(tip, limb.settings)
        if missed <= ARRIVED * length:
            return ChainState("MET", missed)
        try:
            posed = solve_limb(limb)
        except ChainError as error:
            return self._broken(tip, error)
        return self._away(tip, missed, length, posed.outcome, posed.error_world, limb.settings)

    def _of_still(self, chain: PlannedChain) -> ChainState:
        tip, own = chain.model.tip, chain.chain
        settings = settings_of(self._evaluated_tip(tip))
        # It is known to be sound.
        world, pose = place_of(settings.target, settings.subtarget, self._depsgraph)
        target_world = (world @ (pose or Matrix())).to_translation()
        missed = (end_world(self._evaluated_tip(tip)) - target_world).length
        length = self._length_world(tip, settings)
        if missed <= ARRIVED * length:
            return ChainState("MET", missed)
        try:
            wishes = wishes_of(self._scene.armature(self._ob), chain.model)
            # What limits keep it from takes more than its lengths to tell.
            outcome = chain.solve(wishes).outcome if own.limits else None
        except ChainError as error:
            return self._broken(tip, error)
        distance, expected = (wishes.target - chain.root).length, 0.0
        if outcome is None:
            outcome = outcome_at(distance, *reach_limits(own.lengths)[0])
        if outcome is Outcome.REACHED and settings.softness:
            root = self._evaluated.pose.bones[chain.model.bones[0]]
            lag = 1.0 - eased(distance, own.length, settings.softness) / distance
            expected = lag * (target_world - self._evaluated.matrix_world @ root.head).length
        return self._away(tip, missed, length, outcome, expected, settings)

    def _away(
        self, tip: str, missed: float, length: float, outcome: Outcome, expected: float, settings: Settings
    ) -> ChainState:
        """A chain whose tip is not at its target. expected: how far from it the tip was solved to be; world units."""
        if outcome is not Outcome.REACHED:
            kind = outcome.name
        elif settings.influence < 1.0:
            kind = "BLENDED"
        elif settings.softness and abs(missed - expected) <= max(ARRIVED * length, 0.01 * expected):
            kind = "SOFT"
        else:
            kind = "ELSEWHERE"
        stretched = kind == "TOO_FAR" and settings.reach == "STRETCH"
        sentence = messages.TOO_FAR_STRETCHED if stretched else _SENTENCES[kind]
        return ChainState(kind, missed, sentence(bone=tip))

    def _broken(self, tip: str, error: ChainError) -> ChainState:
        problem = fault_of(tip, error)
        return ChainState("PROBLEM", None, problem.sentence, problem)

    def _is_on(self, tip: str) -> bool:
        """Whether the chain of a tip is on; not where its bone has not been evaluated yet."""
        bone = self._evaluated.pose.bones.get(tip)
        return bone is not None and bone.analytic_ik_enabled

    @cached_property
    def _is_posed(self) -> bool:
        ob = self._ob
        shown = ob.mode != "EDIT" and ob.data.pose_position == "POSE"
        return shown and is_evaluated_in(ob, self._depsgraph)

    def _read(self, tip: str) -> Limb | ChainError:
        chain, (solved, misplaced) = ChainName(self._ob.name_full, tip), self._solved(tip)
        return read_chain(self._scene, chain, self._order.errors.get(chain) if solved is None else misplaced)

    def _solved(self, tip: str) -> tuple[bool | None, ChainError | None]:
        return self._plan.was_solved(ChainName(self._ob.name_full, tip)) if self._plan is not None else (None, None)

    @cached_property
    def _evaluated(self) -> bpy.types.Object:
        return self._ob.evaluated_get(self._depsgraph)

    def _evaluated_tip(self, tip: str) -> bpy.types.PoseBone:
        return self._evaluated.pose.bones[tip]

    def _length_world(self, tip: str, settings: Settings) -> float:
        """How long the chain is, as evaluated, in world units."""
        world = self._evaluated.matrix_world
        joints = [world @ joint for joint in posed_joints(chain_bones(self._evaluated_tip(tip), settings.chain_count))]
        return sum((b - a).length for a, b in pairwise(joints))


def states_of(ob: bpy.types.Object, tips: Iterable[str], depsgraph: bpy.types.Depsgraph) -> dict[str, ChainState]:
    """How the chains of these tips of an original armature object stand, as the depsgraph evaluated them."""
    states = States(ob, depsgraph)
    return {tip: states.of(tip) for tip in tips}


def body_of(bone: bpy.types.PoseBone | None, tip: bpy.types.PoseBone | None) -> bpy.types.PoseBone | None:
    """The bone to be shown: the active one, if it follows its limbs; the one that follows the chain of a tip, or could;
    without a tip the active one, if it could."""
    known = tip or bone
    if known is None or known.id_data.mode == "EDIT":
        return None
    ob = known.id_data
    following = bodies_of(ob)
    own = [*((bone,) if bone is not None and bone.id_data == ob else ()), *(tip.parent_recursive if tip else ())]
    found = next((each for each in own if each.name in following), None)
    if found is not None:
        return found
    live = live_tips(ob)
    possible = possible_bodies(ob, {name: ob.pose.bones[name] for name in live}) if len(live) > 1 else {}
    fit = (name for name, tips in possible.items() if (tip.name in tips if tip else name == known.name))
    name = next(fit, None)
    return ob.pose.bones[name] if name else None


@dataclass(frozen=True, slots=True)
class BodyState:
    """How a bone stands that follows its limbs. limbs: the tips of these; problem: what keeps it from that."""

    limbs: tuple[str, ...]
    posed: PosedBody | None = None
    problem: str = ""


def state_of_body(bone: bpy.types.PoseBone, depsgraph: bpy.types.Depsgraph) -> BodyState | None:
    """How an original bone stands that follows its limbs, as a depsgraph evaluated them; None: it has none to follow,
    or is not evaluated there."""
    ob = bone.id_data
    if not is_evaluated_in(ob, depsgraph) or ob.data.pose_position != "POSE":
        return None
    order = chain_order([ob.evaluated_get(depsgraph)])
    name = ChainName(ob.name_full, bone.name)
    if name in order.unfit:
        return BodyState((), problem=str(order.unfit[name]))
    limbs = tuple(limb.tip for limb in order.limbs.get(name, ()))
    if not limbs:
        return None
    try:
        return BodyState(limbs, follow_limbs(SceneReader(depsgraph).armature(ob), bone.name, limbs))
    except ChainError as error:
        return BodyState(limbs, problem=str(error))


_BENT = 0.01
"""Distance of the knee from the line between the ends of a limb, in parts of that line, below which it is straight."""
_FAR_SWING = radians(120.0)
"""Swing from the rest pose beyond which two bends cannot be compared."""
_AGAINST = radians(150.0)
"""Angle between the bends of the rest pose and of the pose, which is more than arms and legs are turned on purpose."""


def bends_backwards(ob: bpy.types.Object, tip_name: str, depsgraph: bpy.types.Depsgraph) -> bool:
    """True if the knee of a chain points to the other side than in the rest pose, as the body above it is turned.

    False for limbs that are straight in their rest pose, or now, and for chains of one bone.
    """
    tip = ob.evaluated_get(depsgraph).pose.bones[tip_name]
    try:
        bones = chain_bones(tip, tip.analytic_ik_chain_count)
    except ChainError:
        return False
    if len(bones) < 2:
        return False
    parent = bones[0].parent
    rest_joints = [*(bone.bone.head_local for bone in bones), tip.bone.matrix_local @ end_in_tip(tip)]
    rest = _in_frame(parent.bone.matrix_local if parent else Matrix(), rest_joints)
    pose = _in_frame(parent.matrix if parent else Matrix(), posed_joints(bones))
    knee = max(range(1, len(bones)), key=lambda k: _bend(rest, k).length)
    rest_bend, bend = _bend(rest, knee), _bend(pose, knee)
    rest_line, line = rest[-1] - rest[0], pose[-1] - pose[0]
    if rest_bend.length <= _BENT * rest_line.length or bend.length <= _BENT * line.length:
        return False
    swing = rest_line.rotation_difference(line)
    return swing.angle < _FAR_SWING and (swing @ rest_bend).angle(bend) > _AGAINST


def _in_frame(frame: Matrix, joints: list[Vector]) -> list[Vector]:
    inverse = frame.to_3x3().inverted_safe()
    return [inverse @ joint for joint in joints]


def _bend(joints: list[Vector], knee: int) -> Vector:
    """From the line between the ends of a limb to its knee."""
    line = (joints[-1] - joints[0]).normalized()
    offset = joints[knee] - joints[0]
    return offset - line * offset.dot(line)


def moved_afterwards(chains: Mapping[ChainName, Sequence[str]], with_idle: bool) -> set[ChainName]:
    """The chains that may end elsewhere than they were solved to.

    Constraints and drivers of their bones act after the solution. So does what follows a chain by constraints or
    drivers, if another chain reads it, or the chain itself.
    chains: all live chains of a scene, each with the names of the bones that it turns, its root first.
    with_idle: True if constraints count that are off, and that no animation switches on.
    """
    turned = {(chain.armature, name) for chain, names in chains.items() for name in names}
    constraints: dict[str, list[tuple[bpy.types.PoseBone, bpy.types.Constraint]]] = {}
    known = Known()
    found = set()
    for chain, names in chains.items():
        ob, own = armature_named(chain.armature), set(names)
        if chain.armature not in constraints:
            pairs = ((bone, each) for bone, each in constraints_of(ob) if isinstance(bone, bpy.types.PoseBone))
            acting = [(bone, each) for bone, each in pairs if not is_tie(each)]
            animated = set(animated_paths(ob)) if acting else set()
            acting = [pair for pair in acting if with_idle or may_act(pair[1], animated)]
            constraints[chain.armature] = acting
        if (
            any(bone.name in own or own & taken_by(each, bone) for bone, each in constraints[chain.armature])
            or any(True for name in names for _ in placing_drivers(ob, name, turned=True))
            or _follows(ob.pose.bones[chain.tip], names[0], turned, known)
        ):
            found.add(chain)
    return found


def _follows(tip: bpy.types.PoseBone, root: str, turned: set[tuple[str, str]], known: Known) -> bool:
    """Whether what a chain reads follows the bones of chains by constraints or drivers, and does not hang on them."""
    for ob, bone_name, turns in read_by(tip, root):
        near = {(owner.name_full, bone.name) for owner, bone in carriers(ob, bone_name)}
        far = {(owner.name_full, bone.name) for owner, bone in followed_bones(ob, bone_name, turns, known)}
        if not turned.isdisjoint(far - near):
            return True
    return False
