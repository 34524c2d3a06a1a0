"""Panels and menus: they compute what they show when they are drawn, and keep nothing."""

from . import bake, certificate, chain, chain_list, limits, menus, overlay, preferences

FILES = (chain, limits, chain_list, overlay, bake, certificate, menus, preferences)
"""Those that Blender is to know, in the order in which they stand below each other."""
