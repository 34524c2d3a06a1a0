"""Bodies of random proportions with random helper bones, and the limbs that they have."""

from dataclasses import dataclass, field
from random import Random

from mathutils import Euler, Vector

from ik_addon.authoring.finding.stance import Row

from .conventions import CONVENTIONS, Convention

_HELPERS = ("{}_ik", "ik_{}", "{}_ctrl", "MCH-{}", "{}_fk", "{}_helper", "{}_corrective")


@dataclass
class RandomBody:
    """A body.

    limbs: kind, links and end of each. names_lie: True if they were shuffled.
    """

    seed: int
    rows: list[Row] = field(default_factory=list)
    limbs: set[tuple[str, tuple[str, ...], str]] = field(default_factory=set)
    names_lie: bool = False


def random_body(seed: int) -> RandomBody:
    """The body of a person, with what rigs add to it; of one in fifty bodies the names are shuffled."""
    random = Random(seed)
    convention = random.choice(CONVENTIONS)
    body = RandomBody(seed)
    scale = 10.0 ** random.uniform(-2.0, 2.0)
    leg, trunk, arm = random.uniform(0.5, 1.1), random.uniform(0.35, 0.75), random.uniform(0.4, 0.8)
    shape = _Shape(random, convention, body, scale)
    hips = Vector((0.0, 0.0, leg + 0.1))
    pelvis, chest, head = (name.format(s="") for name in convention.names[:3])
    above = ""
    if random.random() < 0.5:
        above = shape.add("root" if random.random() < 0.7 else "Armature", Vector(), hips * 0.3, "")
    pelvis = shape.add(pelvis, hips, hips + Vector((0.0, 0.0, 0.1)), above)
    neck = hips + Vector((0.0, 0.0, trunk))
    chest = shape.add(chest, hips + Vector((0.0, 0.0, 0.15)), neck, pelvis)
    shape.add(head, neck + Vector((0.0, 0.0, 0.08)), neck + Vector((0.0, 0.0, 0.3)), chest)
    extra_hip = random.random() < 0.2
    names_lie = random.random() < 0.02
    shape.leg_of(pelvis, hips, leg, extra_hip)
    shape.arm_of(chest, neck, arm)
    turn = Euler([random.uniform(-3.0, 3.0) for _ in range(3)]).to_quaternion() if random.random() < 0.5 else None
    if turn is not None:
        body.rows = [(name, turn @ start, turn @ end, parent) for name, start, end, parent in body.rows]
    if names_lie:
        _shuffle(body, random)
    return body


