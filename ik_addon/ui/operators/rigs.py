"""The operators that rig what is there: limbs in a list to be corrected, Blender's own IK, and FK and IK."""

from collections.abc import Sequence
from math import degrees
from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, StringProperty

from ... import messages
from ...authoring.blender_ik import Held, adoptable, adopted_tips, resting
from ...authoring.selection import (
    active_armature,
    active_bone,
    chain_armature,
    chosen_tips,
    select_bone,
    selected_bones,
)
from ...bake.stepping import Progress, Steps
from ...rig.blender.armatures import has_editable_bones
from ...rig.blender.clips import Clip, clips_of, has_keys, motion_of
from ...rig.data.settings import settings_of
from ...rig.model.limb import chain_bones
from ...rig.status.problems import bones_left_behind
from ...solvers import ChainError
from ..base import ChainOperator, not_editable, registration_of
from .chains import counted, with_moved
from .clip_list import OverClips, draw_clips
from .polls import MakesControls, none_chosen, nothing_adopted, nothing_to_adopt
from .stepped import RangeOperator, at_cursor

if TYPE_CHECKING:
    from ...authoring.adopt import Adopted
    from ...authoring.finding.limbs import FoundLimb
    from ...authoring.rigging import Rigged, RiggedLimb, Survey
    from ...bake.clips import Chosen

_SHOWN = 8
"""So many bones that are part of no limb are shown."""


class ANALYTIC_IK_limb(bpy.types.PropertyGroup):
    """A limb in the list; `name` is that of the tip that was found. What is not set is as it was found."""

    use: BoolProperty(name="Rig", description="Rig this limb", default=True)
    is_open: BoolProperty(name="Change", description="Show the bones of this limb, to change them")
    first: StringProperty(name="First Bone", description="First bone of the chain, such as a thigh")
    tip: StringProperty(name="Tip Bone", description="Last bone of the chain, such as a shin")
    end: StringProperty(name="End Bone", description="Bone on the end of the chain, such as a foot; empty for none")
    side: EnumProperty(
        name="Side",
        description="Side for the names and colors of the controls",
        items=[("L", "Left", "", 1), ("R", "Right", "", 2), ("NONE", "None", "", 0)],
        default="NONE",
    )
    why: StringProperty(name="Why Not", description="Why this limb is left out, or not ticked")


def bones_of(item: ANALYTIC_IK_limb) -> str:
    """The bones of a limb in the list, from root to end, in words."""
    # No property of the class: with one, Blender 4.2 crashes as it ends.
    return " > ".join(dict.fromkeys(filter(None, (item.first, item.tip, item.end))))


def fill(items: bpy.types.bpy_prop_collection, found: "Survey") -> None:
    """Bring a list in line with what was found. What was chosen in it stays."""
    limbs = {limb.bones[-1]: limb for limb in found.choices}
    reasons = {limb.bones[-1]: reason for limb, reason in (*found.unsure, *found.taken)}
    reasons |= {out.bone: out.reason for out in found.none[:_SHOWN] if out.bone not in limbs}
    for name in [item.name for item in items if item.name not in limbs.keys() | reasons.keys()]:
        items.remove(items.find(name))
    for name in (*limbs, *(name for name in reasons if name not in limbs)):
        item = items.get(name)
        if item is None:
            item = items.add()
            item.name = name
            if name in reasons and name in limbs:
                item.use = False
        item.why = reasons.get(name, "")
        limb = limbs.get(name)
        given = _given(limb) if limb else {"tip": name}
        if not limb:
            item.property_unset("first")
        for key, value in given.items():
            if not item.is_property_set(key):
                setattr(item, key, value)


def _given(limb: "FoundLimb") -> dict[str, str]:
    return {"first": limb.bones[0], "tip": limb.bones[-1], "end": limb.end, "side": limb.side or "NONE"}


def chosen(ob: bpy.types.Object, items: Sequence[ANALYTIC_IK_limb], found: "Survey") -> "list[FoundLimb]":
    """The limbs that are ticked, as they were corrected. Raises ChainError if a correction makes no chain."""
    from ...authoring.rigging import corrected

    limbs = []
    for limb in found.choices:
        item = next(item for item in items if item.name == limb.bones[-1])
        if not item.use:
            continue
        side = "" if item.side == "NONE" else item.side
        if _given(limb) == {"first": item.first, "tip": item.tip, "end": item.end, "side": item.side}:
            limbs.append(limb)
        else:
            limbs.append(corrected(ob, limb, item.first, item.tip, item.end, side))
    return limbs


