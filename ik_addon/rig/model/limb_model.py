"""What no frame changes of a chain: its bones at rest, how its foot is built, and how it is solved; and its forward
kinematics over rows.

Arrays and points are in the spaces that their names say, else in that of the root's parent, in double precision, the
row first, one or n of them; quaternions are (w, x, y, z).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import bpy
import numpy as np
from mathutils import Quaternion, Vector

from ...solvers import Chain, solver_for
from ...solvers.arrays import conjugate, multiply, rotated, side_by_side, slerp
from ..blender.animation import animation_of, bone_of_path
from ..blender.dependencies import Node
from ..blender.rotations import LOCATION, REST, SCALE, rest_in_parent, turns_in
from ..data.settings import CONTACT, PREFIX, SAMPLED_SETTINGS, Settings
from .body import BodyModel
from .foot import heel_and_axis, held_rotation, possible_end_bones, rolled
from .limb import BoneLimits, bend_axis, chain_bones, end_in_tip, growth, limited_chain, limits_of, link_bones

AnimatedBones = dict[str, dict[str, bool]]
"""Names of the bones of which something that a chain reads is animated, with what that is, and whether a driver sets
it."""


def animated_bones(ob: bpy.types.Object) -> AnimatedBones:
    """The bones of an armature object of which animation or a driver sets what a chain reads."""
    found: AnimatedBones = {}
    for path, is_driver in animation_of(ob):
        name, what = bone_of_path(path)
        # What its constraints make of a bone comes after what its chain makes of it.
        if name and what != CONTACT and not what.startswith(("[", "constraints[")):
            found.setdefault(name, {})[what.removeprefix(PREFIX)] = is_driver
    return found


@dataclass(frozen=True, slots=True)
class FootModel:
    """The bones on a chain's end. Points in the foot bone's own space and size.

    held: how the foot stands against the target. heel, axis: see `foot.heel_and_axis`. length: of the bone whose tail
    the foot rolls over last, the toe if there is one.
    """

    held: Quaternion
    heel: np.ndarray
    axis: np.ndarray
    length: float


@dataclass(frozen=True, slots=True)
class LimbModel:
    """A chain that lives in the space of its root's parent bone.

    armature, tip, parent: names of the armature object, of the tip and of the root's parent bone ("": none).
    target_bone, pole_bone: of control bones ("": the control is an object).
    bones: names of its own bones, root first, then of those on its end; own: how many are its own. links: places among
    `bones` of the first bone of each link; turned: those, and the bones on its end. modes: rotation modes of `bones`.
    connected: which of them take no location. rest_turns, rest_offsets: (bones, 4), (bones, 3): rest orientation and
    head in the bone above.
    end: (3,), where the chain ends, in the tip's rest space. bend_axis: about which it bends where it is straight, in
    the space of the bone behind the first inner joint. limits: of each link's joint.
    foot: None if it does not follow the target. rolls: True if it may roll. solver: the name of the one that serves it.
    scaled: the names of the bones that lengthen it, each with 1, and of those on its end that keep their size, with -1.
    keyed_bones: names of the bones whose FK animation sets; keyed_settings: of those of `SAMPLED_SETTINGS`.
    body: the bone that moves what the chain reads, and follows its limbs; None: there is none.
    """

    armature: str
    tip: str
    parent: str
    target_bone: str
    pole_bone: str
    has_pole: bool
    bones: tuple[str, ...]
    own: int
    links: tuple[int, ...]
    modes: tuple[str, ...]
    connected: np.ndarray
    rest_turns: np.ndarray
    rest_offsets: np.ndarray
    end: np.ndarray
    bend_axis: np.ndarray
    limits: tuple[BoneLimits | None, ...]
    foot: FootModel | None
    rolls: bool
    solver: str
    reach: str
    least_motion: bool
    scaled: tuple[tuple[str, int], ...]
    keyed_bones: frozenset[str]
    keyed_settings: frozenset[str]
    body: BodyModel | None = None

    @property
    def turned(self) -> tuple[int, ...]:
        return (*self.links, *range(self.own, len(self.bones)))

    @property
    def names(self) -> list[str]:
        return [self.bones[k] for k in self.turned]

    @property
    def channels(self) -> list[tuple[str, str]]:
        """The channels that it sets: bones, each with its rotation mode or SCALE, and the LOCATION of its body."""
        own = [*zip(self.names, self.turned_modes, strict=True), *((name, SCALE) for name, _ in self.scaled)]
        return [*own, (self.led.name, LOCATION)] if self.led else own

    @property
    def touched(self) -> set[str]:
        """Names of all bones that it reads or sets."""
        return {*self.bones, *(name for name, _ in self.scaled), *([self.led.name] if self.led else [])}

    @property
    def led(self) -> BodyModel | None:
        """The body that is written with it: it is the first of its limbs."""
        return self.body if self.body and self.body.limbs[0] == self.tip else None

    @property
    def turned_modes(self) -> list[str]:
        return [self.modes[k] for k in self.turned]

    @property
    def is_limited(self) -> bool:
        return any(limits is not None for limits in self.limits)

    @property
    def is_still(self) -> bool:
        """True if its FK pose and its settings are the same at every frame, and those of its body."""
        return not self.keyed_bones and not self.keyed_settings and (self.body is None or self.body.is_still)


def controls_of(ob: bpy.types.Object, model: LimbModel) -> list[Node]:
    """The target of a chain of an original armature object, and its pole if it has one, with the names of their
    bones."""
    tip = ob.pose.bones[model.tip]
    target = tip.analytic_ik_target, model.target_bone
    return [target, (tip.analytic_ik_pole_target, model.pole_bone)] if model.has_pole else [target]


def limb_model(
    tip: bpy.types.PoseBone, settings: Settings, animated: AnimatedBones, body: BodyModel | None = None
) -> LimbModel:
    """The model of the chain of an original tip.

    settings: the chain's own, without a pole target that is gone. body: see LimbModel. Raises ChainError if there are
    too few bones, or if the solver does not fit.
    """
    own = chain_bones(tip, settings.chain_count)
    links, ends = link_bones(own), possible_end_bones(tip)
    pose_bones = [*own, *ends]
    rests = np.array([rest_in_parent(bone.bone) for bone in pose_bones])
    heel, axis = map(np.array, heel_and_axis(ends[0])) if ends else (None, None)
    scaled = growth([bone.bone for bone in own]) if settings.reach == "STRETCH" else {}
    names, of_tip = {*(bone.name for bone in pose_bones), *scaled}, animated.get(tip.name, {})
    return LimbModel(
        armature=tip.id_data.name_full,
        tip=tip.name,
        parent=own[0].parent.name if own[0].parent else "",
        target_bone=settings.subtarget,
        pole_bone=settings.pole_subtarget,
        has_pole=settings.pole_target is not None,
        bones=tuple(bone.name for bone in pose_bones),
        own=len(own),
        links=tuple(map(own.index, links)),
        modes=tuple(bone.rotation_mode for bone in pose_bones),
        connected=np.array([bone.bone.use_connect for bone in pose_bones]),
        rest_turns=turns_in(rests),
        rest_offsets=rests[:, :3, 3],
        end=np.array(end_in_tip(tip)),
        bend_axis=np.array(bend_axis(links, tip)),
        limits=tuple(map(limits_of, links)),
        foot=FootModel(held_rotation(tip, ends[0], settings), heel, axis, ends[-1].bone.length) if ends else None,
        # The toe is turned where the foot rolls alone.
        rolls=bool(ends) and ("foot_roll" in of_tip or bool(settings.foot_roll)),
        solver=solver_for(len(links), settings.solver),
        reach=settings.reach,
        least_motion=settings.least_motion,
        scaled=tuple((name, power) for name, power in scaled.items() if power),
        keyed_bones=frozenset(name for name in names if REST.keys() & animated.get(name, {}).keys())
        | ({body.name} if body and body.keyed and body.limbs[0] == tip.name else set()),
        keyed_settings=frozenset(name for name in SAMPLED_SETTINGS if name in of_tip),
        body=body,
    )


@dataclass(frozen=True, slots=True)
class FkTrack:
    """The FK pose of a chain's bones, its end bones included.

    numbers: for each bone the numbers of its rotation channel, (n, 3 or 4). rotations, locations, scales: local,
    (n, bones, 4 or 3). turns, heads, sizes: (n, bones, 4), (n, bones, 3), (n, bones): orientation, head, and how much
    it is scaled. end: (n, 3), where the chain ends. lengthening: the FK scales (n, 3) of the bones in `model.scaled`.
    """

    numbers: tuple[np.ndarray, ...]
    rotations: np.ndarray
    locations: np.ndarray
    scales: np.ndarray
    turns: np.ndarray
    heads: np.ndarray
    sizes: np.ndarray
    end: np.ndarray
    lengthening: tuple[np.ndarray, ...] = ()

    @property
    def is_still(self) -> bool:
        return len(self.turns) == len(self.heads) == len(self.end) == 1


def fk_track(
    model: LimbModel,
    numbers: tuple[np.ndarray, ...],
    rotations: np.ndarray,
    locations: np.ndarray,
    scales: np.ndarray,
    lengthening: tuple[np.ndarray, ...] = (),
) -> FkTrack:
    """Forward kinematics of evenly scaled bones that inherit all of their parents' motion."""
    turn, head, size = np.array([[1.0, 0.0, 0.0, 0.0]]), np.zeros((1, 3)), np.ones(1)
    offsets = model.rest_offsets + rotated(model.rest_turns, locations)
    in_parents = multiply(model.rest_turns, rotations)
    turns, heads, sizes = [], [], []
    end = head
    for k in range(len(model.bones)):
        head = head + size[:, None] * rotated(turn, offsets[:, k])
        turn = multiply(turn, in_parents[:, k])
        # What is off unit length adds up.
        turn = turn / np.linalg.norm(turn, axis=-1, keepdims=True)
        size = size * scales[:, k, 1]
        turns.append(turn)
        heads.append(head)
        sizes.append(size)
        if k == model.own - 1:
            end = head + size[:, None] * rotated(turn, model.end)
    turns, heads, sizes = map(side_by_side, (turns, heads, sizes))
    return FkTrack(numbers, rotations, locations, scales, turns, heads, sizes, end, lengthening)


