"""How chains stand at present, to be shown: measured on what Blender evaluated; nothing is written.

Where a tip is at its target, that says all. Only of other chains it is asked what keeps them from it: of steady ones by
their kept lengths, of the rest by reading and solving them again.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import bpy
from mathutils import Matrix, Vector

from ... import messages
from ...solvers import ChainError, Outcome
from ...solvers.chain import outcome_at, reach_limits
from ...solvers.reach import eased
from ..blender.armatures import is_evaluated_in, posed_armatures
from ..data.relation import place_of
from ..data.settings import Settings, settings_of
from ..live.state import known_plan
from ..model.limb import Limb, chain_bones, end_world, missed_world, posed_joints
from ..model.order import ChainName, ChainOrder, chain_order
from ..pose.reading import SceneReader
from ..pose.solving import solve_limb
from ..pose.sources import EvaluatedPlaces
from ..pose.steady import SteadyChain
from ..pose.track_reading import wishes_at
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
        self._steady = {tip: chain.steady for tip, chain in planned.items() if chain.steady is not None}
        self._places = EvaluatedPlaces(depsgraph)
        self._scene = SceneReader(depsgraph)
        self._known: dict[str, ChainState] = {}

    @cached_property
    def _order(self) -> ChainOrder:
        found = posed_armatures(self._depsgraph)
        return chain_order(ob.evaluated_get(self._depsgraph) for ob in found)

    def of(self, tip: str) -> ChainState:
        """The state of the chain of a tip."""
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
        chain, plan = ChainName(self._ob.name_full, tip), self._plan
        if not self._is_on(tip) or (plan is not None and chain in plan.solved and self._is_posed):
            return None
        if plan is not None and chain in plan.unsolved:
            # It may read well, and what it reads cannot be solved.
            return self.of(tip).problem
        limb = self._read(tip)
        return fault_of(tip, limb) if isinstance(limb, ChainError) else None

    def _found(self, tip: str) -> ChainState:
        if not self._is_on(tip):
            return ChainState("OFF", sentence=messages.SWITCHED_OFF(bone=tip))
        if self._is_steady(tip):
            return self._of_steady(self._steady[tip])
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

    def _of_steady(self, chain: SteadyChain) -> ChainState:
        tip = chain.model.tip
        settings = settings_of(self._evaluated_tip(tip))
        target_world = self._target_world(settings)
        missed = (end_world(self._evaluated_tip(tip)) - target_world).length
        length = self._length_world(tip, settings)
        if missed <= ARRIVED * length:
            return ChainState("MET", missed)
        try:
            wishes = wishes_at(self._places, self._ob, chain.model)
            # What limits keep it from takes more than its lengths to tell.
            outcome = chain.solve(wishes)[1] if chain.chain.limits else None
        except ChainError as error:
            return self._broken(tip, error)
        distance, expected = (wishes.target - chain.root).length, 0.0
        if outcome is None:
            outcome = outcome_at(distance, *reach_limits(chain.chain.lengths)[0])
        if outcome is Outcome.REACHED and settings.softness:
            root = self._evaluated.pose.bones[chain.model.bones[0]]
            lag = 1.0 - eased(distance, chain.chain.length, settings.softness) / distance
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

    def _is_steady(self, tip: str) -> bool:
        """Whether the chain of a tip is known to be sound, and its kept numbers hold."""
        return tip in self._steady and self._is_posed and self._evaluated_tip(tip).analytic_ik_target is not None

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
        chain = ChainName(self._ob.name_full, tip)
        plan = self._plan
        known = plan is not None and (chain in plan.solved or chain in plan.unsolved)
        misplaced = plan.misplaced if plan is not None and known else self._order.errors
        return read_chain(self._scene, chain, misplaced.get(chain))

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

    def _target_world(self, settings: Settings) -> Vector:
        """Where the target of a chain that is known to be sound is."""
        assert settings.target is not None
        world, pose = place_of(settings.target, settings.subtarget, self._depsgraph)
        return (world @ (pose or Matrix())).to_translation()


def states_of(ob: bpy.types.Object, tips: Iterable[str], depsgraph: bpy.types.Depsgraph) -> dict[str, ChainState]:
    """How the chains of these tips of an original armature object stand, as the depsgraph evaluated them."""
    states = States(ob, depsgraph)
    return {tip: states.of(tip) for tip in tips}
