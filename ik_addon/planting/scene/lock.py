"""Lock to Object: the control of a hand or foot follows something by Blender's constraint of keyed influence.

The constraint copies an Empty, the holder, which is parented to what holds: an object, or a bone. So what holds may be
animated afterwards, and the control keeps the keys of its own motion.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import bpy
import numpy as np
from mathutils import Matrix

from ... import messages
from ...authoring.keys import curves_at, remove_animation
from ...authoring.placing import BLEND, HOLDER, Control, LiveLock, Placer, home_of, live_locks_of
from ...authoring.selection import all_tips
from ...bake.stepping import Steps, at_once
from ...rig.blender.armatures import tag_pose
from ...rig.blender.clips import motion_frames
from ...rig.blender.dependencies import Node, followed_nodes
from ...rig.data.settings import target_and_pole
from ...rig.data.undoing import all_or_nothing
from ...rig.model.body import bodies_of
from ...rig.model.foot import end_bone
from ...rig.model.limb import known_bones
from ...rig.pose.reading import SceneReader
from ...rig.status.problems import check_changeable
from ...solvers import ChainError
from ...solvers.vectors import finite_number
from ..feet.clip import LegMotion, mean_turn
from ..feet.contacts import find_holds
from ..feet.curves import runs
from .limbs import FEWEST, keyed_control, leave_to_control
from .reading import clip_rate, leg_of, near_to, pose_of_end, pose_of_held, shown_over

_NAME = "Analytic IK Lock"
_SIZE = 0.1
"""Part of the limb's last bone as long as which a holder is drawn."""
_Grip = tuple[range, Matrix | None]
"""Frames of a lock, and the pose of the control in what holds it; None: as it is shown now."""


def locked(
    context: bpy.types.Context,
    tips: Sequence[bpy.types.PoseBone],
    held: Control,
    frames: range,
    contacts: str = "RANGE",
    blend: float = BLEND,
) -> Steps[list[tuple[LiveLock, range]]]:
    """In steps: let the controls of limbs, all of one armature, keep their pose on something from now on.

    held: an object or a bone. contacts: RANGE in all of these frames, as hand and object are shown now; FOUND where
    they move together and are close, with the mean of each contact. A lock of the whole shot has no keys. blend:
    seconds to ease in and out. Comes to the locks with their frames. Raises ChainError that names the bone, with
    nothing changed.
    """
    ob, scene, controls = tips[0].id_data, context.scene, {}
    finite_number(blend, "the blend", least=0.0)
    for tip in tips:
        check_held(context, tip, held)
        target = Control(tip.analytic_ik_target, tip.analytic_ik_subtarget)
        controls[tip] = replace(keyed_control(tip, target), turns=True)
        check_changeable(controls[tip].ob)
    grips: dict[bpy.types.PoseBone, list[_Grip]] = {tip: [(frames, None)] for tip in tips}
    if contacts == "FOUND":
        grips = yield from _found(context, controls, held, frames)
    shot = motion_frames(ob) or range(scene.frame_start, scene.frame_end + 1)
    locks = []
    with all_or_nothing([ob, *(control.ob for control in controls.values())], keys=True):
        for tip in tips:
            leave_to_control(tip)
        for tip, own in grips.items():
            for span, grip in own:
                lock = _lock(context, tip, controls[tip], held, grip)
                locks.append((lock, span))
                if span.start > shot.start or span.stop < shot.stop:
                    _key_influence(lock, span, round(blend * scene.render.fps / scene.render.fps_base))
        tag_pose(ob)
        context.view_layer.update()
    return locks


lock = at_once(locked)


def _found(
    context: bpy.types.Context, controls: Mapping[bpy.types.PoseBone, Control], held: Control, frames: range
) -> Steps[dict[bpy.types.PoseBone, list[_Grip]]]:
    """In steps: where the ends of limbs move with something and are near to it, as all are shown over frames."""
    if len(frames) < FEWEST:
        raise ChainError(messages.TOO_FEW_FRAMES())
    things = [pose_of_held(held), *map(pose_of_end, controls), *map(pose_of_held, controls.values())]
    space, *shown = yield from shown_over(context, things, frames)
    ends, moved = shown[: len(controls)], shown[len(controls) :]
    places, turns = (np.array([getattr(end, name) for end in ends]) for name in ("places", "turns"))
    lengths = np.array([leg_of(tip, at_feet=False).lengths for tip in controls])
    clip = LegMotion(clip_rate(context.scene, frames), lengths, places, places, places, places, turns)
    found = find_holds(space.seen_from(clip), near_to(context, held, clip, space))
    if not found.any():
        raise ChainError(messages.NO_HOLD(armature=next(iter(controls)).id_data.name, held=held.shown))
    grips = {}
    for tip, way, rows in zip(controls, moved, found, strict=True):
        places, turns = space.seen(way.places), space.turns.swapaxes(1, 2) @ way.turns
        grips[tip] = [
            (
                range(frames[first], frames[last] + 1),
                Matrix.LocRotScale(
                    places[first : last + 1].mean(axis=0), Matrix(mean_turn(turns[first : last + 1]).tolist()), None
                ),
            )
            for first, last in runs(rows)
        ]
    return grips


