"""What buttons and menus do: check, call one function, say what was done."""

from . import (
    certificates,
    chains,
    clip_list,
    control_choice,
    cures,
    limb_list,
    locking,
    planting,
    ranges,
    rigs,
    selecting,
    switching,
    travel,
)

FILES = (
    control_choice,
    limb_list,
    clip_list,
    chains,
    selecting,
    ranges,
    planting,
    locking,
    travel,
    rigs,
    switching,
    certificates,
    cures,
)
"""Those that Blender is to know, in this order."""
