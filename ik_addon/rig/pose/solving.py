"""Read, solve, rotate, write: one chain, and all chains of a scene, each after those that move it."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ... import messages
from ...solvers import Chain, ChainError, Goal, Outcome, Solution, blend, link_rotations, solve
from ..blender.animation import unchanged
from ..blender.armatures import posed_armatures
from ..blender.rotations import LOCATION, SCALE, Raw, raw_of
from ..data.settings import Settings, goal_values
from ..model.body import body_channels
from ..model.limb import INHERITING, NO_LENGTH, Limb, Wishes, chain_of, factors, growth
from ..model.limb_model import FkTrack, LimbModel, chain_at, foot_places
from ..model.order import ChainName, ChainOrder, KnownOrders
from .following import PosedBody, follow_limbs
from .posing import PoseWriter, loans, shown_channels
from .reading import ArmatureReader, SceneReader

_UNEVEN_SCALE_PASSES = 48
_WITHOUT_GAIN = 8
"""Passes in a row that come no nearer: more of them will not either."""
_STRAYED = 2e-6
"""Distance of the tip from where it was solved to be, in chain lengths, that is more than rounding."""


@dataclass(frozen=True, slots=True)
class Solved:
    """A chain solved for one frame. rotations: local, of the bones that it turns. stretch: how many times its FK length
    it is long."""

    rotations: list[Quaternion]
    outcome: Outcome
    stretch: float


@dataclass(frozen=True, slots=True)
class PlannedChain:
    """A chain that is not read whole each time: all is read but where it shall go. Points and rotations in the space of
    its root's parent. Unless `model.is_still`, FK pose and settings are as they were when it was planned.

    model: what no frame changes. fk: its FK pose; chain, root: in that, the chain from its root. goal: what it always
    asks for. before, after: for each bone that it turns the constant rotations on the two sides of its turn against the
    bone before. fk_rotations: of these bones; channels: of each the rotation mode, and the FK numbers of that. scaled:
    of the bones that lengthen it the FK scale and the power of the stretch. end, end_turns: where its end goes, and how
    the bones on it are turned, for a target at the origin that is not turned.
    """

    model: LimbModel
    fk: FkTrack
    settings: Settings
    chain: Chain
    root: Vector
    goal: Goal
    before: tuple[Quaternion, ...]
    after: tuple[Quaternion, ...]
    fk_rotations: tuple[Quaternion, ...]
    channels: tuple[tuple[str, Raw], ...]
    scaled: tuple[tuple[Raw, int], ...]
    end: Vector
    end_turns: tuple[Quaternion, ...]

    def end_of(self, wishes: Wishes) -> Vector:
        if wishes.orientation is None:
            return wishes.target
        return wishes.target + wishes.orientation @ self.end

    def solve(self, wishes: Wishes) -> Solved:
        """Raises ChainError for what is no point, and where rounding may decide between poses that are as good."""
        pole, chain = wishes.pole, self.chain
        end, pole = self.end_of(wishes) - self.root, None if pole is None else pole - self.root
        solution = solve(chain, replace(self.goal, target=end, pole=pole), self.model.solver)
        if solution.searched:
            raise ChainError(messages.LIMITS_SEARCHED())
        turns = link_rotations(chain, solution)
        links = len(turns)
        if wishes.orientation is not None:
            standing = zip(self.end_turns, self.after[links:], strict=True)
            turns += [wishes.orientation @ each @ after.conjugated() for each, after in standing]
        rotations, unturned = [], None
        for turn, before, after in zip(turns, self.before, self.after, strict=True):
            rotations.append(before @ (turn if unturned is None else unturned @ turn) @ after)
            unturned = turn.conjugated()
        influence = influence_for(self.settings, solution.outcome)
        if influence != 1.0:
            rotations = self._blended(rotations, turns, links, influence)
        return Solved(rotations, solution.outcome, 1.0 + influence * (solution.stretch - 1.0))

    def _blended(
        self, rotations: list[Quaternion], turns: list[Quaternion], links: int, influence: float
    ) -> list[Quaternion]:
        """turns: of its bones from their FK pose, at full influence. A foot is turned to its orientation under the tip
        as it is shown; a toe as it lies to the foot."""
        shown = [blend(fk, solved, influence) for fk, solved in zip(self.fk_rotations, rotations, strict=True)]
        if len(shown) > links:
            tip = Quaternion()
            for rotation, before, after in zip(shown[:links], self.before, self.after, strict=False):
                tip = tip @ before.conjugated() @ rotation @ after.conjugated()
            local = self.before[links] @ tip.conjugated() @ turns[links] @ self.after[links]
            shown[links] = blend(self.fk_rotations[links], local, influence)
        return shown

    def raw(self, solved: Solved) -> list[Raw]:
        """What was solved as numbers of the bones' rotation modes, each next to its FK rotation, then the scales."""
        if not influence_for(self.settings, solved.outcome):
            # No influence is the FK pose itself, not what its quaternion rounds to.
            return [*(fk for _, fk in self.channels), *(fk for fk, _ in self.scaled)]
        pairs = zip(solved.rotations, self.channels, strict=True)
        rotations = [raw_of(rotation, mode, fk) for rotation, (mode, fk) in pairs]
        return rotations + [tuple(value * solved.stretch**power for value in fk) for fk, power in self.scaled]


