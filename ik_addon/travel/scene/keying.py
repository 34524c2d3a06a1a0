"""New motion in the world for bones and objects, into keys of a new action."""

from collections.abc import Mapping, Sequence

import bpy
import numpy as np
from mathutils import Matrix

from ... import messages
from ...authoring.fk_frames import keys_of
from ...authoring.placing import Control, depth
from ...bake.keys import BoneKeys, write_keys
from ...planting.scene.sources import forget_source
from ...rig.blender.armatures import is_changeable
from ...rig.blender.bones import pose_matrix, rotation_in
from ...rig.blender.channels import LOCATION, SCALE, Raw, channel_of, quaternion_of, raw_of
from ...rig.blender.clips import playing_clip
from ...rig.data.control_clips import controls_follow, keep_partner, partner
from ...solvers import ChainError
from .body import carriers_of
from .film import Channels, Film, turn_of

Rows = dict[str, list[Raw]]
"""What the channels of a control are to hold at each frame, by their modes."""
Worlds = Mapping[Control, np.ndarray]
"""Where controls are to be, (T, 4, 4) each."""

_SAME = 1e-6
"""Numbers this close are the same: of a matrix's elements, and of locations by `Film.size_of`."""
_SHEARED = 1e-4
"""How far a matrix's elements may be from what location, rotation and scale make."""


def rows_for(film: Film, wanted: Worlds) -> dict[Control, Rows]:
    """The channels with which controls are where they are wanted, as far as they change; those that they carry go
    along unless they are wanted elsewhere. Raises ChainError that names what cannot be put there."""
    ways = {control: worlds @ np.linalg.inv(film.world(control)) for control, worlds in wanted.items()}
    still = np.eye(4)[None]
    found = {}
    for control in sorted(wanted, key=depth):
        carried = next((ways[each] for each in carriers_of(control) if each in ways), still)
        bases = _of_bone(film, wanted, ways, control) if control.bone else _of_object(film, carried, wanted, control)
        rows = _changed(film, control, bases)
        if rows:
            _check_free(control, rows)
            found[control] = rows
    return found


def _of_object(film: Film, carried: np.ndarray, wanted: Worlds, control: Control) -> list[Matrix]:
    """The basis matrices of an object whose carrier goes a way `carried`."""
    to_own = np.linalg.inv(carried @ film.world(control))
    locals_now = [_basis(row) for row in film.channels[control]]
    return [basis @ Matrix(way) for basis, way in zip(locals_now, to_own @ wanted[control], strict=True)]


def _of_bone(film: Film, wanted: Worlds, ways: Worlds, control: Control) -> list[Matrix]:
    """The basis matrices of a bone."""
    bone, world = control.owner.bone, film.worlds[control.ob]
    above = [each for each in carriers_of(control) if each.ob == control.ob]
    own = Control(control.ob, "", turns=True)
    way_of_object = next((ways[each] for each in (own, *carriers_of(own)) if each in ways), np.eye(4))
    new_world = way_of_object @ world
    poses = np.linalg.inv(new_world) @ wanted[control]
    if bone.parent is None:
        return [pose_matrix(bone, Matrix(pose), None, invert=True) for pose in poses]
    way = next((ways[each] for each in above if each in ways), way_of_object)
    parents = np.linalg.inv(new_world) @ way @ world @ film.poses[bone.parent.name]
    pairs = zip(poses, parents, strict=True)
    return [pose_matrix(bone, Matrix(pose), Matrix(parent), invert=True) for pose, parent in pairs]