class _Shape:
    """Bones as they are added to a body, with tails wherever an importer leaves them."""

    def __init__(self, random: Random, convention: Convention, body: RandomBody, scale: float) -> None:
        self.random, self.convention, self.body, self.scale = random, convention, body, scale
        self.tails_anywhere = random.random() < 0.3
        self.split = random.choice((0, 0, 0, 1, 2))
        self.twists, self.helpers, self.leaves = (random.random() < chance for chance in (0.3, 0.3, 0.2))
        self.is_straight = random.random() < 0.15

    def add(self, name: str, head: Vector, tail: Vector, parent: str) -> str:
        if self.tails_anywhere:
            tail = head + Vector([self.random.gauss(0.0, 1.0) for _ in range(3)]).normalized() * 0.1
        self.body.rows.append((name, head * self.scale, tail * self.scale, parent))
        return name

    def both(self, line: list[tuple[str, Vector]], last: Vector, parent: str, kind: str, links: slice) -> None:
        """The bones of a limb on both sides.

        line: names and heads on the left side. links: thigh and shin among them.
        """
        says_nothing = self.convention.title in _NUMBERED
        for side, sign in zip(self.convention.sides, (1.0, -1.0), strict=True):
            above, made = parent, []
            ends = [*(head for _, head in line[1:]), last]
            for k, ((name, head), tail) in enumerate(zip(line, ends, strict=True)):
                head, tail = (Vector((sign * point.x, point.y, point.z)) for point in (head, tail))
                own = name.format(s=side)
                above = self.add(own, head, tail, above)
                made.append(own)
                if k not in range(*links.indices(len(line))):
                    continue
                parts = 1 + self.split if k == links.start and not self.is_straight else 1
                for part in range(1, parts):
                    # As exporters name them, in line.
                    split = f"{own}.00{part}" if says_nothing else f"{own}_twist_{part:02}"
                    above = self.add(split, head.lerp(tail, part / parts), tail, above)
                if self.twists and not says_nothing:
                    self.add(f"{own}_twist", head.lerp(tail, 0.5), tail, own)
                if self.helpers and not says_nothing:
                    form = self.random.choice(_HELPERS)
                    self.add(form.format(own), head, tail, parent if self.random.random() < 0.5 else own)
            if self.leaves:
                self.add(f"{above}_end", tail, tail + (tail - head) * 0.3, above)
            self.body.limbs.add((kind, tuple(made[links]), made[links.stop]))

    def leg_of(self, pelvis: str, hips: Vector, length: float, extra_hip: bool) -> None:
        random, names = self.random, self.convention.names
        wide, ratio = random.uniform(0.06, 0.25), random.uniform(0.42, 0.58)
        knee = 0.0 if self.is_straight else random.uniform(0.03, 0.12)
        hip = hips + Vector((wide, random.uniform(-0.03, 0.03), random.uniform(-0.08, 0.0)))
        at_ankle = random.uniform(0.06, 0.12) * (0.5 + length)
        down = hip.z - at_ankle
        middle = hip + Vector((random.uniform(-0.02, 0.02), -knee * down, -ratio * down))
        ankle = Vector((hip.x + random.uniform(-0.02, 0.02), hip.y + 0.02, at_ankle))
        foot = random.uniform(0.12, 0.22) * (0.5 + length)
        ball = ankle + Vector((random.uniform(0.0, 0.02), -foot, 0.02 - at_ankle))
        line = [(names[7], hip), (names[8], middle), (names[9], ankle)]
        if names[10] != "-":
            line.append((names[10], ball))
        start = 0
        if extra_hip:
            title = self.convention.title
            name = (
                "Bone.{s}90"
                if title in _NUMBERED
                else "{s}HipJoint"
                if len(self.convention.sides[0]) > 1
                else "hip_offset_{s}"
            )
            line.insert(0, (name, hips + Vector((0.01, 0.0, -0.01))))
            start = 1
        self.both(line, line[-1][1] + Vector((0.0, -0.08, 0.0)), pelvis, "LEG", slice(start, start + 2))

    def arm_of(self, chest: str, neck: Vector, length: float) -> None:
        random, names = self.random, self.convention.names
        lowered = random.uniform(-0.1, 1.2)
        shoulder = neck + Vector((random.uniform(0.12, 0.22), 0.02, -0.03))
        along = Euler((0.0, lowered, 0.0)).to_matrix() @ Vector((1.0, 0.0, 0.0))
        elbow = shoulder + along * length * 0.52
        wrist = elbow + (Euler((0.0, 0.0, random.uniform(-0.4, -0.02))).to_matrix() @ along) * length * 0.48
        line = [(names[4], shoulder), (names[5], elbow), (names[6], wrist)]
        start = 0
        if names[3] != "-":
            line.insert(0, (names[3], neck + Vector((0.03, 0.0, -0.03))))
            start = 1
        self.both(line, wrist + along * 0.1, chest, "ARM", slice(start, start + 2))


_NUMBERED = {"Blender's numbers", "numbered joints"}


def _shuffle(body: RandomBody, random: Random) -> None:
    """Give the bones each other's names: what is found must not contradict the limbs that are there."""
    names = [name for name, *_ in body.rows]
    others = names[:]
    random.shuffle(others)
    new = dict(zip(names, others, strict=True)) | {"": ""}
    body.rows = [(new[name], head, tail, new[parent]) for name, head, tail, parent in body.rows]
    body.limbs = {(kind, tuple(new[name] for name in links), new[end]) for kind, links, end in body.limbs}
    body.names_lie = True