def influence_for(settings: Settings, outcome: Outcome) -> float:
    """The influence of a chain: none where it keeps its FK pose because its target is out of reach."""
    return 0.0 if settings.reach == "HOLD" and outcome is not Outcome.REACHED else settings.influence


def goal_of(settings: Settings) -> Goal:
    """What a chain asks for wherever its target is."""
    return Goal(target=Vector(), pole=None, least_motion=settings.least_motion, **goal_values(settings, settings.reach))


def made_ready(model: LimbModel, fk: FkTrack, settings: Settings) -> PlannedChain:
    """A chain in its FK pose, of one row, made ready to be solved. Raises ChainError where there is none."""
    chain = chain_at(model, fk, 0)
    if min(chain.lengths) <= NO_LENGTH * chain.length:
        raise ChainError(messages.SET_UP_UNUSUALLY())
    values = {name: np.array([getattr(settings, name)]) for name in ("foot_roll", "toe_angle")}
    ends, end_turns = foot_places(model, fk, np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]]), values)
    rotations, after = ([Quaternion(rows[0, k]) for k in model.turned] for rows in (fk.rotations, fk.turns))
    numbers = (tuple(fk.numbers[k][0].tolist()) for k in model.turned)
    lengthening = (tuple(fk_scale[0].tolist()) for fk_scale in fk.lengthening)
    return PlannedChain(
        model=model,
        fk=fk,
        settings=settings,
        chain=chain,
        root=Vector(fk.heads[0, 0]),
        goal=goal_of(settings),
        before=tuple(own @ turn.conjugated() for own, turn in zip(rotations, after, strict=True)),
        after=tuple(after),
        fk_rotations=tuple(rotations),
        channels=tuple(zip(model.turned_modes, numbers, strict=True)),
        scaled=tuple((own, power) for own, (_, power) in zip(lengthening, model.scaled, strict=True)),
        end=Vector(ends[0]),
        end_turns=tuple(Quaternion(turn[0]) for turn in end_turns),
    )


def inherits_all(bone: bpy.types.Bone) -> bool:
    """Whether a bone goes along with the one above it in every way."""
    inherits = bone.use_inherit_rotation and bone.inherit_scale in INHERITING and not bone.use_relative_parent
    return inherits and bone.use_local_location


def pose_limb(limb: Limb, rotations: Sequence[Quaternion], scales: Sequence[Vector] | None = None) -> list[Matrix]:
    """Forward kinematics: the pose matrices of a chain's links for local rotations, and scales other than their own."""
    poses, parent_pose = [], limb.parent_pose
    for k, (reading, rotation) in enumerate(zip(limb.bones, rotations, strict=False)):
        poses.append(reading.posed(rotation, parent_pose, scales[k] if scales else None))
        parent_pose = reading.last_pose(poses[-1])
    return poses


