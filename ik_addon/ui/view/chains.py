"""What the overlay reads of a scene: which chains it shows, what of them stays the same, and where they are now.

Between redraws only plain data is kept: names and numbers.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import pi

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...authoring.selection import selected_bones
from ...rig.blender.armatures import armature_objects, is_evaluated_in
from ...rig.blender.rotations import pose_matrix
from ...rig.data.relation import place_of
from ...rig.data.settings import target_and_pole
from ...rig.model.body import bodies_of
from ...rig.model.foot import possible_end_bones
from ...rig.model.limb import Limb, known_bones, posed_joints
from ...rig.model.order import ChainName, live_tips
from ...rig.pose.reading import ArmatureReader, SceneReader
from ...rig.pose.solving import solve_limb
from ...rig.status.problems import read_chains
from ...solvers import ChainError
from ...solvers.limits import HingeJoint
from .shapes import (
    ASTRAY,
    MARK_SIZE,
    OFF,
    Chains,
    Lines,
    body_lines,
    cone_mark,
    fill_of,
    hinge_mark,
    joined,
    lengths_of,
    lines_of,
    mark_lines,
    states_of,
    swing_mark,
)

_NOWHERE = (float("nan"),) * 3
"""Always these very numbers: compared with itself even what is no number is the same."""
_FREE = (-pi, pi)
_BODY_SIZE = 0.03
"""Of the mark of a bone that follows its limbs, in lengths of one of them."""
_EXTENDED = 0.99999
"""Part of its length between the ends of a chain that is stretched out; a body that follows keeps it a little bent."""


@dataclass(slots=True, eq=False)
class Mark:
    """What a joint may do, as it is shown. joint: its number from the root. parent: name of the bone before it, or "".

    rest: (3, 3), its rest frame in that of the bone before it, or in armature space. rim: unit vectors in its rest
    frame; closed: whether the rim runs all round.
    """

    joint: int
    parent: str
    rest: np.ndarray
    rim: np.ndarray
    closed: bool


@dataclass(slots=True, eq=False)
class Shown:
    """A chain that is shown, and what of it stays the same until Blender says that something changed.

    bones: names, root first. softness, checked, limited: see `overlay_shapes.Chains`. broken: it cannot be solved.
    anew: its length or its target is not what meets the eye (it stretches, or its foot rolls): it is read anew each
    time. marks: of its joints that have limits.
    """

    tip: str
    bones: list[str]
    softness: float
    checked: bool
    limited: bool
    broken: bool
    anew: bool
    marks: list[Mark]


@dataclass(slots=True, eq=False)
class ShownBody:
    """A bone that is shown because it follows its limbs. size: of its mark, in armature units."""

    name: str
    size: float


@dataclass(slots=True)
class ShownChains:
    """What is shown of each armature object, by its name: chains, and bones that follow their limbs."""

    chains: dict[str, list[Shown]] = field(default_factory=dict)
    bodies: dict[str, list[ShownBody]] = field(default_factory=dict)

    @property
    def armatures(self) -> set[str]:
        return self.chains.keys() | self.bodies.keys()


def shown_chains(mode: str, depsgraph: bpy.types.Depsgraph, beyond: Collection[ChainName] = ()) -> ShownChains:
    """What the overlay shows in `mode` (SELECTED or ALL), as it is now; beyond: the chains that are shown in any case,
    see `chains_out_of_reach`. A bone that follows its limbs is shown with them, or if it is selected."""
    tips: dict[ChainName, bpy.types.PoseBone] = {}
    chosen = _selected(depsgraph.view_layer) if mode == "SELECTED" else set()
    for ob in _posed(depsgraph):
        evaluated = ob.evaluated_get(depsgraph)
        for tip in live_tips(evaluated):
            chain = ChainName(ob.name_full, tip)
            if mode == "ALL" or chain in beyond or _is_chosen(ob.pose.bones[tip], chosen):
                tips[chain] = evaluated.pose.bones[tip]
    found = ShownChains()
    for ob in _posed(depsgraph):
        bodies = [*_bodies(ob, mode, chosen, {chain.tip for chain in tips if chain.armature == ob.name_full})]
        if bodies:
            found.bodies[ob.name_full] = bodies
    for chain, reading in read_chains(list(tips), depsgraph).items():
        found.chains.setdefault(chain.armature, []).append(_shown(tips[chain], reading))
    return found


def _bodies(ob: bpy.types.Object, mode: str, chosen: "Chosen", shown: Collection[str]) -> Iterator[ShownBody]:
    """The bones of an original armature object that follow limbs and are shown. shown: tips of the chains that are."""
    names = bodies_of(ob)
    for tip in live_tips(ob) if names else ():
        body = next((each.name for each in ob.pose.bones[tip].parent_recursive if each.name in names), "")
        if body and (mode == "ALL" or tip in shown or (ob, body) in chosen):
            names.remove(body)
            yield ShownBody(body, _BODY_SIZE * sum(each.bone.length for each in known_bones(ob.pose.bones[tip])))


def _posed(depsgraph: bpy.types.Depsgraph) -> Iterator[bpy.types.Object]:
    """The armature objects whose chains may be shown."""
    for ob in armature_objects():
        shown = ob.pose is not None and ob.mode != "EDIT" and ob.data.pose_position == "POSE"
        if shown and is_evaluated_in(ob, depsgraph):
            yield ob


Chosen = set[tuple[bpy.types.Object, str]]
"""What is selected: bones with their armature objects, and objects with no bone's name."""


