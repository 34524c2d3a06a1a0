"""What control bones are called: plainly, and in the way in which the character's own bones show their side."""

import re

import bpy

from .finding.legs import FoundLimb

_WORDS = {"LEG": ("foot_ik", "knee_pole"), "ARM": ("hand_ik", "elbow_pole")}
_SIDE = re.compile(
    r"^(?P<before>(?i:left|right|l|r)[._ -]|Left|Right)"
    r"|(?P<after>[._ -](?i:left|right|l|r)|Left|Right)(?:\.\d{3,})?$"
)


def control_names(limb: FoundLimb) -> tuple[str, str]:
    """Names for the target and the pole target of a limb: "foot_ik.L" and "knee_pole.L", or "Foot_ik_L".

    Those of a limb that is neither leg nor arm are made of its tip's name. If a limb has a side, Blender's
    *Paste Flipped* finds the other one by the name.
    """
    if limb.kind not in _WORDS:
        return _sided(limb.bones[-1], "ik"), _sided(limb.bones[-1], "pole")
    own = limb.end or limb.bones[-1]
    place = f"{limb.place.lower()}_" if limb.place else ""
    found = _SIDE.search(own)
    before, after = (found["before"] or "", found["after"] or "") if found else ("", "")
    capital = own[len(before) :][:1].isupper()
    names = []
    for word in _WORDS[limb.kind]:
        stem = place + word
        stem = stem[:1].upper() + stem[1:] if capital else stem
        name = f"{before}{stem}{after}"
        if limb.side and (bpy.utils.flip_name(name) == name or side_of(name) != limb.side):
            name = f"{stem}.{limb.side}"
        names.append(name if limb.side else stem)
    return names[0], names[1]


def side_of(name: str) -> str:
    """L, R or "": the side that Blender reads in a bone's name."""
    found = _SIDE.search(name)
    if found is None or bpy.utils.flip_name(name) == name:
        return ""
    return (found["before"] or found["after"]).strip("._ -")[0].upper()


def _sided(name: str, word: str) -> str:
    """A name with a word before its side."""
    found = _SIDE.search(name)
    if found is None or found["after"] is None:
        return f"{name}_{word}"
    return f"{name[: found.start('after')]}_{word}{found['after']}"