def _solved_by_matrices(limb: Limb) -> tuple[Solution, list[Matrix], list[Quaternion]]:
    """The chain at full influence: its solution, its pose matrices, its local rotations.

    The matrices are those before it is lengthened, which turns nothing and moves all joints evenly away from the root.
    A bone under an unevenly scaled parent changes its length as it turns. Then the chain is solved again with
    the lengths that it has in the pose just found, until the tip is where the solution put it; where it never is,
    the pose in which it comes nearest stands.
    """
    root, pole = limb.root_armature, limb.pole_armature
    goal = replace(
        goal_of(limb.settings), target=limb.target_armature - root, pole=None if pole is None else pole - root
    )
    poses, chain, nearest = [reading.pose_armature for reading in limb.bones], limb.chain, inf
    found = None
    best = 0
    for number in range(_UNEVEN_SCALE_PASSES):
        solution = solve(chain, goal, limb.solver)
        local_rotations, posed, parent_pose = [], [], limb.parent_pose
        for reading, pose, turn in zip(limb.bones, poses, link_rotations(chain, solution), strict=True):
            rotation = reading.local_rotation(turn.to_matrix().to_4x4() @ pose, parent_pose)
            posed.append(reading.posed(rotation, parent_pose))
            parent_pose = reading.last_pose(posed[-1])
            local_rotations.append(rotation)
        poses = posed
        strayed = ((limb.end_of(poses) - root) * solution.stretch - solution.joints[-1]).length
        if found is None or strayed < nearest:
            nearest, best = strayed, number
            found = solution, poses, local_rotations
        if strayed <= _STRAYED * chain.length or number - best == _WITHOUT_GAIN:
            break
        # This pose bends as was wished: the same wishes would swivel and flip it once more.
        hinge = -solution.normal if goal.flip else solution.normal
        pole = goal.target.cross(hinge) if len(limb.bones) == 2 else None
        goal = replace(goal, pole=pole, swivel=0.0, flip=False)
        points = [point - root for point in limb.joints(poses)]
        chain = chain_of(limb.bones, points, poses, local_rotations, limb.parent_pose, hinge)
    assert found is not None
    return found


@dataclass(frozen=True, slots=True)
class PosedLimb:
    """A solved chain. rotations: of `limb.turned`, as numbers of each bone's rotation mode.

    poses_armature: the pose matrices of the first bones of the chain's links. stretch: by how much it is lengthened.
    outcome: how the target lies to the chain. error_world: distance from the chain's end to its target as solved, in
    world units; what constraints or drivers make of it afterwards is not in it (`missed_world`). searched: see
    `Solution`.
    """

    limb: Limb
    rotations: tuple[Raw, ...]
    poses_armature: tuple[Matrix, ...]
    stretch: float
    outcome: Outcome
    error_world: float
    searched: bool

    @property
    def holds(self) -> bool:
        """True if it keeps its FK pose because its target is out of reach."""
        return self.limb.settings.reach == "HOLD" and self.outcome is not Outcome.REACHED


def solve_limb(limb: Limb) -> PosedLimb:
    """Solve one chain as it was read, whatever its bones are scaled by and inherit; nothing is written."""
    settings, turned = limb.settings, limb.turned
    try:
        solution, poses, rotations = _solved_by_matrices(limb)
    except ChainError as error:
        raise error.of(messages.BONE(bone=limb.tip)) from error
    influence, stretch = influence_for(settings, solution.outcome), solution.stretch
    if influence < 1.0:
        rotations = [blend(own.fk_rotation, each, influence) for own, each in zip(limb.bones, rotations, strict=True)]
        stretch = 1.0 + influence * (stretch - 1.0)
    if influence < 1.0 or stretch > 1.0:
        own = factors([reading.bone for reading in limb.bones], stretch)
        poses = pose_limb(limb, rotations, [reading.scale * own[reading.name] for reading in limb.bones])
    parent_pose = limb.bones[-1].last_pose(poses[-1])
    for end in limb.ends:
        turn = end.standing @ end.orientation(end.pose_armature).inverted()
        rotation = end.local_rotation(turn.to_matrix().to_4x4() @ end.pose_armature, parent_pose)
        parent_pose = end.posed(rotation, parent_pose)
        rotations.append(rotation if influence == 1.0 else blend(end.fk_rotation, rotation, influence))
    missed = limb.end_of(poses) - limb.target_armature
    return PosedLimb(
        limb=limb,
        # No influence is the FK pose itself, not what its quaternion rounds to.
        rotations=tuple(
            raw_of(rotation, own.mode, own.fk) if influence else own.fk
            for rotation, own in zip(rotations, turned, strict=True)
        ),
        poses_armature=tuple(poses),
        stretch=stretch,
        outcome=solution.outcome,
        error_world=(limb.world.to_3x3() @ missed).length,
        searched=solution.searched,
    )