def _selected(layer: bpy.types.ViewLayer) -> Chosen:
    """The selected bones in Pose Mode, and the selected objects: they may be controls."""
    chosen = {(ob, bone.name) for ob in armature_objects() if ob.mode == "POSE" for bone in selected_bones(ob)}
    objects = [*layer.objects.selected, *filter(None, [layer.objects.active])]
    return chosen | {(ob, "") for ob in objects if ob.mode == "OBJECT"}


def _is_chosen(tip: bpy.types.PoseBone, chosen: Chosen) -> bool:
    """True if an original tip's chain is shown in SELECTED: it is pinned, or a control or bone of it is selected."""
    ob = tip.id_data
    if tip.analytic_ik_show_overlay or (ob, tip.name) in chosen or not chosen.isdisjoint(target_and_pole(tip)):
        return True
    bones = known_bones(tip) if chosen else []
    return bool(bones) and any((ob, bone.name) in chosen for bone in (*bones, *tip.children, *possible_end_bones(tip)))


def chains_out_of_reach(depsgraph: bpy.types.Depsgraph) -> frozenset[ChainName]:
    """The live chains whose targets are farther away than they reach, or too close, by what Blender evaluated.

    Nothing is solved for that: it is asked at each redraw.
    """
    found = []
    for ob in _posed(depsgraph):
        evaluated = ob.evaluated_get(depsgraph)
        bones, controls = evaluated.pose.bones, _Controls(ob, evaluated.matrix_world, depsgraph)
        found += [ChainName(ob.name_full, tip) for tip in live_tips(evaluated) if _is_beyond(bones[tip], controls)]
    return frozenset(found)


def _is_beyond(tip: bpy.types.PoseBone, controls: "_Controls") -> bool:
    target = tip.analytic_ik_target
    bones = known_bones(tip)
    if target is None or not bones:
        return False
    joints = posed_joints(bones)
    lengths = [(b - a).length for a, b in pairwise(joints)]
    far = sum(lengths)
    distance = (Vector(controls.place(target, tip.analytic_ik_subtarget)) - joints[0]).length
    if tip.analytic_ik_use_rotation and tip.analytic_ik_foot_roll and (joints[-1] - joints[0]).length < far * _EXTENDED:
        # A foot that rolls takes the ankle elsewhere than its target.
        return False
    return distance > far * (1.0 + OFF) or distance < (2.0 * max(lengths) - far) - far * OFF


def _shown(tip: bpy.types.PoseBone, reading: Limb | ChainError) -> Shown:
    bones = [bone.name for bone in known_bones(tip) or [tip]]
    if isinstance(reading, ChainError):
        return Shown(tip.name, bones, 0.0, False, False, True, False, [])
    settings = reading.settings
    rolls = bool(reading.ends) and settings.foot_roll != 0.0
    return Shown(
        tip.name,
        bones,
        settings.softness,
        settings.influence == 1.0 and settings.reach == "CLAMP",
        reading.chain.limits is not None,
        False,
        rolls or settings.reach == "STRETCH",
        list(_marks(reading)),
    )


