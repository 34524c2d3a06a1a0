"""What Blender shows of a character: its evaluated bones over frames as arrays, and distances and turns of them.

Nothing here asks the add-on: chains are known by the names of their bones alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import bpy
import numpy as np

IN_REACH = 1e-4
"""How much farther in than the limb's own reach a place lies, of that reach, so that it counts as in reach."""


@dataclass(frozen=True)
class Motion:
    """Where bones are on frames.

    frames: which. names: of the bones. world: matrices of all bones in the world, shape (frames, bones, 4, 4).
    """

    frames: tuple[int, ...]
    names: tuple[str, ...]
    world: np.ndarray

    def of(self, name: str) -> np.ndarray:
        """World matrices of a bone, shape (frames, 4, 4)."""
        return self.world[:, self.names.index(name)]


@dataclass(frozen=True)
class Limb:
    """A limb by its bones.

    bones: names, root first. end: the foot or hand, or "". end_rest: where the limb ends, in its last bone's own space.
    rigid: of each bone, True if it does not bend against the bone before it.
    """

    bones: tuple[str, ...]
    end: str
    end_rest: tuple[float, float, float]
    rigid: tuple[bool, ...]

    def joints(self, motion: Motion) -> np.ndarray:
        """World positions of the limb's joints and of its end, shape (frames, joints, 3)."""
        heads = [motion.of(name)[:, :3, 3] for name, rigid in zip(self.bones, self.rigid, strict=True) if not rigid]
        return np.stack([*heads, self.ends(motion)], axis=1)

    def ends(self, motion: Motion) -> np.ndarray:
        """World positions of the limb's end, shape (frames, 3)."""
        return motion.of(self.bones[-1])[:, :3] @ np.array([*self.end_rest, 1.0])

    def length(self, motion: Motion) -> float:
        """The limb's length in world units, joint to joint; the median over the frames."""
        return float(np.median(_links(self.joints(motion)).sum(axis=1)))

    def in_reach(self, motion: Motion, places: np.ndarray) -> np.ndarray:
        """Whether the limb can bring its end to places, with its lengths in a motion; shapes (frames,), (frames, 3)."""
        joints = self.joints(motion)
        links = _links(joints)
        farthest = links.sum(axis=1)
        nearest = 2.0 * links.max(axis=1) - farthest
        away = np.linalg.norm(places - joints[:, 0], axis=1)
        return (away < farthest * (1.0 - IN_REACH)) & (away > nearest + farthest * IN_REACH)


def limb_of(ob: bpy.types.Object, bones: Sequence[str], end: str) -> Limb:
    """The limb of some bones, root first, that ends at the head of the bone `end`, or at its last bone's tail."""
    tip = ob.data.bones[bones[-1]]
    rest = ob.data.bones[end].head_local if end else tip.tail_local
    # What was split for its twist has its bend axes locked.
    rigid = [k > 0 and ob.pose.bones[name].analytic_ik_rigid for k, name in enumerate(bones)]
    return Limb(tuple(bones), end, tuple(tip.matrix_local.inverted() @ rest), tuple(rigid))


def place_world(control: bpy.types.Object, bone: str = "") -> np.ndarray:
    """World matrix of an object, or of a bone of it, as evaluated now."""
    evaluated = control.evaluated_get(bpy.context.evaluated_depsgraph_get())
    world = np.array(evaluated.matrix_world)
    return world @ np.array(evaluated.pose.bones[bone].matrix) if bone else world


def shown(ob: bpy.types.Object) -> Motion:
    """All bones as Blender shows them now, at the current frame."""
    bpy.context.view_layer.update()
    return Motion((bpy.context.scene.frame_current,), tuple(ob.pose.bones.keys()), _evaluated(ob)[None])


def played(ob: bpy.types.Object, frames: Sequence[int]) -> Motion:
    """All bones as Blender shows them on frames."""
    return played_with(ob, frames, ())[0]


def played_with(
    ob: bpy.types.Object, frames: Sequence[int], controls: Sequence[tuple[bpy.types.Object, str]]
) -> tuple[Motion, np.ndarray]:
    """All bones on frames; and world matrices of controls, shape (controls, frames, 4, 4).

    controls: objects, each with the name of its bone or "".
    """
    world, places = [], []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        world.append(_evaluated(ob))
        places.append([place_world(*control) for control in controls])
    shape = (len(frames), len(controls), 4, 4)
    motion = Motion(tuple(frames), tuple(ob.pose.bones.keys()), np.stack(world))
    return motion, np.array(places).reshape(shape).swapaxes(0, 1)


def farthest(motion: Motion, other: Motion) -> float:
    """The largest way of any bone's head between two motions on the same frames, in world units."""
    ours, theirs = _same_bones(motion, other)
    return float(np.linalg.norm((ours - theirs)[..., :3, 3], axis=-1).max())


def most_turned(motion: Motion, other: Motion) -> float:
    """The largest angle of any bone between two motions on the same frames, in degrees."""
    return float(turns(*_same_bones(motion, other)).max())


def turns(matrices: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Angles between the orientations of matrices and of others, in degrees; 0 where a bone is scaled to nothing."""
    difference = orientations(matrices) - orientations(others)
    sines = np.linalg.norm(difference, axis=(-2, -1)) / 8.0**0.5
    return np.degrees(2.0 * np.arcsin(np.minimum(sines, 1.0)))


def jumps(motion: Motion, other: Motion, name: str) -> np.ndarray:
    """From each frame to the next, by how much more one motion turns a bone than the other does, in degrees."""
    apart = orientations(motion.of(name)) @ orientations(other.of(name)).swapaxes(-1, -2)
    return turns(apart[1:], apart[:-1])


def orientations(matrices: np.ndarray) -> np.ndarray:
    """The rotations nearest to matrices, shape (..., 3, 3); the identity for what is scaled to nothing."""
    left, sizes, right = np.linalg.svd(matrices[..., :3, :3])
    flat = sizes[..., 2] < 1e-6 * sizes[..., 0].clip(min=1e-30)
    return np.where(flat[..., None, None], np.eye(3), left @ right)


def uneven(motion: Motion, names: Sequence[str]) -> float:
    """By how much the scales of bones differ between their axes, at most; 0 if they are even."""
    sizes = np.concatenate([np.linalg.svd(motion.of(name)[:, :3, :3], compute_uv=False) for name in names])
    return float((sizes[:, 0] / sizes[:, 2].clip(min=1e-30)).max() - 1.0)


def _same_bones(motion: Motion, other: Motion) -> tuple[np.ndarray, np.ndarray]:
    """The matrices of the bones that both have: rigging may add some."""
    names = [name for name in motion.names if name in other.names]
    return tuple(one.world[:, [one.names.index(name) for name in names]] for one in (motion, other))


def _links(joints: np.ndarray) -> np.ndarray:
    """Lengths of the links between joints, shape (frames, links)."""
    pairs = pairwise(range(joints.shape[1]))
    return np.stack([np.linalg.norm(joints[:, b] - joints[:, a], axis=1) for a, b in pairs], axis=1)


def _evaluated(ob: bpy.types.Object) -> np.ndarray:
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    flat = np.empty(16 * len(evaluated.pose.bones), np.float32)
    evaluated.pose.bones.foreach_get("matrix", flat)
    # Blender holds matrices column by column.
    poses = flat.reshape(-1, 4, 4).swapaxes(1, 2).astype(float)
    return np.array(evaluated.matrix_world) @ poses
