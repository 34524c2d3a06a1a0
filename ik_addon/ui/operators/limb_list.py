"""The limbs that *Rig Legs* finds, as a list to be corrected: before, or afterwards in *Adjust Last Operation*."""

from collections.abc import Sequence

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ... import messages
from ...authoring.finding.legs import FoundLimb
from ...authoring.survey import Survey, corrected
from ..classes import registration_of

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
    why: StringProperty(name="Why Not", description="Why this limb is left out")


def bones_of(item: ANALYTIC_IK_limb) -> str:
    """The bones of a limb in the list, from root to end, in words."""
    # No property of the class: with one, Blender 4.2 crashes as it ends.
    return " > ".join(dict.fromkeys(filter(None, (item.first, item.tip, item.end))))


def fill(items: bpy.types.bpy_prop_collection, found: Survey) -> None:
    """Bring a list in line with what was found. What was chosen in it stays."""
    limbs = {limb.bones[-1]: limb for limb in (*found.free, *(limb for limb, _ in found.taken))}
    reasons = {limb.bones[-1]: reason for limb, reason in found.taken}
    reasons |= {out.bone: out.reason for out in found.none[:_SHOWN] if out.bone not in limbs}
    for name in [item.name for item in items if item.name not in limbs.keys() | reasons.keys()]:
        items.remove(items.find(name))
    for name in (*limbs, *(name for name in reasons if name not in limbs)):
        item = items.get(name)
        if item is None:
            item = items.add()
            item.name = name
        item.why = reasons.get(name, "")
        limb = limbs.get(name)
        given = _given(limb) if limb else {"tip": name}
        for key, value in given.items():
            if not item.is_property_set(key):
                setattr(item, key, value)


def _given(limb: FoundLimb) -> dict[str, str]:
    return {"first": limb.bones[0], "tip": limb.bones[-1], "end": limb.end, "side": limb.side or "NONE"}


def chosen(ob: bpy.types.Object, items: Sequence[ANALYTIC_IK_limb], found: Survey) -> list[FoundLimb]:
    """The limbs that are ticked, as they were corrected. Raises ChainError if a correction makes no chain."""
    limbs = []
    for limb in found.free:
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
        if item.why:
            row.label(text=messages.LEFT_OUT_BONE(bone=item.tip, why=item.why), icon="X")
            continue
        row.prop(item, "use", text="")
        row.prop(item, "is_open", text=bones_of(item), icon="TRIA_DOWN" if item.is_open else "TRIA_RIGHT", emboss=False)
        if item.is_open:
            below = column.column(align=True)
            below.use_property_split, below.enabled = True, item.use
            for name in ("first", "tip", "end"):
                below.prop_search(item, name, ob.data, "bones")
            below.prop(item, "side")


register, unregister = registration_of(__name__)
