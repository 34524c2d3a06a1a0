"""Helper bones, constraints and drivers of one native chain, and its settings as custom properties of its tip."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import bpy
from mathutils import Matrix, Vector

from ..authoring.control_bones import edit_bones
from ..rig.blender.animation import drivers_of, fcurve_homes
from ..rig.blender.armatures import tag_pose
from ..rig.blender.clips import clips_of
from ..rig.blender.dependencies import read_by
from ..rig.blender.rotations import EULER_ORDERS
from ..rig.data.settings import NATIVE_SETTINGS, PREFIX, path_of
from .records import CONSTRAINT_PREFIX, FOLLOWERS, HELPER_PREFIX, HELPS, MECHANISM

_LONGEST_NAME = 63
"""Bytes that Blender keeps of a bone's name."""
_SHORTEST = 1e-4

Role = Literal["target", "pole_target"]


class Variable(NamedTuple):
    """What a driver reads: a transform channel of a helper, or a property at an RNA path of the armature object."""

    kind: str
    what: str


class _Bone(NamedTuple):
    name: str
    rest: Matrix
    length: float
    parent: str


class Mechanism:
    """The helpers of one chain. Bones are collected first and made all at once; constraints and drivers come then.

    above: the bone above the chain's root, "" if there is none. others: of the same armature, that are made with it.
    followers: the constraints that follow the chain's controls, with the role of the control.
    """

    def __init__(
        self, ob: bpy.types.Object, key: str, base: str, above: str, size: float, others: Sequence["Mechanism"] = ()
    ) -> None:
        self.ob, self.key, self._base, self._size = ob, key, base, size
        self._taken = {*ob.data.bones.keys(), *(name for other in others for name in other.names)}
        self._bones: list[_Bone] = []
        self._copies: list[tuple[bpy.types.PoseBone, bpy.types.Constraint]] = []
        self.followers: list[tuple[bpy.types.Constraint, Role]] = []
        self.drivers = self.constraints = 0
        self._space = above or self.bone("space", Matrix(), "")

    # Bones

    def bone(self, role: str, rest: Matrix, parent: str, size: float = 1.0, of: str = "") -> str:
        """Ask for a helper bone; its name. size: of its drawing, as a part of the chain's own helpers' size; of: the
        bone that it helps, if not the tip."""
        name = self._free(f"{HELPER_PREFIX}{role}-{of or self._base}")
        self._bones.append(_Bone(name, rest.copy(), max(self._size * size, _SHORTEST), parent))
        return name

    def _free(self, wanted: str) -> str:
        taken, number = self._taken | set(self.names), 0
        name = _cut(wanted, _LONGEST_NAME)
        while name in taken:
            number += 1
            name = _cut(wanted, _LONGEST_NAME - 4) + f".{number:03}"
        return name

    @property
    def names(self) -> list[str]:
        return [bone.name for bone in self._bones]

    def rest(self, name: str) -> Matrix:
        """Where a bone is at rest, as Blender keeps it."""
        return self.ob.data.bones[name].matrix_local

    def pose(self, name: str) -> bpy.types.PoseBone:
        return self.ob.pose.bones[name]

    # Constraints

    def constrain(self, bone: str, kind: str, what: str = "", first: bool = False, **values: object):
        """Give a bone a constraint. what: the word in its name. first: before those that the bone has."""
        stack = self.pose(bone).constraints
        active = stack.active
        constraint = stack.new(kind)
        constraint.name = f"{CONSTRAINT_PREFIX} {what}".strip()
        constraint.show_expanded = False
        for name, value in values.items():
            setattr(constraint, name, value)
        if active is not None:
            stack.active = active
        if first:
            stack.move(len(stack) - 1, 0)
        if kind == "COPY_ROTATION":
            self._copies.append((self.pose(bone), constraint))
        self.constraints += 1
        return constraint

    def follow(self, bone: str, kind: str, role: Role, control: bpy.types.Object, subtarget: str, **values: object):
        """A constraint by which a helper follows a control of the chain.

        The armature object may be scaled unevenly; in the space of one of its bones nothing is sheared.
        """
        space = {"space_object": self.ob, "space_subtarget": self._space}
        where = {"target": control, "owner_space": "CUSTOM", "target_space": "CUSTOM", **space}
        if control.type == "ARMATURE":
            where["subtarget"] = subtarget
        constraint = self.constrain(bone, kind, **where, **values)
        constraint.name = FOLLOWERS[role]
        self.followers.append((constraint, role))

    def copy(
        self, bone: str, source: str, kind: str, space: str = "POSE", what: str = "", first: bool = False, **values
    ):
        """A constraint by which a bone copies a helper, or a helper another bone."""
        where = {"target": self.ob, "subtarget": source, "owner_space": space, "target_space": space}
        return self.constrain(bone, kind, what, first, **where, **values)

    def choose_orders(self, depsgraph: bpy.types.Depsgraph) -> None:
        """Let each Copy Rotation work in the order of Euler angles whose middle angle is smallest just now.

        It works by these angles, and near the middle one's 90 degrees it loses digits.
        """
        evaluated = self.ob.evaluated_get(depsgraph)
        for bone, constraint in self._copies:
            own, space = evaluated.pose.bones[bone.name], constraint.owner_space
            if space == "CUSTOM":
                seen = evaluated.pose.bones[self._space].matrix.inverted() @ own.matrix
            else:
                seen = evaluated.convert_space(pose_bone=own, matrix=own.matrix, from_space="POSE", to_space=space)
            rotation = seen.to_quaternion()
            constraint.euler_order = min(
                EULER_ORDERS, key=lambda order: abs(rotation.to_euler(order)["XYZ".index(order[1])])
            )

    # Drivers

    def drive(self, owner: bpy.types.bpy_struct, path: str, expression: str, index: int = -1, **variables: Variable):
        """Drive a property by a simple expression, which needs no permission to run Python."""
        curve = owner.driver_add(path, index) if index >= 0 else owner.driver_add(path)
        for modifier in list(curve.modifiers):
            curve.modifiers.remove(modifier)
        driver = curve.driver
        driver.type = "SCRIPTED"
        for name, (kind, what) in variables.items():
            variable = driver.variables.new()
            variable.name = name
            if kind == "PROPERTY":
                variable.type = "SINGLE_PROP"
                variable.targets[0].id, variable.targets[0].data_path = self.ob, what
            else:
                variable.type = "TRANSFORMS"
                target = variable.targets[0]
                target.id, target.bone_target = self.ob, what
                target.transform_type, target.transform_space = kind, "LOCAL_SPACE"
        driver.expression = expression
        self.drivers += 1

    def turn_about(
        self, bone: str, axis: Vector, expression: str, hung: Matrix | None = None, **variables: Variable
    ) -> None:
        """Drive a helper's angle about a constant axis: one driver instead of four; without variables the angle is
        constant. axis: a direction of the FK pose. hung: what takes that pose to the helper's rest, if they differ."""
        axis = self.rest(bone).to_quaternion().inverted() @ (hung.to_quaternion() @ axis if hung else axis)
        owner = self.pose(bone)
        owner.rotation_mode = "AXIS_ANGLE"
        owner.rotation_axis_angle = (0.0 if variables else float(expression), *axis)
        if variables:
            self.drive(owner, "rotation_axis_angle", expression, 0, **variables)