def _changed(film: Film, control: Control, bases: Sequence[Matrix]) -> Rows:
    """The channels that have to hold something else for these basis matrices."""
    before = film.channels[control]
    mode = turn_of(before[0])
    locations, rotations = [], []
    near = before[0][mode]
    for row, basis in zip(before, bases, strict=True):
        rotation = rotation_in(basis, row[SCALE])
        made = Matrix.LocRotScale(basis.translation, rotation, row[SCALE])
        size = max(map(abs, row[SCALE]))
        if _apart(made.to_3x3(), basis.to_3x3()) > _SHEARED * size:
            raise ChainError(messages.TRAVEL_SHEARED()).of(words_of(control))
        locations.append(tuple(basis.translation))
        near = raw_of(rotation, mode, near)
        rotations.append(near)
    rows = {}
    size = film.size_of(control)
    if any(_apart((place,), (row[LOCATION],)) > _SAME * size for place, row in zip(locations, before, strict=True)):
        rows[LOCATION] = locations
    turned = (
        _apart(quaternion_of(now, mode).to_matrix(), quaternion_of(row[mode], mode).to_matrix())
        for now, row in zip(rotations, before, strict=True)
    )
    if any(apart > _SAME for apart in turned):
        rows[mode] = rotations
    return rows


def _apart(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]) -> float:
    return max(abs(x - y) for one, other in zip(a, b, strict=True) for x, y in zip(one, other, strict=True))


def _basis(channels: Channels) -> Matrix:
    mode = turn_of(channels)
    return Matrix.LocRotScale(channels[LOCATION], quaternion_of(channels[mode], mode), channels[SCALE])


def _check_free(control: Control, rows: Rows) -> None:
    """Raise ChainError where a control does not go where these of its channels say."""
    owner, ob = control.owner, control.ob
    if not is_changeable(ob):
        raise ChainError(messages.TRAVEL_LINKED()).of(words_of(control))
    if control.bone and owner.bone.use_connect and owner.parent is not None and LOCATION in rows:
        raise ChainError(messages.TRAVEL_CONNECTED()).of(words_of(control))
    for constraint in owner.constraints:
        if constraint.enabled and constraint.influence > 0.0:
            raise ChainError(messages.TRAVEL_CONSTRAINED(constraint=constraint.name)).of(words_of(control))
    data = ob.animation_data
    prefix = f"{owner.path_from_id()}." if control.bone else ""
    for mode in rows:
        path = channel_of(mode)[0]
        if data is not None and any(not each.mute and each.data_path == prefix + path for each in data.drivers):
            raise ChainError(messages.TRAVEL_DRIVEN(channel=path.replace("_", " "))).of(words_of(control))


def words_of(control: Control) -> str:
    """A bone or object at the beginning of a sentence."""
    return messages.BONE(bone=control.bone) if control.bone else messages.OBJECT(object=control.ob.name)


def write_rows(film: Film, found: Mapping[Control, Rows], made: str) -> bpy.types.Action:
    """Key channels in a copy of what the armature object plays, and of what belongs to it; returns the copy.

    made: what the name of a copy says of it.
    """
    keys: dict[bpy.types.Object, list[BoneKeys]] = {film.ob: []}
    for control, rows in found.items():
        own = [keys_of(control.bone, mode, raws, film.frames) for mode, raws in rows.items()]
        keys.setdefault(control.ob, []).extend(own)
    action = write_keys(film.ob, keys[film.ob], "COPY", made)
    # What it was planted or matched from moves otherwise.
    forget_source(action)
    # In the copy of a clip they have copies of their slots.
    controls_follow(film.ob)
    for ob, channels in keys.items():
        if ob != film.ob:
            _write_control(film.ob, ob, channels, made)
    return action


def _write_control(ob: bpy.types.Object, control: bpy.types.Object, channels: list[BoneKeys], made: str) -> None:
    """The same for an object that controls chains: what belongs to the clip stays with its copy."""
    own, clip = playing_clip(control), playing_clip(ob)
    belongs = own is not None and own == partner(control, clip)
    in_copy = belongs and own.name == clip.name
    write_keys(control, channels, "CURRENT" if in_copy else "COPY", made)
    if belongs:
        keep_partner(control, clip, playing_clip(control))
