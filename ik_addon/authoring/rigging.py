"""Rig the limbs of any armature: survey them, put a chain, a control and a pole target on each, and report it."""

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import pairwise

import bpy
import numpy as np
from mathutils import Matrix

from .. import messages
from ..bake.clips import over_clips
from ..bake.keys import BoneKeys, key_times, write_keys
from ..bake.stepping import Progress, Steps, finish, in_time
from ..rig.blender.clips import (
    REST,
    clip_name,
    clips_of,
    has_keys,
    is_layered,
    motion_frames,
    moved_channels,
    playing_clip,
)
from ..rig.blender.dependencies import carriers, check_unmoved, is_rigify
from ..rig.blender.file_memory import file_memory
from ..rig.blender.rotations import LOCATION, SCALE, channel_of
from ..rig.data.control_clips import controls_follow, partners_made, separate_controls
from ..rig.data.undoing import all_or_nothing
from ..rig.model.limb import chain_bones, end_in_tip, fk_chain, hinge_armature
from ..rig.pose.reading import SceneReader
from ..rig.status.problems import check_changeable
from ..solvers import ChainError
from ..solvers.bending import is_straight, start_frame
from .clip_tracks import ClipTracks
from .control_bones import check_editable_bones, new_bones_taken_back
from .controls import VISIBLE, Added, Moved, add_chain, bones_stay
from .finding.limbs import FoundLimb, LeftOut, find_limbs
from .knees import nearest_axis
from .placing import Control, control_bones, controls_home
from .selection import is_tip
from .snap import Snapped, motion_snapped, snap_targets


@dataclass(frozen=True, slots=True)
class Survey:
    """The limbs of an armature object. free: those that can be rigged.

    unsure: those whose shape or place does not agree with their names; they can be rigged, but only if that is asked
    for. taken: those that cannot. none: bones that look like part of a limb, and are none. Each with the reason.
    """

    free: tuple[FoundLimb, ...]
    unsure: tuple[tuple[FoundLimb, str], ...]
    taken: tuple[tuple[FoundLimb, str], ...]
    none: tuple[LeftOut, ...]

    @property
    def choices(self) -> tuple[FoundLimb, ...]:
        """All limbs that can be rigged, surely found or not."""
        return (*self.free, *(limb for limb, _ in self.unsure))

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """All that is not rigged unasked, by a bone of it."""
        return (*self.none, *(LeftOut(limb.bones[-1], reason) for limb, reason in (*self.unsure, *self.taken)))


def survey(ob: bpy.types.Object, selected: Sequence[bpy.types.PoseBone] = (), arms: bool = False) -> Survey:
    """Find the legs of an armature object, and with `arms` its arms. selected: only limbs with one of these bones."""
    posed = {bone.name: bone.head for bone in ob.pose.bones}
    found = find_limbs([bone.bone for bone in selected] or ob.data.bones, arms, posed)
    doubts = [(limb, "") for limb in found.limbs] + [*found.unsure]
    reasons = [(limb, doubt, _why_taken(ob, limb)) for limb, doubt in doubts]
    return Survey(
        tuple(limb for limb, doubt, taken in reasons if not doubt and not taken),
        tuple((limb, doubt) for limb, doubt, taken in reasons if doubt and not taken),
        tuple((limb, taken) for limb, _, taken in reasons if taken),
        found.left_out,
    )


def _why_taken(ob: bpy.types.Object, limb: FoundLimb) -> str:
    """Why a limb is not free for a chain; "" if it is."""
    bones = [ob.pose.bones[name] for name in (*limb.bones, limb.end) if name]
    for bone in filter(_has_chain, bones):
        return messages.HAS_CHAIN(bone=bone.name)
    try:
        check_unmoved(bones)
    except ChainError as error:
        return str(error)
    return ""


def _has_chain(bone: bpy.types.PoseBone) -> bool:
    return bone.analytic_ik_enabled or bone.analytic_ik_target is not None


