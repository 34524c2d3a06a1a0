"""How a body stands on its limbs: which way is down, where the ground is, and which of them it stands on."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import pi, radians

from mathutils import Vector

from .body import BodyBone
from .limb_shape import ON_TOES, LimbCandidate, bend, foot_and_toes, middle_of

_NO_STANCE = radians(4.0)
"""The same angle in a rest pose in which all bones point the same way, as some captures have it."""
_TARSUS = 0.25
"""Of the leg above it: the foot of a bird, with several toes, is longer."""
_TOES = 3
"""How many toes a bird's foot has or more."""
_STANDS = 0.35
"""Of a leg's height: the hand of an arm on which an animal stands is closer to the ground."""
_LYING = radians(45.0)
"""From the horizontal: the largest angle of the trunk of an animal that stands on its arms."""

_LEADS_DOWN = 0.5
"""Of the way from a hip to its foot: how far down it leads at least, but where hips are about as low as feet."""

Head = Callable[[BodyBone], Vector]


@dataclass(frozen=True, slots=True)
class BodyStance:
    """How a body stands.

    head: where a bone begins as it stands, in armature space. down: a direction. ground: how far down that is.
    height: of the highest hip above it. is_flat: True if hips are about as low as feet, as those of some insects, and
    so neither down nor ground is sure.
    """

    head: Head
    down: Vector
    ground: float
    height: float
    is_flat: bool

    def above_ground(self, point: Vector) -> float:
        """How high a point is."""
        return self.ground - self.down.dot(point)

    def end(self, limb: LimbCandidate) -> Vector:
        """Where a limb's chain ends."""
        return _end(limb, self.head)


def stance_of(legs: Sequence[LimbCandidate], posed: Mapping[str, Vector] | None = None) -> BodyStance | None:
    """How a body stands on its legs; None if neither its rest pose nor its pose shows it, or if it has none.

    posed: heads of all bones in the pose, for a rest pose that is no stance. Measured, for not every armature has Z
    for up.
    """
    head = _stance(legs, posed)
    if head is None:
        return None
    ways = [_ball(leg, head) - head(leg.bones[0]) for leg in legs]
    down = sum(ways, Vector()).normalized()
    is_flat = sum(down.dot(way) < _LEADS_DOWN * way.length for way in ways) * 2 >= len(ways)
    # What is behind a foot is lower, wherever the chain ends.
    ground = max(down.dot(head(bone)) for leg in legs for bone in (leg.end or leg.bones[-1], *_behind(leg)))
    ground = max(ground, *(down.dot(_end(leg, head)) for leg in legs))
    height = ground - min(down.dot(head(leg.bones[0])) for leg in legs)
    return BodyStance(head, down, ground, height, is_flat)


def _behind(leg: LimbCandidate) -> Iterable[BodyBone]:
    """The bones of a foot behind the one at whose head the chain ends."""
    own = leg.end.below if leg.end else ()
    return (bone for bone in own if bone.said.kind == "LEG" or bone.said.is_meaningless)


def in_their_stance(limbs: Sequence[LimbCandidate], stance: BodyStance | None) -> list[LimbCandidate]:
    """Limbs as the body stands on them: arms on which it stands are legs, and what hangs in front of it arms."""
    legs = [limb for limb in limbs if limb.kind == "LEG"]
    arms = [limb for limb in limbs if limb.kind == "ARM"]
    if stance is None:
        return [*_with_places(legs), *arms]
    head, down = stance.head, stance.down

    def stands(limb: LimbCandidate) -> bool:
        return stance.is_flat or stance.ground - _lowest(limb, down, head) < _STANDS * stance.height

    small = [] if all(leg.place == "FRONT" for leg in legs) else [leg for leg in legs if leg.place == "FRONT"]
    small = [] if any(stands(leg) for leg in small) else small
    legs = [leg for leg in legs if leg not in small]
    is_beast = arms and not stance.is_flat and all(stands(arm) for arm in arms) and _is_lying(arms, legs, down, head)
    front = arms if is_beast else []
    legs = [*legs, *(replace(arm, kind="LEG", place="FRONT") for arm in front)]
    has_hands = any(arm.end for arm in arms if arm not in front)
    legs = [_on_its_toes(leg, legs, has_hands, head) for leg in legs]
    rest = [*(arm for arm in arms if arm not in front), *(replace(leg, kind="ARM", place="") for leg in small)]
    return [*_with_places(legs), *rest]