def make_bones(mechanisms: Sequence[Mechanism]) -> None:
    """Make the bones that were asked for, all of one armature object at once, in the hidden bone collection."""
    ob = mechanisms[0].ob
    with edit_bones(ob) as bones:
        for each in (bone for mechanism in mechanisms for bone in mechanism._bones):
            bone = bones.new(each.name)
            bone.tail = (0.0, each.length, 0.0)
            bone.matrix = each.rest
            bone.length = each.length
            bone.use_deform = bone.use_connect = False
            bone.parent = bones.get(each.parent)
    home = ob.data.collections_all.get(MECHANISM) or ob.data.collections.new(MECHANISM)
    home.is_visible = False
    for mechanism in mechanisms:
        for name in mechanism.names:
            bone = ob.data.bones[name]
            for other in list(bone.collections):
                other.unassign(bone)
            home.assign(bone)
            bone.hide_select = True
            setattr(ob.pose.bones[name], HELPS, mechanism.key)


def _cut(name: str, size: int) -> str:
    return name.encode()[:size].decode(errors="ignore")


NATIVE_PREFIX = "ik_"
_SHOWN = {name: name for name in ("soft_min", "soft_max", "default", "subtype")} | {
    "min": "hard_min",
    "max": "hard_max",
}
"""How a custom property names what the property of a setting has."""
_ANIMATED_DATA = ("objects", "armatures", "shape_keys", "meshes", "materials", "node_groups", "worlds", "scenes")
"""Kinds of data-blocks whose drivers may read a setting."""