class ScenePass:
    """A pass over a scene, and what it did: the chains solved, and the ones skipped with their reason.

    order: in which they were solved. bodies: the bones that followed their limbs; unfit: those that could not. reader:
    knows where everything is once that is evaluated.
    """

    def __init__(
        self,
        depsgraph: bpy.types.Depsgraph,
        frame_changed: bool,
        objects: dict[str, bpy.types.Object],
        order: ChainOrder,
    ) -> None:
        self._depsgraph, self._frame_changed, self._objects = depsgraph, frame_changed, objects
        self.order, self.unfit, self.errors = order, dict(order.unfit), dict(order.errors)
        self.bodies: dict[ChainName, PosedBody] = {}
        self.limbs: dict[ChainName, PosedLimb] = {}
        self._read()

    def _read(self) -> None:
        self.reader = SceneReader(self._depsgraph, self._frame_changed)
        self._armatures = {name: _Armature(self.reader, ob) for name, ob in self._objects.items()}

    def release_others(self) -> None:
        """Give bones that no chain turns any more their FK pose back."""
        released = [armature for armature in self._armatures.values() if armature.release_others(self.order)]
        constrained = (not each.mute for own in released for bone in own.ob.pose.bones for each in bone.constraints)
        if (released and self.order.circular) or any(constrained):
            # What a constraint makes of a bone that has its FK pose back only Blender knows.
            self.evaluate()

    def evaluate(self) -> None:
        """Let Blender evaluate what was solved so far."""
        if self._commit():
            loans.evaluate(self._depsgraph)
        self._read()

    def solve(self, chain: ChainName) -> None:
        """Solve a chain, or have a bone follow its limbs."""
        armature, order = self._armatures[chain.armature], self.order
        if chain in order.limbs:
            try:
                self.bodies[chain] = armature.follow(chain.tip, [limb.tip for limb in order.limbs[chain]])
            except ChainError as error:
                self.unfit[chain] = error
            return
        try:
            posed = self.limbs[chain] = solve_limb(armature.reader.limb(chain.tip))
        except ChainError as error:
            self.errors[chain] = error
            armature.lengthen(order.bones[chain], 1.0)
            armature.release(order.turned[chain])
            return
        for reading, rotation in zip(posed.limb.turned, posed.rotations, strict=True):
            armature.writer.write(reading.name, reading.mode, rotation)
        tell(armature.reader, posed)
        armature.lengthen(order.bones[chain], posed.stretch)

    def finish(self) -> None:
        """Write what was solved."""
        self._commit()
        loans.settle(self._depsgraph, self._frame_changed)
        self.reader.written()

    def _commit(self) -> bool:
        tips = {name: [chain.tip for chain in self.order.steps if chain.armature == name] for name in self._armatures}
        own = [each.writer.commit(tips[name], self._frame_changed) for name, each in self._armatures.items()]
        return any(own)


def solve_scene(
    depsgraph: bpy.types.Depsgraph,
    frame_changed: bool,
    chosen: Collection[ChainName] | None = None,
    among: Iterable[bpy.types.Object] | None = None,
    orders: KnownOrders | None = None,
) -> ScenePass:
    """Solve the live chains of a scene, each after the chains that move it, and write what that makes of their bones.

    frame_changed: the scene has just gone to a frame. chosen: only these are solved, and those that they move; None:
    all. among: the armature objects to look at, which no chain of others moves; None: all. orders: those that are
    known. A chain that cannot be solved is skipped with its reason, and its bones get their FK pose back.
    """
    objects = {ob.name_full: ob for ob in posed_armatures(depsgraph, among)}
    with unchanged():
        order = (orders or KnownOrders()).of(ob.evaluated_get(depsgraph) for ob in objects.values())
    done = ScenePass(depsgraph, frame_changed, objects, order)
    done.release_others()
    moved: set[ChainName] = set()
    written: set[ChainName] = set()
    for chain in order.steps:
        is_moved = order.movers[chain] & moved or chain in order.circular
        if not is_moved and chosen is not None and not any(own in chosen for own in order.limbs.get(chain, [chain])):
            continue
        if order.far_movers[chain] & written:
            # Between them lies what only Blender works out: constraints and drivers.
            done.evaluate()
            written.clear()
        moved.add(chain)
        written.add(chain)
        done.solve(chain)
    done.finish()
    return done


