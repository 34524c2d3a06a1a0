"""From pose bones and targets to plain numbers in armature space, and what is wrong where that cannot be done."""

from collections.abc import Sequence
from math import isfinite

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..solvers import Chain, ChainError, solver_for
from .carriers import carriers
from .channels import Raw, quaternion_of
from .hinge import hinge_armature
from .limb import BoneReading, Limb, fk_joints, pose_matrix
from .posing import FkPose
from .settings import Settings, settings_of


class SceneReader:
    """The armatures of one evaluated scene, for the length of one pass.

    depsgraph: what evaluated the scene. frame_changed: see FkPose. What was posed in the pass, and what hangs on it,
    is read as it will be, not as it was evaluated.
    """

    def __init__(self, depsgraph: bpy.types.Depsgraph, frame_changed: bool = False) -> None:
        self.depsgraph = depsgraph
        self._frame_changed = frame_changed
        self._armatures: dict[str, ArmatureReader] = {}

    def armature(self, ob: bpy.types.Object) -> "ArmatureReader":
        """The reader of an armature object."""
        reader = self._armatures.get(ob.name_full)
        if reader is None:
            reader = self._armatures[ob.name_full] = ArmatureReader(self, ob.original, self._frame_changed)
        return reader

    def world_of(self, ob: bpy.types.Object) -> Matrix:
        """Where an object is in the world."""
        world = ob.evaluated_get(self.depsgraph).matrix_world.copy()
        carry = self._carry(ob.original)
        return world if carry is None else carry @ world

    def _carry(self, original: bpy.types.Object) -> Matrix | None:
        """How far this pass moved an object from where it was evaluated; None: not at all."""
        parent = original.parent
        if parent is None or not self._armatures:
            return None
        carry = self._carry(parent)
        reader = self._armatures.get(parent.name_full)
        if reader is None or original.parent_type != "BONE":
            return carry
        moved = reader.moved(original.parent_bone)
        if moved is None:
            return carry
        evaluated_world = reader.evaluated.matrix_world
        by_bone = evaluated_world @ moved @ evaluated_world.inverted_safe()
        return by_bone if carry is None else carry @ by_bone


class ArmatureReader:
    """One armature object in a pass. Bones that are posed are told to `pose`."""

    def __init__(self, scene: SceneReader, ob: bpy.types.Object, frame_changed: bool) -> None:
        self.ob = ob
        self.evaluated = ob.evaluated_get(scene.depsgraph)
        self.world = scene.world_of(ob)
        self._scene = scene
        self._world_inverse = self.world.inverted_safe()
        self._fk = FkPose(ob, self.evaluated, frame_changed)
        self._posed: dict[str, Matrix] = {}

    def tip(self, name: str) -> bpy.types.PoseBone:
        """The tip bone of a chain, as animated and driven."""
        return self.evaluated.pose.bones[name]

    def fk_rotation(self, name: str) -> tuple[str, Raw]:
        """Rotation mode of a bone and its FK rotation, as numbers of that mode."""
        return self._fk.rotation(name)

    def fk_pose(self, name: str, rotation: Quaternion) -> Matrix:
        """The pose matrix of a bone in armature space for a local rotation, under its parent as posed so far."""
        pose_bone = self.evaluated.pose.bones[name]
        parent_pose = self.pose_of(pose_bone.parent) if pose_bone.parent else None
        location = Vector() if pose_bone.bone.use_connect else pose_bone.location
        return pose_matrix(pose_bone.bone, Matrix.LocRotScale(location, rotation, pose_bone.scale), parent_pose)

    def pose(self, name: str, matrix_armature: Matrix) -> None:
        """Tell where a bone is posed in this pass."""
        self._posed[name] = matrix_armature

    def pose_of(self, pose_bone: bpy.types.PoseBone) -> Matrix:
        """The pose matrix of an evaluated bone, with all that was posed in this pass."""
        if not self._posed:
            return pose_bone.matrix.copy()
        known = self._posed.get(pose_bone.name)
        if known is not None:
            return known
        parent = pose_bone.parent
        if parent is None or not any(above.name in self._posed for above in pose_bone.parent_recursive):
            return pose_bone.matrix.copy()
        parent_pose = self.pose_of(parent)
        if any(constraint.enabled for constraint in pose_bone.constraints):
            # What the constraint does is unknown here: let the bone ride as it was evaluated.
            posed = parent_pose @ parent.matrix.inverted_safe() @ pose_bone.matrix
        else:
            posed = pose_matrix(pose_bone.bone, pose_bone.matrix_basis, parent_pose)
        self._posed[pose_bone.name] = posed
        return posed

    def moved(self, name: str) -> Matrix | None:
        """How far this pass moved a bone from where it was evaluated, in armature space; None: not at all."""
        pose_bone = self.evaluated.pose.bones.get(name) if self._posed else None
        if pose_bone is None:
            return None
        posed = self.pose_of(pose_bone)
        return posed @ pose_bone.matrix.inverted_safe() if pose_bone.name in self._posed else None

    def limb(self, tip_name: str) -> Limb:
        """Read a chain. Raises ChainError that names the bone, what is wrong with it and what cures it."""
        tip = self.tip(tip_name)
        settings = settings_of(tip)
        try:
            chain = chain_bones(tip, settings.chain_count)
            check_targets(self.ob, chain, settings)
            solver = solver_for(len(chain), settings.solver)
            root_parent = chain[0].parent
            bones = self.bones(chain)
            return Limb(
                tip=tip_name,
                settings=settings,
                solver=solver,
                world=self.world,
                bones=bones,
                chain=fk_chain(bones),
                parent_pose=self.pose_of(root_parent) if root_parent else None,
                target_armature=self._point(settings.target, settings.subtarget, "target"),
                pole_armature=self._point(settings.pole_target, settings.pole_subtarget, "pole")
                if settings.pole_target
                else None,
            )
        except ChainError as error:
            raise ChainError(f"Bone '{tip_name}': {error}") from error

    def bones(self, chain: list[bpy.types.PoseBone]) -> tuple[BoneReading, ...]:
        """Read evaluated bones, root first, in their FK pose. Raises ChainError where they are no limb."""
        if not self.world.determinant():
            raise ChainError(f"the armature object '{self.ob.name}' has a scale of zero; give it a size")
        readings = []
        parent_pose = self.pose_of(chain[0].parent) if chain[0].parent else None
        for pose_bone in chain:
            mode, fk = self._fk.rotation(pose_bone.name)
            fk_rotation = quaternion_of(fk, mode)
            original = self.ob.pose.bones[pose_bone.name]
            bone = original.bone
            location = Vector() if bone.use_connect else pose_bone.location.copy()
            scale = pose_bone.scale.copy()
            parent_pose = pose_matrix(bone, Matrix.LocRotScale(location, fk_rotation, scale), parent_pose)
            readings.append(BoneReading(original, bone, mode, fk, fk_rotation, location, scale, parent_pose))
        return tuple(readings)

    def _point(self, ob: bpy.types.Object, bone_name: str, what: str) -> Vector:
        """Where a target or pole is, in armature space."""
        if bone_name:
            carrier = self._scene.armature(ob)
            bone_armature = carrier.pose_of(carrier.evaluated.pose.bones[bone_name]).to_translation()
            if carrier is self:
                return bone_armature
            point_world = carrier.world @ bone_armature
        else:
            point_world = self._scene.world_of(ob).to_translation()
        point_armature = self._world_inverse @ point_world
        if not all(isfinite(value) for value in point_armature):
            raise ChainError(
                f"the location of its {what} '{ob.name}' is not a number; clear the transform, keys and "
                "drivers of that object"
            )
        return point_armature