def corrected(ob: bpy.types.Object, limb: FoundLimb, first: str, tip: str, end: str, side: str) -> FoundLimb:
    """A limb with another first bone, tip, end bone ("": none) or side.

    Raises ChainError, to be said of the tip, if there is no such bone or no chain between them.
    """
    bones = ob.pose.bones
    for name in (first, tip, *filter(None, (end,))):
        if name not in bones:
            raise ChainError(messages.NO_SUCH_BONE(armature=ob.name, bone=name))
    above = [bone.name for bone in (bones[tip], *bones[tip].parent_recursive)]
    if first not in above:
        raise ChainError(messages.NOT_BELOW(bone=tip, first=first))
    chain = tuple(reversed(above[: above.index(first) + 1]))
    if end in chain:
        raise ChainError(messages.END_IN_CHAIN(bone=tip, end=end))
    same_end = end == limb.end
    return replace(
        limb,
        bones=chain,
        end=end,
        side=side,
        toe=limb.toe if same_end else "",
        heel=limb.heel if same_end else "",
        segments=tuple(name for name in limb.segments if name in chain[1:]),
        rides=limb.rides if same_end and tip == limb.bones[-1] else bool(end) and bones[end].parent == bones[tip],
    )


NONE_FOUND = {
    (False, False): messages.NO_LEG,
    (False, True): messages.NO_LEG_OR_ARM,
    (True, False): messages.NO_LEG_SELECTED,
    (True, True): messages.NO_LEG_OR_ARM_SELECTED,
}
"""By whether bones are selected, and whether arms are wanted too."""
_NAMES = {"LEG": ("Foot", "Knee"), "ARM": ("Hand", "Elbow")}
_FOOT_SIZE = 0.6
"""Half the edge of a foot's control, as a part of the way from ankle to toe."""
_SMALLEST, _LARGEST = 0.06, 0.2
"""Half the edge of a control at least and at most, as a part of the limb's length."""
_KNEE_SIZE = 0.05
"""Radius of a knee's pole, in lengths of the leg."""
_FORWARD = 0.3
"""Sine of the angle to its leg from which a foot tells what is forward."""
_AS_IT_IS = 0.7
"""Cosine of the angle to the wanted axis within which a knee's own does."""


@dataclass(frozen=True, slots=True)
class RiggedLimb:
    """A limb that got a chain. on_foot: its target is parented to its foot bone, which is the one to move."""

    limb: FoundLimb
    target: Control
    pole: Control
    on_foot: bool


@dataclass(frozen=True, slots=True)
class RoughClip:
    """A clip that controls carry, but not all of it. name: "" for what plays alone. bone: the tip of the limb that is
    farthest off. distance: how far, in world units."""

    name: str
    bone: str
    distance: float

    @property
    def warning(self) -> str:
        if self.name:
            return messages.CLIP_MISSED(clip=self.name, bone=self.bone, distance=self.distance)
        return messages.MOTION_MISSED(bone=self.bone, distance=self.distance)


@dataclass(frozen=True, slots=True)
class Followed:
    """Which motion the controls of limbs carry by keys.

    frames: over which they have keys in what plays; None if they have none. clips: names of all the clips that they
    carry, if there are several. rough: those of which something is seen to be elsewhere.
    """

    frames: range | None = None
    clips: tuple[str, ...] = ()
    rough: tuple[RoughClip, ...] = ()


@dataclass(frozen=True, slots=True)
class Rigged:
    """What `rig_legs` set up, and which bones it left out, with the reason.

    moved: bones that rounding moved so far that it can be seen, one for each limb at most. followed: the motion that
    the controls carry.
    """

    limbs: tuple[RiggedLimb, ...]
    left_out: tuple[LeftOut, ...]
    moved: tuple[Moved, ...] = ()
    followed: Followed = field(default_factory=Followed)

    @property
    def warnings(self) -> list[str]:
        """What is not as it was, a sentence each."""
        moved = (messages.MOVED_BY_ROUNDING(bone=one.bone, distance=f"{one.distance:.3g}") for one in self.moved)
        return [*moved, *(clip.warning for clip in self.followed.rough)]


