"""Panels and menus: they compute what they show when they are drawn, and keep nothing."""

from . import (
    bake,
    beginning,
    body,
    certificate,
    chain,
    chain_list,
    exporting,
    limits,
    menus,
    online_manual,
    overlay,
    planting,
    preferences,
    properties,
    travel,
)

FILES = (
    beginning,
    chain,
    body,
    limits,
    overlay,
    chain_list,
    planting,
    travel,
    bake,
    certificate,
    properties,
    exporting,
    menus,
    online_manual,
    preferences,
)
"""Those that Blender is to know, in the order in which they stand below each other."""
