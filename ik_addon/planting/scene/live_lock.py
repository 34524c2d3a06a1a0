"""Live locks: the control of a hand or foot follows something by Blender's own constraint, whose influence is keyed.

The constraint copies an Empty, the holder, which is parented to what holds: an object, or a bone. So what holds may be
animated afterwards, and the control keeps the keys of its own motion.
"""

import bpy
from mathutils import Matrix

from ... import messages
from ...authoring.control_collections import home_of
from ...authoring.keys import curves_at, remove_animation
from ...authoring.live_locks import LiveLock, live_locks_of
from ...authoring.placing import Control, Placer
from ...rig.blender.armatures import tag_pose
from ...rig.blender.clips import motion_frames
from ...rig.data.held_feet import BLEND, HOLDER
from ...rig.data.undoing import all_or_nothing
from ...rig.pose.reading import SceneReader
from ...rig.status.problems import check_changeable
from ...solvers import ChainError
from .limbs import keyed_control, leave_to_control
from .lock import check_held

_NAME = "Analytic IK Lock"
_SIZE = 0.1
"""Part of the limb's last bone as long as which a holder is drawn."""


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
    holder[HOLDER] = True
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
