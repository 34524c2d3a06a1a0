"""Clips for a game engine: its bones for feet and hands are filled, and what it does not take as it is is said.

Unreal's mannequins have ik_foot_l, ik_foot_r, ik_hand_gun, ik_hand_l and ik_hand_r; characters made for Unity or Godot
have LeftFootIK and the like. Their parents ik_foot_root and ik_hand_root stay where the root is.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, hypot

import bpy
import numpy as np
from mathutils import Matrix

from .. import messages
from ..authoring.controls import controls_of
from ..authoring.fk_frames import keys_of
from ..authoring.for_export import back_to_live, clips_baked_for_export
from ..bake.clips import Chosen, over_clips
from ..bake.keys import check_undriven, write_keys
from ..bake.report import publish
from ..bake.stepping import Steps, part_of, recorded, stepping_lightly
from ..planting.feet.loops import period_of, seam_of
from ..planting.scene.reading import legs_of, shown
from ..rig.blender.animation import bone_of_path
from ..rig.blender.clips import Clip, clip_name, clips_of, playing_clip
from ..rig.blender.rotations import LOCATION, array_of, pose_matrix, raw_of, raw_values
from ..rig.data.export_stash import has_aside, held_by_bones, put_bones_aside

_GOALS = {
    r"ik_(foot|hand)_([lr])": r"\1_\2",
    r"ik_hand_gun": "hand_r",
    r"(left|right)(foot|hand)_?ik": r"\1\2",
}
"""Whole names, without what comes before a colon and in lower case, and those of the bones that they follow."""


def goals_of(ob: bpy.types.Object) -> dict[str, str | None]:
    """The goals among the bones of an armature object, parents first, each with the bone that it follows; None: that is
    not there.

    What something else moves is none: a chain's control, or a bone with constraints.
    """
    controls = {control.bone for bone in ob.pose.bones for control in controls_of(bone) if control.ob == ob}
    by_name = {_plain(bone.name): bone.name for bone in ob.pose.bones}
    found = {}
    for bone in ob.pose.bones:
        followed = next((re.sub(form, name, _plain(bone.name)) for form, name in _GOALS.items() if _is(bone, form)), "")
        if followed and bone.name not in controls and not bone.constraints:
            found[bone.name] = by_name.get(followed)
    return dict(sorted(found.items(), key=lambda pair: len(ob.pose.bones[pair[0]].parent_recursive)))


def _plain(name: str) -> str:
    return name.rpartition(":")[2].lower()


def _is(bone: bpy.types.PoseBone, form: str) -> bool:
    return re.fullmatch(form, _plain(bone.name)) is not None


def goals_filled(context: bpy.types.Context, ob: bpy.types.Object, frames: range) -> Steps[list[str]]:
    """In steps: key the goals of an armature object in the action that it plays, at each frame where the bones are that
    they follow, as far from these as at rest; the names of the goals. Raises ChainError where one has a driver."""
    goals = {goal: followed for goal, followed in goals_of(ob).items() if followed is not None}
    if not goals:
        return []
    check_undriven(ob, [*goals], "location")
    parents = {goal: ob.pose.bones[goal].parent for goal in goals}
    seen = list(dict.fromkeys([*goals.values(), *(parent.name for parent in parents.values() if parent)]))

    def take(depsgraph: bpy.types.Depsgraph) -> list[np.ndarray]:
        bones = ob.evaluated_get(depsgraph).pose.bones
        return [array_of(bones[name].matrix) for name in seen]

    rows = yield from recorded(stepping_lightly(context, [ob]), frames, take)
    poses = dict(zip(seen, np.swapaxes(rows, 0, 1), strict=True))
    keys = []
    for goal, followed in goals.items():
        places, turns = _channels(ob.pose.bones[goal], followed, poses)
        mode = ob.pose.bones[goal].rotation_mode
        keys += [keys_of(goal, LOCATION, places, frames), keys_of(goal, mode, turns, frames)]
    write_keys(ob, keys, "CURRENT")
    return [*goals]


def _channels(goal: bpy.types.PoseBone, followed: str, poses: Mapping[str, np.ndarray]) -> tuple[list, list]:
    """The locations and the rotations with which a goal is where it belongs. poses: its own are put there, for what is
    parented to it."""
    data, parent = goal.id_data.data, goal.parent
    from_followed = data.bones[followed].matrix_local.inverted_safe() @ goal.bone.matrix_local
    places, turns, near = [], [], raw_values(goal, goal.rotation_mode)
    wanted = [Matrix(pose).normalized() @ from_followed for pose in poses[followed]]
    for k, pose in enumerate(wanted):
        basis = pose_matrix(goal.bone, pose, Matrix(poses[parent.name][k]) if parent else None, invert=True)
        near = raw_of(basis.to_quaternion(), goal.rotation_mode, near)
        places.append(tuple(basis.translation))
        turns.append(near)
    if goal.name in poses:
        poses[goal.name][:] = np.array(wanted)
    return places, turns


@dataclass(frozen=True, slots=True)
class Engine:
    """label: its name. clip_names, bone_names: characters that it does not keep in names. one_root: it takes a single
    bone without a parent. on_frames: it takes clips that begin and end on frames of a whole rate."""

    label: str
    clip_names: str
    bone_names: str
    one_root: bool = False
    on_frames: bool = False


ENGINES = {
    # INVALID_OBJECTNAME_CHARACTERS in Unreal's NameTypes.h; "animation has to be frame-border aligned".
    "UNREAL": Engine("Unreal", "\"' ,/.:|&!~\n\r\t@#(){}[]=;^%$`", ".,/`%", one_root=True, on_frames=True),
    # Its states have no dots, and paths of bones are divided by slashes.
    "UNITY": Engine("Unity", ".", "/"),
    # AnimationLibrary::is_valid_animation_name; Skeleton3D's paths are divided by these.
    "GODOT": Engine("Godot", "/:,[", ":/"),
}
_TRANSFORMS = {"location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale"}
_SAME_SIZE = 1e-4
_CLOSED, _LOOP = 0.01, 0.1
"""Parts of a leg by which ends of a loop may be apart; and up to which a clip is taken for one."""
_TRAVELS, _COMES_ALONG = 0.5, 0.5
"""Leg lengths from which on a body travels; and the part of that by which its root must come along."""


def clips_baked_for_engine(context: bpy.types.Context, ob: bpy.types.Object, engine: str) -> Steps[dict]:
    """In steps: `clips_baked_for_export`, and what an engine of `ENGINES` needs, in the report as `engine_ready` says.

    engine: "NONE" for no more than that. Raises ChainError, with nothing changed.
    """
    goals = {name: held for name, held in held_by_bones(ob).items() if name in goals_of(ob)}
    grown = grown_clips(ob)
    report = yield from part_of(clips_baked_for_export(context, ob), 0, 1 + (engine != "NONE"))
    if engine == "NONE":
        return report
    try:
        put_bones_aside(ob, goals)
        found = yield from part_of(engine_ready(context, ob, engine, clips_of(ob), grown=grown), 1, 2)
    except BaseException:
        if has_aside(ob):
            back_to_live(ob)
        raise
    return publish(*with_engine(report["files"], found))


def with_engine(entries: Sequence[dict], found: Sequence[dict]) -> list[dict]:
    """The entries of a report, each with those of `engine_ready` of its clip in `engine`; those of clips that are not
    in the report are in the first."""
    called = [entry.get("clip") for entry in entries]
    own: list[list[dict]] = [[] for _ in entries]
    for each in found:
        own[called.index(each["clip"]) if each["clip"] in called else 0].append(each)
    return [{**entry, "engine": clips} if clips else entry for entry, clips in zip(entries, own, strict=True)]


def grown_clips(ob: bpy.types.Object) -> dict[str, str]:
    """By names of clips whose keys end between frames, what a bake makes of that: it has keys on frames alone."""
    clips, found = clips_of(ob), {}
    for clip in clips:
        ends = [end for curves in clip.curves for curve in curves for end in curve.range()]
        if any(abs(end - round(end)) > 1e-3 for end in ends and (min(ends), max(ends))):
            to = {"start": floor(min(ends)), "end": ceil(max(ends))}
            found[clip_name(clip, clips)] = messages.CLIP_GROWN(first=min(ends), last=max(ends), **to)
    return found


def engine_ready(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    engine: str,
    clips: Chosen,
    frames: range | None = None,
    grown: Mapping[str, str] | None = None,
) -> Steps[list[dict]]:
    """In steps: fill the goals of an engine in baked clips, and say what it does not take as it is; an entry for each
    clip.

    armature, engine: as given; clip: its name, "" for what plays over `frames`. filled: the goals. warnings: sentences.
    grown: see `grown_clips`, before the bake.
    """
    whole = list(_of_armature(ob, ENGINES[engine]))
    names = [clip_name(clip, filter(None, clips)) if clip else "" for clip in clips]

    def work(frames: range) -> Steps[dict]:
        filled = yield from part_of(goals_filled(context, ob, frames), 0, 2)
        said = yield from part_of(_of_clip(context, ob, ENGINES[engine], frames), 1, 2)
        return {"armature": ob.name, "engine": engine, "filled": filled, "warnings": [*whole, *said]}

    found = yield from over_clips(ob, clips, work, frames)
    for entry, name in zip(found, names, strict=True):
        if grown and name in grown:
            entry["warnings"].append(grown[name])
    return [{**entry, "clip": name} for entry, name in zip(found, names, strict=True)]


def _of_armature(ob: bpy.types.Object, engine: Engine) -> Iterator[str]:
    """What an engine does not take of an armature object as it is."""
    roots = [bone.name for bone in ob.data.bones if bone.parent is None and bone.use_deform]
    if engine.one_root and len(roots) > 1:
        yield messages.ENGINE_TAKES_ONE_ROOT(engine=engine.label, bones=messages.quoted(roots))
    renamed = [bone.name for bone in ob.data.bones if set(bone.name) & set(engine.bone_names)]
    if renamed:
        yield messages.ENGINE_CHANGES_NAMES(engine=engine.label, names=messages.few(renamed))
    for goal, followed in goals_of(ob).items():
        if followed is None:
            yield messages.ENGINE_GOAL_ALONE(bone=goal)


def _of_clip(context: bpy.types.Context, ob: bpy.types.Object, engine: Engine, frames: range) -> Steps[list[str]]:
    """In steps: what an engine does not take of the clip that plays as it is."""
    clip = playing_clip(ob)
    said = list(_of_keys(ob, clip, engine)) if clip else []
    render = context.scene.render
    rate = render.fps / render.fps_base
    if engine.on_frames and abs(rate - round(rate)) > 1e-3:
        said.append(messages.ENGINE_RATE(engine=engine.label, fps=rate))
    legs = legs_of(ob)
    if legs and len(frames) > 2:
        motion = yield from shown(context, ob, legs, frames)
        seam, period = float(seam_of(motion)[0].max()), period_of(motion)
        # Where its last frame comes before the first one, it is not known how far it goes in between.
        if (_CLOSED if period else 0.0) < seam < _LOOP and period < len(frames):
            said.append(messages.ENGINE_OPEN_LOOP(percent=100.0 * seam))
        hips = motion.hips.mean(axis=0)
        said += _root_motion(ob, clip, legs[0].links[0], float(np.linalg.norm((hips[-1] - hips[0])[:2])), motion.size)
    return said


def _of_keys(ob: bpy.types.Object, clip: Clip, engine: Engine) -> Iterator[str]:
    """What an engine does not take of a clip's name and keys."""
    if set(clip.name) & set(engine.clip_names):
        yield messages.ENGINE_CHANGES_NAMES(engine=engine.label, names=messages.quoted([clip.name]))
    curves = [curve for own in clip.curves for curve in own]
    ends = [end for curve in curves for end in curve.range()]
    if engine.on_frames and ends and any(abs(end - round(end)) > 1e-3 for end in (min(ends), max(ends))):
        yield messages.ENGINE_BETWEEN_FRAMES(engine=engine.label, first=min(ends), last=max(ends))
    scaled, dropped = [], []
    for curve in curves:
        bone, channel = bone_of_path(curve.data_path)[0], curve.data_path.rpartition(".")[2]
        if bone and channel == "scale" and any(abs(point.co.y - 1.0) > _SAME_SIZE for point in curve.keyframe_points):
            scaled.append(bone)
        if channel not in _TRANSFORMS:
            dropped.append(channel)
    if scaled:
        yield messages.ENGINE_SCALED(bones=messages.few(list(dict.fromkeys(scaled))))
    if dropped:
        yield messages.ENGINE_DROPS(channels=messages.few(list(dict.fromkeys(dropped))))


def _root_motion(ob: bpy.types.Object, clip: Clip | None, leg: str, travels: float, size: float) -> Sequence[str]:
    """What is to be said of a body that travels so far, world units. leg: the first bone of one of its legs."""
    if travels < _TRAVELS * size or clip is None:
        return []
    top, moves = ob.pose.bones[leg].parent_recursive[-1].name, dict.fromkeys(("", *ob.pose.bones.keys()), 0.0)
    for curve in (curve for own in clip.curves for curve in own if curve.data_path.endswith("location")):
        first, last = (curve.evaluate(end) for end in curve.range())
        bone = bone_of_path(curve.data_path)[0]
        moves[bone] = hypot(moves[bone], (last - first) * (ob.matrix_world.median_scale if bone else 1.0))
    if moves[top] >= _COMES_ALONG * travels:
        return []
    if moves[""] >= _COMES_ALONG * travels:
        return [messages.ENGINE_OBJECT_MOVES(armature=ob.name)]
    return [messages.ENGINE_ROOT_STAYS(bone=top, distance=travels)]