def _marks(limb: Limb) -> Iterator[Mark]:
    """What the joints of a limb may do, those that have limits."""
    joints = limb.chain.limits or ()
    for k, (reading, joint) in enumerate(zip(limb.bones, joints, strict=False)):
        limits, bone = reading.limits, reading.bone
        if limits is None:
            continue
        parent = bone.parent.name if bone.parent else ""
        rest = bone.matrix_local.to_3x3()
        if bone.parent is not None:
            rest = bone.parent.matrix_local.to_3x3().inverted_safe() @ rest
        rest = np.array(rest.normalized())
        if limits.hinge is not None:
            own = getattr(limits, limits.hinge)
            # The joint's range is narrower where a cone or a least bend takes of it.
            ranges = (joint.lowest, joint.highest) if isinstance(joint, HingeJoint) else own
            yield Mark(k, parent, rest, hinge_mark(limits.hinge, ranges), False)
        elif (limits.x, limits.z) != (_FREE, _FREE):
            yield Mark(k, parent, rest, swing_mark(limits.x, limits.z), True)
        if limits.cone is not None and limits.cone < pi and bone.parent is not None and limits.hinge is None:
            # About where the bone before it points.
            yield Mark(k, parent, np.eye(3), cone_mark(limits.cone), True)


@dataclass(slots=True)
class ShownPlaces:
    """Where the chains that are shown are now: numbers alone, in lists, so that one comparison tells whether any moved.

    shown: the chains. joints, targets, poles: in armature space, one after the other, joints as many for each as the
    longest has. worlds: matrices of the armatures, row by row; armatures: for each chain the number of its own.
    states: those that are known, else -1. lengths: of links, for chains that are not as long as they look. marks: with
    the number of their chain; frames: the orientations of the bones before them, row by row. bodies: of each bone that
    follows its limbs where it was posed and where it stands, in the world, and the size of its mark there.
    """

    shown: list[Shown] = field(default_factory=list)
    joints: list[float] = field(default_factory=list)
    targets: list[float] = field(default_factory=list)
    poles: list[float] = field(default_factory=list)
    worlds: list[float] = field(default_factory=list)
    armatures: list[int] = field(default_factory=list)
    states: list[int] = field(default_factory=list)
    lengths: dict[int, tuple[float, ...]] = field(default_factory=dict)
    marks: list[tuple[int, Mark]] = field(default_factory=list)
    frames: list[float] = field(default_factory=list)
    bodies: list[float] = field(default_factory=list)


def read_places(kept: ShownChains, visible: list[bpy.types.Object], depsgraph: bpy.types.Depsgraph) -> ShownPlaces:
    """Where what is kept of these armature objects is now."""
    places = ShownPlaces()
    most = max((len(shown.bones) for ob in visible for shown in kept.chains.get(ob.name_full, ())), default=0)
    scene = SceneReader(depsgraph)
    for number, ob in enumerate(visible):
        evaluated = ob.evaluated_get(depsgraph)
        bones, world = evaluated.pose.bones, evaluated.matrix_world
        for row in world:
            places.worlds.extend(row)
        controls = _Controls(ob, world, depsgraph)
        for body in kept.bodies.get(ob.name_full, ()):
            _read_body(places, body, ob, evaluated)
        for shown in kept.chains.get(ob.name_full, ()):
            own = [bones.get(name) for name in shown.bones]
            if None in own:
                # Its name has just been changed: Blender will say so.
                continue
            joints = posed_joints(own)
            for joint in joints:
                places.joints.extend(joint)
            for _ in range(most + 1 - len(joints)):
                places.joints.extend(joints[-1])
            chain = len(places.shown)
            places.shown.append(shown)
            places.armatures.append(number)
            if shown.anew:
                _read_anew(places, scene.armature(ob), shown, most)
            else:
                tip = own[-1]
                places.targets.extend(controls.place(tip.analytic_ik_target, tip.analytic_ik_subtarget))
                places.poles.extend(controls.place(tip.analytic_ik_pole_target, tip.analytic_ik_pole_subtarget))
                places.states.append(ASTRAY if shown.broken else -1)
            for mark in shown.marks:
                places.marks.append((chain, mark))
                for row in bones[mark.parent].matrix.to_3x3() if mark.parent else _AXES:
                    places.frames.extend(row)
    return places