def rig_legs(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    selected: Sequence[bpy.types.PoseBone] = (),
    arms: bool = False,
    follow_motion: bool = True,
    as_bones: bool = False,
    progress: Progress | None = None,
    knees_follow: bool = True,
) -> Rigged:
    """Find the legs of an armature object and give each a chain, a foot control and a knee pole. No bone moves.

    selected: look only at limbs with one of these bones; none: at all. arms: rig arms too, where names say so. For the
    others see `rig_limbs`. Raises ChainError, with nothing changed, where no limb can be rigged.
    """
    check_changeable(ob)
    found = survey(ob, selected, arms)
    if not found.free:
        raise ChainError(none_found(ob, found, NONE_FOUND[bool(selected), arms]))
    return rig_limbs(context, ob, found.free, found.left_out, follow_motion, as_bones, progress, knees_follow)


def rig_these(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    limbs: Sequence[FoundLimb],
    follow_motion: bool = True,
    as_bones: bool = False,
    progress: Progress | None = None,
    knees_follow: bool = True,
) -> Rigged:
    """The same for limbs that somebody named. Raises ChainError, with nothing changed, if none of them is free."""
    reasons = [(limb, _why_taken(ob, limb)) for limb in limbs]
    left_out = [LeftOut(limb.bones[-1], reason) for limb, reason in reasons if reason]
    free = [limb for limb, reason in reasons if not reason]
    if not free:
        raise ChainError(left_out[0].reason).of(messages.ARMATURE(armature=ob.name))
    return rig_limbs(context, ob, free, left_out, follow_motion, as_bones, progress, knees_follow)


def none_found(ob: bpy.types.Object, found: Survey, otherwise: messages.Refusal) -> str:
    """Why no limb of an armature object can be rigged, as a sentence. otherwise: says it where none was found."""
    if found.left_out and is_rigify(ob):
        return messages.RIGIFY_MOVES_LIMBS(armature=ob.name)
    chained = [any(_has_chain(ob.pose.bones[name]) for name in limb.bones) for limb, _ in found.taken]
    if chained and all(chained):
        return messages.LIMBS_HAVE_CHAINS(armature=ob.name)
    why = "".join(messages.IS_NONE(bone=out.bone, why=messages.as_part(out.reason)) for out in found.left_out[:4])
    return otherwise(armature=ob.name, why=why)


def rig_limbs(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    limbs: Sequence[FoundLimb],
    left_out: Sequence[LeftOut] = (),
    follow_motion: bool = True,
    as_bones: bool = False,
    progress: Progress | None = None,
    knees_follow: bool = True,
) -> Rigged:
    """Give each of these limbs of an armature object a chain, a target and a pole target. No bone moves.

    The feet follow their controls' rotation. left_out: what was left out before. follow_motion: key the controls so
    that they carry the limbs' own keys, if any. as_bones: the controls are control bones, not Empties. progress: is
    told of each frame of the keys. knees_follow: pole targets that are bones, of legs without keys, keep between foot
    and body. Raises ChainError, with nothing changed, if none of them can be rigged.
    """
    check_changeable(ob)
    if as_bones:
        check_editable_bones(ob)
    left, rigged, moved = list(left_out), [], []
    keyed = follow_motion and _have_motion(ob, [name for limb in limbs for name in (*limb.bones, limb.end) if name])
    taken_back = new_bones_taken_back if as_bones else nullcontext
    with taken_back(ob), all_or_nothing([ob]):
        tips = {limb.bones[-1] for limb in limbs}
        # Those with an opposite one first, so that a third arm takes no name that belongs to a pair.
        for limb in sorted(limbs, key=lambda limb: bpy.utils.flip_name(limb.bones[-1]) not in tips - {limb.bones[-1]}):
            try:
                tip = ob.pose.bones[limb.bones[-1]]
                with taken_back(ob), all_or_nothing([ob]), bones_stay(context, tip) as seen:
                    made = _rig(context, ob, limb, as_bones, knees_follow and not keyed)
            except ChainError as error:
                left.append(LeftOut(limb.bones[-1], str(error)))
            else:
                rigged.append(made)
                moved += seen
        if not rigged:
            raise ChainError(left[-1].reason).of(messages.ARMATURE(armature=ob.name))
        followed = _follow_motion(context, ob, rigged, progress) if follow_motion else Followed()
        return Rigged(tuple(rigged), tuple(left), tuple(moved), followed)