def draw_limbs(layout: bpy.types.UILayout, ob: bpy.types.Object, items: Sequence[ANALYTIC_IK_limb]) -> None:
    """One line for each limb, with a tick; opened, its bones to be changed."""
    column = layout.column(align=True)
    column.use_property_split = False
    for item in items:
        row = column.row(align=True)
        if item.why and not (item.first and item.use):
            # What is not sure can be ticked: it has bones.
            said = messages.LEFT_OUT_BONE(bone=item.tip, why=item.why)
            row.label(text=said, icon="QUESTION" if item.first else "X")
        if not item.first:
            continue
        row = column.row(align=True) if item.why and not item.use else row
        row.prop(item, "use", text="")
        row.prop(item, "is_open", text=bones_of(item), icon="TRIA_DOWN" if item.is_open else "TRIA_RIGHT", emboss=False)
        if item.is_open:
            below = column.column(align=True)
            below.use_property_split, below.enabled = True, item.use
            for name in ("first", "tip", "end"):
                below.prop_search(item, name, ob.data, "bones")
            below.prop(item, "side")


_NAMED = 3
"""Bones that were left out that are named, of however many."""
_WIDE = 420
"""Width of the dialog with the limbs, in pixels."""
_MOVED = 1e-4
"""Part of a chain's length by which a joint may move before it is worth a word."""