def joints_of(model: LimbModel, fk: FkTrack) -> np.ndarray:
    """The joints (n, links + 1, 3) of a chain, root first."""
    return side_by_side([*(fk.heads[:, k] for k in model.links), fk.end])


def hinges_of(model: LimbModel, turns: np.ndarray) -> np.ndarray:
    """About which axis a chain bends where its FK pose is straight, (..., 3), for its bones' orientations."""
    return rotated(turns[..., model.links[min(1, len(model.links) - 1)], :], model.bend_axis)


def chain_at(model: LimbModel, fk: FkTrack, k: int) -> Chain:
    """The chain in the FK pose of one row, from its root, with its limits."""
    points, turns = joints_of(model, fk)[k], fk.turns[k]
    joints = [Vector(point) for point in points - points[0]]
    hinge = Vector(hinges_of(model, turns))
    if not model.is_limited:
        return Chain(joints, bend_normal=hinge)
    return limited_chain(
        [model.bones[place] for place in model.links],
        model.limits,
        joints,
        [Quaternion(turns[place]) for place in model.links],
        [Quaternion(fk.rotations[k, place]) for place in model.links],
        Vector((0.0, 1.0, 0.0)) if model.parent else None,
        hinge,
    )


def foot_places(
    model: LimbModel,
    fk: FkTrack,
    targets: np.ndarray,
    orientations: np.ndarray | None,
    settings: Mapping[str, np.ndarray],
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Where a chain's end goes (n, 3), and how the bones on it are turned (n, 4), for the foot as it rolls.

    targets, orientations, settings: see `GoalTrack`.
    """
    foot = model.foot
    if foot is None:
        return targets, []
    assert orientations is not None
    standing = multiply(orientations, np.array(foot.held))
    if not model.rolls:
        return targets, [standing]
    at = model.own
    size = fk.sizes[:, at, None]
    # All in the foot's own space, in the size that it has here.
    ball = tip = np.array((0.0, foot.length, 0.0)) * size
    tip_turn = None
    if len(model.bones) > at + 1:
        ball = size * (model.rest_offsets[at + 1] + rotated(model.rest_turns[at + 1], fk.locations[:, at + 1]))
        tip_turn = multiply(model.rest_turns[at + 1], fk.rotations[:, at + 1])
        tip = ball + fk.sizes[:, at + 1, None] * rotated(tip_turn, np.array((0.0, foot.length, 0.0)))
    (ends, orientation), at_toe = rolled(
        (targets, standing),
        rotated(standing, foot.axis),
        (foot.heel * size, tip, ball),
        settings["foot_roll"],
        settings["toe_angle"],
    )
    return ends, [orientation, *([] if tip_turn is None else [multiply(at_toe, tip_turn)])]


def local_rotations(
    model: LimbModel, fk: FkTrack, link_turns: np.ndarray, foot_turns: list[np.ndarray], influences: np.ndarray
) -> np.ndarray:
    """The local rotations (n, turned, 4) of the bones that a chain turns.

    link_turns: (n, links, 4), how each link turned from the FK pose. foot_turns: the orientations (n, 4) of the bones
    on its end. influences: (n or 1).
    """
    turned, links = list(model.turned), len(model.links)
    own, after = fk.rotations[:, turned], fk.turns[:, turned]
    # Between a local rotation and the turn of its bone from the FK pose there are only constant rotations.
    before = multiply(own, conjugate(after))
    targets = [link_turns[:, k] for k in range(links)]
    targets += [multiply(each, conjugate(after[:, links + k])) for k, each in enumerate(foot_turns)]
    under = [multiply(conjugate(above), target) for above, target in pairwise(targets)]
    found = multiply(multiply(before, side_by_side([targets[0], *under])), after)
    if (influences == 1.0).all():
        return found
    found = slerp(own, found, influences[:, None])
    if foot_turns:
        # A foot is turned to its orientation under the tip as it is shown; a toe as it lies to the foot.
        turns = multiply(multiply(conjugate(before), found), conjugate(after))
        shown = turns[:, 0]
        for k in range(1, links):
            shown = multiply(shown, turns[:, k])
        turn = multiply(conjugate(shown), targets[links])
        local = multiply(multiply(before[:, links], turn), after[:, links])
        found[:, links] = slerp(own[:, links], local, influences)
    return found


def posed(model: LimbModel, fk: FkTrack, rotations: np.ndarray, stretches: np.ndarray) -> FkTrack:
    """Forward kinematics with solved local rotations (n, turned, 4), and lengthened by `stretches` (n)."""
    count = max(len(rotations), len(fk.rotations))
    locals_now = np.broadcast_to(fk.rotations, (count, *fk.rotations.shape[1:])).copy()
    locals_now[:, model.turned] = rotations
    scales = fk.scales
    if model.scaled:
        scales = np.broadcast_to(scales, (count, *scales.shape[1:])).copy()
        for name, exponent in model.scaled:
            if name in model.bones:
                scales[:, model.bones.index(name)] *= (stretches**exponent)[:, None]
    return fk_track(model, fk.numbers, locals_now, fk.locations, scales)