def _follow_motion(
    context: bpy.types.Context, ob: bpy.types.Object, rigged: Sequence[RiggedLimb], progress: Progress | None
) -> Followed:
    """Key the controls of new chains so that they carry the motion that keys give the limbs, in every clip."""
    tips = [ob.pose.bones[one.limb.bones[-1]] for one in rigged]
    # A limb without keys of its own may be carried by others that have them.
    names = [name for one in rigged for name in (*one.limb.bones, one.limb.end) if name]
    clips = [] if is_layered(ob) else [clip for clip in clips_of(ob, sources=True) if clip.action.is_editable]
    if len(clips) < 2:
        frames = motion_frames(ob) if has_keys(ob, names) else None
        if frames is None:
            return Followed()
        return Followed(frames, rough=_rough("", snap_targets(context, tips, frames, progress=progress)))

    moved = set().union(*map(moved_channels, clips))
    # Where no clip moves a limb, what carries the limbs leaves their controls where they are.
    needed = {*names} if any(name in names for name, _ in moved) else set()
    for control in (control for one in rigged for control in (one.target, one.pole)) if needed else ():
        needed |= {bone.name for holder, bone in carriers(control.ob, control.bone) if holder == ob}
    needed |= {above.name for name in needed for above in ob.pose.bones[name].parent_recursive}
    rough: list[RoughClip] = []

    def carried(frames: range) -> Steps[range | None]:
        clip = playing_clip(ob)
        if clip is not None:
            _key_rest(ob, {each for each in moved - moved_channels(clip) if each[0] in needed}, frames[0])
        if not has_keys(ob, names):
            return None
        name = clip_name(clip, clips) if clip is not None else ""
        off = _rough(name, (yield from motion_snapped(context, tips, frames, tracks)))
        rough.extend(off)
        return None if off else frames

    with all_or_nothing([ob], keys=True, actions=[clip.action for clip in clips]):
        partners_made(separate_controls(ob), clips)
        tracks = ClipTracks(ob, clips)
        found = finish(in_time(over_clips(ob, clips, carried)), progress)
        controls_follow(ob)
    carried_clips = [clip for clip, frames in zip(clips, found, strict=True) if frames is not None]
    own = next((frames for clip, frames in zip(clips, found, strict=True) if clip == playing_clip(ob)), None)
    return Followed(own, tuple(clip_name(clip, clips) for clip in carried_clips), tuple(rough))


def _rough(clip: str, snapped: Snapped) -> tuple[RoughClip, ...]:
    """A clip in which controls were snapped, if a limb is seen to be elsewhere than its keys have it."""
    tip = max(snapped.missed, key=snapped.missed.__getitem__)
    missed = snapped.missed[tip]
    return (RoughClip(clip, tip, missed * snapped.lengths[tip]),) if missed > VISIBLE else ()


def _key_rest(ob: bpy.types.Object, channels: Iterable[tuple[str, str]], frame: int) -> None:
    """Key the rest values of channels of bones, by names and paths, at a frame of the clip that plays.

    Blender leaves what a clip does not key as the clip before it left that. A control on such a bone would take its
    limb along.
    """
    keys, times = [], key_times([frame])
    for name, channel in sorted(channels):
        for mode in (LOCATION, ob.pose.bones[name].rotation_mode, SCALE) if name in ob.pose.bones else ():
            if channel_of(mode)[0] == channel:
                values = np.array([REST[channel]], np.float32)
                keys.append(BoneKeys(name, mode, times, values, (float(times[0]), float(times[0]))))
    if keys:
        write_keys(ob, keys, "CURRENT")


def _have_motion(ob: bpy.types.Object, names: Sequence[str]) -> bool:
    """Whether keys move one of these bones, in what plays or in one of several clips: then controls get keys too."""
    clips = clips_of(ob, sources=True)
    if len(clips) < 2:
        # A pose that is keyed once is no motion.
        return has_keys(ob, names) and motion_frames(ob) is not None
    return any(name in names for clip in clips for name, _ in moved_channels(clip))