class ANALYTIC_IK_OT_rig_legs(MakesControls, ChainOperator):
    """Rig the selected legs, or all legs if nothing is selected. \
No bone moves"""

    bl_idname = "analytic_ik.rig_legs"
    bl_label = "Rig Legs"
    needs = (not_editable,)
    on_active_object = True

    arms: BoolProperty(name="Include Arms", description="Rig arms too, if the names of their bones show them")
    only_selected: BoolProperty(
        name="Selected Bones Only",
        description="Only limbs with a selected bone, if any is selected",
        default=True,
        options={"SKIP_SAVE"},
    )
    select_first: BoolProperty(name="Select First", description="Select the first leg", options={"HIDDEN", "SKIP_SAVE"})
    follow_motion: BoolProperty(
        name="Follow Existing Motion",
        description="Key the controls so that they carry the limbs' keyed motion",
        default=True,
    )
    knees_follow: BoolProperty(
        name="Knees Follow",
        description="Pole targets, as bones, keep between foot and body. Not on legs with keys",
        default=True,
    )

    limbs: CollectionProperty(
        type=ANALYTIC_IK_limb,
        name="Limbs",
        description="Limbs that were found, to correct",
        options={"SKIP_SAVE"},
    )
    ask: BoolProperty(
        name="Ask First", description="Show the limbs before they are rigged", options={"SKIP_SAVE", "HIDDEN"}
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        # Only in Pose Mode does one see which bones are selected.
        self.only_selected = context.mode == "POSE"
        ob = active_armature(context)
        self.choose_controls(context, ob)
        self.select_first = True
        if self.ask:
            self.survey(ob)
            return context.window_manager.invoke_props_dialog(self, width=_WIDE)
        return self.execute(context)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.drawn("controls", "arms", "only_selected", "follow_motion", "knees_follow")
        # The panel of the last operation is drawn in Edit Mode too.
        ob = active_armature(context)
        if ob is not None:
            draw_limbs(layout, ob, self.limbs)

    def check(self, context: bpy.types.Context) -> bool:
        # In the dialog: another option may find other limbs.
        self.survey(active_armature(context))
        return True

    def survey(self, ob: bpy.types.Object) -> "Survey":
        """The limbs of an armature object, which are in the list afterwards."""
        from ...authoring.rigging import survey

        found = survey(ob, selected_bones(ob) if self.only_selected else [], self.arms)
        fill(self.limbs, found)
        return found

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        others = [each for each in context.selected_objects if each.type == "ARMATURE" and each != ob]
        done, errors = {}, []
        with at_cursor(context) as progress:
            for each in (ob, *others):
                try:
                    done[each] = self._rigged(each, progress) if each == ob else self._rigged_too(each, progress)
                except ChainError as error:
                    errors.append(error)
        if not done:
            raise errors[0]
        self.keep_choice(context, ob)
        if self.select_first and ob in done:
            select_bone(ob, done[ob].limbs[0].limb.bones[-1])
        said = []
        for each, rigged in done.items():
            own = sentences(each, rigged)
            said += [(level, messages.OF(whose=each.name, said=words)) for level, words in own] if others else own
        said += [("WARNING", str(error)) for error in errors]
        if len(done) > 1:
            limbs = [one.limb for rigged in done.values() for one in rigged.limbs]
            summary = messages.RIGGED_ARMATURES(count=len(done), limbs=counted(limbs))
            said.append(("WARNING" if errors else "INFO", summary))
        moved = [moved for rigged in done.values() for moved in rigged.moved]
        return with_moved(self, context, self.said_before(said), moved)

    def _rigged(self, ob: bpy.types.Object, progress: Progress) -> "Rigged":
        """Rig the limbs of the active armature that are ticked in the list, as they were corrected."""
        from ...authoring.rigging import NONE_FOUND, none_found, rig_limbs

        found = self.survey(ob)
        limbs = chosen(ob, self.limbs, found)
        if not found.free and not limbs:
            is_selected = self.only_selected and bool(selected_bones(ob))
            raise ChainError(none_found(ob, found, NONE_FOUND[is_selected, self.arms]))
        if not limbs:
            raise ChainError(messages.NONE_TICKED(armature=ob.name))
        tips = {limb.bones[-1] for limb in limbs}
        left_out = [out for out in found.left_out if out.bone not in tips]
        as_bones = self.controls == "BONES"
        return rig_limbs(bpy.context, ob, limbs, left_out, self.follow_motion, as_bones, progress, self.knees_follow)

    def _rigged_too(self, ob: bpy.types.Object, progress: Progress) -> "Rigged":
        """Rig another armature that is selected; one that gets no new bones gets Empties."""
        from ...authoring.rigging import rig_legs

        selected = selected_bones(ob) if self.only_selected else []
        as_bones = self.controls == "BONES" and has_editable_bones(ob)
        return rig_legs(bpy.context, ob, selected, self.arms, self.follow_motion, as_bones, progress, self.knees_follow)


def sentences(ob: bpy.types.Object, rigged: "Rigged") -> list[tuple[str, str]]:
    """What was rigged, what was left out, and whether the controls follow keys: sentences with their levels, the most
    important one last."""
    followed, legs = rigged.followed, counted([one.limb for one in rigged.limbs])
    said = []
    if rigged.left_out:
        named = rigged.left_out[:_NAMED]
        bones = "; ".join(messages.LEFT_OUT_BONE(bone=out.bone, why=messages.as_part(out.reason)) for out in named)
        more = len(rigged.left_out) - _NAMED
        said.append(messages.LEFT_OUT_MORE(bones=bones, count=more) if more > 0 else messages.LEFT_OUT(bones=bones))
    said.append(messages.RIGGED(limbs=", ".join(_words(limb) for limb in rigged.limbs)))
    if followed.clips:
        said.append(messages.RIGGED_CLIPS(limbs=legs, clips=messages.CLIPS(count=len(followed.clips))))
    elif followed.frames is not None:
        first, last = followed.frames[0], followed.frames[-1]
        said.append(messages.RIGGED_FOLLOWING(limbs=legs, first=first, last=last))
    warnings = [clip.warning for clip in followed.rough]
    if followed.frames is None and not followed.clips and not warnings:
        left = sum(bool(bones_left_behind(ob, one.limb.bones[-1])) for one in rigged.limbs)
        warnings += [messages.KEYS_NOT_FOLLOWED(chains=messages.CHAINS(count=left))] if left else []
    return [*(("INFO", words) for words in said), *(("WARNING", words) for words in warnings)]


class ANALYTIC_IK_OT_adopt(ChainOperator):
    """Convert IK constraints to chains with the same pose"""

    bl_idname = "analytic_ik.adopt"
    bl_label = "Convert Blender IK"
    needs = (not_editable, nothing_to_adopt)
    on_active_object = True
    takes_need = True

    all: BoolProperty(name="All", description="Include all bones, not only selected ones")

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        from ...authoring.adopt import adopt

        held = adoptable(_bones(ob, self.all))
        if not held:
            missing = messages.NOTHING_TO_ADOPT if self.all else messages.NONE_SELECTED_TO_ADOPT
            raise ChainError(missing(armature=ob.name))
        resting_too = resting(_bones(ob, self.all))
        done = adopt(context, held)
        if resting_too:
            self.report({"INFO"}, messages.LEFT_AT_REST(constraints=_named(resting_too)))
        named = (messages.ADOPTED_ONE(constraint=one.constraint, bone=one.tip) for one in done.adopted)
        said = messages.ADOPTED(constraints=", ".join(named))
        warnings = [*done.left, *(_moved(one) for one in done.adopted if one.moved > _MOVED)]
        if done.stretching:
            warnings.append(messages.STRETCHED_IN_REACH(bones=messages.few(done.stretching)))
        return self.said_before([("INFO", said), *(("WARNING", warning) for warning in warnings)])


class ANALYTIC_IK_OT_restore(ChainOperator):
    """Remove converted chains and restore their IK constraints"""

    bl_idname = "analytic_ik.restore"
    bl_label = "Revert to Blender IK"
    needs = (not_editable, nothing_adopted)
    takes_need = True

    all: BoolProperty(name="All", description="Include all bones, not only selected ones")

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        from ...authoring.adopt import restore

        tips = adopted_tips(_bones(ob, self.all))
        if not tips:
            missing = messages.NOTHING_ADOPTED if self.all else messages.NONE_SELECTED_ADOPTED
            raise ChainError(missing(armature=ob.name))
        return messages.RESTORED(constraints=messages.quoted(restore(context, tips)))


class SnapOperator(OverClips, RangeOperator):
    """Operators that go from FK to IK or back, at the current frame, over a range or in several clips."""

    needs = (not_editable, none_chosen)

    use_range: BoolProperty(
        name="Range",
        description="Snap and key all frames of a range",
        options={"HIDDEN"},
    )
    frames_to_snap: EnumProperty(
        name="Frames",
        description="Frames to snap",
        items=[
            ("CURRENT", "Current Frame", "Snap the current frame without keys"),
            ("RANGE", "Range", "Snap and key every frame of a range"),
        ],
        # What scripts set is `use_range`; in the dialog a choice of two says more than a tick.
        get=lambda self: int(self.use_range),
        set=lambda self, number: setattr(self, "use_range", bool(number)),
        options={"SKIP_SAVE"},
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if not self.properties.is_property_set("use_range"):
            ob = chain_armature(context)
            tips = chosen_tips(context, ob)
            self.use_range = any(_is_keyed(tip) for tip in tips) and self.motion_frames(tips) is not None
        return super().invoke(context, event)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.drawn()
        draw_clips(self, layout)
        if self.clips == "ALL":
            return
        layout.row().prop(self, "frames_to_snap", expand=True)
        column = layout.column(align=True)
        column.enabled = self.use_range
        for name in ("frame_start", "frame_end", "frame_step"):
            column.prop(self, name)

    def default_range(self, context: bpy.types.Context) -> range:
        motion = self.motion_frames(chosen_tips(context, chain_armature(context)))
        return motion or super().default_range(context)

    def motion_frames(self, tips: list[bpy.types.PoseBone]) -> range | None:
        """The frames over which what is snapped to has keys; None if it has none."""
        raise NotImplementedError

    def asked_frames(self, context: bpy.types.Context) -> range | None:
        """The frames to snap and key of what plays; None: the current frame, without keys."""
        return self.frames(context) if self.use_range and self.clips == "CURRENT" else None

    def where(self, context: bpy.types.Context, clips: "Chosen", frames: range | None) -> str:
        """What was snapped, at the end of a sentence."""
        if None not in clips:
            return messages.IN_CLIPS(clips=messages.CLIPS(count=len(clips)))
        if frames is None:
            return messages.AT_FRAME(frame=context.scene.frame_current_final)
        return messages.OVER_FRAMES(first=frames[0], last=frames[-1])


class ANALYTIC_IK_OT_snap_targets(MakesControls, SnapOperator):
    """Move the target and pole target to match the FK pose"""

    bl_idname = "analytic_ik.snap_targets"
    bl_label = "Snap IK to FK"
    label = "Snapping"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.choose_controls(context, chain_armature(context))
        return super().invoke(context, event)

    def motion_frames(self, tips: list[bpy.types.PoseBone]) -> range | None:
        return motion_of([tip.id_data for tip in tips])

    def steps(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps[str]:
        from ...authoring.controls import words_of
        from ...authoring.snap import targets_snapped_in_clips

        tips, clips, frames = chosen_tips(context, ob), self.asked_clips(ob), self.asked_frames(context)
        as_bones = self.controls == "BONES"
        snapped = yield from targets_snapped_in_clips(context, tips, clips, frames, as_bones)
        for name, missed in snapped.missed.items():
            if missed > _MOVED:
                distance = missed * snapped.lengths[name]
                self.report({"WARNING"}, messages.SNAP_MISSED(bone=name, distance=distance))
        made = "".join(messages.MADE_POLE(pole=words_of(pole)) for pole in snapped.poles)
        chains = messages.CHAINS(count=len(snapped.missed))
        return messages.SNAPPED_CONTROLS(chains=chains, frames=self.where(context, clips, frames), poles=made)

    def offered_clips(self, ob: bpy.types.Object) -> list[Clip]:
        """All clips: the keys of bones are snapped to, also where controls have none yet."""
        return [clip for clip in clips_of(ob, sources=True) if clip.action.is_editable]


class ANALYTIC_IK_OT_snap_pose(SnapOperator):
    """Copy the IK result to the bones' own rotation (FK)"""

    bl_idname = "analytic_ik.snap_pose"
    bl_label = "Snap FK to IK"
    label = "Snapping"

    def motion_frames(self, tips: list[bpy.types.PoseBone]) -> range | None:
        chains = [settings_of(tip) for tip in tips]
        controls = [control for chain in chains for control in (chain.target, chain.pole_target) if control]
        return motion_of([*controls, *(tip.id_data for tip in tips)])

    def steps(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps[str]:
        from ...authoring.snap import pose_snapped_in_clips

        tips, clips, frames = chosen_tips(context, ob), self.asked_clips(ob), self.asked_frames(context)
        yield from pose_snapped_in_clips(context, tips, clips, frames)
        return messages.SNAPPED_POSE(chains=messages.CHAINS(count=len(tips)), frames=self.where(context, clips, frames))


def _is_keyed(tip: bpy.types.PoseBone) -> bool:
    """Whether keys move a bone of the chain of a tip."""
    try:
        bones = chain_bones(tip, settings_of(tip).chain_count)
    except ChainError:
        # The snap itself says what is wrong with its bones.
        return False
    return has_keys(tip.id_data, [bone.name for bone in bones])


def _bones(ob: bpy.types.Object, everything: bool) -> list[bpy.types.PoseBone]:
    """All bones of an armature; or the selected ones, the active one where none is selected."""
    if everything:
        return list(ob.pose.bones)
    active = active_bone(ob)
    return selected_bones(ob) or ([active] if active else [])


def _moved(one: "Adopted") -> str:
    return messages.JOINTS_MOVED(
        bone=one.tip, distance=one.distance, angle=degrees(one.turned), frame=one.frame, why=one.because
    )


def _named(constraints: Sequence[Held]) -> str:
    names = (messages.ADOPTED_ONE(constraint=held.constraint.name, bone=held.tip.name) for held in constraints)
    return ", ".join(names)


def _words(rigged: "RiggedLimb") -> str:
    limb, target = rigged.limb, rigged.target.name
    if rigged.on_foot:
        target = messages.ON_FOOT(target=target, foot=limb.end)
    end = messages.ENDING_AT(end=limb.end) if limb.end else ""
    names = {"first": limb.bones[0], "last": limb.bones[-1], "end": end}
    return messages.RIGGED_LIMB(**names, target=target, pole=rigged.pole.name)


register, unregister = registration_of(__name__)