def _lock(
    context: bpy.types.Context, tip: bpy.types.PoseBone, control: Control, held: Control, grip: Matrix | None
) -> LiveLock:
    """Let a control follow an Empty that is where it is now, or in its grip, and is parented to what holds."""
    context.view_layer.update()
    depsgraph = context.evaluated_depsgraph_get()
    world = Placer(SceneReader(depsgraph)).world_of(control)
    if grip is not None:
        world = pose_of_held(held)(depsgraph) @ grip @ Matrix.LocRotScale(None, None, world.to_scale())
    holder = bpy.data.objects.new(f"{control.name} on {held.name}", None)
    holder[HOLDER] = True
    holder.empty_display_type, holder.empty_display_size = "ARROWS", _SIZE * tip.bone.length
    home_of(tip.id_data, context.scene).objects.link(holder)
    holder.parent = held.ob
    if held.bone:
        holder.parent_type, holder.parent_bone = "BONE", held.bone
    context.view_layer.update()
    above = holder.evaluated_get(context.evaluated_depsgraph_get()).matrix_world
    # Whatever the size of what holds; and if that is deleted, the hand stays where it was.
    holder.matrix_parent_inverse = above.inverted_safe()
    holder.matrix_basis = world
    constraint = control.owner.constraints.new("COPY_TRANSFORMS")
    constraint.name, constraint.target = _NAME, holder
    return LiveLock(tip.name, control, constraint)


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


def release(context: bpy.types.Context, ob: bpy.types.Object, tips: Sequence[str]) -> list[str]:
    """Take the locks of limbs off, by the names of their tips; returns of which. Their controls stay where they are
    shown."""
    locks = [lock for lock in live_locks_of(ob.pose.bones[tip] for tip in tips if tip in ob.pose.bones)]
    if not locks:
        raise ChainError(messages.NOT_LOCKED(armature=ob.name))
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
            Placer(scene).place(replace(control, turns=True), world)
        tag_pose(ob)
    return list(dict.fromkeys(lock.tip for lock in locks))


def check_held(context: bpy.types.Context, tip: bpy.types.PoseBone, held: Control) -> None:
    """Raise ChainError where a limb cannot be held to something, for it is gone, or moves with the limb."""
    ob, is_known = tip.id_data, held.ob is not None and held.ob.name in context.view_layer.objects
    if not is_known or (held.bone and (held.ob.pose is None or held.bone not in held.ob.pose.bones)):
        gone = messages.HELD_BONE_GONE(object=held.ob.name, bone=held.bone) if is_known else messages.HELD_GONE()
        raise ChainError(gone).of(messages.BONE(bone=tip.name))
    if moves(tip, held):
        raise ChainError(messages.HELD_BY_LIMB(held=held.shown)).of(messages.BONE(bone=tip.name))
    nodes, above = followed_nodes(held.ob, held.bone), {bone.name for bone in known_bones(tip)[0].parent_recursive}
    for body in bodies_of(ob):
        if body in above and (ob, body) in nodes:
            raise ChainError(messages.HELD_ON_BODY(body=body, held=held.shown)).of(messages.BONE(bone=tip.name))


def moves(tip: bpy.types.PoseBone, held: Control) -> bool:
    """True if a limb moves something: with its bones, by what follows its controls, or by other limbs that do."""
    nodes, waiting = followed_nodes(held.ob, held.bone), [other for other in all_tips(tip.id_data) if other != tip]
    while not nodes & _moved_by(tip):
        movers = [other for other in waiting if nodes & _moved_by(other)]
        if not movers:
            return False
        for other in movers:
            waiting.remove(other)
            for ob, bone in target_and_pole(other):
                nodes |= followed_nodes(ob, bone)
    return True


def _moved_by(tip: bpy.types.PoseBone) -> set[Node]:
    """What a limb moves: its own bones, with hand or foot, and its controls."""
    end = end_bone(tip)
    nodes = {(tip.id_data, bone.name) for bone in (*known_bones(tip), *((end,) if end else ()))}
    target = Control(tip.analytic_ik_target, tip.analytic_ik_subtarget)
    keyed = keyed_control(tip, target) if target.ob is not None else target
    return nodes | {(keyed.ob, keyed.bone), *target_and_pole(tip)}
