"""Put controls, objects or bones, where they are wanted, by nothing but their own channels; where new ones go, in space
and in which collection; and which follow what by a lock.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import bpy
from mathutils import Matrix, Quaternion, Vector

from .. import messages
from ..rig.blender.animation import animated_paths, drivers_of
from ..rig.blender.armatures import is_changeable
from ..rig.blender.dependencies import basis_at, followed_nodes, is_share_animated, may_act, shares_of
from ..rig.blender.rotations import LOCATION, SCALE, Raw, channel_of, quaternion_of, raw_of, raw_values, rotation_in
from ..rig.pose.reading import SceneReader, control_words
from ..solvers import Chain, ChainError
from ..solvers.bending import is_straight, start_frame

BEYOND = 4e-6
"""How far beyond a straight limb its new target lies, in chain lengths: nearer, rounding would bend it."""


def pole_place(joints_armature: Sequence[Vector], chain: Chain) -> Vector:
    """Where a pole target leaves a limb in the pose that it has: before its knee, in armature space.

    joints_armature: of the limb in that pose, root first; chain: the limb's chain in it.
    """
    root, frame = joints_armature[0], start_frame(chain)
    knee = joints_armature[1] if len(joints_armature) > 2 else root
    # The knees of a longer chain lie beside the plane in which it bends as a whole.
    return knee - frame.normal * (knee - root).dot(frame.normal) + frame.side * chain.length


def target_place(joints_armature: Sequence[Vector], chain: Chain) -> Vector:
    """Where a target leaves a limb in the pose that it has, in armature space.

    joints_armature: of the limb in that pose, root first; chain: the limb's chain in it.
    """
    # A folded limb, or an S, has no bulge either; but it is not stretched out.
    extended = (joints_armature[-1] - joints_armature[0]).length > chain.length * (1.0 - BEYOND)
    if is_straight(chain) and extended and len(joints_armature) > 2:
        return joints_armature[0] + start_frame(chain).along * (chain.length * (1.0 + BEYOND))
    return joints_armature[-1]


CONTROL_BONES = "IK Controls"
"""The bone collection of control bones."""
_NUMBER = re.compile(r"\.\d{3,}$")


def home_of(ob: bpy.types.Object, scene: bpy.types.Scene) -> bpy.types.Collection:
    """The collection for an object's new controls: the object's first local one in the scene, else the scene's.

    Ask for it before anything is created. The collections of a character that a pipeline overrides are overridden
    themselves, and Blender links nothing new to those.
    """
    in_scene = {scene.collection, *scene.collection.children_recursive}
    local = (each for each in ob.users_collection if each in in_scene and is_local(each))
    return next(local, scene.collection)


def controls_home(ob: bpy.types.Object, scene: bpy.types.Scene) -> bpy.types.Collection:
    """The collection of an armature object's controls: that of an earlier limb's, or a new one."""
    home = home_of(ob, scene)
    found = next((each for each in home.children if is_controls_home(each, ob)), None)
    if found is None:
        found = bpy.data.collections.new(_controls_name(ob))
        home.children.link(found)
    return found


def is_controls_home(collection: bpy.types.Collection, ob: bpy.types.Object) -> bool:
    """True if a collection was made for the controls of an armature object."""
    # Blender numbers it if the character brings one of that name.
    return is_local(collection) and _NUMBER.sub("", collection.name) == _controls_name(ob)


def _controls_name(ob: bpy.types.Object) -> str:
    return f"{ob.name} controls"


def is_local(data: bpy.types.ID) -> bool:
    """True if a data-block is this file's own: neither linked nor overridden."""
    return data.library is None and data.override_library is None


def control_bones(armature: bpy.types.Armature) -> set[str]:
    """Names of an armature's control bones: those of the bone collection that do not deform."""
    collection = armature.collections_all.get(CONTROL_BONES)
    bones: Iterable[bpy.types.Bone] = collection.bones if collection else ()
    return {bone.name for bone in bones if not bone.use_deform}


@dataclass(frozen=True, slots=True)
class Control:
    """What a chain follows: an object, or a bone of one. turns: whether its orientation counts as well."""

    ob: bpy.types.Object
    bone: str = ""
    turns: bool = False

    @property
    def name(self) -> str:
        """The name of the bone, else of the object."""
        return self.bone or self.ob.name

    @property
    def owner(self) -> bpy.types.Object | bpy.types.PoseBone:
        """What holds its channels."""
        return self.ob.pose.bones[self.bone] if self.bone else self.ob

    @property
    def modes(self) -> tuple[str, ...]:
        """Its channels that are set, by their modes."""
        return (LOCATION, self.owner.rotation_mode) if self.turns else (LOCATION,)

    @property
    def channels(self) -> dict[str, Raw]:
        """What places it, by the channels' modes."""
        owner = self.owner
        return {mode: raw_values(owner, mode) for mode in (LOCATION, owner.rotation_mode, SCALE)}

    @property
    def shown(self) -> str:
        """Its name in a sentence."""
        return control_words(self.ob, self.bone)


