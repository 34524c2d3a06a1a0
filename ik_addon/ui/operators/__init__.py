"""What buttons and menus do: check, call one function, say what was done."""

from . import (
    certificates,
    chains,
    clip_list,
    control_choice,
    cures,
    exporting,
    limb_list,
    locking,
    matching,
    native,
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
    matching,
    travel,
    rigs,
    native,
    switching,
    exporting,
    certificates,
    cures,
)
"""Those that Blender is to know, in this order."""