def _rig(
    context: bpy.types.Context, ob: bpy.types.Object, limb: FoundLimb, as_bones: bool, knee_follows: bool
) -> RiggedLimb:
    tip = ob.pose.bones[limb.bones[-1]]
    for name in limb.segments:
        # Bones split for twist do not bend.
        ob.pose.bones[name].analytic_ik_rigid = True
    axis = _straight_axis(context, tip, limb)
    added = add_chain(
        context,
        tip,
        len(limb.bones),
        "AUTO",
        with_pole=True,
        straight_axis=axis,
        limb=limb,
        as_bones=as_bones,
        pole_follows=knee_follows and limb.kind == "LEG",
    )
    if not as_bones:
        _give_looks(context, tip, limb, added)
    # A foot may be parented to something else, such as the root.
    carried = limb.end and any(bone.name in limb.bones for bone in ob.pose.bones[limb.end].parent_recursive)
    on_foot = bool(limb.end) and not carried
    if on_foot and not as_bones:
        # Moving the foot moves the leg. Blender has not evaluated where the target is: it was made just now.
        target = added.target.ob
        place_world = Matrix.Translation(target.location)
        target.parent, target.parent_type, target.parent_bone = ob, "BONE", limb.end
        target.matrix_world = place_world
        # The foot is what one grabs: dragged away from it, the target would tear the leg off.
        target.hide_select, target.empty_display_type = True, "PLAIN_AXES"
    return RiggedLimb(limb, added.target, added.pole, on_foot)


def _give_looks(context: bpy.types.Context, tip: bpy.types.PoseBone, limb: FoundLimb, added: Added) -> None:
    """Name and shape the Empties of a limb, its target and its pole, and bring them to the controls' collection."""
    ob, target, pole = tip.id_data, added.target.ob, added.pole.ob
    collection = controls_home(ob, context.scene)
    place = "." + limb.place.title().replace("_", "") if limb.place else ""
    side = "." + limb.side if limb.side else ""
    for control, name in zip((target, pole), _NAMES[limb.kind], strict=True):
        control.name = f"{name}{place}{side}"
        for other in control.users_collection:
            other.objects.unlink(control)
        collection.objects.link(control)
    target.empty_display_type, pole.empty_display_type = "CUBE", "SPHERE"
    bones, scale = ob.data.bones, ob.matrix_world.median_scale
    # From joint to joint: an importer may make a bone of any length.
    joints = [*(bones[name].head_local for name in limb.bones), tip.bone.matrix_local @ end_in_tip(tip)]
    length = sum((b - a).length for a, b in pairwise(joints))
    foot = (bones[limb.toe].head_local - joints[-1]).length if limb.toe else 0.0
    target.empty_display_size = scale * min(max(_FOOT_SIZE * foot, _SMALLEST * length), _LARGEST * length)
    pole.empty_display_size = scale * _KNEE_SIZE * length


def _straight_axis(context: bpy.types.Context, tip: bpy.types.PoseBone, limb: FoundLimb) -> str:
    """About which axis of its knee a limb shall bend where it is straight: as it bends now, else as its foot points.

    AUTO where it does so by itself, or nothing tells. (The X axis of a bone may point anywhere, and legs are often
    straight at rest, or in a capture.)
    """
    ob = tip.id_data
    reader = SceneReader(context.evaluated_depsgraph_get()).armature(ob)
    try:
        readings = reader.links(chain_bones(reader.tip(tip.name), len(limb.bones)))
        chain = fk_chain(readings, None)
    except ChainError:
        # Adding the chain says why.
        return "AUTO"
    frame = start_frame(chain)
    normal = frame.normal
    if is_straight(chain):
        if limb.kind != "LEG" or not limb.end:
            return "AUTO"
        bones = reader.evaluated.pose.bones
        # To the toe's head, a joint; the tail of an imported foot may be anywhere.
        forward = bones[limb.toe].head - bones[limb.end].head if limb.toe else bones[limb.end].vector
        normal = forward.normalized().cross(frame.along)
        if normal.length < _FORWARD:
            return "AUTO"
    if hinge_armature(readings).dot(normal.normalized()) > _AS_IT_IS:
        return "AUTO"
    axis, cosine = nearest_axis(readings[1], normal.normalized())
    return axis.upper() if cosine > 0.0 else f"NEGATIVE_{axis.upper()}"


