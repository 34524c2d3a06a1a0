"""How the chains of linked armatures are solved: before the frame from sampled F-Curves, after it from kept numbers,
or read anew. Armatures are linked where one reads the other's bones: their chains may move each other.

A plan is made of what one pass over these armatures has read, and holds until something that it was made of changes:
that is compared (`LinkedPlan.holds`) whenever Blender says that something may have. Only plain data is kept, and the
objects themselves: to find them by name Blender looks through all objects of the file. It tells when one of them is
gone.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

import bpy

from ... import messages
from ..blender.armatures import posed_armatures
from ..blender.dependencies import Known, followed_bones, goes_along
from ..data.relation import in_any_collection, is_tied
from ..data.settings import (
    JOINT_SETTINGS,
    PREFIX,
    SAMPLED_SETTINGS,
    Settings,
    switched_tips,
    target_and_pole,
)
from ..model.body import bodies_of, following_bones
from ..model.limb_model import AnimatedBones, animated_bones
from ..model.order import ChainName, live_tips, objects_read, tips_of
from ..pose.planned import planned_chains
from ..pose.solving import PlannedChain, ScenePass
from .armature_plan import ArmaturePlan
from .ties import tieable_tips

_OF_BONE = attrgetter(
    "rotation_mode",
    *(f"{what}_{axis}" for what in ("lock_ik", "use_ik_limit", "ik_min", "ik_max") for axis in "xyz"),
    *(PREFIX + name for name in (*JOINT_SETTINGS, "straight_axis", "body_direction", "body_turn")),
    *(f"bone.{name}" for name in ("length", "use_connect", "use_inherit_rotation", "use_local_location")),
    *(f"bone.{name}" for name in ("use_relative_parent", "inherit_scale")),
)
_OF_TIP = attrgetter(
    *(PREFIX + name for name in Settings.__slots__ if name not in (*SAMPLED_SETTINGS, "target", "pole_target"))
)


def glance(
    ob: bpy.types.Object, chains: Mapping[str, Sequence[str]], bodies: Sequence[str], rolling: Collection[str]
) -> tuple:
    """What an original armature object looks like to its chains, but for what may change from frame to frame.

    chains: names of the bones of each, and of those that it turns too, by its tip. bodies: of those that follow their
    limbs. rolling: tips of chains whose foot roll is animated. Objects are in it by their session numbers, which
    outlive an undo.
    """
    bones, data = ob.pose.bones, ob.animation_data
    names = dict.fromkeys(name for each in (bodies, *chains.values()) for name in each)
    own: list[bpy.types.PoseBone] = [bone for bone in map(bones.get, names) if bone is not None]
    tips = [tip for tip in map(bones.get, chains) if tip is not None]
    ends = {tip.analytic_ik_end_bone for tip in tips}
    roots = [bone for bone in own if bone.parent is not None and bone.parent.name not in names]
    above = {bone.name: bone for root in roots for bone in root.parent_recursive if bone.name not in names}
    above |= {name: bones[name] for name in ends if name in bones}
    controls = [control for tip in tips for control, _ in target_and_pole(tip)]
    if bodies:
        # What goes along with a body.
        above |= {each.name: each for bone in _read(ob, (), tips) for each in (bone, *bone.parent_recursive)}
    return (
        ob.mode,
        ob.data.pose_position,
        _uid(ob.parent),
        len(data.drivers) if data else 0,
        [(_OF_BONE(bone), bone.parent and bone.parent.name) for bone in own],
        [
            (bone.name, bone.bone.matrix_local.copy(), [each.mute for each in bone.constraints])
            for bone in (*own, *above.values())
        ],
        [(tip.name in rolling or tip.analytic_ik_foot_roll != 0.0, _settings(tip)) for tip in tips],
        [(_uid(each.parent), len(each.constraints)) for each in controls],
    )


def signature(ob: bpy.types.Object, chains: Mapping[str, Sequence[str]], bodies: Sequence[str]) -> tuple:
    """What else an original armature object's chains are read from: what is animated of their bones, and which bones
    move what they read. chains, bodies: see `glance`."""
    animated, known, bones = animated_bones(ob), Known(), ob.pose.bones
    chains = {name: [name] for name in bodies} | dict(chains)
    parents = [bones[own[0]].parent for own in chains.values() if own[0] in bones]
    # Also of tips that have no place in the order: mended, they may take bones from others.
    tips = [tip for tip in map(bones.get, dict.fromkeys((*chains, *live_tips(ob)))) if tip is not None]
    return (
        [animated.get(name) for own in chains.values() for name in own],
        [_moved_by(ob, parent.name if parent else "", known) for parent in dict.fromkeys(parents)],
        [_carried(bone, bodies) for bone in _read(ob, parents, tips)] if bodies else (),
        [
            (
                is_tied(tip),
                [_control(*each, known) for each in target_and_pole(tip)],
                tip.name in chains or _settings(tip),
            )
            for tip in tips
        ],
    )


def _settings(tip: bpy.types.PoseBone) -> tuple:
    controls = tip.analytic_ik_target, tip.analytic_ik_pole_target
    return _OF_TIP(tip), *map(_uid, controls), *tip.analytic_ik_record_rotation


def _read(
    ob: bpy.types.Object, parents: Iterable[bpy.types.PoseBone | None], tips: Iterable[bpy.types.PoseBone]
) -> Iterator[bpy.types.PoseBone]:
    yield from filter(None, parents)
    for control, name in (each for tip in tips for each in target_and_pole(tip)):
        if control == ob and name in ob.pose.bones:
            yield ob.pose.bones[name]


def _carried(bone: bpy.types.PoseBone, bodies: Sequence[str]) -> tuple[list[str], list[str]]:
    """Which bodies carry a bone, and which bones of those on the way up need not go where they go."""
    line = [bone, *bone.parent_recursive]
    return [each.name for each in line if each.name in bodies], [each.name for each in line if not goes_along(each)]


def _control(ob: bpy.types.Object, bone_name: str, known: Known) -> tuple:
    """Whether a control is still there and evaluated, and the bones that move it."""
    return in_any_collection(ob), *_moved_by(ob, bone_name, known)


def _moved_by(ob: bpy.types.Object, bone_name: str, known: Known) -> list[tuple[int, str]]:
    """The bones that carry an object or a bone, or that it follows in any other way."""
    return [(owner.session_uid, bone.name) for owner, bone in followed_bones(ob, bone_name, known=known)]


def _uid(ob: bpy.types.Object | None) -> int | None:
    return ob and ob.session_uid


class _Made(NamedTuple):
    """What the chains of one armature object were made of. look, rest: see `glance` and `signature`."""

    tips: tuple[str, ...]
    bodies: list[str]
    look: tuple
    rest: tuple


class LinkedPlan:
    """How the chains of linked armature objects are solved.

    objects: the armature objects. names: of all data-blocks that their chains are read from, and of what these play.
    unsteady: the chains that are read anew each time, with the reason. solved: of the chains that were on when it was
    made whether they were solved; misplaced: of those the ones without a place in the order, with the error. limbs: the
    bones that follow their limbs, with these. look: what `looks` gave when it last held.
    tied: all of them are tied to their controls (relation.py). switched: which chains animation has switched on or off.
    """

    def __init__(
        self,
        done: ScenePass,
        depsgraph: bpy.types.Depsgraph,
        objects: Sequence[bpy.types.Object],
        read: Collection[bpy.types.Object],
    ) -> None:
        """objects: original armature objects that a pass has just read; read: all objects that they are read from."""
        self.objects = [*objects]
        self._read = [*read]
        self._uids = [ob.session_uid for ob in self.objects], [ob.session_uid for ob in self._read]
        self._named = {*map(_name, read)}
        self.names = self.names_now()
        self.unsteady: dict[ChainName, str] = {}
        self.armatures: list[ArmaturePlan] = []
        self.chains: dict[str, dict[str, list[str]]] = {}
        self.switched: dict[bpy.types.Object, dict[str, bool | None]] = {}
        self._rolling: dict[str, list[str]] = {}
        order = done.order
        own = {ob.name_full for ob in objects}
        chains = [chain for name in own for chain in order.of.get(name, ())]
        self.solved = {chain: False for chain in done.errors if chain.armature in own}
        self.solved |= {chain: True for chain in chains if chain in done.limbs}
        self.misplaced = {chain: error for chain, error in order.errors.items() if chain.armature in own}
        self.limbs = {body: limbs for body, limbs in order.limbs.items() if body.armature in own}
        self._bodies: dict[str, list[str]] = {}
        movers = set().union(*(order.movers[each] for each in (*chains, *self.limbs)))
        self.tied = all(is_tied(*each) for each in tieable_tips(order, posed_armatures(depsgraph, objects)))
        for ob in objects:
            self._bodies[ob.name_full] = following_bones(ob)
            turned = order.turned_by(ob.name_full)
            self.chains[ob.name_full] = {
                tip: [*dict.fromkeys((*names, *turned[tip]))] for tip, names in order.chains_of(ob.name_full).items()
            }
            bodies, animated = _bodies(done, ob, [*chains, *self.limbs], movers), animated_bones(ob)
            self._rolling[ob.name_full] = [tip for tip in tips_of(ob) if "foot_roll" in animated.get(tip, ())]
            found = self._planned(done, ob, bodies, movers, animated)
            switched = switched_tips(ob)
            if switched:
                self.switched[ob] = _switches(ob.evaluated_get(depsgraph), switched)
            if found:
                late = {tip: messages.SWITCH_ANIMATED() for tip in switched}
                self.armatures.append(ArmaturePlan(ob, found, late))
        self.unsteady |= {chain: str(error) for chain, error in self.misplaced.items()}
        self._signature, self.look = self._made_of(), self.looks(depsgraph.view_layer)

    def _planned(
        self,
        done: ScenePass,
        ob: bpy.types.Object,
        bodies: "_Bodies",
        movers: Collection[ChainName],
        animated: AnimatedBones,
    ) -> list[PlannedChain]:
        """The chains of an armature object that can be planned; the others become unsteady."""
        order, limbs = done.order, {}
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
        found = []
        for tip, own in (planned_chains(ob, limbs, bodies, animated, done.reader) if limbs else {}).items():
            if isinstance(own, PlannedChain):
                # A toe may be turned at another frame.
                names = self.chains[ob.name_full][tip]
                names += [name for name in own.model.touched if name not in names]
                found.append(own)
            else:
                self.unsteady[ChainName(ob.name_full, tip)] = own
        return found

    def found_again(self, objects: Mapping[int, bpy.types.Object]) -> bool:
        """After an undo: take the objects as they are now. False where one is gone. objects: by session numbers."""
        if not objects.keys() >= {uid for uids in self._uids for uid in uids}:
            return False
        self.objects, self._read = ([objects[uid] for uid in uids] for uids in self._uids)
        for armature in self.armatures:
            armature.found_again(objects)
        return True

    def restructured(self) -> None:
        """What is sampled is to be seen anew."""
        for armature in self.armatures:
            armature.restructured()

    def looks_the_same(self, ob: bpy.types.Object) -> bool:
        """Whether an armature object of its has only been posed, or settings of its chains changed, as far as a glance
        tells."""
        name, made = ob.name_full, (self._signature or {}).get(ob.name_full)
        unsolved = (chain for chain, is_solved in self.solved.items() if not is_solved)
        steady = name not in {chain.armature for chain in (*self.unsteady, *unsolved)}
        own = [armature for armature in self.armatures if armature.object == ob]
        return (
            bool(own)
            and steady
            and made is not None
            and made.look == self._glance(ob, made.bodies)
            and all(armature.is_up_to_date() for armature in own)
            and self.chains.get(name, {}).keys() == set(live_tips(ob))
            and self._bodies.get(name, []) == following_bones(ob)
        )

    def names_now(self) -> frozenset[str]:
        """What `names` has become, where all that it was made of is as it was: another clip may play."""
        return frozenset(name for ob in self._read for name in _names(ob))

    def intact(self) -> bool:
        return (
            self._reads_the_same()
            and self._made_of() == self._signature
            and all([armature.is_up_to_date() for armature in self.armatures])
        )

    def _reads_the_same(self) -> bool:
        try:
            read = set().union(*map(objects_read, self.objects))
            return len(read) == len(self._read) and {*map(_name, read)} == self._named
        except ReferenceError:
            # One of them is gone.
            return False

    def looks(self, layer: bpy.types.ViewLayer) -> list[tuple] | None:
        """What it is read from, as to what Blender changes without naming an object: cleared animation, collections."""
        try:
            return [_look_at(ob, layer) for ob in self._read]
        except ReferenceError:
            # One of them is gone.
            return None

    def _glance(self, ob: bpy.types.Object, bodies: Sequence[str]) -> tuple:
        name = ob.name_full
        return glance(ob, self.chains.get(name, {}), bodies, self._rolling.get(name, ()))

    def _made_of(self) -> "dict[str, _Made] | None":
        found = {}
        try:
            for ob in self.objects:
                tips = tips_of(ob) if ob.pose else ()
                if tips:
                    bodies, chains = bodies_of(ob), self.chains.get(ob.name_full, {})
                    found[ob.name_full] = _Made(tips, bodies, self._glance(ob, bodies), signature(ob, chains, bodies))
        except ReferenceError:
            # One of them is gone.
            return None
        return found

    def is_switched(self, chain: ChainName) -> bool:
        return any(ob.name_full == chain.armature and chain.tip in own for ob, own in self.switched.items())

    def is_switched_so(self, depsgraph: bpy.types.Depsgraph) -> bool:
        """True if all chains that animation switches are on or off as they were when the plan was made."""
        try:
            return all(_switches(ob.evaluated_get(depsgraph), own) == own for ob, own in self.switched.items())
        except ReferenceError:
            # The armature is gone.
            return False


def _name(ob: bpy.types.Object) -> tuple[str, str]:
    return ob.name_full, ob.data.name_full if ob.data is not None else ""


def _names(ob: bpy.types.Object) -> Iterator[str]:
    """The full names of an object, of its data, and of the actions that these play: as Blender says what changed."""
    for owner in (ob, ob.data):
        if owner is None:
            continue
        yield owner.name_full
        data = getattr(owner, "animation_data", None)
        if data is not None:
            strips = (strip.action for track in data.nla_tracks for strip in track.strips)
            yield from (action.name_full for action in (data.action, *strips) if action is not None)


def _look_at(ob: bpy.types.Object, layer: bpy.types.ViewLayer) -> tuple:
    data = ob.animation_data
    animated = data and (
        data.action and (data.action.session_uid, data.action.users),
        len(data.drivers),
        len(data.nla_tracks),
    )
    # The first answers at once.
    return animated, ob.visible_get(view_layer=layer) or in_any_collection(ob)


_Bodies = dict[str, tuple[list[str], list[str]]]
"""Names of bones that follow their limbs, with the tips of these and of all chains that they move."""


def _bodies(
    done: ScenePass, ob: bpy.types.Object, steps: Iterable[ChainName], movers: Collection[ChainName]
) -> _Bodies:
    """Names of the bones of an armature object that follow their limbs, with the tips of these and of all chains that
    they move, where these are moved by nothing else and move nothing. steps: chains and bones that may be moved by
    them; movers: those that move any."""
    order, found = done.order, {}
    for body, limbs in order.limbs.items():
        if body.armature != ob.name_full:
            continue
        moved = [chain for chain in steps if body in order.movers[chain]]
        alone = body in done.bodies and not order.movers[body]
        if alone and all(
            chain in done.limbs
            and chain.armature == body.armature
            and order.movers[chain] == {body}
            and not order.far_movers[chain]
            and chain not in movers
            and chain not in order.circular
            for chain in moved
        ):
            found[body.tip] = [limb.tip for limb in limbs], [chain.tip for chain in moved]
    return found


def _switches(ob: bpy.types.Object, tips: Iterable[str]) -> dict[str, bool | None]:
    """Which chains of an evaluated armature object are on. None: it has no bone of that name, as a copy that Blender
    made before a bone was renamed in Edit Mode."""
    return {tip: getattr(ob.pose.bones.get(tip), "analytic_ik_enabled", None) for tip in tips}