def check_control(control: Control, over_frames: bool = False) -> None:
    """Raise ChainError where a control would not stay where it is put: at this frame, or at any."""
    if control.bone and (control.ob.pose is None or control.bone not in control.ob.pose.bones):
        raise ChainError(messages.ROLE_WITHOUT_BONE(role="control", control=control.ob.name, bone=control.bone))
    if not is_changeable(control.ob):
        raise ChainError(messages.CONTROL_LINKED(control=control.shown))
    constraints = [*control.owner.constraints]
    animated = {*animated_paths(control.ob)} if over_frames and constraints else ()
    for constraint in constraints:
        if may_act(constraint, animated) and not goes_along(control):
            if is_live_lock(constraint):
                raise ChainError(messages.CONTROL_LOCKED(control=control.shown))
            raise ChainError(messages.CONTROL_CONSTRAINED(constraint=constraint.name, control=control.shown))
    if control.bone and control.owner.bone.use_connect:
        raise ChainError(messages.CONTROL_CONNECTED(control=control.shown))
    prefix = f"{control.owner.path_from_id()}." if control.bone else ""
    driven = {driver.data_path for driver in drivers_of(control.ob)}
    for mode in control.modes:
        path = channel_of(mode)[0]
        if prefix + path in driven:
            raise ChainError(messages.CONTROL_DRIVEN(channel=path, control=control.shown))


def goes_along(control: Control) -> bool:
    """Whether its constraint takes a control along with bones of its armature, at all frames in the same way."""
    owner = control.owner
    return bool(control.bone and shares_of(owner)) and not is_share_animated(owner)


def keyed_control(tip: bpy.types.PoseBone, target: Control) -> Control:
    """What is keyed to move a leg's target: the foot bone that carries it, where a foot does not hang on its leg; else
    the target itself.

    `rig_legs` sets it up so.
    """
    carrier = handle_of(target.ob, target.bone)
    if carrier is None:
        return target
    ob, bone = carrier
    above = {each.name for each in tip.parent_recursive} if ob == tip.id_data else set()
    return target if bone in above else Control(ob, bone)


def handle_of(ob: bpy.types.Object, bone: str) -> tuple[bpy.types.Object, str] | None:
    """The armature object and the bone that one grabs for a target which cannot be selected: it is parented to that.
    None: it is selected itself. bone: "" for an object."""
    if bone:
        own = ob.data.bones.get(bone) if ob.type == "ARMATURE" else None
        # One that is locked by hand may hang on the root, and is keyed itself.
        hangs = own is not None and own.hide_select and own.parent is not None and _begins_at(own.parent, own)
        return (ob, own.parent.name) if hangs else None
    carrier = ob.parent if ob.hide_select and ob.parent_type == "BONE" else None
    return (carrier, ob.parent_bone) if carrier else None


_HERE = 0.01
"""Part of their length by which two bones may begin apart and still begin at one place."""


def _begins_at(bone: bpy.types.Bone, other: bpy.types.Bone) -> bool:
    return (bone.head_local - other.head_local).length <= _HERE * max(bone.length, other.length)


def depth(control: Control) -> int:
    """A number that is larger than that of every control which carries this one, or moves it by a constraint."""
    return len(followed_nodes(control.ob, control.bone))