def fk_chain(readings: Sequence[BoneReading]) -> Chain:
    """The chain in its FK pose, relative to its root; its hinge is asked for where it is straight.

    Raises ChainError where one of the bones has no length, or a transform that is not a number.
    """
    points = fk_joints(readings)
    try:
        chain = Chain([point - points[0] for point in points], bend_normal=lambda: hinge_armature(readings))
    except ChainError as error:
        poses = ((reading.name, reading.pose_armature) for reading in readings)
        name = next(
            (name for name, pose in poses if not all(map(isfinite, (value for row in pose for value in row)))),
            readings[-1].name,
        )
        raise ChainError(
            f"the pose of bone '{name}' holds values that are not numbers; clear its transform and its parents'"
        ) from error
    for reading, length in zip(readings, chain.lengths, strict=True):
        if length <= 1e-6 * chain.length:
            raise ChainError(
                f"bone '{reading.name}' of its chain has no length; lengthen it in edit mode, or clear its pose scale"
            )
    return chain


def chain_bones(tip: bpy.types.PoseBone, chain_count: int) -> list[bpy.types.PoseBone]:
    """The bones of a chain from root to tip. Raises ChainError where the armature has too few."""
    bones = [tip]
    while bones[-1].parent is not None and len(bones) != chain_count:
        bones.append(bones[-1].parent)
    if chain_count and len(bones) < chain_count:
        raise ChainError(
            f"there are {len(bones)} bones from it up to the root and the chain asks for {chain_count}; "
            f"set Bones to {len(bones)} or less"
        )
    return bones[::-1]


def check_targets(ob: bpy.types.Object, chain: list[bpy.types.PoseBone], settings: Settings) -> None:
    """Raise ChainError where target or pole is missing, gone, or moved by the chain itself."""
    if settings.target is None:
        raise ChainError("there is no target; choose an object as its Target")
    for what, control, bone_name in (
        ("target", settings.target, settings.subtarget),
        ("pole", settings.pole_target, settings.pole_subtarget),
    ):
        if control is None:
            continue
        if not in_any_collection(control):
            raise ChainError(f"its {what} '{control.name}' was deleted; choose another one or clear it")
        if bone_name and (control.pose is None or bone_name not in control.pose.bones):
            raise ChainError(
                f"its {what} '{control.name}' has no bone '{bone_name}'; choose one of that armature's bones"
            )
        names = {bone.name for bone in chain}
        own = (bone.name for carrier, bone in carriers(control, bone_name) if carrier == ob and bone.name in names)
        carrier = next(own, None)
        if carrier is not None:
            raise ChainError(
                f"its {what} {_shown(control, bone_name)} moves with the chain's own bone '{carrier}'; choose one "
                "that does not hang below the chain"
            )


def in_any_collection(ob: bpy.types.Object) -> bool:
    """False for an object that was deleted and lives on only because a chain still points to it."""
    original = ob.original
    view_layer = bpy.context.view_layer
    # The first test answers at once for what is shown; the second visits all collections.
    return bool((view_layer and original.visible_get(view_layer=view_layer)) or original.users_collection)


def _shown(control: bpy.types.Object, bone_name: str) -> str:
    return f"bone '{bone_name}'" if bone_name else f"'{control.name}'"
