"""What controls that are objects of their own play while their armature plays a clip.

Where actions have slots, each clip's action has one for every control. Without slots a control has an action for each
clip, and the clip's action knows it by the control's name.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import bpy

from ..blender.armatures import is_changeable
from ..blender.clips import Clip, clip_in, play, playing_clip, shown_clip, slot_of

_OF_CONTROLS = "analytic_ik_record_control_actions"
_SLOTTED = hasattr(bpy.types, "ActionSlot")


class ControlAction(bpy.types.PropertyGroup):
    """The action of a control; `name` is the control's."""

    name: bpy.props.StringProperty()
    action: bpy.props.PointerProperty(type=bpy.types.Action)


def separate_controls(ob: bpy.types.Object) -> list[bpy.types.Object]:
    """The objects that control chains of an armature object, itself left out."""
    found = {}
    for kept in ob.analytic_ik_record_controls:
        found |= dict.fromkeys(each for each in (kept.target, kept.pole_target) if each not in (None, ob))
    return [*found]


def partner(control: bpy.types.Object, clip: Clip) -> Clip | None:
    """What a control plays beside a clip of its armature; None: nothing was made for it."""
    if _SLOTTED:
        named = f"OB{control.name}"
        data = control.animation_data
        names = [named, *([data.last_slot_identifier] if data else [])]
        slot = next((slot for slot in clip.action.slots if slot.identifier in names and slot.handle != clip.slot), None)
        if slot is not None:
            return clip_in(clip.action, slot.handle)
    # Also in a file from before there were slots.
    known = getattr(clip.action, _OF_CONTROLS).get(control.name)
    if known is None or known.action is None:
        return None
    return clip_in(known.action, next((slot.handle for slot in getattr(known.action, "slots", ())), 0))


def partner_made(control: bpy.types.Object, clip: Clip) -> Clip:
    """The same, made where there is none."""
    known = partner(control, clip)
    if known is not None:
        return known
    if _SLOTTED:
        return clip_in(clip.action, clip.action.slots.new(id_type="OBJECT", name=control.name).handle)
    made = clip_in(bpy.data.actions.new(f"{clip.action.name} {control.name}"))
    keep_partner(control, clip, made)
    return made


def partners_made(controls: Iterable[bpy.types.Object], clips: Sequence[Clip]) -> None:
    """Let each of some controls have something to play beside each of some clips."""
    for control in controls:
        for clip in clips:
            partner_made(control, clip)


def keep_partner(control: bpy.types.Object, clip: Clip, own: Clip) -> None:
    """Remember what a control plays beside a clip, where slots do not tell."""
    known = getattr(clip.action, _OF_CONTROLS)
    if not _SLOTTED or control.name in known:
        kept = known.get(control.name) or known.add()
        kept.name, kept.action = control.name, own.action


@contextmanager
def with_its_clip(ob: bpy.types.Object, control: bpy.types.Object) -> Iterator[bool]:
    """Afterwards a control plays beside the clip of its armature object what it plays then, if what it plays now
    belongs to that. Inside, whether that is in the clip's own action, and so in a copy of it."""
    clip, before = playing_clip(ob), playing_clip(control)
    belongs = clip is not None and before is not None and before == partner(control, clip)
    yield belongs and before.name == clip.name
    if belongs:
        keep_partner(control, clip, playing_clip(control))


def remove_partner(control: bpy.types.Object, clip: Clip) -> None:
    """Take away what a control plays beside a clip, if anything was made for it."""
    own = partner(control, clip)
    if own is not None and _SLOTTED:
        clip.action.slots.remove(slot_of(own))
    elif own is not None:
        bpy.data.actions.remove(own.action)


def own_actions(ob: bpy.types.Object, clips: Iterable[Clip]) -> list[bpy.types.Action]:
    """The actions that the controls of an armature object play beside clips, where these are no slots of the clips'."""
    if _SLOTTED:
        return []
    found = (partner(control, clip) for control in separate_controls(ob) for clip in clips)
    return [own.action for own in found if own is not None]


def controls_follow(ob: bpy.types.Object) -> bool:
    """Let the controls of an armature object play what belongs to the clip that it plays. A control that plays what
    belongs to none of its clips keeps it. Returns whether any plays something else now."""
    clip, changed = shown_clip(ob), False
    for control in separate_controls(ob) if clip else ():
        own, wanted = playing_clip(control), partner(control, clip)
        if wanted in (None, own) or not is_changeable(control):
            continue
        if own is None or _is_partner(control, own):
            play(control, wanted)
            changed = True
    return changed


def let_controls_play(ob: bpy.types.Object) -> None:
    """Let the controls of an armature object play something that belongs to its clip, where they play what belongs to
    another: keys would be written into that."""
    clip = playing_clip(ob)
    for control in separate_controls(ob):
        if plays_another_clip(ob, control):
            play(control, partner_made(control, clip))


def plays_another_clip(ob: bpy.types.Object, control: bpy.types.Object) -> bool:
    """Whether a control plays what belongs to another clip than the one its armature object plays."""
    clip, own = playing_clip(ob), playing_clip(control)
    return clip is not None and own is not None and own != partner(control, clip) and _is_partner(control, own)


def _is_partner(control: bpy.types.Object, own: Clip) -> bool:
    return any(partner(control, clip) == own for clip in _clips_with(own))


def _clips_with(own: Clip) -> Iterator[Clip]:
    if _SLOTTED:
        yield from (clip_in(own.action, slot.handle) for slot in own.action.slots if slot.handle != own.slot)
    for action in bpy.data.actions:
        if len(getattr(action, _OF_CONTROLS)):
            yield from [clip_in(action, slot.handle) for slot in action.slots] if _SLOTTED else [clip_in(action)]


def register() -> None:
    """Give actions a place for it."""
    bpy.utils.register_class(ControlAction)
    setattr(bpy.types.Action, _OF_CONTROLS, bpy.props.CollectionProperty(type=ControlAction, options={"HIDDEN"}))


def unregister() -> None:
    """Take it away."""
    delattr(bpy.types.Action, _OF_CONTROLS)
    bpy.utils.unregister_class(ControlAction)