def _read_body(places: ShownPlaces, body: ShownBody, ob: bpy.types.Object, evaluated: bpy.types.Object) -> None:
    bone = evaluated.pose.bones.get(body.name)
    if bone is None:
        # Its name has just been changed.
        return
    world, parent = evaluated.matrix_world, bone.parent
    local = Matrix.Translation(ob.pose.bones[body.name].location)
    posed = pose_matrix(bone.bone, local, parent.matrix if parent else None).translation
    for point in (posed, bone.head):
        places.bodies.extend(world @ point)
    places.bodies.append(body.size * world.median_scale)


_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class _Controls:
    """Where the controls of one armature's chains are, in its space."""

    def __init__(self, ob: bpy.types.Object, world: Matrix, depsgraph: bpy.types.Depsgraph) -> None:
        self._ob, self._depsgraph = ob, depsgraph
        self._to_armature = world.inverted_safe()

    def place(self, control: bpy.types.Object | None, bone: str) -> tuple[float, ...]:
        """Where a control is; nowhere without one."""
        if control is None:
            return _NOWHERE
        if bone and (control.pose is None or bone not in control.pose.bones):
            return _NOWHERE
        world, pose = place_of(control, bone, self._depsgraph)
        if pose is None:
            return (self._to_armature @ world.translation).to_tuple()
        if control.original == self._ob:
            return pose.translation.to_tuple()
        return (self._to_armature @ (world @ pose.translation)).to_tuple()


def _read_anew(places: ShownPlaces, reader: ArmatureReader, shown: Shown, most: int) -> None:
    """Read and solve a chain as the handlers do."""
    try:
        posed = solve_limb(reader.limb(shown.tip))
    except ChainError:
        places.targets.extend(_NOWHERE)
        places.poles.extend(_NOWHERE)
        places.states.append(ASTRAY)
        return
    limb = posed.limb
    places.targets.extend(limb.target_armature)
    places.poles.extend(limb.pole_armature or _NOWHERE)
    places.lengths[len(places.states)] = (*limb.chain.lengths, *(0.0,) * (most - len(limb.chain.lengths)))
    places.states.append(posed.outcome)


def chains_of(places: ShownPlaces) -> Chains:
    """The same as arrays."""
    shown, count = places.shown, len(places.shown)
    joints = np.array(places.joints).reshape(count, -1, 3)
    lengths = lengths_of(joints)
    for chain, own in places.lengths.items():
        lengths[chain] = own
    return Chains(
        joints=joints,
        lengths=lengths,
        targets=np.array(places.targets).reshape(-1, 3),
        poles=np.array(places.poles).reshape(-1, 3),
        softness=np.array([one.softness for one in shown]),
        checked=np.array([one.checked for one in shown]),
        limited=np.array([one.limited for one in shown]),
        states=np.array(places.states),
        worlds=np.array(places.worlds).reshape(-1, 4, 4)[places.armatures],
    )


def shapes_of(places: ShownPlaces) -> tuple[Lines, Lines]:
    """What is drawn: lines and triangles."""
    lines, fill = [], Lines(np.empty((0, 3)), np.empty((0, 4)))
    if places.shown:
        chains = chains_of(places)
        states = states_of(chains)
        lines, fill = [lines_of(chains, states)], fill_of(chains, states)
        if places.marks:
            lines.append(mark_lines_of(places, chains))
    if places.bodies:
        bodies = np.array(places.bodies).reshape(-1, 7)
        lines.append(body_lines(bodies[:, :3], bodies[:, 3:6], bodies[:, 6]))
    return joined(lines), fill


def mark_lines_of(places: ShownPlaces, chains: Chains) -> Lines:
    """What the joints of the chains may do, as lines."""
    of_chain = [chain for chain, _ in places.marks]
    marks = [mark for _, mark in places.marks]
    joint = [mark.joint for mark in marks]
    frames = np.array(places.frames).reshape(-1, 3, 3)
    sizes = np.sqrt((frames * frames).sum(axis=1, keepdims=True))
    frames = frames / np.where(sizes > 0.0, sizes, 1.0)
    return mark_lines(
        np.array([mark.rim for mark in marks]),
        np.array([mark.closed for mark in marks]),
        frames @ np.array([mark.rest for mark in marks]),
        chains.joints[of_chain, joint],
        MARK_SIZE * chains.lengths[of_chain, joint],
        chains.worlds[of_chain],
    )
