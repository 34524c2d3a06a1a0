"""Panels and menus: they compute what they show when they are drawn, and keep nothing."""

from . import certificate, chain, chain_list, menus, motion, preferences, status

FILES = (status, chain, chain_list, motion, certificate, menus, preferences)
"""Those that Blender is to know, in the order in which they stand below each other."""
