"""When an object or a bone is where its F-Curves say, and its parents': so that it can be sampled (sampling.py)."""

import re
from collections.abc import Iterator

import bpy

from ... import messages
from .animation import animated_paths, bone_of_path, current_fcurve_collections, plays
from .movers import taken_by

_ROTATIONS = ("rotation_euler", "rotation_quaternion", "rotation_axis_angle")
_CHANNELS = {"location", "scale", *_ROTATIONS}
_CHANNELS |= {f"delta_{name}" for name in _CHANNELS}
"""What F-Curves may set, and drivers may not."""
_FIXED = ("rotation_mode", "parent", "matrix", "constraints", "animation_data", "data", "bone")
"""How the names begin of what neither may set: with it the same channels place something elsewhere."""
_FIXED_OF_ARMATURE = re.compile(
    r"pose_position|bones\[.*\]\.(use_inherit_rotation|inherit_scale|use_local_location|use_connect|parent.*"
    r"|matrix.*|head(_local)?|tail(_local)?|length)$",
    re.DOTALL,
)


def time_is_plain(scene: bpy.types.Scene) -> bool:
    """Whether F-Curves play at the scene's own frames, not stretched by time remapping."""
    return scene.render.frame_map_old == scene.render.frame_map_new


def not_simple(ob: bpy.types.Object, bone_name: str = "") -> str:
    """What prevents sampling an object, and with `bone_name` that bone of it too; "": nothing does.

    All objects and bones above are judged as well. What the add-on's own chains move is for the caller to know.
    """
    return Judge().not_simple(ob, bone_name)


class Judge:
    """Says `not_simple` of many objects and bones, and reads the animation of each object once.

    For one call: it holds Blender's data.
    """

    def __init__(self) -> None:
        self._objects: dict[bpy.types.Object, str] = {}
        self._bones: dict[bpy.types.Object, _Bones] = {}

    def not_simple(self, ob: bpy.types.Object, bone_name: str = "") -> str:
        """See `not_simple`."""
        ob = ob.original  # pyright: ignore[reportAssignmentType]
        if ob not in self._objects:
            self._objects[ob] = _object_not_simple(ob)
        if self._objects[ob] or not bone_name:
            return self._objects[ob]
        if ob.pose is None or bone_name not in ob.pose.bones:
            return messages.CONTROL_WITHOUT_BONE(object=ob.name, bone=bone_name)
        if ob not in self._bones:
            self._bones[ob] = _Bones(ob)
        return self._bones[ob].not_simple(bone_name)

    def keys_not_simple(self, ob: bpy.types.Object) -> str:
        """What prevents sampling what animation sets on an object and its bones; "": its own action alone does."""
        return _action_not_simple(ob.original)  # pyright: ignore[reportArgumentType]


def _settings(ob: bpy.types.Object) -> Iterator[tuple[str, bool]]:
    """The paths of `ob` that its own action and drivers set, and whether it is a driver."""
    data = ob.animation_data
    if data is not None:
        for home in current_fcurve_collections(data):
            yield from ((curve.data_path, False) for curve in home if plays(curve))
        yield from ((driver.data_path, True) for driver in data.drivers if not driver.mute)


def _object_not_simple(ob: bpy.types.Object) -> str:
    """`not_simple` of an object, with all objects above it."""
    above = ob
    while above is not None:
        why = _action_not_simple(above) or _placed_otherwise(above)
        if why:
            return why
        above = above.parent
    return ""


def _action_not_simple(ob: bpy.types.Object) -> str:
    """Why an object does not just play its action; "": it does."""
    data = ob.animation_data
    if data is None:
        return ""
    if data.use_tweak_mode:
        return messages.IN_TWEAK_MODE(object=ob.name)
    if data.use_nla and any(track.is_solo or (track.strips and not track.mute) for track in data.nla_tracks):
        return messages.PLAYS_STRIPS(object=ob.name)
    if data.action is None:
        return ""
    if data.action_blend_type != "REPLACE" or data.action_influence != 1.0:
        return messages.ACTION_BLENDED(object=ob.name)
    if len(current_fcurve_collections(data)) > 1:
        return messages.ACTION_LAYERED(object=ob.name)
    return ""