_LINKS = 2
"""Bones of a chain whose limb is not known, as in a limb."""
_NAMED = 3
"""Bones of a chain that are named; of more, the first and the last."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A chain to be added. bones: root first. chosen: the bone for which it was asked."""

    bones: tuple[str, ...]
    chosen: str

    @property
    def tip(self) -> str:
        return self.bones[-1]

    @property
    def is_led(self) -> bool:
        """True if the chain does not end at the chosen bone."""
        return self.tip != self.chosen

    @property
    def words(self) -> str:
        return chain_words(self.bones)


def limbs_carried(bone: bpy.types.PoseBone) -> list[FoundLimb]:
    """The legs and arms that begin below a bone, and move with it: such a bone is none of a limb itself."""
    below = {each.name for each in bone.children_recursive}
    return [limb for limb in _limbs(bone) if limb.bones[0] in below]


def chain_words(bones: tuple[str, ...]) -> str:
    """The bones of a chain in a sentence, root first: "thigh.L > shin.L"."""
    shown = bones if len(bones) <= _NAMED else (bones[0], "...", bones[-1])
    return " > ".join(shown)


def proposed_chain(bone: bpy.types.PoseBone, use_this_bone: bool = False) -> Proposal | None:
    """The chain that suits a bone; None if it has no parent to make a chain with, or is a control bone.

    use_this_bone: the chain ends at the bone, whatever limb it belongs to.
    """
    limb = _limb_of(bone)
    if limb is not None and (bone.name == limb.bones[-1] or not use_this_bone):
        return Proposal(limb.bones, bone.name)
    if bone.parent is None or bone.name in control_bones(bone.id_data.data):
        return None
    above = [bone, *bone.parent_recursive[: _LINKS - 1]]
    return Proposal(tuple(each.name for each in reversed(above)), bone.name)


def _limb_of(bone: bpy.types.PoseBone) -> FoundLimb | None:
    """The leg or arm to which a bone belongs, unless that has a chain already or some of its bones are gone."""
    bones = bone.id_data.pose.bones
    for limb in _limbs(bone):
        names = (*limb.bones, *filter(None, (limb.end,)))
        if bone.name in names and all(name in bones for name in names) and not is_tip(bones[limb.bones[-1]]):
            return limb
    return None


def _limbs(bone: bpy.types.PoseBone) -> tuple[FoundLimb, ...]:
    """The limbs of a bone's armature, found anew after Edit Mode, and where the bone has another name."""
    ob = bone.id_data
    # Edit Mode makes all bones anew.
    like = (ob.data.session_uid, len(ob.pose.bones), ob.pose.bones[0].bone.as_pointer())
    near = [bone, *bone.parent_recursive, *bone.children]
    known_like, names, found = file_memory.limbs.get("now", (None, frozenset(), ()))
    if known_like != like or any(each.name not in names for each in near):
        bones = ob.data.bones
        found = find_limbs(bones, arms=True).limbs
        file_memory.limbs["now"] = (like, frozenset(each.name for each in bones), found)
    return found


def rigged_entry(ob: bpy.types.Object, rigged: Rigged) -> dict:
    """What was set up on an armature object: see `rigged` in report.schema.json."""
    frames = rigged.followed.frames
    return {
        "armature": ob.name,
        "limbs": [
            {
                "kind": one.limb.kind,
                "side": one.limb.side,
                "bones": [*one.limb.bones],
                "target": _control(one.target),
                "pole_target": _control(one.pole),
            }
            for one in rigged.limbs
        ],
        "left_out": [{"bone": out.bone, "reason": out.reason} for out in rigged.left_out],
        "warnings": rigged.warnings,
        "frames": [frames[0], frames[-1], frames.step] if frames else None,
        "clips": [*rigged.followed.clips],
    }


def _control(control: Control) -> dict:
    return {"object": control.ob.name, "bone": control.bone or None}
