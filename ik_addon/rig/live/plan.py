"""How a scene's chains are solved: before the frame from sampled F-Curves, after it from kept numbers, or read anew.

A plan is made of what one pass over the scene has read, and holds until something that it was made of changes: that is
compared (`Plan.holds`) whenever Blender says that something may have. Only plain data is kept, and the armature objects
themselves: to find them by name Blender looks through all objects of the file. It tells when one of them is gone.
"""

from collections.abc import Collection, Iterable

import bpy

from ... import messages
from ..blender.armatures import armature_objects, is_evaluated_in, posed_armatures
from ..blender.evaluating import Graphs
from ..data.relation import is_tied
from ..data.switch import switched_tips
from ..model.body import bodies_of, following_bones
from ..model.limb_model import animated_bones
from ..model.order import ChainName, KnownOrders, live_tips, tips_of
from ..pose.planned import planned_chains
from ..pose.solving import ScenePass
from ..pose.sources import EvaluatedPlaces
from ..pose.tracks import PlannedChain
from .armature_plan import ArmaturePlan
from .preparing import tieable_tips
from .signature import signature


class Plan:
    """How the chains of a scene are solved.

    unsteady: the chains that are read anew each time, with the reason. solved: the chains that were solved when it was
    made; unsolved: the others that were on; misplaced: of those the ones without a place in the order, with the error.
    limbs: the bones that follow their limbs, with these; unfit: those that cannot, with the error.
    layer: name of the view layer that was evaluated then. tied: all of them are tied to their controls (relation.py).
    pending: something was changed before this frame that was not evaluated yet. tagged: armature objects that were
    changed before the update at hand.
    settled: after this frame there is nothing to solve and nothing to compare. doubtful: something may have changed of
    which nobody was told.
    """

    def __init__(self, done: ScenePass, depsgraph: bpy.types.Depsgraph) -> None:
        self.settled = self.doubtful = self.pending = False
        self.tagged: set[bpy.types.Object] = set()
        self.orders = KnownOrders()
        self.layer = depsgraph.view_layer.name
        self.unsteady: dict[ChainName, str] = {}
        self.armatures: list[ArmaturePlan] = []
        self._armature_of: dict[int, ArmaturePlan] = {}
        self._chains: dict[str, dict[str, list[str]]] = {}
        self._switched: dict[bpy.types.Object, dict[str, bool | None]] = {}
        order = done.order
        self.solved = frozenset(done.limbs)
        self.unsolved = frozenset(done.errors)
        self.misplaced = dict(order.errors)
        self.limbs = dict(order.limbs)
        self.unfit = dict(done.unfit)
        self._bodies: dict[str, list[str]] = {}
        movers = set().union(*order.movers.values())
        armatures = [ob for ob in armature_objects() if ob.pose]
        self.tied = all(is_tied(*each) for each in tieable_tips(order, posed_armatures(depsgraph)))
        self._not_evaluated = []
        for ob in armatures:
            if not is_evaluated_in(ob, depsgraph) and tips_of(ob):
                self._not_evaluated.append(ob)
            self._bodies[ob.name_full] = following_bones(ob)
            turned = order.turned_by(ob.name_full)
            self._chains[ob.name_full] = {
                tip: [*dict.fromkeys((*names, *turned[tip]))] for tip, names in order.chains_of(ob.name_full).items()
            }
            limbs, bodies = {}, _bodies(done, ob, movers)
            followed = {tip for _, moved in bodies.values() for tip in moved}
            for chain in order.of.get(ob.name_full, ()):
                posed = done.limbs.get(chain)
                if posed is None:
                    self.unsteady[chain] = str(done.errors[chain])
                elif chain in order.circular:
                    self.unsteady[chain] = messages.MOVES_ITSELF()
                elif chain.tip not in followed and (order.movers[chain] or chain in movers):
                    body = next((mover.tip for mover in order.movers[chain] if mover in order.limbs), "")
                    with_body = messages.MOVES_WITH_BODY(bone=body) if body else ""
                    self.unsteady[chain] = with_body or messages.MOVES_WITH_OTHERS()
                else:
                    limbs[chain.tip] = posed
            planned = planned_chains(ob, limbs, bodies, animated_bones(ob), depsgraph) if limbs else {}
            for tip, found in planned.items():
                if isinstance(found, PlannedChain):
                    # A toe may be turned at another frame.
                    names = self._chains[ob.name_full][tip]
                    names += [name for name in found.model.touched if name not in names]
                else:
                    self.unsteady[ChainName(ob.name_full, tip)] = found
            own = [found for found in planned.values() if isinstance(found, PlannedChain)]
            switched = switched_tips(ob)
            if switched:
                self._switched[ob] = _switches(ob.evaluated_get(depsgraph), switched)
            if own:
                late = {tip: messages.SWITCH_ANIMATED() for tip in switched}
                self.armatures.append(ArmaturePlan(ob, own, late))
                self._armature_of[ob.session_uid] = self.armatures[-1]
        among = sum(armature.bones for armature in self.armatures)
        for place, armature in enumerate(self.armatures):
            armature.among, armature.place = among, place
        self.unsteady |= {chain: str(error) for chain, error in order.errors.items()}
        self._signature = self._made_of()

    def holds(self) -> bool:
        """Whether everything that the plan was made of is as it was; what is sampled is to be seen anew."""
        self.doubtful = False
        for armature in self.armatures:
            armature.restructured()
        return self.intact()

    def looks_the_same(self, tagged: Iterable[bpy.types.Object]) -> bool:
        """Whether armature objects have only been posed, or settings of their chains changed, as far as a glance
        tells."""
        own = [self._armature_of.get(ob.session_uid) for ob in tagged]
        steady = {model.armature for armature in own if armature is not None for model in armature.models}
        unsteady = {chain.armature for chain in (*self.unsteady, *self.unsolved)}
        return (
            steady.isdisjoint(unsteady)
            and all(armature is not None and armature.is_up_to_date() for armature in own)
            and all(self._chains.get(ob.name_full, {}).keys() == set(live_tips(ob)) for ob in tagged)
            and all(self._bodies.get(ob.name_full, []) == following_bones(ob) for ob in tagged)
        )

    def intact(self) -> bool:
        """Whether everything that the plan was made of is as it was."""
        return self._made_of() == self._signature and all([armature.is_up_to_date() for armature in self.armatures])

    def is_shown(self, depsgraph: bpy.types.Depsgraph) -> bool:
        """Whether the armatures of all planned chains are evaluated here."""
        found = (armature.object for armature in self.armatures)
        return all(ob is not None and is_evaluated_in(ob, depsgraph) for ob in found)

    def misses(self, depsgraph: bpy.types.Depsgraph) -> bool:
        """Whether armatures are evaluated here that were not where the plan was made: in another view layer."""
        return any(is_evaluated_in(ob, depsgraph) for ob in self._not_evaluated)

    def _made_of(self) -> dict[str, tuple]:
        found = {}
        for ob in armature_objects():
            tips = tips_of(ob) if ob.pose else ()
            if tips:
                bodies = bodies_of(ob)
                found[ob.name_full] = (tips, bodies, signature(ob, self._chains.get(ob.name_full, {}), bodies))
        return found

    def before_frame(self, scene: bpy.types.Scene, graphs: Graphs) -> bool:
        """See ArmaturePlan. False where the plan holds no more."""
        holds, settled = True, not self.unsteady and not self._switched
        for armature in self.armatures:
            holds &= armature.before_frame(scene, graphs)
            settled &= armature.settled
        self.settled = settled
        return holds

    def after_frame(self, places: EvaluatedPlaces, anew: bool) -> bool:
        """See ArmaturePlan. False where the plan holds no more."""
        return self._is_switched_so(places) and all([armature.after_frame(places, anew) for armature in self.armatures])

    def update(self, places: EvaluatedPlaces, changed: set[int]) -> bool:
        """Solve the chains that read one of the objects with these session numbers. False: the plan holds no more."""
        return self._is_switched_so(places) and all(
            [armature.after_update(places, changed) for armature in self.armatures]
        )

    def is_switched(self, chain: ChainName) -> bool:
        """True if animation switches a chain on and off."""
        return any(ob.name_full == chain.armature and chain.tip in own for ob, own in self._switched.items())

    def _is_switched_so(self, places: EvaluatedPlaces) -> bool:
        """True if all chains that animation switches are on or off as they were when the plan was made."""
        try:
            return all(_switches(ob.evaluated_get(places.depsgraph), own) == own for ob, own in self._switched.items())
        except ReferenceError:
            # The armature is gone.
            return False

    def before_update(self, depsgraph: bpy.types.Depsgraph, moved: set[str], graphs: Graphs) -> bool:
        """See ArmaturePlan. False where the plan holds no more."""
        return all([armature.before_update(depsgraph, moved, graphs) for armature in self.armatures])

    def knows_chains_of(self, ob: bpy.types.Object) -> bool:
        """Whether an armature object has the chains that it had: one that was switched off is shown no more."""
        known = self._chains.get(ob.name_full, {}).keys()
        return bool(known) and known == set(live_tips(ob))

    def tag_untied(self) -> list[bpy.types.Object]:
        """Have armature objects evaluated of which chains were written that nothing ties to their controls."""
        own = (armature.object for armature in self.armatures if armature.is_to_be_tagged())
        found = [ob for ob in own if ob is not None]
        for ob in found:
            ob.update_tag(refresh={"OBJECT"})
        return found

    def waked(self, depsgraph: bpy.types.Depsgraph) -> set[bpy.types.Object]:
        """The armature objects that nothing but their chains poses anew when they were not changed themselves."""
        own = (armature.object for armature in self.armatures if armature.is_alone() and not armature.plays(depsgraph))
        return {ob for ob in own if ob is not None}

    def turned(self) -> dict[ChainName, list[str]]:
        """The live chains that have a place in the order, each with the names of the bones that it turns."""
        return {ChainName(armature, tip): names for armature, own in self._chains.items() for tip, names in own.items()}

    def planned(self) -> dict[ChainName, PlannedChain]:
        """The planned chains."""
        found = (chain for armature in self.armatures for chain in armature.chains)
        return {ChainName(chain.model.armature, chain.model.tip): chain for chain in found}

    def planned_of(self, ob: bpy.types.Object) -> dict[str, PlannedChain]:
        """The planned chains of one armature object, by their tips."""
        armature = self._armature_of.get(ob.session_uid)
        return {chain.model.tip: chain for chain in armature.chains} if armature is not None else {}

    def silences(self) -> set[int]:
        """Session numbers of the armature objects whose F-Curves are silent for what was written before this frame."""
        found = (armature.object for armature in self.armatures if armature.silences)
        return {ob.session_uid for ob in found if ob is not None}

    def reasons(self, scene: bpy.types.Scene) -> dict[ChainName, str]:
        """For each planned chain what keeps its controls from being sampled; "": nothing."""
        found = [why for armature in self.armatures for why in armature.reasons(scene)]
        return dict(zip(self.planned(), found, strict=True))

    def way_of(self, scene: bpy.types.Scene, chain: ChainName) -> str:
        """How a chain is solved at frame changes, as a sentence; "": it is not known."""
        if chain in self.unsteady:
            return messages.READ_ANEW(why=self.unsteady[chain])
        for armature in self.armatures:
            for model, why in zip(armature.models, armature.ways or armature.reasons(scene), strict=True):
                if (model.armature, model.tip) == chain:
                    return messages.SOLVED_AFTER(why=why) if why else messages.SOLVED_BEFORE()
        # It is off just now.
        return messages.SOLVED_AFTER(why=messages.SWITCH_ANIMATED()) if self.is_switched(chain) else ""


def _bodies(
    done: ScenePass, ob: bpy.types.Object, movers: Collection[ChainName]
) -> dict[str, tuple[list[str], list[str]]]:
    """Names of the bones of an armature object that follow their limbs, with the tips of these and of all chains that
    they move, where these are moved by nothing else and move nothing. movers: chains and bones that do."""
    order, found = done.order, {}
    for body, limbs in order.limbs.items():
        moved = [chain for chain, own in order.movers.items() if body in own]
        alone = body in done.bodies and not order.movers[body]
        if (
            body.armature == ob.name_full
            and alone
            and all(
                chain in done.limbs
                and chain.armature == body.armature
                and order.movers[chain] == {body}
                and not order.far_movers[chain]
                and chain not in movers
                and chain not in order.circular
                for chain in moved
            )
        ):
            found[body.tip] = [limb.tip for limb in limbs], [chain.tip for chain in moved]
    return found


def _switches(ob: bpy.types.Object, tips: Iterable[str]) -> dict[str, bool | None]:
    """Which chains of an evaluated armature object are on. None: it has no bone of that name, as a copy that Blender
    made before a bone was renamed in Edit Mode."""
    return {tip: getattr(ob.pose.bones.get(tip), "analytic_ik_enabled", None) for tip in tips}