def tell(reader: ArmatureReader, posed: PosedLimb) -> None:
    """Tell where a solved chain's bones are posed, to the chains that hang on it."""
    limb = posed.limb
    for reading, pose in zip(limb.bones, posed.poses_armature, strict=True):
        reader.pose(reading.name, pose)
    for end, rotation in zip(limb.ends, posed.rotations[len(limb.bones) :], strict=True):
        reader.tell(end.name, end.mode, rotation)


class _Armature:
    def __init__(self, scene: SceneReader, ob: bpy.types.Object) -> None:
        self.ob, self.reader = ob, scene.armature(ob)
        self._bones = self.reader.evaluated.pose.bones
        self.writer = PoseWriter(ob, self.reader.evaluated)
        self._shown = shown_channels(ob)
        self._scaled = {name for name, mode in self._shown if mode == SCALE}

    def follow(self, body: str, limbs: Sequence[str]) -> PosedBody:
        """Have a bone follow its limbs. Raises ChainError where it cannot."""
        try:
            posed = follow_limbs(self.reader, body, limbs)
        except ChainError:
            self.release([body])
            raise
        for mode, numbers in posed.channels.items():
            self.writer.write(body, mode, numbers)
        return posed

    def lengthen(self, names: Sequence[str], ratio: float) -> None:
        """Scale the bones of a chain, root first, and its end bones, so that it is `ratio` as long as in its FK
        pose."""
        if ratio == 1.0 and not self._scaled:
            return
        reader = self.reader
        for name, factor in factors([self.ob.data.bones[name] for name in names], ratio).items():
            fk = reader.fk.scale(name)
            before = reader.scale_of(self._bones[name]) if name in names else Vector(fk)
            scale = before * factor
            if tuple(scale) != fk:
                self.writer.write(name, SCALE, tuple(scale))
            elif name in self._scaled:
                self.writer.give_back(name, SCALE, fk)
            reader.tell(name, SCALE, scale)

    def release_others(self, order: ChainOrder) -> bool:
        """Give the channels that no chain and no body sets any more their FK pose back; whether any are.

        So too those of chains that move what they follow: else they would be read from what was shown last.
        """
        if not self._shown:
            return False
        name_full, tips = self.ob.name_full, self._bones
        chains, bodies = order.chains_of(name_full), {body.tip for body in order.limbs if body.armature == name_full}
        stretching = [names for tip, names in chains.items() if tips[tip].analytic_ik_reach == "STRETCH"]
        of_chains = order.turned_by(name_full).items()
        turned = {name for tip, own in of_chains if ChainName(name_full, tip) not in order.circular for name in own}
        turned |= {name for name in bodies if len(body_channels(tips[name])) > 1}
        sized = (growth([self.ob.data.bones[name] for name in names]) for names in stretching)
        own = {SCALE: {name for each in sized for name in each}, LOCATION: bodies}
        released = [(name, mode) for name, mode in self._shown if name not in own.get(mode, turned)]
        for channel in released:
            self._give_back(*channel)
        for root in (names[0] for names in stretching if self._scaled):
            above = tips[root].parent
            if above is not None and above.name not in chains:
                # It may have hung on the end of a chain until now.
                self.reader.tell(root, SCALE, self.reader.fk.scale(root))
        return bool(released)

    def release(self, names: Sequence[str]) -> None:
        """Give bones that are not turned or moved any more their FK pose back, before what hangs on them is read."""
        for name, mode in self._shown:
            if name in names and mode != SCALE:
                self._give_back(name, mode)

    def _give_back(self, name: str, mode: str) -> None:
        fk = self.reader.fk.numbers(name, mode)
        self.writer.give_back(name, mode, fk)
        self.reader.tell(name, mode, fk)