def _placed_otherwise(ob: bpy.types.Object) -> str:
    """What places an object besides its channels and its parent; "": nothing does."""
    parent = ob.parent
    constraint = next((constraint for constraint in ob.constraints if not constraint.mute), None)
    if constraint is not None:
        return messages.OBJECT_CONSTRAINED(object=ob.name, constraint=constraint.name)
    if ob.rigid_body is not None:
        return messages.RIGID_BODY(object=ob.name)
    if parent is not None:
        if ob.parent_type != "OBJECT":
            part = ob.parent_type.partition("_")[0].lower()
            return messages.HANGS_BY_PART(object=ob.name, parent=parent.name, part=part)
        if parent.type == "CURVE" and (parent.data.use_path or "use_path" in animated_paths(parent.data)):
            return messages.FOLLOWS_PATH(object=ob.name, parent=parent.name)
    for path, is_driver in _settings(ob):
        name = _channel(path)
        if name == "constraints" and not ob.constraints:
            continue
        if name.startswith(_FIXED) or (is_driver and name in _CHANNELS):
            return _said(name, is_driver, messages.CONTROL_OBJECT(control=ob.name))
    return ""


class _Bones:
    """What prevents sampling the bones of an object that is simple itself."""

    def __init__(self, ob: bpy.types.Object) -> None:
        self._ob = ob
        self._of_all = self._any_bone_not_simple()
        self._set, constrained = {}, set()
        for path, is_driver in _settings(ob):
            owner, what = bone_of_path(path)
            name = _channel(what)
            if not owner:
                if path.startswith("pose.bones["):
                    self._of_all = self._of_all or messages.BONE_BY_NUMBER(object=ob.name)
            elif name == "constraints":
                constrained.add(owner)
            elif name.startswith(_FIXED) or (is_driver and name in _CHANNELS):
                self._set.setdefault(owner, _said(name, is_driver, messages.CONTROL_BONE(bone=owner)))
        self._moved: dict[str, str] = {}
        for bone in ob.pose.bones:
            # Where they are animated, muted ones count.
            for constraint in bone.constraints if len(bone.constraints) else ():
                if not constraint.mute or bone.name in constrained:
                    self._move(bone, constraint)

    def not_simple(self, bone_name: str) -> str:
        """What prevents sampling a bone, or one above it."""
        if self._of_all or not (self._set or self._moved):
            return self._of_all
        pose_bone = self._ob.pose.bones[bone_name]
        line = [pose_bone.name, *(bone.name for bone in pose_bone.parent_recursive)]
        found = (of_bone[name] for of_bone in (self._set, self._moved) for name in line if name in of_bone)
        return next(found, "")

    def _any_bone_not_simple(self) -> str:
        ob = self._ob
        if ob.data.pose_position != "POSE":
            return messages.SHOWN_AT_REST(object=ob.name)
        if ob.data.is_editmode:
            return messages.IN_EDIT_MODE(object=ob.name)
        path = next(filter(_FIXED_OF_ARMATURE.match, animated_paths(ob.data)), None)
        if path is not None:
            channel = path.rpartition(".")[2].replace("_", " ")
            return messages.ARMATURE_ANIMATED(channel=channel, data=ob.data.name)
        return ""

    def _move(self, pose_bone: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> None:
        """A constraint of a bone moves that bone, and may move others."""
        said = messages.CONTROL_BONE_CONSTRAINED(bone=pose_bone.name, constraint=constraint.name)
        self._moved.setdefault(pose_bone.name, said)
        for name in taken_by(constraint, pose_bone):
            said = messages.MOVED_BY_CONSTRAINT(bone=name, constraint=constraint.name, owner=pose_bone.name)
            self._moved.setdefault(name, said)


def _channel(path: str) -> str:
    """The first name of an RNA path."""
    return path.partition("[")[0].partition(".")[0]


def _said(name: str, is_driver: bool, owner: str) -> str:
    message = messages.DRIVER_SETS if is_driver else messages.ANIMATION_SETS
    return message(channel=name.replace("_", " "), owner=owner)