@dataclass(slots=True)
class Placer:
    """Places the controls of one frame; those come first that carry others (`depth`).

    scene: as it was evaluated at that frame.
    """

    scene: SceneReader
    _carried: dict[bpy.types.Object, Matrix] = field(default_factory=dict)

    def world_of(self, control: Control) -> Matrix:
        """Where a control is, with all that was placed so far."""
        if not control.bone:
            return self._carry(control.ob) @ self.scene.world_of(control.ob)
        reader = self.scene.armature(control.ob)
        return reader.world @ reader.pose_of(reader.tip(control.bone))

    def place(self, control: Control, wanted_world: Matrix) -> tuple[Raw, ...]:
        """Give a control a place, and an orientation where that counts; returns what its channels of `modes` hold."""
        owner = control.owner
        others = control.channels
        if control.bone:
            reader = self.scene.armature(control.ob)
            pose_bone, wanted_armature = reader.tip(control.bone), reader.world.inverted_safe() @ wanted_world
            owner.matrix_basis = basis_at(
                owner.bone, wanted_armature, reader.parent_pose(pose_bone), reader.way(pose_bone)
            )
            reader.pose(control.bone, wanted_armature)
        else:
            owner.matrix_basis = self._to_basis(control) @ wanted_world
            self._carried[control.ob] = wanted_world @ self.scene.world_of(control.ob).inverted_safe()
        mirrors = [now * before < 0.0 for now, before in zip(owner.scale, others[SCALE], strict=True)]
        for mode, before in others.items():
            if mode not in control.modes:
                _put_raw(owner, mode, before)
            elif mode != LOCATION:
                rotation = _mirrored(quaternion_of(raw_values(owner, mode), mode), mirrors)
                _put_raw(owner, mode, raw_of(rotation, mode, before))
        return tuple(raw_values(owner, mode) for mode in control.modes)

    def world_with(self, control: Control, channels: dict[str, Raw]) -> Matrix:
        """Where a control would be with these numbers in its channels, by their modes, and its own in the others."""
        raws = control.channels | channels
        mode = next(mode for mode in raws if mode not in (LOCATION, SCALE))
        basis = Matrix.LocRotScale(Vector(raws[LOCATION]), quaternion_of(raws[mode], mode), Vector(raws[SCALE]))
        if not control.bone:
            return self._to_basis(control).inverted_safe() @ basis
        reader = self.scene.armature(control.ob)
        return reader.world @ reader.pose_with(reader.tip(control.bone), basis)

    def _to_basis(self, control: Control) -> Matrix:
        """From the world to what the channels of an object make."""
        if control.ob.parent is None:
            # To the last digit, wherever it is now.
            return Matrix()
        own = control.ob.evaluated_get(self.scene.depsgraph).matrix_basis
        return own @ self.world_of(control).inverted_safe()

    def _carry(self, ob: bpy.types.Object) -> Matrix:
        """How far a control that was placed carries an object that is parented to it."""
        parent = ob.parent
        while parent is not None and parent not in self._carried:
            parent = parent.parent
        return Matrix() if parent is None else self._carried[parent]


def _mirrored(rotation: Quaternion, axes: Sequence[bool]) -> Quaternion:
    """The rotation that makes the same of a scale with these axes mirrored, an even number of them."""
    if not any(axes):
        return rotation
    basis = rotation.to_matrix()
    for axis, mirrored in enumerate(axes):
        if mirrored:
            basis.col[axis] *= -1.0
    return rotation_in(basis)


def _put_raw(owner: bpy.types.Object | bpy.types.PoseBone, mode: str, raw: Raw) -> None:
    setattr(owner, channel_of(mode)[0], raw)


HOLDER = "analytic_ik_holder"
"""A custom property of the Empties that show grips: a name is anybody's."""


def is_live_lock(constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint lets a control follow the Empty that shows a grip."""
    return constraint.type == "COPY_TRANSFORMS" and constraint.target is not None and HOLDER in constraint.target


BLEND = 0.25
"""Seconds over which a lock eases in and out, where nothing else is said."""


@dataclass(frozen=True, slots=True)
class LiveLock:
    """tip: name of the tip bone. control: what follows the holder, by the constraint."""

    tip: str
    control: Control
    constraint: bpy.types.Constraint

    @property
    def holder(self) -> bpy.types.Object:
        """The Empty that shows the grip: moved, it moves the hand in it."""
        return self.constraint.target

    @property
    def held(self) -> Control | None:
        """What the limb is locked to; None if that is gone."""
        parent = self.holder.parent
        return Control(parent, self.holder.parent_bone if self.holder.parent_type == "BONE" else "") if parent else None

    @property
    def influence_path(self) -> str:
        """The data path of its influence."""
        return f"{self.constraint.path_from_id()}.influence"


def live_locks_of(tips: Iterable[bpy.types.PoseBone]) -> list[LiveLock]:
    """The locks of limbs, by their tips."""
    found = []
    for tip in tips:
        if tip.analytic_ik_target is not None:
            control = keyed_control(tip, Control(tip.analytic_ik_target, tip.analytic_ik_subtarget))
            # A control bone may have been deleted.
            gone = control.bone and (control.ob.pose is None or control.bone not in control.ob.pose.bones)
            own = () if gone else control.owner.constraints
            found += [LiveLock(tip.name, control, each) for each in own if is_live_lock(each)]
    return found
