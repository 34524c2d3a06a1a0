"""How a scene's chains are solved: a plan for each armature, or for several that are linked (plan.py).

When something changes only those plans are looked at that are made of it, and only those that no longer hold are made
anew. So rigging the hundredth character costs what the first one cost.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import bpy

from ... import messages
from ...solvers import ChainError
from ..blender.animation import unchanged
from ..blender.armatures import armature_objects, is_evaluated_in
from ..blender.evaluation import Graphs
from ..blender.sampling import time_is_plain
from ..model.order import ChainName, KnownOrders, live_tips, objects_of, objects_read, tips_of
from ..pose.reading import SceneReader
from ..pose.solving import PlannedChain, ScenePass
from .armature_plan import ArmaturePlan
from .plan import LinkedPlan


@dataclass(slots=True)
class _Evaluation:
    """What the handlers before an evaluation leave to those after it.

    pending: something was changed before the frame that was not evaluated yet. settled: after the frame there is
    nothing to solve and nothing to compare. tagged: armature objects that were changed before the update. writing,
    early: the armatures of which chains may have been written, and those of which chains were, before the update.
    """

    pending: bool = False
    settled: bool = False
    tagged: set[bpy.types.Object] = field(default_factory=set)
    writing: list[ArmaturePlan] = field(default_factory=list)
    early: list[ArmaturePlan] = field(default_factory=list)


class ScenePlan:
    """How the chains of a scene are solved.

    unsteady, tied: see LinkedPlan; of all of them.
    layer: name of the view layer that was evaluated when it was made. orders: of chains that are read anew each time.
    at_hand: of the frame or update at hand. doubtful: something may have changed of which nobody was told.
    """

    def __init__(self, depsgraph: bpy.types.Depsgraph) -> None:
        self.doubtful, self.at_hand = False, _Evaluation()
        self.layer = depsgraph.view_layer.name
        self._scene = depsgraph.scene.name_full
        self._plain_time = time_is_plain(depsgraph.scene)
        self._parts: list[LinkedPlan] = []
        self._stale: list[LinkedPlan] = []
        self._new: set[bpy.types.Object] = set()
        self._without: set[int] = set()
        self._not_evaluated: list[bpy.types.Object] = []
        self._reading: dict[str, list[LinkedPlan]] = {}
        self._part_of: dict[int, LinkedPlan] = {}
        self._following: dict[int, list[ArmaturePlan]] = {}
        self._replace([], [])

    def _replace(self, old: Collection[LinkedPlan], new: Sequence[LinkedPlan]) -> None:
        self._part_of = {uid: part for uid, part in self._part_of.items() if part not in old}
        for part in old:
            for name in part.names:
                self._reading[name].remove(part)
            for armature in part.armatures:
                for uid in armature.reads:
                    self._following[uid].remove(armature)
        for part in new:
            for name in part.names:
                self._reading.setdefault(name, []).append(part)
            self._part_of |= {ob.session_uid: part for ob in part.objects}
            for armature in part.armatures:
                for uid in armature.reads:
                    self._following.setdefault(uid, []).append(armature)
        self._parts = [*(part for part in self._parts if part not in old), *new]
        self._stale, self._new = [], set()
        self.orders = KnownOrders()
        self.armatures = [armature for part in self._parts for armature in part.armatures]
        self.unsteady = {chain: why for part in self._parts for chain, why in part.unsteady.items()}
        self.tied = all(part.tied for part in self._parts)
        self._switching = [part for part in self._parts if part.switched]
        among = sum(armature.bones for armature in self.armatures)
        for place, armature in enumerate(self.armatures):
            armature.among, armature.place = among, place

    def renew(
        self, done: ScenePass, depsgraph: bpy.types.Depsgraph, obs: Collection[bpy.types.Object]
    ) -> list[ArmaturePlan]:
        """Plan armature objects that one pass has just read: all, or what was to be planned. Returns their plans."""
        with unchanged():
            read = {ob: objects_read(ob) for ob in obs if ob.pose and tips_of(ob)}
            new = [LinkedPlan(done, depsgraph, *each) for each in _linked(read)]
        known = (self._part_of.get(ob.session_uid) for ob in obs)
        self._replace({*self._stale, *(part for part in known if part is not None)}, new)
        self._without |= {ob.session_uid for ob in obs}
        self._without -= {ob.session_uid for ob in read}
        self._not_evaluated = [ob for ob in self._not_evaluated if _exists(ob) and ob not in obs]
        self._not_evaluated += [ob for ob in read if not is_evaluated_in(ob, depsgraph)]
        return [armature for part in new for armature in part.armatures]

    # After an undo

    def found_again(self, objects: Mapping[int, bpy.types.Object]) -> bool:
        """Take the objects as they are now; `holds` says whether what the plan was made of is as it was. False where
        one is gone, or more than keys and poses may be another. objects: by session numbers."""
        if self.stale or self.unsteady or self._switching or self._not_evaluated:
            return False
        self.orders, self.doubtful, self.at_hand = KnownOrders(), True, _Evaluation()
        return all([part.found_again(objects) for part in self._parts])

    def solve_all(self, depsgraph: bpy.types.Depsgraph) -> bool:
        """Solve all chains as the scene is evaluated, and write them. False where that cannot be done."""
        places = SceneReader(depsgraph)
        return all([armature.solve(places) for armature in self.armatures])

    # What no longer holds

    @property
    def stale(self) -> bool:
        """Whether something no longer holds, or is not planned yet."""
        return bool(self._stale or self._new)

    def concerned(self, told: Collection[str] | None) -> list[LinkedPlan]:
        """The parts to be looked at if data-blocks of these names have changed; None: any may have. Armature objects
        that have chains now, and are in no part, are to be planned."""
        told = None if self.doubtful else told
        self._new |= self._unplanned(told)
        if told is None:
            return self._parts
        found = dict.fromkeys(part for name in told for part in self._reading.get(name, ()))
        layer = bpy.context.view_layer
        if self._scene in told and layer is not None:
            # What depends on what has changed.
            found |= dict.fromkeys(part for part in self._parts if part.looks(layer) != part.look)
        return [*found]

    def holds(self, told: Collection[str] | None = None) -> bool:
        """See `hold`, of what is concerned."""
        return self.hold(self.concerned(told))

    def hold(self, parts: Iterable[LinkedPlan]) -> bool:
        """Whether everything that parts were made of is as it was; what is sampled of that is to be seen anew. What
        does not hold any more is to be planned anew."""
        self.doubtful, layer = False, bpy.context.view_layer
        with unchanged():
            for part in parts:
                part.restructured()
                if not part.intact():
                    self.drop([part])
                    continue
                # Other data-blocks may concern it now.
                names = part.names_now()
                for name in part.names - names:
                    self._reading[name].remove(part)
                for name in names - part.names:
                    self._reading.setdefault(name, []).append(part)
                part.names = names
                if layer is not None:
                    part.look = part.looks(layer)
        return not self.stale

    def objects_of(self, parts: Iterable[LinkedPlan]) -> list[bpy.types.Object]:
        """The armature objects of parts, and those that are in none and are to be planned."""
        # Exporters make copies and remove them.
        return [ob for ob in (*(ob for part in parts for ob in part.objects), *self._new) if _exists(ob)]

    def _unplanned(self, told: Collection[str] | None) -> set[bpy.types.Object]:
        """Armature objects that have chains and are in no part, of those that may have changed."""
        return {
            ob
            for ob in armature_objects()
            if ob.session_uid not in self._part_of
            and (
                told is None
                or ob.session_uid not in self._without
                or not {ob.name_full, ob.data.name_full}.isdisjoint(told)
            )
            and ob.pose
            and tips_of(ob)
        }

    def drop(self, parts: Iterable[LinkedPlan]) -> None:
        self._stale += [part for part in parts if part not in self._stale]

    def to_be_planned(self) -> list[bpy.types.Object]:
        """The armature objects that are to be planned anew, with those that they move, or are moved by."""
        found: dict[bpy.types.Object, None] = {}
        waiting = self.objects_of(self._stale)
        while waiting:
            ob = waiting.pop()
            if ob in found:
                continue
            found[ob] = None
            waiting += [each for part in self._reading.get(ob.name_full, ()) for each in part.objects if _exists(each)]
            if ob.pose:
                waiting += [each for each in objects_read(ob) if each.pose and tips_of(each)]
        return [*found]

    def looks_the_same(self, tagged: Iterable[bpy.types.Object]) -> bool:
        """Whether armature objects have only been posed, or settings of their chains changed, as far as a glance
        tells."""
        parts = {ob: self._part_of.get(ob.session_uid) for ob in tagged}
        return all(part is not None and part.looks_the_same(ob) for ob, part in parts.items())

    def intact(self) -> bool:
        return not self._unplanned(None) and all([part.intact() for part in self._parts])

    def is_shown(self, depsgraph: bpy.types.Depsgraph) -> bool:
        """Whether the armatures of all planned chains are evaluated here."""
        found = (armature.object for armature in self.armatures)
        return all(ob is not None and is_evaluated_in(ob, depsgraph) for ob in found)

    def misses(self, depsgraph: bpy.types.Depsgraph) -> bool:
        """Whether armatures are evaluated here that were not where the plan was made: in another view layer."""
        return any(_exists(ob) and is_evaluated_in(ob, depsgraph) for ob in self._not_evaluated)

    # Before and after frames and updates

    def before_frame(self, scene: bpy.types.Scene, graphs: Graphs) -> bool:
        """See ArmaturePlan. False where the plan holds no more."""
        holds, settled = True, not self.unsteady and not self._switching and not self.stale
        if time_is_plain(scene) != self._plain_time:
            self._plain_time = not self._plain_time
            for armature in self.armatures:
                armature.doubt()
        self.at_hand.writing = self._known()
        for armature in self.at_hand.writing:
            holds &= armature.before_frame(scene, graphs)
            settled &= armature.written.settled
        self.at_hand.settled = settled
        return holds

    def after_frame(self, places: SceneReader, anew: bool) -> bool:
        """See ArmaturePlan. False where the plan holds no more."""
        self._look_at_switches(places)
        return all([each.after_frame(places, anew) for each in self._known()])

    def before_update(self, depsgraph: bpy.types.Depsgraph, moved: set[str], graphs: Graphs) -> bool:
        """See ArmaturePlan. False where the plan holds no more."""
        parts = dict.fromkeys(part for name in moved for part in self._reading.get(name, ()))
        writing = self.at_hand.writing = [armature for part in parts for armature in part.armatures]
        held = all([armature.before_update(depsgraph, moved, graphs) for armature in writing])
        self.at_hand.early = [armature for armature in writing if armature.written.early]
        return held

    def update(self, places: SceneReader, changed: set[int]) -> bool:
        """Solve the chains that read one of the objects with these session numbers. False: the plan holds no more."""
        self._look_at_switches(places)
        following = (armature for uid in changed for armature in self._following.get(uid, ()))
        concerned = dict.fromkeys((*following, *self.at_hand.early))
        if self._stale:
            known = {*map(id, self._known())}
            concerned = [armature for armature in concerned if id(armature) in known]
        self.at_hand.early = []
        return all([armature.after_update(places, changed) for armature in concerned])

    def _known(self) -> list[ArmaturePlan]:
        """The planned armatures but for those that are to be planned anew."""
        if not self._stale:
            return self.armatures
        return [armature for part in self._parts if part not in self._stale for armature in part.armatures]

    def _look_at_switches(self, places: SceneReader) -> None:
        """What animation has switched on or off is to be planned anew."""
        self.drop([part for part in self._switching if not part.is_switched_so(places.depsgraph)])

    def read_anew(
        self, changed: Collection[bpy.types.Object] | None = None
    ) -> tuple[set[ChainName], list[bpy.types.Object]]:
        """The chains that are read anew each time, where they read one of these objects, None: all of them; and the
        armature objects of these and those that are linked with them."""
        parts = self._parts
        if changed is not None:
            parts = dict.fromkeys(part for ob in changed for part in self._reading.get(ob.name_full, ()))
        parts = [part for part in parts if part.unsteady and part not in self._stale]
        obs = {ob.name_full: ob for part in parts for ob in part.objects if _exists(ob)}
        found = {chain for part in parts for chain in part.unsteady if chain.armature in obs}
        if changed is not None:
            tips = {chain: obs[chain.armature].pose.bones.get(chain.tip) for chain in found}
            found = {chain for chain, tip in tips.items() if tip and not set(objects_of(tip)).isdisjoint(changed)}
        return found, [*obs.values()]

    def tag_untied(self) -> list[bpy.types.Object]:
        """Have armature objects evaluated of which chains were written that nothing ties to their controls."""
        own = (armature.object for armature in self.at_hand.writing if armature.is_to_be_tagged())
        found = [ob for ob in own if ob is not None]
        for ob in found:
            ob.update_tag(refresh={"OBJECT"})
        return found

    def waked(self, depsgraph: bpy.types.Depsgraph, among: Iterable[bpy.types.Object]) -> set[bpy.types.Object]:
        """Of some armature objects those that nothing but their chains poses anew when they were not changed
        themselves."""
        parts = {self._part_of.get(ob.session_uid) for ob in among} - {None}
        own = (
            armature.object
            for part in parts
            if part not in self._stale
            for armature in part.armatures
            if armature.is_alone() and not armature.plays(depsgraph)
        )
        return {ob for ob in own if ob is not None}

    def silences(self) -> set[int]:
        """Session numbers of the armature objects whose F-Curves are silent for what was written before this frame."""
        found = (armature.object for armature in self._known() if armature.written.silences)
        return {ob.session_uid for ob in found if ob is not None}

    # What is known of chains

    def knows_chains_of(self, ob: bpy.types.Object) -> bool:
        """Whether an armature object has the chains that it had: one that was switched off is shown no more."""
        part = self._part_of.get(ob.session_uid)
        known = part.chains.get(ob.name_full, {}).keys() if part is not None else ()
        return bool(known) and known == set(live_tips(ob))

    def turned(self) -> dict[ChainName, list[str]]:
        """The live chains that have a place in the order, each with the names of the bones that it turns."""
        return {
            ChainName(armature, tip): names
            for part in self._parts
            for armature, own in part.chains.items()
            for tip, names in own.items()
        }

    def was_solved(self, chain: ChainName) -> tuple[bool | None, ChainError | None]:
        """Whether a chain was solved when it was planned, None: it was not on; and why it has no place in the order."""
        parts = [part for part in self._reading.get(chain.armature, ()) if chain in part.solved]
        return (parts[0].solved[chain], parts[0].misplaced.get(chain)) if parts else (None, None)

    @property
    def limbs(self) -> dict[ChainName, list[ChainName]]:
        """The bones that follow their limbs, with these."""
        return {body: limbs for part in self._parts for body, limbs in part.limbs.items()}

    def planned(self) -> dict[ChainName, PlannedChain]:
        found = (chain for armature in self.armatures for chain in armature.chains)
        return {ChainName(chain.model.armature, chain.model.tip): chain for chain in found}

    def planned_of(self, ob: bpy.types.Object) -> dict[str, PlannedChain]:
        part = self._part_of.get(ob.session_uid)
        own = (armature for armature in (part.armatures if part else ()) if armature.object == ob)
        return {chain.model.tip: chain for armature in own for chain in armature.chains}

    def is_switched(self, chain: ChainName) -> bool:
        return any(part.is_switched(chain) for part in self._switching)

    def reasons(self, scene: bpy.types.Scene) -> dict[ChainName, str]:
        """For each planned chain what keeps its controls from being sampled; "": nothing."""
        found = [why for armature in self.armatures for why in armature.reasons(scene)]
        return dict(zip(self.planned(), found, strict=True))

    def way_of(self, scene: bpy.types.Scene, chain: ChainName) -> str:
        """How a chain is solved at frame changes, as a sentence; "": it is not known."""
        if chain in self.unsteady:
            return messages.READ_ANEW(why=self.unsteady[chain])
        for armature in (each for part in self._reading.get(chain.armature, ()) for each in part.armatures):
            why = armature.way_of(scene, chain.tip) if armature.models[0].armature == chain.armature else None
            if why is not None:
                return messages.SOLVED_AFTER(why=why) if why else messages.SOLVED_BEFORE()
        # It is off just now.
        return messages.SOLVED_AFTER(why=messages.SWITCH_ANIMATED()) if self.is_switched(chain) else ""


def _exists(ob: bpy.types.Object) -> bool:
    try:
        return ob.pose is not None
    except ReferenceError:
        return False


_Read = dict[bpy.types.Object, set[bpy.types.Object]]


def _linked(read: _Read) -> Iterator[tuple[list[bpy.types.Object], set[bpy.types.Object]]]:
    """Armature objects, each with the objects that it is read from, as groups that are linked: these, and what they are
    read from."""
    waiting = dict(read)
    readers: _Read = {}
    for ob, own in read.items():
        for each in own & read.keys():
            readers.setdefault(each, set()).add(ob)
    while waiting:
        group, found = [next(iter(waiting))], set()
        for ob in group:
            if waiting.pop(ob, None) is not None:
                found |= read[ob]
                group += [each for each in (*readers.get(ob, ()), *(read[ob] & read.keys())) if each in waiting]
        yield [*dict.fromkeys(group)], found