def key_of(name: str) -> str:
    """The name of the custom property that a setting becomes."""
    return NATIVE_PREFIX + name


def native_settings(tip: bpy.types.PoseBone) -> list[str]:
    """Names of the settings that a native chain has as custom properties."""
    return [name for name in NATIVE_SETTINGS if key_of(name) in tip]


def value_of(tip: bpy.types.PoseBone, name: str):
    """A setting of a native chain as it is now; of an evaluated tip: as animated."""
    return tip[key_of(name)]


def native_path(tip: bpy.types.PoseBone, name: str) -> str:
    """The RNA path of a setting while its chain is native."""
    return f'{tip.path_from_id()}["{key_of(name)}"]'


def variable(tip: bpy.types.PoseBone, name: str) -> Variable:
    """A setting, for a driver to read."""
    return Variable("PROPERTY", native_path(tip, name))


def to_native(tip: bpy.types.PoseBone, names: Iterable[str]) -> None:
    """Give a tip these settings as custom properties, and let what animates or reads them find them there."""
    for name in names:
        key, value = key_of(name), getattr(tip, PREFIX + name)
        tip[key] = value
        tip.property_overridable_library_set(f'["{key}"]', True)
        shown = tip.bl_rna.properties[PREFIX + name]
        options = {} if isinstance(value, bool) else {of: getattr(shown, own) for of, own in _SHOWN.items()}
        tip.id_properties_ui(key).update(description=shown.description, **options)
        _repath(tip.id_data, path_of(tip, name), native_path(tip, name))


def to_live(tip: bpy.types.PoseBone) -> None:
    """Take the custom properties away; what they were changed to, and what animates them, is the chain's again."""
    for name in native_settings(tip):
        key, own = key_of(name), PREFIX + name
        if getattr(tip, own) != tip[key]:
            setattr(tip, own, tip[key])
        _repath(tip.id_data, native_path(tip, name), path_of(tip, name))
        del tip[key]
    tag_pose(tip.id_data)


def homes_of(ob: bpy.types.Object) -> list:
    """All collections of F-Curves that play on an armature object or could: of all its clips."""
    found = [*fcurve_homes(ob), *(curves for clip in clips_of(ob) for curves in clip.curves)]
    return list({home[0].as_pointer() if len(home) else id(home): home for home in found}.values())


def _repath(ob: bpy.types.Object, old: str, new: str) -> None:
    """Let all that animates or reads a property of an armature object find it at another path."""
    for home in homes_of(ob):
        curve = home.find(old)
        if curve is not None:
            curve.data_path = new
    if ob.animation_data:
        driver = ob.animation_data.drivers.find(old)
        if driver is not None:
            driver.data_path = new
    curves = (curve for kind in _ANIMATED_DATA for block in getattr(bpy.data, kind) for curve in drivers_of(block))
    for variable, aim in (each for curve in curves for each in read_by(curve.driver)):
        if variable.type == "SINGLE_PROP" and aim.id == ob and aim.data_path == old:
            aim.data_path = new