def _stance(legs: Sequence[LimbCandidate], posed: Mapping[str, Vector] | None) -> Head | None:
    """Where the bones begin as the body stands, at rest or posed; None if neither shows it or there are no legs."""

    def at_rest(bone: BodyBone) -> Vector:
        return bone.head

    def in_pose(bone: BodyBone) -> Vector:
        return posed[bone.name]

    for head in (at_rest, in_pose) if posed else (at_rest,):
        bends = [_bend_of_foot(leg, head) for leg in legs if leg.toes]
        if legs and (not bends or max(bends) > _NO_STANCE):
            return head
    return None


def _end(limb: LimbCandidate, head: Head) -> Vector:
    return head(limb.end) if limb.end else limb.joints[-1]


def _ball(limb: LimbCandidate, head: Head) -> Vector:
    """Where a body stands on a limb, be it on its soles or on its toes."""
    return middle_of(limb.toes, head) if limb.toes else _end(limb, head)


def _lowest(limb: LimbCandidate, down: Vector, head: Head) -> float:
    """How far down a limb reaches."""
    return max(down.dot(point) for point in (_end(limb, head), *map(head, (*limb.foot, *limb.toes))))


def _is_lying(arms: Sequence[LimbCandidate], legs: Sequence[LimbCandidate], down: Vector, head: Head) -> bool:
    """True if a body's trunk, from its hips to its shoulders, is that of an animal on four legs."""
    hips, shoulders = (middle_of([limb.bones[0] for limb in limbs], head) for limbs in (legs, arms))
    return abs((shoulders - hips).angle(down, 0.0) - pi / 2.0) < _LYING


def _bend_of_foot(leg: LimbCandidate, head: Head) -> float:
    return bend(head(leg.bones[0]), head(leg.end), _ball(leg, head))


def _on_its_toes(leg: LimbCandidate, legs: Sequence[LimbCandidate], has_hands: bool, head: Head) -> LimbCandidate:
    """A leg that stands on its toes, with its metatarsus as a link of the chain; else the leg as it is.

    has_hands: True if the body has hands besides its legs, as birds have not.
    """
    if not leg.toes or not leg.rides:
        return leg
    # Both legs of a pair stand alike, whatever the pose of one.
    pair = [other for other in legs if other.place == leg.place and other.toes]
    turns = max(_bend_of_foot(other, head) for other in pair)
    if turns >= ON_TOES and (has_hands or not _is_birds(leg, head)):
        return leg
    toe = leg.toes[len(leg.toes) // 2]
    fields = foot_and_toes(toe) if leg.toe else {"foot": (toe,), "toes": ()}
    bones, segments = (*leg.bones, *leg.foot), (*leg.segments, *leg.foot[1:])
    return replace(leg, bones=bones, segments=segments, rides=leg.toe is not None, **fields)


def _is_birds(leg: LimbCandidate, head: Head) -> bool:
    foot, above = _ball(leg, head) - head(leg.end), head(leg.end) - head(leg.bones[0])
    return len(leg.toes) >= _TOES and foot.length > _TARSUS * above.length


def _with_places(legs: Sequence[LimbCandidate]) -> list[LimbCandidate]:
    """Legs with their places where an animal has several pairs."""
    if len({leg.place == "FRONT" for leg in legs}) < 2:
        return [leg if "MID" in leg.place else replace(leg, place="") for leg in legs]
    return [replace(leg, place=leg.place or "HIND") for leg in legs]
