"""Live locks: the control of a hand or foot follows something by Blender's own constraint, whose influence is keyed.

The constraint copies an Empty, the holder, which is parented to what holds: an object, or a bone. So what holds may be
animated afterwards, and the control keeps the keys of its own motion.
"""

from dataclasses import dataclass

import bpy
from mathutils import Matrix

from ... import messages
from ...authoring.control_collections import home_of
from ...authoring.keys import curves_at, remove_animation
from ...authoring.placing import Control, Placer
from ...authoring.selection import all_tips
from ...rig.blender.armatures import tag_pose
from ...rig.blender.clips import motion_frames
from ...rig.data.held_feet import BLEND
from ...rig.data.undoing import all_or_nothing
from ...rig.pose.reading import SceneReader
from ...rig.status.problems import check_changeable
from ...solvers import ChainError
from .limbs import keyed_control, leave_to_control
from .lock import check_held

_NAME = "Analytic IK Lock"
_MARK = "analytic_ik_holder"
"""A custom property of holders: a name is anybody's."""
_SIZE = 0.1
"""Part of the limb's last bone as long as which a holder is drawn."""


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


def live_locks_of(ob: bpy.types.Object) -> list[LiveLock]:
    """The live locks of an armature object's limbs."""
    found = []
    for tip in all_tips(ob):
        if tip.analytic_ik_target is not None:
            control = keyed_control(tip, Control(tip.analytic_ik_target, tip.analytic_ik_subtarget))
            own = control.owner.constraints
            found += [LiveLock(tip.name, control, each) for each in own if _is_lock(each)]
    return found


def _is_lock(constraint: bpy.types.Constraint) -> bool:
    return constraint.type == "COPY_TRANSFORMS" and constraint.target is not None and _MARK in constraint.target


def lock_live(
    context: bpy.types.Context, tip: bpy.types.PoseBone, held: Control, frames: range, blend: float = BLEND
) -> LiveLock:
    """Let the control of a limb keep its pose, as it is shown now, on something from now on.

    held: an object or a bone. frames: of the lock; if they are all of the shot it has no keys. blend: seconds to ease
    in and out. Raises ChainError that names the bone, with nothing changed.
    """
    ob, scene = tip.id_data, context.scene
    check_held(context, tip, held)
    control = keyed_control(tip, Control(tip.analytic_ik_target, tip.analytic_ik_subtarget, turns=True))
    check_changeable(control.ob)
    shot = motion_frames(ob) or range(scene.frame_start, scene.frame_end + 1)
    with all_or_nothing([ob, control.ob], keys=True):
        leave_to_control(tip)
        context.view_layer.update()
        world = Placer(SceneReader(context.evaluated_depsgraph_get())).world_of(control)
        constraint = control.owner.constraints.new("COPY_TRANSFORMS")
        constraint.name, constraint.target = _NAME, _new_holder(context, tip, control, held, world)
        lock = LiveLock(tip.name, control, constraint)
        if frames.start > shot.start or frames.stop < shot.stop:
            fps = scene.render.fps / scene.render.fps_base
            _key_influence(lock, frames, round(blend * fps))
        tag_pose(ob)
        context.view_layer.update()
    return lock


def _new_holder(
    context: bpy.types.Context, tip: bpy.types.PoseBone, control: Control, held: Control, world: Matrix
) -> bpy.types.Object:
    """An Empty where a control is, parented to what holds."""
    home = home_of(tip.id_data, context.scene)
    holder = bpy.data.objects.new(f"{control.name} on {held.name}", None)
    holder[_MARK] = True
    holder.empty_display_type, holder.empty_display_size = "ARROWS", _SIZE * tip.bone.length
    home.objects.link(holder)
    holder.parent = held.ob
    if held.bone:
        holder.parent_type, holder.parent_bone = "BONE", held.bone
    context.view_layer.update()
    above = holder.evaluated_get(context.evaluated_depsgraph_get()).matrix_world
    # Whatever the size of what holds; and if that is deleted, the hand stays where it was.
    holder.matrix_parent_inverse = above.inverted_safe()
    holder.matrix_basis = world
    return holder


def _key_influence(lock: LiveLock, frames: range, blend: int) -> None:
    """Key a lock in these frames of the scene, eased over so many frames outside of them."""
    ease = max(blend, 1)
    for frame, influence in (
        (frames[0] - ease, 0.0),
        (frames[0], 1.0),
        (frames[-1], 1.0),
        (frames[-1] + ease, 0.0),
    ):
        lock.constraint.influence = influence
        lock.constraint.keyframe_insert("influence", frame=frame)
    for curve in curves_at(lock.control.ob, lock.influence_path):
        for key in curve.keyframe_points:
            key.interpolation = "BEZIER" if blend else "CONSTANT"
            key.handle_left_type = key.handle_right_type = "AUTO_CLAMPED"
        curve.update()


def release(context: bpy.types.Context, ob: bpy.types.Object, tips: list[str]) -> list[str]:
    """Take the live locks of limbs off, by the names of their tips; returns of which. Their controls stay where they
    are shown."""
    locks = [lock for lock in live_locks_of(ob) if lock.tip in tips]
    if not locks:
        raise ChainError(messages.NO_LIVE_LOCK(armature=ob.name))
    with all_or_nothing([ob, *(lock.control.ob for lock in locks)], keys=True):
        scene = SceneReader(context.evaluated_depsgraph_get())
        worlds = {lock.control: Placer(scene).world_of(lock.control) for lock in locks}
        for lock in locks:
            holder, owner = lock.holder, lock.control.owner
            remove_animation(lock.control.ob, lock.influence_path)
            owner.constraints.remove(lock.constraint)
            if holder.users == len(holder.users_collection):
                bpy.data.objects.remove(holder)
        for control, world in worlds.items():
            Placer(scene).place(Control(control.ob, control.bone, turns=True), world)
        tag_pose(ob)
    return [lock.tip for lock in locks]
